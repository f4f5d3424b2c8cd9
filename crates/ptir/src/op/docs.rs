//! The reference of ops, made from the tables.

use std::fmt::Write;

use super::def::{EffectRule, Effects, OpDef, OperandDef, OperandKind, ResultCount};
use super::registry::Registry;
use crate::attr::{Attr, AttrKind};

/// The page `docs/reference/ops.md`: every op by family, with operands, attributes and semantics.
#[must_use]
pub fn reference(registry: &Registry) -> String {
    let mut out = String::from(
        "# Ops\n\nMade from the doc comments of the op tables; do not edit. Every op is total: what it says about \
         division by zero, overflow, NaN,\nout-of-bounds and empty inputs holds on every machine. Broadcasting and type \
         promotion are never implicit.\n",
    );
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
