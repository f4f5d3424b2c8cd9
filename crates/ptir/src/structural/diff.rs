//! All differences of two programs. Instructions are matched by the hash of what they compute, then by their neighbours,
//! so that moved and renamed values are no noise.

use std::fmt;

use hashbrown::HashMap;
use rustc_hash::FxBuildHasher;

use super::Mode;
use super::compare::{differing_attr, ordered};
use super::hash::inst_hashes;
use crate::func::{Function, ValueDef};
use crate::ids::{BodyId, InstId, ValueId};
use crate::name::Name;
use crate::op::OpKey;
use crate::program::Program;
use crate::text::InstPrinter;
use crate::types::{Dim, ValueType};

/// What became of a place of the left program in the right one.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum Change {
    /// A function or instruction is only on the right.
    Inserted,
    /// A function or instruction is only on the left.
    Erased,
    /// Another op stands in its place.
    Replaced,
    /// An attribute differs.
    Attribute(String),
    /// An operand is another value.
    Operand(usize),
    /// A stated type differs.
    Type,
    /// The parameters of a region differ.
    Region(usize),
    /// It stands elsewhere among the others. By data flow this counts for ordered effects only.
    Moved,
    /// The signature of the function differs.
    Signature,
}

/// One difference.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Difference {
    /// The function.
    pub function: Name,
    /// What happened.
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
                    _ => "op".into(),
                };
                write!(f, "~ @{name}: {what}\n    - {}\n    + {}", self.before, self.after)
            }
        }
    }
}

/// All differences of two programs, functions matched by name. None if and only if they are equal in this mode.
#[must_use]
pub fn diff(a: &Program, b: &Program, mode: Mode) -> Vec<Difference> {
    let mut all = Vec::new();
    let whole = |f: &Function, change: Change| {
        let text = format!("func @{} of {} instructions", f.name(), f.num_insts());
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

/// All differences of two functions. None if and only if they are equal in this mode, their names aside.
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
    if super::equal_functions(a, b, mode) {
        return Vec::new();
    }
    let mut matching = Matching::new(a, b, mode);
    matching.by_hash();
    matching.by_neighbours();
    let mut found = matching.report();
    if found.is_empty() {
        // Equal piece by piece but not as a whole: how values are shared differs.
        if let Some(mismatch) = super::first_mismatch_functions(a, b, mode) {
            found.push(Difference {
                function: a.name(),
                change: Change::Signature,
                left: None,
                right: None,
                before: format!("{}: {}", mismatch.left, mismatch.reason),
                after: mismatch.right.to_string(),
            });
        }
    }
    found
}

struct Matching<'a> {
    a: &'a Function,
    b: &'a Function,
    mode: Mode,
    to: Vec<Option<InstId>>,
    from: Vec<Option<InstId>>,
    live_a: Vec<InstId>,
    live_b: Vec<InstId>,
}

impl<'a> Matching<'a> {
    fn new(a: &'a Function, b: &'a Function, mode: Mode) -> Self {
        Self {
            a,
            b,
            mode,
            to: vec![None; a.inst_capacity()],
            from: vec![None; b.inst_capacity()],
            live_a: considered(a, mode),
            live_b: considered(b, mode),
        }
    }

    fn pair(&mut self, x: InstId, y: InstId) {
        self.to[x.index()] = Some(y);
        self.from[y.index()] = Some(x);
    }

    fn free(&self, x: InstId, y: InstId) -> bool {
        self.to[x.index()].is_none() && self.from[y.index()].is_none()
    }

    // Those that compute the same, in program order.
    fn by_hash(&mut self) {
        let (left, right) = (inst_hashes(self.a), inst_hashes(self.b));
        let mut waiting: HashMap<u128, Vec<InstId>, FxBuildHasher> = HashMap::default();
        for &y in self.live_b.iter().rev() {
            waiting.entry(right[y.index()]).or_default().push(y);
        }
        for x in self.live_a.clone() {
            if let Some(y) = waiting.get_mut(&left[x.index()]).and_then(Vec::pop) {
                self.pair(x, y);
            }
        }
    }

    // From users to operands, from operands to users, until nothing new is found.
    fn by_neighbours(&mut self) {
        let (a, b) = (self.a, self.b);
        let mut queue: Vec<(InstId, InstId)> = Vec::new();
        if let (Some(x), Some(y)) = (a.terminator(a.body()), b.terminator(b.body()))
            && self.free(x, y)
        {
            self.pair(x, y);
        }
        queue.extend(self.live_a.iter().filter_map(|&x| Some((x, self.to[x.index()]?))));
        // Definitions of operands in the same slot, if the op is the same.
        self.backwards(&mut queue, true);
        // Users of matched values with the same op and the same slots.
        let mut forward: HashMap<(OpKey, Vec<Option<ValueId>>), Vec<InstId>, FxBuildHasher> =
            HashMap::default();
        for &y in self.live_b.iter().rev().filter(|y| self.from[y.index()].is_none()) {
            let key = b.operands(y).iter().map(|&v| Some(v)).collect();
            forward.entry((b.op_key(y), key)).or_default().push(y);
        }
        for x in self.live_a.clone() {
            if self.to[x.index()].is_some() || a.operands(x).is_empty() {
                continue;
            }
            let key = a.operands(x).iter().map(|&v| self.image(v)).collect();
            if let Some(y) = forward.get_mut(&(a.op_key(x), key)).and_then(Vec::pop)
                && self.free(x, y)
            {
                self.pair(x, y);
                queue.push((x, y));
            }
        }
        self.backwards(&mut queue, true);
        // What is left over in the same slot was replaced.
        queue.extend(self.live_a.iter().filter_map(|&x| Some((x, self.to[x.index()]?))));
        self.backwards(&mut queue, false);
    }

    fn backwards(&mut self, queue: &mut Vec<(InstId, InstId)>, same_op: bool) {
        let (a, b) = (self.a, self.b);
        while let Some((x, y)) = queue.pop() {
            let mut next: Vec<(InstId, InstId)> = Vec::new();
            for (&u, &v) in a.operands(x).iter().zip(b.operands(y)) {
                if let (Some(i), Some(j)) = (a.inst_of(u), b.inst_of(v)) {
                    next.push((i, j));
                }
            }
            for (&r, &s) in a.regions(x).iter().zip(b.regions(y)) {
                if let (Some(i), Some(j)) = (a.terminator(r), b.terminator(s)) {
                    next.push((i, j));
                }
            }
            for (i, j) in next {
                let alike = a.op_key(i) == b.op_key(j);
                let results = a.inst_results(i).len() == b.inst_results(j).len();
                if self.free(i, j) && results && (alike || !same_op) {
                    self.pair(i, j);
                    queue.push((i, j));
                }
            }
        }
    }

    // The value on the right that stands for one on the left.
    fn image(&self, value: ValueId) -> Option<ValueId> {
        match self.a.value_def(value) {
            ValueDef::Result(inst, n) => self.b.result(self.to[inst.index()]?, n),
            ValueDef::Param(body, n) => self.b.body_params(self.body_image(body)?).get(n).copied(),
        }
    }

    fn body_image(&self, body: BodyId) -> Option<BodyId> {
        match self.a.body_owner(body) {
            None => Some(self.b.body()),
            Some(owner) => {
                let slot = self.a.regions(owner).iter().position(|&r| r == body)?;
                self.b.regions(self.to[owner.index()]?).get(slot).copied()
            }
        }
    }

    fn report(&self) -> Vec<Difference> {
        let (a, b) = (self.a, self.b);
        let (mut left, mut right) = (InstPrinter::new(a), InstPrinter::new(b));
        let mut found = Vec::new();
        let types = |f: &Function, list: &[ValueId]| {
            crate::types::type_list(list.iter().map(|&v| f.value_type(v)))
        };
        let results = |f: &Function| crate::types::type_list(f.result_types());
        let (before, after) = (
            format!("({}) -> ({})", types(a, a.params()), results(a)),
            format!("({}) -> ({})", types(b, b.params()), results(b)),
        );
        let entry = |change: Change,
                     left: Option<InstId>,
                     right: Option<InstId>,
                     before: String,
                     after: String| {
            Difference { function: a.name(), change, left, right, before, after }
        };
        if before != after && !same_up_to_dims(a, b) {
            found.push(entry(Change::Signature, None, None, before, after));
        }
        let moved = self.moved();
        for &x in &self.live_a {
            let Some(y) = self.to[x.index()] else {
                found.push(entry(Change::Erased, Some(x), None, left.print(x), String::new()));
                continue;
            };
            let mut changes = Vec::new();
            if a.op_key(x) != b.op_key(y) {
                changes.push(Change::Replaced);
            } else {
                if a.attrs(x) != b.attrs(y) {
                    changes.push(Change::Attribute(differing_attr(a, x, b, y).0));
                }
                let (us, vs) = (a.operands(x), b.operands(y));
                let slot = (0..us.len().max(vs.len())).find(|&n| match (us.get(n), vs.get(n)) {
                    (Some(&u), Some(&v)) => self.image(u) != Some(v),
                    _ => true,
                });
                changes.extend(slot.map(Change::Operand));
                let pairs = a.inst_results(x).zip(b.inst_results(y));
                if pairs
                    .clone()
                    .any(|(u, v)| open_dims(a.value_type(u)) != open_dims(b.value_type(v)))
                {
                    changes.push(Change::Type);
                }
                let (rs, ss) = (a.regions(x), b.regions(y));
                let differs = (0..rs.len().max(ss.len())).find(|&n| match (rs.get(n), ss.get(n)) {
                    (Some(&r), Some(&s)) => {
                        types(a, a.body_params(r)) != types(b, b.body_params(s))
                    }
                    _ => true,
                });
                changes.extend(differs.map(Change::Region));
            }
            if changes.is_empty() && moved.get(x.index()) == Some(&true) {
                changes.push(Change::Moved);
            }
            for change in changes {
                found.push(entry(change, Some(x), Some(y), left.print(x), right.print(y)));
            }
        }
        for &y in self.live_b.iter().filter(|y| self.from[y.index()].is_none()) {
            found.push(entry(Change::Inserted, None, Some(y), String::new(), right.print(y)));
        }
        found
    }

    // Matched instructions that are not on a longest common way through both lists, or are in other bodies.
    fn moved(&self) -> Vec<bool> {
        let mut position = vec![usize::MAX; self.b.inst_capacity()];
        for (at, &y) in self.live_b.iter().enumerate() {
            position[y.index()] = at;
        }
        // By data flow only ordered effects have a place among the others.
        let counts = match self.mode {
            Mode::Ordered => vec![true; self.a.inst_capacity()],
            Mode::DataFlow => ordered(self.a),
        };
        let pairs: Vec<(InstId, usize)> = self
            .live_a
            .iter()
            .filter(|x| counts[x.index()])
            .filter_map(|&x| Some((x, position[self.to[x.index()]?.index()])))
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
        let mut moved = vec![false; self.a.inst_capacity()];
        pairs.iter().for_each(|(x, _)| moved[x.index()] = true);
        let mut at = tails.last().copied().unwrap_or(usize::MAX);
        while let Some((x, _)) = pairs.get(at) {
            moved[x.index()] = false;
            at = before[at];
        }
        for &(x, _) in &pairs {
            let home = self.a.body_of(x).and_then(|body| self.body_image(body));
            let there = self.to[x.index()].and_then(|y| self.b.body_of(y));
            if home != there {
                moved[x.index()] = true;
            }
        }
        moved
    }
}

// Named dims are renamed freely, so their names are no difference.
fn open_dims(ty: &ValueType) -> ValueType {
    ty.map_dims(&mut |dim| if matches!(dim, Dim::Named(_)) { Dim::Unknown } else { dim })
}

fn same_up_to_dims(a: &Function, b: &Function) -> bool {
    let open = |f: &Function| {
        let params = f.params().iter().map(|&p| f.value_type(p));
        let all: Vec<ValueType> = params.chain(f.result_types()).map(open_dims).collect();
        (all, f.params().len())
    };
    open(a) == open(b)
}

// All instructions, or those that something depends on.
fn considered(f: &Function, mode: Mode) -> Vec<InstId> {
    if mode == Mode::Ordered {
        return f.walk().collect();
    }
    let mut live = ordered(f);
    let mut queue: Vec<InstId> = f.walk().filter(|i| live[i.index()]).collect();
    let mark = |inst: InstId, live: &mut Vec<bool>, queue: &mut Vec<InstId>| {
        if !std::mem::replace(&mut live[inst.index()], true) {
            queue.push(inst);
        }
    };
    if let Some(t) = f.terminator(f.body()) {
        mark(t, &mut live, &mut queue);
    }
    while let Some(inst) = queue.pop() {
        for &v in f.operands(inst) {
            if let Some(def) = f.inst_of(v) {
                mark(def, &mut live, &mut queue);
            }
        }
        for &body in f.regions(inst) {
            if let Some(t) = f.terminator(body) {
                mark(t, &mut live, &mut queue);
            }
        }
    }
    f.walk().filter(|i| live[i.index()]).collect()
}
