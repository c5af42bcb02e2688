"""The driver for the shape of a run: of every shape the values, the status and the report are those of the dict."""
# Also of: in_memory, task.

import collections
import pickle

import gen
import pytest

import fastir

QRELS = {"q1": {"a": 2, "b": 0, "c": 1}, "q2": {"d": 1}, "q3": {"e": 1}, "q4": {"f": 0}}
RUN = {"q2": {"x": 3.0, "d": 1.0}, "q1": {"c": 3.0, "x": 2.0, "a": 1.0}, "q4": {"f": 1.0}, "other": {"a": 1.0}}
ROWS = [(query, doc, score) for query, docs in RUN.items() for doc, score in docs.items()]
METRICS = ["ndcg@10", "map", "num_ret", "bpref"]


class Mapping(collections.UserDict):
    """A mapping that is no dict."""


SHAPES = {
    "mapping": lambda folder: Mapping({query: Mapping(docs) for query, docs in RUN.items()}),
    "lists": lambda folder: {query: list(docs) for query, docs in RUN.items()},
    "Run": lambda folder: fastir.Run.from_dict(RUN),
    "table": lambda folder: dict(zip(("query_id", "doc_id", "score"), map(list, zip(*ROWS, strict=True)), strict=True)),
    "scattered table": lambda folder: dict(
        zip(
            ("query_id", "doc_id", "score"),
            map(list, zip(*sorted(ROWS, key=lambda row: row[1]), strict=True)),
            strict=True,
        )
    ),
    "TREC file": lambda folder: gen.write_run(folder / "run.txt", RUN),
    "JSON file": lambda folder: saved(folder / "run.json"),
    "CSV file": lambda folder: lines(folder / "run.csv"),
}


def lines(path):
    path.write_text("".join(f"{query},{d},{score}\n" for query, d, score in [("query_id", "doc_id", "score"), *ROWS]))
    return path


def saved(path):
    fastir.Run.from_dict(RUN).save(path)
    return path


@pytest.mark.parametrize("queries", ["qrels", "intersection"])
@pytest.mark.parametrize("shape", SHAPES)
def test_every_shape_is_the_dict(shape, queries, tmp_path):
    evaluator = fastir.Evaluator(QRELS, METRICS, queries=queries)
    right, found = evaluator.evaluate(RUN), evaluator.evaluate(SHAPES[shape](tmp_path))
    assert found.query_ids == right.query_ids == [q for q in QRELS if queries == "qrels" or q in RUN]
    assert found.values.tobytes() == right.values.tobytes()
    assert found.status == right.status
    assert found.report.only_in_run == right.report.only_in_run == 1
    assert found.report.unjudged_share == right.report.unjudged_share == 2 / 6


@pytest.mark.parametrize("shape", SHAPES)
def test_no_query_in_common_is_an_error_for_every_shape(shape, tmp_path):
    with pytest.raises(fastir.NoOverlapError, match="no query in common: the qrels have 'z', the run has '"):
        fastir.evaluate({"z": {"a": 1}}, SHAPES[shape](tmp_path), METRICS)


@pytest.mark.filterwarnings("ignore::fastir.FastirWarning")
@pytest.mark.parametrize("shape", ["mapping", "Run", "scattered table", "TREC file", "JSON file"])
def test_duplicates_that_come_of_parents_are_merged_for_every_shape(shape, tmp_path):
    """A run that may need repairs is read as a whole."""
    evaluator = fastir.Evaluator(QRELS, METRICS, parents={"x": "d"})
    right, found = evaluator.evaluate(RUN), evaluator.evaluate(SHAPES[shape](tmp_path))
    assert found.values.tobytes() == right.values.tobytes()
    assert found.to_dict()["q2"]["num_ret"] == 1


MANY = {f"q{number}": {"a": 1, f"d{number}": number % 3} for number in range(300)}
FEW = {f"q{number}": {"x": 2.0, "a": 1.0} for number in (7, 250, 31)}


def test_the_values_of_queries_that_a_run_lacks_are_filled_in_when_they_are_read():
    late = fastir.Evaluator(MANY, METRICS, queries="qrels").evaluate(FEW)
    empty = {query: {} for query in MANY}
    whole = fastir.Evaluator(MANY, METRICS, queries="qrels").evaluate({**empty, **FEW})
    assert late.status["q8"] == "missing" and late.status["q7"] == "evaluated"
    assert late.values.tobytes() == whole.values.tobytes()
    assert not late.values.flags.writeable and late.values is late.values
    assert pickle.loads(pickle.dumps(late)).to_dict() == late.to_dict() == whole.to_dict()
    assert dict(late) == dict(whole)
    assert late.report.in_both == 3 and late.report.only_in_qrels == 297


def test_a_run_of_few_queries_warns_of_the_first_one_that_it_lacks():
    run = {f"q{number}": {"a": 1.0} for number in (1, 0, 3)}
    with pytest.warns(fastir.FastirWarning, match="297 queries .*such as 'q2'"):
        fastir.Evaluator(MANY, METRICS).evaluate(run)


MANY = {f"q{i}": {"a": i % 3, "b": (i + 1) % 2, **({"c": 1} if i % 5 else {})} for i in range(300)}
SUMMED = ["map", "ndcg@2", "P@1", "num_rel", "num_ret", "num_q", "gm_map", "recall(empty=skip)@1", "map(empty=one)",
          "recall(empty=nan)", "err@2", "bpref"]  # fmt: skip


@pytest.mark.parametrize("n", [1, 2, 63, 64, 65, 236])
@pytest.mark.parametrize(
    "options", [{}, {"queries": "intersection"}, {"weights": dict.fromkeys(MANY, 0.3)}, {"rel_level": 2}]
)
def test_means_among_missing_queries_are_those_of_all_values(n, options):
    run = {query: {"x": 2.0, "a": 1.0 + i % 2, "b": 1.5} for i, query in enumerate(list(MANY)[7 : 7 + n])}
    evaluator = fastir.Evaluator(MANY, SUMMED, **{"queries": "qrels", **options})
    for _ in range(2):  # what the evaluator keeps is not changed by a reading
        late, whole = evaluator.evaluate(run), evaluator.evaluate(run)
        assert whole.values.shape == (n if options.get("queries") else 300, len(SUMMED))
        assert [late[name].hex() for name in SUMMED] == [whole[name].hex() for name in SUMMED]
        assert late.values.tobytes() == whole.values.tobytes()
