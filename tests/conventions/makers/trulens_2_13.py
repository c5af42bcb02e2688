"""TruLens 2.13.1, by the maker of the newest, without the labels of 0 that leave nDCG nothing to divide by.

Lists of chunks are judged there, or the query is NaN to every metric.
"""

import pathlib
import runpy

from rankings import queries

newest = runpy.run_path(str(pathlib.Path(__file__).with_name("trulens.py")))
CONVENTION = "trulens-2.13"
QUERIES = queries(6, grades=(0, 1, 2, 3), empty_relevant=False)
COPIES = [*newest["COPIES"], "recall", "ndcg", *(f"{name}@{k}" for name in ("recall", "ndcg") for k in (3, 8))]
TOOL, values = newest["TOOL"], newest["values"]
