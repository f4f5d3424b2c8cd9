//! Which instruction of one program stands for which of another: first those that compute the same, then those that have
//! operands, a user or a name in common, so that moved and renamed values are no noise.

use hashbrown::HashMap;
use rustc_hash::FxBuildHasher;
use sapwood_structural::Hash128;

use super::diff::{Matching, open_dims};
use super::hash::scope_hashes;
use super::scope::{Scope, Table, captures};
use crate::func::Function;
use crate::ids::{InstId, ValueId};
use crate::op::OpKey;
use crate::text::InstPrinter;

/// How often candidates are looked for again after others were paired.
const ROUNDS: usize = 3;
/// So many candidates are looked at per operand, and so many operands, so that a value with many users and an op with
/// many operands cost no more.
const CANDIDATES: usize = 16;
const OPERANDS: usize = 8;

/// What it takes for two definitions to be paired because paired users have them in the same slot.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Kin {
    /// The same op, type and, if both have one, name.
    Close,
    /// The same op and type.
    Alike,
    /// The same type: another op in its place.
    Replaced,
}

type Map<K, V> = HashMap<K, V, FxBuildHasher>;

/// The names somebody gave to values, as numbers that two functions share; a number is no name. They are those that values
/// are printed with: what is paired depends on the text alone, not on who read or made the program.
pub(super) struct Names(Table<Option<u32>>);

impl Names {
    pub(super) fn of(&self, value: ValueId) -> Option<u32> {
        self.0.get(value.index())
    }

    fn of_first(&self, f: &Function, inst: InstId) -> Option<u32> {
        f.inst_results(inst).next().and_then(|value| self.of(value))
    }
}

/// The names of what both scopes define and see.
pub(super) fn names(
    left: (&Function, Scope, &[InstId], &[ValueId]),
    right: (&Function, Scope, &[InstId], &[ValueId]),
) -> (Names, Names) {
    let mut numbers: Map<String, u32> = Map::default();
    let mut side = |(f, scope, live, seen): (&Function, Scope, &[InstId], &[ValueId])| {
        let mut printer = InstPrinter::as_printed(f);
        let mut table = Table::new(scope.is_whole(f), f.value_capacity(), None);
        let mut add = |value: ValueId| {
            let name = printer.value(value);
            if name.as_bytes().get(1).is_some_and(u8::is_ascii_digit) {
                return;
            }
            let next = numbers.len() as u32;
            table.set(value.index(), Some(*numbers.entry(name).or_insert(next)));
        };
        seen.iter().copied().for_each(&mut add);
        if let Scope::Body(body) = scope {
            f.body_params(body).iter().copied().for_each(&mut add);
        }
        for &inst in live {
            f.inst_results(inst).for_each(&mut add);
            let regions = f.regions(inst).iter();
            regions.flat_map(|&region| f.body_params(region)).copied().for_each(&mut add);
        }
        Names(table)
    };
    (side(left), side(right))
}

impl Matching<'_> {
    /// Pairs what can be paired. Linear.
    pub(super) fn pair_all(&mut self) {
        self.by_hash();
        if let (Some(x), Some(y)) = (end(self.a, self.scopes.0), end(self.b, self.scopes.1))
            && self.free(x, y)
        {
            self.pair(x, y);
        }
        for _ in 0..ROUNDS {
            let found = self.forwards() + self.backwards(Kin::Close);
            if found == 0 {
                break;
            }
        }
        if self.backwards(Kin::Alike) > 0 {
            self.forwards();
        }
        self.backwards(Kin::Replaced);
        self.by_text();
    }

    // Those that are left and read the same: one line, not an erased and an inserted one.
    fn by_text(&mut self) {
        let (a, b) = (self.a, self.b);
        let left = |this: &Self, x: &InstId| this.to.get(x.index()).is_none() && !is_end(a, *x);
        let right = |this: &Self, y: &InstId| this.from.get(y.index()).is_none() && !is_end(b, *y);
        let xs: Vec<InstId> = self.live_a.iter().copied().filter(|x| left(self, x)).collect();
        let ys: Vec<InstId> = self.live_b.iter().copied().filter(|y| right(self, y)).collect();
        if xs.is_empty() || ys.is_empty() {
            return;
        }
        let (mut own, mut other) = (InstPrinter::new(a), InstPrinter::new(b));
        let mut texts: Map<String, Vec<InstId>> = Map::default();
        for y in ys.into_iter().rev() {
            texts.entry(other.print(y)).or_default().push(y);
        }
        for x in xs {
            let list = texts.get_mut(&own.print(x)).filter(|list| !list.is_empty());
            if let Some(list) = list
                && let Some(&y) = list.last()
                && a.op_key(x) == b.op_key(y)
                && self.same_types(x, y)
            {
                list.pop();
                self.pair(x, y);
            }
        }
    }

    // The names of first results.
    fn own_name(&self, x: InstId) -> Option<u32> {
        self.names.0.of_first(self.a, x)
    }

    fn other_name(&self, y: InstId) -> Option<u32> {
        self.names.1.of_first(self.b, y)
    }

    // Those that compute the same: of several the one with the same name, then in program order.
    fn by_hash(&mut self) {
        if let (Scope::Inst(x), Scope::Inst(y)) = self.scopes {
            self.pair(x, y);
        }
        let hash = |this: &Self, x: InstId| this.hashes.0.get(x.index());
        let mut named: Map<(Hash128, u32), Vec<InstId>> = Map::default();
        let mut waiting: Map<Hash128, Vec<InstId>> = Map::default();
        for &y in self.live_b.iter().rev() {
            let hash = self.hashes.1.get(y.index());
            if let Some(name) = self.other_name(y) {
                named.entry((hash, name)).or_default().push(y);
            }
            waiting.entry(hash).or_default().push(y);
        }
        for x in self.live_a.clone() {
            let Some(name) = self.own_name(x) else { continue };
            let same = named.get_mut(&(hash(self, x), name)).and_then(Vec::pop);
            if let Some(y) = same.filter(|&y| self.free(x, y)) {
                self.pair(x, y);
            }
        }
        for x in self.live_a.clone() {
            if self.to.get(x.index()).is_some() {
                continue;
            }
            let mut list = waiting.get_mut(&hash(self, x));
            while let Some(y) = list.as_mut().and_then(|list| list.pop()) {
                if self.free(x, y) {
                    self.pair(x, y);
                    break;
                }
            }
        }
    }

    // Values from outside that were paired have one number, all others numbers of their own.
    pub(super) fn make_hashes(&self) -> (Table<Hash128>, Table<Hash128>) {
        let mut left: Map<ValueId, u64> = Map::default();
        let mut right: Map<ValueId, u64> = Map::default();
        let mut next = 0u64;
        for u in captures(self.a, self.scopes.0, self.mode) {
            left.insert(u, next);
            if let Some(&v) = self.outside.get(&u) {
                right.insert(v, next);
            }
            next += 1;
        }
        for v in captures(self.b, self.scopes.1, self.mode) {
            right.entry(v).or_insert_with(|| {
                next += 1;
                next
            });
        }
        (scope_hashes(self.a, self.scopes.0, left), scope_hashes(self.b, self.scopes.1, right))
    }

    // From operands to users: the same op on values that stand for each other, or under the same name. How many were paired.
    fn forwards(&mut self) -> usize {
        let (a, b) = (self.a, self.b);
        let mut by_operand: Map<(OpKey, ValueId), Vec<InstId>> = Map::default();
        let mut by_name: Map<(OpKey, u32), Vec<InstId>> = Map::default();
        for &y in self.live_b.iter().rev().filter(|y| self.from.get(y.index()).is_none()) {
            if is_end(b, y) {
                continue;
            }
            for &v in b.operands(y).iter().take(OPERANDS) {
                let list = by_operand.entry((b.op_key(y), v)).or_default();
                if list.last() != Some(&y) {
                    list.push(y);
                }
            }
            if let Some(name) = self.other_name(y) {
                by_name.entry((b.op_key(y), name)).or_default().push(y);
            }
        }
        let mut paired = 0;
        for x in self.live_a.clone() {
            if self.to.get(x.index()).is_some() || is_end(a, x) {
                continue;
            }
            let images: Vec<Option<ValueId>> =
                a.operands(x).iter().take(OPERANDS).map(|&u| self.image(u)).collect();
            let mut best: Option<(i64, InstId)> = None;
            let mut look = |list: &mut Vec<InstId>, this: &Self| {
                while list.last().is_some_and(|y| this.from.get(y.index()).is_some()) {
                    list.pop();
                }
                for &y in list.iter().rev().take(CANDIDATES) {
                    let score = this.score(x, y, &images);
                    if score > best.map_or(0, |(known, _)| known) {
                        best = Some((score, y));
                    }
                }
            };
            for &v in images.iter().flatten() {
                by_operand.get_mut(&(a.op_key(x), v)).into_iter().for_each(|l| look(l, self));
            }
            if let Some(name) = self.own_name(x) {
                by_name.get_mut(&(a.op_key(x), name)).into_iter().for_each(|l| look(l, self));
            }
            if let Some((_, y)) = best {
                self.pair(x, y);
                paired += 1;
            }
        }
        paired
    }

    // How much two instructions of the same op have in common; nothing if they cannot be paired.
    fn score(&self, x: InstId, y: InstId, images: &[Option<ValueId>]) -> i64 {
        let (a, b) = (self.a, self.b);
        if !self.free(x, y) || !self.same_types(x, y) {
            return 0;
        }
        let operands = b.operands(y);
        let operands = &operands[..operands.len().min(OPERANDS)];
        let mut score = 0;
        for (n, image) in images.iter().enumerate() {
            score += match image {
                Some(v) if operands.get(n) == Some(v) => 8,
                Some(v) if operands.contains(v) => 6,
                Some(_) => -1,
                None => 0,
            };
        }
        let name = self.own_name(x);
        if name.is_some() && name == self.other_name(y) {
            score += 12;
        }
        let home = a.body_of(x).and_then(|body| self.body_image(body));
        if home.is_some() && home == b.body_of(y) {
            score += 2;
        }
        score + i64::from(a.attrs(x) == b.attrs(y))
    }

    // Results of the same types, up to the names of dims; loops may carry more or less.
    fn same_types(&self, x: InstId, y: InstId) -> bool {
        let (a, b) = (self.a, self.b);
        let (rs, ss) = (a.inst_results(x), b.inst_results(y));
        if rs.len() != ss.len() {
            return a.op_key(x) == b.op_key(y) && !a.regions(x).is_empty();
        }
        rs.zip(ss).all(|(u, v)| open_dims(a.value_type(u)) == open_dims(b.value_type(v)))
    }

    // From users to the definitions of their operands in the same slot, and to the ends of their regions. How many were paired.
    fn backwards(&mut self, kin: Kin) -> usize {
        let (a, b) = (self.a, self.b);
        let mut queue: Vec<(InstId, InstId)> =
            self.live_a.iter().filter_map(|&x| Some((x, self.to.get(x.index())?))).collect();
        let mut paired = 0;
        while let Some((x, y)) = queue.pop() {
            for (i, j) in self.below(x, y) {
                if !self.free(i, j) || !self.same_types(i, j) {
                    continue;
                }
                let alike = a.op_key(i) == b.op_key(j);
                let (own, other) = (self.own_name(i), self.other_name(j));
                let named = own.is_some() && other.is_some() && own != other;
                let fits = match kin {
                    Kin::Close => alike && !named,
                    Kin::Alike => alike,
                    Kin::Replaced => true,
                };
                if fits {
                    self.pair(i, j);
                    paired += 1;
                    // What stands in the place of another says nothing about operands.
                    if alike {
                        queue.push((i, j));
                    }
                }
            }
        }
        paired
    }

    fn below(&self, x: InstId, y: InstId) -> Vec<(InstId, InstId)> {
        let (a, b) = (self.a, self.b);
        let mut next: Vec<(InstId, InstId)> = Vec::new();
        if a.op_key(x) != b.op_key(y) {
            return next;
        }
        for (&u, &v) in a.operands(x).iter().zip(b.operands(y)) {
            if let (Some(i), Some(j)) = (a.inst_of(u), b.inst_of(v))
                && self.inside.0.has(a, u)
                && self.inside.1.has(b, v)
            {
                next.push((i, j));
            }
        }
        for (&r, &s) in a.regions(x).iter().zip(b.regions(y)) {
            if let (Some(i), Some(j)) = (a.terminator(r), b.terminator(s)) {
                next.push((i, j));
            }
        }
        next
    }
}

fn end(f: &Function, scope: Scope) -> Option<InstId> {
    match scope {
        Scope::Body(body) => f.terminator(body),
        Scope::Inst(_) => None,
    }
}

// Ends of bodies are paired with their bodies.
fn is_end(f: &Function, inst: InstId) -> bool {
    f.op_def(inst).is_some_and(|def| def.terminator)
}
