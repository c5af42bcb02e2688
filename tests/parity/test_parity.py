"""A few seconds of run.py for the peers that the extra `test` installs; it does the same for longer, and for all."""

import json
import runpy
import subprocess
import sys
import types
from pathlib import Path

import pytest
from processes import patient

RUN = Path(__file__).with_name("run.py")


def run_parity(*arguments):
    done = subprocess.run([sys.executable, RUN, *arguments], capture_output=True, text=True, timeout=patient(300))
    return done.returncode, done.stdout


@pytest.mark.parametrize(("peer", "module", "at_least"), [
    ("pytrec_eval", "pytrec_eval", 1000), ("ir_measures, pytrec_eval", "ir_measures", 1000),
    ("ir_measures", "ir_measures", 100), ("ir_measures, accuracy", "ir_measures", 50),
])  # fmt: skip
def test_no_value_is_off(peer, module, at_least):
    pytest.importorskip(module)
    code, said = run_parity("--peer", peer, "--seconds", "0.5", "--seed", "500", "--json")
    [count] = json.loads(said)
    assert (code, count["off"], count["refused"]) == (0, 0, 0), count["first"]
    assert count["compared"] >= at_least and count["largest"] <= 1e-12


def test_the_table_counts_and_names_what_is_known():
    pytest.importorskip("ir_measures")
    arguments = "--peer", "ir_measures, pytrec_eval", "--seconds", "0", "--seed", "0"
    code, said = run_parity(*arguments)
    head, row, *reasons = said.splitlines()
    assert code == 0
    assert head.split()[:3] == ["peer", "version", "collections"]
    [count] = json.loads(run_parity(*arguments, "--json")[1])
    assert row.startswith("ir_measures, pytrec_eval") and f" {count['compared']:,} " in row
    assert reasons == [f"{count['name']}, known, {number}: {why}" for why, number in count["known"].items()] != []


def test_the_page_has_every_metric_rule_and_input(tmp_path):
    pytest.importorskip("pytrec_eval")
    page, badge = tmp_path / "exactness.md", tmp_path / "exactness.svg"
    arguments = "--peer", "pytrec_eval", "--seconds", "0", "--seed", "3", "--json", "--page", page, "--badge", badge
    [count] = json.loads(run_parity(*arguments)[1])
    text = page.read_text("utf-8")
    long = (tmp_path / "exactness_values.md").read_text("utf-8")
    assert "(exactness_values.md)" in text and "(exactness.md)" in long
    lines = [line for line in long.splitlines() if line.startswith("| `")]
    rows = [[cell.strip() for cell in line.strip("|").split("|")] for line in lines]
    assert {"`map`", "`P_k`", "`iprec_at_recall_x`"} <= {row[0] for row in rows}
    assert {row[1] for row in rows} >= {"trec_eval-9", "trec_eval-9, rel_level=2", "trec_eval-9, judged_only=True"}
    assert sum(int(cell.replace(",", "")) for row in rows for cell in row[2:7]) == count["compared"]
    assert f"{count['compared']:,} values compared with 1\ntools" in text and "none is off" in text
    assert f"{count['compared']:,} values, none is off" in badge.read_text("utf-8")


def test_a_value_that_is_off_is_shown_with_what_repeats_it(monkeypatch):
    monkeypatch.syspath_prepend(str(RUN.parent))
    run = types.SimpleNamespace(**runpy.run_path(str(RUN)))
    from cases import case_of
    from peers import Ask, Peer

    def call(case, names):
        return {"map": {"first": 0.123}, "recall@2": {None: 7.0}}

    peer = Peer("pytest", call, (Ask({"map": "map", "recall@2": "recall@2"}, {}),), ways=("dict",))
    count = run.Count("made up", peer.version())
    case = case_of(0)
    run.compare(count, peer, case._replace(qrels={"first": case.qrels["first"]}, run={"first": case.run["first"]}))
    assert (count.compared, count.off, count.refused) == (2, 2, 0)
    assert count.first[0].startswith("random 0, dict, query first, map: ") and count.first[0].endswith("0.123 there")
    assert "query None, recall@2" in count.first[1]
    import receipts

    text = receipts.page([count], 0, "values.md")
    assert (
        "2 off" in text
        and f"Off: {count.first[0]}" in receipts.values_page([count], "page.md")
        and "2 off" in receipts.badge([count])
    )
