"""Random collections for the tests: every oddity of real data, from a seed.

A collection is a pair of dicts, judgments and scores. All ids can be written to a TREC file, so that the same
collection can be handed over as dicts, as files and as labels in rank order.
"""

import random

LABELS = {
    "graded": (-2, -1, 0, 0, 0, 0, 1, 1, 1, 2, 2, 3, 4), "binary": (0, 0, 0, 1), "only relevant": (1,),
    "none relevant": (0, 0, -1, -2), "all negative": (-1, -2, -5),
}  # fmt: skip

SCORES = {
    "distinct": lambda rng: rng.gauss(0, 5),
    "few values": lambda rng: float(rng.randrange(4)),
    "all equal": lambda rng: 1.0,
    "equal as float32": lambda rng: 1.0 + rng.randrange(6) * 1e-9,
    "signed zeros": lambda rng: rng.choice((0.0, -0.0, 5e-324, -5e-324)),
    "extremes": lambda rng: rng.choice((float("inf"), float("-inf"), 1e300, 1e-300, -1e300, 0.5)),
    "integers": lambda rng: rng.randrange(-50, 50),
}

PREFIXES = ("d", "D", "é", "文", "😀", "～", "doc-", "")


def query(rng, depth):
    """One query: its judgments and its scores, of at most `depth` documents each."""
    pool = [f"{rng.choice(PREFIXES)}{number}" for number in range(2 * depth)]
    grade = LABELS[rng.choice(("graded", "graded", "graded", *LABELS))]
    score = SCORES[rng.choice(tuple(SCORES))]
    judged = rng.sample(pool, rng.randint(1, depth))
    retrieved = rng.sample(pool, rng.randint(0, depth))
    return {doc: rng.choice(grade) for doc in judged}, {doc: score(rng) for doc in retrieved}


def collection(seed, queries=8, depth=25):
    """A collection with empty rankings, queries missing from the run and queries that nobody judged.

    The first query has both sides, so that the two always have a query in common.
    """
    rng = random.Random(seed)
    qrels, run = {"first": {"a": 1, "b": 0}}, {"first": {"b": 2.0, "a": 1.0}}
    for number in rng.sample(range(1000), queries):
        judged, retrieved = query(rng, depth)
        qrels[f"q{number}"] = judged
        if rng.random() < 0.9:
            run[f"q{number}"] = retrieved
    run["nobody-judged-me"] = {"a": 1.0}
    return qrels, shuffled(rng, run)


def deep(seed, depth=3000):
    """Two queries as deep as real runs, one ranked by distinct scores and one full of ties."""
    rng = random.Random(seed)
    qrels, run = {}, {}
    for name, score in (("distinct", SCORES["distinct"]), ("tied", lambda rng: float(rng.randrange(depth // 8)))):
        docs = [f"{name}-{number}" for number in range(2 * depth)]
        qrels[name] = {doc: rng.choice(LABELS["graded"]) for doc in rng.sample(docs, depth)}
        run[name] = {doc: score(rng) for doc in rng.sample(docs, depth)}
    return qrels, run


def shuffled(rng, mapping):
    """The same dict in another insertion order."""
    return dict(rng.sample(list(mapping.items()), len(mapping)))


def write_qrels(path, qrels):
    """Write judgments as a TREC qrels file."""
    lines = (f"{query} 0 {doc} {label}\n" for query, docs in qrels.items() for doc, label in docs.items())
    path.write_text("".join(lines), encoding="utf-8", newline="\n")
    return path


def write_run(path, run):
    """Write scores as a TREC run file, in the order of the dicts; the rank column is meaningless."""
    lines = (f"{query} Q0 {doc} 0 {score!r} tag\n" for query, docs in run.items() for doc, score in docs.items())
    path.write_text("".join(lines), encoding="utf-8", newline="\n")
    return path


def grouped_collection(seed, queries=12, depth=20):
    """Random judgments by up to four groups, some of which find nothing relevant, and a run."""
    rng = random.Random(seed)
    qrels, run = {}, {}
    for number in range(queries):
        pool = [f"{rng.choice('aé文')}{i}" for i in range(2 * depth)]
        qrels[f"q{number}"] = {
            f"group{group}": {doc: rng.choice((-1, 0, 0, 1, 2)) for doc in rng.sample(pool, rng.randint(1, 8))}
            for group in rng.sample(range(9), rng.randint(1, 4))
        }
        if number % 6:
            run[f"q{number}"] = {doc: float(rng.randrange(15)) for doc in rng.sample(pool, rng.randint(0, depth))}
    return qrels, run
