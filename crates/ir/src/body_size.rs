//! The size of a body, with shared statements counted once and with repeats.

use crate::nodes::{Stmt, StmtRef};

type IdMap<V> = hashbrown::HashMap<usize, V, rustc_hash::FxBuildHasher>;

/// The size of a body, as returned by [`measure_body`].
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub(crate) struct BodySize {
    /// The number of statements, shared ones counted once.
    pub(crate) statements: u64,
    /// The number of statements, shared ones counted once per occurrence.
    pub(crate) with_repeats: u64,
    /// The depth of nested blocks in the text form.
    pub(crate) nested_blocks: u64,
}

/// The largest allowed ratio of statements with repeats to distinct statements.
const MAX_SHARING_FACTOR: u64 = 16;
/// The number of statements with repeats that is always allowed, whatever the ratio.
const UNCHECKED_STATEMENTS: u64 = 100_000;

impl BodySize {
    /// Returns whether sharing is too high to visit or print each occurrence of a statement.
    pub(crate) fn is_too_shared(self) -> bool {
        self.with_repeats
            > self.statements.saturating_mul(MAX_SHARING_FACTOR).max(UNCHECKED_STATEMENTS)
    }
}

/// The measured size of one statement with its nested statements.
#[derive(Clone, Copy, Default)]
struct SubtreeSize {
    with_repeats: u64,
    /// The block depth of the statement as an item of a sequence.
    blocks_as_item: u64,
    /// The block depth of the statement as a body, where a sequence needs no extra block.
    blocks_as_body: u64,
}

/// Measures a body in time linear in its distinct statements, with an explicit stack.
pub(crate) fn measure_body(body: &StmtRef) -> BodySize {
    let mut memo: IdMap<SubtreeSize> = IdMap::default();
    let mut statements = 0;
    let mut stack: Vec<(&StmtRef, Vec<&StmtRef>, SubtreeSize)> = Vec::new();
    let mut next = body;
    let mut done;
    loop {
        let children = next.children();
        if children.is_empty() {
            statements += 1;
            let block = u64::from(matches!(&**next, Stmt::Ops { .. } | Stmt::Seq { .. }));
            let blocks_as_body = u64::from(matches!(&**next, Stmt::Ops { .. }));
            done = SubtreeSize { with_repeats: 1, blocks_as_item: block, blocks_as_body };
        } else if let Some(before) = memo.get(&next.node().id()) {
            done = *before;
        } else {
            statements += 1;
            stack.push((next, children, SubtreeSize { with_repeats: 1, ..SubtreeSize::default() }));
            done = SubtreeSize::default();
        }
        loop {
            let Some((stmt, children, sum)) = stack.last_mut() else {
                return BodySize {
                    statements,
                    with_repeats: done.with_repeats,
                    nested_blocks: done.blocks_as_body + 1,
                };
            };
            sum.with_repeats = sum.with_repeats.saturating_add(done.with_repeats);
            sum.blocks_as_item = sum.blocks_as_item.max(done.blocks_as_item);
            sum.blocks_as_body = sum.blocks_as_body.max(done.blocks_as_body);
            if let Some(child) = children.pop() {
                next = child;
                break;
            }
            done = match &***stmt {
                Stmt::Seq { stmts, .. } if stmts.len() != 1 => SubtreeSize {
                    blocks_as_item: sum.blocks_as_item + 1,
                    blocks_as_body: sum.blocks_as_item,
                    ..*sum
                },
                Stmt::Seq { .. } | Stmt::Ops { .. } => SubtreeSize {
                    blocks_as_item: sum.blocks_as_item + 1,
                    blocks_as_body: sum.blocks_as_item + 1,
                    ..*sum
                },
                _ => SubtreeSize {
                    blocks_as_item: sum.blocks_as_body + 1,
                    blocks_as_body: sum.blocks_as_body + 1,
                    ..*sum
                },
            };
            if stmt.node().owners() > 1 {
                memo.insert(stmt.node().id(), done);
            }
            stack.pop();
        }
    }
}

#[cfg(test)]
mod tests {
    use sapwood_types::Span;

    use super::*;
    use crate::nodes::Expr;

    #[test]
    fn sharing_and_nesting_are_counted() {
        let span = Span::unknown();
        let leaf = Stmt::eval(&Expr::dim(1), span);
        assert_eq!(
            measure_body(&leaf),
            BodySize { statements: 1, with_repeats: 1, nested_blocks: 1 }
        );
        let pair = Stmt::seq([leaf.clone(), leaf.clone()], span);
        assert_eq!(measure_body(&pair).nested_blocks, 1);
        let nested = Stmt::seq([pair.clone(), pair.clone()], span);
        assert_eq!(
            measure_body(&nested),
            BodySize { statements: 4, with_repeats: 7, nested_blocks: 2 }
        );
        let branch = Stmt::if_(&Expr::const_bool(true, span), &nested, Some(&leaf), [], span);
        assert_eq!(measure_body(&branch).nested_blocks, 3);
        let mut ladder = leaf;
        for _ in 0..1000 {
            ladder = Stmt::seq([ladder.clone(), ladder], span);
        }
        assert_eq!(
            measure_body(&ladder),
            BodySize { statements: 1002, with_repeats: u64::MAX, nested_blocks: 1000 }
        );
    }
}
