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
    (lambda: fastir.evaluate(Q, R, "map", convention="sentencetransformers"), ValueError, "'sentence-transformers'"),
    (lambda: fastir.evaluate(Q, R, "map", ties="optimstic"), ValueError, "did you mean 'optimistic'"),
    (lambda: fastir.compat.install("ir-measures"), ValueError, "did you mean 'ir_measures'"),
    (lambda: fastir.compat.install("llamaindex"), ValueError, "did you mean 'llama_index'"),
]


@pytest.mark.parametrize(("call", "error", "said"), MEANT)
def test_the_word_that_was_meant_is_named(call, error, said):
    with pytest.raises(error, match=f"{said}.*"):
        call()


def test_a_word_that_is_near_to_none_gets_no_guess():
    with pytest.raises(ValueError, match=r"got 'xyzzy'$"):
        fastir.evaluate(Q, R, "map", convention="xyzzy")
