//! PTIR: parse, print, verify and memory. The peer is mlir-opt on the same programs.
use sapwood_benches::programs::{ProgramKind, blocks, chain};
use sapwood_benches::{Area, best, sizes};
use sapwood_ptir::{ParseOptions, parse_with, verify};

fn main() {
    let area = Area::new("ptir");
    let kinds: [ProgramKind; 2] = [("chain", chain), ("blocks", blocks)];
    for (kind, make) in kinds {
        for &(size, ops) in sizes() {
            let text = make(ops);
            let options = ParseOptions::new().file("bench.ptir");
            let plain = options.clone().verify(false);
            let repeats = if ops > 500_000 { 3 } else { 7 };
            let Ok(program) = parse_with(&text, &options) else {
                area.failed(&format!("parse/{kind}/{size}"), "the program does not parse");
                continue;
            };
            let n = ops as u64;
            area.per_node(
                &format!("parse/{kind}/{size}"),
                best(repeats, || parse_with(&text, &options)),
                n,
            );
            area.per_node(
                &format!("read/{kind}/{size}"),
                best(repeats, || parse_with(&text, &plain)),
                n,
            );
            area.per_node(
                &format!("print/{kind}/{size}"),
                best(repeats, || program.to_string()),
                n,
            );
            area.per_node(&format!("verify/{kind}/{size}"), best(repeats, || verify(&program)), n);
            let bytes: usize = program.functions().iter().map(|f| f.memory_bytes()).sum();
            area.row(&format!("memory/{kind}/{size}"), bytes as f64 / ops as f64, "bytes/node", n);
        }
    }
}
