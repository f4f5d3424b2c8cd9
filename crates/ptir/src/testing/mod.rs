//! Random programs and their mutations, for property tests, and expected values. Only with the feature `testing`.

mod generate;
mod inputs;
mod literals;
mod mutate;
mod regions;
mod tensors;
mod values;

pub use generate::{Config, random_program, random_program_by};
pub use inputs::random_inputs;
pub use literals::random_literal;
pub use mutate::{MUTATIONS, Mutation};
pub use sapwood_types::Rng;
pub use values::{
    Difference, Tolerance, compare, compare_all, read_values, run_values, write_value,
};
