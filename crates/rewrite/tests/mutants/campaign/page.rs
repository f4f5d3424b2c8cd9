//! The page about the campaign.

use std::collections::BTreeMap;
use std::fmt::Write as _;

use super::cases::Flaw;
use super::{Campaign, Outcome};
use crate::arguments::ARGUMENTS;
use crate::mutant::Mutant;

/// The kinds of mutants, with descriptions.
const KINDS: &[(&str, &str)] = &[
    ("operand", "wrong operand: another field, operands swapped, one of them twice"),
    (
        "constant",
        "wrong constant: 1 for 0, 0 for 1, one more, `true` for `false`, the lowest for the highest number",
    ),
    ("guard", "missing guard: a condition is taken for granted"),
    ("branch", "swapped branch: a condition is negated, `any` for `all`"),
    ("comparison", "wrong operator: `<=` for `<`, `!=` for `==`, `-` for `+`"),
    ("op", "wrong op: `max` for `min`, `add` for `sub`"),
    (
        "attribute",
        "wrong attribute: a comparison's direction or order, a stricter float mode for a freer one",
    ),
    ("step", "missing step: a statement or an op is left out"),
];

/// Inputs of survivors with more characters are truncated.
const MAX_SHOWN: usize = 400;

/// The summary of several mutants.
#[derive(Clone, Copy, Default, PartialEq, Eq, Debug)]
pub(crate) struct Totals {
    pub(crate) all: usize,
    /// Never reached, or nothing changes.
    pub(crate) without_effect: usize,
    /// Programs change, and stay correct on all inputs tried.
    pub(crate) right: usize,
    /// The driver or the verifier refuses it: panics, patterns that do not terminate, programs that are not well-formed.
    pub(crate) refused: usize,
    /// The driver does not converge, and the programs are correct.
    pub(crate) endless: usize,
    pub(crate) counted: usize,
    pub(crate) caught: usize,
    pub(crate) wrong_programs: usize,
    pub(crate) found_programs: usize,
    pub(crate) not_checked: usize,
}

impl Totals {
    pub(crate) fn add(&mut self, outcome: &Outcome) {
        self.all += 1;
        self.wrong_programs += outcome.wrong;
        self.found_programs += outcome.found;
        self.not_checked += outcome.not_checked;
        self.counted += usize::from(outcome.counts());
        self.caught += usize::from(outcome.is_caught());
        let place = match outcome.flaw {
            _ if outcome.counts() => return,
            Some(Flaw::DoesNotConverge) => &mut self.endless,
            Some(_) => &mut self.refused,
            None if outcome.changed > 0 => &mut self.right,
            None => &mut self.without_effect,
        };
        *place += 1;
    }

    /// Returns true if the check caught at least 95 of 100 mutants that count.
    pub(crate) fn suffices(&self) -> bool {
        self.caught * 100 >= self.counted * 95
    }

    fn row(&self, name: &str) -> String {
        format!(
            "| {name} | {} | {} | {} | {} | {} | {} | {} | {} |\n",
            self.all,
            self.without_effect,
            self.right,
            self.refused,
            self.endless,
            self.counted,
            self.caught,
            percent(self.caught, self.counted)
        )
    }
}

pub(crate) fn percent(part: usize, whole: usize) -> String {
    if whole == 0 { "–".into() } else { format!("{:.1} %", part as f64 * 100.0 / whole as f64) }
}

/// Returns the mutants that count and are not caught.
pub(crate) fn survivors<'a>(
    campaign: &'a Campaign,
    outcomes: &'a [Outcome],
) -> impl Iterator<Item = (&'a Mutant, &'a Outcome)> {
    let all = campaign.mutants.iter().zip(outcomes);
    all.filter(|(_, outcome)| outcome.counts() && !outcome.is_caught())
}

/// Returns the argument why a surviving mutant is within the freedom of the float mode, if there is one.
pub(crate) fn argument(mutant: &Mutant) -> Option<&'static str> {
    let fits = |(function, before, _): &&(&str, &str, &str)| {
        mutant.function == *function && mutant.before == *before
    };
    ARGUMENTS.iter().find(fits).map(|(_, _, argument)| *argument)
}

/// Returns one survivor as an item of a list.
pub(crate) fn survivor(campaign: &Campaign, mutant: &Mutant, outcome: &Outcome) -> String {
    let Mutant { file, function, before, after, .. } = mutant;
    let change = match after.is_empty() {
        true => format!("without `{before}`"),
        false => format!("`{after}` for `{before}`"),
    };
    let mut text = format!("- `{file}.rs`, `{function}`, {change}\n");
    if let Some((n, input, verdict)) = &outcome.passed {
        let cut = input.char_indices().nth(MAX_SHOWN).map(|(at, _)| format!("{}…`", &input[..at]));
        let input = cut.as_deref().unwrap_or(input);
        let _ = writeln!(text, "  - {}, {input}; the check: {verdict}", campaign.cases[*n].name);
    }
    if let Some(argument) = argument(mutant) {
        let _ = writeln!(text, "  - {argument}");
    }
    text
}

/// Returns the page about a campaign, after its first lines.
pub(crate) fn page(head: &str, campaign: &Campaign, outcomes: &[Outcome]) -> String {
    let mut by_kind: BTreeMap<&str, Totals> = BTreeMap::new();
    let mut total = Totals::default();
    for (mutant, outcome) in campaign.mutants.iter().zip(outcomes) {
        by_kind.entry(mutant.kind).or_default().add(outcome);
        total.add(outcome);
    }
    let mut text = format!("{head}\n{TABLE}");
    for (kind, words) in KINDS {
        text += &by_kind.remove(kind).unwrap_or_default().row(words);
    }
    assert!(by_kind.is_empty(), "kinds without a row: {by_kind:?}");
    text += &total.row("all");
    let (wrong, found) = (total.wrong_programs, total.found_programs);
    if campaign.effort.all {
        let _ = write!(
            text,
            "\nOf the {wrong} wrong programs that these mutants make, the check finds {found} ({}); {} of them it reports \
             as not checked.\n",
            percent(found, wrong),
            total.not_checked,
        );
    }
    text += "\n## Survivors\nEach with the first program that passes and an input that separates it.\n\n";
    for (mutant, outcome) in survivors(campaign, outcomes) {
        text += &survivor(campaign, mutant, outcome);
    }
    if total.counted == total.caught {
        text += "None.\n";
    }
    text
}

/// The first lines of the page about golden programs.
pub(crate) const GOLDEN: &str = "# The check against broken patterns
<!-- Written by `crates/rewrite/tests/mutants`; `BLESS=1 cargo test -p sapwood-rewrite --test mutants` writes it anew. -->

`opt --check` runs a program before and after it is simplified. Here it is tried on patterns that are known to be wrong:
the shipped ones, broken in one way at a time. [The design note](../design/2026-11-16-mutants.md) tells how.

Every mutant is tried on the golden programs that reach it (`tests/golden/patterns`, `tests/golden/passes`), in the float
mode of each. It counts as wrong if an independent search finds an input on which the fixed-order evaluator gives
different results for the program and for its simplification: hundreds of inputs per program, special values and small
grids among them, and no tolerance but for rounding under `fast`, where all inputs are finite and of moderate size. It is caught if the check fails for such a program.
The others have no effect on these programs; or the programs change and stay right, because a pattern fires more
seldom or a guard is there for speed; or the driver itself refuses them: the pattern panics, does not end, or makes a
program that is not well-formed; or the driver does not converge.
";

/// The first lines of the page about the laws of `optimize`.
pub(crate) const LAWS: &str = "# The check against broken laws of `optimize`
<!-- Written by `crates/rewrite/tests/mutants`; `BLESS=1 cargo test -p sapwood-rewrite --test mutants` writes it anew. -->

The laws of `optimize`, broken like [the patterns of `simplify`](check-mutants.md), on the golden programs in `tests/golden/laws`: each with the law of its file
alone, and with all laws, for `cost=flops`. Many mutants change only which rewrites are proposed: those that do not lower the cost are refused.
";

/// The first lines of the page about the corpus.
pub(crate) const CORPUS: &str = "# The check against broken patterns, on the corpus
<!-- Written by `crates/rewrite/tests/mutants` in the second tier; `BLESS=1 SAPWOOD_FULL=1` writes it anew. -->

The same mutants as [on the golden programs](check-mutants.md), on each function of the StableHLO corpus that is not larger than 32 KiB,
under `exact` and under `fast`. Most programs of the corpus run one op on constants, so that most mutants change none of them. A
mutant is tried on programs until one is caught.
";

const TABLE: &str = "\
| kind | mutants | no effect | right | refused | no end | wrong | caught | |
| --- | ---: | ---: | ---: | ---: | ---: | ---: | ---: | ---: |
";
