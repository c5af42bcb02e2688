"""Values are read from the tables of papers, of tools and of benchmarks."""

import pytest

import fastir
from fastir.analyses.identify.tables import read_values, values_of

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
    assert values_of(text) == WANTED


def test_the_output_of_trec_eval_is_read():
    text = "runid                 \tall\tbm25\nnum_q\tall\t50\nmap\tall\t0.2340\nP_5\tall\t0.4000\nmap\tq1\t0.5\n"
    assert values_of(text) == {"bm25": {"map": "0.2340", "P_5": "0.4000"}}


def test_the_json_of_mteb_is_read_with_its_digits():
    text = '{"task_name": "X", "scores": {"test": [{"ndcg_at_10": 0.23400, "nauc_map_at_1_max": 0.1, '
    text += '"main_score": 0.234, "mrr_at_10": 0.25, "hf_subset": "default", "languages": ["eng-Latn"]}]}}'
    assert values_of(text) == {"test default": {"ndcg_at_10": "0.23400", "mrr_at_10": "0.25"}}
    assert values_of('{"map": 0.50}') == {"values": {"map": "0.50"}}


def test_a_list_of_metrics_is_read():
    assert values_of("metric,value\nmap,0.25\nndcg@10,0.3\n") == {"values": {"map": "0.25", "ndcg@10": "0.3"}}


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
    assert values_of("metric,queries,value\nmap,50,0.25\nndcg@10,50,0.3\n") == {
        "values": {"map": "0.25", "ndcg@10": "0.3"}
    }
