//! The function under construction, and the graph that records instructions into it.

use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

use sapwood_types::{Span, counted};

use super::results::{FromResults, PtirResults};
use super::snippet::SnippetError;
use super::value::PtirValue;
use crate::func::{EditError, Function, InsertPoint};
use crate::ids::{BodyId, InstId, ValueId};
use crate::literal::TensorLiteral;
use crate::name::Name;
use crate::op::{Op, OpError, OpParts, Registry};
use crate::types::ValueType;

/// The reason why a builder call was refused. The graph is unchanged.
#[derive(Clone, PartialEq, Debug, thiserror::Error)]
#[non_exhaustive]
pub enum GraphError {
    /// Operands, attributes or regions do not fit the op.
    #[error("{op}: {error}")]
    Op {
        /// The op.
        op: &'static str,
        /// The mismatch.
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
        /// The required type.
        expected: String,
        /// The type that was passed.
        found: String,
    },
    /// A type exceeds a limit: it has too many dims, too large an extent, or tuples nested too deep.
    #[error("{0}")]
    Limit(String),
    /// The number of values differs from the expected number.
    #[error("expected {}, found {found}", counted(*.expected, "value"))]
    Count {
        /// The expected number.
        expected: usize,
        /// The number of values passed.
        found: usize,
    },
    /// A literal could not be built.
    #[error(transparent)]
    Literal(#[from] crate::literal::LiteralError),
    /// The op is defined, but not in the registry of this builder.
    #[error(
        "{0} is not in the registry of this builder; give `GraphBuilder::new` one that has it: `registry.with(table)`"
    )]
    NotRegistered(&'static str),
    /// A snippet could not be recorded.
    #[error(transparent)]
    Snippet(#[from] SnippetError),
}

fn check_type_limits(ty: &ValueType) -> Result<(), GraphError> {
    ty.check_limits().map_err(GraphError::Limit)
}

/// A builder of one function, into which a [`PtirGraph`] records instructions.
pub struct GraphBuilder {
    function: Function,
    id: u64,
    cursor: BodyId,
}

impl GraphBuilder {
    /// Creates a builder of an empty function with this name.
    #[must_use]
    pub fn new(name: impl Into<Name>, registry: &Arc<Registry>) -> Self {
        static NEXT: AtomicU64 = AtomicU64::new(1);
        let function = Function::new(name, registry.clone());
        let cursor = function.body();
        Self { function, id: NEXT.fetch_add(1, Ordering::Relaxed), cursor }
    }

    /// Adds a parameter to the function.
    pub fn parameter(&mut self, name: &str, ty: impl Into<ValueType>) -> ValueId {
        let value = self.function.push_param(self.function.body(), &ty.into());
        self.function.set_hint(value, name);
        value
    }

    /// Returns the function built so far.
    #[must_use]
    pub fn function(&self) -> &Function {
        &self.function
    }

    /// Ends the function with a `return` of these values and returns it.
    ///
    /// # Errors
    /// If a value is not available at the end of the function, or the type of a parameter exceeds a limit
    /// ([`MAX_EXTENT`](crate::MAX_EXTENT), [`MAX_RANK`](crate::MAX_RANK)).
    pub fn finish(mut self, results: &[ValueId]) -> Result<Function, GraphError> {
        for &param in self.function.params() {
            check_type_limits(self.function.value_type(param))?;
        }
        drop_unowned_bodies(&mut self.function, 1);
        let mut parts = OpParts::new(crate::ops::Return::key());
        parts.operands.extend_from_slice(results);
        let parts = self
            .function
            .resolve_parts(&parts)
            .map_err(|error| GraphError::Op { op: "return", error })?;
        let body = self.function.body();
        self.function.insert(InsertPoint::End(body), &parts, Span::unknown())?;
        let types: Vec<ValueType> =
            results.iter().map(|&v| self.function.value_type(v).clone()).collect();
        self.function.set_result_types(&types);
        Ok(self.function)
    }
}

/// A graph that records instructions into a [`GraphBuilder`].
pub struct PtirGraph<'a> {
    builder: &'a mut GraphBuilder,
}

/// A region under construction: a body that will become a region of an instruction.
#[derive(Clone, Debug)]
pub struct PtirRegion {
    body: BodyId,
    graph: u64,
}

impl<'a> PtirGraph<'a> {
    /// Creates a graph that records into a builder.
    pub fn new(builder: &'a mut GraphBuilder) -> Self {
        Self { builder }
    }

    /// Names a value of the function and returns a handle to it, if it has the expected type.
    ///
    /// # Errors
    /// If the value does not exist, its type differs, or the type exceeds a limit.
    pub fn import_spec(
        &mut self,
        name: &str,
        id: ValueId,
        spec: impl Into<ValueType>,
    ) -> Result<PtirValue, GraphError> {
        let spec = spec.into();
        check_type_limits(&spec)?;
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

    /// Returns a handle to a value of the function.
    ///
    /// # Errors
    /// If the value does not exist.
    pub fn import(&self, id: ValueId) -> Result<PtirValue, GraphError> {
        if !self.builder.function.is_live_value(id) {
            return Err(EditError::NoSuchValue(id).into());
        }
        Ok(self.handle(id))
    }

    /// Adds a parameter to the function and returns a handle to it.
    pub fn parameter(&mut self, name: &str, ty: impl Into<ValueType>) -> PtirValue {
        let id = self.builder.parameter(name, ty);
        self.handle(id)
    }

    /// Returns the value of a literal. A function has one `constant` instruction per literal.
    pub fn literal(&mut self, literal: &TensorLiteral) -> PtirValue {
        let place = InsertPoint::End(self.builder.cursor);
        let id = self.builder.function.constant(literal, place, Span::unknown());
        self.handle(id)
    }

    /// Returns the function built so far.
    #[must_use]
    pub fn function(&self) -> &Function {
        &self.builder.function
    }

    /// Sets the name that the text form prints for a value.
    ///
    /// # Errors
    /// If the value belongs to another graph.
    pub fn name(&mut self, value: &PtirValue, name: &str) -> Result<(), GraphError> {
        let id = self.value_id(value)?;
        self.builder.function.set_hint(id, name);
        Ok(())
    }

    /// Records an op: infers its result types and appends the instruction.
    ///
    /// # Errors
    /// If operands, attributes or regions do not fit the op. The graph is then unchanged, except that the regions
    /// built for the op are dropped.
    pub fn record<T: Op, R: FromResults>(&mut self, op: T) -> Result<R, GraphError> {
        if self.function().registry().get(T::key()).is_none() {
            let parts = op.into_parts();
            self.drop_regions(&parts);
            return Err(GraphError::NotRegistered(parts.key.name()));
        }
        let undo = self.snapshot();
        let results = self.record_parts(&op.into_parts())?;
        R::from_results(results).inspect_err(|_| self.rollback(undo))
    }

    /// Records an instruction of any op, registered or not.
    ///
    /// # Errors
    /// If operands, attributes or regions do not fit the op. The graph is then unchanged, except that the regions
    /// built for the op are dropped.
    pub fn record_parts(&mut self, parts: &OpParts) -> Result<PtirResults, GraphError> {
        let function = &mut self.builder.function;
        let place = InsertPoint::End(self.builder.cursor);
        let made = function
            .resolve_parts(parts)
            .map_err(|error| GraphError::Op { op: parts.key.name(), error })
            .and_then(|parts| Ok(function.insert(place, &parts, Span::unknown())?));
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

    // Drops the regions that were built for an instruction that was refused. A region whose values another region
    // still uses is kept until that one is dropped, at the latest when the function is finished.
    fn drop_regions(&mut self, parts: &OpParts) {
        let function = &mut self.builder.function;
        for &body in parts.regions.iter().rev() {
            if function.is_live_body(body) && function.body_owner(body).is_none() {
                let _ = function.drop_body(body);
            }
        }
    }

    /// Builds a region. `build` receives the region's parameters and returns the values to yield; it may use values
    /// of the enclosing graph.
    ///
    /// # Errors
    /// If `build` fails; the region is then dropped.
    pub fn region<E: From<GraphError>>(
        &mut self,
        params: &[ValueType],
        build: impl FnOnce(&mut PtirGraph<'_>, &[PtirValue]) -> Result<Vec<PtirValue>, E>,
    ) -> Result<PtirRegion, E> {
        params.iter().try_for_each(check_type_limits)?;
        let undo = self.snapshot();
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
                parts.operands.push(inner.value_id(value)?);
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

    /// Returns the id of a value that belongs to this graph.
    ///
    /// # Errors
    /// If the value belongs to another graph.
    pub fn value_id(&self, value: &PtirValue) -> Result<ValueId, GraphError> {
        if value.graph == self.builder.id {
            Ok(value.id)
        } else {
            Err(GraphError::Foreign(value.id))
        }
    }

    /// Returns the id of a region that belongs to this graph.
    ///
    /// # Errors
    /// If the region belongs to another graph.
    pub fn region_id(&self, region: &PtirRegion) -> Result<BodyId, GraphError> {
        if region.graph == self.builder.id {
            Ok(region.body)
        } else {
            Err(GraphError::ForeignRegion(region.body))
        }
    }

    // Takes a snapshot, so that everything recorded afterwards can be rolled back.
    pub(super) fn snapshot(&self) -> GraphSnapshot {
        let function = &self.builder.function;
        GraphSnapshot {
            last: function.last_inst(self.builder.cursor),
            insts: function.inst_capacity(),
            bodies: function.body_capacity(),
        }
    }

    pub(super) fn rollback(&mut self, to: GraphSnapshot) {
        let function = &mut self.builder.function;
        drop_unowned_bodies(function, to.bodies);
        while let Some(last) =
            function.last_inst(self.builder.cursor).filter(|l| Some(*l) != to.last)
        {
            function.erase_unchecked(last);
        }
        // Constants of literals are at the start of the function.
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

/// A snapshot of a graph before a helper that records several instructions.
#[derive(Clone, Copy)]
pub(super) struct GraphSnapshot {
    last: Option<InstId>,
    insts: usize,
    bodies: usize,
}

// Drops the bodies with an index of at least `from` that belong to no instruction, newest first: a body may use
// values of older ones.
fn drop_unowned_bodies(function: &mut Function, from: usize) {
    for body in (from..function.body_capacity()).rev().map(BodyId::new) {
        if function.is_live_body(body) && function.body_owner(body).is_none() {
            let _ = function.drop_body(body);
        }
    }
}

/// The receiver of the generated builder methods on graphs.
pub trait AsGraph {
    /// Returns the graph.
    fn as_graph(&mut self) -> PtirGraph<'_>;
}

impl AsGraph for PtirGraph<'_> {
    fn as_graph(&mut self) -> PtirGraph<'_> {
        PtirGraph { builder: self.builder }
    }
}
