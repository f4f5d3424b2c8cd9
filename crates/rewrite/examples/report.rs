//! The report of a run: changes, statistics, times, and a reproducer of a failure.
//!
//! `cargo run --example report -p sapwood-rewrite`
#![allow(clippy::print_stdout, reason = "an example prints its results")]

use sapwood_ptir::{Program, parse};
use sapwood_rewrite::{Pass, PassContext, PassError, PassManager};

const PROGRAM: &str = "ptir 1

func @f(%x: f32[2, 3]) -> (f32[2, 3], f32[2, 3]) {
  %a = transpose %x {perm = [1, 0]} : f32[3, 2]
  %b = transpose %a {perm = [1, 0]} : f32[2, 3]
  %c = exp %b : f32[2, 3]
  %d = exp %x : f32[2, 3]
  return %c, %d
}
";

/// A pass with a bug.
struct Broken;

impl Pass for Broken {
    fn name(&self) -> &'static str {
        "broken"
    }

    fn run_on_program(&self, _: &mut Program, _: &mut PassContext) -> Result<bool, PassError> {
        panic!("there is nothing here")
    }
}

fn main() -> Result<(), Box<dyn std::error::Error>> {
    let mut program = parse(PROGRAM)?;
    let manager = PassManager::parse("canonicalize,cse,dce")?;
    let report = manager.verify_each(true).print_changes(true).run(&mut program)?;
    println!("{}\n{}\n{}", report.changes(), report.statistics(), report.timing());

    let mut manager = PassManager::parse("cse")?;
    manager.add(Broken);
    if let Err(failure) = manager.run(&mut program) {
        println!("{failure}");
        if let Some(reproducer) = failure.reproducer {
            print!("{reproducer}");
        }
    }
    Ok(())
}
