//! The tests of the reader and writer of StableHLO, in one program: each program takes seconds to link.

mod any_text;
mod quotes;
mod round_trip;
mod symbolic;
mod wrong_rules;
