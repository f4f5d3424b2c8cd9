//! The generic form: `"stablehlo.add"(%a, %b) <{…}> ({…}) {…} : (…) -> …`.

use super::function::{Body, Next};
use super::regions::Form;
use super::{Parse, Reader};
use crate::raw::RawOp;

impl<'a> Reader<'a> {
    /// What follows the name, up to the first region.
    pub(super) fn generic_op(&mut self, b: &mut Body<'a>, op: &mut RawOp<'a>) -> Parse<Next<'a>> {
        self.expect(b'(', "after the name of an op")?;
        while !self.c.eat(b')') {
            if (!op.operands.is_empty() || op.poison) && !self.c.eat(b',') {
                self.c.skip();
                return self.stop(self.c.at, "expected `,` or `)` after an operand");
            }
            self.operand(b, op)?;
        }
        if self.c.peek() == b'<' {
            self.c.at += 1;
            op.attrs = self.dictionary()?;
            op.properties = op.attrs.len();
            self.expect(b'>', "after properties")?;
        }
        if self.c.peek() == b'[' {
            return self.stop(self.c.at, "successors are not supported: a region has one block");
        }
        if self.c.peek() == b'(' {
            self.c.at += 1;
            self.expect(b'{', "before a region")?;
            let params = self.block_params(&mut b.writer)?;
            return Ok(Next::Region { form: Form::Generic, params });
        }
        self.generic_end(b, op)?;
        Ok(Next::Done)
    }

    /// Attributes and the type.
    pub(super) fn generic_end(&mut self, b: &mut Body<'a>, op: &mut RawOp<'a>) -> Parse<()> {
        if self.c.peek() == b'{' {
            let more = self.dictionary()?;
            op.attrs.extend(more);
        }
        self.expect(b':', "and the type of an op")?;
        self.function_type(b, op)
    }
}
