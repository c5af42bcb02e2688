"""Documents that stand twice in a ranking, and chunks of documents: every metric against a slow twin, and in range.

The twin writes the rule out for one ranking at a time, as a dict whose ids are distinct: under "once" the later copies
get ids that nobody judged, and chunks are put together by a loop. fastir evaluates that dict by its join for dicts.
"""
# Also of: join.

import math

import numpy as np
import pytest
from common import UNEVEN

import fastir
from fastir.engine.columns._ids import encode

hypothesis = pytest.importorskip("hypothesis")
example, given, settings, st = hypothesis.example, hypothesis.given, hypothesis.settings, hypothesis.strategies
pytestmark = UNEVEN
CHUNKS = {f"{doc}{number}": doc for doc in "abcd" for number in range(3)}
DOCS = [*"abcd", "x", "y", *CHUNKS]
LABELS = {"a": 3, "b": 1, "c": 0, "d": -1, "e": 2}


def metrics_with_ranges():
    found = {}
    for card in fastir.metrics():
        for name in (card.spelled(), card.spelled("@2")):
            try:
                fastir.Evaluator({"q": LABELS}, name)
            except ValueError:  # it has no cutoff, or needs one, or groups
                continue
            found[name] = card.low, card.high
    return found


METRICS = metrics_with_ranges()


def in_rank_order(rows):
    """The rows as the rule "trec" ranks them: by score, then by id descending, then as they came."""
    return sorted(sorted(rows, key=lambda row: encode(row[0]), reverse=True), key=lambda row: -row[1])


def later_copies_unknown(rows):
    ranking = {}
    for doc, _ in in_rank_order(rows):
        ranking[doc if doc not in ranking else f"copy {len(ranking)}"] = -float(len(ranking))
    return ranking


def together(rows, aggregate):
    scores = {}
    for doc, score in rows:
        scores.setdefault(doc, []).append(score)
    for doc, values in scores.items():
        total = 0.0
        for value in sorted(values, reverse=True):
            total += value
        scores[doc] = {"max": max(values), "sum": total, "mean": total / len(values)}[aggregate]
    return scores


def of_documents(rows):
    return [(CHUNKS.get(doc, doc), score) for doc, score in rows]


rankings = st.lists(
    st.tuples(st.sampled_from(DOCS), st.sampled_from([0.1, 0.2, 0.7, -1.5, 3.0, 1e300])), min_size=1, max_size=20
)
QUICK = settings(max_examples=60, deadline=None)


def equal(results, expected):
    np.testing.assert_array_equal(results.values, expected.values)


def of_query(rows):
    return [("q", doc, score) for doc, score in rows]


@QUICK
@given(rankings)
def test_once_is_a_ranking_whose_later_copies_nobody_judged(rows):
    results = fastir.evaluate({"q": LABELS}, of_query(rows), list(METRICS), duplicates="once")
    equal(results, fastir.evaluate({"q": LABELS}, {"q": later_copies_unknown(rows)}, list(METRICS)))


@QUICK
@given(rankings, st.sampled_from(["first", "last", "max", "once"]), st.booleans())
@example([("d", 0.1)] * 12, "once", False)
def test_no_metric_leaves_its_range(rows, rule, chunks):
    parents = CHUNKS if chunks else None
    results = fastir.evaluate({"q": LABELS}, of_query(rows), list(METRICS), duplicates=rule, parents=parents)
    for (name, (low, high)), value in zip(METRICS.items(), results.values[0], strict=True):
        slack = 2**-52 * (name == "rbp_resid")  # its weights sum to 1 but for their rounding
        assert math.isnan(value) or low <= value <= high + slack, name
        if name.startswith("num_ret@"):
            assert value <= 2


@QUICK
@given(st.dictionaries(st.sampled_from(DOCS), st.sampled_from([0.1, 0.2, 0.7, -1.5, 3.0, 1e300])), st.data())
def test_chunks_are_put_together_in_every_shape(ranking, data):
    rows = list(ranking.items()) or [("x", 1.0)]
    for aggregate in ("max", "sum", "mean"):
        expected = fastir.evaluate({"q": LABELS}, {"q": together(of_documents(rows), aggregate)}, list(METRICS))
        shuffled = data.draw(st.permutations(rows))
        for run in ({"q": dict(rows)}, of_query(rows), fastir.Run.from_dict({"q": dict(rows)}), of_query(shuffled)):
            equal(fastir.evaluate({"q": LABELS}, run, list(METRICS), parents=CHUNKS, aggregate=aggregate), expected)
    once = fastir.evaluate({"q": LABELS}, {"q": dict(rows)}, list(METRICS), parents=CHUNKS, duplicates="once")
    equal(once, fastir.evaluate({"q": LABELS}, {"q": later_copies_unknown(of_documents(rows))}, list(METRICS)))


# ---- rows in any order, files, threads ---------------------------------------------------------------------------
@pytest.fixture(scope="module")
def large():
    """Qrels, and rows with repeats: some queries have many of them, some none."""
    rng = np.random.default_rng(3)
    qrels, rows = {}, []
    for number in range(40):
        docs = [f"d{doc}" for doc in rng.integers(0, 30 if number % 3 else 3000, 50)]
        qrels[f"q{number}"] = {doc: int(label) for doc, label in zip(docs[::4], rng.integers(-1, 3, 13), strict=True)}
        rows += [(f"q{number}", doc, float(score)) for doc, score in zip(docs, rng.integers(0, 90, 50), strict=True)]
    return qrels, [*rows, ("nobody's", "d1", 1.0), ("nobody's", "d1", 2.0)]


def expected_once(qrels, rows):
    run = {query: later_copies_unknown([row[1:] for row in rows if row[0] == query]) for query in qrels}
    return fastir.evaluate(qrels, run, ["ndcg@10", "map", "bpref", "num_ret", "judged@5"])


def repeats_of(rows, query_ids):
    known = [row[:2] for row in rows if row[0] in query_ids]
    return len(known) - len(set(known))


@pytest.mark.parametrize("order", ["grouped", "scattered"])
@pytest.mark.parametrize("validate", ["full", "judged"])
@pytest.mark.parametrize("n_threads", [1, 3])
def test_once_in_tables_of_any_order(large, order, validate, n_threads):
    qrels, rows = large
    given = rows if order == "grouped" else [rows[i] for i in np.random.default_rng(1).permutation(len(rows))]
    options = {"duplicates": "once", "validate": validate, "n_threads": n_threads}
    results = fastir.evaluate(qrels, given, ["ndcg@10", "map", "bpref", "num_ret", "judged@5"], **options)
    expected = expected_once(qrels, rows)
    equal(results, expected)
    if validate == "full":
        assert results.report.repairs["duplicates"][0] == repeats_of(rows, qrels)
    assert results.report.unjudged_share == expected.report.unjudged_share


def test_once_in_files_and_held_runs(large, tmp_path):
    qrels, rows = large
    path = tmp_path / "run"
    path.write_text("".join(f"{query} Q0 {doc} 0 {score} tag\n" for query, doc, score in rows))
    scattered = tmp_path / "scattered"
    scattered.write_text("".join(sorted(path.read_text().splitlines(True), key=lambda line: hash(line.split()[2]))))
    held = [fastir.Run.from_file(path, duplicates="once"), fastir.Run.from_table(rows, duplicates="once")]
    for run in (path, scattered, *held):
        results = fastir.evaluate(qrels, run, ["ndcg@10", "map", "bpref", "num_ret", "judged@5"], duplicates="once")
        equal(results, expected_once(qrels, rows))
    assert held[0].columns.repairs["duplicates"][0] == repeats_of(rows, {*qrels, "nobody's"})
    best = max(score for query, doc, score in rows if (query, doc) == ("nobody's", "d1"))
    assert held[0]["nobody's"] == {"d1": best}


def test_once_with_several_sets_of_rules_and_with_groups():
    rows = [("q", "a", 3.0), ("q", "a", 2.0), ("q", "x", 1.5), ("q", "b", 1.0)]
    run = {"q": later_copies_unknown([row[1:] for row in rows])}
    for qrels, metrics, options in (
        ({"q": {"a": 1, "b": 1}}, ["P@2", "AP", "Judged@2", "nDCG@3"], {"convention": "ir_measures"}),
        ({"q": {"g": {"a": 1}, "h": {"b": 1}}}, ["alpha_ndcg@4", "p_ia@2"], {}),
    ):
        results = fastir.evaluate(qrels, rows, metrics, duplicates="once", **options)
        equal(results, fastir.evaluate(qrels, run, metrics, **options))


def test_the_copy_that_counts_has_the_best_score_wherever_it_stands():
    rows = [("q", "a", 1.0), ("q", "x", 2.0), ("q", "a", 3.0)]
    assert fastir.evaluate({"q": {"a": 1}}, rows, "mrr", duplicates="once")["mrr"] == 1.0
    assert fastir.evaluate({"q": {"a": 1}}, rows, "mrr", duplicates="first")["mrr"] == 0.5


def test_sums_do_not_depend_on_the_order_of_rows():
    scores = [0.1, 0.2, 0.3, 1e16, -1e16, 0.7]
    values = set()
    for seed in range(20):
        order = np.random.default_rng(seed).permutation(len(scores))
        rows = [("q", f"a{i}", scores[i]) for i in order]
        parents = {f"a{i}": "a" for i in range(len(scores))}
        run = fastir.data.run.as_run(
            rows, None, None, fastir.Evaluator({"q": {"a": 1}}, "map", parents=parents, aggregate="sum").rules.parents
        )
        values.add(run["q"]["a"])
    assert len(values) == 1


def test_with_max_the_order_is_that_of_the_best_passages_for_ties_by_input():
    run = {"q": {"a0": 1.0, "b0": 3.0, "a1": 3.0}}
    results = fastir.evaluate({"q": {"b": 1}}, run, "mrr", parents=CHUNKS, ties="input")
    assert results["mrr"] == 1.0


def test_a_document_stands_at_the_first_of_its_best_rows():
    run = {"q": {"a0": 3.0, "b0": 3.0, "a1": 3.0}}
    results = fastir.evaluate({"q": {"a": 1}}, run, "mrr", parents=CHUNKS, ties="input")
    assert results["mrr"] == 1.0


# ---- counts, explanations, errors --------------------------------------------------------------------------------
def test_merged_chunks_are_counted_without_a_warning(recwarn):
    run = {"q": {"a0": 3.0, "a1": 2.0, "a2": 1.0, "x": 0.5}}
    results = fastir.evaluate({"q": {"a": 1}}, run, "num_ret", parents=CHUNKS)
    assert results["num_ret"] == 2
    assert results.report.repairs == {"parts of a document": (2, "query q")}
    assert not recwarn.list


def test_explanations_show_copies_in_their_places():
    rows = [("q", "x", 9.0), ("q", "a", 1.0), ("q", "a", 3.0), ("q", "b", 2.0)]
    explanation = fastir.Evaluator({"q": {"a": 2, "b": 1}}, ["ndcg", "map"], duplicates="once").explain(rows, "q")
    assert [(row.doc_id, row.label) for row in explanation.documents] == [("x", None), ("a", 2), ("b", 1), ("a", None)]
    values = fastir.evaluate({"q": {"a": 2, "b": 1}}, rows, ["ndcg", "map"], duplicates="once")
    assert explanation.values == dict(values)
    chunks = fastir.Evaluator({"q": {"a": 2}}, "map", parents=CHUNKS).explain({"q": {"x": 2.0, "a1": 1.0}}, "q")
    assert [row.doc_id for row in chunks.documents] == ["x", "a"]


def test_a_chunk_that_stands_twice_is_still_an_error():
    rows = [("q", "a0", 3.0), ("q", "a0", 2.0)]
    with pytest.raises(fastir.DuplicateError, match="duplicate document 'a0' in query 'q', in rows 0 and 1"):
        fastir.evaluate({"q": {"a": 1}}, rows, "map", parents=CHUNKS)
    assert fastir.evaluate({"q": {"a": 1}}, rows, "num_ret", parents=CHUNKS, duplicates="first")["num_ret"] == 1


def test_judgments_that_agree_are_one_under_once_and_others_an_error(tmp_path):
    agree, differ = [("q", "a", 1), ("q", "a", 1)], [("q", "b", 0), ("q", "b", 0), ("q", "a", 1), ("q", "a", 2)]
    assert fastir.Qrels.from_table(agree, duplicates="once")["q"] == {"a": 1}
    with pytest.raises(fastir.DuplicateError, match="duplicate document 'a' in query 'q', in rows 2 and 3"):
        fastir.Qrels.from_table(differ, duplicates="once")
    path = tmp_path / "qrels"
    path.write_text("".join(f"{query} 0 {doc} {label}\n" for query, doc, label in differ))
    with pytest.raises(fastir.DuplicateError, match=r"qrels:4: duplicate document 'a'"):
        fastir.evaluate(path, {"q": {"a": 1.0}}, "map", duplicates="once")
    path.write_text("q 0 a 1\nq 0 a 1\n")
    assert fastir.evaluate(path, {"q": {"a": 1.0}}, "num_rel", duplicates="once")["num_rel"] == 1


def test_infinite_scores_of_both_signs_have_no_sum(tmp_path):
    run = {"q": {"a0": math.inf, "x": 1.0, "a1": -math.inf}}
    path = tmp_path / "run"
    fastir.Run.from_dict(run).save(path)
    rows = [("q", doc, score) for doc, score in run["q"].items()]
    for given_run in (run, rows, path):
        with pytest.raises(ValueError, match=r"'a' are infinite and of both signs, they have no sum \(query q\)"):
            fastir.evaluate({"q": {"a": 1}}, given_run, "map", parents=CHUNKS, aggregate="mean")
