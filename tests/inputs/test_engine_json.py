"""What engines export as JSON: requests, responses, judgments and results, and what is wrong in them."""

import json
import math

import pytest

import fastir
from fastir import FormatError, Qrels, Run


def rating(doc_id, label, index="shop"):
    return {"_index": index, "_id": doc_id, "rating": label}


REQUEST = {
    "requests": [
        {"id": "amsterdam", "request": {"query": {}}, "ratings": [rating("d1", 3), rating("d2", 0), rating("d4", 1)]},
        {"id": "berlin", "template_id": "t", "params": {"q": "berlin"}, "ratings": [rating("d9", 1)]},
        {"id": "paris", "request": {}, "ratings": [rating("d5", 2)]},
    ],
    "metric": {"dcg": {"k": 10, "normalize": True}},
}


def detail(*doc_ids):
    hits = [{"hit": {"_index": "shop", "_id": doc_id, "_score": None}, "rating": None} for doc_id in doc_ids]
    return {"metric_score": 0.5, "unrated_docs": [], "hits": hits, "metric_details": {"dcg": {"dcg": 1.0}}}


RESPONSE = {
    "metric_score": 0.5,
    "details": {"amsterdam": detail("d2", "d1", "x"), "berlin": detail()},
    "failures": {"paris": {"error": {"type": "parsing_exception"}}},
}
JUDGED = {
    "name": "imported",
    "type": "IMPORT_JUDGMENT",
    "judgmentRatings": [
        {"query": "red dress", "ratings": [{"docId": "B07", "rating": "3.000"}, {"docId": "B01", "rating": "0.000"}]},
        {"query": "blue jeans", "ratings": [{"docId": "B07", "rating": 1}]},
    ],
}
RESULTS = [
    {"searchConfigurationId": "c1", "searchText": "red dress", "documentIds": ["B01", "B07"], "metrics": []},
    {"searchConfigurationId": "c1", "searchText": "blue jeans", "documentIds": [], "metrics": []},
]


def hits(*documents):
    """Documents as a search for them returns them."""
    found = [{"_index": ".plugins", "_id": str(i), "_source": document} for i, document in enumerate(documents)]
    return {"took": 1, "hits": {"total": {"value": len(found)}, "hits": found}}


@pytest.fixture
def write(tmp_path):
    def write(name, content):
        path = tmp_path / name
        path.write_text(content if isinstance(content, str) else json.dumps(content))
        return path

    return write


def test_one_response_gives_every_metric(write):
    paths = write("request.json", REQUEST), write("response.json", RESPONSE)
    metrics = ["ndcg@10", "precision@10", "mean_reciprocal_rank@10", "expected_reciprocal_rank(max_grade=3)@10"]
    results = fastir.evaluate(*paths, metrics, convention="elasticsearch", queries="intersection")
    assert results.query_ids == ["amsterdam", "berlin"]
    dcg, ideal = 7 / math.log2(3), 7 + 1 / math.log2(3)
    assert list(results.to_dict()["amsterdam"].values()) == pytest.approx([dcg / ideal, 1 / 3, 1 / 2, 7 / 8 / 2])
    assert set(results.to_dict()["berlin"].values()) == {0.0}


def test_a_ranking_keeps_the_order_of_the_hits(write):
    run = Run.from_file(write("response.json", RESPONSE))
    assert {query: dict(run[query]) for query in run} == {"amsterdam": {"d2": 3.0, "d1": 2.0, "x": 1.0}, "berlin": {}}


@pytest.mark.parametrize("data", [JUDGED, hits(JUDGED), {"hits": {"hits": hits(JUDGED)["hits"]["hits"]}}, [JUDGED]])
def test_judgments_of_the_workbench(write, data):
    qrels = Qrels.from_file(write("judgments.json", data))
    assert {query: dict(qrels[query]) for query in qrels} == {
        "red dress": {"B07": 3, "B01": 0},
        "blue jeans": {"B07": 1},
    }


@pytest.mark.parametrize("data", [RESULTS, hits(*RESULTS)])
def test_results_of_the_workbench(write, data):
    run = Run.from_file(write("results.json", data))
    assert {query: dict(run[query]) for query in run} == {"red dress": {"B01": 2.0, "B07": 1.0}, "blue jeans": {}}


def test_the_command_line_reads_exports(write, capsys):
    from fastir.cli import main

    paths = [str(write("request.json", REQUEST)), str(write("response.json", RESPONSE))]
    assert main(["eval", *paths, "-m", "mrr", "--format", "tsv"]) in (0, None)
    assert f"{0.5 / 3}" in capsys.readouterr().out


@pytest.mark.parametrize(
    "read, data, message",
    [
        (Run, REQUEST, "is a _rank_eval request with ratings, which are qrels; expected a run"),
        (Qrels, RESPONSE, "is a _rank_eval response with hits, which are a run; expected qrels"),
        (Qrels, {"requests": [{"ratings": []}]}, "request 1 has no string 'id'"),
        (Qrels, {"requests": [{"id": "a"}]}, "request 'a' has no array 'ratings'"),
        (Qrels, {"requests": [{"id": "a", "ratings": [{"_id": 7}]}]}, "request 'a' has no string '_id'"),
        (Qrels, {"requests": [{"id": "a", "ratings": [rating("d", None)]}]}, "label null is not a number"),
        (Qrels, {"requests": [REQUEST["requests"][1]] * 2}, "duplicate query 'berlin'"),
        (Run, {"metric_score": 1, "details": {"a": {}}}, "query 'a' has no array 'hits'"),
        (Run, JUDGED, "is a list of judgments; expected a run"),
        (Qrels, RESULTS, "results of a search, which are a run; expected qrels"),
        (
            Qrels,
            {"judgmentRatings": [{"query": "q", "ratings": [{"docId": "d", "rating": "3e9"}]}]},
            "is out of range; expected a number from -2\\^31 to 2\\^31 - 1 \\(query q, document d\\)",
        ),
        (
            Run,
            [RESULTS[0], {**RESULTS[1], "searchConfigurationId": "c2"}],
            "several search configurations, such as 'c1' and 'c2'",
        ),
        (Run, [RESULTS[0]] * 2, "duplicate query 'red dress'"),
        (Run, [{**RESULTS[0], "documentIds": [1]}], "query 'red dress': documentIds must be strings"),
        (Qrels, [1, 2], "the JSON is an array, expected an object"),
    ],
)
def test_a_wrong_export_is_named(write, read, data, message):
    with pytest.raises(FormatError, match=message) as caught:
        read.from_file(write("file.json", data))
    assert "file.json" in str(caught.value)


def test_a_document_of_two_indices_is_a_document_twice(write):
    ratings = [rating("d", 1), rating("d", 2, "other")]
    with pytest.raises(fastir.DuplicateError, match="d"):
        Qrels.from_file(write("request.json", {"requests": [{"id": "a", "ratings": ratings}]}))


def test_a_plain_object_stays_one_whatever_its_queries_are_called(write):
    data = {"details": {"d": 1}, "requests": {"d": 1}, "hits": {"d": 2}}
    qrels = Qrels.from_file(write("plain.json", data))
    assert {query: dict(qrels[query]) for query in qrels} == data


def test_workbench_ratings_may_be_fractions(write):
    """Its judge of language models gives ratings from 0.0 to 1.0, and clicks are ratios."""
    ratings = [{"docId": "a", "rating": "0.850"}, {"docId": "b", "rating": "0.000"}, {"docId": "c", "rating": 0.25}]
    qrels = Qrels.from_file(write("judgments.json", {"judgmentRatings": [{"query": "q", "ratings": ratings}]}))
    assert qrels.to_dict() == {"q": {"a": 0.85, "b": 0.0, "c": 0.25}}
