//! Random programs and mutations for property tests, and expected values. Only with the feature `testing`.

mod generate;
mod inputs;
mod literals;
mod mutate;
mod regions;
mod shapes;
mod tensors;
mod values;

pub use generate::{RandomProgramConfig, add_random_functions, random_functions, random_program};
pub use inputs::random_inputs;
pub use literals::random_literal;
pub use mutate::{MUTATIONS, Mutation};
pub use sapwood_types::Rng;
pub use values::{
    Tolerance, ValueDifference, compare, compare_all, read_values, run_values, write_value,
};
