"""RankingEvaluator: a metric of fastir where pyspark.ml chooses a model, as in CrossValidator."""

from __future__ import annotations

import pickle
from typing import Any

from pyspark import keyword_only
from pyspark.ml.evaluation import Evaluator
from pyspark.ml.param import Param, Params, TypeConverters
from pyspark.ml.param.shared import HasLabelCol, HasPredictionCol
from pyspark.ml.util import DefaultParamsReadable, DefaultParamsWritable

from fastir.evaluation.accumulator import Accumulator
from fastir.request.directions import higher_is_better
from fastir.spark import frames, tasks


def to_dict(value: Any) -> dict[str, Any]:
    """The type of the Param `options`."""
    if not isinstance(value, dict):
        raise TypeError(f"options must be a dict, got {type(value).__name__}")
    return value


class RankingEvaluator(Evaluator, HasLabelCol, HasPredictionCol, DefaultParamsReadable, DefaultParamsWritable):
    """A ranking metric for rows that are documents with a label and a prediction, by which they are ranked.

    Parameters
    ----------
    metric : str
        Such as ``"ndcg@10"``; `fastir.metrics` lists them.
    queryCol, labelCol, predictionCol : str
        The columns of the query, the label and the score of each row.
    options : dict
        Options of `fastir.evaluate_scores`, such as ``{"rel_level": 2}``. Only values that JSON can hold can be saved.

    Notes
    -----
    All parameters are Params of pyspark.ml: a grid can search over them, and ``save`` and ``load`` keep them.
    `evaluate` gives the mean of `fastir.evaluate_scores` over all rows, to the last bit, for any partitions. Spark does
    not keep the order of rows: where equal predictions of different labels would leave a value to it, ``ties`` among
    the options must be "pessimistic", "optimistic" or "average".
    CrossValidator splits rows, not queries, unless it is given a `foldCol`; derive that column from the queries.
    TrainValidationSplit has no such option.

    Examples
    --------
    ``CrossValidator(estimator=model, estimatorParamMaps=grid, evaluator=RankingEvaluator(metric="ndcg@10"))``
    """

    metric: Param[str] = Param(Params._dummy(), "metric", "a metric of fastir", TypeConverters.toString)
    queryCol: Param[str] = Param(Params._dummy(), "queryCol", "the column of the query", TypeConverters.toString)
    options: Param[dict[str, Any]] = Param(Params._dummy(), "options", "options of fastir.evaluate_scores", to_dict)

    _input_kwargs: dict[str, Any]

    @keyword_only
    def __init__(
        self,
        *,
        metric: str = "ndcg@10",
        queryCol: str = "query_id",
        labelCol: str = "label",
        predictionCol: str = "prediction",
        options: dict[str, Any] | None = None,
    ) -> None:
        super().__init__()
        self._setDefault(metric="ndcg@10", queryCol="query_id", options={})
        self._set(**self._input_kwargs)

    def isLargerBetter(self) -> bool:
        """Whether a larger value is a better one, as the metric's card says."""
        return higher_is_better(self.getOrDefault(self.metric)) is not False

    def _evaluate(self, dataset: Any) -> float:
        """The metric's mean over all queries.

        Raises
        ------
        UnknownMetricError, TypeError, ValueError, OverflowError
            As by `fastir.evaluate_scores`; or equal predictions leave a value to the order of rows.
        """
        frames.check_run(dataset)
        metric, options = self.getOrDefault(self.metric), self.getOrDefault(self.options)
        total = Accumulator(metric, **options)
        columns = {
            "query_id": self.getOrDefault(self.queryCol),
            "label": self.getLabelCol(),
            "score": self.getPredictionCol(),
        }
        read = frames.RunColumns(tuple(columns.values()))
        function = tasks.states([pickle.dumps((metric, options, columns))], tasks.totals, read.names)
        states = frames.map_partitions(dataset, read, read.keys, function)
        for answer in frames.collect_answers(states):
            total.merge(answer.state)
        return total.result()[metric]
