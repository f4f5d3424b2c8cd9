//! `sapwood view`.

use std::ffi::OsString;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

use sapwood_explorer::{PageOptions, graph_page};
use serde_json::json;

use crate::command::cli_error::CliError;
use crate::command::console::Console;
use crate::command::io::files::{Input, write_file};
use crate::command::io::load::{InputFormatArgs, ReadOptions, load};
use crate::command::status::Status;

/// Show a program in the browser
///
/// Writes the HTML page of `sapwood graph` to the directory for temporary files, prints its path, and opens it with the command in
/// the environment variable BROWSER or with the browser of the system.
#[derive(clap::Args)]
pub(crate) struct Args {
    /// The program; `-` means standard input
    #[arg(value_name = "FILE")]
    file: PathBuf,
    #[command(flatten)]
    input_format: InputFormatArgs,
    /// Only write the page and print its path
    #[arg(long)]
    no_browser: bool,
}

pub(crate) fn run(args: &Args, console: &Console) -> Result<Status, CliError> {
    let input = Input::new(&args.file);
    let options = ReadOptions { comments: true, source_names: true, ..ReadOptions::default() };
    let file = load(&input, args.input_format.from, options, &console.toolkit)?;
    let source = file.source.clone();
    let program = file.into_ptir(&console.toolkit)?;
    let title = input.to_string();
    let path = page_path(&args.file);
    write_file(&path, graph_page(&program, &PageOptions::new(&title).source(&source)))?;
    if console.json {
        console.write_json(&json!({ "output": path.display().to_string() }))?;
    } else {
        console.write(&format!("{}\n", path.display()))?;
    }
    if !args.no_browser {
        open_browser(&path)?;
    }
    Ok(Status::Success)
}

// Returns a path in the directory for temporary files, with the name of the program and the number of this process.
fn page_path(file: &Path) -> PathBuf {
    let mut name = OsString::from("sapwood-");
    name.push(file.file_stem().filter(|_| file.as_os_str() != "-").unwrap_or("stdin".as_ref()));
    name.push(format!("-{}.html", std::process::id()));
    std::env::temp_dir().join(name)
}

fn open_browser(page: &Path) -> Result<(), CliError> {
    let browser = std::env::var_os("BROWSER").filter(|name| !name.is_empty());
    let (program, arguments): (OsString, &[&str]) = match browser {
        Some(browser) => (browser, &[]),
        None if cfg!(target_os = "macos") => ("open".into(), &[]),
        None if cfg!(windows) => ("cmd".into(), &["/C", "start", ""]),
        None => ("xdg-open".into(), &[]),
    };
    let mut command = Command::new(&program);
    command.args(arguments).arg(page).stdin(Stdio::null()).stdout(Stdio::null());
    command.stderr(Stdio::null()).spawn().map(drop).map_err(|error| {
        let name = program.to_string_lossy();
        let page = page.display();
        CliError::new(format!(
            "cannot open the browser with `{name}`: {error}; the page is {page} (set BROWSER, or pass --no-browser)"
        ))
    })
}
