//! Costs of instructions and programs as rows of data for a page.

use std::collections::BTreeMap;

use sapwood_ptir::Program;
use sapwood_ptir::cost::{Amount, Cost, CostAnalysis};
use serde::Serialize;

use crate::limits::{MAX_NAME_BYTES, truncate};

/// A number of operations or bytes.
#[derive(Serialize)]
#[serde(untagged)]
pub(crate) enum AmountRow {
    /// A known number.
    Number(u128),
    /// The estimate of an expression, and its text.
    Expr(u128, String),
    /// A number that is not known.
    Unknown(()),
}

impl AmountRow {
    fn new(amount: Amount) -> Self {
        match (amount, amount.estimate()) {
            (Amount::Known(number), _) => Self::Number(number),
            (Amount::Expr(expr), Some(estimate)) => {
                Self::Expr(estimate, truncate(&expr.to_string(), MAX_NAME_BYTES))
            }
            _ => Self::Unknown(()),
        }
    }
}

/// A table of distinct costs: operations and bytes.
#[derive(Default)]
pub(crate) struct CostTable {
    indices: BTreeMap<String, usize>,
    pub(crate) list: Vec<(AmountRow, AmountRow)>,
}

impl CostTable {
    /// Returns the index of a cost plus one, or 0 if it is zero.
    pub(crate) fn number_of(&mut self, cost: Cost) -> usize {
        if cost == Cost::ZERO {
            return 0;
        }
        let key = format!("{} {}", cost.flops, cost.bytes);
        *self.indices.entry(key).or_insert_with(|| {
            self.list.push((AmountRow::new(cost.flops), AmountRow::new(cost.bytes)));
            self.list.len()
        })
    }
}

/// The cost of one run of each public function of a program, or of all functions if none is public.
#[derive(Serialize)]
pub(crate) struct ProgramCostRow {
    flops: AmountRow,
    bytes: AmountRow,
    peak_memory: AmountRow,
    /// The number of instructions whose cost is not known.
    not_counted: usize,
    /// The number of loops that count as one iteration.
    open_loops: usize,
}

impl ProgramCostRow {
    pub(crate) fn new(program: &Program, analysis: &CostAnalysis<'_>) -> Self {
        let costs = analysis.functions();
        let has_public = program.functions().iter().any(|function| !function.is_private());
        let all = program.functions().iter().zip(&costs);
        let shown = all.filter(|(function, _)| !has_public || !function.is_private());
        let (mut flops, mut bytes, mut peak) = (Amount::ZERO, Amount::ZERO, Amount::ZERO);
        let (mut not_counted, mut open_loops) = (0, 0);
        for (_, cost) in shown {
            flops = flops.plus(cost.flops);
            bytes = bytes.plus(cost.bytes);
            peak = peak.max(cost.peak_memory);
            not_counted += cost.not_counted;
            open_loops += cost.open_loops;
        }
        Self {
            flops: AmountRow::new(flops),
            bytes: AmountRow::new(bytes),
            peak_memory: AmountRow::new(peak),
            not_counted,
            open_loops,
        }
    }
}
