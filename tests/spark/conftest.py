"""One Spark session for the tests of this folder: two cores, small, and with eight attempts for each task."""

import os
import shutil
import sys

import pytest


@pytest.fixture(scope="module")
def given():
    """Qrels, the rows of a run and its table."""
    from spark_rows import data, table

    qrels, rows = data()
    return qrels, rows, table(rows)


@pytest.fixture(scope="session")
def spark():
    sql = pytest.importorskip("pyspark.sql")
    if shutil.which("java") is None:
        pytest.skip("no Java: default-jre-headless on Debian")
    os.environ["PYSPARK_PYTHON"] = sys.executable  # workers import fastir as this process does
    session = (
        sql.SparkSession.builder.master("local[2,8]")
        .config("spark.ui.enabled", "false")
        .config("spark.sql.shuffle.partitions", "3")
        .config("spark.driver.memory", "1g")
        .config("spark.driver.bindAddress", "127.0.0.1")
        .config("spark.driver.host", "127.0.0.1")
        .config("spark.log.level", "ERROR")
        .getOrCreate()
    )
    yield session
    session.stop()
