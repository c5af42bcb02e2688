"""Evaluations in parts, on one thread, against the evaluation of the whole: rows in any order, and whole queries."""

import pytest
from timing import METRICS, Goal
from workloads import passage_columns

import fastir
from fastir.evaluation.partial import row_groups

PARTS = 4
ROUNDS = 5
WHOLE, TWO_PASSES, GROUPED = "fastir, the whole run", "fastir, two passes", "fastir, whole queries"
HELD = "fastir, rows held"


def merged(evaluator, parts, **options):
    total = evaluator.partial(**options)
    for part in parts:
        total.merge(evaluator.partial(part, **options))
    return total


def cut(columns, size):
    starts = range(0, len(columns["doc_id"]), size)
    return [{name: column[start : start + size] for name, column in columns.items()} for start in starts]


@pytest.mark.parametrize("texts", [False, True], ids=["integers", "text"])
@pytest.mark.parametrize("shuffle", [True, False], ids=["in any order", "grouped"])
def test_parts(race, quick, shuffle, texts):
    queries = 96 if quick else 1600
    qrels, run = passage_columns(queries, 1000, shuffle)
    if texts:
        pyarrow = pytest.importorskip("pyarrow")
        qrels, run = (
            {name: column.astype(str) if name.endswith("id") else column for name, column in side.items()}
            for side in (qrels, run)
        )
        run = {name: pyarrow.array(column) for name, column in run.items()}
    whole = pyarrow.table(run) if texts else run
    evaluator = fastir.Evaluator(qrels, METRICS, n_threads=1, validate="judged")
    parts = cut(run, 1000 * queries // PARTS)
    parts = [pyarrow.table(part) for part in parts] if texts else parts

    def in_two_passes():
        return dict(merged(evaluator, parts, after=merged(evaluator, parts)).result())

    calls = {TWO_PASSES: in_two_passes, WHOLE: lambda: dict(evaluator.evaluate(whole))}
    goals = [Goal(TWO_PASSES, WHOLE, 1 / 2.6 if shuffle else None)]
    if not shuffle:
        calls[GROUPED] = lambda: dict(merged(evaluator, parts, strategy="grouped").result())
        goals.append(Goal(GROUPED, WHOLE, 1 / 1.3))
    kind = "text" if texts else "integers"
    race(f"parts, {queries} x 1000, {kind}, {'in any order' if shuffle else 'grouped'}", calls, goals, ROUNDS)


def test_parquet_in_any_order(race, quick, tmp_path, monkeypatch):
    pyarrow = pytest.importorskip("pyarrow")
    parquet = pytest.importorskip("pyarrow.parquet")
    queries = 96 if quick else 3200
    qrels, run = passage_columns(queries, 1000, True)
    for number, part in enumerate(cut(run, 1000 * queries // PARTS)):
        parquet.write_table(pyarrow.table(part), tmp_path / f"{number}.parquet", row_group_size=1 << 18)
    evaluator = fastir.Evaluator(qrels, METRICS, n_threads=1, validate="judged")

    def evaluated(held):
        monkeypatch.setattr(row_groups, "MAX_ROWS_IN_MEMORY", held)
        return dict(evaluator.evaluate(tmp_path))

    calls = {TWO_PASSES: lambda: evaluated(0), HELD: lambda: evaluated(1 << 60)}
    race(f"Parquet, {queries} x 1000 in any order", calls, [Goal(TWO_PASSES, HELD)], ROUNDS)
