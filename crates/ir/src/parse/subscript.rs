//! Subscripts: elements of tuples, and parts of tensors such as `x[1:, :k]`.

use sapwood_structural::{Facts, Seq, Value};
use sapwood_types::{DataType, Span};

use super::expr::OpenConstruct;
use super::part_size::{LinearSum, vars_of_dims};
use super::value::{ParsedValue, ParsedValueKind};
use super::{ParseFailed, ParseResult, Parser};
use crate::nodes::{Callee, Expr, ExprRef, Type, TypeRef};

/// An item between the brackets of a subscript.
enum SubscriptItem {
    Index(ParsedValue),
    Slice {
        start: Option<ParsedValue>,
        stop: Option<ParsedValue>,
        step: Option<ParsedValue>,
    },
    /// `...`
    Ellipsis,
}

/// The part of one axis that a subscript selects.
struct AxisPart {
    start: ExprRef,
    /// The end of a slice; of an index, the next number if it is a constant, otherwise unused.
    stop: ExprRef,
    step: i64,
    /// True if the axis is dropped, because an index selects one element.
    is_index: bool,
}

impl Parser<'_> {
    /// Reads the rest of `x[…]` after the bracket.
    pub(super) fn read_subscript(&mut self) -> ParseResult<()> {
        let mut items = Vec::new();
        // `name=` in it is no attribute of a call around it.
        self.open_constructs.push(OpenConstruct::Subscript);
        loop {
            items.push(self.read_subscript_item()?);
            if !self.eat(",") || self.at("]") {
                break;
            }
        }
        self.expect("]", "after the index")?;
        self.open_constructs.pop();
        let close = self.last_span;
        let Some(value) = self.value_stack.pop() else { return Err(ParseFailed) };
        let span = value.span.to(close);
        let expr = self.as_expr(value)?;
        let value = match &**expr.ty() {
            Type::Tensor { dtype, shape, .. } => {
                self.make_tensor_part(&expr, *dtype, shape, items, span)?
            }
            _ => self.make_tuple_element(&expr, &items, span)?,
        };
        self.value_stack.push(value);
        Ok(())
    }

    fn read_subscript_item(&mut self) -> ParseResult<SubscriptItem> {
        if self.eat(".") {
            self.expect(".", "in `...`")?;
            self.expect(".", "in `...`")?;
            return Ok(SubscriptItem::Ellipsis);
        }
        let start = if self.at(":") { None } else { Some(self.read_value()?) };
        if !self.eat(":") {
            return start.map(SubscriptItem::Index).ok_or(ParseFailed);
        }
        let at_end = |parser: &Self| parser.at(":") || parser.at(",") || parser.at("]");
        let stop = if at_end(self) { None } else { Some(self.read_value()?) };
        let mut step = None;
        if self.eat(":") && !at_end(self) {
            step = Some(self.read_value()?);
        }
        Ok(SubscriptItem::Slice { start, stop, step })
    }

    fn make_tuple_element(
        &mut self,
        tuple: &ExprRef,
        items: &[SubscriptItem],
        span: Span,
    ) -> ParseResult<ParsedValue> {
        let help = "an element of a tuple is written `t[0]`";
        let [SubscriptItem::Index(index)] = items else {
            let message = "expected the number of an element";
            return Err(self.report_with_help(span, message, help));
        };
        let place = index.span;
        let number = self.as_expr(index.clone())?.as_int();
        let len = tuple.ty().as_tuple().map(|types| types.len() as i128);
        let number = match (number, len) {
            (Some(number), Some(len)) if number < 0 => number.checked_add(len),
            (number, _) => number,
        };
        let Some(index) = number.and_then(|number| usize::try_from(number).ok()) else {
            let message = "the number of an element must be a constant, counted from 0";
            return Err(self.report_with_help(place, message, help));
        };
        match Expr::tuple_get_item(tuple, index, span) {
            Ok(expr) => Ok(ParsedValue::operation(expr, span)),
            Err(error) => Err(self.report(place, error.to_string())),
        }
    }

    fn make_tensor_part(
        &mut self,
        tensor: &ExprRef,
        dtype: DataType,
        shape: &[ExprRef],
        items: Vec<SubscriptItem>,
        span: Span,
    ) -> ParseResult<ParsedValue> {
        let ellipses = items.iter().filter(|item| matches!(item, SubscriptItem::Ellipsis)).count();
        let given = items.len() - ellipses;
        if given > shape.len() || ellipses > 1 {
            let message = match ellipses {
                0 | 1 => format!("{given} indices for a tensor of {} dims", shape.len()),
                _ => "more than one `...`".to_owned(),
            };
            return Err(self.report(span, message));
        }
        self.check_dims_of_part(tensor, span)?;
        let full = || SubscriptItem::Slice { start: None, stop: None, step: None };
        let mut expanded: Vec<SubscriptItem> = Vec::with_capacity(shape.len());
        for item in items {
            match item {
                SubscriptItem::Ellipsis => {
                    expanded.extend((given..shape.len()).map(|_| full()));
                }
                item => expanded.push(item),
            }
        }
        expanded.resize_with(shape.len(), full);
        let mut parts = Vec::with_capacity(shape.len());
        for (item, dim) in expanded.into_iter().zip(shape) {
            parts.push(self.axis_part(item, dim, span)?);
        }
        let is_whole = |(part, dim): (&AxisPart, &ExprRef)| {
            part.step == 1
                && !part.is_index
                && part.start.as_int() == Some(0)
                && (part.stop.same(dim)
                    || part.stop.as_int().is_some_and(|n| dim.as_int() == Some(n)))
        };
        if parts.iter().zip(shape).all(is_whole) {
            return Ok(ParsedValue::new(ParsedValueKind::Expr(tensor.clone()), span));
        }
        let part = self.select(tensor, dtype, shape, &parts, span)?;
        if !parts.iter().any(|part| part.is_index) {
            return Ok(part);
        }
        let part = self.as_expr(part)?;
        let Type::Tensor { shape, .. } = &**part.ty() else { return Err(ParseFailed) };
        let kept = shape.iter().zip(&parts).filter(|(_, part)| !part.is_index);
        let ty = tensor_or_scalar(dtype, kept.map(|(dim, _)| dim.clone()).collect());
        let callee = Callee::op_with_attrs("reshape", Vec::new(), span);
        let expr = Expr::call(&callee, [part.clone()], ty, span);
        Ok(ParsedValue::new(ParsedValueKind::Expr(expr), span))
    }

    /// Returns the part of an axis that an item selects. Constant bounds of a constant dim are clamped as in Python.
    fn axis_part(
        &mut self,
        item: SubscriptItem,
        dim: &ExprRef,
        span: Span,
    ) -> ParseResult<AxisPart> {
        let extent = dim.as_int();
        match item {
            SubscriptItem::Index(value) => {
                let place = value.span;
                let index = self.subscript_bound(value)?;
                if let (Some(number), Some(extent)) = (index.as_int(), extent)
                    && !(-extent..extent).contains(&number)
                {
                    let message = format!("index {number} is out of range for a dim of {extent}");
                    return Err(self.report(place, message));
                }
                let start = self.count_from_end(&index, dim, place)?;
                let stop = start.as_int().map_or_else(|| start.clone(), |n| number_dim(n + 1));
                Ok(AxisPart { start, stop, step: 1, is_index: true })
            }
            SubscriptItem::Slice { start, stop, step } => {
                let step = match step {
                    None => 1,
                    Some(value) => {
                        let place = value.span;
                        let step = self.subscript_bound(value)?.as_int();
                        match step.and_then(|step| i64::try_from(step).ok()).filter(|&n| n > 0) {
                            Some(step) => step,
                            None => {
                                let message = "a step must be a constant of at least 1";
                                return Err(self.report(place, message));
                            }
                        }
                    }
                };
                let mut bound = |value: Option<ParsedValue>, default: ExprRef| match value {
                    None => Ok(default),
                    Some(value) => {
                        let place = value.span;
                        let bound = self.subscript_bound(value)?;
                        let bound = self.count_from_end(&bound, dim, place)?;
                        Ok(match (bound.as_int(), extent) {
                            (Some(number), Some(extent)) => number_dim(number.clamp(0, extent)),
                            _ => bound,
                        })
                    }
                };
                let start = bound(start, number_dim(0))?;
                let stop = bound(stop, dim.clone())?;
                Ok(AxisPart { start, stop, step, is_index: false })
            }
            SubscriptItem::Ellipsis => Err(self.report(span, "more than one `...`")),
        }
    }

    /// Converts an index or a bound to a scalar integer.
    fn subscript_bound(&mut self, value: ParsedValue) -> ParseResult<ExprRef> {
        let place = value.span;
        let expr = self.as_expr(value)?;
        if !expr.ty().as_scalar().is_some_and(DataType::is_integer) {
            let found = crate::verify::display_type(expr.ty());
            return Err(self.report(place, format!("an index is {found}, expected an integer")));
        }
        // A bound is computed as it is written: it may be negative, and its operators wrap around.
        let is_constant = !expr.node().facts().any(Facts::VAR);
        let folded = is_constant.then(|| crate::passes::fold_expr(&expr).ok()?.as_int());
        match folded.flatten() {
            Some(number) => self.const_int(number, DataType::I64, place),
            None => Ok(expr),
        }
    }

    /// Returns a bound counted from the start; a negative constant counts from the end.
    fn count_from_end(
        &mut self,
        bound: &ExprRef,
        dim: &ExprRef,
        place: Span,
    ) -> ParseResult<ExprRef> {
        match (bound.as_int(), dim.as_int()) {
            (Some(number), Some(extent)) if number < 0 => {
                Ok(number_dim(number.saturating_add(extent)))
            }
            (Some(number), None) if number < 0 => {
                let mut sum = LinearSum::default();
                let added = sum.add(dim, 1).and_then(|()| sum.add_number(number));
                match added.and_then(|()| sum.to_expr()) {
                    Some(start) => Ok(start),
                    None => Err(self.report(place, format!("the index {number} is out of range"))),
                }
            }
            _ => Ok(bound.clone()),
        }
    }

    /// Returns the size of a part of an axis.
    fn part_size(&mut self, part: &AxisPart, span: Span) -> ParseResult<ExprRef> {
        if part.is_index {
            return Ok(number_dim(1));
        }
        let mut sum = LinearSum::default();
        let added = sum.add(&part.stop, 1).and_then(|()| sum.add(&part.start, -1));
        let Some(size) = added.and_then(|()| sum.to_expr()) else {
            return Err(self.report(span, "the bounds are out of range"));
        };
        if crate::interpret::contains_call(&size) {
            let message = "the size of the part depends on a call";
            let help = "assign the value of the call to a variable first: `k = f(x)`, `y[:k]`";
            return Err(self.report_with_help(span, message, help));
        }
        Ok(match size.as_int() {
            Some(number) => number_dim(number.max(0)),
            None => size,
        })
    }

    /// Reports an error if the dims of a tensor name variables that have other values by now, and keeps them from changing later.
    fn check_dims_of_part(&mut self, tensor: &ExprRef, span: Span) -> ParseResult<()> {
        let vars = vars_of_dims(tensor.ty());
        if vars.is_empty() {
            return Ok(());
        }
        if tensor.is_var() && self.scope.is_reassigned(tensor) {
            let message = format!(
                "`{}` was assigned a value of other dims than its type has",
                tensor.name().unwrap_or_default()
            );
            let help = "assign the value with the other dims to another variable";
            return Err(self.report_with_help(span, message, help));
        }
        for var in vars {
            if self.scope.is_reassigned(&var) {
                let name = var.name().unwrap_or_default();
                let message = format!(
                    "`{name}` is a dim of this tensor, but it is also assigned another value"
                );
                let help = "assign the other value to another variable, such as `m = n - 1`";
                return Err(self.report_with_help(span, message, help));
            }
            self.scope.keep_dim(&var);
        }
        Ok(())
    }

    /// Builds the op that selects the parts: `slice` if all bounds are constants, `dynamic_slice` otherwise.
    fn select(
        &mut self,
        tensor: &ExprRef,
        dtype: DataType,
        shape: &[ExprRef],
        parts: &[AxisPart],
        span: Span,
    ) -> ParseResult<ParsedValue> {
        let constants = |bound: fn(&AxisPart) -> &ExprRef| -> Option<Vec<i64>> {
            let number = |part| i64::try_from(bound(part).as_int()?).ok();
            parts.iter().map(number).collect()
        };
        let is_static = shape.iter().all(|dim| dim.as_int().is_some());
        if is_static
            && let (Some(starts), Some(stops)) =
                (constants(|part| &part.start), constants(|part| &part.stop))
        {
            let limits = starts.iter().zip(stops).map(|(&start, stop)| stop.max(start));
            let list = |numbers: Vec<i64>| Value::from(numbers.into_iter().collect::<Seq>());
            let mut attrs = vec![
                ("limits".to_owned(), list(limits.collect())),
                ("starts".to_owned(), list(starts)),
            ];
            if parts.iter().any(|part| part.step != 1) {
                attrs.push((
                    "strides".to_owned(),
                    list(parts.iter().map(|part| part.step).collect()),
                ));
            }
            let callee = Callee::op_with_attrs("slice", attrs, span);
            return Ok(self.op_call(&callee, vec![tensor.clone()], span));
        }
        if parts.iter().any(|part| part.step != 1) {
            let message = "a step other than 1 needs constant dims and bounds";
            return Err(self.report(span, message));
        }
        let mut sizes = Vec::with_capacity(parts.len());
        for part in parts {
            sizes.push(self.part_size(part, span)?);
        }
        // All starts have one type: that of the indices if it holds all of them, otherwise INT64.
        let computed = parts.iter().filter(|part| part.start.as_int().is_none());
        let mut dtypes = computed.map(|part| part.start.ty().as_scalar());
        let first = dtypes.next().flatten().unwrap_or(DataType::I64);
        let holds = |number| first.integer_range().is_some_and(|(_, max)| number <= max);
        let is_common = dtypes.all(|dtype| dtype == Some(first))
            && parts.iter().filter_map(|part| part.start.as_int()).all(holds);
        let start_dtype = if is_common { first } else { DataType::I64 };
        let mut args = vec![tensor.clone()];
        for part in parts {
            args.push(match part.start.as_int() {
                Some(number) => self.const_int(number, start_dtype, part.start.span())?,
                None if part.start.ty().as_scalar() == Some(start_dtype) => part.start.clone(),
                None => Expr::cast(&part.start, start_dtype, span),
            });
        }
        let callee = Callee::op_with_attrs("dynamic_slice", Vec::new(), span);
        let expr = Expr::call(&callee, args, Type::tensor(dtype, sizes), span);
        Ok(ParsedValue::new(ParsedValueKind::Expr(expr), span))
    }
}

fn tensor_or_scalar(dtype: DataType, shape: Vec<ExprRef>) -> TypeRef {
    if shape.is_empty() { Type::scalar(dtype) } else { Type::tensor(dtype, shape) }
}

fn number_dim(number: i128) -> ExprRef {
    Expr::dim(i64::try_from(number).unwrap_or(i64::MAX))
}
