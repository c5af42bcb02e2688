"""Evaluations in parts: the bits of `evaluate`, however the rows were cut, carried and merged; and what is refused.

Also of: arrow, grouped, states, strategies, two_pass.
"""

import functools
import itertools
import pickle
import random
import re
import subprocess
import sys
from concurrent.futures import ThreadPoolExecutor

import gen
import numpy as np
import pytest
from common import EXAMPLES, UNEVEN

import fastir
from fastir.data.results.report import Report
from fastir.request.conventions import CONVENTIONS

hypothesis = pytest.importorskip("hypothesis")
given, settings, st = hypothesis.given, hypothesis.settings, hypothesis.strategies

pytestmark = UNEVEN

BY_RANK = {"columns": {"rank": "rank"}}
ONLY_JUDGED = "only judged documents checked for duplicates"
SINGLE = ["trec", "doc_id_asc", "optimistic", "pessimistic"]
TWO_PASS, GROUPED, LISTS = "two-pass", "grouped", "lists"
CUTS = st.randoms(use_true_random=False)
SEEDS = st.integers(0, 10_000)


def possible(qrels, names, **options):
    """The metrics among `names` that parts can answer."""
    found = []
    for name in names:
        try:
            fastir.Evaluator(qrels, name, **options).partial(strategy=GROUPED)
        except (fastir.FastirError, ValueError):
            continue
        found.append(name)
    return found


METRICS = possible(gen.collection(0)[0], [card.spelled() for card in fastir.metrics()])
MORE = [*METRICS, "ndcg@5", "map@3", "P@10", "bpref", "judged@5", "ndcg(gain=exp2)@10", "rbp(p=0.5)"]


def rows_of(run):
    return [(query, doc, float(score)) for query, docs in run.items() for doc, score in docs.items()]


def table(rows, number="score"):
    """Columns of rows of (query, document, number)."""
    columns = list(zip(*rows, strict=True)) or [(), (), ()]
    kinds = ("int64" if rows and type(rows[0][place]) is int else object for place in (0, 1))
    ids = [np.array(column, kind) for column, kind in zip(columns, kinds, strict=False)]
    return {"query_id": ids[0], "doc_id": ids[1], number: np.array(columns[2], float)}


def cut(rows, rng):
    """Parts of rows, some of them empty."""
    borders = sorted(rng.randint(0, len(rows)) for _ in range(rng.randint(0, 5)))
    return [rows[a:b] for a, b in zip([0, *borders], [*borders, len(rows)], strict=True)]


def carried(state, rng):
    """A state as another process gets it, or as it is."""
    if rng.random() < 0.6:
        return pickle.loads(pickle.dumps(state))
    if rng.random() < 0.5:
        pytest.importorskip("pyarrow")
        return fastir.Partial.from_arrow(state.to_arrow())
    return state


def merged(evaluator, parts, rng, strategy="auto", after=None):
    """Every part in a state of its own; the states merged in any order, two by two."""
    states = []
    for part in parts:
        state = evaluator.partial(strategy=strategy, after=after)
        if len(part) or rng.random() < 0.5:
            state.add(part)
        states.append(carried(state, rng))
    while len(states) > 1:
        one, other = (states.pop(rng.randrange(len(states))) for _ in range(2))
        one.merge(other)
        states.append(carried(one, rng))
    total = evaluator.partial(strategy=strategy, after=after)
    total.merge(states[0])
    return total


def in_two_passes(evaluator, parts, rng):
    first = merged(evaluator, parts, rng, TWO_PASS)
    return merged(evaluator, rng.sample(parts, len(parts)), rng, after=carried(first, rng)).result()


def same(found, expected, but=()):
    assert found.query_ids == expected.query_ids and found.status == expected.status
    assert found.names == expected.names and found.aggregates == expected.aggregates
    assert found.values.tobytes() == expected.values.tobytes()
    assert [repr(mean) for mean in dict(found).values()] == [repr(mean) for mean in dict(expected).values()]
    for name in set(Report.__slots__) - {"repairs", *but}:
        assert getattr(found.report, name) == getattr(expected.report, name), name
    repairs = {kind: of for kind, of in found.report.repairs.items() if kind != ONLY_JUDGED}
    assert repairs == expected.report.repairs


# ---- the same bits -----------------------------------------------------------------------------------------------
def test_nearly_the_whole_catalogue_can_be_evaluated_in_parts():
    apart = {card.spelled() for card in fastir.metrics() if card.groups or card.sampled}
    assert {card.spelled() for card in fastir.metrics()} - set(METRICS) - apart <= {"hole", "compat"}


@settings(max_examples=30, deadline=None)
@given(SEEDS, CUTS, st.sampled_from(SINGLE), st.sampled_from([None, "float32"]), st.integers(1, 2))
def test_two_passes_have_the_bits_of_one_machine(seed, rng, ties, dtype, level):
    qrels, run = gen.collection(seed)
    metrics = rng.choice([MORE, ["P@5"], ["ndcg"], ["bpref"]])
    evaluator = fastir.Evaluator(qrels, metrics, ties=ties, score_dtype=dtype, rel_level=level, validate="judged")
    rows = rows_of(run)
    rng.shuffle(rows)
    found = in_two_passes(evaluator, [table(part) for part in cut(rows, rng)], rng)
    same(found, evaluator.evaluate(table(rows)))
    assert found.report.repairs[ONLY_JUDGED][1] == "the run"


@settings(max_examples=30, deadline=None)
@given(SEEDS, CUTS, st.sampled_from(SINGLE), st.sampled_from(["full", "judged"]))
def test_whole_queries_have_the_bits_of_one_machine(seed, rng, ties, validate):
    qrels, run = gen.collection(seed)
    evaluator = fastir.Evaluator(qrels, MORE, ties=ties, validate=validate)
    parts = []
    for queries in cut(list(run), rng):
        rows = rows_of({query: run[query] for query in queries})
        rng.shuffle(rows)
        parts.append(table(rows))
    same(merged(evaluator, parts, rng, GROUPED).result(), evaluator.evaluate(table(rows_of(run))))


@pytest.mark.parametrize("metrics", ["P@5", "ndcg", "bpref", "judged@5", MORE], ids=str)
def test_reports_of_parts_that_are_dicts_count_what_one_machine_counts(metrics):
    for seed in range(8):
        qrels, run = gen.collection(seed)
        rng, evaluator = random.Random(seed), fastir.Evaluator(qrels, metrics)
        parts = [{query: run[query] for query in queries} for queries in cut(list(run), rng)]
        same(merged(evaluator, parts, rng).result(), evaluator.evaluate(run))


@settings(max_examples=25, deadline=None)
@given(SEEDS, CUTS, st.booleans(), st.sampled_from(SINGLE))
def test_lists_have_the_bits_of_one_machine(seed, rng, scored, ties):
    pyarrow = pytest.importorskip("pyarrow")
    qrels, run = gen.collection(seed)
    if not scored:
        run = {query: [*docs] for query, docs in run.items()}
    parts = []
    for queries in cut(list(run), rng):
        rankings = [run[query] for query in queries]
        columns = {"qid": pyarrow.array(queries, pyarrow.string())}
        columns["doc_ids"] = pyarrow.array([[*docs] for docs in rankings], pyarrow.list_(pyarrow.string()))
        if scored:
            lists = [[float(score) for score in docs.values()] for docs in rankings]
            columns["scores"] = pyarrow.array(lists, pyarrow.large_list(pyarrow.float64()))
        parts.append(pyarrow.table(columns))
    evaluator = fastir.Evaluator(qrels, MORE, ties=ties)
    same(merged(evaluator, parts, rng).result(), evaluator.evaluate(run))


@pytest.mark.parametrize("options", [
    {"judged_only": True}, {"max_depth": 7}, {"queries": "intersection"},
    {"queries": "qrels", "rel_level": 3}, {"weights": {"first": 3.0}}, {"n_threads": 2},
], ids=str)  # fmt: skip
def test_options_say_what_they_say_in_one_machine(options):
    for seed in range(4):
        qrels, run = gen.collection(seed)
        rng = random.Random(seed)
        if "weights" in options:
            options = {"weights": {query: 1.0 + place for place, query in enumerate(qrels)}}
        evaluator = fastir.Evaluator(qrels, MORE, validate="judged", **options)
        rows = rows_of(run)
        expected = evaluator.evaluate(table(rows))
        parts = [table(rows[place::3]) for place in range(3)]
        same(in_two_passes(evaluator, parts, rng), expected)
        queries = [table(rows_of({query: run[query] for query in list(run)[place::3]})) for place in range(3)]
        same(merged(evaluator, queries, rng, GROUPED).result(), expected)


@pytest.mark.parametrize("convention", sorted(CONVENTIONS))
def test_conventions_give_their_numbers_or_say_what_parts_cannot(convention):
    qrels, run = gen.collection(3)
    rows, rng = rows_of(run), random.Random(3)
    parts = [table(rows[place::4]) for place in range(4)]
    given = {"convention": convention, "validate": "judged"}
    names = possible(qrels, ["ndcg@10", "map", "mrr@10", "recall@5", "P@5"], **given)
    for name in names:
        evaluator = fastir.Evaluator(qrels, name, **given)
        try:
            found = in_two_passes(evaluator, parts, rng)
        except ValueError as error:
            assert re.search(
                "depends on the order|two passes cannot (remove duplicates|leave documents out)", str(error)
            )
        else:
            same(found, evaluator.evaluate(table(rows)))
    if not names:
        with pytest.raises((ValueError, fastir.FastirError), match=r"several rules|average|needs|no metric|unknown"):
            fastir.Evaluator(qrels, "ndcg@10", **given).partial()


@pytest.mark.parametrize("kinds", [(int, int), (int, str), (str, int), (str, str)], ids=str)
def test_integers_are_the_text_that_they_are_written_as(kinds):
    rng = random.Random(1)
    of_qrels, of_run = kinds
    qrels = {of_qrels(q): {of_qrels(d): rng.randint(0, 2) for d in range(8, 13)} for q in (9, 10)}
    rows = [(of_run(q), of_run(d), float(rng.randrange(2))) for q in (9, 10, 11) for d in range(6, 15)]
    evaluator = fastir.Evaluator(qrels, METRICS, validate="judged")
    expected = evaluator.evaluate(table(rows))
    same(in_two_passes(evaluator, [table(rows[::2]), table(rows[1::2])], rng), expected)
    other = [(str(q), str(d), s) for q, d, s in rows[1::2]]
    found = in_two_passes(evaluator, [table(rows[::2]), table(other)], rng)
    assert found.values.tobytes() == expected.values.tobytes()


def test_the_first_pass_of_one_state_may_take_many_batches():
    qrels, run = gen.deep(1)
    rows = rows_of(run)
    random.Random(0).shuffle(rows)
    evaluator = fastir.Evaluator(qrels, METRICS, validate="judged")
    first = evaluator.partial()
    for place in range(0, len(rows), 700):
        first.add(table(rows[place : place + 700]))
    second = evaluator.partial(after=first)
    for place in range(0, len(rows), 1100):
        second.add(table(rows[place : place + 1100]))
    same(second.result(), evaluator.evaluate(table(rows)))


# ---- order and duplicates ----------------------------------------------------------------------------------------
QRELS = {"q": {"a": 1, "b": 2, "c": 0}, "r": {"a": 1}}
TWICE = [("q", "a", 3.0), ("q", "x", 2.5), ("q", "a", 2.0), ("q", "x", 1.5), ("q", "b", 1.0), ("r", "a", 1.0)]
FEW = ["map", "ndcg", "P@1", "num_ret"]


@pytest.mark.parametrize("dtype", [None, "float32"])
def test_once_is_possible_in_two_passes(dtype):
    rows = [*TWICE, ("q", "b", 3.0), ("q", "b", 1.0), ("q", "c", 3.0)]
    evaluator = fastir.Evaluator(QRELS, FEW, duplicates="once", validate="judged", score_dtype=dtype)
    for seed in range(10):
        rng = random.Random(seed)
        rng.shuffle(rows)
        same(in_two_passes(evaluator, [table(part) for part in cut(rows, rng)], rng), evaluator.evaluate(table(rows)))


@pytest.mark.parametrize("rule", ["first", "last", "max", "once"])
def test_ranks_decide_what_the_order_of_rows_would(rule):
    ranked = [(query, doc, float(rank)) for rank, (query, doc, _) in enumerate(TWICE, 1)]
    shuffled = random.Random(4).sample(ranked, len(ranked))
    evaluator = fastir.Evaluator(QRELS, FEW, duplicates=rule, ties="input", **BY_RANK)
    total = evaluator.partial()
    total.add(table([row for row in shuffled if row[0] == "q"], "rank"))
    total.add(table([row for row in shuffled if row[0] == "r"], "rank"))
    same(total.result(), evaluator.evaluate(table(ranked, "rank")))


def test_ranks_decide_in_two_passes():
    ranked = [("q", doc, rank) for rank, doc in enumerate("xbyac", 1)]
    evaluator = fastir.Evaluator(QRELS, FEW, ties="input", validate="judged", **BY_RANK)
    rng = random.Random(2)
    same(
        in_two_passes(evaluator, [table(ranked[::2], "rank"), table(ranked[1::2], "rank")], rng),
        evaluator.evaluate(table(ranked, "rank")),
    )
    for strategy in (TWO_PASS, GROUPED):
        with pytest.raises(ValueError, match=r"two documents have one rank.*query q"):
            rows = table([*ranked, ("q", "z", 2)], "rank")
            if strategy == TWO_PASS:
                in_two_passes(evaluator, [rows], rng)
            else:
                evaluator.partial(strategy=strategy).add(rows)


@pytest.mark.parametrize("options", [{"ties": "input"}, {"duplicates": "first"}, {"duplicates": "last"}], ids=str)
def test_the_order_of_rows_is_refused(options):
    evaluator = fastir.Evaluator(QRELS, "map", **options)
    with pytest.raises(ValueError, match="depends on the order of rows, which parts do not keep"):
        evaluator.partial(strategy=GROUPED).add(table(TWICE))
    with pytest.raises(ValueError, match="depends on the order of rows, which parts do not keep"):
        evaluator.partial(strategy=GROUPED).add(str(EXAMPLES / "bm25.run"))
    if "ties" in options:
        evaluator = fastir.Evaluator(QRELS, "map", validate="judged", **options)
        with pytest.raises(ValueError, match=r"column of ranks"):
            evaluator.partial(strategy=TWO_PASS).add(table(TWICE))


def test_lists_and_dicts_have_an_order():
    run = {"q": ["x", "b", "a"], "r": ["a"]}
    evaluator = fastir.Evaluator(QRELS, FEW, ties="input", duplicates="first")
    total = evaluator.partial()
    total.add({"q": ["x", "b", "x", "a"]})
    total.add({"r": {"a": 1.0}})
    expected = evaluator.evaluate(run)
    assert total.result().values.tobytes() == expected.values.tobytes()
    assert total.result().report.repairs["duplicates"][0] == 1


def test_max_removes_duplicates_of_whole_queries():
    evaluator = fastir.Evaluator(QRELS, FEW, duplicates="max")
    total = evaluator.partial()
    total.add(table(TWICE[:5]))
    total.add(table(TWICE[5:]))
    same(total.result(), evaluator.evaluate(table(TWICE)))


def test_parents_are_put_together_in_whole_queries():
    parents = {f"{doc}#{part}": doc for doc in "abx" for part in range(2)}
    evaluator = fastir.Evaluator(QRELS, FEW, parents=parents, aggregate="max")
    rows = [("q", "x#0", 3.0), ("q", "a#1", 2.0), ("q", "x#1", 2.0), ("r", "a#0", 1.0)]
    total = evaluator.partial()
    total.add(table(rows[:3]))
    total.add(table(rows[3:]))
    same(total.result(), evaluator.evaluate(table(rows)))


# ---- errors ------------------------------------------------------------------------------------------------------
@pytest.mark.parametrize(("options", "message"), [
    ({}, r"validate='full'.*strategy='grouped' can"),
    ({"validate": "judged", "duplicates": "max"}, r"cannot remove duplicates \(duplicates='max'\)"),
    ({"validate": "judged", "parents": {"a": "b"}}, r"parts of a document together"),
], ids=str)  # fmt: skip
def test_what_two_passes_cannot_do(options, message):
    evaluator = fastir.Evaluator(QRELS, "map", **options)
    with pytest.raises(ValueError, match=message):
        evaluator.partial(strategy=TWO_PASS)
    with pytest.raises(ValueError, match=message):
        evaluator.partial(after=evaluator.partial())


def test_what_no_strategy_can_do():
    with pytest.raises(ValueError, match="single order"):
        fastir.Evaluator(QRELS, "map", ties="average").partial()
    with pytest.raises(ValueError, match="groups"):
        fastir.Evaluator({"q": {"1": {"a": 1}}}, "map").partial()
    with pytest.raises(fastir.UnknownMetricError, match="needs the ids"):
        fastir.Evaluator(QRELS, "hole").partial()
    with pytest.raises(ValueError, match="strategy must be one of"):
        fastir.Evaluator(QRELS, "map").partial(strategy="shuffle")


def test_a_query_that_comes_back_is_named():
    evaluator = fastir.Evaluator(QRELS, "map")
    for query in ("q", "nobody"):
        one, other = evaluator.partial(), evaluator.partial()
        one.add(table([("r", "a", 1.0), (query, "a", 1.0)]))
        other.add(table([(query, "b", 1.0)]))
        with pytest.raises(ValueError, match=f"query '{query}' comes in two parts"):
            pickle.loads(pickle.dumps(one)).merge(pickle.loads(pickle.dumps(other)))
        with pytest.raises(ValueError, match=f"query '{query}' comes in two parts"):
            one.add(table([(query, "b", 1.0)]))
        for call in (one.result, lambda one=one: pickle.dumps(one), lambda one=one: one.add([])):
            with pytest.raises(ValueError, match="cannot be used"):
                call()


def test_a_query_with_two_lists_is_named():
    pyarrow = pytest.importorskip("pyarrow")
    part = pyarrow.table({"query_id": ["q", "q"], "doc_ids": [["a"], ["b"]]})
    with pytest.raises(ValueError, match="duplicate query 'q'"):
        fastir.Evaluator(QRELS, "map").partial().add(part)


@pytest.mark.parametrize(("columns", "message"), [
    ({"doc_ids": [["a", "b"]], "scores": [[1.0]]}, "query 'q' has 2 documents and 1 scores"),
    ({"doc_ids": [["a", "b"]], "scores": [[1.0, float("nan")]]}, r"NaN.*query q, document b"),
    ({"doc_ids": [["a", "a"]]}, "duplicate document 'a'"),
    ({"doc_ids": [["a", None]]}, "document id at rank 2 of query number 0 is null"),
    ({"doc_ids": [["a"]], "scores": [[None]]}, "score at rank 1 of query number 0 is null"),
    ({"doc_ids": [["a"]], "scores": [["1"]]}, "must hold lists of numbers"),
    ({"doc_ids": [True]}, "must hold lists of strings"),
    ({"doc_ids": [["a"]], "qid": ["q"]}, None),
], ids=str)  # fmt: skip
def test_lists_that_are_wrong_are_refused(columns, message):
    pyarrow = pytest.importorskip("pyarrow")
    part = pyarrow.table({"query_id": ["q"], **columns})
    state = fastir.Evaluator(QRELS, "map").partial()
    if message is None:
        state.add(part)
    else:
        with pytest.raises((ValueError, TypeError), match=message):
            state.add(part)


def test_lists_come_from_tables_alone():
    evaluator = fastir.Evaluator(QRELS, "map", columns={"query_id": "q", "doc_id": "d"})
    with pytest.raises(TypeError, match="Arrow data and data frames, got"):
        evaluator.partial(strategy=LISTS).add([("q", "a", 1.0)])
    pyarrow = pytest.importorskip("pyarrow")
    state = evaluator.partial(strategy=LISTS)
    state.add(pyarrow.table({"q": ["q"], "d": [["a"]]}))
    assert state.result()["map"] == 0.25
    with pytest.raises(ValueError, match="has no column 'd'"):
        evaluator.partial(strategy=LISTS).add(pyarrow.table({"q": ["q"], "doc_ids": [["a"]]}))


@pytest.mark.parametrize("integers", [False, True])
def test_another_part_in_the_second_pass_is_found_though_the_queries_keep_their_numbers_of_rows(integers):
    qrels = {1: {1: 1, 2: 2}, 2: {3: 1}} if integers else QRELS
    queries, docs = ((1, 2), (1, 2, 3, 4, 5)) if integers else (("q", "r"), ("a", "b", "c", "x", "a long name"))
    evaluator = fastir.Evaluator(qrels, "map", validate="judged", duplicates="once")
    rng = random.Random(1)
    parts = [table([(query, doc, rng.random()) for query in queries for doc in docs]) for _ in range(2)]

    def second(parts, of_second):
        first = evaluator.partial(strategy=TWO_PASS)
        for part in parts:
            first.add(part)
        last = evaluator.partial(after=first)
        for part in of_second:
            last.add(part)
        return last.result()

    assert second(parts, parts[::-1])["map"] > 0
    for of_second in ([parts[0], parts[0]], [parts[1], parts[1]]):
        with pytest.raises(ValueError, match=r"^run: query .* has other documents or scores in the second pass"):
            second(parts, of_second)


def test_what_another_version_has_made_is_refused_by_name(monkeypatch):
    pytest.importorskip("pyarrow")
    from fastir.data.results import saved_files
    from fastir.evaluation.partial import partial

    evaluator = fastir.Evaluator(QRELS, "map")
    state = evaluator.partial()
    state.add(table([("q", "a", 1.0)]))
    for module in (partial, saved_files):
        monkeypatch.setattr(module, "__version__", "0.0.7")
    pickled, made = pickle.dumps(state), state.to_arrow()
    said = rf"by fastir 0\.0\.7, and this is fastir {re.escape(fastir.__version__)}; all parts need one version"
    with pytest.raises(fastir.FormatError, match=said):
        pickle.loads(pickled)
    with pytest.raises(fastir.FormatError, match=said):
        fastir.Partial.from_arrow(made)


def test_a_judged_document_that_stands_twice_is_an_error():
    evaluator = fastir.Evaluator(QRELS, "map", validate="judged")
    state = evaluator.partial()
    with pytest.raises(fastir.DuplicateError, match=r"duplicate document 'a' in query 'q', the second time in row 2"):
        state.add(table(TWICE))
    one, other = evaluator.partial(), evaluator.partial()
    one.add(table(TWICE[:2]))
    other.add(table(TWICE[2:]))
    one, other = (pickle.loads(pickle.dumps(state)) for state in (one, other))
    total = evaluator.partial()
    total.merge(one)
    with pytest.raises(fastir.DuplicateError, match=r"duplicate judged document in query 'q', in two parts"):
        total.merge(other)
    one.merge(other)
    with pytest.raises(fastir.DuplicateError, match=r"duplicate judged document in query 'q', in two parts"):
        evaluator.partial(after=one)


@pytest.mark.parametrize("strategy", [TWO_PASS, GROUPED])
def test_a_score_that_is_no_number_is_named_with_its_row(strategy):
    state = fastir.Evaluator(QRELS, "map", validate="judged").partial(strategy=strategy)
    with pytest.raises(ValueError, match=r"row 1: 'score' is NaN.*query nobody, document a"):
        state.add(table([("q", "a", 1.0), ("nobody", "a", float("nan"))]))


def test_two_passes_take_rows_and_say_so():
    evaluator = fastir.Evaluator(QRELS, "map", validate="judged")
    with pytest.raises(TypeError, match=r"two passes take tables of rows, got dict; strategy='grouped'"):
        evaluator.partial(strategy=TWO_PASS).add({"q": {"a": 1.0}})
    with pytest.raises(ValueError, match=r"no column 'score'"):
        evaluator.partial(strategy=TWO_PASS).add({"query_id": ["q"], "doc_id": ["a"]})


def test_passes_cannot_be_mixed_up():
    evaluator = fastir.Evaluator(QRELS, "map", validate="judged")
    first, longer = evaluator.partial(strategy=TWO_PASS), evaluator.partial(strategy=TWO_PASS)
    first.add(table([("q", "a", 1.0)]))
    longer.add(table([("q", "a", 1.0), ("q", "b", 1.0)]))
    with pytest.raises(ValueError, match="first of two passes"):
        first.result()
    second = evaluator.partial(after=first)
    with pytest.raises(ValueError, match=r"query 'q' has 1 rows in the first pass and 0 in the second"):
        second.result()
    with pytest.raises(ValueError, match="'second pass' and 'first pass'"):
        second.merge(longer)
    with pytest.raises(ValueError, match="after different first ones"):
        second.merge(evaluator.partial(after=longer))
    with pytest.raises(TypeError, match="after must be"):
        evaluator.partial(after=second)
    with pytest.raises(ValueError, match="strategy='grouped' has not"):
        evaluator.partial(strategy=GROUPED, after=first)
    whole = evaluator.partial(strategy=GROUPED)
    whole.add({"q": {"a": 1.0}})
    with pytest.raises(ValueError, match="cannot be merged"):
        whole.merge(first)
    with pytest.raises(TypeError, match="merged only with a Partial, got dict"):
        whole.merge({})
    second.add(table([("q", "a", 1.0)]))
    assert second.result()["map"] == 0.25


@pytest.mark.parametrize(
    "changed", [({"q": {"a": 1}}, "map", {}), (QRELS, "mrr", {}), (QRELS, "map", {"rel_level": 2})]
)
def test_parts_of_another_evaluation_are_refused(changed):
    qrels, metrics, options = changed
    one = fastir.Evaluator(QRELS, "map").partial()
    other = fastir.Evaluator(qrels, metrics, **options).partial()
    with pytest.raises(ValueError, match="other qrels, metrics or options"):
        one.merge(other)


def test_the_same_qrels_in_another_shape_are_the_same():
    one = fastir.Evaluator(QRELS, "map", n_threads=1).partial()
    rows = [(query, doc, label) for query, docs in QRELS.items() for doc, label in docs.items()]
    other = fastir.Evaluator(pickle.loads(pickle.dumps(fastir.Qrels.from_table(rows))), "map").partial()
    other.add({"q": {"a": 1.0}})
    one.merge(other)
    assert one.result()["map"] == 0.25


# ---- states ------------------------------------------------------------------------------------------------------
def test_nothing_is_an_empty_run():
    for evaluator in (fastir.Evaluator(QRELS, "map"), fastir.Evaluator(QRELS, "map", validate="judged")):
        total = evaluator.partial()
        assert repr(total) == "<Partial of nothing>"
        total.merge(pickle.loads(pickle.dumps(evaluator.partial())))
        with pytest.raises(fastir.NoOverlapError, match="the run is empty"):
            total.result()
        total.add(table([]))
        with pytest.raises((fastir.NoOverlapError, ValueError), match=r"the run is empty|first of two passes"):
            total.result()
    second = evaluator.partial(after=evaluator.partial())
    with pytest.raises(fastir.NoOverlapError, match="the run is empty"):
        second.result()


def test_queries_of_other_people_are_no_overlap():
    evaluator = fastir.Evaluator(QRELS, "map", validate="judged")
    rows = [table([("x2", "a", 1.0)]), table([("x1", "a", 1.0)])]
    for strategy in (TWO_PASS, GROUPED):
        with pytest.raises(fastir.NoOverlapError, match="the qrels have 'q', the run has 'x1'"):
            if strategy == TWO_PASS:
                in_two_passes(evaluator, rows, random.Random(0))
            else:
                merged(evaluator, rows, random.Random(0), GROUPED).result()


def test_strict_queries_and_warnings_are_those_of_one_machine(recwarn):
    evaluator = fastir.Evaluator(QRELS, "map", queries="strict")
    total = evaluator.partial()
    total.add({"q": {"a": 1.0}})
    with pytest.raises(fastir.NoOverlapError, match="query 'r' is missing from the run"):
        total.result()
    evaluator = fastir.Evaluator(QRELS, "map")
    total = evaluator.partial()
    total.add({"q": {"a": 1.0}})
    total.add({"nobody": {"a": 1.0}})
    with pytest.warns(fastir.FastirWarning, match="missing from the run.*is not in the qrels") as caught:
        total.result()
    assert caught[0].filename == __file__


def test_a_part_may_be_given_at_once():
    evaluator = fastir.Evaluator(QRELS, FEW)
    total = evaluator.partial([("q", "a", 2.0), ("q", "x", 1.0)])
    total.merge(evaluator.partial({"r": ["a"]}))
    same(total.result(), evaluator.evaluate({"q": {"a": 2.0, "x": 1.0}, "r": {"a": 1.0}}))


def test_threads_share_an_evaluator():
    qrels, run = gen.deep(2)
    rows = rows_of(run)
    parts = [table(rows[place::8]) for place in range(8)]
    evaluator = fastir.Evaluator(qrels, FEW, validate="judged")
    with ThreadPoolExecutor(4) as pool:
        first, *others = pool.map(evaluator.partial, parts)
        for state in others:
            first.merge(state)
        second, *others = pool.map(functools.partial(evaluator.partial, after=first), parts)
        for state in others:
            second.merge(state)
    same(second.result(), evaluator.evaluate(table(rows)))


def test_a_carried_state_has_no_evaluator():
    evaluator = fastir.Evaluator(QRELS, "map")
    total = evaluator.partial()
    total.add({"q": {"a": 1.0}})
    for state in (pickle.loads(pickle.dumps(total)),):
        assert repr(state) == "<Partial of 1 query: grouped>"
        for call in (state.result, lambda state=state: state.add({"r": {"a": 1.0}})):
            with pytest.raises(ValueError, match="has no Evaluator; merge it"):
                call()


def test_a_state_is_small_and_needs_no_pyarrow():
    qrels = {f"q{i}": {f"document-{i}-{j}": 1 for j in range(10)} for i in range(1000)}
    evaluator = fastir.Evaluator(qrels, "map", validate="judged")
    state = evaluator.partial()
    state.add(table([("q5", "x", 2.0), ("q5", "document-5-1", 1.0)]))
    assert len(pickle.dumps(state)) < 2000
    code = (
        "import sys, pickle; sys.modules['pyarrow'] = None; import fastir;"
        "e = fastir.Evaluator({'q': {'a': 1}}, 'mrr', validate='judged'); f = e.partial(); r = [('q', 'a', 1.0)];"
        "f.add(r); f = pickle.loads(pickle.dumps(f)); s = e.partial(after=f); s.add(r); print(s.result()['mrr'])\n"
        "try: f.to_arrow()\nexcept fastir.FastirError as error: print(error)"
    )
    out = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True).stdout
    assert out.startswith("1.0\n") and "needs pyarrow" in out


def test_arrow_tables_are_read_back_or_refused():
    pyarrow = pytest.importorskip("pyarrow")
    evaluator = fastir.Evaluator(QRELS, "map")
    state = evaluator.partial()
    assert fastir.Partial.from_arrow(state.to_arrow())._state is None
    state.add({"q": {"a": 1.0, "x": 1.0}, "é": {"a": 1.0}})
    sent = state.to_arrow()
    assert sent.column("query_id").to_pylist() == ["q"] and sent.num_rows == 1
    total = evaluator.partial()
    total.merge(fastir.Partial.from_arrow(pyarrow.table(sent)))
    same(total.result(), state.result())
    for table_of in (
        pyarrow.table({"a": [1]}),
        sent.drop_columns(["place"]),
        sent.drop_columns(["ranks"]),
        pyarrow.table(fastir.evaluate(QRELS, {"q": {"a": 1.0}}, "map")),
    ):
        with pytest.raises(fastir.FormatError):
            fastir.Partial.from_arrow(table_of)


def test_files_are_parts(tmp_path):
    pyarrow = pytest.importorskip("pyarrow")
    from pyarrow import parquet

    qrels, run = gen.collection(5)
    rows, rng = rows_of(run), random.Random(5)
    paths = []
    for place in range(3):
        paths.append(str(tmp_path / f"{place}.parquet"))
        parquet.write_table(pyarrow.table(table(rows[place::3])), paths[-1])
    evaluator = fastir.Evaluator(qrels, MORE, validate="judged")
    same(in_two_passes(evaluator, paths, rng), evaluator.evaluate(table(rows)))
    total = fastir.Evaluator(str(EXAMPLES / "qrels.txt"), "map").partial()
    total.add(str(EXAMPLES / "bm25.run"))
    same(total.result(), fastir.evaluate(str(EXAMPLES / "qrels.txt"), str(EXAMPLES / "bm25.run"), "map"))


def test_parts_of_a_run_with_real_labels_have_the_bits_of_evaluate():
    qrels = {f"q{place}": {"a": 0.92, "b": place / 8, "c": 2, "d": 0.25} for place in range(6)}
    run = {f"q{place}": {"b": 4.0, "x": 3.0 - place, "a": 2.0, "d": 1.0} for place in range(6)}
    evaluator = fastir.Evaluator(qrels, ["ndcg@3", "map", "err(max_grade=query)"], rel_level=0.5)
    parts = [evaluator.partial() for _ in range(2)]
    for place, (query_id, ranking) in enumerate(run.items()):
        parts[place % 2].add({query_id: ranking})
    parts[0].merge(parts[1])
    found, wanted = parts[0].result(), evaluator.evaluate(run)
    assert found.values.tobytes() == wanted.values.tobytes() and found.report.fractions == wanted.report.fractions > 12


def depth(judged):
    return judged.num_ret


@pytest.mark.parametrize("strategy", [GROUPED, TWO_PASS])
def test_a_metric_of_the_callers_own_is_called_where_the_parts_come_together(strategy):
    own = fastir.custom_metric("depth", depth, higher_is_better=False)
    judged = fastir.custom_metric("n_judged", lambda judged: np.diff(judged.offsets).astype(float))
    qrels = {"q1": {"a": 1, "c": 2, "x": 0}, "q2": {"b": 1}, "q3": {"a": 1}}
    parts = [[("q1", "c", 3.0), ("q1", "x", 2.0)], [("q2", "b", 1.0)]]
    evaluator = fastir.Evaluator(qrels, ["mrr", own, judged], queries="qrels", validate="judged")
    after = None
    for _ in range(1 + (strategy == TWO_PASS)):
        total = evaluator.partial(strategy=strategy, after=after)
        for part in parts:
            total.merge(pickle.loads(pickle.dumps(evaluator.partial(part, strategy=strategy, after=after))))
        after = total
    results, whole = total.result(), evaluator.evaluate([row for part in parts for row in part])
    assert results == whole
    assert results.per_query("depth") == {"q1": 2.0, "q2": 1.0, "q3": 0.0}
    assert results.per_query("n_judged") == {"q1": 2.0, "q2": 1.0, "q3": 0.0}  # "x" has a label of 0
    assert results.provenance.metrics == whole.provenance.metrics


def test_the_place_of_a_repair_does_not_depend_on_the_order_of_merges():
    parts = [{query: {"a": 2**60, "b": 2**60 + 1}} for query in "qpr"]
    evaluator = fastir.Evaluator({query: {"b": 1} for query in "pqr"}, "mrr")
    found = set()
    for order in itertools.permutations(parts):
        states = [evaluator.partial(strategy=GROUPED) for _ in order]
        for state, part in zip(states, order, strict=True):
            state.add(part)
        states[0].merge(states[1])
        states[0].merge(states[2])
        found.add(str(states[0].result().report.repairs))
    kind = "rankings in which different integers are one float64"
    assert found == {str({kind: (3, "query p, documents 'a' and 'b'")})}


def test_a_query_whose_rows_are_all_excluded_is_not_missing():
    rows = [("q", "a", 1.0), ("p", "b", 1.0), ("q", "a2", 2.0)]
    evaluator = fastir.Evaluator(
        {"q": {"a": 1}, "p": {"b": 1}, "r": {"c": 1}}, "mrr", validate="judged", exclude={"q": ["a", "a2"]}
    )
    after = None
    for _ in range(2):
        total = evaluator.partial(strategy=TWO_PASS, after=after)
        for row in rows:
            state = evaluator.partial(strategy=TWO_PASS, after=after)
            state.add(table([row]))
            total.merge(pickle.loads(pickle.dumps(state)))
        after = pickle.loads(pickle.dumps(total))
    same(total.result(), evaluator.evaluate(table(rows)))


def test_excluded_documents_of_parts_are_counted_once():
    run = {"q": {"a": 3.0, "b": 2.0}, "p": {"a": 3.0, "b": 2.0}}
    evaluator = fastir.Evaluator({"q": {"b": 1}, "p": {"b": 1}}, "mrr", exclude={"q": ["a"], "p": ["a", "c"]})
    total = evaluator.partial(strategy=GROUPED)
    for query, docs in run.items():
        total.add({query: docs})
    same(total.result(), evaluator.evaluate(run))
    assert total.result().report.repairs == {"excluded documents": (2, "query q")}


@pytest.mark.parametrize("duplicates", ["first", "last", "max"])
def test_two_passes_do_not_remove_duplicates(duplicates):
    evaluator = fastir.Evaluator({"q": {"a": 1}}, "mrr", validate="judged", duplicates=duplicates)
    with pytest.raises(ValueError, match=rf"two passes cannot remove duplicates \(duplicates='{duplicates}'\)"):
        evaluator.partial(strategy=TWO_PASS)


def test_metrics_of_weighted_documents_are_refused_and_the_weights_not_denied():
    evaluator = fastir.Evaluator({"q": {"a": 1}}, ["psp@1", "weighted_mrr"], doc_weights={"a": 2.0})
    with pytest.raises(fastir.UnknownMetricError, match="'psp@1': parts are not put together for metrics of weighted"):
        evaluator.partial({"q": {"a": 1.0}})


def test_ranks_with_gaps_in_a_part_are_ranks(recwarn):
    """In two passes a part can have some rows of a query; the whole run has ranks without gaps."""
    qrels = {"q": {f"d{rank}": rank % 2 for rank in range(1, 9)}}
    rows = {"query_id": ["q"] * 8, "doc_id": [f"d{rank}" for rank in range(1, 9)], "rank": list(range(1, 9))}
    evaluator = fastir.Evaluator(qrels, ["map", "ndcg"], validate="judged")
    parts = [{name: column[first::3][::-1] for name, column in rows.items()} for first in range(3)]
    first = evaluator.partial(strategy=TWO_PASS)
    for part in parts:
        first.add(part)
    second = evaluator.partial(strategy=TWO_PASS, after=first)
    for part in parts:
        second.add(part)
    result = second.result()
    assert not recwarn.list
    assert result == fastir.evaluate(qrels, rows, ["map", "ndcg"])
