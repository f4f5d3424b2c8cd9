//! Tests of walks: order, regions, skipping, stopping, sharing, depth.

use std::collections::HashSet;
use std::ops::ControlFlow;

use proptest::prelude::*;
use sapwood_structural::{
    Map, Node, NodeRef, NodeWalk, Ref, Seq, Set, Value, View, Visitor, WalkAction, WalkedNode,
};
use sapwood_testing::on_small_stack;
use sapwood_testing::universe::{Choices, graph};

#[derive(Node)]
#[node(kind = "var")]
struct Var {
    #[node(ignore)]
    name: String,
    ty: Option<Ref<Var>>,
}

#[derive(Node)]
struct Call {
    #[node(def)]
    outs: Vec<Ref<Var>>,
    args: Seq,
    #[node(ignore)]
    note: Option<Ref<Var>>,
}

fn var(name: &str) -> Ref<Var> {
    Ref::new(Var { name: name.into(), ty: None })
}

fn label(node: NodeRef<'_>) -> String {
    match node.downcast::<Var>() {
        Some(var) => var.name.clone(),
        None => node.info().key().to_owned(),
    }
}

/// `note: [out: n] = call(a, [b, a])`.
fn call() -> Ref<Call> {
    let [a, b, n] = ["a", "b", "n"].map(var);
    let out = Ref::new(Var { name: "out".into(), ty: Some(n) });
    let inner: Seq = [b, a.clone()].into_iter().collect();
    let args = Seq::new([a.into(), inner.into(), Value::Int(3)]);
    Ref::new(Call { outs: vec![out], args, note: Some(var("note")) })
}

/// Every node as `name`, with `:` in a def region.
struct Log {
    seen: Vec<String>,
    skip: &'static str,
    stop: &'static str,
}

impl<'a> Visitor<'a> for Log {
    type Break = String;

    fn enter(&mut self, at: &WalkedNode<'_, 'a>) -> ControlFlow<String, WalkAction> {
        let name = label(at.node());
        if name == self.stop {
            return ControlFlow::Break(at.path().to_string());
        }
        let next = if name == self.skip { WalkAction::Skip } else { WalkAction::Into };
        self.seen.push(format!("+{name}{}", if at.in_def_region() { ":" } else { "" }));
        ControlFlow::Continue(next)
    }

    fn leave(&mut self, at: &WalkedNode<'_, 'a>) -> ControlFlow<String> {
        self.seen.push(format!("-{}", label(at.node())));
        ControlFlow::Continue(())
    }
}

fn log(
    walk: NodeWalk<'_>,
    skip: &'static str,
    stop: &'static str,
) -> (String, ControlFlow<String>) {
    let mut log = Log { seen: Vec::new(), skip, stop };
    let end = walk.run(&mut log);
    (log.seen.join(" "), end)
}

#[test]
fn nodes_are_entered_and_left_in_order() {
    let call = call();
    let (seen, end) = log(NodeWalk::of(&call), "", "");
    assert_eq!(seen, "+Call +out: +n: -n -out +seq +a -a +seq +b -b -seq -seq +note -note -Call");
    assert_eq!(end, ControlFlow::Continue(()));
}

#[test]
fn every_occurrence_is_visited_on_request() {
    let call = call();
    let (seen, _) = log(NodeWalk::of(&call).every_occurrence(), "", "");
    assert!(seen.contains("+b -b +a -a -seq"), "{seen}");
}

#[test]
fn ignored_fields_can_be_left_out() {
    let call = call();
    let (seen, _) = log(NodeWalk::of(&call).compared_only(), "", "");
    assert!(!seen.contains("note"), "{seen}");
}

#[test]
fn skipped_nodes_are_left_without_visiting_their_children() {
    let call = call();
    let (seen, _) = log(NodeWalk::of(&call), "seq", "");
    assert_eq!(seen, "+Call +out: +n: -n -out +seq -seq +note -note -Call");
}

#[test]
fn a_stopped_walk_returns_the_path() {
    let call = call();
    let (_, end) = log(NodeWalk::of(&call), "", "b");
    assert_eq!(end, ControlFlow::Break("<root>.args[1][0]".to_owned()));
    let (_, end) = log(NodeWalk::of(&call), "", "n");
    assert_eq!(end, ControlFlow::Break("<root>.outs[0].ty".to_owned()));
    let (_, end) = log(NodeWalk::of(&call), "", "Call");
    assert_eq!(end, ControlFlow::Break("<root>".to_owned()));
}

#[test]
fn entries_are_visited_as_inserted_and_keys_never_bind() {
    #[derive(Node)]
    struct Holder {
        #[node(def)]
        held: Value,
    }
    let pairs = ["z", "a", "m"].map(|k| (var(k).into(), var(&k.repeat(2)).into()));
    let map = Ref::new(Holder { held: Map::new(pairs).unwrap().into() });
    let (seen, _) = log(NodeWalk::of(&map), "", "");
    assert_eq!(seen, "+Holder +map: +z -z +zz: -zz +a -a +aa: -aa +m -m +mm: -mm -map -Holder");
    let members = ["z", "a", "m"].map(|k| var(k).into());
    let set = Ref::new(Holder { held: Set::new(members).unwrap().into() });
    let (seen, _) = log(NodeWalk::of(&set), "", "");
    assert_eq!(seen, "+Holder +set: +z -z +a -a +m -m -set -Holder");
    let (_, end) = log(NodeWalk::of(&map), "", "aa");
    assert_eq!(end, ControlFlow::Break("<root>.held[Var(name=\"a\", ty=None)]".to_owned()));
}

#[test]
fn a_scope_ends_a_def_region_and_a_key_has_none() {
    #[derive(Node)]
    #[node(scope)]
    struct Scope {
        #[node(def)]
        param: Ref<Var>,
        body: Ref<Var>,
    }
    #[derive(Node)]
    struct Holder {
        #[node(def)]
        held: Value,
    }
    let scope = |p, b| Ref::new(Scope { param: var(p), body: var(b) });
    let held = Ref::new(Holder { held: scope("p", "b").into() });
    let (seen, _) = log(NodeWalk::of(&held), "", "");
    assert_eq!(seen, "+Holder +Scope: +p: -p +b -b -Scope -Holder");
    let key = Ref::new(Holder { held: Seq::new([var("x").into(), scope("p", "b").into()]).into() });
    let set = Set::new([key.into()]).unwrap();
    let (seen, _) = log(NodeWalk::of(&set), "", "");
    assert_eq!(seen, "+set +Holder +seq +x -x +Scope +p: -p +b -b -Scope -seq -Holder -set");
}

#[test]
fn a_parent_is_the_innermost_node_around() {
    let call = call();
    let mut parents = Vec::new();
    let end = NodeWalk::of(&call).post_order(|at| {
        parents.push(at.parent().map(label).unwrap_or_default());
        ControlFlow::<()>::Continue(())
    });
    assert_eq!(end, ControlFlow::Continue(()));
    assert_eq!(parents, ["out", "Call", "seq", "seq", "seq", "Call", "Call", ""]);
}

#[test]
fn deep_wide_and_shared_graphs() {
    fn count(value: &Value) -> usize {
        let mut count = 0;
        let _ = NodeWalk::of(value).post_order(|_| {
            count += 1;
            ControlFlow::<()>::Continue(())
        });
        count
    }
    on_small_stack(|| {
        let leaf = || Value::from(Seq::new([]));
        let chain = (0..1_000_000).fold(leaf(), |inner, _| Seq::new([inner]).into());
        assert_eq!(count(&chain), 1_000_001);
        let ladder = (0..1000).fold(leaf(), |inner, _| Seq::new([inner.clone(), inner]).into());
        assert_eq!(count(&ladder), 1001);
        let map = Map::new((0..1_000_000).map(|i| (Value::Int(i), leaf()))).unwrap();
        assert_eq!(count(&map.into()), 1_000_001);
        let wide = Seq::new((0..100_000).map(|_| var("x").into()));
        assert_eq!(count(&wide.into()), 100_001);
    });
}

/// The nodes in the order of a recursive walk.
fn model<'a>(view: View<'a>, seen: &mut HashSet<usize>, order: &mut Vec<usize>) {
    match view {
        View::Node(node) if seen.insert(node.id()) => {
            order.push(node.id());
            if let Ok(map) = Map::try_from(node.to_owned()) {
                for (key, value) in map.iter() {
                    model(key.view(), seen, order);
                    model(value.view(), seen, order);
                }
            } else if let Ok(set) = Set::try_from(node.to_owned()) {
                set.iter().for_each(|member| model(member.view(), seen, order));
            } else {
                (0..node.len()).for_each(|index| model(node.child(index), seen, order));
            }
        }
        _ => {}
    }
}

proptest! {
    #![proptest_config(sapwood_testing::properties())]

    #[test]
    fn random_graphs_are_walked_as_by_recursion(
        bytes in prop::collection::vec(any::<u8>(), 0..120)
    ) {
        let value: Value = Seq::new(graph(&mut Choices::new(&bytes), 20)).into();
        let (mut expected, mut found) = (Vec::new(), Vec::new());
        model(value.view(), &mut HashSet::new(), &mut expected);
        let _ = NodeWalk::of(&value).pre_order(|at| {
            found.push(at.node().id());
            ControlFlow::<(), _>::Continue(WalkAction::Into)
        });
        prop_assert_eq!(expected, found);
    }
}
