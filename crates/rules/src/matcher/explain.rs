//! Explanations of missing matches: the deepest failure per root, near misses first.

use sapwood_ptir::{Attr, Function, InstId, InstPrinter, Name, Program, ValueDef, ValueId};
use sapwood_types::{Span, counted};

use super::index::FunctionIndex;
use super::match_failure::MatchFailure;
use super::regions::written_attrs_match;
use super::search::{Bindings, Search, SearchContext, attr_at};
use super::{FindOptions, search_roots};
use crate::attr_text::show_attr;
use crate::graph::{
    AttrCondition, AttrSlot, Callees, Connection, Literal, MatchPlan, PatternGraph, PatternOp,
    PatternOperand, ValueIx, ValueSource, is_numbered,
};
use crate::language::Term;

/// A place where a pattern was nearly found.
#[derive(Clone, PartialEq, Debug)]
pub struct NearMiss {
    /// The index of the pattern.
    pub pattern: usize,
    /// The function.
    pub function: Name,
    /// The instruction at which the search started; none if the function has no candidate.
    pub root: Option<InstId>,
    /// The number of ops of the pattern that were matched.
    pub matched: usize,
    /// The number of ops of the pattern.
    pub of: usize,
    /// The op of the pattern that was not found.
    pub op: String,
    /// The reason.
    pub reason: String,
    /// The span of the instruction that the reason is about.
    pub span: Span,
}

/// The deepest failure of a search.
#[derive(Default)]
pub(crate) struct DeepestFailure {
    depth: usize,
    // Set if the failed operand is a constant on both sides or on neither. Such a failure is preferred to that of the other order.
    alike: bool,
    last: Option<(Option<InstId>, MatchFailure, Bindings)>,
}

impl DeepestFailure {
    pub(super) fn update(
        &mut self,
        search: &Search<'_>,
        depth: usize,
        inst: Option<InstId>,
        why: MatchFailure,
    ) {
        let alike = depth >= self.depth && alike(search, depth, inst, &why);
        if self.last.is_none() || (depth, alike) > (self.depth, self.alike) {
            (self.depth, self.alike) = (depth, alike);
            self.last = Some((inst, why, search.bound.clone()));
        }
    }
}

// Returns whether an operand and its counterpart in the pattern are both constants, or both are not.
fn alike(search: &Search<'_>, depth: usize, inst: Option<InstId>, why: &MatchFailure) -> bool {
    let (Some(inst), MatchFailure::Operand(n, at)) = (inst, why) else { return false };
    let pattern = search.pattern;
    let operands = search.plan.steps.get(depth).map(|step| &pattern.ops[step.op].operands);
    let Some(PatternOperand::One(value)) = operands.and_then(|list| list.get(*n)) else {
        return false;
    };
    let literal = matches!(pattern.values[*value].from, ValueSource::Literal(_));
    let f = search.cx.f;
    f.operands(inst).get(*at).is_some_and(|&v| f.constant_of(v).is_some() == literal)
}

struct FailedRoot {
    root: InstId,
    depth: usize,
    inst: Option<InstId>,
    why: MatchFailure,
    bound: Bindings,
}

/// Explains for every pattern and function why roots have no match: at most `limit` near misses per pattern and function, those
/// first where most of the pattern was found.
#[must_use]
pub fn explain(
    program: &Program,
    patterns: &[PatternGraph],
    options: &FindOptions,
    limit: usize,
) -> Vec<NearMiss> {
    let callees = Callees::new(program, patterns);
    let mut misses: Vec<NearMiss> = Vec::new();
    let mut matched = vec![false; patterns.len()];
    for number in options.selected(patterns) {
        let pattern = &patterns[number];
        for f in program.functions() {
            if f.extracted_from().is_some() && !options.in_extracted {
                continue;
            }
            let index = FunctionIndex::new(f);
            let cx = SearchContext { f, index: Some(&index), callees: Some(&callees), options };
            matched[number] |= explain_in_function(cx, pattern, number, limit, &mut misses);
        }
    }
    // A function without any op of a pattern is only reported if no other function has a nearer miss.
    let near: Vec<usize> = misses.iter().filter(|m| m.root.is_some()).map(|m| m.pattern).collect();
    misses.retain(|m| m.root.is_some() || !(near.contains(&m.pattern) || matched[m.pattern]));
    misses.sort_by_key(|m: &NearMiss| (m.pattern, std::cmp::Reverse(m.matched)));
    misses
}

fn explain_in_function(
    cx: SearchContext<'_>,
    pattern: &PatternGraph,
    number: usize,
    limit: usize,
    misses: &mut Vec<NearMiss>,
) -> bool {
    let (Some(index), f) = (cx.index, cx.f) else { return false };
    let mut any = false;
    let mut roots = search_roots(index, pattern);
    if roots.is_empty() && pattern.roots.is_empty() {
        let count = |op: &usize| index.count(&pattern.ops[*op]);
        let there = (0..pattern.ops.len()).rev().filter(|op| count(op) > 0);
        roots.extend(there.min_by_key(count));
    }
    if roots.is_empty() {
        let op = pattern.show(0);
        let reason = format!("@{} has no `{op}`", f.name());
        misses.push(NearMiss {
            pattern: number,
            function: f.name(),
            root: None,
            matched: 0,
            of: pattern.ops.len(),
            op,
            reason,
            span: f.span(),
        });
        return false;
    }
    for root in roots {
        any |= explain_from(cx, index, (pattern, number), root, limit, misses);
    }
    any
}

// Explains why instructions at which the search starts with this op have no match. Returns whether one has.
fn explain_from(
    cx: SearchContext<'_>,
    index: &FunctionIndex<'_>,
    (pattern, number): (&PatternGraph, usize),
    root: usize,
    limit: usize,
    misses: &mut Vec<NearMiss>,
) -> bool {
    let (f, mut any) = (cx.f, false);
    let plan = MatchPlan::new(pattern, root, !cx.options.operand_order);
    let mut found: Vec<FailedRoot> = Vec::new();
    for &at in index.candidates(&pattern.ops[root]).iter() {
        let mut search = Search::new(cx, pattern, &plan);
        search.deepest = Some(DeepestFailure::default());
        let mut complete = false;
        search.run(at, |_| {
            complete = true;
            false
        });
        any |= complete;
        let Some(DeepestFailure { depth, last: Some((inst, why, bound)), .. }) = search.deepest
        else {
            continue;
        };
        if complete {
            continue;
        }
        found.push(FailedRoot { root: at, depth, inst, why, bound });
        if found.len() >= 2 * limit.max(1) {
            found.sort_by_key(|m| std::cmp::Reverse(m.depth));
            found.truncate(limit);
        }
    }
    found.sort_by_key(|m| std::cmp::Reverse(m.depth));
    found.truncate(limit);
    if found.is_empty() {
        return any;
    }
    let names = InstPrinter::new(f);
    let mut explainer = FailureExplainer { f, pattern, plan: &plan, callees: cx.callees, names };
    for miss in &found {
        let step = plan.steps.get(miss.depth);
        misses.push(NearMiss {
            pattern: number,
            function: f.name(),
            root: Some(miss.root),
            matched: miss.bound.ops.iter().flatten().count().max(if plan.open {
                0
            } else {
                miss.depth
            }),
            of: pattern.ops.len(),
            op: step.map_or_else(
                || "where".into(),
                |s| if s.op < pattern.ops.len() { pattern.show(s.op) } else { "|".into() },
            ),
            reason: explainer.reason(miss),
            span: f.inst_span(explainer.reason_inst(miss)),
        });
    }
    any
}

struct FailureExplainer<'a> {
    f: &'a Function,
    pattern: &'a PatternGraph,
    plan: &'a MatchPlan,
    callees: Option<&'a Callees<'a>>,
    names: InstPrinter<'a>,
}

impl FailureExplainer<'_> {
    fn reason(&mut self, miss: &FailedRoot) -> String {
        let inst = miss.inst.unwrap_or(miss.root);
        let shown = format!("`{}`", self.names.print(inst));
        let pattern = self.pattern;
        if let MatchFailure::Condition(n) = miss.why {
            return self.condition(miss, n, &shown);
        }
        let Some(step) = self.plan.steps.get(miss.depth) else { return String::new() };
        if let MatchFailure::Branch(value) = miss.why {
            return self.branch(miss, value, inst);
        }
        let Some(op) = pattern.ops.get(step.op) else { return String::new() };
        let wanted = pattern.show(step.op);
        match miss.why {
            MatchFailure::Op | MatchFailure::NoCandidate => {
                self.missing_op_reason(miss, &step.reach, &wanted)
            }
            MatchFailure::Taken => {
                format!("{shown} is matched with another op of the pattern already")
            }
            MatchFailure::Results(n) => {
                format!(
                    "{shown} has {}, the pattern has {}",
                    counted(n, "result"),
                    op.results.len()
                )
            }
            MatchFailure::Result(n) => self.other_result(miss, inst, op.results[n], n, &shown),
            MatchFailure::Operands(n) => {
                format!(
                    "{shown} has {}, the pattern has {}",
                    counted(n, "operand"),
                    op.operands.len()
                )
            }
            MatchFailure::Operand(n, at) => self.operand(miss, inst, op.operands[n], at, &shown),
            MatchFailure::Attr(n) => self.attribute(miss, inst, step.op, n, &shown),
            MatchFailure::Callee => self.callee(inst, op.callee, &shown),
            MatchFailure::Regions => {
                format!(
                    "the regions of {shown} have other parameters or instructions than the pattern's"
                )
            }
            MatchFailure::Region(wanted, found) => self.region(miss, wanted, found, &shown),
            MatchFailure::Condition(_) | MatchFailure::Branch(_) => String::new(),
        }
    }

    // Explains a value that is not one of the alternatives.
    fn branch(&mut self, miss: &FailedRoot, wanted: ValueIx, inst: InstId) -> String {
        let data = &self.pattern.values[wanted];
        let shown = format!("`{}`", self.names.print(inst));
        match (&data.from, miss.bound.values[wanted]) {
            (ValueSource::Literal(literal), None) => {
                format!("{shown} is not {}", literal.show())
            }
            (_, Some(known)) => {
                let known = self.text_with_number(known);
                format!(
                    "the result of {shown} must be {known} again ({} in the pattern)",
                    data.name
                )
            }
            _ => format!("{shown} is not `{}`", data.name),
        }
    }

    // Explains a condition that does not hold although all ops were found.
    fn condition(&mut self, miss: &FailedRoot, n: usize, shown: &str) -> String {
        let condition = &self.pattern.conditions[n];
        let place = match condition.named().first().map(|term| self.place_text(miss, term)) {
            Some(place) if !place.is_empty() => place,
            _ => format!("in {shown}, "),
        };
        let mut bound: Vec<String> = Vec::new();
        for term in condition.named() {
            let (name, what) = match term {
                Term::Value(value) => {
                    let found = miss.bound.values[*value].map(|v| self.names.value(v));
                    (&self.pattern.values[*value].name, found)
                }
                Term::Values(list) => {
                    let found = miss.bound.lists[*list].as_ref().map(|values| {
                        let all: Vec<String> =
                            values.iter().map(|&v| self.names.value(v)).collect();
                        format!("[{}]", all.join(", "))
                    });
                    (&self.pattern.lists[*list], found)
                }
                Term::Capture(capture) => {
                    let found = miss.bound.captures[*capture].as_ref().map(show_attr);
                    (&self.pattern.captures[*capture], found)
                }
                Term::Dim(name) => {
                    let found = miss.bound.dim(*name).map(|dim| dim.to_string());
                    bound.push(format!("{name} = {}", found.unwrap_or_else(|| "nothing".into())));
                    continue;
                }
                Term::Attr(_) | Term::Function(..) => continue,
            };
            let stands_for = format!("{name} = {}", what.unwrap_or_else(|| "nothing".into()));
            if !bound.contains(&stands_for) {
                bound.push(stands_for);
            }
        }
        let with = if bound.is_empty() { "" } else { " for " };
        format!(
            "all ops match, but {place}`{}` does not hold{with}{}",
            condition.text(),
            bound.join(", ")
        )
    }

    fn region(&mut self, miss: &FailedRoot, wanted: InstId, found: InstId, shown: &str) -> String {
        let text = self.names.print(found);
        let Some(source) = &self.pattern.source else {
            return format!("in {shown}, `{text}` is not what the pattern has there");
        };
        let f = self.f;
        let same_attrs = written_attrs_match((source, wanted), (f, found));
        let types = |f: &Function, inst| -> Vec<String> {
            f.inst_results(inst).map(|v| f.value_type(v).to_string()).collect()
        };
        let (theirs, ours) = (source.operands(wanted), f.operands(found));
        if source.op_key(wanted) != f.op_key(found)
            || !same_attrs
            || theirs.len() != ours.len()
            || types(source, wanted) != types(f, found)
        {
            let wanted = InstPrinter::new(source).print(wanted);
            return format!("in {shown}, `{text}` is where the pattern has `{wanted}`");
        }
        let pairs = ours.iter().zip(theirs).map(|(&a, &b)| (origin(f, a), origin(source, b)));
        match pairs.enumerate().find(|(_, (a, b))| a != b) {
            Some((n, (ours, theirs))) => {
                format!(
                    "in {shown}, operand {n} of `{text}` is {ours}, that of the pattern is {theirs}"
                )
            }
            None => {
                let other = ours.iter().zip(theirs).enumerate().find_map(|(n, (&ours, theirs))| {
                    let value = *self.pattern.by_value.get(theirs)?;
                    let known = miss.bound.values[value].filter(|&known| known != ours)?;
                    Some((n, self.text_with_number(ours), self.text_with_number(known), value))
                });
                let Some((n, ours, known, value)) = other else {
                    return format!("in {shown}, `{text}` uses other values than in the pattern");
                };
                let name = &self.pattern.values[value].name;
                format!(
                    "in {shown}, operand {n} of `{text}` is {ours}, but must be {known} again ({name} in the pattern)"
                )
            }
        }
    }

    // Returns the instruction that a reason is about.
    fn reason_inst(&self, miss: &FailedRoot) -> InstId {
        let term = match miss.why {
            MatchFailure::Op | MatchFailure::NoCandidate => {
                match self.plan.steps.get(miss.depth).map(|s| &s.reach) {
                    Some(Connection::Def(value)) => Some(Term::Value(*value)),
                    _ => None,
                }
            }
            MatchFailure::Condition(n) => {
                self.pattern.conditions[n].named().first().map(|t| (*t).clone())
            }
            _ => None,
        };
        let named = term.and_then(|term| self.inst_using_term(miss, &term));
        named.or(miss.inst).unwrap_or(miss.root)
    }

    // Explains an op that is not where the pattern requires it.
    fn missing_op_reason(&mut self, miss: &FailedRoot, reach: &Connection, wanted: &str) -> String {
        let bound = |v: &ValueIx| miss.bound.values[*v];
        match reach {
            Connection::Root => format!("no `{wanted}`"),
            Connection::Def(value) => {
                let name = &self.pattern.values[*value].name;
                let Some(found) = bound(value) else { return format!("no `{wanted}`") };
                let shown = self.names.value(found);
                let user = self.user_of(miss, *value);
                let from = self.origin(found);
                format!(
                    "{user}{shown} should be the result of `{wanted}` ({name} in the pattern), but it is {from}"
                )
            }
            Connection::Use(values) => {
                let Some(found) = values.iter().find_map(|(_, v)| bound(v)) else {
                    return format!("no `{wanted}`");
                };
                let shown = self.names.value(found);
                match self.users(found) {
                    users if users.is_empty() => {
                        format!("no `{wanted}` uses {shown}: nothing does")
                    }
                    users => format!("no `{wanted}` uses {shown}: only {users}"),
                }
            }
            Connection::AnyResult | Connection::Choice(_) => {
                let step = self.plan.steps.get(miss.depth);
                let op = step.and_then(|s| self.pattern.ops.get(s.op));
                let value = op.and_then(|op| op.results.iter().find(|v| bound(v).is_some()));
                match value {
                    Some(&value) => {
                        let text = self.missing_op_reason(miss, &Connection::Def(value), wanted);
                        text + &self.behind(miss, value, step.map_or(0, |s| s.op))
                    }
                    None => format!("no `{wanted}`"),
                }
            }
            Connection::Captures(value) => match bound(value) {
                Some(found) => {
                    format!("no region of a `{wanted}` uses {}", self.names.value(found))
                }
                None => format!("no `{wanted}`"),
            },
        }
    }

    // Names the ops between a value and the wanted op, if these are not looked through.
    fn behind(&mut self, miss: &FailedRoot, value: ValueIx, op: usize) -> String {
        let (f, pattern) = (self.f, self.pattern);
        let Some(mut at) = miss.bound.values[value].filter(|_| !pattern.through.is_empty()) else {
            return String::new();
        };
        let mut between = None;
        for _ in 0..8 {
            let Some(inst) = f.inst_of(at) else { return String::new() };
            if pattern.ops[op].accepts(f.op_key(inst)) {
                let Some(inst) = between else { return String::new() };
                let (name, wanted) = (f.op_name(inst), pattern.show(op));
                let line = match f.inst_span(inst).begin_line() {
                    0 => String::new(),
                    line => format!(" at line {line}"),
                };
                return format!(
                    "; a `{wanted}` is behind it, but `{name}`{line} is not in the look-through list"
                );
            }
            let [source] = f.operands(inst) else { return String::new() };
            if !pattern.through.contains(f.op_key(inst)) {
                between = between.or(Some(inst));
            }
            at = *source;
        }
        String::new()
    }

    // Returns ``in `%4 = mul %2, %3 : …`, `` for the bound op that uses a term of the pattern.
    fn place_text(&mut self, miss: &FailedRoot, term: &Term) -> String {
        match self.inst_using_term(miss, term) {
            Some(inst) => format!("in `{}`, ", self.names.print(inst)),
            None => String::new(),
        }
    }

    fn inst_using_term(&self, miss: &FailedRoot, term: &Term) -> Option<InstId> {
        let captures = |op: &PatternOp, capture: usize| {
            op.attrs
                .iter()
                .any(|test| matches!(test.test, AttrCondition::Capture(c) if c == capture))
        };
        let has = |op: &PatternOp| match term {
            Term::Value(value) => self.pattern.used_by(op).any(|v| v == *value),
            Term::Values(list) => op.operands.contains(&PatternOperand::Rest(*list)),
            Term::Capture(capture) => captures(op, *capture),
            Term::Attr(_) | Term::Dim(_) | Term::Function(..) => false,
        };
        let mut ops = self.pattern.ops.iter().zip(&miss.bound.ops);
        ops.find_map(|(op, inst)| inst.filter(|_| has(op)))
    }

    fn user_of(&mut self, miss: &FailedRoot, value: ValueIx) -> String {
        self.place_text(miss, &Term::Value(value))
    }

    fn users(&mut self, value: ValueId) -> String {
        let mut users: Vec<InstId> = self.f.users_of(value);
        users.dedup();
        let more = users.len().saturating_sub(3);
        let shown: Vec<String> =
            users.iter().take(3).map(|&u| format!("`{}`", self.names.print(u))).collect();
        let mut text = shown.join(", ");
        if more > 0 {
            text += &format!(" and {more} more");
        }
        text
    }

    fn other_result(
        &mut self,
        miss: &FailedRoot,
        inst: InstId,
        result: ValueIx,
        n: usize,
        shown: &str,
    ) -> String {
        let wanted = &self.pattern.values[result];
        let Some(actual) = self.f.result(inst, n) else {
            return format!("{shown} has no result {n}");
        };
        match miss.bound.values[result] {
            Some(known) => {
                let place = self.f.inst_results(inst).position(|v| v == known);
                let known = self.names.value(known);
                let place = place.map_or_else(|| "no result".into(), |p| format!("result {p}"));
                format!(
                    "{known} is {place} of {shown}, the pattern takes result {n} ({}) there",
                    wanted.name
                )
            }
            None => self.wrong_type(result, actual, shown),
        }
    }

    fn wrong_type(&mut self, value: ValueIx, found: ValueId, shown: &str) -> String {
        let wanted = &self.pattern.values[value];
        let ty = match (&wanted.shape, &wanted.ty) {
            (Some(shape), _) => shape.to_string(),
            (None, Some(ty)) => ty.to_string(),
            (None, None) => String::new(),
        };
        let name = self.names.value(found);
        format!(
            "in {shown}, {name} is {}, the pattern wants {ty} for {}",
            self.f.value_type(found),
            wanted.name
        )
    }

    fn operand(
        &mut self,
        miss: &FailedRoot,
        inst: InstId,
        operand: PatternOperand,
        at: usize,
        shown: &str,
    ) -> String {
        let PatternOperand::One(value) = operand else {
            return format!("the operands of {shown} differ from those bound before");
        };
        let Some(&found) = self.f.operands(inst).get(at) else { return String::new() };
        let data = &self.pattern.values[value];
        match (&data.from, miss.bound.values[value]) {
            (_, Some(known)) => {
                let (name, known) = (self.text_with_number(found), self.text_with_number(known));
                format!(
                    "operand {at} of {shown} is {name}, but must be {known} again ({} in the pattern)",
                    data.name
                )
            }
            (ValueSource::Literal(literal), None) => {
                let from = self.origin(found);
                format!("operand {at} of {shown} is {from}, the pattern wants {}", literal.show())
            }
            (_, None) => self.wrong_type(value, found, shown),
        }
    }

    // Returns the name of a value, and its number if it is a constant, which may be printed without a name.
    fn text_with_number(&mut self, value: ValueId) -> String {
        let name = self.names.value(value);
        match self.f.constant_of(value) {
            Some(_) => format!("{name} ({})", self.origin(value)),
            None => name,
        }
    }

    // Describes a value; spells the op as the program does.
    fn origin(&self, value: ValueId) -> String {
        match self.f.inst_of(value).filter(|_| self.f.constant_of(value).is_none()) {
            Some(inst) => format!("the result of `{}`", self.names.op(inst)),
            None => origin(self.f, value),
        }
    }

    fn callee(&mut self, inst: InstId, wanted: Option<Name>, shown: &str) -> String {
        let (Some(Attr::Func(found)), Some(wanted)) = (self.f.attr(inst, "callee"), wanted) else {
            return format!("{shown} calls another function");
        };
        let function = self.callees.and_then(|c| c.program.function(*found));
        let from = function.and_then(|f| f.extracted_from());
        match from {
            Some(from) => format!(
                "{shown}: @{found} was extracted from `{from}`, the pattern wants `{wanted}`"
            ),
            None if !is_numbered(wanted.as_str(), found.as_str()) => {
                format!("{shown}: @{found} is neither @{wanted} nor @{wanted} with a number")
            }
            None => format!("{shown}: the body of @{found} is not the pattern `{wanted}`"),
        }
    }

    fn attribute(
        &mut self,
        miss: &FailedRoot,
        inst: InstId,
        op: usize,
        n: usize,
        shown: &str,
    ) -> String {
        let test = &self.pattern.ops[op].attrs[n];
        let name = match &test.slot {
            AttrSlot::Row(row) => self
                .f
                .op_def(inst)
                .and_then(|d| d.attrs.get(*row))
                .map_or_else(String::new, |a| a.name.to_owned()),
            AttrSlot::Entry(name) => name.to_string(),
            AttrSlot::Shape => "shape".into(),
            AttrSlot::Dtype => "dtype".into(),
            AttrSlot::Others(_) => "the other attributes".into(),
        };
        let found =
            attr_at(self.f, inst, &test.slot).map_or_else(|| "not known".into(), |a| show_attr(&a));
        match &test.test {
            AttrCondition::Is(wanted) | AttrCondition::Axes(wanted) => {
                let wanted = show_attr(wanted);
                format!("`{name}` of {shown} is {found}, the pattern wants {wanted}")
            }
            AttrCondition::Capture(capture) => {
                let known =
                    miss.bound.captures[*capture].as_ref().map_or_else(String::new, show_attr);
                let own = &self.pattern.captures[*capture];
                format!("`{name}` of {shown} is {found}, but `{own}` is {known} already")
            }
        }
    }
}

// Describes a value.
fn origin(f: &Function, value: ValueId) -> String {
    match f.value_def(value) {
        ValueDef::Result(inst, _) => match f.constant_of(value) {
            Some(literal) => Literal::Tensor(literal.clone()).show(),
            None => format!("the result of `{}`", f.op_name(inst)),
        },
        ValueDef::Param(body, _) if body == f.body() => "a parameter".into(),
        ValueDef::Param(..) => "a parameter of a region".into(),
    }
}
