//! The reader of the generic form: `"stablehlo.add"(%a, %b) <{…}> ({…}) {…} : (…) -> …`.

use super::function::{OpStart, OpenFunction};
use super::regions::RegionSyntax;
use super::{ModuleReader, ReadResult};
use crate::raw_op::RawOp;

impl<'a> ModuleReader<'a> {
    /// Reads an op after its name, up to the first region.
    pub(super) fn read_generic_op(
        &mut self,
        func: &mut OpenFunction<'a>,
        op: &mut RawOp<'a>,
    ) -> ReadResult<OpStart<'a>> {
        self.expect(b'(', "after the name of an op")?;
        while !self.c.eat(b')') {
            if (!op.operands.is_empty() || op.poison) && !self.c.eat(b',') {
                self.c.skip_space();
                return self.error_at(self.c.at, "expected `,` or `)` after an operand");
            }
            self.read_operand(func, op)?;
        }
        if self.c.peek() == b'<' {
            self.c.at += 1;
            op.attrs = self.read_dictionary()?;
            op.properties = op.attrs.len();
            self.expect(b'>', "after properties")?;
        }
        if self.c.peek() == b'[' {
            return self
                .error_at(self.c.at, "successors are not supported: a region has one block");
        }
        if self.c.peek() == b'(' {
            self.c.at += 1;
            self.expect(b'{', "before a region")?;
            let params = self.read_block_params(&mut func.writer)?;
            return Ok(OpStart::Region { form: RegionSyntax::Generic, params });
        }
        self.read_generic_suffix(func, op)?;
        Ok(OpStart::Complete)
    }

    /// Reads the attributes and the type after the regions.
    pub(super) fn read_generic_suffix(
        &mut self,
        func: &mut OpenFunction<'a>,
        op: &mut RawOp<'a>,
    ) -> ReadResult<()> {
        if self.c.peek() == b'{' {
            let more = self.read_dictionary()?;
            op.attrs.extend(more);
        }
        self.expect(b':', "and the type of an op")?;
        self.read_function_type(func, op)
    }
}
