//! The tests of the front-end IR, in one program: each program takes seconds to link.

mod bad_json;
mod bad_text;
mod deep;
mod document_ir;
mod document_structural;
mod extents;
mod meaning;
mod properties;
mod reference_page;
mod scale;
