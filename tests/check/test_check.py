"""check(): what it calls a fault is what `evaluate` refuses, and more; every planted fault is found, with its place."""

import random
import warnings

import pytest
import submissions
from common import ABSENT, EXAMPLES, SHARED

import fastir
from fastir.analyses.check.checked import KINDS

CLEAN = "q1 Q0 d1 1 2.0 t\nq1 Q0 d2 2 1.0 t\nq2 Q0 d1 1 5 t\n"


def refusal(qrels, run, formats):
    """The error that `evaluate` raises for what a file holds, or None."""
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            qrels = fastir.Qrels.from_file(qrels, formats[0]) if formats[0] else qrels
            run = fastir.Run.from_file(run, formats[1]) if formats[1] else run
            fastir.evaluate(qrels, run, "map")
    except (fastir.FormatError, fastir.NoOverlapError) as error:
        return error
    return None


def faults_of(qrels, run, formats):
    """The faults that `evaluate` would not take, or the error of a file that cannot be unpacked."""
    try:
        found = fastir.check(qrels, run, qrels_format=formats[0], run_format=formats[1])
    except fastir.FormatError as error:
        return [error]
    return [fault for fault in found if KINDS[fault.kind].refused]


@pytest.mark.parametrize("block", range(4))
def test_a_fault_that_is_an_error_is_found_exactly_where_evaluate_raises(tmp_path, block):
    """Over many made-up submissions, spoilt at random up to three times on each side."""
    outcomes = set()
    for seed in range(150 * block, 150 * block + 150):
        rng = random.Random(seed)
        formats = [
            rng.choice(("trec", "trec", "trec", "beir")),
            rng.choice(("trec", "trec", "trec", "beir", "msmarco")),
        ]
        paths = []
        for is_run, format in enumerate(formats):
            lines = submissions.clean(rng, is_run, format)
            for _ in range(rng.choice((0, 0, 0, 1, 1, 2, 3))):
                submissions.spoil(rng, lines)
            data = submissions.as_bytes(rng, lines)
            is_packed = rng.random() < 0.1
            path = tmp_path / f"{('qrels', 'run')[is_run]}.txt{'.gz' if is_packed else ''}"
            path.write_bytes(submissions.packed(rng, data) if is_packed else data)
            paths.append(str(path))
        told = [None if format == "trec" else format for format in formats]
        error, faults = refusal(*paths, told), faults_of(*paths, told)
        assert bool(error) == bool(faults), f"seed {seed}: {error!r}, {faults}"
        outcomes.add(bool(error))
    assert outcomes == {True, False}


@pytest.mark.parametrize("seed", range(40))
def test_every_planted_fault_is_found_with_its_line(found, seed):
    """Several of all kinds in one file, in any order."""
    rng = random.Random(seed)
    lines = [f"q{query} Q0 d{doc} {doc} {50 - doc}.5 tag" for query in (1, 2) for doc in range(1, 21)]
    qrels = "".join(f"q{query} 0 d{doc} {doc % 2}\n" for query in (1, 2) for doc in range(1, 21))
    plants = {
        "malformed line": lambda fields: fields[:-1],
        "number": lambda fields: [*fields[:4], rng.choice(("nan", "1e999", "x", "1_0")), "tag"],
        "rank": lambda fields: [*fields[:3], "first", *fields[4:]],
        "NUL byte": lambda fields: [*fields[:5], "t\0g"],
        "carriage return": lambda fields: [*fields, "\rx"],
        "comment with data": lambda fields: ["#" + fields[0], *fields[1:]],
        "different tags": lambda fields: [*fields[:5], f"tag{rng.random()}"],
        "not UTF-8": lambda fields: [*fields[:5], "tag", "\udcff"],
    }
    places = rng.sample(range(1, len(lines)), 2 * len(plants))
    planted = set()
    for place, kind in zip(places, 2 * list(plants), strict=True):
        lines[place] = " ".join(plants[kind](lines[place].split()))
        planted.add((kind, place + 1))
    for _ in range(3):
        fields = rng.choice([line for place, line in enumerate(lines) if place not in places]).split()
        lines.append(" ".join([*fields[:3], "99", f"{-len(lines)}", "tag"]))
        planted.add(("duplicate", len(lines)))
    text = "\n".join(lines).encode("utf-8", "surrogateescape")
    assert {fault[:2] for fault in found(text, qrels=qrels)} == planted


def test_a_clean_submission_is_ok(checked):
    result = checked(CLEAN, qrels="q1 0 d1 1\nq1 0 d2 0\nq2 0 d1 2\n")
    assert result.ok
    assert [fault.kind for fault in result] == ["run length"]


def test_shapes_of_all_kinds(write):
    qrels = {"q1": {"d1": 1, "d2": 0}, "q2": {"d1": 2}}
    run = {"q1": {"d1": 2.0, "d2": 2.0}, "q3": {"d1": 1.0}}
    path = write("bm25.run", "q1 Q0 d1 1 2 t\nq1 Q0 d2 1 2 t\nq3 Q0 d1 1 1 t\n")
    json = write("bm25.json", '{"q1": {"d1": 2, "d2": 2}, "q3": {"d1": 1}}')
    held = fastir.Run.from_dict(run, name="held")
    columns = {"query_id": ["q1", "q1", "q3"], "doc_id": ["d1", "d2", "d1"], "score": [2.0, 2.0, 1.0]}
    for given, file in (
        (run, "run"), ({"bm25": run}, "bm25"), ([("bm25", run)], "bm25"), (held, "held"), (path, path),
        ([path], path), (json, json), ({"x": columns}, "x"),
    ):  # fmt: skip
        result = fastir.check(qrels, given)
        assert result.files == ["qrels", file]
        assert [(fault.kind, fault.query_id) for fault in result] == [
            ("missing query", "q2"), ("unknown query", "q3"), ("run length", None), ("ties", "q1"),
        ], given  # fmt: skip


def test_several_runs_have_their_own_faults(write):
    result = fastir.check(
        write("qrels.txt", "q1 0 d1 1\n"),
        [write("a.run", "q1 Q0 d1 1 2 t\nq1 Q0\n"), write("b.run", "q1 Q0 d1 1 2 t\nq1 Q0 d1 2 1 t\n")],
    )
    assert [(fault.file[-5:], fault.kind) for fault in result] == [("a.run", "malformed line"), ("b.run", "duplicate")]


def test_files_that_change_places_are_checked_as_what_they_are(write):
    qrels, run = write("a.txt", "q1 0 d1 1\nq1 0 d1 0\n"), write("b.txt", CLEAN + "q1 Q0 d2 9 0 t\n")
    result = fastir.check(run, qrels)
    assert [(fault.file[-5:], fault.kind, fault.line) for fault in result.of("fault")] == [
        ("b.txt", "swapped files", None), ("b.txt", "duplicate", 4), ("b.txt", "unknown query", None),
        ("a.txt", "swapped files", None), ("a.txt", "duplicate", 2),
    ]  # fmt: skip
    for pair in ((run, run), (qrels, qrels)):
        assert "swapped files" in {fault.kind for fault in fastir.check(*pair)}


def test_what_cannot_be_read_at_all_is_raised(write, tmp_path):
    with pytest.raises(FileNotFoundError):
        fastir.check(tmp_path / "missing", write("bm25.run", CLEAN))
    with pytest.raises(FileNotFoundError):
        fastir.check({"q1": {"d1": 1}}, tmp_path / "missing")
    with pytest.raises(fastir.FormatError, match=r"named \.gz but is not gzip"):
        fastir.check({"q1": {"d1": 1}}, write("bm25.run.gz", CLEAN))
    with pytest.raises(TypeError, match="runs must be"):
        fastir.check({"q1": {"d1": 1}}, 5)
    with pytest.raises(ValueError, match="examples must be at least 0"):
        fastir.check({"q1": {"d1": 1}}, {}, examples=-1)


def test_dicts_that_evaluate_refuses_together():
    [fault] = fastir.check({"q1": {"1": 1}}, {"q1": {1: 2.0}}).of("fault")
    assert fault.kind == "refused input" and "ids are int" in fault.text


def test_progress_is_told_by_the_name_of_the_run(write):
    seen = []
    path = write("bm25.run", CLEAN * 60_000)
    fastir.check({"q1": {"d1": 1}}, path, progress=lambda name, position: seen.append((name, position)))
    assert {name for name, _ in seen} == {"bm25"}
    assert seen[0][1] < seen[-1][1] == 60_000 * len(CLEAN)
    assert len(seen) > 3


# what is known of the shared runs (QUIRKS.tsv), as (kind, least number)
QUIRKS = {
    "trec_eval_test/results.test": {"ties": 3},
    "cleftar17/padua.afs.res.gz": {"ranks against scores": 30},
    "cleftar17/ecnu.run2.res.gz": {"CRLF line ends": 30_000},
    "trec_eval_test/results.trunc": {"more fields": 5, "missing query": 1},
    "cast21/org_manual_bm25.run.gz": {"unknown query": 81},
}


@pytest.mark.skipif(not SHARED.is_dir(), reason=ABSENT)
@pytest.mark.parametrize("run", QUIRKS)
def test_quirks_of_real_runs_are_found(run):
    folder = (SHARED / "data" / run).parent
    [qrels] = [path for path in folder.glob("qrels*") if path.name in ("qrels.txt.gz", "qrels.test")]
    result = fastir.check(qrels, folder.parent / run)
    counts = result.counts()[str(folder.parent / run)]
    for kind, number in QUIRKS[run].items():
        assert counts[kind] == number, counts
    assert not any(KINDS[fault.kind].refused for fault in result)


def test_the_examples_are_ok():
    assert fastir.check(EXAMPLES / "qrels.txt", [EXAMPLES / "bm25.run", EXAMPLES / "dense.run"]).ok


@pytest.mark.parametrize("shape", ["frame", "columns", "arrow", "polars", "records", "tuples"])
def test_a_table_without_a_column_of_runs_is_one_run(shape):
    pandas, pyarrow = pytest.importorskip("pandas"), pytest.importorskip("pyarrow")
    polars = pytest.importorskip("polars")
    rows = [("q1", "d1", 2.0), ("q2", "d9", 1.0)]
    frame = pandas.DataFrame(rows, columns=["query_id", "doc_id", "score"])
    run = {
        "frame": frame, "columns": frame.to_dict("list"), "arrow": pyarrow.Table.from_pandas(frame),
        "polars": polars.from_pandas(frame), "records": frame.to_dict("records"), "tuples": rows,
    }[shape]  # fmt: skip
    expected = fastir.check({"q1": {"d1": 1}}, {"q1": {"d1": 2.0}, "q2": {"d9": 1.0}})
    assert [fault.text for fault in fastir.check({"q1": {"d1": 1}}, run)] == [fault.text for fault in expected]
    assert list(fastir.check({"q1": {"d1": 1}}, run).files) == ["qrels", "run"]
    if shape in ("frame", "columns", "arrow", "polars"):
        several = frame.assign(system=["a", "b"])
        several = several.to_dict("list") if shape == "columns" else several
        assert list(fastir.check({"q1": {"d1": 1}}, several).files) == ["qrels", "a", "b"]
