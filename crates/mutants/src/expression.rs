//! The mutations of one expression.

use proc_macro2::{Span, TokenStream};
use quote::quote;
use syn::{
    BinOp, Expr, ExprStruct, FieldValue, Ident, Lit, LitFloat, LitInt, Member, UnOp, parse_quote,
};

use crate::mutator::text;
use crate::tables::{CALLS, COMMUTATIVE, FIELDS, METHODS, OPS, PATHS, counterpart, partner};

/// Returns expressions of the same type with another meaning, each with the kind of the mutation.
pub(crate) fn mutations_of(expr: &Expr, file: &str) -> Vec<(&'static str, TokenStream)> {
    match expr {
        Expr::Lit(literal) => other_constant(&literal.lit).into_iter().collect(),
        Expr::Unary(unary) if matches!(unary.op, UnOp::Not(_)) => {
            let inner = &unary.expr;
            vec![("branch", quote!(#inner))]
        }
        Expr::Macro(call) if call.mac.path.is_ident("matches") => vec![("branch", quote!(!#call))],
        Expr::Binary(binary) => {
            let (left, right) = (&binary.left, &binary.right);
            let op = other_operator(&binary.op);
            op.map(|op| ("comparison", quote!(#left #op #right))).into_iter().collect()
        }
        Expr::Field(field) => {
            let Member::Named(name) = &field.member else { return Vec::new() };
            let wrong = partner(FIELDS, &name.to_string());
            // The widths of padding are lists and cannot be copied.
            let wrong = wrong.filter(|w| file != "pad" || !["low", "high"].contains(w));
            let base = &field.base;
            let form = |w: &str| {
                let w = ident(w);
                ("operand", quote!(#base.#w))
            };
            wrong.map(form).into_iter().collect()
        }
        Expr::Path(path) => {
            let wrong = counterpart(PATHS, &text(path)).and_then(|p| p.parse::<TokenStream>().ok());
            wrong.map(|p| ("attribute", p)).into_iter().collect()
        }
        Expr::Call(call) => {
            let name = text(&call.func);
            let Some((_, wrong, kind)) = CALLS.iter().find(|(from, ..)| *from == name) else {
                return Vec::new();
            };
            let (wrong, args) = (ident(wrong), &call.args);
            vec![(*kind, quote!(super::numeric_constants::#wrong(#args)))]
        }
        Expr::MethodCall(call) if call.method == "emit" => match call.args.first() {
            Some(Expr::Struct(op)) => with_other_op(&call.receiver, op),
            _ => Vec::new(),
        },
        Expr::MethodCall(call) => {
            let found = METHODS.iter().find(|(from, ..)| call.method == from);
            let form = |(_, wrong, kind): &(&str, &str, &'static str)| {
                let mut call = call.clone();
                call.method = ident(wrong);
                (*kind, quote!(#call))
            };
            found.map(form).into_iter().collect()
        }
        Expr::Struct(op) => with_other_operands(op),
        _ => Vec::new(),
    }
}

/// Returns whether an operator assigns.
pub(crate) fn is_assignment(op: &BinOp) -> bool {
    matches!(
        op,
        BinOp::AddAssign(_)
            | BinOp::SubAssign(_)
            | BinOp::MulAssign(_)
            | BinOp::BitOrAssign(_)
            | BinOp::BitAndAssign(_)
    )
}

fn ident(name: &str) -> Ident {
    Ident::new(name, Span::call_site())
}

// Returns another number: 1 for 0, 0 for 1, one more for others.
fn other_constant(literal: &Lit) -> Option<(&'static str, TokenStream)> {
    let wrong = match literal {
        Lit::Bool(b) => {
            let wrong = !b.value;
            quote!(#wrong)
        }
        Lit::Int(n) => {
            let value: u128 = n.base10_parse().ok()?;
            let wrong = if value == 1 { 0 } else { value + 1 };
            let wrong = LitInt::new(&format!("{wrong}{}", n.suffix()), n.span());
            quote!(#wrong)
        }
        Lit::Float(x) => {
            let value: f64 = x.base10_parse().ok()?;
            let wrong = if value == 1.0 { 0.0 } else { value + 1.0 };
            let wrong = LitFloat::new(&format!("{wrong:?}{}", x.suffix()), x.span());
            quote!(#wrong)
        }
        _ => return None,
    };
    Some(("constant", wrong))
}

fn other_operator(op: &BinOp) -> Option<TokenStream> {
    Some(match op {
        BinOp::Eq(_) => quote!(!=),
        BinOp::Ne(_) => quote!(==),
        BinOp::Lt(_) => quote!(<=),
        BinOp::Le(_) => quote!(<),
        BinOp::Gt(_) => quote!(>=),
        BinOp::Ge(_) => quote!(>),
        BinOp::Add(_) => quote!(-),
        BinOp::Sub(_) => quote!(+),
        BinOp::Mul(_) => quote!(+),
        BinOp::Div(_) => quote!(*),
        _ => return None,
    })
}

fn field_name(field: &FieldValue) -> Option<String> {
    match &field.member {
        Member::Named(name) => Some(name.to_string()),
        Member::Unnamed(_) => None,
    }
}

// Returns an op with its operands swapped, and with one of them twice.
fn with_other_operands(op: &ExprStruct) -> Vec<(&'static str, TokenStream)> {
    let place = |name: &str| op.fields.iter().position(|f| field_name(f).as_deref() == Some(name));
    let Some((a, b)) = FIELDS.iter().find_map(|(a, b)| Some((place(a)?, place(b)?))) else {
        return Vec::new();
    };
    let (first, second) = (op.fields[a].expr.clone(), op.fields[b].expr.clone());
    let with = |x: &Expr, y: &Expr| {
        let mut op = op.clone();
        for (at, expr) in [(a, x), (b, y)] {
            let member = &op.fields[at].member;
            op.fields[at] = parse_quote!(#member: #expr);
        }
        ("operand", quote!(#op))
    };
    let mut forms = Vec::new();
    let commutative = op.path.get_ident().is_some_and(|name| COMMUTATIVE.iter().any(|c| name == c));
    if !commutative {
        forms.push(with(&second, &first));
    }
    // Fields of one op are exchanged one by one elsewhere; lists cannot be copied.
    let fields = matches!((&first, &second), (Expr::Field(_), Expr::Field(_)));
    if !fields && !op.path.is_ident("Pad") {
        forms.push(with(&second, &second));
        forms.push(with(&first, &first));
    }
    forms
}

// Returns emissions of another op of the same family, or of no op.
fn with_other_op(receiver: &Expr, op: &ExprStruct) -> Vec<(&'static str, TokenStream)> {
    let Some(name) = op.path.get_ident().map(Ident::to_string) else { return Vec::new() };
    let mut forms = Vec::new();
    if let Some(wrong) = counterpart(OPS, &name) {
        let (wrong, fields) = (ident(wrong), &op.fields);
        forms.push(("op", quote!(#receiver.emit(sapwood_ptir::ops::#wrong { #fields }))));
    }
    if op.rest.is_none()
        && op.dot2_token.is_none()
        && op.fields.len() == 1
        && field_name(&op.fields[0]).as_deref() == Some("input")
    {
        let input = &op.fields[0].expr;
        forms.push(("step", quote!(Some(#input))));
    }
    forms
}
