"""Every option of `evaluate` gives its numbers in parts, by every strategy, or is refused by name."""
# Also of: partial.

import re

import part_options
import pytest
import spark_rows

import fastir
from fastir.engine.columns.rows import EXCLUDED, LOW
from fastir.evaluation.keywords import EvaluateOptions

pytest.importorskip("pyarrow")
pytestmark = pytest.mark.filterwarnings("ignore::fastir.FastirWarning")

STRATEGIES = ("grouped", "lists", "two-pass")
REFUSED = {  # by option, or by option and strategy; the others give the numbers of one machine
    "unanswerable": "unanswerable: parts are not put together with it",
    "ties_report": "ties_report: parts are not put together with their ties",
    **dict.fromkeys(("forbidden", "forbidden_level"), "parts are not put together for metrics of forbidden documents"),
    **dict.fromkeys(("doc_groups", "target"), "parts are not put together for metrics of grouped documents"),
    **dict.fromkeys(
        ("doc_costs", "over_budget", "at_least_one"), "parts are not put together for metrics of costed documents"
    ),
    ("min_score", "two-pass"): "two passes cannot leave rows out (min_score)",
    ("duplicates", "two-pass"): "two passes cannot remove duplicates (duplicates='max')",
    ("parents", "two-pass"): "two passes cannot put the parts of a document together (parents)",
    ("aggregate", "two-pass"): "two passes cannot put the parts of a document together (parents)",
}


def evaluate_in_parts(evaluator, strategy):
    """All rows in three parts."""
    queries = sorted({row[0] for row in part_options.ROWS})
    if strategy == "two-pass":
        parts = [spark_rows.table(part_options.ROWS[place::3]) for place in range(3)]
    else:
        make = spark_rows.lists if strategy == "lists" else spark_rows.table
        by_part = [[row for row in part_options.ROWS if queries.index(row[0]) % 3 == place] for place in range(3)]
        parts = [make(rows) for rows in by_part]
    if strategy == "lists":  # each has the row of the empty ranking; one is enough
        parts[1:] = [part.filter([query != "q0" for query in part["query_id"].to_pylist()]) for part in parts[1:]]
    total = evaluator.partial(strategy=strategy)
    for part in parts:
        total.add(part)
    if strategy == "two-pass":
        total = evaluator.partial(after=total)
        for part in parts:
            total.add(part)
    return total.result()


def test_every_option_has_a_row():
    assert set(part_options.VALUES) == set(EvaluateOptions.__annotations__)


@pytest.mark.parametrize("strategy", STRATEGIES)
@pytest.mark.parametrize("name", part_options.VALUES)
def test_an_option_gives_its_numbers_in_parts_or_is_refused_by_name(name, strategy):
    qrels, metrics, options = part_options.request(name)
    if strategy == "two-pass":
        options = {"validate": "judged", **options}
    if strategy == "lists":  # their columns are others
        options = {key: value for key, value in options.items() if key not in ("columns", "run_columns")}
    message = REFUSED.get(name, REFUSED.get((name, strategy)))
    make = spark_rows.lists if strategy == "lists" else spark_rows.table
    expected = fastir.evaluate(qrels, make(part_options.ROWS), metrics, **options)
    if message is None:
        found = evaluate_in_parts(fastir.Evaluator(qrels, metrics, **options), strategy)
        assert found == expected
        for kind in (EXCLUDED, LOW):
            assert found.report.repairs.get(kind) == expected.report.repairs.get(kind)
        return
    with pytest.raises((ValueError, TypeError, fastir.FastirError), match=re.escape(message)):
        evaluate_in_parts(fastir.Evaluator(qrels, metrics, **options), strategy)
