"""Sources: each thing is asked once what it is, and each file is opened once for its head and once to be read."""

import collections
import os
import sys
from pathlib import Path

import pytest

import fastir
from fastir.inputs import library_tables, places, shapes
from fastir.inputs.source import FileSource, Source, as_file, as_source, data_of

QRELS = {f"q{i}": {"a": 1, "b": 0, "c": 1} for i in range(3)}
RUN = {f"q{i}": {"a": 3.5, "b": 2.5, "x": 1.5} for i in range(3)}
ROWS = [(query_id, doc_id, score) for query_id, docs in RUN.items() for doc_id, score in docs.items()]
OPENED = collections.Counter()


def count_opens(event, arguments):
    if event == "open" and isinstance(arguments[0], (str, bytes)):
        OPENED[os.fsdecode(arguments[0])] += 1


@pytest.fixture
def files(tmp_path):
    qrels, runs = tmp_path / "qrels.txt", [tmp_path / "one.run", tmp_path / "two.run"]
    fastir.Qrels.from_dict(QRELS).save(qrels)
    for path in runs:
        fastir.Run.from_dict(RUN).save(path)
    if count_opens not in HOOKS:
        sys.addaudithook(count_opens)
        HOOKS.append(count_opens)
    OPENED.clear()
    return str(qrels), list(map(str, runs))


HOOKS = []
CALLS = {
    "evaluate": lambda qrels, runs: [fastir.evaluate(qrels, run, "map") for run in runs],
    "evaluate_many": lambda qrels, runs: fastir.evaluate_many(qrels, runs, "map"),
    "compare": lambda qrels, runs: fastir.compare(qrels, runs, "map"),
    "compare, by name": lambda qrels, runs: fastir.compare(qrels, {Path(run).name: run for run in runs}, "map"),
    "explain": lambda qrels, runs: [fastir.Evaluator(qrels, "map").explain(run, "q1") for run in runs],
    "judged_rankings": lambda qrels, runs: [fastir.judged_rankings(qrels, run) for run in runs],
}


@pytest.mark.parametrize("call", CALLS)
def test_a_file_is_opened_once_for_its_head_and_once_to_be_read(call, files):
    if call.startswith("compare"):
        pytest.importorskip("scipy")
    qrels, runs = files
    CALLS[call](qrels, runs)
    assert {OPENED[run] for run in runs} == {2}


@pytest.mark.parametrize(("suffix", "times"), [(".csv", 2), (".json", 1)])
def test_a_file_whose_name_tells_its_format_is_opened_once(suffix, times, tmp_path, files):
    """Under .csv the first line may be Quepid's."""
    path = str(tmp_path / f"run{suffix}")
    if suffix == ".csv":
        pytest.importorskip("pyarrow")
        Path(path).write_text("query_id,doc_id,score\n" + "".join(f"{q},{d},{s}\n" for q, d, s in ROWS))
    else:
        fastir.Run.from_dict(RUN).save(path)
    OPENED.clear()
    assert fastir.evaluate(QRELS, path, "map") == fastir.evaluate(QRELS, RUN, "map")
    assert OPENED[path] == times


def counted(monkeypatch, *questions):
    """Counts of the questions (module, name) that are asked, wherever fastir imports them from."""
    asked = collections.Counter()
    for module, name in questions:
        question = getattr(module, name)

        def ask(*arguments, question=question, name=name, **options):
            asked[name] += 1
            return question(*arguments, **options)

        for loaded in list(sys.modules.values()):
            if getattr(loaded, "__name__", "").startswith("fastir") and getattr(loaded, name, None) is question:
                monkeypatch.setattr(loaded, name, ask)
    return asked


QUESTIONS = [
    (library_tables, "is_in_memory"), (library_tables, "is_of_ir_datasets"), (places, "is_place"),
    (places, "on_disk"), (shapes, "input_shape"),
]  # fmt: skip


def test_a_dict_is_asked_once_what_it_is(monkeypatch):
    asked = counted(monkeypatch, *QUESTIONS)
    fastir.evaluate(QRELS, RUN, "map")
    assert asked == {"input_shape": 1}  # of the qrels; the join of dicts finds by itself that the run is one


@pytest.mark.parametrize("frame", [False, True])
def test_a_table_is_asked_once_what_it_is(frame, monkeypatch):
    rows = ROWS
    if frame:
        rows = pytest.importorskip("pandas").DataFrame(ROWS, columns=["query_id", "doc_id", "score"])
    asked = counted(monkeypatch, *QUESTIONS)
    fastir.evaluate(QRELS, rows, "map")
    assert asked.pop("input_shape") == 2  # the qrels and the run
    assert set(asked.values()) <= {1}


def test_what_says_by_its_type_what_it_is_is_not_wrapped():
    for data in (QRELS, fastir.Qrels.from_dict(QRELS), fastir.Run.from_dict(RUN)):
        assert as_source(data) is data and data_of(data) is data
    source = as_source(ROWS)
    assert type(source) is Source and as_source(source) is source and data_of(source) is ROWS
    assert as_file(ROWS) is ROWS and as_file("-") == "-" and as_file("s3://bucket/run") == "s3://bucket/run"


def test_a_file_is_a_path_that_remembers(tmp_path):
    path = tmp_path / "run"
    path.write_bytes(b"q1 Q0 a 1 2.5 x\n")
    source = as_file(path)
    assert isinstance(source, FileSource) and os.fspath(source) == str(path) and repr(source) == repr(path)
    assert source.is_file and source.n_bytes == 16 and source.head == b"q1 Q0 a 1 2.5 x\n"
    path.unlink()
    assert source.is_file and source.head[:2] == b"q1"
    assert not as_file(path).is_file
    with pytest.raises(FileNotFoundError):
        _ = as_file(path).head
