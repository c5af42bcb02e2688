"""Bugs that ranking metrics had: each as a wrong implementation of a few lines, with the thread that tells of it.

A function gets the documents of a ranking, best first, copies and all, the labels {document: label}, and the cutoff,
which cuts nothing where a case has none. The cases that it claims are those of its metrics with default options
and with the options that it names, which a case must have; "*" is any value. Where a thread says that nDCG was wrong
and not how (LightGCN), it is the code of the project that it followed; RecBole's are as the commits of the change show.
"""

import math
import struct
from collections.abc import Callable
from typing import Any, NamedTuple

import twins

USUAL = {"queries": "*", "duplicates": "once", "k": "*"}


class Bug(NamedTuple):
    """`value` is wrong for a query, or `order` ranks [document, score] rows wrongly, or `mean` averages wrongly."""

    link: str
    told: str
    metrics: tuple[str, ...]
    value: Callable[..., float] | None = None
    order: Callable[..., list[str]] | None = None
    mean: Callable[..., float] | None = None
    options: dict[str, Any] = {}

    def evaluate(self, case):
        """The values of a case, or None if it is not claimed."""
        options = {key: value for key, value in case["options"].items() if key != "name"}
        claimed = {**USUAL, **self.options}
        known = all(claimed.get(option) in ("*", value) for option, value in options.items())
        asked = all(value in ("*", options.get(option)) for option, value in self.options.items())
        if case["options"]["name"] not in self.metrics or not (known and asked):
            return None
        found, right = {}, twins.values_of(case)
        for query, judged in case["qrels"].items():
            entries = case["run"].get(query, [])
            if query in right:
                found[query] = self.of_query(case, query, entries, dict(judged)) if not self.mean else right[query]
        name = case["options"]["name"]
        found["all"] = self.mean(found, case["run"]) if self.mean else twins.mean(name, options, found.values())
        return found

    def of_query(self, case, query, entries, labels):
        options = case["options"]
        scored = bool(entries) and isinstance(entries[0], list)
        if self.order and scored:
            docs = self.order(entries, labels)
        elif scored:
            rules = {key: value for key, value in options.items() if key in twins.RULES and value != "average"}
            [docs] = twins.rankings(query, entries, labels, rules)
        else:
            docs = entries
        k = options.get("k") or len(docs if options["name"] == "precision" else [*docs, *labels])
        return (self.value or RIGHT[options["name"]])(docs, labels, k)


def gains(docs, labels):
    """Each document once."""
    return [max(labels.get(doc, 0), 0) if doc not in docs[:place] else 0 for place, doc in enumerate(docs)]


def dcg(values, discount=lambda rank: math.log2(rank + 1)):
    return sum(value / discount(rank) for rank, value in enumerate(values, 1))


def over(a, b):
    return a / b if b else 0.0


def ideal(labels):
    return sorted((max(label, 0) for label in labels.values()), reverse=True)


def relevant(labels):
    return {doc for doc, label in labels.items() if label >= 1}


def hits(docs, labels):
    return [rank for rank, gain in enumerate(gains(docs, labels), 1) if gain >= 1]


def precisions(found):
    return sum(number / rank for number, rank in enumerate(found, 1))


RIGHT = {
    "ndcg": lambda docs, labels, k: over(dcg(gains(docs, labels)[:k]), dcg(ideal(labels)[:k])),
    "mrr": lambda docs, labels, k: over(1, next(iter(hits(docs[:k], labels)), 0)),
    "map": lambda docs, labels, k: over(precisions(hits(docs[:k], labels)), len(relevant(labels))),
}


def with_copies(docs, labels):
    return [max(labels.get(doc, 0), 0) for doc in docs]


def ranks_with_copies(docs, labels):
    return [rank for rank, gain in enumerate(with_copies(docs, labels), 1) if gain >= 1]


def jarvelin_from_0(rank):
    return math.log2(rank) if rank > 1 else 1.0


def single(score):
    return struct.unpack("f", struct.pack("f", score))[0]


def insertion(entries, labels):
    return [row[0] for row in sorted(entries, key=lambda row: row[1], reverse=True)]


def in_favour(entries, labels):
    return [row[0] for row in sorted(entries, key=lambda row: (-row[1], -max(labels.get(row[0], 0), 0)))]


def in_single_precision(entries, labels):
    return [row[0] for row in sorted(entries, key=lambda row: (single(row[1]), str(row[0]).encode()), reverse=True)]


def unit(docs, labels, k, copies=False):
    """Gains of 1 for binary nDCG."""
    return [float(gain >= 1) for gain in (with_copies if copies else gains)(docs, labels)][:k]


def recbole_map(docs, labels, k):
    found = hits(docs[:k], labels)
    return over(precisions(found), min(k, len(relevant(labels)))) if k in found else 0.0


def without_discount(docs, labels, k):
    return over(sum(unit(docs, labels, k)), min(k, len(relevant(labels))))


def answered_alone(found, run):
    answered = [value for query, value in found.items() if run.get(query)]
    return math.fsum(answered) / len(answered) if answered else math.nan


def renamed_copies(docs, labels, k):
    """Copies become documents of their own, and so may be named as one that is relevant."""
    names = [f"{doc}_{docs[:place].count(doc)}" if doc in docs[:place] else doc for place, doc in enumerate(docs)]
    known = {**labels, **{name: labels.get(doc, 0) for name, doc in zip(names, docs, strict=True)}}
    return over(dcg(gains(names, known)[:k]), dcg(ideal(known)[:k]))


def err_of_4(docs, labels, k):
    total, goes_on = 0.0, 1.0
    for rank, gain in enumerate(gains(docs, labels)[:k], 1):
        total += goes_on * (2**gain - 1) / 2**4 / rank
        goes_on *= 1 - (2**gain - 1) / 2**4
    return total


GITHUB = "https://github.com/"
BINARY = {"gain": "binary"}
BUGS = (
    Bug("spiceai/spiceai/issues/12277", "the ideal ranking is sorted from the documents that were retrieved", ("ndcg",),
        lambda d, y, k: over(dcg(gains(d, y)[:k]), dcg(sorted(gains(d, y), reverse=True)[:k]))),
    Bug("spiceai/spiceai/pull/12278", "a query without results leaves the mean", ("ndcg", "recall", "mrr", "precision"),
        mean=answered_alone),
    Bug("elastic/elasticsearch/pull/154362", "_rank_eval's ideal ranking is as long as the hits, not as k", ("ndcg",),
        lambda d, y, k: over(dcg(gains(d, y)[:k]), dcg(ideal(y)[: min(k, len(d))]))),
    Bug("deepset-ai/haystack/pull/11959", "DCG credits every copy of a document", ("ndcg",),
        lambda d, y, k: over(dcg(with_copies(d, y)[:k]), dcg(ideal(y)[:k]))),
    Bug("deepset-ai/haystack/pull/12255", "average precision is divided by the relevant documents found", ("map",),
        lambda d, y, k: over(precisions(hits(d[:k], y)), len(hits(d[:k], y)))),
    Bug("truera/trulens/pull/2747", "recall counts every copy of a relevant document", ("recall",),
        lambda d, y, k: over(sum(doc in relevant(y) for doc in d[:k]), len(relevant(y)))),
    Bug("embeddings-benchmark/mteb/pull/5136", "MRR leaves equal scores in the order of the dict", ("mrr",),
        order=insertion),
    Bug("run-llama/llama_index/pull/22683", "average precision counts every copy, and exceeds 1", ("map",),
        lambda d, y, k: over(precisions(ranks_with_copies(d[:k], y)), len(relevant(y)))),
    Bug("run-llama/llama_index/issues/17070", "LlamaIndex's ideal DCG sums over the documents retrieved", ("ndcg",),
        lambda d, y, k: over(dcg(unit(d, y, k)), dcg([1.0] * min(k, len(d)))), options=BINARY),
    Bug("OpenAgentHQ/openagent-eval/issues/223", "the discount is off by one: rank 2 counts as rank 1", ("ndcg",),
        lambda d, y, k: over(dcg(gains(d, y)[:k], jarvelin_from_0), dcg(ideal(y)[:k], jarvelin_from_0))),
    Bug("yihong-chen/neural-collaborative-filtering/issues/2", "the discount is log2(rank + 2)", ("ndcg",),
        lambda d, y, k: over(dcg(gains(d, y)[:k], lambda rank: math.log2(rank + 2)), dcg(ideal(y)[:k]))),
    Bug("xiangwang1223/neural_graph_collaborative_filtering/issues/34", "NGCF's ideal is the hits of the whole list, "
        "sorted", ("ndcg",),
        lambda d, y, k: over(dcg(unit(d, y, k)), dcg(sorted(unit(d, y, None), reverse=True)[:k])), options=BINARY),
    Bug("kuandeng/LightGCN/issues/1", "LightGCN's paper: the ideal is the hits of the first k, sorted", ("ndcg",),
        lambda d, y, k: over(dcg(unit(d, y, k)), dcg(sorted(unit(d, y, k), reverse=True))), options=BINARY),
    Bug("allenjack/HGN/pull/1", "DCG stops where the relevant documents would end in an ideal ranking", ("ndcg",),
        lambda d, y, k: over(dcg(unit(d, y, min(k, len(relevant(y))))), dcg([1.0] * min(k, len(relevant(y))))),
        options=BINARY),
    Bug("RUCAIBox/RecBole/pull/120", "RecBole's nDCG keeps ranks in an array of booleans: no discount", ("ndcg",),
        without_discount, options=BINARY),
    Bug("RUCAIBox/RecBole/pull/155", "RecBole's MAP@k is 0 unless the document at rank k is relevant", ("map",),
        recbole_map, options={"ap_norm": "min_kR"}),
    Bug("Lightning-AI/torchmetrics/pull/2031", "torchmetrics' nDCG takes one order of equal scores for all", ("ndcg",),
        lambda d, y, k: over(dcg(gains(d, y)[:k]), dcg(sorted(gains(d, y), reverse=True)[:k])), insertion,
        options={"ties": "average", "ideal": "retrieved"}),
    Bug("elixir-nx/scholar/issues/360", "equal scores are ordered in the model's favour", ("ndcg",), order=in_favour),
    Bug("usnistgov/trec_eval/issues/34", "scores are kept in single precision: close ones are equal", ("ndcg", "map"),
        order=in_single_precision),
    Bug("usnistgov/trec_eval/issues/49", "fractions of labels are cut", ("ndcg", "dcg", "cg"),
        lambda d, y, k: over(dcg([int(g) for g in gains(d, y)][:k]), dcg([int(g) for g in ideal(y)][:k]))),
    Bug("terrierteam/ir_measures/issues/50", "ir_measures' ERR has a highest grade of 4, whatever the scale", ("err",),
        err_of_4, options={"max_grade": "*"}),
    Bug("mlflow/mlflow/issues/25965", "MLflow's nDCG takes copies for documents of their own", ("ndcg",),
        renamed_copies),
    Bug("garrytan/gbrain/issues/4607", "precision counts every copy of a relevant document", ("precision",),
        lambda d, y, k: over(sum(doc in relevant(y) for doc in d[:k]), k)),
    Bug("RapidFireAI/rapidfireai/issues/261", "gains of 1 are divided by an ideal of gains of 3", ("ndcg",),
        lambda d, y, k: over(dcg(unit(d, y, k)), dcg([3.0] * min(k, len(relevant(y))))), options=BINARY),
    Bug("lenskit/lenskit/issues/869", "the ideal ranking is not cut at k", ("ndcg",),
        lambda d, y, k: over(dcg(gains(d, y)[:k]), dcg(ideal(y)))),
    Bug("MemPalace/mempalace/issues/2387", "any relevant document is found where all were asked for", ("recall_all",),
        lambda d, y, k: float(bool(hits(d[:k], y)))),
)  # fmt: skip
