//! The tests of rules, in one program: each program takes seconds to link.

mod block_definitions;
mod blocks;
mod deep_and_wide;
mod examples;
mod left_sides;
mod matchers;
mod not_checked;
mod open_properties;
mod open_reference;
mod pages;
mod properties;
mod reference;
mod regions_and_types;
mod whole;
mod whole_properties;
