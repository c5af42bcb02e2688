"""The tools that take scores, for asked.py: each gives its name with its version, and a function of a collection.

The function returns {metric: {query, or "all": value}}, or None where the tool refuses the collection or has no certain
answer for it. Tools of learning to rank have the judged documents alone, which are all ranked.
"""

import math
import os
import pathlib
import random
import subprocess
import tempfile
import warnings
from importlib.metadata import version


def by_trec_eval(options=("-q",), names=()):
    program = os.environ["TREC_EVAL"]

    def call(asked):
        with tempfile.TemporaryDirectory() as folder:
            qrels, run = pathlib.Path(folder, "qrels"), pathlib.Path(folder, "run")
            with qrels.open("w") as judged, run.open("w") as ranked:
                for q, docs in asked["qrels"].items():
                    judged.writelines(f"{q} 0 {doc} {label}\n" for doc, label in docs.items())
                for q, docs in asked["run"].items():
                    ranked.writelines(f"{q} Q0 {doc} 0 {score!r} t\n" for doc, score in docs.items())
            found = {}
            for metric in names:
                command = [program, *options, "-m", metric, qrels, run]
                done = subprocess.run(command, capture_output=True, text=True)
                if done.returncode:
                    return None  # trec_eval 10 stops where a query is missing, and both where no label is above -1
                for line in done.stdout.splitlines():
                    name, q, value = line.split("\t")
                    if name.strip() == printout(metric):
                        found.setdefault(printout(metric), {})[q] = float(value)
            return found

    return call


def printout(metric):
    base, _, value = metric.partition(".")
    return f"{base}_{float(value):.2f}" if "recall_0" in f"{base}_{value}" else f"{base}_{value}" if value else base


MEASURES = """map Rprec bpref recip_rank infAP 11pt_avg binG G ndcg ndcg_rel Rndcg num_ret num_rel num_rel_ret set_P
    set_recall set_map set_F set_relative_P num_nonrel_judged_ret utility P.5 P.10 recall.5 map_cut.5 ndcg_cut.3
    ndcg_cut.10 success.1 success.5 relative_P.5 iprec_at_recall.0.3 iprec_at_recall.0.6"""
TREC = MEASURES.split()
SOME = ("map", "ndcg", "P.5", "recall.5", "recip_rank")
TREC_EVALS = {  # the flags, and what is asked for
    "trec_eval_10": (("-q",), [*TREC, "unj.5", "rbp_resid"]),
    "trec_eval_10_c": (("-q", "-c"), [*SOME, "bpref", "Rprec"]),
    "trec_eval_10_l": (("-q", "-l", "2"), [*SOME, "bpref"]), "trec_eval_10_J": (("-q", "-J"), SOME),
    "trec_eval_10_M": (("-q", "-M", "3"), SOME), "trec_eval_9": (("-q",), TREC),
}  # fmt: skip


def version_line():
    """Its version: the sources of 9.0.8 call themselves 9.0.7; those of 10.0-rc3 are at f425365."""
    done = subprocess.run([os.environ["TREC_EVAL"], "--version"], capture_output=True, text=True)
    told = (done.stderr + done.stdout).split()[-1]
    return {"9.0.7": "9.0.8"}.get(told, told)


def ranx():
    import ranx as tool

    names = (
        "hits@3 hit_rate@3 precision@5 recall@5 f1@5 r-precision mrr mrr@3 map map@3 dcg@5 ndcg@5 ndcg ndcg_burges@5 "
    )
    names = [*names.split(), "dcg_burges", "bpref", "rbp.80"]

    def call(asked):
        if asked["qrels"].keys() != asked["run"].keys() or tie(asked):
            return None
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            run = tool.Run(asked["run"])
            tool.evaluate(tool.Qrels(asked["qrels"]), run, names)
        return {name: {**run.scores[name], "all": run.mean_scores[name]} for name in names}

    return f"ranx {version('ranx')}", call


def ir_measures():
    import ir_measures as tool

    text = """AP AP@3 P@5 P(rel=2)@3 R@5 RR RR@3 nDCG nDCG@5 Success@3 Rprec Bpref IPrec@0.5 Judged@5 SetP SetR SetF
        RBP(p=0.8,rel=1) INSQ INST BPM@3 SDCG@5 infAP Compat(p=0.8)"""
    names = text.split()
    names = [{"INST": "INST(max_rel=4)", "INSQ": "INSQ(max_rel=4)", "BPM@3": "BPM(max_rel=4)@3",
              "SDCG@5": "SDCG(max_rel=4)@5"}.get(name, name) for name in names]  # fmt: skip

    def call(asked):
        found = {}
        for name in names:
            measure = tool.parse_measure(name)
            values = {m.query_id: m.value for m in tool.iter_calc([measure], asked["qrels"], asked["run"])}
            found[name] = {**values, "all": tool.calc_aggregate([measure], asked["qrels"], asked["run"])[measure]}
        return found

    return f"ir-measures {version('ir-measures')}", call


# ---- learning to rank: labels and scores of the judged documents, which are all ranked ---------------------------
def in_rows(asked):
    """Labels and scores of each query, None where a document is not judged or not ranked, or a label is negative."""
    rows = {}
    for q, labels in asked["qrels"].items():
        scores = asked["run"].get(q, {})
        if scores.keys() != labels.keys() or min(labels.values()) < 0:
            return None
        rows[q] = [labels[doc] for doc in scores], [*scores.values()]
    return rows


def judged_alone(asked):
    """The collection with every judged document ranked and no other, as these tools have it."""
    rng = random.Random(repr(asked).replace("unjudged documents", "holes"))  # its name when tools were first asked
    run = {}
    for q, labels in asked["qrels"].items():
        scores = rng.sample(range(1, 50), len(labels))
        scores = [score / 8 for score in scores]
        if asked["theme"] == "ties":
            scores = [rng.choice((0.5, 1.5, 2.5)) for _ in labels]
        run[q] = dict(zip(rng.sample(sorted(labels), len(labels)), scores, strict=True))
    return {**asked, "run": run}


def tie(asked):
    return any(len(set(docs.values())) < len(docs) for docs in asked["run"].values())


def sklearn():
    from sklearn.metrics import dcg_score, ndcg_score

    made = {f"{name}@{k}" if k else name: (function, k) for k in (None, 3) for name, function in
            (("ndcg", ndcg_score), ("dcg", dcg_score))}  # fmt: skip

    def call(asked):
        rows = in_rows(asked)
        if rows is None:
            return None
        found = {name: {q: function([labels], [scores], k=k) for q, (labels, scores) in rows.items()}
                 for name, (function, k) in made.items()}  # fmt: skip
        return {name: {**values, "all": math.fsum(values.values()) / len(values)} for name, values in found.items()}

    return f"scikit-learn {version('scikit-learn')}", call


def lightgbm():
    import lightgbm as tool
    import numpy as np

    def call(asked):
        rows = in_rows(asked)
        if rows is None or tie(asked):
            return None
        found = {}
        for q, (labels, scores) in {**rows, "all": tuple(map(flat, zip(*rows.values(), strict=True)))}.items():
            sizes = [len(labels)] if q != "all" else [len(labels) for labels, _ in rows.values()]
            data = tool.Dataset(np.zeros((len(labels), 1)), label=labels, group=sizes, init_score=scores,
                                params={"verbose": -1, "min_data_in_bin": 1, "feature_pre_filter": False})  # fmt: skip
            told = {"objective": "lambdarank", "metric": ["ndcg", "map"], "eval_at": [1, 3, 5], "verbose": -1}
            booster = tool.Booster({**told, "is_provide_training_metric": True}, data)
            for _, name, value, _ in booster.eval_train():
                found.setdefault(name, {})[q] = value
        return found

    return f"lightgbm {version('lightgbm')}", call


def flat(lists):
    return [item for part in lists for item in part]


def xgboost():
    import numpy as np
    import xgboost as tool

    names = ["ndcg@1", "ndcg@3", "ndcg@5", "map@3", "pre@3", "pre@5"]

    def call(asked):
        rows = in_rows(asked)
        if rows is None or tie(asked):
            return None
        found = {}
        for q, (labels, scores) in {**rows, "all": tuple(map(flat, zip(*rows.values(), strict=True)))}.items():
            sizes = [len(labels)] if q != "all" else [len(labels) for labels, _ in rows.values()]
            for name in names:
                binary = name.startswith(("map", "pre"))
                data = tool.DMatrix(np.zeros((len(labels), 1)), label=[min(v, 1) for v in labels] if binary else labels,
                                    base_margin=scores)  # fmt: skip
                data.set_group(sizes)
                booster = tool.train({"objective": "rank:ndcg", "eval_metric": name}, data, 0)
                found.setdefault(name, {})[q] = float(booster.eval(data).rpartition(":")[2])
        return found

    return f"xgboost {version('xgboost')}", call


def catboost():
    from catboost.utils import eval_metric

    names = {"ndcg@3": "NDCG:top=3;type=Base", "ndcg": "NDCG:type=Base", "ndcg_burges@3": "NDCG:top=3;type=Exp",
             "dcg@3": "DCG:top=3;type=Base", "map@3": "MAP:top=3", "precision@3": "PrecisionAt:top=3",
             "precision@10": "PrecisionAt:top=10", "recall@3": "RecallAt:top=3", "mrr": "MRR"}  # fmt: skip

    def call(asked):
        rows = in_rows(asked)
        if rows is None:
            return None
        found = {}
        for q, (labels, scores) in {**rows, "all": tuple(map(flat, zip(*rows.values(), strict=True)))}.items():
            sizes = [len(labels)] if q != "all" else [len(labels) for labels, _ in rows.values()]
            groups = [place for place, size in enumerate(sizes) for _ in range(size)]
            for ours, theirs in names.items():
                [found.setdefault(ours, {})[q]] = eval_metric(labels, scores, theirs, group_id=groups)
        return found

    return f"catboost {version('catboost')}", call


def torchmetrics():
    import torch
    from torchmetrics.functional import retrieval as tool

    of_ndcg = {"ndcg": (tool.retrieval_normalized_dcg, None), "ndcg@3": (tool.retrieval_normalized_dcg, 3)}
    others = {"map": (tool.retrieval_average_precision, None), "map@3": (tool.retrieval_average_precision, 3),
              "mrr": (tool.retrieval_reciprocal_rank, None), "precision@3": (tool.retrieval_precision, 3),
              "recall@3": (tool.retrieval_recall, 3), "hit_rate@3": (tool.retrieval_hit_rate, 3)}  # fmt: skip

    def call(asked):
        rows = in_rows(asked)
        if rows is None:
            return None
        found = {}
        for name, (function, k) in {**of_ndcg, **({} if tie(asked) else others)}.items():
            for q, (labels, scores) in rows.items():
                target = torch.tensor(labels if name in of_ndcg else [min(label, 1) for label in labels])
                value = function(torch.tensor(scores, dtype=torch.float64), target, top_k=k)
                found.setdefault(name, {})[q] = float(value)
        return {name: {**values, "all": math.fsum(values.values()) / len(values)} for name, values in found.items()}

    return f"torchmetrics {version('torchmetrics')}", call


def sentence_transformers():
    from sentence_transformers.sentence_transformer.evaluation import InformationRetrievalEvaluator

    names = ["accuracy", "precision", "recall", "ndcg", "mrr", "map"]
    cutoffs = [1, 3, 5, 10]
    options = dict.fromkeys(("mrr_at_k", "ndcg_at_k", "accuracy_at_k", "precision_recall_at_k", "map_at_k"), cutoffs)

    def mean(qrels, asked):
        relevant = {q: {doc for doc, label in docs.items() if label > 0} for q, docs in qrels.items()}
        documents = {doc for side in (asked["qrels"], asked["run"]) for docs in side.values() for doc in docs}
        evaluator = InformationRetrievalEvaluator(
            dict.fromkeys(qrels, ""), dict.fromkeys(documents, ""), relevant, **options
        )
        lists = [
            [{"corpus_id": doc, "score": score} for doc, score in asked["run"].get(q, {}).items()]
            for q in evaluator.queries_ids
        ]
        return evaluator.compute_metrics(lists) if lists else None

    def call(asked):
        if not {label for docs in asked["qrels"].values() for label in docs.values()} <= {0, 1}:
            return None
        found = {}
        parts = {q: {q: docs} for q, docs in asked["qrels"].items()}
        for q, qrels in {**parts, "all": asked["qrels"]}.items():
            values = mean(qrels, asked)
            for name in names:
                for k in cutoffs:
                    value = math.nan if values is None else values[f"{name}@k"][k]
                    found.setdefault(f"{name}@{k}", {})[q] = value
        return found

    return f"sentence-transformers {version('sentence-transformers')}", call


TOOLS = {
    **{
        name: lambda asked=asked: (f"trec_eval {version_line()}", by_trec_eval(*asked))
        for name, asked in TREC_EVALS.items()
    },
    **{f.__name__: f for f in (ranx, ir_measures, sklearn, lightgbm, xgboost, catboost, torchmetrics)},
    "sentence_transformers": sentence_transformers,
}
DENSE = ("sklearn", "lightgbm", "xgboost", "catboost", "torchmetrics")
OF = {
    "trec_eval_9": "trec_eval-9",
    "sentence_transformers": "sentence-transformers",
    **dict.fromkeys([t for t in TOOLS if t.startswith("trec_eval_10")], "trec_eval-10"),
}
OPTIONS = {"trec_eval_10_c": {"queries": "qrels"}, "trec_eval_10_l": {"rel_level": 2},
           "trec_eval_10_J": {"judged_only": True}, "trec_eval_10_M": {"max_depth": 3}}  # fmt: skip
