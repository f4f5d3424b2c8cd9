//! `symbol-dce`: removes functions that are not called.

use hashbrown::HashSet;
use rustc_hash::FxBuildHasher;
use sapwood_ptir::{Attr, Name, Program};
use sapwood_types::did_you_mean;

use super::{Pass, PassContext, PassError, shipped_pass_methods};
use crate::pass_options;
use crate::pipeline::{MakePass, PassInfo};

/// A pass that removes the functions that the kept functions do not call, directly or indirectly.
#[derive(Clone, Debug, Default)]
pub struct SymbolDcePass {
    /// The functions to keep. If it is empty, all public functions and `main`: a public function is removed only if others
    /// are named here.
    pub keep: Vec<String>,
}

impl Pass for SymbolDcePass {
    shipped_pass_methods!();

    fn options(&self) -> Vec<(&'static str, String)> {
        INFO.options_of(self, &Self::default())
    }

    fn may_remove_functions(&self) -> bool {
        !self.keep.is_empty()
    }

    fn run_on_program(
        &self,
        program: &mut Program,
        cx: &mut PassContext,
    ) -> Result<bool, PassError> {
        let mut open: Vec<Name> = Vec::new();
        if self.keep.is_empty() {
            let names = program.functions().iter();
            let names = names.filter(|f| !f.is_private() || f.name().as_str() == "main");
            open.extend(names.map(|f| f.name()));
            if open.is_empty() && !program.functions().is_empty() {
                let why =
                    "every function is private and would be removed; name those to keep in `keep`";
                return Err(PassError::Refused(why.to_owned()));
            }
        }
        for name in &self.keep {
            if program.function(name.as_str()).is_none() {
                let names = program.functions().iter().map(|f| f.name().as_str());
                let hint = did_you_mean(name, names)
                    .map_or_else(String::new, |close| format!("; did you mean @{close}?"));
                return Err(PassError::Refused(format!(
                    "unknown function @{name} in `keep`{hint}"
                )));
            }
            open.push(Name::new(name));
        }
        let mut kept: HashSet<Name, FxBuildHasher> = HashSet::default();
        while let Some(name) = open.pop() {
            if !kept.insert(name) {
                continue;
            }
            let Some(f) = program.function(name) else { continue };
            for inst in f.walk() {
                for attr in f.attrs(inst).iter() {
                    collect_called(attr, &mut open);
                }
            }
        }
        let before = program.functions().len();
        program.retain_functions(|f| kept.contains(&f.name()));
        let gone = before - program.functions().len();
        cx.count("removed", gone);
        Ok(gone > 0)
    }
}

// Collects the functions that an attribute names. Attributes of unregistered ops count too; their nesting is bounded.
fn collect_called(attr: &Attr, open: &mut Vec<Name>) {
    match attr {
        Attr::Func(name) => open.push(*name),
        Attr::List(list) => list.iter().for_each(|a| collect_called(a, open)),
        Attr::Dict(entries) => entries.iter().for_each(|(_, a)| collect_called(a, open)),
        _ => {}
    }
}

pub(super) static INFO: PassInfo = PassInfo {
    name: "symbol-dce",
    doc: "Removes the functions that the kept functions do not call.",
    options: pass_options!(SymbolDcePass {
        "keep": keep, "The functions to keep, separated by `|`; all public functions and `main` if left out.";
    }),
    make: MakePass::Plain(|options| options.fill(SymbolDcePass::default())),
};
