//! Node pointers: [`Ref`], [`AnyRef`] and [`NodeRef`]. A node is a reference count, a type descriptor, four
//! facts and a cached hash, followed by the payload.
//!
//! This is the only module of the crate with `unsafe` code. The reasons: a thin pointer that serves typed and
//! dynamic nodes alike, cached facts next to the payload, and a drop that never recurses. The invariants:
//!
//! * A `NonNull<NodeHeader>` always points to a live allocation made by [`allocate`] or [`allocate_values`],
//!   whose `info.ops` were made for the payload that follows the header ([`Ref::new`] checks this: a
//!   hand-written [`Node`] cannot return the descriptor of another type).
//! * Payloads are never handed out mutably, so shared references into them are always valid while the count is
//!   above zero.

#![allow(unsafe_code, reason = "see the module documentation")]

use std::alloc::{Layout as AllocLayout, dealloc, handle_alloc_error};
use std::any::TypeId;
use std::cell::Cell;
use std::fmt;
use std::marker::PhantomData;
use std::ops::Deref;
use std::ptr::NonNull;
use std::sync::atomic::{AtomicU32, AtomicU64, Ordering, fence};

use crate::dynamic_fields;
use crate::engine::{FieldComparer, FieldHasher, Side};
use crate::error::BuildError;
use crate::hasher::{Hash128, HashSum};
use crate::kind::{Facts, FieldRole, NodeKind};
use crate::node::Node;
use crate::type_info::{ChildLayout, TypeInfo};
use crate::values::Value;
use crate::view::View;

/// The header before every payload.
#[repr(C)]
struct NodeHeader {
    info: &'static TypeInfo,
    count: AtomicU32,
    facts: u8,
    interned: bool,
    /// The cached hash; both halves are zero when nothing is cached. Each half only ever changes from zero to
    /// its one value, so two relaxed loads that are both non-zero belong together. A variable stores its
    /// creation number in `memo_lo` instead, and its binding numbers in `memo_hi` (see [`NodeRef::slot`]); a
    /// dead node stores its successor in the drop queue.
    memo_lo: AtomicU64,
    memo_hi: AtomicU64,
}

/// The allocation of a typed node.
#[repr(C)]
struct NodeBox<T> {
    header: NodeHeader,
    payload: T,
}

/// The operations on a payload of unknown type.
pub(crate) struct PayloadOps {
    type_id: fn() -> TypeId,
    /// True if payloads are rows of values: the type was described at run time.
    pub(crate) dynamic: bool,
    /// Drops the payload and frees the allocation.
    free: unsafe fn(NonNull<NodeHeader>),
    /// Returns the child at an index. The view borrows from the payload.
    child: unsafe fn(NonNull<NodeHeader>, usize) -> View<'static>,
    len: unsafe fn(NonNull<NodeHeader>) -> usize,
    /// Compares the fields of two payloads of this type.
    compare_fields:
        for<'a> unsafe fn(NonNull<NodeHeader>, NonNull<NodeHeader>, &mut FieldComparer<'a>) -> bool,
    /// Adds the hash contributions of the children of a payload.
    hash_children:
        for<'a> unsafe fn(NonNull<NodeHeader>, HashSum, &mut FieldHasher<'_, '_, 'a>) -> HashSum,
    pub(crate) build: fn(&'static TypeInfo, Vec<Value>) -> Result<AnyRef, BuildError>,
    /// Builds a singleton that comes from its `get`.
    pub(crate) build_interned: fn(&'static TypeInfo, Vec<Value>) -> Result<AnyRef, BuildError>,
}

impl PayloadOps {
    pub(crate) const fn of<T: Node>() -> Self {
        Self {
            type_id: TypeId::of::<T>,
            dynamic: false,
            free: |header| {
                // SAFETY: the header was made by `allocate::<T>`, which boxed an `NodeBox<T>`.
                drop(unsafe { Box::from_raw(header.cast::<NodeBox<T>>().as_ptr()) });
            },
            child: |header, index| {
                // SAFETY: the payload is a `T`, alive as long as the caller's borrow.
                unsafe { header.cast::<NodeBox<T>>().as_ref() }.payload.field(index)
            },
            compare_fields: |left, right, comparer| {
                // SAFETY: both payloads are a `T`, alive as long as the caller's borrows.
                let (left, right) = unsafe {
                    (left.cast::<NodeBox<T>>().as_ref(), right.cast::<NodeBox<T>>().as_ref())
                };
                left.payload.compare_fields(&right.payload, comparer)
            },
            hash_children: |header, sum, hasher| {
                // SAFETY: the payload is a `T`, alive as long as the caller's borrow.
                unsafe { header.cast::<NodeBox<T>>().as_ref() }.payload.hash_fields(sum, hasher)
            },
            // SAFETY: the payload is a `T`.
            len: |header| unsafe { header.cast::<NodeBox<T>>().as_ref() }.payload.len(),
            build: |info, values| Ok(Ref::new(T::build(info, values)?).into_any()),
            build_interned: |info, values| Ok(Ref::new_interned(T::build(info, values)?).into_any()),
        }
    }

    /// Returns the operations of dynamic nodes: rows of values, one per field of the type.
    pub(crate) const fn dynamic() -> Self {
        Self {
            type_id: TypeId::of::<DynamicPayload>,
            dynamic: true,
            free: |header| {
                // SAFETY: the header was made by `allocate_values`: as many initialised values
                // follow as the type has fields, and the layout is the one it was allocated with.
                unsafe {
                    let len = header.as_ref().info.fields().len();
                    let (layout, offset) = values_layout(len);
                    let first = header.cast::<u8>().add(offset).cast::<Value>();
                    std::ptr::drop_in_place(std::ptr::slice_from_raw_parts_mut(
                        first.as_ptr(),
                        len,
                    ));
                    dealloc(header.as_ptr().cast(), layout);
                }
            },
            child: |header, index| {
                // SAFETY: made by `allocate_values`, see `values_of`.
                let values = unsafe { values_of(header) };
                values.get(index).map_or(View::None, Value::view)
            },
            compare_fields: |left, right, comparer| {
                // SAFETY: made by `allocate_values`, see `values_of`.
                let (left_values, right_values) = unsafe { (values_of(left), values_of(right)) };
                // SAFETY: the header is alive.
                dynamic_fields::compare(
                    unsafe { left.as_ref() }.info,
                    left_values,
                    right_values,
                    comparer,
                )
            },
            hash_children: |header, sum, hasher| {
                // SAFETY: made by `allocate_values`, see `values_of`.
                let values = unsafe { values_of(header) };
                // SAFETY: the header is alive.
                dynamic_fields::hash(unsafe { header.as_ref() }.info, values, sum, hasher)
            },
            // SAFETY: the header is alive.
            len: |header| unsafe { header.as_ref() }.info.fields().len(),
            build: |info, values| Ok(AnyRef(allocate_values(info, values, false))),
            build_interned: |info, values| Ok(AnyRef(allocate_values(info, values, true))),
        }
    }
}

/// The type id of the payload of dynamic nodes.
struct DynamicPayload;

fn values_layout(len: usize) -> (AllocLayout, usize) {
    let row = AllocLayout::array::<Value>(len);
    let whole = row.and_then(|row| AllocLayout::new::<NodeHeader>().extend(row));
    match whole {
        Ok((layout, offset)) => (layout.pad_to_align(), offset),
        Err(_) => handle_alloc_error(AllocLayout::new::<NodeHeader>()),
    }
}

/// # Safety
/// `header` must come from [`allocate_values`] and be alive for `'a`.
unsafe fn values_of<'a>(header: NonNull<NodeHeader>) -> &'a [Value] {
    // SAFETY: `allocate_values` wrote that many values right there.
    unsafe {
        let len = header.as_ref().info.fields().len();
        let (_, offset) = values_layout(len);
        std::slice::from_raw_parts(header.cast::<u8>().add(offset).cast::<Value>().as_ptr(), len)
    }
}

fn new_header(info: &'static TypeInfo, facts: Facts, interned: bool) -> NodeHeader {
    static CREATED: AtomicU64 = AtomicU64::new(1);
    let serial =
        if info.kind() == NodeKind::Var { CREATED.fetch_add(1, Ordering::Relaxed) } else { 0 };
    NodeHeader {
        info,
        count: AtomicU32::new(1),
        facts: facts.bits(),
        interned,
        memo_lo: AtomicU64::new(serial),
        memo_hi: AtomicU64::new(0),
    }
}

/// Computes the facts of a node of type `info` whose children are `child(0)` … `child(len - 1)`.
fn facts_of<'a>(info: &TypeInfo, len: usize, child: impl Fn(usize) -> View<'a>) -> Facts {
    let mut facts = match info.kind() {
        NodeKind::Var => Facts::VAR,
        NodeKind::Dag => Facts::DAG,
        NodeKind::Uncomparable => Facts::UNCOMPARABLE,
        NodeKind::Tree | NodeKind::ConstTree | NodeKind::Singleton => Facts::NONE,
    };
    let hooked = info.hooks().is_some();
    if hooked {
        facts = facts.union(Facts::HOOK);
    }
    let fields = info.fields();
    for index in 0..len {
        // A hook may read any field; an ordinary comparison skips ignored ones.
        if hooked || fields.get(index).is_none_or(|field| field.role != FieldRole::Ignore) {
            facts = facts.union(view_facts(child(index)));
        }
    }
    facts
}

fn view_facts(view: View<'_>) -> Facts {
    match view {
        View::Node(node) => node.facts(),
        View::List(list) => (0..list.len())
            .fold(Facts::NONE, |facts, index| facts.union(view_facts(list.item(index)))),
        _ => Facts::NONE,
    }
}

fn allocate<T: Node>(payload: T, interned: bool) -> NonNull<NodeHeader> {
    let info = payload.type_info();
    assert!(
        (info.ops.type_id)() == TypeId::of::<T>(),
        "{} returned the descriptor of another type, {}",
        std::any::type_name::<T>(),
        info.key()
    );
    let facts = facts_of(info, payload.len(), |index| payload.field(index));
    let inner = Box::new(NodeBox { header: new_header(info, facts, interned), payload });
    NonNull::from(Box::leak(inner)).cast()
}

fn allocate_values(
    info: &'static TypeInfo,
    values: Vec<Value>,
    interned: bool,
) -> NonNull<NodeHeader> {
    assert!(
        info.ops.dynamic && values.len() == info.fields().len(),
        "a row of values is not what {} holds",
        info.key()
    );
    let facts = facts_of(info, values.len(), |index| values[index].view());
    let (layout, offset) = values_layout(values.len());
    // SAFETY: the layout holds at least a header, so it is not empty; the header and then every
    // value is written before anything is read; `values` gives up its elements one by one.
    unsafe {
        let Some(start) = NonNull::new(std::alloc::alloc(layout)) else {
            handle_alloc_error(layout)
        };
        start.cast::<NodeHeader>().write(new_header(info, facts, interned));
        let row = start.add(offset).cast::<Value>();
        for (index, value) in values.into_iter().enumerate() {
            row.add(index).write(value);
        }
        start.cast()
    }
}

/// A queue of dead nodes per thread, linked through `memo_lo`: dropping a node queues the children that die
/// with it instead of recursing.
struct DropQueue {
    first: Cell<Option<NonNull<NodeHeader>>>,
    draining: Cell<bool>,
}

thread_local! {
    static DROP_QUEUE: DropQueue =
        const { DropQueue { first: Cell::new(None), draining: Cell::new(false) } };
}

fn release(node: NonNull<NodeHeader>) {
    // SAFETY: the caller gives up one count, so the node is alive until that count is taken away.
    if unsafe { node.as_ref() }.count.fetch_sub(1, Ordering::Release) != 1 {
        return;
    }
    fence(Ordering::Acquire);
    // A thread-local without destructor and with a constant initial value is always accessible. No reference to
    // the node is kept: draining the queue frees it.
    DROP_QUEUE.with(|queue| {
        let next = queue.first.replace(Some(node));
        let next = next.map_or(0, |next| next.as_ptr().expose_provenance() as u64);
        // SAFETY: its count is zero, so it is ours alone, and it is freed no earlier than below.
        unsafe { node.as_ref() }.memo_lo.store(next, Ordering::Relaxed);
        if queue.draining.get() {
            return;
        }
        /// Resets `draining`, also after a panic in a payload's own `Drop`: the next drop continues with the
        /// queue.
        struct DrainGuard<'a>(&'a DropQueue);
        impl Drop for DrainGuard<'_> {
            fn drop(&mut self) {
                self.0.draining.set(false);
            }
        }
        queue.draining.set(true);
        let _guard = DrainGuard(queue);
        while let Some(dead) = queue.first.get() {
            // SAFETY: nodes in the list have a count of zero and are freed here alone.
            unsafe {
                let next = dead.as_ref().memo_lo.load(Ordering::Relaxed) as usize;
                queue.first.set(NonNull::new(std::ptr::with_exposed_provenance_mut(next)));
                (dead.as_ref().info.ops.free)(dead);
            }
        }
    });
}

/// A shared pointer to a node of any type.
pub struct AnyRef(NonNull<NodeHeader>);

// SAFETY: payloads are `Send + Sync` (a bound of `Node`; `Value` holds only such), counts and
// cached hashes are atomic.
unsafe impl Send for AnyRef {}
// SAFETY: as above.
unsafe impl Sync for AnyRef {}

impl AnyRef {
    /// Returns the node, borrowed.
    #[must_use]
    #[inline]
    pub fn node(&self) -> NodeRef<'_> {
        NodeRef { head: self.0, borrow: PhantomData }
    }

    /// Returns the descriptor of its type.
    #[must_use]
    #[inline]
    pub fn info(&self) -> &'static TypeInfo {
        self.node().info()
    }

    /// Returns the payload, if it is a `T`.
    #[must_use]
    pub fn downcast_ref<T: Node>(&self) -> Option<&T> {
        self.node().downcast()
    }

    /// Returns the pointer with its type, if the payload is a `T`.
    ///
    /// # Errors
    /// Gives the pointer back if the payload is not a `T`.
    pub fn downcast<T: Node>(self) -> Result<Ref<T>, Self> {
        if self.node().is::<T>() { Ok(Ref { any: self, payload: PhantomData }) } else { Err(self) }
    }

    /// Returns whether both point to the same node.
    #[must_use]
    pub fn same(&self, other: &Self) -> bool {
        self.0 == other.0
    }
}

impl Clone for AnyRef {
    #[inline]
    fn clone(&self) -> Self {
        self.node().to_owned()
    }
}

impl Drop for AnyRef {
    #[inline]
    fn drop(&mut self) {
        release(self.0);
    }
}

impl fmt::Debug for AnyRef {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Display::fmt(&crate::display::abridged(View::Node(self.node())), f)
    }
}

/// A shared pointer to an immutable node.
///
/// Cloning increments a count, [`Ref::same`] compares pointers, and dropping the last pointer frees a chain of
/// any depth without recursion. `Ref` has no `==`: call [`crate::equal`] or [`Ref::same`].
pub struct Ref<T: Node> {
    any: AnyRef,
    payload: PhantomData<T>,
}

impl<T: Node> Ref<T> {
    /// Creates a node.
    ///
    /// # Panics
    /// If a hand-written [`Node::type_info`] returns the descriptor of another type.
    #[must_use]
    #[inline]
    pub fn new(payload: T) -> Self {
        Self { any: AnyRef(allocate(payload, false)), payload: PhantomData }
    }

    pub(crate) fn new_interned(payload: T) -> Self {
        Self { any: AnyRef(allocate(payload, true)), payload: PhantomData }
    }

    /// Returns the pointer without its type.
    #[must_use]
    pub fn into_any(self) -> AnyRef {
        self.any
    }

    /// Returns the pointer without its type, borrowed.
    #[must_use]
    pub fn as_any(&self) -> &AnyRef {
        &self.any
    }

    /// Returns the node, borrowed, without its type.
    #[must_use]
    #[inline]
    pub fn node(&self) -> NodeRef<'_> {
        self.any.node()
    }

    /// Returns whether both point to the same node.
    #[must_use]
    pub fn same(&self, other: &Self) -> bool {
        self.any.same(&other.any)
    }
}

impl<T: Node> Clone for Ref<T> {
    #[inline]
    fn clone(&self) -> Self {
        Self { any: self.any.clone(), payload: PhantomData }
    }
}

impl<T: Node> Deref for Ref<T> {
    type Target = T;

    #[inline]
    fn deref(&self) -> &T {
        // SAFETY: a `Ref<T>` is only made around a payload of type `T`.
        unsafe { &self.any.0.cast::<NodeBox<T>>().as_ref().payload }
    }
}

impl<T: Node + fmt::Display> fmt::Display for Ref<T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        (**self).fmt(f)
    }
}

impl<T: Node> fmt::Debug for Ref<T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.any.fmt(f)
    }
}

/// A borrowed node of any type.
#[derive(Clone, Copy)]
pub struct NodeRef<'a> {
    head: NonNull<NodeHeader>,
    borrow: PhantomData<&'a NodeHeader>,
}

impl<'a> NodeRef<'a> {
    #[inline]
    fn header(self) -> &'a NodeHeader {
        // SAFETY: the borrow keeps a count for `'a`.
        unsafe { self.head.as_ref() }
    }

    /// Returns the descriptor of its type.
    #[must_use]
    #[inline]
    pub fn info(self) -> &'static TypeInfo {
        self.header().info
    }

    /// Returns the facts about the node and everything below it.
    #[must_use]
    #[inline]
    pub fn facts(self) -> Facts {
        Facts::from_bits(self.header().facts)
    }

    /// Returns a number that no other living node has.
    #[must_use]
    #[inline]
    pub fn id(self) -> usize {
        self.head.as_ptr().addr()
    }

    /// Returns the number of children.
    #[must_use]
    #[inline]
    pub fn len(self) -> usize {
        let info = self.info();
        if info.layout() == ChildLayout::Record {
            info.fields().len()
        } else {
            // SAFETY: the operations belong to the payload behind this header.
            unsafe { (info.ops.len)(self.head) }
        }
    }

    /// Returns whether there are no children.
    #[must_use]
    pub fn is_empty(self) -> bool {
        self.len() == 0
    }

    /// Returns the child at `index`; [`View::None`] beyond the end.
    #[must_use]
    #[inline]
    pub fn child(self, index: usize) -> View<'a> {
        // SAFETY: the operations belong to the payload behind this header; the view borrows from
        // the payload, which lives as long as the borrow `'a` does.
        unsafe { (self.info().ops.child)(self.head, index) }
    }

    /// Compares the fields of two nodes; `other` must be of the same type.
    #[inline]
    pub(crate) fn compare_fields(self, other: Self, comparer: &mut FieldComparer<'a>) -> bool {
        let info = self.info();
        // SAFETY: the operations belong to both payloads, which live as long as `'a`.
        std::ptr::eq(info, other.info())
            && unsafe { (info.ops.compare_fields)(self.head, other.head, comparer) }
    }

    /// Compares the fields of two pure trees, like [`NodeRef::compare_fields`].
    #[inline]
    pub(crate) fn compare_fields_of_pure_trees(
        self,
        other: Self,
        comparer: &mut FieldComparer<'a>,
    ) -> bool {
        let info = self.info();
        if info.compares_all_dynamic_fields() && std::ptr::eq(info, other.info()) {
            // SAFETY: both are of a type whose payloads are rows of values, alive as long as `'a`.
            let (left, right) = unsafe { (values_of(self.head), values_of(other.head)) };
            return dynamic_fields::compare_all(left, right, comparer);
        }
        self.compare_fields(other, comparer)
    }

    /// Adds the hash contributions of the children to `sum`.
    #[inline]
    pub(crate) fn hash_children(
        self,
        sum: HashSum,
        hasher: &mut FieldHasher<'_, '_, 'a>,
    ) -> HashSum {
        // SAFETY: the operations belong to the payload, which lives as long as `'a`.
        unsafe { (self.info().ops.hash_children)(self.head, sum, hasher) }
    }

    /// Prefetches the node, which will soon be visited.
    #[inline]
    pub(crate) fn prefetch(self) {
        #[cfg(target_arch = "x86_64")]
        // SAFETY: a hint reads nothing, whatever the address is.
        unsafe {
            use std::arch::x86_64::{_MM_HINT_T0, _mm_prefetch};
            let first = self.head.as_ptr().cast::<i8>();
            _mm_prefetch::<_MM_HINT_T0>(first);
            _mm_prefetch::<_MM_HINT_T0>(first.wrapping_add(64));
        }
    }

    /// Returns the child in the field called `name`.
    #[must_use]
    pub fn field(self, name: &str) -> Option<View<'a>> {
        self.info().field_index(name).map(|index| self.child(index))
    }

    /// Returns whether the node has more than one owner, so that a walk may reach it in more than one way.
    #[inline]
    pub(crate) fn is_shared(self) -> bool {
        self.owners() > 1
    }

    /// Returns the number of pointers to the node.
    #[must_use]
    #[inline]
    pub fn owners(self) -> u32 {
        self.header().count.load(Ordering::Relaxed)
    }

    /// Returns an owned pointer.
    #[must_use]
    #[inline]
    pub fn to_owned(self) -> AnyRef {
        let old = self.header().count.fetch_add(1, Ordering::Relaxed);
        if old > u32::MAX / 2 {
            // Two thousand million leaked pointers: continuing would free nodes that are still in use.
            std::process::abort();
        }
        AnyRef(self.head)
    }

    fn is<T: Node>(self) -> bool {
        (self.info().ops.type_id)() == TypeId::of::<T>()
    }

    /// Returns the payload, if it is a `T`.
    #[must_use]
    pub fn downcast<T: Node>(self) -> Option<&'a T> {
        // SAFETY: the operations were made for the payload's type, and that is `T`.
        self.is::<T>().then(|| unsafe { &self.head.cast::<NodeBox<T>>().as_ref().payload })
    }

    /// Returns the fields of a dynamic node; `None` for other nodes.
    #[must_use]
    pub fn values(self) -> Option<&'a [Value]> {
        let dynamic = self.info().ops.dynamic;
        // SAFETY: such nodes come from `allocate_values` alone.
        dynamic.then(|| unsafe { values_of(self.head) })
    }

    /// Returns whether a singleton came from its `get`.
    pub(crate) fn interned(self) -> bool {
        self.header().interned
    }

    /// Returns the creation number of a variable.
    pub(crate) fn creation_number(self) -> u64 {
        self.header().memo_lo.load(Ordering::Relaxed)
    }

    /// Returns the binding number that a walk stored in a variable, per side. Only the walk that is the slot
    /// writer stores numbers; any walk may read them, and must validate them.
    #[inline]
    pub(crate) fn slot(self, side: Side) -> u32 {
        (self.header().memo_hi.load(Ordering::Relaxed) >> (32 * side as u32)) as u32
    }

    #[inline]
    pub(crate) fn set_slot(self, side: Side, number: u32) {
        debug_assert!(self.info().kind() == NodeKind::Var, "other nodes keep their hash there");
        let shift = 32 * side as u32;
        let others =
            self.header().memo_hi.load(Ordering::Relaxed) & !(u64::from(u32::MAX) << shift);
        self.header().memo_hi.store(others | u64::from(number) << shift, Ordering::Relaxed);
    }

    /// Returns the hash stored by [`NodeRef::cache_hash`].
    #[inline]
    pub(crate) fn cached_hash(self) -> Option<Hash128> {
        let lo = self.header().memo_lo.load(Ordering::Relaxed);
        let hi = self.header().memo_hi.load(Ordering::Relaxed);
        (lo != 0 && hi != 0).then_some(Hash128 { hi, lo })
    }

    /// Stores the hash of a node without variables, hooks and uncomparable nodes below.
    #[inline]
    pub(crate) fn cache_hash(self, hash: Hash128) {
        debug_assert!(
            self.info().kind() != NodeKind::Var,
            "a variable keeps its creation number there"
        );
        self.header().memo_lo.store(hash.lo, Ordering::Relaxed);
        self.header().memo_hi.store(hash.hi, Ordering::Relaxed);
    }
}

impl fmt::Debug for NodeRef<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Display::fmt(&crate::display::abridged(View::Node(*self)), f)
    }
}
