//! `sapwood passes` and `sapwood patterns`.

use sapwood_rewrite::canonicalize::LISTS;
use sapwood_rewrite::{PASSES, PassInfo};
use serde_json::{Value, json};

use super::answer::{Answer, Trouble};
use super::console::Console;

fn all() -> impl Iterator<Item = &'static PassInfo> {
    PASSES.iter().chain(sapwood_rules::PASSES).copied()
}

/// Lists the passes with their options.
pub(super) fn passes(console: &Console) -> Result<Answer, Trouble> {
    if console.json {
        let list: Vec<Value> = all()
            .map(|pass| {
                let options: Vec<Value> = pass
                    .options
                    .iter()
                    .map(|option| json!({ "name": option.name, "doc": option.doc }))
                    .collect();
                json!({ "name": pass.name, "doc": pass.doc, "options": options })
            })
            .collect();
        console.write_json(&json!({ "passes": list }))?;
        return Ok(Answer::Yes);
    }
    let mut text = String::new();
    for pass in all() {
        text += &format!("{:<16} {}\n", pass.name, pass.doc);
        for option in pass.options {
            text += &format!("    {:<16} {}\n", option.name, option.doc);
        }
    }
    console.write(&text)?;
    Ok(Answer::Yes)
}

/// Lists the patterns of `canonicalize` and `simplify`, by file.
pub(super) fn patterns(console: &Console) -> Result<Answer, Trouble> {
    if console.json {
        let list: Vec<Value> = LISTS
            .iter()
            .flat_map(|list| {
                list.entries.iter().map(|e| json!({ "name": e.name, "family": list.family }))
            })
            .collect();
        console.write_json(&json!({ "patterns": list }))?;
        return Ok(Answer::Yes);
    }
    let mut text = String::new();
    for list in LISTS {
        for entry in list.entries {
            text += &format!("{:<14} {}\n", list.family, entry.name);
        }
    }
    console.write(&text)?;
    Ok(Answer::Yes)
}
