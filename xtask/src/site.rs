//! `cargo xtask docs`: the documentation site.

use std::process::Command;

use anyhow::{Result, bail};

use crate::gate::{Context, StepOutcome, TestOptions};
use crate::workspace::Workspace;
use crate::{explorer, process, python};

/// Builds the site into `target/site/html` and tests its search in a browser.
pub(crate) fn run() -> Result<bool> {
    let workspace = Workspace::find()?;
    let options = TestOptions { full: false, steps: Vec::new(), verbose: false, fuzz_seconds: 0 };
    let context = Context { workspace: &workspace, options: &options };
    std::fs::create_dir_all(workspace.target.join("gate"))?;
    match step(&context)? {
        StepOutcome::Passed(summary) => println!("{summary}"),
        StepOutcome::Unavailable(summary) => println!("{summary}"),
        StepOutcome::Failed(summary, output) => bail!("{summary}\n{output}"),
    }
    Ok(true)
}

/// The step of the second tier. A warning, a dead link or a search that finds nothing is a failure.
pub(crate) fn step(context: &Context<'_>) -> Result<StepOutcome> {
    let workspace = context.workspace;
    let python = python::site_environment(workspace)?;
    let html = workspace.target.join("site/html");
    // The command of the installed package, so that nothing else is built.
    let sapwood = python.with_file_name(format!("sapwood{}", std::env::consts::EXE_SUFFIX));
    let mut build = Command::new(&python);
    build.arg("-I").arg(workspace.root.join("docs/site/build.py"));
    build.arg(&sapwood).arg(workspace.target.join("site/pages")).arg(&html);
    let finished = context.run_logged("site", &mut build)?;
    if !finished.success {
        return Ok(StepOutcome::Failed("the site does not build".into(), finished.output));
    }
    let place = format!("{}", html.join("index.html").display());
    if !process::succeeds("npm", &["--version"]) {
        return Ok(StepOutcome::Unavailable(format!(
            "{place}; npm is missing, search was not tested"
        )));
    }
    if let Some(failed) = explorer::prepare(context)? {
        return Ok(failed);
    }
    let mut test = Command::new("node");
    test.args(["tests/run.mjs", "site"]).current_dir(workspace.root.join("explorer"));
    test.env("SAPWOOD", &sapwood).env("SITE", &html);
    let tested = context.run_logged("site-search", &mut test)?;
    Ok(if tested.success {
        StepOutcome::Passed(place)
    } else {
        StepOutcome::Failed("the search of the site failed".into(), tested.output)
    })
}
