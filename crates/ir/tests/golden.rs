//! Golden files of the front-end IR: a program, and what becomes of it.
//!
//! Without more, a program is read, verified and printed; problems are printed where they are found.

use std::process::ExitCode;

use sapwood_ir::passes::PASSES;
use sapwood_ir::{Level, Program, parse_program, print_program, verify};
use sapwood_structural::Ref;
use sapwood_testing::golden::{Case, Failure, Kind, Runner};
use sapwood_types::Source;

fn main() -> ExitCode {
    Runner::new(sapwood_testing::repository().join("tests/golden"))
        .own_kinds_only()
        .kind(
            Kind::new("ir", "ir", run)
                .lead("#")
                .key("level")
                .key("pass")
                .check("the output prints back to itself", prints_back),
        )
        .main()
}

fn level(case: &Case) -> Result<Level, Failure> {
    match case.header("level") {
        None => Ok(Level::WellFormed),
        Some("ssa") => Ok(Level::Ssa),
        Some(other) => Err(Failure::new(format!("no level is called `{other}`; there is `ssa`"))),
    }
}

fn run(case: &Case) -> Result<String, Failure> {
    let source = Source::new(&case.name, case.program.as_str());
    let mut program = match parse_program(&source) {
        Ok(program) => program,
        Err(problems) => return Ok(problems.render(&source)),
    };
    let problems = verify(&program, level(case)?);
    if !problems.is_empty() {
        return Ok(problems.render(&source));
    }
    for pass in case.headers("pass") {
        program = run_pass(pass, &program)?;
        let problems = verify(&program, Level::WellFormed);
        if !problems.is_empty() {
            return Err(Failure::new(problems.render(&source)));
        }
    }
    Ok(print_program(&program)?)
}

fn run_pass(name: &str, program: &Ref<Program>) -> Result<Ref<Program>, Failure> {
    match PASSES.iter().find(|(known, _)| *known == name) {
        Some((_, pass)) => Ok(pass(program)?),
        None => Err(Failure::new(format!("no pass is called `{name}`"))),
    }
}

fn prints_back(_: &Case, output: &str) -> Result<(), Failure> {
    if output.starts_with("error") {
        return Ok(());
    }
    let source = Source::new("output", output);
    let program = parse_program(&source).map_err(|problems| problems.render(&source))?;
    let again = print_program(&program)?;
    if again == output { Ok(()) } else { Err(Failure::new(format!("it prints as\n{again}"))) }
}
