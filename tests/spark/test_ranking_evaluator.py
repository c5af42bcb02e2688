"""RankingEvaluator has the numbers of evaluate_scores, and pyspark.ml chooses models by it."""

import random

import pytest

import fastir

pa = pytest.importorskip("pyarrow")
pytest.importorskip("pyspark.ml")

from fastir.spark import RankingEvaluator  # noqa: E402


def rows(n=300):
    rng = random.Random(5)
    labels = [rng.randrange(3) for _ in range(n)]
    return pa.table({
        "query_id": [f"q{rng.randrange(20)}" for _ in range(n)],
        "label": [float(label) for label in labels],
        "x": [label + rng.random() * 3 for label in labels],
    })  # fmt: skip


@pytest.mark.parametrize("metric", ["ndcg@10", "gm_map"])
def test_the_mean_is_that_of_one_machine(spark, metric):
    given = rows()
    wanted = fastir.evaluate_scores(given["label"], given["x"], metric, qid=given["query_id"].to_pylist(), rel_level=2)
    evaluator = RankingEvaluator(metric=metric, predictionCol="x", options={"rel_level": 2})
    for frame in (spark.createDataFrame(given), spark.createDataFrame(given).repartition(5)):
        assert evaluator.evaluate(frame) == wanted[metric]


def test_errors_of_rows_and_metrics_are_those_of_fastir(spark):
    frame = spark.createDataFrame(rows())
    missing = frame.selectExpr("query_id", "label", "if(label = 2, null, x) as x")
    with pytest.raises(ValueError, match=r"^scores: NaN in row \d+ .in partition \d"):
        RankingEvaluator(predictionCol="x").evaluate(missing)
    with pytest.raises(fastir.UnknownMetricError, match="ndgc"):
        RankingEvaluator(metric="ndgc", predictionCol="x").evaluate(frame)


def test_equal_predictions_need_a_rule_that_is_not_the_order_of_rows(spark):
    given = rows()
    tied = given.set_column(2, "x", pa.array([round(x) for x in given["x"].to_pylist()], pa.float64()))
    frame = spark.createDataFrame(tied).repartition(5)
    for options in ({}, {"ties": "input"}, {"convention": "ranx"}):
        with pytest.raises(ValueError, match=r"^scores: documents of query 'q\d+' have one score and different labels"):
            RankingEvaluator(predictionCol="x", options=options).evaluate(frame)
    arrays = tied["label"].to_numpy(), tied["x"].to_numpy()
    for options in ({"ties": "pessimistic"}, {"ties": "optimistic"}, {"ties": "average"}, {"convention": "sklearn"}):
        wanted = fastir.evaluate_scores(*arrays, "ndcg@10", qid=given["query_id"].to_pylist(), **options)
        assert RankingEvaluator(predictionCol="x", options=options).evaluate(frame) == wanted["ndcg@10"]
    alike = frame.selectExpr("query_id", "cast(x > 3 AS double) AS label", "x")  # equal scores have equal labels
    assert 0 < RankingEvaluator(predictionCol="x").evaluate(alike) <= 1


def test_params_are_kept_by_copies_and_files(spark, tmp_path):
    evaluator = RankingEvaluator(metric="map", queryCol="q", options={"rel_level": 2})
    evaluator.write().overwrite().save(str(tmp_path / "evaluator"))
    loaded = RankingEvaluator.load(str(tmp_path / "evaluator"))
    for other in (loaded, evaluator.copy()):
        assert other.extractParamMap() == evaluator.extractParamMap()
        assert other.uid == evaluator.uid
    assert evaluator.copy({evaluator.metric: "mrr"}).getOrDefault("metric") == "mrr"


def test_the_card_says_what_is_better(spark):
    assert RankingEvaluator(metric="ndcg@10").isLargerBetter()
    assert not RankingEvaluator(metric="mean_rank").isLargerBetter()
    assert RankingEvaluator(metric="num_ret").isLargerBetter()  # neither is better: Spark's own default


def test_a_cross_validator_chooses_by_it(spark):
    from pyspark.ml import Pipeline
    from pyspark.ml.feature import SQLTransformer
    from pyspark.ml.tuning import CrossValidator, ParamGridBuilder

    frame = spark.createDataFrame(rows()).selectExpr("*", "cast(abs(hash(query_id)) % 2 as int) as fold")
    ranker = SQLTransformer(statement="SELECT *, x AS prediction FROM __THIS__")
    worse, better = (f"SELECT *, {sign}x AS prediction FROM __THIS__" for sign in ("-", ""))
    grid = ParamGridBuilder().addGrid(ranker.statement, [worse, better]).build()
    chosen = CrossValidator(
        estimator=Pipeline(stages=[ranker]), estimatorParamMaps=grid, evaluator=RankingEvaluator(metric="ndcg@5"),
        numFolds=2, foldCol="fold",
    ).fit(frame)  # fmt: skip
    assert chosen.bestModel.stages[0].getStatement() == better
    assert chosen.avgMetrics[1] > chosen.avgMetrics[0]
