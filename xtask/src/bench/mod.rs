//! `cargo xtask bench`: measures our side and the peers, and compares them.

mod peers;
pub(crate) mod rows;
mod table;

pub(crate) use peers::python_environment;

use std::collections::BTreeMap;
use std::path::Path;
use std::process::Command;

use anyhow::{Context as _, Result, bail};
use serde_json::{Map, Value, json};

use crate::process;
use crate::workspace::Workspace;
use rows::BenchRow;
use table::{RowVerdict, judge};

/// The package whose binaries are the areas.
const PACKAGE: &str = "sapwood-benches";

/// The options of `cargo xtask bench`.
pub(crate) struct BenchOptions {
    /// The area to measure; all if none.
    pub(crate) area: Option<String>,
    /// Also measures the peers.
    pub(crate) peers: bool,
}

/// The measurements of one side by row.
pub(crate) type Measurements = BTreeMap<String, Measurement>;

/// The measurement of one row on one side.
#[derive(Clone, Debug)]
pub(crate) struct Measurement {
    /// The value, or an error.
    value: Result<f64, String>,
    /// The printed JSON object.
    line: Value,
}

/// Measures, prints a table and writes JSON per area. Returns false if our side failed, or misses a target by a factor of two
/// or more.
pub(crate) fn run(options: &BenchOptions) -> Result<bool> {
    let workspace = Workspace::find()?;
    let mut passed = true;
    for area in rows::areas() {
        if options.area.as_deref().is_none_or(|selected| selected == area) {
            passed &= run_area(&workspace, area, options.peers)?;
        }
    }
    Ok(passed)
}

fn run_area(workspace: &Workspace, area: &str, with_peers: bool) -> Result<bool> {
    if area == "eval"
        && with_peers
        && let Err(error) = peers::write_batched_models(workspace)
    {
        println!("    models with eight times the batch cannot be written: {error:#}");
    }
    let rows: Vec<BenchRow> = rows::all().into_iter().filter(|row| row.area == area).collect();
    if area == "onnx" {
        rows::onnx::fetch_models(workspace)?;
    }
    println!("==> {area}: our side");
    let ours = measure_ours(workspace, area, &rows);
    if let Err(error) = &ours {
        println!("    {error:#}");
    }
    let peer = with_peers.then(|| {
        println!("==> {area}: the peer");
        peers::measure(workspace, area, &rows)
    });
    if let Some(Err(error)) = &peer {
        println!("    the peer cannot be measured: {error:#}");
    }
    let none = Measurements::new();
    let our_values = ours.as_ref().unwrap_or(&none);
    let peer_values = match &peer {
        Some(Ok(side)) => Some(side),
        _ => None,
    };
    println!("{}", table::render_table(&rows, our_values, peer_values));
    for row in rows.iter().filter(|row| row.lists_models()) {
        let peer = peer_values.and_then(|p| p.get(&row.name));
        if let Some((worse, all)) = table::worse_models(our_values.get(&row.name), peer) {
            let at_most = all - worse.len();
            println!("`{}`: at most the peer's on {at_most} of {all} models", row.name);
            worse.iter().for_each(|model| println!("    {model}"));
        }
    }
    let verdicts: Vec<RowVerdict> = rows
        .iter()
        .map(|row| {
            judge(row, our_values.get(&row.name), peer_values.and_then(|p| p.get(&row.name)))
        })
        .collect();
    let peer_note = match &peer {
        Some(Err(error)) => json!(format!("{error:#}")),
        _ => Value::Null,
    };
    let report = report(area, &rows, our_values, peer_values, &verdicts, &peer_note);
    let path = workspace.target.join(format!("bench/{area}.json"));
    write_file(&path, &format!("{report:#}\n"))?;
    println!("written to {}", path.strip_prefix(&workspace.root).unwrap_or(&path).display());
    Ok(!verdicts.iter().any(RowVerdict::is_failure))
}

/// Builds and runs our benchmark binary of an area.
fn measure_ours(workspace: &Workspace, area: &str, rows: &[BenchRow]) -> Result<Measurements> {
    if area == "python" {
        let finished = crate::python::bench(workspace)?;
        return parse_measurements(area, rows, &finished);
    }
    if area == "onnx" {
        let output = peers::measure_command(workspace, area)?;
        return parse_measurements(area, rows, &output);
    }
    if !workspace.has_binary(PACKAGE, area) {
        bail!("our side has no benches/src/bin/{area}.rs");
    }
    let mut command = Command::new("cargo");
    command.args(["run", "--quiet", "--profile", "dist", "--package", PACKAGE, "--bin", area]);
    command.env("SAPWOOD_PROGRAMS", rows::stablehlo::folder());
    command.env("SAPWOOD_BATCHED", rows::eval::batched_folder());
    let finished = process::run(command.current_dir(&workspace.root), false, None)?;
    if !finished.success {
        bail!("our side failed, {}:\n{}", finished.problem, finished.output);
    }
    parse_measurements(area, rows, &finished.stdout)
}

/// Parses the output of one side: JSON objects, one per line. Other lines are ignored.
fn parse_measurements(area: &str, rows: &[BenchRow], output: &str) -> Result<Measurements> {
    let mut side = Measurements::new();
    for text in output.lines().filter(|line| line.starts_with('{')) {
        let line: Value =
            serde_json::from_str(text).with_context(|| format!("not JSON: {text}"))?;
        let name = line["row"].as_str().with_context(|| format!("no \"row\" in {text}"))?;
        let Some(row) = rows.iter().find(|row| row.name == name) else {
            bail!("`{name}` is not a row of {area}; add it to xtask/src/bench/rows/{area}.rs");
        };
        let value = match (line["value"].as_f64(), line["error"].as_str()) {
            (Some(value), _) => {
                if line["unit"] != row.unit {
                    bail!("`{name}` is in {}, expected {}", line["unit"], row.unit);
                }
                Ok(value)
            }
            (None, Some(error)) => Err(error.to_owned()),
            (None, None) => bail!("neither \"value\" nor \"error\" in {text}"),
        };
        side.insert(name.to_owned(), Measurement { value, line });
    }
    Ok(side)
}

fn report(
    area: &str,
    rows: &[BenchRow],
    ours: &Measurements,
    peer: Option<&Measurements>,
    verdicts: &[RowVerdict],
    peer_note: &Value,
) -> Value {
    let line = |side: Option<&Measurements>, row: &BenchRow| {
        side.and_then(|side| side.get(&row.name)).map_or(Value::Null, |m| m.line.clone())
    };
    let rows: Vec<Value> = rows
        .iter()
        .zip(verdicts)
        .map(|(row, verdict)| {
            let mut entry = Map::new();
            entry.insert("row".into(), json!(row.name));
            entry.insert("what".into(), json!(row.work));
            entry.insert("unit".into(), json!(row.unit));
            entry.insert("ours".into(), line(Some(ours), row));
            entry.insert("peer".into(), line(peer, row));
            entry.insert("reach".into(), json!(table::targets_text(row)));
            entry.insert("result".into(), json!(verdict.to_string()));
            Value::Object(entry)
        })
        .collect();
    json!({ "area": area, "rows": rows, "peer_problem": peer_note })
}

/// Writes a file atomically, and creates its folder if necessary.
fn write_file(path: &Path, text: &str) -> Result<()> {
    let folder = path.parent().context("a file has a folder")?;
    std::fs::create_dir_all(folder)?;
    sapwood_types::write_atomically(path, text.as_bytes(), &|| Ok(()))
        .with_context(|| path.display().to_string())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn rows() -> Vec<BenchRow> {
        rows::all().into_iter().filter(|row| row.area == "structural").collect()
    }

    #[test]
    fn parses_objects_and_ignores_other_lines() {
        let output = "building\n{\"area\":\"structural\",\"row\":\"equal/tree\",\"value\":12.5,\"unit\":\"ns/node\",\"n\":1048575}\n\
                      {\"area\":\"structural\",\"row\":\"equal/chain\",\"error\":\"crashed\"}\n";
        let side = parse_measurements("structural", &rows(), output).unwrap();
        assert_eq!(side["equal/tree"].value, Ok(12.5));
        assert_eq!(side["equal/chain"].value, Err("crashed".into()));
    }

    #[test]
    fn rejects_lines_that_are_not_rows() {
        let problem = |line: &str| {
            format!("{:#}", parse_measurements("structural", &rows(), line).unwrap_err())
        };
        assert!(problem("{oops").starts_with("not JSON"));
        assert!(problem("{\"value\":1}").starts_with("no \"row\""));
        assert!(problem("{\"row\":\"nonsense\"}").contains("is not a row of structural"));
        assert!(problem("{\"row\":\"equal/tree\"}").starts_with("neither"));
        let unit = problem("{\"row\":\"equal/tree\",\"value\":1,\"unit\":\"ms\"}");
        assert_eq!(unit, "`equal/tree` is in \"ms\", expected ns/node");
    }

    #[test]
    fn row_names_are_unique_within_an_area() {
        let rows = rows::all();
        for (position, row) in rows.iter().enumerate() {
            let duplicate =
                rows[position + 1..].iter().any(|r| r.area == row.area && r.name == row.name);
            assert!(!duplicate, "{} {} appears twice", row.area, row.name);
        }
    }
}
