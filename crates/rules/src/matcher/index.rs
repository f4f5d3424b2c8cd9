//! What is asked of a program before anything is searched: its instructions by op, and wide uses by op.

use std::cell::RefCell;
use std::rc::Rc;

use hashbrown::HashMap;
use rustc_hash::FxBuildHasher;
use sapwood_ptir::{Function, InstId, OpKey, ValueId};

/// Values with more uses than this get an index of their own.
const WIDE: usize = 16;

type Fan = HashMap<OpKey, Rc<Vec<InstId>>, FxBuildHasher>;

/// The instructions of a function by op, in program order. One for all patterns.
pub(crate) struct FunctionIndex<'a> {
    f: &'a Function,
    by_key: Vec<Vec<InstId>>,
    order: Vec<(InstId, u32)>,
    fans: RefCell<HashMap<ValueId, Fan, FxBuildHasher>>,
}

/// The instructions that may be one op of a pattern.
pub(crate) enum Candidates {
    None,
    One(InstId),
    Few(Vec<InstId>),
    Many(Rc<Vec<InstId>>),
}

impl Candidates {
    pub(crate) fn get(&self, n: usize) -> Option<InstId> {
        match self {
            Self::None => None,
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
        Self { f, by_key, order, fans: RefCell::default() }
    }

    /// The instructions of an op.
    pub(crate) fn of(&self, key: OpKey) -> &[InstId] {
        self.of_number(key.index())
    }

    /// The instructions of the op with this number.
    pub(super) fn of_number(&self, key: usize) -> &[InstId] {
        self.by_key.get(key).map_or(&[], Vec::as_slice)
    }

    /// All instructions in program order, each with the number of its op.
    pub(super) fn in_order(&self) -> &[(InstId, u32)] {
        &self.order
    }

    /// How many uses a value has, counted up to a limit.
    pub(crate) fn width(&self, value: ValueId) -> usize {
        self.f.uses(value).take(WIDE + 1).count()
    }

    /// The instructions of an op that use a value, each once, in program order.
    pub(crate) fn users(&self, value: ValueId, key: OpKey) -> Candidates {
        let f = self.f;
        let mut uses = f.uses(value).filter(|u| f.op_key(u.user) == key).map(|u| u.user);
        if self.width(value) > WIDE {
            let mut fans = self.fans.borrow_mut();
            let fan = fans.entry(value).or_insert_with(|| self.fan(value));
            return fan.get(&key).map_or(Candidates::None, |list| Candidates::Many(list.clone()));
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

    fn fan(&self, value: ValueId) -> Fan {
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

    /// The instructions of an op in whose regions a value is used, each once, in program order.
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
