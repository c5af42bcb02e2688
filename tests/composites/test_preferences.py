"""Preferences of judges: what trec_eval prints for small files of our own, by hand, and what is refused.

The numbers of TABLE were printed by trec_eval 10 for FILES (-q -m all_prefs -R prefs); where the program is installed,
random files are compared byte for byte.
"""

import os
import pickle
import random
import shutil
import subprocess

import pytest
from preferred import PREFS, RUN

import fastir
from fastir import cli
from fastir.compat import trec_eval
from fastir.request.names import ALL_PREFS, NICKNAMES

PROGRAM = os.environ.get("TREC_EVAL") or shutil.which("trec_eval")
METRICS = NICKNAMES["all_prefs"].split()
pytestmark = pytest.mark.filterwarnings("ignore::fastir.FastirWarning")  # rankings without a judged document
TABLE = """\
prefs_num_prefs_poss  	q1	8
prefs_num_prefs_ful   	q1	5
prefs_num_prefs_ful_ret	q1	1
prefs_simp            	q1	0.6250
prefs_pair            	q1	0.6429
prefs_avgjg           	q1	0.3571
prefs_avgjg_Rnonrel   	q1	0.5818
prefs_simp_ret        	q1	0.2500
prefs_pair_ret        	q1	0.1667
prefs_avgjg_ret       	q1	0.1667
prefs_avgjg_Rnonrel_ret	q1	0.7000
prefs_simp_imp        	q1	0.6250
prefs_pair_imp        	q1	0.6429
prefs_avgjg_imp       	q1	0.3571
prefs_num_prefs_poss  	q2	8
prefs_num_prefs_ful   	q2	2
prefs_num_prefs_ful_ret	q2	1
prefs_simp            	q2	0.2500
prefs_pair            	q2	0.1667
prefs_avgjg           	q2	0.3333
prefs_avgjg_Rnonrel   	q2	0.4167
prefs_simp_ret        	q2	0.2500
prefs_pair_ret        	q2	0.1667
prefs_avgjg_ret       	q2	0.1667
prefs_avgjg_Rnonrel_ret	q2	0.5833
prefs_simp_imp        	q2	0.2500
prefs_pair_imp        	q2	0.1667
prefs_avgjg_imp       	q2	0.3333
prefs_num_prefs_poss  	q3	0
prefs_num_prefs_ful   	q3	0
prefs_num_prefs_ful_ret	q3	0
prefs_simp            	q3	0.0000
prefs_pair            	q3	0.0000
prefs_avgjg           	q3	0.0000
prefs_avgjg_Rnonrel   	q3	0.0000
prefs_simp_ret        	q3	0.0000
prefs_pair_ret        	q3	0.0000
prefs_avgjg_ret       	q3	0.0000
prefs_avgjg_Rnonrel_ret	q3	0.0000
prefs_simp_imp        	q3	0.0000
prefs_pair_imp        	q3	0.0000
prefs_avgjg_imp       	q3	0.0000
runid                 	all	t
num_q                 	all	3
prefs_num_prefs_poss  	all	16
prefs_num_prefs_ful   	all	7
prefs_num_prefs_ful_ret	all	2
prefs_simp            	all	0.2917
prefs_pair            	all	0.2698
prefs_avgjg           	all	0.2302
prefs_avgjg_Rnonrel   	all	0.3328
prefs_simp_ret        	all	0.1667
prefs_pair_ret        	all	0.1111
prefs_avgjg_ret       	all	0.1111
prefs_avgjg_Rnonrel_ret	all	0.4278
prefs_simp_imp        	all	0.2917
prefs_pair_imp        	all	0.2698
prefs_avgjg_imp       	all	0.2302
"""


@pytest.fixture
def files(tmp_path):
    for name, text in {"prefs": PREFS, "run": RUN}.items():
        (tmp_path / name).write_text(text)
    return tmp_path / "prefs", tmp_path / "run"


def printout(capsys, *arguments):
    code = cli.main(["trec_eval", *map(str, arguments)])
    found = capsys.readouterr()
    assert (code, found.err) == (0, "")
    return found.out


def test_the_program_printed_this(files, capsys):
    assert printout(capsys, "-q", "-m", "all_prefs", "-R", "prefs", *files) == TABLE


def test_natively_the_same_numbers(files):
    prefs, run = files
    found = fastir.evaluate(fastir.Qrels.from_file(prefs, "prefs"), run, "all_prefs", ties="doc_id_asc")
    rows = [line.split() for line in TABLE.splitlines()[: 3 * len(METRICS)]]
    for name, query, text in rows:
        assert f"{found.to_dict()[query][name]:.4f}" == f"{float(text):.4f}", (name, query)


def random_files(rng, form):
    """Judges who agree with themselves, in parts, and runs with ties and documents that nobody judged."""
    lines, run = [], []
    for query in range(rng.randint(1, 4)):
        docs = [f"d{i}" for i in range(rng.randint(1, 12))]
        for judge in range(rng.randint(1, 3)):
            levels = {doc: rng.randint(0, 5) for doc in docs}
            for part in range(rng.randint(1, 4) if form == "prefs" else 1):
                middle = f"part{part} " if form == "prefs" else ""
                chosen = rng.sample(docs, rng.randint(1, len(docs)))
                lines += [f"q{query} j{judge} {middle}{doc} {levels[doc] / 2}\n" for doc in chosen]
        pool = [*docs, *(f"x{i}" for i in range(5))]
        run += [f"q{query} Q0 {doc} 1 {rng.randint(0, 6)} t\n" for doc in rng.sample(pool, rng.randint(1, len(pool)))]
    rng.shuffle(lines)
    return "".join(lines), "".join(run)


@pytest.mark.skipif(PROGRAM is None, reason="needs trec_eval 10, as a program or in TREC_EVAL")
@pytest.mark.parametrize("seed", range(40))
def test_byte_for_byte_what_the_program_prints(seed, tmp_path, capsys):
    rng = random.Random(seed)
    form = rng.choice(["prefs", "qrels_prefs"])
    for name, text in zip(("judged", "run"), random_files(rng, form), strict=True):
        (tmp_path / name).write_text(text)
    asked = ["-q", "-m", "all_prefs", "-R", form, *rng.choice([[], ["-c"], ["-M3"], ["-J"]])]
    paths = [tmp_path / "judged", tmp_path / "run"]
    said = subprocess.run([PROGRAM, *asked, *paths], capture_output=True, text=True, check=True).stdout
    assert printout(capsys, *asked, *paths) == said


def test_what_follows_from_two_parts_counts():
    qrels = {"q": {"ann": {"1": {"a": 2, "b": 1}, "2": {"b": 7, "c": 3}}}}
    found = fastir.evaluate(qrels, {"q": ["c", "a"]}, ["prefs_num_prefs_poss", "prefs_num_prefs_ful"])
    assert dict(found) == {"prefs_num_prefs_poss": 3, "prefs_num_prefs_ful": 1}  # a over b; a over c and b over c fail


def test_the_metrics_stand_beside_those_of_groups():
    qrels, run = {"q": {"x": {"a": 1, "b": 0}, "y": {"b": 1, "a": 0}}}, {"q": ["a", "b"]}
    found = fastir.evaluate(qrels, run, ["prefs_simp", "map_avgjg", "prefs_pair"])
    assert dict(found) == {"prefs_simp": 0.5, "map_avgjg": 0.75, "prefs_pair": 0.5}


@pytest.mark.parametrize("queries", ["qrels", "intersection"])
def test_queries_that_the_run_lacks(queries):
    qrels = {"q": {"ann": {"1": {"a": 1, "b": 0}}}, "p": {"ann": {"1": {"a": 1, "b": 0}}}}
    found = fastir.evaluate(qrels, {"q": ["a"]}, "prefs_simp", queries=queries)
    assert found.to_dict() == {"q": {"prefs_simp": 1.0}} | ({"p": {"prefs_simp": 0.0}} if queries == "qrels" else {})


def test_preferences_are_pickled_saved_and_shown(files, tmp_path):
    prefs = fastir.Qrels.from_file(files[0], "prefs")
    assert repr(prefs) == "<Qrels: 3 queries, preferences of 5 judges, 11 documents>"
    assert prefs["q3"] == {"ann": {"1": {"a": 1.0}}} and len(prefs) == 3
    prefs.save(tmp_path / "again")
    for other in (pickle.loads(pickle.dumps(prefs)), fastir.Qrels.from_file(tmp_path / "again", "prefs")):
        assert other == prefs and repr(other) == repr(prefs)
    evaluator = pickle.loads(pickle.dumps(fastir.Evaluator(prefs, "prefs")))
    assert evaluator.evaluate(files[1]) == fastir.evaluate(prefs, files[1], "prefs")


def test_calls_that_preferences_cannot_answer(files):
    prefs = fastir.Qrels.from_file(files[0], "prefs")
    with pytest.raises(fastir.UnknownMetricError, match="'map' is not defined on preferences; those that are: prefs_"):
        fastir.evaluate(prefs, files[1], "map")
    with pytest.raises(ValueError, match="judged rankings have one"):
        fastir.judged_rankings(prefs, files[1])
    with pytest.raises(ValueError, match="preferences"):
        fastir.Evaluator(prefs, "prefs").explain(files[1], "q1")


OF_TREC_EVAL = """
    runid num_q num_ret num_rel num_rel_ret map gm_map Rprec bpref recip_rank iprec_at_recall P relstring recall infAP
    gm_bpref Rprec_mult utility 11pt_avg binG G dcg ideal_dcg ndcg ndcg_rel Rndcg ndcg_cut map_cut relative_P success
    set_P set_relative_P set_recall set_map set_F num_nonrel_judged_ret prefs_num_prefs_poss prefs_num_prefs_ful
    prefs_num_prefs_ful_ret prefs_simp prefs_pair prefs_avgjg prefs_avgjg_Rnonrel prefs_simp_ret prefs_pair_ret
    prefs_avgjg_ret prefs_avgjg_Rnonrel_ret prefs_simp_imp prefs_pair_imp prefs_avgjg_imp map_avgjg P_avgjg
    Rprec_mult_avgjg yaap rbp rbp_resid unj
"""


def test_fastir_has_every_measure_of_trec_eval_in_its_order():
    """The list of trec_eval 10, in which num_nonjudged_ret is declared but not entered."""
    assert len(OF_TREC_EVAL.split()) == 57
    assert OF_TREC_EVAL.split() == trec_eval.MEASURES
    known = {name for card in fastir.metrics() for name in (card.name, *card.aliases, card.family)}
    assert set(OF_TREC_EVAL.split()) - {name for name in known if name} <= {"runid", "relstring", *aliases()}
    assert [f"prefs_{name}" for name in ALL_PREFS.split()] == METRICS and len(METRICS) == 14


def aliases():
    """Names that are read in another case."""
    return {name for name in OF_TREC_EVAL.split() if name.lower() in fastir.request.names.NAMES}
