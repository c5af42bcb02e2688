"""Ids of every length in bytes: a collection that puts equal and neighbouring lengths side by side, and its values.

Tables of ids hold short ids in their slots and long ones elsewhere, and compare words of 4, 8, 16 or 24 bytes: an error
shows at one length alone. So each query has ids of three lengths that follow each other, and ids of one length that
differ in their last byte, in their first one, or in their last character.
"""

import random

LENGTHS = (*range(71), 127, 128, 129, 255, 256, 257, 65535, 65536, 65537)  # in bytes
CHARACTERS = {1: "xy", 2: "éè", 3: "文斈", 4: "😀😁"}  # by their bytes: two that differ in the last one
SIZES = [(length, width) for length in LENGTHS for width in CHARACTERS if length < 1000 or width in (1, 2 + length % 3)]


def stem(length, width):
    """A text of so many bytes, of characters of one width behind ASCII."""
    return "x" * (length % width) + CHARACTERS[width][0] * (length // width)


def ids_of(length, width):
    """Different ids of so many bytes."""
    if length == 0:
        return [""]
    ids = [stem(length - 1, width) + end for end in "ab"] + ["a" + stem(length - 1, width)]
    if length >= width:
        ids.append(stem(length - width, width) + CHARACTERS[width][1])
    return list(dict.fromkeys(ids))


def all_ids():
    """All ids of these lengths, in a mixed order."""
    ids = list(dict.fromkeys(one for length, width in SIZES for one in ids_of(length, width)))
    random.Random(0).shuffle(ids)
    return ids


def collection(least=0):
    """(qrels, run): a query for each length and width, whose id has that length; scores tie."""
    qrels, run = {}, {}
    for length, width in SIZES:
        query = ids_of(length, width)[-1]
        if length < least or query in qrels:
            continue
        near = [(length, width), (length - 1, width), (length + 1, width), (length, width % 4 + 1)]
        docs = list(dict.fromkeys(one for size, kind in near if size >= least for one in ids_of(size, kind)))
        qrels[query] = {doc: (2, 1, 0)[i % 3] for i, doc in enumerate(docs) if i % 4 != 1}
        run[query] = {doc: float((i * 5 + length) % 4) for i, doc in enumerate(docs) if i % 5 != 2}
    return qrels, run


def ranked(docs):
    """The ids of a ranking: the best score first, of equal ones the last id."""
    return sorted(docs, key=lambda doc: (docs[doc], doc), reverse=True)


def values(qrels, run):
    """{query: (mrr, map, num_rel_ret, num_ret)} of the queries of both, by loops over dicts."""
    found = {}
    for query in qrels.keys() & run.keys():
        order = ranked(run[query]) if isinstance(run[query], dict) else run[query]
        relevant = {doc for doc, label in qrels[query].items() if label > 0}
        ranks = [rank for rank, doc in enumerate(order, 1) if doc in relevant]
        total = sum(hits / rank for hits, rank in enumerate(ranks, 1))
        found[query] = (
            1 / ranks[0] if ranks else 0.0, total / len(relevant) if relevant else 0.0, len(ranks), len(order),
        )  # fmt: skip
    return found


METRICS = ["mrr", "map", "num_rel_ret", "num_ret"]


def rows_of(data):
    return [(query, doc, number) for query, docs in data.items() for doc, number in docs.items()]


def renamed(data, names):
    """Nested dicts with other keys, where `names` has them."""
    if not isinstance(data, dict):
        return data
    return {names.get(key, key): renamed(value, names) for key, value in data.items()}


def short_names(*data):
    """{id: a name of eight bytes} of all keys of nested dicts, in the order of the ids."""
    keys, left = set(), list(data)
    while left:
        one = left.pop()
        if isinstance(one, dict):
            keys |= one.keys()
            left += one.values()
    return {key: f"{place:08}" for place, key in enumerate(sorted(keys))}
