//! The node pointer: a count, a type descriptor, four facts, a cached hash, then the payload.
//!
//! This is the one module of the crate with `unsafe` code. Its reasons: a thin pointer that serves
//! typed and run-time described nodes alike, cached facts beside the payload, and a drop that
//! never recurses. What it relies on:
//!
//! * A `NonNull<Header>` always points to a live allocation made by [`allocate`] or
//!   [`allocate_values`], whose `info.ops` were made for the payload that follows the header
//!   ([`Ref::new`] checks this: a hand-written [`Node`] cannot lie about its type).
//! * Payloads are never handed out mutably, so shared references into them are always valid while
//!   the count is above zero.

#![allow(unsafe_code, reason = "see the module documentation")]

use std::alloc::{Layout as AllocLayout, dealloc, handle_alloc_error};
use std::any::TypeId;
use std::cell::Cell;
use std::fmt;
use std::marker::PhantomData;
use std::ops::Deref;
use std::ptr::NonNull;
use std::sync::atomic::{AtomicU32, AtomicU64, Ordering, fence};

use crate::engine::{Feed, Meet, Side};
use crate::error::BuildError;
use crate::hasher::{Hash128, Sum};
use crate::kind::{Facts, Kind, Role};
use crate::node::Node;
use crate::rows;
use crate::type_info::{Layout, TypeInfo};
use crate::values::Value;
use crate::view::View;

/// What precedes every payload.
#[repr(C)]
struct Header {
    info: &'static TypeInfo,
    count: AtomicU32,
    facts: u8,
    interned: bool,
    /// The cached hash; both halves zero when nothing is cached. Each half only ever changes from
    /// zero to its one value, so two relaxed loads that are both non-zero belong together.
    /// A variable keeps its creation number in `memo_lo` instead, and in `memo_hi` the numbers that
    /// a walk gave it (see [`NodeRef::slot`]); a dead node its successor in the list of nodes to free.
    memo_lo: AtomicU64,
    memo_hi: AtomicU64,
}

#[repr(C)]
struct Inner<T> {
    header: Header,
    payload: T,
}

/// What can be done with a payload without knowing its type.
pub(crate) struct Ops {
    type_id: fn() -> TypeId,
    /// Whether payloads are rows of values: the type was described at run time.
    pub(crate) rows: bool,
    /// Drops the payload and frees the allocation.
    free: unsafe fn(NonNull<Header>),
    /// The child at an index. The view borrows from the payload.
    child: unsafe fn(NonNull<Header>, usize) -> View<'static>,
    len: unsafe fn(NonNull<Header>) -> usize,
    /// Takes in the fields of two payloads of this type side by side.
    meet: for<'a> unsafe fn(NonNull<Header>, NonNull<Header>, &mut Meet<'a>) -> bool,
    /// Takes in the children of a payload for a hash.
    feed: for<'a> unsafe fn(NonNull<Header>, Sum, &mut Feed<'_, '_, 'a>) -> Sum,
    pub(crate) build: fn(&'static TypeInfo, Vec<Value>) -> Result<AnyRef, BuildError>,
    /// As `build`, for a singleton that comes from its `get`.
    pub(crate) build_interned: fn(&'static TypeInfo, Vec<Value>) -> Result<AnyRef, BuildError>,
}

impl Ops {
    pub(crate) const fn of<T: Node>() -> Self {
        Self {
            type_id: TypeId::of::<T>,
            rows: false,
            free: |header| {
                // SAFETY: the header was made by `allocate::<T>`, which boxed an `Inner<T>`.
                drop(unsafe { Box::from_raw(header.cast::<Inner<T>>().as_ptr()) });
            },
            child: |header, index| {
                // SAFETY: the payload is a `T`, alive as long as the caller's borrow.
                unsafe { header.cast::<Inner<T>>().as_ref() }.payload.field(index)
            },
            meet: |left, right, meet| {
                // SAFETY: both payloads are a `T`, alive as long as the caller's borrows.
                let (left, right) = unsafe {
                    (left.cast::<Inner<T>>().as_ref(), right.cast::<Inner<T>>().as_ref())
                };
                left.payload.meet(&right.payload, meet)
            },
            feed: |header, sum, feed| {
                // SAFETY: the payload is a `T`, alive as long as the caller's borrow.
                unsafe { header.cast::<Inner<T>>().as_ref() }.payload.feed(sum, feed)
            },
            // SAFETY: the payload is a `T`.
            len: |header| unsafe { header.cast::<Inner<T>>().as_ref() }.payload.len(),
            build: |info, values| Ok(Ref::new(T::build(info, values)?).into_any()),
            build_interned: |info, values| Ok(Ref::new_interned(T::build(info, values)?).into_any()),
        }
    }

    /// For payloads that are a row of values, as many as the type has fields.
    pub(crate) const fn values() -> Self {
        Self {
            type_id: TypeId::of::<RowOfValues>,
            rows: true,
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
            meet: |left, right, meet| {
                // SAFETY: made by `allocate_values`, see `values_of`.
                let (left_values, right_values) = unsafe { (values_of(left), values_of(right)) };
                // SAFETY: the header is alive.
                rows::meet(unsafe { left.as_ref() }.info, left_values, right_values, meet)
            },
            feed: |header, sum, feed| {
                // SAFETY: made by `allocate_values`, see `values_of`.
                let values = unsafe { values_of(header) };
                // SAFETY: the header is alive.
                rows::feed(unsafe { header.as_ref() }.info, values, sum, feed)
            },
            // SAFETY: the header is alive.
            len: |header| unsafe { header.as_ref() }.info.fields().len(),
            build: |info, values| Ok(AnyRef(allocate_values(info, values, false))),
            build_interned: |info, values| Ok(AnyRef(allocate_values(info, values, true))),
        }
    }

    /// For types whose nodes are never behind a [`Ref`].
    pub(crate) const fn foreign() -> Self {
        Self {
            type_id: TypeId::of::<()>,
            rows: false,
            free: |_| {},
            child: |_, _| View::None,
            len: |_| 0,
            meet: |_, _, _| false,
            feed: |_, sum, _| sum,
            build: |info, _| Err(foreign(info)),
            build_interned: |info, _| Err(foreign(info)),
        }
    }
}

fn foreign(info: &TypeInfo) -> BuildError {
    BuildError::new(format!("nodes of {} live in a storage of their own", info.key()))
}

/// Stands for the payload of run-time described nodes.
struct RowOfValues;

fn values_layout(len: usize) -> (AllocLayout, usize) {
    let row = AllocLayout::array::<Value>(len);
    let whole = row.and_then(|row| AllocLayout::new::<Header>().extend(row));
    match whole {
        Ok((layout, offset)) => (layout.pad_to_align(), offset),
        Err(_) => handle_alloc_error(AllocLayout::new::<Header>()),
    }
}

/// # Safety
/// `header` must come from [`allocate_values`] and be alive for `'a`.
unsafe fn values_of<'a>(header: NonNull<Header>) -> &'a [Value] {
    // SAFETY: `allocate_values` wrote that many values right there.
    unsafe {
        let len = header.as_ref().info.fields().len();
        let (_, offset) = values_layout(len);
        std::slice::from_raw_parts(header.cast::<u8>().add(offset).cast::<Value>().as_ptr(), len)
    }
}

fn header(info: &'static TypeInfo, facts: Facts, interned: bool) -> Header {
    static CREATED: AtomicU64 = AtomicU64::new(1);
    let serial = if info.kind() == Kind::Var { CREATED.fetch_add(1, Ordering::Relaxed) } else { 0 };
    Header {
        info,
        count: AtomicU32::new(1),
        facts: facts.bits(),
        interned,
        memo_lo: AtomicU64::new(serial),
        memo_hi: AtomicU64::new(0),
    }
}

/// The facts of a node of type `info` whose children are `child(0)` … `child(len - 1)`.
fn facts_of<'a>(info: &TypeInfo, len: usize, child: impl Fn(usize) -> View<'a>) -> Facts {
    let mut facts = match info.kind() {
        Kind::Var => Facts::VAR,
        Kind::Dag => Facts::DAG,
        Kind::Uncomparable => Facts::UNCOMPARABLE,
        Kind::Tree | Kind::ConstTree | Kind::Singleton => Facts::NONE,
    };
    let hooked = info.hooks().is_some();
    if hooked {
        facts = facts.and(Facts::HOOK);
    }
    let fields = info.fields();
    for index in 0..len {
        // A hook may look at any field, an ordinary comparison only at those that count.
        if hooked || fields.get(index).is_none_or(|field| field.role != Role::Ignore) {
            facts = facts.and(view_facts(child(index)));
        }
    }
    facts
}

fn view_facts(view: View<'_>) -> Facts {
    match view {
        View::Node(node) => node.facts(),
        View::List(list) => (0..list.len())
            .fold(Facts::NONE, |facts, index| facts.and(view_facts(list.item(index)))),
        _ => Facts::NONE,
    }
}

fn allocate<T: Node>(payload: T, interned: bool) -> NonNull<Header> {
    let info = payload.type_info();
    assert!(
        (info.ops.type_id)() == TypeId::of::<T>(),
        "{} returned the descriptor of another type, {}",
        std::any::type_name::<T>(),
        info.key()
    );
    let facts = facts_of(info, payload.len(), |index| payload.field(index));
    let inner = Box::new(Inner { header: header(info, facts, interned), payload });
    NonNull::from(Box::leak(inner)).cast()
}

fn allocate_values(info: &'static TypeInfo, values: Vec<Value>, interned: bool) -> NonNull<Header> {
    assert!(
        info.ops.rows && values.len() == info.fields().len(),
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
        start.cast::<Header>().write(header(info, facts, interned));
        let row = start.add(offset).cast::<Value>();
        for (index, value) in values.into_iter().enumerate() {
            row.add(index).write(value);
        }
        start.cast()
    }
}

/// A list of dead nodes per thread, linked through `memo_lo`: dropping a node whose children die
/// with it queues them instead of recursing.
struct Dying {
    first: Cell<Option<NonNull<Header>>>,
    draining: Cell<bool>,
}

thread_local! {
    static DYING: Dying =
        const { Dying { first: Cell::new(None), draining: Cell::new(false) } };
}

fn release(node: NonNull<Header>) {
    // SAFETY: the caller gives up one count, so the node is alive until that count is taken away.
    if unsafe { node.as_ref() }.count.fetch_sub(1, Ordering::Release) != 1 {
        return;
    }
    fence(Ordering::Acquire);
    // A thread-local without destructor and with a constant initial value is always there. No
    // reference to the node is kept: draining the list frees it.
    DYING.with(|dying| {
        let next = dying.first.replace(Some(node));
        let next = next.map_or(0, |next| next.as_ptr().expose_provenance() as u64);
        // SAFETY: its count is zero, so it is ours alone, and it is freed no earlier than below.
        unsafe { node.as_ref() }.memo_lo.store(next, Ordering::Relaxed);
        if dying.draining.get() {
            return;
        }
        /// Also after a panic in a payload's own `Drop`: the next drop goes on with the list.
        struct Drained<'a>(&'a Dying);
        impl Drop for Drained<'_> {
            fn drop(&mut self) {
                self.0.draining.set(false);
            }
        }
        dying.draining.set(true);
        let _drained = Drained(dying);
        while let Some(dead) = dying.first.get() {
            // SAFETY: nodes in the list have a count of zero and are freed here alone.
            unsafe {
                let next = dead.as_ref().memo_lo.load(Ordering::Relaxed) as usize;
                dying.first.set(NonNull::new(std::ptr::with_exposed_provenance_mut(next)));
                (dead.as_ref().info.ops.free)(dead);
            }
        }
    });
}

/// A shared pointer to a node of any type.
pub struct AnyRef(NonNull<Header>);

// SAFETY: payloads are `Send + Sync` (a bound of `Node`; `Value` holds only such), counts and
// cached hashes are atomic.
unsafe impl Send for AnyRef {}
// SAFETY: as above.
unsafe impl Sync for AnyRef {}

impl AnyRef {
    /// The node, borrowed.
    #[must_use]
    #[inline]
    pub fn node(&self) -> NodeRef<'_> {
        NodeRef { head: self.0, borrow: PhantomData }
    }

    /// The descriptor of its type.
    #[must_use]
    #[inline]
    pub fn info(&self) -> &'static TypeInfo {
        self.node().info()
    }

    /// The payload, if it is a `T`.
    #[must_use]
    pub fn downcast_ref<T: Node>(&self) -> Option<&T> {
        self.node().downcast()
    }

    /// The same pointer, typed, if the payload is a `T`.
    ///
    /// # Errors
    /// Gives the pointer back if it is not.
    pub fn downcast<T: Node>(self) -> Result<Ref<T>, Self> {
        if self.node().is::<T>() { Ok(Ref { any: self, payload: PhantomData }) } else { Err(self) }
    }

    /// Whether both point to the same node.
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
/// Cloning counts, comparing by [`Ref::same`] looks at the pointer, and dropping the last one frees
/// a chain of any depth without recursion. `Ref` has no `==`: say [`crate::equal`] or
/// [`Ref::same`].
pub struct Ref<T: Node> {
    any: AnyRef,
    payload: PhantomData<T>,
}

impl<T: Node> Ref<T> {
    /// A new node.
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

    /// The pointer without its type.
    #[must_use]
    pub fn into_any(self) -> AnyRef {
        self.any
    }

    /// The pointer without its type, borrowed.
    #[must_use]
    pub fn as_any(&self) -> &AnyRef {
        &self.any
    }

    /// The node, borrowed, without its type.
    #[must_use]
    #[inline]
    pub fn node(&self) -> NodeRef<'_> {
        self.any.node()
    }

    /// Whether both point to the same node.
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
        unsafe { &self.any.0.cast::<Inner<T>>().as_ref().payload }
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
    head: NonNull<Header>,
    borrow: PhantomData<&'a Header>,
}

impl<'a> NodeRef<'a> {
    #[inline]
    fn head(self) -> &'a Header {
        // SAFETY: the borrow keeps a count for `'a`.
        unsafe { self.head.as_ref() }
    }

    /// The descriptor of its type.
    #[must_use]
    #[inline]
    pub fn info(self) -> &'static TypeInfo {
        self.head().info
    }

    /// What lies below it.
    #[must_use]
    #[inline]
    pub fn facts(self) -> Facts {
        Facts::from_bits(self.head().facts)
    }

    /// A number that no other living node has.
    #[must_use]
    #[inline]
    pub fn id(self) -> usize {
        self.head.as_ptr().addr()
    }

    /// Number of children.
    #[must_use]
    #[inline]
    pub fn len(self) -> usize {
        let info = self.info();
        if info.layout() == Layout::Record {
            info.fields().len()
        } else {
            // SAFETY: the operations belong to the payload behind this header.
            unsafe { (info.ops.len)(self.head) }
        }
    }

    /// Whether there are no children.
    #[must_use]
    pub fn is_empty(self) -> bool {
        self.len() == 0
    }

    /// The child at `index`; [`View::None`] beyond the end.
    #[must_use]
    #[inline]
    pub fn child(self, index: usize) -> View<'a> {
        // SAFETY: the operations belong to the payload behind this header; the view borrows from
        // the payload, which lives as long as the borrow `'a` does.
        unsafe { (self.info().ops.child)(self.head, index) }
    }

    /// Takes in the fields of two nodes side by side; `other` must be of the same type.
    #[inline]
    pub(crate) fn meet(self, other: Self, meet: &mut Meet<'a>) -> bool {
        let info = self.info();
        // SAFETY: the operations belong to both payloads, which live as long as `'a`.
        std::ptr::eq(info, other.info()) && unsafe { (info.ops.meet)(self.head, other.head, meet) }
    }

    /// As [`NodeRef::meet`], where nothing below needs care.
    #[inline]
    pub(crate) fn meet_bare(self, other: Self, meet: &mut Meet<'a>) -> bool {
        let info = self.info();
        if info.is_whole_row() && std::ptr::eq(info, other.info()) {
            // SAFETY: both are of a type whose payloads are rows of values, alive as long as `'a`.
            let (left, right) = unsafe { (values_of(self.head), values_of(other.head)) };
            return rows::meet_all(left, right, meet);
        }
        self.meet(other, meet)
    }

    /// Takes in the children for a hash.
    #[inline]
    pub(crate) fn feed(self, sum: Sum, feed: &mut Feed<'_, '_, 'a>) -> Sum {
        // SAFETY: the operations belong to the payload, which lives as long as `'a`.
        unsafe { (self.info().ops.feed)(self.head, sum, feed) }
    }

    /// Tells the processor that the node will soon be looked at.
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

    /// The child in the field called `name`.
    #[must_use]
    pub fn field(self, name: &str) -> Option<View<'a>> {
        self.info().field_index(name).map(|index| self.child(index))
    }

    /// How many pointers hold it.
    #[must_use]
    #[inline]
    pub fn owners(self) -> u32 {
        self.head().count.load(Ordering::Relaxed)
    }

    /// A pointer of one's own.
    #[must_use]
    #[inline]
    pub fn to_owned(self) -> AnyRef {
        let old = self.head().count.fetch_add(1, Ordering::Relaxed);
        if old > u32::MAX / 2 {
            // Two thousand million leaked pointers: going on would free what is still in use.
            std::process::abort();
        }
        AnyRef(self.head)
    }

    fn is<T: Node>(self) -> bool {
        (self.info().ops.type_id)() == TypeId::of::<T>()
    }

    /// The payload, if it is a `T`.
    #[must_use]
    pub fn downcast<T: Node>(self) -> Option<&'a T> {
        // SAFETY: the operations were made for the payload's type, and that is `T`.
        self.is::<T>().then(|| unsafe { &self.head.cast::<Inner<T>>().as_ref().payload })
    }

    /// The fields of a node of a type described at run time.
    #[must_use]
    pub fn values(self) -> Option<&'a [Value]> {
        let row = self.info().ops.rows;
        // SAFETY: such nodes come from `allocate_values` alone.
        row.then(|| unsafe { values_of(self.head) })
    }

    /// Whether a singleton came from its `get`.
    pub(crate) fn interned(self) -> bool {
        self.head().interned
    }

    /// The creation number of a variable.
    pub(crate) fn serial(self) -> u64 {
        self.head().memo_lo.load(Ordering::Relaxed)
    }

    /// The number that a comparison or a hash keeps in a variable, per side. Only the walk whose
    /// turn it is writes there; anybody may read, and must not believe what was found.
    #[inline]
    pub(crate) fn slot(self, side: Side) -> u32 {
        (self.head().memo_hi.load(Ordering::Relaxed) >> (32 * side as u32)) as u32
    }

    #[inline]
    pub(crate) fn set_slot(self, side: Side, number: u32) {
        debug_assert!(self.info().kind() == Kind::Var, "other nodes keep their hash there");
        let shift = 32 * side as u32;
        let others = self.head().memo_hi.load(Ordering::Relaxed) & !(u64::from(u32::MAX) << shift);
        self.head().memo_hi.store(others | u64::from(number) << shift, Ordering::Relaxed);
    }

    #[inline]
    pub(crate) fn cached_hash(self) -> Option<Hash128> {
        let lo = self.head().memo_lo.load(Ordering::Relaxed);
        let hi = self.head().memo_hi.load(Ordering::Relaxed);
        (lo != 0 && hi != 0).then_some(Hash128 { hi, lo })
    }

    #[inline]
    pub(crate) fn cache_hash(self, hash: Hash128) {
        debug_assert!(
            self.info().kind() != Kind::Var,
            "a variable keeps its creation number there"
        );
        self.head().memo_lo.store(hash.lo, Ordering::Relaxed);
        self.head().memo_hi.store(hash.hi, Ordering::Relaxed);
    }
}

impl fmt::Debug for NodeRef<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Display::fmt(&crate::display::abridged(View::Node(*self)), f)
    }
}
