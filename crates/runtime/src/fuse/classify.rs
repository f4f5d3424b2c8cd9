//! The ops that can be fused, and their operations on blocks.

use sapwood_ptir::eval::DataType;
use sapwood_ptir::{Attr, Function, InstId, ops};

use super::lanes::{BinaryOp, LaneType, ReduceOp, Relation, UnaryOp};

/// The role of an instruction in fusion.
#[derive(Clone, Copy, Debug)]
pub(super) enum FusibleOp {
    Unary(UnaryOp),
    Binary(BinaryOp),
    Compare(Relation),
    Select,
    Clamp,
    Cast,
    /// Other elements with the same bits.
    Bitcast,
    Reduce(ReduceOp),
}

impl FusibleOp {
    /// Returns whether the op combines elements.
    pub(super) fn is_reduction(self) -> bool {
        matches!(self, Self::Reduce(_))
    }
}

/// Returns the operation of an instruction on operands of this element type; `None` if it cannot be fused.
pub(super) fn classify(f: &Function, inst: InstId, dtype: DataType) -> Option<FusibleOp> {
    let (lane, narrow) = LaneType::of(dtype)?;
    let float = lane.is_float();
    // The functions with a vector form have it for f32.
    let function = |vector: UnaryOp, scalar: fn(f64) -> f64| {
        float.then_some(FusibleOp::Unary(match lane {
            LaneType::F32 => vector,
            _ => UnaryOp::Scalar(scalar),
        }))
    };
    let scalar = |g: fn(f64) -> f64| float.then_some(FusibleOp::Unary(UnaryOp::Scalar(g)));
    let unary = |op| Some(FusibleOp::Unary(op));
    let binary = |op| Some(FusibleOp::Binary(op));
    let number = lane != LaneType::Bool;
    let op = f.op_name(inst);
    Some(match op {
        "neg" if number => return unary(UnaryOp::Neg),
        "abs" if number => return unary(UnaryOp::Abs),
        "not" if !float => return unary(UnaryOp::Not),
        "sqrt" if float => return unary(UnaryOp::Sqrt),
        "rsqrt" if float => return unary(UnaryOp::Rsqrt),
        "floor" if float => return unary(UnaryOp::Floor),
        "ceil" if float => return unary(UnaryOp::Ceil),
        "exp" => return function(UnaryOp::Exp, f64::exp),
        "log" => return function(UnaryOp::Log, f64::ln),
        "tanh" => return function(UnaryOp::Tanh, f64::tanh),
        "logistic" => return function(UnaryOp::Logistic, logistic),
        "erf" if lane == LaneType::F32 => return unary(UnaryOp::Erf),
        "erfc" if lane == LaneType::F32 => return unary(UnaryOp::Erfc),
        "round_away" => return scalar(f64::round),
        "round_even" => return scalar(f64::round_ties_even),
        "expm1" => return scalar(f64::exp_m1),
        "log1p" => return scalar(f64::ln_1p),
        "sin" => return scalar(f64::sin),
        "cos" => return scalar(f64::cos),
        "tan" => return scalar(f64::tan),
        "atan" => return scalar(f64::atan),
        "cbrt" => return scalar(f64::cbrt),
        "sign" => return scalar(sign),
        "add" => return binary(BinaryOp::Add),
        "sub" if number => return binary(BinaryOp::Sub),
        "mul" => return binary(BinaryOp::Mul),
        "div" if number => return binary(BinaryOp::Div),
        "max" => return binary(BinaryOp::Max),
        "min" => return binary(BinaryOp::Min),
        "and" if !float => return binary(BinaryOp::And),
        "or" if !float => return binary(BinaryOp::Or),
        "xor" if !float => return binary(BinaryOp::Xor),
        "shl" if number && !float => return binary(BinaryOp::Shl),
        "shr_logical" if number && !float => return binary(BinaryOp::ShrLogical),
        "shr_arithmetic" if number && !float => return binary(BinaryOp::ShrArithmetic),
        "pow" if float => return binary(BinaryOp::Scalar(f64::powf)),
        "atan2" if float => return binary(BinaryOp::Scalar(f64::atan2)),
        "compare" => {
            let compare = f.view::<ops::Compare>(inst)?;
            if compare.order == ops::CompareOrder::Total {
                return None;
            }
            FusibleOp::Compare(match compare.direction {
                ops::Direction::Eq => Relation::Eq,
                ops::Direction::Ne => Relation::Ne,
                ops::Direction::Lt => Relation::Lt,
                ops::Direction::Le => Relation::Le,
                ops::Direction::Gt => Relation::Gt,
                ops::Direction::Ge => Relation::Ge,
            })
        }
        "select" => FusibleOp::Select,
        "clamp" => FusibleOp::Clamp,
        "cast" => {
            let result = f.value_type(f.value_of(inst)?).as_tensor()?.dtype;
            let (_, to_narrow) = LaneType::of(result)?;
            // Through f32, these would be rounded twice.
            let wide = number && lane != LaneType::F32;
            if to_narrow.is_some() && wide {
                return None;
            }
            FusibleOp::Cast
        }
        "bitcast" if number && narrow.is_none() => {
            let result = f.value_type(f.value_of(inst)?).as_tensor()?.dtype;
            let (to, to_narrow) = LaneType::of(result)?;
            let same_size = dtype.byte_size() == result.byte_size();
            if !same_size || to_narrow.is_some() || to == LaneType::Bool {
                return None;
            }
            FusibleOp::Bitcast
        }
        "reduce_or" if !number => FusibleOp::Reduce(ReduceOp::Max),
        "reduce_and" if !number => FusibleOp::Reduce(ReduceOp::Min),
        "reduce_sum" | "reduce_prod" | "reduce_max" | "reduce_min" => {
            // Sums of narrow floats are computed in f32 and rounded once.
            let accumulate = match f.attr(inst, "accumulate") {
                Some(Attr::Type(accumulate)) => Some(*accumulate),
                _ => None,
            };
            let usual = if narrow.is_some() { DataType::F32 } else { dtype };
            if accumulate.is_some_and(|a| a != usual) {
                return None;
            }
            FusibleOp::Reduce(match op {
                "reduce_sum" => ReduceOp::Sum,
                "reduce_prod" => ReduceOp::Prod,
                "reduce_max" => ReduceOp::Max,
                _ => ReduceOp::Min,
            })
        }
        _ => return None,
    })
}

fn logistic(x: f64) -> f64 {
    let e = (-x.abs()).exp();
    if x.is_nan() {
        x
    } else if x < 0.0 {
        e / (1.0 + e)
    } else {
        1.0 / (1.0 + e)
    }
}

fn sign(x: f64) -> f64 {
    if x == 0.0 || x.is_nan() { x } else { x.signum() }
}
