//! Calls of functions and ops, with the types that follow from signatures and op tables; `a @ b` and `x.T`.

use std::rc::Rc;

use sapwood_ptir::{AttrKind, Registry};
use sapwood_structural::Value;
use sapwood_types::{DataType, Span};

use super::lexer::TokenKind;
use super::value::{ParsedValue, ParsedValueKind};
use super::{ParseFailed, ParseResult, Parser};
use crate::call_types::{SignatureTypes, natural_call_type};
use crate::nodes::{Callee, CalleeRef, Expr, ExprRef, Type, TypeRef, Var};
use crate::ops::matmul_attrs;

/// The parameters and the result types of a function.
type KnownSignature = (Vec<Var>, Vec<TypeRef>);

/// The signatures of functions by name.
#[derive(Default)]
pub(super) struct Signatures {
    known: hashbrown::HashMap<String, Rc<KnownSignature>, rustc_hash::FxBuildHasher>,
    /// True if the signatures of the whole text are known.
    is_complete: bool,
}

impl Signatures {
    pub(super) fn insert(&mut self, name: &str, params: &[Var], return_types: &[TypeRef]) {
        let signature = Rc::new((params.to_vec(), return_types.to_vec()));
        self.known.insert(name.to_owned(), signature);
    }
}

/// The name, the span and the argument number of an attribute.
pub(super) type Keyword<'s> = (&'s str, Span, usize);

impl<'s> Parser<'s> {
    /// Returns the signature of a function of the text, which may be defined later.
    fn signature(&mut self, name: &str) -> Option<Rc<KnownSignature>> {
        if !self.signatures.known.contains_key(name) && !self.signatures.is_complete {
            let scanned = self.scan_signatures();
            let known = std::mem::replace(&mut self.signatures, scanned).known;
            // Functions outside the text stay known.
            for (name, signature) in known {
                self.signatures.known.entry(name).or_insert(signature);
            }
        }
        self.signatures.known.get(name).cloned()
    }

    /// Reads the signatures of all functions of the text, without reporting their errors.
    fn scan_signatures(&self) -> Signatures {
        let mut found = Signatures { is_complete: true, ..Signatures::default() };
        let base = self.lexer.base_indent();
        let Ok(mut scanner) = Parser::with_base_indent(self.source, base) else { return found };
        scanner.signatures.is_complete = true;
        while scanner.token.kind != TokenKind::End && !scanner.has_too_many_errors() {
            let mut exact = None;
            while scanner.eat("@") {
                match scanner.read_decorator() {
                    Ok(name) => exact = name.or(exact),
                    Err(ParseFailed) => scanner.skip_line(),
                }
            }
            if !scanner.eat("def") {
                let is_part = scanner.at("(");
                if !is_part || scanner.read_paren_line().is_err() {
                    scanner.skip_line_and_block();
                }
                continue;
            }
            if let Ok((name, _)) = scanner.expect_name("a name")
                && let Ok(signature) = scanner.read_signature()
                && signature.complete
            {
                let name = exact.as_deref().unwrap_or(name);
                found.insert(name, &signature.params, &signature.return_types);
            }
            scanner.scope.end_function();
            match scanner.token.kind {
                TokenKind::Indent => {
                    scanner.advance();
                    scanner.skip_block();
                }
                TokenKind::End => {}
                _ => scanner.skip_line_and_block(),
            }
        }
        found
    }

    /// Builds a call of a function; numbers take the types of the parameters.
    pub(super) fn make_function_call(
        &mut self,
        callee: &CalleeRef,
        values: Vec<ParsedValue>,
        span: Span,
    ) -> ParseResult<ParsedValue> {
        let signature = self.signature(callee.name());
        let signature = signature
            .as_deref()
            .and_then(|(params, return_types)| SignatureTypes::new(params, return_types));
        let params = signature.map_or(&[][..], |signature| signature.params);
        let mut args = Vec::with_capacity(values.len());
        for (index, value) in values.into_iter().enumerate() {
            let dtype = params.get(index).and_then(|param| param.ty().as_scalar());
            args.push(self.as_expr_like(value, dtype)?);
        }
        let ty = natural_call_type(callee, &args, signature).unwrap_or_else(Type::unknown);
        Ok(ParsedValue::operation(Expr::call(callee, args, ty, span), span))
    }

    /// Builds a call of an op; numbers take the type of the first argument that has one.
    pub(super) fn make_op_call(
        &mut self,
        name: &str,
        name_span: Span,
        mut values: Vec<ParsedValue>,
        keywords: &[Keyword<'s>],
        span: Span,
    ) -> ParseResult<ParsedValue> {
        let first = keywords.first().map_or(values.len(), |&(.., at)| at);
        let named = values.split_off(first.min(values.len()));
        if named.len() != keywords.len() {
            let message = "an argument after an attribute";
            return Err(self.report_with_help(span, message, "write the attributes last"));
        }
        if name == "matmul" && keywords.is_empty() && values.len() == 2 {
            let [left, right] = <[ParsedValue; 2]>::try_from(values).map_err(|_| ParseFailed)?;
            return self.make_matmul(left, right);
        }
        let dtype = values.iter().find_map(|value| match &value.kind {
            ParsedValueKind::Expr(expr) => expr.ty().dtype(),
            _ => None,
        });
        let args: Vec<ParseResult<ExprRef>> =
            values.into_iter().map(|value| self.as_expr_like(value, dtype)).collect();
        let args = args.into_iter().collect::<ParseResult<Vec<ExprRef>>>()?;
        let registry = Registry::builtin();
        let states_type = registry
            .by_name(name)
            .is_some_and(|def| def.attrs.iter().any(|attr| attr.kind == AttrKind::ResultType));
        let (mut attrs, mut stated) = (Vec::new(), StatedType::default());
        for (&(keyword, place, _), value) in keywords.iter().zip(named) {
            if attrs.iter().any(|(name, _): &(String, Value)| name == keyword) {
                return Err(self.report(place, format!("a second attribute `{keyword}`")));
            }
            match keyword {
                "type" if states_type => stated.ty = Some(self.as_type(value)?),
                "dtype" if states_type => {
                    let place = value.span;
                    let Some(dtype) = self.as_type(value)?.as_scalar() else {
                        return Err(self.report(place, "expected a data type such as `pi.FP32`"));
                    };
                    stated.dtype = Some(dtype);
                }
                "shape" if states_type => stated.shape = Some(self.as_expr_list(value)?),
                _ => attrs.push((keyword.to_owned(), self.as_attr(value)?)),
            }
        }
        let callee = Callee::op_with_attrs(name, attrs, name_span);
        if let Some(ty) = stated.complete(&args) {
            let expr = Expr::call(&callee, args, ty, span);
            return Ok(ParsedValue::new(ParsedValueKind::Expr(expr), span));
        }
        Ok(self.op_call(&callee, args, span))
    }

    /// Builds a call of an op with the type that follows from its operands.
    pub(super) fn op_call(
        &mut self,
        callee: &CalleeRef,
        args: Vec<ExprRef>,
        span: Span,
    ) -> ParsedValue {
        let natural = natural_call_type(callee, &args, None);
        let needs_type = natural.is_none();
        let ty = natural.unwrap_or_else(Type::unknown);
        let expr = Expr::call(callee, args, ty, span);
        ParsedValue { needs_type, ..ParsedValue::operation(expr, span) }
    }

    /// Builds `left @ right`.
    pub(super) fn make_matmul(
        &mut self,
        left: ParsedValue,
        right: ParsedValue,
    ) -> ParseResult<ParsedValue> {
        let span = left.span.to(right.span);
        let (left, right) = (self.as_expr(left)?, self.as_expr(right)?);
        let rank = |expr: &ExprRef| match &**expr.ty() {
            Type::Tensor { shape, .. } => Some(shape.len()),
            _ => None,
        };
        let attrs = rank(&left).zip(rank(&right)).and_then(|(a, b)| matmul_attrs(a, b));
        let Some(attrs) = attrs else {
            use crate::verify::display_type;
            let message =
                format!("`@` of {} and {}", display_type(left.ty()), display_type(right.ty()));
            let help = "it multiplies matrices, vectors, and stacks of as many matrices; see `pi.op.dot_general`";
            return Err(self.report_with_help(span, message, help));
        };
        let callee = Callee::op_with_attrs("dot_general", attrs, span);
        Ok(self.op_call(&callee, vec![left, right], span))
    }

    /// Reads the rest of `x.T` at its point.
    pub(super) fn read_attribute(&mut self) -> ParseResult<()> {
        self.advance();
        let (name, place) = self.expect_name("`T` after `.`")?;
        if name != "T" {
            let message = format!("unknown attribute `.{name}`");
            let help = match crate::ops::spelling(name) {
                Some(spelling) => format!("write {spelling}"),
                None => "`x.T` is the transpose; ops are called `pi.op.name(x)`".into(),
            };
            return Err(self.report_with_help(place, message, help));
        }
        let Some(value) = self.value_stack.pop() else { return Err(ParseFailed) };
        let span = value.span.to(place);
        let expr = self.as_expr(value)?;
        let Type::Tensor { shape, .. } = &**expr.ty() else {
            let found = crate::verify::display_type(expr.ty());
            return Err(self.report(span, format!("`.T` of {found}, expected a tensor")));
        };
        let perm: sapwood_structural::Seq = (0..shape.len() as i64).rev().collect();
        let callee =
            Callee::op_with_attrs("transpose", vec![("perm".to_owned(), perm.into())], place);
        let value = self.op_call(&callee, vec![expr.clone()], span);
        self.value_stack.push(value);
        Ok(())
    }
}

/// The type of a call as its keywords state it.
#[derive(Default)]
struct StatedType {
    ty: Option<TypeRef>,
    dtype: Option<DataType>,
    shape: Option<Vec<ExprRef>>,
}

impl StatedType {
    /// Returns the stated type; a missing part is that of the first argument.
    fn complete(self, args: &[ExprRef]) -> Option<TypeRef> {
        if self.ty.is_some() || (self.dtype.is_none() && self.shape.is_none()) {
            return self.ty;
        }
        let first = args.first().map(|arg| arg.ty());
        let dtype = self.dtype.or_else(|| first?.dtype())?;
        match (self.shape, first.map(|ty| &**ty)) {
            (Some(shape), _) => Some(Type::tensor(dtype, shape)),
            (None, Some(Type::Tensor { shape, .. })) => {
                Some(Type::tensor(dtype, shape.iter().cloned()))
            }
            (None, Some(Type::Scalar { .. })) => Some(Type::scalar(dtype)),
            (None, _) => None,
        }
    }
}
