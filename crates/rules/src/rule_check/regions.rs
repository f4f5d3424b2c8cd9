//! Random instances of regions: bodies with parameters that fit the operands, and the values that they yield.

use sapwood_ptir::ops::Yield;
use sapwood_ptir::{BodyId, Op, OpDef, OpParts, TensorType, ValueId, ValueType, Values};
use sapwood_types::DataType;

use super::instance::InstanceBuilder;
use crate::graph::{OpIx, PatternGraph, ValueSource};

/// The bodies of an op that is not inserted yet.
pub(super) struct OpenRegions {
    pub(super) operands: Values,
    bodies: Vec<BodyId>,
}

/// Returns for each op of a pattern the op and the number of the region that it is in.
pub(super) fn region_owners(pattern: &PatternGraph) -> Vec<Option<(OpIx, usize)>> {
    let mut owners = vec![None; pattern.ops.len()];
    // Inner regions come before outer ones.
    for (owner, data) in pattern.ops.iter().enumerate() {
        for (n, region) in data.region_patterns.iter().enumerate() {
            let mut open = region.yields.clone();
            while let Some(value) = open.pop() {
                for value in pattern.without_choices([value]) {
                    let ValueSource::Result(op) = pattern.values[value].from else { continue };
                    if pattern.ops[op].in_region && owners[op].is_none() {
                        owners[op] = Some((owner, n));
                        open.extend(pattern.used_by_operands(&pattern.ops[op]));
                    }
                }
            }
        }
    }
    owners
}

impl InstanceBuilder<'_> {
    /// Sets the body in which the instruction of an op is created.
    pub(super) fn enter_body_of(&mut self, op: OpIx) -> Option<()> {
        self.place = match self.owners[op] {
            None => self.f.body(),
            Some((owner, region)) => {
                self.open_regions(owner)?;
                *self.regions.get(&owner)?.bodies.get(region)?
            }
        };
        Some(())
    }

    /// Draws the operands of an op with regions, and creates the bodies of these.
    pub(super) fn open_regions(&mut self, op: OpIx) -> Option<()> {
        if self.regions.contains_key(&op) {
            return Some(());
        }
        self.enter_body_of(op)?;
        let pattern = self.pattern;
        let def = self.registry.get(pattern.ops[op].key)?;
        let operands = self.operands(op, def)?;
        let mut bodies = Vec::new();
        for region in &pattern.ops[op].region_patterns {
            let types = (0..region.params.len())
                .map(|n| Some(ValueType::Tensor(self.param_type_of_region(def, &operands, n)?)))
                .collect::<Option<Vec<_>>>()?;
            let body = self.f.new_body(&types);
            for (&param, &value) in region.params.iter().zip(self.f.body_params(body)) {
                self.values[param] = Some(value);
            }
            bodies.push(body);
        }
        self.regions.insert(op, OpenRegions { operands, bodies });
        Some(())
    }

    // Returns the type of the n-th parameter of a region: that of a carried value, or one element.
    fn param_type_of_region(
        &self,
        def: &OpDef,
        operands: &[ValueId],
        n: usize,
    ) -> Option<TensorType> {
        let at = if def.name == "while" { n } else { 0 };
        let ty = self.f.value_type(*operands.get(at)?).as_tensor()?;
        Some(if def.name == "while" { ty.clone() } else { TensorType::scalar(ty.dtype) })
    }

    /// Ends the bodies of an op with what they yield, and adds them to its parts.
    pub(super) fn close_regions(&mut self, op: OpIx, parts: &mut OpParts) -> Option<()> {
        let Some(bodies) = self.regions.get(&op).map(|open| open.bodies.clone()) else {
            return Some(());
        };
        let def = self.registry.get(self.pattern.ops[op].key)?;
        for (n, &body) in bodies.iter().enumerate() {
            self.place = body;
            let pattern = self.pattern;
            let yields = &pattern.ops[op].region_patterns[n].yields;
            let mut end = OpParts::new(Yield::key());
            for (at, &value) in yields.iter().enumerate() {
                let value = self.drawn(value);
                let ty = self.yield_type(op, def, n, at);
                let found = match (self.values[value], self.number_of(value)) {
                    (Some(known), _) => known,
                    (None, Some(number)) => self.number(number, &ty, true)?,
                    (None, None) => {
                        let name = &pattern.values[value].name;
                        let param = self.param(&ty, name)?;
                        self.values[value] = Some(param);
                        param
                    }
                };
                end.operands.push(found);
            }
            self.append(&end)?;
            parts.regions.push(body);
        }
        self.enter_body_of(op)
    }

    // Returns the type of a value that a region yields: a bool for conditions and orders, else that of a parameter or of another region.
    fn yield_type(&self, op: OpIx, def: &OpDef, region: usize, at: usize) -> TensorType {
        if def.name == "sort" || def.name == "while" && region == 0 {
            return TensorType::scalar(DataType::Bool);
        }
        let regions = &self.pattern.ops[op].region_patterns;
        let params = regions[region].params.get(at).copied();
        let others = regions.iter().filter_map(|r| r.yields.get(at).map(|&v| self.drawn(v)));
        let known = params.into_iter().chain(others).find_map(|v| self.values[v]);
        let known = known.and_then(|v| self.f.value_type(v).as_tensor().cloned());
        known.unwrap_or_else(|| self.base.clone())
    }
}
