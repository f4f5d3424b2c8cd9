//! The ordered comparison: every child from the first to the last, bindings and all.

use super::frames::{After, Cursor, Frame, sequence};
use super::hook_context::EqualCx;
use super::room::Room;
use super::scopes::Basis;
use super::state::{DagPair, Side, State, Verdict as Remembered};
use super::{Region, quick, scalars};
use crate::error::Error;
use crate::graph::{Graph, ViewOf};
use crate::kind::{Facts, Kind, Role};
use crate::path::{Path, Step};
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
    /// Say where the bindings were made whose numbers the state asks for.
    pub(crate) locate: bool,
    /// Leave what holds variables to the ordered walk.
    pub(crate) thorough: bool,
}

impl Mode {
    /// Whether differences are wanted in the order of the fields.
    pub(super) fn ordered(self) -> bool {
        self.differences > 0 || self.locate
    }
}

pub(crate) struct Comparison<'s, 'a, G: Graph<'a>> {
    pub(super) g: G,
    pub(super) state: &'s mut State,
    pub(super) mode: Mode,
    pub(super) frames: Vec<Frame<G::Node, G::List>>,
    room: Room<G::Node, G::List>,
    pub(crate) found: Vec<Difference>,
    /// Pairs that differ and were reported.
    reported: hashbrown::HashSet<(usize, usize), rustc_hash::FxBuildHasher>,
}

pub(super) enum Verdict {
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
        Self {
            g,
            state,
            mode,
            frames: Vec::new(),
            room: Room::default(),
            found: Vec::new(),
            reported,
        }
    }

    /// Whether the two are equal. What differs, as far as wanted, is in `found` afterwards.
    pub(crate) fn run(
        &mut self,
        left: ViewOf<'a, G>,
        right: ViewOf<'a, G>,
        region: Region,
    ) -> Result<bool, Error> {
        let verdict = self.compare(left, right, region)?;
        self.finish(verdict, [Some(left), Some(right)])
    }

    /// Whether all inside two nodes of one type is equal; `below_shared` if something above them has
    /// more than one owner.
    pub(super) fn run_inside(
        &mut self,
        (left, right): (G::Node, G::Node),
        region: Region,
        below_shared: bool,
    ) -> Result<bool, Error> {
        let verdict = self.open(left, right, region, After::Nothing, below_shared)?;
        self.finish(verdict, [Some(View::Node(left)), Some(View::Node(right))])
    }

    /// Goes on after the verdict on the first pair.
    fn finish(
        &mut self,
        verdict: Verdict,
        views: [Option<ViewOf<'a, G>>; 2],
    ) -> Result<bool, Error> {
        let mut equal = !self.differs(verdict, views);
        while let Some(top) = self.frames.last_mut() {
            if !equal && self.found.len() >= self.mode.differences {
                self.note_unequal();
                return Ok(false);
            }
            if top.next == top.len {
                equal &= self.close()?;
                continue;
            }
            let index = top.next;
            if let Some(matching) = &top.matching
                && matching.begins_held_back(index)
            {
                self.check_held_back()?;
                continue;
            }
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
        // An uncomparable node is an error whatever it is compared with.
        for view in [&left, &right] {
            if let View::Node(node) = view {
                self.refuse_uncomparable(self.g.info(*node))?;
            }
        }
        if let Some(equal) = scalars::equal(&left, &right, self.state.options.skip_tensor_content) {
            let cause = if left.sort() == right.sort() { Cause::Value } else { Cause::Type };
            return Ok(if equal { Verdict::Equal } else { Verdict::Differ(cause) });
        }
        match (sequence(self.g, &left), sequence(self.g, &right)) {
            (Some(left), Some(right)) => {
                Ok(self.open_sequence(left, right, region, After::Nothing, false))
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
        if info.kind() == Kind::Singleton {
            let same = g.id(left) == g.id(right);
            return Ok(if same { Verdict::Equal } else { Verdict::Differ(Cause::Value) });
        }
        self.refuse_uncomparable(info)?;
        let (left_id, right_id) = (g.id(left), g.id(right));
        let facts = g.facts(left).and(g.facts(right));
        if info.kind() == Kind::ConstTree {
            refuse_variables(info, facts).map_err(|error| error.within(self.path(Side::Left)))?;
        }
        if left_id == right_id
            && (facts.is_none()
                || info.kind() == Kind::ConstTree && !facts.any(Facts::UNCOMPARABLE))
        {
            return Ok(Verdict::Equal);
        }
        let shared = g.shared(left) || g.shared(right);
        // Where the difference is to be told, a second look finds it again.
        let looks = if self.mode.ordered() { 2 } else { 1 };
        if self.state.in_hook() && self.state.times_unequal(left_id, right_id) >= looks {
            return Ok(Verdict::Differ(Cause::Hook(None)));
        }
        if !self.mode.ordered() && self.is_quick(info, facts) {
            let mut room = std::mem::take(&mut self.room);
            let below_shared = self.below_shared();
            let equal = quick::equal(g, self.state, (left, right), region, below_shared, &mut room);
            self.room = room;
            let equal = equal.map_err(|error| error.within(self.path(Side::Left)))?;
            return Ok(if equal { Verdict::Equal } else { Verdict::Differ(Cause::Value) });
        }
        match info.kind() {
            Kind::Dag => match self.state.dag_pair(left_id, right_id) {
                DagPair::EachOther => Ok(Verdict::Equal),
                DagPair::Others => Ok(Verdict::Differ(Cause::Sharing)),
                _ if self.reported.contains(&(left_id, right_id)) => Ok(Verdict::Reported),
                DagPair::None | DagPair::LookAgain => {
                    let shared = shared || self.below_shared();
                    let after = if shared { After::Pair } else { After::Nothing };
                    self.open(left, right, region, after, shared)
                }
            },
            Kind::Tree | Kind::ConstTree | Kind::Var | Kind::Singleton | Kind::Uncomparable => {
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

    /// Whether the quick walk can compare two nodes. Below a hook, what it binds could not be taken
    /// back.
    fn is_quick(&self, info: &TypeInfo, facts: Facts) -> bool {
        let in_order = info.layout().is_keyed() || self.mode.thorough || self.state.in_hook();
        let others = Facts::HOOK.and(Facts::UNCOMPARABLE);
        !facts.any(if in_order { others.and(Facts::VAR) } else { others })
    }

    /// Begins to compare what is inside two nodes of one type.
    pub(super) fn open(
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
            self.begin_inside();
            let mut cx = EqualCx { state: &mut *self.state, mode: self.mode, region, failed: None };
            let result = hooks.equal(left, right, &mut cx);
            let failed = cx.failed.take();
            self.end_inside();
            self.state.leave_hook();
            return match result {
                Ok(true) => {
                    self.frames.push(frame);
                    Ok(Verdict::Opened)
                }
                Ok(false) => {
                    self.leave(&frame);
                    if self.state.in_hook() && closed(left.facts(), right.facts()) {
                        self.state.note_unequal(left.id(), right.id());
                    }
                    Ok(Verdict::Differ(Cause::Hook(failed)))
                }
                Err(error) => Err(error.within(self.path(Side::Left))),
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
                    info.is_scope(),
                ))
            }
            Layout::Map | Layout::Set => {
                if !self.mode.ordered() && g.len(left) != g.len(right) {
                    return Ok(Verdict::Differ(Cause::Length));
                }
                self.enter(&frame);
                let matching = self.match_entries(left, right)?;
                let end = (!matching.missing.is_empty()).then_some(Cause::Missing);
                if end.is_some() && !self.mode.ordered() {
                    self.leave(&frame);
                    return Ok(Verdict::Differ(Cause::Missing));
                }
                // Keys are done with; a set has nothing else.
                let len = if info.layout() == Layout::Map { matching.pairs.len() } else { 0 };
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
        scope: bool,
    ) -> Verdict {
        let end = (left_len != right_len).then_some(Cause::Length);
        if end.is_some() && !self.mode.ordered() {
            return Verdict::Differ(Cause::Length);
        }
        // A long list of parameters; a lie about its length would have cost as much memory.
        if region.binds_in_scope() && left_len > 1000 {
            self.state.reserve::<G>(left_len.min(right_len));
        }
        let frame = Frame {
            left,
            right,
            next: 0,
            len: left_len.min(right_len),
            region,
            shared: self.below_shared() || after != After::Nothing,
            scope,
            tracked: scope || after != After::Nothing,
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
        let wanted = frame.after != After::Nothing;
        if frame.tracked { self.state.scopes.untrack(wanted) } else { Basis::default() }
    }

    /// Ends the innermost frame: all its children were visited. Whether it is equal.
    fn close(&mut self) -> Result<bool, Error> {
        if let Some(top) = self.frames.last_mut()
            && let Some(cause) = top.end.take()
        {
            for missing in top.missing() {
                let Some(top) = self.frames.last() else { break };
                let views =
                    [Side::Left, Side::Right].map(|side| top.end_child(self.g, side, missing));
                let step = top.end_step(self.g, missing);
                self.report(cause.clone(), views, step.as_ref());
            }
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
                After::Bind => self.bind(left, right, frame.region, frame.hidden),
                After::Join | After::JoinAnew | After::Pair if frame.differs => {
                    self.reported.insert((left_id, right_id));
                }
                After::Join | After::JoinAnew if frame.epoch != self.state.epoch() => {}
                After::Join | After::JoinAnew => {
                    let anew = frame.after == After::JoinAnew;
                    self.state.join(left_id, right_id, &basis, anew);
                }
                After::Pair => self.state.pair_dag(left_id, right_id, &basis),
                After::Nothing => {}
            }
        }
        if frame.differs
            && let Some(outer) = self.frames.last_mut()
        {
            outer.differs = true;
        }
        Ok(!frame.differs)
    }

    /// A hook may try the same parts again and again. What is open now differs for good, where no
    /// variable and no dag node has a say.
    fn note_unequal(&mut self) {
        if !self.state.in_hook() {
            return;
        }
        for frame in &self.frames {
            if let (Cursor::Node(left), Cursor::Node(right)) = (frame.left, frame.right)
                && closed(self.g.facts(left), self.g.facts(right))
            {
                self.state.note_unequal(self.g.id(left), self.g.id(right));
            }
        }
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
            let mut found = *inner;
            for (tail, path) in found.paths.iter_mut().zip(paths) {
                tail.prefix(path);
            }
            self.found.push(found);
            return;
        }
        let shown = views.map(|view| view.map(|view| self.g.shown(view)));
        self.found.push(Difference { paths, cause, shown });
    }

    /// Where the walk is.
    pub(super) fn path(&self, side: Side) -> Path {
        self.steps(side, self.frames.len()).collect()
    }

    pub(super) fn steps(&self, side: Side, frames: usize) -> impl Iterator<Item = Step> {
        let g = self.g;
        self.frames[..frames].iter().filter_map(move |frame| frame.step(g, side))
    }

    pub(super) fn below_shared(&self) -> bool {
        self.state.in_hook() || self.frames.last().is_some_and(|top| top.shared)
    }

    /// A comparison inside this one begins: what it finds is to be seen from here.
    pub(super) fn begin_inside(&mut self) {
        if self.mode.locate {
            let path = self.path(Side::Left);
            self.state.outer.push(path);
        }
    }

    pub(super) fn end_inside(&mut self) {
        if self.mode.locate {
            self.state.outer.pop();
        }
    }

    fn refuse_uncomparable(&self, info: &TypeInfo) -> Result<(), Error> {
        if info.kind() == Kind::Uncomparable {
            let path = self.path(Side::Left);
            return Err(Error::Uncomparable { key: info.key(), path });
        }
        Ok(())
    }
}

/// Whether what two nodes are to each other depends on nothing around them.
fn closed(left: Facts, right: Facts) -> bool {
    !left.and(right).any(Facts::VAR.and(Facts::DAG))
}

/// An error if a type that promises to hold no variables holds some.
pub(crate) fn refuse_variables(info: &TypeInfo, facts: Facts) -> Result<(), Error> {
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
