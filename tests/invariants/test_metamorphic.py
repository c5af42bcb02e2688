"""What may be changed about a collection without changing a value: to the last bit, for all metrics and entry points.

Ids get other names in the same order, scores are scaled, queries come in another order, a collection is split and put
together again, queries without judgments join it. Every change is tried under every rule for ties and every convention,
and through dicts, files, columns in order and in any order, and labels with scores.
"""

import itertools
import random

import gen
import numpy as np
import pytest
from closed_forms import AVERAGED
from common import UNEVEN

import fastir
from fastir.request.conventions import CONVENTIONS

pytestmark = UNEVEN

CARDS = [card for card in fastir.metrics() if not (card.pooled or card.groups or card.sampled)]
WHOLE = [card.spelled("@0.3" if card.at else "") for card in CARDS]
NAMES = WHOLE + [card.spelled(f"@{k}") for card in CARDS if card.cutoff for k in (1, 3, 10)]
TIES = ("trec", "doc_id_asc", "input", "input_reversed", "optimistic", "pessimistic", "average")


def columns(run):
    """A run as columns, the rows of a query together."""
    rows = [(query, doc, score) for query, docs in run.items() for doc, score in docs.items()]
    return dict(zip(("query_id", "doc_id", "score"), map(np.array, zip(*rows, strict=True)), strict=True))


def mixed(run):
    """The same rows in any order that keeps those of a query in theirs."""
    waiting = [[(query, doc, score) for doc, score in docs.items()] for query, docs in run.items() if docs]
    rng, rows = random.Random(1), []
    while waiting:
        one = rng.choice(waiting)
        rows.append(one.pop(0))
        waiting = [each for each in waiting if each]
    return dict(zip(("query_id", "doc_id", "score"), map(np.array, zip(*rows, strict=True)), strict=True))


def by_dict(qrels, run, names, folder, **options):
    return fastir.evaluate(qrels, run, names, **options)


def by_file(qrels, run, names, folder, **options):
    paths = gen.write_qrels(folder / "qrels", qrels), gen.write_run(folder / "run", run)
    return fastir.evaluate(*paths, names, **options)


def by_columns(qrels, run, names, folder, **options):
    return fastir.evaluate(qrels, columns(run), names, **options)


def by_mixed_columns(qrels, run, names, folder, **options):
    return fastir.evaluate(qrels, mixed(run), names, **options)


def by_objects(qrels, run, names, folder, **options):
    return fastir.Evaluator(fastir.Qrels.from_dict(qrels), names, **options).evaluate(fastir.Run.from_dict(run))


ENTRIES = [by_dict, by_file, by_columns, by_mixed_columns, by_objects]


def rows_of(results):
    """{query_id: the bytes of its values}."""
    return {query: row.tobytes() for query, row in zip(results.query_ids, results.values, strict=True)}


def possible(names, ties):
    """The metrics that this rule can evaluate."""
    if ties != "average":
        return names
    return [name for name in names if name.partition("@")[0] in AVERAGED]


def collection(seed):
    """Judgments and a run in which every query of the qrels has documents."""
    qrels, run = gen.collection(seed, queries=8)
    return qrels, {query: docs for query, docs in run.items() if docs}


# ---- the changes: each returns (qrels, run, {new query id: old query id}) -------------------------------------------
def other_names(qrels, run):
    """Ids with a common beginning: their order by bytes is that of the old ones."""
    name = "prefix:{}".format
    changed = [{name(q): {name(d): x for d, x in row.items()} for q, row in one.items()} for one in (qrels, run)]
    return *changed, {name(query): query for query in qrels}


def numbered(qrels, run):
    """Document ids as numbers of equal length, in the order of the old ones; queries by their place."""
    docs = sorted({doc for one in (qrels, run) for row in one.values() for doc in row}, key=str.encode)
    place = {doc: f"{number:06}" for number, doc in enumerate(docs)}
    queries = {query: f"{number}" for number, query in enumerate(dict.fromkeys([*qrels, *run]))}
    changed = [
        {queries[q]: {place[d]: value for d, value in row.items()} for q, row in one.items()} for one in (qrels, run)
    ]
    return *changed, {queries[query]: query for query in qrels}


def scaled(qrels, run):
    """Scores times a power of two, which loses nothing, even in float32."""
    return (
        qrels,
        {query: {doc: 1024 * score for doc, score in docs.items()} for query, docs in run.items()},
        same(qrels),
    )


def permuted(qrels, run):
    """Queries in another order, on both sides."""
    rng = random.Random(3)
    return gen.shuffled(rng, qrels), gen.shuffled(rng, run), same(qrels)


def with_strangers(qrels, run):
    """Queries that nobody judged stand before, between and behind the others."""
    added = {}
    for number, (query, docs) in enumerate(run.items()):
        added[f"stranger {number}".replace(" ", "-")] = {"a": 1.0, "b": 1.0, next(iter(docs)): 2.0}
        added[query] = docs
    return qrels, {**added, "last-stranger": {"a": 1.0}}, same(qrels)


def same(qrels):
    return dict(zip(qrels, qrels, strict=True))


CHANGES = [other_names, numbered, scaled, permuted, with_strangers]


@pytest.mark.parametrize("ties", TIES)
@pytest.mark.parametrize("entry", ENTRIES, ids=lambda entry: entry.__name__)
def test_changes_that_change_no_value(entry, ties, tmp_path):
    for seed in (2000, 2001):
        qrels, run = collection(seed)
        names = possible(NAMES, ties)
        expected = rows_of(fastir.evaluate(qrels, run, names, ties=ties, queries="qrels"))
        for change in (lambda qrels, run: (qrels, run, same(qrels)), *CHANGES):
            new_qrels, new_run, old = change(qrels, run)
            found = rows_of(entry(new_qrels, new_run, names, tmp_path, ties=ties, queries="qrels"))
            assert {old[query]: row for query, row in found.items()} == expected, getattr(change, "__name__", change)


@pytest.mark.parametrize("change", CHANGES, ids=lambda change: change.__name__)
@pytest.mark.parametrize("convention", sorted(CONVENTIONS))
def test_no_convention_sees_such_a_change(convention, change, tmp_path):
    qrels, run = collection(2002)
    qrels = {query: {doc: max(label, 0) for doc, label in qrels[query].items()} for query in qrels if query in run}
    run = {query: run[query] for query in qrels}
    if change is with_strangers and convention in ("ranx", "ranx-literal"):
        pytest.skip("takes no queries without judgments")
    names = ["ndcg@10", "map", "mrr", "P@5", "recall@10", "bpref", "rbp", "ndcg", "num_rel_ret"]
    names = [name for name in names if accepted(name, convention)]
    new_qrels, new_run, old = change(qrels, run)
    expected = rows_of(fastir.evaluate(qrels, run, names, convention=convention))
    for entry in ENTRIES[:3]:
        found = rows_of(entry(new_qrels, new_run, names, tmp_path, convention=convention))
        assert {old[query]: row for query, row in found.items()} == {
            query: row for query, row in expected.items() if query in old.values()
        }


def accepted(name, convention):
    try:
        fastir.Evaluator({"q": {"a": 1}}, name, convention=convention)
    except ValueError:
        return False
    return True


@pytest.mark.parametrize("entry", ENTRIES, ids=lambda entry: entry.__name__)
@pytest.mark.parametrize("parts", [2, 3, 8])
def test_parts_have_the_values_of_the_whole(entry, parts, tmp_path):
    """Split by query; the means of the whole are those of an Accumulator that saw the parts."""
    qrels, run = collection(2003)
    whole = fastir.evaluate(qrels, run, NAMES, queries="qrels")
    found = {}
    for part in range(parts):
        mine = dict(itertools.islice(qrels.items(), part, None, parts))
        their_run = {query: docs for query, docs in run.items() if query in mine} or {"nothing": {"a": 1.0}}
        if set(mine) & set(their_run):
            found |= rows_of(entry(mine, their_run, NAMES, tmp_path, queries="qrels"))
        else:
            found |= {query: row for query, row in rows_of(whole).items() if query in mine}
    assert found == rows_of(whole)


def code(label):
    """What stands for a label among labels without ids: -1 without any, -2 for a negative one."""
    return -1 if label is None else -2 if label < 0 else label


@pytest.mark.parametrize("ties", ["input", "input_reversed", "optimistic", "pessimistic", "average"])
def test_labels_with_scores_do_not_change_either(ties):
    """Groups in another order, scores scaled, the collection in two parts."""
    qrels, run = collection(2004)
    run = {query: run.get(query, {}) for query in qrels}
    qrels = {query: {doc: label for doc, label in docs.items() if doc in run[query]} for query, docs in qrels.items()}
    names = possible(NAMES, ties)
    labels = [[code(qrels[query].get(doc)) for doc in docs] for query, docs in run.items()]
    scores = [list(docs.values()) for docs in run.values()]

    def rows(order, factor=1.0):
        flat = [list(itertools.chain(*(part[place] for place in order))) for part in (labels, scores)]
        sizes = [len(labels[place]) for place in order]
        results = fastir.evaluate_scores(
            np.array(flat[0], int), np.array(flat[1], float) * factor, names, group=sizes, ties=ties
        )
        return dict(zip(order, (row.tobytes() for row in results.values), strict=True))

    n = len(labels)
    expected = rows(range(n))
    by_dicts = fastir.evaluate(qrels, run, names, ties=ties, queries="qrels").values
    assert [row.tobytes() for row in by_dicts] == list(expected.values())
    assert rows(random.Random(4).sample(range(n), n)) == expected
    assert rows(range(n), 1024.0) == expected
    assert {**rows(range(n // 2)), **rows(range(n // 2, n))} == expected


@pytest.mark.parametrize("seed", range(3))
def test_a_test_of_means_does_not_see_the_scale(seed):
    """p-values of scores times a power of two, and of queries in another order where no random numbers are drawn."""
    rng = np.random.default_rng(seed)
    a, b = rng.integers(0, 10, (2, 9)) / 8
    order = rng.permutation(9)
    for test in (fastir.stats.t_test, fastir.stats.wilcoxon, fastir.stats.sign_test):
        p = test(a, b).p_value
        for factor in (2.0, 0.125, 2.0**40):
            assert test(a * factor, b * factor).p_value == p
        assert test(a[order], b[order]).p_value == pytest.approx(p, rel=1e-12)
        assert test(b, a).p_value == pytest.approx(p, rel=1e-12)
