//! A check for hooks that break the law "equal values have equal hashes".

use std::fmt;

use rustc_hash::FxBuildHasher;

use crate::child_cursor::ChildCursor;
use crate::engine::StructuralOptions;
use crate::error::Error;
use crate::hasher::Hash128;
use crate::node::Field;
use crate::path::{NodePath, PathStep};
use crate::reference::NodeRef;
use crate::type_info::ChildLayout;
use crate::view::View;

/// Two nodes that the hooks of their type compare as equal and hash differently.
#[derive(Clone, Debug)]
pub struct HookDisagreement {
    /// The type whose hooks disagree.
    pub key: &'static str,
    /// The path on the left.
    pub left: NodePath,
    /// The path on the right.
    pub right: NodePath,
    /// The hash on the left.
    pub left_hash: Hash128,
    /// The hash on the right.
    pub right_hash: Hash128,
}

impl fmt::Display for HookDisagreement {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        writeln!(
            f,
            "the hooks of {} compare these nodes as equal and hash them differently",
            self.key
        )?;
        writeln!(f, "  left  {}: {}", self.left, self.left_hash)?;
        write!(f, "  right {}: {}", self.right, self.right_hash)
    }
}

/// Checks, on two values, that hooks hash equal nodes alike.
///
/// Nodes of hooked types at corresponding places (the same fields, indices and keys) are compared and hashed in
/// isolation, with free variables mapped by position, innermost first, so that the type at fault is named and
/// not one that holds it. `None` means that these two values show no violation, not that there is none. Each
/// pair is compared from scratch, so this is for tests, not for production.
///
/// # Errors
/// As [`crate::equal`], for the pair that could not be compared.
pub fn check_hooks(
    left: &impl Field,
    right: &impl Field,
) -> Result<Option<HookDisagreement>, Error> {
    let mut search = HookSearch { frames: Vec::new(), seen: Default::default() };
    search.visit_pair(left.view(), right.view(), None)?;
    while let Some(top) = search.frames.last_mut() {
        match top.pairs.pop() {
            Some([l, r]) => {
                let steps = [top.children[0].step(l), top.children[1].step(r)];
                let (left, right) = (top.children[0].child(l), top.children[1].child(r));
                search.visit_pair(left, right, Some(steps))?;
            }
            None => {
                if let Some(found) = search.close_frame()? {
                    return Ok(Some(found));
                }
            }
        }
    }
    Ok(None)
}

/// A pair whose children are being searched.
struct HookCheckFrame<'a> {
    children: [ChildCursor<'a>; 2],
    /// The corresponding children that are not visited yet, the next one last.
    pairs: Vec<[usize; 2]>,
    /// The path steps to this pair; `None` for the root.
    steps: Option<[PathStep; 2]>,
    /// The nodes, if their type has hooks.
    hooked: Option<[NodeRef<'a>; 2]>,
}

/// The search for hooks that disagree.
struct HookSearch<'a> {
    frames: Vec<HookCheckFrame<'a>>,
    seen: hashbrown::HashSet<(usize, usize), FxBuildHasher>,
}

impl<'a> HookSearch<'a> {
    fn visit_pair(
        &mut self,
        left: View<'a>,
        right: View<'a>,
        steps: Option<[PathStep; 2]>,
    ) -> Result<(), Error> {
        let mut hooked = None;
        let mut pairs = None;
        if let (View::Node(l), View::Node(r)) = (left, right) {
            if !std::ptr::eq(l.info(), r.info()) || !self.seen.insert((l.id(), r.id())) {
                return Ok(());
            }
            hooked = l.info().hooks().map(|_| [l, r]);
            if matches!(l.info().layout(), ChildLayout::Map | ChildLayout::Set) {
                pairs = Some(matching_entries(l, r)?);
            }
        }
        let (Some(left), Some(right)) = (ChildCursor::of_view(left), ChildCursor::of_view(right))
        else {
            return Ok(());
        };
        let mut pairs =
            pairs.unwrap_or_else(|| (0..left.len().min(right.len())).map(|i| [i, i]).collect());
        pairs.reverse();
        self.frames.push(HookCheckFrame { children: [left, right], pairs, steps, hooked });
        Ok(())
    }

    /// Closes the innermost frame, below which nothing disagrees. Returns a disagreement of its own hooks.
    fn close_frame(&mut self) -> Result<Option<HookDisagreement>, Error> {
        let found = match self.frames.last() {
            Some(&HookCheckFrame { hooked: Some([l, r]), .. }) => self.check_pair(l, r)?,
            _ => None,
        };
        self.frames.pop();
        Ok(found)
    }

    /// Checks whether the hooks of the innermost frame disagree. A path is as long as the frame is deep, so it
    /// is built only for a report.
    fn check_pair(
        &self,
        l: NodeRef<'_>,
        r: NodeRef<'_>,
    ) -> Result<Option<HookDisagreement>, Error> {
        let options = StructuralOptions::mapping_free_vars();
        let at = |error: Error| error.with_outer_path(self.path(0));
        if !options.equal(l, r).map_err(at)? {
            return Ok(None);
        }
        let left_hash = options.hash(l).map_err(at)?;
        let right_hash = options.hash(r).map_err(at)?;
        Ok((left_hash != right_hash).then(|| HookDisagreement {
            key: l.info().key(),
            left: self.path(0),
            right: self.path(1),
            left_hash,
            right_hash,
        }))
    }

    fn path(&self, side: usize) -> NodePath {
        let step =
            |frame: &HookCheckFrame<'a>| frame.steps.as_ref().map(|steps| steps[side].clone());
        self.frames.iter().filter_map(step).collect()
    }
}

/// Returns the children of two maps (or sets) whose keys are equal.
///
/// If a hook may hash the keys, all pairs of keys are compared, because their hash is in doubt.
fn matching_entries(left: NodeRef<'_>, right: NodeRef<'_>) -> Result<Vec<[usize; 2]>, Error> {
    let per_entry = left.info().layout().per_entry();
    let sides = [left, right].map(ChildCursor::of_node);
    let hashes = |node: NodeRef<'_>, children: &ChildCursor<'_>| {
        let entries = 0..children.len() / per_entry;
        entries
            .map(|entry| node.key_hash(children.stored_index(entry * per_entry) / per_entry))
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
                if crate::equal(keys.0, keys.1)? {
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
            if StructuralOptions::mapping_free_vars().equal(key, other)? {
                pair(l, r);
                free.remove(place);
                break;
            }
        }
    }
    Ok(pairs)
}
