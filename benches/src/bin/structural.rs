//! Structural comparison and hashing. `benches/README.md` describes the shapes.

use std::time::Duration;

use sapwood_benches::{Area, best, best_with};
use sapwood_structural::{Field, Node, Ref, equal, hash};

/// A tree node with two children.
#[derive(Node)]
#[node(key = "bench.Pair")]
enum Tree {
    Pair(Ref<Tree>, Ref<Tree>),
    Leaf(i64),
}

/// A tree node of kind dag, whose sharing is compared.
#[derive(Node)]
#[node(key = "bench.Dag")]
enum Dag {
    #[node(kind = "dag")]
    Pair(Ref<Dag>, Ref<Dag>),
    #[node(kind = "dag")]
    Leaf(i64),
}

#[derive(Node)]
#[node(key = "bench.Var", kind = "var")]
struct Var {
    #[node(ignore)]
    name: String,
}

#[derive(Node)]
#[node(key = "bench.Lambda")]
struct Lambda {
    #[node(def)]
    params: Vec<Ref<Var>>,
    body: Vec<Ref<Var>>,
}

#[derive(Node)]
#[node(key = "bench.Link")]
struct Link {
    value: i64,
    next: Option<Ref<Self>>,
}

const LEVELS: u32 = 20;
const NODES: u64 = (1 << LEVELS) - 1;
const PARAMS: usize = 100_000;
const LADDER: u64 = 1000;
const CHAIN: i64 = 1_000_000;
const REPEATS: usize = 7;

/// A group of rows: its name, and the function that measures it.
type RowGroup = (&'static str, fn(&Area));

/// The groups of rows. Each runs in a separate process, so that no row depends on the heap of another one.
const GROUPS: &[RowGroup] = &[
    ("tree", tree),
    ("levels", levels),
    ("dag", dag),
    ("lambda", lambda),
    ("ladder", ladder),
    ("chain", chain),
];

fn main() -> std::io::Result<()> {
    if let Some(wanted) = std::env::args().nth(1) {
        for (name, measure) in GROUPS {
            if *name == wanted {
                measure(&Area::new("structural"));
            }
        }
        return Ok(());
    }
    let program = std::env::current_exe()?;
    for (name, _) in GROUPS {
        std::process::Command::new(&program).arg(name).status()?;
    }
    Ok(())
}

fn tree(area: &Area) {
    let [left, right] = [(); 2].map(|()| tree_depth_first(&Tree::Leaf, &Tree::Pair));
    area.per_node("equal/tree", best_equal(&left, &right), NODES);
    drop(right);
    let mut first = Some(left);
    let fresh = || first.take().unwrap_or_else(|| tree_depth_first(&Tree::Leaf, &Tree::Pair));
    area.per_node("hash/tree", best_with(3, fresh, |tree| (hash(&tree), tree)), NODES);
}

fn levels(area: &Area) {
    let [left, right] = [(); 2].map(|()| tree_by_levels(&Tree::Leaf, &Tree::Pair));
    area.per_node("equal/tree-by-levels", best_equal(&left, &right), NODES);
    drop(right);
    let mut first = Some(left);
    let fresh = || first.take().unwrap_or_else(|| tree_by_levels(&Tree::Leaf, &Tree::Pair));
    area.per_node("hash/tree-by-levels", best_with(3, fresh, |tree| (hash(&tree), tree)), NODES);
}

fn dag(area: &Area) {
    let [left, right] = [(); 2].map(|()| tree_depth_first(&Dag::Leaf, &Dag::Pair));
    area.per_node("equal/dag", best_equal(&left, &right), NODES);
}

fn lambda(area: &Area) {
    let [left, right] = [(); 2].map(|()| {
        let params: Vec<Ref<Var>> =
            (0..PARAMS).map(|i| Ref::new(Var { name: format!("x{i}") })).collect();
        Ref::new(Lambda { body: params.clone(), params })
    });
    area.per_node("equal/lambda", best_equal(&left, &right), 2 * PARAMS as u64);
}

fn ladder(area: &Area) {
    let ladder = || {
        (0..LADDER)
            .fold(Ref::new(Tree::Leaf(0)), |below, _| Ref::new(Tree::Pair(below.clone(), below)))
    };
    area.millis("equal/ladder", best_equal(&ladder(), &ladder()), LADDER);
}

fn chain(area: &Area) {
    let chain = || (0..CHAIN).fold(None, |next, value| Some(Ref::new(Link { value, next })));
    let (left, right) = (chain(), chain());
    let works = equal(&left, &right).is_ok_and(|equal| equal);
    area.row("equal/chain", if works { CHAIN as f64 } else { 0.0 }, "depth", CHAIN as u64);
    let works = matches!((hash(&left), hash(&right)), (Ok(left), Ok(right)) if left == right);
    area.row("hash/chain", if works { CHAIN as f64 } else { 0.0 }, "depth", CHAIN as u64);
}

fn best_equal(left: &impl Field, right: &impl Field) -> Duration {
    assert!(equal(left, right).is_ok_and(|equal| equal), "the two copies are equal");
    best(REPEATS, || equal(left, right))
}

/// Returns a complete binary tree, built level by level from the leaves up.
fn tree_by_levels<T: Node>(
    leaf: &impl Fn(i64) -> T,
    pair: &impl Fn(Ref<T>, Ref<T>) -> T,
) -> Ref<T> {
    let mut level: Vec<Ref<T>> = (0..1 << (LEVELS - 1)).map(|i| Ref::new(leaf(i))).collect();
    while level.len() > 1 {
        let mut next = Vec::with_capacity(level.len() / 2);
        let mut below = level.into_iter();
        while let (Some(left), Some(right)) = (below.next(), below.next()) {
            next.push(Ref::new(pair(left, right)));
        }
        level = next;
    }
    level.swap_remove(0)
}

/// Returns a complete binary tree, built depth first.
fn tree_depth_first<T: Node>(
    leaf: &impl Fn(i64) -> T,
    pair: &impl Fn(Ref<T>, Ref<T>) -> T,
) -> Ref<T> {
    fn build<T: Node>(
        levels: u32,
        first: i64,
        leaf: &impl Fn(i64) -> T,
        pair: &impl Fn(Ref<T>, Ref<T>) -> T,
    ) -> Ref<T> {
        if levels == 0 {
            return Ref::new(leaf(first));
        }
        let left = build(levels - 1, first, leaf, pair);
        let right = build(levels - 1, first + (1 << (levels - 1)), leaf, pair);
        Ref::new(pair(left, right))
    }
    build(LEVELS - 1, 0, leaf, pair)
}
