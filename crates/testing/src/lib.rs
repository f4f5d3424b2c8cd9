//! What the tests of the workspace share; never published.
//!
//! - [`golden`]: the runner for golden files, one named test per file.
//! - [`registry`]: every registered name has its file, every file its name.
//! - [`cases`]: how many random cases a property test runs, in the gate and in the second tier.
//! - [`on_small_stack`]: runs something on a 2 MiB stack, where deep recursion shows.
//! - [`exponent`]: how cost grows with size.
//! - [`graphs`]: random node types and random graphs of them.
//! - [`memory`]: how many bytes some work needs at its peak.

pub mod golden;
pub mod graphs;
pub mod memory;
pub mod registry;

mod growth;
mod stack;

use std::path::{Path, PathBuf};

pub use growth::exponent;
pub use stack::{SMALL_STACK, on_small_stack};

/// How many random cases a property test runs: `gate` normally, `full` in the second tier, which
/// sets `SAPWOOD_FULL`. A number in `SAPWOOD_CASES` wins over both.
///
/// ```
/// let cases = sapwood_testing::cases(2_000, 100_000);
/// assert!(cases > 0);
/// ```
#[must_use]
pub fn cases(gate: u32, full: u32) -> u32 {
    let given = |name| std::env::var(name).ok();
    choose_cases(gate, full, given("SAPWOOD_FULL").as_deref(), given("SAPWOOD_CASES").as_deref())
}

/// The folder of the repository these tests were built in.
#[must_use]
pub fn repository() -> PathBuf {
    let own = Path::new(env!("CARGO_MANIFEST_DIR"));
    own.ancestors().nth(2).unwrap_or(own).to_owned()
}

/// The Rust code of the front page is tested like any other.
#[cfg(doctest)]
#[doc = include_str!("../../../README.md")]
struct FrontPage;

/// Whether the second tier runs.
#[must_use]
pub fn is_full() -> bool {
    choose_cases(0, 1, std::env::var("SAPWOOD_FULL").ok().as_deref(), None) == 1
}

fn choose_cases(gate: u32, full: u32, tier: Option<&str>, number: Option<&str>) -> u32 {
    if let Some(number) = number.and_then(|text| text.parse().ok()).filter(|n| *n > 0) {
        return number;
    }
    match tier {
        None | Some("" | "0") => gate,
        Some(_) => full,
    }
}

#[cfg(test)]
mod tests {
    use super::choose_cases;

    #[test]
    fn tiers_and_an_explicit_number() {
        assert_eq!(choose_cases(2, 100, None, None), 2);
        assert_eq!(choose_cases(2, 100, Some("0"), None), 2);
        assert_eq!(choose_cases(2, 100, Some("1"), None), 100);
        assert_eq!(choose_cases(2, 100, Some("1"), Some("7")), 7);
        assert_eq!(choose_cases(2, 100, None, Some("no number")), 2);
    }
}
