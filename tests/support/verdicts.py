"""What the catalogue of bad input accepts as the outcome of a case."""

import math
import re

# RuntimeError: a dict that changes while it is read, as Python itself says it
OURS = ("FastirError", "TypeError", "ValueError", "OverflowError", "OSError", "RuntimeError")
LONGEST_MESSAGE = 1000


def matches(values, accepted):
    """Whether the values are the accepted ones, for the queries and metrics that are listed.

    `*` stands for the metric asked for (the last, if there are more), `count` for how many values a query has.
    """
    if not accepted:
        return not values
    return all(q in values and all(same(values[q], name, v) for name, v in row.items()) for q, row in accepted.items())


def same(row, name, value):
    if name == "count":
        return len(row) == value
    got = list(row.values())[-1] if name == "*" else row.get(name, math.nan)
    return math.isclose(got, value, rel_tol=1e-12, abs_tol=1e-12)


def judge(outcome, expected):
    """What is wrong with the outcome, None if nothing is."""
    if "values" in outcome:
        if any(math.isnan(value) for row in outcome["values"].values() for value in row.values()):
            return "a value is NaN"
        for accepted in expected["accept"]:
            if matches(outcome["values"], accepted["values"]) and (accepted["kind"] == "exact" or outcome["repairs"]):
                return None
        return "silent wrong value"
    if "error" not in outcome:
        return "crash or hang"
    if expected["policy"] == "value":
        return "valid input refused"
    if not any(name in OURS for name in outcome["classes"]):
        return "an exception that the contract does not know"
    if expected["policy"] == "error" and expected["exc"] not in outcome["classes"]:
        return f"not a {expected['exc']}"
    for pattern in (expected["what"], expected["where"]):
        if pattern and not re.search(pattern, outcome["error"], re.IGNORECASE):
            return f"obscure: the message does not match {pattern!r}"
    return None if len(outcome["error"]) <= LONGEST_MESSAGE else "the message is endless"
