"""Collections to compare with: random ones, each made from its number alone, and the real ones of the shared data.

Every peer refuses something, or has no certain answer for it. The functions at the end take that out of a collection,
and their docstrings say why; a peer lists those that it needs.
"""

import functools
import gzip
import random
from typing import Any, NamedTuple

import gen
from reference_files import listed, paths

EVERY = 10  # one collection of so many is a real one, where there are any
DEEPEST = 1000  # documents of a ranking of a real collection that are kept


class Case(NamedTuple):
    """Judgments {query: {document: label}}, with subtopics {query: {subtopic: {...}}}, and scores."""

    name: str
    qrels: dict[str, Any]
    run: dict[str, dict[str, float]]


def case_of(number, groups=False):
    """The collection of this number."""
    if groups:
        return by_subtopic(number)
    if number % EVERY == EVERY - 1 and real_files():
        return real(number // EVERY % len(real_files()))
    return made(number)


def made(number):
    """Queries on both sides, on one side only, without judgments or documents, with one document, of many grades."""
    rng = random.Random(number)
    depth = rng.choice((1, 3, 25, 25, 120))
    qrels, run = {"first": {"a": 1, "b": 0, "c": 2}}, {"first": {"b": 2.0, "a": 1.0, "x": 0.5}}
    grades = rng.choice((None, None, range(40)))
    for place in range(rng.choice((1, 6, 12, 30))):
        query = f"{rng.choice(('q', '', '文', 'é-'))}{place}"
        judged, retrieved = gen.query(rng, depth)
        qrels[query] = {doc: rng.choice(grades) for doc in judged} if grades else judged
        run[query] = retrieved
        fate = rng.random()
        if fate < 0.1:
            del run[query]
        elif fate < 0.2:
            del qrels[query]
        elif fate < 0.25:
            run[query] = {}
        elif fate < 0.35:
            doc = rng.choice(sorted(judged))
            run[query] = {doc: retrieved.get(doc, 1.0)}
            qrels[query] = {doc: judged[doc]}
    return Case(f"random {number}", qrels, gen.shuffled(rng, run))


def by_subtopic(number):
    """Judgments by subtopics; ndeval reads them as numbers."""
    qrels, run = gen.grouped_collection(number)
    judged = {
        query: {group.removeprefix("group"): docs for group, docs in parts.items()} for query, parts in qrels.items()
    }
    return Case(f"subtopics {number}", judged, run)


@functools.cache
def real_files():
    """(qrels, run) of every collection that pytrec_eval could read."""
    lines = [param.values[0] for param in listed("pytrec_eval")]
    return sorted({paths(line)[1:] for line in lines if line is not None})


@functools.lru_cache(1)
def real(place):
    """A real collection, read without fastir; of each ranking the first documents."""
    files = real_files()[place]
    qrels, run = {}, {}
    for fields in rows(files[0]):
        qrels.setdefault(fields[0], {})[fields[2]] = int(fields[3])
    for fields in rows(files[1]):
        run.setdefault(fields[0], {})[fields[2]] = float(fields[4])
    for query, docs in run.items():
        best = sorted(docs, key=docs.__getitem__, reverse=True)[:DEEPEST]
        run[query] = {doc: docs[doc] for doc in best}
    return Case(f"{files[1].parent.name}/{files[1].name}", qrels, run)


def rows(path):
    """The fields of the lines of a TREC file."""
    with gzip.open(path, "rt", encoding="utf-8") if path.suffix == ".gz" else path.open(encoding="utf-8") as file:
        for line in file:
            if not line.startswith("#") and line.strip():
                yield line.split()


# ---- what peers need ---------------------------------------------------------------------------------------------
def changed(case, docs=None, keep=None):
    """The queries that are kept, each with docs(judged, retrieved), where None stands for a query that a side lacks."""
    qrels, run = {}, {}
    for query in dict.fromkeys((*case.qrels, *case.run)):
        judged, retrieved = case.qrels.get(query), case.run.get(query)
        if keep is not None and not keep(judged, retrieved):
            continue
        if docs is not None:
            judged, retrieved = docs(judged, retrieved)
        if judged is not None:
            qrels[query] = judged
        if retrieved is not None:
            run[query] = retrieved
    return Case(case.name, qrels, run)


def written(case):
    """A file holds no query without documents."""
    return Case(case.name, {q: d for q, d in case.qrels.items() if d}, {q: d for q, d in case.run.items() if d})


def numbered(case):
    """Ids of queries are numbers."""
    number = {query: str(place) for place, query in enumerate(dict.fromkeys((*case.qrels, *case.run)), 1)}
    sides = ({number[query]: docs for query, docs in side.items()} for side in (case.qrels, case.run))
    return Case(case.name, *sides)


def labels_from_0(case):
    """A query whose labels are all negative is read as a null pointer."""
    return changed(case, keep=lambda judged, retrieved: judged is None or max(judged.values(), default=0) >= 0)


def judged_queries(case):
    """A query of the run that is not judged is an error."""
    return changed(case, keep=lambda judged, retrieved: judged)


def same_queries(case):
    """Queries on one side only are an error, and so are empty rankings."""
    return changed(case, keep=lambda judged, retrieved: judged and retrieved)


def with_a_miss(case):
    """A ranking of relevant documents alone is a division by zero."""
    return changed(case, lambda judged, retrieved: (judged, retrieved and {"!": max(retrieved.values()), **retrieved}))


def relevant_queries(case):
    """A query without relevant documents is a division by zero."""
    return changed(case, keep=lambda judged, retrieved: judged and max(judged.values()) > 0)


def ranks(retrieved, strict):
    """1 for the lowest score and so on; equal scores share a rank, unless `strict`."""
    if strict:
        ascending = sorted(retrieved, key=retrieved.__getitem__)
        place = {doc: place for place, doc in enumerate(ascending, 1)}
        return {doc: float(place[doc]) for doc in retrieved}
    place = {score: place for place, score in enumerate(sorted(set(retrieved.values())), 1)}
    return {doc: float(place[score]) for doc, score in retrieved.items()}


def small_scores(case):
    """Scores are held as float32, and infinite or negative ones mean something else."""
    return changed(case, lambda judged, retrieved: (judged, None if retrieved is None else ranks(retrieved, False)))


def distinct_scores(case):
    """Equal scores come in no certain order."""
    return changed(case, lambda judged, retrieved: (judged, None if retrieved is None else ranks(retrieved, True)))


def labels(case, change):
    return changed(
        case,
        lambda judged, retrieved: (
            None if judged is None else {doc: change(label) for doc, label in judged.items()},
            retrieved,
        ),
    )


def no_negative_labels(case):
    """Negative labels are an error, or count as gains below 0."""
    return labels(case, lambda label: max(label, 0))


def labels_to_4(case):
    """Larger labels are an error, or a table of gains has no place for them."""
    return labels(case, lambda label: min(label, 4))


def binary(case):
    """Relevance is 0 or 1."""
    return labels(case, lambda label: int(label > 0))


def lists(case):
    """There are no documents but those of the ranking, each with a label."""
    listed = same_queries(case)
    return changed(listed, lambda judged, retrieved: ({doc: judged.get(doc, 0) for doc in retrieved}, retrieved))


def two_documents(case):
    """A ranking of one document is an error."""
    return changed(case, keep=lambda judged, retrieved: retrieved and len(retrieved) > 1)


def two_scores(case):
    """Where all scores of a query are equal, documents come in no certain order."""
    return changed(case, keep=lambda judged, retrieved: retrieved and len(set(retrieved.values())) > 1)
