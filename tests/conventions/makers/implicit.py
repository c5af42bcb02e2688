"""implicit's ranking metrics at k, of a model whose recommendations are given; a user by itself, and all together."""

from importlib.metadata import version

from rankings import queries

MODULES = ["implicit", "scipy"]
QUERIES = queries(61, repeats=False)
N_ITEMS = 20  # columns of the matrix; documents are d0 to d15
OPTIONS = {"n_docs": N_ITEMS}


def VERSION():
    return f"implicit {version('implicit')}"


class Given:
    """A model that recommends what a ranking has, and -1 behind its end."""

    def __init__(self, queries):
        self.rows = [[int(doc[1:]) for doc in query["retrieved"]] for query in queries]

    def recommend(self, users, matrix, N, **options):
        import numpy as np

        ids = np.full((len(users), N), -1, np.int32)
        for row, user in enumerate(users):
            ids[row, : len(self.rows[user])] = self.rows[user][:N]
        return ids, np.zeros(ids.shape, np.float32)


def measured(queries, k):
    import numpy as np
    from implicit.evaluation import ranking_metrics_at_k
    from scipy.sparse import csr_matrix

    likes = np.zeros((len(queries), N_ITEMS))
    for row, query in enumerate(queries):
        likes[row, [int(doc[1:]) for doc in query["relevant"]]] = 1
    matrix = csr_matrix(likes)
    return ranking_metrics_at_k(Given(queries), matrix, matrix, K=k, show_progress=False)


def values(queries):
    found = {}
    for k in (1, 3, 10):
        for query in queries:
            metrics = measured([query], k) if query["relevant"] else dict.fromkeys(("precision", "map", "ndcg", "auc"))
            for name, value in metrics.items():
                found.setdefault(f"{name}@{k}", []).append(value)
    return found


def means(queries):
    """The means over all users, which no weights of ours are needed for."""
    return {f"{name}@{k}": [None, value] for k in (1, 3, 10) for name, value in measured(queries, k).items()}
