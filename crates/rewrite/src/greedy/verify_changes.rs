//! Verification of the instructions that a pattern inserted or changed.

use sapwood_ptir::{Function, InstId};

use crate::rewriter::ProgramRewriter;

/// Verifies the instructions that were inserted or changed since `begin`, and the owners of their regions.
pub(super) fn verify_changes(rw: &ProgramRewriter<'_>) -> Result<(), String> {
    let f = rw.function();
    for inst in rw.touched_since_begin() {
        if !f.is_live(inst) {
            continue;
        }
        check_inst(f, inst)?;
        if let Some(owner) = f.body_of(inst).and_then(|b| f.body_owner(b)) {
            check_inst(f, owner)?;
        }
    }
    match f.num_detached_bodies() {
        0 => Ok(()),
        n => Err(format!("{n} region(s) belong to no instruction")),
    }
}

fn check_inst(f: &Function, inst: InstId) -> Result<(), String> {
    let op = f.op_name(inst);
    let Some(body) = f.body_of(inst) else { return Err(format!("{op}: it is in no body")) };
    if f.op_def(inst).is_some_and(|d| d.terminator) != (f.last_inst(body) == Some(inst)) {
        return Err(format!("{op}: a body must end in its only terminator"));
    }
    if let Some(&value) = f.operands(inst).iter().find(|v| !f.is_available_to(**v, inst)) {
        return Err(format!("{op}: {value} is not available"));
    }
    let types = f.infer(inst).map_err(|e| format!("{op}: {e}"))?;
    let stated = f.inst_results(inst);
    if types.len() != stated.len() {
        return Err(format!(
            "{op}: {} results are inferred, but it has {}",
            types.len(),
            stated.len()
        ));
    }
    for (value, found) in stated.zip(&types) {
        let stated = f.value_type(value);
        if !stated.compatible(found) {
            return Err(format!("{op}: the result is {found}, but {stated} is declared"));
        }
    }
    Ok(())
}
