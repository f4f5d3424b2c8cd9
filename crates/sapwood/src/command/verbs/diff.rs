//! `sapwood diff`.

use std::path::PathBuf;

use sapwood_explorer::{PageOptions, diff_page};
use sapwood_ptir::structural::{Change, Difference, diff};
use sapwood_ptir::{InstId, Program};
use serde_json::{Value, json};

use crate::command::cli_error::CliError;
use crate::command::color::color_diff;
use crate::command::command_name;
use crate::command::console::Console;
use crate::command::io::files::write_file;
use crate::command::io::load::Loaded;
use crate::command::io::program_pair::{ProgramPair, comparison_mode};
use crate::command::io::target::require_report_file;
use crate::command::status::Status;

/// Show all differences between two programs
///
/// Instructions are matched by their computation: moved or renamed values do not count as different. Exit code 0 if the
/// programs are equal, 1 otherwise.
#[derive(clap::Args)]
pub(crate) struct Args {
    #[command(flatten)]
    pair: ProgramPair,
    /// Also write an HTML page that shows both programs and their differences
    #[arg(long, value_name = "FILE")]
    report: Option<PathBuf>,
}

pub(crate) fn run(args: &Args, console: &Console) -> Result<Status, CliError> {
    if let Some(path) = &args.report {
        require_report_file(path, &args.pair.inputs())?;
    }
    let (left, right) = args.pair.load(true, &console.toolkit)?;
    let (Loaded::Ptir(a), Loaded::Ptir(b)) = (&left.program, &right.program) else {
        return Err(CliError::new(format!(
            "`diff` compares PTIR only; `{0} eq` compares front-end IR, `{0} lower` converts it to PTIR",
            command_name()
        )));
    };
    let mode = comparison_mode(args.pair.ordered);
    let differences = diff(a, b, mode);
    if let Some(path) = &args.report {
        let [left_name, right_name] = [&left, &right].map(|file| file.source.name());
        let title = format!("{left_name} and {right_name}");
        let options = PageOptions::new(&title).source(&left.source);
        write_file(path, diff_page((left_name, a), (right_name, b), mode, &options))?;
    }
    if console.json {
        let list: Vec<Value> = differences.iter().map(|d| difference_json(d, a, b)).collect();
        console.write_json(&json!({ "equal": list.is_empty(), "differences": list }))?;
    } else {
        let mut text = String::new();
        for difference in &differences {
            text += &format!("{difference}{}\n", scope_suffix(difference, a, b));
        }
        let text = if console.color_results { color_diff(&text) } else { text };
        console.write(&text)?;
    }
    Ok(if differences.is_empty() { Status::Success } else { Status::Negative })
}

// Returns the scope of the instruction on the right, or on the left, of a difference, in the form `\n    in jit(f)/add`.
fn scope_suffix(difference: &Difference, a: &Program, b: &Program) -> String {
    let [left, right] = scopes(difference, a, b);
    right.or(left).map_or_else(String::new, |scope| format!("\n    in {scope}"))
}

// Returns the scopes of the instructions of a difference on the left and on the right.
fn scopes(difference: &Difference, a: &Program, b: &Program) -> [Option<String>; 2] {
    let scope = |program: &Program, inst: Option<InstId>| {
        program.function(difference.function)?.inst_span(inst?).loc().scope()
    };
    [scope(a, difference.left), scope(b, difference.right)]
}

fn difference_json(difference: &Difference, a: &Program, b: &Program) -> Value {
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
    let mut value = json!({
        "function": difference.function.as_str(),
        "change": change,
        "detail": detail,
        "before": text(&difference.before),
        "after": text(&difference.after),
    });
    let names = ["before_scope", "after_scope"];
    for (name, scope) in names.into_iter().zip(scopes(difference, a, b)) {
        if let Some(scope) = scope {
            value[name] = json!(scope);
        }
    }
    value
}
