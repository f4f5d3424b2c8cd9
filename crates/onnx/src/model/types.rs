//! Types of values.

use super::{Nested, StringEntry};
use crate::Text;
use crate::wire::{message, one_of};

message! {
    /// A name with its type: an input, an output, or a value in between.
    ValueInfo = "ValueInfoProto" by (|info| info.name.as_ref()) {
        /// The name of the value.
        [1] name: Option<Text>,
        /// Its type; values in functions and some outputs have none.
        [2] r#type: Option<Nested<Type>>,
        /// Documentation.
        [3] doc_string: Option<Text>,
        /// Named strings.
        [4] metadata_props: Vec<StringEntry>,
    }
}

message! {
    /// The type of a value.
    Type = "TypeProto" {
        /// The type itself.
        [1, 4, 5, 7, 8, 9] value: Option<TypeValue>,
        /// A word for the meaning of the value, such as `IMAGE`.
        [6] denotation: Option<Text>,
    }
}

one_of! {
    /// The kinds of types.
    TypeValue by last {
        /// A dense tensor.
        1 Tensor(TensorType),
        /// A list of values of one type.
        4 Sequence(SequenceType),
        /// A table.
        5 Map(MapType),
        /// A type of its own name.
        7 Opaque(OpaqueType),
        /// A sparse tensor.
        8 SparseTensor(TensorType),
        /// A value that may be absent.
        9 Optional(SequenceType),
    }
}

message! {
    /// Element type and shape of a tensor, dense or sparse.
    TensorType = "TypeProto.Tensor" {
        /// The code of an [`ElementType`](crate::ElementType).
        [1] elem_type: Option<i32>,
        /// The shape; absent if not even the rank is known.
        [2] shape: Option<Shape>,
    }
}

message! {
    /// The type of the elements of a sequence or of an optional value.
    SequenceType = "TypeProto.Sequence" {
        /// The element type.
        [1] elem_type: Option<Nested<Type>>,
    }
}

message! {
    /// The types of keys and values of a map.
    MapType = "TypeProto.Map" {
        /// The code of an [`ElementType`](crate::ElementType): an integer or a string.
        [1] key_type: Option<i32>,
        /// The type of values.
        [2] value_type: Option<Nested<Type>>,
    }
}

message! {
    /// A type known by name alone.
    OpaqueType = "TypeProto.Opaque" {
        /// The domain of the name.
        [1] domain: Option<Text>,
        /// The name.
        [2] name: Option<Text>,
    }
}

message! {
    /// The shape of a tensor.
    Shape = "TensorShapeProto" {
        /// The extents.
        [1] dim: Vec<Dimension>,
    }
}

message! {
    /// One extent of a shape.
    Dimension = "TensorShapeProto.Dimension" {
        /// The extent; absent if it is not known.
        [1, 2] value: Option<DimensionValue>,
        /// A word for the meaning of the axis, such as `DATA_BATCH`.
        [3] denotation: Option<Text>,
    }
}

impl ValueInfo {
    /// Returns a name with its type.
    #[must_use]
    pub fn new(name: impl Into<Text>, ty: Type) -> Self {
        Self { name: Some(name.into()), r#type: Some(Nested::new(ty)), ..Self::default() }
    }
}

impl Type {
    /// Returns the type of a dense tensor, from the code of its element type and its extents; `None` is an extent that is not known.
    #[must_use]
    pub fn tensor(
        elem_type: Option<i32>,
        dims: impl IntoIterator<Item = Option<DimensionValue>>,
    ) -> Self {
        let dims = dims.into_iter().map(|value| Dimension { value, ..Dimension::default() });
        let shape = Some(Shape { dim: dims.collect(), ..Shape::default() });
        let tensor = TensorType { elem_type, shape, ..TensorType::default() };
        Self { value: Some(TypeValue::Tensor(tensor)), ..Self::default() }
    }
}

one_of! {
    /// An extent.
    DimensionValue by last {
        /// A number. Negative ones mean that it is not known.
        1 Value(i64),
        /// A symbol; the empty one and `?` mean that it is not known.
        2 Param(Text),
    }
}
