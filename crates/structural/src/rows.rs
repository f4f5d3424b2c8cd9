//! How the fields of nodes of run-time described types, rows of values, are compared and hashed.

use crate::engine::{Feed, Meet};
use crate::hasher::{Position, Sum};
use crate::kind::Role;
use crate::type_info::TypeInfo;
use crate::values::Value;

/// Takes in two rows side by side.
#[inline]
pub(crate) fn meet<'a>(
    info: &TypeInfo,
    left: &'a [Value],
    right: &'a [Value],
    meet: &mut Meet<'a>,
) -> bool {
    info.fields().iter().zip(left.iter().zip(right)).all(|(field, (left, right))| {
        match field.role {
            Role::Ignore => true,
            Role::Usual => meet_values(left, right, meet),
            Role::Def => meet.define(|meet| meet_values(left, right, meet)),
        }
    })
}

/// The same where nothing below needs care and every field counts: roles do not matter.
#[inline(always)]
pub(crate) fn meet_all<'a>(left: &'a [Value], right: &'a [Value], meet: &mut Meet<'a>) -> bool {
    left.iter().zip(right).all(|(left, right)| meet_values(left, right, meet))
}

/// Two values; what most fields hold first.
#[inline(always)]
fn meet_values<'a>(left: &'a Value, right: &'a Value, meet: &mut Meet<'a>) -> bool {
    match (left, right) {
        (Value::Node(left), Value::Node(right)) => meet.nodes(left.node(), right.node()),
        (Value::Int(left), Value::Int(right)) => left == right,
        _ => meet.values(&left.view(), &right.view()),
    }
}

/// `sum` with what a row contributes.
#[inline]
pub(crate) fn feed<'a>(
    info: &TypeInfo,
    values: &'a [Value],
    mut sum: Sum,
    feed: &mut Feed<'_, '_, 'a>,
) -> Sum {
    if feed.backwards() && info.is_whole_row() {
        return feed_all(values, sum, feed);
    }
    for step in 0..values.len() {
        let index = if feed.backwards() { values.len() - 1 - step } else { step };
        let role = info.fields()[index].role;
        if role == Role::Ignore {
            continue;
        }
        let part = match (role, &values[index]) {
            (Role::Usual, Value::Node(node)) => feed.node(node.node()),
            (role, value) => feed.field(role, &value.view()),
        };
        if feed.halted() {
            return feed.leave(index, sum);
        }
        sum = sum.add(Position::of(index), part);
    }
    sum
}

/// The same where no variable is below and every field counts: roles do not matter, and only a node
/// can halt.
#[inline]
fn feed_all<'a>(values: &'a [Value], mut sum: Sum, feed: &mut Feed<'_, '_, 'a>) -> Sum {
    for (index, value) in values.iter().enumerate().rev() {
        let part = match value {
            Value::Int(value) => feed.int(*value),
            Value::Node(node) => {
                let part = feed.node(node.node());
                if feed.halted() {
                    return feed.leave(index, sum);
                }
                part
            }
            scalar => feed.value(&scalar.view()),
        };
        sum = sum.add(Position::of(index), part);
    }
    sum
}
