//! What a pipeline knows of a pass: its name, its options, how to make it.

use std::fmt;
use std::str::FromStr;

use sapwood_types::{Diagnostic, Diagnostics, Span};

use crate::passes::Pass;

/// A pass as pipelines know it.
pub struct PassInfo {
    /// Its name.
    pub name: &'static str,
    /// What it does, in one line.
    pub doc: &'static str,
    /// Its options.
    pub options: &'static [OptionInfo],
    /// Makes it. What is wrong with the options goes to the list they carry.
    #[allow(clippy::type_complexity, reason = "named nowhere else")]
    pub make: fn(&mut Options<'_>) -> Result<Box<dyn Pass>, ()>,
}

/// An option of a pass.
pub struct OptionInfo {
    /// Its name.
    pub name: &'static str,
    /// What it means.
    pub doc: &'static str,
}

/// The options given to a pass.
pub struct Options<'a> {
    // Where the name of the pass stands.
    pass: Span,
    given: Vec<Given>,
    problems: &'a mut Diagnostics,
}

pub(super) struct Given {
    pub(super) name: String,
    pub(super) value: String,
    pub(super) name_span: Span,
    pub(super) value_span: Span,
}

impl<'a> Options<'a> {
    pub(super) fn new(pass: Span, given: Vec<Given>, problems: &'a mut Diagnostics) -> Self {
        Self { pass, given, problems }
    }

    /// Sets a field to the value of an option, if it is given. Whether it is.
    ///
    /// # Errors
    /// If the value cannot be read; the problem has been noted.
    #[allow(clippy::result_unit_err, reason = "what is wrong is in the list")]
    pub fn take<T: FromStr<Err: fmt::Display>>(
        &mut self,
        name: &str,
        field: &mut T,
    ) -> Result<bool, ()> {
        let Some(given) = self.given.iter().find(|g| g.name == name) else { return Ok(false) };
        match given.value.parse() {
            Ok(value) => {
                *field = value;
                Ok(true)
            }
            Err(why) => {
                let message = format!("option `{name}` cannot be `{}`: {why}", given.value);
                self.problems.push(Diagnostic::error(given.value_span, message));
                Err(())
            }
        }
    }

    /// Complains about the value of an option, or at the name of the pass that it is not given.
    ///
    /// # Errors
    /// Always; the problem has been noted.
    #[allow(clippy::result_unit_err, reason = "what is wrong is in the list")]
    pub fn refuse<T>(&mut self, name: &str, why: impl Into<String>) -> Result<T, ()> {
        let given = self.given.iter().find(|g| g.name == name);
        let span = given.map_or(self.pass, |g| g.value_span);
        self.problems.push(Diagnostic::error(span, why));
        Err(())
    }
}
