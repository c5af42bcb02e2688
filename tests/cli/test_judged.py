"""`fastir eval` of saved judged rankings: a folder of them as runs, with their judgments or without."""

import pytest
from common import EXAMPLES

import fastir

QRELS, BM25, DENSE = (str(EXAMPLES / name) for name in ("qrels.txt", "bm25.run", "dense.run"))
ASKED = ("-m", "ndcg@10,map")


@pytest.fixture
def folder(tmp_path):
    (tmp_path / "board").mkdir()
    for name, run in (("bm25", BM25), ("dense", DENSE)):
        fastir.judged_rankings(QRELS, run).save(tmp_path / "board" / f"{name}.npz")
    return tmp_path / "board"


@pytest.fixture
def failure(call):
    """Run the command, which must refuse; its message."""

    def run_it(*arguments):
        code, out, err = call(*arguments)
        assert code in (1, 2) and not out
        return err

    return run_it


@pytest.mark.parametrize("options", [(), ("-q",), ("--convention", "gdeval"), ("--format", "csv"), ("--ci",)])
def test_a_folder_is_as_its_runs(output, folder, options):
    expected = output("eval", QRELS, BM25, DENSE, *ASKED, *options)
    assert output("eval", folder, *ASKED, *options) == expected
    assert output("eval", folder / "bm25.npz", folder / "dense.npz", *ASKED, *options) == expected
    assert output("eval", QRELS, folder, *ASKED, *options) == expected


def test_all_metrics_that_follow(output, folder):
    [head, *_] = output("eval", folder, "--all").splitlines()
    assert " ndcg " in head and " hole" not in head
    everything, *_ = output("eval", QRELS, BM25, "--all").splitlines()
    assert set(everything.split()) - set(head.split()) <= {"hole", "weighted_recall", "weighted_precision", "psp"}


def test_results_say_where_they_come_from(output, folder, tmp_path):
    output("eval", folder, *ASKED, "-o", tmp_path / "board.json")
    saved = fastir.load_results(tmp_path / "board.json")
    assert list(saved) == ["bm25", "dense"]
    assert saved["dense"].provenance.inputs["run"]["name"] == "dense.run"


def test_other_judgments_are_refused(failure, folder, tmp_path):
    (tmp_path / "other.txt").write_text("q1 0 d1 1\n")
    assert "board/bm25.npz was judged with other judgments of query 'q1'" in failure(
        "eval", tmp_path / "other.txt", folder
    )
    lines = (EXAMPLES / "qrels.txt").read_text()
    (tmp_path / "more.txt").write_text(f"{lines}\nq99 0 d1 1\n")
    assert "board/bm25.npz was judged without query 'q99'" in failure("eval", tmp_path / "more.txt", folder)


@pytest.mark.parametrize(("words", "message"), [
    (("--exclude", "query_id"), "--exclude has no effect: "),
    (("--names", "tag"), "holds judged rankings, which have no tags"),
    (("--bounds",), "--bounds: it needs the judgments and runs"),
    (("--convention", "ranx"), "run 'bm25': convention ranx: --ties input, but these rankings were judged with"),
    (("--score-dtype", "float32"), "run 'bm25': --score-dtype float32, but these rankings were judged with"),
    (("-m", "hole"), "metric 'hole' needs the ids"),
    ((BM25,), "bm25.run: no saved judged rankings"),
])  # fmt: skip
def test_what_is_refused(failure, folder, words, message):
    assert message in failure("eval", folder, *words)


def test_commands_that_need_runs_say_so(failure, folder):
    assert "bm25.npz holds judged rankings; `fastir eval` takes them" in failure(
        "compare", QRELS, folder / "bm25.npz", DENSE
    )
    assert "expected the judgments and runs, or judged rankings" in failure("eval", QRELS)
