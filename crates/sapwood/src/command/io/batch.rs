//! Running a verb on a batch of files: in parallel, with results in the order of the arguments.

use std::collections::{BTreeMap, BTreeSet};
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::mpsc;
use std::time::Duration;

use indicatif::{ProgressBar, ProgressStyle};
use sapwood_types::counted;
use serde_json::{Value, json};

use super::created_folder::CreatedFolder;
use super::files::{
    ExpandedArguments, Input, SkippedFiles, canonical_path, expand_arguments, write_file,
    write_model,
};
use super::target::Target;
use crate::command::cli_error::CliError;
use crate::command::command_name;
use crate::command::console::Console;
use crate::command::progress_line::with_progress_line;
use crate::command::status::Status;
use crate::formats::PrintedProgram;

/// The result of a verb on one file.
pub(crate) struct FileResult {
    pub(crate) status: Status,
    /// The text for standard output if this is the only file.
    pub(crate) text: String,
    /// The line for standard output if this is one of several files.
    pub(crate) line: String,
    /// The messages for standard error.
    pub(crate) message: String,
    /// The object for `--format json`; the name of the file is added.
    pub(crate) json: Value,
}

impl FileResult {
    /// Creates a result without text and messages.
    pub(crate) fn new(status: Status, line: String, json: Value) -> Self {
        Self { status, text: String::new(), line, message: String::new(), json }
    }

    /// Writes a program or another text to the target, and records in the JSON object where it is.
    pub(crate) fn write(
        mut self,
        target: &Target,
        printed: impl Into<PrintedProgram>,
    ) -> Result<Self, CliError> {
        match (target, printed.into()) {
            (Target::File(path), printed) => {
                match printed {
                    PrintedProgram::Text(text) => write_file(path, &text)?,
                    PrintedProgram::Model(model, data) => write_model(path, &model, &data)?,
                }
                self.json["output"] = json!(path.display().to_string());
            }
            (Target::Stdout | Target::Check, PrintedProgram::Text(text)) => {
                self.json["text"] = json!(text);
                self.text = text;
            }
            (Target::Stdout | Target::Check, PrintedProgram::Model(..)) => {
                let message = "an ONNX model is not text; give a file with -o";
                return Err(CliError::new(message));
            }
        }
        Ok(self)
    }
}

/// The arguments of a verb that writes one output per input.
#[derive(clap::Args)]
pub(crate) struct BatchArgs {
    /// Programs, or directories of programs; `-` means standard input
    #[arg(required = true, value_name = "FILES")]
    pub(crate) files: Vec<PathBuf>,
    /// Write to this file, or to this directory if there are several inputs; the default is standard output
    #[arg(short, long, value_name = "FILE")]
    pub(crate) output: Option<PathBuf>,
}

impl BatchArgs {
    /// Finds the files, as [`BatchInputs::with_output`] does.
    pub(crate) fn inputs<'e>(
        &self,
        console: &Console,
        extension: impl Fn(&Input) -> Option<&'e str>,
    ) -> Result<BatchInputs, CliError> {
        BatchInputs::with_output(&self.files, self.output.as_deref(), console, extension)
    }
}

/// The files that a verb works on, and the output folders that were created for them.
pub(crate) struct BatchInputs {
    files: Vec<Input>,
    /// True if the arguments name one file, not a directory.
    single: bool,
    skipped: SkippedFiles,
    /// The directories without programs, each with its error.
    errors: Vec<(PathBuf, CliError)>,
    /// The new output folders. Those that are still empty in the end are removed.
    created: CreatedFolder,
}

impl BatchInputs {
    /// Finds the files that the arguments name. Fails if they name none.
    pub(crate) fn new(arguments: &[PathBuf]) -> Result<Self, CliError> {
        let ExpandedArguments { inputs: files, skipped, mut errors } = expand_arguments(arguments);
        if files.is_empty() && errors.len() == 1 {
            return Err(errors.remove(0).1);
        }
        let single = files.len() == 1 && errors.is_empty() && !arguments[0].is_dir();
        Ok(Self { files, single, skipped, errors, created: CreatedFolder::default() })
    }

    /// Finds the files for a verb that writes one output per input, and checks `-o`: several inputs need a folder, in which
    /// each has a name of its own. `extension` returns the extension of an output if it differs from that of the input.
    /// With `--format json` no folder is needed: the results contain the outputs.
    pub(crate) fn with_output<'e>(
        arguments: &[PathBuf],
        output: Option<&Path>,
        console: &Console,
        extension: impl Fn(&Input) -> Option<&'e str>,
    ) -> Result<Self, CliError> {
        let mut inputs = Self::new(arguments)?;
        let output = output.filter(|path| path.as_os_str() != "-");
        match output {
            None if inputs.single || console.json => {}
            None => {
                return Err(CliError::new(
                    "several inputs cannot be written to standard output; give a directory with -o, or pass --format json",
                ));
            }
            Some(output) => {
                inputs.prepare_output("-o", output, &extension)?;
                inputs.check_inputs_are_kept(output, extension)?;
            }
        }
        Ok(inputs)
    }

    /// Returns the number of files.
    pub(crate) fn len(&self) -> usize {
        self.files.len()
    }

    /// Returns an iterator over the files.
    pub(crate) fn iter(&self) -> impl Iterator<Item = &Input> {
        self.files.iter()
    }

    /// Puts a line with the file name above the messages of a result, if there are several files.
    pub(crate) fn with_heading(&self, input: &Input, mut result: FileResult) -> FileResult {
        if !self.single && !result.message.is_empty() {
            result.message.insert_str(0, &format!("{input}:\n"));
        }
        result
    }

    /// Checks that an option gives every input an output of its own. Creates the folder for several inputs if it is missing.
    pub(crate) fn prepare_output<'e>(
        &mut self,
        option: &str,
        output: &Path,
        extension: impl Fn(&Input) -> Option<&'e str>,
    ) -> Result<(), CliError> {
        let is_folder_name = ends_in_separator(output);
        if !output.exists() && (is_folder_name || !self.single && output.extension().is_none()) {
            self.created.add(CreatedFolder::create(output)?);
        }
        // Without inputs, the directories without programs are the error to report.
        if self.single || self.files.is_empty() {
            return Ok(());
        }
        if output.is_dir() {
            return self.check_output_names_differ(output, extension);
        }
        let inputs = match self.files.len() + self.errors.len() {
            1 => "the input is a directory".to_owned(),
            n => format!("there are {}", counted(n, "input")),
        };
        let path = output.display();
        let hint = match output.exists() {
            true => "give a directory".to_owned(),
            false => format!("give a directory (`{path}/` creates one)"),
        };
        Err(CliError::new(format!("`{option} {path}` names a file, but {inputs}; {hint}")))
    }

    // Checks that no output in a folder replaces an input. Naming a file with `-o` permits that, naming a folder does not.
    fn check_inputs_are_kept<'e>(
        &self,
        output: &Path,
        extension: impl Fn(&Input) -> Option<&'e str>,
    ) -> Result<(), CliError> {
        if !output.is_dir() {
            return Ok(());
        }
        let read: BTreeSet<PathBuf> = (self.files.iter())
            .filter_map(|input| match input {
                Input::File(path) => Some(canonical_path(path)),
                Input::Stdin => None,
            })
            .collect();
        for input in &self.files {
            if let Target::File(path) =
                Target::with_extension(Some(output), input, extension(input))
                && read.contains(&canonical_path(&path))
            {
                let path = path.display();
                return Err(CliError::new(format!(
                    "-o would replace the input {path}; give another directory"
                )));
            }
        }
        Ok(())
    }

    // Checks that no two inputs have the same output: files of one name may come from different directories.
    fn check_output_names_differ<'e>(
        &self,
        folder: &Path,
        extension: impl Fn(&Input) -> Option<&'e str>,
    ) -> Result<(), CliError> {
        let mut names: BTreeMap<PathBuf, &Input> = BTreeMap::new();
        for input in &self.files {
            if let Target::File(path) =
                Target::with_extension(Some(folder), input, extension(input))
                && let Some(other) = names.insert(path.clone(), input)
            {
                let path = path.display();
                return Err(CliError::new(format!(
                    "{other} and {input} would both be written to {path}; write them one by one"
                )));
            }
        }
        Ok(())
    }
}

/// Returns true if a path ends in a separator, as in `out/`: it can only name a directory.
pub(crate) fn ends_in_separator(path: &Path) -> bool {
    path.as_os_str().as_encoded_bytes().last().is_some_and(|&b| std::path::is_separator(b.into()))
}

/// Runs `process` on every file and writes the results in the order of the arguments. Returns the worst status.
pub(crate) fn run(
    inputs: &BatchInputs,
    console: &Console,
    process: impl Fn(&Input) -> Result<FileResult, CliError> + Sync,
) -> Result<Status, CliError> {
    let BatchInputs { files, single, skipped, errors, .. } = inputs;
    let single = *single;
    let skipped = skipped.to_string();
    if !skipped.is_empty() {
        let name = command_name();
        console.message(&format!("{name}: skipped {skipped}; name a file to read it anyway\n"));
    }
    let mut worst = Status::Success;
    let mut objects = Vec::new();
    for (folder, error) in errors {
        console.message(&error.text(console.color));
        let mut object = error.json();
        object["file"] = json!(folder.display().to_string());
        objects.push(object);
        worst = Status::Failed;
    }
    let bar = progress_bar(files.len(), console);
    process_in_order(
        files,
        console.jobs,
        |input| match files.len() {
            1 => with_progress_line(console, || process(input)),
            _ => process(input),
        },
        |input, result| {
            bar.inc(1);
            let (status, mut object) = match result {
                Ok(result) => {
                    bar.suspend(|| console.message(&result.message));
                    if !console.json {
                        let text = if single { result.text } else { result.line + "\n" };
                        bar.suspend(|| console.write(&text))?;
                    }
                    (result.status, result.json)
                }
                Err(error) => {
                    bar.suspend(|| console.message(&error.text(console.color)));
                    (Status::Failed, error.json())
                }
            };
            object["file"] = json!(input.to_string());
            objects.push(object);
            worst = worst.max(status);
            Ok(())
        },
    )?;
    bar.finish_and_clear();
    if console.json {
        console.write_json(&json!({ "files": objects }))?;
    }
    Ok(worst)
}

// Returns a progress bar that counts files. It is invisible for a single file, which has a line with its phases instead.
fn progress_bar(files: usize, console: &Console) -> ProgressBar {
    if files < 2 || !console.progress {
        return ProgressBar::hidden();
    }
    let bar = ProgressBar::new(files as u64);
    if let Ok(style) = ProgressStyle::with_template("{bar:30} {pos}/{len} {eta}") {
        bar.set_style(style);
    }
    bar.enable_steady_tick(Duration::from_millis(200));
    bar
}

// Calls `process` for every item on several threads, and `consume` for the results in the order of the items.
fn process_in_order<T: Sync, R: Send>(
    items: &[T],
    jobs: usize,
    process: impl Fn(&T) -> R + Sync,
    mut consume: impl FnMut(&T, R) -> Result<(), CliError>,
) -> Result<(), CliError> {
    if items.len() < 2 || jobs < 2 {
        return items.iter().try_for_each(|item| consume(item, process(item)));
    }
    let next = AtomicUsize::new(0);
    std::thread::scope(|scope| {
        let (sender, receiver) = mpsc::channel();
        for _ in 0..jobs.min(items.len()) {
            let (sender, next, process) = (sender.clone(), &next, &process);
            scope.spawn(move || {
                loop {
                    let at = next.fetch_add(1, Ordering::Relaxed);
                    let Some(item) = items.get(at) else { return };
                    // The receiver is gone once writing has failed.
                    if sender.send((at, process(item))).is_err() {
                        return;
                    }
                }
            });
        }
        drop(sender);
        let mut waiting: Vec<Option<R>> = items.iter().map(|_| None).collect();
        let mut written = 0;
        for (at, result) in receiver {
            waiting[at] = Some(result);
            while let Some(result) = waiting.get_mut(written).and_then(Option::take) {
                consume(&items[written], result)?;
                written += 1;
            }
        }
        Ok(())
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn results_come_in_the_order_of_the_items() {
        let items: Vec<usize> = (0..100).collect();
        for jobs in [1, 2, 7] {
            let mut seen = Vec::new();
            process_in_order(
                &items,
                jobs,
                |n| n * 2,
                |n, twice| {
                    assert_eq!(twice, n * 2);
                    seen.push(*n);
                    Ok(())
                },
            )
            .unwrap();
            assert_eq!(seen, items);
        }
    }

    #[test]
    fn the_first_failure_stops_the_batch() {
        let items: Vec<usize> = (0..1000).collect();
        let mut seen = 0;
        let result = process_in_order(
            &items,
            4,
            |n| *n,
            |n, _| {
                seen += 1;
                if *n == 3 { Err(CliError::new("full")) } else { Ok(()) }
            },
        );
        assert!(result.is_err());
        assert_eq!(seen, 4);
    }
}
