"""TF-Ranking's ARP, whose scores all differ, as it puts equal ones in random order; run as its OPA is."""

import pathlib
import runpy

from rankings import queries

OPA = runpy.run_path(str(pathlib.Path(__file__).with_name("tf_ranking_opa.py")))
CONVENTION, MODULES, DIGITS, TOOL = (OPA[name] for name in ("CONVENTION", "MODULES", "DIGITS", "TOOL"))
QUERIES = queries(45, grades=(1, 2, 3), judged_only=True, empty_relevant=False)
for query in QUERIES:
    query["scores"] = list(range(len(query["retrieved"]), 0, -1))


def values(queries):
    return {"arp": OPA["computed"]("ARPMetric", queries)[0]}


def means(queries):
    column, weights = OPA["computed"]("ARPMetric", queries)
    return {"arp": (weights, OPA["weighted_mean"](column, weights))}
