"""A line that a reader refuses is recognised by what it is, and the message says so; what it is not is not said."""

import pytest

import fastir
from fastir.engine.columns.other_formats import hint_for_columns, hint_for_line

LETOR, HEADER, RATINGS, STRATA, PRELS, PREFS, SUBTOPICS = (
    *("LETOR or SVMrank ('qid:')", "looks like a header", "user_id", "format='strata'", "format='prels'"),
    *("format='prefs'", "format='subtopic'"),
)
# (whether a run is expected, the file, what the error says, what it does not)
FILES = [
    (False, "# qid:1: rambo*1\n\n4\tqid:1\t # 7555\trambo\n", LETOR, STRATA),
    (False, "2 qid:10 1:0.03 2:0.05 3:1\n", LETOR, "swapped"),
    (False, "0 qid:10 1:0.03\n", LETOR, "BEIR"),
    (True, "query_id Q0 doc_id rank score tag\nq1 Q0 d1 1 0.9 x\n", HEADER, "is a blank"),
    (True, "qid\tQ0\tdocno\trank\tsim\trunid\n", HEADER, "is a blank"),
    (True, "query_id doc_id score\nq1 d1 0.5\n", HEADER, "msmarco"),
    (False, "qid iter docid rel\nq1 0 d1 1\n", HEADER, "LETOR"),
    (False, "topic\titeration\tdocument\trelevance\n", HEADER, "LETOR"),
    (False, "q1 0 d1 1 # sure\n", "a comment stands behind", "strata"),
    (False, "q1 0 d1 1 # quite sure\n", "a comment stands behind", "swapped"),
    (False, "q1 0 d1 1 sure\n", "a comment stands behind", "prefs"),
    (False, "q1 0 d1 1 not quite sure\n", "a comment stands behind", "swapped"),
    (False, "q1 0 d1 3 1\n", STRATA, HEADER),
    (False, "q1 d1 1 2 0.5\n", PRELS, STRATA),
    (False, "q1 d1 1 2 NA\n", PRELS, STRATA),
    (False, "q1 judge 1 d1 2\n", PREFS, STRATA),
    (False, "q1 0 my d1 1\n", "a blank in a document's id", STRATA),
    (False, "q1 0 d1 maybe 1\n", "a blank in a document's id", STRATA),
    (False, "q1 Q0 d1 1 2.5 x\n", "are the two files swapped?", STRATA),
    (True, "q1 0 d1 1\n", "are the two files swapped?", "msmarco"),
    (True, "q1 d1 1 7.5\n", "rank and score: pass format='msmarco'", "swapped"),
    (True, "1 25 5 978824351\n", "ratings (user item rating time), which are judgments and no run", "msmarco"),
    (True, "u1\tB0002\t4.5\t978824351\n", "which are judgments and no run", "msmarco"),
    (False, "1 1:0.4 2:0.5 3:0.1\n", "LIBSVM", LETOR),
    (True, "-1 1:.4 2:.5 3:.1 4:.2 5:.3\n", "LIBSVM", LETOR),
    (True, "q1 d1 1\n", "format='msmarco'", "swapped"),
    (True, "q1 d1 0.5\n", "of query, document and score needs", "msmarco"),
    (True, "q1 d1 -3\n", "of query, document and score needs", "msmarco"),
    (False, "q1 d1 1\n", "need their header and format='beir'", HEADER),
    (False, "<html>\n<p>q1 0 d1 1</p>\n", "HTML or XML", "CSV"),
    (True, "<top>\n<num> Number: 1\n", "HTML or XML", "CSV"),
    (False, "| query | doc | label |\n", "Markdown", HEADER),
    (False, "q1:\n  d1: 1\n", "YAML", "JSON Lines"),
    (False, '{"q1": {"d1": 1}}\n', "format='json'", "jsonl"),
    (False, '{"query_id": "q1", "doc_id": "d1", "label": 1}\n', "format='jsonl'", "format='json'"),
    (False, "[\n", "format='json'", "jsonl"),
    (False, "query,docid,rating\nbirds,d1,3\n", "format='quepid'", "format='csv'"),
    (False, "query,docid,Anna,Ben\nbirds,d1,3,2\n", "format='quepid'", "format='csv'"),
    (True, "query_id,doc_id,score\nq1,d1,3\n", "header of CSV", "quepid"),
    (False, "q1,0,d1,1\n", "put a header above them", "BEIR"),
    (True, "q1,Q0,d1,1,2.5,x\n", "put a header above them", "BEIR"),
    (False, "q1;0;d1;1\n", "semicolons", "CSV"),
    (False, "q1|0|d1|1\n", "'|' separates", "Markdown"),
    (False, "1 25 5 978824351000\n", "sep='\\\\s+'", HEADER),
    (False, "1::25::5::978824351\n", "sep='::'", "CSV"),
    (False, "A2CX,0321732944,5.0,1341100800\n", "sep=','", "format='csv'"),
    (False, "\ufeffqid iter docid rel\n", HEADER, "LETOR"),
    (False, "qid iter docid rel\r\nq1 0 d1 1\r\n", HEADER, "LETOR"),
]


@pytest.mark.parametrize(("is_run", "text", "said", "other"), FILES)
def test_a_file_of_another_format_is_recognised(is_run, text, said, other, tmp_path):
    path = tmp_path / "file"
    path.write_bytes(text.encode())
    with pytest.raises(fastir.FormatError) as caught:
        (fastir.Run if is_run else fastir.Qrels).from_file(path, "trec")
    assert said in str(caught.value)
    assert other not in str(caught.value).partition("; ")[2]
    good = tmp_path / "good"
    good.write_text("q1 0 d1 1\n" if is_run else "q1 Q0 d1 1 2.5 x\n")
    sides = (good, path) if is_run else (path, good)
    faults = fastir.check(*sides, qrels_format="trec", run_format="trec").of("fault", file=str(path))
    if "swapped" not in said:  # which check says of the whole file
        assert any(said in fault.text for fault in faults)


@pytest.mark.parametrize(
    "text", ["q1 Q0 my doc 1 2.5 x", "q1 Q0 rank score 1 2.5 x", "q1 Q0 d1 one 2.5 x", "q1", "q1 Q0 a:b x 1 y", ""]
)
def test_a_line_that_looks_like_nothing_gets_no_hint(text):
    assert hint_for_line(text, True, True) == ""


@pytest.mark.parametrize(("names", "said"), [
    (["query text", "docid", "rating"], "format='quepid'"),
    (["Snapshot Name", "Query Text", "Doc ID", "Doc Position"], "format='quepid'"),
    (["1", "25", "5", "978824351"], "the header looks like data"), (["q1 0 d1 1"], "format='trec'"),
    (["q1 Q0 d1 1 2.5 x"], "format='trec'"), (["query_id\tdoc_id\tlabel"], "tabs separate"), (["<html>"], "HTML"),
    (['{"q1": {"d1": 1}}'], "JSON"),
])  # fmt: skip
def test_columns_are_recognised_by_their_names(names, said, tmp_path):
    assert said in hint_for_columns(names)
    path = tmp_path / "judged.csv"
    path.write_text(",".join(names) + "\n")
    pytest.importorskip("pyarrow")
    with pytest.raises(fastir.FormatError) as caught:
        fastir.Qrels.from_file(path, "csv")
    assert said in str(caught.value)
    assert "columns={" not in str(caught.value)


def test_other_columns_are_left_to_the_caller():
    assert hint_for_columns(["q", "d", "r"]) == hint_for_columns([]) == ""
    pandas = pytest.importorskip("pandas")
    with pytest.raises(ValueError, match=r"columns={'query_id': name} tells which it is"):
        fastir.Qrels.from_table(pandas.DataFrame([["q", "d", 1]]))


@pytest.mark.parametrize("read", [fastir.Qrels.from_file, fastir.Run.from_file])
@pytest.mark.parametrize("name", ["a.json", "a.jsonl", "a.csv"])
def test_an_error_page_and_utf_16_in_files_of_rows(read, name, tmp_path):
    path = tmp_path / name
    path.write_text("<!DOCTYPE html>\n<html><body>404</body></html>\n")
    with pytest.raises(fastir.FormatError, match="it looks like HTML or XML, which fastir does not read"):
        read(path)
    path.write_text("query_id,doc_id,label\r\n1,5,1\r\n" if name == "a.csv" else '{"q": {"d": 1}}\n', "utf-16")
    with pytest.raises(fastir.FormatError, match="UTF-16"):
        read(path)
