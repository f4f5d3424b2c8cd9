//! An expression that an earlier assignment has computed is not computed again: its variable is
//! read. Expressions are numbered from their leaves up, so that equal ones have one number and a part
//! that many statements share is looked at once; leaves and types are told apart by the structural
//! engine.
//!
//! Only variables that are bound once take part, so that what was computed is still so; a value is
//! known within the body that computed it and those inside.

use std::collections::HashMap;

use sapwood_structural::{StructuralKey, StructuralOptions};

use super::walk::{Parts, map_parts};
use super::{Anywhere, Map, PassError, bindings, check_sharing, deeper};
use crate::nodes::{
    Expr, ExprRef, FunctionRef, Program, ProgramRef, Stmt, StmtRef, TypeRef, Var, types_match,
};

/// Reads a variable instead of computing its value once more.
///
/// # Errors
/// If shared statements stand for too many.
pub fn cse(program: &Program) -> Result<ProgramRef, PassError> {
    program.map_functions(|function| {
        check_sharing(&function.name, &function.body)?;
        Ok(in_function(function))
    })
}

fn in_function(function: &FunctionRef) -> FunctionRef {
    let mut cse = Cse {
        bound: bindings(function),
        unfixed: Anywhere::default(),
        numbers: Numbers::default(),
        known: HashMap::default(),
        order: Vec::new(),
    };
    let body = cse.body(&function.body);
    super::with_body(function, &body)
}

struct Cse {
    bound: Map<u32>,
    /// Whether a part may have another value where it is read again.
    unfixed: Anywhere,
    numbers: Numbers,
    /// Values that are known, by number, and the variable that holds each.
    known: HashMap<u32, Var, rustc_hash::FxBuildHasher>,
    /// In what order they became known.
    order: Vec<u32>,
}

impl Cse {
    fn once(&self, var: usize) -> bool {
        self.bound.get(&var) == Some(&1)
    }

    /// Whether the value is the same wherever it is read.
    fn is_fixed(&mut self, value: &ExprRef) -> bool {
        let bound = &self.bound;
        !value.is_var()
            && !value.is_const()
            && !self.unfixed.holds(value, |expr| match &**expr {
                Expr::Call { .. } => true,
                other => other.is_var() && bound.get(&expr.node().id()) != Some(&1),
            })
    }

    fn assign(&mut self, stmt: &StmtRef, var: &Var, value: &ExprRef) -> StmtRef {
        let Some(number) = self.numbers.of(value) else { return stmt.clone() };
        if let Some(first) = self.known.get(&number) {
            return Stmt::assign(var, first, stmt.span());
        }
        if self.once(var.id()) && types_match(var.ty(), value.ty()) {
            self.order.push(number);
            self.known.insert(number, var.clone());
        }
        stmt.clone()
    }
}

impl Parts for Cse {
    /// A sequence inside a body goes on with what is known; the bodies of other statements forget.
    fn body(&mut self, body: &StmtRef) -> StmtRef {
        deeper(|| match &**body {
            Stmt::Assign { var, value, .. } if self.is_fixed(value) => {
                self.assign(body, var, value)
            }
            Stmt::If { .. } | Stmt::For { .. } | Stmt::While { .. } => {
                map_parts(body, &mut Inner(self))
            }
            _ => map_parts(body, self),
        })
    }
}

/// The bodies of an `if` or a loop.
struct Inner<'c>(&'c mut Cse);

impl Parts for Inner<'_> {
    fn body(&mut self, body: &StmtRef) -> StmtRef {
        let mark = self.0.order.len();
        let new = self.0.body(body);
        for number in self.0.order.drain(mark..) {
            self.0.known.remove(&number);
        }
        new
    }
}

/// A number for each value.
#[derive(Default)]
struct Numbers {
    nodes: Map<u32>,
    types: Map<u32>,
    leaves: HashMap<StructuralKey<ExprRef>, u32>,
    same_types: HashMap<StructuralKey<TypeRef>, u32>,
    operations: HashMap<Operation, u32, rustc_hash::FxBuildHasher>,
    next: u32,
}

/// An operation over numbered operands. No calls.
#[derive(PartialEq, Eq, Hash)]
struct Operation {
    /// The type of the node, which says the operator.
    name: &'static str,
    ty: u32,
    index: u32,
    operands: Box<[u32]>,
}

impl Numbers {
    fn fresh(&mut self) -> u32 {
        self.next += 1;
        self.next
    }

    fn of_type(&mut self, ty: &TypeRef) -> Option<u32> {
        if let Some(&number) = self.types.get(&ty.node().id()) {
            return Some(number);
        }
        let key = StructuralKey::new(ty.clone(), StructuralOptions::default()).ok()?;
        let fresh = self.fresh();
        let number = *self.same_types.entry(key).or_insert(fresh);
        self.types.insert(ty.node().id(), number);
        Some(number)
    }

    fn of_leaf(&mut self, leaf: &ExprRef) -> Option<u32> {
        let fresh = self.fresh();
        if leaf.is_var() {
            return Some(*self.nodes.entry(leaf.node().id()).or_insert(fresh));
        }
        let key = StructuralKey::new(leaf.clone(), StructuralOptions::default()).ok()?;
        Some(*self.leaves.entry(key).or_insert(fresh))
    }

    /// The number of an expression; nothing if it cannot be told apart.
    fn of(&mut self, root: &ExprRef) -> Option<u32> {
        let mut done: Vec<u32> = Vec::new();
        let mut todo: Vec<(&ExprRef, bool)> = vec![(root, false)];
        while let Some((expr, ready)) = todo.pop() {
            let id = expr.node().id();
            if expr.is_var() || expr.is_const() {
                done.push(self.of_leaf(expr)?);
            } else if ready {
                let operands = done.split_off(done.len() - expr.operands().len());
                let index = match &**expr {
                    Expr::TupleGetItemExpr { index, .. } => *index,
                    _ => 0,
                };
                let (name, ty) = (expr.type_name(), self.of_type(expr.ty())?);
                let fresh = self.fresh();
                let operation = Operation { name, ty, index, operands: operands.into() };
                let number = *self.operations.entry(operation).or_insert(fresh);
                if expr.node().owners() > 1 {
                    self.nodes.insert(id, number);
                }
                done.push(number);
            } else if let Some(&number) = self.nodes.get(&id) {
                done.push(number);
            } else {
                todo.push((expr, true));
                todo.extend(expr.operands().rev().map(|operand| (operand, false)));
            }
        }
        done.pop()
    }
}
