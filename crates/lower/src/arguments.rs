//! Parameters that are dims of other parameters, and the arguments for them.
//!
//! In PTIR a parameter and a named dim are not connected: `def f(n, x: TensorType(FP32, [n, 3]))` becomes
//! `@f(%n: i32[], %x: f32[?n, 3])`. A caller of the lowered function compares the arguments.

use sapwood_ir::{Function, Type, TypeRef, Var};
use sapwood_ptir::TensorLiteral;
use sapwood_ptir::eval::{Tensor, Value};

use crate::IdMap;

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
