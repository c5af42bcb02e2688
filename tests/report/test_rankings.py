"""Rankings have the documents, labels and contributions that explain has."""

from common import EXAMPLES

import fastir
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
    assert "explain: metric 'weighted_precision@1' uses weights" in rankings.why_not


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
