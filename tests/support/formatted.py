"""Judgments and a run in every format."""

QRELS = {"q2": {"d1": 2, "é文😀": -1, "d0": 0}, "q1": {"d1": 1}}
RUN = {"q2": {"d1": -0.1, "é文😀": 5e-324, "x": 1e300}, "q1": {"d1": 0.1 + 0.2, "b": -0.0}}
