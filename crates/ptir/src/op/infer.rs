//! What inference sees of an instruction, and how it complains.

use std::fmt;

use sapwood_types::{DataType, counted};
use smallvec::{SmallVec, smallvec};

use super::def::OpDef;
use crate::attr::Attr;
use crate::name::Name;
use crate::types::{Dim, TensorType, ValueType};

/// Why an instruction does not fit together. Becomes a diagnostic at the instruction's place.
#[derive(Clone, PartialEq, Eq, Debug, thiserror::Error)]
#[error("{message}")]
pub struct OpError {
    /// What is wrong, with both numbers.
    pub message: String,
    /// What would be right.
    pub help: Option<String>,
}

impl OpError {
    /// A complaint.
    pub fn new(message: impl Into<String>) -> Self {
        Self { message: message.into(), help: None }
    }

    /// Says what would be right.
    #[must_use]
    pub fn with_help(mut self, help: impl Into<String>) -> Self {
        self.help = Some(help.into());
        self
    }
}

/// The types of results.
pub type Types = SmallVec<[ValueType; 1]>;

/// What inference gives.
pub type InferResult = Result<Types, OpError>;

/// The signature of a region.
#[derive(Clone, Debug, Default)]
pub struct RegionSig<'a> {
    /// Types of its parameters.
    pub params: SmallVec<[&'a ValueType; 4]>,
    /// Types of what it yields; `None` while it has no terminator.
    pub results: Option<SmallVec<[&'a ValueType; 4]>>,
}

/// What inference sees: operand types, attributes, region signatures, and the result types that were stated.
#[derive(Debug)]
pub struct InferCx<'a> {
    /// The op.
    pub def: &'a OpDef,
    /// Its attributes, defaults filled in.
    pub attrs: &'a [Attr],
    /// The types of its operands.
    pub operands: SmallVec<[&'a ValueType; 4]>,
    /// The signatures of its regions.
    pub regions: SmallVec<[RegionSig<'a>; 0]>,
    /// The result types that were stated, if any.
    pub given: SmallVec<[&'a ValueType; 2]>,
}

impl<'a> InferCx<'a> {
    /// The type of an operand.
    ///
    /// # Errors
    /// If there is no such operand.
    pub fn operand(&self, index: usize) -> Result<&'a ValueType, OpError> {
        self.operands.get(index).copied().ok_or_else(|| {
            OpError::new(format!("operand {index} is missing, there are {}", self.operands.len()))
        })
    }

    /// The type of an operand that must be a tensor.
    ///
    /// # Errors
    /// If it is a tuple or a token.
    pub fn tensor(&self, index: usize) -> Result<&'a TensorType, OpError> {
        let ty = self.operand(index)?;
        ty.as_tensor()
            .ok_or_else(|| OpError::new(format!("operand {index} is {ty}, expected a tensor")))
    }

    /// The types of all operands, which must be tensors.
    ///
    /// # Errors
    /// If one is a tuple or a token.
    pub fn tensors(&self) -> Result<SmallVec<[&'a TensorType; 4]>, OpError> {
        (0..self.operands.len()).map(|i| self.tensor(i)).collect()
    }

    /// Where the operands of a variadic group stand.
    #[must_use]
    pub fn group(&self, name: &str) -> std::ops::Range<usize> {
        self.def.group(name, self.operands.len())
    }

    /// The result is of the same type as an operand.
    ///
    /// # Errors
    /// If there is no such operand.
    pub fn same_as(&self, index: usize) -> InferResult {
        Ok(smallvec![self.operand(index)?.clone()])
    }

    /// An attribute by name.
    ///
    /// # Errors
    /// If there is none.
    pub fn attr(&self, name: &str) -> Result<&'a Attr, OpError> {
        let index = self.def.attrs.iter().position(|a| a.name == name);
        index
            .and_then(|i| self.attrs.get(i))
            .ok_or_else(|| OpError::new(format!("attribute `{name}` is missing")))
    }

    /// An integer attribute.
    ///
    /// # Errors
    /// If it is missing.
    pub fn int(&self, name: &str) -> Result<i64, OpError> {
        self.attr(name)?.as_int().ok_or_else(|| self.wrong(name, "an integer"))
    }

    /// A bool attribute.
    ///
    /// # Errors
    /// If it is missing.
    pub fn bool(&self, name: &str) -> Result<bool, OpError> {
        match self.attr(name)? {
            Attr::Bool(b) => Ok(*b),
            _ => Err(self.wrong(name, "a bool")),
        }
    }

    /// A list of integers.
    ///
    /// # Errors
    /// If it is missing.
    pub fn ints(&self, name: &str) -> Result<&'a [i64], OpError> {
        self.attr(name)?.as_ints().ok_or_else(|| self.wrong(name, "a list of integers"))
    }

    /// A list of integers, or `default` copies of one number when the attribute is left out.
    ///
    /// # Errors
    /// If it has another length.
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
            _ => Err(self.wrong(name, "a list of integers")),
        }
    }

    /// Pairs of integers, or zeros when the attribute is left out.
    ///
    /// # Errors
    /// If it has another length.
    pub fn pairs_or_zero(&self, name: &str, len: usize) -> Result<Vec<[i64; 2]>, OpError> {
        let rows = match self.attr(name)? {
            Attr::Unit => return Ok(vec![[0, 0]; len]),
            Attr::Ints(list) if list.is_empty() => &[][..],
            Attr::List(rows) => rows,
            _ => return Err(self.wrong(name, "a list of pairs")),
        };
        if rows.len() != len {
            let found = counted(rows.len(), "pair");
            return Err(OpError::new(format!("`{name}` has {found}, expected {len}")));
        }
        let pair = |r: &Attr| r.as_ints().and_then(|r| <[i64; 2]>::try_from(r).ok());
        rows.iter()
            .map(pair)
            .collect::<Option<_>>()
            .ok_or_else(|| self.wrong(name, "a list of pairs"))
    }

    /// A word.
    ///
    /// # Errors
    /// If it is missing.
    pub fn word(&self, name: &str) -> Result<&'static str, OpError> {
        self.attr(name)?.as_word().ok_or_else(|| self.wrong(name, "a word"))
    }

    /// A function.
    ///
    /// # Errors
    /// If it is missing.
    pub fn func(&self, name: &str) -> Result<Name, OpError> {
        match self.attr(name)? {
            Attr::Func(f) => Ok(*f),
            _ => Err(self.wrong(name, "a function")),
        }
    }

    /// An element type, if it is given.
    ///
    /// # Errors
    /// If it is something else.
    pub fn dtype(&self, name: &str) -> Result<Option<DataType>, OpError> {
        match self.attr(name)? {
            Attr::Type(t) => Ok(Some(*t)),
            Attr::Unit => Ok(None),
            _ => Err(self.wrong(name, "an element type")),
        }
    }

    fn wrong(&self, name: &str, expected: &str) -> OpError {
        OpError::new(format!("attribute `{name}` must be {expected}"))
    }

    /// The stated type of the only result.
    ///
    /// # Errors
    /// If none was stated.
    pub fn stated(&self) -> Result<&'a ValueType, OpError> {
        match &self.given[..] {
            [ty] => Ok(ty),
            given => {
                Err(OpError::new(format!("one result type must be stated, found {}", given.len())))
            }
        }
    }

    /// The stated type of the only result, which must be a tensor.
    ///
    /// # Errors
    /// If none was stated or it is not a tensor.
    pub fn stated_tensor(&self) -> Result<&'a TensorType, OpError> {
        let ty = self.stated()?;
        ty.as_tensor()
            .ok_or_else(|| OpError::new(format!("the result is stated as {ty}, expected a tensor")))
    }

    /// An integer attribute that must be an axis of a tensor of this rank.
    ///
    /// # Errors
    /// If it is out of range.
    pub fn axis(&self, name: &str, rank: usize) -> Result<usize, OpError> {
        check_axis(name, self.int(name)?, rank)
    }

    /// A list of different axes of a tensor of this rank.
    ///
    /// # Errors
    /// If one is out of range or stands twice.
    pub fn axes(&self, name: &str, rank: usize) -> Result<SmallVec<[usize; 4]>, OpError> {
        let list = self.ints(name)?;
        let mut axes = SmallVec::new();
        let mut seen: SmallVec<[bool; 8]> = SmallVec::from_elem(false, rank);
        for &axis in list {
            let axis = check_axis(name, axis, rank)?;
            if std::mem::replace(&mut seen[axis], true) {
                return Err(OpError::new(format!("axis {axis} stands twice in `{name}` {list:?}")));
            }
            axes.push(axis);
        }
        Ok(axes)
    }

    /// The signature of a region.
    ///
    /// # Errors
    /// If there is no such region.
    pub fn region(&self, index: usize) -> Result<&RegionSig<'a>, OpError> {
        self.regions.get(index).ok_or_else(|| {
            OpError::new(format!("region {index} is missing, there are {}", self.regions.len()))
        })
    }

    /// Checks that a region takes these parameters and gives its results.
    ///
    /// # Errors
    /// If the parameters differ or there is no terminator.
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

    /// Checks what a region yields.
    ///
    /// # Errors
    /// If number or types differ.
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

/// Checks an axis against a rank.
///
/// # Errors
/// If it is out of range.
pub fn check_axis(name: &str, axis: i64, rank: usize) -> Result<usize, OpError> {
    usize::try_from(axis)
        .ok()
        .filter(|&a| a < rank)
        .ok_or_else(|| OpError::new(format!("`{name}` is {axis}, out of range for rank {rank}")))
}

/// The dim of two operands that must be the same number.
///
/// # Errors
/// If they clash.
pub fn meet(what: impl fmt::Display, a: Dim, b: Dim) -> Result<Dim, OpError> {
    a.meet(b).ok_or_else(|| OpError::new(format!("{what} is {a} on one side and {b} on the other")))
}
