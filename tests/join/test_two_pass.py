"""Two passes over rows in any order, against the textbook: all rows of a query, sorted."""

import random

import numpy as np
import pytest

import fastir
from fastir.engine.columns._ids import ids_from_integers, ids_from_strings
from fastir.engine.join._two_pass import FirstPass, SecondPass
from fastir.engine.measure._codes import READ_CODES, TIE_CODES

hypothesis = pytest.importorskip("hypothesis")
given, settings, st = hypothesis.given, hypothesis.settings, hypothesis.strategies

TIES = ["trec", "doc_id_asc", "optimistic", "pessimistic"]
SCORES = [float("inf"), 2.5, 1.0 + 1e-9, 1.0, 0.0, -0.0, -3.0, float("-inf")]
QRELS = st.dictionaries(
    st.integers(0, 3), st.dictionaries(st.integers(0, 12), st.integers(-2, 3), min_size=1), min_size=1
)
ROWS = st.dictionaries(st.tuples(st.integers(0, 4), st.integers(0, 14)), st.sampled_from(SCORES), max_size=60)


def textbook(qrels, rows, ties, single):
    """{query: [(rank, label), ...]} of the judged documents."""
    found = {}
    for query, labels in qrels.items():
        ranking = [(np.float32(score) if single else score, str(doc), doc) for (q, doc), score in rows if q == query]
        if ties == "trec":
            ranking.sort(reverse=True)
        elif ties == "doc_id_asc":
            ranking.sort(key=lambda row: (-row[0], row[1]))
        else:  # documents without a judgment stand behind all judged ones, or before them
            sign = 1 if ties == "optimistic" else -1
            ranking.sort(key=lambda row: (-row[0], -sign * max(labels.get(row[2], -9), -2 if row[2] in labels else -9)))
        found[query] = [(rank, max(labels[doc], -1)) for rank, (_, _, doc) in enumerate(ranking, 1) if doc in labels]
    return found


def ids(values, integers):
    if integers:
        return ids_from_integers(np.array(values, np.int64))
    return ids_from_strings(np.array([str(value) for value in values], object))[0]


@settings(max_examples=100, deadline=None)
@given(QRELS, ROWS, st.sampled_from(TIES), st.booleans(), st.randoms(use_true_random=False))
def test_counts_of_any_parts_add_up_to_the_textbook_ranks(qrels, rows, ties, single, rng):
    judged = fastir.Qrels.from_dict(qrels).columns.judged()
    rows = list(rows.items())
    rng.shuffle(rows)
    cuts = sorted(rng.randint(0, len(rows)) for _ in range(3))
    parts = [rows[a:b] for a, b in zip([0, *cuts], [*cuts, len(rows)], strict=True)]
    columns = []
    for part in parts:
        kinds = rng.random() < 0.5, rng.random() < 0.5
        queries, docs = (ids([key[i] for key, _ in part], kinds[i]) for i in (0, 1))
        columns.append((kinds, queries, docs, np.array([score for _, score in part], float)))
    sizes = [len(labels) for labels in qrels.values()]
    scores, num_ret, again = np.full(sum(sizes), np.nan), *np.zeros((2, len(qrels)), np.int64)
    sums, sums_again = np.zeros((2, len(qrels)), np.uint64)
    foreign, shared = set(), {}  # the tables of the first of each kind
    for kinds, *part in columns:
        first = FirstPass(judged, *kinds, None, shared.get(kinds))
        shared.setdefault(kinds, first)
        known, wrong = first.probe(*part, scores, num_ret, sums, again, False)
        assert wrong == -1 and known == sum(int(part[0][row]) in qrels for row in range(len(part[0])))
        foreign |= first.unknown_queries()
        assert first.unknown_queries() == set()
    assert foreign == {str(query).encode() for (query, _), _ in rows if query not in qrels}
    assert num_ret.tolist() == [sum(q == query for (q, _), _ in rows) for query in qrels] and not again.any()
    reads = READ_CODES["pool"]
    total = np.zeros((2, len(scores)), np.int64)
    rng.shuffle(columns)
    for kinds, *part in columns:
        counts = np.zeros((2, len(scores)), np.int64)
        second = SecondPass(judged, *kinds, scores, TIE_CODES[ties], single, reads, None, shared[kinds])
        second.count(*part, num_ret.copy(), sums_again, *counts)
        total += counts
    assert (sums == sums_again).all() and (sums[num_ret > 0] != 0).all()
    kernel = SecondPass(judged, False, True, scores, TIE_CODES[ties], single, reads)
    sizes, ranks, labels, _ = kernel.find_ranks(*total)
    split = np.cumsum(sizes)[:-1]
    found = [
        list(zip(of_ranks.tolist(), of_labels.tolist(), strict=True))
        for of_ranks, of_labels in zip(np.split(ranks, split), np.split(labels, split), strict=True)
    ]
    assert found == list(textbook(qrels, rows, ties, single).values())


def test_tables_of_other_qrels_or_ids_are_not_shared():
    one, other = (fastir.Qrels.from_dict({"q": {label: 1}}).columns.judged() for label in "ab")
    like = FirstPass(one, False, False)
    for arguments in ((other, False, False), (one, False, True)):
        with pytest.raises(ValueError, match=r"^a table of other qrels, or of ids of another kind"):
            FirstPass(*arguments, None, like)


def test_sums_know_documents_and_scores_and_no_order():
    judged = fastir.Qrels.from_dict({"q": {"1": 1}}).columns.judged()

    def sums(rows, integers):
        columns = ids(["q"] * len(rows), False), ids([doc for doc, _ in rows], integers), np.array([s for _, s in rows])
        found, num_ret, again = np.full(1, np.nan), np.zeros(1, np.int64), np.zeros(1, np.int64)
        first, second, before = np.zeros(1, np.uint64), np.zeros(1, np.uint64), np.zeros((2, 1), np.int64)
        FirstPass(judged, False, integers).probe(*columns, found, num_ret, first, again, True)
        SecondPass(judged, False, integers, found, 0, False, 2).count(*columns, num_ret.copy(), second, *before)
        assert first == second
        return int(first[0])

    rows = [(doc, 9.5 - doc) for doc in (1, 2, 123456789012345, 0)]
    named = [(f"a long name of a document {doc}", score) for doc, score in rows] + [("", 0.0), ("x", 1.0)]
    for integers, run in ((True, rows), (False, named)):
        (a, first), (b, second), *rest = run
        expected = sums(run, integers)
        assert sums(run[::-1], integers) == expected
        changed = [[(a, second), (b, first), *rest], [(a, first), (a, first), *rest], [(b, first), (a, second), *rest]]
        changed += [[(a, np.nextafter(first, 0)), (b, second), *rest], [(a, first), *rest], [(a, -first), *run[1:]]]
        assert expected not in [sums(each, integers) for each in changed]


def test_the_row_that_is_wrong_is_told():
    judged = fastir.Qrels.from_dict({"q": {"a": 1}}).columns.judged()
    for docs, scores, expected in ((["x", "a"], [1.0, np.nan], 1), (["a", "x", "a"], [1.0, 2.0, 3.0], 2)):
        arrays = np.full(1, np.nan), np.zeros(1, np.int64), np.zeros(1, np.uint64), np.zeros(1, np.int64)
        rows = ids(["q"] * len(docs), False), ids(docs, False), np.array(scores)
        assert FirstPass(judged, False, False).probe(*rows, *arrays, False)[1] == expected


def test_arrays_of_other_lengths_are_refused():
    judged = fastir.Qrels.from_dict({"q": {"a": 1}}).columns.judged()
    rows = ids(["q"], False), ids(["a"], False), np.ones(1)
    one, two, words = np.zeros(1, np.int64), np.zeros(2, np.int64), np.zeros(1, np.uint64)
    with pytest.raises(ValueError, match="parallel"):
        FirstPass(judged, False, False).probe(*rows, np.zeros(2), one, words, one, False)
    with pytest.raises(ValueError, match="parallel"):
        FirstPass(judged, False, False).probe(*rows, np.zeros(1), one, np.zeros(2, np.uint64), one, False)
    with pytest.raises(ValueError, match="another kind"):
        FirstPass(judged, True, False).probe(*rows, np.zeros(1), one, words, one, False)
    with pytest.raises(ValueError, match="differ in length"):
        FirstPass(judged, False, False).probe(*rows[:2], np.ones(2), np.zeros(1), one, words, one, False)
    with pytest.raises(ValueError, match="parallel"):
        SecondPass(judged, False, False, np.ones(2), 0, False, 2)
    kernel = SecondPass(judged, False, False, np.ones(1), 0, False, 2)
    with pytest.raises(ValueError, match="parallel"):
        kernel.count(*rows, two, words, one, one)
    with pytest.raises(ValueError, match="parallel"):
        kernel.find_ranks(one, two)


def test_many_hits_of_one_query_and_rows_beyond_a_chunk():
    rng = random.Random(5)
    docs = [f"d{i}" for i in range(2000)]
    qrels = {"q": {doc: rng.randint(0, 2) for doc in rng.sample(docs, 700)}, "r": {"d1": 1}}
    rows = [(("q", doc), float(rng.randrange(40))) for doc in rng.sample(docs, 1500)]
    judged = fastir.Qrels.from_dict(qrels).columns.judged()
    columns = ids(["q"] * len(rows), False), ids([doc for (_, doc), _ in rows], False), np.array([s for _, s in rows])
    scores, num_ret, again = np.full(701, np.nan), np.zeros(2, np.int64), np.zeros(2, np.int64)
    sums = np.zeros(2, np.uint64)
    FirstPass(judged, False, False).probe(*columns, scores, num_ret, sums, again, False)
    for ties in TIES:
        kernel = SecondPass(judged, False, False, scores, TIE_CODES[ties], False, READ_CODES["pool"])
        before, alike = np.zeros((2, 701), np.int64)
        kernel.count(*columns, num_ret.copy(), sums.copy(), before, alike)
        sizes, ranks, labels, tied = kernel.find_ranks(before, alike)
        expected = textbook(qrels, rows, ties, False)
        assert list(zip(ranks.tolist(), labels.tolist(), strict=True)) == expected["q"] and tied.tolist() == [
            True,
            False,
        ]
        assert sizes.tolist() == [len(expected["q"]), 0]
