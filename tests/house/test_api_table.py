"""One concept has one name, one default and one place in every public function, and docs/api_table.md shows all."""

import inspect
import sys

import pytest
from pages import DOCS, NEEDS_PAGES

pytestmark = NEEDS_PAGES

# {parameter: default}: options of many functions, which are given by name
OPTIONS = {
    "alpha": 0.05,
    "confidence": 0.95,
    "convention": "fastir",
    "correction": "auto",
    "duplicates": None,
    "judged_only": False,
    "max_depth": None,
    "max_label": None,
    "n_resamples": 100_000,
    "n_threads": None,
    "queries": None,
    "random_state": 0,
    "rel_level": 1,
    "score_dtype": None,
    "segments": None,
    "sort": False,
    "test": "t",
    "ties": None,
    "weights": None,
}
# {parameter: names that it would have elsewhere}, which none has here
SYNONYMS = {
    "confidence": ("confidence_level", "level"),
    "convention": ("conventions", "preset"),
    "metrics": ("measure", "measures"),
    "n_resamples": ("n_bootstrap", "n_permutations", "resamples", "samples"),
    "n_threads": ("n_jobs", "num_threads", "threads", "workers"),
    "query_ids": ("qids", "topics"),
    "random_state": ("rng", "seed"),
    "rel_level": ("relevance_level", "relevant_from", "min_rel"),
    "segments": ("groups", "strata_of"),
}
# {(parameter, function): why it is not as in the other functions}
EXCEPTIONS = {
    ("depth", "write_report"): "ranks that are shown, not those that count",
    ("method", "fuse"): "reciprocal rank fusion, which needs no weights and no norm",
    ("norm", "fuse"): "as it is",
    ("method", "tune"): "of fusion, as in fuse; one that needs weights",
    ("norm", "tune"): "a weighted sum needs one",
    ("weights", "fuse"): "of runs, behind the method and the norm that they belong to",
    ("name", "fuse"): "what the run that is made is called",
    ("b", "agreement"): "two sides are needed; tests of differences also take these alone",
    ("b", "rank_correlation"): "as in agreement",
    ("b", "similarity"): "as in agreement",
    ("b", "stats.effect_size"): "an effect size of most kinds needs both samples",
    ("b", "stats.welch_test"): "two samples without pairs",
    ("b", "stats.ppi_difference"): "two runs with labels of a model",
    ("b", "plots.differences"): "the names of two runs",
    ("names", "plots.leaderboards"): "what two given leaderboards are called: no runs are read",
    ("b", "plots.leaderboards"): "two leaderboards",
    ("baseline", "plots.forest"): "what the picture is about, as the runs of plots.differences",
    ("bounds", "plots.bounds"): "what is drawn, where compare takes whether there are any",
    ("effect", "stats.power"): "a size, where compare takes the name of a kind",
    ("effect", "stats.sample_size"): "a size, where compare takes the name of a kind",
    ("k", "plots.rank_weights"): "the last rank that is drawn",
    ("k", "plots.ranking"): "as in plots.rank_weights",
    ("method", "stats.adjust"): "the name of a correction, without which there is nothing to do",
    ("metric", "explain_ranked"): "there are no results yet of which it could be the only one",
    ("metric", "explain_conventions"): "as in explain_ranked",
    ("metric", "to_judge"): "as in explain_ranked",
    ("metric", "tune"): "as in explain_ranked",
    ("metric", "plots.cutoffs"): "the family whose cutoffs are drawn",
    ("metric", "plots.ranked_cutoffs"): "the family whose cutoffs are drawn",
    ("metrics", "compare_scores"): "None is all that the scores have",
    ("metrics", "similarity"): "measures of two rankings, without qrels",
    ("offsets", "evaluate_ranked"): "without scores, nothing else divides the labels",
    ("pool_depth", "pool"): "what a pool is; None for all must be said",
    ("pool_depth", "to_judge"): "judging deeper than runs are read is rarely worth it",
    ("scores", "evaluate_topk"): "the order of the indices is the ranking",
}

# Names that another concept has elsewhere.
NAMED_SO = {("seed", "tune"): "of the division into folds, which is no resampling"}


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


def test_options_of_many_functions_have_one_default_and_are_given_by_name(api_table):
    seen = set()
    for name, parameter in api_table.parameters():
        if parameter.name in OPTIONS:
            seen.add(parameter.name)
            if (parameter.name, name) in EXCEPTIONS:
                continue
            found = parameter.default, parameter.kind
            assert found == (OPTIONS[parameter.name], parameter.KEYWORD_ONLY), f"{name}: {parameter}"
    assert seen == OPTIONS.keys()


def test_a_parameter_is_the_same_in_every_function(api_table):
    forms, used = {}, set()
    for name, parameter in api_table.parameters():
        if parameter.kind not in api_table.OPEN:
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


def test_a_concept_has_one_name(api_table):
    names = {parameter.name for name, parameter in api_table.parameters() if (parameter.name, name) not in NAMED_SO}
    assert SYNONYMS.keys() <= names
    assert [each for synonyms in SYNONYMS.values() for each in synonyms if each in names] == []


def test_arguments_stand_in_one_order(api_table):
    """qrels before runs, labels before scores, and metrics after both."""
    order = ["qrels", "run", "runs", "retrieved", "relevant", "query_id", "metric", "metrics"]
    for name, function in api_table.functions():
        places = [order.index(each) for each in inspect.signature(function).parameters if each in order]
        if name not in ("evaluate_matrix", "evaluate_topk"):  # scores, then what is relevant in them
            assert places == sorted(places), name
