//! The tests of the check, in one program: each program takes seconds to link.

mod custom_calls;
mod injected;
mod right_rewrites;
mod verdicts;
