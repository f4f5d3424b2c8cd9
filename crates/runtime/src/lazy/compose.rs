//! Composition of captured fragments into one function.

use std::sync::Arc;

use hashbrown::{HashMap, HashSet};
use rustc_hash::FxBuildHasher;
use sapwood_ptir::ops::Return;
use sapwood_ptir::{
    BodyId, Function, FunctionWriter, InstId, Op as _, OpError, OpParts, Registry, ValueDef,
    ValueId,
};
use sapwood_types::Span;

use super::{Fragment, FragmentResult, LazyError, LazyTensor};

type Composed<V, E> = Result<(Function, Vec<V>), LazyError<E>>;

/// Composes the function that computes the targets, and returns it with its inputs. Instructions that no target depends on are left out.
pub(super) fn compose<V: Clone, E>(
    name: &str,
    registry: &Arc<Registry>,
    targets: &[(&LazyTensor<V>, FragmentResult<V>)],
) -> Composed<V, E> {
    let mut composer = FunctionComposer {
        writer: FunctionWriter::new(name, registry),
        inputs: Vec::new(),
        values: HashMap::default(),
    };
    for (fragment, results) in order_fragments(targets) {
        composer.append_fragment(&fragment, &results)?;
    }
    let mut parts = OpParts::new(Return::key());
    let mut types = Vec::new();
    for (target, _) in targets {
        let value = composer.value_or_input(target);
        types.push(composer.writer.function().value_type(value).clone());
        parts.operands.push(value);
    }
    let body = composer.writer.function().body();
    composer.writer.append(body, &parts, Span::unknown())?;
    Ok((composer.writer.finish(&types)?, composer.inputs))
}

// A fragment and its requested results, each with its index among the results.
type FragmentUse<V> = (Arc<Fragment<V>>, Vec<(usize, LazyTensor<V>)>);

// Returns the fragments that the targets depend on, in dependency order. The order depends on the structure alone. The origin of
// each value is read only once, because another thread may compute the value meanwhile.
fn order_fragments<V>(targets: &[(&LazyTensor<V>, FragmentResult<V>)]) -> Vec<FragmentUse<V>> {
    let mut done: Vec<FragmentUse<V>> = Vec::new();
    let mut places: HashMap<*const Fragment<V>, usize, FxBuildHasher> = HashMap::default();
    let mut seen: HashSet<u64, FxBuildHasher> = HashSet::default();
    let known: HashMap<u64, &FragmentResult<V>, FxBuildHasher> =
        targets.iter().map(|(target, pending)| (target.id(), pending)).collect();
    let mut open: Vec<VisitStep<V>> =
        targets.iter().rev().map(|(target, _)| VisitStep::Enter((*target).clone())).collect();
    while let Some(step) = open.pop() {
        match step {
            VisitStep::Enter(value) if seen.insert(value.id()) => {
                let pending = known.get(&value.id()).map(|&pending| pending.clone());
                let Some((fragment, result)) = pending.or_else(|| value.pending_result()) else {
                    continue;
                };
                open.push(VisitStep::Leave(value, (fragment.clone(), result)));
                open.extend(fragment.inputs.iter().rev().cloned().map(VisitStep::Enter));
            }
            VisitStep::Enter(_) => {}
            VisitStep::Leave(value, (fragment, result)) => {
                let at = *places.entry(Arc::as_ptr(&fragment)).or_insert_with(|| {
                    done.push((fragment.clone(), Vec::new()));
                    done.len() - 1
                });
                done[at].1.push((result, value));
            }
        }
    }
    done
}

// A pending step of the traversal: a value to visit, or a value whose dependencies have been visited.
enum VisitStep<V> {
    Enter(LazyTensor<V>),
    Leave(LazyTensor<V>, FragmentResult<V>),
}

struct FunctionComposer<V> {
    writer: FunctionWriter,
    inputs: Vec<V>,
    // The values by the number of the lazy value.
    values: HashMap<u64, ValueId, FxBuildHasher>,
}

impl<V: Clone> FunctionComposer<V> {
    // Returns the value written for a lazy value, or a new input for it.
    fn value_or_input(&mut self, value: &LazyTensor<V>) -> ValueId {
        if let Some(&known) = self.values.get(&value.id()) {
            return known;
        }
        let body = self.writer.function().body();
        let param = self.writer.param(body, value.ty());
        self.inputs.extend(value.buffer());
        self.values.insert(value.id(), param);
        param
    }

    fn append_fragment<E>(
        &mut self,
        fragment: &Fragment<V>,
        results: &[(usize, LazyTensor<V>)],
    ) -> Result<(), LazyError<E>> {
        let from = &fragment.function;
        let yielded = from.results().to_vec();
        let live = find_live(from, results.iter().map(|&(n, _)| yielded[n]));
        let mut copier = InstCopier::new(from, self.writer.function().body());
        for (&param, input) in from.params().iter().zip(&fragment.inputs) {
            if live.values.contains(&param) {
                copier.values.insert(param, self.value_or_input(input));
            }
        }
        for inst in from.walk_post_order().filter(|inst| live.insts.contains(inst)) {
            copier.copy_inst(&mut self.writer, inst)?;
        }
        for (n, value) in results {
            self.values.insert(value.id(), copier.values[&yielded[*n]]);
        }
        Ok(())
    }
}

/// The instructions and values that some results depend on.
#[derive(Default)]
struct LiveSet {
    insts: HashSet<InstId, FxBuildHasher>,
    values: HashSet<ValueId, FxBuildHasher>,
}

// Finds the instructions that values of a function's own body depend on, including those in regions.
fn find_live(f: &Function, wanted: impl Iterator<Item = ValueId>) -> LiveSet {
    let mut live = LiveSet { values: wanted.collect(), ..LiveSet::default() };
    let order: Vec<InstId> = f.walk().collect();
    let is_own = |inst: InstId| f.body_of(inst) == Some(f.body());
    // Backwards: each group is an instruction of the body, followed by the instructions in its regions.
    let mut end = order.len();
    for start in (0..order.len()).rev().filter(|&at| is_own(order[at])) {
        let group = &order[start..end];
        end = start;
        if f.inst_results(group[0]).any(|value| live.values.contains(&value)) {
            live.values.extend(group.iter().flat_map(|&inst| f.operands(inst)));
            live.insts.extend(group);
        }
    }
    live
}

// Copies instructions in completion order, so that regions come before the instructions that own them.
struct InstCopier<'a> {
    from: &'a Function,
    values: HashMap<ValueId, ValueId, FxBuildHasher>,
    bodies: HashMap<BodyId, BodyId, FxBuildHasher>,
}

impl<'a> InstCopier<'a> {
    fn new(from: &'a Function, body: BodyId) -> Self {
        let bodies = std::iter::once((from.body(), body)).collect();
        Self { from, values: HashMap::default(), bodies }
    }

    fn copy_inst(&mut self, writer: &mut FunctionWriter, inst: InstId) -> Result<(), OpError> {
        let from = self.from;
        let span = from.inst_span(inst);
        if let Some(value) = from.value_of(inst)
            && let Some(literal) = from.constant_of(value)
        {
            self.values.insert(value, writer.constant(literal, span));
            return Ok(());
        }
        let mut parts = from.parts_of(inst);
        parts.operands = from.operands(inst).iter().map(|&v| self.map_value(writer, v)).collect();
        parts.regions = from.regions(inst).iter().map(|&b| self.map_body(writer, b)).collect();
        let home = from.body_of(inst).unwrap_or(from.body());
        let body = self.map_body(writer, home);
        let new = writer.append(body, &parts, span)?;
        let results: Vec<ValueId> = writer.function().inst_results(new).collect();
        for (old, value) in from.inst_results(inst).zip(results) {
            self.values.insert(old, value);
            if let Some(hint) = from.hint(old) {
                writer.set_hint(value, hint);
            }
        }
        Ok(())
    }

    fn map_value(&mut self, writer: &mut FunctionWriter, value: ValueId) -> ValueId {
        if let ValueDef::Param(body, _) = self.from.value_def(value)
            && !self.values.contains_key(&value)
        {
            self.map_body(writer, body);
        }
        self.values[&value]
    }

    fn map_body(&mut self, writer: &mut FunctionWriter, body: BodyId) -> BodyId {
        if let Some(&known) = self.bodies.get(&body) {
            return known;
        }
        let new = writer.new_body();
        for &param in self.from.body_params(body) {
            let value = writer.param(new, self.from.value_type(param));
            self.values.insert(param, value);
            if let Some(hint) = self.from.hint(param) {
                writer.set_hint(value, hint);
            }
        }
        self.bodies.insert(body, new);
        new
    }
}

#[cfg(test)]
mod tests {
    use sapwood_ptir::{GraphBuilder, TensorType, ValueType};
    use sapwood_types::DataType;

    use super::*;

    // Simulates another thread that computes the values between two reads of their origin.
    #[test]
    fn values_computed_meanwhile_change_no_program() {
        let registry = Registry::builtin();
        let ty: ValueType = TensorType::scalar(DataType::F32).into();
        let of = |input: &LazyTensor<&'static str>| {
            let mut builder = GraphBuilder::new("capture", &registry);
            let x = builder.parameter("", ty.clone());
            let function = builder.finish(&[x]).unwrap();
            let fragment = Fragment { function, inputs: vec![input.clone()] };
            LazyTensor::pending(1, ty.clone(), Arc::new(fragment), 0)
        };
        let x = LazyTensor::computed(1, ty.clone(), "x");
        let inner = of(&x);
        let outer = of(&inner);
        let both =
            [(&outer, outer.pending_result().unwrap()), (&inner, inner.pending_result().unwrap())];
        let one = [both[0].clone()];
        outer.set_computed("outer");
        let ids = |order: Vec<FragmentUse<&'static str>>| -> Vec<u64> {
            order.iter().flat_map(|(_, values)| values.iter().map(|(_, v)| v.id())).collect()
        };
        assert_eq!(ids(order_fragments(&one)), [inner.id(), outer.id()]);
        inner.set_computed("inner");
        assert_eq!(ids(order_fragments(&both)), [inner.id(), outer.id()]);
        let (_, inputs) = compose::<_, ()>("f", &registry, &both).unwrap();
        assert_eq!(inputs, ["x"]);
    }
}
