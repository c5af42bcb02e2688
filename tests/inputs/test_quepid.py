"""Quepid's CSV files: ratings and snapshots."""

import pytest

import fastir
from fastir import FormatError, Qrels, Run


def rating(doc_id, label, index="shop"):
    return {"_index": index, "_id": doc_id, "rating": label}


BASIC = 'query,docid,rating\n"star, wars",11,3\n"star, wars",1895,0\nunrated\nalien,348,1\nalien,679,\n'
SNAPSHOT = (
    "Snapshot Name,Snapshot Time,Case ID,Query Text,Doc ID,Doc Position,Title\n"
    'first,today,7,"star, wars",1895,1,"Star\nWars"\n'
    'first,today,7,"star, wars",11,2,x\n'
    "first,today,7,alien,,,\n"
)


def test_quepid_has_ratings_and_snapshots(write):
    ratings, snapshot = write("ratings.csv", BASIC), write("snapshot.csv", SNAPSHOT)
    qrels, run = Qrels.from_file(ratings, "quepid"), Run.from_file(snapshot, "quepid")
    assert {query: dict(qrels[query]) for query in qrels} == {"star, wars": {"11": 3, "1895": 0}, "alien": {"348": 1}}
    assert {query: dict(run[query]) for query in run} == {"star, wars": {"1895": -1.0, "11": -2.0}, "alien": {}}
    assert fastir.evaluate(qrels, run, "mrr")["mrr"] == 0.25


@pytest.mark.parametrize("read, text, message", [
    (Run, BASIC, "file.csv:1: the file has no column 'doc position'; its columns are query, docid, rating"),
    (Qrels, BASIC.replace("1895,0", "1895,good"), r"file.csv:3: label 'good' is not a number \(query star, wars"),
    (Qrels, BASIC.replace("1895,0", "11,0"), "file.csv:3"),
    (Run, SNAPSHOT + "second,today,7,alien,5,1,x\n", "file.csv:6: the file holds several snapshots, such as 'first'"),
    (Run, SNAPSHOT.replace("11,2", "11,-2"), "file.csv:4: position '-2' is not a position"),
    (Qrels, "query,docid,rating\n", "the qrels are empty"),
    (Qrels, "", "the qrels file is empty"),
    (Qrels, 'query,docid,rating\n"a"b,1,1\n', "file.csv:2: malformed CSV"),
])  # fmt: skip
def test_a_wrong_quepid_file_is_named(write, read, text, message):
    with pytest.raises(FormatError, match=message):
        read.from_file(write("file.csv", text), "quepid")


@pytest.mark.parametrize("name", ["ratings.csv", "ratings.txt"])
def test_quepids_files_are_recognised_by_their_header(write, name):
    path = write(name, "\ufeff" + BASIC.replace("query,docid,rating", "Query,docid,Rating"))
    assert Qrels.from_file(path).to_dict() == {"star, wars": {"11": 3, "1895": 0}, "alien": {"348": 1}}
    assert Qrels.from_file(path, threshold=2).to_dict() == {"star, wars": {"11": 1, "1895": 0}, "alien": {"348": 0}}
    snapshot = write("snapshot.csv", SNAPSHOT)
    assert fastir.evaluate(path, snapshot, "mrr")["mrr"] == 0.25
    columns = {"query_id": "query", "doc_id": "docid", "label": "rating"}
    assert fastir.evaluate(path, snapshot, "mrr", qrels_columns=columns)["mrr"] == 0.25
    with pytest.raises(ValueError, match="columns: unknown role 'text'"):
        Qrels.from_file(path, columns={"text": "query"})


BOOK = 'query,docid,Anna,Ben Miller\n"star, wars",11,3,1\n"star, wars",1895,,0\nalien,348,2,2\nheat,1,,\n'


def test_a_book_has_a_column_for_each_rater(write):
    path = write("book.csv", BOOK)
    means = {"star, wars": {"11": 2, "1895": 0}, "alien": {"348": 2}}
    qrels = Qrels.from_file(path, "quepid", duplicates="mean")
    assert qrels.to_dict() == means and [count for count, _ in qrels.columns.repairs.values()] == [2]
    of_ben = {"star, wars": {"11": 1, "1895": 0}, "alien": {"348": 2}}
    assert Qrels.from_file(path, "quepid", columns={"label": "Ben Miller"}).to_dict() == of_ben
    with pytest.raises(fastir.DuplicateError, match=r"book.csv:2: duplicate document '11' in .* 'max' or 'mean' would"):
        Qrels.from_file(path, "quepid")
    with pytest.raises(FormatError, match=r"label 'x' is not a number \(query alien, document 348, column Anna\)"):
        Qrels.from_file(write("bad.csv", BOOK.replace("348,2", "348,x")), "quepid")
    with pytest.raises(FormatError, match="the file has no column 'eve'; its columns are query, docid, Anna"):
        Qrels.from_file(path, "quepid", columns={"label": "Eve"})
    pytest.importorskip("pyarrow")
    with pytest.raises(FormatError, match=r"a book of Quepid's, .* which format='quepid' reads"):
        Qrels.from_file(path)
