"""What must hold for every metric and every input, whatever the numbers are.

Rankings: the ideal one is 1, better ones are never worse, what a metric cannot see does not change it.
Bits: the same ranking gives the same bits by every way in, in every order, on any number of threads.
"""

import copy
import gzip
import itertools
import math
import pickle
import random

import gen
import numpy as np
import oracle
import pytest
from common import UNEVEN

import fastir

pytestmark = UNEVEN
CARDS = [card for card in fastir.metrics() if not (card.pooled or card.sampled)]  # what is pooled has other queries
WITH_CUTOFF = [card for card in CARDS if card.cutoff]
SCORING = [card.spelled() for card in CARDS if card.name not in oracle.COUNTS]
NAMES = [card.spelled() for card in CARDS] + [card.spelled(f"@{k}") for card in WITH_CUTOFF for k in (1, 5, 10, 100)]


def bits(results):
    """All values, as bytes."""
    return results.values.tobytes()


def by_query(results):
    """{query_id: the bytes of its row}."""
    return {query: row.tobytes() for query, row in zip(results.query_ids, results.values, strict=True)}


@pytest.fixture(params=range(4))
def collection(request):
    return gen.collection(1000 + request.param)


# ---- rankings --------------------------------------------------------------------------------------------------
@pytest.mark.parametrize("seed", range(5))
def test_the_ideal_ranking_scores_one(seed):
    rng = random.Random(seed)
    labels = sorted((rng.choice((0, 1, 2, 3, 4)) for _ in range(40)), reverse=True)
    normalised = ("ndcg", "ndcg_burges", "nerr")
    results = fastir.evaluate_ranked(labels, [0, 40], [f"{name}@{k}" for name in normalised for k in (1, 5, 40, 90)])
    assert set(results.values.flat) == {1.0}
    assert dict(fastir.evaluate_ranked(labels, [0, 40], ["map", "bpref", "r_precision", "mrr"])) == pytest.approx(
        {"map": 1.0, "bpref": 1.0, "r_precision": 1.0, "mrr": 1.0}, rel=1e-15
    )


@pytest.mark.parametrize("name", [card.name for card in WITH_CUTOFF if card.name in (
    "hits", "hit_rate", "recall", "mrr", "map", "rbp", "cg", "dcg", "dcg_burges", "err",
)])  # fmt: skip
def test_sums_grow_with_the_cutoff(name, collection):
    results = fastir.evaluate(*collection, [f"{name}@{k}" for k in range(1, 31)] + [name])
    assert (np.diff(results.values, axis=1) >= 0).all()
    assert (results.values[:, -1] > results.values[:, 0]).any()


@pytest.mark.parametrize("k", [1, 5, 10])
def test_nothing_below_the_cutoff_matters(k):
    rng = random.Random(k)
    labels = [rng.choice((-2, -1, 0, 1, 2, 3)) for _ in range(40)]
    below = rng.sample(labels[k:], len(labels) - k)
    assert below != labels[k:]
    names = [card.spelled(f"@{k}") for card in WITH_CUTOFF]
    shuffled = fastir.evaluate_ranked(labels[:k] + below, [0, 40], names)
    assert bits(shuffled) == bits(fastir.evaluate_ranked(labels, [0, 40], names))


def ordinal(scores):
    """Scores as whole numbers in the same order, ties kept."""
    place = {value: float(number) for number, value in enumerate(sorted(set(scores.values())))}
    return {doc: place[value] for doc, value in scores.items()}


@pytest.mark.parametrize("rescale", [
    ordinal,
    lambda scores: {doc: 7 * value - 1000 for doc, value in ordinal(scores).items()},
    lambda scores: {doc: math.ldexp(value, 300) for doc, value in ordinal(scores).items()},
    lambda scores: {doc: -1 / (1 + value) for doc, value in ordinal(scores).items()},
], ids=["ordinal", "affine", "huge", "reciprocal"])  # fmt: skip
def test_only_the_order_of_scores_matters(rescale, collection):
    qrels, run = collection
    rescaled = {query: rescale(scores) for query, scores in run.items()}
    assert rescaled != run
    assert bits(fastir.evaluate(qrels, rescaled, NAMES)) == bits(fastir.evaluate(qrels, run, NAMES))


@pytest.mark.parametrize("name", [*SCORING, *(card.spelled("@5") for card in WITH_CUTOFF)])
def test_promoting_a_better_document_never_hurts(name):
    """Every swap of neighbours that puts the higher label first."""
    rng = random.Random(name)
    ranked = [rng.choice((-1, 0, 0, 1, 2, 3)) for _ in range(30)]
    swaps = [i for i, (above, below) in enumerate(itertools.pairwise(ranked)) if below > above]
    better = [[*ranked[:i], ranked[i + 1], ranked[i], *ranked[i + 2 :]] for i in swaps]
    rows = [ranked, *better]
    results = fastir.evaluate_ranked(list(itertools.chain(*rows)), np.arange(len(rows) + 1) * 30, name)
    before, after = results.values[0, 0], results.values[1:, 0]
    assert len(after) > 5
    # what the unjudged documents could add shrinks, and so do ranks
    if np.isnan(before):
        assert np.isnan(after).all() and "NaN" in fastir.metric(name).undefined
        return
    falls = fastir.metric(name).higher_is_better is False
    assert (after <= before + 1e-15 if falls else after >= before - 1e-15).all()


@pytest.mark.parametrize("name", ["map", "ndcg", "ndcg_burges", "mrr", "rbp", "err", "nerr", "dcg", "bpref"])
def test_order_matters(name):
    """The worst order scores less than the best one."""
    worst = fastir.evaluate_ranked([0, 0, 1, 2, 3], [0, 5], name)[name]
    best = fastir.evaluate_ranked([3, 2, 1, 0, 0], [0, 5], name)[name]
    assert worst < best


# ---- values do not depend on company ---------------------------------------------------------------------------
def test_a_metric_asked_alone_or_among_others(collection):
    together = fastir.evaluate(*collection, NAMES)
    for name in NAMES:
        alone = fastir.evaluate(*collection, name)
        assert alone.values[:, 0].tobytes() == together.values[:, together.names.index(name)].tobytes(), name


def test_a_query_alone_or_among_others(collection):
    qrels, run = collection
    together = by_query(fastir.evaluate(qrels, run, NAMES))
    alone = {query: by_query(fastir.evaluate({query: qrels[query]}, run, NAMES)) for query in qrels if query in run}
    assert alone == {query: {query: together[query]} for query in alone}


def test_the_order_of_queries_and_documents(collection):
    qrels, run = collection
    rng = random.Random(5)
    expected = fastir.evaluate(qrels, run, NAMES)
    for _ in range(3):
        q = gen.shuffled(rng, {query: gen.shuffled(rng, docs) for query, docs in qrels.items()})
        r = gen.shuffled(rng, {query: gen.shuffled(rng, docs) for query, docs in run.items()})
        results = fastir.evaluate(q, r, NAMES)
        assert results.query_ids == list(q)
        assert by_query(results) == by_query(expected)
        assert dict(results) == dict(expected)


def test_a_second_call_and_another_run_in_between(collection):
    qrels, run = collection
    evaluator = fastir.Evaluator(qrels, NAMES)
    first = evaluator.evaluate(run)
    reverse = {query: {doc: -score for doc, score in docs.items()} for query, docs in run.items()}
    assert bits(evaluator.evaluate(reverse)) != bits(first)
    assert bits(evaluator.evaluate(run)) == bits(first) == bits(fastir.evaluate(qrels, run, NAMES))


def test_means_are_exact_sums(collection):
    results = fastir.evaluate(*collection, NAMES)
    for column, name in enumerate(NAMES):
        if name.startswith(("gm_", "gmean_")):
            values = [value for value in results.values[:, column] if value == value]
            assert math.isclose(results[name], math.prod(values) ** (1 / len(values)), rel_tol=1e-12)
        else:
            values = [value for value in results.values[:, column] if value == value]
            n = 1 if name in oracle.COUNTS else len(values)
            assert results[name] == math.fsum(values) / n if n else math.isnan(results[name])


# ---- every way in ----------------------------------------------------------------------------------------------
def test_every_input_gives_the_same_bits(collection, tmp_path):
    qrels, run = collection
    run = {query: docs for query, docs in run.items() if docs}
    expected = fastir.evaluate(qrels, run, NAMES)

    qrels_path, run_path = gen.write_qrels(tmp_path / "qrels.txt", qrels), gen.write_run(tmp_path / "run.txt", run)
    for path in (qrels_path, run_path):
        (tmp_path / f"{path.name}.gz").write_bytes(gzip.compress(path.read_bytes()))
    files = ([path, str(path), f"{path}.gz"] for path in (qrels_path, run_path))
    objects = ([cls.from_dict(d), cls.from_file(path)] for cls, d, path in (
        (fastir.Qrels, qrels, qrels_path), (fastir.Run, run, run_path),
    ))  # fmt: skip
    all_qrels, all_runs = ([d, *f, *o] for d, f, o in zip((qrels, run), files, objects, strict=True))
    for q, r in itertools.product(all_qrels, all_runs):
        results = fastir.evaluate(q, r, NAMES)
        assert results.query_ids == expected.query_ids
        assert bits(results) == bits(expected)
        assert bits(fastir.Evaluator(q, NAMES).evaluate(r)) == bits(expected)

    ranked = [oracle.codes(judged, oracle.ranking(run.get(query, {}))) for query, judged in qrels.items()]
    judged = [list(judgments.values()) for judgments in qrels.values()]
    results = fastir.evaluate_ranked(
        list(itertools.chain(*ranked)), [0, *itertools.accumulate(map(len, ranked))], NAMES,
        ideal_labels=list(itertools.chain(*judged)), ideal_offsets=[0, *itertools.accumulate(map(len, judged))],
    )  # fmt: skip
    assert bits(results) == bits(expected)


LABELS = [3, 0, 1, 2, 0, 4, 1, 0, 0, 2]
SIGNED = [3, -1, 1, 2, 0, 4, -2, 0, 0, -1]


@pytest.mark.parametrize("dtype", ["i1", "i2", "i4", "i8", "u1", "u2", "u4", "u8", "f4", "f8", ">i4", ">f8"])
def test_every_dtype_and_stride_of_labels(dtype):
    labels = LABELS if dtype.startswith("u") else SIGNED
    expected = bits(fastir.evaluate_ranked(labels, [0, 4, 4, 10], NAMES))
    array = np.array(labels, dtype)
    wide = np.zeros((10, 3), dtype)
    wide[:, 1] = array
    for view in (array, np.repeat(array, 2)[::2], array[::-1].copy()[::-1], wide[:, 1]):
        assert bits(fastir.evaluate_ranked(view, [0, 4, 4, 10], NAMES)) == expected


@pytest.mark.parametrize("dtype", ["i4", "i8", "u4", "u8"])
def test_every_dtype_of_offsets(dtype):
    expected = fastir.evaluate_ranked(LABELS, [0, 4, 4, 10], NAMES)
    assert bits(fastir.evaluate_ranked(LABELS, np.array([0, 4, 4, 10], dtype), NAMES)) == bits(expected)


def test_inputs_are_never_written_to(collection):
    qrels, run = collection
    before = copy.deepcopy((qrels, run))
    frozen = np.array(LABELS, "i1"), np.array([0, 4, 10])
    for array in frozen:
        array.setflags(write=False)
    fastir.evaluate(qrels, run, NAMES, judged_only=True, max_depth=3)
    fastir.evaluate_ranked(*frozen, NAMES, ideal_labels=frozen[0], ideal_offsets=frozen[1])
    assert (qrels, run) == before
    assert [list(docs) for docs in run.values()] == [list(docs) for docs in before[1].values()]
    assert [array.tolist() for array in frozen] == [LABELS, [0, 4, 10]]


# ---- threads and pickles ---------------------------------------------------------------------------------------
THREADS = (1, 2, 3, 8, None)


@pytest.fixture(scope="module")
def big():
    """400 queries of 1000 documents, with a hundred judgments each: more than one thread's worth of work."""
    rng = random.Random(1)
    docs = [f"doc{number}" for number in range(2000)]
    qrels = {f"q{q}": {doc: rng.choice((0, 0, 1, 2, 3)) for doc in rng.sample(docs, 100)} for q in range(400)}
    run = {f"q{q}": {doc: float(rng.randrange(5000)) for doc in rng.sample(docs, 1000)} for q in range(400)}
    return qrels, run


def test_any_number_of_threads_on_dicts_files_and_runs(big, tmp_path):
    qrels, run = big
    expected = bits(fastir.evaluate(qrels, run, NAMES, n_threads=1))
    path = gen.write_run(tmp_path / "run", run)
    for form in (run, path, fastir.Run.from_dict(run), fastir.Run.from_file(path)):
        for n_threads in THREADS:
            assert bits(fastir.evaluate(qrels, form, NAMES, n_threads=n_threads)) == expected


def test_any_number_of_threads_on_labels():
    rng = np.random.default_rng(1)
    labels = rng.choice(np.array([-2, -1, 0, 0, 0, 0, 1, 2, 3, 4], "i1"), 1_000_000)
    offsets = np.sort(np.append(rng.integers(0, labels.size, 999), (0, labels.size)))
    expected = fastir.evaluate_ranked(labels, offsets, NAMES, n_threads=1)
    for n_threads in THREADS[1:]:
        results = fastir.evaluate_ranked(labels, offsets, NAMES, n_threads=n_threads)
        assert bits(results) == bits(expected)
        assert dict(results) == dict(expected)


def test_pickled_objects_give_the_same_bits(collection):
    qrels, run = collection
    evaluator = fastir.Evaluator(qrels, NAMES, rel_level=2, ties="doc_id_asc", empty="skip", max_grade=5)
    expected = evaluator.evaluate(run)
    assert bits(pickle.loads(pickle.dumps(evaluator)).evaluate(run)) == bits(expected)
    objects = fastir.Qrels.from_dict(qrels), fastir.Run.from_dict(run)
    options = {"rel_level": 2, "ties": "doc_id_asc", "empty": "skip", "max_grade": 5}
    assert bits(fastir.evaluate(*pickle.loads(pickle.dumps(objects)), NAMES, **options)) == bits(expected)
    assert pickle.loads(pickle.dumps(expected)) == expected
