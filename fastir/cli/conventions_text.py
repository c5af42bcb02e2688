"""The page of conventions, docs/conventions.md: every answer from the records, every value from running its example."""

import math
import warnings
from typing import Any, NamedTuple

from fastir.engine.measure import CARDS
from fastir.errors import FastirWarning
from fastir.evaluation.evaluate import evaluate
from fastir.request.conventions import CONVENTIONS, Convention
from fastir.request.names import read
from fastir.request.plan import param_values

HEAD = """\
# Conventions

Written by `python -m fastir conventions --format markdown` from the records of the conventions; edit those.

Tools give one name different numbers. Each question below has been answered in several ways; `convention="name"` takes
all answers of one tool, and the option in brackets takes one. A metric that a tool does not have keeps fastir's
definition. The values are the example's: `fastir.evaluate(qrels, run, metric, convention=name)`.

## By question
"""


TOOLS = """\
## By tool

What each is, and its choices that differ from fastir's; choices for one metric follow its name. The version
is the newest with which the numbers were compared. `convention="TOOL"` is the newest record of a tool, and
`"TOOL-VERSION"` the one that has the numbers of that release, such as `"haystack-2.7"` or `"mteb-2.26"`.
"""


class Question(NamedTuple):
    """What tools answer differently, and an example that tells the answers apart.

    Attributes
    ----------
    option : str
        A field of Convention, or a parameter that `Convention.of` sets.
    asks, metric : str
    qrels, run : dict
    """

    option: str
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
BY_GROUP = {"q": {"x": {"a": 1}, "y": {"b": 1}, "z": {"c": 1}}}
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
    Question("rank_one", "By what is alpha-DCG at rank 1 divided?", "alpha_dcg@1", BY_GROUP, {"q": {"a": 1.0}}),
    Question("missing_documents", "Where does the ideal ranking of compat have documents that are not retrieved?",
             "compat", {"q": {"a": 1, "b": 1, "c": 1}}, {"q": {"c": -1.0, "d": -2.0}}),
)  # fmt: skip


def page() -> str:
    """The text of docs/conventions.md."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", FastirWarning)  # some examples have missing queries or duplicates
        questions = "\n".join(map(section, QUESTIONS))
    return f"{HEAD}\n{questions}\n{TOOLS}\n" + "".join(map(convention_line, CONVENTIONS.values()))


def section(question: Question) -> str:
    """A question, its example, and the tools by what they answer."""
    groups: dict[tuple[str, str], list[str]] = {}
    for name in CONVENTIONS:
        groups.setdefault((answer(question, name), value(question, name)), []).append(name)
    lines = [f"### {question.asks} (`{question.option}`)", "", *example(question), ""]
    lines += ["| answer | value | tools |", "|---|---|---|"]
    for (chosen, number), names in groups.items():
        tools = "fastir and all that no line below names" if "fastir" in names else ", ".join(names)
        lines.append(f"| `{chosen}` | {number} | {tools} |")
    return "\n".join([*lines, ""])


def example(question: Question) -> list[str]:
    call = f'fastir.evaluate({question.qrels}, {question.run}, "{question.metric}")'
    meanings = (param.meaning for card in CARDS for param in card.params if param.name == question.option)
    about = next(meanings, "")
    return [*([f"{about[0].upper()}{about[1:]}.", ""] if about else []), "```python", call, "```"]


def answer(question: Question, name: str) -> str:
    """The convention's choice for the metric of the example."""
    request, convention = read(question.metric, CONVENTIONS[name].dialect)[0], CONVENTIONS[name]
    if question.option == "refused":
        return "no" if convention.choice(request.card.name, request.cutoff is not None, "refused") else "yes"
    values = param_values(request, {}, convention)
    rule = convention.choice(request.card.name, request.cutoff is not None, question.option, 1)
    return str(values.get(question.option, rule))


def value(question: Question, name: str) -> str:
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
