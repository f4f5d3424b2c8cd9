//! The context and the errors of type inference.

use std::fmt;

use sapwood_types::{DataType, counted};
use smallvec::{SmallVec, smallvec};

use super::op_def::OpDef;
use crate::attr::Attr;
use crate::dims::DimExpr;
use crate::name::Name;
use crate::types::{Dim, TensorType, ValueType};

/// The reason why operands, attributes or regions do not fit an op. It becomes a diagnostic at the instruction.
#[derive(Clone, PartialEq, Eq, Debug, thiserror::Error)]
#[error("{message}")]
pub struct OpError {
    /// The mismatch, with the found and the expected number or type.
    pub message: String,
    /// A correction, if one is known.
    pub help: Option<String>,
}

impl OpError {
    /// Creates an error with this message.
    pub fn new(message: impl Into<String>) -> Self {
        Self { message: message.into(), help: None }
    }

    /// Returns whether the error is that an attribute of this name has the wrong kind of value. Inference reports that where it reads
    /// the attribute, so that everything that it checks before is wrong whatever the attribute is.
    #[must_use]
    pub fn is_about_kind_of(&self, attr: &str) -> bool {
        let rest = self.message.strip_prefix("attribute `").and_then(|m| m.strip_prefix(attr));
        rest.is_some_and(|rest| rest.starts_with(WRONG_KIND))
    }

    /// Adds a correction to the error.
    #[must_use]
    pub fn with_help(mut self, help: impl Into<String>) -> Self {
        self.help = Some(help.into());
        self
    }
}

// The text between the name of an attribute and the kind that it must have.
const WRONG_KIND: &str = "` must be ";

/// The inferred types of the results.
pub type InferredTypes = SmallVec<[ValueType; 1]>;

/// The outcome of inference.
pub type InferResult = Result<InferredTypes, OpError>;

/// The signature of a region.
#[derive(Clone, Debug, Default)]
pub struct RegionSignature<'a> {
    /// Types of its parameters.
    pub params: SmallVec<[&'a ValueType; 4]>,
    /// The types of the values it yields; `None` while it has no terminator.
    pub results: Option<SmallVec<[&'a ValueType; 4]>>,
}

/// The inputs of inference: operand types, attributes, region signatures, and the declared result types.
#[derive(Debug)]
pub struct InferCx<'a> {
    /// The op.
    pub def: &'a OpDef,
    /// Its attributes, defaults filled in.
    pub attrs: &'a [Attr],
    /// The types of its operands.
    pub operands: SmallVec<[&'a ValueType; 4]>,
    /// The signatures of its regions.
    pub regions: SmallVec<[RegionSignature<'a>; 0]>,
    /// The declared result types, if any.
    pub declared_types: SmallVec<[&'a ValueType; 2]>,
}

impl<'a> InferCx<'a> {
    /// Returns the type of an operand.
    ///
    /// # Errors
    /// If the operand does not exist.
    pub fn operand(&self, index: usize) -> Result<&'a ValueType, OpError> {
        self.operands.get(index).copied().ok_or_else(|| {
            let count = counted(self.operands.len(), "operand");
            OpError::new(format!("operand {index} is missing; the op has {count}"))
        })
    }

    /// Returns the type of an operand that must be a tensor.
    ///
    /// # Errors
    /// If it is a tuple or a token.
    pub fn tensor(&self, index: usize) -> Result<&'a TensorType, OpError> {
        let ty = self.operand(index)?;
        ty.as_tensor()
            .ok_or_else(|| OpError::new(format!("operand {index} is {ty}, expected a tensor")))
    }

    /// Returns the types of all operands, which must be tensors.
    ///
    /// # Errors
    /// If one is a tuple or a token.
    pub fn tensors(&self) -> Result<SmallVec<[&'a TensorType; 4]>, OpError> {
        (0..self.operands.len()).map(|i| self.tensor(i)).collect()
    }

    /// Returns the positions of the values of a variadic operand.
    #[must_use]
    pub fn operand_range(&self, name: &str) -> std::ops::Range<usize> {
        self.def.operand_range(name, self.operands.len())
    }

    /// Infers one result with the type of an operand.
    ///
    /// # Errors
    /// If the operand does not exist.
    pub fn same_as(&self, index: usize) -> InferResult {
        Ok(smallvec![self.operand(index)?.clone()])
    }

    /// Returns an attribute by name.
    ///
    /// # Errors
    /// If the op has no such attribute.
    pub fn attr(&self, name: &str) -> Result<&'a Attr, OpError> {
        let index = self.def.attrs.iter().position(|a| a.name == name);
        index
            .and_then(|i| self.attrs.get(i))
            .ok_or_else(|| OpError::new(format!("attribute `{name}` is missing")))
    }

    /// Returns an integer attribute.
    ///
    /// # Errors
    /// If the attribute is missing or not an integer.
    pub fn int(&self, name: &str) -> Result<i64, OpError> {
        self.attr(name)?.as_int().ok_or_else(|| self.wrong_kind(name, "an integer"))
    }

    /// Returns a bool attribute.
    ///
    /// # Errors
    /// If the attribute is missing or not a bool.
    pub fn bool(&self, name: &str) -> Result<bool, OpError> {
        match self.attr(name)? {
            Attr::Bool(b) => Ok(*b),
            _ => Err(self.wrong_kind(name, "a bool")),
        }
    }

    /// Returns an attribute that is a list of integers.
    ///
    /// # Errors
    /// If the attribute is missing or not a list of integers.
    pub fn ints(&self, name: &str) -> Result<&'a [i64], OpError> {
        self.attr(name)?.as_ints().ok_or_else(|| self.wrong_kind(name, "a list of integers"))
    }

    /// Returns whether an attribute has expressions over symbols.
    ///
    /// # Errors
    /// If the attribute is missing.
    #[inline]
    pub fn is_symbolic(&self, name: &str) -> Result<bool, OpError> {
        Ok(matches!(self.attr(name)?, Attr::List(_)))
    }

    /// Returns an attribute that is a list of integers and of expressions over symbols.
    ///
    /// # Errors
    /// If the attribute is missing or something else.
    pub fn dim_exprs(&self, name: &str) -> Result<SmallVec<[DimExpr; 4]>, OpError> {
        let list = self.attr(name)?.as_dim_exprs();
        list.ok_or_else(|| self.wrong_kind(name, "a list of integers or expressions over symbols"))
    }

    /// Returns an attribute that is a list of `len` integers, or `len` copies of `default` if it is omitted.
    ///
    /// # Errors
    /// If the list has another length.
    pub fn ints_or(
        &self,
        name: &str,
        default: i64,
        len: usize,
    ) -> Result<SmallVec<[i64; 4]>, OpError> {
        match self.attr(name)? {
            Attr::Unit => Ok(SmallVec::from_elem(default, len)),
            Attr::Ints(list) if list.len() == len => Ok(list.clone()),
            Attr::Ints(list) => {
                let found = counted(list.len(), "entry");
                Err(OpError::new(format!("`{name}` has {found}, expected {len}")))
            }
            _ => Err(self.wrong_kind(name, "a list of integers")),
        }
    }

    /// Returns an attribute that is a list of pairs of integers, or zeros if it is omitted.
    ///
    /// # Errors
    /// If the list has another length.
    pub fn pairs_or_zero(&self, name: &str, len: usize) -> Result<Vec<[i64; 2]>, OpError> {
        let rows = match self.attr(name)? {
            Attr::Unit => return Ok(vec![[0, 0]; len]),
            Attr::Ints(list) if list.is_empty() => &[][..],
            Attr::List(rows) => rows,
            _ => return Err(self.wrong_kind(name, "a list of pairs")),
        };
        if rows.len() != len {
            let found = counted(rows.len(), "pair");
            return Err(OpError::new(format!("`{name}` has {found}, expected {len}")));
        }
        let pair = |r: &Attr| r.as_ints().and_then(|r| <[i64; 2]>::try_from(r).ok());
        rows.iter()
            .map(pair)
            .collect::<Option<_>>()
            .ok_or_else(|| self.wrong_kind(name, "a list of pairs"))
    }

    /// Returns an attribute that is a word.
    ///
    /// # Errors
    /// If the attribute is missing or not a word.
    pub fn word(&self, name: &str) -> Result<&'static str, OpError> {
        self.attr(name)?.as_word().ok_or_else(|| self.wrong_kind(name, "a word"))
    }

    /// Returns an attribute that is a function.
    ///
    /// # Errors
    /// If the attribute is missing or not a function.
    pub fn func(&self, name: &str) -> Result<Name, OpError> {
        match self.attr(name)? {
            Attr::Func(f) => Ok(*f),
            _ => Err(self.wrong_kind(name, "a function")),
        }
    }

    /// Returns an attribute that is an element type, or `None` if it is omitted.
    ///
    /// # Errors
    /// If the attribute is something else.
    pub fn dtype(&self, name: &str) -> Result<Option<DataType>, OpError> {
        match self.attr(name)? {
            Attr::Type(t) => Ok(Some(*t)),
            Attr::Unit => Ok(None),
            _ => Err(self.wrong_kind(name, "an element type")),
        }
    }

    fn wrong_kind(&self, name: &str, expected: &str) -> OpError {
        OpError::new(format!("attribute `{name}{WRONG_KIND}{expected}"))
    }

    /// Returns the declared type of the only result.
    ///
    /// # Errors
    /// If there is not exactly one declared type.
    pub fn declared_type(&self) -> Result<&'a ValueType, OpError> {
        match &self.declared_types[..] {
            [ty] => Ok(ty),
            declared_types => Err(OpError::new(format!(
                "expected one declared result type, found {}",
                declared_types.len()
            ))),
        }
    }

    /// Returns the declared type of the only result, which must be a tensor.
    ///
    /// # Errors
    /// If there is not exactly one declared type, or it is not a tensor.
    pub fn declared_tensor_type(&self) -> Result<&'a TensorType, OpError> {
        let ty = self.declared_type()?;
        ty.as_tensor().ok_or_else(|| {
            OpError::new(format!("the declared result type is {ty}, expected a tensor"))
        })
    }

    /// Returns an integer attribute that must be an axis of a tensor of this rank.
    ///
    /// # Errors
    /// If the axis is out of range.
    pub fn axis(&self, name: &str, rank: usize) -> Result<usize, OpError> {
        check_axis(name, self.int(name)?, rank)
    }

    /// Returns an attribute that is a list of distinct axes of a tensor of this rank.
    ///
    /// # Errors
    /// If an axis is out of range or repeated.
    pub fn axes(&self, name: &str, rank: usize) -> Result<SmallVec<[usize; 4]>, OpError> {
        let list = self.ints(name)?;
        let mut axes = SmallVec::new();
        let mut seen: SmallVec<[bool; 8]> = SmallVec::from_elem(false, rank);
        for &axis in list {
            let axis = check_axis(name, axis, rank)?;
            if std::mem::replace(&mut seen[axis], true) {
                return Err(OpError::new(format!("axis {axis} is repeated in `{name}` {list:?}")));
            }
            axes.push(axis);
        }
        Ok(axes)
    }

    /// Returns the signature of a region.
    ///
    /// # Errors
    /// If the region does not exist.
    pub fn region(&self, index: usize) -> Result<&RegionSignature<'a>, OpError> {
        self.regions.get(index).ok_or_else(|| {
            let count = counted(self.regions.len(), "region");
            OpError::new(format!("region {index} is missing; the op has {count}"))
        })
    }

    /// Checks the parameter types of a region and returns the types that it yields.
    ///
    /// # Errors
    /// If the parameters differ or the region has no terminator.
    pub fn check_region(
        &self,
        index: usize,
        params: &[ValueType],
    ) -> Result<&SmallVec<[&'a ValueType; 4]>, OpError> {
        let name = self.region_name(index);
        let sig = self.region(index)?;
        if sig.params.len() != params.len() {
            return Err(OpError::new(format!(
                "region `{name}` has {}, expected {}",
                counted(sig.params.len(), "parameter"),
                params.len()
            )));
        }
        for (i, (found, expected)) in sig.params.iter().zip(params).enumerate() {
            if !found.compatible(expected) {
                return Err(OpError::new(format!(
                    "parameter {i} of region `{name}` is {found}, expected {expected}"
                )));
            }
        }
        sig.results.as_ref().ok_or_else(|| OpError::new(format!("region `{name}` has no `yield`")))
    }

    /// Checks the types that a region yields.
    ///
    /// # Errors
    /// If their number or types differ.
    pub fn check_yield(
        &self,
        index: usize,
        found: &[&ValueType],
        expected: &[ValueType],
    ) -> Result<(), OpError> {
        let name = self.region_name(index);
        if found.len() != expected.len() {
            return Err(OpError::new(format!(
                "region `{name}` yields {}, expected {}",
                counted(found.len(), "value"),
                expected.len()
            )));
        }
        for (i, (found, expected)) in found.iter().zip(expected).enumerate() {
            if !found.compatible(expected) {
                return Err(OpError::new(format!(
                    "region `{name}` yields {found} at position {i}, expected {expected}"
                )));
            }
        }
        Ok(())
    }

    fn region_name(&self, index: usize) -> &'static str {
        self.def.regions.get(index).or(self.def.regions.last()).map_or("region", |r| r.name)
    }
}

/// Checks that an axis is within a rank.
///
/// # Errors
/// If the axis is out of range.
pub fn check_axis(name: &str, axis: i64, rank: usize) -> Result<usize, OpError> {
    usize::try_from(axis)
        .ok()
        .filter(|&a| a < rank)
        .ok_or_else(|| OpError::new(format!("`{name}` is {axis}, out of range for rank {rank}")))
}

/// Returns the more specific of two dims that must be equal.
///
/// # Errors
/// If they are different known numbers.
pub fn unify_dims(what: impl fmt::Display, a: Dim, b: Dim) -> Result<Dim, OpError> {
    a.unify(b)
        .ok_or_else(|| OpError::new(format!("{what} is {a} on one side and {b} on the other")))
}
