//! A check that every registered name has its file, and every file its name.

use std::collections::BTreeSet;
use std::path::Path;

use sapwood_types::did_you_mean;

/// Checks that the files `<folder>/<name>.<extension>` are exactly those of the `registered`
/// names; `what` names the registered things in the message ("pattern", "op").
///
/// # Errors
/// A text that lists every name without a file, every file without a name, and every name given twice.
pub fn check_files<'a>(
    what: &str,
    registered: impl IntoIterator<Item = &'a str>,
    folder: &Path,
    extension: &str,
) -> Result<(), String> {
    let mut problems = Vec::new();
    let mut names = BTreeSet::new();
    for name in registered {
        if !names.insert(name) {
            problems.push(format!("the {what} `{name}` is registered twice"));
        }
    }
    let files = stems(folder, extension)?;
    let shown = |name: &str| format!("{}/{name}.{extension}", folder.display());
    for name in names.iter().filter(|name| !files.contains(**name)) {
        problems.push(format!("the {what} `{name}` has no file {}", shown(name)));
    }
    for file in files.iter().filter(|file| !names.contains(file.as_str())) {
        let close = did_you_mean(file, names.iter().copied());
        let hint = close.map_or_else(String::new, |name| format!("; did you mean `{name}`?"));
        problems.push(format!("{} belongs to no registered {what}{hint}", shown(file)));
    }
    if problems.is_empty() { Ok(()) } else { Err(problems.join("\n")) }
}

fn stems(folder: &Path, extension: &str) -> Result<BTreeSet<String>, String> {
    let unreadable = |error| format!("cannot read {}: {error}", folder.display());
    let mut stems = BTreeSet::new();
    for entry in std::fs::read_dir(folder).map_err(unreadable)? {
        let path = entry.map_err(unreadable)?.path();
        if path.extension().is_some_and(|e| e == extension) {
            stems.extend(path.file_stem().map(|stem| stem.to_string_lossy().into_owned()));
        }
    }
    Ok(stems)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn all_that_is_wrong_is_listed() {
        let folder = tempfile::tempdir().unwrap();
        for name in ["add_zero.ptir", "mul_onne.ptir", "notes.txt"] {
            std::fs::write(folder.path().join(name), "").unwrap();
        }
        let shown = folder.path().display();
        assert_eq!(check_files("pattern", ["add_zero", "mul_onne"], folder.path(), "ptir"), Ok(()));
        assert_eq!(
            check_files("pattern", ["add_zero", "mul_one", "mul_one"], folder.path(), "ptir"),
            Err(format!(
                "the pattern `mul_one` is registered twice
the pattern `mul_one` has no file {shown}/mul_one.ptir
{shown}/mul_onne.ptir belongs to no registered pattern; did you mean `mul_one`?"
            ))
        );
    }

    #[test]
    fn a_missing_folder_is_an_error() {
        let folder = tempfile::tempdir().unwrap();
        let error = check_files("op", [], &folder.path().join("none"), "ptir").unwrap_err();
        assert!(error.starts_with("cannot read "), "{error}");
    }
}
