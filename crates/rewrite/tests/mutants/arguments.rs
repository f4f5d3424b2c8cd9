//! Arguments why surviving mutants are not errors of the check.

/// The function, the broken expression, and the argument.
pub(crate) const ARGUMENTS: &[(&str, &str, &str)] = &[
    ("compare_of_negs", "op.order == CompareOrder::Total", NAN_SIGN),
    ("compare_of_negs", "CompareOrder::Total", NAN_SIGN),
];

const NAN_SIGN: &str = "Only NaN of both signs separate it: `-x` and `-y` are the same NaN, `x` and `y` are not. Which NaN an op gives \
    is open, so that the check draws only one.";
