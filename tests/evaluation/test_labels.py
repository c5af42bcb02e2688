"""evaluate_scores: labels and scores without ids have the values of the same rankings as dicts, to the last bit."""

import itertools
import math
import os
import subprocess
import sys

import numpy as np
import pytest
from closed_forms import AVERAGED
from common import UNEVEN
from labels_made import LABELS, NAMES, SCORES, SIZES, bits, collection

import fastir

pytestmark = UNEVEN
TIES = ("input", "optimistic", "pessimistic", "average")
NOT_FOR_WIDE = ("err", "nerr", "inst", "insq", "bpm", "sdcg", "tbg", "u_measure", "pfound", "irbu", "rbu")
CARDS = [card for card in fastir.metrics() if not (card.pooled or card.groups or card.sampled)]
WHOLE = [card.spelled("@0.5" if card.at else "") for card in CARDS]
CUT = [card.spelled(f"@{k}") for card in CARDS if card.cutoff for k in (1, 5, 10, 20, 50)]
SMALL = [name for name in CUT if not name.endswith("@50")]


def as_dicts(labels, scores, sizes):
    """The same as judgments and a run; -1 is not in the judgments."""
    qrels, run = {}, {}
    starts = np.cumsum([0, *sizes])
    for query, (start, stop) in enumerate(itertools.pairwise(starts)):
        rows = list(enumerate(zip(labels[start:stop].tolist(), scores[start:stop].tolist(), strict=True)))
        qrels[query] = {row: label for row, (label, _) in rows if label != -1}
        run[query] = {row: score for row, (_, score) in rows}
    return qrels, run


def suitable(names, labels, ties):
    if labels == "wide":
        names = [name for name in names if not name.startswith(NOT_FOR_WIDE)]
    return [name for name in names if ties != "average" or name.partition("@")[0] in AVERAGED]


@pytest.mark.parametrize("ties", TIES)
@pytest.mark.parametrize("scores", SCORES)
@pytest.mark.parametrize("labels", LABELS)
def test_the_values_of_the_same_dicts(labels, scores, ties):
    given = collection(labels, scores)
    dicts = as_dicts(*given, SIZES)
    for names in (SMALL, WHOLE, CUT):
        names = suitable(names, labels, ties)
        expected = fastir.evaluate(*dicts, names, ties=ties)
        results = fastir.evaluate_scores(*given, names, group=SIZES, ties=ties)
        assert results.values.tobytes() == expected.values.tobytes()
        assert results.status == expected.status
        assert results.aggregates == expected.aggregates


@pytest.mark.parametrize("options", [
    {"max_depth": 7}, {"max_depth": 40}, {"judged_only": True}, {"judged_only": True, "max_depth": 15},
    {"rel_level": 2},
    {"gain": "exp2", "empty": "one", "ideal": "retrieved"}, {"ideal": "retrieved", "max_depth": 5},
    {"ap_norm": "min_kR", "short_rankings": "clip", "empty": "nan"}, {"gain": "{-1: 2, 0: 1, 2: 5}"},
    {"discount": "jk2"},
], ids=str)  # fmt: skip
def test_the_options_of_evaluate(options):
    gains = options.pop("gain", None)
    extra = [f"ndcg(gain={gains})", f"ndcg(gain={gains})@10"] if gains else []
    for labels in ("graded", "negative"):
        given = collection(labels, "tied")
        for names in (SMALL + extra, CUT + WHOLE + extra):
            expected = fastir.evaluate(*as_dicts(*given, SIZES), names, ties="input", **options)
            results = fastir.evaluate_scores(*given, names, group=SIZES, **options)
            assert results.values.tobytes() == expected.values.tobytes()


def test_scores_are_compared_as_asked():
    labels, scores = [0, 1], np.array([1.0, 1.0 + 1e-9])
    assert fastir.evaluate_scores(labels, scores, "mrr")["mrr"] == 1.0
    assert fastir.evaluate_scores(labels, scores, "mrr", score_dtype="float32")["mrr"] == 0.5
    assert fastir.evaluate_scores(labels, scores, "mrr", convention="xgboost")["mrr"] == 0.5
    large = np.array([2**24, 2**24 + 1])  # integers that float32 does not hold
    assert fastir.evaluate_scores(labels, large, "mrr")["mrr"] == 1.0


@pytest.mark.parametrize("n_threads", [2, 3, 8, None])
def test_any_number_of_threads(n_threads):
    rng = np.random.default_rng(1)
    labels, scores = rng.integers(-2, 4, 1_200_000).astype("i1"), rng.integers(0, 99, 1_200_000).astype("f4")
    offsets = np.sort(np.append(rng.integers(0, labels.size, 5000), (0, labels.size)))
    for names in (["ndcg@10"], NAMES):
        expected = fastir.evaluate_scores(labels, scores, names, offsets=offsets, n_threads=1)
        results = fastir.evaluate_scores(labels, scores, names, offsets=offsets, n_threads=n_threads)
        assert bits(results) == bits(expected) and results.report == expected.report


def test_the_choice_of_instructions_does_not_show():
    code = (
        "import numpy, fastir\n"
        "rng = numpy.random.default_rng(2)\n"
        "labels, scores = rng.integers(0, 5, 20000), rng.integers(0, 300, 20000)\n"
        "for dtype in ('f4', 'f8'):\n"
        "    results = fastir.evaluate_scores(labels, scores.astype(dtype), ['map', 'ndcg'], group=[100] * 200)\n"
        "    print(results.values.tobytes().hex())\n"
    )
    out = {
        subprocess.run(
            [sys.executable, "-c", code], env={**os.environ, "FASTIR_SIMD": choice}, check=True, capture_output=True,
            text=True,
        ).stdout
        for choice in ("portable", "")
    }  # fmt: skip
    assert len(out) == 1


def test_the_report():
    results = fastir.evaluate_scores([1, 0, 0, -1], [1, 1, 2, 3], "map", qid=["x", "x", "y", "y"])
    assert results.status == {"x": "evaluated", "y": "no_relevant"}
    assert results.report == fastir.Report(
        in_both=2, in_both_example="x", no_relevant=1, no_relevant_example="y", queries_with_ties=1,
        queries_with_ties_example="x", unjudged_share=0.25,
    )  # fmt: skip


def test_a_fraction_is_its_own_gain():
    results = fastir.evaluate_scores([0.5, 0.0, 2.25, -0.5], [1, 2, 3, 4], ["dcg", "ideal_dcg@2", "ndcg@3", "cg@2"])
    dcg = 2.25 / math.log2(3) + 0.5 / math.log2(5)
    assert results.values[0].tolist() == pytest.approx(
        [dcg, 2.25 + 0.5 / math.log2(3), 2.25 / math.log2(3) / (2.25 + 0.5 / math.log2(3)), 2.25], rel=1e-15
    )


@pytest.mark.parametrize("ties", TIES)
def test_fractions_change_with_their_scale_alone(ties):
    """A power of two changes no bit of a ratio, whether labels are integers or fractions."""
    names = [
        f"{name}{at}"
        for name in ("ndcg", "g", "ndcg_rel")
        for at in ("", "@10", "@40")
        if (at == "" or name == "ndcg") and (ties != "average" or name == "ndcg")
    ]
    names = [name for name in names if not name.startswith("g")] + (["dcg@10"] if ties == "input" else [])
    labels, scores = collection("graded", "tied")
    whole = fastir.evaluate_scores(labels, scores, names, group=SIZES, ties=ties)
    for dtype in ("f4", "f8"):
        halves = fastir.evaluate_scores((labels / 4).astype(dtype), scores, names, group=SIZES, ties=ties)
        scale = [0.25 if name.startswith("dcg") else 1.0 for name in names]
        assert (halves.values == whole.values * scale).all()
    many = fastir.evaluate_scores(labels + np.arange(len(labels)) / 2**20, scores, names, group=SIZES, ties=ties)
    assert np.isfinite(many.values).all() and not (many.values == whole.values).all()


@pytest.mark.parametrize("n_distinct", [1, 5, 31, 32, 33])
@pytest.mark.parametrize("dtype", ["f4", "f8"])
def test_fractions_of_few_and_of_many_values(monkeypatch, dtype, n_distinct):
    """Codes of a byte, rows and codes of all labels give the same bits, counts and warnings."""
    labels, scores = collection("graded", "tied")
    labels = np.where(labels > 0, 0.3 * (1 + np.arange(len(labels)) % n_distinct), labels - 0.25 * (labels < -1))
    labels = labels.astype(dtype)
    names = ["ndcg@10", "map", "mrr", "p@5"]
    found = []
    for least in (0, len(labels), len(labels) + 1):
        monkeypatch.setattr("fastir.evaluation.labels.MIN_CODED_LABELS", least)
        results = fastir.evaluate_scores(labels, scores, names, group=SIZES, rel_level=0.3)
        found.append((results.values.tobytes(), results.status, results.report))
    monkeypatch.setattr("fastir.evaluation.labels.few_coded", lambda *columns: None)
    results = fastir.evaluate_scores(labels, scores, names, group=SIZES, rel_level=0.3)
    assert found == [(results.values.tobytes(), results.status, results.report)] * 3


@pytest.mark.parametrize(("change", "error", "words"), [
    ({"labels": math.nan}, ValueError, r"labels\[7\] is not a finite number"),
    ({"labels": 2.0**31}, OverflowError, "labels holds a label outside"),
    ({"scores": math.nan}, ValueError, "scores: NaN in row 7"),
])  # fmt: skip
def test_faults_beside_few_fractions(monkeypatch, change, error, words):
    monkeypatch.setattr("fastir.evaluation.labels.MIN_CODED_LABELS", 0)
    arrays = {"labels": np.full(20, 0.5), "scores": np.arange(20.0)}
    for name, value in change.items():
        arrays[name][7] = value
    with pytest.raises(error, match=words):
        fastir.evaluate_scores(**arrays, metrics="ndcg")


def test_fractions_in_rank_order():
    options = {"ideal_labels": [0.5, 0.25, 1.5], "ideal_offsets": [0, 3]}
    results = fastir.evaluate_ranked([0.5, 0.0, 0.25], [0, 3], ["ndcg@1", "dcg"], **options)
    assert results.values[0].tolist() == [0.5 / 1.5, 0.5 + 0.25 / 2]


@pytest.mark.parametrize(("change", "error", "words"), [
    ({"labels": [1, 0]}, ValueError, "scores has 3 entries but labels has 2"),
    ({"labels": [[1, 0, 1]]}, ValueError, r"labels must have 1 dimension, got shape \(1, 3\)"),
    ({"labels": [1, math.nan, 1]}, ValueError, r"labels\[1\] is not a finite number"),
    ({"labels": [1, math.inf, 1]}, ValueError, r"labels\[1\] is not a finite number"),
    ({"labels": [1, 2**31, 1]}, OverflowError, "labels holds a label outside"),
    ({"labels": [1.0, -(2.0**40), 1]}, OverflowError, "labels holds a label outside"),
    ({"labels": np.array([1, 0, 2**63], "u8")}, OverflowError, "labels holds a label outside"),
    ({"labels": ["1", "0", "1"]}, TypeError, "labels must hold numbers"),
    ({"scores": [1, 2, math.nan]}, ValueError, "scores: NaN in row 2"),
    ({"scores": [1, None, 3]}, TypeError, "scores must hold numbers"),
    ({"group": [2]}, ValueError, "group sizes sum to 2 but labels has 3 entries"),
    ({"group": [4, -1]}, ValueError, r"group\[1\] = -1; a group size must be 0 or more"),
    ({"group": [2**62, 2**62, 2**62, 2**62, 3]}, ValueError, f"group sizes sum to {2**64 + 3} but"),
    ({"group": [1.5, 1.5]}, TypeError, "group must be integers"),
    ({"qid": [1, 2]}, ValueError, r"qid has shape \(2,\) but labels has 3 entries"),
    ({"qid": [1.0, 1.0, 2.0]}, TypeError, "qid must hold integers or strings, got dtype float64"),
    ({"qid": [None, "a", "b"]}, TypeError, "qid must hold integers or strings, of one kind"),
    ({"offsets": [0, 2]}, ValueError, "labels has 3 entries but offsets ends at 2"),
    ({"group": [3], "qid": [1, 1, 1]}, ValueError, "group and qid must not be given together"),
    ({"ties": "trec"}, ValueError, "ties='trec' needs document ids"),
    ({"ties": "doc_id_asc"}, ValueError, "ties='doc_id_asc' needs document ids"),
    ({"ties": "random"}, ValueError, "ties must be one of"),
    ({"metrics": "hole@5"}, fastir.UnknownMetricError, "metric 'hole@5' needs document ids"),
    ({"metrics": "err", "labels": [0, 5, 1]}, OverflowError, r"label 5 is too large .*\(query 0, document 1\)"),
    ({"weights": [1, 2]}, ValueError, "weights has 2 entries but there is 1 query"),
    ({"weights": [-1]}, ValueError, "weight must be 0 or more"),
])  # fmt: skip
def test_refused(change, error, words):
    with pytest.raises(error, match=words):
        fastir.evaluate_scores(
            **{"labels": [1, 0, 1], "scores": [1.0, 2.0, 3.0], "metrics": ["ndcg@10", "map"], **change}
        )


def test_rows_are_named_as_the_caller_has_them():
    for labels, scores, words in (
        ([1, math.nan, 0], [1, 2, 3], r"labels\[1\]"),
        ([1, 1, 0], [1, 2, math.nan], "row 2"),
    ):
        with pytest.raises(ValueError, match=words):
            fastir.evaluate_scores(labels, scores, "map", qid=[7, 5, 7])


def test_the_first_of_several_problems_does_not_depend_on_threads():
    rng = np.random.default_rng(4)
    labels, scores = rng.random(1_100_000).round(), rng.random(1_100_000)
    labels[700_000], scores[[5, 1_000_000]] = math.inf, math.nan
    for n_threads in (1, 4):
        with pytest.raises(ValueError, match=r"labels\[700000\] is not a finite number"):
            fastir.evaluate_scores(labels, scores, "map", group=np.full(1000, 1100), n_threads=n_threads)


def test_rules_of_single_metrics():
    labels, scores = collection("graded", "tied")
    together = fastir.evaluate_scores(labels, scores, ["map", "ndcg@10", "mrr"], group=SIZES, convention="sklearn")
    for name in together.names:
        alone = fastir.evaluate_scores(labels, scores, name, group=SIZES, convention="sklearn")
        assert alone.per_query(name) == together.per_query(name)
    averaged = fastir.evaluate_scores(labels, scores, "ndcg@10", group=SIZES, ties="average")
    assert (
        together["ndcg@10"]
        == averaged["ndcg@10"]
        != fastir.evaluate_scores(labels, scores, "ndcg@10", group=SIZES)["ndcg@10"]
    )
    assert together.convention == fastir.conventions.CONVENTIONS["sklearn"]


@pytest.mark.parametrize("convention", ["fastir", "trec_eval-10", "ranx", "lightgbm"])
def test_rules_that_need_ids_are_the_order_of_the_rows(convention):
    for row in range(4):
        labels = [int(row == place) for place in range(4)]
        assert fastir.evaluate_scores(labels, [0] * 4, "mrr", convention=convention)["mrr"] == 1 / (row + 1)


def test_tensors():
    torch = pytest.importorskip("torch")
    labels, scores = collection("graded", "distinct")
    expected = bits(fastir.evaluate_scores(labels, scores, NAMES, group=SIZES))
    for half in (torch.float32, torch.float64):
        tensor = torch.tensor(scores, dtype=half, requires_grad=True)
        assert bits(fastir.evaluate_scores(torch.tensor(labels), tensor, NAMES, group=torch.tensor(SIZES))) == expected
    rounded = torch.tensor(scores).bfloat16()
    expected = bits(fastir.evaluate_scores(labels, rounded.float().numpy(), NAMES, group=SIZES))
    assert bits(fastir.evaluate_scores(labels, rounded, NAMES, group=SIZES)) == expected


def matrices(seed=0, n=30, width=12):
    rng = np.random.default_rng(seed)
    return rng.integers(0, 4, (n, width)), rng.random((n, width)).round(1)


@pytest.mark.parametrize("ties", ["input", "optimistic", "average"])
def test_the_rows_of_matrices_are_queries(ties):
    labels, scores = matrices()
    names = NAMES if ties != "average" else ["ndcg@5", "mrr", "precision@3"]
    expected = fastir.evaluate_scores(labels.ravel(), scores.ravel(), names, group=[12] * 30, ties=ties)
    wide = np.repeat(scores, 2, axis=1)[:, ::2]
    for kind in (labels, labels.tolist(), list(labels), np.asfortranarray(labels), labels.astype(np.uint8)):
        for ranked in (scores, scores.tolist(), wide, np.asfortranarray(scores)):
            found = fastir.evaluate_scores(kind, ranked, names, ties=ties)
            assert bits(found) == bits(expected)
            assert list(found.query_ids) == list(range(30))
    assert bits(fastir.evaluate_scores(labels > 2, scores, "map")) == bits(
        fastir.evaluate_scores((labels > 2).ravel(), scores.ravel(), "map", group=[12] * 30)
    )


def test_matrices_as_scikit_learn_has_them():
    sklearn = pytest.importorskip("sklearn.metrics")
    labels, scores = matrices(1)
    ours = fastir.evaluate_scores(labels, scores, "ndcg@5", convention="sklearn")["ndcg@5"]
    assert ours == pytest.approx(sklearn.ndcg_score(labels, scores, k=5), rel=1e-12)


def test_matrices_as_torch_has_them():
    torch = pytest.importorskip("torch")
    labels, scores = matrices(2)
    expected = fastir.evaluate_scores(labels, scores.astype(np.float32), NAMES)
    logits = torch.tensor(scores, dtype=torch.float32, requires_grad=True)
    assert bits(fastir.evaluate_scores(torch.tensor(labels), logits, NAMES)) == bits(expected)
    assert bits(fastir.evaluate_scores(list(torch.tensor(labels)), logits.T.contiguous().T, NAMES)) == bits(expected)


def test_matrices_with_fractions_and_without_entries():
    labels, scores = matrices(3)
    halves = labels / 2
    expected = fastir.evaluate_scores(halves.ravel(), scores.ravel(), "ndcg@5", group=[12] * 30)
    assert bits(fastir.evaluate_scores(halves, scores, "ndcg@5")) == bits(expected)
    assert len(fastir.evaluate_scores(np.zeros((3, 0)), np.zeros((3, 0)), "map").query_ids) == 3
    assert len(fastir.evaluate_scores(np.zeros((0, 3)), np.zeros((0, 3)), "map").query_ids) == 0
    assert fastir.evaluate_scores([[1]], [[0.5]], "map")["map"] == 1.0


@pytest.mark.parametrize(("change", "error", "words"), [
    ({"scores": [1.0, 2.0]}, ValueError, r"labels must have 1 dimension, got shape \(2, 2\)"),
    ({"labels": [1, 0]}, ValueError, r"scores must have 1 dimension, got shape \(2, 2\)"),
    ({"scores": [[1.0, 2.0]]}, ValueError, r"scores has the shape \(1, 2\) but labels \(2, 2\); shapes must match"),
    ({"group": [2, 2]}, ValueError, "labels has 2 dimensions, so that its rows are the queries; expected no group"),
    ({"labels": [[1], [0]], "scores": [[1.0], [2.0]]}, ValueError, r"\(2, 1\), which is a query with one document in"),
    ({"labels": [[1, 0], [math.nan, 0]]}, ValueError, r"labels\[1, 0\] is not a finite number"),
    ({"scores": [[1, 2], [math.nan, 0]]}, ValueError, "scores: NaN in row 1, column 0"),
    ({"labels": [[1, 0], [2**31, 0]]}, OverflowError, "labels holds a label outside"),
    ({"labels": [[1, 0], [1]]}, ValueError, "labels must be an array of numbers"),
    ({"weights": [1]}, ValueError, "weights has 1 entry but there are 2 queries"),
])  # fmt: skip
def test_matrices_that_are_refused(change, error, words):
    with pytest.raises(error, match=words):
        fastir.evaluate_scores(**{"labels": [[1, 0], [0, 1]], "scores": [[1.0, 2.0]] * 2, "metrics": "map", **change})


def test_an_index_that_names_several_queries_is_not_passed_over():
    pandas = pytest.importorskip("pandas")
    frame = pandas.DataFrame({"qid": ["a", "a", "b"], "doc": [1, 2, 1], "label": [1, 0, 1], "score": [0.1, 0.2, 0.3]})
    for keys in ("qid", ["qid", "doc"], ["doc", "qid"]):
        indexed = frame.set_index(keys)
        with pytest.raises(ValueError, match=r"labels: the index 'qid' names 2 queries, .*qid=labels\.index\."):
            fastir.evaluate_scores(indexed["label"], indexed["score"], "mrr")
        with pytest.raises(ValueError, match="scores: the index 'qid' names 2 queries"):
            fastir.evaluate_scores(frame["label"], indexed["score"], "mrr")
        ids = indexed["label"].index.get_level_values("qid")
        found = fastir.evaluate_scores(indexed["label"], indexed["score"], "mrr", qid=ids)
        assert found.per_query("mrr") == {"a": 0.5, "b": 1.0}
        assert fastir.evaluate_scores(indexed["label"], indexed["score"], "mrr", group=[3])["mrr"] == 1.0
    for other in (frame, frame.set_index("doc"), frame.assign(qid="a").set_index("qid")):
        assert fastir.evaluate_scores(other["label"], other["score"], "mrr")["mrr"] == 1.0


def test_the_report_says_that_flat_labels_are_one_query():
    kind = "documents of one query, as no group, qid or offsets divides them"
    assert fastir.evaluate_scores([1, 0], [0.5, 0.2], "mrr").report.repairs == {kind: (2, "query 0")}
    assert kind in str(fastir.evaluate_scores([1, 0], [0.5, 0.2], "mrr").report)
    for divided in ({"group": [2]}, {"qid": ["a", "a"]}, {"offsets": [0, 2]}):
        assert fastir.evaluate_scores([1, 0], [0.5, 0.2], "mrr", **divided).report.repairs == {}
