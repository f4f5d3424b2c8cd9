//! Checks `docs/reference/regressions.md`: every defect has a number and tests that exist.

use super::{report, text};
use sapwood_testing::repository;

const PAGE: &str = "docs/reference/regressions.md";

/// A row of the table: the number, and the tests with the function of each, if one is named.
type Defect = (usize, Vec<(String, Option<String>)>);

#[test]
fn every_defect_has_tests_that_exist() {
    let defects = defects(&text(&repository().join(PAGE)));
    assert!(defects.len() >= 24, "{} defects", defects.len());
    let mut problems = Vec::new();
    for (row, (number, tests)) in defects.iter().enumerate() {
        if *number != row + 1 {
            problems.push(format!("{PAGE}: expected number {}, found {number}", row + 1));
        }
        if tests.is_empty() {
            problems.push(format!("{PAGE}: defect {number} has no test"));
        }
        for (file, function) in tests {
            let path = repository().join(file);
            if !path.is_file() {
                problems.push(format!("{PAGE}: defect {number}: no file {file}"));
            } else if let Some(name) = function
                && !defines_test(file, &text(&path), name)
            {
                problems.push(format!("{PAGE}: defect {number}: {file} has no test `{name}`"));
            }
        }
    }
    report(&problems);
}

#[test]
fn rows_of_defects_are_read() {
    let page = "| no. | the defect | tests |\n| --- | --- | --- |\n| 1 | A `x` was wrong. | `a/b.rs::c`, `d.txt` |\n| 2 | Another. | none |\n";
    let tests = vec![("a/b.rs".to_owned(), Some("c".to_owned())), ("d.txt".to_owned(), None)];
    assert_eq!(defects(page), [(1, tests), (2, Vec::new())]);
    assert!(defines_test("b.rs", "#[test]\n    fn c() {}", "c"));
    assert!(defines_test("b.rs", "    #[test]\n    fn c(row in rows()) {}", "c"));
    assert!(defines_test("b.rs", "#[test]\n#[cfg(unix)]\nfn c() {}", "c"));
    assert!(!defines_test("b.rs", "fn c() {}", "c"), "no test");
    assert!(!defines_test("b.rs", "#[test]\nfn cd() {}", "c"), "another test");
    assert!(defines_test("b.py", "def test_c(x):", "test_c"));
    assert!(!defines_test("b.py", "def test_cd(x):", "test_c"));
    assert!(defines_test("b.ts", "test(\"c is d\", () => {", "c is d"));
}

fn defects(page: &str) -> Vec<Defect> {
    let row = |line: &str| {
        let mut cells = line.strip_prefix("| ")?.strip_suffix(" |")?.split(" | ");
        let number = cells.next()?.parse().ok()?;
        // Every second part of the last cell is between backquotes.
        let tests = cells.last()?.split('`').skip(1).step_by(2);
        let test = |test: &str| match test.split_once("::") {
            Some((file, function)) => (file.to_owned(), Some(function.to_owned())),
            None => (test.to_owned(), None),
        };
        Some((number, tests.map(test).collect()))
    };
    page.lines().filter_map(row).collect()
}

// Returns whether a source contains a test of this name.
fn defines_test(file: &str, source: &str, name: &str) -> bool {
    match file.rsplit('.').next() {
        Some("rs") => source.match_indices(&format!("fn {name}(")).any(|(at, _)| {
            let attributes = source[..at].lines().rev().map(str::trim);
            attributes
                .skip_while(|line| line.is_empty())
                .take_while(|line| line.starts_with("#["))
                .any(|line| line == "#[test]")
        }),
        Some("py") => source.contains(&format!("def {name}(")),
        Some("ts") => source.contains(&format!("test(\"{name}\"")),
        _ => false,
    }
}
