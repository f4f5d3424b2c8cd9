//! The place where a result is written: standard output, a file, or a file in a folder.

use std::path::{Path, PathBuf};

use super::files::{Input, canonical_path};
use super::load::FileFormat;
use crate::command::cli_error::CliError;

/// The place where a result goes.
pub(crate) enum Target {
    /// Nothing is written: the verb only checks.
    Check,
    Stdout,
    File(PathBuf),
}

impl Target {
    /// Returns the target that `-o` names: a file, a file in a folder, or standard output.
    pub(crate) fn from_output(output: Option<&Path>, input: &Input) -> Self {
        match (output, input) {
            (None, _) => Self::Stdout,
            (Some(path), _) if path.as_os_str() == "-" => Self::Stdout,
            (Some(path), Input::File(file)) if path.is_dir() => {
                Self::File(path.join(file.file_name().unwrap_or(file.as_os_str())))
            }
            (Some(path), Input::Stdin) if path.is_dir() => Self::File(path.join("stdin")),
            (Some(path), _) => Self::File(path.to_owned()),
        }
    }

    /// Returns the target that `-o` names, with this extension if it is a file in a folder.
    pub(crate) fn with_extension(
        output: Option<&Path>,
        input: &Input,
        extension: Option<&str>,
    ) -> Self {
        match (Self::from_output(output, input), extension) {
            (Self::File(path), Some(extension)) if output.is_some_and(Path::is_dir) => {
                Self::File(path.with_extension(extension))
            }
            (target, _) => target,
        }
    }

    /// Returns the target that `-o` names and the format to write: `requested`, that of the extension of the file, or
    /// `default`. A file in a folder gets the extension of its format.
    pub(crate) fn with_format(
        output: Option<&Path>,
        input: &Input,
        requested: Option<FileFormat>,
        default: FileFormat,
    ) -> (Self, FileFormat) {
        let into_folder = output.is_some_and(Path::is_dir);
        let to = match Self::from_output(output, input) {
            Self::File(path) if !into_folder => {
                requested.or(FileFormat::of(&path)).unwrap_or(default)
            }
            // A terminal shows no bytes.
            Self::Stdout if default == FileFormat::Onnx => requested.unwrap_or(FileFormat::Ptir),
            _ => requested.unwrap_or(default),
        };
        let extension = if into_folder { Some(to.extension()) } else { None };
        (Self::with_extension(output, input, extension), to)
    }
}

/// Checks that an option names a file: standard output is for the program.
pub(crate) fn require_file(option: &str, path: &Path) -> Result<(), CliError> {
    if path.as_os_str() == "-" {
        let message = format!("{option} needs a file; standard output is for the program");
        return Err(CliError::new(message));
    }
    Ok(())
}

/// Checks that `--report` names a file, and that its pages replace no input.
pub(crate) fn require_report_file<'i>(
    path: &Path,
    inputs: impl IntoIterator<Item = &'i Input>,
) -> Result<(), CliError> {
    require_file("--report", path)?;
    for input in inputs {
        let Input::File(file) = input else { continue };
        if canonical_path(file) == canonical_path(&companion_path(path, input, "html")) {
            let file = file.display();
            let message = format!("--report would replace {file}, an input; give another path");
            return Err(CliError::new(message));
        }
    }
    Ok(())
}

/// Returns the file that `--report` or `--reproducer` writes for an input: the path itself, or if it is a folder, a file
/// in it that is named after the input.
pub(crate) fn companion_path(path: &Path, input: &Input, extension: &str) -> PathBuf {
    match input {
        Input::File(file) if path.is_dir() => {
            path.join(file.with_extension(extension).file_name().unwrap_or_default())
        }
        Input::Stdin if path.is_dir() => path.join("stdin").with_extension(extension),
        _ => path.to_owned(),
    }
}
