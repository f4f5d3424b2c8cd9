//! The text form: one way to write a program, read and printed here.

mod attrs;
mod external;
mod instruction;
mod lexer;
mod literal;
mod names;
mod parser;
mod printer;
mod quote;
mod recover;
mod types;

pub(crate) use attrs::write_attr;
pub(crate) use external::LongLiterals;
pub use external::external_bytes;
pub(crate) use lexer::{is_word, write_string};
pub(crate) use literal::write_literal;
pub use parser::{ParseOptions, parse, parse_options, parse_with};
pub use printer::{
    InstPrinter, PrintOptions, print, print_beside, print_function, print_inst, print_options,
};
pub(crate) use types::parse_type_text;

/// The version of the text form that is written. Older ones are read, newer ones refused.
pub const TEXT_VERSION: u64 = 1;
