//! StableHLO programs that JAX printed; the peer is jaxlib.

use std::path::{Path, PathBuf};

use super::BenchRow;
use super::PerformanceTarget::{AtMost, TimesFaster};

/// The measured actions: name, description, and the required speed relative to the peer, for each program and the mean of all.
const ACTIONS: [(&str, &str, f64); 3] = [
    ("parse", "parse and verify", 10.0),
    ("simplify", "inline, canonicalize and CSE", 5.0),
    ("print", "print", 10.0),
];

/// Returns the folder of the programs: `$SAPWOOD_PROGRAMS`, the models of a corpus next to the repository, or `programs/`.
pub(crate) fn folder() -> PathBuf {
    if let Some(folder) = std::env::var_os("SAPWOOD_PROGRAMS") {
        return folder.into();
    }
    let root = Path::new(concat!(env!("CARGO_MANIFEST_DIR"), "/.."));
    let models = root.join("../shared/corpus/stablehlo/models");
    if models.is_dir() { models } else { root.join("programs") }
}

/// Returns the names of the models in [`folder`].
pub(crate) fn models() -> Vec<String> {
    models_in(&folder())
}

/// Returns the names of the folders with a `model.mlir`.
pub(super) fn models_in(folder: &Path) -> Vec<String> {
    let entries = std::fs::read_dir(folder).into_iter().flatten().flatten();
    let models = entries.filter(|e| e.path().join("model.mlir").is_file());
    let mut names: Vec<String> =
        models.map(|e| e.file_name().to_string_lossy().into_owned()).collect();
    names.sort();
    names
}

// Returns the models, or the two programs of the repository that are large enough.
fn programs() -> Vec<String> {
    let mut names = models();
    if names.is_empty() {
        names = vec!["train_step".into(), "transformer".into()];
    }
    names
}

pub(super) fn rows() -> Vec<BenchRow> {
    let mut rows = Vec::new();
    let mut row = |name: String, work: String, unit, reach: &[_]| {
        rows.push(BenchRow::new("stablehlo", name, work, unit, reach));
    };
    let programs = programs();
    for (verb, does, times) in ACTIONS {
        let work = format!("{does}: geometric mean of all programs");
        row(format!("{verb}/mean"), work, "ns/node", &[TimesFaster(times)]);
        for program in &programs {
            let work = format!("{does}, {program}");
            row(format!("{verb}/{program}"), work, "ns/node", &[TimesFaster(times)]);
        }
    }
    for program in programs.iter().map(String::as_str).chain(["total"]) {
        let work = format!("ops left without constants, {program}");
        row(format!("left/{program}"), work, "ops", &[TimesFaster(1.0)]);
    }
    let work = "run an MLP of 3 layers, compared with the reference interpreter".to_owned();
    row("run/mlp".to_owned(), work, "ms", &[TimesFaster(100.0), AtMost(10.0)]);
    rows
}
