"""The metric step of PyTerrier: `pt.Experiment` of a ranking that is there as a table."""

import pandas as pd
import pyterrier as pt


def prepare(qrels, run):
    judged = [(query, doc, label) for query, docs in qrels.items() for doc, label in docs.items()]
    found = [(query, doc, score) for query, docs in run.items() for doc, score in docs.items()]
    topics = pd.DataFrame({"qid": list(run), "query": list(run)})
    qrels = pd.DataFrame(judged, columns=["qid", "docno", "label"])
    ranking = pt.model.add_ranks(pd.DataFrame(found, columns=["qid", "docno", "score"]))
    measures = ["map", "ndcg", "recip_rank", "ndcg_cut_10", "recall_100", "P_10"]
    return lambda: (
        pt.Experiment([ranking], topics, qrels, measures, names=["run"]).drop(columns="name").iloc[0].to_dict()
    )
