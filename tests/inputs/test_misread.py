"""Columns that mean something else are told: times as labels, scores as ranks, ranks against scores, in any shape."""

import json
import warnings

import numpy as np
import pytest
from common import EXAMPLES

import fastir
from fastir.inputs.misread import SAMPLE_BYTES, SAMPLE_QUERIES, SAMPLE_ROWS, misread_labels, misread_ranks

GOOD_RUN = "1 Q0 25 1 3 x\n1 Q0 5 2 2 x\n2 Q0 3 1 2 x\n3 Q0 207 1 3 x\n"


def heard(call):
    """What a call warns of."""
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        call()
    return [str(one.message) for one in caught if issubclass(one.category, fastir.FastirWarning)]


def kinds(*arguments, **options):
    """The kinds of faults that check finds."""
    return [fault.kind for fault in fastir.check(*arguments, **options).of("fault")]


# ---- judgments -------------------------------------------------------------------------------------------------------
TIMES = "the labels look like times or ids"
RATINGS = {  # what is read as qrels -> what the warning says
    "the public case": ("1\t25\t5\t978824351\n2\t133\t3\t978300174\n3\t207\t4\t978298504\n", TIMES),
    "blanks between": ("1 25 5 978824351\n2 133 3 978300174\n3 207 4 978298504\n", TIMES),
    "names for users and items": ("u1 i25 5.0 978824351\nu2 i9 3.5 978300174\nu3 i7 4.0 978298504\n", TIMES),
    "one line": ("1 25 5 978824351\n", "the third holds ratings"),
    "half stars": ("1 25 4.5 978824351\n2 25 0.5 978824352\n", TIMES),
    "a session of equal times": (
        "".join(f"{u} {i * 7} {1 + i} {9e8 + 50 * u + i // 3:.0f}\n" for u in range(9) for i in range(5)),
        TIMES,
    ),
    "small times": ("1 25 5 3\n1 133 3 4\n1 207 4 9\n2 12 4 1\n", "the third holds ratings"),
    "CRLF": ("1\t25\t5\t978824351\r\n2\t133\t3\t978300174\r\n3\t207\t4\t978298504\r\n", TIMES),
    "ids as labels": ("q1 0 d1 9412234\nq1 0 d2 9412235\nq2 0 d1 7412230\n", TIMES),
    "lengths as labels": ("q1 0 d1 1234\nq1 0 d2 987\nq2 0 d1 2322\n", "the labels look like ids or lengths"),
    "a run with ranks": ("q1 d7 1 9.5\nq1 d9 2 8\nq2 d7 1 3.5\nq2 d77 2 3\n", "are the two files swapped?"),
    "more than is looked at": (
        "".join(f"{u} {i * 7} {1 + i} {9e8 + 7 * i + u:.0f}\n" for u in range(999) for i in range(5)),
        TIMES,
    ),
}


@pytest.mark.parametrize(("text", "said"), RATINGS.values(), ids=RATINGS)
def test_ratings_and_the_like_are_no_judgments(text, said, tmp_path):
    path, run = tmp_path / "test.rating", tmp_path / "run"
    path.write_bytes(text.encode())
    query, _, doc, *_ = text.split()
    run.write_text(f"{query} Q0 {doc} 1 2 x\n")
    assert [said in message for message in heard(lambda: fastir.Qrels.from_file(path))] == [True]
    assert sum(said in message for message in heard(lambda: fastir.evaluate(path, run, "mrr"))) == 1
    assert "other columns" in kinds(path, run)


def test_times_in_files_of_other_formats(tmp_path):
    path = tmp_path / "qrels"
    path.write_text("query-id\tcorpus-id\tscore\n1\t25\t978824351\n2\t133\t978300174\n")
    assert TIMES in heard(lambda: fastir.Qrels.from_file(path))[0]
    assert "other columns" in kinds(path, {})
    path.write_text("1 1 25 978824351\n1 2 25 978300174\n")
    assert TIMES in heard(lambda: fastir.Qrels.from_file(path, "subtopic"))[0]


@pytest.mark.parametrize("text", ["1 25 5 978824351\n1 26 5 978824352\n", "1 25 5 3\n1 133 3 4\n1 207 3 9\n2 12 4 1\n"])
def test_two_equal_ratings_are_no_duplicate_document_alone(text, tmp_path):
    path = tmp_path / "test.rating"
    path.write_text(text)
    with pytest.raises(fastir.DuplicateError, match=r"duplicate document.*read ratings as a table") as caught:
        fastir.Qrels.from_file(path)
    assert "would repair it" not in str(caught.value) and caught.value.line
    assert {"duplicate", "other columns"} <= set(kinds(path, {}))


def test_what_the_warning_says_reads_the_ratings(tmp_path):
    pandas = pytest.importorskip("pandas")
    path, run = tmp_path / "test.rating", tmp_path / "run"
    path.write_text(RATINGS["the public case"][0])
    run.write_text(GOOD_RUN + "2 Q0 133 2 1 x\n3 Q0 4 2 1 x\n")
    (message,) = heard(lambda: fastir.Qrels.from_file(path))
    call = message[message.index("fastir.Qrels.from_table") :]
    qrels = eval(call, {"fastir": fastir, "pandas": pandas, "path": path})
    assert qrels["2"] if "2" in qrels else qrels[2] == {133: 3}
    results = fastir.evaluate(qrels, run, ["hit_rate@1", "mrr"])
    assert [results["hit_rate@1"], results["mrr"]] == pytest.approx([2 / 3, 5 / 6])


@pytest.mark.parametrize("form", ["pandas", "polars", "arrow", "dict", "csv", "jsonl", "parquet", "tuples"])
def test_times_in_the_label_column_of_a_table(form, tmp_path):
    rows = {"user_id": ["1", "2", "3"], "item_id": ["25", "133", "207"], "rating": [5, 3, 4]}
    rows["timestamp"] = [978824351, 978300174, 978298504]
    columns = {"label": "timestamp"}
    if form == "tuples":
        data, columns = list(zip(rows["user_id"], rows["item_id"], rows["timestamp"], strict=True)), None
    else:
        data = shaped(rows, form, tmp_path)
    assert any(
        TIMES in message
        for message in heard(lambda: fastir.evaluate(data, {"1": {"25": 1}}, "mrr", qrels_columns=columns))
    )
    assert "other columns" in kinds(data, {"1": {"25": 1}}, qrels_columns=columns)
    if form != "tuples":
        assert not any("look" in message for message in heard(lambda: fastir.evaluate(data, {"1": {"25": 1}}, "mrr")))
        assert "other columns" not in kinds(data, {"1": {"25": 1}})


@pytest.mark.parametrize("numbers", [(978824351, 978300174, 978298504), (4711, 5230, 6009)])
def test_times_and_lengths_in_json(numbers, tmp_path):
    path = tmp_path / "qrels.json"
    path.write_text(json.dumps({str(query): {"d": number} for query, number in enumerate(numbers)}))
    (message,) = heard(lambda: fastir.evaluate(path, {"0": {"d": 1}, "1": {"d": 1}, "2": {"d": 1}}, "mrr"))
    assert "qrels.json: the labels look like" in message
    assert "other columns" in kinds(path, {"0": {"d": 1}})


def test_a_duplicate_in_a_table_of_times_says_both():
    rows = {"query_id": ["1", "1"], "doc_id": ["5", "5"], "label": np.array([978824351, 978824352])}
    with pytest.raises(fastir.DuplicateError, match=f"duplicate document '5'.*{TIMES}"):
        fastir.Qrels.from_table(rows)


JUDGMENTS = {
    "graded": "q1 0 1 3\nq1 0 2 0\nq2 0 5 2\n",
    "documents of few small numbers": "1 0 5 1\n2 0 1 1\n3 0 4 1\n",
    "subtopics": "".join(f"{q} {s} {d} 1\n" for q in range(3) for s, d in ((1, 5), (2, 3), (3, 4))),
    "rounds": "q1 0.5 d1 1\nq1 1 d2 0\nq1 4.5 d3 2\n",
    "judges by name": "q1 ann d1 1\nq1 bob d2 0\nq1 cy d3 2\n",
    "one large label": "q1 0 d1 2147483647\n",
    "a large gain": "q1 0 d1 1000000\nq1 0 d2 0\nq1 0 d3 5000000\n",
    "gains to 100": "".join(f"q1 0 d{i} {i}\n" for i in range(101)),
    "gains of one size": "".join(f"q1 0 d{i} {5000000 * (1 + i % 2)}\n" for i in range(50)),
    "documents that are ranks": "q1 1 1 1\nq1 2 2 0\nq1 3 3 2\nq2 4 1 0\n",
    "real values": "".join(f"q1 0 d{i} {500 + i / 7}\n" for i in range(20)),
}


@pytest.mark.parametrize("text", JUDGMENTS.values(), ids=JUDGMENTS)
def test_judgments_are_not_doubted(text, tmp_path):
    path = tmp_path / "qrels"
    path.write_text(text)
    assert heard(lambda: fastir.Qrels.from_file(path)) == []
    assert "other columns" not in kinds(path, {})


def test_repeats_under_another_iteration_are_subtopics_or_judges(tmp_path):
    path = tmp_path / "qrels"
    path.write_text("".join(f"q1 {s} d{d} 1\n" for s in (1, 2) for d in range(2000)))
    assert path.stat().st_size > SAMPLE_BYTES
    with pytest.raises(fastir.DuplicateError, match=r"subtopic, pass format='subtopic'.*'qrels_jg'") as caught:
        fastir.Qrels.from_file(path)
    assert caught.value.line == 2001
    assert fastir.Qrels.from_file(path, "subtopic").query_ids == ["q1"]
    path.write_text("q1 0 d1 1\nq1 0 d1 2\n")
    with pytest.raises(fastir.DuplicateError, match="first on line 1; duplicates='first'"):
        fastir.Qrels.from_file(path)


# ---- scores as ranks -------------------------------------------------------------------------------------------------
SCORES = {
    "the public case": "1\t25\t30\n1\t5\t20\n2\t7\t12\n2\t1\t11\n",
    "descending to 1": "".join(f"{q} d{i} {5 - i}\n" for q in range(3) for i in range(5)),
    "in any order": "1 a 30\n1 b 45\n1 c 12\n2 a 8\n2 b 99\n2 c 40\n",
    "ties": "1 a 30\n1 b 30\n1 c 12\n2 a 9\n2 b 9\n2 c 9\n",
}
RANKS = {
    "from 1": "1 a 1\n1 b 2\n1 c 3\n2 a 1\n2 b 2\n", "from 0": "1 a 0\n1 b 1\n2 a 0\n",
    "in any order": "1 a 2\n1 b 1\n1 c 3\n2 a 3\n2 b 1\n2 c 2\n", "a short one turned round": "1 a 2\n1 b 1\n",
    "cut at the top": "1 a 11\n1 b 12\n1 c 13\n2 a 11\n2 b 12\n", "filtered": "1 a 3\n1 b 7\n1 c 40\n2 a 2\n2 b 9\n",
    "one document each": "1 a 30\n2 b 12\n", "one query is odd": "1 a 30\n1 b 20\n2 a 1\n2 b 2\n3 a 1\n3 b 2\n",
    "with scores": "1 a 1 9.5\n1 b 2 7.5\n",
}  # fmt: skip


@pytest.mark.parametrize("text", SCORES.values(), ids=SCORES)
def test_ranks_that_look_like_scores(text, tmp_path):
    path = tmp_path / "run.tsv"
    path.write_text(text)
    run = fastir.Run.from_file(path, "msmarco")
    qrels = {q: dict.fromkeys(run[q], 1) for q in run}
    (message,) = heard(lambda: fastir.evaluate(qrels, run, "mrr"))
    assert "look like scores" in message and "fastir puts the smallest first" in message
    assert "scores as ranks" in kinds(qrels, path, run_format="msmarco")
    rows = [line.split() for line in text.splitlines()]
    table = {"query_id": [r[0] for r in rows], "doc_id": [r[1] for r in rows], "rank": [int(r[2]) for r in rows]}
    for duplicates in (None, "first"):
        said = heard(lambda rule=duplicates: fastir.evaluate(qrels, table, "mrr", duplicates=rule))
        assert "look like scores" in said[0]


@pytest.mark.parametrize("text", RANKS.values(), ids=RANKS)
def test_ranks_are_not_doubted(text, tmp_path):
    path = tmp_path / "run.tsv"
    path.write_text(text)
    run = fastir.Run.from_file(path, "msmarco")
    qrels = {q: dict.fromkeys(run[q], 1) for q in run}
    assert heard(lambda: fastir.evaluate(qrels, run, "mrr")) == []
    assert kinds(qrels, path, run_format="msmarco") == []


# ---- ranks against scores --------------------------------------------------------------------------------------------
def shaped(columns, form, folder):
    """Columns as a table of a library, or as a file."""
    if form == "dict":
        return columns
    if form == "jsonl":
        pytest.importorskip("pyarrow")
        names, rows = list(columns), zip(*columns.values(), strict=True)
        text = "".join(json.dumps(dict(zip(names, row, strict=True))) + "\n" for row in rows)
        (folder / "t.jsonl").write_text(text)
        return folder / "t.jsonl"
    if form == "csv":
        pytest.importorskip("pyarrow")
        rows = [",".join(map(str, row)) for row in zip(*columns.values(), strict=True)]
        (folder / "t.csv").write_text("\n".join([",".join(columns), *rows]) + "\n")
        return folder / "t.csv"
    if form == "polars":
        return pytest.importorskip("polars").DataFrame(columns)
    if form == "pandas":
        return pytest.importorskip("pandas").DataFrame(columns)
    pyarrow = pytest.importorskip("pyarrow")
    table = pyarrow.table(columns)
    if form == "parquet":
        parquet = pytest.importorskip("pyarrow.parquet")
        parquet.write_table(table, folder / "t.parquet", row_group_size=100)
        return folder / "t.parquet"
    if form == "reader":
        return table.to_reader()
    return pytest.importorskip("duckdb").from_arrow(table) if form == "duckdb" else table


SHAPES = ["pandas", "polars", "arrow", "reader", "duckdb", "dict", "csv", "jsonl", "parquet"]


def ranked(n_queries, n_wrong, depth=3):
    """Rows of a run with ranks; the scores of the first queries are distances."""
    q, rank = np.repeat(np.arange(n_queries), depth), np.tile(np.arange(1, depth + 1), n_queries)
    score = np.where(q < n_wrong, rank, -rank) / 4
    return {
        "qid": [f"q{one}" for one in q],
        "docno": [f"d{one}" for one in rank],
        "rank": rank.tolist(),
        "score": score.tolist(),
    }


@pytest.mark.parametrize("form", SHAPES)
@pytest.mark.parametrize(
    ("n_queries", "n_wrong", "depth"), [(1, 1, 3), (4, 2, 3), (4, 3, 3), (9, 0, 3), (300, 300, 20)]
)
def test_tables_warn_of_ranks_against_scores_as_files_do(form, n_queries, n_wrong, depth, tmp_path):
    columns = ranked(n_queries, n_wrong, depth)
    path = tmp_path / "run"
    lines = zip(*columns.values(), strict=True)
    path.write_text("".join(f"{q} Q0 {doc} {rank} {score} x\n" for q, doc, rank, score in lines))
    qrels = {f"q{q}": {"d1": 1} for q in range(n_queries)}
    of_file = heard(lambda: fastir.evaluate(qrels, path, "mrr"))
    assert len(of_file) == (2 * n_wrong > n_queries)
    table = shaped(columns, form, tmp_path)
    held = table if form == "reader" else fastir.Run.from_table(table) if hasattr(table, "columns") else table
    messages = [
        heard(lambda run=run: fastir.evaluate(qrels, run, "mrr")) for run in (held, shaped(columns, form, tmp_path))
    ]
    whole = n_queries <= SAMPLE_QUERIES
    for said in messages:
        assert len(said) == len(of_file)
        assert all("contradict" in one and "distances, or ranks as scores?" in one for one in said)
        assert not whole or [one.split(",")[0] for one in said] == [one.split(",")[0] for one in of_file]
    found = kinds(qrels, {"run": shaped(columns, form, tmp_path)})
    assert found == ["ranks against scores"] * bool(n_wrong)


@pytest.mark.parametrize("form", SHAPES)
@pytest.mark.parametrize("ranks", [["a", "b", "c"], [None, None, None], [1, 1, 1], [None, 2, None]])
def test_ranks_that_are_no_numbers_say_nothing(form, ranks, tmp_path):
    columns = {**ranked(1, 1), "rank": ranks}
    qrels = {"q0": {"d1": 1}}
    assert heard(lambda: fastir.evaluate(qrels, shaped(columns, form, tmp_path), "mrr")) == []


def test_rows_in_any_order_and_other_names():
    columns = {name: np.array(column) for name, column in ranked(4, 4).items()}
    order = np.random.default_rng(3).permutation(12)
    shuffled = {name: column[order] for name, column in columns.items()}
    shuffled["place"], shuffled["tip"] = shuffled.pop("rank"), shuffled.pop("score")
    qrels = {f"q{q}": {"d1": 1} for q in range(4)}
    names = {"rank": "place", "score": "tip"}
    (message,) = heard(lambda: fastir.evaluate(qrels, shuffled, "mrr", columns=names))
    assert "the ranks of 4 queries contradict" in message
    assert heard(lambda: fastir.evaluate(qrels, shuffled, "mrr", columns={"score": "tip"})) == []


def test_several_runs_in_a_table_are_told_apart():
    pandas = pytest.importorskip("pandas")
    parts = [pandas.DataFrame(ranked(3, wrong)).assign(system=name) for name, wrong in (("a", 3), ("b", 0))]
    frame, qrels = pandas.concat(parts), {f"q{q}": {"d1": 1} for q in range(3)}
    for table in (frame, frame.sample(frac=1, random_state=1)):
        (message,) = heard(lambda table=table: fastir.evaluate_many(qrels, table, "mrr"))
        assert message.startswith("run 'a': the ranks of 3 queries contradict")


def test_no_more_than_a_sample_is_looked_at():
    assert misread_labels(np.full(0, 1.0)) is None
    n = 3 * SAMPLE_ROWS
    ranks = np.concatenate([np.arange(n, 0, -1.0) for _ in range(2)])
    assert misread_ranks(ranks, [0, n, 2 * n]) == (2, f"{n}, {n - 1}, {n - 2}")


def test_examples_are_not_doubted():
    for run in ("bm25.run", "dense.run"):
        assert heard(lambda run=run: fastir.evaluate(EXAMPLES / "qrels.txt", EXAMPLES / run, "map")) == []
