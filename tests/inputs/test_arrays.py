"""Arrays from anywhere: what is taken, that nothing is copied without need, and what is said of the rest."""

import numpy as np
import pytest

import fastir
from fastir import FastirWarning
from fastir.inputs import arrays

VALUES = [0.5, -1.0, 2.0]


class OnlyDlpack:
    """A tensor of a library without `__array__`."""

    def __init__(self, array, device=(1, 0)):
        self.array, self.on = array, device

    def __dlpack_device__(self):
        return self.on

    def __dlpack__(self, **options):
        return self.array.__dlpack__(**options)


class OnlyArray:
    """A tensor without DLPack."""

    def __init__(self, array):
        self.array = array

    def __array__(self, dtype=None, copy=None):
        return self.array


class Graph(OnlyArray):
    """A tensor that must be detached before it can be read."""

    def __array__(self, dtype=None, copy=None):
        raise RuntimeError("call detach() first")

    def detach(self):
        return OnlyArray(self.array)


@pytest.mark.parametrize("kind", [lambda array: array, OnlyDlpack, OnlyArray, Graph])
@pytest.mark.parametrize("dtype", ["float32", "float64"])
def test_nothing_is_copied(kind, dtype):
    array = np.array(VALUES, dtype)
    for view in (array, array[::-1], array[::2]):
        taken = arrays.scores(kind(view), "scores")
        assert np.shares_memory(taken, array) and taken.tolist() == view.tolist() and taken.dtype == dtype


@pytest.mark.parametrize("order", ["C", "F"])
def test_a_matrix_of_any_order_is_not_copied(order):
    matrix = np.asarray(np.arange(6.0).reshape(2, 3), order=order)
    matrix.flags.writeable = False
    taken = arrays.scores(matrix, "scores", 2)
    assert np.shares_memory(taken, matrix) and taken.strides == matrix.strides


@pytest.mark.parametrize("dtype, expected", [
    ("float16", "float32"), (">f4", "float32"), (">f8", "float64"), ("bool", "float32"), ("int8", "float32"),
    ("uint16", "float32"), ("int32", "float64"), ("int64", "float64"), ("uint64", "float64"),
])  # fmt: skip
def test_scores_become_a_float_that_holds_them(dtype, expected):
    taken = arrays.scores(np.array([1, 0, 1], dtype), "scores")
    assert taken.dtype == np.dtype(expected) and taken.dtype.isnative and taken.tolist() == [1, 0, 1]


def test_unaligned_rows_are_copied():
    table = np.zeros(3, np.dtype([("tag", "i1"), ("score", "f8")]))
    table["score"] = VALUES
    taken = arrays.scores(table["score"], "scores")
    assert taken.flags.aligned and taken.tolist() == VALUES


def test_integers():
    assert arrays.integers([], "group").dtype == np.int64
    assert arrays.integers(np.array([3, 4], np.uint8), "group").tolist() == [3, 4]
    with pytest.raises(TypeError, match=r"^group must be integers, got dtype float64$"):
        arrays.integers([1.0], "group")
    with pytest.raises(OverflowError, match="group holds 9223372036854775808; out of range"):
        arrays.integers(np.array([2**63], np.uint64), "group")


@pytest.mark.parametrize("data, error, message", [
    (np.array(["1"], object), TypeError, "scores must hold numbers of at most 64 bits, got dtype object"),
    (["a"], TypeError, "scores must hold numbers of at most 64 bits, got dtype <U1"),
    (None, TypeError, "scores must hold numbers of at most 64 bits, got dtype object"),
    (np.zeros(1, "M8[s]"), TypeError, "got dtype datetime64"),
    (np.zeros(1, np.complex64), TypeError, "got dtype complex64"),
    (np.zeros(1, [("a", "f8")]), TypeError, "scores must hold numbers"),
    (3.0, ValueError, r"scores must have 1 dimension, got shape \(\)"),
    ([[1.0]], ValueError, r"scores must have 1 dimension, got shape \(1, 1\)"),
    ([[1.0], [2.0, 3.0]], ValueError, "scores must be an array of numbers, got list: "),
    (np.ma.masked_array([1.0, 2.0], [0, 1]), ValueError, "scores has masked entries"),
    (OnlyDlpack(np.zeros(1), (2, 0)), TypeError, "scores is on the device GPU but must be in host memory"),
])  # fmt: skip
def test_refused(data, error, message):
    with pytest.raises(error, match=message):
        arrays.scores(data, "scores")


@pytest.mark.skipif(np.dtype(np.longdouble).itemsize == 8, reason="long double is double here")
def test_long_double_is_refused():
    with pytest.raises(TypeError, match="scores must hold numbers of at most 64 bits, got dtype"):
        arrays.scores(np.zeros(1, np.longdouble), "scores")


def test_nan_names_its_row():
    scores = np.zeros(200_000, "f4")
    arrays.refuse_nan(scores, "scores")
    scores[[150_000, 199_999]] = np.nan
    with pytest.raises(ValueError, match=r"^scores: NaN in row 150000$"):
        arrays.refuse_nan(scores, "scores")
    for matrix in (scores.reshape(400, 500), np.asfortranarray(scores.reshape(400, 500))):
        with pytest.raises(ValueError, match=r"^scores: NaN in row 300, column 0$"):
            arrays.refuse_nan(matrix, "scores")
    arrays.refuse_nan(np.array([np.inf, -np.inf]), "scores")
    arrays.refuse_nan(np.array([1]), "labels")


def test_torch():
    torch = pytest.importorskip("torch")
    tensor = torch.tensor(VALUES, requires_grad=True)
    assert np.shares_memory(arrays.scores(tensor, "scores"), tensor.detach().numpy())
    for half in (torch.bfloat16, torch.float16):
        taken = arrays.scores(torch.tensor(VALUES, dtype=half, requires_grad=True), "scores")
        assert taken.dtype == np.float32 and taken.tolist() == VALUES
    matrix = torch.arange(6.0).reshape(2, 3).t()
    assert np.shares_memory(arrays.scores(matrix, "scores", 2), matrix.numpy())
    assert arrays.numbers(torch.tensor([True, False]), "labels").dtype == bool
    with pytest.raises(TypeError, match=r"scores must be an array of numbers, got Tensor: .*meta"):
        arrays.scores(torch.zeros(1, device="meta"), "scores")


def test_jax():
    jnp = pytest.importorskip("jax.numpy")
    for dtype in (jnp.float32, jnp.bfloat16, jnp.float16):
        taken = arrays.scores(jnp.array(VALUES, dtype), "scores")
        assert taken.dtype == np.float32 and taken.tolist() == VALUES


def test_frames():
    pandas, polars = pytest.importorskip("pandas"), pytest.importorskip("polars")
    for column in (pandas.Series(VALUES), polars.Series(VALUES)):
        assert arrays.scores(column, "scores").tolist() == VALUES


@pytest.mark.parametrize("dtype", [np.int64, np.uint64])
def test_different_integers_that_are_one_float64_are_warned_of(dtype):
    sign = -1 if dtype is np.int64 else 1
    big = sign * 2**60
    for data, ndim, where in (
        ([1, big, 7, big + 1], 1, "rows 1 and 3"),
        ([[1, big], [big, 2], [big + 1, big]], 2, "row 2, columns 0 and 1"),
    ):
        with pytest.warns(FastirWarning, match=f"are one float64, so that they tie .{where}"):
            found = arrays.scores(np.array(data, dtype), "scores", ndim)
        assert found.dtype == np.float64


@pytest.mark.parametrize(
    "data", [[[2**60, 2], [2**60 + 1, 3]], [[2**60, 2**60]], [[2**53, 2**53 - 1]], [[-(2**53), 0]], [[2**60, 2**61]]]
)
def test_integers_that_stay_apart_in_their_row_are_not(data, recwarn):
    arrays.scores(np.array(data), "scores", 2)
    assert not recwarn.list


@pytest.mark.parametrize(("scores", "message"), [
    ([0.9, None, 0.5], r"scores must hold numbers of at most 64 bits, got dtype object: scores\[1\] is None$"),
    ([0.9, 0.5, "x"], r"scores must hold numbers"),
    (np.array([0.9, 0.5, "x"], object), r"scores\[2\] is 'x'$"),
    ([[0.9, 0.1], [None, 0.5]], r"scores\[1, 0\] is None$"),
    (np.array([[0.9, {}]], object), r"got dtype object$"),
])  # fmt: skip
def test_an_entry_that_is_no_number_is_named_with_its_place(scores, message):
    with pytest.raises(TypeError, match=message):
        arrays.scores(scores, "scores", 2 if isinstance(scores[0], list) else 1)


def test_a_sparse_matrix_is_refused_with_what_to_do():
    scipy = pytest.importorskip("scipy.sparse")
    for kind in (scipy.csr_matrix, scipy.coo_array):
        with pytest.raises(TypeError, match=r"scores is a sparse matrix, .* such as scores.toarray\(\) makes, or"):
            fastir.evaluate_matrix(kind([[0.9, 0.1]]), [[0]], "mrr")
        with pytest.raises(TypeError, match="indices is a sparse matrix"):
            fastir.evaluate_topk(kind([[1, 2]]), [[1]], "mrr")
