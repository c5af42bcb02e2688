"""What is wrong with the arguments is 1, what is wrong with a file is 2, and both are said in the command's words."""

import importlib.metadata
import sys

import pytest
from common import EXAMPLES

import fastir

QRELS, BM25, DENSE = (str(EXAMPLES / name) for name in ("qrels.txt", "bm25.run", "dense.run"))
BEIR = "query-id\tcorpus-id\tscore\nq\td\t1\n"
MSMARCO = "q\td\t1\n"


@pytest.fixture
def paths(tmp_path):
    def written(name, text):
        (tmp_path / name).write_text(text)
        return tmp_path / name

    return {
        "qrels": written("qrels.txt", "q 0 d 1\n"), "run": written("run.txt", "q Q0 d 1 1.0 x\n"),
        "other": written("other.txt", "q Q0 e 1 1.0 x\n"), "beir.tsv": written("beir.tsv", BEIR),
        "msmarco.tsv": written("msmarco.tsv", MSMARCO), "broken": written("broken.txt", "q Q0 d 1 high x\n"),
        "absent": tmp_path / "absent",
    }  # fmt: skip


def called(call, paths, line):
    return call(*(paths.get(word, word) for word in line.split()))


WRONG_ARGUMENTS = [
    "eval", "eval qrels run -m ndgc",
    "eval absent run -m ndgc",  # arguments are looked at before files
    "eval qrels run -m map@0", "eval qrels run -m map --rel-level 0", "eval qrels run -m map --max-depth 0",
    "eval qrels run -m map --threads -1", "eval qrels run -m bpm --ties average",
    "eval qrels run -m map --ties sometimes", "eval qrels run -m map --qrels-format xml",
    "eval qrels run -m map --run-format subtopic", "eval qrels - - -m map", "compare qrels run -m map",
    "compare qrels run other -m map --test magic", "compare qrels run other -m map --correction magic",
    "compare qrels run other -m map --confidence 2", "compare qrels run other -m map --resamples 0",
    "compare qrels run other -m map --baseline absent", "compare qrels run other -m map --interval magic",
    "compare qrels run other -m gm_map", "metrics ndgc", "explain qrels run", "explain qrels run q -m ndgc",
    "nonsense", "eval qrels run --fail-under map", "eval qrels run --fail-under mean_rank=3",
    "eval qrels run --fail-over map=0.3", "eval qrels run -m map --fail-under ndgc=0.3",
    "compare qrels run other -m map --fail-if worse:map",
    "compare qrels run other -m map --baseline run --fail-if drop:map",
    "compare qrels run other -m map --baseline run --fail-if worse:map:2", "diff run other",
    "diff run other --qrels qrels -m ndgc", "diff run other --qrels qrels --top 0", "completion csh",
    "eval qrels run --columns x", "eval qrels run --columns query=x", "eval qrels run -o x.xyz",
    "eval qrels run -o x.json --format csv", "eval qrels run --sort nothing",
    "compare qrels run other -o x.tex --format json", "compare qrels run other --correction holm --test tukey",
    "compare qrels run other --fail-if bla", "compare qrels", "diff run other -o x.csv", "metrics --search zebra",
]  # fmt: skip
WRONG_FILES = [
    "eval qrels absent -m map", "eval absent run -m map", "eval qrels broken -m map",
    "eval qrels qrels -m map", "compare qrels run broken -m map", "compare absent run",
    "compare qrels run absent", "diff absent run", "diff run absent --qrels qrels",
    "eval qrels run --threshold 3",
]  # fmt: skip


@pytest.mark.parametrize("line", WRONG_ARGUMENTS)
def test_wrong_arguments_are_1(call, paths, line):
    code, out, err = called(call, paths, line)
    assert (code, out) == (1, ""), err
    assert err.startswith("fastir: error: ") and err.count("\n") == 1
    command = line.split()[0]
    assert err.endswith(f"; see fastir{'' if command == 'nonsense' else ' ' + command} --help\n")


@pytest.mark.parametrize("line", WRONG_FILES)
def test_wrong_files_are_2(call, paths, line):
    code, out, err = called(call, paths, line)
    assert (code, out) == (2, ""), err
    assert err.startswith("fastir: error: ") and err.count("\n") == 1


@pytest.mark.parametrize("line, hint", [("eval qrels msmarco.tsv -m map", "needs --run-format msmarco")])
def test_a_hint_names_an_option_that_there_is(call, paths, line, hint):
    _, _, err = called(call, paths, line)
    assert hint in err and "format=" not in err


@pytest.mark.parametrize("line, near", [
    ("--verson", "--version"), ("evla qrels run", "eval"), ("eval qrels run --rel 2", "--rel-level"),
    ("eval qrels run --thread 2", "--threads"), ("eval qrels run -m ngcd", "ndcg"),
    ("eval qrels run -m ngcd@10", "ndcg@10"), ("eval qrels run --columns query=x", "query_id"),
    ("compare qrels run other --test wilcoxn", "wilcoxon"), ("compare qrels run other --correction holmes", "holm"),
    ("compare qrels run other --interval percntile", "percentile"),
    ("compare qrels run other --baseline runt.xt", "run"),
])  # fmt: skip
def test_what_was_meant_is_suggested(call, paths, line, near):
    code, out, err = called(call, paths, line)
    assert (code, out) == (1, "") and f"did you mean {near!r}" in err
    assert err.endswith(" --help\n")


@pytest.mark.parametrize("line", ["compare absent run", "compare qrels run absent", "diff run absent --qrels qrels"])
def test_a_file_that_does_not_exist_is_said_to_be_missing(call, paths, line):
    _, _, err = called(call, paths, line)
    assert err == f"fastir: error: {paths['absent']}: No such file or directory\n"


def test_trec_eval_names_the_command_that_has_the_option(call, paths):
    paths["run"].write_text("q Q0 d 1 1.0 x\n" * 2)
    _, _, err = called(call, paths, "trec_eval qrels run")
    assert err.endswith("; fastir eval --duplicates first, last, max or once would repair it\n")


def test_the_option_reads_the_format(call, paths):
    expected = called(call, paths, "eval qrels run -m map")[1]
    for line in ("eval beir.tsv run -m map --qrels-format beir", "eval qrels msmarco.tsv -m map --run-format msmarco"):
        assert called(call, paths, line)[1].split()[3:] == ["1.0000"] == expected.split()[3:]


def test_version(call):
    assert call("--version") == (0, f"fastir {importlib.metadata.version('fastir')}\n", "")


@pytest.mark.parametrize("arguments", [["--help"], ["eval", "--help"]])
def test_help_shows_an_example(output, arguments):
    assert "fastir eval examples/qrels.txt examples/bm25.run" in output(*arguments)


@pytest.mark.parametrize("arguments", [
    ["evaluate"], ["eval"], ["eval", QRELS, "-m", "map"],
    ["eval", QRELS, BM25, "-m", "map", "--format", "xml"],
    ["eval", QRELS, BM25, "-m", "map", "--rel-level", "one"], ["eval", QRELS, "-", "-", "-m", "map"],
    ["eval", QRELS, BM25, "-m", "map", "--rel", "2"], ["explain"], ["explain", QRELS, BM25],
])  # fmt: skip
def test_usage_errors_are_1(call, arguments):
    code, out, err = call(*arguments)
    assert (code, out) == (1, "")
    assert err.startswith("fastir: error: ") and err.count("\n") == 1 and err.endswith(" --help\n")


@pytest.mark.parametrize(("arguments", "words"), [
    (["evla", QRELS, BM25], "there is no command 'evla'; did you mean 'eval'?"),
    (["eval", QRELS, BM25, "--formt", "tsv"], "there is no option '--formt'; did you mean '--format'?"),
    (["eval", QRELS, BM25, "--convention=trec-eval"], "--convention: 'trec-eval' has several versions: 'trec_eval-10'"),
    (["eval", QRELS, BM25, "--convention=trek_eval-9"], "--convention: there is no 'trek_eval-9'; did you mean"),
    (["compare", QRELS, BM25, DENSE, "--base=x"], "there is no option '--base=x'; did you mean '--baseline'?"),
    (["eval", QRELS, BM25, "--k", "10"], "write the cutoff in the metric's name, as 'ndcg@10'"),
    (["fuse", BM25, DENSE, "--method", "combsm"], "--method: there is no 'combsm'; did you mean"),
    (["eval", QRELS, BM25, "--average", "micro"], "it stands in the metric, as in -m 'precision(average=...)'"),
    (["eval", QRELS, BM25, "--columns", "a"], "--columns a: expected FIELD=NAME"),
])  # fmt: skip
def test_suggestions(call, arguments, words):
    code, out, err = call(*arguments)
    assert (code, out) == (1, "") and words in err, err


@pytest.mark.parametrize(("error", "code", "message"), [
    (MemoryError(), 3, "fastir: error: out of memory\n"),
    (KeyError("oops"), 3, "fastir: error: internal error, please report it: KeyError: 'oops'\n"),
    (KeyboardInterrupt(), 130, "fastir: error: interrupted\n"),
    (OverflowError("label 99999999999 of document d1\nis out of range"), 2,
     "fastir: error: label 99999999999 of document d1 is out of range\n"),
    (OSError("no place"), 2, "fastir: error: no place\n"),
    (ValueError(), 2, "fastir: error: ValueError\n"),
])  # fmt: skip
def test_whatever_fails_has_its_exit_code(call, files, monkeypatch, error, code, message):
    def fail(*_, **__):
        raise error

    monkeypatch.setattr(fastir, "Evaluator", fail)
    got, out, err = call("eval", files.qrels, files.run, "-m", "map")
    assert (got, out) == (code, "")
    assert err.endswith(message)
    assert (err == message) == (type(error) is not KeyError), "only a fault of our own shows a traceback"


def test_nobody_listens_to_messages(call, files, monkeypatch):
    monkeypatch.setattr(sys, "stderr", None)
    assert call("eval", files.qrels, files.half, "-m", "map")[:2] == (0, "run      map\nhalf  0.4167\n")
