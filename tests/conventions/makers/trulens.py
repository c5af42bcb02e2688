"""TruLens' GroundTruthAggregator; without a cutoff it takes the length of the list for one."""

from rankings import queries

TOOL = "trulens-feedback"
MODULES = ["trulens.feedback", "pandas"]
CUTOFFS = (None, 3, 8)
QUERIES = queries(6, grades=(0, 1, 2, 3))  # a chunk that is expected with label 0 is relevant, but to ndcg
COPIES = ["precision", *(f"precision@{k}" for k in CUTOFFS if k)]


def values(queries):
    from unittest.mock import Mock

    from trulens.feedback.groundtruth import GroundTruthAgreement
    from trulens.feedback.llm_provider import LLMProvider

    golden = [
        {
            "query": str(place),
            "expected_chunks": [
                {"text": doc, "expect_score": float(label)} for doc, label in query["relevant"].items()
            ],
        }
        for place, query in enumerate(queries)
    ]
    tool = GroundTruthAgreement(golden, provider=Mock(spec=LLMProvider))
    made = {"ndcg": tool.ndcg_at_k, "precision": tool.precision_at_k, "recall": tool.recall_at_k}
    made["hit_rate"] = tool.ir_hit_rate
    found = {"mrr": [tool.mrr(str(place), query["retrieved"]) for place, query in enumerate(queries)]}
    for name, function in made.items():
        for k in CUTOFFS:
            found[f"{name}@{k}" if k else name] = [function(str(i), q["retrieved"], k=k) for i, q in enumerate(queries)]
    return found
