"""Comments at the head of a run that say how it was made, and where they are found again."""

import gzip

import pytest

import fastir
from fastir.inputs.ir_metadata import ir_metadata

ROWS = "q1 Q0 a 1 2.0 tag\nq1 Q0 b 2 1.0 tag\n"
YAML = """\
schema version: 0.2
tag: 'bm25: tuned'
actor:
  team: "IR group"
platform: {os: linux}
research goal: |
  many lines
temperature: -0.5
"""
HEAD = "# ir_metadata.start\n" + "".join(f"# {line}\n" for line in YAML.splitlines()) + "# ir_metadata.end\n"
FIELDS = {"schema version": "0.2", "tag": "bm25: tuned", "temperature": "-0.5"}
QRELS = {"q1": {"a": 1}}


@pytest.mark.parametrize("ending", ["", ".gz"])
@pytest.mark.parametrize("text", [
    HEAD + ROWS,
    "\ufeff# another comment\n\n" + HEAD.replace("\n", "\r\n") + "# more\n" + ROWS,
    HEAD.replace("# ir_metadata.end\n", "") + ROWS,
    HEAD.replace("# ", "#").replace("#", "#  "),
], ids=["plain", "among others", "without an end", "with more blanks, and no rows"])  # fmt: skip
def test_lines_and_fields(tmp_path, text, ending):
    path = tmp_path / f"bm25.run{ending}"
    path.write_bytes(gzip.compress(text.encode()) if ending else text.encode())
    assert ir_metadata(path) == {"lines": YAML.splitlines(), "fields": FIELDS}


@pytest.mark.parametrize("text", [ROWS, "# a comment\n" + ROWS, ROWS + HEAD, ""], ids=["no", "other", "late", "empty"])
def test_other_files_have_none(tmp_path, text):
    path = tmp_path / "bm25.run"
    path.write_text(text)
    assert ir_metadata(path) is None
    assert ir_metadata(QRELS) is None
    assert ir_metadata(tmp_path / "missing") is None


def test_a_long_head_is_read_to_its_end(tmp_path):
    more = "".join(f"#   - library-{number}: {'x' * 40}\n" for number in range(4_000))
    path = tmp_path / "bm25.run"
    path.write_text(HEAD.replace("# ir_metadata.end", more + "# ir_metadata.end") + ROWS)
    assert len(ir_metadata(path)["lines"]) == len(YAML.splitlines()) + 4_000


def test_results_keep_it_and_saved_ones_too(tmp_path):
    path = tmp_path / "bm25.run"
    path.write_text(HEAD + ROWS)
    results = fastir.evaluate(QRELS, path, "map")
    run = results.provenance.inputs["run"]
    assert run == {
        "name": "bm25.run",
        "bytes": path.stat().st_size,
        "ir_metadata": {"lines": YAML.splitlines(), "fields": FIELDS},
    }
    assert results["map"] == 1.0
    for end in ("json", "tsv"):
        saved = tmp_path / f"saved.{end}"
        results.save(saved)
        assert fastir.load_results(saved).provenance == results.provenance
    assert fastir.evaluate_many(QRELS, [path], "map")["bm25"].provenance == results.provenance
    path.write_text(ROWS)
    assert set(fastir.evaluate(QRELS, path, "map").provenance.inputs["run"]) == {"name", "bytes"}


def test_a_packed_file_that_is_damaged_is_an_error_of_the_run(tmp_path):
    path = tmp_path / "bm25.run.gz"
    path.write_bytes(gzip.compress((HEAD + ROWS).encode())[:-30])
    assert ir_metadata(path) is None
    with pytest.raises(fastir.FormatError, match="damaged or truncated"):
        fastir.evaluate(QRELS, path, "map")


@pytest.mark.parametrize(
    "line", ["key:" + " " * (1 << 17), "k" * (1 << 17), "key: [" + "x: " * (1 << 15), "a " * (1 << 16)]
)
def test_long_lines_are_read_in_linear_time(line, tmp_path):
    """The lines are so long that a step for each pair of their characters would not end."""
    (tmp_path / "run").write_text(f"# ir_metadata.start\n# {line}\n# tag: x\n# ir_metadata.end\nq Q0 d 1 1 t\n")
    assert ir_metadata(tmp_path / "run")["fields"]["tag"] == "x"
