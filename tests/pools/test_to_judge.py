"""What to judge next: influence against evaluating with one more judgment, and what a batch of judgments brings."""

import itertools
import random

import pytest
from common import ABSENT, SHARED
from every_convention import influence_that_differs
from pooled_runs import made

import fastir
from fastir.errors import UnknownMetricError


@pytest.mark.parametrize("metric", ["map", "ndcg@5", "p@3", "rbp", "mrr", "bpref", "err", "recall@4"])
def test_influence_is_how_far_one_judgment_moves_the_differences(metric):
    qrels, runs = made(n_runs=4, n_queries=3, seed=5)
    qrels = {q: {d: label for d, label in own.items() if label >= 0} for q, own in qrels.items()}
    result = fastir.to_judge(qrels, runs, metric, 10_000, pool_depth=6)
    before = fastir.evaluate_many(qrels, runs, metric)
    assert len(result) == result.n_unjudged == len(fastir.pool(runs, 6).unjudged(qrels))
    for candidate in result:
        more = {q: {**own, candidate.doc_id: 2} if q == candidate.query_id else own for q, own in qrels.items()}
        after = fastir.evaluate_many(more, runs, metric)
        change = [after[run][metric] - before[run][metric] for run in runs]
        moved = sum(abs(a - b) for a, b in itertools.combinations(change, 2))
        assert candidate.influence == pytest.approx(moved, abs=1e-9)
    assert [c.influence for c in result] == sorted((c.influence for c in result), reverse=True)
    assert result.covered == pytest.approx(result.uncertainty)


def test_influence_under_every_convention_is_the_difference_of_two_evaluations():
    rng, judged = random.Random(27), 0
    for _ in range(40):
        broken, was_judged = influence_that_differs(rng)
        assert broken is None
        judged += was_judged
    assert judged > 20


@pytest.mark.parametrize(
    ("options", "expected"),
    [
        ({"ties": "trec"}, 0.0),
        ({"ties": "doc_id_asc"}, 1.0),
        ({"convention": "ndeval"}, 1.0),
        ({"convention": "trec_eval-9"}, 0.0),
    ],
    ids=str,
)
def test_equal_scores_stand_by_the_rule_that_is_asked_for(options, expected):
    runs = {"one": {"q": {"x": 2.0, "z": 2.0, "y": 1.0}}, "two": {"q": {"z": 2.0, "w": 1.00000001, "y": 1.0}}}
    found = fastir.to_judge({"q": {"z": 1}}, runs, "p@1", 9, pool_depth=3, **options)
    influences = {candidate.doc_id: candidate.influence for candidate in found}
    assert influences["x"] == expected


@pytest.mark.parametrize("options", [{"ties": "optimistic"}, {"ties": "average"}, {"convention": "sklearn"}], ids=str)
def test_rules_by_which_no_document_can_be_judged_alone_are_refused(options):
    runs = {"one": {"q": {"x": 2.0, "z": 2.0}}, "two": {"q": {"z": 2.0}}}
    with pytest.raises(ValueError, match="ties="):
        fastir.to_judge({"q": {"z": 1}}, runs, "ndcg", 9, **options)
    with pytest.raises(ValueError, match=r"'recall' stands for several, recall_5, recall_10, .*; give one"):
        fastir.to_judge({"q": {"z": 1}}, runs, "recall", 9, convention="trec_eval-10")


@pytest.mark.filterwarnings("ignore::fastir.FastirWarning")
def test_of_a_document_that_stands_twice_the_first_rank_counts():
    rows = [("q", "x", 5.0), ("q", "a", 4.0), ("q", "y", 3.0), ("q", "x", 2.0), ("q", "a", 1.0)]
    runs = {
        "twice": fastir.Run.from_table(rows, duplicates="once"),
        "other": {"q": {"b": 2.0, "y": 1.0}},
    }
    qrels = {"q": {"a": 1, "b": 1, "n": -1}, "none": {}}
    result = fastir.to_judge(qrels, runs, "map", 10)
    assert [(c.doc_id, c.n_runs) for c in result] == [("x", 1), ("y", 2)]
    before = fastir.evaluate_many(qrels, runs, "map", queries="qrels")
    for candidate in result:
        more = {**qrels, "q": {**qrels["q"], candidate.doc_id: 1}}
        after = fastir.evaluate_many(more, runs, "map", queries="qrels")
        change = [after[run].per_query("map")["q"] - before[run].per_query("map")["q"] for run in runs]
        moved = sum(abs(a - b) for a, b in itertools.combinations(change, 2)) / len(qrels)
        assert candidate.influence == pytest.approx(moved, abs=1e-12)


def test_a_run_without_a_query_of_the_qrels_is_as_one_with_empty_rankings():
    qrels, runs = {"q": {"a": 1}}, {"one": {"q": {"x": 2.0, "a": 1.0}}}
    lists = [fastir.to_judge(qrels, {**runs, "b": other}, "map", 9) for other in ({"p": {"a": 1.0}}, {"q": {}})]
    elsewhere, empty = lists
    assert elsewhere.candidates == empty.candidates and [c.influence for c in empty] == [0.5]


def test_many_lists_are_evaluated_in_parts(monkeypatch):
    qrels, runs = made(n_runs=4, n_queries=3, seed=5)
    whole = fastir.to_judge(qrels, runs, "map", 10_000)
    monkeypatch.setattr("fastir.pools.changes.MOST_ENTRIES", 40)
    assert fastir.to_judge(qrels, runs, "map", 10_000).candidates == whole.candidates


def test_a_label_that_a_metric_cannot_take_names_the_query():
    with pytest.raises(OverflowError, match=r"label 7 is too large for max_grade=4 \(query q\)"):
        fastir.to_judge({"q": {"z": 1}}, {"a": {"q": {"x": 2.0}}, "b": {}}, "err", 5, max_label=7)


def test_judging_in_this_order_settles_the_differences_sooner():
    """Half of the judgments are hidden; after each batch less is uncertain."""
    qrels, runs = made(n_runs=5, n_queries=12, seed=7)
    hidden = {(q, d): max(label, 0) for q, own in qrels.items() for i, (d, label) in enumerate(own.items()) if i % 2}
    known = {q: {d: max(label, 0) for d, label in own.items() if (q, d) not in hidden} for q, own in qrels.items()}
    left = []
    for _ in range(4):
        chosen = fastir.to_judge(known, runs, "map", 10_000)
        left.append(chosen.uncertainty)
        batch = [c for c in chosen if (c.query_id, c.doc_id) in hidden][:10]
        for c in batch:
            known[c.query_id][c.doc_id] = hidden[c.query_id, c.doc_id]
    assert left == sorted(left, reverse=True) and left[-1] < left[0]


# ---- half of the judgments of real collections are hidden, and come back in batches --------------------------------

REAL = {
    "robust03": ("input.humR03dc.gz", "input.NLPR03vb10.gz", "input.rutcor03100.gz", "input.oce03noXbmD.gz"),
    "cleftar17": ("ecnu.run2.res.gz", "iiit.run1.res.gz", "padua.afs.res.gz", "uos.al30.res.gz"),
    "cast21": ("org_manual_bm25.run.gz", "org_convdr_bert.run.gz"),
}
MAX_QUERIES, DEPTH = 20, 50


class Halved:
    """A collection of which every run is cut, and half of the judgments are hidden."""

    def __init__(self, collection):
        folder = SHARED / "data" / collection
        read = fastir.Qrels.from_file(folder / "qrels.txt.gz").to_dict()
        whole = {name: fastir.Run.from_file(folder / name, duplicates="first").to_dict() for name in REAL[collection]}
        shared = [query_id for query_id in read if all(query_id in run for run in whole.values())][:MAX_QUERIES]
        self.qrels = {q: {d: max(label, 0) for d, label in read[q].items()} for q in shared}
        self.runs = {name: {q: top(run[q]) for q in shared} for name, run in whole.items()}
        rows = [(q, d) for q, own in self.qrels.items() for d in own]
        self.hidden = set(random.Random(0).sample(rows, len(rows) // 2))
        self.max_label = max(label for own in self.qrels.values() for label in own.values())

    def left(self, metric, sizes, by_chance=False):
        """How wide the bounds of the differences of all pairs of runs are, before and after each batch."""
        draw, hidden = random.Random(1), set(self.hidden)
        known = {q: {d: n for d, n in own.items() if (q, d) not in hidden} for q, own in self.qrels.items()}
        widths = [self.width(known, metric)]
        for size in sizes:
            listed = fastir.to_judge(known, self.runs, metric, 10**9, pool_depth=DEPTH, max_label=self.max_label)
            batch = [candidate[:2] for candidate in listed if candidate[:2] in hidden]
            if by_chance:
                draw.shuffle(batch)
            for q, d in batch[:size]:
                known[q][d] = self.qrels[q][d]
                hidden.discard((q, d))
            widths.append(self.width(known, metric))
        return widths

    def width(self, known, metric):
        pairs = [
            fastir.bounds(known, a, metric, against=b, max_label=self.max_label)
            for a, b in itertools.combinations(self.runs.values(), 2)
        ]
        return sum(bounds.upper[metric] - bounds.lower[metric] for bounds in pairs) / len(pairs)


def top(ranking):
    return {d: ranking[d] for d in sorted(ranking, key=lambda d: (ranking[d], d), reverse=True)[:DEPTH]}


def of_real(test):
    for mark in (
        pytest.mark.filterwarnings("ignore::fastir.FastirWarning"),
        pytest.mark.skipif(not (SHARED / "data" / "robust03").is_dir(), reason=ABSENT),
    ):
        test = mark(test)
    return test


@of_real
@pytest.mark.parametrize("collection", REAL)
@pytest.mark.parametrize(("metric", "size"), [("ndcg@10", 25), ("map", 100)])
def test_bounds_narrow_with_each_batch_and_sooner_than_by_chance(collection, metric, size):
    halved = Halved(collection)
    ours, chance = (halved.left(metric, [size] * 3, by_chance) for by_chance in (False, True))
    assert ours == sorted(ours, reverse=True) and ours[-1] < ours[0]
    assert all(one <= other for one, other in zip(ours, chance, strict=True))
    assert ours[0] - ours[-1] > 1.2 * (chance[0] - chance[-1])


@of_real
@pytest.mark.parametrize("metric", ["ndcg@10", "map"])
def test_one_large_batch_is_nearly_as_good_as_many_small_ones(metric):
    """So the list is no worse for being in the order of single documents: choosing anew brings a few percent."""
    halved = Halved("robust03")
    start, end = halved.left(metric, [120])
    *_, small = halved.left(metric, [10] * 12)
    assert start - end > 0.95 * (start - small)


def test_a_list_is_written_as_a_table(tmp_path):
    runs = {"a": {"q": {"x": 2.0}}, "b": {"q": {"y": 1.0}}}
    chosen = fastir.to_judge({"q": {"z": 1}}, runs, "p@1", 1)
    chosen.save(tmp_path / "next.tsv")
    assert (tmp_path / "next.tsv").read_text() == "query_id\tdoc_id\tinfluence\tn_runs\nq\tx\t1.0\t1\n"
    assert repr(chosen).startswith("1 of 2 unjudged documents, 50% of the influence on p@1\n")


@pytest.mark.parametrize(
    ("runs", "metric", "budget", "error", "message"),
    [
        ({"a": {"q": {"x": 2.0}}}, "map", 5, ValueError, "two or more; there is 1"),
        ({"a": {"q": {"x": 2.0}}, "b": {"q": {"y": 2.0}}}, "map", 0, ValueError, "budget: the number of documents"),
        ({"a": {"q": {"x": 2.0}}, "b": {"q": {"y": 2.0}}}, "mop", 5, UnknownMetricError, "mop"),
        ({"a": {}, "b": {}}, ["map", "mrr"], 5, TypeError, "metric must be the name of one metric, got list"),
    ],
)
def test_bad_input_is_named(runs, metric, budget, error, message):
    with pytest.raises(error, match=message):
        fastir.to_judge({"q": {"z": 1}}, runs, metric, budget)
