//! The canonical order of the operands of commutative instructions. It follows from the values that the operands compute, not from names or
//! ids, so equal programs have the same order.

use super::computation_hash::{HASH_SEED, mix};
use super::hash::{FunctionHasher, HashCodes, mix_inst};
use super::is_commutative;
use crate::func::{Function, OrderMark, ValueDef};
use crate::ids::{AttrId, InstId, TypeId, ValueId};
use crate::op::OpKey;
use crate::ops::{Compare, Constant, Direction};

/// Returns the instructions whose first two operands may be swapped and are not in canonical order, in program order.
///
/// These are commutative ops, and comparisons for equality. Constants, and broadcasts of one number, are not moved.
#[must_use]
pub fn misordered_operands(f: &Function) -> Vec<InstId> {
    let mut codes = ContentCodes {
        f,
        contents: FunctionHasher::for_contents(f),
        types: Vec::new(),
        ops: vec![None; f.num_insts().next_power_of_two().min(MAX_RECENT_OPS)],
        insts: vec![0; f.inst_capacity()],
        bodies: vec![0; f.body_capacity()],
        depths: vec![0; f.body_capacity()],
    };
    let is_constant = |value: ValueId| {
        f.inst_of(value).is_some_and(|inst| f.is::<Constant>(inst))
            || f.repeated_splat(value).is_some()
    };
    let mut found = Vec::new();
    let mut depth = 0;
    let mut at = OrderMark::Enter(f.body());
    loop {
        match at {
            OrderMark::Enter(body) => {
                codes.depths[body.index()] = depth;
                depth += 1;
            }
            OrderMark::Exit(_) => depth -= 1,
            OrderMark::Inst(inst) => {
                let code = mix_inst(&mut codes, f, inst);
                codes.insts[inst.index()] = code;
                // The last instruction of a body has the values that it yields.
                if let Some(body) = f.body_of(inst) {
                    codes.bodies[body.index()] = code;
                }
                if let &[u, v, ..] = f.operands(inst)
                    && u != v
                    && codes.value_code(u) > codes.value_code(v)
                    && codes.may_swap(inst)
                    && !is_constant(u)
                    && !is_constant(v)
                {
                    found.push(inst);
                }
            }
        }
        match f.layout.next_mark(at) {
            Some(next) => at = next,
            None => return found,
        }
    }
}

// The largest number of ops, with their attributes, whose codes are kept.
const MAX_RECENT_OPS: usize = 256;

// The codes of values: hashes of what they compute, without regard to the order of operands.
struct ContentCodes<'a> {
    f: &'a Function,
    contents: FunctionHasher<'a>,
    // By type; zero if it is not known yet.
    types: Vec<u64>,
    // Ops with their attributes, by a remainder of their ids.
    ops: Vec<Option<(OpKey, AttrId, u64)>>,
    insts: Vec<u64>,
    bodies: Vec<u64>,
    // By body: the number of enclosing bodies.
    depths: Vec<u64>,
}

impl HashCodes for ContentCodes<'_> {
    type State = u64;
    type Code = u64;

    #[inline]
    fn start(&mut self, inst: InstId) -> u64 {
        let (key, attrs) = (self.f.op_key(inst), self.f.attr_id(inst));
        let place = (key.index() ^ (attrs.index() * 31)) & (self.ops.len() - 1);
        let recent = &mut self.ops[place];
        if let Some((op, of, code)) = *recent
            && (op, of) == (key, attrs)
        {
            return code;
        }
        let code = mix(HASH_SEED, self.contents.hash_op_and_attrs(inst).lo);
        *recent = Some((key, attrs, code));
        code
    }

    #[inline]
    fn mix_type(&mut self, hash: u64, ty: TypeId) -> u64 {
        if let Some(&code) = self.types.get(ty.index())
            && code != 0
        {
            return mix(hash, code);
        }
        let code = self.contents.hash_type(ty).lo.max(1);
        self.types.resize(self.types.len().max(ty.index() + 1), 0);
        self.types[ty.index()] = code;
        mix(hash, code)
    }

    #[inline]
    fn mix_regions(&mut self, hash: u64, inst: InstId) -> u64 {
        self.f.regions(inst).iter().fold(hash, |hash, body| mix(hash, self.bodies[body.index()]))
    }

    #[inline]
    fn may_swap(&self, inst: InstId) -> bool {
        let symmetric = |op: Compare| matches!(op.direction, Direction::Eq | Direction::Ne);
        is_commutative(self.f, inst)
            || self.f.is::<Compare>(inst) && self.f.view::<Compare>(inst).is_some_and(symmetric)
    }

    #[inline]
    fn value_code(&mut self, value: ValueId) -> u64 {
        match self.f.value_def(value) {
            ValueDef::Result(inst, n) => mix(self.insts[inst.index()], n as u64),
            ValueDef::Param(body, n) => mix(mix(HASH_SEED, self.depths[body.index()]), n as u64),
        }
    }

    #[inline]
    fn mix_code(&self, hash: u64, code: u64) -> u64 {
        mix(hash, code)
    }
}
