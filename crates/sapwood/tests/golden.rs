//! Golden tests of the command: files, command lines, and their exact output.
//!
//! A file of `tests/golden/command` has parts `--- name` with the text of a file, then lines `$ sapwood …`, which run in a
//! folder with these files. The output repeats each line, followed by its standard output, its standard error (marked `!`),
//! and the exit code in brackets. `< name` gives standard input; `$ cat name` shows a file, `$ ls name` a folder, `$ tree
//! name` all files below it. Times are replaced by zero. Files of `match`, `extract` and `rules` have the same form.

use std::fs;
use std::path::Path;
use std::process::{Command, ExitCode, Stdio};

use sapwood_ptir::structural::{self, Mode};
use sapwood_ptir::{Registry, parse, verify};
use sapwood_rewrite::{PassManager, inline_calls};
use sapwood_rules::{ExtractOptions, Rule, Vocabulary, extract, patterns_from, rules_from};
use sapwood_testing::golden::{Case, Failure, Kind, Runner};
use sapwood_types::Source;

fn main() -> ExitCode {
    Runner::new(sapwood_testing::repository().join("tests/golden"))
        .own_kinds_only()
        .kind(Kind::new("command", "txt", run))
        .kind(Kind::new("match", "txt", run))
        .kind(
            Kind::new("extract", "txt", run)
                .check("inlining restores the input", inlining_restores_input),
        )
        .kind(Kind::new("rules", "txt", run))
        .main()
}

// Extracts from `program.ptir` with all other files as patterns, inlines the extracted functions, and compares the data
// flow with that of the input.
fn inlining_restores_input(case: &Case, _: &str) -> Result<(), Failure> {
    let (mut patterns, mut before) = (Vec::new(), None);
    for part in case.program.split("--- ").skip(1) {
        let Some((name, text)) = part.split_once('\n') else { continue };
        let text: String =
            text.lines().filter(|l| !l.starts_with("$ ")).flat_map(|l| [l, "\n"]).collect();
        if name == "program.ptir" {
            before = parse(&text).ok();
            continue;
        }
        let source = Source::new(name, text);
        match name.ends_with(".rules") {
            true => {
                let rules = rules_from(&source, &Registry::builtin(), &Vocabulary::builtin())?;
                patterns.extend(rules.into_iter().map(Rule::into_pattern));
            }
            false => patterns.extend(patterns_from(&source, &Registry::builtin())?),
        }
    }
    let before = before.ok_or_else(|| Failure::new("program.ptir is missing or cannot be read"))?;
    let mut after = before.clone();
    let options = ExtractOptions { keep_unused: true, ..ExtractOptions::default() };
    let report = extract(&mut after, &patterns, &options)?;
    verify(&after)?;
    let is_in_input = |name: &str| before.function(name).is_some();
    inline_calls(&mut after, |_, callee| !is_in_input(callee.name().as_str()))?;
    for call in &report.calls {
        after.remove(call.name);
    }
    let mut flat = before.clone();
    // Extraction may have inlined functions of the input, so that all are inlined in both.
    inline_calls(&mut flat, |_, _| true)?;
    inline_calls(&mut after, |_, _| true)?;
    // Extraction copies constants into functions; CSE merges the copies.
    for program in [&mut flat, &mut after] {
        PassManager::parse("cse")?.run(program)?;
    }
    match structural::first_mismatch(&flat, &after, Mode::DataFlow) {
        Some(found) => Err(Failure::new(format!("{}: {}\n{after}", found.left, found.reason))),
        None => Ok(()),
    }
}

fn run(case: &Case) -> Result<String, Failure> {
    let folder = tempfile::tempdir()?;
    let mut output = String::new();
    let mut file: Option<(String, String)> = None;
    for line in case.program.lines() {
        if let Some(name) = line.strip_prefix("--- ") {
            write(folder.path(), file.replace((name.to_owned(), String::new())))?;
        } else if let Some(command) = line.strip_prefix("$ ") {
            write(folder.path(), file.take())?;
            output += &format!("$ {command}\n{}", execute(folder.path(), command)?);
        } else if let Some((_, text)) = &mut file {
            text.push_str(line);
            text.push('\n');
        } else if !line.is_empty() {
            return Err(Failure::new(format!(
                "expected a file (`--- name`) or a command (`$ …`), found: {line}"
            )));
        }
    }
    Ok(output)
}

fn write(folder: &Path, file: Option<(String, String)>) -> Result<(), Failure> {
    let Some((name, text)) = file else { return Ok(()) };
    let path = folder.join(&name);
    if name.ends_with('/') {
        fs::create_dir_all(path)?;
        return Ok(());
    }
    fs::create_dir_all(path.parent().unwrap_or(folder))?;
    // `\xff` stands for a byte that is not UTF-8.
    let text = text.replace("\\xff", "\u{ff}");
    let bytes: Vec<u8> = text.chars().flat_map(byte_or_utf8).collect();
    fs::write(path, bytes)?;
    Ok(())
}

fn byte_or_utf8(c: char) -> Vec<u8> {
    if c == '\u{ff}' { vec![0xff] } else { c.to_string().into_bytes() }
}

fn execute(folder: &Path, command: &str) -> Result<String, Failure> {
    let words: Vec<&str> = command.split_whitespace().collect();
    match words[..] {
        ["cat", name] => Ok(without_times(&fs::read_to_string(folder.join(name))?)),
        ["ls", name] => {
            let mut names: Vec<String> = fs::read_dir(folder.join(name))?
                .map(|entry| Ok(entry?.file_name().to_string_lossy().into_owned()))
                .collect::<std::io::Result<_>>()?;
            names.sort();
            Ok(names.iter().flat_map(|name| [name.as_str(), "\n"]).collect())
        }
        ["tree", name] => {
            let mut names = Vec::new();
            files_below(&folder.join(name), "", &mut names)?;
            names.sort();
            Ok(names.iter().flat_map(|name| [name.as_str(), "\n"]).collect())
        }
        ["sapwood", ref arguments @ ..] => sapwood(folder, arguments),
        _ => Err(Failure::new(format!("unknown command: {command}"))),
    }
}

fn files_below(folder: &Path, lead: &str, names: &mut Vec<String>) -> Result<(), Failure> {
    for entry in fs::read_dir(folder)? {
        let entry = entry?;
        let name = format!("{lead}{}", entry.file_name().to_string_lossy());
        match entry.file_type()?.is_dir() {
            true => files_below(&entry.path(), &format!("{name}/"), names)?,
            false => names.push(name),
        }
    }
    Ok(())
}

/// Replaces times, which differ from run to run, by zero: `"seconds":…`, `"started": "…"`, `0.000135 s`.
fn without_times(text: &str) -> String {
    let mut out = String::with_capacity(text.len());
    for line in text.split_inclusive('\n') {
        let mut line = line.to_owned();
        for key in ["\"seconds\":", "\"started\":", "\"finished\":"] {
            line = zero_value(&line, key);
        }
        if let Some((number, rest)) = line.split_once(" s  ")
            && number.trim_start_matches("! ").trim().parse::<f64>().is_ok()
        {
            line = format!("{:>10} s  {rest}", "0.000000");
        }
        out += &line;
    }
    out
}

// Replaces the value after each `key` by zero.
fn zero_value(line: &str, key: &str) -> String {
    let mut parts = line.split(key);
    let mut out = parts.next().unwrap_or_default().to_owned();
    for part in parts {
        let space = part.len() - part.trim_start().len();
        let end = part[space..].find([',', '}', '\n']).map_or(part.len(), |at| at + space);
        out += &format!("{key}{}0{}", &part[..space], &part[end..]);
    }
    out
}

fn sapwood(folder: &Path, arguments: &[&str]) -> Result<String, Failure> {
    let (arguments, input) = match arguments {
        [arguments @ .., "<", name] => (arguments, Stdio::from(fs::File::open(folder.join(name))?)),
        arguments => (arguments, Stdio::null()),
    };
    let done = Command::new(env!("CARGO_BIN_EXE_sapwood"))
        .args(arguments.iter().map(|word| word.trim_matches('\'')))
        .current_dir(folder)
        .env_remove("NO_COLOR")
        .stdin(input)
        .output()?;
    let mut output = without_times(&String::from_utf8(done.stdout)?);
    if !output.is_empty() && !output.ends_with('\n') {
        output.push('\n');
    }
    for line in without_times(&String::from_utf8(done.stderr)?).lines() {
        output += format!("! {line}").trim_end();
        output.push('\n');
    }
    let code = done.status.code().map_or_else(|| "killed".into(), |code| code.to_string());
    Ok(output + &format!("[{code}]\n"))
}
