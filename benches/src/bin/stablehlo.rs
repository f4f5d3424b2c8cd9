//! StableHLO: parse, simplify, print and run, beside jaxlib on the same files.
//!
//! The programs are `programs/*.mlir`, or other files of these names below `$SAPWOOD_PROGRAMS`.
use std::path::PathBuf;
use std::sync::Arc;

use sapwood_benches::{Area, best, best_with};
use sapwood_ptir::Program;
use sapwood_ptir::eval::{Kernels, Prepared, RunOptions, Tensor, Value};
use sapwood_rewrite::PassManager;
use sapwood_runtime::FastKernels;
use sapwood_stablehlo::{Module, read, write};
use sapwood_types::Source;

/// What both sides do: inline, then simplify.
const PIPELINE: &str = "inline,symbol-dce,simplify{float=nsz}";

fn main() {
    let area = Area::new("stablehlo");
    for name in ["transformer", "train_step"] {
        if let Err(why) = measure(&area, name) {
            for verb in ["parse", "simplify", "print", "left"] {
                area.failed(&format!("{verb}/{name}"), &why);
            }
        }
    }
    if let Err(why) = run(&area) {
        area.failed("run/mlp", &why);
    }
}

fn load(name: &str) -> Result<(Source, Module), String> {
    let default = concat!(env!("CARGO_MANIFEST_DIR"), "/../programs");
    let folder = std::env::var("SAPWOOD_PROGRAMS").unwrap_or_else(|_| default.to_owned());
    let path = PathBuf::from(folder).join(format!("{name}.mlir"));
    let text = std::fs::read_to_string(&path).map_err(|e| format!("{}: {e}", path.display()))?;
    let source = Source::new("bench.mlir", text);
    let module = read(&source).map_err(|problems| problems.to_string())?;
    Ok((source, module))
}

// Every op of the text but functions: what both sides count.
fn ops(program: &Program) -> u64 {
    program.num_insts() as u64
}

fn left(program: &Program) -> u64 {
    let counts = |name: &str| !matches!(name, "constant" | "return" | "yield");
    let count = |f: &Arc<sapwood_ptir::Function>| {
        f.walk().filter(|&inst| counts(f.op_name(inst))).count() as u64
    };
    program.functions().iter().map(count).sum()
}

fn measure(area: &Area, name: &str) -> Result<(), String> {
    let (source, module) = load(name)?;
    let n = ops(&module.program);
    let text = source.text().to_owned();
    let parse = best_with(200, || Source::new("bench.mlir", text.as_str()), |s| read(&s).is_ok());
    area.per_node(&format!("parse/{name}"), parse, n);
    let manager = PassManager::parse(PIPELINE).map_err(|e| e.to_string())?.threads(1);
    let simplify =
        best_with(100, || module.program.clone(), |mut program| manager.run(&mut program).is_ok());
    area.per_node(&format!("simplify/{name}"), simplify, n);
    area.per_node(&format!("print/{name}"), best(200, || write(&module)), n);
    let mut after = module.program.clone();
    manager.run(&mut after).map_err(|e| e.to_string())?;
    area.row(&format!("left/{name}"), left(&after) as f64, "ops", n);
    Ok(())
}

fn run(area: &Area) -> Result<(), String> {
    let (_, module) = load("mlp")?;
    let main = module.program.function("main").ok_or("there is no main")?;
    let inputs: Vec<Value> = main
        .params()
        .iter()
        .map(|&param| {
            let ty = main.value_type(param).as_tensor().ok_or("a parameter is no tensor")?;
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
