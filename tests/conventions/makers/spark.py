"""Spark's RankingMetrics, one query at a time, as it gives means alone; labels come best first, as its ideal needs."""

from rankings import queries

TOOL = "pyspark"
MODULES = ["pyspark"]
CUTOFFS = (3, 8)
QUERIES = [
    {**query, "relevant": dict(sorted(query["relevant"].items(), key=lambda pair: -pair[1]))}
    for query in queries(3, 16, grades=(1, 2, 3))
]
COPIES = ["map", *(f"{name}@{k}" for name in ("precision", "recall", "map", "ndcg") for k in CUTOFFS)]


def values(queries):
    from pyspark.sql import SparkSession

    spark = SparkSession.builder.master("local[1]").config("spark.ui.enabled", "false").getOrCreate()
    context = spark.sparkContext
    jvm, gateway = context._jvm, context._gateway

    def array(kind, items):
        made = gateway.new_array(kind, len(items))
        for place, item in enumerate(items):
            made[place] = item
        return made

    def of_one(query):
        """The class itself: what PySpark wraps gets no labels."""
        found, relevant = (array(jvm.java.lang.String, list(ids)) for ids in (query["retrieved"], query["relevant"]))
        labels = array(gateway.jvm.double, list(map(float, query["relevant"].values())))
        rows = jvm.java.util.ArrayList()
        rows.add(jvm.scala.Tuple3(found, relevant, labels))
        tag = jvm.scala.reflect.ClassTag.apply(jvm.java.lang.Class.forName("java.lang.String"))
        return jvm.org.apache.spark.mllib.evaluation.RankingMetrics(context._jsc.parallelize(rows, 1).rdd(), tag)

    found = {}
    for query in queries:
        measured = of_one(query)
        found.setdefault("map", []).append(measured.meanAveragePrecision())
        for k in CUTOFFS:
            found.setdefault(f"precision@{k}", []).append(measured.precisionAt(k))
            found.setdefault(f"recall@{k}", []).append(measured.recallAt(k))
            found.setdefault(f"map@{k}", []).append(measured.meanAveragePrecisionAt(k))
            found.setdefault(f"ndcg@{k}", []).append(measured.ndcgAt(k))
    spark.stop()
    return found
