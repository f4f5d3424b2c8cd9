//! Name resolution of rules, which builds the pattern graph of the left side.

use std::collections::BTreeMap;

use sapwood_ptir::{Attr, AttrKind, Name, OpDef, OpKey, OperandKind, Registry, ResultCount};
use sapwood_types::{DataType, Diagnostic, Diagnostics, Span, counted, did_you_mean};

use super::alternatives::{BranchPath, OpSet};
use super::ast::{AttrExpr, Expr, OpText, RuleText, Word};
use super::terms::closest_word;
use super::vocabulary::{ArgumentKind, Vocabulary};
use super::{Rule, rhs};
use crate::graph::{
    AttrCondition, AttrSlot, AttrTest, AxesOf, Connection, Literal, MatchPlan, OpIx, PatternGraph,
    PatternOp, PatternOperand, PatternRoot, PatternValue, ValueIx, ValueSource, check_graph,
    has_negative,
};

/// The largest number of results of an op that rules can refer to.
const MAX_RESULTS: usize = 64;

/// The entity that a name is bound to.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum NameMeaning {
    Value(ValueIx),
    List(usize),
    Capture(usize),
    /// A dim of a type.
    Dim(Name),
    /// An op that a wildcard matches.
    Op(OpIx),
}

#[derive(Clone)]
pub(super) struct BoundName {
    pub(super) meaning: NameMeaning,
    pub(super) span: Span,
    pub(super) uses: usize,
    /// Bound by `let`.
    pub(super) shared: bool,
    /// The alternatives in which it occurs, from the outermost to the innermost; one path for each occurrence.
    pub(super) paths: Vec<BranchPath>,
}

/// An error that was reported as a diagnostic.
pub(super) struct Reported;

pub(super) struct RuleResolver<'a> {
    pub(super) registry: &'a Registry,
    pub(super) words: &'a Vocabulary,
    pub(super) problems: &'a mut Diagnostics,
    pub(super) graph: PatternGraph,
    pub(super) names: BTreeMap<String, BoundName>,
    /// The kinds of captures, as far as the ops determine them.
    pub(super) kinds: Vec<ArgumentKind>,
    /// The attributes at which captures occur first.
    pub(super) rows: Vec<Option<AttrKind>>,
    /// The alternatives around the current expression.
    pub(super) path: BranchPath,
    /// The numbers of branches of all choices so far.
    pub(super) branch_counts: Vec<usize>,
    /// The number of regions around the current expression.
    pub(super) region_depth: usize,
    /// The places of the types of values.
    pub(super) type_spans: BTreeMap<ValueIx, Span>,
    /// The places of attributes, by op and number.
    pub(super) attr_spans: BTreeMap<(OpIx, usize), Span>,
}

/// Resolves a parsed rule.
pub(super) fn resolve_rule(
    text: &RuleText,
    registry: &Registry,
    words: &Vocabulary,
    problems: &mut Diagnostics,
) -> Option<Rule> {
    let before = problems.error_count();
    let name = Name::new(&text.name.of);
    let mut graph = PatternGraph::empty(name, text.name.span);
    graph.benefit = text.benefit;
    let mut resolver = RuleResolver {
        registry,
        words,
        problems,
        graph,
        names: BTreeMap::new(),
        kinds: Vec::new(),
        rows: Vec::new(),
        path: Vec::new(),
        branch_counts: Vec::new(),
        region_depth: 0,
        type_spans: BTreeMap::new(),
        attr_spans: BTreeMap::new(),
    };
    let root = resolver.resolve_lhs(text).ok();
    // Without a valid left side the right side cannot be checked.
    let right = match (&text.right, root) {
        (Some(side), Some(root)) => rhs::resolve_rhs(&mut resolver, side, root).ok(),
        _ => None,
    };
    resolver.report_unused(text.is_rule);
    let RuleResolver { mut graph, problems, .. } = resolver;
    if problems.error_count() > before {
        return None;
    }
    let root = root?;
    if !graph.is_plain() && graph.roots.is_empty() {
        graph.roots.push(PatternRoot { op: root, chosen: Vec::new() });
    }
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
    // A rule is tried at its root and only sees the definitions that the root depends on. One with several outputs is tried at each,
    // and finds the others by their common operands.
    let plan = MatchPlan::new(&graph, root, true);
    let several = graph.outputs.len() > 1 && text.left.roots.len() > 1 && right.is_some();
    let seen = |reach: &Connection| match reach {
        Connection::Use(_) => several,
        Connection::Captures(_) => false,
        _ => true,
    };
    let away = plan.steps.iter().find(|s| !seen(&s.reach));
    if let Some(step) = away.filter(|_| right.is_some()) {
        let (op, root) = (graph.show(step.op), graph.show(root));
        let span = graph.ops[step.op].span;
        problems
            .error(span, format!("`{root}` is not computed from `{op}`, so a rule cannot see it"));
        return None;
    }
    let other_starts: Vec<OpIx> = match several {
        true => graph.outputs.iter().skip(1).filter_map(|&output| graph.op_of(output)).collect(),
        false => graph.roots.iter().skip(1).map(|root| root.op).collect(),
    };
    let other_plans: Vec<(OpIx, MatchPlan)> =
        other_starts.into_iter().map(|op| (op, MatchPlan::new(&graph, op, true))).collect();
    let all_hops = other_plans.iter().map(|(_, plan)| plan.hops(&graph));
    let hops = all_hops.fold(plan.hops(&graph), u8::max);
    Some(Rule {
        name,
        doc: text.doc.trim().to_owned(),
        span: text.span,
        floats: text.floats,
        root,
        plan,
        other_plans,
        several_outputs: several,
        hops,
        pattern: graph,
        right,
    })
}

impl RuleResolver<'_> {
    fn resolve_lhs(&mut self, text: &RuleText) -> Result<OpIx, Reported> {
        self.look_through(text)?;
        self.lets(text);
        let root = &text.left.roots[0];
        let value = self.value(root)?;
        if let ValueSource::Choice(_) = self.graph.values[value].from {
            return self.root_choice(text, value);
        }
        let ValueSource::Result(op) = self.graph.values[value].from else {
            return Err(
                self.report(root.span(), "the left side must be an op, such as `add(x, y)`")
            );
        };
        if let Expr::Op(written) = root
            && let Some(result) = &written.result
        {
            let help = "the whole op is replaced; give one value per result on the right side, separated by commas";
            let problem = Diagnostic::error(result.span, "the left side is one result of an op");
            self.problems.push(problem.with_help(help));
            return Err(Reported);
        }
        if let (true, Some(right)) = (text.left.roots.len() > 1, &text.right) {
            return self.several_outputs(text, right, op);
        }
        let count = text.right.as_ref().map_or(1, |r| r.roots.len());
        let (key, most) = (self.graph.ops[op].key, self.most_results(op));
        if let Some(extra) = text.right.as_ref().and_then(|r| r.roots.get(most))
            && most < MAX_RESULTS
        {
            let (most, given) = (counted(most, "result"), counted(count, "value"));
            let why = format!("`{key}` has {most}, the right side gives {given}");
            return Err(self.report(extra.span(), why));
        }
        for n in 0..count {
            let output = self.result(op, n, root.span())?;
            self.graph.outputs.push(output);
        }
        self.more_outputs(text, op)?;
        self.conditions(text);
        Ok(op)
    }

    /// Returns the value that an expression of the left side stands for.
    pub(super) fn value(&mut self, expr: &Expr) -> Result<ValueIx, Reported> {
        match expr {
            Expr::Name(word) => match self.use_name(word) {
                Some(NameMeaning::Value(value)) => Ok(value),
                Some(NameMeaning::List(_)) => {
                    Err(self.report(word.span, format!("`{0}` is a list; write `{0}..`", word.of)))
                }
                Some(NameMeaning::Capture(_)) => {
                    Err(self
                        .report(word.span, format!("`{}` is an attribute, not a value", word.of)))
                }
                Some(NameMeaning::Dim(_)) => {
                    Err(self.report(word.span, format!("`{}` is a dim, not a value", word.of)))
                }
                Some(NameMeaning::Op(_)) => {
                    Err(self.report(word.span, format!("`{}` is an op, not a value", word.of)))
                }
                None => {
                    let value = self.new_value(&word.of, ValueSource::Param);
                    self.graph.params.push(value);
                    self.bind_name(word, NameMeaning::Value(value), 1);
                    Ok(value)
                }
            },
            Expr::Typed(word, ty) => self.typed(word, ty),
            Expr::Const(word) => self.constant(word),
            Expr::Alternatives(all, span) => self.alternatives(all, *span),
            Expr::Rest(word) => {
                Err(self.report(word.span, "a list may only be the last operand of an op"))
            }
            Expr::Number(number) => {
                let literal = Literal::Number(number.of);
                Ok(self.new_value(&number.of.to_string(), ValueSource::Literal(literal)))
            }
            Expr::Result(word, n) => {
                let known = match self.names.get_mut(&word.of) {
                    Some(known) if known.shared => known,
                    _ => {
                        let why = format!("`{}` is not bound by `let` before it", word.of);
                        return Err(self.report(word.span, why));
                    }
                };
                known.uses += 1;
                match known.meaning {
                    NameMeaning::Value(value) => match self.graph.values[value].from {
                        ValueSource::Result(op) => self.result(op, *n, word.span),
                        _ => Err(self.report(word.span, format!("`{}` is not an op", word.of))),
                    },
                    _ => Err(self.report(word.span, format!("`{}` is not an op", word.of))),
                }
            }
            Expr::Op(op) => self.op(op),
        }
    }

    pub(super) fn new_value(&mut self, name: &str, from: ValueSource) -> ValueIx {
        let name = name.to_owned();
        self.graph.values.push(PatternValue { name, from, ty: None, shape: None });
        self.graph.values.len() - 1
    }

    /// Returns the meaning of a name, and counts the use.
    pub(super) fn meaning_of(&mut self, word: &Word) -> Option<NameMeaning> {
        let known = self.names.get_mut(&word.of)?;
        known.uses += 1;
        Some(known.meaning)
    }

    /// Returns the meaning of a name in an expression of the left side, and counts the use.
    pub(super) fn use_name(&mut self, word: &Word) -> Option<NameMeaning> {
        let path = self.path.clone();
        self.names.get_mut(&word.of)?.paths.push(path);
        self.meaning_of(word)
    }

    /// Binds a name.
    pub(super) fn bind_name(&mut self, word: &Word, meaning: NameMeaning, uses: usize) {
        let paths = vec![self.path.clone()];
        let known = BoundName { meaning, span: word.span, uses, shared: false, paths };
        self.names.insert(word.of.clone(), known);
    }

    // Returns the largest number of results of an op.
    fn most_results(&self, op: OpIx) -> usize {
        match self.registry.get(self.graph.ops[op].key).map(|d| d.results) {
            Some(ResultCount::None) => 0,
            Some(ResultCount::One) => 1,
            Some(_) if self.graph.ops[op].key == OpKey::of("top_k") => 2,
            Some(ResultCount::Many) | None => MAX_RESULTS,
        }
    }

    /// Returns the n-th result of an op of the graph.
    pub(super) fn result(&mut self, op: OpIx, n: usize, span: Span) -> Result<ValueIx, Reported> {
        let (key, most) = (self.graph.ops[op].key, self.most_results(op));
        if n >= most {
            let why = match most {
                MAX_RESULTS => format!("rules can refer to at most {MAX_RESULTS} results"),
                most => format!("`{key}` has {}, so it has no result {n}", counted(most, "result")),
            };
            return Err(self.report(span, why));
        }
        while self.graph.ops[op].results.len() <= n {
            let next = self.graph.ops[op].results.len();
            let value = self.new_value(&format!("{key}.{next}"), ValueSource::Result(op));
            self.graph.ops[op].results.push(value);
        }
        Ok(self.graph.ops[op].results[n])
    }

    pub(super) fn op(&mut self, text: &OpText) -> Result<ValueIx, Reported> {
        if text.optional {
            return self.optional(text);
        }
        self.required_op(text, None)
    }

    /// Adds an op; the first operand may be resolved already.
    pub(super) fn required_op(
        &mut self,
        text: &OpText,
        first: Option<ValueIx>,
    ) -> Result<ValueIx, Reported> {
        let OpSet { key, others, def, commutative } = self.op_set(text)?;
        self.check_region_count(text, def.as_ref())?;
        let mut operands = Vec::new();
        let mut fine = true;
        for (n, operand) in text.operands.iter().enumerate() {
            if let Some(value) = first.filter(|_| n == 0) {
                operands.push(PatternOperand::One(value));
                continue;
            }
            if let Expr::Rest(word) = operand {
                match self.operand_list(word, n + 1 == text.operands.len(), def.as_ref()) {
                    Ok(list) => operands.push(PatternOperand::Rest(list)),
                    Err(Reported) => fine = false,
                }
                continue;
            }
            match self.value(operand) {
                Ok(value) => operands.push(PatternOperand::One(value)),
                Err(Reported) => fine = false,
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
                Err(Reported) => fine = false,
            }
        }
        if !fine {
            return Err(Reported);
        }
        if let Some(word) = &text.carried {
            let named = text.attrs.iter().map(|(name, _)| Name::new(&name.of)).collect();
            let capture = self.capture(word, None)?;
            let test = AttrCondition::Capture(capture);
            attrs.push(AttrTest { slot: AttrSlot::Others(named), test });
        }
        self.check_arity(text, def.as_ref(), &operands)?;
        self.check_attributes(text, def.as_ref(), &attrs)?;
        let (region_patterns, captured) = self.regions(text)?;
        let callee = attrs.iter().position(|t| matches!(&t.test, AttrCondition::Is(Attr::Func(_))));
        let callee = callee.filter(|_| key == OpKey::of("call")).map(|n| attrs.remove(n));
        let callee = callee.and_then(|t| match t.test {
            AttrCondition::Is(Attr::Func(name)) => Some(name),
            _ => None,
        });
        self.graph.ops.push(PatternOp {
            key,
            others,
            span: text.span,
            operands,
            results: Vec::new(),
            exact_results: false,
            attrs,
            callee,
            commutative,
            symmetric: false,
            regions: None,
            captured,
            region_patterns,
            in_region: self.region_depth > 0,
        });
        let op = self.graph.ops.len() - 1;
        for (n, (name, _)) in text.attrs.iter().enumerate() {
            self.attr_spans.insert((op, n), name.span);
        }
        self.capture_op(text, op)?;
        let (n, span) = text.result.as_ref().map_or((0, text.span), |r| (r.of, r.span));
        self.result(op, n, span)
    }

    /// Returns the op of this name, and its definition if it is registered.
    pub(super) fn op_named(&mut self, name: &Word) -> Result<(OpKey, Option<&OpDef>), Reported> {
        let Some(def) = self.registry.by_name(&name.of) else {
            if name.of.contains('.') {
                return Ok((OpKey::of(&name.of), None));
            }
            let near = did_you_mean(&name.of, self.registry.defs().map(|d| d.name));
            let help = match near {
                Some(near) => format!("did you mean `{near}`?"),
                None => "`sapwood ops` lists the ops; one that is not registered is written `dialect.name`".into(),
            };
            let problem = Diagnostic::error(name.span, format!("unknown op `{}`", name.of));
            self.problems.push(problem.with_help(help));
            return Err(Reported);
        };
        let refused = match def {
            d if d.terminator => Some("it ends a body"),
            d if d.name == "constant" => Some("write the number itself"),
            _ => None,
        };
        match refused {
            Some(why) => {
                Err(self.report(name.span, format!("a rule cannot have `{}`: {why}", name.of)))
            }
            None => Ok((def.key, Some(def))),
        }
    }

    pub(super) fn check_arity(
        &mut self,
        text: &OpText,
        def: Option<&OpDef>,
        operands: &[PatternOperand],
    ) -> Result<(), Reported> {
        let Some(def) = def else { return Ok(()) };
        if matches!(operands.last(), Some(PatternOperand::Rest(_))) {
            return Ok(());
        }
        if operands.is_empty() && def.name == "concat" {
            let why = "concat: expected at least 1 operand, found 0";
            return Err(self.report(text.span, why));
        }
        if def.variadic_len(operands.len()).is_none() {
            let (arity, found) = (def.describe_arity(), operands.len());
            let why = format!("{}: expected {arity}, found {found}", def.name);
            return Err(self.report(text.span, why));
        }
        Ok(())
    }

    /// Resolves a list of operands, which only an op with any number of operands can have.
    fn operand_list(
        &mut self,
        word: &Word,
        last: bool,
        def: Option<&OpDef>,
    ) -> Result<usize, Reported> {
        let groups = def
            .map_or(1, |d| d.operands.iter().filter(|o| o.kind == OperandKind::Variadic).count());
        if groups != 1 || !last {
            let why = match last {
                true => format!("`{}..`: the op takes a fixed number of operands", word.of),
                false => format!("`{}..` is not the last operand", word.of),
            };
            return Err(self.report(word.span, why));
        }
        if let Some(meaning) = self.use_name(word) {
            return match meaning {
                NameMeaning::List(list) => Ok(list),
                _ => Err(self.report(word.span, format!("`{}` is not a list", word.of))),
            };
        }
        self.graph.lists.push(word.of.clone());
        let list = self.graph.lists.len() - 1;
        self.bind_name(word, NameMeaning::List(list), 1);
        Ok(list)
    }

    fn attr_test(
        &mut self,
        op: &Word,
        def: Option<&OpDef>,
        name: &Word,
        attr: &AttrExpr,
    ) -> Result<AttrTest, Reported> {
        let (slot, kind) = self.attr_slot(op, def, name)?;
        let test = match attr {
            AttrExpr::Call(word, _) => {
                let why = "attribute functions are only allowed on the right side";
                return Err(self.report(word.span, why));
            }
            AttrExpr::List(items, _) => {
                let inner = items.iter().find(|item| !matches!(item, AttrExpr::Literal(_)));
                let span = inner.map_or(attr.span(), AttrExpr::span);
                let why = "a list of the left side may only contain literals";
                let help = match &*name.of {
                    "shape" => {
                        "name the dims in a type: `let r = …`, and `r: [n, n]` where it is used"
                    }
                    _ => "name the whole list, and compare it in `where`: `equal(a, [n, 1])`",
                };
                self.problems.push(Diagnostic::error(span, why).with_help(help));
                return Err(Reported);
            }
            AttrExpr::Literal(literal) => {
                let attr = self.accept_literal(name, kind, literal.of.clone(), literal.span)?;
                match AxesOf::attr(&name.of, def).filter(|_| has_negative(&attr)) {
                    Some(of) => AttrCondition::Axes(of, attr),
                    None => AttrCondition::Is(attr),
                }
            }
            AttrExpr::Name(word) if word.of == "none" && may_be_absent(def, &slot) => {
                AttrCondition::Is(Attr::Unit)
            }
            AttrExpr::Name(word)
                if word.of == "none" && def.is_some() && self.word_as(kind, "none").is_none() =>
            {
                let why = format!("`{}` is never omitted", name.of);
                let help = "`none` tests that an attribute without a default is omitted";
                self.problems.push(Diagnostic::error(word.span, why).with_help(help));
                return Err(Reported);
            }
            AttrExpr::Name(word) => match self.word_as(kind, &word.of) {
                Some(attr) => AttrCondition::Is(attr),
                None => AttrCondition::Capture(self.capture(word, kind)?),
            },
        };
        Ok(AttrTest { slot, test })
    }

    /// Returns the attribute slot of a name, and its kind; no kind for unregistered ops.
    pub(super) fn attr_slot(
        &mut self,
        op: &Word,
        def: Option<&OpDef>,
        name: &Word,
    ) -> Result<(AttrSlot, Option<AttrKind>), Reported> {
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
        Err(Reported)
    }

    /// Converts a literal to an attribute of its kind.
    pub(super) fn accept_literal(
        &mut self,
        name: &Word,
        kind: Option<AttrKind>,
        attr: Attr,
        span: Span,
    ) -> Result<Attr, Reported> {
        let Some(kind) = kind else { return Ok(attr) };
        let found = attr.describe();
        match kind.coerce(attr) {
            Some(attr) => Ok(attr),
            None => {
                let wanted = kind.describe();
                Err(self.report(
                    span,
                    format!("attribute `{}` must be {wanted}, found {found}", name.of),
                ))
            }
        }
    }

    /// Returns the attribute that a bare word stands for where this kind is expected: `lt`, `f32`.
    pub(super) fn word_as(&self, kind: Option<AttrKind>, word: &str) -> Option<Attr> {
        match kind? {
            AttrKind::Word(words) => words.contains(&word).then(|| Attr::word(word)),
            AttrKind::Type => word.parse::<DataType>().ok().map(Attr::Type),
            _ => None,
        }
    }

    pub(super) fn capture(
        &mut self,
        word: &Word,
        row: Option<AttrKind>,
    ) -> Result<usize, Reported> {
        let kind = ArgumentKind::of_attr_kind(row);
        if let Some(meaning) = self.use_name(word) {
            let NameMeaning::Capture(capture) = meaning else {
                return Err(
                    self.report(word.span, format!("`{}` is a value, not an attribute", word.of))
                );
            };
            let own = self.kinds[capture];
            if own != kind && own != ArgumentKind::Attr && kind != ArgumentKind::Attr {
                let why = format!(
                    "`{}` is {}, here {} is wanted",
                    word.of,
                    own.describe(),
                    kind.describe()
                );
                return Err(self.report(word.span, why));
            }
            return Ok(capture);
        }
        self.graph.captures.push(word.of.clone());
        self.kinds.push(kind);
        self.rows.push(row);
        let capture = self.graph.captures.len() - 1;
        self.bind_name(word, NameMeaning::Capture(capture), 1);
        Ok(capture)
    }

    // Reports attributes, lists and shared values that are bound and never used.
    fn report_unused(&mut self, rewrites: bool) {
        if self.problems.has_errors() {
            return;
        }
        let mut unused: Vec<(&String, &BoundName)> = self
            .names
            .iter()
            .filter(|(_, known)| match known.meaning {
                // A pattern may capture an attribute only to report it.
                NameMeaning::Capture(capture) => {
                    let kind = self.rows[capture];
                    let is_word = matches!(kind, Some(AttrKind::Word(_) | AttrKind::Type));
                    known.uses < 2 && (rewrites || is_word)
                }
                NameMeaning::Value(_) => known.shared && known.uses == 0,
                NameMeaning::List(_) | NameMeaning::Dim(_) | NameMeaning::Op(_) => false,
            })
            .collect();
        unused.sort_by_key(|(name, _)| *name);
        for (name, known) in unused {
            let row = match known.meaning {
                NameMeaning::Capture(capture) => self.rows[capture],
                _ => None,
            };
            let (why, near) = match row {
                Some(kind @ (AttrKind::Word(_) | AttrKind::Type)) => {
                    let what = kind.describe();
                    let why = format!("`{name}` is not {what}, and as a name it is never used");
                    (why, closest_word(name, kind))
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

    pub(super) fn report(&mut self, span: Span, why: impl Into<String>) -> Reported {
        self.problems.error(span, why);
        Reported
    }
}

// Returns whether an attribute is optional and has no value where it is omitted, so that `none` tests for that.
fn may_be_absent(def: Option<&OpDef>, slot: &AttrSlot) -> bool {
    match (def, slot) {
        (Some(def), AttrSlot::Row(row)) => def.attrs[*row].default == Some(Attr::Unit),
        _ => false,
    }
}
