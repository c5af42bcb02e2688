"""Every way in and out: a row for each public call that no other bench has, beside what its caller would write.

A row is (what the peer is called, how many times as fast fastir is asked to be, a function of the `Held` inputs that
makes both calls); SAME compares what can be equal. `rows.py` says where all other calls are measured.
"""

import functools
import json

import numpy as np
from timing import METRICS

import fastir

QUERIES = 7000
ASKED = 1 / 1.1  # a tenth is noise


class Held:
    """Judgments of 50 x 1000 and two runs, in the forms that fastir returns, and the results of 7000 queries."""

    def __init__(self, collection, folder, quick):
        self.judgments, self.scores = collection("judged")
        self.second = {query: dict(list(docs.items())[::2]) for query, docs in self.judgments.items()}
        self.qrels, self.run = fastir.Qrels.from_dict(self.judgments), fastir.Run.from_dict(self.scores)
        self.evaluator = fastir.Evaluator(self.qrels, METRICS, n_threads=1)
        self.judged = self.evaluator.judged_rankings(self.run)
        self.queries = list(self.judgments)[::2]
        labels = np.random.default_rng(2).integers(0, 3, (100 if quick else QUERIES, 20)).astype(np.int8)
        self.labels = labels[:50]
        self.results = fastir.evaluate_ranked(labels, metrics=METRICS)
        self.values = self.results.values
        self.other = fastir.evaluate_ranked(labels[:, ::-1].copy(), metrics=METRICS)
        self.segments = {query: f"s{place % 7}" for place, query in enumerate(self.results.query_ids)}
        self.path = str(folder / "out.run")


def lines_of(run, path):
    """The file of a run as a loop writes it."""
    with open(path, "w") as file:
        for query, docs in run.items():
            file.writelines(
                f"{query} Q0 {doc} {rank} {score!r} x\n" for rank, (doc, score) in enumerate(docs.items(), 1)
            )


def first_finders(held):
    """How many relevant documents each of two runs found, and found alone, with sets."""
    runs, found = {"a": held.scores, "b": held.second}, {"a": 0, "b": 0}
    for query, docs in held.judgments.items():
        relevant = {doc for doc, label in docs.items() if label > 0}
        sets = {name: relevant & run[query].keys() for name, run in runs.items()}
        for name, one in sets.items():
            found[name] += len(one - sets["b" if name == "a" else "a"])
    return found


def bootstrap(values):
    from scipy import stats

    return stats.bootstrap((values,), np.mean, n_resamples=10_000, method="percentile", rng=0)


def of_polars(held):
    """What by_segment returns, as polars groups it."""
    import polars

    frame = polars.DataFrame(
        {"segment": list(held.segments.values()), **dict(zip(METRICS, held.values.T, strict=True))}
    )
    return frame.group_by("segment", maintain_order=True).mean()


def verdicts(held, **columns):
    """Verdicts of an answer to each query, twenty each, as columns; every third is full support."""
    queries = [query for query in held.results.query_ids for _ in range(20)]
    return {"query_id": queries, **{name: [of(place) for place in range(len(queries))] for name, of in columns.items()}}


def mean_support(columns):
    """The supported part of each query's rows, by a loop."""
    sums, counts = {}, {}
    for query, support in zip(columns["query_id"], next(reversed(columns.values())), strict=True):
        sums[query] = sums.get(query, 0) + (support in (1, "FS"))
        counts[query] = counts.get(query, 0) + 1
    return {query: sums[query] / counts[query] for query in sums}


def rows_of_answers(held, call, metric, **columns):
    rows = verdicts(held, **columns)
    return lambda: call(rows, metric)["run"].per_query(metric), lambda: mean_support(rows)


EVALUATE = "fastir, evaluate"
ROWS = {
    "evaluate_nuggets": ("a loop that counts", ASKED, lambda h: rows_of_answers(
        h, fastir.evaluate_nuggets, "nugget_recall_strict", nugget=lambda place: place % 20,
        importance=lambda place: "vital", assignment=lambda place: int(place % 3 == 0))),
    "evaluate_citations": ("a loop that counts", ASKED, lambda h: rows_of_answers(
        h, fastir.evaluate_citations, "citation_precision_strict", sentence=lambda place: place % 20,
        citation=lambda place: f"d{place}", support=lambda place: "FS" if place % 3 == 0 else "NS")),
    "merge_qrels": ("a dict update", ASKED, lambda h: (
        lambda: fastir.merge_qrels(h.judgments, h.second),
        lambda: {query: {**docs, **h.second[query]} for query, docs in h.judgments.items()})),
    "contributions": ("sets", None, lambda h: (
        lambda: fastir.contributions(h.judgments, {"a": h.scores, "b": h.second}), lambda: first_finders(h))),
    "precision_recall_curve": (EVALUATE, 1 / 2, lambda h: (
        lambda: fastir.precision_recall_curve(h.qrels, h.run), lambda: fastir.evaluate(h.qrels, h.run, METRICS))),
    "roc_curve": (EVALUATE, 1 / 2, lambda h: (
        lambda: fastir.roc_curve(h.qrels, h.run), lambda: fastir.evaluate(h.qrels, h.run, METRICS))),
    "judged_rankings": (EVALUATE, 1 / 2, lambda h: (
        lambda: fastir.judged_rankings(h.qrels, h.run), lambda: fastir.evaluate(h.qrels, h.run, METRICS))),
    "explain_ranked": ("fastir, evaluate_ranked", None, lambda h: (
        lambda: fastir.explain_ranked(h.labels[0], "ndcg@10"),
        lambda: fastir.evaluate_ranked(h.labels[:1], metrics="ndcg@10")["ndcg@10"])),
    "metric": ("fastir, evaluate_ranked", None, lambda h: (
        lambda: fastir.metric("ndcg@10"), lambda: fastir.evaluate_ranked(h.labels[:1], metrics="ndcg@10"))),
    "Qrels.from_dict": ("a copy of the dicts", None, lambda h: (
        lambda: fastir.Qrels.from_dict(h.judgments),
        lambda: {query: dict(docs) for query, docs in h.judgments.items()})),
    "Qrels.filter": ("a comprehension", None, lambda h: (
        lambda: h.qrels.filter(h.queries), lambda: {query: h.judgments[query] for query in h.queries})),
    "Qrels.to_dict": ("a copy of the dicts", None, lambda h: (
        h.qrels.to_dict, lambda: {query: dict(docs) for query, docs in h.judgments.items()})),
    "Qrels.to_arrow": ("fastir, to_dict", ASKED, lambda h: (h.qrels.to_arrow, h.qrels.to_dict)),
    "Qrels.to_pandas": ("a frame of the rows", ASKED, lambda h: (h.qrels.to_pandas, lambda: frame(h.judgments))),
    "Qrels.save": ("a loop", ASKED, lambda h: (
        lambda: h.qrels.save(h.path), lambda: lines_of(h.judgments, h.path))),
    "Run.filter": ("a comprehension", None, lambda h: (
        lambda: h.run.filter(h.queries), lambda: {query: h.scores[query] for query in h.queries})),
    "Run.top": ("sorted", ASKED, lambda h: (
        lambda: h.run.top(10),
        lambda: {query: sorted(docs, key=docs.__getitem__, reverse=True)[:10] for query, docs in h.scores.items()})),
    "Run.to_dict": ("a copy of the dicts", None, lambda h: (
        h.run.to_dict, lambda: {query: dict(docs) for query, docs in h.scores.items()})),
    "Run.to_pandas": ("a frame of the rows", ASKED, lambda h: (h.run.to_pandas, lambda: frame(h.scores))),
    "Run.save": ("a loop", ASKED, lambda h: (lambda: h.run.save(h.path), lambda: lines_of(h.scores, h.path))),
    "Results.by_segment": ("polars", ASKED, lambda h: (
        lambda: h.results.by_segment(h.segments), lambda: of_polars(h))),
    "Results.interval": ("scipy.stats.bootstrap", ASKED, lambda h: (
        lambda: h.results.interval("map"), lambda: bootstrap(h.values[:, 1]))),
    "Results.statistic": ("np.median", ASKED, lambda h: (
        lambda: h.results.statistic("map", "median"), lambda: float(np.median(h.values[:, 1])))),
    "Results.diff": ("NumPy's argsort", None, lambda h: (
        lambda: h.results.diff(h.other, "map"),
        lambda: np.argsort(-np.abs(h.values[:, 1] - h.other.values[:, 1]), kind="stable")[:20])),
    "Results.per_query": ("dict, zip", ASKED, lambda h: (
        lambda: h.results.per_query("map"),
        lambda: dict(zip(h.results.query_ids, h.values[:, 1].tolist(), strict=True)))),
    "Results.to_dict": ("dicts, zip", ASKED, lambda h: (h.results.to_dict, lambda: {
        query: dict(zip(METRICS, row, strict=True))
        for query, row in zip(h.results.query_ids, h.values.tolist(), strict=True)})),
    "Results.to_json": ("json.dumps", ASKED, lambda h: (
        h.results.to_json, lambda: json.dumps(h.results.to_dict()))),
    "Results.to_pandas": ("pandas", ASKED, lambda h: (h.results.to_pandas, lambda: pandas_values(h))),
    "Results.to_arrow": ("fastir, to_pandas", ASKED, lambda h: (h.results.to_arrow, h.results.to_pandas)),
    "Results.to_table": ("a format of each value", None, lambda h: (
        lambda: h.results.to_table(per_query=True),
        lambda: "\n".join("  ".join(f"{value:.4f}" for value in row) for row in h.values.tolist()))),
    "Results.get": ("reading the name", None, lambda h: (
        functools.partial(h.results.get, "map"), lambda: h.results["map"])),
    "Results.items": ("np.mean", None, lambda h: (lambda: dict(h.results.items()), lambda: h.values.mean(axis=0))),
    "JudgedRankings.by_convention": ("fastir, evaluate of each", ASKED, lambda h: (
        lambda: h.judged.by_convention(METRICS, ["fastir", "ranx"]),
        lambda: [fastir.evaluate(h.qrels, h.run, METRICS, convention=name) for name in ("fastir", "ranx")])),
    "JudgedRankings.to_labels": ("a comprehension", ASKED, lambda h: (
        lambda: h.judged.to_labels(10),
        lambda: [[h.judgments[query].get(doc, 0) for doc in list(docs)[:10]] for query, docs in h.scores.items()])),
    "JudgedRankings.concatenate": ("fastir, judging again", ASKED, lambda h: (
        lambda: fastir.JudgedRankings.concatenate([h.judged]), lambda: h.evaluator.judged_rankings(h.run))),
    "JudgedRankings.save": ("np.savez", None, lambda h: (
        lambda: h.judged.save(h.path + ".npz"), lambda: np.savez(h.path, h.judged.ranks, h.judged.labels))),
    "Accumulator.update": (EVALUATE, ASKED, lambda h: (
        lambda: fastir.Accumulator(METRICS).update(run=h.run, qrels=h.qrels),
        lambda: fastir.evaluate(h.qrels, h.run, METRICS))),
    "Partial.to_arrow": (EVALUATE, ASKED, lambda h: (
        lambda: h.evaluator.partial(h.run).to_arrow(), lambda: h.evaluator.evaluate(h.run))),
    "Partial.result": (EVALUATE, 1 / 2, lambda h: (
        lambda: h.evaluator.partial(h.run).result(), lambda: h.evaluator.evaluate(h.run))),
}  # fmt: skip


SAME = {  # {entry: whether the answers are equal}
    **dict.fromkeys(["merge_qrels", "Qrels.filter", "Run.filter"], lambda ours, theirs: ours.to_dict() == theirs),
    **dict.fromkeys(
        ["Qrels.to_dict", "Run.to_dict", "Results.statistic", "Results.per_query", "Results.to_dict", "Results.get",
         "evaluate_nuggets", "evaluate_citations",
         "Partial.result"],
        lambda ours, theirs: ours == theirs,
    ),
    "Results.to_json": lambda ours, theirs: json.loads(ours)["per_query"] == json.loads(theirs),
    "Results.to_pandas": lambda ours, theirs: np.array_equal(ours.to_numpy(), theirs.to_numpy()),
    "Results.by_segment": lambda ours, theirs: np.allclose(
        [list(results.values.mean(axis=0)) for results in ours.values()], theirs.select(METRICS).to_numpy(), atol=1e-12
    ),
}  # fmt: skip


def frame(data):
    import pandas

    rows = [(query, doc, number) for query, docs in data.items() for doc, number in docs.items()]
    return pandas.DataFrame(rows, columns=["query_id", "doc_id", "number"])


def pandas_values(held):
    import pandas

    return pandas.DataFrame(held.values, pandas.Index(held.results.query_ids, name="query_id"), METRICS)
