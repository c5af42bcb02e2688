"""What has no end, or very much of something: bounded memory, linear time, and errors that say what they are."""

import gzip
import tracemalloc

import pytest
from processes import python

import fastir


@pytest.mark.parametrize(
    ("byte", "message"),
    [(b"\0", "holds a NUL byte"), (b"a", "a line has more than 16 MiB"), (b" ", "more than 16 MiB")],
)
@pytest.mark.parametrize("what", ["qrels", "run"])
def test_a_line_without_an_end_takes_bounded_memory(byte, message, what, tmp_path):
    good, bomb = tmp_path / "good.txt", tmp_path / "bomb.gz"
    good.write_text("q 0 d 1\n" if what == "run" else "q Q0 d 1 1.0 t\n")
    with gzip.open(bomb, "wb", 1) as file:
        file.write(b"q 0 d 1\n" if what == "qrels" else b"q Q0 d 1 1.0 t\n")
        for _ in range(200):
            file.write(byte * 1_000_000)
    tracemalloc.start()
    try:
        with pytest.raises(fastir.FormatError, match=message) as caught:
            fastir.evaluate(bomb if what == "qrels" else good, bomb if what == "run" else good, "map")
        assert tracemalloc.get_traced_memory()[1] < 100_000_000
    finally:
        tracemalloc.stop()
    assert str(bomb) in str(caught.value)


def test_a_long_line_within_the_bound_is_read(tmp_path):
    run = tmp_path / "run.txt"
    run.write_text(f"q Q0 d 1 1.0 {'t' * 5_000_000}\n")
    assert fastir.evaluate({"q": {"d": 1}}, run, "map")["map"] == 1.0


def test_many_metrics_take_linear_time():
    """Two seconds; with a name that is looked for among all names, minutes."""
    python("""
        names = [f"ndcg@{k}" for k in range(1, 100_001)]
        results = fastir.evaluate({"q": {"a": 1}}, {"q": {"b": 2.0, "a": 1.0}}, names)
        means = dict(results)
        assert list(means) == names
        assert set(means.values()) == {0.0, 1 / np.log2(3)} and means["ndcg@1"] == 0.0
        assert names[-1] in results and "ndcg@0" not in results
    """)


def test_a_name_that_is_not_there_of_many():
    results = fastir.evaluate({"q": {"a": 1}}, {"q": {"a": 1.0}}, [f"p@{k}" for k in range(1, 40)])
    with pytest.raises(KeyError, match="'p@99' was not evaluated"):
        results["p@99"]


class Exhausted:
    """Numbers that cannot be made: there is no memory for them."""

    def __array__(self, dtype=None, copy=None):
        raise MemoryError

    def __float__(self):
        raise MemoryError

    def __len__(self):
        return 3


def test_memory_error_stays_what_it_is():
    calls = [
        lambda: fastir.evaluate_scores(Exhausted(), [1.0, 2.0, 3.0], "ndcg", group=[3]),
        lambda: fastir.evaluate_scores([1, 0, 1], [1.0, 2.0, 3.0], "ndcg", group=Exhausted()),
        lambda: fastir.evaluate_matrix(Exhausted(), [[0]], "ndcg"),
        lambda: fastir.evaluate({"q": {"a": 1}}, {"q": {"a": Exhausted()}}, "ndcg"),
    ]
    for call in calls:
        with pytest.raises(MemoryError):
            call()
