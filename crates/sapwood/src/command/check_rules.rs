//! `sapwood check-rules`.

use std::path::PathBuf;

use sapwood_ptir::Registry;
use sapwood_rules::{Rule, RuleCheckOptions, RuleVerdict, check_rule};
use sapwood_types::counted;
use serde_json::{Value, json};

use super::answer::{Answer, Trouble};
use super::console::Console;
use super::patterns::load_rules;

/// Run both sides of rules on random inputs
///
/// Makes up instances of the left side of each rule: shapes, element types, attributes, values. Applies the rule and runs both
/// programs. Exit code 1 if a rule is wrong, with a small case that shows it, or could not be checked on as many instances.
#[derive(clap::Args)]
pub(super) struct Args {
    /// Files of rules (.rules), or directories of them
    #[arg(required = true, value_name = "FILES")]
    files: Vec<PathBuf>,
    /// Only this rule; may stand several times
    #[arg(long, value_name = "RULE")]
    only: Vec<String>,
    /// On how many instances each rule is run
    #[arg(long, value_name = "N", default_value_t = RuleCheckOptions::default().instances,
          value_parser = at_least_one)]
    instances: usize,
    /// Seed of the random instances
    #[arg(long, value_name = "SEED", default_value_t = 1)]
    seed: u64,
}

pub(super) fn run(args: &Args, console: &Console) -> Result<Answer, Trouble> {
    let rules: Vec<Rule> = load_rules(&args.files)?.into_iter().flat_map(|(_, r)| r).collect();
    for name in &args.only {
        if !rules.iter().any(|r| r.name() == name) {
            return Err(super::ops::unknown("rule", name, rules.iter().map(Rule::name)));
        }
    }
    if rules.is_empty() {
        return Err(Trouble::new("there are no rules in these files (.rules)"));
    }
    let options = RuleCheckOptions {
        seed: args.seed,
        instances: args.instances,
        ..RuleCheckOptions::default()
    };
    let (mut answer, mut list) = (Answer::Yes, Vec::new());
    for rule in &rules {
        if !args.only.is_empty() && !args.only.iter().any(|name| name == rule.name()) {
            continue;
        }
        let verdict = check_rule(rule, &Registry::builtin(), &options);
        let few = matches!(verdict, RuleVerdict::Holds(n) if n < args.instances);
        let fine = matches!(verdict, RuleVerdict::Holds(_) | RuleVerdict::MatchOnly);
        if few || !fine {
            answer = Answer::No;
        }
        let (text, value) = shown(rule, &verdict, args.instances);
        list.push(value);
        if !console.json {
            console.write(&text)?;
        }
    }
    if console.json {
        console.write_json(&json!({ "rules": list }))?;
    }
    Ok(answer)
}

fn at_least_one(text: &str) -> Result<usize, String> {
    match text.parse() {
        Ok(0) => Err("a rule is checked on at least 1 instance".into()),
        Ok(n) => Ok(n),
        Err(_) => Err(format!("`{text}` is no number of instances")),
    }
}

fn shown(rule: &Rule, verdict: &RuleVerdict, asked: usize) -> (String, Value) {
    let name = rule.name();
    match verdict {
        RuleVerdict::Holds(n) if *n < asked => (
            format!(
                "{name}: holds on {}, but no more of {asked} could be made up\n",
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
            format!("{name}: not checked: it applied to nothing that was made up\n"),
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
