"""The page that runs fastir in the browser: its commands exist, and in Chromium it has the bits of the golden file.

FASTIR_PYODIDE names a folder that holds the npm package `pyodide`, unpacked as package/, and the wheels of NumPy and of
fastir for it. A run takes half a minute of processor time.
"""

import contextlib
import functools
import http.server
import json
import os
import re
import runpy
import shutil
import subprocess
import threading
from pathlib import Path

import pytest
from chromium import BROWSER, page_at
from common import EXAMPLES, ROOT
from pages import DOCS, NEEDS_PAGES
from processes import patient

import fastir

PAGE = DOCS / "site" / "try"
PYODIDE = os.environ.get("FASTIR_PYODIDE")
GOLDEN = ROOT / "tests" / "golden"
MOST_BYTES = 8_000_000
pytestmark = NEEDS_PAGES
NO_BROWSER = BROWSER is None or not PYODIDE
MISSING = "needs Chromium, and Pyodide with its wheels in FASTIR_PYODIDE"
BITS = """(async () => {
  const files = %s, { loadPyodide } = await import("./pyodide/pyodide.mjs");
  const python = await loadPyodide({ stdout: (line) => { document.title = line; } });
  for (const name of files.wheels) python.unpackArchive(await (await fetch(name)).arrayBuffer(), "wheel");
  for (const folder of ["/golden", "/golden/collection"]) python.FS.mkdir(folder);
  for (const name of files.golden) {
    const bytes = await (await fetch("golden/" + name)).arrayBuffer();
    python.FS.writeFile("/golden/" + name, new Uint8Array(bytes));
  }
  python.runPython("import runpy, sys; sys.argv = ['bits.py']\\n"
    + "try: runpy.run_path('/golden/bits.py', run_name='__main__')\\nexcept SystemExit: pass");
  return document.title;
})().catch(String).then((text) => { document.body.dataset.told = text; })"""


class Handler(http.server.SimpleHTTPRequestHandler):
    extensions_map = {
        **http.server.SimpleHTTPRequestHandler.extensions_map, ".js": "text/javascript", ".mjs": "text/javascript",
        ".wasm": "application/wasm",
    }  # fmt: skip

    def log_message(self, *words):
        pass


@pytest.fixture(scope="module")
def filled(tmp_path_factory):
    """(the folder of the page with all that it loads, the bytes of it that are not Pyodide's own)."""
    folder = tmp_path_factory.mktemp("site") / "try"
    shutil.copytree(PAGE, folder, ignore=shutil.ignore_patterns("*.py", "__pycache__"))
    shutil.copytree(EXAMPLES, folder / "examples")
    shutil.copytree(GOLDEN / "collection", folder / "golden" / "collection")
    shutil.copy(GOLDEN / "bits.py", folder / "golden")
    shutil.copy(GOLDEN / "bits.txt", folder / "golden")
    (folder / "blank.html").write_text("<!doctype html><title></title><body></body>")
    fill = runpy.run_path(str(PAGE / "fill.py"))["fill"]
    wheels = sorted(Path(PYODIDE).glob("*.whl"), key=lambda path: not path.name.startswith("numpy"))
    return folder, fill(folder, Path(PYODIDE) / "package", wheels)


@contextlib.contextmanager
def served(handler, *arguments, **options):
    """The address of a server of this process."""
    with http.server.ThreadingHTTPServer(("127.0.0.1", 0), functools.partial(handler, *arguments, **options)) as server:
        thread = threading.Thread(target=server.serve_forever)
        thread.start()
        yield f"http://127.0.0.1:{server.server_port}"
        server.shutdown()
        thread.join()


@pytest.fixture
def address(filled):
    with served(Handler, directory=filled[0]) as address:
        yield address


def test_what_the_script_names_is_in_the_page_and_no_other_host():
    page, script, worker = ((PAGE / name).read_text("utf-8") for name in ("index.html", "try.js", "worker.js"))
    ids = set(re.findall(r'\bid="(\w+)"', page))
    assert set(re.findall(r'\bat\("(\w+)"\)', script)) <= ids
    assert not re.search(r"https?://|//\w", re.sub(r"^\s*//.*", "", page + script + worker, flags=re.MULTILINE))
    assert sum(path.stat().st_size for path in PAGE.iterdir() if path.suffix != ".py") < 20_000


def test_the_commands_of_the_page_run(tmp_path, monkeypatch, capsys):
    from fastir.cli import main

    script = (PAGE / "try.js").read_text("utf-8")
    shutil.copytree(EXAMPLES, tmp_path / "files")
    monkeypatch.chdir(tmp_path / "files")
    for name in ("bm25", "dense"):
        fastir.evaluate("qrels.txt", f"{name}.run", ["ndcg@10", "map"]).save(f"{name}.json")
    metrics, test, files = "--metrics=ndcg@10,map", "--test=randomization", ["--", "./qrels.txt", "./bm25.run"]
    for words in (
        ["eval", metrics, "--convention=beir", *files],
        ["report", metrics, "--convention=beir", test, "--output=report.html", *files, "./dense.run"],
        ["compare", metrics, test, "--", "./bm25.json", "./dense.json"],
        ["identify", "--value=ndcg@10=0.7724", *files],
    ):
        options = {word.partition("=")[0] for word in words if word.startswith("--") and word != "--"}
        assert f'"{words[0]}"' in script and all(option in script for option in options)
        assert main(words) in (0, None), capsys.readouterr().err
    assert "0.8838" in (tmp_path / "files" / "report.html").read_text("utf-8")


# The two scripts in Node, each with a stand-in for the other and for the browser, of a host that answers as told.
HOST = """
import { readFileSync } from "node:fs";
const [folder, status, body] = process.argv.slice(1);
const elements = {}, posted = [];
globalThis.fetch = async () => new Response(body, { status: Number(status) });
globalThis.self = { postMessage: (message) => posted.push(message) };
globalThis.document = {
  getElementById: (id) => elements[id] ??= { hidden: false, textContent: "", addEventListener() {} },
  body: { dataset: {} },
};
globalThis.Worker = class { constructor() { globalThis.worker = this; } };
const read = (name) => readFileSync(`${folder}/${name}`, "utf-8").replaceAll("import.meta.url", `"http://host/${name}"`);
const run = async (name) => import("data:text/javascript," + encodeURIComponent(read(name)));
await run("try.js");
await run("worker.js");
for (let turn = 0; turn < 50; turn += 1) await new Promise((resolve) => setTimeout(resolve, 1));
for (const data of posted) worker.onmessage({ data });
console.log(JSON.stringify([elements.form.hidden, elements.status.textContent]));
"""


@pytest.mark.site
@pytest.mark.skipif(shutil.which("node") is None, reason="needs Node")
@pytest.mark.parametrize(("status", "body", "hidden"), [
    ("404", "<!DOCTYPE html><title>404</title>", True),
    ("200", "<!DOCTYPE html><title>This page is shown for every address</title>", True),
    ("404", '{"pyodide": "pyodide/", "wheels": []}', True),
    ("200", '{"pyodide": "pyodide/", "wheels": []}', False),
])  # fmt: skip
def test_a_site_without_the_wheel_says_so(status, body, hidden):
    command = ["node", "--input-type=module", "--eval", HOST, str(PAGE), status, body]
    done = subprocess.run(command, capture_output=True, text=True, timeout=patient(60), check=True)
    form, said = json.loads(done.stdout)
    assert form is hidden
    assert said.startswith(
        "This site was built without fastir for the browser" if hidden else "Python could not be loaded"
    )


# In the place of worker.js: every way to send from a worker that the browser has; the end is told as a fault.
SENDING = """
const address = %r;
const asked = [
  fetch(`${address}/fetch`, { mode: "no-cors" }),
  import(`${address}/import`),
  new Promise((resolve) => {
    const request = new XMLHttpRequest();
    request.onloadend = resolve;
    request.open("GET", `${address}/request`);
    request.send();
  }),
  ...[new WebSocket(`${address.replace("http", "ws")}/socket`), new EventSource(`${address}/events`)].map(
    (each) => new Promise((resolve) => { each.onerror = resolve; })),
  new Promise((resolve) => { new Worker(`${address}/worker`).onerror = resolve; }).catch(() => null),
];
await Promise.allSettled(asked);
const own = await fetch(new URL("try.css", import.meta.url));
self.postMessage({ id: 0, fault: `asked, ${own.ok}` });
"""


@pytest.mark.site
@pytest.mark.skipif(BROWSER is None, reason="needs Chromium")
@pytest.mark.parametrize("policy", [True, False])
def test_the_worker_sends_nothing_to_another_host(policy, tmp_path):
    """Without the policy, which is the control, each way but a second worker reaches the other host."""
    seen = set()

    class Other(Handler):
        def do_GET(self):
            seen.add(self.path)
            self.send_error(404)

    folder = tmp_path / "try"
    shutil.copytree(PAGE, folder, ignore=shutil.ignore_patterns("*.py", "__pycache__"))
    if not policy:
        page = (folder / "index.html").read_text("utf-8")
        (folder / "index.html").write_text(page.replace("Content-Security-Policy", "none"), "utf-8")
    with served(Other) as other, served(Handler, directory=folder) as address:
        (folder / "worker.js").write_text(SENDING % other)
        with page_at(f"{address}/index.html", tmp_path / "profile") as page:
            assert page.wait_for("/asked/.test(document.getElementById('status').textContent)", seconds=60)
            assert page.value("document.getElementById('status').textContent").endswith("asked, true")
    assert seen == (set() if policy else {"/fetch", "/import", "/request", "/socket", "/events"})


@pytest.mark.site
@pytest.mark.skipif(NO_BROWSER, reason=MISSING)
def test_it_is_small(filled):
    assert filled[1] - sum(path.stat().st_size for path in (filled[0] / "golden").rglob("*")) < MOST_BYTES


@pytest.mark.site
@pytest.mark.skipif(NO_BROWSER, reason=MISSING)
def test_the_example_gives_a_report_and_a_value_its_names(address, tmp_path):
    with page_at(f"{address}/index.html", tmp_path / "profile") as page:
        assert page.wait_for("document.body && document.body.dataset.ready", seconds=300)
        page.value("document.getElementById('example').click()")
        assert page.wait_for("document.body.dataset.shown === '1'", seconds=120)
        said = page.value("document.getElementById('status').textContent")
        assert re.fullmatch(r"Done in \d+\.\d\d s\.", said), page.value("document.getElementById('text').textContent")
        frame = "document.getElementById('report').contentDocument"
        assert page.wait_for(f"{frame} && {frame}.body && {frame}.body.dataset.ready === 'yes'", seconds=60)
        assert page.value(f"{frame}.querySelector('.board tbody').rows[0].cells[2].textContent").startswith("0.7724")
        page.value("document.getElementById('value').value = 'ndcg@10=0.7724'")
        page.value("document.getElementById('identify').click()")
        assert page.wait_for("document.body.dataset.shown === '2'", seconds=300)
        assert "fastir; or trec_eval-10" in page.value("document.getElementById('text').textContent")
        page.value("document.getElementById('metrics').value = 'ndgc@10'")
        page.value("document.getElementById('evaluate').click()")
        assert page.wait_for("document.body.dataset.shown === '3'", seconds=120)
        assert "did you mean 'ndcg@10'" in page.value("document.getElementById('text').textContent")
        asked = "performance.getEntriesByType('resource').every((each) => new URL(each.name).host === location.host)"
        assert page.value(asked) is True


@pytest.mark.site
@pytest.mark.skipif(NO_BROWSER, reason=MISSING)
def test_its_bits_are_those_of_the_golden_file(address, filled, tmp_path):
    listed = json.loads((filled[0] / "files.json").read_text("utf-8"))
    golden = ["bits.py", "bits.txt", *(f"collection/{path.name}" for path in (GOLDEN / "collection").iterdir())]
    with page_at(f"{address}/blank.html", tmp_path / "profile") as page:
        assert page.wait_for("location.pathname === '/blank.html' && document.readyState === 'complete'")
        page.value(BITS % json.dumps({**listed, "golden": golden}))
        told = page.wait_for("document.body.dataset.told", seconds=400)
    n_lines = len((GOLDEN / "bits.txt").read_text("utf-8").splitlines())
    assert re.match(rf"{n_lines} lines, 0 off: fastir .*, emscripten$", told or ""), told
