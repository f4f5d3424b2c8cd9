//! The right side of a rule: the replacement of a match.

use std::collections::BTreeMap;

use sapwood_ptir::{Attr, AttrKind, EffectRule, Effects, OpDef, OpKey, Registry, ResultCount};
use sapwood_types::{Diagnostic, Span};

use super::alternatives::is_wildcard;
use super::ast::{AttrExpr, Expr, OpText, RuleSide, Word};
use super::condition::Term;
use super::resolve::{NameMeaning, Reported, RuleResolver};
use super::vocabulary::ArgumentKind;
use crate::graph::{
    AttrCondition, AttrSlot, AttrTest, Number, OpIx, PatternOp, PatternOperand, ValueIx,
    ValueSource,
};

/// The ops to create, in order, and the values that replace the root's results.
#[derive(Clone)]
pub(crate) struct Rhs {
    pub(crate) ops: Vec<NewOp>,
    pub(crate) outputs: Vec<NewValue>,
}

impl Rhs {
    /// Returns the op of the right side that replaces all results of an op that a wildcard matched: `op(…) => op(…)`.
    pub(crate) fn same_op(&self, root: OpIx) -> Option<usize> {
        match self.outputs[..] {
            [NewValue::Made(op, 0)] if self.ops[op].like == Some(root) => Some(op),
            _ => None,
        }
    }
}

/// An op to create.
#[derive(Clone)]
pub(crate) struct NewOp {
    pub(crate) key: OpKey,
    pub(crate) span: Span,
    pub(crate) operands: Vec<NewOperand>,
    /// The attributes, by index in the op's table; missing ones have their defaults.
    pub(crate) attrs: Vec<(usize, Term)>,
    /// The entries of an unregistered op.
    pub(crate) entries: Vec<(sapwood_ptir::Name, Term)>,
    pub(crate) shape: Option<Term>,
    pub(crate) dtype: Option<Term>,
    /// The op of the left side that it is, with its attributes: `op(x)`.
    pub(crate) like: Option<OpIx>,
    /// The capture of all attributes that are not given.
    pub(crate) carried: Option<usize>,
}

#[derive(Clone)]
pub(crate) enum NewOperand {
    One(NewValue),
    Rest(usize),
}

/// A value of the right side.
#[derive(Clone, Copy, PartialEq, Debug)]
pub(crate) enum NewValue {
    /// A value of the left side.
    Old(ValueIx),
    Number(Number),
    /// A result of an op of the right side.
    Made(usize, usize),
}

/// Resolves the right side with the names that the left side binds.
pub(super) fn resolve_rhs(
    resolver: &mut RuleResolver<'_>,
    side: &RuleSide,
    root: OpIx,
) -> Result<Rhs, Reported> {
    let mut builder = RhsBuilder { resolver, ops: Vec::new(), lets: BTreeMap::new(), root };
    for (name, expr) in &side.lets {
        let value = builder.value(expr)?;
        if builder.resolver.names.contains_key(&name.of) || builder.lets.contains_key(&name.of) {
            return Err(builder
                .resolver
                .report(name.span, format!("`{}` is defined twice", name.of)));
        }
        builder.lets.insert(name.of.clone(), (value, false));
    }
    let outputs = side.roots.iter().map(|e| builder.value(e)).collect::<Result<Vec<_>, _>>()?;
    let unused =
        side.lets.iter().find(|(name, _)| builder.lets.get(&name.of).is_some_and(|l| !l.1));
    if let Some((name, _)) = unused {
        let problem = Diagnostic::error(name.span, format!("`{}` is never used", name.of));
        builder.resolver.problems.push(problem.with_help("leave it out"));
        return Err(Reported);
    }
    let ops = builder.ops;
    let right = Rhs { ops, outputs };
    check_types(resolver, &right)?;
    check_effects(resolver, &right, root)?;
    let own = &resolver.graph.outputs;
    let kept = right.outputs.iter().position(|o| matches!(o, NewValue::Old(v) if own.contains(v)));
    if let Some(at) = kept {
        let problem = match own.len() {
            1 => "the right side is the left side itself",
            _ => "this is an output of the left side; a rule computes each of its outputs anew",
        };
        return Err(resolver.report(side.roots[at].span(), problem));
    }
    Ok(right)
}

// Checks that ops with a declared result type have their dims, unless they replace a result of the root.
fn check_types(resolver: &mut RuleResolver<'_>, right: &Rhs) -> Result<(), Reported> {
    for (n, op) in right.ops.iter().enumerate() {
        if op.like.is_some() {
            continue;
        }
        let Some(def) = resolver.registry.get(op.key) else {
            let output = right.outputs.iter().any(|o| matches!(o, NewValue::Made(m, _) if *m == n));
            if !output {
                let why =
                    format!("nothing says what type `{}` has inside of the right side", op.key);
                let problem = Diagnostic::error(op.span, why);
                let help = "an op that is not registered must stand for a result of the left side";
                resolver.problems.push(problem.with_help(help));
                return Err(Reported);
            }
            continue;
        };
        let stated = def.attrs.iter().any(|a| a.kind == AttrKind::ResultType);
        let output = right.outputs.iter().any(|o| matches!(o, NewValue::Made(m, _) if *m == n));
        if stated && op.shape.is_none() && !output && !def.elementwise {
            let name = def.name;
            let why = format!("`{name}` inside of the right side needs `shape = …`");
            let problem = Diagnostic::error(op.span, why);
            resolver.problems.push(problem);
            return Err(Reported);
        }
    }
    Ok(())
}

// Checks, as far as possible before matching, that the rule neither adds nor drops an effect.
fn check_effects(resolver: &mut RuleResolver<'_>, right: &Rhs, root: OpIx) -> Result<(), Reported> {
    let registry = resolver.registry;
    let ops = &resolver.graph.ops;
    let always = |key: OpKey, effects: Effects| {
        registry.get(key).is_some_and(|d| d.effects == EffectRule::Always(effects))
    };
    let roots: Vec<OpIx> = resolver.graph.roots_or(root).collect();
    let inner =
        |(n, op): &(usize, &PatternOp)| !roots.contains(n) && always(op.key, Effects::Ordered);
    if let Some((_, op)) = ops.iter().enumerate().find(inner) {
        let why = format!("`{}` has effects, and only the root of the left side is erased", op.key);
        let span = op.span;
        return Err(resolver.report(span, why));
    }
    let pure = roots.iter().map(|&root| ops[root].key).find(|key| always(*key, Effects::Pure));
    if let Some(key) = pure
        && let Some(op) = right.ops.iter().find(|op| surely_ordered(registry, op))
    {
        let why = format!("`{}` has effects, and `{key}` on the left side has none", op.key);
        let problem = Diagnostic::error(op.span, why);
        let word = match registry.get(op.key).map(|d| d.effects) {
            Some(EffectRule::Always(_)) => None,
            Some(EffectRule::UnlessFalse(name)) => Some(format!("{name} = false")),
            None => Some("pure = true".into()),
        };
        resolver.problems.push(match word {
            Some(word) => {
                problem.with_help(format!("write `{word}` if it only computes its results"))
            }
            None => problem,
        });
        return Err(Reported);
    }
    Ok(())
}

// Returns whether an op of the right side has effects whatever is matched.
fn surely_ordered(registry: &Registry, op: &NewOp) -> bool {
    if op.like.is_some() || op.carried.is_some() {
        return false;
    }
    let Some(def) = registry.get(op.key) else {
        let pure = op.entries.iter().find(|(name, _)| name.as_str() == "pure");
        return !pure.is_some_and(|(_, t)| !matches!(t, Term::Attr(Attr::Bool(false))));
    };
    match def.effects {
        EffectRule::Always(effects) => effects == Effects::Ordered,
        EffectRule::UnlessFalse(name) => {
            let row = def.attrs.iter().position(|a| a.name == name);
            !op.attrs
                .iter()
                .any(|(n, t)| Some(*n) == row && !matches!(t, Term::Attr(Attr::Bool(true))))
        }
    }
}

struct RhsBuilder<'c, 'a> {
    resolver: &'c mut RuleResolver<'a>,
    ops: Vec<NewOp>,
    // The shared values, and whether they are used.
    lets: BTreeMap<String, (NewValue, bool)>,
    root: OpIx,
}

impl RhsBuilder<'_, '_> {
    fn value(&mut self, expr: &Expr) -> Result<NewValue, Reported> {
        match expr {
            Expr::Number(number) => Ok(NewValue::Number(number.of)),
            Expr::Name(word) => {
                if let Some((value, used)) = self.lets.get_mut(&word.of) {
                    *used = true;
                    return Ok(*value);
                }
                self.resolver.check_always_bound(word, self.root)?;
                match self.resolver.meaning_of(word) {
                    Some(NameMeaning::Value(value)) => {
                        let graph = &self.resolver.graph;
                        let is_param = matches!(graph.values[value].from, ValueSource::Param);
                        if is_param && !graph.params.contains(&value) {
                            let why = format!("`{}` exists only inside of the region", word.of);
                            return Err(self.resolver.report(word.span, why));
                        }
                        Ok(NewValue::Old(value))
                    }
                    Some(_) => Err(self
                        .resolver
                        .report(word.span, format!("`{}` is not a value", word.of))),
                    None => Err(self.resolver.report_unbound(word)),
                }
            }
            Expr::Const(word) | Expr::Typed(word, _) => {
                let why =
                    format!("`{}` is a value of the left side; write its name alone", word.of);
                Err(self.resolver.report(word.span, why))
            }
            Expr::Alternatives(_, span) => {
                Err(self.resolver.report(*span, "the right side has no alternatives"))
            }
            Expr::Result(word, n) => match self.lets.get_mut(&word.of) {
                Some((NewValue::Made(op, _), used)) => {
                    *used = true;
                    Ok(NewValue::Made(*op, *n))
                }
                _ => self.old_result(word, *n),
            },
            Expr::Rest(word) => {
                let why = "a list may only be the last operand of an op";
                Err(self.resolver.report(word.span, why))
            }
            Expr::Op(op) => self.op(op),
        }
    }

    // Returns a result of an op that `let` names on the left side.
    fn old_result(&mut self, word: &Word, n: usize) -> Result<NewValue, Reported> {
        let Some(known) = self.resolver.names.get_mut(&word.of) else {
            return Err(self.resolver.report_unbound(word));
        };
        known.uses += 1;
        let op = match known.meaning {
            NameMeaning::Value(value) => match self.resolver.graph.values[value].from {
                ValueSource::Result(op) => Some(op),
                _ => None,
            },
            _ => None,
        };
        self.resolver.check_always_bound(word, self.root)?;
        match op {
            Some(op) => Ok(NewValue::Old(self.resolver.result(op, n, word.span)?)),
            None => Err(self.resolver.report(word.span, format!("`{}` is not an op", word.of))),
        }
    }

    fn op(&mut self, text: &OpText) -> Result<NewValue, Reported> {
        if let Some(other) = text.more.first() {
            return Err(self.resolver.report(other.span, "the right side has no alternatives"));
        }
        if text.optional {
            return Err(self.resolver.report(text.span, "the right side has no optional ops"));
        }
        if let Some(region) = text.regions.first() {
            return Err(self.resolver.report(region.span, "the right side cannot have regions"));
        }
        let like = self.like(text)?;
        let (key, def) = match like {
            Some(op) => (self.resolver.graph.ops[op].key, None),
            None => self.resolver.op_named(&text.name)?,
        };
        let def = def.cloned();
        if let Some(def) = def.as_ref().filter(|def| !def.regions.is_empty()) {
            let why = format!("the right side cannot create `{}`: it has regions", def.name);
            return Err(self.resolver.report(text.name.span, why));
        }
        let mut operands = Vec::new();
        for (n, operand) in text.operands.iter().enumerate() {
            operands.push(match operand {
                Expr::Rest(word) => match self.resolver.names.get_mut(&word.of) {
                    Some(known) if n + 1 == text.operands.len() => {
                        known.uses += 1;
                        let meaning = known.meaning;
                        self.resolver.check_always_bound(word, self.root)?;
                        match meaning {
                            NameMeaning::List(list) => NewOperand::Rest(list),
                            _ => {
                                let why = format!("`{}` is not a list", word.of);
                                return Err(self.resolver.report(word.span, why));
                            }
                        }
                    }
                    Some(_) => {
                        let why = format!("`{}..` is not the last operand", word.of);
                        return Err(self.resolver.report(word.span, why));
                    }
                    None => return Err(self.resolver.report_unbound(word)),
                },
                other => NewOperand::One(self.value(other)?),
            });
        }
        let plain: Vec<PatternOperand> = operands
            .iter()
            .map(|o| match o {
                NewOperand::One(_) => PatternOperand::One(0),
                NewOperand::Rest(list) => PatternOperand::Rest(*list),
            })
            .collect();
        self.resolver.check_arity(text, def.as_ref(), &plain)?;
        let mut op = NewOp {
            key,
            span: text.span,
            operands,
            attrs: Vec::new(),
            entries: Vec::new(),
            shape: None,
            dtype: None,
            like,
            carried: self.carried(text, def.as_ref())?,
        };
        self.attrs(text, def.as_ref(), &mut op)?;
        self.check_missing_attrs(text, def.as_ref(), &op)?;
        self.ops.push(op);
        let (n, span) = text.result.as_ref().map_or((0, text.span), |r| (r.of, r.span));
        if def.as_ref().is_some_and(|d| d.results == ResultCount::One) && n > 0 {
            let why = format!("`{key}` has 1 result, so it has no result {n}");
            return Err(self.resolver.report(span, why));
        }
        Ok(NewValue::Made(self.ops.len() - 1, n))
    }

    // Returns the op of the left side that a wildcard stands for.
    fn like(&mut self, text: &OpText) -> Result<Option<OpIx>, Reported> {
        if !is_wildcard(&text.name.of) {
            return Ok(None);
        }
        if let Some((name, _)) = text.attrs.first() {
            let why = "the op has the attributes of the one that was matched";
            return Err(self.resolver.report(name.span, why));
        }
        self.resolver.check_always_bound(&text.name, self.root)?;
        match self.resolver.meaning_of(&text.name) {
            Some(NameMeaning::Op(op)) => Ok(Some(op)),
            _ => Err(self.resolver.report_unbound(&text.name)),
        }
    }

    // Returns the capture of the other attributes: `..a`.
    fn carried(&mut self, text: &OpText, def: Option<&OpDef>) -> Result<Option<usize>, Reported> {
        let Some(word) = &text.carried else { return Ok(None) };
        self.resolver.check_always_bound(word, self.root)?;
        let Some(meaning) = self.resolver.meaning_of(word) else {
            return Err(self.resolver.report_unbound(word));
        };
        let NameMeaning::Capture(capture) = meaning else {
            let why = format!("`{}` is not a list of attributes", word.of);
            return Err(self.resolver.report(word.span, why));
        };
        // All ops of the left side that carry these attributes must have those of this op.
        let others = |op: &PatternOp| {
            op.attrs.iter().find_map(|a| match (&a.slot, &a.test) {
                (AttrSlot::Others(named), AttrCondition::Capture(own)) if *own == capture => {
                    Some((op.key, named.clone()))
                }
                _ => None,
            })
        };
        let Some((key, named)) = self.resolver.graph.ops.iter().find_map(others) else {
            let why = format!("`{}` is one attribute; write `..{0}` on the left side too", word.of);
            return Err(self.resolver.report(word.span, why));
        };
        if let (Some(def), Some(from)) = (def, self.resolver.registry.get(key)) {
            let rows = from.attrs.iter().filter(|row| {
                row.kind != AttrKind::ResultType && !named.iter().any(|n| n.as_str() == row.name)
            });
            for row in rows {
                if !def.attrs.iter().any(|own| own.name == row.name && own.kind == row.kind) {
                    let why = format!(
                        "`..{}` has `{}` of `{}`, which `{}` does not have",
                        word.of, row.name, from.name, def.name
                    );
                    return Err(self.resolver.report(word.span, why));
                }
            }
        }
        Ok(Some(capture))
    }

    fn attrs(
        &mut self,
        text: &OpText,
        def: Option<&OpDef>,
        op: &mut NewOp,
    ) -> Result<(), Reported> {
        for (name, attr) in &text.attrs {
            let (slot, kind) = self.resolver.attr_slot(&text.name, def, name)?;
            for word in attr.names() {
                self.resolver.check_always_bound(word, self.root)?;
            }
            let term = match (attr, kind) {
                (AttrExpr::Literal(literal), kind) => Term::Attr(self.resolver.accept_literal(
                    name,
                    kind,
                    literal.of.clone(),
                    literal.span,
                )?),
                (AttrExpr::Name(word), kind) => match self.resolver.word_as(kind, &word.of) {
                    Some(attr) => Term::Attr(attr),
                    None => match kind {
                        Some(kind @ (AttrKind::Word(_) | AttrKind::Type))
                            if !self.resolver.names.contains_key(&word.of) =>
                        {
                            return Err(self.resolver.report_unknown_word(word, kind));
                        }
                        _ => self.resolver.term(argument_kind(kind), attr)?,
                    },
                },
                (AttrExpr::Call(..) | AttrExpr::List(..), kind) => {
                    self.resolver.term(argument_kind(kind), attr)?
                }
            };
            let twice = match &slot {
                AttrSlot::Row(row) => op.attrs.iter().any(|(r, _)| r == row),
                AttrSlot::Entry(entry) => op.entries.iter().any(|(e, _)| e == entry),
                AttrSlot::Shape => op.shape.is_some(),
                AttrSlot::Dtype => op.dtype.is_some(),
                AttrSlot::Others(_) => false,
            };
            if twice {
                let why = format!("`{}` is given twice", name.of);
                return Err(self.resolver.report(name.span, why));
            }
            match slot {
                AttrSlot::Row(row) => op.attrs.push((row, term)),
                AttrSlot::Entry(entry) => op.entries.push((entry, term)),
                AttrSlot::Shape => op.shape = Some(term),
                AttrSlot::Dtype => op.dtype = Some(term),
                AttrSlot::Others(_) => {}
            }
        }
        Ok(())
    }

    fn check_missing_attrs(
        &mut self,
        text: &OpText,
        def: Option<&OpDef>,
        op: &NewOp,
    ) -> Result<(), Reported> {
        let Some(def) = def else { return Ok(()) };
        for (n, row) in def.attrs.iter().enumerate() {
            let given = op.carried.is_some() || op.attrs.iter().any(|(r, _)| *r == n);
            if !given && row.default.is_none() && row.kind != AttrKind::ResultType {
                let why = format!("{} needs the attribute `{}`", def.name, row.name);
                let problem = Diagnostic::error(text.span, why);
                let help = format!("it must be {}", row.kind.describe());
                self.resolver.problems.push(problem.with_help(help));
                return Err(Reported);
            }
        }
        if op.carried.is_none() {
            self.check_literals(text, def, op)?;
        }
        let stated = def.attrs.iter().any(|a| a.kind == AttrKind::ResultType);
        if !stated && (op.shape.is_some() || op.dtype.is_some()) {
            let why =
                format!("{} infers its type: no `shape` or `dtype` on the right side", def.name);
            return Err(self.resolver.report(text.span, why));
        }
        Ok(())
    }
}

impl RhsBuilder<'_, '_> {
    // Checks the attributes that are written as literals.
    fn check_literals(&mut self, text: &OpText, def: &OpDef, op: &NewOp) -> Result<(), Reported> {
        let literal = |slot: AttrSlot, term: &Term| match term {
            Term::Attr(attr) => Some(AttrTest { slot, test: AttrCondition::Is(attr.clone()) }),
            _ => None,
        };
        let rows = op.attrs.iter().filter_map(|(row, term)| literal(AttrSlot::Row(*row), term));
        let shape = op.shape.iter().filter_map(|term| literal(AttrSlot::Shape, term));
        let tests: Vec<AttrTest> = rows.chain(shape).collect();
        let negative = |test: &&AttrTest| match &test.test {
            AttrCondition::Is(Attr::Ints(dims)) => dims.iter().any(|&extent| extent < 0),
            _ => false,
        };
        if tests.iter().filter(|test| test.slot == AttrSlot::Shape).any(|test| negative(&test)) {
            let shape = text.attrs.iter().find(|(name, _)| name.of == "shape");
            let span = shape.map_or(text.span, |(_, dims)| dims.span());
            let why = format!("`shape` of `{}` has a negative extent", def.name);
            let problem = Diagnostic::error(span, why).with_help("an extent is zero or more");
            self.resolver.problems.push(problem);
            return Err(Reported);
        }
        self.resolver.check_attributes(text, Some(def), &tests)
    }
}

fn argument_kind(kind: Option<AttrKind>) -> ArgumentKind {
    match kind {
        Some(AttrKind::Int) => ArgumentKind::Int,
        Some(AttrKind::Ints) => ArgumentKind::Ints,
        Some(AttrKind::Type) => ArgumentKind::Dtype,
        _ => ArgumentKind::Attr,
    }
}

/// Returns the attribute that a term stands for.
pub(crate) fn resolve_attr(
    term: &Term,
    f: &sapwood_ptir::Function,
    bound: &crate::matcher::Bindings,
) -> Option<Attr> {
    match term.resolve(f, bound)? {
        super::Argument::Attr(attr) => Some(attr),
        super::Argument::Value(_) | super::Argument::Values(_) => None,
    }
}
