//! The builder API: a graph that records instructions, values that carry their types, and snippets.

mod graph;
mod helpers;
mod results;
mod snippet;

pub use graph::{AsGraph, GraphBuilder, GraphError, PtirGraph, PtirRegion};
pub use helpers::{DotAttrs, DotDims};
pub use results::{FromResults, PtirResults};
pub use snippet::{Snippet, SnippetError};
pub use value::{AsValue, PtirValue};
pub use writer::{FunctionWriter, VerifiedFunction};

mod value;
mod writer;
