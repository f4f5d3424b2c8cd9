//! Hashes that equal programs share: 128 bits, the same in every process.

use hashbrown::HashMap;
use rustc_hash::FxBuildHasher;

use super::Mode;
use super::compare::ordered;
use super::hasher::Mixer;
use crate::attr::Attr;
use crate::func::{Function, Mark, ValueDef};
use crate::ids::{AttrId, BodyId, InstId, TypeId, ValueId};
use crate::name::Name;
use crate::op::OpKey;
use crate::program::Program;
use crate::types::{Dim, ValueType};

/// The version of the definition of the hash.
pub const HASH_VERSION: u64 = 1;

const PROGRAM: u64 = 1;
const FUNCTION: u64 = 2;
const BODY: u64 = 3;
const INST: u64 = 4;
const PARAM: u64 = 5;
const RESULT: u64 = 6;
const TYPE: u64 = 7;
const ATTRS: u64 = 8;
const OUTSIDE: u64 = 9;

/// The hash of a program. Programs that are equal in a mode have the same hash in it.
#[must_use]
pub fn hash(program: &Program, mode: Mode) -> u128 {
    let mut hashes: Vec<u128> =
        program.functions().iter().map(|f| hash_function(f, mode)).collect();
    if mode == Mode::DataFlow {
        hashes.sort_unstable();
    }
    let mut mixer = Mixer::new(PROGRAM);
    mixer.word(hashes.len() as u64);
    hashes.into_iter().for_each(|h| mixer.hash(h));
    mixer.finish()
}

/// The hash of a function, its name included.
#[must_use]
pub fn hash_function(f: &Function, mode: Mode) -> u128 {
    let mut hashing = Hashing::new(f, f.body());
    let mut mixer = Mixer::new(FUNCTION);
    mixer.bytes(f.name().as_str().as_bytes());
    let results = f.result_types();
    mixer.word(results.len() as u64);
    for ty in results {
        let hash = hashing.fresh_type(ty);
        mixer.hash(hash);
    }
    mixer.hash(hashing.run(mode));
    mixer.finish()
}

/// The hash of a body. Values from outside of it count by their position there, so this is meant for bodies of one
/// function.
#[must_use]
pub fn hash_body(f: &Function, body: BodyId, mode: Mode) -> u128 {
    Hashing::new(f, body).run(mode)
}

/// The hash of an instruction, its operands taken as given: op, attributes, types, regions.
#[must_use]
pub fn hash_inst(f: &Function, inst: InstId, mode: Mode) -> u128 {
    let regions: Vec<u128> = f.regions(inst).iter().map(|&b| hash_body(f, b, mode)).collect();
    let mut hashing = Hashing::new(f, f.body());
    hashing.inst_head(inst, &regions).finish()
}

/// By index: the data-flow hash of what each instruction of a function computes; zero for ids that are not in use.
#[must_use]
pub fn inst_hashes(f: &Function) -> Vec<u128> {
    let mut hashing = Hashing::new(f, f.body());
    hashing.run(Mode::DataFlow);
    hashing.insts
}

struct Hashing<'a> {
    f: &'a Function,
    root: BodyId,
    insts: Vec<u128>,
    params: Vec<u64>,
    types: HashMap<TypeId, u128, FxBuildHasher>,
    attrs: HashMap<(OpKey, AttrId), u128, FxBuildHasher>,
    dims: HashMap<Name, u64, FxBuildHasher>,
}

impl<'a> Hashing<'a> {
    fn new(f: &'a Function, root: BodyId) -> Self {
        let mut dims = HashMap::default();
        for &param in f.params() {
            number_dims(f.value_type(param), &mut dims);
        }
        Self {
            f,
            root,
            insts: vec![0; f.inst_capacity()],
            // By body: how many bodies stand around it, counted from the root.
            params: vec![u64::MAX; f.body_capacity()],
            types: HashMap::default(),
            attrs: HashMap::default(),
            dims,
        }
    }

    // Along the sequence of marks: every instruction after its operands and regions, without recursion.
    fn run(&mut self, mode: Mode) -> u128 {
        let f = self.f;
        let effects = if mode == Mode::DataFlow { ordered(f) } else { Vec::new() };
        let mut bodies: HashMap<BodyId, Mixer, FxBuildHasher> = HashMap::default();
        let mut done: HashMap<BodyId, u128, FxBuildHasher> = HashMap::default();
        let mut depth = 0u64;
        let mut position = 0u64;
        let mut at = Mark::Enter(self.root);
        loop {
            match at {
                Mark::Enter(body) => {
                    self.params[body.index()] = depth;
                    depth += 1;
                    let mut mixer = Mixer::new(BODY);
                    mixer.word(f.body_params(body).len() as u64);
                    for &param in f.body_params(body) {
                        let hash = self.ty(f.type_id(param));
                        mixer.hash(hash);
                    }
                    bodies.insert(body, mixer);
                }
                Mark::Exit(body) => {
                    depth -= 1;
                    let hash = bodies.remove(&body).map_or(0, Mixer::finish);
                    if body == self.root {
                        return hash;
                    }
                    done.insert(body, hash);
                }
                Mark::Inst(inst) => {
                    let regions: Vec<u128> =
                        f.regions(inst).iter().map(|b| done.remove(b).unwrap_or(0)).collect();
                    let mut mixer = self.inst_head(inst, &regions);
                    for &operand in f.operands(inst) {
                        let hash = self.value(operand, mode);
                        mixer.hash(hash);
                    }
                    let hash = mixer.finish();
                    // In a list an instruction is known by its position, otherwise by what it computes.
                    self.insts[inst.index()] =
                        if mode == Mode::Ordered { u128::from(position) } else { hash };
                    position += 1;
                    let counts = mode == Mode::Ordered
                        || effects[inst.index()]
                        || f.op_def(inst).is_some_and(|d| d.terminator);
                    if let Some(mixer) =
                        f.body_of(inst).and_then(|b| bodies.get_mut(&b)).filter(|_| counts)
                    {
                        mixer.hash(hash);
                    }
                }
            }
            match f.next_mark(at) {
                Some(next) => at = next,
                None => return 0,
            }
        }
    }

    // Everything but the operands.
    fn inst_head(&mut self, inst: InstId, regions: &[u128]) -> Mixer {
        let f = self.f;
        let mut mixer = Mixer::new(INST);
        let attrs = self.op_and_attrs(inst);
        mixer.hash(attrs);
        mixer.word(f.operands(inst).len() as u64);
        mixer.word(f.inst_results(inst).len() as u64);
        for result in f.inst_results(inst) {
            let ty = self.ty(f.type_id(result));
            mixer.hash(ty);
        }
        mixer.word(regions.len() as u64);
        regions.iter().for_each(|&r| mixer.hash(r));
        mixer
    }

    fn value(&mut self, value: ValueId, mode: Mode) -> u128 {
        let mut mixer;
        match self.f.value_def(value) {
            ValueDef::Result(inst, n) => {
                let known = self.insts[inst.index()];
                mixer =
                    Mixer::new(if known == 0 && mode == Mode::DataFlow { OUTSIDE } else { RESULT });
                let inside = known != 0 || mode == Mode::Ordered;
                mixer.hash(if inside { known } else { inst.index() as u128 });
                mixer.word(n as u64);
            }
            ValueDef::Param(body, n) => {
                let depth = self.params[body.index()];
                mixer = Mixer::new(if depth == u64::MAX { OUTSIDE } else { PARAM });
                mixer.word(if depth == u64::MAX { body.index() as u64 } else { depth });
                mixer.word(n as u64);
            }
        }
        mixer.finish()
    }

    fn op_and_attrs(&mut self, inst: InstId) -> u128 {
        let f = self.f;
        let key = (f.op_key(inst), f.attr_id(inst));
        if let Some(&hash) = self.attrs.get(&key) {
            return hash;
        }
        let mut mixer = Mixer::new(ATTRS);
        mixer.bytes(key.0.name().as_bytes());
        mixer.word(f.attrs(inst).len() as u64);
        f.attrs(inst).iter().for_each(|attr| mix_attr(&mut mixer, attr));
        let hash = mixer.finish();
        self.attrs.insert(key, hash);
        hash
    }

    fn ty(&mut self, id: TypeId) -> u128 {
        if let Some(&hash) = self.types.get(&id) {
            return hash;
        }
        let hash = self.fresh_type(self.f.type_by_id(id));
        self.types.insert(id, hash);
        hash
    }

    fn fresh_type(&self, ty: &ValueType) -> u128 {
        let mut mixer = Mixer::new(TYPE);
        self.mix_type(&mut mixer, ty);
        mixer.finish()
    }

    fn mix_type(&self, mixer: &mut Mixer, ty: &ValueType) {
        match ty {
            ValueType::Token => mixer.word(0),
            ValueType::Tensor(t) => {
                mixer.word(1);
                mixer.word(u64::from(t.dtype.code()));
                mixer.word(t.rank() as u64);
                for dim in &t.dims {
                    match dim {
                        Dim::Unknown => mixer.word(0),
                        // Symbols of the signature count by their number, so that renaming changes nothing.
                        Dim::Named(name) => {
                            mixer.word(1);
                            mixer.word(self.dims.get(name).copied().unwrap_or(u64::MAX));
                        }
                        Dim::Known(n) => {
                            mixer.word(2);
                            mixer.word(*n);
                        }
                    }
                }
            }
            ValueType::Tuple(elements) => {
                mixer.word(2);
                mixer.word(elements.len() as u64);
                elements.iter().for_each(|e| self.mix_type(mixer, e));
            }
        }
    }
}

fn number_dims(ty: &ValueType, dims: &mut HashMap<Name, u64, FxBuildHasher>) {
    match ty {
        ValueType::Tensor(t) => {
            for dim in &t.dims {
                if let Dim::Named(name) = dim {
                    let next = dims.len() as u64;
                    dims.entry(*name).or_insert(next);
                }
            }
        }
        ValueType::Tuple(elements) => elements.iter().for_each(|e| number_dims(e, dims)),
        ValueType::Token => {}
    }
}

fn mix_attr(mixer: &mut Mixer, attr: &Attr) {
    match attr {
        Attr::Unit => mixer.word(0),
        Attr::Bool(b) => mixer.word(1 << 8 | u64::from(*b)),
        Attr::Int(n) => {
            mixer.word(2);
            mixer.word(*n as u64);
        }
        Attr::Float(bits) => {
            mixer.word(3);
            mixer.word(bits.0);
        }
        Attr::Str(text) => {
            mixer.word(4);
            mixer.bytes(text.as_bytes());
        }
        Attr::Word(name) => {
            mixer.word(5);
            mixer.bytes(name.as_str().as_bytes());
        }
        Attr::Func(name) => {
            mixer.word(6);
            mixer.bytes(name.as_str().as_bytes());
        }
        Attr::Type(dtype) => mixer.word(7 << 8 | u64::from(dtype.code())),
        Attr::Ints(list) => {
            mixer.word(8);
            mixer.word(list.len() as u64);
            list.iter().for_each(|&n| mixer.word(n as u64));
        }
        Attr::List(items) => {
            mixer.word(9);
            mixer.word(items.len() as u64);
            items.iter().for_each(|item| mix_attr(mixer, item));
        }
        Attr::Dict(entries) => {
            mixer.word(10);
            mixer.word(entries.len() as u64);
            for (name, item) in entries.iter() {
                mixer.bytes(name.as_str().as_bytes());
                mix_attr(mixer, item);
            }
        }
        Attr::Literal(literal) => {
            mixer.word(11);
            mixer.word(
                u64::from(literal.dtype().code()) << 1 | u64::from(literal.as_splat().is_some()),
            );
            mixer.word(literal.shape().len() as u64);
            literal.shape().iter().for_each(|&n| mixer.word(n));
            mixer.bytes(literal.stored_bytes());
        }
    }
}
