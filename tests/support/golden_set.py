"""The golden set of our own making in tests/golden: where it is, how it was asked for, and how its files are read."""

from common import ROOT

GOLDEN = ROOT / "tests" / "golden"
COLLECTION, EXPECTED = GOLDEN / "collection", GOLDEN / "expected"

NOTHING_RELEVANT = "304"  # a query that has judgments, none of them relevant


def words(text):
    return text.split()


# The file of an answer: the options that trec_eval was given, and the run.
TREC_EVAL = {
    "distinct.trec_eval.json": ("-m all_trec", "distinct.run"),
    "tied.trec_eval.json": ("-q -m all_trec", "tied.run"),
    "gaps.trec_eval.json": ("-q -c -m all_trec", "gaps.run"),
    "tied.level_2.trec_eval.json": ("-l 2 -m all_trec", "tied.run"),
    "tied.judged.trec_eval.json": ("-J -m all_trec", "tied.run"),
    "tied.first_7.trec_eval.json": ("-M 7 -m all_trec", "tied.run"),
    "gaps.first_7.trec_eval.json": ("-c -M 7 -m all_trec", "gaps.run"),
}

RANX = words("""
    hits hits@5 hit_rate@1 hit_rate@5 precision precision@3 precision@10 precision@100 recall recall@5 recall@20
    f1 f1@5 r-precision mrr mrr@1 mrr@3 map map@5 map@10 map-l2 ndcg ndcg@3 ndcg@10 ndcg_burges ndcg_burges@5
    ndcg@10-l2 dcg dcg@10 dcg_burges dcg_burges@10 bpref bpref-l2 rbp.5 rbp.95
""")

IR_MEASURES = words("""
    P@5 P(rel=2)@10 P(judged_only=True)@5 RR RR(rel=2) RR@3 Rprec AP AP(rel=2) AP@5 AP(judged_only=True) nDCG
    nDCG@5 nDCG(gains={1:3,2:7})@5 R@5 R(rel=2)@5 Bpref Bpref(rel=2) NumRet NumRelRet SetAP SetF SetF(beta=0.5)
    SetP SetRelP SetR Success@1 Success(rel=2)@5 IPrec@0.0 IPrec@0.35 IPrec@1.0 infAP Judged@5 Judged@100
    RBP(rel=1) RBP(rel=2,p=0.99) BPM(max_rel=3)@5 SDCG(max_rel=3)@5 NERR8(max_rel=3)@5 NERR9(max_rel=3)@5
    NERR10(max_rel=3) NERR11(max_rel=3) INST(max_rel=3) INSQ(max_rel=3) Compat Compat(p=0.8)
""")


def read_qrels():
    """The judgments as a dict, read without fastir."""
    qrels = {}
    for line in (COLLECTION / "qrels.txt").read_text("utf-8").splitlines():
        query, _, doc, label = line.split()
        qrels.setdefault(query, {})[doc] = int(label)
    return qrels


def read_run(name):
    """A run as a dict, read without fastir."""
    run = {}
    for line in (COLLECTION / name).read_text("utf-8").splitlines():
        query, _, doc, _, score, _ = line.split()
        run.setdefault(query, {})[doc] = float(score)
    return run


def for_ranx():
    """Judgments and the run without ties, in none of which ranx loses its way.

    It gives equal scores no certain order, refuses a run that lacks a query, and where a query has no relevant document
    its bpref divides by zero and leaves 0 for the queries that follow.
    """
    qrels, run = read_qrels(), read_run("distinct.run")
    del qrels[NOTHING_RELEVANT], run[NOTHING_RELEVANT]
    return qrels, run
