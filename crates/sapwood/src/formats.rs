//! The formats of program files: reading and printing programs.

use std::collections::BTreeSet;
use std::path::Path;
use std::sync::Arc;

#[cfg(feature = "ir")]
use sapwood_ir as ir;
#[cfg(feature = "onnx")]
use sapwood_onnx::{self as onnx, OnnxSource};
use sapwood_ptir::{self as ptir, Registry};
#[cfg(feature = "stablehlo")]
use sapwood_stablehlo::{self as stablehlo, Extras};
use sapwood_types::{Diagnostic, Diagnostics, Source, Span, did_you_mean};

/// A format of program files.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[cfg_attr(feature = "command", derive(clap::ValueEnum))]
pub(crate) enum FileFormat {
    /// PTIR text
    Ptir,
    /// PTIR as JSON
    Json,
    /// The front-end IR's Python-like text
    Py,
    /// StableHLO text
    Mlir,
    /// An ONNX model
    Onnx,
}

impl FileFormat {
    /// The extensions of all formats.
    pub(crate) const EXTENSIONS: [&'static str; 5] = [".ptir", ".json", ".py", ".mlir", ".onnx"];

    /// Returns the extension of files in this format, without a dot.
    #[cfg(feature = "command")]
    pub(crate) fn extension(self) -> &'static str {
        match self {
            Self::Ptir => "ptir",
            Self::Json => "json",
            Self::Py => "py",
            Self::Mlir => "mlir",
            Self::Onnx => "onnx",
        }
    }

    /// Returns the format of a path, by its extension.
    pub(crate) fn of(path: &Path) -> Option<Self> {
        match path.extension()?.to_str()? {
            "ptir" => Some(Self::Ptir),
            "json" => Some(Self::Json),
            "py" => Some(Self::Py),
            "mlir" => Some(Self::Mlir),
            "onnx" => Some(Self::Onnx),
            _ => None,
        }
    }
}

/// A program of one of the two IRs.
pub(crate) enum AnyProgram {
    Ptir(ptir::Program),
    #[cfg(feature = "ir")]
    Ir(ir::ProgramRef),
}

impl AnyProgram {
    /// Returns the program as PTIR; front-end IR is lowered.
    #[cfg_attr(not(feature = "ir"), allow(unused_variables, reason = "no ops are lowered"))]
    pub(crate) fn into_ptir(self, registry: &Arc<Registry>) -> Result<ptir::Program, Diagnostics> {
        match self {
            Self::Ptir(program) => Ok(program),
            #[cfg(feature = "ir")]
            Self::Ir(program) => sapwood_lower::lower_with(&program, registry),
        }
    }
}

/// A program as it was read.
pub(crate) struct ReadProgram {
    pub(crate) program: AnyProgram,
    /// The parts of the file that PTIR does not represent.
    pub(crate) extras: FormatExtras,
    /// Messages about parts of the file that were dropped, and about ops that may be misspelled, one per line.
    pub(crate) notes: String,
}

/// The parts of a file that a program cannot hold, for writing the program in the same format.
#[derive(Clone, Default)]
pub struct FormatExtras {
    #[cfg(feature = "stablehlo")]
    stablehlo: Extras,
    #[cfg(feature = "onnx")]
    onnx: Option<OnnxSource>,
    #[cfg(feature = "onnx")]
    opset: Option<i64>,
}

#[cfg(feature = "onnx")]
impl FormatExtras {
    /// Returns the model that the program was read from, if it was an ONNX model.
    #[must_use]
    pub fn onnx(&self) -> Option<&OnnxSource> {
        self.onnx.as_ref()
    }

    /// Sets the version of ONNX's operator set that an ONNX model is written with; the default is that of the model that was read.
    pub fn set_opset(&mut self, opset: Option<i64>) {
        self.opset = opset;
    }
}

/// A program in the form that is written to a file.
pub(crate) enum PrintedProgram {
    Text(String),
    #[cfg(feature = "onnx")]
    Model(Box<onnx::Model>, Arc<onnx::ExternalData>),
}

impl From<String> for PrintedProgram {
    fn from(text: String) -> Self {
        Self::Text(text)
    }
}

/// The options of reading a program.
#[derive(Clone, Copy)]
pub(crate) struct ReadOptions {
    /// Requires a well-formed program.
    pub(crate) verify: bool,
    /// Keeps comments.
    pub(crate) comments: bool,
    /// Keeps names and numbers of values, and StableHLO statements, as they are written, for messages about single
    /// instructions.
    pub(crate) source_names: bool,
}

impl Default for ReadOptions {
    fn default() -> Self {
        Self { verify: true, comments: false, source_names: false }
    }
}

/// The reason why an ONNX model cannot be read.
#[cfg(feature = "onnx")]
pub(crate) enum OnnxReadError {
    /// The file cannot be read.
    File(String),
    /// The model is not valid.
    Model(Diagnostics),
}

/// Reads an ONNX model from a file, or from bytes, which then have no weights in other files.
#[cfg(feature = "onnx")]
pub(crate) fn read_onnx(
    input: Result<&Path, Vec<u8>>,
    registry: &Arc<Registry>,
    edits: &onnx::ModelEdits,
) -> Result<ReadProgram, OnnxReadError> {
    let invalid = |error: onnx::ReadError| {
        let error = Diagnostic::error(Span::unknown(), error.to_string());
        OnnxReadError::Model(error.into())
    };
    let input_name = input.as_ref().ok().map(|path| path.display().to_string());
    let (mut model, data) = match input {
        Ok(path) => onnx::read_file(path).map_err(|error| match error {
            onnx::FileError::Read { error, .. } => invalid(error),
            other => OnnxReadError::File(other.to_string()),
        })?,
        Err(bytes) => (onnx::read(bytes).map_err(invalid)?, onnx::ExternalData::default()),
    };
    if !edits.is_empty() || edits.inline_functions {
        edits.apply(&mut model, &data).map_err(|error| match error {
            onnx::EditError::Model(problems) => OnnxReadError::Model(problems),
            other => OnnxReadError::File(match input_name {
                Some(name) => format!("{name}: {other}"),
                None => other.to_string(),
            }),
        })?;
    }
    let mut module = onnx::to_program(model, data, registry).map_err(OnnxReadError::Model)?;
    let missing = module.keep_ops(&edits.keep_ops);
    if let Some(op) = missing.first() {
        return Err(OnnxReadError::File(format!("the model has no op `{op}` to keep")));
    }
    let extras = FormatExtras {
        #[cfg(feature = "stablehlo")]
        stablehlo: Extras::default(),
        onnx: Some(module.source),
        opset: None,
    };
    Ok(ReadProgram {
        program: AnyProgram::Ptir(module.program),
        extras,
        notes: module.notes.iter().map(|note| format!("{note}\n")).collect(),
    })
}

/// Reads a program of these ops from a text.
pub(crate) fn read_program(
    source: &Source,
    format: FileFormat,
    registry: &Arc<Registry>,
    options: ReadOptions,
) -> Result<ReadProgram, Diagnostics> {
    let (text, name) = (source.text(), source.name());
    #[cfg_attr(not(feature = "stablehlo"), allow(unused_mut, reason = "only StableHLO has extras"))]
    let (mut extras, mut notes) = (FormatExtras::default(), String::new());
    let program = match format {
        FileFormat::Ptir => {
            let options = ptir::ParseOptions::new()
                .file(name)
                .registry(registry)
                .verify(options.verify)
                .comments(options.comments)
                .numbers(options.source_names);
            ptir::parse_with(text, &options).map(AnyProgram::Ptir)
        }
        FileFormat::Json => ptir::from_json_with(text, registry).and_then(|program| {
            if options.verify {
                ptir::verify(&program)?;
            }
            Ok(AnyProgram::Ptir(program))
        }),
        #[cfg(feature = "stablehlo")]
        FileFormat::Mlir => stablehlo::read_with(source, registry).map(|module| {
            extras.stablehlo = module.extras;
            notes = module.notes.iter().map(|note| format!("{note}\n")).collect();
            let mut program = module.program;
            if options.source_names {
                program.set_quoted_source(source);
            }
            AnyProgram::Ptir(program)
        }),
        #[cfg(not(feature = "stablehlo"))]
        FileFormat::Mlir => Err(needs_feature("StableHLO", "stablehlo").into()),
        #[cfg(not(feature = "ir"))]
        FileFormat::Py => Err(needs_feature("the front-end IR", "ir").into()),
        #[cfg(not(feature = "onnx"))]
        FileFormat::Onnx => Err(needs_feature("ONNX", "onnx").into()),
        #[cfg(feature = "onnx")]
        FileFormat::Onnx => {
            let message = "an ONNX model is not text";
            Err(Diagnostic::error(Span::unknown(), message).into())
        }
        #[cfg(feature = "ir")]
        FileFormat::Py => ir::parse_program(source).and_then(|program| {
            let problems = match options.verify {
                true => ir::verify(&program, ir::VerifyLevel::WellFormed),
                false => Diagnostics::new(),
            };
            problems.into_result(AnyProgram::Ir(program))
        }),
    };
    if let Ok(AnyProgram::Ptir(program)) = &program
        && matches!(format, FileFormat::Ptir | FileFormat::Json)
    {
        notes = misspelled_ops(program, registry, name);
    }
    match program {
        Ok(program) => Ok(ReadProgram { program, extras, notes }),
        // The JSON reader does not know the file name.
        Err(problems) => Err(problems.in_file(name)),
    }
}

// Returns a line for each op that is not registered and has nearly the name of one that is.
fn misspelled_ops(program: &ptir::Program, registry: &Registry, file: &str) -> String {
    let mut unknown = BTreeSet::new();
    for f in program.functions() {
        let insts = f.walk().filter(|&inst| f.op_def(inst).is_none());
        unknown.extend(insts.map(|inst| f.op_name(inst)));
    }
    let mut lines = String::new();
    for name in unknown {
        if let Some(near) = did_you_mean(name, registry.defs().map(|def| def.name)) {
            lines += &format!("{file}: op `{name}` is not registered; did you mean `{near}`?\n");
        }
    }
    lines
}

// Returns the error for a format that this build does not have.
#[cfg(not(all(feature = "ir", feature = "onnx", feature = "stablehlo")))]
fn needs_feature(format: &str, feature: &str) -> Diagnostic {
    let message = format!("{format} needs the feature `{feature}` of the crate `sapwood`");
    Diagnostic::error(Span::unknown(), message)
}

/// Returns a PTIR program in a format. `extras` are the parts of the file that PTIR does not represent.
#[cfg_attr(
    not(any(feature = "onnx", feature = "stablehlo")),
    allow(unused_variables, reason = "only StableHLO and ONNX have extras")
)]
pub(crate) fn print_program(
    program: &ptir::Program,
    extras: &FormatExtras,
    to: FileFormat,
) -> Result<PrintedProgram, String> {
    match to {
        #[cfg(feature = "stablehlo")]
        FileFormat::Mlir => stablehlo::write_program(program, &extras.stablehlo)
            .map(PrintedProgram::Text)
            .map_err(|why| why.to_string()),
        #[cfg(not(feature = "stablehlo"))]
        FileFormat::Mlir => Err(needs_feature("StableHLO", "stablehlo").to_string()),
        FileFormat::Ptir => Ok(ptir::print(program).into()),
        FileFormat::Json => Ok((ptir::to_json(program) + "\n").into()),
        FileFormat::Py => Err("PTIR cannot be written as front-end IR".into()),
        #[cfg(not(feature = "onnx"))]
        FileFormat::Onnx => Err(needs_feature("ONNX", "onnx").to_string()),
        #[cfg(feature = "onnx")]
        FileFormat::Onnx => {
            let model = onnx::to_model(program, extras.onnx(), extras.opset)
                .map_err(|why| why.to_string())?;
            let data = extras.onnx().map_or_else(Arc::default, OnnxSource::shared_data);
            Ok(PrintedProgram::Model(Box::new(model), data))
        }
    }
}
