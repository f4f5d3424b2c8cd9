//! `cargo xtask release`: builds and checks the published packages in `dist/` without uploading them.
//!
//! One commit always gives the same bytes: time stamps are those of the commit, and paths of the machine are replaced.

use std::path::{Path, PathBuf};
use std::process::Command;

use anyhow::{Context as _, Result, bail};

use crate::gate::{Context, StepOutcome};
use crate::workspace::Workspace;
use crate::{bench, process, python};

/// The largest size of a wheel in bytes.
const MAX_WHEEL_BYTES: u64 = 15_000_000;

/// The licences of third-party software, which the wheel and the archive contain.
const NOTICES: &str = "python/THIRD-PARTY-NOTICES.txt";

/// The shells with completions in the archive, and the name of the file for each.
const COMPLETIONS: &[(&str, &str)] = &[
    ("bash", "sapwood.bash"),
    ("elvish", "sapwood.elv"),
    ("fish", "sapwood.fish"),
    ("powershell", "_sapwood.ps1"),
    ("zsh", "_sapwood"),
];

/// Builds everything into `dist/`: wheel, sdist, archive with the command, crates, checksums. With `build_only`, only the wheel
/// and the archive, without tests of them.
pub(crate) fn run(build_only: bool) -> Result<bool> {
    let workspace = Workspace::find()?;
    let release = Release::new(&workspace)?;
    println!("==> notices");
    release.notices()?;
    println!("==> wheel");
    let wheel = release.wheel()?;
    println!("==> archive");
    release.archive()?;
    if !build_only {
        release.check(&wheel)?;
    }
    release.pack(&["checksums"], &[&release.dist])?;
    println!("{}", std::fs::read_to_string(release.dist.join("SHA256SUMS"))?.trim_end());
    Ok(true)
}

/// The step of the second tier.
pub(crate) fn step(_: &Context<'_>) -> Result<StepOutcome> {
    run(false)?;
    Ok(StepOutcome::Passed("the packages are in dist/".into()))
}

/// The folders and tools of a release.
struct Release<'a> {
    workspace: &'a Workspace,
    /// The folder of the results.
    dist: PathBuf,
    /// An interpreter with maturin and the checkers.
    python: PathBuf,
    /// The local folders and their replacements.
    folders: Vec<(PathBuf, &'static str)>,
    /// The time of the commit, in seconds.
    epoch: String,
    version: String,
}

impl<'a> Release<'a> {
    fn new(workspace: &'a Workspace) -> Result<Self> {
        let mut status = Command::new("git");
        status.args(["status", "--porcelain"]).current_dir(&workspace.root);
        let changed = finish(&mut status, "the state of the working tree is unknown", false)?;
        if !changed.is_empty() {
            bail!(
                "a release is built from a commit; commit or remove these files first:\n{changed}"
            );
        }
        let dist = workspace.root.join("dist");
        if dist.exists() {
            std::fs::remove_dir_all(&dist).context("cannot remove the last release")?;
        }
        std::fs::create_dir_all(&dist)?;
        let requirements = workspace.root.join("python/requirements-release.txt");
        let environment = workspace.target.join("release-environment");
        let python = bench::python_environment(&environment, &requirements)?;
        let mut git = Command::new("git");
        git.args(["log", "-1", "--format=%ct"]).current_dir(&workspace.root);
        let epoch = finish(&mut git, "the time of the commit is unknown", false)?.trim().to_owned();
        let folders = local_folders(workspace);
        let version = env!("CARGO_PKG_VERSION").to_owned();
        Ok(Self { workspace, dist, python, folders, epoch, version })
    }

    // Checks the wheel, and adds the sdist and the crates.
    fn check(&self, wheel: &Path) -> Result<()> {
        println!("==> wheel in an environment without Rust");
        self.check_wheel(wheel)?;
        let bare = self.bare_environment()?;
        self.test_wheel(wheel, &bare)?;
        println!("==> sdist");
        self.source_distribution(&bare)?;
        println!("==> crates");
        self.crates()
    }

    // Sets the time stamp and the compiler flags that make builds reproducible.
    fn reproducible<'c>(&self, command: &'c mut Command) -> &'c mut Command {
        command
            .env("SOURCE_DATE_EPOCH", &self.epoch)
            .env("CARGO_ENCODED_RUSTFLAGS", remap_flags(&self.folders))
            .env("CARGO_TARGET_DIR", &self.workspace.target)
            .env("CARGO_INCREMENTAL", "0")
            .current_dir(&self.workspace.root)
    }

    // Runs `pack.py` and returns its output.
    fn pack(&self, arguments: &[&str], paths: &[&Path]) -> Result<String> {
        let mut command = Command::new(&self.python);
        command
            .arg("-I")
            .arg(self.workspace.root.join("xtask/pack.py"))
            .args(arguments)
            .args(paths);
        finish(self.reproducible(&mut command), "the packing failed", false)
    }

    // Writes the notices. A release needs them committed, because the wheel contains the file of the repository.
    fn notices(&self) -> Result<()> {
        let mut metadata = Command::new("cargo");
        metadata.args(["metadata", "--format-version", "1", "--locked"]);
        let metadata = metadata.current_dir(&self.workspace.root).output()?;
        if !metadata.status.success() {
            bail!("cargo metadata failed:\n{}", String::from_utf8_lossy(&metadata.stderr));
        }
        let file = self.workspace.target.join("release-metadata.json");
        std::fs::write(&file, metadata.stdout)?;
        let notices = self.workspace.root.join(NOTICES);
        let before = std::fs::read(&notices).unwrap_or_default();
        self.pack(&["notices"], &[&file, &notices])?;
        if std::fs::read(&notices)? != before {
            bail!("{NOTICES} was out of date; it is written anew, commit it");
        }
        Ok(())
    }

    fn maturin(&self, arguments: &[&str]) -> Result<PathBuf> {
        let out = self.workspace.target.join("release-out");
        if out.exists() {
            std::fs::remove_dir_all(&out)?;
        }
        let mut command = Command::new(&self.python);
        command.args(["-m", "maturin"]).args(arguments).arg("--out").arg(&out);
        self.reproducible(&mut command).current_dir(self.workspace.root.join("python"));
        finish(&mut command, "maturin failed", true)?;
        let made = python::only_file(&out)?;
        let target = self.dist.join(made.file_name().context("a package has a name")?);
        std::fs::rename(&made, &target)?;
        Ok(target)
    }

    fn wheel(&self) -> Result<PathBuf> {
        let python = self.python.to_string_lossy();
        self.maturin(&["build", "--locked", "--profile", "dist", "--interpreter", &python])
    }

    fn check_wheel(&self, wheel: &Path) -> Result<()> {
        let name = wheel.file_name().context("a wheel has a name")?.to_string_lossy();
        if !name.contains("-abi3-") {
            bail!("{name} is for one version of Python; it should be abi3");
        }
        let bytes = wheel.metadata()?.len();
        if bytes > MAX_WHEEL_BYTES {
            bail!("{name} has {bytes} bytes; the limit is {MAX_WHEEL_BYTES}");
        }
        self.check_paths(wheel)?;
        if cfg!(target_os = "linux") {
            if !name.contains("manylinux") && !name.contains("musllinux") {
                bail!("{name} is for this machine only; it should be manylinux");
            }
            let mut audit = Command::new(&self.python);
            audit.args(["-m", "auditwheel", "show"]).arg(wheel);
            let shown = finish(&mut audit, "auditwheel refuses the wheel", false)?;
            let tag = name.rsplit('-').next().and_then(|tags| tags.split('.').next());
            let tag = tag.context("a wheel has a tag")?;
            if !shown.replace('\n', " ").contains(tag) {
                bail!("{name} is tagged {tag}, but auditwheel prints:\n{shown}");
            }
        }
        let mut audit = Command::new(&self.python);
        audit.args(["-m", "abi3audit", "--strict", "--summary"]).arg(wheel);
        finish(&mut audit, "the wheel uses more than the stable ABI", true)?;
        Ok(())
    }

    // Creates a virtual environment that has nothing but pip, and returns its interpreter.
    fn bare_environment(&self) -> Result<PathBuf> {
        let folder = self.workspace.target.join("release-bare");
        let mut create = Command::new(&self.python);
        create.args(["-I", "-m", "venv", "--clear"]).arg(&folder);
        finish(&mut create, "cannot create an environment", false)?;
        Ok(python::interpreter(&folder))
    }

    // Installs the wheel into an environment without Rust, and runs the command and the tests of the package there.
    fn test_wheel(&self, wheel: &Path, bare: &Path) -> Result<()> {
        let path = path_without_rust()?;
        let run = |arguments: &[&str], files: &[&Path], problem: &str, show: bool| {
            let mut command = Command::new(bare);
            command.args(arguments).args(files);
            command.env("PATH", &path).current_dir(&self.workspace.root);
            finish(&mut command, problem, show)
        };
        let install = ["-I", "-m", "pip", "install", "--quiet", "--disable-pip-version-check"];
        let alone = [&install[..], &["--no-index", "--no-deps"]].concat();
        run(&alone, &[wheel], "the wheel does not install without other packages", false)?;
        let optimize = ["-I", "-m", "sapwood", "opt", "programs/transformer.ptir", "--check"];
        run(&optimize, &[], "the installed command fails", false)?;
        let requirements = self.workspace.root.join("python/requirements-test.txt");
        let tests = [&install[..], &["-r"]].concat();
        run(&tests, &[&requirements], "cannot install the packages of the tests", false)?;
        let printed = run(python::TESTS, &[], "the tests of the package fail", true)?;
        if let Some(problem) = python::skipped_tests(&printed) {
            bail!("{problem}");
        }
        Ok(())
    }

    // Packs the sources, and builds a wheel from them in an environment without other packages: pip installs the ones that the
    // sdist names.
    fn source_distribution(&self, bare: &Path) -> Result<()> {
        let sdist = self.maturin(&["sdist"])?;
        self.check_paths(&sdist)?;
        let wheels = self.workspace.target.join("release-sdist");
        if wheels.exists() {
            std::fs::remove_dir_all(&wheels)?;
        }
        let mut build = Command::new(bare);
        build.args(["-I", "-m", "pip", "wheel", "--no-deps", "--wheel-dir"]);
        build.arg(&wheels).arg(&sdist);
        // The profile of the tests: this shows that the sources are complete. Not `--locked`, because cargo removes the crates
        // that are not part of the sdist from its lock file.
        build.env("CARGO_TARGET_DIR", &self.workspace.target);
        build.env("MATURIN_PEP517_ARGS", "--profile dev");
        finish(&mut build, "the sdist does not build", true)?;
        Ok(())
    }

    // Builds the command. On Linux it contains the C library, so that it runs on systems with an older one.
    fn command(&self) -> Result<PathBuf> {
        let host = self.host()?;
        let mut build = Command::new("cargo");
        build.args(["build", "--profile", "dist", "--locked", "--package", "sapwood"]);
        // With a target, the flags do not apply to build scripts and macros, which cannot be static.
        build.args(["--target", &host]);
        let mut flags = remap_flags(&self.folders);
        if cfg!(target_os = "linux") {
            flags += "\u{1f}-Ctarget-feature=+crt-static";
        }
        self.reproducible(&mut build).env("CARGO_ENCODED_RUSTFLAGS", flags);
        finish(&mut build, "the command does not build", true)?;
        let suffix = std::env::consts::EXE_SUFFIX;
        let command = self.workspace.target.join(format!("{host}/dist/sapwood{suffix}"));
        if cfg!(target_os = "linux") {
            self.pack(&["static"], &[&command])?;
        }
        Ok(command)
    }

    // Returns the target triple of this machine.
    fn host(&self) -> Result<String> {
        let mut version = Command::new("rustc");
        version.arg("-vV").current_dir(&self.workspace.root);
        let printed = finish(&mut version, "rustc does not start", false)?;
        let host = printed.lines().find_map(|line| line.strip_prefix("host: "));
        Ok(host.context("rustc prints no host")?.to_owned())
    }

    // Packs the command with its completions, its manual page and the licences.
    fn archive(&self) -> Result<()> {
        let command = self.command()?;
        let suffix = std::env::consts::EXE_SUFFIX;
        let parts = self.workspace.target.join("release-parts");
        std::fs::create_dir_all(&parts)?;
        let (os, arch) = (std::env::consts::OS, std::env::consts::ARCH);
        let name = format!("sapwood-{}-{arch}-{os}", self.version);
        let mut entries = vec![(format!("sapwood{suffix}"), command.clone())];
        for (shell, file) in COMPLETIONS {
            let mut print = Command::new(&command);
            print.args(["completions", shell]);
            let text = finish(&mut print, "no completions", false)?;
            std::fs::write(parts.join(file), text)?;
            entries.push((format!("completions/{file}"), parts.join(file)));
        }
        std::fs::write(parts.join("sapwood.1"), self.pack(&["manual"], &[&command])?)?;
        entries.push(("man/man1/sapwood.1".into(), parts.join("sapwood.1")));
        for file in ["README.md", "CHANGELOG.md", "LICENSE-APACHE", "LICENSE-MIT", NOTICES] {
            let path = self.workspace.root.join(file);
            let file = file.rsplit('/').next().unwrap_or(file);
            entries.push((file.to_owned(), path));
        }
        let archive = self.dist.join(format!("{name}.tar.gz"));
        let mut arguments = vec!["archive".to_owned(), archive.display().to_string()];
        arguments
            .extend(entries.iter().map(|(to, from)| format!("{name}/{to}={}", from.display())));
        self.pack(&arguments.iter().map(String::as_str).collect::<Vec<_>>(), &[])?;
        self.check_paths(&archive)
    }

    // Packs every published crate and builds it from its package, as `cargo publish` does.
    fn crates(&self) -> Result<()> {
        let names = self.workspace.published_packages();
        let mut package = Command::new("cargo");
        package.args(["package", "--locked"]).current_dir(&self.workspace.root);
        package.args(names.iter().flat_map(|name| ["--package", name]));
        finish(&mut package, "the crates cannot be published", true)?;
        let crates = self.dist.join("crates");
        std::fs::create_dir_all(&crates)?;
        for name in names {
            let file = format!("{name}-{}.crate", self.version);
            let packed = self.workspace.target.join("package").join(&file);
            std::fs::copy(&packed, crates.join(&file))
                .with_context(|| format!("cargo did not pack {file}"))?;
        }
        Ok(())
    }

    // Checks that a package contains no path of this machine.
    fn check_paths(&self, package: &Path) -> Result<()> {
        let mut paths = vec![package];
        paths.extend(self.folders.iter().map(|(folder, _)| folder.as_path()));
        let found = self.pack(&["paths"], &paths)?;
        if !found.is_empty() {
            bail!("{} contains paths of the build machine:\n{found}", package.display());
        }
        Ok(())
    }
}

// Runs a command to its end and returns its standard output. `problem` says what a failure means.
fn finish(command: &mut Command, problem: &str, show: bool) -> Result<String> {
    let finished = process::run(command, show, None)?;
    if !finished.success {
        let output = if show { "" } else { &finished.output };
        bail!("{problem}, {}\n{output}", finished.problem);
    }
    Ok(finished.stdout)
}

/// Returns the search path without the folders that contain a Rust compiler.
fn path_without_rust() -> Result<std::ffi::OsString> {
    let has = |folder: &Path, name: &str| {
        folder.join(format!("{name}{}", std::env::consts::EXE_SUFFIX)).exists()
    };
    let path = std::env::var_os("PATH").context("there is no search path")?;
    let folders = std::env::split_paths(&path)
        .filter(|folder| !has(folder, "cargo") && !has(folder, "rustc"));
    Ok(std::env::join_paths(folders)?)
}

/// Returns the local folders, inner ones first, and the names that replace them in the published files: panic messages contain
/// paths.
fn local_folders(workspace: &Workspace) -> Vec<(PathBuf, &'static str)> {
    let folder = |name: &str| std::env::var_os(name).map(PathBuf::from);
    let mut folders = vec![(workspace.target.clone(), "target"), (workspace.root.clone(), ".")];
    let known = [(folder("CARGO_HOME"), "cargo"), (folder("RUSTUP_HOME"), "rustup")];
    folders.extend(known.into_iter().filter_map(|(folder, name)| Some((folder?, name))));
    folders.extend(std::env::home_dir().map(|home| (home, "home")));
    // The root folder is not specific to this machine.
    folders.retain(|(folder, _)| folder.components().count() > 1);
    folders
}

/// Returns the compiler flags that rename local folders.
fn remap_flags(folders: &[(PathBuf, &str)]) -> String {
    // If several prefixes match, the last one counts.
    let flag = |(folder, name): &(PathBuf, &str)| {
        format!("--remap-path-prefix={}={name}", folder.display())
    };
    folders.iter().rev().map(flag).collect::<Vec<_>>().join("\u{1f}")
}
