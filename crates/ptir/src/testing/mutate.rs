//! Mutations that make a program wrong.

/// A kind of mutation.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Mutation(pub &'static str);

/// All kinds.
pub const MUTATIONS: &[Mutation] = &[];

/// Not yet.
pub fn mutate() {}
