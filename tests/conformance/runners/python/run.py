"""Run an implementation against the conformance suite: python run.py FOLDER [MODULE]

FOLDER holds the .jsonl files; MODULE (textbook, if none is named) has evaluate(case), which gets a line of a file as a
dict and returns {query: value, "all": mean}, or None for a case that it does not claim. Prints what fails, and a line
of counts; the exit code is 1 if anything fails.
"""

import importlib
import json
import math
import pathlib
import sys


def cases(folder):
    for path in sorted(pathlib.Path(folder).glob("*.jsonl")):
        with open(path, encoding="utf-8") as lines:
            yield from map(json.loads, lines)


def is_close(value, expected, tolerance):
    """Whether a double is the expected one, by the tolerance class of the case."""
    if math.isnan(expected) or math.isnan(value):
        return math.isnan(expected) and math.isnan(value)
    if tolerance == "exact":
        return value == expected
    if tolerance == "last bit":
        return abs(value - expected) <= math.ulp(expected)
    return abs(value - expected) <= 1e-12 * max(1.0, abs(expected))


def failures(case, found):
    """What is wrong with the values that an implementation gives, in words; nothing if it passes."""
    expected = {query: float.fromhex(value["hex"]) for query, value in case["expected"].items()}
    if found.keys() != expected.keys():
        return [f"queries {sorted(found)}, expected {sorted(expected)}"]
    return [
        f"{query}: {found[query]!r}, expected {value!r}"
        for query, value in expected.items()
        if not is_close(found[query], value, case["tolerance"])
    ]


def run(evaluate, all_cases):
    """(case, failures) of each case that is claimed."""
    for case in all_cases:
        found = evaluate(case)
        if found is not None:
            yield case, failures(case, found)


def main(folder, module="textbook"):
    claimed = passed = 0
    evaluate = importlib.import_module(module).evaluate
    everything = list(cases(folder))
    for case, wrong in run(evaluate, everything):
        claimed += 1
        passed += not wrong
        for line in wrong:
            print(f"{case['id']} {case['metric']} ({case['tolerance']}): {line}")
    total = len(everything)
    print(f"python: {passed} of {claimed} claimed cases passed, {total - claimed} of {total} not claimed")
    return 0 if claimed and passed == claimed else 1


if __name__ == "__main__":
    sys.exit(main(*sys.argv[1:]))
