"""evaluate_nuggets: beside a count by hand, in every kind of table, and what it says of wrong rows."""

# Also of: rows.

import json
import random
import statistics
import typing
from dataclasses import dataclass

import pytest
from functions_of_packages import functions_of

import fastir
from fastir import FormatError, UnknownMetricError

NAMES = ["nugget_recall", "nugget_recall_strict", "vital_recall", "vital_recall_strict", "weighted_nugget_recall"]
WORDS = {"support": 1.0, "partial_support": 0.5, "not_support": 0.0}
COLUMNS = ("query_id", "run", "nugget", "importance", "assignment")


def row(query_id, nugget, importance="vital", assignment="support", run="x"):
    return dict(zip(COLUMNS, (query_id, run, nugget, importance, assignment), strict=True))


def many_rows(seed=3):
    rng = random.Random(seed)
    importance = {(q, n): rng.choice(["vital", "okay"]) for q in range(12) for n in range(rng.randrange(1, 9))}
    rows = [
        row(f"q{q}", f"nugget {n}", kind, rng.choice(list(WORDS)), run)
        for run in ("one", "two", "three")
        for (q, n), kind in importance.items()
    ]
    rng.shuffle(rows)
    return rows


def by_hand(rows):
    """{run: {query: the five values}}, nugget by nugget."""
    answers = {}
    for each in rows:
        answers.setdefault(each["run"], {}).setdefault(each["query_id"], []).append(each)
    return {
        run: {query: values_by_hand(nuggets) for query, nuggets in queries.items()} for run, queries in answers.items()
    }


def values_by_hand(nuggets):
    vital = [each for each in nuggets if each["importance"] == "vital"]

    def recall(some, strict):
        worth = [WORDS[each["assignment"]] for each in some]
        return sum(1.0 for value in worth if value == 1) / len(some) if strict else sum(worth) / len(some)

    weights = [1.0 if each["importance"] == "vital" else 0.5 for each in nuggets]
    weighted = sum(w * WORDS[each["assignment"]] for w, each in zip(weights, nuggets, strict=True)) / sum(weights)
    of_vital = [recall(vital, strict) if vital else 0.0 for strict in (False, True)]
    return [recall(nuggets, False), recall(nuggets, True), *of_vital, weighted]


def values(results):
    return {run: dict(zip(each.query_ids, each.values.tolist(), strict=True)) for run, each in results.items()}


def test_values_are_those_of_a_count_by_hand():
    rows = many_rows()
    assert values(fastir.evaluate_nuggets(rows, NAMES)) == by_hand(rows)


def test_every_kind_of_table_gives_the_same(tmp_path):
    rows = many_rows()
    columns = {name: [each[name] for each in rows] for name in COLUMNS}
    expected = values(fastir.evaluate_nuggets(rows, NAMES))
    csv, tsv, lines, array = (tmp_path / name for name in ("a.csv", "a.tsv", "a.jsonl", "a.json"))
    for path, separator in ((csv, ","), (tsv, "\t")):
        path.write_text(
            "\n".join(separator.join(cells) for cells in [COLUMNS, *(each.values() for each in rows)]) + "\n"
        )
    lines.write_text("".join(json.dumps(each) + "\n" for each in rows))
    array.write_text(json.dumps(rows))
    for given in (columns, csv, str(tsv), lines, array, iter(rows)):
        assert values(fastir.evaluate_nuggets(given, NAMES)) == expected


@pytest.mark.parametrize("library", ["pandas", "polars", "pyarrow"])
def test_frames(library, tmp_path):
    module = pytest.importorskip(library)
    rows = many_rows()
    columns = {name: [each[name] for each in rows] for name in COLUMNS}
    frame = module.table(columns) if library == "pyarrow" else module.DataFrame(columns)
    assert values(fastir.evaluate_nuggets(frame, NAMES)) == values(fastir.evaluate_nuggets(rows, NAMES))
    if library == "pyarrow":
        parquet = pytest.importorskip("pyarrow.parquet")
        parquet.write_table(frame, tmp_path / "a.parquet")
        assert values(fastir.evaluate_nuggets(tmp_path / "a.parquet", NAMES)) == values(
            fastir.evaluate_nuggets(rows, NAMES)
        )


def test_records_of_nuggetizer_and_its_names(tmp_path):
    path = tmp_path / "assigned.jsonl"
    nuggets = [
        {"text": "a", "importance": "vital", "assignment": "support"},
        {"text": "b", "importance": "vital", "assignment": "partial_support"},
        {"text": "c", "importance": "okay", "assignment": "not_support"},
    ]
    record = {"query": "What?", "qid": "q1", "answer_text": "...", "run_id": "run-123", "nuggets": nuggets}
    path.write_text(json.dumps(record) + "\n")
    results = fastir.evaluate_nuggets(path, ["strict_vital", "strict_all", "vital", "all_score"])
    assert dict(results["run-123"]) == {"strict_vital": 0.5, "strict_all": 1 / 3, "vital": 0.75, "all_score": 0.5}
    created = tmp_path / "created.jsonl"
    plain = [{"text": each["text"], "importance": each["importance"]} for each in nuggets]
    created.write_text(json.dumps({"query": "What?", "qid": "q1", "nuggets": plain}) + "\n")
    again = fastir.evaluate_nuggets(path, ["strict_vital"], expected=created)
    assert again["run-123"]["strict_vital"] == 0.5


def test_nuggetizer_says_the_same():
    """Its own calculate_nugget_scores and calculate_global_metrics, of the package's file alone."""
    needed = ["NuggetMetrics", "calculate_nugget_scores", "calculate_global_metrics"]
    theirs = functions_of("nuggetizer", "core/metrics.py", needed, dataclass=dataclass, mean=statistics.mean,
                          List=list, Dict=dict, Union=typing.Union)[2]  # fmt: skip
    rows = many_rows() + [row("q99", "only okay", "okay", "partial_support", run) for run in ("one", "two", "three")]
    asked = ["strict_vital", "strict_all", "vital", "all"]
    results = fastir.evaluate_nuggets(rows, asked)
    for run in ("one", "two", "three"):
        records = {}
        for each in rows:
            if each["run"] == run:
                records.setdefault(each["query_id"], {"qid": each["query_id"], "nuggets": []})["nuggets"].append(each)
        for qid, record in records.items():
            scores = theirs([record])
            assert [results[run].to_dict()[qid][name] for name in asked] == [scores[f"{name}_score"] for name in asked]
        scores = theirs([*records.values()])
        assert [results[run][name] for name in asked] == pytest.approx([scores[f"{name}_score"] for name in asked])


def test_a_nugget_without_a_verdict_is_named_or_counts_as_not_supported():
    rows = [row("q1", "a"), row("q1", "b", run="y"), row("q1", "a", run="y")]
    with pytest.raises(ValueError, match=r"run 'x', query 'q1': nugget 'b' has no verdict; missing='zero'"):
        fastir.evaluate_nuggets(rows, NAMES)
    results = fastir.evaluate_nuggets(rows, "nugget_recall", missing="zero")
    assert (results["x"]["nugget_recall"], results["y"]["nugget_recall"]) == (0.5, 1.0)
    empty = [row("q1", "a", assignment=None)]
    with pytest.raises(ValueError, match="nugget 'a' has no verdict"):
        fastir.evaluate_nuggets(empty, NAMES)
    assert fastir.evaluate_nuggets(empty, "nugget_recall", missing="zero")["x"]["nugget_recall"] == 0.0


def test_expected_nuggets_are_the_denominator_and_a_query_without_an_answer_is_missing():
    expected = {"q1": {"a": "vital", "b": "okay"}, "q2": {"c": "vital"}}
    results = fastir.evaluate_nuggets(
        [row("q1", "a", importance=None)], "nugget_recall", expected=expected, missing="zero"
    )
    assert results["x"].per_query() == {"q1": 0.5, "q2": 0.0}
    assert results["x"].status == {"q1": "evaluated", "q2": "missing"}
    with pytest.raises(ValueError, match="and 1 more have none"):
        fastir.evaluate_nuggets([row("q1", "a")], NAMES, expected=expected)


def test_an_integer_id_equals_its_text(tmp_path):
    path = tmp_path / "rows.csv"
    path.write_text("query_id,run,nugget,importance,assignment\n1,x,5,vital,support\n")
    results = fastir.evaluate_nuggets(path, "nugget_recall", expected={1: {5: "vital"}})["x"]
    assert results.per_query() == {1: 1.0}


@pytest.mark.parametrize(("rows", "words", "error", "message"), [
    ([row("q", "a"), row("q", "a")], {}, ValueError, r"row 1 \(query_id 'q'.*has a verdict already, in row 0"),
    ([row("q", "a", "big")], {}, ValueError, "expected vital or okay, got 'big'"),
    ([row("q", "a", assignment="maybe")], {}, ValueError, "expected support, .* got 'maybe'"),
    ([row("q", "a"), row("q", "a", "okay", run="y")], {}, ValueError, "another importance in a row before"),
    ([row("q", "a", importance=None)], {}, ValueError, "the nugget has no importance"),
    ([row("q", "z")], {"expected": {"q": {"a": "vital"}}}, ValueError, "the nugget is not expected"),
    ([row("p", "a")], {"expected": {"q": {"a": "vital"}}}, ValueError, "nothing is expected of this query"),
    ([row("q", "a")], {"expected": {"q": {"a": "okay"}}}, ValueError, "another importance in `expected`"),
    ([row("q", "a")], {"expected": {"q": {}}}, ValueError, "expected: query 'q' has no nugget"),
    ([row("q", "a")], {"expected": [row("q", "a"), row("q", "a")]}, ValueError, "expected: row 1 .*already in row 0"),
    ([row("q", None)], {}, ValueError, "the cell of 'nugget' is empty"),
    ([row(None, "a")], {}, ValueError, "the cell of 'query_id' is empty"),
    ([], {}, ValueError, "there are no rows"), ([{"query_id": "q"}], {}, ValueError, "expected a column 'nugget'"),
    ([row("q", "a")], {"metrics": "nuget_recall"}, UnknownMetricError, "did you mean 'nugget_recall'"),
    ([row("q", "a")], {"missing": "empty"}, ValueError, "missing"), (5, {}, TypeError, "must be a table"),
    ([5], {}, TypeError, "row 0: expected a dict, got int"),
    ({"query_id": ["q"], "nugget": ["a", "b"], "importance": ["vital"], "assignment": [1]}, {}, ValueError, "lengths"),
])  # fmt: skip
def test_wrong_rows(rows, words, error, message):
    with pytest.raises(error, match=message):
        fastir.evaluate_nuggets(rows, **{"metrics": NAMES, **words})


@pytest.mark.parametrize(("text", "message"), [
    ("query_id,nugget,importance,assignment\nq,a,vital,maybe\n", "a.txt: row 0.*got 'maybe'"),
    ("query_id,nugget,importance,assignment\nq,a,vital\n", "a.txt: row 0 has more or fewer fields"),
    ('{"query_id": "q"\n', "a.txt:1: no JSON"), ("", "a.txt: there are no rows"),
    ("[" * 9000, "a.txt:1: no JSON"), ("query_id,nugget\nq,a\rb\n", "a.txt: no CSV"),
    ("[1]", "a.txt: rows: row 0: expected a dict, got int"),
    ('[{"query_id": "q", "nuggets": ["n"]}]', "a.txt: rows: row 0: expected a dict, got str"),
    ('[{"query_id": ["q"], "nugget": "n", "importance": "vital", "assignment": "support"}]', "a.txt: .* got a list"),
])  # fmt: skip
def test_wrong_files_are_named(tmp_path, text, message):
    path = tmp_path / "a.txt"
    path.write_text(text)
    with pytest.raises(FormatError, match=message):
        fastir.evaluate_nuggets(path, NAMES)


def test_results_are_compared_saved_and_have_intervals(tmp_path):
    results = fastir.evaluate_nuggets(many_rows(), NAMES)
    pair = fastir.compare_scores({"one": results["one"], "two": results["two"]}, "nugget_recall").pairs[0]
    assert pair.n_queries == 12
    low, high = results["one"].interval("nugget_recall", clusters={f"q{i}": i // 2 for i in range(12)})
    assert low < results["one"]["nugget_recall"] < high
    results.save(tmp_path / "nuggets.json")
    assert values(fastir.load_results(tmp_path / "nuggets.json")) == values(results)
