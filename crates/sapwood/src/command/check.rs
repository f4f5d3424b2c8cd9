//! `opt --check`: two programs on the same random inputs.

use std::time::Duration;

use sapwood_ptir::eval::{self, RunOptions, Value};
use sapwood_ptir::{Function, Program};
use sapwood_rewrite::FloatMode;
use sapwood_runtime::Closeness;
use serde_json::json;

use super::random::random_inputs;

/// How many sets of inputs each function is run on.
const SETS: u64 = 4;
/// How many steps a run may take.
const STEPS: u64 = 100_000_000;
/// How long a run may take.
const TIME: Duration = Duration::from_secs(10);

/// What came of running two programs.
pub(super) struct Found {
    lines: Vec<String>,
    worst: f64,
    compared: usize,
    different: bool,
}

impl Found {
    pub(super) fn different(&self) -> bool {
        self.different
    }

    pub(super) fn text(&self) -> String {
        let mut text: String = self.lines.iter().map(|line| format!("{line}\n")).collect();
        let runs = self.compared;
        text += &match (self.different, self.worst) {
            (true, _) => "check: different\n".into(),
            _ if runs == 0 => "check: nothing could be run\n".into(),
            (false, 0.0) => format!("check: the same on {runs} random inputs\n"),
            (false, worst) => {
                format!(
                    "check: within what is allowed on {runs} random inputs, at worst {worst:e}\n"
                )
            }
        };
        text
    }

    pub(super) fn json(&self) -> serde_json::Value {
        json!({
            "different": self.different,
            "runs": self.compared,
            "worst": self.worst,
            "messages": self.lines,
        })
    }
}

/// Runs every function of both programs that takes tensors.
pub(super) fn compare(before: &Program, after: &Program, floats: FloatMode, seed: u64) -> Found {
    let mut found = Found { lines: Vec::new(), worst: 0.0, compared: 0, different: false };
    for f in before.functions() {
        // What nothing calls may have been left out on purpose.
        if after.function(f.name()).is_none() {
            continue;
        }
        for set in 0..SETS {
            if found.different {
                return found;
            }
            one(&mut found, before, after, f, floats, (seed.wrapping_add(set), set % 2 == 1));
        }
    }
    found
}

fn one(
    found: &mut Found,
    before: &Program,
    after: &Program,
    f: &Function,
    floats: FloatMode,
    (seed, special): (u64, bool),
) {
    let name = f.name();
    let Some(inputs) = random_inputs(f, seed, special) else {
        found.lines.push(format!("check: @{name} takes what cannot be made up (no tensor, or 2^28 elements or more), not run"));
        return;
    };
    let options = RunOptions {
        max_steps: Some(STEPS),
        time_limit: Some(TIME),
        kernels: Some(sapwood_stablehlo::checks(None)),
        ..RunOptions::default()
    };
    let run = |program| eval::run(program, name.as_str(), &inputs, &options);
    let (old, new) = match (run(before), run(after)) {
        (Ok(old), Ok(new)) => (old, new),
        (Err(why), _) => {
            found.lines.push(format!("check: not run: {why}"));
            return;
        }
        (Ok(_), Err(why)) => {
            found.lines.push(format!("check: fails only afterwards: {why}"));
            found.different = true;
            return;
        }
    };
    found.compared += 1;
    let allowed = match floats {
        FloatMode::Exact | FloatMode::Nsz => Closeness::SAME,
        FloatMode::Fast => Closeness { relative: 1e-3, absolute: 1e-5 },
    };
    for (n, (a, b)) in old.iter().zip(&new).enumerate() {
        found.worst = found.worst.max(distance(a, b));
        let zeros = floats == FloatMode::Exact && differ_in_sign_of_zero(a, b);
        if let Some((at, x, y)) = allowed.first_difference(a, b) {
            found
                .lines
                .push(format!("check: @{name}, result {n}, element {at}: {x} before, {y} after"));
        } else if zeros {
            found.lines.push(format!("check: @{name}, result {n}: the sign of a zero differs"));
        } else {
            continue;
        }
        for (i, input) in inputs.iter().enumerate() {
            found.lines.push(format!("  input {i}: {input}"));
        }
        found.lines.push(format!("  before: {a}"));
        found.lines.push(format!("  after:  {b}"));
        found.different = true;
        return;
    }
}

fn pairs(a: &Value, b: &Value) -> Vec<(f64, f64)> {
    match (a.as_tensor(), b.as_tensor()) {
        (Some(a), Some(b)) => sapwood_runtime::pairs(a, b),
        _ => Vec::new(),
    }
}

fn distance(a: &Value, b: &Value) -> f64 {
    let apart = |(x, y): (f64, f64)| (x - y).abs();
    pairs(a, b).into_iter().map(apart).filter(|d| d.is_finite()).fold(0.0, f64::max)
}

fn differ_in_sign_of_zero(a: &Value, b: &Value) -> bool {
    pairs(a, b)
        .into_iter()
        .any(|(x, y)| x == 0.0 && y == 0.0 && x.is_sign_negative() != y.is_sign_negative())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn splats_beyond_memory_are_compared() {
        let text = "ptir 1 func @f(%x: f32[]) -> f32[1099511627776] {
          %y = broadcast_to %x : f32[1099511627776]
          return %y
        }";
        let program = sapwood_ptir::parse(text).unwrap();
        let found = compare(&program, &program, FloatMode::Exact, 1);
        assert!(!found.different());
        assert_eq!(found.compared, SETS as usize);
    }
}
