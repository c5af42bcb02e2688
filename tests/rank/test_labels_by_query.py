"""Groups on either side of the sizes at which their hits are found in another way: the same bits by every way."""
# Also of: placed_hits, sorted_rows.

import numpy as np
import pytest

import fastir
from fastir.engine.rank._labels_by_query import WIDTHS
from fastir.engine.threads import LONG_QUERY_ROWS

COUNTED, BY_HITS, ROWS_FOR_A_HIT = WIDTHS["counted"], WIDTHS["by hits"], WIDTHS["rows for a hit"]
OF_HITS = ["map", "ndcg", "ndcg@10", "mrr", "recall@100", "P@5"]
METRICS = [*OF_HITS, "bpref", "ndcg(ideal=retrieved)"]
RULES = ("input", "optimistic", "pessimistic")


def scores_of(kind, n, rng):
    return {
        "apart": lambda: rng.permutation(n) - n / 2,
        "signs": lambda: rng.choice([0.0, -0.0, -1.5, 2.0, -np.inf, np.inf, 5e-324, -5e-324], n),
        "few": lambda: rng.integers(0, 50, n).astype(float),
        "one": lambda: np.zeros(n),
        "first": lambda: np.concatenate([np.full(150, 9.0), rng.random(n - 150)]),
        "single": lambda: rng.random(n).astype(np.float32),
        "falling": lambda: -np.arange(n) // 2 * 1.0,
    }[kind]()


def sorted_labels(labels, scores, ties):
    """The labels in rank order, by the textbook."""
    by_label = {"input": np.arange(len(labels)), "optimistic": -labels, "pessimistic": labels}[ties]
    return labels[np.lexsort((by_label, -scores.astype(float)))]


@pytest.mark.parametrize("kind", ["apart", "signs", "few", "one", "first", "single", "falling"])
@pytest.mark.parametrize("n", [2047, 2049, COUNTED - 1, COUNTED, COUNTED + 1, BY_HITS + 1])
def test_groups_are_ranked_as_numpy_sorts_them(n, kind):
    rng = np.random.default_rng(n)
    for hits in (1, n // ROWS_FOR_A_HIT, n // ROWS_FOR_A_HIT + 1, n):
        labels = np.zeros(n, int)
        labels[rng.permutation(n)[:hits]] = 1 + np.arange(hits) % 3
        scores = scores_of(kind, n, rng)
        for factor in (1, 100):  # above 127 labels have 32 bits
            for ties in RULES:
                ordered = sorted_labels(labels * factor, scores, ties)
                for metrics in (METRICS, OF_HITS):
                    got = fastir.evaluate_scores(labels * factor, scores, metrics, offsets=[0, n], ties=ties)
                    want = fastir.evaluate_ranked(ordered, [0, n], metrics)
                    assert got.values.tobytes() == want.values.tobytes(), (hits, factor, ties, metrics)


@pytest.mark.parametrize("kind", ["apart", "few", "first", "single", "falling"])
@pytest.mark.parametrize("n", [21, 2048, 2049, COUNTED, COUNTED + 1])
def test_the_first_ranks_alone_are_those_of_the_whole_ranking(n, kind):
    rng = np.random.default_rng(n)
    for dtype in (np.float32, np.float64):
        scores = scores_of(kind, max(n, 200), rng).astype(dtype)[:n]
        for k in (1, 10, 11, 20, 21):
            metrics = [f"ndcg@{k}", f"P@{k}", f"map@{k}"]
            labels = rng.integers(0, 3, n)
            got = fastir.evaluate_scores(labels, scores, metrics, offsets=[0, n], ties="input")
            want = fastir.evaluate_ranked(sorted_labels(labels, scores, "input"), [0, n], metrics)
            assert got.values.tobytes() == want.values.tobytes(), (dtype, k)


@pytest.mark.parametrize("n", [COUNTED, COUNTED + 1])
@pytest.mark.parametrize(("label", "tied"), [(0, 1), (2, 1), (None, 0)])
def test_one_tie_of_one_hit_is_counted(n, label, tied):
    labels = np.arange(n) % 2
    scores = np.random.default_rng(n).permutation(n).astype(float)
    if label is not None:
        labels[[5, 9]] = 1, label
        scores[5] = scores[9]
    results = fastir.evaluate_scores(labels, scores, "map", offsets=[0, n])
    assert results.report.queries_with_ties == tied


@pytest.mark.parametrize("kind", ["few", "one", "falling", "apart"])
@pytest.mark.parametrize("n", [COUNTED, COUNTED + 1])
def test_ties_are_averaged_and_counted_as_in_dicts(n, kind):
    rng = np.random.default_rng(n)
    scores = scores_of(kind, n, rng)
    metrics = ["map", "ndcg", "mrr", "P@10", "err"]
    for hits in (1, 40, n // 4):
        labels = np.zeros(n, int)
        labels[rng.permutation(n)[:hits]] = 1 + np.arange(hits) % 3
        got = fastir.evaluate_scores(labels, scores, metrics, offsets=[0, n], ties="average")
        qrels, run = {0: dict(enumerate(labels.tolist()))}, {0: dict(enumerate(scores.tolist()))}
        want = fastir.evaluate(qrels, run, metrics, ties="average")
        np.testing.assert_allclose(got.values, want.values, rtol=1e-12)
        tied = {score for score, count in zip(*np.unique(scores, return_counts=True), strict=True) if count > 1}
        assert got.report.queries_with_ties == bool(tied & set(scores[labels > 0].tolist()))


@pytest.mark.parametrize("n", [BY_HITS - 1, BY_HITS, BY_HITS + 1])
def test_rankings_whose_room_is_counted(n):
    """One after the other, so that room made for few hits must grow for many."""
    rng = np.random.default_rng(n)
    for hits in (0, 1, 63, 64, 65, n // 2, n):
        labels = np.zeros(n, np.int8)
        labels[rng.permutation(n)[:hits]] = 1
        both = np.concatenate([labels[:100], labels])
        for rows in (both, both.astype(np.int64)):
            got = fastir.evaluate_ranked(rows, [0, 100, 100 + n], ["num_rel_ret", "mrr", "map"], n_threads=1)
            ranks = np.flatnonzero(labels) + 1
            precisions = np.arange(1, hits + 1) / ranks
            assert got.values[1, 0] == hits
            assert got.values[1, 1] == (1 / ranks[0] if hits else 0)
            np.testing.assert_allclose(got.values[1, 2], precisions.mean() if hits else 0, rtol=1e-9)


@pytest.mark.parametrize("n", [LONG_QUERY_ROWS, LONG_QUERY_ROWS + 1])
def test_a_query_in_a_thread_of_its_own_has_the_same_bits(n, tmp_path):
    docs = list(map(str, range(n)))
    scores = (n - np.arange(n)) * 0.5
    qrels = {"q": {docs[0]: 1, docs[9]: 2, docs[-1]: 3}}
    labels = np.zeros(n, np.int8)
    labels[[0, 9, n - 1]] = 1, 2, 3
    metrics = ["map", "ndcg", "ndcg@10"]
    run = {"q": dict(zip(docs, scores.tolist(), strict=True))}
    path = tmp_path / "run.txt"
    path.write_text("".join(f"q Q0 {doc} 1 {score} t\n" for doc, score in run["q"].items()))
    table = {"query_id": np.full(n, "q"), "doc_id": np.array(docs), "score": scores}
    want = fastir.evaluate_ranked(labels, [0, n], metrics).values.tobytes()
    assert fastir.evaluate_scores(labels, scores, metrics, offsets=[0, n]).values.tobytes() == want
    for form in (run, path, table, fastir.Run.from_dict(run)):
        assert fastir.evaluate(qrels, form, metrics).values.tobytes() == want


@pytest.mark.parametrize("grades", [2, 126, 127, 128, 129, 254, 255, 256, 257, 300])
def test_labels_that_are_fractions_on_either_side_of_the_codes_widths(grades):
    """They become codes of a byte or of more."""
    rng = np.random.default_rng(grades)
    labels = np.concatenate([np.arange(1, grades + 1), rng.integers(0, grades + 1, 500)]) / 8
    rng.shuffle(labels)
    discounts = np.log2(np.arange(len(labels)) + 2)
    want = (labels / discounts).sum() / (np.sort(labels)[::-1] / discounts).sum()
    scores = -np.arange(len(labels), dtype=float)
    for got in (
        fastir.evaluate_ranked(labels, [0, len(labels)], "ndcg"),
        fastir.evaluate_scores(labels, scores, "ndcg", offsets=[0, len(labels)]),
    ):
        np.testing.assert_allclose(got["ndcg"], want, rtol=1e-12)
