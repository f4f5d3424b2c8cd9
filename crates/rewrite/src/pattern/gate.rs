//! Gates: cheap conditions under which patterns may match, tested for all patterns of an op at once.

use sapwood_ptir::ops::{BroadcastInDim, BroadcastTo, Constant};
use sapwood_ptir::{Dim, Function, InstId, Op, OpKey, Registry, TypeId, ValueType};
use sapwood_types::DataType;

use super::root_view::{Roots, user_elementwise_keys};
use crate::FloatMode;

/// A condition on a root under which a pattern may match.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum GateCondition {
    /// The operand at this index, or any operand if `None`, is a result of one of these ops.
    Operand(Option<usize>, Roots),
    /// The operand at this index, or any operand if `None`, is a result of the same op as the root.
    OwnOp(Option<usize>),
    /// Two of the first three operands are the same value.
    EqualOperands,
    /// The first operand and the first result have the same type.
    SameType,
    /// A dim of the first operand or result is zero.
    EmptyDim,
    /// A dim of the first operand or result is one.
    UnitDim,
}

impl GateCondition {
    /// Returns the ops whose result may be a known literal: constants, and broadcasts of them.
    #[must_use]
    pub fn constants() -> Roots {
        let keys = [Constant::key(), BroadcastTo::key(), BroadcastInDim::key()];
        Roots::Keys(keys.into_iter().collect())
    }
}

/// A class of element types.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug)]
pub enum ElementClass {
    /// Bools.
    Bool,
    /// Integers.
    Int,
    /// Real floats.
    Float,
    /// Complex numbers.
    Complex,
}

impl ElementClass {
    const COUNT: usize = 5;
    // The class of tuples, tokens, and instructions without operands.
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

/// The conditions of one pattern.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub(crate) struct GateConditions {
    // One condition of each list must hold; no restriction if there are no lists.
    pub(crate) any_of: Vec<Vec<GateCondition>>,
    // The elements of the first operand must be of one of these classes; no restriction if there are none.
    pub(crate) elements: Vec<ElementClass>,
    // If the elements of the first operand are floats or complex, the float mode must be this or a freer one.
    pub(crate) floats: FloatMode,
}

impl GateConditions {
    fn allows(&self, elements: usize, mode: FloatMode) -> bool {
        if elements == usize::from(ElementClass::NONE) {
            return true;
        }
        let listed = self.elements.is_empty()
            || self.elements.iter().any(|&class| class as usize == elements);
        let rounds = elements >= ElementClass::Float as usize;
        listed && (!rounds || mode >= self.floats)
    }
}

/// The number of operand positions that conditions distinguish; the last one stands for all further operands.
const OPERAND_SLOTS: usize = 4;

/// The number of patterns of a bucket that the gate covers; further ones are always tried.
pub(crate) const MAX_GATED: usize = 64;

/// The number of condition lists per pattern that the gate tests; further ones are ignored.
const CONDITION_LISTS: usize = 2;

/// A bit for each gated pattern, for each condition list.
type PatternBits = [u64; CONDITION_LISTS];

/// The float mode of a stage of a run, and that of its last stage.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) struct FloatModes {
    pub(crate) now: FloatMode,
    pub(crate) last: FloatMode,
}

/// The gated patterns that may match at an instruction.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) struct EnabledPatterns {
    /// A bit for each pattern of the bucket.
    pub(crate) now: u64,
    /// A bit for each pattern that only the last float mode enables.
    pub(crate) later: u64,
}

/// The conditions of the gated patterns of a bucket, as bit masks.
#[derive(Default)]
pub(crate) struct Gate {
    unconditional: PatternBits,
    equal_operands: PatternBits,
    same_type: PatternBits,
    empty_dim: PatternBits,
    unit_dim: PatternBits,
    // True if one of the last four is not empty.
    has_root_conditions: bool,
    // The patterns of the first five, which do not depend on the definitions of operands alone.
    apart_from_definitions: PatternBits,
    // By the op key of the operand's definition, and by operand.
    definitions: Box<[[PatternBits; OPERAND_SLOTS]]>,
    // For keys beyond these: ops that are not built in.
    user_ops: [PatternBits; OPERAND_SLOTS],
    // By float mode and class of elements.
    elements: [[u64; ElementClass::COUNT]; FloatMode::ALL.len()],
}

impl Gate {
    /// Builds the gate of the patterns that are tried at an op, or at any op.
    pub(crate) fn new<'a>(
        root: Option<OpKey>,
        conditions: impl Iterator<Item = &'a GateConditions>,
    ) -> Self {
        let mut gate = Self::default();
        let mut definitions = Vec::new();
        for (n, conditions) in conditions.take(MAX_GATED).enumerate() {
            let bit = 1 << n;
            for list in 0..CONDITION_LISTS {
                match conditions.any_of.get(list) {
                    Some(any_of) => gate.add_conditions(root, any_of, list, bit, &mut definitions),
                    None => gate.unconditional[list] |= bit,
                }
            }
            for (row, &mode) in gate.elements.iter_mut().zip(FloatMode::ALL) {
                for (elements, mask) in row.iter_mut().enumerate() {
                    *mask |= if conditions.allows(elements, mode) { bit } else { 0 };
                }
            }
        }
        gate.add_user_ops(&mut definitions);
        gate.definitions = definitions.into();
        gate.has_root_conditions =
            [gate.equal_operands, gate.same_type, gate.empty_dim, gate.unit_dim]
                != [[0; CONDITION_LISTS]; 4];
        for bits in
            [gate.unconditional, gate.equal_operands, gate.same_type, gate.empty_dim, gate.unit_dim]
        {
            add_bits(&mut gate.apart_from_definitions, bits);
        }
        gate
    }

    fn add_conditions(
        &mut self,
        root: Option<OpKey>,
        any_of: &[GateCondition],
        list: usize,
        bit: u64,
        definitions: &mut Vec<[PatternBits; OPERAND_SLOTS]>,
    ) {
        for way in any_of {
            match (way, root) {
                (GateCondition::Operand(at, Roots::Keys(keys)), _) => {
                    keys.iter()
                        .for_each(|&key| definition_setter(definitions, key, *at)(list, bit));
                }
                (GateCondition::OwnOp(at), Some(key)) => {
                    definition_setter(definitions, key, *at)(list, bit);
                }
                (GateCondition::Operand(_, Roots::Any), _) | (GateCondition::OwnOp(_), None) => {
                    self.unconditional[list] |= bit;
                }
                (GateCondition::EqualOperands, _) => self.equal_operands[list] |= bit,
                (GateCondition::SameType, _) => self.same_type[list] |= bit,
                (GateCondition::EmptyDim, _) => self.empty_dim[list] |= bit,
                (GateCondition::UnitDim, _) => self.unit_dim[list] |= bit,
            }
        }
    }

    // If conditions name elementwise ops that are not built in, adds them to every op that is not built in.
    fn add_user_ops(&mut self, definitions: &mut Vec<[PatternBits; OPERAND_SLOTS]>) {
        for key in user_elementwise_keys() {
            for (slot, more) in
                self.user_ops.iter_mut().zip(definitions.get(key.index()).into_iter().flatten())
            {
                add_bits(slot, *more);
            }
        }
        if self.user_ops == [[0; CONDITION_LISTS]; OPERAND_SLOTS] {
            return;
        }
        let builtin = Registry::builtin();
        let last = builtin.defs().map(|def| def.key.index()).max().unwrap_or(0);
        definitions.resize(definitions.len().max(last + 1), [[0; CONDITION_LISTS]; OPERAND_SLOTS]);
        let mut is_other = vec![true; definitions.len()];
        builtin.defs().for_each(|def| is_other[def.key.index()] = false);
        for (row, _) in definitions.iter_mut().zip(is_other).filter(|(_, other)| *other) {
            row.iter_mut().zip(self.user_ops).for_each(|(slot, more)| add_bits(slot, more));
        }
    }

    /// Returns false if certainly none of these patterns may match at an instruction. It looks only at the ops that define the operands.
    #[inline]
    pub(crate) fn may_enable(&self, f: &Function, inst: InstId, patterns: u64) -> bool {
        let mut open = self.apart_from_definitions;
        self.add_definitions(f, inst, &mut open);
        open[0] & open[1] & patterns != 0
    }

    #[inline]
    fn add_definitions(&self, f: &Function, inst: InstId, open: &mut PatternBits) {
        if self.definitions.is_empty() {
            return;
        }
        for (n, &value) in f.operands(inst).iter().enumerate() {
            let Some(def) = f.inst_of(value) else { continue };
            let row = self.definitions.get(f.op_key(def).index()).unwrap_or(&self.user_ops);
            add_bits(open, row[n.min(OPERAND_SLOTS - 1)]);
        }
    }

    /// Returns the patterns that may match at an instruction, one bit each.
    #[inline]
    pub(crate) fn enabled_patterns(
        &self,
        f: &Function,
        inst: InstId,
        types: &mut TypeFactCache,
        modes: FloatModes,
    ) -> EnabledPatterns {
        let operands = f.operands(inst);
        let mut open = self.unconditional;
        self.add_definitions(f, inst, &mut open);
        let first = operands.first().map(|&v| f.type_id(v));
        let facts = first.map_or(ElementClass::NONE, |ty| types.facts_of(f, ty));
        if self.has_root_conditions {
            let result = f.value_of(inst).map(|v| f.type_id(v));
            let either = facts | result.map_or(0, |ty| types.facts_of(f, ty));
            if equal_operands(operands) {
                add_bits(&mut open, self.equal_operands);
            }
            if first == result {
                add_bits(&mut open, self.same_type);
            }
            if either & HAS_EMPTY_DIM != 0 {
                add_bits(&mut open, self.empty_dim);
            }
            if either & HAS_UNIT_DIM != 0 {
                add_bits(&mut open, self.unit_dim);
            }
        }
        let (open, class) = (open[0] & open[1], usize::from(facts & CLASS_MASK));
        let now = open & self.elements[modes.now as usize][class];
        let later = open & self.elements[modes.last as usize][class] & !now;
        EnabledPatterns { now, later }
    }
}

#[inline]
fn add_bits(open: &mut PatternBits, more: PatternBits) {
    let [first, second] = more;
    open[0] |= first;
    open[1] |= second;
}

// Returns a function that sets bits of a list for definitions of an operand, or of any operand, by an op.
fn definition_setter(
    rows: &mut Vec<[PatternBits; OPERAND_SLOTS]>,
    key: OpKey,
    at: Option<usize>,
) -> impl FnMut(usize, u64) {
    if rows.len() <= key.index() {
        rows.resize(key.index() + 1, [[0; CONDITION_LISTS]; OPERAND_SLOTS]);
    }
    let slots =
        at.map_or(0..OPERAND_SLOTS, |n| n.min(OPERAND_SLOTS - 1)..n.min(OPERAND_SLOTS - 1) + 1);
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

const CLASS_MASK: u8 = 7;
const HAS_EMPTY_DIM: u8 = 8;
const HAS_UNIT_DIM: u8 = 16;
const COMPUTED: u8 = 128;

/// A cache of the properties of types that gates test, keyed by type id.
#[derive(Default)]
pub(crate) struct TypeFactCache(Vec<u8>);

impl TypeFactCache {
    fn facts_of(&mut self, f: &Function, ty: TypeId) -> u8 {
        match self.0.get(ty.index()) {
            Some(&facts) if facts != 0 => facts,
            _ => self.compute(f, ty),
        }
    }

    #[cold]
    fn compute(&mut self, f: &Function, ty: TypeId) -> u8 {
        if self.0.len() <= ty.index() {
            self.0.resize(ty.index() + 1, 0);
        }
        let mut facts = COMPUTED | ElementClass::NONE;
        if let ValueType::Tensor(tensor) = f.type_by_id(ty) {
            facts = COMPUTED | ElementClass::of(tensor.dtype);
            facts |= if tensor.dims.contains(&Dim::Known(0)) { HAS_EMPTY_DIM } else { 0 };
            facts |= if tensor.dims.contains(&Dim::Known(1)) { HAS_UNIT_DIM } else { 0 };
        }
        self.0[ty.index()] = facts;
        facts
    }
}
