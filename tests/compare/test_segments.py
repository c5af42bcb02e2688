"""Groups of queries in a comparison: each is the comparison of its queries, corrections span them, macro means."""

import csv
import json
import math
import pickle
import random
import warnings

import numpy as np
import pytest

import fastir

pytest.importorskip("scipy")

from fastir import stats
from fastir.analyses.compare.segments import intervals_over
from fastir.stats.paired_tests import moments

METRICS = ["ndcg@5", "mrr"]
RNG = random.Random(3)
QRELS = {f"q{n:02}": {f"d{doc}": RNG.choice((0, 0, 1, 2)) for doc in range(12)} for n in range(40)}
RUNS = {
    name: {
        query: {doc: skill * label + RNG.gauss(0, 1) for doc, label in docs.items()} for query, docs in QRELS.items()
    }
    for name, skill in (("bm25", 0), ("dense", 0.6), ("hybrid", 0.9))
}
SEGMENTS = {query: ("short", "long", "question")[int(query[1:]) % 7 % 3] for query in QRELS}
RESULTS = fastir.evaluate_many(QRELS, RUNS, METRICS)


def queries_of(segment):
    return [query for query, other in SEGMENTS.items() if other == segment]


def records(comparison):
    """All that is known of a comparison without its family."""
    found = json.loads(comparison.to_json(per_query=True))
    return {name: value for name, value in found.items() if name not in ("segments", "macro")}


@pytest.fixture(scope="module")
def segmented():
    return fastir.compare(QRELS, RUNS, METRICS, segments=SEGMENTS, correction=None)


@pytest.mark.parametrize("options", [
    {"correction": None},
    {"test": "randomization", "n_resamples": 300, "correction": None},
    {"test": "bootstrap", "n_resamples": 300, "correction": None, "interval": "bca"},
    {"test": "tukey"},
    {"test": "wilcoxon", "correction": None, "baseline": "bm25", "effect": "hedges_gz"},
])  # fmt: skip
def test_a_segments_is_the_comparison_of_its_queries_and_the_whole_is_as_without(options):
    found = fastir.compare(QRELS, RUNS, METRICS, segments=SEGMENTS, **options)
    assert list(found.segments) == list(dict.fromkeys(SEGMENTS.values()))
    assert records(found) == records(fastir.compare(QRELS, RUNS, METRICS, **options))
    for segment, part in found.segments.items():
        assert part == fastir.compare(QRELS, RUNS, METRICS, queries=queries_of(segment), **options)
        assert part.method.queries == "chosen" and part.method.n_queries == len(queries_of(segment))


def test_means_of_segments_are_those_of_results_by_segment(segmented):
    for run, results in RESULTS.items():
        by_segment = results.by_segment(SEGMENTS)
        for segment, part in segmented.segments.items():
            for system in part.systems:
                if system.run == run:
                    assert math.isclose(system.mean, by_segment[segment][system.metric], rel_tol=1e-14)
        for system in segmented.macro.systems:
            if system.run == run:
                assert math.isclose(system.mean, by_segment.macro[system.metric], rel_tol=1e-14)


@pytest.mark.parametrize("family", ["metric", "all"])
@pytest.mark.parametrize("correction", ["holm", "bh"])
def test_a_correction_takes_the_p_values_of_all_segments_together(correction, family):
    found = fastir.compare(QRELS, RUNS, METRICS, segments=SEGMENTS, correction=correction, family=family)
    families = [[metric] for metric in METRICS] if family == "metric" else [METRICS]
    for metrics in families:
        pairs = [pair for part in found.segments.values() for pair in part.pairs if pair.metric in metrics]
        expected = stats.adjust([pair.p_value for pair in pairs], correction)
        assert [pair.adjusted_p for pair in pairs] == expected.tolist()
        assert all(part.method.family_size == len(pairs) for part in found.segments.values())
    assert "in all segments" in str(found.segments["long"].method)
    assert records(found) == records(fastir.compare(QRELS, RUNS, METRICS, correction=correction, family=family))


def test_a_family_of_segments_may_need_more_resamples():
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        fastir.compare(QRELS, RUNS, "mrr", test="bootstrap", n_resamples=100, correction="holm")
        with pytest.raises(fastir.FastirWarning, match=r"of a family of 9 can be below 0\.05; that takes 179"):
            fastir.compare(QRELS, RUNS, "mrr", test="bootstrap", n_resamples=100, correction="holm", segments=SEGMENTS)


def test_the_macro_interval_is_that_of_welch_and_satterthwaite(segmented):
    from scipy.stats import t

    for pair in segmented.macro.pairs:
        rows = [
            np.array([RESULTS[pair.a].per_query(pair.metric)[query] for query in queries_of(segment)])
            - [RESULTS[pair.b].per_query(pair.metric)[query] for query in queries_of(segment)]
            for segment in segmented.segments
        ]
        parts = np.array([row.var(ddof=1) / len(row) for row in rows])
        freedom = parts.sum() ** 2 / sum(part**2 / (len(row) - 1) for part, row in zip(parts, rows, strict=True))
        mean, margin = np.mean([row.mean() for row in rows]), t.ppf(0.975, freedom) * parts.sum() ** 0.5 / 3
        assert (pair.difference, pair.low, pair.high) == pytest.approx((mean, mean - margin, mean + margin), rel=1e-12)
        assert math.isnan(pair.p_value) and math.isnan(pair.effect)
    of_two = fastir.compare_scores({"a": RESULTS["dense"]}, "mrr", segments={query: query < "q20" for query in QRELS})
    [system] = of_two.macro.systems  # of two segments of the same size it is Welch's interval
    sides = [list(part.per_query["a"]["mrr"].values()) for part in of_two.segments.values()]
    test = stats.welch_test(sides[0], [-value for value in sides[1]])
    assert system.mean * 2 / test.statistic == pytest.approx(
        (np.var(sides[0], ddof=1) / 20 + np.var(sides[1], ddof=1) / 20) ** 0.5
    )
    assert system.low < system.mean < system.high and of_two.macro.pairs == []


def test_the_macro_interval_covers_what_it_says():
    rng, n_trials = np.random.default_rng(2), 20_000
    places = ((10, 0.2, 0.1), (25, 0.5, 0.2), (60, 0.6, 0.3))  # queries, mean and deviation of each segment
    rows = [rng.normal(mean, deviation, (n_trials, size)) for size, mean, deviation in places]
    bounds = intervals_over([moments(row, np.abs(row).max(axis=1)) for row in rows], 0.95)
    goal = sum(mean for _, mean, _ in places) / 3
    assert 0.94 <= np.mean([low <= goal <= high for _, low, high in bounds]) <= 0.96


# ---- shown and saved -----------------------------------------------------------------------------------------------
def test_tables_have_every_segments_then_all_queries_then_the_macro_mean(segmented):
    for rows, options in (("runs", {}), ("runs", {"intervals": True}), ("pairs", {})):
        lines = segmented.to_table("csv", rows=rows, **options).splitlines()
        assert lines[0].startswith("segment,queries,#,run," if rows == "runs" else "segment,queries,metric,a,b,")
        size = 3 if rows == "runs" else 6
        named = [line.split(",")[:2] for line in lines[1:]]
        counts = [[segment, str(len(queries_of(segment)))] for segment in segmented.segments] + [
            ["all", "40"],
            ["macro", ""],
        ]
        assert named == [name for name in counts for _ in range(size)]
    text = repr(segmented)
    assert "macro: the mean of the segments' means." in text and "in all segments" not in text
    corrected = fastir.compare(QRELS, RUNS, METRICS, segments=SEGMENTS, correction="holm")
    told = " ".join(repr(corrected).split())
    assert "in the segments holm over the pairs of each metric in all segments (9)" in told
    assert segmented.to_table(transpose=True).count("\n") < repr(segmented).count("\n")


def test_a_note_of_one_segments_is_a_column_of_all():
    values = {"a": {"q1": 0.5, "q2": 0.3, "q3": 0.4}, "b": {"q1": 0.4, "q2": 0.1, "q3": 0.4}}
    found = fastir.compare_scores(values, segments={"q1": "x", "q2": "x", "q3": "y"})
    head, *rows = csv.reader(found.to_table("csv", rows="pairs").splitlines())
    assert {len(row) for row in rows} == {len(head)} and head[-1] == "note"
    assert [row[-1] for row in rows] == ["", "one query", "", ""]
    assert math.isnan(found.macro.pairs[0].low) and found.macro.pairs[0].difference == pytest.approx(0.075)


@pytest.mark.parametrize("name", ["c.json", "c.tsv", "c.parquet"])
def test_saved_files_and_pickles_have_the_segments(name, tmp_path, segmented):
    if name.endswith("parquet"):
        pytest.importorskip("pyarrow")
    segmented.save(tmp_path / name)
    again = fastir.Comparison.load(tmp_path / name)
    assert again == segmented and again.segments["long"] == segmented.segments["long"]
    assert repr(again.macro) == repr(segmented.macro) and str(again) == str(segmented)
    assert pickle.loads(pickle.dumps(segmented)) == segmented


def test_a_saved_file_without_the_queries_of_a_segments_is_refused(tmp_path, segmented):
    import json

    data = json.loads(segmented.to_json(per_query=True))
    del data["segments"][0]["query_ids"]
    segmented.save(tmp_path / "c.json")
    text = json.loads((tmp_path / "c.json").read_text())
    assert len(text["segments"]) == 3
    (tmp_path / "c.json").write_text(json.dumps({**text, "segments": data["segments"]}))
    with pytest.raises(fastir.FormatError, match="cut or changed"):
        fastir.Comparison.load(tmp_path / "c.json")


# ---- which segments --------------------------------------------------------------------------------------------------
def test_segments_may_be_a_file_or_of_numbers(tmp_path, segmented):
    path = tmp_path / "segments.tsv"
    path.write_text(
        "".join(f"{query}\t{segment}\n" for query, segment in SEGMENTS.items()) + "q99\ta segment of no query\n"
    )
    assert fastir.compare(QRELS, RUNS, METRICS, segments=path, correction=None) == segmented
    of_path = fastir.compare_scores(RESULTS, segments=str(path), correction=None)
    assert of_path.segments["long"].pairs == segmented.segments["long"].pairs
    numbers = {"a": {1: 0.5, 2: 0.7, 3: 0.2}, "b": {1: 0.1, 2: 0.3, 3: 0.4}}
    path.write_text("1 7\n2 7\n\n3 8\n")
    assert [part.query_ids for part in fastir.compare_scores(numbers, segments=path).segments.values()] == [[1, 2], [3]]
    assert list(fastir.compare_scores(numbers, segments={1: 7, 2: 7, 3: None}).segments) == [7, None]


def test_segments_of_what_saved_results_have(tmp_path, segmented):
    for run, results in RESULTS.items():
        results.save(tmp_path / f"{run}.json")
    saved = {run: tmp_path / f"{run}.json" for run in RUNS}
    again = fastir.compare(QRELS, saved, METRICS, segments=SEGMENTS, correction=None)
    assert again.segments["short"].pairs == segmented.segments["short"].pairs


def test_folds_and_seeds_have_segments():
    halves = {run: [results.to_dict() for results in split(results)] for run, results in RESULTS.items()}
    found = fastir.compare_scores(halves, METRICS, seeds="folds", segments=SEGMENTS)
    assert found.segments["long"].pairs == fastir.compare_scores(RESULTS, segments=SEGMENTS).segments["long"].pairs
    twice = {run: [results, results] for run, results in RESULTS.items()}
    options = {"seeds": "crossed", "test": "bootstrap", "interval": "percentile", "correction": None}
    options["n_resamples"] = 100
    crossed = fastir.compare_scores(twice, segments=SEGMENTS, **options)
    assert crossed.segments["long"] == fastir.compare_scores(twice, queries=queries_of("long"), **options)


def test_a_series_has_the_segments(segmented):
    pandas = pytest.importorskip("pandas")
    found = fastir.compare_scores(RESULTS, METRICS, segments=pandas.Series(SEGMENTS))
    assert (
        found.segments["long"].pairs
        == fastir.compare_scores(RESULTS, METRICS, segments=SEGMENTS).segments["long"].pairs
    )
    one = RESULTS[next(iter(RESULTS))]
    assert dict(one.by_segment(pandas.Series(SEGMENTS))) == dict(one.by_segment(SEGMENTS))
    with pytest.raises(ValueError, match="segments: duplicate id 'q00'"):
        one.by_segment(pandas.Series(["x", "y"], ["q00", "q00"]))


def split(results):
    return results.by_segment({query: query < "q20" for query in QRELS}).values()


@pytest.mark.parametrize(("options", "error", "message"), [
    ({"segments": {**SEGMENTS, "q03": float("nan")}}, ValueError, "segments: query 'q03' has no segment"),
    ({"segments": {"q00": "x"}}, ValueError, "segments: query 'q01' has no segment"),
    ({"segments": {}}, ValueError, "segments: query 'q00' has no segment"),
    ({"segments": ["short", "long"]}, TypeError, "segments must map query ids to segments, or be a path, got list"),
    ({"segments": {**SEGMENTS, "q05": ["x"]}}, TypeError, "segments: the segment of query 'q05' is not hashable"),
    ({"segments": SEGMENTS, "correction": "max_t", "test": "randomization"}, ValueError, "correction='max_t' is for"),
    ({"segments": "there_is_no_such_file"}, FileNotFoundError, "there_is_no_such_file"),
])  # fmt: skip
def test_bad_segments_are_named(options, error, message):
    with pytest.raises(error, match=message):
        fastir.compare(QRELS, RUNS, METRICS, **options)


def test_bad_files_of_segments_are_named_by_line(tmp_path):
    path = tmp_path / "segments.tsv"
    for text, message in (
        ("q1\tx\nq2\n", "2: expected a query and a segment, got 1 field: 'q2'"),
        ("q1\tx\nq2\ty\nq1\ty\n", "3: query 'q1' has two segments"),
    ):
        path.write_text(text)
        with pytest.raises(fastir.FormatError, match=message):
            fastir.compare(QRELS, RUNS, METRICS, segments=path)


def test_a_segments_in_which_no_query_is_defined_is_named():
    values = {"a": {"q1": 0.5, "q2": math.nan}, "b": {"q1": 0.1, "q2": 0.2}}
    with pytest.raises(ValueError, match="segment 'y': metric 'score': every query has a NaN in one of the runs"):
        fastir.compare_scores(values, segments={"q1": "x", "q2": "y"})


def test_a_comparison_without_segments_has_none():
    found = fastir.compare(QRELS, RUNS, "mrr")
    assert found.segments == {} and found.macro == ([], []) and "segments" not in json.loads(found.to_json())


NAN = math.nan


def macro(values, **options):
    """The macro means of {run: values}, of which the first half is one segment and the rest another."""
    scores = {run: {f"q{i}": value for i, value in enumerate(row)} for run, row in values.items()}
    n = len(next(iter(values.values())))
    segments = {f"q{i}": "first" if i < n // 2 else "second" for i in range(n)}
    return fastir.compare_scores(scores, segments=segments, **options).macro


def test_segments_of_two_queries_have_one_degree_of_freedom_each():
    from scipy.stats import t

    rows = [0.1, 0.4, 0.3, 0.9]
    [system] = macro({"a": rows}).systems
    parts = np.array([np.var(rows[:2], ddof=1), np.var(rows[2:], ddof=1)]) / 2
    margin = t.ppf(0.975, parts.sum() ** 2 / (parts**2).sum()) * parts.sum() ** 0.5 / 2
    assert system[2:5] == pytest.approx((0.425, 0.425 - margin, 0.425 + margin), rel=1e-12)


def test_a_segments_of_one_query_has_a_mean_without_bounds():
    [system] = macro({"a": [0.5, 0.25, 0.75]}).systems
    assert system.mean == 0.5 and math.isnan(system.low) and math.isnan(system.high)


def test_equal_values_in_every_segments_have_bounds_at_their_mean():
    found = macro({"a": [0.1] * 4, "b": [0.7, 0.7, 0.3, 0.3]})
    assert [system[2:5] for system in found.systems] == [(0.1, 0.1, 0.1), (0.5, 0.5, 0.5)]
    [pair] = found.pairs
    assert (pair.low, pair.difference, pair.high) == pytest.approx((-0.4, -0.4, -0.4), abs=1e-15)


def test_a_difference_has_both_bounds_and_no_test():
    found = macro({"a": [0.1, 0.5, 0.2, 0.9], "b": [0.3, 0.4, 0.8, 0.7]})
    [pair] = found.pairs
    assert pair.low < pair.difference < pair.high and math.isnan(pair.p_value)
    assert pair.high - pair.difference == pytest.approx(pair.difference - pair.low)
    assert pair.exact is False and pair.note == ""


def test_a_query_without_a_value_in_one_run_is_left_out_of_all():
    found = macro({"a": [0.1, 0.5, 0.7, 0.2, 0.9, 0.4], "b": [0.3, NAN, 0.4, 0.8, 0.7, NAN]})
    assert repr(found) == repr(macro({"a": [0.1, 0.7, 0.2, 0.9], "b": [0.3, 0.4, 0.8, 0.7]}))
