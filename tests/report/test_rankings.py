"""Rankings have the documents, labels and contributions that explain has."""

import random

import pytest
from common import EXAMPLES

import fastir
from fastir.report import gather
from fastir.report.gather import RankingsByQuery

QRELS, RUNS = EXAMPLES / "qrels.txt", [EXAMPLES / "bm25.run", EXAMPLES / "dense.run"]


def test_each_document_is_as_in_its_explanation():
    evaluator = fastir.Evaluator(QRELS, ["ndcg@10", "map"], queries="qrels")
    rankings = RankingsByQuery(["q1", "q2"], 4, 1)
    for run in RUNS:
        rankings.add(evaluator, run)
    for query_id, query in zip(["q1", "q2"], rankings.queries, strict=True):
        assert len(set(query["docs"])) == len(query["docs"])
        for number, run in enumerate(RUNS):
            explanation = evaluator.explain(run, query_id)
            shown = explanation.documents[:4]
            assert [query["docs"][place] for place in query["runs"][number]] == [str(each.doc_id) for each in shown]
            assert [query["labels"][place] for place in query["runs"][number]] == [each.label for each in shown]
            for metric in ("ndcg@10", "map"):
                units = query["parts"][number].get(metric, [])
                units = units + [0] * (len(shown) - len(units))
                assert [f"{unit / 10_000:.4f}" for unit in units] == [
                    f"{each.contribution[metric]:.4f}" for each in shown
                ]
            assert query["below"][number][1] == len(explanation.missing)


def test_rankings_without_an_order_say_why():
    qrels, run = {"q": {"a": 1, "b": 0}}, {"q": {"a": 1.0, "b": 1.0}}
    evaluator = fastir.Evaluator(qrels, "weighted_precision@1", doc_weights={"a": 1.0})
    rankings = RankingsByQuery(["q"], 4, 1)
    rankings.add(evaluator, run)
    assert "explain: metric 'weighted_precision@1' reads weights of documents" in rankings.why_not


def test_a_label_below_0_counts_as_unjudged():
    """Of x, which is not in the qrels, of b with -1 and c with 0, two are unjudged; d stands below the depth."""
    evaluator = fastir.Evaluator({"q": {"a": 1, "b": -1, "c": 0, "d": -2}}, "map", queries="qrels")
    rankings = RankingsByQuery(["q"], 4, 1)
    rankings.add(evaluator, {"q": {"x": 5.0, "b": 4.0, "c": 3.0, "a": 2.0, "d": 1.0}})
    rankings.add(evaluator, {"q": {"a": 2.0, "c": 1.0}})
    assert rankings.unjudged == [2, 0]


def test_unjudged_documents_are_counted_down_to_the_depth_that_is_shown():
    qrels, run = {"q": {"a": 1, "b": 0, "c": -1}}, {"q": dict(zip("xacbyzw", range(9, 0, -1), strict=False))}
    for depth, n_unjudged in ((1, 1), (2, 1), (3, 2), (4, 2), (5, 3), (9, 5)):
        rankings = RankingsByQuery(["q"], depth, 1)
        rankings.add(fastir.Evaluator(qrels, "map"), run)
        assert rankings.unjudged == [n_unjudged]


OPTIONS = [
    {}, {"ties": "doc_id_asc", "rel_level": 2}, {"ties": "optimistic"},
    {"ties": "pessimistic", "max_depth": 4}, {"ties": "input_reversed", "max_depth": 3}, {"ties": "average"},
    {"judged_only": True}, {"duplicates": "max"}, {"convention": "trec_eval-9"}, {"convention": "ranx"},
    {"score_dtype": "float32"},
]  # fmt: skip
SIZES = [1, 2, 3, 4, 5, 9, 63, 64, 65]  # documents of rankings, of which three, or more than all, are shown


def random_rankings(rng, kind):
    """Judgments, in some of which nothing is relevant, and a run with ties, which misses a query and has another."""
    n_docs = rng.choice(SIZES)
    docs = [kind(place) for place in range(80)]
    label = rng.choice(
        [lambda: rng.choice([-2, -1, 0, 0, 1, 2, 3]), lambda: rng.choice([0, 0.5, 1.0, 2.25]), lambda: 0]
    )
    qrels = {kind(q): {doc: label() for doc in rng.sample(docs, rng.randrange(1, 60))} for q in range(5)}
    score = rng.choice([lambda: rng.random(), lambda: float(rng.randrange(3)), lambda: rng.randrange(9), lambda: 1e300])
    run = {kind(q): {doc: score() for doc in rng.sample(docs, n_docs)} for q in range(1, 6)}
    if rng.random() < 0.5:
        run = {query: dict(sorted(found.items(), key=lambda pair: -pair[1])) for query, found in run.items()}
    return qrels, run


@pytest.mark.filterwarnings("ignore::fastir.FastirWarning")
@pytest.mark.parametrize("depth", [1, 3, 100])
@pytest.mark.parametrize("options", OPTIONS, ids=lambda options: "-".join(map(str, options.values())) or "default")
def test_rankings_of_all_queries_at_once_are_those_of_each_query(options, depth, monkeypatch):
    metrics = ["ndcg@10", "map", "mrr", "P@3", "recall@5", "err@4", "rbp(p=0.8)", "bpref", "set_P", "dcg"]
    n_at_once = 0
    for seed in range(12):
        rng = random.Random(seed)
        qrels, run = random_rankings(rng, rng.choice([str, int, "d{}".format]))
        runs = [run, fastir.Run.from_dict(run)]
        try:
            evaluator = fastir.Evaluator(qrels, metrics, queries="qrels", **options)
            evaluator.evaluate(run)
        except (ValueError, OverflowError):
            continue  # labels or scores that the convention refuses
        found = []
        for fast in (True, False):
            n_at_once += fast and gather.can_explain_all(evaluator)
            with monkeypatch.context() as patched:
                if not fast:
                    patched.setattr(gather, "can_explain_all", lambda _: False)
                rankings = RankingsByQuery(list(qrels), depth, options.get("rel_level", 1))
                for each in runs:
                    rankings.add(evaluator, each)
            found.append((rankings.why_not, rankings.unjudged, repr(rankings.queries)))
        assert found[0] == found[1]
    one_by_one = options.get("ties") == "average" or not options.keys().isdisjoint(("judged_only", "max_depth"))
    assert (n_at_once > 0) != one_by_one
