"""merge_qrels, and the way of a list of documents to a judge and back."""

import random

import pytest
from pooled_runs import made

import fastir
from fastir.errors import DuplicateError, FastirWarning


def merge_by_hand(sides, rule):
    """The labels of all sides, or the label that a document has and the one that it had before."""
    merged = {query_id: dict(docs) for query_id, docs in sides[0].items()}
    for side in sides[1:]:
        for query_id, docs in side.items():
            for doc_id, label in docs.items():
                if label < 0:
                    continue
                mine = merged.setdefault(query_id, {})
                had = mine.get(doc_id, label)
                if had < 0 or rule == "last":
                    mine[doc_id] = label
                elif rule == "max":
                    mine[doc_id] = max(had, label)
                elif rule is None and had != label:
                    return label, had
                else:
                    mine[doc_id] = had
    return merged


SPELLED = {
    "text": lambda n: f"d{n}",
    "long": lambda n: f"document-{n % 3}-of-the-collection-{n}",
    "accents": lambda n: f"\u00e9{n}",
    "lone surrogates": lambda n: f"{n}\udcff",
    "integers": lambda n: n,
    "large integers": lambda n: n + 2**70,
}


@pytest.mark.filterwarnings("ignore::fastir.FastirWarning")
@pytest.mark.parametrize("spelled", SPELLED)
@pytest.mark.parametrize("rule", [None, "first", "last", "max"])
def test_merging_is_what_a_loop_over_dicts_does(rule, spelled):
    rng = random.Random(f"{rule}{spelled}")
    for labels in [(1,), (-1, 0, 1, 2), (0, 0.5, -1.5, 2.0)] * 12:
        n_docs = rng.choice([1, 2, 63, 64, 65, 200])
        sides = [
            {
                f"q{q}": {SPELLED[spelled](rng.randrange(2 * n_docs)): rng.choice(labels) for _ in range(n_docs)}
                for q in rng.sample(range(5), rng.randrange(1, 5))
            }
            for _ in range(rng.randrange(1, 4))
        ]
        expected = merge_by_hand(sides, rule)
        if isinstance(expected, tuple):
            with pytest.raises(DuplicateError, match=f"has the label {expected[0]:g}, and had {expected[1]:g};"):
                fastir.merge_qrels(*sides)
            continue
        merged = fastir.merge_qrels(*sides, duplicates=rule)
        assert merged == fastir.Qrels.from_dict(expected)
        assert [(q, list(docs)) for q, docs in merged.to_dict().items()] == [(q, list(d)) for q, d in expected.items()]


def test_merging_files_and_nothing(tmp_path):
    (tmp_path / "a.qrels").write_text("q 0 a 1\nq 0 b 2\n")
    assert fastir.merge_qrels(tmp_path / "a.qrels", {"q": {"b": 2, "c": 0}}).to_dict() == {
        "q": {"a": 1, "b": 2, "c": 0}
    }
    assert fastir.merge_qrels({}, {"q": {"a": 1}}).to_dict() == {"q": {"a": 1}}
    assert fastir.merge_qrels({"p": {}, "q": {"a": 1}}, {"r": {}}, {}).to_dict() == {"p": {}, "q": {"a": 1}}


def test_a_list_that_was_judged_comes_back(tmp_path):
    """What was saved as qrels, and then labelled, is what the documents are judged as."""
    qrels, runs = made(seed=4)
    chosen = fastir.to_judge(qrels, runs, "map", 7)
    path = tmp_path / "next.qrels"
    chosen.save(path)
    lines = path.read_text().splitlines()
    assert lines == [f"{c.query_id} 0 {c.doc_id} -1" for c in chosen]  # in the order of influence
    path.write_text("".join(f"{line[:-2]}{n % 3}\n" for n, line in enumerate(lines)))
    merged = fastir.merge_qrels(qrels, path).to_dict()
    labels = {(c.query_id, c.doc_id): n % 3 for n, c in enumerate(chosen)}
    for query_id, docs in merged.items():
        for doc_id, label in docs.items():
            assert label == labels.pop((query_id, doc_id), qrels[query_id].get(doc_id))
    assert not labels
    assert all(len(merged[query_id]) >= len(docs) for query_id, docs in qrels.items())


def test_a_list_without_labels_changes_no_value(tmp_path):
    qrels, runs = made(seed=4)
    fastir.pool(runs, 5).save(tmp_path / "pool.qrels")
    with pytest.warns(FastirWarning, match="documents have no label yet, such as 'd"):
        merged = fastir.merge_qrels(qrels, tmp_path / "pool.qrels")
    assert merged.to_dict() == qrels
    unjudged = fastir.Qrels.from_file(tmp_path / "pool.qrels")
    assert len(fastir.pool(runs, 5).unjudged(unjudged)) == len(fastir.pool(runs, 5))


@pytest.mark.parametrize(("rule", "label"), [("first", 1), ("last", 0), ("max", 1)])
def test_a_rule_decides_between_two_labels(rule, label):
    one, two = {"q": {"a": 1, "b": -1}}, {"q": {"a": 0, "b": 2, "c": 3}, "r": {"d": 1}}
    merged = fastir.merge_qrels(one, two, duplicates=rule).to_dict()
    assert merged == {"q": {"a": label, "b": 2, "c": 3}, "r": {"d": 1}}
    assert one == {"q": {"a": 1, "b": -1}}


def test_equal_labels_are_no_conflict():
    assert fastir.merge_qrels({"q": {"a": 1}}, {"q": {"a": 1}}, {"q": {"a": 1}}).to_dict() == {"q": {"a": 1}}


@pytest.mark.parametrize(("more", "error", "message"), [
    ({"q": {"a": 2}}, DuplicateError, "judgments 2: query 'q', document 'a' has the label 2, and had 1"),
    ({"q": {"b": 0.5, "a": 2}}, DuplicateError, "'a' has the label 2, and had 1; duplicates='first', 'last' or 'max'"),
    ({"q": {"a": 0.5}}, DuplicateError, "'a' has the label 0.5, and had 1; "),
    ({"q": {1: 2}}, TypeError, r"judgments 2 have ids of type \(str, int\), judgments 1 of \(str, str\)"),
    ({"q": {"g": {"a": 1}}}, TypeError, "judgments 2: expected a label for each document, got judgments by groups"),
])  # fmt: skip
def test_what_does_not_fit_is_named(more, error, message):
    with pytest.raises(error, match=message):
        fastir.merge_qrels({"q": {"a": 1}}, more)


def test_a_query_without_any_label_yet_is_left_out():
    with pytest.warns(FastirWarning, match="2 documents have no label yet, such as 'b' of query 'p'"):
        merged = fastir.merge_qrels({"q": {"a": 1}}, {"p": {"b": -1}, "r": {"c": 0, "d": -2}})
    assert merged.to_dict() == {"q": {"a": 1}, "r": {"c": 0}}


def test_a_label_0_is_a_judgment_as_others_are():
    one, two = {"q": {"a": 0}}, {"q": {"a": 2}}
    with pytest.raises(DuplicateError, match="document 'a' has the label 2, and had 0"):
        fastir.merge_qrels(one, two)
    assert fastir.merge_qrels(one, two, duplicates="first").to_dict() == one


# ---- pools and lists of documents as files: tables, or qrels that wait for their labels ------------------------------
def test_a_pool_is_written_as_a_table(tmp_path):
    pytest.importorskip("pandas")
    pool = fastir.pool({"a": {"q": {"x": 2.0, "y": 1.0}}, "b": {"q": {"x": 1.0}}}, 2)
    pool.save(tmp_path / "pool.tsv")
    assert (tmp_path / "pool.tsv").read_text() == "query_id\tdoc_id\truns\nq\tx\ta,b\nq\ty\ta\n"
    assert pool.to_pandas().to_dict("list") == {
        "query_id": ["q", "q"], "doc_id": ["x", "y"], "runs": [("a", "b"), ("a",)],
    }  # fmt: skip
    assert [row.doc_id for row in pool.unjudged({"q": {"x": 0, "y": -1}})] == ["y"]
    with pytest.raises(ValueError, match=r"must end in \.tsv, \.qrels or \.txt, got "):
        pool.save(tmp_path / "pool.csv")


def test_a_list_needs_a_name_that_says_its_format(tmp_path):
    _, runs = made()
    with pytest.raises(ValueError, match=r"must end in \.tsv, \.qrels or \.txt, got "):
        fastir.to_judge({"q0": {"d1": 1}}, runs, "map", 3).save(tmp_path / "next.csv")
    (tmp_path / "next.txt").write_text("before")
    with pytest.raises(ValueError, match="document id 'a b' is empty or holds white space"):
        fastir.pool({"run": {"q": {"a b": 1.0}}}, 1).save(tmp_path / "next.txt")
    assert (tmp_path / "next.txt").read_text() == "before"


def test_a_list_is_written_as_a_table(tmp_path):
    runs = {"a": {"q": {"x": 2.0}}, "b": {"q": {"y": 1.0}}}
    chosen = fastir.to_judge({"q": {"z": 1}}, runs, "p@1", 1)
    chosen.save(tmp_path / "next.tsv")
    assert (tmp_path / "next.tsv").read_text() == "query_id\tdoc_id\tinfluence\tn_runs\nq\tx\t1.0\t1\n"
    assert repr(chosen).startswith("1 of 2 unjudged documents, with 50% of the influence on p@1\n")
