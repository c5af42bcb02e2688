"""The numbers of other programs on real collections: every value that ../shared/data lists for a metric of ours.

One test per expected file. Full-precision references agree to 1e-12; printed ones are the printed text, or differ from
it by at most half a unit of its last digit. Every test counts what it compared (`compared` in the JUnit report).
"""

import csv
import json
import math
import re

import pytest
from common import ABSENT, SHARED, UNEVEN
from reference_files import DATA, listed, ours, paths, text_of

import fastir

pytestmark = pytest.mark.skipif(not SHARED.is_dir(), reason=ABSENT)


COMPARED = ("te10", "te10hp", "te904", "pytrec_eval", "gdeval_k20", "rbp_eval_binary", "rbp_eval_graded_half")
DIVERSITY = ("ndeval", "ndeval_traditional")
DESCRIBED_IN_README = "see README"


# ---- reading and comparing -------------------------------------------------------------------------------------
def agrees(value, expected):
    """Whether a value is the expected one: floats to 1e-12, printed decimals to their digits, whole numbers exactly."""
    if isinstance(expected, float):
        return math.isclose(value, expected, rel_tol=1e-12, abs_tol=1e-12)
    digits = len(expected.partition(".")[2])
    half_a_unit = 0.5 * 10**-digits + 1e-9 if digits else 0.0
    return f"{value:.{digits}f}" == expected or abs(value - float(expected)) <= half_a_unit


def check(compared, record_property):
    """Fail with the first disagreements among (place, value, expected)."""
    wrong = [row for row in compared if not agrees(*row[1:])]
    record_property("compared", len(compared))
    assert compared, "nothing was compared"
    assert not wrong, f"{len(wrong)} of {len(compared)} values differ: {wrong[:5]}"


def test_every_listed_file_has_a_test():
    """What EXPECTED.tsv lists is compared here, or holds none of our metrics."""
    programs = {param.values[0]["program"] for param in listed(*COMPARED, *DIVERSITY, DESCRIBED_IN_README)}
    with (DATA / "EXPECTED.tsv").open(encoding="utf-8", newline="") as file:
        assert programs == {line["program"] for line in csv.DictReader(file, delimiter="\t")}
    described = {param.values[0]["expected"].rpartition("/")[2] for param in listed(DESCRIBED_IN_README)}
    assert described == {"lightgbm_ndcg.json", "published.ecnu.run2.tar_eval.txt", "published.iiit.run1.tar_eval.txt"}


# ---- trec_eval and pytrec_eval ---------------------------------------------------------------------------------
REFUSED = "the program refuses"  # trec_eval 10 without -c, where the run lacks a query
OPTIONS = {
    "": {}, "-J": {"judged_only": True}, "-l 2": {"rel_level": 2}, "relevance_level=2": {"rel_level": 2},
    "-M 100": {"max_depth": 100}, "-c": {"queries": "qrels"}, "qrels cut to the queries of the run": {},
}  # fmt: skip


def trec_rows(path, number):
    """(query, our name, value) of an expected file; `number` makes a value of its text."""
    if ".json" in path.suffixes:
        per_query = json.loads(text_of(path))["per_query"]
        # pytrec_eval gives the logarithms that trec_eval adds up for its geometric means
        triples = (
            (name, query, math.exp(value) if name.startswith("gm_") else value)
            for query, row in per_query.items()
            for name, value in row.items()
        )
    else:
        triples = (line.split("\t") for line in text_of(path).splitlines())
    named = ((query, ours(name.rstrip()), value) for name, query, value in triples)
    return [(query, name, number(value)) for query, name, value in named if name]


def check_trec_eval(expected, qrels, run, program, options, record_property):
    old = program in ("te904", "pytrec_eval")
    rows = trec_rows(expected, float if program in ("te10hp", "pytrec_eval") else str)
    results = fastir.evaluate(
        qrels,
        run,
        list(dict.fromkeys(name for _, name, _ in rows)),
        score_dtype="float32" if old else "float64",
        rounding="v9" if old else "v10",
        **{"queries": "intersection", **options},
    )
    listed_queries = {query for query, _, _ in rows} - {"all"}
    # 9.0.4 prints no rows for the queries that -c adds, and a summary alone has none at all
    silent = {query for query, status in results.status.items() if status == "missing" and program == "te904"}
    assert not listed_queries or listed_queries | silent == set(results.query_ids)
    per_query = {name: results.per_query(name) for name in results.names}
    check([
        ((query, name), results[name] if query == "all" else per_query[name][query], value)
        for query, name, value in rows
    ], record_property)  # fmt: skip


@UNEVEN
@pytest.mark.parametrize("line", listed("te10", "te904", "te10hp", "pytrec_eval"))
def test_trec_eval(line, record_property):
    expected, qrels, run = paths(line)
    if line["flags"] == REFUSED:
        missing = re.search("result (qid '.*') not found", text_of(expected))[1].replace("qid", "query")
        with pytest.raises(fastir.NoOverlapError, match=re.escape(f"{missing} is missing from the run")):
            fastir.evaluate(qrels, run, "map", queries="strict")
    else:
        check_trec_eval(expected, qrels, run, line["program"], OPTIONS[line["flags"]], record_property)


@pytest.mark.parametrize(("expected", "qrels", "run", "options"), [
    ("out.test", "qrels.test", "results.test", {}),
    ("out.test.a", "qrels.test", "results.test", {}),
    ("out.test.aq", "qrels.test", "results.test", {}),
    ("out.test.aqc", "qrels.test", "results.trunc", {"queries": "qrels"}),
    ("out.test.aqcM", "qrels.test", "results.trunc", {"queries": "qrels", "max_depth": 100}),
    ("out.test.aql", "qrels.rel_level", "results.test", {"rel_level": 2}),
    ("out.test.meas_params", "qrels.test", "results.test", {}),
    ("out.comment.test", "qrels.comment.test.gz", "results.comment.test.gz", {}),
])  # fmt: skip
def test_nist(expected, qrels, run, options, record_property):
    """The outputs that NIST ships with trec_eval."""
    folder = DATA / "trec_eval_test"
    check_trec_eval(folder / expected, folder / qrels, folder / run, "te10", options, record_property)


def test_groups_of_judges(record_property):
    """NIST's output for -R qrels_jg."""
    folder = DATA / "trec_eval_test"
    rows = trec_rows(folder / "out.test.qrels_jg", str)
    qrels = fastir.Qrels.from_file(folder / "qrels.123", format="qrels_jg")
    assert [len(groups) for groups in qrels.to_dict().values()] == [3, 3, 3]
    results = fastir.evaluate(qrels, folder / "results.test", list(dict.fromkeys(name for _, name, _ in rows)))
    per_query = results.to_dict() | {"all": dict(results)}
    check([((query, name), per_query[query][name], value) for query, name, value in rows], record_property)


# ---- ndeval ----------------------------------------------------------------------------------------------------
NDEVAL = {
    "ERR-IA": "err_ia", "nERR-IA": "nerr_ia", "alpha-DCG": "alpha_dcg", "alpha-nDCG": "alpha_ndcg",
    "NRBP": "nrbp", "nNRBP": "nnrbp", "MAP-IA": "map_ia", "P-IA": "p_ia", "strec": "st_recall",
}  # fmt: skip


@UNEVEN
@pytest.mark.parametrize("line", listed(*DIVERSITY))
def test_ndeval(line, record_property):
    expected, _, run = paths(line)
    rows = list(csv.DictReader(text_of(expected).splitlines()))
    names = {theirs: re.sub("^[^@]*", lambda base: NDEVAL[base[0]], theirs) for theirs in list(rows[0])[2:]}
    by_subtopic = fastir.Qrels.from_file(expected.parents[1] / line["qrels"], format="subtopic")
    # ndeval goes by the rank column, which here is the order of lines; -traditional by scores, as trec_eval
    ties = "trec" if line["program"] == "ndeval_traditional" else "input"
    results = fastir.evaluate(by_subtopic, run, names.values(), queries="intersection", ties=ties)
    per_query = results.to_dict() | {"amean": dict(results)}
    compared = [
        ((row["topic"], name), per_query[row["topic"]][name], row[theirs])
        for row in rows
        if row["topic"] in per_query
        for theirs, name in names.items()
    ]
    assert {row["topic"] for row in rows} >= set(results.query_ids)
    check(compared, record_property)


# ---- gdeval, rbp_eval, tar_eval, LightGBM ----------------------------------------------------------------------
@pytest.mark.parametrize("line", listed("gdeval_k20"))
def test_gdeval(line, record_property):
    """Only topics with a relevant document are printed, and averaged."""
    expected, qrels, run = paths(line)
    text = text_of(expected)
    if not text.startswith("runid,"):
        pytest.skip(f"no values: {text.strip()}")
    results = fastir.evaluate(qrels, run, ["ndcg@20", "err@20"], convention="gdeval")
    rows = []
    for row in csv.DictReader(text.splitlines()):
        for name in results.names:
            value = results[name] if row["topic"] == "amean" else results.per_query(name)[row["topic"]]
            rows.append(((row["topic"], name), value, row[name]))
    check(rows, record_property)


def around(scores, depth):
    """The ranks before and at the end of the tie across a depth, and how much of it lies within."""
    ranked = sorted(scores, reverse=True)
    depth = min(depth, len(ranked))
    if depth == len(ranked) or ranked[depth - 1] != ranked[depth]:
        return depth, depth, 1.0
    before, last = ranked.index(ranked[depth]), len(ranked) - ranked[::-1].index(ranked[depth])
    return before, last, (depth - before) / (last - before)


@UNEVEN
@pytest.mark.parametrize("line", listed("rbp_eval_binary", "rbp_eval_graded_half"))
def test_rbp_eval(line, record_property):
    """rbp_eval averages over the orders of tied documents. Graded, a document adds half its label.

    Of a tie that its depth cuts it takes the share within the depth of what the whole tie would add: not the mean over
    orders that ties=average is, but made of the same values at the two ends of the tie.
    """
    expected, qrels, run = paths(line)
    gains = ", gains=raw" if line["program"].endswith("graded_half") else ""
    scores = {query: list(docs.values()) for query, docs in fastir.Run.from_file(run).to_dict().items()}
    pattern = re.compile(r"p= (\S+) q= +(\S+) d= +(\S+) rbp= (\S+) \+(\S+)")
    rows, names = [], {}
    for p, query, depth, *texts in pattern.findall(text_of(expected)):
        if query in scores:
            n = len(scores[query])
            *cuts, share = around(scores[query], n if depth == "full" else int(depth))
            for metric, text in zip((f"rbp(p={p}{gains})", f"rbp_resid(p={p}, tail=always)"), texts, strict=True):
                names.update(dict.fromkeys(f"{metric}@{cut}" for cut in cuts if cut))
                tail = float(p) if "resid" in metric else 0.0  # to the power of the depth, which counts in any case
                rows.append((query, metric, cuts, share, tail, n if depth == "full" else min(int(depth), n), text))
    results = fastir.evaluate(qrels, run, names, queries="intersection", ties="average").to_dict()
    compared = []
    for query, metric, cuts, share, tail, depth, text in rows:
        low, high = (results[query][f"{metric}@{cut}"] - tail**cut if cut else 0.0 for cut in cuts)
        value = low + share * (high - low) + tail**depth
        compared.append(((query, metric, depth), value * (0.5 if "raw" in metric else 1.0), text))
    check(compared, record_property)


@pytest.mark.parametrize(("run", "published"), [("ecnu.run2", 30), ("iiit.run1", 27)])
def test_tar_eval(run, published, record_property):
    """CLEF-TAR's own figures, rounded to three decimals; its ties keep the order of the file."""
    folder = DATA / "cleftar17"
    names = {"ap": "map", "r": "recall", "rels_found": "num_rel_ret", "num_rels": "num_rel", "num_shown": "num_ret"}
    results = fastir.evaluate(
        folder / "qrels.txt.gz", folder / f"{run}.res.gz", names.values(), queries="intersection", ties="input"
    )
    lines = [line.split() for line in text_of(folder / "expected" / f"published.{run}.tar_eval.txt").splitlines()]
    rows = [
        ((query, names[key]), results.per_query(names[key])[query], text if key.count("_") else f"{float(text):.3f}")
        for query, key, text in (line for line in lines if len(line) == 3)
        if key in names and query != "ALL"
    ]
    assert len({query for (query, _), _, _ in rows}) == published
    check(rows, record_property)


@pytest.mark.parametrize("model", ["full", "tied"])
def test_lightgbm(model, record_property):
    """LightGBM's own nDCG: gain 2^label - 1, ideal of the list, ties in row order, 1 for a query without relevant."""
    folder = DATA / "lightgbm_rank"
    expected = json.loads(text_of(folder / "expected" / "lightgbm_ndcg.json"))[model]
    scores, labels = {}, {}
    for row in csv.DictReader(text_of(folder / "labels_scores.tsv").splitlines(), delimiter="\t"):
        scores.setdefault(row["qid"], {})[row["doc"]] = float(row[f"score_{model}"])
        labels.setdefault(row["qid"], {})[row["doc"]] = int(row["label"])
    results = fastir.evaluate(labels, scores, list(expected), convention="lightgbm")
    check([(name, results[name], value) for name, value in expected.items()], record_property)


# NTCIREVAL's names for what is ours, by its gains of the labels: levels 1 to 3, and its nDCG does not discount rank 1.
NTCIR = {"RR": "mrr", "AP": "map", "Q-measure": "q_measure", "RBP": "rbp(p=0.95, gains=scaled)"}
NTCIR_AT = {
    "AP@": "map(ap_norm=min_kR)@{k}", "nDCG@": "ndcg(discount=jk2)@{k}", "MSnDCG@": "ndcg@{k}",
    "P@": "precision@{k}", "Hit@": "hit_rate@{k}",
}  # fmt: skip


@pytest.mark.parametrize(
    ("expected", "gains", "judged_only"),
    [("", None, False), ("_cutoff", None, False), ("_grade", {1: 1, 2: 4, 3: 9}, False), ("_label_j", None, True)],
)
def test_ntcireval(expected, gains, judged_only, record_property):
    """pyNTCIREVAL's fixture: one ranking of four, ten relevant documents of three grades, printed to four places."""
    folder = DATA / "small_formats" / "pyNTCIREVAL"
    judged = dict(line.split() for line in text_of(folder / "sample.rel").splitlines())
    qrels = {
        "q": {
            doc: gains[int(label[1:])] if gains and label != "L0" else int(label[1:]) for doc, label in judged.items()
        }
    }
    run = {"q": {doc: -float(rank) for rank, doc in enumerate(text_of(folder / "sample.res").split())}}
    text = text_of(folder / f"res_test_compute{expected}.txt")
    names = {}
    for theirs, value in re.findall(r"(\S+)= +([0-9.]+)", text):
        base, at, k = theirs.partition("@")
        if base + at in {**NTCIR, **NTCIR_AT}:
            names[theirs] = (NTCIR_AT[base + at].format(k=int(k)) if at else NTCIR[base]), value
    assert len(names) == len(NTCIR) + len(NTCIR_AT)
    results = fastir.evaluate(qrels, run, [name for name, _ in names.values()], judged_only=judged_only)
    check([(theirs, results[name], value) for theirs, (name, value) in names.items()], record_property)
