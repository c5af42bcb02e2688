"""The oracle against numbers worked out by hand, then fastir against the oracle.

Every metric of the registry, with its parameters, at several cut-offs, over random collections, whichever way
the same ranking comes in: dicts, files, labels in rank order.
"""

import itertools
import math
import random

import gen
import oracle
import pytest
from common import UNEVEN
from oracle import Request
from oracle_requests import PARAMS, REQUESTS, TRIED, parameters, tried

import fastir

pytestmark = UNEVEN

# ---- the oracle against hand-worked numbers --------------------------------------------------------------------
RANKED, JUDGED = [1, 0, 2, -1], [0, 1, 2, 3]  # 3 is relevant and was not retrieved


@pytest.mark.parametrize(("metric", "by_hand"), [
    (Request("num_q"), 1), (Request("num_ret"), 4), (Request("num_rel"), 3), (Request("num_rel_ret"), 2),
    (Request("num_nonrel_judged_ret"), 1), (Request("hits", 2), 1), (Request("hit_rate", 1), 1),
    (Request("hit_rate", 1, 2), 0), (Request("precision"), 2 / 4), (Request("precision", 10), 2 / 10),
    (Request("recall", 2), 1 / 3), (Request("f1", 2), 2 * (1 / 2) * (1 / 3) / (1 / 2 + 1 / 3)),
    (Request("r_precision"), 2 / 3), (Request("map_r"), (1 + 2 / 3) / 3), (Request("mrr"), 1),
    (Request("mrr", 2, 2), 0), (Request("auc"), 3 / 4), (Request("mean_rank"), (1 + 3) / 2),
    (Request("recall_all"), 0), (Request("recall_all", 3, 3), 0), (Request("first_rel"), 1),
    (Request("first_rel", None, 2), 3), (Request("first_rel", None, 3, {"no_hit": "zero"}), 0),
    (Request("last_rel"), 3), (Request("median_rank"), (1 + 3) / 2), (Request("gmean_rank"), math.sqrt(1 * 3)),
    (Request("hmean_rank"), 2 / (1 + 1 / 3)), (Request("amr"), 2 / 2.5), (Request("amri"), 1 - 1 / 1.5),
    (Request("wss", None, None, {"target": 0.5, "n_docs": 10}), (10 - 3) / 10 - 0.5),
    (Request("wss", None, None, {"target": 0.5, "n_docs": "judged"}), (4 - 3) / 4 - 0.5),
    (Request("wss", None, None, {"target": 0.4, "n_docs": 10, "wanted": "nearest"}), (10 - 1) / 10 - 0.6),
    (Request("wss", None, None, {"n_docs": 10}), -(1 - 0.95)),
    (Request("ncg_share", None, None, {"share": 0.2, "n_docs": 10}), 1 / 3),
    (Request("hit_rate_share", None, None, {"share": 0.05, "n_docs": 10}), 0),
    (Request("hit_rate_share", None, None, {"share": 0.1, "n_docs": 10}), 1),
    (Request("limited_auc", 2, None, {"n_docs": 10}), (0 + 1 + 6 * (1 + 3) / 2) / (3 * 7)),
    (Request("loss_er", 2, None, {"n_docs": 1000}), (2 / 3) ** 2 + (100 / 1000 * 2 / 103) ** 2),
    (Request("fallout", None, None, {"n_docs": 103}), 2 / 100), (Request("arp"), (1 * 1 + 2 * 3) / 3),
    (Request("label_ranking_loss"), 1 / 4), (Request("pfound"), 1 / 4 + 3 / 4 * 0.85**2 * 2 / 4),
    (Request("q_measure"), ((1 + 1) / (1 + 3) + (2 + 3) / (3 + 6)) / 3), (Request("mrr", None, 2), 1 / 3),
    (Request("map"), (1 + 2 / 3) / 3), (Request("map", 2), 1 / 3),
    (Request("map", 2, None, {"ap_norm": "min_kR"}), 1 / 2), (Request("bpref"), (1 + (1 - 1 / 1)) / 3),
    (Request("bpref", None, 2), (1 - 2 / 2) / 2), (Request("rbp"), 0.2 * (1 + 0.8**2)),
    (Request("rbp", 1, None, {"p": 0.5}), 0.5),
    (Request("rbp", None, None, {"p": 0.5, "gains": "raw"}), 0.5 * (1 + 2 * 0.25)),
    (Request("rbp", None, None, {"p": 0.5, "gains": "scaled"}), 0.5 * (1 + 2 * 0.25) / 3), (Request("cg"), 3),
    (Request("cg", None, 2), 2), (Request("ncg"), 3 / 6), (Request("ncg", 2), 1 / 5), (Request("dcg"), 1 + 2 / 2),
    (Request("dcg", None, None, {"discount": "jk2"}), 1 + 2 / math.log2(3)), (Request("dcg_burges"), 1 + 3 / 2),
    (Request("ndcg", 1), 1 / 3), (Request("ndcg", 3), 2 / (3 + 2 / math.log2(3) + 1 / 2)),
    (Request("ndcg", None, None, {"ideal": "retrieved"}), 2 / (2 + 1 / math.log2(3))),
    (Request("ndcg", 1, None, {"ideal": "uncut"}), 1 / (3 + 2 / math.log2(3) + 1 / 2)),
    (Request("ndcg", 9, None, {"ideal": "num_ret"}), 2 / (3 + 2 / math.log2(3) + 1 / 2)),
    (Request("ndcg_burges", 1), 1 / 7), (Request("err"), 1 / 16 + 15 / 16 * 3 / 16 / 3),
    (Request("err", 2), 1 / 16), (Request("err", None, None, {"max_grade": "query"}), 1 / 8 + 7 / 8 * 3 / 8 / 3),
    (Request("irbu", None, None, {"p": 0.5}), 1 / 16 / 2 + 15 / 16 * 3 / 16 / 8),
    (Request("rbu", 2, None, {"p": 0.5}), 1 / 16 / 2 - 0.03 * (1 / 2 + 1 / 4)), (Request("nerr", 1), 1 / 7),
    (Request("tbg", None, None, {"h": 1}), (1 + 1 / 4) / 2),
    (Request("nerr", 1, None, {"ideal": "retrieved"}), 1 / 3),
], ids=str)  # fmt: skip
def test_oracle_by_hand(metric, by_hand):
    assert math.isclose(metric.value(RANKED, JUDGED), by_hand, rel_tol=1e-15)


def test_all_relevant_documents_are_found_or_not():
    """LongMemEval's pair: any of them, all of them; nothing relevant is not all of it."""
    qrels, run = {"q": {"a": 1, "b": 1}, "p": {"a": 0}}, {"q": {"a": 3.0, "c": 2.0, "b": 1.0}, "p": {"a": 1.0}}
    names = ["recall_any@1", "recall_all@2", "full_recall@3", "recall_all(empty=one)@3"]
    found = fastir.evaluate(qrels, run, names).to_dict()
    assert list(found["q"].values()) == [1, 0, 1, 1]
    assert list(found["p"].values()) == [0, 0, 0, 1]


def test_an_ideal_ranking_that_is_no_longer_than_the_list():
    """Two documents are retrieved, so that the third does not count against them; nothing is nothing's ideal."""
    qrels, run = {"q": {"a": 2, "b": 1, "c": 3}, "p": {"a": 1}}, {"q": {"b": 2.0, "a": 1.0}, "p": {}}
    found = fastir.evaluate(qrels, run, ["ndcg@9", "ndcg", "nerr"], ideal="num_ret", queries="qrels").to_dict()
    wanted = (1 + 2 / math.log2(3)) / (3 + 2 / math.log2(3))
    assert found["q"]["ndcg@9"] == found["q"]["ndcg"] == wanted
    assert found["q"]["nerr"] == (1 / 16 + 15 / 16 * 3 / 32) / (7 / 16 + 9 / 16 * 3 / 32)
    assert set(found["p"].values()) == {0.0}


def test_an_empty_ranking_that_leaves_the_mean():
    qrels, run = {"q": {"a": 1}, "p": {"a": 1}, "o": {"a": 0}}, {"q": {"b": 2.0, "a": 1.0}, "p": {}, "o": {"a": 1.0}}
    found = fastir.evaluate(qrels, run, ["precision", "ndcg(empty_ranking=skip)", "recall"], empty_ranking="skip")
    assert dict(found) == {"precision": 0.25, "ndcg(empty_ranking=skip)": 1 / math.log2(3) / 2, "recall": 1 / 3}
    assert math.isnan(found.per_query("precision")["p"])


def test_oracle_ranking():
    scores = {"d9": 1.0, "é": 1.0, "d10": 1.0, "z": 1.0, "D9": 1.0, "low": 0.0, "high": 1.0 + 1e-12}
    assert oracle.ranking(scores) == ["high", "é", "z", "d9", "d10", "D9", "low"]
    assert oracle.ranking(scores, "doc_id_asc") == ["high", "D9", "d10", "d9", "z", "é", "low"]
    assert oracle.ranking(scores, "input") == ["high", "d9", "é", "d10", "z", "D9", "low"]
    assert oracle.ranking(scores, "trec", "float32") == ["é", "z", "high", "d9", "d10", "D9", "low"]


def test_oracle_codes():
    judgments = {"a": -1, "b": 2, "c": -2, "d": 0, "e": 1}
    assert oracle.codes(judgments, "abczde") == [-2, 2, -2, -1, 0, 1]
    assert oracle.codes(judgments, "abczde", max_depth=3, judged_only=True) == [2]


def test_oracle_spelling():
    assert str(Request("map")) == "map"
    request = Request("ndcg", 10, 2, {"gain": "exp2", "ideal": "retrieved"})
    assert str(request) == "ndcg(gain=exp2, ideal=retrieved)@10-l2"


# ---- fastir against the oracle ---------------------------------------------------------------------------------
# Textbooks do not count steps: these are not tried on deep rankings.
SLOW = {"ndcg_rel", "r_ndcg", "g", "inf_ap", "pair_accuracy", "auc", "compat", "alpha_ndcg", "nerr_ia", "nrbp", "nnrbp"}
DEEP = [one for one in REQUESTS if one.name not in SLOW and not one.name.startswith("prefs_") and not one.params]


def some(seed):
    """An eighth of the requests, by the seed."""
    return REQUESTS[seed % 8 :: 8]


OPTIONS = [
    {}, {"rel_level": 2}, {"rel_level": 3, "ties": "doc_id_asc"}, {"max_depth": 5},
    {"judged_only": True, "ties": "input"}, {"max_depth": 7, "judged_only": True, "score_dtype": "float32"},
    {"score_dtype": "float32"}, {"queries": "intersection", "ties": "input"},
]  # fmt: skip


def assert_close(results, expected):
    """Every value within 1e-12 of the oracle's, NaN only where the oracle has it."""
    assert results.query_ids == list(expected)
    wrong = [
        (query, name, got, want)
        for query, row, wanted in zip(expected, results.values.tolist(), expected.values(), strict=True)
        for name, got, want in zip(results.names, row, wanted, strict=True)
        if not (math.isclose(got, want, rel_tol=1e-12, abs_tol=1e-15) or (math.isnan(got) and math.isnan(want)))
    ]
    assert not wrong, f"{len(wrong)} values differ, first {wrong[:5]}"


def test_oracle_knows_every_metric():
    """Those of a sample have a twin in test_samples."""
    assert {card.name for card in fastir.metrics() if not card.sampled} == set(oracle.METRICS)


def test_every_parameter_has_more_values_than_one():
    assert TRIED.keys() <= PARAMS.keys()
    assert [name for name, values in PARAMS.items() if len(set(map(str, values))) < 2] == ["min_rel"]


@pytest.mark.parametrize("seed", range(48))
def test_dicts(seed):
    qrels, run = gen.collection(seed)
    options = OPTIONS[seed % len(OPTIONS)]
    requests = some(seed // len(OPTIONS))
    results = fastir.evaluate(qrels, run, map(str, requests), **{"queries": "qrels", **options})
    assert_close(results, oracle.evaluate(qrels, run, requests, **options))


@pytest.mark.parametrize("seed", range(8))
def test_judged_for_any_query(seed, tmp_path):
    """hole@k, with BEIR's definition; a metric of each query's own judgments beside it."""
    qrels, run = gen.collection(seed)
    anywhere = {doc for judged in qrels.values() for doc in judged}
    cuts = (1, 3, 10, 100)
    expected = {}
    for query, judged in qrels.items():
        ranked = oracle.ranking(run.get(query, {}))
        x = [0 if doc in anywhere else -1 for doc in ranked]
        expected[query] = [
            *(Request("hole", k).value(x, []) for k in cuts),
            Request("hole").value(x, []),
            Request("map").value(oracle.codes(judged, ranked), judged.values()),
        ]
    names = [*(f"Hole@{k}" for k in cuts), "hole", "map"]
    path = gen.write_run(tmp_path / "run.txt", run)
    for each in (run, fastir.Run.from_dict(run), path):
        results = fastir.evaluate(qrels, each, names, queries="qrels")
        assert_close(results, expected)
        assert results.status == fastir.evaluate(qrels, each, "map", queries="qrels").status
    assert_close(
        fastir.evaluate(qrels, run, "hole@3", queries="qrels", empty="skip", ties="average", judged_only=True),
        {query: [0.0] for query in expected},
    )


@pytest.mark.parametrize("seed", range(100, 124))
def test_files(seed, tmp_path):
    qrels, run = gen.collection(seed)
    options = {"queries": "qrels", **OPTIONS[seed % len(OPTIONS)]}
    # an empty ranking has no line in a file: there the query is missing
    run = {query: docs for query, docs in run.items() if docs}
    requests = some(seed // len(OPTIONS))
    qrels_path, run_path = gen.write_qrels(tmp_path / "qrels.txt", qrels), gen.write_run(tmp_path / "run.txt", run)
    results = fastir.evaluate(qrels_path, run_path, map(str, requests), **options)
    assert_close(results, oracle.evaluate(qrels, run, requests, **options))


@pytest.mark.parametrize("seed", range(200, 224))
def test_labels_in_rank_order(seed):
    qrels, run = gen.collection(seed)
    options = OPTIONS[seed % len(OPTIONS)]
    options = {key: options[key] for key in ("rel_level", "max_depth", "judged_only") if key in options}
    ranked = [oracle.codes(judged, oracle.ranking(run.get(query, {}))) for query, judged in qrels.items()]
    judged = [list(judgments.values()) for judgments in qrels.values()]
    requests = some(seed // len(OPTIONS))
    results = fastir.evaluate_ranked(
        *flat(ranked), map(str, requests), **options,
        **dict(zip(("ideal_labels", "ideal_offsets"), flat(judged), strict=True)),
    )  # fmt: skip
    expected = oracle.evaluate(qrels, run, requests, **options)
    assert_close(results, dict(enumerate(expected.values())))


def flat(lists):
    """Labels and offsets of lists of labels."""
    return list(itertools.chain(*lists)), [0, *itertools.accumulate(map(len, lists))]


@pytest.mark.parametrize("seed", range(300, 304))
def test_labels_alone_are_all_that_was_judged(seed):
    rng = random.Random(seed)
    ranked = [[rng.choice((-2, -1, 0, 0, 1, 2, 3, 4)) for _ in range(rng.randrange(30))] for _ in range(20)]
    results = fastir.evaluate_ranked(*flat(ranked), map(str, some(seed)))
    judged = [[label for label in labels if label != -1] for labels in ranked]
    expected = [[request.value(*pair) for request in some(seed)] for pair in zip(ranked, judged, strict=True)]
    assert_close(results, dict(enumerate(expected)))


@pytest.mark.parametrize("seed", range(400, 402))
@pytest.mark.parametrize("ties", ["trec", "input"])
def test_deep_rankings(seed, ties):
    qrels, run = gen.deep(seed)
    results = fastir.evaluate(qrels, run, map(str, DEEP), ties=ties)
    assert_close(results, oracle.evaluate(qrels, run, DEEP, ties=ties))


CHOICES = {param.name for card in fastir.metrics() for param in card.params if param.is_convention}
# They change nothing at a recall of 0.95 of few, of samples, at the default p, at x = 1, on qrels without subtopics, or
# without costs.
SILENT = {
    "over_budget",
    "at_least_one",
    "set_ranks",
    "average",
    "wanted",
    "self_normalized",
    "rbp_norm",
    "f_weight",
    "rank_one",
}
# Without a cutoff they change nothing.
CUTS = {"ap_norm": "@2", "short_rankings": "@30", "recall_norm": "@2", "ideal": "@3"}


@pytest.mark.parametrize("name", sorted(CHOICES - SILENT))
def test_a_keyword_sets_the_parameter_of_all_metrics(name):
    """evaluate()'s keyword is the parameter of every metric that has it; where both are given, the parameter wins."""
    qrels, run = gen.collection(508)
    having = [card.name for card in fastir.metrics() if name in parameters(card) and not card.sampled]
    cut = CUTS.get(name, "")
    [(default, *others), *_] = [tried(param) for one in fastir.metrics() for param in one.params if param.name == name]
    default, *others = PARAMS.get(name, (default, *others))
    needed = {"n_docs": 100_000}
    for value in others:
        keywords = {**needed, name: value}
        plain = fastir.evaluate(qrels, run, [f"{metric}{cut}" for metric in having], **needed).values
        by_keyword = fastir.evaluate(qrels, run, [f"{metric}{cut}" for metric in having], **keywords).values
        given = [f"{metric}({name}={value}){cut}" for metric in having]
        by_parameter = fastir.evaluate(qrels, run, given, **needed).values
        overruled = [f"{metric}({name}={default}){cut}" for metric in having]
        assert by_keyword.tobytes() == by_parameter.tobytes() != plain.tobytes()
        assert fastir.evaluate(qrels, run, overruled, **keywords).values.tobytes() == plain.tobytes()
