//! Finding hooks that break the law: equal, and hashed differently.

use std::fmt;

use rustc_hash::FxBuildHasher;

use crate::children::Children;
use crate::engine::Options;
use crate::error::Error;
use crate::graph::{Graph as _, Heap};
use crate::hasher::Hash128;
use crate::mismatch::{equal_in, hash_in};
use crate::node::Field;
use crate::path::{Path, Step};
use crate::reference::NodeRef;
use crate::type_info::Layout;
use crate::view::View;

/// Two nodes that a hook calls equal and hashes differently.
#[derive(Clone, Debug)]
pub struct HookDisagreement {
    /// The type whose hooks disagree.
    pub key: &'static str,
    /// Where, on the left.
    pub left: Path,
    /// Where, on the right.
    pub right: Path,
    /// The hash on the left.
    pub left_hash: Hash128,
    /// The hash on the right.
    pub right_hash: Hash128,
}

impl fmt::Display for HookDisagreement {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        writeln!(f, "the hooks of {} call these equal and hash them differently", self.key)?;
        writeln!(f, "  left  {}: {}", self.left, self.left_hash)?;
        write!(f, "  right {}: {}", self.right, self.right_hash)
    }
}

/// Looks for hooks that break the law "equal, so hashed alike", given two values that show it.
///
/// Nodes of hooked types that stand at corresponding places (the same fields, indices and keys) are
/// compared and hashed by themselves, free variables corresponding by position, innermost first: of
/// a type that hashes wrongly because of what it holds, the culprit is named. Nothing found means
/// that these two values show no breach, not that there is none. Each pair is compared afresh, so
/// this is for tests, not for every run.
///
/// # Errors
/// As [`crate::equal`], for the pair that could not be compared.
pub fn check_hooks(
    left: &impl Field,
    right: &impl Field,
) -> Result<Option<HookDisagreement>, Error> {
    let mut search = Search { frames: Vec::new(), seen: Default::default() };
    search.meet(left.view(), right.view(), None)?;
    while let Some(top) = search.frames.last_mut() {
        match top.pairs.pop() {
            Some([l, r]) => {
                let steps = [top.children[0].step(l), top.children[1].step(r)];
                let (left, right) = (top.children[0].child(l), top.children[1].child(r));
                search.meet(left, right, Some(steps))?;
            }
            None => {
                if let Some(found) = search.close()? {
                    return Ok(Some(found));
                }
            }
        }
    }
    Ok(None)
}

struct Frame<'a> {
    children: [Children<'a>; 2],
    /// Children that correspond and were not visited, the next one last.
    pairs: Vec<[usize; 2]>,
    /// The step to this pair; nothing for the root.
    steps: Option<[Step; 2]>,
    /// The nodes, if their type has hooks.
    hooked: Option<[NodeRef<'a>; 2]>,
}

struct Search<'a> {
    frames: Vec<Frame<'a>>,
    seen: hashbrown::HashSet<(usize, usize), FxBuildHasher>,
}

impl<'a> Search<'a> {
    fn meet(
        &mut self,
        left: View<'a>,
        right: View<'a>,
        steps: Option<[Step; 2]>,
    ) -> Result<(), Error> {
        let mut hooked = None;
        let mut pairs = None;
        if let (View::Node(l), View::Node(r)) = (left, right) {
            if !std::ptr::eq(l.info(), r.info()) || !self.seen.insert((l.id(), r.id())) {
                return Ok(());
            }
            hooked = l.info().hooks().map(|_| [l, r]);
            if matches!(l.info().layout(), Layout::Map | Layout::Set) {
                pairs = Some(matching_entries(l, r)?);
            }
        }
        let (Some(left), Some(right)) = (Children::of_view(left), Children::of_view(right)) else {
            return Ok(());
        };
        let mut pairs =
            pairs.unwrap_or_else(|| (0..left.len().min(right.len())).map(|i| [i, i]).collect());
        pairs.reverse();
        self.frames.push(Frame { children: [left, right], pairs, steps, hooked });
        Ok(())
    }

    /// Ends the innermost frame: nothing below it disagrees. What it is itself, if it does.
    fn close(&mut self) -> Result<Option<HookDisagreement>, Error> {
        let found = match self.frames.last() {
            Some(&Frame { hooked: Some([l, r]), .. }) => self.judge(l, r)?,
            _ => None,
        };
        self.frames.pop();
        Ok(found)
    }

    /// Whether the hooks of the innermost frame disagree. A path is as long as the frame is deep, so
    /// it is made only where it is told.
    fn judge(&self, l: NodeRef<'_>, r: NodeRef<'_>) -> Result<Option<HookDisagreement>, Error> {
        let options = Options::mapping_free_vars();
        let at = |error: Error| error.within(self.path(0));
        if !equal_in(Heap, View::Node(l), View::Node(r), options).map_err(at)? {
            return Ok(None);
        }
        let left_hash = hash_in(Heap, View::Node(l), options).map_err(at)?;
        let right_hash = hash_in(Heap, View::Node(r), options).map_err(at)?;
        Ok((left_hash != right_hash).then(|| HookDisagreement {
            key: l.info().key(),
            left: self.path(0),
            right: self.path(1),
            left_hash,
            right_hash,
        }))
    }

    fn path(&self, side: usize) -> Path {
        let step = |frame: &Frame<'a>| frame.steps.as_ref().map(|steps| steps[side].clone());
        self.frames.iter().filter_map(step).collect()
    }
}

/// The children of two maps (or sets) whose keys are equal.
///
/// Keys are compared with each other where a hook may hash them, since that hash is in doubt.
fn matching_entries(left: NodeRef<'_>, right: NodeRef<'_>) -> Result<Vec<[usize; 2]>, Error> {
    let per_entry = left.info().layout().per_entry();
    let sides = [left, right].map(Children::of_node);
    let hashes = |node: NodeRef<'_>, children: &Children<'_>| {
        let entries = 0..children.len() / per_entry;
        entries
            .map(|entry| Heap.key_hash(node, children.place(entry * per_entry) / per_entry))
            .collect::<Option<Vec<Hash128>>>()
    };
    let mut pairs = Vec::new();
    let mut pair = |l: usize, r: usize| {
        pairs.extend((0..per_entry).map(|part| [l * per_entry + part, r * per_entry + part]));
    };
    if let (Some(lefts), Some(rights)) = (hashes(left, &sides[0]), hashes(right, &sides[1])) {
        let mut places: hashbrown::HashMap<Hash128, Vec<usize>, FxBuildHasher> =
            hashbrown::HashMap::default();
        for (r, hash) in rights.into_iter().enumerate() {
            places.entry(hash).or_default().push(r);
        }
        for (l, hash) in lefts.iter().enumerate() {
            for &r in places.get(hash).into_iter().flatten() {
                let keys = (sides[0].child(l * per_entry), sides[1].child(r * per_entry));
                if crate::equal_views(keys.0, keys.1)? {
                    pair(l, r);
                    break;
                }
            }
        }
        return Ok(pairs);
    }
    let mut free: Vec<usize> = (0..sides[1].len() / per_entry).collect();
    for l in 0..sides[0].len() / per_entry {
        let key = sides[0].child(l * per_entry);
        for (place, &r) in free.iter().enumerate() {
            let other = sides[1].child(r * per_entry);
            if equal_in(Heap, key, other, Options::mapping_free_vars())? {
                pair(l, r);
                free.remove(place);
                break;
            }
        }
    }
    Ok(pairs)
}
