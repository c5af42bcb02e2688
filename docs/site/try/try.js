// The page's hands: what the reader chose becomes words of the command line, which worker.js runs; the answer is shown.
const at = (id) => document.getElementById(id);
// From a blob, the worker has this page's policy: it connects to no other host. One from a file would have none.
const start = new Blob([`import "${new URL("worker.js", import.meta.url)}";`], { type: "text/javascript" });
const worker = new Worker(URL.createObjectURL(start), { type: "module" });
const waiting = new Map();
let chosen = { qrels: [], runs: [], saved: [] };
let number = 0;

worker.onmessage = ({ data }) => {
  if (data.id !== 0) {
    waiting.get(data.id)(data);
    waiting.delete(data.id);
  } else if (data.missing) {
    at("form").hidden = true;
    at("status").textContent = "This site was built without fastir for the browser, so there is nothing to try here. On your machine: pip install fastir";
  } else if (data.fault) {
    if (at("form").hidden) return; // which said why
    at("status").textContent = `Python could not be loaded: ${data.fault}`;
  } else {
    at("convention").replaceChildren(...data.conventions.map((name) => new Option(name, name, false, name === "fastir")));
    for (const id of ["example", "evaluate", "identify"]) at(id).disabled = false;
    at("status").textContent = `fastir ${data.version} is loaded.`;
    document.body.dataset.ready = "yes";
  }
};

function command(files, words, read) {
  return new Promise((resolve) => {
    number += 1;
    waiting.set(number, resolve);
    worker.postMessage({ id: number, files, words, read });
  });
}

// A name in a folder, and a text that is no option.
const plain = (name) => name.replaceAll("/", "_");

async function bytesOf(kinds) {
  const files = {};
  const names = {};
  for (const kind of kinds) {
    names[kind] = [];
    for (const file of chosen[kind]) {
      let name = plain(file.name);
      while (name in files) name = `another_${name}`;
      files[name] = new Uint8Array(await file.arrayBuffer());
      names[kind].push(`./${name}`);
    }
  }
  return [files, names];
}

function say(text) {
  at("chosen").textContent = text;
}

function show(answer, begin) {
  const seconds = ((performance.now() - begin) / 1000).toFixed(2);
  at("status").textContent = answer.code === 0 ? `Done in ${seconds} s.` : "fastir refuses this:";
  at("text").textContent = answer.text;
  at("text").hidden = answer.text === "";
  for (const id of ["report", "links"]) at(id).hidden = !answer.file;
  if (answer.file) {
    const address = URL.createObjectURL(new Blob([answer.file], { type: "text/html" }));
    URL.revokeObjectURL(at("save").href);
    at("save").href = address;
    at("report").src = address;
  }
  document.body.dataset.shown = String(Number(document.body.dataset.shown || 0) + 1);
}

async function evaluate() {
  const begin = performance.now();
  const [files, { qrels, runs, saved }] = await bytesOf(["qrels", "runs", "saved"]);
  const options = [`--metrics=${at("metrics").value}`];
  if (saved.length && runs.length === 0) {
    show(await command(files, ["compare", ...options, "--test=randomization", "--", ...saved]), begin);
  } else if (qrels.length === 0 || runs.length === 0) {
    at("status").textContent = "Choose judgments and at least one run, or saved results.";
  } else {
    options.push(`--convention=${at("convention").value}`, ...(runs.length > 1 ? ["--test=randomization"] : [])); // others need SciPy
    at("status").textContent = "Computing …";
    if (runs.length === 1) {
      show(await command(files, ["eval", ...options, "--", ...qrels, ...runs]), begin);
    } else {
      show(await command(files, ["report", ...options, "--output=report.html", "--", ...qrels, ...runs], "report.html"), begin);
    }
  }
}

async function identify() {
  const begin = performance.now();
  const [files, { qrels, runs }] = await bytesOf(["qrels", "runs"]);
  if (qrels.length === 0 || runs.length === 0 || at("value").value === "") {
    at("status").textContent = "Choose judgments and a run, and type a value such as ndcg@10=0.7724.";
    return;
  }
  at("status").textContent = "Searching …";
  show(await command(files, ["identify", `--value=${at("value").value}`, "--", qrels[0], runs[0]]), begin);
}

async function example() {
  const load = async (name) => new File([await (await fetch(`examples/${name}`)).arrayBuffer()], name);
  chosen = { qrels: [await load("qrels.txt")], runs: [await load("bm25.run"), await load("dense.run")], saved: [] };
  at("form").reset();
  say("The example: qrels.txt, bm25.run, dense.run");
  await evaluate();
}

for (const kind of ["qrels", "runs", "saved"]) {
  at(kind).addEventListener("change", () => {
    chosen[kind] = [...at(kind).files];
    say(Object.values(chosen).flat().map((file) => file.name).join(", "));
  });
}
at("form").addEventListener("submit", (event) => {
  event.preventDefault();
  evaluate();
});
at("identify").addEventListener("click", identify);
at("example").addEventListener("click", example);
