//! The comparison itself: one walk over both sides with a bijection of values, bodies and named dims.

use hashbrown::HashMap;
use rustc_hash::FxBuildHasher;

use super::Mode;
use super::location::{Location, Mismatch, Reason};
use super::scope::{Inside, Scope, Table, ordered, roots};
use crate::attr::Attr;
use crate::func::{Function, ValueDef};
use crate::ids::{BodyId, InstId, ValueId};
use crate::name::Name;
use crate::text::LongLiterals;
use crate::types::{Dim, ValueType};

const NONE: u32 = u32::MAX;

pub(super) struct Comparison<'a> {
    a: &'a Function,
    b: &'a Function,
    scopes: (Scope, Scope),
    mode: Mode,
    // Two parts of one function: what is outside of them stands for itself.
    same: bool,
    inside: (Inside, Inside),
    // By index: the partner on the other side.
    insts: Table<u32>,
    insts_back: Table<u32>,
    bodies: Table<u32>,
    dims: Pairing<Name>,
    outside: Pairing<ValueId>,
}

/// A bijection that grows.
struct Pairing<T> {
    to: HashMap<T, T, FxBuildHasher>,
    from: HashMap<T, T, FxBuildHasher>,
}

impl<T: Copy + Eq + std::hash::Hash> Pairing<T> {
    fn new() -> Self {
        Self { to: HashMap::default(), from: HashMap::default() }
    }

    // Whether both stand for each other, which they do from now on if nothing speaks against it.
    fn pair(&mut self, x: T, y: T) -> bool {
        *self.to.entry(x).or_insert(y) == y && *self.from.entry(y).or_insert(x) == x
    }
}

type Found = Result<(), Box<Mismatch>>;

enum Task {
    Values(InstId, InstId, usize),
    Body(BodyId, BodyId),
}

impl<'a> Comparison<'a> {
    pub(super) fn new(
        (a, left): (&'a Function, Scope),
        (b, right): (&'a Function, Scope),
        mode: Mode,
    ) -> Self {
        let (whole_a, whole_b) = (left.is_whole(a), right.is_whole(b));
        Self {
            a,
            b,
            scopes: (left, right),
            mode,
            same: std::ptr::eq(a, b) && !(whole_a && whole_b),
            inside: (Inside::new(a, left), Inside::new(b, right)),
            insts: Table::new(whole_a, a.inst_capacity(), NONE),
            insts_back: Table::new(whole_b, b.inst_capacity(), NONE),
            bodies: Table::new(whole_a, a.body_capacity(), NONE),
            dims: Pairing::new(),
            outside: Pairing::new(),
        }
    }

    pub(super) fn functions(mut self) -> Found {
        let (a, b) = (self.a, self.b);
        if a.name() != b.name() {
            let (left, right) = (format!("@{}", a.name()), format!("@{}", b.name()));
            return Err(Box::new(Mismatch {
                left: Location::function(a),
                right: Location::function(b),
                reason: Reason::Name { left, right },
            }));
        }
        self.pair_bodies(a.body(), b.body())?;
        let (left, right) = (a.result_types(), b.result_types());
        let at =
            || (Location::function(a).field("results"), Location::function(b).field("results"));
        if left.len() != right.len() {
            return Err(length(at(), "results", left.len(), right.len()));
        }
        for (&x, &y) in left.iter().zip(&right) {
            self.same_type(x, y, at)?;
        }
        self.paired(&[(a.body(), b.body())])
    }

    pub(super) fn bodies(mut self, left: BodyId, right: BodyId) -> Found {
        self.pair_bodies(left, right)?;
        self.paired(&[(left, right)])
    }

    pub(super) fn insts(mut self, left: InstId, right: InstId) -> Found {
        self.same_inst(left, right)?;
        let operands = self.a.operands(left).iter().zip(self.b.operands(right));
        for (n, (&u, &v)) in operands.enumerate() {
            if !self.bound(u, v) {
                return Err(self.binding(left, right, n));
            }
        }
        let regions = self.a.regions(left).iter().zip(self.b.regions(right));
        let regions: Vec<(BodyId, BodyId)> = regions.map(|(&x, &y)| (x, y)).collect();
        self.paired(&regions)
    }

    fn paired(&mut self, bodies: &[(BodyId, BodyId)]) -> Found {
        match self.mode {
            Mode::Ordered => bodies.iter().try_for_each(|&(x, y)| self.ordered(x, y)),
            Mode::DataFlow => self.data_flow(bodies),
        }
    }

    // Both lists in the order of the text, in step.
    fn ordered(&mut self, left: BodyId, right: BodyId) -> Found {
        let (mut xs, mut ys) = (self.a.walk_body(left), self.b.walk_body(right));
        loop {
            match (xs.next(), ys.next()) {
                (None, None) => return Ok(()),
                (Some(x), Some(y)) => {
                    self.same_inst(x, y)?;
                    self.same_place(x, y)?;
                    for n in 0..self.a.operands(x).len() {
                        let (u, v) = (self.a.operands(x)[n], self.b.operands(y)[n]);
                        if !self.bound(u, v) {
                            return Err(self.binding(x, y, n));
                        }
                    }
                }
                (Some(x), None) => {
                    return Err(Box::new(Mismatch {
                        left: Location::inst(self.a, x),
                        right: Location::body(self.b, right),
                        reason: Reason::Missing { on_left: true },
                    }));
                }
                (None, Some(y)) => {
                    return Err(Box::new(Mismatch {
                        left: Location::body(self.a, left),
                        right: Location::inst(self.b, y),
                        reason: Reason::Missing { on_left: false },
                    }));
                }
            }
        }
    }

    // From terminators and ordered effects inwards.
    fn data_flow(&mut self, bodies: &[(BodyId, BodyId)]) -> Found {
        let ordered_a = ordered(self.a, self.scopes.0);
        let ordered_b = ordered(self.b, self.scopes.1);
        let mut tasks: Vec<Task> = bodies.iter().rev().map(|&(x, y)| Task::Body(x, y)).collect();
        while let Some(task) = tasks.pop() {
            match task {
                Task::Body(x, y) => {
                    let (xs, ys) = (roots(self.a, x, &ordered_a), roots(self.b, y, &ordered_b));
                    for (&i, &j) in xs.iter().zip(&ys) {
                        self.meet(i, j, &mut tasks)?;
                    }
                    if xs.len() != ys.len() {
                        let at = (Location::body(self.a, x), Location::body(self.b, y));
                        return Err(length(at, "ordered instructions", xs.len(), ys.len()));
                    }
                }
                Task::Values(x, y, n) => {
                    let Some(&u) = self.a.operands(x).get(n) else { continue };
                    let v = self.b.operands(y)[n];
                    tasks.push(Task::Values(x, y, n + 1));
                    if self.bound(u, v) {
                        continue;
                    }
                    if !self.inside.0.has(self.a, u) || !self.inside.1.has(self.b, v) {
                        return Err(self.binding(x, y, n));
                    }
                    match (self.a.value_def(u), self.b.value_def(v)) {
                        (ValueDef::Result(i, p), ValueDef::Result(j, q)) if p == q => {
                            let fresh = self.insts.get(i.index()) == NONE
                                && self.insts_back.get(j.index()) == NONE
                                && !ordered_a.get(i.index())
                                && !ordered_b.get(j.index());
                            if !fresh {
                                return Err(self.binding(x, y, n));
                            }
                            self.meet(i, j, &mut tasks)?;
                        }
                        _ => return Err(self.binding(x, y, n)),
                    }
                }
            }
        }
        Ok(())
    }

    fn meet(&mut self, x: InstId, y: InstId, tasks: &mut Vec<Task>) -> Found {
        if self.insts.get(x.index()) == y.index() as u32 {
            return Ok(());
        }
        self.same_inst(x, y)?;
        self.same_place(x, y)?;
        for (&r, &s) in self.a.regions(x).iter().zip(self.b.regions(y)).rev() {
            tasks.push(Task::Body(r, s));
        }
        tasks.push(Task::Values(x, y, 0));
        Ok(())
    }

    // Op, attributes, numbers and types; binds the results and the parameters of regions.
    fn same_inst(&mut self, x: InstId, y: InstId) -> Found {
        let (a, b) = (self.a, self.b);
        let at = || (Location::inst(a, x), Location::inst(b, y));
        let mismatch = |reason: Reason| {
            let (left, right) = at();
            Err(Box::new(Mismatch { left, right, reason }))
        };
        if a.op_key(x) != b.op_key(y) {
            return mismatch(Reason::Op { left: a.op_name(x), right: b.op_name(y) });
        }
        if a.attrs(x) != b.attrs(y) {
            let (name, left, right) = differing_attr(a, x, b, y);
            return mismatch(Reason::Attribute { name, left, right });
        }
        for (what, left, right) in [
            ("operands", a.operands(x).len(), b.operands(y).len()),
            ("regions", a.regions(x).len(), b.regions(y).len()),
            ("results", a.inst_results(x).len(), b.inst_results(y).len()),
        ] {
            if left != right {
                return Err(length(at(), what, left, right));
            }
        }
        for (n, (u, v)) in a.inst_results(x).zip(b.inst_results(y)).enumerate() {
            self.same_type(a.value_type(u), b.value_type(v), || {
                let (left, right) = at();
                (left.field("results").index(n), right.field("results").index(n))
            })?;
        }
        self.insts.set(x.index(), y.index() as u32);
        self.insts_back.set(y.index(), x.index() as u32);
        for (&r, &s) in a.regions(x).iter().zip(b.regions(y)) {
            self.pair_bodies(r, s)?;
        }
        Ok(())
    }

    fn same_place(&self, x: InstId, y: InstId) -> Found {
        let (left, right) = (self.a.body_of(x), self.b.body_of(y));
        let fine = match (left, right) {
            (Some(left), Some(right)) => self.bodies.get(left.index()) == right.index() as u32,
            _ => false,
        };
        if fine {
            return Ok(());
        }
        let reason = Reason::Binding { left: "its body".into(), right: "its body".into() };
        Err(Box::new(Mismatch {
            left: Location::inst(self.a, x),
            right: Location::inst(self.b, y),
            reason,
        }))
    }

    fn pair_bodies(&mut self, left: BodyId, right: BodyId) -> Found {
        let (a, b) = (self.a, self.b);
        self.bodies.set(left.index(), right.index() as u32);
        let (xs, ys) = (a.body_params(left), b.body_params(right));
        let at =
            || (Location::body(a, left).field("params"), Location::body(b, right).field("params"));
        if xs.len() != ys.len() {
            return Err(length(at(), "parameters", xs.len(), ys.len()));
        }
        for (n, (&u, &v)) in xs.iter().zip(ys).enumerate() {
            self.same_type(a.value_type(u), b.value_type(v), || {
                let (left, right) = at();
                (left.index(n), right.index(n))
            })?;
        }
        Ok(())
    }

    fn bound(&mut self, u: ValueId, v: ValueId) -> bool {
        match (self.inside.0.has(self.a, u), self.inside.1.has(self.b, v)) {
            (true, true) => {}
            (false, false) if self.same => return u == v,
            (false, false) => {
                let (a, b) = (self.a, self.b);
                return self.types_match(a.value_type(u), b.value_type(v))
                    && self.outside.pair(u, v);
            }
            _ => return false,
        }
        match (self.a.value_def(u), self.b.value_def(v)) {
            (ValueDef::Result(i, p), ValueDef::Result(j, q)) => {
                p == q && self.insts.get(i.index()) == j.index() as u32
            }
            (ValueDef::Param(x, p), ValueDef::Param(y, q)) => {
                p == q && self.bodies.get(x.index()) == y.index() as u32
            }
            _ => false,
        }
    }

    fn same_type(
        &mut self,
        x: &ValueType,
        y: &ValueType,
        at: impl Fn() -> (Location, Location),
    ) -> Found {
        if self.types_match(x, y) {
            return Ok(());
        }
        let (left, right) = at();
        Err(Box::new(Mismatch {
            left,
            right,
            reason: Reason::Type { left: x.to_string(), right: y.to_string() },
        }))
    }

    fn types_match(&mut self, x: &ValueType, y: &ValueType) -> bool {
        match (x, y) {
            (ValueType::Tensor(x), ValueType::Tensor(y)) => {
                x.dtype == y.dtype
                    && x.rank() == y.rank()
                    && x.dims.iter().zip(&y.dims).all(|(&d, &e)| match (d, e) {
                        (Dim::Named(d), Dim::Named(e)) if !self.same => self.dims.pair(d, e),
                        _ => d == e,
                    })
            }
            (ValueType::Tuple(x), ValueType::Tuple(y)) => {
                x.len() == y.len() && x.iter().zip(y.iter()).all(|(x, y)| self.types_match(x, y))
            }
            (ValueType::Token, ValueType::Token) => true,
            _ => false,
        }
    }

    fn binding(&self, x: InstId, y: InstId, n: usize) -> Box<Mismatch> {
        let name = |f: &Function, value: ValueId| crate::text::InstPrinter::new(f).value(value);
        let at = |f: &Function, inst: InstId| Location::inst(f, inst).field("operands").index(n);
        Box::new(Mismatch {
            left: at(self.a, x),
            right: at(self.b, y),
            reason: Reason::Binding {
                left: name(self.a, self.a.operands(x)[n]),
                right: name(self.b, self.b.operands(y)[n]),
            },
        })
    }
}

fn length(
    (left, right): (Location, Location),
    what: &'static str,
    x: usize,
    y: usize,
) -> Box<Mismatch> {
    Box::new(Mismatch { left, right, reason: Reason::Length { what, left: x, right: y } })
}

/// The first attribute that differs, as text.
pub(super) fn differing_attr(
    a: &Function,
    x: InstId,
    b: &Function,
    y: InstId,
) -> (String, String, String) {
    let show = |attr: Option<&Attr>| {
        let mut out = String::new();
        match attr {
            Some(attr) => crate::text::write_attr(&mut out, attr, &mut LongLiterals::Elided(16)),
            None => out.push_str("nothing"),
        }
        out
    };
    let names: Vec<String> = match a.op_def(x) {
        Some(def) => def.attrs.iter().map(|row| row.name.to_owned()).collect(),
        None => {
            let keys = |f: &Function, i: InstId| match f.attrs(i).first() {
                Some(Attr::Dict(entries)) => {
                    entries.iter().map(|(k, _)| k.as_str().to_owned()).collect()
                }
                _ => Vec::new(),
            };
            let mut all: Vec<String> = keys(a, x);
            all.extend(keys(b, y));
            all
        }
    };
    let differs = names.into_iter().find(|name| a.attr(x, name) != b.attr(y, name));
    let name = differs.unwrap_or_else(|| "attributes".into());
    let (left, right) = (show(a.attr(x, &name)), show(b.attr(y, &name)));
    if left == right {
        // Elided alike: the bits differ somewhere in the middle.
        return (name, format!("{left} (other bits)"), right);
    }
    (name, left, right)
}
