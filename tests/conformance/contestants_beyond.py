"""fastir as a contestant of the cases in beyond/."""

import warnings

import fastir

# The options that are a metric's parameters; the others are of `evaluate`.
IN_NAMES = ("p", "set_ranks", "budget", "over_budget")
OF_EVALUATE = ("forbidden", "unanswerable")


def evaluate(case):
    """{query: value, "all": mean}, or values by name."""
    options = dict(case["options"])
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", fastir.FastirWarning)
        return CALLS.get(case["kind"], of_run)(case["input"], options.pop("name"), options)


def named(name, options):
    """The metric with its cutoff and parameters."""
    params = ", ".join(f"{key}={options[key]}" for key in IN_NAMES if key in options)
    return name + f"({params})" * bool(params) + f"@{options.get('k')}" * ("k" in options)


def with_mean(results, metric):
    return {**results.per_query(metric), "all": results[metric]}


def of_run(given, name, options):
    qrels = given.get("qrels")
    if qrels is None:
        kind = "sets" if "sets" in given else "hops"
        qrels = {"sets": fastir.Qrels.from_sets, "hops": fastir.Qrels.from_hops}[kind](given[kind])
    more = {key: given[key] for key in OF_EVALUATE if key in given}
    more |= {option: given[key] for key, option in (("groups", "doc_groups"), ("costs", "doc_costs")) if key in given}
    more |= {key: options[key] for key in ("min_score", "at_least_one") if key in options}
    more |= {"target": given["target"]} if "target" in given else {}
    metric = named(name, options)
    return with_mean(fastir.evaluate(qrels, given["run"], metric, queries="qrels", **more), metric)


def ties(given, name, options):
    metric = named(name, options)
    found = fastir.evaluate(given["qrels"], given["run"], metric, ties_report=True).ties()[metric]
    return {key: getattr(found, key) for key in ("expected", "lowest", "highest", "range", "bias", "n_queries",
                                                 "largest_group")}  # fmt: skip


def risk_coverage(given, name, options):
    values = {f"q{place}": float(value) for place, value in enumerate(given["values"])}
    metric = fastir.custom_metric("worth", lambda judged: [values[query] for query in judged.query_ids])
    queries = {query: {"d": 1} for query in values}
    results = fastir.evaluate(queries, queries, metric)
    curve = fastir.risk_coverage(results, "worth", given["certainty"])
    risks = {f"risk@{count}": risk for count, risk in enumerate(curve.risk.tolist(), 1)}
    return {"aurc": curve.aurc, "e_aurc": curve.e_aurc, "nauc": curve.nauc} | risks


def clusters(given, name, options):
    found = fastir.stats.t_interval(given["values"], clusters=given["clusters"], **options)
    return {"mean": found.estimate, "low": found.low, "high": found.high}


def confidence_sequence(given, name, options):
    found = fastir.stats.confidence_sequence(given["values"], **{"low": 0, "high": 1} | options)
    looks = enumerate(zip(found.low.tolist(), found.high.tolist(), strict=True), 1)
    return {f"{side}@{look}": bound for look, pair in looks for side, bound in zip(("low", "high"), pair, strict=True)}


def nuggets(given, name, options):
    rows = [
        {"query_id": query, "nugget": nugget, "importance": given["expected"][query][nugget], "assignment": verdict}
        for query, verdicts in given["verdicts"].items()
        for nugget, verdict in verdicts.items()
    ]
    results = fastir.evaluate_nuggets(rows, name, expected=given["expected"], missing="zero")["run"]
    return with_mean(results, name)


def citations(given, name, options):
    rows = []
    for query, sentences in given["sentences"].items():
        for number, sentence in enumerate(sentences):
            support = dict(enumerate(sentence["support"])) or {None: "support" if "needs_none" in sentence else None}
            rows += [
                {"query_id": query, "sentence": number, "citation": cited, "support": verdict, "nugget": nugget}
                for nugget in sentence["nuggets"] or [None]
                for cited, verdict in support.items()
            ]
    expected = given["expected"] if name in ("report_recall", "report_f1") else None
    if expected is None:
        rows = [dict(pairs) for pairs in dict.fromkeys(tuple(r.items())[:4] for r in rows)]
    return with_mean(fastir.evaluate_citations(rows, name, expected=expected)["run"], name)


def expected_exposure(given, name, options):
    words = {"doc_groups": given["groups"], "target": given["target"], **options}
    return with_mean(fastir.expected_exposure(given["qrels"], given["rankings"], **words), name)


CALLS = {
    call.__name__: call
    for call in (ties, risk_coverage, clusters, confidence_sequence, nuggets, citations, expected_exposure)
}
