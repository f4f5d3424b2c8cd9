//! Golden files of lowering: a front-end program, and the PTIR it becomes or why it does not.

use std::process::ExitCode;

use sapwood_ir::parse_program;
use sapwood_lower::lower;
use sapwood_testing::golden::{Case, Failure, Kind, Runner};
use sapwood_types::Source;

fn main() -> ExitCode {
    Runner::new(sapwood_testing::repository().join("tests/golden"))
        .own_kinds_only()
        .kind(
            Kind::new("lower", "py", run)
                .lead("#")
                .check("the output verifies and prints back to itself", prints_back),
        )
        .main()
}

fn run(case: &Case) -> Result<String, Failure> {
    let source = Source::new(&case.name, case.program.as_str());
    let program = parse_program(&source).map_err(|problems| problems.render(&source))?;
    match lower(&program) {
        Ok(lowered) => {
            sapwood_ptir::verify(&lowered).map_err(|problems| problems.render(&source))?;
            Ok(lowered.to_string())
        }
        Err(problems) => Ok(problems.render(&source)),
    }
}

fn prints_back(_: &Case, output: &str) -> Result<(), Failure> {
    if output.starts_with("error") {
        return Ok(());
    }
    let program = sapwood_ptir::parse(output).map_err(|problems| problems.to_string())?;
    let again = program.to_string();
    if again == output { Ok(()) } else { Err(Failure::new(format!("it prints as\n{again}"))) }
}
