"""fastir eval --json: one object in, one object out, as the schemas say; what the object lacks is named."""

import io
import json

import pytest

import fastir

QRELS, RUN = {"q": {"a": 2, "b": 1}, "r": {"c": 1}}, {"q": {"b": 2.0, "a": 1.0}, "r": {"d": 1.0, "c": 0.5}}
LISTS = {"retrieved": [["b", "a"], ["d", "c"]], "relevant": [{"a": 2, "b": 1}, ["c"]]}


@pytest.fixture
def ask(call, monkeypatch):
    """Exit code, output and errors for an object on standard input."""

    def asked(given, *words):
        text = given if isinstance(given, str) else json.dumps(given)
        monkeypatch.setattr("sys.stdin", io.TextIOWrapper(io.BytesIO(text.encode())))
        return call("eval", "--json", "-", *words)

    return asked


def test_one_run_several_runs_and_lists_have_the_same_values(ask):
    code, out, err = ask({"qrels": QRELS, "run": RUN}, "-m", "ndcg@5", "-q")
    expected = fastir.evaluate(QRELS, RUN, "ndcg@5")
    assert (code, err) == (0, "") and json.loads(out)["per_query"] == expected.to_dict()
    runs = json.loads(ask({"qrels": QRELS, "runs": {"x": RUN, "y": {"q": ["a"]}}, "metrics": ["ndcg@5"]})[1])["runs"]
    assert runs["x"]["mean"] == dict(expected) and runs["y"]["mean"] != runs["x"]["mean"]
    lists = json.loads(ask({**LISTS, "metrics": ["ndcg@5"]})[1])
    assert lists["mean"] == dict(expected)


def test_options_and_gates_reach_the_values(ask, call, tmp_path):
    (tmp_path / "object.json").write_text(json.dumps({"qrels": QRELS, "run": RUN}))
    code, out, err = call("eval", "--json", tmp_path / "object.json", "--rel-level", 2, "--fail-under", "mrr=0.9")
    assert code == 4 and json.loads(out)["mean"]["mrr"] == fastir.evaluate(QRELS, RUN, "mrr", rel_level=2)["mrr"]
    assert "mrr is 0.25, under 0.9" in err


@pytest.mark.parametrize(("given", "words", "message"), [
    ('{"qrels', [], "standard input: it is no JSON"),
    ([1], [], "expected an object with 'qrels' and 'run'; 'qrels' and 'runs'; 'retrieved' and 'relevant'"),
    ({"qrels": QRELS}, [], "got 'qrels'"),
    ({"qrels": QRELS, "run": RUN, "k": 10}, [], "got 'qrels', 'run', 'k'"),
    ({"qrels": QRELS, "run": RUN, "metrics": ["map"]}, ["-m", "mrr"], "-m: the object has metrics, too"),
    ({"qrels": QRELS, "run": RUN, "metrics": ["ngcd"]}, [], "did you mean 'ndcg'"),
    ({"qrels": QRELS, "run": RUN}, ["qrels.txt"], "--json reads one object, and no files"),
    ({"qrels": QRELS, "run": RUN}, ["--names", "tag"], "--names has no effect"),
    ({"qrels": QRELS, "run": RUN}, ["--format", "csv"], "--json prints JSON"),
    (LISTS, ["--ties", "input"], "--ties has no effect on lists"),
    ({"qrels": {"q": {"a": "x"}}, "run": RUN}, [], "query q, document a"),
])  # fmt: skip
def test_what_is_wrong_is_said(ask, given, words, message):
    code, out, err = ask(given, *words)
    assert code in (1, 2) and out == "" and message in err


def test_the_schemas_allow_what_is_read_and_printed(ask, output):
    schemas = json.loads(output("eval", "--schema"))
    assert set(schemas) == {"input", "output"}
    [one, several] = schemas["output"]["anyOf"]
    for given in ({"qrels": QRELS, "run": RUN}, {"qrels": QRELS, "runs": {"x": RUN, "y": RUN}}, LISTS):
        assert set(given) <= set(schemas["input"]["properties"])
        assert [set(each["required"]) <= set(given) for each in schemas["input"]["oneOf"]].count(True) == 1
        printed = json.loads(ask(given, "-m", "map")[1])
        assert set(printed) <= set((several if "runs" in given else one)["properties"])
