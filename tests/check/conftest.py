"""Small files to check: clean qrels, and whatever a test writes beside them."""

import pytest

import fastir

QRELS = "q1 0 d1 1\nq1 0 d2 0\nq2 0 d1 2\nq2 0 d3 -1\n"


@pytest.fixture
def write(tmp_path):
    """Write a file, of text or of bytes; its path."""

    def written(name, content):
        path = tmp_path / name
        path.write_bytes(content.encode() if isinstance(content, str) else content)
        return str(path)

    return written


@pytest.fixture
def checked(write):
    """What is found in a run's file against small qrels."""

    def check(run, qrels=QRELS, **options):
        return fastir.check(write("qrels.txt", qrels), write("bm25.run", run), **options)

    return check


@pytest.fixture
def found(checked):
    """[(kind, line, query, document)] of the faults of a run's file, of a kind or of all but remarks."""

    def of(run, kind=None, **options):
        faults = checked(run, **options).of(kind=kind, severity=None if kind else "fault")
        return [(fault.kind, fault.line, fault.query_id, fault.doc_id) for fault in faults]

    return of
