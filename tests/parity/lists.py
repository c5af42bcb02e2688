"""The peers that take labels and scores instead of ids: calls for their numbers, and what each is asked."""

import warnings

import cases
import numpy as np
import ways

MEAN = None


def by_lightgbm(case, names, **params):
    """A booster without trees: what it scores is what boosting would begin from."""
    import lightgbm

    labels, scores, sizes = ways.rows_of(case)
    cutoffs = sorted({int(name.partition("@")[2]) for name in names})
    options = {"objective": "lambdarank", "metric": "ndcg,map", "eval_at": cutoffs, "verbose": -1, "num_threads": 1}
    options |= params
    train = lightgbm.Dataset(np.zeros((4, 1)), [0, 1, 0, 1], group=[4], params=options)
    valid = lightgbm.Dataset(np.zeros((len(labels), 1)), labels, group=sizes, init_score=scores, reference=train)
    booster = lightgbm.Booster(options, train)
    booster.add_valid(valid, "valid")
    return {name: {MEAN: value} for _, name, value, _ in booster.eval_valid()}


def by_xgboost(case, names, **params):
    import xgboost

    labels, scores, sizes = ways.rows_of(case)
    data = xgboost.DMatrix(np.zeros((len(labels), 1)), labels, base_margin=scores, group=sizes, nthread=1)
    options = {"objective": "rank:ndcg", "eval_metric": list(names), "nthread": 1, "base_score": 0, **params}
    values = xgboost.Booster(options, [data]).eval(data).split("\t")[1:]
    return {name: {MEAN: float(value.rpartition(":")[2])} for name, value in zip(names, values, strict=True)}


def by_catboost(case, names):
    from catboost.utils import eval_metric

    labels, scores, sizes = ways.rows_of(case)
    queries = np.repeat(np.arange(len(sizes)), sizes)
    return {name: {MEAN: eval_metric(labels.astype(float), scores, name, group_id=queries)[0]} for name in names}


def by_sklearn(case, names, **options):
    from sklearn import metrics

    found = {name: {} for name in names}
    for query, docs in case.run.items():
        rows = [[case.qrels[query][doc] for doc in docs]], [list(docs.values())]
        for name in names:
            kind, _, k = name.partition("@")
            call = getattr(metrics, f"{kind}_score")
            found[name][query] = float(call(*rows, k=int(k) if k else None, **options))
    return found


def by_torchmetrics(case, names, empty="neg", **options):
    import torch
    from torchmetrics import retrieval

    labels, scores, sizes = ways.rows_of(case)
    queries = torch.tensor(np.repeat(np.arange(len(sizes)), sizes))
    found = {}
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        for name in names:
            kind, _, k = name.partition("@")
            at_most = {"top_k": int(k)} if k else {}
            metric = getattr(retrieval, kind)(empty_target_action=empty, **at_most, **options)
            value = metric(torch.tensor(scores.astype(np.float32)), torch.tensor(labels), indexes=queries)
            found[name] = {MEAN: float(value)}
    return found


def at(cutoffs, **names):
    """{its name at each cutoff: fastir's}."""
    return {f"{theirs}@{k}": f"{ours}@{k}" for theirs, ours in names.items() for k in cutoffs}


K = (1, 3, 5, 10, 50)
LISTS_OF = (cases.no_negative_labels, cases.lists, cases.small_scores)
GRADED = (*LISTS_OF, cases.labels_to_4)
BINARY = (*LISTS_OF, cases.binary)
CATBOOST_GRADED = {
    "NDCG": "ndcg", "NDCG:top=3": "ndcg@3", "NDCG:top=10;type=Exp": "ndcg_burges@10", "NDCG:type=Exp": "ndcg_burges",
    "DCG:top=10": "dcg@10", "DCG:top=3;type=Exp": "dcg_burges@3",
}  # fmt: skip
CATBOOST_BINARY = {
    "MAP:border=0.5": "map", "MAP:top=5;border=0.5": "map@5", "MRR:border=0.5": "mrr", "MRR:top=5;border=0.5": "mrr@5",
    "PrecisionAt:border=0.5": "precision", "PrecisionAt:top=5;border=0.5": "precision@5",
    "RecallAt:border=0.5": "recall", "RecallAt:top=5;border=0.5": "recall@5",
}  # fmt: skip
TORCH_NDCG = {"RetrievalNormalizedDCG": "ndcg"} | at(K, RetrievalNormalizedDCG="ndcg")
TORCH = {
    "RetrievalMAP": "map", "RetrievalMRR": "mrr", "RetrievalPrecision": "precision", "RetrievalRecall": "recall",
    "RetrievalHitRate": "hit_rate",
}  # fmt: skip
TORCH_BINARY = {**TORCH, "RetrievalRPrecision": "r_precision"}
TORCH_CUT = at(K, **TORCH)
TORCH_NEEDS = (*BINARY, cases.distinct_scores)
SKLEARN = {"ndcg": "ndcg", "dcg": "dcg"} | at(K, ndcg="ndcg", dcg="dcg")
SINGLE = 2e-6  # they compute in float32
TM, SK, CB = {"convention": "torchmetrics"}, {"convention": "sklearn"}, {"convention": "catboost"}
LGB, XGB = {"convention": "lightgbm"}, {"convention": "xgboost"}

# name: (package, call, [(names, fastir's options, its options, needs)], how near)
LISTS = {
    "lightgbm": (
        "lightgbm",
        by_lightgbm,
        [(at(K, ndcg="ndcg", map="map"), LGB, {}, GRADED),
         (at(K, ndcg="ndcg"), LGB | {"gain": "linear"}, {"label_gain": [0, 1, 2, 3, 4], "metric": "ndcg"}, GRADED)],
        1e-12,
    ),
    "xgboost": (
        "xgboost",
        by_xgboost,
        [(at(K, ndcg="ndcg"), XGB, {}, GRADED),
         (at(K, ndcg="ndcg"), XGB | {"gain": "linear"}, {"ndcg_exp_gain": False}, GRADED),
         (at(K, ndcg="ndcg", map="map", pre="precision"), XGB, {}, BINARY),
         ({"ndcg@5-": "ndcg@5-", "map@5-": "map@5-"}, XGB, {}, BINARY)],
        SINGLE,
    ),
    "catboost": (
        "catboost", by_catboost, [(CATBOOST_GRADED, CB, {}, GRADED), (CATBOOST_BINARY, CB, {}, BINARY)], 1e-12,
    ),
    "scikit-learn": (
        "scikit-learn",
        by_sklearn,
        [
            (SKLEARN, SK, {}, (*LISTS_OF, cases.two_documents)),
            (SKLEARN, SK | {"ties": "input"}, {"ignore_ties": True},
             (*LISTS_OF, cases.two_documents, cases.distinct_scores)),
        ],
        1e-12,
    ),
    "torchmetrics": (
        "torchmetrics",
        by_torchmetrics,
        [
            (TORCH_NDCG, TM, {}, GRADED),
            (TORCH_BINARY | TORCH_CUT, TM, {}, TORCH_NEEDS),
            (TORCH_BINARY | TORCH_CUT, TM | {"empty": "one"}, {"empty": "pos"}, TORCH_NEEDS),
            (TORCH_BINARY | TORCH_CUT, TM | {"empty": "skip"}, {"empty": "skip"}, TORCH_NEEDS),
            (at((5, 20), RetrievalPrecision="precision"), TM | {"short_rankings": "clip"}, {"adaptive_k": True},
             TORCH_NEEDS),
        ],
        SINGLE,
    ),
}  # fmt: skip
