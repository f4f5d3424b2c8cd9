//! Attribute values: one small set of forms shared by all ops, so that text, JSON, hashing and comparison are written
//! once. The typed fields of ops convert to and from these forms through [`AttrField`].

use std::sync::Arc;

use sapwood_types::DataType;
use smallvec::SmallVec;

use crate::dims::DimExpr;
use crate::literal::TensorLiteral;
use crate::name::Name;
use crate::types::{Dim, ValueType};

/// The nesting limit of lists and dictionaries. A dictionary takes two levels of JSON, of which there may be 127.
pub const MAX_ATTR_DEPTH: usize = 48;

/// A list of integers.
pub type Ints = SmallVec<[i64; 4]>;

/// The attributes of an instruction, in the order in which the op's definition lists them, with defaults filled in.
pub type AttrList = Arc<[Attr]>;

/// A value of an attribute.
#[derive(Clone, PartialEq, Eq, Hash, Debug)]
pub enum Attr {
    /// No value: an optional attribute that is absent, or one whose value is the result type.
    Unit,
    /// `true`, `false`.
    Bool(bool),
    /// An integer.
    Int(i64),
    /// A float, compared by its bits.
    Float(FloatBits),
    /// Text in quotes.
    Str(Arc<str>),
    /// A bare word, such as a direction: `lt`.
    Word(Name),
    /// A function: `@f`.
    Func(Name),
    /// An element type: `f32`.
    Type(DataType),
    /// Integers: `[1, 2]`. A list that is empty or has only integers is always this.
    Ints(Ints),
    /// An integer that is an expression over the symbols of the function, and not a number: `2*?S`. Only in lists.
    Dim(DimExpr),
    /// Other lists.
    List(Arc<[Attr]>),
    /// A dictionary, keys sorted and unique.
    Dict(Arc<[(Name, Attr)]>),
    /// A tensor.
    Literal(TensorLiteral),
}

/// The bits of an `f64`.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub struct FloatBits(pub u64);

impl FloatBits {
    /// Returns the float with these bits.
    #[must_use]
    pub fn get(self) -> f64 {
        f64::from_bits(self.0)
    }
}

impl From<f64> for FloatBits {
    fn from(x: f64) -> Self {
        Self(x.to_bits())
    }
}

impl Attr {
    // Returns whether all integers of a list, or of the lists in a list, are this number.
    pub(crate) fn has_only_entries(&self, number: i64) -> bool {
        match self {
            Self::Ints(list) => list.iter().all(|&n| n == number),
            Self::List(list) => list.iter().all(|inner| inner.has_only_entries(number)),
            _ => false,
        }
    }

    /// Builds a list in canonical form: [`Attr::Ints`] if it contains only integers, [`Attr::List`] otherwise.
    #[must_use]
    pub fn list(items: Vec<Self>) -> Self {
        if items.iter().all(|a| matches!(a, Self::Int(_))) {
            return Self::Ints(items.iter().filter_map(Self::as_int).collect());
        }
        Self::List(items.into())
    }

    /// Builds a dictionary in canonical form, with sorted keys. If a key occurs twice, the first entry is kept.
    #[must_use]
    pub fn dict(mut entries: Vec<(Name, Self)>) -> Self {
        entries.sort_by_key(|(name, _)| name.as_str());
        entries.dedup_by_key(|(name, _)| *name);
        Self::Dict(entries.into())
    }

    /// Builds an entry of a list: a number if the expression is one.
    #[must_use]
    pub fn dim(expr: DimExpr) -> Self {
        expr.as_constant().map_or(Self::Dim(expr), Self::Int)
    }

    /// Returns the entries of a list of integers and expressions.
    #[must_use]
    pub fn as_dim_exprs(&self) -> Option<SmallVec<[DimExpr; 4]>> {
        match self {
            Self::Ints(list) => list.iter().map(|&n| DimExpr::constant(n)).collect(),
            Self::List(items) => items.iter().map(Self::as_dim_expr).collect(),
            _ => None,
        }
    }

    fn as_dim_expr(&self) -> Option<DimExpr> {
        match self {
            Self::Int(n) => DimExpr::constant(*n),
            Self::Dim(expr) => Some(*expr),
            _ => None,
        }
    }

    /// Returns whether a symbol of the function occurs in the attribute.
    #[must_use]
    pub fn has_symbols(&self) -> bool {
        match self {
            Self::Dim(_) => true,
            Self::List(items) => items.iter().any(Self::has_symbols),
            Self::Dict(entries) => entries.iter().any(|(_, item)| item.has_symbols()),
            _ => false,
        }
    }

    /// Calls `f` with each symbol of the attribute, once for each expression that has it.
    pub fn for_each_symbol(&self, f: &mut dyn FnMut(Name)) {
        match self {
            Self::Dim(expr) => Dim::Expr(*expr).for_each_symbol(f),
            Self::List(items) => items.iter().for_each(|item| item.for_each_symbol(f)),
            Self::Dict(entries) => entries.iter().for_each(|(_, item)| item.for_each_symbol(f)),
            _ => {}
        }
    }

    /// Returns the attribute with other expressions in place of its own. Returns `None` if `f` does.
    #[must_use]
    pub fn map_exprs(&self, f: &mut dyn FnMut(DimExpr) -> Option<DimExpr>) -> Option<Self> {
        match self {
            Self::Dim(expr) => f(*expr).map(Self::dim),
            Self::List(items) if self.has_symbols() => {
                let items = items.iter().map(|item| item.map_exprs(f));
                items.collect::<Option<Vec<_>>>().map(Self::list)
            }
            Self::Dict(entries) if self.has_symbols() => {
                let entries = entries.iter().map(|(name, item)| Some((*name, item.map_exprs(f)?)));
                entries.collect::<Option<Vec<_>>>().map(Self::dict)
            }
            _ => Some(self.clone()),
        }
    }

    /// Builds a word.
    #[must_use]
    pub fn word(text: &str) -> Self {
        Self::Word(Name::new(text))
    }

    /// Builds a float.
    #[must_use]
    pub fn float(x: f64) -> Self {
        Self::Float(x.into())
    }

    /// Returns the integer, if the attribute is one.
    #[must_use]
    pub fn as_int(&self) -> Option<i64> {
        if let Self::Int(n) = self { Some(*n) } else { None }
    }

    /// Returns the float, if the attribute is one.
    #[must_use]
    pub fn as_float(&self) -> Option<f64> {
        if let Self::Float(x) = self { Some(x.get()) } else { None }
    }

    /// Returns the integers, if the attribute is a list of integers.
    #[must_use]
    pub fn as_ints(&self) -> Option<&[i64]> {
        if let Self::Ints(list) = self { Some(list) } else { None }
    }

    /// Returns the text of a string.
    #[must_use]
    pub fn as_str(&self) -> Option<&str> {
        match self {
            Self::Str(text) => Some(text),
            _ => None,
        }
    }

    /// Returns the literal, if the attribute is one.
    #[must_use]
    #[inline]
    pub fn as_literal(&self) -> Option<&TensorLiteral> {
        if let Self::Literal(literal) = self { Some(literal) } else { None }
    }

    /// Returns the word, if the attribute is one.
    #[must_use]
    pub fn as_word(&self) -> Option<&'static str> {
        if let Self::Word(name) = self { Some(name.as_str()) } else { None }
    }

    /// Returns the entry of a dictionary with this key.
    #[must_use]
    pub fn get(&self, key: &str) -> Option<&Self> {
        let Self::Dict(entries) = self else { return None };
        entries.iter().find(|(name, _)| name.as_str() == key).map(|(_, value)| value)
    }

    /// Returns why the attribute is not in the canonical form that text and JSON can represent: it nests too deep, a
    /// list of integers is not an [`Attr::Ints`], or the keys of a dictionary are not sorted. [`Attr::list`] and
    /// [`Attr::dict`] build the canonical form.
    pub(crate) fn malformed(&self, depth: usize) -> Option<String> {
        if depth > MAX_ATTR_DEPTH {
            return Some(format!("attributes nest at most {MAX_ATTR_DEPTH} deep"));
        }
        match self {
            Self::List(items) if items.iter().all(|a| matches!(a, Self::Int(_))) => {
                Some("a list of integers is not in its one form".into())
            }
            Self::List(items) => items.iter().find_map(|item| item.malformed(depth + 1)),
            Self::Dict(entries) => {
                let sorted = entries.is_sorted_by(|(a, _), (b, _)| a.as_str() < b.as_str());
                if !sorted {
                    return Some("the keys of a dictionary are not sorted and unique".into());
                }
                entries.iter().find_map(|(_, item)| item.malformed(depth + 1))
            }
            _ => None,
        }
    }

    /// Names the form of the attribute for messages, for example `an integer`.
    #[must_use]
    pub fn describe(&self) -> &'static str {
        match self {
            Self::Unit => "nothing",
            Self::Bool(_) => "a bool",
            Self::Int(_) => "an integer",
            Self::Float(_) => "a float",
            Self::Str(_) => "a string",
            Self::Word(_) => "a word",
            Self::Func(_) => "a function",
            Self::Type(_) => "an element type",
            Self::Ints(_) => "a list of integers",
            Self::Dim(_) => "an expression over symbols",
            Self::List(_) => "a list",
            Self::Dict(_) => "a dictionary",
            Self::Literal(_) => "a literal",
        }
    }
}

/// The set of values that an attribute of an op may have.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum AttrKind {
    /// `true` or `false`.
    Bool,
    /// An integer.
    Int,
    /// A float; an integer is converted to one.
    Float,
    /// Text in quotes.
    Str,
    /// One of the listed words.
    Word(&'static [&'static str]),
    /// A function of the program.
    Func,
    /// An element type.
    Type,
    /// A list of integers.
    Ints,
    /// A list of integers and of expressions over the symbols of the function: `[?B, 2*?S]`.
    Dims,
    /// A list of lists of integers, each of the given length: `[[0, 1], [2, 0]]`.
    IntLists(usize),
    /// A literal of the result type.
    Literal,
    /// A dictionary.
    Dict,
    /// Any attribute but [`Attr::Unit`].
    Any,
    /// Not an attribute: the field is the type of the first result.
    ResultType,
}

impl AttrKind {
    /// Describes the kind for messages, for example `a list of integers`.
    #[must_use]
    pub fn describe(self) -> String {
        match self {
            Self::Bool => "a bool".into(),
            Self::Int => "an integer".into(),
            Self::Float => "a float".into(),
            Self::Str => "a string".into(),
            Self::Word(words) => format!("one of {}", words.join(", ")),
            Self::Func => "a function such as @f".into(),
            Self::Type => "an element type such as f32".into(),
            Self::Ints => "a list of integers".into(),
            Self::Dims => "a list of integers or expressions over symbols".into(),
            Self::IntLists(n) => format!("a list of lists of {n} integers"),
            Self::Literal => "a literal".into(),
            Self::Dict => "a dictionary".into(),
            Self::Any => "an attribute".into(),
            Self::ResultType => "the result type".into(),
        }
    }

    /// Returns whether an attribute is of this kind and already in canonical form.
    #[must_use]
    pub fn matches(self, attr: &Attr) -> bool {
        match (self, attr) {
            (Self::Bool, Attr::Bool(_))
            | (Self::Int, Attr::Int(_))
            | (Self::Float, Attr::Float(_))
            | (Self::Str, Attr::Str(_))
            | (Self::Func, Attr::Func(_))
            | (Self::Type, Attr::Type(_))
            | (Self::Ints, Attr::Ints(_))
            | (Self::Literal, Attr::Literal(_))
            | (Self::Dict, Attr::Dict(_))
            | (Self::ResultType, Attr::Unit) => true,
            (Self::Any, attr) => *attr != Attr::Unit,
            (Self::Word(words), Attr::Word(w)) => words.contains(&w.as_str()),
            (Self::Dims, Attr::Ints(_)) => true,
            (Self::Dims, Attr::List(items)) => {
                items.iter().all(|item| matches!(item, Attr::Int(_) | Attr::Dim(_)))
            }
            (Self::IntLists(_), Attr::Ints(rows)) => rows.is_empty(),
            (Self::IntLists(n), Attr::List(rows)) => {
                rows.iter().all(|r| r.as_ints().is_some_and(|r| r.len() == n))
            }
            _ => false,
        }
    }

    /// Converts an attribute to the canonical form of this kind. Returns `None` if it is not of this kind.
    #[must_use]
    pub fn coerce(self, attr: Attr) -> Option<Attr> {
        if self.matches(&attr) {
            return Some(attr);
        }
        match (self, attr) {
            (Self::Float, Attr::Int(n)) => Some(Attr::float(n as f64)),
            // A word that is also an element type or a bool was read as that.
            (Self::Word(words), Attr::Type(t)) if words.contains(&t.short_name()) => {
                Some(Attr::word(t.short_name()))
            }
            _ => None,
        }
    }
}

/// A Rust type that can be an attribute of an op.
pub trait AttrField: Sized {
    /// The kind of attribute that the field is stored as.
    const KIND: AttrKind;
    /// True if the attribute may be omitted although it has no default.
    const OPTIONAL: bool = false;
    /// Converts the field to an attribute.
    fn to_attr(&self) -> Attr;
    /// Converts an attribute to the field, if it has the right form. `results` are the types of the instruction's
    /// results.
    fn from_attr(attr: &Attr, results: &[&ValueType]) -> Option<Self>;
    /// Returns the result types that the field declares, if it is a field such as [`ResultType`].
    fn declared_types(&self) -> Option<Vec<ValueType>> {
        None
    }
}

macro_rules! attr_field {
    ($ty:ty, $kind:expr, |$x:ident| $to:expr, $pattern:pat => $from:expr) => {
        impl AttrField for $ty {
            const KIND: AttrKind = $kind;
            fn to_attr(&self) -> Attr {
                let $x = self;
                $to
            }
            fn from_attr(attr: &Attr, _: &[&ValueType]) -> Option<Self> {
                match attr {
                    $pattern => $from,
                    _ => None,
                }
            }
        }
    };
}

attr_field!(bool, AttrKind::Bool, |x| Attr::Bool(*x), Attr::Bool(x) => Some(*x));
attr_field!(i64, AttrKind::Int, |x| Attr::Int(*x), Attr::Int(x) => Some(*x));
attr_field!(f64, AttrKind::Float, |x| Attr::float(*x), Attr::Float(x) => Some(x.get()));
attr_field!(Arc<str>, AttrKind::Str, |x| Attr::Str(x.clone()), Attr::Str(x) => Some(x.clone()));
attr_field!(Name, AttrKind::Func, |x| Attr::Func(*x), Attr::Func(x) => Some(*x));
attr_field!(DataType, AttrKind::Type, |x| Attr::Type(*x), Attr::Type(x) => Some(*x));
attr_field!(TensorLiteral, AttrKind::Literal, |x| Attr::Literal(x.clone()), Attr::Literal(x) => Some(x.clone()));

impl<T: AttrField> AttrField for Option<T> {
    const KIND: AttrKind = T::KIND;
    const OPTIONAL: bool = true;
    fn to_attr(&self) -> Attr {
        self.as_ref().map_or(Attr::Unit, T::to_attr)
    }
    fn from_attr(attr: &Attr, results: &[&ValueType]) -> Option<Self> {
        if *attr == Attr::Unit { Some(None) } else { T::from_attr(attr, results).map(Some) }
    }
}

/// A list of integers as an attribute: axes, strides, sizes.
#[derive(Clone, PartialEq, Eq, Hash, Debug, Default)]
pub struct Axes(pub Ints);

impl std::ops::Deref for Axes {
    type Target = [i64];
    fn deref(&self) -> &[i64] {
        &self.0
    }
}

macro_rules! axes_from {
    ($($int:ty),*) => {$(
        impl<const N: usize> From<[$int; N]> for Axes {
            fn from(list: [$int; N]) -> Self {
                list.into_iter().collect()
            }
        }
        impl From<&[$int]> for Axes {
            fn from(list: &[$int]) -> Self {
                list.iter().copied().collect()
            }
        }
        impl From<Vec<$int>> for Axes {
            fn from(list: Vec<$int>) -> Self {
                list.into_iter().collect()
            }
        }
        impl FromIterator<$int> for Axes {
            fn from_iter<I: IntoIterator<Item = $int>>(iter: I) -> Self {
                // A number that does not fit saturates and is then out of range wherever axes and sizes are checked.
                Self(iter.into_iter().map(|n| i64::try_from(n).unwrap_or(i64::MAX)).collect())
            }
        }
    )*};
}
axes_from!(i64, usize, u64, i32);

attr_field!(Axes, AttrKind::Ints, |x| Attr::Ints(x.0.clone()), Attr::Ints(x) => Some(Self(x.clone())));

/// Integers and expressions over the symbols of the function, as an attribute: `[?B, 2*?S]`.
#[derive(Clone, PartialEq, Eq, Hash, Debug, Default)]
pub struct DimExprs(pub SmallVec<[DimExpr; 4]>);

impl std::ops::Deref for DimExprs {
    type Target = [DimExpr];
    fn deref(&self) -> &[DimExpr] {
        &self.0
    }
}

impl FromIterator<DimExpr> for DimExprs {
    fn from_iter<I: IntoIterator<Item = DimExpr>>(iter: I) -> Self {
        Self(iter.into_iter().collect())
    }
}

impl AttrField for DimExprs {
    const KIND: AttrKind = AttrKind::Dims;
    fn to_attr(&self) -> Attr {
        Attr::list(self.0.iter().map(|&expr| Attr::dim(expr)).collect())
    }
    fn from_attr(attr: &Attr, _: &[&ValueType]) -> Option<Self> {
        attr.as_dim_exprs().map(Self)
    }
}

/// One integer as an attribute: an axis, an index, a count.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug, Default)]
pub struct Int(pub i64);

macro_rules! int_from {
    ($($int:ty),*) => {$(
        impl From<$int> for Int {
            fn from(n: $int) -> Self {
                Self(i64::try_from(n).unwrap_or(i64::MAX))
            }
        }
    )*};
}
int_from!(i64, i32, u32, usize, u64);

attr_field!(Int, AttrKind::Int, |x| Attr::Int(x.0), Attr::Int(x) => Some(Self(*x)));

/// Pairs of integers as an attribute: low and high padding.
#[derive(Clone, PartialEq, Eq, Hash, Debug, Default)]
pub struct Pairs(pub Vec<[i64; 2]>);

impl std::ops::Deref for Pairs {
    type Target = [[i64; 2]];
    fn deref(&self) -> &[[i64; 2]] {
        &self.0
    }
}

impl From<Vec<[i64; 2]>> for Pairs {
    fn from(list: Vec<[i64; 2]>) -> Self {
        Self(list)
    }
}

impl<const N: usize> From<[[i64; 2]; N]> for Pairs {
    fn from(list: [[i64; 2]; N]) -> Self {
        Self(list.to_vec())
    }
}

impl AttrField for Pairs {
    const KIND: AttrKind = AttrKind::IntLists(2);
    fn to_attr(&self) -> Attr {
        if self.0.is_empty() {
            return Attr::Ints(Ints::new());
        }
        Attr::List(self.0.iter().map(|p| Attr::Ints(p.iter().copied().collect())).collect())
    }
    fn from_attr(attr: &Attr, _: &[&ValueType]) -> Option<Self> {
        match attr {
            Attr::Ints(list) if list.is_empty() => Some(Self::default()),
            Attr::List(rows) => {
                let row = |r: &Attr| <[i64; 2]>::try_from(r.as_ints()?).ok();
                rows.iter().map(row).collect::<Option<Vec<_>>>().map(Self)
            }
            _ => None,
        }
    }
}

/// The declared type of the first result, for ops whose result type cannot be inferred: `reshape %x : f32[8]`.
#[derive(Clone, PartialEq, Eq, Hash, Debug)]
pub struct ResultType(pub ValueType);

impl<T: Into<ValueType>> From<T> for ResultType {
    fn from(ty: T) -> Self {
        Self(ty.into())
    }
}

impl AttrField for ResultType {
    const KIND: AttrKind = AttrKind::ResultType;
    fn to_attr(&self) -> Attr {
        Attr::Unit
    }
    fn from_attr(_: &Attr, results: &[&ValueType]) -> Option<Self> {
        results.first().map(|&ty| Self(ty.clone()))
    }
    fn declared_types(&self) -> Option<Vec<ValueType>> {
        Some(vec![self.0.clone()])
    }
}

/// The declared types of all results, for ops that infer none, such as calls.
#[derive(Clone, PartialEq, Eq, Hash, Debug)]
pub struct ResultTypes(pub Vec<ValueType>);

impl<T: Into<ValueType>> FromIterator<T> for ResultTypes {
    fn from_iter<I: IntoIterator<Item = T>>(types: I) -> Self {
        Self(types.into_iter().map(Into::into).collect())
    }
}

impl From<Vec<ValueType>> for ResultTypes {
    fn from(types: Vec<ValueType>) -> Self {
        Self(types)
    }
}

impl AttrField for ResultTypes {
    const KIND: AttrKind = AttrKind::ResultType;
    fn to_attr(&self) -> Attr {
        Attr::Unit
    }
    fn from_attr(_: &Attr, results: &[&ValueType]) -> Option<Self> {
        Some(Self(results.iter().map(|&ty| ty.clone()).collect()))
    }
    fn declared_types(&self) -> Option<Vec<ValueType>> {
        Some(self.0.clone())
    }
}

/// Defines an enum that can be an attribute: `attr_enum! { /// Doc. pub enum Direction { Eq = "eq", Ne = "ne" } }`.
#[macro_export]
macro_rules! attr_enum {
    ($(#[$meta:meta])* $vis:vis enum $name:ident { $($(#[$vmeta:meta])* $variant:ident = $text:literal),* $(,)? }) => {
        $(#[$meta])*
        #[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
        $vis enum $name { $($(#[$vmeta])* $variant),* }

        impl $name {
            /// All variants, in order.
            pub const ALL: &'static [Self] = &[$(Self::$variant),*];

            /// Returns the word that the text form uses for the variant.
            #[must_use]
            pub fn as_str(self) -> &'static str {
                match self { $(Self::$variant => $text),* }
            }

            // Returns the words, in the order of `ALL`, interned once: interning a word takes longer than everything else
            // done with it.
            fn names() -> &'static [$crate::Name] {
                static NAMES: std::sync::LazyLock<[$crate::Name; [$($text),*].len()]> =
                    std::sync::LazyLock::new(|| [$($text),*].map($crate::Name::new));
                &*NAMES
            }
        }

        impl $crate::AttrField for $name {
            const KIND: $crate::AttrKind = $crate::AttrKind::Word(&[$($text),*]);
            fn to_attr(&self) -> $crate::Attr {
                $crate::Attr::Word(Self::names()[*self as usize])
            }
            fn from_attr(attr: &$crate::Attr, _: &[&$crate::ValueType]) -> Option<Self> {
                let $crate::Attr::Word(word) = attr else { return None };
                let at = Self::names().iter().position(|name| name == word)?;
                Self::ALL.get(at).copied()
            }
        }
    };
}
