//! Random programs and their mutations, for property tests. Only with the feature `testing`.

mod generate;
mod literals;
mod mutate;
mod regions;
mod rng;
mod tensors;

pub use generate::{Config, random_program};
pub use literals::random_literal;
pub use mutate::{MUTATIONS, Mutation};
pub use rng::Rng;
