//! Checks of expressions and types: uses of variables, operand types, ranges of constants, calls.

use sapwood_ptir::Registry;
use sapwood_types::{DataType, Span, counted};

use super::Verifier;
use super::types::display_type;
use crate::nodes::{BinaryOp, Callee, Expr, ExprRef, Type, TypeRef, UnaryOp};
use crate::ops::op_call_type;

/// An expression or a type to check.
#[derive(Clone, Copy)]
enum VerifyItem<'a> {
    Expr(&'a ExprRef),
    Type(&'a TypeRef),
}

/// An expression or type whose children are being checked.
pub(super) struct VerifyFrame<'a> {
    item: VerifyItem<'a>,
    next: usize,
    /// The position of the latest definition that it uses.
    latest_definition: usize,
    span: Span,
}

impl<'a> VerifyItem<'a> {
    fn child(self, index: usize) -> Option<VerifyItem<'a>> {
        match self {
            Self::Expr(expr) => {
                let operands = expr.operands();
                let len = operands.len();
                if index < len {
                    return match &**expr {
                        Expr::Call { args, .. } => args.get(index).map(Self::Expr),
                        Expr::MakeTuple { elements, .. } => elements.get(index).map(Self::Expr),
                        _ => expr.operands().nth(index).map(Self::Expr),
                    };
                }
                (index == len).then(|| Self::Type(expr.ty()))
            }
            Self::Type(ty) => match &**ty {
                Type::Scalar { .. } | Type::Unknown { .. } => None,
                Type::Tensor { shape, .. } => shape.get(index).map(Self::Expr),
                Type::Tuple { types, .. } => types.get(index).map(Self::Type),
                Type::Function { params, results, .. } => params
                    .get(index)
                    .or_else(|| results.get(index - params.len().min(index)))
                    .filter(|_| index < params.len() + results.len())
                    .map(Self::Type),
            },
        }
    }
}

impl<'a> Verifier<'a> {
    pub(super) fn check_expr(&mut self, expr: &'a ExprRef, span: Span) {
        if !self.has_too_many_errors() {
            self.check_item(VerifyItem::Expr(expr), span);
        }
    }

    pub(super) fn check_type(&mut self, ty: &'a TypeRef, span: Span) {
        if !self.has_too_many_errors() {
            self.check_item(VerifyItem::Type(ty), span);
        }
    }

    fn check_item(&mut self, root: VerifyItem<'a>, span: Span) {
        if self.enter_item(root, span).is_some() {
            return;
        }
        while let Some(frame) = self.frames.last_mut() {
            let (child, span) = (frame.item.child(frame.next), frame.span);
            frame.next += 1;
            let latest_definition = match child {
                Some(child) => self.enter_item(child, span),
                None => self.leave_item(),
            };
            if let (Some(latest_definition), Some(outer)) =
                (latest_definition, self.frames.last_mut())
            {
                outer.latest_definition = outer.latest_definition.max(latest_definition);
            }
        }
    }

    /// Returns the latest definition used by an item that is already verified; otherwise pushes it on the stack.
    fn enter_item(&mut self, item: VerifyItem<'a>, span: Span) -> Option<usize> {
        match item {
            VerifyItem::Type(ty) => {
                if matches!(&**ty, Type::Scalar { .. } | Type::Unknown { .. }) {
                    return Some(0);
                }
                if let Some(&(then, latest_definition)) = self.verified_types.get(&ty.node().id())
                    && self.defined.still_defined(then, latest_definition)
                {
                    return Some(latest_definition);
                }
                self.frames.push(VerifyFrame { item, next: 0, latest_definition: 0, span });
            }
            VerifyItem::Expr(expr) => {
                if expr.is_var() {
                    return Some(self.check_use(expr, span));
                }
                if expr.is_const() {
                    self.check_constant(expr, span);
                    return Some(0);
                }
                if expr.node().owners() > 1
                    && let Some(&(then, latest_definition)) =
                        self.verified_exprs.get(&expr.node().id())
                    && self.defined.still_defined(then, latest_definition)
                {
                    return Some(latest_definition);
                }
                let own = expr.span();
                let span = if own.is_unknown() { span } else { own };
                self.frames.push(VerifyFrame { item, next: 0, latest_definition: 0, span });
            }
        }
        None
    }

    fn leave_item(&mut self) -> Option<usize> {
        let VerifyFrame { item, latest_definition, span, .. } = self.frames.pop()?;
        let now = self.defined.now();
        match item {
            VerifyItem::Type(ty) => {
                if self.verified_types.insert(ty.node().id(), (now, latest_definition)).is_none() {
                    self.check_tensor_dims(ty, span);
                }
            }
            VerifyItem::Expr(expr) => {
                let verified_before = expr.node().owners() > 1
                    && self
                        .verified_exprs
                        .insert(expr.node().id(), (now, latest_definition))
                        .is_some();
                if !verified_before && !self.has_too_many_errors() {
                    self.check_operation(expr, span);
                }
            }
        }
        Some(latest_definition)
    }

    fn check_constant(&mut self, expr: &Expr, span: Span) {
        let own = expr.span();
        let span = if own.is_unknown() { span } else { own };
        let dtype = expr.ty().as_scalar();
        match expr {
            Expr::ConstInt { value, .. } => match dtype.and_then(DataType::integer_range) {
                Some((min, max)) => {
                    let value = value.get();
                    if !(min..=max).contains(&value) {
                        let name = dtype.map_or("", DataType::document_name);
                        let message =
                            format!("{value} is out of range: {name} holds {min} to {max}");
                        self.report(span, message);
                    }
                }
                None => self.report_constant_type("ConstInt", "an integer type", expr.ty(), span),
            },
            Expr::ConstFloat { value, .. } => match dtype.filter(|dtype| dtype.is_float()) {
                Some(dtype) => {
                    let rounded = crate::float::round_to_dtype(dtype, *value);
                    if rounded.to_bits() != value.to_bits() && !(rounded.is_nan() && value.is_nan())
                    {
                        let message =
                            format!("{value:?} is not a value of {}", dtype.document_name());
                        self.report_with_help(span, message, format!("the nearest is {rounded:?}"));
                    }
                }
                None => self.report_constant_type("ConstFloat", "a float type", expr.ty(), span),
            },
            Expr::ConstBool { .. } if dtype != Some(DataType::Bool) => {
                self.report_constant_type("ConstBool", "BOOL", expr.ty(), span);
            }
            _ => {}
        }
    }

    fn report_constant_type(&mut self, what: &str, needs: &str, ty: &TypeRef, span: Span) {
        let message = format!("a {what} has the type {}; it needs {needs}", display_type(ty));
        self.report(span, message);
    }

    fn check_tensor_dims(&mut self, ty: &TypeRef, span: Span) {
        if let Type::Tensor { shape, .. } = &**ty {
            for (index, dim) in shape.iter().enumerate() {
                // Prefer the span of the dim; the span of a variable is that of its definition.
                let span = match dim.span() {
                    own if own.is_unknown() || dim.is_var() => span,
                    own => own,
                };
                let integer = match &**dim.ty() {
                    Type::Scalar { dtype, .. } => dtype.is_integer(),
                    Type::Unknown { .. } => true,
                    _ => false,
                };
                if !integer {
                    let message = format!(
                        "dim {index} of a tensor has the type {}; dims are integers",
                        display_type(dim.ty())
                    );
                    self.report(span, message);
                } else if let Some(size) = dim.as_int()
                    && size < 0
                {
                    self.report(span, format!("dim {index} of a tensor is {size}, below zero"));
                }
            }
        }
    }

    fn check_operation(&mut self, expr: &'a Expr, span: Span) {
        if let Some((op, left, right)) = expr.as_binary() {
            self.check_binary(op, [left, right], expr.ty(), span);
        } else if let Some((op, operand)) = expr.as_unary() {
            self.check_unary(op, operand, expr.ty(), span);
        }
        match expr {
            Expr::Call { callee, args, .. } if callee.is_global() => {
                self.check_call(callee.name(), args, expr.ty(), span);
            }
            Expr::Call { callee, args, .. } => self.check_op_call(callee, args, expr.ty(), span),
            Expr::TupleGetItemExpr { tuple, index, .. } => match &**tuple.ty() {
                Type::Tuple { types, .. } => match types.get(*index as usize) {
                    Some(element) if self.is_compatible(element, expr.ty()) => {}
                    Some(element) => {
                        let message = format!(
                            "element {index} has the type {}, not {}",
                            display_type(element),
                            display_type(expr.ty())
                        );
                        self.report(span, message);
                    }
                    None => {
                        let message = format!(
                            "tuple index {index} is out of range: the tuple has {}",
                            counted(types.len(), "element")
                        );
                        self.report(span, message);
                    }
                },
                Type::Unknown { .. } => {}
                _ => {
                    let message = format!(
                        "element {index} of a value of type {}, which is not a tuple",
                        display_type(tuple.ty())
                    );
                    self.report(span, message);
                }
            },
            Expr::MakeTuple { elements, .. } => {
                let fit = match &**expr.ty() {
                    Type::Tuple { types, .. } => {
                        types.len() == elements.len()
                            && types
                                .iter()
                                .zip(elements)
                                .all(|(ty, e)| self.is_compatible(ty, e.ty()))
                    }
                    Type::Unknown { .. } => true,
                    _ => false,
                };
                if !fit {
                    let message = format!(
                        "a tuple of {} cannot have the type {}",
                        counted(elements.len(), "element"),
                        display_type(expr.ty())
                    );
                    self.report(span, message);
                }
            }
            _ => {}
        }
    }

    /// Returns the data type of a scalar or tensor operand; reports an error for other types.
    fn operand_dtype(&mut self, name: &str, operand: &ExprRef, span: Span) -> Option<DataType> {
        match &**operand.ty() {
            Type::Scalar { dtype, .. } | Type::Tensor { dtype, .. } => Some(*dtype),
            Type::Unknown { .. } => None,
            Type::Tuple { .. } | Type::Function { .. } => {
                let message = format!(
                    "an operand of {name} has the type {}; it needs a scalar or a tensor",
                    display_type(operand.ty())
                );
                self.report(span, message);
                None
            }
        }
    }

    fn check_binary(&mut self, op: BinaryOp, operands: [&ExprRef; 2], ty: &TypeRef, span: Span) {
        let name = op.name();
        let dtypes = operands.map(|operand| self.operand_dtype(name, operand, span));
        for dtype in dtypes.into_iter().flatten() {
            if !op.operand_class().accepts(dtype) {
                let message = format!("{name} is not defined for {}", dtype.document_name());
                self.report(span, message);
                return;
            }
        }
        if let [Some(left), Some(right)] = dtypes
            && left != right
            && !op.is_logical()
        {
            let message = format!(
                "the operands of {name} have the data types {} and {}",
                left.document_name(),
                right.document_name()
            );
            self.report_with_help(span, message, "cast one of them");
            return;
        }
        if let [left, right] = operands
            && let (Type::Tensor { shape: a, .. }, Type::Tensor { shape: b, .. }) =
                (&**left.ty(), &**right.ty())
            && (a.len() != b.len()
                || a.iter().zip(b).any(|(a, b)| match (a.as_int(), b.as_int()) {
                    (Some(a), Some(b)) => a != b,
                    _ => false,
                }))
        {
            let message = format!(
                "the operands of {name} have the shapes of {} and {}",
                display_type(left.ty()),
                display_type(right.ty())
            );
            self.report(span, message);
        }
        self.check_result_dtype(
            name,
            op.is_predicate(),
            dtypes.into_iter().flatten().next(),
            ty,
            span,
        );
        self.check_result_shape(name, &operands, ty, span);
    }

    /// Checks the data type of a result: that of the operands, or for a predicate BOOL or an integer type.
    fn check_result_dtype(
        &mut self,
        name: &str,
        truth: bool,
        operand: Option<DataType>,
        ty: &TypeRef,
        span: Span,
    ) {
        match &**ty {
            Type::Unknown { .. } => {}
            Type::Scalar { dtype, .. } | Type::Tensor { dtype, .. } => {
                if truth {
                    if !dtype.is_bool() && !dtype.is_integer() {
                        let message = format!(
                            "{name} returns a truth value, which {} cannot represent",
                            dtype.document_name()
                        );
                        self.report_with_help(span, message, "use BOOL or an integer type");
                    }
                } else if let Some(operand) = operand
                    && operand != *dtype
                {
                    let message = format!(
                        "{name} of {} returns {}, not {}",
                        operand.document_name(),
                        operand.document_name(),
                        dtype.document_name()
                    );
                    self.report_with_help(span, message, "cast the result");
                }
            }
            Type::Tuple { .. } | Type::Function { .. } => {
                let message = format!("{name} cannot have the type {}", display_type(ty));
                self.report(span, message);
            }
        }
    }

    /// Checks the shape of a result: operators on tensors return a tensor of that shape, operators on scalars a scalar.
    fn check_result_shape(&mut self, name: &str, operands: &[&ExprRef], ty: &TypeRef, span: Span) {
        let shape_of = |ty: &TypeRef| match &**ty {
            Type::Tensor { shape, .. } => Some(shape.clone()),
            _ => None,
        };
        let scalars = operands.iter().all(|operand| operand.ty().as_scalar().is_some());
        let operand_shape = operands.iter().find_map(|operand| shape_of(operand.ty()));
        let is_valid = match (operand_shape, &**ty) {
            (Some(_), Type::Scalar { .. }) => false,
            (Some(expected), Type::Tensor { shape, .. }) => {
                expected.len() == shape.len()
                    && expected.iter().zip(shape).all(|(a, b)| match (a.as_int(), b.as_int()) {
                        (Some(a), Some(b)) => a == b,
                        _ => true,
                    })
            }
            (None, Type::Tensor { .. }) => !scalars,
            _ => true,
        };
        if !is_valid {
            let kind = if scalars { "a scalar" } else { "a tensor of their shape" };
            let message =
                format!("{name} of these operands returns {kind}, not {}", display_type(ty));
            self.report(span, message);
        }
    }

    fn check_unary(&mut self, op: UnaryOp, operand: &ExprRef, ty: &TypeRef, span: Span) {
        let name = op.name();
        let dtype = self.operand_dtype(name, operand, span);
        if let Some(dtype) = dtype.filter(|&dtype| !op.operand_class().accepts(dtype)) {
            let message = format!("{name} is not defined for {}", dtype.document_name());
            self.report(span, message);
            return;
        }
        if op == UnaryOp::Cast {
            if ty.dtype().is_none() && !ty.is_unknown() {
                let message =
                    format!("a cast to {}; it needs a scalar or a tensor", display_type(ty));
                self.report(span, message);
            }
        } else {
            self.check_result_dtype(name, op == UnaryOp::Not, dtype, ty, span);
        }
        self.check_result_shape(name, &[operand], ty, span);
    }

    /// Checks the stated type of a call of a built-in op against the inferred one, as far as that is known.
    fn check_op_call(&mut self, callee: &Callee, args: &[ExprRef], ty: &TypeRef, span: Span) {
        // An op whose operands do not fit is reported where the call is evaluated or lowered.
        let Ok(Some(natural)) = op_call_type(&Registry::builtin(), callee, args) else { return };
        if !self.is_compatible(ty, &natural) {
            let (name, natural, ty) = (callee.name(), display_type(&natural), display_type(ty));
            let message = format!("`{name}` returns {natural}, but the call has the type {ty}");
            self.report(span, message);
        }
    }

    fn check_call(&mut self, name: &str, args: &[ExprRef], ty: &TypeRef, span: Span) {
        let Some(program) = self.program else { return };
        let Some(function) = program.get_function(name) else {
            self.report_unknown_function(name, span);
            return;
        };
        if args.len() != function.params.len() {
            let message = format!(
                "`{name}` takes {}, found {}",
                counted(function.params.len(), "argument"),
                args.len()
            );
            self.report(span, message);
        } else {
            for (param, arg) in function.params.iter().zip(args) {
                if !self.is_compatible(param.ty(), arg.ty()) {
                    let message = format!(
                        "`{name}` takes {} for `{}`, found {}",
                        display_type(param.ty()),
                        param.name(),
                        display_type(arg.ty())
                    );
                    self.report(span, message);
                }
            }
        }
        let result = call_type(&function.return_types);
        if !self.is_compatible(&result, ty) {
            let message =
                format!("`{name}` returns {}, not {}", display_type(&result), display_type(ty));
            self.report(span, message);
        }
    }
}

/// Returns the type of a call of a function with these result types.
pub(crate) fn call_type(return_types: &[TypeRef]) -> TypeRef {
    match return_types {
        [one] => Type::inferred(one),
        several => Type::tuple(several.iter().map(Type::inferred)),
    }
}
