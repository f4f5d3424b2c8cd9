//! Reductions over windows.

use super::form::Part::{Ints, Operands, OptionalInts, OptionalPairs, Types};
use super::form::TypeSyntax::Generic;
use super::{OpMapping, row};

pub(super) const MAPPINGS: &[OpMapping] = &[
    row(
        "stablehlo.reduce_window",
        "reduce_window",
        &[
            Operands,
            Ints("window_dimensions", "window_dimensions"),
            OptionalInts("window_strides", "window_strides", 1),
            OptionalPairs("padding"),
            OptionalInts("base_dilations", "base_dilations", 1),
            OptionalInts("window_dilations", "window_dilations", 1),
            Types(Generic),
        ],
    ),
    row(
        "stablehlo.select_and_scatter",
        "select_and_scatter",
        &[
            Operands,
            Ints("window_dimensions", "window_dimensions"),
            OptionalInts("window_strides", "window_strides", 1),
            OptionalPairs("padding"),
            Types(Generic),
        ],
    ),
];
