//! Types, attributes and conditions of a left side that no program can have together.

use sapwood_ptir::Attr;
use sapwood_types::Diagnostic;

use super::dim_conflicts::{DimRequirement, Required, dim_conflicts};
use super::resolve::RuleResolver;
use crate::attr_text::show_attr;
use crate::graph::{AttrCondition, AttrSlot, DimTest, ShapeTest};

impl RuleResolver<'_> {
    /// Reports types, attributes and conditions that contradict each other.
    pub(super) fn check_types_of_left_side(&mut self) {
        // Ops to look through may change types on any edge.
        if !self.graph.through.is_empty() || self.problems.has_errors() {
            return;
        }
        let (mut found, mut negative) = (Vec::new(), Vec::new());
        for (value, data) in self.graph.values.iter().enumerate() {
            if let (Some(test), Some(&span)) = (&data.shape, self.type_spans.get(&value)) {
                let shown = format!("`{}: {test}`", data.name);
                found.push(DimRequirement {
                    required: Required::Type(value, (**test).clone()),
                    shown,
                    span,
                });
            }
        }
        for (number, op) in self.graph.ops.iter().enumerate().filter(|(_, op)| op.is_one()) {
            // The attributes of an op of a user may have any meaning.
            let def = self.registry.get(op.key).filter(|def| !def.name.contains('.'));
            let (Some(def), Some(&result)) = (def, op.results.first()) else { continue };
            for (n, test) in op.attrs.iter().enumerate() {
                let Some(&span) = self.attr_spans.get(&(number, n)) else { continue };
                let attr = match &test.test {
                    AttrCondition::Is(attr) | AttrCondition::Axes(_, attr) => attr,
                    AttrCondition::Capture(_) => continue,
                };
                let (name, required) = match &test.slot {
                    AttrSlot::Row(row) => (def.attrs[*row].name, Required::Attr(number, n)),
                    AttrSlot::Shape => match dims_of(attr) {
                        Ok(dims) => {
                            let test = ShapeTest { dtype: None, open: false, dims };
                            ("shape", Required::Type(result, test))
                        }
                        Err(extent) => {
                            let why = format!("`shape` of `{}` has the extent {extent}", op.key);
                            let help = "an extent is zero or more";
                            negative.push(Diagnostic::error(span, why).with_help(help));
                            continue;
                        }
                    },
                    AttrSlot::Dtype => {
                        let Attr::Type(dtype) = attr else { continue };
                        let test = ShapeTest { dtype: Some(*dtype), open: true, dims: Vec::new() };
                        ("dtype", Required::Type(result, test))
                    }
                    AttrSlot::Entry(_) | AttrSlot::Others(_) => continue,
                };
                let shown = format!("`{name} = {}` of `{}`", show_attr(attr), op.key);
                found.push(DimRequirement { required, shown, span });
            }
        }
        for (n, condition) in self.graph.conditions.iter().enumerate() {
            let shown = format!("`{}`", condition.text());
            let (required, span) = (Required::Condition(n), condition.span());
            found.push(DimRequirement { required, shown, span });
        }
        if negative.is_empty() {
            negative = dim_conflicts(&self.graph, self.registry, found);
        }
        for problem in negative {
            self.problems.push(problem);
        }
    }
}

// Returns the dims of a shape. The error is an extent that is negative.
fn dims_of(shape: &Attr) -> Result<Vec<DimTest>, i64> {
    let extents = shape.as_ints().unwrap_or_default();
    extents.iter().map(|&n| u64::try_from(n).map(DimTest::Known).map_err(|_| n)).collect()
}
