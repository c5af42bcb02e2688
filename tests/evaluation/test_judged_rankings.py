"""Judged rankings: every metric follows from them to the bit; what they hold, keep in files and refuse."""

import inspect
import pickle
import random
import tracemalloc
import zipfile

import gen
import numpy as np
import pytest
from common import EXAMPLES

import fastir
from fastir.evaluation.judged_rankings import OPTIONS, VALUES
from fastir.request.conventions import CONVENTIONS
from fastir.request.options import TIES, choice_params

QRELS, RUN = (str(EXAMPLES / name) for name in ("qrels.txt", "bm25.run"))
SINGLE = [name for name in TIES if name != "average"]
CATALOGUE = [card.name for card in fastir.metrics()]
pytestmark = pytest.mark.filterwarnings("ignore::fastir.FastirWarning")


def possible(qrels, names, **options):
    """The metrics among `names` that qrels without groups and an order of documents can answer."""
    found = []
    for name in names:
        try:
            fastir.Evaluator(qrels, name, **options)
            fastir.judged_rankings(qrels, {query_id: {} for query_id in qrels}, queries="qrels").evaluate(
                name, **options
            )
        except (fastir.FastirError, ValueError):
            continue
        found.append(name)
    return found


def same(found, expected):
    assert found.query_ids == expected.query_ids and found.status == expected.status
    assert found.names == expected.names and found.aggregates == expected.aggregates
    assert np.array_equal(found.values, expected.values, equal_nan=True)
    assert [repr(mean) for mean in dict(found).values()] == [repr(mean) for mean in dict(expected).values()]


QRELS_OF_ALL, RUN_OF_ALL = gen.collection(0)
METRICS = possible(QRELS_OF_ALL, CATALOGUE)


def test_nearly_the_whole_catalogue_follows():
    apart = {card.name for card in fastir.metrics() if card.groups or card.sampled}
    assert set(CATALOGUE) - set(METRICS) - apart <= {"hole", "compat"}


@pytest.mark.parametrize("ties", SINGLE)
@pytest.mark.parametrize("seed", range(6))
def test_every_metric_has_the_same_bits(seed, ties):
    qrels, run = gen.collection(seed)
    judged = fastir.judged_rankings(qrels, run, ties=ties)
    assert judged.ties == ties
    names = [*METRICS, "ndcg@5", "map@3", "P@10", "bpref", "judged@5", "ndcg(gain=exp2)@10", "rbp(p=0.5)"]
    for options in ({}, {"rel_level": 2}, {"judged_only": True}, {"max_depth": 7}, {"queries": "intersection"}):
        same(judged.evaluate(names, **options), fastir.evaluate(qrels, run, names, ties=ties, **options))


@pytest.mark.parametrize("convention", sorted(CONVENTIONS))
def test_conventions_give_their_numbers_or_say_what_differs(convention):
    qrels, run = gen.collection(3)
    names = possible(qrels, ["ndcg@10", "map", "mrr@10", "recall@5", "P@5"], convention=convention)
    for name in names or ["ndcg@10"]:
        try:
            judged = fastir.judged_rankings(qrels, run, convention=convention, queries=None)
            found = judged.evaluate(name, convention=convention)
        except (ValueError, fastir.FastirError) as error:
            assert any(word in str(error) for word in ("judge", "ties=", "several rules", "needs", "no query"))
        else:
            same(found, fastir.evaluate(qrels, run, name, convention=convention))


def test_every_shape_of_run_comes_to_the_same(tmp_path):
    pandas = pytest.importorskip("pandas")
    expected = fastir.judged_rankings(QRELS, RUN)
    held = fastir.Run.from_file(RUN)
    rows = [(q, d, s) for q, ranking in held.to_dict().items() for d, s in ranking.items()]
    frame = pandas.DataFrame(rows, columns=["query_id", "doc_id", "score"])
    evaluator = fastir.Evaluator(QRELS, ["map"])
    for run in (held, held.to_dict(), frame, frame.sample(frac=1, random_state=0)):
        for n_threads in (1, 2):
            judged = fastir.judged_rankings(QRELS, run, n_threads=n_threads)
            assert judged == expected
        assert evaluator.judged_rankings(run) == expected


def test_a_deep_run_and_threads():
    qrels, run = gen.deep(1)
    judged = fastir.judged_rankings(qrels, run)
    expected = fastir.evaluate(qrels, run, METRICS)
    for n_threads in (1, 2, 3):
        same(judged.evaluate(METRICS, n_threads=n_threads), expected)


def test_duplicates_and_parents_are_settled_before():
    qrels = {"q": {"a": 1, "b": 2}}
    run = [("q", "a", 3.0), ("q", "x", 2.5), ("q", "a", 2.0), ("q", "b", 1.0)]
    for rule in ("first", "last", "max", "once"):
        judged = fastir.judged_rankings(qrels, run, duplicates=rule)
        assert judged.duplicates == rule
        same(judged.evaluate(["map", "ndcg"]), fastir.evaluate(qrels, run, ["map", "ndcg"], duplicates=rule))
    parts = {"q": {"a#1": 3.0, "b#1": 2.0, "a#2": 1.0}}
    parents = {part: part[0] for part in parts["q"]}
    judged = fastir.judged_rankings(qrels, parts, parents=parents)
    same(judged.evaluate("map"), fastir.evaluate(qrels, parts, "map", parents=parents))


def test_another_order_is_an_error_that_says_so():
    judged = fastir.judged_rankings(QRELS, RUN)
    for ties in ("input", "average"):
        with pytest.raises(ValueError, match=rf"ties='{ties}', but these rankings were judged with ties='trec'"):
            judged.evaluate("map", ties=ties)
    with pytest.raises(ValueError, match=r"convention ranx: ties='input', but these rankings were judged with"):
        judged.evaluate("map", convention="ranx")
    with pytest.raises(ValueError, match=r"score_dtype='float32', but"):
        judged.evaluate("map", convention="trec_eval-9")
    with pytest.raises(ValueError, match="ties='average' has no single order"):
        fastir.judged_rankings(QRELS, RUN, ties="average")
    with pytest.raises(fastir.UnknownMetricError, match="'hole' needs the ids"):
        judged.evaluate(["map", "hole"])
    with pytest.raises(ValueError, match="the qrels have groups"):
        fastir.judged_rankings({"q": {"1": {"a": 1}}}, {"q": {"a": 1.0}})


def test_strict_queries():
    qrels, run = {"q": {"a": 1}, "r": {"a": 1}}, {"q": {"a": 1.0}}
    judged = fastir.judged_rankings(qrels, run, queries="qrels")
    with pytest.raises(fastir.NoOverlapError, match="query 'r' is missing from the run"):
        judged.evaluate("map", queries="strict")
    with pytest.raises(fastir.NoOverlapError, match="query 'r' is missing from the run"):
        fastir.judged_rankings(qrels, run, queries="strict")
    judged = fastir.judged_rankings({"q": {"a": 1}}, {"q": {"a": 1.0}, "s": {"a": 1.0}}, queries="qrels")
    with pytest.raises(fastir.NoOverlapError, match="query 's' is missing from the qrels"):
        judged.evaluate("map", queries="strict")


def test_a_label_that_is_too_large_names_the_query():
    judged = fastir.judged_rankings({"q": {"a": 1}, "r": {"b": 2000}}, {"q": {"a": 1.0}, "r": {"c": 1.0}})
    with pytest.raises(OverflowError, match=r"label 2000 is too large for .* \(query r\)"):
        judged.evaluate("ndcg(gain=exp2)")


def test_weights():
    qrels, run = gen.collection(5)
    weights = {query_id: place + 0.5 for place, query_id in enumerate(qrels)}
    judged = fastir.judged_rankings(qrels, run)
    same(judged.evaluate("map", weights=weights), fastir.evaluate(qrels, run, "map", weights=weights))


def test_labels_by_rank():
    qrels = {"q": {"a": 2, "b": 0, "c": -1, "z": 1}, "r": {"a": 1}}
    run = {"q": {"x": 4.0, "b": 3.0, "c": 2.0, "a": 1.0}, "r": {}}
    judged = fastir.judged_rankings(qrels, run)
    labels, known = judged.to_labels(5)
    assert labels.tolist() == [[0, 0, -1, 2, 0], [0] * 5]
    assert known.tolist() == [[False, True, True, True, False], [False] * 5]
    assert judged.to_labels(2)[0].tolist() == [[0, 0], [0, 0]]
    assert judged.ideal_labels.tolist() == [2, 1, 0, -1, 1] and judged.ideal_offsets.tolist() == [0, 4, 5]
    assert judged.num_ret.tolist() == [4, 0] and judged.missing.tolist() == [False, False]
    for k in (0, -1):
        with pytest.raises(ValueError, match="k: the number of ranks must be positive"):
            judged.to_labels(k)


def test_arrays_are_read_only():
    judged = fastir.judged_rankings(QRELS, RUN)
    for name in ("offsets", "ranks", "labels", "num_ret", "ideal_offsets", "ideal_labels", "missing"):
        with pytest.raises(ValueError, match="read-only"):
            getattr(judged, name)[:1] = 0


# ---- from arrays, and back ---------------------------------------------------------------------------------------


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


def test_the_arrow_table(tmp_path):
    pyarrow = pytest.importorskip("pyarrow")
    judged = fastir.judged_rankings(QRELS, RUN)
    table = pyarrow.table(judged)
    assert table.column_names == ["query_id", "missing", "num_ret", "ranks", "labels", "ideal_labels"]
    assert table.column("ranks").to_pylist()[0] == judged.ranks[: judged.offsets[1]].tolist()
    with pytest.raises(ValueError, match=r"an id is not UTF-8"):
        fastir.JudgedRankings.from_arrays(["\udcff"], [0, 0], [], [], [0], [0, 0], []).save(tmp_path / "j.parquet")
    assert not (tmp_path / "j.parquet").exists()


GOOD = {
    "query_ids": ["q", "r"],
    "offsets": [0, 2, 3],
    "ranks": [1, 3, 2],
    "labels": [1, 0, -1],
    "num_ret": [5, 2],
    "ideal_offsets": [0, 3, 4],
    "ideal_labels": [2, 1, 0, -1],
}


@pytest.mark.parametrize(
    ("changed", "message"),
    [
        ({"query_ids": ["q", "q"]}, "duplicate query 'q'"),
        ({"query_ids": ["q", 1]}, "all str or all int, got str and int"),
        ({"query_ids": ["q"]}, "num_ret has 2 entries but there are 1 query_ids"),
        ({"offsets": [0, 2]}, "offsets has 2 entries, expected 3"),
        ({"offsets": [0, 2, 4]}, "offsets goes from 0 to 4, expected 0 to the 3 entries of ranks"),
        ({"offsets": [0, 4, 3]}, r"offsets must not fall, but offsets\[2\]"),
        ({"ranks": [1, 3]}, "expected 0 to the 2 entries of ranks"),
        ({"ranks": [0, 3, 2]}, "rank 0 of query 'q' is not above"),
        ({"ranks": [3, 3, 2]}, "rank 3 of query 'q' is not above the one before"),
        ({"ranks": [1, 6, 2]}, "rank 6 of query 'q' is more than its num_ret 5"),
        ({"ranks": [1, 3.5, 2]}, "ranks must be integers"),
        ({"labels": [1, 0, -2]}, r"labels\[2\] is -2"),
        ({"labels": [1, 0, 2**31]}, r"labels\[2\] is 2147483648"),
        ({"labels": [1, 1, -1]}, "query 'q' has the label 1 more often than ideal_labels"),
        ({"labels": [3, 0, -1]}, "query 'q' has the label 3 more often"),
        ({"ideal_labels": [1, 2, 0, -1]}, "ideal_labels must fall, but label 2 of query 'q' follows 1"),
        ({"num_ret": [5, -1]}, "num_ret of query 'r' is -1"),
        ({"num_ret": [5, 2**60]}, "num_ret of query 'r' is"),
        ({"missing": [False, True]}, "query 'r' is missing, but num_ret is not 0"),
        ({"missing": [0, 1]}, "missing must be bools"),
        ({"ties": "nothing"}, "ties"),
    ],
)
def test_arrays_that_do_not_fit(changed, message, tmp_path):
    fastir.JudgedRankings.from_arrays(**GOOD)
    with pytest.raises((ValueError, TypeError, OverflowError), match=message):
        fastir.JudgedRankings.from_arrays(**{**GOOD, **changed})


def test_the_callers_arrays_stay_theirs():
    given = {name: np.array(value) for name, value in GOOD.items() if name != "query_ids"}
    judged = fastir.JudgedRankings.from_arrays(["q", "r"], **given)
    given["ranks"][:] = 99
    assert judged.ranks.tolist() == [1, 3, 2] and judged.evaluate("mrr")["mrr"] == 0.5


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
        with pytest.raises(fastir.FormatError, match="the checksum is another"):
            fastir.JudgedRankings.load(path)
    head = bytes(arrays["head"]).replace(b'"crc32"', b'"crc"')
    np.savez(path, **{**arrays, "head": np.frombuffer(head, np.uint8)})
    with pytest.raises(fastir.FormatError, match="cut or changed: 'crc32'"):
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


# ---- query by query ----------------------------------------------------------------------------------------------


def test_parts_are_put_together():
    qrels, run = gen.collection(8, queries=20)
    names = [query_id for query_id in qrels if query_id in run]
    parts = [
        fastir.judged_rankings({q: qrels[q] for q in names[i::3]}, {q: run[q] for q in names[i::3]}) for i in range(3)
    ]
    whole = fastir.JudgedRankings.concatenate(parts)
    ordered = {q: qrels[q] for part in parts for q in part.query_ids}
    expected = fastir.judged_rankings(ordered, {q: run[q] for q in names})
    assert whole == expected
    assert fastir.JudgedRankings.concatenate([expected]) == expected
    with pytest.raises(ValueError, match="duplicate"):
        fastir.JudgedRankings.concatenate([expected, expected])
    with pytest.raises(ValueError, match="they must be judged by the same rules"):
        fastir.JudgedRankings.concatenate([parts[0], fastir.judged_rankings(qrels, run, ties="input")])
    with pytest.raises(ValueError, match="there are no judged rankings"):
        fastir.JudgedRankings.concatenate([])
    with pytest.raises(TypeError, match="expected JudgedRankings, got dict"):
        fastir.JudgedRankings.concatenate([{}])


@pytest.mark.parametrize("name", ["metrics", "rel_level", "judged_only", "max_depth", "weights", *choice_params()])
def test_an_option_of_values_is_refused_with_its_place(name):
    with pytest.raises(TypeError) as caught:
        fastir.judged_rankings({"q": {"a": 1}}, {"q": {"a": 1.0}}, **{name: None})
    expected = f"judged_rankings has no option {name!r}; options of values belong to JudgedRankings.evaluate"
    assert str(caught.value) == expected


def test_the_place_of_an_option_of_values_is_right():
    """Each option of `evaluate` is one of judged_rankings, or one of the method that the message names."""
    of = {call: set(inspect.signature(call).parameters) for call in (fastir.evaluate, fastir.JudgedRankings.evaluate)}
    for name in of[fastir.evaluate] - {"qrels", "run", "metrics", "choices", *OPTIONS}:
        assert name in VALUES
    assert set(VALUES) <= of[fastir.JudgedRankings.evaluate]
    judged = fastir.judged_rankings({"q": {"a": 1, "b": 2}}, {"q": {"a": 2.0, "b": 1.0}})
    assert judged.evaluate("num_rel_ret", rel_level=2, judged_only=True, max_depth=1, empty="skip").values == [[0.0]]


@pytest.mark.parametrize(
    ("name", "hint"),
    [
        ("tie", "did you mean 'ties'?"),
        ("duplicate", "did you mean 'duplicates'?"),
        ("colums", "did you mean 'columns'?"),
        ("xyz", "the options are aggregate, columns, "),
    ],
)
def test_an_option_that_does_not_exist_is_unknown(name, hint):
    with pytest.raises(TypeError) as caught:
        fastir.judged_rankings({"q": {"a": 1}}, {"q": {"a": 1.0}}, **{name: None})
    assert str(caught.value).startswith(f"unknown option {name!r}; {hint}")
    assert "JudgedRankings.evaluate" not in str(caught.value)
