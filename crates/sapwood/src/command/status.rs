//! The result of a verb that ran to its end.

/// The status that a verb ends with; the worst one of a batch counts.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) enum Status {
    /// The verb did its work.
    Success,
    /// The result is negative: the programs differ, or a program is not well-formed.
    Negative,
    /// Some files of a batch failed; their errors have been printed.
    Failed,
}

impl Status {
    /// Returns the exit code of the process.
    pub(crate) fn exit_code(self) -> u8 {
        match self {
            Self::Success => 0,
            Self::Negative => 1,
            Self::Failed => 2,
        }
    }
}
