"""A textbook implementation of the cases in beyond/, from their schema alone: python run.py beyond beyond.

Each function takes the input of a case, its cutoff and its other options, and returns {query or name: value}.
"""

import itertools
import math

WORTH = {"support": 1.0, "partial_support": 0.5, "not_support": 0.0}


def evaluate(case):
    """The values of a case, with "all", the mean of those that are defined, where they are of queries."""
    options = dict(case["options"])
    function = KINDS[case["kind"]]
    values = function(case["input"], options.pop("name"), **options)
    if function in OF_NAMES:
        return values
    defined = [value for value in values.values() if value == value]
    return {**values, "all": math.fsum(defined) / len(defined) if defined else math.nan}


# ---- rankings --------------------------------------------------------------------------------------------------------
def ranking(docs):
    """Document ids, best first; equal scores by their ids from the last to the first."""
    return sorted(docs, key=lambda doc: (docs[doc], doc.encode()), reverse=True)


def orders(docs):
    """All orders of documents that differ in that of equal scores."""
    groups = [[doc for doc in docs if docs[doc] == score] for score in sorted(set(docs.values()), reverse=True)]
    for order in itertools.product(*map(itertools.permutations, groups)):
        yield list(itertools.chain(*order))


def plain(name, ranked, labels, k):
    """A usual metric of one ranking."""
    relevant = {doc for doc, label in labels.items() if label >= 1}
    hits = [doc in relevant for doc in ranked[:k]]
    if name == "precision":
        return sum(hits) / (len(hits) if k is None else k) if hits or k else 0.0
    if name == "recall":
        return sum(hits) / len(relevant) if relevant else 0.0
    if name == "mrr":
        return 1 / (hits.index(True) + 1) if True in hits else 0.0
    if name == "map":
        found = [sum(hits[:rank]) / rank for rank, hit in enumerate(hits, 1) if hit]
        return math.fsum(found) / len(relevant) if relevant else 0.0
    best = sorted(labels.values(), reverse=True)[:k]
    ideal = dcg(best)
    return dcg([labels.get(doc, 0) for doc in ranked[:k]]) / ideal if ideal else 0.0


def dcg(labels):
    return math.fsum(max(label, 0) / math.log2(rank + 1) for rank, label in enumerate(labels, 1))


# ---- ties, no answer -------------------------------------------------------------------------------------------------
def ties(given, name, k=None):
    expected, lowest, highest, own, longest = [], [], [], [], 1
    for query, labels in given["qrels"].items():
        docs = given["run"][query]
        values = [plain(name, ranked, labels, k) for ranked in orders(docs)]
        expected.append(math.fsum(values) / len(values))
        lowest.append(min(values))
        highest.append(max(values))
        own.append(plain(name, ranking(docs), labels, k))
        for score in docs.values():
            above = sum(other > score for other in docs.values())
            longest = max(longest, sum(other == score for other in docs.values()) if k is None or above < k else 1)
    means = [math.fsum(values) / len(values) for values in (expected, lowest, highest, own)]
    return {
        "expected": means[0], "lowest": means[1], "highest": means[2], "range": means[2] - means[1],
        "bias": means[3] - means[0], "n_queries": sum(map(float.__lt__, lowest, highest)), "largest_group": longest,
    }  # fmt: skip


def silence(given, name, k=None, min_score=-math.inf):
    values = {}
    named = given.get("unanswerable", ())
    for query in [*given["qrels"], *(query for query in named if query not in given["qrels"])]:
        labels = given["qrels"].get(query, {})
        docs = {doc: score for doc, score in given["run"].get(query, {}).items() if score >= min_score}
        answerable = any(label >= 1 for label in labels.values())
        unanswerable = query in named if "unanswerable" in given else not answerable
        shown = float(bool(docs))
        values[query] = {
            "surfaced": shown,
            "false_surface": shown if unanswerable else math.nan,
            "false_abstention": 1 - shown if answerable else math.nan,
        }.get(name, math.nan)
        if name not in ("surfaced", "false_surface", "false_abstention"):
            values[query] = plain(name, ranking(docs), labels, k)
    return values


def risk_coverage(given, name):
    values, sure = given["values"], given["certainty"]
    n = len(values)

    def averaged(by, order):
        groups = {key: [v for v, other in zip(values, by, strict=True) if other == key] for key in by}
        return [math.fsum(groups[by[place]]) / len(groups[by[place]]) for place in order]

    def area(by):
        """Under the mean of what is left, at the rates of abstention 0, 0.1, ..., 0.9."""
        rising = averaged(by, sorted(range(n), key=lambda place: by[place]))
        means = [math.fsum(rising[left:]) / (n - left) for left in (min(round(r / 10 * n), n - 1) for r in range(10))]
        return 0.1 * math.fsum((a + b) / 2 for a, b in itertools.pairwise(means))

    def risks(by):
        falling = averaged(by, sorted(range(n), key=lambda place: -by[place]))
        return [1 - math.fsum(falling[:count]) / count for count in range(1, n + 1)]

    aurc, best = math.fsum(risks(sure)) / n, math.fsum(risks(values)) / n
    flat = 0.9 * math.fsum(values) / n
    found = {"aurc": aurc, "e_aurc": aurc - best, "nauc": (area(sure) - flat) / (area(values) - flat)}
    return found | {f"risk@{count}": risk for count, risk in enumerate(risks(sure), 1)}


# ---- forbidden documents, evidence -----------------------------------------------------------------------------------
def forbidden(given, name, k=None, p=0.95):
    values = {}
    for query, labels in given["qrels"].items():
        ranked, banned = ranking(given["run"].get(query, {})), given["forbidden"].get(query, [])
        hits = sum(doc in banned for doc in ranked[:k])
        values[query] = {
            "forbidden_hits": lambda hits=hits: float(hits),
            "forbidden_rate": lambda hits=hits: float(hits > 0),
            "leak_recall": lambda labels=labels, ranked=ranked, banned=banned, hits=hits: max(
                0.0, plain("recall", ranked, labels, k) - (hits / len(banned) if banned else 0.0)
            ),
            "compat_help_harm": lambda labels=labels, ranked=ranked, banned=banned: (
                compatibility(ranked, labels, p) - compatibility(ranked, dict.fromkeys(banned, 1), p)
            ),
        }[name]()
    return values


def compatibility(ranked, labels, p):
    """Rank-biased overlap with the ideal ranking, over that of the ideal ranking with itself."""
    ideal = [doc for doc in labels if labels[doc] > 0]
    at = {doc: rank for rank, doc in enumerate(ranked)}
    ideal.sort(key=lambda doc: (-labels[doc], at.get(doc, len(at))))
    if not ideal or not ranked:
        return 0.0
    depths = range(1, max(len(ideal), len(ranked)) + 1)

    def overlap(other):
        return math.fsum(p ** (d - 1) * len({*ideal[:d]} & {*other[:d]}) / d for d in depths)

    return overlap(ranked) / overlap(ideal)


def evidence(given, name, k=None, set_ranks="documents"):
    values = {}
    for query, sets in given["sets" if "sets" in given else "hops"].items():
        ranked = ranking(given["run"].get(query, {}))
        at = {doc: rank for rank, doc in enumerate(ranked, 1)}
        if set_ranks == "sets":  # the retrieved members of a set are one rank, at the last of them
            points = []
            for doc in ranked:
                last = [docs for docs in sets if doc in docs and max(at.get(other, 0) for other in docs) == at[doc]]
                points += [tuple(docs) for docs in last] if any(doc in docs for docs in sets) else [doc]
            ranks = [points.index(tuple(docs)) + 1 if at.keys() >= {*docs} else math.inf for docs in sets]
        else:
            ranks = [max(at.get(doc, math.inf) for doc in docs) for docs in sets]
        cut = math.inf if k is None else k
        within = [[at.get(doc, math.inf) <= cut for doc in docs] for docs in sets]
        complete = [rank for rank in ranks if rank <= cut]
        values[query] = {
            "evidence_recall": len(complete) / len(sets), "evidence_found": float(bool(complete)),
            "evidence_mrr": 1 / min(complete) if complete else 0.0,
            "evidence_chain": max(sum(docs) / len(docs) for docs in within),
            "hop_recall": sum(map(any, within)) / len(sets), "all_hops": float(all(map(any, within))),
        }[name]  # fmt: skip
    return values


# ---- clusters, many looks --------------------------------------------------------------------------------------------
def clusters(given, name, confidence=0.95):
    """The t interval of a mean with clustered errors, of two or three clusters: their quantiles have closed forms."""
    values, labels = given["values"], given["clusters"]
    mean, n, names = math.fsum(values) / len(values), len(values), sorted(set(labels))
    sums = [math.fsum(v - mean for v, label in zip(values, labels, strict=True) if label == own) for own in names]
    error = math.sqrt(math.fsum(total * total for total in sums) * len(names) / (len(names) - 1)) / n
    tail = (1 + confidence) / 2
    t = {
        2: math.tan(math.pi * (tail - 0.5)),
        3: (2 * tail - 1) / math.sqrt(2 * tail * (1 - tail)),
    }[len(names)]
    return {"mean": mean, "low": mean - t * error, "high": mean + t * error}


def confidence_sequence(given, name, low=0.0, high=1.0, confidence=0.95):
    """Waudby-Smith and Ramdas 2023, theorem 2, and the running intersection."""
    unit = [(value - low) / (high - low) for value in given["values"]]
    cost = math.log(2 / (1 - confidence))
    mean, spread, total, weighted, penalty, found = 0.5, 0.25, 0.0, 0.0, 0.0, {}
    lower, upper = 0.0, 1.0
    for look, x in enumerate(unit, 1):
        weight = min(0.5, math.sqrt(2 * cost / (spread * look * math.log(1 + look))))
        total += weight
        weighted += weight * x
        penalty += (x - mean) ** 2 * (-math.log(1 - weight) - weight)
        margin = (cost + penalty) / total
        lower, upper = max(lower, weighted / total - margin), min(upper, weighted / total + margin)
        mean = (0.5 + math.fsum(unit[:look])) / (look + 1)
        deviations = [(y - (0.5 + math.fsum(unit[: i + 1])) / (i + 2)) ** 2 for i, y in enumerate(unit[:look])]
        spread = (0.25 + math.fsum(deviations)) / (look + 1)
        found |= {f"low@{look}": lower * (high - low) + low, f"high@{look}": upper * (high - low) + low}
    return found


# ---- verdicts --------------------------------------------------------------------------------------------------------
def nuggets(given, name):
    values = {}
    for query, expected in given["expected"].items():
        worth = {nugget: WORTH[given["verdicts"].get(query, {}).get(nugget, "not_support")] for nugget in expected}
        if name.endswith("_strict"):
            worth = {nugget: float(each == 1) for nugget, each in worth.items()}
        weights = dict.fromkeys(expected, 1.0)
        if name == "weighted_nugget_recall":
            weights = {nugget: 1.0 if importance == "vital" else 0.5 for nugget, importance in expected.items()}
        if name.startswith("vital"):
            weights = {nugget: float(importance == "vital") for nugget, importance in expected.items()}
        total = sum(weights.values())
        values[query] = sum(weights[nugget] * worth[nugget] for nugget in expected) / total if total else 0.0
    return values


def citations(given, name):
    """Sentences are lists of [verdict of a citation, ...]; nuggets are those that each sentence has."""
    values = {}
    for query, sentences in given["sentences"].items():
        cited = [[WORTH[verdict] for verdict in each["support"]] for each in sentences]
        flat, n = [worth for each in cited for worth in each], len(sentences)
        rewarded = [
            all(worth == 1 for worth in each) and (bool(each) or sentence.get("needs_none", False))
            for each, sentence in zip(cited, sentences, strict=True)
        ]
        known = {nugget for good, each in zip(rewarded, sentences, strict=True) if good for nugget in each["nuggets"]}
        wanted = given.get("expected", {}).get(query, [])
        precision, recall = sum(rewarded) / n, len(known & {*wanted}) / len(wanted) if wanted else 0.0
        values[query] = {
            "citation_precision": sum(flat) / len(flat) if flat else 0.0,
            "citation_precision_strict": flat.count(1.0) / len(flat) if flat else 0.0,
            "citation_recall": sum(max(each, default=0.0) for each in cited) / n,
            "citation_recall_strict": sum(1.0 in each for each in cited) / n,
            "sentence_citation_precision": sum(bool(each) and min(each) > 0 for each in cited) / n,
            "report_precision": precision, "report_recall": recall,
            "report_f1": 2 * precision * recall / (precision + recall) if precision + recall else 0.0,
        }[name]  # fmt: skip
    return values


# ---- costs, exposure -------------------------------------------------------------------------------------------------
def costs(given, name, budget=math.inf, over_budget="stop", at_least_one=False):
    values = {}
    for query, labels in given["qrels"].items():
        ranked, spent, read, sums = ranking(given["run"].get(query, {})), 0.0, [], []
        for doc in ranked:
            sums.append((sums[-1] if sums else 0.0) + given["costs"][doc])
            if spent + given["costs"][doc] <= budget:
                spent += given["costs"][doc]
                read.append(doc)
            elif over_budget == "stop":
                break
        read = read or ranked[: int(at_least_one)]
        relevant = {doc for doc, label in labels.items() if label >= 1}
        places = [place for place, doc in enumerate(ranked) if doc in relevant]
        if name == "cost_first_rel":
            values[query] = sums[places[0]] if places else math.nan
        elif name == "cost_all_rel":
            values[query] = sums[places[-1]] if places and len(places) == len(relevant) else math.nan
        else:
            values[query] = plain(name, read, labels, None)
    return values


def weight(rank):
    return 1 / math.log2(max(rank, 2))


def exposure(given, name, k):
    values = {}
    for query, labels in given["qrels"].items():
        ranked, target = ranking(given["run"].get(query, {}))[:k], given["target"]
        shares = dict.fromkeys(target, 0.0)
        for rank, doc in enumerate(ranked, 1):
            for group, share in given["groups"].get(doc, {}).items():
                shares[group] += weight(rank) * share
        total = sum(shares.values())
        fair = 1 - divergence({g: share / total for g, share in shares.items()}, target) if total else math.nan
        fair = fair if ranked else 0.0
        relevant = {doc for doc, label in labels.items() if label >= 1}
        best = math.fsum(weight(rank) for rank in range(1, min(k, len(relevant)) + 1))
        gained = math.fsum(weight(rank) for rank, doc in enumerate(ranked, 1) if doc in relevant)
        values[query] = fair if name == "awrf" else fair * (gained / best if best else 0.0)
    return values


def divergence(p, q):
    """The Jensen-Shannon divergence with the natural logarithm."""
    middle = {group: (p[group] + q[group]) / 2 for group in q}
    return math.fsum(
        side[group] * math.log(side[group] / middle[group]) / 2 for side in (p, q) for group in q if side[group]
    )


def expected_exposure(given, name, depth=20):
    values = {}
    for query, rankings in given["rankings"].items():
        relevant = {doc for doc, label in given["qrels"][query].items() if label >= 1}
        found = dict.fromkeys(given["target"], 0.0)
        for ranked in rankings:
            for rank, doc in enumerate(ranked, 1):
                for group, share in given["groups"].get(doc, {}).items() if doc in relevant else ():
                    found[group] += weight(rank) * share / len(rankings)
        available = math.fsum(map(weight, range(1, depth + 1)))
        pairs = [(found[group], share * available) for group, share in given["target"].items()]
        values[query] = {
            "ee_d": math.fsum(a * a for a, _ in pairs), "ee_r": math.fsum(a * b for a, b in pairs),
            "ee_l": math.fsum((a - b) ** 2 for a, b in pairs),
        }[name]  # fmt: skip
    return values


OF_NAMES = (ties, risk_coverage, clusters, confidence_sequence)  # whose values are not of queries
KINDS = {
    kind.__name__: kind
    for kind in (
        *(ties, silence, risk_coverage, forbidden, evidence, clusters, confidence_sequence, nuggets, citations),
        *(costs, exposure, expected_exposure),
    )
}
