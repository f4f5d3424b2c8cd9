//! Freshness of the pages about rules and passes: their patterns and rules parse, and their tables list the vocabulary and the
//! passes.

use std::fmt::Write as _;
use std::fs;

use sapwood_ptir::Registry;
use sapwood_rules::{
    ArgumentKind, RuleCheckOptions, RuleVerdict, Vocabulary, check_rule, patterns_from,
    pipeline_parser, rules_from,
};
use sapwood_types::Source;

fn page(name: &str) -> String {
    fs::read_to_string(sapwood_testing::repository().join("docs").join(name)).unwrap()
}

// Returns the code blocks of a language; a file name may follow it.
fn blocks(page: &str, language: &str) -> Vec<String> {
    page.split(&format!("```{language}"))
        .skip(1)
        .filter_map(|rest| rest.split_once('\n'))
        .filter(|(name, _)| name.is_empty() || name.starts_with(' '))
        .filter_map(|(_, rest)| Some(rest.split("```").next()?.to_owned()))
        .collect()
}

#[test]
fn every_block_is_read_and_every_rule_holds() {
    for name in ["reference/rules.md", "guide/rules.md"] {
        let page = page(name);
        let (patterns, rules) = (blocks(&page, "ptir"), blocks(&page, "rules"));
        assert!(!patterns.is_empty() && !rules.is_empty());
        for text in patterns {
            let source = Source::new(name, text);
            let read = patterns_from(&source, &Registry::builtin());
            assert!(!read.unwrap_or_else(|p| panic!("{p}")).is_empty());
        }
        for text in rules {
            let source = Source::new(name, text);
            let read = rules_from(&source, &Registry::builtin(), &Vocabulary::builtin());
            for rule in read.unwrap_or_else(|p| panic!("{p}")) {
                let options = RuleCheckOptions { instances: 10, ..RuleCheckOptions::default() };
                let verdict = check_rule(&rule, &Registry::builtin(), &options);
                let fine = matches!(verdict, RuleVerdict::Holds(1..) | RuleVerdict::MatchOnly);
                assert!(fine, "{}: {verdict:?}", rule.name());
            }
        }
    }
}

fn takes(params: &[ArgumentKind]) -> String {
    params.iter().map(|k| k.describe()).collect::<Vec<_>>().join(", ")
}

// BLESS=1 rewrites the tables.
#[test]
fn the_tables_are_those_of_the_vocabulary() {
    let words = Vocabulary::builtin();
    let predicates: String = words
        .predicates()
        .map(|p| format!("| `{}` | {} | {} |\n", p.name, takes(&p.params), p.doc))
        .collect();
    let functions: String = words
        .functions()
        .map(|f| {
            format!("| `{}` | {} | {}: {} |\n", f.name, takes(&f.params), f.gives.describe(), f.doc)
        })
        .collect();
    let mut text = page("reference/rules.md");
    for (head, table) in [("holds if", &predicates), ("gives", &functions)] {
        let start = text.find(&format!("| {head} |\n| --- | --- | --- |\n")).unwrap();
        let start = start + format!("| {head} |\n| --- | --- | --- |\n").len();
        let end = start + text[start..].find("\n\n").unwrap() + 1;
        text.replace_range(start..end, table);
    }
    if std::env::var_os("BLESS").is_some() {
        fs::write(sapwood_testing::repository().join("docs/reference/rules.md"), &text).unwrap();
    }
    assert!(text == page("reference/rules.md"), "the tables differ; accept them with BLESS=1");
}

// BLESS=1 writes the page.
#[test]
fn the_reference_of_passes_is_fresh() {
    let mut out = String::from(
        "# Passes\n\nGenerated from the descriptions of the passes; do not edit. A pipeline is a list of passes, separated by commas: \
         `canonicalize{max-iterations=4},cse`.\nOptions are in braces; `fixpoint(canonicalize,cse)` repeats passes until \
         none changes anything. Lists are separated by `|`; a name with other characters\nthan those of \
         names is in double quotes, with `\\\"`, `\\\\`, `\\n` and `\\r` for special characters: `rules{file=\"my rules/a,b.rules\"}`. \
         Relative paths are relative to the working directory.\n\
         [rules.md](rules.md) describes rules.\n",
    );
    for info in pipeline_parser().passes() {
        let _ = write!(out, "\n## `{}`\n\n{}\n", info.name, info.doc);
        if !info.options.is_empty() {
            out += "\n| option | | default |\n| --- | --- | --- |\n";
        }
        for (option, default) in info.options.iter().zip(info.defaults()) {
            let doc = option.doc.replace('|', "\\|");
            let default = if default.is_empty() { default } else { format!("`{default}`") };
            let _ = writeln!(out, "| `{}` | {doc} | {default} |", option.name);
        }
    }
    let path = sapwood_testing::repository().join("docs/reference/passes.md");
    if std::env::var_os("BLESS").is_some_and(|v| v == "1") {
        fs::write(&path, &out).unwrap();
    }
    assert!(
        page("reference/passes.md") == out,
        "docs/reference/passes.md is stale; run with BLESS=1"
    );
}
