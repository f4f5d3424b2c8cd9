//! The five ways to use the rewriter, from one pattern to a pipeline.
//!
//! `cargo run --example usage -p sapwood-rewrite`

#![allow(clippy::needless_pass_by_value, reason = "a pattern takes its root by value")]

use sapwood_ptir::ops::{Add, BroadcastTo, Cast, Mul, Transpose};
use sapwood_ptir::{Op, Program, ResultType, Value, parse};
use sapwood_rewrite::{
    CsePass, DcePass, GreedyConfig, GreedyPass, OpRewritePattern, OpView, PassManager, PatternFn,
    PatternSet, ProgramRewriter, Rewrite, Unary,
};

/// 1. A cast to the type of its operand is its operand. As a type, with a cheap test first.
pub(crate) struct RemoveNoOpCast;

impl OpRewritePattern<Cast> for RemoveNoOpCast {
    fn may_match(&self, op: &OpView<Cast>, rw: &ProgramRewriter<'_>) -> bool {
        rw.type_of(op.input) == Some(&op.ty.0)
    }

    fn match_and_rewrite(&self, op: OpView<Cast>, rw: &mut ProgramRewriter<'_>) -> bool {
        // All uses are replaced, including results of functions; the cast is erased.
        rw.replace_inst(op.root, &[op.input]).is_ok()
    }
}

/// 2. `un(broadcast(x)) = broadcast(un(x))`: fewer elements to compute. As a function, for every unary op.
pub(crate) fn unary_through_broadcast(outer: Unary, rw: &mut Rewrite<'_>) -> Option<Value> {
    let broadcast = rw.def::<BroadcastTo>(outer.input)?;
    // If the broadcast has other users, it stays and nothing is gained.
    if !rw.one_use(outer.input) {
        return None;
    }
    let ty = rw.result_type()?.clone();
    // The hoisted op has the type of the source, not of the broadcast.
    let inner = rw.emit_parts(&outer.with(broadcast.input))?;
    rw.emit(BroadcastTo { input: inner, ty: ResultType(ty) })
}

/// 3. `transpose(transpose(x, p), q) = x` if `q` undoes `p`.
pub(crate) fn transpose_there_and_back(outer: Transpose, rw: &mut Rewrite<'_>) -> Option<Value> {
    let inner = rw.def::<Transpose>(outer.input)?;
    let mut there_and_back = outer.perm.iter().map(|&i| inner.perm[i as usize]);
    let identity = (0..).zip(&mut there_and_back).all(|(i, p): (i64, i64)| i == p);
    identity.then_some(inner.input)
}

/// 4. `x * 1 = x`, on either side; constants are seen through broadcasts.
pub(crate) fn mul_by_one(op: Mul, rw: &mut Rewrite<'_>) -> Option<Value> {
    if rw.is_one(op.rhs) {
        return Some(op.lhs);
    }
    rw.is_one(op.lhs).then_some(op.rhs)
}

/// 4. `x + 0 = x`: on floats only where the sign of zero does not matter, since `-0 + 0` is `0`.
pub(crate) fn add_zero(op: Add, rw: &mut Rewrite<'_>) -> Option<Value> {
    if !rw.allows(sapwood_rewrite::FloatMode::Nsz, op.lhs) {
        return None;
    }
    if rw.is_zero(op.rhs) {
        return Some(op.lhs);
    }
    rw.is_zero(op.lhs).then_some(op.rhs)
}

/// 5. A pipeline of the patterns, CSE and DCE.
pub(crate) fn pipeline() -> PassManager {
    let mut patterns = PatternSet::new();
    patterns.add(RemoveNoOpCast);
    patterns.add(unary_through_broadcast.benefit(3));
    patterns.add(transpose_there_and_back.benefit(2));
    patterns.add(mul_by_one.benefit(2));
    patterns.add(add_zero);
    let config = GreedyConfig {
        max_iterations: usize::MAX,
        enable_constant_fold: true,
        enable_dce: true,
        cost_model: None,
        expensive_checks: cfg!(debug_assertions),
        ..GreedyConfig::default()
    };
    let mut passes = PassManager::new();
    passes.add(GreedyPass::canonicalize(config, patterns.freeze()));
    passes.add(CsePass);
    passes.add(DcePass);
    passes
}

/// The program on which the pipeline runs.
pub(crate) const PROGRAM: &str = "ptir 1

func @f(%x: f32[3], %n: i32[3]) -> (f32[2, 3], f32[2, 3], i32[3]) {
  %one = constant 1.0 : f32[]
  %ones = broadcast_to %one : f32[2, 3]
  %zero = constant 0 : i32[3]
  %b = broadcast_to %x : f32[2, 3]
  %e = exp %b : f32[2, 3]
  %m = mul %ones, %e : f32[2, 3]
  %c = cast %m : f32[2, 3]
  %t = transpose %c {perm = [1, 0]} : f32[3, 2]
  %u = transpose %t {perm = [1, 0]} : f32[2, 3]
  %i = add %n, %zero : i32[3]
  return %u, %c, %i
}
";

/// Runs the pipeline and returns the program after it.
pub(crate) fn run() -> Result<Program, Box<dyn std::error::Error>> {
    let mut program = parse(PROGRAM)?;
    let report = pipeline().print_changes(true).run(&mut program)?;
    assert!(report.changed());
    assert_eq!(
        program.to_string(),
        "ptir 1

func @f(%x: f32[3], %n: i32[3]) -> (f32[2, 3], f32[2, 3], i32[3]) {
  %0 = exp %x : f32[3]
  %e = broadcast_to %0 : f32[2, 3]
  return %e, %e, %n
}
"
    );
    let f = &program.functions()[0];
    assert!(f.walk().all(|i| f.op_key(i) != Cast::key()));
    Ok(program)
}

#[allow(clippy::print_stdout, dead_code, reason = "an example prints its results")]
fn main() -> Result<(), Box<dyn std::error::Error>> {
    println!("{PROGRAM}\nbecomes\n\n{}", run()?);
    Ok(())
}
