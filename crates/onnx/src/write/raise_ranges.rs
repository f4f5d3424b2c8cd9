//! Checks of ranges that were comparisons of signed integers as unsigned ones: `bitcast(x) <= c`. ONNX has no `bitcast`.

use sapwood_ptir::ops::{Bitcast, Compare, Direction};
use sapwood_ptir::{TensorLiteral, ValueId};

use super::graph::GraphWriter;
use crate::{Node, Text};

impl GraphWriter<'_> {
    // Returns `x` and `c` of `bitcast(x) <= c` or `bitcast(x) < c`, if `x` is signed and `c` is a constant that is not negative as such.
    pub(super) fn range_check(&self, op: &Compare) -> Option<(ValueId, TensorLiteral)> {
        let x = self.f.def::<Bitcast>(op.lhs)?.input;
        let (from, to) = (self.dtype(x)?, self.dtype(op.lhs)?);
        let is_unsigned = from.is_signed_integer()
            && to.is_unsigned_integer()
            && from.byte_size() == to.byte_size()
            && matches!(op.direction, Direction::Le | Direction::Lt);
        let bound = self.f.constant_of(op.rhs).filter(|_| is_unsigned)?.as_splat()?;
        // The last byte has the sign.
        let is_negative = bound.get(from.byte_size() - 1).is_none_or(|&byte| byte >= 0x80);
        let bound = TensorLiteral::splat(from, &[], &bound[..from.byte_size()]).ok()?;
        (!is_negative).then_some((x, bound))
    }

    // Returns whether all uses of a value are checks of a range, which read its operand.
    pub(super) fn is_only_range_checked(&self, value: ValueId) -> bool {
        let is_check = |op: Compare| op.lhs == value && self.range_check(&op).is_some();
        self.f.users_of(value).into_iter().all(|user| self.f.view(user).is_some_and(is_check))
    }

    // Writes `x >= 0 & x <= c` with nodes that all opsets have.
    pub(super) fn write_range_check(
        &mut self,
        (x, bound): &(ValueId, TensorLiteral),
        direction: Direction,
        out: Text,
    ) -> Option<Vec<Node>> {
        let zero = TensorLiteral::filled(bound.dtype(), &[], 0.0).ok()?;
        let [zero, bound] = [self.constant("number", &zero), self.constant("number", bound)];
        let x = self.name_of(*x);
        let [negative, above, outside] =
            ["negative", "above", "outside"].map(|name| self.names.fresh_like(name));
        let mut nodes =
            vec![self.node("Less", vec![x.clone(), zero], negative.clone(), Vec::new())];
        if direction == Direction::Le {
            nodes.push(self.node("Greater", vec![x, bound], above.clone(), Vec::new()));
        } else {
            let below = self.names.fresh_like("below");
            nodes.push(self.node("Less", vec![x, bound], below.clone(), Vec::new()));
            nodes.push(self.node("Not", vec![below], above.clone(), Vec::new()));
        }
        nodes.push(self.node("Or", vec![negative, above], outside.clone(), Vec::new()));
        nodes.push(self.node("Not", vec![outside], out, Vec::new()));
        Some(nodes)
    }
}
