//! The symbols of a match that becomes a function: which values bind them there, and which expressions get symbols of their own.
//!
//! A function knows only the symbols that its parameters bind. So an extent of an input that determines no symbol, such as `floordiv(?S, 2)`, becomes
//! a fresh symbol, here and in all types and attributes that contain it. If a symbol is still needed, a parameter of the function, or of a region around
//! the match, that binds it is passed on.

use sapwood_ptir::dims::{DimExpr, Facts, Relation, bound_symbols};
use sapwood_ptir::{Attr, Dim, Function, InstId, Name, OpParts, ValueId, ValueType};

use crate::graph::PatternGraph;
use crate::legality::IllegalMatch;
use crate::matcher::Match;

/// The symbols of the function that a match becomes.
#[derive(Clone, Default, Debug)]
pub(crate) struct CutSymbols {
    /// The values besides the inputs of the pattern that the call passes on, because their types bind symbols.
    pub(crate) binders: Vec<ValueId>,
    /// The facts that the caller knows about the symbols.
    pub(crate) facts: Option<Facts>,
    // The symbols that the parameters bind.
    bound: Vec<Name>,
    // The extents of inputs that determine no symbol, with the symbols that take their place.
    fresh: Vec<(DimExpr, DimExpr)>,
}

impl CutSymbols {
    /// Finds the symbols of a match.
    ///
    /// # Errors
    /// If a symbol is determined only by values that a call cannot pass on.
    pub(crate) fn new(
        f: &Function,
        pattern: &PatternGraph,
        found: &Match,
    ) -> Result<Self, IllegalMatch> {
        if !f.has_named_dims() {
            return Ok(Self::default());
        }
        let lists = found.lists.iter().flatten().flatten().copied();
        let mut inputs: Vec<ValueId> = found.inputs(pattern).into_iter().chain(lists).collect();
        let needed = needed_expressions(f, pattern, found);
        let mut symbols = Self::default();
        loop {
            symbols.bind(f, &inputs, &needed);
            let open = needed.iter().find_map(|&(expr, inst)| {
                let rest = symbols.map(expr);
                Some((rest.symbols().iter().copied().find(|&name| !symbols.knows(name))?, inst))
            });
            let Some((dim, inst)) = open else { break };
            let binder = find_binder(f, found.ops[0], &inputs, dim);
            let binder = binder.ok_or(IllegalMatch::Dim { dim, inst })?;
            symbols.binders.push(binder);
            inputs.push(binder);
        }
        symbols.facts = f.facts().map(|facts| symbols.known_facts(facts)).filter(|f| !f.is_empty());
        Ok(symbols)
    }

    /// Returns a type of the caller as the function has it.
    pub(crate) fn map_type(&self, ty: &ValueType) -> ValueType {
        if self.fresh.is_empty() {
            return ty.clone();
        }
        ty.map_dims(&mut |dim| match dim {
            Dim::Expr(expr) => Dim::from_expr(self.map(expr)),
            Dim::Known(_) | Dim::Unknown => dim,
        })
    }

    /// Changes the attributes and result types of an instruction to those that the function has.
    pub(crate) fn map_parts(&self, parts: &mut OpParts) {
        if self.fresh.is_empty() {
            return;
        }
        for attr in parts.attrs.iter_mut().filter(|attr| attr.has_symbols()) {
            *attr =
                attr.map_exprs(&mut |expr| Some(self.map(expr))).unwrap_or_else(|| attr.clone());
        }
        for ty in &mut parts.result_types {
            *ty = self.map_type(ty);
        }
    }

    // Finds the symbols that inputs bind, and symbols for the extents of inputs that bind none.
    fn bind(&mut self, f: &Function, inputs: &[ValueId], needed: &[(DimExpr, InstId)]) {
        self.bound = bound_symbols(inputs.iter().map(|&v| f.value_type(v)));
        self.fresh.clear();
        let mut taken: Vec<Name> =
            needed.iter().flat_map(|(expr, _)| expr.symbols()).copied().collect();
        let mut open: Vec<DimExpr> = Vec::new();
        for &input in inputs {
            f.value_type(input).for_each_dim(&mut |dim| {
                if let Dim::Expr(expr) = dim {
                    taken.extend(expr.symbols());
                    open.push(expr);
                }
            });
        }
        for expr in open {
            if self.map(expr).symbols().iter().all(|&name| self.knows(name)) {
                continue;
            }
            let free = |n: &usize| !taken.contains(&Name::new(&format!("d{n}")));
            let Some(name) = (0..).find(free).map(|n| Name::new(&format!("d{n}"))) else {
                continue;
            };
            if let Some(symbol) = DimExpr::symbol(name) {
                taken.push(name);
                self.fresh.push((expr, symbol));
            }
        }
    }

    fn knows(&self, name: Name) -> bool {
        self.bound.contains(&name)
            || self.fresh.iter().any(|(_, symbol)| symbol.as_symbol() == Some(name))
    }

    // Returns an expression over the symbols that the function knows, as far as there is one.
    fn map(&self, expr: DimExpr) -> DimExpr {
        let is_open = |expr: DimExpr| expr.symbols().iter().any(|&name| !self.knows(name));
        let mut mapped = expr;
        for &(part, symbol) in &self.fresh {
            if !is_open(mapped) {
                break;
            }
            mapped = mapped.replace_part(part, symbol).unwrap_or(mapped);
        }
        mapped
    }

    // Returns the facts of the caller over the symbols that the function knows, and the lower bounds of the fresh ones.
    fn known_facts(&self, facts: &Facts) -> Facts {
        let mut known = Facts::new();
        for relation in facts.relations() {
            let expr = self.map(relation.expr);
            if expr.symbols().iter().all(|&name| self.knows(name)) {
                // Facts that hold together do not contradict each other.
                let _ = known.assume(Relation { expr, ..relation });
            }
        }
        for &(part, symbol) in &self.fresh {
            let lowest = facts.bounds(part).lowest().filter(|&n| n > 0);
            let above = lowest.and_then(DimExpr::constant).and_then(|n| symbol.checked_sub(n));
            if let Some(expr) = above {
                let _ = known.assume(Relation { expr, equation: false });
            }
        }
        known
    }
}

// Returns the expressions in the attributes and types that a match has besides its inputs, each with its instruction.
fn needed_expressions(
    f: &Function,
    pattern: &PatternGraph,
    found: &Match,
) -> Vec<(DimExpr, InstId)> {
    let mut needed: Vec<(DimExpr, InstId)> = Vec::new();
    let constants = found.constants(f, pattern).into_iter().filter_map(|value| f.inst_of(value));
    let mut pending: Vec<InstId> = found.ops.iter().copied().chain(constants).rev().collect();
    while let Some(inst) = pending.pop() {
        let params = f.regions(inst).iter().flat_map(|&body| f.body_params(body)).copied();
        for value in f.inst_results(inst).chain(params) {
            f.value_type(value).for_each_dim(&mut |dim| {
                if let Dim::Expr(expr) = dim {
                    needed.push((expr, inst));
                }
            });
        }
        for attr in f.attrs(inst).iter().filter(|attr: &&Attr| attr.has_symbols()) {
            let _ = attr.map_exprs(&mut |expr| {
                needed.push((expr, inst));
                Some(expr)
            });
        }
        let nested: Vec<InstId> = f.regions(inst).iter().flat_map(|&b| f.walk_body(b)).collect();
        // The walk of a body contains the instructions of the regions in it.
        pending.extend(nested.into_iter().rev().filter(|_| found.ops.contains(&inst)));
    }
    needed
}

// Returns a parameter of the function, or of a region around an instruction, that binds a symbol together with the inputs.
fn find_binder(f: &Function, inst: InstId, inputs: &[ValueId], symbol: Name) -> Option<ValueId> {
    let mut bodies = vec![f.body()];
    let mut at = Some(inst);
    while let Some(body) = at.and_then(|inst| f.body_of(inst)) {
        bodies.push(body);
        at = f.body_owner(body);
    }
    let params = bodies.into_iter().flat_map(|body| f.body_params(body)).copied();
    params.into_iter().find(|&param| {
        let mut contains = false;
        f.value_type(param).for_each_symbol(&mut |name| contains |= name == symbol);
        let all = inputs.iter().copied().chain([param]);
        contains
            && !inputs.contains(&param)
            && bound_symbols(all.map(|v| f.value_type(v))).contains(&symbol)
    })
}
