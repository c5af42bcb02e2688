"""One concept has one name, one default and one place in every public function, and docs/api_table.md shows all."""

import inspect
import sys

import pytest
from pages import DOCS, NEEDS_PAGES

from fastir.request.option_rows import BY_NAME

pytestmark = NEEDS_PAGES

# {(parameter, function): why it is not as in the other functions}
EXCEPTIONS = {
    ("k", "write_report"): "ten rows a query keep the page small; a picture has room for twenty",
    ("method", "tune"): "of fusion, as in fuse; one that needs weights",
    ("norm", "tune"): "a weighted sum needs one",
    ("method", "stats.bootstrap_interval"): "as SciPy calls it",
    ("metric", "plots.cutoffs"): "the family whose cutoffs are drawn",
    ("metric", "plots.ranked_cutoffs"): "the family whose cutoffs are drawn",
    ("metrics", "similarity"): "measures of two rankings, without qrels",
    ("metrics", "compare_scores"): "all that the Results have",
    ("metrics", "evaluate_ranked"): "by place, behind offsets that may be left out",
    ("offsets", "evaluate_ranked"): "by place, as before a matrix needed none",
    ("pool_depth", "to_judge"): "judging deeper than runs are read is rarely worth it",
}


@pytest.fixture(scope="module")
def api_table():
    pytest.importorskip("matplotlib")
    sys.path.insert(0, str(DOCS / "site"))
    try:
        import api_table
    finally:
        sys.path.pop(0)
    return api_table


def test_the_page_is_up_to_date(api_table):
    page = (DOCS / "api_table.md").read_text("utf-8")
    assert page == api_table.table(), "python docs/site/api_table.py > docs/api_table.md"


def test_options_have_the_default_of_their_row_and_are_given_by_name(api_table):
    for name, parameter in api_table.parameters():
        row = BY_NAME.get(parameter.name)
        if row and row.type and parameter.default is not parameter.empty and (row.name, name) not in EXCEPTIONS:
            assert (parameter.default, parameter.kind) == (row.default, parameter.KEYWORD_ONLY), f"{name}: {parameter}"


def test_a_parameter_is_the_same_in_every_function(api_table):
    """It has one default and is given in one way, or must be given, by place, where a call has no meaning without."""
    forms, used = {}, set()
    for name, parameter in api_table.parameters():
        if parameter.kind not in api_table.OPEN and parameter.default is not parameter.empty:
            form = api_table.default(parameter), parameter.kind == parameter.KEYWORD_ONLY
            forms.setdefault(parameter.name, {}).setdefault(form, []).append(name)
    for parameter, by_form in forms.items():
        kept = {}
        for form, names in by_form.items():
            if rest := [name for name in names if (parameter, name) not in EXCEPTIONS]:
                kept[form] = rest
            if len(by_form) > 1:
                used |= {(parameter, name) for name in names} & EXCEPTIONS.keys()
        assert len(kept) <= 1, f"{parameter} has several forms: {kept}"
    assert used == EXCEPTIONS.keys(), "an exception that nothing needs any longer"
    assert len(EXCEPTIONS) < 12


def test_a_concept_has_one_name(api_table):
    names = {parameter.name for _, parameter in api_table.parameters()}
    assert [word for row in BY_NAME.values() for word in row.also if word in names] == []


def test_arguments_stand_in_one_order(api_table):
    """qrels before runs, labels before scores, and metrics after both."""
    order = ["qrels", "run", "runs", "retrieved", "relevant", "query_id", "metric", "metrics"]
    for name, function in api_table.functions():
        places = [order.index(each) for each in inspect.signature(function).parameters if each in order]
        if name not in ("evaluate_matrix", "evaluate_topk", "risk_coverage"):  # scores, then what is relevant; results
            assert places == sorted(places), name
