//! The tests of rewriting, in one program: each program takes seconds to link.

mod chains;
mod cse;
mod deep_and_wide;
mod driver;
mod fold;
mod gate;
mod growth;
mod inline;
mod laws;
mod linear;
mod loops;
mod matchers;
mod meaning;
mod merging;
mod patches;
mod pattern_files;
mod pipelines;
mod properties;
mod reference;
mod refusals;
mod regions;
mod rewriter;
mod soup;
mod trace;
mod usage;
mod user_ops;
