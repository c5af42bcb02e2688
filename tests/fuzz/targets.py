"""What is fuzzed: functions of bytes that may only end in a value or in an error that fastir promises.

Each target takes any bytes, and raises Broken where a promise does not hold: an exception of another kind, an error
without the path of the file, a value that is not a number, or two ways in that do not agree. SEEDS are where mutation
begins, WORDS what it puts in; every input that ever broke something is a file in corpus/<target>/.
"""

import contextlib
import io
import os
import pickle
import pickletools
import random
import shutil
import sys
import tempfile
import warnings
from pathlib import Path

import numpy as np

import fastir
from fastir.cli import main
from fastir.inputs import formats, trec
from fastir.inputs.mappings import SEGMENTS, TEAMS, read_mapping

sys.path.insert(0, str(Path(__file__).resolve().parents[1] / "support"))
from every_convention import explanation_that_differs, influence_that_differs
from sealed import sealed

FOLDER = Path(tempfile.mkdtemp(prefix="fuzz-"))
REFUSALS = (fastir.FastirError, TypeError, ValueError, OverflowError)
QRELS = {"q1": {"d1": 1, "d2": 0, "d3": 2}, "q2": {"d1": 1}, "\udcff": {"d": 3}}
METRICS = ["ndcg@10", "map", "bpref", "num_ret", "rbp"]
QRELS_ONLY = [name for name in formats.FORMATS if name not in formats.RUN_FORMATS]


class Broken(AssertionError):
    """A promise that does not hold."""


def holds(condition, what):
    if not condition:
        raise Broken(what)


@contextlib.contextmanager
def refused(path=None):
    """Errors that fastir promises end the block; those of a file must name it."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", fastir.FastirWarning)
        try:
            yield
        except fastir.FormatError as error:
            holds(path is None or error.path == str(path), f"the error names {error.path!r}: {error}")
            holds(len(str(error)) < 2000, "the message is endless")
        except REFUSALS as error:
            unknown = path is not None and type(error) not in (fastir.NoOverlapError, ValueError, OverflowError)
            holds(not unknown, f"{type(error).__name__}: {error}")


def numbers(results):
    """The values as bytes; each is a finite number, or NaN where a metric is undefined."""
    holds(not np.isinf(results.values).any(), f"a value is infinite: {dict(results)}")
    return results.values.tobytes()


# ---- files -----------------------------------------------------------------------------------------------------------
LINES = [
    b"q1 Q0 d1 1 3.5 tag\nq1 Q0 d2 2 1e-3 tag\nq2 Q0 d1 1 -2 tag\n", b"q1 0 d1 1\nq1 0 d2 -1\r\n\nq2 0 d1 2\n",
    b"query-id\tcorpus-id\tscore\nq1\td1\t1\n", b"q1\td1\t1\nq1\td2\t2\n", b"\xef\xbb\xbfq1 Q0 d1 1 inf tag",
]  # fmt: skip


def text_file(name, formats):
    """A target that reads one format of text, or one that the first byte chooses, as a whole and in small blocks."""

    def target(data):
        path = FOLDER / name
        format = formats[data[0] % len(formats)] if len(formats) > 1 and data else formats[0]
        path.write_bytes(data[len(formats) > 1 :])
        for read in (fastir.Run.from_file, fastir.Qrels.from_file):
            with refused(path), contextlib.suppress(OSError):
                read(path, format=format).to_dict()
        if format not in ("trec", "json"):
            return
        values = []
        for chunk in (64, 1 << 20):
            trec.BLOCK_BYTES = chunk
            with refused(path):
                values.append(numbers(fastir.evaluate(QRELS, path, METRICS, n_threads=1)))
        with refused(path):
            own = None if format == "trec" else format  # what begins as a file of BEIR is one, where no format is given
            values.append(numbers(fastir.evaluate(QRELS, fastir.Run.from_file(path, format=own), METRICS)))
        holds(len(values) in (0, 3) and len(set(values)) <= 1, "two ways of reading a file do not agree")

    return target


def judgments(data):
    """Judgments in a format that no run has: by subtopics, preferences, samples; then what they are judged with."""
    format = QRELS_ONLY[data[0] % len(QRELS_ONLY)] if data else QRELS_ONLY[0]
    path = FOLDER / "judgments.txt"
    path.write_bytes(data[1:])
    with refused(path):
        qrels = fastir.Qrels.from_file(path, format=format)
        holds(len(qrels) > 0 and repr(qrels), "judgments without a query")
        for metrics in ("ndcg@10", "alpha_ndcg@10", "infap", "prefs_simple"):
            with refused():
                numbers(fastir.evaluate(qrels, {"q1": {"d1": 2.0, "d2": 1.0}, "1": {"a": 1.0}}, metrics))


def verdicts(data):
    """Rows of verdicts, about nuggets or about citations, in a file."""
    path = FOLDER / "verdicts.txt"
    path.write_bytes(data)
    for evaluate, metric in (
        (fastir.evaluate_nuggets, "nugget_recall"),
        (fastir.evaluate_citations, "citation_recall"),
    ):
        with refused(path):
            for results in evaluate(path, metric).values():
                numbers(results)


def pairs(data):
    """Two fields on each line: segments of queries, teams of runs, documents of chunks."""
    path = FOLDER / "pairs.txt"
    path.write_bytes(data)
    for words in (SEGMENTS, TEAMS):
        with refused(path):
            holds(all(map(all, read_mapping(words, path).items())), "an empty field")
    for aggregate in ("max", "sum"):
        with refused():
            numbers(fastir.evaluate(QRELS, {"q1": {"c1": 2.0, "c2": 1.0}}, METRICS, parents=path, aggregate=aggregate))


def saved(data):
    """Saved results and comparisons: whatever the file holds, an equal object or a FormatError that names it.

    Each file is tried as it is, and with the checksum that it asks for, behind which the readers are.
    """
    path = FOLDER / f"saved.{('tsv', 'json', 'parquet')[data[0] % 3 if data else 0]}"
    for content in {data[1:], sealed(data[1:])}:
        path.write_bytes(content)
        for load in (fastir.load_results, fastir.Results.load, fastir.Comparison.load):
            try:
                found = load(path)
            except fastir.FormatError as error:
                holds(error.path == str(path), f"the error names {error.path!r}: {error}")
                holds(len(str(error)) < 2000, "the message is endless")
            else:
                if isinstance(found, fastir.Results):
                    holds(len(dict(found)) == len(found.names), "a metric without a mean")


def saved_seeds():
    results = fastir.evaluate(QRELS, {"q1": {"d1": 2.0, "x": 1.0}, "q2": {"d1": 1.0}, "\udcff": {"d": 1.0}}, METRICS)
    runs = fastir.ResultsByRun({"a": results, 'b\t"': results})
    values = {"a": {"map": {"q1": 0.5, "q2": 1.0}}, "b": {"map": {"q1": 0.25, "q2": 0.5}}}
    compared = fastir.compare_scores(values, segments={"q1": "s", "q2": "t"})
    weighted = fastir.evaluate({"q": {"d": 1}}, {"q": {"d": 1.0}}, "map", weights={"q": 0.5})
    seeds = []
    for one in (results, runs, compared, weighted):
        for place, suffix in enumerate(("tsv", "json", "parquet")):
            with contextlib.suppress(ValueError):  # Parquet has no id that is not UTF-8
                one.save(FOLDER / f"seed.{suffix}")
                seeds.append(bytes([place]) + (FOLDER / f"seed.{suffix}").read_bytes())
    return seeds


NAMES_IN_FOLDERS = (
    "a.parquet", "b.parquet", "run=x/p.parquet", "run=y/p.parquet", "system=z/run=x/p.parquet",
    "a.run", "a.json", "a.csv", "c/d/e.parquet", "=/x.parquet", "run=/a.parquet", "_x.parquet", ".hidden",
)  # fmt: skip


def folders(data):
    """A folder of files, which a byte 254 divides; the first byte of each chooses its name."""
    folder = FOLDER / "folder"
    shutil.rmtree(folder, ignore_errors=True)
    folder.mkdir()
    for part in data.split(b"\xfe")[:6]:
        path = folder / NAMES_IN_FOLDERS[part[0] % len(NAMES_IN_FOLDERS) if part else 0]
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(part[1:])
    with refused(), contextlib.suppress(OSError):
        numbers(fastir.evaluate(QRELS, folder, METRICS))
    with refused(), contextlib.suppress(OSError):
        for results in fastir.evaluate_many(QRELS, folder, METRICS).values():
            numbers(results)
    with refused(), contextlib.suppress(OSError):
        numbers(fastir.evaluate(QRELS, str(folder / "**" / "*.parquet"), METRICS))


def folder_seeds():
    import pyarrow
    from pyarrow import parquet

    columns = {"query_id": ["q1", "q1", "q2"], "doc_id": ["d1", "d2", "d1"], "score": [2.0, 1.0, 1.0]}
    buffer = io.BytesIO()
    options = {"compression": "none", "use_dictionary": False, "write_statistics": False, "store_schema": False}
    parquet.write_table(pyarrow.table(columns), buffer, **options)
    table = buffer.getvalue().replace(b"\xfe", b"\xfd")
    mixed = b"\5" + LINES[0] + b'\xfe\6{"q1": {"d1": 1}}\xfe\7query_id,doc_id,score\nq1,d1,2\n'
    return [b"\0" + table, b"\2" + table + b"\xfe\3" + table, mixed, b"\4" + table + b"\xfe\0" + table]


def metric(data):
    """Any text is a metric, or an UnknownMetricError; a metric has a value, and its own spelling is the same metric."""
    text = data.decode("utf-8", "surrogateescape")
    with refused():
        try:
            evaluator = fastir.Evaluator(QRELS, text)
        except fastir.UnknownMetricError as error:
            holds(len(str(error)) < 2000, "the message is endless")
            return
        numbers(evaluator.evaluate({"q1": {"d1": 2.0, "d3": 1.0, "x": 0.5}, "q2": {}}))
        str(fastir.metric(text))


# ---- arrays ----------------------------------------------------------------------------------------------------------
DTYPES = ["i1", "i2", "i4", "i8", "u1", "u8", "f4", "f8", "?", ">i4", "f2"]


def arrays(data):
    """Labels, scores and how they are divided, of any dtype and length, through every function that takes arrays."""
    if len(data) < 8:
        return
    which, first, second, third, cut, rows, threads = data[:7]
    body = data[8:]
    middle = len(body) * cut // 256

    def array(part, code):
        dtype = np.dtype(DTYPES[code % len(DTYPES)])
        return np.frombuffer(part[: len(part) // dtype.itemsize * dtype.itemsize], dtype)

    labels, scores = array(body[:middle], first), array(body[middle:], second)
    divided = array(body[-32:], third)[: rows % 16]
    grouping = {"offsets": divided} if data[7] % 2 else {"group": divided}
    if data[7] % 5 == 0:
        grouping = {}
    options = {"n_threads": 1 + threads % 2}
    names = ["ndcg@10", "map", "bpref", "rbp", "recall@5"]
    with refused(), np.errstate(all="ignore"), contextlib.suppress(MemoryError):
        if which % 4 == 0:
            numbers(fastir.evaluate_ranked(labels, divided, names, **options))
        elif which % 4 == 1:
            ties = ("input", "optimistic", "pessimistic", "average")[third % 4]
            numbers(fastir.evaluate_scores(labels, scores, names, ties=ties, **grouping, **options))
        elif which % 4 == 2:
            width = 1 + rows % 8
            grid = scores[: len(scores) // width * width].reshape(-1, width)
            numbers(fastir.evaluate_matrix(grid, labels if data[7] % 3 else (divided, labels), names, **options))
        else:
            width = 1 + rows % 8
            grid = scores[: len(scores) // width * width].reshape(-1, width)
            numbers(fastir.evaluate_topk(grid, (divided, labels), names, **options))


# ---- pickles ---------------------------------------------------------------------------------------------------------
SAFE = {"numpy", "fastir", "collections", "_codecs"}
DTYPE_STATE = b"NNNJ\xff\xff\xff\xffJ\xff\xff\xff\xffK\x00t"


class Unpickler(pickle.Unpickler):
    """Only what fastir's own pickles name: damaged ones are tried here, not hostile ones."""

    def find_class(self, module, name):
        if module.partition(".")[0] in SAFE or (module, name) == ("builtins", "slice"):
            found = super().find_class(module, name)
            if isinstance(found, type) or getattr(found, "__module__", "").startswith(("fastir", "numpy", "_codecs")):
                return found
        raise pickle.UnpicklingError(f"{module}.{name}")


def pickles(data):
    """A damaged pickle is an error or an object that can be used.

    One whose opcodes cannot be told apart, or that counts millions of objects, is left out: Python itself takes
    gigabytes for some of them. So is one in which the state of a dtype is damaged: NumPy crashes at some of those.
    """
    if data.count(b"J\xff\xff\xff\xff") != 2 * data.count(DTYPE_STATE):
        return
    with contextlib.suppress(Exception):
        if any("PUT" in opcode.name and (place or 0) > 10**6 for opcode, place, _ in pickletools.genops(data)):
            return
        found = Unpickler(io.BytesIO(data)).load()
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            if isinstance(found, fastir.Qrels):
                fastir.evaluate(found, {"q1": {"d1": 1.0}}, "ndcg@10")
                fastir.evaluate(found, {"q1": {"d1": 1.0}}, METRICS)
            elif isinstance(found, fastir.Run):
                fastir.evaluate(QRELS, found, METRICS)
            elif isinstance(found, fastir.Evaluator):
                found.evaluate({"q1": {"d1": 1.0}})
            elif isinstance(found, fastir.Results):
                str(found), dict(found), found.report


def pickle_seeds():
    evaluator = fastir.Evaluator(QRELS, METRICS)
    results = evaluator.evaluate({"q1": {"d1": 2.0, "x": 1.0}, "q2": {"d1": 1.0}, "\udcff": {"d": 1.0}})
    path = FOLDER / "pickled.txt"
    path.write_bytes(LINES[0])
    objects = (
        fastir.Qrels.from_dict(QRELS), fastir.Qrels.from_dict({"q1": {"a": {"d1": 1}, "b": {"d2": 0, "d1": 2}}}),
        fastir.Run.from_dict({"q1": {"d1": 2.0, "x": 1.0}}), fastir.Run.from_file(path), evaluator, results,
    )  # fmt: skip
    return [pickle.dumps(one, protocol) for one in objects for protocol in (2, 5)]


# ---- the command line ------------------------------------------------------------------------------------------------
ARGUMENTS = [
    "eval", "trec_eval", "compare", "metrics", "explain", "QRELS", "RUN",
    "OTHER", "-", "-m", "map", "ndcg@10", "-q", "-c",
    "--format", "json", "tsv", "markdown", "--ties", "average",
    "--queries", "strict", "--threads", "2", "-l", "1", "-M",
    "-J", "official", "P.5,10", "--help", "--version", "--convention", "ranx", "--test", "t", "--resamples", "9", "-N",
    "--format", "markdown", "--rel-level", "--input-format", "beir", "", "nan", "-1", "99999999999999999999",
    "--no-such-option",
]  # fmt: skip


class Output(io.TextIOWrapper):
    def __init__(self):
        super().__init__(io.BytesIO(), "utf-8", write_through=True)


def command(data):
    """Bytes choose words of the command line; what follows a byte 255 is a word itself. It never fails by itself."""
    words, position = [], 0
    while position < len(data) and len(words) < 30:
        if data[position] == 255:
            end = data.find(b"\xff", position + 1) if b"\xff" in data[position + 1 :] else len(data)
            words.append(data[position + 1 : end].decode("utf-8", "surrogateescape").replace("\0", ""))
            position = end
        else:
            words.append(ARGUMENTS[data[position] % len(ARGUMENTS)])
        position += 1
    files = {"QRELS": b"q1 0 d1 1\nq1 0 d2 0\n", "RUN": LINES[0], "OTHER": b"q1 Q0 d2 1 3 t\n"}
    for name, content in files.items():
        (FOLDER / name).write_bytes(content)
    kept, folder = (sys.stdin, sys.stdout, sys.stderr), os.getcwd()
    sys.stdin, sys.stdout, sys.stderr = io.TextIOWrapper(io.BytesIO(LINES[0])), Output(), Output()
    os.chdir(FOLDER)
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            code = main(words)
        said = sys.stderr.buffer.getvalue()
    finally:
        os.chdir(folder)
        sys.stdin, sys.stdout, sys.stderr = kept
    holds(code in (0, 1, 2, 4, 7), f"exit {code} of {words}: {said[-500:]!r}")
    holds(b"Traceback" not in said, f"{words}: {said[-500:]!r}")


# ---- one number in two ways ------------------------------------------------------------------------------------------
def two_ways(differs):
    """A target of which bytes are the seed of random calls, which a function says to differ from `evaluate`."""

    def target(data):
        rng = random.Random(data)
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", fastir.FastirWarning)
            for _ in range(10):
                broken, _ = differs(rng)
                holds(broken is None, broken)

    return target


# ---- all of them -----------------------------------------------------------------------------------------------------
TARGETS = {
    "trec": text_file("run.txt", ["trec"]), "lines": text_file("lines.txt", ["trec", "beir", "msmarco"]),
    "json": text_file("run.json", ["json"]), "csv": text_file("run.csv", ["csv"]),
    "jsonl": text_file("run.jsonl", ["jsonl"]), "metric": metric, "arrays": arrays, "pickles": pickles,
    "command": command, "judgments": judgments, "pairs": pairs, "verdicts": verdicts,
    "engines": text_file("engine.json", ["json"]),
    "quepid": text_file("quepid.csv", ["quepid"]), "saved": saved, "folders": folders,
    "explain": two_ways(explanation_that_differs), "influence": two_ways(influence_that_differs),
}  # fmt: skip
JUDGMENTS = [b"q1 1 d1 1\nq1 2 d1 0\nq2 1 d1 2\n", b"q1 j p d1 1\nq1 j p d2 2\n", b"q1 0 d1 1 1\nq1 0 d2 0 -1\n"]
JUDGMENTS += [b"q1 d1 1 0 0.5\nq1 d2 0 1 1\n"]
EXPORTS = [
    b'{"requests": [{"id": "q1", "ratings": [{"_index": "i", "_id": "d1", "rating": 1}]}], "metric": {}}',
    b'{"metric_score": 1, "details": {"q1": {"hits": [{"hit": {"_id": "d1", "_score": 2}, "rating": 1}]}}}',
    b'{"hits": {"hits": [{"_source": {"judgmentRatings": [{"query": "q1", "ratings": []}]}}]}}',
    b'{"hits": {"hits": [{"_source": {"searchText": "q1", "documentIds": ["d1", "d2"]}}]}}',
    b'{"judgmentRatings": [{"query": "q1", "ratings": [{"docId": "d1", "rating": "1.0"}]}]}',
]
rng = np.random.default_rng(0)
SEEDS = {
    "trec": LINES,
    "lines": [bytes([place]) + line for place in range(3) for line in LINES],
    "json": [b'{"q1": {"d1": 3.5, "d2": 1}, "q2": {"d1": -2e3}}', b'{"q1": {"d1": 1}}\n', b"{}", b'{"q": {}}'],
    "csv": [b"query_id,doc_id,score\nq1,d1,3.5\nq1,d2,1\n", b'query_id,"doc_id",label\r\n"q""1",d1,1\n'],
    "jsonl": [b'{"query_id": "q1", "doc_id": "d1", "score": 3.5}\n{"query_id": "q2", "doc_id": "d", "score": 1}\n'],
    "metric": [
        b"ndcg@10", b"ndcg_cut.5,10", b"P_5", b"nDCG(dcg='exp-log2')@5", b"map(ap_norm=hits)@3-l2", b"iprec@0.1",
        b"rbp(p=0.8, gains={1: 2, 3: -1})", b"set_F.2",
    b"precision_at_5", b"ndcg@10-", b"utility(p1=1,p2=-1)", b"all_trec",
    ],
    "arrays": [bytes(rng.integers(0, 256, size, np.uint8)) for size in (40, 100, 300)] + [bytes(60), b"\1" * 80],
    "pickles": pickle_seeds(),
    "judgments": [bytes([place]) + line for place in range(len(QRELS_ONLY)) for line in JUDGMENTS],
    "pairs": [b"q1\ts\nq2 t\n", b"c1 d1\nc2 d2\r\n\nc3\td1\n", b"q1\ta b\nq1\ta b\n"],
    "verdicts": [
        b'[{"query_id": "q1", "run": "a", "nugget": "n", "importance": "vital", "assignment": "support"}]',
        b'{"qid": 1, "sentence": 0, "citation": "d1", "support": "FS"}\n{"qid": 1, "sentence": 1, "citation": null}\n',
        b"query_id,nugget,importance,assignment\nq1,n1,vital,support\nq1,n2,okay,not_support\n",
        b"query_id\tsentence\tcitation\tsupport\nq1\t1\td1\tPS\nq1\t2\t\t\n",
    ],
    "engines": EXPORTS,
    "quepid": [
        b"Query,Docid,Rating\nq1,d1,2\nq2,,\n", b"query,docid,rating\r\n\"q\"\"1\",d1,0\r\n",
        b"Snapshot Name,Query Text,Doc ID,Doc Position\ns,q1,d1,1\ns,q1,d2,2\n",
    ],
    "saved": saved_seeds(), "folders": folder_seeds(),
    "command": [bytes([0, 5, 6, 9, 10]), bytes([1, 5, 6]), bytes([2, 5, 6, 7, 9, 10]), bytes([3]), bytes([4, 11])],
    "explain": [b"", b"0"], "influence": [b"", b"0"],
}  # fmt: skip
WORDS = [
    b"nan", b"inf", b"-", b"1e999", b"0x1p3", b"1_0",
    b"\0", b"\xff", b"\xef\xbb\xbf", b"\xed\xa0\x80", b"\r", b"\r\n", b"#",
    b"\t", b" ", b"\n", b"2147483648", b"-2147483649", b"9" * 30, b"." * 3,
    b'"', b"'", b"{", b"}", b"[", b"]", b",", b":",
    b"@", b"-l2", b"(", b")", b"=", b"\x1f\x8b", b"\x28\xb5\x2f\xfd", b"null", b"true", b"\xe6\x96\x87", b"1" * 5000,
    b"@0", b"@99999999999999999999", b"p=1", b"nan)", b"e400", b"\\ud800", b"\x80\x05", b"\xff\xff\xff\x7f",
]  # fmt: skip
