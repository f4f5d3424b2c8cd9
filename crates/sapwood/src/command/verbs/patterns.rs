//! `sapwood patterns`.

use sapwood_rewrite::canonicalize::LISTS;
use serde_json::{Value, json};

use crate::command::cli_error::CliError;
use crate::command::console::Console;
use crate::command::status::Status;
use crate::{Toolkit, onnx_patterns};

/// List the patterns of canonicalize and simplify
#[derive(clap::Args)]
pub(crate) struct Args {}

// The family of the patterns and rules that a toolkit adds.
const OWN: &str = "own";

// Returns the patterns that `canonicalize` and `simplify` apply, with their families.
fn all_patterns(toolkit: &Toolkit) -> Vec<(&'static str, String)> {
    let lists = LISTS.iter().copied().chain([&onnx_patterns::LIST]);
    let shipped =
        lists.flat_map(|list| list.entries.iter().map(|e| (list.family, e.name.to_owned())));
    shipped.chain(toolkit.own_patterns().into_iter().map(|name| (OWN, name))).collect()
}

pub(crate) fn run(_: &Args, console: &Console) -> Result<Status, CliError> {
    let patterns = all_patterns(&console.toolkit);
    if console.json {
        let list: Vec<Value> = patterns
            .iter()
            .map(|(family, name)| json!({ "name": name, "family": family }))
            .collect();
        console.write_json(&json!({ "patterns": list }))?;
        return Ok(Status::Success);
    }
    let text: String =
        patterns.iter().map(|(family, name)| format!("{family:<14} {name}\n")).collect();
    console.write(&text)?;
    Ok(Status::Success)
}
