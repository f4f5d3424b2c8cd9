//! Instructions that bind a named dim.
//!
//! A name is bound when the function runs, by the first value whose type contains it. An instruction that binds a name for
//! others is not dead, even if nothing uses its results.

use std::cell::OnceCell;

use rustc_hash::FxHashSet;
use sapwood_ptir::{Function, InstId, Name, ValueId};

/// The dim names that the parameters of a function bind, collected at the first query.
#[derive(Default)]
pub(crate) struct DimBindings {
    signature_names: OnceCell<FxHashSet<Name>>,
}

impl DimBindings {
    /// Returns true if a result of an instruction or a parameter of its regions has a dim name that neither its operands nor
    /// the parameters of the function have.
    #[inline]
    pub(crate) fn binds_new_dim(&self, f: &Function, inst: InstId) -> bool {
        f.has_named_dims() && self.binds_symbol(f, inst)
    }

    fn binds_symbol(&self, f: &Function, inst: InstId) -> bool {
        let params = f.regions(inst).iter().flat_map(|&b| f.body_params(b)).copied();
        f.inst_results(inst).chain(params).any(|value| {
            let mut binds = false;
            f.value_type(value).for_each_symbol(&mut |name| {
                binds |= !self.is_in_signature(f, name)
                    && !any_type_has_dim_name(f, f.operands(inst), name);
            });
            binds
        })
    }

    fn is_in_signature(&self, f: &Function, name: Name) -> bool {
        let collect = || {
            let mut names = FxHashSet::default();
            for &param in f.params() {
                f.value_type(param).for_each_symbol(&mut |name| {
                    names.insert(name);
                });
            }
            names
        };
        self.signature_names.get_or_init(collect).contains(&name)
    }
}

fn any_type_has_dim_name(f: &Function, values: &[ValueId], name: Name) -> bool {
    let mut found = false;
    for &value in values {
        f.value_type(value).for_each_symbol(&mut |n| found |= n == name);
    }
    found
}
