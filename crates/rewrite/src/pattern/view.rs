//! What a pattern sees of its root: one op, a family of ops, or any.

use std::ops::Deref;
use std::sync::OnceLock;

use sapwood_ptir::ops::{self, BroadcastTo};
use sapwood_ptir::{
    Attr, Effects, Function, InstId, Op, OpKey, OpParts, Registry, TensorType, ValueId,
};
use smallvec::SmallVec;

use crate::ProgramRewriter;

/// At which instructions a pattern is tried.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum Roots {
    /// At all.
    Any,
    /// At those of these ops.
    Keys(SmallVec<[OpKey; 2]>),
}

impl Roots {
    /// The instructions of one op.
    #[must_use]
    pub fn of<T: Op>() -> Self {
        Self::Keys(SmallVec::from_iter([T::key()]))
    }

    /// The instructions of all of these.
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

/// A way to see an instruction. Every op is one; so are [`Unary`], [`Binary`] and [`OpRef`].
pub trait RootView: Sized {
    /// Which instructions can be seen this way.
    fn roots() -> Roots;
    /// The instruction seen this way; `None` if it cannot be.
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

/// An instruction seen as a `V`: its id and what it is. A small owned handle; what belongs to the function is asked of
/// the rewriter.
#[derive(Clone, Debug)]
pub struct OpView<V> {
    /// The instruction.
    pub root: InstId,
    /// What it is.
    pub op: V,
}

impl<V> Deref for OpView<V> {
    type Target = V;
    fn deref(&self) -> &V {
        &self.op
    }
}

/// Keys that represent, in [`Roots`], the pure elementwise ops that are not built in: of one operand, of two, of more.
pub fn user_elementwise() -> [OpKey; 3] {
    static KEYS: OnceLock<[OpKey; 3]> = OnceLock::new();
    let names = ["(elementwise, one operand)", "(elementwise, two operands)", "(elementwise)"];
    *KEYS.get_or_init(|| names.map(OpKey::of))
}

/// The one of these keys that represents an instruction, if its op is elementwise, pure and not built in.
pub(crate) fn user_elementwise_key(f: &Function, inst: InstId) -> Option<OpKey> {
    let is = f.op_def(inst)?.elementwise
        && !is_built_in(f.op_key(inst))
        && f.own_effects(inst) == Effects::Pure
        && f.inst_results(inst).len() == 1;
    let operands = f.operands(inst).len();
    is.then(|| user_elementwise()[operands.clamp(1, 3) - 1]).filter(|_| operands > 0)
}

/// Whether an op is built in and elementwise, or represented by [`user_elementwise`].
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

// The instruction is of a family of built-in ops, or of an elementwise op that is not built in. How many operands it has,
// the view finds out.
fn is_of(f: &Function, inst: InstId, family: &str) -> bool {
    f.op_def(inst).is_some_and(|def| def.family == family)
        || user_elementwise_key(f, inst).is_some()
}

/// An elementwise op of one operand, whichever it is: of the family `unary`, or one that is not built in.
#[derive(Clone, PartialEq, Debug)]
pub struct Unary {
    /// Which.
    pub key: OpKey,
    /// Its operand.
    pub input: ValueId,
    /// Its attributes.
    pub attrs: SmallVec<[Attr; 4]>,
}

impl Unary {
    /// The op with another operand, to be emitted.
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
        let [other, ..] = user_elementwise();
        Roots::Keys(ops::unary_ops().iter().map(|d| d.key).chain([other]).collect())
    }
    fn read(function: &Function, inst: InstId) -> Option<Self> {
        if !is_of(function, inst, "unary") {
            return None;
        }
        let &[input] = function.operands(inst) else { return None };
        let attrs = function.attrs(inst).iter().cloned().collect();
        Some(Self { key: function.op_key(inst), input, attrs })
    }
}

/// An elementwise op of two operands, whichever it is: of the family `binary`, or one that is not built in.
#[derive(Clone, PartialEq, Debug)]
pub struct Binary {
    /// Which.
    pub key: OpKey,
    /// Its first operand.
    pub lhs: ValueId,
    /// Its second operand.
    pub rhs: ValueId,
    /// Its attributes; the built-in ones have none.
    pub attrs: SmallVec<[Attr; 4]>,
}

impl Binary {
    /// The op with other operands, to be emitted.
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
        let [_, other, _] = user_elementwise();
        Roots::Keys(ops::binary_ops().iter().map(|d| d.key).chain([other]).collect())
    }
    fn read(function: &Function, inst: InstId) -> Option<Self> {
        if !is_of(function, inst, "binary") {
            return None;
        }
        let &[lhs, rhs] = function.operands(inst) else { return None };
        let attrs = function.attrs(inst).iter().cloned().collect();
        Some(Self { key: function.op_key(inst), lhs, rhs, attrs })
    }
}

/// Any instruction, with the questions patterns ask most.
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
    /// The type of the first result, if that is a tensor.
    #[must_use]
    pub fn result_tensor<'r>(&self, rw: &'r ProgramRewriter<'_>) -> Option<&'r TensorType> {
        rw.type_of(rw.value_of(self.root)?)?.as_tensor()
    }

    /// The n-th operand.
    #[must_use]
    pub fn operand_value(&self, rw: &ProgramRewriter<'_>, n: usize) -> Option<ValueId> {
        rw.operands(self.root).get(n).copied()
    }

    /// The instruction as a `V`, if it is one.
    #[must_use]
    pub fn as_op<V: RootView>(&self, rw: &ProgramRewriter<'_>) -> Option<V> {
        V::read(rw.function(), self.root)
    }

    /// The instruction as a `broadcast_to`, if it is one.
    #[must_use]
    pub fn as_broadcast(&self, rw: &ProgramRewriter<'_>) -> Option<BroadcastTo> {
        self.as_op(rw)
    }

    /// The instruction as an op of the family `unary`, if it is one.
    #[must_use]
    pub fn as_unary(&self, rw: &ProgramRewriter<'_>) -> Option<Unary> {
        self.as_op(rw)
    }

    /// The instruction as an op of the family `binary`, if it is one.
    #[must_use]
    pub fn as_binary(&self, rw: &ProgramRewriter<'_>) -> Option<Binary> {
        self.as_op(rw)
    }
}
