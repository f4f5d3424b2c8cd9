//! Arguments why surviving mutants are not errors of the check.

/// The function, the broken expression, and the argument.
pub(crate) const ARGUMENTS: &[(&str, &str, &str)] = &[
    ("compare_of_negs", "op.order == CompareOrder::Total", NAN_SIGN),
    ("compare_of_negs", "CompareOrder::Total", NAN_SIGN),
    ("compare_of_casts", "op.order != CompareOrder::Partial", NAN_OF_CAST),
    ("compare_of_casts", "CompareOrder::Partial", NAN_OF_CAST),
    ("in_range", "Direction::Lt", INDEX_AT_END),
];

const INDEX_AT_END: &str =
    "Only an index that equals the extent separates it, and the few inputs of the check have none.";

const NAN_OF_CAST: &str = "Only NaN of both signs separate it: a cast may give the same NaN for both. Which NaN an op gives is open, so that the check \
    draws only one.";

const NAN_SIGN: &str = "Only NaN of both signs separate it: `-x` and `-y` are the same NaN, `x` and `y` are not. Which NaN an op gives \
    is open, so that the check draws only one.";
