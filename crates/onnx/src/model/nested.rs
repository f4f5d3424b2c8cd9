//! The box around nested messages, which can be arbitrarily deep.

use std::fmt;
use std::ops::{Deref, DerefMut};

use crate::ReadError;
use crate::wire::{Encoder, Message, WireReader, WireType, WireValue};

/// A box around a nested message: a graph in a node's attribute, a type in a sequence type.
///
/// A program may nest them to any depth: dropping, cloning, comparing and printing grow the stack if it runs short.
/// Files nest them at most 100 messages deep.
pub struct Nested<T>(Option<Box<T>>);

/// Runs `work`, on a new piece of stack if little is left.
pub(crate) fn with_stack<R>(work: impl FnOnce() -> R) -> R {
    /// Two levels of nesting fit in this.
    const RED_ZONE: usize = 64 << 10;
    const NEW_STACK: usize = 1 << 20;
    stacker::maybe_grow(RED_ZONE, NEW_STACK, work)
}

impl<T> Nested<T> {
    /// Boxes a message.
    #[must_use]
    pub fn new(message: T) -> Self {
        Self(Some(Box::new(message)))
    }

    /// Returns the message.
    #[must_use]
    pub fn into_inner(mut self) -> T {
        *self.0.take().expect("emptied by dropping alone")
    }
}

impl<T> Deref for Nested<T> {
    type Target = T;

    fn deref(&self) -> &T {
        self.0.as_ref().expect("emptied by dropping alone")
    }
}

impl<T> DerefMut for Nested<T> {
    fn deref_mut(&mut self) -> &mut T {
        self.0.as_mut().expect("emptied by dropping alone")
    }
}

impl<T> Drop for Nested<T> {
    fn drop(&mut self) {
        if let Some(message) = self.0.take() {
            with_stack(|| drop(message));
        }
    }
}

impl<T: Default> Default for Nested<T> {
    fn default() -> Self {
        Self::new(T::default())
    }
}

impl<T> From<T> for Nested<T> {
    fn from(message: T) -> Self {
        Self::new(message)
    }
}

impl<T: Clone> Clone for Nested<T> {
    fn clone(&self) -> Self {
        with_stack(|| Self::new(T::clone(self)))
    }
}

impl<T: PartialEq> PartialEq for Nested<T> {
    fn eq(&self, other: &Self) -> bool {
        with_stack(|| **self == **other)
    }
}

impl<T: fmt::Debug> fmt::Debug for Nested<T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        with_stack(|| (**self).fmt(f))
    }
}

impl<M: Message> WireValue for Nested<M> {
    const WIRE: WireType = WireType::Length;
    const HAS_PACKED_ENCODING: bool = false;

    fn read_into(&mut self, reader: &mut WireReader<'_>) -> Result<(), ReadError> {
        M::read_into(self, reader)
    }

    fn write_with_tag(&self, number: u32, encoder: &mut Encoder<'_>) {
        M::write_with_tag(self, number, encoder);
    }
}
