//! Views of the root of a pattern: one op, a family of ops, or any instruction.

use std::ops::Deref;
use std::sync::OnceLock;

use sapwood_ptir::ops::{self, BroadcastTo};
use sapwood_ptir::{
    Attr, Effects, Function, InstId, Op, OpKey, OpParts, Registry, TensorType, ValueId,
};
use smallvec::SmallVec;

use crate::ProgramRewriter;

/// The instructions at which a pattern is tried.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum Roots {
    /// All instructions.
    Any,
    /// The instructions of these ops.
    Keys(SmallVec<[OpKey; 2]>),
}

impl Roots {
    /// Returns the roots with the op `T`.
    #[must_use]
    pub fn of<T: Op>() -> Self {
        Self::Keys(SmallVec::from_iter([T::key()]))
    }

    /// Returns the union of several roots.
    #[must_use]
    pub fn all(parts: impl IntoIterator<Item = Self>) -> Self {
        let mut keys = SmallVec::new();
        for part in parts {
            match part {
                Self::Any => return Self::Any,
                Self::Keys(more) => keys.extend(more),
            }
        }
        Self::Keys(keys)
    }
}

/// A typed view of an instruction. Every op is one; so are [`Unary`], [`Binary`] and [`OpRef`].
pub trait RootView: Sized {
    /// Returns the instructions that can be read as this view.
    fn roots() -> Roots;
    /// Reads an instruction as this view; `None` if it does not fit.
    fn read(function: &Function, inst: InstId) -> Option<Self>;
}

impl<T: Op> RootView for T {
    fn roots() -> Roots {
        Roots::of::<T>()
    }
    fn read(function: &Function, inst: InstId) -> Option<Self> {
        function.view(inst)
    }
}

/// An instruction read as a `V`: its id and the view. A small owned handle; everything else is read through the rewriter.
#[derive(Clone, Debug)]
pub struct OpView<V> {
    /// The instruction.
    pub root: InstId,
    /// The view.
    pub op: V,
}

impl<V> Deref for OpView<V> {
    type Target = V;
    fn deref(&self) -> &V {
        &self.op
    }
}

/// Returns the keys that represent, in [`Roots`], the pure elementwise ops that are not built in: of one operand, of two, of more.
pub fn user_elementwise_keys() -> [OpKey; 3] {
    static KEYS: OnceLock<[OpKey; 3]> = OnceLock::new();
    let names = ["(elementwise, one operand)", "(elementwise, two operands)", "(elementwise)"];
    *KEYS.get_or_init(|| names.map(OpKey::of))
}

/// Returns the one of these keys that represents an instruction, if its op is elementwise, pure and not built in.
pub(crate) fn user_elementwise_key(f: &Function, inst: InstId) -> Option<OpKey> {
    let is = f.op_def(inst)?.elementwise
        && !is_built_in(f.op_key(inst))
        && f.own_effects(inst) == Effects::Pure
        && f.inst_results(inst).len() == 1;
    let operands = f.operands(inst).len();
    is.then(|| user_elementwise_keys()[operands.clamp(1, 3) - 1]).filter(|_| operands > 0)
}

/// Returns true if an op is built in and elementwise, or represented by [`user_elementwise_keys`].
pub fn is_elementwise(f: &Function, inst: InstId) -> bool {
    let built_in = is_built_in(f.op_key(inst)) && f.op_def(inst).is_some_and(|d| d.elementwise);
    built_in || user_elementwise_key(f, inst).is_some()
}

pub(crate) fn is_built_in(key: OpKey) -> bool {
    static KEYS: OnceLock<Vec<bool>> = OnceLock::new();
    let keys = KEYS.get_or_init(|| {
        let mut keys = Vec::new();
        for def in Registry::builtin().defs() {
            keys.resize(keys.len().max(def.key.index() + 1), false);
            keys[def.key.index()] = true;
        }
        keys
    });
    keys.get(key.index()).is_some_and(|built_in| *built_in)
}

// Returns true if an instruction has a built-in op of a family, or an elementwise op that is not built in. The view itself
// checks the number of operands.
fn is_in_family(f: &Function, inst: InstId, family: &str) -> bool {
    f.op_def(inst).is_some_and(|def| def.family == family)
        || user_elementwise_key(f, inst).is_some()
}

/// An elementwise op with one operand: of the family `unary`, or not built in.
#[derive(Clone, PartialEq, Debug)]
pub struct Unary {
    /// The op.
    pub key: OpKey,
    /// The operand.
    pub input: ValueId,
    /// The attributes.
    pub attrs: SmallVec<[Attr; 4]>,
}

impl Unary {
    /// Returns the op with another operand, to be emitted.
    #[must_use]
    pub fn with(&self, input: ValueId) -> OpParts {
        let mut parts = OpParts::new(self.key);
        parts.operands.push(input);
        parts.attrs = self.attrs.clone();
        parts
    }
}

impl RootView for Unary {
    fn roots() -> Roots {
        let [other, ..] = user_elementwise_keys();
        Roots::Keys(ops::unary_ops().iter().map(|d| d.key).chain([other]).collect())
    }
    fn read(function: &Function, inst: InstId) -> Option<Self> {
        if !is_in_family(function, inst, "unary") {
            return None;
        }
        let &[input] = function.operands(inst) else { return None };
        let attrs = function.attrs(inst).iter().cloned().collect();
        Some(Self { key: function.op_key(inst), input, attrs })
    }
}

/// An elementwise op with two operands: of the family `binary`, or not built in.
#[derive(Clone, PartialEq, Debug)]
pub struct Binary {
    /// The op.
    pub key: OpKey,
    /// The first operand.
    pub lhs: ValueId,
    /// The second operand.
    pub rhs: ValueId,
    /// The attributes; the built-in ops have none.
    pub attrs: SmallVec<[Attr; 4]>,
}

impl Binary {
    /// Returns the op with other operands, to be emitted.
    #[must_use]
    pub fn with(&self, lhs: ValueId, rhs: ValueId) -> OpParts {
        let mut parts = OpParts::new(self.key);
        parts.operands.extend([lhs, rhs]);
        parts.attrs = self.attrs.clone();
        parts
    }
}

impl RootView for Binary {
    fn roots() -> Roots {
        let [_, other, _] = user_elementwise_keys();
        Roots::Keys(ops::binary_ops().iter().map(|d| d.key).chain([other]).collect())
    }
    fn read(function: &Function, inst: InstId) -> Option<Self> {
        if !is_in_family(function, inst, "binary") {
            return None;
        }
        let &[lhs, rhs] = function.operands(inst) else { return None };
        let attrs = function.attrs(inst).iter().cloned().collect();
        Some(Self { key: function.op_key(inst), lhs, rhs, attrs })
    }
}

/// Any instruction, with shortcuts for common queries.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct OpRef {
    /// The instruction.
    pub root: InstId,
}

impl RootView for OpRef {
    fn roots() -> Roots {
        Roots::Any
    }
    fn read(_: &Function, root: InstId) -> Option<Self> {
        Some(Self { root })
    }
}

impl OpRef {
    /// Returns the type of the first result, if it is a tensor.
    #[must_use]
    pub fn result_tensor<'r>(&self, rw: &'r ProgramRewriter<'_>) -> Option<&'r TensorType> {
        rw.type_of(rw.value_of(self.root)?)?.as_tensor()
    }

    /// Returns the n-th operand.
    #[must_use]
    pub fn operand_value(&self, rw: &ProgramRewriter<'_>, n: usize) -> Option<ValueId> {
        rw.operands(self.root).get(n).copied()
    }

    /// Reads the instruction as a `V`.
    #[must_use]
    pub fn as_op<V: RootView>(&self, rw: &ProgramRewriter<'_>) -> Option<V> {
        V::read(rw.function(), self.root)
    }

    /// Reads the instruction as a `broadcast_to`.
    #[must_use]
    pub fn as_broadcast(&self, rw: &ProgramRewriter<'_>) -> Option<BroadcastTo> {
        self.as_op(rw)
    }

    /// Reads the instruction as an op of the family `unary`.
    #[must_use]
    pub fn as_unary(&self, rw: &ProgramRewriter<'_>) -> Option<Unary> {
        self.as_op(rw)
    }

    /// Reads the instruction as an op of the family `binary`.
    #[must_use]
    pub fn as_binary(&self, rw: &ProgramRewriter<'_>) -> Option<Binary> {
        self.as_op(rw)
    }
}
