"""The cases in beyond/: ties, no answer, forbidden documents, evidence, clusters, nuggets, citations, costs, exposure.

A case has an input of its kind instead of qrels and a run. Its values come from the textbook of runners/python, which
knows nothing of fastir, and at least one of each metric from arithmetic by hand, which is shown.
"""

import json
import math
import pathlib
import re
import sys

HERE = pathlib.Path(__file__).parent
sys.path[:0] = [str(HERE / "runners" / "python")]

import beyond  # noqa: E402

DESK = {
    "refund": {"refund-2026": 2, "faq-12": 1}, "login": {"login-guide": 2}, "export": {"csv": 1, "json": 1},
    "delete": {"privacy": 2}, "weather": {},
}  # fmt: skip
FOUND = {
    "refund": {"refund-2019": 0.9, "refund-2026": 0.8, "faq-12": 0.3}, "login": {"login-guide": 0.7, "faq-3": 0.4},
    "export": {"csv": 0.5, "pricing": 0.45, "json": 0.4}, "delete": {"faq-9": 0.2}, "weather": {"faq-3": 0.6},
}  # fmt: skip
ANSWERED = {query: labels for query, labels in DESK.items() if labels}
BANNED = {"refund": ["refund-2019", "refund-2017"], "login": ["login-old"]}
EQUAL = {"qrels": {"q": {"b": 1}, "r": {"a": 2, "c": 1}}, "run": {
    "q": {"a": 1.0, "b": 1.0, "c": 1.0}, "r": {"a": 2.0, "b": 1.0, "c": 1.0, "d": 0.5}}}  # fmt: skip
SETS = {"q": [["a", "b"], ["c"]], "r": [["a", "c", "d"]], "s": [["e"], ["e", "f"]]}
SETS_RUN = {"q": {"a": 4.0, "x": 3.0, "b": 2.0, "c": 1.0}, "r": {"d": 3.0, "y": 2.0, "a": 1.0}, "s": {"x": 1.0}}
OVERLAPPING = {"q": [["a", "b"], ["b", "c"], ["d"]], "r": [["a", "d"], ["a", "e", "f"]]}
OVERLAPPING_RUN = {"q": list("axbycd"), "r": list("xfdaye")}
VERDICTS = {
    "verdicts": {
        "q": {"n1": "support", "n2": "partial_support", "n3": "not_support", "n4": "partial_support"},
        "r": {"n1": "support"}, "s": {"n1": "partial_support"},
    },
    "expected": {
        "q": {"n1": "vital", "n2": "vital", "n3": "vital", "n4": "okay"}, "r": {"n1": "vital", "n2": "okay"},
        "s": {"n1": "okay"},
    },
}  # fmt: skip
SENTENCES = {
    "sentences": {
        "q": [
            {"support": ["support"], "nuggets": ["n1", "n2"]},
            {"support": ["partial_support", "support"], "nuggets": ["n3"]},
            {"support": [], "nuggets": []},
            {"support": ["not_support", "support"], "nuggets": ["n4"]},
        ],
        "r": [{"support": [], "nuggets": [], "needs_none": True}, {"support": ["support"], "nuggets": ["n1"]}],
    },
    "expected": {"q": ["n1", "n2", "n3", "n4"], "r": ["n1", "n2"]},
}  # fmt: skip
PRICED = {
    "qrels": {"q": {"a": 1, "b": 2, "c": 0}, "r": {"x": 1}, "s": {"z": 1}},
    "run": {"q": {"c": 4.0, "a": 3.0, "d": 2.0, "b": 1.0}, "r": {"y": 1.0}},
    "costs": {"a": 10, "b": 20, "c": 5, "d": 1, "y": 7},
}  # fmt: skip
GROUPED = {
    "qrels": {"q": {"a": 1, "b": 2, "c": 0}, "r": {"c": 1}, "s": {"d": 1}},
    "run": {"q": {"x": 5.0, "a": 4.0, "b": 3.0, "c": 2.0}, "r": {"d": 3.0, "b": 3.0, "a": 1.0}, "s": {}},
    "groups": {"a": {"m": 1}, "b": {"f": 1.0}, "c": {"m": 0.5, "f": 0.5}, "d": {"m": 0.25, "f": 0.75}},
    "target": {"m": 0.5, "f": 0.5},
}  # fmt: skip
SEQUENCES = {
    "qrels": {"q": {"a": 1, "b": 2, "c": 0}, "r": {"c": 1}}, "groups": GROUPED["groups"],
    "target": {"m": 0.75, "f": 0.25}, "rankings": {"q": [["a", "b", "c"], ["c", "b"]], "r": [["x", "c"]]},
}  # fmt: skip
HELP = {"qrels": {"q": {"a": 1}}, "run": {"q": {"h": 2.0, "a": 1.0}}, "forbidden": {"q": ["h"]}}
SURE = {"values": [1.0, 0.5, 0.5, 0.0, 1.0, 0.25], "certainty": [0.9, 0.8, 0.3, 0.3, 0.7, 0.1]}
LEAK = {"qrels": ANSWERED, "run": FOUND, "forbidden": BANNED}
SILENT, NAMED = {"qrels": DESK, "run": FOUND}, {"qrels": DESK, "run": FOUND, "unanswerable": ["weather", "never-asked"]}
# Kind, metric with its options, input, and values as one would work them out.
CASES = (
    ("ties", {"name": "mrr"}, EQUAL, {"expected": "((1 + 1/2 + 1/3) / 3 + 1) / 2", "lowest": "(1/3 + 1) / 2",
                                      "highest": "1", "range": "1/3", "n_queries": "1", "largest_group": "3"}),
    ("ties", {"name": "precision", "k": 2}, EQUAL, {"expected": "(1/3 + 3/4) / 2", "lowest": "(0 + 1/2) / 2",
                                                    "highest": "(1/2 + 1) / 2", "bias": "(1/2 + 1) / 2 - 13/24"}),
    ("ties", {"name": "recall", "k": 1}, EQUAL, {"expected": "(1/3 + 1/2) / 2", "bias": "1/4 - 5/12"}),
    ("ties", {"name": "ndcg", "k": 2}, EQUAL, {"lowest": "(0 + 2 / (2 + 1/log2(3))) / 2"}),
    ("ties", {"name": "map"}, EQUAL, {"highest": "1"}),
    ("ties", {"name": "recall", "k": 1}, {"qrels": {"q": {"a": 1}}, "run": {"q": {"a": 2.0, "b": 1.0, "c": 1.0}}},
     {"range": "0", "n_queries": "0", "largest_group": "1"}),
    ("silence", {"name": "surfaced", "min_score": 0.5}, SILENT, {"refund": "1", "delete": "0", "all": "4/5"}),
    ("silence", {"name": "false_surface", "min_score": 0.5}, SILENT, {"weather": "1", "all": "1", "login": "nan"}),
    ("silence", {"name": "false_surface", "min_score": 0.7}, SILENT, {"all": "0"}),
    ("silence", {"name": "false_surface", "min_score": 0.5}, NAMED, {"never-asked": "0", "all": "1/2"}),
    ("silence", {"name": "false_abstention", "min_score": 0.5}, SILENT,
     {"delete": "1", "weather": "nan", "all": "1/4"}),
    ("silence", {"name": "false_abstention", "min_score": 0.8}, NAMED, {"refund": "0", "all": "3/4"}),
    ("silence", {"name": "recall", "min_score": 0.45}, SILENT, {"refund": "1/2", "export": "1/2", "all": "2/5"}),
    ("silence", {"name": "precision", "k": 2, "min_score": 0.8}, SILENT, {"refund": "1/2"}),
    ("risk_coverage", {"name": "risk_coverage"}, SURE, {"risk@1": "0", "risk@2": "1 - 3/4", "risk@4": "1 - 2.75 / 4",
                                                        "risk@6": "1 - 3.25 / 6"}),
    ("risk_coverage", {"name": "risk_coverage"}, {"values": [1, 0], "certainty": [2, 1]},
     {"risk@1": "0", "risk@2": "1/2", "aurc": "1/4", "e_aurc": "0", "nauc": "1"}),
    ("forbidden", {"name": "forbidden_hits", "k": 2}, LEAK, {"refund": "1", "login": "0", "all": "1/4"}),
    ("forbidden", {"name": "forbidden_hits"}, LEAK, {"all": "1/4"}),
    ("forbidden", {"name": "forbidden_rate", "k": 1}, LEAK, {"refund": "1", "all": "1/4"}),
    ("forbidden", {"name": "leak_recall", "k": 2}, LEAK, {"refund": "1/2 - 1/2", "login": "1", "export": "1/2",
                                                          "all": "(0 + 1 + 1/2 + 0) / 4"}),
    ("forbidden", {"name": "leak_recall"}, LEAK, {"refund": "1 - 1/2", "all": "(1/2 + 1 + 1 + 0) / 4"}),
    ("forbidden", {"name": "compat_help_harm", "p": 0.5}, HELP,
     {"q": "(1/2 * 1/2) / (1 + 1/2 * 1/2) - (1 + 1/2 * 1/2) / (1 + 1/2 * 1/2)"}),
    ("forbidden", {"name": "compat_help_harm"}, LEAK, {"delete": "0"}),
    ("evidence", {"name": "evidence_recall", "k": 3}, {"sets": SETS, "run": SETS_RUN},
     {"q": "1/2", "r": "0", "s": "0", "all": "1/6"}),
    ("evidence", {"name": "evidence_found", "k": 3}, {"sets": SETS, "run": SETS_RUN}, {"q": "1", "all": "1/3"}),
    ("evidence", {"name": "evidence_found", "k": 2}, {"sets": SETS, "run": SETS_RUN}, {"q": "0"}),
    ("evidence", {"name": "evidence_chain", "k": 3}, {"sets": SETS, "run": SETS_RUN}, {"q": "1", "r": "2/3", "s": "0"}),
    ("evidence", {"name": "evidence_chain", "k": 2}, {"sets": SETS, "run": SETS_RUN}, {"q": "1/2", "r": "1/3"}),
    ("evidence", {"name": "evidence_mrr"}, {"sets": SETS, "run": SETS_RUN}, {"q": "1/3", "r": "0", "all": "1/9"}),
    ("evidence", {"name": "evidence_mrr", "k": 2}, {"sets": SETS, "run": SETS_RUN}, {"q": "0"}),
    *(("evidence", {"name": name, "set_ranks": "sets"} | k, {"sets": OVERLAPPING, "run": {
        query: {doc: float(9 - place) for place, doc in enumerate(docs)} for query, docs in OVERLAPPING_RUN.items()}},
       hand) for name, k, hand in (
        ("evidence_recall", {"k": 2}, {"q": "1/3", "r": "1/2"}), ("evidence_recall", {"k": 4}, {"q": "2/3", "r": "1"}),
        ("evidence_found", {"k": 1}, {"q": "0"}), ("evidence_mrr", {}, {"q": "1/2", "r": "1/2"}),
    )),
    ("evidence", {"name": "hop_recall", "k": 3}, {"hops": SETS, "run": SETS_RUN}, {"q": "1/2", "r": "1", "s": "0"}),
    ("evidence", {"name": "hop_recall", "k": 4}, {"hops": SETS, "run": SETS_RUN}, {"q": "1"}),
    ("evidence", {"name": "all_hops", "k": 3}, {"hops": SETS, "run": SETS_RUN}, {"q": "0", "r": "1", "all": "1/3"}),
    ("clusters", {"name": "t_interval"}, {"values": [0.2, 0.4, 0.8, 1.0], "clusters": ["x", "x", "y", "y"]},
     {"mean": "0.6", "low": "0.6 - tan(pi * 0.475) * sqrt(2 * 0.6**2 * 2) / 4"}),
    ("clusters", {"name": "t_interval", "confidence": 0.8}, {"values": [0.5, 1, 0, 0.25, 0.75],
                                                             "clusters": ["x", "y", "x", "z", "z"]},
     {"mean": "0.5", "high": "0.5 + 0.8 / sqrt(2 * 0.9 * 0.1) * sqrt((0.25 + 0.25 + 0) * 3 / 2) / 5"}),
    ("confidence_sequence", {"name": "confidence_sequence"}, {"values": [0.6, 0.7, 0.8, 0.7] * 5},
     {"low@1": "0", "high@1": "1"}),
    ("confidence_sequence", {"name": "confidence_sequence", "low": -1, "high": 1, "confidence": 0.9},
     {"values": [0.1, 0.0, 0.2, 0.05, 0.1] * 6}, {"low@1": "-1", "high@1": "1"}),
    ("nuggets", {"name": "nugget_recall"}, VERDICTS, {"q": "(1 + 1/2 + 0 + 1/2) / 4", "r": "1/2", "s": "1/2"}),
    ("nuggets", {"name": "nugget_recall_strict"}, VERDICTS, {"q": "1/4", "r": "1/2", "s": "0", "all": "1/4"}),
    ("nuggets", {"name": "vital_recall"}, VERDICTS, {"q": "(1 + 1/2 + 0) / 3", "r": "1", "s": "0", "all": "1/2"}),
    ("nuggets", {"name": "vital_recall_strict"}, VERDICTS, {"q": "1/3", "r": "1", "s": "0"}),
    ("nuggets", {"name": "weighted_nugget_recall"}, VERDICTS,
     {"q": "(1 + 1/2 + 0 + 1/2 * 1/2) / (3 + 1/2)", "r": "1 / (1 + 1/2)", "s": "1/2"}),
    ("citations", {"name": "citation_precision"}, SENTENCES, {"q": "(1 + 1/2 + 1 + 0 + 1) / 5", "r": "1"}),
    ("citations", {"name": "citation_precision_strict"}, SENTENCES, {"q": "3/5", "r": "1"}),
    ("citations", {"name": "citation_recall"}, SENTENCES, {"q": "(1 + 1 + 0 + 1) / 4", "r": "1/2"}),
    ("citations", {"name": "citation_recall_strict"}, SENTENCES, {"q": "3/4", "r": "1/2"}),
    ("citations", {"name": "sentence_citation_precision"}, SENTENCES, {"q": "2/4", "r": "1/2"}),
    ("citations", {"name": "report_precision"}, SENTENCES, {"q": "1/4", "r": "2/2"}),
    ("citations", {"name": "report_recall"}, SENTENCES, {"q": "2/4", "r": "1/2"}),
    ("citations", {"name": "report_f1"}, SENTENCES,
     {"q": "2 * 1/4 * 2/4 / (1/4 + 2/4)", "r": "2 * 1 * 1/2 / (1 + 1/2)"}),
    ("costs", {"name": "recall", "budget": 15}, PRICED, {"q": "1/2", "r": "0", "s": "0"}),
    ("costs", {"name": "recall", "budget": 14.9}, PRICED, {"q": "0"}),
    ("costs", {"name": "recall", "budget": 26, "over_budget": "skip"}, PRICED, {"q": "1/2"}),
    ("costs", {"name": "precision", "budget": 26}, PRICED, {"q": "1/3"}),
    ("costs", {"name": "precision", "budget": 6, "over_budget": "skip"}, PRICED, {"q": "0", "r": "0"}),
    ("costs", {"name": "ndcg", "budget": 16}, PRICED, {"q": "(1 / log2(3)) / (2 + 1 / log2(3))"}),
    ("costs", {"name": "recall", "budget": 1, "at_least_one": True}, PRICED, {"q": "0"}),
    ("costs", {"name": "recall", "budget": 1, "at_least_one": True},
     {"qrels": {"q": {"a": 1}}, "run": {"q": {"a": 2.0, "b": 1.0}}, "costs": {"a": 5, "b": 5}}, {"q": "1"}),
    ("costs", {"name": "cost_first_rel"}, PRICED, {"q": "5 + 10", "r": "nan", "all": "15"}),
    ("costs", {"name": "cost_all_rel"}, PRICED, {"q": "5 + 10 + 1 + 20", "r": "nan"}),
    ("exposure", {"name": "awrf", "k": 3}, GROUPED, {"s": "0"}),
    ("exposure", {"name": "awrf", "k": 2}, {**GROUPED, "run": {"q": {"a": 2.0, "b": 1.0}}, "qrels": {"q": {"a": 1}}},
     {"q": "1"}),
    ("exposure", {"name": "awrf", "k": 1}, {**GROUPED, "run": {"q": {"a": 2.0, "b": 1.0}}, "qrels": {"q": {"a": 1}}},
     {"q": "1 - (log(1 / 0.75) + 0.5 * log(0.5 / 0.75) + 0.5 * log(0.5 / 0.25)) / 2"}),
    ("exposure", {"name": "ndcg_awrf", "k": 3}, GROUPED, {"r": "0", "s": "0"}),
    ("expected_exposure", {"name": "ee_d", "depth": 2}, SEQUENCES, {"q": "0.5**2 + 1**2", "r": "(1/2)**2 + (1/2)**2"}),
    ("expected_exposure", {"name": "ee_r", "depth": 2}, SEQUENCES, {"q": "0.5 * 1.5 + 1 * 0.5"}),
    ("expected_exposure", {"name": "ee_l", "depth": 2}, SEQUENCES, {"q": "(0.5 - 1.5)**2 + (1 - 0.5)**2"}),
    ("expected_exposure", {"name": "ee_l"}, SEQUENCES, {}),
)  # fmt: skip
NAMES = {"log2": math.log2, "log": math.log, "sqrt": math.sqrt, "tan": math.tan, "pi": math.pi, "nan": math.nan}
INPUTS = {
    "qrels": "{query: {document: label}}; a label of 1 or more is relevant",
    "run": "{query: {document: score}}; equal scores have the order of their ids, the last by bytes of UTF-8 first",
    "unanswerable": "the queries whose right answer is nothing; without it those without a relevant document",
    "values": "numbers, one of each query",
    "certainty": "how sure a system is of each of the values",
    "forbidden": "{query: documents that must not come}",
    "sets": "{query: sets of documents, each of which is enough if it is complete}",
    "hops": "{query: hops, each of which needs one of its documents}",
    "clusters": "the cluster of each value",
    "verdicts": "{query: {nugget: support, partial_support or not_support}}; a nugget without one is not supported",
    "expected": "{query: {nugget: vital or okay}}, or of reports {query: nuggets}",
    "sentences": "{query: sentences with the verdicts of their citations and the nuggets that they have; needs_none is "
    "a sentence that is right to cite nothing}",
    "costs": "{document: cost}",
    "groups": "{document: {group: share}}",
    "target": "{group: share of the exposure}",
    "rankings": "{query: several rankings, best first}",
}  # fmt: skip
WORDS = {
    "ties": "the mean over queries of the metric's expected, lowest and highest value over all orders of equal "
    "scores; range = highest - lowest; bias = the value by the order of ids - expected; n_queries: with "
    "lowest < highest; largest_group: the most documents of one score, of groups that begin in the first "
    "k",
    "silence": "rows below min_score are not retrieved; surfaced: 1 if anything is; false_surface: the same, of "
    "unanswerable queries; false_abstention: 1 if nothing is, of queries with a relevant document; nan of "
    "others",
    "risk_coverage": "risk@i = 1 - the mean of the i surest values, of equally sure ones each their mean; aurc: "
    "the mean of the risks; e_aurc: less that of the best order; nauc = (AUC - AUC_flat) / (AUC_oracle - AUC_flat) "
    "of the means of what is left without the least sure round(r n), r = 0, 0.1, ..., 0.9, by trapezoids",
    "forbidden": "f_k of the first k are forbidden, of F: hits = f_k; rate = 1 if f_k > 0; leak_recall = max(0, "
    "recall@k - f_k / F); compat_help_harm = compatibility of the labels - that of the forbidden "
    "documents, all with label 1",
    "evidence": "a set is complete at its last member: recall = complete sets / sets, found = 1 if any, mrr = 1 / "
    "rank of the first, chain = largest fraction of a set; with set_ranks = sets the retrieved members of "
    "a set are one rank, that of the last of them, for each set; hop_recall = hops with a document / "
    "hops, all_hops = 1 if all",
    "clusters": "mean ± t(G - 1) sqrt(G / (G - 1) sum of squared sums of deviations by cluster) / n, of G clusters",
    "confidence_sequence": "bounds of the mean after each value: Waudby-Smith and Ramdas 2023, theorem 2, bets of at "
    "most 1/2, with the running intersection",
    "nuggets": "support is 1, partial_support 1/2 (strict: 0): sum of w s / sum of w over expected nuggets, w = 1; "
    "vital: of vital ones; weighted: okay has w = 1/2; 0 where there are none",
    "citations": "precision over citations, recall over sentences with the best of each; sentence_citation_precision: "
    "sentences with citations that all support in part; report: sentences with full support of all "
    "citations, and the expected nuggets that such sentences have",
    "costs": "the metric of the first documents whose costs add up to at most the budget; at the first that does "
    "not fit the list stops, or it is skipped; at_least_one: the first document counts where none fits; "
    "cost_*_rel: the costs down to the first, or to the last of all relevant documents",
    "exposure": "awrf = 1 - Jensen-Shannon divergence (natural logarithm) of the exposure and the target, v_i = 1 / "
    "log2(max(i, 2)), documents without groups left out; ndcg_awrf: times nDCG with binary gains and the "
    "same v_i",
    "expected_exposure": "eps = mean over rankings of the sum of v_i a_i over relevant documents; tau = target times "
    "the sum of v_i to depth; ee_d = eps eps, ee_r = eps tau, ee_l = |eps - tau|^2",
}  # fmt: skip


def cases(numbers):
    """All cases; `numbers` is make_cases.numbers."""
    for number, (kind, options, given, hand) in enumerate(CASES):
        case = {
            "id": f"{kind}/{options['name']}/{number}", "kind": kind, "metric": options["name"], "options": options,
            "input": given,
        }  # fmt: skip
        found = beyond.evaluate(case)
        for key, shown in hand.items():
            value = eval(shown, NAMES)
            if not (abs(found[key] - value) <= 1e-14 or (value != value and found[key] != found[key])):
                raise ValueError(f"{case['id']} {key}: {shown} is {value}, not {found[key]}")
        case["expected"] = {key: numbers(value) for key, value in found.items()}
        case["tolerance"] = "1e-12"
        shown = "; ".join(f"{key} = {text}" for key, text in hand.items())
        case["source"] = f"by hand: {shown}" if hand else "the definition, by plain Python"
        yield case


def schema(made):
    """JSON Schema of a line of the file."""
    number = {"type": "object", "required": ["decimal", "hex"]}
    fields = {
        "id": "unique", "kind": "what the input is of, and how the values are computed: one of $defs",
        "metric": "its name",
        "options": "the metric's name, its cutoff k and its parameters", "input": "what is evaluated",
        "expected": 'the value of each query and under "all" their mean without those that are nan; or values by name',
        "tolerance": "1e-12: within 1e-12 of the larger of 1 and the value", "source": "where the values come from",
    }  # fmt: skip
    shapes = {
        "kind": {"enum": [*WORDS]},
        "options": {"type": "object", "required": ["name"]},
        "input": {"type": "object", "additionalProperties": False, "properties": {
            name: {"description": text} for name, text in INPUTS.items()}},
        "expected": {"type": "object", "additionalProperties": number},
        "tolerance": {"enum": sorted({case["tolerance"] for case in made})},
    }  # fmt: skip
    return {
        "$schema": "https://json-schema.org/draft/2020-12/schema",
        "title": "A case of what goes beyond relevant or not", "type": "object", "required": list(fields),
        "additionalProperties": False,
        "properties": {
            field: {**shapes.get(field, {"type": "string"}), "description": text} for field, text in fields.items()
        },
        "$defs": {kind: {"description": text} for kind, text in WORDS.items()},
    }  # fmt: skip


def files(numbers, laid_out):
    """{name: text} of the files of the folder."""
    made = list(cases(numbers))
    lines = (re.sub(r"\bNaN\b", "null", json.dumps(case, ensure_ascii=False, separators=(",", ":"))) for case in made)
    return {"beyond.jsonl": "".join(f"{line}\n" for line in lines), "schema.json": laid_out(schema(made)) + "\n"}
