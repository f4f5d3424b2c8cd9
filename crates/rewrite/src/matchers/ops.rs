//! One matcher for each op with one result and one to three operands.

use sapwood_ptir::Op;
use sapwood_ptir::ops as o;

use super::{Matcher, OpMatcher, op};

macro_rules! op_matchers {
    ($($name:ident $op:ident ($($operand:ident $type:ident),*);)*) => {$(
        #[doc = concat!("Matches the result of `", stringify!($name), "`, whose operands match.")]
        pub fn $name<$($type: Matcher),*>($($operand: $type),*) -> OpMatcher<($($type,)*)> {
            op(o::$op::key(), ($($operand,)*))
        }
    )*

        /// The ops that have a matcher here.
        #[cfg(test)]
        fn listed() -> Vec<sapwood_ptir::OpKey> {
            vec![$(o::$op::key()),*]
        }
    };
}

op_matchers! {
    neg Neg (input A);
    abs Abs (input A);
    sign Sign (input A);
    floor Floor (input A);
    ceil Ceil (input A);
    round_away RoundAway (input A);
    round_even RoundEven (input A);
    exp Exp (input A);
    expm1 Expm1 (input A);
    log Log (input A);
    log1p Log1p (input A);
    sqrt Sqrt (input A);
    rsqrt Rsqrt (input A);
    cbrt Cbrt (input A);
    sin Sin (input A);
    cos Cos (input A);
    tan Tan (input A);
    asin Asin (input A);
    acos Acos (input A);
    atan Atan (input A);
    sinh Sinh (input A);
    cosh Cosh (input A);
    tanh Tanh (input A);
    asinh Asinh (input A);
    acosh Acosh (input A);
    atanh Atanh (input A);
    logistic Logistic (input A);
    erf Erf (input A);
    erfc Erfc (input A);
    erf_inv ErfInv (input A);
    lgamma Lgamma (input A);
    digamma Digamma (input A);
    bessel_i1e BesselI1e (input A);
    not Not (input A);
    popcnt Popcnt (input A);
    clz Clz (input A);
    is_finite IsFinite (input A);
    real Real (input A);
    imag Imag (input A);
    reduce_precision ReducePrecision (input A);
    add Add (lhs A, rhs B);
    sub Sub (lhs A, rhs B);
    mul Mul (lhs A, rhs B);
    div Div (lhs A, rhs B);
    rem Rem (lhs A, rhs B);
    pow Pow (lhs A, rhs B);
    min Min (lhs A, rhs B);
    max Max (lhs A, rhs B);
    and And (lhs A, rhs B);
    or Or (lhs A, rhs B);
    xor Xor (lhs A, rhs B);
    shl Shl (lhs A, rhs B);
    shr_arithmetic ShrArithmetic (lhs A, rhs B);
    shr_logical ShrLogical (lhs A, rhs B);
    atan2 Atan2 (lhs A, rhs B);
    complex Complex (lhs A, rhs B);
    next_after NextAfter (lhs A, rhs B);
    reshape Reshape (input A);
    transpose Transpose (input A);
    broadcast_to BroadcastTo (input A);
    broadcast_in_dim BroadcastInDim (input A);
    slice Slice (input A);
    pad Pad (input A, value B);
    reverse Reverse (input A);
    cast Cast (input A);
    bitcast Bitcast (input A);
    compare Compare (lhs A, rhs B);
    select Select (pred A, on_true B, on_false C);
    clamp Clamp (low A, input B, high C);
    dot_general DotGeneral (lhs A, rhs B);
    gather Gather (input A, indices B);
    convolution Convolution (input A, kernel B);
    reduce_sum ReduceSum (input A);
    reduce_prod ReduceProd (input A);
    reduce_max ReduceMax (input A);
    reduce_min ReduceMin (input A);
    reduce_and ReduceAnd (input A);
    reduce_or ReduceOr (input A);
    reduce_xor ReduceXor (input A);
    arg_max ArgMax (input A);
    arg_min ArgMin (input A);
    get_dimension_size GetDimensionSize (input A);
    cholesky Cholesky (input A);
    triangular_solve TriangularSolve (a A, b B);
    fft Fft (input A);
    get_tuple_element GetTupleElement (input A);
    refine Refine (input A);
    dynamic_reshape DynamicReshape (input A, shape B);
    dynamic_broadcast_in_dim DynamicBroadcastInDim (input A, shape B);
    dynamic_iota DynamicIota (shape A);
    dynamic_gather DynamicGather (input A, indices B, slice_sizes C);
    dynamic_conv DynamicConv (input A, kernel B, pads C);
}

#[cfg(test)]
mod tests {
    use sapwood_ptir::{OperandKind, Registry, ResultCount};

    use super::*;

    #[test]
    fn every_op_with_one_to_three_operands_is_listed() {
        let listed = listed();
        for def in Registry::builtin().defs() {
            let fixed = def.operands.iter().all(|o| o.kind == OperandKind::One)
                && (1..=3).contains(&def.operands.len())
                && def.regions.is_empty()
                && def.results == ResultCount::One;
            assert_eq!(fixed, listed.contains(&def.key), "`{}`", def.name);
        }
    }
}
