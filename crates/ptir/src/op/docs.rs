//! The reference of ops, made from the tables.

use std::fmt::Write;

use super::def::{EffectRule, Effects, OpDef, OperandDef, OperandKind, ResultCount};
use super::registry::Registry;
use crate::attr::{Attr, AttrKind};

const COMPUTING: &str = "
## How elements are computed

- Integers wrap; `i4` and `u4` at four bits.
- `f32` and `f64` follow IEEE 754 and round to nearest even; nothing is fused or reordered. `f16`, `bf16` and the 8-bit
  floats are computed as `f32` (functions such as `exp` as `f64`) and rounded to nearest even.
- Functions such as `exp` come from one implementation in Rust, the same on every machine. Those of `f32` and of narrower
  floats are computed as `f64` and rounded; those of `c64` with 64-bit parts.
- Every NaN that is computed is positive, quiet and has no payload. Ops that move elements keep their bits.
- Sums and products over many elements take them one after the other, in the order the op says.

`run` may use faster kernels. They may differ from this only so far, for `n` elements that are summed or multiplied and `eps`
the distance from 1 to the next number of the accumulation type; which NaN it is never counts:

| ops | how far |
| --- | --- |
| on integers and bools; those that move, choose, compare or convert; `add`, `sub`, `mul`, `div`, `rem`, `neg`, `abs`, `sign`, `min`, `max`, `sqrt` and rounding of floats; `rng_bits`, `rng_uniform` | not at all |
| other functions of one or two floats | 4 units of the last place, 1 for 16-bit and 8-bit floats |
| functions of complex numbers, `mul` and `div` included | 16 units of the last place of the larger part |
| sums of products or of elements (`reduce_sum`, `dot_general`, `convolution`, `reduce_window`, `fft`) | `n * eps` times the sum of the absolute values |
| `reduce_prod` | `2 * n * eps` of the product |
| `cholesky`, `triangular_solve` | a residual of `8 * n * eps` times the norms of what is multiplied |
";

/// The page `docs/reference/ops.md`: every op by family, with operands, attributes and semantics.
#[must_use]
pub fn reference(registry: &Registry) -> String {
    let mut out = String::from(
        "# Ops\n\nMade from the doc comments of the op tables; do not edit. Every op is total: what it says about \
         division by zero, overflow, NaN,\nout-of-bounds and empty inputs holds on every machine. Broadcasting and type \
         promotion are never implicit.\n",
    );
    out.push_str(COMPUTING);
    let mut families: Vec<&str> = Vec::new();
    for def in registry.defs() {
        if !families.contains(&def.family) {
            families.push(def.family);
        }
    }
    for family in families {
        let _ = write!(out, "\n## {family}\n");
        for def in registry.defs().filter(|d| d.family == family) {
            write_op(&mut out, def);
        }
    }
    out
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
        (def.terminator, "ends a body"),
        (!def.foldable, "never folded"),
    ] {
        if flag {
            flags.push(name.into());
        }
    }
    if !flags.is_empty() {
        let _ = write!(out, " ({})", flags.join(", "));
    }
    let _ = write!(out, "\n\n{}\n", def.doc);
    let rows: Vec<_> = def.attrs.iter().filter(|a| a.kind != AttrKind::ResultType).collect();
    if rows.is_empty() {
        return;
    }
    out.push_str("\n| attribute | | default | |\n| --- | --- | --- | --- |\n");
    for row in rows {
        let default = match &row.default {
            None => "needed".into(),
            Some(Attr::Unit) => String::new(),
            Some(attr) => {
                let mut text = String::new();
                crate::text::write_attr(&mut text, attr, &mut crate::text::LongLiterals::Written);
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
