//! Detection of symmetric ops: both operands are equal trees that are not used elsewhere, so that swapping them changes nothing.
//!
//! Without this a balanced tree of `n` commutative ops would be found in `2^n` ways, all of them one match.

use hashbrown::HashMap;
use rustc_hash::FxBuildHasher;

use super::{AttrCondition, Literal, PatternGraph, PatternOperand, ValueSource};

/// Marks each commutative op whose operands are interchangeable.
pub(super) fn mark_symmetric_ops(graph: &mut PatternGraph) {
    let mut uses = vec![0usize; graph.values.len()];
    let mut add = |v: usize| uses[v] += 1;
    for op in &graph.ops {
        for operand in &op.operands {
            if let PatternOperand::One(v) = *operand {
                add(v);
            }
        }
        op.captured.iter().copied().for_each(&mut add);
        // The parameters of a region are different values.
        for region in &op.region_patterns {
            region.params.iter().chain(&region.yields).copied().for_each(&mut add);
        }
    }
    graph.outputs.iter().copied().for_each(&mut add);
    graph.choices.iter().flat_map(|c| &c.branches).copied().for_each(&mut add);
    graph.conditions.iter().flat_map(crate::language::Condition::values).for_each(&mut add);
    // The shape of the tree below a value that is used once, as a number; none if the tree is used elsewhere.
    let mut shapes: Vec<Option<u32>> = vec![None; graph.values.len()];
    let mut numbers: HashMap<String, u32, FxBuildHasher> = HashMap::default();
    let mut number = |text: String| {
        let next = numbers.len() as u32;
        *numbers.entry(text).or_insert(next)
    };
    for (n, value) in graph.values.iter().enumerate() {
        let ty = value.ty.as_ref().map_or_else(String::new, ToString::to_string);
        match &value.from {
            // Dims and constants with names may be compared elsewhere.
            _ if value.shape.is_some() => {}
            ValueSource::Literal(Literal::Any) => {}
            ValueSource::Param if uses[n] == 1 => shapes[n] = Some(number(format!("param {ty}"))),
            ValueSource::Literal(literal) => shapes[n] = Some(number(format!("{literal:?} {ty}"))),
            ValueSource::Param | ValueSource::Result(..) | ValueSource::Choice(_) => {}
        }
    }
    for n in 0..graph.ops.len() {
        let op = &graph.ops[n];
        let operands: Option<Vec<u32>> = op
            .operands
            .iter()
            .map(|o| match *o {
                PatternOperand::One(v) => shapes[v],
                PatternOperand::Rest(_) => None,
            })
            .collect();
        let plain = op.regions.is_none()
            && op.is_one()
            && op.results.len() == 1
            && op.attrs.iter().all(|a| matches!(a.test, AttrCondition::Is(_)));
        if let (Some(operands), true) = (&operands, plain)
            && uses[op.results[0]] == 1
            && graph.values[op.results[0]].shape.is_none()
        {
            let result = op.results[0];
            let ty = graph.values[result].ty.as_ref().map_or_else(String::new, ToString::to_string);
            let text = format!("{} {:?} {:?} {operands:?} {ty}", op.key, op.callee, op.attrs);
            shapes[result] = Some(number(text));
        }
        let same = match op.operands[..] {
            [PatternOperand::One(a), PatternOperand::One(b), ..] => {
                shapes[a].is_some() && shapes[a] == shapes[b]
            }
            _ => false,
        };
        graph.ops[n].symmetric = same && !graph.is_literal_operand(n, 0);
    }
}

impl PatternGraph {
    fn is_literal_operand(&self, op: usize, n: usize) -> bool {
        matches!(self.ops[op].operands[n], PatternOperand::One(v) if self.is_literal(v))
    }
}
