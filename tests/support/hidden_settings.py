"""Tables of values whose settings are known to the test alone: collections, random settings, and what was found."""

import random
import warnings

import fastir
from fastir.analyses.identify.settings import departures, list_settings  # noqa: F401

METRICS = (
    *("ndcg@10", "ndcg@5", "ndcg@20", "ndcg", "ndcg@100", "map", "map@100", "mrr", "mrr@10"),
    *("recall@100", "recall@10", "precision@10", "precision@5", "hit_rate@5"),
)
OPTIONS = {
    "queries": ("intersection", "qrels"),
    "ties": ("trec", "doc_id_asc", "input", "average", "optimistic", "pessimistic"),
    "gain": ("linear", "exp2", "binary"), "ideal": ("judged", "retrieved", "num_ret", "full"),
    "empty": ("zero", "skip", "one"), "rel_level": (2, 3), "max_depth": (1000, 100, 50, 20, 10),
    "exclude": ("query_id",), "score_dtype": ("float32", "float64"),
}  # fmt: skip


def collection(rng, n_queries=50, depth=300):
    """Qrels and a run as retrieval has them: few ties, queries that are missing, or have nothing relevant."""
    qrels, run = {}, {}
    for number in range(n_queries):
        query = f"q{number}"
        judged = {f"d{rng.randrange(3000)}": rng.choice((0, 0, 0, 1, 1, 2, 3)) for _ in range(rng.randint(10, 60))}
        if rng.random() < 0.06:
            judged = dict.fromkeys(judged, 0)
        if rng.random() < 0.2:
            judged[query] = 1
        qrels[query] = judged
        if rng.random() < 0.06:
            continue
        docs = [f"d{each}" for each in rng.sample(range(3000), rng.choice((depth, depth, depth // 2, 7)))]
        docs += [query] * (query in judged) + [doc for doc in judged if rng.random() < 0.5 and doc not in docs]
        rng.shuffle(docs)
        run[query] = {doc: round(rng.random() + 0.3 * judged.get(doc, 0), 4) for doc in docs}
    return qrels, run


def hidden(rng, qrels, run):
    """A random setting and the values of three metrics under it; settings without such values are drawn again."""
    while True:
        convention = rng.choice(list(fastir.conventions.CONVENTIONS))
        options = {name: rng.choice(OPTIONS[name]) for name in rng.sample(list(OPTIONS), rng.choice((0, 1, 1, 2)))}
        metrics = rng.sample(METRICS, 3)
        try:
            with warnings.catch_warnings():
                warnings.simplefilter("ignore", fastir.FastirWarning)
                means = dict(fastir.evaluate(qrels, run, metrics, convention=convention, **options))
        except (fastir.FastirError, ValueError):
            continue
        if all(value == value for value in means.values()):
            return convention, options, means


def place_of(found, means):
    """At which place, from 1, an answer has these means; 0 if none has."""
    for place, answer in enumerate(found, 1):
        if all(abs(one - other) < 1e-10 for one, other in zip(answer.values, means.values(), strict=True)):
            return place
    return 0


def table(seed, qrels=None, run=None):
    """(found, place, setting) of one hidden table."""
    rng = random.Random(seed)
    if qrels is None:
        qrels, run = collection(rng)
    convention, options, means = hidden(rng, qrels, run)
    found = fastir.identify(qrels, run, {name: f"{value:.4f}" for name, value in means.items()})
    return found, place_of(found, means), (convention, options, means)


def wrong_table(seed):
    """What is found for a table one of whose values is random."""
    rng = random.Random(seed)
    qrels, run = collection(rng)
    _, _, means = hidden(rng, qrels, run)
    shown = {name: f"{value:.4f}" for name, value in means.items()}
    shown[rng.choice(list(shown))] = f"{rng.random():.4f}"
    return fastir.identify(qrels, run, shown)
