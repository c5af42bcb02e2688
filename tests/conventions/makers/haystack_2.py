"""Haystack before 3.1, by the maker of the newest: run it where haystack-ai is 2.3 to 3.0."""

import pathlib
import runpy

newest = runpy.run_path(str(pathlib.Path(__file__).with_name("haystack.py")))
CONVENTION = "haystack-2"
COPIES = ["map", "ndcg"]
QUERIES, TOOL, values = newest["QUERIES"], newest["TOOL"], newest["values"]
