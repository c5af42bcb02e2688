"""evaluate_citations: beside a count by hand, sentences without citations, nuggets, and wrong rows."""

import random

import pytest

import fastir

WORTH = {"FS": 1.0, "PS": 0.5, "NS": 0.0}
NAMES = [
    *("citation_precision", "citation_precision_strict", "citation_recall", "citation_recall_strict"),
    *("sentence_citation_precision", "report_precision"),
]


def row(query_id, sentence, citation, support, run="x", **more):
    names = ("query_id", "sentence", "citation", "support", "run")
    return dict(zip(names, (query_id, sentence, citation, support, run), strict=True)) | more


def many_rows():
    rng = random.Random(8)
    rows = []
    for run in "ab":
        for query in range(10):
            for sentence in range(rng.randrange(1, 6)):
                cited = rng.sample(["d1", "d2", "d3"], rng.randrange(4))
                rows += [row(f"q{query}", sentence, doc, rng.choice(list(WORTH)), run) for doc in cited]
                rows += [row(f"q{query}", sentence, None, None, run)] * (not cited)
    rng.shuffle(rows)
    return rows


def by_hand(rows):
    answers = {}
    for each in rows:
        sentences = answers.setdefault((each["run"], each["query_id"]), {}).setdefault(each["sentence"], [])
        sentences += [WORTH[each["support"]]] if each["citation"] else []
    found = {}
    for key, sentences in answers.items():
        citations = [worth for of_sentence in sentences.values() for worth in of_sentence]
        n, m = len(citations), len(sentences)
        found[key] = [
            sum(citations) / n if n else 0.0,
            citations.count(1.0) / n if n else 0.0,
            sum(max(each, default=0.0) for each in sentences.values()) / m,
            sum(1.0 in each for each in sentences.values()) / m,
            sum(bool(each) and min(each) > 0 for each in sentences.values()) / m,
            sum(bool(each) and min(each) == 1 for each in sentences.values()) / m,
        ]
    return found


def test_values_are_those_of_a_count_by_hand():
    rows = many_rows()
    results = fastir.evaluate_citations(rows, NAMES)
    assert {
        (run, query_id): values
        for run, each in results.items()
        for query_id, values in zip(each.query_ids, each.values.tolist(), strict=True)
    } == by_hand(rows)


def test_a_sentence_that_needs_no_citation_is_rewarded():
    rows = [row("q", 1, "d", "full_support"), row("q", 2, None, "support"), row("q", 3, None, None)]
    results = fastir.evaluate_citations(rows, ["report_precision", "sentence_citation_precision", "citation_recall"])
    assert results["x"].values.tolist() == [[2 / 3, 1 / 3, 1 / 3]]


def test_reports_count_expected_nuggets_of_rewarded_sentences():
    rows = [
        row("q", 1, "d", "FS", nugget="n1"),
        row("q", 1, "d", "FS", nugget="n2"),
        row("q", 2, "e", "PS", nugget="n3"),
        row("q", 3, "f", "FS", nugget="n1"),
    ]
    expected = {"q": ["n1", "n2", "n3", "n4"]}
    results = fastir.evaluate_citations(rows, ["report_precision", "report_recall", "report_f1"], expected=expected)
    precision, recall = 2 / 3, 2 / 4
    assert results["x"].values.tolist()[0] == pytest.approx([precision, recall, 2 / (1 / precision + 1 / recall)])
    citations = fastir.evaluate_citations(rows, "citation_precision", expected=expected)
    assert citations["x"]["citation_precision"] == 2.5 / 3  # the citation of two nuggets counts once


def test_an_integer_id_equals_its_text():
    rows = [{**row("1", "s", "d", "FS"), "nugget": "5"}]
    assert fastir.evaluate_citations(rows, "report_recall", expected={1: [5]})["x"].per_query() == {1: 1.0}
    for odd in ("5", 5):
        with pytest.raises(TypeError, match="the nuggets of query 1 must be a collection"):
            fastir.evaluate_citations(rows, "report_recall", expected={1: odd})


def test_what_is_missing_is_named_or_counts_as_no_support():
    silent = [row("q", 1, "d", None), row("q", 1, "e", "FS")]
    with pytest.raises(ValueError, match=r"sentence 1, citation 'd'.*has no verdict; missing='zero'"):
        fastir.evaluate_citations(silent, NAMES)
    assert fastir.evaluate_citations(silent, "citation_precision", missing="zero")["x"]["citation_precision"] == 0.5
    unanswered = [row("q", 1, "d", "FS"), row("p", 1, "d", "FS", "y"), row("q", 1, "d", "FS", "y")]
    with pytest.raises(ValueError, match="run 'x' has no answer to query 'p'"):
        fastir.evaluate_citations(unanswered, NAMES)
    results = fastir.evaluate_citations(unanswered, "citation_recall", missing="zero")
    assert (results["x"]["citation_recall"], results["x"].status["p"]) == (0.5, "missing")


@pytest.mark.parametrize(("rows", "words", "message"), [
    ([row("q", 1, "d", "FS"), row("q", 1, "d", "NS")], {}, "another verdict in a row before"),
    ([row("q", 1, "d", "FS"), row("q", 1, "d", "FS")], {}, r"row 1 .*stands already in row 0"),
    ([row("q", 1, "d", "XX")], {}, "expected full_support, partial_support or no_support, got 'XX'"),
    ([row("q", None, "d", "FS")], {}, "the cell of 'sentence' is empty"),
    ([row("q", 1, "d", "FS")], {"metrics": "report_recall"}, r"expected=\{query_id: nuggets\} says which"),
    ([row("q", 1, "d", "FS", nugget="z")], {"expected": {"q": ["n"]}}, "the nugget is not expected"),
    ([row("p", 1, "d", "FS", nugget="n")], {"expected": {"q": ["n"]}}, "nothing is expected of this query"),
    ([row("q", 1, "d", "FS", nugget="n")], {"expected": {"q": []}}, "expected: query 'q' has no nugget"),
    ([row("q", 1, "d", "FS")], {"expected": {"q": ["n"]}}, "expected a column 'nugget'"),
    ([row("q", 1, "d", "FS")], {"metrics": "citation_recal"}, "did you mean 'citation_recall'"),
])  # fmt: skip
def test_wrong_rows(rows, words, message):
    with pytest.raises(ValueError, match=message):
        fastir.evaluate_citations(rows, **{"metrics": NAMES, **words})
