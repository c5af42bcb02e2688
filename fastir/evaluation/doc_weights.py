"""The option `doc_weights`: weights of documents as a mapping, from a file, or in a column of the table of qrels."""

from __future__ import annotations

import os
from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

from fastir.data.qrels import Qrels
from fastir.data.run import as_run
from fastir.inputs.shapes import PATH, TABLE, input_shape

if TYPE_CHECKING:
    from fastir.inputs.mappings import DocWeights
    from fastir.request.options import Duplicates


def read_doc_weights(
    doc_weights: DocWeights | str | os.PathLike[str],
    qrels: Any,
    columns: Mapping[str, str] | None,
    duplicates: Duplicates | None,
) -> DocWeights:
    """Weights of documents in any form; a str is a column of the table of the qrels."""
    if isinstance(doc_weights, os.PathLike):
        from fastir.inputs.mappings import from_file

        return from_file(doc_weights)
    if not isinstance(doc_weights, str):
        return doc_weights
    if input_shape(qrels, Qrels, columns) not in (TABLE, PATH):
        raise TypeError(
            f"doc_weights={doc_weights!r} names a column of a table of qrels; these qrels are a "
            f"{type(qrels).__name__}, and their weights come as {{doc_id: weight}}"
        )
    return as_run(qrels, {**(columns or {}), "score": doc_weights}, duplicates).to_dict()
