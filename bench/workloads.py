"""The collections that the benches evaluate: invented, seeded, with the shape of real ones.

Each is a pair of dicts, judgments and scores. Runs are sorted by score, as the files that systems write are; scores
have four decimals, so a few of them tie. Ids are fresh strings on either side, as after parsing two files.
"""

import numpy as np

SEED = 20


def scores(rng, depth):
    """Falling scores of about the size of BM25's."""
    return np.sort(rng.gamma(8.0, 2.0, depth).round(4))[::-1].tolist()


def judged(queries=50, depth=1000):
    """As a TREC web track: about as many judgments as ranked documents, a fifth of them relevant with labels 1 to 3.

    The run finds seven in ten of the relevant documents and a third of the others, the relevant ones rather at the top.
    """
    rng = np.random.default_rng(SEED)
    qrels, run = {}, {}
    for query in map(str, range(201, 201 + queries)):
        pool = int(rng.integers(depth // 2, depth * 3 // 2))
        labels = np.where(rng.random(pool) < 0.2, rng.choice((1, 1, 1, 2, 2, 3), pool), 0)
        numbers = np.unique(rng.integers(0, 10**9, 3 * depth + pool))
        rng.shuffle(numbers)
        numbers = numbers.tolist()
        qrels[query] = dict(zip(map(web_id, numbers), labels.tolist(), strict=False))
        found = np.flatnonzero(rng.random(pool) < np.where(labels > 0, 0.7, 0.33))[:depth]
        ranked = np.concatenate([found, np.arange(pool, pool + depth - len(found))])
        place = rng.random(depth) - 0.3 * np.concatenate([labels[found] > 0, np.zeros(depth - len(found))])
        ids = (web_id(numbers[index]) for index in ranked[np.argsort(place)].tolist())
        run[query] = dict(zip(ids, scores(rng, depth), strict=True))
    return qrels, run


def web_id(number):
    return f"clueweb12-{number // 10**7:04d}wb-{number // 10**5 % 100:02d}-{number % 10**5:05d}"


def passages(queries=6980, depth=1000):
    """As MS MARCO's dev set: about one judged passage per query, found in 86 % of the rankings, and numbers for ids."""
    rng = np.random.default_rng(SEED)
    qrels, run = {}, {}
    for query in map(str, np.sort(rng.choice(np.arange(1_000_000, 1_100_000), queries, replace=False)).tolist()):
        numbers = np.unique(rng.integers(1_000_000, 8_841_823, depth + depth // 10 + 10))
        rng.shuffle(numbers)
        ids = list(map(str, numbers[:depth].tolist()))
        relevant = 1 + int(rng.random() < 0.06)
        found = (depth * rng.random(relevant) ** 4).astype(int).tolist()
        qrels[query] = {str(int(ids[rank]) if rng.random() < 0.86 else 9_000_000 + rank): 1 for rank in found}
        run[query] = dict(zip(ids, scores(rng, depth), strict=True))
    return qrels, run


def single(depth=10):
    """One query with ten documents: what a service or a training step evaluates at a time."""
    return judged(queries=1, depth=depth)


def shuffled(run):
    """The same run with the documents of each query in no order."""
    rng = np.random.default_rng(SEED)
    mixed = {}
    for query, docs in run.items():
        items = list(docs.items())
        mixed[query] = {items[index][0]: items[index][1] for index in rng.permutation(len(items)).tolist()}
    return mixed


def write_qrels(path, qrels):
    with open(path, "w", encoding="utf-8", newline="\n") as file:
        for query, docs in qrels.items():
            file.writelines(f"{query} 0 {doc} {label}\n" for doc, label in docs.items())


def write_run(path, run):
    """The usual six columns, as Lucene tools write them."""
    with open(path, "w", encoding="utf-8", newline="\n") as file:
        for query, docs in run.items():
            ranked = enumerate(docs.items(), 1)
            file.writelines(f"{query} Q0 {doc} {rank} {score:.6f} bm25-k1\n" for rank, (doc, score) in ranked)
