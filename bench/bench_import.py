"""What `import fastir` costs beyond importing NumPy, each in a fresh process.

    python bench/bench_import.py [--rounds N] [--quick] [--record]
"""

import statistics
import subprocess
import sys

import timing

PROMISE = 0.015

# Prints the seconds that the second import takes once the first is there.
CLOCK = """
import time
import {before}
begin = time.perf_counter()
import {after}
print(time.perf_counter() - begin)
"""


def inside(before, after):
    """Seconds of an import, by a clock inside the new process."""
    code = CLOCK.format(before=before, after=after)
    return float(subprocess.run([sys.executable, "-c", code], capture_output=True, check=True).stdout)


def start(code):
    subprocess.run([sys.executable, "-c", code], check=True)


def main():
    options = timing.options(__doc__.splitlines()[0], rounds=21)
    whole = timing.measure({
        "python": lambda: start("pass"),
        "python, numpy": lambda: start("import numpy"),
        "python, fastir": lambda: start("import fastir"),
        "python, pytrec_eval": lambda: start("import pytrec_eval"),
        "python -m fastir --version": lambda: subprocess.run(
            [sys.executable, "-m", "fastir", "--version"], stdout=subprocess.DEVNULL, check=True
        ),
    }, options.rounds)  # fmt: skip
    imports = {
        after: statistics.median(inside(before, after) for _ in range(options.rounds))
        for before, after in (("sys", "numpy"), ("numpy", "fastir"))
    }
    tables = {"whole process": whole, "import alone": imports}
    for title, medians in tables.items():
        timing.show(title, medians)
    extra, promise = timing.duration(imports["fastir"]), timing.duration(PROMISE)
    print(f"\nfastir, with NumPy already there: {extra} (promised: at most {promise})")
    if options.record:
        timing.record("import", tables)


if __name__ == "__main__":
    main()
