"""What papers mean by a name: all its possible metrics, and others that may have been reported under it."""

from fastir.request.names import NAMES, read, spoken_names

CUTOFFS = (10, 100, 5, 20, 1, 3, 50, 1000)  # which papers leave out, the most usual first
# Metrics that papers call by the name of another one, or of its family.
PAPERS = {
    "recall": ("hit_rate",), "hits": ("hit_rate",), "pair_accuracy": ("hit_rate",), "f1": ("set_f",),
}  # fmt: skip
SELDOM = ("hits", "pair_accuracy")  # which papers do not mean by these names
RARELY_WHOLE = "hit_rate"  # which papers give at a cutoff alone
# Metrics that are now and then reported under another one's name: tried where nothing fits.
MISTAKEN = {
    "map": ("r_precision", "gm_map", "iprec_avg", "mrr", "precision", "set_map"),
    "recall": ("hit_rate", "relative_precision", "recall_all", "precision", "hits"),
    "precision": ("r_precision", "hit_rate", "recall", "relative_precision"),
    "r_precision": ("precision", "map"),
    "hit_rate": ("recall", "precision", "recall_all", "pair_accuracy"),
    "pair_accuracy": ("hit_rate", "precision"),
    "mrr": ("map", "hit_rate", "precision"),
    "ndcg": ("ndcg_burges", "dcg", "ncg", "map"),
    "ndcg_burges": ("ndcg", "dcg_burges"),
    "f1": ("set_f", "precision", "recall"),
    "gm_map": ("map",),
    "auc": ("pair_accuracy",),
}


def paper_names(name: str) -> list[str]:
    """fastir's names for what a paper may mean, the likeliest first: with its cutoff, or with those that are usual."""
    found = []
    for request in (read(each)[0] for each in spoken_names(name)):
        card, cutoff = request.card, request.cutoff
        if request.params or request.level:
            found.append(str(request))
            continue
        for metric in (*[card.name] * (card.name not in SELDOM), *PAPERS.get(card.name, ())):
            if cutoff is not None:
                found.append(f"{metric}@{cutoff}")
                continue
            found += [metric] if metric != RARELY_WHOLE else []
            found += [f"{metric}@{k}" for k in CUTOFFS if NAMES[metric].cutoff]
    return found


def mistaken_names(meaning: str) -> tuple[str, ...]:
    """Other metrics that may have been reported under a name, with its cutoff if they have one."""
    request = read(meaning)[0]
    at = "" if request.cutoff is None else f"@{request.cutoff}"
    names = MISTAKEN.get(request.card.name, ())
    return () if request.params or request.level else tuple(name + at * NAMES[name].cutoff for name in names)
