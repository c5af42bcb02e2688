"""The conformance suite: its files are what the program makes, they keep their schema, and fastir passes every case."""

import json
import pathlib
import re
import runpy
import tomllib
import zipfile
from collections import Counter

import contestants
import make_cases
import pytest
import release
import table

HERE = pathlib.Path(__file__).parent
RUNNER = runpy.run_path(str(HERE / "runners" / "python" / "run.py"))
CASES = list(RUNNER["cases"](HERE))
PAGE = HERE.parents[1] / "docs" / "conformance.md"
MAKE = "run python tests/conformance/make_cases.py"
SCHEMA = json.loads((HERE / "schema.json").read_text("utf-8"))


@pytest.mark.parametrize("contestant", [contestants.by_convention, contestants.by_options])
def test_fastir_passes_every_case(contestant):
    outcomes = list(RUNNER["run"](contestant, CASES))
    assert [(case["id"], wrong) for case, wrong in outcomes if wrong] == []
    level_0 = [case for case in CASES if case["options"].get("rel_level") == 0]  # an option of conventions alone
    assert len(outcomes) == len(CASES) - (contestant is contestants.by_options) * len(level_0)
    assert len(level_0) < 0.03 * len(CASES)


def test_the_cases_are_what_the_program_makes():
    """But for the last bits of logarithms, which differ between systems."""
    kept = {case["id"]: case for case in CASES}
    made = {case["id"]: case for case, _ in make_cases.all_cases()}
    assert made.keys() == kept.keys(), MAKE
    for name, case in made.items():
        assert {**case, "expected": kept[name]["expected"]} == kept[name], MAKE
        assert case["expected"].keys() == kept[name]["expected"].keys(), MAKE
        for query, value in case["expected"].items():
            kept_value = float(kept[name]["expected"][query]["decimal"])
            assert RUNNER["is_close"](float(value["decimal"]), kept_value, "1e-12"), MAKE


def test_the_files_and_the_schema_say_the_same():
    files = make_cases.files(CASES)
    kept = {path.name: path for ending in ("jsonl", "json") for path in HERE.glob(f"*.{ending}")}
    assert files.keys() == kept.keys()
    for name, text in files.items():
        assert kept[name].read_text("utf-8") == text, f"{name}: {MAKE}"


def test_the_line_form_of_a_case():
    case = {
        "id": "x/map/1", "tolerance": "last bit", "options": {"rel_level": 2, "parents": {"a#1": "a"}},
        "qrels": {"q": [["a", 2], ["b", 0]], "r": [["c", 1]]}, "run": {"q": [["a#1", 0.5]], "r": ["c", "d"]},
        "expected": {"all": {"decimal": "1.0", "hex": "0x1p+0"}},
    }  # fmt: skip
    assert release.lines_of_case(case) == (
        "case\tx/map/1\tlast bit\noptions\trel_level\t2\nparents\ta#1\ta\njudged\tq\ta\t2\tb\t0\njudged\tr\tc\t1\n"
        "scores\tq\ta#1\t0.5\nlist\tr\tc\td\nexpect\tall\t1.0\t0x1p+0\n\n"
    )


def test_the_program_asks_no_kernel_of_fastir():
    for name in ("make_cases", "by_definition", "twins", "schema_of", "beyond_cases"):
        used = re.findall(r"fastir\.(?:\w+\.)*\w+", (HERE / f"{name}.py").read_text("utf-8"))
        assert set(used) <= {"fastir.metrics", "fastir.request.options", "fastir.request.plan",
                             "fastir.request.conventions"}, name  # fmt: skip


def test_there_are_enough_cases_of_enough_tools():
    assert len(CASES) >= 1500 and len({case["id"] for case in CASES}) == len(CASES)
    tools = Counter(case["convention"] for case in CASES if case["source"].startswith("answered by "))
    assert len(tools) >= 12
    assert sum(path.stat().st_size for path in HERE.rglob("*") if path.is_file()) < 3_500_000


@pytest.mark.skipif(not PAGE.is_file(), reason="needs the pages of docs/")
def test_the_page_of_the_site_is_what_the_program_writes():
    assert PAGE.read_text("utf-8") == table.page(), "run python tests/conformance/table.py"


def test_a_release_brings_the_files(tmp_path):
    """What fastir alone needs stays here; the workflow runs this program."""
    path = release.write(tmp_path)
    assert re.fullmatch(r"ir-conformance-\d+\.\d+\.\d+\.zip", path.name)
    names = {name.removeprefix("ir-conformance/") for name in zipfile.ZipFile(path).namelist()}
    assert names >= {"LICENSE", "README.md", "VERSION", "schema.json", "fastir.jsonl", "fastir.txt"}
    assert names >= {"beyond/beyond.jsonl", "beyond/schema.json", "runners/python/beyond.py"}
    assert {name.removesuffix(".jsonl") for name in names if name.endswith(".jsonl") and "/" not in name} == {
        name.removesuffix(".txt") for name in names if name.endswith(".txt")
    }
    assert "runners/go/run.go" in names
    assert not [name for name in names if name.endswith(".py") and not name.startswith("runners/")]
    content = path.read_bytes()
    assert release.write(tmp_path).read_bytes() == content
    workflow = HERE.parents[1] / ".github" / "workflows" / "wheels.yml"
    if workflow.is_file():
        assert "run: python tests/conformance/release.py\n" in workflow.read_text("utf-8")


def test_the_files_are_not_in_the_wheel():
    settings = tomllib.loads((HERE.parents[1] / "pyproject.toml").read_text("utf-8"))["tool"]["setuptools"]
    assert settings["packages"]["find"]["include"] == ["fastir*"] and settings["include-package-data"] is False


def test_cases_are_about_what_implementations_get_wrong():
    about = {tag for case in CASES for tag in case["about"]}
    assert about >= {
        "ties", "repeats", "unjudged documents", "empty queries", "empty judgments", "k beyond the list",
        "ideal over all", "ideal over retrieved", "real labels", "negative labels", "duplicates", "chunk to document",
        "int ids", "str ids", "order of sums",
    }  # fmt: skip
    plain = [case for case in CASES if case["id"].startswith(("trec_eval_10/", "trec_eval_9/"))]
    of_trec = {tag for case in plain for tag in case["about"]}
    assert of_trec >= {"ties", "missing queries", "negative labels", "short lists", "cutoff", "k beyond the list"}


def test_every_case_fits_the_schema():
    for case in CASES:
        assert faults(case, SCHEMA) == [], case["id"]
        assert set(case["qrels"]).isdisjoint({"all"})
        assert case["expected"].keys() <= {*case["qrels"], "all"}


def faults(value, schema, where="case"):
    """What in a value does not fit a schema, of the words of JSON Schema that ours uses."""
    found = []
    kinds = schema.get("type", [])
    kinds = [kinds] if isinstance(kinds, str) else kinds
    if kinds and not any(is_of(value, kind) for kind in kinds):
        found.append(f"{where}: {value!r} is not of type {kinds}")
    if "enum" in schema and value not in schema["enum"]:
        found.append(f"{where}: {value!r} is not one of {schema['enum']}")
    if "pattern" in schema and not re.search(schema["pattern"], value):
        found.append(f"{where}: {value!r} does not match {schema['pattern']}")
    if isinstance(value, dict):
        found += [f"{where}: {key} is missing" for key in schema.get("required", []) if key not in value]
        for key, inner in value.items():
            rule = schema.get("properties", {}).get(key, schema.get("additionalProperties", True))
            if rule is False:
                found.append(f"{where}: {key} is not known")
            elif isinstance(rule, dict):
                found += faults(inner, rule, f"{where}.{key}")
    if isinstance(value, list) and "items" in schema:
        found += [fault for item in value for fault in faults(item, schema["items"], where)]
    return found


def is_of(value, kind):
    if isinstance(value, bool):
        return kind == "boolean"
    types = {"string": str, "integer": int, "number": (int, float), "object": dict, "array": list, "boolean": bool}
    return isinstance(value, types[kind])


def test_the_schema_is_not_blind():
    case = CASES[0]
    for broken in (
        {key: value for key, value in case.items() if key != "words"}, {**case, "more": 1},
        {**case, "tolerance": "about"}, {**case, "options": {**case["options"], "unheard": 1}},
        {**case, "expected": {"all": {"decimal": "1.0", "hex": "1"}}},
    ):  # fmt: skip
        assert len(faults(broken, SCHEMA)) == 1


def test_every_decimal_is_the_double_of_its_hexadecimal_form():
    for case in CASES:
        for value in case["expected"].values():
            assert repr(float(value["decimal"])) == repr(float.fromhex(value["hex"])), case["id"]


def test_means_are_those_of_the_queries():
    """Of every case: also where the tool has its own sum."""
    for case in CASES:
        values = {query: float(value["decimal"]) for query, value in case["expected"].items()}
        mean = values.pop("all")
        exact = make_cases.twins.mean(case["options"]["name"], case["options"], values.values())
        assert RUNNER["is_close"](mean, exact, "1e-12"), case["id"]


def test_arithmetic_by_hand_is_shown():
    shown = [case["source"] for case in CASES if case["source"].startswith("by hand: ")]
    assert len(shown) >= 40 and all(re.search(r"\d", source) for source in shown)


def test_the_licence_is_cc0_and_the_version_a_number():
    assert "CC0 1.0 Universal" in (HERE / "LICENSE").read_text("utf-8")
    assert re.fullmatch(r"\d+\.\d+\.\d+\n", (HERE / "VERSION").read_text("utf-8"))
