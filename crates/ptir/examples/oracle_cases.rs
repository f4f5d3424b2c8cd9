//! Runs the random cases of `tests/oracle/oracle.py cases`, one JSON object per line of a file, and compares.
//!
//! ```sh
//! python tests/oracle/oracle.py cases --count 5000 --out cases.jsonl
//! cargo run --release -p sapwood-ptir --features testing --example oracle_cases cases.jsonl
//! ```

#![allow(clippy::print_stdout, reason = "a command")]

use std::collections::BTreeMap;
use std::io::BufRead;
use std::process::ExitCode;

use sapwood_ptir::TensorLiteral;
use sapwood_ptir::testing::{compare_all, run_values, write_value};
use serde_json::Value;

/// Failures that are shown in full.
const SHOWN: usize = 20;

fn main() -> ExitCode {
    let Some(path) = std::env::args_os().nth(1) else {
        println!("usage: oracle_cases FILE");
        return ExitCode::from(2);
    };
    let file = match std::fs::File::open(&path) {
        Ok(file) => std::io::BufReader::new(file),
        Err(error) => {
            println!("cannot read {}: {error}", path.display());
            return ExitCode::from(2);
        }
    };
    // Passed and failed, by op.
    let mut counts: BTreeMap<String, [usize; 2]> = BTreeMap::new();
    let mut shown = 0;
    for line in file.lines() {
        let (op, result) = match line.map_err(|e| e.to_string()).and_then(|line| check(&line)) {
            Ok(checked) => checked,
            Err(message) => {
                println!("the cases cannot be read: {message}");
                return ExitCode::from(2);
            }
        };
        let entry = counts.entry(op).or_default();
        entry[usize::from(result.is_err())] += 1;
        if let Err(message) = result {
            shown += 1;
            if shown <= SHOWN {
                println!("{message}\n");
            }
        }
    }
    let passed: usize = counts.values().map(|c| c[0]).sum();
    let failed: usize = counts.values().map(|c| c[1]).sum();
    for (op, [passed, failed]) in counts.iter().filter(|(_, c)| c[1] > 0) {
        println!("{op}: {failed} of {} cases failed", passed + failed);
    }
    println!("{passed} cases of {} ops passed, {failed} failed", counts.len());
    if failed == 0 && passed > 0 { ExitCode::SUCCESS } else { ExitCode::FAILURE }
}

// The op of a case and how it went.
fn check(line: &str) -> Result<(String, Result<(), String>), String> {
    let case: Value = serde_json::from_str(line).map_err(|e| e.to_string())?;
    let text = |key: &str| case[key].as_str().ok_or_else(|| format!("`{key}` is missing"));
    let tensors = |key: &str| -> Result<Vec<TensorLiteral>, String> {
        case[key]
            .as_array()
            .ok_or_else(|| format!("`{key}` is missing"))?
            .iter()
            .map(tensor)
            .collect()
    };
    let (inputs, outputs) = (tensors("inputs")?, tensors("outputs")?);
    let tolerance = text("tolerance")?;
    let limits = tolerance.parse()?;
    let result = run_values(text("program")?, &inputs).and_then(|found| {
        compare_all(&found, &outputs, &limits).map_err(|difference| {
            let lines = |title: &str, values: &[TensorLiteral]| {
                let one = |v| format!("\n  {title} {}", write_value(v));
                values.iter().map(one).collect::<String>()
            };
            let mut all = lines("input   ", &inputs);
            all += &lines("found   ", &found);
            all += &lines("expected", &outputs);
            format!("{difference} (tolerance {tolerance}){all}")
        })
    });
    let result = result.map_err(|message| {
        format!(
            "{}: {message}\n{}",
            text("name").unwrap_or_default(),
            text("program").unwrap_or_default()
        )
    });
    Ok((text("op")?.to_owned(), result))
}

fn tensor(value: &Value) -> Result<TensorLiteral, String> {
    let dtype = value["dtype"].as_str().ok_or("`dtype` is missing")?;
    let shape = value["shape"].as_array().ok_or("`shape` is missing")?;
    let shape: Option<Vec<u64>> = shape.iter().map(Value::as_u64).collect();
    let hex = value["hex"].as_str().ok_or("`hex` is missing")?;
    let digit = |b: u8| char::from(b).to_digit(16);
    let pairs = hex.as_bytes().chunks(2);
    let bytes: Option<Vec<u8>> =
        pairs.map(|p| Some((digit(p[0])? << 4 | digit(*p.get(1)?)?) as u8)).collect();
    let dtype = dtype.parse().map_err(|e| format!("{e}"))?;
    let (shape, bytes) = (shape.ok_or("a dim is not a number")?, bytes.ok_or("bad hex digits")?);
    TensorLiteral::new(dtype, &shape, &bytes).map_err(|e| e.to_string())
}
