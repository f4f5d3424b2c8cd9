//! What a row has at hand when an op is read.

use std::sync::LazyLock;

use sapwood_ptir::{
    Attr, BodyId, FunctionWriter, InstId, Op, OpKey, OpParts, TensorLiteral, TensorType, ValueId,
    ValueType,
};
use sapwood_types::{Span, counted};
use smallvec::SmallVec;

use super::{by_name, unknown};
use crate::raw::RawOp;
use crate::read::refine;
use crate::types;

/// The key of no op.
static EMPTY: LazyLock<OpKey> = LazyLock::new(|| OpKey::of(""));

/// The values that an op of StableHLO became.
pub(crate) type Made = SmallVec<[ValueId; 2]>;

/// An op that is read, and the function it goes to.
pub(crate) struct Convert<'r, 'a> {
    pub(crate) writer: &'r mut FunctionWriter,
    pub(crate) body: BodyId,
    pub(crate) op: &'r mut RawOp<'a>,
    pub(crate) span: Span,
    /// The op of PTIR of its row.
    pub(crate) key: OpKey,
    /// Whether what was made depends on more than the text and the types of operands.
    pub(crate) looked: bool,
    /// Names of attributes that were asked for.
    pub(crate) asked: SmallVec<[&'static str; 8]>,
    pub(crate) symbol_asked: bool,
    pub(crate) regions_asked: bool,
    /// An attribute that is given twice: how it is written.
    pub(crate) twice: Option<[&'a str; 2]>,
    /// What a problem is about, if not about all of it.
    pub(crate) place: Option<&'a str>,
    /// Calls that were made.
    calls: &'r mut Vec<InstId>,
}

impl<'r, 'a> Convert<'r, 'a> {
    pub(crate) fn new(
        writer: &'r mut FunctionWriter,
        body: BodyId,
        op: &'r mut RawOp<'a>,
        span: Span,
        calls: &'r mut Vec<InstId>,
    ) -> Self {
        Self {
            writer,
            body,
            op,
            span,
            key: *EMPTY,
            looked: false,
            asked: SmallVec::new(),
            symbol_asked: false,
            regions_asked: false,
            twice: None,
            place: None,
            calls,
        }
    }

    /// Makes the op.
    pub(crate) fn run(&mut self) -> Result<Made, String> {
        let made = match by_name(&self.op.name) {
            Some((row, key)) => {
                self.key = key;
                (row.read)(self)?
            }
            None => unknown::read(self)?,
        };
        self.all_asked()?;
        Ok(made)
    }

    /// Every attribute is understood, or kept by the op itself.
    pub(crate) fn use_all(&mut self) {
        self.op.attrs.iter_mut().for_each(|entry| entry.used = true);
    }

    /// The results have the types that are stated, or may have them.
    pub(crate) fn check_results(&mut self, made: Made) -> Result<Made, String> {
        let stated = std::mem::take(&mut self.op.result_types);
        if stated.is_empty() && !self.op.typed {
            return Ok(made);
        }
        if stated.len() != made.len() {
            let (results, types) = (counted(made.len(), "result"), counted(stated.len(), "type"));
            return Err(format!("it has {results}, but {types}"));
        }
        let mut made = made;
        for (value, stated) in made.iter_mut().zip(&stated) {
            let ty = self.writer.function().value_type(*value);
            if ty == stated {
                continue;
            }
            if !ty.compatible(stated) {
                return Err(format!(
                    "the result is {}, but {} is declared",
                    types::text(ty),
                    types::text(stated)
                ));
            }
            let open = |t: &ValueType| t.as_tensor().is_some_and(|t| t.known_shape().is_none());
            if open(ty) && !open(stated) {
                *value = self.emit(&refine(*value, stated))?[0];
            }
        }
        Ok(made)
    }

    /// Sees operands with the types that are stated for them.
    pub(crate) fn as_stated(&mut self) -> Result<(), String> {
        let stated = self.op.operand_types.take().unwrap_or_default();
        for (i, ty) in stated.iter().enumerate() {
            if let Some(&value) = self.op.operands.get(i)
                && self.writer.function().value_type(value) != ty
                && let Some(&seen) = self.emit(&refine(value, ty))?.first()
            {
                self.op.operands[i] = seen;
            }
        }
        Ok(())
    }

    /// Appends an instruction; its results.
    pub(crate) fn emit(&mut self, parts: &OpParts) -> Result<Made, String> {
        let inst = self.writer.append(self.body, parts, self.span).map_err(|e| e.to_string())?;
        if self.writer.function().is::<sapwood_ptir::ops::Call>(inst) {
            self.calls.push(inst);
        }
        Ok(self.writer.function().inst_results(inst).collect())
    }

    /// Appends an instruction with one result.
    pub(crate) fn make(&mut self, op: impl Op) -> Result<ValueId, String> {
        self.emit(&op.into_parts())?.first().copied().ok_or_else(|| "it has no result".into())
    }

    /// Appends an instruction with one result, which is all there is.
    pub(crate) fn one(&mut self, op: impl Op) -> Result<Made, String> {
        self.emit(&op.into_parts())
    }

    /// Appends an op without attributes.
    pub(crate) fn plain(&mut self, name: &str, operands: &[ValueId]) -> Result<ValueId, String> {
        let mut parts = OpParts::new(OpKey::of(name));
        parts.operands = SmallVec::from_slice(operands);
        self.emit(&parts)?.first().copied().ok_or_else(|| "it has no result".into())
    }

    /// The op of the row with the operands as they are, these attributes and types.
    pub(crate) fn same(&mut self, attrs: &[Attr], given: Vec<ValueType>) -> Result<Made, String> {
        self.regions_asked = true;
        let mut parts = OpParts::new(self.key);
        parts.operands = self.op.operands.clone();
        parts.regions = self.op.regions.clone();
        parts.attrs = SmallVec::from(attrs);
        parts.declared_types = given;
        self.emit(&parts)
    }

    /// A scalar constant.
    pub(crate) fn number(
        &mut self,
        dtype: sapwood_types::DataType,
        x: f64,
    ) -> Result<ValueId, String> {
        let literal = TensorLiteral::filled(dtype, &[], x).map_err(|e| e.to_string())?;
        self.make(sapwood_ptir::ops::Constant { value: literal })
    }

    /// The operand with this number.
    pub(crate) fn operand(&self, i: usize) -> Result<ValueId, String> {
        let count = counted(self.op.operands.len(), "operand");
        self.op
            .operands
            .get(i)
            .copied()
            .ok_or_else(|| format!("it has {count}, expected at least {}", i + 1))
    }

    /// The operands, of which there are so many.
    pub(crate) fn operands<const N: usize>(&self) -> Result<[ValueId; N], String> {
        let found = &self.op.operands[..];
        let (expected, count) = (counted(N, "operand"), found.len());
        found.try_into().map_err(|_| format!("expected {expected}, found {count}"))
    }

    /// The regions, of which there are so many.
    pub(crate) fn regions<const N: usize>(&mut self) -> Result<[BodyId; N], String> {
        self.regions_asked = true;
        let found = &self.op.regions[..];
        let (expected, count) = (counted(N, "region"), found.len());
        found.try_into().map_err(|_| format!("expected {expected}, found {count}"))
    }

    /// The type of a value, which is a tensor.
    pub(crate) fn tensor(&self, value: ValueId) -> Result<&TensorType, String> {
        let ty = self.writer.function().value_type(value);
        ty.as_tensor()
            .ok_or_else(|| format!("an operand is {}, expected a tensor", types::text(ty)))
    }

    /// The stated type of the only result.
    pub(crate) fn result(&self) -> Result<&ValueType, String> {
        self.op.result_types.last().ok_or_else(|| "the type of the result is needed".into())
    }

    /// The stated type of the only result, which is a tensor.
    pub(crate) fn result_tensor(&self) -> Result<&TensorType, String> {
        let ty = self.result()?;
        ty.as_tensor()
            .ok_or_else(|| format!("the result is {}, expected a tensor", types::text(ty)))
    }

    /// The literal of a value that is constant.
    pub(crate) fn constant_of(&mut self, value: ValueId) -> Option<&TensorLiteral> {
        self.looked = true;
        self.writer.function().constant_of(value)
    }
}
