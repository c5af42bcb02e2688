"""Qrels that are prepared for metrics: labels beyond a metric's scale, with query and document."""

import gen
import pytest

import fastir


@pytest.mark.parametrize(("metric", "label"), [
    ("err", 5), ("nerr(max_grade=2)", 3), ("dcg_burges", 1001), ("ndcg(gain=exp2)", 1001),
])  # fmt: skip
def test_a_label_beyond_the_scale_names_query_and_document(metric, label, tmp_path):
    qrels = {"fine": {"a": 1}, "here": {"b": 0, "bad": label}}
    run = {"fine": {"a": 1.0}, "here": {"a": 1.0}}
    for judgments in (qrels, gen.write_qrels(tmp_path / "qrels", qrels)):
        with pytest.raises(OverflowError, match=f"label {label} .*query here, document bad"):
            fastir.evaluate(judgments, run, metric)
    with pytest.raises(OverflowError, match=f"label {label} .*query 1, document 0"):
        fastir.evaluate_ranked([1, label], [0, 1, 2], metric)
