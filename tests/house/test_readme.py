"""The README is one screen: two commands of a checkout, pictures that are there, and where to read on."""

import re

from common import NEEDS_SOURCES, ROOT
from pages import NEEDS_PAGES, README, blocks

pytestmark = NEEDS_PAGES


def test_its_two_commands_install_and_test_a_checkout():
    first, second = [code for language, code in blocks() if language == "bash"]
    assert first == (
        'pip install -e ".[cli]" && \\\n'
        "fastir eval examples/qrels.txt examples/bm25.run -m ndcg@10 -m map -m mrr -m P@10 -m recall@100\n"
    )
    assert second == 'pip install -e ".[test]" && pytest -q -n auto\n'
    assert all(len(line) <= 100 for line in first.splitlines())
    assert README.read_text("utf-8").endswith(f"{second}```\n")


def test_it_is_short():
    assert len(README.read_text("utf-8").splitlines()) < 150


@NEEDS_SOURCES
def test_what_it_links_to_is_there():
    links = set(re.findall(r"(?:\]\(|(?:src|srcset|href)=\")([^)#\"]+)", README.read_text("utf-8")))
    links = {link for link in links if "://" not in link}
    assert [link for link in links if not (ROOT / link).is_file()] == []
    assert {link.rpartition(".")[2] for link in links} == {"cff", "html", "md", "png", "svg"}
