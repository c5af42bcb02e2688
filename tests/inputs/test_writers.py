"""What is written reads back as the same ids and numbers, or is refused."""

import math
import os
import random

import numpy as np
import pytest
from formatted import QRELS, RUN
from packings import PACKINGS, exact

from fastir import Qrels, Run

hypothesis = pytest.importorskip("hypothesis")
given, settings, st = hypothesis.given, hypothesis.settings, hypothesis.strategies
MAGIC = {"": b"", ".gz": b"\x1f\x8b", ".zst": b"\x28\xb5\x2f\xfd"}


@pytest.mark.parametrize("packing", PACKINGS)
@pytest.mark.parametrize("suffix", ["", ".trec", ".json"])
@pytest.mark.parametrize(("cls", "data"), [(Qrels, QRELS), (Run, RUN)])
def test_what_is_saved_reads_back(cls, data, suffix, packing, tmp_path):
    path = tmp_path / f"saved{suffix}{packing}"
    cls.from_dict(data).save(path)
    assert path.read_bytes().startswith(MAGIC[packing])
    assert exact(cls.from_file(path)) == exact(data)
    bytes_before = path.read_bytes()
    cls.from_file(path).save(path, format="json" if suffix == ".json" else "trec")
    assert path.read_bytes() == bytes_before, "the same content gives the same file"
    assert os.listdir(tmp_path) == [path.name]


IDS = st.one_of(st.text(min_size=1, max_size=6), st.text(st.characters(categories=("L", "N", "P", "S")), min_size=1))
RAW = st.binary(min_size=1, max_size=6).map(lambda raw: raw.decode("utf-8", "surrogateescape"))
SCORES = st.floats(allow_nan=False)


def fits_trec(data):
    """Whether lines can hold it: ids without white space, NUL and a '#' that would begin a comment; no empty query."""
    ids = [*data, *(doc for docs in data.values() for doc in docs)]
    fields = all(i and not set(i) & set(" \t\n\v\f\r\0") for i in ids)
    return fields and all(data.values()) and not any(query.startswith("#") for query in data)


@pytest.mark.filterwarnings("ignore:.*the labels look like")
@given(
    st.dictionaries(IDS | RAW, st.dictionaries(IDS | RAW, SCORES, max_size=4), min_size=1, max_size=4), st.booleans()
)
@settings(max_examples=150, deadline=None)
def test_any_ids_and_numbers_read_back_or_are_refused(tmp_path_factory, data, judged):
    folder = tmp_path_factory.mktemp("saved")
    cls = Qrels if judged else Run
    if judged:
        data = {q: {d: int(max(-1e9, min(1e9, s))) for d, s in docs.items()} for q, docs in data.items()}
    made = cls.from_dict(data)
    for name, fits in (("saved", fits_trec(data)), ("saved.json", judged or all(map(math.isfinite, (
            score for docs in data.values() for score in docs.values()))))):  # fmt: skip
        if not fits:
            with pytest.raises(ValueError, match=r"^cannot write '.*': .*(id|query|document) "):
                made.save(folder / name)
            assert not os.path.exists(folder / name)
        else:
            try:
                made.save(folder / name)
            except ValueError as error:
                assert "begins like a file of another kind" in str(error) and next(iter(data))[0] in "\ufeff\x1f("
            else:
                assert exact(cls.from_file(folder / name)) == exact(made)
    assert not [name for name in os.listdir(folder) if name.endswith(".tmp")]


@pytest.mark.parametrize(("data", "message"), [
    ({"two words": {"a": 1}}, "query id 'two words'"),
    ({"q": {"fine": 1, "": 1}}, "document id ''"),
    ({"q": {"fine": 1, "a\rb": 1}}, r"document id 'a\\rb'"),
    ({"q": {"a\0": 1}}, r"document id 'a\\x00'"),
    ({"#1": {"a": 1}}, "query id '#1' begins with '#'"),
    ({"fine": {"a": 1}, "empty": {}}, "query 'empty' has no documents"),
    ({"\ufeffq": {"a": 1}}, r"query id '\\ufeffq' begins like a file of another kind"),
    ({"\x1f\udc8b": {"a": 1}}, r"query id '\\x1f\\udc8b' begins like a file of another kind"),
    ({"\ud800": {"a": 1}}, r"query id '\\ud800' holds surrogates"),
])  # fmt: skip
@pytest.mark.parametrize("cls", [Qrels, Run])
def test_what_trec_lines_cannot_hold_is_named(cls, data, message, tmp_path):
    with pytest.raises(ValueError, match=f"^cannot write '.*saved': {message}"):
        cls.from_dict(data).save(tmp_path / "saved")
    assert not os.listdir(tmp_path)
    if "\ud800" not in data:
        cls.from_dict(data).save(tmp_path / "saved.json")
        assert exact(cls.from_file(tmp_path / "saved.json")) == exact(data if cls is Qrels else cls.from_dict(data))


@pytest.mark.parametrize("suffix", ["", ".json"])
def test_integer_ids_are_saved_as_their_text(suffix, tmp_path):
    run = Run([7, 10], np.array([0, 1, 2]), [3, -4], np.array([1.0, 2.0]))
    run.save(tmp_path / f"saved{suffix}")
    assert exact(Run.from_file(tmp_path / f"saved{suffix}")) == exact({"7": {"3": 1.0}, "10": {"-4": 2.0}})


def test_the_rank_column_is_true(tmp_path):
    Run.from_dict({"q": {"a": 1.0, "b": 3.0, "é": 1.0, "z": 1.0, "c": 2}}).save(tmp_path / "run")
    lines = [line.split() for line in (tmp_path / "run").read_text("utf-8").splitlines()]
    ranks = [(doc, rank) for _, _, doc, rank, _, _ in lines]
    assert ranks == [("a", "5"), ("b", "1"), ("é", "3"), ("z", "4"), ("c", "2")]


@pytest.mark.parametrize("descending", [True, False])
def test_lines_of_a_run_are_those_of_a_loop(descending, tmp_path):
    rng = random.Random(descending)
    scores = [0.0, -0.0, 5e-324, 1.7976931348623157e308, math.inf, -math.inf, 0.1 + 0.2, 1e22, 1e-5, 3.0]
    for n_docs in (1, 2, 3, 65):
        run = {}
        for query in ("q", "\u00e9", "1\udcff"):
            ids = [f"{rng.choice(['d', 'D', chr(0xE9), chr(0xDCFE)])}{place}" for place in range(n_docs)]
            found = [rng.choice(scores) if rng.random() < 0.5 else rng.gauss(0, 1) for _ in ids]
            run[query] = dict(zip(ids, sorted(found, reverse=True) if descending else found, strict=True))
        Run.from_dict(run).save(tmp_path / "x.run")
        lines = []
        for query, docs in run.items():
            in_order = sorted(docs, key=lambda doc: (docs[doc], doc.encode("utf-8", "surrogateescape")), reverse=True)
            for doc, score in docs.items():
                lines.append(f"{query} Q0 {doc} {in_order.index(doc) + 1} {score!r} fastir\n")
        assert (tmp_path / "x.run").read_bytes() == "".join(lines).encode("utf-8", "surrogateescape")
        assert Run.from_file(tmp_path / "x.run") == Run.from_dict(run)
