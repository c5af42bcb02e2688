"""Fails if a wheel is larger than what may be published: one that is has taken in what is not its own."""

import pathlib
import sys

MOST = 3_000_000  # bytes

for wheel in map(pathlib.Path, sys.argv[1:]):
    size = wheel.stat().st_size
    print(f"{wheel.name}: {size / 1e6:.2f} MB")
    if size >= MOST:
        sys.exit(f"{wheel.name} has {size:,} bytes, at most {MOST - 1:,} are published")
