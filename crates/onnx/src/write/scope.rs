//! Names of values in the graphs of a model: unique in a graph and the graphs around it.

use hashbrown::{HashMap, HashSet};
use rustc_hash::FxBuildHasher;
use sapwood_ptir::{BodyId, Function, ValueId};

use crate::Text;
use crate::read::OnnxSource;

/// The names of the values that are visible.
pub(super) struct NameScope<'a> {
    f: &'a Function,
    source: Option<&'a OnnxSource>,
    names: HashMap<ValueId, Text, FxBuildHasher>,
    taken: HashSet<Text, FxBuildHasher>,
    // The names of open graphs, innermost last, to be released at their end.
    order: Vec<Text>,
    next: HashMap<Text, u32, FxBuildHasher>,
}

impl<'a> NameScope<'a> {
    pub(super) fn new(f: &'a Function, source: Option<&'a OnnxSource>) -> Self {
        Self {
            f,
            source,
            names: HashMap::default(),
            taken: HashSet::default(),
            order: Vec::new(),
            next: HashMap::default(),
        }
    }

    /// Names all values of a body. The first `outputs` are the names that its results must have. Returns the number of names that were
    /// taken before, for [`close`](Self::close).
    pub(super) fn open(&mut self, body: BodyId, outputs: &[Text]) -> usize {
        let level = self.order.len();
        // A result keeps the name of the output, unless it is defined elsewhere or is an output already.
        let mut forced: HashMap<ValueId, Text, FxBuildHasher> = HashMap::default();
        for (&value, name) in self.f.body_results(body).iter().zip(outputs) {
            let is_node =
                self.f.inst_of(value).is_some_and(|inst| self.f.body_of(inst) == Some(body));
            let wanted = self.wanted_name(value);
            let is_fixed = !is_node && wanted.as_ref() != Some(name);
            if !is_fixed && !forced.contains_key(&value) {
                forced.insert(value, name.clone());
            }
        }
        for name in outputs {
            self.take(name.clone());
        }
        let params = self.f.body_params(body).iter().copied();
        let results = self.f.body_insts(body).flat_map(|inst| self.f.inst_results(inst));
        let all: Vec<ValueId> = params.chain(results).collect();
        for value in all {
            let name = match forced.get(&value) {
                Some(name) => name.clone(),
                None => match self.wanted_name(value) {
                    None if self.f.unused(value) && self.f.inst_of(value).is_some() => {
                        Text::default()
                    }
                    wanted => self.fresh(wanted, value),
                },
            };
            self.names.insert(value, name);
        }
        level
    }

    /// Releases the names of the innermost graph.
    pub(super) fn close(&mut self, level: usize) {
        for name in self.order.drain(level..) {
            self.taken.remove(&name);
        }
    }

    /// Returns the name of a value; empty if nothing uses it.
    pub(super) fn name(&self, value: ValueId) -> Text {
        self.names.get(&value).cloned().unwrap_or_default()
    }

    /// Returns a new name that starts like another.
    pub(super) fn fresh_like(&mut self, base: &str) -> Text {
        let mut text = Text::from(base);
        if self.taken.contains(&text) {
            let next = self.next.entry(text.clone()).or_default();
            loop {
                *next += 1;
                text = format!("{base}_{next}").into();
                if !self.taken.contains(&text) {
                    break;
                }
            }
        }
        self.take(text.clone());
        text
    }

    /// Returns whether a name is in use in an open graph.
    pub(super) fn is_taken(&self, name: &Text) -> bool {
        self.taken.contains(name)
    }

    fn take(&mut self, name: Text) {
        if !name.is_empty() && self.taken.insert(name.clone()) {
            self.order.push(name);
        }
    }

    fn wanted_name(&self, value: ValueId) -> Option<Text> {
        let hint = self.f.hint(value)?;
        let original = self.source.and_then(|source| source.names.original(hint));
        Some(original.cloned().unwrap_or_else(|| hint.into()))
    }

    fn fresh(&mut self, wanted: Option<Text>, value: ValueId) -> Text {
        let base = wanted.unwrap_or_else(|| {
            let op = self.f.inst_of(value).map_or("input", |inst| self.f.op_name(inst));
            op.rsplit('.').next().unwrap_or(op).into()
        });
        if !self.taken.contains(&base) {
            self.take(base.clone());
            return base;
        }
        self.fresh_like(&base.to_str_lossy())
    }
}
