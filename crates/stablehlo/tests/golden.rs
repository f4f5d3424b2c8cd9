//! Golden files of StableHLO: a module, and its output, or its errors.
//!
//! A module whose `main` takes no inputs is also run, before and after `simplify`: its `check.expect_…` calls must hold.

use std::process::ExitCode;

use sapwood_ptir::eval::{self, RunOptions};
use sapwood_ptir::structural::{self, Mode};
use sapwood_ptir::{from_json, to_json};
use sapwood_rewrite::PassManager;
use sapwood_stablehlo::{Extras, check_call_kernels, read, write, write_program};
use sapwood_testing::golden::{Case, Failure, Kind, Runner};
use sapwood_types::Source;

fn main() -> ExitCode {
    Runner::new(sapwood_testing::repository().join("tests/golden"))
        .own_kinds_only()
        .kind(
            Kind::new("stablehlo", "mlir", run)
                .check("it prints back to itself", prints_back)
                .check("it is the same through JSON", through_json)
                .check("its checks hold, before and after simplify", checks_hold),
        )
        .main()
}

fn run(case: &Case) -> Result<String, Failure> {
    let source = Source::new(&case.name, case.program.as_str());
    let module = match read(&source) {
        Ok(module) => module,
        Err(problems) => return Ok(problems.render(&source)),
    };
    let notes: String = module.notes.iter().map(|note| format!("// {note}\n")).collect();
    Ok(notes + &write(&module)?)
}

fn prints_back(case: &Case, output: &str) -> Result<(), Failure> {
    let first = Source::new(&case.name, case.program.as_str());
    let Ok(module) = read(&first) else { return Ok(()) };
    let again = read(&Source::new("output", output)).map_err(|problems| problems.to_string())?;
    if !structural::equal(&module.program, &again.program, Mode::Ordered) {
        return Err(Failure::new(format!("it is read back as\n{}", again.program)));
    }
    let text = write(&again)?;
    let output: String =
        output.lines().filter(|l| !l.starts_with("//")).map(|l| format!("{l}\n")).collect();
    if text.trim_end() == output.trim_end() {
        return Ok(());
    }
    Err(Failure::new(format!("it prints as\n{text}")))
}

fn through_json(case: &Case, _: &str) -> Result<(), Failure> {
    let Ok(module) = read(&Source::new(&case.name, case.program.as_str())) else { return Ok(()) };
    let extras = module.extras.to_json(&module.program);
    let mut program = from_json(&to_json(&module.program)).map_err(|p| p.to_string())?;
    let extras = Extras::from_json(&extras, &mut program)?;
    let (before, after) = (write(&module)?, write_program(&program, &extras)?);
    if before == after {
        return Ok(());
    }
    Err(Failure::new(format!("through JSON it prints as\n{after}")))
}

fn checks_hold(case: &Case, _: &str) -> Result<(), Failure> {
    let Ok(module) = read(&Source::new(&case.name, case.program.as_str())) else { return Ok(()) };
    if module.program.function("main").is_none_or(|main| !main.params().is_empty()) {
        return Ok(());
    }
    let mut after = module.program.clone();
    PassManager::parse("inline,symbol-dce,simplify")
        .map_err(|problems| problems.to_string())?
        .run(&mut after)
        .map_err(|failure| failure.to_string())?;
    for (when, program) in [("before", &module.program), ("after", &after)] {
        let options =
            RunOptions { kernels: Some(check_call_kernels(None)), ..RunOptions::default() };
        eval::run(program, "main", &[], &options).map_err(|e| format!("{when}: {e}"))?;
    }
    Ok(())
}
