"""The pages docs/metrics.md and docs/conventions.md: every word from the cards and records, every value from a run.

Families of metrics are stretches of the cards in the order of the documentation; GROUPS names the first one of each.
"""

import math
import re
import warnings
from collections.abc import Iterable
from pprint import pformat
from typing import Any, NamedTuple

from fastir.analyses.agreement.measures import MEASURES
from fastir.analyses.agreement.similarity import similarity
from fastir.data.qrels import Qrels
from fastir.declared import Param
from fastir.engine.measure import CARDS
from fastir.engine.measure.cards import BETTER, NEEDS, OPTIONS, Card
from fastir.errors import FastirWarning, UnknownMetricError
from fastir.evaluation.evaluate import evaluate
from fastir.inputs.roles import EVIDENCE_KINDS
from fastir.request.conventions import CONVENTIONS, Convention
from fastir.request.metric import NOT_EXTREME_TEXT, relatives
from fastir.request.names import DIALECT_NAMES, FAMILIES, NAMES, NICKNAMES, SINGLE_FAMILIES, read
from fastir.request.plan import param_values

# ---- metrics ---------------------------------------------------------------------------------------------------------
QRELS = {"q": {"a": 2, "b": 0, "c": 1, "d": -1, "e": 3, "f": 0}}
BY_GROUP = {"q": {"x": {"a": 1, "b": 0, "e": 1}, "y": {"a": 1, "c": 1}}}
STRATA = {"q": {"a": 1, "b": 1, "c": 2, "d": 2, "e": 2, "f": 1}}
PROBABILITIES = {"q": {"a": 1.0, "b": 1.0, "c": 0.5, "e": 0.25, "f": 0.5}}
DOC_WEIGHTS = {"a": 2.0, "c": 1.25, "e": 4.0}
FORBIDDEN_DOCUMENTS = {"q": ["z", "d"]}
ALTERNATIVES = {"q": [["a", "c"], ["b", "e"]]}
DOC_GROUPS = {"a": {"old": 1}, "b": {"old": 0.5, "new": 0.5}, "d": {"new": 1}}
TARGET = {"old": 0.5, "new": 0.5}
DOC_COSTS = {"a": 120, "b": 300, "c": 80, "d": 40, "z": 200}
NEEDED: tuple[dict[str, Any], ...] = (  # options that metrics need
    {"doc_weights": DOC_WEIGHTS},
    {"forbidden": FORBIDDEN_DOCUMENTS},
    {"doc_groups": DOC_GROUPS, "target": TARGET},
    {"doc_costs": DOC_COSTS},
)
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
    "forbidden_hits": "Forbidden documents",
    "evidence_recall": "Evidence: sets and hops",
    "awrf": "Exposure of groups",
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
over subtopics or groups of judges are shown for the second qrels, those that estimate from a sample for the third, and
those of evidence for `by_set` and `by_hop`.

```python
import fastir

qrels = {qrels}
by_group = {by_group}
strata = {strata}
probabilities = {probabilities}
sample = fastir.Qrels.from_dict(qrels, strata=strata, probabilities=probabilities)
by_set = fastir.Qrels.from_sets({alternatives})
by_hop = fastir.Qrels.from_hops({alternatives})
doc_weights = {doc_weights}
forbidden = {forbidden}
doc_groups = {doc_groups}
target = {target}
doc_costs = {doc_costs}
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
        alternatives=ALTERNATIVES,
        doc_weights=DOC_WEIGHTS,
        forbidden=FORBIDDEN_DOCUMENTS,
        doc_groups=DOC_GROUPS,
        target=TARGET,
        doc_costs=DOC_COSTS,
        run=RUN,
    )
    judged: dict[str, Any] = {
        "qrels": QRELS,
        "by_group": BY_GROUP,
        "sample": Qrels.from_dict(QRELS, strata=STRATA, probabilities=PROBABILITIES),
        "by_set": Qrels.from_sets(ALTERNATIVES),
        "by_hop": Qrels.from_hops(ALTERNATIVES),
    }
    values: dict[str, float] = {}
    for name, qrels in judged.items():
        cards = [card for card in CARDS if qrels_name(card) == name]
        for needs in ({}, *NEEDED):
            examples = [example(card) for card in cards if OPTIONS.get(card.sampled, "") == next(iter(needs), "")]
            values |= evaluate(qrels, RUN, examples, queries="qrels", **needs) if examples else {}
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
    meanings = [f"`{metric}` to {' and '.join(dialects)}" for metric, dialects in means.items()]
    return f"`{name}` is {', '.join(meanings)}; here it is an error that says so."


def qrels_name(card: Card) -> str:
    """The name of the qrels that its example is of."""
    if card.sampled in EVIDENCE_KINDS:
        return f"by_{EVIDENCE_KINDS[card.sampled]}"
    return "qrels" if card.sampled in OPTIONS else "sample" if card.sampled else "by_group" if card.groups else "qrels"


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
        lines.append(f"- Qrels: {NEEDS[card.sampled]}")
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
    if names := relatives()[card.name]:
        lines.append(f"- See also: {', '.join(metric_link(NAMES[name.lower()]) for name in names)}")
    needed = ", ".join(next((given for given in NEEDED if OPTIONS.get(card.sampled, "") in given), ()))
    needs = f", with `{needed}`," if needed else ""
    lines.append(f"- Example: `{example(card)}` of `{qrels_name(card)}` and `run`{needs} is {value:.6g}")
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


# ---- conventions -----------------------------------------------------------------------------------------------------
CONVENTIONS_HEAD = """\
# Conventions

Written by `python -m fastir conventions --format markdown` from the records of the conventions; edit those.

Tools give one name different numbers. Each question below has been answered in several ways; `convention="name"` takes
all answers of one tool, and the option in brackets takes one. A metric that a tool does not have keeps fastir's
definition. The values are the example's: `fastir.evaluate(qrels, run, metric, convention=name)`.

## By question
"""


TOOLS_HEAD = """\
## By tool

What each is, and its choices that differ from fastir's; choices for one metric follow its name. The version
is the newest with which the numbers were compared. `convention="TOOL"` is the newest record of a tool, and
`"TOOL-VERSION"` the one that has the numbers of that release, such as `"haystack-2.7"` or `"mteb-2.26"`.
"""


class Question(NamedTuple):
    """What tools answer differently, and an example that tells the answers apart."""

    option: str  # a field of Convention, or a parameter that `Convention.of` sets
    asks: str
    metric: str
    qrels: dict[str, Any]
    run: dict[str, Any]


def make_example(labels: str, others: str = "") -> tuple[dict[str, dict[str, int]], dict[str, dict[str, float]]]:
    """Return qrels and run of one query: a ranking with these labels (- is unjudged), and other judged documents.

    A letter for each document, from a on along the ranking, from x on outside it.
    """
    words = labels.split()
    judged = {chr(97 + place): int(word) for place, word in enumerate(words) if word != "-"}
    judged.update({chr(120 + place): int(word) for place, word in enumerate(others.split())})
    return {"q": judged}, {"q": {chr(97 + place): float(len(words) - place) for place in range(len(words))}}


NEARLY = {"b": 1.0, "a": 1.000000001}
TIED = {"q": {"b": 1.0, "a": 1.0, "c": 1.0}}
HALF = {"q1": {"a": 1}, "q2": {"a": 0}}, {"q1": {"b": 2.0, "a": 1.0}, "q2": {"a": 1.0}}
THREE_GROUPS = {"q": {"x": {"a": 1}, "y": {"b": 1}, "z": {"c": 1}}}
EMPTY_RANKING = {"q1": {"a": 1}, "q2": {"a": 1}}, {"q1": {"a": 2.0, "b": 1.0}, "q2": {}}
GRADED = make_example("0 3 2")
REAL = {"q": {"a": 0.25, "b": 0.75, "c": 1}}, {"q": {"a": 3.0, "b": 2.0, "c": 1.0}}

QUESTIONS = (
    Question("queries", "Which queries count?", "map", {"q1": {"a": 1}, "q2": {"a": 1}}, {"q1": {"a": 1.0}}),
    Question("ties", "Which of equal scores comes first, for nDCG?", "ndcg", {"q": {"a": 1}}, TIED),
    Question("ties", "Which of equal scores comes first, for the reciprocal rank?", "mrr@10", {"q": {"a": 1}}, TIED),
    Question("score_dtype", "In which precision are scores compared?", "map", {"q": {"a": 1}}, {"q": NEARLY}),
    Question("duplicates", "What if a document is a duplicate?", "map", {"q": ["a"]}, {"q": ["b", "b", "a"]}),
    Question("duplicates", "And for recall?", "recall@2", {"q": ["a"]}, {"q": ["b", "b", "a"]}),
    Question("exclude", "Does a document that is called like its query count?", "mrr", {"q": {"a": 1}},
             {"q": {"q": 2.0, "a": 1.0}}),
    Question("rel_level", "Which is the lowest relevant label for the reciprocal rank?", "mrr", *make_example("0 1")),
    Question("fractions", "What do real-valued labels count, for nDCG?", "ndcg", *REAL),
    Question("fractions", "And for the reciprocal rank?", "mrr", *REAL),
    Question("refused", "Is there an expected reciprocal rank?", "err", *make_example("0 1")),
    Question("empty", "What is the nDCG of a query without relevant documents?", "ndcg", *HALF),
    Question("empty", "What is the reciprocal rank of such a query?", "mrr", *HALF),
    Question("empty", "What is the recall of such a query?", "recall@9", *HALF),
    Question("empty", "What is the precision of such a query?", "precision@2", *HALF),
    Question("gain", "What does nDCG gain from a label?", "ndcg@2", *make_example("1 2")),
    Question("ideal", "What does nDCG's ideal ranking hold?", "ndcg@3", *make_example("0 1", "1 1")),
    Question("ideal", "And where there is no cutoff?", "ndcg", *make_example("0 1", "1 1")),
    Question("discount", "By what is a gain at rank 3 divided?", "ndcg", *make_example("0 0 1")),
    Question("recall_norm", "What does recall at k divide by?", "recall@1", *make_example("1 0 1")),
    Question("average", "What is the average of 1/1 and 1/3?", "relative_precision@3",
             {"p": {"a": 1}, "q": {"a": 1, "b": 1, "c": 1}}, {"p": {"a": 1.0}, "q": {"a": 1.0}}),
    Question("empty_ranking", "What is the precision of an empty ranking?", "precision", *EMPTY_RANKING),
    Question("empty_ranking", "What is its nDCG?", "ndcg", *EMPTY_RANKING),
    Question("ap_norm", "What does average precision at k divide by?", "map@2", *make_example("1 0 1 0 0 1")),
    Question("short_rankings", "What does precision at 5 divide by where 3 are retrieved?", "precision@5",
             *make_example("1 0 1")),
    Question("no_hit", "Which fraction of pairs is right if the first 2 are not relevant?", "pair_accuracy@2",
             *make_example("0 0 1")),
    Question("one_class", "What is the AUC of the first 2 where both are relevant?", "auc@2", *make_example("1 1 0")),
    Question("gains", "What does RBP gain from a label?", "rbp(p=0.8)", *make_example("2 0 1")),
    Question("p", "How persistent is the reader of RBP?", "rbp", *make_example("1 0 1")),
    Question("rbp_norm", "Over which ranks do RBP's weights sum to 1?", "rbp(p=0.99)", *make_example("1")),
    Question("bpref_norm", "What is bpref where no document was judged not relevant?", "bpref", *make_example("1 - 1")),
    Question("negatives", "What are negative labels to bpref?", "bpref", *make_example("-1 1 1", "0 0")),
    Question("rounding", "How many relevant documents make a recall point?", "iprec@0.6", *make_example("0 1 0 0 1")),
    Question("unranked", "What is an empty ranking's precision at recall 0?", "iprec@0", {"q": {"a": 1}}, {"q": {}}),
    Question("f_weight", "What is the parameter of the F measure?", "set_f(x=2)", *make_example("1 0", "1 1 1")),
    Question("max_grade", "What is the top of the grading scale, for nERR?", "nerr", *GRADED),
    Question("rank_one", "By what is alpha-DCG at rank 1 divided?", "alpha_dcg@1", THREE_GROUPS, {"q": {"a": 1.0}}),
    Question("missing_documents", "Where does the ideal ranking of compat have documents that are not retrieved?",
             "compat", {"q": {"a": 1, "b": 1, "c": 1}}, {"q": {"c": -1.0, "d": -2.0}}),
)  # fmt: skip


def conventions_page() -> str:
    """The text of docs/conventions.md."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", FastirWarning)  # some examples have missing queries or duplicates
        questions = "\n".join(map(question_section, QUESTIONS))
    return f"{CONVENTIONS_HEAD}\n{questions}\n{TOOLS_HEAD}\n" + "".join(map(convention_line, CONVENTIONS.values()))


def question_section(question: Question) -> str:
    """A question, its example, and the tools by what they answer."""
    groups: dict[tuple[str, str], list[str]] = {}
    for name in CONVENTIONS:
        groups.setdefault((answer(question, name), example_value(question, name)), []).append(name)
    lines = [f"### {question.asks} (`{question.option}`)", "", *question_example(question), ""]
    lines += ["| answer | value | tools |", "|---|---|---|"]
    for (chosen, number), names in groups.items():
        tools = "fastir and all that no line below names" if "fastir" in names else ", ".join(names)
        lines.append(f"| `{chosen}` | {number} | {tools} |")
    return "\n".join([*lines, ""])


def question_example(question: Question) -> list[str]:
    call = f'fastir.evaluate({question.qrels}, {question.run}, "{question.metric}")'
    meanings = (param.meaning for card in CARDS for param in card.params if param.name == question.option)
    about = next(meanings, "")
    return [*([f"{about[0].upper()}{about[1:]}.", ""] if about else []), "```python", call, "```"]


def answer(question: Question, name: str) -> str:
    """The convention's choice for the metric of the example."""
    request, convention = read(question.metric, CONVENTIONS[name].dialect)[0], CONVENTIONS[name]
    if question.option == "refused":
        return "no" if convention.choice(request.card.name, request.cutoff is not None, "refused") else "yes"
    try:
        values = param_values(request, {}, convention)
    except UnknownMetricError:  # a parameter must be given, as n_docs for implicit's auc
        values = {}
    rule = convention.choice(request.card.name, request.cutoff is not None, question.option, 1)
    return str(values.get(question.option, rule))


def example_value(question: Question, name: str) -> str:
    """The value of the example, or what happens instead."""
    try:
        result = evaluate(question.qrels, question.run, question.metric, convention=name)[question.metric]
    except ValueError:  # of a duplicate, a query that is missing, a label or a metric
        return "an error"
    return "NaN" if math.isnan(result) else f"{result:.6g}"


def convention_line(convention: Convention) -> str:
    """A tool in a line: what it is, and its choices that are not fastir's, for all metrics and for single ones."""
    names = ["fractions", *Convention.choices()]
    ours, theirs = ({name: getattr(each, name) for name in names} for each in (CONVENTIONS["fastir"], convention))
    choices = [f"`{name}={chosen}`" for name, chosen in theirs.items() if chosen != ours[name]]
    for metric, pairs in convention.of:
        choices.append(f"`{metric}`: " + ", ".join(f"`{name}={chosen}`" for name, chosen in pairs))
    text = f"- **{convention.name}**: {convention.about}. {'; '.join(choices)}".rstrip()
    of = f" Version: {', '.join(filter(None, (convention.release, convention.span)))}"
    read_in = convention.source and f"; source: `{convention.source}`"
    return f"{text}{of}{read_in}{convention.pending and f'. Not yet: {convention.pending}'}.\n"
