//! Comparison of two functions or parts: one walk over both sides with a bijection of values, bodies and named dims.

use hashbrown::HashMap;
use rustc_hash::FxBuildHasher;

use super::Mode;
use super::location::{Location, Mismatch, Reason};
use super::scope::{IndexTable, Scope, ScopeMembership, comparison_roots, ordered_flags};
use crate::attr::Attr;
use crate::func::{Function, ValueDef};
use crate::ids::{BodyId, InstId, ValueId};
use crate::name::Name;
use crate::text::LongLiteralMode;
use crate::types::{Dim, ValueType};

const NONE: u32 = u32::MAX;

pub(super) struct FunctionComparer<'a> {
    a: &'a Function,
    b: &'a Function,
    scopes: (Scope, Scope),
    mode: Mode,
    // True if both sides are parts of one function, where a value from outside is only equal to itself.
    same_function: bool,
    inside: (ScopeMembership, ScopeMembership),
    // By index: the counterpart on the other side.
    insts: IndexTable<u32>,
    insts_back: IndexTable<u32>,
    bodies: IndexTable<u32>,
    dims: Bijection<Name>,
    outside: Bijection<ValueId>,
}

/// A bijection that is extended pair by pair.
struct Bijection<T> {
    to: HashMap<T, T, FxBuildHasher>,
    from: HashMap<T, T, FxBuildHasher>,
}

impl<T: Copy + Eq + std::hash::Hash> Bijection<T> {
    fn new() -> Self {
        Self { to: HashMap::default(), from: HashMap::default() }
    }

    // Pairs two elements unless either is already paired. Returns whether they are now each other's counterparts.
    fn pair(&mut self, x: T, y: T) -> bool {
        *self.to.entry(x).or_insert(y) == y && *self.from.entry(y).or_insert(x) == x
    }
}

type CompareResult = Result<(), Box<Mismatch>>;

enum CompareTask {
    Values(InstId, InstId, usize),
    Body(BodyId, BodyId),
}

impl<'a> FunctionComparer<'a> {
    pub(super) fn new(
        (a, left): (&'a Function, Scope),
        (b, right): (&'a Function, Scope),
        mode: Mode,
    ) -> Self {
        let (whole_a, whole_b) = (left.is_whole_function(a), right.is_whole_function(b));
        Self {
            a,
            b,
            scopes: (left, right),
            mode,
            same_function: std::ptr::eq(a, b) && !(whole_a && whole_b),
            inside: (ScopeMembership::new(a, left), ScopeMembership::new(b, right)),
            insts: IndexTable::new(whole_a, a.inst_capacity(), NONE),
            insts_back: IndexTable::new(whole_b, b.inst_capacity(), NONE),
            bodies: IndexTable::new(whole_a, a.body_capacity(), NONE),
            dims: Bijection::new(),
            outside: Bijection::new(),
        }
    }

    pub(super) fn compare_functions(mut self) -> CompareResult {
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
            return Err(length_mismatch(at(), "results", left.len(), right.len()));
        }
        for (&x, &y) in left.iter().zip(&right) {
            self.compare_type(x, y, at)?;
        }
        self.compare_paired_bodies(&[(a.body(), b.body())])
    }

    pub(super) fn compare_bodies(mut self, left: BodyId, right: BodyId) -> CompareResult {
        self.pair_bodies(left, right)?;
        self.compare_paired_bodies(&[(left, right)])
    }

    pub(super) fn compare_insts(mut self, left: InstId, right: InstId) -> CompareResult {
        self.compare_inst(left, right)?;
        let operands = self.a.operands(left).iter().zip(self.b.operands(right));
        for (n, (&u, &v)) in operands.enumerate() {
            if !self.values_paired(u, v) {
                return Err(self.binding_mismatch(left, right, n));
            }
        }
        let regions = self.a.regions(left).iter().zip(self.b.regions(right));
        let regions: Vec<(BodyId, BodyId)> = regions.map(|(&x, &y)| (x, y)).collect();
        self.compare_paired_bodies(&regions)
    }

    fn compare_paired_bodies(&mut self, bodies: &[(BodyId, BodyId)]) -> CompareResult {
        match self.mode {
            Mode::Ordered => bodies.iter().try_for_each(|&(x, y)| self.compare_in_order(x, y)),
            Mode::DataFlow => self.compare_data_flow(bodies),
        }
    }

    // Compares the instructions of two bodies pairwise, in the order of the text.
    fn compare_in_order(&mut self, left: BodyId, right: BodyId) -> CompareResult {
        let (mut xs, mut ys) = (self.a.walk_body(left), self.b.walk_body(right));
        loop {
            match (xs.next(), ys.next()) {
                (None, None) => return Ok(()),
                (Some(x), Some(y)) => {
                    self.compare_inst(x, y)?;
                    self.compare_parent_body(x, y)?;
                    for n in 0..self.a.operands(x).len() {
                        let (u, v) = (self.a.operands(x)[n], self.b.operands(y)[n]);
                        if !self.values_paired(u, v) {
                            return Err(self.binding_mismatch(x, y, n));
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

    // Compares two bodies from their terminators and ordered instructions backwards to the operands.
    fn compare_data_flow(&mut self, bodies: &[(BodyId, BodyId)]) -> CompareResult {
        let ordered_a = ordered_flags(self.a, self.scopes.0);
        let ordered_b = ordered_flags(self.b, self.scopes.1);
        let mut tasks: Vec<CompareTask> =
            bodies.iter().rev().map(|&(x, y)| CompareTask::Body(x, y)).collect();
        while let Some(task) = tasks.pop() {
            match task {
                CompareTask::Body(x, y) => {
                    let (xs, ys) = (
                        comparison_roots(self.a, x, &ordered_a),
                        comparison_roots(self.b, y, &ordered_b),
                    );
                    for (&i, &j) in xs.iter().zip(&ys) {
                        self.compare_and_queue(i, j, &mut tasks)?;
                    }
                    if xs.len() != ys.len() {
                        let at = (Location::body(self.a, x), Location::body(self.b, y));
                        return Err(length_mismatch(
                            at,
                            "ordered instructions",
                            xs.len(),
                            ys.len(),
                        ));
                    }
                }
                CompareTask::Values(x, y, n) => {
                    let Some(&u) = self.a.operands(x).get(n) else { continue };
                    let v = self.b.operands(y)[n];
                    tasks.push(CompareTask::Values(x, y, n + 1));
                    if self.values_paired(u, v) {
                        continue;
                    }
                    if !self.inside.0.contains(self.a, u) || !self.inside.1.contains(self.b, v) {
                        return Err(self.binding_mismatch(x, y, n));
                    }
                    match (self.a.value_def(u), self.b.value_def(v)) {
                        (ValueDef::Result(i, p), ValueDef::Result(j, q)) if p == q => {
                            let fresh = self.insts.get(i.index()) == NONE
                                && self.insts_back.get(j.index()) == NONE
                                && !ordered_a.get(i.index())
                                && !ordered_b.get(j.index());
                            if !fresh {
                                return Err(self.binding_mismatch(x, y, n));
                            }
                            self.compare_and_queue(i, j, &mut tasks)?;
                        }
                        _ => return Err(self.binding_mismatch(x, y, n)),
                    }
                }
            }
        }
        Ok(())
    }

    fn compare_and_queue(
        &mut self,
        x: InstId,
        y: InstId,
        tasks: &mut Vec<CompareTask>,
    ) -> CompareResult {
        if self.insts.get(x.index()) == y.index() as u32 {
            return Ok(());
        }
        self.compare_inst(x, y)?;
        self.compare_parent_body(x, y)?;
        for (&r, &s) in self.a.regions(x).iter().zip(self.b.regions(y)).rev() {
            tasks.push(CompareTask::Body(r, s));
        }
        tasks.push(CompareTask::Values(x, y, 0));
        Ok(())
    }

    // Compares op, attributes, counts and types, and pairs the instructions and the parameters of their regions.
    fn compare_inst(&mut self, x: InstId, y: InstId) -> CompareResult {
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
            let (name, left, right) = first_differing_attr(a, x, b, y);
            return mismatch(Reason::Attribute { name, left, right });
        }
        for (what, left, right) in [
            ("operands", a.operands(x).len(), b.operands(y).len()),
            ("regions", a.regions(x).len(), b.regions(y).len()),
            ("results", a.inst_results(x).len(), b.inst_results(y).len()),
        ] {
            if left != right {
                return Err(length_mismatch(at(), what, left, right));
            }
        }
        for (n, (u, v)) in a.inst_results(x).zip(b.inst_results(y)).enumerate() {
            self.compare_type(a.value_type(u), b.value_type(v), || {
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

    fn compare_parent_body(&self, x: InstId, y: InstId) -> CompareResult {
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

    fn pair_bodies(&mut self, left: BodyId, right: BodyId) -> CompareResult {
        let (a, b) = (self.a, self.b);
        self.bodies.set(left.index(), right.index() as u32);
        let (xs, ys) = (a.body_params(left), b.body_params(right));
        let at =
            || (Location::body(a, left).field("params"), Location::body(b, right).field("params"));
        if xs.len() != ys.len() {
            return Err(length_mismatch(at(), "parameters", xs.len(), ys.len()));
        }
        for (n, (&u, &v)) in xs.iter().zip(ys).enumerate() {
            self.compare_type(a.value_type(u), b.value_type(v), || {
                let (left, right) = at();
                (left.index(n), right.index(n))
            })?;
        }
        Ok(())
    }

    fn values_paired(&mut self, u: ValueId, v: ValueId) -> bool {
        match (self.inside.0.contains(self.a, u), self.inside.1.contains(self.b, v)) {
            (true, true) => {}
            (false, false) if self.same_function => return u == v,
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

    fn compare_type(
        &mut self,
        x: &ValueType,
        y: &ValueType,
        at: impl Fn() -> (Location, Location),
    ) -> CompareResult {
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
                        (Dim::Named(d), Dim::Named(e)) if !self.same_function => {
                            self.dims.pair(d, e)
                        }
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

    fn binding_mismatch(&self, x: InstId, y: InstId, n: usize) -> Box<Mismatch> {
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

fn length_mismatch(
    (left, right): (Location, Location),
    what: &'static str,
    x: usize,
    y: usize,
) -> Box<Mismatch> {
    Box::new(Mismatch { left, right, reason: Reason::Length { what, left: x, right: y } })
}

/// Returns the name of the first attribute that differs, and both values as text.
pub(super) fn first_differing_attr(
    a: &Function,
    x: InstId,
    b: &Function,
    y: InstId,
) -> (String, String, String) {
    let show = |attr: Option<&Attr>| {
        let mut out = String::new();
        match attr {
            Some(attr) => crate::text::write_attr(&mut out, attr, &mut LongLiteralMode::Elided(16)),
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
        // Both values are elided to the same text: their bits differ somewhere in the middle.
        return (name, format!("{left} (other bits)"), right);
    }
    (name, left, right)
}
