//! Replacement of a match by a call.

use hashbrown::HashSet;
use rustc_hash::FxBuildHasher;
use sapwood_ptir::ops::Call;
use sapwood_ptir::{
    EditError, Function, InsertPoint, InstId, Name, Op, OpParts, ResultTypes, ValueId,
};

use crate::graph::{PatternGraph, constant_insts};
use crate::legality::{self, MatchedSet};
use crate::matcher::Match;

/// The call that replaces a match.
pub(super) struct ReplacementCall<'a> {
    pub(super) callee: Name,
    pub(super) pure: bool,
    /// The operands after those of the pattern, whose types bind symbols.
    pub(super) binders: &'a [ValueId],
}

/// Inserts a call at the last instruction of a match, moves the instructions that must follow it, and erases the match.
pub(super) fn replace(
    f: &mut Function,
    pattern: &PatternGraph,
    found: &Match,
    place: &legality::ReplacementPlace,
    call: &ReplacementCall<'_>,
) -> Result<InstId, EditError> {
    let outputs = found.outputs(pattern);
    let call = insert_call(f, pattern, found, place.last, call)?;
    // Start from the last one, so that the users of a moved instruction come after it already.
    for &inst in place.moved.iter().rev() {
        f.move_inst(inst, InsertPoint::After(call))?;
    }
    redirect(f, found, &outputs, call)?;
    let constants = found.constants(f, pattern);
    let mut ops = found.ops.clone();
    ops.sort_unstable_by_key(|&i| f.order_key(i));
    for inst in ops.into_iter().rev() {
        f.erase(inst)?;
    }
    for constant in constants {
        drop_constant(f, pattern, constant)?;
    }
    Ok(call)
}

fn insert_call(
    f: &mut Function,
    pattern: &PatternGraph,
    found: &Match,
    last: InstId,
    call: &ReplacementCall<'_>,
) -> Result<InstId, EditError> {
    let outputs = found.outputs(pattern);
    let mut parts = OpParts::new(Call::key());
    parts.operands.extend(found.inputs(pattern));
    let mut given: HashSet<ValueId, FxBuildHasher> = parts.operands.iter().copied().collect();
    let listed = found.lists.iter().flatten().flatten().chain(call.binders).copied();
    parts.operands.extend(listed.filter(|&value| given.insert(value)));
    parts.push_attr(&call.callee);
    parts.push_attr(&!call.pure);
    parts.push_attr(&ResultTypes(outputs.iter().map(|&v| f.value_type(v).clone()).collect()));
    let parts = f.resolve_parts(&parts).map_err(|_| EditError::NoSuchInst(last))?;
    let call = f.insert(InsertPoint::After(last), &parts, f.inst_span(last))?;
    for (n, &output) in outputs.iter().enumerate() {
        if let (Some(result), Some(hint)) = (f.result(call, n), f.hint(output).map(str::to_owned)) {
            f.set_hint(result, &hint);
        }
    }
    let comment = f.comment(last).map(str::to_owned);
    f.set_comment(call, comment.as_deref());
    Ok(call)
}

// Redirects uses of outputs outside of the match to the results of the call.
fn redirect(
    f: &mut Function,
    found: &Match,
    outputs: &[ValueId],
    call: InstId,
) -> Result<(), EditError> {
    for (n, &output) in outputs.iter().enumerate() {
        let Some(result) = f.result(call, n) else { continue };
        let body = f.body_of(call).unwrap_or(f.body());
        let matched = MatchedSet::new(f, body, found);
        let outside: Vec<sapwood_ptir::Use> =
            f.uses(output).filter(|u| !matched.contains_nested(u.user)).collect();
        for u in outside {
            f.set_operand(u.user, u.index, result)?;
        }
    }
    Ok(())
}

// Erases a constant, or a broadcast of one, that has become unused.
fn drop_constant(
    f: &mut Function,
    pattern: &PatternGraph,
    value: ValueId,
) -> Result<(), EditError> {
    if !f.is_live_value(value) {
        return Ok(());
    }
    let insts = constant_insts(&pattern.through, f, value).map(|(_, insts)| insts);
    for inst in insts.into_iter().flatten().rev() {
        if f.is_live(inst) && f.results_unused(inst) {
            f.erase(inst)?;
        }
    }
    Ok(())
}
