//! The converter from a raw op to PTIR instructions, which mappings use.

use std::sync::LazyLock;

use sapwood_ptir::{
    BodyId, FunctionWriter, InstId, Op, OpKey, OpParts, TensorLiteral, TensorType, ValueId,
    ValueType,
};
use sapwood_types::{Span, counted};
use smallvec::SmallVec;

use super::unknown;
use crate::raw_op::RawOp;
use crate::read::{AttrVec, refine_parts};
use crate::types;

/// The key of an op with an empty name.
static NO_OP_KEY: LazyLock<OpKey> = LazyLock::new(|| OpKey::of(""));

/// The values that are the results of a StableHLO op.
pub(crate) type ResultValues = SmallVec<[ValueId; 2]>;

/// A raw op that is being converted, with the function its instructions are appended to.
pub(crate) struct OpConverter<'r, 'a> {
    pub(crate) writer: &'r mut FunctionWriter,
    pub(crate) body: BodyId,
    pub(crate) op: &'r mut RawOp<'a>,
    pub(crate) span: Span,
    /// The PTIR op of the mapping.
    pub(crate) key: OpKey,
    /// The names of the attributes that were looked up.
    pub(crate) queried_names: SmallVec<[&'static str; 8]>,
    pub(crate) symbol_used: bool,
    pub(crate) regions_used: bool,
    /// The texts of two attributes with the same name.
    pub(crate) duplicate: Option<[&'a str; 2]>,
    /// The part of the text that an error is about; `None` for the whole op.
    pub(crate) error_text: Option<&'a str>,
    /// The calls that were emitted.
    calls: &'r mut Vec<InstId>,
}

impl<'r, 'a> OpConverter<'r, 'a> {
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
            key: *NO_OP_KEY,
            queried_names: SmallVec::new(),
            symbol_used: false,
            regions_used: false,
            duplicate: None,
            error_text: None,
            calls,
        }
    }

    /// Converts the op.
    pub(crate) fn convert(&mut self) -> Result<ResultValues, String> {
        let made = match self.op.row {
            Some((mapping, key)) => {
                self.key = key;
                mapping.convert(self)?
            }
            None => unknown::build(self)?,
        };
        self.check_all_used()?;
        Ok(made)
    }

    /// Marks every attribute as used.
    pub(crate) fn mark_all_used(&mut self) {
        self.op.attrs.iter_mut().for_each(|entry| entry.used = true);
    }

    /// Checks the declared types of the results, and refines results whose declared types are more precise.
    pub(crate) fn check_result_types(
        &mut self,
        made: ResultValues,
    ) -> Result<ResultValues, String> {
        let declared = std::mem::take(&mut self.op.result_types);
        if declared.is_empty() && !self.op.has_function_type {
            return Ok(made);
        }
        if declared.len() != made.len() {
            let (results, types) = (counted(made.len(), "result"), counted(declared.len(), "type"));
            return Err(format!("it has {results}, but declares {types}"));
        }
        let mut made = made;
        for (value, declared) in made.iter_mut().zip(&declared) {
            let ty = self.writer.function().value_type(*value);
            if ty == declared {
                continue;
            }
            if !ty.compatible(declared) {
                return Err(format!(
                    "the result is {}, but {} is declared",
                    types::to_text(ty),
                    types::to_text(declared)
                ));
            }
            let open = |t: &ValueType| t.as_tensor().is_some_and(|t| t.known_shape().is_none());
            if open(ty) && !open(declared) {
                *value = self.emit(&refine_parts(*value, declared))?[0];
            }
        }
        Ok(made)
    }

    /// Refines operands to their declared types.
    pub(crate) fn refine_operands_to_declared(&mut self) -> Result<(), String> {
        let declared = self.op.operand_types.take().unwrap_or_default();
        for (i, ty) in declared.iter().enumerate() {
            if let Some(&value) = self.op.operands.get(i)
                && self.writer.function().value_type(value) != ty
                && let Some(&seen) = self.emit(&refine_parts(value, ty))?.first()
            {
                self.op.operands[i] = seen;
            }
        }
        Ok(())
    }

    /// Appends an instruction and returns its results.
    pub(crate) fn emit(&mut self, parts: &OpParts) -> Result<ResultValues, String> {
        let inst = self.writer.append(self.body, parts, self.span).map_err(|e| e.to_string())?;
        if self.writer.function().is::<sapwood_ptir::ops::Call>(inst) {
            self.calls.push(inst);
        }
        Ok(self.writer.function().inst_results(inst).collect())
    }

    /// Appends an instruction and returns its only result.
    pub(crate) fn emit_one(&mut self, op: impl Op) -> Result<ValueId, String> {
        self.emit(&op.into_parts())?.first().copied().ok_or_else(|| "it has no result".into())
    }

    /// Appends an op and returns its results.
    pub(crate) fn emit_op(&mut self, op: impl Op) -> Result<ResultValues, String> {
        self.emit(&op.into_parts())
    }

    /// Appends an op without attributes and returns its only result.
    pub(crate) fn emit_plain(
        &mut self,
        name: &str,
        operands: &[ValueId],
    ) -> Result<ValueId, String> {
        let mut parts = OpParts::new(OpKey::of(name));
        parts.operands = SmallVec::from_slice(operands);
        self.emit(&parts)?.first().copied().ok_or_else(|| "it has no result".into())
    }

    /// Appends the op of the mapping with the operands and regions of the raw op, these attributes and result types.
    pub(crate) fn emit_mapped(
        &mut self,
        attrs: AttrVec,
        given: Vec<ValueType>,
    ) -> Result<ResultValues, String> {
        self.regions_used = true;
        let mut parts = OpParts::new(self.key);
        parts.operands = self.op.operands.clone();
        parts.regions = self.op.regions.clone();
        parts.attrs = attrs;
        parts.result_types = given.into();
        self.emit(&parts)
    }

    /// Appends a scalar constant.
    pub(crate) fn emit_scalar(
        &mut self,
        dtype: sapwood_types::DataType,
        x: f64,
    ) -> Result<ValueId, String> {
        let literal = TensorLiteral::filled(dtype, &[], x).map_err(|e| e.to_string())?;
        self.emit_one(sapwood_ptir::ops::Constant { value: literal })
    }

    /// Returns the operand at a position.
    pub(crate) fn operand(&self, i: usize) -> Result<ValueId, String> {
        let count = counted(self.op.operands.len(), "operand");
        self.op
            .operands
            .get(i)
            .copied()
            .ok_or_else(|| format!("it has {count}, expected at least {}", i + 1))
    }

    /// Returns all operands, which must be `N`.
    pub(crate) fn operands<const N: usize>(&self) -> Result<[ValueId; N], String> {
        let found = &self.op.operands[..];
        let (expected, count) = (counted(N, "operand"), found.len());
        found.try_into().map_err(|_| format!("expected {expected}, found {count}"))
    }

    /// Returns all regions, which must be `N`.
    pub(crate) fn regions<const N: usize>(&mut self) -> Result<[BodyId; N], String> {
        self.regions_used = true;
        let found = &self.op.regions[..];
        let (expected, count) = (counted(N, "region"), found.len());
        found.try_into().map_err(|_| format!("expected {expected}, found {count}"))
    }

    /// Returns the type of a value, which must be a tensor.
    pub(crate) fn tensor_type(&self, value: ValueId) -> Result<&TensorType, String> {
        let ty = self.writer.function().value_type(value);
        ty.as_tensor()
            .ok_or_else(|| format!("an operand is {}, expected a tensor", types::to_text(ty)))
    }

    /// Returns the declared type of the only result.
    pub(crate) fn declared_result_type(&self) -> Result<&ValueType, String> {
        self.op.result_types.last().ok_or_else(|| "the type of the result is needed".into())
    }

    /// Returns the declared type of the only result, which must be a tensor.
    pub(crate) fn declared_result_tensor(&self) -> Result<&TensorType, String> {
        let ty = self.declared_result_type()?;
        ty.as_tensor()
            .ok_or_else(|| format!("the result is {}, expected a tensor", types::to_text(ty)))
    }

    /// Returns the literal of a constant value.
    pub(crate) fn constant_of(&self, value: ValueId) -> Option<&TensorLiteral> {
        self.writer.function().constant_of(value)
    }
}
