"""Random calls under every convention, full of ties, and what must hold of each: by tests and by tests/fuzz."""

import itertools
import math
import warnings

import fastir
from fastir.conventions import CONVENTIONS

CARDS = [card for card in fastir.metrics() if not card.sampled and card.groups != "pairs"]
NAMES = [
    *(card.spelled("@0.4" if card.at else "") for card in CARDS),
    *(card.spelled(f"@{k}") for card in CARDS if card.cutoff for k in (1, 3, 20)),
]
DOCS = [f"d{number}" for number in range(12)]
SCORES = (1.0, 2.0, 3.0, 0.0, -1.0, 1.00000001)  # the last one equals the first as float32
OPTIONS = {
    "rel_level": (2,),
    "ties": ("trec", "doc_id_asc", "input", "input_reversed", "optimistic", "pessimistic", "average"),
    "judged_only": (True,), "max_depth": (1, 4), "score_dtype": ("float32", "float64"),
    "queries": ("qrels", "intersection"), "empty": ("one", "skip", "nan"),
    "duplicates": ("first", "last", "max", "once"), "missing_documents": ("zero",), "unranked": ("nan",),
    "ideal": ("retrieved", "num_ret", "full", "uncut"), "gain": ("exp2",),
}  # fmt: skip
REFUSALS = (ValueError, TypeError, OverflowError)  # of a call that `evaluate` refuses, too


def some_metrics(rng, convention):
    """A convention's own choices are often for single metrics, which therefore come in every other call."""
    own = tuple(metric.partition("@")[0] for metric, _ in CONVENTIONS[convention].of)
    chosen = [name for name in NAMES if name.startswith(own)] if rng.random() < 0.5 else []
    return rng.sample(chosen or NAMES, min(rng.choice((1, 1, 1, 2, 3)), len(chosen or NAMES)))


def some_options(rng):
    return {name: rng.choice(values) for name, values in OPTIONS.items() if rng.random() < 0.06}


def some_labels(rng, lowest=-1, most=9):
    labels = [label for label in (-1, 0, 0, 1, 1, 2, 3) if label >= lowest]
    return {doc: rng.choice(labels) for doc in rng.sample(DOCS, rng.randint(1, most))}


def some_scores(rng, least=0):
    return {doc: rng.choice(SCORES) for doc in rng.sample(DOCS, max(least, rng.choice((0, 1, 2, 5, 10, 12))))}


def some_list(rng):
    return [rng.choice(DOCS) for _ in range(rng.choice((0, 1, 2, 5, 10)))]


def equal(one, other):
    return one == other or (one != one and other != other)


def explanation_that_differs(rng):
    """What `explain` shows of a random call that `evaluate` does not say, or None; and whether it was explained.

    It may raise: `evaluate` reads lists down to the deepest cutoff, and sees no repeat beyond, which `explain` names.
    """
    convention = rng.choice(list(CONVENTIONS))
    names = some_metrics(rng, convention)
    groups = rng.random() < 0.15
    qrels = {q: {g: some_labels(rng, most=5) for g in "gh"} if groups else some_labels(rng) for q in "qr"}
    ranking = rng.choice((some_scores, some_scores, some_scores, some_list))
    run, options = {q: ranking(rng) for q in "qr"}, some_options(rng)
    try:
        evaluator = fastir.Evaluator(qrels, names, convention=convention, **options)
        results = evaluator.evaluate(run)
    except REFUSALS:
        return None, False
    for query, values in results.to_dict().items():
        call = f"explain({qrels!r}, {run!r}, {query!r}, {names!r}, convention={convention!r}, **{options!r})"
        try:
            told = evaluator.explain(run, query)
        except ValueError as error:
            if not any(words in str(error) for words in ("this ranking is not the same for all", "duplicate document")):
                return f"{call}: {error}", False
            return None, False
        for name, value in values.items():
            if not equal(told.values[name], value):
                return f"{call}: {name} {told.values[name]!r}, evaluate has {value!r}", True
            parts = [told.base[name], *(document.contribution[name] for document in told.documents)]
            if value == value and not math.isclose(math.fsum(parts), value, rel_tol=1e-12, abs_tol=1e-14):
                return f"{call}: {name} {value!r}, its parts add up to {math.fsum(parts)!r}", True
    return None, True


def influence_that_differs(rng):
    """An influence in `to_judge` of a random call that two evaluations contradict, or None; and whether it has one."""
    convention = rng.choice(list(CONVENTIONS))
    name, options = some_metrics(rng, convention)[0], some_options(rng)
    label = rng.choice((1, 2, 3))
    qrels = {q: some_labels(rng, lowest=rng.choice((0, -2))) for q in "qrs"}
    runs = {name: {q: some_scores(rng) for q in "qrs" if rng.random() < 0.8} for name in ("x", "y", "z")}
    if any(not run for run in runs.values()):
        return None, False
    depth = rng.choice((2, 5, None))
    call = f"to_judge({qrels!r}, {runs!r}, {name!r}, pool_depth={depth}, max_label={label}, convention={convention!r}, "
    call += f"**{options!r})"

    def means(judged):
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", fastir.FastirWarning)
            return [
                results[name]
                for results in fastir.evaluate_many(judged, runs, name, convention=convention, **options).values()
            ]

    try:
        if len(fastir.Evaluator(qrels, name, convention=convention).rules.settings.names) > 1:
            return None, False  # trec_eval's name for a family
        before = means(qrels)
        found = fastir.to_judge(
            qrels, runs, name, 10**6, pool_depth=depth, max_label=label, convention=convention, **options
        )
    except REFUSALS:
        return None, False
    for candidate in found:
        query = candidate.query_id
        after = means({**qrels, query: {**qrels[query], candidate.doc_id: label}})
        changes = [new - old if new == new and old == old else 0.0 for new, old in zip(after, before, strict=True)]
        moved = sum(abs(one - other) for one, other in itertools.combinations(changes, 2))
        if not math.isclose(candidate.influence, moved, rel_tol=1e-9, abs_tol=1e-12):
            return f"{call}: {candidate}, evaluated {moved!r}", True
    return None, bool(found.candidates)
