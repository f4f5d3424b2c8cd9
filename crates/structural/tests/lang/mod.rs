//! A small language for the tests, described twice: as Rust types and at run time. Both have the same keys and
//! fields, so every test can run on both.

#![allow(dead_code, reason = "every test file uses its own part of the language")]

use std::sync::OnceLock;

use sapwood_structural::{
    EqualCx, Error, FieldBuilder, FieldRole, HashCx, Node, NodeKind, Seq, StructuralHooks,
    StructuralOptions, TypeBuilder, TypeInfo, TypeRegistry, Value,
};

/// A variable. Its type is compared where it is bound, its name never.
#[derive(Node)]
#[node(kind = "var", key = "lang.Var")]
pub(crate) struct Var {
    #[node(ignore)]
    name: Value,
    ty: Value,
}

#[derive(Node)]
#[node(key = "lang.Int")]
pub(crate) struct Int {
    value: Value,
}

#[derive(Node)]
#[node(key = "lang.Add")]
pub(crate) struct Add {
    lhs: Value,
    rhs: Value,
    #[node(ignore)]
    span: Value,
}

/// A chain compared and hashed by hooks.
#[derive(Node)]
#[node(key = "lang.Hooked", hooks)]
pub(crate) struct Hooked {
    pub(crate) below: Value,
}

impl StructuralHooks for Hooked {
    fn s_equal(&self, other: &Self, cx: &mut EqualCx<'_>) -> Result<bool, Error> {
        cx.equal(&self.below, &other.below, false, "below")
    }

    fn s_hash(&self, init: u64, cx: &mut HashCx<'_>) -> Result<u64, Error> {
        cx.hash(&self.below, init, false)
    }
}

/// `var = value`.
#[derive(Node)]
#[node(key = "lang.Assign")]
pub(crate) struct Assign {
    #[node(def)]
    var: Value,
    value: Value,
    #[node(ignore)]
    span: Value,
}

/// A function whose parameters stay bound after it ends.
#[derive(Node)]
#[node(key = "lang.Fun")]
pub(crate) struct Fun {
    #[node(def)]
    params: Value,
    body: Value,
    #[node(ignore)]
    span: Value,
}

/// A function that is a scope.
#[derive(Node)]
#[node(key = "lang.Lambda", scope)]
pub(crate) struct Lambda {
    #[node(def)]
    params: Value,
    body: Value,
}

/// A value that is computed once, so that sharing it matters.
#[derive(Node)]
#[node(key = "lang.Once", kind = "dag")]
pub(crate) struct Once {
    value: Value,
}

#[derive(Node)]
#[node(key = "lang.DeviceMesh", kind = "const-tree")]
pub(crate) struct DeviceMesh {
    shape: Value,
    device_ids: Value,
}

#[derive(Node)]
#[node(key = "lang.Op", kind = "singleton")]
pub(crate) struct Op {
    name: Value,
}

#[derive(Node)]
#[node(key = "lang.Handle", kind = "none")]
pub(crate) struct Handle {
    value: Value,
}

/// The types of the language, however described.
pub(crate) struct Lang {
    pub(crate) var: &'static TypeInfo,
    pub(crate) int: &'static TypeInfo,
    pub(crate) add: &'static TypeInfo,
    pub(crate) assign: &'static TypeInfo,
    pub(crate) fun: &'static TypeInfo,
    pub(crate) lambda: &'static TypeInfo,
    pub(crate) once: &'static TypeInfo,
    pub(crate) mesh: &'static TypeInfo,
    pub(crate) op: &'static TypeInfo,
    pub(crate) handle: &'static TypeInfo,
}

/// The language as Rust types.
pub(crate) fn derived() -> &'static Lang {
    static LANG: OnceLock<Lang> = OnceLock::new();
    LANG.get_or_init(|| Lang {
        var: Var::types()[0],
        int: Int::types()[0],
        add: Add::types()[0],
        assign: Assign::types()[0],
        fun: Fun::types()[0],
        lambda: Lambda::types()[0],
        once: Once::types()[0],
        mesh: DeviceMesh::types()[0],
        op: Op::types()[0],
        handle: Handle::types()[0],
    })
}

/// The language as types described at run time.
pub(crate) fn described() -> &'static Lang {
    static LANG: OnceLock<Lang> = OnceLock::new();
    LANG.get_or_init(|| {
        let mut registry = TypeRegistry::new();
        let mut register = |key, kind, scope, fields: &[(&str, FieldRole)]| {
            let mut builder = TypeBuilder::new(key).kind(kind);
            for &(name, role) in fields {
                builder = builder.field(FieldBuilder::new(name).role(role));
            }
            let builder = if scope { builder.scope() } else { builder };
            builder.register(&mut registry).expect("a new type")
        };
        let (usual, def, ignore) = (FieldRole::Usual, FieldRole::Def, FieldRole::Ignore);
        let span = ("span", ignore);
        Lang {
            var: register("lang.Var", NodeKind::Var, false, &[("name", ignore), ("ty", usual)]),
            int: register("lang.Int", NodeKind::Tree, false, &[("value", usual)]),
            add: register(
                "lang.Add",
                NodeKind::Tree,
                false,
                &[("lhs", usual), ("rhs", usual), span],
            ),
            assign: register(
                "lang.Assign",
                NodeKind::Tree,
                false,
                &[("var", def), ("value", usual), span],
            ),
            fun: register(
                "lang.Fun",
                NodeKind::Tree,
                false,
                &[("params", def), ("body", usual), span],
            ),
            lambda: register(
                "lang.Lambda",
                NodeKind::Tree,
                true,
                &[("params", def), ("body", usual)],
            ),
            once: register("lang.Once", NodeKind::Dag, false, &[("value", usual)]),
            mesh: register(
                "lang.DeviceMesh",
                NodeKind::ConstTree,
                false,
                &[("shape", usual), ("device_ids", usual)],
            ),
            op: register("lang.Op", NodeKind::Singleton, false, &[("name", usual)]),
            handle: register("lang.Handle", NodeKind::Uncomparable, false, &[("value", usual)]),
        }
    })
}

/// The language, once per way of describing it.
pub(crate) fn languages() -> [&'static Lang; 2] {
    [derived(), described()]
}

impl Lang {
    pub(crate) fn var(&self, name: &str) -> Value {
        self.typed(name, "int64")
    }

    pub(crate) fn typed(&self, name: &str, ty: impl Into<Value>) -> Value {
        make(self.var, [name.into(), ty.into()])
    }

    pub(crate) fn vars<const N: usize>(&self, names: [&str; N]) -> [Value; N] {
        names.map(|name| self.var(name))
    }

    pub(crate) fn int(&self, value: i64) -> Value {
        make(self.int, [value.into()])
    }

    pub(crate) fn add(&self, lhs: &Value, rhs: &Value) -> Value {
        self.add_at(lhs, rhs, "")
    }

    pub(crate) fn add_at(&self, lhs: &Value, rhs: &Value, span: &str) -> Value {
        make(self.add, [lhs.clone(), rhs.clone(), span.into()])
    }

    /// `value + 1`.
    pub(crate) fn next(&self, value: &Value) -> Value {
        self.add(value, &self.int(1))
    }

    pub(crate) fn assign(&self, var: &Value, value: &Value) -> Value {
        make(self.assign, [var.clone(), value.clone(), "".into()])
    }

    pub(crate) fn fun(&self, params: &[&Value], body: &Value) -> Value {
        self.fun_at(params, body, "")
    }

    pub(crate) fn fun_at(&self, params: &[&Value], body: &Value, span: &str) -> Value {
        make(self.fun, [list(params), body.clone(), span.into()])
    }

    pub(crate) fn lambda(&self, params: &[&Value], body: &Value) -> Value {
        make(self.lambda, [list(params), body.clone()])
    }

    pub(crate) fn once(&self, value: &Value) -> Value {
        make(self.once, [value.clone()])
    }

    pub(crate) fn mesh(&self, shape: &Value, device_ids: &Value) -> Value {
        make(self.mesh, [shape.clone(), device_ids.clone()])
    }

    /// The one operator of this name.
    pub(crate) fn op(&self, name: &str) -> Value {
        Value::Node(self.op.get([name.into()]).expect("a singleton"))
    }

    pub(crate) fn handle(&self, value: i64) -> Value {
        make(self.handle, [value.into()])
    }
}

/// A node of this type.
#[track_caller]
pub(crate) fn make(info: &'static TypeInfo, fields: impl IntoIterator<Item = Value>) -> Value {
    Value::Node(info.make(fields).expect("fields that fit"))
}

/// A sequence.
pub(crate) fn list(items: &[&Value]) -> Value {
    Seq::new(items.iter().copied().cloned()).into()
}

/// A sequence of integers.
pub(crate) fn ints(items: &[i64]) -> Value {
    items.iter().copied().collect::<Seq>().into()
}

/// Returns whether two values are equal. Checks on the way that all functions agree: equality in either
/// direction, the mismatch, and the hash.
#[track_caller]
pub(crate) fn same(left: &Value, right: &Value) -> bool {
    same_with(left, right, StructuralOptions::default())
}

/// Returns whether two values are equal with free variables mapped, with the checks of [`same`].
#[track_caller]
pub(crate) fn same_mapped(left: &Value, right: &Value) -> bool {
    same_with(left, right, StructuralOptions::mapping_free_vars())
}

#[track_caller]
pub(crate) fn same_with(left: &Value, right: &Value, options: StructuralOptions) -> bool {
    let there = options.equal(left, right).expect("comparable");
    let back = options.equal(right, left).expect("comparable");
    assert_eq!(there, back, "one way and the other: {left:?} and {right:?}");
    for value in [left, right] {
        assert!(options.equal(value, value).expect("comparable"), "itself: {value:?}");
    }
    let mismatch = options.first_mismatch(left, right).expect("comparable");
    assert_eq!(there, mismatch.is_none(), "{left:?} and {right:?}: {mismatch:?}");
    if there {
        let hashes = [left, right].map(|value| options.hash(value).expect("comparable"));
        assert_eq!(hashes[0], hashes[1], "hashes of {left:?} and {right:?}");
    }
    there
}
