"""Exposure of groups: a textbook twin with SciPy, the same values from every entry point, and what is refused."""

import math
import pickle
import random

import numpy as np
import pytest

import fastir

pytestmark = pytest.mark.filterwarnings("ignore:.*no judged document", "ignore:1 duplicate was repaired")

QRELS = {"q1": {"a": 1, "b": 2, "c": 0}, "q2": {"c": 1}, "q3": {"d": 1}}
RUN = {"q1": {"x": 5.0, "a": 4.0, "b": 3.0, "c": 2.0}, "q2": {"d": 3.0, "b": 3.0, "a": 1.0}}
GROUPS = {"a": {"m": 1}, "b": {"f": 1.0}, "c": {"m": 0.5, "f": 0.5}, "d": {"m": 0.25, "f": 0.75}}
TARGET = {"m": 0.5, "f": 0.5}
GIVEN = {"doc_groups": GROUPS, "target": TARGET}
METRICS = ["awrf@2", "ndcg_awrf@3", "awrf", "ndcg_awrf-l2", "ndcg@3"]


def twin(ranked, relevant, groups, target, k):
    """awrf@k and ndcg_awrf@k of a list of documents, one by one."""
    distance = pytest.importorskip("scipy.spatial.distance").jensenshannon
    ranked = ranked[:k]
    if not ranked:
        return 0.0, 0.0
    names, weights = list(target), [1 / math.log2(max(rank, 2)) for rank in range(1, 101)]
    exposure = np.zeros(len(names))
    for weight, doc in zip(weights, ranked, strict=False):
        exposure += [weight * groups.get(doc, {}).get(name, 0) for name in names]
    fair = 1 - distance(exposure, [target[name] for name in names]) ** 2 if exposure.any() else math.nan
    ideal = sum(weights[: len(relevant) if k is None else min(k, len(relevant))])
    gained = sum(weight for weight, doc in zip(weights, ranked, strict=False) if doc in relevant)
    return fair, fair * (gained / ideal if ideal else 0)


def collection():
    rng = random.Random(5)
    docs, names = [f"d{i}" for i in range(20)], ["m", "f", "x"]
    groups = {}
    for doc in docs[:14]:
        shares = [rng.random() * rng.choice([0, 1]) for _ in names]
        groups[doc] = (
            {name: share / sum(shares) for name, share in zip(names, shares, strict=True)} if sum(shares) else {"m": 1}
        )
    qrels = {f"q{i}": {doc: rng.randrange(3) for doc in rng.sample(docs, 6)} for i in range(40)}
    run = {f"q{i}": {doc: float(rng.randrange(6)) for doc in rng.sample(docs, rng.randrange(1, 12))} for i in range(38)}
    return qrels, run, groups, {"m": 0.5, "f": 0.5, "x": 0}


def in_order(ranking, ties):
    if ties == "trec":
        return sorted(ranking, key=lambda doc: (ranking[doc], doc), reverse=True)
    if ties == "doc_id_asc":
        return sorted(ranking, key=lambda doc: (-ranking[doc], doc))
    documents = list(ranking) if ties == "input" else list(ranking)[::-1]
    return sorted(documents, key=lambda doc: -ranking[doc])


@pytest.mark.parametrize("ties", ["trec", "doc_id_asc", "input", "input_reversed"])
@pytest.mark.parametrize("k", [None, 1, 3, 50])
def test_values_are_those_of_the_twin(k, ties):
    qrels, run, groups, target = collection()
    cut = "" if k is None else f"@{k}"
    metrics = [f"awrf{cut}", f"ndcg_awrf{cut}"]
    for form in (run, fastir.Run.from_dict(run)):
        found = fastir.evaluate(qrels, form, metrics, doc_groups=groups, target=target, queries="qrels", ties=ties)
        expected = [
            twin(in_order(run.get(query, {}), ties), {doc for doc in labels if labels[doc] > 0}, groups, target, k)
            for query, labels in qrels.items()
        ]
        assert np.allclose(found.values, expected, rtol=1e-13, atol=0, equal_nan=True)


@pytest.mark.parametrize(("ranked", "m", "awrf", "score"), [
    ("xabc", 0.5, 0.99621711, 0.4981086), ("dba", 0.5, 0.985904, 0.8039701), ("acxd", 0.3, 0.93725881, 0.7029441),
    ("bca", 0.9, 0.86646773, 0.2733401),
])  # fmt: skip
def test_values_are_what_the_code_of_the_track_answered(ranked, m, awrf, score):
    """AWRFMetric of wptrec, fair-trec/trec2022-fair-public, with a and d relevant; its weights are single precision."""
    given = {"doc_groups": GROUPS, "target": {"m": m, "f": 1 - m}}
    results = fastir.evaluate({"q": {"a": 1, "d": 1}}, {"q": list(ranked)}, ["awrf@4", "ndcg_awrf@4"], **given)
    assert results.values.tolist() == [pytest.approx([awrf, score], abs=3e-7)]


def test_options_that_shorten_rankings_hold():
    qrels, run, groups, target = collection()
    words = {"doc_groups": groups, "target": target, "queries": "intersection"}
    cut = fastir.evaluate(qrels, run, "awrf", max_depth=3, **words)
    assert np.array_equal(cut.values, fastir.evaluate(qrels, run, "awrf@3", **words).values, equal_nan=True)
    kept = {query: {doc: run[query][doc] for doc in run[query] if doc in qrels[query]} for query in run}
    judged = fastir.evaluate(qrels, run, ["awrf", "awrf@2"], judged_only=True, **words)
    expected = fastir.evaluate(qrels, kept, ["awrf", "awrf@2"], **words)
    assert np.array_equal(judged.values, expected.values, equal_nan=True)
    unknown = {"q": {"a": 1, "c": 0, "b": -1}}, {"q": {"a": 1.0, "c": 2.0}}
    pooled = fastir.evaluate(unknown[0], {"q": {**unknown[1]["q"], "b": 3.0}}, METRICS, judged_only=True, **GIVEN)
    assert np.array_equal(pooled.values, fastir.evaluate(*unknown, METRICS, **GIVEN).values)  # a label below 0 is none
    single = fastir.evaluate(
        {"q": {"a": 1}}, {"q": {"a": 1 + 1e-12, "b": 1.0}}, "awrf@1", score_dtype="float32", **GIVEN
    )
    double = fastir.evaluate({"q": {"a": 1}}, {"q": {"b": 1 + 1e-12, "a": 1.0}}, "awrf@1", **GIVEN)
    assert np.array_equal(
        single.values, double.values
    )  # b is first: the scores are one float32, and b is the larger id


def test_every_entry_point_has_the_same_values(tmp_path):
    words = {**GIVEN, "queries": "qrels"}
    expected = fastir.evaluate(QRELS, RUN, METRICS, **words).values
    evaluator = fastir.Evaluator(QRELS, METRICS, **words)
    rows = [(doc, group, share) for doc, shares in GROUPS.items() for group, share in shares.items()]
    (tmp_path / "groups.txt").write_text("".join(f"{doc} {group} {share}\n" for doc, group, share in rows))
    (tmp_path / "groups.csv").write_text("doc_id,group,share\n" + "".join(f"{d},{g},{s}\n" for d, g, s in rows))
    (tmp_path / "target.txt").write_text("m 0.5\nf 0.5\n")
    (tmp_path / "targets.txt").write_text("".join(f"{query} m 0.5\n{query} f 0.5\n" for query in QRELS))
    table = dict(zip(("doc_id", "group", "share"), zip(*rows, strict=True), strict=True))
    run_rows = [(query, doc, score) for query, docs in RUN.items() for doc, score in docs.items()]
    pandas = pytest.importorskip("pandas")
    matrix = pandas.DataFrame(GROUPS).T.fillna(0.0)
    every = {
        "evaluator": evaluator.evaluate(RUN),
        "pickled": pickle.loads(pickle.dumps(evaluator)).evaluate(RUN),
        "run": evaluator.evaluate(fastir.Run.from_dict(RUN)),
        "rows": evaluator.evaluate(run_rows),
        "many": fastir.evaluate_many(QRELS, {"x": RUN}, METRICS, **words)["x"],
        **{
            repr(option): fastir.evaluate(QRELS, RUN, METRICS, **words | option)
            for option in (
                *({"doc_groups": form} for form in (tmp_path / "groups.txt", str(tmp_path / "groups.csv"))),
                *({"doc_groups": form} for form in (table, pandas.DataFrame(table), matrix)),
                *({"target": form} for form in (tmp_path / "target.txt", tmp_path / "targets.txt")),
                {"target": {query: {"f": 0.5, "m": 0.5} for query in QRELS}},
            )
        },
    }
    for name, results in every.items():
        assert np.array_equal(results.values, expected), name


def test_each_query_can_have_a_target_of_its_own():
    by_query = {"q1": {"m": 1, "f": 0}, "q2": {"m": 0, "f": 1}, "q3": TARGET, "other": TARGET}
    found = fastir.evaluate(QRELS, RUN, "awrf@3", doc_groups=GROUPS, target=by_query, queries="qrels")
    for query in QRELS:
        alone = fastir.evaluate(QRELS, RUN, "awrf@3", doc_groups=GROUPS, target=by_query[query], queries="qrels")
        assert found.per_query("awrf@3")[query] == alone.per_query("awrf@3")[query]


def test_integer_ids_equal_their_text():
    for groups in ({10: {"m": 1}, 11: {"f": 1}}, {"10": {"m": 1}, "11": {"f": 1}}):
        for target in (TARGET, {"1": TARGET}):
            results = fastir.evaluate({1: {10: 1}}, {1: {10: 1.0, 11: 2.0}}, "awrf", doc_groups=groups, target=target)
            assert results["awrf"] == 1


def test_a_query_with_unknown_documents_alone_is_undefined_and_one_without_documents_is_0():
    run = {"q1": {"x": 1.0, "y": 0.5}, "q2": {"c": 1.0}, "q3": {}}
    results = fastir.evaluate(QRELS, run, ["awrf@5", "ndcg_awrf@5"], **GIVEN)
    assert np.array_equal(results.values, [[np.nan, np.nan], [1, 1], [0, 0]], equal_nan=True)
    assert results["awrf@5"] == 0.5  # the undefined query is left out of the mean
    with pytest.warns(fastir.FastirWarning, match="no document at these ranks has groups; doc_groups have 'a'"):
        fastir.evaluate({"q": {"a": 1}}, {"q": {"x": 1.0}}, "awrf", **GIVEN)


def test_a_document_that_is_there_twice_counts_once():
    rows = [("q", "a", 3.0), ("q", "a", 2.0), ("q", "b", 1.0)]
    once = fastir.evaluate({"q": {"a": 1}}, rows, "awrf", duplicates="once", **GIVEN)
    other = fastir.evaluate({"q": {"a": 1}}, {"q": ["a", "x", "b"]}, "awrf", **GIVEN)
    assert np.array_equal(once.values, other.values)


@pytest.mark.parametrize(("words", "error", "message"), [
    ({}, fastir.UnknownMetricError, "'awrf@2' needs groups of documents, doc_groups; none were given"),
    ({"target": TARGET}, ValueError, "target needs doc_groups"),
    ({"doc_groups": GROUPS}, ValueError, "doc_groups needs target"),
    ({**GIVEN, "target": {}}, ValueError, "target is empty"),
    ({**GIVEN, "doc_groups": {}}, ValueError, "doc_groups are empty"),
    ({**GIVEN, "target": {"m": 0.5, "f": 0.4}}, ValueError, "target: the sum of its shares is 0.9, not 1"),
    ({**GIVEN, "target": {"m": 1.0}}, ValueError, "document 'b' has the group 'f', which the target lacks"),
    ({**GIVEN, "target": {"q1": TARGET}}, ValueError, "target: query 'q2' has none"),
    ({**GIVEN, "target": {"q1": TARGET, "q2": {"m": 1}}}, ValueError, "query 'q2' and another .* the group 'f'"),
    ({**GIVEN, "target": {"q1": {}}}, ValueError, "target: query 'q1': it has no share"),
    ({**GIVEN, "target": {"q1": TARGET, "m": 0.5}}, TypeError, "some values are shares, others map"),
    ({**GIVEN, "target": {"q1": {"m": 1.5, "f": -0.5}}}, ValueError, "query 'q1', group 'f': .* from 0 to 1, got -0.5"),
    ({**GIVEN, "target": 5}, TypeError, "target must map groups to shares"),
    ({**GIVEN, "doc_groups": {"a": {"m": 0.5}}}, ValueError, "document 'a': the sum of its shares is 0.5, not 1"),
    ({**GIVEN, "doc_groups": {"a": {"m": math.nan}}}, ValueError, "document 'a', group 'm': .* got nan"),
    ({**GIVEN, "doc_groups": {"a": {"m": "1"}}}, ValueError, "document 'a', group 'm': .* got '1'"),
    ({**GIVEN, "doc_groups": {"a": "m"}}, TypeError, "document 'a' must map groups to shares, got str 'm'"),
    ({**GIVEN, "doc_groups": {1: {"m": 1}, "1": {"m": 1}}}, ValueError, "document '1' is there twice"),
    ({**GIVEN, "doc_groups": [("a", "m")]}, TypeError, "doc_groups, as a table of doc_id, group and share"),
    ({**GIVEN, "ties": "average"}, ValueError, "ties='average' orders by labels"),
])  # fmt: skip
def test_what_says_no_share_is_refused(words, error, message):
    with pytest.raises(error, match=message):
        fastir.evaluate(QRELS, RUN, "awrf@2", queries="qrels", **words)


def test_files_are_refused_with_their_line(tmp_path):
    for text, message in (
        ("a m one\n", ":1: share 'one' is not a number"),
        ("a m 1\na m 1\n", ":2: group 'm' is there"),
    ):
        (tmp_path / "groups.txt").write_text(text)
        with pytest.raises(fastir.FormatError, match=message):
            fastir.evaluate(QRELS, RUN, "awrf@2", doc_groups=tmp_path / "groups.txt", target=TARGET)


def test_rankings_without_ids_have_no_groups():
    with pytest.raises(fastir.UnknownMetricError, match="which judged rankings do not have"):
        fastir.judged_rankings(QRELS, RUN, queries="qrels").evaluate("awrf@2")
    with pytest.raises(fastir.UnknownMetricError, match="parts are not put together for metrics of grouped"):
        fastir.Evaluator(QRELS, "awrf@2", **GIVEN).partial(RUN)
    with pytest.raises(ValueError, match="reads groups of documents, which labels do not show"):
        fastir.Evaluator(QRELS, "awrf@2", **GIVEN).explain(RUN, "q1")
    with pytest.raises(fastir.UnknownMetricError, match="needs groups of documents"):
        fastir.evaluate_ranked([1, 0], metrics="awrf@2")
