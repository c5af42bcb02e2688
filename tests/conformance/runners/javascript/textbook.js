// A textbook implementation, written from the files of the suite alone: binary metrics, bpref, (n)DCG, RBP and ERR.
'use strict';

const NAMES = ['num_ret', 'num_rel', 'num_rel_ret', 'precision', 'recall', 'hit_rate', 'recall_all', 'mrr',
  'r_precision', 'map', 'dcg', 'dcg_burges', 'ndcg', 'ndcg_burges', 'relative_precision', 'f1', 'bpref', 'iprec', 'rbp',
  'err'];
const CHOICES = {
  ties: ['trec', 'doc_id_asc', 'input'], queries: ['qrels', 'intersection', 'strict'], duplicates: ['once', 'first'],
  score_dtype: ['float64', 'float32'], exclude: ['query_id'], gain: ['linear', 'exp2', 'binary'],
  discount: ['log2', 'jk2'], empty: ['zero', 'one', 'skip', 'nan'],
  ideal: ['judged', 'retrieved', 'num_ret', 'full'], ap_norm: ['R', 'min_kR', 'hits', 'min_nkR'],
  recall_norm: ['R', 'min_kR'], short_rankings: ['pad', 'clip'], empty_ranking: ['zero', 'skip'],
  bpref_norm: ['min', 'R', 'min_nan'], negatives: ['skip', 'nonrel'], rounding: ['v10', 'v9'], unranked: ['zero', 'nan'],
  gains: ['binary', 'raw', 'scaled'], rbp_norm: ['infinite', 'cwl'],
};
const NUMBERS = ['name', 'k', 'rel_level', 'max_depth', 'judged_only', 'p', 'recall', 'max_grade'];
const STAYS = { empty: 'nan', bpref_norm: 'min_nan', unranked: 'nan' }; // options by which NaN stays in the mean
const sum = (values) => values.reduce((a, b) => a + b, 0);

exports.evaluate = (given) => {
  const options = given.options;
  const known = Object.entries(options).every(([key, v]) => NUMBERS.includes(key) || (CHOICES[key] || []).includes(v));
  if (!known || !NAMES.includes(options.name)) return null;
  const found = {};
  for (const [query, judged] of Object.entries(given.qrels)) {
    const inRun = Object.hasOwn(given.run, query);
    if (!inRun && (options.queries || 'qrels') !== 'qrels') continue;
    const labels = new Map(judged.filter(([, label]) => label >= 0 || options.negatives === 'nonrel'));
    found[query] = value(ranked(query, inRun ? given.run[query] : [], labels, options), [...labels.values()], options);
  }
  const stays = Object.entries(STAYS).some(([key, v]) => options[key] === v);
  const counted = Object.values(found).filter((v) => !Number.isNaN(v) || stays);
  return { ...found, all: sum(counted) / (options.name.startsWith('num_') ? 1 : counted.length) };
};

// The label at each rank, null for a document without one.
function ranked(query, entries, labels, options) {
  let docs = entries;
  if (entries.length && Array.isArray(entries[0])) {
    const score = options.score_dtype === 'float32' ? (row) => Math.fround(row[1]) : (row) => row[1];
    const sign = { trec: -1, doc_id_asc: 1, input: 0 }[options.ties || 'trec'];
    const byId = (a, b) => sign * Buffer.compare(Buffer.from(String(a[0])), Buffer.from(String(b[0])));
    docs = [...entries].sort((a, b) => score(b) - score(a) || byId(a, b)).map((row) => row[0]);
  }
  if (options.exclude === 'query_id') docs = docs.filter((doc) => doc !== query);
  if (options.duplicates === 'first') docs = [...new Set(docs)];
  const seen = new Set();
  const found = docs.map((doc) => {
    const label = !seen.has(doc) && labels.has(doc) ? labels.get(doc) : null;
    seen.add(doc);
    return label;
  }).slice(0, options.max_depth);
  return options.judged_only ? found.filter((label) => label !== null) : found;
}

function value(x, judged, options) {
  const { name, k, rel_level: level = 1, empty = 'zero', ideal = 'judged', ap_norm: apNorm = 'R' } = options;
  const gain = name.endsWith('burges') ? 'exp2' : options.gain || 'linear';
  const isRelevant = (label) => label !== null && label >= level;
  const relevant = x.flatMap((label, place) => (isRelevant(label) ? [place + 1] : []));
  const hits = relevant.filter((rank) => !k || rank <= k);
  const total = judged.filter(isRelevant).length;
  const of = { linear: (v) => v, exp2: (v) => 2 ** v - 1, binary: (v) => (v >= level ? 1 : 0) }[gain];
  const gains = (labels) => labels.map((label) => (label === null ? 0 : of(label)));
  const shift = options.discount === 'jk2' ? 0 : 1;
  const dcg = (values) => sum(values.map((v, place) => v / (place ? Math.log2(place + 1 + shift) : 1)));
  if (options.empty_ranking === 'skip' && !x.length) return NaN;
  if (empty !== 'zero' && !(name.includes('dcg') ? gains(judged).some((v) => v > 0) : total)) {
    return empty === 'one' ? 1 : NaN;
  }
  if (name.includes('dcg')) {
    let best = gains(ideal === 'retrieved' ? x : judged).sort((a, b) => b - a);
    if (ideal === 'full') best = best.length ? Array(k || x.length).fill(best[0]) : [];
    const cut = ideal === 'num_ret' ? Math.min(k || x.length, x.length) : k;
    const top = name.startsWith('n') ? dcg(best.slice(0, cut)) : 1;
    return top ? dcg(gains(x.slice(0, k))) / top : 0;
  }
  const atMost = Math.min(k || total, total);
  const over = (a, b) => (b ? a / b : 0);
  switch (name) {
    case 'map': {
      const norm = { R: total, min_kR: atMost, hits: hits.length, min_nkR: Math.min(x.length, atMost) }[apNorm];
      return over(sum(hits.map((rank, place) => (place + 1) / rank)), norm);
    }
    case 'precision':
      return over(hits.length, k && options.short_rankings !== 'clip' ? k : x.slice(0, k).length);
    case 'recall': return over(hits.length, options.recall_norm === 'min_kR' ? atMost : total);
    case 'r_precision': return over(relevant.filter((rank) => rank <= total).length, total);
    case 'relative_precision': return over(hits.length, Math.min(k || x.length, total));
    case 'f1': return over(2 * hits.length, (k || x.length) + total);
    case 'bpref': return bpref(x, relevant, total, judged.filter((label) => label < level).length, level, options);
    case 'iprec': {
      const share = (options.recall || 0) * total;
      const needed = Math.floor(share + (options.rounding === 'v9' ? 0.9 : 0.5));
      if (!x.length && !needed && options.unranked === 'nan') return NaN;
      const precisions = relevant.map((rank, place) => (place + 1) / rank);
      return Math.max(0, ...precisions.slice(Math.max(needed, 1) - 1));
    }
    case 'rbp': {
      const { p = 0.8, gains: kind = 'binary', rbp_norm: norm } = options;
      const most = Math.max(1e-9, ...judged);
      const worth = { binary: (v) => (v >= level ? 1 : 0), raw: (v) => v, scaled: (v) => v / most }[kind];
      const read = x.slice(0, k).slice(0, norm === 'cwl' ? 1000 : undefined);
      const weights = norm === 'cwl' ? 1 - p ** 1000 : 1;
      return sum(read.map((label, place) => (label === null ? 0 : worth(label) * p ** place))) * (1 - p) / weights;
    }
    case 'err': {
      let [going, found] = [1, 0];
      x.slice(0, k).forEach((label, place) => {
        const stops = (2 ** (label || 0) - 1) / 2 ** (options.max_grade ?? 4);
        found += going * stops / (place + 1);
        going *= 1 - stops;
      });
      return found;
    }
    case 'mrr': return hits.length ? 1 / hits[0] : 0;
    case 'hit_rate': return hits.length ? 1 : 0;
    case 'recall_all': return total && hits.length === total ? 1 : 0;
    default: return { num_ret: x.length, num_rel: total, num_rel_ret: hits.length }[name];
  }
}

function bpref(x, relevant, total, others, level, options) {
  const norm = options.bpref_norm || 'min';
  const worst = norm === 'R' ? total : Math.min(others, total);
  const shares = relevant.map((rank) => {
    const above = x.slice(0, rank).filter((label) => label !== null && label < level).length;
    return above || norm === 'min_nan' ? 1 - Math.min(above, total) / worst : 1;
  });
  return total ? sum(shares) / total : 0;
}
