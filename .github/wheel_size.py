"""Fails if a wheel is larger than what may be published: one that is has taken in what is not its own."""

import os
import sys
import zipfile

MOST = 2_600_000  # bytes of a wheel
MOST_INSTALLED = 9_500_000  # bytes of its files

for path in sys.argv[1:]:
    with zipfile.ZipFile(path) as wheel:
        installed = sum(member.file_size for member in wheel.infolist())
    for what, size, most in (("", os.path.getsize(path), MOST), (" installed", installed, MOST_INSTALLED)):
        print(f"{path}: {size / 1e6:.2f} MB{what}")
        if size > most:
            sys.exit(f"{path} has {size:,} bytes{what}, at most {most:,} are published")
