"""Tools that are given lists of ids: evaluators of retrieval for generation.

Where a tool has a defect, such as values above 1 where an id repeats, its convention follows the metric's definition
and `about` names the defect.
"""

from __future__ import annotations

from fastir.request.convention import Convention

LIST_TOOLS = (
    Convention(
        "haystack",
        "Haystack's document evaluators; of a document's copies the first counts, and each keeps its rank",
        ties="input",
    ),
    Convention(
        "llamaindex",
        "LlamaIndex's metrics of retrieval; its ap, ndcg and granular hit_rate count every copy of a document, and "
        "exceed 1; empty lists are errors there",
        ties="input",
    ),
)
