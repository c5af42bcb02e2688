//! A textbook implementation, written from the files of the suite alone: binary metrics, bpref, (n)DCG, RBP and ERR.

use crate::{Case, Entries};
use std::collections::{BTreeMap, HashMap, HashSet};

const CHOICES: &[(&str, &[&str])] = &[
    ("name", &[
        "num_ret", "num_rel", "num_rel_ret", "precision", "recall", "hit_rate", "recall_all", "mrr", "r_precision",
        "map", "dcg", "dcg_burges", "ndcg", "ndcg_burges", "relative_precision", "f1", "bpref", "iprec", "rbp", "err",
    ]),
    ("k", &["*"]),
    ("rel_level", &["*"]),
    ("max_depth", &["*"]),
    ("judged_only", &["*"]),
    ("p", &["*"]),
    ("recall", &["*"]),
    ("max_grade", &["*"]),
    ("ties", &["trec", "doc_id_asc", "input"]),
    ("queries", &["qrels", "intersection", "strict"]),
    ("duplicates", &["once", "first"]),
    ("score_dtype", &["float64", "float32"]),
    ("exclude", &["query_id"]),
    ("gain", &["linear", "exp2", "binary"]),
    ("discount", &["log2", "jk2"]),
    ("empty", &["zero", "one", "skip", "nan"]),
    ("ideal", &["judged", "retrieved", "num_ret", "full"]),
    ("ap_norm", &["R", "min_kR", "hits", "min_nkR"]),
    ("recall_norm", &["R", "min_kR"]),
    ("short_rankings", &["pad", "clip"]),
    ("empty_ranking", &["zero", "skip"]),
    ("bpref_norm", &["min", "R", "min_nan"]),
    ("negatives", &["skip", "nonrel"]),
    ("rounding", &["v10", "v9"]),
    ("unranked", &["zero", "nan"]),
    ("gains", &["binary", "raw", "scaled"]),
    ("rbp_norm", &["infinite", "cwl"]),
];

// Options by which NaN stays in the mean.
const STAYS: &[(&str, &str)] = &[("empty", "nan"), ("bpref_norm", "min_nan"), ("unranked", "nan")];

struct Options<'a>(&'a HashMap<String, String>);

impl Options<'_> {
    /// The choice of an option; the first of its choices is the default.
    fn get(&self, name: &str) -> &str {
        let usual = CHOICES.iter().find(|(option, _)| *option == name).map_or("", |(_, choices)| choices[0]);
        self.0.get(name).map_or(usual, |choice| choice)
    }

    fn number(&self, name: &str) -> Option<f64> {
        self.0.get(name).map(|text| text.parse().unwrap())
    }

    fn is_known(&self) -> bool {
        self.0.iter().all(|(name, value)| {
            let known = CHOICES.iter().find(|(option, _)| option == name);
            known.is_some_and(|(_, choices)| choices[0] == "*" || choices.contains(&value.as_str()))
        })
    }
}

pub fn evaluate(case: &Case) -> Option<BTreeMap<String, f64>> {
    let options = Options(&case.options);
    if !options.is_known() {
        return None;
    }
    let (mut found, mut sum, mut count) = (BTreeMap::new(), 0.0, 0.0);
    for (query, judged) in &case.judged {
        if !case.run.contains_key(query) && options.get("queries") != "qrels" {
            continue;
        }
        let all = options.get("negatives") == "nonrel";
        let labels: HashMap<&str, f64> = judged
            .iter()
            .filter(|(_, label)| all || *label >= 0.0)
            .map(|(doc, label)| (doc.as_str(), label.max(0.0)))
            .collect();
        let none = Entries::new();
        let run = case.run.get(query).unwrap_or(&none);
        let x = ranked(query, run, case.listed.contains_key(query), &labels, &options);
        let value = value(&x, labels.values().copied().collect(), &options);
        if !value.is_nan() || STAYS.iter().any(|(option, value)| options.get(option) == *value) {
            sum += value;
            count += 1.0;
        }
        found.insert(query.clone(), value);
    }
    let count = if options.get("name").starts_with("num_") { 1.0 } else { count };
    found.insert("all".to_string(), sum / count);
    Some(found)
}

/// The label at each rank.
fn ranked(query: &str, run: &Entries, listed: bool, labels: &HashMap<&str, f64>, options: &Options) -> Vec<Option<f64>> {
    let single = options.get("score_dtype") == "float32";
    let mut rows: Vec<(&str, f64)> =
        run.iter().map(|(doc, score)| (doc.as_str(), if single { *score as f32 as f64 } else { *score })).collect();
    if !listed {
        match options.get("ties") {
            "trec" => rows.sort_by(|a, b| b.0.cmp(a.0)),
            "doc_id_asc" => rows.sort_by(|a, b| a.0.cmp(b.0)),
            _ => {}
        }
        rows.sort_by(|a, b| b.1.partial_cmp(&a.1).unwrap());
    }
    let mut seen = HashSet::new();
    let mut found = Vec::new();
    for (doc, _) in rows {
        let is_new = seen.insert(doc);
        if (!is_new && options.get("duplicates") == "first") || (doc == query && options.0.contains_key("exclude")) {
            continue;
        }
        found.push(if is_new { labels.get(doc).copied() } else { None });
    }
    found.truncate(options.number("max_depth").map_or(found.len(), |depth| depth as usize));
    if options.get("judged_only") == "true" {
        found.retain(|label| label.is_some());
    }
    found
}

fn dcg(gains: &[f64], discount: &str) -> f64 {
    let shift = if discount == "jk2" { 1.0 } else { 2.0 };
    gains.iter().enumerate().map(|(i, gain)| if i == 0 { *gain } else { gain / (i as f64 + shift).log2() }).sum()
}

fn over(a: f64, b: usize) -> f64 {
    if b == 0 { 0.0 } else { a / b as f64 }
}

fn value(x: &[Option<f64>], judged: Vec<f64>, options: &Options) -> f64 {
    let name = options.get("name");
    let level = options.number("rel_level").unwrap_or(1.0);
    let k = options.number("k").map(|k| k as usize);
    let kind = if name.ends_with("burges") { "exp2" } else { options.get("gain") };
    let gain = |label: &f64| match kind {
        "exp2" => label.exp2() - 1.0,
        "binary" => (*label >= level) as u8 as f64,
        _ => *label,
    };
    let cut = &x[..k.unwrap_or(x.len()).min(x.len())];
    let total = judged.iter().filter(|label| **label >= level).count();
    let is_hit = |label: &Option<f64>| label.is_some_and(|label| label >= level);
    let hits: Vec<usize> = (1..=cut.len()).filter(|rank| is_hit(&cut[rank - 1])).collect();
    let is_dcg = name.contains("dcg");
    let worth = if is_dcg { judged.iter().any(|label| gain(label) > 0.0) } else { total > 0 };
    if options.get("empty_ranking") == "skip" && x.is_empty() {
        return f64::NAN;
    }
    if !worth && options.get("empty") != "zero" {
        return if options.get("empty") == "one" { 1.0 } else { f64::NAN };
    }
    let at_most = k.unwrap_or(total).min(total);
    match name {
        "num_ret" => x.len() as f64,
        "num_rel" => total as f64,
        "num_rel_ret" => hits.len() as f64,
        "hit_rate" => !hits.is_empty() as u8 as f64,
        "recall_all" => (total > 0 && hits.len() == total) as u8 as f64,
        "mrr" => hits.first().map_or(0.0, |rank| 1.0 / *rank as f64),
        "r_precision" => over(x.iter().take(total).filter(|label| is_hit(label)).count() as f64, total),
        "recall" => over(hits.len() as f64, if options.get("recall_norm") == "min_kR" { at_most } else { total }),
        "precision" => match k {
            Some(k) if options.get("short_rankings") == "pad" => over(hits.len() as f64, k),
            _ => over(hits.len() as f64, cut.len()),
        },
        "relative_precision" => over(hits.len() as f64, k.unwrap_or(x.len()).min(total)),
        "f1" => over(2.0 * hits.len() as f64, k.unwrap_or(x.len()) + total),
        "bpref" => {
            let norm = options.get("bpref_norm");
            let worst = if norm == "R" { total } else { total.min(judged.len() - total) };
            let (mut above, mut found) = (0, 0.0);
            for label in x.iter().flatten() {
                if *label < level {
                    above += 1;
                } else if above > 0 || norm == "min_nan" {
                    found += 1.0 - above.min(total) as f64 / worst as f64;
                } else {
                    found += 1.0;
                }
            }
            over(found, total)
        }
        "iprec" => {
            let share = options.number("recall").unwrap_or(0.0) * total as f64;
            let needed = (share + if options.get("rounding") == "v9" { 0.9 } else { 0.5 }).floor() as usize;
            if x.is_empty() && needed == 0 && options.get("unranked") == "nan" {
                return f64::NAN;
            }
            let precisions = hits.iter().enumerate().map(|(i, rank)| (i as f64 + 1.0) / *rank as f64);
            precisions.skip(needed.max(1) - 1).fold(0.0, f64::max)
        }
        "rbp" => {
            let p = options.number("p").unwrap_or(0.8);
            let most = judged.iter().copied().fold(1e-9, f64::max);
            let worth = |label: f64| match options.get("gains") {
                "raw" => label,
                "scaled" => label / most,
                _ => (label >= level) as u8 as f64,
            };
            let all = if options.get("rbp_norm") == "cwl" { 1.0 - p.powi(1000) } else { 1.0 };
            let read = &cut[..if all < 1.0 { cut.len().min(1000) } else { cut.len() }];
            let seen = read.iter().enumerate().map(|(i, label)| label.map_or(0.0, worth) * p.powi(i as i32));
            seen.sum::<f64>() * (1.0 - p) / all
        }
        "err" => {
            let (mut going, mut found) = (1.0, 0.0);
            for (i, label) in cut.iter().enumerate() {
                let stops = (label.unwrap_or(0.0).exp2() - 1.0) / options.number("max_grade").unwrap_or(4.0).exp2();
                found += going * stops / (i as f64 + 1.0);
                going *= 1.0 - stops;
            }
            found
        }
        "map" => {
            let norm = match options.get("ap_norm") {
                "R" => total,
                "min_kR" => at_most,
                "hits" => hits.len(),
                _ => at_most.min(x.len()),
            };
            over(hits.iter().enumerate().map(|(i, rank)| (i as f64 + 1.0) / *rank as f64).sum(), norm)
        }
        _ => {
            let gains = |labels: &[Option<f64>]| -> Vec<f64> {
                labels.iter().map(|label| label.as_ref().map_or(0.0, gain)).collect()
            };
            let ideal = options.get("ideal");
            let mut best = if ideal == "retrieved" { gains(x) } else { judged.iter().map(gain).collect() };
            best.sort_by(|a, b| b.partial_cmp(a).unwrap());
            let length = k.unwrap_or(if matches!(ideal, "num_ret" | "full") { x.len() } else { best.len() });
            if ideal == "full" && !best.is_empty() {
                best = vec![best[0]; length];
            }
            best.truncate(if ideal == "num_ret" { length.min(x.len()) } else { length });
            let top = if name.starts_with('n') { dcg(&best, options.get("discount")) } else { 1.0 };
            if top > 0.0 { dcg(&gains(cut), options.get("discount")) / top } else { 0.0 }
        }
    }
}
