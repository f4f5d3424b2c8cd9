//! `opt` on ONNX models as whole processes, file to file. The peer is onnxsim on the same models.
//!
//! The models are those in `$SAPWOOD_MODELS`, or else one that is generated. With `sapwood` as its first argument, this binary runs the
//! `sapwood` command.
use std::path::{Path, PathBuf};
use std::process::{Command, ExitCode, Stdio};
use std::time::Duration;

use sapwood::onnx::{
    Attribute, AttributeValue, DimensionValue, ElementType, ExternalData, Graph, Model, Node,
    Tensor, Type, ValueInfo, WriteOptions, read_file, write_file,
};
use sapwood_benches::{Area, best};

/// The number of blocks of the generated model, of six nodes each.
const BLOCKS: usize = 500;
const WIDTH: i64 = 16;

fn main() -> ExitCode {
    let arguments: Vec<_> = std::env::args_os().skip(1).collect();
    if arguments.first().is_some_and(|first| first == "sapwood") {
        return sapwood::command::main(arguments);
    }
    let area = Area::new("onnx");
    if let Err(error) = measure(&area) {
        area.failed("opt/all", &error.to_string());
        area.failed("left/all", &error.to_string());
    }
    ExitCode::SUCCESS
}

fn measure(area: &Area) -> Result<(), Box<dyn std::error::Error>> {
    let folder = tempfile::tempdir()?;
    let models = match std::env::var_os("SAPWOOD_MODELS") {
        Some(models) => models_in(Path::new(&models))?,
        None => {
            let path = folder.path().join("blocks.onnx");
            let options = WriteOptions::default();
            write_file(&path, &blocks(), &ExternalData::default(), &options)?;
            vec![path]
        }
    };
    let program = std::env::current_exe()?;
    let out = folder.path().join("out.onnx");
    let (mut total, mut left) = (Duration::ZERO, 0);
    for model in &models {
        let run = || {
            let mut command = Command::new(&program);
            command.args(["sapwood", "opt", "--float", "fast", "-q", "-o"]).arg(&out).arg(model);
            command.stdout(Stdio::null()).stderr(Stdio::null()).status()
        };
        if !run()?.success() {
            return Err(format!("{} was refused", model.display()).into());
        }
        total += best(3, run);
        left += read_file(&out)?.0.count_nodes();
    }
    area.millis("opt/all", total, models.len() as u64);
    area.row("left/all", left as f64, "nodes", models.len() as u64);
    Ok(())
}

fn models_in(folder: &Path) -> std::io::Result<Vec<PathBuf>> {
    let entries = std::fs::read_dir(folder)?.collect::<Result<Vec<_>, _>>()?;
    let paths = entries.into_iter().map(|entry| entry.path());
    let mut models: Vec<PathBuf> =
        paths.filter(|path| path.extension().is_some_and(|e| e == "onnx")).collect();
    models.sort();
    Ok(models)
}

// A chain of blocks: a product, a sum, Relu, a copy, and two transpositions that cancel each other.
fn blocks() -> Model {
    let (mut nodes, mut weights, mut last) = (Vec::new(), Vec::new(), "x".to_owned());
    let mut add = |op: &str, inputs: &[&str], output: String, perm: bool| {
        let attribute = match perm {
            true => vec![Attribute::new("perm", AttributeValue::Ints(vec![1, 0]))],
            false => Vec::new(),
        };
        nodes.push(Node { attribute, ..Node::new(op, inputs, &[&output]) });
        output
    };
    for i in 0..BLOCKS {
        for (name, dims) in [("w", vec![WIDTH, WIDTH]), ("b", vec![WIDTH])] {
            let count = dims.iter().product::<i64>();
            let numbers = (0..count).flat_map(|n| (((n % 7) - 3) as f32 / 16.0).to_le_bytes());
            let bytes: Vec<u8> = numbers.collect();
            let name = format!("{name}{i}");
            weights.push(Tensor::from_raw(name, ElementType::Float, dims, bytes.into()));
        }
        let product = add("MatMul", &[&last, &format!("w{i}")], format!("p{i}"), false);
        let sum = add("Add", &[&product, &format!("b{i}")], format!("s{i}"), false);
        let relu = add("Relu", &[&sum], format!("r{i}"), false);
        let copy = add("Identity", &[&relu], format!("c{i}"), false);
        let turned = add("Transpose", &[&copy], format!("t{i}"), true);
        last = add("Transpose", &[&turned], format!("u{i}"), true);
    }
    let info = |name: &str| {
        let dims = [DimensionValue::Param("batch".into()), DimensionValue::Value(WIDTH)];
        ValueInfo::new(name, Type::tensor(Some(ElementType::Float.code()), dims.map(Some)))
    };
    let graph = Graph {
        name: Some("blocks".into()),
        node: nodes,
        initializer: weights,
        input: vec![info("x")],
        output: vec![info(&last)],
        ..Graph::default()
    };
    Model::new(graph, 8, 17)
}
