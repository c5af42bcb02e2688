"""The metric step of Pyserini: trec_eval of two files, with the values of all queries."""

import atexit
import contextlib
import io
import tempfile
from pathlib import Path

from pyserini.eval.trec_eval import trec_eval


def prepare(qrels, run):
    folder = tempfile.TemporaryDirectory()
    atexit.register(folder.cleanup)
    judged, found = Path(folder.name, "qrels.txt"), Path(folder.name, "run.txt")
    judged.write_text("".join(f"{q} 0 {d} {label}\n" for q, row in qrels.items() for d, label in row.items()), "utf-8")
    ranked = [
        (q, rank, d, docs[d])
        for q, docs in run.items()
        for rank, d in enumerate(sorted(docs, key=docs.get, reverse=True), 1)
    ]
    found.write_text("".join(f"{q} Q0 {d} {rank} {score} made\n" for q, rank, d, score in ranked), "utf-8")

    def step():
        with contextlib.redirect_stdout(io.StringIO()):
            return trec_eval(
                ["trec_eval", "-c", "-q", "-m", "ndcg_cut.10", str(judged), str(found)], return_per_query_results=True
            )

    return step
