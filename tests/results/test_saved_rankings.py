"""Judged rankings in files: all that they hold comes back, and what was changed is refused."""

import pickle
import random
import tracemalloc
import zipfile

import gen
import numpy as np
import pytest
from rankings_made import GOOD, METRICS, QRELS, RUN, same

import fastir
from fastir.data.results.saved_rankings import are_rankings

pytestmark = pytest.mark.filterwarnings("ignore::fastir.FastirWarning")


def arrays_of(judged):
    names = ("offsets", "ranks", "labels", "num_ret", "ideal_offsets", "ideal_labels", "missing")
    rules = ("ties", "score_dtype", "duplicates", "report")
    return {name: getattr(judged, name) for name in (*names, *rules)}


@pytest.mark.parametrize("seed", range(4))
def test_arrays_files_and_pickles_keep_everything(seed, tmp_path):
    qrels, run = gen.collection(seed)
    judged = fastir.judged_rankings(qrels, run)
    copies = [fastir.JudgedRankings.from_arrays(judged.query_ids, **arrays_of(judged))]
    copies.append(pickle.loads(pickle.dumps(judged)))
    judged.save(tmp_path / "judged.npz")
    copies.append(fastir.JudgedRankings.load(tmp_path / "judged.npz"))
    try:
        import pyarrow  # noqa: F401
    except ImportError:
        pass
    else:
        judged.save(tmp_path / "judged.parquet")
        copies.append(fastir.JudgedRankings.load(tmp_path / "judged.parquet"))
    for copy in copies:
        assert copy == judged and copy.report == judged.report
        same(copy.evaluate(METRICS), judged.evaluate(METRICS))


def test_integer_ids_and_other_bytes(tmp_path):
    for query_ids in ([7, 9], ["\udcff", "é\n"], []):
        judged = fastir.JudgedRankings.from_arrays(
            query_ids, [0] * (len(query_ids) + 1), [], [], [0] * len(query_ids), [0] * (len(query_ids) + 1), []
        )
        judged.save(tmp_path / "j.npz")
        assert fastir.JudgedRankings.load(tmp_path / "j.npz") == judged


@pytest.mark.parametrize("suffix", [".npz", ".parquet"])
def test_files_that_were_cut_or_changed(suffix, tmp_path):
    if suffix == ".parquet":
        pytest.importorskip("pyarrow")
    judged = fastir.judged_rankings(QRELS, RUN)
    path = tmp_path / f"judged{suffix}"
    judged.save(path)
    whole, rng = path.read_bytes(), random.Random(0)
    for size in (0, 10, len(whole) // 2, len(whole) - 1):
        path.write_bytes(whole[:size])
        with pytest.raises(fastir.FormatError, match=path.name):
            fastir.JudgedRankings.load(path)
    for _ in range(500):
        changed = bytearray(whole)
        changed[rng.randrange(len(whole))] ^= 1 << rng.randrange(8)
        path.write_bytes(changed)
        try:
            loaded = fastir.JudgedRankings.load(path)
        except fastir.FormatError:
            continue
        assert loaded == judged
    path.write_bytes(b"something else")
    with pytest.raises(fastir.FormatError):
        fastir.JudgedRankings.load(path)
    with pytest.raises(OSError, match="nowhere"):
        fastir.JudgedRankings.load(tmp_path / f"nowhere{suffix}")
    with pytest.raises(ValueError, match=r"must end in \.npz or \.parquet"):
        judged.save(tmp_path / "judged.txt")


def test_arrays_that_fit_and_are_others_are_refused(tmp_path):
    """A later rank that is still inside of the ranking, in a file that is whole."""
    path = tmp_path / "judged.npz"
    fastir.JudgedRankings.from_arrays(**GOOD).save(path)
    with np.load(path) as given:
        arrays = dict(given)
    for name, value in (("ranks", [1, 4, 2]), ("num_ret", [6, 2]), ("ids", [ord("q"), ord("s")])):
        np.savez(path, **{**arrays, name: np.array(value, arrays[name].dtype)})
        with pytest.raises(fastir.FormatError, match="the checksum does not match"):
            fastir.JudgedRankings.load(path)
    head = bytes(arrays["head"]).replace(b'"crc32"', b'"crc"')
    np.savez(path, **{**arrays, "head": np.frombuffer(head, np.uint8)})
    with pytest.raises(fastir.FormatError, match="cut or changed: KeyError"):
        fastir.JudgedRankings.load(path)


def test_an_array_that_is_none_of_its_own_is_not_unpacked(tmp_path):
    """A few hundred bytes of a file may stand for gigabytes."""
    path = tmp_path / "judged.npz"
    fastir.JudgedRankings.from_arrays(**GOOD).save(path)
    with zipfile.ZipFile(path, "a", zipfile.ZIP_DEFLATED) as file, file.open("other.npy", "w") as member:
        np.lib.format.write_array(member, np.zeros(1 << 24, np.uint8))
    tracemalloc.start()
    try:
        with pytest.raises(fastir.FormatError, match="'other' is none of its arrays"):
            fastir.JudgedRankings.load(path)
        assert tracemalloc.get_traced_memory()[1] < 1 << 22
    finally:
        tracemalloc.stop()


def test_other_saved_files_are_refused(tmp_path):
    pytest.importorskip("pyarrow")
    fastir.evaluate(QRELS, RUN, "map").save(tmp_path / "results.parquet")
    with pytest.raises(fastir.FormatError, match="saved results, expected judged rankings; Results"):
        fastir.JudgedRankings.load(tmp_path / "results.parquet")


@pytest.mark.parametrize("suffix", [".npz", ".parquet"])
def test_where_they_come_from(suffix, tmp_path):
    """Convention, options and files come back, and go on to the results of what was loaded."""
    if suffix == ".parquet":
        pytest.importorskip("pyarrow")
    path = tmp_path / f"judged{suffix}"
    judged = fastir.judged_rankings(QRELS, RUN, convention="gdeval", duplicates="first", exclude="query_id")
    judged.save(path)
    loaded = fastir.JudgedRankings.load(path)
    record = loaded.provenance
    assert record == judged.provenance == pickle.loads(pickle.dumps(judged)).provenance
    assert record.convention.name == "gdeval" and record.options == {"duplicates": "first"} and record.metrics == {}
    assert record.inputs["run"]["name"] == "bm25.run" and record.inputs["exclude"] == {"documents": "query_id"}
    results = loaded.evaluate("map", convention="gdeval")
    assert results.provenance.inputs == record.inputs and results.provenance.metrics == {"map": "map(empty=skip)"}
    assert fastir.JudgedRankings.concatenate([loaded]).provenance == record
    made = fastir.JudgedRankings.from_arrays(**GOOD)
    made.save(path)
    assert made.provenance is None is fastir.JudgedRankings.load(path).provenance


def test_parts_of_other_origin_have_none():
    one = fastir.judged_rankings({"q": {"a": 1}}, {"q": {"a": 1.0}})
    other = fastir.judged_rankings({"r": {"a": 1}}, {"r": {"a": 1.0}}, exclude={"r": ["b"]})
    assert fastir.JudgedRankings.concatenate([one, other]).provenance is None


def test_which_files_hold_them(tmp_path):
    pytest.importorskip("pyarrow")
    judged = fastir.judged_rankings(QRELS, RUN)
    for name in ("a.npz", "a.parquet"):
        judged.save(tmp_path / name)
        assert are_rankings(tmp_path / name)
    fastir.evaluate(QRELS, RUN, "map").save(tmp_path / "results.parquet")
    fastir.Run.from_file(RUN).save(tmp_path / "run.parquet")
    (tmp_path / "b.npz").write_bytes(b"something else")
    assert not any(map(are_rankings, [RUN, *(tmp_path / name for name in ("results.parquet", "run.parquet", "b.npz"))]))
