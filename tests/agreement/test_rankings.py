"""The rankings of a run of any shape, in the order in which `evaluate` ranks them."""

import collections
import fractions

import numpy as np
import pytest
from rankings_made import pairs

import fastir


@pytest.mark.parametrize(
    "name",
    [lambda i: f"d{i}", lambda i: f"é{i}", lambda i: f"\udc80{i}", lambda i: i - 7, lambda i: 10**20 + i],
    ids=["ascii", "utf8", "surrogates", "int", "large"],
)
@pytest.mark.parametrize("number", [float, np.float32, int, fractions.Fraction], ids=lambda kind: kind.__name__)
def test_ids_and_scores_of_any_kind_give_the_same(name, number):
    names = ["rbo(ties=a)", "rbo_min", "overlap@4", "tau@5"]
    a, b = ({f"q{i}": pair[side] for i, pair in enumerate(pairs(9, 8))} for side in (0, 1))
    want = fastir.similarity(a, b, names).values
    if name(0) != "d0":  # ties are ordered by the id, so cutoffs must not fall among them
        names, want = names[:2], want[:, :2]

    def other(run):
        return {q: {name(int(doc[1:])): number(score) for doc, score in r.items()} for q, r in run.items()}

    forms = [other(a), other(b)], [fastir.Run.from_dict(other(a)), other(b)], [other(a), fastir.Run.from_dict(other(b))]
    for form in forms:
        np.testing.assert_allclose(fastir.similarity(*form, names).values, want, rtol=0, atol=1e-12)


def test_mappings_and_runs_with_duplicates():
    a, b = {"x": 3.0, "y": 2.0, "z": 1.0}, {"z": 3.0, "x": 2.0}
    want = fastir.similarity({"q": a}, {"q": b}).values
    odd = {"q": collections.UserDict(a), "p": {}}
    assert fastir.similarity(odd, {"q": collections.OrderedDict(b), "p": {}}).values[0] == want[0]
    rows = [("q", doc_id, score) for doc_id, score in [*a.items(), ("x", 0.5), ("z", 2.5)]]
    once = fastir.Run.from_table(rows, duplicates="once")
    assert fastir.similarity(once, {"q": b}).values == fastir.similarity({"q": {**a, "z": 2.5}}, {"q": b}).values


def test_a_score_that_changes_the_other_run_does_no_harm():
    a = {"q": {f"document number {i}": float(-i) for i in range(300)}}

    class Score:
        def __float__(self):
            a["q"].clear()
            a["q"].update({f"another document {i}": float(i) for i in range(1000)})
            return 1.0

    result = fastir.similarity(a, {"q": {"another document 999": Score()}}, ["overlap@1", "jaccard"])
    assert result.values[0].tolist() == [1.0, 1 / 1000]


def test_a_run_without_documents_has_ids_of_any_kind():
    assert fastir.similarity({"q": {}}, {"q": {1: 2.0}}).values[0, 0] == 0


def test_files_runs_and_dicts_give_the_same(tmp_path):
    a, b = ({f"q{i}": pair[side] for i, pair in enumerate(pairs(3, 6))} for side in (0, 1))
    names = ["rbo", "rbo_res(ties=b)", "overlap@3", "tau"]
    want = fastir.similarity(a, b, names).values
    fastir.Run.from_dict(a).save(tmp_path / "a.run")
    for other in (tmp_path / "a.run", fastir.Run.from_dict(a), {q: dict(sorted(r.items())) for q, r in a.items()}):
        assert np.array_equal(fastir.similarity(other, b, names).values, want, equal_nan=True)
    lists = {"q": ["x", "y", "z"]}
    assert fastir.similarity(lists, {"q": {"x": 3.0, "y": 2.0, "z": 1.0}})["rbo"] == pytest.approx(1)
