//! `sapwood patterns`.

use sapwood_rewrite::PatternList;
use sapwood_rewrite::canonicalize::LISTS;
use serde_json::{Value, json};

use crate::command::cli_error::CliError;
use crate::command::console::Console;
use crate::command::status::Status;
use crate::onnx_patterns;

/// List the patterns of canonicalize and simplify
#[derive(clap::Args)]
pub(crate) struct Args {}

// Returns the lists of patterns that `canonicalize` and `simplify` apply.
fn all_lists() -> impl Iterator<Item = &'static PatternList> {
    LISTS.iter().copied().chain([&onnx_patterns::LIST])
}

pub(crate) fn run(_: &Args, console: &Console) -> Result<Status, CliError> {
    if console.json {
        let list: Vec<Value> = all_lists()
            .flat_map(|list| {
                list.entries.iter().map(|e| json!({ "name": e.name, "family": list.family }))
            })
            .collect();
        console.write_json(&json!({ "patterns": list }))?;
        return Ok(Status::Success);
    }
    let mut text = String::new();
    for list in all_lists() {
        for entry in list.entries {
            text += &format!("{:<14} {}\n", list.family, entry.name);
        }
    }
    console.write(&text)?;
    Ok(Status::Success)
}
