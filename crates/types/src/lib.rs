//! What every Sapwood crate shares: data types, source spans, diagnostics.
