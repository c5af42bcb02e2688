"""Programs and libraries whose numbers fastir gives, from scores: the convention of each."""

from __future__ import annotations

from typing import Any

from fastir.request.convention import Convention, several

TREC: dict[str, Any] = {"queries": "intersection", "unranked": "nan", "of": several("rbp", p=0.9, gains="scaled")}
LISTS: dict[str, Any] = {"ideal": "retrieved", "ap_norm": "min_kR", "ties": "input"}
DCG = "ndcg ndcg_burges dcg dcg_burges"
CWL = "bpm insq inst nerr8 nerr9 nerr10 nerr11 pair_accuracy rbp sdcg"

TOOLS = (
    Convention("fastir", "the default"),
    Convention("trec_eval-10", "trec_eval 10; its -c is queries=qrels", **TREC),
    Convention("trec_eval-9", "trec_eval 9 and pytrec_eval", score_dtype="float32", rounding="v9", **TREC),
    Convention(
        "ranx",
        "ranx; equal scores come in no certain order there",
        queries="strict",
        ties="input",
        gains="raw",
        rounding="v9",
        bpref_norm="min_nan",
        negatives="nonrel",
    ),
    Convention(
        "ir_measures",
        "ir_measures with its providers; it leaves queries that the run lacks out of NumQ and NumRel",
        score_dtype="float32",
        rounding="v9",
        rank_one="raw",
        rbp_norm="cwl",
        of=several("mrr@k judged", ties="doc_id_asc", score_dtype="float64")
        + several("compat", ties="doc_id_asc", score_dtype="float64", missing_documents="zero")
        + several(CWL, ties="input", score_dtype="float64")
        + several(
            "alpha_dcg alpha_ndcg err_ia nerr_ia nrbp map_ia p_ia st_recall",
            ties="doc_id_asc",
            score_dtype="float64",
        )
        + several("nnrbp", ties="doc_id_asc", score_dtype="float64", empty="nan")
        + several("err nerr ndcg_burges", score_dtype="float64"),
    ),
    Convention(
        "sklearn",
        "ndcg_score and dcg_score of scikit-learn",
        ideal="retrieved",
        ties="input",
        f_weight="beta",
        of=several(DCG, ties="average"),
    ),
    Convention(
        "lightgbm",
        "LightGBM with its default label_gain; its ndcg takes the weight of a query without relevant documents for 1",
        gain="exp2",
        empty="one",
        **LISTS,
    ),
    Convention(
        "xgboost",
        "XGBoost with ndcg_exp_gain; its metrics without a cutoff stop at 32 documents (or "
        "lambdarank_num_pair_per_sample), and its ndcg takes the weight of a query without relevant documents "
        "for 1",
        gain="exp2",
        empty="one",
        short_rankings="clip",
        score_dtype="float32",
        of=several("precision", empty="zero"),
        **LISTS,
    ),
    Convention(
        "catboost",
        "CatBoost with NDCG:type=Base",
        ideal="retrieved",
        ap_norm="min_kR",
        ties="pessimistic",
        short_rankings="clip",
        of=several("ndcg ndcg_burges recall", empty="one"),
    ),
    Convention(
        "torchmetrics",
        "torchmetrics.retrieval; it takes documents with scores of 0 or less for not relevant",
        ideal="retrieved",
        ap_norm="hits",
        ties="input",
        f_weight="beta",
        of=several("ndcg ndcg_burges", ties="average") + several("auc", ties="average", one_class="zero"),
    ),
    Convention(
        "sentence-transformers",
        "InformationRetrievalEvaluator; labels are 0 and 1 there",
        ap_norm="min_kR",
        ties="doc_id_asc",
        empty="skip",
    ),
    Convention(
        "beir",
        "BEIR; it rounds to five decimals, and drops documents that are called like their query",
        queries="intersection",
        score_dtype="float32",
        rounding="v9",
        of=several("mrr relative_precision hit_rate hole", ties="input", score_dtype="float64", queries="qrels"),
    ),
    Convention(
        "mteb",
        "MTEB; it rounds all but MRR to five decimals",
        queries="intersection",
        score_dtype="float32",
        rounding="v9",
        of=several("mrr hole", score_dtype="float64")
        + several("relative_precision", score_dtype="float64", empty="skip"),
    ),
    Convention(
        "pyserini",
        "Pyserini's trec_eval, which is trec_eval 9; its judged.k divides the sums over all queries",
        score_dtype="float32",
        rounding="v9",
        **TREC,
    ),
    Convention(
        "gdeval",
        "gdeval.pl; no cutoff is 20 there, and it prints five decimals",
        queries="intersection",
        gain="exp2",
        empty="skip",
    ),
    Convention(
        "ndeval",
        "ndeval and pyndeval; they read 20 ranks",
        queries="intersection",
        ties="doc_id_asc",
        rank_one="raw",
        of=several("nnrbp", empty="nan"),
    ),
    Convention(
        "ptranking",
        "PTRanking's metrics of lists as long as the cutoff at least; average precision divides there by the sum of "
        "the best labels, which is more than the relevant documents where labels exceed 1",
        score_dtype="float32",
        gain="exp2",
        short_rankings="clip",
        max_grade="query",
        of=several("ndcg ndcg_burges nerr map", empty="nan"),
        **LISTS,
    ),
    Convention(
        "tf-ranking",
        "TF-Ranking 0.5.5; equal scores come in random order there, and documents with negative labels are left out",
        score_dtype="float32",
        gain="exp2",
        short_rankings="clip",
        ideal="retrieved",
        ties="input",
    ),
)
