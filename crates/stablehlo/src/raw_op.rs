//! An op as it is written: names resolved, nothing known about it yet.

use std::borrow::Cow;

use sapwood_ptir::{BodyId, ValueId, ValueType};
use smallvec::SmallVec;

use crate::attr::NamedAttr;

/// One entry of `[0:4:2, …]`.
pub(crate) type SliceRange = [i64; 3];

/// TypeCache, most often one.
pub(crate) type TypeList = SmallVec<[ValueType; 1]>;

#[derive(Debug, Default)]
pub(crate) struct RawOp<'a> {
    /// `stablehlo.add`.
    pub(crate) name: Cow<'a, str>,
    /// Where the name starts.
    pub(crate) at: usize,
    pub(crate) operands: SmallVec<[ValueId; 4]>,
    pub(crate) attrs: Vec<NamedAttr<'a>>,
    /// How many of them are properties, `<{…}>`.
    pub(crate) properties: usize,
    /// Bare words, the direction of a comparison, and whether they were queried_names for.
    pub(crate) words: SmallVec<[(&'a str, bool); 2]>,
    pub(crate) ranges: Option<Vec<SliceRange>>,
    /// Where they stand.
    pub(crate) ranges_text: &'a str,
    pub(crate) regions: SmallVec<[BodyId; 2]>,
    /// The types of the operands, if all are stated and were not found right when they were read.
    pub(crate) operand_types: Option<TypeList>,
    pub(crate) result_types: TypeList,
    /// Whether results have just the types of the operands, one each, and were stated so. Then no other types are kept.
    pub(crate) results_match_operands: bool,
    /// Whether the types of operands are stated.
    pub(crate) has_function_type: bool,
    /// `@f` of a call.
    pub(crate) symbol: Option<Cow<'a, str>>,
    /// Where it stands.
    pub(crate) symbol_text: &'a str,
    /// Whether it was written in the generic form.
    pub(crate) generic: bool,
    /// Whether something it needs could not be read.
    pub(crate) poison: bool,
}

/// The names of results: `%a, %b:2 =`.
pub(crate) type ResultNames<'a> = SmallVec<[(&'a str, u32); 1]>;
