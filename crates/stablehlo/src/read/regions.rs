//! The stack of open regions.

use sapwood_ptir::BodyId;

use super::function::{OpenFunction, Param};
use super::{AlreadyReported, ModuleReader, ReadResult};
use crate::raw_op::{RawOp, ResultNames};

/// An op with an open region.
pub(super) struct OpenOp<'a> {
    pub(super) op: RawOp<'a>,
    pub(super) names: ResultNames<'a>,
    pub(super) form: RegionSyntax<'a>,
    outer: BodyId,
    outer_ended: bool,
    mark: usize,
}

/// The syntax after a region.
pub(super) enum RegionSyntax<'a> {
    /// More regions, then `)`, attributes and a type.
    Generic,
    /// `do` and the second region, which has the same parameters.
    While { params: Vec<Param<'a>> },
    /// The end of the op.
    Reduce,
}

impl<'a> ModuleReader<'a> {
    pub(super) fn open_region(
        &mut self,
        func: &mut OpenFunction<'a>,
        op: RawOp<'a>,
        names: ResultNames<'a>,
        form: RegionSyntax<'a>,
        params: &[Param<'a>],
    ) {
        let (outer, outer_ended) = (func.body, func.ended);
        let mark = func.scope.enter();
        func.open_ops.push(OpenOp { op, names, form, outer, outer_ended, mark });
        func.body = func.writer.new_body();
        func.ended = false;
        self.bind_params(func, func.body, params);
    }

    pub(super) fn close_region(&mut self, func: &mut OpenFunction<'a>) -> ReadResult<()> {
        let Some(mut frame) = func.open_ops.pop() else { return Err(AlreadyReported) };
        func.scope.leave(frame.mark);
        let (region, ended) = (func.body, func.ended);
        (func.body, func.ended) = (frame.outer, frame.outer_ended);
        if !ended {
            let message = format!("a region of `{}` has no terminator", frame.op.name);
            let span = self.source.span(self.c.at - 1..self.c.at);
            self.problems.error(span, message);
            func.failed = true;
            frame.op.poison = true;
        }
        frame.op.regions.push(region);
        match frame.form {
            RegionSyntax::Generic if self.c.eat(b',') => {
                self.expect(b'{', "before a region")?;
                let params = self.read_block_params(&mut func.writer)?;
                self.open_region(func, frame.op, frame.names, RegionSyntax::Generic, &params);
                Ok(())
            }
            RegionSyntax::Generic => {
                self.expect(b')', "or `,` after a region")?;
                if self.try_close_generic(func, &frame) {
                    return Ok(());
                }
                self.read_generic_suffix(func, &mut frame.op)?;
                self.finish_op(func, frame.op, &frame.names, None)
            }
            RegionSyntax::While { params } if frame.op.regions.len() == 1 => {
                if !self.c.eat_word("do") {
                    self.c.skip_space();
                    return self.error_at(self.c.at, "expected `do` after the condition of a loop");
                }
                self.expect(b'{', "after `do`")?;
                let form = RegionSyntax::While { params: params.clone() };
                self.open_region(func, frame.op, frame.names, form, &params);
                Ok(())
            }
            RegionSyntax::While { .. } | RegionSyntax::Reduce => {
                if frame.op.results_match_operands && self.try_close_while(func, &frame) {
                    return Ok(());
                }
                copy_operand_types_to_results(func, &mut frame.op);
                self.finish_op(func, frame.op, &frame.names, None)
            }
        }
    }
}

// Gives each result the type of the operand at its position.
fn copy_operand_types_to_results(func: &OpenFunction<'_>, op: &mut RawOp<'_>) {
    if op.results_match_operands {
        let f = func.writer.function();
        op.result_types = op.operands.iter().map(|&v| f.value_type(v).clone()).collect();
    }
}
