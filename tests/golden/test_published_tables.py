"""Tables that others published, computed again from saved judged rankings, cell by cell; docs/judged_rankings.md."""

import re

import pytest
from common import ABSENT, SHARED, UNEVEN
from pages import DOCS, NEEDS_PAGES
from reference_files import DATA, listed, ours, paths, text_of

import fastir

pytestmark = [pytest.mark.skipif(not SHARED.is_dir(), reason=ABSENT), UNEVEN, NEEDS_PAGES]
CLEF = {"ECNU run2": "ecnu.run2", "IIIT run1": "iiit.run1"}
# tar_eval of 2017, by CLEF-TAR/tar, and how fastir spells it; the second ones read the size of a topic's collection
VALUES = {
    "num_rels": "num_rel", "num_shown": "num_ret", "rels_found": "num_rel_ret",
    "last_rel": "last_rel(no_hit=zero)", "ap": "map", "r": "recall",
}  # fmt: skip
OF_COLLECTION = {"wss_100": "wss(wanted=nearest)@1", "loss_er": "loss_er"}


@pytest.fixture(scope="module")
def page():
    return (DOCS / "judged_rankings.md").read_text("utf-8")


def saved(path, qrels, run, **options):
    """Judged rankings as somebody else reads them, who has neither judgments nor run."""
    fastir.judged_rankings(qrels, run, **options).save(path)
    return fastir.JudgedRankings.load(path)


def tar_eval(judged):
    """{topic, or ALL: {value of tar_eval: number}}; a topic that the run lacks is in no mean."""
    results = judged.evaluate(list(VALUES.values()), queries="intersection")
    cells = {query: {name: row[ours] for name, ours in VALUES.items()} for query, row in results.to_dict().items()}
    cells["ALL"] = {name: results[ours] for name, ours in VALUES.items()}
    sizes = dict(zip(judged.query_ids, judged.ideal_offsets[1:] - judged.ideal_offsets[:-1], strict=True))
    ranked = dict(zip(judged.query_ids, judged.num_ret, strict=True))
    for query in results.query_ids:
        n_docs = int(max(sizes[query], ranked[query]))
        one = judged.evaluate(list(OF_COLLECTION.values()), queries=[query], n_docs=n_docs)
        cells[query] |= {name: one[ours] for name, ours in OF_COLLECTION.items()}
    for name in OF_COLLECTION:
        cells["ALL"][name] = sum(cells[query][name] for query in results.query_ids) / len(results.query_ids)
    return cells


@pytest.mark.parametrize("title", CLEF)
def test_clef_tar_2017(title, page, tmp_path, record_property):
    """Topics and their means, rounded to three decimals; one cell of the page for each mean."""
    folder, run = DATA / "cleftar17", CLEF[title]
    judged = saved(tmp_path / "judged.npz", folder / "qrels.txt.gz", folder / f"{run}.res.gz", ties="input")
    assert judged.provenance.inputs["run"]["name"] == f"{run}.res.gz"
    cells, compared = tar_eval(judged), 0
    for line in text_of(folder / "expected" / f"published.{run}.tar_eval.txt").splitlines():
        topic, name, published = line.split()
        if name in VALUES or name in OF_COLLECTION:
            assert abs(cells[topic][name] - float(published)) <= 0.0005 + 1e-9, (topic, name)
            compared += 1
            if topic == "ALL":
                assert f"| {title} | `{name}` | {published} | {cells[topic][name]:.6g} |" in page
    record_property("compared", compared)
    assert re.search(rf"\b{compared}\b[\w ]* of {title}\b", page)


@pytest.mark.parametrize("line", [each for each in listed("te904") if each.id.endswith("q_all_trec.txt.gz")])
def test_trec_eval_again(line, page, tmp_path, record_property):
    """Every number of trec_eval 9 that follows from where judged documents stand, for runs of TREC, CAsT, CLEF, ..."""
    expected, qrels, run = paths(line)
    judged = saved(tmp_path / "judged.npz", qrels, run, convention="trec_eval-9")
    rows = [row.split("\t") for row in text_of(expected).splitlines()]
    rows = [(ours(name.strip()), query, text) for name, query, text in rows if ours(name.strip())]
    results = judged.evaluate(list(dict.fromkeys(name for name, _, _ in rows)), convention="trec_eval-9")
    by_query = results.to_dict()
    for name, query, text in rows:
        value = results[name] if query == "all" else by_query[query][name]
        digits = len(text.partition(".")[2])
        assert abs(value - float(text)) <= (0.5 * 10**-digits + 1e-9 if digits else 0), (name, query)
    record_property("compared", len(rows))
    tag = re.search(r"([^/]+)/expected/(.*?)\.te904", line["expected"])
    if tag[1] == "robust03":
        assert (
            f"| {tag[2].removeprefix('input.')} | {results['map']:.4f} | {results['P_10']:.4f} | {len(rows):,} |"
            in page
        )
