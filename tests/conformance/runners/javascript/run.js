// Run an implementation against the conformance suite: node run.js FOLDER [MODULE]
// MODULE (./textbook.js, if none is named) exports evaluate(case): {query: value, all: mean}, or null if not claimed.
'use strict';
const fs = require('fs');
const path = require('path');

function* cases(folder) {
  for (const name of fs.readdirSync(folder).filter((name) => name.endsWith('.jsonl')).sort()) {
    for (const line of fs.readFileSync(path.join(folder, name), 'utf8').split('\n')) {
      if (line) yield JSON.parse(line);
    }
  }
}

function number(text) {
  return text === 'nan' ? NaN : Number(text);
}

// The distance to the next double: what the last bit is worth.
function ulp(value) {
  const view = new DataView(new ArrayBuffer(8));
  view.setFloat64(0, Math.abs(value));
  view.setBigInt64(0, view.getBigInt64(0) + 1n);
  return view.getFloat64(0) - Math.abs(value);
}

function isClose(value, expected, tolerance) {
  if (Number.isNaN(expected) || Number.isNaN(value)) return Number.isNaN(expected) && Number.isNaN(value);
  if (tolerance === 'exact') return value === expected;
  if (tolerance === 'last bit') return Math.abs(value - expected) <= ulp(expected);
  return Math.abs(value - expected) <= 1e-12 * Math.max(1, Math.abs(expected));
}

function failures(given, found) {
  const queries = Object.keys(given.expected).sort();
  if (String(Object.keys(found).sort()) !== String(queries)) {
    return [`queries ${Object.keys(found).sort()}, expected ${queries}`];
  }
  return queries
    .filter((query) => !isClose(found[query], number(given.expected[query].decimal), given.tolerance))
    .map((query) => `${query}: ${found[query]}, expected ${given.expected[query].decimal}`);
}

const [folder, module_ = './textbook.js'] = process.argv.slice(2);
const { evaluate } = require(path.resolve(__dirname, module_));
let [total, claimed, passed] = [0, 0, 0];
for (const given of cases(folder)) {
  total += 1;
  const found = evaluate(given);
  if (found === null) continue;
  claimed += 1;
  const wrong = failures(given, found);
  passed += wrong.length === 0;
  for (const line of wrong) console.log(`${given.id} ${given.metric} (${given.tolerance}): ${line}`);
}
console.log(`javascript: ${passed} of ${claimed} claimed cases passed, ${total - claimed} of ${total} not claimed`);
process.exitCode = claimed > 0 && passed === claimed ? 0 : 1;
