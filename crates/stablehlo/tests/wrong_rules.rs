//! Wrong rules put into real programs: the check has to find them, however deep the program is.

use std::fs;

use sapwood_check::{CheckOptions, compare};
use sapwood_ptir::Program;
use sapwood_testing::repository;
use sapwood_types::{FloatMode, Source};

/// Wrong rules: an op with one operand, and the ops that replace it. `R` is its result, `X` its operand, `T` their type.
const WRONG_RULES: [(&str, &str); 7] = [
    ("exp", "R = logistic X : T"),
    ("exp", "R_1 = logistic X : T R = sqrt R_1 : T"),
    ("exp", "R_1 = exp X : T R = mul R_1, R_1 : T"),
    ("tanh", "R = logistic X : T"),
    ("rsqrt", "R = tanh X : T"),
    ("logistic", "R = tanh X : T"),
    ("erf", "R = sin X : T"),
];

/// The folders of the programs into which wrong rules are put.
const FOLDERS: [&str; 3] = ["programs", "examples/patterns/programs", "tests/golden/run/examples"];

// Applies a wrong rule wherever it matches. Returns none if it does not match.
fn with_wrong_rule(text: &str, (op, replacement): (&str, &str)) -> Option<String> {
    let mut matches = 0;
    let line = |(n, line): (usize, &str)| -> String {
        let assignment = line.trim().split_once(&format!(" = {op} "));
        let parts = assignment.and_then(|(result, rest)| {
            let (operand, ty) = rest.split_once(" : ")?;
            (!operand.contains([',', '{'])).then_some((result, operand, ty))
        });
        let Some((result, operand, ty)) = parts else { return line.to_owned() };
        matches += 1;
        replacement
            .split_inclusive(' ')
            .map(|word| match word.trim_end().trim_end_matches(',') {
                "R" => word.replace('R', result),
                "R_1" => word.replace("R_1", &format!("%wrong_{n}")),
                "X" => word.replace('X', operand),
                "T" => word.replace('T', ty),
                _ => word.to_owned(),
            })
            .collect()
    };
    let lines: Vec<String> = text.lines().enumerate().map(line).collect();
    (matches > 0).then(|| lines.join("\n"))
}

fn programs() -> Vec<(String, Program)> {
    let mut programs = Vec::new();
    for folder in FOLDERS {
        let entries = fs::read_dir(repository().join(folder)).unwrap();
        let mut paths: Vec<_> = entries.map(|entry| entry.unwrap().path()).collect();
        paths.sort();
        for path in paths {
            let name = format!("{folder}/{}", path.file_name().unwrap().to_string_lossy());
            let text = || fs::read_to_string(&path).unwrap();
            match path.extension().and_then(|extension| extension.to_str()) {
                // A golden file may have several programs.
                Some("ptir") => programs.extend(text().split("ptir 1").skip(1).map(|part| {
                    let program = sapwood_ptir::parse(&format!("ptir 1{part}"));
                    (name.clone(), program.unwrap_or_else(|e| panic!("{name}: {e}")))
                })),
                Some("mlir") => {
                    let module = sapwood_stablehlo::read(&Source::new(&name, text())).unwrap();
                    programs.push((name, module.program));
                }
                _ => {}
            }
        }
    }
    programs
}

// Random weights let the values of a deep network grow and saturate its softmax, and a mask has huge numbers. A check that draws such
// weights, or that changes all elements as much as the largest, excuses every difference.
#[test]
fn wrong_rules_in_real_programs_are_found() {
    let (mut tried, mut missed) = (0, Vec::new());
    for (name, before) in programs() {
        let text = before.to_string();
        for rule in WRONG_RULES {
            let Some(text) = with_wrong_rule(&text, rule) else { continue };
            let after = sapwood_ptir::parse(&text).unwrap_or_else(|e| panic!("{e}\n{text}"));
            for seed in 1..=2 {
                tried += 1;
                let floats = FloatMode::Fast;
                let options = CheckOptions { floats, seed, ..CheckOptions::default() };
                let report = compare(&before, &after, &options);
                if report.passes() {
                    missed.push(format!("{rule:?} in {name}: {report}"));
                }
            }
        }
    }
    assert!(tried >= 30, "{tried} cases");
    assert!(missed.is_empty(), "{} of {tried}:\n{}", missed.len(), missed.join("\n"));
}
