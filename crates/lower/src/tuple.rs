//! Tuples.

use sapwood_ptir::ops::{GetTupleElement, Tuple};
use sapwood_ptir::{ValueId, ValueType};
use sapwood_types::Span;

use crate::function::Lowering;
use crate::scope::Val;
use crate::types::MOST_PARTS;

impl Lowering<'_> {
    /// A tuple. Its type is written out whole, so that one with too many shared parts is refused.
    pub(crate) fn make_tuple(&mut self, elements: &[ValueId], span: Span) -> Val {
        let most = MOST_PARTS.max(4 * elements.len() as u64);
        let mut parts = 0;
        for &element in elements {
            parts += self.parts(element, most);
            if parts > most {
                let message = format!("a tuple has at most {most} parts, this one more");
                self.problem(span, message);
                return None;
            }
        }
        self.emit(Tuple { elements: elements.iter().copied().collect() }, span)
    }

    /// How many types a type is made of; those of tuples were counted when they were made.
    fn parts(&mut self, value: ValueId, most: u64) -> u64 {
        let f = self.out.function();
        if f.value_type(value).as_tuple().is_none() {
            return 1;
        }
        let id = f.type_id(value).index();
        if let Some(&known) = self.parts.get(&id) {
            return known;
        }
        let count = count(f.value_type(value), most);
        self.parts.insert(id, count);
        count
    }

    /// One element of a tuple.
    pub(crate) fn tuple_element(&mut self, tuple: ValueId, index: u32, span: Span) -> Val {
        self.emit(GetTupleElement { input: tuple, index: index.into() }, span)
    }
}

/// The parts of a type, up to a bound.
fn count(ty: &ValueType, most: u64) -> u64 {
    let (mut parts, mut todo) = (0, vec![ty]);
    while let Some(ty) = todo.pop() {
        parts += 1;
        if parts > most {
            break;
        }
        todo.extend(ty.as_tuple().into_iter().flatten());
    }
    parts
}
