//! Tests of substitution: free variables, replacements, renaming, and unchanged nodes.

use std::collections::{HashMap, HashSet};

use proptest::prelude::*;
use sapwood_structural::{
    AnyRef, Facts, FieldRole, Map, Node, NodeKind, NodeRef, Ref, Seq, StructuralOptions, Value,
    View, equal, free_variables, substitute, write_json,
};
use sapwood_testing::on_small_stack;
use sapwood_testing::universe::{Choices, graph, universe};

#[derive(Node)]
#[node(kind = "var")]
struct Var {
    #[node(ignore)]
    name: String,
    ty: Option<AnyRef>,
}

#[derive(Node)]
#[node(scope)]
struct Lambda {
    #[node(def)]
    params: Vec<Ref<Var>>,
    body: Value,
}

/// A definition that binds for the scope around it.
#[derive(Node)]
struct Let {
    value: Value,
    #[node(def)]
    var: Ref<Var>,
}

#[derive(Node)]
struct Noted {
    term: Value,
    #[node(ignore)]
    note: Value,
}

fn var(name: &str) -> Ref<Var> {
    Ref::new(Var { name: name.into(), ty: None })
}

fn typed(name: &str, ty: impl Into<Value>) -> Ref<Var> {
    let ty = Some(Seq::new([ty.into()]).into_any());
    Ref::new(Var { name: name.into(), ty })
}

fn lambda(params: &[&Ref<Var>], body: impl Into<Value>) -> Value {
    let params = params.iter().map(|&param| param.clone()).collect();
    Ref::new(Lambda { params, body: body.into() }).into()
}

fn define(var: &Ref<Var>, value: impl Into<Value>) -> Value {
    Ref::new(Let { value: value.into(), var: var.clone() }).into()
}

macro_rules! seq {
    ($($item:expr),* $(,)?) => { Value::from(Seq::new([$(Value::from($item.clone())),*])) };
}

fn replaced(value: &Value, var: &Ref<Var>, by: impl Into<Value>) -> Value {
    substitute(value, [(var.clone().into_any(), by.into())]).unwrap()
}

fn names(value: &Value) -> Vec<String> {
    let name = |node: &AnyRef| node.downcast_ref::<Var>().unwrap().name.clone();
    free_variables(value).iter().map(name).collect()
}

#[track_caller]
fn same(found: &Value, expected: &Value) {
    assert!(equal(found, expected).unwrap(), "found {found:?}\nexpected {expected:?}");
}

#[test]
fn free_occurrences_are_replaced_and_bound_ones_left_alone() {
    let [x, y] = ["x", "y"].map(var);
    let bound = lambda(&[&x], seq![x, y]);
    let value = seq![bound, x];
    let result = replaced(&value, &x, 5);
    same(&result, &seq![bound, Value::Int(5)]);
    let seq = Seq::try_from(result.as_node().unwrap().clone()).unwrap();
    assert!(seq.as_slice()[0].as_node().unwrap().same(bound.as_node().unwrap()));
}

#[test]
fn a_value_without_the_variable_is_the_same_object() {
    let [x, y] = ["x", "y"].map(var);
    let value = seq![lambda(&[&x, &y], seq![x, y])];
    assert!(replaced(&value, &x, y).as_node().unwrap().same(value.as_node().unwrap()));
}

#[test]
fn a_scope_that_would_capture_is_renamed() {
    let [x, y, z] = ["x", "y", "z"].map(var);
    let result = replaced(&lambda(&[&y], seq![x, y]), &x, y.clone());
    same(&result, &lambda(&[&z], seq![y, z]));
    assert_eq!(names(&result), ["y"]);
    // Also beside the place of the replacement: what is met free first means the same everywhere.
    same(
        &replaced(&seq![x, lambda(&[&y], y.clone())], &x, y.clone()),
        &seq![y, lambda(&[&z], z.clone())],
    );
}

#[test]
fn variables_are_replaced_all_at_once() {
    let [x, y] = ["x", "y"].map(var);
    let swap = [(x.clone().into_any(), y.clone().into()), (y.clone().into_any(), x.clone().into())];
    same(&substitute(&seq![x, y, x], swap).unwrap(), &seq![y, x, y]);
}

#[test]
fn a_scope_ends_and_a_sequence_goes_on() {
    let [x, y] = ["x", "y"].map(var);
    // Bound from its definition to the end of the value, free before.
    let value = seq![x, define(&x, y.clone()), x];
    same(&replaced(&value, &x, 5), &seq![Value::Int(5), define(&x, y.clone()), x]);
    // In a scope, to the end of the scope.
    let value = seq![lambda(&[], seq![define(&x, 1), x]), x];
    same(&replaced(&value, &x, 5), &seq![lambda(&[], seq![define(&x, 1), x]), Value::Int(5)]);
    // The value of a definition is outside of it.
    same(&replaced(&define(&x, x.clone()), &x, 5), &define(&x, 5));
}

#[test]
fn types_are_replaced_in_too() {
    let n = var("n");
    let a = typed("a", n.clone());
    let result = replaced(&seq![a, a, n], &n, 5);
    let seq = Seq::try_from(result.as_node().unwrap().clone()).unwrap();
    let [first, second, five] = seq.as_slice() else { panic!("{result:?}") };
    assert!(first.as_node().unwrap().same(second.as_node().unwrap()));
    let ty = first.as_node().unwrap().downcast_ref::<Var>().unwrap().ty.clone().unwrap();
    assert!(equal(&ty, &Seq::new([Value::Int(5)])).unwrap());
    assert!(matches!(five, Value::Int(5)));
    assert_eq!(names(&seq![a]), ["a", "n"]);

    // A parameter of that type, in a scope around which `n` is free.
    let value = seq![n, lambda(&[&a], a.clone())];
    let five = typed("a", 5);
    same(&replaced(&value, &n, 5), &seq![Value::Int(5), lambda(&[&five], five.clone())]);
}

#[test]
fn a_variable_first_met_in_the_type_of_a_parameter_is_bound_there() {
    let n = var("n");
    let a = typed("a", n.clone());
    let value = lambda(&[&a], seq![a, n]);
    assert_eq!(names(&value), [""; 0]);
    assert!(replaced(&value, &n, 5).as_node().unwrap().same(value.as_node().unwrap()));
}

#[test]
fn a_bound_variable_keeps_its_type_in_inner_scopes() {
    let n = var("n");
    let a = typed("a", n.clone());
    // Inside, `n` is another one; `a` still has the type it was bound with.
    let value = seq![n, lambda(&[&a], seq![lambda(&[&n], seq![a, n])])];
    let five = typed("a", 5);
    let m = var("m");
    let inner = lambda(&[&m], seq![five, m]);
    same(&replaced(&value, &n, 5), &seq![Value::Int(5), lambda(&[&five], seq![inner])]);
}

#[test]
fn shared_terms_are_substituted_by_the_scope_of_each_use() {
    let x = var("x");
    let shared = seq![x];
    let value = seq![shared, lambda(&[&x], shared.clone()), shared];
    let result = replaced(&value, &x, 5);
    let seq = Seq::try_from(result.as_node().unwrap().clone()).unwrap();
    let [first, bound, last] = seq.as_slice() else { panic!("{result:?}") };
    assert!(first.as_node().unwrap().same(last.as_node().unwrap()));
    same(bound, &lambda(&[&x], shared));
}

#[test]
fn a_shared_definition_binds_in_every_scope_that_contains_it() {
    let x = var("x");
    let shared = define(&x, 1);
    let scope = || lambda(&[], seq![shared, x]);
    let value = seq![scope(), scope(), x];
    same(&replaced(&value, &x, 5), &seq![scope(), scope(), Value::Int(5)]);
    assert_eq!(names(&seq![scope(), scope()]), [""; 0]);
}

#[test]
fn maps_keep_their_order_and_ignored_fields_stay() {
    let x = var("x");
    let entries = |v: Value| ["z", "a", "m"].map(|key| (Value::from(key), v.clone()));
    let value: Value = Map::new(entries(x.clone().into())).unwrap().into();
    let result = replaced(&value, &x, 5);
    let map = Map::try_from(result.as_node().unwrap().clone()).unwrap();
    assert!(map.iter().map(|(key, _)| key.as_str().unwrap()).eq(["z", "a", "m"]));
    assert!(map.iter().all(|(_, value)| matches!(value, Value::Int(5))));

    let noted: Value = Ref::new(Noted { term: x.clone().into(), note: x.clone().into() }).into();
    let result = replaced(&noted, &x, 5);
    let noted = result.as_node().unwrap().downcast_ref::<Noted>().unwrap();
    assert!(matches!(noted.term, Value::Int(5)));
    assert!(noted.note.as_node().unwrap().same(x.as_any()));
}

#[test]
fn misuse_is_an_error() {
    let [x, y] = ["x", "y"].map(var);
    let node = Seq::new([]).into_any();
    assert_eq!(
        substitute(&seq![x], [(node, Value::None)]).unwrap_err().to_string(),
        "only variables can be replaced, and seq is of kind tree"
    );
    #[derive(Node)]
    struct Typed(Ref<Var>);
    let value = seq![y, Ref::new(Typed(x.clone()))];
    assert_eq!(
        substitute(&value, [(x.clone().into_any(), Value::Int(5))]).unwrap_err().to_string(),
        "<root>[1]: field 0 of Typed: expected a Var, found int 5"
    );
    assert!(substitute(&x, [(x.clone().into_any(), Value::Int(5))]).is_err());
}

#[test]
fn deep_wide_and_shared_graphs() {
    on_small_stack(|| {
        let [x, y, z] = ["x", "y", "z"].map(var);
        let chain = |end: Value| (0..1_000_000).fold(end, |inner, _| seq![inner]);
        same(&replaced(&chain(x.clone().into()), &x, y.clone()), &chain(y.clone().into()));
        let scopes = |v: &Ref<Var>| {
            (0..100_000).fold(Value::from(v.clone()), |inner, _| lambda(&[&var("p")], inner))
        };
        same(&replaced(&scopes(&x), &x, z.clone()), &scopes(&z));
        let ladder = |v: &Ref<Var>| (0..1000).fold(seq![v], |inner, _| seq![inner, inner]);
        same(&replaced(&ladder(&x), &x, y.clone()), &ladder(&y));
        // With scopes, half of which are renamed.
        let ladder = |bottom: Value, captures: &[Ref<Var>]| {
            captures.iter().fold(bottom, |inner, capture| {
                seq![lambda(&[capture], inner.clone()), lambda(&[&var("b")], inner)]
            })
        };
        let [captures, others] =
            ["a", "c"].map(|name| (0..1000).map(|_| var(name)).collect::<Vec<_>>());
        let by = Value::from(captures.iter().cloned().collect::<Seq>());
        let result = replaced(&ladder(x.clone().into(), &captures), &x, by.clone());
        same(&result, &ladder(by, &others));
        let params: Vec<Ref<Var>> = (0..100_000).map(|_| var("p")).collect();
        let wide = |params: &[Ref<Var>], v: &Ref<Var>| {
            let body = params.iter().chain([v]).cloned().collect::<Seq>();
            lambda(&params.iter().collect::<Vec<_>>(), body)
        };
        same(&replaced(&wide(&params, &x), &x, y.clone()), &wide(&params, &y));
        let others: Vec<Ref<Var>> = (0..100_000).map(|_| var("q")).collect();
        same(&replaced(&wide(&params, &x), &x, params[7].clone()), &wide(&others, &params[7]));
    });
}

#[test]
fn contexts_that_multiply_do_not_multiply_the_cost() {
    on_small_stack(|| {
        // Every path binds another half of the variables that the bottom uses.
        let pairs: Vec<[Ref<Var>; 2]> = (0..200).map(|_| [var("a"), var("b")]).collect();
        let bottom: Value = pairs.iter().flatten().cloned().collect::<Seq>().into();
        let whole = pairs
            .iter()
            .fold(bottom, |inner, [a, b]| seq![lambda(&[a], inner.clone()), lambda(&[b], inner)]);
        assert_eq!(free_variables(&whole).len(), 400);
        let x = var("x");
        same(&replaced(&seq![x, whole], &x, 5), &seq![Value::Int(5), whole]);
    });
}

/// Substitution by plain recursion, which gives every binder a fresh variable.
struct Model {
    replace: HashMap<usize, Value>,
    met_free: HashSet<usize>,
    free: Vec<usize>,
    bound: HashSet<usize>,
    free_done: HashMap<usize, Value>,
    scopes: Vec<Vec<(usize, Value)>>,
    /// In the fields of a free variable, which must stay itself if nothing is replaced there.
    in_free: bool,
    bound_in_free: bool,
    avoid: HashSet<usize>,
}

#[derive(Clone, Copy, PartialEq)]
enum ModelRegion {
    Use,
    Key,
    Def,
    BelowVar,
}

impl Model {
    fn new(replace: HashMap<usize, Value>) -> Self {
        let avoid = replace.values().flat_map(free_variables).map(|v| v.node().id()).collect();
        Self {
            avoid,
            replace,
            met_free: HashSet::new(),
            free: Vec::new(),
            bound: HashSet::new(),
            free_done: HashMap::new(),
            scopes: vec![Vec::new()],
            in_free: false,
            bound_in_free: false,
        }
    }

    fn value(&mut self, view: View<'_>, region: ModelRegion) -> Value {
        match view {
            View::Node(node) if node.info().kind() == NodeKind::Var => self.variable(node, region),
            View::Node(node) if node.facts().any(Facts::VAR) => self.node(node, region),
            _ => Value::of(view),
        }
    }

    /// Rebuilds the node; returns the node itself if no child changed.
    fn node(&mut self, node: NodeRef<'_>, region: ModelRegion) -> Value {
        let ends = node.info().is_scope() && node.info().kind() != NodeKind::Var;
        let region = if ends { ModelRegion::Use } else { region };
        if node.info().is_scope() {
            self.scopes.push(Vec::new());
        }
        let mut changed = false;
        let children: Vec<Value> = (0..node.len())
            .map(|index| {
                let key = match node.info().key() {
                    "map" => index % 2 == 0,
                    "set" => true,
                    _ => false,
                };
                let (old, role) = (node.child(index), node.info().fields().get(index));
                let region = match role.map_or(FieldRole::Usual, |field| field.role) {
                    FieldRole::Ignore => return Value::of(old),
                    FieldRole::Def if region != ModelRegion::Key => ModelRegion::Def,
                    _ if key => ModelRegion::Key,
                    _ => region,
                };
                let new = self.value(old, region);
                changed |= match (old, &new) {
                    (View::Node(old), Value::Node(new)) => old.id() != new.node().id(),
                    (View::Node(_), _) => true,
                    _ => false,
                };
                new
            })
            .collect();
        if node.info().is_scope() {
            self.scopes.pop();
        }
        if changed {
            node.info().make(children).unwrap().into()
        } else {
            Value::Node(node.to_owned())
        }
    }

    fn variable(&mut self, node: NodeRef<'_>, region: ModelRegion) -> Value {
        let id = node.id();
        let known = self.scopes.iter().rev().flatten().find(|(variable, _)| *variable == id);
        if let Some((_, value)) = known {
            return value.clone();
        }
        if region == ModelRegion::Def
            || region == ModelRegion::BelowVar && !self.met_free.contains(&id)
        {
            let mut value = self.node(node, ModelRegion::BelowVar);
            if value.as_node().unwrap().node().id() == id
                && (!self.in_free || self.avoid.contains(&id))
            {
                let fields = node.values().unwrap().to_vec();
                value = node.info().make(fields).unwrap().into();
            }
            self.bound.insert(id);
            self.bound_in_free |= self.in_free;
            self.scopes.last_mut().unwrap().push((id, value.clone()));
            return value;
        }
        if self.met_free.insert(id) {
            self.free.push(id);
        }
        if let Some(by) = self.replace.get(&id) {
            return by.clone();
        }
        if let Some(done) = self.free_done.get(&id) {
            return done.clone();
        }
        let inner = self.scopes.split_off(1);
        let was = std::mem::replace(&mut self.in_free, true);
        let value = self.node(node, ModelRegion::Use);
        self.in_free = was;
        self.scopes.extend(inner);
        self.free_done.insert(id, value.clone());
        value
    }
}

proptest! {
    #![proptest_config(sapwood_testing::properties())]

    #[test]
    fn free_variables_are_those_of_plain_recursion(
        bytes in prop::collection::vec(any::<u8>(), 0..100)
    ) {
        let value: Value = Seq::new(graph(&mut Choices::new(&bytes), 12)).into();
        let mut model = Model::new(HashMap::new());
        model.value(value.view(), ModelRegion::Use);
        let found: Vec<usize> = free_variables(&value).iter().map(|v| v.node().id()).collect();
        prop_assert_eq!(found, model.free);
    }

    #[test]
    fn substitution_is_that_of_plain_recursion(
        bytes in prop::collection::vec(any::<u8>(), 0..100),
        by in 0usize..4,
    ) {
        let globals = &universe().globals;
        let x = globals[0].clone();
        let by: Value = match by {
            0 => Value::Int(5),
            1 => globals[1].clone().into(),
            2 => Seq::new([globals[1].clone().into(), globals[0].clone().into()]).into(),
            _ => globals[2].clone().into(),
        };
        for value in graph(&mut Choices::new(&bytes), 12) {
            let View::Node(node) = value.view() else { continue };
            // Recursion loses sharing, and hooks have scoping of their own.
            if node.facts().any(Facts::DAG.union(Facts::HOOK).union(Facts::UNCOMPARABLE)) {
                continue;
            }
            let mut model = Model::new(HashMap::from([(x.node().id(), by.clone())]));
            let expected = model.value(value.view(), ModelRegion::Use);
            let found = substitute(&value, [(x.clone(), by.clone())]).unwrap();
            if !model.free.contains(&x.node().id()) {
                prop_assert!(found.as_node().unwrap().same(value.as_node().unwrap()));
                continue;
            }
            // A variable both free and bound is free to a comparison, and two to a substitution.
            // A comparison resolves the variables of a free variable's fields at each occurrence.
            if model.bound_in_free || model.free.iter().any(|v| model.bound.contains(v)) {
                continue;
            }
            // A free variable whose fields change becomes a new one, here and there.
            let renewed = model.free_done.iter().any(|(v, by)| by.as_node().unwrap().node().id() != *v);
            let options =
                if renewed { StructuralOptions::mapping_free_vars() } else { StructuralOptions::default() };
            if let Ok(same) = options.equal(&found, &expected) {
                prop_assert!(same, "{}", [value, found, expected].map(|v| write_json(&v).unwrap()).join("\n"));
            }
        }
    }
}
