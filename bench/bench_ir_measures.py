"""ir_measures with its own providers and with fastir as one: whole calls, and PyTerrier's experiments if it is there.

    python bench/bench_ir_measures.py [--rounds N] [--quick] [--record]

Frames, dicts and rows in, with measures of one tie rule and of several; everything from the qrels to the means is in
the time. The same code runs twice, once in `fastir.compat.patched("ir_measures")`.
"""

import os

os.environ["FASTIR_NUM_THREADS"] = "1"      # as all others

import ir_measures
import pandas
import timing
import workloads
from timing import Goal

import fastir.compat

MEASURES = {
    "five measures": "nDCG@10 AP RR P@10 R@100",
    "with other tie rules": "nDCG@10 AP RR@10 Judged@10 Compat",
}


def inputs(qrels, run):
    """{shape: a function that gives qrels and run in it}."""
    rows = [ir_measures.Qrel(query, doc, label) for query, docs in qrels.items() for doc, label in docs.items()]
    docs = [ir_measures.ScoredDoc(query, doc, score) for query, docs in run.items() for doc, score in docs.items()]
    frames = pandas.DataFrame(rows), pandas.DataFrame(docs)
    text = {"query_id": object, "doc_id": object}
    return {
        "frames": lambda: frames,
        "frames of objects": lambda objects=tuple(frame.astype(text) for frame in frames): objects,
        "dicts": lambda: (qrels, run),
        "rows": lambda: (iter(rows), iter(docs)),
    }


def with_fastir(call):
    """The same call, answered by fastir."""
    def patched():
        with fastir.compat.patched("ir_measures"):
            return call()
    return patched


def calls(qrels, run, names):
    """Both sides on each shape, after a check that the answers are equal."""
    measures = list(map(ir_measures.parse_measure, names.split()))
    found = {}
    for shape, make in inputs(qrels, run).items():
        def call(make=make):
            return ir_measures.calc_aggregate(measures, *make())
        theirs, ours = call(), with_fastir(call)()
        assert all(abs(ours[measure] - theirs[measure]) <= 1e-12 for measure in measures), f"{shape}: not the same"
        found |= {f"fastir, {shape}": with_fastir(call), f"ir_measures, {shape}": call}
    return found


def experiments(qrels, run):
    """pt.Experiment of one run, whole and per query."""
    import pyterrier
    from pyterrier.measures import AP, RR, P, R, nDCG

    qrels, run = (pyterrier.model.from_ir_measures(frame) for frame in inputs(qrels, run)["frames"]())
    topics = pandas.DataFrame({"qid": run["qid"].unique(), "query": ""})
    found = {}
    for shape, options in (("means", {}), ("per query", {"perquery": True})):
        def call(options=options):
            return pyterrier.Experiment([run], topics, qrels, [nDCG @ 10, AP, RR @ 10, P @ 10, R @ 100], **options)
        pandas.testing.assert_frame_equal(with_fastir(call)(), call(), rtol=0, atol=1e-12)
        found |= {f"fastir, {shape}": with_fastir(call), f"ir_measures, {shape}": call}
    return found


def goals(contenders, asked):
    """Ours against theirs; what is asked is asked of frames and of experiments."""
    for name in contenders:
        shape = name.partition(", ")[2]
        if name.startswith("fastir"):
            yield Goal(name, f"ir_measures, {shape}", None if shape in ("dicts", "rows") else asked)


def main():
    options = timing.options(__doc__.splitlines()[0], rounds=7)
    report = timing.Report("ir_measures", options)
    size = 5 if options.quick else 50
    for title, qrels, run in (
        (f"{size} queries of 1000, heavily judged", *workloads.judged(size)),
        (f"{20 * size} queries of 100, lightly judged", *workloads.passages(20 * size, 100)),
    ):
        for kind, names in MEASURES.items():
            contenders = calls(qrels, run, names)
            report.add(f"{title}: {kind}", timing.measure(contenders, options.rounds), [*goals(contenders, 20)])
        try:
            contenders = experiments(qrels, run)
        except ModuleNotFoundError:
            continue
        report.add(f"{title}: pt.Experiment", timing.measure(contenders, options.rounds), [*goals(contenders, 6)])
    report.close()


if __name__ == "__main__":
    main()
