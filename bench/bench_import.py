"""What `import fastir` costs beyond importing NumPy, each in a fresh process.

python bench/bench_import.py [--rounds N] [--quick] [--record]
"""

import statistics

import timing
from processes import python

PROMISE = 15  # ms

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
    return float(python("-c", CLOCK.format(before=before, after=after)))


def main():
    options = timing.options(__doc__.splitlines()[0], rounds=21)
    report = timing.Report("import", options)
    python("-m", "fastir", "--version")
    whole = timing.measure({
        "python": lambda: python("-c", "pass"),
        "python, numpy": lambda: python("-c", "import numpy"),
        "python, fastir": lambda: python("-c", "import fastir"),
        "python, pytrec_eval": lambda: python("-c", "import pytrec_eval"),
        "python -m fastir --version": lambda: python("-m", "fastir", "--version"),
    }, options.rounds)  # fmt: skip
    report.add("whole process", whole)
    alone = statistics.median(inside("numpy", "fastir") for _ in range(options.rounds))
    report.limit("import fastir, with NumPy already there", 1e3 * alone, PROMISE, "ms")
    report.close()


if __name__ == "__main__":
    main()
