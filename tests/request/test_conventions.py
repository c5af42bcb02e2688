"""Whose numbers: METRICS' table of one name with several numbers under the conventions of tools that take scores, and
these tools themselves; tests/conventions has records of the others.
"""
# Also of: conventions_table, tool_versions.

import dataclasses
import math
import random

import numpy as np
import pytest
from rankings_made import labelled

import fastir
from fastir.request.conventions import CONVENTIONS, Convention
from fastir.request.conventions_table import TOOLS

SEED_003 = labelled([3, 2, 3, 0, 1, 2], [3, 2])
EMPTY = {"q1": {"a": 1, "b": 1}, "q2": {"a": 0}}, {"q1": {"c": 3.0, "a": 2.0}, "q2": {"a": 1.0}}
HALF = 0.5 / 2  # the mean of 0.5 and 0
SUBTOPICS = {"q": {"s1": {"a": 1}, "s2": {"a": 0, "b": 1}, "s3": {"c": 1}}}
TIED = {"q": {"a": 1}}, {"q": {"a": 1.0, "b": 1.0, "c": 1.0}}
NOT_BY_ID = (
    "ranx lightgbm xgboost torchmetrics sentence-transformers beir ndeval sklearn ptranking tf-ranking mteb-2.17"
)
TREC = ("trec_eval-10", "trec_eval-9", "pyserini")
# topic: (qrels and run, metric, {conventions: value}); a convention that stands nowhere gives what "rest" has.
TABLE = {
    "nDCG gain and ideal": (SEED_003, "ndcg@6", {
        "lightgbm xgboost ptranking tf-ranking": 0.9488107485678985,
        "sklearn catboost torchmetrics": 0.9608081943360617,
        "gdeval": 0.7510833867922446, "rest": 0.785002371969948}),
    "nDCG of exponential gains": (SEED_003, "ndcg_burges@6", {
        "lightgbm xgboost catboost sklearn torchmetrics ptranking tf-ranking": 0.9488107485678985,
        "rest": 0.7510833867922446}),
    "nDCG by option, JK": (SEED_003, "ndcg(discount=jk2)@6", {
        "lightgbm xgboost gdeval ptranking tf-ranking": None, "sklearn catboost torchmetrics": 0.9315085232327253,
        "rest": 0.7691193337826427}),
    "empty": (EMPTY, "mrr", {"lightgbm xgboost": 1.5 / 2, "sentence-transformers gdeval": 0.5, "rest": HALF}),
    "empty, nDCG": (EMPTY, "recall@9", {
        "lightgbm xgboost catboost": 1.5 / 2, "sentence-transformers gdeval": 0.5, "rest": HALF}),
    "AP denominator": (labelled([1, 0, 1, 0, 0, 1]), "map@2", {
        "lightgbm xgboost catboost sentence-transformers ptranking": 1 / 2, "torchmetrics": 1.0, "rest": 1 / 3}),
    "AP, unretrieved relevant": (labelled([1, 0, 1], [1, 1]), "map", {
        "torchmetrics": 0.8333333333333333, "rest": 0.4166666666666667}),
    "P@k, n < k": (labelled([1, 0, 1]), "precision@5", {"xgboost catboost ptranking tf-ranking": 2 / 3, "rest": 0.4}),
    "bpref, N = 0": (labelled([1, None, 1]), "bpref", {"ranx": math.nan, "rest": 1.0}),
    "bpref, negatives": (labelled([-1, 1, 1], [0, 0]), "bpref", {"ranx": 0.5, "rest": 1.0}),
    "bpref, denominator": (labelled([0, 1, 1, 1]), "bpref(bpref_norm=R)", {"rest": 2 / 3}),
    "RBP gains": (labelled([2, 0, 1]), "rbp(p=0.8)", {
        " ".join(TREC): 0.264, "ranx": 0.528, "rest": 0.328}),
    "RBP p": (labelled([2, 0, 1]), "rbp", {" ".join(TREC): 0.1 * (1 + 0.81 / 2), "ranx": 0.528, "rest": 0.328}),
    "rbp@95": (labelled([1, 0, 1]), "rbp@95", {
        "ranx": 0.05 * (1 + 0.95**2), " ".join(TREC): 0.1 * 1.81, "rest": 0.2 * 1.64}),
    "iprec rounding": (labelled([0, 1, 0, 0, 1]), "iprec@0.6", {
        "trec_eval-9 ranx ir_measures beir mteb mteb-2.17 pyserini": 0.4, "rest": 0.5}),
    "11pt rounding": (labelled([0, 1, 0, 0, 1]), "iprec_avg", {
        "trec_eval-9 ranx ir_measures beir mteb mteb-2.17 pyserini": 0.4545454545454546, "rest": 0.4727272727272727}),
    "F": (labelled([1, 0], [1, 1, 1]), "set_f(x=2)", {"sklearn torchmetrics": 0.2777777777777778, "rest": 0.3}),
    "ERR's top grade": (SEED_003, "err@6", {
        "catboost": None, "ptranking": 0.9220021565755209, "rest": 0.5676299095153808}),
    "ERR's top grade by option": (SEED_003, "err(max_grade=query)@6", {"catboost": None, "rest": 0.9220021565755209}),
    "nERR": (SEED_003, "nerr@6", {
        "sklearn lightgbm xgboost catboost torchmetrics tf-ranking": 0.9540257207328647,
        "ptranking": 0.988520978525232, "rest": 0.9094787173280626}),
    "compat": (
        ({"q": {"a": 3, "b": 2, "c": 1, "d": 0, "e": 1}},
         {"q": dict(zip("bzadyc", (6, 5, 4, 3, 2, 1.0), strict=True))}),
        "compat", {"rest": 0.4547663035513383}),
    "RR ties": (TIED, "mrr@10", {f"ir_measures {NOT_BY_ID}": 1.0, "rest": 1 / 3}),
    "RR ties without a cutoff": (TIED, "mrr", {NOT_BY_ID: 1.0, "rest": 1 / 3}),
    "nDCG ties": (labelled([0, 1], scores=[1.0, 1.0]), "ndcg", {
        "sklearn torchmetrics": 0.8154648767857287,
        "lightgbm xgboost ranx sentence-transformers catboost ndeval ptranking tf-ranking": 0.6309297535714575,
        "rest": 1.0}),
}  # fmt: skip


def expected(values):
    """{convention: value} from {several conventions: value}."""
    named = {name: value for names, value in values.items() for name in names.split()}
    return {row["name"]: named.get(row["name"], named.get("rest")) for row in TOOLS}


@pytest.mark.filterwarnings("ignore:all scores of")
@pytest.mark.parametrize("topic", TABLE)
@pytest.mark.parametrize("convention", [row["name"] for row in TOOLS])
def test_one_name_with_several_numbers(convention, topic):
    (qrels, run), metric, values = TABLE[topic]
    value = expected(values)[convention]
    if value is not None:
        assert fastir.evaluate(qrels, run, metric, convention=convention)[metric] == pytest.approx(
            value, rel=1e-14, abs=0, nan_ok=True
        )


@pytest.mark.parametrize("convention", CONVENTIONS)
@pytest.mark.parametrize("metric", ["alpha_dcg@1", "err_ia@1"])
def test_the_first_document_on_subtopics(convention, metric):
    """One that covers one of three."""
    value = fastir.evaluate(SUBTOPICS, {"q": {"a": 2.0, "b": 1.0}}, metric, convention=convention, ties="input")[metric]
    assert value == (1.0 if convention in ("ndeval", "ir_measures") else 1 / 3)


MISSING = {"q1": {"a": 1}, "q2": {"a": 1}}


@pytest.mark.parametrize("convention", sorted(CONVENTIONS.keys() - {"fastir"}))
def test_a_query_that_the_run_lacks(convention):
    """No warning where a convention says what to do; BEIR's MRR counts it where its nDCG does not, and Recommenders'
    nDCG where its MRR does not."""
    if convention == "ranx":
        with pytest.raises(fastir.NoOverlapError, match="strict"):
            fastir.evaluate(MISSING, {"q1": {"a": 1.0}}, "map", convention=convention)
        return
    results = fastir.evaluate(MISSING, {"q1": {"a": 1.0}}, ["ndcg", "mrr"], convention=convention)
    leaves = convention in (*TREC, "gdeval", "ndeval", "mteb", "mteb-2.17", "haystack-1")
    assert results["ndcg"] == (1.0 if leaves or convention in ("beir", "trulens") else 0.5)  # trulens: NaN
    assert results["mrr"] == (1.0 if leaves or convention == "recommenders" else 0.5)


ZEROS = ["precision@2", "recall", "mrr", "hit_rate@1", "ndcg@2", "map"]


def trulens(labels, scores, **options):
    """The values of ZEROS, as every road to them has them."""
    evaluator = fastir.Evaluator({"q": labels}, ZEROS, convention="trulens", **options)
    results = evaluator.evaluate({"q": scores})
    judged = evaluator.judged_rankings({"q": scores}).evaluate(ZEROS, convention="trulens", **options)
    others = evaluator.evaluate(fastir.Run.from_dict({"q": scores})), judged, evaluator.partial({"q": scores}).result()
    for other in others:
        np.testing.assert_array_equal(other.values, results.values)
    np.testing.assert_array_equal(list(evaluator.explain({"q": scores}, "q").values.values()), results.values[0])
    return list(results.values[0])


@pytest.mark.filterwarnings("ignore:no label reaches")
@pytest.mark.parametrize("high", [1, 0.5])
def test_a_label_of_0_is_relevant_to_trulens_but_has_no_gain(high):
    """As in TruLens 2.16; a metric that it lacks reads labels as elsewhere, and negative ones are no judgments."""
    labels, scores = {"a": 0, "b": high, "c": -1}, {"c": 3.0, "a": 2.0, "b": 1.0}
    found = trulens(labels, scores)
    assert found[:5] == [0.5, 1.0, 0.5, 0.0, 0.0] and found[5] == (1 / 3 if high == 1 else 0.0)
    only = trulens({"a": 0}, {"a": 1.0})
    assert only[:4] == [1.0, 1.0, 1.0, 1.0] and math.isnan(only[4])  # its ndcg has nothing to divide by


def test_a_level_of_the_caller_wins_over_that_of_trulens():
    labels, scores = {"a": 0, "b": 1, "c": 2}, {"a": 3.0, "b": 2.0, "c": 1.0}
    assert trulens(labels, scores, rel_level=2)[1:4] == [1.0, 1 / 3, 0.0]
    own = fastir.evaluate({"q": labels}, {"q": scores}, ["mrr-l1", "mrr(rel=2)", "mrr"], convention="trulens")
    assert list(own.values[0]) == [0.5, 1 / 3, 1.0]


def test_bounds_refuse_a_metric_to_which_every_judged_document_is_relevant():
    with pytest.raises(fastir.UnknownMetricError, match="every judged document is relevant"):
        fastir.bounds({"q": {"a": 0}}, {"q": {"a": 1.0, "b": 0.5}}, "recall", convention="trulens")


def test_an_empty_ranking_is_nan_in_trec_eval():
    qrels, run = {"q1": {"a": 1}, "q2": {"a": 1}}, {"q1": {"b": 1.0, "a": 0.5}, "q2": {}}
    results = fastir.evaluate(qrels, run, ["iprec@0", "iprec@0.5", "11pt_avg", "map"], convention="trec_eval-10")
    assert results.to_dict()["q2"] == pytest.approx(
        {"iprec@0": math.nan, "iprec@0.5": 0.0, "11pt_avg": math.nan, "map": 0.0}, nan_ok=True
    )
    assert math.isnan(results["11pt_avg"])


@pytest.mark.parametrize("convention", TREC)
def test_a_query_that_the_run_lacks_is_0_in_trec_eval(convention):
    """As its -c prints it, even where an empty ranking would be NaN; an option of the caller wins."""
    names = ["iprec@0", "11pt_avg", "map"]
    results = fastir.evaluate(MISSING, {"q1": {"a": 1.0}}, names, convention=convention, queries="qrels")
    assert results.to_dict()["q2"] == {"iprec@0": 0.0, "11pt_avg": 0.0, "map": 0.0}
    assert dict(results) == {"iprec@0": 0.5, "11pt_avg": 0.5, "map": 0.5}
    given = {"convention": convention, "queries": "qrels", "unranked": "nan"}
    assert math.isnan(fastir.evaluate(MISSING, {"q1": {"a": 1.0}}, "iprec@0", **given)["iprec@0"])


def test_scores_as_float32():
    qrels, run = {"q": {"a": 1}}, {"q": {"a": 1.0 + 1e-9, "b": 1.0}}
    for convention in CONVENTIONS:
        single = convention in (
            "trec_eval-9", "ir_measures", "xgboost", "beir", "mteb", "mteb-2.17", "pyserini", "ptranking",
            "tf-ranking",
        )  # fmt: skip
        tied = fastir.evaluate(qrels, run, "map", convention=convention).report.queries_with_ties
        assert tied == single


def test_every_field_is_an_option_and_every_option_a_field():
    """The defaults of the record are those of the cards, and of evaluate()."""
    params = {(p.name, p.default) for card in fastir.metrics() for p in card.params if p.is_convention}
    fields = {(field.name, field.default) for field in dataclasses.fields(Convention)}
    fields = {(name, default) for name, default in fields if name in Convention.choices()}
    rules = {("queries", "qrels"), ("ties", "trec"), ("score_dtype", "float64"), ("duplicates", None)}
    assert fields - params == {*rules, ("exclude", None), ("rel_level", 1)}
    assert params <= fields
    assert CONVENTIONS["fastir"] == Convention("fastir", "the default", "fastir", fastir.__version__)


def test_what_conventions_say_exists():
    cards = {card.name: card for card in fastir.metrics()}
    for convention in CONVENTIONS.values():
        fastir.evaluate(*EMPTY, "map", convention=convention, queries="qrels")
        for metric, choices in convention.of:
            params = {param.name for param in cards[metric.removesuffix("@k")].params}
            rules = {"queries", "ties", "score_dtype", "duplicates", "rel_level", "fractions", "refused"}
            assert {name for name, _ in choices} <= params | rules


def test_a_keyword_wins_over_the_convention_and_a_parameter_over_both():
    qrels, run = SEED_003
    names = ["ndcg@6", "ndcg(gain=linear)@6", "ndcg(ideal=judged)@6"]
    results = fastir.evaluate(qrels, run, names, convention="lightgbm", ideal="judged", gain="exp2")
    assert results["ndcg@6"] == results["ndcg(ideal=judged)@6"] == pytest.approx(0.7510833867922446, rel=1e-14)
    assert results["ndcg(gain=linear)@6"] == pytest.approx(0.785002371969948, rel=1e-14)
    assert fastir.evaluate(*TIED, "mrr@3", convention="ir_measures", ties="trec")["mrr@3"] == 1 / 3
    assert fastir.evaluate(*EMPTY, "recall@9", convention="catboost", empty="zero")["recall@9"] == HALF


@pytest.mark.parametrize(("typed", "name"), [
    ("pytrec_eval", "trec_eval-9"), ("scikit-learn", "sklearn"), ("haystack-ai", "haystack"),
    ("llama_index", "llamaindex"), ("haystack-2.7", "haystack-2"), ("haystack-3.0", "haystack-2"),
    ("haystack-1.20", "haystack-1"),
    ("haystack-3.4", "haystack"), ("haystack-3", "haystack"), ("mteb-2.26", "mteb"), ("mteb-2.18.18", "mteb-2.17"),
    ("mteb-2.18.19", "mteb"), ("trec_eval-9.0.8", "trec_eval-9"), ("ranx-0.3", "ranx"),
    ("trulens-2.13.1", "trulens-2.13"), ("fastir", "fastir"),
])  # fmt: skip
def test_a_tool_may_be_called_as_people_call_it_and_with_a_version(typed, name):
    assert fastir.evaluate(*EMPTY, "map", convention=typed, queries="qrels").convention.name == name


@pytest.mark.parametrize(("typed", "said"), [
    ("trec_eval", r"several versions: 'trec_eval-10' \(.*\), 'trec_eval-9' \(.*\); which one is meant"),
    ("trec_eval-11", r"no record: trec_eval 11, in Rust .*; recorded are 'trec_eval-10'"),
    ("haystack-0", r"version has no record; recorded are 'haystack' \(haystack-ai .*, since 3.1.0\), 'haystack-2'"),
    ("mteb-99", r"that version has no record"), ("elasticsearch-9", "no record"),
])  # fmt: skip
def test_a_version_without_a_record_is_an_error_that_names_those_there_are(typed, said):
    with pytest.raises(ValueError, match=said):
        fastir.evaluate(*EMPTY, "map", convention=typed)


def test_every_record_says_of_which_tool_and_version_it_is():
    for record in CONVENTIONS.values():
        assert record.tool and record.version
        assert record.source or record.name == "fastir"
    elastic = CONVENTIONS["elasticsearch"]
    assert "154362" in elastic.pending and elastic.ideal == "num_ret"  # announced, not followed
    assert CONVENTIONS["mteb-2.17"].span == "until 2.18.18" and CONVENTIONS["mteb"].span == "since 2.18.19"
    assert CONVENTIONS["haystack-2"].span == "2.3.0 to 3.0.0" and CONVENTIONS["ranx"].span == ""


def test_older_records_give_what_the_older_releases_gave():
    """Of ties by mteb 2.18.18 and 2.18.19 themselves, of one hit for two relevant documents by haystack-ai 3.0.0."""
    names = ["mrr@1", "relative_precision@1", "hole@1", "mrr@10"]
    found = [list(fastir.evaluate(*TIED, names, convention=name).values[0]) for name in ("mteb-2.17", "mteb")]
    assert found == [[1.0, 1.0, 0.0, 1.0], [0.0, 0.0, 1.0, 1 / 3]]
    half = {"q": {"a": 1, "b": 1}}, {"q": ["a"]}
    assert [fastir.evaluate(*half, "map", convention=name)["map"] for name in ("haystack-2", "haystack")] == [1.0, 0.5]


def test_an_unknown_convention_names_the_known():
    with pytest.raises(ValueError, match=r"convention must be one of 'fastir', .*'ndeval', .* got 'trec'"):
        fastir.Evaluator({"q": {"a": 1}}, "map", convention="trec")


LABELS = [[random.Random(seed).choice((0, 0, 1, 2, 3)) for _ in range(12)] for seed in range(60)]
SCORES = [[random.Random(-seed).choice((0.25, 0.5, 0.75, 1.0, 1.25)) for _ in range(12)] for seed in range(60)]


def lists(binary=False):
    """Qrels and run of lists of labels with many equal scores, and a list without a relevant document."""
    docs = [f"d{place:02}" for place in range(12)]
    labels = [[int(label > 1) if binary else label for label in row] for row in [*LABELS[1:], [0] * 12]]
    qrels = {str(q): dict(zip(docs, row, strict=True)) for q, row in enumerate(labels)}
    return labels, qrels, {str(q): dict(zip(docs, row, strict=True)) for q, row in enumerate(SCORES)}


def columns(metrics, convention, binary=False, **options):
    labels, qrels, run = lists(binary)
    return labels, fastir.evaluate(qrels, run, metrics, convention=convention, **options).values.T


@pytest.mark.filterwarnings("ignore:all scores of")
def test_pytrec_eval_itself():
    pytrec_eval = pytest.importorskip("pytrec_eval")
    _, qrels, run = lists()
    run["0"], run["1"] = {doc: 1.0 + place * 1e-9 for place, doc in enumerate(run["0"])}, {}
    names = {
        "map": "map", "ndcg_cut_5": "ndcg@5", "11pt_avg": "11pt_avg", "iprec_at_recall_0.30": "iprec@0.3",
        "recip_rank": "mrr", "bpref": "bpref", "P_5": "P@5",
    }  # fmt: skip
    theirs = pytrec_eval.RelevanceEvaluator(
        qrels, {"map", "ndcg_cut", "11pt_avg", "iprec_at_recall", "recip_rank", "P", "bpref"}
    ).evaluate(run)
    ours = fastir.evaluate(qrels, run, names.values(), convention="trec_eval-9").to_dict()
    for query, values in theirs.items():
        wanted = {metric: values[name] for name, metric in names.items()}
        assert ours[query] == pytest.approx(wanted, abs=1e-14, nan_ok=True)


@pytest.mark.parametrize("k", [None, 3])
def test_scikit_learn_itself(k):
    metrics = pytest.importorskip("sklearn.metrics")
    labels, (ndcg, dcg) = columns([f"{name}@{k}" if k else name for name in ("ndcg", "dcg")], "sklearn")
    pairs = list(zip(labels, SCORES, strict=True))
    assert ndcg.tolist() == pytest.approx([metrics.ndcg_score([y], [s], k=k) for y, s in pairs], abs=1e-14)
    assert dcg.tolist() == pytest.approx([metrics.dcg_score([y], [s], k=k) for y, s in pairs], abs=1e-14)


def test_lightgbm_itself():
    lightgbm = pytest.importorskip("lightgbm")
    import numpy as np

    _, ours = columns(["ndcg@3", "ndcg@20", "map@3"], "lightgbm")
    labels, *_ = lists()
    options = {"objective": "lambdarank", "metric": ["ndcg", "map"], "eval_at": [3, 20], "verbose": -1}
    for q, (row, scores) in enumerate(zip(labels, SCORES, strict=True)):
        data = lightgbm.Dataset(
            np.arange(12.0).reshape(-1, 1), row, group=[12], init_score=scores,
            params={"verbose": -1, "feature_pre_filter": False, "min_data_in_bin": 1},
        )  # fmt: skip
        booster = lightgbm.Booster(options, data)
        theirs = {name: value for _, name, value, _ in booster.eval_train()}
        assert [theirs["ndcg@3"], theirs["ndcg@20"], theirs["map@3"]] == pytest.approx(ours[:, q].tolist(), abs=1e-12)


def test_xgboost_itself():
    xgboost = pytest.importorskip("xgboost")
    import numpy as np

    for binary, names in ((False, ["ndcg@3", "ndcg"]), (True, ["map@3", "map", "pre@20"])):
        _, ours = columns([name.replace("pre", "precision") for name in names], "xgboost", binary)
        labels, *_ = lists(binary)
        for q, (row, scores) in enumerate(zip(labels, SCORES, strict=True)):
            data = xgboost.DMatrix(np.zeros((12, 1)), row, qid=[0] * 12, base_margin=scores)
            booster = xgboost.Booster({"objective": "rank:ndcg", "eval_metric": names}, [data])
            theirs = [float(part.rpartition(":")[2]) for part in booster.eval(data).split("\t")[1:]]
            assert theirs == pytest.approx(ours[:, q].tolist(), abs=1e-6)


def test_catboost_itself():
    utils = pytest.importorskip("catboost.utils")
    names = {
        "NDCG:top=3;type=Base": "ndcg@3", "NDCG:top=3;type=Exp": "ndcg_burges@3",
        "PrecisionAt:top=20": "precision@20", "RecallAt:top=3": "recall@3", "MAP:top=3": "map@3",
    }  # fmt: skip
    for binary, theirs in ((False, list(names)[:2]), (True, list(names))):
        labels, ours = columns([names[name] for name in theirs], "catboost", binary)
        for q, (row, scores) in enumerate(zip(labels, SCORES, strict=True)):
            if len(set(scores)) > 1:
                got = [utils.eval_metric(row, scores, name, group_id=[0] * 12)[0] for name in theirs]
                assert got == pytest.approx(ours[:, q].tolist(), abs=1e-12), (row, scores)


def test_ranx_itself():
    """With distinct scores: equal ones come in no certain order there."""
    ranx = pytest.importorskip("ranx")
    rng = random.Random(1)
    _, qrels, _ = lists()
    qrels = {query: {**docs, "neg": -1, "missed": 1} for query, docs in qrels.items()}
    run = {query: {doc: rng.random() for doc in rng.sample(sorted(docs), 8)} for query, docs in qrels.items()}
    names = ["map@3", "ndcg@5", "ndcg_burges", "rbp@95", "rbp.5", "bpref", "precision@20", "mrr", "f1@5", "recall@5"]
    theirs = ranx.evaluate(ranx.Qrels(qrels), ranx.Run(run), names, return_mean=True)
    ours = fastir.evaluate(qrels, run, names, convention="ranx")
    assert dict(ours) == pytest.approx(theirs, abs=1e-14)


@pytest.mark.filterwarnings("ignore::DeprecationWarning", "ignore::FutureWarning", "ignore::UserWarning")
def test_ir_measures_itself():
    ir_measures = pytest.importorskip("ir_measures")
    pytest.importorskip("cwl")
    _, qrels, run = lists()
    del run["3"]
    names = {
        "RR@5": "mrr@5", "RR": "mrr", "nDCG@5": "ndcg@5", "Judged@5": "judged@5", "RBP(rel=1)": "rbp",
        "AP": "map", "IPrec@0.3": "iprec@0.3", "Compat": "compat", "P@20": "P@20",
    }  # fmt: skip
    theirs = ir_measures.calc_aggregate(map(ir_measures.parse_measure, names), qrels, run)
    ours = fastir.evaluate(qrels, run, names.values(), convention="ir_measures")
    differences = {name: ours[names[str(name)]] - value for name, value in theirs.items() if str(name) in names}
    assert len(differences) == len(names)
    assert max(map(abs, differences.values())) < 1e-12, differences


EQUAL = [(card.name, *equal) for card in fastir.metrics() for equal in card.equals]
NEARLY = {"1": {"a": 1.0000000002, "b": 1.0000000001}, "2": {"b": 2.0, "a": 2.0}}  # equal as float32; equal


def test_scores_of_exponential_gains_are_float64_under_ir_measures_however_they_are_asked_for():
    """gdeval's."""
    qrels, run = {"1": {"a": 1, "b": 0}}, {"1": NEARLY["1"]}
    for name in ("nDCG(dcg='exp-log2')@5", "ndcg_burges@5", "ndcg(gain=exp2)@5", "nDCG(gains=exp2)@5"):
        assert fastir.evaluate(qrels, run, name, convention="ir_measures")[name] == 1.0
    assert fastir.evaluate(qrels, run, "ndcg@5", convention="ir_measures", gain="exp2")["ndcg@5"] == 1.0
    assert fastir.evaluate(qrels, run, "ndcg@5", convention="ir_measures")["ndcg@5"] == 1 / math.log2(3)


@pytest.mark.filterwarnings("ignore:all scores of")
@pytest.mark.parametrize("convention", CONVENTIONS)
@pytest.mark.parametrize("metric, param, value, name", EQUAL)
def test_a_metric_that_is_another_one_has_its_choices(convention, metric, param, value, name):
    qrels = {"1": {"a": 3, "b": 0, "c": 1}, "2": {"a": 2, "b": 1}, "3": {"a": 0}}
    run = {**NEARLY, "3": {"a": 1.0}}
    for extra in ("@1", "@5", ""):
        spellings = [f"{metric}({param}={value}){extra}", f"{name}{extra}"]
        settings = [fastir.Evaluator(qrels, each, convention=convention).rules.settings for each in spellings]
        rules = [[rules for _, rules, _ in setting.parts] or setting.ties for setting in settings]
        assert rules[0] == rules[1]
        found = fastir.evaluate(qrels, run, spellings, convention=convention)
        np.testing.assert_array_equal(found.values[:, 0], found.values[:, 1])


def test_equal_metrics_are_metrics_with_no_other_parameters():
    cards = {card.name: card for card in fastir.metrics()}
    assert {name for *_, name in EQUAL} == {"ndcg_burges", "dcg_burges", "f_beta"}
    for metric, param, value, name in EQUAL:
        [own] = [known for known in cards[metric].params if known.name == param]
        assert value in own.choices
        assert {known.name for known in cards[name].params} <= {known.name for known in cards[metric].params} | {"beta"}


def test_hole_under_beir_is_of_all_queries_with_ties_as_they_came():
    qrels, run = {"q": {"a": 1}, "p": {"a": 1}}, {"q": {"a": 1.0, "z": 1.0}}
    found = fastir.evaluate(qrels, run, ["hole@1", "Hole@2", "mrr@10"], convention="beir")
    assert dict(found.items()) == {"hole@1": 0.0, "Hole@2": 0.25, "mrr@10": 0.5}


def test_every_metric_that_beir_adds_is_counted_as_beir_counts():
    evaluation = pytest.importorskip("beir.retrieval.evaluation")
    rng = random.Random(8)
    qrels = {f"q{i}": {f"d{j}": rng.choice((0, 1, 1, 2)) for j in range(6)} | {"d9": 1} for i in range(9)}
    run = {f"q{i}": {f"d{j}": rng.choice((0.0, 0.5, 1.0)) for j in rng.sample(range(30), 12)} for i in range(6)}
    evaluator = evaluation.EvaluateRetrieval()
    for asked, name in (("mrr", "mrr"), ("r_cap", "R_cap"), ("hole", "hole"), ("acc", "hit_rate")):
        for theirs, value in evaluator.evaluate_custom(qrels, run, [1, 3, 10], asked).items():
            ours = f"{name}@{theirs.partition('@')[2]}"
            assert round(fastir.evaluate(qrels, run, ours, convention="beir")[ours], 5) == value, theirs


@pytest.mark.filterwarnings("ignore::fastir.FastirWarning")
def test_a_convention_says_what_becomes_of_copies():
    retrieved, relevant = [["b", "b", "a"]], [["a"]]
    metrics = ["map", "recall@2", "precision"]
    found = fastir.evaluate_lists(retrieved, relevant, metrics, convention="llamaindex")
    assert dict(found) == {"map": 1 / 3, "recall@2": 1.0, "precision": 1 / 2}
    assert found.convention.duplicates == "once"
    given = fastir.evaluate_lists(retrieved, relevant, metrics, convention="llamaindex", duplicates="first")
    assert dict(given) == {"map": 1 / 2, "recall@2": 1.0, "precision": 1 / 2}
    with pytest.raises(fastir.DuplicateError):
        fastir.evaluate_lists(retrieved, relevant, metrics, convention="sklearn")


@pytest.mark.filterwarnings("ignore::fastir.FastirWarning")
def test_copies_in_tables_and_files_are_those_of_the_convention(tmp_path):
    path = tmp_path / "run"
    path.write_text("q Q0 b 1 3 t\nq Q0 b 2 2 t\nq Q0 a 3 1 t\n")
    rows = {"query_id": ["q"] * 3, "doc_id": ["b", "b", "a"], "score": [3.0, 2.0, 1.0]}
    for run in (path, rows, {"q": ["b", "b", "a"]}):
        for metrics in (["map"], ["map", "recall@2"]):
            found = fastir.evaluate({"q": {"a": 1}}, run, metrics, convention="llamaindex")
            assert dict(found) == dict(zip(metrics, (1 / 3, 1.0), strict=False))


def test_the_module_of_conventions_shows_them():
    for shown in (repr(fastir.conventions), fastir.conventions._repr_html_()):
        assert all(name in shown for name in CONVENTIONS)
