"""ranx's Report: its tables, LaTeX, labels and exports, as of tabulate and ranx."""

import json
import math
import random

import pytest

from fastir.compat.ranx import Report, compare
from fastir.compat.ranx.compare import FrozensetDict, column, letter

METRICS = ["map@100", "mrr", "precision@5", "ndcg_burges@3-l2"]
MEANS = {
    "bm25": [0.23853670634920632, 0.48333333333333334, 0.225, 0.2434993794213813],
    "dense_v2": [0.5211507936507936, 1.0, 0.5, 0.7716496018821114],
    "run_3": [0.65, 1.0, 0.6, 0.9706700796235777],
}
SIGNIFICANT = {
    ("bm25", "dense_v2"): [True] * 4,
    ("bm25", "run_3"): [True] * 4,
    ("dense_v2", "run_3"): [True, False, True, False],
}


def report(means=None, significant=None, metrics=METRICS, max_p=0.05, **options):
    """A report with these means, and p-values of 0.01 where the difference is significant."""
    means = MEANS if means is None else means
    significant = SIGNIFICANT if significant is None else significant
    return Report(
        list(means),
        {name: dict(zip(metrics, values, strict=True)) for name, values in means.items()},
        FrozensetDict({
            pair: {
                metric: {"p_value": 0.01 if yes else 0.5, "significant": yes}
                for metric, yes in zip(metrics, found, strict=True)
            }
            for pair, found in significant.items()
        }),
        metrics,
        max_p,
        {(a, b): {metric: {"W": 1, "T": 2, "L": 3} for metric in metrics} for a in means for b in means if a != b},
        **options,
    )  # fmt: skip


def test_the_table():
    assert (
        str(report())
        == repr(report())
        == report().to_table()
        == """\
#    Model     MAP@100    MRR     P@5      NDCG Burges@3-l2
---  --------  ---------  ------  -------  ------------------
a    bm25      0.239      0.483   0.225    0.243
b    dense_v2  0.521ᵃ     1.000ᵃ  0.500ᵃ   0.772ᵃ
c    run_3     0.650ᵃᵇ    1.000ᵃ  0.600ᵃᵇ  0.971ᵃ"""
    )
    assert str(report(show_percentages=True)).splitlines()[2:] == [
        "a    bm25      23.9       48.3    22.5    24.3",
        "b    dense_v2  52.1ᵃ      100.0ᵃ  50.0ᵃ   77.2ᵃ",
        "c    run_3     65.0ᵃᵇ     100.0ᵃ  60.0ᵃᵇ  97.1ᵃ",
    ]


def test_columns_without_a_letter_are_numbers():
    assert (
        str(
            report(
                {"a": [0.5, 0.0], "b": [0.5, 0.0], "zero": [0.0, 0.0]},
                {pair: [False, False] for pair in (("a", "b"), ("a", "zero"), ("b", "zero"))},
                ["mrr", "map@1-l2"],
            )
        )
        == """\
#    Model      MRR    MAP@1-l2
---  -------  -----  ----------
a    a          0.5           0
b    b          0.5           0
c    zero       0             0"""
    )
    assert column("MRR", ["1.000", "12.500", "nan"]) == ["  MRR", "-----", "  1  ", " 12.5", "nan  "]
    assert str(report({}, {}, ["mrr"])) == "#    Model    MRR\n---  -------  -----"


LATEX = r"""========================
% Add in preamble
\usepackage{graphicx}
\usepackage{booktabs}
========================


% To change the table size, act on the resizebox argument `0.8`.
\begin{table*}[ht]
\centering
\caption{
Overall effectiveness of the models.
The best results are highlighted in boldface.
Superscripts denote significant differences in paired Student's t-test with $p \le 0.05$.
}
\resizebox{0.8\textwidth}{!}{
\begin{tabular}{c|l|c|c|c|c}
\toprule
\textbf{\#}
& \textbf{Model}
& \textbf{MAP@100}
& \textbf{MRR}
& \textbf{P@5}
& \textbf{NDCG Burges@3-l2} \\ @
\midrule
a &
bm25 &
0.239\hphantom{$^{bc}$} &
0.483\hphantom{$^{bc}$} &
0.225\hphantom{$^{bc}$} &
0.243\hphantom{$^{bc}$} \\
b &
dense\_v2 &
0.521$^{a}$\hphantom{$^{c}$} &
\textbf{1.000}$^{a}$\hphantom{$^{c}$} &
0.500$^{a}$\hphantom{$^{c}$} &
0.772$^{a}$\hphantom{$^{c}$} \\
c &
run\_3 &
\textbf{0.650}$^{ab}$\hphantom{} &
1.000$^{a}$\hphantom{$^{b}$} &
\textbf{0.600}$^{ab}$\hphantom{} &
\textbf{0.971}$^{a}$\hphantom{$^{b}$} \\
\bottomrule
\end{tabular}
}
\label{tab:results}
\end{table*}""".replace("@\n\\midrule", "\n\\midrule")


def test_latex():
    assert report().to_latex() == LATEX
    assert "Fisher's randomization test with $p \\le 1e-05$" in report(stat_test="fisher", max_p=1e-5).to_latex()
    assert "\\textbf{0" not in report({"a": [0.0]}, {}, ["mrr"]).to_latex()
    assert "50\\% \\& \\#1" in report({"50% & #1": [0.5]}, {}, ["mrr"]).to_latex()


@pytest.mark.parametrize(("metric", "label"), [
    ("hits", "Hits"), ("hit_rate@5", "Hit Rate@5"), ("precision@5", "P@5"), ("recall@5", "Recall@5"),
    ("f1@5", "F1@5"), ("r-precision", "R-Prec"), ("mrr@5", "MRR@5"), ("map-l2", "MAP-l2"),
    ("map@5-l2", "MAP@5-l2"), ("dcg@5", "DCG@5"), ("dcg_burges@5", "DCG Burges@5"), ("ndcg@0", "NDCG@0"),
    ("bpref", "BPref"), ("rbp.8", "RBP.8"), ("rbp.95-l2", "RBP.95-l2"), ("rbp@95", "rbp@95"),
    ("err@5", "err@5"),
])  # fmt: skip
def test_labels(metric, label):
    assert report().get_metric_label(metric) == label


def test_exports(tmp_path, capsys):
    pandas = pytest.importorskip("pandas")
    found = report()
    data = found.to_dict()
    assert list(data) == ["stat_test", "metrics", "model_names", "bm25", "dense_v2", "run_3"]
    assert data["stat_test"] == "student" and data["bm25"]["scores"] is found.results["bm25"]
    assert data["run_3"]["comparisons"] == {
        "bm25": dict.fromkeys(METRICS, 0.01),
        "dense_v2": dict(zip(METRICS, [0.01, 0.5, 0.01, 0.5], strict=True)),
    }
    assert data["run_3"]["win_tie_loss"]["bm25"]["mrr"] == {"W": 1, "T": 2, "L": 3}
    found.save(tmp_path / "report.json")
    assert (tmp_path / "report.json").read_text() == json.dumps(data, indent=4)
    frame = found.to_dataframe()
    assert list(frame.columns) == ["model_names", *METRICS] and list(frame.index) == [0, 1, 2]
    assert frame.equals(pandas.DataFrame([[name, *means] for name, means in MEANS.items()], columns=frame.columns))
    found.print_results()
    assert capsys.readouterr().out == json.dumps(found.results, indent=4) + "\n"
    assert found.get_stat_test_label("tukey") == "Tukey's HSD test"


def test_a_comparison_is_found_by_any_order_of_its_names():
    found = report().comparisons
    assert found["bm25", "run_3"] is found["run_3", "bm25"] is found[{"bm25", "run_3"}] is found[["run_3", "bm25"]]
    assert len(found) == 3 and ("run_3", "dense_v2") in found and set(found) == set(map(frozenset, SIGNIFICANT))
    with pytest.raises(KeyError):
        found["bm25", "x"]
    del found["run_3", "bm25"]
    assert len(found) == 2


def test_more_runs_than_letters():
    assert [letter(place) for place in (0, 16, 25, 26, 51, 52)] == ["a", "q", "z", "a1", "z1", "a2"]
    names = {f"r{place}": [place / 40] for place in range(30)}
    pairs = {(a, b): [True] for a in names for b in names if a < b}
    last = str(report(names, pairs, ["mrr"])).splitlines()[-1]
    assert last.startswith("d1   r29") and last.endswith("ᵃᵇᶜᵈᵉᶠᵍʰⁱʲᵏˡᵐⁿᵒᵖ۹ʳˢᵗᵘᵛʷˣʸᶻᵃ¹ᵇ¹ᶜ¹")
    assert "$^{abcdefghijklmnopqrstuvwxyza1b1c1}$" in report(names, pairs, ["mrr"]).to_latex()


@pytest.mark.parametrize("seed", range(3))
def test_columns_are_those_of_tabulate(seed):
    tabulate = pytest.importorskip("tabulate").tabulate
    rng = random.Random(seed)
    cells = ["0.500", "1.000", "100", "12", "nan", "1e-5", "x", "0.5ᵃ", " lead", "-1.5", "12.50", "1234567.5", "inf"]
    for _ in range(300):
        some = rng.sample(cells, rng.randint(1, 4))
        columns = [[rng.choice(some) for _ in range(4)] for _ in range(3)]
        heads = rng.sample(["#", "Model", "MAP@100", "a long header"], 3)
        laid_out = zip(*(column(head, of_column) for head, of_column in zip(heads, columns, strict=True)), strict=True)
        assert "\n".join("  ".join(row).rstrip() for row in laid_out) == tabulate(
            list(zip(*columns, strict=True)), headers=heads
        )


@pytest.mark.parametrize("max_p", [0.03125, math.nextafter(0.03125, 0)])
def test_a_p_value_that_is_the_limit_is_significant(max_p):
    """Six queries of which the first run is better in each: two of the 64 assignments of signs are as extreme."""
    qrels = {f"q{i}": {"a": 1} for i in range(6)}
    runs = [{query: {"a": score, "b": 1.0} for query in qrels} for score in (2.0, 0.5)]
    found = compare(qrels, runs, "mrr", stat_test="fisher", max_p=max_p).comparisons["run_1", "run_2"]["mrr"]
    assert found == {"p_value": 0.03125, "significant": max_p == 0.03125}
