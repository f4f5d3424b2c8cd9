//! `sapwood passes`.

use sapwood_rewrite::PassInfo;
use serde_json::{Value, json};

use crate::command::cli_error::CliError;
use crate::command::console::Console;
use crate::command::status::Status;

/// List the passes and their options
#[derive(clap::Args)]
pub(crate) struct Args {}

pub(crate) fn run(_: &Args, console: &Console) -> Result<Status, CliError> {
    if console.json {
        let list: Vec<Value> = console.toolkit.pass_infos().map(pass_json).collect();
        console.write_json(&json!({ "passes": list }))?;
        return Ok(Status::Success);
    }
    let mut text = String::new();
    for pass in console.toolkit.pass_infos() {
        text += &format!("{:<16} {}\n", pass.name, pass.doc);
        for (option, default) in pass.options.iter().zip(pass.defaults()) {
            text += &format!("    {:<16} {}", option.name, option.doc);
            if !default.is_empty() {
                text += &format!(" [default: {default}]");
            }
            text.push('\n');
        }
    }
    console.write(&text)?;
    Ok(Status::Success)
}

fn pass_json(pass: &PassInfo) -> Value {
    let options: Vec<Value> = pass
        .options
        .iter()
        .zip(pass.defaults())
        .map(|(option, default)| {
            let default = Some(default).filter(|text| !text.is_empty());
            json!({ "name": option.name, "doc": option.doc, "default": default })
        })
        .collect();
    json!({ "name": pass.name, "doc": pass.doc, "options": options })
}
