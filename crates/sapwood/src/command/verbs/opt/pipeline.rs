//! The pass pipeline of `opt`.

use sapwood_rewrite::canonicalize::{LISTS, populate_canonicalization};
use sapwood_rewrite::{FloatMode, GreedyConfig, PassManager, PatternSet, SimplifyPass};
use sapwood_rules::Rule;
use sapwood_types::Source;

use super::Args;
use crate::INLINE_PASSES;
use crate::command::cli_error::CliError;

/// Returns the pipeline as text: that of `-p`, or `simplify` with the options of the command line.
pub(super) fn pipeline_text(args: &Args, rules: &[Rule]) -> Result<String, CliError> {
    if let Some(pipeline) = &args.pipeline {
        return Ok(pipeline.clone());
    }
    let all = || LISTS.iter().flat_map(|list| list.entries.iter().map(|entry| entry.name));
    let known = || all().chain(rules.iter().map(Rule::name));
    for name in args.only.iter().chain(&args.disable) {
        if !known().any(|known| known == name) {
            return Err(CliError::unknown_name("pattern", name, known()));
        }
    }
    let mut options = Vec::new();
    if let Some(float) = args.float {
        options.push(format!("float={float}"));
    }
    if let Some(limit) = args.max_rewrites {
        options.push(format!("max-rewrites={limit}"));
    }
    if !args.only.is_empty() {
        options.push(format!("only={}", args.only.join("|")));
    }
    if !args.disable.is_empty() {
        let kept = all().filter(|name| !args.disable.iter().any(|d| d == name));
        options.push(format!("only={}", kept.collect::<Vec<_>>().join("|")));
    }
    let simplify = match options.is_empty() {
        true => "simplify".into(),
        false => format!("simplify{{{}}}", options.join(",")),
    };
    Ok(match args.preset {
        Some(_) => format!("{INLINE_PASSES},{simplify}"),
        None => simplify,
    })
}

// Returns a simplify pass with the shipped patterns and the rules, after the other passes of the preset.
fn manager_with_rules(args: &Args, rules: &[Rule]) -> Result<PassManager, CliError> {
    let mut set = PatternSet::new();
    populate_canonicalization(&mut set);
    for rule in rules {
        rule.add_to(&mut set);
    }
    let kept: Vec<String> = (set.names())
        .filter(|name| args.only.is_empty() || args.only.iter().any(|o| o == name))
        .filter(|name| !args.disable.iter().any(|d| d == name))
        .map(str::to_owned)
        .collect();
    // The names come from the set, so that this cannot fail.
    let _ = set.only(&kept.iter().map(String::as_str).collect::<Vec<_>>());
    let config = GreedyConfig {
        floats: args.float.unwrap_or_default(),
        max_rewrites: args.max_rewrites,
        verify_input: false,
        ..GreedyConfig::default()
    };
    let mut manager = match args.preset {
        Some(_) => parse_pipeline(INLINE_PASSES)?,
        None => PassManager::new(),
    };
    manager.add(SimplifyPass::new(config, set.freeze()));
    Ok(manager)
}

fn parse_pipeline(pipeline: &str) -> Result<PassManager, CliError> {
    PassManager::parse_with(pipeline, sapwood_rules::PASSES)
        .map_err(|problems| CliError::in_program(problems, &Source::new("<pipeline>", pipeline)))
}

/// Creates the pass manager for a pipeline. With rules, its simplify pass includes them.
pub(super) fn pass_manager(
    args: &Args,
    pipeline: &str,
    rules: &[Rule],
    threads: usize,
) -> Result<PassManager, CliError> {
    let manager = match rules {
        [] => parse_pipeline(pipeline)?,
        rules => manager_with_rules(args, rules)?,
    };
    Ok(manager
        .threads(threads)
        .verify_each(!args.no_verify_each)
        .print_changes(args.print_after_change)
        .assume_verified(true))
}

/// Returns the loosest float mode of the passes of a pipeline, as the pass manager prints it.
pub(super) fn loosest_float_mode(pipeline: &str) -> FloatMode {
    let has_mode = |mode: &str| pipeline.contains(&format!("float={mode}"));
    match (has_mode("fast"), has_mode("nsz")) {
        (true, _) => FloatMode::Fast,
        (false, true) => FloatMode::Nsz,
        (false, false) => FloatMode::Exact,
    }
}
