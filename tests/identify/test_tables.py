"""Values are read from the tables of papers, of tools and of benchmarks."""

import re

import pytest

import fastir
from fastir.analyses.identify import tables, values
from fastir.analyses.identify.tables import parse_values, read_values

WANTED = {"bm25": {"nDCG@10": "0.2340", "MAP": "0.11"}, "ours": {"nDCG@10": "0.2500", "MAP": "0.12"}}
MARKDOWN = "| system | nDCG@10 | MAP |\n|:--|--:|--:|\n| bm25 | 0.2340 | 0.11 |\n| ours | **0.2500** | *0.12* |\n"
LATEX = (
    "\\begin{tabular}{lrr}\n\\toprule\nsystem & nDCG@10 & MAP \\\\\n\\midrule\n"
    "bm25 & 0.2340 & 0.11 \\\\\nours & \\textbf{0.2500} & \\underline{0.12}$^*$ \\\\\n\\bottomrule\n\\end{tabular}\n"
)
CSV = "system,nDCG@10,MAP\nbm25,0.2340,0.11\nours,0.2500,0.12\n"


@pytest.mark.parametrize(
    "text", [MARKDOWN, CSV, CSV.replace(",", "\t"), CSV.replace(",", ";"), LATEX.replace("$^*$", "")]
)
def test_a_table_is_read_by_rows(text):
    assert parse_values(text) == WANTED


def test_the_output_of_trec_eval_is_read():
    text = "runid                 \tall\tbm25\nnum_q\tall\t50\nmap\tall\t0.2340\nP_5\tall\t0.4000\nmap\tq1\t0.5\n"
    assert parse_values(text) == {"bm25": {"map": "0.2340", "P_5": "0.4000"}}


def test_the_json_of_mteb_is_read_with_its_digits():
    text = '{"task_name": "X", "scores": {"test": [{"ndcg_at_10": 0.23400, "nauc_map_at_1_max": 0.1, '
    text += '"main_score": 0.234, "mrr_at_10": 0.25, "hf_subset": "default", "languages": ["eng-Latn"]}]}}'
    assert parse_values(text) == {"test default": {"ndcg_at_10": "0.23400", "mrr_at_10": "0.25"}}
    assert parse_values('{"map": 0.50}') == {"values": {"map": "0.50"}}


def test_a_list_of_metrics_is_read():
    assert parse_values("metric,value\nmap,0.25\nndcg@10,0.3\n") == {"values": {"map": "0.25", "ndcg@10": "0.3"}}


A = {"a": {"MAP": "0.5", "MRR": "0.4"}}


@pytest.mark.parametrize(("text", "found"), [
    ("\ufeff| run | MAP | MRR |\n|---|---|---|\n| a | 0.5 | 0.4 |\n", A), ("\ufeffrun,MAP,MRR\na,0.5,0.4\n", A),
    ("|| MAP | MRR |\n|---|---|---|\n| a | 0.5 | 0.4 |\n", A),
    ("run | MAP | MRR\n--|--|--\na | 0.5 | 0.4\n", A), ("│ run │ MAP │ MRR │\n├──┼──┼──┤\n│ a │ 0.5 │ 0.4 │\n", A),
    ("run  MAP  MRR\na    0.5  0.4\n", A), ("run;MAP;MRR\na;0,5;0,4\n", {"a": {"MAP": "0.5", "MRR": "0.4"}}),
    (",run,MAP,MRR\n0,a,0.5,0.4\n", A),
    ("| run | MAP |\n|--|--|\n| a | 0.5 |\n\n| run | MRR |\n|--|--|\n| a | 0.4 |\n", A),
    ("run & MAP & MRR \\\\\na & 0.5$^\\dagger$ & \\textbf{0.4}\\textsuperscript{*} \\\\\n", A),
    ("run &\n MAP & MRR \\\\ % 0.3 & 0.2 \\\\\na & .5 &\n .4 \\\\[2pt]\n", {"a": {"MAP": ".5", "MRR": ".4"}}),
    ("| metric | a | b |\n|--|--|--|\n| MAP | 0.5 | 0.6 |\n| MRR | 0.4 | - |\n", A | {"b": {"MAP": "0.6"}}),
    ("run & MAP & MRR \\\\\n\\multicolumn{2}{c}{x} & 0.4 \\\\\n", {"x": {"MRR": "0.4"}}),
    ("& \\multicolumn{2}{c}{nDCG} \\\\\nrun & @5 & @10 \\\\ \\midrule\na & .1 & .2 \\\\", {"a": {"nDCG@5": ".1",
     "nDCG@10": ".2"}}),
    ("| run | MAP | MRR |\n|---|---|---|\n|| 0.5 | 0.4 |\n", {"row 1": {"MAP": "0.5", "MRR": "0.4"}}),
    ("set,run,MAP\nx,a,.1\nx,b,.2\n", {"x a": {"MAP": ".1"}, "x b": {"MAP": ".2"}}),
    ("layer,MAP\n12,.1\n", {"12": {"MAP": ".1"}}),
    ("run,MAP\na,1\nb,0\nc,\nd,n/a\n", {"a": {"MAP": "1"}, "b": {"MAP": "0"}}),
    ('{"map": 0.5, "mrr": 1}', {"values": {"map": "0.5", "mrr": "1"}}),
    ('\ufeff{"map": 0.5}', {"values": {"map": "0.5"}}),
    ('{"a": {"map": 0.5}, "b": {"map": 1}}', {"a": {"map": "0.5"}, "b": {"map": "1"}}),
    ('[{"run": "a", "map": 0.5}]', {"a": {"map": "0.5"}}), ('{"ndcg": {"5": 0.5}}', {"values": {"ndcg@5": "0.5"}}),
    ("NDCG@10: 0.31\nMAP = 0.2\nHit Ratio @ 5 0.4\n", {"values": {"NDCG@10": "0.31", "MAP": "0.2",
     "Hit Ratio @ 5": "0.4"}}),
    ("2024-01-01 12:00:00 - Loading\n2024-01-01 12:00:01 - NDCG@10: 0.31\n", {"values": {"NDCG@10": "0.31"}}),
    ("R-prec all 0.9\nP5 all 0.4\nircl_prn.0.10 all 1.0\n", {"run": {"R-prec": "0.9", "P5": "0.4",
     "ircl_prn.0.10": "1.0"}}),
    ("runid all a\nmap all 0.1\nrunid all b\nmap all 0.2\n", {"a": {"map": "0.1"}, "b": {"map": "0.2"}}),
])  # fmt: skip
def test_the_values_are_those_that_are_written(text, found):
    assert parse_values(text) == found


@pytest.mark.parametrize(("text", "line", "said"), [
    ("run,MAP\na,0.5\na,0.4\n", 3, "'MAP' of 'a' occurs twice, as 0.5 and 0.4, first on line 2"),
    ("run,MAP,MAP\na,0.5,0.4\n", 2, "the head above has the column 'MAP' twice"),
    ("| run | MAP |\n|--|--|\n| a | 0.5 | 0.4 |\n", 3, "a row of 3 cells below a head of 2"),
    ("run,MAP\na,25%\n", 2, "'MAP' of 'a' is no number: '25%'"),
    ("run,MAP\na,0.2 ± 0.1\n", 2, "no number: '0.2 ± 0.1'"),
    ("run,MAP\na," + "x" * 200_000 + "\n", 2, "not CSV: field larger than"),
    ("map all 0.1\nmap all 0.2\n", 2, "'map' of 'run' occurs twice"),
    ('{"map": 0.5,\n "map": 0.4}', 2, "the key 'map' occurs twice with different values"),
    ('[{"run": "a", "map": 0.5},\n{"run": "a", "map": 0.4}]', 2, "'map' of 'a' occurs twice"),
    ('{"scores": {\n"test": null}}', 2, "the scores of 'test' must be an object of metrics"),
    ('{"scores": {"test": [1, 2]}}', 1, "the scores of 'test' must be an object"),
    ('{"map": 0.5,\n"mrr": NaN}', 2, "'mrr' is no number: 'NaN'"),
    ('{"map": 0.5,\n"mrr": true}', 2, "'mrr' is no number: True"),
    ('{"a": 1,\n', 2, "not JSON"), ("[" * 100_000, None, "not JSON: it is nested too deeply"),
    ("metric,a,b\nMAP,0.5,0.4\nMRR,0.5\n", 3, "a row of 2 cells in a table of 3"),
])  # fmt: skip
def test_what_cannot_be_read_is_an_error_that_names_the_line(tmp_path, text, line, said):
    (tmp_path / "t.txt").write_text(text)
    with pytest.raises(fastir.FormatError, match=re.escape(said)) as caught:
        read_values(tmp_path / "t.txt")
    assert caught.value.line == line and caught.value.path == str(tmp_path / "t.txt")


@pytest.mark.parametrize("encoding", ["utf-8-sig", "utf-16", "utf-16-le"])
def test_files_may_begin_with_a_byte_order_mark(tmp_path, encoding):
    mark = b"\xff\xfe" if encoding == "utf-16-le" else b""
    (tmp_path / "t.csv").write_bytes(mark + "run,MAP\na,0.5\n".encode(encoding))
    assert read_values(tmp_path / "t.csv") == {"a": {"MAP": "0.5"}}


def test_values_of_other_names_are_kept_with_their_names():
    found = parse_values("run,MAP,params\na,0.5,110\n")
    assert found == {"a": {"MAP": "0.5", "params": "110"}} and found.knows("MAP") and not found.knows("params")


def test_each_name_is_looked_at_once(monkeypatch):
    """The number of cells decides how long a file takes, not what stands in them."""
    looked_at = []
    monkeypatch.setattr(tables, "is_understood", lambda name: looked_at.append(name) or values.is_understood(name))
    text = "".join(f"word{row % 50},other,{'@ ' * 300},x\n" for row in range(1000))
    with pytest.raises(fastir.FormatError, match="no values"):
        read_text(text)
    assert len(looked_at) == len(set(looked_at)) == 52


def read_text(text):
    found = parse_values(text)
    if not found.has_metric():
        raise fastir.FormatError("no values")
    return found


@pytest.mark.parametrize("text", ["", "hello\n", "{", "a,b\n1,2\n", "[1, 2]"])
def test_a_file_without_values_is_an_error_that_names_it(tmp_path, text):
    (tmp_path / "t.txt").write_text(text)
    with pytest.raises(fastir.FormatError, match=r"t\.txt"):
        read_values(tmp_path / "t.txt")


def test_a_table_is_identified_row_by_row(tmp_path):
    qrels = {"q1": {"a": 1, "b": 2}, "q2": {"c": 1}}
    run = {"q1": {"x": 2.0, "a": 1.0}, "q2": {"c": 1.0, "y": 2.0}}
    means = fastir.evaluate(qrels, run, ["ndcg@10", "map"])
    text = f"| system | nDCG@10 | MAP |\n|---|---|---|\n| r | {means['ndcg@10']:.4f} | {means['map']:.4f} |\n"
    text += "| s | 0.1 | 0.2 |\n"
    (tmp_path / "t.md").write_text(text)
    found = fastir.identify(qrels, run, tmp_path / "t.md", row="r")
    assert found[0].convention == "fastir"
    assert fastir.identify(qrels, {"r": run}, tmp_path / "t.md")[0].convention == "fastir"
    with pytest.raises(ValueError, match=r"rows 'r', 's'; give the runs as a dict, or one row="):
        fastir.identify(qrels, run, tmp_path / "t.md")


def test_the_value_of_a_metric_stands_in_the_last_cell():
    assert parse_values("metric,queries,value\nmap,50,0.25\nndcg@10,50,0.3\n") == {
        "values": {"map": "0.25", "ndcg@10": "0.3"}
    }
