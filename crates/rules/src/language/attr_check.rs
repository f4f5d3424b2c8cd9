//! Attributes of a left side that no op has, whatever its operands are.

use sapwood_ptir::{
    Attr, AttrDef, AttrKind, Dim, InferCx, OpDef, OperandKind, TensorType, ValueType, infer_checked,
};
use sapwood_types::{DataType, Diagnostic};
use smallvec::SmallVec;

use super::ast::OpText;
use super::resolve::{Reported, RuleResolver};
use crate::graph::{AttrCondition, AttrSlot, AttrTest, AxesOf, from_the_end, has_negative};

/// The largest rank that is tried.
const MAX_RANK: usize = 10;

/// The largest number of operands for which ranks are tried.
const MAX_OPERANDS: usize = 3;

/// The largest number of combinations of ranks and element types that are tried.
const MAX_COMBINATIONS: usize = 50_000;

/// The element types that are tried.
const TYPES: [DataType; 4] = [DataType::F32, DataType::I32, DataType::Bool, DataType::C64];

impl RuleResolver<'_> {
    /// Checks that operands exist with which an op can have the attributes that are written.
    pub(super) fn check_attributes(
        &mut self,
        text: &OpText,
        def: Option<&OpDef>,
        tests: &[AttrTest],
    ) -> Result<(), Reported> {
        let Some(def) = def.filter(|def| !def.name.contains('.')) else { return Ok(()) };
        let Some(why) = impossible_attributes(def, tests, text.operands.len()) else {
            return Ok(());
        };
        // The attribute that the reason names.
        let named = |name: &str| why.contains(&format!("`{name}`"));
        let written = text.attrs.iter().find(|(name, _)| named(&name.of));
        let span = match written {
            Some((name, _)) => name.span,
            None => text.span,
        };
        let problem = Diagnostic::error(span, format!("no `{}` has this: {why}", def.name));
        let help = match written {
            Some((name, _)) => format!("correct `{}`, or leave it out", name.of),
            None => "correct the attributes, or leave them out".into(),
        };
        self.problems.push(problem.with_help(help));
        Err(Reported)
    }
}

// Returns the reason why no operands permit these attributes, if that is certain.
fn impossible_attributes(def: &OpDef, tests: &[AttrTest], operands: usize) -> Option<String> {
    let fixed = def.operands.iter().all(|o| o.kind == OperandKind::One);
    if !fixed || !def.regions.is_empty() || operands > MAX_OPERANDS || def.attrs.is_empty() {
        return None;
    }
    // An element type that may be omitted is left out, because not all element types are tried for operands.
    let is_tried = |n: usize| def.attrs[n].kind != AttrKind::Type || def.attrs[n].default.is_none();
    let written = |n: usize| {
        let mut tests = tests.iter().filter(|_| is_tried(n));
        tests.find(|test| test.slot == AttrSlot::Row(n)).and_then(|test| match &test.test {
            AttrCondition::Is(attr) | AttrCondition::Axes(_, attr) => Some(attr),
            AttrCondition::Capture(_) => None,
        })
    };
    // The ranks that the attributes need.
    let needs = |attr: &Attr, is_axes: bool| match attr {
        Attr::Int(axis) if is_axes => axis.unsigned_abs() as usize + 1,
        Attr::Ints(list) if is_axes => {
            let most = list.iter().map(|axis| axis.unsigned_abs() as usize + 1).max();
            most.unwrap_or(0).max(list.len())
        }
        Attr::Ints(list) => list.len(),
        _ => 0,
    };
    let mut needed: Option<usize> = None;
    for (n, row) in def.attrs.iter().enumerate() {
        if let Some(attr) = written(n) {
            let rank = needs(attr, AxesOf::attr(row.name, Some(def)).is_some());
            needed = Some(needed.map_or(rank, |most| most.max(rank)));
        }
    }
    let needed = needed.filter(|&rank| rank < MAX_RANK)?;
    let declares = def.attrs.iter().any(|row| row.kind == AttrKind::ResultType);
    let shape = tests.iter().find_map(|test| match (&test.slot, &test.test) {
        (AttrSlot::Shape, AttrCondition::Is(Attr::Ints(dims))) => Some(dims),
        _ => None,
    });
    let ranks = needed + 2;
    let all = operands + usize::from(declares);
    let combinations = (ranks * TYPES.len()).saturating_pow(all as u32);
    if combinations > MAX_COMBINATIONS {
        return None;
    }
    let about = |why: &str| {
        let mut rows = def.attrs.iter().enumerate();
        // Not all element types are tried.
        let counts = |(n, row): (usize, &AttrDef)| {
            row.kind != AttrKind::Type
                && written(n).is_some()
                && why.contains(&format!("`{}`", row.name))
        };
        rows.any(counts)
    };
    // Axes are paired, and those that are not written are any.
    let alone = |n: usize| written(n).is_some() != written(n + 1).is_some();
    if def.name == "dot_general" && (alone(0) || alone(2)) {
        return None;
    }
    // Axes that are not written are any, and others may fit where the default does not.
    let is_open = |(n, row): (usize, &AttrDef)| {
        written(n).is_none() && matches!(row.default, Some(Attr::Ints(_)))
    };
    if def.name != "dot_general" && def.attrs.iter().enumerate().any(is_open) {
        return None;
    }
    let mut is_certain = false;
    let mut nearest: Option<((usize, bool, usize), String)> = None;
    for n in 0..ranks.pow(all as u32) {
        let ranks: Vec<usize> = (0..all).map(|axis| n / ranks.pow(axis as u32) % ranks).collect();
        if let (Some(shape), true) = (shape, declares)
            && ranks[operands] != shape.len()
        {
            continue;
        }
        let attrs = def.attrs.iter().enumerate().map(|(n, row)| match written(n) {
            Some(attr) => match AxesOf::attr(row.name, Some(def)) {
                Some(AxesOf::Operand(n)) => Some(from_the_end(attr, *ranks.get(n)?)),
                Some(AxesOf::Result) if declares => Some(from_the_end(attr, ranks[operands])),
                Some(AxesOf::Result) => Some(attr.clone()).filter(|attr| !has_negative(attr)),
                None => Some(attr.clone()),
            },
            None if row.kind == AttrKind::ResultType => Some(Attr::Unit),
            None => row.default.clone(),
        });
        let attrs: Vec<Attr> = attrs.collect::<Option<_>>()?;
        match infer_any(def, &attrs, &ranks, operands, shape.map(|dims| &dims[..])) {
            Ok(()) => return None,
            Err(why) => {
                // The reason is clearest where the ranks are those that the attributes need.
                let far = ranks.iter().map(|rank| rank.abs_diff(needed)).sum();
                let first = ranks.first().map_or(0, |rank| rank.abs_diff(needed));
                is_certain |= about(&why);
                let order = (first, !about(&why), far);
                if nearest.as_ref().is_none_or(|(best, _)| order < *best) {
                    nearest = Some((order, why));
                }
            }
        }
    }
    // Attributes that are not written have any value, so that only a reason about a written one is certain.
    let given = |(n, row): (usize, &AttrDef)| {
        written(n).is_some() || matches!(row.kind, AttrKind::ResultType | AttrKind::Type)
    };
    let all_given = def.name == "dot_general" && def.attrs.iter().enumerate().all(given);
    nearest.filter(|_| is_certain || all_given).map(|(_, why)| why)
}

// Infers the result with dims that permit everything; returns an error if no element types fit.
fn infer_any(
    def: &OpDef,
    attrs: &[Attr],
    ranks: &[usize],
    operands: usize,
    shape: Option<&[i64]>,
) -> Result<(), String> {
    let mut first = None;
    for dim in [Dim::Unknown, Dim::Known(1)] {
        for n in 0..TYPES.len().pow(ranks.len() as u32) {
            let types = ranks.iter().enumerate().map(|(value, &rank)| {
                let dtype = TYPES[n / TYPES.len().pow(value as u32) % TYPES.len()];
                let dims: SmallVec<[Dim; 4]> = match shape.filter(|_| value == operands) {
                    Some(dims) => dims.iter().map(|&n| Dim::Known(n.unsigned_abs())).collect(),
                    None => (0..rank).map(|_| dim).collect(),
                };
                ValueType::from(TensorType { dtype, dims })
            });
            let types: Vec<ValueType> = types.collect();
            let (operands, declared) = types.split_at(operands);
            let cx = InferCx {
                def,
                attrs,
                operands: operands.iter().collect(),
                regions: SmallVec::new(),
                declared_types: declared.iter().collect(),
            };
            match infer_checked(&cx) {
                Ok(_) => return Ok(()),
                Err(error) => {
                    first.get_or_insert(error.message);
                }
            }
        }
    }
    Err(first.unwrap_or_default())
}
