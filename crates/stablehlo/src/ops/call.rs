//! Calls, tuples, tokens and barriers.

use std::fmt::Write as _;
use std::sync::Arc;

use sapwood_ptir::ops::{Call, CustomCall};
use sapwood_ptir::{
    Attr, Effects, InstId, Name, Op as _, OpKey, OpParts, Registry, ResultTypes, ValueId,
    attrs_from_json, attrs_to_json,
};

use super::form::Part::{self, Callee, Close, Fixed, Index, Open, Operands, Sharding, Types};
use super::form::TypeSyntax::{Function, OfOperands, OfResult, Same};
use super::{OpConverter, OpMapping, PrintedOp, ResultValues, Silent, WriteResult, read_only, row};
use crate::attr::{RawAttr, to_single_line};
use crate::write::{TextWriter, WriteError, unwritable, write_string, write_symbol};

pub(super) const MAPPINGS: &[OpMapping] = &[
    row("func.call", "call", CALL).build(build_call).silent(Silent::Always).print(print_call),
    row("call", "call", CALL).build(build_call).silent(Silent::Always),
    read_only("stablehlo.composite", build_composite),
    row("stablehlo.custom_call", "custom_call", &[Operands, Types(Function)])
        .build(build_custom_call)
        .print(print_custom_call),
    row("stablehlo.tuple", "tuple", &[Operands, Types(OfResult)]),
    row(
        "stablehlo.get_tuple_element",
        "get_tuple_element",
        &[Operands, Index("index"), Types(Function)],
    ),
    row("stablehlo.after_all", "after_all", &[Operands, Types(Same)]),
    row("stablehlo.create_token", "after_all", &[Operands, Types(Same)]),
    row("stablehlo.optimization_barrier", "optimization_barrier", &[Operands, Types(OfOperands)])
        .print(print_optimization_barrier),
    row("sdy.sharding_constraint", "", &[Sharding]).build(build_first_operand),
];

const CALL: &[Part] = &[
    Callee,
    Open,
    Operands,
    Close,
    Fixed(|| Attr::Bool(false)),
    Fixed(|| Attr::Unit),
    Types(Function),
];

fn emit_call(cx: &mut OpConverter<'_, '_>, callee: &str) -> Result<ResultValues, String> {
    let types = ResultTypes(cx.op.result_types.to_vec());
    cx.refine_operands_to_declared()?;
    let args = cx.op.operands.iter().copied().collect();
    cx.emit(&Call { args, callee: Name::new(callee), has_side_effect: false, types }.into_parts())
}

fn build_call(cx: &mut OpConverter<'_, '_>) -> Result<ResultValues, String> {
    cx.symbol_used = true;
    let callee = match (cx.op.symbol.clone(), cx.attr(&["callee"])) {
        (Some(symbol), None) => symbol,
        (Some(symbol), Some(_)) => {
            cx.forbid_attr(&["callee"], cx.op.symbol_text);
            symbol
        }
        (None, Some(RawAttr::Symbol(symbol))) => symbol.clone(),
        _ => return Err("the function to call is missing: `@name`".into()),
    };
    cx.op.symbol = Some(callee.clone());
    emit_call(cx, &callee)
}

// Reads a composite as a call of its decomposition.
fn build_composite(cx: &mut OpConverter<'_, '_>) -> Result<ResultValues, String> {
    let Some(RawAttr::Symbol(symbol)) = cx.attr(&["decomposition"]) else {
        return Err("attribute `decomposition` must be a function".into());
    };
    let callee = symbol.clone().into_owned();
    for name in ["name", "version", "composite_attributes"] {
        let _ = cx.attr(&[name]);
    }
    cx.op.symbol = Some(callee.clone().into());
    emit_call(cx, &callee)
}

// Reads a custom call. Its config is `backend_config` if that is the only attribute, else the text of all attributes.
fn build_custom_call(cx: &mut OpConverter<'_, '_>) -> Result<ResultValues, String> {
    cx.symbol_used = true;
    let target: Arc<str> = match cx.op.symbol.clone() {
        Some(symbol) => {
            cx.forbid_attr(&["call_target_name"], cx.op.symbol_text);
            (*symbol).into()
        }
        None => match cx.attr(&["call_target_name"]) {
            Some(RawAttr::Str(name)) => (**name).into(),
            _ => return Err("the target is missing: `@name`".into()),
        },
    };
    if let Some(key) = own_op(cx, &target) {
        return build_own_op(cx, key);
    }
    // Without the attribute, the call has no side effects.
    let has_side_effect = cx.bool_or(&["has_side_effect"], false)?;
    let mut rest = String::new();
    let mut only_config = None;
    for entry in &cx.op.attrs {
        let usual = match (&*entry.name, &entry.value) {
            ("api_version", RawAttr::Int(1)) => true,
            ("backend_config", RawAttr::Str(text)) => text.is_empty(),
            ("called_computations", RawAttr::Ints(list)) => list.is_empty(),
            (name, _) => name.starts_with("sdy."),
        };
        if entry.used || usual {
            continue;
        }
        only_config = match (&*entry.name, &entry.value) {
            ("backend_config", RawAttr::Str(text)) if rest.is_empty() => Some(text.clone()),
            _ => None,
        };
        rest.push_str(if rest.is_empty() { "{" } else { ", " });
        rest.push_str(&to_single_line(entry.text));
    }
    cx.mark_all_used();
    if !rest.is_empty() {
        rest.push('}');
    }
    let config: Option<Arc<str>> = match only_config {
        Some(text) if !text.starts_with('{') => Some((&*text).into()),
        _ if rest.is_empty() => None,
        _ => Some(rest.into()),
    };
    let types = ResultTypes(cx.op.result_types.to_vec());
    let args = cx.op.operands.iter().copied().collect();
    cx.emit(&CustomCall { args, target, config, has_side_effect, types }.into_parts())
}

// Returns the op of the registry with this name, if it is not built in.
fn own_op(cx: &OpConverter<'_, '_>, name: &str) -> Option<OpKey> {
    let registry = cx.writer.function().registry();
    registry.by_name(name).map(|def| def.key).filter(|&key| Registry::builtin().get(key).is_none())
}

// Reads a custom call as an op that is not built in; `backend_config` has its attributes.
fn build_own_op(cx: &mut OpConverter<'_, '_>, key: OpKey) -> Result<ResultValues, String> {
    let config = match cx.attr(&["backend_config"]) {
        None => String::new(),
        Some(RawAttr::Str(text)) => text.to_string(),
        Some(_) => {
            return Err("`backend_config` must be a string with the attributes as JSON".into());
        }
    };
    for name in ["has_side_effect", "api_version", "called_computations"] {
        let _ = cx.attr(&[name]);
    }
    let registry = cx.writer.function().registry().clone();
    let Some(def) = registry.get(key) else { return Err("the op is not registered".into()) };
    let attrs = attrs_from_json(def, &config).map_err(|why| format!("`backend_config`: {why}"))?;
    let mut parts = OpParts::new(key);
    parts.operands = cx.op.operands.clone();
    parts.attrs = attrs.into();
    parts.result_types = cx.op.result_types.iter().cloned().collect();
    cx.emit(&parts)
}

/// Writes an op that is not built in as a custom call, with its attributes as JSON.
pub(crate) fn write_own_op(w: &mut TextWriter<'_>, inst: InstId) -> Result<(), WriteError> {
    if !w.f.regions(inst).is_empty() {
        return Err(unwritable(w, inst, "a custom call has no regions"));
    }
    w.start_op(inst, "stablehlo.custom_call");
    w.out.push_str(" @");
    write_symbol(&mut w.out, w.f.op_name(inst));
    w.out.push('(');
    w.write_values(w.f.operands(inst));
    w.out.push_str(") {");
    if w.f.own_effects(inst) != Effects::Pure {
        w.out.push_str("has_side_effect = true, ");
    }
    w.out.push_str("backend_config = ");
    write_string(&mut w.out, &attrs_to_json(w.f, inst));
    w.out.push('}');
    w.write_function_type(inst);
    w.out.push('\n');
    Ok(())
}

fn build_first_operand(cx: &mut OpConverter<'_, '_>) -> Result<ResultValues, String> {
    let value = cx.operand(0)?;
    Ok(ResultValues::from_slice(&[value]))
}

fn print_call(w: &mut TextWriter<'_>, (inst, mapping): PrintedOp) -> WriteResult {
    let op = w.view::<Call>(inst)?;
    let Some([params, given]) = w.callee_types_if_different(op.callee, &op.args, inst) else {
        w.start_op(inst, mapping.name);
        write_callee(w, &op);
        w.write_values(&op.args);
        w.out.push(')');
        w.write_extras(inst, mapping.name);
        w.write_function_type(inst);
        w.out.push('\n');
        return Ok(());
    };
    // The known extents may differ here: StableHLO requires exactly the types of the callee.
    let args: Vec<String> =
        op.args.iter().zip(&params).map(|(&v, ty)| w.value_as_type(v, ty)).collect();
    let name = w.fresh_name();
    w.write_indent();
    if !given.is_empty() {
        let _ = write!(w.out, "{name}:{} = ", given.len());
    }
    w.out.push_str(mapping.name);
    write_callee(w, &op);
    let _ = write!(w.out, "{})", args.join(", "));
    w.write_extras(inst, mapping.name);
    w.out.push_str(" : (");
    for (i, ty) in params.iter().enumerate() {
        w.out.push_str(if i > 0 { ", " } else { "" });
        crate::types::write(&mut w.out, ty);
    }
    w.out.push_str(") -> ");
    crate::write::write_results(&mut w.out, &given);
    w.out.push('\n');
    for (i, (result, ty)) in w.f.inst_results(inst).zip(given).enumerate() {
        w.name_value(result);
        let own = w.name_of(result);
        w.write_conversion(&own, &format!("{name}#{i}"), ty, w.f.value_type(result));
    }
    Ok(())
}

fn write_callee(w: &mut TextWriter<'_>, op: &Call) {
    w.out.push_str(" @");
    write_symbol(&mut w.out, op.callee.as_str());
    w.out.push('(');
}

fn print_custom_call(w: &mut TextWriter<'_>, (inst, mapping): PrintedOp) -> WriteResult {
    let op = w.view::<CustomCall>(inst)?;
    w.start_op(inst, mapping.name);
    w.out.push_str(" @");
    write_symbol(&mut w.out, &op.target);
    w.out.push('(');
    w.write_values(&op.args);
    w.out.push(')');
    let mut entries: Vec<String> = Vec::new();
    if op.has_side_effect {
        entries.push("has_side_effect = true".into());
    }
    if let Some(config) = &op.config {
        match config.strip_prefix('{').and_then(|c| c.strip_suffix('}')) {
            Some(inner) => entries.push(inner.into()),
            None => {
                let mut text = String::from("backend_config = ");
                write_string(&mut text, config);
                entries.push(text);
            }
        }
    }
    if !entries.is_empty() {
        let _ = write!(w.out, " {{{}}}", entries.join(", "));
    }
    w.write_function_type(inst);
    w.out.push('\n');
    Ok(())
}

fn print_optimization_barrier(w: &mut TextWriter<'_>, (inst, mapping): PrintedOp) -> WriteResult {
    w.start_op(inst, mapping.name);
    let values: &[ValueId] = w.f.operands(inst);
    match values {
        [] => w.out.push_str("()"),
        _ => {
            w.write_extras(inst, mapping.name);
            w.out.push(' ');
            w.write_values(values);
            w.out.push_str(" : ");
            w.write_types(values);
        }
    }
    w.out.push('\n');
    Ok(())
}
