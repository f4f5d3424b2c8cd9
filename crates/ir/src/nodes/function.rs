//! Functions.

use sapwood_structural::{Node, Ref};
use sapwood_types::Span;

use super::stmt::StmtRef;
use super::types::TypeRef;
use super::vars::Var;

/// A shared pointer to a function.
pub type FunctionRef = Ref<Function>;

/// A function. A scope: what is bound inside is not bound outside, so two functions of a program
/// may share variables or not, it makes no difference.
#[derive(Node)]
#[node(key = "ir.Function", scope)]
pub struct Function {
    /// Where it was written.
    #[node(ignore)]
    pub span: Span,
    /// What calls call it; compared by the program, not here.
    #[node(ignore)]
    pub name: Box<str>,
    /// The parameters.
    #[node(def)]
    pub params: Box<[Var]>,
    /// The types of what it returns.
    pub return_types: Box<[TypeRef]>,
    /// What it does.
    pub body: StmtRef,
}

impl Function {
    /// A function.
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
