"""The outputs of other programs in ../shared/data, as its table EXPECTED.tsv lists them."""

import csv
import gzip
import re

import pytest
from common import SHARED

DATA = SHARED / "data"

# EXPECTED.tsv names webtrack's qrels of 298 queries for this run; `num_q 50` in its -c outputs shows NIST's 50 queries.
MADE_FROM = {"test.wt13.run.gz": "qrels.web.201-250.txt.gz"}
NOT_OURS = re.compile(r"runid|relstring(_\d+)?|11pt_avg_.*")


def listed(*programs):
    """The lines of EXPECTED.tsv that these programs made, one test each."""
    if not SHARED.is_dir():
        return [pytest.param(None, id="absent")]
    with (DATA / "EXPECTED.tsv").open(encoding="utf-8", newline="") as file:
        lines = list(csv.DictReader(file, delimiter="\t"))
    return [pytest.param(line, id=line["expected"]) for line in lines if line["program"] in programs]


def paths(line):
    """The expected file of a line, its qrels and its run."""
    expected = DATA / line["expected"]
    folder = expected.parents[1]
    return expected, folder / MADE_FROM.get(line["run"], line["qrels"]), folder / line["run"]


def text_of(path):
    with gzip.open(path) if path.suffix == ".gz" else path.open("rb") as file:
        return file.read().decode("utf-8", "surrogateescape")


def ours(trec_name):
    """What we call a trec_eval measure, None where we have none: its own name, but `rbp` has other defaults here."""
    if NOT_OURS.fullmatch(trec_name):
        return None
    return "rbp(p=0.9, gains=scaled)" if trec_name == "rbp" else trec_name
