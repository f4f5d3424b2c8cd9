//! Every command line of the pages is run, and what it is shown to print is what it prints.
//!
//! In blocks marked `sh` every line is a command. In blocks marked `console` commands start with `$`, and what stands below
//! one is what a terminal shows: messages, then results; a line `…` stands for any number of lines. Times count as equal.
//! Commands run in a folder with a copy of `programs/`, all those of one page in the same one. `sapwood …`, `cargo run … -p
//! sapwood -- …`, `cat` and `ls` are run; what [`NOT_RUN`] lists is not; anything else is a mistake.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

use sapwood_testing::repository;

/// How commands start that are not run here, and why.
const NOT_RUN: &[(&str, &str)] = &[
    ("cargo xtask test", "it runs this test"),
    ("cargo xtask bench", "it takes long; the second tier runs it"),
    ("cargo test", "it runs this test"),
    ("BLESS=1 cargo test", "it changes golden files"),
    ("cargo +nightly fuzz", "it needs a nightly toolchain; the second tier runs it"),
    ("pip install", "it needs the network"),
    ("python", "the tests of the Python package run Python"),
];

struct Shown {
    page: PathBuf,
    line: usize,
    command: String,
    /// What is shown below it; `None` in a block of commands alone.
    output: Option<String>,
}

#[test]
fn every_command_line_of_the_pages_runs() {
    let mut problems = Vec::new();
    let (mut ran, mut left) = (0, 0);
    for page in pages() {
        let folder = tempfile::tempdir().unwrap();
        copy(&repository().join("programs"), &folder.path().join("programs"));
        for shown in commands(&page) {
            let command = shown.command.split("   #").next().unwrap_or_default().trim();
            if NOT_RUN.iter().any(|(start, _)| command.starts_with(start)) {
                left += 1;
                continue;
            }
            ran += 1;
            let place = format!("{}:{}", shown.page.display(), shown.line);
            match run(folder.path(), command) {
                Err(why) => problems.push(format!("{place}: `{command}`: {why}")),
                Ok(printed) => match shown.output {
                    Some(expected) if !matches(&steady(&expected), &steady(&printed)) => problems
                        .push(format!(
                            "{place}: `{command}` prints\n{printed}instead of\n{expected}"
                        )),
                    _ => {}
                },
            }
        }
    }
    assert!(problems.is_empty(), "\n{}\n", problems.join("\n"));
    assert!(ran >= 5 && left >= 2, "{ran} ran, {left} left");
}

#[test]
fn what_is_not_run_is_listed_with_its_reason() {
    let lines: Vec<String> = pages().iter().flat_map(|p| commands(p)).map(|s| s.command).collect();
    for (start, why) in NOT_RUN.iter().filter(|(start, _)| start.starts_with("cargo xtask")) {
        assert!(lines.iter().any(|line| line.starts_with(start)), "{start}: {why}");
    }
}

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

fn commands(page: &Path) -> Vec<Shown> {
    let text = fs::read_to_string(page).unwrap();
    let page = page.strip_prefix(repository()).unwrap_or(page).to_owned();
    let mut shown: Vec<Shown> = Vec::new();
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
            shown.push(Shown { page, line: n + 1, command, output });
        } else if block == Some("console")
            && let Some(Shown { output: Some(output), .. }) = shown.last_mut()
        {
            output.push_str(line);
            output.push('\n');
        }
    }
    shown
}

fn run(folder: &Path, command: &str) -> Result<String, String> {
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
        ["cat", name] => return fs::read_to_string(folder.join(name)).map_err(|e| e.to_string()),
        ["ls", name] => {
            let mut names: Vec<String> = fs::read_dir(folder.join(name))
                .map_err(|e| e.to_string())?
                .map(|entry| entry.map(|e| e.file_name().to_string_lossy().into_owned() + "\n"))
                .collect::<Result<_, _>>()
                .map_err(|e| e.to_string())?;
            names.sort();
            return Ok(names.concat());
        }
        _ => return Err("nobody knows how to run this; see the top of tests/docs.rs".into()),
    };
    let done = Command::new(env!("CARGO_BIN_EXE_sapwood"))
        .args(arguments)
        .current_dir(folder)
        .output()
        .map_err(|e| e.to_string())?;
    let (messages, results) =
        (String::from_utf8_lossy(&done.stderr), String::from_utf8_lossy(&done.stdout));
    match done.status.code() {
        Some(0 | 1) => Ok(format!("{messages}{results}")),
        _ => Err(format!("{}\n{messages}", done.status)),
    }
}

/// Times as zero: what stands before ` s  ` at the start of a line, behind `"seconds":`, and points in time.
fn steady(text: &str) -> String {
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

/// Whether a text is what is shown, a line `…` standing for any lines.
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
