//! Helpers that the tests of all crates share; never published.
//!
//! ## Modules
//! | module | contents |
//! | --- | --- |
//! | [`golden`] | The runner of golden files, one named test per file: `runner`, `kind`, `file` (the format), `diagnostics` (on the lines they are about), `functions`. |
//! | [`registry`] | A check that every registered name has its file, and every file its name. |
//! | [`graphs`], [`universe`] | Random node types and graphs; all small node types, and graphs of them from bytes. |
//! | [`memory`] | Peak memory and number of allocations. **Contains the unsafe code of this crate**, an allocator. |
//! | `stack` | [`on_small_stack`]: a run on a 2 MiB stack, on which deep recursion overflows. |
//! | `growth` | [`exponent`]: the growth of cost with size. |
//! | `lib.rs` | [`cases`]: the number of random cases of a property test, in the gate and in the second tier; other small helpers. |
//! | `tests/tidy` | Tests of the repository: lengths of files, links, pages, plain English. |

pub mod golden;
pub mod graphs;
pub mod memory;
pub mod registry;
pub mod universe;

mod growth;
mod stack;

use std::path::{Path, PathBuf};

pub use growth::exponent;
pub use stack::{SMALL_STACK, on_small_stack};

/// Returns the number of random cases of a property test: `gate` normally, `full` in the second tier, which
/// sets `SAPWOOD_FULL`. A number in `SAPWOOD_CASES` overrides both.
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

/// Returns the configuration of property tests: 2,000 cases in the gate, 100,000 in the second tier. Counterexamples
/// become ordinary tests and are not stored in files.
#[must_use]
pub fn properties() -> proptest::test_runner::Config {
    proptest::test_runner::Config {
        cases: cases(2_000, 100_000),
        failure_persistence: None,
        ..proptest::test_runner::Config::default()
    }
}

/// Returns the folder of the repository in which these tests were built.
#[must_use]
pub fn repository() -> PathBuf {
    let own = Path::new(env!("CARGO_MANIFEST_DIR"));
    own.ancestors().nth(2).unwrap_or(own).to_owned()
}

/// Returns whether the second tier runs.
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
