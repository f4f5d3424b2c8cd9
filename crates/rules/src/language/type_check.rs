//! Types of a left side that no program can have together.

use sapwood_types::Diagnostic;

use super::resolve::RuleResolver;
use crate::graph::{DimTest, PatternOperand, ShapeTest};

/// The elementwise ops whose operands may have different dims.
const MIXED_DIMS: [&str; 2] = ["clamp", "select"];

impl RuleResolver<'_> {
    /// Reports types that contradict each other: those of values of one elementwise op, and those that a condition on the rank excludes.
    pub(super) fn check_types_of_left_side(&mut self) {
        let mut found: Vec<Diagnostic> = Vec::new();
        for op in &self.graph.ops {
            let def = self
                .registry
                .get(op.key)
                .filter(|def| def.elementwise && op.is_one() && !MIXED_DIMS.contains(&def.name));
            let Some(def) = def.filter(|_| self.graph.through.is_empty()) else { continue };
            let operands = op.operands.iter().filter_map(|operand| match *operand {
                PatternOperand::One(value) => Some(value),
                PatternOperand::Rest(_) => None,
            });
            let values = operands.chain(op.results.iter().copied());
            let typed: Vec<(&str, &ShapeTest)> = values
                .filter_map(|v| {
                    let data = &self.graph.values[v];
                    Some((&*data.name, &**data.shape.as_ref()?))
                })
                .collect();
            let clash = typed.iter().enumerate().find_map(|(n, a)| {
                typed[..n].iter().find(|b| contradict(a.1, b.1)).map(|b| (b, a))
            });
            if let Some(((x, a), (y, b))) = clash {
                let why = format!(
                    "`{}` needs values of the same dims, but `{x}` is {a} and `{y}` is {b}",
                    def.name
                );
                found.push(Diagnostic::error(op.span, why));
            }
        }
        for condition in &self.graph.conditions {
            let Some((value, rank)) = condition.wants_rank() else { continue };
            let data = &self.graph.values[value];
            let Some(shape) = &data.shape else { continue };
            let dims = shape.dims.len();
            if dims > rank || dims < rank && !shape.open {
                let name = &data.name;
                let why = format!("`{name}` is {shape}, which does not have the rank {rank}");
                found.push(Diagnostic::error(condition.span(), why));
            }
        }
        for problem in found {
            self.problems.push(problem);
        }
    }
}

// Returns whether no type satisfies both tests.
fn contradict(a: &ShapeTest, b: &ShapeTest) -> bool {
    let (x, y) = (a.dims.len(), b.dims.len());
    if x > y && !b.open || y > x && !a.open {
        return true;
    }
    let known = |pair: (&DimTest, &DimTest)| matches!(pair, (DimTest::Known(m), DimTest::Known(n)) if m != n);
    a.dims.iter().rev().zip(b.dims.iter().rev()).any(known)
}
