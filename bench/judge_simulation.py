"""Do the intervals of metrics under a judge cover the truth? Simulated collections, kept in judge_simulation.json.

    python bench/judge_simulation.py run [PROCESSES]     every design; 20 to 60 minutes of one core
    python bench/judge_simulation.py page                write the tables of docs/under_a_judge.md from the record

A collection: each query has 60 judged documents, whose relevance is a normal number with a mean of its own for the
query; labels 0, 1 and 2 are cut from it. Two runs rank the documents by that number and noise, and return the best 40.
The judge confuses labels by a table of its quality; a design says on what else its errors depend, and what humans saw.
The truth is the mean over 40 000 queries. Every contender has as many human labels: random pairs, or, for PPI and for
humans alone, all documents of random queries.
"""

import json
import multiprocessing
import sys
import warnings
from pathlib import Path

import numpy as np

import fastir
from fastir import stats

RECORD = Path(__file__).resolve().with_suffix(".json")
PAGE = RECORD.parent.parent / "docs" / "under_a_judge.md"
METRICS = ("precision@10", "ndcg@10", "map", "recall@20", "mrr")
DOCS, DEPTH, POPULATION, DRAWS, MIN_QUERIES = 60, 40, 40_000, 300, 3
QUALITIES = {  # P(the judge's label | the true label)
    "good": [[0.93, 0.06, 0.01], [0.15, 0.75, 0.10], [0.03, 0.17, 0.80]],
    "fair": [[0.85, 0.12, 0.03], [0.25, 0.55, 0.20], [0.10, 0.25, 0.65]],
    "poor": [[0.70, 0.22, 0.08], [0.30, 0.42, 0.28], [0.20, 0.30, 0.50]],
}
LENIENT = np.array([[0.65, 0.28, 0.07], [0.0, 0.75, 0.25], [0.0, 0.0, 1.0]])  # what a favoured document's label becomes
CONTENDERS = ("corrected", "judge", "ppi", "humans")
# name: (errors depend on, quality, queries, share of human labels, strata, who is judged by humans, collections)
DESIGNS = {
    "truth, good, 50 queries, 20 %": ("truth", "good", 50, 0.2, None, "random", 240),
    "truth, fair, 25 queries, 30 %": ("truth", "fair", 25, 0.3, None, "random", 240),
    "truth, fair, 50 queries, 20 %": ("truth", "fair", 50, 0.2, None, "random", 240),
    "truth, fair, 100 queries, 10 %": ("truth", "fair", 100, 0.1, None, "random", 240),
    "truth, fair, 250 queries, 20 %": ("truth", "fair", 250, 0.2, None, "random", 125),
    "truth, poor, 50 queries, 20 %": ("truth", "poor", 50, 0.2, None, "random", 240),
    "rank, fair, 50 queries, 20 %": ("rank", "fair", 50, 0.2, None, "random", 240),
    "query, fair, 50 queries, 20 %": ("query", "fair", 50, 0.2, None, "random", 240),
    "system, fair, 50 queries, 20 %": ("system", "fair", 50, 0.2, None, "random", 240),
    "truth, levels only": ("truth", "fair", 50, 0.2, "level", "random", 100),
    "rank, levels only": ("rank", "fair", 50, 0.2, "level", "random", 100),
    "system, levels only": ("system", "fair", 50, 0.2, "level", "random", 100),
    "system, humans saw one run": ("system", "fair", 50, 0.2, None, "one run", 100),
}


def invent(random, n, errors, quality):
    """True labels, the judge's labels and the ranks of the documents in both runs: arrays of shape (n, DOCS)."""
    relevance = random.normal(random.normal(0, 0.7, (n, 1)), 1, (n, DOCS))
    truth = (relevance > 1.2).astype(int) + (relevance > 2.2)
    first, second = (
        (-(slope * relevance + random.normal(0, 1, (n, DOCS)))).argsort(1).argsort(1) + 1 for slope in (0.9, 0.7)
    )
    chance = np.array(QUALITIES[quality])[truth]
    if errors in ("rank", "system"):
        favoured = (np.minimum(first, second) if errors == "rank" else second) <= 10
        chance = np.where(favoured[..., None], chance @ LENIENT, chance)
    if errors == "query":
        chance = chance * np.exp(np.arange(3) * random.normal(0, 0.8, (n, 1, 1)))
    levels = chance.cumsum(-1) / chance.sum(-1, keepdims=True)
    judge = (random.random((n, DOCS, 1)) > levels).sum(-1).clip(0, 2)
    return truth, judge, first, second


def values(labels, ranks):
    """{metric: the value of each query} of a run, all documents judged."""
    ranked = np.take_along_axis(labels, ranks.argsort(1), 1)[:, :DEPTH]
    return fastir.evaluate_ranked(ranked, metrics=list(METRICS), ideal_labels=labels).values.T


def as_dicts(table, kept, sign=1):
    """{query: {document: number}} of the documents that are kept."""
    return {
        f"q{query}": {f"d{doc}": sign * int(table[query, doc]) for doc in np.flatnonzero(kept[query])}
        for query in range(len(table))
        if kept[query].any()
    }


def by_t(x):
    """A mean with the interval of Student's t."""
    interval = stats.t_interval(x)
    return x.mean(), interval.low, interval.high


def estimate(seed, design):
    """{contender: (estimate, low, high) of each metric of the first run, then of each difference}."""
    errors, quality, n, share, strata, who, _ = DESIGNS[design]
    random = np.random.default_rng(seed)
    truth, judge, first, second = invent(random, n, errors, quality)
    everyone = np.ones((n, DOCS), bool)
    pool = first <= 15 if who == "one run" else everyone
    human = pool & (random.random((n, DOCS)) < share * DOCS * n / pool.sum())
    runs = {name: as_dicts(ranks, ranks <= DEPTH, -1) for name, ranks in (("a", first), ("b", second))}
    sides = as_dicts(judge, everyone), as_dicts(truth, human)
    drawn = {"n_draws": DRAWS, "random_state": seed, "n_threads": 1}
    found = fastir.compare_under_judge(*sides, runs, METRICS, strata=strata, **drawn)
    rows = [*found.means["a"].values(), *found.pairs]
    whole = random.permutation(n)[: max(MIN_QUERIES, round(share * n))]
    others = np.setdiff1d(np.arange(n), whole)
    model, people = ([values(labels, ranks) for ranks in (first, second)] for labels in (judge, truth))
    model, people = (np.concatenate([side[0], side[0] - side[1]]) for side in (model, people))
    return {
        "corrected": [(row.estimate, row.low, row.high) for row in rows],
        "judge": [by_t(x) for x in model],
        "ppi": [stats.ppi_mean(y[whole], x[whole], x[others])[:3] for x, y in zip(model, people, strict=True)],
        "humans": [by_t(y[whole]) for y in people],
    }


def figures(design, mapper):
    """The row of a design: bias, width and coverage of each contender for each value."""
    errors, quality, *_, n_collections = DESIGNS[design]
    population = invent(np.random.default_rng(0), POPULATION, errors, quality)
    first, second = (values(population[0], ranks) for ranks in population[2:])
    true = np.concatenate([first, first - second]).mean(axis=1)
    place = list(DESIGNS).index(design)
    jobs = [(1_000_000 * (place + 1) + number, design) for number in range(n_collections)]
    found = mapper(estimate, jobs, chunksize=2)
    row = {"collections": n_collections, "truth": true.tolist()}
    for contender in CONTENDERS:
        middle, low, high = np.array([each[contender] for each in found]).transpose(2, 0, 1)
        row[contender] = {
            "bias": (middle.mean(axis=0) - true).tolist(),
            "width": np.nanmean(high - low, axis=0).tolist(),
            "coverage": ((low <= true) & (true <= high)).mean(axis=0).tolist(),
        }
    return row


# ---- the page --------------------------------------------------------------------------------------------------------
NAMES = {"corrected": "under_judge", "judge": "judge's labels", "ppi": "PPI on queries", "humans": "humans alone"}
DESIGN = {  # beside the name of a design: in which table it is
    True: [name for name, design in DESIGNS.items() if design[4] is None and design[5] == "random"],
    False: [name for name, design in DESIGNS.items() if design[4] is not None or design[5] != "random"],
}


def tables(record):
    """{the head of a table: its rows}."""
    found = {}
    metrics = record["metrics"]
    for holds, names in DESIGN.items():
        for what, first in (("mean", 0), ("difference", len(metrics))):
            head = (
                f"| coverage of the {what}, {'assumptions hold' if holds else 'one broken'} | {' | '.join(metrics)} |"
            )
            rows, covered = [], []
            found[head] = rows
            for name in names:
                coverage = record["designs"][name]["corrected"]["coverage"][first : first + len(metrics)]
                covered.append(np.array(coverage))
                rows.append(f"| {name} | {' | '.join(f'{100 * each:.0f}' for each in coverage)} |")
            if holds:
                sizes = [record["designs"][name]["collections"] for name in names]
                together = np.average(covered, axis=0, weights=sizes)
                rows.append(
                    f"| all {sum(sizes)} collections | {' | '.join(f'{100 * each:.1f}' for each in together)} |"
                )
    columns = [
        f"{what} of {value}" for value in ("nDCG@10", "its difference") for what in ("bias", "width", "coverage")
    ]
    rows = found[f"| contender | {' | '.join(columns)} |"] = []
    place = metrics.index("ndcg@10")
    for name, row in record["designs"].items():
        rows.append(f"| **{name}** |{' |' * len(columns)}")
        for contender, text in NAMES.items():
            cells = []
            for column in (place, place + len(metrics)):
                bias, width, coverage = (row[contender][what][column] for what in ("bias", "width", "coverage"))
                cells += [f"{bias:+.3f}", f"{width:.3f}", f"{100 * coverage:.0f}"]
            rows.append(f"| {text} | {' | '.join(cells)} |")
    return found


def page(text, record):
    """The page with the rows of its tables, which are known by their heads."""
    lines, known, done = [], tables(record), False
    for line in text.split("\n"):
        if line in known:
            lines += [line, "|---" + "|---:" * (line.count("|") - 2) + "|", *known[line]]
            done = True
        elif not (done and line.startswith("|")):
            lines.append(line)
            done = False
    return "\n".join(lines)


def main():
    if sys.argv[1] == "page":
        PAGE.write_text(page(PAGE.read_text("utf-8"), json.loads(RECORD.read_text("utf-8"))), "utf-8")
        return
    warnings.simplefilter("ignore")
    record = json.loads(RECORD.read_text("utf-8")) if RECORD.exists() else {"designs": {}}
    record |= {"metrics": METRICS, "draws": DRAWS, "fastir": fastir.__version__}
    with multiprocessing.Pool(int(sys.argv[2]) if len(sys.argv) > 2 else 1) as pool:
        for design in DESIGNS:
            if design not in record["designs"]:
                record["designs"][design] = figures(design, pool.starmap)
                RECORD.write_text(json.dumps(record, indent=1) + "\n", "utf-8")
                print(design, flush=True)


if __name__ == "__main__":
    main()
