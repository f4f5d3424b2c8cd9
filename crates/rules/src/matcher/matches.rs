//! Matches, and reports of searches that were cut short.

use hashbrown::HashSet;
use rustc_hash::FxBuildHasher;
use sapwood_ptir::{Attr, Dim, Function, InstId, Name, ValueId, Values};
use sapwood_types::counted;
use smallvec::SmallVec;

use crate::graph::{
    Choice, PatternGraph, PatternOperand, ValueIx, ValueSource, constant_behind, constant_insts,
};

/// A match: a place where a pattern was found.
#[derive(Clone, PartialEq, Debug)]
pub struct Match {
    /// The index of the pattern.
    pub pattern: usize,
    /// The function.
    pub function: Name,
    /// The instructions, in the order of the pattern's ops, without constants. Ops of alternatives that were not taken are missing;
    /// the instructions that were looked through come last.
    pub ops: Vec<InstId>,
    /// The parts that only matches of patterns with alternatives, wildcards or ops to look through have.
    pub(crate) open: Option<Box<OpenMatch>>,
    /// The bound values, in the order of the pattern's. A constant of the pattern may match several values; this is the first.
    pub(crate) values: Box<[Option<ValueId>]>,
    pub(crate) attrs: Vec<Option<Attr>>,
    pub(crate) lists: Vec<Option<Values>>,
    /// The instructions whose first two operands are swapped.
    pub(crate) swapped: SmallVec<[bool; 16]>,
    /// The uses of outer values in regions: the value of the pattern, an instruction of the region, the index of its operand.
    pub(crate) captured: Vec<(ValueIx, InstId, usize)>,
    /// Set if a call was matched to another pattern by its name alone.
    pub by_name: bool,
}

/// The alternatives of a match.
#[derive(Clone, PartialEq, Debug)]
pub(crate) struct OpenMatch {
    /// The instructions, by op of the pattern.
    pub(crate) insts: Vec<Option<InstId>>,
    pub(crate) choices: Vec<Option<usize>>,
    pub(crate) dims: Vec<(Name, Dim)>,
}

impl Match {
    /// Returns the instruction of an op of the pattern; `None` if the match does not have the op.
    pub(crate) fn inst(&self, op: usize) -> Option<InstId> {
        match &self.open {
            None => self.ops.get(op).copied(),
            Some(open) => open.insts[op],
        }
    }

    /// Describes the alternatives that were taken, in the order of the pattern: `a is mul`, `cast`, `no reshape`.
    #[must_use]
    pub fn alternatives(&self, pattern: &PatternGraph) -> Vec<String> {
        let taken = self.open.as_ref().map_or(&[][..], |open| &open.choices);
        let describe = |(choice, branch): (&Choice, &Option<usize>)| {
            let branch = (*branch)?;
            let name = &*pattern.values[choice.value].name;
            let target = &pattern.values[choice.branches[branch]];
            let shown = match target.from {
                ValueSource::Result(op) => pattern.show(op),
                _ => target.name.clone(),
            };
            Some(match (name.strip_suffix('?'), branch) {
                (Some(op), 0) => op.to_owned(),
                (Some(op), _) => format!("no {op}"),
                (None, _) if name == "|" => shown,
                (None, _) => format!("{name} is {shown}"),
            })
        };
        pattern.choices.iter().zip(taken).filter_map(describe).collect()
    }

    /// Returns the ops that wildcards with names stand for.
    pub fn wildcards<'a>(
        &'a self,
        pattern: &'a PatternGraph,
    ) -> impl Iterator<Item = (&'a str, InstId)> {
        pattern.wildcards.iter().filter_map(|(name, op)| Some((&**name, self.inst(*op)?)))
    }

    /// Returns the dims that names of the pattern are bound to.
    pub fn dims(&self) -> impl Iterator<Item = (&str, Dim)> {
        let dims = self.open.as_ref().map_or(&[][..], |open| &open.dims);
        dims.iter().map(|(name, dim)| (name.as_str(), *dim))
    }

    /// Returns the values that names of the pattern are bound to.
    pub fn bindings<'a>(
        &'a self,
        pattern: &'a PatternGraph,
    ) -> impl Iterator<Item = (&'a str, ValueId)> {
        pattern.values.iter().zip(&self.values).filter_map(|(v, found)| Some((&*v.name, (*found)?)))
    }

    /// Returns the operand lists that names of the pattern are bound to.
    pub fn lists<'a>(
        &'a self,
        pattern: &'a PatternGraph,
    ) -> impl Iterator<Item = (&'a str, &'a [ValueId])> {
        pattern.lists.iter().zip(&self.lists).filter_map(|(n, l)| Some((&**n, &**l.as_ref()?)))
    }

    /// Returns the attributes that names of the pattern are bound to.
    pub fn attributes<'a>(
        &'a self,
        pattern: &'a PatternGraph,
    ) -> impl Iterator<Item = (&'a str, &'a Attr)> {
        pattern.captures.iter().zip(&self.attrs).filter_map(|(n, a)| Some((&**n, a.as_ref()?)))
    }

    /// Returns the values that the parameters of the pattern are bound to, in order.
    #[must_use]
    pub fn inputs(&self, pattern: &PatternGraph) -> Vec<ValueId> {
        pattern.params.iter().filter_map(|&v| self.values[v]).collect()
    }

    /// Returns the values that the outputs of the pattern are bound to, in order.
    #[must_use]
    pub fn outputs(&self, pattern: &PatternGraph) -> Vec<ValueId> {
        pattern.outputs.iter().filter_map(|&v| self.values[v]).collect()
    }

    /// Returns all instructions that the match took: its ops, those that were looked through, and constants with their broadcasts.
    #[must_use]
    pub fn all_insts(&self, f: &Function, pattern: &PatternGraph) -> Vec<InstId> {
        let mut insts = self.ops.clone();
        for value in self.constants(f, pattern) {
            let behind = constant_insts(&pattern.through, f, value);
            for inst in behind.into_iter().flat_map(|(_, insts)| insts) {
                if !insts.contains(&inst) {
                    insts.push(inst);
                }
            }
        }
        insts
    }

    /// Returns the key that orders bindings of the same instructions as they are written.
    pub(super) fn rank<'a>(
        &'a self,
        f: &'a Function,
    ) -> (&'a [Option<usize>], &'a [bool], SmallVec<[u64; 8]>) {
        let choices = self.open.as_ref().map_or(&[][..], |open| &open.choices);
        (choices, &self.swapped, self.ops.iter().map(|&i| f.order_key(i)).collect())
    }

    /// Returns the operand of an instruction that matches an operand of a pattern's op.
    pub(crate) fn operand(&self, f: &Function, op: usize, n: usize) -> Option<ValueId> {
        let at = if self.swapped[op] && n < 2 { 1 - n } else { n };
        f.operands(self.inst(op)?).get(at).copied()
    }

    /// Updates the bound values after edits around the instructions.
    pub(crate) fn rebind(&mut self, f: &Function, pattern: &PatternGraph) {
        for (ix, op) in pattern.ops.iter().enumerate() {
            let Some(inst) = self.inst(ix) else { continue };
            for (n, &result) in op.results.iter().enumerate() {
                self.values[result] = f.result(inst, n);
            }
            for (n, operand) in op.operands.iter().enumerate() {
                match *operand {
                    // The places of the inputs are below.
                    PatternOperand::One(_) if self.open.is_some() => {}
                    PatternOperand::One(value) => self.values[value] = self.operand(f, ix, n),
                    PatternOperand::Rest(list) => {
                        let rest = f.operands(inst).get(n..).unwrap_or_default();
                        self.lists[list] = Some(Values::from_slice(rest));
                    }
                }
            }
        }
        for &(value, inst, n) in &self.captured {
            self.values[value] = f.operands(inst).get(n).copied();
        }
        let choices = self.open.as_ref().map_or(&[][..], |open| &open.choices);
        for (choice, branch) in pattern.choices.iter().zip(choices) {
            if let Some(branch) = branch {
                self.values[choice.value] = self.values[choice.branches[*branch]];
            }
        }
    }

    /// Returns the value of the pattern that a value stands for, after the alternatives that were taken.
    pub(crate) fn resolved(&self, pattern: &PatternGraph, mut value: ValueIx) -> ValueIx {
        while let ValueSource::Choice(choice) = pattern.values[value].from {
            let taken = self.open.as_ref().and_then(|open| open.choices[choice]);
            let Some(branch) = taken else { break };
            value = pattern.choices[choice].branches[branch];
        }
        value
    }

    /// Returns whether a value of the pattern is a constant, after the alternatives that were taken.
    pub(crate) fn is_literal(&self, pattern: &PatternGraph, value: ValueIx) -> bool {
        pattern.is_literal(self.resolved(pattern, value))
    }

    /// Returns the constants that match literals of the pattern, each once; one literal may match several.
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
                if let PatternOperand::One(value) = *operand
                    && self.is_literal(pattern, value)
                {
                    self.operand(f, ix, n).into_iter().for_each(&mut add);
                }
            }
            let Some(inst) = self.inst(ix) else { continue };
            for (region, &body) in op.region_patterns.iter().zip(f.regions(inst)) {
                let yields = f.terminator(body).map_or(&[][..], |end| f.operands(end));
                for (_, &constant) in
                    region.yields.iter().zip(yields).filter(|(v, _)| self.is_literal(pattern, **v))
                {
                    add(constant);
                }
            }
            if !op.captured.iter().any(|&v| pattern.is_literal(v)) {
                continue;
            }
            let inner = |b: &sapwood_ptir::BodyId| f.walk_body(*b);
            let inside: Vec<InstId> = f.regions(inst).iter().flat_map(inner).collect();
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

/// The result of a search: matches, and searches that were cut short.
#[derive(Clone, Debug, Default)]
pub struct FindReport {
    /// The matches: by function, then by the position of the earliest instruction, then by pattern.
    pub matches: Vec<Match>,
    /// The searches that were cut short, so that matches may be missing.
    pub exhausted: Vec<Exhausted>,
    /// The number of candidates that were tried.
    pub steps: u64,
}

/// A search that reached a limit.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Exhausted {
    /// The pattern.
    pub pattern: Name,
    /// The function.
    pub function: Name,
    /// The limit that was reached.
    pub limit: SearchLimit,
}

/// A limit of a search.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum SearchLimit {
    /// The number of candidates from one root: the root, the limit.
    Root(InstId, u64),
    /// The number of candidates in one function.
    Steps(u64),
    /// The number of matches of one function.
    Matches(usize),
}

impl std::fmt::Display for Exhausted {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        let Self { pattern, function, limit } = self;
        write!(f, "@{function}: `{pattern}` was cut short ")?;
        match limit {
            SearchLimit::Root(_, steps) => {
                write!(f, "at a root after {}", counted(*steps, "step"))?;
            }
            SearchLimit::Steps(steps) => write!(f, "after {}", counted(*steps, "step"))?,
            SearchLimit::Matches(matches) => write!(f, "after {}", counted(*matches, "match"))?,
        }
        f.write_str("; matches may be missing")
    }
}
