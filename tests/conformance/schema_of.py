"""The schema of the cases: what each field and each option means, so that the files can be read without fastir."""

import fastir

RULES = {
    "name": ("string", None, "the metric's name, without cutoff and parameters"),
    "k": ("integer", None, "the cutoff; without it the whole ranking counts"),
    "rel_level": (
        "number", 1, "documents with at least this label are relevant; 0 makes every judged document relevant"),
    "ties": (
        "string", "trec", "order of equal scores: ids descending by the bytes of their UTF-8 (trec) or ascending "
        "(doc_id_asc), as they stand in `run` (input), highest labels first (optimistic) or last (pessimistic), or the "
        "mean of the metric over all orders (average); an integer id stands for its decimal text"),
    "queries": (
        "string", "qrels", "the queries that count: all of `qrels`, where one that `run` lacks has an empty ranking; "
        "or those in both (intersection, strict)"),
    "duplicates": (
        "string", "once", "a document that stands in a ranking again: the later copies keep their ranks and count as "
        "documents without a label (once), or are removed, and the ranks below close up (first)"),
    "score_dtype": ("string", "float64", "scores are compared in this precision"),
    "judged_only": ("boolean", False, "documents that are not judged, or with a negative label, are removed from the "
                    "rankings, after max_depth"),
    "max_depth": ("integer", None, "the number of documents that are read of each ranking"),
    "exclude": ("string", None, "query_id: the document with the id of the query is removed from its ranking"),
    "parents": ("object", None, "the document of each chunk; ids of `run` are chunks, and a document takes the score "
                "and the place of its best chunk"),
}  # fmt: skip
FIELDS = {
    "id": "unique: where the case comes from, the metric there, and a number",
    "qrels": "for each query [document, label] pairs; a negative label means in the pool, but not judged",
    "run": "for each query [document, score] pairs in any order, or a list of documents, best first",
    "metric": "in fastir's grammar",
    "words": "the metric in words, and what differs from the defaults; its formula is under $defs. i is a rank from 1, "
    "k the cutoff, n the number of documents retrieved, r how many of them are relevant, r_k how many of the first k, "
    "R how many in the qrels, N how many were judged not relevant, "
    "g_i the gain at rank i: the label, 0 without a label or with a negative one",
    "options": "the same for programs; an option that is not there has its default",
    "convention": "whose number it is: a name of fastir's conventions",
    "version": "the tool and its version",
    "expected": 'the value of each query that counts, and under "all" their mean (num_*: their sum, gm*: their '
    "geometric mean): the exact sum over the number of queries. A query whose value is nan leaves the mean, unless "
    "`empty` is nan or `bpref_norm` is min_nan",
    "tolerance": "exact: the double itself; last bit: or one of its two neighbours; 1e-12: within 1e-12 of the larger "
    "of 1 and the value",
    "about": "what the case is about",
    "source": "where the value comes from: the tool's own answer, the definition, enumeration, or arithmetic by hand",
}


def schema(cases):
    """JSON Schema of a line of the files."""
    cards = {card.name: card for card in fastir.metrics()}
    options = {}
    for case in cases:
        for param in cards[case["options"]["name"]].params:
            if param.name in case["options"]:
                told = {"description": param.meaning}
                options[param.name] = told if param.default is None else {**told, "default": plain(param.default)}
    rules = {
        name: {"type": kind, "description": text, **({} if default is None else {"default": default})}
        for name, (kind, default, text) in RULES.items()
    }
    number = {"type": "object", "required": ["decimal", "hex"], "additionalProperties": False, "properties": {
        "decimal": {"type": "string"},
        "hex": {"type": "string", "pattern": "^(-?0x[01](\\.[0-9a-f]+)?p[+-][0-9]+|nan)$"},
    }}  # fmt: skip
    pairs = {"type": "array", "items": {"type": "array", "items": {"type": ["string", "integer", "number"]}}}
    entry = {"type": ["array", "string", "integer"]}
    shapes = {
        "qrels": {"type": "object", "additionalProperties": pairs},
        "run": {"type": "object", "additionalProperties": {"type": "array", "items": entry}},
        "options": {"type": "object", "required": ["name"], "additionalProperties": False,
                    "properties": rules | dict(sorted(options.items()))},
        "expected": {"type": "object", "required": ["all"], "additionalProperties": number},
        "tolerance": {"enum": ["exact", "last bit", "1e-12"]},
        "about": {"type": "array", "items": {"enum": sorted({about for case in cases for about in case["about"]})}},
    }  # fmt: skip
    return {
        "$schema": "https://json-schema.org/draft/2020-12/schema",
        "title": "A case of the conformance suite of ranking metrics", "type": "object", "required": list(FIELDS),
        "additionalProperties": False,
        "properties": {
            field: {**shapes.get(field, {"type": "string"}), "description": text} for field, text in FIELDS.items()
        },
        "$defs": {
            name: {"description": f"{cards[name].summary}: {cards[name].formula}. Undefined: {cards[name].undefined}"}
            for name in sorted({case["options"]["name"] for case in cases})
        },
    }  # fmt: skip


def plain(value):
    return list(value) if isinstance(value, tuple) else value
