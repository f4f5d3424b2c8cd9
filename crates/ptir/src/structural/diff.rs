//! The list of all differences between two programs. `pairing.rs` decides which instructions correspond.

use std::collections::VecDeque;
use std::fmt;

use hashbrown::{HashMap, HashSet};
use rustc_hash::FxBuildHasher;
use sapwood_structural::Hash128;
use sapwood_types::counted;

use super::equivalence::has_same_attrs;
use super::location::Mismatch;
use super::mismatch::first_differing_attr;
use super::pairing::{ValueNames, shared_value_names};
use super::scope::{IndexTable, Scope, ScopeMembership, captured_values, ordered_flags};
use super::{Mode, first_mismatch_bodies, first_mismatch_functions, first_mismatch_insts};
use crate::dims::Facts;
use crate::func::{Function, ValueDef};
use crate::ids::{BodyId, InstId, ValueId};
use crate::name::Name;
use crate::program::Program;
use crate::text::InstPrinter;
use crate::types::{Dim, ValueType, join_types};

/// The number of values among which a counterpart is searched by name, so that loops with many carried values cost no
/// more per value.
const MAX_NAME_CANDIDATES: usize = 4096;

/// The number of definitions appended to two lines that print the same, until they differ.
const MAX_DEFINITIONS_SHOWN: usize = 16;

/// The kind of a difference between the left and the right program.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum Change {
    /// A function or instruction is only on the right.
    Inserted,
    /// A function or instruction is only on the left.
    Erased,
    /// The instruction has another op.
    Replaced,
    /// An attribute differs.
    Attribute(String),
    /// An operand is another value.
    Operand(usize),
    /// A declared type differs.
    Type,
    /// The parameters of a region differ.
    Region(usize),
    /// The position among the other instructions differs. By data flow this counts only for ordered instructions.
    Moved,
    /// The signature of the function differs.
    Signature,
    /// A value is computed once on one side and several times on the other, or is shared by other users.
    Sharing,
}

/// A difference between two programs.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Difference {
    /// The function.
    pub function: Name,
    /// The kind of difference.
    pub change: Change,
    /// The instruction on the left.
    pub left: Option<InstId>,
    /// The instruction on the right.
    pub right: Option<InstId>,
    /// The left side as text.
    pub before: String,
    /// The right side as text.
    pub after: String,
}

impl fmt::Display for Difference {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let name = self.function;
        match &self.change {
            Change::Inserted => write!(f, "+ @{name}: {}", self.after),
            Change::Erased => write!(f, "- @{name}: {}", self.before),
            Change::Moved => write!(f, "> @{name}: {}", self.after),
            change => {
                let what = match change {
                    Change::Attribute(attr) => format!("attribute `{attr}`"),
                    Change::Operand(n) => format!("operand {n}"),
                    Change::Type => "type".into(),
                    Change::Region(n) => format!("region {n}"),
                    Change::Signature => "signature".into(),
                    Change::Sharing => "sharing".into(),
                    _ => "op".into(),
                };
                write!(f, "~ @{name}: {what}\n    - {}\n    + {}", self.before, self.after)
            }
        }
    }
}

/// Returns all differences between two programs; functions are matched by name. The list is empty if and only if the
/// programs are equal in this mode.
#[must_use]
pub fn diff(a: &Program, b: &Program, mode: Mode) -> Vec<Difference> {
    let mut all = Vec::new();
    let whole = |f: &Function, change: Change| {
        let text = format!("func @{} of {}", f.name(), counted(f.num_insts(), "instruction"));
        let (before, after) =
            if change == Change::Erased { (text, String::new()) } else { (String::new(), text) };
        Difference { function: f.name(), change, left: None, right: None, before, after }
    };
    for f in a.functions() {
        match b.function(f.name()) {
            Some(g) => all.extend(diff_functions(f, g, mode)),
            None => all.push(whole(f, Change::Erased)),
        }
    }
    all.extend(
        b.functions()
            .iter()
            .filter(|g| a.function(g.name()).is_none())
            .map(|g| whole(g, Change::Inserted)),
    );
    let names = |p: &Program| p.functions().iter().map(|f| f.name()).collect::<Vec<_>>();
    if mode == Mode::Ordered && all.is_empty() && names(a) != names(b) {
        all.extend(
            b.functions().iter().zip(a.functions()).filter(|(g, f)| g.name() != f.name()).map(
                |(g, _)| Difference {
                    after: format!("func @{}", g.name()),
                    ..whole(g, Change::Moved)
                },
            ),
        );
    }
    all
}

/// Returns all differences between two functions. The list is empty if and only if they are equal in this mode, apart
/// from their names.
#[must_use]
pub fn diff_functions(a: &Function, b: &Function, mode: Mode) -> Vec<Difference> {
    let renamed;
    let b = if a.name() == b.name() {
        b
    } else {
        let mut copy = b.clone();
        copy.set_name(a.name());
        renamed = copy;
        &renamed
    };
    let whole = |f: &Function| Scope::Body(f.body());
    diff_scopes((a, whole(a)), (b, whole(b)), mode, first_mismatch_functions(a, b, mode))
}

/// Returns all differences between two bodies. The list is empty if and only if they are equal in this mode.
#[must_use]
pub fn diff_bodies(a: (&Function, BodyId), b: (&Function, BodyId), mode: Mode) -> Vec<Difference> {
    let scope = |(f, body)| (f, Scope::Body(body));
    diff_scopes(scope(a), scope(b), mode, first_mismatch_bodies(a, b, mode))
}

/// Returns all differences between two instructions and their regions. The list is empty if and only if they are
/// equal in this mode.
#[must_use]
pub fn diff_insts(a: (&Function, InstId), b: (&Function, InstId), mode: Mode) -> Vec<Difference> {
    let scope = |(f, inst)| (f, Scope::Inst(inst));
    diff_scopes(scope(a), scope(b), mode, first_mismatch_insts(a, b, mode))
}

fn diff_scopes(
    a: (&Function, Scope),
    b: (&Function, Scope),
    mode: Mode,
    first: Option<Mismatch>,
) -> Vec<Difference> {
    let Some(first) = first else { return Vec::new() };
    let mut matching = InstMatching::new(a, b, mode);
    matching.pair_all();
    let mut found = matching.differences();
    if found.is_empty() {
        // Equal piece by piece but not as a whole: values are shared differently.
        found.push(Difference {
            function: a.0.name(),
            change: Change::Sharing,
            left: None,
            right: None,
            before: format!("{}: {}", first.left, first.reason),
            after: first.right.to_string(),
        });
    }
    found
}

pub(super) struct InstMatching<'a> {
    pub(super) a: &'a Function,
    pub(super) b: &'a Function,
    pub(super) scopes: (Scope, Scope),
    pub(super) inside: (ScopeMembership, ScopeMembership),
    pub(super) mode: Mode,
    pub(super) to: IndexTable<Option<InstId>>,
    pub(super) from: IndexTable<Option<InstId>>,
    pub(super) live_a: Vec<InstId>,
    pub(super) live_b: Vec<InstId>,
    pub(super) names: (ValueNames, ValueNames),
    pub(super) outside: HashMap<ValueId, ValueId, FxBuildHasher>,
    // By instruction: the hash of the value that it computes.
    pub(super) hashes: (IndexTable<Hash128>, IndexTable<Hash128>),
}

impl<'a> InstMatching<'a> {
    fn new(
        (a, left): (&'a Function, Scope),
        (b, right): (&'a Function, Scope),
        mode: Mode,
    ) -> Self {
        let (live_a, live_b) = (insts_to_compare(a, left, mode), insts_to_compare(b, right, mode));
        let (us, vs) = (captured_values(a, left, mode), captured_values(b, right, mode));
        let names = shared_value_names((a, left, &live_a, &us), (b, right, &live_b, &vs));
        let none = || IndexTable::new(false, 0, Hash128::default());
        let mut matching = Self {
            a,
            b,
            scopes: (left, right),
            inside: (ScopeMembership::new(a, left), ScopeMembership::new(b, right)),
            mode,
            to: IndexTable::new(left.is_whole_function(a), a.inst_capacity(), None),
            from: IndexTable::new(right.is_whole_function(b), b.inst_capacity(), None),
            live_a,
            live_b,
            outside: pair_captures((a, us), (b, vs), &names),
            names,
            hashes: (none(), none()),
        };
        matching.hashes = matching.compute_hashes();
        matching
    }

    pub(super) fn pair(&mut self, x: InstId, y: InstId) {
        self.to.set(x.index(), Some(y));
        self.from.set(y.index(), Some(x));
    }

    pub(super) fn both_unpaired(&self, x: InstId, y: InstId) -> bool {
        self.to.get(x.index()).is_none() && self.from.get(y.index()).is_none()
    }

    /// Returns the value on the right that corresponds to a value on the left.
    pub(super) fn counterpart(&self, value: ValueId) -> Option<ValueId> {
        if let Some(&other) = self.outside.get(&value) {
            return Some(other);
        }
        let (a, b) = (self.a, self.b);
        match a.value_def(value) {
            ValueDef::Result(inst, n) => {
                let other = self.to.get(inst.index())?;
                if a.inst_results(inst).len() == b.inst_results(other).len() {
                    return b.result(other, n);
                }
                self.find_by_name(value, b.inst_results(other))
            }
            ValueDef::Param(body, n) => {
                let params = b.body_params(self.body_counterpart(body)?);
                if a.body_params(body).len() == params.len() {
                    return params.get(n).copied();
                }
                self.find_by_name(value, params.iter().copied())
            }
        }
    }

    // Finds a counterpart by name among the first values of a list. For lists of different lengths, such as those of
    // a loop that carries fewer values.
    fn find_by_name(&self, u: ValueId, list: impl Iterator<Item = ValueId>) -> Option<ValueId> {
        let name = self.names.0.of(u)?;
        list.take(MAX_NAME_CANDIDATES).find(|&v| self.names.1.of(v) == Some(name))
    }

    pub(super) fn body_counterpart(&self, body: BodyId) -> Option<BodyId> {
        if let (Scope::Body(left), Scope::Body(right)) = self.scopes
            && left == body
        {
            return Some(right);
        }
        let owner = self.a.body_owner(body)?;
        let slot = self.a.layout.region_index(body);
        self.b.regions(self.to.get(owner.index())?).get(slot).copied()
    }

    fn differences(&self) -> Vec<Difference> {
        let (a, b) = (self.a, self.b);
        let (mut left, mut right) = (InstPrinter::new(a), InstPrinter::new(b));
        let mut found: Vec<Difference> = self.signature_difference().into_iter().collect();
        let entry = |change, left, right, before, after| Difference {
            function: a.name(),
            change,
            left,
            right,
            before,
            after,
        };
        let moved = self.find_moved();
        for &x in &self.live_a {
            let Some(y) = self.to.get(x.index()) else {
                found.push(entry(Change::Erased, Some(x), None, left.print(x), String::new()));
                continue;
            };
            let mut changes = self.inst_changes(x, y);
            if changes.is_empty() && moved.get(x.index()) {
                changes.push(Change::Moved);
            }
            for change in changes {
                let (before, after) = self.render_change(&change, (x, &mut left), (y, &mut right));
                found.push(entry(change, Some(x), Some(y), before, after));
            }
        }
        for &y in self.live_b.iter().filter(|y| self.from.get(y.index()).is_none()) {
            found.push(entry(Change::Inserted, None, Some(y), String::new(), right.print(y)));
        }
        found
    }

    // Prints both instructions of a change. If they print the same, text that shows the difference is appended.
    fn render_change(
        &self,
        change: &Change,
        (x, left): (InstId, &mut InstPrinter<'a>),
        (y, right): (InstId, &mut InstPrinter<'a>),
    ) -> (String, String) {
        let (mut before, mut after) = (left.print(x), right.print(y));
        if before != after {
            return (before, after);
        }
        match change {
            // Long literals are elided.
            Change::Attribute(name) => after += &format!(" with another `{name}`"),
            Change::Operand(n) => {
                let (a, b) = (self.a, self.b);
                let mut operands =
                    a.operands(x).get(*n).copied().zip(b.operands(y).get(*n).copied());
                for _ in 0..MAX_DEFINITIONS_SHOWN {
                    let Some((u, v)) = operands.filter(|_| before == after) else { break };
                    before += &format!(" where {}", describe_definition(a, u, left));
                    after += &format!(" where {}", describe_definition(b, v, right));
                    operands = a.inst_of(u).zip(b.inst_of(v)).and_then(|(i, j)| {
                        let pairs = a.operands(i).iter().zip(b.operands(j));
                        let mut pairs = pairs.map(|(&u, &v)| (u, v));
                        pairs.find(|&(u, v)| !self.values_match(u, v))
                    });
                }
            }
            // Regions are elided.
            Change::Region(n) => {
                before += &describe_region_params(self.a, x, *n);
                after += &describe_region_params(self.b, y, *n);
            }
            // Some ops do not print the types of their results.
            Change::Type => {
                before += &format!(" of type {}", describe_result_types(self.a, x));
                after += &format!(" of type {}", describe_result_types(self.b, y));
            }
            _ => {}
        }
        (before, after)
    }

    // Returns whether two values correspond or, by data flow, compute the same.
    fn values_match(&self, u: ValueId, v: ValueId) -> bool {
        if self.counterpart(u) == Some(v) {
            return true;
        }
        let (a, b) = (self.a, self.b);
        let (ValueDef::Result(i, p), ValueDef::Result(j, q)) = (a.value_def(u), b.value_def(v))
        else {
            return false;
        };
        let place = a.body_of(i).and_then(|body| self.body_counterpart(body));
        self.mode == Mode::DataFlow
            && p == q
            && self.inside.0.contains(a, u)
            && self.inside.1.contains(b, v)
            && self.hashes.0.get(i.index()) == self.hashes.1.get(j.index())
            && place.is_some()
            && place == b.body_of(j)
    }

    // Returns the difference between the signatures of the functions, or between the parameters of the bodies.
    fn signature_difference(&self) -> Option<Difference> {
        let (Scope::Body(left), Scope::Body(right)) = self.scopes else { return None };
        let all = |f: &'a Function, body: BodyId| {
            let params: Vec<&ValueType> =
                f.body_params(body).iter().map(|&v| f.value_type(v)).collect();
            let results = if body == f.body() { f.result_types().to_vec() } else { Vec::new() };
            (params, results)
        };
        let facts = |f: &Function, body: BodyId| -> Vec<String> {
            let facts = f.facts().filter(|_| body == f.body());
            facts.into_iter().flat_map(Facts::relations).map(|r| r.to_string()).collect()
        };
        let (p, q) = (facts(self.a, left), facts(self.b, right));
        let (x, y) = (all(self.a, left), all(self.b, right));
        let open =
            |types: &[&ValueType]| types.iter().map(|t| erase_dim_names(t)).collect::<Vec<_>>();
        if (open(&x.0), open(&x.1)) == (open(&y.0), open(&y.1)) && p.len() == q.len() {
            return None;
        }
        let show = |(params, results): (Vec<&ValueType>, Vec<&ValueType>), facts: Vec<String>| {
            let (params, results) = (join_types(params), join_types(results));
            let clause = if facts.is_empty() { "" } else { " where " };
            format!("({params}) -> ({results}){clause}{}", facts.join(", "))
        };
        Some(Difference {
            function: self.a.name(),
            change: Change::Signature,
            left: None,
            right: None,
            before: show(x, p),
            after: show(y, q),
        })
    }

    // Lists the differences between two paired instructions.
    fn inst_changes(&self, x: InstId, y: InstId) -> Vec<Change> {
        let (a, b) = (self.a, self.b);
        if a.op_key(x) != b.op_key(y) {
            return vec![Change::Replaced];
        }
        let mut changes = Vec::new();
        if !has_same_attrs(a, x, b, y) {
            changes.push(Change::Attribute(first_differing_attr(a, x, b, y).0));
        }
        let (us, vs) = (a.operands(x), b.operands(y));
        let slot = (0..us.len().max(vs.len())).find(|&n| match (us.get(n), vs.get(n)) {
            (Some(&u), Some(&v)) => !self.values_match(u, v),
            _ => true,
        });
        changes.extend(slot.map(Change::Operand));
        let same = |u: ValueId, v: ValueId| {
            erase_dim_names(a.value_type(u)) == erase_dim_names(b.value_type(v))
        };
        let (rs, ss) = (a.inst_results(x), b.inst_results(y));
        if rs.len() != ss.len() || !rs.zip(ss).all(|(u, v)| same(u, v)) {
            changes.push(Change::Type);
        }
        let (rs, ss) = (a.regions(x), b.regions(y));
        let differs = (0..rs.len().max(ss.len())).find(|&n| match (rs.get(n), ss.get(n)) {
            (Some(&r), Some(&s)) => {
                let (us, vs) = (a.body_params(r), b.body_params(s));
                us.len() != vs.len() || !us.iter().zip(vs).all(|(&u, &v)| same(u, v))
            }
            _ => true,
        });
        changes.extend(differs.map(Change::Region));
        changes
    }

    // Marks the paired instructions that are not on a longest common subsequence of both lists, or are in other
    // bodies.
    fn find_moved(&self) -> IndexTable<bool> {
        let mut position = IndexTable::new(
            self.scopes.1.is_whole_function(self.b),
            self.b.inst_capacity(),
            usize::MAX,
        );
        for (at, &y) in self.live_b.iter().enumerate() {
            position.set(y.index(), at);
        }
        // By data flow, only ordered instructions have a position among the others.
        let counts = match self.mode {
            Mode::Ordered => IndexTable::new(false, 0, true),
            Mode::DataFlow => ordered_flags(self.a, self.scopes.0),
        };
        let own = |x: InstId| matches!(self.scopes.0, Scope::Inst(inst) if inst == x);
        let pairs: Vec<(InstId, usize)> = self
            .live_a
            .iter()
            .filter(|&&x| counts.get(x.index()) && !own(x))
            .filter_map(|&x| Some((x, position.get(self.to.get(x.index())?.index()))))
            .collect();
        // Longest increasing subsequence: tails[k] is the end of the best one of length k + 1.
        let mut tails: Vec<usize> = Vec::new();
        let mut before: Vec<usize> = vec![usize::MAX; pairs.len()];
        for i in 0..pairs.len() {
            let at = tails.partition_point(|&t| pairs[t].1 < pairs[i].1);
            before[i] = if at > 0 { tails[at - 1] } else { usize::MAX };
            if at == tails.len() {
                tails.push(i);
            } else {
                tails[at] = i;
            }
        }
        let whole = self.scopes.0.is_whole_function(self.a);
        let mut moved = IndexTable::new(whole, self.a.inst_capacity(), false);
        for (x, _) in &pairs {
            moved.set(x.index(), true);
        }
        let mut at = tails.last().copied().unwrap_or(usize::MAX);
        while let Some((x, _)) = pairs.get(at) {
            moved.set(x.index(), false);
            at = before[at];
        }
        for &(x, _) in &pairs {
            let expected_body = self.a.body_of(x).and_then(|body| self.body_counterpart(body));
            let found_body = self.to.get(x.index()).and_then(|y| self.b.body_of(y));
            if expected_body != found_body {
                moved.set(x.index(), true);
            }
        }
        moved
    }
}

// Describes the parameters of a region of an instruction.
fn describe_region_params(f: &Function, inst: InstId, n: usize) -> String {
    let Some(&body) = f.regions(inst).get(n) else { return format!(" without region {n}") };
    let types: Vec<&ValueType> = f.body_params(body).iter().map(|&v| f.value_type(v)).collect();
    format!(" where region {n} takes ({})", join_types(types))
}

fn describe_result_types(f: &Function, inst: InstId) -> String {
    let types: Vec<&ValueType> = f.inst_results(inst).map(|v| f.value_type(v)).collect();
    format!("({})", join_types(types))
}

// Describes the definition of a value: the instruction that computes it, or its position among parameters.
fn describe_definition(f: &Function, value: ValueId, printer: &mut InstPrinter<'_>) -> String {
    match f.value_def(value) {
        ValueDef::Result(inst, _) => format!("`{}`", printer.print(inst)),
        ValueDef::Param(body, n) if body == f.body() => {
            format!("{} is parameter {n}", printer.value(value))
        }
        // Regions around an instruction may have parameters of the same name.
        ValueDef::Param(body, n) => {
            let around = std::iter::successors(f.body_owner(body), |&owner| {
                f.body_of(owner).and_then(|body| f.body_owner(body))
            });
            let (name, depth) = (printer.value(value), around.count());
            format!("{name} is parameter {n} of its region, at depth {depth}")
        }
    }
}

// Replaces symbols by unknown dims, and the symbols of expressions by one symbol. They may be renamed, so their names are not a difference.
pub(super) fn erase_dim_names(ty: &ValueType) -> ValueType {
    ty.map_dims(&mut |dim| match dim.as_symbol() {
        Some(_) => Dim::Unknown,
        None => dim.substitute(&mut |_| Dim::symbol(Name::new("~"))),
    })
}

// Pairs the captured values of both sides. In one function a value is paired with itself; otherwise with a value of
// the same name and type, or with the next one of the same type.
fn pair_captures(
    (a, us): (&Function, Vec<ValueId>),
    (b, vs): (&Function, Vec<ValueId>),
    (left, right): &(ValueNames, ValueNames),
) -> HashMap<ValueId, ValueId, FxBuildHasher> {
    if std::ptr::eq(a, b) {
        return us.into_iter().map(|u| (u, u)).collect();
    }
    let mut named: HashMap<(u32, ValueType), ValueId, FxBuildHasher> = HashMap::default();
    for &v in &vs {
        if let Some(name) = right.of(v) {
            named.insert((name, erase_dim_names(b.value_type(v))), v);
        }
    }
    let mut pairs: HashMap<ValueId, ValueId, FxBuildHasher> = HashMap::default();
    for &u in &us {
        if let Some(name) = left.of(u)
            && let Some(v) = named.remove(&(name, erase_dim_names(a.value_type(u))))
        {
            pairs.insert(u, v);
        }
    }
    let taken: HashSet<ValueId, FxBuildHasher> = pairs.values().copied().collect();
    let mut rest: HashMap<ValueType, VecDeque<ValueId>, FxBuildHasher> = HashMap::default();
    for v in vs.into_iter().filter(|v| !taken.contains(v)) {
        rest.entry(erase_dim_names(b.value_type(v))).or_default().push_back(v);
    }
    for u in us {
        if !pairs.contains_key(&u)
            && let Some(v) =
                rest.get_mut(&erase_dim_names(a.value_type(u))).and_then(VecDeque::pop_front)
        {
            pairs.insert(u, v);
        }
    }
    pairs
}

// Returns all instructions of a scope or, by data flow, those that an effect or a terminator depends on.
fn insts_to_compare(f: &Function, scope: Scope, mode: Mode) -> Vec<InstId> {
    if mode == Mode::Ordered {
        return scope.walk(f).collect();
    }
    let inside = ScopeMembership::new(f, scope);
    let mut live = ordered_flags(f, scope);
    let mut queue: Vec<InstId> = scope.walk(f).filter(|i| live.get(i.index())).collect();
    let mark = |inst: InstId, live: &mut IndexTable<bool>, queue: &mut Vec<InstId>| {
        if !live.set(inst.index(), true) {
            queue.push(inst);
        }
    };
    match scope {
        Scope::Body(body) => {
            f.terminator(body).into_iter().for_each(|t| mark(t, &mut live, &mut queue));
        }
        Scope::Inst(inst) => mark(inst, &mut live, &mut queue),
    }
    while let Some(inst) = queue.pop() {
        for &v in f.operands(inst) {
            if let Some(def) = f.inst_of(v).filter(|_| inside.contains(f, v)) {
                mark(def, &mut live, &mut queue);
            }
        }
        for &body in f.regions(inst) {
            if let Some(t) = f.terminator(body) {
                mark(t, &mut live, &mut queue);
            }
        }
    }
    scope.walk(f).filter(|i| live.get(i.index())).collect()
}
