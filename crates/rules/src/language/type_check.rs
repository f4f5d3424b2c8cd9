//! Types of a left side that no program can have together.

use sapwood_ptir::{Attr, OpDef};
use sapwood_types::{Diagnostic, counted};

use super::dim_conflicts::{DimRequirement, dim_conflicts};
use super::inferred_types::{Inferred, infer_op};
use super::resolve::RuleResolver;
use crate::graph::{
    AttrCondition, AttrSlot, AxesOf, DimTest, PatternGraph, PatternOp, PatternOperand, ShapeTest,
    from_the_end,
};

/// The elementwise ops whose operands may have different dims.
pub(super) const MIXED_DIMS: [&str; 2] = ["clamp", "select"];

impl RuleResolver<'_> {
    /// Reports types that contradict each other or the attributes of an op, and those that a condition on the rank excludes.
    pub(super) fn check_types_of_left_side(&mut self) {
        let mut found: Vec<Diagnostic> = Vec::new();
        // Ops to look through may change types on any edge.
        if self.graph.through.is_empty() {
            // The written types, and those that follow from them.
            let values = self.graph.values.iter();
            let mut shapes: Vec<Option<ShapeTest>> =
                values.map(|value| value.shape.as_deref().cloned()).collect();
            for op in self.graph.ops.iter().filter(|op| op.is_one()) {
                // The attributes of an op of a user may have any meaning.
                let def = self.registry.get(op.key).filter(|def| !def.name.contains('.'));
                let Some(def) = def else { continue };
                let typed = TypedOp { graph: &self.graph, shapes: &shapes, op, def };
                let why = typed
                    .negative_extent()
                    .or_else(|| typed.unequal_dims())
                    .or_else(|| typed.missing_axis())
                    .or_else(|| typed.unequal_pairs())
                    .or_else(|| typed.unequal_parts());
                let why = why.or_else(|| match infer_op(&self.graph, op, def, &shapes) {
                    Inferred::Contradiction(why) => {
                        let types = TypedOp { graph: &self.graph, shapes: &shapes, op, def };
                        Some(format!("`{}` cannot have {}: {why}", def.name, types.of_operands()))
                    }
                    Inferred::Shape(shape) => {
                        if let Some(own) = op.results.first().map(|&value| &mut shapes[value])
                            && own.is_none()
                        {
                            *own = Some(shape);
                        }
                        None
                    }
                    Inferred::Unknown => None,
                });
                found.extend(why.map(|why| Diagnostic::error(op.span, why)));
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
        if found.is_empty() && self.graph.through.is_empty() && !self.problems.has_errors() {
            let mut types: Vec<DimRequirement> = Vec::new();
            for (value, data) in self.graph.values.iter().enumerate() {
                if let (Some(test), Some(&span)) = (&data.shape, self.type_spans.get(&value)) {
                    let shown = format!("`{}: {test}`", data.name);
                    types.push(DimRequirement { value, test: (**test).clone(), shown, span });
                }
            }
            for condition in &self.graph.conditions {
                let Some((value, rank)) = condition.wants_rank() else { continue };
                let test = ShapeTest { dtype: None, open: false, dims: vec![DimTest::Any; rank] };
                let shown = format!("`{}`", condition.text());
                types.push(DimRequirement { value, test, shown, span: condition.span() });
            }
            found = dim_conflicts(&self.graph, self.registry, types);
        }
        for problem in found {
            self.problems.push(problem);
        }
    }
}

/// The name of a value, and its type.
type TypedValue<'a> = (&'a str, &'a ShapeTest);

/// A built-in op of a pattern, whose values may have types.
struct TypedOp<'a> {
    graph: &'a PatternGraph,
    shapes: &'a [Option<ShapeTest>],
    op: &'a PatternOp,
    def: &'a OpDef,
}

impl<'a> TypedOp<'a> {
    // Returns the name and the type of an operand, if it has one.
    fn operand(&self, n: usize) -> Option<TypedValue<'a>> {
        match *self.op.operands.get(n)? {
            PatternOperand::One(value) => self.typed(value),
            PatternOperand::Rest(_) => None,
        }
    }

    fn typed(&self, value: usize) -> Option<TypedValue<'a>> {
        Some((&*self.graph.values[value].name, self.shapes[value].as_ref()?))
    }

    // Returns the operands and their types: `x: [4], y: [5]`.
    fn of_operands(&self) -> String {
        let typed = (0..self.op.operands.len()).filter_map(|n| self.operand(n));
        typed.map(|(name, shape)| format!("`{name}: {shape}`")).collect::<Vec<_>>().join(", ")
    }

    // Returns the attributes that are written and name axes of an operand, with that operand.
    fn axes(&self) -> impl Iterator<Item = (&'a str, &'a Attr, usize)> {
        let def = self.def;
        self.op.attrs.iter().filter_map(move |test| {
            let AttrSlot::Row(row) = test.slot else { return None };
            let name = def.attrs[row].name;
            let Some(AxesOf::Operand(n)) = AxesOf::attr(name, Some(def)) else { return None };
            match &test.test {
                AttrCondition::Is(attr) | AttrCondition::Axes(_, attr) => Some((name, attr, n)),
                AttrCondition::Capture(_) => None,
            }
        })
    }

    // Returns axes that are written in an attribute, counted from the start of an operand whose rank is known.
    fn axes_of(&self, wanted: &str, shape: &ShapeTest) -> Option<Vec<usize>> {
        let (_, attr, _) = self.axes().find(|(name, ..)| *name == wanted && !shape.open)?;
        let attr = from_the_end(attr, shape.dims.len());
        list_of(&attr)?.iter().map(|&axis| usize::try_from(axis).ok()).collect()
    }

    // The required shape of a result has extents.
    fn negative_extent(&self) -> Option<String> {
        let shape = self.op.attrs.iter().find_map(|test| match (&test.slot, &test.test) {
            (AttrSlot::Shape, AttrCondition::Is(attr)) => list_of(attr),
            _ => None,
        });
        let extent = shape?.iter().find(|&&extent| extent < 0)?;
        Some(format!("`shape` of `{}` has the extent {extent}", self.def.name))
    }

    // Elementwise ops have values of the same dims.
    fn unequal_dims(&self) -> Option<String> {
        if !self.def.elementwise || MIXED_DIMS.contains(&self.def.name) {
            return None;
        }
        let operands = (0..self.op.operands.len()).filter_map(|n| self.operand(n));
        let results = self.op.results.iter().filter_map(|&value| self.typed(value));
        let typed: Vec<_> = operands.chain(results).collect();
        let ((x, a), (y, b)) = first_clash(&typed, contradict)?;
        let name = self.def.name;
        Some(format!("`{name}` needs values of the same dims, but `{x}` is {a} and `{y}` is {b}"))
    }

    // Attributes name axes that the operand has, and permutations all of them.
    fn missing_axis(&self) -> Option<String> {
        self.axes().find_map(|(attr, axes, n)| {
            let (x, shape) = self.operand(n).filter(|(_, shape)| !shape.open)?;
            let (axes, rank, op) = (list_of(axes)?, shape.dims.len() as i64, self.def.name);
            if attr == "perm" && axes.len() as i64 != rank {
                let count = counted(axes.len(), "axis");
                return Some(format!("`perm` of `{op}` has {count}, but `{x}` is {shape}"));
            }
            let missing = axes.iter().find(|&&axis| axis >= rank || axis < -rank)?;
            Some(format!("`{attr}` of `{op}` names the axis {missing}, but `{x}` is {shape}"))
        })
    }

    // The axes of a matrix product have the same extent on both sides.
    fn unequal_pairs(&self) -> Option<String> {
        if self.def.name != "dot_general" {
            return None;
        }
        let ((x, left), (y, right)) = (self.operand(0)?, self.operand(1)?);
        let pairs = [("lhs_batch", "rhs_batch"), ("lhs_contract", "rhs_contract")];
        pairs.into_iter().find_map(|(lhs, rhs)| {
            let (lhs, rhs) = (self.axes_of(lhs, left)?, self.axes_of(rhs, right)?);
            lhs.into_iter().zip(rhs).find_map(|(i, j)| {
                let (DimTest::Known(m), DimTest::Known(n)) = (left.dims.get(i)?, right.dims.get(j)?)
                else {
                    return None;
                };
                let why = format!(
                    "`dot_general` pairs axes of the same extent, but axis {i} of `{x}` is {m} and axis {j} of `{y}` is {n}"
                );
                (m != n).then_some(why)
            })
        })
    }

    // The parts of a concatenation differ along its axis only.
    fn unequal_parts(&self) -> Option<String> {
        if self.def.name != "concat" {
            return None;
        }
        let apart = |a: &ShapeTest, b: &ShapeTest| {
            let [mut a, mut b] = [a.clone(), b.clone()];
            for shape in [&mut a, &mut b] {
                let axis = self.axes_of("axis", shape).and_then(|axes| axes.first().copied());
                match axis.and_then(|axis| shape.dims.get_mut(axis)) {
                    Some(dim) => *dim = DimTest::Any,
                    // Any axis may be the one.
                    None => shape.dims.fill(DimTest::Any),
                }
            }
            contradict(&a, &b)
        };
        let parts: Vec<_> = (0..self.op.operands.len()).filter_map(|n| self.operand(n)).collect();
        let ((x, a), (y, b)) = first_clash(&parts, apart)?;
        Some(format!(
            "the parts of `concat` have the same dims except along `axis`, but `{x}` is {a} and `{y}` is {b}"
        ))
    }
}

// Returns the first two values whose types contradict each other.
fn first_clash<'a>(
    typed: &[TypedValue<'a>],
    apart: impl Fn(&ShapeTest, &ShapeTest) -> bool,
) -> Option<(TypedValue<'a>, TypedValue<'a>)> {
    typed
        .iter()
        .enumerate()
        .find_map(|(n, &a)| Some((*typed[..n].iter().find(|b| apart(a.1, b.1))?, a)))
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

// Returns an axis, or a list of them.
fn list_of(attr: &Attr) -> Option<&[i64]> {
    match attr {
        Attr::Int(axis) => Some(std::slice::from_ref(axis)),
        other => other.as_ints(),
    }
}
