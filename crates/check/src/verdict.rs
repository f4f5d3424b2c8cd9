//! Verdicts and reports of a check.

use std::fmt;

use sapwood_ptir::Name;
use sapwood_ptir::eval::Value;
use sapwood_types::counted;

/// The verdict on one result, a function or a program, from best to worst. The verdict on a function is the worst of its
/// results, that on a program the worst of its functions.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug, Default)]
pub enum Verdict {
    /// All elements that were compared are equal, except where the float mode gives equality another meaning: under
    /// `nsz` zeros of either sign are equal, and NaN is always equal to NaN.
    #[default]
    Same,
    /// Some elements differ, but no more than rounding explains.
    WithinTolerance,
    /// Some elements differ, but only because the program amplifies changes that the float mode allows.
    NotComparable,
    /// Nothing was compared: the function could not be run, or no element was a finite number.
    NotChecked,
    /// The programs compute different results.
    Different,
}

impl Verdict {
    /// Returns whether a check with this verdict succeeds.
    #[must_use]
    pub fn passes(self) -> bool {
        self <= Self::NotComparable
    }

    /// Returns the verdict in words.
    #[must_use]
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Same => "same",
            Self::WithinTolerance => "within tolerance",
            Self::NotComparable => "not comparable",
            Self::NotChecked => "not checked",
            Self::Different => "different",
        }
    }
}

impl fmt::Display for Verdict {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.as_str())
    }
}

/// The findings about one result of a function.
#[derive(Clone, PartialEq, Debug, Default)]
pub struct ResultReport {
    /// The verdict.
    pub verdict: Verdict,
    /// The reason for the verdict, unless it is [`Verdict::Same`] or [`Verdict::WithinTolerance`].
    pub reason: Option<String>,
    /// The number of elements that were compared, over all inputs.
    pub compared: u64,
    /// The largest difference of floats that was within tolerance, as a part of the largest element of its tensor that differs.
    pub max_difference: f64,
}

/// The findings about one function.
#[derive(Clone, Debug)]
pub struct FunctionReport {
    /// The name of the function.
    pub name: Name,
    /// One report per result.
    pub results: Vec<ResultReport>,
    /// The number of inputs on which both programs were run and compared.
    pub runs: usize,
    /// The number of inputs on which the program could not be run.
    pub not_run: usize,
    /// The first reason why it could not be run on some inputs.
    pub reason: Option<String>,
    /// The failure of the second program, if changes that the float mode allows decide whether it fails; or an operand of
    /// a custom call that is not comparable.
    pub not_comparable: Option<String>,
    /// The operand of a custom call that is never finite or mostly not comparable, over all inputs.
    pub not_checked: Option<String>,
    /// The inputs and results where the programs differ.
    pub difference: Option<Counterexample>,
}

impl FunctionReport {
    pub(crate) fn new(name: Name, results: usize) -> Self {
        let results = vec![ResultReport::default(); results];
        Self {
            name,
            results,
            runs: 0,
            not_run: 0,
            reason: None,
            not_comparable: None,
            not_checked: None,
            difference: None,
        }
    }

    /// Reports a function that the second program lacks.
    pub(crate) fn removed(name: Name) -> Self {
        Self::without_runs(name, format!("@{name} is public and missing afterwards"))
    }

    /// Reports a difference that shows without running the functions.
    pub(crate) fn without_runs(name: Name, place: String) -> Self {
        let difference = Counterexample {
            place,
            inputs: Vec::new(),
            values: None,
            before: Vec::new(),
            after: None,
        };
        Self { difference: Some(difference), ..Self::new(name, 0) }
    }

    /// Returns the worst verdict of its results and of the operands of its custom calls; [`Verdict::NotChecked`] if it was not
    /// run at all.
    #[must_use]
    pub fn verdict(&self) -> Verdict {
        if self.difference.is_some() {
            return Verdict::Different;
        }
        if self.runs == 0 {
            return Verdict::NotChecked;
        }
        let own = match (&self.not_checked, &self.not_comparable) {
            (Some(_), _) => Verdict::NotChecked,
            (None, Some(_)) => Verdict::NotComparable,
            (None, None) => Verdict::Same,
        };
        self.results.iter().map(|r| r.verdict).max().unwrap_or_default().max(own)
    }
}

/// Inputs on which two programs differ.
#[derive(Clone, Debug)]
pub struct Counterexample {
    /// The place where they differ with the two elements, or the failure of the second program.
    pub place: String,
    /// The inputs, as text.
    pub inputs: Vec<String>,
    /// The inputs, to run the function on them again; none if the second program lacks the function.
    pub values: Option<Vec<Value>>,
    /// The results before: the one that differs, or all of them if the second program failed.
    pub before: Vec<String>,
    /// The result after; none if the program failed.
    pub after: Option<String>,
}

impl fmt::Display for Counterexample {
    /// One line for the place, then indented lines.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        writeln!(f, "{}", self.place)?;
        for (n, input) in self.inputs.iter().enumerate() {
            writeln!(f, "  input {n}: {input}")?;
        }
        if !self.before.is_empty() {
            writeln!(f, "  before: {}", self.before.join(", "))?;
        }
        match &self.after {
            Some(after) => writeln!(f, "  after:  {after}"),
            None => Ok(()),
        }
    }
}

/// The findings about two programs.
#[derive(Clone, Debug, Default)]
pub struct CheckReport {
    /// The functions that both programs have, in order. The check ends at the first function that differs.
    pub functions: Vec<FunctionReport>,
    /// The public functions that the second program lacks, if [`CheckOptions::allow_removed`](crate::CheckOptions) is set.
    pub removed: Vec<Name>,
}

impl CheckReport {
    /// Returns the worst verdict of its functions.
    #[must_use]
    pub fn verdict(&self) -> Verdict {
        self.functions.iter().map(FunctionReport::verdict).max().unwrap_or_default()
    }

    /// Returns whether the check succeeds: nothing differs, and every result was checked.
    #[must_use]
    pub fn passes(&self) -> bool {
        self.verdict().passes()
    }

    /// Returns the number of inputs on which functions were run and compared.
    #[must_use]
    pub fn runs(&self) -> usize {
        self.functions.iter().map(|f| f.runs).sum()
    }

    /// Returns the largest difference of floats that was within tolerance, as a part of the largest element of its tensor that
    /// differs.
    #[must_use]
    pub fn max_difference(&self) -> f64 {
        let results = self.functions.iter().flat_map(|f| &f.results);
        results.map(|r| r.max_difference).fold(0.0, f64::max)
    }

    /// Returns the messages besides the [`summary`](Self::summary), one line each; the inputs and results of a difference
    /// follow in indented lines.
    #[must_use]
    pub fn messages(&self) -> Vec<String> {
        let mut lines: Vec<String> =
            self.removed.iter().map(|name| format!("removed and not compared: @{name}")).collect();
        for f in &self.functions {
            let name = f.name;
            match (&f.reason, f.runs) {
                (Some(reason), 0) => lines.push(format!("not checked: {reason}")),
                (Some(reason), runs) => {
                    let all = counted(runs + f.not_run, "input");
                    lines.push(format!("not run on {} of {all}: {reason}", f.not_run));
                }
                (None, _) => {}
            }
            if let Some(line) = &f.not_checked {
                lines.push(format!("not checked: @{name}: {line}"));
            }
            if let Some(line) = &f.not_comparable {
                lines.push(format!("not comparable at {line}"));
            }
            for result in f.results.iter().filter(|_| f.runs > 0) {
                let Some(reason) = &result.reason else { continue };
                match result.verdict {
                    Verdict::NotChecked => lines.push(format!("not checked: @{name}: {reason}")),
                    Verdict::NotComparable => {
                        lines.push(format!("not comparable at @{name}, {reason}"));
                    }
                    _ => {}
                }
            }
            if let Some(difference) = &f.difference {
                lines.extend(difference.to_string().lines().map(str::to_owned));
            }
        }
        lines
    }

    /// Returns the verdict in one line.
    #[must_use]
    pub fn summary(&self) -> String {
        let runs = counted(self.runs(), "input");
        let all = self.functions.len();
        let count = |verdict| {
            let found = self.functions.iter().filter(|f| f.verdict() == verdict).count();
            format!("{found} of {}", counted(all, "function"))
        };
        match self.verdict() {
            _ if all == 0 => "no functions to compare".into(),
            Verdict::Same => format!("the same on {runs}"),
            Verdict::WithinTolerance => {
                format!(
                    "within tolerance on {runs}, at worst {:.1e} of the largest element",
                    self.max_difference()
                )
            }
            Verdict::NotComparable => {
                format!(
                    "no difference on {runs}, {} in part not comparable",
                    count(Verdict::NotComparable)
                )
            }
            Verdict::NotChecked => format!("{} not checked", count(Verdict::NotChecked)),
            Verdict::Different => "different".into(),
        }
    }
}

impl fmt::Display for CheckReport {
    /// The messages, then the summary, a line each.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        for line in self.messages() {
            writeln!(f, "{line}")?;
        }
        f.write_str(&self.summary())
    }
}
