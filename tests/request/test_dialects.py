"""Every tool's way to ask for a metric: what is read, what its value is called, and that it is read back the same."""

import gzip
import itertools
import re

import pytest
from common import ABSENT, SHARED

import fastir
from fastir.request import names
from fastir.request.plan import parse_requests

QRELS = {"q": {"a": 2, "b": 1, "c": 0, "d": 3}, "p": {"a": 0}}
RUN = {"q": {"b": 4.0, "x": 3.0, "a": 2.0, "c": 1.0}, "p": {"a": 1.0}}
CUTOFFS = (5, 10, 15, 20, 30, 100, 200, 500, 1000)


def meaning(request):
    return request.card.name, request.cutoff, request.level, request.params


def spelled(text, dialect="fastir"):
    """fastir's own spelling of what a name stands for."""
    return [str(request) for request in names.read(text, dialect)]


def message(text):
    with pytest.raises(fastir.UnknownMetricError) as caught:
        names.read(text)
    return str(caught.value)


# ---- every spelling of every card ------------------------------------------------------------------------------
def values_of(param):
    """Texts for a parameter: every word, a number, gains."""
    numbers = [] if param.low is None else ["1" if param.integer else "0.25"]
    gains = ["{1:3, 2:9.5}"] if param.mapping else []
    if param.many:
        return ["{0.25}", "{1, 0.5,0}"]
    return [*param.choices, *(word for word, _ in param.synonyms), *numbers, *gains]


def spellings_of(card):
    """All the ways to write a metric."""
    if card.family:
        yield from (card.family, f"{card.family}.1", f"{card.family}.1,0.5" if card.at else f"{card.family}.7,3")
        yield from (f"{card.family}_{value:.2f}" if card.at else f"{card.family}_{value}" for value in card.members)
    if card.positional:
        yield f"{card.name}.{','.join('1' for _ in range(card.positional))}"
        yield f"{card.name}_{','.join('0.5' for _ in range(card.positional))}"
    yield f"{card.name}(judged_only=True)"
    if any(param.mapping for param in card.params):
        yield from (f"{name}.1=3,2=9.5" for name in (card.name, *card.aliases))
        yield f"{card.name}_1=3,-1=2"
    for name in (card.name, *card.aliases, *([card.family] if card.family else [])):
        yield from (name, name.upper(), f"{name}-l2")
        if card.cutoff:
            yield from (f"{name}@3", f"{name}@3-l2", f"{name}_at_3", f"{name}(cutoff=3)")
        if card.at:
            yield from (f"{name}@0.25", f"{name}@1e-05-l2")
        if card.dot:
            yield f"{name}.95"
        if not card.graded:
            yield f"{name}(rel=2)"
        for param in card.params:
            for key, value in itertools.product((param.name, *param.aliases), values_of(param)):
                yield from (f"{name}({key}={value})", f"{name}( {key.upper()} = '{value}' )")
        if any(param.name == "empty" for param in card.params):
            yield from (f"{name}-", f"{name}@3-" if card.cutoff else f"{name}-")


@pytest.mark.parametrize("card", fastir.metrics(), ids=lambda card: card.name)
def test_every_spelling_is_read_printed_and_read_again(card):
    spellings = list(spellings_of(card))
    assert len(spellings) >= 3
    for text in spellings:
        for request in names.read(text):
            wanted = {card.name, names.METRICS_BY_PARAMETER.get("rel", ())[1]} if "(rel=" in text else {card.name}
            assert request.card.name in wanted
            for again in (str(request), request.text):
                assert [meaning(each) for each in names.read(again)] == [meaning(request)], again
            assert str(names.read(str(request))[0]) == str(request)


@pytest.mark.parametrize("card", fastir.metrics(), ids=lambda card: card.name)
def test_every_name_is_the_metric_in_its_own_dialect(card):
    for dialect, name in card.only_in:
        assert spelled(name, dialect) == [card.name]
    assert not card.family or spelled(card.family, "trec_eval") == [
        str(request) for value in card.members for request in names.read(f"{card.name}@{value}")
    ]


# ---- each dialect ----------------------------------------------------------------------------------------------
@pytest.mark.parametrize(("text", "ours"), [
    ("precision@5", "precision@5"), ("rbp.95", "rbp(p=0.95)"), ("map-l2", "map-l2"),
    ("r-precision", "r_precision"), ("P_5", "precision@5"), ("ndcg_cut_10", "ndcg@10"),
    ("map_cut_7", "map@7"), ("set_P", "precision"), ("set_F.2", "set_f(x=2)"), ("set_F_0.5", "set_f(x=0.5)"),
    ("11pt_avg_.8,0.2,.5", "iprec_avg(points={0.2, 0.5, 0.8})"),
    ("11pt_avg.0.25", "iprec_avg(points={0.25})"),
    ("P(rel=2, judged_only=True)@5", "precision(judged_only=true)@5-l2"), ("Hole@10", "hole@10"),
    ("iprec_at_recall_0.10", "iprec@0.1"), ("Rprec_mult_1.20", "r_precision_mult@1.2"),
    ("utility.1,-1,0,0", "utility(p1=1, p2=-1, p3=0, p4=0)"),
    ("ndcg_1=3,2=9,4=4.5", "ndcg(gain={1:3, 2:9, 4:4.5})"), ("rbp_p=0.5", "rbp(p=0.5)"),
    ("rbp.p=0.5,1=2", "rbp(p=0.5, gains={1:2})"), ("nDCG@10", "ndcg@10"), ("AP(rel=2)@100", "map@100-l2"),
    ("nDCG(dcg='exp-log2')@10", "ndcg(gain=exp2)@10"), ("nDCG(dcg='log2')@10", "ndcg(gain=linear)@10"),
    ("nDCG(gains={0:1,2:5})", "ndcg(gain={0:1, 2:5})"), ("RBP(p=0.8,rel=1)", "rbp(p=0.8)-l1"),
    ("alpha_nDCG(alpha=0.2)@20", "alpha_ndcg(alpha=0.2)@20"),
    ("α_nDCG(α=0.2)@20", "alpha_ndcg(alpha=0.2)@20"), ("NumRet(rel=2)", "num_rel_ret-l2"),
    ("NumRet", "num_ret"), ("SetP(relative=True)", "relative_precision"),
    ("SetP(relative=False,rel=2)", "precision-l2"), ("SetF(beta=0.5)", "set_f(x=0.5)"),
    ("IPrec(rel=2)@0.1", "iprec@0.1-l2"), ("P(cutoff=5)", "precision@5"),
    ("Compat(normalize=False)", "compat(normalize=false)"), ("NDCG@10", "ndcg@10"),
    ("R_cap@10", "relative_precision@10"), ("Recall@100", "recall@100"), ("ndcg_at_10", "ndcg@10"),
    ("hit_rate_at_5", "hit_rate@5"), ("ndcg@10-", "ndcg(empty=zero)@10"), ("map-", "map(empty=zero)"),
    ("pre@5", "precision@5"), ("alpha-nDCG@5", "alpha_ndcg@5"),
])  # fmt: skip
def test_one_metric(text, ours):
    assert spelled(text) == [ours]
    if "alpha" not in ours:
        results = fastir.evaluate(QRELS, RUN, dict.fromkeys([text, ours]))
        assert results.names == list(dict.fromkeys([text, ours]))
        assert results[text] == results[ours]


@pytest.mark.parametrize(("text", "members"), [
    ("P.10,5", ["P_5", "P_10"]), ("P.5", ["P_5"]), ("ndcg_cut.5,10", ["ndcg_cut_5", "ndcg_cut_10"]),
    ("ndcg_cut_5,10", ["ndcg_cut_5", "ndcg_cut_10"]), ("unj", ["unj_5", "unj_10", "unj_20"]),
    ("UNJ", ["unj_5", "unj_10", "unj_20"]), ("map_cut", [f"map_cut_{k}" for k in CUTOFFS]),
    ("iprec_at_recall.0.1,.25,0.125", ["iprec_at_recall_0.10", "iprec_at_recall_0.125", "iprec_at_recall_0.25"]),
    ("Rprec_mult", [f"Rprec_mult_{i / 5:.2f}" for i in range(1, 11)]),
])  # fmt: skip
def test_a_family_stands_for_its_members(text, members):
    results = fastir.evaluate(QRELS, RUN, text)
    assert results.names == members
    assert dict(results) == dict(fastir.evaluate(QRELS, RUN, members))


def test_a_metric_asked_for_twice_has_one_value():
    assert fastir.evaluate(QRELS, RUN, ["P.5", "P_5", "P.5,10", "P@5"]).names == ["P_5", "P_10", "P@5"]


def test_families_with_groups_of_judges():
    by_judge = {"q": {"x": {"a": 1, "b": 0}, "y": {"b": 1}}}
    multiples = [f"Rprec_mult_avgjg_{i / 5:.2f}" for i in range(1, 11)]
    names_of = fastir.evaluate(by_judge, {"q": RUN["q"]}, "qrels_jg").names
    assert names_of == ["map_avgjg", *(f"P_avgjg_{k}" for k in CUTOFFS), *multiples]
    assert fastir.evaluate(by_judge, {"q": RUN["q"]}, "P_avgjg.2")["P_avgjg_2"] == 0.25


def test_a_name_means_what_the_dialect_in_force_says():
    assert spelled("P") == ["precision"] and spelled("P", "trec_eval") == [f"precision@{k}" for k in CUTOFFS]
    assert spelled("recall@5", "trec_eval") == ["recall@5"]
    assert spelled("success", "trec_eval") == ["hit_rate@1", "hit_rate@5", "hit_rate@10"]
    assert spelled("rbp@95") == ["rbp@95"] and spelled("rbp@95-l2", "ranx") == ["rbp(p=0.95)-l2"]
    assert spelled("Accuracy@10", "beir") == spelled("accuracy@10", "sentence-transformers") == ["hit_rate@10"]
    assert spelled("Accuracy@10", "ir_measures") == ["pair_accuracy@10"]
    assert [request.text for request in parse_requests(["P", "map"], "trec_eval")] == [
        *(f"P_{k}" for k in CUTOFFS),
        "map",
    ]


def test_what_tools_mean_differently_and_fastir_does_not_know_is_an_error():
    text = message("Accuracy@10")
    assert "'pair_accuracy@10' to ir_measures" in text and "'hit_rate@10' to beir" in text


@pytest.mark.parametrize("bad", [
    "P.", "P_", "P.5,", "P.,5", "P.5,x", "P.0", "P_5.5", "P_-5", "P.5 ,10", "P_1e3x", "recall.nan", "ndcg_10",
    "map_5", "ndcg.10", "utility.1,2", "set_F.1,2", "set_F_", "utility.1,2,3,4,5", "utility.1,p2=3", "map.1=2",
    "ndcg.1=x", "ndcg_cut.5@3", "P_5@3", "P_5-l2", "iprec_at_recall_1.5", "nDCG(rel=2)@5", "AP(rel=2)-l3",
    "AP(rel=0)", "P(cutoff=5)@5", "SetAP(relative=True)", "ndcg_at_", "ndcg_at_0", "ndcg_at_5_at_3", "at_5",
    "iprec_at_5", "ndcg@-", "ndcg@10--", "num_q-", "official-", "official.5", "all_trec@5", "P.5,10-",
    "ndcg(empty=skip)@5-", "11pt_avg.0.1,2", "P.²", "ndcg@²", "map-l²", "P_" + "9" * 400,
])  # fmt: skip
def test_what_no_dialect_writes(bad):
    text = message(bad)
    assert "\n" not in text and len(text) < 500
    for name in re.findall("'(.*?)'", text.partition("did you mean ")[2]):
        assert names.read(name)


@pytest.mark.parametrize(("name", "card"), [
    ("map@R", "map_r"), ("AP@r", "map_r"), ("map_at_R", "map_r"), ("P@R", "r_precision"),
    ("recall@R-l2", "r_precision"),
])  # fmt: skip
def test_a_cutoff_may_be_the_number_of_relevant_documents(name, card):
    [request] = names.read(name)
    assert (request.text, request.card.name, request.cutoff) == (name, card, None)
    assert "the cutoff k must be an integer" in message("ndcg@R")


@pytest.mark.parametrize("name", ["relstring", "relstring_20", "runid"])
def test_what_only_trec_eval_has(name):
    assert message(name) == f"metric {name!r} is not supported; trec_eval has it"


# ---- the tools themselves --------------------------------------------------------------------------------------
def test_a_nickname_has_the_values_that_trec_eval_prints():
    """In its order, but for what is no number."""
    if not SHARED.is_dir():
        pytest.skip(ABSENT)
    folder = SHARED / "data" / "cast21" / "expected"
    with gzip.open(folder / "org_manual_bm25.te10.q_all_trec.txt.gz", "rt", encoding="utf-8") as file:
        rows = [line.split("\t") for line in file]
    printed = [name.rstrip() for name, query, _ in rows if query == "all"]
    assert [request.text for request in names.read("all_trec")] == [name for name in printed if name != "runid"]
    official = (SHARED / "data" / "trec_eval_test" / "out.test").read_text("utf-8")
    printed = [line.split("\t")[0].rstrip() for line in official.splitlines() if "\tall\t" in line]
    assert [request.text for request in names.read("official")] == [name for name in printed if name != "runid"]


def test_every_measure_of_pytrec_eval_is_called_as_there():
    pytrec_eval = pytest.importorskip("pytrec_eval")
    measures = pytrec_eval.supported_measures - {"runid", "relstring"}
    theirs = pytrec_eval.RelevanceEvaluator(QRELS, measures).evaluate(RUN)["q"]
    assert {request.text for name in measures for request in names.read(name, "trec_eval")} == set(theirs)
    lists = {"P.5,10", "ndcg_cut_3,7", "iprec_at_recall.0.1,0.25", "success.2", "map_cut.1"}
    theirs = pytrec_eval.RelevanceEvaluator(QRELS, lists).evaluate(RUN)["q"]
    assert {request.text for name in lists for request in names.read(name)} == {*theirs}


VALUES = {"rel": "2", "dcg": "'log2'", "gains": "{0:1}", "normalize": "False", "relative": "True"}
VALUES |= {"T": "2", "p": "0.7", "alpha": "0.3", "beta": "0.3", "min_rel": "0", "max_rel": "3"}


def test_every_measure_of_ir_measures_is_read():
    """Of the parameters, judged_only is an option here, and SDCG's dcg has but one value."""
    registry = pytest.importorskip("ir_measures").measures.registry
    for name, measure in registry.items():
        params = list(measure.SUPPORTED_PARAMS)
        at = {"cutoff": "@3", "recall": "@0.5"}[measure.AT_PARAM] if measure.AT_PARAM in params else ""
        assert len(names.read(f"{name}{at}", "ir_measures")) == 1
        for param in set(params) & set(VALUES) - ({"dcg"} if name == "SDCG" else set()):
            assert len(names.read(f"{name}({param}={VALUES[param]}){at}", "ir_measures")) == 1
