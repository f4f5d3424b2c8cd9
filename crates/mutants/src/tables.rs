//! Tables of names that type-check in place of each other.

/// Fields that hold the same kind of operand.
pub(crate) const FIELDS: &[(&str, &str)] =
    &[("lhs", "rhs"), ("on_true", "on_false"), ("then", "otherwise"), ("low", "high")];

/// Ops whose operands may change places.
pub(crate) const COMMUTATIVE: &[&str] = &["Add", "Mul", "Max", "Min", "And", "Or", "Xor"];

/// Ops with the same fields: a mutant emits the second in place of the first.
pub(crate) const OPS: &[(&str, &str)] = &[
    ("Add", "Sub"),
    ("Sub", "Add"),
    ("Mul", "Add"),
    ("Div", "Mul"),
    ("Rem", "Div"),
    ("Min", "Max"),
    ("Max", "Min"),
    ("And", "Or"),
    ("Or", "And"),
    ("Xor", "Or"),
    ("Shl", "ShrLogical"),
    ("ShrLogical", "ShrArithmetic"),
    ("ShrArithmetic", "ShrLogical"),
    ("Neg", "Abs"),
    ("Abs", "Neg"),
    ("Exp", "Expm1"),
    ("Expm1", "Exp"),
    ("Log1p", "Log"),
    ("Sqrt", "Rsqrt"),
    ("Rsqrt", "Sqrt"),
    ("Logistic", "Tanh"),
];

/// Attributes and float modes: a mutant uses the second in place of the first.
pub(crate) const PATHS: &[(&str, &str)] = &[
    ("FloatMode::Nsz", "FloatMode::Exact"),
    ("FloatMode::Fast", "FloatMode::Exact"),
    ("Direction::Eq", "Direction::Ne"),
    ("Direction::Ne", "Direction::Eq"),
    ("Direction::Lt", "Direction::Le"),
    ("Direction::Le", "Direction::Lt"),
    ("Direction::Gt", "Direction::Ge"),
    ("Direction::Ge", "Direction::Gt"),
    ("CompareOrder::Partial", "CompareOrder::Total"),
    ("CompareOrder::Total", "CompareOrder::Partial"),
];

/// Functions: a mutant calls the second in place of the first; with the kind of the mutation.
pub(crate) const CALLS: &[(&str, &str, &str)] = &[
    ("is_lowest", "is_highest", "constant"),
    ("is_highest", "is_lowest", "constant"),
    ("negated_constant", "inverted_constant", "constant"),
    ("inverted_constant", "negated_constant", "constant"),
    ("is_int", "is_int_or_bool", "guard"),
    ("is_any_zero", "is_constant", "guard"),
];

/// Methods: a mutant calls the second in place of the first; with the kind of the mutation.
pub(crate) const METHODS: &[(&str, &str, &str)] = &[
    ("is_one", "is_zero", "constant"),
    ("is_zero", "is_one", "constant"),
    ("all", "any", "branch"),
    ("any", "all", "branch"),
    ("is_some", "is_none", "branch"),
    ("is_none", "is_some", "branch"),
];

/// Returns the second name of the pair whose first is `name`.
pub(crate) fn counterpart(
    pairs: &[(&'static str, &'static str)],
    name: &str,
) -> Option<&'static str> {
    pairs.iter().find(|(from, _)| *from == name).map(|(_, to)| *to)
}

/// Returns the other name of the pair that contains `name`.
pub(crate) fn partner(pairs: &[(&'static str, &'static str)], name: &str) -> Option<&'static str> {
    let second = || pairs.iter().find(|(_, to)| *to == name).map(|(from, _)| *from);
    counterpart(pairs, name).or_else(second)
}
