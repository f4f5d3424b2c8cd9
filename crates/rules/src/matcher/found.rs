//! What was found, and searches that were cut short.

use hashbrown::HashSet;
use rustc_hash::FxBuildHasher;
use sapwood_ptir::{Attr, Function, InstId, Name, ValueId, Values};
use sapwood_types::counted;
use smallvec::SmallVec;

use crate::graph::{Operand, PatternGraph, ValueIx, constant_behind};

/// A place where a pattern was found.
#[derive(Clone, PartialEq, Debug)]
pub struct Match {
    /// The number of the pattern.
    pub pattern: usize,
    /// The function.
    pub function: Name,
    /// The instructions, in the order of the pattern's ops. Constants are values and not among them.
    pub ops: Vec<InstId>,
    /// The values, in the order of the pattern's. A constant of the pattern may be several in the program; this is the
    /// first.
    pub(crate) values: Box<[Option<ValueId>]>,
    pub(crate) attrs: Vec<Option<Attr>>,
    pub(crate) lists: Vec<Option<Values>>,
    /// Which instructions have their first two operands the other way round.
    pub(crate) swapped: SmallVec<[bool; 16]>,
    /// Where regions use values from outside: the value of the pattern, an instruction of the region, its operand.
    pub(crate) captured: Vec<(ValueIx, InstId, usize)>,
    /// Whether a call was taken for an instance of another pattern because of its name alone.
    pub by_name: bool,
}

impl Match {
    /// What the values of the pattern are bound to, by the names they are printed with.
    pub fn bindings<'a>(
        &'a self,
        pattern: &'a PatternGraph,
    ) -> impl Iterator<Item = (&'a str, ValueId)> {
        pattern.values.iter().zip(&self.values).filter_map(|(v, found)| Some((&*v.name, (*found)?)))
    }

    /// What lists of operands are bound to, by the names they are written with.
    pub fn lists<'a>(
        &'a self,
        pattern: &'a PatternGraph,
    ) -> impl Iterator<Item = (&'a str, &'a [ValueId])> {
        pattern.lists.iter().zip(&self.lists).filter_map(|(n, l)| Some((&**n, &**l.as_ref()?)))
    }

    /// What attributes of the pattern are bound to, by the names they are written with.
    pub fn attributes<'a>(
        &'a self,
        pattern: &'a PatternGraph,
    ) -> impl Iterator<Item = (&'a str, &'a Attr)> {
        pattern.captures.iter().zip(&self.attrs).filter_map(|(n, a)| Some((&**n, a.as_ref()?)))
    }

    /// What the parameters of the pattern are bound to, in their order.
    #[must_use]
    pub fn inputs(&self, pattern: &PatternGraph) -> Vec<ValueId> {
        pattern.params.iter().filter_map(|&v| self.values[v]).collect()
    }

    /// What the outputs of the pattern are bound to, in their order.
    #[must_use]
    pub fn outputs(&self, pattern: &PatternGraph) -> Vec<ValueId> {
        pattern.outputs.iter().filter_map(|&v| self.values[v]).collect()
    }

    /// Gives the key that orders bindings of the same instructions as they are written.
    pub(super) fn rank<'a>(&'a self, f: &'a Function) -> (&'a [bool], SmallVec<[u64; 8]>) {
        (&self.swapped, self.ops.iter().map(|&i| f.order_key(i)).collect())
    }

    /// The operand of an instruction that an operand of a pattern's op stands for.
    pub(crate) fn operand(&self, f: &Function, op: usize, n: usize) -> Option<ValueId> {
        let at = if self.swapped[op] && n < 2 { 1 - n } else { n };
        f.operands(self.ops[op]).get(at).copied()
    }

    /// Binds the values anew after the program was changed around the instructions.
    pub(crate) fn rebind(&mut self, f: &Function, pattern: &PatternGraph) {
        for (ix, op) in pattern.ops.iter().enumerate() {
            let inst = self.ops[ix];
            for (n, &result) in op.results.iter().enumerate() {
                self.values[result] = f.result(inst, n);
            }
            for (n, operand) in op.operands.iter().enumerate() {
                match *operand {
                    Operand::One(value) => self.values[value] = self.operand(f, ix, n),
                    Operand::Rest(list) => {
                        let rest = f.operands(inst).get(n..).unwrap_or_default();
                        self.lists[list] = Some(Values::from_slice(rest));
                    }
                }
            }
        }
        for &(value, inst, n) in &self.captured {
            self.values[value] = f.operands(inst).get(n).copied();
        }
    }

    /// The constants that the match uses as literals of the pattern, each once: one literal may be several of them.
    pub(crate) fn constants(&self, f: &Function, pattern: &PatternGraph) -> Vec<ValueId> {
        let mut seen: HashSet<ValueId, FxBuildHasher> = HashSet::default();
        let mut list = Vec::new();
        let mut add = |value: ValueId| {
            if seen.insert(value) {
                list.push(value);
            }
        };
        for (ix, op) in pattern.ops.iter().enumerate() {
            for (n, operand) in op.operands.iter().enumerate() {
                if let Operand::One(value) = *operand
                    && pattern.is_literal(value)
                {
                    self.operand(f, ix, n).into_iter().for_each(&mut add);
                }
            }
            if !op.captured.iter().any(|&v| pattern.is_literal(v)) {
                continue;
            }
            let inner = |b: &sapwood_ptir::BodyId| f.walk_body(*b);
            let inside: Vec<InstId> = f.regions(self.ops[ix]).iter().flat_map(inner).collect();
            let own: HashSet<InstId, FxBuildHasher> = inside.iter().copied().collect();
            for &value in inside.iter().flat_map(|&i| f.operands(i)) {
                let outside = f.inst_of(value).is_some_and(|i| !own.contains(&i));
                if outside && constant_behind(f, value).is_some() {
                    add(value);
                }
            }
        }
        list
    }
}

/// What was found.
#[derive(Clone, Debug, Default)]
pub struct Found {
    /// The matches: by function, then by the position of the earliest instruction, then by pattern.
    pub matches: Vec<Match>,
    /// Searches that were cut short, so that matches may be missing.
    pub exhausted: Vec<Exhausted>,
}

/// A search that took more steps, or found more, than it may.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Exhausted {
    /// The pattern.
    pub pattern: Name,
    /// The function.
    pub function: Name,
    /// What was used up.
    pub limit: Limit,
}

/// What a search may use up.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Limit {
    /// The candidates that may be tried from one root: this one, so many.
    Root(InstId, u64),
    /// The candidates that may be tried in one function.
    Steps(u64),
    /// The matches that are kept of one function.
    Matches(usize),
}

impl std::fmt::Display for Exhausted {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        let Self { pattern, function, limit } = self;
        write!(f, "@{function}: `{pattern}` was given up ")?;
        match limit {
            Limit::Root(_, steps) => write!(f, "at a root after {}", counted(*steps, "step"))?,
            Limit::Steps(steps) => write!(f, "after {}", counted(*steps, "step"))?,
            Limit::Matches(matches) => write!(f, "after {}", counted(*matches, "match"))?,
        }
        f.write_str("; matches may be missing")
    }
}
