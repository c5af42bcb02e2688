"""The options of every command, each with words that must matter on the files of `option_calls`."""

import contextlib
import functools
import io
import json
from typing import NamedTuple

from option_calls import (
    DOC_WEIGHTS_TOO,
    FILES,
    FOLDER,
    INTERACTIONS,
    OTHER,
    PARENTS,
    QRELS,
    QRELS_UNNAMED,
    REPEATED,
    RUN,
    RUN_TABLE,
    RUN_UNNAMED,
    SEGMENTS,
    THIRD,
    UNJUDGED_REPEATED,
)

import fastir
from fastir.cli import main
from fastir.cli.parser import parsers


def written(name, lines):
    (FOLDER / name).write_text("".join(f"{line}\n" for line in lines))
    return str(FOLDER / name)


def as_json(name, data):
    return written(name, [json.dumps(data)])


def table(name, columns):
    """A CSV file."""
    rows = [",".join(columns), *(",".join(map(str, row)) for row in zip(*columns.values(), strict=True))]
    return written(name, rows)


def run_lines(name, table):
    rows = zip(*table.values(), strict=True)
    return written(name, [f"{q} Q0 {doc_id} 0 {score!r} tag" for q, doc_id, score in rows])


FIRST, SECOND = map(str, FILES)
JUDGED = str(FOLDER / "qrels.txt")
TWICE, UNJUDGED_TWICE = run_lines("twice.run", REPEATED), run_lines("unjudged.run", UNJUDGED_REPEATED)
RATED = table("rated.csv", {"query_id": ["q1", "q1", "q2"], "doc_id": ["a", "b", "g"], "rating": [4.5, 2.0, 3.0]})
OPINION = written("opinion.txt", [f"{q} 0 {d} {max(n - 1, 0)}" for q, docs in QRELS.items() for d, n in docs.items()])
MORE = written("more.txt", ["q1 0 new 1", "q2 0 g 1"])
FORMULA = run_lines("=1.run", RUN_TABLE)
FORMULA_DOCUMENTS = run_lines("formulas.run", RUN_TABLE | {"doc_id": [f"=1{d}" for d in RUN_TABLE["doc_id"]]})
SWAPPED = written("swapped.txt", ["q1 0 u1 1", "q2 0 q2 1", "q3 0 j 1", "q4 0 m 1", "q5 0 p 1", "q6 0 s 1", "q7 0 w 1"])
TAGGED = written("tagged.run", [f"{q} Q0 {d} 0 {n!r} =1" for q, docs in RUN.items() for d, n in docs.items()])
TWO = written("two.txt", ["q1 0 a 1", "q1 0 a 2", "q2 0 g 1", "q1 0 b 0"])
INTERACTIONS_FILE = table("interactions.csv", INTERACTIONS)
UNNAMED, UNNAMED_QRELS = table("unnamed.csv", RUN_UNNAMED), table("unnamed_qrels.csv", QRELS_UNNAMED)
PARTS = FOLDER / "parts"
PARTS.mkdir()
for part, rankings in (("one", {"q1": RUN["q1"]}), ("two", {"q2": RUN["q2"]})):
    as_json(f"parts/{part}.json", rankings)
HITS = {"hits": {"hits": [{"_id": "a", "_score": 2.0}, {"_id": "u1", "_score": 1.0}]}, "timed_out": False}
RESPONSES = as_json("responses.json", {"responses": [HITS, HITS]})
IDS = written("ids.txt", ["q1", "q2"])
RANKED = [(query, doc_id, score) for query, docs in RUN.items() for doc_id, score in docs.items()]
LINES = written("lines2.letor", [f"0 qid:{query} 1:0 # {doc_id}" for query, doc_id, _ in RANKED])
LINE_SCORES = written("lines2.scores", [repr(score) for _, _, score in RANKED])
TEAMS = written("teams.txt", ["first us", "second us"])
TOPICS = written("topics.txt", ["q1", "q2"])
SEEN = written("seen.txt", ["q1 b", "q2 i"])
GROUPS = written("segments.txt", [f"{q} {segment}" for q, segment in SEGMENTS.items()])
CHUNKS = written("parents.txt", [f"{part} {document}" for part, document in PARENTS.items()])
DOC_GROUPS = written("doc_groups.txt", [f"{doc_id} {'mf'[n % 2]} 1" for n, doc_id in enumerate(DOC_WEIGHTS_TOO)])
TARGET = written("doc_target.txt", ["m 0.5", "f 0.5"])
COSTS = written("doc_costs.txt", [f"{doc_id} {1 + n % 3}" for n, doc_id in enumerate(DOC_WEIGHTS_TOO)])
HEAVY = written("weights.txt", [f"{doc_id} {1 + n % 3}" for n, doc_id in enumerate(DOC_WEIGHTS_TOO)])
VERDICTS = ["query_id,run,nugget,importance,assignment", "q,x,n,vital,support", "q,x,m,okay,partial"]
VERDICTS += ["q,y,n,vital,not", "q,y,m,okay,partial"]
NUGGETS_FILE = written("nuggets.csv", VERDICTS)
NUGGETS_AS_FORMULA = written("nuggets2.csv", [verdict.replace(",x,", ",=x,") for verdict in VERDICTS])
SILENT = written("silent.csv", [*VERDICTS, "q,x,o,okay,"])
EXPECTED = written("expected.csv", ["query_id,nugget,importance", "q,n,vital", "q,m,okay", "q,l,vital"])
CITED = ["query_id,run,sentence,citation,support", "q,x,1,d,FS", "q,x,2,e,PS", "q,y,1,d,NS"]
CITATIONS_FILE = written("cited.csv", CITED)
CITATIONS_AS_FORMULA = written("cited2.csv", [verdict.replace(",x,", ",=x,") for verdict in CITED])
UNCITED = written("uncited.csv", [*CITED, "q,x,3,f,"])
VALUES_FILE = written("values.csv", ["system,p@3", "x,0.33", "y,0.25"])
OLD, NEW = str(FOLDER / "old.json"), str(FOLDER / "new.json")
fastir.evaluate(QRELS, {q: docs for q, docs in RUN.items() if q in QRELS}, ["map", "mrr"], queries="qrels").save(OLD)
fastir.evaluate(QRELS, OTHER, ["map", "mrr"], queries="qrels").save(NEW)
WORST = written("third.run", [f"{q} Q0 {d} 0 {n!r} third" for q, docs in THIRD.items() for d, n in docs.items()])
OUT = str(FOLDER / "written")


class Line(NamedTuple):
    """The words of an option, those that the line has with and without it, and other files in place of usual ones."""

    words: list[str]
    more: list[str] = []
    files: dict[str, str] = {}


def line(*words, more=(), **files):
    return Line([str(word) for word in words], list(more), files)


COMMON = {
    "--all": line(), "--rel-level": line(2), "--convention": line("lightgbm"),
    "--parts": line(run=str(PARTS)), "--qrels-format": line("json"), "--run-format": line("json"),
    "--query-ids": line(IDS, run=RESPONSES), "--rows": line(LINES, run=LINE_SCORES), "--names": line("tag"),
    "--columns": line("doc_id=number", run=UNNAMED),
    "--qrels-columns": line("doc_id=number", qrels=UNNAMED_QRELS),
    "--run-columns": line("doc_id=number", run=UNNAMED), "--threshold": line(4, qrels=RATED),
    "--label": line(2, qrels=INTERACTIONS_FILE), "--duplicates": line("last", run=TWICE),
    "--validate": line("judged", run=UNJUDGED_TWICE), "--parents": line(CHUNKS),
    "--aggregate": line("sum", more=["--parents", CHUNKS]), "--exclude": line(SEEN),
    "--forbidden": line(SEEN, more=["-m", "forbidden_hits@3"]),
    "--forbidden-level": line(0, more=["-m", "forbidden_hits@3"]),
    "--unanswerable": line(written("unanswerable.txt", ["elsewhere"])),
    "--doc-groups": line(DOC_GROUPS, more=["--target", TARGET, "-m", "awrf@3"]),
    "--target": line(TARGET, more=["--doc-groups", DOC_GROUPS, "-m", "awrf@3"]),
    "--doc-costs": line(COSTS, more=["-m", "precision(budget=3)"]),
    "--doc-weights": line(HEAVY, more=["-m", "psp@3"]), "--queries": line("intersection"),
    "--ties": line("doc_id_asc"), "--judged-only": line(), "--max-depth": line(2),
    "--score-dtype": line("float32"), "--min-score": line(6), "--ci": line(), "--interval": line("percentile"),
    "--confidence": line(0.5), "--bounds": line(), "--ties-report": line(), "--max-label": line(9),
    ("eval", "--pool-depth"): line(1, more=["--bounds"]), "--unseen": line(2, more=["--bounds"]),
    "--fail-under": line("map=0.99"), "--fail-over": line("map=0.01"), "--per-query": line(),
    "--transpose": line(), "--format": line("json"), "--sort": line("none"), "--output": line(f"{OUT}.txt"),
    "--formulas": line(more=["--format", "csv"], run=FIRST), "--color": line("always"),
    "--baseline": line("first"), "--test": line("wilcoxon"),
    "--resamples": line(7, more=["--test", "bootstrap"]), "--correction": line("bonferroni"),
    "--family": line("all"), "--effect": line("hedges_g"), "--segments": line(GROUPS), "--clusters": line(GROUPS),
    "--random-state": line(7, more=["--test", "bootstrap", "--resamples", "50"]), "--pairs": line(),
    "--intervals": line(), "--plot": line(str(FOLDER / "plot.svg")), "--top": line(1),
    "--exactly-queries": line(TOPICS), "--tag": line("other.*"),
    "--corpus": line(written("corpus.txt", ["a", "b"])), "--examples": line(1), "--method": line("sum"),
    "--norm": line("zmuv", more=["--method", "sum"]), "--param": line("k=1"),
    "--run-weights": line("1,5", more=["--method", "wsum"]), "--grid": line(0.5), "--trials": line(3),
    "--folds": line(3), "--k": line(1), "--pool-depth": line(1), "--budget": line(1), "--teams": line(TEAMS),
    "--team-pattern": line("[a-z]"), "--without": line("first"), "--kappa-weights": line("linear"),
    "--scale": line("interval"), "--truth": line("b"), "--used-judge": line("second"),
    "--value": line("p@3=0.25"), "--values": line(VALUES_FILE),
    "--row": line("y", more=["--values", VALUES_FILE]), "--metrics": line("p@1"), "--search": line("rank"),
    "--bibtex": line(), "--qrels": line(JUDGED), "--json": line(OLD), "--schema": line(), "--depth": line(1),
    "--title": line("Title"), "--topics": line(written("texts.tsv", ["q1\tWhat?"])),
    "--expected": line(EXPECTED, more=["--missing", "zero"]),
    "--titles": line(written("titles.tsv", ["a\tA title"])), "--run": line(str(FOLDER / "written.run")),
}  # fmt: skip
# {command: its usual words}; {qrels}, {run} and {other} stand for files
LINES = {
    "eval": ["{qrels}", "{run}", "{other}", "-m", "ndcg@5,map"],
    "compare": ["{qrels}", "{run}", "{other}", WORST, "-m", "ndcg@5,map"],
    "diff": ["{run}", "{other}", "--qrels", "{qrels}", "-m", "ndcg@5,map"], "check": ["{qrels}", "{run}", "{other}"],
    "report": ["{qrels}", "{run}", "{other}", WORST, "-m", "ndcg@5,map", "-o", f"{OUT}.html"],
    "pool": ["{run}", "{other}", "--pool-depth", "3"], "contributions": ["{qrels}", "{run}", "{other}"],
    "leave-one-out": ["{qrels}", "{run}", "{other}", "-m", "ndcg@5,map"],
    "to-judge": ["{qrels}", "{run}", "{other}", "-m", "{metric}", "--budget", "3"],
    "merge-qrels": ["{qrels}", "{other_qrels}"], "agreement": ["{qrels}", "{opinion}", "--resamples", "50"],
    "rank-correlation": ["{qrels}", "{opinion}", "{run}", "{other}", WORST, "-m", "{metric}", "--format", "json"],
    "similarity": ["{run}", "{other}"], "fuse": ["{run}", "{other}"],
    "tune": ["{qrels}", "{run}", "{other}", "-m", "map", "--folds", "2"],
    "explain": ["{qrels}", "{run}", "{query}", "-m", "ndcg@5,map"], "identify": ["{qrels}", "{run}", "{value}"],
    "nuggets": ["{nuggets}"], "citations": ["{citations}"], "compare saved": [OLD, NEW],
    "diff saved": ["{old}", "{new}"], "metrics": [], "conventions": [],
}  # fmt: skip
# {(command, option): the words of the option there}
BASELINE = {"compare": ["--baseline", "second"], "diff": []}
OTHERS = {
    ("eval", "--formulas"): line(more=["--format", "csv"], run=FORMULA),
    **{
        (name, "--formulas"): line(more=["--format", "csv", "--names", "tag"], run=TAGGED)
        for name in ("compare", "contributions", "leave-one-out", "pool", "similarity")
    },
    ("to-judge", "--formulas"): line(more=["--format", "csv"], run=FORMULA_DOCUMENTS),
    ("to-judge", "--max-label"): line(9, metric="ndcg@5"),
    ("diff", "--formulas"): line(),
    ("merge-qrels", "--duplicates"): line("last", other_qrels=TWO),
    **{
        ("rank-correlation", option): line(*words, opinion=SWAPPED)
        for option, words in (("--test", ["wilcoxon"]), ("--correction", ["none"]), ("--confidence", [0.3]))
    },
    ("rank-correlation", "--format"): line("table"), ("diff", "--qrels"): line(OPINION),
    ("compare saved", "--fail-if"): line("drop:map>0.0001", more=["--baseline", "new"]),
    ("diff saved", "--fail-if"): line("drop:mrr>0.0001", old=NEW, new=OLD), ("diff saved", "--formulas"): line(),
    **{(name, "--aggregate"): line("sum") for name in ("compare saved", "diff saved")},
    **{
        (name, "--fail-if"): line("drop:map>0.0001", run=SECOND, other=FIRST, more=BASELINE[name])
        for name in ("compare", "diff")
    },
    ("report", "--output"): line(f"{OUT}.htm"),
    ("pool", "--qrels-columns"): line("doc_id=number"),
    ("pool", "--threshold"): line(4),
    ("pool", "--label"): line(2),
    ("agreement", "--columns"): line("doc_id=number", qrels=UNNAMED_QRELS, opinion=UNNAMED_QRELS),
    ("agreement", "--duplicates"): line("last", qrels=TWO),
    ("agreement", "--resamples"): line(7),
    ("agreement", "--random-state"): line(7, more=["--resamples", "20"]),
    ("merge-qrels", "--columns"): line("doc_id=number", qrels=UNNAMED_QRELS, other_qrels=UNNAMED_QRELS),
    ("rank-correlation", "--doc-weights"): line(HEAVY, metric="psp@3"),
    ("rank-correlation", "--doc-groups"): line(DOC_GROUPS, more=["--target", TARGET], metric="awrf@3"),
    ("rank-correlation", "--target"): line(TARGET, more=["--doc-groups", DOC_GROUPS], metric="awrf@3"),
    ("rank-correlation", "--doc-costs"): line(COSTS, metric="precision(budget=3)"),
    ("rank-correlation", "--forbidden"): line(SEEN, metric="forbidden_hits@3"),
    ("rank-correlation", "--forbidden-level"): line(0, metric="forbidden_hits@3"),
    ("similarity", "--metrics"): line("jaccard@1"),
    ("fuse", "--names"): line("file", more=["--method", "wsum", "--run-weights", "first.run=1,second.run=2"]),
    ("tune", "--norm"): line("zmuv"),
    ("tune", "--param"): line("n_segments=2", more=["--method", "probfuse", "--norm", "none"]),
    ("tune", "--random-state"): line(7),
    ("explain", "--queries"): line("intersection", query="absent"),
    ("explain", "--ties"): line("doc_id_asc", query="q2"),
    ("nuggets", "--missing"): line("zero", nuggets=SILENT),
    ("citations", "--missing"): line("zero", citations=UNCITED),
    **{(name, "--metrics"): line(metric) for name, metric in (("nuggets", "all"), ("citations", "citation_recall"))},
    ("nuggets", "--formulas"): line(more=["--format", "csv"], nuggets=NUGGETS_AS_FORMULA),
    ("citations", "--formulas"): line(more=["--format", "csv"], citations=CITATIONS_AS_FORMULA),
    ("identify", "--row"): line("y", value=f"--values={VALUES_FILE}"),
    ("identify", "--ignore"): line("speed", more=["--value", "speed=0.2"]),
}  # fmt: skip
# {(command, option): why it changes nothing}
NO_FORMULA = "no text there begins as a formula"
NONE_BEST = "a table in which no number is the best"
HELD = "rankings are held, and checked in full: more is refused, nothing ignored"
NAMELESS = "runs have no name in the output; two runs of one name are refused"
EXCEPTED = {
    ("diff saved", "--target"): "--doc-groups, which it needs, is refused first",
    ("compare saved", "--target"): "--doc-groups, which it needs, is refused first",
    ("diff saved", "--qrels"): "says where judgments are, for a side that is a run",
    **{
        (name, "--color"): NONE_BEST
        for name in (
            "diff", "diff saved", "check", "pool", "contributions", "leave-one-out", "to-judge", "agreement",
            "similarity",
        )
    },
    **{(name, "--color"): NONE_BEST for name in ("rank-correlation", "tune", "identify")},
    **{(name, "--validate"): HELD for name in ("report", "explain", "rank-correlation")},
    **{(name, "--names"): NAMELESS for name in ("check", "to-judge", "explain", "identify")},
    **{
        (name, "--formulas"): NO_FORMULA
        for name in ("check", "agreement", "tune", "identify", "rank-correlation", "compare saved")
    },
    **{(name, "--all"): "gm_map, which no test compares, is refused by its own name" for name in ("compare", "report")},
}  # fmt: skip
MADE = [
    FOLDER / "written.run",
    FOLDER / "written.txt",
    FOLDER / "written.html",
    FOLDER / "written.htm",
    FOLDER / "plot.svg",
]
SHORT = {"--metrics": "-m", "--output": "-o"}  # by which errors name an option
USUAL = {
    "old": OLD, "new": NEW, "metric": "map", "value": "--value=p@3=0.33", "qrels": JUDGED, "query": "q1",
    "nuggets": NUGGETS_FILE, "citations": CITATIONS_FILE, "opinion": OPINION, "other_qrels": MORE, "run": FIRST,
    "other": SECOND,
}  # fmt: skip


def commands():
    """{command: its options}"""
    choices = parsers()
    return {
        name: [action.option_strings[-1] for action in choices[name.split()[0]]._actions if action.option_strings]
        for name in LINES
    }


def outcome(words):
    """(exit code, output, errors, the file that was written), without the line that repeats options."""
    for file in MADE:
        file.unlink(missing_ok=True)
    out, err = (io.TextIOWrapper(io.BytesIO(), "utf-8", write_through=True) for _ in range(2))
    with contextlib.redirect_stdout(out), contextlib.redirect_stderr(err):
        try:
            code = main(words)
        except SystemExit as exit:
            code = exit.code
    written, errors = (stream.buffer.getvalue().decode() for stream in (out, err))
    text = [line for line in written.splitlines() if not line.startswith("convention ")]
    made = {file.name: file.read_text("utf-8") for file in MADE if file.exists()}
    return code, text, errors, made


@functools.cache
def usual_outcome(*words):
    """The outcome of a line without an option, which many options share."""
    return outcome(list(words))


def problem(name, option):
    """What is wrong with an option of a command, in words; empty if it has an effect, or is refused by its name."""
    given = OTHERS.get((name, option), COMMON.get(option))
    if given is None:
        return "it has no words that must matter: give it some in option_lines"
    files = USUAL | given.files
    usual = [name.split()[0]] + [word.format(**files) if "{" in word else word for word in LINES[name]] + given.more
    before, after = usual_outcome(*usual), outcome([*usual, option, *given.words])
    if before == after:
        return f"it changes nothing: {after}"
    if after[0] == 3 or (after[0] == 1 and SHORT.get(option, option[2:]) not in after[2]):
        return f"it is refused without its name: {after[0]} {after[2]}"
    return ""
