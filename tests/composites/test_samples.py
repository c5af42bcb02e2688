"""Sampled judgments: numbers of NIST's and Pavlu's programs, textbook loops, and draws from judgments of everything.

The numbers of WORKED were printed by sample_eval.pl and statAP_MQ_eval_v4.pl for STRATA and PRELS, with all digits.
Where SAMPLE_PROGRAMS is a folder with the two programs, they are run beside random files: all printed digits agree.
"""

import math
import os
import random
import re
import shutil
import subprocess
from pathlib import Path

import numpy as np
import pytest
from sampled import PRELS, PRELS_RUN, RUN, STRATA

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
WORKED = {
    "xinfAP": {"1": 0.47162745046487259, "2": 0, "3": 0.16666666666666669, "all": 0.21276470571051309},
    "infNDCG": {"1": 0.49261381415493005, "2": 0, "3": 0.13445389546353417, "all": 0.20902256987282142},
    "iP@10": {"1": 0.58332758347457947, "2": 0.033334333303334233, "3": 0.13333133339333153},
    "iP@50": {"1": 0.1166655166949159, "2": 0.0066668666606668472, "3": 0.026666266678666308},
    "iP": {"1": 0.0058332758347457948, "2": 0.00033334333303334233, "3": 0.0013333133339333155},
    "inum_rel_ret": {"1": 5.8332758347457947, "2": 0.33334333303334235, "3": 1.3333133339333154},
    "inum_rel": {"1": 7.8333333333333339, "2": 0, "3": 4},
}
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
    assert "need --qrels-format strata" in capsys.readouterr().err


def test_qrels_that_do_not_say_what_a_metric_needs(files):
    run = {"1": {"a": 1.0}}
    for name, other in [(name, files[1]) for name in BY_STRATA] + [(name, files[0]) for name in BY_PROBABILITY]:
        for qrels in ({"1": {"a": 1}}, other):
            with pytest.raises(fastir.UnknownMetricError, match=rf"'{name}' is defined on qrels with .*_file\(path, '"):
                fastir.evaluate(qrels, run, ["map", name])
        with pytest.raises(fastir.UnknownMetricError, match=f"'{name}' needs qrels that say how"):
            fastir.evaluate_ranked([1, 0], [0, 2], name)
        with pytest.raises(fastir.UnknownMetricError, match=f"'{name}' needs qrels that say how"):
            fastir.judged_rankings({"1": {"a": 1}}, run).evaluate(name)
        with pytest.raises(fastir.UnknownMetricError, match="not defined on qrels with groups"):
            fastir.evaluate({"1": {"g": {"a": 1}}}, run, name)
    with pytest.raises(TypeError, match="go with labels"):
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


def test_a_query_without_documents_or_without_a_sample_has_zeros():
    empty = fastir.Qrels.from_dict({"q": {}, "p": {"a": -1}}, strata={"p": {"a": 1, "b": 2}}, probabilities={})
    found = fastir.evaluate(empty, {"q": {"a": 1.0}, "p": {"x": 1.0}}, [*BY_STRATA, *BY_PROBABILITY])
    assert not found.values.any()
    for kind, names in (("strata", BY_STRATA), ("probabilities", BY_PROBABILITY)):
        nothing = fastir.Qrels.from_dict({"q": {}}, **{kind: {"q": {}}})
        assert not fastir.evaluate(nothing, {"q": {"a": 1.0}}, names).values.any()
    skipped = fastir.evaluate(empty, {"p": {"a": 1.0}}, ["xinfap", "infndcg", "statap"], empty="skip")
    assert np.isnan(skipped.values).all()


LABELS, RANKING = {"q": {"a": 1, "b": 0, "c": 2}}, {"q": ["a", "b", "x", "c", "y"]}


def test_documents_beyond_max_depth_are_not_retrieved():
    qrels = fastir.Qrels.from_dict(LABELS, probabilities={"q": {"a": 0.5, "b": 1.0, "c": 0.25}})
    for depth, value in ((None, 6 / 5), (2, 2 / 2), (4, 6 / 4), (9, 6 / 5)):
        assert fastir.evaluate(qrels, RANKING, "stat_precision", max_depth=depth)["stat_precision"] == value


@pytest.mark.parametrize("gain", [{0: 1, 1: 2, 2: 5}, {1: 2, 2: 5}, {0: 3}])
def test_of_a_pool_that_was_judged_as_a_whole_gains_are_those_of_ndcg(gain):
    qrels = fastir.Qrels.from_dict(LABELS, strata={"q": dict.fromkeys("abc", 1)})
    value = fastir.evaluate(LABELS, RANKING, "ndcg", gain=gain)["ndcg"]
    assert math.isclose(fastir.evaluate(qrels, RANKING, "inf_ndcg", gain=gain)["inf_ndcg"], value, rel_tol=1e-14)
