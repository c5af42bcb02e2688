"""The metric step of pytrec_eval: six measures of a dict run, per query."""

import pytrec_eval


def prepare(qrels, run):
    measures = {"map", "ndcg", "recip_rank", "ndcg_cut_10", "recall_100", "P_10"}
    return lambda: pytrec_eval.RelevanceEvaluator(qrels, measures).evaluate(run)
