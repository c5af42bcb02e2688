"""Labels that are not whole, read where they stand: the same bits as if all of them had been numbered before."""

import numpy as np
import pytest

import fastir
from fastir.engine.measure import CARDS
from fastir.request.options import check_options
from fastir.request.plan import Settings, compile_settings

# Random fractions may all be below 1, and as distinct as scores are.
pytestmark = pytest.mark.filterwarnings("ignore:(no label reaches|the labels look):fastir.FastirWarning")
OTHERS = ["ndcg(gain=exp2)", "ndcg(ideal=retrieved)@10", "ndcg(ideal=full)@7", "ndcg(discount=jk2)@10", "P(rel=0.4)@5"]
OTHERS += ["dcg(gain=exp2)@40", "rbp(gains=scaled)", "ndcg(gain=binary)@10", "dcg(gain={0.3:2})@5"]
TOGETHER = [["ndcg@10", "map", "mrr", "P@10", "recall@100"], ["ndcg@10", "map(rel=0.5)", "bpref"], ["ndcg", "map"]]
CHOICES = [{}, {"rel_level": 0.5}, {"judged_only": True}, {"max_depth": 8}]


def cases_of(n_calls):
    """Every metric alone, whole and at cutoffs on either side of what is selected, by turns; some together, always."""
    cards = [card for card in CARDS if not card.sampled and not card.pooled]
    alone = [card.spelled() for card in cards]
    alone += [card.spelled(f"@{k}") for card in cards if card.cutoff for k in (3, 25)]
    by_turns = [(place % n_calls, [name], CHOICES[place % 2]) for place, name in enumerate([*alone, *OTHERS])]
    return by_turns + [(call, names, more) for call in range(n_calls) for names in TOGETHER for more in CHOICES]


def labels_of(kind, n, rng):
    return {
        "all distinct": lambda: rng.random(n) * 3,
        "few distinct": lambda: rng.integers(0, 5, n) * 0.3,
        "rising": lambda: np.sort(rng.random(n)),
        "of any size": lambda: 2.0 ** rng.uniform(-300, 0, n) * (rng.random(n) < 0.9),
        "few relevant": lambda: ((rng.random(n) < 0.05) * rng.random(n)).astype(np.float32),
        "negative": lambda: np.where(rng.random(n) < 0.3, rng.choice([-1, -2, -0.5], n), rng.random(n)),
        "with a stride": lambda: np.repeat(rng.random(n), 2)[::2],
    }[kind]()


@pytest.mark.parametrize("most", [3, 40, 300, 3000])
@pytest.mark.parametrize(
    "kind", ["all distinct", "few distinct", "rising", "of any size", "few relevant", "negative", "with a stride"]
)
def test_bits_are_those_of_numbered_labels(kind, most, monkeypatch):
    rng = np.random.default_rng(most)
    sizes = rng.integers(0, most, 4)
    offsets, n = np.concatenate([[0], sizes.cumsum()]), int(sizes.sum())
    labels, scores = labels_of(kind, n, rng), rng.integers(0, 20, n).astype(np.float32)
    apart, ideal = rng.random(n), np.concatenate([labels, rng.random(60)])
    ideal_offsets = np.array([0, *np.sort(rng.integers(0, len(ideal), 3)), len(ideal)])
    calls = [
        lambda metrics, **more: fastir.evaluate_ranked(labels, offsets, metrics, **more),
        lambda metrics, **more: fastir.evaluate_scores(labels, scores, metrics, offsets=offsets, **more),
        lambda metrics, **more: fastir.evaluate_scores(labels, apart, metrics, offsets=offsets, **more),
        lambda metrics, **more: fastir.evaluate_ranked(
            labels, offsets, metrics, ideal_labels=ideal, ideal_offsets=ideal_offsets, **more
        ),
    ]
    cases = cases_of(len(calls))
    found = [calls[call](metrics, **more) for call, metrics, more in cases]
    monkeypatch.setattr(Settings, "for_rows", lambda self: None)
    for (call, metrics, more), results in zip(cases, found, strict=True):
        numbered = calls[call](metrics, **more)
        assert results.values.tobytes() == numbered.values.tobytes(), (call, metrics, more)
        assert str(results.report) == str(numbered.report), (call, metrics, more)


def test_only_metrics_that_read_sums_of_gains_spare_the_numbers():
    def spares(metric):
        return compile_settings((metric,), check_options(choices={})).for_rows() is not None

    assert all(map(spares, ["ndcg", "ndcg@10", "map", "dcg(gain=exp2)@5", "bpref", "P@5", "recall(rel=0.3)@7"]))
    assert not any(map(spares, ["err@20", "rbp(gains=raw)", "ndcg_rel", "ndcg(gain={0.5:1})", "g"]))
