//! Where a pattern is worth a try: questions that cost next to nothing, answered for all patterns of an op at once.

use sapwood_ptir::ops::{BroadcastInDim, BroadcastTo, Constant};
use sapwood_ptir::{Dim, Function, InstId, Op, OpKey, TypeId, ValueType};
use sapwood_types::DataType;

use super::view::Roots;
use crate::FloatMode;

/// Something that makes a root worth a try of a pattern.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum When {
    /// An operand, or any if none is given, is a result of one of these ops.
    Operand(Option<usize>, Roots),
    /// Two of its first three operands are the same value.
    EqualOperands,
    /// Its first operand and its first result have the same type.
    SameType,
    /// A dim of its first operand or result is zero.
    EmptyDim,
    /// A dim of its first operand or result is one.
    UnitDim,
}

impl When {
    /// The ops whose result may be a known literal: constants, and broadcasts of them.
    #[must_use]
    pub fn constants() -> Roots {
        let keys = [Constant::key(), BroadcastTo::key(), BroadcastInDim::key()];
        Roots::Keys(keys.into_iter().collect())
    }
}

/// Element types, in classes.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug)]
pub enum Elements {
    /// Bools.
    Bool,
    /// Integers.
    Int,
    /// Real floats.
    Float,
    /// Complex numbers.
    Complex,
}

impl Elements {
    const COUNT: usize = 5;
    // Tuples, tokens, and instructions without operands.
    const NONE: u8 = 4;

    fn of(dtype: DataType) -> u8 {
        match dtype {
            d if d.is_bool() => Self::Bool as u8,
            d if d.is_integer() => Self::Int as u8,
            d if d.is_float() => Self::Float as u8,
            d if d.is_complex() => Self::Complex as u8,
            _ => Self::NONE,
        }
    }
}

/// What a pattern asks for before it is tried.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub(crate) struct Needs {
    // One of these; anything if there are none.
    pub(crate) ways: Vec<When>,
    // The elements of the first operand are one of these; anything if there are none.
    pub(crate) elements: Vec<Elements>,
    // If the elements of the first operand are floats or complex, this mode or a freer one.
    pub(crate) floats: FloatMode,
}

impl Needs {
    fn allows(&self, elements: usize, mode: FloatMode) -> bool {
        if elements == usize::from(Elements::NONE) {
            return true;
        }
        let listed = self.elements.is_empty()
            || self.elements.iter().any(|&class| class as usize == elements);
        let rounds = elements >= Elements::Float as usize;
        listed && (!rounds || mode >= self.floats)
    }
}

/// Operands from this one on are not told apart.
const SLOTS: usize = 4;

/// How many patterns of a bucket are looked at together; those behind them are always tried.
pub(crate) const GATED: usize = 64;

/// The needs of the first patterns of a bucket, a bit for each.
#[derive(Default)]
pub(crate) struct Gate {
    always: u64,
    equal: u64,
    same: u64,
    empty: u64,
    unit: u64,
    // By key of the definition and operand.
    definitions: Box<[[u64; SLOTS]]>,
    // By mode and class of elements.
    elements: [[u64; Elements::COUNT]; FloatMode::ALL.len()],
}

impl Gate {
    pub(crate) fn new<'a>(needs: impl Iterator<Item = &'a Needs>) -> Self {
        let mut gate = Self::default();
        let mut definitions = Vec::new();
        for (n, needs) in needs.take(GATED).enumerate() {
            let bit = 1 << n;
            if needs.ways.is_empty() {
                gate.always |= bit;
            }
            for way in &needs.ways {
                match way {
                    When::Operand(_, Roots::Any) => gate.always |= bit,
                    When::Operand(at, Roots::Keys(keys)) => {
                        keys.iter().for_each(|&key| define(&mut definitions, key, *at, bit));
                    }
                    When::EqualOperands => gate.equal |= bit,
                    When::SameType => gate.same |= bit,
                    When::EmptyDim => gate.empty |= bit,
                    When::UnitDim => gate.unit |= bit,
                }
            }
            for (row, &mode) in gate.elements.iter_mut().zip(FloatMode::ALL) {
                for (elements, mask) in row.iter_mut().enumerate() {
                    *mask |= if needs.allows(elements, mode) { bit } else { 0 };
                }
            }
        }
        gate.definitions = definitions.into();
        gate
    }

    /// The patterns that are worth a try at an instruction, a bit each.
    pub(crate) fn open(
        &self,
        f: &Function,
        inst: InstId,
        types: &mut TypeFacts,
        mode: FloatMode,
    ) -> u64 {
        let operands = f.operands(inst);
        let mut open = self.always;
        if !self.definitions.is_empty() {
            for (n, &value) in operands.iter().enumerate() {
                let Some(def) = f.inst_of(value) else { continue };
                if let Some(row) = self.definitions.get(f.op_key(def).index()) {
                    open |= row[n.min(SLOTS - 1)];
                }
            }
        }
        if self.equal != 0 && equal_operands(operands) {
            open |= self.equal;
        }
        let first = operands.first().map(|&v| f.type_id(v));
        let facts = first.map_or(Elements::NONE, |ty| types.of(f, ty));
        if self.same | self.empty | self.unit != 0 {
            let result = f.value_of(inst).map(|v| f.type_id(v));
            let either = facts | result.map_or(0, |ty| types.of(f, ty));
            open |= if first == result { self.same } else { 0 };
            open |= if either & EMPTY != 0 { self.empty } else { 0 };
            open |= if either & UNIT != 0 { self.unit } else { 0 };
        }
        open & self.elements[mode as usize][usize::from(facts & CLASS)]
    }
}

fn define(rows: &mut Vec<[u64; SLOTS]>, key: OpKey, at: Option<usize>, bit: u64) {
    if rows.len() <= key.index() {
        rows.resize(key.index() + 1, [0; SLOTS]);
    }
    let row = &mut rows[key.index()];
    match at {
        Some(n) => row[n.min(SLOTS - 1)] |= bit,
        None => row.iter_mut().for_each(|mask| *mask |= bit),
    }
}

fn equal_operands<T: PartialEq>(operands: &[T]) -> bool {
    match operands {
        [a, b, c, ..] => a == b || b == c || a == c,
        [a, b] => a == b,
        _ => false,
    }
}

const CLASS: u8 = 7;
const EMPTY: u8 = 8;
const UNIT: u8 = 16;
const KNOWN: u8 = 128;

/// What gates ask of types, by type: found out once.
#[derive(Default)]
pub(crate) struct TypeFacts(Vec<u8>);

impl TypeFacts {
    fn of(&mut self, f: &Function, ty: TypeId) -> u8 {
        match self.0.get(ty.index()) {
            Some(&facts) if facts != 0 => facts,
            _ => self.find_out(f, ty),
        }
    }

    #[cold]
    fn find_out(&mut self, f: &Function, ty: TypeId) -> u8 {
        if self.0.len() <= ty.index() {
            self.0.resize(ty.index() + 1, 0);
        }
        let mut facts = KNOWN | Elements::NONE;
        if let ValueType::Tensor(tensor) = f.type_by_id(ty) {
            facts = KNOWN | Elements::of(tensor.dtype);
            facts |= if tensor.dims.contains(&Dim::Known(0)) { EMPTY } else { 0 };
            facts |= if tensor.dims.contains(&Dim::Known(1)) { UNIT } else { 0 };
        }
        self.0[ty.index()] = facts;
        facts
    }
}
