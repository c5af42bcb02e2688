"""Results say by which convention and options they were made."""

import dataclasses
import json
import pickle

from rankings_made import labelled

import fastir
from fastir.request.conventions import CONVENTIONS

SEED_003 = labelled([3, 2, 3, 0, 1, 2], [3, 2])


def test_results_carry_the_convention():
    plain = fastir.evaluate(*SEED_003, "map")
    assert plain.convention == CONVENTIONS["fastir"]
    assert repr(plain).splitlines()[1:] == ["1 query"]
    assert "convention" not in json.loads(plain.to_json())
    results = fastir.evaluate(*SEED_003, "map", convention="lightgbm", ties="trec", ap_norm="min_kR")
    assert results.convention == dataclasses.replace(CONVENTIONS["lightgbm"], ties="trec")
    assert (results.provenance.convention.tool, results.convention.version) == ("lightgbm", "4.7.0")
    assert repr(results).splitlines()[-1] == "convention lightgbm, ties=trec (lightgbm 4.7.0)"
    assert json.loads(results.to_json())["convention"] == "lightgbm, ties=trec"
    for again in (
        pickle.loads(pickle.dumps(results)),
        fastir.evaluate(*SEED_003, "map", convention=results.convention),
    ):
        assert again == results
        assert again.convention == results.convention


def test_options_alone_show_too():
    results = fastir.evaluate(*SEED_003, "ndcg", gain={1: 5}, ties="trec", score_dtype="float64", queries="qrels")
    assert str(results.convention) == "fastir, gain={1:5}"
    assert fastir.evaluate_ranked([1, 0], [0, 2], "ndcg", convention="sklearn").convention == CONVENTIONS["sklearn"]
