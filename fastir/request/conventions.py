"""Whose numbers: for each tool, one record of all the choices that respected tools make differently.

A convention is data. It sets options of evaluate() and parameters of metrics. The more specific choice wins: a
parameter in a metric's name over a keyword, a keyword over the convention's choice for that metric, and this one over
its choice for all metrics. Nothing else of a tool is imitated: not how it rounds the numbers that it prints, not its
errors and limits, and not what METRICS lists as its bugs. This file is imported when a caller names a convention or
asks which one was followed.
"""

from __future__ import annotations

import dataclasses
from dataclasses import dataclass
from typing import Any


@dataclass(frozen=True, slots=True)
class Convention:
    """The choices behind a number; each field is an option of `evaluate`, and the defaults are fastir's.

    Attributes
    ----------
    name : str
    about : str
        The tool that it stands for, and where that tool differs nevertheless.
    queries, ties, score_dtype : str
        As for `evaluate`.
    empty to unfound
        Parameters of metrics, for all that have them; `explain` says what they mean.
    of : tuple of (metric, tuple of (option, value))
        What single metrics have instead; ``metric@k`` is a metric with a cutoff. A metric that is another one with
        some parameter (`Card.equals`) has what that one has: ``ndcg(gain=exp2)`` is ``ndcg_burges``.
    """

    name: str
    about: str = dataclasses.field(default="", repr=False)
    queries: str = "qrels"
    ties: str = "trec"
    score_dtype: str = "float64"
    empty: Any = "zero"
    gain: Any = "linear"
    discount: Any = "log2"
    ideal: Any = "judged"
    ap_norm: Any = "R"
    short: Any = "pad"
    rounding: Any = "v10"
    unranked: Any = "zero"
    gains: Any = "binary"
    rbp_norm: Any = "infinite"
    bpref_norm: Any = "min"
    negatives: Any = "skip"
    f: Any = "x"
    max_grade: Any = 4
    tail: Any = "unjudged"
    first: Any = "normalised"
    depth: Any = "max"
    normalize: Any = "true"
    unretrieved: Any = "last"
    recall_norm: Any = "R"
    unfound: Any = "skip"
    of: tuple[tuple[str, tuple[tuple[str, Any], ...]], ...] = ()

    @property
    def dialect(self) -> str:
        """The tool whose names of metrics are read where tools differ."""
        return "trec_eval" if self.name.startswith("trec_eval") else self.name

    def choice(self, metric: str, cut: bool, option: str, default: Any = None) -> Any:
        """Its choice of an option for a metric, which is given by its canonical name, with or without a cutoff.

        Returns `default` if it has no choice.
        """
        special = dict(self.of)
        for name in ((f"{metric}@k",) if cut else ()) + (metric,):
            for known, value in special.get(name, ()):
                if known == option:
                    return value
        return getattr(self, option, default)

    def __str__(self) -> str:
        """Its name, and the choices that differ from the convention of that name."""
        named = CONVENTIONS.get(self.name, CONVENTIONS["fastir"])
        pairs = ((field.name, getattr(self, field.name)) for field in dataclasses.fields(self)[2:-1])
        return ", ".join([self.name, *(f"{name}={value}" for name, value in pairs if value != getattr(named, name))])


def several(metrics: str, **choices: Any) -> tuple[tuple[str, tuple[tuple[str, Any], ...]], ...]:
    """The same choices for several metrics."""
    return tuple((metric, tuple(choices.items())) for metric in metrics.split())


TREC: dict[str, Any] = {"queries": "intersection", "unranked": "nan", "of": several("rbp", p=0.9, gains="scaled")}
LISTS: dict[str, Any] = {"ideal": "retrieved", "ap_norm": "min_kR", "ties": "input"}
DCG = "ndcg ndcg_burges dcg dcg_burges"
CWL = "bpm insq inst nerr8 nerr9 nerr10 nerr11 pair_accuracy rbp sdcg"

CONVENTIONS = {
    convention.name: convention
    for convention in (
        Convention("fastir", "the default"),
        Convention("trec_eval-10", "trec_eval 10; its -c is queries=qrels", **TREC),
        Convention("trec_eval-9", "trec_eval 9 and pytrec_eval", score_dtype="float32", rounding="v9", **TREC),
        Convention(
            "ranx",
            "ranx; equal scores come in no certain order there",
            queries="strict",
            ties="input",
            gains="raw",
            rounding="v9",
            bpref_norm="min_nan",
            negatives="nonrel",
        ),
        Convention(
            "ir_measures",
            "ir_measures with its providers; it leaves queries that the run lacks out of NumQ and NumRel",
            score_dtype="float32",
            rounding="v9",
            first="raw",
            rbp_norm="cwl",
            of=several("mrr@k judged", ties="doc_id_asc", score_dtype="float64")
            + several("compat", ties="doc_id_asc", score_dtype="float64", unretrieved="zero")
            + several(CWL, ties="input", score_dtype="float64")
            + several(
                "alpha_dcg alpha_ndcg err_ia nerr_ia nrbp map_ia p_ia st_recall",
                ties="doc_id_asc",
                score_dtype="float64",
            )
            + several("nnrbp", ties="doc_id_asc", score_dtype="float64", empty="nan")
            + several("err nerr ndcg_burges", score_dtype="float64"),
        ),
        Convention(
            "sklearn",
            "ndcg_score and dcg_score of scikit-learn",
            ideal="retrieved",
            ties="input",
            f="beta",
            of=several(DCG, ties="average"),
        ),
        Convention(
            "lightgbm",
            "LightGBM with its default label_gain; its ndcg takes the weight of a query without "
            "relevant documents for 1",
            gain="exp2",
            empty="one",
            **LISTS,
        ),
        Convention(
            "xgboost",
            "XGBoost with ndcg_exp_gain; its metrics without a cutoff stop at 32 documents (or "
            "lambdarank_num_pair_per_sample), and its ndcg takes the weight of a query without relevant documents "
            "for 1",
            gain="exp2",
            empty="one",
            short="clip",
            score_dtype="float32",
            of=several("precision", empty="zero"),
            **LISTS,
        ),
        Convention(
            "catboost",
            "CatBoost with NDCG:type=Base",
            ideal="retrieved",
            ap_norm="min_kR",
            ties="pessimistic",
            short="clip",
            of=several("ndcg ndcg_burges recall", empty="one"),
        ),
        Convention(
            "torchmetrics",
            "torchmetrics.retrieval; it takes documents with scores of 0 or less for not relevant",
            ideal="retrieved",
            ap_norm="hits",
            ties="input",
            f="beta",
            of=several("ndcg ndcg_burges", ties="average"),
        ),
        Convention(
            "sentence-transformers",
            "InformationRetrievalEvaluator; labels are 0 and 1 there",
            ap_norm="min_kR",
            ties="doc_id_asc",
            empty="skip",
        ),
        Convention(
            "beir",
            "BEIR; it rounds to five decimals, and drops documents that are called like their query",
            queries="intersection",
            score_dtype="float32",
            rounding="v9",
            of=several("mrr relative_precision hit_rate hole", ties="input", score_dtype="float64", queries="qrels"),
        ),
        Convention(
            "gdeval",
            "gdeval.pl; no cutoff is 20 there, and it prints five decimals",
            queries="intersection",
            gain="exp2",
            empty="skip",
        ),
        Convention(
            "ndeval",
            "ndeval and pyndeval; they read 20 ranks",
            queries="intersection",
            ties="doc_id_asc",
            first="raw",
            of=several("nnrbp", empty="nan"),
        ),
    )
}


def checked(convention: Any) -> str | Convention:
    """The name of a convention that exists, or a record."""
    if isinstance(convention, Convention) or (isinstance(convention, str) and convention in CONVENTIONS):
        return convention
    raise ValueError(f"convention must be one of {', '.join(map(repr, CONVENTIONS))}, got {convention!r}")


def record_of(convention: str | Convention, given: dict[str, Any]) -> Convention:
    """The convention of a name, or a record itself, with the options that the caller gave.

    The caller's options also override the record's choices for single metrics.
    """
    convention = checked(convention)
    record = CONVENTIONS[convention] if isinstance(convention, str) else convention
    of = ((metric, tuple(pair for pair in pairs if pair[0] not in given)) for metric, pairs in record.of)
    return dataclasses.replace(record, of=tuple(pair for pair in of if pair[1]), **given)
