"""Runs of three teams, whose pool is known."""


def of_pool(pool):
    documents = {query_id: {} for query_id in pool.query_ids}
    for query_id, doc_id, names in pool:
        documents[query_id][doc_id] = names
    return documents
