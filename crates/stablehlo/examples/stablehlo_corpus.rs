//! Reads, prints back, runs and simplifies every StableHLO program below a folder, and prints one table:
//! `cargo xtask corpus DIR`.
//!
//! Programs without inputs check themselves (`check.expect_…`). A program called `model.mlir` is run on the files `in_000.npy` …
//! in its folder and compared with `out_000.npy` ….
#![allow(clippy::print_stdout)] // a command talks to its user

use std::path::{Path, PathBuf};
use std::process::ExitCode;

use sapwood_check::paired_elements;
use sapwood_ptir::eval::{self, RunOptions, Tensor, Value};
use sapwood_ptir::structural::{self, Mode};
use sapwood_ptir::{Program, TensorLiteral, ValueType};
use sapwood_rewrite::PassManager;
use sapwood_stablehlo::{Module, check_call_kernels, read, write, write_program};
use sapwood_types::Source;

/// The largest difference of model results from JAX's, as JAX compares f32: relative, and absolute below one.
const TOLERANCE: f64 = 1e-5;

/// Programs whose expected values are not reachable, and the reasons.
const KNOWN: [(&str, &str); 0] = [];

#[derive(Default)]
struct Counts {
    files: usize,
    read: usize,
    round_trip: usize,
    without_values: usize,
    values: usize,
    values_after: usize,
    before: usize,
    after: usize,
}

fn main() -> ExitCode {
    let mut arguments = std::env::args().skip(1);
    let Some(root) = arguments.next() else {
        println!("usage: corpus DIR [OUT]: OUT gets the printed programs, before and after");
        return ExitCode::from(2);
    };
    let out = arguments.next().map(PathBuf::from);
    let mut groups: Vec<(String, Vec<PathBuf>)> = Vec::new();
    for file in mlir_files(Path::new(&root)) {
        let relative = file.strip_prefix(&root).unwrap_or(&file);
        let group = relative.components().next().map(|c| c.as_os_str().to_string_lossy().into());
        let group: String = group.unwrap_or_default();
        match groups.last_mut() {
            Some((name, files)) if *name == group => files.push(file),
            _ => groups.push((group, vec![file])),
        }
    }
    let mut lines = Vec::new();
    let mut problems = Vec::new();
    for (group, files) in &groups {
        let mut counts = Counts::default();
        for file in files {
            counts.files += 1;
            if let Err(why) = check_file(file, &mut counts, out.as_deref()) {
                let shown = file.strip_prefix(&root).unwrap_or(file).display().to_string();
                problems.push(format!("{shown}: {why}"));
            }
        }
        lines.push((group.clone(), counts));
    }
    println!(
        "{:<12} {:>6} {:>6} {:>11} {:>13} {:>20} {:>11} {:>10}",
        "programs",
        "files",
        "read",
        "round trip",
        "values right",
        "right after simplify",
        "ops before",
        "ops after"
    );
    for (group, c) in &lines {
        println!(
            "{group:<12} {:>6} {:>6} {:>11} {:>13} {:>20} {:>11} {:>10}",
            c.files,
            c.read,
            c.round_trip,
            format!("{} of {}", c.values, c.files - c.without_values),
            format!("{} of {}", c.values_after, c.files - c.without_values),
            c.before,
            c.after
        );
    }
    let mut failed = false;
    for problem in &problems {
        println!("{problem}");
        match KNOWN.iter().find(|(name, _)| problem.contains(name)) {
            Some((_, reason)) => println!("    known: {reason}"),
            None => failed = true,
        }
    }
    if failed { ExitCode::FAILURE } else { ExitCode::SUCCESS }
}

fn mlir_files(folder: &Path) -> Vec<PathBuf> {
    let mut found = Vec::new();
    let mut entries: Vec<PathBuf> = std::fs::read_dir(folder)
        .map(|entries| entries.flatten().map(|e| e.path()).collect())
        .unwrap_or_default();
    entries.sort();
    for path in entries {
        if path.is_dir() {
            found.extend(mlir_files(&path));
        } else if path.extension().is_some_and(|e| e == "mlir") {
            found.push(path);
        }
    }
    found
}

fn check_file(file: &Path, counts: &mut Counts, out: Option<&Path>) -> Result<(), String> {
    let text = std::fs::read_to_string(file).map_err(|e| e.to_string())?;
    let name = file.file_name().map(|n| n.to_string_lossy().into_owned()).unwrap_or_default();
    let parse = |text: String, what: &str| -> Result<Module, String> {
        read(&Source::new(&name, text))
            .map_err(|e| format!("{what}: {}", first_line(&e.to_string())))
    };
    let module = parse(text, "not read")?;
    counts.read += 1;
    let mut problem = None;
    let mut note = |result: Result<(), String>| {
        if let Err(why) = result {
            problem.get_or_insert(why);
            return 0;
        }
        1
    };
    counts.round_trip += note(round_trip(&module, &parse));
    let mut after = module.program.clone();
    let simplified = PassManager::parse("inline,symbol-dce,simplify{float=nsz}")
        .map_err(|e| e.to_string())?
        .verify_each(true)
        .run(&mut after)
        .map(|_| ())
        .map_err(|e| format!("simplify: {e}"));
    counts.before += count_ops(&inlined(&module.program));
    counts.after += count_ops(&after);
    let mut exact = module.program.clone();
    let exactly = PassManager::parse("inline,symbol-dce,simplify")
        .map_err(|e| e.to_string())?
        .run(&mut exact)
        .map(|_| ())
        .map_err(|e| format!("simplify: {e}"));
    match read_model_data(file, &module.program) {
        Ok(None) => counts.without_values += 1,
        Ok(Some((inputs, outputs))) => {
            counts.values += note(run(&module.program, &inputs, &outputs, "before"));
            let then = simplified.and(exactly).and_then(|()| {
                run(&exact, &inputs, &outputs, "after simplify")?;
                run(&after, &inputs, &outputs, "after simplify{float=nsz}")
            });
            counts.values_after += note(then);
        }
        Err(why) => {
            note(Err(why));
        }
    }
    if let Some(out) = out {
        save(out, file, &module, &after)?;
    }
    problem.map_or(Ok(()), Err)
}

fn save(out: &Path, file: &Path, module: &Module, after: &Program) -> Result<(), String> {
    let mut name = file.file_stem().map(|n| n.to_string_lossy().into_owned()).unwrap_or_default();
    if name == "model" {
        let folder =
            file.parent().and_then(Path::file_name).map(|n| n.to_string_lossy().into_owned());
        name = folder.unwrap_or_default();
    }
    std::fs::create_dir_all(out).map_err(|e| e.to_string())?;
    for (kind, program) in [("before", &module.program), ("after", after)] {
        let text = write_program(program, &module.extras).map_err(|e| e.to_string())?;
        std::fs::write(out.join(format!("{name}.{kind}.mlir")), text).map_err(|e| e.to_string())?;
    }
    Ok(())
}

fn first_line(text: &str) -> &str {
    text.lines().next().unwrap_or("")
}

// Checks that the output reads back as the same program and prints as the same text.
fn round_trip(
    module: &Module,
    parse: &dyn Fn(String, &str) -> Result<Module, String>,
) -> Result<(), String> {
    let text = write(module).map_err(|e| format!("not printed: {e}"))?;
    let again = parse(text.clone(), "not read back")?;
    if !structural::equal(&module.program, &again.program, Mode::Ordered) {
        return Err("what is read back differs".into());
    }
    if write(&again).map_err(|e| e.to_string())? != text {
        return Err("what is printed again differs".into());
    }
    Ok(())
}

fn inlined(program: &Program) -> Program {
    let mut copy = program.clone();
    if let Ok(manager) = PassManager::parse("inline,symbol-dce") {
        let _ = manager.run(&mut copy);
    }
    copy
}

// Counts the ops that compute: not constants and terminators.
fn count_ops(program: &Program) -> usize {
    let computes = |name: &str| !matches!(name, "constant" | "return" | "yield");
    program
        .functions()
        .iter()
        .map(|f| f.walk().filter(|&inst| computes(f.op_name(inst))).count())
        .sum()
}

fn run(program: &Program, inputs: &[Value], outputs: &[Value], when: &str) -> Result<(), String> {
    let options = RunOptions { kernels: Some(check_call_kernels(None)), ..RunOptions::default() };
    let found = eval::run(program, "main", inputs, &options)
        .map_err(|e| format!("{when}: {}", shorten(&e.to_string())))?;
    for (i, (found, expected)) in found.iter().zip(outputs).enumerate() {
        let (Some(a), Some(b)) = (found.as_tensor(), expected.as_tensor()) else { continue };
        if a.ty() != b.ty() {
            return Err(format!("{when}: output {i} is {}, expected {}", a.ty(), b.ty()));
        }
        let far = |(x, y): (f64, f64)| {
            let near = (x - y).abs() <= TOLERANCE * y.abs().max(1.0);
            (!near && x != y && !(x.is_nan() && y.is_nan())).then_some((x, y))
        };
        if let Some((x, y)) = paired_elements(a, b).into_iter().find_map(far) {
            return Err(format!("{when}: output {i} has {x}, expected {y}"));
        }
    }
    Ok(())
}

fn shorten(text: &str) -> String {
    let line = first_line(text);
    if line.chars().count() <= 300 {
        return line.to_owned();
    }
    let (start, end): (String, Vec<char>) =
        (line.chars().take(120).collect(), line.chars().rev().take(170).collect());
    format!("{start} … {}", end.into_iter().rev().collect::<String>())
}

type Data = Option<(Vec<Value>, Vec<Value>)>;

fn read_model_data(file: &Path, program: &Program) -> Result<Data, String> {
    let Some(main) = program.function("main") else { return Ok(None) };
    if main.params().is_empty() {
        return Ok(Some((Vec::new(), Vec::new())));
    }
    let folder = file.parent().unwrap_or(Path::new("."));
    let mut sides = [Vec::new(), Vec::new()];
    let params = main.params().iter().map(|&v| main.value_type(v).clone()).collect::<Vec<_>>();
    let results = main.result_types().into_iter().cloned().collect::<Vec<_>>();
    for (side, (name, types)) in sides.iter_mut().zip([("in", params), ("out", results)]) {
        for (i, ty) in types.iter().enumerate() {
            let path = folder.join(format!("{name}_{i:03}.npy"));
            match std::fs::read(&path) {
                Ok(bytes) => {
                    side.push(
                        read_npy(&bytes, ty).ok_or(format!("{} is not read", path.display()))?,
                    );
                }
                Err(_) => return Ok(None),
            }
        }
    }
    let [inputs, outputs] = sides;
    Ok(Some((inputs, outputs)))
}

// Returns the elements of a NumPy file, whose header must agree with the type.
fn read_npy(bytes: &[u8], ty: &ValueType) -> Option<Value> {
    let ty = ty.as_tensor()?;
    let header = usize::from(u16::from_le_bytes([*bytes.get(8)?, *bytes.get(9)?]));
    let elements = bytes.get(10 + header..)?;
    let literal = TensorLiteral::new(ty.dtype, &ty.known_shape()?, elements).ok()?;
    Tensor::from_literal(&literal).ok().map(Value::Tensor)
}
