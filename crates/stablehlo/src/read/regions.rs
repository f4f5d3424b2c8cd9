//! Regions: the stack of those that are open.

use sapwood_ptir::BodyId;

use super::function::{Body, Param};
use super::{Parse, Reader, Stop};
use crate::raw::{RawOp, ResultNames};

/// An op with an open region.
pub(super) struct Frame<'a> {
    pub(super) op: RawOp<'a>,
    pub(super) names: ResultNames<'a>,
    pub(super) form: Form<'a>,
    outer: BodyId,
    outer_ended: bool,
    mark: usize,
}

/// What follows a region.
pub(super) enum Form<'a> {
    /// More regions, then `)`, attributes and a type.
    Generic,
    /// `do` and the second region, which have the same parameters.
    While { params: Vec<Param<'a>> },
    /// Nothing.
    Reduce,
}

impl<'a> Reader<'a> {
    pub(super) fn open_region(
        &mut self,
        b: &mut Body<'a>,
        op: RawOp<'a>,
        names: ResultNames<'a>,
        form: Form<'a>,
        params: &[Param<'a>],
    ) {
        let (outer, outer_ended) = (b.body, b.ended);
        let mark = b.scope.enter();
        b.frames.push(Frame { op, names, form, outer, outer_ended, mark });
        b.body = b.writer.new_body();
        b.ended = false;
        self.bind_params(b, b.body, params);
    }

    pub(super) fn close_region(&mut self, b: &mut Body<'a>) -> Parse<()> {
        let Some(mut frame) = b.frames.pop() else { return Err(Stop) };
        b.scope.leave(frame.mark);
        let (region, ended) = (b.body, b.ended);
        (b.body, b.ended) = (frame.outer, frame.outer_ended);
        if !ended {
            let message = format!("a region of `{}` has no terminator", frame.op.name);
            let span = self.source.span(self.c.at - 1..self.c.at);
            self.problems.error(span, message);
            b.failed = true;
            frame.op.poison = true;
        }
        frame.op.regions.push(region);
        match frame.form {
            Form::Generic if self.c.eat(b',') => {
                self.expect(b'{', "before a region")?;
                let params = self.block_params(&mut b.writer)?;
                self.open_region(b, frame.op, frame.names, Form::Generic, &params);
                Ok(())
            }
            Form::Generic => {
                self.expect(b')', "or `,` after a region")?;
                if self.close_generic(b, &frame) {
                    return Ok(());
                }
                self.generic_end(b, &mut frame.op)?;
                self.finish_op(b, frame.op, &frame.names, None)
            }
            Form::While { params } if frame.op.regions.len() == 1 => {
                if !self.c.eat_word("do") {
                    self.c.skip();
                    return self.stop(self.c.at, "expected `do` after the condition of a loop");
                }
                self.expect(b'{', "after `do`")?;
                let form = Form::While { params: params.clone() };
                self.open_region(b, frame.op, frame.names, form, &params);
                Ok(())
            }
            Form::While { .. } | Form::Reduce => {
                if frame.op.as_stated && self.close_while(b, &frame) {
                    return Ok(());
                }
                state_results(b, &mut frame.op);
                self.skip_location()?;
                self.finish_op(b, frame.op, &frame.names, None)
            }
        }
    }
}

// The types of results are those of operands.
fn state_results(b: &Body<'_>, op: &mut RawOp<'_>) {
    if op.as_stated {
        let f = b.writer.function();
        op.result_types = op.operands.iter().map(|&v| f.value_type(v).clone()).collect();
    }
}
