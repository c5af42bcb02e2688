// Run an implementation against the conformance suite: rustc -O run.rs && ./run FOLDER
//
// It reads the line form, the .txt files. Another implementation is another module with `evaluate` in place of textbook.
mod textbook;

use std::collections::{BTreeMap, HashMap};
use std::{env, fs, process};

/// Documents with their labels or scores, in the order of the file.
pub type Entries = Vec<(String, f64)>;

/// `listed` says which rankings have no scores.
#[derive(Default)]
pub struct Case {
    pub id: String,
    pub tolerance: String,
    pub options: HashMap<String, String>,
    pub judged: Vec<(String, Entries)>,
    pub run: HashMap<String, Entries>,
    pub listed: HashMap<String, bool>,
    pub expected: BTreeMap<String, f64>,
}

fn pairs(words: &[&str]) -> Entries {
    words.chunks(2).map(|pair| (pair[0].to_string(), pair[1].parse().unwrap())).collect()
}

fn parse(block: &str) -> Case {
    let mut case = Case::default();
    for line in block.lines() {
        let words: Vec<&str> = line.split('\t').collect();
        let second = words.get(1).unwrap_or(&"").to_string();
        match words[0] {
            "case" => {
                case.id = second;
                case.tolerance = words[2].to_string();
            }
            "options" => {
                let chosen = words[1..].chunks(2).map(|pair| (pair[0].to_string(), pair[1].to_string()));
                case.options.extend(chosen);
            }
            "judged" => case.judged.push((second, pairs(&words[2..]))),
            "scores" => {
                case.run.insert(second, pairs(&words[2..]));
            }
            "list" => {
                case.listed.insert(second.clone(), true);
                case.run.insert(second, words[2..].iter().map(|doc| (doc.to_string(), 0.0)).collect());
            }
            "parents" => {
                case.options.insert("parents".to_string(), words[1..].join("\t"));
            }
            "expect" => {
                case.expected.insert(second, words[2].parse().unwrap()); // the decimal form
            }
            _ => {}
        }
    }
    case
}

fn is_close(value: f64, expected: f64, tolerance: &str) -> bool {
    if value.is_nan() || expected.is_nan() {
        return value.is_nan() && expected.is_nan();
    }
    let size = expected.abs();
    let within = match tolerance {
        "exact" => 0.0,
        "last bit" => f64::from_bits(size.to_bits() + 1) - size,
        _ => 1e-12 * size.max(1.0),
    };
    (value - expected).abs() <= within
}

fn main() {
    let folder = env::args().nth(1).expect("the folder of the suite");
    let paths = fs::read_dir(folder).unwrap().map(|entry| entry.unwrap().path());
    let (mut total, mut claimed, mut passed) = (0, 0, 0);
    for path in paths.filter(|path| path.extension().is_some_and(|ending| ending == "txt")) {
        for block in fs::read_to_string(path).unwrap().trim_end().split("\n\n") {
            let case = parse(block);
            total += 1;
            let Some(found) = textbook::evaluate(&case) else { continue };
            claimed += 1;
            let wrong = |query: &String, expected: f64| match found.get(query) {
                Some(&value) => !is_close(value, expected, &case.tolerance),
                None => true,
            };
            let failed: Vec<&String> = case.expected.iter().filter(|(q, e)| wrong(q, **e)).map(|(q, _)| q).collect();
            if failed.is_empty() && found.len() == case.expected.len() {
                passed += 1;
            } else {
                println!("{} ({}) {:?}: {:?}, expected {:?}", case.id, case.tolerance, failed, found, case.expected);
            }
        }
    }
    println!("rust: {passed} of {claimed} claimed cases passed, {} of {total} not claimed", total - claimed);
    process::exit(if claimed > 0 && passed == claimed { 0 } else { 1 });
}
