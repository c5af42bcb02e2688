"""Qrels with groups, subtopics or groups of judges: every way to bring them, and every metric of them."""

import math
import pickle
import statistics

import gen
import pytest
from common import UNEVEN

import fastir

pytestmark = UNEVEN
GROUPED = [card for card in fastir.metrics() if card.groups]
PAIRS = (
    ("map_avgjg", "map"),
    ("precision_avgjg@3", "precision@3"),
    ("r_precision_mult_avgjg@0.4", "r_precision_mult@0.4"),
)
NAMES = [
    *(card.spelled() for card in GROUPED),
    *(card.spelled(f"@{k}") for card in GROUPED if card.cutoff for k in (1, 2, 5, 40)),
]

# docs/metrics.md: subtopics 1 to 3, a serves two of them and e, judged not relevant, none.
QRELS = {"q": {"1": {"a": 1, "b": 1}, "2": {"a": 1, "c": 1}, "3": {"d": 1, "e": 0}}}
RUN = {"q": {"b": 5.0, "a": 4.0, "z": 3.0, "c": 2.0, "d": 1.0}}


def write_qrels(path, qrels):
    rows = [(q, g, d, label) for q, groups in qrels.items() for g, docs in groups.items() for d, label in docs.items()]
    path.write_text("".join(f"{q}\t{g} {d} {label}\n" for q, g, d, label in rows), "utf-8")
    return path


@pytest.mark.parametrize(
    "options", [{}, {"rel_level": 2}, {"judged_only": True}, {"max_depth": 3}, {"ties": "input"}], ids=str
)
def test_groups_of_judges_are_averaged(options):
    qrels, run = gen.grouped_collection(10)
    results = fastir.evaluate(qrels, run, [grouped for grouped, _ in PAIRS], queries="qrels", **options)
    for grouped, plain in PAIRS:
        for query, groups in qrels.items():
            alone = [
                fastir.evaluate({query: docs}, {query: run.get(query, {}), "x": {}}, plain, queries="qrels", **options)[
                    plain
                ]
                for docs in groups.values()
            ]
            assert results.per_query(grouped)[query] == pytest.approx(statistics.fmean(alone), rel=1e-15)


def test_one_group_is_plain_qrels():
    qrels, run = gen.grouped_collection(20)
    qrels = {query: next(iter(groups.values())) for query, groups in qrels.items()}
    plain = fastir.evaluate(qrels, run, NAMES, queries="qrels")
    grouped = fastir.evaluate({query: {"0": docs} for query, docs in qrels.items()}, run, NAMES, queries="qrels")
    assert plain.status == grouped.status
    for name in NAMES:
        assert dict(plain.per_query(name)) == pytest.approx(grouped.per_query(name), rel=1e-14, abs=1e-16), name


def test_queries_without_relevant_documents():
    qrels = {"q": {"1": {"a": 1}, "2": {"a": 0}}, "none": {"1": {"a": 0}}}
    run = {query: {"a": 1.0} for query in qrels}
    names = ["alpha_ndcg@5", "map_ia", "map_avgjg"]
    zero = fastir.evaluate(qrels, run, names)
    assert zero.values.tolist() == [[1.0, 1.0, 0.5], [0.0, 0.0, 0.0]]
    assert zero.status == {"q": "evaluated", "none": "no_relevant"}
    skip = fastir.evaluate(qrels, run, names, empty="skip")
    assert skip.values[0].tolist() == [1.0, 1.0, 1.0]
    assert all(map(math.isnan, skip.values[1]))
    assert dict(skip) == dict.fromkeys(names, 1.0)


def test_every_input_gives_the_same_bits(tmp_path):
    qrels, run = gen.grouped_collection(40)
    run = {query: docs for query, docs in run.items() if docs}
    expected = fastir.evaluate(qrels, run, NAMES, queries="qrels")
    path = write_qrels(tmp_path / "qrels", qrels)
    run_path = gen.write_run(tmp_path / "run", run)
    for form in ("subtopic", "qrels_jg"):
        from_file = fastir.Qrels.from_file(path, format=form)
        assert from_file.to_dict() == qrels and len(from_file) == len(qrels)
        for given in (run, run_path, fastir.Run.from_dict(run)):
            for q in (from_file, fastir.Qrels.from_dict(qrels), pickle.loads(pickle.dumps(from_file))):
                results = fastir.evaluate(q, given, NAMES, queries="qrels")
                assert results.query_ids == expected.query_ids
                assert results.values.tobytes() == expected.values.tobytes()
    evaluator = fastir.Evaluator(qrels, NAMES, queries="qrels")
    assert pickle.loads(pickle.dumps(evaluator)).evaluate(run) == evaluator.evaluate(run) == expected


def test_saved_qrels_are_read_back(tmp_path):
    qrels = fastir.Qrels.from_dict(gen.grouped_collection(50)[0])
    qrels.save(tmp_path / "qrels.gz")
    assert fastir.Qrels.from_file(tmp_path / "qrels.gz", format="subtopic") == qrels
    assert repr(qrels).startswith("<Qrels: 12 queries, ")


def test_many_runs():
    qrels, run = gen.grouped_collection(70)
    runs = {"one": run, "two": fastir.Run.from_dict(run)}
    many = fastir.evaluate_many(qrels, runs, ["map_ia", "alpha_ndcg@5"], queries="qrels")
    alone = fastir.evaluate(qrels, run, ["map_ia", "alpha_ndcg@5"], queries="qrels")
    assert many == {"one": alone, "two": alone}


def test_which_queries_count():
    qrels, run = gen.grouped_collection(60)
    with pytest.warns(fastir.FastirWarning, match="2 queries of the qrels are missing from the run"):
        assert len(fastir.evaluate(qrels, run, "map_ia").query_ids) == 12
    both = fastir.evaluate(qrels, run, "map_ia", queries="intersection")
    assert both.query_ids == list(run) and both.report.only_in_qrels == 2
    with pytest.raises(fastir.NoOverlapError, match="'q0' is missing from the run"):
        fastir.evaluate(qrels, run, "map_ia", queries="strict")


def test_metrics_of_plain_qrels_are_refused():
    with pytest.raises(
        fastir.UnknownMetricError, match="'ndcg@10' is not defined on qrels with groups; those that are: num_q"
    ):
        fastir.evaluate(QRELS, RUN, ["map_ia", "ndcg@10"])


def test_a_document_twice_in_a_group_is_an_error_and_in_two_groups_is_not(tmp_path):
    path = tmp_path / "qrels"
    path.write_text("q 1 a 1\nq 2 a 0\nq  1 b 1\n")
    assert fastir.Qrels.from_file(path, format="subtopic").to_dict() == {"q": {"1": {"a": 1, "b": 1}, "2": {"a": 0}}}
    path.write_text("q 1 a 1\nq 2 a 0\nq\t1 a 1\n")
    with pytest.raises(fastir.DuplicateError, match="first on line 1"):
        fastir.Qrels.from_file(path, format="subtopic")


@pytest.mark.parametrize("line", ["q", "q 1", "q 1 a", "q 1 a 1 5", "q 1 a x"])
def test_lines_without_four_fields(tmp_path, line):
    path = tmp_path / "qrels"
    path.write_text(f"q 1 a 1\n{line}\n")
    with pytest.raises(fastir.FormatError, match="qrels:2"):
        fastir.Qrels.from_file(path, format="subtopic")


def test_an_unknown_format(tmp_path):
    with pytest.raises(ValueError, match=r"unknown format 'triples'; expected one of .*qrels_prefs, strata, prels"):
        fastir.Qrels.from_file(tmp_path / "qrels", format="triples")
    with pytest.raises(ValueError, match="format 'subtopic' is for qrels"):
        fastir.Run.from_file(tmp_path / "run", format="subtopic")


@pytest.mark.parametrize(
    "qrels", [{"q": {"1": {"a": 1}, "2": 1}}, {"q": {"1": {"a": "x"}}}, {"q": {"1": {"a": 1}}, "r": 5}]
)
def test_groups_that_are_none(qrels):
    with pytest.raises(TypeError, match="qrels"):
        fastir.evaluate(qrels, RUN, "map_ia")


@pytest.mark.parametrize(
    ("metric", "options"), [("alpha_ndcg@2", {"judged_only": True}), ("err_ia(judged_only=true)@2", {})]
)
def test_judged_only_means_nothing_where_a_document_is_judged_for_one_subtopic_alone(metric, options):
    qrels, run = {"q": {"s1": {"a": 1}, "s2": {"b": 1}}}, {"q": {"a": 2.0, "b": 1.0}}
    with pytest.raises(ValueError, match="cannot drop documents"):
        fastir.evaluate(qrels, run, metric, **options)
    assert fastir.evaluate(qrels, run, "precision_avgjg", judged_only=True)["precision_avgjg"] == 1.0
