//! The symbols of a function, and the types of loop-carried values.

use sapwood_ir::ops::{DimSymbols, dim_vars};
use sapwood_ir::{Function, Var};
use sapwood_ptir::dims::bound_symbols;
use sapwood_ptir::{Dim, Name, TensorType, ValueType};

use crate::IdSet;
use crate::summary::LoweringSummary;

/// Returns the symbols of a function: parameters that occur in dims of parameters and are never reassigned.
pub(crate) fn function_symbols(function: &Function, summary: &LoweringSummary<'_>) -> DimSymbols {
    let params: IdSet = function.params.iter().map(Var::id).collect();
    let (mut symbols, mut listed) = (DimSymbols::default(), Vec::new());
    let mut taken: hashbrown::HashSet<Name, rustc_hash::FxBuildHasher> = Default::default();
    for param in &function.params {
        for var in dim_vars(param.ty()) {
            if !params.contains(&var.node().id())
                || summary.is_reassigned(var)
                || symbols.contains(var)
            {
                continue;
            }
            let plain = var.name().filter(|name| !name.is_empty()).unwrap_or("d");
            let mut name = Name::new(plain);
            let mut count = 1;
            while !taken.insert(name) {
                name = Name::new(&format!("{plain}_{count}"));
                count += 1;
            }
            symbols.insert(var, name);
            listed.push(name);
        }
    }
    let types = function.params.iter().filter_map(|param| symbols.convert(param.ty()).ok());
    let types: Vec<ValueType> = types.collect();
    let bound = bound_symbols(types.iter());
    symbols.set_unbound(listed.into_iter().filter(|name| !bound.contains(name)).collect());
    symbols
}

/// Returns the type of a loop-carried value: that of its initial value, with unknown dims where the declared type has them.
pub(crate) fn widen_to_declared(first: &ValueType, declared: Option<&ValueType>) -> ValueType {
    match (first, declared) {
        (ValueType::Tensor(a), Some(ValueType::Tensor(b)))
            if a.dtype == b.dtype && a.rank() == b.rank() =>
        {
            let dims = a.dims.iter().zip(&b.dims).map(|(&first, &declared)| match declared {
                Dim::Known(_) => declared,
                _ if first == declared => declared,
                _ => Dim::Unknown,
            });
            TensorType { dtype: a.dtype, dims: dims.collect() }.into()
        }
        (ValueType::Tuple(a), Some(ValueType::Tuple(b))) if a.len() == b.len() => ValueType::Tuple(
            a.iter().zip(b.iter()).map(|(a, b)| widen_to_declared(a, Some(b))).collect(),
        ),
        _ => first.clone(),
    }
}
