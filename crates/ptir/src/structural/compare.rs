//! The comparison itself: one walk over both sides with a bijection of values, bodies and named dims.

use hashbrown::HashMap;
use rustc_hash::FxBuildHasher;

use super::Mode;
use super::path::{Mismatch, Path, Reason};
use crate::attr::Attr;
use crate::func::{Function, ValueDef};
use crate::ids::{BodyId, InstId, ValueId};
use crate::name::Name;
use crate::op::Effects;
use crate::types::{Dim, ValueType};

const NONE: u32 = u32::MAX;

pub(super) struct Comparison<'a> {
    a: &'a Function,
    b: &'a Function,
    // By index: the partner on the other side.
    insts: Vec<u32>,
    insts_back: Vec<u32>,
    bodies: Vec<u32>,
    bodies_back: Vec<u32>,
    dims: HashMap<Name, Name, FxBuildHasher>,
    dims_back: HashMap<Name, Name, FxBuildHasher>,
}

type Found = Result<(), Box<Mismatch>>;

enum Task {
    Values(InstId, InstId, usize),
    Body(BodyId, BodyId),
}

impl<'a> Comparison<'a> {
    pub(super) fn new(a: &'a Function, b: &'a Function) -> Self {
        Self {
            a,
            b,
            insts: vec![NONE; a.inst_capacity()],
            insts_back: vec![NONE; b.inst_capacity()],
            bodies: vec![NONE; a.body_capacity()],
            bodies_back: vec![NONE; b.body_capacity()],
            dims: HashMap::default(),
            dims_back: HashMap::default(),
        }
    }

    pub(super) fn functions(mut self, mode: Mode) -> Found {
        let (a, b) = (self.a, self.b);
        if a.name() != b.name() {
            let (left, right) = (format!("@{}", a.name()), format!("@{}", b.name()));
            return Err(Box::new(Mismatch {
                left: Path::function(a),
                right: Path::function(b),
                reason: Reason::Name { left, right },
            }));
        }
        self.pair_bodies(a.body(), b.body())?;
        let (left, right) = (a.result_types(), b.result_types());
        let at = || (Path::function(a).then(".results"), Path::function(b).then(".results"));
        if left.len() != right.len() {
            return Err(length(at(), "results", left.len(), right.len()));
        }
        for (&x, &y) in left.iter().zip(&right) {
            self.same_type(x, y, at)?;
        }
        self.paired(a.body(), b.body(), mode)
    }

    pub(super) fn bodies(mut self, left: BodyId, right: BodyId, mode: Mode) -> Found {
        self.pair_bodies(left, right)?;
        self.paired(left, right, mode)
    }

    pub(super) fn insts(mut self, left: InstId, right: InstId, mode: Mode) -> Found {
        self.same_inst(left, right)?;
        let regions: Vec<_> = self
            .a
            .regions(left)
            .iter()
            .copied()
            .zip(self.b.regions(right).iter().copied())
            .collect();
        for (x, y) in regions {
            self.paired(x, y, mode)?;
        }
        Ok(())
    }

    fn paired(&mut self, left: BodyId, right: BodyId, mode: Mode) -> Found {
        match mode {
            Mode::Ordered => self.ordered(left, right),
            Mode::DataFlow => self.data_flow(left, right),
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
                    let end = Path::body(self.b, right);
                    let reason = Reason::Missing { on_left: true };
                    return Err(Box::new(Mismatch {
                        left: Path::inst(self.a, x),
                        right: end,
                        reason,
                    }));
                }
                (None, Some(y)) => {
                    let end = Path::body(self.a, left);
                    let reason = Reason::Missing { on_left: false };
                    return Err(Box::new(Mismatch {
                        left: end,
                        right: Path::inst(self.b, y),
                        reason,
                    }));
                }
            }
        }
    }

    // From terminators and ordered effects inwards.
    fn data_flow(&mut self, left: BodyId, right: BodyId) -> Found {
        let (ordered_a, ordered_b) = (ordered(self.a), ordered(self.b));
        let mut tasks = vec![Task::Body(left, right)];
        while let Some(task) = tasks.pop() {
            match task {
                Task::Body(x, y) => {
                    let (xs, ys) = (roots(self.a, x, &ordered_a), roots(self.b, y, &ordered_b));
                    for (&i, &j) in xs.iter().zip(&ys) {
                        self.meet(i, j, &mut tasks)?;
                    }
                    if xs.len() != ys.len() {
                        let at = (Path::body(self.a, x), Path::body(self.b, y));
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
                    match (self.a.value_def(u), self.b.value_def(v)) {
                        (ValueDef::Result(i, p), ValueDef::Result(j, q)) if p == q => {
                            let fresh =
                                self.insts[i.index()] == NONE && self.insts_back[j.index()] == NONE;
                            let fresh = fresh && !ordered_a[i.index()] && !ordered_b[j.index()];
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
        if self.insts[x.index()] == y.index() as u32 {
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
        let at = || (Path::inst(a, x), Path::inst(b, y));
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
                let part = format!(".results[{n}]");
                (left.then(&part), right.then(&part))
            })?;
        }
        self.insts[x.index()] = y.index() as u32;
        self.insts_back[y.index()] = x.index() as u32;
        for (&r, &s) in a.regions(x).iter().zip(b.regions(y)) {
            self.pair_bodies(r, s)?;
        }
        Ok(())
    }

    fn same_place(&self, x: InstId, y: InstId) -> Found {
        let (left, right) = (self.a.body_of(x), self.b.body_of(y));
        let fine = match (left, right) {
            (Some(left), Some(right)) => self.bodies[left.index()] == right.index() as u32,
            _ => false,
        };
        if fine {
            return Ok(());
        }
        let reason = Reason::Binding { left: "its body".into(), right: "its body".into() };
        Err(Box::new(Mismatch {
            left: Path::inst(self.a, x),
            right: Path::inst(self.b, y),
            reason,
        }))
    }

    fn pair_bodies(&mut self, left: BodyId, right: BodyId) -> Found {
        let (a, b) = (self.a, self.b);
        self.bodies[left.index()] = right.index() as u32;
        self.bodies_back[right.index()] = left.index() as u32;
        let (xs, ys) = (a.body_params(left), b.body_params(right));
        let at = || (Path::body(a, left).then(".params"), Path::body(b, right).then(".params"));
        if xs.len() != ys.len() {
            return Err(length(at(), "parameters", xs.len(), ys.len()));
        }
        for (n, (&u, &v)) in xs.iter().zip(ys).enumerate() {
            self.same_type(a.value_type(u), b.value_type(v), || {
                let (left, right) = at();
                (left.then(&format!("[{n}]")), right.then(&format!("[{n}]")))
            })?;
        }
        Ok(())
    }

    fn bound(&self, u: ValueId, v: ValueId) -> bool {
        match (self.a.value_def(u), self.b.value_def(v)) {
            (ValueDef::Result(i, p), ValueDef::Result(j, q)) => {
                p == q && self.insts[i.index()] == j.index() as u32
            }
            (ValueDef::Param(x, p), ValueDef::Param(y, q)) => {
                let partner = self.bodies[x.index()];
                // Bodies around what is compared stand for themselves.
                let outside = partner == NONE && self.bodies_back[y.index()] == NONE && x == y;
                p == q && (partner == y.index() as u32 || outside)
            }
            _ => false,
        }
    }

    fn same_type(&mut self, x: &ValueType, y: &ValueType, at: impl Fn() -> (Path, Path)) -> Found {
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
                        (Dim::Named(d), Dim::Named(e)) => {
                            *self.dims.entry(d).or_insert(e) == e
                                && *self.dims_back.entry(e).or_insert(d) == d
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

    fn binding(&self, x: InstId, y: InstId, n: usize) -> Box<Mismatch> {
        let name = |f: &Function, value: ValueId| crate::text::InstPrinter::new(f).value(value);
        let part = format!(".operands[{n}]");
        Box::new(Mismatch {
            left: Path::inst(self.a, x).then(&part),
            right: Path::inst(self.b, y).then(&part),
            reason: Reason::Binding {
                left: name(self.a, self.a.operands(x)[n]),
                right: name(self.b, self.b.operands(y)[n]),
            },
        })
    }
}

fn length((left, right): (Path, Path), what: &'static str, x: usize, y: usize) -> Box<Mismatch> {
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
            Some(attr) => crate::text::write_attr(&mut out, attr, Some(16)),
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

/// By index: whether an instruction is ordered, by itself or because of one in its regions. Terminators are not.
pub(super) fn ordered(f: &Function) -> Vec<bool> {
    let mut flags = vec![false; f.inst_capacity()];
    for inst in f.walk() {
        let terminator = f.op_def(inst).is_some_and(|d| d.terminator);
        if terminator || f.own_effects(inst) != Effects::Ordered {
            continue;
        }
        let mut at = Some(inst);
        while let Some(i) = at {
            if std::mem::replace(&mut flags[i.index()], true) {
                break;
            }
            at = f.body_of(i).and_then(|b| f.body_owner(b));
        }
    }
    flags
}

// What a body is compared by: its terminator first, then its ordered instructions.
fn roots(f: &Function, body: BodyId, ordered: &[bool]) -> Vec<InstId> {
    let effects = f.body_insts(body).filter(|i| ordered[i.index()]);
    let mut list: Vec<InstId> = effects.collect();
    list.extend(f.terminator(body));
    list
}
