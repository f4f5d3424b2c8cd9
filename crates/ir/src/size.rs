//! How large a body is, with and without its sharing.

use crate::nodes::{Stmt, StmtRef};

type Map<V> = hashbrown::HashMap<usize, V, rustc_hash::FxBuildHasher>;

/// What [`shape`] finds.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub(crate) struct Shape {
    /// Statements, shared ones once.
    pub(crate) nodes: u64,
    /// Statements along all paths.
    pub(crate) unfolded: u64,
    /// How deep blocks nest in text.
    pub(crate) blocks: u64,
}

/// Statements may stand for this many times as many, through sharing…
const MOST_TIMES: u64 = 16;
/// …and small bodies for more.
const ALWAYS_FINE: u64 = 100_000;

impl Shape {
    /// Whether statements are shared so much that they cannot be visited, or written, one by one.
    pub(crate) fn is_too_shared(self) -> bool {
        self.unfolded > self.nodes.saturating_mul(MOST_TIMES).max(ALWAYS_FINE)
    }
}

#[derive(Clone, Copy, Default)]
struct Known {
    unfolded: u64,
    /// Blocks that it needs as a statement among others…
    item: u64,
    /// …and as the body of something, where a sequence needs no block of its own.
    body: u64,
}

/// The shape of a body, in time linear in its nodes, on an explicit stack.
pub(crate) fn shape(body: &StmtRef) -> Shape {
    let mut known: Map<Known> = Map::default();
    let mut nodes = 0;
    let mut stack: Vec<(&StmtRef, Vec<&StmtRef>, Known)> = Vec::new();
    let mut next = body;
    let mut done;
    loop {
        let children = next.children();
        if children.is_empty() {
            nodes += 1;
            let block = u64::from(matches!(&**next, Stmt::Ops { .. } | Stmt::Seq { .. }));
            let body = u64::from(matches!(&**next, Stmt::Ops { .. }));
            done = Known { unfolded: 1, item: block, body };
        } else if let Some(before) = known.get(&next.node().id()) {
            done = *before;
        } else {
            nodes += 1;
            stack.push((next, children, Known { unfolded: 1, ..Known::default() }));
            done = Known::default();
        }
        loop {
            let Some((stmt, children, sum)) = stack.last_mut() else {
                return Shape { nodes, unfolded: done.unfolded, blocks: done.body + 1 };
            };
            sum.unfolded = sum.unfolded.saturating_add(done.unfolded);
            sum.item = sum.item.max(done.item);
            sum.body = sum.body.max(done.body);
            if let Some(child) = children.pop() {
                next = child;
                break;
            }
            done = match &***stmt {
                Stmt::Seq { stmts, .. } if stmts.len() != 1 => {
                    Known { item: sum.item + 1, body: sum.item, ..*sum }
                }
                Stmt::Seq { .. } | Stmt::Ops { .. } => {
                    Known { item: sum.item + 1, body: sum.item + 1, ..*sum }
                }
                _ => Known { item: sum.body + 1, body: sum.body + 1, ..*sum },
            };
            if stmt.node().owners() > 1 {
                known.insert(stmt.node().id(), done);
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
        assert_eq!(shape(&leaf), Shape { nodes: 1, unfolded: 1, blocks: 1 });
        let pair = Stmt::seq([leaf.clone(), leaf.clone()], span);
        assert_eq!(shape(&pair).blocks, 1);
        let nested = Stmt::seq([pair.clone(), pair.clone()], span);
        assert_eq!(shape(&nested), Shape { nodes: 4, unfolded: 7, blocks: 2 });
        let branch = Stmt::if_(&Expr::const_bool(true, span), &nested, Some(&leaf), [], span);
        assert_eq!(shape(&branch).blocks, 3);
        let mut ladder = leaf;
        for _ in 0..1000 {
            ladder = Stmt::seq([ladder.clone(), ladder], span);
        }
        assert_eq!(shape(&ladder), Shape { nodes: 1002, unfolded: u64::MAX, blocks: 1000 });
    }
}
