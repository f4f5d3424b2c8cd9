//! Generation of the reference page of ops from their definitions.

use std::fmt::Write;

use super::op_def::{EffectRule, Effects, OpDef, OperandDef, OperandKind, ResultCount};
use super::registry::Registry;
use crate::attr::{Attr, AttrKind};

const COMPUTATION_RULES: &str = "
## How elements are computed

- Integers wrap; `i4` and `u4` wrap at four bits.
- `f32` and `f64` follow IEEE 754 and round to nearest even. No operations are fused or reordered. `f16`, `bf16` and the
  8-bit floats are computed as `f32` (functions such as `exp` as `f64`) and rounded to nearest even.
- Functions such as `exp` have one implementation in Rust, which gives the same result on every machine. For `f32` and
  narrower floats they are computed as `f64` and rounded; for `c64` they are computed with 64-bit parts.
- Every computed NaN is positive, quiet and without payload. Ops that only move elements keep their bits.
- Sums and products of many elements are computed one element after the other, in the order that the op defines.

The default backend of `run` may use faster kernels. Their results may differ by at most the following bounds. Here `n` is
the number of elements that are summed or multiplied, and `eps` is the distance from 1 to the next number of the
accumulation type. NaNs are not distinguished.

| ops | bound |
| --- | --- |
| ops on integers and bools; ops that move, select, compare or convert elements; `add`, `sub`, `mul`, `div`, `rem`, `neg`, `abs`, `sign`, `min`, `max`, `sqrt` and rounding of floats; `rng_bits`, `rng_uniform` | equal |
| other functions of one or two floats | 4 units in the last place; 1 for 16-bit and 8-bit floats |
| functions of complex numbers, including `mul` and `div` | 16 units in the last place of the larger part |
| sums of products or of elements (`reduce_sum`, `dot_general`, `convolution`, `reduce_window`, `fft`) | `n * eps` times the sum of the absolute values |
| `reduce_prod` | `2 * n * eps` times the product |
| `cholesky`, `triangular_solve` | a residual of `8 * n * eps` times the norms of the factors |
";

/// The properties that the ops of a family share, by the name of the family.
const FAMILY_NOTES: [(&str, &str); 3] = [
    (
        "unary",
        "Elementwise ops of one operand. Unless documented otherwise, the result has the type of the operand, and NaN \
         gives NaN.\nWhere overflow gives infinity, `f8e4m3fn`, which has no infinity, gives NaN.",
    ),
    (
        "binary",
        "Elementwise ops of two operands. Unless documented otherwise, both operands and the result have the same type.",
    ),
    ("control", "Control flow and terminators. Regions may use values of the enclosing bodies."),
];

/// Returns the text of `docs/reference/ops.md`: every op by family, with its operands, attributes and semantics.
#[must_use]
pub fn ops_reference_page(registry: &Registry) -> String {
    let mut out = String::from(
        "# Ops\n\nGenerated from the doc comments of the op tables; do not edit.\n\nEvery op is total: its results for \
         division by zero, overflow, NaN, out-of-bounds indices and empty inputs are defined,\nand are the same on every \
         machine. Broadcasting and type promotion are never implicit.\n\nThe line *In Rust* has the type in `sapwood::ptir::ops`, as patterns and builders \
         use it; its fields are operands, regions and attributes.\n",
    );
    write_stops(&mut out, registry);
    out.push_str(COMPUTATION_RULES);
    let mut families: Vec<&str> = Vec::new();
    for def in registry.defs() {
        if !families.contains(&def.family) {
            families.push(def.family);
        }
    }
    for family in families {
        let _ = write!(out, "\n## {family}\n");
        if let Some((_, notes)) = FAMILY_NOTES.iter().find(|(name, _)| *name == family) {
            let _ = write!(out, "\n{notes}\n");
        }
        for def in registry.defs().filter(|d| d.family == family) {
            write_op(&mut out, def);
        }
    }
    out
}

fn write_stops(out: &mut String, registry: &Registry) {
    let names: Vec<String> =
        registry.defs().filter(|def| def.may_stop).map(|def| format!("`{}`", def.name)).collect();
    let _ = write!(
        out,
        "\n## Ops that can stop a run\n\nA run stops with an error at {}: a `refine` whose operand does not have the declared \
         extents, a call whose\narguments do not fit the symbols or the `where` clause of the function, a custom call that nothing implements. It also \
         stops at an op whose dims were\nnot known before the run and do not fit, such as `add` of `f32[?A]` and `f32[?B]`.\n\n\
         A rewrite may replace a stop by anything, and never adds one. An instruction that can stop a run is therefore not moved \
         out of a\nbranch or a loop, not computed speculatively, and not copied to a place that did not run it. Dead \
         instructions may be deleted.\n",
        names.join(", ")
    );
}

// Writes the fields of the Rust type: ``In Rust: `Transpose { input: Value, perm: Axes }` ``.
fn write_rust_type(out: &mut String, def: &OpDef) {
    let operands = def.operands.iter().chain(&def.regions).map(|operand| {
        let ty = match operand.kind {
            OperandKind::One => "Value",
            OperandKind::Optional => "OptValue",
            OperandKind::Variadic => "Values",
            OperandKind::Region => "Body",
            OperandKind::Regions => "Bodies",
        };
        format!("{}: {ty}", operand.name)
    });
    let attrs = def.attrs.iter().map(|a| format!("{}: {}", a.name, without_paths(a.field_type)));
    let fields: Vec<String> = operands.chain(attrs).collect();
    let fields = match fields.is_empty() {
        true => "{}".to_owned(),
        false => format!("{{ {} }}", fields.join(", ")),
    };
    let _ = write!(out, "\nIn Rust: `{} {fields}`\n", def.rust_type);
}

// Returns the name of a type without the paths in it: `Option<Arc<str>>`.
fn without_paths(name: &str) -> String {
    let mut short = String::new();
    for part in name.split_inclusive(['<', '>', ',', ' ', '(', ')', '[', ']', '&']) {
        short += part.rsplit("::").next().unwrap_or(part);
    }
    short
}

fn write_op(out: &mut String, def: &OpDef) {
    let _ = write!(out, "\n### `{}`\n\n", def.name);
    let show = |list: &[OperandDef]| {
        let names = list.iter().map(|o| match o.kind {
            OperandKind::One | OperandKind::Region => o.name.to_owned(),
            OperandKind::Optional => format!("[{}]", o.name),
            OperandKind::Variadic | OperandKind::Regions => format!("{}...", o.name),
        });
        names.collect::<Vec<_>>().join(", ")
    };
    let _ = write!(out, "`{}({})", def.name, show(&def.operands));
    if !def.regions.is_empty() {
        let _ = write!(out, " regions({})", show(&def.regions));
    }
    out.push_str(match def.results {
        ResultCount::None => "`",
        ResultCount::One => " -> one result`",
        ResultCount::Many => " -> results`",
    });
    let mut flags: Vec<String> = Vec::new();
    match def.effects {
        EffectRule::Always(Effects::Pure) => {}
        EffectRule::Always(Effects::Ordered) => flags.push("ordered".into()),
        EffectRule::UnlessFalse(attr) => flags.push(format!("ordered unless `{attr}` is false")),
    }
    for (flag, name) in [
        (def.commutative, "commutative"),
        (def.elementwise, "elementwise"),
        (def.terminator, "terminator"),
        (!def.foldable, "never folded"),
        (def.may_stop, "may stop a run"),
    ] {
        if flag {
            flags.push(name.into());
        }
    }
    if !flags.is_empty() {
        let _ = write!(out, " ({})", flags.join(", "));
    }
    let _ = write!(out, "\n\n{}\n", def.doc);
    write_rust_type(out, def);
    let rows: Vec<_> = def.attrs.iter().filter(|a| a.kind != AttrKind::ResultType).collect();
    if rows.is_empty() {
        return;
    }
    out.push_str("\n| attribute | value | default | meaning |\n| --- | --- | --- | --- |\n");
    for row in rows {
        let default = match &row.default {
            None => "required".into(),
            Some(Attr::Unit) => String::new(),
            Some(attr) => {
                let mut text = String::new();
                crate::text::write_attr(
                    &mut text,
                    attr,
                    &mut crate::text::LongLiteralMode::Written,
                );
                format!("`{text}`")
            }
        };
        let _ = writeln!(
            out,
            "| `{}` | {} | {default} | {} |",
            row.name,
            row.kind.describe(),
            row.doc.replace('\n', " ")
        );
    }
}
