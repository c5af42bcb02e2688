"""What `import fastir` costs beyond importing NumPy, each in a fresh process.

    python bench/bench_import.py [--rounds N] [--quick] [--record]
"""

import os
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


# Byte code may be kept, as it is where a package was installed.
ENVIRONMENT = {name: value for name, value in os.environ.items() if name != "PYTHONDONTWRITEBYTECODE"}


def python(*arguments):
    """What a new interpreter prints."""
    return subprocess.run([sys.executable, *arguments], env=ENVIRONMENT, capture_output=True, check=True).stdout


def inside(before, after):
    """Seconds of an import, by a clock inside the new process."""
    return float(python("-c", CLOCK.format(before=before, after=after)))


def main():
    options = timing.options(__doc__.splitlines()[0], rounds=21)
    python("-m", "fastir", "--version")
    whole = timing.measure({
        "python": lambda: python("-c", "pass"),
        "python, numpy": lambda: python("-c", "import numpy"),
        "python, fastir": lambda: python("-c", "import fastir"),
        "python, pytrec_eval": lambda: python("-c", "import pytrec_eval"),
        "python -m fastir --version": lambda: python("-m", "fastir", "--version"),
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
