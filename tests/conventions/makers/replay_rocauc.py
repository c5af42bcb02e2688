"""RePlay's RocAuc, which is defined where no item repeats."""

from importlib.metadata import version

from rankings import queries

CONVENTION = "replay"
MODULES = ["replay"]
QUERIES = queries(16, repeats=False)


def VERSION():
    return f"replay-rec {version('replay-rec')}"


def values(queries):
    from replay.metrics import PerUser, RocAuc

    lists = {i: [(doc, float(-rank)) for rank, doc in enumerate(query["retrieved"])] for i, query in enumerate(queries)}
    relevant = {place: [*query["relevant"]] for place, query in enumerate(queries)}
    found = RocAuc([3, 10], mode=PerUser())(lists, relevant)
    return {name.replace("-PerUser", ""): [one[place] for place in range(len(queries))] for name, one in found.items()}
