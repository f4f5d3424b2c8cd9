//! `sapwood ops`.

use sapwood_ptir::{OpDef, OperandKind, Registry, ResultCount};
use sapwood_types::did_you_mean;
use serde_json::{Value, json};

use super::answer::{Answer, Trouble};
use super::console::Console;

/// List the ops, or describe some
#[derive(clap::Args)]
pub(super) struct Args {
    /// Ops to describe; all are listed if none is named
    #[arg(value_name = "OPS")]
    names: Vec<String>,
    /// Only ops of this family
    #[arg(long, value_name = "FAMILY")]
    family: Option<String>,
}

pub(super) fn run(args: &Args, console: &Console) -> Result<Answer, Trouble> {
    let registry = Registry::builtin();
    let defs = chosen(args, &registry)?;
    if console.json {
        let ops: Vec<Value> = defs.iter().map(|def| describe_json(def)).collect();
        console.write_json(&json!({ "ops": ops }))?;
        return Ok(Answer::Yes);
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
    Ok(Answer::Yes)
}

fn chosen<'a>(args: &Args, registry: &'a Registry) -> Result<Vec<&'a OpDef>, Trouble> {
    let all: Vec<&OpDef> = registry.defs().collect();
    if let Some(family) = &args.family
        && !all.iter().any(|def| def.family == family)
    {
        return Err(unknown("family", family, all.iter().map(|def| def.family)));
    }
    let in_family = |def: &&OpDef| args.family.as_ref().is_none_or(|f| def.family == f);
    if args.names.is_empty() {
        return Ok(all.into_iter().filter(in_family).collect());
    }
    let find = |name: &String| {
        let found = all.iter().find(|def| def.name == name).copied();
        found.ok_or_else(|| unknown("op", name, all.iter().map(|def| def.name)))
    };
    args.names.iter().map(find).collect()
}

/// How many names are listed when none is close.
const FEW: usize = 8;

/// That nothing has this name, and what has a similar one.
pub(super) fn unknown<'a>(
    what: &str,
    name: &str,
    known: impl IntoIterator<Item = &'a str>,
) -> Trouble {
    let known: Vec<&str> = known.into_iter().collect();
    let hint = match (did_you_mean(name, known.iter().copied()), known.len()) {
        (Some(close), _) => format!("; did you mean `{close}`?"),
        (None, 1..=FEW) => format!("; there is `{}`", known.join("`, `")),
        _ => String::new(),
    };
    Trouble::new(format!("there is no {what} `{name}`{hint}"))
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
        ResultCount::None => "nothing",
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
