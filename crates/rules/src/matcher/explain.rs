//! Why not here: the deepest failure per root, near misses first.

use sapwood_ptir::{Attr, Function, InstId, InstPrinter, Name, Program, ValueDef, ValueId};
use sapwood_types::{Span, counted};

use super::index::FunctionIndex;
use super::search::{Bound, Scene, Search, attr_at};
use super::why::Why;
use super::{FindOptions, rarest};
use crate::graph::{
    AttrSlot, Callees, Literal, Operand, PatternGraph, PatternOp, Plan, Reach, Source, Test,
    ValueIx, is_numbered, written_attrs,
};
use crate::language::Term;
use crate::show::show_attr;

/// A place where a pattern was nearly found.
#[derive(Clone, PartialEq, Debug)]
pub struct NearMiss {
    /// The number of the pattern.
    pub pattern: usize,
    /// The function.
    pub function: Name,
    /// The instruction the search started from; none if the function has none to start from.
    pub root: Option<InstId>,
    /// How many ops of the pattern were found.
    pub matched: usize,
    /// How many it has.
    pub of: usize,
    /// The op of the pattern that was not found.
    pub op: String,
    /// Why.
    pub reason: String,
    /// Where.
    pub span: Span,
}

/// The deepest failure of a search.
#[derive(Default)]
pub(crate) struct Nearest {
    depth: usize,
    // Of two orders of operands, the one is told where a constant stands for a constant.
    alike: bool,
    last: Option<(Option<InstId>, Why, Bound)>,
}

impl Nearest {
    pub(super) fn note(
        &mut self,
        search: &Search<'_>,
        depth: usize,
        inst: Option<InstId>,
        why: Why,
    ) {
        let alike = depth >= self.depth && alike(search, depth, inst, &why);
        if self.last.is_none() || (depth, alike) > (self.depth, self.alike) {
            (self.depth, self.alike) = (depth, alike);
            self.last = Some((inst, why, search.bound.clone()));
        }
    }
}

// Whether an operand and what the pattern wants there are both constants, or both are not.
fn alike(search: &Search<'_>, depth: usize, inst: Option<InstId>, why: &Why) -> bool {
    let (Some(inst), Why::Operand(n, at)) = (inst, why) else { return false };
    let pattern = search.pattern;
    let operands = search.plan.steps.get(depth).map(|step| &pattern.ops[step.op].operands);
    let Some(Operand::One(value)) = operands.and_then(|list| list.get(*n)) else { return false };
    let literal = matches!(pattern.values[*value].from, Source::Literal(_));
    let f = search.scene.f;
    f.operands(inst).get(*at).is_some_and(|&v| f.constant_of(v).is_some() == literal)
}

struct Miss {
    root: InstId,
    depth: usize,
    inst: Option<InstId>,
    why: Why,
    bound: Bound,
}

/// Says for every pattern and function without a match at a root why there is none: at most `limit` places per pattern and
/// function, those first where most of the pattern was found.
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
    for number in options.wanted(patterns) {
        let pattern = &patterns[number];
        for f in program.functions() {
            if f.extracted_from().is_some() && !options.in_extracted {
                continue;
            }
            let index = FunctionIndex::new(f);
            let scene = Scene { f, index: Some(&index), callees: Some(&callees), options };
            matched[number] |= in_function(scene, pattern, number, limit, &mut misses);
        }
    }
    // That a function has nothing of a pattern is worth saying only where no other has more.
    let near: Vec<usize> = misses.iter().filter(|m| m.root.is_some()).map(|m| m.pattern).collect();
    misses.retain(|m| m.root.is_some() || !(near.contains(&m.pattern) || matched[m.pattern]));
    misses.sort_by_key(|m: &NearMiss| (m.pattern, std::cmp::Reverse(m.matched)));
    misses
}

fn in_function(
    scene: Scene<'_>,
    pattern: &PatternGraph,
    number: usize,
    limit: usize,
    misses: &mut Vec<NearMiss>,
) -> bool {
    let (Some(index), f) = (scene.index, scene.f) else { return false };
    let mut any = false;
    let present = |op: &usize| !index.of(pattern.ops[*op].key).is_empty();
    let root = rarest(index, pattern).or_else(|| {
        let there = (0..pattern.ops.len()).rev().filter(present);
        there.min_by_key(|&op| index.of(pattern.ops[op].key).len())
    });
    let Some(root) = root else {
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
    };
    let plan = Plan::new(pattern, root, !scene.options.operand_order);
    let mut found: Vec<Miss> = Vec::new();
    for &at in index.of(pattern.ops[root].key) {
        let mut search = Search::new(scene, pattern, &plan);
        search.nearest = Some(Nearest::default());
        let mut complete = false;
        search.run(at, |_| {
            complete = true;
            false
        });
        any |= complete;
        let Some(Nearest { depth, last: Some((inst, why, bound)), .. }) = search.nearest else {
            continue;
        };
        if complete {
            continue;
        }
        found.push(Miss { root: at, depth, inst, why, bound });
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
    let mut telling = Telling { f, pattern, plan: &plan, callees: scene.callees, names };
    for miss in &found {
        let step = plan.steps.get(miss.depth);
        misses.push(NearMiss {
            pattern: number,
            function: f.name(),
            root: Some(miss.root),
            matched: miss.depth,
            of: pattern.ops.len(),
            op: step.map_or_else(|| "where".into(), |s| pattern.show(s.op)),
            reason: telling.reason(miss),
            span: f.inst_span(telling.place(miss)),
        });
    }
    any
}

struct Telling<'a> {
    f: &'a Function,
    pattern: &'a PatternGraph,
    plan: &'a Plan,
    callees: Option<&'a Callees<'a>>,
    names: InstPrinter<'a>,
}

impl Telling<'_> {
    fn reason(&mut self, miss: &Miss) -> String {
        let inst = miss.inst.unwrap_or(miss.root);
        let shown = format!("`{}`", self.names.print(inst));
        let pattern = self.pattern;
        if let Why::Condition(n) = miss.why {
            return self.condition(miss, n, &shown);
        }
        let Some(step) = self.plan.steps.get(miss.depth) else { return String::new() };
        let op = &pattern.ops[step.op];
        let wanted = pattern.show(step.op);
        match miss.why {
            Why::Op | Why::NoCandidate => self.not_there(miss, &step.reach, &wanted),
            Why::Taken => format!("{shown} is another op of the match already"),
            Why::Results(n) => {
                format!(
                    "{shown} has {}, the pattern asks for {}",
                    counted(n, "result"),
                    op.results.len()
                )
            }
            Why::Result(n) => self.other_result(miss, inst, op.results[n], n, &shown),
            Why::Operands(n) => {
                format!(
                    "{shown} has {}, the pattern asks for {}",
                    counted(n, "operand"),
                    op.operands.len()
                )
            }
            Why::Operand(n, at) => self.operand(miss, inst, op.operands[n], at, &shown),
            Why::Attr(n) => self.attribute(miss, inst, step.op, n, &shown),
            Why::Callee => self.callee(inst, op.callee, &shown),
            Why::Regions => {
                format!(
                    "the regions of {shown} have other parameters or instructions than the pattern's"
                )
            }
            Why::Region(wanted, found) => self.region(miss, wanted, found, &shown),
            Why::Condition(_) => String::new(),
        }
    }

    // All ops are there, but a condition does not hold for them.
    fn condition(&mut self, miss: &Miss, n: usize, shown: &str) -> String {
        let condition = &self.pattern.conditions[n];
        let place = match condition.named().first().map(|term| self.place_of(miss, term)) {
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
                Term::Attr(_) | Term::Function(..) => continue,
            };
            let stands_for = format!("{name} = {}", what.unwrap_or_else(|| "nothing".into()));
            if !bound.contains(&stands_for) {
                bound.push(stands_for);
            }
        }
        let with = if bound.is_empty() { "" } else { " for " };
        format!(
            "all ops are there, but {place}`{}` does not hold{with}{}",
            condition.text(),
            bound.join(", ")
        )
    }

    fn region(&mut self, miss: &Miss, wanted: InstId, found: InstId, shown: &str) -> String {
        let text = self.names.print(found);
        let Some(source) = &self.pattern.source else {
            return format!("in {shown}, `{text}` is not what the pattern has there");
        };
        let f = self.f;
        let same_attrs = written_attrs(source, wanted).iter().all(|t| match &t.test {
            Test::Is(attr) => attr_at(f, found, &t.slot).as_ref() == Some(attr),
            Test::Capture(_) => true,
        });
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
            return format!("in {shown}, `{text}` stands where the pattern has `{wanted}`");
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
                    Some((n, self.said(ours), self.said(known), value))
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

    // The instruction that a reason is about.
    fn place(&self, miss: &Miss) -> InstId {
        let term = match miss.why {
            Why::Op | Why::NoCandidate => match self.plan.steps.get(miss.depth).map(|s| &s.reach) {
                Some(Reach::Def(value)) => Some(Term::Value(*value)),
                _ => None,
            },
            Why::Condition(n) => self.pattern.conditions[n].named().first().map(|t| (*t).clone()),
            _ => None,
        };
        let named = term.and_then(|term| self.bound_with(miss, &term));
        named.or(miss.inst).unwrap_or(miss.root)
    }

    // The op is not where it would have to be.
    fn not_there(&mut self, miss: &Miss, reach: &Reach, wanted: &str) -> String {
        let bound = |v: &ValueIx| miss.bound.values[*v];
        match reach {
            Reach::Root => format!("no `{wanted}`"),
            Reach::Def(value) => {
                let name = &self.pattern.values[*value].name;
                let Some(found) = bound(value) else { return format!("no `{wanted}`") };
                let shown = self.names.value(found);
                let user = self.user_of(miss, *value);
                let from = self.origin(found);
                format!(
                    "{user}{shown} should be the result of `{wanted}` ({name} in the pattern), but it is {from}"
                )
            }
            Reach::Use(values) => {
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
            Reach::Captures(value) => match bound(value) {
                Some(found) => {
                    format!("no region of a `{wanted}` uses {}", self.names.value(found))
                }
                None => format!("no `{wanted}`"),
            },
        }
    }

    // `in `%4 = mul %2, %3 : …`, ` for the op that is bound and has what a term of the pattern names.
    fn place_of(&mut self, miss: &Miss, term: &Term) -> String {
        match self.bound_with(miss, term) {
            Some(inst) => format!("in `{}`, ", self.names.print(inst)),
            None => String::new(),
        }
    }

    fn bound_with(&self, miss: &Miss, term: &Term) -> Option<InstId> {
        let captures = |op: &PatternOp, capture: usize| {
            op.attrs.iter().any(|test| matches!(test.test, Test::Capture(c) if c == capture))
        };
        let has = |op: &PatternOp| match term {
            Term::Value(value) => self.pattern.used_by(op).any(|v| v == *value),
            Term::Values(list) => op.operands.contains(&Operand::Rest(*list)),
            Term::Capture(capture) => captures(op, *capture),
            Term::Attr(_) | Term::Function(..) => false,
        };
        let mut ops = self.pattern.ops.iter().zip(&miss.bound.ops);
        ops.find_map(|(op, inst)| inst.filter(|_| has(op)))
    }

    fn user_of(&mut self, miss: &Miss, value: ValueIx) -> String {
        self.place_of(miss, &Term::Value(value))
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
        miss: &Miss,
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
        let ty = wanted.ty.as_ref().map_or_else(String::new, ToString::to_string);
        let name = self.names.value(found);
        format!(
            "in {shown}, {name} is {}, the pattern wants {ty} for {}",
            self.f.value_type(found),
            wanted.name
        )
    }

    fn operand(
        &mut self,
        miss: &Miss,
        inst: InstId,
        operand: Operand,
        at: usize,
        shown: &str,
    ) -> String {
        let Operand::One(value) = operand else {
            return format!("the operands of {shown} differ from those bound before");
        };
        let Some(&found) = self.f.operands(inst).get(at) else { return String::new() };
        let data = &self.pattern.values[value];
        match (&data.from, miss.bound.values[value]) {
            (_, Some(known)) => {
                let (name, known) = (self.said(found), self.said(known));
                format!(
                    "operand {at} of {shown} is {name}, but must be {known} again ({} in the pattern)",
                    data.name
                )
            }
            (Source::Literal(literal), None) => {
                let from = self.origin(found);
                format!("operand {at} of {shown} is {from}, the pattern wants {}", literal.show())
            }
            (_, None) => self.wrong_type(value, found, shown),
        }
    }

    // The name of a value, and its number if it is a constant, which may be written without a name.
    fn said(&mut self, value: ValueId) -> String {
        let name = self.names.value(value);
        match self.f.constant_of(value) {
            Some(_) => format!("{name} ({})", self.origin(value)),
            None => name,
        }
    }

    // What a value is, in words; the op is spelled as the program spells it.
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

    fn attribute(&mut self, miss: &Miss, inst: InstId, op: usize, n: usize, shown: &str) -> String {
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
        };
        let found =
            attr_at(self.f, inst, &test.slot).map_or_else(|| "not known".into(), |a| show_attr(&a));
        match &test.test {
            Test::Is(wanted) => {
                let wanted = show_attr(wanted);
                format!("`{name}` of {shown} is {found}, the pattern wants {wanted}")
            }
            Test::Capture(capture) => {
                let known =
                    miss.bound.captures[*capture].as_ref().map_or_else(String::new, show_attr);
                let own = &self.pattern.captures[*capture];
                format!("`{name}` of {shown} is {found}, but `{own}` is {known} already")
            }
        }
    }
}

// What a value is, in words.
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
