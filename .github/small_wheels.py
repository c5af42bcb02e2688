"""Compresses wheels again, as small as deflate can, and fails if one is larger than what may be published.

    python .github/small_wheels.py wheelhouse/*.whl

Zopfli takes ten times as long as zlib and saves six bytes in a hundred; what is unpacked is the same. A wheel that is
over the limit has taken in what is not its own. Needs the package zopfli, and writes over the wheels.
"""

import os
import sys
import zipfile
import zlib

import zopfli.zlib

MOST = 2_800_000  # bytes of a wheel
MOST_INSTALLED = 9_500_000  # bytes of its files


class Compressor:
    """Collects a file, and deflates it as a whole."""

    def __init__(self, *arguments):
        self.content = bytearray()

    def compress(self, content):
        self.content += content
        return b""

    def flush(self):
        stream = zopfli.zlib.compress(bytes(self.content), numiterations=5)
        assert zlib.decompress(stream) == self.content
        return stream[2:-4]  # without the header and the checksum of zlib


def compress(path):
    """Write the members of a wheel again: the same order, dates and permissions."""
    draft = f"{path}.draft"
    with zipfile.ZipFile(path) as wheel, zipfile.ZipFile(draft, "w") as smaller:
        for member in wheel.infolist():
            smaller.writestr(member, wheel.read(member), zipfile.ZIP_DEFLATED)
        installed = sum(member.file_size for member in wheel.infolist())
    os.replace(draft, path)
    return installed


zipfile._get_compressor = Compressor  # zipfile has no other way to bring one
for path in sys.argv[1:]:
    before = os.path.getsize(path)
    installed = compress(path)
    after = os.path.getsize(path)
    print(f"{path}: {after / 1e6:.2f} MB ({before / 1e6:.2f} before), {installed / 1e6:.2f} MB installed")
    for what, size, most in (("", after, MOST), (" installed", installed, MOST_INSTALLED)):
        if size > most:
            sys.exit(f"{path} has {size:,} bytes{what}, at most {most:,} are published")
