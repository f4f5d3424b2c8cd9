//! Where a pattern is worth a try: questions that cost next to nothing, answered for all patterns of an op at once.

use sapwood_ptir::ops::{BroadcastInDim, BroadcastTo, Constant};
use sapwood_ptir::{Dim, Function, InstId, Op, OpKey, Registry, TypeId, ValueType};
use sapwood_types::DataType;

use super::view::{Roots, user_elementwise};
use crate::FloatMode;

/// Something that makes a root worth a try of a pattern.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum When {
    /// An operand, or any if none is given, is a result of one of these ops.
    Operand(Option<usize>, Roots),
    /// An operand, or any if none is given, is a result of the same op as the root.
    OwnOp(Option<usize>),
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
    // One of each list; anything if there are none.
    pub(crate) ways: Vec<Vec<When>>,
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

/// How many things may be asked for together; more are not looked at.
const LISTS: usize = 2;

/// A bit for each of the first patterns of a bucket, for each thing they ask for.
type Bits = [u64; LISTS];

/// The needs of the first patterns of a bucket.
#[derive(Default)]
pub(crate) struct Gate {
    always: Bits,
    equal: Bits,
    same: Bits,
    empty: Bits,
    unit: Bits,
    // Whether there is anything in the last four.
    asks: bool,
    // By key of the definition and operand.
    definitions: Box<[[Bits; SLOTS]]>,
    // For keys beyond these: ops that are not built in.
    others: [Bits; SLOTS],
    // By mode and class of elements.
    elements: [[u64; Elements::COUNT]; FloatMode::ALL.len()],
}

impl Gate {
    /// The gate of patterns that are tried at an op, or at any.
    pub(crate) fn new<'a>(root: Option<OpKey>, needs: impl Iterator<Item = &'a Needs>) -> Self {
        let mut gate = Self::default();
        let mut definitions = Vec::new();
        for (n, needs) in needs.take(GATED).enumerate() {
            let bit = 1 << n;
            for list in 0..LISTS {
                match needs.ways.get(list) {
                    Some(ways) => gate.ask(root, ways, list, bit, &mut definitions),
                    None => gate.always[list] |= bit,
                }
            }
            for (row, &mode) in gate.elements.iter_mut().zip(FloatMode::ALL) {
                for (elements, mask) in row.iter_mut().enumerate() {
                    *mask |= if needs.allows(elements, mode) { bit } else { 0 };
                }
            }
        }
        gate.define_others(&mut definitions);
        gate.definitions = definitions.into();
        gate.asks = [gate.equal, gate.same, gate.empty, gate.unit] != [[0; LISTS]; 4];
        gate
    }

    fn ask(
        &mut self,
        root: Option<OpKey>,
        ways: &[When],
        list: usize,
        bit: u64,
        definitions: &mut Vec<[Bits; SLOTS]>,
    ) {
        for way in ways {
            match (way, root) {
                (When::Operand(at, Roots::Keys(keys)), _) => {
                    keys.iter().for_each(|&key| define(definitions, key, *at)(list, bit));
                }
                (When::OwnOp(at), Some(key)) => define(definitions, key, *at)(list, bit),
                (When::Operand(_, Roots::Any), _) | (When::OwnOp(_), None) => {
                    self.always[list] |= bit;
                }
                (When::EqualOperands, _) => self.equal[list] |= bit,
                (When::SameType, _) => self.same[list] |= bit,
                (When::EmptyDim, _) => self.empty[list] |= bit,
                (When::UnitDim, _) => self.unit[list] |= bit,
            }
        }
    }

    // Where elementwise ops that are not built in are asked for, each op that is not built in may be one.
    fn define_others(&mut self, definitions: &mut Vec<[Bits; SLOTS]>) {
        for key in user_elementwise() {
            for (slot, more) in
                self.others.iter_mut().zip(definitions.get(key.index()).into_iter().flatten())
            {
                add(slot, *more);
            }
        }
        if self.others == [[0; LISTS]; SLOTS] {
            return;
        }
        let builtin = Registry::builtin();
        let last = builtin.defs().map(|def| def.key.index()).max().unwrap_or(0);
        definitions.resize(definitions.len().max(last + 1), [[0; LISTS]; SLOTS]);
        let mut is_other = vec![true; definitions.len()];
        builtin.defs().for_each(|def| is_other[def.key.index()] = false);
        for (row, _) in definitions.iter_mut().zip(is_other).filter(|(_, other)| *other) {
            row.iter_mut().zip(self.others).for_each(|(slot, more)| add(slot, more));
        }
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
                let row = self.definitions.get(f.op_key(def).index()).unwrap_or(&self.others);
                add(&mut open, row[n.min(SLOTS - 1)]);
            }
        }
        let first = operands.first().map(|&v| f.type_id(v));
        let facts = first.map_or(Elements::NONE, |ty| types.of(f, ty));
        if self.asks {
            let result = f.value_of(inst).map(|v| f.type_id(v));
            let either = facts | result.map_or(0, |ty| types.of(f, ty));
            if equal_operands(operands) {
                add(&mut open, self.equal);
            }
            if first == result {
                add(&mut open, self.same);
            }
            if either & EMPTY != 0 {
                add(&mut open, self.empty);
            }
            if either & UNIT != 0 {
                add(&mut open, self.unit);
            }
        }
        open[0] & open[1] & self.elements[mode as usize][usize::from(facts & CLASS)]
    }
}

fn add(open: &mut Bits, more: Bits) {
    open.iter_mut().zip(more).for_each(|(open, more)| *open |= more);
}

// Sets bits of a list where an operand, or any, is defined by an op.
fn define(rows: &mut Vec<[Bits; SLOTS]>, key: OpKey, at: Option<usize>) -> impl FnMut(usize, u64) {
    if rows.len() <= key.index() {
        rows.resize(key.index() + 1, [[0; LISTS]; SLOTS]);
    }
    let slots = at.map_or(0..SLOTS, |n| n.min(SLOTS - 1)..n.min(SLOTS - 1) + 1);
    let row = &mut rows[key.index()][slots];
    move |list, bit| row.iter_mut().for_each(|bits| bits[list] |= bit)
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
