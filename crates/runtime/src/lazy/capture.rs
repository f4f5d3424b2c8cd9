//! What a captured computation is recorded with.

use std::ops::{Deref, DerefMut};
use std::sync::Arc;

use hashbrown::HashMap;
use rustc_hash::FxBuildHasher;
use sapwood_ptir::{Effects, GraphBuilder, Op, PtirGraph, PtirValue, Registry, ValueId};

use super::{Fragment, LazyError, LazyGraph, LazyTensor};
use crate::backend::Backend;

/// A computation under construction: a [`GraphBuilder`], so that `PtirGraph::new(ctx)` records into it, which can take
/// over values of its lazy graph.
pub struct CaptureContext<'g, B: Backend> {
    graph: &'g LazyGraph<B>,
    builder: GraphBuilder,
    inputs: Vec<LazyTensor<B::Buffer>>,
    // Values by their number: one that is imported twice is one parameter.
    known: HashMap<u64, ValueId, FxBuildHasher>,
}

impl<'g, B: Backend> CaptureContext<'g, B> {
    pub(super) fn new(graph: &'g LazyGraph<B>, registry: &Arc<Registry>) -> Self {
        let builder = GraphBuilder::new("capture", registry);
        Self { graph, builder, inputs: Vec::new(), known: HashMap::default() }
    }

    /// A value of the lazy graph, to be used here.
    ///
    /// # Errors
    /// If it belongs to another graph.
    pub fn import(
        &mut self,
        value: &LazyTensor<B::Buffer>,
    ) -> Result<ValueId, LazyError<B::Error>> {
        self.graph.own(value)?;
        if let Some(&known) = self.known.get(&value.id()) {
            return Ok(known);
        }
        let id = self.builder.parameter("", value.ty().clone());
        self.inputs.push(value.clone());
        self.known.insert(value.id(), id);
        Ok(id)
    }

    /// Records an instruction that has one result.
    ///
    /// # Errors
    /// If operands or attributes do not fit. Then nothing is recorded.
    pub fn emit<T: Op>(&mut self, op: T) -> Result<ValueId, LazyError<B::Error>> {
        let mut graph = PtirGraph::new(&mut self.builder);
        let value: PtirValue = graph.record(op)?;
        Ok(value.id())
    }

    pub(super) fn finish(
        self,
        results: &[ValueId],
    ) -> Result<Fragment<B::Buffer>, LazyError<B::Error>> {
        let function = self.builder.finish(results)?;
        let ordered = |&inst: &_| {
            function.own_effects(inst) == Effects::Ordered
                && !function.op_def(inst).is_some_and(|def| def.terminator)
        };
        if let Some(inst) = function.walk().find(ordered) {
            return Err(LazyError::Ordered(function.op_name(inst)));
        }
        if self.inputs.len() != function.params().len() {
            let why = "a parameter was added to the function; `import` gives values of the graph";
            return Err(LazyError::Compose(why.into()));
        }
        Ok(Fragment { function, inputs: self.inputs })
    }
}

impl<B: Backend> Deref for CaptureContext<'_, B> {
    type Target = GraphBuilder;
    fn deref(&self) -> &GraphBuilder {
        &self.builder
    }
}

impl<B: Backend> DerefMut for CaptureContext<'_, B> {
    fn deref_mut(&mut self) -> &mut GraphBuilder {
        &mut self.builder
    }
}
