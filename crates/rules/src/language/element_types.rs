//! The element types that the ops of a left side give their results, and require of their operands.

use sapwood_ptir::{Attr, InferCx, OpDef, TensorType, ValueType, infer_checked};
use sapwood_types::DataType;
use smallvec::SmallVec;

use super::dim_classes::DimConflict;
use super::dim_inference::operands;
use super::inferred_types::USUAL_TYPES;
use crate::graph::{AttrCondition, PatternGraph, PatternOp, ValueIx};

/// The ops whose result has the element type of all operands, beside the elementwise ones.
const OF_ALL_OPERANDS: [&str; 7] =
    ["broadcast_in_dim", "broadcast_to", "concat", "pad", "reshape", "reverse", "transpose"];

/// The ops whose result has the element type of the first operand.
const OF_FIRST_OPERAND: [&str; 3] = ["dynamic_slice", "gather", "slice"];

/// A union-find of values that have one element type.
#[derive(Clone, Debug)]
pub(super) struct ElementTypes {
    parent: Vec<ValueIx>,
    known: Vec<Option<DataType>>,
}

impl ElementTypes {
    /// Creates the classes of this many values, of which nothing is known.
    pub(super) fn new(values: usize) -> Self {
        Self { parent: (0..values).collect(), known: vec![None; values] }
    }

    fn find(&mut self, mut value: ValueIx) -> ValueIx {
        while self.parent[value] != value {
            self.parent[value] = self.parent[self.parent[value]];
            value = self.parent[value];
        }
        value
    }

    /// Returns the element type of a value.
    pub(super) fn get(&self, mut value: ValueIx) -> Option<DataType> {
        while self.parent[value] != value {
            value = self.parent[value];
        }
        self.known[value]
    }

    /// Requires an element type of a value. The error is what follows from other types.
    pub(super) fn set(&mut self, value: ValueIx, new: DataType) -> Result<(), DataType> {
        let class = self.find(value);
        match self.known[class].replace(new) {
            Some(old) if old != new => Err(old),
            _ => Ok(()),
        }
    }

    fn union(&mut self, a: ValueIx, b: ValueIx) -> Result<(), [DataType; 2]> {
        let (a, b) = (self.find(a), self.find(b));
        if let (Some(m), Some(n)) = (self.known[a], self.known[b])
            && m != n
        {
            return Err([m, n]);
        }
        self.parent[b] = a;
        self.known[a] = self.known[a].or(self.known[b]);
        Ok(())
    }

    /// Gives two values the same element type.
    pub(super) fn equal(
        &mut self,
        graph: &PatternGraph,
        a: ValueIx,
        b: ValueIx,
    ) -> Result<(), DimConflict> {
        self.union(a, b).map_err(|[m, n]| conflict(graph, b, n, m))
    }

    /// Adds what follows from an op.
    pub(super) fn visit(
        &mut self,
        graph: &PatternGraph,
        (op, def): (&PatternOp, &OpDef),
    ) -> Result<(), DimConflict> {
        let Some(&result) = op.results.first() else { return Ok(()) };
        let all = || operands(op).into_iter().flatten();
        let same: Vec<ValueIx> = match def.name {
            "compare" => all().collect(),
            "select" => all().skip(1).chain([result]).collect(),
            name if OF_FIRST_OPERAND.contains(&name) => all().take(1).chain([result]).collect(),
            name if OF_ALL_OPERANDS.contains(&name) || keeps_type(def) => {
                all().chain([result]).collect()
            }
            _ => Vec::new(),
        };
        let own = match def.name {
            "cast" => written_type(op).map(|dtype| (result, dtype)),
            "compare" => Some((result, DataType::Bool)),
            "select" => operands(op).first().copied().flatten().map(|v| (v, DataType::Bool)),
            _ => None,
        };
        if let Some((value, dtype)) = own.filter(|(value, _)| !graph.is_literal(*value)) {
            self.set(value, dtype).map_err(|old| conflict(graph, value, old, dtype))?;
        }
        // A constant that is written as a number has the type that is needed.
        let mut same = same.into_iter().filter(|&value| !graph.is_literal(value));
        let Some(first) = same.next() else { return Ok(()) };
        same.try_for_each(|value| {
            self.union(first, value).map_err(|[m, n]| match value == result {
                true => conflict(graph, result, m, n),
                false => conflict(graph, value, n, m),
            })
        })
    }
}

fn conflict(graph: &PatternGraph, value: ValueIx, m: DataType, n: DataType) -> DimConflict {
    let (name, m, n) = (&graph.values[value].name, m.short_name(), n.short_name());
    DimConflict(format!("the element type of `{name}` would be both {m} and {n}"))
}

// Returns the element type that an op's attribute `dtype` names.
fn written_type(op: &PatternOp) -> Option<DataType> {
    op.attrs.iter().find_map(|test| match test.test {
        AttrCondition::Is(Attr::Type(dtype)) => Some(dtype),
        _ => None,
    })
}

/// Returns whether the result and all operands of an elementwise op always have one element type.
pub(super) fn keeps_type(def: &OpDef) -> bool {
    if !def.elementwise || !def.attrs.is_empty() {
        return false;
    }
    let infer = |types: Vec<DataType>| {
        let scalar = |dtype| ValueType::from(TensorType { dtype, dims: SmallVec::new() });
        let types: Vec<ValueType> = types.into_iter().map(scalar).collect();
        let cx = InferCx {
            def,
            attrs: &[],
            operands: types.iter().collect(),
            regions: SmallVec::new(),
            declared_types: SmallVec::new(),
        };
        let found = infer_checked(&cx).ok()?;
        Some(found.first()?.as_tensor()?.dtype)
    };
    let n = def.operands.len();
    let mut found = DataType::ALL.iter().filter_map(|&d| Some((d, infer(vec![d; n])?))).peekable();
    let same = found.peek().is_some() && found.all(|(from, to)| from == to);
    let mixed = (0..n).filter(|_| n > 1).any(|at| {
        let pairs = USUAL_TYPES.iter().flat_map(|&a| USUAL_TYPES.iter().map(move |&b| (a, b)));
        pairs.filter(|(a, b)| a != b).any(|(a, b)| {
            let mut types = vec![a; n];
            types[at] = b;
            infer(types).is_some()
        })
    });
    same && !mixed
}
