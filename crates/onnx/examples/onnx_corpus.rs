//! Reads every ONNX model below a folder, writes it back without a pass, and replaces its ops by core ops and back:
//! `cargo xtask corpus DIR [OUT]`.
//!
//! A model passes if the bytes of its file are written again, and if the second does not need more nodes. The second are written to OUT, in
//! the folders that they have in DIR.
#![allow(clippy::print_stdout)] // a command talks to its user

use std::path::{Path, PathBuf};
use std::process::ExitCode;

use sapwood_onnx::{
    LowerLevel, WriteOptions, lower_function, read_file, registry, to_model, to_program, write,
    write_file,
};

fn main() -> ExitCode {
    let Some(root) = std::env::args().nth(1).map(PathBuf::from) else {
        println!("usage: corpus DIR [OUT]");
        return ExitCode::from(2);
    };
    let out = std::env::args().nth(2).map(PathBuf::from);
    let mut files = Vec::new();
    collect_models(&root, &mut files);
    files.sort();
    let (mut failed, mut before, mut after) = (0, 0, 0);
    for file in &files {
        let raised = out.as_ref().map(|out| out.join(file.strip_prefix(&root).unwrap_or(file)));
        match check(file, raised.as_deref()) {
            Ok((old, new)) => {
                before += old;
                after += new;
            }
            Err(why) => {
                failed += 1;
                println!("{}: {why}", file.display());
            }
        }
    }
    let passed = files.len() - failed;
    println!(
        "{passed} of {} models are written as they were; {before} nodes, {after} lowered and raised",
        files.len()
    );
    if failed == 0 && !files.is_empty() { ExitCode::SUCCESS } else { ExitCode::FAILURE }
}

fn collect_models(folder: &Path, files: &mut Vec<PathBuf>) {
    let Ok(entries) = std::fs::read_dir(folder) else { return };
    for path in entries.filter_map(|entry| Some(entry.ok()?.path())) {
        if path.is_dir() {
            collect_models(&path, files);
        } else if path.extension().is_some_and(|extension| extension == "onnx") {
            files.push(path);
        }
    }
}

// Returns the numbers of nodes of a model, and of the model lowered and raised, which is written to `out`.
fn check(path: &Path, out: Option<&Path>) -> Result<(usize, usize), String> {
    let (model, data) = read_file(path).map_err(|e| e.to_string())?;
    let bytes = std::fs::read(path).map_err(|e| e.to_string())?;
    let before = model.count_nodes();
    let mut module = to_program(model, data, &registry()).map_err(|e| e.to_string())?;
    let same = to_model(&module.program, Some(&module.source), None).map_err(|e| e.to_string())?;
    if write(&same).map_err(|e| e.to_string())? != bytes {
        return Err("it is written with other bytes".into());
    }
    for f in module.program.functions_mut() {
        lower_function(f, LowerLevel::Core);
    }
    let raised =
        to_model(&module.program, Some(&module.source), None).map_err(|e| e.to_string())?;
    let after = raised.count_nodes();
    if after > before {
        return Err(format!("it has {before} nodes, and {after} lowered and raised"));
    }
    if let Some(out) = out {
        let folder = out.parent().unwrap_or(out);
        std::fs::create_dir_all(folder).map_err(|e| format!("{}: {e}", folder.display()))?;
        let options = WriteOptions::default();
        let data = module.source.data();
        write_file(out, &raised, data, &options).map_err(|e| e.to_string())?;
    }
    Ok((before, after))
}
