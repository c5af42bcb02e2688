"""Errors of a judge by group: against means by hand, least squares with matrices, and simulated judges without bias."""

import json
import math
import random

import numpy as np
import pytest

import fastir
from fastir import stats
from fastir.errors import NoOverlapError


def judged(n_queries=12, n_docs=8, seed=0, bias=lambda doc_id: 0.4):
    """Human labels, and those of a judge that adds 1 with a probability by document."""
    rng = random.Random(seed)
    human = {f"q{q}": {f"d{q * 3 + d}": rng.randrange(3) for d in range(n_docs)} for q in range(n_queries)}
    judge = {
        q: {d: n + (rng.random() < bias(d)) - (rng.random() < 0.1) for d, n in docs.items()}
        for q, docs in human.items()
    }
    judge = {q: {d: max(n, 0) for d, n in docs.items()} for q, docs in judge.items()}
    return judge, human


def rows_of(judge, human):
    return [(q, d, judge[q][d] - n) for q, docs in human.items() for d, n in docs.items()]


def least_squares(x, errors, queries, n_clusters=None):
    """The slope and its standard error by matrices: the sandwich of clusters."""
    design = np.column_stack([np.ones(len(x)), x])
    bread = np.linalg.inv(design.T @ design)
    coefficients = bread @ design.T @ errors
    residuals = errors - design @ coefficients
    names = list(dict.fromkeys(queries))
    sums = [sum(design[i] * residuals[i] for i, q in enumerate(queries) if q == name) for name in names]
    n = len(names) if n_clusters is None else n_clusters
    variance = bread @ sum(np.outer(s, s) for s in sums) @ bread * n / (n - 1)
    return coefficients[1], variance[1, 1] ** 0.5


def test_all_documents_have_the_mean_error_and_its_clustered_interval():
    judge, human = judged()
    result = fastir.judge_bias(judge, human, confidence=0.9)
    errors = [error for _, _, error in rows_of(judge, human)]
    [row] = result.groups
    expected = stats.t_interval(errors, confidence=0.9, clusters=[q for q, _, _ in rows_of(judge, human)])
    assert (row.error, row.low, row.high) == pytest.approx(expected[:3], abs=1e-12)
    assert (row.n, row.n_queries, row.group) == (96, 12, "all") and result.slopes == []
    assert row.over == pytest.approx(sum(error > 0 for error in errors) / 96)
    assert row.under == pytest.approx(sum(error < 0 for error in errors) / 96)
    assert math.isnan(row.p_value)


@pytest.mark.parametrize("nested", [False, True])
def test_groups_are_compared_with_the_other_documents(nested):
    judge, human = judged()
    source = {f"d{n}": ("web", "news", "blog")[n % 3] for n in range(60)}
    by = {q: {d: source[d] for d in docs} for q, docs in human.items()} if nested else source
    result = fastir.judge_bias(judge, human, {"source": by})
    rows = rows_of(judge, human)
    errors, queries = np.array([row[2] for row in rows], float), [row[0] for row in rows]
    scipy = pytest.importorskip("scipy.stats")
    assert {row.group for row in result.groups[1:]} == {"web", "news", "blog"}
    for row in result.groups[1:]:
        inside = np.array([source[d] == row.group for _, d, _ in rows])
        assert row.error == pytest.approx(errors[inside].mean()) and row.n == inside.sum()
        slope, error = least_squares(inside.astype(float), errors, queries)
        assert row.difference == pytest.approx(slope) == pytest.approx(errors[inside].mean() - errors[~inside].mean())
        assert row.p_value == pytest.approx(2 * scipy.t.sf(abs(slope / error), 11))
    ps = [row.p_value for row in result.groups[1:]]
    assert [row.adjusted_p for row in result.groups[1:]] == stats.adjust(ps, "holm").tolist()
    assert "holm over 3 tests" in repr(result) and "12 queries as clusters" in result.method


def test_numbers_are_divided_at_quartiles_and_have_a_slope(tmp_path):
    judge, human = judged(bias=lambda doc_id: int(doc_id[1:]) / 60)
    lengths = {f"d{n}": 10 * n + 0.5 for n in range(60)}
    result = fastir.judge_bias(judge, human, {"length": lengths}, confidence=0.99)
    rows = rows_of(judge, human)
    x = np.array([lengths[d] for _, d, _ in rows])
    edges = np.quantile(x, [0.25, 0.5, 0.75])
    bands = [x[np.searchsorted(edges, x) == band] for band in range(4)]
    assert [row.group for row in result.groups[1:]] == [f"{band.min():g} to {band.max():g}" for band in bands]
    assert [row.n for row in result.groups[1:]] == list(map(len, bands))
    slope, error = least_squares(x, np.array([row[2] for row in rows], float), [row[0] for row in rows])
    [found] = result.slopes
    t = pytest.importorskip("scipy.stats").t
    margin = t.ppf(0.995, 11) * error
    assert found[1:4] == pytest.approx((slope, slope - margin, slope + margin))
    assert found.p_value == pytest.approx(2 * t.sf(abs(slope / error), 11)) and found.p_value <= found.adjusted_p
    assert f"length: the error changes by {slope:+.3g} for each 1" in repr(result)
    (tmp_path / "lengths.tsv").write_text("".join(f"{doc_id}\t{n}\n" for doc_id, n in lengths.items()))
    assert fastir.judge_bias(judge, human, {"length": tmp_path / "lengths.tsv"}, confidence=0.99) == result
    assert fastir.judge_bias(judge, human, {"length": {d: int(n) for d, n in lengths.items()}}).slopes[0].by == "length"


def test_a_judge_that_prefers_long_documents_is_found():
    rng = random.Random(1)
    lengths = {f"d{n}": rng.randrange(1000) for n in range(200)}
    judge, human = judged(n_queries=50, bias=lambda doc_id: lengths[doc_id] / 1000)
    result = fastir.judge_bias(judge, human, {"length": lengths})
    [slope] = result.slopes
    assert 0.0007 < slope.low < slope.slope < slope.high < 0.0012 and slope.adjusted_p < 1e-6
    assert result.groups[1].difference < 0 < result.groups[4].difference
    assert max(result.groups[row].adjusted_p for row in (1, 4)) < 1e-4


def test_few_numbers_are_groups_of_their_own():
    judge, human = judged()
    result = fastir.judge_bias(judge, human, {"year": {f"d{n}": 2000 + n % 4 for n in range(60)}})
    assert [row.group for row in result.groups] == ["all", "2000", "2001", "2002", "2003"] and len(result.slopes) == 1


def test_ranks_in_runs_have_bands_and_documents_that_are_not_retrieved():
    judge, human = judged(n_docs=30)
    run = {q: {d: -place for place, d in enumerate(list(docs)[:25], 1)} for q, docs in human.items()}
    result = fastir.judge_bias(judge, human, runs={"bm25": run, "other": {"q1": {"d3": 1.0, "d4": 0.5}}})
    [one, two] = ([row for row in result.groups if row.by == f"rank in {name}"] for name in ("bm25", "other"))
    assert [row.group for row in one] == ["1 to 5", "6 to 10", "11 to 20", "21 to 25", "not retrieved"]
    assert [row.n for row in one] == [60, 60, 120, 60, 60]
    top = [judge[q][d] - human[q][d] for q, docs in human.items() for d in list(docs)[:5]]
    assert one[0].error == pytest.approx(sum(top) / 60)
    assert [row.group for row in two] == ["1 to 2", "not retrieved"] and [row.n for row in two] == [2, 358]
    assert math.isnan(two[0].p_value) and math.isnan(two[0].low)  # a single query
    assert [slope.by for slope in result.slopes] == ["rank in bm25", "rank in other"]
    paths = fastir.judge_bias(judge, human, runs=[fastir.Run.from_dict(run, name="bm25")])
    assert paths.groups[1].error == one[0].error


def test_documents_without_a_value_are_counted():
    judge, human = judged()
    lengths = {f"d{n}": n if n % 2 else math.nan for n in range(30)}
    result = fastir.judge_bias(judge, human, {"length": lengths, "side": {"d0": "x", "d1": "y", "d3": None}})
    n = sum(lengths.get(d, math.nan) == lengths.get(d) for _, d, _ in rows_of(judge, human))
    assert sum(row.n for row in result.groups if row.by == "length") == n
    assert result.without_value["length"] == 96 - n and f"length: {96 - n} documents have no value." in repr(result)
    assert sum(row.n for row in result.groups if row.by == "side") == 96 - result.without_value["side"]


def test_a_judge_without_errors_has_none_to_explain():
    _, human = judged()
    result = fastir.judge_bias(human, human, {"side": {f"d{n}": n % 2 for n in range(60)}})
    assert {(row.error, row.low, row.high, row.over) for row in result.groups} == {(0.0, 0.0, 0.0, 0.0)}
    assert [row.p_value for row in result.groups[1:]] == [1.0, 1.0]


def test_a_judge_with_equal_errors_everywhere_is_seldom_accused():
    """At 5 % of 400 judges, though documents of a query share an error."""
    accused = 0
    for seed in range(400):
        rng = np.random.default_rng(seed)
        human = {f"q{q}": dict.fromkeys(map(str, range(8)), 1) for q in range(30)}
        judge = {
            q: {d: int(1 + (rng.random() < share)) for d in docs}
            for (q, docs), share in zip(human.items(), rng.random(30), strict=True)
        }
        groups = {q: {d: int(rng.random() < 0.3) for d in docs} for q, docs in human.items()}
        accused += fastir.judge_bias(judge, human, {"group": groups}).groups[1].p_value <= 0.05
    assert 0.025 <= accused / 400 <= 0.075


def test_json_and_table_have_what_the_result_has():
    judge, human = judged()
    result = fastir.judge_bias(judge, human, {"length": {f"d{n}": n for n in range(60)}})
    data = json.loads(result.to_json())
    assert [row["n"] for row in data["groups"]] == [row.n for row in result.groups]
    assert data["slopes"][0]["slope"] == result.slopes[0].slope and data["groups"][0]["p_value"] is None
    assert repr(result).splitlines()[0].split() == [
        "by", "group", "documents", "error", "95%", "interval", "over", "under", "from", "others", "p",
    ]  # fmt: skip


def test_ids_that_are_integers_equal_their_text():
    human, judge = {1: {7: 1, 8: 0}, 2: {7: 0, 9: 1}}, {1: {7: 2, 8: 0}, 2: {7: 1, 9: 1}}
    result = fastir.judge_bias(judge, human, {"length": {"7": 1, "8": 2, "9": 2}})
    assert [row.error for row in result.groups] == [0.5, 1.0, 0.0]


@pytest.mark.parametrize(("by", "error", "message"), [
    ({"x": {"other": 1}}, ValueError, r"by\['x'\] has no value for any document that both judged, such as 'd0'"),
    ({"x": {"q0": {"other": 1}}}, ValueError, r"by\['x'\] has no value for any .* such as 'q0' 'd0'"),
    ({"x": {"d0": math.inf}}, ValueError, r"by\['x'\] has an infinite value"),
    ({"x": {"d0": 10**400}}, ValueError, r"by\['x'\] has an int beyond all floats"),
    ({"x": {"d0": ["web"]}}, TypeError, r"by\['x'\] has the value \['web'\]; expected a number, or the name"),
    ({"x": {"q0": {"d0": 1}, "q1": 5}}, TypeError, r"by\['x'\]\['q1'\] must map documents to values, .* got int"),
    ({"x": {7: 1, "7": 2}}, ValueError, r"by\['x'\] has the id 7 twice, as int and as str"),
    ({"x": {f"d{n}": str(n) for n in range(9999)}}, ValueError, r"has 185 groups, expected numbers, or 100 at most"),
    ({"x": 3}, TypeError, r"by\['x'\] must map ids to values"),
    ([1], TypeError, "by must map names to values of documents"),
])  # fmt: skip
def test_bad_input_is_named(by, error, message):
    judge, human = judged(n_queries=60)
    with pytest.raises(error, match=message):
        fastir.judge_bias(judge, human, by)


def test_two_sides_without_a_document_in_common_are_refused():
    with pytest.raises(NoOverlapError, match="no query in common"):
        fastir.judge_bias({"p": {"a": 1}}, {"q": {"a": 1}})
    with pytest.raises(ValueError, match="confidence must be between 0 and 1"):
        fastir.judge_bias({"q": {"a": 1}}, {"q": {"a": 1}}, confidence=2)


def test_a_slope_of_one_query_prints_that_it_has_no_interval():
    found = fastir.judge_bias({"q": {"a": 1, "b": 0}}, {"q": {"a": 0, "b": 0}}, {"x": {"a": 1, "b": 2}})
    assert "x: the error changes by -1 for each 1, without an interval." in str(found) and "nan" not in str(found)
