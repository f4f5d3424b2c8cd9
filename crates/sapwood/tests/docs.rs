//! Tests of the pages: every command line runs and prints the output that the page shows.
//!
//! In blocks marked `sh` every line is a command. In blocks marked `console` commands start with `$`, and the lines below a
//! command are its output: messages, then results. A line `…` stands for any number of lines. All times count as equal.
//! A block marked with a name, as in `ptir softmax.ptir`, is a file of that name.
//! All commands of a page run in one folder with a copy of `programs/` and `examples/patterns/`. `sapwood …`, `cargo run … -p
//! sapwood -- …`, `cat` and `ls` are run; the commands of [`NOT_RUN`] are not; any other command is an error.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

use sapwood_testing::repository;

/// The first words of commands that are not run here, each with the reason.
const NOT_RUN: &[(&str, &str)] = &[
    ("cargo xtask test", "it runs this test"),
    ("cargo xtask bench", "it takes long; the second tier runs it"),
    ("cargo test", "it runs this test"),
    ("BLESS=1 cargo test", "it changes golden files"),
    ("cargo +nightly fuzz", "it needs a nightly toolchain; the second tier runs it"),
    ("cargo install", "it builds everything anew; the second tier runs it"),
    ("pip install", "it needs the network; the second tier runs it"),
    ("python", "the tests of the Python package run Python"),
];

/// The kinds of code blocks, the pages on which a test runs them (none: all pages), and that test.
const RUN_BLOCKS: &[(&str, &[&str], &str)] = &[
    ("sh", &[], "this file"),
    ("console", &[], "this file"),
    (
        "pycon",
        &["README.md", "docs/guide/own-op-python.md", "docs/guide/python.md"],
        "python/tests/test_examples.py",
    ),
    (
        "python",
        &["README.md", "docs/reference/ir-text.md"],
        "python/tests/test_examples.py, and crates/ir/tests/reference_page.rs for text of the IR",
    ),
    (
        "rust",
        &[
            "README.md",
            "docs/guide/embedding.md",
            "docs/guide/folding.md",
            "docs/guide/fusion.md",
            "docs/guide/lowering.md",
            "docs/guide/matchers.md",
            "docs/guide/own-backend.md",
            "docs/guide/own-op-types.md",
            "docs/guide/own-op.md",
            "docs/guide/own-pass.md",
            "docs/guide/rewriting.md",
            "docs/guide/rules.md",
            "docs/guide/running.md",
            "docs/guide/structural.md",
            "docs/guide/toolkit.md",
            "docs/reference/design-document-api.md",
        ],
        "the doctests of the crates that include the page",
    ),
    ("ptir", PTIR_PAGES, "crates/rules/tests/pages.rs, and this file for blocks with a name"),
    ("rules", RULES_PAGES, "crates/rules/tests/pages.rs, and this file for blocks with a name"),
];
const PTIR_PAGES: &[&str] =
    &["README.md", "docs/guide/cost.md", "docs/guide/rules.md", "docs/reference/rules.md"];
const RULES_PAGES: &[&str] = &["README.md", "docs/guide/rules.md", "docs/reference/rules.md"];
/// The kinds of blocks that are not code: output, grammars, and fragments that are marked as such.
const NOT_CODE: &[&str] = &["", "text", "diff", "mermaid", "rust,ignore"];

/// A command line of a page.
struct PageCommand {
    page: PathBuf,
    line: usize,
    command: String,
    /// The output below it; `None` in a block that shows no output.
    output: Option<String>,
}

#[test]
fn every_command_line_of_the_pages_runs() {
    let mut problems = Vec::new();
    let (mut ran, mut not_run) = (0, 0);
    for page in pages() {
        let folder = tempfile::tempdir().unwrap();
        for name in ["programs", "examples/patterns"] {
            copy(&repository().join(name), &folder.path().join(name));
        }
        for (name, text) in named_blocks(&page) {
            fs::write(folder.path().join(name), text).unwrap();
        }
        for listed in commands(&page) {
            let command = listed.command.split("   #").next().unwrap_or_default().trim();
            if NOT_RUN.iter().any(|(start, _)| command.starts_with(start)) {
                not_run += 1;
                continue;
            }
            ran += 1;
            let place = format!("{}:{}", listed.page.display(), listed.line);
            match run(folder.path(), command) {
                Err(why) => problems.push(format!("{place}: `{command}`: {why}")),
                // Without output, the exit code is all that tells whether the command did what the page says.
                Ok((Some(1), printed)) if listed.output.is_none() && !compares(command) => {
                    problems.push(format!("{place}: `{command}` exits with 1:\n{printed}"));
                }
                Ok((_, printed)) => match listed.output {
                    Some(expected)
                        if !matches(&without_times(&expected), &without_times(&printed)) =>
                    {
                        problems.push(format!(
                            "{place}: `{command}` prints\n{printed}instead of\n{expected}"
                        ));
                    }
                    _ => {}
                },
            }
        }
    }
    assert!(problems.is_empty(), "\n{}\n", problems.join("\n"));
    assert!(ran >= 5 && not_run >= 2, "{ran} ran, {not_run} not run");
}

#[test]
fn every_code_block_is_run() {
    let mut problems = Vec::new();
    for path in pages() {
        let page = path.strip_prefix(repository()).unwrap().to_string_lossy().replace('\\', "/");
        // The dated notes quote the code of their day.
        if page.starts_with("docs/design/") {
            continue;
        }
        let text = fs::read_to_string(&path).unwrap();
        let fences = text.lines().enumerate().filter_map(|(n, line)| {
            line.trim_start().strip_prefix("```").map(|info| (n + 1, info))
        });
        for (line, info) in fences.step_by(2) {
            let kind = info.split_whitespace().next().unwrap_or_default();
            let is_run = |(known, pages, _): &(&str, &[&str], &str)| {
                *known == kind && (pages.is_empty() || pages.contains(&page.as_str()))
            };
            if !NOT_CODE.contains(&kind) && !RUN_BLOCKS.iter().any(is_run) {
                let runner = RUN_BLOCKS.iter().find(|(known, ..)| *known == kind);
                let hint = runner.map_or("no test runs this kind", |(_, _, runner)| runner);
                problems
                    .push(format!("{page}:{line}: `{kind}` is not run on this page; see {hint}"));
            }
        }
    }
    assert!(problems.is_empty(), "\n{}\n", problems.join("\n"));
}

#[test]
fn every_entry_of_the_not_run_list_is_used() {
    let lines: Vec<String> = pages().iter().flat_map(|p| commands(p)).map(|s| s.command).collect();
    for (start, why) in NOT_RUN.iter().filter(|(start, _)| start.starts_with("cargo xtask")) {
        assert!(lines.iter().any(|line| line.starts_with(start)), "{start}: {why}");
    }
}

#[test]
fn the_readme_has_the_number_of_wrong_rewrites_that_are_caught() {
    let page = fs::read_to_string(repository().join("docs/reference/check-mutants.md")).unwrap();
    let row = page.lines().find(|line| line.starts_with("| all |")).unwrap();
    let cells: Vec<&str> = row.split('|').map(str::trim).collect();
    let &[.., wrong, caught, _, ""] = &cells[..] else { panic!("{row}") };
    let readme = fs::read_to_string(repository().join("README.md")).unwrap();
    let expected = format!("{caught} of {wrong} wrong rewrites caught");
    assert!(readme.contains(&expected), "README.md should contain \"{expected}\"");
}

#[test]
fn every_verb_has_a_section_of_the_reference() {
    let help = Command::new(env!("CARGO_BIN_EXE_sapwood")).arg("--help").output().unwrap().stdout;
    let help = String::from_utf8(help).unwrap();
    let (_, verbs) = help.split_once("Commands:\n").unwrap();
    let (verbs, _) = verbs.split_once("\n\n").unwrap();
    let verbs: Vec<&str> =
        verbs.lines().filter_map(|line| line.split_whitespace().next()).collect();
    assert!(verbs.len() >= 16, "{verbs:?}");
    let page = fs::read_to_string(repository().join("docs/reference/command.md")).unwrap();
    let sections: Vec<&str> = (page.lines())
        .filter_map(|line| line.strip_prefix("### `sapwood ")?.strip_suffix('`'))
        .collect();
    assert_eq!(sections, verbs, "the sections of docs/reference/command.md are those of --help");
    let (_, schemas) = page.split_once("## Schemas of `--format json`").unwrap();
    let rows = || schemas.lines().filter_map(|line| line.strip_prefix("| ")?.split(" | ").next());
    for verb in verbs.iter().filter(|verb| **verb != "completions") {
        let listed = rows().any(|row| row.contains(&format!("`{verb}`")));
        assert!(listed, "the table of schemas has no row for `{verb}`");
    }
}

/// Returns the README, CONTRIBUTING and all pages of `docs/`.
fn pages() -> Vec<PathBuf> {
    let root = repository();
    let mut pages: Vec<PathBuf> =
        ["README.md", "CONTRIBUTING.md"].iter().map(|name| root.join(name)).collect();
    let mut folders = vec![root.join("docs")];
    while let Some(folder) = folders.pop() {
        for entry in fs::read_dir(folder).unwrap() {
            let path = entry.unwrap().path();
            if path.is_dir() {
                folders.push(path);
            } else if path.extension().is_some_and(|e| e == "md") {
                pages.push(path);
            }
        }
    }
    pages.sort();
    pages
}

/// Returns the command lines of a page.
fn commands(page: &Path) -> Vec<PageCommand> {
    let text = fs::read_to_string(page).unwrap();
    let page = page.strip_prefix(repository()).unwrap_or(page).to_owned();
    let mut shown: Vec<PageCommand> = Vec::new();
    let mut block: Option<&str> = None;
    for (n, line) in text.lines().enumerate() {
        if let Some(info) = line.strip_prefix("```") {
            block = if block.is_some() { None } else { Some(info.trim()) };
            continue;
        }
        let command = match block {
            Some("sh") if !line.trim().is_empty() => Some((line.trim(), None)),
            Some("console") => line.strip_prefix("$ ").map(|line| (line, Some(String::new()))),
            _ => None,
        };
        if let Some((command, output)) = command {
            let (page, command) = (page.clone(), command.to_owned());
            shown.push(PageCommand { page, line: n + 1, command, output });
        } else if block == Some("console")
            && let Some(PageCommand { output: Some(output), .. }) = shown.last_mut()
        {
            output.push_str(line);
            output.push('\n');
        }
    }
    shown
}

/// Returns the blocks of a page that are files, with their names.
fn named_blocks(page: &Path) -> Vec<(String, String)> {
    let text = fs::read_to_string(page).unwrap();
    let mut files: Vec<(String, String)> = Vec::new();
    let (mut inside, mut named) = (false, false);
    for line in text.lines() {
        if let Some(info) = line.strip_prefix("```") {
            inside = !inside;
            let name = info.split_whitespace().nth(1).filter(|name| inside && name.contains('.'));
            named = name.is_some();
            files.extend(name.map(|name| (name.to_owned(), String::new())));
        } else if named && let Some((_, text)) = files.last_mut() {
            text.push_str(line);
            text.push('\n');
        }
    }
    files
}

/// Returns whether exit code 1 of a command is an answer, for example that two programs differ.
fn compares(command: &str) -> bool {
    let verb = command.split_whitespace().nth(1);
    verb.is_some_and(|verb| ["diff", "eq", "check-rules", "match"].contains(&verb))
}

/// Runs a command and returns its exit code, and its messages and results.
fn run(folder: &Path, command: &str) -> Result<(Option<i32>, String), String> {
    let words: Vec<&str> = command.split_whitespace().map(|word| word.trim_matches('\'')).collect();
    let cargo_run = |words: &[&str]| {
        words.starts_with(&["cargo", "run"]) && words.windows(2).any(|w| w == ["-p", "sapwood"])
    };
    let arguments = match &words[..] {
        ["sapwood", arguments @ ..] => arguments,
        words if cargo_run(words) => {
            let dashes = words.iter().position(|word| *word == "--");
            &words[dashes.ok_or("there is no `--`")? + 1..]
        }
        ["cat", name] => {
            let text = fs::read_to_string(folder.join(name)).map_err(|e| e.to_string())?;
            return Ok((Some(0), text));
        }
        ["ls", name] => {
            let mut names: Vec<String> = fs::read_dir(folder.join(name))
                .map_err(|e| e.to_string())?
                .map(|entry| entry.map(|e| e.file_name().to_string_lossy().into_owned() + "\n"))
                .collect::<Result<_, _>>()
                .map_err(|e| e.to_string())?;
            names.sort();
            return Ok((Some(0), names.concat()));
        }
        _ => {
            return Err(
                "unknown command; the top of tests/docs.rs lists the commands that are run".into(),
            );
        }
    };
    let done = Command::new(env!("CARGO_BIN_EXE_sapwood"))
        .args(arguments)
        .current_dir(folder)
        .output()
        .map_err(|e| e.to_string())?;
    let (messages, results) =
        (String::from_utf8_lossy(&done.stderr), String::from_utf8_lossy(&done.stdout));
    match done.status.code() {
        code @ Some(0 | 1) => Ok((code, format!("{messages}{results}"))),
        _ => Err(format!("{}\n{messages}", done.status)),
    }
}

/// Replaces times by zero: a number in front of ` s  ` at the start of a line, and the values of `"seconds":`, `"started":`
/// and `"finished":`.
fn without_times(text: &str) -> String {
    let mut out = String::new();
    for line in text.lines() {
        let time = line.split_once(" s  ").filter(|(n, _)| n.trim().parse::<f64>().is_ok());
        let line = time.map_or_else(|| line.to_owned(), |(_, rest)| format!("0 s  {rest}"));
        let mut rest = line.as_str();
        while let Some((before, after)) = ["\"seconds\":", "\"started\":", "\"finished\":"]
            .iter()
            .filter_map(|key| rest.find(key).map(|at| rest.split_at(at + key.len())))
            .min_by_key(|(before, _)| before.len())
        {
            out += before;
            let end = after.find([',', '}']).unwrap_or(after.len());
            rest = &after[end..];
        }
        out += rest;
        out.push('\n');
    }
    out
}

/// Returns true if a text equals the shown one, in which a line `…` stands for any lines.
fn matches(shown: &str, text: &str) -> bool {
    let mut parts = shown.split("…\n");
    let Some(mut rest) = parts.next().and_then(|start| text.strip_prefix(start)) else {
        return false;
    };
    let mut open = false;
    for part in parts {
        open = part.is_empty();
        match rest.find(part) {
            Some(at) => rest = &rest[at + part.len()..],
            None => return false,
        }
    }
    open || rest.is_empty()
}

fn copy(from: &Path, to: &Path) {
    fs::create_dir_all(to).unwrap();
    for entry in fs::read_dir(from).unwrap() {
        let path = entry.unwrap().path();
        if path.is_file() {
            fs::copy(&path, to.join(path.file_name().unwrap())).unwrap();
        }
    }
}

#[test]
fn elided_lines_match_any() {
    assert!(matches("a\nb\n", "a\nb\n"));
    assert!(!matches("a\n", "a\nb\n"));
    assert!(matches("a\n…\nd\n", "a\nb\nc\nd\n"));
    assert!(matches("a\n…\n", "a\nb\n"));
    assert!(!matches("a\n…\ne\n", "a\nb\n"));
    assert!(!matches("a\n…\nb\n", "a\nb\nc\n"));
}
