"""A row says all of an option: the written TypedDicts, signatures, docstrings and messages agree with it."""

import inspect
import re
import sys

import pytest
from pages import DOCS, NEEDS_PAGES

import fastir
from fastir.analyses.compare import keywords as of_comparisons
from fastir.evaluation import keywords as of_evaluate
from fastir.request import keywords as of_values
from fastir.request.option_rows import BY_NAME, every_row, suggestion

# {(option, function): the annotation there}, where a call takes a part of what others take
NARROWER = {
    **{("ties", f"evaluate_{kind}"): "TiesWithoutIds | None" for kind in ("matrix", "scores", "topk")},
    **{("ties", name): "TiesOfRanks | None" for name in ("fuse", "tune")},
    **{(name, f"evaluate_{kind}"): "Any" for name in ("doc_weights", "exclude") for kind in ("matrix", "topk")},
    **{("weights", f"evaluate_{kind}"): None for kind in ("lists", "matrix", "ranked", "scores", "topk")},
    ("doc_weights", "evaluate_lists"): "DocWeights | os.PathLike[str] | None",
    ("duplicates", "merge_qrels"): "str | None",
    ("progress", "identify"): "Callable[[int, int], object] | None",
    ("metrics", "similarity"): None,
}
FUNCTIONS = {n: getattr(fastir, n) for n in fastir.__all__ if n[0].islower()} | {"Evaluator": fastir.Evaluator}
TAKEN = [
    (name, parameter)
    for name, function in FUNCTIONS.items()
    if callable(function)
    for parameter in inspect.signature(function).parameters.values()
    if parameter.name in BY_NAME and BY_NAME[parameter.name].type and parameter.default is not parameter.empty
]


@NEEDS_PAGES
def test_typed_dicts_are_what_the_script_writes():
    sys.path.insert(0, str(DOCS / "site"))
    try:
        import keywords
    finally:
        sys.path.pop(0)
    for path, content in keywords.FILES.items():
        assert (keywords.PACKAGE / path).read_text("utf-8") == content(), "python docs/site/keywords.py"


@pytest.mark.parametrize(("name", "parameter"), TAKEN, ids=lambda each: getattr(each, "name", each))
def test_a_signature_has_the_type_of_the_row(name, parameter):
    expected = NARROWER.get((parameter.name, name), BY_NAME[parameter.name].type)
    assert expected is None or parameter.annotation == expected


def entries(function):
    """{names: text} of the parameters that a docstring describes."""
    text = inspect.getdoc(function).partition("\nParameters\n")[2]
    found = re.findall(r"(?m)^([\w*, ]+?)( :.*)?\n((?:(?: +.*)?\n)*)", text)
    return {names: about + body for names, about, body in found}


DESCRIBED = [each for each in TAKEN if each[0] != "Evaluator"]  # whose options are those of evaluate


@pytest.mark.parametrize(("name", "parameter"), DESCRIBED, ids=lambda each: getattr(each, "name", each))
def test_a_docstring_describes_the_option_with_its_choices_or_says_where(name, parameter):
    described = [text for names, text in entries(FUNCTIONS[name]).items() if parameter.name in re.split(r", ?", names)]
    assert described, f"{name} does not describe {parameter.name}"
    row = BY_NAME[parameter.name]
    if row.choices and (row.name, name) not in NARROWER and not re.search(r"(?i)\bas (for|in) `", described[0]):
        missing = [word for word in row.words() if word != "none" and f'"{word}"' not in described[0]]
        assert not missing or "`fastir.stats" in described[0] or "``fastir.stats" in described[0], missing


def test_an_error_about_a_word_that_others_have_names_the_option():
    runs = [{"q": {"a": 1.0}}, {"q": {"a": 2.0}}]
    qrels = {"q": {"a": 1}, "p": {"a": 1}}
    with pytest.raises(TypeError, match="unknown option 'seed'; it is 'random_state' in calls that have it"):
        fastir.tune(qrels, runs, "mrr", folds=2, seed=1)
    with pytest.raises(TypeError, match="unknown option 'n_jobs'; did you mean 'n_threads'"):
        fastir.evaluate(qrels, runs[0], "mrr", n_jobs=2)
    with pytest.raises(TypeError, match="no parameter 'top'; did you mean 'max_depth'"):
        fastir.fuse(runs, top=3)
    assert suggestion("nothing") == ""


def test_rows_are_called_once_and_their_words_can_be_read():
    rows = list(every_row())
    words = [word for row in rows for word in (row.name, *row.also)]
    assert len(set(words)) == len(words)
    for row in rows:
        assert not row.choices or all(isinstance(word, str) for word in row.words()), row.name


KINDS = {
    name: set(kind.__annotations__) & BY_NAME.keys()
    for module in (of_comparisons, of_evaluate, of_values)
    for name, kind in vars(module).items()
    if hasattr(kind, "__total__")
}
OPEN_ENDED = {
    name: found[1]
    for name, function in FUNCTIONS.items()
    if callable(function) and (found := re.search(r"Unpack\[(?!Metric)(\w+)\]", str(inspect.signature(function))))
}


@pytest.mark.parametrize("name", [name for name in OPEN_ENDED if name != "explain_conventions"])  # which chooses two
def test_a_docstring_names_the_options_of_the_typed_dict(name):
    """It lists them, or those of `evaluate` that the call does not take."""
    kind = KINDS[OPEN_ENDED[name]]
    described = entries(FUNCTIONS[name])
    if name == "evaluate":  # which describes them one by one
        assert kind <= {word for names in described for word in names.split(", ")}
        return
    text = next(text for names, text in described.items() if "**options" in names)
    refused = re.search(r"ptions of `evaluate`(?:, except (`\w+`(?:(?:,| and)\s+`\w+`)*)|[.;])", text)
    if refused:
        assert set(re.findall(r"\w+", refused[1] or "")) - {"and"} == KINDS["EvaluateOptions"] - kind
    elif len(listed := set(re.findall(r"\w+", re.sub(r'"\w+"', "", text))) & BY_NAME.keys()) > 2:
        assert listed - {"metrics"} == kind
