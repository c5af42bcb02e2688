"""The pages of speed are what bench/record.json holds, with the losses; each figure keeps the commit of its own run."""

import json

import pytest
from common import ROOT

RECORD, PAGE = ROOT / "bench" / "record.json", ROOT / "docs" / "speed.md"
pytest.importorskip("resource", reason="the benches need Unix")

pytestmark = pytest.mark.skipif(not (RECORD.is_file() and PAGE.is_file()), reason="needs the record and the page")


def test_the_pages_are_the_record():
    import speed

    record = json.loads(RECORD.read_text("utf-8"))
    assert PAGE.read_text("utf-8") == speed.page(record)
    assert speed.FIGURES.read_text("utf-8") == speed.figures_page(record)


def test_the_record_has_a_line_for_each_measurement():
    import speed

    text = RECORD.read_text("utf-8")
    record = json.loads(text)
    assert speed.in_lines(record) == text
    assert len(text.splitlines()) == len(record["benchmarks"]) + 3


def test_the_short_page_has_every_comparison_and_every_loss():
    import speed

    record = json.loads(RECORD.read_text("utf-8"))
    ratios = [ratio for seen in speed.against_others(record).values() for ratio in seen]
    _, slower, table, _ = speed.page(record).split("\n## ")  # what is slower comes first
    assert slower.startswith("Where another program is faster")
    rows = [row.split("|") for row in table.splitlines() if row.startswith("| ")]
    assert sum(int(row[2]) for row in rows if row[2].strip().isdigit()) == len(ratios) > 100
    assert slower.count("\n| ") - 2 == sum(row[0] < 1 for row in speed.answers(record)) > 0
    assert len(speed.page(record).splitlines()) < 60


def test_the_page_of_answers_is_the_record_and_has_no_limits_in_it():
    import speed

    record = json.loads(RECORD.read_text("utf-8"))
    assert speed.ANSWERS.read_text("utf-8") == speed.answers_page(record)
    ratios = [row[0] for row in speed.answers(record)]
    assert ratios == sorted(ratios) and len(ratios) > 50
    peers = {row[4] for row in speed.answers(record)}
    assert not any(peer.startswith(("fastir", *speed.LIMITS)) or peer.endswith(speed.CONVERTED) for peer in peers)


def test_files_without_figures_are_named():
    import speed

    record = json.loads(RECORD.read_text("utf-8"))
    [first, *others] = speed.files()
    assert speed.without_figures({"benchmarks": [{"fullname": f"{name}::test"} for name in others]}) == [first]
    measured = [bench for bench in record["benchmarks"] if not bench["fullname"].startswith(first)]
    named = speed.figures_page({**record, "benchmarks": measured}).partition("## ")[0]
    assert f"`{first}`" in named.partition("No figures yet: ")[2]


def test_every_file_of_benches_has_figures():
    """`python bench/speed.py --measure NAME` measures one, in minutes with `-- --rounds 3`."""
    import speed

    assert speed.without_figures(json.loads(RECORD.read_text("utf-8"))) == []


def test_what_was_missed_is_shown_first():
    import speed

    losses = speed.FIGURES.read_text("utf-8").partition("## Missed, or slower")[2].partition("## ")[0]
    record = json.loads(RECORD.read_text("utf-8"))
    verdicts = [
        figure["verdict"]
        for bench in record["benchmarks"]
        for kind in ("comparisons", "amounts")
        for figure in bench["extra_info"].get(kind, ())
    ]
    for verdict in ("MISSED", "SLOWER"):
        assert losses.count(f"| {verdict} |") == verdicts.count(verdict)


def test_a_run_of_a_part_leaves_the_other_figures_their_commit():
    import speed

    record = json.loads(RECORD.read_text("utf-8"))
    first, *others = record["benchmarks"]
    machine = {**record["machine_info"], "load_average": [2.7, 0, 0], "versions": {"numpy": "9.9"}}
    new = {"commit_info": {"id": "f" * 40}, "datetime": "2030-01-02T03:04:05", "benchmarks": [first]}
    both = speed.merged(record, {**record, **new, "machine_info": machine})
    assert both["machine_info"]["versions"] == {**record["machine_info"]["versions"], "numpy": "9.9"}
    found = {bench["fullname"]: bench["measured"] for bench in both["benchmarks"]}
    assert found[first["fullname"]] == {"commit": "f" * 40, "date": "2030-01-02", "load": 3}
    assert all(found[bench["fullname"]] == bench["measured"] for bench in others) and len(found) == len(others) + 1
