//! Values of a graph under construction.

use sapwood_types::DataType;

use super::graph::GraphError;
use crate::ids::ValueId;
use crate::types::{Dim, TensorType, ValueType};

/// A value of a graph, with its type. Cloning a handle copies no data.
#[derive(Clone, Debug)]
pub struct PtirValue {
    pub(super) id: ValueId,
    pub(super) graph: u64,
    pub(super) ty: ValueType,
}

impl PtirValue {
    /// Returns the id of the value in the function.
    #[must_use]
    pub fn id(&self) -> ValueId {
        self.id
    }

    /// Returns the type.
    #[must_use]
    pub fn ty(&self) -> &ValueType {
        &self.ty
    }

    /// Returns the tensor type.
    ///
    /// # Errors
    /// If the value is a tuple or a token.
    pub fn tensor(&self) -> Result<&TensorType, GraphError> {
        self.ty.as_tensor().ok_or_else(|| GraphError::Type {
            expected: "a tensor".into(),
            found: self.ty.to_string(),
        })
    }

    /// Returns the element type, or `None` for a tuple or a token.
    #[must_use]
    pub fn dtype(&self) -> Option<DataType> {
        self.ty.as_tensor().map(|t| t.dtype)
    }

    /// Returns the number of dims, zero for a tuple or a token.
    #[must_use]
    pub fn rank(&self) -> usize {
        self.dims().len()
    }

    /// Returns the dims, an empty slice for a tuple or a token.
    #[must_use]
    pub fn dims(&self) -> &[Dim] {
        self.ty.as_tensor().map_or(&[], |t| &t.dims)
    }
}

/// The receiver of the generated builder methods on values.
pub trait AsValue {
    /// Returns the value.
    fn as_value(&self) -> &PtirValue;
}

impl AsValue for PtirValue {
    fn as_value(&self) -> &PtirValue {
        self
    }
}
