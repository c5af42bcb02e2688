"""The suite as a release brings it: python tests/conformance/release.py [FOLDER] writes ir-conformance-VERSION.zip.

Beside the cases of each convention, NAME.jsonl, it has NAME.txt: the same cases for languages without a parser of JSON.
It needs the standard library alone.
"""

import itertools
import json
import pathlib
import sys
import zipfile

HERE = pathlib.Path(__file__).parent
VERSION = (HERE / "VERSION").read_text("utf-8").strip()
TIME = (1980, 1, 1, 0, 0, 0)  # of every file, so that two runs write the same bytes


def line_form(name):
    """The text of NAME.txt, from NAME.jsonl."""
    cases = map(json.loads, (HERE / f"{name}.jsonl").read_text("utf-8").splitlines())
    return f"# {name}, version {VERSION}, CC0 1.0\n" + "".join(map(lines_of_case, cases))


def lines_of_case(case):
    """A case in words and tabs, with an empty line at the end."""
    options = {key: value for key, value in case["options"].items() if key != "parents"}
    rows = [("case", case["id"], case["tolerance"]), ("options", *flat(options))]
    rows += [("parents", *flat(case["options"]["parents"]))] if "parents" in case["options"] else []
    rows += [("judged", query, *(item for pair in judged for item in pair)) for query, judged in case["qrels"].items()]
    for query, entries in case["run"].items():
        scored = bool(entries) and isinstance(entries[0], list)
        rows.append(("scores" if scored else "list", query, *(itertools.chain(*entries) if scored else entries)))
    rows += [("expect", query, value["decimal"], value["hex"]) for query, value in case["expected"].items()]
    return "\n".join("\t".join(map(word, row)) for row in rows) + "\n\n"


def flat(mapping):
    return [item for pair in mapping.items() for item in pair]


def word(item):
    return item if isinstance(item, str) else json.dumps(item)


def line_forms():
    """{file name: text} of the line form of every convention."""
    return {f"{path.stem}.txt": line_form(path.stem) for path in sorted(HERE.glob("*.jsonl"))}


def write(folder):
    """Write the archive into a folder; its path."""
    path = pathlib.Path(folder) / f"ir-conformance-{VERSION}.zip"
    kept = [HERE / name for name in ("LICENSE", "README.md", "VERSION", "schema.json")]
    kept += [
        *HERE.glob("*.jsonl"),
        *HERE.glob("beyond/*"),
        *(path for path in HERE.glob("runners/*/*") if path.is_file()),
    ]
    texts = {path.relative_to(HERE).as_posix(): path.read_text("utf-8") for path in kept} | line_forms()
    with zipfile.ZipFile(path, "w", zipfile.ZIP_DEFLATED) as archive:
        for name, text in sorted(texts.items()):
            archive.writestr(zipfile.ZipInfo(f"ir-conformance/{name}", TIME), text, zipfile.ZIP_DEFLATED)
    return path


if __name__ == "__main__":
    print(write(*(sys.argv[1:] or ["."])))
