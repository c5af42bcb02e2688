"""What to judge next: influence against evaluating with one more judgment, and what a batch of judgments brings."""

import itertools
import random

import pytest
from common import ABSENT, SHARED
from pooled_runs import made

import fastir
from fastir.errors import UnknownMetricError


@pytest.mark.parametrize("metric", ["map", "ndcg@5", "p@3", "rbp", "mrr", "bpref", "err", "recall@4"])
def test_influence_is_how_far_one_judgment_moves_the_differences(metric):
    qrels, runs = made(n_runs=4, n_queries=3, seed=5)
    qrels = {q: {d: label for d, label in own.items() if label >= 0} for q, own in qrels.items()}
    result = fastir.to_judge(qrels, runs, metric, 10_000, depth=6)
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


@pytest.mark.skipif(not (SHARED / "data" / "cast21").is_dir(), reason=ABSENT)
@pytest.mark.filterwarnings("ignore::fastir.FastirWarning")
def test_on_a_real_collection_less_stays_uncertain_than_by_chance():
    """Half of its judgments are hidden, and come back in three batches of 200."""
    folder = SHARED / "data" / "cast21"
    read = fastir.Qrels.from_file(folder / "qrels.txt.gz").to_dict()
    qrels = {q: {d: max(label, 0) for d, label in own.items()} for q, own in read.items()}
    runs = {name: fastir.Run.from_file(folder / f"org_{name}.run.gz") for name in ("manual_bm25", "convdr_bert")}
    draw = random.Random(0)
    rows = [(q, d) for q, own in qrels.items() for d in own]
    hidden = set(draw.sample(rows, len(rows) // 2))
    left = {}
    for by_chance in (False, True):
        known = {q: {d: label for d, label in own.items() if (q, d) not in hidden} for q, own in qrels.items()}
        left[by_chance] = []
        for _ in range(4):
            chosen = fastir.to_judge(known, runs, "ndcg@10", 10**9)
            left[by_chance].append(chosen.uncertainty)
            batch = [candidate[:2] for candidate in chosen if candidate[:2] in hidden]
            if by_chance:
                draw.shuffle(batch)
            for q, d in batch[:200]:
                known[q][d] = qrels[q][d]
    assert left[False] == sorted(left[False], reverse=True)
    assert left[False][-1] < 0.95 * left[True][-1] < left[True][0]


def test_a_list_is_written_as_a_table(tmp_path):
    runs = {"a": {"q": {"x": 2.0}}, "b": {"q": {"y": 1.0}}}
    chosen = fastir.to_judge({"q": {"z": 1}}, runs, "p@1", 1)
    chosen.save(tmp_path / "next.tsv")
    assert (tmp_path / "next.tsv").read_text() == "query_id\tdoc_id\tinfluence\tn_runs\nq\tx\t1.0\t1\n"
    assert repr(chosen) == "<ToJudge: 1 of 2 unjudged documents, 50% of the influence on p@1>"


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
