//! The pass `outline`: extraction in a pipeline.

use std::sync::Arc;

use sapwood_ptir::{Program, Registry};
use sapwood_rewrite::{OptionInfo, Pass, PassContext, PassError, PassInfo, PassOptions};
use sapwood_types::Source;

use crate::extract::{ExtractOptions, extract};
use crate::graph::{PatternGraph, patterns_from};
use crate::language::{Rule, Vocabulary, rules_from};

/// Replaces matches of patterns by calls of functions.
#[derive(Clone, Debug)]
pub struct OutlinePass {
    /// The patterns, in the order of application.
    pub patterns: Arc<[PatternGraph]>,
    /// The options of extraction.
    pub options: ExtractOptions,
    // The files of the patterns, if they came from files.
    files: String,
}

impl OutlinePass {
    /// Creates the pass with these patterns.
    #[must_use]
    pub fn new(patterns: impl Into<Arc<[PatternGraph]>>, options: ExtractOptions) -> Self {
        Self { patterns: patterns.into(), options, files: String::new() }
    }
}

impl Pass for OutlinePass {
    fn name(&self) -> &'static str {
        OUTLINE.name
    }

    fn options(&self) -> Vec<(&'static str, String)> {
        let mut list = vec![("patterns", self.files.clone())];
        let flags = [
            ("share", self.options.share),
            ("keep-nested", self.options.keep_nested),
            ("keep-unused", self.options.keep_unused),
            ("typed", self.options.find.typed),
        ];
        list.extend(flags.iter().filter(|(_, on)| *on).map(|&(name, on)| (name, on.to_string())));
        list
    }

    fn run_on_program(
        &self,
        program: &mut Program,
        cx: &mut PassContext,
    ) -> Result<bool, PassError> {
        let report = extract(program, &self.patterns, &self.options).map_err(PassError::Refused)?;
        cx.count("extracted", report.calls.len());
        cx.count("refused", report.refusals);
        cx.count("removed", report.removed.len());
        cx.warnings.extend(report.exhausted.iter().map(ToString::to_string));
        Ok(!report.calls.is_empty() || !report.removed.is_empty())
    }
}

/// The passes of this crate, for [`PassManager::parse_with`](sapwood_rewrite::PassManager::parse_with).
pub static PASSES: &[&PassInfo] = &[&OUTLINE];

const OUTLINE: PassInfo = PassInfo {
    name: "outline",
    doc: "Replaces matches of patterns by calls of functions.",
    options: &[
        OptionInfo { name: "patterns", doc: "Required: files of patterns, separated by `|`." },
        OptionInfo {
            name: "share",
            doc: "Uses one function for equal extractions: `true` or `false`.",
        },
        OptionInfo {
            name: "keep-nested",
            doc: "Keeps calls inside extracted functions: `true` or `false`.",
        },
        OptionInfo {
            name: "keep-unused",
            doc: "Keeps private functions that are no longer called: `true` or `false`.",
        },
        OptionInfo {
            name: "typed",
            doc: "Also requires the types that patterns declare: `true` or `false`.",
        },
    ],
    make,
};

fn make(options: &mut PassOptions<'_>) -> Result<Box<dyn Pass>, ()> {
    let mut files = String::new();
    if !options.take("patterns", &mut files)? {
        return options
            .refuse("patterns", "`outline` needs patterns: `outline{patterns=softmax.ptir}`");
    }
    let mut patterns = Vec::new();
    for file in files.split('|') {
        let text = match std::fs::read_to_string(file) {
            Ok(text) => text,
            Err(error) => {
                return options.refuse("patterns", format!("{file}: cannot be read: {error}"));
            }
        };
        let source = Source::new(file, text);
        let read = match file.ends_with(".rules") {
            true => rules_from(&source, &Registry::builtin(), &Vocabulary::builtin())
                .map(|rules| rules.into_iter().map(Rule::into_pattern).collect()),
            false => patterns_from(&source, &Registry::builtin()),
        };
        match read {
            Ok(read) => patterns.extend(read),
            Err(problems) => {
                let first = problems.iter().next().map_or_else(String::new, ToString::to_string);
                return options.refuse("patterns", first);
            }
        }
    }
    let mut extract = ExtractOptions::default();
    options.take("share", &mut extract.share)?;
    options.take("keep-nested", &mut extract.keep_nested)?;
    options.take("keep-unused", &mut extract.keep_unused)?;
    options.take("typed", &mut extract.find.typed)?;
    Ok(Box::new(OutlinePass { patterns: patterns.into(), options: extract, files }))
}
