//! Parameters that are dims of other parameters, and the arguments for them.
//!
//! In PTIR a parameter and a named dim are not connected: `def f(n, x: TensorType(FP32, [n, 3]))` becomes
//! `@f(%n: i32[], %x: f32[?n, 3])`. The lowered function computes with the extent, and stops if the argument differs, unless a rewrite removes
//! the check, which nothing uses. A caller that knows the front-end function compares the arguments first, for a better message.

use sapwood_ir::{Function, Type, TypeRef, Var};
use sapwood_ptir::eval::{Tensor, Value};
use sapwood_ptir::ops::{Concat, DimValues, DynamicIota, OptimizationBarrier, Reshape};
use sapwood_ptir::{Dim, DimExprs, Dims, Int, Op, TensorLiteral, TensorType};
use sapwood_types::DataType;

use crate::IdMap;
use crate::function::FunctionLowering;
use crate::scope::LoweredValue;
use crate::types::{DimTie, vars_of};

impl<'a> FunctionLowering<'a> {
    /// Emits the checks that parameters and expressions over them are the extents that they name. From then on the parameters are the extents, so that
    /// the program computes with them even where a rewrite removes a check.
    pub(crate) fn check_dims_of_params(&mut self) {
        let signature = self.signature;
        let params = self.function.params.iter();
        let positions: IdMap<usize> =
            params.enumerate().map(|(n, param)| (param.id(), n)).collect();
        for tie in &signature.ties {
            if self.check_dim(tie, &positions).is_none() {
                return;
            }
        }
    }

    // The positions are those of all parameters.
    fn check_dim(&mut self, tie: &DimTie<'a>, positions: &IdMap<usize>) -> LoweredValue {
        let span = if tie.span.is_unknown() { self.span } else { tie.span };
        let before = self.scope.snapshot();
        let value = self.lower_expr(tie.expr)?;
        // Later uses of the expression read the parameters after the check.
        self.scope.rollback_to(before);
        let ty = self.expect_tensor(value, "a dim", span)?;
        let list = TensorType::new(ty.dtype, [1]);
        let extent = self.emit(Reshape { input: value, ty: list.into() }, span)?;
        let zero = TensorLiteral::filled(ty.dtype, &[1], 0.0).ok()?;
        let zero = self.writer.constant(&zero, span);
        let shape =
            self.emit(Concat { inputs: [extent, zero].into_iter().collect(), axis: Int(0) }, span)?;
        // The run stops here if the value is not the extent. The second axis keeps the tensor empty, however large the value is.
        let dims = Dims::from_iter([Dim::from_expr(tie.extent), Dim::Known(0)]);
        let empty = TensorType { dtype: DataType::U8, dims };
        let checked = self.emit(DynamicIota { shape, axis: Int(0), ty: empty.into() }, span)?;
        if tie.expr.is_var() {
            let values = DimExprs::from_iter([tie.extent]);
            let extent = self.emit(DimValues { values, ty: ty.into() }, span)?;
            self.bind(tie.expr, Some(extent));
            return Some(extent);
        }
        // The extent does not determine the parameters, so they wait for the check.
        let function = self.function;
        let mut params: Vec<usize> = vars_of(tie.expr)
            .into_iter()
            .filter_map(|var| positions.get(&var.node().id()).copied())
            .collect();
        params.sort_unstable();
        for param in params.into_iter().map(|n| &function.params[n]) {
            let values = [self.scope.get(param.expr())??, checked].into_iter().collect();
            let parts = OptimizationBarrier { values }.into_parts();
            let after = self.append(&parts, span)?.first().copied();
            self.bind(param.expr(), after);
        }
        Some(checked)
    }
}

/// Checks that each parameter that is a dim of a parameter equals the extent of the argument there.
///
/// # Errors
/// The first extent that differs, as text.
pub fn check_extent_arguments(function: &Function, args: &[Value]) -> Result<(), String> {
    for tie in extent_ties(function, args) {
        let n = args[tie.number].as_tensor().and_then(whole_number);
        if n.is_some_and(|n| n != tie.extent as i128) {
            let (name, param) = (function.params[tie.number].name(), tie.param.name());
            return Err(format!(
                "dim {} of {param} is {name}, which is {}, found {}",
                tie.axis,
                n.unwrap_or_default(),
                tie.extent
            ));
        }
    }
    Ok(())
}

/// Sets each argument that is a dim of a parameter to the extent of the argument there; the first one counts.
pub fn bind_extent_arguments(function: &Function, args: &mut [Value]) {
    let mut ties = extent_ties(function, args);
    ties.reverse();
    for tie in ties {
        let Some(dtype) = args[tie.number].as_tensor().map(Tensor::dtype) else { continue };
        let extent = TensorLiteral::filled(dtype, &[], tie.extent as f64).ok();
        if let Some(n) = extent.and_then(|literal| Tensor::from_literal(&literal).ok()) {
            args[tie.number] = n.into();
        }
    }
}

/// A parameter that is a dim of another one.
struct ExtentTie<'a> {
    /// The index of the parameter that is the dim.
    number: usize,
    /// The parameter with this dim in its type.
    param: &'a Var,
    axis: usize,
    /// The extent of the argument.
    extent: usize,
}

fn extent_ties<'a>(function: &'a Function, args: &[Value]) -> Vec<ExtentTie<'a>> {
    let numbers: IdMap<usize> =
        function.params.iter().enumerate().map(|(n, param)| (param.id(), n)).collect();
    let mut ties = Vec::new();
    for (param, arg) in function.params.iter().zip(args) {
        let mut worklist: Vec<(&TypeRef, &Value)> = vec![(param.ty(), arg)];
        while let Some((ty, value)) = worklist.pop() {
            match (&**ty, value) {
                (Type::Tuple { types, .. }, Value::Tuple(elements)) => {
                    worklist.extend(types.iter().zip(elements.iter()).rev());
                }
                (Type::Tensor { shape, .. }, Value::Tensor(t)) => {
                    for (axis, (dim, &extent)) in shape.iter().zip(t.shape()).enumerate() {
                        if let Some(&number) = numbers.get(&dim.node().id()) {
                            ties.push(ExtentTie { number, param, axis, extent });
                        }
                    }
                }
                _ => {}
            }
        }
    }
    ties
}

// Returns the value of an integer without dims.
fn whole_number(t: &Tensor) -> Option<i128> {
    if !t.shape().is_empty() || !t.dtype().is_integer() {
        return None;
    }
    let bytes = t.to_literal().ok()?;
    let bytes = bytes.element(0)?;
    let is_negative = t.dtype().integer_range()?.0 < 0 && bytes.last()? & 0x80 != 0;
    let mut wide = [if is_negative { 0xff } else { 0 }; 16];
    wide.get_mut(..bytes.len())?.copy_from_slice(bytes);
    Some(i128::from_le_bytes(wide))
}
