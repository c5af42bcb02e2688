"""Spark's RankingMetrics, one query at a time, as it gives means alone; labels come best first, as its ideal needs."""

from importlib.metadata import version

from rankings import queries

MODULES = ["pyspark"]
CUTOFFS = (3, 8)
QUERIES = [
    {**query, "relevant": dict(sorted(query["relevant"].items(), key=lambda pair: -pair[1]))}
    for query in queries(3, 16, grades=(1, 2, 3))
]
COPIES = ["map", *(f"{name}@{k}" for name in ("precision", "recall", "map", "ndcg") for k in CUTOFFS)]


def VERSION():
    return f"pyspark {version('pyspark')}"


def values(queries):
    from pyspark.mllib.common import JavaModelWrapper, callMLlibFunc
    from pyspark.mllib.evaluation import RankingMetrics
    from pyspark.sql import SparkSession

    class OfOne(RankingMetrics):
        """Its constructor infers types, which empty lists do not have."""

        def __init__(self, row):
            frame = spark.createDataFrame([row], "found array<string>, relevant array<string>, labels array<double>")
            JavaModelWrapper.__init__(self, callMLlibFunc("newRankingMetrics", frame._jdf))

    spark = SparkSession.builder.master("local[1]").config("spark.ui.enabled", "false").getOrCreate()
    found = {}
    for query in queries:
        labels = query["relevant"]
        measured = OfOne((query["retrieved"], list(labels), [float(label) for label in labels.values()]))
        found.setdefault("map", []).append(measured.meanAveragePrecision)
        for k in CUTOFFS:
            found.setdefault(f"precision@{k}", []).append(measured.precisionAt(k))
            found.setdefault(f"recall@{k}", []).append(measured.recallAt(k))
            found.setdefault(f"map@{k}", []).append(measured.meanAveragePrecisionAt(k))
            found.setdefault(f"ndcg@{k}", []).append(measured.ndcgAt(k))
    spark.stop()
    return found
