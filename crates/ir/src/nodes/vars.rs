//! Typed pointers to variables.

use std::fmt;
use std::ops::Deref;

use sapwood_structural::{
    BuildError, Field, FieldComparer, FieldHasher, Hash128, Ref, Value, View,
};
use sapwood_types::Span;

use super::expr::{Expr, ExprRef};
use super::types::{IntoType, TypeRef};
use crate::error::IrError;

/// A variable: a pointer to a `Var` or an `IterArg` expression.
///
/// Its identity is the pointer; its name is not compared.
#[derive(Clone)]
pub struct Var(ExprRef);

/// An iteration argument: a variable of a loop that starts at its initial value and is updated by `yield`.
#[derive(Clone)]
pub struct IterArg(ExprRef);

impl Var {
    /// Creates a variable.
    #[must_use]
    pub fn new(name: &str, ty: impl IntoType, span: Span) -> Self {
        Self(Ref::new(Expr::Var { span, r#type: ty.into_type(), name: name.into() }))
    }

    /// Returns the name.
    #[must_use]
    pub fn name(&self) -> &str {
        self.0.name().unwrap_or("")
    }

    /// Returns whether this is an iteration argument.
    #[must_use]
    pub fn is_iter_arg(&self) -> bool {
        matches!(&*self.0, Expr::IterArg { .. })
    }
}

impl IterArg {
    /// Creates an iteration argument with its initial value.
    #[must_use]
    pub fn new(name: &str, ty: impl IntoType, init_value: &ExprRef, span: Span) -> Self {
        Self(Ref::new(Expr::IterArg {
            span,
            r#type: ty.into_type(),
            name: Box::new(name.into()),
            init_value: init_value.clone(),
        }))
    }

    /// Returns the name.
    #[must_use]
    pub fn name(&self) -> &str {
        self.0.name().unwrap_or("")
    }

    /// Returns the value in the first iteration.
    #[must_use]
    pub fn init_value(&self) -> &ExprRef {
        match &*self.0 {
            Expr::IterArg { init_value, .. } => init_value,
            _ => &self.0,
        }
    }

    /// Returns the argument as a variable.
    #[must_use]
    pub fn var(&self) -> Var {
        Var(self.0.clone())
    }
}

macro_rules! var_pointer {
    ($name:ident, $expected:literal, $pattern:pat) => {
        impl $name {
            /// Returns the type.
            #[must_use]
            pub fn ty(&self) -> &TypeRef {
                self.0.ty()
            }

            /// Returns the source span.
            #[must_use]
            pub fn span(&self) -> Span {
                self.0.span()
            }

            /// Returns the expression.
            #[must_use]
            pub fn expr(&self) -> &ExprRef {
                &self.0
            }

            /// Returns an id that is unique among living nodes.
            #[must_use]
            pub fn id(&self) -> usize {
                self.0.node().id()
            }
        }

        impl TryFrom<&ExprRef> for $name {
            type Error = IrError;

            fn try_from(expr: &ExprRef) -> Result<Self, IrError> {
                match &**expr {
                    $pattern => Ok(Self(expr.clone())),
                    other => Err(IrError::WrongNode {
                        expected: $expected,
                        found: other.type_name().to_owned(),
                    }),
                }
            }
        }

        impl Deref for $name {
            type Target = ExprRef;

            fn deref(&self) -> &ExprRef {
                &self.0
            }
        }

        impl From<$name> for ExprRef {
            fn from(var: $name) -> Self {
                var.0
            }
        }

        impl From<&$name> for ExprRef {
            fn from(var: &$name) -> Self {
                var.0.clone()
            }
        }

        impl Field for $name {
            #[inline]
            fn compare<'a>(&'a self, other: &'a Self, comparer: &mut FieldComparer<'a>) -> bool {
                self.0.compare(&other.0, comparer)
            }

            #[inline]
            fn hash_contribution<'a>(&'a self, hasher: &mut FieldHasher<'_, '_, 'a>) -> Hash128 {
                self.0.hash_contribution(hasher)
            }

            #[inline]
            fn view(&self) -> View<'_> {
                self.0.view()
            }

            fn from_value(value: Value) -> Result<Self, BuildError> {
                let expr = ExprRef::from_value(value)?;
                Self::try_from(&expr).map_err(|error| BuildError::new(error.to_string()))
            }
        }

        impl fmt::Debug for $name {
            fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                self.0.fmt(f)
            }
        }
    };
}
var_pointer!(Var, "a Var or an IterArg", Expr::Var { .. } | Expr::IterArg { .. });
var_pointer!(IterArg, "an IterArg", Expr::IterArg { .. });
