//! ONNX models, simplified by whole processes; the peers are onnxsim, onnxslim, onnxoptimizer, onnxscript and ONNX Runtime.

use std::path::PathBuf;
use std::process::Command;

use anyhow::{Result, bail};

use super::BenchRow;
use super::PerformanceTarget::{ShareOfModels, TimesFaster, TimesPeer};
use crate::process;
use crate::workspace::Workspace;

/// A script next to the repository that downloads models to a folder.
const FETCH_SCRIPT: &str = "../shared/tools/onnx_corpus.py";

/// Returns the folder of the models: `$SAPWOOD_MODELS`, or one in cargo's target folder. It may be empty or missing.
pub(crate) fn folder(workspace: &Workspace) -> PathBuf {
    match std::env::var_os("SAPWOOD_MODELS") {
        Some(folder) => folder.into(),
        None => workspace.target.join("onnx-models/models"),
    }
}

/// Downloads the models, unless they are there or there is no script for it.
pub(crate) fn fetch_models(workspace: &Workspace) -> Result<()> {
    let script = workspace.root.join(FETCH_SCRIPT);
    let folder = workspace.target.join("onnx-models");
    let index = folder.join("models.json");
    if std::env::var_os("SAPWOOD_MODELS").is_some() || index.exists() || !script.exists() {
        return Ok(());
    }
    let mut fetch = Command::new("python3");
    let finished = process::run(fetch.arg(script).arg(&folder), false, None)?;
    if !finished.success {
        bail!("the models were not downloaded, {}:\n{}", finished.problem, finished.output);
    }
    std::fs::remove_dir_all(folder.join("wheels")).or_else(|_| Ok(()))
}

pub(super) fn rows() -> Vec<BenchRow> {
    bench_rows! { "onnx":
        "opt/all" in "ms" [TimesFaster(3.0)]: "file to file through opt, all models";
        "peak/all" in "MB" [TimesPeer(1.0)]: "largest memory of a process";
        "left/all" in "nodes" [TimesPeer(1.0), ShareOfModels(0.95)]: "nodes without constants after opt";
        "shapes/all" in "shapes" [ShareOfModels(1.0)]: "Shape nodes after opt";
    }
}
