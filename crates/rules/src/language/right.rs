//! The right side: what a match is replaced by.

use std::collections::BTreeMap;

use sapwood_ptir::{Attr, AttrKind, EffectRule, Effects, OpDef, OpKey, Registry, ResultCount};
use sapwood_types::{Diagnostic, Span};

use super::ast::{AttrExpr, Expr, OpText, Side, Word};
use super::check::{Bad, Checker, Meaning};
use super::condition::Term;
use super::vocabulary::Kind;
use crate::graph::{AttrSlot, Number, OpIx, Operand, PatternOp, Source, ValueIx};

/// Ops to be made, in order, and the values that take the place of the root's results.
#[derive(Clone)]
pub(crate) struct Right {
    pub(crate) ops: Vec<NewOp>,
    pub(crate) outputs: Vec<NewValue>,
}

/// An op to be made.
#[derive(Clone)]
pub(crate) struct NewOp {
    pub(crate) key: OpKey,
    pub(crate) span: Span,
    pub(crate) operands: Vec<NewOperand>,
    /// By row of the table; what is left out has its default.
    pub(crate) attrs: Vec<(usize, Term)>,
    /// Entries of an unregistered op.
    pub(crate) entries: Vec<(sapwood_ptir::Name, Term)>,
    pub(crate) shape: Option<Term>,
    pub(crate) dtype: Option<Term>,
}

#[derive(Clone)]
pub(crate) enum NewOperand {
    One(NewValue),
    Rest(usize),
}

/// A value of the right side.
#[derive(Clone, Copy, PartialEq, Debug)]
pub(crate) enum NewValue {
    /// One of the left side.
    Old(ValueIx),
    Number(Number),
    /// A result of an op of the right side.
    Made(usize, usize),
}

/// Reads the right side against what the left side bound.
pub(super) fn right(checker: &mut Checker<'_>, side: &Side, root: OpIx) -> Result<Right, Bad> {
    let mut maker = Maker { checker, ops: Vec::new(), lets: BTreeMap::new() };
    for (name, expr) in &side.lets {
        let value = maker.value(expr)?;
        if maker.checker.names.contains_key(&name.of) || maker.lets.contains_key(&name.of) {
            return Err(maker.checker.bad(name.span, format!("`{}` is defined twice", name.of)));
        }
        maker.lets.insert(name.of.clone(), (value, false));
    }
    let outputs = side.roots.iter().map(|e| maker.value(e)).collect::<Result<Vec<_>, _>>()?;
    let unused = side.lets.iter().find(|(name, _)| maker.lets.get(&name.of).is_some_and(|l| !l.1));
    if let Some((name, _)) = unused {
        let problem = Diagnostic::error(name.span, format!("`{}` is never used", name.of));
        maker.checker.problems.push(problem.with_help("leave it out"));
        return Err(Bad);
    }
    let ops = maker.ops;
    let right = Right { ops, outputs };
    check_types(checker, &right)?;
    check_effects(checker, &right, root)?;
    let own = &checker.graph.ops[root].results;
    if right.outputs.iter().any(|o| matches!(o, NewValue::Old(v) if own.contains(v))) {
        return Err(checker.bad(side.roots[0].span(), "the right side is the left side itself"));
    }
    Ok(right)
}

// Ops whose result type is stated need their dims, unless they stand for a result of the root.
fn check_types(checker: &mut Checker<'_>, right: &Right) -> Result<(), Bad> {
    for (n, op) in right.ops.iter().enumerate() {
        let Some(def) = checker.registry.get(op.key) else {
            let output = right.outputs.iter().any(|o| matches!(o, NewValue::Made(m, _) if *m == n));
            if !output {
                let why =
                    format!("nothing says what type `{}` has inside of the right side", op.key);
                let problem = Diagnostic::error(op.span, why);
                let help = "an op that is not registered must stand for a result of the left side";
                checker.problems.push(problem.with_help(help));
                return Err(Bad);
            }
            continue;
        };
        let stated = def.attrs.iter().any(|a| a.kind == AttrKind::ResultType);
        let output = right.outputs.iter().any(|o| matches!(o, NewValue::Made(m, _) if *m == n));
        if stated && op.shape.is_none() && !output && !def.elementwise {
            let name = def.name;
            let why = format!("`{name}` inside of the right side needs `shape = …`");
            let problem = Diagnostic::error(op.span, why);
            checker.problems.push(problem);
            return Err(Bad);
        }
    }
    Ok(())
}

// A rule neither makes up an effect nor drops one: what can be told before it is tried.
fn check_effects(checker: &mut Checker<'_>, right: &Right, root: OpIx) -> Result<(), Bad> {
    let registry = checker.registry;
    let ops = &checker.graph.ops;
    let always = |key: OpKey, effects: Effects| {
        registry.get(key).is_some_and(|d| d.effects == EffectRule::Always(effects))
    };
    let inner = |(n, op): &(usize, &PatternOp)| *n != root && always(op.key, Effects::Ordered);
    if let Some((_, op)) = ops.iter().enumerate().find(inner) {
        let why = format!("`{}` has effects, and only the root of the left side goes away", op.key);
        let span = op.span;
        return Err(checker.bad(span, why));
    }
    let (key, pure) = (ops[root].key, always(ops[root].key, Effects::Pure));
    if let Some(op) = right.ops.iter().find(|op| pure && surely_ordered(registry, op)) {
        let why = format!("`{}` has effects, and `{key}` on the left side has none", op.key);
        let problem = Diagnostic::error(op.span, why);
        let word = match registry.get(op.key).map(|d| d.effects) {
            Some(EffectRule::Always(_)) => None,
            Some(EffectRule::UnlessFalse(name)) => Some(format!("{name} = false")),
            None => Some("pure = true".into()),
        };
        checker.problems.push(match word {
            Some(word) => {
                problem.with_help(format!("write `{word}` if it only computes its results"))
            }
            None => problem,
        });
        return Err(Bad);
    }
    Ok(())
}

// Whether an op of the right side has effects whatever was matched.
fn surely_ordered(registry: &Registry, op: &NewOp) -> bool {
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

struct Maker<'c, 'a> {
    checker: &'c mut Checker<'a>,
    ops: Vec<NewOp>,
    // Shared values, and whether they are used.
    lets: BTreeMap<String, (NewValue, bool)>,
}

impl Maker<'_, '_> {
    fn value(&mut self, expr: &Expr) -> Result<NewValue, Bad> {
        match expr {
            Expr::Number(number) => Ok(NewValue::Number(number.of)),
            Expr::Name(word) => {
                if let Some((value, used)) = self.lets.get_mut(&word.of) {
                    *used = true;
                    return Ok(*value);
                }
                match self.checker.names.get_mut(&word.of) {
                    Some(known) => {
                        known.uses += 1;
                        match known.meaning {
                            Meaning::Value(value) => Ok(NewValue::Old(value)),
                            Meaning::List(_) | Meaning::Capture(_) => Err(self
                                .checker
                                .bad(word.span, format!("`{}` is not a value", word.of))),
                        }
                    }
                    None => Err(self.checker.unbound(word)),
                }
            }
            Expr::Result(word, n) => match self.lets.get_mut(&word.of) {
                Some((NewValue::Made(op, _), used)) => {
                    *used = true;
                    Ok(NewValue::Made(*op, *n))
                }
                _ => self.old_result(word, *n),
            },
            Expr::Rest(word) => {
                let why = "a list stands only among operands, as the last of them";
                Err(self.checker.bad(word.span, why))
            }
            Expr::Op(op) => self.op(op),
        }
    }

    // A result of an op that `let` names on the left side.
    fn old_result(&mut self, word: &Word, n: usize) -> Result<NewValue, Bad> {
        let Some(known) = self.checker.names.get_mut(&word.of) else {
            return Err(self.checker.unbound(word));
        };
        known.uses += 1;
        let op = match known.meaning {
            Meaning::Value(value) => match self.checker.graph.values[value].from {
                Source::Result(op) => Some(op),
                _ => None,
            },
            Meaning::List(_) | Meaning::Capture(_) => None,
        };
        match op {
            Some(op) => Ok(NewValue::Old(self.checker.result(op, n, word.span)?)),
            None => Err(self.checker.bad(word.span, format!("`{}` is no op", word.of))),
        }
    }

    fn op(&mut self, text: &OpText) -> Result<NewValue, Bad> {
        let (key, def) = self.checker.op_named(&text.name)?;
        let def = def.cloned();
        let mut operands = Vec::new();
        for (n, operand) in text.operands.iter().enumerate() {
            operands.push(match operand {
                Expr::Rest(word) => match self.checker.names.get_mut(&word.of) {
                    Some(known) if n + 1 == text.operands.len() => {
                        known.uses += 1;
                        match known.meaning {
                            Meaning::List(list) => NewOperand::Rest(list),
                            _ => {
                                let why = format!("`{}` is no list", word.of);
                                return Err(self.checker.bad(word.span, why));
                            }
                        }
                    }
                    Some(_) => {
                        let why = format!("`{}..` is not the last operand", word.of);
                        return Err(self.checker.bad(word.span, why));
                    }
                    None => return Err(self.checker.unbound(word)),
                },
                other => NewOperand::One(self.value(other)?),
            });
        }
        let plain: Vec<Operand> = operands
            .iter()
            .map(|o| match o {
                NewOperand::One(_) => Operand::One(0),
                NewOperand::Rest(list) => Operand::Rest(*list),
            })
            .collect();
        self.checker.check_arity(text, def.as_ref(), &plain)?;
        let mut op = NewOp {
            key,
            span: text.span,
            operands,
            attrs: Vec::new(),
            entries: Vec::new(),
            shape: None,
            dtype: None,
        };
        self.attrs(text, def.as_ref(), &mut op)?;
        self.missing(text, def.as_ref(), &op)?;
        self.ops.push(op);
        let (n, span) = text.result.as_ref().map_or((0, text.span), |r| (r.of, r.span));
        if def.as_ref().is_some_and(|d| d.results == ResultCount::One) && n > 0 {
            let why = format!("`{key}` has 1 result, there is no result {n}");
            return Err(self.checker.bad(span, why));
        }
        Ok(NewValue::Made(self.ops.len() - 1, n))
    }

    fn attrs(&mut self, text: &OpText, def: Option<&OpDef>, op: &mut NewOp) -> Result<(), Bad> {
        for (name, attr) in &text.attrs {
            let (slot, kind) = self.checker.slot(&text.name, def, name)?;
            let term = match (attr, kind) {
                (AttrExpr::Literal(literal), kind) => {
                    Term::Attr(self.checker.accept(name, kind, literal.of.clone(), literal.span)?)
                }
                (AttrExpr::Name(word), kind) => match self.checker.word_as(kind, &word.of) {
                    Some(attr) => Term::Attr(attr),
                    None => match kind {
                        Some(kind @ (AttrKind::Word(_) | AttrKind::Type))
                            if !self.checker.names.contains_key(&word.of) =>
                        {
                            return Err(self.checker.no_such(word, kind));
                        }
                        _ => self.checker.term(wanted(kind), attr)?,
                    },
                },
                (AttrExpr::Call(..), kind) => self.checker.term(wanted(kind), attr)?,
            };
            let twice = match &slot {
                AttrSlot::Row(row) => op.attrs.iter().any(|(r, _)| r == row),
                AttrSlot::Entry(entry) => op.entries.iter().any(|(e, _)| e == entry),
                AttrSlot::Shape => op.shape.is_some(),
                AttrSlot::Dtype => op.dtype.is_some(),
            };
            if twice {
                let why = format!("`{}` is given twice", name.of);
                return Err(self.checker.bad(name.span, why));
            }
            match slot {
                AttrSlot::Row(row) => op.attrs.push((row, term)),
                AttrSlot::Entry(entry) => op.entries.push((entry, term)),
                AttrSlot::Shape => op.shape = Some(term),
                AttrSlot::Dtype => op.dtype = Some(term),
            }
        }
        Ok(())
    }

    fn missing(&mut self, text: &OpText, def: Option<&OpDef>, op: &NewOp) -> Result<(), Bad> {
        let Some(def) = def else { return Ok(()) };
        for (n, row) in def.attrs.iter().enumerate() {
            let given = op.attrs.iter().any(|(r, _)| *r == n);
            if !given && row.default.is_none() && row.kind != AttrKind::ResultType {
                let why = format!("{} needs the attribute `{}`", def.name, row.name);
                let problem = Diagnostic::error(text.span, why);
                let help = format!("it must be {}", row.kind.describe());
                self.checker.problems.push(problem.with_help(help));
                return Err(Bad);
            }
        }
        let stated = def.attrs.iter().any(|a| a.kind == AttrKind::ResultType);
        if !stated && (op.shape.is_some() || op.dtype.is_some()) {
            let why =
                format!("{} infers its type: no `shape` or `dtype` on the right side", def.name);
            return Err(self.checker.bad(text.span, why));
        }
        Ok(())
    }
}

fn wanted(kind: Option<AttrKind>) -> Kind {
    match kind {
        Some(AttrKind::Int) => Kind::Int,
        Some(AttrKind::Ints) => Kind::Ints,
        Some(AttrKind::Type) => Kind::Dtype,
        _ => Kind::Attr,
    }
}

/// The attribute a term stands for.
pub(crate) fn attr_of(
    term: &Term,
    f: &sapwood_ptir::Function,
    bound: &crate::matcher::Bound,
) -> Option<Attr> {
    match term.resolve(f, bound)? {
        super::Argument::Attr(attr) => Some(attr),
        super::Argument::Value(_) | super::Argument::Values(_) => None,
    }
}
