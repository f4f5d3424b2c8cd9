//! Reading the headers of loops.

use sapwood_types::{Span, counted};

use super::lexer::Tok;
use super::scope::Meaning;
use super::{Parsed, Parser};
use crate::nodes::{ExprRef, IterArg, TypeRef, Var};

impl<'s> Parser<'s> {
    /// The names between `for` and `in`, and the `in`.
    pub(super) fn loop_names(&mut self) -> Parsed<LoopNames<'s>> {
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

    pub(super) fn header_arguments(&mut self) -> Parsed<Arguments> {
        let mut arguments = Arguments::default();
        while !self.at(")") {
            if self.token.tok == Tok::Name {
                let token = self.advance();
                if self.eat("=") {
                    let span = self.lexer.span(token);
                    let value = self.value()?;
                    match self.text(token) {
                        "init_values" => arguments.init_values = Some(self.expr_list(value)?),
                        "iter_types" => arguments.iter_types = Some(self.type_values(value)?),
                        "loop_type" => arguments.loop_type = Some(self.as_type(value)?),
                        other => {
                            let message = format!("a loop has no `{other}`");
                            let help = "there are `init_values`, `iter_types` and `loop_type`";
                            return Err(self.problem_with_help(span, message, help));
                        }
                    }
                } else {
                    let value = self.value_after(token)?;
                    arguments.range.push(self.as_expr(value)?);
                }
            } else {
                arguments.range.push(self.expr()?);
            }
            if !self.eat(",") {
                break;
            }
        }
        self.expect(")", "at the end of the range")?;
        Ok(arguments)
    }

    pub(super) fn make_header(
        &mut self,
        loop_name: Option<(&'s str, Span)>,
        arg_names: &[(&'s str, Span)],
        arguments: Arguments,
        span: Span,
    ) -> Parsed<Header> {
        let Arguments { range, init_values, iter_types, loop_type } = arguments;
        let wanted = if loop_name.is_some() { 3 } else { 0 };
        if range.len() != wanted {
            let message = format!("expected {wanted} numbers of a range, found {}", range.len());
            return Err(self.problem_with_help(
                span,
                message,
                "start, stop and step are all written",
            ));
        }
        let init_values = init_values.unwrap_or_default();
        if init_values.len() != arg_names.len() {
            let message = format!(
                "{} and {}",
                counted(arg_names.len(), "iteration argument"),
                counted(init_values.len(), "initial value")
            );
            return Err(self.problem(span, message));
        }
        if let Some(types) = &iter_types
            && types.len() != arg_names.len()
        {
            let message = format!(
                "{} and {}",
                counted(arg_names.len(), "iteration argument"),
                counted(types.len(), "type")
            );
            return Err(self.problem(span, message));
        }
        let loop_var = match (loop_name, range.first()) {
            (Some((name, place)), Some(start)) => {
                Some(self.target(name, loop_type.as_ref(), start.ty(), place)?)
            }
            _ => None,
        };
        let mut iter_args = Vec::with_capacity(arg_names.len());
        for (index, &(name, place)) in arg_names.iter().enumerate() {
            if self.scope.get(name).is_some_and(|known| !matches!(known, Meaning::Nothing)) {
                let message = format!("`{name}` is taken; an iteration argument is always new");
                return Err(self.problem(place, message));
            }
            let init = &init_values[index];
            let ty = iter_types.as_ref().map_or(init.ty(), |types| &types[index]);
            let arg = IterArg::new(name, ty, init, place);
            self.scope.set(name, Meaning::Var(arg.expr().clone()));
            iter_args.push(arg);
        }
        Ok(Header { loop_var, range, iter_args })
    }
}

/// What stands between the parentheses of a loop's header.
#[derive(Default)]
pub(super) struct Arguments {
    range: Vec<ExprRef>,
    init_values: Option<Vec<ExprRef>>,
    iter_types: Option<Vec<TypeRef>>,
    loop_type: Option<TypeRef>,
}

/// The header of a `for`; without a loop variable it is that of a `pi.while_`.
pub(super) struct Header {
    pub(super) loop_var: Option<Var>,
    pub(super) range: Vec<ExprRef>,
    pub(super) iter_args: Vec<IterArg>,
}

/// The names that a `for` binds; without a loop variable it is a `pi.while_`.
pub(super) struct LoopNames<'s> {
    pub(super) loop_name: Option<(&'s str, Span)>,
    pub(super) arg_names: Vec<(&'s str, Span)>,
}
