"""The module of Pyserini that starts Java for trec_eval is fastir's, before anybody imports it."""

import sys

from fastir.compat import pyserini

sys.modules["pyserini.eval.trec_eval"] = pyserini
