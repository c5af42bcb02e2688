"""The same bits everywhere: every metric of the golden set, beside one file of hexadecimal doubles.

    python tests/golden/bits.py             compares the installed fastir with bits.txt; exit code 1 if a bit differs
    python tests/golden/bits.py --write     writes the file: after a change that CHANGELOG.md names

It needs NumPy and fastir alone, so that it runs where pytest and pandas have no wheels: musl, Windows on ARM, Pyodide.
A line of the file is a case, a metric, and its values: of the queries in their order, and last of all together.
"""

import sys
from pathlib import Path

HERE = Path(__file__).resolve().parent
FILE = HERE / "bits.txt"
CASES = {  # the run, and the options
    "distinct": ("distinct.run", {}), "exponential": ("distinct.run", {"convention": "lightgbm"}),
    "tied": ("tied.run", {"convention": "trec_eval-10"}), "averaged": ("gaps.run", {"ties": "average"}),
}  # fmt: skip
N_ITEMS = 300


def read(name, column, kind):
    """{query: {document: number}} of a file of the collection, read without fastir."""
    found = {}
    for row in (HERE / "collection" / name).read_text("utf-8").splitlines():
        fields = row.split()
        found.setdefault(fields[0], {})[fields[2]] = kind(fields[column])
    return found


def by_subtopic(qrels):
    """The same judgments, dealt out to three subtopics."""
    return {
        query: {
            group: {doc: label for place, (doc, label) in enumerate(docs.items()) if place % 3 != number}
            for number, group in enumerate("abc")
        }
        for query, docs in qrels.items()
    }


def metric_names(groups, options):
    """Every metric whose judgments have subtopics, or have none, and that these options leave defined."""
    import fastir

    for card in fastir.metrics():
        name = card.spelled("@7" if card.cutoff else "")
        try:
            fastir.evaluate({"q": {"g": {"d": 1}} if groups else {"d": 1}}, {"q": {"d": 1.0}}, [name], **options)
        except ValueError:
            continue
        yield name


def numbers(count, seed=1):
    """Integers below 2^31 that are the same in every program: x' = 16807 x mod (2^31 - 1)."""
    for _ in range(count):
        seed = seed * 16807 % 2147483647
        yield seed


def line(case, name, values):
    return " ".join((case, name, *(value.hex() for value in map(float, values))))


def lines():
    """What the file holds, computed here."""
    import fastir

    qrels = read("qrels.txt", 3, int)
    collections = {case: (qrels, read(run, 4, float), options) for case, (run, options) in CASES.items()}
    collections["subtopics"] = by_subtopic(qrels), read("tied.run", 4, float), {}
    for case, (judged, run, options) in collections.items():
        names = list(metric_names(case == "subtopics", options))
        results = fastir.evaluate(judged, run, names, **options)
        for name in names:
            yield line(case, name, (*results.per_query(name).values(), results[name]))
    yield from of_documents(qrels, read("tied.run", 4, float))
    yield from arrays()


def of_documents(qrels, run):
    """Costs and groups of documents, numbers of their ids."""
    import fastir

    doc_ids = sorted({doc for docs in (*qrels.values(), *run.values()) for doc in docs})
    draws = dict(zip(doc_ids, numbers(len(doc_ids)), strict=True))
    costs = {doc: draw % 97 / 8 for doc, draw in draws.items()}
    groups = {doc: {"a": draw % 11 / 16, "b": 1 - draw % 11 / 16} for doc, draw in draws.items() if draw % 3}
    names = ["recall(budget=40)", "ndcg(budget=40, over_budget=skip)", "cost_first_rel", "cost_all_rel", "awrf@7",
             "ndcg_awrf@7", "awrf", "tbg", "u_measure(L=40)"]  # fmt: skip
    results = fastir.evaluate(qrels, run, names, doc_costs=costs, doc_groups=groups, target={"a": 0.3, "b": 0.7})
    for name in names:
        yield line("documents", name.replace(" ", ""), (*results.per_query(name).values(), results[name]))


def arrays():
    """A matrix of float32 scores, which the widest vectors of the processor read, and labels with tied scores."""
    import numpy as np

    import fastir

    names = ["ndcg@10", "map", "mrr", "precision@5", "recall@100"]
    drawn = np.array(list(numbers(8 * N_ITEMS)))
    scores = (drawn % 1000 / 8).astype(np.float32).reshape(8, N_ITEMS)
    labels = np.where(drawn % 13 == 0, drawn % 3 + 1, 0)
    for case, results in {
        "matrix": fastir.evaluate_matrix(scores, [row.nonzero()[0] for row in labels.reshape(scores.shape)], names),
        "labels": fastir.evaluate_scores(labels, scores.ravel(), names, group=[N_ITEMS] * 8),
    }.items():
        for name in names:
            yield line(case, name, (*results.per_query(name).values(), results[name]))


def main():
    import warnings

    import numpy as np

    import fastir

    warnings.simplefilter("ignore", fastir.FastirWarning)
    found = list(lines())
    if "--write" in sys.argv[1:]:
        FILE.write_text("\n".join(found) + "\n", "utf-8", newline="\n")
        return 0
    expected = FILE.read_text("utf-8").splitlines()
    off = sorted({*found} ^ {*expected})
    print(*off, sep="\n", end="\n" if off else "")
    print(f"{len(found)} lines, {len(off)} off: fastir {fastir.__version__}, NumPy {np.__version__}, {sys.platform}")
    return 1 if off else 0


if __name__ == "__main__":
    sys.exit(main())
