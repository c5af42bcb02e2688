"""Names on pictures: twenty that share a beginning are told apart, and nothing that tells two apart is left out."""

import random

import pytest

from fastir.plots import style
from fastir.plots.style import short_names

HIDDEN = "\N{ZERO WIDTH SPACE}"


def test_what_all_names_share_is_said_once():
    folds = [f"msmarco-passage-dev-bm25-rm3-k1=0.9-b=0.4-fold-{number:02}" for number in range(20)]
    texts, note = short_names(folds)
    assert texts == [f"fold-{number:02}" for number in range(20)]
    assert note == "names: msmarco-passage-dev-\nbm25-rm3-k1=0.9-b=0.4-…"


def test_a_common_end_is_left_out_too():
    texts, note = short_names([f"dl19-passage-bm25-k1=0.{number}-monot5-rerank" for number in range(3)])
    assert texts == ["k1=0.0", "k1=0.1", "k1=0.2"]
    assert note.replace("\n", "") == "names: dl19-passage-bm25-…-monot5-rerank"


@pytest.mark.parametrize("given", [
    ["bm25", "bm25-rm3"], ["a-b-c-1", "a-b-c-2"], ["a long name that stands alone"],
    ["the same name", "the same name"], ["", ""], [], [1, 2.5, None],
])  # fmt: skip
def test_short_names_stay(given):
    assert short_names(given) == (list(map(str, given)), "")


def test_no_word_and_no_number_is_cut():
    assert short_names(["temperature=0.25", "temperature=0.2"])[0] == ["temperature=0.25", "temperature=0.2"]
    assert short_names(["collection bm25plus", "collection bm25"])[0] == ["bm25plus", "bm25"]
    assert short_names(["the-collection-run-a", "the-collection-run-b"])[0] == ["run-a", "run-b"]


def test_long_names_lose_their_middle_and_stay_distinct():
    [alone], note = short_names(["x" * 30 + "y" * 30])
    assert (alone, note) == ("x" * 18 + "…" + "y" * 17, "") and len(alone) == style.NAME_LETTERS
    inner = ["x" * 40 + str(number) + "y" * 40 for number in range(20)]
    assert len(set(short_names(inner)[0])) == 20


def test_random_names_that_differ_are_shown_differently():
    rng = random.Random(3)
    for _ in range(300):
        alphabet = rng.choice(("ab-", "abcdefgh-_/.=0123456789", "x-"))
        first, last = ("".join(rng.choices(alphabet, k=rng.randrange(30))) for _ in range(2))
        given = {
            first + "".join(rng.choices(alphabet, k=rng.randrange(60))) + last for _ in range(rng.randrange(1, 25))
        }
        given = sorted(given)
        texts, note = short_names(given)
        assert len(set(texts)) == len(given)
        assert all(len(line) <= style.NOTE_LETTERS for line in note.splitlines())
        if note:
            start, end = note.replace("\n", "").replace(HIDDEN, "").removeprefix("names: ").split("…")
            for name, text in zip(given, texts, strict=True):
                if "…" not in text:
                    assert name == start + text.replace(HIDDEN, "") + end


def test_text_is_shown_as_it_is():
    assert short_names(["50$ a", "_hidden", "two\nlines"])[0] == [r"50\$ a", f"{HIDDEN}_hidden", "two lines"]


def test_half_a_surrogate_pair_is_shown_by_its_number():
    assert short_names(["a\udcff", "b"])[0] == [r"a\udcff", "b"]
