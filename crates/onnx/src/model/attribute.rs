//! Attributes of nodes.

use super::coded_enum::coded_enum;
use super::{Graph, Nested, SparseTensor, Tensor, Type};
use crate::wire::{message, one_of};
use crate::{Bytes, Text};

message! {
    /// A named attribute of a node, or a default in a function.
    Attribute = "AttributeProto" by (|attribute| attribute.name.as_ref()) {
        /// The name.
        [1] name: Option<Text>,
        /// The value. The first one if the file has values of several kinds; the others are among the unknown fields then.
        /// Absent for references, for empty lists, and for a zero if the writer leaves zeros out.
        [2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 14, 15, 22, 23] value: Option<AttributeValue>,
        /// Documentation.
        [13] doc_string: Option<Text>,
        /// The code of an [`AttributeType`].
        [20] r#type: Option<i32>,
        /// In a function: the attribute of the function this one takes its value from.
        [21] ref_attr_name: Option<Text>,
    }
}

one_of! {
    /// The value of an attribute.
    AttributeValue by first {
        /// A 32-bit float.
        2 Float(f32),
        /// A 64-bit integer.
        3 Int(i64),
        /// A string, UTF-8 by convention.
        4 String(Bytes),
        /// A tensor.
        5 Tensor(Nested<Tensor>),
        /// A subgraph.
        6 Graph(Nested<Graph>),
        /// A list of floats.
        7 Floats(Vec<f32>),
        /// A list of integers.
        8 Ints(Vec<i64>),
        /// A list of strings.
        9 Strings(Vec<Bytes>),
        /// A list of tensors.
        10 Tensors(Vec<Tensor>),
        /// A list of subgraphs.
        11 Graphs(Vec<Nested<Graph>>),
        /// A type.
        14 Type(Nested<Type>),
        /// A list of types.
        15 Types(Vec<Type>),
        /// A sparse tensor.
        22 SparseTensor(Nested<SparseTensor>),
        /// A list of sparse tensors.
        23 SparseTensors(Vec<SparseTensor>),
    }
}

coded_enum! {
    /// The type of an attribute's value.
    #[allow(missing_docs)] // the variants of `AttributeValue`
    AttributeType {
        Float = 1, "FLOAT";
        Int = 2, "INT";
        String = 3, "STRING";
        Tensor = 4, "TENSOR";
        Graph = 5, "GRAPH";
        Floats = 6, "FLOATS";
        Ints = 7, "INTS";
        Strings = 8, "STRINGS";
        Tensors = 9, "TENSORS";
        Graphs = 10, "GRAPHS";
        SparseTensor = 11, "SPARSE_TENSOR";
        SparseTensors = 12, "SPARSE_TENSORS";
        Type = 13, "TYPE_PROTO";
        Types = 14, "TYPE_PROTOS";
    }
}

impl AttributeType {
    /// Returns ONNX's code of this type.
    #[must_use]
    pub const fn code(self) -> i32 {
        self as i32
    }

    /// Returns the value that an attribute of this type has if the file stores none; `None` if it must be stored.
    #[must_use]
    pub fn zero(self) -> Option<AttributeValue> {
        Some(match self {
            Self::Float => AttributeValue::Float(0.0),
            Self::Int => AttributeValue::Int(0),
            Self::String => AttributeValue::String(Bytes::default()),
            Self::Floats => AttributeValue::Floats(Vec::new()),
            Self::Ints => AttributeValue::Ints(Vec::new()),
            Self::Strings => AttributeValue::Strings(Vec::new()),
            Self::Tensors => AttributeValue::Tensors(Vec::new()),
            Self::Graphs => AttributeValue::Graphs(Vec::new()),
            Self::SparseTensors => AttributeValue::SparseTensors(Vec::new()),
            Self::Types => AttributeValue::Types(Vec::new()),
            Self::Tensor | Self::Graph | Self::SparseTensor | Self::Type => return None,
        })
    }
}

impl AttributeValue {
    /// Returns the type of this value.
    #[must_use]
    pub const fn r#type(&self) -> AttributeType {
        match self {
            Self::Float(_) => AttributeType::Float,
            Self::Int(_) => AttributeType::Int,
            Self::String(_) => AttributeType::String,
            Self::Tensor(_) => AttributeType::Tensor,
            Self::Graph(_) => AttributeType::Graph,
            Self::Floats(_) => AttributeType::Floats,
            Self::Ints(_) => AttributeType::Ints,
            Self::Strings(_) => AttributeType::Strings,
            Self::Tensors(_) => AttributeType::Tensors,
            Self::Graphs(_) => AttributeType::Graphs,
            Self::SparseTensor(_) => AttributeType::SparseTensor,
            Self::SparseTensors(_) => AttributeType::SparseTensors,
            Self::Type(_) => AttributeType::Type,
            Self::Types(_) => AttributeType::Types,
        }
    }
}

impl Attribute {
    /// Returns an attribute with this name and value.
    ///
    /// ```
    /// use sapwood_onnx::{Attribute, AttributeType, AttributeValue};
    ///
    /// let axis = Attribute::new("axis", AttributeValue::Int(1));
    /// assert_eq!(axis.declared_type(), Some(AttributeType::Int));
    /// ```
    #[must_use]
    pub fn new(name: impl Into<Text>, value: AttributeValue) -> Self {
        Self {
            name: Some(name.into()),
            r#type: Some(value.r#type().code()),
            value: Some(value),
            ..Self::default()
        }
    }

    /// Returns the type the file declares; for old files, which declare none, the type of the value.
    #[must_use]
    pub fn declared_type(&self) -> Option<AttributeType> {
        match self.r#type {
            None | Some(0) => self.value.as_ref().map(AttributeValue::r#type),
            Some(code) => AttributeType::from_code(code),
        }
    }

    /// Returns the graphs in the value.
    pub fn graphs(&self) -> impl Iterator<Item = &Graph> {
        let graphs = match &self.value {
            Some(AttributeValue::Graph(graph)) => std::slice::from_ref(graph),
            Some(AttributeValue::Graphs(graphs)) => graphs,
            _ => &[],
        };
        graphs.iter().map(|graph| &**graph)
    }
}
