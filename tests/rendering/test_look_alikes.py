"""Ids that look alike and differ, in every message with ids of two sides: the difference is seen."""

import re
import warnings

import pytest

import fastir
from fastir.rendering.look_alikes import look_alike, quote_apart, quote_each, quote_first, quote_ids

PAIRS = {
    "composed and decomposed accent": ("caf\u00e9.pdf", "cafe\u0301.pdf"),
    "decomposed and composed Hangul": ("\u1112\u1161\u11ab", "\ud55c"), "no-break space": ("a\u00a0b", "a b"),
    "narrow no-break space": ("a\u202fb", "a b"), "zero-width space": ("a\u200bb", "ab"),
    "zero-width joiner": ("a\u200db", "ab"), "byte order mark": ("\ufeffab", "ab"),
    "soft hyphen": ("a\u00adb", "ab"), "mark of direction": ("ab\u200e", "ab"),
    "variation selector": ("a\ufe0f", "a"), "filler of Hangul": ("a\u3164", "a"),
    "no-break hyphen": ("a\u2011b", "a-b"), "minus": ("a\u22121", "a-1"), "apostrophe": ("l\u2019a", "l'a"),
    "Cyrillic a": ("\u0430bc", "abc"), "all letters Cyrillic": ("\u0441\u043e\u0440", "cop"),
    "Cyrillic with an accent": ("\u0451", "\u00eb"), "Greek omicron": ("d\u03bfc", "doc"),
    "full width": ("\uff41\uff42", "ab"), "two invisible ones": ("a\u200bb", "a\u200cb"),
}  # fmt: skip
APART = [("a", "b"), ("a", "A"), ("a ", "a"), ("\u00e9", "e"), ("\u6587\u68631", "\u6587\u68632"), ("1", "l"), (1, 2)]


@pytest.mark.parametrize(("one", "other"), PAIRS.values(), ids=PAIRS)
def test_ids_that_look_alike_are_written_with_escapes(one, other):
    assert look_alike(one, other) and look_alike(other, one)
    assert quote_ids(one, other) == [ascii(one), ascii(other)]
    assert quote_ids(other, "other", one) == [ascii(other), "'other'", ascii(one)]


@pytest.mark.parametrize(("one", "other"), APART)
def test_ids_that_are_seen_to_differ_are_written_as_they_are(one, other):
    assert quote_ids(one, other) == [repr(one), repr(other)]
    assert quote_ids(one, one) == [repr(one)] * 2


def test_long_ids_are_shown_where_they_differ():
    one, other = "x" * 300 + "a" * 200, "x" * 300 + "b" * 200
    assert quote_ids(one, other) == ["...'" + "x" * 20 + "a" * 60 + "'...", "...'" + "x" * 20 + "b" * 60 + "'..."]
    assert quote_apart("ab", "abc") == "'ab'"


def test_sides_without_ids_have_nothing():
    assert quote_first([], ["a"]) == ["nothing", "'a'"]
    assert quote_first(["x", "\u0430"], ["y", "a"]) == ["'\\u0430'", "'a'"]
    assert quote_each(["x", "\u0430"], ["a"]) == {"x": "'x'", "\u0430": "'\\u0430'"}


def shapes(qrels, run, tmp_path):
    path = tmp_path / "run.json"
    fastir.Run.from_dict(run).save(path)
    rows = [(query, doc_id, score) for query, docs in run.items() for doc_id, score in docs.items()]
    yield lambda: fastir.evaluate(qrels, run, "map")
    yield lambda: fastir.evaluate(qrels, rows, "map")
    yield lambda: fastir.evaluate(qrels, str(path), "map")
    yield lambda: fastir.evaluate(qrels, fastir.Run.from_dict(run), "map")
    yield lambda: fastir.evaluate(qrels, {query: list(docs) for query, docs in run.items()}, "map")
    yield lambda: fastir.evaluate_many(qrels, {"x": run}, "map")


@pytest.mark.parametrize(("one", "other"), PAIRS.values(), ids=PAIRS)
def test_documents_are_warned_of_with_the_difference(one, other, tmp_path):
    qrels, run = {"q": {"x": 1, one: 1}, "p": {"z": 1}}, {"q": {"y": 2.0, other: 1.0}, "p": {"w": 1.0}}
    words = f"in query 'q': the qrels have {one!a}, the run has {other!a}, which look alike and differ"
    refused = one.strip() == other.strip() or one.casefold() == other.casefold()
    for call in shapes(qrels, run, tmp_path):
        if not refused:
            with pytest.warns(fastir.FastirWarning, match=re.escape(words)):
                call()
    assert any(ascii(one) in fault.text and ascii(other) in fault.text for fault in fastir.check(qrels, run))
    with pytest.warns(fastir.FastirWarning, match=re.escape(words.replace("'q'", "0"))):
        fastir.evaluate_lists([[other]], [[one]], "mrr")


@pytest.mark.parametrize(("one", "other"), PAIRS.values(), ids=PAIRS)
def test_a_ranking_among_others_is_a_fault_of_check(one, other):
    qrels, run = {"q": {one: 1}, "p": {"a": 1}}, {"q": {other: 1.0}, "p": {"a": 1.0}}
    (fault,) = fastir.check(qrels, run).of(kind="document ids")
    assert (fault.query_id, fault.severity) == ("q", "fault")
    assert ascii(one) in fault.text and ascii(other) in fault.text


@pytest.mark.parametrize(("one", "other"), PAIRS.values(), ids=PAIRS)
def test_queries_are_named_with_the_difference(one, other, tmp_path):
    qrels, run = {one: {"a": 1}}, {other: {"a": 1.0}}
    for call in shapes(qrels, run, tmp_path):
        words = f"the qrels have {one!a}, the run has {other!a}"
        with pytest.raises(fastir.NoOverlapError, match=re.escape(words)):
            call()
    both = f"{one!a} and {other!a}"
    with pytest.raises(fastir.NoOverlapError, match=re.escape(both)):
        fastir.similarity({one: {"a": 1.0}}, run)
    with pytest.raises(fastir.NoOverlapError, match=re.escape(both)):
        fastir.agreement(qrels, {other: {"a": 1}})
    results = [fastir.evaluate({query: {"a": 1}}, {query: {"a": 1.0}}, "map") for query in (one, other)]
    with pytest.raises(fastir.NoOverlapError, match=f"{re.escape(ascii(one))}, the others {re.escape(ascii(other))}"):
        results[0].diff(results[1], "map")
    (fault,) = fastir.check(qrels, run).of(kind="no common query")
    assert ascii(one) in fault.text and ascii(other) in fault.text


@pytest.mark.parametrize(("one", "other"), PAIRS.values(), ids=PAIRS)
def test_queries_among_others_are_named_with_the_difference(one, other, tmp_path):
    qrels, run = {"q": {"a": 1}, "x": {"a": 1}, one: {"a": 1}}, {"y": {"a": 1.0}, other: {"a": 1.0}, "q": {"a": 1.0}}
    for call in shapes(qrels, run, tmp_path):
        with warnings.catch_warnings(record=True) as caught:
            warnings.simplefilter("always")
            call()
        (warning,) = caught
        assert f"such as {one!a};" in str(warning.message) and f"such as {other!a})" in str(warning.message)
    checked = fastir.check(qrels, run)
    assert [ascii(one) in fault.text for fault in checked.of(kind="missing query")] == [False, True]
    assert [ascii(other) in fault.text for fault in checked.of(kind="unknown query")] == [False, True]


def test_two_documents_of_a_run_are_named_with_the_difference():
    run = {"q": {"a\u200b": 1.0, "a": 1.0}}
    (fault,) = fastir.check({"q": {"a": 1}}, run).of(kind="ties")
    assert "'a\\u200b' and 'a'" in fault.text
