//! An op as it is written: operands resolved, the op itself not interpreted yet.

use std::borrow::Cow;

use sapwood_ptir::{BodyId, OpKey, ValueId, ValueType};
use smallvec::SmallVec;

use crate::attr::NamedAttr;
use crate::ops::OpMapping;

/// One entry of `[0:4:2, …]`: start, limit and stride.
pub(crate) type SliceRange = [i64; 3];

/// A list of types, most often with one entry.
pub(crate) type TypeList = SmallVec<[ValueType; 1]>;

/// An op as it is written.
#[derive(Default)]
pub(crate) struct RawOp<'a> {
    /// The name: `stablehlo.add`.
    pub(crate) name: Cow<'a, str>,
    /// The mapping of the name and the key of its PTIR op; `None` for a terminator or an unknown op.
    pub(crate) row: Option<(&'static OpMapping, OpKey)>,
    /// The byte offset of the name.
    pub(crate) at: usize,
    pub(crate) operands: SmallVec<[ValueId; 4]>,
    pub(crate) attrs: Vec<NamedAttr<'a>>,
    /// The number of leading `attrs` that are properties, `<{…}>`.
    pub(crate) properties: usize,
    /// Bare words, such as the direction of a comparison, and whether the conversion used them.
    pub(crate) words: SmallVec<[(&'a str, bool); 2]>,
    pub(crate) ranges: Option<Vec<SliceRange>>,
    /// The text of the ranges.
    pub(crate) ranges_text: &'a str,
    pub(crate) regions: SmallVec<[BodyId; 2]>,
    /// The declared types of the operands, if all are declared and not already found equal to the actual types.
    pub(crate) operand_types: Option<TypeList>,
    pub(crate) result_types: TypeList,
    /// True if each result has the type of the operand at its position. Then `result_types` is empty.
    pub(crate) results_match_operands: bool,
    /// True if the op was written with a function type, `(…) -> …`.
    pub(crate) has_function_type: bool,
    /// The symbol `@f` of a call.
    pub(crate) symbol: Option<Cow<'a, str>>,
    /// The text of the symbol.
    pub(crate) symbol_text: &'a str,
    /// True if the op was written in the generic form.
    pub(crate) generic: bool,
    /// True if an error in a part of the op was already reported.
    pub(crate) poison: bool,
}

/// The names of results and the number of values of each: `%a, %b:2 =`.
pub(crate) type ResultNames<'a> = SmallVec<[(&'a str, u32); 1]>;
