"""A textbook implementation, written from the files of the suite alone: binary metrics, bpref, (n)DCG, RBP and ERR."""

import math
import struct

METRICS = """num_ret num_rel num_rel_ret precision recall hit_rate recall_all mrr r_precision map dcg dcg_burges ndcg
    ndcg_burges relative_precision f1 bpref iprec rbp err"""
NAMES = METRICS.split()
CHOICES = {
    "ties": ("trec", "doc_id_asc", "input"), "queries": ("qrels", "intersection", "strict"),
    "duplicates": ("once", "first"), "score_dtype": ("float64", "float32"), "exclude": ("query_id",),
    "gain": ("linear", "exp2", "binary"), "discount": ("log2", "jk2"), "empty": ("zero", "one", "skip", "nan"),
    "ideal": ("judged", "retrieved", "num_ret", "full"), "ap_norm": ("R", "min_kR", "hits", "min_nkR"),
    "recall_norm": ("R", "min_kR"), "short_rankings": ("pad", "clip"), "empty_ranking": ("zero", "skip"),
    "bpref_norm": ("min", "R", "min_nan"), "negatives": ("skip", "nonrel"), "rounding": ("v10", "v9"),
    "unranked": ("zero", "nan"), "gains": ("binary", "raw", "scaled"), "rbp_norm": ("infinite", "cwl"),
}  # fmt: skip
NUMBERS = ("name", "k", "rel_level", "max_depth", "judged_only", "p", "recall", "max_grade")
STAYS = {"empty": "nan", "bpref_norm": "min_nan", "unranked": "nan"}  # options by which NaN stays in the mean


def evaluate(case):
    options = case["options"]
    known = all(key in NUMBERS or value in CHOICES.get(key, ()) for key, value in options.items())
    if options["name"] not in NAMES or not known:
        return None
    found = {}
    for query, judged in case["qrels"].items():
        if query in case["run"] or options.get("queries", "qrels") == "qrels":
            labels = {doc: label for doc, label in judged if label >= 0 or options.get("negatives") == "nonrel"}
            found[query] = value(ranked(query, case["run"].get(query, []), labels, options), labels.values(), options)
    stays = any(options.get(key) == value for key, value in STAYS.items())
    counted = [v for v in found.values() if v == v or stays]
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
    if name == "relative_precision":
        best = min(k or len(x), total)
        return len(hits) / best if best else 0.0
    if name == "f1":
        total += k or len(x)
        return 2 * len(hits) / total if hits else 0.0
    if name == "bpref":
        others = sum(label < level for label in judged)
        worst, found = total if choice("bpref_norm", "min") == "R" else min(others, total), 0.0
        for rank in relevant:
            above = sum(label is not None and label < level for label in x[:rank])
            if above or choice("bpref_norm", "min") == "min_nan":
                found += 1 - min(above, total) / worst if worst else math.nan
            else:
                found += 1
        return found / total if total else 0.0
    if name == "iprec":
        share = choice("recall", 0.0) * total
        needed = int(share + 0.9) if choice("rounding", "v10") == "v9" else int(share + 0.5)
        if not x and not needed and choice("unranked", "zero") == "nan":
            return math.nan
        precisions = [sum(other <= rank for other in relevant) / rank for rank in relevant[max(needed, 1) - 1 :]]
        return max(precisions, default=0.0)
    if name == "rbp":
        p, kind, most = choice("p", 0.8), choice("gains", "binary"), max(judged, default=0)
        of = {"binary": lambda v: float(v >= level), "raw": float, "scaled": lambda v: v / (most or 1)}[kind]
        x = x[: 1000 if choice("rbp_norm", "infinite") == "cwl" else None]
        seen = sum(of(label) * p**place for place, label in enumerate(x[:k]) if label is not None)
        return seen * (1 - p) / (1 - p**1000 if choice("rbp_norm", "infinite") == "cwl" else 1)
    if name == "err":
        going, found = 1.0, 0.0
        for rank, label in enumerate(x[:k], 1):
            stops = (2.0 ** (label or 0) - 1) / 2.0 ** choice("max_grade", 4)
            found, going = found + going * stops / rank, going * (1 - stops)
        return found
    if name == "r_precision":
        return sum(rank <= total for rank in relevant) / total if total else 0.0
    return float({"num_ret": len(x), "num_rel": total, "num_rel_ret": len(hits), "hit_rate": bool(hits),
                  "recall_all": 0 < total == len(hits), "mrr": 1 / hits[0] if hits else 0}[name])  # fmt: skip
