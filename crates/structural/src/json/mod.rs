//! The JSON graph form: a flat table of nodes that keeps sharing.
//!
//! ```json
//! {"sapwood-graph":1,
//! "types":[
//! {"key":"lang.Add","fields":["a","b"]}],
//! "nodes":[
//! [0,1,2],
//! [0,{"node":0},{"node":0}]],
//! "root":{"node":1}}
//! ```
//!
//! A row is the index of its type, then its children: the fields listed by the type, in that order; the
//! elements of a `seq`; keys and values of a `map` in turn, or the members of a `set`, in insertion order. A
//! child is one of
//!
//! | child | written |
//! | --- | --- |
//! | none, truth value, string | `null`, `true`, `"text"` |
//! | integer of at most 53 bits | `-12` |
//! | any other integer | `{"int":"-0x8000000000000000"}` |
//! | finite float | `1.0`, `-0.0`, `1e300`: always with a point or an exponent |
//! | other float | `{"float":"nan"}`, `"inf"`, `"-inf"` |
//! | bytes | `{"bytes":"00ff"}` |
//! | tensor | `{"tensor":["f32",[2,1],"0000803f00000040"]}` |
//! | node, sequence, map or set | `{"node":3}`: an earlier row |
//! | list without identity | `[1,2]` |
//!
//! Rows refer only to earlier rows, so there are no cycles and no depth. Equal graphs that were built alike
//! give the same bytes. The payload of a NaN is not kept.

mod error;
mod lexer;
mod read;
mod write;

pub use error::{GraphRowLocation, JsonReadError, JsonWriteError};
pub use read::read_json;
pub use write::write_json;

/// The version of the JSON form that is written, and the newest that is read.
pub const JSON_VERSION: u64 = 1;

/// The deepest nesting of lists without identity. They nest as deep as Rust types do.
const MAX_LIST_NESTING: usize = 64;

/// The largest magnitude written as a number: beyond it, not every JSON reader is exact.
const MAX_EXACT_INT: u64 = 1 << 53;
