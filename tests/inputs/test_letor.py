"""Files for learning to rank: judgments, and runs of a score on each line."""

import gzip

import pytest
from common import ABSENT, SHARED

import fastir
from fastir import FormatError, Qrels, Run

SVMRANK = "# query 1\n3 qid:1 1:1 2:0.2 # 1A\n2 qid:1 1:0 # 1B\n\n1 qid:b 1:0 5:0 # 1B\n"
LETOR = "2 qid:10 1:0.05 46:0.07 #docid = GX029-35 inc = 1 prob = 0.13\r\n0 qid:10 1:0.2 #docid = GX030 inc = 1\r\n"
JUDGMENTS = "# qid:1: rambo*1\n\n4\tqid:1\t # 7555\trambo\n0\tqid:1\t # 61410\trambo\n"
QUEPID = '1 qid:7 #    d1; "star wars"\n0 qid:7 #    d2; "star wars"\n'
BARE = "2 qid:1 1:0.5\n0 qid:2 1:0.1\n1.5 qid:1 1:0.2\n"
LIBSVM = "2 1:0.5 2:1\n0 1:0.1\n1 7:0.2\n"


@pytest.fixture
def write(tmp_path):
    def write(name, text):
        path = tmp_path / name
        path.write_bytes(gzip.compress(text.encode()) if name.endswith(".gz") else text.encode())
        return path

    return write


@pytest.mark.parametrize(("text", "expected"), [
    (SVMRANK, {"1": {"1A": 3, "1B": 2}, "b": {"1B": 1}}), (LETOR, {"10": {"GX029-35": 2, "GX030": 0}}),
    (JUDGMENTS, {"1": {"7555": 4, "61410": 0}}), (QUEPID, {"7": {"d1": 1, "d2": 0}}),
    (BARE, {"1": {"0": 2.0, "1": 1.5}, "2": {"0": 0.0}}), ("\ufeff" + LETOR, {"10": {"GX029-35": 2, "GX030": 0}}),
])  # fmt: skip
@pytest.mark.parametrize("name", ["train.txt", "train.dat.gz"])
def test_files_with_qid_are_recognised(write, text, expected, name):
    path = write(name, text)
    assert Qrels.from_file(path).to_dict() == Qrels.from_file(path, "letor").to_dict() == expected
    assert fastir.evaluate(path, {next(iter(expected)): {}}, "num_rel", queries="intersection").values.shape == (1, 1)


@pytest.mark.parametrize("suffix", [".query", ".group"])
@pytest.mark.parametrize("packing", ["", ".gz"])
def test_files_of_group_sizes_divide_lines_without_qid(write, suffix, packing):
    path = write(f"rank.test{packing}", LIBSVM)
    write(f"rank.test{suffix}", "2\n\n1\n")
    assert Qrels.from_file(path).to_dict() == {"0": {"0": 2, "1": 0}, "1": {"0": 1}}


def test_scores_for_the_lines_are_a_run(write, capsys):
    labels, scores = write("train.txt", SVMRANK), write("svm.txt", "0.5\n\n1e-3\n-2\n")
    run = Run.from_file(scores, rows=labels)
    assert run.name == "svm" and run.to_dict() == {"1": {"1A": 0.5, "1B": 0.001}, "b": {"1B": -2.0}}
    scattered = Run.from_file(scores, "scores", rows=write("bare.txt", BARE))
    assert scattered.to_dict() == {"1": {"0": 0.5, "1": -2.0}, "2": {"0": 0.001}}
    from fastir.cli import main

    for command in ("eval", "compare"):
        words = [command, str(labels), str(scores), str(write("other.txt", "1\n2\n3\n")), "--rows", str(labels)]
        assert main([*words, "-m", "ndcg@10"]) in (0, None)
        assert "svm" in capsys.readouterr().out
    assert main(["eval", str(labels), str(scores)]) == 2
    assert "a file of scores has no ids: --rows LABELS reads it beside a LETOR file" in capsys.readouterr().err


@pytest.mark.parametrize("seed", range(3))
def test_values_are_those_of_the_arrays(write, seed):
    import numpy as np

    rng = np.random.default_rng(seed)
    sizes = rng.integers(1, 20, 30)
    labels, scores = rng.integers(0, 5, sizes.sum()), rng.permutation(sizes.sum()) / 7
    qids = np.repeat(np.arange(30), sizes)
    path = write("a.txt", "".join(f"{label} qid:{qid} 1:1\n" for label, qid in zip(labels, qids, strict=True)))
    run = Run.from_file(write("s.txt", "".join(f"{score!r}\n" for score in scores.tolist())), rows=path)
    names = ["ndcg@10", "map", "err@5"]
    expected = fastir.evaluate_scores(labels, scores, names, group=sizes)
    assert fastir.evaluate(path, run, names).values.tobytes() == expected.values.tobytes()


def test_the_shared_files_of_lightgbm(write):
    if not SHARED.is_dir():
        pytest.skip(ABSENT)
    import json

    folder = SHARED / "data" / "lightgbm_rank"
    rows = [line.split("\t") for line in (folder / "labels_scores.tsv").read_text().splitlines()[1:]]
    expected = json.loads((folder / "expected" / "lightgbm_ndcg.json").read_text())
    names = ["ndcg@1", "ndcg@3", "ndcg@5", "ndcg@10"]
    for place, name in ((3, "full"), (4, "tied")):
        scores = write(f"{name}.txt", "".join(row[place] + "\n" for row in rows))
        run = Run.from_file(scores, rows=folder / "rank.test.gz")
        results = fastir.evaluate(folder / "rank.test.gz", run, names, convention="lightgbm")
        assert {key: results[key] for key in names} == pytest.approx(expected[name], abs=1e-14)


@pytest.mark.parametrize(("text", "message"), [
    (SVMRANK.replace("2 qid", "good qid"), "train:3: label 'good' is not a number"),
    (SVMRANK.replace("2 qid", "3e10 qid"), "train:3: label '3e10' is out of range"),
    (SVMRANK.replace("2 qid:1 ", "2 "), "train:3: the line has no query .* as line 2 has one"),
    (SVMRANK.replace("# 1B\n\n", "\n"), "train:3: the line has no document behind '#', as line 2 has one"),
    (SVMRANK.replace("1B\n\n", "1A\n"), "train:3: duplicate document '1A' in query '1', first on line 2"),
    (LIBSVM, r"expected qid:... behind the label, or the sizes of queries in .*train\.query"),
    ("# x\n", "the qrels are empty: no judgment lines"),
])  # fmt: skip
def test_wrong_lines_are_named(write, text, message):
    with pytest.raises(FormatError, match=message):
        Qrels.from_file(write("train", text), "letor")


def test_wrong_sizes_and_scores_are_named(write):
    path = write("train", LIBSVM)
    for sizes, message in (
        ("2\nx\n", "train.query:2: size of a query 'x' is not a number"),
        ("2\n3\n", "2 queries sum to 5, but"),
    ):
        write("train.query", sizes)
        with pytest.raises(FormatError, match=message):
            Qrels.from_file(path)
    rows = write("rows", SVMRANK)
    for scores, message in (
        ("1\nx\n3\n", "scores:2: score 'x' is not a number"),
        ("1\nnan\n3\n", "scores:2: score 'nan' is not a number"),
        ("1\n2\n", "scores: the file has 2 scores, but .*rows has 3 rows"),
    ):
        with pytest.raises(FormatError, match=message):
            Run.from_file(write("scores", scores), rows=rows)
    with pytest.raises(FormatError, match=r"a file of scores has no ids: fastir.Run.from_file\(path, rows=labels\)"):
        Run.from_file(write("scores", "1\n2\n"))
    with pytest.raises(ValueError, match="rows is for a file of scores, format 'scores'; got format 'trec'"):
        Run.from_file(rows, "trec", rows=rows)
    with pytest.raises(FormatError, match="rows: the first line is that of another side: format 'letor' is for qrels"):
        Run.from_file(rows)
