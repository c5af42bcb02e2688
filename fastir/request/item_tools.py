"""Evaluators of recommenders, and what engines answer to a request for an evaluation: items in rank order.

A user or a rated request is a query here. Where a tool has a defect, its convention follows the metric's definition
and `about` names the defect.
"""

from __future__ import annotations

from fastir.request.convention import Convention, several

RANK_EVAL = "; its dcg with normalize is ndcg here, its maximum_relevance is max_grade, and it has no cutoff but k=10"

ITEM_TOOLS = (
    Convention(
        "recbole",
        "RecBole's metrics at k; its recall of a user without relevant items, whom its data loaders leave out, is NaN",
        ties="input",
        gain="binary",
        ap_norm="min_kR",
        of=several("recall", empty="nan"),
    ),
    Convention(
        "cornac",
        "Cornac; its MRR fails where no relevant item is ranked, and its MAP gives equal scores the last rank of them",
        ties="input",
        gain="binary",
        empty="skip",
        of=several("auc", ties="pessimistic"),
    ),
    Convention(
        "rectools",
        "RecTools; with divide_by_achievable its NDCG has ideal=judged, with divide_by_k its MAP divides by k",
        ties="input",
        gain="binary",
        ideal="full",
        f_weight="beta",
        empty="skip",
    ),
    Convention(
        "replay",
        "RePlay; in a dict equal scores keep their order, and its MAP counts every copy of an item, and exceeds 1",
        gain="binary",
        ap_norm="min_kR",
        no_hit="zero",
    ),
    Convention(
        "recommenders",
        "Recommenders' python_evaluation with relevancy_method=top_k; its map (with k) divides by R, and its "
        "r_precision_at_k leaves users without a hit out of the mean",
        queries="intersection",
        ties="input",
        gain="binary",
        ap_norm="min_kR",
        of=several("ndcg ndcg_burges", queries="qrels"),
    ),
    Convention(
        "lenskit",
        "LensKit without a gain field; its NaN of a list counts as 0 in its means, and its AveragePrecision fails "
        "where nothing is relevant",
        ties="input",
        gain="binary",
        discount="jk2",
        ap_norm="min_nkR",
        recall_norm="min_kR",
        short_rankings="clip",
        of=several("rbp", p=0.85),
    ),
    Convention(
        "elasticsearch",
        f"_rank_eval of Elasticsearch; a search that failed is left out of the mean{RANK_EVAL}",
        ties="input",
        gain="exp2",
        ideal="num_ret",
        short_rankings="clip",
    ),
    Convention(
        "opensearch",
        f"_rank_eval of OpenSearch; a search that failed is left out of the mean{RANK_EVAL}",
        ties="input",
        gain="exp2",
        ideal="num_ret",
        short_rankings="clip",
    ),
)
