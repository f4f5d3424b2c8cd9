//! Attributes of nodes.

use std::fmt;

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

/// Declares the attribute types: code, name in ONNX's schema, and the value of an attribute for which the file stores none.
macro_rules! attribute_types {
    ($($variant:ident = $code:literal, $name:literal, $zero:expr;)*) => {
        /// The type of an attribute's value.
        #[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
        #[repr(i32)]
        #[allow(missing_docs)] // the variants of `AttributeValue`
        pub enum AttributeType {
            $($variant = $code,)*
        }

        impl AttributeType {
            /// Returns the type of this code; `None` for 0, which means undefined, and for unknown codes.
            #[must_use]
            pub const fn from_code(code: i32) -> Option<Self> {
                match code {
                    $($code => Some(Self::$variant),)*
                    _ => None,
                }
            }

            /// Returns the name in ONNX's schema.
            #[must_use]
            pub const fn name(self) -> &'static str {
                match self { $(Self::$variant => $name,)* }
            }

            /// Returns the value that an attribute of this type has if the file stores none; `None` if it must be stored.
            #[must_use]
            pub fn zero(self) -> Option<AttributeValue> {
                match self { $(Self::$variant => $zero,)* }
            }
        }

        impl AttributeValue {
            /// Returns the type of this value.
            #[must_use]
            pub const fn r#type(&self) -> AttributeType {
                match self { $(Self::$variant(_) => AttributeType::$variant,)* }
            }
        }
    };
}

attribute_types! {
    Float = 1, "FLOAT", Some(AttributeValue::Float(0.0));
    Int = 2, "INT", Some(AttributeValue::Int(0));
    String = 3, "STRING", Some(AttributeValue::String(Bytes::default()));
    Tensor = 4, "TENSOR", None;
    Graph = 5, "GRAPH", None;
    Floats = 6, "FLOATS", Some(AttributeValue::Floats(Vec::new()));
    Ints = 7, "INTS", Some(AttributeValue::Ints(Vec::new()));
    Strings = 8, "STRINGS", Some(AttributeValue::Strings(Vec::new()));
    Tensors = 9, "TENSORS", Some(AttributeValue::Tensors(Vec::new()));
    Graphs = 10, "GRAPHS", Some(AttributeValue::Graphs(Vec::new()));
    SparseTensor = 11, "SPARSE_TENSOR", None;
    SparseTensors = 12, "SPARSE_TENSORS", Some(AttributeValue::SparseTensors(Vec::new()));
    Type = 13, "TYPE_PROTO", None;
    Types = 14, "TYPE_PROTOS", Some(AttributeValue::Types(Vec::new()));
}

impl AttributeType {
    /// Returns ONNX's code of this type.
    #[must_use]
    pub const fn code(self) -> i32 {
        self as i32
    }
}

impl fmt::Display for AttributeType {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(self.name())
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
