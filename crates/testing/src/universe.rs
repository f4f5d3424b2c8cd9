//! All types with up to three fields, and graphs of them from bytes: kinds, roles, scopes, hooks,
//! containers, sharing. Property tests and fuzz targets draw from the same source, so what one
//! finds the other can keep. ([`crate::graphs`] makes new types for every case instead.)

use std::sync::OnceLock;

use sapwood_structural::{
    AnyRef, Bytes, Facts, FieldBuilder, FieldRole, Map, NodeKind, Seq, Set, Tensor, TypeBuilder,
    TypeInfo, TypeRegistry, Value, View,
};
use sapwood_types::DataType;

/// The types of random graphs.
pub struct Universe {
    /// The types, by name.
    pub registry: TypeRegistry,
    types: Vec<(NodeKind, &'static TypeInfo)>,
    /// The variables that may be free in any graph.
    pub globals: Vec<AnyRef>,
}

/// Returns all types with up to three fields, and some with hooks.
///
/// # Panics
/// If a type cannot be registered, which would be an error of this function.
pub fn universe() -> &'static Universe {
    static UNIVERSE: OnceLock<Universe> = OnceLock::new();
    UNIVERSE.get_or_init(|| {
        let mut registry = TypeRegistry::new();
        let mut types = Vec::new();
        for kind in NodeKind::ALL {
            for scope in [false, true] {
                for roles in all_roles() {
                    // `get` knows a singleton by what counts, whatever its ignored fields hold.
                    if kind == NodeKind::Singleton && roles.contains(&FieldRole::Ignore) {
                        continue;
                    }
                    types.push((kind, register(&mut registry, kind, scope, &roles)));
                }
            }
            if kind != NodeKind::Singleton {
                types.push((kind, register_hooked(&mut registry, kind)));
            }
        }
        let plain = registry.get("var..u").expect("it was registered");
        let globals = (0..3).map(|i| plain.make([Value::Int(i)]).expect("one field")).collect();
        Universe { registry, types, globals }
    })
}

fn all_roles() -> Vec<Vec<FieldRole>> {
    let mut all = vec![Vec::new()];
    let mut last = vec![Vec::new()];
    for _ in 0..3 {
        let longer = |roles: &Vec<FieldRole>| {
            [FieldRole::Usual, FieldRole::Def, FieldRole::Ignore]
                .map(|role| [&roles[..], &[role]].concat())
        };
        last = last.iter().flat_map(longer).collect();
        all.extend(last.iter().cloned());
    }
    all
}

fn register(
    registry: &mut TypeRegistry,
    kind: NodeKind,
    scope: bool,
    roles: &[FieldRole],
) -> &'static TypeInfo {
    let letters: String = roles.iter().map(|role| &role.name()[..1]).collect();
    let key = format!("{kind}.{}.{letters}", if scope { "scope" } else { "" });
    let mut builder = TypeBuilder::new(&key).kind(kind);
    if scope {
        builder = builder.scope();
    }
    for (index, role) in roles.iter().enumerate() {
        builder = builder.field(FieldBuilder::new(&format!("f{index}")).role(*role));
    }
    builder.register(registry).expect("every key is new")
}

/// Registers a type that binds in its first field, compares its second and skips its third.
fn register_hooked(registry: &mut TypeRegistry, kind: NodeKind) -> &'static TypeInfo {
    let builder = TypeBuilder::new(&format!("{kind}.hooked"))
        .kind(kind)
        .field(FieldBuilder::new("f0"))
        .field(FieldBuilder::new("f1"))
        .field(FieldBuilder::new("f2"));
    with_pair_hooks(builder, [("f0", true), ("f1", false)])
        .register(registry)
        .expect("every key is new")
}

/// Adds hooks that compare and hash the first two fields, each with its name and whether it binds variables.
#[must_use]
pub fn with_pair_hooks(builder: TypeBuilder, pair: [(&'static str, bool); 2]) -> TypeBuilder {
    let [(first, first_binds), (second, second_binds)] = pair;
    builder
        .equal_hook(Box::new(move |left, right, cx| {
            Ok(cx.equal(left.child(0), right.child(0), first_binds, first)?
                && cx.equal(left.child(1), right.child(1), second_binds, second)?)
        }))
        .hash_hook(Box::new(move |node, init, cx| {
            let init = cx.hash(node.child(0), init, first_binds)?;
            cx.hash(node.child(1), init, second_binds)
        }))
}

/// A source of small numbers from bytes; zeros after the end.
pub struct Choices<'a>(std::slice::Iter<'a, u8>);

impl<'a> Choices<'a> {
    /// Creates a source from these bytes.
    #[must_use]
    pub fn new(bytes: &'a [u8]) -> Self {
        Self(bytes.iter())
    }

    /// Returns a number below `n`; 0 if `n` is 0.
    pub fn below(&mut self, n: usize) -> usize {
        self.0.next().map_or(0, |&byte| usize::from(byte) % n.max(1))
    }

    /// Returns whether all bytes are consumed.
    #[must_use]
    pub fn is_dry(&self) -> bool {
        self.0.len() == 0
    }
}

/// Creates a graph: all its values, each made from earlier ones.
pub fn graph(choices: &mut Choices<'_>, most: usize) -> Vec<Value> {
    let universe = universe();
    let mut pool: Vec<Value> = universe.globals.iter().cloned().map(Value::Node).collect();
    let globals = pool.len();
    while pool.len() < globals + most && (pool.len() == globals || !choices.is_dry()) {
        let value = match choices.below(8) {
            0 => container(choices, &pool),
            _ => node(choices, &pool),
        };
        pool.push(value);
    }
    pool.drain(..globals);
    pool
}

/// The kinds of nodes, each as often as it should occur.
const KINDS: [NodeKind; 16] = [
    NodeKind::Tree,
    NodeKind::Tree,
    NodeKind::Tree,
    NodeKind::Tree,
    NodeKind::Tree,
    NodeKind::Tree,
    NodeKind::Var,
    NodeKind::Var,
    NodeKind::Var,
    NodeKind::Var,
    NodeKind::Dag,
    NodeKind::Dag,
    NodeKind::ConstTree,
    NodeKind::Singleton,
    NodeKind::Tree,
    NodeKind::Uncomparable,
];

fn node(choices: &mut Choices<'_>, pool: &[Value]) -> Value {
    let kind = KINDS[choices.below(KINDS.len())];
    let types: Vec<_> = universe().types.iter().filter(|(k, _)| *k == kind).collect();
    let (_, info) = types[choices.below(types.len())];
    let fields: Vec<Value> = info.fields().iter().map(|_| field(choices, pool)).collect();
    if kind == NodeKind::Singleton {
        // `get` cannot create a singleton that contains variables.
        return info.get(fields).map_or(Value::None, Value::Node);
    }
    info.make(fields).map_or(Value::None, Value::Node)
}

fn field(choices: &mut Choices<'_>, pool: &[Value]) -> Value {
    match choices.below(5) {
        0 => scalar(choices),
        // Mostly the latest values, so that graphs grow deep.
        1 | 2 => pool[pool.len() - 1 - choices.below(pool.len().min(3))].clone(),
        _ => pool[choices.below(pool.len())].clone(),
    }
}

/// Creates a value that is not a node.
pub fn scalar(choices: &mut Choices<'_>) -> Value {
    match choices.below(14) {
        0 => Value::None,
        1 => Value::Bool(true),
        2 => Value::Int(1),
        3 => Value::Float(1.0),
        4 => Value::Float(-0.0),
        5 => Value::Float(f64::NAN),
        6 => Value::Float(f64::NEG_INFINITY),
        7 => Value::from("x\n\u{1f333}"),
        8 => Value::from(u128::MAX),
        9 => Value::from(i64::MIN),
        10 => Value::from(Bytes::new(&[0, 255])),
        11 => Tensor::new(DataType::I16, &[1, 2], Bytes::new(&[1, 2, 3, 4]))
            .map_or(Value::None, Value::from),
        12 => Value::Float(0.1 + 0.2),
        _ => Value::Int(choices.below(3) as i64),
    }
}

fn container(choices: &mut Choices<'_>, pool: &[Value]) -> Value {
    let len = choices.below(4);
    match choices.below(3) {
        0 => Seq::new((0..len).map(|_| field(choices, pool))).into(),
        1 => {
            let entries: Vec<_> =
                (0..len).map(|_| (key(choices, pool), field(choices, pool))).collect();
            Map::new(entries).map_or(Value::None, Value::from)
        }
        _ => {
            let members: Vec<_> = (0..len).map(|_| key(choices, pool)).collect();
            Set::new(members).map_or(Value::None, Value::from)
        }
    }
}

/// Creates a key without free variables, since keys with free variables only equal themselves.
fn key(choices: &mut Choices<'_>, pool: &[Value]) -> Value {
    let value = field(choices, pool);
    match value.view() {
        View::Node(node) if node.facts().any(Facts::VAR) => scalar(choices),
        _ => value,
    }
}
