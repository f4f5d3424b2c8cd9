//! Core ops that no single node stands for, as ops of ONNX: control flow, gathers, scatters, slices at computed places, windows.
//!
//! This runs before a program is written. What it makes are ops of ONNX and core ops that the writer has a node for.

mod control;
mod indices;
mod others;

use sapwood_ptir::{
    Attr, Function, InsertPoint, InstId, OpKey, OpParts, Registry, ValueId, ValueType,
};

use crate::lower::{Builder, V};

/// Replaces an instruction by other values, one per result. A failure leaves the instruction as it is.
type Raise = for<'b> fn(&'b Builder, InstId) -> Vec<V<'b>>;

const OPS: &[(&str, Raise)] = &[
    ("cond", control::cond),
    ("case", control::case),
    ("while", control::while_loop),
    ("scan", control::scan),
    ("gather", indices::gather),
    ("scatter", indices::scatter),
    ("dynamic_slice", indices::dynamic_slice),
    ("dynamic_update_slice", indices::dynamic_update_slice),
    ("top_k", others::top_k),
    ("arg_max", others::arg_extreme),
    ("arg_min", others::arg_extreme),
    ("reduce_and", others::reduce_bools),
    ("reduce_or", others::reduce_bools),
    ("reduce_window", others::reduce_window),
    ("rem", others::rem),
    ("shl", others::shift),
    ("shr_logical", others::shift),
    ("is_finite", others::is_finite),
    ("erfc", others::erfc),
];

/// The most times that the instructions of a function are looked at: those that one round makes may need another.
const MAX_ROUNDS: usize = 4;

/// Returns a function with ops of ONNX in place of core ops that have no node; `None` if there is nothing to replace.
pub(crate) fn with_nodes(f: &Function) -> Option<Function> {
    f.registry().by_name("onnx.Loop")?;
    let found = |f: &Function| -> Vec<InstId> {
        f.walk().filter(|&inst| raise_of(f.op_name(inst)).is_some()).collect()
    };
    let mut insts = found(f);
    if insts.is_empty() {
        return None;
    }
    let mut f = f.clone();
    for _ in 0..MAX_ROUNDS {
        let b = Builder::new(f, false);
        let count = insts.iter().filter(|&&inst| replace(&b, inst)).count();
        f = b.f.into_inner();
        insts = found(&f);
        if count == 0 || insts.is_empty() {
            break;
        }
    }
    Some(f)
}

fn raise_of(op: &str) -> Option<Raise> {
    OPS.iter().find(|(name, _)| *name == op).map(|(_, raise)| *raise)
}

fn replace(b: &Builder, inst: InstId) -> bool {
    let f = b.f.borrow();
    let Some(raise) = raise_of(f.op_name(inst)) else { return false };
    let span = f.inst_span(inst);
    let results: Vec<ValueId> = f.inst_results(inst).collect();
    drop(f);
    b.insert_at(InsertPoint::Before(inst), span);
    b.f.borrow_mut().open_journal();
    let new: Vec<Option<ValueId>> = raise(b, inst).iter().map(|v| v.id).collect();
    let failed = b.take_failure().is_some();
    let mut f = b.f.borrow_mut();
    let fits = |(new, &old): (&Option<ValueId>, &ValueId)| {
        new.is_some_and(|new| f.value_type(new) == f.value_type(old))
    };
    let all_fit = new.len() >= results.len() && new.iter().zip(&results).all(fits);
    let is_done = !failed
        && all_fit
        && new.iter().flatten().zip(&results).all(|(&new, &old)| {
            if f.hint(old).is_some() {
                f.copy_hint(old, new);
            }
            f.replace_all_uses(old, new).is_ok()
        })
        && f.erase(inst).is_ok();
    match is_done {
        true => f.commit_journal(),
        false => f.rollback_journal(),
    }
    is_done
}

/// Adds a node of ONNX. Attributes that are not given are omitted.
fn node<'b>(
    b: &'b Builder,
    op: &str,
    operands: &[V<'b>],
    attrs: &[(&str, Attr)],
    types: &[ValueType],
) -> Vec<V<'b>> {
    let Some(operands) = operands.iter().map(|v| v.id).collect::<Option<_>>() else {
        b.fail("an operand is missing");
        return Vec::new();
    };
    let registry = b.f.borrow().registry().clone();
    match parts_of(&registry, op, attrs, types) {
        Some(parts) => b.record_many(&OpParts { operands, ..parts }),
        None => {
            b.fail(format!("`{op}` is not registered"));
            Vec::new()
        }
    }
}

fn parts_of(
    registry: &Registry,
    op: &str,
    attrs: &[(&str, Attr)],
    types: &[ValueType],
) -> Option<OpParts> {
    let def = registry.by_name(op)?;
    let mut parts = OpParts::new(OpKey::of(def.name));
    parts.attrs.resize(def.attrs.len(), Attr::Unit);
    for (name, attr) in attrs {
        let index = def.attrs.iter().position(|row| row.name == *name)?;
        parts.attrs[index] = attr.clone();
    }
    parts.result_types.extend(types.iter().cloned());
    Some(parts)
}

/// Adds a node with one result.
fn one<'b>(
    b: &'b Builder,
    op: &str,
    operands: &[V<'b>],
    attrs: &[(&str, Attr)],
    ty: impl Into<ValueType>,
) -> V<'b> {
    let made = node(b, op, operands, attrs, &[ty.into()]);
    made.first().copied().unwrap_or_else(|| b.fail("a node has no result"))
}

fn ints(list: impl IntoIterator<Item = i64>) -> Attr {
    Attr::Ints(list.into_iter().collect())
}
