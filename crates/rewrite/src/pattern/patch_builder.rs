//! The builder DSL in a pattern: it records a small function, which is copied before the root when the patch is applied.

use hashbrown::HashMap;
use rustc_hash::FxBuildHasher;
use sapwood_ptir::{
    BodyId, Function, GraphBuilder, GraphError, InsertPoint, InstId, PtirGraph, PtirValue, ValueId,
    ValueType, Values,
};
use smallvec::SmallVec;

use super::rewrite::Rewrite;
use crate::rewriter::{ProgramRewriter, RewriteError};

impl Rewrite<'_> {
    /// Stages the instructions that the builder DSL records, including regions. `build` gets a handle for each of the inputs; the
    /// values it returns become provisional values like those of [`emit`](Self::emit). Returns `None` if `build` fails.
    ///
    /// ```
    /// use sapwood_ptir::{ops::Logistic, prelude::*};
    /// use sapwood_rewrite::Rewrite;
    ///
    /// /// `logistic(x) = (tanh(x / 2) + 1) / 2`.
    /// fn logistic_by_tanh(op: Logistic, rw: &mut Rewrite<'_>) -> Option<Value> {
    ///     let half = rw.filled_like_result(0.5)?;
    ///     let one = rw.filled_like_result(1.0)?;
    ///     let values = rw.build(&[op.input, half, one], |g, v| {
    ///         let tanh = v[0].mul(g, &v[1])?.tanh(g)?;
    ///         Ok(vec![tanh.add(g, &v[2])?.mul(g, &v[1])?])
    ///     })?;
    ///     values.first().copied()
    /// }
    /// # let mut set = sapwood_rewrite::PatternSet::new();
    /// # set.add(logistic_by_tanh);
    /// ```
    pub fn build(
        &mut self,
        inputs: &[ValueId],
        build: impl FnOnce(&mut PtirGraph<'_>, &[PtirValue]) -> Result<Vec<PtirValue>, GraphError>,
    ) -> Option<Values> {
        let mut builder = GraphBuilder::new("patch", self.function().registry());
        let mut args = Vec::new();
        let mut graph = PtirGraph::new(&mut builder);
        for &input in inputs {
            args.push(graph.parameter("", self.ty(input)?.clone()));
        }
        let built = build(&mut graph, &args).and_then(|built| {
            built.iter().map(|v| graph.value_id(v)).collect::<Result<Vec<ValueId>, _>>()
        });
        match built.and_then(|results| builder.finish(&results)) {
            Ok(function) => Some(self.stage_built(function, inputs)),
            Err(error) => self.refuse_built(&error),
        }
    }
}

/// A function recorded by the builder, to be copied before a root.
pub(super) struct BuiltGraph {
    function: Function,
    args: Values,
}

impl BuiltGraph {
    pub(super) fn new(function: Function, args: &[ValueId]) -> Self {
        Self { function, args: Values::from_slice(args) }
    }

    pub(super) fn args(&self) -> &[ValueId] {
        &self.args
    }

    pub(super) fn args_mut(&mut self) -> &mut [ValueId] {
        &mut self.args
    }

    pub(super) fn result_types(&self) -> Vec<ValueType> {
        let f = &self.function;
        f.results().iter().map(|&v| f.value_type(v).clone()).collect()
    }

    /// Copies the instructions before the root and returns the results.
    pub(super) fn apply(
        &self,
        rw: &mut ProgramRewriter<'_>,
        root: InstId,
    ) -> Result<Vec<ValueId>, RewriteError> {
        let from = &self.function;
        let mut values: HashMap<ValueId, ValueId, FxBuildHasher> = HashMap::default();
        values.extend(from.params().iter().copied().zip(self.args.iter().copied()));
        let mut bodies: HashMap<BodyId, BodyId, FxBuildHasher> = HashMap::default();
        // Outer instructions come before the contents of their regions, so that a body exists before it is filled.
        for body in from.walk().flat_map(|i| from.regions(i)) {
            let params = from.body_params(*body);
            let types: Vec<ValueType> =
                params.iter().map(|&p| from.value_type(p).clone()).collect();
            let new = rw.new_body(&types);
            values.extend(params.iter().copied().zip(rw.function().body_params(new).to_vec()));
            bodies.insert(*body, new);
        }
        let end = from.terminator(from.body());
        for inst in from.walk_post_order().filter(|&i| Some(i) != end) {
            let home = from.body_of(inst).and_then(|b| bodies.get(&b));
            let place = home.map_or(InsertPoint::Before(root), |&body| InsertPoint::End(body));
            // Constants of regions too: there is one per literal and function, available everywhere.
            if let Some(literal) = from.value_of(inst).and_then(|v| from.constant_of(v)) {
                let value = rw.materialize_constant(root, literal);
                values.extend(from.value_of(inst).map(|v| (v, value)));
                continue;
            }
            let mut parts = from.parts_of(inst);
            parts.operands.iter_mut().for_each(|v| *v = values[v]);
            parts.regions.iter_mut().for_each(|b| *b = bodies[b]);
            let new = rw.insert_resolved(place, &parts, rw.function().inst_span(root))?;
            let results: SmallVec<[ValueId; 2]> = rw.function().inst_results(new).collect();
            values.extend(from.inst_results(inst).zip(results));
        }
        Ok(from.results().iter().map(|v| values[v]).collect())
    }
}
