//! Texts with random changes: the silent and the reporting builder accept the same ones, as the same programs, and refuse the others with the
//! same messages.

use std::path::{Path, PathBuf};

use sapwood_testing::{cases, repository};
use sapwood_types::Rng;

use super::tests::builders_agree;

/// Larger files of the corpus are left out: reading them takes most of the time.
const MAX_CORPUS_FILE: u64 = 48 << 10;

/// Returns the texts of the golden files and of the sample programs.
pub(super) fn sample_texts() -> Vec<String> {
    let folders = ["tests/golden/stablehlo", "programs"].map(|folder| repository().join(folder));
    texts_in(&folders, u64::MAX)
}

// Returns the sample texts and, with `SAPWOOD_FULL=1`, those of the corpus next to the repository.
fn all_texts() -> Vec<String> {
    let mut texts = sample_texts();
    if cases(0, 1) == 1 {
        texts.extend(texts_in(&[repository().join("../shared/corpus/stablehlo")], MAX_CORPUS_FILE));
    }
    texts
}

// Returns the texts of the files in folders that have at most this number of bytes.
fn texts_in(folders: &[PathBuf], max_bytes: u64) -> Vec<String> {
    let mut files = Vec::new();
    for folder in folders.iter().filter(|folder| folder.exists()) {
        collect_files(folder, &mut files);
    }
    files.retain(|path| path.metadata().unwrap().len() <= max_bytes);
    files.sort();
    files.iter().map(|path| std::fs::read_to_string(path).unwrap()).collect()
}

fn collect_files(folder: &Path, files: &mut Vec<PathBuf>) {
    for entry in std::fs::read_dir(folder).unwrap() {
        let path = entry.unwrap().path();
        if path.is_dir() {
            collect_files(&path, files);
        } else if path.extension().is_some_and(|extension| extension == "mlir") {
            files.push(path);
        }
    }
}

// Splits a text into words, numbers, names, white space and single bytes.
fn tokens(text: &str) -> Vec<&str> {
    let word = |c: char| c.is_alphanumeric() || matches!(c, '_' | '.' | '%' | '@' | '$');
    let blank = |c: char| c.is_whitespace();
    let mut tokens = Vec::new();
    let mut rest = text;
    while let Some(first) = rest.chars().next() {
        let len = match first {
            c if word(c) => rest.find(|c| !word(c)),
            c if blank(c) => rest.find(|c| !blank(c)),
            c => Some(c.len_utf8()),
        };
        let (token, tail) = rest.split_at(len.unwrap_or(rest.len()));
        tokens.push(token);
        rest = tail;
    }
    tokens
}

#[test]
fn texts_with_changed_tokens_are_read_the_same() {
    let texts = all_texts();
    // Each case is one function or module with a few tokens changed, so that most of it is still right.
    let pieces: Vec<&str> = texts.iter().flat_map(|text| text.split("\nfunc.func ")).collect();
    let extra = [
        "",
        ",",
        "(",
        ")",
        "[",
        "]",
        "0",
        "1",
        "-1",
        "?",
        "x",
        " loc(unknown)",
        " loc",
        "//",
        "\n",
    ];
    let mut random = Rng::new(11);
    let mut accepted = 0;
    for _ in 0..cases(3000, 100_000) {
        let piece = pieces[random.below(pieces.len())];
        let piece = match piece.starts_with(['@', 'p']) {
            true => format!("func.func {piece}"),
            false => piece.to_owned(),
        };
        let mut changed = tokens(&piece);
        for _ in 0..=random.below(2) {
            let count = changed.len();
            if count == 0 {
                break;
            }
            // Nearby tokens are exchanged more often than distant ones.
            let at = random.below(count);
            let near = (at + random.below(24)).saturating_sub(12).min(count - 1);
            match random.below(6) {
                0 => changed.swap(at, near),
                1 => changed[at] = changed[near],
                2 => changed.insert(at, changed[near]),
                3 => drop(changed.remove(at)),
                4 => changed[at] = changed[random.below(count)],
                _ => changed.insert(at, extra[random.below(extra.len())]),
            }
        }
        accepted += usize::from(builders_agree(&changed.concat()));
    }
    assert!(accepted > 100, "{accepted} texts are accepted");
}

#[test]
fn texts_with_changed_lines_are_read_the_same() {
    let texts = all_texts();
    let lines: Vec<Vec<&str>> = texts.iter().map(|text| text.lines().collect()).collect();
    let mut random = Rng::new(12);
    let mut accepted = 0;
    for _ in 0..cases(600, 20_000) {
        let mut changed = lines[random.below(lines.len())].clone();
        for _ in 0..=random.below(2) {
            let count = changed.len();
            if count == 0 {
                break;
            }
            let at = random.below(count);
            let near = (at + random.below(12)).saturating_sub(6).min(count - 1);
            let others = &lines[random.below(lines.len())];
            match random.below(6) {
                0 => changed.swap(at, near),
                1 => changed.insert(at, changed[near]),
                2 => drop(changed.remove(at)),
                3 => changed[at] = changed[near],
                4 => changed.truncate(at),
                _ => {
                    changed
                        .insert(at, others.get(random.below(others.len().max(1))).unwrap_or(&""));
                }
            }
        }
        accepted += usize::from(builders_agree(&changed.join("\n")));
    }
    assert!(accepted > 20, "{accepted} texts are accepted");
}
