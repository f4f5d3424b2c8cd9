//! Types of a left side that no program can have together, because of dims that several ops and names share.
//!
//! A left side with alternatives is solved for each way to choose them: every alternative must be possible in one of them.

use std::cell::RefCell;
use std::collections::{BTreeMap, BTreeSet};

use rustc_hash::FxHashSet;
use sapwood_ptir::Registry;
use sapwood_types::{Diagnostic, Span};

use super::dim_classes::{DimClasses, DimConflict};
use super::dim_inference::DimInference;
use crate::graph::{
    ChoiceIx, DimTest, OpIx, PatternGraph, PatternOperand, ShapeTest, ValueIx, ValueSource,
};

/// The largest number of ways to choose alternatives that are solved one by one. With more, each alternative is solved alone.
const MAX_WAYS: usize = 64;

/// The largest number of visits of ops for alternatives that are solved alone.
const MAX_VISITS: usize = 200_000;

/// The largest number of types of which the contradicting ones are looked for.
const MAX_BLAMED: usize = 32;

/// The largest number of contradictions that are reported for a left side.
const MAX_CONFLICTS: usize = 4;

/// A part of a rule that restricts types.
#[derive(Clone)]
pub(super) enum Required {
    /// The type of a value.
    Type(ValueIx, ShapeTest),
    /// The attribute of an op, by the number of its test.
    Attr(OpIx, usize),
    /// A condition, by number.
    Condition(usize),
}

/// A part of a rule that restricts types, with its place.
pub(super) struct DimRequirement {
    pub(super) required: Required,
    /// The requirement as it is written.
    pub(super) shown: String,
    pub(super) span: Span,
}

/// Alternatives that are chosen.
type Chosen = BTreeMap<ChoiceIx, usize>;

/// The part of a left side that is required with some alternatives.
struct ActivePart {
    ops: Vec<OpIx>,
    values: Vec<bool>,
    /// The value of each chosen alternative, with that of its choice.
    equal: Vec<(ValueIx, ValueIx)>,
    /// The choices that are needed and not made.
    open: Vec<ChoiceIx>,
}

/// Returns an error for each contradiction between the types, attributes and conditions of a left side.
pub(super) fn dim_conflicts(
    graph: &PatternGraph,
    registry: &Registry,
    mut types: Vec<DimRequirement>,
) -> Vec<Diagnostic> {
    types.sort_by_key(|ty| (ty.span.begin_line(), ty.span.begin_column()));
    let inference = DimInference::new(graph, registry);
    let conflicts = DimConflicts { graph, inference, types, common: RefCell::default() };
    // The attributes of a single op were checked.
    let is_attr = |ty: &DimRequirement| matches!(ty.required, Required::Attr(..));
    if graph.ops.len() == 1 && conflicts.types.iter().all(is_attr) {
        return Vec::new();
    }
    conflicts.find()
}

struct DimConflicts<'a> {
    graph: &'a PatternGraph,
    inference: DimInference<'a>,
    /// In written order.
    types: Vec<DimRequirement>,
    /// The dims that all alternatives of a choice have, if the choices are not made one by one.
    common: RefCell<Vec<(ValueIx, ShapeTest)>>,
}

impl DimConflicts<'_> {
    fn find(&self) -> Vec<Diagnostic> {
        // The part that is required whatever alternatives are chosen.
        let mut found = Vec::new();
        self.report(&self.part(&Chosen::new()), None, &mut found);
        if !found.is_empty() || self.graph.choices.is_empty() {
            return found;
        }
        let Some(ways) = self.ways() else { return self.alone() };
        let mut possible: Vec<(ChoiceIx, usize)> = Vec::new();
        let mut impossible: Vec<(Chosen, ActivePart)> = Vec::new();
        for way in ways {
            let part = self.part(&way);
            match self.solve(&part, &self.types_in(&part)) {
                Ok(_) => possible.extend(way),
                Err(_) => impossible.push((way, part)),
            }
        }
        let mut reported: BTreeSet<(ChoiceIx, usize)> = BTreeSet::new();
        for (way, part) in &impossible {
            let is_new = |(choice, branch): (&ChoiceIx, &usize)| {
                (!possible.contains(&(*choice, *branch))).then_some((*choice, *branch))
            };
            if let Some(branch) = way.iter().find_map(is_new)
                && reported.insert(branch)
                && reported.len() <= MAX_CONFLICTS
            {
                self.report(part, Some(branch), &mut found);
            }
        }
        found
    }

    // Solves each alternative with the part that is always required.
    fn alone(&self) -> Vec<Diagnostic> {
        let mut found = Vec::new();
        let branches: usize = self.graph.choices.iter().map(|choice| choice.branches.len()).sum();
        if branches * self.graph.ops.len() > MAX_VISITS {
            return found;
        }
        // Inner choices are before outer ones.
        for choice in &self.graph.choices {
            let dims = choice.branches.iter().map(|&branch| self.dims_of(branch));
            if let Some(test) = dims.reduce(common_dims).flatten() {
                self.common.borrow_mut().push((choice.value, test));
            }
        }
        self.report(&self.part(&Chosen::new()), None, &mut found);
        if !found.is_empty() {
            return found;
        }
        for (choice, data) in self.graph.choices.iter().enumerate() {
            for branch in 0..data.branches.len() {
                let part = self.part(&Chosen::from([(choice, branch)]));
                self.report(&part, Some((choice, branch)), &mut found);
            }
        }
        found
    }

    // Returns the dims that a value always has.
    fn dims_of(&self, value: ValueIx) -> Option<ShapeTest> {
        let part = self.part_of(vec![value], &Chosen::new());
        self.solve(&part, &self.types_in(&part)).ok()?.test(value)
    }

    // Returns all ways to choose alternatives; none if there are too many.
    fn ways(&self) -> Option<Vec<Chosen>> {
        let (mut ways, mut open) = (Vec::new(), vec![Chosen::new()]);
        while let Some(chosen) = open.pop() {
            let part = self.part(&chosen);
            let Some(&choice) = part.open.first() else {
                ways.push(chosen);
                continue;
            };
            for branch in (0..self.graph.choices[choice].branches.len()).rev() {
                let mut chosen = chosen.clone();
                chosen.insert(choice, branch);
                open.push(chosen);
            }
            if ways.len() + open.len() > MAX_WAYS {
                return None;
            }
        }
        Some(ways)
    }

    // Returns the part that is required with these alternatives, which are required too.
    fn part(&self, chosen: &Chosen) -> ActivePart {
        let graph = self.graph;
        let mut values: Vec<ValueIx> = graph.outputs.clone();
        values.extend(chosen.keys().map(|&choice| graph.choices[choice].value));
        if graph.choices.is_empty() {
            values.extend(0..graph.values.len());
        }
        self.part_of(values, chosen)
    }

    // Returns the part that these values are computed by.
    fn part_of(&self, mut open: Vec<ValueIx>, chosen: &Chosen) -> ActivePart {
        let graph = self.graph;
        let mut part = ActivePart {
            ops: Vec::new(),
            values: vec![false; graph.values.len()],
            equal: Vec::new(),
            open: Vec::new(),
        };
        let mut has_op = vec![false; graph.ops.len()];
        while let Some(value) = open.pop() {
            if std::mem::replace(&mut part.values[value], true) {
                continue;
            }
            match graph.values[value].from {
                ValueSource::Param | ValueSource::Literal(_) => {}
                ValueSource::Choice(choice) => match chosen.get(&choice) {
                    Some(&branch) => {
                        let target = graph.choices[choice].branches[branch];
                        part.equal.push((value, target));
                        open.push(target);
                    }
                    None => part.open.push(choice),
                },
                ValueSource::Result(op) => {
                    if !std::mem::replace(&mut has_op[op], true) {
                        part.ops.push(op);
                        let data = &graph.ops[op];
                        open.extend(data.operands.iter().filter_map(|operand| match *operand {
                            PatternOperand::One(value) => Some(value),
                            PatternOperand::Rest(_) => None,
                        }));
                        open.extend(data.region_patterns.iter().flat_map(|r| r.yields.clone()));
                    }
                }
            }
        }
        part.ops.sort_unstable();
        part.open.sort_unstable_by(|a, b| b.cmp(a));
        part
    }

    fn types_in(&self, part: &ActivePart) -> Vec<&DimRequirement> {
        let active = |ty: &&DimRequirement| match &ty.required {
            Required::Type(value, _) => part.values[*value] && !self.graph.is_literal(*value),
            Required::Attr(op, _) => part.ops.binary_search(op).is_ok(),
            Required::Condition(n) => {
                self.graph.conditions[*n].values().all(|value| part.values[value])
            }
        };
        self.types.iter().filter(active).collect()
    }

    fn solve(
        &self,
        part: &ActivePart,
        types: &[&DimRequirement],
    ) -> Result<DimClasses, DimConflict> {
        let mut dims = DimClasses::new(self.graph.values.len());
        let mut attrs: FxHashSet<(OpIx, usize)> = FxHashSet::default();
        let mut conditions = Vec::new();
        for ty in types {
            match &ty.required {
                Required::Type(value, test) => {
                    let name = &self.graph.values[*value].name;
                    dims.require(*value, test).map_err(|why| why.about(name))?;
                }
                Required::Attr(op, n) => {
                    attrs.insert((*op, *n));
                }
                Required::Condition(n) => conditions.push(&self.graph.conditions[*n]),
            }
        }
        for (value, test) in self.common.borrow().iter().filter(|(value, _)| part.values[*value]) {
            dims.require(*value, test)?;
        }
        let required = |op: OpIx, n: usize| attrs.contains(&(op, n));
        let scope = self.inference.scope(&part.ops, &part.equal, &required, conditions);
        self.inference.solve(&mut dims, &scope)?;
        Ok(dims)
    }

    // Reports the first type that contradicts those before it.
    fn report(
        &self,
        part: &ActivePart,
        branch: Option<(ChoiceIx, usize)>,
        found: &mut Vec<Diagnostic>,
    ) {
        let all = self.types_in(part);
        let Err(mut conflict) = self.solve(part, &all) else { return };
        // Ops that contradict each other without any type.
        if let Err(DimConflict(why)) = self.solve(part, &[]) {
            let op = self.inference.at.get().or(part.ops.first().copied());
            let Some(op) = op.map(|op| &self.graph.ops[op]) else { return };
            if !found.iter().any(|old| old.span == op.span) {
                let place = self.place(branch);
                let problem =
                    Diagnostic::error(op.span, format!("{place}no program has this: {why}"));
                found.push(
                    problem.with_help("change the op, or one of those that compute its operands"),
                );
            }
            return;
        }
        // The smallest number of types that contradict each other.
        let (mut low, mut high) = (0, all.len());
        while low + 1 < high {
            let middle = low.midpoint(high);
            match self.solve(part, &all[..middle]) {
                Ok(_) => low = middle,
                Err(why) => (high, conflict) = (middle, why),
            }
        }
        let Some((last, before)) = all[..high].split_last() else { return };
        if found.len() == MAX_CONFLICTS || found.iter().any(|old| old.span == last.span) {
            return;
        }
        // Those without which there is none are not part of it.
        let mut others: Vec<&DimRequirement> = before.to_vec();
        let mut n = 0;
        while n < others.len() && others.len() <= MAX_BLAMED {
            let mut fewer = others.clone();
            fewer.remove(n);
            match self.solve(part, &[&fewer[..], &[*last]].concat()) {
                Ok(_) => n += 1,
                Err(why) => (others, conflict) = (fewer, why),
            }
        }
        found.push(self.diagnostic(part, last, &others, branch, &conflict));
    }

    // Returns the alternative that an error is about, as the start of a message.
    fn place(&self, branch: Option<(ChoiceIx, usize)>) -> String {
        let graph = self.graph;
        let place = branch.map(|(choice, branch)| {
            let target = graph.choices[choice].branches[branch];
            let shown = match graph.values[target].from {
                ValueSource::Result(op) => graph.show(op),
                _ => graph.values[target].name.clone(),
            };
            match graph.values[graph.choices[choice].value].name.strip_suffix('?') {
                Some(op) if branch == 1 => format!("without `{op}`, "),
                Some(op) => format!("with `{op}`, "),
                None => format!("in the alternative `{shown}`, "),
            }
        });
        place.unwrap_or_default()
    }

    fn diagnostic(
        &self,
        part: &ActivePart,
        last: &DimRequirement,
        others: &[&DimRequirement],
        branch: Option<(ChoiceIx, usize)>,
        DimConflict(why): &DimConflict,
    ) -> Diagnostic {
        let (graph, place) = (self.graph, self.place(branch));
        let shown = &last.shown;
        let message = match others {
            [] => format!("{place}no program has {shown}: {why}"),
            [one] => format!("{place}{shown} contradicts {}: {why}", one.shown),
            _ => format!("{place}{shown} contradicts the rest: {why}"),
        };
        let mut problem = Diagnostic::error(last.span, message);
        for ty in others {
            problem = problem.with_note_at(ty.span, format!("{} is here", ty.shown));
        }
        let from = match others {
            [] => "the ops".to_owned(),
            _ => others.iter().map(|ty| &*ty.shown).collect::<Vec<_>>().join(", "),
        };
        // The type that follows without the last one.
        let says_more = |known: &ShapeTest| {
            known.dtype.is_some() || known.dims.iter().any(|dim| *dim != DimTest::Any)
        };
        let known = match &last.required {
            Required::Type(value, _) => self
                .solve(part, others)
                .ok()
                .and_then(|dims| dims.test(*value))
                .filter(says_more)
                .map(|known| (&graph.values[*value].name, known)),
            Required::Attr(..) | Required::Condition(_) => None,
        };
        let help = match known {
            Some((name, known)) => format!("`{name}` is {known}, which follows from {from}"),
            None if others.is_empty() => format!("change {shown}"),
            None => format!("change or leave out one of these: {from} or {shown}"),
        };
        problem.with_help(help)
    }
}

// Returns the dims that two alternatives have in common.
fn common_dims(a: Option<ShapeTest>, b: Option<ShapeTest>) -> Option<ShapeTest> {
    let (a, b) = a.zip(b)?;
    if a.open || b.open || a.dims.len() != b.dims.len() {
        return None;
    }
    let dims = a.dims.into_iter().zip(b.dims);
    let dims = dims.map(|(a, b)| if a == b { a } else { DimTest::Any });
    Some(ShapeTest { dtype: None, open: false, dims: dims.collect() })
}
