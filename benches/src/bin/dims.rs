//! Extents as expressions: the cost of normalising and comparing them, and of programs whose every shape has symbols, beside the same programs with
//! numbers.

use std::hint::black_box;
use std::time::Duration;

use sapwood_benches::programs::{blocks_of, shapes_of};
use sapwood_benches::{Area, best, best_with};
use sapwood_ptir::dims::{DimExpr, Facts};
use sapwood_ptir::{ParseOptions, Program, parse_with, verify};
use sapwood_rewrite::PassManager;

const OPS: usize = 100_000;
/// The number of times that an operation is repeated within one measurement.
const REPEATS: u32 = 100_000;

fn main() {
    let area = Area::new("dims");
    if let Err(why) = expressions(&area) {
        area.failed("add", &why);
    }
    let pairs = [
        ("blocks", blocks_of(OPS, ["8", "64"], "512"), {
            blocks_of(OPS, ["?B", "2*?S + 1"], "2*?B*?S + ?B")
        }),
        ("shapes", shapes_of(OPS, ["8", "64", "32"], "512"), {
            shapes_of(OPS, ["?B", "2*?S + 1", "floordiv(?S, 2)"], "2*?B*?S + ?B")
        }),
    ];
    for (kind, numbers, symbols) in &pairs {
        for verb in ["verify", "canonicalize", "cse", "simplify"] {
            let row = format!("{verb}/{kind}/1e5");
            match (time(verb, numbers), time(verb, symbols)) {
                (Ok(numbers), Ok(symbols)) => {
                    let times = symbols.as_secs_f64() / numbers.as_secs_f64();
                    area.row(&row, times, "times", OPS as u64);
                }
                (Err(why), _) | (_, Err(why)) => area.failed(&row, &why),
            }
        }
    }
}

fn expressions(area: &Area) -> Result<(), String> {
    let expr = |text: &str| text.parse::<DimExpr>().map_err(|why| why.to_string());
    let (two, other) = (expr("2*?B + 3*?S")?, expr("?H + 4*?W")?);
    let four = expr("2*?B + 3*?S + ?H + 4*?W - 4")?;
    let near = expr("2*?B + 3*?S + ?H + 4*?W - 3")?;
    let far = expr("?B + 3*?S + 2*?H + ?W")?;
    let mut facts = Facts::new();
    for relation in ["?B - 1", "?S - ?H"] {
        facts.assume_at_least(expr(relation)?).map_err(|why| why.to_string())?;
    }
    let none = Facts::new();
    let row = |name: &str, work: &dyn Fn()| {
        let time = best(7, || (0..REPEATS).for_each(|_| work()));
        area.row(name, time.as_secs_f64() * 1e9 / f64::from(REPEATS), "ns", 1);
    };
    row("add", &|| {
        black_box(black_box(two).checked_add(black_box(other)));
    });
    row("mul", &|| {
        black_box(black_box(two).checked_mul(black_box(other)));
    });
    row("floordiv", &|| {
        black_box(black_box(four).floordiv(black_box(2)));
    });
    row("mod", &|| {
        black_box(black_box(four).modulo(black_box(2)));
    });
    row("max", &|| {
        black_box(black_box(two).max(black_box(other)));
    });
    row("compare", &|| {
        black_box(none.compare(black_box(four), black_box(far)));
    });
    row("compare-equal", &|| {
        black_box(none.compare(black_box(four), black_box(near)));
    });
    row("compare-facts", &|| {
        black_box(facts.compare(black_box(four), black_box(far)));
    });
    Ok(())
}

// Returns the time that a pass takes, with the verification after it.
fn time(verb: &str, text: &str) -> Result<Duration, String> {
    let read = || parse_with(text, ParseOptions::new().file("bench.ptir"));
    let program: Program = read().map_err(|problems| problems.to_string())?;
    if verb == "verify" {
        return Ok(best(7, || verify(black_box(&program)).is_ok()));
    }
    let manager = PassManager::parse(verb).map_err(|why| why.to_string())?;
    let manager = manager.assume_verified(true).verify_each(true).in_place(true);
    let fresh = || read().unwrap_or_else(|_| program.clone());
    Ok(best_with(7, fresh, |mut program| {
        let report = manager.run(&mut program);
        (program, report.is_ok())
    }))
}
