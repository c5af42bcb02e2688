"""How files are packed, and data in a form that compares to the bit."""

import gzip
import sys

import pytest

from fastir import Qrels, Run

try:
    if sys.version_info >= (3, 14):
        from compression import zstd
    else:
        from backports import zstd
except ImportError:
    zstd = None

needs_zstd = pytest.mark.skipif(zstd is None, reason="needs zstd: pip install 'fastir[zst]'")
PACKINGS = ["", ".gz", pytest.param(".zst", marks=needs_zstd)]


def exact(data):
    """All of it, in order and with the sign of zero."""
    return repr(data.to_dict() if isinstance(data, (Qrels, Run)) else data)


def packed(data, packing):
    return {"": bytes, ".gz": gzip.compress, ".zst": lambda data: zstd.compress(data)}[packing](data)
