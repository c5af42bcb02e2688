"""Judged rankings: every metric follows from them to the bit; what they hold, keep in files and refuse."""

import inspect

import gen
import numpy as np
import pytest
from rankings_made import CATALOGUE, GOOD, METRICS, QRELS, RUN, possible, same

import fastir
from fastir.evaluation.evaluate import VALUE_OPTIONS, ranking_options
from fastir.request.conventions import CONVENTIONS
from fastir.request.options import OF_DOCUMENTS, TIES, choice_params

SINGLE = [name for name in TIES if name != "average"]
pytestmark = pytest.mark.filterwarnings("ignore::fastir.FastirWarning")


def test_nearly_the_whole_catalogue_follows():
    apart = {card.name for card in fastir.metrics() if card.groups or card.sampled}
    assert set(CATALOGUE) - set(METRICS) - apart <= {"hole", "compat"}


@pytest.mark.parametrize("ties", SINGLE)
@pytest.mark.parametrize("seed", range(6))
def test_every_metric_has_the_same_bits(seed, ties):
    qrels, run = gen.collection(seed)
    judged = fastir.judged_rankings(qrels, run, ties=ties)
    assert judged.ties == ties
    names = [*METRICS, "ndcg@5", "map@3", "P@10", "bpref", "judged@5", "ndcg(gain=exp2)@10", "rbp(p=0.5)"]
    for options in ({}, {"rel_level": 2}, {"judged_only": True}, {"max_depth": 7}, {"queries": "intersection"}):
        same(judged.evaluate(names, **options), fastir.evaluate(qrels, run, names, ties=ties, **options))


@pytest.mark.parametrize("convention", sorted(CONVENTIONS))
def test_conventions_give_their_numbers_or_say_what_differs(convention):
    qrels, run = gen.collection(3)
    names = possible(qrels, ["ndcg@10", "map", "mrr@10", "recall@5", "P@5"], convention=convention)
    for name in names or ["ndcg@10"]:
        try:
            judged = fastir.judged_rankings(qrels, run, convention=convention, queries=None)
            found = judged.evaluate(name, convention=convention)
        except (ValueError, fastir.FastirError) as error:
            assert any(word in str(error) for word in ("judge", "ties=", "several rules", "needs", "no query"))
        else:
            same(found, fastir.evaluate(qrels, run, name, convention=convention))


def test_a_label_that_is_too_large_names_the_query():
    judged = fastir.judged_rankings({"q": {"a": 1}, "r": {"b": 2000}}, {"q": {"a": 1.0}, "r": {"c": 1.0}})
    with pytest.raises(OverflowError, match=r"label 2000 is too large for .* \(query r\)"):
        judged.evaluate("ndcg(gain=exp2)")


def test_weights():
    qrels, run = gen.collection(5)
    weights = {query_id: place + 0.5 for place, query_id in enumerate(qrels)}
    judged = fastir.judged_rankings(qrels, run)
    same(judged.evaluate("map", weights=weights), fastir.evaluate(qrels, run, "map", weights=weights))


def test_labels_by_rank():
    qrels = {"q": {"a": 2, "b": 0, "c": -1, "z": 1}, "r": {"a": 1}}
    run = {"q": {"x": 4.0, "b": 3.0, "c": 2.0, "a": 1.0}, "r": {}}
    judged = fastir.judged_rankings(qrels, run)
    labels, known = judged.to_labels(5)
    assert labels.tolist() == [[0, 0, -1, 2, 0], [0] * 5]
    assert known.tolist() == [[False, True, True, True, False], [False] * 5]
    assert judged.to_labels(2)[0].tolist() == [[0, 0], [0, 0]]
    assert judged.ideal_labels.tolist() == [2, 1, 0, -1, 1] and judged.ideal_offsets.tolist() == [0, 4, 5]
    assert judged.num_ret.tolist() == [4, 0] and judged.missing.tolist() == [False, False]
    for k in (0, -1):
        with pytest.raises(ValueError, match="k: the number of ranks must be positive"):
            judged.to_labels(k)


def test_arrays_are_read_only():
    judged = fastir.judged_rankings(QRELS, RUN)
    for name in ("offsets", "ranks", "labels", "num_ret", "ideal_offsets", "ideal_labels", "missing"):
        with pytest.raises(ValueError, match="read-only"):
            getattr(judged, name)[:1] = 0


def test_the_arrow_table(tmp_path):
    pyarrow = pytest.importorskip("pyarrow")
    judged = fastir.judged_rankings(QRELS, RUN)
    table = pyarrow.table(judged)
    assert table.column_names == ["query_id", "missing", "num_ret", "ranks", "labels", "ideal_labels"]
    assert table.column("ranks").to_pylist()[0] == judged.ranks[: judged.offsets[1]].tolist()
    with pytest.raises(ValueError, match=r"an id is not UTF-8"):
        fastir.JudgedRankings.from_arrays(["\udcff"], [0, 0], [], [], [0], [0, 0], []).save(tmp_path / "j.parquet")
    assert not (tmp_path / "j.parquet").exists()


def test_the_callers_arrays_stay_theirs():
    given = {name: np.array(value) for name, value in GOOD.items() if name != "query_ids"}
    judged = fastir.JudgedRankings.from_arrays(["q", "r"], **given)
    given["ranks"][:] = 99
    assert judged.ranks.tolist() == [1, 3, 2] and judged.evaluate("mrr")["mrr"] == 0.5


def test_parts_are_put_together():
    qrels, run = gen.collection(8, queries=20)
    names = [query_id for query_id in qrels if query_id in run]
    parts = [
        fastir.judged_rankings({q: qrels[q] for q in names[i::3]}, {q: run[q] for q in names[i::3]}) for i in range(3)
    ]
    whole = fastir.JudgedRankings.concatenate(parts)
    ordered = {q: qrels[q] for part in parts for q in part.query_ids}
    expected = fastir.judged_rankings(ordered, {q: run[q] for q in names})
    assert whole == expected
    assert fastir.JudgedRankings.concatenate([expected]) == expected
    with pytest.raises(ValueError, match="duplicate"):
        fastir.JudgedRankings.concatenate([expected, expected])
    with pytest.raises(ValueError, match="they must be judged by the same rules"):
        fastir.JudgedRankings.concatenate([parts[0], fastir.judged_rankings(qrels, run, ties="input")])
    with pytest.raises(ValueError, match="there are no judged rankings"):
        fastir.JudgedRankings.concatenate([])
    with pytest.raises(TypeError, match="expected JudgedRankings, got dict"):
        fastir.JudgedRankings.concatenate([{}])


@pytest.mark.parametrize("name", ["metrics", "rel_level", "judged_only", "max_depth", "weights", *choice_params()])
def test_an_option_of_values_is_refused_with_its_place(name):
    with pytest.raises(TypeError) as caught:
        fastir.judged_rankings({"q": {"a": 1}}, {"q": {"a": 1.0}}, **{name: None})
    expected = f"judged_rankings has no option {name!r}; options of values belong to JudgedRankings.evaluate"
    assert str(caught.value) == expected


def test_the_place_of_an_option_of_values_is_right():
    """Each option of `evaluate` is one of judged_rankings, or one of the method that the message names."""
    of = {call: set(inspect.signature(call).parameters) for call in (fastir.Evaluator, fastir.JudgedRankings.evaluate)}
    for name in of[fastir.Evaluator] - {
        "qrels",
        "metrics",
        "choices",
        "ties_report",
        *OF_DOCUMENTS,
        *ranking_options(),
    }:
        assert name in VALUE_OPTIONS
    assert set(VALUE_OPTIONS) <= of[fastir.JudgedRankings.evaluate]
    judged = fastir.judged_rankings({"q": {"a": 1, "b": 2}}, {"q": {"a": 2.0, "b": 1.0}})
    assert judged.evaluate("num_rel_ret", rel_level=2, judged_only=True, max_depth=1, empty="skip").values == [[0.0]]


@pytest.mark.parametrize(("name", "hint"), [
    ("tie", "did you mean 'ties'?"), ("duplicate", "did you mean 'duplicates'?"),
    ("colums", "did you mean 'columns'?"), ("xyz", "the options are aggregate, columns, "),
])  # fmt: skip
def test_an_option_that_does_not_exist_is_unknown(name, hint):
    with pytest.raises(TypeError) as caught:
        fastir.judged_rankings({"q": {"a": 1}}, {"q": {"a": 1.0}}, **{name: None})
    assert str(caught.value).startswith(f"unknown option {name!r}; {hint}")
    assert "JudgedRankings.evaluate" not in str(caught.value)
