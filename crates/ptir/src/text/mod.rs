//! The text form of programs: parser and printer.

mod attrs;
mod external;
mod instruction;
mod lexer;
mod literal;
mod loc;
mod names;
mod parser;
mod printer;
mod quote;
mod recover;
mod types;

pub(crate) use attrs::write_attr;
pub(crate) use external::LongLiteralMode;
pub use external::external_bytes;
pub(crate) use lexer::{Lexer, TokenKind, is_word, read_string, write_string};
pub(crate) use literal::write_literal;
pub use parser::{ParseOptions, parse, parse_with};
pub(crate) use printer::print_inst;
pub use printer::{
    InstPrinter, PrintOptions, print, print_function, print_with, print_with_external,
};
pub(crate) use types::parse_type_text;

/// The version of the text form that is written. Older versions are read, newer ones are refused.
pub const TEXT_VERSION: u64 = 1;
