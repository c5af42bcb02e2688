"""The rules of a track: which queries, how many documents, which tags."""

import contextlib
import re

import pytest

import fastir

QRELS = {"1": {"a": 1}, "2": {"a": 1}}
RUN = {"1": {"a": 1.0}, "3": {"a": 1.0}}
FILES = {
    "ids.txt": "# ids\n1\n\n3\n",
    "topics.tsv": "1\twhat is it\n3\twhere\n",
    "qrels.txt": "1 0 a 1\n3 0 a 1\n3 0 b 1\n",
    "topics.sgml": "<top>\n<num> Number: 1\n<title> x\n</top>\n<top>\n<num>3</num></top>\n",
    "topics.xml": '<topics><topic number="1" type="x"><query>y</query></topic><topic number="3"/></topics>',
    "queries.jsonl": '{"_id": "1", "text": "x"}\n{"_id": 3, "text": "y"}\n',
}


@pytest.mark.parametrize("name", FILES)
def test_queries_of_a_file_are_those_that_a_run_must_have(write, name):
    path = write(name, FILES[name])
    assert fastir.check(QRELS, RUN, exactly_queries=path).of("fault") == []
    faults = fastir.check(QRELS, {"1": {"a": 1.0}, "2": {"a": 1.0}}, exactly_queries=path).of("fault")
    assert [(fault.kind, fault.query_id) for fault in faults] == [("missing query", "3"), ("unknown query", "2")]
    assert faults[0].text == f"query '3' of {path} is missing from the run"


def test_queries_of_a_collection():
    assert fastir.check(QRELS, RUN, exactly_queries=[1, "3"]).ok
    assert not fastir.check(QRELS, RUN, exactly_queries="qrels").ok


def test_tags(checked):
    run = "q1 Q0 d1 1 2.0 teamA-1\nq2 Q0 d1 1 5 teamA-1\n"
    assert checked(run, tag=r"team[A-Z]-\d").ok
    [fault] = checked(run, tag=re.compile("team")).of("fault")
    assert (fault.kind, fault.line) == ("tag form", 1)
    assert fault.text == "the tag 'teamA-1' does not match 'team'"


def test_wrong_rules_are_refused(write):
    for options, error, message in (
        ({"max_depth": 0}, ValueError, "max_depth"),
        ({"max_depth": "x"}, TypeError, "max_depth"),
        ({"tag": "("}, ValueError, r"tag: '\(' is not a regular expression"),
        ({"tag": 5}, ValueError, "tag: 5 is not a regular expression"),
        ({"exactly_queries": 5}, TypeError, "exactly_queries"),
        ({"exactly_queries": []}, ValueError, "there is no query id"),
        ({"exactly_queries": write("none.txt", "\n")}, fastir.FormatError, "there is no query id"),
        ({"exactly_queries": write("odd.jsonl", '{"text": 1}\n')}, fastir.FormatError, "line 1 has no query id"),
        ({"exactly_queries": write("bad.jsonl", '{"_id": 1}\n{\n')}, fastir.FormatError, "line 2 is not JSON"),
        ({"exactly_queries": "missing.txt"}, FileNotFoundError, "missing"),
    ):
        with pytest.raises(error, match=message):
            fastir.check(QRELS, RUN, **options)


MANY = 1 << 17
HOSTILE = {  # texts on which a regular expression that goes back would not end
    "blanks behind a number": '<topic number="' + " " * MANY,
    "a number of blanks": '<topic number="' + " " * MANY + '"',
    "blanks before a sign": "<topic number" + " " * MANY + "x",
    "blanks behind <num>": "<num>" + " " * MANY,
    "blanks behind Number:": "<num> Number:" + " " * MANY + "<",
    "topics without end": "<query " * MANY,
    "attributes without values": "<query " + "number " * MANY,
    "attributes without quotation marks": "<query " + "number= " * MANY,
    "quotation marks without end": "<query number='" * MANY,
    "<num> without end": "<num>" * MANY,
}


@pytest.mark.parametrize("text", HOSTILE.values(), ids=HOSTILE)
def test_topics_are_read_in_linear_time(text, write):
    """The texts are so long that more than a step for each character would not end."""
    path = write("topics.txt", text + '\n<topic number="7">')
    with contextlib.suppress(fastir.FormatError):
        fastir.check(QRELS, RUN, exactly_queries=path)


@pytest.mark.parametrize("text", [
    '<topic  type="x"\n number = " 1 "><query id=\'3\'>',
    "<NUM>  number:\n1\n<num>3<",
    '<topic number=""><topic number=" "><topic number="1"><topic number="3">',
])  # fmt: skip
def test_ids_of_topics_stand_between_blanks(text, write):
    assert fastir.check(QRELS, RUN, exactly_queries=write("topics.txt", text)).of("fault") == []


CORPORA = {
    "ids.txt": "# ids\na\nb some text\n",
    "collection.tsv": "a\tsome text\nb\tmore\n",
    "corpus.jsonl": '{"_id": "a", "text": "x"}\n{"_id": "b", "text": "y"}\n',
    "corpus.json": '{"docno": "a"}\n{"docno": "b"}\n',
    "corpus.csv": "text,doc_id\nx,a\ny,b\n",
}


@pytest.mark.parametrize("name", CORPORA)
def test_documents_that_the_collection_has_not_are_faults(write, name):
    if name.endswith(("csv", "jsonl")):
        pytest.importorskip("pyarrow")
    path = write(name, CORPORA[name])
    qrels = write("qrels.txt", "1 0 a 1\n1 0 c 0\n2 0 c 1\n")
    faults = fastir.check(qrels, {"1": {"b": 2.0, "d": 1.0}, "2": {"a": 1.0}}, corpus=path).of(
        "fault", "unknown document"
    )
    assert [(one.kind, one.file, one.line, one.query_id, one.doc_id) for one in faults] == [
        ("unknown document", qrels, 2, "1", "c"),
        ("unknown document", "run", None, "1", "d"),
    ]
    assert faults[0].text == f"document 'c' is judged, but not in {path}"
    assert faults[1].text == f"document 'd' is retrieved, but not in {path}"


def test_a_collection_in_memory():
    pandas = pytest.importorskip("pandas")
    frame = pandas.DataFrame({"docno": ["a", "b"], "text": "x"})
    for corpus in (["a"], {"a": "text"}, frame, frame["docno"]):
        assert fastir.check(QRELS, corpus=corpus).of("fault") == []
        assert len(fastir.check({"1": {"a": 1, "c": 1}}, corpus=corpus).of("fault", "unknown document")) == 1
    assert fastir.check({5: {7: 1}}, corpus=[7]).ok


def test_a_collection_that_has_none_of_the_documents_is_an_error(write):
    message = "corpus: no document in common: qrels and runs have 'a', .*ids.txt has 'A'"
    with pytest.raises(fastir.NoOverlapError, match=message):
        fastir.check(QRELS, RUN, corpus=write("ids.txt", "A\nB\n"))
    for corpus, error, words in (
        (5, TypeError, "corpus must be a path, a table with a column of ids, or ids, got int 5"),
        ([], ValueError, "corpus: there is no document id"),
        (
            write("none.txt", "\n"),
            fastir.FormatError,
            "there is no document id; expected one at the start of each line",
        ),
        (write("odd.json", '{"text": 1}\n'), fastir.FormatError, 'no document id; expected one as "_id" or "doc_id"'),
        (
            write("odd.csv", "text\nx\n"),
            fastir.FormatError,
            "corpus: the table has no column '_id' or 'id' or 'doc_id'",
        ),
    ):
        with pytest.raises(error, match=words):
            fastir.check(QRELS, corpus=corpus)
