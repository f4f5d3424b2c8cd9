//! Conversion of the arguments of IR constructors.

#![allow(clippy::redundant_closure_for_method_calls, reason = "the paths are not general enough")]

use pyo3::prelude::*;
use pyo3::types::{PyBool, PyInt, PyList, PyString, PyTuple};
use sapwood_ir::{
    CalleeRef, Expr, ExprRef, FunctionRef, IrError, IterArg, Stmt, StmtRef, Type, TypeRef, Var,
};
use sapwood_structural::{AnyRef, Node as StructuralNode, Ref};
use sapwood_types::{DataType, Span};

use crate::containers::PySeq;
use crate::data_type::PyDataType;
use crate::errors;
use crate::instance::as_node;
use crate::items::items;
use crate::span::PySpan;

/// An argument of a constructor, with its names in messages.
#[derive(Clone, Copy)]
pub(super) struct Argument<'a, 'py> {
    pub(super) class: &'static str,
    pub(super) name: &'static str,
    pub(super) object: &'a Bound<'py, PyAny>,
}

impl<'py> Argument<'_, 'py> {
    fn py(&self) -> Python<'py> {
        self.object.py()
    }

    pub(super) fn type_error(&self, wanted: &str) -> PyErr {
        let found = errors::type_name(self.object);
        let message = format!("{}.{}: expected {wanted}, found {found}", self.class, self.name);
        errors::argument_error(self.py(), message)
    }

    pub(super) fn ir_error(&self, error: &IrError) -> PyErr {
        let message = format!("{}.{}: {error}", self.class, self.name);
        match error {
            IrError::WrongNode { .. } => errors::argument_error(self.py(), message),
            _ => errors::value_error(self.py(), message),
        }
    }

    pub(super) fn node<T: StructuralNode>(&self) -> Option<Ref<T>> {
        let any: &AnyRef = &as_node(self.object)?.any;
        any.downcast_ref::<T>()?;
        any.clone().downcast().ok()
    }

    pub(super) fn expr(&self) -> PyResult<ExprRef> {
        self.node::<Expr>().ok_or_else(|| self.type_error("an Expr"))
    }

    pub(super) fn var(&self) -> PyResult<Var> {
        let expr = self.node::<Expr>().ok_or_else(|| self.type_error("a Var"))?;
        Var::try_from(&expr).map_err(|error| self.ir_error(&error))
    }

    fn iter_arg(&self) -> PyResult<IterArg> {
        let expr = self.node::<Expr>().ok_or_else(|| self.type_error("an IterArg"))?;
        IterArg::try_from(&expr).map_err(|error| self.ir_error(&error))
    }

    pub(super) fn stmt(&self) -> PyResult<StmtRef> {
        self.node::<Stmt>().ok_or_else(|| self.type_error("a Stmt"))
    }

    pub(super) fn callee(&self) -> PyResult<CalleeRef> {
        self.node().ok_or_else(|| self.type_error("an Op or a GlobalVar"))
    }

    /// Reads a type; a data type stands for the scalar type.
    pub(super) fn ty(&self) -> PyResult<TypeRef> {
        if let Ok(dtype) = self.object.cast::<PyDataType>() {
            return Ok(Type::scalar(dtype.get().get()));
        }
        self.node::<Type>().ok_or_else(|| self.type_error("a Type or a DataType"))
    }

    pub(super) fn dtype(&self) -> PyResult<DataType> {
        match self.object.cast::<PyDataType>() {
            Ok(dtype) => Ok(dtype.get().get()),
            Err(_) => Err(self.type_error("a DataType")),
        }
    }

    pub(super) fn text(&self) -> PyResult<&str> {
        let text = self.object.cast::<PyString>().map_err(|_| self.type_error("a str"))?;
        text.to_str().map_err(|_| {
            errors::value_error(self.py(), "text with lone surrogates is not valid Unicode")
        })
    }

    pub(super) fn int(&self) -> PyResult<i128> {
        let is_int =
            self.object.is_instance_of::<PyInt>() && !self.object.is_instance_of::<PyBool>();
        let number = if is_int {
            self.object.clone()
        } else {
            // Other integers, such as NumPy's; bools and floats are not accepted.
            let index =
                self.object.call_method0("__index__").map_err(|_| self.type_error("an int"))?;
            if self.object.is_instance_of::<PyBool>() {
                return Err(self.type_error("an int"));
            }
            index
        };
        number.extract::<i128>().map_err(|_| {
            let message =
                format!("{}.{}: the integer does not fit 128 bits", self.class, self.name);
            errors::value_error(self.py(), message)
        })
    }

    fn items(&self, wanted: &str) -> PyResult<Vec<Bound<'py, PyAny>>> {
        let sequence = self.object.is_instance_of::<PyList>()
            || self.object.is_instance_of::<PyTuple>()
            || self.object.is_instance_of::<PySeq>();
        if !sequence {
            return Err(self.type_error(&format!("a list of {wanted}")));
        }
        items(self.object)
    }

    fn list<T>(
        &self,
        wanted: &str,
        read: impl for<'x> Fn(&Argument<'x, 'py>) -> PyResult<T>,
    ) -> PyResult<Vec<T>> {
        let items = self.items(wanted)?;
        let item = |object| read(&Argument { class: self.class, name: self.name, object });
        items.iter().map(item).collect()
    }

    pub(super) fn exprs(&self) -> PyResult<Vec<ExprRef>> {
        self.list("Expr", |given| given.expr())
    }

    pub(super) fn vars(&self) -> PyResult<Vec<Var>> {
        self.list("Var", |given| given.var())
    }

    pub(super) fn iter_args(&self) -> PyResult<Vec<IterArg>> {
        self.list("IterArg", |given| given.iter_arg())
    }

    pub(super) fn types(&self) -> PyResult<Vec<TypeRef>> {
        self.list("Type", |given| given.ty())
    }

    pub(super) fn stmts(&self) -> PyResult<Vec<StmtRef>> {
        self.list("Stmt", |given| given.stmt())
    }

    pub(super) fn functions(&self) -> PyResult<Vec<FunctionRef>> {
        self.list("Function", |given| given.node().ok_or_else(|| given.type_error("a Function")))
    }

    /// Reads dims: integers or expressions.
    pub(super) fn shape(&self) -> PyResult<Vec<ExprRef>> {
        self.list("int or Expr", |given| match given.node::<Expr>() {
            Some(expr) => Ok(expr),
            None => {
                let dim = given.int().map_err(|_| given.type_error("an int or an Expr"))?;
                let dim = i64::try_from(dim).map_err(|_| {
                    errors::value_error(given.py(), format!("a dim of {dim} does not fit 64 bits"))
                })?;
                Ok(Expr::dim(dim))
            }
        })
    }

    /// Reads a body: a statement, or a list of statements, which becomes a sequence unless it has one item.
    pub(super) fn body(&self, span: Span) -> PyResult<StmtRef> {
        match self.node::<Stmt>() {
            Some(stmt) => Ok(stmt),
            None => {
                let stmts = self.list("Stmt", |given| given.stmt());
                let stmts = stmts.map_err(|error| {
                    if self.items("Stmt").is_ok() {
                        error
                    } else {
                        self.type_error("a Stmt or a list of Stmt")
                    }
                })?;
                Ok(Stmt::block(stmts, span))
            }
        }
    }
}

/// Reads a span argument; unknown if it is absent.
pub(super) fn span(class: &'static str, given: Option<&Bound<'_, PyAny>>) -> PyResult<Span> {
    match given {
        None => Ok(Span::unknown()),
        Some(object) => match object.cast::<PySpan>() {
            Ok(span) => Ok(span.get().0),
            Err(_) if object.is_none() => Ok(Span::unknown()),
            Err(_) => Err(Argument { class, name: "span", object }.type_error("a Span")),
        },
    }
}
