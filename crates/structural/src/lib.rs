//! Structural equality, hashing and mismatch for graphs of IR nodes, up to renaming of variables.

mod bound;
mod check;
mod children;
mod containers;
mod display;
mod dynamic;
mod engine;
mod error;
mod fields;
mod graph;
mod hasher;
mod hooks;
mod intern;
mod json;
mod key;
mod kind;
mod mismatch;
mod node;
mod path;
mod reference;
mod substitute;
mod transform;
mod type_info;
mod values;
mod view;
mod walk;

pub use check::{HookDisagreement, check_hooks};
pub use containers::{Map, Seq, Set};
pub use display::abridged;
pub use dynamic::{FieldBuilder, Registry, TypeBuilder};
pub use engine::{EqualCx, HashCx, Options, Side};
pub use error::{BuildError, Error, TypeError};
pub use graph::{Graph, Heap, ViewOf};
pub use hasher::{HASH_VERSION, Hash128, Mixer};
pub use hooks::{EqualHook, HashHook, HookError, Hooks, StructuralHooks, TypedHooks};
pub use intern::GetError;
pub use json::{JSON_VERSION, JsonPlace, JsonReadError, JsonWriteError, read_json, write_json};
pub use key::StructuralKey;
pub use kind::{Facts, Kind, Role};
pub use mismatch::{
    Bound, Mismatch, NotEqual, Reason, assert_equal, diff, diff_in, equal, equal_in, equal_views,
    equal_with, first_mismatch, first_mismatch_in, first_mismatch_with, hash, hash_128, hash_in,
    hash_with,
};
pub use node::{Field, Node};
pub use path::{Path, Step};
pub use reference::{AnyRef, NodeRef, Ref};
pub use sapwood_structural_derive::Node;
pub use substitute::{SubstituteError, free_variables, substitute};
pub use transform::{MapError, map, try_map};
pub use type_info::{FieldInfo, Layout, TypeInfo};
pub use values::{BigInt, Bytes, Tensor, TensorSizeError, Text, Value};
pub use view::{List, View, Wide};
pub use walk::{At, Next, Visitor, Walk};
