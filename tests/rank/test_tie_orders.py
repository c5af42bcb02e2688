"""Rules that know the labels of equal scores, against every order that those could have had."""

import collections
import itertools
import math
import random
import re

import gen
import oracle
import pytest
from closed_forms import AVERAGED
from common import UNEVEN
from oracle_requests import REQUESTS

import fastir

pytestmark = UNEVEN


def has_average(card):
    try:
        fastir.Evaluator({"q": {"a": 1}}, card.spelled(), ties="average")
    except ValueError:
        return False
    return True


POSSIBLE = [one for one in REQUESTS if one.name in AVERAGED and not (one.k and one.params.get("ap_norm") == "hits")]


def orders(scores):
    """Every order of a ranking's documents that its scores allow."""
    ties = [[doc for doc in scores if scores[doc] == score] for score in sorted(set(scores.values()), reverse=True)]
    for parts in itertools.product(*map(itertools.permutations, ties)):
        yield list(itertools.chain(*parts))


def small(rng):
    """A query of at most seven documents in ties of at most four; some judged, more judged elsewhere."""
    docs = [f"d{place}" for place in range(rng.randint(1, 7))]
    scores, score = {}, 9.0
    while len(scores) < len(docs):
        for doc in docs[len(scores) : len(scores) + rng.randint(1, 4)]:
            scores[doc] = score
        score -= 1.0
    pool = [*docs, "x", "y", "z"]
    judged = {doc: rng.choice((-2, -1, 0, 0, 1, 1, 2, 3)) for doc in rng.sample(pool, rng.randint(1, len(pool)))}
    return judged, dict(rng.sample(list(scores.items()), len(scores)))


def expected(qrels, run, requests, judged_only=False, rel_level=1):
    """Per query, the mean of each request over all orders in which it is defined; those of equal labels count alike."""
    means = {}
    for query, judged in qrels.items():
        alike = collections.Counter(tuple(oracle.codes(judged, each, None, judged_only)) for each in orders(run[query]))
        rows = []
        for x, count in alike.items():
            rows += [[request.value(list(x), judged.values(), rel_level) for request in requests]] * count
        defined = [[value for value in column if value == value] for column in zip(*rows, strict=True)]
        means[query] = [math.fsum(column) / len(column) if column else math.nan for column in defined]
    return means


def assert_close(results, wanted):
    wrong = [
        (query, name, got, want)
        for query, row in wanted.items()
        for name, got, want in zip(results.names, results.to_dict()[query].values(), row, strict=True)
        if not (math.isclose(got, want, rel_tol=1e-12, abs_tol=1e-14) or (got != got and want != want))
    ]
    assert not wrong, wrong[:5]


@pytest.mark.parametrize("seed", range(12))
def test_average_is_the_mean_over_all_orders(seed):
    options = ({}, {"rel_level": 2}, {"judged_only": True})[seed % 3]
    rng = random.Random(seed)
    qrels, run = {}, {}
    for query in "abcd":
        qrels[query], run[query] = small(rng)
    requests = POSSIBLE[seed::12]
    results = fastir.evaluate(qrels, run, map(str, requests), ties="average", **options)
    assert_close(results, expected(qrels, run, requests, **options))


def test_which_metrics_have_a_closed_form():
    assert {card.name for card in fastir.metrics() if has_average(card)} == AVERAGED
    for name in ("iprec@0.1", "gm_map", "yaap", "compat", "inf_ap", "alpha_ndcg@5", "map(ap_norm=hits)@5"):
        with pytest.raises(ValueError, match=re.escape(f"metric '{name}': ties='average' is not possible")):
            fastir.Evaluator({"q": {"a": 1}}, ["map", name], ties="average")


def test_average_cuts_no_ranking():
    with pytest.raises(ValueError, match="max_depth: ties='average'"):
        fastir.Evaluator({"q": {"a": 1}}, "map", ties="average", max_depth=5)


def test_average_by_hand():
    qrels, run = {"q": {"a": 1, "b": 1}}, {"q": {"a": 1.0, "b": 1.0, "c": 1.0}}
    results = fastir.evaluate(qrels, run, ["mrr", "hits@2", "hit_rate@1", "map", "dcg@1"], ties="average")
    assert dict(results) == pytest.approx({
        "mrr": 2 / 3 * 1 + 1 / 3 * 1 / 2, "hits@2": 4 / 3, "hit_rate@1": 2 / 3, "dcg@1": 2 / 3,
        "map": (1 + (1 + 2 / 3) / 2 + (1 / 2 + 2 / 3) / 2) / 3,
    }, rel=1e-15)  # fmt: skip


@pytest.mark.parametrize("seed", range(6))
@pytest.mark.parametrize("rule", ["optimistic", "pessimistic"])
def test_by_label(rule, seed):
    rng = random.Random(seed)
    qrels, run = {}, {}
    for query in "abcdef":
        qrels[query], run[query] = small(rng)
    requests = REQUESTS[seed % 6 :: 6]
    sign = -1 if rule == "optimistic" else 1
    place = {-1: -2, -2: -1}
    wanted = {}
    for query, judged in qrels.items():

        def key(doc, judged=judged, scores=run[query]):
            [code] = oracle.codes(judged, [doc])
            return -scores[doc], sign * place.get(code, code)

        x = oracle.codes(judged, sorted(run[query], key=key))
        wanted[query] = [request.value(x, judged.values()) for request in requests]
    assert_close(fastir.evaluate(qrels, run, map(str, requests), ties=rule), wanted)


@pytest.mark.parametrize("seed", range(4))
def test_the_mean_lies_between_the_best_and_the_worst(seed):
    qrels, run = gen.collection(seed)
    names = ["map", "ndcg@5", "mrr", "recall@3", "rbp", "err", "bpref", "hit_rate@2"]
    worst, mean, best = (
        fastir.evaluate(qrels, run, names, ties=rule).values for rule in ("pessimistic", "average", "optimistic")
    )
    trec = fastir.evaluate(qrels, run, names).values
    assert (worst <= mean + 1e-15).all()
    assert (mean <= best + 1e-15).all()
    assert (worst <= trec).all()
    assert (trec <= best).all()
    assert (worst < best).any()


def larger(rng, score):
    """Eight queries of 40 documents, some of them judged."""
    qrels = {f"q{q}": {f"d{i}": rng.choice((-1, 0, 0, 1, 2, 3)) for i in rng.sample(range(60), 30)} for q in range(8)}
    return qrels, {query: {f"d{i}": score() for i in rng.sample(range(60), 40)} for query in qrels}


RULES = ("trec", "doc_id_asc", "input", "optimistic", "pessimistic", "average")


@pytest.mark.parametrize("judged_only", [False, True])
def test_without_ties_all_rules_give_the_same_bits(judged_only):
    rng = random.Random(1)
    qrels, run = larger(rng, lambda: rng.random())
    names = [*map(str, POSSIBLE)]
    plain = fastir.evaluate(qrels, run, names, judged_only=judged_only).values.tobytes()
    for rule in RULES:
        assert fastir.evaluate(qrels, run, names, ties=rule, judged_only=judged_only).values.tobytes() == plain


@pytest.mark.parametrize("rule", RULES[3:])
@pytest.mark.parametrize("seed", range(4))
def test_every_way_in_gives_the_same_bits(rule, seed, tmp_path):
    """Dicts, files sorted and not, grouped and not, frames: ids do not matter, nor does the order of rows."""
    pandas = pytest.importorskip("pandas")
    rng = random.Random(seed)
    qrels, run = larger(rng, lambda: float(rng.randrange(6)))
    names = ["map", "ndcg", "ndcg@5", "mrr", "err@10", "judged@7", "ndcg(gain={-1:0.5})@9"]
    from_dicts = fastir.evaluate(qrels, run, names, ties=rule)
    rows = [(query, doc, score) for query, docs in run.items() for doc, score in docs.items()]
    falling = sorted(rows, key=lambda row: (row[0], -row[2]))
    for number, order in enumerate((rows, falling, rng.sample(rows, len(rows)))):
        path = tmp_path / f"run{number}"
        path.write_text("".join(f"{query} Q0 {doc} 0 {score} tag\n" for query, doc, score in order))
        frame = pandas.DataFrame(order, columns=["query_id", "doc_id", "score"])
        for given in (path, frame, fastir.Run.from_file(path)):
            results = fastir.evaluate(qrels, given, names, ties=rule, n_threads=2)
            assert results.values.tobytes() == from_dicts.values.tobytes()
            assert results.report.queries_with_ties == from_dicts.report.queries_with_ties == 8


def test_all_documents_alike():
    """A tie of a thousand documents: the expected value of each metric is what its formula says."""
    qrels = {"q": {f"d{place}": 1 for place in range(10)}}
    run = {"q": {f"d{place}": 1.0 for place in range(1000)}}
    results = fastir.evaluate(qrels, run, ["P@100", "recall@100", "dcg", "err(max_grade=1)", "mrr"], ties="average")
    harmonic = sum(1 / rank for rank in range(1, 992))
    assert results["P@100"] == pytest.approx(0.01, rel=1e-14)
    assert results["recall@100"] == pytest.approx(0.1, rel=1e-14)
    assert results["dcg"] == pytest.approx(0.01 * sum(1 / math.log2(rank + 1) for rank in range(1, 1001)), rel=1e-13)
    first = [math.comb(1000 - rank, 9) / math.comb(1000, 10) for rank in range(1, 992)]
    assert harmonic > results["mrr"] == pytest.approx(sum(c / rank for rank, c in enumerate(first, 1)), rel=1e-12)


@pytest.mark.parametrize("k", [1, 5, 37])
def test_rbp_of_the_mean_at_a_depth(k):
    """As rbp_eval: the documents around the depth share what is left of it."""
    qrels, run = {"q": {"a": 1, "b": 1}}, {"q": {f"{chr(97 + place)}": float(place < 4) for place in range(8)}}
    value = fastir.evaluate(qrels, run, f"rbp(p=0.5)@{k}", ties="average")[f"rbp(p=0.5)@{k}"]
    assert value == pytest.approx(0.5 * 2 / 4 * sum(0.5**rank for rank in range(min(k, 4))), rel=1e-15)
