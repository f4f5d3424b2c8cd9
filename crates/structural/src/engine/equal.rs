//! The ordered comparison: every child from the first to the last, bindings and all.

use std::fmt::Write as _;

use super::frames::{After, Cursor, Frame, Matching, sequence};
use super::hash::{ORDERED, key_hashes};
use super::scopes::Basis;
use super::state::{Bound, Side, State, Verdict as Remembered};
use super::{Region, plain, scalars};
use crate::error::Error;
use crate::graph::{Graph, Heap, ViewOf};
use crate::kind::{Facts, Kind, Role};
use crate::node::Field;
use crate::path::{Path, Step};
use crate::reference::NodeRef;
use crate::type_info::{Layout, TypeInfo};
use crate::values::Value;
use crate::view::View;

/// Why two values differ, as the engine sees it.
#[derive(Clone, Debug)]
pub(crate) enum Cause {
    Type,
    Value,
    Length,
    Missing,
    /// A variable is bound to another; the number of the binding, or nothing for two free ones.
    Binding(Option<usize>),
    Sharing,
    /// A hook said no: because of this part, or of its own accord.
    Hook(Option<Box<Difference>>),
}

/// A place where two graphs differ.
#[derive(Clone, Debug)]
pub(crate) struct Difference {
    pub(crate) paths: [Path; 2],
    pub(crate) cause: Cause,
    /// The values there; nothing where one is missing.
    pub(crate) shown: [Option<Value>; 2],
}

/// What is wanted of a comparison beyond yes or no.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Mode {
    /// How many differences; the walk goes on until it has them.
    pub(crate) differences: usize,
    /// Stop at the binding of this number and say where it was made.
    pub(crate) stop_at: Option<usize>,
}

impl Mode {
    /// Whether differences are wanted in the order of the fields.
    fn ordered(self) -> bool {
        self.differences > 0 || self.stop_at.is_some()
    }
}

pub(crate) struct Comparison<'s, 'a, G: Graph<'a>> {
    g: G,
    state: &'s mut State,
    mode: Mode,
    frames: Vec<Frame<G::Node, G::List>>,
    pub(crate) found: Vec<Difference>,
    /// Pairs that differ and were reported.
    reported: hashbrown::HashSet<(usize, usize), rustc_hash::FxBuildHasher>,
}

enum Verdict {
    Equal,
    Differ(Cause),
    /// A frame was pushed.
    Opened,
    /// Known to differ, and reported before.
    Reported,
}

impl<'s, 'a, G: Graph<'a>> Comparison<'s, 'a, G> {
    pub(crate) fn new(g: G, state: &'s mut State, mode: Mode) -> Self {
        let reported = hashbrown::HashSet::default();
        Self { g, state, mode, frames: Vec::new(), found: Vec::new(), reported }
    }

    /// Whether the two are equal. What differs, as far as wanted, is in `found` afterwards.
    pub(crate) fn run(
        &mut self,
        left: ViewOf<'a, G>,
        right: ViewOf<'a, G>,
        region: Region,
    ) -> Result<bool, Error> {
        let verdict = self.compare(left, right, region)?;
        let mut equal = !self.differs(verdict, [Some(left), Some(right)]);
        while let Some(top) = self.frames.last_mut() {
            if !equal && self.found.len() >= self.mode.differences {
                return Ok(false);
            }
            if top.next == top.len {
                equal &= self.close()?;
                continue;
            }
            let index = top.next;
            top.next += 1;
            let region = match (top.left, &top.matching) {
                (_, Some(_)) | (Cursor::List(_), None) => top.region,
                (Cursor::Node(node), None) => match self.g.info(node).fields().get(index) {
                    Some(field) if field.role == Role::Ignore => continue,
                    Some(field) => top.region.of_field(field.role),
                    None => top.region,
                },
            };
            let left = top.child(self.g, Side::Left, index);
            let right = top.child(self.g, Side::Right, index);
            let verdict = self.compare(left, right, region)?;
            equal &= !self.differs(verdict, [Some(left), Some(right)]);
        }
        Ok(equal)
    }

    fn compare(
        &mut self,
        left: ViewOf<'a, G>,
        right: ViewOf<'a, G>,
        region: Region,
    ) -> Result<Verdict, Error> {
        if let (View::Node(left), View::Node(right)) = (&left, &right) {
            return self.compare_nodes(*left, *right, region);
        }
        if let Some(equal) = scalars::equal(&left, &right, self.state.options.skip_tensor_content) {
            // An uncomparable node is an error whatever it is compared with.
            for view in [&left, &right] {
                if let View::Node(node) = view {
                    self.refuse_uncomparable(self.g.info(*node))?;
                }
            }
            let cause = if left.sort() == right.sort() { Cause::Value } else { Cause::Type };
            return Ok(if equal { Verdict::Equal } else { Verdict::Differ(cause) });
        }
        match (sequence(self.g, &left), sequence(self.g, &right)) {
            (Some(left), Some(right)) => {
                Ok(self.open_sequence(left, right, region, After::Nothing))
            }
            _ => Ok(Verdict::Differ(Cause::Type)),
        }
    }

    fn compare_nodes(
        &mut self,
        left: G::Node,
        right: G::Node,
        region: Region,
    ) -> Result<Verdict, Error> {
        let g = self.g;
        let info = g.info(left);
        if !std::ptr::eq(info, g.info(right)) {
            self.refuse_uncomparable(info)?;
            self.refuse_uncomparable(g.info(right))?;
            return Ok(Verdict::Differ(Cause::Type));
        }
        if info.kind() == Kind::Var {
            return self.compare_variables(left, right, region);
        }
        self.refuse_uncomparable(info)?;
        let (left_id, right_id) = (g.id(left), g.id(right));
        let facts = g.facts(left).and(g.facts(right));
        if matches!(info.kind(), Kind::ConstTree | Kind::Singleton) {
            refuse_variables(info, facts).map_err(|error| error.within(&self.path(Side::Left)))?;
        }
        if left_id == right_id
            && (facts.is_none()
                || info.kind() == Kind::ConstTree && !facts.any(Facts::UNCOMPARABLE))
        {
            return Ok(Verdict::Equal);
        }
        let shared = g.shared(left) || g.shared(right);
        if !facts.any(ORDERED) && !self.mode.ordered() {
            let equal = plain::equal(g, self.state, (left, right), self.below_shared())
                .map_err(|error| error.within(&self.path(Side::Left)))?;
            return Ok(if equal { Verdict::Equal } else { Verdict::Differ(Cause::Value) });
        }
        match info.kind() {
            Kind::Singleton if left_id == right_id => Ok(Verdict::Equal),
            Kind::Singleton => Ok(Verdict::Differ(Cause::Value)),
            Kind::Dag => {
                let partners = (
                    self.state.dag_partner(Side::Left, left_id),
                    self.state.dag_partner(Side::Right, right_id),
                );
                match partners {
                    (None, None) => {
                        let shared = shared || self.below_shared();
                        let after = if shared { After::Pair } else { After::Nothing };
                        self.open(left, right, region, after, shared)
                    }
                    (Some(partner), _) if partner == right_id => Ok(Verdict::Equal),
                    _ => Ok(Verdict::Differ(Cause::Sharing)),
                }
            }
            Kind::Tree | Kind::ConstTree | Kind::Var | Kind::Uncomparable => {
                if !shared {
                    let shared = self.below_shared();
                    return self.open(left, right, region, After::Nothing, shared);
                }
                let after = match self.state.known(left_id, right_id) {
                    Remembered::Equal => return Ok(Verdict::Equal),
                    _ if self.reported.contains(&(left_id, right_id)) => {
                        return Ok(Verdict::Reported);
                    }
                    Remembered::Unknown => After::Join,
                    Remembered::NotHere => After::JoinAnew,
                };
                self.open(left, right, region, after, true)
            }
        }
    }

    fn compare_variables(
        &mut self,
        left: G::Node,
        right: G::Node,
        region: Region,
    ) -> Result<Verdict, Error> {
        let ids = [self.g.id(left), self.g.id(right)];
        let (binds, plain) = (!region.leaves_free(), self.g.info(left).compares_nothing());
        // The usual parameter: never met before, and nothing to compare.
        if binds
            && plain
            && self.mode.stop_at.is_none()
            && self.state.bind_new(ids[0], ids[1], self.depth_in(region), region.is_below_var())
        {
            return Ok(Verdict::Equal);
        }
        let known = self.state.binding(Side::Left, ids[0]);
        // Two variables bound to each other have one binding: no need to look for the other's.
        let bound = match known {
            Some((_, binding)) if binding.on(Side::Right) == ids[1] => [known, None],
            _ => [known, self.state.binding(Side::Right, ids[1])],
        };
        if region.is_def() {
            let depth = self.state.scopes.depth();
            for (binding, variable) in bound.iter().zip([left, right]) {
                if let Some((number, binding)) = binding
                    && (1..depth).contains(&binding.depth())
                {
                    return Err(self.shadowing(*number, variable));
                }
            }
        }
        match bound {
            [Some((_, binding)), _] if binding.on(Side::Right) == ids[1] => {
                self.state.scopes.touch(binding.depth());
                Ok(Verdict::Equal)
            }
            [Some((number, _)), _] | [None, Some((number, _))] => {
                Ok(Verdict::Differ(Cause::Binding(Some(number))))
            }
            [None, None] if binds && plain => {
                self.bind(left, right, region, region.is_below_var())?;
                Ok(Verdict::Equal)
            }
            [None, None] if binds => {
                let shared = self.below_shared();
                let hidden = region.is_below_var();
                let verdict = self.open(left, right, region.below_var(), After::Bind, shared)?;
                if let (Verdict::Opened, Some(top)) = (&verdict, self.frames.last_mut()) {
                    top.hidden = hidden;
                }
                Ok(verdict)
            }
            [None, None] if ids[0] == ids[1] => {
                self.stop_at(left, right)?;
                self.state.bind_free(ids[0]);
                Ok(Verdict::Equal)
            }
            [None, None] => Ok(Verdict::Differ(Cause::Binding(None))),
        }
    }

    /// Begins to compare what is inside two nodes of one type.
    fn open(
        &mut self,
        left: G::Node,
        right: G::Node,
        region: Region,
        after: After,
        shared: bool,
    ) -> Result<Verdict, Error> {
        let g = self.g;
        let info = g.info(left);
        let region = region.inside(info);
        let frame = Frame {
            left: Cursor::Node(left),
            right: Cursor::Node(right),
            next: 0,
            len: 0,
            region,
            shared,
            scope: info.is_scope(),
            tracked: info.is_scope()
                || matches!(after, After::Join | After::JoinAnew | After::Pair),
            differs: false,
            hidden: false,
            after,
            epoch: self.state.epoch(),
            matching: None,
            end: None,
        };
        if let Some(hooks) = info.hooks()
            && let (Some(left), Some(right)) = (g.heap(left), g.heap(right))
        {
            self.enter(&frame);
            self.state.enter_hook();
            let mut cx = EqualCx { state: &mut *self.state, mode: self.mode, region, failed: None };
            let result = hooks.equal(left, right, &mut cx);
            let failed = cx.failed.take();
            self.state.leave_hook();
            return match result {
                Ok(true) => {
                    self.frames.push(frame);
                    Ok(Verdict::Opened)
                }
                Ok(false) => {
                    self.leave(&frame);
                    Ok(Verdict::Differ(Cause::Hook(failed)))
                }
                Err(error) => Err(self.seen_from_here(error)),
            };
        }
        match info.layout() {
            Layout::Record => {
                let frame = Frame { len: info.fields().len(), ..frame };
                self.enter(&frame);
                self.frames.push(frame);
                Ok(Verdict::Opened)
            }
            Layout::List => {
                let sizes = (g.len(left), g.len(right));
                Ok(self.open_sequence(
                    (Cursor::Node(left), sizes.0),
                    (Cursor::Node(right), sizes.1),
                    region,
                    after,
                ))
            }
            Layout::Map | Layout::Set => {
                let per_entry = if info.layout() == Layout::Map { 2 } else { 1 };
                if !self.mode.ordered() && g.len(left) != g.len(right) {
                    return Ok(Verdict::Differ(Cause::Length));
                }
                self.enter(&frame);
                let matching = self.match_entries(left, right, per_entry)?;
                let end = matching.missing.map(|_| Cause::Missing);
                if end.is_some() && !self.mode.ordered() {
                    self.leave(&frame);
                    return Ok(Verdict::Differ(Cause::Missing));
                }
                // Keys are done with; a set has nothing else.
                let len = if per_entry == 2 { matching.pairs.len() } else { 0 };
                let frame = Frame { len, end, matching: Some(Box::new(matching)), ..frame };
                self.frames.push(frame);
                Ok(Verdict::Opened)
            }
        }
    }

    fn open_sequence(
        &mut self,
        (left, left_len): (Cursor<G::Node, G::List>, usize),
        (right, right_len): (Cursor<G::Node, G::List>, usize),
        region: Region,
        after: After,
    ) -> Verdict {
        let end = (left_len != right_len).then_some(Cause::Length);
        if end.is_some() && !self.mode.ordered() {
            return Verdict::Differ(Cause::Length);
        }
        // A long list of parameters; a lie about its length would have cost as much memory.
        if region.binds_in_scope() && left_len > 1000 {
            self.state.reserve(left_len.min(right_len));
        }
        let frame = Frame {
            left,
            right,
            next: 0,
            len: left_len.min(right_len),
            region,
            shared: self.below_shared() || after != After::Nothing,
            scope: false,
            tracked: after != After::Nothing,
            differs: false,
            hidden: false,
            after,
            epoch: self.state.epoch(),
            matching: None,
            end,
        };
        self.enter(&frame);
        self.frames.push(frame);
        Verdict::Opened
    }

    fn enter(&mut self, frame: &Frame<G::Node, G::List>) {
        if frame.tracked {
            self.state.scopes.track();
        }
        if frame.scope {
            self.state.scopes.enter();
        }
    }

    fn leave(&mut self, frame: &Frame<G::Node, G::List>) -> Basis {
        if frame.scope {
            self.state.scopes.leave();
        }
        if frame.tracked { self.state.scopes.untrack() } else { Default::default() }
    }

    /// Ends the innermost frame: all its children were visited. Whether it is equal.
    fn close(&mut self) -> Result<bool, Error> {
        let cause = self.frames.last_mut().and_then(|top| top.end.take());
        if let Some(cause) = cause {
            let views = self
                .frames
                .last()
                .map(|top| [top.end_child(self.g, Side::Left), top.end_child(self.g, Side::Right)]);
            let step = self.frames.last().and_then(|top| top.end_step(self.g));
            self.report(cause, views.unwrap_or([None, None]), step.as_ref());
        }
        let Some(frame) = self.frames.pop() else { return Ok(true) };
        let basis = self.leave(&frame);
        let ids = match (frame.left, frame.right) {
            (Cursor::Node(left), Cursor::Node(right)) => Some((left, right)),
            _ => None,
        };
        if let Some((left, right)) = ids {
            let (left_id, right_id) = (self.g.id(left), self.g.id(right));
            match frame.after {
                // Also when their fields differ, so that each use is not reported again.
                After::Bind => {
                    self.stop_at(left, right)?;
                    let depth =
                        if frame.region.binds_in_scope() { self.state.scopes.depth() } else { 0 };
                    self.state.bind(left_id, right_id, depth, frame.hidden);
                }
                After::Join | After::JoinAnew if frame.differs => {
                    self.reported.insert((left_id, right_id));
                }
                After::Join | After::JoinAnew if frame.epoch != self.state.epoch() => {}
                After::Join | After::JoinAnew => {
                    let anew = frame.after == After::JoinAnew;
                    self.state.join(left_id, right_id, &basis, anew);
                }
                After::Pair if !frame.differs => self.state.pair_dag(left_id, right_id, &basis),
                After::Pair | After::Nothing => {}
            }
        }
        if frame.differs
            && let Some(outer) = self.frames.last_mut()
        {
            outer.differs = true;
        }
        Ok(!frame.differs)
    }

    /// Binds two variables to each other, `hidden` if they were met below another one.
    fn bind(
        &mut self,
        left: G::Node,
        right: G::Node,
        region: Region,
        hidden: bool,
    ) -> Result<(), Error> {
        self.stop_at(left, right)?;
        let depth = self.depth_in(region);
        self.state.bind(self.g.id(left), self.g.id(right), depth, hidden);
        Ok(())
    }

    /// The depth of the scope that binds what is first met in a region.
    fn depth_in(&self, region: Region) -> u32 {
        if region.binds_in_scope() { self.state.scopes.depth() } else { 0 }
    }

    /// Takes note of a verdict on the child visited last. Whether it is a difference.
    fn differs(&mut self, verdict: Verdict, views: [Option<ViewOf<'a, G>>; 2]) -> bool {
        match verdict {
            Verdict::Equal | Verdict::Opened => return false,
            Verdict::Reported => {}
            Verdict::Differ(cause) => self.report(cause, views, None),
        }
        if let Some(top) = self.frames.last_mut() {
            top.differs = true;
        }
        true
    }

    fn report(&mut self, cause: Cause, views: [Option<ViewOf<'a, G>>; 2], last: Option<&Step>) {
        if let Some(top) = self.frames.last_mut() {
            top.differs = true;
        }
        if self.found.len() >= self.mode.differences {
            return;
        }
        let paths = [Side::Left, Side::Right].map(|side| match last {
            // `last` leads to what is missing; the frame's own last child was equal.
            Some(step) => {
                let outer = self.frames.len() - 1;
                self.steps(side, outer).chain([step.clone()]).collect()
            }
            None => self.path(side),
        });
        if let Cause::Hook(Some(inner)) = cause {
            let Difference { paths: tails, cause, shown } = *inner;
            let paths = [paths[0].join(&tails[0]), paths[1].join(&tails[1])];
            self.found.push(Difference { paths, cause, shown });
            return;
        }
        let shown = views.map(|view| view.map(|view| self.g.shown(view)));
        self.found.push(Difference { paths, cause, shown });
    }

    /// Where the walk is.
    fn path(&self, side: Side) -> Path {
        self.steps(side, self.frames.len()).collect()
    }

    fn steps(&self, side: Side, frames: usize) -> impl Iterator<Item = Step> {
        let g = self.g;
        self.frames[..frames].iter().filter_map(move |frame| frame.step(g, side))
    }

    fn below_shared(&self) -> bool {
        self.state.in_hook() || self.frames.last().is_some_and(|top| top.shared)
    }

    /// An error of a comparison inside this one, seen from here.
    fn seen_from_here(&mut self, error: Error) -> Error {
        let path = self.path(Side::Left);
        if let Some(bound) = &mut self.state.stopped {
            bound.at = path.join(&bound.at);
        }
        error.within(&path)
    }

    fn refuse_uncomparable(&self, info: &TypeInfo) -> Result<(), Error> {
        if info.kind() == Kind::Uncomparable {
            let path = self.path(Side::Left);
            return Err(Error::Uncomparable { key: info.key(), path });
        }
        Ok(())
    }

    fn shadowing(&mut self, number: usize, variable: G::Node) -> Error {
        let mut shown = String::new();
        let _ = write!(shown, "{:?}", self.g.shown(View::Node(variable)));
        Error::Shadowing {
            variable: shown,
            outer: Path::root(),
            inner: self.path(Side::Left),
            binding: number,
        }
    }

    /// If the binding about to be made is the one asked for, says where that is.
    fn stop_at(&mut self, left: G::Node, right: G::Node) -> Result<(), Error> {
        if self.mode.stop_at != Some(self.state.bindings_made()) {
            return Ok(());
        }
        let shown = |node| format!("{:?}", self.g.shown(View::Node(node)));
        self.stop_here(&shown(left), &shown(right))
    }

    fn stop_here(&mut self, left: &str, right: &str) -> Result<(), Error> {
        if self.mode.stop_at != Some(self.state.bindings_made()) {
            return Ok(());
        }
        let at = self.path(Side::Left);
        self.state.stopped = Some(Bound { left: left.to_owned(), right: right.to_owned(), at });
        Err(Error::Hook { key: "", path: Path::root(), error: "stopped".into() })
    }

    /// Which entries of two maps (or sets) have the same key.
    fn match_entries(
        &mut self,
        left: G::Node,
        right: G::Node,
        per_entry: usize,
    ) -> Result<Matching, Error> {
        let g = self.g;
        let hash_keys = |this: &mut Self, side, map| {
            let keys = key_hashes(g, &(&*this.state, side), this.state.options, map)
                .map_err(|error| error.within(&this.path(Side::Left)))?;
            this.state.scopes.rest_on(&keys.basis);
            Ok::<_, Error>(keys)
        };
        let mut lefts = hash_keys(self, Side::Left, left)?;
        let mut rights = hash_keys(self, Side::Right, right)?;
        lefts.free.retain(|free| rights.free.contains(free));
        if !lefts.free.is_empty() {
            for (_, variable) in lefts.free {
                self.stop_here("a free variable", "a free variable")?;
                self.state.bind_free(variable);
            }
            lefts = hash_keys(self, Side::Left, left)?;
            rights = hash_keys(self, Side::Right, right)?;
        }
        let (lefts, rights) = (lefts.order, rights.order);
        let mut matching = Matching::default();
        let mut r = 0;
        for group in lefts.chunk_by(|a, b| a.0 == b.0) {
            let hash = group[0].0;
            while r < rights.len() && rights[r].0 < hash {
                matching.miss(Side::Right, rights[r].1);
                r += 1;
            }
            let others = rights[r..].partition_point(|other| other.0 == hash);
            let mut free: Vec<u32> = rights[r..r + others].iter().map(|other| other.1).collect();
            r += others;
            for &(_, entry) in group {
                let mut partner = None;
                for (place, &other) in free.iter().enumerate() {
                    let key = |node, entry: u32| g.child(node, entry as usize * per_entry);
                    if self.equal_keys(key(left, entry), key(right, other))? {
                        partner = Some(place);
                        break;
                    }
                }
                match partner {
                    Some(place) => matching.pairs.push([entry, free.remove(place)]),
                    None => matching.miss(Side::Left, entry),
                }
            }
            for other in free {
                matching.miss(Side::Right, other);
            }
        }
        for other in &rights[r..] {
            matching.miss(Side::Right, other.1);
        }
        Ok(matching)
    }

    /// Whether two keys are equal. Keys never bind, and their free variables are known to be free by
    /// now, so all that is left behind is which dag nodes are paired; by a failed try, nothing.
    fn equal_keys(&mut self, left: ViewOf<'a, G>, right: ViewOf<'a, G>) -> Result<bool, Error> {
        if let Some(equal) = scalars::equal(&left, &right, self.state.options.skip_tensor_content) {
            return Ok(equal);
        }
        self.state.enter_hook();
        let mark = self.state.mark();
        let mode = Mode { differences: 0, ..self.mode };
        let result = Comparison::new(self.g, self.state, mode).run(left, right, Region::KEY);
        if !matches!(result, Ok(true)) {
            self.state.roll_back(mark);
        }
        self.state.leave_hook();
        result.map_err(|error| self.seen_from_here(error))
    }
}

/// An error if a type that promises to hold no variables holds some.
pub(super) fn refuse_variables(info: &TypeInfo, facts: Facts) -> Result<(), Error> {
    let held = if facts.any(Facts::VAR) {
        "a variable"
    } else if facts.any(Facts::DAG) {
        "a dag node"
    } else {
        return Ok(());
    };
    let (key, kind) = (info.key(), info.kind().name());
    Err(Error::NotConstant { key, kind, held, path: Path::root() })
}

/// What an equality hook compares its parts with.
///
/// It cannot outlive the hook:
///
/// ```compile_fail
/// use sapwood_structural::EqualCx;
/// static KEPT: std::sync::Mutex<Option<&'static mut EqualCx<'static>>> = std::sync::Mutex::new(None);
/// fn keep(cx: &mut EqualCx<'_>) {
///     *KEPT.lock().unwrap() = Some(cx);
/// }
/// ```
pub struct EqualCx<'s> {
    state: &'s mut State,
    mode: Mode,
    region: Region,
    failed: Option<Box<Difference>>,
}

impl EqualCx<'_> {
    /// Whether two parts are equal. With `def_region`, variables first met in them are bound, as in
    /// a def field; without, they are compared as an ordinary field would be. If the answer is no,
    /// or an error, all bindings made on the way are taken back. `field_name` is the step to the
    /// part in the path of a mismatch.
    ///
    /// # Errors
    /// As [`crate::equal`].
    pub fn equal(
        &mut self,
        left: &impl Field,
        right: &impl Field,
        def_region: bool,
        field_name: &str,
    ) -> Result<bool, Error> {
        self.equal_views(left.view(), right.view(), def_region, field_name)
    }

    /// As [`EqualCx::equal`], for views.
    ///
    /// # Errors
    /// As [`crate::equal`].
    pub fn equal_views(
        &mut self,
        left: View<'_>,
        right: View<'_>,
        def_region: bool,
        field_name: &str,
    ) -> Result<bool, Error> {
        let state = &mut *self.state;
        keep_alive(left, &mut |node| state.keep(Value::Node(node.to_owned())));
        keep_alive(right, &mut |node| state.keep(Value::Node(node.to_owned())));
        let region = if def_region { self.region.of_field(Role::Def) } else { self.region };
        let step = || Step::Field(field_name.into());
        let mark = self.state.mark();
        let mode = Mode { differences: self.mode.differences.min(1), ..self.mode };
        let mut comparison = Comparison::new(Heap, self.state, mode);
        let result = grow(|| comparison.run(left, right, region));
        let found = comparison.found.pop();
        match result {
            Ok(true) => Ok(true),
            Ok(false) => {
                self.state.roll_back(mark);
                let prefix: Path = [step()].into_iter().collect();
                self.failed = found.map(|mut difference| {
                    difference.paths = difference.paths.map(|path| prefix.join(&path));
                    Box::new(difference)
                });
                Ok(false)
            }
            Err(error) => {
                self.state.roll_back(mark);
                let prefix: Path = [step()].into_iter().collect();
                if let Some(bound) = &mut self.state.stopped {
                    bound.at = prefix.join(&bound.at);
                }
                Err(error.within(&prefix))
            }
        }
    }
}

/// Calls `keep` with the nodes at the top of `view`.
pub(super) fn keep_alive(view: View<'_>, keep: &mut impl FnMut(NodeRef<'_>)) {
    match view {
        View::Node(node) => keep(node),
        View::List(list) => (0..list.len()).for_each(|i| keep_alive(list.item(i), keep)),
        _ => {}
    }
}

/// Runs `f` with enough machine stack: hooks call back into the engine to any depth.
pub(super) fn grow<R>(f: impl FnOnce() -> R) -> R {
    stacker::maybe_grow(128 * 1024, 4 * 1024 * 1024, f)
}
