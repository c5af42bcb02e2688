"""Gates: an exit code of their own, one line that says why, and what was asked for is printed all the same."""

import itertools
from types import SimpleNamespace

import numpy as np
import pytest
from common import EXAMPLES

import fastir
from fastir.analyses.compare.options import CORRECTIONS
from fastir.analyses.compare.records import TESTS
from fastir.cli.gates import Bound, Rule

QRELS, BM25, DENSE = (str(EXAMPLES / name) for name in ("qrels.txt", "bm25.run", "dense.run"))


def test_a_mean_below_the_bound(call, output):
    found = fastir.evaluate(QRELS, BM25, "ndcg@10")["ndcg@10"]
    code, out, err = call("eval", QRELS, BM25, DENSE, "-m", "ndcg@10", "--fail-under", "ndcg@10=0.8")
    assert code == 4 and out == output("eval", QRELS, BM25, DENSE, "-m", "ndcg@10")
    assert err == f"fastir: fail: run bm25: ndcg@10 is {found:.6g}, under 0.8\n"
    assert call("eval", QRELS, BM25, "-m", "ndcg@10", "--fail-under", f"ndcg@10={found!r}")[0] == 0


def test_less_is_better_has_a_bound_above(call):
    assert call("eval", QRELS, BM25, "-m", "mean_rank", "--fail-over", "mean_rank=100")[0] == 0
    code, _, err = call("eval", QRELS, BM25, "-m", "mean_rank", "--fail-over", "mean_rank=1")
    assert code == 4 and err.startswith("fastir: fail: run bm25: mean_rank is 3.71667, over 1")
    code, out, err = call("eval", QRELS, BM25, "--fail-under", "mean_rank=1")
    assert (code, out) == (1, "") and "less of mean_rank is better; use --fail-over" in err
    code, out, err = call("eval", QRELS, BM25, "--fail-over", "map=1")
    assert (code, out) == (1, "") and "more of map is better; use --fail-under" in err


def test_a_metric_of_a_gate_is_evaluated_too(call):
    code, out, _ = call("eval", QRELS, BM25, "-m", "map", "--fail-under", "mrr=0.1,P@5=0.1")
    assert code == 0 and out.splitlines()[0].split() == ["run", "map", "mrr", "P@5"]


def test_many_failing_runs_are_a_line(call, copies):
    command = ("eval", QRELS, *copies(BM25, 3), DENSE, "-m", "map", "mrr", "--fail-under")
    code, _, err = call(*command, "map=0.9,mrr=0.1")
    assert (code, err.count("\n")) == (4, 1)
    assert err == (
        "fastir: fail: 4 runs, bm25 (0.662698), bm25_2 (0.662698), bm25_3 (0.662698) and 1 more: map is under 0.9\n"
    )
    code, _, err = call(*command, "map=0.7,mrr=0.9")
    assert (code, err.count("\n")) == (4, 2)
    assert "3 runs, bm25 (0.833333)" in err and " more" not in err
    command = ("compare", QRELS, DENSE, *copies(BM25, 5), "-m", "map", "--baseline", "dense", "--fail-if")
    code, _, err = call(*command, "drop:map>0.01")
    assert (code, err.count("\n")) == (4, 1)
    assert err.startswith("fastir: fail: 5 runs, bm25 (0.103373), bm25_2 (0.103373), ")
    assert err.endswith(" and 2 more: map is worse than dense's by more than 0.01\n")
    assert call(*command, "worse:map:0.99")[2].endswith(" worse than dense's with p of at most 0.99\n")


def test_a_value_that_is_missing_does_not_pass(call, tmp_path):
    (tmp_path / "qrels").write_text("q 0 d 0\n")
    (tmp_path / "run").write_text("q Q0 d 1 1.0 t\n")
    arguments = ("eval", tmp_path / "qrels", tmp_path / "run", "--convention", "gdeval", "--fail-under", "ndcg@10=0.1")
    code, _, err = call(*arguments)
    assert code == 4 and "ndcg@10 has no value" in err


def test_a_drop_against_the_baseline(call):
    command = ("compare", QRELS, BM25, DENSE, "-m", "map", "--baseline", "dense")
    code, out, err = call(*command, "--fail-if", "drop:map>0.01")
    assert code == 4 and "bm25" in out
    assert err == "fastir: fail: run bm25: map is 0.103373 worse than dense's, more than 0.01\n"
    assert call(*command, "--fail-if", "drop:map>0.2")[0] == 0
    turned = ("compare", QRELS, BM25, DENSE, "-m", "map", "--baseline", "bm25")
    assert call(*turned, "--fail-if", "drop:map>0.01")[0] == 0
    less = ("compare", QRELS, BM25, DENSE, "-m", "mean_rank", "--baseline", "bm25")
    assert call(*less, "--fail-if", "drop:mean_rank>0.1")[0] == 4


def test_significantly_worse_than_the_baseline(call):
    command = ("compare", QRELS, BM25, DENSE, "-m", "map", "--baseline", DENSE)
    assert call(*command, "--fail-if", "worse:map")[0] == 0
    code, _, err = call(*command, "--fail-if", "worse:map:0.5")
    assert code == 4 and err.endswith("p = 0.1898 (at most 0.5)\n")
    assert call(*command, "--confidence", "0.7", "--fail-if", "worse:map")[0] == 4
    assert call("compare", QRELS, BM25, DENSE, "--baseline", BM25, "--fail-if", "worse:map:0.5")[0] == 0


def test_a_value_that_is_the_limit_passes(call):
    found = fastir.evaluate(QRELS, BM25, "mean_rank")["mean_rank"]
    assert call("eval", QRELS, BM25, "--fail-over", f"mean_rank={found!r}")[0] == 0
    [pair] = fastir.compare(QRELS, {"dense": DENSE, "bm25": BM25}, "map").pairs
    command = ("compare", QRELS, BM25, DENSE, "-m", "map", "--baseline", DENSE, "--fail-if")
    assert call(*command, f"drop:map>{pair.difference!r}")[0] == 0
    assert call(*command, f"worse:map:{pair.p_value!r}")[0] == 4


def test_the_level_of_a_gate_is_the_confidence_without_the_noise_of_subtraction():
    runs = {"new": {i: 0.5 - i % 7 / 100 if i else 0.91 for i in range(60)}, "old": dict.fromkeys(range(60), 0.9)}
    options = {"test": "bootstrap", "n_resamples": 9, "confidence": 0.9, "baseline": "old"}
    comparison = fastir.compare_scores(runs, **options)
    assert comparison.pairs[0].p_value == 0.1 > 1 - 0.9
    assert Rule("worse", comparison.metrics[0], None).failure(comparison).endswith("p = 0.1 (at most 0.1)")


def test_a_gate_and_a_file(call, tmp_path):
    code, out, _ = call("eval", QRELS, BM25, "--fail-under", "map=0.9", "-o", tmp_path / "x.json")
    assert (code, out) == (4, "") and "map" in fastir.load_results(tmp_path / "x.json")
    code, out, _ = call("compare", QRELS, BM25, DENSE, "-m", "map", "-o", tmp_path / "c.json")
    assert (code, out) == (0, "")
    runs = {"bm25": BM25, "dense": DENSE}
    assert fastir.Comparison.load(tmp_path / "c.json") == fastir.compare(QRELS, runs, "map")


@pytest.mark.parametrize("word", ["map", "map=", "=1", "map=x", "map=nan", "map=inf", "map=-inf", "map=1e999"])
def test_words_that_are_no_bounds(call, word):
    code, out, err = call("eval", QRELS, BM25, "--fail-under", word)
    assert (code, out) == (1, "") and f"--fail-under {word}: expected METRIC=VALUE" in err


@pytest.mark.parametrize("word", ["drop:map>1e999", "drop:map>-1e999", "drop:map>inf", "worse:map:0", "worse:map:1"])
def test_rules_that_nothing_can_break(call, word):
    code, out, err = call("compare", QRELS, BM25, DENSE, "-m", "map", "--baseline", DENSE, "--fail-if", word)
    assert (code, out) == (1, "") and f"--fail-if {word}: expected worse:METRIC" in err


# ---- a test that cannot tell ----------------------------------------------------------------------------------------
@pytest.fixture
def lost(tmp_path):
    """The judgments of so many queries, a run that has all, and one that has nothing, and both as saved results."""

    def made(n):
        ids = [f"q{number}" for number in range(n)]
        paths = [str(tmp_path / name) for name in ("q.txt", "old", "new", "old.json", "new.json")]
        for path, line in zip(paths, ("{0} 0 d 1\n{0} 0 x 0\n", "{} Q0 d 1 2 t\n", "{} Q0 x 1 2 t\n"), strict=False):
            with open(path, "w") as file:
                file.writelines(map(line.format, ids))
        for place in (1, 2):
            fastir.evaluate(paths[0], paths[place], ["mrr", "map"]).save(paths[place + 2])
        return paths

    return made


@pytest.mark.parametrize("n", [1, 2, 50])
@pytest.mark.parametrize("test", TESTS)
def test_a_run_that_lost_everything_fails_whatever_the_test(call, lost, n, test):
    qrels, old, new, *saved = lost(n)
    options = ("-m", "mrr", "--test", test, "--resamples", "99", "--baseline")
    for command in ((qrels, old, new), saved):
        code, out, err = call("compare", *command, *options, command[-2], "--fail-if", "worse:mrr")
        assert code == 4 and "1.0000" in out and "fail: run new: mrr is 1 worse than old's, " in err
        assert call("compare", *command, *options, command[-1], "--fail-if", "worse:mrr")[0] == 0
    reason = "in its only query" if n == 1 else f"by the same in each of {n} queries"
    if test == "t":
        assert err == f"fastir: fail: run new: mrr is 1 worse than old's, {reason} (p is not a number)\n"


def test_several_runs_that_lost_everything_are_a_line(call, lost, copies):
    qrels, old, new, *_ = lost(9)
    options = ("-m", "mrr", "--baseline", old, "--fail-if", "worse:mrr")
    code, _, err = call("compare", qrels, old, *copies(new, 2), *options)
    assert code == 4
    assert err == (
        "fastir: fail: 2 runs, new (1), new_2 (1): mrr is worse than old's with p of at most 0.05, or in every query\n"
    )


WAYS = [
    {"test": test, "correction": correction, "family": ("metric", "all")[place % 2]}
    for place, (test, correction) in enumerate(itertools.product(TESTS, (None, *CORRECTIONS)))
    if TESTS[test].simultaneous <= (correction in (None, "auto")) and (correction == "max_t") <= TESTS[test].joint
]
LOSSES = {
    "any": lambda rng: rng.random(30) + 1e-6,
    "one that is great": lambda rng: np.where(np.arange(30) == rng.integers(30), 0.9, 1e-6 * (1 + rng.random(30))),
    "nearly the same": lambda rng: 0.25 + rng.normal(0, 1e-13, 30),
    "the same": lambda rng: np.full(30, 0.1),
    "the same of one": lambda rng: np.full(1, 1e-3),
    "the same of a few": lambda rng: np.full(rng.integers(2, 9), 1.0),
}


@pytest.mark.parametrize("way", WAYS, ids=lambda way: "-".join(map(str, way.values())))
def test_a_run_that_loses_everywhere_fails_under_every_test_and_correction(way, tmp_path):
    """In each of 30 queries by any amounts; in any number of queries by one amount. One that wins there passes."""
    rng = np.random.default_rng(WAYS.index(way))
    for what, made in LOSSES.items():
        amounts = made(rng)
        n = len(amounts)
        old = rng.random(n)
        values = {"old": old, "new": old - amounts, **({"other": rng.random(n)} if rng.integers(2) else {})}
        runs = {
            name: {"map": dict(enumerate(row)), "mrr": dict(enumerate(rng.random(n)))} for name, row in values.items()
        }
        for baseline, turned, loses in (("old", "new", True), ("new", "old", False)):
            comparison = fastir.compare_scores(runs, **way, baseline=baseline, n_resamples=99)
            line = Rule("worse", "map", None).failure(comparison)
            assert (line is not None and turned in line.partition(":")[0]) == loses, (what, amounts, line)
            if what == ("any", "the same")[baseline == "new"]:
                comparison.save(tmp_path / "c.json")
                assert Rule("worse", "map", None).failure(fastir.Comparison.load(tmp_path / "c.json")) == line


def test_a_loss_in_every_query_of_few_is_left_to_the_test():
    values = {"old": [0.5, 0.5, 0.5, 0.5], "new": [0.4, 0.1, 0.49, 0.2]}
    comparison = fastir.compare_scores({name: dict(enumerate(row)) for name, row in values.items()}, baseline="old")
    assert comparison.pairs[0].p_value > 0.05
    assert Rule("worse", comparison.metrics[0], None).failure(comparison) is None


@pytest.mark.parametrize(("n_runs", "n", "fails"), [(1, 5, False), (1, 6, True), (2, 6, False), (2, 7, True)])
def test_a_loss_in_each_query_is_held_against_the_level_of_all_pairs(n_runs, n, fails):
    """By chance one run loses in all of n queries, or wins in all, with 2 / 2 ** n; one great loss hides it from t."""
    worse = {query: 0.05 if query == 0 else 0.949 - query / 1000 for query in range(n)}
    runs = {"old": dict.fromkeys(range(n), 0.95), **{f"new{number}": worse for number in range(n_runs)}}
    comparison = fastir.compare_scores(runs, baseline="old")
    assert comparison.verdicts[0].adjusted_p > 0.3
    failure = Rule("worse", comparison.metrics[0], None).failure(comparison)
    assert (failure is not None) == fails and (not fails or "in e" in failure)


@pytest.mark.parametrize(("field", "reason"), [("difference", "has no value"), ("adjusted_p", "and p is not a number")])
def test_what_is_not_a_number_passes_no_gate(field, reason):
    scores = {"old": {"q": 0.5, "p": 0.5, "r": 0.5}, "new": {"q": 0.1, "p": 0.3, "r": 0.6}}
    comparison = fastir.compare_scores(scores, baseline="old")
    known = {name: getattr(comparison, name) for name in ("method", "values", "metrics", "runs")}
    rule = Rule("worse", comparison.metrics[0], None)
    assert rule.failure(comparison) is None
    verdicts = [verdict._replace(**{field: float("nan")}) for verdict in comparison.verdicts]
    assert rule.failure(SimpleNamespace(verdicts=verdicts, **known)).endswith(reason)


@pytest.mark.parametrize("sign", [">=", "<=", "!=", "=="])
@pytest.mark.parametrize("option", ["--fail-under", "--fail-over"])
def test_another_sign_than_the_equals_sign_is_called_so(call, option, sign):
    code, _, err = call("eval", QRELS, BM25, option, f"ndcg@10{sign}0.5")
    assert code == 1 and f"{option} ndcg@10{sign}0.5: expected METRIC=VALUE, such as ndcg@10=0.42" in err


# ---- rules of several metrics, of aliases and of families -----------------------------------------------------------
NAMES = {  # a word of a rule, and the metrics that it stands for
    "map": ["map"], " map": ["map"], "mrr,map": ["mrr", "map"], "mrr, map": ["mrr", "map"],
    "ndcg@5,10": ["ndcg@5", "ndcg@10"], "nDCG@10": ["nDCG@10"], "ndcg_cut.10": ["ndcg_cut_10"],
    "ndcg_cut.5,10": ["ndcg_cut_5", "ndcg_cut_10"],
    "ndcg_cut": [f"ndcg_cut_{k}" for k in (5, 10, 15, 20, 30, 100, 200, 500, 1000)],
    "P.5,map": ["P_5", "map"], "recip_rank": ["recip_rank"], "rbp(p=.8)": ["rbp(p=.8)"],
    "ndcg_cut.5,rbp(p=.8),mrr": ["ndcg_cut_5", "rbp(p=.8)", "mrr"], "mean_rank": ["mean_rank"],
}  # fmt: skip
RULES = ("worse:{}", "worse:{}:0.01", "drop:{}>0.01")


def failing(err):
    """The metrics of the lines that say which gates failed."""
    return [line.split(": ")[3].split(" ")[0] for line in err.splitlines() if line.startswith("fastir: fail: ")]


@pytest.mark.parametrize("word", NAMES)
@pytest.mark.parametrize("rule", RULES)
def test_no_rule_passes_a_run_that_lost_everything(call, lost, tmp_path, rule, word):
    """In each form of a rule and of its metrics, over runs and saved results; mean_rank has no value if all is lost."""
    qrels, old, new, *_ = lost(9)
    gate = ("--fail-if", rule.format(word))
    saved = [str(tmp_path / f"{side}-all.json") for side in ("old", "new")]
    for run, path in zip((old, new), saved, strict=True):
        fastir.evaluate(qrels, run, ["mrr", *dict.fromkeys(NAMES[word])]).save(path)
    for judge, asked, sides in ((["--qrels", qrels], ("-m", "mrr"), (old, new)), ([], (), saved)):
        for was, now, failed in ((*sides, NAMES[word]), (*reversed(sides), [])):
            for words in (("compare", *judge[1:], was, now, "--baseline", was), ("diff", *judge, was, now)):
                code, _, err = call(*words, *asked, *gate)
                if word == "mean_rank":
                    assert code == 2 and "metric 'mean_rank': every query has a NaN in one of the runs" in err
                else:
                    assert (code, failing(err)) == (4 if failed else 0, failed), err


@pytest.mark.parametrize("word", [*NAMES, "map=0.2,mrr"])
def test_no_bound_passes_a_run_that_lost_everything(call, lost, word):
    qrels, old, new, *_ = lost(9)
    option, value = ("--fail-over", "1.5") if word == "mean_rank" else ("--fail-under", "0.1")
    for run, others, exit_code in ((new, (), 4), (old, (), 0), (old, (new,), 4)):
        code, _, err = call("eval", qrels, run, *others, "-m", "mrr", option, f"{word}={value}")
        assert code == exit_code
        assert failing(err) == ([] if code == 0 else NAMES.get(word, ["map", "mrr"]))


@pytest.mark.parametrize("word", ["ndcg_cut", "ndcg_cut.10", "P.5,10", "mrr,P_5", "nothing", "ndcg@1,2"])
@pytest.mark.parametrize("rule", RULES)
def test_saved_results_that_lack_a_metric_of_a_rule_are_refused(call, lost, rule, word):
    *_, old, new = lost(9)
    for command in (("compare", old, new, "--baseline", old), ("diff", old, new)):
        code, out, err = call(*command, "--fail-if", rule.format(word))
        assert code in (1, 2) and out == "" and "metric '" in err, err


@pytest.mark.parametrize("word", ["", " ", ",", "map:", ">0.1", "worse:", "worse: ", "drop:>0.1", "drop: >0.1"])
def test_a_rule_without_a_metric_is_refused(call, lost, word):
    qrels, old, new, *_ = lost(3)
    for command in (("compare", qrels, old, new, "--baseline", old), ("diff", "--qrels", qrels, old, new)):
        code, out, err = call(*command, "--fail-if", word)
        assert code == 1 and out == "" and ("expected worse:METRIC" in err or "the metric name is empty" in err), err
    code, out, _ = call("eval", qrels, new, "--fail-under", word)
    assert (code, out) == (1, "")


def test_each_metric_of_a_bound_has_its_own_side(call):
    code, out, err = call("eval", QRELS, BM25, "--fail-under", "map,mean_rank=1")
    assert (code, out) == (1, "") and "--fail-under mean_rank=1: less of mean_rank is better; use --fail-over" in err


def test_a_run_that_only_one_side_has_passes_no_rule(call, lost, tmp_path):
    qrels, old, *_ = lost(9)
    both, one = tmp_path / "both.json", tmp_path / "one.json"
    fastir.evaluate_many(qrels, {"a": old, "b": old, "c": old}, "map").save(both)
    fastir.evaluate_many(qrels, {"a": old, "d": old}, "map").save(one)
    for was, now, alone in ((both, one, ("b, c", "d")), (one, both, ("d", "b, c"))):
        code, _, err = call("diff", was, now)
        assert code == 0 and err.count("warning: only") == 2
        code, _, err = call("diff", was, now, "--fail-if", "drop:map>0.1")
        assert code == 4 and err.splitlines() == [
            f"fastir: fail: only {side} has {runs}, so that --fail-if has nothing to compare it with"
            for side, runs in zip((was, now), alone, strict=True)
        ]


def test_queries_in_which_only_the_baseline_has_a_value_are_a_loss(call, tmp_path):
    """The mean of pair_accuracy leaves out the queries in which a run has no pair of judged documents."""
    ids = [f"q{number}" for number in range(6)]
    (tmp_path / "q").write_text("".join(f"{each} 0 d 1\n{each} 0 x 0\n" for each in ids))
    found = [f"{each} Q0 {doc} 1 {score} t\n" for each in ids for doc, score in (("d", 2), ("x", 1))]
    (tmp_path / "old").write_text("".join(found))
    (tmp_path / "new").write_text("".join(found[:2]) + "".join(f"{each} Q0 z 1 2 t\n" for each in ids[1:]))
    sides = [tmp_path / name for name in ("q", "old", "new")]
    for rule in ("drop:pair_accuracy>0.1", "worse:pair_accuracy"):
        code, _, err = call("compare", *sides, "-m", "map", "--baseline", "old", "--fail-if", rule)
        assert code == 4
        assert err.endswith("fail: run new: pair_accuracy has no value in 5 queries where old has one\n")
        assert call("compare", *sides, "-m", "map", "--baseline", "new", "--fail-if", rule)[0] == 0


def test_a_rule_that_meets_no_number_fails():
    scores = {"old": {"map": {"q": 0.5, "p": 0.5}}, "new": {"map": {"q": 0.1, "p": 0.3}}}
    comparison = fastir.compare_scores(scores, baseline="old")
    for rule, text in ((Rule("drop", "mrr", 0.1), "drop:mrr>0.1"), (Rule("worse", "mrr", None), "worse:mrr")):
        assert rule.failure(comparison) == f"--fail-if {text}: no pair of runs was compared on mrr"
    assert Bound("map", 0.1, "--fail-under").failure({}) == "no run has a value of map (--fail-under map=0.1)"


@pytest.mark.parametrize("word", [word for word in NAMES if word != " map"])
def test_sort_takes_one_metric_by_any_of_its_names(call, lost, word):
    """Runs and saved results; a list or a family is refused."""
    qrels, old, new, *_ = lost(3)
    names = NAMES[word]
    saved = [f"{old}-all.json", f"{new}-all.json"]
    for run, path in zip((old, new), saved, strict=True):
        fastir.evaluate(qrels, run, names).save(path)
    for command in (("eval", qrels, new, old), ("compare", qrels, new, old), ("compare", saved[1], saved[0])):
        if command[0] == "compare" and word == "mean_rank":
            continue  # it has no value in any query of a run that found nothing
        code, out, err = call(*command, "--sort", word)
        if len(names) > 1:
            assert (code, out) == (1, "") and f"--sort {word}: expected one metric, got {len(names)}" in err
        else:
            assert code == 0, err
            first, second = (line.split()[command[0] == "compare"] for line in out.splitlines()[1:3])
            assert (first.partition("-")[0], second.partition("-")[0]) == ("old", "new")


def test_an_empty_sort_is_refused(call):
    for command in ("eval", "compare"):
        code, out, err = call(command, QRELS, BM25, DENSE, "--sort", "")
        assert (code, out) == (1, "") and "the metric name is empty" in err


# ---- a gate that no value can break ---------------------------------------------------------------------------------
@pytest.mark.parametrize("metric", ["mrr", "map", "ndcg@5", "nDCG@5", "P_5", "recall@5", "ndcg_cut.5,10", "map,p@5"])
@pytest.mark.parametrize("margin", ["1", "1.", "5", "100"])
def test_a_margin_that_no_loss_exceeds_is_refused(call, lost, metric, margin):
    qrels, old, new, *saved = lost(3)
    rule = f"--fail-if=drop:{metric}>{margin}"
    for words in (
        ("compare", qrels, old, new, "--baseline", "old", rule),
        ("diff", f"--qrels={qrels}", rule, old, new),
        *([("diff", rule, *saved), ("compare", *saved, "--baseline", "old", rule)] if metric in ("mrr", "map") else []),
    ):
        code, out, err = call(*words)
        assert (code, out) == (1, "") and f"are from 0 to 1, so no loss is more than {float(margin):g}" in err
    assert call(*words[:-1], rule.replace(f">{margin}", ">0.999"))[0] in (1, 4) or metric not in ("mrr", "map")


@pytest.mark.parametrize(
    "word", ["map=0", "map=-0.1", "ndcg@5,10=0", "P_5=-3", "mrr=0.5,map=0", "wss(n_docs=9)@0.5=-1"]
)
def test_a_bound_that_every_value_meets_is_refused(call, lost, word):
    qrels, _, new, *_ = lost(3)
    code, out, err = call("eval", qrels, new, "--fail-under", word)
    assert (code, out) == (1, "") and "--fail-under" in err and ": no value of " in err


@pytest.mark.parametrize("word", ["unjudged@5=1", "set_relative_fallout=2", "amr=2"])
def test_a_bound_above_every_value_is_refused(call, lost, word):
    qrels, _, new, *_ = lost(3)
    if "set_" not in word:
        code, out, err = call("eval", qrels, new, "--fail-over", word)
        assert (code, out) == (1, "") and f"no value of {word.split('=')[0]} is over {word.split('=')[1]}" in err


def test_a_limit_of_an_open_range_is_taken(call, lost):
    qrels, old, new, *_ = lost(3)
    assert call("eval", qrels, old, "--fail-under", "num_rel_ret=3,dcg@5=1", "--fail-over", "mean_rank=1")[0] == 0
    assert call("compare", qrels, old, new, "--baseline", "old", "--fail-if", "drop:num_rel_ret>5")[0] in (0, 4)


@pytest.mark.parametrize("command", ["compare", "report"])
def test_all_metrics_are_compared_but_for_geometric_means(call, tmp_path, command):
    output = str(tmp_path / ("c.json" if command == "compare" else "r.html"))
    code, _, err = call(command, QRELS, BM25, DENSE, "--all", "-o", output)
    assert code == 0 and "note: --all is without gm_map" in err and "error" not in err
    code, _, err = call(command, QRELS, BM25, DENSE, "--all", "-m", "gm_map", "-o", output)
    assert code == 1 and "metric 'gm_map' is a geometric mean" in err


def test_gates_that_passed_are_one_line(call):
    for command, gates, said in (
        (
            ("eval", QRELS, BM25, DENSE),
            ("--fail-under", "map=0.1,mrr=0.2"),
            "--fail-under map=0.1, --fail-under mrr=0.2",
        ),
        (("compare", QRELS, BM25, DENSE, "--baseline", "bm25"), ("--fail-if", "worse:map"), "--fail-if worse:map"),
        (("diff", QRELS, BM25, DENSE), ("--fail-if", "drop:map>0.1"), "--fail-if drop:map>0.1"),
    ):
        code, _, err = call(*command, "-m", "map", *gates)
        assert (code, err) == (0, f"fastir: gate passed: {said}\n")


def test_a_range_over_the_orders_of_equal_scores_has_a_bound_above(call):
    command = ("eval", QRELS, BM25, "-m", "ndcg@10", "--ties-report", "--fail-over")
    found = fastir.evaluate(QRELS, BM25, "ndcg@10", ties_report=True).ties()["ndcg@10"].range
    assert found > 0 and call(*command, f"tie-range:ndcg@10={found!r}")[0] == 0
    code, out, err = call(*command, "tie-range:ndcg@10=0.0001")
    assert code == 4 and out.startswith("metric")
    assert (
        err
        == f"fastir: fail: run bm25: the range of ndcg@10 over the orders of equal scores is {found:.6g}, over 0.0001\n"
    )
    assert call(*command, "tie-range:map=0")[0] == 4
    for words, message in (
        (("--fail-over", "tie-range:ndcg@10=0.1"), "--fail-over tie-range: it belongs to --ties-report"),
        (
            ("--ties-report", "--fail-under", "tie-range:ndcg@10=0.1"),
            "expected --fail-over with a range from 0 to below",
        ),
        (
            ("--ties-report", "--fail-over", "tie-range:ndcg@10=1"),
            "expected --fail-over with a range from 0 to below 1",
        ),
    ):
        code, out, err = call("eval", QRELS, BM25, "-m", "ndcg@10", *words)
        assert (code, out) == (1, "") and message in err
