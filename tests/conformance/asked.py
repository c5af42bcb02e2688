"""Ask the tools that take scores: python tests/conformance/asked.py TOOL ..., in an environment that has them.

What they answer is kept in answers/TOOL.json, and what they are asked about in answers/collections.json, which
`collections()` makes from numbers alone. Tools that take lists of ids are asked by tests/conventions. For trec_eval
the variable TREC_EVAL names a program that was built to print 17 digits in place of four (%6.4f in its two files that
print results).
"""

import json
import pathlib
import random
import sys

import asked_tools

ANSWERS = pathlib.Path(__file__).parent / "answers"
DOCS = ("d1", "d2", "d9", "d10", "D9", "a", "b", "z", "doc-7", "x")


def query(rng, grades, scores, size, judged=5):
    """Judgments and scores of some documents, of which some are retrieved but not judged, and the other way round."""
    labels = {doc: rng.choice(grades) for doc in rng.sample(DOCS, judged)}
    return labels, {doc: rng.choice(scores) for doc in rng.sample(DOCS, size)}


def collection(theme, rng):
    """{"theme", "qrels", "run"} of one to three queries."""
    apart = [place / 8 for place in range(1, 400)]
    grades, scores, sizes = (0, 0, 1, 1, 2), apart, (6, 4)
    if theme == "ties":
        scores = (0.5, 1.5, 1.5)
    elif theme == "float32":
        scores = (1.0, 1.00000001, 1.00000002, 0.9999999999, 2.0)
    elif theme == "negative labels":
        grades = (-1, -2, 0, 1, 2)
    elif theme == "short lists":
        sizes = (1, 2)
    elif theme == "grades":
        grades = (0, 1, 2, 3, 4)
    elif theme == "binary":
        grades = (0, 1)
    elif theme == "long":
        sizes = (10,)
    elif theme == "order of sums":
        sizes = (3, 4, 3, 5)
    parts = [query(rng, grades, scores, size) for size in sizes]
    qrels = {f"q{place}": labels for place, (labels, _) in enumerate(parts, 1)}
    run = {f"q{place}": dict(zip(ranked, distinct(rng, theme, ranked), strict=True)) for place, (_, ranked) in
           enumerate(parts, 1)}  # fmt: skip
    for labels in qrels.values():
        if max(labels.values()) < 1:
            labels[min(labels)] = 1
    if theme == "missing queries":
        run["q7"] = run.pop("q2")
    if theme == "empty judgments":
        qrels["q2"] = dict.fromkeys(qrels["q2"], 0)
    if theme == "other alphabets":
        qrels, run = ({q: {OTHERS.get(d, d): v for d, v in docs.items()} for q, docs in side.items()}
                      for side in (qrels, run))  # fmt: skip
        run["q1"] = dict.fromkeys(run["q1"], 1.0)
    return {"theme": theme, "qrels": qrels, "run": run}


OTHERS = {"a": "é", "b": "文", "z": "Ω", "x": "e9"}
THEMES = (
    "unjudged documents", "ties", "missing queries", "negative labels", "short lists", "grades", "empty judgments",
    "float32", "binary", "long", "other alphabets", "order of sums",
)  # fmt: skip


def distinct(rng, theme, ranked):
    """Scores, all different where ties are not what the collection is about."""
    if theme in ("ties", "float32", "other alphabets"):
        return ranked.values()
    return rng.sample([place / 8 for place in range(1, 200)], len(ranked))


def collections():
    rng = random.Random(2026)
    return [collection(theme, rng) for _ in range(4) for theme in THEMES]


def ask(tool):
    """The record of one tool: for each collection that it takes its place, its run where that is another, and values.

    Every metric keeps each seventh collection, so that all metrics together have seen all of them.
    """
    told, call = asked_tools.TOOLS[tool]()
    answers = []
    for place, made in enumerate(json.loads((ANSWERS / "collections.json").read_text("utf-8"))):
        asked = asked_tools.judged_alone(made) if tool in asked_tools.DENSE else made
        kept = [pair for number, pair in enumerate((call(asked) or {}).items()) if number % 7 == place % 7]
        if kept:
            values = {m: {q: None if v != v else float(v) for q, v in found.items()} for m, found in kept}
            answers.append(
                {"collection": place, **({"run": asked["run"]} if tool in asked_tools.DENSE else {}), "values": values}
            )
    return {
        "tool": told, "convention": asked_tools.OF.get(tool, tool), "options": asked_tools.OPTIONS.get(tool, {}),
        "answers": answers,
    }  # fmt: skip


def as_text(record):
    lines = ",\n  ".join(json.dumps(answer) for answer in record.pop("answers"))
    head = "".join(f' "{key}": {json.dumps(value)},\n' for key, value in record.items())
    return f'{{\n{head} "answers": [\n  {lines}\n ]\n}}\n'


if __name__ == "__main__":
    if sys.argv[1:] == ["collections"]:
        text = ",\n".join(json.dumps(made, ensure_ascii=False) for made in collections())
        (ANSWERS / "collections.json").write_text(f"[\n{text}\n]\n", "utf-8")
    else:
        for tool in sys.argv[1:]:
            record = ask(tool)
            print(tool, record["tool"], len(record["answers"]))
            (ANSWERS / f"{tool}.json").write_text(as_text(record), "utf-8")
