//! StableHLO programs that JAX printed; the peer is jaxlib.

use std::path::{Path, PathBuf};

use super::Reach::{AtMost, TimesFaster};
use super::Row;

/// What is measured of every program, and what each and the mean of all have to reach.
const VERBS: [(&str, &str, f64); 3] = [
    ("parse", "parse and verify", 10.0),
    ("simplify", "inline, canonicalize and CSE", 5.0),
    ("print", "print", 10.0),
];

/// Where the programs are: `$SAPWOOD_PROGRAMS`, the models of a corpus beside the repository, or those of the repository.
pub(crate) fn folder() -> PathBuf {
    if let Some(folder) = std::env::var_os("SAPWOOD_PROGRAMS") {
        return folder.into();
    }
    let root = Path::new(concat!(env!("CARGO_MANIFEST_DIR"), "/.."));
    let models = root.join("../shared/corpus/stablehlo/models");
    if models.is_dir() { models } else { root.join("programs") }
}

// Folders with a `model.mlir`, or the two programs of the repository that are large enough.
fn programs() -> Vec<String> {
    let entries = std::fs::read_dir(folder()).into_iter().flatten().flatten();
    let models = entries.filter(|e| e.path().join("model.mlir").is_file());
    let mut names: Vec<String> =
        models.map(|e| e.file_name().to_string_lossy().into_owned()).collect();
    names.sort();
    if names.is_empty() {
        names = vec!["train_step".into(), "transformer".into()];
    }
    names
}

pub(super) fn rows() -> Vec<Row> {
    let mut rows = Vec::new();
    let mut row = |name: String, what: String, unit, reach: &[_]| {
        rows.push(Row::new("stablehlo", name, what, unit, reach));
    };
    let programs = programs();
    for (verb, does, times) in VERBS {
        let what = format!("{does}: geometric mean of all programs");
        row(format!("{verb}/mean"), what, "ns/node", &[TimesFaster(times)]);
        for program in &programs {
            let what = format!("{does}, {program}");
            row(format!("{verb}/{program}"), what, "ns/node", &[TimesFaster(times)]);
        }
    }
    for program in programs.iter().map(String::as_str).chain(["total"]) {
        let what = format!("ops left that are no constants, {program}");
        row(format!("left/{program}"), what, "ops", &[TimesFaster(1.0)]);
    }
    let what = "run an MLP of 3 layers, beside the reference interpreter".to_owned();
    row("run/mlp".to_owned(), what, "ms", &[TimesFaster(100.0), AtMost(10.0)]);
    rows
}
