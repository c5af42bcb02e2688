"""What number is this: thousands of settings against separate evaluations, and two conventions explained."""

import itertools

import pytest
from timing import Goal

import fastir
from fastir.analyses.identify.tables import parse_values

METRICS = ["ndcg@10", "map", "recall@100"]
ONE, MANY, ALONE, PAIR = "fastir, identify", "fastir, 216 calls", "fastir, one evaluation", "fastir, two conventions"
READ = "fastir, values of a text"
CHOICES = {
    "queries": ("qrels", "intersection"), "ties": ("trec", "doc_id_asc", "input"),
    "gain": ("linear", "exp2", "binary"), "ideal": ("judged", "retrieved", "num_ret", "full"),
    "empty": ("zero", "skip", "one"),
}  # fmt: skip
SETTINGS = [dict(zip(CHOICES, values, strict=True)) for values in itertools.product(*CHOICES.values())]
ROUNDS = 3


@pytest.mark.filterwarnings("ignore::fastir.FastirWarning")
@pytest.mark.parametrize(("name", "seconds"), [("judged", 2), ("passages", 10)])
def test_identify(race, collection, name, seconds):
    """How many settings there are is printed by `identify` itself: about eight thousand."""
    qrels, run = collection(name)
    means = dict(fastir.evaluate(qrels, run, METRICS, convention="beir", gain="exp2"))
    values = {metric: f"{value:.4f}" for metric, value in means.items()}

    def identify():
        return fastir.identify(qrels, run, values)

    assert any(answer.values == pytest.approx(list(means.values()), abs=1e-10) for answer in identify())
    calls = {ONE: identify, ALONE: lambda: dict(fastir.evaluate(qrels, run, METRICS, convention="beir"))}
    goals = [Goal(ONE, ALONE)]
    if name == "judged":
        calls[MANY] = lambda: [dict(fastir.evaluate(qrels, run, METRICS, **each)) for each in SETTINGS]
        goals.append(Goal(ONE, MANY))
    costs = race(f"identify, {name}", calls, goals, ROUNDS)
    race.amount(f"identify, {name}", costs[ONE].cpu, "s", seconds)


def test_names_in_a_file(race):
    """A text of 200,000 cells that are no names costs as much for each cell as one of 20,000."""
    texts = [",".join(f"word {number}" for number in range(20_000)) + "\n", ""]
    texts[1] = "".join(texts[0].replace("word", f"line {line}") for line in range(10))
    calls = {f"{READ}, {text.count(',') + 1} cells": lambda text=text: parse_values(text) for text in texts}
    small, large = (cost.cpu for cost in race("names of cells", calls, [], ROUNDS).values())
    race.amount("names, 200,000 cells", large, "s", 5)
    race.amount("names, growth of time with ten times the cells", large / small, "x", 15)


@pytest.mark.filterwarnings("ignore::fastir.FastirWarning")
def test_two_conventions(race, collection):
    qrels, run = collection("judged")
    found = fastir.explain_conventions(qrels, run, None, "ndcg@10", ("beir", "lightgbm"))
    means = (fastir.evaluate(qrels, run, "ndcg@10", convention=name)["ndcg@10"] for name in ("beir", "lightgbm"))
    assert found.means == tuple(means)
    calls = {
        PAIR: lambda: fastir.explain_conventions(qrels, run, None, "ndcg@10", ("beir", "lightgbm")),
        ALONE: lambda: dict(fastir.evaluate(qrels, run, "ndcg@10", convention="beir")),
    }
    race("two conventions explained", calls, [Goal(PAIR, ALONE)], ROUNDS)
