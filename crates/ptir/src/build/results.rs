//! The results that recording an instruction or a snippet returns.

use super::graph::GraphError;
use super::value::PtirValue;

/// The results of an instruction or snippet that may have several.
#[derive(Clone, Debug)]
pub struct PtirResults(pub(super) Vec<PtirValue>);

impl PtirResults {
    /// Returns the only result.
    ///
    /// # Errors
    /// If the number of results is not one.
    pub fn into_value(self) -> Result<PtirValue, GraphError> {
        let count = self.0.len();
        let mut values = self.0.into_iter();
        match (values.next(), values.next()) {
            (Some(value), None) => Ok(value),
            _ => Err(GraphError::Count { expected: 1, found: count }),
        }
    }

    /// Returns one of several results.
    ///
    /// # Errors
    /// If the index is out of range.
    pub fn tuple_element(&self, index: usize) -> Result<PtirValue, GraphError> {
        self.0
            .get(index)
            .cloned()
            .ok_or(GraphError::Count { expected: index + 1, found: self.0.len() })
    }

    /// Returns the number of results.
    #[must_use]
    pub fn len(&self) -> usize {
        self.0.len()
    }

    /// Returns whether there are no results.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    /// Returns all results.
    #[must_use]
    pub fn values(&self) -> &[PtirValue] {
        &self.0
    }
}

/// A form in which a builder method returns results.
pub trait FromResults: Sized {
    /// Converts the results, whose number follows from the op's definition.
    ///
    /// # Errors
    /// If the number of results does not fit.
    fn from_results(results: PtirResults) -> Result<Self, GraphError>;
}

impl FromResults for PtirResults {
    fn from_results(results: PtirResults) -> Result<Self, GraphError> {
        Ok(results)
    }
}

impl FromResults for PtirValue {
    fn from_results(results: PtirResults) -> Result<Self, GraphError> {
        results.into_value()
    }
}

impl FromResults for () {
    fn from_results(_: PtirResults) -> Result<Self, GraphError> {
        Ok(())
    }
}
