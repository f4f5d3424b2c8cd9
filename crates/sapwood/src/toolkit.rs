//! A toolkit: the ops, patterns, rules, passes and backends of a compiler, for the command and for programs that embed it.

use std::ffi::OsString;
use std::path::Path;
use std::process::ExitCode;
use std::sync::Arc;

use sapwood_check::{CheckOptions, CheckReport, compare};
use sapwood_ptir::eval::Tensor;
use sapwood_ptir::{OpDef, Program, Registry, TensorLiteral};
use sapwood_rewrite::{
    AddPatterns, PassInfo, PassManager, PatternSet, PipelineFailure, PipelineParser, RunReport,
};
use sapwood_rules::{PatternFiles, SourceReader, Vocabulary, rules_from};
use sapwood_runtime::{Backend, RunRequest};
use sapwood_types::{Source, SourceErrors, Span, read_source, write_atomically};

use crate::formats::{
    FileFormat, FormatExtras, OnnxReadError, PrintedProgram, ReadOptions, print_program, read_onnx,
    read_program,
};
use crate::onnx_passes::{DECOMPOSE, ONNX_TO_CORE};

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
///     .rules("my.rules", "rule log_of_exp float fast: log(exp(x)) => x");
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
    backends: Vec<Arc<dyn NamedBackend>>,
    // The problems of what was added, which the methods that run something report.
    problems: SourceErrors,
}

/// A program that a toolkit read from a file.
pub struct ProgramFile {
    /// The program. The front-end IR is lowered.
    pub program: Program,
    /// The parts of the file that a program cannot hold.
    pub extras: FormatExtras,
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
            registry: sapwood_onnx::registry(),
            patterns: Vec::new(),
            passes: sapwood_rules::PASSES
                .iter()
                .copied()
                .chain([&ONNX_TO_CORE, &DECOMPOSE])
                .map(|info| Arc::new(info.clone()))
                .collect(),
            backends: Vec::new(),
            problems: SourceErrors::default(),
        }
    }

    /// Adds ops, such as the table that `ops!` defines. They are known in every format: in StableHLO as custom calls.
    #[must_use]
    pub fn ops(mut self, defs: impl IntoIterator<Item = OpDef>) -> Self {
        match self.registry.with(defs) {
            Ok(registry) => self.registry = registry,
            Err(error) => self.add_problems(SourceErrors::plain(error.to_string())),
        }
        self
    }

    /// Adds patterns to the shipped ones of `canonicalize` and `simplify`.
    #[must_use]
    pub fn patterns(mut self, add: impl Fn(&mut PatternSet) + Send + Sync + 'static) -> Self {
        self.patterns.push(Arc::new(add));
        self
    }

    /// Adds the rules of a text to the patterns of `canonicalize` and `simplify`. The rules may have the ops that were added before.
    #[must_use]
    pub fn rules(mut self, name: &str, text: &str) -> Self {
        let source = Source::new(name, text);
        match rules_from(&source, &self.registry, &Vocabulary::builtin()) {
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

    /// Adds a pass that pipelines may name.
    #[must_use]
    pub fn pass(mut self, info: impl Into<Arc<PassInfo>>) -> Self {
        self.passes.push(info.into());
        self
    }

    /// Adds a backend, for `run --backend NAME`.
    #[must_use]
    pub fn backend(mut self, backend: impl Backend + 'static) -> Self {
        self.backends.push(Arc::new(backend));
        self
    }

    fn add_problems(&mut self, problems: SourceErrors) {
        self.problems.append_at(Span::unknown(), problems);
    }

    /// Returns the ops.
    #[must_use]
    pub fn registry(&self) -> &Arc<Registry> {
        &self.registry
    }

    /// Returns the errors of ops and rules that were added.
    ///
    /// # Errors
    /// If an op or a rule could not be added.
    pub fn check_parts(&self) -> Result<(), SourceErrors> {
        self.problems.clone().into_result(())
    }

    pub(crate) fn pass_infos(&self) -> impl Iterator<Item = &PassInfo> {
        sapwood_rewrite::PASSES.iter().copied().chain(self.passes.iter().map(|info| &**info))
    }

    pub(crate) fn backends(&self) -> &[Arc<dyn NamedBackend>] {
        &self.backends
    }

    /// Returns a reader of files of patterns and rules with the ops of the toolkit.
    pub(crate) fn pattern_files<'a>(&'a self, read: &'a SourceReader<'a>) -> PatternFiles<'a> {
        PatternFiles::new(&self.registry, read)
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
            FileFormat::Onnx => match read_onnx(Ok(path), &self.registry) {
                Err(OnnxReadError::File(error)) => return Err(SourceErrors::plain(error)),
                Err(OnnxReadError::Model(problems)) => Err(problems),
                Ok(read) => Ok(read),
            },
            _ => read_program(&source, format, &self.registry, ReadOptions::default()),
        };
        let (program, extras) = read
            .and_then(|read| {
                let extras = read.extras;
                Ok((read.program.into_ptir(&self.registry)?, extras))
            })
            .map_err(errors)?;
        Ok(ProgramFile { program, extras, source })
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

    /// Runs a pipeline of passes.
    ///
    /// # Errors
    /// If the text is not a pipeline, or a pass fails. Then the program is unchanged.
    pub fn optimize(
        &self,
        program: &mut Program,
        pipeline: &str,
    ) -> Result<RunReport, OptimizeError> {
        self.check_parts()?;
        let reader = |files: &[std::path::PathBuf], set: &mut PatternSet| {
            self.pattern_files(&read_source).add_rules(files, set)
        };
        let passes = self.with_parser(|parser| parser.pattern_reader(&reader).parse(pipeline))?;
        Ok(PassManager::from(passes).run(program)?)
    }

    /// Compares the results of two programs on random inputs.
    #[must_use]
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
    pub fn main(self) -> ExitCode {
        crate::command::main_with(self, std::env::args_os())
    }

    /// Runs the command like [`main`](Self::main) on other arguments, of which the first is the name of the command, and returns the exit
    /// code. It installs no signal handlers.
    #[must_use]
    pub fn run_command(self, arguments: impl IntoIterator<Item = OsString>) -> u8 {
        crate::command::exit_code_with(self, arguments)
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

/// A backend whose types are hidden: tensors go in and come out as literals.
pub(crate) trait NamedBackend: Send + Sync {
    fn name(&self) -> &str;
    fn run(
        &self,
        program: &Program,
        function: &str,
        inputs: &[TensorLiteral],
    ) -> Result<Vec<Tensor>, String>;
}

impl<B: Backend> NamedBackend for B {
    fn name(&self) -> &str {
        Backend::name(self)
    }

    fn run(
        &self,
        program: &Program,
        function: &str,
        inputs: &[TensorLiteral],
    ) -> Result<Vec<Tensor>, String> {
        let inputs = inputs.iter().map(|literal| self.materialize(literal));
        let inputs = inputs.collect::<Result<Vec<_>, _>>().map_err(|e| e.to_string())?;
        let results = self.run_program(program, &RunRequest::new(function), &inputs);
        let results = results.map_err(|e| e.to_string())?;
        let literals = results.iter().map(|buffer| self.to_literal(buffer));
        let literals = literals.collect::<Result<Vec<_>, _>>().map_err(|e| e.to_string())?;
        let tensors = literals.iter().map(Tensor::from_literal).collect::<Result<_, _>>();
        tensors.map_err(|e| e.to_string())
    }
}
