//! A value of a graph under construction.

use sapwood_types::DataType;

use super::graph::GraphError;
use crate::ids::ValueId;
use crate::types::{Dim, TensorType, ValueType};

/// A value of a graph, with its type. A handle: cloning it copies no data.
#[derive(Clone, Debug)]
pub struct PtirValue {
    pub(super) id: ValueId,
    pub(super) graph: u64,
    pub(super) ty: ValueType,
}

impl PtirValue {
    /// Its id in the function.
    #[must_use]
    pub fn id(&self) -> ValueId {
        self.id
    }

    /// Its type.
    #[must_use]
    pub fn ty(&self) -> &ValueType {
        &self.ty
    }

    /// Its type as a tensor.
    ///
    /// # Errors
    /// If it is a tuple or a token.
    pub fn tensor(&self) -> Result<&TensorType, GraphError> {
        self.ty.as_tensor().ok_or_else(|| GraphError::Type {
            expected: "a tensor".into(),
            found: self.ty.to_string(),
        })
    }

    /// Its element type; `None` for a tuple or a token.
    #[must_use]
    pub fn dtype(&self) -> Option<DataType> {
        self.ty.as_tensor().map(|t| t.dtype)
    }

    /// The number of its dims; zero for a tuple or a token.
    #[must_use]
    pub fn rank(&self) -> usize {
        self.dims().len()
    }

    /// Its dims; none for a tuple or a token.
    #[must_use]
    pub fn dims(&self) -> &[Dim] {
        self.ty.as_tensor().map_or(&[], |t| &t.dims)
    }
}

/// What the generated builder methods on values need of their receiver.
pub trait AsValue {
    /// The value.
    fn as_value(&self) -> &PtirValue;
}

impl AsValue for PtirValue {
    fn as_value(&self) -> &PtirValue {
        self
    }
}
