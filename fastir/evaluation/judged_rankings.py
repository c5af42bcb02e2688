"""judged_rankings(): the front door to JudgedRankings."""

from __future__ import annotations

from typing import TYPE_CHECKING

from fastir.engine.measure import NUM_Q
from fastir.evaluation.evaluator import Evaluator
from fastir.evaluation.keywords import RankingOptions
from fastir.request.options import choice_params

if TYPE_CHECKING:
    from typing import Unpack

    from fastir.data.qrels import QrelsLike
    from fastir.data.rankings import JudgedRankings
    from fastir.data.run import RunLike

OPTIONS = frozenset(RankingOptions.__annotations__)
VALUE_OPTIONS = ("metrics", "rel_level", "judged_only", "max_depth", "weights")


def judged_rankings(qrels: QrelsLike, run: RunLike, **options: Unpack[RankingOptions]) -> JudgedRankings:
    """Judge a run: find the ranks of the judged documents, from which all metrics follow.

    Parameters
    ----------
    qrels, run : as for `evaluate`
    **options
        Options of `evaluate` that say how to read and order the run: ties, score_dtype, duplicates, parents, aggregate,
        exclude, validate, columns, qrels_columns, run_columns, label, n_threads, and a convention, which chooses these
        options. `queries` decides on errors and warnings ("qrels", "strict"); as a collection of ids, it
        decides which queries are judged. All other options belong to `JudgedRankings.evaluate`, and so does
        ``queries="intersection"``: judged rankings keep the queries that are missing from the run.

    Returns
    -------
    JudgedRankings
        All queries of the qrels, or those in `queries`, in the order of the qrels.

    Raises
    ------
    TypeError
        An option is not among these; the message says where it belongs, or suggests a similar one.
    ValueError
        ``ties="average"``, which has no single order; ``queries="intersection"``; the convention has several tie rules;
        or the qrels have groups.
    FormatError, DuplicateError, NoOverlapError, TypeError, ValueError, OverflowError, RuntimeError, OSError
        As by `evaluate`.

    Warns
    -----
    FastirWarning
        As by `evaluate`.

    Examples
    --------
    >>> import fastir
    >>> judged = fastir.judged_rankings({"q": {"a": 2, "b": 1}}, {"q": {"x": 3.0, "b": 2.0, "a": 1.0}})
    >>> judged
    <JudgedRankings of 1 query: 2 of 2 judgments ranked; ties=trec>
    >>> judged.evaluate(["ndcg@10", "map"])["map"]
    0.5833333333333333
    """
    for name in options:
        if name not in OPTIONS:
            raise TypeError(what_it_is(name))
    if isinstance(options.get("queries"), str) and options["queries"] == "intersection":
        raise ValueError(
            "queries='intersection': judged rankings keep the queries that are missing from the run; give it to "
            "JudgedRankings.evaluate"
        )
    return Evaluator(qrels, NUM_Q, **options).judged_rankings(run)


def what_it_is(name: str) -> str:
    """Why an option is none of `judged_rankings`: it is one of values, or it does not exist."""
    if name in (*VALUE_OPTIONS, *choice_params()):
        return f"judged_rankings has no option {name!r}; options of values belong to JudgedRankings.evaluate"
    import difflib  # after an error only: it is slow to import

    near = difflib.get_close_matches(name, sorted(OPTIONS), n=1)
    hint = f"did you mean {near[0]!r}?" if near else f"the options are {', '.join(sorted(OPTIONS))}"
    return f"unknown option {name!r}; {hint}"
