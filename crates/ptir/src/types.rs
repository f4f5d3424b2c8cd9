//! Types of values: tensors, tuples, tokens; and the interner of types.

use std::fmt;
use std::hash::{BuildHasher, BuildHasherDefault};
use std::sync::Arc;

use hashbrown::HashTable;
use rustc_hash::FxHasher;
use sapwood_types::DataType;
use smallvec::SmallVec;

use crate::ids::TypeId;
use crate::name::Name;

pub use crate::dims::Dim;

/// The nesting limit of tuple types.
pub const MAX_TYPE_DEPTH: usize = 64;

/// The largest number of types in a tuple type, including itself and nested tuples.
pub const MAX_TYPE_SIZE: usize = 1 << 16;

/// The largest number of dims of a tensor.
pub const MAX_RANK: usize = 255;

/// The largest extent a tensor may have.
pub const MAX_EXTENT: u64 = i64::MAX as u64;

/// The extents of a tensor, outermost first.
pub type Dims = SmallVec<[Dim; 4]>;

/// The number of elements of a tensor type.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum ElementCount {
    /// A known number.
    Known(u64),
    /// At least one extent is not known.
    Unknown,
    /// All extents are known, and their product exceeds 64 bits.
    TooMany,
}

impl fmt::Display for ElementCount {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Known(n) => write!(f, "{n}"),
            Self::Unknown => f.write_str("an unknown number of"),
            Self::TooMany => f.write_str("more than 2^64 - 1"),
        }
    }
}

/// The type of a tensor: element type and extents, `f32[4, ?B]`.
#[derive(PartialEq, Eq, Hash, Debug)]
pub struct TensorType {
    /// Type of the elements.
    pub dtype: DataType,
    /// Extents, outermost first.
    pub dims: Dims,
}

impl Clone for TensorType {
    // Copies all extents at once instead of one by one.
    #[inline]
    fn clone(&self) -> Self {
        Self { dtype: self.dtype, dims: Dims::from_slice(&self.dims) }
    }
}

/// The name that the builder API uses for [`TensorType`].
pub type TensorSpec = TensorType;

impl TensorType {
    /// Creates a tensor type. Extents are numbers or [`Dim`]s.
    pub fn new<D: Into<Dim>>(dtype: DataType, dims: impl IntoIterator<Item = D>) -> Self {
        Self { dtype, dims: dims.into_iter().map(Into::into).collect() }
    }

    /// Creates a tensor type of rank zero.
    #[must_use]
    pub fn scalar(dtype: DataType) -> Self {
        Self { dtype, dims: Dims::new() }
    }

    /// Returns the number of extents.
    #[must_use]
    pub fn rank(&self) -> usize {
        self.dims.len()
    }

    /// Returns all extents as numbers, if all are known.
    #[must_use]
    pub fn known_shape(&self) -> Option<SmallVec<[u64; 4]>> {
        self.dims.iter().map(|d| d.known()).collect()
    }

    /// Returns the first extent above [`MAX_EXTENT`], which is not valid in a program.
    #[must_use]
    pub fn excessive_extent(&self) -> Option<u64> {
        self.dims.iter().filter_map(|d| d.known()).find(|&n| n > MAX_EXTENT)
    }

    /// Checks that rank and extents are within the limits.
    ///
    /// # Errors
    /// With the limit and the number that exceeds it.
    pub fn check_limits(&self) -> Result<(), String> {
        if self.rank() > MAX_RANK {
            return Err(format!("a tensor has at most {MAX_RANK} dims, found {}", self.rank()));
        }
        match self.excessive_extent() {
            Some(n) => Err(format!("an extent is at most {MAX_EXTENT}, found {n}")),
            None => Ok(()),
        }
    }

    /// Returns the number of elements, if the extents determine it.
    #[must_use]
    pub fn element_count(&self) -> ElementCount {
        let (mut total, mut zero) = (Some(1u64), false);
        for dim in &self.dims {
            match dim.known() {
                None => return ElementCount::Unknown,
                Some(0) => zero = true,
                Some(n) => total = total.and_then(|t| t.checked_mul(n)),
            }
        }
        match total {
            _ if zero => ElementCount::Known(0),
            Some(total) => ElementCount::Known(total),
            None => ElementCount::TooMany,
        }
    }

    /// Returns the number of elements, or `None` if an extent is not known or the product exceeds 64 bits.
    /// [`element_count`](Self::element_count) distinguishes the two.
    #[must_use]
    pub fn num_elements(&self) -> Option<u64> {
        match self.element_count() {
            ElementCount::Known(n) => Some(n),
            ElementCount::Unknown | ElementCount::TooMany => None,
        }
    }

    /// Returns the type with the same extents and another element type.
    #[must_use]
    pub fn with_dtype(&self, dtype: DataType) -> Self {
        Self { dtype, dims: Dims::from_slice(&self.dims) }
    }

    /// Returns whether a value may have both types.
    #[must_use]
    pub fn compatible(&self, other: &Self) -> bool {
        self.dtype == other.dtype
            && self.dims.len() == other.dims.len()
            && self.dims.iter().zip(&other.dims).all(|(a, b)| a.compatible(*b))
    }
}

impl fmt::Display for TensorType {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}[", self.dtype)?;
        for (i, dim) in self.dims.iter().enumerate() {
            if i > 0 {
                f.write_str(", ")?;
            }
            write!(f, "{dim}")?;
        }
        f.write_str("]")
    }
}

/// The type of a value.
#[derive(Clone, PartialEq, Eq, Hash, Debug)]
pub enum ValueType {
    /// A tensor.
    Tensor(TensorType),
    /// A tuple: `tuple<f32[], i32[2]>`.
    Tuple(Arc<[ValueType]>),
    /// A token, which orders effects and carries no data.
    Token,
    /// A value that ops of another format pass on and PTIR does not look into: a string, a sequence, a tensor of unknown rank.
    Opaque,
}

impl ValueType {
    /// Returns the tensor type, if it is one.
    #[must_use]
    #[inline]
    pub fn as_tensor(&self) -> Option<&TensorType> {
        match self {
            Self::Tensor(t) => Some(t),
            Self::Tuple(_) | Self::Token | Self::Opaque => None,
        }
    }

    /// Returns the element types, if it is a tuple.
    #[must_use]
    pub fn as_tuple(&self) -> Option<&[ValueType]> {
        match self {
            Self::Tuple(elements) => Some(elements),
            Self::Tensor(_) | Self::Token | Self::Opaque => None,
        }
    }

    /// Returns the first extent above [`MAX_EXTENT`], including elements of tuples.
    #[must_use]
    pub fn excessive_extent(&self) -> Option<u64> {
        match self {
            Self::Tensor(t) => t.excessive_extent(),
            Self::Tuple(elements) => elements.iter().find_map(Self::excessive_extent),
            Self::Token | Self::Opaque => None,
        }
    }

    /// Returns the number of tuples around the innermost type.
    #[must_use]
    pub fn depth(&self) -> usize {
        match self {
            Self::Tuple(elements) => 1 + elements.iter().map(Self::depth).max().unwrap_or(0),
            Self::Tensor(_) | Self::Token | Self::Opaque => 0,
        }
    }

    /// Checks that rank, extents, and the depth and size of tuples are within the limits. The time is bounded by
    /// [`MAX_TYPE_SIZE`] types, however its parts are shared.
    ///
    /// # Errors
    /// With the limit and the number that exceeds it.
    pub fn check_limits(&self) -> Result<(), String> {
        if let Self::Tensor(t) = self {
            return t.check_limits();
        }
        let mut left = vec![(self, 0)];
        let mut seen = 0;
        while let Some((ty, depth)) = left.pop() {
            seen += 1;
            match ty {
                Self::Tensor(t) => t.check_limits()?,
                Self::Tuple(_) if depth == MAX_TYPE_DEPTH => {
                    return Err(format!("tuple types nest at most {MAX_TYPE_DEPTH} deep"));
                }
                Self::Tuple(elements) if seen + left.len() + elements.len() > MAX_TYPE_SIZE => {
                    return Err(format!("a tuple type has at most {MAX_TYPE_SIZE} parts"));
                }
                Self::Tuple(elements) => left.extend(elements.iter().map(|e| (e, depth + 1))),
                Self::Token | Self::Opaque => {}
            }
        }
        Ok(())
    }

    /// Returns whether a value may have both types.
    #[must_use]
    pub fn compatible(&self, other: &Self) -> bool {
        match (self, other) {
            (Self::Tensor(a), Self::Tensor(b)) => a.compatible(b),
            (Self::Tuple(a), Self::Tuple(b)) => {
                a.len() == b.len() && a.iter().zip(b.iter()).all(|(a, b)| a.compatible(b))
            }
            (Self::Token, Self::Token) | (Self::Opaque, Self::Opaque) => true,
            _ => false,
        }
    }

    /// Calls `f` with each dim, in order, including elements of tuples.
    pub fn for_each_dim(&self, f: &mut dyn FnMut(Dim)) {
        match self {
            Self::Tensor(ty) => ty.dims.iter().for_each(|&dim| f(dim)),
            // The limit of types bounds the nesting of tuples.
            Self::Tuple(elements) => elements.iter().for_each(|e| e.for_each_dim(f)),
            Self::Token | Self::Opaque => {}
        }
    }

    /// Calls `f` with each symbol in the dims, in order, repeated symbols included.
    pub fn for_each_symbol(&self, f: &mut dyn FnMut(Name)) {
        self.for_each_dim(&mut |dim| dim.for_each_symbol(f));
    }

    /// Returns the type with every dim replaced by the result of `f`.
    #[must_use]
    pub fn map_dims(&self, f: &mut dyn FnMut(Dim) -> Dim) -> Self {
        match self {
            Self::Tensor(t) => Self::Tensor(TensorType {
                dtype: t.dtype,
                dims: t.dims.iter().map(|d| f(*d)).collect(),
            }),
            Self::Tuple(elements) => Self::Tuple(elements.iter().map(|e| e.map_dims(f)).collect()),
            Self::Token => Self::Token,
            Self::Opaque => Self::Opaque,
        }
    }
}

impl From<TensorType> for ValueType {
    fn from(t: TensorType) -> Self {
        Self::Tensor(t)
    }
}

impl From<&TensorType> for ValueType {
    fn from(t: &TensorType) -> Self {
        Self::Tensor(t.clone())
    }
}

impl fmt::Display for ValueType {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Tensor(t) => fmt::Display::fmt(t, f),
            Self::Token => f.write_str("token"),
            Self::Opaque => f.write_str("opaque"),
            Self::Tuple(elements) => {
                f.write_str("tuple<")?;
                for (i, element) in elements.iter().enumerate() {
                    if i > 0 {
                        f.write_str(", ")?;
                    }
                    fmt::Display::fmt(element, f)?;
                }
                f.write_str(">")
            }
        }
    }
}

/// Writes a list of types as messages and the text form show it: `f32[2], i32[]`.
pub(crate) fn join_types<'a>(types: impl IntoIterator<Item = &'a ValueType>) -> String {
    let list: Vec<String> = types.into_iter().map(ToString::to_string).collect();
    list.join(", ")
}

/// The interned types of one function.
#[derive(Clone, Default)]
pub(crate) struct TypeInterner {
    types: Vec<ValueType>,
    table: HashTable<u32>,
    // True if any type, including elements of tuples, has an expression over symbols.
    named: bool,
}

impl TypeInterner {
    #[inline]
    pub(crate) fn get(&self, id: TypeId) -> &ValueType {
        &self.types[id.index()]
    }

    pub(crate) fn intern(&mut self, ty: &ValueType) -> TypeId {
        let hash = hash(ty);
        if let Some(&id) = self.table.find(hash, |&id| self.types[id as usize] == *ty) {
            return TypeId::new(id as usize);
        }
        let id = self.types.len();
        self.named |= has_named_dims(ty);
        self.types.push(ty.clone());
        let types = &self.types;
        self.table.insert_unique(hash, id as u32, |&id| self::hash(&types[id as usize]));
        TypeId::new(id)
    }

    /// Creates an interner with capacity for `count` types.
    pub(crate) fn with_capacity(count: usize) -> Self {
        Self {
            types: Vec::with_capacity(count),
            table: HashTable::with_capacity(count),
            named: false,
        }
    }

    pub(crate) fn len(&self) -> usize {
        self.types.len()
    }

    /// Returns whether any type has, or had before an edit, a symbol.
    #[inline]
    pub(crate) fn named(&self) -> bool {
        self.named
    }

    /// Returns whether any type exceeds a limit.
    pub(crate) fn any_excessive(&self) -> bool {
        self.types.iter().any(|t| t.check_limits().is_err())
    }

    pub(crate) fn bytes(&self) -> usize {
        self.types.capacity() * size_of::<ValueType>() + self.table.capacity() * 5
    }
}

fn has_named_dims(ty: &ValueType) -> bool {
    if let ValueType::Tensor(ty) = ty {
        return ty.dims.iter().any(|d| matches!(d, Dim::Expr(_)));
    }
    let mut todo = vec![ty];
    while let Some(ty) = todo.pop() {
        match ty {
            ValueType::Tensor(ty) if ty.dims.iter().any(|d| matches!(d, Dim::Expr(_))) => {
                return true;
            }
            ValueType::Tuple(elements) => todo.extend(elements.iter()),
            ValueType::Tensor(_) | ValueType::Token | ValueType::Opaque => {}
        }
    }
    false
}

fn hash(ty: &ValueType) -> u64 {
    BuildHasherDefault::<FxHasher>::default().hash_one(ty)
}
