"""The README and the pages of docs/ are true: their blocks run in their order, and print what they show."""

import pytest
from pages import PAGES, name_of, run_page

# Run by tests that look at what they leave behind, or that need other programs.
ELSEWHERE = {"docs/nightly.md", "docs/pipelines.md", "docs/plots.md", "docs/at_scale.md", "docs/recipes.md"}


@pytest.mark.parametrize("page", [page for page in PAGES if name_of(page) not in ELSEWHERE], ids=name_of)
@pytest.mark.filterwarnings("ignore")
def test_a_page_runs_from_top_to_bottom(page, tmp_path, monkeypatch):
    for needed in ("scipy", "pyarrow", "matplotlib"):
        pytest.importorskip(needed)
    monkeypatch.setenv("MPLBACKEND", "Agg")
    run_page(page, tmp_path, monkeypatch)
