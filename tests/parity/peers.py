"""The peers as data: what each is asked, by which names and options fastir has its numbers, and the call.

A peer without which the table is shorter is one that is not installed. Its names of metrics are read by fastir in the
dialect of its convention; a pair of names stands only where that does not work.
"""

import os
import re
import shutil
import subprocess
from collections.abc import Callable
from importlib import metadata
from pathlib import Path
from typing import Any, NamedTuple

import cases
import gen
import golden_set
import lists
import peer_names
import ways

MEAN = None  # the query whose value is the mean


class Ask(NamedTuple):
    """One call: {its name: fastir's}, the peer's options, fastir's options, and what the collection must not have."""

    names: dict[str, str]
    ours: dict[str, Any]
    theirs: dict[str, Any] = {}
    needs: tuple[Callable[[cases.Case], cases.Case], ...] = ()


class Peer(NamedTuple):
    """A program; call(case, names, **options) returns {its name: {query, or MEAN: value}}."""

    package: str
    call: Callable[..., Any]
    asks: tuple[Ask, ...]
    within: float = 1e-12  # of the larger of 1 and the value
    ways: tuple[str, ...] = ("dict", "objects", "file", "pandas", "arrow")
    groups: bool = False  # whether it reads subtopics

    def version(self):
        """None if it is not installed."""
        if self.package == "trec_eval":
            said = TREC_EVAL and subprocess.run([TREC_EVAL, "--version"], capture_output=True, text=True).stderr
            return said.split()[-1] if said else None
        try:
            return metadata.version(self.package)
        except metadata.PackageNotFoundError:
            return None


def same(text):
    """Names that fastir reads as they are."""
    return {name: name for name in text.split()}


def at(cutoffs, *names):
    return " ".join(f"{name}@{k}" for name in names for k in cutoffs)


# ---- trec_eval and what contains it --------------------------------------------------------------------------------
CUTS = (5, 10, 15, 20, 30, 100, 200, 500, 1000)
WHOLE = """map Rprec bpref recip_rank infAP utility 11pt_avg binG G ndcg ndcg_rel Rndcg num_ret num_rel num_rel_ret
    num_nonrel_judged_ret set_P set_relative_P set_recall set_map set_F"""
TREC = same(WHOLE) | {
    name: name
    for name in (
        *(f"{name}_{k}" for name in ("P", "recall", "relative_P", "map_cut", "ndcg_cut") for k in CUTS),
        *(f"success_{k}" for k in (1, 5, 10)),
        *(f"iprec_at_recall_{x / 10:.2f}" for x in range(11)),
        *(f"Rprec_mult_{x / 5:.2f}" for x in range(1, 11)),
    )
}
# fastir's name for each of trec_eval's with parameters, and what pytrec_eval calls the value.
PARAMETERS = {
    "P.1,3": {"P_1": "P_1", "P_3": "P_3"},
    "ndcg_cut.2,7": {"ndcg_cut_2": "ndcg_cut_2", "ndcg_cut_7": "ndcg_cut_7"},
    "map_cut.1,2": {"map_cut_1": "map_cut_1", "map_cut_2": "map_cut_2"},
    "iprec_at_recall.0.15,0.5": {"iprec_at_recall_0.15": "iprec@0.15", "iprec_at_recall_0.50": "iprec@0.5"},
    "Rprec_mult.0.7": {"Rprec_mult_0.70": "Rprec_mult_0.70"},
    "success.3": {"success_3": "success_3"},
    "set_F.0.5": {"set_F": "set_F_0.5"},
}


def by_pytrec_eval(case, names, asked=None, **options):
    import pytrec_eval

    found = pytrec_eval.RelevanceEvaluator(case.qrels, asked or pytrec_eval.supported_measures, **options).evaluate(
        case.run
    )
    return {name: {query: values[name] for query, values in found.items()} for name in names}


V9 = {"convention": "trec_eval-9"}
NO_CRASH = (cases.labels_from_0,)
PYTREC_EVAL = Peer("pytrec-eval-terrier", by_pytrec_eval, (
    Ask(TREC, V9, {}, NO_CRASH),
    Ask(TREC, V9 | {"rel_level": 2}, {"relevance_level": 2}, NO_CRASH),
    Ask(TREC, V9 | {"judged_only": True}, {"judged_docs_only_flag": True}, NO_CRASH),
    Ask({k: v for pair in PARAMETERS.values() for k, v in pair.items()}, V9, {"asked": set(PARAMETERS)}, NO_CRASH),
))  # fmt: skip

TREC_EVAL = os.environ.get("TREC_EVAL") or shutil.which("trec_eval")
TREC_10 = TREC | {f"unj_{k}": f"unj_{k}" for k in (5, 10, 20)} | {"rbp_resid": "rbp_resid", "gm_map": "gm_map"}


def by_trec_eval(case, names, options=""):
    folder = Path(ways.FOLDER.name)
    qrels, run = gen.write_qrels(folder / "qrels", case.qrels), gen.write_run(folder / "run", case.run)
    command = [TREC_EVAL, "-q", *options.split(), "-m", "all_trec", qrels, run]
    found = {name: {} for name in names}
    for line in subprocess.run(command, capture_output=True, text=True, check=True).stdout.splitlines():
        name, query, value = line.split("\t")
        if name.strip() in found:
            found[name.strip()][MEAN if query == "all" else query] = float(value)
    return found


V10 = {"convention": "trec_eval-10"}
WRITTEN = cases.written, cases.same_queries, cases.labels_from_0
BY_TREC_EVAL = Peer(
    "trec_eval",
    by_trec_eval,
    (
        Ask(TREC_10, V10, needs=WRITTEN),
        Ask(TREC_10, V10 | {"queries": "qrels"}, {"options": "-c"}, (cases.written, cases.labels_from_0)),
        Ask(TREC_10, V10 | {"rel_level": 2}, {"options": "-l 2"}, WRITTEN),
        Ask(TREC_10, V10 | {"judged_only": True}, {"options": "-J"}, WRITTEN),
        Ask(TREC_10, V10 | {"max_depth": 7}, {"options": "-M 7"}, WRITTEN),
    ),
    within=5.1e-5,  # it prints four decimals
)


# ---- ir_measures and its providers -----------------------------------------------------------------------------------
def by_ir_measures(case, names, alone=False):
    """One measure at a time where a second one changes the values of the first."""
    import ir_measures

    qrels = (
        case.qrels
        if ways.flat(case)
        else [
            ir_measures.Qrel(query, doc, label, group)
            for query, groups in case.qrels.items()
            for group, docs in groups.items()
            for doc, label in docs.items()
        ]
    )
    measures = {name: ir_measures.parse_measure(name) for name in names}
    found = {name: {} for name in names}
    text = {measure: name for name, measure in measures.items()}
    for part in [[measure] for measure in text] if alone else [list(text)]:
        for metric in ir_measures.iter_calc(part, qrels, case.run):
            found[text[metric.measure]][metric.query_id] = metric.value
    return found


def by_provider(package, measures, *needs, **options):
    ask = Ask(same(measures), {"convention": "ir_measures"}, {"alone": True}, needs)
    return Peer(package, by_ir_measures, (ask,), **options)


GDEVAL = same("ERR@5 ERR@20 nDCG(dcg='exp-log2')@5 nDCG(dcg='exp-log2')@30")

# ---- diversity -------------------------------------------------------------------------------------------------------
NDEVAL = same(
    at((2, 5, 20), "ERR-IA", "alpha-DCG")
    + " "
    + at((1, 5, 20), "nERR-IA", "alpha-nDCG")
    + " NRBP nNRBP MAP-IA "
    + at((5, 10), "P-IA", "strec")
)


def by_pyndeval(case, names, **options):
    import pyndeval

    judged = [
        pyndeval.SubtopicQrel(query, group, doc, label)
        for query, groups in case.qrels.items()
        for group, docs in groups.items()
        for doc, label in docs.items()
    ]
    ranked = [pyndeval.ScoredDoc(query, doc, score) for query, docs in case.run.items() for doc, score in docs.items()]
    found = pyndeval.RelevanceEvaluator(judged, measures=list(names), **options).evaluate(ranked)
    return {name: {query: values[name] for query, values in found.items()} for name in names}


def with_parameters(alpha, beta):
    """Names of ndeval's metrics with these parameters."""
    given = {
        name: f"({', '.join(f'{key}={value}' for key, value in (('alpha', alpha), ('beta', beta))[:count])})"
        for name, count in {"ERR-IA": 1, "nERR-IA": 1, "alpha-DCG": 1, "alpha-nDCG": 1, "NRBP": 2, "nNRBP": 2}.items()
    }
    parted = {name: name.partition("@") for name in NDEVAL}
    return {name: base + given.get(base, "") + sign + k for name, (base, sign, k) in parted.items()}


# ---- the others that rank with ids -----------------------------------------------------------------------------------
def by_ranx(case, names):
    import ranx

    run = ranx.Run(case.run)
    ranx.evaluate(ranx.Qrels(case.qrels), run, list(names))
    return {name: {**run.scores[name], MEAN: run.mean_scores[name]} for name in names}


def by_beir(case, names, custom=()):
    from beir.retrieval.evaluation import EvaluateRetrieval

    cutoffs = sorted({int(name.partition("@")[2]) for name in names})
    calls = [EvaluateRetrieval.evaluate_custom(case.qrels, case.run, cutoffs, kind) for kind in custom]
    tables = calls or EvaluateRetrieval.evaluate(case.qrels, case.run, cutoffs, ignore_identical_ids=False)
    return {name: {MEAN: value} for table in tables for name, value in table.items() if name in names}


BEIR = at((1, 3, 10, 100), "NDCG", "MAP", "Recall", "P")
BEIR_CUSTOM = at((1, 3, 10, 100), "MRR", "Hole", "Accuracy")


def by_mteb(case, names):
    from mteb._evaluators.retrieval_metrics import calculate_retrieval_scores

    cutoffs = sorted({int(name.partition("@")[2]) for name in names})
    found = calculate_retrieval_scores(case.run, case.qrels, cutoffs)
    tables = found.ndcg, found.map, found.recall, found.precision, found.hit_rate, found.mrr
    return {name: {MEAN: value} for table in tables for name, value in table.items() if name in names}


MTEB = {f"{theirs}@{k}": f"{ours}@{k}" for theirs, ours in peer_names.MTEB.items() for k in (1, 5, 10, 100)}
IN_BOTH = {"convention": "fastir", "ties": "trec", "queries": "intersection"}


def by_sentence_transformers(case, names):
    from sentence_transformers.sentence_transformer.evaluation import InformationRetrievalEvaluator

    cutoffs = sorted({int(name.partition("@")[2]) for name in names})
    options = dict.fromkeys(("mrr_at_k", "ndcg_at_k", "accuracy_at_k", "precision_recall_at_k", "map_at_k"), cutoffs)
    relevant = {query: {doc for doc, label in docs.items() if label > 0} for query, docs in case.qrels.items()}
    documents = {doc for side in (case.qrels, case.run) for docs in side.values() for doc in docs}
    evaluator = InformationRetrievalEvaluator(
        dict.fromkeys(case.qrels, ""), dict.fromkeys(documents, ""), relevant, **options
    )
    found = evaluator.compute_metrics(
        [
            [{"corpus_id": doc, "score": score} for doc, score in case.run.get(query, {}).items()]
            for query in evaluator.queries_ids
        ]
    )
    return {name: {MEAN: found[re.sub("@.*", "@k", name)][int(name.partition("@")[2])]} for name in names}


SENTENCES = same(at((1, 3, 10, 100), "accuracy", "precision", "recall", "ndcg", "mrr", "map"))

IRM = "ir_measures"
PEERS = {
    "trec_eval": BY_TREC_EVAL,
    "pytrec_eval": PYTREC_EVAL,
    "ir_measures": by_provider("ir-measures", peer_names.IR_MEASURES["ir_measures"], cases.written),
    "ir_measures, accuracy": by_provider("ir-measures", peer_names.ACCURACY, cases.written, cases.with_a_miss),
    "ir_measures, pytrec_eval": by_provider("pytrec-eval-terrier", peer_names.IR_MEASURES["pytrec_eval"], *NO_CRASH),
    "ir_measures, cwl_eval": by_provider("cwl-eval", peer_names.IR_MEASURES["cwl"]),
    "ir_measures, pyndeval": by_provider("pyndeval", peer_names.DIVERSE, groups=True, ways=("dict",)),
    "ir_measures, gdeval": Peer(
        "ir-measures",
        by_ir_measures,
        (Ask(GDEVAL, {"convention": IRM}, {}, (cases.written, cases.numbered, cases.labels_to_4, cases.small_scores)),),
        within=5.1e-6,  # it prints five decimals
    ),
    "pyndeval": Peer(
        "pyndeval",
        by_pyndeval,
        tuple(
            Ask(with_parameters(a, b), {"convention": "ndeval"}, {"alpha": a, "beta": b}, (cases.written,))
            for a, b in ((0.5, 0.5), (0.2, 0.8))
        ),
        groups=True,
        ways=("dict",),
    ),
    "ranx": Peer("ranx", by_ranx, (
        Ask(same(" ".join(golden_set.RANX)), {"convention": "ranx"}, {}, (cases.same_queries, cases.distinct_scores)),
    )),
    "beir": Peer(
        "beir",
        by_beir,
        (
            Ask(same(BEIR), {"convention": "beir"}, {}, NO_CRASH),
            Ask(same(BEIR_CUSTOM), {"convention": "beir"}, {"custom": ("mrr", "hole", "acc")}, (cases.judged_queries,)),
            Ask(same(at((1, 3, 10), "R_cap")), {"convention": "beir"}, {"custom": ("r_cap",)},
                (cases.judged_queries, cases.relevant_queries)),
        ),
        within=5.1e-6,  # it rounds to five decimals
    ),
    "mteb": Peer(
        "mteb",
        by_mteb,
        (
            Ask(MTEB, V9, {}, (cases.judged_queries, *NO_CRASH)),
            Ask(same(at((1, 5, 10, 100), "MRR")), IN_BOTH, {}, (cases.judged_queries, *NO_CRASH)),
        ),
        within=5.1e-6,  # it rounds to five decimals
    ),
    "sentence-transformers": Peer("sentence-transformers", by_sentence_transformers,
                                  (Ask(SENTENCES, {"convention": "sentence-transformers"}, {}, (cases.binary,)),)),
    **{
        name: Peer(package, call, tuple(Ask(*ask) for ask in asks), within, (*Peer._field_defaults["ways"], "arrays"))
        for name, (package, call, asks, within) in lists.LISTS.items()
    },
}  # fmt: skip
