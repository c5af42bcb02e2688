"""What to judge next: influence against evaluating with one more judgment, and what a batch of judgments brings."""

import itertools
import random

import pytest
from common import ABSENT, SHARED
from pooled_runs import made

import fastir
from fastir.errors import UnknownMetricError


def test_a_run_without_a_query_of_the_qrels_is_as_one_with_empty_rankings():
    qrels, runs = {"q": {"a": 1}}, {"one": {"q": {"x": 2.0, "a": 1.0}}}
    lists = [fastir.to_judge(qrels, {**runs, "b": other}, "map", 9) for other in ({"p": {"a": 1.0}}, {"q": {}})]
    elsewhere, empty = lists
    assert elsewhere.candidates == empty.candidates and [c.influence for c in empty] == [0.5]


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


@pytest.mark.parametrize(("runs", "metric", "budget", "error", "message"), [
    ({"a": {"q": {"x": 2.0}}}, "map", 5, ValueError, "needs two runs or more, got 1"),
    ({"a": {"q": {"x": 2.0}}, "b": {"q": {"y": 2.0}}}, "map", 0, ValueError, "budget: the number of documents"),
    ({"a": {"q": {"x": 2.0}}, "b": {"q": {"y": 2.0}}}, "mop", 5, UnknownMetricError, "mop"),
    ({"a": {}, "b": {}}, ["map", "mrr"], 5, TypeError, "metric must be the name of one metric, got list"),
])  # fmt: skip
def test_bad_input_is_named(runs, metric, budget, error, message):
    with pytest.raises(error, match=message):
        fastir.to_judge({"q": {"z": 1}}, runs, metric, budget)


def test_a_list_to_judge_without_candidates_is_a_frame_with_its_columns():
    pytest.importorskip("pandas")
    runs = {"a": {"q": {"x": 1.0}}, "b": {"q": {"x": 2.0}}}
    found = fastir.to_judge({"q": {"x": 1}}, runs, "map", 3)
    assert len(found) == 0 and list(found.to_pandas().columns) == ["query_id", "doc_id", "influence", "n_runs"]


def test_where_a_metric_is_undefined_the_influence_counts_from_0():
    runs = {"both": {"q": ["a", "x"]}, "neither": {"q": ["x"]}}
    found = fastir.to_judge({"q": {"a": 1}}, runs, "mean_rank", 3)
    assert list(found) == [("q", "x", 0.5, 2)]  # from 1 to 1.5 in one run, and from 0 to 1 in the other


def test_documents_to_rank_100_can_be_judged_unless_another_depth_is_given():
    runs = {"deep": {"q": [f"d{i}" for i in range(150)]}, "other": {"q": ["d0"]}}
    assert len(fastir.to_judge({"q": {"d0": 1}}, runs, "map", 500)) == 99
    assert len(fastir.to_judge({"q": {"d0": 1}}, runs, "map", 500, pool_depth=None)) == 149


def test_a_list_to_judge_says_what_it_lacks():
    runs = {"a": {"q": ["x"]}, "b": {"q": ["x"]}}
    assert repr(fastir.to_judge({"q": {"x": 1}}, runs, "map", 3)).startswith("0 of 0 unjudged documents on map\n")
    with pytest.raises(fastir.errors.NoOverlapError, match="no run has a query of the qrels"):
        fastir.to_judge({"other": {"x": 1}}, runs, "map", 3)


def test_of_labels_that_are_all_0_a_document_may_still_be_relevant():
    runs = {"a": {"q": ["x", "z"]}, "b": {"q": ["z", "x"]}}
    assert list(fastir.to_judge({"q": {"z": 0}}, runs, "p@1", 2)) == [("q", "x", 1.0, 2)]


@pytest.mark.parametrize("ties", ["trec", "doc_id_asc"])
def test_a_document_at_the_last_rank_of_the_pool_counts_for_its_run(ties):
    runs = {"a": {"q": ["z", "x"]}, "b": {"q": ["z", "x", "y"]}, "c": {"q": ["z", "u", "x"]}}
    found = fastir.to_judge({"q": {"z": 0}}, runs, "map", 9, pool_depth=2, ties=ties)
    assert {candidate.doc_id: candidate.n_runs for candidate in found} == {"x": 2, "u": 1}


@pytest.mark.parametrize("max_label", [None, 1.75])
def test_influence_with_real_labels_is_that_of_judging_the_document(max_label):
    qrels = {"q": {"a": 0.92, "b": 0.25}, "p": {"a": 1.5}}
    runs = {
        "x": {"q": {"u": 3.0, "a": 2.0, "b": 1.0}, "p": {"a": 2.0, "u": 1.0}},
        "y": {"q": {"b": 3.0, "v": 2.0, "u": 1.0}, "p": {"v": 2.0, "a": 1.0}},
    }
    before = {name: fastir.evaluate(qrels, run, "ndcg@3", queries="qrels")["ndcg@3"] for name, run in runs.items()}
    found = fastir.to_judge(qrels, runs, "ndcg@3", 10, max_label=max_label)
    assert {(c.query_id, c.doc_id) for c in found} == {("q", "u"), ("q", "v"), ("p", "u"), ("p", "v")}
    for candidate in found:
        more = {**qrels, candidate.query_id: {**qrels[candidate.query_id], candidate.doc_id: max_label or 1.5}}
        x, y = (fastir.evaluate(more, runs[name], "ndcg@3")["ndcg@3"] - before[name] for name in "xy")
        assert candidate.influence == pytest.approx(abs(x - y), abs=1e-12)


def test_the_label_that_a_document_may_get_is_a_number_above_0():
    with pytest.raises(ValueError, match=r"^max_label must be a number above 0 and at most 2147483647, got 0\.0$"):
        fastir.to_judge({"q": {"a": 1}}, {"x": {"q": {"a": 1.0}}, "y": {"q": {"b": 1.0}}}, "map", 1, max_label=0.0)


def test_documents_of_equal_influence_stand_in_the_order_of_their_ids():
    runs = {"one": {"q": ["z", "r"]}, "other": {"q": ["b", "r"]}}
    assert list(fastir.to_judge({"q": {"r": 0}}, runs, "p@1", 2)) == [("q", "b", 1.0, 1), ("q", "z", 1.0, 1)]


@pytest.mark.parametrize(
    "metric", ["map", "ndcg@3", "inf_ap", "judged@2", "bpref", "P@2", "auc", "rbp_resid", "nerr@3"]
)
@pytest.mark.parametrize("convention", ["fastir", "ranx", "ir_measures"])
def test_influence_with_negative_labels_is_that_of_judging_the_document(metric, convention):
    """By two evaluations of each candidate; inf_ap and judged count such labels, as bpref does in ranx."""
    rng = random.Random(f"{metric} {convention}")
    for _ in range(10):
        qrels = {"q": {doc: rng.choice((-2, -1, 0, 1, 1)) for doc in rng.sample("abcdef", 4)}, "p": {"a": 1}}
        runs = {n: {"q": {doc: rng.random() for doc in rng.sample("abcdef", 4)}, "p": {"a": 1.0}} for n in "xyz"}

        def means(judged, runs=runs):
            return [each[metric] for each in fastir.evaluate_many(judged, runs, metric, convention=convention).values()]

        before = means(qrels)
        for candidate in fastir.to_judge(qrels, runs, metric, 9, convention=convention, max_label=1):
            query = candidate.query_id
            after = means({**qrels, query: {**qrels[query], candidate.doc_id: 1}})
            changes = [new - old if new == new and old == old else 0.0 for new, old in zip(after, before, strict=True)]
            moved = sum(abs(one - other) for one, other in itertools.combinations(changes, 2))
            assert candidate.influence == pytest.approx(moved, rel=1e-9, abs=1e-12)


def test_a_negative_label_of_no_run_counts_but_is_no_candidate():
    runs = {"x": {"q": ["b", "a"]}, "y": {"q": ["c", "a", "f"]}}
    found = fastir.to_judge({"q": {"a": 1, "b": -1, "e": -2, "f": -1}}, runs, "inf_ap", 9, pool_depth=2)
    assert [(c.doc_id, pytest.approx(c.influence, abs=1e-4)) for c in found] == [("c", 0.875), ("b", 0.5)]
