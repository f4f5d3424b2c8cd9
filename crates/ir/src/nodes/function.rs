//! Functions.

use sapwood_structural::{Node, Ref};
use sapwood_types::Span;

use super::stmt::StmtRef;
use super::types::TypeRef;
use super::vars::Var;

/// A shared pointer to a function.
pub type FunctionRef = Ref<Function>;

/// A function.
///
/// A function is a scope: variables bound inside are not bound outside, so it makes no difference whether two functions of a
/// program share variables.
#[derive(Node)]
#[node(key = "ir.Function", scope)]
pub struct Function {
    /// The source span.
    #[node(ignore)]
    pub span: Span,
    /// The name used by calls; compared as a key of the program.
    #[node(ignore)]
    pub name: Box<str>,
    /// The parameters.
    #[node(def)]
    pub params: Box<[Var]>,
    /// The types of the results.
    pub return_types: Box<[TypeRef]>,
    /// The body.
    pub body: StmtRef,
}

impl Function {
    /// Creates a function.
    #[must_use]
    pub fn new(
        name: &str,
        params: impl IntoIterator<Item = Var>,
        return_types: impl IntoIterator<Item = TypeRef>,
        body: &StmtRef,
        span: Span,
    ) -> FunctionRef {
        Ref::new(Self {
            span,
            name: name.into(),
            params: params.into_iter().collect(),
            return_types: return_types.into_iter().collect(),
            body: body.clone(),
        })
    }
}
