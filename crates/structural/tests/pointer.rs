//! The node pointer: the one module with unsafe code. The second tier runs these under Miri.

use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};

use sapwood_structural::{
    AnyRef, BuildError, Field, FieldBuilder, FieldInfo, Node, NodeKind, Ref, Seq, TypeBuilder,
    TypeInfo, TypeRegistry, Value, View, equal, hash,
};

#[derive(Node)]
enum List {
    Cons(i64, Ref<List>),
    Nil,
}

#[derive(Node)]
struct Other {
    text: String,
}

/// The length of chains, short enough for Miri.
const LONG: i64 = if cfg!(miri) { 300 } else { 1_000_000 };

fn chain(length: i64) -> Ref<List> {
    (0..length).fold(Ref::new(List::Nil), |tail, n| Ref::new(List::Cons(n, tail)))
}

#[test]
fn pointer_long_chains_are_dropped_without_recursion() {
    sapwood_testing::on_small_stack(|| drop(chain(LONG)));
}

#[test]
fn pointer_clones_count_and_share() {
    let one = chain(3);
    let two = one.clone();
    assert!(one.same(&two));
    assert_eq!(one.node().owners(), 2);
    drop(one);
    assert_eq!(two.node().owners(), 1);
    assert!(matches!(*two, List::Cons(2, _)));
}

#[test]
fn pointer_types_are_distinguished() {
    let any: AnyRef = Ref::new(Other { text: "t".to_owned() }).into_any();
    assert!(any.downcast_ref::<List>().is_none());
    assert_eq!(any.downcast_ref::<Other>().map(|other| other.text.as_str()), Some("t"));
    let any = any.downcast::<List>().expect_err("it is an Other");
    assert!(any.downcast::<Other>().is_ok());
}

#[test]
fn pointer_rows_of_values_own_their_values() -> Result<(), Box<dyn std::error::Error>> {
    let mut registry = TypeRegistry::new();
    let info = TypeBuilder::new("pointer.Row")
        .field(FieldBuilder::new("a"))
        .field(FieldBuilder::new("b").default(Value::from("default")))
        .register(&mut registry)?;
    let inner = chain(2);
    let row = info.make([inner.clone().into()])?;
    assert_eq!(inner.node().owners(), 2);
    assert_eq!(row.node().values().map(<[Value]>::len), Some(2));
    assert!(matches!(row.node().field("b"), Some(View::Str("default"))));
    let copy = info.make([inner.clone().into(), "default".into()])?;
    assert!(equal(&row, &copy)?);
    assert_eq!(hash(&row)?, hash(&copy)?);
    drop((row, copy));
    assert_eq!(inner.node().owners(), 1);
    let empty = TypeBuilder::new("pointer.Empty").register(&mut registry)?;
    assert!(equal(&empty.make([])?, &empty.make([])?)?);
    Ok(())
}

#[test]
fn pointer_threads_share_nodes_and_their_cached_hash() -> Result<(), sapwood_structural::Error> {
    let shared = chain(if cfg!(miri) { 20 } else { 1000 });
    let expected = hash(&chain(if cfg!(miri) { 20 } else { 1000 }))?;
    std::thread::scope(|scope| {
        for _ in 0..4 {
            let mine = shared.clone();
            scope.spawn(move || {
                assert_eq!(hash(&mine).ok(), Some(expected));
                assert!(equal(&mine, &mine.clone()).is_ok_and(|equal| equal));
            });
        }
    });
    assert_eq!(shared.node().owners(), 1);
    Ok(())
}

/// Counts its drops, and panics in the first.
struct Fragile {
    drops: Arc<AtomicUsize>,
    next: Option<Ref<Self>>,
}

impl Drop for Fragile {
    fn drop(&mut self) {
        assert!(self.drops.fetch_add(1, Ordering::SeqCst) > 0, "the first drop panics");
    }
}

impl Node for Fragile {
    fn type_info(&self) -> &'static TypeInfo {
        static FIELDS: [FieldInfo; 1] =
            [FieldInfo::new("next", sapwood_structural::FieldRole::Usual)];
        static INFO: TypeInfo =
            TypeInfo::record::<Fragile>("pointer.Fragile", NodeKind::Tree, &FIELDS);
        &INFO
    }

    fn field(&self, _: usize) -> View<'_> {
        self.next.view()
    }

    fn types() -> Vec<&'static TypeInfo> {
        Vec::new()
    }

    fn build(_: &'static TypeInfo, _: Vec<Value>) -> Result<Self, BuildError> {
        Err(BuildError::new("not built from values"))
    }
}

#[test]
fn pointer_a_panicking_drop_does_not_stop_the_others() {
    let drops = Arc::new(AtomicUsize::new(0));
    let node = |next| Ref::new(Fragile { drops: drops.clone(), next });
    let top = node(Some(node(Some(node(None)))));
    let panicked = catch_unwind(AssertUnwindSafe(|| drop(top))).is_err();
    assert!(panicked);
    // The nodes that were queued when it panicked are dropped with the next drop on this thread.
    drop(Ref::new(Other { text: String::new() }));
    assert_eq!(drops.load(Ordering::SeqCst), 3);
}

/// Claims to be another type.
struct Liar;

impl Node for Liar {
    fn type_info(&self) -> &'static TypeInfo {
        Other::types()[0]
    }

    fn field(&self, _: usize) -> View<'_> {
        View::None
    }

    fn types() -> Vec<&'static TypeInfo> {
        Vec::new()
    }

    fn build(_: &'static TypeInfo, _: Vec<Value>) -> Result<Self, BuildError> {
        Ok(Self)
    }
}

#[test]
fn pointer_a_hand_written_node_cannot_return_the_descriptor_of_another_type() {
    assert!(catch_unwind(|| Ref::new(Liar)).is_err());
}

#[test]
fn pointer_nodes_in_thread_locals_are_dropped_with_the_thread() {
    thread_local! {
        static KEPT: std::cell::RefCell<Option<Seq>> = const { std::cell::RefCell::new(None) };
    }
    let weak = chain(3);
    let mine = weak.clone();
    std::thread::spawn(move || {
        KEPT.with_borrow_mut(|kept| *kept = Some(Seq::from_iter([mine])));
    })
    .join()
    .expect("the thread only stores");
    assert_eq!(weak.node().owners(), 1);
}
