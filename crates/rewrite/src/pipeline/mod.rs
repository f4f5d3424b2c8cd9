//! Pipelines as text: `canonicalize{max-iterations=4},cse`, `fixpoint(canonicalize,cse)`.

mod first_rewrite;
mod manager;
mod option_value;
mod parse;
mod pass_info;
mod program_diff;
mod report;
mod reproducer;

pub use first_rewrite::find_first_rewrite;
pub use manager::{PassManager, PipelineFailure};
pub use option_value::OptionValue;
pub(crate) use parse::print_pass;
pub use parse::{PatternReader, PipelineParser, parse_pipeline, print_pipeline};
pub use pass_info::{
    AddPatterns, MakePass, MakePassClosure, MakePassFn, OptionInfo, PassInfo, PassOptions,
    PatternSources, option_name,
};
pub use report::{PassReport, RunReport};
pub use reproducer::{Reproducer, ReproducerError};

/// The default pipeline: the single passes one after the other.
pub const DEFAULT_PIPELINE: &str = "canonicalize,cse,dce";
