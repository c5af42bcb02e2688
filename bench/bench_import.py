"""What `import fastir` costs beyond importing NumPy, each in a fresh process.

    python bench/bench_import.py [--rounds N] [--quick] [--record]
"""

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
        "numpy": sorted(inside("sys", "numpy") for _ in range(options.rounds))[options.rounds // 2],
        "fastir, numpy being there": sorted(inside("numpy", "fastir") for _ in range(options.rounds))[options.rounds // 2],
    }
    tables = {"whole process": whole, "import alone": imports}
    for title, medians in tables.items():
        timing.show(title, medians)
    extra = imports["fastir, numpy being there"]
    print(f"\nfastir beyond NumPy: {timing.duration(extra)} (promised: at most {timing.duration(PROMISE)})")
    if options.record:
        timing.record("import", tables)


if __name__ == "__main__":
    main()
