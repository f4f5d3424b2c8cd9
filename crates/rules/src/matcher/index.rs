//! An index of the instructions of a function by op, and of the users of widely used values.

use std::borrow::Cow;
use std::cell::RefCell;
use std::rc::Rc;

use hashbrown::HashMap;
use rustc_hash::FxBuildHasher;
use sapwood_ptir::{Function, InstId, OpKey, ValueId};
use smallvec::SmallVec;

use crate::graph::{OtherOps, PatternOp};

/// Values with more uses than this get an index of their users.
const INDEXED_USE_COUNT: usize = 16;

type UsersByOp = HashMap<OpKey, Rc<Vec<InstId>>, FxBuildHasher>;

/// The instructions of a function by op, in program order; shared by all patterns.
pub(crate) struct FunctionIndex<'a> {
    f: &'a Function,
    by_key: Vec<Vec<InstId>>,
    order: Vec<(InstId, u32)>,
    wide_uses: RefCell<HashMap<ValueId, UsersByOp, FxBuildHasher>>,
}

/// The candidate instructions for one op of a pattern.
pub(crate) enum Candidates {
    None,
    One(InstId),
    Few(Vec<InstId>),
    Many(Rc<Vec<InstId>>),
    /// The branches of a choice; none for a step that is not needed.
    Branches(usize),
}

impl Candidates {
    pub(crate) fn get(&self, n: usize) -> Option<InstId> {
        match self {
            Self::None | Self::Branches(_) => None,
            Self::One(inst) => (n == 0).then_some(*inst),
            Self::Few(list) => list.get(n).copied(),
            Self::Many(list) => list.get(n).copied(),
        }
    }
}

impl<'a> FunctionIndex<'a> {
    pub(crate) fn new(f: &'a Function) -> Self {
        let mut by_key: Vec<Vec<InstId>> = Vec::new();
        let mut order = Vec::with_capacity(f.num_insts());
        for inst in f.walk_post_order() {
            let key = f.op_key(inst).index();
            if by_key.len() <= key {
                by_key.resize_with(key + 1, Vec::new);
            }
            by_key[key].push(inst);
            order.push((inst, key as u32));
        }
        Self { f, by_key, order, wide_uses: RefCell::default() }
    }

    /// Returns the instructions of an op.
    pub(crate) fn of(&self, key: OpKey) -> &[InstId] {
        self.of_number(key.index())
    }

    /// Returns the number of instructions that an op of a pattern stands for.
    pub(super) fn count(&self, op: &PatternOp) -> usize {
        match &op.others {
            OtherOps::None => self.of(op.key).len(),
            OtherOps::These(keys) => {
                self.of(op.key).len() + keys.iter().map(|&key| self.of(key).len()).sum::<usize>()
            }
            OtherOps::All => self.order.len(),
        }
    }

    /// Returns the indices of the ops of the function that an op of a pattern stands for.
    pub(super) fn keys_of(&self, op: &PatternOp) -> SmallVec<[usize; 2]> {
        match &op.others {
            OtherOps::None => SmallVec::from_slice(&[op.key.index()]),
            OtherOps::These(keys) => {
                std::iter::once(&op.key).chain(keys).map(|key| key.index()).collect()
            }
            OtherOps::All => {
                (0..self.by_key.len()).filter(|&n| !self.by_key[n].is_empty()).collect()
            }
        }
    }

    /// Returns the instructions that an op of a pattern stands for, in program order.
    pub(super) fn candidates(&self, op: &PatternOp) -> Cow<'_, [InstId]> {
        match &op.others {
            OtherOps::None => Cow::Borrowed(self.of(op.key)),
            OtherOps::These(_) | OtherOps::All => {
                let accepted = |(i, _): &(InstId, u32)| op.accepts(self.f.op_key(*i)).then_some(*i);
                Cow::Owned(self.order.iter().filter_map(accepted).collect())
            }
        }
    }

    /// Returns the instructions of the op with this index.
    pub(super) fn of_number(&self, key: usize) -> &[InstId] {
        self.by_key.get(key).map_or(&[], Vec::as_slice)
    }

    /// Returns all instructions in program order, each with the index of its op.
    pub(super) fn in_order(&self) -> &[(InstId, u32)] {
        &self.order
    }

    /// Returns the number of uses of a value, counted up to a limit.
    pub(crate) fn width(&self, value: ValueId) -> usize {
        self.f.uses(value).take(INDEXED_USE_COUNT + 1).count()
    }

    /// Returns the instructions of an op that use a value, each once, in program order.
    pub(crate) fn users(&self, value: ValueId, key: OpKey) -> Candidates {
        let f = self.f;
        let mut uses = f.uses(value).filter(|u| f.op_key(u.user) == key).map(|u| u.user);
        if self.width(value) > INDEXED_USE_COUNT {
            let mut wide_uses = self.wide_uses.borrow_mut();
            let users_by_op = wide_uses.entry(value).or_insert_with(|| self.users_by_op(value));
            return users_by_op
                .get(&key)
                .map_or(Candidates::None, |list| Candidates::Many(list.clone()));
        }
        let (first, second) = (uses.next(), uses.next());
        match (first, second) {
            (None, _) => Candidates::None,
            (Some(one), None) => Candidates::One(one),
            (Some(one), Some(two)) => {
                let mut list: Vec<InstId> = [one, two].into_iter().chain(uses).collect();
                list.sort_unstable_by_key(|&i| f.order_key(i));
                list.dedup();
                Candidates::Few(list)
            }
        }
    }

    fn users_by_op(&self, value: ValueId) -> UsersByOp {
        let f = self.f;
        let mut users: Vec<InstId> = f.uses(value).map(|u| u.user).collect();
        users.sort_unstable_by_key(|&i| f.order_key(i));
        users.dedup();
        let mut lists: HashMap<OpKey, Vec<InstId>, FxBuildHasher> = HashMap::default();
        for user in users {
            lists.entry(f.op_key(user)).or_default().push(user);
        }
        lists.into_iter().map(|(key, list)| (key, Rc::new(list))).collect()
    }

    /// Returns the instructions of an op whose regions use a value, each once, in program order.
    pub(crate) fn around_uses(&self, value: ValueId, key: OpKey) -> Candidates {
        let f = self.f;
        let mut list = Vec::new();
        for u in f.uses(value) {
            let mut at = u.user;
            while let Some(owner) = f.body_of(at).and_then(|b| f.body_owner(b)) {
                if f.op_key(owner) == key {
                    list.push(owner);
                }
                at = owner;
            }
        }
        list.sort_unstable_by_key(|&i| f.order_key(i));
        list.dedup();
        Candidates::Few(list)
    }
}
