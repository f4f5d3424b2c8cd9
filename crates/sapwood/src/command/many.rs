//! One verb on many files: in parallel, reported in order.

use std::collections::{BTreeMap, BTreeSet};
use std::io::IsTerminal as _;
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::mpsc;
use std::time::Duration;

use indicatif::{ProgressBar, ProgressStyle};
use serde_json::{Value, json};

use super::answer::{Answer, Trouble};
use super::console::Console;
use super::files::{Expanded, Input, LeftOut, create_directory, expand, real, write_whole};
use super::fmt::Target;
use super::load::FileFormat;

/// What came of one file.
pub(super) struct Outcome {
    pub(super) answer: Answer,
    /// The result when this is the only file.
    pub(super) text: String,
    /// The result in one line when it is one of many.
    pub(super) line: String,
    /// What is said about it on standard error.
    pub(super) message: String,
    /// The result for programs; the file's name is added.
    pub(super) json: Value,
}

impl Outcome {
    /// An answer with nothing said yet.
    pub(super) fn new(answer: Answer, line: String, json: Value) -> Self {
        Self { answer, text: String::new(), line, message: String::new(), json }
    }

    /// Writes the result where it belongs, and tells where that is.
    pub(super) fn write(mut self, target: &Target, text: String) -> Result<Self, Trouble> {
        match target {
            Target::File(path) => {
                write_whole(path, &text)?;
                self.json["output"] = json!(path.display().to_string());
            }
            Target::Stdout | Target::Check => {
                self.json["text"] = json!(text);
                self.text = text;
            }
        }
        Ok(self)
    }
}

/// The files to work on.
pub(super) struct Inputs {
    files: Vec<Input>,
    /// Whether one file was asked for by its name.
    single: bool,
    /// Files of the directories that hold no program.
    left_out: LeftOut,
    /// Directories that hold no program.
    troubles: Vec<(PathBuf, Trouble)>,
}

impl Inputs {
    /// Finds the files that arguments name. Refuses arguments that name none.
    pub(super) fn new(arguments: &[PathBuf]) -> Result<Self, Trouble> {
        let Expanded { inputs: files, left_out, mut troubles } = expand(arguments);
        if files.is_empty() && troubles.len() == 1 {
            return Err(troubles.remove(0).1);
        }
        let single = files.len() == 1 && troubles.is_empty() && !arguments[0].is_dir();
        Ok(Self { files, single, left_out, troubles })
    }

    /// How many there are.
    pub(super) fn len(&self) -> usize {
        self.files.len()
    }

    /// All of them.
    pub(super) fn iter(&self) -> impl Iterator<Item = &Input> {
        self.files.iter()
    }

    /// With several files what is said about one stands below its name.
    pub(super) fn headed(&self, input: &Input, mut outcome: Outcome) -> Outcome {
        if !self.single && !outcome.message.is_empty() {
            outcome.message.insert_str(0, &format!("{input}:\n"));
        }
        outcome
    }

    /// The same for a verb that writes a file for each: several need a directory to go to, and names of their own
    /// there. `extension` is the one they get, if they do not keep theirs. Results for programs need no directory: they
    /// hold what would be written.
    pub(super) fn with_output<'e>(
        arguments: &[PathBuf],
        output: Option<&Path>,
        console: &Console,
        extension: impl Fn(&Input) -> Option<&'e str>,
    ) -> Result<Self, Trouble> {
        let inputs = Self::new(arguments)?;
        let output = output.filter(|path| path.as_os_str() != "-");
        match output {
            None if inputs.single || console.json => {}
            None => {
                let message =
                    "several programs do not go to one output; say -o DIRECTORY, or --format json";
                return Err(Trouble::new(message));
            }
            Some(output) => {
                inputs.check_output(output, &extension)?;
                inputs.check_replaced(output, extension)?;
            }
        }
        Ok(inputs)
    }

    /// Checks that each file has a place of its own in an output. The directory for several files is made if it is not there.
    pub(super) fn check_output<'e>(
        &self,
        output: &Path,
        extension: impl Fn(&Input) -> Option<&'e str>,
    ) -> Result<(), Trouble> {
        if !output.exists() && (names_directory(output) || !self.single && !names_file(output)) {
            create_directory(output)?;
        }
        match output.is_dir() {
            _ if self.single => Ok(()),
            true => self.check_names(output, extension),
            false => Err(Trouble::new(format!(
                "{}: not a directory, and there are several programs",
                output.display()
            ))),
        }
    }

    // Who names a directory does not ask for a program in it to be replaced; who names a file does.
    fn check_replaced<'e>(
        &self,
        output: &Path,
        extension: impl Fn(&Input) -> Option<&'e str>,
    ) -> Result<(), Trouble> {
        if !output.is_dir() {
            return Ok(());
        }
        let read: BTreeSet<PathBuf> = (self.files.iter())
            .filter_map(|input| match input {
                Input::File(path) => Some(real(path)),
                Input::Stdin => None,
            })
            .collect();
        for input in &self.files {
            if let Target::File(path) = Target::output_as(Some(output), input, extension(input))
                && read.contains(&real(&path))
            {
                let path = path.display();
                return Err(Trouble::new(format!(
                    "-o would replace {path}, which is read; name another directory"
                )));
            }
        }
        Ok(())
    }

    // Two files of one name in different directories would become one.
    fn check_names<'e>(
        &self,
        folder: &Path,
        extension: impl Fn(&Input) -> Option<&'e str>,
    ) -> Result<(), Trouble> {
        let mut names: BTreeMap<PathBuf, &Input> = BTreeMap::new();
        for input in &self.files {
            if let Target::File(path) = Target::output_as(Some(folder), input, extension(input))
                && let Some(other) = names.insert(path.clone(), input)
            {
                let path = path.display();
                return Err(Trouble::new(format!(
                    "{other} and {input} would both become {path}; write them one by one"
                )));
            }
        }
        Ok(())
    }
}

// Whether a path can only be that of a directory: `out/`.
fn names_directory(path: &Path) -> bool {
    path.as_os_str().as_encoded_bytes().last().is_some_and(|&b| std::path::is_separator(b.into()))
}

// Whether a path has the extension of something that verbs write.
fn names_file(path: &Path) -> bool {
    let other = path.extension().is_some_and(|e| e == "html" || e == "htm" || e == "dot");
    other || FileFormat::of(path).is_some()
}

/// Runs `work` on every file and writes what came of it, in the order of the arguments.
pub(super) fn run(
    inputs: &Inputs,
    console: &Console,
    work: impl Fn(&Input) -> Result<Outcome, Trouble> + Sync,
) -> Result<Answer, Trouble> {
    let Inputs { files: inputs, single, left_out, troubles } = inputs;
    let single = *single;
    let files = left_out.to_string();
    if !files.is_empty() {
        console.message(&format!("sapwood: {files} left out; name one to read it anyway\n"));
    }
    let mut worst = Answer::Yes;
    let mut listed = Vec::new();
    for (folder, trouble) in troubles {
        console.message(&trouble.text(console.color));
        let mut value = trouble.json();
        value["file"] = json!(folder.display().to_string());
        listed.push(value);
        worst = Answer::Trouble;
    }
    let bar = progress(inputs.len());
    in_order(
        inputs,
        console.jobs,
        |input| work(input),
        |input, outcome| {
            bar.inc(1);
            let (answer, mut value) = match outcome {
                Ok(outcome) => {
                    bar.suspend(|| console.message(&outcome.message));
                    if !console.json {
                        let text = if single { outcome.text } else { outcome.line + "\n" };
                        bar.suspend(|| console.write(&text))?;
                    }
                    (outcome.answer, outcome.json)
                }
                Err(trouble) => {
                    bar.suspend(|| console.message(&trouble.text(console.color)));
                    (Answer::Trouble, trouble.json())
                }
            };
            value["file"] = json!(input.to_string());
            listed.push(value);
            worst = worst.max(answer);
            Ok(())
        },
    )?;
    bar.finish_and_clear();
    if console.json {
        console.write_json(&json!({ "files": listed }))?;
    }
    Ok(worst)
}

// A bar on a terminal; invisible for one file or elsewhere.
fn progress(files: usize) -> ProgressBar {
    if files < 2 || !std::io::stderr().is_terminal() {
        return ProgressBar::hidden();
    }
    let bar = ProgressBar::new(files as u64);
    if let Ok(style) = ProgressStyle::with_template("{bar:30} {pos}/{len} {eta}") {
        bar.set_style(style);
    }
    bar.enable_steady_tick(Duration::from_millis(200));
    bar
}

// Works on items with several threads and hands the results on in the order of the items.
fn in_order<T: Sync, R: Send>(
    items: &[T],
    jobs: usize,
    work: impl Fn(&T) -> R + Sync,
    mut done: impl FnMut(&T, R) -> Result<(), Trouble>,
) -> Result<(), Trouble> {
    if items.len() < 2 || jobs < 2 {
        return items.iter().try_for_each(|item| done(item, work(item)));
    }
    let next = AtomicUsize::new(0);
    std::thread::scope(|scope| {
        let (sender, receiver) = mpsc::channel();
        for _ in 0..jobs.min(items.len()) {
            let (sender, next, work) = (sender.clone(), &next, &work);
            scope.spawn(move || {
                loop {
                    let at = next.fetch_add(1, Ordering::Relaxed);
                    let Some(item) = items.get(at) else { return };
                    // Nobody listens any more once writing has failed.
                    if sender.send((at, work(item))).is_err() {
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
                done(&items[written], result)?;
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
            in_order(
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
    fn the_first_failure_ends_it() {
        let items: Vec<usize> = (0..1000).collect();
        let mut seen = 0;
        let ended = in_order(
            &items,
            4,
            |n| *n,
            |n, _| {
                seen += 1;
                if *n == 3 { Err(Trouble::new("full")) } else { Ok(()) }
            },
        );
        assert!(ended.is_err());
        assert_eq!(seen, 4);
    }
}
