//! Captured pieces put together to one function.

use std::sync::Arc;

use hashbrown::{HashMap, HashSet};
use rustc_hash::FxBuildHasher;
use sapwood_ptir::ops::Return;
use sapwood_ptir::{
    BodyId, Function, FunctionWriter, InstId, Op as _, OpError, OpParts, Registry, ValueDef,
    ValueId,
};
use sapwood_types::Span;

use super::{Fragment, LazyError, LazyTensor, Piece};

type Composed<V, E> = Result<(Function, Vec<V>), LazyError<E>>;

/// The function that computes values, each with what it came from, and its inputs. What does not lead to them is left out.
pub(super) fn compose<V: Clone, E>(
    name: &str,
    registry: &Arc<Registry>,
    targets: &[(&LazyTensor<V>, Piece<V>)],
) -> Composed<V, E> {
    let mut writing = Writing {
        writer: FunctionWriter::new(name, registry),
        inputs: Vec::new(),
        values: HashMap::default(),
    };
    for (fragment, results) in order(targets) {
        writing.fragment(&fragment, &results)?;
    }
    let mut parts = OpParts::new(Return::key());
    let mut types = Vec::new();
    for (target, _) in targets {
        let value = writing.value(target);
        types.push(writing.writer.function().value_type(value).clone());
        parts.operands.push(value);
    }
    let body = writing.writer.function().body();
    writing.writer.append(body, &parts, Span::unknown())?;
    Ok((writing.writer.finish(&types)?, writing.inputs))
}

// A piece and the values that are its results and are asked for, each with its place among the results.
type Needed<V> = (Arc<Fragment<V>>, Vec<(usize, LazyTensor<V>)>);

// The pieces that values need, each after those it needs itself. The order follows from the structure alone. What a value
// came from is looked at once: another thread may compute it meanwhile.
fn order<V>(targets: &[(&LazyTensor<V>, Piece<V>)]) -> Vec<Needed<V>> {
    let mut done: Vec<Needed<V>> = Vec::new();
    let mut places: HashMap<*const Fragment<V>, usize, FxBuildHasher> = HashMap::default();
    let mut seen: HashSet<u64, FxBuildHasher> = HashSet::default();
    let known: HashMap<u64, &Piece<V>, FxBuildHasher> =
        targets.iter().map(|(target, piece)| (target.id(), piece)).collect();
    let mut open: Vec<Step<V>> =
        targets.iter().rev().map(|(target, _)| Step::Enter((*target).clone())).collect();
    while let Some(step) = open.pop() {
        match step {
            Step::Enter(value) if seen.insert(value.id()) => {
                let piece = known.get(&value.id()).map(|&piece| piece.clone());
                let Some((fragment, result)) = piece.or_else(|| value.piece()) else { continue };
                open.push(Step::Leave(value, (fragment.clone(), result)));
                open.extend(fragment.inputs.iter().rev().cloned().map(Step::Enter));
            }
            Step::Enter(_) => {}
            Step::Leave(value, (fragment, result)) => {
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

// What is still to do: a value that is wanted, and the same value after all that its piece needs.
enum Step<V> {
    Enter(LazyTensor<V>),
    Leave(LazyTensor<V>, Piece<V>),
}

struct Writing<V> {
    writer: FunctionWriter,
    inputs: Vec<V>,
    // Values of the lazy graph by their number.
    values: HashMap<u64, ValueId, FxBuildHasher>,
}

impl<V: Clone> Writing<V> {
    // A value of the lazy graph: what was written for it, or an input.
    fn value(&mut self, value: &LazyTensor<V>) -> ValueId {
        if let Some(&known) = self.values.get(&value.id()) {
            return known;
        }
        let body = self.writer.function().body();
        let param = self.writer.param(body, value.ty());
        self.inputs.extend(value.buffer());
        self.values.insert(value.id(), param);
        param
    }

    fn fragment<E>(
        &mut self,
        fragment: &Fragment<V>,
        results: &[(usize, LazyTensor<V>)],
    ) -> Result<(), LazyError<E>> {
        let from = &fragment.function;
        let yielded = from.results().to_vec();
        let kept = needed(from, results.iter().map(|&(n, _)| yielded[n]));
        let mut copying = Copying::new(from, self.writer.function().body());
        for (&param, input) in from.params().iter().zip(&fragment.inputs) {
            if kept.values.contains(&param) {
                copying.values.insert(param, self.value(input));
            }
        }
        for inst in from.walk_post_order().filter(|inst| kept.insts.contains(inst)) {
            copying.inst(&mut self.writer, inst)?;
        }
        for (n, value) in results {
            self.values.insert(value.id(), copying.values[&yielded[*n]]);
        }
        Ok(())
    }
}

/// What leads to some values.
#[derive(Default)]
struct Kept {
    insts: HashSet<InstId, FxBuildHasher>,
    values: HashSet<ValueId, FxBuildHasher>,
}

// The instructions that values of a function's own body need, with all that is in their regions.
fn needed(f: &Function, wanted: impl Iterator<Item = ValueId>) -> Kept {
    let mut kept = Kept { values: wanted.collect(), ..Kept::default() };
    let order: Vec<InstId> = f.walk().collect();
    let is_own = |inst: InstId| f.body_of(inst) == Some(f.body());
    // From the end: an instruction of the body, and behind it what is in its regions.
    let mut end = order.len();
    for start in (0..order.len()).rev().filter(|&at| is_own(order[at])) {
        let group = &order[start..end];
        end = start;
        if f.inst_results(group[0]).any(|value| kept.values.contains(&value)) {
            kept.values.extend(group.iter().flat_map(|&inst| f.operands(inst)));
            kept.insts.extend(group);
        }
    }
    kept
}

// Copies instructions in the order of completion, so that regions end before what they belong to.
struct Copying<'a> {
    from: &'a Function,
    values: HashMap<ValueId, ValueId, FxBuildHasher>,
    bodies: HashMap<BodyId, BodyId, FxBuildHasher>,
}

impl<'a> Copying<'a> {
    fn new(from: &'a Function, body: BodyId) -> Self {
        let bodies = std::iter::once((from.body(), body)).collect();
        Self { from, values: HashMap::default(), bodies }
    }

    fn inst(&mut self, writer: &mut FunctionWriter, inst: InstId) -> Result<(), OpError> {
        let from = self.from;
        let span = from.inst_span(inst);
        if let Some(value) = from.value_of(inst)
            && let Some(literal) = from.constant_of(value)
        {
            self.values.insert(value, writer.constant(literal, span));
            return Ok(());
        }
        let mut parts = OpParts::new(from.op_key(inst));
        parts.attrs = from.attrs(inst).iter().cloned().collect();
        parts.operands = from.operands(inst).iter().map(|&v| self.value(writer, v)).collect();
        parts.regions = from.regions(inst).iter().map(|&b| self.body(writer, b)).collect();
        parts.declared_types =
            from.inst_results(inst).map(|v| from.value_type(v).clone()).collect();
        let home = from.body_of(inst).unwrap_or(from.body());
        let body = self.body(writer, home);
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

    fn value(&mut self, writer: &mut FunctionWriter, value: ValueId) -> ValueId {
        if let ValueDef::Param(body, _) = self.from.value_def(value)
            && !self.values.contains_key(&value)
        {
            self.body(writer, body);
        }
        self.values[&value]
    }

    fn body(&mut self, writer: &mut FunctionWriter, body: BodyId) -> BodyId {
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

    // As if another thread computed the values between the first look at them and the next.
    #[test]
    fn what_is_computed_meanwhile_changes_no_program() {
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
        let both = [(&outer, outer.piece().unwrap()), (&inner, inner.piece().unwrap())];
        let one = [both[0].clone()];
        outer.set("outer");
        let ids = |order: Vec<Needed<&'static str>>| -> Vec<u64> {
            order.iter().flat_map(|(_, values)| values.iter().map(|(_, v)| v.id())).collect()
        };
        assert_eq!(ids(order(&one)), [inner.id(), outer.id()]);
        inner.set("inner");
        assert_eq!(ids(order(&both)), [inner.id(), outer.id()]);
        let (_, inputs) = compose::<_, ()>("f", &registry, &both).unwrap();
        assert_eq!(inputs, ["x"]);
    }
}
