"""Judgments of a sample from files and dicts: what they say, repeat, and lack."""

import math
import pickle
import re
from pathlib import Path

import pytest
from sampled import PRELS, PRELS_RUN, RUN, STRATA

import fastir

BY_STRATA = [card.name for card in fastir.metrics() if card.sampled == "strata"]
BY_PROBABILITY = [card.name for card in fastir.metrics() if card.sampled == "probabilities"]
pytestmark = pytest.mark.filterwarnings("ignore::fastir.FastirWarning")  # queries and rankings without judgments


@pytest.fixture
def files(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    for name, text in (("strata", STRATA), ("run", RUN), ("prels", PRELS), ("prels_run", PRELS_RUN)):
        Path(name).write_text(text)
    return fastir.Qrels.from_file("strata", "strata"), fastir.Qrels.from_file("prels", "prels")


def test_dicts_beside_the_labels_are_the_file(files):
    for qrels, kind, metrics, run in (
        (files[0], "strata", BY_STRATA, "run"),
        (files[1], "probabilities", BY_PROBABILITY, "prels_run"),
    ):
        beside = getattr(qrels, kind)
        again = fastir.Qrels.from_dict(qrels.to_dict(), **{kind: beside})
        assert again == qrels and again != fastir.Qrels.from_dict(qrels.to_dict())
        assert (fastir.evaluate(again, run, metrics).values == fastir.evaluate(qrels, run, metrics).values).all()
        held = pickle.loads(pickle.dumps(qrels))
        assert held == qrels and getattr(held, kind) == beside
    drawn = {query: {doc: n for doc, n in docs.items() if n >= 0} for query, docs in files[0].to_dict().items()}
    assert fastir.Qrels.from_dict(drawn, strata=files[0].strata) == files[0]


def test_what_is_written_reads_back(files):
    for qrels, format in zip(files, ("strata", "prels"), strict=True):
        qrels.save("saved.gz")
        qrels.save("saved", format)
        assert fastir.Qrels.from_file("saved.gz", format) == fastir.Qrels.from_file("saved", format) == qrels
        with pytest.raises(ValueError, match=f"format must be one of None, '{format}', got 'trec'"):
            qrels.save("saved", "trec")


@pytest.mark.parametrize(("format", "line", "message"), [
    ("strata", "1 0 a x 1", "1: stratum 'x' is not a number (query 1, document a)"),
    ("strata", "1 0 a 1.5 1", "1: stratum '1.5' is not an integer number (query 1, document a)"),
    ("strata", "1 0 a  1", "1: malformed strata line with 4 fields, expected exactly 5 fields (query iteration"),
    ("strata", "1 0 a 1 NA", "1: sampled label 'NA' is not a number (query 1, document a)"),
    ("prels", "1 a 1 1 0", "1: inclusion probability '0' is out of range; expected a number above 0 and at most 1"),
    ("prels", "1 a 1 1 1.5", "1: inclusion probability '1.5' is out of range"),
    ("prels", "1 a 1 1 nan", "1: inclusion probability 'nan' is not a number (query 1, document a)"),
    ("prels", "1 a 1 x .5", "1: method 'x' is not a number (query 1, document a)"),
    ("prels", "1 a .5 1 .5", "1: sampled label '.5' is not an integer number (query 1, document a)"),
    ("prels", "1 a 1 1 .5 7", "1: malformed prels line with 6 fields, expected exactly 5 fields"),
    ("prels", "1 b 1 1 1\n1 b 1 1 .5", "2: duplicate document 'b' in query '1', first on line 1"),
])  # fmt: skip
def test_bad_lines(format, line, message, tmp_path):
    (tmp_path / "qrels").write_text(f"{line}\n")
    with pytest.raises(fastir.FormatError, match=re.escape(f"qrels:{message}")):
        fastir.Qrels.from_file(tmp_path / "qrels", format)


def test_lines_that_are_repeated_are_repaired_as_a_whole(tmp_path):
    (tmp_path / "qrels").write_text("1 0 a 1 0\n1 0 a 2 1\n")
    for rule, stratum in (("first", 1), ("last", 2)):
        found = fastir.Qrels.from_file(tmp_path / "qrels", "strata", rule)
        assert (found.strata, found.to_dict()) == ({"1": {"a": stratum}}, {"1": {"a": stratum - 1}})
    with pytest.raises(ValueError, match="duplicates='max' is not possible with format='strata'"):
        fastir.Qrels.from_file(tmp_path / "qrels", "strata", "max")


@pytest.mark.parametrize(("beside", "error", "message"), [
    ({"strata": {"q": {"b": 1}}}, ValueError, "strata: document 'a' of query 'q' has no stratum"),
    ({"strata": {"q": {"a": "x"}}}, TypeError, "a stratum must be an int, got str 'x' (query q, document a)"),
    ({"strata": {"q": {"a": True}}}, TypeError, "a stratum must be an int, got bool True"),
    ({"strata": {"q": {"a": 2**70}}}, OverflowError, "the stratum is too large"),
    ({"strata": [1]}, TypeError, "strata must be {query_id: {doc_id: number}}, got list [1]"),
    ({"strata": {"q": 1}}, TypeError, "strata must be {query_id: {doc_id: number}}, got int 1"),
    ({"probabilities": {"q": {"a": 0}}}, ValueError, "above 0 and at most 1, got 0 (query q, document a)"),
    ({"probabilities": {"q": {"a": math.nan}}}, ValueError, "above 0 and at most 1, got nan"),
    ({"probabilities": {"q": {"a": "NA"}}}, TypeError, "above 0 and at most 1, got str 'NA' (query q, document a)"),
    ({"probabilities": {"q": {"b": 1}}}, ValueError, "probabilities: document 'b' of query 'q' has no label"),
    ({"probabilities": {"p": {"a": 1}}}, ValueError, "probabilities: document 'a' of query 'p' has no label"),
    ({"probabilities": 1}, TypeError, "probabilities must be {query_id: {doc_id: number}}, got int 1"),
])  # fmt: skip
def test_bad_dicts(beside, error, message):
    with pytest.raises(error, match=re.escape(message)):
        fastir.Qrels.from_dict({"q": {"a": 1}}, **beside)


def test_a_damaged_pickle_is_refused(files):
    make, columns = files[0].__reduce__()
    for place, bad in ((4, columns[4][:-1]), (4, columns[4].astype(float)), (5, [0.5] * files[0].columns.n_rows)):
        with pytest.raises(ValueError, match="pickled qrels are damaged: strata or probabilities"):
            make(*columns[:place], bad, *columns[place + 1 :])
    with pytest.raises(ValueError, match="pickled qrels are damaged"):
        make(columns[0][:-1], *columns[1:])


def test_only_what_was_sampled_has_a_probability_and_what_was_chosen_by_hand_has_1(tmp_path):
    lines = ("1 a 1 1 .5", "1 b 1 0 .25", "1 c 0 2 .25", "1 d -999 1 .125", "1 e -1 1 .75")
    (tmp_path / "prels").write_text("".join(f"{line}\n" for line in lines))
    qrels = fastir.Qrels.from_file(tmp_path / "prels", "prels")
    assert qrels.probabilities == {"1": {"a": 0.5, "b": 1.0, "c": 1.0, "e": 0.75}}


def test_a_label_of_a_sample_that_is_not_whole_is_named():
    with pytest.raises(ValueError, match=r"^qrels: label 0\.5 of a sample is not an integer \(query q, document b\)$"):
        fastir.Qrels.from_dict({"q": {"a": 1, "b": 0.5}}, strata={"q": {"a": 1, "b": 1}})
