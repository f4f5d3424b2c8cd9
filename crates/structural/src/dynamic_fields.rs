//! Comparison and hashing of the fields of dynamic nodes: nodes of types described at run time, whose payload
//! is a row of values.

use crate::engine::{FieldComparer, FieldHasher};
use crate::hasher::{ChildPosition, HashSum};
use crate::kind::FieldRole;
use crate::type_info::TypeInfo;
use crate::values::Value;

/// Compares two rows of values, field by field.
#[inline]
pub(crate) fn compare<'a>(
    info: &TypeInfo,
    left: &'a [Value],
    right: &'a [Value],
    comparer: &mut FieldComparer<'a>,
) -> bool {
    info.fields().iter().zip(left.iter().zip(right)).all(|(field, (left, right))| {
        match field.role {
            FieldRole::Ignore => true,
            FieldRole::Usual => compare_values(left, right, comparer),
            FieldRole::Def => {
                comparer.with_def_region(|comparer| compare_values(left, right, comparer))
            }
        }
    })
}

/// Compares two rows of pure trees of a type without ignored fields, where roles do not matter.
#[inline(always)]
pub(crate) fn compare_all<'a>(
    left: &'a [Value],
    right: &'a [Value],
    comparer: &mut FieldComparer<'a>,
) -> bool {
    left.iter().zip(right).all(|(left, right)| compare_values(left, right, comparer))
}

/// Compares two values; the most frequent cases first.
#[inline(always)]
fn compare_values<'a>(left: &'a Value, right: &'a Value, comparer: &mut FieldComparer<'a>) -> bool {
    match (left, right) {
        (Value::Node(left), Value::Node(right)) => {
            comparer.compare_nodes(left.node(), right.node())
        }
        (Value::Int(left), Value::Int(right)) => left == right,
        _ => comparer.compare_values(&left.view(), &right.view()),
    }
}

/// Adds the contributions of a row of values to `sum`.
#[inline]
pub(crate) fn hash<'a>(
    info: &TypeInfo,
    values: &'a [Value],
    mut sum: HashSum,
    hasher: &mut FieldHasher<'_, '_, 'a>,
) -> HashSum {
    if hasher.backwards() && info.compares_all_dynamic_fields() {
        return hash_all(values, sum, hasher);
    }
    for step in 0..values.len() {
        let index = if hasher.backwards() { values.len() - 1 - step } else { step };
        let role = info.fields()[index].role;
        if role == FieldRole::Ignore {
            continue;
        }
        let part = match (role, &values[index]) {
            (FieldRole::Usual, Value::Node(node)) => hasher.hash_node(node.node()),
            (role, value) => hasher.hash_field(role, &value.view()),
        };
        if hasher.halted() {
            return hasher.suspend_at(index, sum);
        }
        sum = sum.add(ChildPosition::of(index), part);
    }
    sum
}

/// Adds the contributions of a row without variables, of a type without ignored fields: roles do not matter,
/// and only a node can halt.
#[inline]
fn hash_all<'a>(
    values: &'a [Value],
    mut sum: HashSum,
    hasher: &mut FieldHasher<'_, '_, 'a>,
) -> HashSum {
    for (index, value) in values.iter().enumerate().rev() {
        let part = match value {
            Value::Int(value) => hasher.hash_int(*value),
            Value::Node(node) => {
                let part = hasher.hash_node(node.node());
                if hasher.halted() {
                    return hasher.suspend_at(index, sum);
                }
                part
            }
            scalar => hasher.hash_value(&scalar.view()),
        };
        sum = sum.add(ChildPosition::of(index), part);
    }
    sum
}
