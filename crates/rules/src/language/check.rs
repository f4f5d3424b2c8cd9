//! Looks names up and makes the pattern graph of the left side.

use std::collections::BTreeMap;
use std::sync::Arc;

use sapwood_ptir::{Attr, AttrKind, Name, OpDef, OpKey, OperandKind, Registry, ResultCount};
use sapwood_types::{DataType, Diagnostic, Diagnostics, Span, counted, did_you_mean};

use super::ast::{AttrExpr, ConditionText, Expr, OpText, RuleText, Word};
use super::condition::{Condition, Term};
use super::vocabulary::{Kind, Vocabulary};
use super::{Rule, right};
use crate::graph::{
    AttrSlot, AttrTest, Literal, OpIx, Operand, PatternGraph, PatternOp, PatternValue, Plan, Reach,
    Source, Test, ValueIx, check_graph,
};

/// How many results of an op rules may speak of.
const MAX_RESULTS: usize = 64;

/// What a name stands for.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum Meaning {
    Value(ValueIx),
    List(usize),
    Capture(usize),
}

#[derive(Clone)]
pub(super) struct Known {
    pub(super) meaning: Meaning,
    pub(super) span: Span,
    pub(super) uses: usize,
    /// Bound by `let`.
    shared: bool,
}

/// What is wrong has been noted.
pub(super) struct Bad;

pub(super) struct Checker<'a> {
    pub(super) registry: &'a Registry,
    pub(super) words: &'a Vocabulary,
    pub(super) problems: &'a mut Diagnostics,
    pub(super) graph: PatternGraph,
    pub(super) names: BTreeMap<String, Known>,
    /// What captures are, as far as the ops say.
    pub(super) kinds: Vec<Kind>,
    /// The attributes at which they were met first.
    rows: Vec<Option<AttrKind>>,
}

/// Makes a rule of what is written.
pub(super) fn check(
    text: &RuleText,
    registry: &Registry,
    words: &Vocabulary,
    problems: &mut Diagnostics,
) -> Option<Rule> {
    let before = problems.error_count();
    let name = Name::new(&text.name.of);
    let mut graph = PatternGraph::empty(name, text.name.span);
    graph.benefit = text.benefit;
    let mut checker = Checker {
        registry,
        words,
        problems,
        graph,
        names: BTreeMap::new(),
        kinds: Vec::new(),
        rows: Vec::new(),
    };
    let root = checker.left(text).ok();
    // What the left side does not say, the right side cannot be held to.
    let right = match (&text.right, root) {
        (Some(side), Some(root)) => right::right(&mut checker, side, root).ok(),
        _ => None,
    };
    checker.unused();
    let Checker { mut graph, problems, .. } = checker;
    if problems.error_count() > before {
        return None;
    }
    let root = root?;
    check_graph(&mut graph, text.name.span, problems);
    match (&right, text.is_rule) {
        (None, true) => {
            let missing =
                Diagnostic::error(text.name.span, format!("rule `{name}` has no right side"));
            problems.push(
                missing.with_help("add `=> …`, or write `pattern` if it is only to be found"),
            );
        }
        (Some(_), false) => {
            let extra =
                Diagnostic::error(text.name.span, format!("pattern `{name}` has a right side"));
            problems.push(extra.with_help("write `rule`"));
        }
        _ => {}
    }
    if problems.error_count() > before {
        return None;
    }
    // A rule is tried at its root, and sees what that is computed from.
    let plan = Plan::new(&graph, root, true);
    let away = plan.steps.iter().find(|s| !matches!(s.reach, Reach::Root | Reach::Def(_)));
    if let Some(step) = away.filter(|_| right.is_some()) {
        let (op, root) = (graph.show(step.op), graph.show(root));
        let span = graph.ops[step.op].span;
        problems
            .error(span, format!("`{root}` is not computed from `{op}`, so a rule cannot see it"));
        return None;
    }
    let hops = plan.hops(&graph);
    Some(Rule {
        name,
        doc: text.doc.trim().to_owned(),
        span: text.span,
        floats: text.floats,
        root,
        plan,
        hops,
        pattern: graph,
        right,
        given_up: Arc::default(),
    })
}

impl Checker<'_> {
    fn left(&mut self, text: &RuleText) -> Result<OpIx, Bad> {
        for (name, expr) in &text.left.lets {
            let value = self.value(expr);
            if let Some(first) = self.names.get(&name.of) {
                let twice = Diagnostic::error(name.span, format!("`{}` is defined twice", name.of));
                let note = twice.with_note_at(first.span, "here first");
                self.problems.push(note);
                continue;
            }
            if let Ok(value) = value {
                self.graph.values[value].name.clone_from(&name.of);
                let meaning = Meaning::Value(value);
                let known = Known { meaning, span: name.span, uses: 0, shared: true };
                self.names.insert(name.of.clone(), known);
            }
        }
        let root = &text.left.roots[0];
        let value = self.value(root)?;
        let Source::Result(op) = self.graph.values[value].from else {
            return Err(self.bad(root.span(), "the left side must be an op, such as `add(x, y)`"));
        };
        if let Expr::Op(written) = root
            && let Some(result) = &written.result
        {
            let help = "the whole op is replaced; give one value per result on the right side, separated by commas";
            let problem = Diagnostic::error(result.span, "the left side is one result of an op");
            self.problems.push(problem.with_help(help));
            return Err(Bad);
        }
        let count = text.right.as_ref().map_or(1, |r| r.roots.len());
        let (key, most) = (self.graph.ops[op].key, self.most_results(op));
        if let Some(extra) = text.right.as_ref().and_then(|r| r.roots.get(most))
            && most < MAX_RESULTS
        {
            let (most, given) = (counted(most, "result"), counted(count, "value"));
            let why = format!("`{key}` has {most}, the right side gives {given}");
            return Err(self.bad(extra.span(), why));
        }
        for n in 0..count {
            let output = self.result(op, n, root.span())?;
            self.graph.outputs.push(output);
        }
        for condition in &text.conditions {
            if let Ok(condition) = self.condition(condition) {
                self.graph.conditions.push(condition);
            }
        }
        Ok(op)
    }

    /// The value an expression of the left side stands for.
    fn value(&mut self, expr: &Expr) -> Result<ValueIx, Bad> {
        match expr {
            Expr::Name(word) => match self.names.get_mut(&word.of) {
                Some(known) => {
                    known.uses += 1;
                    match known.meaning {
                        Meaning::Value(value) => Ok(value),
                        Meaning::List(_) => {
                            Err(self
                                .bad(word.span, format!("`{0}` is a list; write `{0}..`", word.of)))
                        }
                        Meaning::Capture(_) => Err(self
                            .bad(word.span, format!("`{}` is an attribute, not a value", word.of))),
                    }
                }
                None => {
                    let value = self.new_value(&word.of, Source::Param);
                    self.graph.params.push(value);
                    let meaning = Meaning::Value(value);
                    let known = Known { meaning, span: word.span, uses: 1, shared: false };
                    self.names.insert(word.of.clone(), known);
                    Ok(value)
                }
            },
            Expr::Rest(word) => {
                Err(self.bad(word.span, "a list stands only among operands, as the last of them"))
            }
            Expr::Number(number) => {
                let literal = Literal::Number(number.of);
                Ok(self.new_value(&number.of.to_string(), Source::Literal(literal)))
            }
            Expr::Result(word, n) => {
                let known = match self.names.get_mut(&word.of) {
                    Some(known) if known.shared => known,
                    _ => {
                        let why = format!("`{}` is not bound by `let` before it", word.of);
                        return Err(self.bad(word.span, why));
                    }
                };
                known.uses += 1;
                match known.meaning {
                    Meaning::Value(value) => match self.graph.values[value].from {
                        Source::Result(op) => self.result(op, *n, word.span),
                        _ => Err(self.bad(word.span, format!("`{}` is no op", word.of))),
                    },
                    _ => Err(self.bad(word.span, format!("`{}` is no op", word.of))),
                }
            }
            Expr::Op(op) => self.op(op),
        }
    }

    fn new_value(&mut self, name: &str, from: Source) -> ValueIx {
        self.graph.values.push(PatternValue { name: name.to_owned(), from, ty: None });
        self.graph.values.len() - 1
    }

    // How many results of an op there are at most.
    fn most_results(&self, op: OpIx) -> usize {
        match self.registry.get(self.graph.ops[op].key).map(|d| d.results) {
            Some(ResultCount::None) => 0,
            Some(ResultCount::One) => 1,
            Some(ResultCount::Many) | None => MAX_RESULTS,
        }
    }

    /// The n-th result of an op of the graph.
    pub(super) fn result(&mut self, op: OpIx, n: usize, span: Span) -> Result<ValueIx, Bad> {
        let (key, most) = (self.graph.ops[op].key, self.most_results(op));
        if n >= most {
            let why = match most {
                MAX_RESULTS => format!("rules speak of at most {MAX_RESULTS} results"),
                most => format!("`{key}` has {}, there is no result {n}", counted(most, "result")),
            };
            return Err(self.bad(span, why));
        }
        while self.graph.ops[op].results.len() <= n {
            let next = self.graph.ops[op].results.len();
            let value = self.new_value(&format!("{key}.{next}"), Source::Result(op));
            self.graph.ops[op].results.push(value);
        }
        Ok(self.graph.ops[op].results[n])
    }

    fn op(&mut self, text: &OpText) -> Result<ValueIx, Bad> {
        let (key, def) = self.op_named(&text.name)?;
        let def = def.cloned();
        let mut operands = Vec::new();
        let mut fine = true;
        for (n, operand) in text.operands.iter().enumerate() {
            if let Expr::Rest(word) = operand {
                match self.rest(word, n + 1 == text.operands.len(), def.as_ref()) {
                    Ok(list) => operands.push(Operand::Rest(list)),
                    Err(Bad) => fine = false,
                }
                continue;
            }
            match self.value(operand) {
                Ok(value) => operands.push(Operand::One(value)),
                Err(Bad) => fine = false,
            }
        }
        let mut attrs: Vec<AttrTest> = Vec::new();
        for (name, attr) in &text.attrs {
            match self.attr_test(&text.name, def.as_ref(), name, attr) {
                Ok(test) if attrs.iter().any(|t| t.slot == test.slot) => {
                    self.problems.error(name.span, format!("`{}` is given twice", name.of));
                    fine = false;
                }
                Ok(test) => attrs.push(test),
                Err(Bad) => fine = false,
            }
        }
        if !fine {
            return Err(Bad);
        }
        self.check_arity(text, def.as_ref(), &operands)?;
        let callee = attrs.iter().position(|t| matches!(&t.test, Test::Is(Attr::Func(_))));
        let callee = callee.filter(|_| key == OpKey::of("call")).map(|n| attrs.remove(n));
        let callee = callee.and_then(|t| match t.test {
            Test::Is(Attr::Func(name)) => Some(name),
            _ => None,
        });
        self.graph.ops.push(PatternOp {
            key,
            span: text.span,
            operands,
            results: Vec::new(),
            exact_results: false,
            attrs,
            callee,
            commutative: def.as_ref().is_some_and(|d| d.commutative),
            symmetric: false,
            regions: None,
            captured: Vec::new(),
        });
        let op = self.graph.ops.len() - 1;
        let (n, span) = text.result.as_ref().map_or((0, text.span), |r| (r.of, r.span));
        self.result(op, n, span)
    }

    /// The op of a name, and its row if it has one.
    pub(super) fn op_named(&mut self, name: &Word) -> Result<(OpKey, Option<&OpDef>), Bad> {
        let Some(def) = self.registry.by_name(&name.of) else {
            if name.of.contains('.') {
                return Ok((OpKey::of(&name.of), None));
            }
            let near = did_you_mean(&name.of, self.registry.defs().map(|d| d.name));
            let help = match near {
                Some(near) => format!("did you mean `{near}`?"),
                None => "ops that are not registered are written `dialect.name`".into(),
            };
            let problem = Diagnostic::error(name.span, format!("unknown op `{}`", name.of));
            self.problems.push(problem.with_help(help));
            return Err(Bad);
        };
        let refused = match def {
            d if d.terminator => Some("it ends a body"),
            d if d.name == "constant" => Some("write the number itself"),
            d if !d.regions.is_empty() => Some("it has regions; write the pattern as a function"),
            _ => None,
        };
        match refused {
            Some(why) => {
                Err(self.bad(name.span, format!("a rule cannot have `{}`: {why}", name.of)))
            }
            None => Ok((def.key, Some(def))),
        }
    }

    pub(super) fn check_arity(
        &mut self,
        text: &OpText,
        def: Option<&OpDef>,
        operands: &[Operand],
    ) -> Result<(), Bad> {
        let Some(def) = def else { return Ok(()) };
        if matches!(operands.last(), Some(Operand::Rest(_))) {
            return Ok(());
        }
        if def.variadic_len(operands.len()).is_none() {
            let (arity, found) = (def.describe_arity(), operands.len());
            let why = format!("{}: expected {arity}, found {found}", def.name);
            return Err(self.bad(text.span, why));
        }
        Ok(())
    }

    /// A list of operands: only where the op takes any number of them.
    fn rest(&mut self, word: &Word, last: bool, def: Option<&OpDef>) -> Result<usize, Bad> {
        let groups = def
            .map_or(1, |d| d.operands.iter().filter(|o| o.kind == OperandKind::Variadic).count());
        if groups != 1 || !last {
            let why = match last {
                true => format!("`{}..`: the op takes a fixed number of operands", word.of),
                false => format!("`{}..` is not the last operand", word.of),
            };
            return Err(self.bad(word.span, why));
        }
        if let Some(known) = self.names.get_mut(&word.of) {
            known.uses += 1;
            return match known.meaning {
                Meaning::List(list) => Ok(list),
                _ => Err(self.bad(word.span, format!("`{}` is no list", word.of))),
            };
        }
        self.graph.lists.push(word.of.clone());
        let list = self.graph.lists.len() - 1;
        let meaning = Meaning::List(list);
        self.names
            .insert(word.of.clone(), Known { meaning, span: word.span, uses: 1, shared: false });
        Ok(list)
    }

    fn attr_test(
        &mut self,
        op: &Word,
        def: Option<&OpDef>,
        name: &Word,
        attr: &AttrExpr,
    ) -> Result<AttrTest, Bad> {
        let (slot, kind) = self.slot(op, def, name)?;
        let test = match attr {
            AttrExpr::Call(word, _) => {
                let why =
                    "the left side takes attributes as they are; functions stand on the right";
                return Err(self.bad(word.span, why));
            }
            AttrExpr::Literal(literal) => {
                Test::Is(self.accept(name, kind, literal.of.clone(), literal.span)?)
            }
            AttrExpr::Name(word) => match self.word_as(kind, &word.of) {
                Some(attr) => Test::Is(attr),
                None => Test::Capture(self.capture(word, kind)?),
            },
        };
        Ok(AttrTest { slot, test })
    }

    /// Which attribute a name is, and what it may be; none for those of unregistered ops.
    pub(super) fn slot(
        &mut self,
        op: &Word,
        def: Option<&OpDef>,
        name: &Word,
    ) -> Result<(AttrSlot, Option<AttrKind>), Bad> {
        let Some(def) = def else {
            return Ok((AttrSlot::Entry(Name::new(&name.of)), None));
        };
        let rows = || def.attrs.iter().filter(|a| a.kind != AttrKind::ResultType);
        let row =
            def.attrs.iter().position(|a| a.name == name.of && a.kind != AttrKind::ResultType);
        if let Some(row) = row {
            return Ok((AttrSlot::Row(row), Some(def.attrs[row].kind)));
        }
        match &*name.of {
            "shape" => return Ok((AttrSlot::Shape, Some(AttrKind::Ints))),
            "dtype" => return Ok((AttrSlot::Dtype, Some(AttrKind::Type))),
            _ => {}
        }
        let names = rows().map(|a| a.name).chain(["shape", "dtype"]);
        let help = match did_you_mean(&name.of, names.clone()) {
            Some(near) => format!("did you mean `{near}`?"),
            None => format!("there are: {}", names.collect::<Vec<_>>().join(", ")),
        };
        let why = format!("{} has no attribute `{}`", op.of, name.of);
        self.problems.push(Diagnostic::error(name.span, why).with_help(help));
        Err(Bad)
    }

    /// A literal in the form of its kind.
    pub(super) fn accept(
        &mut self,
        name: &Word,
        kind: Option<AttrKind>,
        attr: Attr,
        span: Span,
    ) -> Result<Attr, Bad> {
        let Some(kind) = kind else { return Ok(attr) };
        let found = attr.describe();
        match kind.coerce(attr) {
            Some(attr) => Ok(attr),
            None => {
                let wanted = kind.describe();
                Err(self
                    .bad(span, format!("attribute `{}` must be {wanted}, found {found}", name.of)))
            }
        }
    }

    /// A bare word that is a literal where this kind is wanted: `lt`, `f32`.
    pub(super) fn word_as(&self, kind: Option<AttrKind>, word: &str) -> Option<Attr> {
        match kind? {
            AttrKind::Word(words) => words.contains(&word).then(|| Attr::word(word)),
            AttrKind::Type => word.parse::<DataType>().ok().map(Attr::Type),
            _ => None,
        }
    }

    fn capture(&mut self, word: &Word, row: Option<AttrKind>) -> Result<usize, Bad> {
        let kind = kind_of(row);
        if let Some(known) = self.names.get_mut(&word.of) {
            known.uses += 1;
            let Meaning::Capture(capture) = known.meaning else {
                return Err(
                    self.bad(word.span, format!("`{}` is a value, not an attribute", word.of))
                );
            };
            let own = self.kinds[capture];
            if own != kind && own != Kind::Attr && kind != Kind::Attr {
                let why = format!(
                    "`{}` is {}, here {} is wanted",
                    word.of,
                    own.describe(),
                    kind.describe()
                );
                return Err(self.bad(word.span, why));
            }
            return Ok(capture);
        }
        self.graph.captures.push(word.of.clone());
        self.kinds.push(kind);
        self.rows.push(row);
        let capture = self.graph.captures.len() - 1;
        let meaning = Meaning::Capture(capture);
        self.names
            .insert(word.of.clone(), Known { meaning, span: word.span, uses: 1, shared: false });
        Ok(capture)
    }

    fn condition(&mut self, text: &ConditionText) -> Result<Condition, Bad> {
        let Some(predicate) = self.words.predicates.get(&text.name.of).cloned() else {
            let names = self.words.predicates.keys().map(String::as_str);
            let help = match did_you_mean(&text.name.of, names.clone()) {
                Some(near) => format!("did you mean `{near}`?"),
                None => format!("there are: {}", names.collect::<Vec<_>>().join(", ")),
            };
            let why = format!("there is no predicate `{}`", text.name.of);
            self.problems.push(Diagnostic::error(text.name.span, why).with_help(help));
            return Err(Bad);
        };
        let arguments = self.arguments(&text.name, &predicate.params, &text.arguments)?;
        Ok(Condition { predicate, arguments, not: text.not, text: text.text.clone() })
    }

    /// The arguments of a word, checked against what it takes.
    pub(super) fn arguments(
        &mut self,
        word: &Word,
        params: &[Kind],
        given: &[AttrExpr],
    ) -> Result<Vec<Term>, Bad> {
        if params.len() != given.len() {
            let (wanted, found) = (params.len(), given.len());
            let wanted = counted(wanted, "argument");
            let why = format!("`{}` takes {wanted}, found {found}", word.of);
            return Err(self.bad(word.span, why));
        }
        params.iter().zip(given).map(|(&kind, arg)| self.term(kind, arg)).collect()
    }

    /// A value, list or attribute where one of this kind is wanted.
    pub(super) fn term(&mut self, wanted: Kind, arg: &AttrExpr) -> Result<Term, Bad> {
        let (term, kind) = match arg {
            AttrExpr::Literal(literal) => {
                (Term::Attr(literal.of.clone()), kind_of_attr(&literal.of))
            }
            AttrExpr::Call(word, given) => {
                let Some(function) = self.words.functions.get(&word.of).cloned() else {
                    let names = self.words.functions.keys().map(String::as_str);
                    let help = match did_you_mean(&word.of, names.clone()) {
                        Some(near) => format!("did you mean `{near}`?"),
                        None => format!("there are: {}", names.collect::<Vec<_>>().join(", ")),
                    };
                    let why = format!("there is no function `{}`", word.of);
                    self.problems.push(Diagnostic::error(word.span, why).with_help(help));
                    return Err(Bad);
                };
                let arguments = self.arguments(word, &function.params, given)?;
                let gives = function.gives;
                (Term::Function(function, arguments), gives)
            }
            AttrExpr::Name(word) => match self.names.get_mut(&word.of) {
                Some(known) => {
                    known.uses += 1;
                    match known.meaning {
                        Meaning::Value(value) => (Term::Value(value), Kind::Value),
                        Meaning::List(list) => (Term::Values(list), Kind::Values),
                        Meaning::Capture(capture) => (Term::Capture(capture), self.kinds[capture]),
                    }
                }
                None => match word.of.parse::<DataType>() {
                    Ok(dtype) if matches!(wanted, Kind::Dtype | Kind::Attr) => {
                        (Term::Attr(Attr::Type(dtype)), Kind::Dtype)
                    }
                    _ if wanted == Kind::Dtype => {
                        return Err(self.no_such(word, AttrKind::Type));
                    }
                    _ => return Err(self.unbound(word)),
                },
            },
        };
        let attr = |k: Kind| !matches!(k, Kind::Value | Kind::Values);
        let fits = kind == wanted
            || (wanted == Kind::Attr && attr(kind))
            || (kind == Kind::Attr && attr(wanted));
        if !fits {
            let why = format!("expected {}, found {}", wanted.describe(), kind.describe());
            return Err(self.bad(arg.span(), why));
        }
        Ok(term)
    }

    pub(super) fn unbound(&mut self, word: &Word) -> Bad {
        let mut names: Vec<&str> = self.names.keys().map(String::as_str).collect();
        names.sort_unstable();
        let help = match did_you_mean(&word.of, names.iter().copied()) {
            Some(near) => format!("did you mean `{near}`?"),
            None => format!("the left side binds {}", names.join(", ")),
        };
        let problem = Diagnostic::error(word.span, format!("`{}` is not bound", word.of));
        self.problems.push(problem.with_help(help));
        Bad
    }

    /// A word that is neither bound nor what an attribute of this kind can be.
    pub(super) fn no_such(&mut self, word: &Word, kind: AttrKind) -> Bad {
        let why = format!("`{}` is not {}, and not bound", word.of, kind.describe());
        let problem = Diagnostic::error(word.span, why);
        self.problems.push(match near(&word.of, kind) {
            Some(near) => problem.with_help(format!("did you mean `{near}`?")),
            None => problem,
        });
        Bad
    }

    // Names of attributes, lists and shared values that are bound for nothing.
    fn unused(&mut self) {
        if self.problems.has_errors() {
            return;
        }
        let mut unused: Vec<(&String, &Known)> = self
            .names
            .iter()
            .filter(|(_, known)| match known.meaning {
                Meaning::Capture(_) => known.uses < 2,
                Meaning::Value(_) => known.shared && known.uses == 0,
                Meaning::List(_) => false,
            })
            .collect();
        unused.sort_by_key(|(name, _)| *name);
        for (name, known) in unused {
            let row = match known.meaning {
                Meaning::Capture(capture) => self.rows[capture],
                Meaning::Value(_) | Meaning::List(_) => None,
            };
            let (why, near) = match row {
                Some(kind @ (AttrKind::Word(_) | AttrKind::Type)) => {
                    let what = kind.describe();
                    let why = format!("`{name}` is not {what}, and as a name it is never used");
                    (why, near(name, kind))
                }
                _ => (format!("`{name}` is never used"), None),
            };
            let help = match near {
                Some(near) => format!("did you mean `{near}`?"),
                None => "leave it out".into(),
            };
            self.problems.push(Diagnostic::error(known.span, why).with_help(help));
        }
    }

    pub(super) fn bad(&mut self, span: Span, why: impl Into<String>) -> Bad {
        self.problems.error(span, why);
        Bad
    }
}

// The word that was probably meant where this kind is wanted.
fn near(word: &str, kind: AttrKind) -> Option<&'static str> {
    match kind {
        AttrKind::Word(words) => did_you_mean(word, words.iter().copied()),
        AttrKind::Type => did_you_mean(word, DataType::ALL.iter().map(|t| t.short_name())),
        _ => None,
    }
}

fn kind_of(kind: Option<AttrKind>) -> Kind {
    match kind {
        Some(AttrKind::Int) => Kind::Int,
        Some(AttrKind::Ints) => Kind::Ints,
        Some(AttrKind::Type) => Kind::Dtype,
        _ => Kind::Attr,
    }
}

fn kind_of_attr(attr: &Attr) -> Kind {
    match attr {
        Attr::Int(_) => Kind::Int,
        Attr::Ints(_) => Kind::Ints,
        Attr::Type(_) => Kind::Dtype,
        _ => Kind::Attr,
    }
}
