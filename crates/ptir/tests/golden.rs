//! Golden files of the text form, the verifier, the diff and the evaluation of ops.

use std::process::ExitCode;

use sapwood_ptir::structural::{self, Mode};
use sapwood_ptir::testing::{compare_all, read_values, run_values, write_value};
use sapwood_ptir::{ParseOptions, Program, Registry, from_json, parse, parse_with, to_json};
use sapwood_testing::golden::{Case, Failure, Kind, Runner};
use sapwood_testing::repository;

fn read(text: &str) -> Result<Program, Failure> {
    parse_with(text, ParseOptions::new().comments(true)).map_err(|p| Failure::new(p.to_string()))
}

fn text(case: &Case) -> Result<String, Failure> {
    Ok(read(&case.program)?.to_string())
}

fn reads_back(_: &Case, output: &str) -> Result<(), Failure> {
    let program = read(output)?;
    if program.to_string() != output {
        return Err(Failure::new("it prints otherwise when read again"));
    }
    let json = to_json(&program);
    let again = from_json(&json).map_err(|p| Failure::new(p.to_string()))?;
    if again.to_string() != output {
        return Err(Failure::new("it prints otherwise through JSON"));
    }
    match structural::first_mismatch(&program, &again, Mode::Ordered) {
        Some(mismatch) => Err(Failure::new(format!("through JSON: {mismatch}"))),
        None => Ok(()),
    }
}

// Lists the problems with line and column, counted from the first line of the program.
fn verify(case: &Case) -> Result<String, Failure> {
    let Err(problems) = parse(&case.program) else {
        return Err(Failure::new("the program is accepted"));
    };
    let mut out = String::new();
    for problem in &problems {
        let (line, column) = (problem.span.begin_line(), problem.span.begin_column());
        out += &format!("{line}:{column}: {}: {}\n", problem.severity, problem.message);
        for (_, note) in &problem.notes {
            out += &format!("  note: {note}\n");
        }
        if let Some(help) = &problem.help {
            out += &format!("  help: {help}\n");
        }
    }
    Ok(out)
}

// Lists the differences between the functions @left and @right of one program.
fn diff(case: &Case) -> Result<String, Failure> {
    let program = parse(&case.program).map_err(|p| Failure::new(p.to_string()))?;
    let side = |name: &str| {
        program.function(name).ok_or_else(|| Failure::new(format!("there is no @{name}")))
    };
    let (left, right) = (side("left")?, (**side("right")?).clone().with_name("left"));
    let mode = if case.header("mode") == Some("ordered") { Mode::Ordered } else { Mode::DataFlow };
    let found = structural::diff_functions(left, &right, mode);
    let same = structural::equal_functions(left, &right, mode);
    if same != found.is_empty() {
        return Err(Failure::new("`diff` and `equal` disagree"));
    }
    if same && structural::hash_function(left, mode) != structural::hash_function(&right, mode) {
        return Err(Failure::new("equal functions hash otherwise"));
    }
    if same {
        return Ok("equal".into());
    }
    let mut out: Vec<String> = found.iter().map(ToString::to_string).collect();
    if let Some(first) = structural::first_mismatch_functions(left, &right, mode) {
        out.push(format!("first: {}: {}", first.left, first.reason));
    }
    Ok(out.join("\n"))
}

// Runs @f on the inputs in the `//<` lines of the program.
fn run(case: &Case) -> Result<String, Failure> {
    let inputs = case.program.lines().filter_map(|line| line.strip_prefix("//< "));
    match run_values(&case.program, &read_values(inputs)?) {
        Ok(results) => Ok(results.iter().map(write_value).collect::<Vec<_>>().join("\n")),
        Err(message) if message.starts_with("error: ") => Ok(message),
        Err(message) => Err(Failure::new(message)),
    }
}

fn same_values(case: &Case, expected: &str, found: &str) -> Result<(), Failure> {
    if case.header("values").is_none() {
        return Err(Failure::new("the header does not say where the values come from"));
    }
    let Some(tolerance) = case.header("tolerance") else {
        return Err(Failure::new("the header names no tolerance"));
    };
    if expected.starts_with("error: ") || found.starts_with("error: ") {
        if expected == found {
            return Ok(());
        }
        return Err(Failure::new(format!("expected `{expected}`, found `{found}`")));
    }
    let (found, expected) = (read_values(found.lines())?, read_values(expected.lines())?);
    Ok(compare_all(&found, &expected, &tolerance.parse()?)?)
}

fn main() -> ExitCode {
    let root = repository().join("tests/golden");
    let registry = Registry::builtin();
    for folder in ["text", "verify", "run"] {
        let ops = registry.defs().map(|d| d.name);
        let others = [
            "unregistered",
            "literal_operands",
            "comments",
            "syntax",
            "names",
            "extracted_from",
            "recovery",
            "poison",
            "messages",
            "symbol_scope",
            "locations",
            "dim_rules",
            "symbols_that_cannot_be",
            "symbolic_inference",
        ];
        let files: Vec<&str> = ops
            .chain(
                others.into_iter().filter(|o| root.join(folder).join(format!("{o}.ptir")).exists()),
            )
            .collect();
        if let Err(problems) =
            sapwood_testing::registry::check_files("op", files, &root.join(folder), "ptir")
        {
            panic!("{problems}");
        }
    }
    Runner::new(root)
        .kind(
            Kind::new("text", "ptir", text)
                .by_function("ptir 1")
                .check("it reads back", reads_back),
        )
        .kind(Kind::new("verify", "ptir", verify).diagnostics_on_their_lines())
        .kind(Kind::new("diff", "ptir", diff).key("mode"))
        .kind(Kind::new("run", "ptir", run).key("values").key("tolerance").compared_by(same_values))
        .own_kinds_only()
        .main()
}
