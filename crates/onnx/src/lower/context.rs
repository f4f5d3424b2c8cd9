//! The view of a node that decompositions have: inputs by position, attributes by name, known contents.

use sapwood_ptir::dims::DimExpr;
use sapwood_ptir::eval::{DataType, bf16, f16};
use sapwood_ptir::{Attr, Dim, TensorLiteral};

use super::builder::{Builder, V};
use super::{Known, NodeView};
use crate::dialect::{self, SINCE};
use crate::ops;

/// A node whose meaning is being built.
pub(crate) struct Cx<'b> {
    pub(crate) b: &'b Builder,
    pub(crate) view: &'b NodeView<'b>,
    inputs: Vec<Option<(usize, V<'b>)>>,
    known: &'b dyn Fn(usize) -> Known,
}

impl<'b> Cx<'b> {
    pub(crate) fn new(
        b: &'b Builder,
        view: &'b NodeView<'b>,
        operands: &[V<'b>],
        known: &'b dyn Fn(usize) -> Known,
    ) -> Self {
        let mut inputs = Vec::new();
        let mut next = operands.iter().copied().enumerate();
        for position in 0..operands.len() + view.absent.len() {
            let absent = view.absent.contains(&(position as i64));
            inputs.push(if absent { None } else { next.next() });
        }
        Self { b, view, inputs, known }
    }

    pub(crate) fn fail(&self, why: impl Into<String>) -> V<'b> {
        self.b.fail(why)
    }

    /// Returns an input that must be given.
    pub(crate) fn x(&self, i: usize) -> V<'b> {
        self.opt(i).unwrap_or_else(|| self.fail(format!("input {i} is missing")))
    }

    pub(crate) fn opt(&self, i: usize) -> Option<V<'b>> {
        self.inputs.get(i).copied().flatten().map(|(_, v)| v)
    }

    /// Returns all inputs that are given.
    pub(crate) fn all(&self) -> Vec<V<'b>> {
        self.inputs.iter().flatten().map(|(_, v)| *v).collect()
    }

    /// Returns how many results the node has.
    pub(crate) fn outputs(&self) -> usize {
        self.view.outputs
    }

    /// Returns the first version of the form of the op.
    pub(crate) fn since(&self) -> i64 {
        match self.attr(SINCE) {
            Some(Attr::Int(since)) => *since,
            _ => dialect::domain_and_type(self.view.def.name)
                .and_then(|(domain, name)| ops::schemas(domain, name).last())
                .map_or(0, |form| form.versions[0]),
        }
    }

    pub(crate) fn attr(&self, name: &str) -> Option<&'b Attr> {
        let index = self.view.def.attrs.iter().position(|row| row.name == name)?;
        self.view.attrs.get(index).filter(|attr| **attr != Attr::Unit)
    }

    pub(crate) fn int(&self, name: &str, default: i64) -> i64 {
        self.attr(name).and_then(Attr::as_int).map_or(default, |n| self.bounded(n))
    }

    /// Returns a number of an attribute or an input, or fails if it is too large for an extent, a step or a pad, so that sums and products of
    /// two such numbers do not overflow. The bounds of `Slice` may be any numbers.
    fn bounded(&self, n: i64) -> i64 {
        const MAX_NUMBER: u64 = 1 << 31;
        if n.unsigned_abs() > MAX_NUMBER && self.view.def.name != "onnx.Slice" {
            self.fail(format!("the number {n} is too large"));
            return 1;
        }
        n
    }

    /// Returns the product of extents, or fails if it is too large.
    pub(crate) fn product(&self, extents: &[i64]) -> i64 {
        const MAX_PRODUCT: i64 = 1 << 48;
        let product = extents.iter().try_fold(1i64, |n, &d| n.checked_mul(d));
        product.filter(|n| (0..=MAX_PRODUCT).contains(n)).unwrap_or_else(|| {
            self.fail("the extents are negative or too large");
            1
        })
    }

    pub(crate) fn flag(&self, name: &str, default: bool) -> bool {
        self.int(name, i64::from(default)) != 0
    }

    pub(crate) fn float(&self, name: &str, default: f64) -> f64 {
        // Defaults of ONNX are single-precision numbers.
        self.attr(name).and_then(Attr::as_float).unwrap_or(f64::from(default as f32))
    }

    pub(crate) fn ints(&self, name: &str) -> Option<Vec<i64>> {
        Some(self.attr(name)?.as_ints()?.iter().map(|&n| self.bounded(n)).collect())
    }

    pub(crate) fn ints_or(&self, name: &str, default: i64, len: usize) -> Vec<i64> {
        self.ints(name).unwrap_or_else(|| vec![default; len])
    }

    pub(crate) fn text(&self, name: &str, default: &'b str) -> &'b str {
        match self.attr(name) {
            Some(Attr::Str(text)) => text,
            _ => default,
        }
    }

    pub(crate) fn texts(&self, name: &str) -> Option<Vec<&'b str>> {
        match self.attr(name)? {
            Attr::List(items) => items
                .iter()
                .map(|item| match item {
                    Attr::Str(text) => Some(&**text),
                    _ => None,
                })
                .collect(),
            _ => None,
        }
    }

    pub(crate) fn floats(&self, name: &str) -> Option<Vec<f64>> {
        match self.attr(name)? {
            Attr::List(items) => items.iter().map(Attr::as_float).collect(),
            _ => None,
        }
    }

    pub(crate) fn literal(&self, name: &str) -> Option<&'b TensorLiteral> {
        self.attr(name)?.as_literal()
    }

    /// Returns an attribute with the code of an element type.
    pub(crate) fn dtype(&self, name: &str, default: DataType) -> DataType {
        match self.attr(name).and_then(Attr::as_int) {
            None | Some(0) => default,
            Some(code) => dialect::data_type(code).unwrap_or_else(|| {
                self.fail(format!("element type {code} is not supported"));
                default
            }),
        }
    }

    /// Returns an axis attribute, counted from the end if it is negative.
    pub(crate) fn axis(&self, name: &str, default: i64, rank: usize) -> usize {
        self.wrap_axis(self.int(name, default), rank)
    }

    pub(crate) fn wrap_axis(&self, axis: i64, rank: usize) -> usize {
        let wrapped = if axis < 0 { axis + rank as i64 } else { axis };
        match usize::try_from(wrapped) {
            Ok(axis) if axis < rank => axis,
            _ => {
                self.fail(format!("axis {axis} is out of range for rank {rank}"));
                0
            }
        }
    }

    /// Returns the known contents of an input.
    pub(crate) fn known(&self, i: usize) -> Option<Known> {
        let (operand, _) = self.inputs.get(i).copied().flatten()?;
        Some((self.known)(operand))
    }

    /// Returns an input as numbers, each known or an expression.
    pub(crate) fn numbers(&self, i: usize) -> Option<Vec<Option<DimExpr>>> {
        let known = self.known(i)?;
        match (known.literal, known.numbers) {
            (Some(literal), _) => {
                Some(ints_of(&literal)?.into_iter().map(DimExpr::constant).collect())
            }
            (None, numbers) => numbers.map(|numbers| numbers.to_vec()),
        }
    }

    /// Returns an input as integers, or fails.
    pub(crate) fn const_ints(&self, i: usize) -> Vec<i64> {
        let numbers = self.numbers(i);
        let all = numbers.and_then(|list| list.into_iter().map(|n| n?.as_constant()).collect());
        let Some(all): Option<Vec<i64>> = all else {
            self.fail(format!("the contents of input {i} are not known"));
            return Vec::new();
        };
        all.into_iter().map(|n| self.bounded(n)).collect()
    }

    /// Returns the integers of an attribute, or of an input in newer versions; `None` if neither is given.
    pub(crate) fn ints_of(&self, name: &str, input: usize) -> Option<Vec<i64>> {
        match self.ints(name) {
            Some(list) => Some(list),
            None => self.opt(input).map(|_| self.const_ints(input)),
        }
    }

    /// Returns an input as dims; `Unknown` where nothing is known. `None` if not even their number is known.
    pub(crate) fn dims(&self, i: usize) -> Option<Vec<Dim>> {
        if let Some(numbers) = self.numbers(i) {
            return Some(
                numbers.into_iter().map(|n| n.map_or(Dim::Unknown, Dim::from_expr)).collect(),
            );
        }
        let count = self.opt(i)?.dim(0).known()?;
        (count <= 64).then(|| vec![Dim::Unknown; count as usize])
    }

    /// Returns the only number of an input, or fails.
    pub(crate) fn const_number(&self, i: usize) -> f64 {
        let literal = self.known(i).and_then(|known| known.literal);
        let number = literal.and_then(|literal| floats_of(&literal)?.first().copied());
        number.unwrap_or_else(|| {
            self.fail(format!("the contents of input {i} are not known"));
            0.0
        })
    }
}

/// Returns the elements of an integer or bool literal with few elements.
pub(crate) fn ints_of(literal: &TensorLiteral) -> Option<Vec<i64>> {
    const MAX_NUMBERS: u64 = 1 << 20;
    let dtype = literal.dtype();
    if !(dtype.is_integer() || dtype.is_bool()) || literal.num_elements() > MAX_NUMBERS {
        return None;
    }
    let signed = dtype.integer_range().is_some_and(|(low, _)| low < 0);
    let number = |bytes: &[u8]| {
        let fill = if signed && bytes.last().is_some_and(|b| b & 0x80 != 0) { 0xff } else { 0 };
        let mut wide = [fill; 8];
        wide[..bytes.len()].copy_from_slice(bytes);
        i64::from_le_bytes(wide)
    };
    (0..literal.num_elements()).map(|i| literal.element(i).map(number)).collect()
}

/// Returns the elements of a literal of numbers with few elements.
pub(crate) fn floats_of(literal: &TensorLiteral) -> Option<Vec<f64>> {
    let read: fn(&[u8]) -> Option<f64> = match literal.dtype() {
        DataType::F64 => |b| Some(f64::from_le_bytes(b.try_into().ok()?)),
        DataType::F32 => |b| Some(f64::from(f32::from_le_bytes(b.try_into().ok()?))),
        DataType::F16 => |b| Some(f64::from(f16::from_le_bytes(b.try_into().ok()?))),
        DataType::Bf16 => |b| Some(f64::from(bf16::from_le_bytes(b.try_into().ok()?))),
        _ => return Some(ints_of(literal)?.into_iter().map(|n| n as f64).collect()),
    };
    if literal.num_elements() > 1 << 20 {
        return None;
    }
    (0..literal.num_elements()).map(|i| read(literal.element(i)?)).collect()
}
