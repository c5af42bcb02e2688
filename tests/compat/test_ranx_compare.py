"""The stand-in for ranx's compare and Report: its tables and exports byte for byte, and where its p-values differ."""

import json
import math
import random

import numpy as np
import pytest

import fastir
from fastir.compat.ranx import Qrels, Report, Run, compare
from fastir.compat.ranx.compare import share_of_permutations
from fastir.compat.ranx.report import FrozensetDict, column, letter

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
        FrozensetDict(
            {
                pair: {
                    metric: {"p_value": 0.01 if yes else 0.5, "significant": yes}
                    for metric, yes in zip(metrics, found, strict=True)
                }
                for pair, found in significant.items()
            }
        ),
        metrics,
        max_p,
        {(a, b): {metric: {"W": 1, "T": 2, "L": 3} for metric in metrics} for a in means for b in means if a != b},
        **options,
    )


# ---- what a report prints, as ranx 0.3.21 was seen to ----------------------------------------------------------


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


@pytest.mark.parametrize(
    ("metric", "label"),
    [
        ("hits", "Hits"),
        ("hit_rate@5", "Hit Rate@5"),
        ("precision@5", "P@5"),
        ("recall@5", "Recall@5"),
        ("f1@5", "F1@5"),
        ("r-precision", "R-Prec"),
        ("mrr@5", "MRR@5"),
        ("map-l2", "MAP-l2"),
        ("map@5-l2", "MAP@5-l2"),
        ("dcg@5", "DCG@5"),
        ("dcg_burges@5", "DCG Burges@5"),
        ("ndcg@0", "NDCG@0"),
        ("bpref", "BPref"),
        ("rbp.8", "RBP.8"),
        ("rbp.95-l2", "RBP.95-l2"),
        ("rbp@95", "rbp@95"),
        ("err@5", "err@5"),
    ],
)
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


# ---- compare ---------------------------------------------------------------------------------------------------


def collection(runs=3, queries=12, seed=2):
    rng = random.Random(seed)
    qrels = {
        f"q{number}": {f"d{doc}": rng.choice((0, 0, 1, 2)) for doc in range(8)} | {"sure": 1}
        for number in range(queries)
    }
    return qrels, [
        {
            query: {doc: round(rng.random() + skill * label / 4, 3) for doc, label in docs.items()}
            for query, docs in qrels.items()
        }
        for skill in range(runs)
    ]


@pytest.mark.parametrize(("stat_test", "ours"), [("student", "t"), ("fisher", "randomization"), ("tukey", "tukey")])
def test_p_values_are_fastirs(stat_test, ours):
    qrels, runs = collection()
    named = [Run(run, name) for run, name in zip(runs, ("x", "y", None), strict=True)]
    found = compare(Qrels(qrels), named, ["map", "ndcg@5"], stat_test=stat_test, max_p=0.05)
    assert found.model_names == ["x", "y", "run_3"]
    expected = fastir.compare(
        qrels,
        dict(zip(found.model_names, runs, strict=True)),
        ["map", "ndcg@5"],
        test=ours,
        n_resamples=1000,
        random_state=42,
        convention="ranx",
    )
    for pair in expected.pairs:
        assert found.comparisons[pair.b, pair.a][pair.metric] == {
            "p_value": pytest.approx(pair.p_value, rel=1e-12),
            "significant": pair.p_value <= 0.05,
        }
        assert found.win_tie_loss[pair.a, pair.b][pair.metric] == {"W": pair.wins, "T": pair.ties, "L": pair.losses}
        assert found.win_tie_loss[pair.b, pair.a][pair.metric] == {"W": pair.losses, "T": pair.ties, "L": pair.wins}
    assert list(found.win_tie_loss) == [(a, b) for a in found.model_names for b in found.model_names if a != b]
    assert named[0].scores["map"] and named[2].mean_scores["map"] == found.results["run_3"]["map"]
    assert (found.metrics, found.max_p, found.stat_test) == (["map", "ndcg@5"], 0.05, stat_test)


def test_literal_p_values_are_ranxs():
    stats = pytest.importorskip("scipy.stats")
    qrels, runs = collection()
    values = {
        name: [of_query["map"] for of_query in fastir.evaluate(qrels, run, "map").to_dict().values()]
        for name, run in zip(("run_1", "run_2", "run_3"), runs, strict=True)
    }
    options = {"metrics": "map", "literal": True}
    student = compare(qrels, runs, **options).comparisons["run_1", "run_2"]["map"]["p_value"]
    assert student == stats.ttest_rel(values["run_1"], values["run_2"]).pvalue
    tukey = compare(qrels, runs, stat_test="Tukey", **options).comparisons["run_1", "run_3"]["map"]["p_value"]
    assert tukey == stats.tukey_hsd(*values.values()).pvalue[0, 2]
    assert tukey > compare(qrels, runs, "map", stat_test="tukey").comparisons["run_1", "run_3"]["map"]["p_value"]
    same = compare(qrels, [runs[0], runs[0]], **options).comparisons["run_1", "run_2"]["map"]
    assert same["p_value"] != same["p_value"] and not same["significant"]
    assert compare(qrels, [runs[0], runs[0]], "map").comparisons["run_1", "run_2"]["map"]["p_value"] == 1.0


def test_literal_shares_lose_ties_to_rounding_and_can_be_0():
    """Sakai's X and Y, exact p 0.065918, of which ranx gives 0.0505 (STATISTICS)."""
    x = np.array([7, 3, 2, 6, 4, 4, 0, 7, 1, 3, 5, 4, 0, 6, 5, 3, 1, 5, 2, 1]) / 10
    y = np.array([5, 1, 0, 2, 4, 3, 0, 5, 3, 3, 4, 4, 1, 4, 2, 1, 1, 6, 3, 2]) / 10
    assert share_of_permutations(x, y, 200_000, 1) == pytest.approx(0.0505, abs=0.003)
    assert share_of_permutations(x * 10, y * 10, 200_000, 1) == pytest.approx(0.065918, abs=0.003)
    assert share_of_permutations(x, y, 500, 1) == share_of_permutations(x, y, 500, 1)
    assert share_of_permutations(np.ones(30), np.zeros(30), 100, 1) == 0.0
    assert share_of_permutations(x, x, 100, 1) == 1.0


def test_a_metric_without_any_value_has_no_p_value():
    only_relevant = {"q": {"a": 1}, "r": {"a": 1}}
    runs = [{"q": {"a": 1.0}, "r": {"a": 1.0}}, {"q": {"a": 1.0}, "r": {"b": 2.0, "a": 1.0}}]
    found = compare(only_relevant, runs, ["bpref", "mrr"])
    p = found.comparisons["run_1", "run_2"]["bpref"]["p_value"]
    assert p != p and found.win_tie_loss["run_1", "run_2"]["bpref"] == {"W": 0, "T": 0, "L": 0}
    assert found.win_tie_loss["run_1", "run_2"]["mrr"] == {"W": 1, "T": 1, "L": 0}
    assert str(found).splitlines()[2] == "a    run_1        nan   1"


def test_one_run_and_no_runs():
    qrels, runs = collection(1)
    one = compare(qrels, runs, "mrr")
    assert (len(one.comparisons), one.win_tie_loss, one.model_names) == (0, {}, ["run_1"])
    assert str(compare(qrels, [], "mrr")) == "#    Model    MRR\n---  -------  -----"


def test_what_cannot_be_compared():
    qrels, runs = collection(2)
    with pytest.raises(NotImplementedError, match="one of 'student', 'fisher', 'tukey', got 'wilcoxon'"):
        compare(qrels, runs, "mrr", stat_test="wilcoxon")
    with pytest.raises(ValueError, match="two runs are named 'x'"):
        compare(qrels, [Run(run, "x") for run in runs], "mrr")
    with pytest.raises(AssertionError, match="must have the same queries"):
        compare(qrels, [{"q1": runs[0]["q1"]}], "mrr")
    with pytest.raises(AssertionError, match="metrics must be"):
        compare(qrels, runs, [7])
    run = Run({"q1": runs[0]["q1"]}, "few")
    found = compare(Qrels(qrels), [run, Run(runs[1], "all")], "mrr", make_comparable=True)
    assert len(run) == len(qrels) and found.results["few"]["mrr"] < found.results["all"]["mrr"]


def test_the_same_as_ranx():
    ranx = pytest.importorskip("ranx")
    qrels, runs = collection(4, 15)
    metrics = ["map@100", "mrr", "ndcg@10", "precision@5", "r-precision", "ndcg_burges@3-l2", "hit_rate@3"]
    for options in (
        {},
        {"max_p": 0.3, "rounding_digits": 4},
        {"max_p": 0.2, "show_percentages": True},
        {"stat_test": "tukey", "max_p": 0.2},
    ):
        named = [(run, f"r{place}") for place, run in enumerate(runs)]
        theirs = ranx.compare(ranx.Qrels(qrels), [ranx.Run(*run) for run in named], metrics, **options)
        ours = compare(Qrels(qrels), [Run(*run) for run in named], metrics, literal=True, **options)
        assert str(ours) == str(theirs) and ours.to_latex() == theirs.to_latex()
        assert ours.win_tie_loss == theirs.win_tie_loss and list(ours.to_dict()) == list(theirs.to_dict())
        for pair, expected in theirs.comparisons.items():
            if len(pair) == 2:
                found = ours.comparisons[pair]
                for metric in metrics:
                    p = expected[metric]["p_value"]
                    assert math.isclose(found[metric]["p_value"], p, rel_tol=1e-9) or p != p
                    assert found[metric]["significant"] == expected[metric]["significant"]
    assert theirs.to_dataframe().columns.tolist() == ours.to_dataframe().columns.tolist()


@pytest.mark.parametrize("max_p", [0.03125, math.nextafter(0.03125, 0)])
def test_a_p_value_that_is_the_limit_is_significant(max_p):
    """Six queries of which the first run is better in each: two of the 64 assignments of signs are as extreme."""
    qrels = {f"q{i}": {"a": 1} for i in range(6)}
    runs = [{query: {"a": score, "b": 1.0} for query in qrels} for score in (2.0, 0.5)]
    found = compare(qrels, runs, "mrr", stat_test="fisher", max_p=max_p).comparisons["run_1", "run_2"]["mrr"]
    assert found == {"p_value": 0.03125, "significant": max_p == 0.03125}
