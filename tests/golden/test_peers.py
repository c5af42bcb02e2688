"""The textbook and some peers on random collections: who can be imported is run, and the largest differences printed.

`FASTIR_SEEDS=250 pytest -rP tests/test_peers.py` compares 10 000 queries and shows them. No collection has ties: whose
rule is whose is tested elsewhere.
"""

import os
import random
import re
from collections import defaultdict

import gen
import oracle
import pytest
from common import UNEVEN
from oracle_requests import REQUESTS

import fastir

pytestmark = UNEVEN

SEEDS = range(int(os.environ.get("FASTIR_SEEDS", "2")))


def ranking(rng, pool, least):
    """Scores above 0: ir_measures' Compat takes 0 for the score of what was not retrieved."""
    docs = rng.sample(pool, rng.randint(least, 40))
    return {doc: float(100 - rank) for rank, doc in enumerate(docs)}


def collection(seed):
    """40 queries with labels 0 to 3."""
    rng = random.Random(seed)
    pool = [f"d{number:02}" for number in range(80)]
    judged = {
        f"q{i}": {d: rng.choice((0, 0, 1, 1, 2, 3)) for d in rng.sample(pool, rng.randint(2, 30))} for i in range(40)
    }
    return judged, {query: ranking(rng, pool, 5) for query in judged}


def by_subtopic(seed):
    """40 queries with up to five subtopics; ndeval reads 20 ranks."""
    rng = random.Random(seed)
    pool = [f"d{number:02}" for number in range(60)]
    judged = {
        str(i): {
            str(s): {d: rng.choice((0, 1, 1, 2)) for d in rng.sample(pool, rng.randint(1, 12))}
            for s in range(1, rng.randint(2, 6))
        }
        for i in range(40)
    }
    return judged, {query: ranking(rng, pool, 20) for query in judged}


class Differences:
    """The largest difference per metric, and how many values were compared."""

    def __init__(self):
        self.largest = defaultdict(float)
        self.compared = defaultdict(int)

    def note(self, metric, value, theirs):
        if theirs == theirs:  # NaN is where a peer has no value
            self.largest[metric] = max(self.largest[metric], abs(value - theirs))
            self.compared[metric] += 1

    def show(self, names, most=1e-14):
        for metric in self.largest:
            print(f"{metric:45} {self.compared[metric]:8} values, largest difference {self.largest[metric]:.2g}")
        assert set(self.largest) == set(names)
        assert max(self.largest.values()) < most


def test_textbook():
    """Every metric with its parameters, each on some of the collections; ties and all oddities of data belong to it."""
    differences = Differences()
    for seed in range(1000, 1000 + 5 * len(SEEDS)):
        qrels, run = gen.collection(seed)
        requests = REQUESTS[seed % 8 :: 8]
        ours = fastir.evaluate(qrels, run, map(str, requests), queries="qrels").to_dict()
        for query, values in oracle.evaluate(qrels, run, requests).items():
            for request, value in zip(requests, values, strict=True):
                value_here = ours[query][str(request)]
                assert (value == value) == (value_here == value_here)
                differences.note(request.name, value_here / max(1.0, abs(value)), value / max(1.0, abs(value)))
    differences.show({request.name for request in REQUESTS}, 1e-12)


IR_MEASURES = {
    "INST(max_rel=3)": "inst(max_rel=3)", "INST(max_rel=3,T=2.0)": "inst(max_rel=3, T=2)",
    "INSQ(max_rel=3,T=1.5)": "insq(max_rel=3, T=1.5)", "BPM(max_rel=3,T=2.0)@10": "bpm(max_rel=3, T=2)@10",
    "SDCG(max_rel=3)@10": "sdcg(max_rel=3)@10", "NERR8(max_rel=3)@10": "nerr8(max_rel=3)@10",
    "NERR9(max_rel=3)@10": "nerr9(max_rel=3)@10", "NERR10(max_rel=3)": "nerr10(max_rel=3)",
    "NERR11(max_rel=3)": "nerr11(max_rel=3)", "RBP(rel=1,p=0.99)": "rbp(p=0.99, rbp_norm=cwl)",
    "RBP(rel=2)": "rbp(rbp_norm=cwl)-l2", "Judged@10": "judged@10", "Compat": "compat",
    "Compat(p=0.8)": "compat(p=0.8)", "Compat(normalize=False)": "compat(normalize=false)",
    "Accuracy@20": "pair_accuracy@20", "SetF(beta=2.0)": "SetF(beta=2.0)", "SetRelP": "SetRelP",
    "IPrec@0.3": "iprec(rounding=v9)@0.3", "nDCG(gains={1:3,2:9,3:20})": "ndcg(gains={1:3,2:9,3:20})",
}  # fmt: skip


def test_ir_measures():
    """With cwl_eval, compatibility and what it computes itself."""
    pytest.importorskip("cwl")
    ir_measures = pytest.importorskip("ir_measures")
    measures = {ir_measures.parse_measure(name): metric for name, metric in IR_MEASURES.items()}
    differences = Differences()
    for seed in SEEDS:
        qrels, run = collection(seed)
        results = fastir.evaluate(qrels, run, measures.values())
        for theirs in ir_measures.iter_calc(list(measures), qrels, run):
            metric = measures[theirs.measure]
            differences.note(metric, results.per_query(metric)[theirs.query_id], theirs.value)
    differences.show(measures.values())


NDEVAL = {
    **{f"ERR-IA@{k}": f"err_ia(%s)@{k}" for k in (2, 5, 20)},
    **{f"nERR-IA@{k}": f"nerr_ia(%s)@{k}" for k in (1, 5, 20)},
    **{f"alpha-DCG@{k}": f"alpha_dcg(%s)@{k}" for k in (2, 5, 20)},
    **{f"alpha-nDCG@{k}": f"alpha_ndcg(%s)@{k}" for k in (1, 5, 20)}, "NRBP": "nrbp(%s, %s)",
    "nNRBP": "nnrbp(%s, %s)", "MAP-IA": "map_ia", "P-IA@5": "p_ia@5", "strec@5": "st_recall@5",
}  # fmt: skip


@pytest.mark.parametrize(("alpha", "beta"), [(0.5, 0.5), (0.2, 0.8)])
def test_ndeval(alpha, beta):
    pyndeval = pytest.importorskip("pyndeval")
    params = f"alpha={alpha}", f"beta={beta}"
    names = {theirs: metric % params[: metric.count("%s")] for theirs, metric in NDEVAL.items()}
    differences = Differences()
    for seed in SEEDS:
        qrels, run = by_subtopic(seed)
        judged = [
            pyndeval.SubtopicQrel(query, group, doc, label)
            for query, groups in qrels.items()
            for group, docs in groups.items()
            for doc, label in docs.items()
        ]
        ranked = [pyndeval.ScoredDoc(query, doc, score) for query, docs in run.items() for doc, score in docs.items()]
        theirs = pyndeval.RelevanceEvaluator(judged, measures=list(names), alpha=alpha, beta=beta).evaluate(ranked)
        results = fastir.evaluate(qrels, run, names.values())
        for name, metric in names.items():
            for query, value in results.per_query(metric).items():
                differences.note(re.sub("@.*", "", metric), value, theirs[query][name])
    differences.show(re.sub("@.*", "", metric) for metric in names.values())
