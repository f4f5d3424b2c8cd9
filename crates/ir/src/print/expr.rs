//! Expressions and types, written with an explicit stack of tasks.

use std::fmt::Write as _;

use sapwood_ptir::AttrKind;
use sapwood_structural::{Seq, Value};
use sapwood_types::{DataType, write_decimal};

use super::Printer;
use super::plan::PrintItem;
use crate::call_types::SignatureTypes;
use crate::names::{is_bare_function_name, is_dotted_name, python_string_literal};
use crate::nodes::operators::{OperatorSyntax, precedence};
use crate::nodes::{BinaryOp, Callee, Expr, ExprRef, Type, TypeRef, UnaryOp, cast_data_type};
use crate::ops::{is_matmul, named_values, sequence};
use crate::parse::bare_number_type;

/// A piece of text to write.
pub(super) enum PrintTask<'a> {
    Expr(&'a ExprRef, u8),
    /// An expression next to a value; a number is bare if it has the type that a bare number takes there.
    ExprNextTo(&'a ExprRef, u8, NumberContext),
    /// The expression without a surrounding `pi.typed(…)`.
    Operation(&'a ExprRef, u8),
    Type(&'a TypeRef),
    Text(&'static str),
    Index(u32),
    Attrs(&'a Callee, bool),
}

/// Returns whether an expression is an integer or float constant.
pub(super) fn is_number(expr: &Expr) -> bool {
    matches!(expr, Expr::ConstInt { .. } | Expr::ConstFloat { .. })
}

/// The place of a number, which decides the type that it has if it is bare.
#[derive(Clone, Copy)]
pub(super) enum NumberContext {
    /// It takes this data type if it can hold the number.
    NextTo(Option<DataType>),
    /// It is always written with its type.
    Explicit,
}

impl NumberContext {
    /// Returns the context of an operand next to another one.
    fn of_operand(operand: &Expr, other: &Expr) -> Self {
        if !is_number(other) {
            return Self::NextTo(other.ty().dtype());
        }
        // Two numbers are bare only if both have the types of bare numbers alone.
        let alone = Self::NextTo(None);
        if alone.is_bare(operand) && alone.is_bare(other) { alone } else { Self::Explicit }
    }

    /// Returns whether a constant is written as a bare number here.
    pub(super) fn is_bare(self, expr: &Expr) -> bool {
        let Self::NextTo(other) = self else { return false };
        let dtype = expr.ty().as_scalar();
        match expr {
            Expr::ConstInt { value, .. } => {
                let fits = |(least, most): (i128, i128)| (least..=most).contains(&value.get());
                dtype == Some(bare_number_type(true, other))
                    && (other.is_none() || dtype.and_then(DataType::integer_range).is_none_or(fits))
            }
            Expr::ConstFloat { value, .. } => {
                value.is_finite() && dtype == Some(bare_number_type(false, other))
            }
            _ => false,
        }
    }
}

/// The data type of an integer literal without a type.
pub(crate) const BARE_INT_TYPE: DataType = DataType::I64;
/// The data type of a float literal without a type.
pub(crate) const BARE_FLOAT_TYPE: DataType = DataType::F32;

/// Returns whether a constant is written as a bare number without a minus.
pub(super) fn is_bare_unsigned_number(expr: &Expr) -> bool {
    match expr {
        Expr::ConstInt { value, r#type, .. } => {
            value.get() >= 0 && r#type.as_scalar() == Some(BARE_INT_TYPE)
        }
        Expr::ConstFloat { value, r#type, .. } => {
            value.is_finite()
                && value.is_sign_positive()
                && r#type.as_scalar() == Some(BARE_FLOAT_TYPE)
        }
        _ => false,
    }
}

impl<'a> Printer<'a> {
    /// Writes an expression; a named part at its first occurrence is defined in place.
    pub(super) fn write_expr(&mut self, expr: &'a ExprRef) {
        self.run_tasks(PrintTask::Expr(expr, precedence::LOWEST));
    }

    /// Writes an expression whose place gives a number this data type.
    pub(super) fn write_expr_like(&mut self, expr: &'a ExprRef, dtype: Option<DataType>) {
        self.write_in_context(expr, NumberContext::NextTo(dtype));
    }

    /// Writes an expression whose numbers are bare if the context gives them their type.
    pub(super) fn write_in_context(&mut self, expr: &'a ExprRef, context: NumberContext) {
        self.run_tasks(PrintTask::ExprNextTo(expr, precedence::LOWEST, context));
    }

    pub(super) fn write_type(&mut self, ty: &'a TypeRef) {
        self.run_tasks(PrintTask::Type(ty));
    }

    /// Writes each named part of `root` that is not defined yet on its own line; with `closed_only`, only parts without variables.
    pub(super) fn hoist_named_parts(
        &mut self,
        root: PrintItem<'a>,
        indent: usize,
        closed_only: bool,
    ) {
        if !self.plan.has_named_parts || root.is_leaf() {
            return;
        }
        let program = self.plan.program;
        let mut stack = vec![(root, 0usize)];
        while let Some((item, next)) = stack.last_mut() {
            if *next == 0 && (item.is_leaf() || self.is_written(*item)) {
                stack.pop();
                continue;
            }
            let child = item.child(*next).or_else(|| {
                let first_beyond = *next == 0 || item.child(*next - 1).is_some();
                if first_beyond { item.written_type(program).map(PrintItem::Type) } else { None }
            });
            *next += 1;
            if let Some(child) = child {
                stack.push((child, 0));
                continue;
            }
            let item = *item;
            stack.pop();
            if self.is_named(item) && (item.is_closed() || !closed_only) {
                self.write_indent(indent);
                match item {
                    PrintItem::Expr(expr) => {
                        self.run_tasks(PrintTask::Expr(expr, precedence::LOWEST));
                    }
                    PrintItem::Type(ty) => self.run_tasks(PrintTask::Type(ty)),
                }
                self.out.push('\n');
            }
        }
    }

    fn named_part(&mut self, item: PrintItem<'a>) -> Option<&mut super::plan::PartInfo> {
        if !self.plan.has_named_parts || item.is_leaf() {
            return None;
        }
        let parts =
            if item.is_closed() { &mut self.plan.closed_parts } else { &mut self.plan.local.parts };
        parts.get_mut(&item.id()).filter(|part| part.is_named())
    }

    fn is_named(&mut self, item: PrintItem<'a>) -> bool {
        self.named_part(item).is_some()
    }

    fn is_written(&mut self, item: PrintItem<'a>) -> bool {
        self.named_part(item).is_some_and(|part| part.written > 0)
    }

    /// Writes the name of a named part, or opens its definition at the first occurrence.
    ///
    /// Returns true if nothing more has to be written.
    fn write_part_name(&mut self, item: PrintItem<'a>) -> bool {
        let Some(part) = self.named_part(item) else { return false };
        let letter = if item.is_closed() { 'c' } else { 's' };
        if let Some(number) = part.written.checked_sub(1) {
            let _ = write!(self.out, "{letter}{number}");
            return true;
        }
        let mut number = if letter == 'c' { self.next_closed } else { self.next_local };
        while !self.plan.part_name_is_free(&format!("{letter}{number}")) {
            number += 1;
        }
        *(if letter == 'c' { &mut self.next_closed } else { &mut self.next_local }) = number + 1;
        if let Some(part) = self.named_part(item) {
            part.written = number + 1;
        }
        let _ = write!(self.out, "({letter}{number} := ");
        self.tasks.push(PrintTask::Text(")"));
        false
    }

    fn run_tasks(&mut self, first: PrintTask<'a>) {
        let bottom = self.tasks.len();
        self.tasks.push(first);
        while self.tasks.len() > bottom {
            // A character has at most four bytes.
            if self.max_chars.is_some_and(|max| self.out.len() > 4 * max) {
                self.tasks.truncate(bottom);
                return;
            }
            match self.tasks.pop() {
                Some(PrintTask::Text(text)) => self.out.push_str(text),
                Some(PrintTask::Index(index)) => {
                    let _ = write!(self.out, "[{index}]");
                }
                Some(PrintTask::Expr(expr, min_precedence)) => {
                    self.begin_expr(expr, min_precedence, NumberContext::NextTo(None));
                }
                Some(PrintTask::ExprNextTo(expr, min_precedence, context)) => {
                    self.begin_expr(expr, min_precedence, context);
                }
                Some(PrintTask::Attrs(callee, comma)) => self.write_attrs(callee, comma),
                Some(PrintTask::Operation(expr, min_precedence)) => {
                    self.write_operation(expr, min_precedence);
                }
                Some(PrintTask::Type(ty)) => self.begin_type(ty),
                None => {}
            }
        }
    }

    fn begin_expr(&mut self, expr: &'a ExprRef, min_precedence: u8, context: NumberContext) {
        match &**expr {
            Expr::Var { .. } | Expr::IterArg { .. } => {
                match self.plan.local.vars.get(&expr.node().id()) {
                    Some(named) => self.out.push_str(&named.name),
                    None => self.out.push_str(expr.name().unwrap_or("_")),
                }
                return;
            }
            Expr::ConstInt { .. } | Expr::ConstFloat { .. } | Expr::ConstBool { .. } => {
                self.write_constant(expr, min_precedence, context);
                return;
            }
            _ => {}
        }
        let mut min_precedence = min_precedence;
        if self.plan.has_named_parts {
            let before = self.tasks.len();
            if self.write_part_name(PrintItem::Expr(expr)) {
                return;
            }
            if self.tasks.len() > before {
                min_precedence = precedence::LOWEST;
            }
        }
        if expr.has_inferred_type(self.plan.program) {
            self.write_operation(expr, min_precedence);
        } else {
            self.out.push_str("pi.typed(");
            self.tasks.push(PrintTask::Text(")"));
            self.tasks.push(PrintTask::Type(expr.ty()));
            self.tasks.push(PrintTask::Text(", "));
            self.tasks.push(PrintTask::Operation(expr, precedence::LOWEST));
        }
    }

    fn write_constant(&mut self, expr: &Expr, min_precedence: u8, context: NumberContext) {
        let dtype = expr.ty().as_scalar();
        let (negative, bare) = match expr {
            Expr::ConstBool { value, .. } => {
                self.out.push_str(if *value { "True" } else { "False" });
                return;
            }
            Expr::ConstInt { value, .. } => (value.get() < 0, context.is_bare(expr)),
            Expr::ConstFloat { value, .. } => (value.is_sign_negative(), context.is_bare(expr)),
            _ => return,
        };
        let parens = bare && negative && min_precedence > precedence::UNARY;
        if !bare {
            self.out.push_str("pi.");
            self.out.push_str(dtype.map_or("UNKNOWN", DataType::document_name));
        }
        if parens || !bare {
            self.out.push('(');
        }
        match expr {
            Expr::ConstInt { value, .. } => match i64::try_from(value.get()) {
                Ok(small) => self.write_integer(small),
                Err(_) => {
                    let _ = write!(self.out, "{:?}", value.get());
                }
            },
            Expr::ConstFloat { value, .. } if value.is_nan() => self.out.push_str("\"nan\""),
            Expr::ConstFloat { value, .. } if value.is_infinite() => {
                self.out.push_str(if negative { "\"-inf\"" } else { "\"inf\"" });
            }
            Expr::ConstFloat { value, .. } => {
                let _ = if dtype == Some(DataType::F32) {
                    write!(self.out, "{:?}", *value as f32)
                } else {
                    write!(self.out, "{value:?}")
                };
            }
            _ => {}
        }
        if parens || !bare {
            self.out.push(')');
        }
    }

    fn write_integer(&mut self, value: i64) {
        if value < 0 {
            self.out.push('-');
        }
        write_decimal(&mut self.out, value.unsigned_abs());
    }

    /// Writes the start of an operation up to its first operand, and pushes the rest.
    fn write_operation(&mut self, expr: &'a ExprRef, min_precedence: u8) {
        if let Some((op, left, right)) = expr.as_binary() {
            self.write_binary(op, left, right, min_precedence);
            return;
        }
        if let Some((op, operand)) = expr.as_unary() {
            self.write_unary(op, operand, expr, min_precedence);
            return;
        }
        match &**expr {
            Expr::Call { callee, args, .. } if is_matmul(callee, args) => {
                if precedence::PRODUCT < min_precedence {
                    self.out.push('(');
                    self.tasks.push(PrintTask::Text(")"));
                }
                self.tasks.push(PrintTask::Expr(&args[1], precedence::PRODUCT + 1));
                self.tasks.push(PrintTask::Text(" @ "));
                self.tasks.push(PrintTask::Expr(&args[0], precedence::PRODUCT));
            }
            Expr::Call { callee, args, .. } => {
                self.write_callee(callee);
                self.out.push('(');
                self.tasks.push(PrintTask::Text(")"));
                if callee.attrs().is_some() {
                    self.tasks.push(PrintTask::Attrs(callee, !args.is_empty()));
                }
                self.push_args(callee, args);
            }
            Expr::TupleGetItemExpr { tuple, index, .. } => {
                self.tasks.push(PrintTask::Index(*index));
                self.tasks.push(PrintTask::Expr(tuple, precedence::ATOM));
            }
            Expr::MakeTuple { elements, .. } => {
                self.out.push('(');
                self.tasks.push(PrintTask::Text(if elements.len() == 1 { ",)" } else { ")" }));
                self.push_exprs(elements);
            }
            _ => {}
        }
    }

    fn write_binary(
        &mut self,
        op: BinaryOp,
        left: &'a ExprRef,
        right: &'a ExprRef,
        min_precedence: u8,
    ) {
        let own = op.precedence();
        let (left_context, right_context) =
            (NumberContext::of_operand(left, right), NumberContext::of_operand(right, left));
        match op.syntax() {
            OperatorSyntax::Call(name) => {
                self.out.push_str(name);
                self.out.push('(');
                let (for_left, for_right) = (precedence::LOWEST, precedence::LOWEST);
                self.tasks.push(PrintTask::Text(")"));
                self.tasks.push(PrintTask::ExprNextTo(right, for_right, right_context));
                self.tasks.push(PrintTask::Text(", "));
                self.tasks.push(PrintTask::ExprNextTo(left, for_left, left_context));
            }
            OperatorSyntax::Symbol(_) => {
                if own < min_precedence {
                    self.out.push('(');
                    self.tasks.push(PrintTask::Text(")"));
                }
                let (for_left, for_right) = if op == BinaryOp::Pow {
                    (precedence::ATOM, precedence::UNARY)
                } else if op.is_comparison() {
                    (own + 1, own + 1)
                } else {
                    (own, own + 1)
                };
                self.tasks.push(PrintTask::ExprNextTo(right, for_right, right_context));
                self.tasks.push(PrintTask::Text(op.spaced_symbol()));
                self.tasks.push(PrintTask::ExprNextTo(left, for_left, left_context));
            }
        }
    }

    fn write_unary(
        &mut self,
        op: UnaryOp,
        operand: &'a ExprRef,
        expr: &'a ExprRef,
        min_precedence: u8,
    ) {
        let own = op.precedence();
        match op.syntax() {
            // `-5` would be a constant.
            OperatorSyntax::Symbol("-") if is_bare_unsigned_number(operand) => {
                self.out.push_str("pi.neg(");
                self.tasks.push(PrintTask::Text(")"));
                self.tasks.push(PrintTask::Expr(operand, precedence::LOWEST));
            }
            OperatorSyntax::Symbol(sign) => {
                if own < min_precedence {
                    self.out.push('(');
                    self.tasks.push(PrintTask::Text(")"));
                }
                self.out.push_str(sign);
                self.tasks.push(PrintTask::Expr(operand, own));
            }
            OperatorSyntax::Call(name) => {
                self.out.push_str(name);
                self.out.push('(');
                self.tasks.push(PrintTask::Text(")"));
                if op == UnaryOp::Cast {
                    match cast_data_type(expr) {
                        Some(dtype) => {
                            self.tasks.push(PrintTask::Text(dtype.document_name()));
                            self.tasks.push(PrintTask::Text("pi."));
                        }
                        None => self.tasks.push(PrintTask::Type(expr.ty())),
                    }
                    self.tasks.push(PrintTask::Text(", "));
                }
                self.tasks.push(PrintTask::Expr(operand, precedence::LOWEST));
            }
        }
    }

    fn write_callee(&mut self, callee: &Callee) {
        match callee {
            Callee::Op { name, .. } if is_dotted_name(name) => {
                self.out.push_str("pi.op.");
                self.out.push_str(name);
            }
            Callee::Op { name, .. } => {
                let _ = write!(self.out, "pi.op({})", python_string_literal(name));
            }
            Callee::GlobalVar { name, .. } if is_bare_function_name(name) => {
                self.out.push_str(name);
            }
            Callee::GlobalVar { name, .. } => {
                let _ = write!(self.out, "pi.global_({})", python_string_literal(name));
            }
        }
    }

    /// Pushes the tasks for the arguments of a call; a number is bare if the parameter, or the first argument of an op, has its type.
    fn push_args(&mut self, callee: &Callee, args: &'a [ExprRef]) {
        let shown = &args[..args.len().min(self.max_list_items())];
        let params = match self.plan.program {
            Some(program) if callee.is_global() => {
                SignatureTypes::of(program, callee.name()).map(|signature| signature.params)
            }
            _ => None,
        };
        // In an op, a number takes the type of the first argument that has one; a number with its type is such an argument.
        let in_op = if callee.is_global() || !shown.iter().any(|arg| is_number(arg)) {
            NumberContext::NextTo(None)
        } else {
            let first_dtype =
                args.iter().find_map(|arg| (!is_number(arg)).then(|| arg.ty().dtype()).flatten());
            let context = NumberContext::NextTo(first_dtype);
            let all_bare = args.iter().filter(|arg| is_number(arg)).all(|arg| context.is_bare(arg));
            if first_dtype.is_some() || all_bare { context } else { NumberContext::Explicit }
        };
        let context_of = |index: usize| match (is_number(&shown[index]), callee.is_global()) {
            (false, _) => NumberContext::NextTo(None),
            (true, false) => in_op,
            (true, true) => {
                let param = params.and_then(|params| params.get(index));
                NumberContext::NextTo(param.and_then(|param| param.ty().as_scalar()))
            }
        };
        for (index, expr) in shown.iter().enumerate().rev() {
            self.tasks.push(PrintTask::ExprNextTo(expr, precedence::LOWEST, context_of(index)));
            if index > 0 {
                self.tasks.push(PrintTask::Text(", "));
            }
        }
    }

    /// Writes the attributes of an op: `axes=[1], keepdims=True`.
    fn write_attrs(&mut self, callee: &Callee, comma: bool) {
        let Some(attrs) = callee.attrs() else { return };
        let registry = sapwood_ptir::Registry::builtin();
        let def = registry.by_name(callee.name());
        for (index, (name, value)) in named_values(attrs).into_iter().enumerate() {
            if index > 0 || comma {
                self.out.push_str(", ");
            }
            self.out.push_str(name);
            self.out.push('=');
            let is_dtype = def.is_some_and(|def| {
                def.attrs.iter().any(|row| row.name == name && row.kind == AttrKind::Type)
            });
            self.write_attr(value, is_dtype, 0);
        }
    }

    /// Writes the value of an attribute. Lists that nest deeper than attributes may, which only JSON can contain, are cut off.
    fn write_attr(&mut self, value: &Value, is_dtype: bool, depth: usize) {
        match value {
            Value::Bool(truth) => self.out.push_str(if *truth { "True" } else { "False" }),
            Value::Int(number) => self.write_integer(*number),
            Value::Float(number) if number.is_finite() => {
                let _ = write!(self.out, "{number:?}");
            }
            Value::Float(number) => {
                let name = match (number.is_nan(), *number > 0.0) {
                    (true, _) => "nan",
                    (false, true) => "inf",
                    (false, false) => "-inf",
                };
                let _ = write!(self.out, "pi.FP64(\"{name}\")");
            }
            Value::Str(text) => match text.as_str().parse::<DataType>() {
                Ok(dtype) if is_dtype && dtype.document_name() == text.as_str() => {
                    let _ = write!(self.out, "pi.{}", dtype.document_name());
                }
                _ => self.out.push_str(&python_string_literal(text.as_str())),
            },
            _ if depth >= sapwood_ptir::MAX_ATTR_DEPTH => self.out.push_str("[]"),
            other => {
                self.out.push('[');
                for (index, item) in sequence(other).iter().flat_map(Seq::as_slice).enumerate() {
                    if index > 0 {
                        self.out.push_str(", ");
                    }
                    self.write_attr(item, false, depth + 1);
                }
                self.out.push(']');
            }
        }
    }

    /// Returns the maximum number of list items to write.
    fn max_list_items(&self) -> usize {
        self.max_chars.map_or(usize::MAX, |max| 4 * max)
    }

    /// Pushes the tasks for expressions separated by commas.
    fn push_exprs(&mut self, exprs: &'a [ExprRef]) {
        let shown = &exprs[..exprs.len().min(self.max_list_items())];
        for (index, expr) in shown.iter().enumerate().rev() {
            self.tasks.push(PrintTask::Expr(expr, precedence::LOWEST));
            if index > 0 {
                self.tasks.push(PrintTask::Text(", "));
            }
        }
    }

    fn push_types(&mut self, types: &'a [TypeRef]) {
        let shown = &types[..types.len().min(self.max_list_items())];
        for (index, ty) in shown.iter().enumerate().rev() {
            self.tasks.push(PrintTask::Type(ty));
            if index > 0 {
                self.tasks.push(PrintTask::Text(", "));
            }
        }
    }

    fn begin_type(&mut self, ty: &'a TypeRef) {
        if self.plan.has_named_parts && self.write_part_name(PrintItem::Type(ty)) {
            return;
        }
        match &**ty {
            Type::Scalar { dtype, .. } => {
                self.out.push_str("pi.");
                self.out.push_str(dtype.document_name());
            }
            Type::Unknown { .. } => self.out.push_str("pi.UnknownType()"),
            Type::Tensor { dtype, shape, .. } => {
                let _ = write!(self.out, "pi.TensorType(pi.{}, [", dtype.document_name());
                self.tasks.push(PrintTask::Text("])"));
                self.push_exprs(shape);
            }
            Type::Tuple { types, .. } => {
                self.out.push_str("pi.TupleType([");
                self.tasks.push(PrintTask::Text("])"));
                self.push_types(types);
            }
            Type::Function { params, results, .. } => {
                self.out.push_str("pi.FunctionType([");
                self.tasks.push(PrintTask::Text("])"));
                self.push_types(results);
                self.tasks.push(PrintTask::Text("], ["));
                self.push_types(params);
            }
        }
    }
}
