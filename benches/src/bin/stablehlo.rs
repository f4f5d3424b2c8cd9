//! StableHLO: parse, simplify, print and run. The peer is jaxlib on the same files.
//!
//! The programs are `NAME/model.mlir` below `$SAPWOOD_PROGRAMS`, or `programs/*.mlir`.
use std::path::PathBuf;
use std::sync::Arc;

use sapwood_benches::{Area, best, best_with};
use sapwood_ptir::Program;
use sapwood_ptir::eval::{Kernels, Prepared, RunOptions, Tensor, Value};
use sapwood_rewrite::PassManager;
use sapwood_runtime::FastKernels;
use sapwood_stablehlo::{Module, read, write};
use sapwood_types::Source;

/// The pipeline that corresponds to that of the peer: inline, then simplify.
const PIPELINE: &str = "inline,symbol-dce,simplify{float=nsz}";

/// The measured actions on every program.
const ACTIONS: [&str; 3] = ["parse", "simplify", "print"];

/// The sizes and values of one row over all programs.
#[derive(Default)]
struct Mean {
    logarithms: f64,
    programs: usize,
    n: u64,
}

impl Mean {
    fn add(&mut self, value: f64, n: u64) {
        self.logarithms += value.ln();
        self.programs += 1;
        self.n += n;
    }
}

fn main() {
    let area = Area::new("stablehlo");
    let mut means = [Mean::default(), Mean::default(), Mean::default()];
    let (mut total, mut size) = (0, 0);
    let programs = programs();
    for name in &programs {
        match measure(&area, name, &mut means) {
            Ok((left, n)) => (total, size) = (total + left, size + n),
            Err(why) => {
                for verb in ["parse", "simplify", "print", "left"] {
                    area.failed(&format!("{verb}/{name}"), &why);
                }
            }
        }
    }
    for (verb, mean) in ACTIONS.iter().zip(&means) {
        let value = (mean.logarithms / mean.programs as f64).exp();
        area.row(&format!("{verb}/mean"), value, "ns/node", mean.n);
    }
    area.row("left/total", total as f64, "ops", size);
    if let Err(why) = run(&area) {
        area.failed("run/mlp", &why);
    }
}

fn folder() -> PathBuf {
    let default = concat!(env!("CARGO_MANIFEST_DIR"), "/../programs");
    std::env::var_os("SAPWOOD_PROGRAMS").map_or_else(|| default.into(), PathBuf::from)
}

// Returns the folders with a `model.mlir`, or the two programs of the repository that are large enough.
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

fn load(name: &str) -> Result<(Source, Module), String> {
    let model = folder().join(name).join("model.mlir");
    let path = if model.is_file() { model } else { folder().join(format!("{name}.mlir")) };
    let text = std::fs::read_to_string(&path).map_err(|e| format!("{}: {e}", path.display()))?;
    let source = Source::new("bench.mlir", text);
    let module = read(&source).map_err(|problems| problems.to_string())?;
    Ok((source, module))
}

// Returns the number of ops without functions, as both sides count them.
fn count_ops(program: &Program) -> u64 {
    program.num_insts() as u64
}

fn count_non_constants(program: &Program) -> u64 {
    let counts = |name: &str| !matches!(name, "constant" | "return" | "yield");
    let count = |f: &Arc<sapwood_ptir::Function>| {
        f.walk().filter(|&inst| counts(f.op_name(inst))).count() as u64
    };
    program.functions().iter().map(count).sum()
}

// Measures a program, and returns the numbers of ops after and before simplification.
fn measure(area: &Area, name: &str, means: &mut [Mean; 3]) -> Result<(u64, u64), String> {
    let (source, module) = load(name)?;
    let n = count_ops(&module.program);
    let text = source.text().to_owned();
    // Small programs are measured with more repeats.
    let repeats = (40_000 / n.max(1) as usize).clamp(20, 400);
    let parse = || Source::new("bench.mlir", text.as_str());
    let parse = best_with(repeats, parse, |s| read(&s));
    let manager = PassManager::parse(PIPELINE).map_err(|e| e.to_string())?.threads(1);
    let copy = || module.program.clone();
    let simplify = best_with(repeats, copy, |mut program| manager.run(&mut program).is_ok());
    let print = best(repeats, || write(&module));
    for ((verb, time), mean) in ACTIONS.iter().zip([parse, simplify, print]).zip(means) {
        area.per_node(&format!("{verb}/{name}"), time, n);
        mean.add(time.as_secs_f64() * 1e9 / n as f64, n);
    }
    let mut after = module.program.clone();
    manager.run(&mut after).map_err(|e| e.to_string())?;
    area.row(&format!("left/{name}"), count_non_constants(&after) as f64, "ops", n);
    Ok((count_non_constants(&after), n))
}

fn run(area: &Area) -> Result<(), String> {
    let (_, module) = load("flax_mlp").or_else(|_| load("mlp"))?;
    let main = module.program.function("main").ok_or("no function `main`")?;
    let inputs: Vec<Value> = main
        .params()
        .iter()
        .map(|&param| {
            let ty = main.value_type(param).as_tensor().ok_or("a parameter is not a tensor")?;
            let shape: Vec<usize> =
                ty.known_shape().unwrap_or_default().iter().map(|&d| d as usize).collect();
            let elements = (0..shape.iter().product()).map(|i| (i % 7) as f32 * 0.1 - 0.3);
            Ok(Value::Tensor(Tensor::new(ty.dtype, &shape, elements.collect::<Vec<f32>>())))
        })
        .collect::<Result<_, String>>()?;
    let kernels: Arc<dyn Kernels> = Arc::new(FastKernels);
    let prepared =
        Prepared::new(&module.program, "main", Some(&*kernels)).map_err(|e| e.to_string())?;
    let options = RunOptions { kernels: Some(kernels), ..RunOptions::default() };
    area.millis("run/mlp", best(50, || prepared.run(&inputs, &options)), 1);
    Ok(())
}
