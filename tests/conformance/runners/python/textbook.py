"""A textbook implementation, written from the files of the suite alone: binary metrics, DCG and nDCG."""

import math
import struct

METRICS = """num_ret num_rel num_rel_ret precision recall hit_rate recall_all mrr r_precision map dcg dcg_burges ndcg
    ndcg_burges"""
NAMES = METRICS.split()
CHOICES = {
    "ties": ("trec", "doc_id_asc", "input"), "queries": ("qrels", "intersection", "strict"),
    "duplicates": ("once", "first"), "score_dtype": ("float64", "float32"), "exclude": ("query_id",),
    "gain": ("linear", "exp2", "binary"), "discount": ("log2", "jk2"), "empty": ("zero", "one", "skip", "nan"),
    "ideal": ("judged", "retrieved", "num_ret", "full"), "ap_norm": ("R", "min_kR", "hits", "min_nkR"),
    "recall_norm": ("R", "min_kR"), "short_rankings": ("pad", "clip"), "empty_ranking": ("zero", "skip"),
}  # fmt: skip
NUMBERS = ("name", "k", "rel_level", "max_depth", "judged_only")


def evaluate(case):
    options = case["options"]
    known = all(key in NUMBERS or value in CHOICES.get(key, ()) for key, value in options.items())
    if options["name"] not in NAMES or not known:
        return None
    found = {}
    for query, judged in case["qrels"].items():
        if query in case["run"] or options.get("queries", "qrels") == "qrels":
            labels = {doc: label for doc, label in judged if label >= 0}
            found[query] = value(ranked(query, case["run"].get(query, []), labels, options), labels.values(), options)
    counted = [v for v in found.values() if v == v or options.get("empty") == "nan"]
    n = 1 if options["name"].startswith("num_") else len(counted)
    return {**found, "all": sum(counted) / n if n else math.nan}


def ranked(query, entries, labels, options):
    """The label at each rank, None for a document without one."""
    docs = entries
    if entries and isinstance(entries[0], list):
        single = options.get("score_dtype") == "float32"
        score = (lambda row: struct.unpack("f", struct.pack("f", row[1]))[0]) if single else lambda row: row[1]
        ties = options.get("ties", "trec")
        if ties != "input":
            entries = sorted(entries, key=lambda row: str(row[0]).encode(), reverse=ties == "trec")
        docs = [row[0] for row in sorted(entries, key=score, reverse=True)]
    if options.get("exclude") == "query_id":
        docs = [doc for doc in docs if doc != query]
    if options.get("duplicates") == "first":
        docs = list(dict.fromkeys(docs))
    found = [None if doc in docs[:place] else labels.get(doc) for place, doc in enumerate(docs)]
    found = found[: options.get("max_depth")]
    return [label for label in found if label is not None] if options.get("judged_only") else found


def value(x, judged, options):
    name, k, level = options["name"], options.get("k"), options.get("rel_level", 1)
    choice = lambda key, default: options.get(key, default)  # noqa: E731
    gain = "exp2" if name.endswith("burges") else choice("gain", "linear")
    relevant = [rank for rank, label in enumerate(x, 1) if label is not None and label >= level]
    hits = [rank for rank in relevant if not k or rank <= k]
    total = sum(label >= level for label in judged)

    def gains(labels):
        of = {"linear": lambda v: v, "exp2": lambda v: 2.0**v - 1, "binary": lambda v: float(v >= level)}[gain]
        return [0.0 if label is None else of(label) for label in labels]

    def dcg(values):
        shift = 0 if choice("discount", "log2") == "jk2" else 1
        return sum(v / (math.log2(rank + shift) if rank > 1 else 1) for rank, v in enumerate(values, 1))

    if choice("empty_ranking", "zero") == "skip" and not x:
        return math.nan
    if choice("empty", "zero") != "zero" and not (any(gains(judged)) if "dcg" in name else total):
        return 1.0 if options["empty"] == "one" else math.nan
    if "dcg" in name:
        best = sorted(gains(x if choice("ideal", "judged") == "retrieved" else judged), reverse=True)
        if choice("ideal", "judged") == "full":
            best = best[:1] * (k or len(x))
        cut = min(k or len(x), len(x)) if choice("ideal", "judged") == "num_ret" else k
        top = dcg(best[:cut]) if name.startswith("n") else 1.0
        return dcg(gains(x[:k])) / top if top else 0.0
    if name == "map":
        at_most = min(k or total, total)
        norm = {"R": total, "min_kR": at_most, "hits": len(hits), "min_nkR": min(len(x), at_most)}[
            choice("ap_norm", "R")
        ]
        return sum(number / rank for number, rank in enumerate(hits, 1)) / norm if norm else 0.0
    if name == "precision":
        depth = k if k and choice("short_rankings", "pad") == "pad" else len(x[:k])
        return len(hits) / depth if x else 0.0
    if name == "recall":
        norm = min(k or total, total) if choice("recall_norm", "R") == "min_kR" else total
        return len(hits) / norm if norm else 0.0
    if name == "r_precision":
        return sum(rank <= total for rank in relevant) / total if total else 0.0
    return float({"num_ret": len(x), "num_rel": total, "num_rel_ret": len(hits), "hit_rate": bool(hits),
                  "recall_all": 0 < total == len(hits), "mrr": 1 / hits[0] if hits else 0}[name])  # fmt: skip
