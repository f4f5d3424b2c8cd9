//! The requirements of conditions on types: element types, ranks, equal dims, and comparisons of dims.

use sapwood_ptir::dims::{DimExpr, Facts, Verdict};
use sapwood_ptir::{Attr, Name};

use super::condition::{Condition, Term};
use super::condition_check::ON_ELEMENTS;
use super::dim_classes::{DimClasses, DimConflict, DimFact};
use super::dim_inference::{DimInference, Scope};
use super::element_types::{TypeSet, conflict};
use crate::graph::{DimTest, OtherOps, ValueIx, ValueSource};

/// The ops that only move, repeat or convert elements, so that what they compute may be a constant or a parameter.
const KEEP_ELEMENTS: [&str; 6] =
    ["broadcast_in_dim", "broadcast_to", "cast", "constant", "reshape", "transpose"];

impl DimInference<'_> {
    /// Adds the requirement of a condition.
    pub(super) fn require_condition(
        &self,
        dims: &mut DimClasses,
        condition: &Condition,
    ) -> Result<(), DimConflict> {
        let about = |value: ValueIx, why: DimConflict| why.about(&self.graph.values[value].name);
        match (condition.name(), &condition.arguments[..]) {
            (name, [Term::Value(value), ..]) if ON_ELEMENTS.contains(&name) => {
                let may_have = TypeSet::of(|dtype| condition.may_have(dtype));
                let restricted = dims.elements.restrict(*value, may_have);
                restricted.map_err(|[old, new]| conflict(self.graph, *value, old, new))
            }
            _ if condition.not => Ok(()),
            ("rank", [Term::Value(value), rank]) if !self.graph.is_literal(*value) => {
                match self.number(dims, rank).and_then(|rank| usize::try_from(rank).ok()) {
                    Some(rank) if rank <= sapwood_ptir::MAX_RANK => dims
                        .require_dims(*value, false, &vec![DimFact::Any; rank])
                        .map_err(|why| about(*value, why)),
                    _ => Ok(()),
                }
            }
            (
                name @ ("same_shape" | "same_type" | "same_dtype"),
                [Term::Value(a), Term::Value(b)],
            ) if !self.graph.is_literal(*a) && !self.graph.is_literal(*b) => {
                if name != "same_shape" {
                    dims.elements.equal(self.graph, *a, *b)?;
                }
                match name {
                    "same_dtype" => Ok(()),
                    _ => dims.merge(*a, *b).map_err(|why| about(*a, why)),
                }
            }
            ("==" | "equal", [Term::Dim(a), Term::Dim(b)]) => {
                match dims.named(*a).zip(dims.named(*b)) {
                    Some((a, b)) => dims.union(a, b),
                    None => Ok(()),
                }
            }
            _ => Ok(()),
        }
    }

    /// Compares dims that are expressions over others, and those that conditions compare. Dims whose number follows get it.
    pub(super) fn compare_dims(
        &self,
        dims: &mut DimClasses,
        scope: &Scope<'_>,
    ) -> Result<(), DimConflict> {
        let mut facts = Facts::new();
        let mut symbols: Vec<Name> = Vec::new();
        let sums: Vec<_> = dims.sums().map(|(op, sum)| (op, sum.clone())).collect();
        for (op, sum) in sums {
            let Some(own) = dims.closed(sum.value).and_then(|own| own.get(sum.axis).copied())
            else {
                continue;
            };
            let Some(is) = current(dims, sum.is) else { continue };
            let own = dims.symbolic(own).to_expr();
            let Some(difference) = own.and_then(|own| is.checked_sub(own)) else { continue };
            symbols.extend(difference.symbols());
            if facts.assume_zero(difference).is_err() {
                let op = self.graph.show(op);
                let name = &self.graph.values[sum.value].name;
                let (axis, is) = (sum.axis, dims.with_names(&is.to_string()));
                let own = own.map(|own| dims.with_names(&own.to_string())).unwrap_or_default();
                return Err(DimConflict(format!(
                    "axis {axis} of `{name}` has the extent {is} by `{op}`, which cannot be {own}"
                )));
            }
        }
        for condition in &scope.conditions {
            let Some((expr, equation)) = self.relation(dims, condition) else { continue };
            symbols.extend(expr.symbols());
            let assumed =
                if equation { facts.assume_zero(expr) } else { facts.assume_at_least(expr) };
            if let Err(contradiction) = assumed {
                let fact = dims.with_names(&contradiction.fact);
                return Err(DimConflict(match expr.as_constant() {
                    Some(_) => format!("`{}` does not hold", condition.text()),
                    None => format!("{fact} is not possible"),
                }));
            }
        }
        for condition in &scope.conditions {
            if let Some((left, right)) = self.different(dims, condition)
                && facts.compare(left, right) == Verdict::Equal
            {
                return Err(DimConflict(format!("`{}` does not hold", condition.text())));
            }
        }
        symbols.sort_by_key(|name| dims.class_of(*name));
        symbols.dedup();
        for symbol in symbols {
            let number = DimExpr::symbol(symbol).and_then(|expr| facts.bounds(expr).single());
            if let (Some(class), Some(Ok(number))) =
                (dims.class_of(symbol), number.map(u64::try_from))
            {
                dims.set(class, number)?;
            }
        }
        Ok(())
    }

    /// Checks a condition that types decide.
    pub(super) fn check_condition(
        &self,
        dims: &DimClasses,
        condition: &Condition,
    ) -> Result<(), DimConflict> {
        let name = |value: ValueIx| &self.graph.values[value].name;
        let why = match (condition.name(), &condition.arguments[..]) {
            ("rank", [Term::Value(value), rank]) if condition.not => {
                let found = self.number(dims, rank);
                let own = self.closed(dims, *value).map(|own| own.len() as i64);
                let same = own.is_some() && own == found;
                same.then(|| format!("the rank of `{}` is {}", name(*value), own.unwrap_or(0)))
            }
            ("static", [Term::Value(value)]) if condition.not => {
                // A dim whose number follows may still be a symbol in the program, so only written numbers count.
                let written = self.graph.values[*value].shape.as_ref();
                let known = |dim: &DimTest| matches!(dim, DimTest::Known(_));
                let all = written.is_some_and(|test| !test.open && test.dims.iter().all(known));
                let own = self.closed(dims, *value).filter(|_| all);
                let known =
                    own.is_some_and(|own| own.iter().all(|&dim| dims.number(dim).is_some()));
                known.then(|| format!("all dims of `{}` are known", name(*value)))
            }
            ("same_dtype" | "same_type" | "same_shape", [Term::Value(a), Term::Value(b)])
                if condition.not =>
            {
                let dtypes = dims.elements.get(*a).zip(dims.elements.get(*b));
                let same_dtype = dims.elements.find(*a) == dims.elements.find(*b)
                    || dtypes.is_some_and(|(a, b)| a == b);
                let shapes = self.closed(dims, *a).zip(self.closed(dims, *b));
                let same_dim = |(&a, &b): (&usize, &usize)| {
                    a == b || dims.number(a).is_some_and(|n| dims.number(b) == Some(n))
                };
                let same_shape = shapes
                    .is_some_and(|(a, b)| a.len() == b.len() && a.iter().zip(&b).all(same_dim));
                let same = match condition.name() {
                    "same_dtype" => same_dtype,
                    "same_shape" => same_shape,
                    _ => same_dtype && same_shape,
                };
                same.then(|| format!("`{}` and `{}` have the same", name(*a), name(*b)))
            }
            ("repeated", [Term::Value(value), Term::Attr(axes)])
            | ("restores", [Term::Value(value), _, Term::Attr(axes)])
                if !condition.not =>
            {
                let rank = self.closed(dims, *value).map(|own| own.len() as i64);
                let missing = axes.as_ints().zip(rank).and_then(|(axes, rank)| {
                    axes.iter().find(|&&axis| axis >= rank).map(|axis| (axis, rank))
                });
                missing.map(|(axis, rank)| {
                    format!("`{}` has no axis {axis}: its rank is {rank}", name(*value))
                })
            }
            (word @ ("constant" | "elementwise" | "given"), [Term::Value(value)]) => {
                let holds = self.of_definition(word, *value);
                holds.filter(|holds| *holds == condition.not).map(|_| {
                    let op = self.graph.op_of(*value).map(|op| self.graph.show(op));
                    format!("`{}` is computed by `{}`", name(*value), op.unwrap_or_default())
                })
            }
            _ => None,
        };
        why.map_or(Ok(()), |why| Err(DimConflict(why)))
    }

    // Returns whether a predicate on the op that computes a value holds, if the pattern tells.
    fn of_definition(&self, word: &str, value: ValueIx) -> Option<bool> {
        let op = match self.graph.values[value].from {
            ValueSource::Result(op) => &self.graph.ops[op],
            _ => return None,
        };
        let def = self.builtin(op.key).filter(|_| op.others == OtherOps::None)?;
        match word {
            "elementwise" => Some(def.elementwise),
            _ if KEEP_ELEMENTS.contains(&def.name) => None,
            _ => Some(false),
        }
    }

    fn closed(&self, dims: &DimClasses, value: ValueIx) -> Option<Vec<usize>> {
        dims.closed(value).filter(|_| !self.graph.is_literal(value))
    }

    // Returns the relation that a comparison of dims requires: an expression that is zero, or at least zero.
    fn relation(&self, dims: &DimClasses, condition: &Condition) -> Option<(DimExpr, bool)> {
        let [left, right] = &condition.arguments[..] else { return None };
        let operator = match (condition.name(), condition.not) {
            ("<" | "less", false) | (">=", true) => "<",
            (">", false) | ("<=", true) => ">",
            ("<=", false) | (">", true) => "<=",
            (">=", false) | ("<" | "less", true) => ">=",
            ("==" | "equal", false) | ("!=", true) => "==",
            _ => return None,
        };
        let (left, right) = (self.expr(dims, left)?, self.expr(dims, right)?);
        let one = DimExpr::constant(1)?;
        match operator {
            "<" => Some((right.checked_sub(left)?.checked_sub(one)?, false)),
            ">" => Some((left.checked_sub(right)?.checked_sub(one)?, false)),
            "<=" => Some((right.checked_sub(left)?, false)),
            ">=" => Some((left.checked_sub(right)?, false)),
            _ => Some((left.checked_sub(right)?, true)),
        }
    }

    // Returns two expressions that a condition requires to differ.
    fn different(&self, dims: &DimClasses, condition: &Condition) -> Option<(DimExpr, DimExpr)> {
        let [left, right] = &condition.arguments[..] else { return None };
        match (condition.name(), condition.not) {
            ("==" | "equal", true) | ("!=", false) => {
                Some((self.expr(dims, left)?, self.expr(dims, right)?))
            }
            _ => None,
        }
    }

    // Returns an integer of a condition as an expression over the symbols of dims.
    fn expr(&self, dims: &DimClasses, term: &Term) -> Option<DimExpr> {
        match term {
            Term::Attr(Attr::Int(n)) => DimExpr::constant(*n),
            Term::Dim(name) => dims.symbolic(dims.named(*name)?).to_expr(),
            Term::Function(function, arguments, _) => match (&*function.name, &arguments[..]) {
                ("plus", [a, b]) => self.expr(dims, a)?.checked_add(self.expr(dims, b)?),
                ("minus", [a, b]) => self.expr(dims, a)?.checked_sub(self.expr(dims, b)?),
                ("negative", [a]) => DimExpr::constant(0)?.checked_sub(self.expr(dims, a)?),
                ("rank_of", [Term::Value(value)]) => {
                    DimExpr::constant(self.closed(dims, *value)?.len() as i64)
                }
                ("size", [Term::Value(value), Term::Attr(axes)]) => {
                    let own = self.closed(dims, *value)?;
                    axes.as_ints()?.iter().try_fold(DimExpr::constant(1)?, |size, &axis| {
                        let dim = *own.get(usize::try_from(axis).ok()?)?;
                        size.checked_mul(dims.symbolic(dim).to_expr()?)
                    })
                }
                _ => None,
            },
            _ => None,
        }
    }

    fn number(&self, dims: &DimClasses, term: &Term) -> Option<i64> {
        self.expr(dims, term)?.as_constant()
    }
}

// Returns an expression over the symbols of classes as they are now.
fn current(dims: &DimClasses, expr: DimExpr) -> Option<DimExpr> {
    expr.substitute(&|symbol| dims.symbolic(dims.class_of(symbol)?).to_expr())
}
