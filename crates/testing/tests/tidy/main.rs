//! The repository keeps its own rules.

use std::collections::BTreeSet;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

use sapwood_testing::repository;

mod plain_english;
mod public_api;
mod regressions;

/// No file of these kinds is longer than this…
const MOST_LINES: usize = 700;
const COUNTED: &[&str] = &["rs", "py", "md", "sh", "toml", "js", "ts"];
/// …but for these, each with its reason.
const LONGER: &[(&str, &str)] =
    &[("docs/reference/ops.md", "generated, one section per op; looked up, not read")];

#[test]
fn files_are_short_enough_to_read() {
    let mut problems = Vec::new();
    for file in files() {
        let counted = file.extension().is_some_and(|e| COUNTED.iter().any(|c| e == *c));
        let name = shown(&file);
        if !counted || LONGER.iter().any(|(longer, _)| *longer == name) {
            continue;
        }
        let lines = text(&file).lines().count();
        if lines > MOST_LINES {
            problems.push(format!("{name} has {lines} lines; the most is {MOST_LINES}"));
        }
    }
    report(&problems);
}

#[test]
fn exceptions_still_exist() {
    let problems = LONGER.iter().filter(|(name, _)| !repository().join(name).exists());
    report(
        &problems.map(|(name, _)| format!("{name} does not exist any more")).collect::<Vec<_>>(),
    );
}

#[test]
fn no_path_of_one_machine() {
    // Put together here so that this file does not trip over itself.
    let homes = [["/ho", "me/"], ["/wo", "rk/"], ["/ro", "ot/"], ["/Use", "rs/"]]
        .map(|parts| parts.concat());
    let mut problems = Vec::new();
    for file in files() {
        for (number, line) in text(&file).lines().enumerate() {
            // Part of a longer word or address is something else: `docs/wo…`, `https://…`.
            let starts_path = |at: usize| {
                let before = line[..at].chars().next_back();
                before.is_none_or(|c| !c.is_alphanumeric() && !"._-/".contains(c))
            };
            for home in &homes {
                if line.match_indices(home.as_str()).any(|(at, _)| starts_path(at)) {
                    problems.push(format!("{}:{}: a path under {home}", shown(&file), number + 1));
                }
            }
        }
    }
    report(&problems);
}

#[test]
fn every_crate_is_on_the_map() {
    let map = text(&repository().join("ARCHITECTURE.md"));
    let manifests = files().into_iter().filter(|file| file.ends_with("Cargo.toml"));
    let folders = manifests.filter_map(|file| file.parent().map(shown));
    let missing =
        folders.filter(|folder| !folder.is_empty() && !map.contains(&format!("`{folder}`")));
    report(&missing.map(|f| format!("ARCHITECTURE.md does not list `{f}`")).collect::<Vec<_>>());
}

// Returns the packages that a selection depends on, with their features.
fn dependency_tree(selection: &[&str]) -> BTreeSet<String> {
    let output = Command::new(env!("CARGO"))
        .args(["tree", "--locked", "--offline", "--prefix", "none", "--format", "{p} {f}"])
        .arg("--edges")
        .args(selection)
        .current_dir(repository())
        .output()
        .unwrap();
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    let lines = String::from_utf8(output.stdout).unwrap();
    lines.lines().map(|line| line.trim_end_matches(" (*)").to_owned()).collect()
}

#[test]
fn the_smallest_set_of_features_has_few_dependencies() {
    let selection = ["normal,build", "--package", "sapwood", "--no-default-features"];
    let tree = dependency_tree(&selection);
    let heavy = ["clap", "gemm", "indicatif", "pulp", "rayon"];
    let found = tree.iter().filter(|line| heavy.iter().any(|name| line.starts_with(name)));
    report(
        &found.map(|line| format!("`sapwood` without features needs `{line}`")).collect::<Vec<_>>(),
    );
    assert!((10..50).contains(&tree.len()), "{tree:?}");
    let all = dependency_tree(&selection[..3]);
    assert!(heavy.iter().all(|name| all.iter().any(|line| line.starts_with(name))), "{all:?}");
}

#[test]
fn the_wheel_is_built_from_the_crates_of_the_tests() {
    let tests = dependency_tree(&["normal,build,dev", "--workspace"]);
    let wheel = dependency_tree(&["normal,build", "--package", "sapwood-python"]);
    assert!(wheel.len() > 50, "{wheel:?}");
    let differing = wheel.difference(&tests).map(|line| {
        format!("`{line}`: the tests use other features; add them in crates/python/Cargo.toml, or the gate builds it twice")
    });
    report(&differing.collect::<Vec<_>>());
}

#[test]
fn every_test_file_belongs_to_a_target() {
    let mut problems = Vec::new();
    for file in files().into_iter().filter(|file| file.ends_with("Cargo.toml")) {
        let manifest = text(&file);
        if !manifest.contains("autotests = false") {
            continue;
        }
        let folder = file.with_file_name("tests");
        let suite = text(&folder.join("suite.rs"));
        for entry in fs::read_dir(&folder).unwrap() {
            let path = entry.unwrap().path();
            let name = path.file_stem().unwrap_or_default().to_string_lossy().into_owned();
            let is_target = manifest.contains(&format!("[[test]]\nname = \"{name}\"\n"));
            if !is_target && !suite.lines().any(|line| line == format!("mod {name};")) {
                problems.push(format!(
                    "{} runs in no test target; add `mod {name};` to suite.rs",
                    shown(&path)
                ));
            }
        }
    }
    report(&problems);
}

#[test]
fn crates_can_be_published_one_after_the_other() {
    // Cargo leaves out dependencies of tests without a version. With one, the crates would have to be published in circles.
    let workspace = text(&repository().join("Cargo.toml"));
    let mut problems = Vec::new();
    for file in files().into_iter().filter(|file| file.ends_with("Cargo.toml")) {
        let manifest = text(&file);
        let Some((_, rest)) = manifest.split_once("\n[dev-dependencies]\n") else { continue };
        let lines = rest.lines().take_while(|line| !line.starts_with('['));
        for line in lines.filter(|line| line.starts_with("sapwood")) {
            let name = line.split(['.', ' ']).next().unwrap_or_default();
            let versioned = workspace
                .lines()
                .any(|l| l.starts_with(&format!("{name} = ")) && l.contains("version"));
            if line.contains("version") || versioned && line.contains("workspace") {
                problems.push(format!(
                    "{}: name the path of `{name}` instead of its version",
                    shown(&file)
                ));
            }
        }
    }
    report(&problems);
}

#[test]
fn every_dependency_has_its_reason() {
    let reasons = text(&repository().join("docs/dependencies.md"));
    let mut problems = BTreeSet::new();
    for file in files().into_iter().filter(|file| file.ends_with("Cargo.toml")) {
        for name in dependencies(&text(&file)) {
            let ours = name.starts_with("sapwood");
            if !ours && !reasons.contains(&format!("| `{name}` |")) {
                problems.insert(format!("docs/dependencies.md has no line for `{name}`"));
            }
        }
    }
    report(&problems.into_iter().collect::<Vec<_>>());
}

#[test]
fn dependencies_are_read_from_all_their_sections() {
    let manifest = "[package]\nname = \"x\"\n[dependencies]\na = \"1\" # why\nb.workspace = true\n\n\
                    [dev-dependencies]\nc = { version = \"1\" }\n[target.'cfg(unix)'.dependencies]\nd = \"1\"\n\
                    [dependencies.e]\nversion = \"1\"\n[lints]\nworkspace = true\n";
    assert_eq!(dependencies(manifest), ["a", "b", "c", "d", "e"]);
}

/// The names in all dependency sections of a manifest.
fn dependencies(manifest: &str) -> Vec<String> {
    let mut names = Vec::new();
    let mut inside = false;
    for line in manifest.lines().map(str::trim) {
        if let Some(section) = line.strip_prefix('[') {
            let section = section.trim_end_matches(']');
            inside = section.ends_with("dependencies");
            if let Some((before, name)) = section.rsplit_once('.')
                && before.ends_with("dependencies")
                && !inside
            {
                names.push(name.to_owned());
            }
        } else if inside && !line.starts_with('#') {
            let name: String =
                line.chars().take_while(|c| c.is_alphanumeric() || "_-".contains(*c)).collect();
            if !name.is_empty() {
                names.push(name);
            }
        }
    }
    names
}

#[test]
fn links_between_pages_lead_somewhere() {
    let mut problems = Vec::new();
    for file in files().into_iter().filter(|file| file.extension().is_some_and(|e| e == "md")) {
        let page = text(&file);
        for (at, _) in page.match_indices("](") {
            let rest = &page[at + 2..];
            let target = rest.split([')', ' ']).next().unwrap_or("");
            let path = target.split('#').next().unwrap_or("");
            if path.is_empty() || path.contains("://") || path.starts_with("mailto:") {
                continue;
            }
            let folder = file.parent().unwrap_or(Path::new(""));
            if !folder.join(path).exists() {
                let line = page[..at].lines().count();
                problems.push(format!("{}:{line}: nothing is at {target}", shown(&file)));
            }
        }
    }
    report(&problems);
}

#[test]
fn code_of_the_guides_is_tested() {
    let sources: String = files()
        .iter()
        .filter(|file| file.extension().is_some_and(|e| e == "rs"))
        .map(|file| text(file))
        .collect();
    let mut problems = Vec::new();
    for page in files().into_iter().filter(|file| shown(file).starts_with("docs/guide/")) {
        let name = shown(&page);
        for (number, line) in text(&page).lines().enumerate() {
            let Some(block) = line.strip_prefix("```rust") else { continue };
            if !block.is_empty() {
                problems.push(format!("{name}:{}: `rust{block}` is not run", number + 1));
            }
            if !sources.contains(&format!("include_str!(\"../../../{name}\")")) {
                problems.push(format!("{name}:{}: no crate includes this page", number + 1));
            }
        }
    }
    report(&problems);
}

#[test]
fn commands_on_the_front_page_exist() {
    let mut problems = Vec::new();
    let mut seen = 0;
    for page in ["README.md", "CONTRIBUTING.md"] {
        let page = text(&repository().join(page));
        for (at, _) in page.match_indices("cargo ") {
            let command = page[at..].split(['`', '\n', '#']).next().unwrap_or("").trim();
            let words: Vec<&str> = command.split_whitespace().collect();
            match words.as_slice() {
                ["cargo", "xtask", "test" | "bench" | "release" | "docs", ..] => seen += 1,
                ["cargo", "xtask", other, ..] => {
                    problems.push(format!("no command `cargo xtask {other}`"));
                }
                ["cargo", "run", "--example", example, "-p", package, ..] => {
                    seen += 1;
                    let folder = package.strip_prefix("sapwood-").unwrap_or(package);
                    let path = format!("crates/{folder}/examples/{example}.rs");
                    if !repository().join(&path).exists() {
                        problems.push(format!("`{command}`: there is no {path}"));
                    }
                }
                _ => {}
            }
        }
    }
    assert!(seen > 1, "the front page has its commands");
    report(&problems);
}

#[test]
fn integration_runs_the_test_command_of_the_front_page() {
    let script = text(&repository().join(".ci/run"));
    assert!(text(&repository().join("README.md")).contains("cargo xtask test"));
    assert!(script.contains("exec cargo xtask test \"$@\""), "{script}");
}

#[test]
fn the_forge_runs_the_gate_and_the_release() {
    let steps = |name: &str| -> Vec<String> {
        let workflow = text(&repository().join(".github/workflows").join(name));
        let step = |line: &str| line.trim().strip_prefix("- run: ").map(str::to_owned);
        workflow.lines().filter_map(step).collect()
    };
    let manifest = text(&repository().join("Cargo.toml"));
    let oldest = manifest.lines().find_map(|line| line.strip_prefix("rust-version = "));
    let oldest = oldest.expect("the workspace has a rust-version").trim_matches('"');
    // `.ci/run` twice: on Linux, and on the systems that are not tested yet.
    assert_eq!(
        steps("ci.yml"),
        [
            ".ci/run".to_owned(),
            "cargo xtask release".to_owned(),
            format!("rustup toolchain install {oldest} --profile minimal"),
            format!("cargo +{oldest} check --workspace --locked"),
            ".ci/run".to_owned(),
        ]
    );
    assert_eq!(steps("full.yml"), [".ci/run --full"]);
    for name in [".ci/run", ".github/workflows/ci.yml"] {
        assert!(repository().join(name).is_file(), "{name}");
    }
}

#[test]
fn every_page_has_the_version_of_the_workspace() {
    let manifest = text(&repository().join("Cargo.toml"));
    let version = manifest.lines().find_map(|line| line.strip_prefix("version = "));
    let version = version.expect("the workspace has a version").trim_matches('"');
    let places = [
        ("CITATION.cff", format!("version: {version}\n")),
        ("README.md", format!("Version {version}")),
        ("CHANGELOG.md", format!("## {version}")),
    ];
    for (name, expected) in places {
        assert!(text(&repository().join(name)).contains(&expected), "{name}: no `{expected}`");
    }
}

#[track_caller]
fn report(problems: &[String]) {
    assert!(problems.is_empty(), "\n{}\n", problems.join("\n"));
}

/// Returns the files that git tracks or would track; without git, all files but those that are built.
fn files() -> Vec<PathBuf> {
    let root = repository();
    let listed = Command::new("git")
        .args(["ls-files", "-z", "--cached", "--others", "--exclude-standard"])
        .current_dir(&root)
        .output();
    let mut files = Vec::new();
    match listed {
        Ok(output) if output.status.success() => {
            let names = String::from_utf8_lossy(&output.stdout).into_owned();
            files.extend(names.split('\0').filter(|n| !n.is_empty()).map(|name| root.join(name)));
        }
        _ => walk(&root, &mut files),
    }
    files.retain(|file| file.is_file());
    files.sort();
    assert!(files.len() > 10, "the repository has files");
    files
}

fn walk(folder: &Path, files: &mut Vec<PathBuf>) {
    for entry in fs::read_dir(folder).into_iter().flatten().flatten() {
        let (path, name) = (entry.path(), entry.file_name());
        let built = ["target", ".git", "node_modules", "__pycache__", ".venv"];
        if path.is_dir() && !built.iter().any(|b| name == *b) {
            walk(&path, files);
        } else if path.is_file() {
            files.push(path);
        }
    }
}

/// Returns the text of a file, or an empty string if it is not text.
fn text(file: &Path) -> String {
    fs::read(file).ok().and_then(|bytes| String::from_utf8(bytes).ok()).unwrap_or_default()
}

fn shown(file: impl AsRef<Path>) -> String {
    let root = repository();
    let file = file.as_ref();
    file.strip_prefix(root).unwrap_or(file).to_string_lossy().replace('\\', "/")
}
