"""Worked examples: values that other programs give for rankings short enough to follow by hand, and those of the texts
on metrics from which the project started, their slips of arithmetic noted.

A ranking lists labels from the top; None stands for a document that is not in the qrels. Expected numbers are floats
with all their digits, or strings with the digits that their source prints.

Also of: graded, user_models.
"""

import math

import pytest

import fastir

_ = None


def evaluate(metrics, ranked, unretrieved=(), **options):
    """The values for one ranking, as labels in rank order and as dicts, which must agree to the bit."""
    judged = [label for label in ranked if label is not None] + list(unretrieved)
    codes = [-1 if label is None else min(label, -2) if label < 0 else label for label in ranked]
    by_rank = fastir.evaluate_ranked(
        codes, [0, len(codes)], metrics, ideal_labels=judged, ideal_offsets=[0, len(judged)], **options
    )
    docs = {f"r{rank}": label for rank, label in enumerate(ranked)}
    qrels = {doc: label for doc, label in docs.items() if label is not None}
    qrels |= {f"u{number}": label for number, label in enumerate(unretrieved)}
    run = {doc: -float(rank) for rank, doc in enumerate(docs)}
    by_id = fastir.evaluate({"q": qrels}, {"q": run}, metrics, **options)
    assert by_rank.values.tobytes() == by_id.values.tobytes()
    return dict(by_id)


def agrees(value, expected):
    if isinstance(expected, float):
        return math.isclose(value, expected, rel_tol=1e-12, abs_tol=0)
    digits = len(expected.partition(".")[2])
    return abs(value - float(expected)) <= 0.5 * 10**-digits + 1e-12


SEED_003 = ([3, 2, 3, 0, 1, 2], [3, 2])
NEGATIVES = ([-1, 2, -2, _, 0, 1], [])

# name: ((ranking, judged but not retrieved), options, values)
EXAMPLES = {
    "trec_eval on seed 003": (SEED_003, {}, {
        "dcg": 6.861126688593502, "ndcg": 0.7561640298168337, "ndcg@5": 0.76592286264237,
        "ndcg@6": 0.785002371969948, "map": 0.6619047619047619, "map@5": 0.5428571428571428,
        "Rprec": 0.7142857142857143, "bpref": 0.42857142857142855, "f1": 0.7692307692307692,
        "rbp(p=0.9, gains=scaled)": 0.30223599999999995, "ideal_dcg": 9.073595698879618,
        "ideal_dcg@6": 8.740262365546284, "ndcg_rel": 0.8336583411684548, "Rndcg": 0.8141574771549424,
        "G": 0.45720044934755705, "binG": 0.6088370724489879, "infAP": 0.6619032857346187,
        "11pt_avg": 0.6818181818181818, "iprec@0.70": 0.8333333333333334,
        "Rprec_mult@1.20": 0.5555555555555556, "set_F": 0.7692307692307692, "set_map": 0.5952380952380952,
        "yaap": 0.5147781980818138,
    }),
    "ranx on seed 003": (SEED_003, {}, {
        "dcg_burges": 13.848263629272981, "ndcg_burges": 0.7377457678497291,
        "ndcg_burges@6": 0.7510833867922446, "ndcg@6-l2": 0.7407413657146327,
        "rbp(p=0.9, gains=raw)": 0.9067079999999998, "f1@5": 0.6666666666666666, "map-l2": 0.611111111111111,
    }),
    "gdeval on seed 003": (SEED_003, {}, {
        "ndcg_burges@6": 0.7510833867922444,
        "err@6": 0.56762990951538084,
    }),
    "ir_measures on seed 003": (SEED_003, {}, {
        "rbp": 0.6354559999999998, "rbp(p=0.8)": 0.6354559999999998, "rbp(p=0.9)": 0.39565899999999987,
        "rbp.90": 0.39565899999999987, "SetF(beta=2.0)": 0.75, "f_beta(beta=1)": 0.7692307692307692,
        "pair_accuracy": 0.6, "compat": 0.7043166434126553, "INST(max_rel=3)": 0.8983841980056043,
        "INSQ(max_rel=3)": 0.6358381148132042, "SDCG(max_rel=3)@6": 0.6920644984298385,
        "BPM(max_rel=3, T=2)@5": 0.8888888888888888,
    }),
    "gain, discount and ideal of nDCG on seed 003": (SEED_003, {}, {
        "cg@6": 11.0, "dcg(discount=jk2)@6": 8.097171433256849, "ndcg(ideal=retrieved)@6": 0.9608081943360617,
        "ndcg(gain=exp2, ideal=retrieved)@6": 0.9488107485678985, "ndcg(discount=jk2)@6": 0.7691193337826427,
        "ndcg(discount=jk2, ideal=retrieved)@6": 0.9315085232327253,
    }),
    "top grade of ERR on seed 003": (SEED_003, {}, {
        "err": 0.5676299095153808, "err(max_grade=3)": 0.9220021565755209, "err(max_grade=query)": 0.9220021565755209,
        "nerr(max_grade=3)@6": 0.9865552975719534, "nerr(max_grade=query, ideal=retrieved)@6": 0.988520978525232,
        "nerr@6": 0.9094787173280626, "nerr(ideal=retrieved)@6": 0.9540257207328647,
    }),
    "seed 002, set A": (([2, 3, 3, 1, 2], []), {}, {
        "dcg": 6.5971714332568485, "ndcg": 0.9238448231907443, "dcg_burges": 12.507743254777221,
        "ndcg_burges": 0.8569652888015743, "err@5": 0.44493961334228516,
    }),
    "seed 002, set B": (([3, 3, 2, 2, 1], []), {}, {"dcg": 7.1409951840957, "ndcg": 1.0}),
    "seed 004, three documents": (([5, 2, 4], []), {}, {"dcg": 8.261859507142916, "ndcg": 0.9692787260227564}),
    "seed 004, its own order": (([5, 2, 4, 0, 1], []), {}, {
        "dcg": 8.648712314377457, "ndcg": 0.9658622119704693, "cg": 12.0,
    }),
    "seed 004, another order": (([2, 0, 5, 1, 4], []), {}, {
        "dcg": 6.478087787011559, "ndcg": 0.7234533849507802, "cg": 12.0,
    }),
    "relevant first": (([1, 1, 1, 0, 0], []), {}, {"P@5": 0.6, "map": 1.0, "ndcg": 1.0, "bpref": 1.0}),
    "relevant last": (([0, 0, 1, 1, 1], []), {}, {
        "P@5": 0.6, "map": 0.4777777777777777, "ndcg": 0.6182885020492784, "bpref": 0.0,
    }),
    "negative labels": (NEGATIVES, {}, {
        "map": 0.41666666666666663, "bpref": 0.5, "ndcg": 0.6150170646154386, "ndcg@5": 0.4796249331362629,
        "rbp(p=0.9, gains=scaled)": 0.1195245, "infAP": 0.625, "ndcg_rel": 0.5473209988758507,
        "Rndcg": 0.36488066591723384, "G": 0.5495707714591522, "binG": 0.5088912804029996,
        "11pt_avg": 0.45454545454545453, "yaap": -0.16705408466316635, "rbp_resid": 0.7853410000000001,
        "unj@5": 0.6, "utility": -2.0, "judged": 5 / 6,
    }),
    "negative labels, judged only": (NEGATIVES, {"judged_only": True}, {
        "map": 0.8333333333333333, "ndcg": 0.9502344167898356, "num_ret": 3.0, "infAP": 0.8333333333333333,
        "Rndcg": 0.8800937667159343,
    }),
    "negative labels, level 2": (NEGATIVES, {"rel_level": 2}, {
        "map": 0.5, "bpref": 1.0, "f1": 0.2857142857142857, "ndcg": 0.6150170646154386, "infAP": 0.75,
        "utility(p1=1, p2=-1, p3=-2, p4=0.5, n_docs=100)": 43.0,
    }),
    "negative labels, the first three": (NEGATIVES, {"max_depth": 3}, {
        "infAP": 0.375, "G": 0.420619835714305, "rbp_resid": 0.91,
    }),
    "depth first, judged only second": (NEGATIVES, {"max_depth": 3, "judged_only": True}, {
        "num_ret": 1.0,
        "num_rel": 2.0,
    }),
    "a longer list": (([2, 0, 1, _, 3, 0, 1, 0, 0, 2], [1]), {}, {
        "map": 0.5563492063492063, "bpref": 0.5, "ndcg": 0.7104270319890343, "ndcg@5": 0.602126052224046,
        "rbp(p=0.9, gains=scaled)": 0.20281939926666664, "infAP": 0.5563490476199788,
        "ndcg_rel": 0.6308929844051683, "Rndcg": 0.605252392023907, "G": 0.4040009170048222,
        "binG": 0.4863022497921455, "11pt_avg": 0.6432900432900432, "Rprec_mult@1.80": 0.45454545454545453,
        "yaap": 0.16945192775431414, "rbp_resid": 0.4215784401000001,
    }),
    "bpref, a relevant one not retrieved": (([0, 0, 1, 0, 1], [1, 0]), {}, {"bpref": 0.11111111111111112}),
    "bpref, alternating": (([0, 1, 0, 1], []), {}, {"bpref": 0.25}),
    "bpref, unjudged skipped": (([0, _, 1, 0, 0, 0, 1], [1]), {}, {"bpref": 0.22222222222222224}),
    "bpref, none judged non-relevant": (([1, _, 1], []), {}, {"bpref": 1.0}),
    "bpref, relevant last": (([0, 0, 0, 1], []), {}, {"bpref": 0.0}),
    "bpref divides by the smaller of R and N": (([0, 1, 1, 1], []), {}, {"bpref": 0.0}),
    "bpref, negatives skipped": (([-1, 1, 1], [0, 0]), {}, {"bpref": 1.0}),
    "unjudged and pooled above": (([_, 1, -2, 0, 1], [1]), {}, {"map": 0.3, "infAP": 0.3333333333333333}),
    "infAP, pooled above": (([-2, -2, 1], []), {}, {"infAP": 0.6666666666666666}),
    "infAP, all judged": (([0, 1, 1], []), {}, {"infAP": 0.5833358332833343}),
    "gm_bpref of 0": (([0, 0, 0, 1], []), {}, {"gm_bpref": 1e-5}),
    "recall points": (([1, 0, 0, 1, 0, 0, 0, 1, 0, 1], []), {}, {
        "iprec@0.30": 1.0, "iprec@0.4": 0.5, "iprec_at_recall@0.70": 0.4, "11pt_avg": 0.6454545454545454,
        "11pt_avg(rounding=v9)": 0.5909090909090909, "iprec(rounding=v9)@0.3": 0.5, "iprec(recall=0.6)": 0.5,
        "iprec(rounding=v9, recall=0.6)": 0.4, "Rprec_mult@0.60": 0.3333333333333333,
        "Rprec_mult@1.60": 0.2857142857142857,
    }),
    "rounding of recall points": (([0, 1, 0, 0, 1], []), {}, {
        "iprec@0.6": 0.5, "iprec(rounding=v9)@0.6": 0.4, "11pt_avg": "0.4727272727",
        "11pt_avg(rounding=v9)": "0.4545454545",
    }),
    "multiples of R": (([0, 1, 1, 0, 0, 1, 0, 0], [1, 1, 1, 1]), {}, {
        "Rprec_mult@0.20": 0.5, "Rprec_mult@0.60": 0.4, "Rprec_mult@1.20": 0.3333333333333333,
        "Rprec_mult@2.00": 0.21428571428571427,
    }),
    "Rndcg leaves out the last rank": (([0, 2, 1, 0], []), {}, {
        "Rndcg": 0.38309891654349765, "ndcg_rel": 0.5746483748152464, "G": 0.6309297535714575,
    }),
    "Rndcg, relevant last": (([0, 0, 2, 1], []), {}, {"Rndcg": 0.18126374730343467, "ndcg": 0.543791241910304}),
    "gains of labels": (([1, 2, 0, 1, 2, 1], []), {}, {
        "dcg(gain={1:1, 2:3})": 4.840231427599412, "ideal_dcg(gains={2:3})": 6.210318626022307,
        "ndcg(gains={1:1,2:3})": 0.7793853615365252, "G(gains={1:1,2:3})": 0.5504883969288026,
        "Rndcg(gains={1:1,2:3})": 0.6566316268532353, "ndcg_rel(gains={1:1,2:3})": 0.5993368662701567,
        "rbp(p=0.8, gains={1:1,2:3})": 0.36456533333333335, "ndcg(gains={0:1})": 0.8757703861161888,
        "ndcg(gains={1:-1, 2:3})": 0.25884293595176666,
        "ndcg(gains={1:.5, 2:1})": 0.8347072007334620,  # where trec_eval sorts the ideal wrongly
    }),
    "a gain for documents outside the qrels": (([1, _, 0, 1, 2, 1], []), {}, {
        "ndcg(gains={-1:1})": 0.8960898072274648,
    }),
    "sets": (([1, _, 0, 1, 0], [1, 1]), {}, {
        "precision": 0.4, "recall": 0.5, "f1": 0.4444444444444445, "set_relative_P": 0.5, "set_map": 0.2,
        "set_F": 0.4444444444444445, "set_F(x=2)": 0.46153846153846156, "relative_P@3": 0.3333333333333333,
        "R_cap@3": 0.3333333333333333, "yaap": -0.3364722366212129,
        "utility(p1=1, p2=-0.5, p3=-2, p4=0.01, n_docs=1000)": 6.43,
    }),
    "F, two parameters": (([1, 0], [1, 1, 1]), {}, {"set_f(x=2)": 0.3, "f_beta(beta=2)": 0.2777777777777778}),
    "rbp of one in the middle": (([_, 1, 0], []), {}, {
        "rbp(p=0.9, gains=scaled)": 0.08999999999999998, "rbp_resid(p=0.5)": 0.625, "unj@5": 0.2,
    }),
    "nothing unjudged": (([0, 1, 0], []), {}, {"rbp_resid": 0.0, "rbp_resid(tail=always, p=0.5)": 0.125}),
    "judged and unjudged": (([1, -1, _], []), {}, {"judged@10": 2 / 3, "unjudged@10": 0.2}),
    "pairs": (([1, 0, 1, 0], []), {}, {"pair_accuracy": 0.75}),
    "pairs, a worse order": (([0, 1, 0, 1, 1], []), {}, {"pair_accuracy": 0.16666666666666663}),
    "pairs, all relevant": (([1, 1], []), {}, {"pair_accuracy": 1.0}),
    "map over the hits": (([1, 0, 1], [1, 1]), {}, {"map(ap_norm=hits)": 0.8333333333333333}),
    "compatibility": (([2, _, 3, 0, _, 1], [1]), {}, {
        "compat": 0.4547663035513383,
        "compat(normalize=false)": 0.4186446274992723,
        "compat(p=0.5)": 0.26713062098501067,
        "compat(depth=1000)": 0.5778139588947054,
        "compat(depth=1000, normalize=false)": 0.24160644231554204,
    }),
    "rbp, three gains": (([2, 0, 1], []), {}, {
        "rbp": 0.328, "rbp(gains=scaled)": 0.264, "rbp(gains=raw)": 0.528,
    }),
    "C/W/L": (([1, 0, 2, _, 1], [1]), {}, {
        "rbp": 0.4099199999999999, "rbp(p=0.99)": "0.0294069601",
        "rbp(p=0.99, rbp_norm=cwl)": 0.02940822968995987, "INST(max_rel=2)": 0.37595087156863255,
        "INST(max_rel=2, T=2)": 0.2829745394447209, "INSQ(max_rel=2)": 0.31274695782262485,
        "INSQ(max_rel=2, T=2)": 0.23632966183813264, "BPM(max_rel=2)@3": 0.5, "BPM(max_rel=2, T=2)@4": 0.375,
        "SDCG(max_rel=2)@3": 0.46927872602275655, "SDCG(max_rel=2)@10": 0.2626633251188907,
        "NERR8(max_rel=2)@3": 0.5, "NERR9(max_rel=2)@3": 0.4705882352941176,
        "NERR10(max_rel=2)": 0.4878706199460916, "NERR10(max_rel=2, p=0.5)": 0.4545454545454546,
        "NERR11(max_rel=2)": 0.46391752577319584, "NERR11(max_rel=2, T=2)": 0.46829971181556196,
        "map(ap_norm=hits)": 0.7555555555555555,
    }),
    "rbp of a large p, cwl_eval": (([2, 0, 1], []), {}, {"rbp(p=0.999, rbp_norm=cwl)": 0.003159871173281131}),
    "err, gdeval with negatives": (([0, 4, _, 1, -2], []), {}, {
        "ndcg_burges@5": 0.63301563103656489,
        "err@5": 0.4697265625,
    }),
    "err, two scales": (([1, 0, 2, _, 1], []), {}, {"err(max_grade=2)": 0.446875, "err": 0.130615234375}),
    "map at k, two denominators": (([1, 0, 1, 0, 0, 1], []), {}, {
        "map@2": 1 / 3,
        "map(ap_norm=R)@2": 1 / 3,
        "map(ap_norm=min_kR)@2": 0.5,
    }),
    "map counts what was not retrieved": (([1, 0, 1], [1, 1]), {}, {"map": 0.4166666666666667, "P@5": 0.4}),
    "level of nDCG: trec_eval": (([1, 2, 3], []), {"rel_level": 2}, {"ndcg": "0.7899980042"}),
    "level of nDCG: ranx": (([1, 2, 3], []), {}, {"ndcg": "0.7899980042", "ndcg-l2": "0.6480409555"}),
}  # fmt: skip


@pytest.mark.parametrize("name", EXAMPLES)
def test_example(name):
    ranking, options, expected = EXAMPLES[name]
    values = evaluate(list(expected), *ranking, **options)
    assert not {metric: (values[metric], want) for metric, want in expected.items() if not agrees(values[metric], want)}


def test_mean_reciprocal_rank():
    """First relevant at rank 3, 1, 5 and never: the mean is (1/3 + 1 + 1/5 + 0) / 4."""
    labels = [0, 0, 1, 1, 0, 0, 0, 0, 1, 0, 0]
    results = fastir.evaluate_ranked(labels, [0, 3, 4, 9, 11], "recip_rank")
    assert list(results.per_query("recip_rank").values()) == [1 / 3, 1.0, 1 / 5, 0.0]
    assert agrees(results["recip_rank"], 0.3833333333333333)


def test_aggregation_over_queries():
    """A query missing from the run, one without relevant documents, one with nothing judged."""
    qrels = {"q1": {"a": 1, "b": 0, "c": 2}, "q2": {"a": 1, "b": 0}, "q3": {"a": 0, "b": 0}, "q10": {"a": 3}}
    run = {"q1": {"a": 3, "b": 2, "c": 1}, "q3": {"b": 1}, "q10": {"z": 2, "y": 1}}
    metrics = ["map", "ndcg", "num_rel", "num_q", "num_ret", "num_rel_ret"]
    with pytest.warns(fastir.FastirWarning, match="judged"):
        every = fastir.evaluate(qrels, run, metrics, queries="qrels")
    assert agrees(every["map"], 0.20833333333333331)
    assert agrees(every["ndcg"], 0.19004688335796713)
    assert [every[name] for name in metrics[2:]] == [4, 4, 6, 2]
    with pytest.warns(fastir.FastirWarning, match="judged"):
        both = fastir.evaluate(qrels, run, metrics, queries="intersection")
    assert agrees(both["map"], 0.27777777777777773)
    assert agrees(both["ndcg"], 0.2533958444772895)
    assert [both[name] for name in metrics[2:]] == [3, 3, 6, 2]


def test_geometric_means():
    """Over all queries and over those that the run has; a value of 0 counts as 0.00001."""
    qrels = {"q1": {"a": 1, "b": 0, "c": 2}, "q2": {"a": 1, "b": 0}, "q3": {"a": 0, "b": 0}, "q10": {"a": 3}}
    run = {"q1": {"a": 3, "b": 2, "c": 1}, "q3": {"b": 1}, "q10": {"z": 2, "y": 1}}
    names = ["gm_map", "gm_bpref", "yaap", "rbp_resid", "unj@5", "utility", "num_rel-l2"]
    with pytest.warns(fastir.FastirWarning, match="judged"):
        every = fastir.evaluate(qrels, run, names, queries="qrels")
    expected = (0.00016990442448471213, 0.00014953487812212202, -0.17328679513998635, 0.25, 0.1, -0.5, 2.0)
    assert all(agrees(every[name], value) for name, value in zip(names, expected, strict=True))
    with pytest.warns(fastir.FastirWarning, match="judged"):
        both = fastir.evaluate(qrels, run, "gm_map", queries="intersection")
    assert agrees(both["gm_map"], 0.00043679023236814935)


def test_pair_accuracy_leaves_out_queries_without_pairs():
    results = fastir.evaluate_ranked([0, 0, 1, 0, 0, 1], [0, 2, 4, 6], "pair_accuracy")
    assert math.isnan(results.values[0, 0]) and results["pair_accuracy"] == 0.5


def test_skipping_queries_without_relevant_documents():
    """The query without relevant documents keeps its row, as NaN, and leaves the mean."""
    qrels, run = {"q1": {"a": 1, "b": 0}, "q2": {"a": 0}}, {"q1": {"b": 2.0, "a": 1.0}, "q2": {"a": 1.0}}
    zero = fastir.evaluate(qrels, run, ["mrr", "num_q"])
    skip = fastir.evaluate(qrels, run, ["mrr", "num_q"], empty="skip")
    assert (zero["mrr"], zero.per_query("mrr")["q2"]) == (0.25, 0.0)
    assert (skip["mrr"], skip["num_q"]) == (0.5, 2)
    assert math.isnan(skip.per_query("mrr")["q2"])


@pytest.mark.parametrize(("ranking", "metric", "printed"), [
    (([3, 3, 2, 2, 1], []), "dcg", 7.14),  # 002, set B
    (SEED_003, "ndcg@6", 0.785),  # 003: the ideal needs the two relevant documents outside the list
    (SEED_003, "dcg@6", 6.861),
    (([3, 3, 3, 2, 2, 2], []), "dcg@6", 8.740),  # 003: its ideal list
    (([5, 2, 4], []), "dcg", 8.26),  # 004
    (([5, 4, 2], []), "dcg", 8.52),
    (([5, 2, 4], []), "ndcg", 0.9694),  # 004 divides rounded numbers: exactly 0.96928
    (([5, 2, 4, 0, 1], []), "dcg", 8.65),
    (([5, 4, 2, 1, 0], []), "dcg", 8.95),
    (([5, 2, 4, 0, 1], []), "ndcg", 0.9664),  # 004 again: exactly 0.96586
])  # fmt: skip
def test_seed_prints(ranking, metric, printed):
    assert evaluate([metric], *ranking)[metric] == pytest.approx(printed, abs=5e-3)


def test_slip_of_seed_002():
    """The text says 6.64 and 0.93 for set A; the sum is 6.5972, and the ratio to 7.1410 is 0.9238."""
    values = evaluate(["dcg", "ndcg"], [2, 3, 3, 1, 2])
    assert f"{values['dcg']:.4f}" == "6.5972"
    assert f"{values['ndcg']:.4f}" == "0.9238"
