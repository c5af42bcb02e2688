"""Write the suite: PYTHONPATH=. python tests/conformance/make_cases.py, without fastir's kernels.

A case is made of what a tool answered (tests/conventions/recorded, answers/) or of the slow twins (twins.py, over
tests/oracle). The names of metrics and the choices behind a convention are read by fastir's tables, which are data.
Where the tool counts copies of a document, the definition is expected and the source says what the tool answers.
"""

import functools
import itertools
import json
import math
import operator
import pathlib
import re
import sys

HERE = pathlib.Path(__file__).parent
sys.path[:0] = [str(HERE), str(HERE.parent / "oracle")]

import beyond_cases  # noqa: E402
import by_definition  # noqa: E402
import twins  # noqa: E402
from schema_of import schema  # noqa: E402

from fastir.request.options import check_options  # noqa: E402
from fastir.request.plan import compile_settings  # noqa: E402

OPTIONS = ("queries", "rel_level", "judged_only", "max_depth", "ties", "score_dtype", "duplicates")
SPECIAL = {"queries": "qrels", "ties": "trec", "score_dtype": "float64", "duplicates": None, "judged_only": False}
# Quotients of two whole numbers, or one of the numbers that are given: every way to compute them gives the same double.
QUOTIENTS = """num_q num_ret num_rel num_rel_ret num_nonrel_judged_ret hits hit_rate precision recall recall_all mrr
    r_precision relative_precision judged unjudged first_rel last_rel"""
EXACT = QUOTIENTS.split()
ABOUT = {
    "queries": "missing queries", "exclude": "excluded documents", "parents": "chunk to document",
    "judged_only": "judged only", "max_depth": "depth", "rel_level": "relevance level",
}  # fmt: skip


@functools.cache
def resolved(metric, convention, given=()):
    """(card, k, parameters, rules, parameters asked for) of a metric in a convention, without the suite's defaults."""
    given = dict(given)
    choices = {key: given.pop(key) for key in [*given] if key not in OPTIONS}
    options = check_options(convention=convention, choices=choices, **given)
    settings = compile_settings((metric,), options)
    [request], [values] = settings.requests, settings.values
    rules = settings.parts[0][1] if settings.parts else {
        "queries": settings.queries, "ties": options.ties, "score_dtype": options.score_dtype,
        "duplicates": options.duplicates, "judged_only": options.judged_only,
    }  # fmt: skip
    if not settings.parts and convention != "fastir":
        from fastir.request.conventions import resolved_convention

        record = resolved_convention(convention, settings.overrides)
        rules |= {rule: getattr(record, rule) for rule in ("queries", "ties", "score_dtype", "duplicates")}
    usual = {param.name: param.default for param in request.card.params}
    params = {key: plain(value) for key, value in values.items() if value != usual[key] or key in request.params}
    level = request.level if request.level is not None else options.rel_level
    rules = {rule: value for rule, value in rules.items() if value is not None and value != SPECIAL[rule]}
    rules |= {} if level == 1 else {"rel_level": level}
    rules |= {} if options.max_depth is None else {"max_depth": options.max_depth}
    asked = {key: params[key] for key in params if key in request.params or key in choices}
    return request.card, request.cutoff, params, rules, asked


def plain(value):
    """A value as JSON has it."""
    if isinstance(value, dict):
        return {str(int(key)): gain for key, gain in value.items()}
    return list(value) if isinstance(value, tuple) else value


def spelled(card, k, params, convention):
    """fastir's own spelling of a metric with these parameters; trec_eval's recall alone is a family."""
    inside = ", ".join(f"{key}={in_braces(value)}" for key, value in params.items())
    name = "set_recall" if (card.name, k) == ("recall", None) and convention.startswith("trec_eval") else card.name
    return name + f"({inside})" * bool(inside) + f"@{k}" * bool(k)


def in_braces(value):
    if isinstance(value, dict):
        return "{" + ", ".join(f"{key}:{gain}" for key, gain in value.items()) + "}"
    return "{" + ", ".join(map(str, value)) + "}" if isinstance(value, list) else value


def words(card, k, params, rules):
    """The metric in words, with what differs from the plain definition; its formula is in the schema."""
    chosen = {**({"k": k} if k else {}), **params, **rules}
    said = "".join(f", {key} = {value}" for key, value in chosen.items() if key != "parents")
    return card.summary + said


def case_of(
    part, qrels, run, metric, convention, version, given, about, answer=None, copies=False, how="answered by", digits=12
):
    """A case, and what the tool answered to it: None where it was not asked."""
    given = dict(given)
    ids = {rule: given.pop(rule) for rule in ("parents", "exclude") if rule in given}
    card, k, params, rules, asked = resolved(metric, convention, tuple(given.items()))
    rules = rules | ids
    lists = any(entries and not isinstance(entries[0], list) for entries in run.values())
    if lists:
        rules = {key: value for key, value in rules.items() if key != "ties"}
    options = {"name": card.name, **({"k": k} if k else {}), **params, **rules}
    case = {
        "id": part, "qrels": qrels, "run": run, "metric": spelled(card, k, asked, convention),
        "words": words(card, k, params, rules), "options": options, "convention": convention, "version": version,
    }  # fmt: skip
    expected, source = answer, f"{how} {version}"
    try:
        twin = twins.values_of(case)
    except (KeyError, TypeError, ValueError):
        twin = None
    if answer is None:
        expected, source = twin, "the definition, by plain Python (tests/oracle)"
    elif twin is not None:
        answer.setdefault("all", twin["all"] if twin.keys() - {"all"} == answer.keys() else math.nan)
        if not (answer.keys() == twin.keys() and all(close(answer[q], twin[q], 1e-12) for q in twin)):
            if copies or near(answer, twin, max(3e-6, 10.0**-digits)):
                printed = f"which prints {int(digits)} digits" if digits < 12 else "in single precision"
                because = "which counts every copy" if copies else printed
                told = ", ".join(f"{q} {value:.6g}" for q, value in answer.items())
                expected, source = twin, f"the definition, by plain Python (tests/oracle); {version}: {told}, {because}"
            else:
                raise ValueError(f"{part} {case['metric']}: {version} {answer}, twin {twin}, {qrels}, {run}")
    else:
        answer.setdefault("all", twins.mean(card.name, params, answer.values()))
    case["expected"] = {q: numbers(value) for q, value in expected.items()}
    case["tolerance"] = tolerance(case, expected) if twin is None or same(expected, twin) else "1e-12"
    case["about"] = sorted({*about, *tags(case)})
    case["source"] = source
    return case, answer


def same(expected, twin):
    """Whether the values of the queries are equal to the last bit."""
    return all(close(value, twin[query], 0) for query, value in expected.items() if query != "all")


def near(answer, twin, within):
    return answer.keys() == twin.keys() and all(close(answer[q], twin[q], within) for q in twin)


def close(a, b, within):
    return (a != a and b != b) or abs(a - b) <= within * max(1, abs(b))


def numbers(value):
    value = float(value)
    return {"decimal": repr(value), "hex": re.sub(r"\.?0*p", "p", value.hex())}


def tolerance(case, expected):
    """exact: a whole number, or one quotient; last bit: the mean of such; else the order of sums may show."""
    if case["options"]["name"] not in EXACT or case["options"].get("ties") == "average":
        return "1e-12"
    values = [value for query, value in expected.items() if query != "all" and value == value]
    sums = [functools.reduce(operator.add, some, 0.0) for some in (values, values[::-1])] + [math.fsum(values)]
    means = {total / len(values) for total in sums} if values else set()
    if case["options"]["name"] in twins.SUMS or means <= {expected["all"]}:
        return "exact"
    ulp = math.ulp(expected["all"])
    return "last bit" if all(abs(value - expected["all"]) <= ulp for value in means) else "1e-12"


def tags(case):
    """What a case is about, by its data and its options."""
    options, qrels, run = case["options"], case["qrels"], case["run"]
    k = options.get("k", 0)
    for query, entries in run.items():
        docs = [entry[0] if isinstance(entry, list) else entry for entry in entries]
        scores = [entry[1] for entry in entries if isinstance(entry, list)]
        labels = dict(qrels.get(query, []))
        yield from ["ties"] * (len(set(scores)) < len(scores))
        yield from ["repeats", "duplicates"] * (len(set(docs)) < len(docs))
        yield from ["unjudged documents"] * any(doc not in labels for doc in docs)
        yield from ["empty queries"] * (not docs)
        yield from ["k beyond the list"] * (k > len(docs))
        yield from ["int ids"] * any(isinstance(doc, int) for doc in docs)
        yield from ["str ids"] * any(str(doc).isdecimal() and isinstance(doc, str) for doc in docs)
        yield from ["queries without judgments"] * (query not in qrels)
    for query, judged in qrels.items():
        labels = [label for _, label in judged]
        yield from ["missing queries"] * (query not in run)
        yield from ["empty judgments"] * (max(labels, default=0) <= 0)
        yield from ["negative labels"] * any(label < 0 for label in labels)
        yield from ["real labels"] * any(label != int(label) for label in labels)
    if "ndcg" in options["name"]:
        yield {"retrieved": "ideal over retrieved", "num_ret": "ideal over retrieved"}.get(
            options.get("ideal"), "ideal over all"
        )
    yield from ["cutoff"] * bool(k)
    yield from (about for option, about in ABOUT.items() if option in options)


# ---- where cases come from ----------------------------------------------------------------------------------------
def recorded():
    """Of each metric of the tools that take lists every seventh pair of queries."""
    for path in sorted((HERE.parent / "conventions" / "recorded").glob("*.json")):
        record = json.loads(path.read_text("utf-8"))
        places = range(0, len(record["queries"]) - 1, 2)
        for number, (named, column) in enumerate(record["values"].items()):
            metric, *choices = named.split()
            given = record["options"] | dict(choice.split("=") for choice in choices)
            for pair in places:
                if pair // 2 % 7 != number % 7:
                    continue
                queries = {f"q{place}": record["queries"][place] for place in (pair, pair + 1)}
                qrels = {q: [[doc, label] for doc, label in query["relevant"].items()] for q, query in queries.items()}
                run = {q: entries_of(query) for q, query in queries.items()}
                answer = {q: math.nan if column[int(q[1:])] is None else column[int(q[1:])] for q in queries}
                repeats = any(len(set(query["retrieved"])) < len(query["retrieved"]) for query in queries.values())
                part = f"{path.stem}/{named}/{pair // 2}"
                how = "answered by" if record["modules"] else "computed as the source says of"
                yield case_of(part, qrels, run, metric, record["convention"], record["tool"], given, (),
                              answer, named in record["copies"] and repeats, how, record["digits"])  # fmt: skip


def entries_of(query):
    """A list of ids, or of [id, score] where the record has scores."""
    pairs = zip(query["retrieved"], query.get("scores", ()), strict=False)
    return [[doc, float(score)] for doc, score in pairs] if "scores" in query else query["retrieved"]


def answered():
    """All that is in answers/."""
    collections = json.loads((HERE / "answers" / "collections.json").read_text("utf-8"))
    for path in sorted((HERE / "answers").glob("*.json")):
        if path.stem == "collections":
            continue
        record = json.loads(path.read_text("utf-8"))
        for answers in record["answers"]:
            made = collections[answers["collection"]]
            run = answers.get("run", made["run"])
            qrels, run = ({q: [[doc, v] for doc, v in docs.items()] for q, docs in side.items()}
                          for side in (made["qrels"], run))  # fmt: skip
            for metric, found in answers["values"].items():
                answer = {q: math.nan if value is None else value for q, value in found.items()}
                part = f"{path.stem}/{metric}/{answers['collection']}"
                yield case_of(part, qrels, run, metric, record["convention"], record["tool"], record["options"],
                              (made["theme"],), answer)  # fmt: skip


def all_cases():
    """(case, what the tool answered) of all; averages are means over queries."""
    found = itertools.chain(recorded(), answered(), by_definition.cases(case_of))
    return (each for each in found if each[0]["options"].get("average") != "micro")


# ---- files ----------------------------------------------------------------------------------------------------------
def files(cases):
    """{name: text} of all that is written: of each convention its cases, and the schema."""
    texts = {"schema.json": laid_out(schema(cases)) + "\n"}
    for name in sorted({case["convention"] for case in cases}):
        own = [case for case in cases if case["convention"] == name]
        lines = (json.dumps(case, ensure_ascii=False, separators=(",", ":")) + "\n" for case in own)
        texts[f"{name}.jsonl"] = "".join(lines)
    return texts


def laid_out(value, margin="\n"):
    """JSON in which each member of a long object has a line."""
    text = json.dumps(value, ensure_ascii=False)
    if len(text) < 600 or not isinstance(value, dict):
        return text
    inside = margin + " "
    return "{" + ",".join(f'{inside}"{key}": {laid_out(each, inside)}' for key, each in value.items()) + margin + "}"


if __name__ == "__main__":
    for name, text in files([case for case, _ in all_cases()]).items():
        (HERE / name).write_text(text, "utf-8")
    for name, text in beyond_cases.files(numbers, laid_out).items():
        (HERE / "beyond" / name).write_text(text, "utf-8")
