"""The value of a case by the slow twins of tests/oracle: the options of the suite as plain Python, nothing of fastir.

What the oracle does not know is here: repeats, excluded documents, chunks of documents, lists without scores, and the
mean over all orders of equal scores, by going through them.
"""

import ctypes
import itertools
import math

import oracle

RULES = ("ties", "queries", "duplicates", "score_dtype", "rel_level", "judged_only", "max_depth", "exclude", "parents")
GEOMETRIC = ("gm_map", "gm_bpref", "gmean_rank")
MOST_ORDERS = 1000
SUMS = ("num_ret", "num_rel", "num_rel_ret", "num_nonrel_judged_ret", "num_q")


def values_of(case):
    """{query: value} of a case, and "all": their mean, or their sum."""
    options = dict(case["options"])
    name, k = options.pop("name"), options.pop("k", None)
    rules = {rule: options.pop(rule) for rule in RULES if rule in options}
    params = {key: numbered(value) for key, value in options.items()}
    request, found = oracle.Request(name, k, None, params), {}
    for query, judged in case["qrels"].items():
        if query in case["run"] or rules.get("queries", "qrels") != "intersection":
            labels = dict(judged)
            lists = rankings(query, case["run"].get(query, []), labels, rules)
            level = rules.get("rel_level", 1)
            of_orders = [request.value(codes(ranked, labels, rules), [*labels.values()], level) for ranked in lists]
            found[query] = math.fsum(of_orders) / len(of_orders) if len(of_orders) > 1 else of_orders[0]
    return {**found, "all": mean(name, params, found.values())}


def numbered(value):
    """Gains: the keys of objects are strings in JSON."""
    return {int(key): gain for key, gain in value.items()} if isinstance(value, dict) else value


def mean(name, params, values):
    """The exact sum over the number of queries, or as the metric has it; NaN leaves it, unless it shall stay."""
    values = [*values]
    if not {"nan", "min_nan"} & {str(value) for value in params.values()} or params.get("unranked") == "nan":
        values = [value for value in values if value == value]
    if name in SUMS:
        return math.fsum(values)
    if name in GEOMETRIC and values:
        return math.exp(math.fsum(map(math.log, values)) / len(values))
    return math.fsum(values) / len(values) if values else math.nan


def rankings(query, entries, labels, rules):
    """The rankings of a query, ids best first: one, but under "average" one for each order of equal scores."""
    rows = [(entry, 0.0) if not isinstance(entry, list) else tuple(entry) for entry in entries]
    listed = bool(entries) and not isinstance(entries[0], list)
    if "parents" in rules:
        rows = [(rules["parents"].get(doc, doc), score) for doc, score in rows]
        rows = rows if listed else best_rows(rows)
        rows = [row for place, row in enumerate(rows) if row[0] not in {doc for doc, _ in rows[:place]}]
    if rules.get("exclude") == "query_id":
        rows = [row for row in rows if row[0] != query]
    if not listed:
        single = rules.get("score_dtype") == "float32"
        rows = [(doc, ctypes.c_float(score).value if single else score) for doc, score in rows]
        ties = rules.get("ties", "trec")
        if ties == "average":
            groups = [[d for d, s in rows if s == score] for score in sorted({s for _, s in rows}, reverse=True)]
            if math.prod(math.factorial(len(group)) for group in groups) > MOST_ORDERS:
                raise ValueError("too many orders")
            orders = itertools.product(*map(itertools.permutations, groups))
            return [[doc for group in order for doc in group] for order in orders]
        rows = sorted(rows, key=lambda row: str(row[0]).encode(), reverse=ties == "trec") if ties in IDS else rows
        worth = {"optimistic": -1, "pessimistic": 1}.get(ties, 0)
        rows = sorted(rows, key=lambda row: (-row[1], worth * max(labels.get(row[0], 0), 0)))
    ranked = [doc for doc, _ in rows]
    if rules.get("duplicates") == "first":
        return [list(dict.fromkeys(ranked))]
    return [[None if doc in ranked[:place] else doc for place, doc in enumerate(ranked)]]


IDS = ("trec", "doc_id_asc")


def best_rows(rows):
    """Each document once, with its best score, at the place of that one."""
    best = {}
    for doc, score in rows:
        best[doc] = max(score, best.get(doc, score))
    return [row for row in rows if best[row[0]] == row[1]]


def codes(ranked, labels, rules):
    """As oracle.codes; a repeat is None, which nobody judged."""
    in_pool = {doc: label if label >= 0 else -2 for doc, label in labels.items()}
    found = [in_pool.get(doc, -1) for doc in ranked[: rules.get("max_depth")]]
    return [code for code in found if code >= 0] if rules.get("judged_only") else found
