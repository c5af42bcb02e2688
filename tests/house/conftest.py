"""The site as MkDocs builds it, once in a session; tests that need it are skipped where the group docs is absent."""

import subprocess
import sys

import pytest
from pages import DOCS


@pytest.fixture(scope="session")
def built(tmp_path_factory):
    for needed in ("latex2mathml", "material", "mkdocs", "mkdocstrings", "mkdocstrings_handlers.python", "scipy"):
        pytest.importorskip(needed, reason="needs pip install --group docs")
    folder = tmp_path_factory.mktemp("site")
    config = DOCS / "site" / "mkdocs.yml"
    command = [sys.executable, "-m", "mkdocs", "build", "--strict", "-q", "-f", config, "-d", folder]
    done = subprocess.run(command, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True)
    assert done.returncode == 0, done.stdout
    return folder
