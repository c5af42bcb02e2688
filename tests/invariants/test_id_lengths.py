"""Every table of ids, with ids of every length: the values of loops over dicts, whatever holds the ids.

The ids and the loops are in ids_of_lengths.py. Metrics that no loop of a few lines computes are compared under other
names of the ids, short ones in the same order: no value may depend on how ids are spelled.
"""

import csv
import io
import json
import random

import numpy as np
import pytest
from common import UNEVEN
from ids_of_lengths import METRICS, all_ids, collection, ids_of, ranked, renamed, rows_of, short_names, values

import fastir

pytestmark = UNEVEN

QRELS, RUN = collection()
TREC_QRELS, TREC_RUN = collection(1)  # no field of a line is empty
LISTS = {query: ranked(docs) for query, docs in RUN.items()}
NUMBER = {"qrels": "label", "run": "score"}


def check(results, qrels=QRELS, run=RUN):
    expected = values(qrels, run)
    assert set(results.query_ids) == set(expected)
    for place, metric in enumerate(METRICS):
        found = results.per_query(metric)
        wrong = [
            (len(query.encode()), query[:30]) for query in found if abs(found[query] - expected[query][place]) > 1e-12
        ]
        assert not wrong, f"{metric}: {len(wrong)} of {len(found)}, such as {wrong[:5]}"


# ---- qrels and runs --------------------------------------------------------------------------------------------------
def columns(data, what, order):
    rows = rows_of(data)
    if order == "mixed":
        random.Random(1).shuffle(rows)
    query_ids, doc_ids, numbers = (list(column) for column in zip(*rows, strict=True))
    return {"query_id": query_ids, "doc_id": doc_ids, NUMBER[what]: numbers}


def arrow_table(data, what, order, kind):
    pa = pytest.importorskip("pyarrow")
    text = {"dictionary": pa.string()}.get(kind) or getattr(pa, kind)()
    arrays = {
        name: pa.array(column, *([text] if name.endswith("_id") else []))
        for name, column in columns(data, what, order).items()
    }
    if kind == "dictionary":
        arrays = {name: one.dictionary_encode() if name.endswith("_id") else one for name, one in arrays.items()}
    return pa.table(arrays)


def frame(data, what, order, kind):
    pd = pytest.importorskip("pandas")
    made = pd.DataFrame(columns(data, what, order))
    return made.astype({"query_id": kind, "doc_id": kind})


def polars_frame(data, what, order, kind):
    pl = pytest.importorskip("polars")
    return pl.DataFrame(columns(data, what, order)).with_columns(pl.col("query_id", "doc_id").cast(getattr(pl, kind)))


def arrays(data, what, order):
    return {
        name: np.array(column, object if name.endswith("_id") else float)
        for name, column in columns(data, what, order).items()
    }


IN_MEMORY = {
    "rows": lambda data, what, order: list(zip(*columns(data, what, order).values(), strict=True)),
    "arrays": arrays,
    **{
        f"Arrow {kind}": lambda data, what, order, kind=kind: arrow_table(data, what, order, kind)
        for kind in ("string", "large_string", "string_view", "dictionary")
    },
    "Arrow in batches": lambda data, what, order: pytest.importorskip("pyarrow").Table.from_batches(
        arrow_table(data, what, order, "string").to_batches(max_chunksize=101)
    ),
    **{
        f"pandas {kind}": lambda data, what, order, kind=kind: frame(data, what, order, kind)
        for kind in ("object", "string", "category")
    },
    **{
        f"polars {kind}": lambda data, what, order, kind=kind: polars_frame(data, what, order, kind)
        for kind in ("String", "Categorical")
    },
}


@pytest.mark.parametrize("order", ["grouped", "mixed"])
@pytest.mark.parametrize("shape", IN_MEMORY)
def test_tables(shape, order):
    make = IN_MEMORY[shape]
    qrels = make(QRELS, "qrels", order)
    check(fastir.evaluate(QRELS, make(RUN, "run", order), METRICS))
    check(fastir.evaluate(qrels, RUN, METRICS))
    check(fastir.evaluate(qrels, make(RUN, "run", order), METRICS, n_threads=2))
    if order == "grouped":
        held = fastir.Run.from_table(make(RUN, "run", order))
        assert held.to_dict() == RUN and fastir.Qrels.from_table(qrels).to_dict() == QRELS


def test_dicts_lists_and_objects():
    qrels, run = fastir.Qrels.from_dict(QRELS), fastir.Run.from_dict(RUN)
    assert (qrels.to_dict(), run.to_dict()) == (QRELS, RUN)
    for judged in (QRELS, qrels):
        for given in (RUN, run, LISTS, fastir.Run.from_dict(LISTS)):
            check(fastir.evaluate(judged, given, METRICS))
    evaluator = fastir.Evaluator(QRELS, METRICS)
    check(evaluator.judged_rankings(RUN).evaluate(METRICS))
    for results in evaluator.evaluate_many({"a": RUN, "b": arrays(RUN, "run", "mixed")}).values():
        check(results)
    view = {query: {np.str_(doc): np.float64(score) for doc, score in docs.items()} for query, docs in RUN.items()}
    check(fastir.evaluate(QRELS, view, METRICS))


def text_of(data, what, form):
    names = ["query_id", "doc_id", NUMBER[what]]
    if form == "json":
        return json.dumps(data, ensure_ascii=what == "run")
    if form == "jsonl":
        lines = (json.dumps(dict(zip(names, row, strict=True)), ensure_ascii=what == "run") for row in rows_of(data))
        return "".join(line + "\n" for line in lines)
    out = io.StringIO()
    writer = csv.writer(out, lineterminator="\n")
    writer.writerows([names, *rows_of(data)])
    return out.getvalue()


@pytest.mark.parametrize("form", ["json", "jsonl", "csv", "parquet", "trec"])
def test_files(tmp_path, form):
    qrels, run = (TREC_QRELS, TREC_RUN) if form == "trec" else (QRELS, RUN)
    judged, retrieved = tmp_path / f"qrels.{form}", tmp_path / f"run.{form}"
    if form == "trec":
        judged.write_text("".join(f"{q}\t0\t{d}\t{label}\n" for q, d, label in rows_of(qrels)), "utf-8")
        mixed = rows_of(run)
        random.Random(2).shuffle(mixed)
        for rows in (mixed, rows_of(run)):
            retrieved.write_text("".join(f"{q} Q0 {d} 1 {score} tag\n" for q, d, score in rows), "utf-8")
            check(fastir.evaluate(qrels, retrieved, METRICS), qrels, run)
    elif form == "parquet":
        pq = pytest.importorskip("pyarrow.parquet")
        pq.write_table(arrow_table(qrels, "qrels", "mixed", "string"), judged)
        pq.write_table(arrow_table(run, "run", "mixed", "large_string"), retrieved, row_group_size=500)
    else:
        judged.write_text(text_of(qrels, "qrels", form), "utf-8")
        retrieved.write_text(text_of(run, "run", form), "utf-8")
    check(fastir.evaluate(judged, retrieved, METRICS), qrels, run)
    check(fastir.evaluate(qrels, retrieved, METRICS), qrels, run)
    assert fastir.Qrels.from_file(judged).to_dict() == qrels


@pytest.mark.parametrize(("form", "qrels", "run"), [("json", QRELS, RUN), ("trec", TREC_QRELS, TREC_RUN)])
def test_what_is_saved_is_read_again(tmp_path, form, qrels, run):
    for data, kind in ((qrels, fastir.Qrels), (run, fastir.Run)):
        path = tmp_path / f"saved.{form}"
        kind.from_dict(data).save(path)
        assert kind.from_file(path).to_dict() == data


@pytest.mark.parametrize("line", ["q Q0  1 2.0 t\n", " Q0 d 1 2.0 t\n"])
def test_a_line_has_no_empty_id(tmp_path, line):
    path = tmp_path / "run"
    path.write_text("q Q0 e 1 3.0 t\n" + line)
    with pytest.raises(fastir.FormatError, match=r"run:2: score 't' is not a number \(query"):
        fastir.evaluate({"q": {"d": 1}}, path, "mrr")


@pytest.mark.parametrize("data", [fastir.Qrels.from_dict({"q": {"": 1}}), fastir.Run.from_dict({"q": {"": 1.0}})])
def test_a_line_cannot_hold_an_empty_id(tmp_path, data):
    with pytest.raises(ValueError, match=r"document id '' is empty .*; JSON can hold it"):
        data.save(tmp_path / "data.trec", "trec")


# ---- lists -----------------------------------------------------------------------------------------------------------
def test_lists_of_ids():
    relevant = {query: {doc for doc, label in docs.items() if label > 0} for query, docs in QRELS.items()}
    queries = list(LISTS)
    check(fastir.evaluate_lists(LISTS, relevant, METRICS))
    check(fastir.evaluate_lists(list(LISTS.values()), [relevant[q] for q in queries], METRICS, query_ids=queries))
    check(fastir.evaluate_lists(list(LISTS.values()), [QRELS[q] for q in queries], METRICS, query_ids=queries))


@pytest.mark.parametrize("kind", ["string", "large_string", "string_view"])
def test_columns_of_lists(kind):
    pa = pytest.importorskip("pyarrow")
    relevant = [[doc for doc, label in docs.items() if label > 0] for docs in QRELS.values()]
    text = getattr(pa, kind)()
    table = pa.table({
        "query_id": pa.array(list(LISTS), text),
        "retrieved": pa.array(list(LISTS.values()), pa.list_(text)),
        "relevant": pa.array(relevant, pa.list_(text)),
    })  # fmt: skip
    check(fastir.evaluate_lists(table, None, METRICS))


def test_a_list_with_an_id_twice_names_it():
    for one in all_ids():
        with pytest.raises(fastir.DuplicateError):
            fastir.evaluate_lists([[*ids_of(7, 1), one, "z", one]], [["z"]], "mrr")


# ---- options that hold ids -------------------------------------------------------------------------------------------
def with_parents(parents, least=0):
    """The rankings of documents: each has the best score of its chunks."""
    qrels, run = collection(least)
    documents = {}
    for query, docs in run.items():
        best = documents.setdefault(query, {})
        for chunk, score in docs.items():
            document = parents.get(chunk, chunk)
            best[document] = max(best.get(document, score), score)
    return qrels, run, documents


def pairs_of(ids):
    """{chunk: document} for three quarters of the ids: of every length, mostly with another length."""
    return {chunk: ids[-place] for place, chunk in enumerate(ids) if place % 4}


@pytest.mark.parametrize(
    "shape", ["dict", "arrays", "Arrow string", "Arrow large_string", "Arrow string_view", "pandas"]
)
def test_parents(shape):
    parents = pairs_of(all_ids())
    qrels, run, documents = with_parents(parents)
    chunks, targets = list(parents), list(parents.values())
    given = parents
    if shape == "arrays":
        given = np.array(chunks, object), np.array(targets, object)
    elif shape == "pandas":
        given = pytest.importorskip("pandas").DataFrame({"chunk": chunks, "document": targets})
    elif shape != "dict":
        pa = pytest.importorskip("pyarrow")
        kind = getattr(pa, shape.split()[1])()
        given = pa.table({"chunk": pa.array(chunks, kind), "document": pa.array(targets, kind)})
    evaluator = fastir.Evaluator(qrels, METRICS, parents=given)
    lists = {query: ranked(docs) for query, docs in run.items()}
    for retrieved in (run, fastir.Run.from_dict(run), arrays(run, "run", "grouped"), arrays(run, "run", "mixed")):
        check(evaluator.evaluate(retrieved), qrels, documents)
    in_order = {query: list(dict.fromkeys(parents.get(chunk, chunk) for chunk in lists[query])) for query in lists}
    check(evaluator.evaluate(lists), qrels, in_order)


def test_parents_from_files_and_functions(tmp_path):
    parents = {chunk: document for chunk, document in pairs_of(all_ids()).items() if chunk and document}
    qrels, run, documents = with_parents(parents)
    for name, separator in (("parents.txt", " "), ("parents.tsv", "\t")):
        (tmp_path / name).write_text("".join(f"{one}{separator}{other}\n" for one, other in parents.items()), "utf-8")
        check(fastir.evaluate(qrels, run, METRICS, parents=tmp_path / name), qrels, documents)
    check(
        fastir.evaluate(qrels, run, METRICS, parents=lambda ids: [parents.get(one, one) for one in ids]),
        qrels,
        documents,
    )


def test_a_chunk_with_two_documents_is_found():
    for chunk in all_ids():
        with pytest.raises(ValueError, match="has two documents, 'a' and 'b'"):
            fastir.Evaluator({"q": {"a": 1}}, "mrr", parents=([chunk, "z", chunk], ["a", "a", "b"]))
        evaluator = fastir.Evaluator({"q": {"a": 1}}, "mrr", parents=([chunk, "z", chunk], ["a", "a", "a"]))
        assert evaluator.evaluate({"q": {chunk: 1.0}})["mrr"] == 1.0


def excluded():
    """{query: documents}, retrieved and not, for two of three queries; and the rankings that are left."""
    gone = {query: [*list(docs)[1::3], "elsewhere"] for place, (query, docs) in enumerate(RUN.items()) if place % 3}
    left = {query: {doc: s for doc, s in docs.items() if doc not in gone.get(query, ())} for query, docs in RUN.items()}
    return gone, left


def test_exclude(tmp_path):
    gone, left = excluded()
    evaluator = fastir.Evaluator(QRELS, METRICS, exclude=gone)
    for run in (RUN, fastir.Run.from_dict(RUN), arrays(RUN, "run", "grouped"), arrays(RUN, "run", "mixed"), LISTS):
        check(evaluator.evaluate(run), QRELS, left)
    lines = [f"{query} {doc}\n" for query, docs in gone.items() for doc in docs if query and doc]
    (tmp_path / "gone").write_text("".join(lines), "utf-8")
    without_empty = {
        query: {doc: s for doc, s in docs.items() if not query or not doc or doc not in gone.get(query, ())}
        for query, docs in RUN.items()
    }
    check(fastir.evaluate(QRELS, RUN, METRICS, exclude=tmp_path / "gone"), QRELS, without_empty)


def test_exclude_the_document_of_the_query():
    run = {query: {**docs, query: 9.0} for query, docs in RUN.items()}
    left = {query: {doc: score for doc, score in docs.items() if doc != query} for query, docs in run.items()}
    for given in (run, fastir.Run.from_dict(run), arrays(run, "run", "mixed")):
        check(fastir.evaluate(QRELS, given, METRICS, exclude="query_id"), QRELS, left)


def test_doc_weights(tmp_path):
    weights = {doc: 1 + i % 7 / 4 for i, (_, doc, _) in enumerate(rows_of(QRELS))}
    expected = {}
    for query, docs in QRELS.items():
        relevant = {doc for doc, label in docs.items() if label > 0}
        total = sum(weights[doc] for doc in relevant)
        found = [doc for doc in LISTS[query][:4] if doc in relevant]
        expected[query] = sum(weights[doc] for doc in found) / total if total else 0.0
    rows = rows_of(QRELS)
    table = {**columns(QRELS, "qrels", "grouped"), "ips": [weights[doc] for _, doc, _ in rows]}
    nested = {query: {doc: weights[doc] for doc in docs} for query, docs in QRELS.items()}
    for qrels, given in ((QRELS, weights), (QRELS, nested), (table, "ips")):
        results = fastir.evaluate(qrels, RUN, "weighted_recall@4", doc_weights=given)
        assert results.per_query("weighted_recall@4") == pytest.approx(expected, rel=1e-12)
    path = tmp_path / "weights"
    path.write_text("".join(f"{doc}\t{weight}\n" for doc, weight in weights.items() if doc), "utf-8")
    qrels = {query: {doc: label for doc, label in docs.items() if doc} for query, docs in QRELS.items()}
    from_file = fastir.evaluate(qrels, RUN, "weighted_recall@4", doc_weights=path)
    given = fastir.evaluate(qrels, RUN, "weighted_recall@4", doc_weights=weights)
    assert from_file.values.tobytes() == given.values.tobytes()


def test_query_ids():
    """One document for each query: what is left to tell queries apart is their ids."""
    ids = all_ids()
    qrels = {query: {"d": 1, "e": 0} for query in ids}
    run = {query: {"d": 1.0, "e": float(i % 3)} for i, query in enumerate(ids)}
    for make in (IN_MEMORY["arrays"], IN_MEMORY["rows"], lambda data, what, order: data):
        for order in ("grouped", "mixed"):
            check(fastir.evaluate(qrels, make(run, "run", order), METRICS), qrels, run)
    results = fastir.evaluate(qrels, run, "mrr")
    mrr = {query: 1.0 if i % 3 == 0 else 0.5 for i, query in enumerate(ids)}
    weights = {query: float(1 + i % 5) for i, query in enumerate(ids)}
    mean = sum(weights[query] * mrr[query] for query in ids) / sum(weights.values())
    assert fastir.evaluate(qrels, run, "mrr", weights=weights)["mrr"] == pytest.approx(mean, rel=1e-12)
    segments = {query: ids[i % 3] for i, query in enumerate(ids)}
    for segment, of in results.by_segment(segments).items():
        held = [query for query in ids if segments[query] == segment]
        assert of.query_ids == held
        assert of["mrr"] == pytest.approx(sum(map(mrr.get, held)) / len(held), rel=1e-12)


def test_queries_that_one_side_lacks_are_counted():
    ids = all_ids()
    qrels = {query: {"d": 1} for i, query in enumerate(ids) if i % 3}
    run = {query: {"d": 1.0} for i, query in enumerate(ids) if i % 5}
    both = len(qrels.keys() & run.keys())
    for given in (run, arrays(run, "run", "mixed"), fastir.Run.from_dict(run)):
        report = fastir.evaluate(qrels, given, "mrr").report
        assert (report.in_both, report.only_in_qrels, report.only_in_run) == (both, len(qrels) - both, len(run) - both)


# ---- parts -----------------------------------------------------------------------------------------------------------
@pytest.mark.parametrize("strategy", ["grouped", "two-pass"])
@pytest.mark.parametrize("kind", ["string", "string_view", "dictionary"])
def test_parts(strategy, kind):
    evaluator = fastir.Evaluator(QRELS, METRICS, validate="full" if strategy == "grouped" else "judged")
    table = arrow_table(RUN, "run", "grouped", kind)
    cut = next(i for i in range(2000, table.num_rows) if table["query_id"][i] != table["query_id"][i - 1])
    parts = [table.slice(0, cut), table.slice(cut)]
    after = None
    for _ in range(2 if strategy == "two-pass" else 1):
        states = []
        for part in parts:
            state = evaluator.partial(strategy=strategy, after=after)
            state.add(part)
            states.append(state)
        states[0].merge(states[1])
        after = states[0]
    check(after.result())


# ---- the same values under short names -------------------------------------------------------------------------------
def same_under_short_names(evaluate, *data):
    names = short_names(*data)
    found = evaluate(*data)
    expected = evaluate(*(renamed(one, names) for one in data))
    assert [names[query] for query in found.query_ids] == list(expected.query_ids)
    assert found.values.tobytes() == expected.values.tobytes()
    assert np.nanmax(found.values) > 0


def test_subtopics():
    ids = all_ids()
    qrels = {
        query: {ids[(place + i) % len(ids)]: dict.fromkeys(list(docs)[i::3], 1) for i in range(3)}
        for place, (query, docs) in enumerate(QRELS.items())
    }
    metrics = ["st_recall@3", "alpha_ndcg@5", "map_avgjg"]
    for shape in (lambda run: run, fastir.Run.from_dict, lambda run: arrays(run, "run", "mixed")):
        same_under_short_names(
            lambda judged, run, shape=shape: fastir.evaluate(judged, shape(run), metrics), qrels, RUN
        )


def test_preferences(tmp_path):
    prefs = {
        query: {"ann": {"1": {doc: float(i % 3) for i, doc in enumerate(docs)}}, query: {"1": dict.fromkeys(docs, 1.0)}}
        for query, docs in TREC_QRELS.items()
    }

    def evaluate(judged, run):
        return fastir.evaluate(fastir.Qrels.from_dict(judged), run, ["prefs_simp", "prefs_num_prefs_ful"])

    same_under_short_names(evaluate, prefs, TREC_RUN)
    held = fastir.Qrels.from_dict(prefs)
    held.save(tmp_path / "prefs")
    read = fastir.Qrels.from_file(tmp_path / "prefs", "prefs")
    assert (
        evaluate(prefs, TREC_RUN).values.tobytes()
        == fastir.evaluate(read, TREC_RUN, ["prefs_simp", "prefs_num_prefs_ful"]).values.tobytes()
    )


@pytest.mark.parametrize("kind", ["strata", "prels"])
def test_samples(tmp_path, kind):
    def evaluate(judged, run):
        lines = []
        for query, docs in judged.items():
            for i, (doc, label) in enumerate(docs.items()):
                if kind == "strata":
                    lines.append(f"{query} 0 {doc} {1 + i % 2} {min(label, 1)}\n")
                else:
                    lines.append(f"{query} {doc} {min(label, 1)} 1 {0.5 + i % 2 / 4}\n")
        (tmp_path / "samples").write_text("".join(lines), "utf-8")
        qrels = fastir.Qrels.from_file(tmp_path / "samples", kind)
        return fastir.evaluate(qrels, run, ["xinfAP", "infNDCG"] if kind == "strata" else ["statAP"])

    same_under_short_names(evaluate, TREC_QRELS, TREC_RUN)


# ---- beside evaluation -----------------------------------------------------------------------------------------------
def test_fusion():
    """Of a run of every second document and one of every third: reciprocal ranks, by a loop."""
    halves = [
        {query: dict(list(docs.items())[i::n]) for query, docs in RUN.items()} for i, n in ((0, 2), (1, 3), (0, 1))
    ]
    expected = {}
    for query in RUN:
        for docs in halves:
            for rank, doc in enumerate(ranked(docs[query]), 1):
                sums = expected.setdefault(query, {})
                sums[doc] = sums.get(doc, 0.0) + 1 / (60 + rank)
    for make in (lambda run: run, fastir.Run.from_dict, lambda run: arrays(run, "run", "mixed")):
        fused = fastir.fuse([make(run) for run in halves], "rrf").to_dict()
        assert fused.keys() == expected.keys()
        for query in fused:
            assert fused[query] == pytest.approx(expected[query], rel=1e-12)


def test_pools():
    pytest.importorskip("pyarrow")
    pool = fastir.pool({"a": RUN, "b": arrays(RUN, "run", "mixed"), "c": LISTS}, 3)
    expected = {(query, doc) for query, docs in LISTS.items() for doc in docs[:3]}
    assert {(row["query_id"], row["doc_id"]) for row in pool.to_arrow().to_pylist()} == expected
