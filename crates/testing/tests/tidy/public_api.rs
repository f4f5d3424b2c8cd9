//! The public API of each published crate: a listing in the repository that changes only on purpose.
//!
//! The listing is made from the source text, which rustfmt formats: an item that is `pub` without restriction is public, because the
//! lint `unreachable_pub` rejects others. Tools that read rustdoc's JSON need a nightly toolchain, which contributors may not have.
//! Items that macros write are not listed: ops are in docs/reference/ops.md.

use std::collections::BTreeSet;
use std::fs;
use std::path::{Path, PathBuf};

use sapwood_testing::repository;

/// The folder of the listings.
const LISTINGS: &str = "docs/reference/api";

#[test]
fn the_public_api_changes_only_on_purpose() {
    let bless = std::env::var_os("BLESS").is_some();
    let mut problems = Vec::new();
    let crates = published_crates();
    for (name, folder) in &crates {
        let path = repository().join(LISTINGS).join(format!("{name}.txt"));
        let listed = fs::read_to_string(&path).unwrap_or_default();
        let found = listing(folder);
        if listed == found {
            continue;
        }
        if bless {
            fs::create_dir_all(repository().join(LISTINGS)).unwrap();
            fs::write(&path, found).unwrap();
            continue;
        }
        let [old, new] = [&listed, &found].map(|text| text.lines().collect::<BTreeSet<_>>());
        let removed = old.difference(&new).map(|line| format!("{name}: - {line}"));
        problems.extend(removed.chain(new.difference(&old).map(|l| format!("{name}: + {l}"))));
    }
    let kept: BTreeSet<String> =
        crates.into_iter().map(|(name, _)| format!("{name}.txt")).collect();
    for entry in fs::read_dir(repository().join(LISTINGS)).into_iter().flatten().flatten() {
        let name = entry.file_name().to_string_lossy().into_owned();
        if !kept.contains(&name) {
            problems.push(format!("{LISTINGS}/{name} belongs to no published crate"));
        }
    }
    assert!(
        problems.is_empty(),
        "the public API differs from {LISTINGS}; if that is intended, accept it with BLESS=1:\n{}",
        problems.join("\n")
    );
}

// Returns the published crates with their folders of sources.
fn published_crates() -> Vec<(String, PathBuf)> {
    let mut crates = Vec::new();
    for entry in fs::read_dir(repository().join("crates")).unwrap() {
        let folder = entry.unwrap().path();
        let manifest = fs::read_to_string(folder.join("Cargo.toml")).unwrap_or_default();
        let name = manifest.lines().find_map(|line| line.strip_prefix("name = "));
        if let Some(name) = name.filter(|_| !manifest.contains("publish = false")) {
            crates.push((name.trim_matches('"').to_owned(), folder.join("src")));
        }
    }
    crates.sort();
    crates
}

/// Returns the public items of a crate, one per line, sorted.
fn listing(sources: &Path) -> String {
    let mut items = BTreeSet::new();
    let mut pending = vec![sources.to_owned()];
    while let Some(path) = pending.pop() {
        if path.is_dir() {
            pending.extend(fs::read_dir(path).unwrap().map(|entry| entry.unwrap().path()));
        } else if path.extension().is_some_and(|e| e == "rs") {
            list_file(&fs::read_to_string(&path).unwrap(), &mut items);
        }
    }
    items.into_iter().map(|item| item + "\n").collect()
}

/// A block at the start of a line whose members are listed.
enum Block {
    /// `impl Type`: members that are `pub`.
    Impl(String),
    /// `pub struct Type`: fields that are `pub`.
    Struct(String),
    /// `pub trait Type`, `pub enum Type`: all members.
    Open(String),
    /// A block whose members are not listed.
    Other,
}

fn list_file(text: &str, items: &mut BTreeSet<String>) {
    let mut lines = text.lines();
    let mut block: Option<Block> = None;
    let (mut hidden, mut exported, mut tests) = (false, false, false);
    while let Some(line) = lines.next() {
        let trimmed = line.trim_start();
        let indent = line.len() - trimmed.len();
        let is_comment = trimmed.starts_with("//") || trimmed.starts_with("#![");
        if is_comment || trimmed.is_empty() || indent > 4 {
            continue;
        }
        if trimmed.starts_with("#[") {
            hidden |= trimmed.contains("doc(hidden)");
            exported |= trimmed == "#[macro_export]";
            tests |= trimmed.contains("cfg(test)") || trimmed.contains("cfg(doctest)");
            continue;
        }
        if indent == 0 && trimmed.starts_with('}') {
            block = None;
        } else if indent == 0 && block.is_none() {
            let header = signature(line, &mut lines);
            let opens = header.ends_with('{');
            let item = header.trim_end_matches(['{', ';', ' ']).to_owned();
            let skip = std::mem::take(&mut hidden) | std::mem::take(&mut tests);
            let is_public = item.starts_with("pub ") && !skip;
            if let Some(name) = item.strip_prefix("macro_rules! ") {
                if std::mem::take(&mut exported) && !skip {
                    items.insert(format!("macro {name}!"));
                }
            } else if is_public {
                items.insert(item.clone());
            }
            block = opens.then(|| block_of(&item, is_public));
        } else if indent == 4 && !trimmed.starts_with(['}', ')', '{']) {
            let skip = std::mem::take(&mut hidden);
            let lists = match &block {
                Some(Block::Impl(_) | Block::Struct(_)) => trimmed.starts_with("pub "),
                Some(Block::Open(_)) => true,
                Some(Block::Other) | None => false,
            };
            let Some(Block::Impl(owner) | Block::Struct(owner) | Block::Open(owner)) = &block
            else {
                continue;
            };
            if lists && !skip {
                let member = signature(trimmed, &mut lines);
                let member = member.trim_end_matches(['{', ';', ',', ' ']);
                items.insert(format!("{owner}: {member}"));
            }
        }
    }
}

fn block_of(item: &str, is_public: bool) -> Block {
    let name = |rest: &str| {
        let end = rest.find(|c: char| !c.is_alphanumeric() && c != '_').unwrap_or(rest.len());
        rest[..end].to_owned()
    };
    let after = |keyword: &str| item.strip_prefix(keyword).filter(|_| is_public).map(name);
    if let Some(implemented) = item.strip_prefix("impl") {
        // The parameters of a generic impl come first.
        let mut depth = 0;
        let end = implemented.find(|c| {
            depth += i32::from(c == '<') - i32::from(c == '>');
            depth == 0 && c == ' '
        });
        let owner = end.map_or("", |at| &implemented[at + 1..]);
        return if item.contains(" for ") { Block::Other } else { Block::Impl(name(owner)) };
    }
    if let Some(name) = after("pub struct ") {
        return Block::Struct(name);
    }
    match after("pub trait ").or_else(|| after("pub enum ")) {
        Some(name) => Block::Open(name),
        None => Block::Other,
    }
}

// Returns an item up to its block, its value or its end, on one line.
fn signature<'a>(first: &str, rest: &mut impl Iterator<Item = &'a str>) -> String {
    let mut text = first.trim().to_owned();
    let mut depth = nesting(first);
    let is_use = text.starts_with("pub use ");
    let ends = |text: &str, depth: i32| {
        depth <= 0 && text.ends_with([';', '{', '}', ','])
            || depth == 1 && text.ends_with('{') && !is_use
    };
    while !ends(&text, depth) {
        let Some(line) = rest.next() else { break };
        depth += nesting(line);
        let separator = if text.ends_with(['(', '<', '[', '{']) { "" } else { " " };
        text += separator;
        text += line.trim();
    }
    // The body of a function on one line, and the value of a constant.
    let end = text.find(" { ").unwrap_or(text.len());
    let end = if text.contains("const ") { text.find(" = ").unwrap_or(end) } else { end };
    text[..end].replace(", )", ")").replace(", }", "}").replace(" }", "}")
}

fn nesting(line: &str) -> i32 {
    let count = |chars: [char; 3]| line.matches(chars).count() as i32;
    count(['(', '[', '{']) - count([')', ']', '}'])
}

#[test]
fn items_are_found_in_formatted_source() {
    let text = "\
/// A thing.
pub struct Thing {
    /// A part.
    pub part: u32,
    hidden: u8,
}

impl<T> Thing<T> {
    /// Does it.
    pub fn run(
        &self,
        n: usize,
    ) -> bool {
        true
    }

    fn own(&self) {}
    pub(crate) fn near(&self) {}
}

impl Clone for Thing {
    fn clone(&self) -> Self {}
}

pub trait Do: Send {
    fn act(&self);
    fn rest(&self) -> u8 {
        1
    }
}

pub enum Kind {
    One,
    Two(u8),
}

pub const LIMIT: usize = 4;
pub(crate) fn near() {}

#[doc(hidden)]
pub fn secret() {}

#[macro_export]
macro_rules! thing {
    () => {};
}

pub use a::{
    B,
    C,
};
";
    let mut items = BTreeSet::new();
    list_file(text, &mut items);
    let expected = [
        "Do: fn act(&self)",
        "Do: fn rest(&self) -> u8",
        "Kind: One",
        "Kind: Two(u8)",
        "Thing: pub fn run(&self, n: usize) -> bool",
        "Thing: pub part: u32",
        "macro thing!",
        "pub const LIMIT: usize",
        "pub enum Kind",
        "pub struct Thing",
        "pub trait Do: Send",
        "pub use a::{B, C}",
    ];
    assert_eq!(items.iter().map(String::as_str).collect::<Vec<_>>(), expected);
}
