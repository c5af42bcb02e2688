"""PTRanking's metrics of sorted labels, by the values that its notebook and its definitions give."""

import math

import pytest

torch = pytest.importorskip("torch")

from fastir.compat import ptranking  # noqa: E402

SYSTEM = torch.tensor([[1.0, 0.0, 2.0], [0.0, 0.0, 0.0], [0.0, 1.0, 1.0]])
IDEAL = torch.sort(SYSTEM, descending=True, dim=1)[0]
NAN = math.nan


def close(found, wanted):
    assert found.dtype == torch.float32
    torch.testing.assert_close(found, torch.tensor(wanted), equal_nan=True)


def test_precision():
    close(ptranking.torch_precision_at_k(SYSTEM, 2), [[1 / 2], [0.0], [1 / 2]])
    close(ptranking.torch_precision_at_k(SYSTEM, 9), [[2 / 3], [0.0], [2 / 3]])
    close(ptranking.torch_precision_at_ks(SYSTEM, [1, 9]), [[1.0, 0.0], [0.0, 0.0], [0.0, 0.0]])


def test_average_precision_divides_by_relevant_documents():
    close(ptranking.torch_ap_at_ks(SYSTEM, IDEAL, [1, 3]), [[1.0, 5 / 6], [NAN, NAN], [0.0, 7 / 12]])
    close(ptranking.torch_ap_at_k(SYSTEM, IDEAL, 9), [[5 / 6], [NAN], [7 / 12]])


def test_ndcg_has_exponential_gains():
    dcg, ideal = 1 + 3 / 2, 3 + 1 / math.log2(3)
    close(ptranking.torch_ndcg_at_k(SYSTEM[:1], IDEAL[:1], 3), [[dcg / ideal]])
    close(ptranking.torch_ndcg_at_ks(SYSTEM, IDEAL, [1, 5]), [[1 / 3, 0.0], [NAN, 0.0], [0.0, 0.0]])


def test_nerr_takes_the_largest_label_of_the_batch_for_the_top():
    def err(*stops):
        left, total = 1.0, 0.0
        for rank, stop in enumerate(stops, 1):
            total, left = total + left * stop / rank, left * (1 - stop)
        return total

    wanted = [[err(1 / 4, 0, 3 / 4) / err(3 / 4, 1 / 4)], [NAN], [err(0, 1 / 4, 1 / 4) / err(1 / 4, 1 / 4)]]
    close(ptranking.torch_nerr_at_k(SYSTEM, IDEAL, 3), wanted)
    close(ptranking.torch_nerr_at_k(SYSTEM[2:], IDEAL[2:], 3, max_label=2), wanted[2:])
    close(ptranking.torch_nerr_at_ks(SYSTEM[:1], IDEAL[:1], [1]), [[1 / 3]])
    with pytest.raises(NotImplementedError, match="MultiLabel"):
        ptranking.torch_ndcg_at_k(SYSTEM, IDEAL, 1, label_type=type("Label", (), {"name": "Permutation"}))
