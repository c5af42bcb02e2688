"""RePlay's RocAuc, which is defined where no item repeats."""

from rankings import queries

TOOL = "replay-rec"
CONVENTION = "replay"
MODULES = ["replay"]
QUERIES = queries(16, repeats=False)


def values(queries):
    from replay.metrics import PerUser, RocAuc

    lists = {i: [(doc, float(-rank)) for rank, doc in enumerate(query["retrieved"])] for i, query in enumerate(queries)}
    relevant = {place: [*query["relevant"]] for place, query in enumerate(queries)}
    found = RocAuc([3, 10], mode=PerUser())(lists, relevant)
    return {name.replace("-PerUser", ""): [one[place] for place in range(len(queries))] for name, one in found.items()}
