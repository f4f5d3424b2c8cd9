//! Golden files of the front-end IR: a program and its output.
//!
//! By default a program is parsed, verified and printed. Errors are listed with their spans; the column range ends at the
//! end of the span's first line.

use std::process::ExitCode;

use sapwood_ir::passes::PASSES;
use sapwood_ir::{Program, VerifyLevel, parse_program, print_program, verify};
use sapwood_structural::Ref;
use sapwood_testing::golden::{Case, Failure, Kind, Runner};
use sapwood_types::{Diagnostics, Source, Span};

fn main() -> ExitCode {
    Runner::new(sapwood_testing::repository().join("tests/golden"))
        .own_kinds_only()
        .kind(
            Kind::new("ir", "ir", run)
                .lead("#")
                .diagnostics_on_their_lines()
                .key("level")
                .key("pass")
                .check("the output prints back to itself", prints_back),
        )
        .main()
}

fn level(case: &Case) -> Result<VerifyLevel, Failure> {
    match case.header("level") {
        None => Ok(VerifyLevel::WellFormed),
        Some("ssa") => Ok(VerifyLevel::Ssa),
        Some(other) => Err(Failure::new(format!("no level is called `{other}`; there is `ssa`"))),
    }
}

fn run(case: &Case) -> Result<String, Failure> {
    let source = Source::new(&case.name, case.program.as_str());
    let mut program = match parse_program(&source) {
        Ok(program) => program,
        Err(problems) => return Ok(listed(&problems, &case.program)),
    };
    let problems = verify(&program, level(case)?);
    if !problems.is_empty() {
        return Ok(listed(&problems, &case.program));
    }
    for pass in case.headers("pass") {
        program = run_pass(pass, &program)?;
        let problems = verify(&program, VerifyLevel::WellFormed);
        if !problems.is_empty() {
            return Err(Failure::new(problems.render(&source)));
        }
    }
    Ok(print_program(&program)?)
}

// Lists each error with its span, then its notes and help.
fn listed(problems: &Diagnostics, text: &str) -> String {
    let mut out = String::new();
    for problem in problems {
        let place = place(problem.span, text);
        out += &format!("{place}{}: {}\n", problem.severity, problem.message);
        for (span, note) in &problem.notes {
            out += &format!("  note: {}{note}\n", self::place(*span, text));
        }
        if let Some(help) = &problem.help {
            out += &format!("  help: {help}\n");
        }
    }
    out
}

// Formats a span as `line:first-last: `.
fn place(span: Span, text: &str) -> String {
    let (line, first) = (span.begin_line(), span.begin_column());
    if span.is_unknown() {
        return String::new();
    }
    let end = match span.end_line() == line {
        true => span.end_column() as usize,
        false => 1 + text.lines().nth(line as usize - 1).unwrap_or_default().chars().count(),
    };
    let last = end.saturating_sub(1);
    if last > first as usize {
        format!("{line}:{first}-{last}: ")
    } else {
        format!("{line}:{first}: ")
    }
}

fn run_pass(name: &str, program: &Ref<Program>) -> Result<Ref<Program>, Failure> {
    match PASSES.iter().find(|(known, _)| *known == name) {
        Some((_, pass)) => Ok(pass(program)?),
        None => Err(Failure::new(format!("no pass is called `{name}`"))),
    }
}

fn prints_back(_: &Case, output: &str) -> Result<(), Failure> {
    // The output is a program only if it does not start with a span.
    if output.starts_with(|c: char| c.is_ascii_digit()) || output.starts_with("error") {
        return Ok(());
    }
    let source = Source::new("output", output);
    let program = parse_program(&source).map_err(|problems| problems.render(&source))?;
    let again = print_program(&program)?;
    if again == output { Ok(()) } else { Err(Failure::new(format!("it prints as\n{again}"))) }
}
