"""The metric step of sentence-transformers: the evaluator's metrics of lists of hits, the best 100 of each query."""

from sentence_transformers.sentence_transformer.evaluation import InformationRetrievalEvaluator


def prepare(qrels, run):
    relevant = {query: {doc for doc, label in docs.items() if label > 0} for query, docs in qrels.items()}
    evaluator = InformationRetrievalEvaluator({query: query for query in run}, {}, relevant)
    hits = [
        [{"corpus_id": doc, "score": docs[doc]} for doc in sorted(docs, key=docs.get, reverse=True)[:100]]
        for docs in run.values()
    ]
    return lambda: evaluator.compute_metrics(hits)
