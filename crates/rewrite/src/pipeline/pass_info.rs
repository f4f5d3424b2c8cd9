//! The description of a pass for pipelines: its name, its options, and a function that creates it.

use std::fmt;
use std::str::FromStr;

use sapwood_types::{Diagnostic, Diagnostics, Span};

use crate::passes::Pass;

/// The description of a pass for pipelines.
pub struct PassInfo {
    /// The name of the pass.
    pub name: &'static str,
    /// A description in one line.
    pub doc: &'static str,
    /// The options of the pass.
    pub options: &'static [OptionInfo],
    /// Creates the pass. Problems with the options are added to the list they carry.
    #[allow(clippy::type_complexity, reason = "used only here")]
    pub make: fn(&mut PassOptions<'_>) -> Result<Box<dyn Pass>, ()>,
}

/// An option of a pass.
pub struct OptionInfo {
    /// The name of the option.
    pub name: &'static str,
    /// A description in one line.
    pub doc: &'static str,
}

/// The options given to a pass.
pub struct PassOptions<'a> {
    // The place of the name of the pass in the pipeline.
    pass: Span,
    given: Vec<GivenOption>,
    problems: &'a mut Diagnostics,
}

pub(super) struct GivenOption {
    pub(super) name: String,
    pub(super) value: String,
    pub(super) name_span: Span,
    pub(super) value_span: Span,
}

impl<'a> PassOptions<'a> {
    pub(super) fn new(pass: Span, given: Vec<GivenOption>, problems: &'a mut Diagnostics) -> Self {
        Self { pass, given, problems }
    }

    /// Sets a field to the value of an option. Returns false if the option is not given.
    ///
    /// # Errors
    /// If the value cannot be parsed; the diagnostic has been added to the list.
    #[allow(clippy::result_unit_err, reason = "the diagnostic is in the list")]
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

    /// Reports an error at the value of an option, or at the name of the pass if the option is not given.
    ///
    /// # Errors
    /// Always; the diagnostic has been added to the list.
    #[allow(clippy::result_unit_err, reason = "the diagnostic is in the list")]
    pub fn refuse<T>(&mut self, name: &str, why: impl Into<String>) -> Result<T, ()> {
        let given = self.given.iter().find(|g| g.name == name);
        let span = given.map_or(self.pass, |g| g.value_span);
        self.problems.push(Diagnostic::error(span, why));
        Err(())
    }
}
