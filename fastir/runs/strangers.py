"""Ids of documents that never match: looked for only where no ranking of a run holds a judged document.

That no judged document was found is legitimate, but more often ids are written in two ways. What would make those of
one query equal (white space, case, a suffix, the form of a number) is a guess that is worth an error; else the
warning shows an id of each side.
"""

from __future__ import annotations

import itertools
from collections.abc import Callable
from typing import TYPE_CHECKING, Any

from fastir.errors import NoOverlapError, quote
from fastir.inputs.shapes import TABLE, shape_of
from fastir.run import Run, as_run

if TYPE_CHECKING:
    from fastir.runs.coverage import Coverage

QUERIES = 100  # that are looked at


def whole(text: str) -> str:
    """An id of digits without the zeros before and the point behind it."""
    head = text.removesuffix(".0")
    return str(int(head)) if head.isdecimal() else text


def without_suffix(text: str) -> str:
    """An id up to its last point or number sign."""
    return max((text.rpartition(mark)[0] for mark in ".#"), key=len) or text


def plain(text: str) -> str:
    return text.strip().casefold()


Form = Callable[[str], str]
GUESSES: dict[str, tuple[Form, Form]] = {  # how the ids of one side and of the other may be read
    "white space around them": (str.strip, str.strip),
    "upper and lower case": (str.casefold, str.casefold),
    "the form of a number": (whole, whole),
    # of one side alone: a.1 and a.2 are two ids
    "a suffix": (str, without_suffix),
    "case, white space and a suffix": (plain, lambda text: without_suffix(plain(text))),
}


def compare_ids(coverage: Coverage, run: Any) -> None:
    """Note an id of each side in a Coverage without any judged document in a ranking, for its warning.

    Raises
    ------
    NoOverlapError
        The ids would match if they were written alike, or `parents` has none of them; not by the conventions of tools.
    """
    prepared, tally = coverage.prepared, coverage.tally
    if not tally.nothing or tally.nothing != tally.found:
        return
    from fastir.inputs.tables import table

    settings = prepared.settings
    try:
        if shape_of(run, Run, prepared.columns) == TABLE and not table(run, "run", prepared.columns).again:
            return
        held = as_run(run, prepared.columns, settings.options.duplicates, None, settings.lines)
    except Exception:
        return  # a source that can be read only once, and is evaluated already
    by_text = {str(query_id): query_id for query_id in held}
    common = ((query_id, by_text[str(query_id)]) for query_id in prepared.qrels if str(query_id) in by_text)
    sides = None
    for judged_query, run_query in itertools.islice(common, QUERIES):
        judged, ranked = list(prepared.qrels[judged_query]), list(held[run_query])
        if not judged or not ranked:
            continue
        sides = (
            sides or f"query {quote(judged_query)}: the qrels have {quote(judged[0])}, the run has {quote(ranked[0])}"
        )
        found = None if prepared.parents is not None else alike(judged, ranked)
        if found and settings.options.convention == "fastir":
            difference, one, other = found
            raise NoOverlapError(
                f"no document in common: in query {quote(judged_query)} the qrels have {quote(one)}, the run has "
                f"{quote(other)}; do the ids differ only in {difference}?"
            )
    coverage.sides = sides
    if sides and prepared.parents is not None and settings.options.convention == "fastir":
        check_parents(prepared.parents, held, sides)


def alike(judged: list[Any], ranked: list[Any]) -> tuple[str, Any, Any] | None:
    """The first difference without which an id of each list would be the same, and these ids."""
    for difference, forms in GUESSES.items():
        for of_judged, of_ranked in dict.fromkeys((forms, forms[::-1])):
            known = {of_judged(str(doc_id)): doc_id for doc_id in judged}
            for doc_id in ranked:
                if of_ranked(str(doc_id)) in known:
                    return difference, known[of_ranked(str(doc_id))], doc_id
    return None


def check_parents(parents: Any, held: Run, sides: str) -> None:
    """Refuse parents of which none applies to a run."""
    made = parents.of(held)
    documents = dict(zip(map(str, made.chunks[:]), map(str, made.documents[:]), strict=True))
    ids = list(dict.fromkeys(map(str, held._ids[:])))
    if documents and not any(documents.get(doc_id, doc_id) != doc_id for doc_id in ids):
        first = quote(next(iter(documents)))
        raise NoOverlapError(f"parents has none of the run's ids, and no document is judged: it has {first}; {sides}")
