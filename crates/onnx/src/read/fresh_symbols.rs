//! Symbols for extents of which nothing is known, so that equal ones can be told from others.

use hashbrown::{HashMap, HashSet};
use rustc_hash::FxBuildHasher;
use sapwood_ptir::{Attr, BodyId, Dim, Name, OpKey, OpParts, ValueId, ValueType};

use crate::{DimensionValue, Model, TypeValue};

/// The start of the names of symbols that no input of the model declares.
pub(crate) const FRESH_PREFIX: &str = "unk__";

/// An instruction, for equal ones to get equal symbols.
type InstructionKey = (BodyId, OpKey, Vec<ValueId>, Vec<Attr>, usize, usize);

/// The symbols that reading introduces.
#[derive(Default)]
pub(super) struct FreshSymbols {
    taken: HashSet<Box<str>, FxBuildHasher>,
    next: usize,
    /// The bodies that introduce symbols.
    owners: HashMap<Name, BodyId, FxBuildHasher>,
    by_instruction: HashMap<InstructionKey, Name, FxBuildHasher>,
}

impl FreshSymbols {
    pub(super) fn new(model: &Model) -> Self {
        let mut taken = HashSet::default();
        for input in model.graph.iter().flat_map(|graph| &graph.input) {
            let ty = input.r#type.as_deref().and_then(|ty| ty.value.as_ref());
            let Some(TypeValue::Tensor(tensor)) = ty else { continue };
            for dim in tensor.shape.iter().flat_map(|shape| &shape.dim) {
                if let Some(DimensionValue::Param(name)) = &dim.value {
                    taken.insert(name.to_str_lossy().as_ref().into());
                }
            }
        }
        Self { taken, ..Self::default() }
    }

    fn next(&mut self) -> Name {
        loop {
            let name = format!("{FRESH_PREFIX}{}", self.next);
            self.next += 1;
            if !self.taken.contains(name.as_str()) {
                return Name::new(&name);
            }
        }
    }

    /// Returns a symbol for an unknown extent of an input, and any other extent as it is.
    pub(super) fn of_input(&mut self, dim: Dim) -> Dim {
        if dim == Dim::Unknown { Dim::symbol(self.next()) } else { dim }
    }

    /// Returns the type of a result with a symbol for each extent of which nothing is known.
    pub(super) fn filled(
        &mut self,
        ty: &ValueType,
        body: BodyId,
        parts: &OpParts,
        result: usize,
    ) -> ValueType {
        let mut axis = 0;
        ty.map_dims(&mut |dim| {
            axis += 1;
            if dim != Dim::Unknown {
                return dim;
            }
            let key =
                (body, parts.key, parts.operands.to_vec(), parts.attrs.to_vec(), result, axis);
            let known = parts.regions.is_empty().then(|| self.by_instruction.get(&key)).flatten();
            let name = match known {
                Some(&name) => name,
                None => {
                    let name = self.next();
                    self.owners.insert(name, body);
                    self.by_instruction.insert(key, name);
                    name
                }
            };
            Dim::symbol(name)
        })
    }

    /// Returns a type as it is known outside of a body, without the symbols that the body introduces.
    pub(super) fn closed(&self, ty: &ValueType, body: BodyId) -> ValueType {
        ty.map_dims(&mut |dim| {
            let mut is_inner = false;
            dim.for_each_symbol(&mut |name| is_inner |= self.owners.get(&name) == Some(&body));
            if is_inner { Dim::Unknown } else { dim }
        })
    }
}
