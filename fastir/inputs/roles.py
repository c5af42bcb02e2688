"""Roles of columns: what the columns of a caller's table are usually called, and the one that each role has.

A caller names others as ``columns={role: name}``; each table has some of the roles.
"""

from __future__ import annotations

from collections.abc import Container, Iterable, Mapping, Sequence
from functools import lru_cache
from typing import Any

from fastir.checks import number
from fastir.declared import Record
from fastir.errors import quote

# The usual names of each column; the first one that a table has is taken. The rating of a run may be the truth.
QUERY_ID = ("query_id", "qid", "q_id", "user_id", "query-id", "userId", "user")
QUERY = (*QUERY_ID, "topic_id", "topic", "query", "question")  # the last two may be a text beside an id
DOC = (
    *("doc_id", "docno", "docid", "item_id", "corpus-id", "itemId", "movieId", "item"),
    *("document_id", "chunk_id", "passage_id", "doc", "document", "passage"),
)
RANK = "rank"  # of a run without scores
ORDER = (RANK, "position")  # beside scores: the order of rows, where Spark does not keep it
RUN = ("run", "system", "run_id", "system_id")  # of several runs in one table
LABEL = ("label", "relevance", "rating", "rel", "grade", "judgment", "judgement")
NUMBER: dict[str, tuple[str, ...]] = {"run": ("score", "prediction", "similarity", RANK), "qrels": (*LABEL, "score")}
LISTED = {"run": "retrieved", "qrels": "relevant"}  # the role of a column of lists of ids
EVIDENCE_KINDS = {"sets": "set", "hops": "hop"}  # of qrels, and the role of the column that has them
EVIDENCE = {"set": ("set", "evidence"), "hop": ("hop",)}  # of qrels: the sets that documents are members of, or hops
ROLES = (  # of tables of runs and of qrels
    *("query_id", "doc_id", "score", "rank", "label", "run"),
    *(*LISTED.values(), *EVIDENCE),
)

# of tables with a ranking in each row; the names of lists tell that a table has lists
LISTS = (
    *("doc_ids", "ranking", "retrieved", "retrieved_ids", "retrieved_doc_ids"),
    *("document_ids", "chunk_ids", "item_ids", "docids", "docs"),
)
RANKINGS = {"query_id": QUERY, "doc_id": (*LISTS, *DOC), "score": ("scores", "score", "predictions", "prediction")}
LABELS = ("labels", "relevances", "ratings", "grades", *LABEL)  # of lists of labels

# of tables that are paired, one with what was retrieved and one with what is relevant: more names of the query ids
PAIRED_QUERY = (
    *QUERY_ID,
    *("topic_id", "topicId", "topic", "question_id", "questionId", "queryId", "QueryID", "qno", "qry_id", "uid", "q"),
    *("customer_id", "session_id", "conversation_id", "request_id", "sample_id", "example_id", "id", "_id"),
    *("query", "question", "user_input"),
)

# of tables with what was retrieved and what is relevant in each row
RETRIEVED = {
    "query_id": QUERY_ID,
    "retrieved": (
        *("retrieved", "retrieved_ids", "retrieved_doc_ids", "retrieved_context_ids"),
        *("prediction", "predictions", "recommendations"),
    ),
    "relevant": ("relevant", "relevant_ids", "relevant_doc_ids", "expected_ids", "reference_context_ids"),
}

LIST_NAMES = tuple(dict.fromkeys((*LISTS, *RETRIEVED["retrieved"], *RETRIEVED["relevant"])))


def is_header(names: Sequence[str]) -> bool:
    """Whether fields of a line are the names of a query's column and of one with documents or lists of them."""
    return any(name in PAIRED_QUERY for name in names) and any(name in (*DOC, *LIST_NAMES) for name in names)


class Everything(Record):
    """In the place of the name of the labels' column: a table has none, and all that it lists has this label."""

    value: float


def label_all(columns: Mapping[Any, Any] | None, label: Any) -> Mapping[Any, Any] | None:
    """The names of columns and what the option `label` says, which is None where the table has labels."""
    if label is None:
        return columns
    value = number("label", label, 0, open=True)
    if columns and "label" in columns:
        raise ValueError(f"label={value:g} is for tables without labels; columns names one, {quote(columns['label'])}")
    named: type[dict[Any, Any]] = OneSided if isinstance(columns, OneSided) else dict
    return named({**(columns or {}), "label": Everything(value)})


class OneSided(dict[Any, Any]):
    """Names of columns that the caller gave for the qrels alone, or for the run: an error where there are none.

    `option` is "columns" where they were given for both sides, and the other side has none.
    """

    option: str | None = None


def one_sided(columns: Mapping[Any, Any]) -> OneSided:
    """Names that were given as `columns`, and have an effect on one side alone."""
    if isinstance(columns, OneSided):
        return columns
    named = OneSided(columns)
    named.option = "columns"
    return named


def refuse_names(columns: Mapping[Any, Any] | None, what: str, got: str) -> None:
    """Raise ValueError if names of columns were given for one side, "qrels" or "run", which is no table."""
    names = {role: name for role, name in (columns or {}).items() if not isinstance(name, Everything)}
    if isinstance(columns, OneSided) and names:
        verb = "is" if what == "run" else "are"
        option = columns.option or f"{what}_columns"
        raise ValueError(f"{option}={names!r} names columns of a table; the {what} {verb} {got}")


def label_of_all(columns: Mapping[Any, Any] | None) -> float:
    """The label of all that is listed where labels are missing: the option's, or 1."""
    label = (columns or {}).get("label")
    return label.value if isinstance(label, Everything) else 1.0


def refuse_label(columns: Mapping[Any, Any] | None, got: str) -> None:
    """Raise ValueError if the option `label` was given for qrels that are no table without labels."""
    label = (columns or {}).get("label")
    if isinstance(label, Everything):
        raise ValueError(f"label={label.value:g} is for tables without labels; the qrels are {got}")


def check_roles(columns: Mapping[Any, Any], roles: Iterable[str]) -> None:
    """Refuse a caller's names of columns that have none of the roles."""
    for role in columns:
        if role not in roles:
            raise ValueError(f"columns: unknown role {quote(role)}; expected {', '.join(roles)}")


def columns_by_role(
    what: str,
    names: Iterable[Any],
    usual: Mapping[str, Sequence[str]],
    columns: Mapping[Any, Any] | None,
    roles: Iterable[str],
    optional: Sequence[str] = (),
) -> dict[str, Any]:
    """{role: the name of its column}, for all roles of `usual`; optional ones may be missing, unless they are named.

    `names` are the table's columns, `columns` the caller's names, for these `roles` only; `what` is for messages.
    """
    columns, names = columns or {}, list(names)
    check_roles(columns, roles)
    return {
        role: find_column(what, names, role, [columns[role]] if role in columns else of_role)
        for role, of_role in usual.items()
        if role not in optional or role in columns or any(name in names for name in of_role)
    }


def usual_names(what: str, columns: Mapping[Any, Any]) -> dict[str, Sequence[Any]]:
    """The names that the query, document and number columns of a run or of qrels may have, by their roles."""
    check_roles(columns, ROLES)
    number, names = ("label", NUMBER["qrels"]) if what == "qrels" else number_of_run(columns)
    usual = {"query_id": QUERY, "doc_id": DOC, number: names}
    if what == "runs":
        usual["run"] = RUN
    return {role: [columns[role]] if role in columns else names for role, names in usual.items()}


def has_columns(data: Mapping[Any, Any], what: str, columns: Mapping[Any, Any] | None) -> bool:
    """Whether a mapping is a table: two roles have columns, so a missing third role raises an error."""
    usual = usual_names(what, columns or {})
    usual["lists"] = [name for role, name in (columns or {}).items() if role in LISTED.values()] or LIST_NAMES
    return sum(any(name in data for name in names) for names in usual.values()) > 1


@lru_cache(maxsize=64)
def usual_columns(what: str, names: tuple[Any, ...]) -> tuple[Any, ...]:
    """What find_columns finds without names by the caller: the same for all tables with the same names."""
    return find_columns(what, list(names), {})


def find_columns(what: str, names: list[Any], columns: Mapping[Any, Any]) -> tuple[Any, ...]:
    """The names of the query, document and number columns; then the column of the runs' names, or of sets of qrels."""
    usual = usual_names(what, columns)
    evidence = evidence_column(names, columns)[1] if what == "qrels" else None
    if what == "qrels":
        label = columns.get("label")
        if isinstance(label, Everything):
            found = next((name for name in NUMBER["qrels"] if name in names), None)
            if found is not None:
                raise ValueError(
                    f"label={label.value:g} is for tables without labels; the qrels have a column {found!r}"
                )
            del usual["label"]
        elif label is None and is_pairs([name for name in names if name != evidence], usual):
            del usual["label"]
    chosen = [find_column(what, names, role, of_role) for role, of_role in usual.items()]
    if what == "run":
        chosen += [name for name in ([columns["run"]] if "run" in columns else RUN) if name in names][:1]
    if evidence is not None:
        chosen += [evidence] * (4 - len(chosen))  # in the place of a label, too, if there is none
    return tuple(chosen)


def evidence_column(names: Sequence[Any], columns: Mapping[Any, Any]) -> tuple[str, Any]:
    """The role and the name of the column with the sets or hops of qrels; "" and None if there is none."""
    for role in EVIDENCE:
        if role in columns:
            return role, find_column("qrels", list(names), role, [columns[role]])
    found = ((role, name) for role, usual in EVIDENCE.items() for name in usual if name in names)
    return next(found, ("", None))


def is_pairs(names: list[Any], usual: Mapping[str, Sequence[Any]]) -> bool:
    """Whether a table has two columns, of queries and of documents: all that it lists is relevant."""
    return len(names) == 2 and all(any(name in names for name in usual[role]) for role in ("query_id", "doc_id"))


def find_column(what: str, names: list[Any], role: str, usual: Sequence[Any]) -> Any:
    """The first of the usual names that a table has among its names."""
    name = next((name for name in usual if name in names), None)
    if name is None:
        from fastir.engine.columns.other_formats import hint_for_columns  # imported for the error only

        hint = hint_for_columns([name for name in names if isinstance(name, str)])
        raise ValueError(
            f"{what}: the table has no column {' or '.join(map(repr, usual))}; it has "
            f"{', '.join(map(repr, names[:20])) or 'none'}"
            + (hint or f"; columns={{{role!r}: name}} tells which it is")
            + ("; label=1 says that all rows are relevant" if role == "label" and what == "qrels" and not hint else "")
        )
    if names.count(name) > 1:
        raise ValueError(f"{what}: the table has several columns called {name!r}")
    return name


def number_of_run(columns: Mapping[Any, Any]) -> tuple[str, tuple[str, ...]]:
    """The role of the number of a run, score or rank, and the usual names of its column."""
    return "rank" if "rank" in columns and "score" not in columns else "score", NUMBER["run"]


def is_rank(name: Any, columns: Mapping[Any, Any]) -> bool:
    """Whether the column that was found for the numbers of a run has ranks."""
    return name == columns.get("rank", RANK) and "score" not in columns


# ---- tables with a list of ids in each row ---------------------------------------------------------------------------
def list_roles(
    what: str, names: Sequence[Any], columns: Mapping[Any, Any] | None, listed: Container[Any]
) -> dict[str, Any] | None:
    """{role: the name of its column}: query_id, doc_id and perhaps the number; None if no column is one of lists.

    `listed` are the names of columns whose type is a list; several runs (`what` is "runs") have none.
    """
    if what not in LISTED:
        return None
    columns = columns or {}
    usual = (*RETRIEVED[LISTED[what]], *LISTS)
    doc = columns.get("doc_id") or next((name for name in DOC if name in names), None)
    if LISTED[what] in columns or doc is None:
        doc = columns.get(LISTED[what]) or next((name for name in usual if name in names), None)
    elif doc not in listed and doc not in usual:
        doc = None
    if doc is None:
        return None
    check_roles(columns, ROLES)
    refuse_label(columns, "lists of ids, which are relevant")
    number, of_role = ("score", RANKINGS["score"]) if what == "run" else ("label", LABELS)
    numbers = [columns[number]] if number in columns else [name for name in of_role if name in listed and name != doc]
    of_roles: dict[str, Sequence[Any]] = {
        "query_id": [columns["query_id"]] if "query_id" in columns else PAIRED_QUERY,
        "doc_id": [doc],
    }
    if numbers:
        of_roles[number] = numbers
    return {role: find_column(what, list(names), role, usual) for role, usual in of_roles.items()}
