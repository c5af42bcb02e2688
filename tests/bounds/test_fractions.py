"""Of long rankings no sorted labeling of nDCG and no chain of sums of precision is beyond the bounds."""

import itertools

import numpy as np
import pytest
from bounded import long_case, of_labelings

import fastir

pytestmark = pytest.mark.filterwarnings("ignore::fastir.FastirWarning")


@pytest.mark.parametrize("seed", range(4))
def test_of_long_rankings_no_sorted_labeling_of_ndcg_is_beyond_the_bounds(seed):
    labels, ranking = long_case(seed, 25)
    unjudged = [doc for doc in ranking if doc not in labels]
    metrics = ["ndcg", "ndcg@7", "ndcg(gain=exp2)", "ndcg(discount=jk2,ideal=retrieved)@9", "ndcg(ideal=full)@5"]
    sorted_labels = list(itertools.combinations_with_replacement(range(3, -1, -1), len(unjudged)))
    labelings = [dict(zip(unjudged, given, strict=True)) for given in sorted_labels]
    upper = of_labelings(labels, ranking, metrics, labelings).max(axis=0)
    lower = of_labelings(
        labels, ranking, metrics, [dict(zip(unjudged[::-1], given, strict=True)) for given in sorted_labels]
    )
    found = fastir.bounds({"q": labels}, {"q": ranking}, metrics, max_label=3)
    assert np.allclose(found.upper.values[0, [0, 2]], upper[[0, 2]], rtol=1e-13, atol=0)
    assert np.allclose(found.lower.values[0, [0, 2]], lower.min(axis=0)[[0, 2]], rtol=1e-13, atol=0)
    assert (found.upper.values[0] >= upper * (1 - 1e-13)).all()
    assert (found.lower.values[0] <= lower.min(axis=0) * (1 + 1e-13)).all()


@pytest.mark.parametrize("seed", range(6))
def test_of_long_rankings_sums_of_precision_have_the_best_chain(seed):
    labels, ranking = long_case(seed, 60, 0.2 + 0.1 * seed, 1)
    unjudged = [doc for doc in ranking if doc not in labels]
    names = [
        "map", "yaap", "gm_map", "map(ap_norm=hits)", "map(ap_norm=min_kR)@200", "map(ap_norm=min_nkR)@45",
        "map@30",
    ]  # fmt: skip
    found = fastir.bounds({"q": labels}, {"q": ranking}, names, max_label=1)
    for order, values, extreme in ((unjudged, found.upper, np.max), (unjudged[::-1], found.lower, np.min)):
        for column, name in enumerate(names):
            cutoff = int(name.partition("@")[2] or 60)
            inside = [doc for doc in order if int(doc[1:]) < cutoff]
            others = {doc: int(values is found.lower) for doc in order if doc not in inside}
            labelings = [
                {**others, **{doc: int(i < m) for i, doc in enumerate(inside)}} for m in range(len(inside) + 1)
            ]
            assert values.values[0, column] == extreme(of_labelings(labels, ranking, name, labelings)), name


def test_ndcg_is_lowest_where_unjudged_documents_beyond_the_cutoff_are_relevant_and_fewer_inside():
    """Alone more of the unjudged documents at the lowest ranks would have to be relevant."""
    labels = {f"d{i}": 3 * (i < 20) for i in range(60)}
    found = fastir.bounds({"q": labels}, {"q": [*labels, *(f"h{i}" for i in range(50))]}, "ndcg@100", max_label=3)
    weights = 1 / np.log2(np.arange(1, 101) + 1)
    sums = [weights[:20].sum() + weights[100 - n :].sum() * (n > 0) for n in range(41)]
    alone, together = ([sums[n] / weights[: 20 + more + n].sum() for n in range(41)] for more in (0, 10))
    assert int(np.argmin(alone)) != int(np.argmin(together)) > 0
    assert found.lower["ndcg@100"] == pytest.approx(min(together), rel=1e-13)


def test_a_difference_of_ndcg_is_largest_where_the_ideal_ranking_is_cut_at_the_documents_retrieved():
    """As many documents as are retrieved are known to be relevant: unjudged ones add nothing to the ideal ranking."""
    labels = {"r": 1, "n": 0, **{f"far{i}": 1 for i in range(20)}}
    shared = [f"h{i}" for i in range(1, 19)]  # each stands a rank earlier in the first run
    first, second = ["r", *shared, "last"], ["n", "x", *shared]
    found = fastir.bounds({"q": labels}, {"q": first}, "ndcg(ideal=num_ret)", against={"q": second}, max_label=1)
    weights = 1 / np.log2(np.arange(1, 21) + 1)
    largest = weights[0] + (weights[1:19] - weights[2:20]).sum() + weights[19]
    assert found.upper.values[0, 0] == pytest.approx(largest / weights.sum(), rel=1e-13)
