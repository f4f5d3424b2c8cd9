//! Headers of loops.

use sapwood_types::{Span, counted};

use super::lexer::TokenKind;
use super::name_scope::NamedEntity;
use super::value::{Magnitude, ParsedNumber, ParsedValue, ParsedValueKind};
use super::{ParseResult, Parser};
use crate::nodes::{ExprRef, IterArg, TypeRef, Var};

impl<'s> Parser<'s> {
    /// Reads the names between `for` and `in`, and the `in`.
    pub(super) fn read_loop_names(&mut self) -> ParseResult<LoopNames<'s>> {
        let mut loop_name = None;
        let mut arg_names: Vec<(&'s str, Span)> = Vec::new();
        if !self.at("(") {
            loop_name = Some(self.expect_name("the loop variable")?);
        }
        if loop_name.is_none() || self.eat(",") {
            self.expect("(", "before the iteration arguments")?;
            while !self.at(")") {
                arg_names.push(self.expect_name("the name of an iteration argument")?);
                if !self.eat(",") {
                    break;
                }
            }
            self.expect(")", "after the iteration arguments")?;
        }
        self.expect("in", "after the loop variable")?;
        Ok(LoopNames { loop_name, arg_names })
    }

    pub(super) fn read_loop_arguments(&mut self) -> ParseResult<LoopArguments> {
        let mut arguments = LoopArguments::default();
        while !self.at(")") {
            if self.token.kind == TokenKind::Name {
                let token = self.advance();
                if self.eat("=") {
                    let span = self.lexer.span(token);
                    let value = self.read_value()?;
                    match self.text(token) {
                        "init_values" => {
                            arguments.init_values = Some(self.expect_list(value, "expressions")?);
                        }
                        "iter_types" => arguments.iter_types = Some(self.as_type_list(value)?),
                        "loop_type" => arguments.loop_type = Some(self.as_type(value)?),
                        other => {
                            let message = format!("unknown loop argument `{other}`");
                            let help = "expected `init_values`, `iter_types` or `loop_type`";
                            return Err(self.report_with_help(span, message, help));
                        }
                    }
                } else {
                    let value = self.read_value_after_name(token)?;
                    arguments.range.push(value);
                }
            } else {
                arguments.range.push(self.read_value()?);
            }
            if !self.eat(",") {
                break;
            }
        }
        self.expect(")", "at the end of the range")?;
        Ok(arguments)
    }

    /// Returns start, stop and step of a range; the first and the last may be omitted as in Python. Numbers take the type of the
    /// first bound that has one.
    fn complete_range(
        &mut self,
        mut range: Vec<ParsedValue>,
        span: Span,
    ) -> ParseResult<Vec<ExprRef>> {
        let number = |magnitude| {
            let number = ParsedNumber { magnitude: Magnitude::Int(magnitude), is_negative: false };
            ParsedValue::new(ParsedValueKind::Number(number), span)
        };
        if range.len() == 1 {
            range.insert(0, number(0));
        }
        if range.len() == 2 {
            range.push(number(1));
        }
        let dtype = range.iter().find_map(|value| match &value.kind {
            ParsedValueKind::Expr(expr) => expr.ty().as_scalar().filter(|dtype| dtype.is_integer()),
            _ => None,
        });
        let bounds: Vec<ParseResult<ExprRef>> =
            range.into_iter().map(|value| self.as_expr_like(value, dtype)).collect();
        bounds.into_iter().collect()
    }

    pub(super) fn make_loop_header(
        &mut self,
        loop_name: Option<(&'s str, Span)>,
        arg_names: &[(&'s str, Span)],
        arguments: LoopArguments,
        span: Span,
    ) -> ParseResult<LoopHeader> {
        let LoopArguments { range, init_values, iter_types, loop_type } = arguments;
        let fits =
            if loop_name.is_some() { (1..=3).contains(&range.len()) } else { range.is_empty() };
        if !fits {
            let wanted = if loop_name.is_some() { "1 to 3" } else { "0" };
            let message = format!("expected {wanted} arguments of a range, found {}", range.len());
            return Err(self.report_with_help(span, message, "write start, stop and step"));
        }
        let range = self.complete_range(range, span)?;
        let init_values = init_values.unwrap_or_default();
        if init_values.len() != arg_names.len() {
            let message = format!(
                "{} but {}",
                counted(arg_names.len(), "iteration argument"),
                counted(init_values.len(), "initial value")
            );
            return Err(self.report(span, message));
        }
        if let Some(types) = &iter_types
            && types.len() != arg_names.len()
        {
            let message = format!(
                "{} but {}",
                counted(arg_names.len(), "iteration argument"),
                counted(types.len(), "type")
            );
            return Err(self.report(span, message));
        }
        let scalar_type = |index: usize| iter_types.as_ref()?.get(index)?.as_scalar();
        let init_values: Vec<ParseResult<ExprRef>> = init_values
            .into_iter()
            .enumerate()
            .map(|(index, value)| self.as_expr_like(value, scalar_type(index)))
            .collect();
        let init_values = init_values.into_iter().collect::<ParseResult<Vec<ExprRef>>>()?;
        let loop_var = match (loop_name, range.first()) {
            (Some((name, place)), Some(start)) => {
                Some(self.target_var(name, loop_type.as_ref(), start.ty(), place)?)
            }
            _ => None,
        };
        let mut iter_args = Vec::with_capacity(arg_names.len());
        for (index, &(name, place)) in arg_names.iter().enumerate() {
            if self.scope.get(name).is_some_and(|known| !matches!(known, NamedEntity::Invalid)) {
                let message =
                    format!("`{name}` is already defined; an iteration argument needs a new name");
                return Err(self.report(place, message));
            }
            let init = &init_values[index];
            let ty = iter_types.as_ref().map_or(init.ty(), |types| &types[index]);
            let arg = IterArg::new(name, ty, init, place);
            self.scope.set(name, NamedEntity::Var(arg.expr().clone()));
            iter_args.push(arg);
        }
        Ok(LoopHeader { loop_var, range, iter_args })
    }
}

/// The arguments in the header of a loop.
#[derive(Default)]
pub(super) struct LoopArguments {
    range: Vec<ParsedValue>,
    init_values: Option<Vec<ParsedValue>>,
    iter_types: Option<Vec<TypeRef>>,
    loop_type: Option<TypeRef>,
}

/// The header of a `for`, or of a `pi.while_` if the loop variable is none.
pub(super) struct LoopHeader {
    pub(super) loop_var: Option<Var>,
    pub(super) range: Vec<ExprRef>,
    pub(super) iter_args: Vec<IterArg>,
}

/// The names that a `for` binds; a `pi.while_` has no loop variable.
pub(super) struct LoopNames<'s> {
    pub(super) loop_name: Option<(&'s str, Span)>,
    pub(super) arg_names: Vec<(&'s str, Span)>,
}
