"""A word that an option does not know is answered with the one that was meant."""

import pytest

import fastir

Q, R = {"q": {"a": 1}}, {"q": {"a": 1.0}}
MEANT = [
    (
        lambda: fastir.evaluate(Q, R, "map", rel_levl=2),
        TypeError,
        "unknown option 'rel_levl'; did you mean 'rel_level'",
    ),
    (lambda: fastir.evaluate(Q, R, "map", weight={}), TypeError, "did you mean 'weights'"),
    (lambda: fastir.evaluate(Q, R, "map", format="beir"), TypeError, "Qrels.from_file and Run.from_file have it"),
    (lambda: fastir.evaluate(Q, R, "map", convention="trec_eval"), ValueError, "'trec_eval-10' .* 'trec_eval-9'"),
    (lambda: fastir.evaluate(Q, R, "map", convention="sentencetransformer"), ValueError, "'sentence-transformers'"),
    (lambda: fastir.evaluate(Q, R, "map", ties="optimstic"), ValueError, "did you mean 'optimistic'"),
    (lambda: fastir.compat.install("ir-measure"), ValueError, "did you mean 'ir_measures'"),
]


@pytest.mark.parametrize(("call", "error", "said"), MEANT)
def test_the_word_that_was_meant_is_named(call, error, said):
    with pytest.raises(error, match=f"{said}.*"):
        call()


@pytest.mark.parametrize(("typed", "name"), [
    ("scikit-learn", "sklearn"), ("sentence_transformers", "sentence-transformers"),
    ("llama-index", "llamaindex"), ("BEIR", "beir"), ("trec-eval-9", "trec_eval-9"), ("Fastir", "fastir"),
])  # fmt: skip
def test_a_convention_is_known_with_other_hyphens_underscores_and_capitals(typed, name):
    results = fastir.evaluate(Q, R, "map", convention=typed)
    assert results == fastir.evaluate(Q, R, "map", convention=name)
    assert results.provenance.convention.name == name


@pytest.mark.parametrize(("metrics", "names"), [
    ("ndcg@10,map", ["ndcg@10", "map"]),
    ("ndcg@1,3, 5", ["ndcg@1", "ndcg@3", "ndcg@5"]),
    (["P.5,10", "rbp(p=0.5, gains={1:2}), map"], ["P_5", "P_10", "rbp(p=0.5, gains={1:2})", "map"]),
    ("utility.1,-1,0,0", ["utility.1,-1,0,0"]),
    (",", None),
])  # fmt: skip
def test_commas_stand_between_metrics(metrics, names):
    if names is None:
        with pytest.raises(fastir.UnknownMetricError, match="unknown metric ','"):
            fastir.evaluate(Q, R, metrics)
    else:
        assert list(fastir.evaluate(Q, R, metrics)) == names


def test_a_word_that_is_near_to_none_gets_no_guess():
    with pytest.raises(ValueError, match=r"got 'xyzzy'$"):
        fastir.evaluate(Q, R, "map", convention="xyzzy")
