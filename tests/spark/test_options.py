"""Every option of `evaluate` gives its numbers on Spark, or is refused by name; a new one needs a row of values."""
# Also of: evaluation, tasks.

import re

import part_options
import pytest
import spark_rows

import fastir
from fastir.evaluation.keywords import EvaluateOptions

pytest.importorskip("pyarrow")
pytest.importorskip("pyspark")

from fastir.spark import evaluate
from fastir.spark.evaluation import OF_DOCUMENTS

pytestmark = pytest.mark.filterwarnings("ignore::fastir.FastirWarning")

REFUSED = {
    "average": "Spark's workers sum no denominators",
    "ties_report": "spark has no option 'ties_report'",
    **{name: f"spark has no option '{name}'" for name in OF_DOCUMENTS},
    **dict.fromkeys(("over_budget", "at_least_one"), "spark has no option 'doc_costs'"),
    "target": "spark has no option 'doc_groups' or 'target'",
    "doc_groups": "spark has no option 'target' or 'doc_groups'",
}
TWO_PASS = ("min_score", "rel_level", "max_depth", "judged_only", "empty", "weights", "doc_weights", "set_ranks")


@pytest.fixture(scope="module")
def frame(spark):
    return spark.createDataFrame(spark_rows.table(part_options.ROWS)).repartition(3).cache()


def test_every_option_has_a_row():
    assert set(part_options.VALUES) == set(EvaluateOptions.__annotations__)


@pytest.mark.parametrize("name", part_options.VALUES)
def test_an_option_gives_its_numbers_on_spark_or_is_refused_by_name(frame, name):
    qrels, metrics, options = part_options.request(name)
    expected = fastir.evaluate(qrels, spark_rows.table(part_options.ROWS), metrics, **options)
    if name not in REFUSED:
        assert evaluate(qrels, frame, metrics, strategy="shuffle", **options).results == expected
        return
    with pytest.raises((TypeError, ValueError, fastir.FastirError), match=re.escape(REFUSED[name])):
        evaluate(qrels, frame, metrics, **options)


@pytest.mark.parametrize("name", TWO_PASS)
def test_an_option_gives_its_numbers_where_judged_documents_alone_are_checked(frame, name):
    """In two passes, and by the shuffle where "auto" finds that two passes cannot."""
    qrels, metrics, options = part_options.request(name)
    expected = fastir.evaluate(qrels, spark_rows.table(part_options.ROWS), metrics, validate="judged", **options)
    assert evaluate(qrels, frame, metrics, validate="judged", **options).results == expected
    if name == "min_score":
        with pytest.raises(ValueError, match=r"two passes cannot leave rows out \(min_score\)"):
            evaluate(qrels, frame, metrics, strategy="two-pass", validate="judged", **options)


@pytest.mark.parametrize("strategy", ["shuffle", "grouped", "lists"])
def test_rows_below_min_score_are_left_out_of_files(spark, tmp_path, strategy):
    qrels, metrics, options = part_options.request("min_score")
    run = spark_rows.table(part_options.ROWS)
    rows = spark_rows.lists(part_options.ROWS).slice(1) if strategy == "lists" else run
    spark.createDataFrame(rows).repartition(3, "query_id").write.parquet(str(tmp_path / "run"))
    expected = fastir.evaluate(qrels, run, metrics, **options)
    assert expected != fastir.evaluate(qrels, run, metrics, **{**options, "min_score": None})
    assert evaluate(qrels, tmp_path / "run", metrics, strategy=strategy, **options).results == expected
    judged = {**options, "validate": "judged"}
    if strategy == "shuffle":
        got = evaluate(qrels, tmp_path / "run", metrics, **judged)
        assert got.results == fastir.evaluate(qrels, run, metrics, **judged)
        with pytest.raises(ValueError, match=r"two passes cannot leave rows out \(min_score\)"):
            evaluate(qrels, tmp_path / "run", metrics, strategy="two-pass", **judged)
