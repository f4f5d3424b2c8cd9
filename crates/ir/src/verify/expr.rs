//! Expressions and types: uses of variables, types of operands, ranges of constants, calls.

use sapwood_types::{DataType, Span, counted};

use super::Verifier;
use super::types::shown;
use crate::nodes::{BinaryOp, Expr, ExprRef, Type, TypeRef, UnaryOp};

#[derive(Clone, Copy)]
enum Item<'a> {
    Expr(&'a ExprRef),
    Type(&'a TypeRef),
}

/// An expression or type that is being looked at.
pub(super) struct Frame<'a> {
    item: Item<'a>,
    next: usize,
    /// The latest definition that is used below.
    needs: usize,
    span: Span,
}

impl<'a> Item<'a> {
    fn child(self, index: usize) -> Option<Item<'a>> {
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
                Type::Scalar { .. } | Type::Unknown {} => None,
                Type::Tensor { shape, .. } => shape.get(index).map(Self::Expr),
                Type::Tuple { types } => types.get(index).map(Self::Type),
                Type::Function { params, results } => params
                    .get(index)
                    .or_else(|| results.get(index - params.len().min(index)))
                    .filter(|_| index < params.len() + results.len())
                    .map(Self::Type),
            },
        }
    }
}

impl<'a> Verifier<'a> {
    pub(super) fn expr(&mut self, expr: &'a ExprRef, span: Span) {
        if !self.is_full() {
            self.walk(Item::Expr(expr), span);
        }
    }

    pub(super) fn ty(&mut self, ty: &'a TypeRef, span: Span) {
        if !self.is_full() {
            self.walk(Item::Type(ty), span);
        }
    }

    fn walk(&mut self, root: Item<'a>, span: Span) {
        if self.enter(root, span).is_some() {
            return;
        }
        while let Some(frame) = self.frames.last_mut() {
            let (child, span) = (frame.item.child(frame.next), frame.span);
            frame.next += 1;
            let needs = match child {
                Some(child) => self.enter(child, span),
                None => self.leave(),
            };
            if let (Some(needs), Some(outer)) = (needs, self.frames.last_mut()) {
                outer.needs = outer.needs.max(needs);
            }
        }
    }

    /// The latest definition that something known uses; otherwise puts it on the stack.
    fn enter(&mut self, item: Item<'a>, span: Span) -> Option<usize> {
        match item {
            Item::Type(ty) => {
                if matches!(&**ty, Type::Scalar { .. } | Type::Unknown {}) {
                    return Some(0);
                }
                if let Some(&(then, needs)) = self.types.get(&ty.node().id())
                    && self.defined.still(then, needs)
                {
                    return Some(needs);
                }
                self.frames.push(Frame { item, next: 0, needs: 0, span });
            }
            Item::Expr(expr) => {
                if expr.is_var() {
                    return Some(self.use_of(expr, span));
                }
                if expr.is_const() {
                    self.constant(expr, span);
                    return Some(0);
                }
                if expr.node().owners() > 1
                    && let Some(&(then, needs)) = self.exprs.get(&expr.node().id())
                    && self.defined.still(then, needs)
                {
                    return Some(needs);
                }
                let own = expr.span();
                let span = if own.is_unknown() { span } else { own };
                self.frames.push(Frame { item, next: 0, needs: 0, span });
            }
        }
        None
    }

    fn leave(&mut self) -> Option<usize> {
        let Frame { item, needs, span, .. } = self.frames.pop()?;
        let now = self.defined.now();
        match item {
            Item::Type(ty) => {
                if self.types.insert(ty.node().id(), (now, needs)).is_none() {
                    self.check_type(ty, span);
                }
            }
            Item::Expr(expr) => {
                let known = expr.node().owners() > 1
                    && self.exprs.insert(expr.node().id(), (now, needs)).is_some();
                if !known && !self.is_full() {
                    self.operation(expr, span);
                }
            }
        }
        Some(needs)
    }

    fn constant(&mut self, expr: &Expr, span: Span) {
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
                        self.problem(span, message);
                    }
                }
                None => self.wrong_constant("ConstInt", "an integer type", expr.ty(), span),
            },
            Expr::ConstFloat { value, .. } => match dtype.filter(|dtype| dtype.is_float()) {
                Some(dtype) => {
                    let rounded = crate::float::round_to(dtype, *value);
                    if rounded.to_bits() != value.to_bits() && !(rounded.is_nan() && value.is_nan())
                    {
                        let message =
                            format!("{value:?} is not a value of {}", dtype.document_name());
                        self.problem_with_help(
                            span,
                            message,
                            format!("the nearest is {rounded:?}"),
                        );
                    }
                }
                None => self.wrong_constant("ConstFloat", "a float type", expr.ty(), span),
            },
            Expr::ConstBool { .. } if dtype != Some(DataType::Bool) => {
                self.wrong_constant("ConstBool", "BOOL", expr.ty(), span);
            }
            _ => {}
        }
    }

    fn wrong_constant(&mut self, what: &str, needs: &str, ty: &TypeRef, span: Span) {
        let message = format!("a {what} has the type {}; it needs {needs}", shown(ty));
        self.problem(span, message);
    }

    fn check_type(&mut self, ty: &TypeRef, span: Span) {
        if let Type::Tensor { shape, .. } = &**ty {
            for (index, dim) in shape.iter().enumerate() {
                // A dim that was written is what the complaint is about; a variable stands elsewhere.
                let span = match dim.span() {
                    own if own.is_unknown() || dim.is_var() => span,
                    own => own,
                };
                let integer = match &**dim.ty() {
                    Type::Scalar { dtype } => dtype.is_integer(),
                    Type::Unknown {} => true,
                    _ => false,
                };
                if !integer {
                    let message = format!(
                        "dim {index} of a tensor has the type {}; dims are integers",
                        shown(dim.ty())
                    );
                    self.problem(span, message);
                } else if let Some(size) = dim.as_int()
                    && size < 0
                {
                    self.problem(span, format!("dim {index} of a tensor is {size}, below zero"));
                }
            }
        }
    }

    fn operation(&mut self, expr: &'a Expr, span: Span) {
        if let Some((op, left, right)) = expr.as_binary() {
            self.binary(op, [left, right], expr.ty(), span);
        } else if let Some((op, operand)) = expr.as_unary() {
            self.unary(op, operand, expr.ty(), span);
        }
        match expr {
            Expr::Call { callee, args, .. } if callee.is_global() => {
                self.call(callee.name(), args, expr.ty(), span);
            }
            Expr::TupleGetItemExpr { tuple, index, .. } => match &**tuple.ty() {
                Type::Tuple { types } => match types.get(*index as usize) {
                    Some(element) if self.fits(element, expr.ty()) => {}
                    Some(element) => {
                        let message = format!(
                            "element {index} has the type {}, not {}",
                            shown(element),
                            shown(expr.ty())
                        );
                        self.problem(span, message);
                    }
                    None => {
                        let message = format!(
                            "tuple index {index} is out of range: the tuple has {}",
                            counted(types.len(), "element")
                        );
                        self.problem(span, message);
                    }
                },
                Type::Unknown {} => {}
                _ => {
                    let message = format!(
                        "element {index} of a value of type {}, which is not a tuple",
                        shown(tuple.ty())
                    );
                    self.problem(span, message);
                }
            },
            Expr::MakeTuple { elements, .. } => {
                let fit = match &**expr.ty() {
                    Type::Tuple { types } => {
                        types.len() == elements.len()
                            && types.iter().zip(elements).all(|(ty, e)| self.fits(ty, e.ty()))
                    }
                    Type::Unknown {} => true,
                    _ => false,
                };
                if !fit {
                    let message = format!(
                        "a tuple of {} cannot have the type {}",
                        counted(elements.len(), "element"),
                        shown(expr.ty())
                    );
                    self.problem(span, message);
                }
            }
            _ => {}
        }
    }

    /// The data type of an operand that is a scalar or a tensor; complains about others.
    fn operand(&mut self, name: &str, operand: &ExprRef, span: Span) -> Option<DataType> {
        match &**operand.ty() {
            Type::Scalar { dtype } | Type::Tensor { dtype, .. } => Some(*dtype),
            Type::Unknown {} => None,
            Type::Tuple { .. } | Type::Function { .. } => {
                let message = format!(
                    "an operand of {name} has the type {}; it needs a scalar or a tensor",
                    shown(operand.ty())
                );
                self.problem(span, message);
                None
            }
        }
    }

    fn binary(&mut self, op: BinaryOp, operands: [&ExprRef; 2], ty: &TypeRef, span: Span) {
        let name = op.name();
        let dtypes = operands.map(|operand| self.operand(name, operand, span));
        for dtype in dtypes.into_iter().flatten() {
            if !op.class().holds(dtype) {
                let message = format!("{name} of {} has no meaning", dtype.document_name());
                self.problem(span, message);
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
            self.problem_with_help(span, message, "cast one of them");
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
                shown(left.ty()),
                shown(right.ty())
            );
            self.problem(span, message);
        }
        self.result(name, op.is_truth(), dtypes.into_iter().flatten().next(), ty, span);
        self.shape_of_result(name, &operands, ty, span);
    }

    /// The result of an operator: the data type of its operands, unless it is a truth value.
    fn result(
        &mut self,
        name: &str,
        truth: bool,
        operand: Option<DataType>,
        ty: &TypeRef,
        span: Span,
    ) {
        match &**ty {
            Type::Unknown {} => {}
            Type::Scalar { dtype } | Type::Tensor { dtype, .. } => {
                if truth {
                    if !dtype.is_bool() && !dtype.is_integer() {
                        let message = format!(
                            "{name} gives a truth value, which {} cannot hold",
                            dtype.document_name()
                        );
                        self.problem_with_help(span, message, "give it BOOL or an integer type");
                    }
                } else if let Some(operand) = operand
                    && operand != *dtype
                {
                    let message = format!(
                        "{name} of {} gives {}, not {}",
                        operand.document_name(),
                        operand.document_name(),
                        dtype.document_name()
                    );
                    self.problem_with_help(span, message, "cast the result");
                }
            }
            Type::Tuple { .. } | Type::Function { .. } => {
                let message = format!("{name} cannot have the type {}", shown(ty));
                self.problem(span, message);
            }
        }
    }

    /// Operators work element by element: of tensors they give a tensor of that shape, of scalars
    /// a scalar.
    fn shape_of_result(&mut self, name: &str, operands: &[&ExprRef], ty: &TypeRef, span: Span) {
        let shape_of = |ty: &TypeRef| match &**ty {
            Type::Tensor { shape, .. } => Some(shape.clone()),
            _ => None,
        };
        let scalars = operands.iter().all(|operand| operand.ty().as_scalar().is_some());
        let known = operands.iter().find_map(|operand| shape_of(operand.ty()));
        let fine = match (known, &**ty) {
            (Some(_), Type::Scalar { .. }) => false,
            (Some(known), Type::Tensor { shape, .. }) => {
                known.len() == shape.len()
                    && known.iter().zip(shape).all(|(a, b)| match (a.as_int(), b.as_int()) {
                        (Some(a), Some(b)) => a == b,
                        _ => true,
                    })
            }
            (None, Type::Tensor { .. }) => !scalars,
            _ => true,
        };
        if !fine {
            let kind = if scalars { "a scalar" } else { "a tensor of their shape" };
            let message = format!("{name} of its operands gives {kind}, not {}", shown(ty));
            self.problem(span, message);
        }
    }

    fn unary(&mut self, op: UnaryOp, operand: &ExprRef, ty: &TypeRef, span: Span) {
        let name = op.name();
        let dtype = self.operand(name, operand, span);
        if let Some(dtype) = dtype.filter(|&dtype| !op.class().holds(dtype)) {
            let message = format!("{name} of {} has no meaning", dtype.document_name());
            self.problem(span, message);
            return;
        }
        if op == UnaryOp::Cast {
            if ty.dtype().is_none() && !ty.is_unknown() {
                let message = format!("a cast to {}; it needs a scalar or a tensor", shown(ty));
                self.problem(span, message);
            }
        } else {
            self.result(name, op == UnaryOp::Not, dtype, ty, span);
        }
        self.shape_of_result(name, &[operand], ty, span);
    }

    fn call(&mut self, name: &str, args: &[ExprRef], ty: &TypeRef, span: Span) {
        let Some(program) = self.program else { return };
        let Some(function) = program.get_function(name) else {
            self.unknown_function(name, span);
            return;
        };
        if args.len() != function.params.len() {
            let message = format!(
                "`{name}` takes {}, found {}",
                counted(function.params.len(), "argument"),
                args.len()
            );
            self.problem(span, message);
        } else {
            for (param, arg) in function.params.iter().zip(args) {
                if !self.fits(param.ty(), arg.ty()) {
                    let message = format!(
                        "`{name}` takes {} for `{}`, found {}",
                        shown(param.ty()),
                        param.name(),
                        shown(arg.ty())
                    );
                    self.problem(span, message);
                }
            }
        }
        let result = call_type(&function.return_types);
        if !self.fits(&result, ty) {
            let message = format!("`{name}` returns {}, not {}", shown(&result), shown(ty));
            self.problem(span, message);
        }
    }
}

/// The type of a call of a function that returns these.
pub(crate) fn call_type(return_types: &[TypeRef]) -> TypeRef {
    match return_types {
        [one] => one.clone(),
        several => Type::tuple(several.iter().cloned()),
    }
}
