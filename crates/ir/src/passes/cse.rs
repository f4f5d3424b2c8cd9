//! Common subexpression elimination: an expression that an earlier assignment computed is replaced by its variable.
//!
//! Expressions are numbered bottom up: equal expressions get the same number, and a shared part is numbered once. The structural
//! engine compares leaves and types.
//!
//! Only variables that are bound once take part, so a computed value stays valid. A value is available in the body that
//! computes it and in nested bodies.

use std::collections::HashMap;

use sapwood_structural::{StructuralKey, StructuralOptions};

use super::map_stmt::{StmtMapper, map_stmt};
use super::{ExprPredicateMemo, IdMap, PassError, check_sharing, count_bindings, with_grown_stack};
use crate::nodes::{
    Expr, ExprRef, FunctionRef, Program, ProgramRef, Stmt, StmtRef, TypeRef, Var, small_types_equal,
};

/// Replaces expressions that an earlier assignment already computed by its variable.
///
/// # Errors
/// Fails if shared statements have too many occurrences.
pub fn cse(program: &Program) -> Result<ProgramRef, PassError> {
    program.map_functions(|function| {
        check_sharing(&function.name, &function.body)?;
        Ok(cse_function(function))
    })
}

fn cse_function(function: &FunctionRef) -> FunctionRef {
    let mut cse = Cse {
        binding_counts: count_bindings(function),
        varying: ExprPredicateMemo::default(),
        numbering: ValueNumbering::default(),
        available: HashMap::default(),
        available_order: Vec::new(),
    };
    let body = cse.map_body(&function.body);
    super::with_body(function, &body)
}

/// The state of common subexpression elimination in one function.
struct Cse {
    binding_counts: IdMap<u32>,
    /// A memo of whether an expression contains a call or a variable that is bound more than once.
    varying: ExprPredicateMemo,
    numbering: ValueNumbering,
    /// The available values by number, with the variable that holds each.
    available: HashMap<u32, Var, rustc_hash::FxBuildHasher>,
    /// The numbers of the available values, in the order in which they became available.
    available_order: Vec<u32>,
}

impl Cse {
    fn is_bound_once(&self, var: usize) -> bool {
        self.binding_counts.get(&var) == Some(&1)
    }

    /// Returns whether the expression has the same value wherever it is evaluated.
    fn is_invariant(&mut self, value: &ExprRef) -> bool {
        let bound = &self.binding_counts;
        !value.is_var()
            && !value.is_const()
            && !self.varying.any_node(value, |expr| match &**expr {
                Expr::Call { .. } => true,
                other => other.is_var() && bound.get(&expr.node().id()) != Some(&1),
            })
    }

    fn number_assignment(&mut self, stmt: &StmtRef, var: &Var, value: &ExprRef) -> StmtRef {
        let Some(number) = self.numbering.number_expr(value) else { return stmt.clone() };
        if let Some(first) = self.available.get(&number) {
            return Stmt::assign(var, first, stmt.span());
        }
        if self.is_bound_once(var.id()) && small_types_equal(var.ty(), value.ty()) {
            self.available_order.push(number);
            self.available.insert(number, var.clone());
        }
        stmt.clone()
    }
}

impl StmtMapper for Cse {
    /// Maps a body. Values that a nested `Seq` computes stay available; values of other nested bodies do not.
    fn map_body(&mut self, body: &StmtRef) -> StmtRef {
        with_grown_stack(|| match &**body {
            Stmt::Assign { var, value, .. } if self.is_invariant(value) => {
                self.number_assignment(body, var, value)
            }
            Stmt::If { .. } | Stmt::For { .. } | Stmt::While { .. } => {
                map_stmt(body, &mut NestedBodies(self))
            }
            _ => map_stmt(body, self),
        })
    }
}

/// A mapper for the bodies of an `if` or a loop, which drops their values afterwards.
struct NestedBodies<'c>(&'c mut Cse);

impl StmtMapper for NestedBodies<'_> {
    fn map_body(&mut self, body: &StmtRef) -> StmtRef {
        let snapshot = self.0.available_order.len();
        let new = self.0.map_body(body);
        for number in self.0.available_order.drain(snapshot..) {
            self.0.available.remove(&number);
        }
        new
    }
}

/// A numbering of expressions by value.
#[derive(Default)]
struct ValueNumbering {
    nodes: IdMap<u32>,
    types_by_id: IdMap<u32>,
    leaves: HashMap<StructuralKey<ExprRef>, u32>,
    types_by_structure: HashMap<StructuralKey<TypeRef>, u32>,
    operations: HashMap<NumberedOperation, u32, rustc_hash::FxBuildHasher>,
    next: u32,
}

/// An operation over numbered operands, never a call.
#[derive(PartialEq, Eq, Hash)]
struct NumberedOperation {
    /// The node type, which implies the operator.
    name: &'static str,
    ty: u32,
    index: u32,
    operands: Box<[u32]>,
}

impl ValueNumbering {
    fn next_number(&mut self) -> u32 {
        self.next += 1;
        self.next
    }

    fn number_type(&mut self, ty: &TypeRef) -> Option<u32> {
        if let Some(&number) = self.types_by_id.get(&ty.node().id()) {
            return Some(number);
        }
        let key = StructuralKey::new(ty.clone(), StructuralOptions::default()).ok()?;
        let fresh = self.next_number();
        let number = *self.types_by_structure.entry(key).or_insert(fresh);
        self.types_by_id.insert(ty.node().id(), number);
        Some(number)
    }

    fn number_leaf(&mut self, leaf: &ExprRef) -> Option<u32> {
        let fresh = self.next_number();
        if leaf.is_var() {
            return Some(*self.nodes.entry(leaf.node().id()).or_insert(fresh));
        }
        let key = StructuralKey::new(leaf.clone(), StructuralOptions::default()).ok()?;
        Some(*self.leaves.entry(key).or_insert(fresh))
    }

    /// Returns the number of an expression, or none if it cannot be compared structurally.
    fn number_expr(&mut self, root: &ExprRef) -> Option<u32> {
        let mut done: Vec<u32> = Vec::new();
        let mut stack: Vec<(&ExprRef, bool)> = vec![(root, false)];
        while let Some((expr, ready)) = stack.pop() {
            let id = expr.node().id();
            if expr.is_var() || expr.is_const() {
                done.push(self.number_leaf(expr)?);
            } else if ready {
                let operands = done.split_off(done.len() - expr.operands().len());
                let index = match &**expr {
                    Expr::TupleGetItemExpr { index, .. } => *index,
                    _ => 0,
                };
                let (name, ty) = (expr.type_name(), self.number_type(expr.ty())?);
                let fresh = self.next_number();
                let operation = NumberedOperation { name, ty, index, operands: operands.into() };
                let number = *self.operations.entry(operation).or_insert(fresh);
                if expr.node().owners() > 1 {
                    self.nodes.insert(id, number);
                }
                done.push(number);
            } else if let Some(&number) = self.nodes.get(&id) {
                done.push(number);
            } else {
                stack.push((expr, true));
                stack.extend(expr.operands().rev().map(|operand| (operand, false)));
            }
        }
        done.pop()
    }
}
