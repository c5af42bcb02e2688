"""Every result that is a table leaves by the same ways: each class, by a small example whose names need escapes.

A class that nobody has put here fails `test_every_class_has_an_example`.
"""
# Also of: columns.

import inspect
import json
import math
import pickle

import judged_by_both
import numpy as np
import pytest

import fastir
from fastir.data.results.exportable import Exportable, equal_values

ODD = 'q_1&<b>|%"\\'  # has a meaning in HTML, Markdown, LaTeX and JSON
QRELS = {ODD: {"d": 1, "e_&<": 1, "x": 0}, "q2": {"d": 1, "e_&<": 0}}
RUN = {ODD: {"d": 2.0, "e_&<": 3.0, "new_&<": 1.0}, "q2": {"d": 1.0, "e_&<": 2.0}}
SWAPPED = {ODD: {"d": 2.0, "e_&<": 1.0, "x": 3.0}, "q2": {"d": 2.0, "e_&<": 1.0}}
RUNS = {"bm25_&<": RUN, "dense": SWAPPED}
SAME = {"bm25_&<": RUN, "dense": RUN}


def segments(run):
    return fastir.evaluate(QRELS, run, ["map", "mrr"]).by_segment({ODD: "rare_&<", "q2": "common"})


# {class: (example, one of another value), each made by a call}
EXAMPLES = {
    "Agreement": lambda other: fastir.agreement(QRELS, {ODD: {"d": 1, "e_&<": 0, "x": other}}, n_resamples=100),
    "Bounds": lambda other: fastir.bounds(QRELS, SWAPPED if other else RUN, ["map", "ndcg@2"]),
    "Checked": lambda other: fastir.check(QRELS, {"bm25_&<": SWAPPED if other else RUN | {"q_&<": {"d": 1.0}}}),
    "Comparison": lambda other: fastir.compare(QRELS, SAME if other else RUNS, ["map", "mrr"]),
    "ConventionsDiff": lambda other: fastir.explain_conventions(
        QRELS, SWAPPED if other else RUN, ODD, "ndcg", ("lightgbm", "sklearn")
    ),
    "Contributions": lambda other: fastir.contributions(QRELS, RUNS, pool_depth=1 + other),
    "Explanation": lambda other: fastir.explain(QRELS, SWAPPED if other else RUN, ODD, ["map", "mrr"]),
    "Identified": lambda other: fastir.identify(QRELS, RUN, {"mrr" if other else "map": 0.75}, digits=2),
    "RiskCoverage": lambda other: fastir.risk_coverage(
        fastir.evaluate(QRELS, SWAPPED if other else RUN, "map"), "map", "max", run=SWAPPED if other else RUN
    ),
    "TieReport": lambda other: fastir.evaluate(QRELS, SWAPPED if other else RUN, "map", ties_report=True).ties(),
    "LeftOut": lambda other: fastir.leave_one_out(QRELS, SAME if other else RUNS, ["map"], pool_depth=1),
    "JudgeBias": lambda other: fastir.judge_bias(QRELS, {ODD: {"d": 1, "e_&<": 0, "x": other}}, {"s": {"d": "one_&<"}}),
    "Pool": lambda other: fastir.pool(RUNS, 1 + other),
    "PrecisionRecallCurve": lambda other: fastir.precision_recall_curve(QRELS, SWAPPED if other else RUN),
    "RocCurve": lambda other: fastir.roc_curve(QRELS, SWAPPED if other else RUN),
    "RankCorrelation": lambda other: fastir.rank_correlation(
        {"a_&<": 0.1, "b": 0.2, "c": 0.3}, {"a_&<": 0.3, "b": 0.2 - other, "c": 0.1}
    ),
    "RankedExplanation": lambda other: fastir.explain_ranked([2, 0, 1 + other], "ndcg"),
    "RankingDiff": lambda other: fastir.explain(QRELS, RUN, ODD, ["map"]).diff(
        fastir.explain(QRELS, RUN if other else SWAPPED, ODD, ["map"])
    ),
    "Report": lambda other: fastir.evaluate(QRELS, SWAPPED if other else RUN, "map").report,
    "Results": lambda other: fastir.evaluate(QRELS, SWAPPED if other else RUN, ["map", "mrr"]),
    "ResultsByConvention": lambda other: fastir.judged_rankings(QRELS, SWAPPED if other else RUN).by_convention(
        ["map", "mrr"], ["trec_eval-10", "ranx"]
    ),
    "ResultsByRun": lambda other: fastir.evaluate_many(QRELS, SAME if other else RUNS, ["map", "mrr"]),
    "ResultsBySegment": lambda other: segments(SWAPPED if other else RUN),
    "ResultsDiff": lambda other: fastir.evaluate(QRELS, SWAPPED, "map").diff(
        fastir.evaluate(QRELS, SWAPPED if other else RUN, "map"), "map"
    ),
    "ResultsTable": lambda other: fastir.ResultsTable(
        {"bm25_&<": fastir.evaluate(QRELS, SWAPPED if other else RUN, "map")}
    ),
    "UnderJudge": lambda other: fastir.evaluate_under_judge(
        judged_by_both.JUDGE, judged_by_both.HUMAN, judged_by_both.RUNS["ab"[other]], "map", n_draws=100
    ),
    "ComparisonUnderJudge": lambda other: fastir.compare_under_judge(
        judged_by_both.JUDGE, judged_by_both.HUMAN, judged_by_both.RUNS, "mrr" if other else "map", n_draws=100
    ),
    "Tuning": lambda other: fastir.tune(QRELS, RUNS, "map", grid=[[0.5, 0.5], [1.0, 0.0]][other:], folds=2),
    "ToJudge": lambda other: fastir.to_judge(QRELS, RUNS, "ndcg" if other else "map", 1),
}
NEED_SCIPY = ("Comparison", "RankCorrelation")
ARRAYS = (  # the others are no array
    *("Comparison", "Results", "ResultsByConvention", "ResultsByRun", "ResultsBySegment", "ResultsTable"),
)
SHARED = {
    "to_table": {"format": "text", "digits": 4, "transpose": False, "caption": None, "label": None},
    "to_json": {"per_query": True}, "to_pandas": {}, "to_arrow": {},
}  # fmt: skip


@pytest.fixture(params=EXAMPLES)
def name(request):
    if request.param in NEED_SCIPY:
        pytest.importorskip("scipy")
    return request.param


@pytest.fixture
def example(name):
    return EXAMPLES[name](0)


def classes(base=Exportable):
    for cls in base.__subclasses__():
        yield cls
        yield from classes(cls)


def test_every_class_has_an_example():
    assert all(getattr(fastir, name) for name in fastir.__all__)  # which imports them
    here = {cls.__name__ for cls in classes() if not cls.__module__.startswith(("fastir.spark", "test_"))}
    assert here == EXAMPLES.keys()
    assert here < {*fastir.__all__}


def test_an_example_is_of_its_class(name, example):
    assert type(example) is getattr(fastir, name)


@pytest.mark.parametrize("method", SHARED)
def test_signatures_are_shared(name, method):
    """A class may take more, by name; what it shares has one default."""
    parameters = dict(inspect.signature(getattr(getattr(fastir, name), method)).parameters)
    del parameters["self"]
    assert {key: parameters[key].default for key in SHARED[method]} == SHARED[method]
    for key, parameter in parameters.items():
        assert parameter.default is not parameter.empty
        if method == "to_table" and key != "format":
            assert parameter.kind == parameter.KEYWORD_ONLY


def test_equality_is_by_value(name, example):
    assert example == EXAMPLES[name](0)
    assert not example != EXAMPLES[name](0)  # noqa: SIM202
    assert example != EXAMPLES[name](1)
    assert example != 1
    with pytest.raises(TypeError, match="unhashable"):
        hash(example)


def test_a_pickled_copy_is_equal(name, example):
    copy = pickle.loads(pickle.dumps(example))
    assert copy == example
    assert example == copy
    assert copy != EXAMPLES[name](1)
    assert copy.to_table() == example.to_table()


def test_nan_equals_nan():
    one, two = (fastir.evaluate({**QRELS, "q2": {"d": 0}}, RUN, "map", empty="nan") for _ in range(2))
    assert math.isnan(one.per_query("map")["q2"])
    assert one == two
    assert equal_values({"a": np.array([math.nan])}, {"a": np.array([math.nan])})
    assert not equal_values([math.nan], [0.0])


def test_json_is_text_that_reads_back(example):
    for per_query in (True, False):
        text = example.to_json(per_query=per_query)
        assert type(text) is str
        assert text.isascii()
        assert json.loads(text, parse_constant=pytest.fail)


def test_tables_of_all_formats(example):
    for format in ("text", "markdown", "html", "latex", "csv"):
        for transpose in (False, True):
            assert example.to_table(format, transpose=transpose).strip()
    assert repr(example) == repr(example).rstrip("\n")
    assert example._repr_html_().startswith("<figure")
    with pytest.raises(ValueError, match="format"):
        example.to_table("pdf")
    for digits in (0, 18):
        with pytest.raises(ValueError, match="digits"):
            example.to_table(digits=digits)


def test_captions_and_labels(example):
    page = example.to_table("html", caption="Ours & <theirs>", label="tab:1")
    assert "Ours &amp; &lt;theirs&gt;" in page
    assert 'id="tab:1"' in page
    assert r"\caption{Ours \& \textless{}theirs" in example.to_table("latex", caption="Ours & <theirs>")
    assert r"\label{tab:1}" in example.to_table("latex", label="tab:1")


def test_names_are_escaped(example):
    page = example.to_table("html")
    assert "_&<" not in page
    assert "&<b>|" not in page
    for line in example.to_table("latex").replace(r"\&", "").splitlines()[1:]:
        assert "_&" not in line
        assert "q_1" not in line
    table = [line for line in example.to_table("markdown").splitlines() if line.startswith("|")]
    assert len({line.replace("\\\\", "").replace("\\|", "").count("|") for line in table}) == 1
    assert "<b>" not in "".join(table).replace("\\<", "")


def test_frames(example):
    pandas = pytest.importorskip("pandas")
    frame = example.to_pandas()
    assert isinstance(frame, pandas.DataFrame)
    assert len(frame) == rows(example)
    assert example.to_pandas() is not frame


def test_arrow(example):
    pyarrow = pytest.importorskip("pyarrow")
    table = example.to_arrow()
    assert isinstance(table, pyarrow.Table)
    assert table.num_rows == rows(example)
    assert table.column_names == list(example._columns())
    for read in (pyarrow.table(example), pyarrow.RecordBatchReader.from_stream(example).read_all()):
        assert read.schema == table.schema
        assert equal_values(read.to_pydict(), table.to_pydict())


def test_polars(name, example):
    polars = pytest.importorskip("polars")
    frame = polars.DataFrame(example)
    assert frame.columns == list(example._columns())
    assert frame.height == rows(example)


def rows(example):
    return len(next(iter(example._columns().values())))


def test_numpy_gets_values_or_is_told_where_they_are(name, example):
    if name in ARRAYS:
        assert np.asarray(example).dtype == np.float64
        assert np.asarray(example, np.float32).dtype == np.float32
        assert np.asarray(example).size
    else:
        with pytest.raises(TypeError, match=rf"{name} is not a single array.*{name}\.to_pandas\(\)"):
            np.asarray(example)
