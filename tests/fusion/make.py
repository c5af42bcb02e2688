"""Run ranx and record what it fuses and learns: python tests/fusion/make.py, in an environment that has ranx.

The runs have no equal scores, so that no order is left open. Majorities, whose ties and circles ranx decides by the
order of a set of strings, are recorded of rankings that have neither.
"""

import importlib.metadata
import itertools
import json
import pathlib
import random
import re

NORMS = [None, "min-max", "min-max-inverted", "max", "sum", "zmuv", "rank", "borda"]
BY_SCORE = {
    **{method: {} for method in ("min", "max", "med", "sum", "anz", "mnz")},
    "gmnz": {"gamma": 0.7},
    **{method: {"weights": [0.2, 0.5, 0.3]} for method in ("wsum", "mixed", "wmnz")},
}
BY_RANK = {
    **{method: {} for method in ("isr", "log_isr", "rrf", "bordafuse")},
    "logn_isr": {"sigma": 0.3},
    "rbc": {"phi": 0.8},
    "w_bordafuse": {"weights": [0.2, 0.5, 0.3]},
}
LEARNT = ("mapfuse", "posfuse", "probfuse", "segfuse", "slidefuse", "bayesfuse")
TUNED = {
    "wsum": {"step": 0.1}, "mixed": {"step": 0.25}, "wmnz": {"step": 0.25}, "w_bordafuse": {"step": 0.25}, "rrf": {},
    "rbc": {"min_phi": 0.2, "max_phi": 0.8, "step": 0.2}, "gmnz": {"min_gamma": 0.2, "max_gamma": 0.8, "step": 0.2},
    "logn_isr": {"min_sigma": 0.2, "max_sigma": 0.8, "step": 0.2},
    "probfuse": {"min_n_segments": 1, "max_n_segments": 4}, "slidefuse": {"min_w": 1, "max_w": 4},
    **{method: {} for method in ("mapfuse", "posfuse", "segfuse", "bayesfuse")},
}  # fmt: skip


def rankings(seed, n_queries=8, pool=14):
    """A run whose scores all differ."""
    rng = random.Random(seed)
    run = {}
    for query in range(n_queries):
        docs = rng.sample(range(pool), rng.randint(4, 12))
        run[f"q{query}"] = {f"d{doc}": rng.uniform(-1, 9) for doc in docs}
    return run


def unanimous(seed):
    """Three rankings of the same documents, of which any two stand in one order by a majority without circles."""
    rng = random.Random(seed)
    docs = [f"d{i}" for i in range(6)]
    while True:
        orders = [rng.sample(docs, len(docs)) for _ in range(3)]
        wins = {
            a: sum(sum(order.index(a) < order.index(b) for order in orders) > 1 for b in docs if a != b) for a in docs
        }
        if sorted(wins.values()) == list(range(len(docs))):
            return [{doc: float(len(docs) - order.index(doc)) for doc in order} for order in orders]


def plain(value):
    if hasattr(value, "tolist"):
        return value.tolist()
    if isinstance(value, dict):
        return {key: plain(each) for key, each in value.items()}
    if isinstance(value, (str, int, float)):
        return value
    return [plain(each) for each in value]


def numbers(text):
    """Those of a setting, which ranx has as the text of a tuple or of one number."""
    found = [float(number) for number in re.findall(r"(?<![\w.])\d[\d.]*", text)]
    return found if text.startswith("(") else found[0]


def record():
    from ranx import Qrels, Run, fuse, optimize_fusion
    from ranx.normalization import norm_switch

    runs = [rankings(seed) for seed in (1, 2, 3)]
    rng = random.Random(4)
    qrels = {f"q{q}": {f"d{doc}": rng.randint(0, 3) for doc in rng.sample(range(14), 7)} for q in range(8)}
    for labels in qrels.values():
        labels["d0"] = 2  # each query has a relevant document
    held, judged = [Run(run) for run in runs], Qrels(qrels)
    agreeing = [dict(enumerate(unanimous(seed))) for seed in range(5)]
    voters = [{f"q{i}": each[run] for i, each in enumerate(agreeing)} for run in range(3)]
    fused, tuned = [], []

    def note(method, norm, params, of, given="runs"):
        run = fuse(of, norm=norm, method=method, params=params)
        fused.append([given, method, norm, plain(params), plain(run.to_dict())])

    for method, norm in itertools.product(BY_SCORE, NORMS):
        note(method, norm, BY_SCORE[method], held)
    for method, norm in itertools.product(BY_RANK, (None, "min-max-inverted")):
        note(method, norm, BY_RANK[method], held)
    for method, params in (("condorcet", {}), ("w_condorcet", {"weights": [0.4, 0.35, 0.25]})):
        note(method, None, params, [Run(run) for run in voters], "voters")
    for method, params in TUNED.items():
        options = {} if method in LEARNT[:2] or method in ("segfuse", "bayesfuse") else {"show_progress": False}
        best, report = optimize_fusion(judged, held, method=method, metric="ndcg@5", **params, **options), None
        if options:
            _, report = optimize_fusion(
                judged, held, method=method, metric="ndcg@5", return_optimization_report=True, **params, **options
            )
        trials = report and [list(map(numbers, report.configs)), plain(report.results)]
        tuned.append([method, params, plain(best), trials])
        if method in LEARNT:
            note(method, "min-max", best, held)
    normed = [[norm, plain(norm_switch(norm)(held[0]).to_dict())] for norm in NORMS[1:-1]]
    return {
        "tool": f"ranx {importlib.metadata.version('ranx')}", "runs": runs, "voters": voters, "qrels": qrels,
        "fused": fused, "tuned": tuned, "normed": normed,
    }  # fmt: skip


if __name__ == "__main__":
    found = record()
    lines = ",\n".join(f" {json.dumps(key)}: {json.dumps(found[key])}" for key in found)
    (pathlib.Path(__file__).parent / "recorded" / "ranx.json").write_text(f"{{\n{lines}\n}}\n")
    print(found["tool"], len(found["fused"]), "fused runs,", len(found["tuned"]), "tuned methods")
