//! Messages about instructions quote the file.

use std::fs;

use sapwood_ptir::{InstPrinter, Program};
use sapwood_testing::repository;
use sapwood_types::Source;

fn read(name: &str, text: &str) -> Program {
    let source = Source::new(name, text);
    let mut program = sapwood_stablehlo::read(&source).unwrap().program;
    program.set_quoted_source(&source);
    program
}

// Returns the text as one line.
fn as_one_line(text: &str) -> String {
    text.split_whitespace().collect::<Vec<_>>().join(" ")
}

#[test]
fn messages_quote_the_statements_of_the_file() {
    let mut quoted = 0;
    for entry in fs::read_dir(repository().join("programs")).unwrap() {
        let path = entry.unwrap().path();
        if path.extension().is_none_or(|e| e != "mlir") {
            continue;
        }
        let text = fs::read_to_string(&path).unwrap();
        let lines = as_one_line(&text);
        for f in read(&path.display().to_string(), &text).functions() {
            let mut printer = InstPrinter::new(f);
            for inst in f.walk() {
                let shown = printer.print(inst);
                let is_file = lines.contains(&shown);
                let abridged = shown.contains("...");
                let applied = f.body_of(inst) != Some(f.body());
                assert!(is_file || abridged || applied, "{}: {shown}", path.display());
                quoted += usize::from(is_file);
            }
        }
    }
    assert!(quoted > 400, "{quoted}");
}

#[test]
fn messages_use_the_names_of_the_file() {
    let text = "func.func @main(%7: tensor<f32>, %a$b: tensor<f32>) -> (tensor<f32>, tensor<f32>) {
  %40 = stablehlo.add %7, %a$b : tensor<f32>
  %c = stablehlo.constant dense<true> : tensor<i1>
  %41:2 = \"stablehlo.if\"(%c) ({
    %50 = stablehlo.negate %40 : tensor<f32>
    stablehlo.return %50, %7 : tensor<f32>, tensor<f32>
  }, {
    %50 = stablehlo.exponential %40 : tensor<f32>
    stablehlo.return %50, %40 : tensor<f32>, tensor<f32>
  }) : (tensor<i1>) -> (tensor<f32>, tensor<f32>)
  %42 = stablehlo.log_plus_one %41#1 : tensor<f32>
  return %41#0, %42 : tensor<f32>, tensor<f32>
}
";
    let program = read("names.mlir", text);
    let f = &program.functions()[0];
    let mut printer = InstPrinter::new(f);
    let shown: Vec<String> = f.walk().map(|inst| printer.print(inst)).collect();
    assert_eq!(
        shown,
        [
            "%40 = stablehlo.add %7, %a$b : tensor<f32>",
            "%c = stablehlo.constant dense<true> : tensor<i1>",
            "%41:2 = \"stablehlo.if\"(%c) ({ ... }, { ... }) : (tensor<i1>) -> (tensor<f32>, tensor<f32>)",
            "%50 = stablehlo.negate %40 : tensor<f32>",
            "stablehlo.return %50, %7 : tensor<f32>, tensor<f32>",
            "%50 = stablehlo.exponential %40 : tensor<f32>",
            "stablehlo.return %50, %40 : tensor<f32>, tensor<f32>",
            "%42 = stablehlo.log_plus_one %41#1 : tensor<f32>",
            "return %41#0, %42 : tensor<f32>, tensor<f32>",
        ]
    );
    let ops: Vec<String> = f.walk().map(|inst| printer.op(inst)).take(3).collect();
    assert_eq!(ops, ["stablehlo.add", "stablehlo.constant", "stablehlo.if"]);
    let params: Vec<String> = f.params().iter().map(|&v| printer.value(v)).collect();
    assert_eq!(params, ["%7", "%a$b"]);
}

#[test]
fn a_changed_instruction_is_not_quoted() {
    let text = "func.func @main(%0: tensor<f32>, %1: tensor<f32>) -> tensor<f32> {
  %9 = stablehlo.subtract %0, %1 : tensor<f32>
  return %9 : tensor<f32>
}
";
    let mut program = read("changed.mlir", text);
    let before = program.to_string();
    let f = program.function_mut("main").unwrap();
    let (inst, params) = (f.walk().next().unwrap(), f.params().to_vec());
    f.set_operand(inst, 0, params[1]).unwrap();
    f.set_operand(inst, 1, params[0]).unwrap();
    let mut printer = InstPrinter::new(f);
    assert_eq!(printer.print(inst), "%9 = sub %1, %0 : f32[]");
    assert!(before.contains("%2 = sub %0, %1 : f32[]"), "the whole program has names of its own");
}
