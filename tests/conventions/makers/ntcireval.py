"""Q-measure of pyNTCIREVAL, NTCIREVAL in Python: the grade of a level is the label, or 2^label - 1."""

from rankings import queries

TOOL = "pyNTCIREVAL"
CONVENTION = "fastir"
MODULES = ["pyNTCIREVAL"]
QUERIES = queries(41, grades=(1, 2, 3), repeats=False, empty_rankings=False, empty_relevant=False)
LEVELS = range(1, 4)
BLENDS = {
    "q_measure": (1, LEVELS),
    "q_measure(beta=10)": (10, LEVELS),
    "q_measure(gain=exp2)": (1, [2**level - 1 for level in LEVELS]),
}


def values(queries):
    from pyNTCIREVAL import Labeler
    from pyNTCIREVAL.metrics import QMeasure

    found = {}
    for query in queries:
        labeler = Labeler(query["relevant"])
        ranking = labeler.label(query["retrieved"])
        judged = labeler.compute_per_level_doc_num(max(LEVELS) + 1)
        for name, (beta, grades) in BLENDS.items():
            found.setdefault(name, []).append(QMeasure(judged, list(grades), beta).compute(ranking))
    return found
