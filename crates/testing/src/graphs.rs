//! Random node types and random graphs of them, for property tests and fuzzing.
//!
//! All decisions come from [`Choices`], a list of numbers, so that a test runner can shrink a
//! failing case by making the list shorter and its numbers smaller.

use sapwood_structural::{
    ChildLayout, EqualCx, Error, Facts, FieldBuilder, FieldRole, HashCx, Map, NodeKind, NodeRef,
    Seq, Set, TypeBuilder, TypeInfo, TypeRegistry, Value, View,
};

/// A list of numbers that determines all random choices. After its end every choice is the first one.
pub struct Choices<'a> {
    row: &'a [u32],
}

impl<'a> Choices<'a> {
    /// Creates choices from `row`.
    #[must_use]
    pub fn new(row: &'a [u32]) -> Self {
        Self { row }
    }

    /// Returns a number below `n`; 0 if `n` is 0.
    pub fn below(&mut self, n: usize) -> usize {
        let Some((&first, rest)) = self.row.split_first() else { return 0 };
        self.row = rest;
        first as usize % n.max(1)
    }

    /// Returns true in about `percent` of all cases, never after the end of the list.
    pub fn chance(&mut self, percent: usize) -> bool {
        100 - self.below(100) <= percent
    }

    /// Returns whether the end of the list is reached.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.row.is_empty()
    }
}

/// The order in which the hooks of a random type compare its fields.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum HookStyle {
    /// All but the first, in order.
    SkipFirst,
    /// All, from the last to the first.
    Backwards,
    /// All, the first as a def field.
    DefFirst,
    /// All in order, or, failing that, all against the other's in reverse: a failed attempt is rolled
    /// back. Only in order if there are nodes, which may contain variables: their numbers follow the
    /// order of visits.
    EitherWay,
}

impl HookStyle {
    const ALL: [Self; 4] = [Self::SkipFirst, Self::Backwards, Self::DefFirst, Self::EitherWay];

    /// Returns the rounds of comparisons, one of which must succeed: pairs of fields, and whether they are
    /// def regions.
    #[must_use]
    pub fn rounds(self, left: NodeRef<'_>, right: NodeRef<'_>) -> Vec<Vec<(usize, usize, bool)>> {
        let fields = left.len();
        let open = [left, right]
            .iter()
            .any(|node| (0..node.len()).any(|i| matches!(node.child(i), View::Node(_))));
        let straight = |def_first: bool| (0..fields).map(move |i| (i, i, def_first && i == 0));
        match self {
            Self::SkipFirst => vec![straight(false).skip(1).collect()],
            Self::Backwards => vec![straight(false).rev().collect()],
            Self::DefFirst => vec![straight(true).collect()],
            Self::EitherWay if open => vec![straight(false).collect()],
            Self::EitherWay => vec![
                straight(false).collect(),
                (0..fields).map(|i| (i, fields - 1 - i, false)).collect(),
            ],
        }
    }

    fn equal(
        self,
        left: NodeRef<'_>,
        right: NodeRef<'_>,
        cx: &mut EqualCx<'_>,
    ) -> Result<bool, Error> {
        'rounds: for round in self.rounds(left, right) {
            for (l, r, def) in round {
                if !cx.equal(left.child(l), right.child(r), def, &format!("f{l}"))? {
                    continue 'rounds;
                }
            }
            return Ok(true);
        }
        Ok(false)
    }

    fn hash(self, node: NodeRef<'_>, init: u64, cx: &mut HashCx<'_>) -> Result<u64, Error> {
        let rounds = self.rounds(node, node);
        // The order in which two nodes are equal is not known here, so both orders must hash alike.
        if rounds.len() > 1 {
            return Ok(init);
        }
        rounds[0]
            .iter()
            .try_fold(init, |hash, &(field, _, def)| cx.hash(node.child(field), hash, def))
    }
}

/// A random type.
#[derive(Clone, Copy, Debug)]
pub struct RandomType {
    /// Its descriptor.
    pub info: &'static TypeInfo,
    /// The order of comparisons of its hooks, if it has any.
    pub hooks: Option<HookStyle>,
}

/// The features that random types may have.
#[derive(Clone, Copy, Debug)]
pub struct Allowed {
    /// Types with hooks.
    pub hooks: bool,
    /// Types that are not comparable.
    pub uncomparable: bool,
    /// Types of kind dag.
    pub dag: bool,
    /// Maps and sets among the values.
    pub maps: bool,
}

impl Allowed {
    /// Everything.
    pub const ALL: Self = Self { hooks: true, uncomparable: true, dag: true, maps: true };
}

/// A set of random types, the first of them a variable and a scope that binds it.
pub struct RandomTypes {
    /// The types.
    pub types: Vec<RandomType>,
    /// The registry of the types.
    pub registry: TypeRegistry,
    allowed: Allowed,
}

impl RandomTypes {
    /// Creates random types.
    ///
    /// # Panics
    /// If a type cannot be registered, which would be an error of this function.
    #[must_use]
    pub fn new(choices: &mut Choices<'_>, allowed: Allowed) -> Self {
        let mut made = Self { types: Vec::new(), registry: TypeRegistry::new(), allowed };
        made.add(NodeKind::Var, false, &[FieldRole::Ignore, FieldRole::Usual], None);
        made.add(NodeKind::Tree, true, &[FieldRole::Def, FieldRole::Usual], None);
        made.add(NodeKind::Tree, false, &[FieldRole::Def, FieldRole::Usual], None);
        made.add(NodeKind::Tree, false, &[FieldRole::Usual, FieldRole::Usual], None);
        made.add(NodeKind::Singleton, false, &[FieldRole::Usual, FieldRole::Ignore], None);
        if allowed.dag {
            made.add(NodeKind::Dag, false, &[FieldRole::Usual], None);
        }
        for _ in 0..choices.below(5) {
            let kind = match choices.below(20) {
                0..8 => NodeKind::Tree,
                8..12 if allowed.dag => NodeKind::Dag,
                12..14 => NodeKind::ConstTree,
                14..17 => NodeKind::Var,
                17 | 18 => NodeKind::Singleton,
                19 if allowed.uncomparable => NodeKind::Uncomparable,
                _ => NodeKind::Tree,
            };
            let roles: Vec<FieldRole> = (0..choices.below(4))
                .map(|_| match choices.below(6) {
                    0..4 => FieldRole::Usual,
                    4 => FieldRole::Def,
                    _ => FieldRole::Ignore,
                })
                .collect();
            let hooks =
                (allowed.hooks && choices.chance(25)).then(|| HookStyle::ALL[choices.below(4)]);
            made.add(kind, choices.chance(30) && kind != NodeKind::Var, &roles, hooks);
        }
        made
    }

    fn add(&mut self, kind: NodeKind, scope: bool, roles: &[FieldRole], hooks: Option<HookStyle>) {
        let mut builder = TypeBuilder::new(&format!("random.T{}", self.types.len())).kind(kind);
        for (index, &role) in roles.iter().enumerate() {
            builder = builder.field(FieldBuilder::new(&format!("f{index}")).role(role));
        }
        if scope {
            builder = builder.scope();
        }
        if let Some(style) = hooks {
            builder = builder
                .equal_hook(Box::new(move |left, right, cx| style.equal(left, right, cx)))
                .hash_hook(Box::new(move |node, init, cx| style.hash(node, init, cx)));
        }
        match builder.register(&mut self.registry) {
            Ok(info) => self.types.push(RandomType { info, hooks }),
            Err(error) => panic!("random types have names of their own: {error}"),
        }
    }

    /// Returns the order of comparisons of a type's hooks, if it has any.
    #[must_use]
    pub fn hooks(&self, info: &TypeInfo) -> Option<HookStyle> {
        self.types.iter().find(|random| std::ptr::eq(random.info, info))?.hooks
    }

    /// Creates a random graph of at most `size` nodes, with sharing.
    #[must_use]
    pub fn graph(&self, choices: &mut Choices<'_>, size: usize) -> Value {
        let mut pool: Vec<Value> = vec![Value::Int(0)];
        for number in 0..1 + choices.below(3) {
            pool.push(self.node(0, &[number.to_string().into(), Value::Int(1)]));
        }
        for _ in 0..size {
            if choices.is_empty() {
                break;
            }
            let value = self.value(choices, &pool);
            pool.push(value);
        }
        pool.pop().unwrap_or_default()
    }

    /// Creates one more value from those in the pool.
    fn value(&self, choices: &mut Choices<'_>, pool: &[Value]) -> Value {
        // Later values are preferred, so that graphs grow deep and the root contains most of them.
        let pick = |choices: &mut Choices<'_>| {
            let back = choices.below(pool.len()).min(choices.below(pool.len()));
            pool[pool.len() - 1 - back].clone()
        };
        match choices.below(14) {
            12 | 13 if self.allowed.maps => {
                let keys = self.tied_keys(choices);
                if choices.chance(25) {
                    return Set::new(keys).map_or(Value::None, Into::into);
                }
                let entries: Vec<(Value, Value)> =
                    keys.into_iter().map(|key| (key, pick(choices))).collect();
                Map::new(entries).map_or(Value::None, Into::into)
            }
            0 => scalar(choices),
            1 => Seq::new((0..choices.below(4)).map(|_| pick(choices))).into(),
            2 if self.allowed.maps => {
                let entries: Vec<(Value, Value)> =
                    (0..choices.below(3)).map(|_| (pick(choices), pick(choices))).collect();
                Map::new(entries).map_or(Value::None, Into::into)
            }
            3 if self.allowed.maps => {
                let members: Vec<Value> = (0..choices.below(3)).map(|_| pick(choices)).collect();
                Set::new(members).map_or(Value::None, Into::into)
            }
            _ => {
                let number = choices.below(self.types.len());
                let fields: Vec<Value> = (0..self.types[number].info.fields().len())
                    .map(|_| if choices.chance(15) { scalar(choices) } else { pick(choices) })
                    .collect();
                self.node(number, &fields)
            }
        }
    }

    /// Creates keys that differ and have the same hash.
    fn tied_keys(&self, choices: &mut Choices<'_>) -> Vec<Value> {
        let seq = |items: &[&Value]| Value::from(Seq::new(items.iter().copied().cloned()));
        if self.allowed.dag && choices.chance(30) {
            let [a, b, c] = [1, 1, 1].map(|content| self.node(5, &[Value::Int(content)]));
            let mut keys = vec![seq(&[&a, &b, &c]), seq(&[&a, &a, &a]), seq(&[&a, &a, &b])];
            keys.truncate(2 + choices.below(2));
            return keys;
        }
        let wrapped = choices.chance(30);
        (0..2 + choices.below(2))
            .map(|number| {
                let fields = [Value::Int(0), Value::Int(number as i64)];
                let key = self.types[4].info.make(fields).map_or(Value::None, Value::Node);
                if wrapped { seq(&[&key]) } else { key }
            })
            .collect()
    }

    fn node(&self, number: usize, fields: &[Value]) -> Value {
        let info = self.types[number].info;
        // Most singletons come from a registry. Those that hold variables cannot.
        let open = fields
            .iter()
            .any(|field| matches!(field, Value::Node(node) if node.node().facts().any(Facts::VAR)));
        let node = if info.kind() == NodeKind::Singleton && !open {
            info.get(fields.iter().cloned()).ok()
        } else {
            info.make(fields.iter().cloned()).ok()
        };
        node.map_or(Value::None, Value::Node)
    }
}

fn scalar(choices: &mut Choices<'_>) -> Value {
    match choices.below(10) {
        0 => Value::None,
        1 => Value::Bool(true),
        2 => Value::Float(1.0),
        3 => Value::Float(f64::NAN),
        4 => Value::from("text"),
        5 => Value::from(u128::MAX),
        _ => Value::Int(choices.below(3) as i64),
    }
}

/// The options of copying a graph.
#[derive(Clone, Copy, Debug, Default)]
pub struct Copying {
    /// The percentage of nodes that are kept instead of being copied.
    pub keep: usize,
    /// The percentage of tree nodes that are copied again at a second reference.
    pub unshare: usize,
    /// Copies every variable.
    pub rename: bool,
    /// The percentage of nodes in which a field is changed.
    pub change: usize,
    /// The percentage of maps and sets whose entries are inserted in another order.
    pub permute: usize,
}

/// A copier of graphs.
pub struct Copier<'c, 'r> {
    choices: &'c mut Choices<'r>,
    how: Copying,
    copies: Vec<(usize, Value)>,
    budget: usize,
    /// Set if a node could not be copied and `None` replaces it: for example a map whose keys cannot
    /// be hashed, because shadowing shows where less is shared.
    pub failed: bool,
}

impl<'c, 'r> Copier<'c, 'r> {
    /// Creates a copier with these options.
    pub fn new(choices: &'c mut Choices<'r>, how: Copying) -> Self {
        Self { choices, how, copies: Vec::new(), budget: 500, failed: false }
    }

    /// Returns a copy of `value`. Recursive: random graphs are small.
    pub fn copy(&mut self, value: &Value) -> Value {
        let Value::Node(node) = value else { return value.clone() };
        let node = node.node();
        let kind = node.info().kind();
        let known =
            self.copies.iter().find(|(id, _)| *id == node.id()).map(|(_, copy)| copy.clone());
        if let Some(copy) = known {
            let again =
                kind == NodeKind::Tree && self.budget > 0 && self.choices.chance(self.how.unshare);
            if !again {
                return copy;
            }
        }
        self.budget = self.budget.saturating_sub(1);
        let keeps = match kind {
            NodeKind::Singleton => true,
            NodeKind::Var => !self.how.rename,
            _ => self.choices.chance(self.how.keep),
        };
        let copy = if keeps {
            value.clone()
        } else {
            let mut fields: Vec<Value> =
                (0..node.len()).map(|index| self.copy(&Value::of(node.child(index)))).collect();
            if !fields.is_empty() && kind != NodeKind::Var && self.choices.chance(self.how.change) {
                let place = self.choices.below(fields.len());
                fields[place] = Value::Int(99);
            }
            let per_entry = match node.info().layout() {
                ChildLayout::Map => 2,
                ChildLayout::Set => 1,
                ChildLayout::Record | ChildLayout::List => 0,
            };
            if per_entry > 0 && !fields.is_empty() && self.choices.chance(self.how.permute) {
                let entries = fields.len() / per_entry;
                fields.rotate_left((1 + self.choices.below(entries)) % entries * per_entry);
            }
            match node.info().make(fields) {
                Ok(node) => Value::Node(node),
                Err(_) => {
                    self.failed = true;
                    Value::None
                }
            }
        };
        self.copies.push((node.id(), copy.clone()));
        copy
    }
}

/// Returns all variables of a graph, each once, after those in its own fields.
#[must_use]
pub fn variables(root: &Value) -> Vec<Value> {
    fn collect(view: View<'_>, seen: &mut Vec<usize>, found: &mut Vec<Value>) {
        let View::Node(node) = view else { return };
        if seen.contains(&node.id()) {
            return;
        }
        seen.push(node.id());
        for index in 0..node.len() {
            collect(node.child(index), seen, found);
        }
        if node.info().kind() == NodeKind::Var {
            found.push(Value::Node(node.to_owned()));
        }
    }
    let mut found = Vec::new();
    collect(root.view(), &mut Vec::new(), &mut found);
    found
}
