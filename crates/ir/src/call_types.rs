//! Types of calls that follow from signatures and op tables. The text form states the type of a call only if it differs.

use sapwood_ptir::Registry;
use sapwood_structural::Facts;

use crate::nodes::{Callee, ExprRef, Program, Type, TypeRef, Var, type_nodes_within};
use crate::ops::{dim_vars, op_call_type};

/// The largest number of nodes of a type in a signature from which the types of calls follow. The printer names larger types, so
/// that a reader may not know them yet when it reads a call.
const MAX_SIGNATURE_TYPE_NODES: usize = 8;

/// The parameters and the result types of a function.
#[derive(Clone, Copy)]
pub(crate) struct SignatureTypes<'a> {
    pub(crate) params: &'a [Var],
    pub(crate) return_types: &'a [TypeRef],
}

impl<'a> SignatureTypes<'a> {
    /// Returns the signature of a function of the program, if its types are small enough to be written in the signature.
    pub(crate) fn of(program: &'a Program, name: &str) -> Option<Self> {
        let function = program.get_function(name)?;
        Self::new(&function.params, &function.return_types)
    }

    /// Returns a signature, if its types are small enough to be written in the signature.
    pub(crate) fn new(params: &'a [Var], return_types: &'a [TypeRef]) -> Option<Self> {
        let mut types = params.iter().map(Var::ty).chain(return_types);
        let small = types.all(|ty| type_nodes_within(ty, MAX_SIGNATURE_TYPE_NODES));
        small.then_some(Self { params, return_types })
    }

    /// Returns the type of a call with these arguments, if it follows from the signature.
    pub(crate) fn call_type(self, args: &[ExprRef]) -> Option<TypeRef> {
        if args.len() != self.params.len() {
            return None;
        }
        let ty = crate::verify::call_type(self.return_types);
        if !ty.node().facts().any(Facts::VAR) {
            return Some(ty);
        }
        // A dim that is a parameter is the argument, if that is a variable or a number.
        let mut replacements = Vec::new();
        for var in dim_vars(&ty) {
            let index = self.params.iter().position(|param| param.id() == var.node().id())?;
            let arg = args.get(index).filter(|arg| arg.is_var() || arg.is_const())?;
            replacements.push((self.params[index].clone(), arg.clone()));
        }
        replacements.dedup_by_key(|(var, _)| var.id());
        let ty = crate::mutate::substitute(&ty, &replacements).ok()?;
        let is_param = |var: &&ExprRef| self.params.iter().any(|param| param.expr().same(var));
        let known = |var: &&ExprRef| args.iter().any(|arg| arg.same(var));
        dim_vars(&ty).iter().all(|var| known(var) || !is_param(var)).then_some(ty)
    }
}

/// Returns the type of a call that follows from its callee and arguments, the unknown type if none does, or none if the call must state
/// its type: the op does not infer one, or the call does not fit the op.
pub(crate) fn natural_call_type(
    callee: &Callee,
    args: &[ExprRef],
    signature: Option<SignatureTypes<'_>>,
) -> Option<TypeRef> {
    let ty = match callee {
        Callee::GlobalVar { .. } => signature.and_then(|signature| signature.call_type(args)),
        Callee::Op { .. } => op_call_type(&Registry::builtin(), callee, args).ok()?,
    };
    Some(ty.unwrap_or_else(Type::unknown))
}
