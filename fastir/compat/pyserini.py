"""Pyserini's function `trec_eval`, which runs trec_eval in Java, without Java: ``install("pyserini")``.

Compared with Pyserini 1.6.0.

**Same**: arguments as on the command line, the program's name first; what is printed, which is trec_eval 9's output,
then a line for each cutoff of ``-m judged.5,10``; ``-remove-unjudged``, which removes unjudged documents from
the run, and queries that are then empty; MS MARCO runs; the names of Pyserini's own qrels, which it must be
installed for; and the value that is returned: the value in the last line about "all" or about `query_id`.

**Different on purpose**: all that `fastir.compat.trec_eval` says; an error in arguments or files is a FastirError with
fastir's own message. The caller's list of arguments is not changed. judged.k reads the run in its order, as Pyserini
does, whatever the scores say, and judgments and duplicate documents are errors.

**Not offered**: usage without arguments; the help is ``fastir trec_eval -h``.
"""

from __future__ import annotations

import contextlib
import os
import tempfile
from collections.abc import Iterator, Mapping, Sequence
from types import SimpleNamespace
from typing import Any

from fastir import compat
from fastir.compat import trec_eval as program
from fastir.data.qrels import Qrels
from fastir.data.run import Run
from fastir.errors import FastirError, quote
from fastir.inputs.files import ByteReader

__all__ = ["trec_eval"]

REMOVE_FLAG = "-remove-unjudged"
JUDGED_PREFIX = "judged."


def trec_eval(
    args: Sequence[str], query_id: str | None = None, return_per_query_results: bool = False
) -> float | dict[str, float]:
    """Print trec_eval's output, and return a value of it: the last value in a line about "all" or about a query.

    `args` are the name of the program, options, qrels and a run. With ``-q``, `query_id` chooses the query of the
    value, and `return_per_query_results` returns ``{query: its last value}``.

    ValueError: a query's value is wanted without ``-q``. FastirError: an argument or a file is wrong. KeyError: there
    is no value for this query.
    """
    if (query_id or return_per_query_results) and "-q" not in args:
        raise ValueError("values of queries need the argument -q")
    options, cutoffs = core_options(list(args[1:-2]))
    qrels, run = qrels_path(args[-2]), args[-1]
    lines: list[str] = []
    with contextlib.ExitStack() as stack:
        if cutoffs or REMOVE_FLAG in args or not is_trec(run):
            judged = Qrels.from_file(qrels, "trec").to_dict()
            ranking = rankings(run, judged if REMOVE_FLAG in args else None)
            run = stack.enter_context(run_file(ranking))
            lines = [f"{f'judged_{k}':22}\tall\t{share_judged(ranking, judged, k):.4f}" for k in cutoffs]
        if not cutoffs or "-m" in options:
            lines = trec_eval_lines(["--trec-eval-version", "9", *options, qrels, run]) + lines
    print("\n".join(lines))
    values: dict[str, float] = {}
    for line in lines:
        name, query, value = line.split("\t")
        if name.strip() != "runid":
            values[query] = float(value)
    return values if return_per_query_results else values[query_id or "all"]


def core_options(options: list[str]) -> tuple[list[str], list[int]]:
    """The options of trec_eval, and the cutoffs of the first judged.k."""
    options = [option for option in options if option != REMOVE_FLAG]
    at = next((place for place, option in enumerate(options) if option.startswith(JUDGED_PREFIX)), None)
    if at is None:
        return options, []
    text = options[at].removeprefix(JUDGED_PREFIX)
    if at == 0 or not all(k.isdecimal() and int(k) > 0 for k in text.split(",")):
        raise FastirError(f"judged.k must follow -m and have cutoffs from 1 up, got {quote(options[at])}")
    return options[: at - 1] + options[at + 1 :], list(map(int, text.split(",")))


def qrels_path(qrels: str) -> str:
    """A file of qrels, or that which Pyserini knows by this name."""
    if os.path.exists(qrels):
        return qrels
    path: str = compat.importing("pyserini.search", "pyserini").get_qrels_file(qrels)
    return path


def is_trec(run: str) -> bool:
    """Whether a run is in TREC's format; else it is MS MARCO's."""
    with ByteReader(run) as source:
        return b"Q0" in source.read(4096).partition(b"\n")[0]


def rankings(run: str, judged: Mapping[str, Mapping[str, int]] | None) -> dict[str, dict[str, float]]:
    """A run in the order of its file, and of it only what has a judgment, if judgments are given."""
    read = Run.from_file(run, "trec_eval" if is_trec(run) else "msmarco")
    ranking_by_query = {query: dict(read[query]) for query in read}
    if judged is None:
        return ranking_by_query
    kept = {
        query: {doc_id: score for doc_id, score in docs.items() if doc_id in judged.get(query, ())}
        for query, docs in ranking_by_query.items()
    }
    return {query: docs for query, docs in kept.items() if docs}


def share_judged(ranking: Mapping[str, Mapping[str, float]], judged: Mapping[str, Mapping[str, int]], k: int) -> float:
    """Return the fraction of judged documents among the first k of all queries."""
    first = [(query, doc_id) for query, docs in ranking.items() for doc_id in list(docs)[:k]]
    return sum(doc_id in judged.get(query, ()) for query, doc_id in first) / len(first)


@contextlib.contextmanager
def run_file(ranking: dict[str, dict[str, float]]) -> Iterator[str]:
    """A file with a run."""
    with tempfile.TemporaryDirectory() as folder:
        path = os.path.join(folder, "run")
        Run.from_dict(ranking).save(path, "trec")
        yield path


def trec_eval_lines(arguments: list[str]) -> list[str]:
    """The lines of trec_eval's output."""
    silent: Any = contextlib.nullcontext(SimpleNamespace(notice=lambda name, position: None))
    try:
        return program.output(arguments, lambda runs: silent).splitlines()
    except program.Refusal as refusal:
        raise FastirError(str(refusal)) from refusal
