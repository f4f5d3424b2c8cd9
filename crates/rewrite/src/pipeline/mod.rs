//! Pipelines as text: `canonicalize{max-iterations=4},cse`, `fixpoint(canonicalize,cse)`.

mod changes;
mod info;
mod manager;
mod parse;
mod report;
mod reproducer;

pub use info::{OptionInfo, Options, PassInfo};
pub use manager::{Failure, PassManager};
pub(crate) use parse::print_pass;
pub use parse::{parse_pipeline, parse_pipeline_with, print_pipeline};
pub use report::{PassReport, RunReport};
pub use reproducer::{Reproducer, ReproducerError};

/// The pipeline that runs the single steps one after the other.
pub const DEFAULT_PIPELINE: &str = "canonicalize,cse,dce";
