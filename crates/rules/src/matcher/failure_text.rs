//! The texts of explanations of missing matches.

use sapwood_ptir::{Attr, Function, InstId, InstPrinter, Name, ValueDef, ValueId};
use sapwood_types::counted;

use super::explain::FailedRoot;
use super::match_failure::MatchFailure;
use super::regions::written_attrs_match;
use super::search::attr_at;
use crate::attr_text::show_attr;
use crate::graph::{
    AttrCondition, AttrSlot, Callees, Connection, Literal, MatchPlan, PatternGraph, PatternOp,
    PatternOperand, ValueIx, ValueSource, is_numbered,
};
use crate::language::Term;

/// The number of users of a value after which no more are collected for an explanation.
const MAX_USERS: usize = 64;

/// The explainer of a failure.
pub(super) struct FailureExplainer<'a, 'n> {
    pub(super) f: &'a Function,
    pub(super) pattern: &'a PatternGraph,
    pub(super) plan: &'a MatchPlan,
    pub(super) callees: Option<&'a Callees<'a>>,
    pub(super) names: &'n mut InstPrinter<'a>,
}

impl FailureExplainer<'_, '_> {
    /// Returns the reason.
    pub(super) fn reason(&mut self, miss: &FailedRoot) -> String {
        let inst = miss.inst.unwrap_or(miss.root);
        let shown = format!("`{}`", self.names.print(inst));
        let pattern = self.pattern;
        if let MatchFailure::Condition(n) = miss.why {
            return self.condition(miss, n, &shown);
        }
        if miss.why == MatchFailure::Regions {
            return format!(
                "the regions of {shown} have other parameters or instructions than the pattern's"
            );
        }
        if let MatchFailure::NoUser(value) = miss.why {
            return self.no_user(miss, value);
        }
        if let (MatchFailure::Type(value) | MatchFailure::InnerInput(value), Some(found)) =
            (miss.why, miss.bound_value())
        {
            if matches!(miss.why, MatchFailure::Type(_)) {
                return self.wrong_type(value, found, &shown);
            }
            let (name, found) = (&pattern.values[value].name, self.names.value(found));
            return format!(
                "the input {name} is {found}, which is inside of a region of the match"
            );
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
            MatchFailure::Yields(value) => {
                let name = &pattern.values[value].name;
                format!("a region of {shown} does not yield `{name}` of the pattern")
            }
            MatchFailure::Region(wanted, found) => self.region(miss, wanted, found, &shown),
            MatchFailure::Condition(_)
            | MatchFailure::Branch(_)
            | MatchFailure::NoUser(_)
            | MatchFailure::InnerInput(_)
            | MatchFailure::Type(_)
            | MatchFailure::Regions => String::new(),
        }
    }

    /// Returns the ops of the pattern that use a value, also as one of several alternatives.
    pub(super) fn users_in_pattern(&self, value: ValueIx) -> Vec<String> {
        let pattern = self.pattern;
        let mut users: Vec<String> = Vec::new();
        for (n, op) in pattern.ops.iter().enumerate() {
            let used = pattern.without_choices(pattern.used_by_operands(op)).contains(&value);
            let shown = pattern.show(n);
            if used && !users.contains(&shown) {
                users.push(shown);
            }
        }
        users
    }

    // Explains a part of the pattern that was found, and is used otherwise than in the pattern.
    fn no_user(&mut self, miss: &FailedRoot, value: ValueIx) -> String {
        let wanted: Vec<String> =
            self.users_in_pattern(value).iter().map(|op| format!("`{op}`")).collect();
        let wanted = wanted.join(" or ");
        let Some(found) = miss.bound.values[value] else { return format!("no {wanted}") };
        let shown = self.names.value(found);
        match self.users(found) {
            users if users.is_empty() => format!("no {wanted} uses {shown}: nothing does"),
            users => {
                format!("no {wanted} that is part of the pattern uses {shown}: only {users}")
            }
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
            _ => match self.alternatives_with(wanted) {
                Some(alternatives) => format!("{shown} is not {alternatives}"),
                None => format!("{shown} is not `{}`", data.name),
            },
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
                    let found = miss.bound.values[*value].map(|v| self.text_with_number(v));
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
                Term::Attr(_) | Term::Function(..) | Term::List(_) => continue,
            };
            let stands_for = format!("{name} = {}", what.unwrap_or_else(|| "nothing".into()));
            if !bound.contains(&stands_for) {
                bound.push(stands_for);
            }
        }
        for (name, op) in &self.pattern.wildcards {
            if let Some(inst) = miss.bound.ops[*op] {
                bound.push(format!("{name} = `{}`", self.names.op(inst)));
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

    /// Returns the instruction that a reason is about.
    pub(super) fn reason_inst(&self, miss: &FailedRoot) -> InstId {
        let term = match miss.why {
            MatchFailure::Op | MatchFailure::NoCandidate => {
                let step = self.plan.steps.get(miss.depth);
                let op = step.and_then(|step| self.pattern.ops.get(step.op));
                let bound = |v: &&ValueIx| miss.bound.values[**v].is_some();
                match step.map(|step| &step.reach) {
                    Some(Connection::Def(value)) => Some(Term::Value(*value)),
                    Some(Connection::AnyResult) => {
                        op.and_then(|op| op.results.iter().find(bound)).map(|&v| Term::Value(v))
                    }
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
                let shown = match self.is_behind(miss, *value, found) {
                    true => format!("{} behind an operand", self.names.value(found)),
                    false => self.names.value(found),
                };
                let user = self.user_of(miss, *value);
                let from = self.origin_behind(found);
                if let Some(alternatives) = self.alternatives_with(*value) {
                    return format!("{user}{shown} should be {alternatives}, but it is {from}");
                }
                if wanted == "_" {
                    return format!(
                        "{user}{shown} should be the result of an op, but it is {from}"
                    );
                }
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

    // Describes the alternatives of which a value of the pattern is one.
    fn alternatives_with(&self, value: ValueIx) -> Option<String> {
        let pattern = self.pattern;
        let choice = pattern.choices.iter().find(|choice| choice.branches.contains(&value))?;
        let mut all: Vec<String> = (choice.branches.iter())
            .map(|&branch| match &pattern.values[branch].from {
                ValueSource::Result(op) => format!("`{}`", pattern.show(*op)),
                ValueSource::Literal(literal) => literal.show(),
                _ => pattern.values[branch].name.clone(),
            })
            .collect();
        let mut seen: Vec<String> = Vec::new();
        all.retain(|one| {
            let first = !seen.contains(one);
            seen.push(one.clone());
            first
        });
        let name = &*pattern.values[choice.value].name;
        let name = match name {
            "|" => String::new(),
            name if name.ends_with('?') => String::new(),
            name => format!(" ({name} in the pattern)"),
        };
        Some(format!("one of {}{name}", all.join(", ")))
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
                let reason = match pattern.through.contains(f.op_key(inst)) {
                    true => "converts to another kind of elements",
                    false => "is not in the look-through list",
                };
                return format!("; a `{wanted}` is behind it, but `{name}`{line} {reason}");
            }
            let [source] = f.operands(inst) else { return String::new() };
            if pattern.through.step(f, at).is_none() {
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
            Term::Value(value) => {
                op.operands.contains(&PatternOperand::One(*value))
                    || self.pattern.used_by(op).any(|v| v == *value)
            }
            Term::Values(list) => op.operands.contains(&PatternOperand::Rest(*list)),
            Term::Capture(capture) => captures(op, *capture),
            Term::Attr(_) | Term::Dim(_) | Term::Function(..) | Term::List(_) => false,
        };
        let mut ops = self.pattern.ops.iter().zip(&miss.bound.ops);
        ops.find_map(|(op, inst)| inst.filter(|_| has(op)))
    }

    fn user_of(&mut self, miss: &FailedRoot, value: ValueIx) -> String {
        self.place_text(miss, &Term::Value(value))
    }

    // Prints the users of a value; instructions that the pattern looks through are replaced by their users.
    fn users(&mut self, value: ValueId) -> String {
        let (f, through) = (self.f, &self.pattern.through);
        let (mut users, mut pending) = (Vec::new(), vec![value]);
        while let Some(value) = pending.pop().filter(|_| users.len() <= MAX_USERS) {
            for user in f.users_of(value) {
                match f.value_of(user).filter(|&v| through.step(f, v).is_some()) {
                    Some(result) if f.uses(result).next().is_some() => pending.push(result),
                    _ => users.push(user),
                }
            }
        }
        users.sort_unstable_by_key(|&user| f.order_key(user));
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
                let (name, known) = (self.text_with_source(found), self.text_with_source(known));
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

    // Returns the name of a value, and the value that it is computed from by instructions that the pattern looks through.
    fn text_with_source(&mut self, value: ValueId) -> String {
        match self.looked_through(value).last() {
            Some(&(_, source)) => {
                let source = self.text_with_number(source);
                format!("{} (computed from {source})", self.names.value(value))
            }
            None => self.text_with_number(value),
        }
    }

    // Describes a value behind the instructions that the pattern looks through, and names these.
    fn origin_behind(&self, value: ValueId) -> String {
        let insts = self.looked_through(value);
        let Some(&(_, source)) = insts.last() else { return self.origin(value) };
        let from = self.origin(source);
        match insts.len() {
            1..=3 => {
                let ops = insts.iter().map(|&(inst, _)| format!("`{}`", self.names.op(inst)));
                format!("{from} behind {}", ops.collect::<Vec<_>>().join(", "))
            }
            n => format!("{from} behind {n} ops that are looked through"),
        }
    }

    // Returns the instructions that the pattern looks through from a value, each with its operand.
    fn looked_through(&self, value: ValueId) -> Vec<(InstId, ValueId)> {
        let through = &self.pattern.through;
        through.chain(self.f, value).filter_map(|v| through.step(self.f, v)).collect()
    }

    // Returns whether the bound op that uses a value of the pattern has it behind other instructions, not as an operand.
    fn is_behind(&self, miss: &FailedRoot, value: ValueIx, found: ValueId) -> bool {
        let user = self.inst_using_term(miss, &Term::Value(value));
        !self.pattern.through.is_empty()
            && user.is_some_and(|user| !self.f.operands(user).contains(&found))
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
            AttrCondition::Is(wanted) | AttrCondition::Axes(_, wanted) => {
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
