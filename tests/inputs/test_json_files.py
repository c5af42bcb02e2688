"""JSON files as ranx and BEIR write them."""

import json
import math
import os

import pytest
from common import ABSENT, SHARED, UNEVEN
from packings import exact

import fastir
from fastir import Qrels, Run


@UNEVEN
@pytest.mark.skipif(not SHARED.is_dir(), reason=ABSENT)
def test_ranx_files():
    """The same collection, as its authors wrote it in each format."""
    folder = SHARED / "data" / "small_formats" / "ranx"
    qrels = [Qrels.from_file(folder / name) for name in ("qrels.json", "qrels.trec", "qrels.trec.gz")]
    runs = [Run.from_file(folder / name) for name in ("run.json", "run.trec", "run.trec.gz")]
    assert qrels[0] == qrels[1] == qrels[2] == Qrels.from_dict(json.loads((folder / "qrels.json").read_bytes()))
    assert runs[0] == runs[1] == runs[2] == Run.from_dict(json.loads((folder / "run.json").read_bytes()))
    values = [fastir.evaluate(folder / f"qrels.{kind}", folder / f"run.{kind}", "ndcg") for kind in ("json", "trec")]
    assert values[0] == values[1]


def test_what_json_may_hold_beyond_plain_scores(read):
    run = read(Run, '\ufeff{"q": {"a": Infinity, "b": -Infinity, "c": true, "d": 3}, "p": {}}', format="json")
    assert exact(run) == exact({"q": {"a": math.inf, "b": -math.inf, "c": 1.0, "d": 3.0}, "p": {}})
    assert list(run.columns.repairs) == ["byte order mark"]
    assert exact(read(Qrels, '{"q": {"a": 1.0, "b": false, "c": -0.0}}', format="json")) == exact(
        {"q": {"a": 1, "b": 0, "c": 0}})  # fmt: skip


def test_json_cannot_hold_infinity(tmp_path):
    with pytest.raises(ValueError, match=r"JSON has no number for -inf \(query q, document b\)"):
        Run.from_dict({"q": {"a": 1.0, "b": -math.inf}}).save(tmp_path / "saved.json")
    assert not os.listdir(tmp_path)
