//! A toolkit: the ops, patterns, rules, passes and backends of a compiler, for the command and for programs that embed it.

#[cfg(feature = "runtime")]
mod named_backend;

use std::collections::HashSet;
use std::path::Path;
use std::sync::Arc;

#[cfg(feature = "check")]
use sapwood_check::{CheckOptions, CheckReport, compare};
#[cfg(feature = "command")]
use sapwood_ptir::Name;
use sapwood_ptir::{OpDef, Program, Registry};
use sapwood_rewrite::canonicalize::populate_canonicalization;
use sapwood_rewrite::{
    AddPatterns, PassInfo, PassManager, PatternSet, PipelineFailure, PipelineParser, RunReport,
};
#[cfg(feature = "rules")]
use sapwood_rules::{PatternFiles, Rule, SourceReader, Vocabulary, rules_from};
#[cfg(feature = "runtime")]
use sapwood_runtime::Backend;
use sapwood_types::{Source, SourceErrors, Span, read_source, write_atomically};

use crate::formats::{
    FileFormat, FormatExtras, PrintedProgram, ReadOptions, ReadProgram, print_program, read_program,
};
#[cfg(feature = "onnx")]
use crate::formats::{OnnxReadError, read_onnx};
#[cfg(feature = "runtime")]
use named_backend::NamedBackend;
#[cfg(feature = "onnx")]
use sapwood_onnx::ModelEdits;

/// The ops, patterns, rules, passes and backends of a compiler.
///
/// [`main`](Self::main) is a whole `sapwood` command that knows them. The other methods do the work of the command in a program:
/// read, optimize, check, write.
///
/// ```
/// use sapwood::Toolkit;
/// use sapwood::ptir::{Value, ops::Neg};
/// use sapwood::rewrite::Rewrite;
///
/// /// `-(-x) = x`.
/// fn twice(outer: Neg, rw: &mut Rewrite<'_>) -> Option<Value> {
///     Some(rw.def::<Neg>(outer.input)?.input)
/// }
///
/// let toolkit = Toolkit::new()
///     .patterns(|set| { set.add(twice); })
///     .rules("my.rules", "rule my_log_of_exp float fast: log(exp(x)) => x");
/// let mut program = toolkit.parse("ptir 1 func @f(%x: f32[4]) -> f32[4] {
///     %a = exp %x : f32[4] %b = log %a : f32[4] return %b }")?;
/// let before = program.clone();
/// toolkit.optimize(&mut program, "simplify{float=fast}")?;
/// assert_eq!(program.num_insts(), 1);
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Clone)]
pub struct Toolkit {
    registry: Arc<Registry>,
    patterns: Vec<Arc<AddPatterns>>,
    passes: Vec<Arc<PassInfo>>,
    // The predicates and functions of rules; the built-in ones if none.
    #[cfg(feature = "rules")]
    words: Option<Vocabulary>,
    #[cfg(feature = "runtime")]
    backends: Vec<Arc<dyn NamedBackend>>,
    // The extents of symbols in the programs that are read.
    #[cfg(feature = "command")]
    bindings: Vec<(Name, u64)>,
    // The edits of the ONNX models that are read.
    #[cfg(feature = "onnx")]
    edits: ModelEdits,
    // The version of ONNX's operator set that models are written with.
    #[cfg(feature = "onnx")]
    opset: Option<i64>,
    // The problems of what was added, which the methods that run something report.
    problems: SourceErrors,
}

/// A program that a toolkit read from a file.
pub struct ProgramFile {
    /// The program. The front-end IR is lowered.
    pub program: Program,
    /// The parts of the file that a program cannot hold.
    pub extras: FormatExtras,
    /// Messages about parts of the file that were dropped, and about ops that may be misspelled, one per line.
    pub notes: String,
    /// The text of the file; empty for an ONNX model.
    pub source: Source,
}

impl Default for Toolkit {
    fn default() -> Self {
        Self::new()
    }
}

impl Toolkit {
    /// Returns a toolkit of the built-in ops, the ops of ONNX, the shipped patterns and all passes of Sapwood.
    #[must_use]
    pub fn new() -> Self {
        Self {
            registry: shipped_registry(),
            patterns: shipped_patterns(),
            passes: shipped_passes(),
            #[cfg(feature = "rules")]
            words: None,
            #[cfg(feature = "runtime")]
            backends: Vec::new(),
            #[cfg(feature = "command")]
            bindings: Vec::new(),
            #[cfg(feature = "onnx")]
            edits: ModelEdits::default(),
            #[cfg(feature = "onnx")]
            opset: None,
            problems: SourceErrors::default(),
        }
    }

    /// Adds ops, such as the table that `ops!` defines. They are known in every format: in StableHLO as custom
    /// calls, in ONNX as nodes of the operator set `sapwood`.
    #[must_use]
    pub fn ops(mut self, defs: impl IntoIterator<Item = OpDef>) -> Self {
        match self.registry.with(defs) {
            Ok(registry) => self.registry = registry,
            Err(error) => self.add_problems(SourceErrors::plain(error.to_string())),
        }
        self
    }

    /// Adds patterns to the shipped ones of `canonicalize` and `simplify`. Their names differ from each other, and from those of patterns that
    /// are shipped or were added before.
    #[must_use]
    pub fn patterns(mut self, add: impl Fn(&mut PatternSet) + Send + Sync + 'static) -> Self {
        let (known, mut own) = (self.all_patterns(), PatternSet::new());
        add(&mut own);
        let mut names: HashSet<&str> = known.names().collect();
        for name in own.names().filter(|name| !names.insert(name)) {
            self.add_problems(SourceErrors::plain(format!(
                "`{name}` is already the name of another pattern; `PatternFn::named` gives a pattern another name"
            )));
        }
        self.patterns.push(Arc::new(add));
        self
    }

    // Returns the patterns of `canonicalize` and `simplify`.
    fn all_patterns(&self) -> PatternSet {
        let mut set = PatternSet::new();
        populate_canonicalization(&mut set);
        self.patterns.iter().for_each(|add| add(&mut set));
        set
    }

    /// Adds the rules of a text to the patterns of `canonicalize` and `simplify`. The rules may have the ops that were added before,
    /// and must not have the name of a pattern that is shipped or was added before.
    #[must_use]
    #[cfg(feature = "rules")]
    pub fn rules(mut self, name: &str, text: &str) -> Self {
        let (source, mut set) = (Source::new(name, text), self.all_patterns());
        let words = self.words.clone().unwrap_or_else(Vocabulary::builtin);
        let rules = rules_from(&source, &self.registry, &words);
        match rules.and_then(|rules| Rule::add_all(&rules, &mut set).map(|()| rules)) {
            // No name of these is taken.
            Ok(rules) => self.patterns(move |set| {
                for rule in &rules {
                    rule.add_to(set);
                }
            }),
            Err(diagnostics) => {
                self.add_problems(SourceErrors::in_source(diagnostics, &source));
                self
            }
        }
    }

    /// Sets the predicates and functions that rules may use: the built-in ones and those of the user.
    ///
    /// ```
    /// use sapwood::Toolkit;
    /// use sapwood::rules::{ArgumentKind, Vocabulary};
    ///
    /// let mut words = Vocabulary::builtin();
    /// words.predicate("vector", &[ArgumentKind::Value], "it has one dim", |a| Some(a.tensor(0)?.rank() == 1));
    /// let toolkit = Toolkit::new()
    ///     .vocabulary(words)
    ///     .rules("my.rules", "rule my_log_of_exp float fast: log(exp(x)) where vector(x) => x");
    /// toolkit.check_parts()?;
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    #[must_use]
    #[cfg(feature = "rules")]
    pub fn vocabulary(mut self, words: Vocabulary) -> Self {
        self.words = Some(words);
        self
    }

    /// Adds a pass that pipelines may name. Its name differs from those of passes that are shipped or were added before.
    #[must_use]
    pub fn pass(mut self, info: impl Into<Arc<PassInfo>>) -> Self {
        let info = info.into();
        if self.pass_infos().any(|known| known.name == info.name) {
            self.add_problems(SourceErrors::plain(format!(
                "`{}` is already the name of another pass; give the pass another name",
                info.name
            )));
        }
        self.passes.push(info);
        self
    }

    /// Adds a backend, for `run --backend NAME`.
    #[must_use]
    #[cfg(feature = "runtime")]
    pub fn backend(mut self, backend: impl Backend + 'static) -> Self {
        self.backends.push(Arc::new(backend));
        self
    }

    /// Makes a symbol a known number in the programs that the command reads, as `--bind B=1` does.
    #[must_use]
    #[cfg(feature = "command")]
    pub fn bind(mut self, symbol: impl Into<Name>, extent: u64) -> Self {
        self.bindings.push((symbol.into(), extent));
        self
    }

    /// Returns the extents of symbols.
    #[cfg(feature = "command")]
    pub(crate) fn bindings(&self) -> &[(Name, u64)] {
        &self.bindings
    }

    /// Edits the ONNX models that are read: shapes of inputs, and cutting a part out.
    #[must_use]
    #[cfg(feature = "onnx")]
    pub fn edit_models(mut self, edits: ModelEdits) -> Self {
        self.edits = edits;
        self
    }

    /// Sets the version of ONNX's operator set that the command writes models with; the default is that of the model that was read.
    #[must_use]
    #[cfg(feature = "onnx")]
    pub fn write_opset(mut self, opset: Option<i64>) -> Self {
        self.opset = opset;
        self
    }

    #[cfg(feature = "command")]
    pub(crate) fn opset(&self) -> Option<i64> {
        self.opset
    }

    #[cfg(feature = "command")]
    pub(crate) fn model_edits(&self) -> &ModelEdits {
        &self.edits
    }

    fn add_problems(&mut self, problems: SourceErrors) {
        self.problems.append_at(Span::unknown(), problems);
    }

    /// Returns the ops.
    #[must_use]
    pub fn registry(&self) -> &Arc<Registry> {
        &self.registry
    }

    /// Returns the errors of ops, patterns, rules and passes that were added.
    ///
    /// # Errors
    /// If one of them could not be added.
    pub fn check_parts(&self) -> Result<(), SourceErrors> {
        self.problems.clone().into_result(())
    }

    /// Returns the names of the patterns and rules that were added.
    #[cfg(feature = "command")]
    pub(crate) fn own_patterns(&self) -> Vec<String> {
        let mut set = PatternSet::new();
        self.patterns.iter().skip(shipped_patterns().len()).for_each(|add| add(&mut set));
        set.names().map(str::to_owned).collect()
    }

    /// Returns the passes that pipelines may name.
    pub fn pass_infos(&self) -> impl Iterator<Item = &PassInfo> {
        sapwood_rewrite::PASSES.iter().copied().chain(self.passes.iter().map(|info| &**info))
    }

    /// Runs a function on a backend that was added, with tensors as literals.
    ///
    /// # Errors
    /// If there is no backend of this name, or it fails.
    #[cfg(feature = "runtime")]
    pub fn run(
        &self,
        backend: &str,
        program: &Program,
        function: &str,
        inputs: &[sapwood_ptir::TensorLiteral],
    ) -> Result<Vec<sapwood_ptir::eval::Tensor>, RunError> {
        self.check_parts()?;
        match self.backends.iter().find(|known| known.name() == backend) {
            Some(backend) => backend.run(program, function, inputs).map_err(RunError::Failed),
            None => Err(RunError::UnknownBackend {
                name: backend.to_owned(),
                known: self.backends.iter().map(|known| known.name().to_owned()).collect(),
            }),
        }
    }

    /// Returns a reader of files of patterns and rules with the ops of the toolkit.
    #[cfg(feature = "rules")]
    pub(crate) fn pattern_files<'a>(&'a self, read: &'a SourceReader<'a>) -> PatternFiles<'a> {
        let files = PatternFiles::new(&self.registry, read);
        match &self.words {
            Some(words) => files.vocabulary(words),
            None => files,
        }
    }

    /// Returns the function that adds the patterns, if there are any.
    pub(crate) fn more_patterns(&self) -> Option<Arc<AddPatterns>> {
        let all = self.patterns.clone();
        (!all.is_empty()).then(|| -> Arc<AddPatterns> {
            Arc::new(move |set| all.iter().for_each(|add| add(set)))
        })
    }

    /// Calls a function with the parser of pipelines with the passes, patterns and ops of the toolkit.
    pub(crate) fn with_parser<T>(&self, work: impl FnOnce(PipelineParser<'_>) -> T) -> T {
        let passes: Vec<&PassInfo> = self.passes.iter().map(|info| &**info).collect();
        let more = self.more_patterns();
        let mut parser = PipelineParser::new(&passes).registry(&self.registry);
        if let Some(more) = &more {
            parser = parser.more_patterns(&**more);
        }
        work(parser)
    }

    /// Reads a program from a file; its format is that of the extension.
    ///
    /// # Errors
    /// If the file cannot be read, its extension is unknown, or the program is not well-formed.
    pub fn read(&self, path: impl AsRef<Path>) -> Result<ProgramFile, SourceErrors> {
        self.check_parts()?;
        let path = path.as_ref();
        let Some(format) = FileFormat::of(path) else {
            let extensions = FileFormat::EXTENSIONS.join(", ");
            let message =
                format!("{}: unknown extension; expected one of {extensions}", path.display());
            return Err(SourceErrors::plain(message));
        };
        let source = match format {
            FileFormat::Onnx => Source::new(&path.display().to_string(), ""),
            _ => read_source(path)?,
        };
        let errors = |diagnostics| SourceErrors::in_source(diagnostics, &source);
        let read = match format {
            #[cfg(feature = "onnx")]
            FileFormat::Onnx => match read_onnx(Ok(path), &self.registry, &self.edits) {
                Err(OnnxReadError::File(error)) => return Err(SourceErrors::plain(error)),
                Err(OnnxReadError::Model(problems)) => Err(problems),
                Ok(read) => Ok(read),
            },
            _ => read_program(&source, format, &self.registry, ReadOptions::default()),
        };
        let ReadProgram { program, extras, notes } = read.map_err(errors)?;
        let program = program.into_ptir(&self.registry).map_err(errors)?;
        Ok(ProgramFile { program, extras, notes, source })
    }

    /// Parses a program in the text form of PTIR.
    ///
    /// # Errors
    /// If the text is not a well-formed program.
    pub fn parse(&self, text: &str) -> Result<Program, SourceErrors> {
        self.check_parts()?;
        sapwood_ptir::parse_with(text, &self.registry).map_err(|diagnostics| {
            SourceErrors::in_source(diagnostics, &Source::new("<text>", text))
        })
    }

    /// Returns a pass manager with the passes of a pipeline. If patterns or passes were added, it verifies the program after each pass.
    ///
    /// # Errors
    /// If the text is not a pipeline.
    pub fn pass_manager(&self, pipeline: &str) -> Result<PassManager, SourceErrors> {
        self.check_parts()?;
        #[cfg(feature = "rules")]
        let reader = |files: &[std::path::PathBuf], set: &mut PatternSet| {
            self.pattern_files(&read_source).add_rules(files, set)
        };
        let passes = self.with_parser(|parser| {
            #[cfg(feature = "rules")]
            let parser = parser.pattern_reader(&reader);
            parser.parse(pipeline)
        })?;
        let has_own_parts = self.patterns.len() > shipped_patterns().len()
            || self.passes.len() > shipped_passes().len();
        Ok(PassManager::from(passes).verify_each(has_own_parts))
    }

    /// Runs a pipeline of passes.
    ///
    /// # Errors
    /// If the text is not a pipeline, or a pass fails. Then the program is unchanged.
    pub fn optimize(
        &self,
        program: &mut Program,
        pipeline: &str,
    ) -> Result<RunReport, OptimizeError> {
        Ok(self.pass_manager(pipeline)?.run(program)?)
    }

    /// Compares the results of two programs on random inputs.
    #[must_use]
    #[cfg(feature = "check")]
    pub fn check(&self, before: &Program, after: &Program, options: &CheckOptions) -> CheckReport {
        compare(before, after, options)
    }

    /// Writes a program to a file atomically; its format is that of the extension. `extras` are those of the file that the program
    /// was read from.
    ///
    /// # Errors
    /// If the file cannot be written, or its format cannot hold the program.
    pub fn write(
        &self,
        path: impl AsRef<Path>,
        program: &Program,
        extras: &FormatExtras,
    ) -> Result<(), SourceErrors> {
        let path = path.as_ref();
        let error = |why: String| SourceErrors::plain(format!("{}: {why}", path.display()));
        let format = FileFormat::of(path).ok_or_else(|| error("unknown extension".into()))?;
        match print_program(program, extras, format).map_err(error)? {
            PrintedProgram::Text(text) => write_atomically(path, text.as_bytes(), &|| Ok(()))
                .map_err(|why| error(why.to_string())),
            #[cfg(feature = "onnx")]
            PrintedProgram::Model(model, data) => sapwood_onnx::write_file(
                path,
                &model,
                &data,
                &sapwood_onnx::WriteOptions::default(),
            )
            .map_err(|why| SourceErrors::plain(why.to_string())),
        }
    }

    /// Runs the `sapwood` command with this toolkit on the arguments of the process.
    #[must_use]
    #[cfg(feature = "command")]
    pub fn main(self) -> std::process::ExitCode {
        crate::command::main_of_toolkit(self)
    }

    /// Runs the command like [`main`](Self::main) on other arguments, of which the first is the name of the command, and returns the exit
    /// code. It installs no signal handlers.
    #[must_use]
    #[cfg(feature = "command")]
    pub fn run_command(self, arguments: impl IntoIterator<Item = std::ffi::OsString>) -> u8 {
        crate::command::exit_code_with(self, arguments)
    }
}

/// The reason why [`Toolkit::run`] failed.
#[cfg(feature = "runtime")]
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum RunError {
    /// The parts of the toolkit have errors.
    #[error("{0}")]
    Parts(#[from] SourceErrors),
    /// No backend has this name.
    #[error("unknown backend `{name}`; {}", expected_backends(.known))]
    UnknownBackend {
        /// The name.
        name: String,
        /// The names of the backends.
        known: Vec<String>,
    },
    /// The backend failed.
    #[error("{0}")]
    Failed(String),
}

#[cfg(feature = "runtime")]
fn expected_backends(known: &[String]) -> String {
    match known.is_empty() {
        true => "there is none".into(),
        false => format!("expected one of {}", known.join(", ")),
    }
}

/// The reason why [`Toolkit::optimize`] failed.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum OptimizeError {
    /// The pipeline has errors.
    #[error("{0}")]
    Pipeline(#[from] SourceErrors),
    /// A pass failed.
    #[error("{0}")]
    Failed(#[from] PipelineFailure),
}

// Returns the passes of the crates for rules and ONNX, such as `rules{file=…}`.
fn shipped_passes() -> Vec<Arc<PassInfo>> {
    let passes = std::iter::empty::<&PassInfo>();
    #[cfg(feature = "rules")]
    let passes = passes.chain(sapwood_rules::PASSES.iter().copied());
    #[cfg(feature = "onnx")]
    let passes = passes.chain([&crate::onnx_passes::ONNX_TO_CORE, &crate::onnx_passes::DECOMPOSE]);
    passes.map(|info| Arc::new(info.clone())).collect()
}

// Returns the patterns besides those of `canonicalize`.
fn shipped_patterns() -> Vec<Arc<AddPatterns>> {
    #[cfg(feature = "onnx")]
    return vec![Arc::new(|set: &mut PatternSet| {
        set.add_expecting_refusals(|set| crate::onnx_patterns::LIST.populate(set));
    })];
    #[cfg(not(feature = "onnx"))]
    Vec::new()
}

// Returns the ops of PTIR and, with the feature, of ONNX.
fn shipped_registry() -> Arc<Registry> {
    #[cfg(feature = "onnx")]
    return sapwood_onnx::registry();
    #[cfg(not(feature = "onnx"))]
    Registry::builtin()
}

#[cfg(all(test, feature = "rules"))]
mod tests {
    use super::*;

    #[test]
    fn a_rule_with_the_name_of_a_pattern_is_refused() {
        let refused = |toolkit: Toolkit| {
            let error = toolkit.parse("ptir 1").map(|_| ()).unwrap_err();
            error.diagnostics.iter().map(|problem| problem.message.clone()).collect::<Vec<_>>()
        };
        let shipped = Toolkit::new().rules("a.rules", "rule add_zero: neg(neg(x)) => x");
        assert_eq!(refused(shipped), ["`add_zero` is already the name of another pattern"]);
        let rule = "rule mine: neg(neg(x)) => x";
        let twice = Toolkit::new().rules("a.rules", rule).rules("b.rules", rule);
        assert_eq!(refused(twice), ["`mine` is already the name of another pattern"]);
        assert!(Toolkit::new().rules("a.rules", rule).check_parts().is_ok());
    }
}
