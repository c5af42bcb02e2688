"""Names of metrics at other tools, which more than one test asks for."""

# ir_measures' measures, by the module that computes them.
IR_MEASURES = {
    "pytrec_eval": """
        P@5 P(rel=2)@10 P(judged_only=True)@5 RR RR(rel=2) RR(judged_only=True) Rprec Rprec(rel=2,judged_only=True) AP
        AP(rel=2) AP@5 AP(judged_only=True)@5 nDCG nDCG@5 nDCG(judged_only=True)@5 nDCG(gains={0:1,1:3,2:7})@5 R@5
        R(rel=2)@5 R(judged_only=True)@5 Bpref Bpref(rel=2) NumRet NumRet(rel=2) NumRelRet NumQ NumRel SetAP
        SetAP(rel=2) SetF SetF(beta=0.5) SetP SetRelP SetP(rel=2,relative=True) SetR SetR(rel=2) Success@1
        Success(rel=2)@5 IPrec@0.0 IPrec@0.1 IPrec@0.35 IPrec(judged_only=True)@0.7 IPrec@1.0 infAP infAP(rel=2)""",
    "cwl": """
        RBP(rel=1) RBP(rel=2,p=0.99) BPM(max_rel=3)@5 BPM(max_rel=3,T=2.0,min_rel=1)@10 SDCG(max_rel=3)@5
        SDCG(max_rel=2)@100 NERR8(max_rel=3)@5 NERR9(max_rel=3)@5 NERR10(max_rel=3) NERR10(max_rel=3,p=0.7)
        NERR11(max_rel=3,T=2.0) INST(max_rel=3) INST(max_rel=3,T=3.0) INSQ(max_rel=3) INSQ(max_rel=3,min_rel=1)""",
    "ir_measures": """
        RR@3 RR(rel=2)@10 Judged Judged@5 Judged@100 Compat Compat(p=0.8) Compat(normalize=False)""",
}
ACCURACY = "Accuracy Accuracy@30 Accuracy(rel=2)"  # of ir_measures itself, too; it has no value for some queries
# And those that read subtopics.
DIVERSE = """
    ERR_IA@1 ERR_IA@5 ERR_IA(rel=2)@10 nERR_IA@1 nERR_IA(rel=2)@20 alpha_DCG@1 alpha_DCG(alpha=0.2)@10 alpha_nDCG@1
    alpha_nDCG@20 alpha_nDCG(alpha=0.9,rel=2)@10 NRBP NRBP(alpha=0.3,beta=0.7) nNRBP nNRBP(rel=2) AP_IA AP_IA(rel=2)
    P_IA@5 P_IA(rel=2)@20 StRecall@5 StRecall(rel=2)@10"""
# MTEB's metrics that it takes from pytrec_eval, by fastir's name.
MTEB = {"NDCG": "ndcg", "MAP": "map", "Recall": "recall", "P": "precision", "HitRate": "hit_rate"}
