"""A report in headless Chromium: it sorts, opens a query, is dark where the reader is, fits a phone, has no fault."""

import html
import json
import re
import subprocess
import urllib.parse

import pytest
from chromium import BROWSER, page_at
from pages_of_reports import EVIL, collection
from processes import patient

pytestmark = [pytest.mark.site, pytest.mark.skipif(BROWSER is None, reason="needs Chromium")]
# Added to a copy of the page: what a reader would do, and what then is to be seen.
PROBE = """<script>
window.addEventListener("load", () => {
  const wait = () => {
    if (document.body.dataset.ready !== "yes") { setTimeout(wait, 20); return; }
    const value = (() => { %s })();
    const fault = document.getElementById("fault");
    parent.document.getElementById("probe").textContent = JSON.stringify([fault.hidden || fault.textContent, value]);
  };
  wait();
});
</script></body>"""


@pytest.fixture
def browser(report, tmp_path):
    """A function that opens the report at some words of its address, runs a script in it, and returns its value."""

    def opened(script, *options, width=None, **words):
        page = tmp_path / "page.html"
        text = report.read_text("utf-8").replace("</body>", PROBE.replace("%s", script))
        if width is not None:  # a frame, as no window is narrower than 500 pixels
            style = f"width: {width}px; height: 800px; border: 0"
            text = f'<iframe style="{style}" srcdoc="{html.escape(text)}"></iframe>'
        page.write_text('<pre id="probe"></pre>' + text, "utf-8")
        command = [BROWSER, "--headless", "--no-sandbox", "--disable-gpu", f"--user-data-dir={tmp_path / 'profile'}"]
        command += ["--window-size=1280,900", "--virtual-time-budget=4000", *options, "--dump-dom"]
        address = f"{page.as_uri()}#{urllib.parse.urlencode(words)}"
        done = subprocess.run([*command, address], capture_output=True, text=True, timeout=patient(120), check=True)
        fault, value = json.loads(html.unescape(re.search('<pre id="probe">(.*?)</pre>', done.stdout, re.DOTALL)[1]))
        assert fault is True, fault
        return value

    return opened


ORDER = "return [...document.querySelector('.board tbody').rows].map((row) => parseFloat(row.cells[3].dataset.exact))"


def test_a_column_is_sorted_by_its_name_in_the_address_and_by_a_click(browser):
    falling = browser(ORDER, sort="map")
    assert falling == sorted(falling, reverse=True)
    click = "[...document.querySelectorAll('.board th button')].find((b) => b.textContent === 'map').click();"
    assert browser(click + click + ORDER) == falling[::-1]


def test_a_query_shows_both_rankings(browser):
    script = (
        "return [document.getElementById('query').open, document.querySelectorAll('.sides section').length, "
        "[...document.querySelectorAll('.sides section:first-child tbody tr')].map((r) => r.cells[1].textContent)]"
    )
    _, runs = collection()
    ranking = sorted(runs["second"]["q1"], key=runs["second"]["q1"].get, reverse=True)[:3]
    assert browser(script, query="q1", a="second", b="third") == [True, 2, ranking]


def test_a_row_opens_a_query_and_closing_forgets_it(browser):
    script = """
      document.querySelector('#queries tbody button').click();
      const opened = document.getElementById('query').open;
      document.querySelector('dialog form button').click();
      return [opened, document.getElementById('query').open];"""
    assert browser(script) == [True, False]


def test_names_that_are_scripts_are_text(browser):
    script = "return [document.getElementById('query-title').textContent, document.querySelectorAll('script').length]"
    assert browser(script, query=EVIL, a=EVIL, b="third") == [EVIL, 3]


def test_a_segment_has_its_queries_and_its_leaderboard(browser):
    script = """return [document.querySelectorAll('#queries tbody tr').length,
      [...document.querySelectorAll('.board')].map((board) => board.hidden)]"""
    assert browser(script, segment="odd") == [4, [True, True, False]]


def test_numbers_are_printed_as_python_prints_them(browser):
    values = [0.03125, 0.09375, 0.00005, 0.12345, 2 / 3, 1.0, -0.03125, 0.0625, 12.34565, 0.30004999999999998]
    script = f"return {json.dumps(values)}.map((value) => decimals(value))"
    assert browser(script) == [f"{value:.4f}" for value in values]


@pytest.mark.parametrize(("options", "dark"), [([], False), (["--blink-settings=preferredColorScheme=0"], True)])
def test_the_page_is_dark_where_the_reader_is(browser, options, dark):
    back = browser("return getComputedStyle(document.body).backgroundColor", *options)
    assert (max(map(int, re.findall(r"\d+", back))) < 100) == dark


def test_a_phone_does_not_scroll_sideways(browser):
    script = """const page = document.documentElement, dialog = document.getElementById('query');
      return [innerWidth, page.scrollWidth - page.clientWidth, dialog.scrollWidth - dialog.clientWidth]"""
    assert browser(script, width=390) == [390, 0, 0]
    assert browser("openQuery(1);" + script, width=390) == [390, 0, 0]


def test_the_real_keyboard_opens_a_query_and_closes_it(report, tmp_path):
    with page_at(report.as_uri(), tmp_path / "profile") as page:
        assert page.wait_for("document.body && document.body.dataset.ready === 'yes'")
        seen = set()
        for _ in range(60):
            page.press("Tab", 9)
            seen.add(page.value("document.activeElement.tagName"))
            if page.value("!!document.activeElement.closest('#queries')"):
                break
        assert {"BUTTON", "SELECT", "INPUT"} <= seen
        page.press("Enter", 13, "\r")
        assert page.value("document.getElementById('query').open") is True
        page.press("Escape", 27)
        assert page.value("document.getElementById('query').open") is False
        assert page.value("!!document.activeElement.closest('#queries')") is True
