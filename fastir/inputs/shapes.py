"""The shape of a caller's qrels or run: decided here, once for each call, for every function that takes them."""

from __future__ import annotations

import os
from typing import Any

from fastir.columns._dicts import is_nested

DICTS = "dicts"  # a dict whose values are dicts
PATH = "path"
HELD = "held"  # a Qrels or a Run, as the caller of shape_of says
TABLE = "table"
OTHER = "other"  # some other mapping of mappings, or an object that cannot be read


def shape_of(data: Any, held: type) -> str:
    """The shape of `data`; an instance of `held` needs no reading."""
    if is_nested(data):
        return DICTS
    if isinstance(data, held):
        return HELD
    if isinstance(data, (str, bytes, os.PathLike)):
        return PATH
    from fastir.inputs import tables

    return TABLE if tables.is_table(data) else OTHER
