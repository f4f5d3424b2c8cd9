//! Instructions that tell what a named dim is.
//!
//! A name is bound when the function runs, by the first value whose type has it. Whoever does that for others is not dead,
//! whether its results are used or not.

use std::cell::OnceCell;

use rustc_hash::FxHashSet;
use sapwood_ptir::{Dim, Function, InstId, Name, ValueId, ValueType};

/// Calls `f` with each name of a dim in a type.
pub(crate) fn each_name(ty: &ValueType, f: &mut impl FnMut(Name)) {
    match ty {
        ValueType::Tensor(ty) => {
            for dim in &ty.dims {
                if let Dim::Named(name) = dim {
                    f(*name);
                }
            }
        }
        // Tuples nest as deep as the limit of types says.
        ValueType::Tuple(elements) => elements.iter().for_each(|e| each_name(e, f)),
        ValueType::Token => {}
    }
}

/// Which names the parameters of a function tell.
#[derive(Default)]
pub(crate) struct DimNames {
    signature: OnceCell<FxHashSet<Name>>,
}

impl DimNames {
    /// Whether a result of an instruction or a parameter of its regions has a name that neither its operands nor the
    /// parameters of the function have.
    pub(crate) fn tells(&self, f: &Function, inst: InstId) -> bool {
        if !f.has_named_dims() {
            return false;
        }
        let params = f.regions(inst).iter().flat_map(|&b| f.body_params(b)).copied();
        f.inst_results(inst).chain(params).any(|value| {
            let mut tells = false;
            each_name(f.value_type(value), &mut |name| {
                tells |= !self.in_signature(f, name) && !has_name(f, f.operands(inst), name);
            });
            tells
        })
    }

    fn in_signature(&self, f: &Function, name: Name) -> bool {
        let collect = || {
            let mut names = FxHashSet::default();
            for &param in f.params() {
                each_name(f.value_type(param), &mut |name| {
                    names.insert(name);
                });
            }
            names
        };
        self.signature.get_or_init(collect).contains(&name)
    }
}

fn has_name(f: &Function, values: &[ValueId], name: Name) -> bool {
    let mut found = false;
    for &value in values {
        each_name(f.value_type(value), &mut |n| found |= n == name);
    }
    found
}
