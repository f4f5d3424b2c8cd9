//! Lowers a front-end file, or a built-in sample, and prints the PTIR.

use std::process::ExitCode;

use sapwood_ir::parse_program;
use sapwood_types::Source;

const POWER: &str = "\
def power(x: pi.FP32, n: pi.INT64) -> pi.FP32:
    result = 1.0
    while n > 0:
        if n % 2 == 1:
            result = result * x
        x = x * x
        n = n // 2
    return result
";

#[allow(clippy::print_stdout, clippy::print_stderr)]
fn main() -> ExitCode {
    let source = match std::env::args().nth(1) {
        None => Source::new("power.py", POWER),
        Some(path) => match std::fs::read_to_string(&path) {
            Ok(text) => Source::new(&path, text.as_str()),
            Err(error) => {
                eprintln!("{path}: {error}");
                return ExitCode::from(2);
            }
        },
    };
    match parse_program(&source).and_then(|program| sapwood_lower::lower(&program)) {
        Ok(lowered) => {
            print!("{lowered}");
            ExitCode::SUCCESS
        }
        Err(problems) => {
            eprint!("{}", problems.render(&source));
            ExitCode::FAILURE
        }
    }
}
