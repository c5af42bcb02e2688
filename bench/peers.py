"""How the peers of more than one bench are called, and the assertions that their answers are fastir's.

pytrec_eval's values are equal to 1e-12. ranx orders equal scores its own way and returns means, which agree to 1e-9 on
a copy of the run without ties.
"""

import pytest
import timing
import workloads

import fastir

pytrec_eval = pytest.importorskip("pytrec_eval")

# How they spell our names; RANX and IR_MEASURES in the order of timing.METRICS.
TREC = {
    "ndcg@10": "ndcg_cut.10", "map": "map", "mrr": "recip_rank", "P@10": "P.10", "recall@100": "recall.100",
    "bpref": "bpref",
}  # fmt: skip
RANX = {"ndcg@10": "ndcg@10", "map": "map", "mrr": "mrr", "P@10": "precision@10", "recall@100": "recall@100"}
IR_MEASURES = ["nDCG@10", "AP", "RR", "P@10", "R@100"]


def trec_evaluator(qrels, metrics=timing.METRICS):
    return pytrec_eval.RelevanceEvaluator(qrels, {TREC[name] for name in metrics})


def assert_same(results, theirs, metrics=timing.METRICS, tolerance=1e-12):
    """Every value of every query is pytrec_eval's."""
    ours = results.to_dict()
    assert ours.keys() == theirs.keys(), "not the same queries"
    for query, row in ours.items():
        for name in metrics:
            difference = abs(row[name] - theirs[query][TREC[name].replace(".", "_")])
            assert difference <= tolerance, f"{name} of query {query} differs by {difference}"


def in_ranx(read):
    """The means, on one thread, of what `read` makes of the module: qrels and a run."""
    import ranx

    return ranx.evaluate(*read(ranx), list(RANX.values()), threads=1)


def ranx_means(qrels, run):
    return in_ranx(lambda ranx: (ranx.Qrels(qrels), ranx.Run(run)))


def ranx_files(qrels_path, run_path):
    paths = {"Qrels": qrels_path, "Run": run_path}
    return in_ranx(lambda ranx: [getattr(ranx, kind).from_file(path, kind="trec") for kind, path in paths.items()])


def assert_ranx_agrees(qrels, run):
    """Its means agree on some of the queries; this compiles its functions, too."""
    few = list(run)[:100]
    qrels, run = {query: qrels[query] for query in few}, workloads.without_ties({query: run[query] for query in few})
    ours, theirs = fastir.evaluate(qrels, run, timing.METRICS), ranx_means(qrels, run)
    for name in timing.METRICS:
        assert abs(ours[name] - theirs[RANX[name]]) <= 1e-9, f"{name}: {ours[name]} is {theirs[RANX[name]]} in ranx"


# ---- pandas frames whose ids are Python strings --------------------------------------------------------------------
def ranx_frames(qrels, run):
    import ranx

    ids = {"q_id_col": "query_id", "doc_id_col": "doc_id"}
    sides = ranx.Qrels.from_df(qrels, score_col="label", **ids), ranx.Run.from_df(run, score_col="score", **ids)
    return ranx.evaluate(*sides, list(RANX.values()), threads=1)


def ir_measures_frames(qrels, run):
    import ir_measures

    measures = [ir_measures.parse_measure(name) for name in IR_MEASURES]
    means = ir_measures.calc_aggregate(measures, qrels.rename(columns={"label": "relevance"}), run)
    return [means[measure] for measure in measures]
