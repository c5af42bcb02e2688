"""The sizes at which a kernel changes its counter, its block or its strategy: one ranking on either side of each.

The kernels count small labels in bytes (255 to a block), look at 64 labels at a time, sort long lists otherwise than
short ones and divide large inputs into blocks. A slip at such a width changes nothing in ordinary tests, whose
rankings are shorter.
"""

import itertools

import gen
import numpy as np
import oracle
import pytest
from common import UNEVEN
from oracle import Request

import fastir

pytestmark = UNEVEN
SIDES = (1, 16, 17, 31, 32, 33, 63, 64, 65, 127, 128, 129, 254, 255, 256, 257, 510, 511, 512, 513, 1023, 1024, 1025)
REQUESTS = [
    Request("recall"), Request("precision", 10), Request("map"), Request("num_rel"), Request("num_rel_ret"),
    Request("ndcg"), Request("ndcg", 300), Request("bpref"), Request("mrr", None, 2), Request("r_precision"),
    Request("ndcg", None, None, {"ideal": "retrieved"}), Request("err"), Request("rbp"),
]  # fmt: skip
NAMES = list(map(str, REQUESTS))


def lists_of(n):
    """Lists of about n labels: one label many times and another behind it, and labels in a mixed order."""
    yield [300, 1, 2, 290, 289, 3][: n % 5 + 2]
    for label, other in itertools.product((-2, -1, 0, 1, 2, 7, 100, 300), (1, 0, 3)):
        yield [label] * n + [other]
    rng = np.random.default_rng(n)
    for choice in ([0, 1], [1, 2], [-2, -1, 0, 1, 4], [0, 7], [3, 8, 255, 256]):
        yield rng.choice(choice, n).tolist()


def expected_of(rows, requests=REQUESTS):
    """The textbook's values of lists of labels that are all that was judged."""
    return [[request.value(row, [label for label in row if label != -1]) for request in requests] for row in rows]


@pytest.mark.parametrize("n", [1, 64, 254, 255, 256, 257, 510, 511, 513])
def test_lists_of_labels_on_either_side_of_a_width(n):
    """In rank order, with scores, and as dicts: the textbook's values, and one set of bits."""
    rows = [row for row in lists_of(n) if max(row) < 5]
    wide = [row for row in lists_of(n) if max(row) >= 5]
    for lists, dtype, options in ((rows, "i1", {}), (rows, "i4", {}), (wide, "i2", {"max_grade": 300})):
        labels = np.array(list(itertools.chain(*lists)), dtype)
        sizes = list(map(len, lists))
        offsets = np.cumsum([0, *sizes])
        ranked = fastir.evaluate_ranked(labels, offsets, NAMES, **options)
        graded = [place for place, request in enumerate(REQUESTS) if not options or request.name != "err"]
        expected = expected_of(lists, [REQUESTS[place] for place in graded])
        np.testing.assert_allclose(ranked.values[:, graded], expected, rtol=1e-12, atol=1e-15)
        falling = -np.arange(labels.size, dtype=np.float64)
        for threads in (1, 2):
            scored = fastir.evaluate_scores(labels, falling, NAMES, group=sizes, n_threads=threads, **options)
            assert scored.values.tobytes() == ranked.values.tobytes()
        qrels = {i: {j: label for j, label in enumerate(row) if label != -1} for i, row in enumerate(lists)}
        run = {i: {j: -float(j) for j in range(len(row))} for i, row in enumerate(lists)}
        dicts = fastir.evaluate(qrels, run, NAMES, queries="qrels", **options)
        assert dicts.values.tobytes() == ranked.values.tobytes()


@pytest.mark.parametrize("n", [254, 255, 256, 257, 510, 600])
@pytest.mark.parametrize("labels", [(1, 2), (2, 1), (1, 7), (0, 3), (1, 300)])
def test_the_ideal_of_what_was_retrieved(n, labels):
    """Labels in a mixed order are counted in bytes up to a number of them, and in words beyond it."""
    row = [labels[i % 2] for i in range(n)]
    requests = [Request(name, k, None, {"ideal": "retrieved"}) for name in ("ndcg", "ideal_dcg") for k in (None, 300)]
    qrels = {"q": {f"d{i:04}": label for i, label in enumerate(row)} | {"elsewhere": 9}}
    run = {"q": {f"d{i:04}": -float(i) for i in range(n)}}
    found = fastir.evaluate(qrels, run, map(str, requests)).values[0]
    judged = list(qrels["q"].values())
    np.testing.assert_allclose(found, [request.value(row, judged) for request in requests], rtol=1e-12)


@pytest.mark.parametrize("gain", [{0: 1, 1: 2}, {0: 3, 1: 1, 2: 2}, {0: 1, 2: 0.5}])
def test_label_0_may_have_a_gain(gain):
    """Then it counts in the ideal ranking, of what was judged and of what was retrieved."""
    qrels, run = gen.collection(77)
    requests = [
        Request(name, k, None, {"gain": gain, "ideal": ideal})
        for name in ("ndcg", "ideal_dcg", "dcg") for k in (None, 1, 3, 10) for ideal in ("judged", "retrieved")
        if name != "dcg" or ideal == "judged"
    ]  # fmt: skip
    requests = [one if one.name != "dcg" else Request("dcg", one.k, None, {"gain": gain}) for one in requests]
    found = fastir.evaluate(qrels, run, map(str, requests), queries="qrels")
    expected = list(oracle.evaluate(qrels, run, requests, queries="qrels").values())
    np.testing.assert_allclose(found.values, expected, rtol=1e-12, atol=1e-15)
    normalised = [place for place, request in enumerate(requests) if request.name == "ndcg"]
    assert found.values[:, normalised].max() <= 1


@pytest.mark.parametrize("n", [12, 31, 32, 33, 40, 700])
@pytest.mark.parametrize("k", [1, 5, 10, 11])
def test_a_tie_across_the_cutoff_is_counted(n, k):
    """Ranks k and k + 1 tie and nothing else does: a query with ties wherever somebody looks."""
    scores = -np.arange(n, dtype=np.float64)
    scores[k] = scores[k - 1]
    labels = np.zeros(n, int)
    labels[0] = 1
    for dtype in (np.float32, np.float64):
        results = fastir.evaluate_scores(labels, scores.astype(dtype), f"ndcg@{k}", ties="input")
        assert results.report.queries_with_ties == 1
    untied = fastir.evaluate_scores(labels, -np.arange(n, dtype=np.float64), f"ndcg@{k}", ties="input")
    assert untied.report.queries_with_ties == 0


@pytest.mark.parametrize("n", SIDES)
def test_ties_of_every_width(n):
    """All scores of a query are equal, and so are those of a second one but for its first document."""
    docs = [f"d{i:05}" for i in range(n)]
    qrels = {"q": {docs[0]: 1, docs[-1]: 2, "elsewhere": 3}, "r": {docs[n // 2]: 1}}
    run = {"q": dict.fromkeys(docs, 1.0), "r": {docs[0]: 2.0, **dict.fromkeys(docs[1:], 1.0)}}
    requests = [Request("mrr"), Request("map"), Request("ndcg"), Request("ndcg", 10), Request("recall", 100)]
    for ties in ("trec", "doc_id_asc", "input"):
        expected = list(oracle.evaluate(qrels, run, requests, ties=ties).values())
        for form in (run, fastir.Run.from_dict(run)):
            found = fastir.evaluate(qrels, form, map(str, requests), ties=ties).values
            np.testing.assert_allclose(found, expected, rtol=1e-12)
