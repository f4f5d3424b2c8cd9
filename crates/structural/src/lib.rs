//! Structural equality, hashing and mismatch for graphs of IR nodes, up to renaming of variables.
//!
//! # Define nodes
//! A node is a Rust type with `#[derive(Node)]`, held by a [`Ref`]. The type says what *kind* of node
//! it is, and each field what *role* it plays:
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
//! // What differs is found with its path.
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
//! Nodes are immutable. [`Ref::same`] compares pointers, [`equal`] structure; there is no `==` to
//! confuse the two.
//!
//! # Kinds
//! | kind | equal if | for |
//! | --- | --- | --- |
//! | `tree` | all fields are; sharing is invisible | nearly everything; the default |
//! | `const-tree` | as `tree`; the same pointer is equal without a look inside | types, attributes: nothing below is a variable or a `dag` node |
//! | `dag` | all fields are, and it is shared in the same places | values that are computed once and used many times |
//! | `var` | bound in the same place | variables |
//! | `singleton` | it is the same object ([`Ref::get`] gives it) | operators, registry entries |
//! | `none` | never: reaching it is an [`Error`] | handles that mean nothing to a comparison |
//!
//! **Which one do I want?** One object per identity: `singleton`. A variable: `var`. Computing it twice
//! differs from computing it once: `dag`. Holds no variables and is often shared: `const-tree`.
//! Otherwise `tree`.
//!
//! A type may also be a `scope`: what its def fields bind is unbound when it ends, as in a function.
//! Without, bindings last for the rest of the comparison, as in a sequence of statements.
//!
//! Attributes of a type are `#[node(kind = "…", key = "dialect.Name", scope, hooks)]`. The variants of an
//! enum are types of their own (`Expr.Add`), so there they stand on the variants.
//!
//! # Roles
//! | role | compared and hashed | for |
//! | --- | --- | --- |
//! | (none) | yes | operands, bodies, types |
//! | `def` | yes; variables first met here are bound here | parameters, targets of assignments, loop variables |
//! | `ignore` | no | spans, names, comments, caches |
//!
//! Fields are visited in the order of their declaration: what a `def` field binds is seen by the fields
//! after it. Every field, an ignored one too, has a type that implements [`Field`]: it is still printed,
//! walked and written to JSON. `#[node(default)]` fills in a field that older JSON does not have.
//!
//! # Free variables
//! A variable that nothing binds equals itself alone. With [`Options::map_free_vars`], free variables
//! correspond by where they are first met, which is what matching a template wants and what
//! common-subexpression elimination does not:
//!
//! ```
//! # use sapwood_structural::{Error, Node, Options, Ref, equal, equal_with};
//! # #[derive(Node)]
//! # #[node(kind = "var")]
//! # struct Var { #[node(ignore)] name: String }
//! # let var = |name: &str| Ref::new(Var { name: name.to_owned() });
//! let (x, y) = (var("x"), var("y"));
//! assert!(!equal(&x, &y)?);
//! assert!(equal_with(&x, &y, Options::mapping_free_vars())?);
//! # Ok::<(), Error>(())
//! ```
//!
//! # Types described at run time
//! Where types come from data or another language, a [`TypeBuilder`] describes them. They are compared
//! by the same engine, and hash like Rust types of the same key and fields:
//!
//! ```
//! use sapwood_structural::{FieldBuilder, Kind, Registry, Role, TypeBuilder, Value, equal};
//!
//! let mut registry = Registry::new();
//! let var = TypeBuilder::new("lang.Var")
//!     .kind(Kind::Var)
//!     .field(FieldBuilder::new("name").role(Role::Ignore))
//!     .register(&mut registry)?;
//! let lambda = TypeBuilder::new("lang.Lambda")
//!     .scope()
//!     .field(FieldBuilder::new("param").role(Role::Def))
//!     .field(FieldBuilder::new("body"))
//!     .field(FieldBuilder::new("span").role(Role::Ignore).default("".into()))
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
//! # Where to go on
//! Sequences, maps and sets that can be shared: [`Seq`], [`Map`], [`Set`]; text, bytes, tensors and
//! integers of any size: [`Value`]. Every difference rather than the first: [`diff`]. Values as keys of a
//! hash table: [`StructuralKey`]. Looking at every node: [`Walk`]; rebuilding what changes: [`map`];
//! replacing variables: [`substitute`]; files: [`write_json`] and [`read_json`]. Fields that do not say it
//! all: [`StructuralHooks`]. Nodes in an arena of your own: [`Graph`].
//!
//! What is promised: equal values have the same hash under the same [`Options`]; the hash of a term
//! without free variables is the same in every process and version with the same [`HASH_VERSION`]; shared
//! structure costs its nodes, not its paths; depth costs memory, not stack.

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
mod rows;
mod substitute;
mod transform;
mod type_info;
mod values;
mod view;
mod walk;

pub use check::{HookDisagreement, check_hooks};
pub use containers::{Map, Seq, Set};
pub use display::abridged;
pub use dynamic::{Constructor, FieldBuilder, Registry, TypeBuilder};
pub use engine::{EqualCx, Feed, HashCx, Meet, Options, Side};
pub use error::{BuildError, Error, TypeError};
pub use graph::{Graph, Heap, ViewOf};
pub use hasher::{HASH_VERSION, Hash128, Mixer, Position, Sum};
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

/// The code of the chapter on comparing nodes is tested like any other.
#[cfg(doctest)]
#[doc = include_str!("../../../docs/guide/structural.md")]
struct GuideChapter;
