"""Run a tool and record its values: python tests/conventions/make.py TOOL, in an environment that has the tool."""

import json
import math
import pathlib
import runpy
import sys

HERE = pathlib.Path(__file__).parent
sys.path.insert(0, str(HERE))


def record(tool):
    """What the test reads: the inputs, and a value for each metric and query, NaN as null."""
    maker = runpy.run_path(str(HERE / "makers" / f"{tool}.py"))
    queries = maker["QUERIES"]
    values = {metric: list(map(number, column)) for metric, column in maker["values"](queries).items()}
    for metric, column in values.items():
        assert len(column) == len(queries), f"{metric}: {len(column)} values for {len(queries)} queries"
    means = {"means": maker["means"](queries)} if "means" in maker else {}
    return {
        "tool": maker["VERSION"](), "convention": maker.get("CONVENTION", tool), "modules": maker.get("MODULES", []),
        "copies": maker.get("COPIES", []), "digits": maker.get("DIGITS", 12), "options": maker.get("OPTIONS", {}),
        "queries": queries, "values": values, **means,
    }  # fmt: skip


def number(value):
    return None if value is None or math.isnan(value) else float(value)


if __name__ == "__main__":
    for tool in sys.argv[1:]:
        found = record(tool)
        lines = ",\n".join(f" {json.dumps(key)}: {json.dumps(found[key])}" for key in found)
        (HERE / "recorded" / f"{tool}.json").write_text(f"{{\n{lines}\n}}\n")
        print(tool, found["tool"], len(found["queries"]), "queries", ", ".join(found["values"]))
