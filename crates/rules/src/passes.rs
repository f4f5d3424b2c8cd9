//! The passes of this crate: `outline`, extraction in a pipeline, and `rules`, which applies rules.

use std::path::PathBuf;
use std::sync::Arc;

use sapwood_ptir::Program;
use sapwood_rewrite::{
    BasePatterns, GREEDY_OPTIONS, GreedyPass, MakePass, OptionInfo, Pass, PassContext, PassError,
    PassInfo, PassOptions, pass_options,
};
use sapwood_types::read_source;

use crate::extract::{ExtractOptions, extract};
use crate::graph::PatternGraph;
use crate::pattern_files::PatternFiles;

/// Replaces matches of patterns by calls of functions.
#[derive(Clone, Debug)]
pub struct OutlinePass {
    /// The patterns, in the order of application.
    pub patterns: Arc<[PatternGraph]>,
    /// The options of extraction.
    pub options: ExtractOptions,
    // The files of the patterns, if they came from files.
    files: Vec<PathBuf>,
}

impl OutlinePass {
    /// Creates the pass with these patterns.
    #[must_use]
    pub fn new(patterns: impl Into<Arc<[PatternGraph]>>, options: ExtractOptions) -> Self {
        Self { patterns: patterns.into(), options, files: Vec::new() }
    }
}

impl Pass for OutlinePass {
    fn name(&self) -> &'static str {
        OUTLINE.name
    }

    fn reports_changes(&self) -> bool {
        true
    }

    fn options(&self) -> Vec<(&'static str, String)> {
        OUTLINE.options_of(self, &Self::new([], ExtractOptions::default()))
    }

    fn files(&self) -> Vec<PathBuf> {
        self.files.clone()
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

/// The passes of this crate. [`pipeline_parser`](crate::pipeline_parser) reads pipelines that name them.
pub static PASSES: &[&PassInfo] = &[&OUTLINE, &RULES];

static OUTLINE: PassInfo = PassInfo {
    name: "outline",
    doc: "Replaces matches of patterns by calls of functions.",
    options: pass_options!(OutlinePass {
        "patterns": files, "Required: files of patterns, separated by `|`.";
        "share": options.share, "Uses one function for equal extractions: `true` or `false`.";
        "keep-nested": options.keep_nested, "Keeps calls inside extracted functions: `true` or `false`.";
        "keep-unused": options.keep_unused, "Keeps private functions that are no longer called: `true` or `false`.";
        "typed": options.find.typed, "Also requires the types that patterns declare: `true` or `false`.";
    }),
    make: MakePass::Plain(outline),
};

fn outline(options: &mut PassOptions<'_>) -> Result<Arc<dyn Pass>, ()> {
    let mut pass = OutlinePass::new([], ExtractOptions::default());
    options.set(&mut pass)?;
    if pass.files.is_empty() {
        return options
            .refuse("patterns", "`outline` needs patterns: `outline{patterns=softmax.ptir}`");
    }
    match PatternFiles::new(&options.registry(), &read_source).patterns(&pass.files) {
        Ok(patterns) => pass.patterns = patterns.into(),
        Err(errors) => return options.refuse_all("patterns", errors),
    }
    Ok(Arc::new(pass))
}

static RULES: PassInfo = PassInfo {
    name: "rules",
    doc: "Applies the rules of files, without the shipped patterns, and folds constants, until nothing is left to do.",
    options: &RULES_OPTIONS,
    make: MakePass::Plain(rules),
};

const RULES_OPTIONS: [OptionInfo; GREEDY_OPTIONS.len()] = {
    let mut options = GREEDY_OPTIONS;
    options[0].name = "file";
    options[0].doc = "Required: files of rules, or directories of them, separated by `|`.";
    options
};

fn rules(options: &mut PassOptions<'_>) -> Result<Arc<dyn Pass>, ()> {
    let mut pass = GreedyPass::new(&RULES, BasePatterns::None);
    options.set(&mut pass)?;
    if pass.rules.is_empty() && options.rules().is_empty() {
        return options.refuse("file", "`rules` needs a file: `rules{file=my.rules}`");
    }
    pass.from_options(options)
}
