"""Run one section of a page in this folder: run_recipe.py PAGE TITLE."""

import sys
from pathlib import Path

import pytest
from pages import ROOT, run_page
from recorded_services import answers

if __name__ == "__main__":
    page, title = sys.argv[1:]
    with pytest.MonkeyPatch.context() as patch, answers(title):
        run_page(ROOT / page, Path.cwd(), patch, title)
