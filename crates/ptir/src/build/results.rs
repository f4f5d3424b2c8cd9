//! What a recorded instruction or snippet gives back.

use super::graph::GraphError;
use super::value::PtirValue;

/// The results of an instruction or snippet that may have several.
#[derive(Clone, Debug)]
pub struct PtirResults(pub(super) Vec<PtirValue>);

impl PtirResults {
    /// The only result.
    ///
    /// # Errors
    /// If there is another number of them.
    pub fn into_value(self) -> Result<PtirValue, GraphError> {
        let count = self.0.len();
        let mut values = self.0.into_iter();
        match (values.next(), values.next()) {
            (Some(value), None) => Ok(value),
            _ => Err(GraphError::Count { expected: 1, found: count }),
        }
    }

    /// One of several results.
    ///
    /// # Errors
    /// If there are not so many.
    pub fn tuple_element(&self, index: usize) -> Result<PtirValue, GraphError> {
        self.0
            .get(index)
            .cloned()
            .ok_or(GraphError::Count { expected: index + 1, found: self.0.len() })
    }

    /// How many there are.
    #[must_use]
    pub fn len(&self) -> usize {
        self.0.len()
    }

    /// Whether there are none.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    /// All of them.
    #[must_use]
    pub fn values(&self) -> &[PtirValue] {
        &self.0
    }
}

/// The form in which a builder method returns results.
pub trait FromResults: Sized {
    /// Takes the results, of which there are as many as the op's table says.
    ///
    /// # Errors
    /// If there is another number of them.
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
