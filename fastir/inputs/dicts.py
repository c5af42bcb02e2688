"""Dicts of dicts: checked and laid out as columns."""

from typing import Any

from fastir._dicts import has_plain_keys
from fastir.errors import quote

LABELS = (-(2**31), 2**31 - 1)


def query_dict(data: Any, what: str) -> dict[str, Any]:
    """The outer mapping as an exact dict with exact str keys, or the error that names the key."""
    if type(data) is not dict:
        if not hasattr(data, "items") or not hasattr(data, "keys"):
            raise TypeError(f"{what} must be a dict of dicts, a path or a fastir object, got {type(data).__name__}; "
                            "unknown format")
        data = dict(data.items())
    if has_plain_keys(data):
        return data
    plain = {}
    for query_id, inner in data.items():
        if not isinstance(query_id, str):
            raise TypeError(f"{what}: a query id must be a str, got {type(query_id).__name__} {quote(query_id)}")
        plain[str.__str__(query_id)] = inner
    return plain


def label_of(label: Any, query_id: str, doc_id: str) -> int:
    """A judged label as an int."""
    if type(label) is int:
        number = label
    elif isinstance(label, (str, bytes)) or label is None:
        raise TypeError(f"qrels: a label must be an integer, got {type(label).__name__} {quote(label)} "
                        f"(query {query_id}, document {doc_id})")
    else:
        try:
            number = label.__index__()
        except (AttributeError, TypeError):
            try:
                real = float(label)
            except (TypeError, ValueError):
                raise TypeError(f"qrels: a label must be an integer, got {type(label).__name__} "
                                f"(query {query_id}, document {doc_id})") from None
            if real != real or real in (float("inf"), float("-inf")):
                raise ValueError(f"qrels: label {real} is not finite; expected an integer "
                                 f"(query {query_id}, document {doc_id})") from None
            if real != int(real):
                raise TypeError(f"qrels: label {real!r} is not an integer; a float must be whole "
                                f"(query {query_id}, document {doc_id})") from None
            number = int(real)
    if not LABELS[0] <= number <= LABELS[1]:
        raise OverflowError(f"qrels: the label is too large; expected an integer from -2^31 to 2^31 - 1 "
                            f"(query {query_id}, document {doc_id})")
    return number


def judgments(data: Any) -> tuple[list[str], list[int], list[str], list[int]]:
    """{query_id: {doc_id: label}} as (query_ids, offsets, doc_ids, labels) lists."""
    query_ids: list[str] = []
    offsets: list[int] = [0]
    doc_ids: list[str] = []
    labels: list[int] = []
    for query_id, judged in query_dict(data, "qrels").items():
        if not hasattr(judged, "items"):
            raise TypeError(f"qrels: query {quote(query_id)} must map to a dict {{doc_id: label}}, "
                            f"got {type(judged).__name__}")
        for doc_id, label in judged.items():
            if type(doc_id) is not str:
                if not isinstance(doc_id, str):
                    raise TypeError(f"qrels: a document id of query {quote(query_id)} must be a str, "
                                    f"got {type(doc_id).__name__} {quote(doc_id)}")
                doc_id = str.__str__(doc_id)
            doc_ids.append(doc_id)
            labels.append(label if type(label) is int and -1000 < label < 1000 else label_of(label, query_id, doc_id))
        query_ids.append(query_id)
        offsets.append(len(doc_ids))
    return query_ids, offsets, doc_ids, labels
