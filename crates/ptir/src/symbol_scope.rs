//! The scope of symbols: where a named dim that no parameter binds exists.
//!
//! A symbol is bound when a body runs, by the first value whose type contains it. The symbols of the function's parameters exist in the
//! whole function. Every other symbol exists only in the body that introduces it, and is bound again in each iteration of a loop. So a
//! name that a region introduces must not occur outside of this region: there, the extent would be that of the last iteration, or of a
//! branch that did not run.
//!
//! Every symbol must be determined by the value that introduces it: it is a dim of its own, or a dim is linear in it and has no other
//! symbol that is new.

use hashbrown::HashMap;
use rustc_hash::FxBuildHasher;
use sapwood_types::{Diagnostic, Diagnostics, Span};

use crate::dims::{Facts, binding_order};
use crate::func::Function;
use crate::ids::{BodyId, InstId, ValueId};
use crate::name::Name;

/// Checks that each symbol occurs only in the body that introduces it, and in the regions inside of this body.
pub(crate) fn check_symbol_scopes(f: &Function, problems: &mut Diagnostics) {
    if !f.has_named_dims() && f.facts().is_none() && !f.has_symbolic_attrs() {
        return;
    }
    let mut scopes = SymbolScopes { f, home: HashMap::default(), checked: Vec::new() };
    let params = f.params().iter().map(|&param| f.value_type(param));
    scopes.home.extend(binding_order(params, |_| false).into_iter().map(|name| (name, f.body())));
    for relation in f.facts().into_iter().flat_map(Facts::relations) {
        for &name in relation.expr.symbols() {
            if !scopes.home.contains_key(&name) {
                let message = format!("no parameter binds ?{name} of `where {relation}`");
                problems.error(f.span(), message);
            }
        }
    }
    let has_symbolic_attrs = f.has_symbolic_attrs();
    let mut entered: Vec<BodyId> = Vec::new();
    // In post-order, because the results of an instruction exist after its regions have run.
    for inst in f.walk_post_order() {
        // The first instruction of a body comes after the parameters of this body.
        let mut first = (f.regions(inst).is_empty()).then_some(inst);
        while let Some(body) = first.and_then(|inst| f.body_of(inst)) {
            if f.first_inst(body) != first {
                break;
            }
            entered.push(body);
            first = f.body_owner(body);
        }
        for body in entered.drain(..).rev() {
            let owner = f.body_owner(body);
            let span = owner.map_or(f.span(), |owner| f.inst_span(owner));
            for &param in f.body_params(body) {
                scopes.check(param, body, owner, span, problems);
            }
        }
        let body = f.body_of(inst).unwrap_or(f.body());
        if has_symbolic_attrs {
            scopes.check_attrs(inst, body, problems);
        }
        for value in f.inst_results(inst) {
            scopes.check(value, body, Some(inst), f.inst_span(inst), problems);
        }
    }
}

struct SymbolScopes<'a> {
    f: &'a Function,
    // The body that introduces a symbol.
    home: HashMap<Name, BodyId, FxBuildHasher>,
    // For each type, the body in which it was checked last: there its symbols are in scope.
    checked: Vec<Option<BodyId>>,
}

impl SymbolScopes<'_> {
    // Checks the symbols in the attributes of an instruction, which need a value when it runs.
    fn check_attrs(&self, inst: InstId, body: BodyId, problems: &mut Diagnostics) {
        let f = self.f;
        for attr in f.attrs(inst).iter().filter(|attr| attr.has_symbols()) {
            attr.for_each_symbol(&mut |name| {
                let in_scope = |&home: &BodyId| home == body || f.encloses(home, inst);
                if !self.home.get(&name).is_some_and(in_scope) {
                    let message = format!("no value that is available here binds ?{name}");
                    problems.error(f.inst_span(inst), message);
                }
            });
        }
    }

    // Checks the symbols of a value that belongs to a body, at an instruction in or around this body.
    fn check(
        &mut self,
        value: ValueId,
        body: BodyId,
        at: Option<InstId>,
        span: Span,
        problems: &mut Diagnostics,
    ) {
        // Many values have the same type.
        let id = self.f.type_id(value).index();
        if id >= self.checked.len() {
            self.checked.resize(id + 1, None);
        }
        if self.checked[id].replace(body) == Some(body) {
            return;
        }
        let ty = self.f.value_type(value);
        let new = binding_order(std::iter::once(ty), |name| self.home.contains_key(&name));
        self.home.extend(new.into_iter().map(|name| (name, body)));
        let mut reported: Vec<Name> = Vec::new();
        ty.for_each_symbol(&mut |name| {
            let message = match self.home.get(&name) {
                None => Diagnostic::error(span, format!("nothing determines ?{name} of {ty}"))
                    .with_help(
                        "a symbol is a dim of its own, or a dim is linear in it and has no other new symbol",
                    ),
                Some(&home) if home == body => return,
                Some(&home) if at.is_none_or(|inst| self.f.encloses(home, inst)) => return,
                Some(_) => Diagnostic::error(
                    span,
                    format!("?{name} of {ty} is a symbol of another region"),
                )
                .with_help(
                    "a symbol that no parameter has exists only in the body that introduces it; use another name, or `?`",
                ),
            };
            problems.push(message);
            // Each symbol is reported once.
            reported.push(name);
        });
        self.home.extend(reported.into_iter().map(|name| (name, self.f.body())));
    }
}
