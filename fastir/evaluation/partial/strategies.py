"""What the options of an Evaluator permit its parts, and the digest by which they know each other."""

from __future__ import annotations

import hashlib
from collections.abc import Iterable
from typing import TYPE_CHECKING, Any

from fastir._version import __version__
from fastir.engine.columns._ids import encode, ids_from_arena
from fastir.engine.columns.ids import Arena
from fastir.errors import FormatError
from fastir.inputs.exclusions import Exclusion, find_document_map
from fastir.inputs.id_lists import is_of_lists
from fastir.inputs.shapes import PATH, TABLE

if TYPE_CHECKING:
    from fastir.evaluation.drivers.evaluate_one import RunEvaluator

AUTO, GROUPED, TWO_PASS, LISTS = STRATEGIES = ("auto", "grouped", "two-pass", "lists")


def strategy_for(prepared: RunEvaluator, rows: Any, shape: str) -> str:
    """The strategy for parts like this: "two-pass" only where duplicates are looked for as two passes can."""
    if shape == TABLE and is_of_lists(rows):
        return LISTS
    return TWO_PASS if prepared.settings.options.validate == "judged" and shape in (TABLE, PATH) else GROUPED


def check_two_pass(prepared: RunEvaluator) -> None:
    """Refuse options for which a document must be compared with all others of its query."""
    options, advice = (
        prepared.settings.options,
        "strategy='grouped' can, with all rows of a query in one part",
    )
    if options.validate == "full":
        raise ValueError(
            f"two passes cannot look for all duplicates (validate='full'), only for judged ones ('judged'); {advice}"
        )
    if options.duplicates not in (None, "once"):
        raise ValueError(f"two passes cannot remove duplicates (duplicates={options.duplicates!r}); {advice}")
    if find_document_map(prepared.parents) is not None:
        raise ValueError(f"two passes cannot put the parts of a document together (parents); {advice}")


def read_code(prepared: RunEvaluator) -> int:
    """The READ_CODE of what all metrics read."""
    return max(evaluator.settings.plan.reads for evaluator in prepared.evaluators())


def check_version(version: object, what: str) -> None:
    """Refuse what another fastir has made, which may have other bits, or read other rows."""
    if version != __version__:
        raise FormatError(f"{what} fastir {version}, and this is fastir {__version__}; all parts need one version")


def digest(pieces: Iterable[bytes]) -> str:
    hashed = hashlib.blake2b(digest_size=16)
    for piece in pieces:
        hashed.update(len(piece).to_bytes(8, "little") + piece)
    return hashed.hexdigest()


def evaluation_digest(prepared: RunEvaluator) -> str:
    """A digest of the qrels, which keep it, and of the metrics and the options."""
    qrels, settings = prepared.qrels, prepared.settings
    qrels_digest = qrels.__dict__.get("_digest")
    if qrels_digest is None:
        ids, offsets, labels = qrels.columns.arrays()
        ids = ids if isinstance(ids, Arena) else Arena.of(ids)
        text, _, lengths = ids_from_arena(ids).copy(0, len(ids))
        arrays = text, lengths, offsets, labels
        qrels_digest = digest([encode(repr(list(qrels))), *(array.tobytes() for array in arrays)])
        qrels_digest = qrels.__dict__.setdefault("_digest", qrels_digest)
    request_text = qrels_digest + repr((settings.metrics, settings.options._replace(n_threads=None)))
    excluded = prepared.parents.distinguishing_texts() if isinstance(prepared.parents, Exclusion) else ()
    return digest(map(encode, (request_text, *excluded)))
