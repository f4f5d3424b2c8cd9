//! PTIR: parse, print, verify and memory, on programs that `benches/peers/ptir.py` writes for mlir-opt.
use std::fmt::Write;

use sapwood_benches::{Area, best};
use sapwood_ptir::{ParseOptions, parse_options, verify};

/// A chain of elementwise ops on one type: nothing to simplify.
fn chain(ops: usize) -> String {
    let mut text = String::from("ptir 1\n\nfunc @main(%x: f32[64], %y: f32[64]) -> f32[64] {\n");
    let (mut a, mut b) = ("x".to_owned(), "y".to_owned());
    for i in 0..ops {
        let _ = match i % 4 {
            0 => writeln!(text, "  %{i} = add %{a}, %{b} : f32[64]"),
            1 => writeln!(text, "  %{i} = mul %{a}, %{b} : f32[64]"),
            2 => writeln!(text, "  %{i} = sub %{a}, %{b} : f32[64]"),
            _ => writeln!(text, "  %{i} = exp %{a} : f32[64]"),
        };
        b = std::mem::replace(&mut a, i.to_string());
    }
    let _ = writeln!(text, "  return %{a}\n}}");
    text
}

/// Blocks of reshape, transpose, matrix product, reductions and elementwise ops, as transformers have them.
fn blocks(ops: usize) -> String {
    let mut text = String::from(
        "ptir 1\n\nfunc @main(%x: f32[1, 64, 64], %w: f32[1, 64, 64]) -> f32[1, 64, 64] {\n",
    );
    let mut x = "x".to_owned();
    let mut n = 0usize;
    while n + 10 <= ops {
        let at = |k: usize| n + k;
        let t = "f32[1, 64, 64]";
        let _ = write!(
            text,
            "  %{} = transpose %{x} {{perm = [0, 2, 1]}} : {t}\n  \
             %{} = dot_general %{x}, %w {{lhs_batch = [0], rhs_batch = [0], lhs_contract = [2], rhs_contract = [1]}} : {t}\n  \
             %{} = reduce_max %{} {{axes = [2], keepdims = true}} : f32[1, 64, 1]\n  \
             %{} = broadcast_to %{} : {t}\n  %{} = sub %{}, %{} : {t}\n  %{} = exp %{} : {t}\n  \
             %{} = reduce_sum %{} {{axes = [2], keepdims = true}} : f32[1, 64, 1]\n  \
             %{} = reshape %{} : f32[64, 64]\n  %{} = reshape %{} : {t}\n  %{} = add %{}, %{} : {t}\n",
            at(0),
            at(1),
            at(2),
            at(1),
            at(3),
            at(2),
            at(4),
            at(1),
            at(3),
            at(5),
            at(4),
            at(6),
            at(5),
            at(7),
            at(5),
            at(8),
            at(7),
            at(9),
            at(8),
            at(0),
        );
        n += 10;
        x = (n - 1).to_string();
    }
    let _ = writeln!(text, "  return %{x}\n}}");
    text
}

fn main() {
    let area = Area::new("ptir");
    for (kind, make) in [("chain", chain as fn(usize) -> String), ("blocks", blocks)] {
        for (size, ops) in [("1e4", 10_000usize), ("1e5", 100_000), ("1e6", 1_000_000)] {
            let text = make(ops);
            let options = ParseOptions::new().file("bench.ptir");
            let plain = options.clone().verify(false);
            let repeats = if ops > 500_000 { 3 } else { 7 };
            let Ok(program) = parse_options(&text, &options) else {
                area.failed(&format!("parse/{kind}/{size}"), "the program does not parse");
                continue;
            };
            let n = ops as u64;
            area.per_node(
                &format!("parse/{kind}/{size}"),
                best(repeats, || parse_options(&text, &options)),
                n,
            );
            area.per_node(
                &format!("read/{kind}/{size}"),
                best(repeats, || parse_options(&text, &plain)),
                n,
            );
            area.per_node(
                &format!("print/{kind}/{size}"),
                best(repeats, || program.to_string()),
                n,
            );
            area.per_node(&format!("verify/{kind}/{size}"), best(repeats, || verify(&program)), n);
            let bytes: usize = program.functions().iter().map(|f| f.memory()).sum();
            area.row(&format!("memory/{kind}/{size}"), bytes as f64 / ops as f64, "bytes/node", n);
        }
    }
}
