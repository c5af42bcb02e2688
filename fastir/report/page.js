// Sorts the leaderboard, draws two runs query by query, and opens a query. All text is set as text, never as HTML.
"use strict";
function tell(message) {
  const fault = document.getElementById("fault");
  fault.hidden = false;
  fault.textContent = "This page has a fault: " + message;
}
window.addEventListener("error", (event) => tell(event.message));
window.addEventListener("unhandledrejection", (event) => tell(event.reason));
let data;  // what page.py packs
async function unpacked() {
  const bytes = Uint8Array.from(atob(document.getElementById("data").textContent), (letter) => letter.charCodeAt(0));
  const stream = new Blob([bytes]).stream().pipeThrough(new DecompressionStream("deflate"));
  return JSON.parse(await new Response(stream).text());
}
const byId = (id) => document.getElementById(id);
const SVG = "http://www.w3.org/2000/svg";
const SHOWN = 50;  // rows of the table of queries, until more are asked for
const state = { a: 0, b: 0, metric: 0, segment: 0, query: -1, sort: "", all: false };

function make(name, text, attributes) {
  const element = document.createElement(name);
  if (text !== undefined && text !== null) element.textContent = text;
  for (const [key, value] of Object.entries(attributes || {})) element.setAttribute(key, value);
  return element;
}
function draw(parent, name, attributes, text) {
  const element = document.createElementNS(SVG, name);
  for (const [key, value] of Object.entries(attributes)) element.setAttribute(key, value);
  if (text !== undefined) element.textContent = text;
  parent.append(element);
  return element;
}

// ---- numbers, as Python prints them ---------------------------------------------------------------------------

function decimals(value, digits = 4) {
  if (value === null || value === undefined) return "-";
  if (typeof value !== "number") return String(value);
  if (Number.isInteger(value * 2 ** (digits + 1)) && Math.abs(value * 2 ** (digits + 1)) % 2 === 1) {
    const low = Math.floor(Math.abs(value) * 10 ** digits);  // halfway: to the even digit, where toFixed goes up
    return (value < 0 ? "-" : "") + ((low + (low % 2)) / 10 ** digits).toFixed(digits);
  }
  return value.toFixed(digits);
}
const signed = (value) => value === null ? "-" : (value >= 0 ? "+" : "") + decimals(value);
const kind = (difference) => {
  const better = difference * (data.higher_is_better[state.metric] === false ? -1 : 1);
  return Math.abs(difference) < 1e-12 || difference === null ? "equal" : better > 0 ? "gain" : "loss";
};

// ---- the leaderboard --------------------------------------------------------------------------------------------

function sortBoard(name, turn) {
  for (const table of document.querySelectorAll(".board table")) {
    const heads = [...table.tHead.rows[0].cells];
    const column = heads.findIndex((head) => head.textContent === name);
    if (column < 0) continue;
    const numeric = column >= 2;
    const less = data.higher_is_better[column - 2] === false;
    let falling = numeric && !less;
    if (turn && heads[column].hasAttribute("aria-sort")) falling = heads[column].getAttribute("aria-sort") === "ascending";
    heads.forEach((head) => head.removeAttribute("aria-sort"));
    heads[column].setAttribute("aria-sort", falling ? "descending" : "ascending");
    const key = (row) => numeric ? parseFloat(row.cells[column].dataset.exact)
      : column ? row.cells[1].textContent : data.labels.indexOf(row.cells[0].textContent);
    const rows = [...table.tBodies[0].rows].map((row) => [key(row), row]);
    rows.sort(([x], [y]) => {
      if (x !== x || y !== y) return (x !== x) - (y !== y);
      return (x < y ? -1 : x > y ? 1 : 0) * (falling ? -1 : 1);
    });
    table.tBodies[0].append(...rows.map(([, row]) => row));
  }
  state.sort = name;
}

function showBoard() {
  for (const board of document.querySelectorAll(".board")) board.hidden = Number(board.dataset.segment) !== state.segment;
}

// ---- two runs -----------------------------------------------------------------------------------------------------

function rowsOfQueries() {
  const places = data.segments[state.segment].queries || data.queries.map((_, place) => place);
  const [a, b] = [state.a, state.b].map((run) => data.values[state.metric][run]);
  const rows = places.map((place) => ({
    place, a: a[place], b: b[place], change: a[place] === null || b[place] === null ? null : a[place] - b[place],
  }));
  return rows.sort((x, y) => Math.abs(y.change) - Math.abs(x.change) || x.place - y.place);
}

function pairText() {
  const pairs = data.pairs[state.segment];
  const at = pairs.of.findIndex(([metric, a, b]) => metric === state.metric
    && ((a === state.a && b === state.b) || (a === state.b && b === state.a)));
  if (state.a === state.b) return "Choose two different runs.";
  if (at < 0) return "These two runs were not tested against each other.";
  const [, a, b] = pairs.of[at];
  return data.runs[a] + " - " + data.runs[b] + ": " + pairs.texts[at];
}

function label(row) {
  return data.queries[row.place] + ": " + decimals(row.a) + ", " + decimals(row.b) + ", " + signed(row.change);
}

function mark(parent, name, attributes, row) {
  const element = draw(parent, name, { ...attributes, class: "mark " + kind(row.change) });
  draw(element, "title", {}, label(row));
  element.addEventListener("click", () => openQuery(row.place));
}

function scatter(rows) {
  const svg = document.createElementNS(SVG, "svg");
  const known = rows.filter((row) => typeof row.a === "number" && typeof row.b === "number");
  const all = known.flatMap((row) => [row.a, row.b]);
  const low = Math.min(0, ...all), high = Math.max(...all, low + 1e-9, all.length && Math.max(...all) > 0.5 && Math.max(...all) <= 1 ? 1 : 0);
  const place = (value) => 290 * (value - low) / (high - low);
  svg.setAttribute("viewBox", "0 0 360 345");
  svg.setAttribute("role", "img");
  svg.setAttribute("aria-label", "Each query: " + data.runs[state.a] + " upward, " + data.runs[state.b] + " to the right");
  draw(svg, "path", { class: "axis", d: "M50 10V300H340 M50 300L340 10" });
  for (const value of [low, (low + high) / 2, high]) {
    draw(svg, "text", { x: 50 + place(value), y: 314, "text-anchor": "middle" }, String(Number(value.toPrecision(2))));
    draw(svg, "text", { x: 45, y: 304 - place(value), "text-anchor": "end" }, String(Number(value.toPrecision(2))));
  }
  draw(svg, "text", { x: 195, y: 334, "text-anchor": "middle" }, short(data.runs[state.b]));
  draw(svg, "text", { x: 12, y: 155, "text-anchor": "middle", transform: "rotate(-90 12 155)" }, short(data.runs[state.a]));
  for (const row of known) mark(svg, "circle", { cx: 50 + place(row.b), cy: 300 - place(row.a), r: 4 }, row);
  byId("scatter").replaceChildren(svg);
  byId("scatter-text").textContent = "Each point is a query. Above the line " + data.runs[state.a] + " has the larger "
    + data.metrics[state.metric] + ", below it " + data.runs[state.b] + ".";
}

function bars(rows) {
  const known = rows.filter((row) => typeof row.change === "number").sort((x, y) => y.change - x.change || x.place - y.place);
  const svg = document.createElementNS(SVG, "svg");
  svg.setAttribute("viewBox", "0 0 360 345");
  svg.setAttribute("role", "img");
  svg.setAttribute("aria-label", "Differences of all queries, the largest first");
  const most = Math.max(1e-9, ...known.map((row) => Math.abs(row.change)));
  const width = 290 / Math.max(1, known.length);
  draw(svg, "path", { class: "axis", d: "M50 10V300 M50 155H340" });
  for (const share of [1, 0, -1]) draw(svg, "text", { x: 45, y: 159 - 140 * share, "text-anchor": "end" }, share ? (share > 0 ? "+" : "") + decimals(share * most, 2) : "0");
  known.forEach((row, at) => {
    const height = 140 * Math.abs(row.change) / most;
    const y = row.change > 0 ? 155 - height : 155;
    const gap = width > 3 ? 1 : 0;
    mark(svg, "rect", { x: 50 + at * width, y: height < 1 ? 154.5 : y, width: width - gap, height: Math.max(1, height) }, row);
  });
  byId("bars").replaceChildren(svg);
  const count = (name) => known.filter((row) => kind(row.change) === name).length;
  byId("bars-text").textContent = data.runs[state.a] + " less " + data.runs[state.b] + ", " + data.metrics[state.metric]
    + ": better on " + count("gain") + " queries, equal on " + count("equal") + ", worse on " + count("loss") + ".";
}

const topicOf = (place) => data.topics.length ? data.topics[place] : "";
const named = (place) => data.queries[place] + (topicOf(place) ? " " + topicOf(place) : "");
const short = (text) => text.length > 40 ? text.slice(0, 39) + "…" : text;

function listQueries(rows) {
  const table = byId("queries");
  const words = byId("find").value.toLowerCase();
  const found = rows.filter((row) => named(row.place).toLowerCase().includes(words));
  const head = make("tr");
  head.append(make("th", "query", { scope: "col" }));
  for (const text of [data.runs[state.a], data.runs[state.b], "difference"]) head.append(make("th", text, { scope: "col", class: "number" }));
  table.tHead.replaceChildren(head);
  table.tBodies[0].replaceChildren(...found.slice(0, state.all ? found.length : SHOWN).map((row) => {
    const line = make("tr");
    const cell = make("td");
    cell.append(make("button", data.queries[row.place], { type: "button" }), " ", make("small", topicOf(row.place)));
    line.append(cell, make("td", decimals(row.a), { class: "number" }), make("td", decimals(row.b), { class: "number" }),
      make("td", signed(row.change), { class: "number " + kind(row.change) }));
    line.addEventListener("click", () => openQuery(row.place));
    return line;
  }));
  byId("more").hidden = state.all || found.length <= SHOWN;
  byId("more").textContent = "Show all " + found.length + " queries";
}

function showPair() {
  for (const id of ["a", "b", "metric", "segment"]) byId(id).value = state[id];
  showBoard();
  byId("pair").textContent = pairText();
  const rows = rowsOfQueries();
  scatter(rows);
  bars(rows);
  listQueries(rows);
}

// ---- a query ------------------------------------------------------------------------------------------------------

function openQuery(place) {
  state.query = place;
  byId("query-title").textContent = named(place);
  byId("query-body").replaceChildren(valuesOf(place), ...(data.why_not
    ? [make("p", "There are no rankings: " + data.why_not)] : [sidesOf(place)]));
  if (!byId("query").open) byId("query").showModal();
  remember();
}

function valuesOf(place) {
  const table = make("table"), head = make("tr"), body = make("tbody");
  for (const text of ["metric", data.runs[state.a], data.runs[state.b], "difference"]) {
    head.append(make("th", text, { scope: "col", class: text === "metric" ? "" : "number" }));
  }
  data.metrics.forEach((metric, at) => {
    const [a, b] = [state.a, state.b].map((run) => data.values[at][run][place]);
    const row = make("tr");
    row.append(make("td", metric), make("td", decimals(a), { class: "number" }), make("td", decimals(b), { class: "number" }),
      make("td", a === null || b === null ? "-" : signed(a - b), { class: "number" }));
    if (at === state.metric) row.className = "relevant";
    body.append(row);
  });
  table.append(make("thead"), body);
  table.tHead.append(head);
  const wide = make("div", null, { class: "wide", tabindex: 0, id: "query-values" });
  wide.append(table);
  return wide;
}

function sidesOf(place) {
  const sides = make("div", null, { class: "sides" });
  sides.append(sideOf(place, state.a, state.b), sideOf(place, state.b, state.a));
  return sides;
}

function sideOf(place, run, other) {
  const query = data.rankings[place], metric = data.metrics[state.metric];
  const side = make("section"), table = make("table"), head = make("tr"), body = make("tbody");
  for (const text of ["", "document", "label", "gain", "adds", "moved"]) head.append(make("th", text, { scope: "col", class: text === "document" ? "" : "number" }));
  const parts = query.parts[run][metric] || [], gains = new Map(query.gains[metric] || []);
  query.runs[run].forEach((doc, rank) => {
    const label = query.labels[doc], row = make("tr"), there = query.runs[other].indexOf(doc);
    const judged = label !== null && label >= 0;
    const gain = label === null ? "" : gains.get(label);
    row.className = !judged ? "unjudged" : label >= data.rel_level ? "relevant" : "";
    const moved = there < 0 ? "new" : there === rank ? "=" : (there > rank ? "↑" : "↓") + Math.abs(there - rank);
    const tone = there < 0 || there === rank ? "equal" : there > rank ? "gain" : "loss";
    const name = make("td", query.docs[doc]);
    if (query.titles && query.titles[doc]) name.append(make("br"), make("small", query.titles[doc]));
    row.append(make("td", rank + 1, { class: "number" }), name,
      make("td", judged ? label : "unjudged", { class: "number" }), make("td", gain === undefined || gain === null ? "" : gain, { class: "number" }),
      make("td", parts[rank] ? signed(parts[rank] / 10000) : "", { class: "number" }), make("td", moved, {
        class: "number " + tone, title: there < 0 ? "new: not in the first " + data.depth + " of " + data.runs[other] : "rank " + (there + 1) + " in " + data.runs[other],
      }));
    body.append(row);
  });
  table.append(make("thead"), body);
  table.tHead.append(head);
  const wide = make("div", null, { class: "wide" });
  wide.append(table);
  const [below, missing] = query.below[run];
  const judged = data.judged.length && data.judged[run][place] !== null ? "; judged@" + data.depth + " " + decimals(data.judged[run][place]) : "";
  side.append(make("h3", data.runs[run] + ": " + metric + " " + decimals(data.values[state.metric][run][place])), wide,
    make("p", (query.runs[run].length ? "" : "The run has no document here. ") + "Relevant below rank " + data.depth + ": " + below + "; not retrieved: " + missing + judged + "."));
  return side;
}

// ---- the address, which names what is shown --------------------------------------------------------------------

function remember() {
  const words = new URLSearchParams({ a: data.runs[state.a], b: data.runs[state.b], metric: data.metrics[state.metric] });
  if (state.segment) words.set("segment", data.segments[state.segment].name);
  if (state.sort) words.set("sort", state.sort);
  if (state.query >= 0) words.set("query", data.queries[state.query]);
  try { history.replaceState(null, "", "#" + words); } catch { /* a page without an address, as in a notebook */ }
}

function recall() {
  const words = new URLSearchParams(location.hash.slice(1));
  const lists = { a: data.runs, b: data.runs, metric: data.metrics, segment: data.segments.map((each) => each.name) };
  for (const [name, list] of Object.entries(lists)) {
    if (list.includes(words.get(name))) state[name] = list.indexOf(words.get(name));
  }
  if (words.has("sort")) sortBoard(words.get("sort"), false);
  showPair();
  const query = data.queries.indexOf(words.get("query"));
  if (query >= 0) openQuery(query);
}

async function start() {
  data = await unpacked();
  const fill = (id, names) => byId(id).append(...names.map((name, at) => make("option", name, { value: at })));
  fill("a", data.runs);
  fill("b", data.runs);
  fill("metric", data.metrics);
  fill("segment", data.segments.map((each) => each.name));
  byId("segment-of").hidden = data.segments.length < 2;
  const [, first, second] = data.pairs[0].of[0] || [0, 0, 0];
  [state.a, state.b] = [first, second];
  for (const id of ["a", "b", "metric", "segment"]) {
    byId(id).addEventListener("change", () => { state[id] = Number(byId(id).value); showPair(); remember(); });
  }
  for (const button of document.querySelectorAll(".board th button")) {
    button.addEventListener("click", () => { sortBoard(button.textContent, true); remember(); });
  }
  byId("find").addEventListener("input", () => listQueries(rowsOfQueries()));
  byId("more").addEventListener("click", () => { state.all = true; listQueries(rowsOfQueries()); });
  byId("query").addEventListener("close", () => { state.query = -1; remember(); });
  window.addEventListener("hashchange", recall);
  recall();
  document.body.dataset.ready = "yes";
}
start();
