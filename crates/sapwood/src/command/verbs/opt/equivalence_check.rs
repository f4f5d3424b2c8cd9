//! `opt --check`: the comparison of the programs before and after, and its report as text, as JSON and on a page.

use sapwood_check::{CheckOptions, CheckReport, FunctionReport, Verdict};
use sapwood_explorer::CheckSection;
use sapwood_ptir::Name;
use sapwood_ptir::Program;
use sapwood_ptir::eval::Value;
use sapwood_rewrite::FloatMode;
use serde_json::json;

use super::first_bad_rewrite::FirstBadRewrite;
use crate::check_section;

/// The options of the comparison.
#[derive(Clone, Default)]
pub(in crate::command::verbs) struct EquivalenceChecker {
    pub(super) floats: FloatMode,
    pub(super) seed: u64,
    /// A function and its inputs, instead of random ones.
    pub(super) inputs: Option<(Name, Vec<Value>)>,
    /// Allows the passes to remove public functions.
    pub(super) allow_removed: bool,
}

impl EquivalenceChecker {
    /// Runs every function of both programs and compares the results. Custom calls that are checks of StableHLO's test
    /// programs are run too.
    pub(in crate::command::verbs) fn compare(
        &self,
        before: &Program,
        after: &Program,
    ) -> CheckReport {
        sapwood_check::compare(before, after, &self.options())
    }

    fn options(&self) -> CheckOptions {
        CheckOptions {
            floats: self.floats,
            seed: self.seed,
            inputs: self.inputs.clone().into_iter().collect(),
            allow_removed: self.allow_removed,
            kernels: Some(sapwood_stablehlo::check_call_kernels(None)),
            ..CheckOptions::default()
        }
    }

    /// Returns a search that compares the programs only where the report found a difference.
    pub(super) fn narrowed_to(&self, report: &CheckReport) -> DifferenceFinder {
        let differing = report.functions.iter().find(|f| f.difference.is_some());
        // A function that is missing has no inputs.
        let values = |f: &FunctionReport| Some((f.name, f.difference.as_ref()?.values.clone()?));
        let inputs = differing.and_then(values);
        let function = inputs.as_ref().map(|(name, _)| *name);
        let inputs = inputs.or_else(|| self.inputs.clone());
        DifferenceFinder { checker: Self { inputs, ..self.clone() }, function }
    }
}

/// Compares programs only on the inputs on which a function was found to differ.
pub(super) struct DifferenceFinder {
    checker: EquivalenceChecker,
    /// The function that is compared; none if all are.
    function: Option<Name>,
}

impl DifferenceFinder {
    /// Returns true if the programs compute different results.
    pub(super) fn differ(&self, before: &Program, after: &Program) -> bool {
        let verdict = match self.function {
            Some(name) => {
                let options = self.checker.options();
                sapwood_check::compare_function(before, after, name, &options).verdict()
            }
            None => self.checker.compare(before, after).verdict(),
        };
        verdict == Verdict::Different
    }
}

/// Returns the report as lines for standard error.
pub(in crate::command::verbs) fn report_text(report: &CheckReport) -> String {
    let lines = report.messages().into_iter().chain([report.summary()]);
    let lines = lines.map(|line| match line.starts_with(' ') {
        true => format!("{line}\n"),
        false => format!("check: {line}\n"),
    });
    lines.collect()
}

/// Returns the report as the section of a page.
pub(super) fn page_section(
    report: &CheckReport,
    culprit: Option<&FirstBadRewrite>,
) -> CheckSection {
    CheckSection { culprit: culprit.map(ToString::to_string), ..check_section(report) }
}

/// Returns the report as JSON.
pub(in crate::command::verbs) fn report_json(report: &CheckReport) -> serde_json::Value {
    let functions: Vec<_> = report
        .functions
        .iter()
        .map(|f| {
            let results = f.results.iter().map(|r| {
                json!({
                    "verdict": r.verdict.as_str(),
                    "reason": r.reason,
                    "compared": r.compared,
                    "worst": r.max_difference,
                })
            });
            json!({
                "function": f.name.as_str(),
                "verdict": f.verdict().as_str(),
                "runs": f.runs,
                "not_run": f.not_run,
                "results": results.collect::<Vec<_>>(),
            })
        })
        .collect();
    json!({
        "verdict": report.verdict().as_str(),
        "runs": report.runs(),
        "worst": report.max_difference(),
        "functions": functions,
        "messages": report.messages(),
    })
}
