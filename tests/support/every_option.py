"""Every metric with known bounds, of rankings without ids and groups, at several cutoffs, with each parameter."""

import fastir

CARDS = [card for card in fastir.metrics() if card.groups != "pairs" and not card.sampled]
CATALOGUE = [card.spelled() for card in CARDS]
CUT = [card.spelled(f"@{k}") for card in CARDS if card.cutoff for k in (1, 3)]
CUTS, GAINS = ("", "@3"), ("exp2", "binary")
SCALES = ["insq", "inst", "bpm", "sdcg", "nerr8", "nerr9", "nerr10", "nerr11", "tbg", "u_measure"]
LEVELS = ["map", "ndcg", "ndcg@3", "recall@2", "rbp", "mrr", "bpref", "err", "nerr@2", "compat", "r_ndcg"]
WITH_OPTIONS = [
    *(f"map(ap_norm={norm}){cut}" for norm in ("min_kR", "hits", "min_nkR") for cut in CUTS),
    *(
        f"{name}(ideal={word}){cut}"
        for name in ("ndcg", "ndcg_burges", "nerr", "ideal_dcg")
        for word in ("retrieved", "num_ret", "full")
        for cut in CUTS
    ),
    *(f"{name}(discount=jk2){cut}" for name in ("ndcg", "ndcg_burges", "dcg") for cut in CUTS),
    *(
        f"{name}(gain={gain}){cut}"
        for name in ("ndcg", "dcg", "ideal_dcg")
        for gain in ("exp2", "binary")
        for cut in CUTS
    ),
    *(f"{name}(gain={gain})" for name in ("ndcg_rel", "r_ndcg", "g") for gain in ("exp2", "binary")),
    *("ndcg(gain={1:1,2:5})", "ndcg(gain={0:1,1:2,2:2.5})@3", "dcg(gain={1:2,2:-1})", "dcg(gain={0:-1,1:1})@2"),
    *("rbp(gains=scaled)", "rbp(gains=raw)@3", "rbp(gains={1:0.5,2:1})", "rbp(p=0.5,rbp_norm=cwl)"),
    *(f"{name}(max_grade={grade}){cut}" for name in ("err", "nerr") for grade in ("query", 7) for cut in ("", "@2")),
    *("precision(short_rankings=clip)@9", "recall(recall_norm=min_kR)@2", "utility(p1=-1,p2=2)"),
    *("set_f(x=3)", "set_f(f_weight=beta,x=2)@3", "f_beta(beta=0.5)@2", "utility(p1=1,p2=-2,p3=-1,p4=0.5,n_docs=30)"),
    *(f"iprec@{x}" for x in (0.1, 0.35, 0.5, 1.0)),
    *("iprec(rounding=v9)@0.4", "iprec_avg(rounding=v9)", "iprec(unranked=nan)@0"),
    *("r_precision_mult@0.4", "r_precision_mult@1.7", "pair_accuracy(no_hit=zero)", "auc(one_class=zero)@4"),
    *("bpref(bpref_norm=R)", "bpref(bpref_norm=min_nan)", "bpref(negatives=nonrel)", "rbp_resid(tail=always)@3"),
    *("alpha_dcg(rank_one=raw)@3", "alpha_ndcg(alpha=1)@4", "nrbp(alpha=0.9,beta=0.3)"),
    *(f"{name}(max_rel=2)" for name in SCALES),
    *(f"{name}(T=2)" for name in ("insq", "inst", "nerr11")),
    *("inst(T=0.3)", "inst(T=0.5)", "inst(T=0.5,max_rel=3)"),
    *("bpm(T=2)@4", "bpm(T=1.5)@3", "nerr8(min_rel=1,max_rel=2)@2"),
    *("compat(p=0.5)", "compat(depth=3)", "compat(normalize=false)"),
    *(f"{name}-l2" for name in LEVELS),
    "ndcg(judged_only=true)@3",
]


def possible(names):
    """The metrics that qrels without groups, and rankings without ids, have."""
    found = []
    for name in names:
        try:
            fastir.judged_rankings({"q": {"a": 1}}, {"q": {"a": 1.0}}).evaluate(name)
        except fastir.UnknownMetricError:
            continue
        found.append(name)
    return found


METRICS = possible(dict.fromkeys([*CATALOGUE, *CUT, *WITH_OPTIONS]))
