//! Other dims in place of the symbols of a function.

use super::Function;
use crate::attr::Attr;
use crate::dims::{Contradiction, Dim, DimExpr, Facts, Relation};
use crate::ids::{InstId, ValueId};
use crate::name::Name;
use crate::types::ValueType;

impl Function {
    /// Replaces symbols in all types, attributes and facts. A symbol that stays is replaced by itself.
    ///
    /// # Errors
    /// If a fact is then false whatever the other symbols are. Then nothing is changed.
    pub fn substitute_symbols(
        &mut self,
        replacement: &mut dyn FnMut(Name) -> Dim,
    ) -> Result<(), Contradiction> {
        let mut facts = Facts::new();
        for relation in self.facts().into_iter().flat_map(Facts::relations) {
            let Some(expr) = substituted(relation.expr, replacement) else { continue };
            let always = match relation.equation {
                true => expr.as_constant() == Some(0),
                false => Facts::new().bounds(expr).is_at_least(0),
            };
            if !always {
                let stated = |_| Contradiction { fact: relation.to_string() };
                facts.assume(Relation { expr, ..relation }).map_err(stated)?;
            }
        }
        self.set_facts(facts);
        let insts: Vec<InstId> = self.walk().collect();
        let mut values: Vec<ValueId> = self.params().to_vec();
        for &inst in &insts {
            values.extend(self.inst_results(inst));
            values.extend(self.regions(inst).iter().flat_map(|&body| self.body_params(body)));
        }
        for value in values {
            let ty = self.value_type(value).map_dims(&mut |dim| dim.substitute(replacement));
            if ty != *self.value_type(value) {
                let _ = self.set_type(value, &ty);
            }
        }
        for inst in insts {
            if !self.attrs(inst).iter().any(Attr::has_symbols) {
                continue;
            }
            let mut map = |expr: DimExpr| substituted(expr, replacement);
            let attrs = self.attrs(inst).iter().map(|attr| attr.map_exprs(&mut map));
            if let Some(attrs) = attrs.collect::<Option<Vec<_>>>() {
                let _ = self.set_attrs(inst, &attrs);
            }
        }
        let types: Vec<ValueType> = self.result_types().into_iter().cloned().collect();
        let types = types.iter().map(|ty| ty.map_dims(&mut |dim| dim.substitute(replacement)));
        let types: Vec<ValueType> = types.collect();
        self.set_result_types(&types);
        Ok(())
    }
}

// Unlike a dim, the result may be a negative number.
fn substituted(expr: DimExpr, replacement: &mut dyn FnMut(Name) -> Dim) -> Option<DimExpr> {
    let mut found: Vec<(Name, DimExpr)> = Vec::new();
    for &name in expr.symbols() {
        found.push((name, replacement(name).to_expr()?));
    }
    expr.substitute(&|name| found.iter().find(|(other, _)| *other == name).map(|&(_, e)| e))
}
