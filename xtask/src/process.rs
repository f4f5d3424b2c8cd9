//! Running other programs.

use std::io::{BufRead, BufReader, Read, Write};
use std::process::{Child, Command, Stdio};
use std::sync::{Arc, Mutex, PoisonError};
use std::time::{Duration, Instant};

use anyhow::{Context as _, Result};

/// The result of a process.
pub(crate) struct ProcessResult {
    /// True if it succeeded in time.
    pub(crate) success: bool,
    /// The reason of a failure, in a few words.
    pub(crate) problem: String,
    /// The output of both streams, in the order of arrival.
    pub(crate) output: String,
    /// The standard output only.
    pub(crate) stdout: String,
}

/// Runs a program to its end, or until `limit` has passed, and returns its output. With `show` the output is also printed.
pub(crate) fn run(
    command: &mut Command,
    show: bool,
    limit: Option<Duration>,
) -> Result<ProcessResult> {
    let name = command.get_program().to_string_lossy().into_owned();
    let mut child = command
        .stdin(Stdio::null())
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .with_context(|| format!("cannot start `{name}`"))?;
    let output = Arc::new(Mutex::new(String::new()));
    let stdout = child.stdout.take().map(|pipe| collect(pipe, Arc::clone(&output), show));
    let stderr = child.stderr.take().map(|pipe| collect(pipe, Arc::clone(&output), show));
    let ended = wait(&mut child, limit).with_context(|| format!("cannot wait for `{name}`"))?;
    let mut result = ProcessResult {
        success: ended.is_some_and(|status| status.success()),
        problem: match ended {
            None => "exceeded the time limit".to_owned(),
            Some(status) => status.to_string(),
        },
        output: String::new(),
        stdout: String::new(),
    };
    // After a timeout a grandchild may keep the pipes open, so that only the output so far is used.
    if ended.is_some() {
        result.stdout = stdout.and_then(|t| t.join().ok()).unwrap_or_default();
        drop(stderr.map(std::thread::JoinHandle::join));
    }
    result.output = output.lock().unwrap_or_else(PoisonError::into_inner).clone();
    Ok(result)
}

/// Returns true if a program can be started and succeeds.
pub(crate) fn succeeds(program: &str, arguments: &[&str]) -> bool {
    let mut command = Command::new(program);
    command.args(arguments).stdin(Stdio::null()).stdout(Stdio::null()).stderr(Stdio::null());
    command.status().is_ok_and(|status| status.success())
}

fn collect(
    pipe: impl Read + Send + 'static,
    all: Arc<Mutex<String>>,
    show: bool,
) -> std::thread::JoinHandle<String> {
    std::thread::spawn(move || {
        let mut own = String::new();
        let mut reader = BufReader::new(pipe);
        let mut line = Vec::new();
        while reader.read_until(b'\n', &mut line).is_ok_and(|read| read > 0) {
            let text = String::from_utf8_lossy(&line);
            if show {
                // A closed terminal must not stop the gate.
                let _ = std::io::stdout().write_all(text.as_bytes());
            }
            all.lock().unwrap_or_else(PoisonError::into_inner).push_str(&text);
            own.push_str(&text);
            line.clear();
        }
        own
    })
}

fn wait(
    child: &mut Child,
    limit: Option<Duration>,
) -> std::io::Result<Option<std::process::ExitStatus>> {
    let Some(limit) = limit else { return child.wait().map(Some) };
    let start = Instant::now();
    loop {
        if let Some(status) = child.try_wait()? {
            return Ok(Some(status));
        }
        if start.elapsed() > limit {
            child.kill()?;
            child.wait()?;
            return Ok(None);
        }
        std::thread::sleep(Duration::from_millis(50));
    }
}
