"""Preferences in files and dicts: what is refused, and parts, levels and pairs that say the same."""

import random

import pytest
from preferred import PREFS, RUN

import fastir
from fastir.request.names import NICKNAMES

METRICS = NICKNAMES["all_prefs"].split()

pytestmark = pytest.mark.filterwarnings("ignore::fastir.FastirWarning")  # rankings without a judged document


@pytest.fixture
def files(tmp_path):
    for name, text in {"prefs": PREFS, "run": RUN}.items():
        (tmp_path / name).write_text(text)
    return tmp_path / "prefs", tmp_path / "run"


@pytest.mark.parametrize("seed", range(30))
def test_labels_groups_and_parts_of_one_judge_are_the_same_preferences(seed):
    """Labels are counted by the kernels, groups and parts by positions."""
    rng = random.Random(seed)
    qrels = {f"q{i}": {f"d{j}": rng.randint(0, 4) for j in range(rng.randint(1, 20))} for i in range(5)}
    run = {query: {f"d{j}": rng.randint(0, 9) for j in rng.sample(range(25), 12)} for query in qrels}
    options = {"queries": "qrels", "ties": "doc_id_asc"}
    plain = fastir.evaluate(qrels, run, METRICS, **options)
    groups = fastir.evaluate({query: {"ann": docs} for query, docs in qrels.items()}, run, METRICS, **options)
    parts = fastir.evaluate({query: {"ann": {"": docs}} for query, docs in qrels.items()}, run, METRICS, **options)
    assert plain.to_dict() == groups.to_dict() == parts.to_dict()
    shallow = fastir.evaluate(qrels, run, METRICS, max_depth=3, **options)
    assert shallow.to_dict() == fastir.evaluate(parts_of(qrels), run, METRICS, max_depth=3, **options).to_dict()


def parts_of(qrels):
    return {query: {"ann": {"": docs}} for query, docs in qrels.items()}


def test_pairs_of_documents_in_place_of_levels():
    """The answers of a judge who sees two documents at a time."""
    answers = [("a", "b"), ("b", "c"), ("a", "c")]
    parts = {number: {better: 1, worse: 0.5} for number, (better, worse) in enumerate(answers)}
    results = fastir.evaluate({"q": {"model": parts}}, {"q": ["a", "c", "b"]}, "prefs_simp")
    assert results["prefs_simp"] == 2 / 3


@pytest.mark.parametrize(("line", "message"), [
    ("q1 ann 1 f", "prefs:19: malformed prefs line with 4 fields, expected exactly 5 fields"),
    ("q1 ann 1 f much", "prefs:19: level 'much' is not a number"),
    ("q1 ann 1 a 2", "prefs:19: .*(twice|already|line 1)"),
    ("q1 ann 2 a 0", "query 'q1', judge 'ann': document 'a' has the level 0 and another one"),
    ("q2 ann 4 c 2\nq2 ann 4 a 1", "prefs: query 'q2', judge 'ann': document 'a' is preferred to 'b'"),
])  # fmt: skip
def test_a_file_that_is_refused(line, message, files):
    with files[0].open("a") as file:
        file.write(f"{line}\n")
    with pytest.raises(ValueError, match=message):
        fastir.Qrels.from_file(files[0], "prefs")


@pytest.mark.parametrize(("qrels", "error", "message"), [
    ({"q": {"ann": {"1": {"a": "3"}}}}, TypeError, "level must be a number, got str '3' .query q, document a"),
    ({"q": {"ann": {"1": {"a": float("nan")}}}}, ValueError, "level is NaN .query q, document a"),
    ({"q": {"ann": {"1": {"a": 1}}}, "p": 3}, TypeError, "query 'p' must map to a dict"),
    ({"q": {"ann": {"1": {"a": 0}, "2": {"a": 2}}}}, ValueError, "document 'a' has the level 0 and another one"),
    ({"q": {"ann": {"1": {"a": 2}, "2": {"a": 0}}}}, ValueError, "document 'a' has the level 0 and another one"),
    ({"q": {"ann": {"1": {"a": 1, "b": 2}, "2": {"a": 2, "b": 1}}}}, ValueError, "'a' is preferred to 'b', and"),
])  # fmt: skip
def test_data_that_are_refused(qrels, error, message):
    with pytest.raises(error, match=message):
        fastir.Qrels.from_dict(qrels)
