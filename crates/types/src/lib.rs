//! Types that every Sapwood crate shares: data types, source spans, diagnostics.
//!
//! - [`DataType`] is the element type of scalars and tensors, in the front-end IR and in PTIR alike.
//! - [`Span`] is the place in the source where something was written; it is small and `Copy`.
//! - [`Loc`] is the origin of an op that another tool compiled; a span may have one.
//! - [`Diagnostic`] describes an error in a user's program; [`Diagnostics`] collects several; [`Source`] holds
//!   the text they point into and draws the carets.
//! - [`FloatMode`] states which changes to floats rewrites may make; [`Rng`] is the one random number
//!   generator.
//! - [`did_you_mean`] finds the name the user probably meant; [`counted`] formats a number with its noun.
//!
//! ```
//! use sapwood_types::{Diagnostic, Source};
//!
//! let source = Source::new("demo.ptir", "%0 = add %a, %b\n");
//! let error = Diagnostic::error(source.span(5..8), "unknown op `add`").with_help("did you mean `addi`?");
//!
//! assert_eq!(error.to_string(), "demo.ptir:1:6: error: unknown op `add`");
//! assert_eq!(
//!     error.render(&source),
//!     "error: unknown op `add`
//!  --> demo.ptir:1:6
//!   |
//! 1 | %0 = add %a, %b
//!   |      ^^^
//!   |
//!   = help: did you mean `addi`?"
//! );
//! ```
//!
//! ## Modules
//! | module | contents |
//! | --- | --- |
//! | `data_type` | The element types of scalars and tensors. |
//! | `loc`, `mlir_string` | Locations, the origin of ops that MLIR's `loc(…)` records, with their text; MLIR's strings. |
//! | `span`, `source` | Spans; source texts with the positions of their lines and characters. |
//! | `diagnostic`, `render` | Diagnostics; their rendering as source lines with carets. |
//! | `source_errors` | Diagnostics with the sources they refer to. |
//! | `text_file`, `output_file` | Reading text files; writing files atomically. |
//! | `progress` | The progress of long work, for another thread to show. |
//! | `did_you_mean`, `counted` | Suggestions for misspelled names; numbers with their nouns, for messages. |
//! | `catch_panic` | Panics of functions of users, as messages. |
//! | `hex` | Bytes as hexadecimal digits. |
//! | `float_mode` | How far rewrites may change floats. |
//! | `rng` | A random number generator that gives the same numbers for the same seed on every machine. |

mod catch_panic;
mod counted;
mod data_type;
mod diagnostic;
mod did_you_mean;
mod digits;
mod float_mode;
mod loc;
mod mlir_string;
mod output_file;
mod progress;
mod render;
mod rng;
mod source;
mod source_errors;
mod span;
mod text_file;

pub use catch_panic::{catch_panic, panic_message};
pub use counted::{Counted, counted};
pub use data_type::{DataType, UnknownDataType};
pub use diagnostic::{Diagnostic, Diagnostics, Severity};
pub use did_you_mean::did_you_mean;
pub use digits::{read_hex, write_decimal, write_hex, write_signed_decimal};
pub use float_mode::FloatMode;
pub use loc::{Loc, LocAliases, LocError, LocKind, LocTable, read_locs};
pub use mlir_string::{unescape_mlir, write_mlir_string};
pub use output_file::{OutputFile, WriteError, write_atomically};
pub use progress::{Progress, ProgressCounter};
pub use rng::Rng;
pub use source::Source;
pub use source_errors::SourceErrors;
pub use span::{FileId, InternerLockGuard, Span, lock_interners};
pub use text_file::{read_error, read_source, source_from_bytes};
