"""Runs cases of the catalogue of bad input, each in a process of its own: imports fastir once, then forks per case.

Reads the id of a case per line of standard input and answers with a line of JSON, one of {"values": {query: {metric:
value}}, "repairs": {...}}, {"error": message, "classes": [...]}, {"crash": how it ended}, {"hang": seconds}.
"""

import base64
import collections
import json
import math
import os
import resource
import select
import signal
import subprocess
import sys
import tempfile
import types
import warnings
from decimal import Decimal
from fractions import Fraction
from pathlib import Path

import numpy as np

import fastir

ADDRESS_SPACE = 8 << 30
TIME_LIMIT = 10.0
METRICS = ["ndcg@10", "map", "mrr", "p@5"]
NOBODY = 65534


def expression(code, helpers):
    """The value of a Python expression of the catalogue."""
    modules = {"np": np, "math": math, "types": types, "collections": collections}
    return eval(code, {**helpers, **modules, "Decimal": Decimal, "Fraction": Fraction})


def content(side):
    """The bytes of one side."""
    return base64.b64decode(side["b64"]) if "b64" in side else side["text"].encode("utf-8", "surrogateescape")


def path_of(side, path):
    """One side as a file, or as whatever special thing stands in its place."""
    special = side.get("special")
    if special == "fifo":
        os.mkfifo(path)
        if os.fork() == 0:
            os.closerange(3, 64)
            signal.alarm(2 * int(TIME_LIMIT))
            path.write_bytes(content(side))
            os._exit(0)
    elif special != "missing":
        path.write_bytes(content(side))
    if special == "unreadable":
        path.chmod(0)
        if os.geteuid() == 0:
            os.seteuid(NOBODY)
    return path


def command_line(folder, case):
    """The run on standard input of `fastir eval`; the values come from its JSON."""
    arguments = [part for metric in METRICS for part in ("-m", metric)]
    qrels = path_of(case["qrels"], folder / "qrels.txt")
    done = subprocess.run(
        [sys.executable, "-m", "fastir", "eval", qrels, "-", *arguments, "-q", "--format", "json"],
        input=content(case["run"]), capture_output=True, check=True,
    )  # fmt: skip
    return {"values": json.loads(done.stdout)["per_query"], "repairs": {}}


def evaluate(case, helpers, folder):
    options = case.get("opts", {})
    metrics = METRICS + ["bpref"] * options.get("bpref", False)
    if case.get("run", {}).get("special") == "stdin":
        return command_line(folder, case)
    if case["api"] == "array":
        made = {"pd": __import__("pandas")}
        exec(case["calls"]["ranx"].partition("from ranx")[0], made)  # the two frames, before that peer is called
        qrels, run = made["Q"], made["R"]
    elif case["api"] == "dict":
        qrels, run = (expression(case[side]["py"], helpers) for side in ("qrels", "run"))
    else:
        qrels, run = (path_of(case[side], folder / f"{side}.txt") for side in ("qrels", "run"))
    if case["api"] == "metric":
        metrics = expression(case["metric"]["fastir"], helpers)
    results = fastir.evaluate(qrels, run, metrics, rel_level=options.get("rel_level", 1))
    rows = (dict(zip(results.names, row, strict=True)) for row in results.values.tolist())
    return {"values": dict(zip(results.query_ids, rows, strict=True)), "repairs": results.report.repairs}


def outcome(case, helpers, folder):
    try:
        return evaluate(case, helpers, folder)
    except Exception as error:
        return {"error": str(error), "classes": [cls.__name__ for cls in type(error).__mro__]}


def child(case, helpers, answer):
    """Evaluate one case and write its outcome to the pipe."""
    resource.setrlimit(resource.RLIMIT_AS, (ADDRESS_SPACE, ADDRESS_SPACE))
    resource.setrlimit(resource.RLIMIT_CORE, (0, 0))
    with tempfile.TemporaryDirectory(prefix="run-and-qrels-", ignore_cleanup_errors=True) as folder:
        os.chmod(folder, 0o755)
        text = json.dumps(outcome(case, helpers, Path(folder)))
        os.seteuid(os.getuid())
    with os.fdopen(answer, "w") as pipe:
        pipe.write(text)


def in_a_process_of_its_own(case, helpers):
    """Fork, evaluate in the child, and say how that went."""
    read, write = os.pipe()
    pid = os.fork()
    if pid == 0:
        status = 1
        try:
            os.close(read)
            os.dup2(os.open(os.devnull, os.O_WRONLY), 1)
            child(case, helpers, write)
            status = 0
        finally:
            os._exit(status)
    os.close(write)
    text = b""
    while select.select([read], [], [], TIME_LIMIT)[0]:
        block = os.read(read, 1 << 20)
        if not block:
            break
        text += block
    else:
        os.kill(pid, signal.SIGKILL)
    os.close(read)
    ended = os.waitstatus_to_exitcode(os.waitpid(pid, 0)[1])
    if ended == -signal.SIGKILL:
        return {"hang": TIME_LIMIT}
    return {"crash": ended} if ended else json.loads(text)


def main(catalogue):
    warnings.simplefilter("ignore")
    helpers = {}
    exec((catalogue / "helpers.py").read_text(encoding="utf-8"), helpers)
    with (catalogue / "cases.jsonl").open(encoding="utf-8") as lines:
        cases = {case["id"]: case for case in map(json.loads, lines)}
    # the first call imports what is imported late, which a child without permissions could not
    with tempfile.TemporaryDirectory() as folder:
        outcome(cases["F00-control"], helpers, Path(folder))
    for line in sys.stdin:
        print(json.dumps(in_a_process_of_its_own(cases[line.strip()], helpers)), flush=True)


if __name__ == "__main__":
    main(Path(sys.argv[1]))
