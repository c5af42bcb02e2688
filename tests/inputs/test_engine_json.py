"""What engines export as JSON: requests, responses, judgments and results, and what is wrong in them."""

import json
import math
import warnings

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
    assert {q: dict(qrels[q]) for q in qrels} == {"red dress": {"B07": 3, "B01": 0}, "blue jeans": {"B07": 1}}


@pytest.mark.parametrize("data", [RESULTS, hits(*RESULTS)])
def test_results_of_the_workbench(write, data):
    run = Run.from_file(write("results.json", data))
    assert {query: dict(run[query]) for query in run} == {"red dress": {"B01": 2.0, "B07": 1.0}, "blue jeans": {}}


def test_the_command_line_reads_exports(write, capsys):
    from fastir.cli import main

    paths = [str(write("request.json", REQUEST)), str(write("response.json", RESPONSE))]
    assert main(["eval", *paths, "-m", "mrr", "--format", "tsv"]) in (0, None)
    assert f"{0.5 / 3}" in capsys.readouterr().out


@pytest.mark.parametrize("read, data, message", [
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
    (Qrels, {"judgmentRatings": [{"query": "q", "ratings": [{"docId": "d", "rating": "3e9"}]}]},
     "is out of range; expected a number from -2\\^31 to 2\\^31 - 1 \\(query q, document d\\)"),
    (Run, [RESULTS[0], {**RESULTS[1], "searchConfigurationId": "c2"}],
     "several search configurations, such as 'c1' and 'c2'"),
    (Run, [RESULTS[0]] * 2, "duplicate query 'red dress'"),
    (Run, [{**RESULTS[0], "documentIds": [1]}], "query 'red dress': documentIds must be strings"),
    (Qrels, [1, 2], "the JSON is an array, expected an object"),
])  # fmt: skip
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


# ---- responses of searches -------------------------------------------------------------------------------------------
INCOMPLETE = "search responses that are incomplete"


def response(*hits, **fields):
    """What a search returns; a hit is an id, or an id and its score."""
    pairs = [hit if isinstance(hit, tuple) else (hit, None) for hit in hits]
    found = [{"_index": "shop", "_id": doc_id, "_score": score, "_source": {"n": 1}} for doc_id, score in pairs]
    shards = {"total": 2, "successful": 2, "skipped": 0, "failed": 0}
    total = {"value": len(found), "relation": "eq"}
    return {"took": 3, "timed_out": False, "_shards": shards, "hits": {"total": total, "hits": found}, **fields}


def msearch(*responses):
    return {"took": 9, "responses": [{**one, "status": one.get("status", 200)} for one in responses]}


MISSING = {
    "error": {"root_cause": [], "type": "index_not_found_exception", "reason": "no such index [x]"},
    "status": 404,
}
FIRST, SECOND = response(("d3", 7.5), ("d2", 4.25)), response(("d9", 2))
RANKINGS = {"q1": {"d3": 7.5, "d2": 4.25}, "q2": {"d9": 2.0}}


@pytest.fixture
def write_responses(tmp_path):
    def write_responses(name, content):
        path = tmp_path / name
        path.parent.mkdir(exist_ok=True)
        path.write_text(content if isinstance(content, str) else json.dumps(content))
        return path

    return write_responses


def test_one_search_is_of_the_query_that_its_file_is_named_by(write_responses):
    assert Run.from_file(write_responses("q1.json", FIRST)).to_dict() == {"q1": RANKINGS["q1"]}
    assert Run.from_file(write_responses("x.json", FIRST), query_ids=["q7"]).to_dict() == {"q7": RANKINGS["q1"]}
    assert Run.from_file(write_responses("filtered.json", {"hits": {"hits": [{"_id": "a"}]}})).to_dict() == {
        "filtered": {"a": 1.0}
    }


@pytest.mark.parametrize("several", [msearch(FIRST, SECOND), [FIRST, SECOND]])
def test_several_searches_are_of_the_given_queries_in_their_order(write_responses, several):
    assert Run.from_file(write_responses("all.json", several), query_ids=["q1", "q2"]).to_dict() == RANKINGS


def test_an_object_of_responses_says_their_queries(write_responses):
    assert Run.from_file(write_responses("all.json", {"q1": FIRST, "q2": SECOND})).to_dict() == RANKINGS
    qrels = {"q1": {"d2": 1}, "q2": {"d9": 1}}
    assert fastir.evaluate(qrels, write_responses("all.json", {"q1": FIRST, "q2": SECOND}), "mrr")["mrr"] == 0.75


@pytest.mark.parametrize("ids", [
    "q1\nq2\n",
    "q1\tred dress\nq2\tblue jeans",
    '{"index": "shop"}\n{"query": {"match": {"title": {"query": "red dress", "_name": "q1"}}}}\n'
    '{}\n{"query": {"bool": {"must": [{"match": {"title": "jeans"}}], "_name": "q2"}}}\n',
])  # fmt: skip
def test_queries_are_those_of_a_file_of_ids_or_of_the_request(write_responses, ids):
    run = Run.from_file(write_responses("all.json", msearch(FIRST, SECOND)), query_ids=write_responses("ids", ids))
    assert run.to_dict() == RANKINGS


def test_a_folder_or_a_pattern_of_searches_is_one_run(write_responses, tmp_path):
    write_responses("saved/q1.json", FIRST)
    write_responses("saved/q2.json", SECOND)
    write_responses("saved/notes.txt", "no response")
    for place, format in ((tmp_path / "saved" / "*.json", None), (tmp_path / "saved", "json")):
        assert Run.from_file(place, format).to_dict() == RANKINGS
    qrels = {"q1": {"d2": 1}, "q2": {"d9": 1}}
    assert fastir.evaluate(qrels, str(tmp_path / "saved" / "*.json"), "mrr")["mrr"] == 0.75


@pytest.mark.parametrize("scores", [(None, None), (1.0, 2.0), (2.0, None)])
def test_hits_that_are_not_sorted_by_their_scores_keep_their_order(write_responses, scores):
    run = Run.from_file(write_responses("q1.json", response(*zip(("b", "a"), scores, strict=True))))
    assert run.to_dict() == {"q1": {"b": 2.0, "a": 1.0}}


def test_equal_scores_stay_equal(write_responses):
    assert Run.from_file(write_responses("q1.json", response(("b", 1.5), ("a", 1.5)))).to_dict() == {
        "q1": {"b": 1.5, "a": 1.5}
    }


def test_a_search_without_hits_is_an_empty_ranking(write_responses):
    results = fastir.evaluate(
        {"q1": {"d3": 1}, "q2": {"d9": 1}}, write_responses("a.json", {"q1": FIRST, "q2": response()}), "mrr"
    )
    assert results.per_query("mrr") == {"q1": 1.0, "q2": 0.0}


@pytest.mark.parametrize("fields", [{"timed_out": True}, {"_shards": {"total": 2, "successful": 1, "failed": 1}}])
def test_an_incomplete_response_is_warned_of_and_reported(write_responses, fields):
    path = write_responses("all.json", msearch(FIRST, response(("d9", 2), **fields)))
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        run = Run.from_file(path, query_ids=["q1", "q2"])
    with pytest.warns(fastir.FastirWarning, match=r"1 search response is incomplete.*all\.json: responses\[1\]"):
        results = fastir.evaluate({"q1": {"d3": 1}, "q2": {"d9": 1}}, run, "mrr")
    assert results.report.repairs == {INCOMPLETE: (1, f"{path}: responses[1]")}


@pytest.mark.parametrize("read, data, options, message", [
    (Run, msearch(FIRST, MISSING), {"query_ids": ["a", "b"]}, r"responses\[1\]: error index_not_found_exception: no s"),
    (Run, MISSING, {}, r"the response: error index_not_found_exception: no such index \[x\] \(status 404\)"),
    (Run, {"q1": {"error": "rejected", "status": 429}}, {}, r"query 'q1': error rejected \(status 429\)"),
    (Run, msearch(FIRST, SECOND), {},
     r"the responses \(2\) do not say which queries were asked; expected query_ids=, in"),
    (Run, [FIRST], {}, r"the responses \(1\) do not say which"),
    (Run, msearch(FIRST, SECOND), {"query_ids": ["a"]}, "query_ids has 1 entry, but there are 2 responses"),
    (Run, msearch(FIRST, SECOND), {"query_ids": ["a", "a"]}, "duplicate query 'a' in the export"),
    (Run, {"q1": FIRST}, {"query_ids": ["a"]}, "the responses have their query ids; expected no query_ids"),
    (Run, {"q1": {"d": 1}}, {"query_ids": ["a"]}, "the JSON has no responses of searches"),
    (Run, msearch({"hits": {}}), {"query_ids": ["a"]}, r"responses\[0\] has no array 'hits'"),
    (Run, msearch({"hits": {"hits": [{"_score": 1}]}}), {"query_ids": ["a"]}, r"responses\[0\] has no string '_id'"),
    (Qrels, FIRST, {}, "has responses of searches, whose hits are a run; expected qrels"),
])  # fmt: skip
def test_a_wrong_response_is_named(write_responses, read, data, options, message):
    with pytest.raises(FormatError, match=message) as caught:
        read.from_file(write_responses("file.json", data), **options)
    assert "file.json" in str(caught.value)


def test_a_document_of_two_indices_is_a_document_twice_search_responses(write_responses):
    with pytest.raises(fastir.DuplicateError, match=r"'d'.*'q1'"):
        Run.from_file(write_responses("q1.json", response(("d", 2.0), ("d", 1.0))))


def test_other_uses_of_query_ids_are_refused(write_responses, tmp_path):
    with pytest.raises(ValueError, match="query_ids is for responses of searches in JSON, got format 'trec'"):
        Run.from_file(write_responses("a.run", "q1 Q0 d1 1 2.0 x\n"), query_ids=["q1"])
    with pytest.raises(TypeError, match="query_ids must be strings"):
        Run.from_file(write_responses("a.json", msearch(FIRST)), query_ids=[1])
    unnamed = write_responses("requests", '{}\n{"query": {"match_all": {}}}\n')
    with pytest.raises(FormatError, match="requests:2: the search has no _name"):
        Run.from_file(tmp_path / "a.json", query_ids=unnamed)
    with pytest.raises(FormatError, match="requests:2: malformed JSON"):
        Run.from_file(tmp_path / "a.json", query_ids=write_responses("requests", '{"index": "x"}\n{"query"\n'))


def test_files_of_a_folder_are_checked_together(write_responses, tmp_path):
    write_responses("saved/q1.json", FIRST)
    write_responses("saved/more.json", {"q1": SECOND})
    with pytest.raises(FormatError, match=r"q1\.json: duplicate query 'q1', which is also in .*more\.json"):
        Run.from_file(tmp_path / "saved", "json")
    write_responses("empty/notes.txt", "")
    with pytest.raises(FormatError, match="no JSON file"):
        Run.from_file(tmp_path / "empty", "json")


def test_the_command_reads_them(write_responses, tmp_path, capsys):
    from fastir.cli import main

    qrels = str(write_responses("qrels.txt", "q1 0 d2 1\nq2 0 d9 1\n"))
    several, ids = (
        str(write_responses("all.json", msearch(FIRST, SECOND))),
        str(write_responses("ids.txt", "q1\nq2\n")),
    )
    write_responses("saved/q1.json", FIRST)
    write_responses("saved/q2.json", SECOND)
    for words in ([several, "--query-ids", ids], ["--parts", str(tmp_path / "saved" / "*.json")]):
        assert main(["eval", qrels, *words, "-m", "mrr"]) in (0, None)
        assert "0.7500" in capsys.readouterr().out
    assert main(["eval", qrels, several, "-m", "mrr"]) == 2
    assert "--query-ids" in capsys.readouterr().err


def test_a_file_of_query_ids_may_have_blanks_around_them(write_responses):
    for text in ("q1\nq2\n", " q1 \n\n  q2\t the query \n", "q1  \tx\r\nq2\r\n"):
        run = Run.from_file(write_responses("all.json", msearch(FIRST, SECOND)), query_ids=write_responses("ids", text))
        assert list(run) == ["q1", "q2"]


# ---- ratings of the Rated Ranking Evaluator --------------------------------------------------------------------------
def rre_query(text, rated=None):
    query = {"template": "t.json", "placeholders": {"$query": text}}
    return query if rated is None else {**query, "relevant_documents": rated}


def rre_groups(rated):
    group = {"name": "brand", "queries": [rre_query("fender"), rre_query("Fender")], "relevant_documents": rated}
    return {"index": "basses", "id_field": "id", "topics": [{"description": "x", "query_groups": [group]}]}


@pytest.mark.parametrize("rated", [
    {"3": ["d1"], "1": ["d2", 7]},
    {"d1": {"gain": 3}, "d2": {"gain": "1"}, "7": {"gain": 1.0}},
    [{"document_id": "d1", "gain": 3}, {"document_id": "d2", "gain": 1}, {"7": {"gain": 1}}],
])  # fmt: skip
def test_ratings_of_rre_are_qrels_of_each_query_of_a_group(write_responses, rated):
    judged = {"d1": 3, "d2": 1, "7": 1}
    path = write_responses("ratings.json", rre_groups(rated))
    assert Qrels.from_file(path).to_dict() == {"fender": judged, "Fender": judged}
    alone = {**rre_groups(rated), "queries": [rre_query("bass", {"2": ["d9"]}), rre_query("none", {})]}
    assert Qrels.from_file(write_responses("more.json", alone)).to_dict() == {
        "bass": {"d9": 2}, "none": {}, "fender": judged, "Fender": judged
    }  # fmt: skip
    assert fastir.evaluate(path, {"fender": ["d2", "d1"]}, "mrr", queries="intersection", rel_level=3)["mrr"] == 0.5


def test_the_query_of_rre_may_have_another_placeholder(write_responses):
    query = {"placeholders": {"q": "w", "$vector": "[1]"}, "relevant_documents": {"1": ["a"]}}
    assert list(Qrels.from_file(write_responses("a.json", {"query_placeholder": "q", "queries": [query]}))) == ["w"]
    query["placeholders"].pop("$vector")
    assert list(Qrels.from_file(write_responses("b.json", {"queries": [query, query]}))) == ["w"]


@pytest.mark.parametrize(("queries", "message"), [
    ([rre_query("a")], "query 'a' has no object 'relevant_documents', nor has its group"),
    ([rre_query("a", {"x": ["d"]})], r"label 'x' is not a number \(query a, document d\)"),
    ([rre_query("a", {"d": {"gain": None}})], r"label null is not a number \(query a, document d\)"),
    ([rre_query("a", {"d": 3})], "query 'a': relevant_documents has neither ids nor a gain for 'd'"),
    ([rre_query("a", {"1": [0.5]})], "query 'a': a document in relevant_documents has no string 'id'"),
    ([rre_query("a", {"1": ["d"], "2": ["d"]})], "duplicate document 'd' in query 'a'"),
    ([rre_query("a", {"1": ["d"]}), rre_query("a", {"1": ["e"]})], "duplicate query 'a' in the export"),
    ([{"placeholders": {"a": "1", "b": "2"}}], r"queries\[0\].placeholders has no string '\$query'"),
])  # fmt: skip
def test_wrong_ratings_of_rre_are_named(write_responses, queries, message):
    with pytest.raises(FormatError, match=message):
        Qrels.from_file(write_responses("ratings.json", {"queries": queries}))
    with pytest.raises(FormatError, match="ratings of the Rated Ranking Evaluator, which are qrels; expected a run"):
        Run.from_file(write_responses("ratings.json", {"queries": queries}))


def test_a_response_of_vespa_is_named_and_says_how_it_is_read(tmp_path):
    path = tmp_path / "vespa.json"
    path.write_text('{"root": {"children": [{"id": "id:a::d1", "relevance": 0.5}]}}')
    with pytest.raises(fastir.FormatError, match=r"a response of Vespa.*hit\['relevance'\]"):
        fastir.evaluate({"q": {"d1": 1}}, path, "map")
