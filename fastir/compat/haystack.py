"""Haystack's evaluators of documents with another `run`: MRR, MAP, recall and nDCG.

Import them from here, or call ``fastir.compat.install("haystack")`` to change Haystack's own. Compared with haystack-ai
3.4.1.

**Same**: all but `run` is Haystack's own, including pipelines and (de)serialisation. `run` has the same parameters,
result and errors. Only the first copy of a value counts, and each copy keeps its rank. A document without the field
keeps its rank and is not relevant. Only recall ignores an empty value. nDCG takes the scores of the ground truth as
labels: 1 if there are none, the largest for a repeated value. A question without ground truth has the value 0.

**Different on purpose**: fields that are not hashable, such as lists, are compared by their repr, also by recall and
nDCG. A score below 0 in the ground truth has no gain; a NaN score is a ValueError. Recall does not log a warning if a
side is empty.

**Not offered**: the evaluators of answers, and those that call a language model; `calculate_dcg` and `calculate_idcg`
are Haystack's own.
"""

from __future__ import annotations

from collections.abc import Hashable, Sequence
from typing import Any

from fastir import compat
from fastir.compat._id_lists import values

evaluators: Any = compat.importing("haystack.components.evaluators", "haystack")
component: Any = compat.importing("haystack", "haystack").component
scores_output: Any = component.output_types(score=float, individual_scores=list[float])

__all__ = ["DocumentMAPEvaluator", "DocumentMRREvaluator", "DocumentNDCGEvaluator", "DocumentRecallEvaluator"]

RECALL_BY_MODE = {"single_hit": "hit_rate", "multi_hit": "recall"}

# Haystack's own methods that read a document's field: a method of a caller's is called, these are not, to save time.
OWN_METHODS = {getattr(evaluators, name)._get_comparison_value for name in __all__}
EXACT_TYPES = {str, int, type(None)}


def make_run(metric: str) -> Any:
    """The method `run` of a class for a metric; for recall the class's `mode` says which one."""

    @scores_output
    def run(self: Any, ground_truth_documents: list[list[Any]], retrieved_documents: list[list[Any]]) -> dict[str, Any]:
        """The mean over the questions and the value of each: ``{"score": mean, "individual_scores": [value, ...]}``.

        Both arguments have a list of haystack.Document for each question; the retrieved ones are in rank order.
        """
        evaluators.DocumentNDCGEvaluator.validate_inputs(
            ground_truth_documents if metric == "ndcg" else [[] for _ in ground_truth_documents], retrieved_documents
        )
        name = RECALL_BY_MODE[str(self.mode)] if metric == "recall" else metric
        nothing = (None, "") if metric == "recall" else (None,)
        relevant = (label_by_value(self, documents, metric == "ndcg", nothing) for documents in ground_truth_documents)
        retrieved = (comparison_values(self, documents) for documents in retrieved_documents)
        scores = values(retrieved, relevant, [name], "haystack")[:, 0].tolist()
        return {"score": sum(scores) / len(scores), "individual_scores": scores}

    return run


def label_by_value(
    evaluator: Any, documents: Sequence[Any], graded: bool, nothing: tuple[Any, ...]
) -> dict[Any, float]:
    """The values of the ground truth of a question, each with its label."""
    found = comparison_values(evaluator, documents)
    if not graded or not documents or documents[0].score is None:
        labels = dict.fromkeys(found, 1.0)
    else:
        scores = [document.score for document in documents]
        labels = dict(zip(found, scores, strict=True))
        if len(labels) < len(found):
            for value, score in zip(found, scores, strict=True):
                labels[value] = max(score, labels[value])
    for value in nothing:
        labels.pop(value, None)
    return labels


def comparison_values(evaluator: Any, documents: Sequence[Any]) -> list[Any]:
    """What an evaluator compares of each document: the field that it names, or the repr of one that has no hash."""
    field, read = evaluator.document_comparison_field, evaluator._get_comparison_value
    own = getattr(read, "__func__", None) in OWN_METHODS
    if own and field == "content":
        found = [document.content for document in documents]
    elif own and field == "id":
        found = [document.id for document in documents]
    elif own and field.startswith("meta."):
        found = [document.meta for document in documents]
        for key in field.split(".")[1:]:
            found = [value.get(key) if isinstance(value, dict) else None for value in found]
    else:
        found = [*map(read, documents)]
    if EXACT_TYPES.issuperset(map(type, found)):
        return found
    return [value if isinstance(value, Hashable) else repr(value) for value in found]


class DocumentMRREvaluator(evaluators.DocumentMRREvaluator):
    """1 / rank of the first relevant document."""

    run: Any = make_run("mrr")


class DocumentMAPEvaluator(evaluators.DocumentMAPEvaluator):
    """Average precision, over all relevant documents."""

    run: Any = make_run("map")


class DocumentRecallEvaluator(evaluators.DocumentRecallEvaluator):
    """Whether a relevant document is retrieved, or with ``mode="multi_hit"`` the fraction that is retrieved."""

    run: Any = make_run("recall")


class DocumentNDCGEvaluator(evaluators.DocumentNDCGEvaluator):
    """nDCG with linear gains; the ideal ranking holds all relevant documents."""

    run: Any = make_run("ndcg")
