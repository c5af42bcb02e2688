"""Ragas' metrics by ids, and the arithmetic of its context precision, whose judgments a language model makes."""

import asyncio

from rankings import queries

TOOL = "ragas"
MODULES = ["ragas"]
QUERIES = queries(4)


def values(queries):
    from ragas.dataset_schema import SingleTurnSample
    from ragas.metrics import IDBasedContextPrecision, IDBasedContextRecall

    samples = [
        SingleTurnSample(retrieved_context_ids=query["retrieved"], reference_context_ids=list(query["relevant"]))
        for query in queries
    ]
    made = {"precision": IDBasedContextPrecision(), "recall": IDBasedContextRecall()}
    return {name: [asyncio.run(m._single_turn_ascore(sample, None)) for sample in samples] for name, m in made.items()}
