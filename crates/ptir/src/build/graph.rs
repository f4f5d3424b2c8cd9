//! The function under construction and the graph that records into it.

use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

use sapwood_types::Span;

use super::results::{FromResults, PtirResults};
use super::snippet::SnippetError;
use super::value::PtirValue;
use crate::func::{EditError, Function, Place};
use crate::ids::{BodyId, InstId, ValueId};
use crate::literal::TensorLiteral;
use crate::name::Name;
use crate::op::{Op, OpError, OpParts, Registry};
use crate::types::{MAX_EXTENT, ValueType};

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
    /// There are more or fewer values than needed.
    #[error("expected {expected} value(s), found {found}")]
    Count {
        /// How many are needed.
        expected: usize,
        /// How many there are.
        found: usize,
    },
    /// A literal could not be made.
    #[error(transparent)]
    Literal(#[from] crate::literal::LiteralError),
    /// A snippet could not be used.
    #[error(transparent)]
    Snippet(#[from] SnippetError),
}

fn check_extents(ty: &ValueType) -> Result<(), GraphError> {
    match ty.excessive_extent() {
        None => Ok(()),
        Some(_) => Err(GraphError::Type {
            expected: format!("extents of at most {MAX_EXTENT}"),
            found: ty.to_string(),
        }),
    }
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
    /// If one is not available at the end of the function, or an extent of a parameter is above
    /// [`MAX_EXTENT`](crate::MAX_EXTENT).
    pub fn finish(mut self, results: &[ValueId]) -> Result<Function, GraphError> {
        for &param in self.function.params() {
            check_extents(self.function.value_type(param))?;
        }
        let leftover: Vec<BodyId> = (1..self.function.body_capacity())
            .map(BodyId::new)
            .filter(|&b| self.function.is_live_body(b) && self.function.body_owner(b).is_none())
            .collect();
        for body in leftover {
            self.function.drop_body(body)?;
        }
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
    /// If there is no such value, its type differs, or an extent is above [`MAX_EXTENT`](crate::MAX_EXTENT).
    pub fn import_spec(
        &mut self,
        name: &str,
        id: ValueId,
        spec: impl Into<ValueType>,
    ) -> Result<PtirValue, GraphError> {
        let spec = spec.into();
        check_extents(&spec)?;
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
        R::from_results(self.record_parts(&op.into_parts())?)
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
                for &body in &parts.regions {
                    if function.is_live_body(body) && function.body_owner(body).is_none() {
                        function.drop_body(body)?;
                    }
                }
                return Err(error);
            }
        };
        let results: Vec<ValueId> = function.inst_results(inst).collect();
        Ok(PtirResults(results.into_iter().map(|v| self.handle(v)).collect()))
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
        params.iter().try_for_each(check_extents)?;
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
                self.builder.function.drop_body(body).map_err(GraphError::from)?;
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

    // Where the current body ends now, so that what is appended can be taken back.
    pub(super) fn checkpoint(&self) -> Option<InstId> {
        self.builder.function.last_inst(self.builder.cursor)
    }

    pub(super) fn rollback(&mut self, checkpoint: Option<InstId>) {
        let function = &mut self.builder.function;
        while let Some(last) =
            function.last_inst(self.builder.cursor).filter(|l| Some(*l) != checkpoint)
        {
            function.erase_unchecked(last);
        }
    }

    pub(super) fn handle(&self, id: ValueId) -> PtirValue {
        PtirValue { id, graph: self.builder.id, ty: self.builder.function.value_type(id).clone() }
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
