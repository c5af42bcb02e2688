"""Times the metric step of a project on made data, with and without fastir: run inside the project's environment.

    python metric_step.py PROJECT WAY       prints {"seconds", "megabytes", "values"}

`prepare(qrels, run)` in the project's step.py gives what is timed: the project's own call, in its own shapes. Seconds
are of the processor, the least of five calls behind a first one, which warms up; megabytes are what the first call adds
to the largest memory of the process. The values tell whether both ways answer alike.
"""

import json
import random
import runpy
import sys
import time
from pathlib import Path

from fastir_under import put_under

QUERIES, DEPTH, JUDGED, ROUNDS = 500, 1000, 60, 5


def make():
    """qrels and a run, as dicts of dicts: 500 queries with 1000 documents each, of which 30 are judged, 20 relevant."""
    rng = random.Random(32)
    qrels, run = {}, {}
    for query in range(QUERIES):
        docs = rng.sample(range(100_000), DEPTH + JUDGED // 2)
        judged = docs[: JUDGED // 2] + docs[DEPTH:]
        qrels[f"q{query}"] = {f"d{doc}": max(rng.randrange(-1, 4), 0) for doc in judged}
        qrels[f"q{query}"][f"d{docs[0]}"] = 1  # some tools divide by the relevant ones
        run[f"q{query}"] = {f"d{doc}": rng.random() for doc in docs[:DEPTH]}
    return qrels, run


def resident(field):
    """A figure of /proc in megabytes; 0 where there is none."""
    try:
        status = Path("/proc/self/status").read_text()
    except OSError:
        return 0.0
    return int(status.partition(f"{field}:")[2].split()[0]) / 1024


def main(project, way):
    put_under(project, way)
    step = runpy.run_path(str(Path(project) / "step.py"))["prepare"](*make())
    before = resident("VmRSS")
    Path("/proc/self/clear_refs").write_text("5")  # the largest so far is forgotten
    values = step()
    megabytes = resident("VmHWM") - before
    seconds = []
    for _ in range(ROUNDS):
        start = time.process_time()
        again = step()
        seconds.append(time.process_time() - start)
        assert str(again) == str(values), "a second call answers otherwise"
    print("\n" + json.dumps({"seconds": min(seconds), "megabytes": megabytes, "values": flat(values)}))


def flat(values):
    """{name: number} of what a tool answers: dicts, sequences and numbers."""
    if isinstance(values, dict):
        parts = values.items()
    elif isinstance(values, (list, tuple)):
        parts = enumerate(values)
    else:
        return {"": float(values)}
    return {f"{key}/{inner}": number for key, value in parts for inner, number in flat(value).items()}


if __name__ == "__main__":
    main(*sys.argv[1:])
