//! Running other programs.

use std::io::{BufRead, BufReader, Read, Write};
use std::process::{Child, Command, Stdio};
use std::sync::{Arc, Mutex, PoisonError};
use std::time::{Duration, Instant};

use anyhow::{Context as _, Result};

/// What a program did.
pub(crate) struct Finished {
    /// Whether it ended well and in time.
    pub(crate) success: bool,
    /// Why not, in a few words.
    pub(crate) problem: String,
    /// All it wrote, both streams in the order it came.
    pub(crate) output: String,
    /// What it wrote to standard output alone.
    pub(crate) stdout: String,
}

/// Runs a program to its end, or until `limit` has passed, and keeps what it writes; with `show`
/// it is printed as it comes, too.
pub(crate) fn run(command: &mut Command, show: bool, limit: Option<Duration>) -> Result<Finished> {
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
    let ended = wait(&mut child, limit).with_context(|| format!("lost track of `{name}`"))?;
    let mut finished = Finished {
        success: ended.is_some_and(|status| status.success()),
        problem: match ended {
            None => "did not end in time".to_owned(),
            Some(status) => status.to_string(),
        },
        output: String::new(),
        stdout: String::new(),
    };
    // After a timeout a grandchild may keep the pipes open; what was read so far has to do.
    if ended.is_some() {
        finished.stdout = stdout.and_then(|t| t.join().ok()).unwrap_or_default();
        drop(stderr.map(std::thread::JoinHandle::join));
    }
    finished.output = output.lock().unwrap_or_else(PoisonError::into_inner).clone();
    Ok(finished)
}

/// Whether a program can be started and ends well.
pub(crate) fn works(program: &str, arguments: &[&str]) -> bool {
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
                // Losing a line on a closed terminal is no reason to stop the gate.
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
    let began = Instant::now();
    loop {
        if let Some(status) = child.try_wait()? {
            return Ok(Some(status));
        }
        if began.elapsed() > limit {
            child.kill()?;
            child.wait()?;
            return Ok(None);
        }
        std::thread::sleep(Duration::from_millis(50));
    }
}
