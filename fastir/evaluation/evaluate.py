"""evaluate(), evaluate_many() and judged_rankings(): an Evaluator for one call."""

from __future__ import annotations

from collections.abc import Callable, Hashable, Iterable
from typing import TYPE_CHECKING

from fastir.engine.measure import DEFAULT_METRICS, NUM_Q
from fastir.evaluation.evaluator import Evaluator
from fastir.request.options import choice_params

if TYPE_CHECKING:
    from typing import Unpack

    from fastir.data.qrels import QrelsLike
    from fastir.data.rankings import JudgedRankings
    from fastir.data.results.by_run import ResultsByRun
    from fastir.data.results.results import Results
    from fastir.data.run import RunLike, RunsLike
    from fastir.evaluation.keywords import EvaluateOptions, RankingOptions
    from fastir.evaluation.run_collections import RunNames

VALUE_OPTIONS = ("metrics", "rel_level", "judged_only", "max_depth", "weights")


def evaluate(
    qrels: QrelsLike, run: RunLike, metrics: str | Iterable[str] = DEFAULT_METRICS, **options: Unpack[EvaluateOptions]
) -> Results:
    """Evaluate a run against qrels. For several runs against the same qrels, see `evaluate_many`.

    Parameters
    ----------
    qrels : dict, table, path or Qrels
        ``{query_id: {doc_id: label}}``, or whatever else `Qrels` can be made of.
    run : dict, table, path or Run
        ``{query_id: {doc_id: score}}``, ``{query_id: [doc_id, ...]}`` in rank order, or whatever else `Run` can be made
        of.
    metrics : str or iterable of str
        Such as ``"ndcg@10"`` or ``"ndcg@10,map"``; `metrics` lists them, `metric` says what one means. Those of the
        command by default: ndcg@10, map, mrr, precision@10 and recall@100.
    rel_level : int or float
        Documents with at least this label, a number above 0, are relevant; gains do not change.
    queries : {None, "qrels", "intersection", "strict"} or collection of query ids
        Which queries count. "qrels": all of the qrels; a missing ranking counts as empty. "intersection":
        those in both. "strict": all, and both sides must have the same. A collection: exactly these. None: what the
        convention says, else as "qrels", with a warning.
    ties : {None, "trec", "doc_id_asc", "input", "input_reversed", "optimistic", "pessimistic", "average"}
        Order of documents with equal scores; None: the convention's order, else descending ids.
    convention : str or Convention
        Whose numbers: "fastir", or a tool such as "trec_eval-9", "ranx", "lightgbm" or "llamaindex".

    Returns
    -------
    Results
        The mean of each metric by the name given, a float; its ``values`` are float64 of shape (n_queries, n_metrics),
        with the queries in the order of the qrels.

    Examples
    --------
    >>> import fastir
    >>> qrels = {"q1": {"a": 1}, "q2": {"a": 0, "c": 2}}
    >>> run = {"q1": {"b": 2.0, "a": 1.0}, "q2": {"c": 0.5}}
    >>> results = fastir.evaluate(qrels, run, ["mrr", "P@2"])
    >>> results
    mrr  0.7500
    P@2  0.5000
    2 queries
    >>> results["mrr"], results.per_query("mrr")
    (0.75, {'q1': 0.5, 'q2': 1.0})

    Other Parameters
    ----------------
    judged_only : bool
        Remove documents without a judgment from the rankings (after max_depth).
    max_depth : int or None
        The number of documents that are read of each ranking, from 1 up; None: all of them.
    min_score : float or None
        Rows with lower scores are not retrieved: a system's threshold. A query without rows left has an empty ranking.
        The report counts such rows. The scores are those of the run, before `parents` put parts together; with
        ``score_dtype="float32"`` they are compared as float32. Metrics for queries whose right answer is nothing:
        surfaced, false_surface and false_abstention.
    score_dtype : {None, "float64", "float32"}
        Precision in which scores are compared; "float32" gives the ties of trec_eval 9; None: the convention's.
    n_threads : int or None
        How many threads the call uses; values never depend on it. None uses up to 8 of the processors that this
        process may use, if the work is worth it: files and tables from a million rows on, arrays if the rest would take
        15 ms. The environment variable FASTIR_NUM_THREADS, or else OMP_NUM_THREADS, can lower that. A number given here
        is used even for little work: on a busy machine a call over arrays can then take 20 ms longer.
    duplicates : {None, "first", "last", "max", "mean", "once"}
        What to do with a duplicate document in a list, or in a query of a file or table. None: an error that names both
        rows. "first", "last", "max": one row stays, at the rank of the first, with the score of the first, the last
        or the best; the ranks below close up. For a list, "max" keeps the first copy and "last" the last. "once": rows
        keep their ranks; the first in rank order is the document, and the others count as unjudged. In qrels "once"
        keeps one of several rows with the same label, and two labels are an error. "mean" is for qrels alone, and gives
        a document the mean of its labels, as of several raters; negative labels are no judgments, and left out where
        there are others. The report counts the repeats.
    parents : mapping, table, function, path or None
        For runs of parts (chunks, passages) of judged documents: the document of each id. A mapping, a table
        or tuple of two columns, a file with an id and its document on each line, or a function. The function gets an
        array of the distinct ids of a run and returns an array of their documents; one that cannot take an array gets
        one id. An id without a document is a document itself, and integer ids equal their decimal text. Applied once,
        before the run is judged. `aggregate` makes one row of a document's parts; ``duplicates="once"`` keeps them
        all. The report counts every part after a document's first. `duplicates` itself is about duplicate ids.
    aggregate : {"max", "sum", "mean"}
        With `parents`, the score of a document: the best of its parts' scores, or their sum or mean, added from the
        largest score down. The document takes the rank of its best part.
    exclude : "query_id", mapping of query_id to document ids, path or None
        Documents that do not count for a query and take no rank, such as the query's source or what a user has seen.
        Their judgments stay: a relevant one counts as not found. "query_id": the document with the query's own id. A
        file has a query and a document on each line. Queries missing from the run are ignored; integer ids equal their
        decimal text. With `parents` these are ids of documents. None: the convention's choice ("beir": "query_id";
        ``{}`` turns that off). The report's repairs count the "excluded documents" of queries in the qrels.
    validate : {"full", "judged"}
        Which documents are checked for duplicates: all, or only judged ones. The latter is quicker for tables whose
        rows are not grouped by query, and right for data without duplicates.
    columns : dict or None
        For tables with unusual column names (see `Run.from_table`): ``{"query_id": name, "doc_id": name, "score": name,
        "label": name}``. ``"rank"`` instead of ``"score"`` names a column of ranks.
    qrels_columns, run_columns : dict or None
        The same for one side; they override `columns`.
    label : float or None
        The label of all rows of a table of qrels that has no column of labels (see `Qrels.from_table`).
    weights : mapping of query_id to float, or None
        How much each query counts in the means, from 0 up; weights of other queries are ignored. Sums and counts do not
        change.
    doc_weights : mapping, str, pathlib.Path or None
        The weight of each judged document in the metrics that are defined on weights (psp, psndcg and weighted_*):
        ``{doc_id: weight}``, ``{query_id: {doc_id: weight}}``, a str that names a column of a table of qrels, or the
        path of a file with a document and its weight on each line, perhaps after a query. Weights are above 0, such as
        inverse propensities. Every document with a label above 0 needs one.
    forbidden : {query_id: doc_ids}, judgments, path or None
        Documents that must not come, such as stale, secret or harmful ones, for the metrics forbidden_hits,
        forbidden_rate, leak_recall and compat_help_harm. Of judgments all documents with a label above 0, which is the
        grade of their harm. A file has a query and a document on each line, or qrels.
    forbidden_level : float or None
        Documents with labels up to this one, below rel_level, are forbidden, too; a negative label is a grade of harm.
    unanswerable : collection of query ids, path or None
        The queries whose right answer is nothing, over which false_surface is averaged; none may have a relevant
        document. Those that the qrels lack are added, and count as queries without a relevant document do. A file has
        an id on each line. None: the judged queries without a relevant document.
    doc_groups : {doc_id: {group: share}}, table, path or None
        The groups of documents, for the metrics awrf and ndcg_awrf; the shares of a document are from 0 up, with the
        sum 1. Also a data frame with a row for each document and a column for each group; a table with the columns
        doc_id, group and share; or a file of such lines. Documents without groups are left out with their weight.
    target : {group: share}, {query_id: {group: share}}, path or None
        The share of the exposure that each group should have: all groups, with the sum 1.
    doc_costs : mapping, str, pathlib.Path or None
        What a user pays to read each document, such as its tokens, for metrics with a budget and for cost_*:
        ``{doc_id: cost}``, ``{query_id: {doc_id: cost}}``, a str that names a column of a table of the run, or the path
        of a file with a document and its cost on each line, perhaps after a query. Costs are finite and at least 0.
        A document needs one if it is read: down to the first that does not fit, or to the rank whose cost it is. With
        costs ``tbg`` takes them for the seconds that a document takes, ``u_measure`` for its length; both are sums
        that no weights divide, as in their papers.
    ties_report : bool
        Whether `Results.ties` says what the order of equal scores could change. Metrics must share one order of
        documents: those that read other judgments, or have a tie rule or a judged_only of their own, are refused. Files
        and tables are then held in memory.
    **choices
        Parameters of the metrics, for all that have them: empty, gain, discount, ideal, ap_norm, short_rankings,
        rounding, unranked, one_class, gains, rbp_norm, bpref_norm, negatives, f_weight, max_grade, tail, rank_one,
        depth, normalize, missing_documents, recall_norm, no_hit, empty_ranking, wanted, n_docs, self_normalized,
        over_budget, at_least_one, set_ranks.
        `metric` explains the parameters of a metric. A parameter set in its name, as in ``"ndcg(gain=exp2)"``,
        overrides them.

    Raises
    ------
    UnknownMetricError
        A metric, or a parameter or cutoff of one, does not exist or is out of range; or no metric is given.
    FormatError
        A file does not have the expected content; the message names the line.
    DuplicateError
        A document is a duplicate under a query of a file or table, and `duplicates` is None; or it has two labels in
        the qrels, and `duplicates` is "once".
    NoOverlapError
        The qrels or the run are empty, no query is in both, or the qrels do not have all query ids of `queries`. With
        ``queries="strict"``, a query is in only one of them. Or no ranking holds a judged document, and `parents` has
        none of the run's ids, or ids would match except for white space, case, a suffix or the form of numbers; the
        conventions of tools only warn of this.
    TypeError
        An id is neither str nor int, or ids of dicts differ in type; a label or a score is not a number; an
        option has the wrong type or name.
    ValueError
        A score is NaN, a label is not finite, an option is out of range, a part has two documents or a missing one, or
        infinite scores of both signs would be added up. fastir's errors are ValueErrors, too.
    OverflowError
        A label is outside [-2^31, 2^31 - 1] or too large for a metric's formula, or a score for a float.
    RuntimeError
        A ranking changed its size while it was read, perhaps in another thread.
    OSError
        A file cannot be read.

    Warns
    -----
    FastirWarning
        Once per call, with counts and examples: queries in only one of qrels and run while `queries` is None, rankings
        without any judged document, duplicates that were repaired. Scores that are all equal while `ties` is None;
        qrels and a run that look swapped. And, once for the qrels: fractions as labels, none of which reaches the
        usual `rel_level`.

    Notes
    -----
    **Qrels and runs**: a dict of qrels may have ids of relevant documents instead of labels (`Qrels.from_dict`). A
    table is read as by `from_table`, a file as by `from_file`. A dict is a table if it has columns of the usual names,
    or the names in `columns`; else its keys are query ids. Ids are str or int. Labels are numbers of any type,
    from -2^31 to 2^31 - 1, and fractions are not rounded; a negative label means that the document was in the pool
    but not judged. Scores are numbers of any type, infinite ones too, but not NaN; they are compared as `score_dtype`.
    A list has none: its order is the ranking, and an empty list is an empty ranking. Measures of ir_measures may be
    among the metrics: each is the metric that it prints, under this call's convention.

    **Queries**: with query ids only these are evaluated, and the qrels must have them all. A missing ranking is empty,
    as with "qrels"; other queries of the run are ignored.

    **Ties**: ids descending by bytes ("trec"), ids ascending, the order of the input, its reverse (as
    ``argsort()[::-1]`` of NumPy leaves equal scores), the best labels first, the worst labels first, or the expected
    value over all orders, for metrics with a formula for it. Labels in order give the best and the worst value of
    nearly all metrics; `metric` names the exceptions.

    **Conventions**: ``fastir conventions`` on the command line lists all of them. One sets queries, ties, score_dtype
    and the parameters of the metrics; options given in the call override it. `Results.convention` shows it.

    **Undefined**: a query without relevant documents counts as `metric` says, for nearly all metrics as 0, and has the
    status "no_relevant". The option `empty` changes that: with "one" it counts as 1; with "skip" its value is NaN and
    left out of the mean, and the mean of no values is NaN; with "nan" the mean is NaN, too. A query missing from the
    run is an empty ranking with the status "missing". A cutoff beyond the end of a ranking does not shrink to its
    length: P@10 of five documents divides by 10.

    **Integer ids**: one equals its decimal text in a file or a text column, and that text decides among equal scores;
    the report counts such ids.

    **Memory**: a table whose rows are grouped by query is evaluated while it is read, in memory for the longest query.
    Rows in any other order are read again, with 4 bytes kept for each, and 8 more with ``validate="full"``; documents
    that tie are looked up in the table. More than 2^21 such rows in Parquet are not kept with ``validate="judged"``:
    they are read twice, in memory for the judgments, and the report's repairs say that only judged documents were
    checked for duplicates. If a source can be read only once, its first 2^20 rows are kept; a query that reappears
    after them raises ValueError.

    **Threads**: the arguments are never changed, and any number of threads may call this at once. Other threads may
    change dicts and lists meanwhile, but not tables, which are read without a copy.
    """
    return Evaluator(qrels, metrics, **options).evaluate(run)


def evaluate_many(
    qrels: QrelsLike,
    runs: RunsLike,
    metrics: str | Iterable[str] = DEFAULT_METRICS,
    *,
    names: RunNames = "stem",
    progress: Callable[[Hashable, int], object] | None = None,
    **options: Unpack[EvaluateOptions],
) -> ResultsByRun:
    """Evaluate many runs against the same qrels, which are prepared once.

    Parameters
    ----------
    qrels, metrics : as for `evaluate`
    runs : mapping of name to run, list of runs, iterable of (name, run) or of paths, path or table
        Runs as for `evaluate`, under any names; a list names them by `Run.name` or by number. Files and `Run`
        objects are evaluated in parallel, dicts one after the other. An iterable is read one pair at a time. A folder
        or a pattern such as ``"runs/*"``, also as one of several paths, gives a run for each file; the file of the
        qrels is left out. A folder of hive partitions ``run=...`` or ``system=...`` gives a run for each partition. A
        table, in memory or in a file, has the name of each row's run in the column run, system, run_id or system_id, or
        the one named in `columns`; it is read as a whole.
    names : {"stem", "tag", "file"} or list
        How to name runs that are paths, folders or patterns. "stem": the file name without folders and suffixes, "bm25"
        for ``runs/bm25.run.gz``; runs with the same stem keep as many folders as tell them apart, ``x/bm25`` and
        ``y/bm25``. "file": the same with suffixes. "tag": the sixth field of the first line of a TREC file. A list: one
        name for each file, in order.
    progress : function of (name, position), or None
        Called repeatedly, in any thread, with the number of bytes read so far from a run's file.
    **options
        All options of `evaluate`; `n_threads` counts the threads of all runs together.

    Returns
    -------
    ResultsByRun
        A dict {name: Results} in the order of the runs; prints as a table and has `to_pandas`.

    Raises
    ------
    TypeError, ValueError
        `runs` is something else, two runs have the same name, or `names` is given for runs that are not files.
    UnknownMetricError, FormatError, DuplicateError, NoOverlapError, TypeError, ValueError, OverflowError, OSError
        As by `evaluate`, with the name or path of the run. If several runs have errors, the first one in the order of
        the runs is raised, dicts before files.

    Warns
    -----
    FastirWarning
        As by `evaluate`, for each run, with its name.

    Examples
    --------
    >>> import fastir
    >>> runs = {"x": {"q": {"a": 2.0}}, "y": {"q": {"b": 2.0, "a": 1.0}}}
    >>> fastir.evaluate_many({"q": {"a": 1}}, runs, ["mrr", "p@1"])
    run      mrr      p@1
    x    *1.0000  *1.0000
    y     0.5000   0.0000
    """
    from fastir.evaluation.run_collections import refuse_swapped

    refuse_swapped(qrels, runs)
    return Evaluator(qrels, metrics, **options).evaluate_many(runs, names=names, progress=progress)


def judged_rankings(qrels: QrelsLike, run: RunLike, **options: Unpack[RankingOptions]) -> JudgedRankings:
    """Judge a run: find the ranks of the judged documents, from which all metrics follow.

    Parameters
    ----------
    qrels, run : as for `evaluate`
    **options
        Options of `evaluate` that say how to read and order the run: ties, min_score, score_dtype, duplicates, parents,
        aggregate, exclude, validate, columns, qrels_columns, run_columns, label, n_threads, and a convention, which
        chooses these options. `queries` decides on errors and warnings ("qrels", "strict"); as a collection of ids, it
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
        if name not in ranking_options():
            raise TypeError(unknown_option(name))
    if isinstance(options.get("queries"), str) and options["queries"] == "intersection":
        raise ValueError(
            "queries='intersection': judged rankings keep the queries that are missing from the run; give it to "
            "JudgedRankings.evaluate"
        )
    return Evaluator(qrels, NUM_Q, **options).judged_rankings(run)


def ranking_options() -> frozenset[str]:
    """The options of `judged_rankings`; their module is one that `evaluate` does not load."""
    from fastir.evaluation.keywords import RankingOptions

    return frozenset(RankingOptions.__annotations__)


def unknown_option(name: str) -> str:
    """Why an option is none of `judged_rankings`: it is one of values, or it does not exist."""
    if name in (*VALUE_OPTIONS, *choice_params()):
        return f"judged_rankings has no option {name!r}; options of values belong to JudgedRankings.evaluate"
    from fastir.request.habits import option_hint

    known = sorted(ranking_options())
    return f"unknown option {name!r}{option_hint(name, known) or '; the options are ' + ', '.join(known)}"
