//! Checks that a version of the operator set has the element types, the broadcasts, the words and the negative axes of a node.

use std::ops::Range;

use sapwood_ptir::{InstId, ValueId};

use super::convert::has_word;
use super::graph::GraphWriter;
use crate::lower::ints_of;
use crate::ops::{self, input_types};
use crate::{AttributeValue, Node, Text};

/// Ops whose operands had the same shape before a version.
const BROADCAST_SINCE: &[(&str, i64)] = &[("Max", 8), ("Mean", 8), ("Min", 8), ("Sum", 8)];

/// Ops whose operands had the same element type before a version.
const MIXED_TYPES_SINCE: &[(&str, i64)] = &[("Pow", 12)];

/// Ops that work on other values than tensors of numbers, such as strings and sequences, since a version.
const OTHER_VALUES_SINCE: &[(&str, i64)] = &[("Equal", 19), ("Identity", 14)];

/// Words that an attribute has only in some operator sets: op, attribute, word, and these sets.
const WORDS: &[(&str, &str, &str, Range<i64>)] = &[
    ("Pad", "mode", "wrap", 19..i64::MAX),
    ("Resize", "coordinate_transformation_mode", "half_pixel_symmetric", 19..i64::MAX),
    ("Resize", "coordinate_transformation_mode", "tf_half_pixel_for_nn", 11..13),
    ("ScatterElements", "reduction", "max", 18..i64::MAX),
    ("ScatterElements", "reduction", "min", 18..i64::MAX),
    ("ScatterND", "reduction", "max", 18..i64::MAX),
    ("ScatterND", "reduction", "min", 18..i64::MAX),
];

/// The version from which axes and indices may count from the end, for most ops.
const NEGATIVE_SINCE: i64 = 11;

/// Ops whose axes could count from the end before.
const NEGATIVE_BEFORE: &[&str] = &["LpNormalization", "OneHot", "Scan", "Scatter", "TopK"];

fn crosses(table: &[(&str, i64)], op: &str, opset: i64) -> Option<i64> {
    table.iter().find(|(name, since)| *name == op && opset < *since).map(|(_, since)| *since)
}

impl GraphWriter<'_> {
    /// Adapts a node of an instruction to the version of ai.onnx that is written, or returns the reason why that version does not have it.
    /// Nodes of a model that keeps its version stay as they are.
    pub(super) fn fit_version(&self, inst: InstId, node: &mut Node) -> Result<(), String> {
        if !self.changes_version {
            return Ok(());
        }
        let domain = node.domain.as_ref().and_then(Text::as_str).unwrap_or_default();
        if !ops::normal_domain(domain).is_empty() {
            return Ok(());
        }
        let (opset, name) = (self.opset(), node.op_type.clone().unwrap_or_default());
        let Some(op) = name.as_str() else { return Ok(()) };
        let values: Vec<Option<ValueId>> =
            node.input.iter().map(|name| self.value_named(inst, name)).collect();
        for (position, value) in values.iter().enumerate() {
            let Some(dtype) = value.and_then(|v| self.dtype(v)) else { continue };
            if let Some(types) = input_types(op, opset, position)
                && !types.contains(&dtype)
            {
                return Err(format!("opset {opset} does not have it on {dtype}"));
            }
        }
        for (_, name, word, opsets) in WORDS.iter().filter(|row| row.0 == op) {
            let is_used = node.attribute.iter().any(|a| has_word(a, name, word));
            if is_used && !opsets.contains(&opset) {
                return Err(format!("opset {opset} does not have its `{name}` `{word}`"));
            }
        }
        let given: Vec<ValueId> = values.into_iter().flatten().collect();
        if let Some(since) = crosses(OTHER_VALUES_SINCE, op, opset)
            && given.iter().any(|&v| self.dtype(v).is_none())
        {
            return Err(format!("before opset {since}, it works on tensors of numbers only"));
        }
        if let Some(since) = crosses(MIXED_TYPES_SINCE, op, opset)
            && given.windows(2).any(|pair| self.dtype(pair[0]) != self.dtype(pair[1]))
        {
            return Err(format!("before opset {since}, its operands have one element type"));
        }
        if let Some(since) = crosses(BROADCAST_SINCE, op, opset)
            && given.windows(2).any(|pair| self.dims(pair[0]) != self.dims(pair[1]))
        {
            return Err(format!("before opset {since}, its operands have one shape"));
        }
        if opset < NEGATIVE_SINCE && !NEGATIVE_BEFORE.contains(&op) {
            self.count_axes_from_start(inst, op, node)?;
            let indices = match op {
                "Gather" => node.input.get(1),
                "Slice" => node.input.get(3),
                _ => None,
            };
            let indices = indices.and_then(|name| self.value_named(inst, name));
            let known = indices.and_then(|v| ints_of(self.f.constant_of(v)?));
            if known.is_some_and(|list| list.iter().any(|&n| n < 0)) {
                return Err("before opset 11, its indices and axes are not negative".into());
            }
        }
        Ok(())
    }

    // Writes axes that count from the end as axes that count from the start.
    fn count_axes_from_start(&self, inst: InstId, op: &str, node: &mut Node) -> Result<(), String> {
        let f = self.f;
        let of_result = op == "Unsqueeze";
        let value = if of_result { f.value_of(inst) } else { f.operands(inst).first().copied() };
        let rank = value.and_then(|v| f.value_type(v).as_tensor()).map(|ty| ty.rank() as i64);
        let from_start = |axis: &mut i64| -> Result<(), String> {
            if *axis < 0 {
                let rank = rank.ok_or("the rank of its operand is not known")?;
                *axis += rank;
            }
            Ok(())
        };
        for attribute in &mut node.attribute {
            let name = attribute.name.as_ref().and_then(Text::as_str).unwrap_or_default();
            match (name, &mut attribute.value) {
                ("axis", Some(AttributeValue::Int(axis))) => from_start(axis)?,
                ("axes", Some(AttributeValue::Ints(axes))) => {
                    axes.iter_mut().try_for_each(from_start)?;
                }
                _ => {}
            }
        }
        Ok(())
    }

    // Returns the operand of an instruction that a name stands for, or the operand of an operand.
    fn value_named(&self, inst: InstId, name: &Text) -> Option<ValueId> {
        let f = self.f;
        let operands = f.operands(inst);
        let is_named = |v: &ValueId| self.name_of(*v) == *name;
        let before = operands.iter().filter_map(|&v| f.inst_of(v)).flat_map(|i| f.operands(i));
        operands.iter().chain(before).copied().find(is_named)
    }
}
