"""Texts of queries and titles of documents: three forms of files, a mapping, and what a file lacks."""

import pytest

import fastir
from fastir.report.texts import read_texts

TREC = """<top>
<num> Number: 301
<title> International Organized Crime
<desc> Description:
Identify organizations.
</top>
<top><num>302</num><title>Polio &amp; its causes</title></top>
"""
XML = '<topics>\n<topic number="301"><query>organized crime</query></topic>\n<topic number="302">polio</topic></topics>'
FILES = {
    "topics.txt": TREC,
    "topics.xml": XML,
    "queries.tsv": "301\torganized crime\n302\tpolio\n999\tunused\n",
    "queries.jsonl": '{"_id": 301, "text": "organized crime"}\n{"_id": "302", "text": "polio"}\n',
}


@pytest.mark.parametrize("name", FILES)
def test_a_file_has_texts_by_id(tmp_path, name):
    (tmp_path / name).write_text(FILES[name])
    found = read_texts("topics", tmp_path / name, {"301", "302"})
    assert list(found) == ["301", "302"] and "rganized" in found["301"] and "olio" in found["302"]


def test_a_mapping_is_taken_and_wanted_ids_stay():
    assert read_texts("doc_titles", {1: "one", 2: "two"}, {"2"}) == {"2": "two"}
    assert read_texts("topics", None, {"2"}) == {}


@pytest.mark.parametrize(("text", "message"), [
    ("q1\n", "expected an id, a tab and a text, got 'q1'"), ("q9\ttext\n", "no id of this file"),
    ('{"_id": "q1"}\n', "line 1 has no id or no text"), ('{"_id": \n', "line 1 is not JSON"),
])  # fmt: skip
def test_what_a_file_lacks_is_said(tmp_path, text, message):
    (tmp_path / "topics.tsv").write_text(text)
    with pytest.raises(fastir.FormatError, match=message):
        read_texts("topics", tmp_path / "topics.tsv", {"q1"})


def test_the_page_has_title_date_and_texts(tmp_path, monkeypatch):
    monkeypatch.setenv("SOURCE_DATE_EPOCH", "0")
    qrels, run = {"q": {"a": 1}, "r": {"b": 1}}, {"q": {"a": 1.0}, "r": {"c": 1.0, "b": 0.5}}
    path = tmp_path / "page.html"
    fastir.write_report(
        qrels, {"x": run, "y": run}, "mrr", path, title="A <title>", topics={"q": "What?"}, doc_titles={"a": "A"}
    )
    page = path.read_text()
    assert "<h1>A &lt;title&gt;</h1><p>1970-01-01 \u00b7 2 runs on 2 queries, 1 metric</p>" in page
