"""ranx's fuse, optimize_fusion and normalize: what ranx gave, and what it refuses."""

import json

import pytest
from common import ROOT

from fastir.compat.ranx import OptimizationReport, Qrels, Run, evaluate, fuse, normalize, optimize_fusion

RECORD = json.loads((ROOT / "tests" / "fusion" / "recorded" / "ranx.json").read_text())
CLOSE = {"abs": 1e-12, "rel": 1e-12}


def runs(given="runs"):
    return [Run(run) for run in RECORD[given]]


@pytest.mark.parametrize("case", RECORD["fused"][::7], ids=lambda case: f"{case[1]}-{case[2]}")
def test_fuse_is_called_as_in_ranx_and_gives_its_scores(case):
    given, method, norm, params, theirs = case
    fused = fuse(runs(given), norm=norm, method=method, params=params)
    assert isinstance(fused, Run)
    ours = fused.to_dict()
    assert ours.keys() == theirs.keys()
    for query_id, scores in theirs.items():
        assert ours[query_id] == pytest.approx(scores, **CLOSE)


@pytest.mark.parametrize("case", RECORD["tuned"], ids=lambda case: case[0])
def test_optimize_fusion_finds_what_ranx_found(case):
    method, options, best, report = case
    found = optimize_fusion(Qrels(RECORD["qrels"]), runs(), method=method, metric="ndcg@5", **options)
    assert found.keys() == best.keys()
    for name, theirs in best.items():
        ours = found[name]
        if isinstance(theirs, list) and isinstance(theirs[0], list):
            assert all(a == pytest.approx(b, **CLOSE) for a, b in zip(ours, theirs, strict=True))
        else:
            assert ours == pytest.approx(theirs, **CLOSE)
    if report is None:
        return
    again, tried = optimize_fusion(
        Qrels(RECORD["qrels"]), runs(), method=method, metric="ndcg@5", return_optimization_report=True, **options
    )
    assert isinstance(tried, OptimizationReport)
    assert again.keys() == best.keys()
    close = 0.01 if method == "w_bordafuse" else 1e-12  # whose equal scores ranx leaves in the order of a set
    assert tried.results == pytest.approx(report[1], abs=close)
    assert f"{max(tried.results):.3f}" in repr(tried)
    fused = fuse(runs(), method=method, params=found)
    if method != "w_bordafuse":
        assert evaluate(Qrels(RECORD["qrels"]), fused, "ndcg@5") == pytest.approx(max(tried.results), abs=1e-12)


@pytest.mark.parametrize("case", RECORD["normed"], ids=lambda case: case[0])
def test_normalize_gives_what_ranx_gave(case):
    norm, theirs = case
    normed = normalize(runs()[0], norm)
    for query_id, scores in theirs.items():
        assert normed.to_dict()[query_id] == pytest.approx(scores, **CLOSE)


def test_a_fused_run_has_the_name_that_ranx_gives_it():
    names = {method: fuse(runs(), None, method).name for method in ("sum", "isr", "bordafuse")}
    assert names == {"sum": "comb_sum", "isr": "isr", "bordafuse": "bordafuse"}


def test_what_ranx_refuses_is_refused():
    one, other = runs()[:2]
    with pytest.raises(AssertionError, match="Only one run provided"):
        fuse([one])
    with pytest.raises(AssertionError, match="query ids do not match"):
        fuse([one, Run({"q": {"a": 1.0}})])
    with pytest.raises(AssertionError, match="Qrels query ids do not match"):
        optimize_fusion(Qrels({"q": {"a": 1}}), [one, other])
    with pytest.raises(ValueError, match="not supported"):
        normalize(one, "borda")
    with pytest.raises(ValueError, match="does not support optimization"):
        optimize_fusion(Qrels(RECORD["qrels"]), [one, other], method="sum")
    with pytest.raises(ValueError, match="does not support optimization report"):
        optimize_fusion(Qrels(RECORD["qrels"]), [one, other], method="mapfuse", return_optimization_report=True)
    with pytest.raises(TypeError, match="has no parameter 'min_q'"):
        optimize_fusion(Qrels(RECORD["qrels"]), [one, other], min_q=1)
    with pytest.raises(ValueError, match="step must divide 1"):
        optimize_fusion(Qrels(RECORD["qrels"]), [one, other], step=0.3)


def test_a_run_normalises_itself():
    run = Run(RECORD["runs"][0], name="bm25")
    normed = run.normalize("max")
    assert (normed.name, normed.to_dict()) == ("bm25", normalize(run, "max").to_dict())
    assert max(normed.to_dict()["q0"].values()) == 1.0
    with pytest.raises(ValueError, match="Normalization method borda not supported"):
        run.normalize("borda")
