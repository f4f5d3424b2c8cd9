//! Structural hashes: 128 bits, the same for equal programs and in every process.

use hashbrown::HashMap;
use rustc_hash::FxBuildHasher;
use sapwood_structural::{Hash128, Mixer};

use super::Mode;
use super::scope::{IndexTable, Scope, captured_values, ordered_flags};
use crate::attr::Attr;
use crate::dims::{Facts, binding_order};
use crate::func::{Function, OrderMark, ValueDef};
use crate::ids::{AttrId, BodyId, InstId, TypeId, ValueId};
use crate::name::Name;
use crate::op::OpKey;
use crate::program::Program;
use crate::types::{Dim, ValueType};

/// The version of the hash definition. It changes whenever the hash of any program changes.
pub const HASH_VERSION: u64 = 3;

const TAG_PROGRAM: u64 = 1;
const TAG_FUNCTION: u64 = 2;
const TAG_BODY: u64 = 3;
const TAG_INST: u64 = 4;
const TAG_PARAM: u64 = 5;
const TAG_RESULT: u64 = 6;
const TAG_TYPE: u64 = 7;
const TAG_ATTRS: u64 = 8;
const TAG_OUTSIDE: u64 = 9;
const TAG_FACT: u64 = 10;

// Returns a mixer for objects of one kind. Objects of different kinds with the same content hash differently.
const fn tagged_mixer(kind: u64) -> Mixer {
    Mixer::new(HASH_VERSION << 32 | kind)
}

/// Returns the structural hash of a program. Programs that are equal in a mode have the same hash in it.
#[must_use]
pub fn hash(program: &Program, mode: Mode) -> Hash128 {
    let mut hashes: Vec<Hash128> =
        program.functions().iter().map(|f| hash_function(f, mode)).collect();
    if mode == Mode::DataFlow {
        hashes.sort_unstable();
    }
    let start = tagged_mixer(TAG_PROGRAM).absorb(hashes.len() as u64, 0);
    hashes.into_iter().fold(start, Mixer::absorb_hash).finish()
}

/// Returns the structural hash of a function, including its name.
#[must_use]
pub fn hash_function(f: &Function, mode: Mode) -> Hash128 {
    let mut hashing = FunctionHasher::new(f, Scope::Body(f.body()), mode);
    let results = f.result_types();
    let mut mixer = tagged_mixer(TAG_FUNCTION)
        .absorb_bytes(f.name().as_str().as_bytes())
        .absorb(results.len() as u64, 0);
    for ty in results {
        mixer = mixer.absorb_hash(hashing.hash_type_uncached(ty));
    }
    // Functions without facts have the hash that they had before there were facts.
    for relation in f.facts().into_iter().flat_map(Facts::relations) {
        let number = |name: Name| hashing.dims.get(&name).copied();
        let hash = relation.expr.hash_by_number(&number);
        mixer = mixer.absorb(TAG_FACT, u64::from(relation.equation)).absorb_hash(hash);
    }
    mixer.absorb_hash(hashing.hash_body(f.body())).finish()
}

/// Returns the structural hash of a body. Bodies that are equal in a mode, in one function or in two, have the same
/// hash in it: captured values count by the order in which they are encountered.
#[must_use]
pub fn hash_body(f: &Function, body: BodyId, mode: Mode) -> Hash128 {
    FunctionHasher::new(f, Scope::Body(body), mode).hash_body(body)
}

/// Returns the structural hash of an instruction with its regions: op, attributes, types. Operands count like the
/// captured values of a body.
#[must_use]
pub fn hash_inst(f: &Function, inst: InstId, mode: Mode) -> Hash128 {
    let mut hashing = FunctionHasher::new(f, Scope::Inst(inst), mode);
    for &region in f.regions(inst) {
        let hash = hashing.hash_body(region);
        hashing.regions.insert(region, hash);
    }
    mix_inst(&mut hashing, f, inst).finish()
}

/// Returns, by instruction index, the data-flow hash of the value that each instruction of a function computes; zero
/// for unused ids.
#[must_use]
pub fn inst_hashes(f: &Function) -> Vec<Hash128> {
    let mut hashing = FunctionHasher::new(f, Scope::Body(f.body()), Mode::DataFlow);
    hashing.hash_body(f.body());
    (0..f.inst_capacity()).map(|i| hashing.insts.get(i)).collect()
}

/// Returns hashes like [`inst_hashes`] for the instructions of a scope, with given numbers for captured values.
pub(super) fn scope_hashes(
    f: &Function,
    scope: Scope,
    outside: HashMap<ValueId, u64, FxBuildHasher>,
) -> IndexTable<Hash128> {
    let mut hashing = FunctionHasher::new(f, scope, Mode::DataFlow);
    hashing.outside = outside;
    for body in scope.bodies(f) {
        hashing.hash_body(body);
    }
    hashing.insts
}

/// The codes from which the hash of an instruction is mixed. A hash ignores at least the differences that the
/// comparison for which it is used ignores.
pub(super) trait HashCodes {
    /// The state of a hash.
    type State: Copy;
    /// The code of an operand.
    type Code: Copy + Ord;

    /// Starts with the op and the attributes of an instruction.
    fn start(&mut self, inst: InstId) -> Self::State;
    /// Adds the type of a result.
    fn mix_type(&mut self, state: Self::State, ty: TypeId) -> Self::State;
    /// Adds the regions of an instruction, which are hashed already.
    fn mix_regions(&mut self, state: Self::State, inst: InstId) -> Self::State;
    /// Returns whether the order of the first two operands is ignored.
    fn may_swap(&self, inst: InstId) -> bool;
    /// Returns the code of an operand.
    fn value_code(&mut self, value: ValueId) -> Self::Code;
    /// Adds the code of an operand.
    fn mix_code(&self, state: Self::State, code: Self::Code) -> Self::State;
}

/// Mixes all parts of an instruction that comparisons compare. Inlined into the few loops that hash instructions: `cse` takes 14 % more
/// instructions otherwise.
#[inline(always)]
pub(super) fn mix_inst<C: HashCodes>(codes: &mut C, f: &Function, inst: InstId) -> C::State {
    let mut state = codes.start(inst);
    for result in f.dfg.result_data(inst) {
        state = codes.mix_type(state, result.ty);
    }
    state = codes.mix_regions(state, inst);
    let mut operands = f.operands(inst);
    if let &[u, v, ref others @ ..] = operands
        && u != v
        && codes.may_swap(inst)
    {
        let (u, v) = (codes.value_code(u), codes.value_code(v));
        state = codes.mix_code(state, u.min(v));
        state = codes.mix_code(state, u.max(v));
        operands = others;
    }
    for &value in operands {
        let code = codes.value_code(value);
        state = codes.mix_code(state, code);
    }
    state
}

pub(super) struct FunctionHasher<'a> {
    f: &'a Function,
    mode: Mode,
    effects: IndexTable<bool>,
    insts: IndexTable<Hash128>,
    // By body: the number of enclosing bodies, counted from the outermost body of the scope.
    depths: IndexTable<u64>,
    // The hashes of the regions whose owners are not hashed yet.
    regions: HashMap<BodyId, Hash128, FxBuildHasher>,
    position: u64,
    outside: HashMap<ValueId, u64, FxBuildHasher>,
    types: HashMap<TypeId, Hash128, FxBuildHasher>,
    attrs: HashMap<(OpKey, AttrId), Hash128, FxBuildHasher>,
    dims: HashMap<Name, u64, FxBuildHasher>,
}

impl<'a> FunctionHasher<'a> {
    fn new(f: &'a Function, scope: Scope, mode: Mode) -> Self {
        let whole = scope.is_whole_function(f);
        let mut dims = HashMap::default();
        if whole && f.has_named_dims() {
            let params = f.params().iter().map(|&param| f.value_type(param));
            dims.extend(binding_order(params, |_| false).into_iter().zip(0..));
        }
        let effects = match mode {
            Mode::Ordered => IndexTable::new(false, 0, true),
            Mode::DataFlow => ordered_flags(f, scope),
        };
        let outside = captured_values(f, scope, mode).into_iter().zip(0..).collect();
        Self {
            f,
            mode,
            effects,
            insts: IndexTable::new(whole, f.inst_capacity(), Hash128::default()),
            depths: IndexTable::new(whole, f.body_capacity(), u64::MAX),
            regions: HashMap::default(),
            position: 0,
            outside,
            types: HashMap::default(),
            attrs: HashMap::default(),
            dims,
        }
    }

    /// Returns a hasher for attributes and types only.
    pub(super) fn for_contents(f: &'a Function) -> Self {
        let mut dims = HashMap::default();
        if f.has_named_dims() {
            let params = f.params().iter().map(|&param| f.value_type(param));
            dims.extend(binding_order(params, |_| false).into_iter().zip(0..));
        }
        Self {
            f,
            mode: Mode::DataFlow,
            effects: IndexTable::new(false, 0, true),
            insts: IndexTable::new(false, 0, Hash128::default()),
            depths: IndexTable::new(false, 0, u64::MAX),
            regions: HashMap::default(),
            position: 0,
            outside: HashMap::default(),
            types: HashMap::default(),
            attrs: HashMap::default(),
            dims,
        }
    }

    // Follows the sequence of order marks, which visits every instruction after its operands and regions, without
    // recursion.
    fn hash_body(&mut self, root: BodyId) -> Hash128 {
        let f = self.f;
        let mut bodies: HashMap<BodyId, Mixer, FxBuildHasher> = HashMap::default();
        let mut depth = 0u64;
        let mut at = OrderMark::Enter(root);
        loop {
            match at {
                OrderMark::Enter(body) => {
                    self.depths.set(body.index(), depth);
                    depth += 1;
                    let mut mixer =
                        tagged_mixer(TAG_BODY).absorb(f.body_params(body).len() as u64, 0);
                    for &param in f.body_params(body) {
                        mixer = mixer.absorb_hash(self.hash_type(f.type_id(param)));
                    }
                    bodies.insert(body, mixer);
                }
                OrderMark::Exit(body) => {
                    depth -= 1;
                    let hash = bodies.remove(&body).map_or(Hash128::default(), Mixer::finish);
                    if body == root {
                        return hash;
                    }
                    self.regions.insert(body, hash);
                }
                OrderMark::Inst(inst) => {
                    let hash = self.hash_inst(inst);
                    let counts = self.effects.get(inst.index())
                        || f.op_def(inst).is_some_and(|d| d.terminator);
                    if counts && let Some(mixer) = f.body_of(inst).and_then(|b| bodies.get_mut(&b))
                    {
                        *mixer = mixer.absorb_hash(hash);
                    }
                }
            }
            match f.layout.next_mark(at) {
                Some(next) => at = next,
                None => return Hash128::default(),
            }
        }
    }

    fn hash_inst(&mut self, inst: InstId) -> Hash128 {
        let hash = mix_inst(self, self.f, inst).finish();
        // In ordered mode an instruction is identified by its position, otherwise by the value that it computes.
        self.position += 1;
        let identity = match self.mode {
            Mode::Ordered => Hash128 { hi: 0, lo: self.position },
            Mode::DataFlow => hash,
        };
        self.insts.set(inst.index(), identity);
        hash
    }

    pub(super) fn hash_op_and_attrs(&mut self, inst: InstId) -> Hash128 {
        let f = self.f;
        let key = (f.op_key(inst), f.attr_id(inst));
        if let Some(&hash) = self.attrs.get(&key) {
            return hash;
        }
        let start = tagged_mixer(TAG_ATTRS)
            .absorb_bytes(key.0.name().as_bytes())
            .absorb(f.attrs(inst).len() as u64, 0);
        let hash = match f.op_def(inst) {
            // An attribute that equals its default hashes like an omitted one.
            Some(def) => {
                let attrs = def.attrs.iter().zip(f.attrs(inst).iter());
                let values = attrs.map(|(attr, value)| attr.without_default(value));
                values.fold(start, |mixer, attr| self.mix_attr(mixer, attr))
            }
            None => f.attrs(inst).iter().fold(start, |mixer, attr| self.mix_attr(mixer, attr)),
        };
        let hash = hash.finish();
        self.attrs.insert(key, hash);
        hash
    }

    pub(super) fn hash_type(&mut self, id: TypeId) -> Hash128 {
        if let Some(&hash) = self.types.get(&id) {
            return hash;
        }
        let hash = self.hash_type_uncached(self.f.type_by_id(id));
        self.types.insert(id, hash);
        hash
    }

    fn hash_type_uncached(&self, ty: &ValueType) -> Hash128 {
        self.mix_type(tagged_mixer(TAG_TYPE), ty).finish()
    }

    fn mix_type(&self, mixer: Mixer, ty: &ValueType) -> Mixer {
        match ty {
            ValueType::Token => mixer.absorb(0, 0),
            ValueType::Opaque => mixer.absorb(3, 0),
            ValueType::Tensor(t) => {
                let start = mixer.absorb(1, u64::from(t.dtype.code())).absorb(t.rank() as u64, 0);
                t.dims.iter().fold(start, |mixer, dim| match dim {
                    Dim::Unknown => mixer.absorb(0, 0),
                    // Symbols of the signature count by their number, so that renaming does not change the hash.
                    Dim::Expr(expr) => match expr.as_symbol() {
                        Some(name) => {
                            mixer.absorb(1, self.dims.get(&name).copied().unwrap_or(u64::MAX))
                        }
                        None => {
                            let number = |name: Name| self.dims.get(&name).copied();
                            mixer.absorb(3, 0).absorb_hash(expr.hash_by_number(&number))
                        }
                    },
                    Dim::Known(n) => mixer.absorb(2, *n),
                })
            }
            ValueType::Tuple(elements) => {
                let start = mixer.absorb(2, elements.len() as u64);
                elements.iter().fold(start, |mixer, e| self.mix_type(mixer, e))
            }
        }
    }

    // Mixes an attribute. The first word identifies the kind of attribute.
    fn mix_attr(&self, mixer: Mixer, attr: &Attr) -> Mixer {
        match attr {
            Attr::Unit => mixer.absorb(0, 0),
            Attr::Bool(b) => mixer.absorb(1, u64::from(*b)),
            Attr::Int(n) => mixer.absorb(2, *n as u64),
            Attr::Float(bits) => mixer.absorb(3, bits.0),
            Attr::Str(text) => mixer.absorb(4, 0).absorb_bytes(text.as_bytes()),
            Attr::Word(name) => mixer.absorb(5, 0).absorb_bytes(name.as_str().as_bytes()),
            Attr::Func(name) => mixer.absorb(6, 0).absorb_bytes(name.as_str().as_bytes()),
            Attr::Type(dtype) => mixer.absorb(7, u64::from(dtype.code())),
            Attr::Ints(list) => {
                let start = mixer.absorb(8, list.len() as u64);
                list.iter().fold(start, |mixer, &n| mixer.absorb(n as u64, 0))
            }
            Attr::List(items) => {
                let start = mixer.absorb(9, items.len() as u64);
                items.iter().fold(start, |mixer, item| self.mix_attr(mixer, item))
            }
            Attr::Dim(expr) => {
                let number = |name: Name| self.dims.get(&name).copied();
                mixer.absorb(12, 0).absorb_hash(expr.hash_by_number(&number))
            }
            Attr::Dict(entries) => {
                let start = mixer.absorb(10, entries.len() as u64);
                entries.iter().fold(start, |mixer, (name, item)| {
                    self.mix_attr(mixer.absorb_bytes(name.as_str().as_bytes()), item)
                })
            }
            Attr::Literal(literal) => {
                let form = u64::from(literal.dtype().code()) << 1
                    | u64::from(literal.as_splat().is_some());
                let start = mixer.absorb(11, form).absorb(literal.shape().len() as u64, 0);
                let shape = literal.shape().iter().fold(start, |mixer, &n| mixer.absorb(n, 0));
                shape.absorb_bytes(literal.stored_bytes())
            }
        }
    }
}

impl HashCodes for FunctionHasher<'_> {
    type State = Mixer;
    type Code = Hash128;

    fn start(&mut self, inst: InstId) -> Mixer {
        let f = self.f;
        tagged_mixer(TAG_INST)
            .absorb_hash(self.hash_op_and_attrs(inst))
            .absorb(f.operands(inst).len() as u64, f.inst_results(inst).len() as u64)
    }

    fn mix_type(&mut self, mixer: Mixer, ty: TypeId) -> Mixer {
        mixer.absorb_hash(self.hash_type(ty))
    }

    fn mix_regions(&mut self, mixer: Mixer, inst: InstId) -> Mixer {
        let regions = self.f.regions(inst);
        regions.iter().fold(mixer.absorb(regions.len() as u64, 0), |mixer, region| {
            mixer.absorb_hash(self.regions.remove(region).unwrap_or_default())
        })
    }

    fn may_swap(&self, _: InstId) -> bool {
        false
    }

    fn value_code(&mut self, value: ValueId) -> Hash128 {
        if let Some(&number) = self.outside.get(&value) {
            let ty = self.hash_type(self.f.type_id(value));
            return tagged_mixer(TAG_OUTSIDE).absorb(number, 0).absorb_hash(ty).finish();
        }
        match self.f.value_def(value) {
            ValueDef::Result(inst, n) => tagged_mixer(TAG_RESULT)
                .absorb_hash(self.insts.get(inst.index()))
                .absorb(n as u64, 0)
                .finish(),
            ValueDef::Param(body, n) => {
                tagged_mixer(TAG_PARAM).absorb(self.depths.get(body.index()), n as u64).finish()
            }
        }
    }

    fn mix_code(&self, mixer: Mixer, code: Hash128) -> Mixer {
        mixer.absorb_hash(code)
    }
}
