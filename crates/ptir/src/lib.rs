//! PTIR: tensor programs in SSA form.
//!
//! A [`Program`] holds [`Function`]s behind shared pointers; a function owns its instructions, values and bodies in
//! arenas indexed by four-byte ids. An op is defined by one row of a table written with [`ops!`], from which its
//! operands, attributes, inference, text and JSON forms, builder methods and documentation follow. The built-in
//! families in [`ops`](mod@ops) are such tables.
//!
//! ```
//! let text = "\
//! ptir 1
//!
//! func @f(%x: f32[4, 8]) -> f32[4] {
//!   %max = reduce_max %x {axes = [1]} : f32[4]
//!   %y = exp %max : f32[4]
//!   return %y
//! }
//! ";
//! let program = sapwood_ptir::parse(text)?;
//! assert_eq!(program.to_string(), text);
//!
//! let wrong = "ptir 1 func @f(%x: f32[2]) -> f16[7, 9] { %y = exp %x : f16[7, 9] return %y }";
//! let problems = sapwood_ptir::parse(wrong).unwrap_err();
//! assert!(problems.to_string().contains("exp: the result is f32[2], but f16[7, 9] is declared"));
//! # Ok::<(), sapwood_types::Diagnostics>(())
//! ```
//!
//! ## Modules
//! | module | contents |
//! | --- | --- |
//! | `program`, `func/` | Programs; functions. A function has two halves: `dfg` (what is computed) with `uses` and `value_names`, and `layout` (in which order and where) with `order` (labels, dominance) and `walk`. `func/mod` has the queries on both; the edits are in `edit`, `bodies`, `regions` and `constants`, with `insert_point`, `journal` (undo) and `consistency` (checks for tests). |
//! | `ids`, `name`, `tables` | Ids into arenas; interned names; the locks of the interners. |
//! | `types`, `attr`, `literal/` | Types of values; attribute values; tensor literals. |
//! | `dims/` | Dims: `dim` (one extent of a type), `expr` (the normal form of expressions), `arith`, `bounds`, `facts`, `relation` (`?B >= 1`), `bind` (values for symbols), `signature` (symbols of parameters and calls), `renaming`, `shorten` and `text`. |
//! | `op/` | Definitions of ops: `macros` (the macro `ops!`), `op_def`, `registry`, `key`, `infer` (type inference), `docs` (the reference page). |
//! | `ops/` | The tables of built-in ops, one file per family; `support` has shared helpers for inference. |
//! | `text/` | The text form: `lexer`, `parser`, `instruction`, `recover` (after syntax errors), `printer`, `attrs`, `literal`, `types`, `names`, `external` (literals in other files), `quote` (source text for messages). |
//! | `json` | The JSON form. |
//! | `verify`, `symbol_scope`, `inference_memo` | The verifier; its check of the scope of symbols; the memo of instructions that inference accepted. |
//! | `build/` | The builder: `graph`, `value`, `results`, `helpers`; `snippet` (text with placeholders); `writer` (bulk construction). |
//! | `eval/` | The fixed-order evaluator: `prepared` and `plan` (a function as a list of steps), `machine` (runs plans), `bound_dims` (symbols of a run), `control` and `scan` (control flow), `tensor`, `native` and `narrow` (element types), `arith`, `math/`, `kernels/` (one file per op family, and helpers), `context`, `options`, `budget`, `error`; `fold` computes one instruction on constants. |
//! | `cost/` | The cost of programs: `amount` (numbers that may depend on symbols), `op_flops` (operations of each op), `trip_count` (iterations of loops), `peak_memory`, `function` (the sums). |
//! | `structural/` | Structural comparison: `compare` (the walk), `equivalence` and `renaming` (its choices), `hash`, `computation_hash`, `diff` with `pairing`, `mismatch`, `location`, `scope`. |
//! | `testing/` | Random programs, inputs and mutations; only with the feature `testing`. |

mod attr;
mod attr_interner;
mod build;
pub mod cost;
pub mod dims;
pub mod eval;
mod func;
mod ids;
mod inference_memo;
mod json;
mod literal;
mod name;
mod op;
pub mod ops;
mod program;
pub mod structural;
mod symbol_scope;
mod tables;
#[cfg(feature = "testing")]
pub mod testing;
mod text;
mod types;
mod verify;

pub use attr::{
    Attr, AttrField, AttrKind, AttrList, Axes, DimExprs, FloatBits, Int, Ints, MAX_ATTR_DEPTH,
    Pairs, ResultType, ResultTypes,
};
pub use build::{
    AsGraph, AsValue, DotAttrs, DotDims, FromResults, FunctionWriter, GraphBuilder, GraphError,
    PtirGraph, PtirRegion, PtirResults, PtirValue, Snippet, SnippetError, VerifiedFunction,
};
pub use func::{
    BodyInsts, CopiedIds, EditError, Function, InsertPoint, PostOrderWalk, PreOrderWalk, Use, Uses,
    ValueDef,
};
pub use ids::{AttrId, BodyId, InstId, TypeId, ValueId};
pub use json::{JSON_VERSION, attrs_from_json, attrs_to_json, from_json, from_json_with, to_json};
pub use literal::{Element, LiteralError, TensorLiteral};
pub use name::Name;
pub use op::{
    AttrDef, Bodies, Body, Control, EffectRule, Effects, InferCx, InferResult, InferredTypes,
    OmittedMeaning, Op, OpDef, OpError, OpFieldReader, OpKey, OpParts, OperandDef, OperandKind,
    OptValue, RegionSignature, Registry, RegistryError, ResultCount, Value, Values, check_axis,
    infer_checked, ops_reference_page, unify_dims,
};
pub use program::{BindError, DuplicateFunction, Program};
pub use tables::{InternerLockGuard, lock_interners};
pub use text::{
    InstPrinter, ParseOptions, PrintOptions, TEXT_VERSION, external_bytes, parse, parse_with,
    print, print_function, print_with, print_with_external,
};
pub use types::{
    Dim, Dims, ElementCount, MAX_EXTENT, MAX_RANK, MAX_TYPE_DEPTH, MAX_TYPE_SIZE, TensorSpec,
    TensorType, ValueType,
};
pub use verify::{verify, verify_call, verify_calls, verify_function};

/// Names used by the macros of this crate.
#[doc(hidden)]
pub mod __private {
    pub use crate::op::{OpKeyCell, OperandField};
}

/// The names that most users need: the builder, the ops and their methods, the types.
pub mod prelude {
    pub use crate::ops::*;
    pub use crate::{
        AsGraph, AsValue, Axes, Bodies, Body, Dim, DotAttrs, DotDims, Function, GraphBuilder,
        GraphError, Int, Op, OptValue, Pairs, Program, PtirGraph, PtirRegion, PtirResults,
        PtirValue, Registry, ResultType, ResultTypes, Snippet, TensorLiteral, TensorSpec,
        TensorType, Value, ValueType, Values, axes,
    };
    pub use sapwood_types::DataType;
}
