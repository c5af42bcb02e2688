"""The collections that the benches evaluate: invented, seeded, with the shape of real ones.

Each is a pair of dicts, judgments and scores. Runs are sorted by score, as the files that systems write are; scores
have four decimals, so a few of them tie. Ids are fresh strings on either side, as after parsing two files.
"""

import random

import numpy as np

SEED = 20


def scores(rng, depth):
    """Falling scores of about the size of BM25's."""
    return np.sort(rng.gamma(8.0, 2.0, depth).round(4))[::-1]


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
        run[query] = dict(zip(ids, scores(rng, depth).tolist(), strict=True))
    return qrels, run


def web_id(number):
    return f"clueweb12-{number // 10**7:04d}wb-{number // 10**5 % 100:02d}-{number % 10**5:05d}"


def passage_rows(queries=6980, depth=1000):
    """As MS MARCO's dev set: about one judged passage per query, found in 86 % of the rankings, and numbers for ids.

    Yields the query, the judged passages, and arrays of the ranked ones and their scores.
    """
    rng = np.random.default_rng(SEED)
    for query in np.sort(rng.choice(np.arange(1_000_000, 1_100_000), queries, replace=False)).tolist():
        numbers = np.unique(rng.integers(1_000_000, 8_841_823, depth + depth // 10 + 10))
        rng.shuffle(numbers)
        relevant = 1 + int(rng.random() < 0.06)
        found = (depth * rng.random(relevant) ** 4).astype(int).tolist()
        judged = [int(numbers[rank]) if rng.random() < 0.86 else 9_000_000 + rank for rank in found]
        yield query, list(dict.fromkeys(judged)), numbers[:depth], scores(rng, depth)


def passages(queries=6980, depth=1000):
    """These rows as dicts, the ids as text."""
    qrels, run = {}, {}
    for query, judged, docs, values in passage_rows(queries, depth):
        qrels[str(query)] = {str(doc): 1 for doc in judged}
        run[str(query)] = dict(zip(map(str, docs.tolist()), values.tolist(), strict=True))
    return qrels, run


def scattered_passages(queries=6980, depth=1000):
    """As passages, but numbers that were drawn one by one and freed leave gaps, which the scores then fill."""
    rng = random.Random(SEED)
    qrels, run = {}, {}
    for query in map(str, range(1_000_000, 1_000_000 + queries)):
        numbers = rng.sample(range(1_000_000, 8_841_823), depth)
        values = scores(np.random.default_rng(int(query)), depth)
        qrels[query] = {str(numbers[int(depth * rng.random() ** 4)]): 1}
        run[query] = {str(doc): float(score) for doc, score in zip(numbers, values, strict=True)}
    return qrels, run


def short_rankings(queries, depth=10):
    """One relevant document for each query, somewhere in its ranking."""
    rng = random.Random(SEED)
    qrels, run = {}, {}
    for query in map(str, range(queries)):
        numbers = rng.sample(range(10**7), depth)
        qrels[query] = {str(rng.choice(numbers)): 1}
        run[query] = {str(doc): 20.0 - rank - rng.random() for rank, doc in enumerate(numbers)}
    return qrels, run


def relevant(number, queries=50, depth=1000):
    """A thousand judged documents for each query, six in ten of them found, and so many of them relevant."""
    rng = random.Random(SEED)
    qrels, run = {}, {}
    for query in map(str, range(queries)):
        numbers = rng.sample(range(10**9), depth + 2 * depth // 5)
        values = scores(np.random.default_rng(int(query)), depth)
        run[query] = {web_id(doc): float(score) for doc, score in zip(numbers, values, strict=False)}
        pool = rng.sample(numbers[:depth], 3 * depth // 5) + numbers[depth:]
        rng.shuffle(pool)
        labels = [rng.randint(1, 3) if place < number else 0 for place in range(len(pool))]
        qrels[query] = {web_id(doc): label for doc, label in zip(pool, labels, strict=True)}
    return qrels, run


def short_passages():
    """Rankings of 100."""
    return passages(queries=300, depth=100)


def short_judgments(queries=900_000):
    """As click logs make them: one relevant document per query, and a second judged one for every ninth query."""
    rng = np.random.default_rng(SEED)
    query_ids = rng.permutation(10 * queries)[:queries].tolist()
    numbers = rng.integers(0, 3_200_000, (2, queries)).tolist()
    second = (rng.random(queries) < 1 / 9).tolist()
    rows = zip(query_ids, *numbers, second, strict=True)
    return {str(query): {f"D{one}": 1, **({f"E{other}": 0} if more else {})} for query, one, other, more in rows}


def passage_columns(queries=6980, depth=1000, shuffle=True):
    """These rows as two dicts of arrays, in no order or grouped by query."""
    rows = list(passage_rows(queries, depth))
    query_ids = np.array([row[0] for row in rows])
    qrels = {
        "query_id": np.repeat(query_ids, [len(row[1]) for row in rows]),
        "doc_id": np.concatenate([row[1] for row in rows]),
    }
    qrels["label"] = np.ones(len(qrels["doc_id"]), np.int64)
    run = {
        "query_id": np.repeat(query_ids, depth),
        "doc_id": np.concatenate([row[2] for row in rows]),
        "score": np.concatenate([row[3] for row in rows]),
    }
    order = np.random.default_rng(SEED).permutation(queries * depth) if shuffle else slice(None)
    return qrels, {name: column[order] for name, column in run.items()}


def with_unknown_queries(run, share=0.13):
    """Columns in no order, and as many rows more that they are this share of all: of queries that no qrels have."""
    rng = np.random.default_rng(SEED)
    n = len(run["score"])
    more = int(n * share / (1 - share))
    added = {
        "query_id": rng.integers(2_000_000, 2_001_000, more),
        "doc_id": np.arange(10_000_000, 10_000_000 + more),
        "score": rng.gamma(8.0, 2.0, more).round(4),
    }
    order = rng.permutation(n + more)
    return {name: np.concatenate([column, added[name]])[order] for name, column in run.items()}


def short_columns(queries=1_000_000, depth=10):
    """Many short rankings, their rows in no order: one judged document a query, found in 86 % of them."""
    rng = np.random.default_rng(SEED)
    query_ids = np.sort(rng.permutation(3 * queries)[:queries])
    docs = rng.integers(0, 8_000_000, (queries, depth)) * 2 * depth + np.arange(depth)
    judged = docs[np.arange(queries), rng.integers(0, depth, queries)] + depth * (rng.random(queries) > 0.86)
    qrels = {"query_id": query_ids, "doc_id": judged, "label": np.ones(queries, np.int64)}
    run = {"query_id": np.repeat(query_ids, depth), "doc_id": docs.ravel(), "score": rng.random(queries * depth)}
    order = rng.permutation(queries * depth)
    return qrels, {name: column[order] for name, column in run.items()}


def single(depth=10):
    """One query with ten documents: what a service or a training step evaluates at a time."""
    return judged(queries=1, depth=depth)


def tied(depth=20_000, judged=2000):
    """One query whose scores are all equal, so that the ids decide everything."""
    rng = np.random.default_rng(SEED)
    ids = [web_id(number) for number in rng.permutation(10**6)[:depth].tolist()]
    labels = np.where(rng.random(judged) < 0.2, rng.choice((1, 2, 3), judged), 0).tolist()
    return {"201": dict(zip(ids[:: depth // judged], labels, strict=True))}, {"201": dict.fromkeys(ids, 1.0)}


def without_ties(run):
    """The same rankings with scores that fall by one: for peers who order equal scores their own way."""
    return {
        query: {doc: -float(rank) for rank, doc in enumerate(sorted(docs, key=docs.get, reverse=True))}
        for query, docs in run.items()
    }


def another_run(run):
    """What another system ranks: about two thirds of the same documents, in an order that is a little like theirs."""
    rng = np.random.default_rng(SEED)
    other = {}
    for query, docs in run.items():
        ids, depth = list(docs), len(docs)
        order = np.argsort(np.arange(depth) + rng.normal(0, depth / 5, depth)).tolist()
        kept = (rng.random(depth) < 2 / 3).tolist()
        names = (str(ids[place] if kept[place] else f"x{ids[place]}") for place in order)
        other[query] = dict(zip(names, scores(rng, depth).tolist(), strict=True))
    return other


def systems(queries=250, runs=50, depth=100):
    """As a shared task: judgments, and runs that rank four documents in ten of each query's pool, better or worse."""
    rng = np.random.default_rng(SEED)
    qrels, found = {}, {f"run{number:02d}": {} for number in range(runs)}
    for query in map(str, range(301, 301 + queries)):
        pool = [web_id(number) for number in rng.choice(10**9, depth * 5 // 2, replace=False).tolist()]
        labels = rng.choice(4, len(pool), p=(0.8, 0.1, 0.06, 0.04))
        judged = rng.random(len(pool)) < 0.6
        qrels[query] = {doc: int(label) for doc, label, known in zip(pool, labels, judged, strict=True) if known}
        for number, run in enumerate(found.values()):
            order = np.argsort(rng.random(len(pool)) - labels * number / (4 * runs))[:depth].tolist()
            run[query] = dict(zip((pool[place] for place in order), scores(rng, depth).tolist(), strict=True))
    return qrels, found


def preferences(queries=50, judges=4, depth=100):
    """Judges who each put twenty of a query's documents into four levels, and a run that ranks them all."""
    rng = np.random.default_rng(SEED)
    qrels, run = {}, {}
    for query in map(str, range(queries)):
        ids = [web_id(number) for number in rng.choice(10**9, depth, replace=False).tolist()]
        qrels[query] = {
            f"judge{judge}": {
                ids[place]: int(rng.integers(4)) for place in rng.choice(depth, 20, replace=False).tolist()
            }
            for judge in range(judges)
        }
        run[query] = dict(zip(ids, scores(rng, depth).tolist(), strict=True))
    return qrels, run


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
