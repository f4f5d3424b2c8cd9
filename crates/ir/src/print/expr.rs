//! Writing expressions and types, with a stack of what is still to be written.

use std::fmt::Write as _;

use sapwood_types::DataType;

use super::Printer;
use super::survey::Item;
use crate::names::{is_dotted, is_plain_function, quoted};
use crate::nodes::operators::{Spelling, precedence};
use crate::nodes::{BinaryOp, Callee, Expr, ExprRef, Type, TypeRef, UnaryOp};

/// Something still to be written.
pub(super) enum Task<'a> {
    Expr(&'a ExprRef, u8),
    /// The expression without its `pi.typed(…)`.
    Untyped(&'a ExprRef, u8),
    Type(&'a TypeRef),
    Text(&'static str),
    Index(u32),
}

/// The data type of an integer that is written bare.
pub(crate) const PLAIN_INT: DataType = DataType::I64;
/// The data type of a float that is written bare.
pub(crate) const PLAIN_FLOAT: DataType = DataType::F32;

/// Whether a constant is written as a bare number without a sign.
pub(super) fn is_bare_positive(expr: &Expr) -> bool {
    match expr {
        Expr::ConstInt { value, r#type, .. } => {
            value.get() >= 0 && r#type.as_scalar() == Some(PLAIN_INT)
        }
        Expr::ConstFloat { value, r#type, .. } => {
            value.is_finite() && value.is_sign_positive() && r#type.as_scalar() == Some(PLAIN_FLOAT)
        }
        _ => false,
    }
}

impl<'a> Printer<'a> {
    /// An expression; parts that have a name and are not written yet are named in place.
    pub(super) fn inline(&mut self, expr: &'a ExprRef) {
        self.run(Task::Expr(expr, precedence::LOWEST));
    }

    pub(super) fn ty(&mut self, ty: &'a TypeRef) {
        self.run(Task::Type(ty));
    }

    /// Writes the definition of each part of `root` that has a name and is not written yet, on
    /// a line of its own. With `closed_only`, those without variables.
    pub(super) fn hoist(&mut self, root: Item<'a>, indent: usize, closed_only: bool) {
        if !self.survey.any_named || root.is_leaf() {
            return;
        }
        let mut stack = vec![(root, 0usize)];
        while let Some((item, next)) = stack.last_mut() {
            if *next == 0 && (item.is_leaf() || self.is_written(*item)) {
                stack.pop();
                continue;
            }
            let child = item.child(*next).or_else(|| {
                let first_beyond = *next == 0 || item.child(*next - 1).is_some();
                if first_beyond { item.written_type().map(Item::Type) } else { None }
            });
            *next += 1;
            if let Some(child) = child {
                stack.push((child, 0));
                continue;
            }
            let item = *item;
            stack.pop();
            if self.is_named(item) && (item.is_closed() || !closed_only) {
                self.indent(indent);
                match item {
                    Item::Expr(expr) => self.run(Task::Expr(expr, precedence::LOWEST)),
                    Item::Type(ty) => self.run(Task::Type(ty)),
                }
                self.out.push('\n');
            }
        }
    }

    fn part(&mut self, item: Item<'a>) -> Option<&mut super::survey::Part> {
        if !self.survey.any_named || item.is_leaf() {
            return None;
        }
        let parts =
            if item.is_closed() { &mut self.survey.closed } else { &mut self.survey.local.parts };
        parts.get_mut(&item.id()).filter(|part| part.is_named())
    }

    fn is_named(&mut self, item: Item<'a>) -> bool {
        self.part(item).is_some()
    }

    fn is_written(&mut self, item: Item<'a>) -> bool {
        self.part(item).is_some_and(|part| part.written > 0)
    }

    /// If the part has a name: writes it if the part is written already, else opens its definition.
    /// True if nothing more is to be written.
    fn name(&mut self, item: Item<'a>) -> bool {
        let Some(part) = self.part(item) else { return false };
        let letter = if item.is_closed() { 'c' } else { 's' };
        if let Some(number) = part.written.checked_sub(1) {
            let _ = write!(self.out, "{letter}{number}");
            return true;
        }
        let mut number = if letter == 'c' { self.next_closed } else { self.next_local };
        while !self.survey.part_name_is_free(&format!("{letter}{number}")) {
            number += 1;
        }
        *(if letter == 'c' { &mut self.next_closed } else { &mut self.next_local }) = number + 1;
        if let Some(part) = self.part(item) {
            part.written = number + 1;
        }
        let _ = write!(self.out, "({letter}{number} := ");
        self.tasks.push(Task::Text(")"));
        false
    }

    fn run(&mut self, first: Task<'a>) {
        let bottom = self.tasks.len();
        self.tasks.push(first);
        while self.tasks.len() > bottom {
            // Four bytes are the most that a character has.
            if self.most.is_some_and(|most| self.out.len() > 4 * most) {
                self.tasks.truncate(bottom);
                return;
            }
            match self.tasks.pop() {
                Some(Task::Text(text)) => self.out.push_str(text),
                Some(Task::Index(index)) => {
                    let _ = write!(self.out, "[{index}]");
                }
                Some(Task::Expr(expr, least)) => self.expr(expr, least),
                Some(Task::Untyped(expr, least)) => self.untyped(expr, least),
                Some(Task::Type(ty)) => self.one_type(ty),
                None => {}
            }
        }
    }

    fn expr(&mut self, expr: &'a ExprRef, least: u8) {
        match &**expr {
            Expr::Var { .. } | Expr::IterArg { .. } => {
                match self.survey.local.vars.get(&expr.node().id()) {
                    Some(named) => self.out.push_str(&named.name),
                    None => self.out.push_str(expr.name().unwrap_or("_")),
                }
                return;
            }
            Expr::ConstInt { .. } | Expr::ConstFloat { .. } | Expr::ConstBool { .. } => {
                self.constant(expr, least);
                return;
            }
            _ => {}
        }
        let mut least = least;
        if self.survey.any_named {
            let before = self.tasks.len();
            if self.name(Item::Expr(expr)) {
                return;
            }
            if self.tasks.len() > before {
                least = precedence::LOWEST;
            }
        }
        if expr.has_natural_type() {
            self.untyped(expr, least);
        } else {
            self.out.push_str("pi.typed(");
            self.tasks.push(Task::Text(")"));
            self.tasks.push(Task::Type(expr.ty()));
            self.tasks.push(Task::Text(", "));
            self.tasks.push(Task::Untyped(expr, precedence::LOWEST));
        }
    }

    fn constant(&mut self, expr: &Expr, least: u8) {
        let dtype = expr.ty().as_scalar();
        let (negative, bare) = match expr {
            Expr::ConstBool { value, .. } => {
                self.out.push_str(if *value { "True" } else { "False" });
                return;
            }
            Expr::ConstInt { value, .. } => (value.get() < 0, dtype == Some(PLAIN_INT)),
            Expr::ConstFloat { value, .. } => {
                (value.is_sign_negative(), dtype == Some(PLAIN_FLOAT) && value.is_finite())
            }
            _ => return,
        };
        let parens = bare && negative && least > precedence::SIGN;
        if !bare {
            self.out.push_str("pi.");
            self.out.push_str(dtype.map_or("UNKNOWN", DataType::document_name));
        }
        if parens || !bare {
            self.out.push('(');
        }
        match expr {
            Expr::ConstInt { value, .. } => match i64::try_from(value.get()) {
                Ok(small) => self.integer(small),
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

    fn integer(&mut self, value: i64) {
        if value < 0 {
            self.out.push('-');
        }
        let mut digits = [0u8; 20];
        let mut at = digits.len();
        let mut rest = value.unsigned_abs();
        loop {
            at -= 1;
            digits[at] = b'0' + (rest % 10) as u8;
            rest /= 10;
            if rest == 0 {
                break;
            }
        }
        self.out.push_str(std::str::from_utf8(&digits[at..]).unwrap_or(""));
    }

    /// Writes an operation. What follows its first operand goes on the stack.
    fn untyped(&mut self, expr: &'a ExprRef, least: u8) {
        if let Some((op, left, right)) = expr.as_binary() {
            self.binary(op, left, right, least);
            return;
        }
        if let Some((op, operand)) = expr.as_unary() {
            self.unary(op, operand, expr.ty(), least);
            return;
        }
        match &**expr {
            Expr::Call { callee, args, .. } => {
                self.callee(callee);
                self.out.push('(');
                self.tasks.push(Task::Text(")"));
                self.list(args);
            }
            Expr::TupleGetItemExpr { tuple, index, .. } => {
                self.tasks.push(Task::Index(*index));
                self.tasks.push(Task::Expr(tuple, precedence::ATOM));
            }
            Expr::MakeTuple { elements, .. } => {
                self.out.push('(');
                self.tasks.push(Task::Text(if elements.len() == 1 { ",)" } else { ")" }));
                self.list(elements);
            }
            _ => {}
        }
    }

    fn binary(&mut self, op: BinaryOp, left: &'a ExprRef, right: &'a ExprRef, least: u8) {
        let own = op.precedence();
        match op.spelling() {
            Spelling::Call(name) => {
                self.out.push_str(name);
                self.out.push('(');
                self.tasks.push(Task::Text(")"));
                self.tasks.push(Task::Expr(right, precedence::LOWEST));
                self.tasks.push(Task::Text(", "));
                self.tasks.push(Task::Expr(left, precedence::LOWEST));
            }
            Spelling::Sign(_) => {
                if own < least {
                    self.out.push('(');
                    self.tasks.push(Task::Text(")"));
                }
                let (for_left, for_right) = if op == BinaryOp::Pow {
                    (precedence::ATOM, precedence::SIGN)
                } else if op.is_comparison() {
                    (own + 1, own + 1)
                } else {
                    (own, own + 1)
                };
                self.tasks.push(Task::Expr(right, for_right));
                self.tasks.push(Task::Text(op.spaced()));
                self.tasks.push(Task::Expr(left, for_left));
            }
        }
    }

    fn unary(&mut self, op: UnaryOp, operand: &'a ExprRef, ty: &'a TypeRef, least: u8) {
        let own = op.precedence();
        match op.spelling() {
            // `-5` is a constant.
            Spelling::Sign("-") if is_bare_positive(operand) => {
                self.out.push_str("pi.neg(");
                self.tasks.push(Task::Text(")"));
                self.tasks.push(Task::Expr(operand, precedence::LOWEST));
            }
            Spelling::Sign(sign) => {
                if own < least {
                    self.out.push('(');
                    self.tasks.push(Task::Text(")"));
                }
                self.out.push_str(sign);
                self.tasks.push(Task::Expr(operand, own));
            }
            Spelling::Call(name) => {
                self.out.push_str(name);
                self.out.push('(');
                self.tasks.push(Task::Text(")"));
                if op == UnaryOp::Cast {
                    self.tasks.push(Task::Type(ty));
                    self.tasks.push(Task::Text(", "));
                }
                self.tasks.push(Task::Expr(operand, precedence::LOWEST));
            }
        }
    }

    fn callee(&mut self, callee: &Callee) {
        match callee {
            Callee::Op { name } if is_dotted(name) => {
                self.out.push_str("pi.op.");
                self.out.push_str(name);
            }
            Callee::Op { name } => {
                let _ = write!(self.out, "pi.op({})", quoted(name));
            }
            Callee::GlobalVar { name } if is_plain_function(name) => self.out.push_str(name),
            Callee::GlobalVar { name } => {
                let _ = write!(self.out, "pi.global_({})", quoted(name));
            }
        }
    }

    /// How many parts of a list can show.
    fn most_parts(&self) -> usize {
        self.most.map_or(usize::MAX, |most| 4 * most)
    }

    /// Puts expressions with commas between them on the stack.
    fn list(&mut self, exprs: &'a [ExprRef]) {
        let shown = &exprs[..exprs.len().min(self.most_parts())];
        for (index, expr) in shown.iter().enumerate().rev() {
            self.tasks.push(Task::Expr(expr, precedence::LOWEST));
            if index > 0 {
                self.tasks.push(Task::Text(", "));
            }
        }
    }

    fn types(&mut self, types: &'a [TypeRef]) {
        let shown = &types[..types.len().min(self.most_parts())];
        for (index, ty) in shown.iter().enumerate().rev() {
            self.tasks.push(Task::Type(ty));
            if index > 0 {
                self.tasks.push(Task::Text(", "));
            }
        }
    }

    fn one_type(&mut self, ty: &'a TypeRef) {
        if self.survey.any_named && self.name(Item::Type(ty)) {
            return;
        }
        match &**ty {
            Type::Scalar { dtype } => {
                self.out.push_str("pi.");
                self.out.push_str(dtype.document_name());
            }
            Type::Unknown {} => self.out.push_str("pi.UnknownType()"),
            Type::Tensor { dtype, shape } => {
                let _ = write!(self.out, "pi.TensorType(pi.{}, [", dtype.document_name());
                self.tasks.push(Task::Text("])"));
                self.list(shape);
            }
            Type::Tuple { types } => {
                self.out.push_str("pi.TupleType([");
                self.tasks.push(Task::Text("])"));
                self.types(types);
            }
            Type::Function { params, results } => {
                self.out.push_str("pi.FunctionType([");
                self.tasks.push(Task::Text("])"));
                self.types(results);
                self.tasks.push(Task::Text("], ["));
                self.types(params);
            }
        }
    }
}
