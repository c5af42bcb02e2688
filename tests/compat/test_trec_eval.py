"""`fastir trec_eval` prints what the program prints: whole files byte for byte, then options, files and errors by hand.

The files are those of ../shared/data: EXPECTED.tsv says what each was made from, `NIST` what trec_eval's own test runs.
"""

import gzip
import io
import signal
import subprocess
import sys
import types
from pathlib import Path

import pytest
from common import ABSENT, SHARED
from processes import patient
from reference_files import DATA, listed, paths, text_of

from fastir import cli
from fastir.compat import trec_eval
from fastir.request.names import NICKNAMES

needs_data = pytest.mark.skipif(not SHARED.is_dir(), reason=ABSENT)
NIST = {
    "out.test": "qrels.test results.test",
    "out.test (comments)": "qrels.test.with-comments results.test",
    "out.comment.test": "qrels.comment.test.gz results.comment.test.gz",
    "out.test.a": "-m all_trec qrels.test results.test",
    "out.test.aq": "-m all_trec -q qrels.test results.test",
    "out.test.aqc": "-m all_trec -q -c qrels.test results.trunc",
    "out.test.aqcM": "-m all_trec -q -c -M100 qrels.test results.trunc",
    "out.test.aql": "-m all_trec -mrelstring.20 -q -l2 qrels.rel_level results.test",
    "out.test.aqZ": "-q -m all_trec -Z zscores_file qrels.test results.test",
    "out.test.qrels_jg": "-m qrels_jg -q -R qrels_jg qrels.123 results.test",
    "out.test.qrels_jg (comments)": "-m qrels_jg -q -R qrels_jg qrels.comments.123 results.test",
    "out.test.prefs": "-m all_prefs -q -R prefs prefs.test prefs.results.test",
    "out.test.prefs (comments)": "-m all_prefs -q -R prefs prefs.comment.test prefs.results.test",
    "out.test.qrels_prefs": "-m all_prefs -q -R qrels_prefs qrels.test results.test",
    "out.test.meas_params": "-q -miprec_at_recall..10,.20,.25,.75,.50 -m P.5,7,3 -m recall.20,2000 "
    "-m Rprec_mult.5.0,0.2,0.35 -mutility.2,-1,0,0 -m 11pt_avg..25,.5,.75 -mndcg.1=3,2=9,4=4.5 "
    "-mndcg_cut.10,20,23.4 -msuccess.2,5,20 qrels.test results.test",
}


@pytest.fixture
def call(capsysbinary):
    """Run the command in this process: (exit code, standard output, standard error)."""

    def run_it(*arguments):
        code = cli.main(["trec_eval", *map(str, arguments)])
        out, err = capsysbinary.readouterr()
        return code, out.decode("utf-8", "surrogateescape"), err.decode("utf-8", "surrogateescape")

    return run_it


@pytest.fixture
def values(output):
    """What is printed of all queries, or of one: {name: value}."""

    def run_it(*arguments, query="all"):
        rows = (line.split("\t") for line in output(*arguments).splitlines())
        return {name.rstrip(): value for name, key, value in rows if key == query}

    return run_it


@pytest.fixture
def write(tmp_path):
    """Write lines to a file of this name; its path."""

    def write_it(name, *lines):
        path = tmp_path / name
        path.write_bytes("".join(f"{line}\n" for line in lines).encode("utf-8", "surrogateescape"))
        return str(path)

    return write_it


@pytest.fixture
def files(write):
    """q1: labels 1 - 0 (not judged), 2 is missed. q2: missing from the run. q10: a label 2, and one in the pool."""
    return types.SimpleNamespace(
        qrels=write("qrels", "q2 0 a 1", "q2 0 b 0", "q10 0 a 2", "q10 0 b -1", "q1 0 a 1", "q1 0 b 0", "q1 0 c 2"),
        run=write(
            "run", "q10 Q0 b 1 2.5 x", "q10 Q0 a 2 1.5 x", "q1 Q0 a 1 3 x", "q1 Q0 z 2 2 x", "q1 Q0 b 3 1 my-run"
        ),
    )


# ---- whole files ---------------------------------------------------------------------------------------------------
def expected_of(*programs):
    return [param for param in listed(*programs) if not param.values[0] or "ERROR" not in param.values[0]["expected"]]


@needs_data
@pytest.mark.parametrize("line", expected_of("te10", "te904"))
def test_a_file_of_the_program(line, output):
    """Where version 10 needed qrels cut to the run's queries, the whole qrels do."""
    expected, qrels, run = paths(line)
    flags = [] if "cut" in line["flags"] else line["flags"].split()
    version = "10" if line["program"] == "te10" else "9"
    assert output("--trec-eval-version", version, "-q", "-m", "all_trec", *flags, qrels, run) == text_of(expected)


@needs_data
@pytest.mark.parametrize("line", expected_of("te10hp"))
def test_every_bit_of_every_value(line, output, monkeypatch):
    """The same but for the logarithm of the C library: 17 digits, from a program with nothing else changed."""
    digits = {how: tuple(text.replace("%6.4f", "%.17g") for text in pair) for how, pair in trec_eval.FORMATS.items()}
    monkeypatch.setattr(trec_eval, "FORMATS", digits)
    expected, qrels, run = paths(line)
    printed = output("-q", "-m", "all_trec", qrels, run).splitlines()
    wanted = text_of(expected).splitlines()
    assert [row for row in printed if row[:3] != "gm_"] == [row for row in wanted if row[:3] != "gm_"]


@needs_data
@pytest.mark.parametrize("name", NIST)
def test_a_test_of_nist(name, output):
    *options, qrels, run = NIST[name].split()
    folder = DATA / "trec_eval_test"
    options = [folder / word if word == "zscores_file" else word for word in options]
    assert output(*options, folder / qrels, folder / run) == text_of(folder / name.partition(" ")[0])


# ---- what is printed -----------------------------------------------------------------------------------------------
ASKED = [part for name in ["runid", "num_q", "num_ret", "map", "gm_map", "relstring"] for part in ("-m", name)]


def row(name, query, value):
    return f"{name:<22}\t{query}\t{value}\n"


def test_z_scores(output, call, write, files):
    """By hand: without a mean, and beside one without deviations, a value is -1000000; gm_map is of logarithms."""
    lines = "q1 map .25 .5", "q1 num_ret 3 0", "q10 num_ret 3 0 ", " q1\tgm_map -1 2", "q10 gm_map 0 1"
    asked = [part for name in ("runid", "num_ret", "map", "gm_map") for part in ("-m", name)]
    assert output("-Z", write("norms", *lines), "-q", *asked, files.qrels, files.run) == "".join([
        *("Z" + row("num_ret", "q1", "0.0000"), "Z" + row("map", "q1", "0.5000")),
        *("Z" + row("num_ret", "q10", "-1000000.0000"), "Z" + row("map", "q10", "-1000000.0000")),
        *(row("runid", "all", "my-run"), "Z" + row("num_ret", "all", "-1000000.0000")),
        *("Z" + row("map", "all", "-499999.7500"), "Z" + row("gm_map", "all", "0.7635")),
    ])  # fmt: skip
    for wrong, message in (
        ("q1 map 1 1 1", "expected 4 fields"), ("q1 map 1 x", "numbers"), (lines[0], "duplicate measure"),
    ):  # fmt: skip
        code, out, err = call("-Z", write("wrong", lines[0], wrong), files.qrels, files.run)
        assert (code, out) == (2, "") and "wrong:2: " in err and message in err


def test_one_query_alone(values, output, files, call):
    whole = values("-q", "-c", files.qrels, files.run, query="q1")
    for level in ("0.q1", "00.q1"):
        assert values("-D", level, "-q", "-n", files.qrels, files.run, query="q1") == whole
        alone = values("-D", level, "-m", "map", "-m", "num_q", files.qrels, files.run)
        assert (alone["map"], alone["num_q"]) == (whole["map"], "1")
    of_all = values("-D", "0.q1", "-c", "-m", "map", "-m", "num_q", files.qrels, files.run)
    assert (of_all["map"], of_all["num_q"]) == (f"{float(whole['map']) / 3:.4f}", "3")
    code, out, err = call("-D", "2.q1", "-m", "map", files.qrels, files.run)
    assert (code, out) == (
        0,
        output("-D", "0.q1", "-m", "map", files.qrels, files.run),
    ) and "-D 2: trec_eval then prints" in err


def test_the_old_format_is_without_effect(output, files):
    assert output("-o", "-q", files.qrels, files.run) == output("-q", files.qrels, files.run)


def test_a_line_per_measure_and_query(output, files):
    q1 = row("num_ret", "q1", "3") + row("map", "q1", "0.5000") + row("relstring", "q1", "'1-0'")
    q10 = row("num_ret", "q10", "2") + row("map", "q10", "0.5000") + row("relstring", "q10", "'.2'")
    both = (
        row("runid", "all", "my-run")
        + row("num_q", "all", "2")
        + row("num_ret", "all", "5")
        + row("map", "all", "0.5000")
        + row("gm_map", "all", "0.5000")
    )
    assert output(*ASKED, files.qrels, files.run) == both
    assert output("-q", *ASKED, files.qrels, files.run) == q1 + q10 + both
    assert output("-q", "-n", *ASKED, files.qrels, files.run) == q1 + q10
    assert output("-n", *ASKED, files.qrels, files.run) == ""


def test_the_order_is_the_programs_whatever_was_asked_first(output, files):
    reversed_ = [part for name in reversed(ASKED[1::2]) for part in ("-m", name)]
    assert output("-q", *reversed_, files.qrels, files.run) == output("-q", *ASKED, files.qrels, files.run)


@pytest.mark.parametrize("arguments", [
    "-q -c -l2 -J -M2 -N7 -m utility.0,0,0,1 -m P QRELS RUN",
    "QRELS -qcl 2 -JM 2 RUN -N 7 -mutility.0,0,0,1 -mP",
    "--query_eval_wanted --complete_rel_info_wanted --level_for_rel 2 --Judged_docs_only "
    "--Max_retrieved_per_topic=2 --Number_docs_in_coll=7 --measure utility.0,0,0,1 --measure=P -- QRELS RUN",
    "--qu --c --le=2 --J --Ma 2 --Nu 7 --m utility.0,0,0,1 --m P --Rel qrels --trec 10 QRELS RUN",
])  # fmt: skip
def test_options_short_long_abbreviated_anywhere(arguments, output, files):
    given = [{"QRELS": files.qrels, "RUN": files.run}.get(word, word) for word in arguments.split()]
    assert output(*given).splitlines(keepends=True)[:10] == [
        row("P_5", "q1", "0.0000"),
        *(row(f"P_{k}", "q1", "0.0000") for k in (10, 15, 20, 30, 100, 200, 500, 1000)),
        row("utility_0,0,0,1", "q1", "5.0000"),
    ]


def test_several_runs_have_their_path_before_every_line(output, files, write):
    other = write("other", "q1 Q0 c 1 1 y")
    alone = [output("-q", *ASKED, files.qrels, run) for run in (files.run, other)]
    tagged = "".join(
        f"{run}\t{line}\n" for run, text in zip((files.run, other), alone, strict=True) for line in text.splitlines()
    )
    assert output("-q", *ASKED, files.qrels, files.run, other) == tagged
    assert output("-m", "map", files.qrels, other, other) == f"{other}\t{row('map', 'all', '0.5000')}" * 2


def test_a_missing_query_is_skipped_without_c(values, files):
    assert values("-m", "num_q", "-m", "map", files.qrels, files.run) == {"num_q": "2", "map": "0.5000"}


def test_with_c_a_missing_query_is_a_ranking_of_a_document_that_nobody_judged(values, files):
    asked = ["num_ret", "map", "utility", "utility.0,2,3,1", "rbp_resid", "unj.1", "relstring", "yaap", "ideal_dcg"]
    printed = values("-q", "-c", *(part for name in asked for part in ("-m", name)), files.qrels, files.run, query="q2")
    assert printed == {
        "num_ret": "0", "map": "0.0000", "relstring": "''", "utility_0,2,3,1": "3.0000",
        "ideal_dcg": "1.0000", "yaap": "-0.6931", "rbp_resid": "0.0000", "unj_1": "0.0000",
    }  # fmt: skip
    escaped = values("-q", "-c", "-m", "rbp_resid.p=0.5", "-m", "relstring.3", files.qrels, files.run, query="q2")
    assert escaped == {"rbp_resid_p=0.5": "1.0000", "relstring_3": "'-'"}


def test_version_9_counts_a_missing_query_as_0_under_c(values, output, files):
    asked = ["-c", "-m", "num_q", "-m", "map", "-m", "gm_map", "-m", "yaap", files.qrels, files.run]
    old = values("--trec-eval-version", "9", *asked)
    # yaap of both queries is ln((1 + 1) / (1 + 2 - 1)) = 0 and ln((1 + 0.5) / (1 + 1 - 0.5)) = 0
    assert old == {"num_q": "3", "map": "0.3333", "gm_map": "0.0136", "yaap": "0.0000"}
    assert values(*asked) == {**old, "yaap": "-0.2310"}  # -ln 2 / 3
    assert "q2" not in output("--trec-eval-version", "9", "-q", *asked)


def test_num_rel_of_all_queries_ignores_the_level_under_c(values, files):
    asked = ["-q", "-l2", "-m", "num_rel", files.qrels, files.run]
    assert values(*asked, query="q1") == values("-c", *asked, query="q1") == {"num_rel": "1"}
    assert values(*asked) == {"num_rel": "2"}
    assert values("-c", *asked) == values("-c", "--trec-eval-version", "9", *asked) == {"num_rel": "4"}


def test_with_c_no_query_in_common_is_all_zeros(values, output, call, files, write):
    other = write("other", "q7 Q0 a 1 1 x")
    assert values("-c", "-m", "num_q", "-m", "num_ret", "-m", "map", files.qrels, other) == {
        "num_q": "3", "num_ret": "0", "map": "0.0000",
    }  # fmt: skip
    assert output("-c", "-m", "map", files.qrels, files.run, other) == (
        f"{files.run}\t{row('map', 'all', '0.3333')}{other}\t{row('map', 'all', '0.0000')}"
    )
    assert call("-c", "--trec-eval-version", "9", files.qrels, other)[:2] == (7, "")


def test_levels(values, files):
    asked = ["-m", "num_rel", "-m", "num_rel_ret", "-m", "P.2", "-m", "ndcg", "-q", files.qrels, files.run]
    graded = values(*asked, query="q1")["ndcg"]
    assert graded == "0.3801"  # 1 / (2 + 1 / log2(3))
    for level, counts in {"0": ("3", "2", "0.5000"), "1": ("2", "1", "0.5000"), "2": ("1", "0", "0.0000")}.items():
        assert values("-l", level, *asked, query="q1") == dict(
            zip(("num_rel", "num_rel_ret", "P_2", "ndcg"), (*counts, graded), strict=True)
        )


def test_groups_of_judges(values, write):
    qrels = write("qrels", "q 2 a 1", "q 2 b 0", "q 10 b 1")
    run = write("run", "q Q0 a 1 2 x", "q Q0 b 2 1 x")
    assert values("-R", "qrels_jg", "-m", "qrels_jg", "-m", "P_avgjg.1,2", qrels, run) == {
        "runid": "x", "num_q": "1", "map_avgjg": "0.7500", "P_avgjg_1": "0.5000", "P_avgjg_2": "0.5000",
        **{
            f"Rprec_mult_avgjg_{x / 5:.2f}": value
            for x, value in zip(
                range(1, 11),
                (["0.5000", "0.5000", "0.5000", "0.5000", "0.5000", "0.5000", "0.5000", "0.5000", "0.5000", "0.5000"]),
                strict=True,
            )
        },
    }  # fmt: skip


def test_version_9_has_float32_scores_and_other_recall_points(values, write):
    qrels = write("qrels", *(f"q 0 {doc} 1" for doc in "abcd"), "q 0 z 0")
    run = write("run", "q Q0 a 1 1.00000001 x", "q Q0 z 2 1.0 x")
    asked = ["-m", "recip_rank", "-m", "iprec_at_recall.0.3", qrels, run]
    assert values(*asked) == {"recip_rank": "1.0000", "iprec_at_recall_0.30": "1.0000"}
    assert values("--trec-eval-version", "9", *asked) == {"recip_rank": "0.5000", "iprec_at_recall_0.30": "0.0000"}


def test_sums_are_the_programs(values, write):
    found = [10, 7, 6, 8, 8, 1, 1, 8, 9, 4, 8, 8, 9, 7, 9, 4]
    queries = dict(zip("ABCDEFGHIJKLMNOé", found, strict=True))
    qrels = write("qrels", *(f"{query} 0 d{i} 1" for query in reversed(queries) for i in range(10)))
    run = write("run", *(f"{query} Q0 d{i} 1 {-i} x" for query, n in queries.items() for i in range(n)))
    assert values("-m", "P.10", qrels, run) == {"P_10": "0.6687"}


def test_an_empty_ranking_has_no_nan(values, write):
    qrels, run = write("qrels", "q 0 a 1"), write("run", "q Q0 z 1 1 x")
    printed = values("-J", "-m", "num_ret", "-m", "iprec_at_recall.0,1", "-m", "11pt_avg", "-m", "11pt_avg", qrels, run)
    assert printed == {
        "num_ret": "0", "iprec_at_recall_0.00": "0.0000", "iprec_at_recall_1.00": "0.0000",
        "11pt_avg": "0.0000",
    }  # fmt: skip


def test_odd_ids_and_tags(output, write):
    qrels = write("qrels", "q%d 0 a 1", "\udcff 0 a 1")
    run = write("run", "q%d Q0 a 1 1 %s", "\udcff Q0 a 1 1 %d\udcfe")
    assert output("-q", "-m", "runid", "-m", "num_ret", qrels, run) == (
        row("num_ret", "q%d", "1")
        + row("num_ret", "\udcff", "1")
        + row("runid", "all", "%d\udcfe")
        + row("num_ret", "all", "2")
    )


# ---- measures and their parameters ---------------------------------------------------------------------------------
@pytest.mark.parametrize(("asked", "printed"), [
    ("P.3,1", {"P_1": "1.0000", "P_3": "0.3333"}), ("P.2.9", {"P_2": "0.5000"}), ("map.7", {"map": "0.5000"}),
    ("success.1 -m success.2", {"success_1": "1.0000"}), ("success -m success.2", {"success_2": "1.0000"}),
    (
        "set.5 -m P.1",
        {
            "runid": "my-run", "num_q": "1", "num_ret": "3", "num_rel": "2", "num_rel_ret": "1",
            "P_1": "1.0000", "utility": "-1.0000", "set_P": "0.3333", "set_relative_P": "0.5000",
            "set_recall": "0.5000", "set_map": "0.1667", "set_F": "0.4000",
        },
    ),
    ("set_F.0.5,9", {"set_F_0.5,9": "0.3750"}),
    ("utility.1,2,4,8", {"utility_1,2,4,8": "57.0000"}),
    ("11pt_avg.1,0.5,0", {"11pt_avg_1,0.5,0": "0.6667"}),
    ("Rprec_mult.1.5,123456", {"Rprec_mult_1.50": "0.3333", "Rprec_mult_123456.0": "0.0000"}),
    ("iprec_at_recall.1,.25", {"iprec_at_recall_0.25": "1.0000", "iprec_at_recall_1.00": "0.0000"}),
    ("dcg.1=3,0=2,-1=5,x=9", {"dcg_1=3,0=2,-1=5,x=9": "7.1546"}),
    ("rbp.p=0.5", {"rbp_p=0.5": "0.2500"}),
    ("rbp.1=1,2=1,p=0.5", {"rbp_1=1,2=1,p=0.5": "0.5000"}),
    ("rbp_resid.p=0.5,1=7", {"rbp_resid_p=0.5,1=7": "0.3750"}),
])  # fmt: skip
def test_parameters(asked, printed, values, files, write):
    """Of one ranking, 1 - 0, where a label 2 is missed."""
    run = write("q1", "q1 Q0 a 1 3 x", "q1 Q0 z 2 2 x", "q1 Q0 b 3 1 my-run")
    assert values("-N", "10", "-m", *asked.split(), files.qrels, run) == printed


@pytest.mark.parametrize(("length", "shown"), [("0", ""), ("-3", ""), ("2", "1-"), ("2.9", "1-"), ("50", "1-0")])
def test_relstring_shows_so_many(length, shown, values, files):
    asked = f"relstring.{length}"
    assert values("-q", "-m", asked, files.qrels, files.run, query="q1") == {asked.replace(".", "_", 1): f"'{shown}'"}


def test_relstring_shows_large_labels_and_the_pool(values, write):
    labels = {"a": 2**31 - 1, "b": 10, "c": 9, "d": 0, "e": -1, "f": -(2**31), "h": 1}
    qrels = write("qrels", *(f"q 0 {doc} {label}" for doc, label in labels.items()))
    run = write("run", *(f"q Q0 {doc} 1 {-place} x" for place, doc in enumerate("abcdefgh")))
    assert values("-q", "-m", "relstring", qrels, run, query="q") == {"relstring": "'>>90..-1'"}
    assert values("-q", "-J", "-m", "relstring", qrels, run, query="q") == {"relstring": "'>>901'"}


def test_every_measure_and_set_can_be_asked_for(values, files):
    """And the sets are those of names.NICKNAMES, with the tag and the count of queries."""
    for nickname in ("official", "set", "all_trec"):
        by_name = [part for name in trec_eval.SETS[nickname] for part in ("-m", name)]
        assert values(*by_name, files.qrels, files.run) == values("-m", nickname, files.qrels, files.run)
        assert {"runid", "num_q", *NICKNAMES[nickname].split()} - trec_eval.SETS[nickname] == set()
    for name in trec_eval.MEASURES:
        kind = "qrels_prefs" if name.startswith("prefs") else "qrels"
        kind = "qrels_jg" if name in NICKNAMES["qrels_jg"].split() else kind
        printed = values("-q", "-R", kind, "-m", name, files.qrels, files.run, query="all")
        assert all(text.startswith(name) for text in printed)
        assert printed or name == "relstring"


def test_help_lists_options_and_measures(output):
    text = output("-h", "-q", "-m", "map")
    assert text == output("--help")
    for letter, word, takes, does in trec_eval.OPTIONS:
        assert any(
            line.split()[:1] == [f"-{letter}" if letter else f"--{word}"]
            and f"--{word}" in line
            and takes in line
            and line.endswith(does)
            for line in text.splitlines()
        )
    listed_ = [line.split()[0] for line in text.splitlines() if line and not line.startswith((" ", "-"))]
    assert [name for name in listed_ if name in trec_eval.MEASURES] == trec_eval.MEASURES
    old = output("-h", "--trec-eval-version", "9")
    assert [name for name in trec_eval.MEASURES if f"\n{name} " not in old] == sorted(
        trec_eval.NEW_MEASURES, key=trec_eval.MEASURES.index
    )


# ---- files ---------------------------------------------------------------------------------------------------------
def test_files_of_any_kind(output, files, tmp_path, monkeypatch):
    expected = output("-q", *ASKED, files.qrels, files.run)
    data = Path(files.run).read_bytes()
    for name, content in {"run.gz": gzip.compress(data), "run.json": data, "run.csv.gz": gzip.compress(data)}.items():
        (tmp_path / name).write_bytes(content)
        assert output("-q", *ASKED, files.qrels, tmp_path / name) == expected
    for content in (data, gzip.compress(data)):
        monkeypatch.setattr("sys.stdin", types.SimpleNamespace(buffer=io.BytesIO(content)))
        assert output("-q", *ASKED, files.qrels, "-") == expected


@pytest.mark.parametrize("packed", [False, True])
@pytest.mark.parametrize("end", [b"", b"\n", b"\r\n", b"\n\n \n", b"\n# a b c d e f\n", b"\n" + b"#" * 200_000 + b"\n"])
def test_the_tag_is_that_of_the_last_line(end, packed, values, files, tmp_path):
    rows = b"".join(b"q1 Q0 d%d 1 1 first\n" % i for i in range(60_000))
    data = rows + b"q1\tQ0  a 1 1\tlast and more" + end
    (tmp_path / "long").write_bytes(gzip.compress(data, 1) if packed else data)
    assert values("-m", "runid", files.qrels, tmp_path / "long") == {"runid": "last"}


# ---- errors --------------------------------------------------------------------------------------------------------
@pytest.mark.parametrize(("arguments", "code", "message"), [
    ("", 1, "expected qrels and a run, got 0 files"),
    ("QRELS", 1, "expected qrels and a run, got 1 files"),
    ("-x QRELS RUN", 1, "option -x not recognized"),
    ("QRELS RUN -m", 1, "option -m requires argument"),
    ("-m ndgc QRELS RUN", 1, "measure 'ndgc': there is none; -h lists those that there are"),
    ("-m MAP QRELS RUN", 1, "measure 'MAP'"),
    ("-m P_5 QRELS RUN", 1, "measure 'P_5'"),
    ("-m prefs QRELS RUN", 4, "measure prefs_num_prefs_poss is not defined on judgments of the format qrels"),
    ("-m P. QRELS RUN", 1, "measure 'P.': nothing follows the dot"),
    ("-h -m ndgc", 1, "measure 'ndgc'"),
    ("--trec-eval-version 9 -m unj QRELS RUN", 1, "measure 'unj'"),
    ("--trec-eval-version 8 QRELS RUN", 1, "--trec-eval-version must be 10 or 9, got '8'"),
    ("-l x QRELS RUN", 1, "-l must be a whole number from 0 up, got 'x'"),
    ("-M 0 QRELS RUN", 1, "-M must be a whole number from 1 up, got '0'"),
    ("-N ٣ QRELS RUN", 1, "-N must be a whole number from 0 up, got '٣'"),
    ("-D one QRELS RUN", 1, "-D must be a whole number"),
    ("-D 0.q7 QRELS RUN", 7, "no query 'q7' has both"),
    ("-D 0.q2 QRELS RUN", 7, "no query 'q2' has both"),
    ("-Z nowhere QRELS RUN", 2, "nowhere"),
    ("-Z QRELS QRELS RUN", 2, "qrels:1: expected 4 fields (query measure mean deviation)"),
    ("-R pairs QRELS RUN", 2, "-R must be qrels or qrels_jg or qrels_prefs or prefs, got 'pairs'"),
    ("-R prefs -m prefs QRELS RUN", 2, "qrels:1: malformed prefs line with 4 fields, expected exactly 5"),
    ("absent RUN", 2, "absent: No such file or directory"),
    ("QRELS absent", 2, "absent: No such file or directory"),
    ("QRELS FOLDER", 2, "Is a directory"),
    ("- RUN", 2, "qrels cannot be read from standard input"),
    ("RUN QRELS", 2, "run:1: malformed qrels line with 6 fields"),
    ("QRELS QRELS", 2, "qrels:1: malformed run line with 4 fields"),
    ("QRELS EMPTY", 2, "empty: the run is empty"),
    ("EMPTY RUN", 2, "empty: the qrels are empty"),
    ("QRELS SCORE", 2, "score:2: score 'abc' is not a number (query q1, document b)"),
    ("QRELS RUN SCORE", 2, "score:2: score 'abc' is not a number"),
    ("-m P.0 QRELS RUN", 2, "measure P: cutoffs must be from 1 up and differ, got '0'"),
    ("-m P.5,5 QRELS RUN", 2, "measure P: cutoffs must be from 1 up and differ, got '5,5'"),
    ("-m iprec_at_recall.0.5,.5 QRELS RUN", 2, "measure iprec_at_recall: cutoffs must differ, got '0.5,.5'"),
    ("-m P.5,x QRELS RUN", 2, "measure P takes numbers with commas between them, got '5,x'"),
    ("-m set_F.nan QRELS RUN", 2, "measure set_F takes numbers"),
    ("-m iprec_at_recall.1.5 QRELS RUN", 2, "recall must be a number from 0 to 1"),
    ("-m ndcg.5 QRELS RUN", 2, "measure ndcg takes name=number with commas between them, got '5'"),
    ("-m ndcg.1=2=3 QRELS RUN", 2, "measure ndcg takes name=number"),
    ("-m ndcg.1=2,1=3 QRELS RUN", 2, "gain must be"),
    ("-m rbp.p=1 QRELS RUN", 2, "p must be a number above 0 and below 1"),
    ("-m relstring.10001 QRELS RUN", 2, "relstring shows 10000 labels at most, got '10001'"),
    ("-m utility.1,2 QRELS RUN", 4, "measure utility takes 4 numbers, got '1,2'"),
    ("-m map_avgjg QRELS RUN", 4, "measure map_avgjg is not defined on judgments of the format qrels;"),
    ("-R qrels_jg QRELS RUN", 4, "measure num_ret is not defined on judgments of the format qrels_jg;"),
    ("QRELS TWICE", 4, "twice:2: duplicate document 'a' in query 'q1'"),
    ("TWICE_JUDGED RUN", 4, "twice_judged:2: duplicate document 'a' in query 'q1'"),
    ("-R qrels_jg -m qrels_jg TWICE_JUDGED RUN", 2, "twice_judged:2: duplicate document 'a'"),
    ("QRELS OTHER", 7, "no query in common: the qrels have 'q2', the run has 'q7'"),
    ("QRELS RUN OTHER", 7, "no query in common"),
])  # fmt: skip
def test_errors_print_one_line_and_nothing_else(arguments, code, message, call, files, write, tmp_path):
    places = {
        "QRELS": files.qrels, "RUN": files.run, "FOLDER": str(tmp_path), "EMPTY": write("empty"),
        "SCORE": write("score", "q1 Q0 a 1 1 x", "q1 Q0 b 1 abc x"), "OTHER": write("other", "q7 Q0 a 1 1 x"),
        "TWICE": write("twice", "q1 Q0 a 1 1 x", "q1 Q0 a 1 1 x"),
        "TWICE_JUDGED": write("twice_judged", "q1 0 a 1", "q1 0 a 0"),
    }  # fmt: skip
    got, out, err = call(*(places.get(word, word) for word in arguments.split()))
    assert (got, out) == (code, "")
    assert message in err
    assert err.startswith("fastir: error: ") and err.count("\n") == 1


def test_standard_input_is_called_so_in_errors(call, files, monkeypatch):
    monkeypatch.setattr("sys.stdin", types.SimpleNamespace(buffer=io.BytesIO(b"q1 Q0 a 1 1 x\nq1 Q0 b 1 abc x\n")))
    code, out, err = call(files.qrels, "-")
    assert (code, out) == (2, "")
    assert err.startswith("fastir: error: standard input:2: score 'abc'")


# ---- the process ---------------------------------------------------------------------------------------------------
COMMAND = [sys.executable, "-m", "fastir", "trec_eval"]


def test_a_pipe_gets_the_output_and_nothing_else(files, output):
    done = subprocess.run([*COMMAND, files.qrels, files.run], capture_output=True, timeout=patient(20))
    assert (done.returncode, done.stdout.decode(), done.stderr) == (0, output(files.qrels, files.run), b"")


def test_an_interrupt_ends_it(files):
    streams = dict.fromkeys(("stdin", "stdout", "stderr"), subprocess.PIPE)
    with subprocess.Popen([*COMMAND, files.qrels, "-"], **streams) as process:
        process.stdin.write(b"q1 Q0 a 1 1 x\n" * 100_000)  # more than a pipe holds: it is being read
        process.stdin.flush()
        process.send_signal(signal.SIGINT)
        out, err = process.communicate(timeout=patient(20))
    assert (process.returncode, out, err) == (130, b"", b"fastir: error: interrupted\n")


def test_the_layer_is_imported_by_who_asks_for_it():
    code = "import sys, fastir.cli; print([name for name in sys.modules if name.startswith('fastir.compat')])"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout == "[]\n"


def test_the_format_of_runs_that_the_program_assumes_may_be_said(output, call, files):
    for option in (["-T", "trec_results"], ["-Ttrec_results"], ["--Results_format=trec_results"]):
        assert output(*option, files.qrels, files.run) == output(files.qrels, files.run)
    code, out, err = call("-T", "prefs", files.qrels, files.run)
    assert (code, out) == (2, "") and "-T must be trec_results, got 'prefs'" in err


@pytest.mark.parametrize("format", ["qrels", "qrels_jg"])
def test_labels_that_are_not_whole_are_cut_with_one_warning(call, tmp_path, format):
    """usnistgov/trec_eval#49: atol reads 0.92 as 0."""
    real, read = ("0.92", "1.5", "2", "-0.5", "-1.5"), ("0", "1", "2", "0", "-1")
    for name, labels in (("real", real), ("read", read)):
        lines = [f"q {place % 2} d{place} {label}\n" for place, label in enumerate(labels)]
        (tmp_path / name).write_text("".join(lines))
    run = tmp_path / "run"
    run.write_text("".join(f"q Q0 d{place} 0 {9 - place} x\n" for place in range(5)))
    arguments = ("-q", "-m", "qrels_jg" if format == "qrels_jg" else "all_trec", "-R", format)
    code, out, err = call(*arguments, tmp_path / "real", run, run)
    expected = call(*arguments, tmp_path / "read", run, run)
    assert expected[0] == 0 and expected[2] == ""
    assert (code, out) == (0, expected[1])
    assert err.count("\n") == 1 and "real: 4 real-valued labels (query q" in err and "0.92 as 0" in err
