//! The tests of structural comparison, in one program: each program takes seconds to link.

mod constructor;
mod counterexamples;
mod deep;
mod document_tables;
mod documents;
mod errors;
mod hashes;
mod json;
mod key;
mod lang;
mod laws;
mod model;
mod plain_values;
mod pointer;
mod regressions;
mod substitute;
mod tied_keys;
mod transform;
mod walk;
