//! The builder of captured computations.

use std::ops::{Deref, DerefMut};
use std::sync::Arc;

use hashbrown::HashMap;
use rustc_hash::FxBuildHasher;
use sapwood_ptir::{Effects, GraphBuilder, Op, PtirGraph, PtirValue, Registry, ValueId};

use super::{Fragment, LazyError, LazyGraph, LazyTensor};
use crate::backend::Backend;

/// A computation under construction that can import values of its lazy graph. It is a [`GraphBuilder`], so `PtirGraph::new(ctx)`
/// records into it.
pub struct CaptureContext<'g, B: Backend> {
    graph: &'g LazyGraph<B>,
    builder: GraphBuilder,
    inputs: Vec<LazyTensor<B::Buffer>>,
    // The parameters by the number of the lazy value: a value that is imported twice is one parameter.
    params_by_value: HashMap<u64, ValueId, FxBuildHasher>,
}

impl<'g, B: Backend> CaptureContext<'g, B> {
    pub(super) fn new(graph: &'g LazyGraph<B>, registry: &Arc<Registry>) -> Self {
        let builder = GraphBuilder::new("capture", registry);
        Self { graph, builder, inputs: Vec::new(), params_by_value: HashMap::default() }
    }

    /// Imports a value of the lazy graph into the computation.
    ///
    /// # Errors
    /// If the value belongs to another graph.
    pub fn import(
        &mut self,
        value: &LazyTensor<B::Buffer>,
    ) -> Result<ValueId, LazyError<B::Error>> {
        self.graph.check_owner(value)?;
        if let Some(&known) = self.params_by_value.get(&value.id()) {
            return Ok(known);
        }
        let id = self.builder.parameter("", value.ty().clone());
        self.inputs.push(value.clone());
        self.params_by_value.insert(value.id(), id);
        Ok(id)
    }

    /// Records an instruction with one result.
    ///
    /// # Errors
    /// If operands or attributes are invalid. Then nothing is recorded.
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
