"""Sampled judgments: numbers of NIST's and Pavlu's programs, textbook loops, and draws from judgments of everything.

The numbers of WORKED were printed by sample_eval.pl and statAP_MQ_eval_v4.pl for STRATA and PRELS, with all digits.
Where SAMPLE_PROGRAMS is a folder with the two programs, they are run beside random files: all printed digits agree.
"""

import math
import os
import pickle
import random
import re
import shutil
import subprocess
from pathlib import Path

import numpy as np
import pytest

import fastir
from fastir import cli

PROGRAMS = Path(os.environ.get("SAMPLE_PROGRAMS", "no such folder"))
NEEDS_PROGRAMS = pytest.mark.skipif(
    not (PROGRAMS / "sample_eval.pl").is_file() or shutil.which("perl") is None,
    reason="needs perl, and a folder SAMPLE_PROGRAMS with sample_eval.pl and statAP_MQ_eval_v4.pl",
)
BY_STRATA = [card.name for card in fastir.metrics() if card.sampled == "strata"]
BY_PROBABILITY = [card.name for card in fastir.metrics() if card.sampled == "probabilities"]

pytestmark = pytest.mark.filterwarnings("ignore::fastir.FastirWarning")  # queries and rankings without judgments

STRATA = """\
1 0 a 1 3
1 0 b 1 0
1 0 c 1 1
1 0 d 2 1
1 0 e 2 0
1 0 f 2 -1
1 0 g 2 -1
1 0 h 2 2
1 0 i 10 0
1 0 j 10 1
1 0 k 10 -1
1 0 l 10 -1
1 0 m 10 -1
1 0 n 11 -1
2 0 a 1 0
2 0 b 1 0
2 0 c 2 -1
3 0 a 1 1
3 0 b 2 2
3 0 c 2 -1
3 0 d 2 -1
4 0 a 1 1
"""
RUN = """\
1 Q0 f 1 9 t
1 Q0 a 2 8 t
1 Q0 z 3 7 t
1 Q0 d 4 6 t
1 Q0 i 5 6 t
1 Q0 j 6 5.5 t
1 Q0 b 7 5 t
1 Q0 k 8 4 t
1 Q0 n 9 3 t
1 Q0 c 10 2 t
2 Q0 c 1 2 t
2 Q0 a 2 1 t
3 Q0 d 1 3 t
3 Q0 a 2 2 t
3 Q0 x 3 1 t
"""
WORKED = {
    "xinfAP": {"1": 0.47162745046487259, "2": 0, "3": 0.16666666666666669, "all": 0.21276470571051309},
    "infNDCG": {"1": 0.49261381415493005, "2": 0, "3": 0.13445389546353417, "all": 0.20902256987282142},
    "iP@10": {"1": 0.58332758347457947, "2": 0.033334333303334233, "3": 0.13333133339333153},
    "iP@50": {"1": 0.1166655166949159, "2": 0.0066668666606668472, "3": 0.026666266678666308},
    "iP": {"1": 0.0058332758347457948, "2": 0.00033334333303334233, "3": 0.0013333133339333155},
    "inum_rel_ret": {"1": 5.8332758347457947, "2": 0.33334333303334235, "3": 1.3333133339333154},
    "inum_rel": {"1": 7.8333333333333339, "2": 0, "3": 4},
}
PRELS = """\
1 a 1 1 0.8
1 b 2 1 0.25
1 c 0 1 0.5
1 d 1 0 0.1
1 e 1 2 0.3
1 f 0 0 1
1 g 3 4 0.125
1 h -999 1 0.9
1 i 1 1 NA
1 j 1 1 0.4
2 a 0 1 0.5
2 b 0 1 0.25
3 a 1 0 1
3 b 0 0 1
4 a 1 1 0.5
4 b 0 1 0.75
4 c 1 1 1
"""
PRELS_RUN = """\
1 Q0 c 1 9 t
1 Q0 b 2 8 t
1 Q0 z 3 7 t
1 Q0 a 4 6 t
1 Q0 h 5 5.5 t
1 Q0 i 6 5.25 t
1 Q0 d 7 5 t
1 Q0 f 8 4 t
1 Q0 x 9 3.5 t
1 Q0 y 10 3 t
1 Q0 j 11 2 t
2 Q0 a 1 2 t
3 Q0 a 1 3 t
4 Q0 c 1 3 t
4 Q0 b 2 2 t
4 Q0 a 3 1 t
"""
WORKED_PRELS = {  # the program leaves out queries 2, where nothing is relevant, and 3, where nothing was sampled
    "statAP": {"1": 0.34383574172306569, "4": 0.77777777777777768, "all": 0.560806759750422},
    "varAP": {"1": 0.060963872291678933, "4": 0.0079649542015133371},
    "stat_r_precision": {"1": 0.49295774647887325, "4": 1, "all": 0.746478873239437},
    "stat_precision@10": {"1": 0.625},
    "stat_num_rel": {"1": 17.75, "2": 0, "4": 3},
}


@pytest.fixture
def files(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    for name, text in (("strata", STRATA), ("run", RUN), ("prels", PRELS), ("prels_run", PRELS_RUN)):
        Path(name).write_text(text)
    return fastir.Qrels.from_file("strata", "strata"), fastir.Qrels.from_file("prels", "prels")


def assert_worked(results, worked):
    for metric, values in worked.items():
        for query, value in values.items():
            got = results[metric] if query == "all" else results.to_dict()[query][metric]
            assert math.isclose(got, value, rel_tol=1e-12), (metric, query, got, value)


# ---- the programs --------------------------------------------------------------------------------------------------


def test_strata_give_the_numbers_of_sample_eval(files):
    assert_worked(fastir.evaluate(files[0], "run", list(WORKED), queries="intersection"), WORKED)


def test_probabilities_give_the_numbers_of_stat_ap(files):
    results = fastir.evaluate(files[1], "prels_run", list(WORKED_PRELS), empty="skip")
    assert_worked(results, WORKED_PRELS)
    for metric in ("statAP", "varAP", "stat_r_precision"):
        assert all(math.isnan(results.to_dict()[query][metric]) for query in "23")


def random_strata(rng, n_queries, top):
    """Lines of strata and of a run without equal scores."""
    qrels, run = [], []
    for query in range(1, n_queries + 1):
        pool = rng.sample(range(200), rng.randint(1, 60))
        for doc in pool:
            label = rng.choice((-1, -1, 0, 0, *range(1, top + 1)))
            qrels.append(f"{query} 0 d{doc} {rng.choice((1, 2, 3, 10, 25))} {label}\n")
        ranked = rng.sample(range(200), rng.randint(1, 150))
        run += [f"{query} Q0 d{doc} 0 {1000 - place} t\n" for place, doc in enumerate(ranked)]
    return "".join(qrels), "".join(run)


def random_prels(rng, n_queries):
    qrels, run = [], []
    for query in range(1, n_queries + 1):
        pool = rng.sample(range(200), rng.randint(2, 60))
        for doc in pool:
            label, method = rng.choice((0, 0, 0, 1, 2, 3, -999)), rng.choice((0, 1, 1, 1, 2, 4))
            qrels.append(f"{query} d{doc} {label} {method} {rng.choice(('NA', 1, rng.uniform(0.01, 1)))}\n")
        qrels.append(f"{query} last 1 1 0.5\n{query} one 0 1 0.5\n")
        ranked = rng.sample(range(200), rng.randint(100, 150))
        run += [f"{query} Q0 d{doc} 0 {1000 - place} t\n" for place, doc in enumerate(ranked)]
    return "".join(qrels), "".join(run)


def printed_by(program, *files):
    """What a program prints; the module that statAP imports, and does not use, may be missing."""
    text = (PROGRAMS / program).read_text("latin-1").replace("use LWP::Simple;", "")
    Path(program).write_text(text, "latin-1")
    return subprocess.run(["perl", program, "-q", *files], capture_output=True, text=True, check=True).stdout


@NEEDS_PROGRAMS
@pytest.mark.parametrize("seed", range(3))
def test_random_strata_beside_the_program(seed, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    qrels, run = random_strata(random.Random(seed), 25, 4)
    Path("qrels").write_text(qrels)
    Path("run").write_text(run)
    names = {"infAP": "xinfAP", "iP10": "iP@10", "iP50": "iP@50", "iP1000": "iP@1000"}
    names |= {name: name for name in ("infNDCG", "inum_rel_ret", "inum_rel")}
    found = fastir.evaluate(fastir.Qrels.from_file("qrels", "strata"), "run", names.values(), queries="intersection")
    rows = [line.split() for line in printed_by("sample_eval.pl", "qrels", "run").splitlines()]
    rows = [row for row in rows if row[0] in names and row[1] != "all"]
    assert len(rows) == 25 * len(names)
    for name, query, value in rows:
        assert abs(found.to_dict()[query][names[name]] - float(value)) < 0.000051, (name, query)


@NEEDS_PROGRAMS
@pytest.mark.parametrize("seed", range(3))
def test_random_prels_beside_the_program(seed, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    qrels, run = random_prels(random.Random(seed), 25)
    Path("qrels").write_text(qrels)
    Path("run").write_text(run)
    names = {"AP": "statAP", "varAP": "varAP", "R-prec": "stat_r_precision", "Relevant": "stat_num_rel"}
    names |= {f"Prec_at_{k}": f"stat_precision@{k}" for k in (10, 20)}
    found = fastir.evaluate(fastir.Qrels.from_file("qrels", "prels"), "run", names.values()).to_dict()
    checked = 0
    for part in re.split(r"topic=", printed_by("statAP_MQ_eval_v4.pl", "qrels", "run"))[1:]:
        for name, value in re.findall(r"([\w-]+)=(\d[\d.e-]*)", part.split("valid_topics")[0]):
            if name in names:
                query = part.split()[0]
                assert abs(found[query][names[name]] - float(value)) < 0.00051, (name, query)
                checked += 1
    assert checked == 25 * len(names)


# ---- textbook loops ------------------------------------------------------------------------------------------------


def slow_strata(ranked, labels, strata, k, level, gain):
    """xinf_ap, inf_ndcg, inf_precision, inf_num_rel_ret and inf_num_rel of one query."""
    pool = {s: [doc for doc in labels if strata[doc] == s] for s in sorted(set(strata.values()))}
    judged = {s: [doc for doc in docs if labels[doc] >= 0] for s, docs in pool.items()}

    def scaled(s, n):
        return n * len(pool[s]) / len(judged[s])

    def seen(s, docs):
        inside = [doc for doc in docs if strata.get(doc) == s]
        of_these = [doc for doc in inside if labels[doc] >= 0]
        return len(inside), len(of_these), sum(labels[doc] >= level for doc in of_these)

    def share(s, docs):
        _, n_judged, n_relevant = seen(s, docs)
        return (n_relevant + 0.00001) / (n_judged + 0.00003)

    num_rel = {s: scaled(s, sum(labels[doc] >= level for doc in judged[s])) for s in pool if judged[s]}
    ap = 0.0
    for s in num_rel:
        relevant = [doc for doc in judged[s] if labels[doc] >= level]
        for doc in relevant:
            if doc in ranked[:k]:
                rank = ranked.index(doc) + 1
                above = [other for other in ranked[: rank - 1] if other in labels]
                expected = sum(seen(t, above)[0] / len(above) * share(t, above) for t in pool) if above else 0.0
                precision = 1 / rank + len(above) / rank * expected
                ap += num_rel[s] / sum(num_rel.values()) * precision / len(relevant)
    first, ideal = 1, 0.0
    for worth in sorted({gain(labels[doc]) for doc in labels if gain(labels[doc]) > 0}, reverse=True):
        having = sum(scaled(s, sum(gain(labels[doc]) == worth for doc in judged[s])) for s in num_rel)
        for rank in range(first, first + int(having + 0.5)):
            if rank <= k or rank == first:
                ideal += worth / math.log2(rank + 1)
        first += int(having + 0.5)
    dcg = 0.0
    for s in pool:
        n_docs, n_judged, _ = seen(s, ranked[:k])
        if n_judged:
            inside = [doc for doc in ranked[:k] if strata.get(doc) == s]
            dcg += n_docs / n_judged * sum(gain(labels[doc]) / math.log2(ranked.index(doc) + 2) for doc in inside)
    retrieved = sum(seen(s, ranked[:k])[0] * share(s, ranked[:k]) for s in pool)
    return [ap, dcg / ideal if ideal else 0.0, retrieved / k, retrieved, sum(num_rel.values())]


def slow_probabilities(ranked, labels, chances, k, level):
    """stat_ap, stat_ap_variance, stat_precision, stat_r_precision and stat_num_rel of one query."""
    sampled = [doc for doc in labels if doc in chances]
    relevant = [doc for doc in sampled if labels[doc] >= level]
    num_rel = sum(1 / chances[doc] for doc in relevant)

    def found(k):
        return sum(1 / chances[doc] for doc in ranked[:k] if doc in relevant)

    precision = found(k) / k
    if not relevant:
        return [0.0, 0.0, precision, 0.0, 0.0]
    ranks = {doc: rank for rank, doc in enumerate(ranked, 1)}
    precisions = {doc: (1 + found(ranks[doc] - 1)) / ranks[doc] for doc in relevant if doc in ranks}
    ap = sum(precisions[doc] / chances[doc] for doc in precisions) / num_rel
    y = {doc: (precisions.get(doc, 0.0) - ap) / chances[doc] for doc in relevant}
    each = sum((1 - chances[doc]) * y[doc] ** 2 for doc in relevant)
    pairs = sum(2 * y[a] * y[b] for place, a in enumerate(relevant) for b in relevant[:place])
    last = 0.0
    for doc in precisions:
        below = sum(1 / ranks[other] / chances[other] for other in precisions if ranks[other] > ranks[doc])
        last += below**2 * (1 - chances[doc]) / chances[doc] ** 2
    total = each - (pairs / (len(sampled) - 1) if len(sampled) > 1 else 0) + last
    retrieved = sum(doc in ranks for doc in sampled)
    variance = min(1, total / num_rel**2 / (retrieved + 0.1) * len(sampled))
    at = int(num_rel + 0.5)
    return [ap, variance, precision, found(at) / (at if len(ranked) >= at else num_rel), num_rel]


GAINS = {
    "linear": lambda label: max(label, 0),
    "exp2": lambda label: 2.0 ** max(label, 0) - 1,
    "binary": lambda label: float(label >= 1),
    "{1:2.5, 3:0.5}": lambda label: {1: 2.5, 3: 0.5}.get(label, max(label, 0)),
}


@pytest.mark.parametrize("seed", range(40))
def test_textbook_loops(seed):
    rng = random.Random(seed)
    docs = [f"d{i}" for i in range(25)]
    labels = {doc: rng.choice((-2, -1, 0, 0, 1, 2, 3, 12)) for doc in rng.sample(docs, rng.randint(1, 20))}
    strata = {doc: rng.choice((-3, 1, 2, 7, 10)) for doc in labels}
    chances = {doc: rng.choice((1, rng.uniform(0.05, 1))) for doc in labels if labels[doc] >= 0 and rng.random() < 0.9}
    ranked = rng.sample(docs, rng.randint(1, 25))
    run = {"q": {doc: -float(place) for place, doc in enumerate(ranked)}}
    k, level, gain = rng.choice((1, 3, 10, 1000)), rng.choice((1, 1, 2)), rng.choice(list(GAINS))
    qrels = fastir.Qrels.from_dict({"q": labels}, strata={"q": strata}, probabilities={"q": chances})
    names = [f"xinf_ap@{k}", f"inf_ndcg(gain={gain})@{k}", f"inf_precision@{k}", f"inf_num_rel_ret@{k}", "inf_num_rel"]
    names += ["stat_ap", "stat_ap_variance", f"stat_precision@{k}", "stat_r_precision", "stat_num_rel"]
    level = 1 if gain == "binary" else level
    found = fastir.evaluate(qrels, run, names, rel_level=level)
    expected = slow_strata(ranked, labels, strata, k, level, GAINS[gain])
    expected += slow_probabilities(ranked, labels, chances, k, level)
    for name, want in zip(names, expected, strict=True):
        assert math.isclose(found[name], want, rel_tol=1e-12, abs_tol=1e-15), (name, found[name], want)


# ---- draws from judgments of everything ----------------------------------------------------------------------------

N_DRAWS = 600
POOL = [f"d{i}" for i in range(300)]


def collection():
    """Labels of 300 documents, of which 52 are relevant, and a ranking of them: the better ones tend to be first."""
    rng = np.random.default_rng(7)
    places = np.arange(300)
    relevant = rng.random(300) < 0.6 * np.exp(-places / 80) + 0.02
    return relevant * rng.integers(1, 4, 300), dict(zip(POOL, (-1.0 * places).tolist(), strict=True))


def drawn(draws, ranking, metrics, **options):
    """The values of the metrics, of a query for each draw."""
    labels = {query: dict(zip(docs, numbers, strict=True)) for query, (docs, numbers, _) in draws.items()}
    beside = {query: dict(zip(*last, strict=True)) for query, (_, _, last) in draws.items()}
    qrels = fastir.Qrels.from_dict(labels, **{options["kind"]: beside})
    results = fastir.evaluate(qrels, dict.fromkeys(draws, ranking), metrics)
    return dict(zip(metrics, results.values.T, strict=True))


def assert_near(values, truth, bias=0.0):
    """The mean lies within four standard errors of the truth, or no farther off than a share of it besides."""
    error = values.std() / math.sqrt(len(values))
    assert abs(values.mean() - truth) < 4 * error + bias * truth, (values.mean(), truth, error)


def test_strata_estimate_what_all_judgments_would_give():
    """All but inf_ndcg nearly without bias; its ideal ranking is a sum of logarithms of estimates."""
    labels, ranking = collection()
    rng, rates = np.random.default_rng(1), {1: 1.0, 2: 0.4, 3: 0.2}
    stratum = np.repeat([1, 2, 3], [50, 100, 150])
    draws = {}
    for draw in range(N_DRAWS):
        rows = [rng.choice(np.flatnonzero(stratum == s), int((stratum == s).sum() * rates[s]), False) for s in rates]
        taken = np.concatenate(rows)
        draws[f"q{draw}"] = [POOL[i] for i in taken], labels[taken].tolist(), (POOL, stratum.tolist())
    names = ["xinf_ap", "inf_precision@100", "inf_num_rel", "inf_ndcg"]
    found = drawn(draws, ranking, names, kind="strata")
    whole = {"q": dict(zip(POOL, labels.tolist(), strict=True))}
    truth = fastir.evaluate(whole, {"q": ranking}, ["map", "precision@100", "num_rel", "ndcg"])
    for (name, values), true in zip(found.items(), truth.values[0], strict=True):
        assert_near(values, true, 0.01 if name == "inf_ndcg" else 0.002)


def test_probabilities_estimate_without_bias_and_their_interval_holds():
    """Sums are unbiased, and so is stat_ap where R is known; the quotient of two estimates nearly is."""
    labels, ranking = collection()
    rng, chances = np.random.default_rng(2), np.clip(0.9 * np.exp(-np.arange(300) / 60), 0.1, 1)
    draws = {}
    for draw in range(N_DRAWS):
        taken = np.flatnonzero(rng.random(300) < chances)
        docs = [POOL[i] for i in taken]
        draws[f"q{draw}"] = docs, labels[taken].tolist(), (docs, chances[taken].tolist())
    names = ["stat_num_rel", "stat_precision@10", "stat_precision@100", "stat_ap", "stat_ap_variance"]
    found = drawn(draws, ranking, names, kind="probabilities")
    whole = {"q": dict(zip(POOL, labels.tolist(), strict=True))}
    truth = fastir.evaluate(whole, {"q": ranking}, ["num_rel", "precision@10", "precision@100", "map"])
    for (name, values), true in zip(list(found.items())[:4], truth.values[0], strict=True):
        assert_near(values, true, 0.01 if name == "stat_ap" else 0.0)
    assert_near(found["stat_ap"] * found["stat_num_rel"] / truth["num_rel"], truth["map"])
    spread = np.sqrt(found["stat_ap_variance"])
    inside = np.mean(abs(found["stat_ap"] - truth["map"]) < 1.96 * spread)
    assert 0.88 < inside < 0.99, inside
    assert 0.7 < (spread**2).mean() / found["stat_ap"].var() < 1.3


# ---- every way in ---------------------------------------------------------------------------------------------------


def test_dicts_beside_the_labels_are_the_file(files):
    for qrels, kind, metrics, run in (
        (files[0], "strata", BY_STRATA, "run"),
        (files[1], "probabilities", BY_PROBABILITY, "prels_run"),
    ):
        beside = getattr(qrels, kind)
        again = fastir.Qrels.from_dict(qrels.to_dict(), **{kind: beside})
        assert again == qrels and again != fastir.Qrels.from_dict(qrels.to_dict())
        assert (fastir.evaluate(again, run, metrics).values == fastir.evaluate(qrels, run, metrics).values).all()
        held = pickle.loads(pickle.dumps(qrels))
        assert held == qrels and getattr(held, kind) == beside
    drawn = {query: {doc: n for doc, n in docs.items() if n >= 0} for query, docs in files[0].to_dict().items()}
    assert fastir.Qrels.from_dict(drawn, strata=files[0].strata) == files[0]


def test_what_is_written_reads_back(files):
    for qrels, format in zip(files, ("strata", "prels"), strict=True):
        qrels.save("saved.gz")
        qrels.save("saved", format)
        assert fastir.Qrels.from_file("saved.gz", format) == fastir.Qrels.from_file("saved", format) == qrels
        with pytest.raises(ValueError, match=f"format must be one of None, '{format}', got 'trec'"):
            qrels.save("saved", "trec")


def test_runs_of_every_shape_have_one_value(files):
    held = fastir.Run.from_file("run")
    rows = [(query, doc, score) for query, docs in held.to_dict().items() for doc, score in docs.items()]
    wanted = fastir.evaluate(files[0], "run", BY_STRATA).values
    for run in (held, held.to_dict(), rows, open("run", "rb")):  # noqa: SIM115
        assert (fastir.evaluate(files[0], run, BY_STRATA).values == wanted).all()
    both = fastir.evaluate_many(files[0], {"a": held, "b": "run"}, ["xinfap", "map"])
    assert both["a"]["xinfap"] == both["b"]["xinfap"] == fastir.evaluate(files[0], held, "xinf_ap")["xinf_ap"]


def test_one_qrels_may_have_both(files):
    labels = {"q": {"a": 1, "b": 0, "c": 1}}
    strata, chances = {"q": {"a": 1, "b": 1, "c": 2, "d": 2}}, {"q": {"a": 0.5, "c": 1}}
    qrels = fastir.Qrels.from_dict(labels, strata=strata, probabilities=chances)
    assert qrels.strata == strata and qrels.probabilities == chances and qrels["q"]["d"] == -1
    assert repr(qrels) == "<Qrels: 1 query, 3 judgments of a sample of 4 documents>"
    found = fastir.evaluate(qrels, {"q": {"c": 2.0, "a": 1.0}}, ["stat_num_rel", "inum_rel"])
    assert found.values.tolist() == [[3.0, 3.0]]
    with pytest.raises(FileNotFoundError):
        fastir.Qrels.from_file("nowhere", "strata")


def test_other_metrics_read_the_labels_of_the_sample(files):
    names = ["map", "inf_ap", "bpref", "ndcg@3", "num_rel", "judged@5", "hole@3"]
    plain = fastir.Qrels.from_dict(files[0].to_dict())
    alone = fastir.evaluate(plain, "run", names)
    beside = fastir.evaluate(files[0], "run", [*names, "xinfap"])
    assert (beside.values[:, :-1] == alone.values).all()
    assert beside.report.no_relevant == alone.report.no_relevant == 1
    assert beside["xinfap"] == fastir.evaluate(files[0], "run", "xinfap")["xinfap"]
    assert fastir.judged_rankings(files[0], "run").evaluate("map")["map"] == alone["map"]
    assert fastir.Evaluator(files[0], ["xinfap", "map"]).judged_rankings("run").evaluate("map")["map"] == alone["map"]


def test_depth_level_missing_queries_and_equal_scores_are_heard(files):
    def value(metric, run="run", **options):
        return fastir.evaluate(files[0], run, metric, **options)

    cut = {query: dict(list(docs.items())[:5]) for query, docs in fastir.Run.from_file("run").to_dict().items()}
    for metric in BY_STRATA:
        assert (value(metric, max_depth=5).values == value(metric, cut).values).all()
    assert value("xinfap-l2")["xinfap-l2"] == value("xinfap", rel_level=2)["xinfap"] != value("xinfap")["xinfap"]
    assert value("xinfap").to_dict()["4"]["xinfap"] == 0
    assert value("inum_rel").to_dict()["4"]["inum_rel"] == 1
    tied = {"1": dict.fromkeys("abcdefghij", 1.0)}
    orders = {ties: value("infndcg", tied, ties=ties).to_dict()["1"]["infndcg"] for ties in ("trec", "doc_id_asc")}
    rows = [{"1": {doc: -float(i) for i, doc in enumerate(docs)}} for docs in ("jihgfedcba", "abcdefghij")]
    assert list(orders.values()) == [value("infndcg", run).to_dict()["1"]["infndcg"] for run in rows]
    best = {"1": {doc: -float(i) for i, doc in enumerate("ahcdjbeifg")}}
    assert math.isclose(
        value("infndcg", tied, ties="optimistic").to_dict()["1"]["infndcg"],
        value("infndcg", best).to_dict()["1"]["infndcg"],
    )


def test_the_command_line_reads_the_formats(files, capsys):
    assert cli.main(["eval", "strata", "run", "--qrels-format", "strata", "-m", "xinfap", "iP@10"]) == 0
    assert f"{fastir.evaluate(files[0], 'run', 'xinfap')['xinfap']:.4f}" in capsys.readouterr().out
    assert cli.main(["eval", "prels", "prels_run", "--qrels-format", "prels", "-m", "statap"]) == 0
    assert "statap" in capsys.readouterr().out
    assert cli.main(["eval", "strata", "run", "-m", "xinfap"]) != 0
    assert "the 5 columns of a sample need --qrels-format strata or --qrels-format prels" in capsys.readouterr().err


# ---- what is refused -------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(("format", "line", "message"), [
    ("strata", "1 0 a x 1", "1: stratum 'x' is not a number (query 1, document a)"),
    ("strata", "1 0 a 1.5 1", "1: stratum '1.5' is not an integer number (query 1, document a)"),
    ("strata", "1 0 a  1", "1: malformed strata line with 4 fields, expected exactly 5 fields (query iteration"),
    ("strata", "1 0 a 1 NA", "1: sampled label 'NA' is not a number (query 1, document a)"),
    ("prels", "1 a 1 1 0", "1: inclusion probability '0' is out of range; expected a number above 0 and at most 1"),
    ("prels", "1 a 1 1 1.5", "1: inclusion probability '1.5' is out of range"),
    ("prels", "1 a 1 1 nan", "1: inclusion probability 'nan' is not a number (query 1, document a)"),
    ("prels", "1 a 1 x .5", "1: method 'x' is not a number (query 1, document a)"),
    ("prels", "1 a .5 1 .5", "1: sampled label '.5' is not an integer number (query 1, document a)"),
    ("prels", "1 a 1 1 .5 7", "1: malformed prels line with 6 fields, expected exactly 5 fields"),
    ("prels", "1 b 1 1 1\n1 b 1 1 .5", "2: duplicate document 'b' in query '1', first on line 1"),
])  # fmt: skip
def test_bad_lines(format, line, message, tmp_path):
    (tmp_path / "qrels").write_text(f"{line}\n")
    with pytest.raises(fastir.FormatError, match=re.escape(f"qrels:{message}")):
        fastir.Qrels.from_file(tmp_path / "qrels", format)


def test_lines_that_are_repeated_are_repaired_as_a_whole(tmp_path):
    (tmp_path / "qrels").write_text("1 0 a 1 0\n1 0 a 2 1\n")
    for rule, stratum in (("first", 1), ("last", 2)):
        found = fastir.Qrels.from_file(tmp_path / "qrels", "strata", rule)
        assert (found.strata, found.to_dict()) == ({"1": {"a": stratum}}, {"1": {"a": stratum - 1}})
    with pytest.raises(ValueError, match="duplicates='max' is not possible with format='strata'"):
        fastir.Qrels.from_file(tmp_path / "qrels", "strata", "max")


@pytest.mark.parametrize(("beside", "error", "message"), [
    ({"strata": {"q": {"b": 1}}}, ValueError, "strata: document 'a' of query 'q' has none"),
    ({"strata": {"q": {"a": "x"}}}, TypeError, "a stratum must be an int, got str 'x' (query q, document a)"),
    ({"strata": {"q": {"a": True}}}, TypeError, "a stratum must be an int, got bool True"),
    ({"strata": {"q": {"a": 2**70}}}, OverflowError, "the stratum is too large"),
    ({"strata": [1]}, TypeError, "strata must be {query_id: {doc_id: number}}, got list [1]"),
    ({"strata": {"q": 1}}, TypeError, "strata must be {query_id: {doc_id: number}}, got int 1"),
    ({"probabilities": {"q": {"a": 0}}}, ValueError, "above 0 and at most 1, got 0 (query q, document a)"),
    ({"probabilities": {"q": {"a": math.nan}}}, ValueError, "above 0 and at most 1, got nan"),
    ({"probabilities": {"q": {"a": "NA"}}}, TypeError, "above 0 and at most 1, got str 'NA' (query q, document a)"),
    ({"probabilities": {"q": {"b": 1}}}, ValueError, "probabilities: document 'b' of query 'q' has no label"),
    ({"probabilities": {"p": {"a": 1}}}, ValueError, "probabilities: document 'a' of query 'p' has no label"),
    ({"probabilities": 1}, TypeError, "probabilities must be {query_id: {doc_id: number}}, got int 1"),
])  # fmt: skip
def test_bad_dicts(beside, error, message):
    with pytest.raises(error, match=re.escape(message)):
        fastir.Qrels.from_dict({"q": {"a": 1}}, **beside)


def test_qrels_that_do_not_say_what_a_metric_needs(files):
    run = {"1": {"a": 1.0}}
    for name, other in [(name, files[1]) for name in BY_STRATA] + [(name, files[0]) for name in BY_PROBABILITY]:
        for qrels in ({"1": {"a": 1}}, other):
            with pytest.raises(
                fastir.UnknownMetricError, match=rf"'{name}' is defined on qrels with .*from_file\(path, '"
            ):
                fastir.evaluate(qrels, run, ["map", name])
        with pytest.raises(fastir.UnknownMetricError, match=f"'{name}' needs qrels that say how"):
            fastir.evaluate_ranked([1, 0], [0, 2], name)
        with pytest.raises(fastir.UnknownMetricError, match=f"'{name}' needs qrels that say how"):
            fastir.judged_rankings({"1": {"a": 1}}, run).evaluate(name)
        with pytest.raises(fastir.UnknownMetricError, match="not defined on qrels with groups"):
            fastir.evaluate({"1": {"g": {"a": 1}}}, run, name)
    with pytest.raises(TypeError, match="stand beside labels"):
        fastir.Qrels.from_dict({"1": {"g": {"a": 1}}}, strata={"1": {"a": 1}})


def test_options_that_a_sample_does_not_have(files):
    for options in ({"judged_only": True}, {"ties": "average"}):
        with pytest.raises(ValueError, match="'xinfap'"):
            fastir.evaluate(files[0], "run", "xinfap", **options)
    evaluator = fastir.Evaluator(files[0], ["map", "xinfap"])
    with pytest.raises(ValueError, match="explain: metric 'xinfap' is estimated from a sample"):
        evaluator.explain("run", "1")
    with pytest.raises(fastir.UnknownMetricError, match="'xinfap' needs qrels that say how"):
        evaluator.partial("run")
    with pytest.raises(fastir.NoOverlapError, match="no query in common"):
        fastir.evaluate(files[0], {"9": {"a": 1.0}}, "xinfap")
    with pytest.raises(OverflowError, match="label 2000 is too large for an exponential gain"):
        large = fastir.Qrels.from_dict({"1": {"a": 2000}}, strata={"1": {"a": 1}})
        fastir.evaluate(large, {"1": {"a": 1.0}}, "infndcg(gain=exp2)")


def test_a_damaged_pickle_is_refused(files):
    make, columns = files[0].__reduce__()
    for place, bad in ((4, columns[4][:-1]), (4, columns[4].astype(float)), (5, [0.5] * files[0]._n_rows)):
        with pytest.raises(ValueError, match="pickled qrels are damaged: strata or probabilities"):
            make(*columns[:place], bad, *columns[place + 1 :])
    with pytest.raises(ValueError, match="pickled qrels are damaged"):
        make(columns[0][:-1], *columns[1:])


def test_a_query_without_documents_or_without_a_sample_has_zeros():
    empty = fastir.Qrels.from_dict({"q": {}, "p": {"a": -1}}, strata={"p": {"a": 1, "b": 2}}, probabilities={})
    found = fastir.evaluate(empty, {"q": {"a": 1.0}, "p": {"x": 1.0}}, [*BY_STRATA, *BY_PROBABILITY])
    assert not found.values.any()
    for kind, names in (("strata", BY_STRATA), ("probabilities", BY_PROBABILITY)):
        nothing = fastir.Qrels.from_dict({"q": {}}, **{kind: {"q": {}}})
        assert not fastir.evaluate(nothing, {"q": {"a": 1.0}}, names).values.any()
    skipped = fastir.evaluate(empty, {"p": {"a": 1.0}}, ["xinfap", "infndcg", "statap"], empty="skip")
    assert np.isnan(skipped.values).all()
