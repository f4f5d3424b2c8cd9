//! `sapwood check-rules`.

use std::path::PathBuf;

use sapwood_rules::{Rule, RuleCheckOptions, RuleVerdict, check_rule};
use sapwood_types::counted;
use serde_json::{Value, json};

use crate::command::cli_error::CliError;
use crate::command::console::Console;
use crate::command::io::pattern_files::read_argument;
use crate::command::status::Status;

/// Check rules by running both sides on random inputs
///
/// Generates random instances of the left side of each rule: shapes, element types, attributes, values. Applies the rule and
/// runs both programs. Exit code 1 if a rule is wrong, with a small counterexample, or if not enough instances could be
/// generated.
#[derive(clap::Args)]
pub(crate) struct Args {
    /// Files of rules (.rules), or directories of them; `-` means standard input
    #[arg(required = true, value_name = "FILES")]
    files: Vec<PathBuf>,
    /// Check only this rule. May be repeated
    #[arg(long, value_name = "RULE")]
    only: Vec<String>,
    /// Number of instances per rule
    #[arg(long, value_name = "N", default_value_t = RuleCheckOptions::default().instances,
          value_parser = parse_instances)]
    instances: usize,
    /// Seed of the random instances
    #[arg(long, value_name = "SEED", default_value_t = 1)]
    seed: u64,
}

pub(crate) fn run(args: &Args, console: &Console) -> Result<Status, CliError> {
    let rules = console.toolkit.pattern_files(&read_argument).rules(&args.files)?;
    for name in &args.only {
        if !rules.iter().any(|r| r.name() == name) {
            return Err(CliError::unknown_name("rule", name, rules.iter().map(Rule::name)));
        }
    }
    if rules.is_empty() {
        return Err(CliError::new("no rules in these files (.rules)"));
    }
    let options = RuleCheckOptions {
        seed: args.seed,
        instances: args.instances,
        ..RuleCheckOptions::default()
    };
    let (mut status, mut list) = (Status::Success, Vec::new());
    for rule in &rules {
        if !args.only.is_empty() && !args.only.iter().any(|name| name == rule.name()) {
            continue;
        }
        let verdict = check_rule(rule, console.toolkit.registry(), &options);
        let too_few = matches!(verdict, RuleVerdict::Holds(n) if n < args.instances);
        let holds = matches!(verdict, RuleVerdict::Holds(_) | RuleVerdict::MatchOnly);
        if too_few || !holds {
            status = Status::Negative;
        }
        let (text, value) = describe_verdict(rule, &verdict, args.instances);
        list.push(value);
        if !console.json {
            console.write(&text)?;
        }
    }
    if console.json {
        console.write_json(&json!({ "rules": list }))?;
    }
    Ok(status)
}

// Parses a number of instances.
fn parse_instances(text: &str) -> Result<usize, String> {
    match text.parse() {
        Ok(0) => Err("expected at least 1 instance".into()),
        Ok(n) => Ok(n),
        Err(_) => Err(format!("`{text}` is not a number of instances")),
    }
}

// Returns the verdict on a rule as text and as JSON.
fn describe_verdict(rule: &Rule, verdict: &RuleVerdict, requested: usize) -> (String, Value) {
    let name = rule.name();
    match verdict {
        RuleVerdict::Holds(n) if *n < requested => (
            format!(
                "{name}: holds on {}, but {requested} were requested and no more could be generated\n",
                counted(*n, "instance")
            ),
            json!({ "rule": name, "verdict": "too few", "instances": n }),
        ),
        RuleVerdict::Holds(n) => (
            format!("{name}: holds on {}\n", counted(*n, "instance")),
            json!({ "rule": name, "verdict": "holds", "instances": n }),
        ),
        RuleVerdict::MatchOnly => (
            format!("{name}: has no right side\n"),
            json!({ "rule": name, "verdict": "only found" }),
        ),
        RuleVerdict::NeverApplied => (
            format!("{name}: not checked: it matched no generated instance\n"),
            json!({ "rule": name, "verdict": "not checked" }),
        ),
        RuleVerdict::NotChecked(reason) => (
            format!("{name}: not checked: {reason}\n"),
            json!({ "rule": name, "verdict": "not checked", "reason": reason }),
        ),
        RuleVerdict::ChangesNothing(function) => {
            let indented: String = function.lines().map(|line| format!("  {line}\n")).collect();
            (
                format!("{name}: changes nothing\n{indented}"),
                json!({ "rule": name, "verdict": "changes nothing", "left": function }),
            )
        }
        RuleVerdict::Wrong(case) => (
            format!("{name}: wrong\n{case}"),
            json!({
                "rule": name,
                "verdict": "wrong",
                "left": case.left,
                "right": case.right,
                "inputs": case.inputs,
                "before": case.before,
                "after": case.after,
            }),
        ),
    }
}
