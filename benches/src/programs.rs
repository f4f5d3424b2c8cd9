//! The benchmark programs as PTIR text. `benches/peers/programs.py` writes them for mlir-opt, with the same ops and data flow.

use std::fmt::Write;

/// A kind of program: its name in rows, and a function that returns its text with about this number of ops.
pub type ProgramKind = (&'static str, fn(usize) -> String);

/// The kinds of programs for the benchmarks of rewriting.
pub const KINDS: [ProgramKind; 8] = [
    ("blocks", blocks),
    ("nothing", chain),
    ("identities", identities),
    ("shapes", shapes),
    ("duplicates", duplicates),
    ("dead", dead),
    ("constants", constants),
    ("sums", sums),
];

/// A chain of elementwise ops on one type: nothing to simplify.
#[must_use]
pub fn chain(ops: usize) -> String {
    let mut text = String::from("ptir 1\n\nfunc @main(%x: f32[64], %y: f32[64]) -> f32[64] {\n");
    let (mut a, mut b) = ("x".to_owned(), "y".to_owned());
    for i in 0..ops {
        let _ = writeln!(text, "  %{i} = {} : f32[64]", step(i, &a, &b));
        b = std::mem::replace(&mut a, i.to_string());
    }
    let _ = writeln!(text, "  return %{a}\n}}");
    text
}

/// Returns the text of op `i` of a chain: a sum, a product, a difference or an exponential.
fn step(i: usize, a: &str, b: &str) -> String {
    match i % 4 {
        0 => format!("add %{a}, %{b}"),
        1 => format!("mul %{a}, %{b}"),
        2 => format!("sub %{a}, %{b}"),
        _ => format!("exp %{a}"),
    }
}

/// Blocks of reshape, transpose, matrix product, reductions and elementwise ops, as transformers have them.
#[must_use]
pub fn blocks(ops: usize) -> String {
    blocks_of(ops, ["1", "64"], "64")
}

/// Blocks like [`blocks`] with other extents: the batch, the two others, and their product with the batch.
#[must_use]
pub fn blocks_of(ops: usize, [batch, rows]: [&str; 2], flat: &str) -> String {
    let t = &format!("f32[{batch}, {rows}, {rows}]");
    let mut text = format!("ptir 1\n\nfunc @main(%x: {t}, %w: {t}) -> {t} {{\n");
    let mut x = "x".to_owned();
    for n in (0..ops / 10).map(|block| block * 10) {
        let v: Vec<usize> = (n..n + 10).collect();
        let dims = "{lhs_batch = [0], rhs_batch = [0], lhs_contract = [2], rhs_contract = [1]}";
        let along = format!("{{axes = [2], keepdims = true}} : f32[{batch}, {rows}, 1]");
        let _ = writeln!(text, "  %{} = transpose %{x} {{perm = [0, 2, 1]}} : {t}", v[0]);
        let _ = writeln!(text, "  %{} = dot_general %{x}, %w {dims} : {t}", v[1]);
        let _ = writeln!(text, "  %{} = reduce_max %{} {along}", v[2], v[1]);
        let _ = writeln!(text, "  %{} = broadcast_to %{} : {t}", v[3], v[2]);
        let _ = writeln!(text, "  %{} = sub %{}, %{} : {t}", v[4], v[1], v[3]);
        let _ = writeln!(text, "  %{} = exp %{} : {t}", v[5], v[4]);
        let _ = writeln!(text, "  %{} = reduce_sum %{} {along}", v[6], v[5]);
        let _ = writeln!(text, "  %{} = reshape %{} : f32[{flat}, {rows}]", v[7], v[5]);
        let _ = writeln!(text, "  %{} = reshape %{} : {t}", v[8], v[7]);
        let _ = writeln!(text, "  %{} = add %{}, %{} : {t}", v[9], v[8], v[0]);
        x = v[9].to_string();
    }
    let _ = writeln!(text, "  return %{x}\n}}");
    text
}

/// A chain in which every second op adds zero or multiplies by one.
#[must_use]
pub fn identities(ops: usize) -> String {
    let t = "i32[64]";
    let mut text = format!(
        "ptir 1\n\nfunc @main(%x: {t}, %y: {t}) -> {t} {{\n  \
         %zero = constant 0 : {t}\n  %one = constant 1 : {t}\n"
    );
    let mut a = "x".to_owned();
    for i in 0..ops {
        let (op, b) = [("add", "y"), ("add", "zero"), ("mul", "y"), ("mul", "one")][i % 4];
        let _ = writeln!(text, "  %{i} = {op} %{a}, %{b} : {t}");
        a = i.to_string();
    }
    let _ = writeln!(text, "  return %{a}\n}}");
    text
}

/// Pairs of transposes and of reshapes that undo each other, casts to the same type, and a sum.
#[must_use]
pub fn shapes(ops: usize) -> String {
    shapes_of(ops, ["1", "64", "32"], "64")
}

/// A program like [`shapes`] with other extents, and the product of the first two.
#[must_use]
pub fn shapes_of(ops: usize, [a, b, c]: [&str; 3], flat: &str) -> String {
    let (t, turned) = (format!("f32[{a}, {b}, {c}]"), format!("f32[{a}, {c}, {b}]"));
    let flat = format!("f32[{flat}, {c}]");
    let mut text = format!("ptir 1\n\nfunc @main(%x: {t}) -> {t} {{\n");
    let mut x = "x".to_owned();
    for n in (0..ops / 6).map(|group| group * 6) {
        let v: Vec<usize> = (n..n + 6).collect();
        let _ = writeln!(text, "  %{} = transpose %{x} {{perm = [0, 2, 1]}} : {turned}", v[0]);
        let _ = writeln!(text, "  %{} = transpose %{} {{perm = [0, 2, 1]}} : {t}", v[1], v[0]);
        let _ = writeln!(text, "  %{} = reshape %{} : {flat}", v[2], v[1]);
        let _ = writeln!(text, "  %{} = reshape %{} : {t}", v[3], v[2]);
        let _ = writeln!(text, "  %{} = cast %{} : {t}", v[4], v[3]);
        let _ = writeln!(text, "  %{} = add %{}, %x : {t}", v[5], v[4]);
        x = v[5].to_string();
    }
    let _ = writeln!(text, "  return %{x}\n}}");
    text
}

/// Ten equal parallel chains with a sum at the end: duplicates of duplicates.
#[must_use]
pub fn duplicates(ops: usize) -> String {
    let mut text = String::from("ptir 1\n\nfunc @main(%x: f32[64], %y: f32[64]) -> f32[64] {\n");
    let mut a = vec!["x".to_owned(); 10];
    let mut b = vec!["y".to_owned(); 10];
    for layer in 0..ops / 10 {
        for copy in 0..10 {
            let i = layer * 10 + copy;
            let _ = writeln!(text, "  %{i} = {} : f32[64]", step(layer, &a[copy], &b[copy]));
            b[copy] = std::mem::replace(&mut a[copy], i.to_string());
        }
    }
    let mut sum = a[0].clone();
    for (copy, a) in a.iter().enumerate().skip(1) {
        let _ = writeln!(text, "  %s{copy} = add %{sum}, %{a} : f32[64]");
        sum = format!("s{copy}");
    }
    let _ = writeln!(text, "  return %{sum}\n}}");
    text
}

/// One of a hundred ops is used; the others are chains of dead ops.
#[must_use]
pub fn dead(ops: usize) -> String {
    let mut text = String::from("ptir 1\n\nfunc @main(%x: f32[64], %y: f32[64]) -> f32[64] {\n");
    let (mut a, mut b) = ("x".to_owned(), "y".to_owned());
    let mut live = a.clone();
    for i in 0..ops {
        let _ = writeln!(text, "  %{i} = {} : f32[64]", step(i % 100, &a, &b));
        (b, a) = (live.clone(), i.to_string());
        if i % 100 == 0 {
            live = i.to_string();
        } else if i % 100 == 99 {
            a.clone_from(&live);
        }
    }
    let _ = writeln!(text, "  return %{live}\n}}");
    text
}

/// A balanced tree of sums over different constants; half of the ops are the constants.
#[must_use]
pub fn constants(ops: usize) -> String {
    let mut text = String::from("ptir 1\n\nfunc @main() -> i32[64] {\n");
    let leaves = ops.div_ceil(2);
    for i in 0..leaves {
        let _ = writeln!(text, "  %{i} = constant {i} : i32[64]");
    }
    // Each sum adds the next two unused values.
    for i in leaves..2 * leaves - 1 {
        let first = 2 * (i - leaves);
        let _ = writeln!(text, "  %{i} = add %{first}, %{} : i32[64]", first + 1);
    }
    let _ = writeln!(text, "  return %{}\n}}", 2 * leaves - 2);
    text
}

/// `x + 1 + 2 + …`; on scalars; half of the ops are the constants.
#[must_use]
pub fn sums(ops: usize) -> String {
    let mut text = String::from("ptir 1\n\nfunc @main(%x: i32[]) -> i32[] {\n");
    let mut a = "x".to_owned();
    for i in 0..ops / 2 {
        let _ = writeln!(text, "  %c{i} = constant {} : i32[]", i + 1);
        let _ = writeln!(text, "  %{i} = add %{a}, %c{i} : i32[]");
        a = i.to_string();
    }
    let _ = writeln!(text, "  return %{a}\n}}");
    text
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_kind_is_a_program_of_about_the_requested_size() {
        for (kind, make) in KINDS {
            let program =
                sapwood_ptir::parse(&make(1000)).unwrap_or_else(|e| panic!("{kind}: {e}"));
            assert!((990..=1020).contains(&program.num_insts()), "{kind}: {}", program.num_insts());
        }
    }
}
