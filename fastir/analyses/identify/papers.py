"""Words that papers have for metrics, and what each may mean."""

import re

from fastir.request.names import NAMES

CUTOFFS = (10, 100, 5, 20, 1, 3, 50, 1000)  # which papers leave out, the most usual first

# Words of papers in lower case, without signs: what they mean in fastir's names, each also with cutoffs.
PAPERS = {
    "ndcg": ("ndcg",),
    "mrr": ("mrr",),
    "rr": ("mrr",),
    "map": ("map",),
    "ap": ("map",),
    "recall": ("recall", "hit_rate"),
    "r": ("recall", "hit_rate"),
    "hr": ("hit_rate",),
    "hit": ("hit_rate",),
    "hits": ("hit_rate",),
    "hitrate": ("hit_rate",),
    "hitratio": ("hit_rate",),
    "accuracy": ("hit_rate",),
    "acc": ("hit_rate",),
    "success": ("hit_rate",),
    "precision": ("precision",),
    "prec": ("precision",),
    "p": ("precision",),
    "f1": ("set_f",),
    "err": ("err",),
}
RARELY_WHOLE = "hit_rate"  # which papers give at a cutoff alone


def of_papers(name: str) -> list[str]:
    """fastir's names for what a paper may mean, the likeliest first: with its cutoff, or with those that are usual."""
    parts = re.fullmatch(r"(.*?)(?:[@_ ]*(?:at[_ ]?)?(\d+))?", name.strip(), re.DOTALL)
    word, cutoff = parts.groups() if parts else (name, None)
    found = []
    for metric in PAPERS.get(plain(word), PAPERS.get(plain(name), ())):
        if cutoff:
            found.append(f"{metric}@{cutoff}")
        else:
            whole = [] if metric == RARELY_WHOLE else [metric]
            found += whole + [f"{metric}@{k}" for k in CUTOFFS if NAMES[metric].cutoff]
    return found


def plain(word: str) -> str:
    return re.sub(r"[^a-z0-9]", "", word.lower())
