//! `sapwood ops`.

use sapwood_ptir::{OpDef, OperandKind, Registry, ResultCount};
use serde_json::{Value, json};

use crate::command::cli_error::CliError;
use crate::command::console::Console;
use crate::command::status::Status;

/// List all ops, or describe some of them
#[derive(clap::Args)]
pub(crate) struct Args {
    /// Ops to describe; without names, all ops are listed
    #[arg(value_name = "OPS")]
    names: Vec<String>,
    /// List only the ops of this family
    #[arg(long, value_name = "FAMILY")]
    family: Option<String>,
}

pub(crate) fn run(args: &Args, console: &Console) -> Result<Status, CliError> {
    let defs = select_ops(args, console.toolkit.registry())?;
    if console.json {
        let ops: Vec<Value> = defs.iter().map(|def| describe_json(def)).collect();
        console.write_json(&json!({ "ops": ops }))?;
        return Ok(Status::Success);
    }
    let mut text = String::new();
    for (position, def) in defs.iter().enumerate() {
        if args.names.is_empty() {
            let summary = def.doc.split(". ").next().unwrap_or_default().replace('\n', " ");
            text += &format!("{:<22} {}\n", def.name, summary.trim_end_matches('.'));
        } else {
            text += if position > 0 { "\n" } else { "" };
            text += &describe(def);
        }
    }
    console.write(&text)?;
    Ok(Status::Success)
}

fn select_ops<'a>(args: &Args, registry: &'a Registry) -> Result<Vec<&'a OpDef>, CliError> {
    let all: Vec<&OpDef> = registry.defs().collect();
    if let Some(family) = &args.family
        && !all.iter().any(|def| def.family == family)
    {
        return Err(CliError::unknown_name("family", family, all.iter().map(|def| def.family)));
    }
    let in_family = |def: &&OpDef| args.family.as_ref().is_none_or(|f| def.family == f);
    if args.names.is_empty() {
        return Ok(all.into_iter().filter(in_family).collect());
    }
    let find_op = |name: &String| {
        let def = all.iter().find(|def| def.name == name).copied();
        def.ok_or_else(|| CliError::unknown_name("op", name, all.iter().map(|def| def.name)))
    };
    args.names.iter().map(find_op).collect()
}

fn describe(def: &OpDef) -> String {
    let operands: Vec<String> = def
        .operands
        .iter()
        .map(|o| match o.kind {
            OperandKind::Optional => format!("{}?", o.name),
            OperandKind::Variadic => format!("{}…", o.name),
            _ => o.name.to_owned(),
        })
        .collect();
    let results = match def.results {
        ResultCount::None => "no result",
        ResultCount::One => "one result",
        ResultCount::Many => "results",
    };
    let mut text = format!("{}({}) -> {results}", def.name, operands.join(", "));
    text += &format!("    [{}]\n", def.family);
    for line in def.doc.lines() {
        text += &format!("    {line}\n");
    }
    for attr in &def.attrs {
        text += &format!("  {}: {}\n", attr.name, attr.doc.replace('\n', " "));
    }
    text
}

fn describe_json(def: &OpDef) -> Value {
    let operands: Vec<Value> = def
        .operands
        .iter()
        .chain(&def.regions)
        .map(|o| json!({ "name": o.name, "kind": format!("{:?}", o.kind).to_lowercase() }))
        .collect();
    let attrs: Vec<Value> =
        def.attrs.iter().map(|a| json!({ "name": a.name, "doc": a.doc })).collect();
    json!({
        "name": def.name,
        "family": def.family,
        "doc": def.doc,
        "operands": operands,
        "attributes": attrs,
        "commutative": def.commutative,
        "elementwise": def.elementwise,
    })
}
