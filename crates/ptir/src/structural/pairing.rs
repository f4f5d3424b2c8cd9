//! Pairing of corresponding instructions of two programs: first those that compute the same, then those that share
//! operands, a user or a name, so that moved and renamed values do not appear as differences.

use hashbrown::HashMap;
use rustc_hash::FxBuildHasher;
use sapwood_structural::Hash128;

use super::diff::{InstMatching, erase_dim_names};
use super::equivalence::has_same_attrs;
use super::hash::scope_hashes;
use super::scope::{IndexTable, Scope, captured_values};
use crate::func::Function;
use crate::ids::{InstId, ValueId};
use crate::op::OpKey;
use crate::text::InstPrinter;

/// The number of rounds of pairing by operands and users; each round can use the pairs of the previous one.
const PAIRING_ROUNDS: usize = 3;
/// The number of candidates considered per operand, and below it the number of operands, so that values with many
/// users and ops with many operands cost no more.
const MAX_CANDIDATES: usize = 16;
const MAX_OPERANDS: usize = 8;

/// The condition for pairing two definitions that paired users have in the same operand slot.
#[derive(Clone, Copy, PartialEq, Eq)]
enum PairCriterion {
    /// The ops, the types and, if both have one, the names are equal.
    OpTypeAndName,
    /// The ops and types are equal.
    OpAndType,
    /// The types are equal: another op computes the value.
    Type,
}

type Map<K, V> = HashMap<K, V, FxBuildHasher>;

/// The names of values, as numbers that two functions share; generated numbers do not count as names. Names are taken
/// from the printed text, so that pairing depends on the text alone, not on how the program was built.
pub(super) struct ValueNames(IndexTable<Option<u32>>);

impl ValueNames {
    pub(super) fn of(&self, value: ValueId) -> Option<u32> {
        self.0.get(value.index())
    }

    fn of_first(&self, f: &Function, inst: InstId) -> Option<u32> {
        f.inst_results(inst).next().and_then(|value| self.of(value))
    }
}

/// Returns the names of all values that the two scopes define and capture.
pub(super) fn shared_value_names(
    left: (&Function, Scope, &[InstId], &[ValueId]),
    right: (&Function, Scope, &[InstId], &[ValueId]),
) -> (ValueNames, ValueNames) {
    let mut numbers: Map<String, u32> = Map::default();
    let mut side = |(f, scope, live, seen): (&Function, Scope, &[InstId], &[ValueId])| {
        let mut printer = InstPrinter::as_printed(f);
        let mut table = IndexTable::new(scope.is_whole_function(f), f.value_capacity(), None);
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
        ValueNames(table)
    };
    (side(left), side(right))
}

impl InstMatching<'_> {
    /// Pairs all instructions that can be paired, in linear time.
    pub(super) fn pair_all(&mut self) {
        self.pair_by_hash();
        if let (Some(x), Some(y)) =
            (scope_terminator(self.a, self.scopes.0), scope_terminator(self.b, self.scopes.1))
            && self.both_unpaired(x, y)
        {
            self.pair(x, y);
        }
        for _ in 0..PAIRING_ROUNDS {
            let found = self.pair_users_of_pairs()
                + self.pair_operands_of_pairs(PairCriterion::OpTypeAndName);
            if found == 0 {
                break;
            }
        }
        if self.pair_operands_of_pairs(PairCriterion::OpAndType) > 0 {
            self.pair_users_of_pairs();
        }
        self.pair_operands_of_pairs(PairCriterion::Type);
        self.pair_by_text();
    }

    // Pairs the remaining instructions that print the same, so that they appear as one line instead of an erased and
    // an inserted one.
    fn pair_by_text(&mut self) {
        let (a, b) = (self.a, self.b);
        let left =
            |this: &Self, x: &InstId| this.to.get(x.index()).is_none() && !is_terminator(a, *x);
        let right =
            |this: &Self, y: &InstId| this.from.get(y.index()).is_none() && !is_terminator(b, *y);
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
                && self.result_types_match(x, y)
            {
                list.pop();
                self.pair(x, y);
            }
        }
    }

    // Returns the name of an instruction's first result, on the left and on the right.
    fn left_name(&self, x: InstId) -> Option<u32> {
        self.names.0.of_first(self.a, x)
    }

    fn right_name(&self, y: InstId) -> Option<u32> {
        self.names.1.of_first(self.b, y)
    }

    // Pairs instructions that compute the same: among several, the one with the same name, then in program order.
    fn pair_by_hash(&mut self) {
        if let (Scope::Inst(x), Scope::Inst(y)) = self.scopes {
            self.pair(x, y);
        }
        let hash = |this: &Self, x: InstId| this.hashes.0.get(x.index());
        let mut named: Map<(Hash128, u32), Vec<InstId>> = Map::default();
        let mut waiting: Map<Hash128, Vec<InstId>> = Map::default();
        for &y in self.live_b.iter().rev() {
            let hash = self.hashes.1.get(y.index());
            if let Some(name) = self.right_name(y) {
                named.entry((hash, name)).or_default().push(y);
            }
            waiting.entry(hash).or_default().push(y);
        }
        for x in self.live_a.clone() {
            let Some(name) = self.left_name(x) else { continue };
            let same = named.get_mut(&(hash(self, x), name)).and_then(Vec::pop);
            if let Some(y) = same.filter(|&y| self.both_unpaired(x, y)) {
                self.pair(x, y);
            }
        }
        for x in self.live_a.clone() {
            if self.to.get(x.index()).is_some() {
                continue;
            }
            let mut list = waiting.get_mut(&hash(self, x));
            while let Some(y) = list.as_mut().and_then(|list| list.pop()) {
                if self.both_unpaired(x, y) {
                    self.pair(x, y);
                    break;
                }
            }
        }
    }

    // Hashes the instructions of both sides. Paired captures have one number, all others numbers of their own.
    pub(super) fn compute_hashes(&self) -> (IndexTable<Hash128>, IndexTable<Hash128>) {
        let mut left: Map<ValueId, u64> = Map::default();
        let mut right: Map<ValueId, u64> = Map::default();
        let mut next = 0u64;
        for u in captured_values(self.a, self.scopes.0, self.mode) {
            left.insert(u, next);
            if let Some(&v) = self.outside.get(&u) {
                right.insert(v, next);
            }
            next += 1;
        }
        for v in captured_values(self.b, self.scopes.1, self.mode) {
            right.entry(v).or_insert_with(|| {
                next += 1;
                next
            });
        }
        (scope_hashes(self.a, self.scopes.0, left), scope_hashes(self.b, self.scopes.1, right))
    }

    // Pairs unpaired users of paired values: instructions of the same op with paired operands or the same name.
    // Returns the number of new pairs.
    fn pair_users_of_pairs(&mut self) -> usize {
        let (a, b) = (self.a, self.b);
        let mut by_operand: Map<(OpKey, ValueId), Vec<InstId>> = Map::default();
        let mut by_name: Map<(OpKey, u32), Vec<InstId>> = Map::default();
        for &y in self.live_b.iter().rev().filter(|y| self.from.get(y.index()).is_none()) {
            if is_terminator(b, y) {
                continue;
            }
            for &v in b.operands(y).iter().take(MAX_OPERANDS) {
                let list = by_operand.entry((b.op_key(y), v)).or_default();
                if list.last() != Some(&y) {
                    list.push(y);
                }
            }
            if let Some(name) = self.right_name(y) {
                by_name.entry((b.op_key(y), name)).or_default().push(y);
            }
        }
        let mut paired = 0;
        for x in self.live_a.clone() {
            if self.to.get(x.index()).is_some() || is_terminator(a, x) {
                continue;
            }
            let images: Vec<Option<ValueId>> =
                a.operands(x).iter().take(MAX_OPERANDS).map(|&u| self.counterpart(u)).collect();
            let mut best: Option<(i64, InstId)> = None;
            let mut look = |list: &mut Vec<InstId>, this: &Self| {
                while list.last().is_some_and(|y| this.from.get(y.index()).is_some()) {
                    list.pop();
                }
                for &y in list.iter().rev().take(MAX_CANDIDATES) {
                    let score = this.similarity(x, y, &images);
                    if score > best.map_or(0, |(known, _)| known) {
                        best = Some((score, y));
                    }
                }
            };
            for &v in images.iter().flatten() {
                by_operand.get_mut(&(a.op_key(x), v)).into_iter().for_each(|l| look(l, self));
            }
            if let Some(name) = self.left_name(x) {
                by_name.get_mut(&(a.op_key(x), name)).into_iter().for_each(|l| look(l, self));
            }
            if let Some((_, y)) = best {
                self.pair(x, y);
                paired += 1;
            }
        }
        paired
    }

    // Scores the similarity of two instructions of the same op; zero if they cannot be paired.
    fn similarity(&self, x: InstId, y: InstId, images: &[Option<ValueId>]) -> i64 {
        let (a, b) = (self.a, self.b);
        if !self.both_unpaired(x, y) || !self.result_types_match(x, y) {
            return 0;
        }
        let operands = b.operands(y);
        let operands = &operands[..operands.len().min(MAX_OPERANDS)];
        let mut score = 0;
        for (n, image) in images.iter().enumerate() {
            score += match image {
                Some(v) if operands.get(n) == Some(v) => 8,
                Some(v) if operands.contains(v) => 6,
                Some(_) => -1,
                None => 0,
            };
        }
        let name = self.left_name(x);
        if name.is_some() && name == self.right_name(y) {
            score += 12;
        }
        let home = a.body_of(x).and_then(|body| self.body_counterpart(body));
        if home.is_some() && home == b.body_of(y) {
            score += 2;
        }
        score + i64::from(has_same_attrs(a, x, b, y))
    }

    // Returns whether the results have the same types, up to the names of dims. Loops may carry different numbers of
    // values.
    fn result_types_match(&self, x: InstId, y: InstId) -> bool {
        let (a, b) = (self.a, self.b);
        let (rs, ss) = (a.inst_results(x), b.inst_results(y));
        if rs.len() != ss.len() {
            return a.op_key(x) == b.op_key(y) && !a.regions(x).is_empty();
        }
        rs.zip(ss)
            .all(|(u, v)| erase_dim_names(a.value_type(u)) == erase_dim_names(b.value_type(v)))
    }

    // Pairs the definitions of the operands of paired users, slot by slot, and the terminators of their regions.
    // Returns the number of new pairs.
    fn pair_operands_of_pairs(&mut self, criterion: PairCriterion) -> usize {
        let (a, b) = (self.a, self.b);
        let mut queue: Vec<(InstId, InstId)> =
            self.live_a.iter().filter_map(|&x| Some((x, self.to.get(x.index())?))).collect();
        let mut paired = 0;
        while let Some((x, y)) = queue.pop() {
            for (i, j) in self.operand_and_region_pairs(x, y) {
                if !self.both_unpaired(i, j) || !self.result_types_match(i, j) {
                    continue;
                }
                let alike = a.op_key(i) == b.op_key(j);
                let (own, other) = (self.left_name(i), self.right_name(j));
                let named = own.is_some() && other.is_some() && own != other;
                let fits = match criterion {
                    PairCriterion::OpTypeAndName => alike && !named,
                    PairCriterion::OpAndType => alike,
                    PairCriterion::Type => true,
                };
                if fits {
                    self.pair(i, j);
                    paired += 1;
                    // An instruction that replaces another one says nothing about their operands.
                    if alike {
                        queue.push((i, j));
                    }
                }
            }
        }
        paired
    }

    fn operand_and_region_pairs(&self, x: InstId, y: InstId) -> Vec<(InstId, InstId)> {
        let (a, b) = (self.a, self.b);
        let mut next: Vec<(InstId, InstId)> = Vec::new();
        if a.op_key(x) != b.op_key(y) {
            return next;
        }
        for (&u, &v) in a.operands(x).iter().zip(b.operands(y)) {
            if let (Some(i), Some(j)) = (a.inst_of(u), b.inst_of(v))
                && self.inside.0.contains(a, u)
                && self.inside.1.contains(b, v)
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

fn scope_terminator(f: &Function, scope: Scope) -> Option<InstId> {
    match scope {
        Scope::Body(body) => f.terminator(body),
        Scope::Inst(_) => None,
    }
}

// Terminators are paired with their bodies.
fn is_terminator(f: &Function, inst: InstId) -> bool {
    f.op_def(inst).is_some_and(|def| def.terminator)
}
