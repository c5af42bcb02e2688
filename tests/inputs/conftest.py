"""Files that tests of this folder write and read."""

import json

import pytest


@pytest.fixture
def read(tmp_path):
    """Writes a text and reads it as judgments or rankings."""

    def read(cls, text, name="file", **options):
        (tmp_path / name).write_bytes(text if isinstance(text, bytes) else text.encode("utf-8", "surrogateescape"))
        return cls.from_file(tmp_path / name, **options)

    return read


@pytest.fixture
def write(tmp_path):
    """Writes a text, or data as JSON; the path."""

    def write(name, content):
        path = tmp_path / name
        path.write_text(content if isinstance(content, str) else json.dumps(content))
        return path

    return write
