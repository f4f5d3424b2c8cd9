//! The statistics of `opt`: ops before and after, and the report on passes.

use std::collections::BTreeMap;

use sapwood_ptir as ptir;
use sapwood_ptir::cost::{Amount, ProgramCost, of_public_functions};
use sapwood_rewrite::RunReport;
use serde_json::{Value, json};

use super::Args;
use crate::command::amounts::{amount_json, amount_text};
use crate::command::color::{color_counts, color_diff};
use crate::command::command_name;

/// The note below the table on ops that [`count_ops`] leaves out.
const NOT_COUNTED_NOTE: &str = "not counted: constants, `return`, `yield`, and a region's only op, except in branches and loops";

/// Counts instructions by op, without constants, `return` and `yield`. The only op of the region of an op outside the control
/// family, such as the maximum of a reduction, is not counted either: most formats write both as one op, `reduce_max` or
/// `reduce … applies maximum`.
pub(super) fn count_ops(program: &ptir::Program) -> BTreeMap<&'static str, usize> {
    let mut counts = BTreeMap::new();
    for f in program.functions() {
        let is_terminator = |inst| f.op_def(inst).is_some_and(|def| def.terminator);
        let is_only_op_of_region = |inst| {
            let body = f.body_of(inst)?;
            let owner = f.op_def(f.body_owner(body)?);
            let is_control = owner.is_some_and(|def| def.family == "control");
            Some(!is_control && f.body_insts(body).take(3).count() <= 2)
        };
        for inst in f.walk() {
            let is_constant = f.value_of(inst).is_some_and(|value| f.constant_of(value).is_some());
            if !is_terminator(inst) && !is_constant && is_only_op_of_region(inst) != Some(true) {
                *counts.entry(f.op_name(inst)).or_default() += 1;
            }
        }
    }
    counts
}

/// The costs of a program before and after, which `--stats` and JSON show.
pub(super) struct CostChange {
    before: ProgramCost,
    after: ProgramCost,
}

impl CostChange {
    pub(super) fn new(before: ProgramCost, after: &ptir::Program) -> Self {
        Self { before, after: of_public_functions(after) }
    }

    fn rows(&self) -> [(&'static str, Amount, Amount); 3] {
        let (old, new) = (&self.before, &self.after);
        [
            ("flops", old.flops, new.flops),
            ("bytes", old.bytes, new.bytes),
            ("peak_memory", old.peak_memory, new.peak_memory),
        ]
    }

    fn table(&self) -> String {
        let mut text = format!("{:<24} {:>16} {:>16}\n", "cost", "before", "after");
        for (name, old, new) in self.rows() {
            let name = name.replace('_', " ");
            text += &format!("{name:<24} {:>16} {:>16}\n", amount_text(old), amount_text(new));
        }
        let ops = self.ops_not_counted();
        if !ops.is_empty() {
            let ops = ops.join("`, `");
            text += &format!(
                "not counted: the operations and bytes of `{ops}`, whose cost is not known\n"
            );
        }
        text
    }

    fn ops_not_counted(&self) -> Vec<&'static str> {
        let mut ops = self.before.ops_not_counted.clone();
        ops.extend(&self.after.ops_not_counted);
        ops.sort_unstable();
        ops.dedup();
        ops
    }

    pub(super) fn json(&self) -> Value {
        let side = |pick: fn(&(&'static str, Amount, Amount)) -> Amount| -> Value {
            let rows = self.rows();
            rows.iter().map(|row| (row.0.to_owned(), amount_json(pick(row)))).collect()
        };
        let mut json = json!({ "before": side(|row| row.1), "after": side(|row| row.2) });
        let ops = self.ops_not_counted();
        if !ops.is_empty() {
            json["ops_not_counted"] = json!(ops);
        }
        json
    }
}

/// Returns the warnings about a run, and the reports that `--print-after-change`, `--stats` and `--timing` request.
pub(super) fn report_text(
    args: &Args,
    color: bool,
    report: &RunReport,
    before: &BTreeMap<&str, usize>,
    after: &BTreeMap<&str, usize>,
    cost: Option<&CostChange>,
) -> String {
    let name = command_name();
    let mut text: String = report.warnings().map(|w| format!("{name}: {w}\n")).collect();
    if args.print_after_change {
        let changes = report.changes();
        text += &if color { color_diff(&changes) } else { changes };
    }
    if args.stats {
        let table = op_count_table(before, after);
        text += &if color { color_counts(&table) } else { table };
        text += &cost.map_or_else(String::new, CostChange::table);
        text += &report.statistics();
    }
    if args.timing {
        text += &report.timing();
    }
    text
}

// Returns a table of ops before and after, those with the largest decrease first.
fn op_count_table(before: &BTreeMap<&str, usize>, after: &BTreeMap<&str, usize>) -> String {
    let count = |ops: &BTreeMap<&str, usize>, name: &str| ops.get(name).copied().unwrap_or(0);
    let mut names: Vec<&str> = before.keys().chain(after.keys()).copied().collect();
    names.sort_unstable();
    names.dedup();
    let change = |name: &str| count(after, name) as i64 - count(before, name) as i64;
    names.sort_by_key(|name| (change(name), *name));
    let mut text = format!("{:<24} {:>8} {:>8} {:>8}\n", "op", "before", "after", "change");
    let mut line = |name: &str, old: usize, new: usize| {
        let change = match new as i64 - old as i64 {
            0 => String::new(),
            n => format!("{n:+}"),
        };
        text += format!("{name:<24} {old:>8} {new:>8} {change:>8}").trim_end();
        text.push('\n');
    };
    for name in names {
        line(name, count(before, name), count(after, name));
    }
    line("total", before.values().sum(), after.values().sum());
    text + NOT_COUNTED_NOTE + "\n"
}

/// Returns op counts and the report on passes as JSON.
pub(super) fn report_json(
    report: &RunReport,
    before: &BTreeMap<&str, usize>,
    after: &BTreeMap<&str, usize>,
) -> Value {
    let passes: Vec<Value> = report
        .passes
        .iter()
        .map(|pass| {
            let counters: BTreeMap<&str, usize> = pass.counters.iter().copied().collect();
            let patterns: Vec<Value> = pass
                .greedy
                .iter()
                .flat_map(|greedy| &greedy.patterns)
                .filter(|p| p.matched > 0)
                .map(|p| json!({ "name": p.name, "tried": p.tried, "matched": p.matched, "applied": p.applied }))
                .collect();
            let mut report = json!({
                "pass": pass.name,
                "changed": pass.changed,
                "converged": pass.greedy.as_ref().is_none_or(|greedy| greedy.converged),
                "seconds": pass.time.as_secs_f64(),
                "counters": counters,
                "patterns": patterns,
            });
            if let Some(greedy) = &pass.greedy {
                let problems: Vec<Value> = greedy
                    .problems
                    .iter()
                    .map(|p| json!({ "pattern": p.pattern, "op": p.op, "message": p.to_string() }))
                    .collect();
                let lists = [
                    ("problems", json!(problems)),
                    ("cycles", json!(greedy.cycles)),
                    ("switched_off", json!(greedy.disabled)),
                ];
                for (name, list) in lists.into_iter().filter(|(_, list)| *list != json!([])) {
                    report[name] = list;
                }
            }
            if !pass.warnings.is_empty() {
                report["warnings"] = json!(pass.warnings);
            }
            report
        })
        .collect();
    let assumed = report.assumptions().into_iter().map(|(assumption, uses)| {
        json!({ "name": assumption.name, "about": assumption.doc, "uses": uses })
    });
    let assumed: Vec<Value> = assumed.collect();
    let mut all = json!({ "ops_before": before, "ops_after": after, "passes": passes });
    if !assumed.is_empty() {
        all["assumptions"] = json!(assumed);
    }
    all
}
