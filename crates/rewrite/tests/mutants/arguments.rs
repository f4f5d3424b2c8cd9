//! Why mutants that survive are not mistakes of the check.

/// The function, the expression that is broken, and the argument.
pub(crate) const ARGUMENTS: &[(&str, &str, &str)] = &[];
