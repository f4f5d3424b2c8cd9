//! Types described at run time, and the registry that knows types by name.

use rustc_hash::FxBuildHasher;
use sapwood_types::counted;

use crate::containers::{Entries, Items, Members};
use crate::error::{BuildError, TypeError};
use crate::hooks::{EqualHook, HashHook, HookPair, Hooks};
use crate::intern::GetError;
use crate::kind::{Kind, Role};
use crate::node::Node;
use crate::reference::{AnyRef, Ops};
use crate::type_info::{FieldInfo, Layout, TypeInfo};
use crate::values::Value;

/// Types by their key. Reading JSON asks it for them, and it refuses a key that is taken.
#[derive(Debug)]
pub struct Registry {
    types: hashbrown::HashMap<&'static str, &'static TypeInfo, FxBuildHasher>,
}

impl Default for Registry {
    /// As [`Registry::new`].
    fn default() -> Self {
        Self::new()
    }
}

impl Registry {
    /// A registry that knows sequences, maps and sets.
    #[must_use]
    pub fn new() -> Self {
        let mut registry = Self { types: hashbrown::HashMap::default() };
        for info in [Items::types(), Entries::types(), Members::types()].concat() {
            registry.types.insert(info.key(), info);
        }
        registry
    }

    /// Adds a Rust type, and returns the registry for the next one. Adding it again changes nothing.
    ///
    /// # Errors
    /// If another type has its key.
    pub fn with<T: Node>(mut self) -> Result<Self, TypeError> {
        for info in T::types() {
            self.add(info)?;
        }
        Ok(self)
    }

    /// Adds a type.
    ///
    /// # Errors
    /// If another type has its key.
    pub fn add(&mut self, info: &'static TypeInfo) -> Result<(), TypeError> {
        match self.types.get(info.key()) {
            Some(known) if std::ptr::eq(*known, info) => Ok(()),
            Some(_) => Err(TypeError::Duplicate(info.key().to_owned())),
            None => {
                self.types.insert(info.key(), info);
                Ok(())
            }
        }
    }

    /// The type called `key`.
    ///
    /// # Errors
    /// If there is none; with the nearest name.
    pub fn get(&self, key: &str) -> Result<&'static TypeInfo, TypeError> {
        self.types.get(key).copied().ok_or_else(|| {
            let mut keys: Vec<&str> = self.types.keys().copied().collect();
            keys.sort_unstable();
            let hint = sapwood_types::did_you_mean(key, keys).map(str::to_owned);
            // A key from a file may be of any length.
            TypeError::Unknown { key: key.chars().take(80).collect(), hint }
        })
    }
}

/// Makes a node of a type from its fields, in the order of their declaration; `None` where one was not given. The
/// last argument is true if the node is the one that [`TypeInfo::get`] gives, and false if it is a new one.
pub type Constructor = fn(&'static TypeInfo, Vec<Option<Value>>, bool) -> Result<AnyRef, GetError>;

/// Describes a type at run time.
///
/// ```
/// use sapwood_structural::{FieldBuilder, Kind, Registry, Role, TypeBuilder, equal};
///
/// let mut registry = Registry::new();
/// let var = TypeBuilder::new("lang.Var")
///     .kind(Kind::Var)
///     .field(FieldBuilder::new("name").role(Role::Ignore))
///     .register(&mut registry)?;
/// let lambda = TypeBuilder::new("lang.Lambda")
///     .field(FieldBuilder::new("param").role(Role::Def))
///     .field(FieldBuilder::new("body"))
///     .register(&mut registry)?;
///
/// let identity = |name: &str| {
///     let x = var.make([name.into()])?;
///     lambda.make([x.clone().into(), x.into()])
/// };
/// assert!(equal(&identity("x")?, &identity("y")?)?);
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
pub struct TypeBuilder {
    key: String,
    kind: Kind,
    scope: bool,
    base: Option<&'static TypeInfo>,
    fields: Vec<FieldBuilder>,
    equal: Option<EqualHook>,
    hash: Option<HashHook>,
    constructor: Option<Constructor>,
}

/// Describes a field at run time.
pub struct FieldBuilder {
    name: String,
    role: Role,
    default: Option<Value>,
}

impl FieldBuilder {
    /// A usual field without a default.
    #[must_use]
    pub fn new(name: &str) -> Self {
        Self { name: name.to_owned(), role: Role::Usual, default: None }
    }

    /// With this role.
    #[must_use]
    pub fn role(mut self, role: Role) -> Self {
        self.role = role;
        self
    }

    /// With this value where none is given.
    #[must_use]
    pub fn default(mut self, value: Value) -> Self {
        self.default = Some(value);
        self
    }
}

impl TypeBuilder {
    /// A tree type without fields.
    #[must_use]
    pub fn new(key: &str) -> Self {
        Self {
            key: key.to_owned(),
            kind: Kind::Tree,
            scope: false,
            base: None,
            fields: Vec::new(),
            equal: None,
            hash: None,
            constructor: None,
        }
    }

    /// Of this kind.
    #[must_use]
    pub fn kind(mut self, kind: Kind) -> Self {
        self.kind = kind;
        self
    }

    /// A scope: variables first met in a def field inside it are unbound when it ends.
    #[must_use]
    pub fn scope(mut self) -> Self {
        self.scope = true;
        self
    }

    /// Extends `base`: its fields come first. Kind, scope and hooks are not inherited.
    #[must_use]
    pub fn base(mut self, base: &'static TypeInfo) -> Self {
        self.base = Some(base);
        self
    }

    /// With one more field.
    #[must_use]
    pub fn field(mut self, field: FieldBuilder) -> Self {
        self.fields.push(field);
        self
    }

    /// With this equality hook; [`TypeBuilder::hash_hook`] is needed too.
    #[must_use]
    pub fn equal_hook(mut self, hook: EqualHook) -> Self {
        self.equal = Some(hook);
        self
    }

    /// With this hash hook; [`TypeBuilder::equal_hook`] is needed too.
    #[must_use]
    pub fn hash_hook(mut self, hook: HashHook) -> Self {
        self.hash = Some(hook);
        self
    }

    /// Makes the nodes of the type with this function wherever a graph is rebuilt or read: by [`map`](crate::map), by
    /// [`substitute`](crate::substitute()) and by [`read_json`](crate::read_json). It can check and complete the fields, and
    /// refuse them. [`TypeInfo::make`] and [`TypeInfo::get`] do not call it, so that it can call them.
    #[must_use]
    pub fn constructor(mut self, constructor: Constructor) -> Self {
        self.constructor = Some(constructor);
        self
    }

    /// Registers the type. Its descriptor lives as long as the process.
    ///
    /// # Errors
    /// If the key is taken, two fields have one name, or a hook comes without its twin.
    pub fn register(self, registry: &mut Registry) -> Result<&'static TypeInfo, TypeError> {
        let Self { key, kind, scope, base, fields, equal, hash, constructor } = self;
        if registry.types.contains_key(key.as_str()) {
            return Err(TypeError::Duplicate(key));
        }
        let hooks = match (equal, hash) {
            (Some(equal), Some(hash)) => Some(HookPair { equal, hash }),
            (None, None) => None,
            (Some(_), None) => {
                return Err(TypeError::HalfAHook { key, given: "equality", missing: "the hash" });
            }
            (None, Some(_)) => {
                return Err(TypeError::HalfAHook { key, given: "the hash", missing: "equality" });
            }
        };
        let inherited = base.map_or(&[][..], TypeInfo::fields);
        for (index, field) in fields.iter().enumerate() {
            if inherited.iter().any(|other| other.name == field.name)
                || fields[..index].iter().any(|other| other.name == field.name)
            {
                return Err(TypeError::DuplicateField { key, field: field.name.clone() });
            }
        }
        let inherited = inherited.iter().map(|field| FieldInfo {
            name: field.name,
            role: field.role,
            default: field.default.clone(),
        });
        let own = fields.into_iter().map(|field| FieldInfo {
            name: field.name.leak(),
            role: field.role,
            default: field.default,
        });
        let fields: Vec<FieldInfo> = inherited.chain(own).collect();
        let mut info =
            TypeInfo::with_ops(key.leak(), kind, Layout::Record, fields.leak(), Ops::values())
                .based_on(base)
                .constructed_by(constructor);
        if scope {
            info = info.scoped();
        }
        if let Some(hooks) = hooks {
            let hooks: &'static dyn Hooks = Box::leak(Box::new(hooks));
            info = info.hooked(hooks);
        }
        let info: &'static TypeInfo = Box::leak(Box::new(info));
        registry.types.insert(info.key(), info);
        Ok(info)
    }
}

impl TypeInfo {
    /// A node of this type with these fields, in declaration order; missing ones at the end take
    /// their defaults.
    ///
    /// # Errors
    /// If there are too many, one is missing that has no default, or one cannot be held.
    pub fn make(
        &'static self,
        fields: impl IntoIterator<Item = Value>,
    ) -> Result<AnyRef, BuildError> {
        let fields = self.complete(fields)?;
        (self.ops.build)(self, fields)
    }

    /// The one singleton of this type with these fields.
    ///
    /// # Errors
    /// As [`TypeInfo::make`], and if the type is not a singleton.
    pub fn get(&'static self, fields: impl IntoIterator<Item = Value>) -> Result<AnyRef, GetError> {
        let fields = self.complete(fields)?;
        crate::intern::intern(self, (self.ops.build_interned)(self, fields)?)
    }

    /// Makes a node from its fields, in declaration order, as the [constructor](TypeBuilder::constructor) of the type
    /// does if it has one. Missing ones at the end take their defaults.
    pub(crate) fn construct(
        &'static self,
        fields: Vec<Value>,
        interned: bool,
    ) -> Result<AnyRef, GetError> {
        match self.constructor() {
            Some(constructor) => {
                let mut fields: Vec<Option<Value>> = fields.into_iter().map(Some).collect();
                fields.resize(self.fields().len(), None);
                constructor(self, fields, interned)
            }
            None if interned => self.get(fields),
            None => Ok(self.make(fields)?),
        }
    }

    /// Makes a node as [`construct`](Self::construct) does, from fields any of which may be missing.
    pub(crate) fn construct_some(
        &'static self,
        mut fields: Vec<Option<Value>>,
        interned: bool,
    ) -> Result<AnyRef, GetError> {
        if let Some(constructor) = self.constructor() {
            return constructor(self, fields, interned);
        }
        // Those at the end are left to the type, which may have defaults of its own.
        let given = fields.iter().rposition(Option::is_some).map_or(0, |last| last + 1);
        fields.truncate(given);
        let fields = fields.into_iter().enumerate().map(|(index, value)| {
            let default = || self.fields()[index].default.clone();
            value.or_else(default).ok_or_else(|| self.not_given(index))
        });
        self.construct(fields.collect::<Result<_, _>>()?, interned)
    }

    fn not_given(&self, index: usize) -> BuildError {
        let (name, key) = (self.fields()[index].name, self.key());
        BuildError::new(format!("field {name} of {key} was not given and has no default"))
    }

    fn complete(&self, fields: impl IntoIterator<Item = Value>) -> Result<Vec<Value>, BuildError> {
        let mut fields: Vec<Value> = fields.into_iter().collect();
        if self.layout() != Layout::Record {
            return Ok(fields);
        }
        let (given, wanted) = (fields.len(), self.fields().len());
        if given > wanted {
            let wanted = counted(wanted, "field");
            let were = if given == 1 { "was" } else { "were" };
            let message = format!("{} has {wanted}, {given} {were} given", self.key());
            return Err(BuildError::new(message));
        }
        for (index, field) in self.fields().iter().enumerate().skip(given) {
            let Some(default) = &field.default else {
                // A Rust type may have a default that no descriptor holds; its `build` knows.
                if !self.ops.rows {
                    break;
                }
                return Err(self.not_given(index));
            };
            fields.push(default.clone());
        }
        Ok(fields)
    }
}
