"""fastir metrics: the list of all, and what names mean."""

import pytest

import fastir
from fastir.analyses.agreement.measures import MEASURES


def test_metrics_lists_every_card(output):
    text = output("metrics")
    assert max(map(len, text.splitlines())) <= 100
    words = " ".join(text.split())
    for card in fastir.metrics():
        assert card.summary in words and all(alias in words for alias in card.aliases)
    for measure in MEASURES.values():
        assert f"{measure.name + '[@k]' * measure.cutoff} {measure.summary}" in words
    entries = sum(bool(line) and not line.startswith(" ") for line in text.splitlines())
    assert entries == 2 + len(fastir.metrics()) + len(MEASURES)


def test_metrics_with_a_word(output, call):
    found = [line.split()[0] for line in output("metrics", "--search", "Bias").splitlines() if line[:1] > " "]
    assert "rbp[@k]" in found and found[-3:] == ["rbo", "rbo_min", "rbo_res"] and "map[@k]" not in found
    assert output("metrics", "--search", "recip_rank").splitlines()[1].startswith("mrr[@k]")
    assert call("metrics", "--search", "zebra") == (
        1, "", "fastir: error: no metric has 'zebra' in its name or description; see fastir metrics --help\n",
    )  # fmt: skip


def test_metrics_of_names_prints_what_the_function_returns(output):
    assert output("metrics", "ndcg@10") == f"{fastir.metric('ndcg@10')!s}\n"
    assert output("metrics", "P_5", "rbo(p=0.8)").startswith(f"{fastir.metric('P_5')!s}\n\nrbo(p=0.8): ")


def test_papers_of_several_metrics_are_there_once(output):
    assert output("metrics", "ndcg", "--bibtex") == fastir.metric("ndcg").bibtex()
    both = output("metrics", "ndcg", "dcg", "rbp", "--bibtex")
    assert both == f"{fastir.metric('ndcg').bibtex()}\n{fastir.metric('rbp').bibtex()}"


@pytest.mark.parametrize("words", [
    *(["--bibtex"], ["map", "--search", "map"], ["ndgc"]),
    *(["map", "--format", "markdown"], ["--format", "markdown", "--search", "map"]),
])  # fmt: skip
def test_what_says_nothing_is_refused(call, words):
    code, out, err = call("metrics", *words)
    assert (code, out) == (1, "") and err.endswith("; see fastir metrics --help\n")
