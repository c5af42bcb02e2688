"""The package is typed for its users: their programs pass `mypy --strict`, those of the pages and others.

An argument that fastir refuses when it runs is refused here as well: `type: ignore` on a line without an error is one.
"""

import os
import re
import subprocess
import sys
import sysconfig
from pathlib import Path

import pytest
from pages import PAGES, blocks, imports_of, name_of

import fastir

PACKAGES = str(Path(fastir.__file__).parents[1])
PROGRAM = """\
from collections.abc import Iterator
from pathlib import Path
from typing import assert_type

import numpy as np

import fastir
from fastir.data.qrels import QrelsLike
from fastir.data.run import RunLike, RunsLike

Ranking = dict[str, float]


def evaluated(qrels: QrelsLike, run: RunLike) -> float:
    return fastir.evaluate(qrels, run, "map")["map"]


def best(qrels: QrelsLike, runs: RunsLike) -> float:
    found = fastir.evaluate_many(qrels, runs, ["map"])
    assert_type(found["a"], fastir.Results)
    return max(results["map"] for results in found.values())


def rows() -> Iterator[tuple[str, int, float]]:
    yield "q", 1, 0.5


judged: dict[str, dict[str, int]] = {"q": {"d": 1}}
ranked: dict[str, Ranking] = {"q": {"d": 1.0}}
paths: dict[str, str] = {"a": "a.run"}
named: list[tuple[str, fastir.Run]] = [("a", fastir.Run.from_dict(ranked))]
mixed: dict[str, RunLike] = {"a": Path("a.run"), "b": ranked}
by_number: dict[int, dict[int, np.float32]] = {1: {2: np.float32(0.5)}}
by_subtopic: dict[str, dict[str, dict[str, int]]] = {"q": {"subtopic": {"d": 1}}}
columns: dict[str, list[str] | list[float]] = {"query_id": ["q"], "doc_id": ["d"], "score": [0.5]}

evaluated(judged, ranked)
evaluated({1: {2: 1}}, by_number)
evaluated(by_subtopic, "a.run")
evaluated(Path("qrels.txt"), b"a.run")
evaluated(fastir.Qrels.from_file(Path("qrels.txt")), rows())
evaluated(fastir.Qrels.from_table([("q", "d", 1)]), columns)
best(judged, paths)
best(judged, named)
best("qrels.txt", mixed)
assert_type(fastir.Evaluator(judged, "map").evaluate(ranked).per_query("map"), dict[str, float])
assert_type(fastir.evaluate(judged, ranked, "map").by_segment({"q": "all"})["all"], fastir.Results)

fastir.evaluate(judged, 3, "map")  # type: ignore[arg-type]
fastir.evaluate(judged, {"q": {"d": "high"}}, "map")  # type: ignore[arg-type]
fastir.evaluate(judged, ranked, "map", ties="random")  # type: ignore[arg-type]
fastir.evaluate(judged, ranked, "map", rel_level=0.5)
fastir.evaluate_many(judged, [3], "map")  # type: ignore[arg-type]
fastir.evaluate_many(judged, ["a.run"], "map", names="tag")
"""

# Every public name, as a strict user has it.
SURFACE = """\
from pathlib import Path
from typing import assert_type

import numpy as np

import fastir
from fastir import compat, conventions, plots, spark, stats

Judged = dict[str, dict[str, int]]
Ranked = dict[str, dict[str, float]]
qrels: Judged = {"q1": {"a": 1, "b": 0}, "q2": {"a": 2}}
run: Ranked = {"q1": {"a": 0.5, "b": 0.7}, "q2": {"a": 0.1, "c": 0.3}}
runs: dict[str, Ranked] = {"bm25": run, "dense": run}
labels, scores = np.array([1, 0, 2]), np.array([0.5, 0.4, 0.3])

results = fastir.evaluate(qrels, run, ["map", "ndcg@10"], queries="qrels", n_threads=1)
many = fastir.evaluate_many(qrels, runs, "map")
evaluator = fastir.Evaluator(qrels, [fastir.metric("map"), "ndcg"], rel_level=1)
assert_type(results, fastir.Results)
assert_type(results["map"], float)
assert_type(results[fastir.metric("map")], float)
assert_type(results.per_query("map"), dict[str, float])
assert_type(many, fastir.ResultsByRun)
assert_type(many["bm25"], fastir.Results)
assert_type(results.report, fastir.Report)
assert_type(results.by_segment({"q1": "x", "q2": "y"}), fastir.ResultsBySegment[fastir.Results])
assert_type(results.diff(results, "map"), fastir.ResultsDiff)
assert_type(results.ties(), fastir.TieReport)
assert_type(results.ties()["map"], fastir.TieRange)
assert_type(results.diff(results, "map").gains, list[fastir.QueryChange])
assert_type(results.to_table("latex", digits=3, caption="Means", label="tab:means"), str)
assert_type(results.to_json(per_query=False), str)
results.to_pandas()
results.save(Path("a.json"))
many.save("all.tsv")
assert_type(fastir.Results.load("a.json"), fastir.Results)
assert_type(fastir.judged_rankings(qrels, run).by_convention("map"), fastir.ResultsByConvention)
assert_type(fastir.load_results("all.tsv"), fastir.Results | fastir.ResultsByRun)
assert_type(evaluator.evaluate(run), fastir.Results)
assert_type(evaluator.explain(run, "q1"), fastir.Explanation)

assert_type(fastir.evaluate_lists([["a", "b"]], [["a"]], "mrr"), fastir.Results)
assert_type(fastir.evaluate_scores(labels, scores, "ndcg", group=np.array([2, 1])), fastir.Results)
assert_type(fastir.evaluate_ranked(labels, [0, 2, 3], "ndcg"), fastir.Results)
assert_type(fastir.evaluate_matrix(scores[None], labels[None], "ndcg"), fastir.Results)
assert_type(fastir.evaluate_topk(labels[None], [[0, 1]], "recall@2"), fastir.Results)
fastir.Accumulator("ndcg").update(labels, scores, group=[3])
verdicts = [{"query_id": "q", "nugget": "n", "importance": "vital", "assignment": "support"}]
assert_type(fastir.evaluate_nuggets(verdicts, "nugget_recall", missing="zero"), fastir.ResultsByRun)
assert_type(fastir.evaluate_citations("citations.csv", ["citation_recall"]), fastir.ResultsByRun)
shares = {"a": {"x": 1.0}}
assert_type(fastir.expected_exposure(qrels, {"q1": [["a"], ["b"]]}, shares, {"x": 1}), fastir.Results)

comparison = fastir.compare(qrels, runs, ["map"], test="t", correction="holm", random_state=0)
fastir.compare(qrels, runs, fastir.metric("ndcg@10"), convention="trec_eval", parents={"a": "b"}, gain="exp2")
assert_type(comparison, fastir.Comparison)
assert_type(comparison.pairs, list[fastir.Pair])
assert_type(comparison.systems, list[fastir.System])
assert_type(comparison.method, fastir.Method)
assert_type(fastir.compare_scores({"a": {"q": 0.5}, "b": {"q": 0.4}}), fastir.Comparison)
assert_type(stats.t_test([0.1, 0.2], [0.3, 0.5]).p_value, float)

explanation = fastir.explain(qrels, run, "q1", ["map"])
assert_type(explanation.documents, list[fastir.Document])
assert_type(explanation.diff(explanation), fastir.RankingDiff)
assert_type(explanation.diff(explanation).moves, list[fastir.Move])
explanation.to_arrow()
ranked: fastir.RankedExplanation = fastir.explain_ranked(labels, "dcg")
assert_type(ranked.documents, list[fastir.RankedLabel])
curve: fastir.PrecisionRecallCurve = fastir.precision_recall_curve(qrels, run)
assert_type(curve.area(), float)
roc: fastir.RocCurve = fastir.roc_curve(qrels, run)
risk: fastir.RiskCoverage = fastir.risk_coverage(fastir.evaluate(qrels, run, "mrr"), "mrr", "max", run=run)
own: fastir.CustomMetric = fastir.custom_metric("depth", lambda rankings: rankings.num_ret)
fastir.evaluate(qrels, run, ["map", own])
assert_type(fastir.judged_rankings(qrels, run), fastir.JudgedRankings)
assert_type(fastir.bounds(qrels, run, "map"), fastir.Bounds)
assert_type(evaluator.partial(run), fastir.Partial)

assert_type(fastir.pool(runs, 10), fastir.Pool)
assert_type(fastir.contributions(qrels, runs), fastir.Contributions)
assert_type(fastir.leave_one_out(qrels, runs, "map"), fastir.LeftOut)
assert_type(fastir.to_judge(qrels, runs, "map", 10), fastir.ToJudge)
assert_type(fastir.merge_qrels(qrels, "more.qrels"), fastir.Qrels)
assert_type(fastir.agreement(qrels, qrels), fastir.Agreement)
bias = fastir.judge_bias(qrels, qrels, {"length": {"a": 1}}, runs={"run": run})
assert_type(bias, fastir.JudgeBias)
assert_type(bias.groups, list[fastir.BiasGroup])
assert_type(bias.slopes, list[fastir.BiasSlope])
corrected: fastir.UnderJudge = fastir.evaluate_under_judge(qrels, qrels, run, "map", n_draws=100)
assert_type(corrected.means["map"], fastir.JudgedMean)
assert_type(corrected.answers, list[fastir.HumanAnswers])
differences: fastir.ComparisonUnderJudge = fastir.compare_under_judge(qrels, qrels, runs, ["map"])
assert_type(differences.pairs, list[fastir.JudgedDifference])
correlation = fastir.rank_correlation({"a": 0.1, "b": 0.2}, many, "map")
assert_type(correlation, fastir.RankCorrelation)
assert_type(correlation.swaps[0], fastir.Swap)
fastir.similarity(run, run, "rbo")
assert_type(fastir.fuse([run, run], "wsum", "min-max", [0.5, 0.5], k=10), fastir.Run)
tuning = fastir.tune(qrels, runs, "map", grid=[[0.5, 0.5]], folds=2, rel_level=2)
assert_type(tuning, fastir.Tuning)
assert_type(tuning.trials[0], fastir.Trial)
assert_type(tuning.folds[0], fastir.Fold)
assert_type(fastir.explain_conventions(qrels, run, None, "map", ("beir", "ranx"), ties="trec"), fastir.ConventionsDiff)
found = fastir.identify(qrels, run, {"ndcg@10": "0.2340", "map": 0.25}, digits=None)
assert_type(found, fastir.Identified)
assert_type(list(found), list[fastir.Answer])
assert_type(found[0].convention, str)
checked = fastir.check(qrels, runs, max_depth=1000, exactly_queries=["q1"], tag="team.*")
assert_type(checked, fastir.Checked)
assert_type(list(checked), list[fastir.Fault])
assert_type(
    fastir.write_report(qrels, {"a": run, "b": run}, ["map"], "r.html", k=20, test="sign", segments={"q1": "x"}),
    fastir.ReportFile,
)
fastir.check("qrels.txt", "a.run", names="tag", exactly_queries=Path("topics.txt"), examples=10)

assert_type([metric.name for metric in fastir.metrics()], list[str])
assert_type(fastir.metric("ndcg@10"), fastir.Metric)
compat.install("pytrec_eval")
assert_type(fastir.Qrels.from_dict(qrels), fastir.Qrels)
assert_type(fastir.Run.from_file("a.run"), fastir.Run)
conventions.CONVENTIONS["trec_eval"]
assert_type(results.convention, fastir.Convention)
plots.overview(comparison)
plots.cutoffs(qrels, runs, fastir.metric("ndcg"), names=["bm25", "dense"], rel_level=2, gain="exp2")
plots.precision_recall(qrels, runs, raw=True, ties="trec", queries="intersection")
plots.ranked_cutoffs({"a": [1, 0, 2]}, "err", max_grade=2)
spark.evaluate
fastir.show_config()
try:
    table: fastir.ResultsTable[fastir.Results] = many
except (fastir.FormatError, fastir.DuplicateError, fastir.NoOverlapError, fastir.UnknownMetricError) as error:
    raised: fastir.FastirError = error
warning: type[Warning] = fastir.FastirWarning

fastir.evaluate(qrels, run, "map", 2)  # type: ignore[call-arg, arg-type]
fastir.evaluate(qrels, run, "map", threads=2)  # type: ignore[call-arg]
fastir.compare(qrels, runs, "map", test="z")  # type: ignore[arg-type]
fastir.compare(qrels, runs, "map", weights={"q1": 2.0})  # type: ignore[call-arg]
fastir.compare(qrels, runs, "map", ties="random")  # type: ignore[arg-type]
fastir.explain(qrels, run, "q1", "map", ties="random")  # type: ignore[arg-type]
fastir.evaluate_scores(labels, scores, "ndcg", gain=2)  # type: ignore[arg-type]
plots.cutoffs(qrels, runs, "ndcg", level=2)  # type: ignore[call-arg]
fastir.pool(runs)  # type: ignore[call-arg]
fastir.agreement(qrels, qrels, scale="ratio")  # type: ignore[arg-type]
"""

# Functions without annotations, and what strict programs must narrow first: a Figure or SubFigure, one or many Results.
LOOSE = {"docs/nightly.md", "docs/plots.md"}
TYPED = {"matplotlib", "numpy", "pandas", "polars", "pyarrow"}  # or at least no error where they are called


def programs():
    """{name of a file: program}: the Python of each page that calls no other tool, and the two above."""
    found = {"program.py": PROGRAM, "surface.py": SURFACE}
    for page in PAGES:
        code = "\n".join(code for language, code in blocks(page) if language == "python")
        if code and name_of(page) not in LOOSE and set(imports_of(page)) <= TYPED:
            found[f"page_{page.parent.name}_{page.stem}.py"] = code
    return found


def test_the_program_over_the_surface_has_every_public_name():
    named = set(re.findall(r"\bfastir\.(\w+)", SURFACE)) | set(
        re.search("from fastir import (.*)", SURFACE)[1].split(", ")
    )
    assert named == {*fastir.__all__}


@pytest.mark.site
def test_programs_of_strict_users_have_no_type_error(tmp_path):
    pytest.importorskip("mypy")
    for name, code in programs().items():
        (tmp_path / name).write_text(code, "utf-8")
    installed = sysconfig.get_path("purelib") == PACKAGES
    search = {} if installed else {"MYPYPATH": PACKAGES}  # mypy does not follow the hook of an editable install
    # pandas has its types in a package of its own
    options = ["--strict", "--follow-imports=silent", "--disable-error-code=import-untyped", "--cache-dir=cache"]
    done = subprocess.run(
        [sys.executable, "-m", "mypy", *options, *programs()], cwd=tmp_path, env=os.environ | search,
        stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True,
    )  # fmt: skip
    assert done.returncode == 0, done.stdout
