"""The cases that no tool answers: fastir's own convention by definition, by enumeration and by hand arithmetic shown.

What they are about is what implementations get wrong: ties, repeats, queries without relevant documents or without a
ranking, cutoffs beyond the list, the ideal ranking, labels that are no whole numbers, chunks, integer ids.
"""

import math
import random

VERSION = "definitions 1"
LABELS = {"d1": 3, "d2": 0, "d3": 1, "d4": 2, "d5": 0, "d6": 1}
SHORT, LONG = ["d3", "x1", "d1"], ["d2", "d4", "x1", "d3", "x2", "d1", "x3", "d5"]
COMMON_METRICS = """
    precision@3 precision@10 precision recall@3 recall hit_rate@1 hit_rate@3 recall_all@5 recall_all r_precision mrr
    mrr@1 map map@3 f1@3 ndcg ndcg@3 ndcg@10 dcg@3 ndcg_burges@5 err@5 rbp(p=0.8) bpref"""
COMMON = COMMON_METRICS.split()

# Metric, labels, ranking, and the value as one would work it out.
BY_HAND = (
    ("precision@5", {"a": 1, "b": 1}, ["a", "x", "b"], "2/5"),
    ("precision", {"a": 1, "b": 1}, ["a", "x", "b"], "2/3"),
    ("precision(short_rankings=clip)@5", {"a": 1, "b": 1}, ["a", "x", "b"], "2/3"),
    ("recall@1", {"a": 1, "b": 1}, ["a", "x", "b"], "1/2"),
    ("recall@3", {"a": 1, "b": 2, "c": 1}, ["a", "x", "b"], "2/3"),
    ("recall(recall_norm=min_kR)@1", {"a": 1, "b": 1, "c": 1}, ["a", "x", "b"], "1/1"),
    ("relative_precision@2", {"a": 1, "b": 1, "c": 1}, ["a", "x", "b"], "1/2"),
    ("hit_rate@2", {"a": 1, "b": 1}, ["x", "b", "a"], "1"),
    ("recall_all@2", {"a": 1, "b": 1}, ["x", "b", "a"], "0"),
    ("recall_all@3", {"a": 1, "b": 1}, ["x", "b", "a"], "1"),
    ("mrr", {"a": 1, "b": 1}, ["x", "y", "b", "a"], "1/3"),
    ("mrr@2", {"a": 1, "b": 1}, ["x", "y", "b", "a"], "0"),
    ("r_precision", {"a": 1, "b": 1, "c": 1}, ["a", "x", "b", "c"], "2/3"),
    ("map", {"a": 1, "b": 1, "c": 1}, ["a", "x", "b"], "(1/1 + 2/3) / 3"),
    ("map", {"a": 1, "b": 1}, ["x", "a", "y", "b"], "(1/2 + 2/4) / 2"),
    ("map@2", {"a": 1, "b": 1, "c": 1}, ["a", "x", "b"], "(1/1) / 3"),
    ("map(ap_norm=min_kR)@2", {"a": 1, "b": 1, "c": 1}, ["a", "x", "b"], "(1/1) / 2"),
    ("map(ap_norm=hits)@3", {"a": 1, "b": 1, "c": 1}, ["a", "x", "b"], "(1/1 + 2/3) / 2"),
    ("map(ap_norm=min_nkR)@5", {"a": 1, "b": 1, "c": 1}, ["a", "x"], "(1/1) / 2"),
    ("dcg@3", {"a": 2, "b": 1}, ["b", "x", "a"], "1/log2(2) + 2/log2(4)"),
    ("dcg_burges@3", {"a": 2, "b": 1}, ["b", "x", "a"], "1/log2(2) + 3/log2(4)"),
    ("dcg(discount=jk2)", {"a": 2, "b": 1}, ["b", "x", "a"], "1 + 2/log2(3)"),
    ("ndcg@3", {"a": 2, "b": 1}, ["b", "x", "a"], "(1/log2(2) + 2/log2(4)) / (2/log2(2) + 1/log2(3))"),
    ("ndcg@1", {"a": 2, "b": 1}, ["b", "x", "a"], "1/2"),
    ("ndcg_burges@2", {"a": 2, "b": 1}, ["b", "a"], "(1 + 3/log2(3)) / (3 + 1/log2(3))"),
    ("ndcg@2", {"a": 1, "b": 1, "c": 1}, ["a", "x"], "1 / (1 + 1/log2(3))"),
    ("ndcg(ideal=retrieved)@2", {"a": 1, "b": 1, "c": 1}, ["x", "a"], "1/log2(3)"),
    ("ndcg(ideal=full, gain=binary)@3", {"a": 2}, ["a", "x"], "1 / (1 + 1/log2(3) + 1/log2(4))"),
    ("ndcg(ideal=num_ret)@5", {"a": 1, "b": 1, "c": 1}, ["a", "x"], "1 / (1 + 1/log2(3))"),
    ("ndcg", {"a": 1}, ["x", "a"], "(1/log2(3)) / 1"),
    ("ndcg(discount=jk2)", {"a": 1, "b": 1}, ["x", "a", "b"], "(1 + 1/log2(3)) / (1 + 1)"),
    ("rbp(p=0.5)", {"a": 1, "b": 3}, ["a", "x", "b"], "(1 - 0.5) * (1 + 0.25)"),
    ("rbp(p=0.5, gains=raw)", {"a": 1, "b": 3}, ["a", "x", "b"], "(1 - 0.5) * (1 + 3 * 0.25)"),
    ("err(max_grade=2)", {"a": 2, "b": 1}, ["b", "a"], "1/4 + (3/4) * (3/4) / 2"),
    ("bpref", {"a": 1, "b": 1, "n": 0, "m": 0}, ["a", "x", "n", "b"], "(1 + (1 - 1/2)) / 2"),
    ("f1@2", {"a": 1, "b": 1, "c": 1}, ["a", "x"], "2 * (1/2) * (1/3) / (1/2 + 1/3)"),
    ("set_f", {"a": 1, "b": 1, "c": 1}, ["a", "x"], "2 * (1/2) * (1/3) / (1/2 + 1/3)"),
    ("pair_accuracy", {"a": 1, "b": 1}, ["a", "x", "b", "y"], "3/4"),
    ("unjudged@4", {"a": 1, "b": 0}, ["a", "x", "b", "y"], "2/4"),
    ("judged@5", {"a": 1, "b": 0}, ["a", "x", "b", "y"], "2/4"),
    ("cg@3", {"a": 2, "b": 1}, ["b", "x", "a"], "3"),
    ("hits@3", {"a": 2, "b": 1}, ["b", "x", "a"], "2"),
    ("iprec@0.5", {"a": 1, "b": 1}, ["x", "a", "b"], "2/3"),
    ("first_rel", {"a": 1, "b": 1}, ["x", "a", "b"], "2"),
)  # fmt: skip


def cases(case_of):
    """All of them; `case_of` is make_cases.case_of."""

    def made(theme, number, qrels, run, metric, about, options=None, convention="fastir", source=None):
        case, _ = case_of(f"{theme}/{number}", qrels, run, metric, convention, VERSION, options or {}, about)
        if source:
            case["source"] = source
        return case, None

    for number, (metric, labels, ranked, shown) in enumerate(BY_HAND):
        case, _ = made("by-hand", number, {"q": pairs(labels)}, {"q": ranked}, metric, ())
        value = eval(shown, {"log2": math.log2})
        if abs(value - float(case["expected"]["q"]["decimal"])) > 1e-15:
            raise ValueError(f"{metric}: {shown} is {value}, not {case['expected']}")
        case["source"] = f"by hand: {shown}"
        yield case, None
    yield from plain(made)
    yield from policies(made)
    yield from repeat(made)
    yield from tie(made)
    yield from others(made)


def pairs(docs):
    return [[doc, value] for doc, value in docs.items()]


def as_text(side):
    """The same with ids that are text: "9" stands above "10" among equal scores, as for integers."""
    return {query: [[str(doc), value] for doc, value in rows] for query, rows in side.items()}


def plain(made):
    """Short and long lists, with what is not judged, not retrieved or not relevant."""
    for number, metric in enumerate(COMMON):
        qrels = {"q1": pairs(LABELS), "q2": pairs({"d1": 1, "d9": 1}), "q3": pairs({"d2": 2, "d4": 0})}
        yield made("lists", number, qrels, {"q1": LONG, "q2": SHORT, "q3": ["d4", "d2"]}, metric, ())
        scores = {"q1": pairs({doc: 9.0 - place for place, doc in enumerate(LONG)}), "q2": pairs({"d9": 0.5})}
        yield made("scores", number, {"q1": pairs(LABELS), "q2": pairs({"d1": 1, "d9": 1})}, scores, metric, ())


def policies(made):
    """What an empty ranking, a query without relevant documents and one that the run lacks count as."""
    qrels = {"q1": pairs({"a": 2, "b": 1}), "q2": pairs({"a": 0, "b": 0}), "q3": pairs({"a": 1}), "q4": []}
    run = {"q1": ["x", "a"], "q2": ["a", "b"], "q5": ["a"]}
    for number, metric in enumerate(("ndcg@3", "map", "mrr", "recall@2", "precision@3", "hit_rate@1")):
        for queries in ("qrels", "intersection"):
            yield made("queries", f"{number}-{queries}", qrels, run, metric, ("empty queries",), {"queries": queries})
        for empty in ("zero", "one", "skip", "nan"):
            name, sign, k = metric.partition("@")
            yield made("empty", f"{number}-{empty}", qrels, run, f"{name}(empty={empty}){sign}{k}", ("empty queries",))
        yield made("empty-ranking", number, qrels, {"q1": [], "q3": ["x", "y"]}, metric, ())
        yield made("level", number, {"q": pairs(LABELS)}, {"q": LONG}, metric, (), {"rel_level": 2})


def repeat(made):
    """A document that a list has twice: later copies keep their ranks, or close up."""
    qrels = {"q1": pairs({"a": 2, "b": 1, "c": 1}), "q2": pairs({"a": 1, "b": 1})}
    runs = ({"q1": ["a", "a", "b", "a", "c"], "q2": ["x", "x", "b"]}, {"q1": ["b", "b", "b"], "q2": ["a", "b", "a"]})
    for number, metric in enumerate(COMMON):
        for rule in ("once", "first"):
            run = runs[number % 2]
            yield made("repeats", f"{number}-{rule}", qrels, run, metric, (), {"duplicates": rule})


def tie(made):
    """Equal scores under every rule; the mean over all orders is found by going through them."""
    rng = random.Random(5)
    for number in range(6):
        docs = ["d1", "d10", "d2", "d9", "x", "D9", "é"]
        qrels = {q: pairs({doc: rng.choice((0, 0, 1, 2)) for doc in docs[:5]} | {"d2": 1}) for q in ("q1", "q2")}
        run = {q: pairs({doc: rng.choice((1.0, 1.0, 2.0)) for doc in rng.sample(docs, 5)}) for q in ("q1", "q2")}
        for ties in ("trec", "doc_id_asc", "input", "optimistic", "pessimistic", "average"):
            source = "enumeration: the mean over all orders of equal scores" if ties == "average" else None
            for metric in ("ndcg@3", "map", "mrr", "precision@3")[number % 2 :: 2]:
                yield made("ties", f"{number}-{ties}-{metric}", qrels, run, metric, ("ties",), {"ties": ties},
                           source=source)  # fmt: skip
    same = {"q1": pairs(dict.fromkeys(("a", "b", "c", "d"), 0.0))}
    for place, metric in enumerate(("mrr", "ndcg@1", "map", "hit_rate@1", "precision@1")):
        for relevant in ("a", "d"):
            yield made("constant", f"{place}-{relevant}", {"q1": [[relevant, 1]]}, same, metric, ("ties",))


def others(made):
    """Fractions, integer ids, chunks, excluded documents, depth, other alphabets, and means of many queries."""
    real = {"q1": pairs({"a": 0.92, "b": 0.5, "c": 2.25, "d": 0}), "q2": pairs({"a": 1.5, "b": 0.1})}
    for number, metric in enumerate(("ndcg@3", "dcg", "ndcg_burges@3", "cg@2", "map", "mrr", "precision@2", "err")):
        run = {"q1": ["b", "x", "c", "a"], "q2": ["b", "a"]}
        yield made("real", number, real, run, metric, ("real labels",), {"rel_level": 0.5} if number > 3 else {})
        ids = {"q1": [[1, 1], [2, 0], [10, 2], [9, 1]], "q2": [[7, 1], [100, 1]]}
        scores = {"q1": [[9, 1.0], [10, 1.0], [2, 1.0], [1, 3.0]], "q2": [[100, 0.5], [7, 0.5], [8, 0.5]]}
        yield made("int-ids", number, ids, scores, metric, ("int ids",))
        yield made("str-ids", number, as_text(ids), as_text(scores), metric, ("str ids",))
        chunks = {"parents": {"a#1": "a", "a#2": "a", "b#1": "b", "b#2": "b", "c#1": "c"}}
        judged = {"q1": pairs({"a": 2, "b": 0, "c": 1}), "q2": pairs({"b": 1, "c": 1})}
        parts = {"q1": pairs({"b#1": 5.0, "a#1": 4.0, "a#2": 3.0, "b#2": 2.0, "c#1": 1.0}), "q2": pairs({"c#1": 0.5,
                 "b#2": 0.75, "b#1": 0.25})}  # fmt: skip
        yield made("chunks", number, judged, parts, metric, ("chunk to document",), chunks)
        own = {"q1": pairs({"q1": 9.0, "a": 4.0, "b": 3.0, "x": 2.0}), "q2": pairs({"c": 1.0, "q2": 0.5, "b": 0.25})}
        yield made("own-document", number, judged, own, metric, ("excluded documents",), {"exclude": "query_id"})
        deep = {"q1": pairs(LABELS)}, {"q1": pairs({doc: 9.0 - place for place, doc in enumerate(LONG)})}
        yield made("depth", number, *deep, metric, (), {"max_depth": 3})
        yield made("judged-only", number, *deep, metric, (), {"judged_only": True})
        other = {"q1": pairs({"é": 1, "文": 2, "z": 0}), "q2": pairs({"ﬀ": 1, "😀": 1})}
        yield made("alphabets", number, other, {"q1": pairs(dict.fromkeys(("z", "文", "é"), 1.0)),
                   "q2": pairs(dict.fromkeys(("ﬀ", "😀", "x"), 2.0))}, metric, ("other alphabets",))  # fmt: skip
        many = {f"q{n}": pairs({"a": 1, "b": n % 3, "c": 1}) for n in range(10)}
        lists = {f"q{n}": ["x"] * 0 + [["a", "x", "b"], ["x", "b", "c"], ["y", "x", "a"]][n % 3] for n in range(10)}
        yield made("many", number, many, lists, metric, ("order of sums",))
