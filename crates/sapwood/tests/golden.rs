//! Golden files of the command: files, command lines, and exactly what they write.
//!
//! A file of `tests/golden/command` has parts `--- name` with the text of a file, then lines `$ sapwood …`, run in a
//! folder with these files. The output has each line again, what went to standard output, what went to standard error
//! (marked `!`), and the exit code in brackets. `< name` gives standard input; `$ cat name` shows a file, `$ ls name` a
//! folder, `$ tree name` all files below it. Times and points in time are shown as zero.

use std::fs;
use std::path::Path;
use std::process::{Command, ExitCode, Stdio};

use sapwood_testing::golden::{Case, Failure, Kind, Runner};

fn main() -> ExitCode {
    Runner::new(sapwood_testing::repository().join("tests/golden"))
        .own_kinds_only()
        .kind(Kind::new("command", "txt", run))
        .main()
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
            return Err(Failure::new(format!("neither a file nor a command: {line}")));
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
    // `\x` stands for bytes that text cannot have.
    let bytes = text.replace("\\xff", "\u{ff}");
    let junk: Vec<u8> = bytes.chars().flat_map(latin).collect();
    fs::write(path, junk)?;
    Ok(())
}

fn latin(c: char) -> Vec<u8> {
    if c == '\u{ff}' { vec![0xff] } else { c.to_string().into_bytes() }
}

fn execute(folder: &Path, command: &str) -> Result<String, Failure> {
    let words: Vec<&str> = command.split_whitespace().collect();
    match words[..] {
        ["cat", name] => Ok(steady(&fs::read_to_string(folder.join(name))?)),
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

/// What differs from run to run is zero: `"seconds":…`, `"started": "…"`, `0.000135 s`.
fn steady(text: &str) -> String {
    let mut out = String::with_capacity(text.len());
    for line in text.split_inclusive('\n') {
        let mut line = line.to_owned();
        for key in ["\"seconds\":", "\"started\":", "\"finished\":"] {
            line = zeroed(&line, key);
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

// The value behind each `key`, up to the end of it, as zero.
fn zeroed(line: &str, key: &str) -> String {
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
    let mut output = steady(&String::from_utf8(done.stdout)?);
    if !output.is_empty() && !output.ends_with('\n') {
        output.push('\n');
    }
    for line in steady(&String::from_utf8(done.stderr)?).lines() {
        output += format!("! {line}").trim_end();
        output.push('\n');
    }
    let code = done.status.code().map_or_else(|| "killed".into(), |code| code.to_string());
    Ok(output + &format!("[{code}]\n"))
}
