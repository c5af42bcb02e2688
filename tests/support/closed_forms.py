"""The metrics whose expected value over the orders of equal scores is known: written down, not asked of fastir.

A metric that lost its closed form would otherwise leave every test that asks which metrics to try.
"""

NAMES = """
    false_abstention false_surface surfaced
    amr amri arp auc bin_g bpref cg dcg dcg_burges err f1 f_beta fallout first_rel hit_rate hit_rate_share hits
    hole ideal_dcg insq judged last_rel map map_avgjg map_ia mean_rank mrr ncg ncg_share ndcg ndcg_burges nerr
    num_nonrel_judged_ret num_q num_rel num_rel_ret num_ret p_ia precision precision_avgjg r_precision
    r_precision_mult r_precision_mult_avgjg rbp rbp_resid recall recall_all relative_precision sdcg set_f set_map
    st_recall tbg u_measure unjudged utility wss
"""
AVERAGED = frozenset(NAMES.split())
