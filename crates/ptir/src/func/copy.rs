//! Copies of instructions from one function into another, by ids.

use sapwood_types::Span;
use smallvec::SmallVec;

use super::{EditError, Function, InsertPoint};
use crate::ids::{AttrId, BodyId, InstId, TypeId, ValueId};

/// The types and attribute lists of a function that were copied to another function, by their ids: each is looked up once, however
/// many instructions have it. For one pair of functions, and as long as the first is not changed.
#[derive(Clone, Debug, Default)]
pub struct CopiedIds {
    types: Vec<Option<TypeId>>,
    attrs: Vec<Option<AttrId>>,
}

impl Function {
    /// Inserts a copy of an instruction of another function, which has the same registry, with these operands and regions.
    /// Types and attributes stay the same: if they have symbols, these must mean the same in both functions.
    ///
    /// # Errors
    /// If the place, an operand or a region does not exist or does not fit.
    pub fn insert_copy(
        &mut self,
        place: InsertPoint,
        (from, inst): (&Self, InstId),
        ids: &mut CopiedIds,
        operands: &[ValueId],
        regions: &[BodyId],
        span: Span,
    ) -> Result<InstId, EditError> {
        from.check_inst(inst)?;
        let (key, results) = (from.op_key(inst), from.dfg.result_data(inst));
        self.check_new_inst(place, key, operands, results.len())?;
        self.check_new_regions(place, regions)?;
        let types: SmallVec<[TypeId; 2]> =
            results.iter().map(|result| self.copied_type(from, result.ty, ids)).collect();
        let attrs = self.copied_attrs(from, from.attr_id(inst), ids);
        let copy = self.create_inst(key, attrs, operands, regions, &types, span);
        self.link_created(copy, place);
        Ok(copy)
    }

    fn copied_type(&mut self, from: &Self, ty: TypeId, ids: &mut CopiedIds) -> TypeId {
        if ids.types.len() <= ty.index() {
            ids.types.resize(from.dfg.types.len(), None);
        }
        *ids.types[ty.index()].get_or_insert_with(|| self.dfg.types.intern(from.type_by_id(ty)))
    }

    fn copied_attrs(&mut self, from: &Self, attrs: AttrId, ids: &mut CopiedIds) -> AttrId {
        if ids.attrs.len() <= attrs.index() {
            ids.attrs.resize(from.dfg.attrs.len(), None);
        }
        let list = || self.dfg.attrs.intern_shared(from.dfg.attrs.get(attrs));
        *ids.attrs[attrs.index()].get_or_insert_with(list)
    }
}
