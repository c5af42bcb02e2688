"""The metric reference, docs/metrics.md: every word of it from the cards, every value from running its example.

Families are stretches of the cards in the order of the documentation; each begins with the metric that is named here.
"""

import re
from collections.abc import Iterable
from pprint import pformat

from fastir.analyses.agreement.measures import MEASURES
from fastir.analyses.agreement.similarity import similarity
from fastir.data.qrels import Qrels, QrelsLike
from fastir.declared import Param
from fastir.engine.measure import CARDS
from fastir.engine.measure.cards import BETTER, Card
from fastir.evaluation.evaluate import evaluate
from fastir.request.metric import NOT_EXTREME_TEXT
from fastir.request.names import DIALECT_NAMES, FAMILIES, NICKNAMES, SINGLE_FAMILIES

QRELS = {"q": {"a": 2, "b": 0, "c": 1, "d": -1, "e": 3, "f": 0}}
BY_GROUP = {"q": {"x": {"a": 1, "b": 0, "e": 1}, "y": {"a": 1, "c": 1}}}
STRATA = {"q": {"a": 1, "b": 1, "c": 2, "d": 2, "e": 2, "f": 1}}
PROBABILITIES = {"q": {"a": 1.0, "b": 1.0, "c": 0.5, "e": 0.25, "f": 0.5}}
DOC_WEIGHTS = {"a": 2.0, "c": 1.25, "e": 4.0}
RUN = {"q": {"b": 5.0, "a": 4.0, "z": 3.0, "c": 2.0, "d": 1.0}}
OTHER_RUN = {"q": {"a": 3.0, "b": 2.0, "y": 2.0, "c": 1.0}}

POPULAR = (
    *("ndcg", "ndcg_burges", "dcg", "map", "gm_map", "mrr", "precision", "recall", "hit_rate", "f1", "r_precision"),
    *("bpref", "rbp", "err", "alpha_ndcg", "auc", "iprec_avg", "judged", "num_ret", "num_rel_ret"),
)
GROUPS = {  # {the first metric of a family: what the family is called}
    "num_q": "Counts and sets",
    "r_precision": "Ranks of the relevant documents",
    "bpref": "Incomplete judgments",
    "cg": "Graded relevance",
    "alpha_dcg": "Diversity",
    "rbp": "User models",
    "insq": "Expected gain per document read",
    "compat": "Similarity to the ideal ranking",
    "prefs_num_prefs_poss": "Preferences",
    "wss": "Technology-assisted review",
    "arp": "Learning to rank",
    "xinf_ap": "Estimates from a sample of the pool",
    "psp": "Weighted documents",
}
SPELLINGS = (
    "ndcg@2",
    "ndcg_cut_2",
    "nDCG@2",
    "rbp.95",
    "RBP(p=0.8,rel=1)",
    "nDCG(dcg='exp-log2')@10",
    "map-l2",
    "P.5,10",
)

HEAD = """\
# Metrics

Written by `python -m fastir metrics --format markdown` from the cards that the metrics are declared with; edit those.

fastir has every metric of trec_eval, ranx, ir_measures, gdeval, ndeval, BEIR and the ranking libraries.
`fastir metrics NAME` describes one, and `--bibtex` prints the papers to cite.

## Used most

| metric | what it is |
|---|---|
{popular}

## All, by family

| family | metrics |
|---|---|
{groups}

## Names

Names are written as in any of these tools, in upper or lower case:

| tool | form | such as |
|---|---|---|
| fastir, ranx | `name(param=value, ...)@k-lN` | `ndcg(gain=exp2)@10`, `precision@5`, `rbp.95`, `map-l2` |
| ir_measures | the same; `rel=N` means `-lN` | `nDCG(dcg='exp-log2')@10`, `AP(rel=2)@100`, `RBP(p=0.8,rel=1)` |
| trec_eval | `name_k`, `name.k,k`, `name_params` | `P_5`, `ndcg_cut.5,10`, `set_F.2`, `ndcg_1=3,2=9` |
| BEIR, MTEB | `name@k`, `name_at_k` | `NDCG@10`, `R_cap@10`, `ndcg_at_10` |
| LightGBM, XGBoost | `name@k`, `name@k-` (nothing relevant: 0) | `ndcg@10`, `map@5-` |

A value has the name that the caller typed. A name that means several metrics gives a value for each, named as
trec_eval prints it (`P_5`, `iprec_at_recall_0.10`): a list of cutoffs, one of trec_eval's families without a cutoff
(`ndcg_cut`), or one of its nicknames:

{nicknames}

The same metric by several names, and others, of the ranking below:

```text
{spelt}
```

{single} are families only in trec_eval's dialect; here each is one metric, of the whole ranking.
{local}

## Notation

i is a rank from 1, k the cutoff, n the number of documents retrieved, r how many of them are relevant, r_k how many of
the first k, R how many in the qrels, N how many documents were judged not relevant, g_i the gain at rank i. A document
is relevant if its label is at least `rel_level`; `-lN` sets this for one metric, and lower labels then have no gain.
`judged_only=true` in a name removes the documents without a judgment from the ranking, for that metric.

All metrics but {without_empty} have the parameter `empty`
({empty}; default `{default}`).

The table of each family says what its metrics see. A binary metric tells relevant documents from others; it stays the
same if a relevant label becomes another one. A graded metric tells relevant labels apart. A metric sees the first k
documents by rank, or as a set without an order. The parameters `gains` of `rbp` and `max_rel` of the C/W/L metrics, 1
unless it is given, say which labels they tell apart.

## The examples

Each value below is the value of this ranking: a document judged not relevant, a relevant one, an unjudged one,
another relevant one, and one in the pool without a judgment; the best document is not retrieved. Metrics that average
over subtopics or groups of judges are shown for the second qrels, and those that estimate from a sample for the third.

```python
import fastir

qrels = {qrels}
by_group = {by_group}
strata = {strata}
probabilities = {probabilities}
sample = fastir.Qrels.from_dict(qrels, strata=strata, probabilities=probabilities)
doc_weights = {doc_weights}
run = {run}
print(fastir.evaluate(qrels, run, "ndcg@4")["ndcg@4"])
```
"""

SIMILARITY = """\
## How alike two runs are

`fastir.similarity` compares the rankings of two runs, query by query, without judgments. Its measures are no metrics of
`evaluate`; their names are written in the same way, `name(param=value, ...)@k`. Without k they are of whole rankings.
The values below belong to `run` and to `other`, in which b and y are tied.

```python
other = {other}
print(fastir.similarity(run, other, "rbo"))
```
"""


def reference() -> str:
    """The text of docs/metrics.md."""
    empty = next(param for card in CARDS for param in card.params if param.name == "empty")
    without_empty = (card for card in CARDS if not any(param is empty for param in card.params))
    by_name = {card.name: card for card in CARDS}
    head = HEAD.format(
        nicknames="\n".join(f"- `{name}`: {code(members.split())}" for name, members in NICKNAMES.items()),
        single=code(FAMILIES[name].family for name in sorted(SINGLE_FAMILIES)),
        local="\n".join(map(ambiguity, dict.fromkeys(name for _, name in DIALECT_NAMES))),
        without_empty=code(dict.fromkeys(map(family_name, without_empty))),
        empty=f"{empty.accepted_text()}: {empty.meaning}",
        default=empty.default,
        popular="\n".join(f"| {metric_link(by_name[name])} | {by_name[name].summary} |" for name in POPULAR),
        groups="\n".join(
            f"| [{title}](#{anchor(title)}) | {code(card.name for card in family)} |" for title, family in families()
        ),
        spelt=str(evaluate(QRELS, RUN, SPELLINGS)).rpartition("\n")[0],
        qrels=QRELS,
        by_group=pformat(BY_GROUP, width=120),
        strata=STRATA,
        probabilities=PROBABILITIES,
        doc_weights=DOC_WEIGHTS,
        run=RUN,
    )
    judged: dict[str, QrelsLike] = {
        "qrels": QRELS,
        "by_group": BY_GROUP,
        "sample": Qrels.from_dict(QRELS, strata=STRATA, probabilities=PROBABILITIES),
    }
    values: dict[str, float] = {}
    for name, qrels in judged.items():
        cards = [card for card in CARDS if qrels_name(card) == name]
        for some, weights in ((False, None), (True, DOC_WEIGHTS)):
            examples = [example(card) for card in cards if (card.sampled == "weights") is some]
            values |= evaluate(qrels, RUN, examples, queries="qrels", doc_weights=weights) if examples else {}
    metrics = (
        "\n".join([group_head(title, family), *(section(card, values[example(card)]) for card in family)])
        for title, family in families()
    )
    alike = similarity(RUN, OTHER_RUN, [similarity_example(card) for card in MEASURES.values()])
    measured = (similarity_section(card, alike[similarity_example(card)]) for card in MEASURES.values())
    return "\n".join([head, *metrics, SIMILARITY.format(other=OTHER_RUN), *measured])


def families() -> list[tuple[str, list[Card]]]:
    """The title and the metrics of each family."""
    found: list[tuple[str, list[Card]]] = []
    for card in CARDS:
        if card.name in GROUPS:
            found.append((GROUPS[card.name], []))
        found[-1][1].append(card)
    return found


def group_head(title: str, family: list[Card]) -> str:
    rows = [f"| {metric_link(card)} | {card.summary} | {card.relevance} | {card.order} |" for card in family]
    return "\n".join(
        [f"## {title}", "", "| metric | what it is | relevance | first k |", "|---|---|---|---|", *rows, ""]
    )


def metric_link(card: Card) -> str:
    name = f"{card.name}{card.place()}"
    return f"[`{name}`](#{anchor(name)})"


def anchor(head: str) -> str:
    """The anchor of a heading, on GitHub and on the site."""
    return re.sub(r"[^\w -]", "", head.lower()).replace(" ", "-")


def family_name(card: Card) -> str:
    """Return the name of a metric, or the joint name of all metrics of pairs."""
    return "prefs_*" if card.groups == "pairs" else card.name


def ambiguity(name: str) -> str:
    """The meanings of a name to the tools that have it, if it has none of fastir's own."""
    means: dict[str, list[str]] = {}
    for (dialect, other), card in DIALECT_NAMES.items():
        if other == name:
            means.setdefault(card.name, []).append(dialect)
    told = [f"`{metric}` to {' and '.join(dialects)}" for metric, dialects in means.items()]
    return f"`{name}` is {', '.join(told)}; here it is an error that says so."


def qrels_name(card: Card) -> str:
    """The name of the qrels that its example is of."""
    return (
        "qrels" if card.sampled == "weights" else "sample" if card.sampled else "by_group" if card.groups else "qrels"
    )


def example(card: Card) -> str:
    """A request for the card's example: the first four documents, half of the recall."""
    return card.spelled("@4" if card.cutoff else "@0.5" if card.at else "")


def section(card: Card, value: float) -> str:
    params = [param for param in card.params if param.name != "empty"]
    lines = [f"### `{card.name}{card.place()}`", "", f"{card.summary[0].upper()}{card.summary[1:]}.", ""]
    if card.other_names():
        lines.append(f"- Also written: {code(card.other_names())}")
    lines.append(f"- Formula: `{card.formula}`")
    if card.depth is not None:
        lines.append(f"- Without k: {card.depth}")
    if card.sampled:
        needed = "any, with doc_weights" if card.sampled == "weights" else f"samples with {card.sampled}"
        lines.append(f"- Qrels: {needed}")
    lines += [param_line(param) for param in params]
    lines.append(f"- Undefined: {card.undefined}")
    lines.append(
        f"- Values: {card.range}; better: {BETTER[card.higher_is_better]}; "
        f"over queries: {card.aggregate.replace('geometric', 'geometric mean')}"
    )
    if not card.by_label:
        lines.append(f"- Ties: {NOT_EXTREME_TEXT}")
    lines.append(f"- Sees: {card.relevance} relevance, the ranking {card.order}")
    lines.append(f"- Source: {card.source}")
    lines.append(f"- Cite: {', '.join(f'[{paper}]({paper.url})' for paper in card.references)}")
    if card.differs:
        lines.append(f"- Peers differ: {card.differs}")
    weighted = ", with `doc_weights`," if card.sampled == "weights" else ""
    lines.append(f"- Example: `{example(card)}` of `{qrels_name(card)}` and `run`{weighted} is {value:.6g}")
    return "\n".join([*lines, ""])


def similarity_example(card: Card) -> str:
    """A request for the example of a measure of similarity: the first three documents."""
    return card.name + "@3" * card.cutoff


def similarity_section(card: Card, value: float) -> str:
    lines = [f"### `{card.name}{card.place()}`", "", f"{card.summary[0].upper()}{card.summary[1:]}.", ""]
    lines += [param_line(param) for param in card.params]
    lines += [f"- Undefined: {card.undefined}", f"- Values: {card.range}", f"- Source: {card.source}"]
    lines.append(f"- Example: `{similarity_example(card)}` of `run` and `other` is {value:.6g}")
    return "\n".join([*lines, ""])


def param_line(param: Param) -> str:
    default = "..." if param.required else param.default
    return f"- `{param.name}={default}`: {param.meaning} ({param.accepted_text()})" + "; must be given" * param.required


def code(names: Iterable[str]) -> str:
    return ", ".join(f"`{name}`" for name in names)
