//! `sapwood diff`.

use sapwood_ptir::structural::{Change, Difference, diff};
use serde_json::{Value, json};

use super::answer::{Answer, Trouble};
use super::console::Console;
use super::eq::{Pair, mode};
use super::load::Loaded;

/// Show all differences of two programs
///
/// Instructions are matched by what they compute: moved and renamed values are no difference. Exit code 0 if there is
/// none, 1 otherwise.
#[derive(clap::Args)]
pub(super) struct Args {
    #[command(flatten)]
    pair: Pair,
}

pub(super) fn run(args: &Args, console: &Console) -> Result<Answer, Trouble> {
    let (left, right) = args.pair.load(true)?;
    let (Loaded::Ptir(a), Loaded::Ptir(b)) = (&left.loaded, &right.loaded) else {
        return Err(Trouble::new(
            "`diff` compares PTIR; `sapwood lower` makes it of front-end IR, `eq` compares that",
        ));
    };
    let differences = diff(a, b, mode(args.pair.ordered));
    if console.json {
        let list: Vec<Value> = differences.iter().map(one_json).collect();
        console.write_json(&json!({ "equal": list.is_empty(), "differences": list }))?;
    } else {
        let mut text = String::new();
        for difference in &differences {
            text += &format!("{difference}\n");
        }
        console.write(&text)?;
    }
    Ok(if differences.is_empty() { Answer::Yes } else { Answer::No })
}

fn one_json(difference: &Difference) -> Value {
    let (change, detail) = match &difference.change {
        Change::Inserted => ("inserted", Value::Null),
        Change::Erased => ("erased", Value::Null),
        Change::Replaced => ("replaced", Value::Null),
        Change::Attribute(name) => ("attribute", json!(name)),
        Change::Operand(n) => ("operand", json!(n)),
        Change::Type => ("type", Value::Null),
        Change::Region(n) => ("region", json!(n)),
        Change::Moved => ("moved", Value::Null),
        Change::Signature => ("signature", Value::Null),
        Change::Sharing => ("sharing", Value::Null),
    };
    let text = |side: &String| if side.is_empty() { Value::Null } else { json!(side) };
    json!({
        "function": difference.function.as_str(),
        "change": change,
        "detail": detail,
        "before": text(&difference.before),
        "after": text(&difference.after),
    })
}
