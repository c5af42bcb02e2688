"""The trec_eval in Pyserini's jar, which its Java class unpacks and runs."""

import pathlib
import subprocess
import tempfile
import zipfile
from importlib.util import find_spec

from rankings import queries

TOOL = "pyserini"
MODULES = ["pyserini"]
DIGITS = 4
QUERIES = queries(23, grades=(1, 2), repeats=False, empty_rankings=False, empty_relevant=False)
NAMES = ["map", "recip_rank", "Rprec", "bpref", "P_5", "recall_5", "ndcg", "ndcg_cut_5", "map_cut_5", "success_1"]


def values(queries):
    resources = pathlib.Path(find_spec("pyserini").origin).parent / "resources"
    [jar] = (resources / "jars").glob("*.jar")
    with tempfile.TemporaryDirectory() as folder:
        program, qrels, run = (pathlib.Path(folder, name) for name in ("trec_eval", "qrels", "run"))
        program.write_bytes(zipfile.ZipFile(jar).read("trec_eval/trec_eval-linux-amd64"))
        program.chmod(0o755)
        with qrels.open("w") as judged, run.open("w") as ranked:
            for place, query in enumerate(queries):
                judged.writelines(f"{place} 0 {doc} {label}\n" for doc, label in query["relevant"].items())
                ranked.writelines(f"{place} Q0 {doc} 0 {-rank} t\n" for rank, doc in enumerate(query["retrieved"]))
        command = [program, "-q", "-m", "all_trec", qrels, run]
        printed = subprocess.run(command, capture_output=True, check=True, text=True).stdout
    found = {name: [None] * len(queries) for name in NAMES}
    for line in printed.splitlines():
        name, query, value = line.split()
        if name in found and query != "all":
            found[name][int(query)] = float(value)
    return found
