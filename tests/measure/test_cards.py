"""What a card says of its metric is what the metric does: binary or graded, by rank or as a set; and its papers."""
# Also of: registry, references.

import random
import re
import subprocess
import sys

import numpy as np
import pytest
from sampled import evidence

import fastir
from fastir.engine.measure import references
from fastir.engine.measure.references import PROGRAMS, Reference

CARDS = fastir.metrics()
PAPERS = [*PROGRAMS.values(), *(value for value in vars(references).values() if isinstance(value, Reference))]
TRIALS = 60


def spellings(card):
    """The metric of the whole ranking, and of a few documents; where labels are cut, they are cut above all of them.

    A share of the collection is one of its ten documents.
    """
    name = card.spelled().replace("n_docs=100000", "n_docs=10") + "(max_rel=4)" * any(
        param.name == "max_rel" for param in card.params
    )
    return [f"{name}@0.5"] if card.at else [name] + [f"{name}@3"] * card.cutoff


def collection(card):
    """Judgments and rankings of many queries; documents are relevant from label 2 up."""
    rng = random.Random(card.name)
    judged = [{doc: rng.choice((0, 1, 2, 3, 4, -1)) for doc in "abcdefgh"} for _ in range(TRIALS)]
    return rng, judged, [rng.sample("abcdefxy", 8) for _ in range(TRIALS)]


def values(card, name, judged, rankings):
    qrels = dict(enumerate(judged))
    if card.groups:
        qrels = {query: {"one": docs, "two": docs | {"c": 0}} for query, docs in qrels.items()}
    if card.sampled in ("strata", "probabilities"):
        chances = dict(zip("abcdefgh", (0.5, 1.0, 0.25, 0.8, 0.4, 0.125, 0.3, 0.6), strict=True))
        qrels = fastir.Qrels.from_dict(
            qrels,
            strata={query: {doc: ord(doc) % 3 for doc in docs} for query, docs in qrels.items()},
            probabilities={query: {doc: chances[doc] for doc in docs} for query, docs in qrels.items()},
        )
    run = {query: {doc: float(-place) for place, doc in enumerate(docs)} for query, docs in enumerate(rankings)}
    if card.sampled in ("sets", "hops"):
        return fastir.evaluate(evidence(card, qrels, 2), run, name).values
    weights = dict(zip("abcdefgh", (2.0, 1.0, 4.0, 1.25, 2.5, 8.0, 3.0, 1.5), strict=True))
    needs = {"weights": {"doc_weights": weights}, "forbidden": {"forbidden": {query: ["x"] for query in qrels}}}
    shares = {doc: {"a": place / 7, "b": 1 - place / 7} for place, doc in enumerate("abcdefgh")}
    needs["groups"] = {"doc_groups": shares, "target": {"a": 0.25, "b": 0.75}}
    needs["costs"] = {"doc_costs": weights | {"x": 1.0, "y": 2.0}}
    return fastir.evaluate(qrels, run, name, rel_level=2, **needs.get(card.sampled, {})).values


def same(a, b):
    return np.allclose(a, b, rtol=1e-12, atol=0, equal_nan=True)


@pytest.mark.filterwarnings("ignore:.*holds? no judged document")
@pytest.mark.parametrize("card", CARDS, ids=lambda card: card.name)
def test_a_binary_metric_is_the_same_for_all_relevant_labels_and_a_graded_one_is_not(card):
    rng, judged, rankings = collection(card)
    other = [{doc: label if label < 2 else rng.choice((2, 3, 4)) for doc, label in docs.items()} for docs in judged]
    for name in spellings(card):
        assert same(values(card, name, judged, rankings), values(card, name, other, rankings)) != card.graded, name


@pytest.mark.filterwarnings("ignore:.*holds? no judged document")
@pytest.mark.parametrize("card", CARDS, ids=lambda card: card.name)
def test_a_metric_of_a_set_is_the_same_in_any_order_within_the_cutoff_and_one_by_rank_is_not(card):
    rng, judged, rankings = collection(card)
    for name in spellings(card):
        k = 3 if name.endswith("@3") else 8
        other = [[*rng.sample(docs[:k], k), *docs[k:]] for docs in rankings]
        alike = same(values(card, name, judged, rankings), values(card, name, judged, other))
        assert alike != card.rank_sensitive, name


@pytest.mark.parametrize("card", CARDS, ids=lambda card: card.name)
def test_every_metric_has_a_paper_with_its_doi(card):
    assert card.references
    assert all(str(paper) in card.source for paper in card.sources if isinstance(paper, Reference))
    assert all(paper in PAPERS for paper in card.references)
    for paper in card.references:
        assert (
            fastir.metric(card.spelled("@0.5" if card.at else "")).bibtex().count(f"doi       = {{{paper.doi}}}") == 1
        )


def test_no_paper_is_said_twice_and_every_one_is_used():
    assert len({paper.doi.lower() for paper in PAPERS}) == len({paper.title.lower() for paper in PAPERS}) == len(PAPERS)
    assert {paper for card in CARDS for paper in card.references} == set(PAPERS)


@pytest.mark.parametrize("paper", PAPERS, ids=str)
def test_an_entry_is_bibtex(paper):
    entry = paper.bibtex()
    kind, key = re.match(r"@(\w+)\{([a-z0-9]+),\n", entry).groups()
    fields = dict(re.findall(r"^  (\w+) += \{(.*)\},$", entry, re.MULTILINE))
    assert kind in references.FIELDS and {"author", "title", "year", "doi", references.FIELDS[kind]} <= set(fields)
    assert entry.count("{") == entry.count("}") and entry.endswith("}\n") and "" not in fields.values()
    assert re.fullmatch(r"10\.\d{4,9}/\S+", fields["doi"]) and 1950 < int(fields["year"]) < 2030
    assert fields["year"] in key and all(", " in author for author in fields["author"].split(" and "))


def test_a_name_for_several_metrics_cites_each_paper_once():
    keys = re.findall(r"^@\w+\{(.*),$", fastir.metric("official").bibtex(), re.MULTILINE)
    assert len(keys) == len(set(keys)) > 3
    assert fastir.metric("ndcg").bibtex() == fastir.metric("ndcg_cut_10").bibtex() == fastir.metric("dcg").bibtex()
    entry = fastir.metric("ndcg").bibtex()
    assert entry.startswith(
        "@article{jarvelin2002cumulated,\n  author    = {Järvelin, Kalervo and Kekäläinen, Jaana},\n"
    )
    with pytest.raises(fastir.UnknownMetricError):
        fastir.metric("ndgc").bibtex()


def test_the_command_line_prints_the_entries_alone():
    command = [sys.executable, "-m", "fastir", "metrics", "rbp.95", "--bibtex"]
    assert subprocess.run(command, capture_output=True, check=True).stdout.decode() == fastir.metric("rbp").bibtex()
