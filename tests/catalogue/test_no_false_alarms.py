"""Files in order get no warning and no fault but those that a table knows: a doubt about columns is no false alarm.

Every file of qrels and runs of ../shared/data, of examples/ and of the golden collection is read and evaluated, and
checked: compressed runs down to rank DEPTH of each query, for a check of all lines takes long. known_alarms.tsv lists
what fastir says of them: queries that one side lacks, ranks that contradict scores. A warning or fault of any kind that
is not listed fails, and so does a line of the table that nothing says any longer.
`python tests/catalogue/test_no_false_alarms.py` prints the table anew.
"""

import csv
import gzip
import re
import sys
import tempfile
import warnings
from collections import Counter
from pathlib import Path

import pytest

sys.path.insert(0, str(Path(__file__).parents[1] / "support"))  # for the table, which no test prints

from common import ABSENT, EXAMPLES, ROOT, SHARED

import fastir

KNOWN = Path(__file__).with_name("known_alarms.tsv")
GOLDEN = ROOT / "tests" / "golden" / "collection"
DATA = SHARED / "data"
FORMATS = {  # of shared files whose names and first lines do not say it; the table of data/README.md
    "prefs.test": "prefs", "prefs.comment.test": "prefs", "qrels.123": "qrels_jg",
    "qrels.comments.123": "qrels_jg", "qrels.web.201-250.ndeval.txt.gz": "subtopic",
}  # fmt: skip
PHRASES = (  # a warning has parts; each is one of these, or its own first words
    "missing from the run", "not in the qrels and", "no judged document", "contradict", "look like",
    "duplicate",
)  # fmt: skip
SMALL = 1 << 20  # bytes of a run that is evaluated as a frame, too
DEPTH = 20


def qrels_and_runs():
    """{qrels: [run]} of all pairs, as paths."""
    pairs = {
        EXAMPLES / "qrels.txt": [EXAMPLES / "bm25.run", EXAMPLES / "dense.run"],
        GOLDEN / "qrels.txt": sorted(GOLDEN.glob("*.run")),
    }
    if SHARED.is_dir():
        with (DATA / "EXPECTED.tsv").open(encoding="utf-8", newline="") as file:
            for line in csv.DictReader(file, delimiter="\t"):
                folder = (DATA / line["expected"]).parents[1]
                qrels, run = folder / line["qrels"], folder / line["run"]
                if qrels.is_file() and run.is_file() and run not in pairs.setdefault(qrels, []):
                    pairs[qrels].append(run)
        for path in sorted(DATA.rglob("*")):  # judgments for which there is no run
            if path.parent.name != "expected" and re.match(r"(?!out|.*result|.*rank).*(qrel|prefs\.)", path.name):
                pairs.setdefault(path, [])
    return pairs


def name_of(path):
    return path.relative_to(DATA if path.is_relative_to(DATA) else ROOT).as_posix()


def heard(call):
    """What a call warns of, as phrases, or the class of what it raises."""
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        try:
            call()
        except (fastir.FastirError, ValueError) as error:
            return [type(error).__name__]
    parts = [
        part
        for one in caught
        if issubclass(one.category, fastir.FastirWarning)
        for part in re.sub(r"\([^()]*\)", "", str(one.message)).split("; ")
    ]
    return [next((phrase for phrase in PHRASES if phrase in part), part[:40]) for part in parts]


def checked_part(run, folder):
    """A run as `check` reads it: of each query the first DEPTH lines, if the file is compressed, and so a large one."""
    if run.suffix != ".gz":
        return run
    n_lines, part = Counter(), folder / run.stem
    with gzip.open(run) as lines, part.open("wb") as file:
        for line in lines:
            query = line.split(None, 1)[0]
            n_lines[query] += 1
            if n_lines[query] <= DEPTH:
                file.write(line)
    return part


def alarms_of(qrels, runs):
    """Counter of (qrels, run, what, kind): warnings of reading and evaluating, and faults of check."""
    form = FORMATS.get(qrels.name)
    name = name_of(qrels)
    said = Counter({(name, "", "warning", kind): 1 for kind in heard(lambda: fastir.Qrels.from_file(qrels, form))})
    if form is None:
        for run in runs:
            kinds = heard(lambda run=run: fastir.evaluate(qrels, run, "num_ret"))
            said.update((name, name_of(run), "warning", kind) for kind in kinds)
        with tempfile.TemporaryDirectory() as folder:
            by_file = {str(checked_part(run, Path(folder))): name_of(run) for run in runs}
            checked = fastir.check(qrels, list(by_file), names="file" if runs else "stem")
        for fault in checked.of("fault"):
            said[name, by_file.get(fault.file, ""), "fault", fault.kind] += fault.number
    return said


def alone():
    """Runs that belong to no qrels of theirs."""
    used = {run for runs in PAIRS.values() for run in runs}
    files = sorted(path for path in DATA.rglob("*") if path.is_file() and path.parent.name != "expected")
    return [path for path in files if re.search(r"\brun\b|results|_run_", path.name) and path not in used]


def known():
    """The table, as a Counter."""
    with KNOWN.open(encoding="utf-8", newline="") as file:
        return Counter(
            {(qrels, run, what, kind): int(n) for qrels, run, what, kind, n in csv.reader(file, delimiter="\t")}
        )


PAIRS = qrels_and_runs()


@pytest.mark.parametrize("qrels", PAIRS, ids=name_of)
def test_files_in_order_get_no_new_warning_and_no_new_fault(qrels):
    listed = Counter({key: n for key, n in known().items() if key[0] == name_of(qrels)})
    assert alarms_of(qrels, PAIRS[qrels]) == listed


def test_the_table_lists_no_other_file():
    if not SHARED.is_dir():
        pytest.skip(ABSENT)
    assert {key[0] for key in known()} <= set(map(name_of, PAIRS))


def test_runs_alone_get_no_warning():
    """Judged as if their first documents were relevant, in the format that takes them."""
    if not SHARED.is_dir():
        pytest.skip(ABSENT)
    read = {}
    for path in alone():
        for form in (None, "msmarco"):
            try:
                run = read[path] = fastir.Run.from_file(path, form)
            except fastir.FastirError:
                continue
            assert heard(lambda run=run: fastir.evaluate({q: list(run[q])[:1] for q in run}, run, "mrr")) == [], path
            break
    assert len(read) > 10


@pytest.mark.parametrize("qrels", [qrels for qrels in PAIRS if qrels.name not in FORMATS and PAIRS[qrels]], ids=name_of)
def test_a_frame_of_a_run_warns_as_its_file_does(qrels):
    pandas = pytest.importorskip("pandas")
    for run in PAIRS[qrels]:
        of_file = heard(lambda run=run: fastir.evaluate(qrels, run, "num_ret"))
        if run.stat().st_size > SMALL or "Error" in "".join(of_file):
            continue
        names = ["query_id", "Q0", "doc_id", "rank", "score"]
        frame = pandas.read_csv(run, sep=r"\s+", header=None, names=names, usecols=range(5), dtype=str, quoting=3)
        frame["score"], frame["rank"] = frame["score"].astype(float), pandas.to_numeric(frame["rank"], "coerce")
        assert heard(lambda frame=frame: fastir.evaluate(qrels, frame, "num_ret")) == of_file


if __name__ == "__main__":
    table = csv.writer(sys.stdout, delimiter="\t", lineterminator="\n")
    for pair in PAIRS.items():
        table.writerows([*key, n] for key, n in sorted(alarms_of(*pair).items()))
