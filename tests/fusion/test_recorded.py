"""What ranx fuses and learns, in its records, and where it is installed."""

import json
import pathlib
import sys

import pytest

import fastir

HERE = pathlib.Path(__file__).parent
RECORD = json.loads((HERE / "recorded" / "ranx.json").read_text())
CLOSE = 1e-12


def same_scores(ours, theirs):
    assert ours.keys() == theirs.keys()
    for query_id, scores in theirs.items():
        assert ours[query_id] == pytest.approx(scores, abs=CLOSE, rel=CLOSE), query_id


def check_fused(record, case):
    given, method, norm, params, theirs = case
    rest = dict(params)
    fused = fastir.fuse(record[given], method, norm, rest.pop("weights", None), **rest)
    same_scores(fused.to_dict(), theirs)


@pytest.mark.parametrize("case", RECORD["fused"], ids=lambda case: f"{case[1]}-{case[2]}")
def test_fuse_gives_what_ranx_gave(case):
    check_fused(RECORD, case)


@pytest.mark.parametrize("case", RECORD["tuned"], ids=lambda case: case[0])
def test_tune_learns_and_finds_what_ranx_did(case):
    method, _, best, report = case
    runs = dict(zip("abc", RECORD["runs"], strict=True))
    grid = None
    if report is not None:
        grid = [int(entry) for entry in report[0]] if method in ("probfuse", "slidefuse") else report[0]
    tuning = fastir.tune(RECORD["qrels"], runs, "ndcg@5", method, grid=grid, ties="input")  # as ranx has them
    if report is not None and method != "w_bordafuse":  # whose equal scores ranx leaves in the order of a set
        assert [trial.value for trial in tuning.trials] == pytest.approx(report[1], abs=CLOSE)
        assert tuning.in_sample == pytest.approx(max(report[1]), abs=CLOSE)
    for name in ("map_scores", "probs", "log_odds"):
        if name in best and method != "probfuse":  # of which ranx takes the last of equally good ones
            for ours, theirs in zip(tuning.params[name], best[name], strict=True):
                assert ours == pytest.approx(theirs, abs=CLOSE)


def test_all_methods_and_norms_are_recorded():
    from fastir.analyses.fusion.cards import METHODS, NORMS

    assert {case[1] for case in RECORD["fused"]} == METHODS.keys()
    assert {case[2] for case in RECORD["fused"]} == {None, *NORMS}


def test_the_record_is_what_ranx_gives(monkeypatch):
    pytest.importorskip("ranx")
    monkeypatch.syspath_prepend(str(HERE))
    monkeypatch.delitem(sys.modules, "make", raising=False)
    import make

    record = make.record()
    assert record["tool"] == RECORD["tool"]
    for case in record["fused"]:
        check_fused(record, case)
