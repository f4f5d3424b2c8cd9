//! Comparison of declared types with the types that operands, results and functions have.

use sapwood_ptir::{Attr, Program, TypeId, ValueType};
use sapwood_types::counted;

use super::ModuleReader;
use super::function::OpenFunction;
use crate::ops::TypeSyntax;
use crate::raw_op::{RawOp, TypeList};
use crate::types;

/// Assigns types without `->` to operands and results, as the form of the op has them.
pub(super) fn assign_listed_types(op: &mut RawOp<'_>, list: TypeList) -> Result<(), String> {
    let syntax = op.row.map_or(TypeSyntax::Same, |(row, _)| row.type_syntax());
    match (syntax, &list[..]) {
        (TypeSyntax::OfResult, [_]) => op.result_types = list,
        (TypeSyntax::OfOperands, _) => {
            op.operand_types = Some(list.clone());
            op.result_types = list;
        }
        (TypeSyntax::OfSelect, [predicate, ty]) => {
            let operands = [predicate, ty, ty].map(Clone::clone);
            op.operand_types = Some(operands.into_iter().collect());
            op.result_types.push(ty.clone());
        }
        (_, [ty]) => {
            op.operand_types = Some(op.operands.iter().map(|_| ty.clone()).collect());
            op.result_types = list;
        }
        (_, types) => {
            return Err(format!(
                "{}: {} types, expected one type for operands and result, or `(…) -> …`",
                op.name,
                types.len()
            ));
        }
    }
    Ok(())
}

/// Checks that the declared types of operands are compatible with the actual ones.
pub(super) fn check_operand_types(func: &OpenFunction<'_>, op: &RawOp<'_>) -> Result<(), String> {
    let Some(declared) = &op.operand_types else { return Ok(()) };
    if declared.len() != op.operands.len() {
        let operands = counted(op.operands.len(), "operand");
        return Err(format!("{operands}, but {}", counted(declared.len(), "declared type")));
    }
    let f = func.writer.function();
    for (i, (&value, declared)) in op.operands.iter().zip(declared).enumerate() {
        let ty = f.value_type(value);
        if ty != declared && !ty.compatible(declared) {
            return Err(format!(
                "operand {i} is {}, but {} is declared",
                types::to_text(ty),
                types::to_text(declared)
            ));
        }
    }
    Ok(())
}

// Returns the first pair of types that differ although they are compatible, with its position.
fn first_type_mismatch<'t>(
    own: impl Iterator<Item = &'t ValueType>,
    declared: impl IntoIterator<Item = &'t ValueType>,
) -> Option<(usize, String, String)> {
    let mut pairs = own.zip(declared).enumerate();
    let (i, (own, declared)) = pairs.find(|(_, (a, b))| a != b && a.compatible(b))?;
    Some((i, types::to_text(own), types::to_text(declared)))
}

impl ModuleReader<'_> {
    /// Checks that the returned values have the declared result types. Incompatible types are left to the verifier.
    pub(super) fn check_return_types(
        &mut self,
        func: &OpenFunction<'_>,
        name: &str,
        results: &[TypeId],
    ) -> bool {
        let f = func.writer.function();
        let Some(end) = f.terminator(func.body) else { return true };
        let results = results.iter().map(|&id| f.type_by_id(id));
        let own = f.operands(end).iter().map(|&v| f.value_type(v));
        let Some((i, own, declared)) = first_type_mismatch(own, results) else { return true };
        let message = format!("return: operand {i} is {own}, but @{name} returns {declared}");
        self.problems.error(f.inst_span(end), message);
        false
    }

    /// Checks that calls declare exactly the types of the callee. The verifier accepts extents that are known less precisely.
    pub(super) fn check_call_types(&mut self, program: &Program) {
        for &(name, inst) in &self.calls {
            let Some(f) = program.function(name) else { continue };
            let Some(Attr::Func(callee)) = f.attr(inst, "callee") else { continue };
            let Some(callee) = program.function(*callee) else { continue };
            let operands = f.operands(inst).iter().map(|&v| f.value_type(v));
            let params = callee.params().iter().map(|&v| callee.value_type(v));
            let results = f.inst_results(inst).map(|v| f.value_type(v));
            let apart = match first_type_mismatch(operands, params) {
                Some(apart) => Some(("operand", "takes", apart)),
                None => first_type_mismatch(results, callee.result_types())
                    .map(|a| ("result", "returns", a)),
            };
            if let Some((what, has, (i, own, declared))) = apart {
                let name = callee.name();
                let message = format!("call: {what} {i} is {own}, but @{name} {has} {declared}");
                self.problems.error(f.inst_span(inst), message);
            }
        }
    }
}
