//! The tests of backends, in one program: each program takes seconds to link.

mod attention;
mod calls;
mod differential;
mod fusion;
mod large_groups;
mod lazy;
mod registries;
mod restructured;
mod sequences;
mod trace;
