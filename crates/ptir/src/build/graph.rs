//! The function under construction and the graph that records into it.

use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

use sapwood_types::{Span, counted};

use super::results::{FromResults, PtirResults};
use super::snippet::SnippetError;
use super::value::PtirValue;
use crate::func::{EditError, Function, Place};
use crate::ids::{BodyId, InstId, ValueId};
use crate::literal::TensorLiteral;
use crate::name::Name;
use crate::op::{Op, OpError, OpParts, Registry};
use crate::types::ValueType;

/// Why a builder call was refused. The graph is as it was before the call.
#[derive(Clone, PartialEq, Debug, thiserror::Error)]
#[non_exhaustive]
pub enum GraphError {
    /// Operands, attributes or regions do not fit the op.
    #[error("{op}: {error}")]
    Op {
        /// The op.
        op: &'static str,
        /// What does not fit.
        error: OpError,
    },
    /// The value belongs to another graph.
    #[error("{0} belongs to another graph")]
    Foreign(ValueId),
    /// The region belongs to another graph.
    #[error("{0} belongs to another graph")]
    ForeignRegion(BodyId),
    /// The function refused the instruction.
    #[error(transparent)]
    Edit(#[from] EditError),
    /// A value has the wrong type.
    #[error("expected {expected}, found {found}")]
    Type {
        /// What is needed.
        expected: String,
        /// What was given.
        found: String,
    },
    /// A type is beyond a limit: too many dims, too large an extent, tuples too deep.
    #[error("{0}")]
    Limit(String),
    /// There are more or fewer values than needed.
    #[error("expected {}, found {found}", counted(*.expected, "value"))]
    Count {
        /// How many are needed.
        expected: usize,
        /// How many there are.
        found: usize,
    },
    /// A literal could not be made.
    #[error(transparent)]
    Literal(#[from] crate::literal::LiteralError),
    /// The op has a table, but the registry of the builder does not.
    #[error(
        "{0} is not in the registry of this builder; give `GraphBuilder::new` one that has it: `registry.with(table)`"
    )]
    NotRegistered(&'static str),
    /// A snippet could not be used.
    #[error(transparent)]
    Snippet(#[from] SnippetError),
}

fn check_limits(ty: &ValueType) -> Result<(), GraphError> {
    ty.check_limits().map_err(GraphError::Limit)
}

/// A function under construction.
pub struct GraphBuilder {
    function: Function,
    id: u64,
    cursor: BodyId,
}

impl GraphBuilder {
    /// An empty function of this name.
    #[must_use]
    pub fn new(name: impl Into<Name>, registry: &Arc<Registry>) -> Self {
        static NEXT: AtomicU64 = AtomicU64::new(1);
        let function = Function::new(name, registry.clone());
        let cursor = function.body();
        Self { function, id: NEXT.fetch_add(1, Ordering::Relaxed), cursor }
    }

    /// Adds a parameter.
    pub fn parameter(&mut self, name: &str, ty: impl Into<ValueType>) -> ValueId {
        let value = self.function.push_param(self.function.body(), &ty.into());
        self.function.set_hint(value, name);
        value
    }

    /// The function as far as it is built.
    #[must_use]
    pub fn function(&self) -> &Function {
        &self.function
    }

    /// Ends the function with a `return` of these values.
    ///
    /// # Errors
    /// If one is not available at the end of the function, or the type of a parameter is beyond a limit
    /// ([`MAX_EXTENT`](crate::MAX_EXTENT), [`MAX_RANK`](crate::MAX_RANK)).
    pub fn finish(mut self, results: &[ValueId]) -> Result<Function, GraphError> {
        for &param in self.function.params() {
            check_limits(self.function.value_type(param))?;
        }
        drop_unowned(&mut self.function, 1);
        let mut parts = OpParts::new(crate::ops::Return::key());
        parts.operands.extend_from_slice(results);
        let spec = self
            .function
            .resolve(&parts)
            .map_err(|error| GraphError::Op { op: "return", error })?;
        let body = self.function.body();
        self.function.insert(Place::End(body), &spec)?;
        let types: Vec<ValueType> =
            results.iter().map(|&v| self.function.value_type(v).clone()).collect();
        self.function.set_result_types(&types);
        Ok(self.function)
    }
}

/// Records instructions into a [`GraphBuilder`].
pub struct PtirGraph<'a> {
    builder: &'a mut GraphBuilder,
}

/// A region under construction: a body that is to become part of an instruction.
#[derive(Clone, Debug)]
pub struct PtirRegion {
    body: BodyId,
    graph: u64,
}

impl<'a> PtirGraph<'a> {
    /// Wraps a builder.
    pub fn new(builder: &'a mut GraphBuilder) -> Self {
        Self { builder }
    }

    /// Names a value of the function and gives a handle to it, if it has the type.
    ///
    /// # Errors
    /// If there is no such value, its type differs, or the type is beyond a limit.
    pub fn import_spec(
        &mut self,
        name: &str,
        id: ValueId,
        spec: impl Into<ValueType>,
    ) -> Result<PtirValue, GraphError> {
        let spec = spec.into();
        check_limits(&spec)?;
        let value = self.import(id)?;
        if !value.ty.compatible(&spec) {
            return Err(GraphError::Type {
                expected: spec.to_string(),
                found: value.ty.to_string(),
            });
        }
        self.builder.function.set_hint(id, name);
        Ok(value)
    }

    /// A handle to a value of the function.
    ///
    /// # Errors
    /// If there is no such value.
    pub fn import(&self, id: ValueId) -> Result<PtirValue, GraphError> {
        if !self.builder.function.is_live_value(id) {
            return Err(EditError::NoValue(id).into());
        }
        Ok(self.handle(id))
    }

    /// Adds a parameter to the function and gives a handle to it.
    pub fn parameter(&mut self, name: &str, ty: impl Into<ValueType>) -> PtirValue {
        let id = self.builder.parameter(name, ty);
        self.handle(id)
    }

    /// The value of a literal: one constant per literal and function.
    pub fn literal(&mut self, literal: &TensorLiteral) -> PtirValue {
        let place = Place::End(self.builder.cursor);
        let id = self.builder.function.constant(literal, place, Span::unknown());
        self.handle(id)
    }

    /// The function as far as it is built.
    #[must_use]
    pub fn function(&self) -> &Function {
        &self.builder.function
    }

    /// Names a value for the text form.
    ///
    /// # Errors
    /// If it belongs to another graph.
    pub fn name(&mut self, value: &PtirValue, name: &str) -> Result<(), GraphError> {
        let id = self.own(value)?;
        self.builder.function.set_hint(id, name);
        Ok(())
    }

    /// Records an op: infers its result types and appends the instruction.
    ///
    /// # Errors
    /// If anything does not fit. Then the graph is as it was, except that regions made for the op are gone.
    pub fn record<T: Op, R: FromResults>(&mut self, op: T) -> Result<R, GraphError> {
        if self.function().registry().get(T::key()).is_none() {
            let parts = op.into_parts();
            self.drop_regions(&parts);
            return Err(GraphError::NotRegistered(parts.key.name()));
        }
        let undo = self.checkpoint();
        let results = self.record_parts(&op.into_parts())?;
        R::from_results(results).inspect_err(|_| self.rollback(undo))
    }

    /// Records an instruction of any op, unregistered ones included.
    ///
    /// # Errors
    /// If anything does not fit. Then the graph is as it was, except that regions made for the op are gone.
    pub fn record_parts(&mut self, parts: &OpParts) -> Result<PtirResults, GraphError> {
        let function = &mut self.builder.function;
        let made = function
            .resolve(parts)
            .map_err(|error| GraphError::Op { op: parts.key.name(), error })
            .and_then(|spec| Ok(function.insert(Place::End(self.builder.cursor), &spec)?));
        let inst = match made {
            Ok(inst) => inst,
            Err(error) => {
                self.drop_regions(parts);
                return Err(error);
            }
        };
        let results: Vec<ValueId> = function.inst_results(inst).collect();
        Ok(PtirResults(results.into_iter().map(|v| self.handle(v)).collect()))
    }

    // The regions that were made for an instruction that is not. One that another region still uses stays until that
    // one is gone, at the latest when the function is finished.
    fn drop_regions(&mut self, parts: &OpParts) {
        let function = &mut self.builder.function;
        for &body in parts.regions.iter().rev() {
            if function.is_live_body(body) && function.body_owner(body).is_none() {
                let _ = function.drop_body(body);
            }
        }
    }

    /// Builds a region: `build` gets its parameters and gives what it yields. Values of the graph may be used inside.
    ///
    /// # Errors
    /// If `build` fails; then nothing is left of the region.
    pub fn region<E: From<GraphError>>(
        &mut self,
        params: &[ValueType],
        build: impl FnOnce(&mut PtirGraph<'_>, &[PtirValue]) -> Result<Vec<PtirValue>, E>,
    ) -> Result<PtirRegion, E> {
        params.iter().try_for_each(check_limits)?;
        let undo = self.checkpoint();
        let body = self.builder.function.new_body(params);
        let outer = std::mem::replace(&mut self.builder.cursor, body);
        let args: Vec<PtirValue> = self
            .function()
            .body_params(body)
            .to_vec()
            .into_iter()
            .map(|v| self.handle(v))
            .collect();
        let mut inner = PtirGraph { builder: self.builder };
        let result = build(&mut inner, &args).and_then(|yielded| {
            let mut parts = OpParts::new(crate::ops::Yield::key());
            for value in &yielded {
                parts.operands.push(inner.own(value)?);
            }
            inner.record_parts(&parts)?;
            Ok(())
        });
        self.builder.cursor = outer;
        match result {
            Ok(()) => Ok(PtirRegion { body, graph: self.builder.id }),
            Err(error) => {
                self.rollback(undo);
                Err(error)
            }
        }
    }

    /// The id of a value, if it belongs to this graph.
    ///
    /// # Errors
    /// If it does not.
    pub fn own(&self, value: &PtirValue) -> Result<ValueId, GraphError> {
        if value.graph == self.builder.id {
            Ok(value.id)
        } else {
            Err(GraphError::Foreign(value.id))
        }
    }

    /// The id of a region, if it belongs to this graph.
    ///
    /// # Errors
    /// If it does not.
    pub fn own_region(&self, region: &PtirRegion) -> Result<BodyId, GraphError> {
        if region.graph == self.builder.id {
            Ok(region.body)
        } else {
            Err(GraphError::ForeignRegion(region.body))
        }
    }

    // What is there now, so that what is recorded from here on can be taken back.
    pub(super) fn checkpoint(&self) -> Checkpoint {
        let function = &self.builder.function;
        Checkpoint {
            last: function.last_inst(self.builder.cursor),
            insts: function.inst_capacity(),
            bodies: function.body_capacity(),
        }
    }

    pub(super) fn rollback(&mut self, to: Checkpoint) {
        let function = &mut self.builder.function;
        drop_unowned(function, to.bodies);
        while let Some(last) =
            function.last_inst(self.builder.cursor).filter(|l| Some(*l) != to.last)
        {
            function.erase_unchecked(last);
        }
        // Constants of literals stand at the start of the function.
        for inst in (to.insts..function.inst_capacity()).rev().map(InstId::new) {
            if function.is_live(inst) && function.body_of(inst) == Some(function.body()) {
                function.erase_unchecked(inst);
            }
        }
    }

    pub(super) fn handle(&self, id: ValueId) -> PtirValue {
        PtirValue { id, graph: self.builder.id, ty: self.builder.function.value_type(id).clone() }
    }
}

/// The state of a graph before a helper of several steps.
#[derive(Clone, Copy)]
pub(super) struct Checkpoint {
    last: Option<InstId>,
    insts: usize,
    bodies: usize,
}

// Bodies from this number on that belong to no instruction, the newest first: a body may use values of older ones.
fn drop_unowned(function: &mut Function, from: usize) {
    for body in (from..function.body_capacity()).rev().map(BodyId::new) {
        if function.is_live_body(body) && function.body_owner(body).is_none() {
            let _ = function.drop_body(body);
        }
    }
}

/// What the generated builder methods on graphs need of their receiver.
pub trait AsGraph {
    /// The graph.
    fn as_graph(&mut self) -> PtirGraph<'_>;
}

impl AsGraph for PtirGraph<'_> {
    fn as_graph(&mut self) -> PtirGraph<'_> {
        PtirGraph { builder: self.builder }
    }
}
