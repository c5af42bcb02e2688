"""Definitions of papers and repositories that many results inherited, as options: found under these names."""

from __future__ import annotations

from typing import Any, NamedTuple

KEPT = "the largest cutoff"  # as max_depth: as many documents as the metrics of the table need


class Published(NamedTuple):
    """A definition: options of `evaluate` for fastir's convention, and where it was."""

    name: str
    options: dict[str, Any]
    about: str
    source: str


NGCF_ABOUT = "its ideal ranking holds the items that were retrieved, no others"
PUBLISHED = (
    Published(
        "NGCF",
        {"gain": "binary", "ideal": "retrieved", "ties": "input", "max_depth": KEPT},
        NGCF_ABOUT,
        "xiangwang1223/neural_graph_collaborative_filtering, NGCF/utility/metrics.py; its issue 34",
    ),
    Published(
        "NGCF",
        {"gain": "binary", "ideal": "retrieved", "ties": "input", "max_depth": 100},
        f"{NGCF_ABOUT}, of 100",
        "xiangwang1223/neural_graph_collaborative_filtering, NGCF/utility/metrics.py; its issue 34",
    ),
    Published(
        "the first version of LightGCN's paper",
        {"gain": "binary", "ideal": "retrieved", "ties": "input", "max_depth": KEPT},
        f"the nDCG of NGCF: {NGCF_ABOUT}",
        "kuandeng/LightGCN, issues 1 and 3",
    ),
    Published(
        "LightGCN",
        {"gain": "binary", "ties": "input"},
        "nDCG of hits, as its repository computes it",
        "kuandeng/LightGCN, evaluator/python/evaluate_foldout.py",
    ),
    Published(
        "CodeSearchNet",
        {"gain": "exp2", "empty": "skip", "judged_only": True, "ties": "input"},
        "its NDCG leaves out documents without annotations, and queries without relevant ones",
        "github/CodeSearchNet, src/relevanceeval.py",
    ),
    Published(
        "CodeSearchNet (full ranking)",
        {"gain": "exp2", "empty": "skip", "ties": "input"},
        "its NDCG leaves out queries without relevant documents",
        "github/CodeSearchNet, src/relevanceeval.py",
    ),
)
