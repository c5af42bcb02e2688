// Runs commands of fastir in Pyodide, beside the page. In: {id, files: {name: bytes}, words, read}; the files are the
// only ones there are. Out: {id, code, text, file}: the exit code, what was printed, and the file `read` if it was asked for.
const START = `
import contextlib, io, os, shutil
import fastir
from fastir.cli import main

def command(words):
    """(exit code, what was printed) of a command."""
    out = io.TextIOWrapper(io.BytesIO(), "utf-8", write_through=True)  # commands write bytes, too
    with contextlib.redirect_stdout(out), contextlib.redirect_stderr(out):
        try:
            code = main(words)
        except SystemExit as end:
            code = end.code
    return code or 0, out.buffer.getvalue().decode()

def clear():
    """An empty folder to work in."""
    os.chdir("/")
    shutil.rmtree("/files", ignore_errors=True)
    os.mkdir("/files")
    os.chdir("/files")

conventions = list(fastir.conventions.CONVENTIONS)
`;

const beside = (name) => new URL(name, import.meta.url).href;

async function bytes(name) {
  const answer = await fetch(beside(name));
  if (!answer.ok) throw new Error(`${name} is not there`);
  return answer.arrayBuffer();
}

// What fill.py put beside the page; null where it did not run, and a host answers with an error or with a page of its own.
async function filled() {
  try {
    return JSON.parse(new TextDecoder().decode(await bytes("files.json")));
  } catch {
    return null;
  }
}

async function loaded() {
  const files = await filled();
  if (files === null) {
    self.postMessage({ id: 0, missing: true });
    throw new Error("fastir is not beside this page");
  }
  const { loadPyodide } = await import(beside(files.pyodide + "pyodide.mjs"));
  const wheels = files.wheels.map(bytes);
  const python = await loadPyodide({ indexURL: beside(files.pyodide) });
  for (const wheel of wheels) {
    python.unpackArchive(await wheel, "wheel");
  }
  python.runPython(START);
  const names = python.globals.get("conventions").toJs();
  self.postMessage({ id: 0, conventions: names, version: python.runPython("fastir.__version__") });
  return python;
}

const ready = loaded();
ready.catch((error) => self.postMessage({ id: 0, fault: String(error) }));

self.onmessage = async ({ data: { id, files, words, read } }) => {
  try {
    const python = await ready;
    python.globals.get("clear")();
    for (const [name, bytes] of Object.entries(files)) {
      python.FS.writeFile(`/files/${name}`, bytes);
    }
    const asked = python.toPy(words);
    const [code, text] = python.globals.get("command")(asked).toJs();
    const file = code === 0 && read ? python.FS.readFile(`/files/${read}`) : null;
    self.postMessage({ id, code, text, file });
  } catch (error) {
    self.postMessage({ id, code: 3, text: String(error), file: null });
  }
};
