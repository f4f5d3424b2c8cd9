//! Any text is read as rules, or as patterns written as functions, or refused without a panic, with diagnostics that can be rendered.
#![no_main]
use libfuzzer_sys::fuzz_target;
use sapwood_ptir::Registry;
use sapwood_rules::{Vocabulary, patterns_from, rules_from};
use sapwood_types::Source;

fuzz_target!(|text: String| {
    let (registry, words) = (Registry::builtin(), Vocabulary::builtin());
    for text in [text.clone(), format!("rule r: {text}"), format!("rule r: neg(neg(x)) {text}")] {
        let source = Source::new("fuzz.rules", text);
        match rules_from(&source, &registry, &words) {
            Ok(rules) => assert!(!rules.is_empty()),
            Err(problems) => assert!(!problems.render(&source).is_empty()),
        }
    }
    let body = format!("ptir 1\nfunc @p(%x: f32[4], %y: f32[4]) -> f32[4] {{\n{text}\n}}\n");
    for text in [text, body] {
        let source = Source::new("fuzz.ptir", text);
        match patterns_from(&source, &registry) {
            Ok(patterns) => assert!(patterns.iter().all(|p| p.num_ops() > 0)),
            Err(problems) => assert!(!problems.render(&source).is_empty()),
        }
    }
});
