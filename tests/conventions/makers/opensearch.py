"""OpenSearch's _rank_eval: a server, whose classes compute what Elasticsearch's do."""

import pathlib
import runpy

from rankings import queries

ELASTICSEARCH = runpy.run_path(str(pathlib.Path(__file__).with_name("elasticsearch.py")))
TOOL = "opensearch, PrecisionAtK at 14bd258, RecallAtK at 497205a, DiscountedCumulativeGain at 0aa52bd, \
ExpectedReciprocalRank at 05b1f8a"
QUERIES = queries(22, grades=(0, 1, 2, 3), repeats=False)
values = ELASTICSEARCH["values"]
