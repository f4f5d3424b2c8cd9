//! Implementations of [`Field`] for Rust types.

use std::sync::Arc;

use sapwood_types::{DataType, Span};

use crate::engine::{FieldComparer, FieldHasher, PREFETCH_DISTANCE};
use crate::error::BuildError;
use crate::hasher::{ChildPosition, Hash128};
use crate::node::Field;
use crate::reference::AnyRef;
use crate::values::{BigInt, Bytes, Tensor, Value};
use crate::view::{List, View};

macro_rules! int_fields {
    ($($t:ty),*) => {$(
        impl Field for $t {
            #[inline]
            fn view(&self) -> View<'_> {
                #[allow(clippy::cast_lossless, reason = "one body for every width")]
                if <$t>::MIN == 0 { View::uint(*self as u128) } else { View::int(*self as i128) }
            }

            #[inline]
            fn compare<'a>(&'a self, other: &'a Self, _: &mut FieldComparer<'a>) -> bool {
                self == other
            }

            #[inline]
            fn hash_contribution<'a>(&'a self, hasher: &mut FieldHasher<'_, '_, 'a>) -> Hash128 {
                match self.view() {
                    View::Int(value) => hasher.hash_int(value),
                    wide => hasher.hash_value(&wide),
                }
            }

            fn from_value(value: Value) -> Result<Self, BuildError> {
                let fits = match value.view() {
                    View::Int(small) => Self::try_from(small).ok(),
                    View::Wide(wide) if wide.negative() => 0i128
                        .checked_sub_unsigned(wide.magnitude())
                        .and_then(|value| Self::try_from(value).ok()),
                    View::Wide(wide) => Self::try_from(wide.magnitude()).ok(),
                    _ => None,
                };
                fits.ok_or_else(|| BuildError::expected(stringify!($t), value.view()))
            }
        }
    )*};
}
int_fields!(i8, i16, i32, i64, i128, isize, u8, u16, u32, u64, u128, usize);

/// Implements [`Field`] for a type that is viewed as one variant of [`View`] and built from one of [`Value`].
macro_rules! plain_field {
    ($t:ty, $name:literal, |$this:ident| $view:expr, $pattern:pat $(if $guard:expr)? => $back:expr) => {
        impl Field for $t {
            #[inline]
            fn view(&self) -> View<'_> {
                let $this = self;
                $view
            }

            fn from_value(value: Value) -> Result<Self, BuildError> {
                match value {
                    $pattern $(if $guard)? => Ok($back),
                    other => Err(BuildError::expected($name, other.view())),
                }
            }
        }
    };
}
plain_field!(bool, "a bool", |b| View::Bool(*b), Value::Bool(b) => b);
plain_field!(f64, "a float", |f| View::Float(*f), Value::Float(f) => f);
plain_field!(f32, "a 32-bit float", |f| View::Float(f64::from(*f)),
    Value::Float(f) if f.is_nan() || f64::from(f as Self).to_bits() == f.to_bits() => f as Self);
plain_field!(String, "a string", |s| View::Str(s), Value::Str(s) => s.as_str().to_owned());
plain_field!(Box<str>, "a string", |s| View::Str(s), Value::Str(s) => s.as_str().into());
plain_field!(Arc<str>, "a string", |s| View::Str(s), Value::Str(s) => s.as_str().into());
plain_field!(Bytes, "bytes", |b| View::Bytes(b.as_slice()), Value::Bytes(b) => (*b).clone());
plain_field!(Tensor, "a tensor", |t| View::Tensor(t), Value::Tensor(t) => (*t).clone());
plain_field!(BigInt, "an integer", |b| b.view(), value @ (Value::Int(_) | Value::Big(_)) =>
match value {
    Value::Big(big) => (*big).clone(),
    Value::Int(i) => Self::from_limbs(i < 0, vec![i.unsigned_abs()]),
    _ => Self::from_limbs(false, Vec::new()),
});
plain_field!(AnyRef, "a node", |n| View::Node(n.node()), Value::Node(n) => n);

impl Field for Value {
    #[inline]
    fn view(&self) -> View<'_> {
        Self::view(self)
    }

    fn from_value(value: Value) -> Result<Self, BuildError> {
        Ok(value)
    }
}

impl<T: Field> Field for Option<T> {
    #[inline]
    fn compare<'a>(&'a self, other: &'a Self, comparer: &mut FieldComparer<'a>) -> bool {
        match (self, other) {
            (Some(left), Some(right)) => left.compare(right, comparer),
            (None, None) => true,
            // A nested `None` looks like the outer one.
            _ => comparer.compare_values(&self.view(), &other.view()),
        }
    }

    #[inline]
    fn hash_contribution<'a>(&'a self, hasher: &mut FieldHasher<'_, '_, 'a>) -> Hash128 {
        match self {
            Some(value) => value.hash_contribution(hasher),
            None => hasher.hash_value(&View::None),
        }
    }

    #[inline]
    fn view(&self) -> View<'_> {
        self.as_ref().map_or(View::None, Field::view)
    }

    fn from_value(value: Value) -> Result<Self, BuildError> {
        match value {
            Value::None => Ok(None),
            other => T::from_value(other).map(Some),
        }
    }
}

impl<T: Field> Field for Box<T> {
    #[inline]
    fn compare<'a>(&'a self, other: &'a Self, comparer: &mut FieldComparer<'a>) -> bool {
        T::compare(self, other, comparer)
    }

    #[inline]
    fn hash_contribution<'a>(&'a self, hasher: &mut FieldHasher<'_, '_, 'a>) -> Hash128 {
        T::hash_contribution(self, hasher)
    }

    #[inline]
    fn view(&self) -> View<'_> {
        T::view(self)
    }

    fn from_value(value: Value) -> Result<Self, BuildError> {
        T::from_value(value).map(Self::new)
    }
}

/// Returns the elements of a sequence value.
fn items(value: &Value) -> Result<Vec<Value>, BuildError> {
    let seq =
        value.as_node().and_then(|node| node.node().downcast::<crate::containers::SeqItems>());
    match seq {
        Some(items) => Ok(items.as_slice().to_vec()),
        None => Err(BuildError::expected("a sequence", value.view())),
    }
}

fn elements<T: Field>(value: &Value) -> Result<Vec<T>, BuildError> {
    items(value)?
        .into_iter()
        .enumerate()
        .map(|(index, item)| T::from_value(item).map_err(|error| error.at_index(index)))
        .collect()
}

/// Compares two lists, each given as a slice and as a view.
#[inline]
fn compare_elements<'a, T: Field>(
    (left, left_view): (&'a [T], View<'a>),
    (right, right_view): (&'a [T], View<'a>),
    comparer: &mut FieldComparer<'a>,
) -> bool {
    if left.len() != right.len() {
        return false;
    }
    let prefetches = comparer.prefetches();
    for (index, elements) in left.iter().zip(right).enumerate() {
        if comparer.defers_rest(left.len() - index) {
            return comparer.compare_rest(&left_view, &right_view, index);
        }
        if prefetches
            && let (Some(l), Some(r)) =
                (left.get(index + PREFETCH_DISTANCE), right.get(index + PREFETCH_DISTANCE))
        {
            comparer.prefetch(&l.view());
            comparer.prefetch(&r.view());
        }
        if !elements.0.compare(elements.1, comparer) {
            return false;
        }
    }
    true
}

/// Returns the hash contribution of a list, given as a slice and as a view.
fn contribution_of_elements<'a, T: Field>(
    elements: &'a [T],
    list: &'a dyn List,
    hasher: &mut FieldHasher<'_, '_, 'a>,
) -> Hash128 {
    let len = elements.len();
    let Some(mut sum) = hasher.begin_list(list, len) else { return Hash128::default() };
    let backwards = hasher.backwards();
    for step in 0..len {
        let index = if backwards { len - 1 - step } else { step };
        if !backwards && let Some(ahead) = elements.get(index + PREFETCH_DISTANCE) {
            hasher.prefetch(&ahead.view());
        }
        let part = elements[index].hash_contribution(hasher);
        if hasher.halted() {
            return hasher.suspend_list_at(list, index, sum);
        }
        sum = sum.add(ChildPosition::of(index), part);
    }
    sum.finish()
}

/// Implements [`List`] and [`Field`] for an owner of a slice of fields.
macro_rules! slice_owner {
    ($owner:ty) => {
        impl<T: Field> List for $owner {
            #[inline]
            fn len(&self) -> usize {
                <[T]>::len(self)
            }

            #[inline]
            fn item(&self, index: usize) -> View<'_> {
                self.get(index).map_or(View::None, Field::view)
            }
        }

        impl<T: Field> Field for $owner {
            #[inline]
            fn compare<'a>(&'a self, other: &'a Self, comparer: &mut FieldComparer<'a>) -> bool {
                compare_elements((self, self.view()), (other, other.view()), comparer)
            }

            #[inline]
            fn hash_contribution<'a>(&'a self, hasher: &mut FieldHasher<'_, '_, 'a>) -> Hash128 {
                contribution_of_elements(self, self, hasher)
            }

            #[inline]
            fn view(&self) -> View<'_> {
                View::List(self)
            }

            fn from_value(value: Value) -> Result<Self, BuildError> {
                elements(&value).map(Into::into)
            }
        }
    };
}
slice_owner!(Vec<T>);
slice_owner!(Box<[T]>);

impl<T: Field, const N: usize> List for [T; N] {
    fn len(&self) -> usize {
        N
    }

    fn item(&self, index: usize) -> View<'_> {
        self.get(index).map_or(View::None, Field::view)
    }
}

impl<T: Field, const N: usize> Field for [T; N] {
    fn view(&self) -> View<'_> {
        View::List(self)
    }

    fn from_value(value: Value) -> Result<Self, BuildError> {
        let items: Vec<T> = elements(&value)?;
        let found = items.len();
        items
            .try_into()
            .map_err(|_| BuildError::new(format!("expected {N} elements, found {found}")))
    }
}

macro_rules! tuple_fields {
    ($n:literal: $($t:ident $i:tt),*) => {
        impl<$($t: Field),*> List for ($($t,)*) {
            fn len(&self) -> usize {
                $n
            }

            fn item(&self, index: usize) -> View<'_> {
                match index {
                    $($i => self.$i.view(),)*
                    _ => View::None,
                }
            }
        }

        impl<$($t: Field),*> Field for ($($t,)*) {
            fn view(&self) -> View<'_> {
                View::List(self)
            }

            fn from_value(value: Value) -> Result<Self, BuildError> {
                let [$($t),*] = <[Value; $n]>::from_value(value)?;
                Ok(($($t::from_value($t).map_err(|error| error.at_index($i))?,)*))
            }
        }
    };
}
#[allow(non_snake_case, reason = "type parameters double as names of elements")]
mod tuples {
    use super::*;
    tuple_fields!(1: A 0);
    tuple_fields!(2: A 0, B 1);
    tuple_fields!(3: A 0, B 1, C 2);
    tuple_fields!(4: A 0, B 1, C 2, D 3);
}

impl Field for DataType {
    #[inline]
    fn compare<'a>(&'a self, other: &'a Self, _: &mut FieldComparer<'a>) -> bool {
        self == other
    }

    fn view(&self) -> View<'_> {
        View::Str(self.short_name())
    }

    fn from_value(value: Value) -> Result<Self, BuildError> {
        let name = String::from_value(value)?;
        name.parse().map_err(|error| BuildError::new(format!("{error}")))
    }
}

/// A span as a list: file, first line and column, last line and column.
impl List for Span {
    fn len(&self) -> usize {
        if self.is_unknown() { 0 } else { 5 }
    }

    fn item(&self, index: usize) -> View<'_> {
        match index {
            0 => View::Str(self.filename()),
            1 => View::Int(self.begin_line().into()),
            2 => View::Int(self.begin_column().into()),
            3 => View::Int(self.end_line().into()),
            4 => View::Int(self.end_column().into()),
            _ => View::None,
        }
    }
}

impl Field for Span {
    fn view(&self) -> View<'_> {
        View::List(self)
    }

    fn from_value(value: Value) -> Result<Self, BuildError> {
        if items(&value)?.is_empty() {
            return Ok(Self::unknown());
        }
        let (file, [line, column, last_line, last_column]) = {
            let (file, a, b, c, d) = {
                let [file, a, b, c, d] = <[Value; 5]>::from_value(value)?;
                (String::from_value(file)?, a, b, c, d)
            };
            let number = u32::from_value;
            (file, [number(a)?, number(b)?, number(c)?, number(d)?])
        };
        Ok(Self::new(file.as_str(), line, column, last_line, last_column))
    }
}
