//! Structural equality, hashing and mismatch for graphs of IR nodes, up to renaming of variables.
//!
//! # Define nodes
//! A node is a Rust type with `#[derive(Node)]`, held by a [`Ref`]. The type declares the *kind* of its nodes,
//! and each field declares its *role*:
//!
//! ```
//! use sapwood_structural::{Error, Node, Ref, equal, first_mismatch, hash};
//!
//! #[derive(Node)]
//! #[node(kind = "var")]
//! struct Var {
//!     #[node(ignore)]
//!     name: String,
//! }
//!
//! #[derive(Node)]
//! enum Expr {
//!     Use(Ref<Var>),
//!     Int(i64),
//!     Add(Ref<Expr>, Ref<Expr>),
//! }
//!
//! #[derive(Node)]
//! #[node(scope)]
//! struct Lambda {
//!     #[node(def)]
//!     params: Vec<Ref<Var>>,
//!     body: Ref<Expr>,
//!     #[node(ignore)]
//!     span: String,
//! }
//!
//! /// `λ name. name + number`
//! fn add(name: &str, number: i64) -> Ref<Lambda> {
//!     let x = Ref::new(Var { name: name.to_owned() });
//!     let lhs = Ref::new(Expr::Use(x.clone()));
//!     let body = Ref::new(Expr::Add(lhs, Ref::new(Expr::Int(number))));
//!     Ref::new(Lambda { params: vec![x], body, span: format!("{name}.py:1") })
//! }
//!
//! // Names and spans are ignored, and x corresponds to y, so these are equal and hash alike.
//! assert!(equal(&add("x", 1), &add("y", 1))?);
//! assert_eq!(hash(&add("x", 1))?, hash(&add("y", 1))?);
//!
//! // A mismatch names the path of the difference.
//! let mismatch = first_mismatch(&add("x", 1), &add("y", 2))?.expect("a difference");
//! assert_eq!(
//!     mismatch.to_string(),
//!     "their values differ
//!   left  <root>.body.1.0: 1
//!   right <root>.body.1.0: 2"
//! );
//! # Ok::<(), Error>(())
//! ```
//!
//! Nodes are immutable. [`Ref::same`] compares pointers, [`equal`] compares structure; there is no `==` that
//! could be mistaken for either.
//!
//! # Kinds
//! | kind | equal if | for |
//! | --- | --- | --- |
//! | `tree` | all fields are; sharing is invisible | nearly everything; the default |
//! | `const-tree` | as `tree`; the same pointer is equal without a visit | types, attributes: nothing below is a variable or a `dag` node |
//! | `dag` | all fields are, and it is shared in the same places | values that are computed once and used many times |
//! | `var` | it is bound in the same place | variables |
//! | `singleton` | it is the same object ([`Ref::get`] returns it) | operators, registry entries |
//! | `none` | never: reaching it is an [`Error`] | handles that mean nothing to a comparison |
//!
//! **Choosing a kind.** One object per identity: `singleton`. A variable: `var`. Computing it twice differs
//! from computing it once: `dag`. Holds no variables and is often shared: `const-tree`. Otherwise `tree`.
//!
//! A type may also be a `scope`: variables that its def fields bind are unbound when it ends, as in a function.
//! Otherwise bindings last for the rest of the comparison, as in a sequence of statements.
//!
//! Attributes of a type are `#[node(kind = "…", key = "dialect.Name", scope, hooks)]`. The variants of an enum
//! are separate types (`Expr.Add`), so the attributes of an enum are on its variants.
//!
//! # Roles
//! | role | compared and hashed | for |
//! | --- | --- | --- |
//! | (none) | yes | operands, bodies, types |
//! | `def` | yes; variables that first occur here are bound here | parameters, targets of assignments, loop variables |
//! | `ignore` | no | spans, names, comments, caches |
//!
//! Fields are visited in declaration order: variables bound by a `def` field are visible in the fields after
//! it. Every field, including an ignored one, has a type that implements [`Field`]: it is still printed, walked
//! and written to JSON. `#[node(default)]` fills in a field that older JSON does not have.
//!
//! # Free variables
//! A variable that nothing binds equals only itself. With [`StructuralOptions::map_free_vars`], free variables
//! are mapped by the position of their first occurrence. Matching a template needs that, common-subexpression
//! elimination must not use it:
//!
//! ```
//! # use sapwood_structural::{Error, Node, StructuralOptions, Ref, equal};
//! # #[derive(Node)]
//! # #[node(kind = "var")]
//! # struct Var { #[node(ignore)] name: String }
//! # let var = |name: &str| Ref::new(Var { name: name.to_owned() });
//! let (x, y) = (var("x"), var("y"));
//! assert!(!equal(&x, &y)?);
//! assert!(StructuralOptions::mapping_free_vars().equal(&x, &y)?);
//! # Ok::<(), Error>(())
//! ```
//!
//! # Types described at run time
//! If types come from data or another language, a [`TypeBuilder`] describes them. They are compared by the same
//! engine, and hash like Rust types of the same key and fields:
//!
//! ```
//! use sapwood_structural::{FieldBuilder, NodeKind, TypeRegistry, FieldRole, TypeBuilder, Value, equal};
//!
//! let mut registry = TypeRegistry::new();
//! let var = TypeBuilder::new("lang.Var")
//!     .kind(NodeKind::Var)
//!     .field(FieldBuilder::new("name").role(FieldRole::Ignore))
//!     .register(&mut registry)?;
//! let lambda = TypeBuilder::new("lang.Lambda")
//!     .scope()
//!     .field(FieldBuilder::new("param").role(FieldRole::Def))
//!     .field(FieldBuilder::new("body"))
//!     .field(FieldBuilder::new("span").role(FieldRole::Ignore).default("".into()))
//!     .register(&mut registry)?;
//!
//! let identity = |name: &str| {
//!     let x = Value::from(var.make([name.into()])?);
//!     lambda.make([x.clone(), x])
//! };
//! assert!(equal(&identity("x")?, &identity("y")?)?);
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```
//!
//! # Further reading
//! Sequences, maps and sets that can be shared: [`Seq`], [`Map`], [`Set`]; text, bytes, tensors and integers of
//! any size: [`Value`]. All differences instead of the first: [`StructuralOptions::diff`]. Values as keys of a hash table:
//! [`StructuralKey`]. Visiting every node: [`NodeWalk`]; rebuilding changed nodes: [`map`]; replacing
//! variables: [`substitute`]; files: [`write_json`] and [`read_json`]. Custom comparison: [`StructuralHooks`].
//!
//! Guarantees: equal values have the same hash under the same [`StructuralOptions`]; the hash of a term without
//! free variables is the same in every process and version with the same [`HASH_VERSION`]; shared structure
//! costs its nodes, not its paths; depth costs memory, not stack.
//!
//! ## Modules
//! | module | contents |
//! | --- | --- |
//! | `reference` | The node pointers: reference count, descriptor, facts, cached hash, payload. **Contains the unsafe code of this crate.** |
//! | `node`, `fields` | The traits `Node` and [`Field`]; the implementations of [`Field`] for Rust types. |
//! | `type_info`, `kind` | Type descriptors; node kinds, field roles, and the facts that every node caches about its content. |
//! | `dynamic_types`, `dynamic_fields` | Types described at run time and their registry; comparison and hashing of their fields. |
//! | `values`, `view`, `containers` | Owned values; borrowed views of values; shared sequences, maps and sets. |
//! | `singletons` | One object per identity. |
//! | `hooks`, `hook_check` | Custom equality and hashing; a check that equal values have equal hashes. |
//! | `hasher` | The definition of the 128-bit hash. |
//! | `compare`, `mismatch` | The public functions for comparing and hashing; differences of two values. |
//! | `key`, `path`, `display`, `error` | Keys of hash tables; paths; short texts of values; errors. |
//! | `walk`, `child_cursor`, `transform`, `sharing` | Walks over nodes; a cursor over the children of a node; maps that rebuild only changed nodes; a hash of the sharing. |
//! | `substitute`, `substitution_scopes` | Capture-avoiding substitution; the bound variables during it. |
//! | `json/` | The JSON graph form: `write`, `read`, `lexer`, `error`. |
//! | `engine/` | The engine; see the next table. |
//!
//! The files of `engine/` belong to these groups:
//!
//! | group | files |
//! | --- | --- |
//! | fast path | `fast_equal` answers yes or no, for graphs without hooks and uncomparable nodes; `pending` is its deferred work. |
//! | slow path, the ordered comparison | `ordered_equal` visits the children in order, runs hooks and collects differences; `compare_frames` (its stack), `compare_variables` (binding and lookup), `hook_context` (the calls from hooks back into the engine). |
//! | hashing | `field_hasher` is the recursive part, `hash` the iterative part for nodes that are deep, shared, scopes or hooked. |
//! | comparison and hashing | `scalars` (values that are neither nodes nor lists), `container_keys` (keys of maps, members of sets), `tied_keys` (different keys with the same hash). |
//! | state of a walk | `compare_state` and `hash_state`, with `scopes` (open scopes), `binding_slots` (the numbers of variables), `equality_classes` (nodes found equal), `hash_memo`, `key_memo` and `node_map` (maps keyed by node). |
//!
//! `docs/design/structural-engine.md` gives the reasons.

mod child_cursor;
mod compare;
mod containers;
mod display;
mod dynamic_fields;
mod dynamic_types;
mod engine;
mod error;
mod fields;
mod hasher;
mod hook_check;
mod hooks;
mod json;
mod key;
mod kind;
mod mismatch;
mod node;
mod path;
mod reference;
mod sharing;
mod singletons;
mod substitute;
mod substitution_scopes;
mod transform;
mod type_info;
mod values;
mod view;
mod walk;

pub use compare::{equal, first_mismatch, hash};
pub use containers::{Map, Seq, Set};
pub use display::abridged;
pub use dynamic_types::{Constructor, FieldBuilder, TypeBuilder, TypeRegistry};
pub use engine::{EqualCx, FieldComparer, FieldHasher, HashCx, Side, StructuralOptions};
pub use error::{BuildError, Error, TypeError};
pub use hasher::{HASH_VERSION, Hash128, Mixer};
pub use hook_check::{HookDisagreement, check_hooks};
pub use hooks::{EqualHook, HashHook, HookError, StructuralHooks};
pub use json::{
    GraphRowLocation, JSON_VERSION, JsonReadError, JsonWriteError, read_json, write_json,
};
pub use key::StructuralKey;
pub use kind::{Facts, FieldRole, NodeKind};
pub use mismatch::{BindingSite, Mismatch, MismatchReason, NotEqual};
pub use node::{Field, Node};
pub use path::{NodePath, PathStep};
pub use reference::{AnyRef, NodeRef, Ref};
pub use sapwood_structural_derive::Node;
pub use sharing::sharing_hash;
pub use singletons::ConstructError;
pub use substitute::{SubstituteError, free_variables, substitute};
pub use transform::{MapError, NodeEdit, map, try_edit, try_map};
pub use type_info::{ChildLayout, FieldInfo, TypeInfo};
pub use values::{BigInt, Bytes, Tensor, TensorSizeError, Text, Value};
pub use view::{List, View, WideInt};
pub use walk::{NodeWalk, Visitor, WalkAction, WalkedNode};

/// Items that the code of `#[derive(Node)]` names, and the derive macro that `sapwood` exports. Not for users: it may change in any version.
#[doc(hidden)]
pub mod __private {
    pub use crate::hasher::{ChildPosition, HashSum};
    pub use crate::hooks::TypedHooks;
    pub use sapwood_structural_derive::SapwoodNode;
}

/// The chapter on comparing nodes, whose code is tested with the crate.
#[cfg(doctest)]
#[doc = include_str!("../../../docs/guide/structural.md")]
struct GuideChapter;
