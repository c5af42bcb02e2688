"""fastir as a contestant of the suite: by the convention's name, and by the options that a case spells out."""

import warnings

import fastir

CASE_RULES = ("queries", "duplicates", "score_dtype", "judged_only", "max_depth", "exclude", "parents", "ties")
ELSEWHERE = ("name", "k", "rel_level")


def by_options(case):
    """The metric with all its parameters in the default convention; None where a label of 0 shall be relevant."""
    options = case["options"]
    given = {rule: options[rule] for rule in CASE_RULES if rule in options}
    level = options.get("rel_level", 1)
    if level == 0:
        return None  # an option of conventions alone
    given.setdefault("queries", "qrels")
    if has_lists(case):
        given.setdefault("duplicates", "once")
    params = ", ".join(f"{key}={in_braces(options[key])}" for key in options if key not in (*CASE_RULES, *ELSEWHERE))
    metric = options["name"] + f"({params})" * bool(params) + f"@{options.get('k')}" * ("k" in options)
    return evaluated(case, metric, rel_level=level, **given)


def in_braces(value):
    return "{" + ", ".join(map(str, value)) + "}" if isinstance(value, list) else value


def by_convention(case):
    """The metric of the convention, and no parameter but those that the convention does not set itself."""
    options = case["options"]
    given = {rule: options[rule] for rule in ("judged_only", "max_depth", "exclude", "parents") if rule in options}
    if options.get("rel_level", 1) != 0:
        given["rel_level"] = options.get("rel_level", 1)
    if case["convention"] == "fastir":
        given |= {rule: options[rule] for rule in ("ties", "duplicates", "queries") if rule in options}
    given |= {"queries": "qrels"} if options.get("queries", "qrels") == "qrels" else {}
    if has_lists(case):
        given.setdefault("duplicates", options.get("duplicates", "once"))
    return evaluated(case, case["metric"], convention=case["convention"], **given)


def has_lists(case):
    return any(entries and not isinstance(entries[0], list) for entries in case["run"].values())


def evaluated(case, metric, **options):
    qrels = {query: dict(judged) for query, judged in case["qrels"].items()}
    lists = has_lists(case)
    run = {query: entries if lists else dict(entries) for query, entries in case["run"].items()}
    if lists and "ties" in options:
        del options["ties"]
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", fastir.FastirWarning)
        results = fastir.evaluate(qrels, run, metric, **options)
    return {**results.per_query(metric), "all": results[metric]}
