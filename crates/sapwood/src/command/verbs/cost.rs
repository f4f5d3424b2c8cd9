//! `sapwood cost`.

use std::path::PathBuf;

use sapwood_ptir::cost::{Cost, CostAnalysis, FunctionCost, InstCost};
use sapwood_ptir::{Function, InstPrinter};
use sapwood_types::counted;
use serde_json::{Value, json};

use crate::command::amounts::{amount_json, amount_text};
use crate::command::cli_error::CliError;
use crate::command::console::Console;
use crate::command::diagnostics::{scope_comment, span_json};
use crate::command::io::batch::{self, BatchInputs, FileResult};
use crate::command::io::files::Input;
use crate::command::io::load::{InputFormatArgs, ReadOptions, load};
use crate::command::select_function::find_function;
use crate::command::status::Status;
use crate::toolkit::Toolkit;

/// Print the operations, the memory traffic and the peak memory of programs
///
/// For each public function: the sums, the costs by family of ops, and the most expensive instructions with their lines. Flops are
/// operations on elements of any type; a product of matrices takes two for each pair of elements. Bytes are those that each op reads and writes.
/// Costs of programs with open extents are expressions; `--bind` gives the symbols values.
#[derive(clap::Args)]
pub(crate) struct Args {
    /// Programs, or directories of programs; `-` means standard input
    #[arg(required = true, value_name = "FILES")]
    files: Vec<PathBuf>,
    /// Print only the cost of this function
    #[arg(long, value_name = "NAME")]
    function: Option<String>,
    /// Number of instructions to list
    #[arg(long, value_name = "N", default_value_t = 10)]
    top: usize,
    #[command(flatten)]
    input_format: InputFormatArgs,
}

pub(crate) fn run(args: &Args, console: &Console) -> Result<Status, CliError> {
    let inputs = BatchInputs::new(&args.files)?;
    batch::run(&inputs, console, |input| {
        Ok(inputs.with_heading(input, cost_of_file(args, input, &console.toolkit)?))
    })
}

fn cost_of_file(args: &Args, input: &Input, toolkit: &Toolkit) -> Result<FileResult, CliError> {
    let options = ReadOptions { source_names: true, ..ReadOptions::default() };
    let program = load(input, args.input_format.from, options, toolkit)?.into_ptir(toolkit)?;
    let selected = match &args.function {
        Some(name) => Some(find_function(&program, name)?.name()),
        None => None,
    };
    let has_public = program.functions().iter().any(|function| !function.is_private());
    let analysis = CostAnalysis::new(&program);
    let costs = analysis.functions();
    let (mut text, mut json, mut lines) = (String::new(), Vec::new(), Vec::new());
    for (function, cost) in program.functions().iter().zip(&costs) {
        let is_shown = match selected {
            Some(name) => name == function.name(),
            None => !has_public || !function.is_private(),
        };
        if !is_shown {
            continue;
        }
        let insts = most_expensive(&analysis, function, args.top);
        if !text.is_empty() {
            text.push('\n');
        }
        text += &function_text(function, cost, &insts);
        lines.push(summary(cost));
        json.push(function_json(function, cost, &insts));
    }
    Ok(FileResult {
        status: Status::Success,
        text,
        line: format!("{input}: {}", lines.join("; ")),
        message: String::new(),
        json: json!({ "functions": json }),
    })
}

// Returns the instructions with the most operations, or bytes if there are no more operations. Instructions with regions and calls are left out: those
// inside of them are listed.
fn most_expensive(analysis: &CostAnalysis<'_>, function: &Function, count: usize) -> Vec<InstCost> {
    let mut insts = analysis.insts(function);
    insts.retain(|found| {
        let is_control = function.op_def(found.inst).is_some_and(|def| def.family == "control");
        !is_control && found.cost != Cost::ZERO
    });
    let key = |found: &InstCost| (found.cost.flops.estimate(), found.cost.bytes.estimate());
    insts.sort_by_key(|found| std::cmp::Reverse(key(found)));
    insts.truncate(count);
    insts
}

fn summary(cost: &FunctionCost) -> String {
    format!(
        "@{}: {} flops, {} bytes moved, {} bytes at the peak",
        cost.name,
        amount_text(cost.flops),
        amount_text(cost.bytes),
        amount_text(cost.peak_memory)
    )
}

fn function_text(function: &Function, cost: &FunctionCost, insts: &[InstCost]) -> String {
    let mut text = summary(cost) + "\n";
    if cost.not_counted > 0 {
        let what = counted(cost.not_counted, "instruction");
        let ops = cost.ops_not_counted.join("`, `");
        text += &format!("  not counted: {what} whose cost is not known: `{ops}`\n");
    }
    if cost.open_loops > 0 {
        let loops = counted(cost.open_loops, "loop");
        text += &format!("  {loops} with an unknown number of iterations, counted as one\n");
    }
    let mut rows = vec![["family", "ops", "flops", "bytes"].map(str::to_owned)];
    for row in &cost.families {
        let Cost { flops, bytes } = row.cost;
        let ops = row.ops.to_string();
        rows.push([row.family.to_owned(), ops, amount_text(flops), amount_text(bytes)]);
    }
    text += &table(&rows);
    if insts.is_empty() {
        return text;
    }
    let mut printer = InstPrinter::new(function);
    let mut rows = vec![["flops", "bytes", "runs", "line", "instruction"].map(str::to_owned)];
    for found in insts {
        let span = function.inst_span(found.inst);
        let line = match span.begin_line() {
            0 => String::new(),
            line => line.to_string(),
        };
        rows.push([
            amount_text(found.cost.flops),
            amount_text(found.cost.bytes),
            amount_text(found.runs),
            line,
            printer.print(found.inst) + &scope_comment(span),
        ]);
    }
    text + "most expensive:\n" + &table(&rows)
}

// Returns rows in columns. The last column, and the first if it holds names, are aligned to the left.
fn table<const N: usize>(rows: &[[String; N]]) -> String {
    let mut widths = [0; N];
    for row in rows {
        for (width, cell) in widths.iter_mut().zip(row) {
            *width = (*width).max(cell.chars().count());
        }
    }
    let names_first = rows.first().is_some_and(|row| row[0] == "family");
    let mut text = String::new();
    for row in rows {
        let cells = row.iter().zip(widths).enumerate().map(|(column, (cell, width))| {
            let is_left = (column == 0 && names_first) || (column + 1 == N && !names_first);
            if is_left { format!("  {cell:<width$}") } else { format!("  {cell:>width$}") }
        });
        text += cells.collect::<String>().trim_end();
        text.push('\n');
    }
    text
}

fn cost_json(cost: Cost) -> Value {
    json!({ "flops": amount_json(cost.flops), "bytes": amount_json(cost.bytes) })
}

fn function_json(function: &Function, cost: &FunctionCost, insts: &[InstCost]) -> Value {
    let families = cost.families.iter().map(|row| {
        let mut json = cost_json(row.cost);
        json["family"] = json!(row.family);
        json["ops"] = json!(row.ops);
        json
    });
    let mut printer = InstPrinter::new(function);
    let mut insts_json = Vec::new();
    for found in insts {
        let mut json = cost_json(found.cost);
        json["runs"] = amount_json(found.runs);
        json["op"] = json!(function.op_name(found.inst));
        json["text"] = json!(printer.print(found.inst));
        json["span"] = span_json(function.inst_span(found.inst));
        insts_json.push(json);
    }
    json!({
        "function": cost.name.as_str(),
        "flops": amount_json(cost.flops),
        "bytes": amount_json(cost.bytes),
        "peak_memory": amount_json(cost.peak_memory),
        "not_counted": cost.not_counted,
        "ops_not_counted": cost.ops_not_counted,
        "open_loops": cost.open_loops,
        "families": families.collect::<Vec<_>>(),
        "most_expensive": insts_json,
    })
}
