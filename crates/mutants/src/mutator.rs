//! A visitor that inserts mutants into a file.

use proc_macro2::TokenStream;
use quote::{ToTokens, quote};
use syn::visit_mut::{self, VisitMut};
use syn::{Arm, BinOp, Block, Expr, ExprIf, ImplItemFn, ItemConst, ItemFn, Pat, Stmt, parse_quote};

use crate::expression;

/// A mutant: one wrong form of an expression or statement.
#[derive(Debug)]
pub(crate) struct Mutant {
    pub(crate) file: String,
    pub(crate) function: String,
    /// One of `operand`, `constant`, `guard`, `branch`, `comparison`, `op`, `attribute`, `step`.
    pub(crate) kind: &'static str,
    pub(crate) before: String,
    pub(crate) after: String,
}

/// A visitor that replaces expressions by ones that test whether a mutant is active.
pub(crate) struct Mutator<'a> {
    file: &'a str,
    first: usize,
    function: String,
    pub(crate) found: Vec<Mutant>,
}

impl<'a> Mutator<'a> {
    /// Creates a mutator for a file whose first mutant gets this number.
    pub(crate) fn new(file: &'a str, first: usize) -> Self {
        Self { file, first, function: String::new(), found: Vec::new() }
    }

    // Adds a mutant, and returns the condition under which it is active.
    fn mutant(
        &mut self,
        kind: &'static str,
        before: &impl ToTokens,
        after: impl Into<String>,
    ) -> TokenStream {
        let number = (self.first + self.found.len()) as u32;
        let (file, function) = (self.file.to_owned(), self.function.clone());
        let before = text(before);
        self.found.push(Mutant { file, function, kind, before, after: after.into() });
        quote!(crate::mutant::active(#number))
    }

    // Adds a mutant that takes a condition for true, or for false if it guards against something.
    fn assume(&mut self, condition: &mut Expr, truth: bool) {
        let active_condition =
            self.mutant("guard", &*condition, if truth { "true" } else { "false" });
        self.visit_expr_mut(condition);
        *condition = match truth {
            true => parse_quote!((#active_condition || #condition)),
            false => parse_quote!((!#active_condition && #condition)),
        };
    }

    // Adds mutants that omit one of the operands of `a && b && c` or `a || b || c`.
    fn drop_operands(&mut self, expr: &mut Expr, and: bool) {
        match expr {
            Expr::Binary(binary) if is_logic(&binary.op) == Some(and) => {
                self.drop_operands(&mut binary.left, and);
                self.drop_operands(&mut binary.right, and);
            }
            Expr::Let(condition) => self.visit_expr_mut(&mut condition.expr),
            operand => self.assume(operand, and),
        }
    }

    fn branch(&mut self, branch: &mut ExprIf) {
        if !has_let(&branch.cond) {
            let before = branch.cond.clone();
            let guards = branch.else_branch.is_none() && only_exits(&branch.then_branch);
            let single = !matches!(&*before, Expr::Binary(b) if is_logic(&b.op) == Some(false));
            let dropped = (guards && single).then(|| self.mutant("guard", &before, "false"));
            let negated = self.mutant("branch", &before, format!("!({})", text(&before)));
            self.visit_expr_mut(&mut branch.cond);
            let condition = &branch.cond;
            *branch.cond = parse_quote!((#negated ^ (#condition)));
            if let Some(active_condition) = dropped {
                let condition = &branch.cond;
                *branch.cond = parse_quote!((!#active_condition && #condition));
            }
        } else {
            self.visit_expr_mut(&mut branch.cond);
        }
        self.visit_block_mut(&mut branch.then_branch);
        if let Some((_, otherwise)) = &mut branch.else_branch {
            match &mut **otherwise {
                Expr::If(next) => self.branch(next),
                other => self.visit_expr_mut(other),
            }
        }
    }
}

impl VisitMut for Mutator<'_> {
    fn visit_item_fn_mut(&mut self, item: &mut ItemFn) {
        self.function = item.sig.ident.to_string();
        visit_mut::visit_item_fn_mut(self, item);
    }

    fn visit_impl_item_fn_mut(&mut self, item: &mut ImplItemFn) {
        self.function = item.sig.ident.to_string();
        visit_mut::visit_impl_item_fn_mut(self, item);
    }

    // Constants, patterns and types are computed before a mutant can be chosen.
    fn visit_item_const_mut(&mut self, _: &mut ItemConst) {}
    fn visit_pat_mut(&mut self, _: &mut Pat) {}
    fn visit_type_mut(&mut self, _: &mut syn::Type) {}
    fn visit_attribute_mut(&mut self, _: &mut syn::Attribute) {}

    fn visit_arm_mut(&mut self, arm: &mut Arm) {
        if let Pat::Guard(pat) = &mut arm.pat {
            let guard = &mut *pat.guard;
            if has_let(guard) { self.visit_expr_mut(guard) } else { self.assume(guard, true) }
        }
        self.visit_expr_mut(&mut arm.body);
    }

    fn visit_stmt_mut(&mut self, stmt: &mut Stmt) {
        let effect = |e: &Expr| match e {
            Expr::MethodCall(_) | Expr::Assign(_) => true,
            Expr::Binary(b) => expression::is_assignment(&b.op),
            _ => false,
        };
        match stmt {
            Stmt::Expr(expr, Some(_)) if effect(expr) => {
                let active_condition = self.mutant("step", expr, "");
                self.visit_expr_mut(expr);
                *stmt = parse_quote!(if !#active_condition { #expr; });
            }
            _ => visit_mut::visit_stmt_mut(self, stmt),
        }
    }

    fn visit_expr_mut(&mut self, expr: &mut Expr) {
        let before = expr.clone();
        match expr {
            Expr::If(branch) => return self.branch(branch),
            Expr::Binary(binary) if let Some(and) = is_logic(&binary.op) => {
                return self.drop_operands(expr, and);
            }
            // A place is not a value.
            Expr::Assign(assign) => return self.visit_expr_mut(&mut assign.right),
            Expr::Binary(binary) if expression::is_assignment(&binary.op) => {
                return self.visit_expr_mut(&mut binary.right);
            }
            Expr::Reference(reference) if is_place(&reference.expr) => {
                return visit_mut::visit_expr_mut(self, &mut reference.expr);
            }
            Expr::MethodCall(call) if is_place(&call.receiver) => {
                visit_mut::visit_expr_mut(self, &mut call.receiver);
                call.args.iter_mut().for_each(|arg| self.visit_expr_mut(arg));
            }
            Expr::MethodCall(call) if call.method == "then" || call.method == "then_some" => {
                self.assume(&mut call.receiver, true);
                call.args.iter_mut().for_each(|arg| self.visit_expr_mut(arg));
            }
            Expr::MethodCall(call) if call.method == "filter" => {
                self.visit_expr_mut(&mut call.receiver);
                match call.args.first_mut() {
                    Some(Expr::Closure(closure)) => self.assume(&mut closure.body, true),
                    other => other.into_iter().for_each(|arg| self.visit_expr_mut(arg)),
                }
            }
            Expr::Index(index) => {
                visit_mut::visit_expr_mut(self, &mut index.expr);
                self.visit_expr_mut(&mut index.index);
            }
            Expr::Field(field) => visit_mut::visit_expr_mut(self, &mut field.base),
            Expr::Repeat(repeat) => self.visit_expr_mut(&mut repeat.expr),
            // The callee is a name and is not mutated.
            Expr::Call(call) => call.args.iter_mut().for_each(|arg| self.visit_expr_mut(arg)),
            _ => visit_mut::visit_expr_mut(self, expr),
        }
        for (kind, wrong) in expression::mutations_of(&before, self.file) {
            let active_condition = self.mutant(kind, &before, text(&wrong));
            *expr = parse_quote!((if #active_condition { #wrong } else { #expr }));
        }
    }
}

// Returns true for `&&`, false for `||`.
fn is_logic(op: &BinOp) -> Option<bool> {
    match op {
        BinOp::And(_) => Some(true),
        BinOp::Or(_) => Some(false),
        _ => None,
    }
}

fn has_let(expr: &Expr) -> bool {
    match expr {
        Expr::Let(_) => true,
        Expr::Binary(binary) => has_let(&binary.left) || has_let(&binary.right),
        _ => false,
    }
}

fn is_place(expr: &Expr) -> bool {
    matches!(expr, Expr::Field(_) | Expr::Path(_) | Expr::Index(_))
}

// Returns whether a block only returns, breaks or continues.
fn only_exits(block: &Block) -> bool {
    let [Stmt::Expr(only, _)] = &block.stmts[..] else { return false };
    match only {
        Expr::Return(only) => {
            only.expr.as_deref().is_none_or(|e| ["None", "false"].contains(&text(e).as_str()))
        }
        Expr::Continue(_) | Expr::Break(_) => true,
        _ => false,
    }
}

/// Prints tokens roughly as they are written.
pub(crate) fn text(tokens: &impl ToTokens) -> String {
    let mut text = tokens.to_token_stream().to_string();
    for (from, to) in SPACES {
        text = text.replace(from, to);
    }
    text.split_whitespace().collect::<Vec<_>>().join(" ")
}

// Spaces that the printer of tokens adds and source code does not have. `&&` is kept from the rule for `&`.
const SPACES: &[(&str, &str)] = &[
    (" . ", "."),
    (" :: ", "::"),
    (":: < ", "::<"),
    (" > (", ">("),
    (" (", "("),
    ("( ", "("),
    (" )", ")"),
    ("[ ", "["),
    (" ]", "]"),
    (" ,", ","),
    (" ;", ";"),
    (" :", ":"),
    (" ?", "?"),
    ("! ", "!"),
    ("&& ", "\u{1}"),
    ("& ", "&"),
    ("\u{1}", "&& "),
    ("- 1.0", "-1.0"),
];

#[cfg(test)]
mod tests {
    use super::*;

    // The mutants of a function, as lines, and its mutated text.
    fn mutants(source: &str) -> (Vec<String>, String) {
        let mut item: ItemFn = syn::parse_str(source).unwrap();
        let mut mutator = Mutator::new("add", 7);
        mutator.visit_item_fn_mut(&mut item);
        let line = |m: &Mutant| format!("{}: {} => {}", m.kind, m.before, m.after);
        (mutator.found.iter().map(line).collect(), text(&item))
    }

    #[test]
    fn guards_are_dropped_one_by_one_and_negated() {
        let (found, text) = mutants("fn f() { if a(x) || !b { return None; } c }");
        let expected = [
            "branch: a(x) || !b => !(a(x) || !b)",
            "guard: a(x) => false",
            "guard: !b => false",
            "branch: !b => b",
        ];
        assert_eq!(found, expected);
        assert!(text.contains("crate::mutant::active(7u32) ^"), "{text}");
    }

    #[test]
    fn operands_ops_and_steps_are_broken() {
        let (found, _) = mutants("fn f() { rw.emit(Sub { lhs: x, rhs: y.lhs }) }");
        let expected = [
            "operand: y.lhs => y.rhs",
            "operand: Sub { lhs: x, rhs: y.lhs } => Sub { lhs: y.lhs, rhs: x }",
            "operand: Sub { lhs: x, rhs: y.lhs } => Sub { lhs: y.lhs, rhs: y.lhs }",
            "operand: Sub { lhs: x, rhs: y.lhs } => Sub { lhs: x, rhs: x }",
            "op: rw.emit(Sub { lhs: x, rhs: y.lhs }) => rw.emit(sapwood_ptir::ops::Add { lhs: x, rhs: y.lhs })",
        ];
        assert_eq!(found, expected);
        let (found, _) = mutants("fn f() { list.sort(); rw.emit(Neg { input: x }) }");
        let kinds: Vec<_> = found.iter().map(|line| line.split(':').next().unwrap()).collect();
        assert_eq!(kinds, ["step", "op", "step"], "{found:?}");
    }

    #[test]
    fn places_constants_and_patterns_stay() {
        let source =
            "fn f() { const N: usize = 3; op.lhs = x; match y { 0 => z, _ => [z; 4].len() } }";
        let (found, _) = mutants(source);
        assert_eq!(found, ["step: op.lhs = x => "]);
    }

    #[test]
    fn numbers_comparisons_and_attributes_are_broken() {
        let (found, _) = mutants("fn f() { (a < 1).then_some(Direction::Lt) }");
        let expected = [
            "guard: (a < 1) => true",
            "constant: 1 => 0",
            "comparison: a < 1 => a <= 1",
            "attribute: Direction::Lt => Direction::Le",
        ];
        assert_eq!(found, expected);
        let (found, _) = mutants("fn f() { matches!(a, B) && xs.iter().all(is_one) }");
        let kinds: Vec<_> = found.iter().map(|line| line.split(':').next().unwrap()).collect();
        assert_eq!(kinds, ["guard", "branch", "guard", "branch"], "{found:?}");
    }
}
