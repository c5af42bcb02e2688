"""Makes the golden set again: a small collection from a seed, and what other programs say of it. README.md has more.

    python tests/golden/make.py PATH_OF_TREC_EVAL

needs pytrec_eval, ir_measures and ranx installed, and trec_eval 10 as a binary.
"""

import json
import random
import subprocess
import sys
from pathlib import Path

import ir_measures
import pytrec_eval
import ranx

sys.path.insert(0, str(Path(__file__).parents[1] / "support"))
from golden_set import (
    COLLECTION,
    EXPECTED,
    IR_MEASURES,
    NOTHING_RELEVANT,
    RANX,
    TREC_EVAL,
    for_ranx,
    read_qrels,
    read_run,
)

LABELS = (-1, 0, 0, 0, 1, 1, 2, 3)
QUERIES = [str(number) for number in range(301, 313)]
ONE_JUDGED, ONE_RETRIEVED, MISSING, NOT_JUDGED = "307", "309", ("305", "311"), "399"


def make_collection():
    """Twelve queries, graded labels, and three runs; documents that only the runs have are not judged."""
    rng = random.Random(20261122)
    pool = [f"doc-{number:03}" for number in range(90)] + ["Doc-é", "doc_漢字", "DOC-7"]
    qrels, runs = [], {"distinct": [], "tied": [], "gaps": []}
    for query in QUERIES:
        docs = rng.sample(pool, 60)
        judged = docs[:1] if query == ONE_JUDGED else docs[:30]
        for doc in sorted(judged):
            label = 0 if query == NOTHING_RELEVANT else 2 if query == ONE_JUDGED else rng.choice(LABELS)
            qrels.append(f"{query} 0 {doc} {label}")
        for name, lines in runs.items():
            retrieved = rng.sample(docs, 1 if query == ONE_RETRIEVED else rng.randint(20, 40))
            if name == "gaps" and query in MISSING:
                continue
            for rank, doc in enumerate(retrieved, 1):
                score = rng.random() * 20 if name == "distinct" else rng.choice((1, 1.5, 2.25, 7, 7 + 1e-9))
                lines.append(f"{query} Q0 {doc} {rank} {score!r} {name}")
    runs["gaps"] += [f"{NOT_JUDGED} Q0 doc-{number:03} 1 {number}.5 gaps" for number in range(5)]
    rng.shuffle(runs["gaps"])  # not grouped by query
    for name, lines in {"qrels.txt": qrels, **{f"{name}.run": lines for name, lines in runs.items()}}.items():
        (COLLECTION / name).write_bytes("".join(f"{line}\n" for line in lines).encode())


def write_json(name, values):
    """One line per query or measure, so that a change shows as lines."""
    rows = ",\n".join(f"{json.dumps(key)}: {json.dumps(row)}" for key, row in values.items())
    (EXPECTED / name).write_text(f"{{\n{rows}\n}}\n", "utf-8")


def by_query(printed):
    """What trec_eval prints, {query: {measure: text}}; its last query is "all"."""
    rows = {}
    for line in printed.splitlines():
        measure, query, text = line.split("\t")
        rows.setdefault(query, {})[measure.rstrip()] = text
    return rows


def plain(values):
    return {name: float(value) for name, value in values.items()}


def make_expected(trec_eval):
    for name, (flags, run) in TREC_EVAL.items():
        command = [trec_eval, *flags.split(), COLLECTION / "qrels.txt", COLLECTION / run]
        write_json(name, by_query(subprocess.run(command, capture_output=True, check=True).stdout.decode()))
    qrels = read_qrels()
    for name in ("distinct", "tied", "gaps"):
        run = read_run(f"{name}.run")
        values = pytrec_eval.RelevanceEvaluator(qrels, pytrec_eval.supported_measures).evaluate(run)
        write_json(f"{name}.pytrec_eval.json", {query: plain(values[query]) for query in sorted(values)})

    judged, ranked = for_ranx()
    theirs = ranx.Run(ranked)
    rows = {"mean": plain(ranx.evaluate(ranx.Qrels(judged), theirs, RANX))}
    for metric in RANX:
        for query, value in theirs.scores[metric].items():
            rows.setdefault(query, {})[metric] = float(value)
    write_json("distinct.ranx.json", rows)

    run = read_run("gaps.run")
    values = {}
    for name in IR_MEASURES:  # one at a time: together, nDCG may get the gains that another measure brings
        rows = ir_measures.iter_calc([ir_measures.parse_measure(name)], qrels, run)
        values[name] = plain({row.query_id: row.value for row in sorted(rows, key=lambda row: row.query_id)})
    write_json("gaps.ir_measures.json", values)


if __name__ == "__main__":
    COLLECTION.mkdir(exist_ok=True)
    EXPECTED.mkdir(exist_ok=True)
    make_collection()
    make_expected(sys.argv[1])
