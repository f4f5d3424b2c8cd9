//! The engine over another storage: nodes in a vector, identified by their index. The results are those of the
//! same graph on the heap.

use sapwood_structural::{
    ChildLayout, Facts, FieldInfo, FieldRole, Graph, Hash128, Node, NodeKind, Ref,
    StructuralOptions, TypeInfo, View, diff_in, equal, equal_in, first_mismatch_in, hash_128,
    hash_in,
};

/// `var`, `add` or `lambda`, as in the heap's types below.
enum Op {
    Var(&'static str),
    Add(usize, usize),
    Lambda(Vec<usize>, usize),
    Int(i64),
}

#[derive(Default)]
struct Arena {
    ops: Vec<Op>,
}

impl Arena {
    fn push(&mut self, op: Op) -> usize {
        self.ops.push(op);
        self.ops.len() - 1
    }
}

static VAR_FIELDS: [FieldInfo; 1] = [FieldInfo::new("name", FieldRole::Ignore)];
static VAR: TypeInfo = TypeInfo::foreign("s.Var", NodeKind::Var, ChildLayout::Record, &VAR_FIELDS);
static ADD_FIELDS: [FieldInfo; 2] =
    [FieldInfo::new("left", FieldRole::Usual), FieldInfo::new("right", FieldRole::Usual)];
static ADD: TypeInfo = TypeInfo::foreign("s.Add", NodeKind::Tree, ChildLayout::Record, &ADD_FIELDS);
static LAMBDA_FIELDS: [FieldInfo; 2] =
    [FieldInfo::new("params", FieldRole::Def), FieldInfo::new("body", FieldRole::Usual)];
static LAMBDA: TypeInfo =
    TypeInfo::foreign("s.Lambda", NodeKind::Tree, ChildLayout::Record, &LAMBDA_FIELDS).scoped();
static INT_FIELDS: [FieldInfo; 1] = [FieldInfo::new("value", FieldRole::Usual)];
static INT: TypeInfo = TypeInfo::foreign("s.Int", NodeKind::Tree, ChildLayout::Record, &INT_FIELDS);

impl<'a> Graph<'a> for &'a Arena {
    type Node = usize;
    type List = &'a [usize];

    fn id(self, node: usize) -> usize {
        node
    }

    fn info(self, node: usize) -> &'static TypeInfo {
        match self.ops[node] {
            Op::Var(_) => &VAR,
            Op::Add(..) => &ADD,
            Op::Lambda(..) => &LAMBDA,
            Op::Int(_) => &INT,
        }
    }

    fn facts(self, node: usize) -> Facts {
        match &self.ops[node] {
            Op::Int(_) => Facts::NONE,
            Op::Var(_) | Op::Lambda(..) => Facts::VAR,
            Op::Add(left, right) => self.facts(*left).union(self.facts(*right)),
        }
    }

    fn is_shared(self, _: usize) -> bool {
        true
    }

    fn len(self, node: usize) -> usize {
        self.info(node).fields().len()
    }

    fn child(self, node: usize, index: usize) -> View<'a, usize, &'a [usize]> {
        match (&self.ops[node], index) {
            (Op::Var(name), 0) => View::Str(name),
            (Op::Add(left, _), 0) => View::Node(*left),
            (Op::Add(_, right), 1) => View::Node(*right),
            (Op::Lambda(params, _), 0) => View::List(params),
            (Op::Lambda(_, body), 1) => View::Node(*body),
            (Op::Int(value), 0) => View::Int(*value),
            _ => View::None,
        }
    }

    fn list_len(self, list: &'a [usize]) -> usize {
        list.len()
    }

    fn list_item(self, list: &'a [usize], index: usize) -> View<'a, usize, &'a [usize]> {
        View::Node(list[index])
    }

    fn creation_number(self, node: usize) -> u64 {
        node as u64
    }

    fn key_hash(self, _: usize, _: usize) -> Option<Hash128> {
        None
    }
}

#[derive(Node)]
#[node(key = "s.Var", kind = "var")]
struct Var {
    #[node(ignore)]
    name: String,
}

#[derive(Node)]
#[node(key = "s.Int")]
struct Int {
    value: i64,
}

#[derive(Node)]
#[node(key = "s.Add")]
struct Add {
    left: sapwood_structural::AnyRef,
    right: sapwood_structural::AnyRef,
}

#[derive(Node)]
#[node(key = "s.Lambda", scope)]
struct Lambda {
    #[node(def)]
    params: Vec<Ref<Var>>,
    body: sapwood_structural::AnyRef,
}

/// `λx y. x + (y + n)` in the arena.
fn in_arena(arena: &mut Arena, names: [&'static str; 2], n: i64) -> usize {
    let params = names.map(|name| arena.push(Op::Var(name)));
    let n = arena.push(Op::Int(n));
    let inner = arena.push(Op::Add(params[1], n));
    let body = arena.push(Op::Add(params[0], inner));
    arena.push(Op::Lambda(params.to_vec(), body))
}

/// Builds the same graph on the heap.
fn on_heap(names: [&str; 2], n: i64) -> Ref<Lambda> {
    let params = names.map(|name| Ref::new(Var { name: name.to_owned() }));
    let [x, y] = params.clone().map(Ref::into_any);
    let n = Ref::new(Int { value: n }).into_any();
    let inner = Ref::new(Add { left: y, right: n }).into_any();
    Ref::new(Lambda {
        body: Ref::new(Add { left: x, right: inner }).into_any(),
        params: params.to_vec(),
    })
}

#[test]
fn an_arena_compares_and_hashes_as_the_heap_does() -> Result<(), sapwood_structural::Error> {
    let mut arena = Arena::default();
    let f = in_arena(&mut arena, ["x", "y"], 7);
    let g = in_arena(&mut arena, ["a", "b"], 7);
    let h = in_arena(&mut arena, ["x", "y"], 8);
    let options = StructuralOptions::default();
    let view = View::Node;

    assert!(equal_in(&arena, view(f), view(g), options)?);
    assert!(!equal_in(&arena, view(f), view(h), options)?);
    assert!(equal(&on_heap(["x", "y"], 7), &on_heap(["a", "b"], 7))?);

    let heap = on_heap(["x", "y"], 7);
    assert_eq!(hash_in(&arena, view(f), options)?, hash_128(View::Node(heap.node()))?);
    assert_eq!(hash_in(&arena, view(f), options)?, hash_in(&arena, view(g), options)?);
    assert_ne!(hash_in(&arena, view(f), options)?, hash_in(&arena, view(h), options)?);

    let mismatch = first_mismatch_in(&arena, view(f), view(h), options)?;
    assert_eq!(
        mismatch.map(|mismatch| mismatch.left.to_string()).as_deref(),
        Some("<root>.body.right.right.value")
    );
    assert_eq!(diff_in(&arena, view(f), view(h), options, 10)?.len(), 1);
    Ok(())
}

#[test]
fn an_arena_without_a_cache_hashes_a_ladder_in_linear_time() -> Result<(), sapwood_structural::Error>
{
    let mut arena = Arena::default();
    let mut closed = arena.push(Op::Int(0));
    let variable = arena.push(Op::Var("x"));
    let mut open = variable;
    for _ in 0..1000 {
        closed = arena.push(Op::Add(closed, closed));
        open = arena.push(Op::Add(open, open));
    }
    // The facts of this little arena are found by walking, so they are given here.
    #[derive(Clone, Copy)]
    struct WithFacts<'a>(&'a Arena, usize);
    impl<'a> Graph<'a> for WithFacts<'a> {
        type Node = usize;
        type List = &'a [usize];
        fn id(self, node: usize) -> usize {
            node
        }
        fn info(self, node: usize) -> &'static TypeInfo {
            self.0.info(node)
        }
        fn facts(self, node: usize) -> Facts {
            if node == self.1 || node % 2 == 1 { Facts::VAR } else { Facts::NONE }
        }
        fn is_shared(self, _: usize) -> bool {
            true
        }
        fn len(self, node: usize) -> usize {
            self.0.len(node)
        }
        fn child(self, node: usize, index: usize) -> View<'a, usize, &'a [usize]> {
            self.0.child(node, index)
        }
        fn list_len(self, list: &'a [usize]) -> usize {
            list.len()
        }
        fn list_item(self, list: &'a [usize], index: usize) -> View<'a, usize, &'a [usize]> {
            View::Node(list[index])
        }
        fn creation_number(self, node: usize) -> u64 {
            node as u64
        }
        fn key_hash(self, _: usize, _: usize) -> Option<Hash128> {
            None
        }
    }
    let graph = WithFacts(&arena, variable);
    let options = StructuralOptions::default();
    for top in [closed, open] {
        assert!(equal_in(graph, View::Node(top), View::Node(top), options)?);
        hash_in(graph, View::Node(top), options)?;
    }
    Ok(())
}
