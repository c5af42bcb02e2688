"""Tied scores: one rule for every metric, decided by the ids alone, however the run came in."""

import random

import gen
import oracle
import pytest

import fastir

# The tie rule that nobody chose is tested.
pytestmark = pytest.mark.filterwarnings("ignore:all scores of:fastir.FastirWarning")


def order(scores, **options):
    """The documents as fastir ranks them, read off the reciprocal rank of each as the only relevant one."""
    qrels = {f"only {doc} is relevant": {doc: 1} for doc in scores}
    results = fastir.evaluate(qrels, dict.fromkeys(qrels, scores), "mrr", **options)
    ranks = [round(1 / value) for value in results.values[:, 0]]
    return [doc for _, doc in sorted(zip(ranks, scores, strict=True))]


TIED = dict.fromkeys(["d9", "é", "d10", "z", "D9", "d", "d1", "～", "😀", "文書"], 1.0)


def test_trec_ties_are_broken_by_descending_bytes():
    assert order(TIED) == ["😀", "～", "文書", "é", "z", "d9", "d10", "d1", "d", "D9"]


def test_doc_id_asc_is_the_reverse():
    assert order(TIED, ties="doc_id_asc") == order(TIED, ties="trec")[::-1]


def test_input_keeps_the_order_of_arrival():
    assert order(TIED, ties="input") == list(TIED)


@pytest.mark.parametrize("ties", ["trec", "doc_id_asc", "input"])
def test_scores_come_first(ties):
    scores = {doc: float(number % 3) for number, doc in enumerate(TIED)}
    assert order(scores, ties=ties) == oracle.ranking(scores, ties)


@pytest.mark.parametrize("ties", ["trec", "doc_id_asc"])
@pytest.mark.parametrize("seed", range(5))
def test_insertion_order_does_not_matter(ties, seed):
    assert order(gen.shuffled(random.Random(seed), TIED), ties=ties) == order(TIED, ties=ties)


def test_zeros_tie_whatever_their_sign():
    assert order({"a": 0.0, "b": -0.0, "c": 0}) == ["c", "b", "a"]


def test_denormals_are_not_zero():
    assert order({"a": 5e-324, "b": 0.0, "c": -5e-324}) == ["a", "b", "c"]


def test_infinities_tie_with_themselves_only():
    inf = float("inf")
    assert order({"a": inf, "b": inf, "c": 1e308, "d": -inf, "e": -1e308, "f": -inf}) == ["b", "a", "c", "e", "f", "d"]


def test_float64_by_default():
    assert order({"a": 1.00000001, "b": 1.0}) == ["a", "b"]


def test_float32_makes_ties():
    assert order({"a": 1.00000001, "b": 1.0}, score_dtype="float32") == ["b", "a"]


def test_float32_overflow_is_infinity():
    assert order({"a": 1e300, "b": 1e299, "c": 1.0}, score_dtype="float32") == ["b", "a", "c"]


def test_integers_compare_as_float64():
    assert order({"a": 2**53 + 1, "b": 2**53}) == ["b", "a"]


def test_nul_is_a_byte_like_any_other():
    assert order({"a\0b": 1.0, "a\0c": 1.0, "a": 1.0, "a\0": 1.0}) == ["a\0c", "a\0b", "a\0", "a"]


def test_long_ids_that_differ_in_the_last_byte():
    ids = [f"{'x' * 300}{last}" for last in "bca"]
    assert order(dict.fromkeys(ids, 1.0)) == sorted(ids, reverse=True)


def test_the_depth_cuts_through_a_tie():
    qrels = {"q": {"a": 1, "m": 1, "z": 1}}
    run = {"q": {"a": 1.0, "m": 1.0, "z": 1.0}}
    assert fastir.evaluate(qrels, run, "num_rel_ret", max_depth=2)["num_rel_ret"] == 2
    assert fastir.evaluate({"q": {"a": 1}}, run, "num_rel_ret", max_depth=2)["num_rel_ret"] == 0
    assert fastir.evaluate({"q": {"a": 1}}, run, "num_rel_ret", max_depth=2, ties="doc_id_asc")["num_rel_ret"] == 1


@pytest.mark.parametrize("ties", ["trec", "doc_id_asc", "input"])
@pytest.mark.parametrize("judged", [1, 2, 5, 20, 100, 400])
@pytest.mark.parametrize("values", [1, 3, 50, 10**9])
def test_few_and_many_judged_documents(ties, judged, values):
    """Ranks are found by counting for few judged documents and by sorting for many: the answer is the same."""
    rng = random.Random(judged * values)
    docs = [f"doc{number}" for number in range(400)]
    run = {"q": {doc: float(rng.randrange(values)) for doc in rng.sample(docs, 400)}}
    qrels = {"q": {doc: rng.choice((-1, 0, 1, 2)) for doc in rng.sample(docs, judged)}}
    requests = [oracle.Request(name) for name in ("ndcg", "map", "bpref", "mrr")]
    got = fastir.evaluate(qrels, run, [str(request) for request in requests], ties=ties)
    expected = oracle.evaluate(qrels, run, requests, ties=ties)
    assert got.values[0].tolist() == pytest.approx(expected["q"], rel=1e-12, abs=1e-15)


def test_files_and_dicts_break_ties_alike(tmp_path):
    qrels, run = gen.deep(7, depth=300)
    paths = gen.write_qrels(tmp_path / "qrels", qrels), gen.write_run(tmp_path / "run", run)
    for ties in ("trec", "doc_id_asc", "input"):
        from_dicts = fastir.evaluate(qrels, run, ["map", "ndcg"], ties=ties)
        assert fastir.evaluate(*paths, ["map", "ndcg"], ties=ties).values.tobytes() == from_dicts.values.tobytes()


def test_the_report_counts_queries_with_ties():
    qrels = {"q1": {"a": 1}, "q2": {"a": 1}, "q3": {"a": 1}}
    run = {"q1": {"a": 1.0, "b": 2.0}, "q2": {"a": 1.0, "b": 1.0}, "q3": {"a": 0.0, "b": -0.0}}
    report = fastir.evaluate(qrels, run, "map").report
    assert report.queries_with_ties == 2
    assert report.queries_with_ties_example in ("q2", "q3")


def test_an_unknown_rule_names_the_known_ones():
    with pytest.raises(ValueError, match=r"trec.*doc_id_asc.*input"):
        fastir.evaluate({"q": {"a": 1}}, {"q": {"a": 1.0}}, "map", ties="best")
