"""Unknown names of metrics: what they mean, and the error for a metric that does not exist.

`find_meanings` understands full names, names of older tools and names with the cutoff at another position.
`unknown_error` suggests these meanings, or else names with a similar spelling. Imported only when a name is unknown,
and by `identify`. The module does not know the grammar: the test whether a text is a metric, `is_metric`, is an
argument.
"""

import difflib
import functools
import itertools
import re
from collections.abc import Callable
from typing import NamedTuple

from fastir.engine.measure import CARDS
from fastir.engine.measure.cards import Card
from fastir.errors import UnknownMetricError, quote
from fastir.request.habits import METRICS

IsMetric = Callable[[str], bool]

# Other names for fastir's, compared without signs and capitals: full names, words of papers, trec_eval 8's.
OTHER_NAMES = {
    "ndcg": "normalized discounted cumulative gain, normalized dcg, n dcg",
    "ndcg_burges": "exponential ndcg",
    "dcg": "discounted cumulative gain",
    "ideal_dcg": "ideal discounted cumulative gain",
    "cg": "cumulative gain",
    "ncg": "normalized cumulative gain",
    "map": "mean average precision, average precision, avg precision, avg prec, mean ap",
    "map_ia": "intent aware map, intent aware average precision",
    "gm_map": "gm ap, gmap, geometric map, geometric mean average precision",
    "mrr": "reciprocal rank, average reciprocal hit rank, arhr",
    "precision": "prec, exact prec, set precision",
    "recall": "rec, exact recall, sensitivity, true positive rate, tpr",
    "relative_precision": "exact relative prec, relative prec, capped recall, recall capped, r cap",
    "set_map": "exact unranked avg prec, unranked average precision",
    "f1": "f1 score, f1 measure, f score, f measure, f, set f1",
    "f_beta(beta=2)": "f2, f2 score",
    "hit_rate": "hits rate, success rate, acc, top accuracy",
    "r_precision": "r prec, precision at r, p at r",
    "map_r": "map r, average precision at r, mean average precision at r, ap at r",
    "iprec": "ircl prn, interpolated precision, interpolated precision at recall, iprec at recall",
    "iprec_avg": "11pt avg, 11 point average precision, 11 pt average precision, eleven point average precision",
    "iprec_avg(points={0.2, 0.5, 0.8})": "3pt avg, 3 point average precision",
    "bpref": "binary preference",
    "gm_bpref": "geometric mean bpref",
    "inf_ap": "inferred average precision, inferred ap",
    "inf_ndcg": "inferred ndcg",
    "rbp": "rank biased precision",
    "rbp_resid": "rbp residual",
    "rbu": "rank biased utility",
    "irbu": "intentwise rank biased utility",
    "err_ia": "intent aware err, intent aware expected reciprocal rank",
    "nerr": "normalized expected reciprocal rank, normalized err",
    "alpha_ndcg": "a ndcg, α ndcg",
    "alpha_dcg": "a dcg, α dcg",
    "nrbp": "novelty and rank biased precision",
    "st_recall": "subtopic recall, s recall, i rec, intent recall",
    "p_ia": "intent aware precision",
    "tbg": "time biased gain",
    "bpm": "bejeweled player model",
    "compat": "compatibility",
    "auc": "area under the roc curve, area under the curve, area under roc curve, auc roc",
    "amri": "adjusted mean rank index",
    "fallout": "false positive rate, fpr",
    "judged": "judgment rate, judgement rate",
    "ncg_share": "recall share",
    "psp": "propensity scored precision",
    "psndcg": "propensity scored ndcg",
    "r_precision_mult": "rprec mult",
}
# What says how a metric is computed, as in "micro recall" and nDCG′ of judged documents alone: the parameter.
QUALIFIERS = (
    (re.compile(r"(?<![a-z])(micro|macro)(?:[ _-]?averaged?)?(?![a-z])"), r"(average=\1)"),
    (re.compile(r"(?<=[a-z])['’′]|(?<![a-z])condensed(?![a-z])"), "(judged_only=true)"),
)
BESIDE_NUMBERS = {"at", "cut", "cutoff", "top", "k", "rank"}  # words that say nothing beside a cutoff
FILLER_WORDS = {"score", "scores", "value"}  # words that say nothing
MEAN_WORDS = {"mean", "average", "avg"}  # words that say nothing at the beginning
# The metrics with a fraction as cutoff, either of all documents or of the relevant documents.
FRACTION_METRICS = {"recall": "ncg_share", "hit_rate": "hit_rate_share", "r_precision": "r_precision_mult"}
OPPOSITE_PREFIXES = ("un", "non", "not", "mis", "anti")  # beginnings that turn a name into its opposite
MIN_LONG_NAME_LETTERS = 8  # letters from which on a similar name may differ in more than one letter
MIN_SIMILARITY = 0.88
MAX_SHORT_NAME_LETTERS = 4  # letters up to which another letter is often another metric
MIN_NAME_LETTERS = 3  # letters from which on names may have mistakes
MAX_SPOKEN_NAME_LETTERS = 2  # letters up to which another tool's name is printed unchanged
MAX_NAME_LETTERS = 200


def letters(text: str) -> str:
    """A name without signs and capitals, in one spelling of the words that have two."""
    text = "".join(re.findall(r"[a-z0-9α]+", text.lower()))
    return text.replace("normalis", "normaliz").replace("latedgain", "lativegain").replace("bejewelled", "bejeweled")


@functools.cache
def vocabulary() -> dict[str, tuple[str, ...]]:
    """Names as letters, each with the metrics that it means."""
    found: dict[str, tuple[str, ...]] = {}
    for name, others in OTHER_NAMES.items():
        found |= dict.fromkeys(map(letters, others.split(", ")), (name,))
    for card in CARDS:
        for _, name in card.only_in:
            found[letters(name)] = tuple(dict.fromkeys((*found.get(letters(name), ()), card.name)))
    for card in CARDS:
        names = (card.name, *card.aliases, *[card.family] * bool(card.family))
        found |= {letters(name): (name if len(name) <= MAX_SPOKEN_NAME_LETTERS else card.name,) for name in names}
    return found


@functools.cache
def cards() -> dict[str, Card]:
    """Every accepted name, in lower case, and its card."""
    return {name.lower(): card for card in CARDS for name in (card.name, *card.aliases, card.family) if name}


class Spelling(NamedTuple):
    """A way to divide a name: its words as letters, and its cutoff, parameters and relevance level as text."""

    words: tuple[str, ...]
    number: str
    params: str
    level: str

    def name(self, metric: str) -> str:
        """A metric's name with this cutoff, parameters and level."""
        at = f"@{self.number}" if self.number else ""
        if self.number.endswith("%") or "." in self.number:
            card = cards().get(metric.lower())
            metric = FRACTION_METRICS.get(card.name, metric) if card else metric
            number = float(self.number.rstrip("%")) / (100 if self.number.endswith("%") else 1)
            at = f"({card.dot}={number:g})" if card and card.dot else f"@{number:g}"
        return metric + self.params + at + self.level


def spellings(text: str) -> list[Spelling]:
    """The ways to divide a name, the likeliest first."""
    if len(text) > MAX_NAME_LETTERS:
        return []
    level = re.search(r"-l[0-9.]+$", text)
    rest = text[: level.start()] if level else text
    inside = re.search(r"\([^()=]*[a-z_]{2,}[^()=]*=[^()]*\)|\(p *=[^()]*\)", rest, re.IGNORECASE)
    if inside:
        rest = rest[: inside.start()] + " " + rest[inside.end() :]
    params, rest = inside[0] if inside else "", rest.lower()
    for pattern, param in QUALIFIERS:
        if not params and (said := pattern.search(rest)):
            params, rest = said.expand(param), rest[: said.start()] + " " + rest[said.end() :]
    parts = re.findall(r"[a-zα]+|[0-9]+(?:\.[0-9]+)?%?", rest)
    found = [(parts, "")]
    if len(parts) > 1 and parts[-1][0].isdigit():
        found.append((parts[:-1], parts[-1]))
    if len(parts) > 2 and parts[0] == "top" and parts[1].isdigit():
        found += [(["top", *parts[2:]], parts[1]), (parts[2:], parts[1])]
    if len(parts) > 1 and "." in parts[0]:
        found.append((parts[1:], parts[0]))
    tail = level[0] if level else ""
    return [Spelling(significant_words(words, bool(number)), number, params, tail) for words, number in found]


def significant_words(words: list[str], beside_number: bool) -> tuple[str, ...]:
    """The words of a name as letters, and without words that say nothing."""
    few = [word for word in words if word not in FILLER_WORDS and not (beside_number and word in BESIDE_NUMBERS)]
    without_mean = few[few[0] in MEAN_WORDS :] if few else few
    return tuple(dict.fromkeys(map("".join, (words, few, without_mean))))


def find_meanings(text: str, is_metric: IsMetric) -> list[str]:
    """The metrics that a name means, with its cutoff, in a time that grows with its length; empty if it has no meaning.

    Names inside the grammar are not looked at: ask `is_metric` first.
    """
    for spelling in spellings(text):
        for word in spelling.words:
            if found := list(filter(is_metric, map(spelling.name, vocabulary().get(word, ())))):
                return found
    return []


def find_similar(text: str, is_metric: IsMetric) -> list[str]:
    """Up to three metrics with a similar spelling and this one's cutoff, in quotes; short ones with what they are."""
    found: dict[str, tuple[bool, float]] = {}
    for spelling in spellings(text):
        for word, (known, metrics) in itertools.product(spelling.words, vocabulary().items()):
            if is_similar(word, known):
                rank = sorted(word) != sorted(known), -difflib.SequenceMatcher(None, word, known).ratio()
                for metric in metrics:
                    names = spelling.name(metric), spelling._replace(params="").name(metric)
                    about = re.split("[:,(]", cards()[metric.split("(")[0].lower()].summary)[0].strip()
                    is_short = rank[0] and len(known) <= MAX_SHORT_NAME_LETTERS
                    for name in list(filter(is_metric, names))[:1]:
                        shown = f"{name!r} ({about})" if is_short else repr(name)
                        found[shown] = min(rank, found.get(shown, rank))
    swapped = [name for name, rank in found.items() if not rank[0]]  # letters in another order, nearly always
    return swapped or sorted(found, key=lambda name: found[name])[:3]


def digits(word: str) -> str:
    return "".join(filter(str.isdigit, word))


def is_similar(word: str, known: str) -> bool:
    """Whether a word is a known one with a mistake, and not its opposite."""
    least = min(len(word), len(known))
    if (
        word.startswith(OPPOSITE_PREFIXES) != known.startswith(OPPOSITE_PREFIXES)
        or least < MIN_NAME_LETTERS
        or digits(word) != digits(known)
    ):
        return False
    start = next((i for i, (a, b) in enumerate(zip(word, known, strict=False)) if a != b), least)
    one, other = word[start:], known[start:]
    while one and other and one[-1] == other[-1]:
        one, other = one[:-1], other[:-1]
    if max(len(one), len(other)) <= 1 or one == other[::-1]:
        return True
    alike = difflib.SequenceMatcher(None, word, known)
    return least >= MIN_LONG_NAME_LETTERS and alike.quick_ratio() >= MIN_SIMILARITY and alike.ratio() >= MIN_SIMILARITY


def guess_error(text: str, error: UnknownMetricError, is_metric: IsMetric) -> UnknownMetricError:
    """The error for a name with a wrong part, with what the name may mean."""
    found = [] if "@-" in text else find_meanings(text, is_metric)
    return UnknownMetricError(f"{error}; did you mean {' or '.join(map(repr, found))}?") if found else error


def unknown_error(text: str, is_metric: IsMetric) -> UnknownMetricError:
    """The error for a metric that does not exist, with the nearest ones that do."""
    base = re.split(r"[@(.]|-l[0-9]*$", text[:MAX_NAME_LETTERS])[0].lower()
    plain = re.sub(r"_[0-9]+$", "", base.replace("-", "_"))
    if plain in METRICS:
        return UnknownMetricError(f"metric {quote(text)} is not supported; {METRICS[plain]}")
    rest = text[len(base) :]
    meanings = [
        f"{card.name + rest!r} to {dialect}"
        for card in CARDS
        for dialect, name in card.only_in
        if name.lower() == base and is_metric(card.name + rest)
    ]
    if meanings:
        return UnknownMetricError(f"metric {quote(text)} means {', '.join(meanings)}; ask for one of these")
    found = [*map(repr, find_meanings(text, is_metric))] or ([] if base in cards() else find_similar(text, is_metric))
    if found:
        return UnknownMetricError(f"unknown metric {quote(text)}; did you mean {' or '.join(found)}?")
    if base in cards():
        return UnknownMetricError(f"metric {quote(text)} is malformed; expected name(param=value, ...)@k-lN")
    for spelling in spellings(text)[1:]:
        for name in (name for word in spelling.words for name in vocabulary().get(word, ())):
            return UnknownMetricError(f"metric {quote(text)}: {name} takes no cutoff {quote(spelling.number)}")
    return UnknownMetricError(f"unknown metric {quote(text)}; fastir.metrics() lists all {len(CARDS)}")
