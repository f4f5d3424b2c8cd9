//! Types described at run time, and the registry of types by key.

use rustc_hash::FxBuildHasher;
use sapwood_types::counted;

use crate::containers::{MapEntries, SeqItems, SetMembers};
use crate::error::{BuildError, TypeError};
use crate::hooks::{EqualHook, ErasedHooks, HashHook, HookPair};
use crate::kind::{FieldRole, NodeKind};
use crate::node::Node;
use crate::reference::{AnyRef, PayloadOps};
use crate::singletons::ConstructError;
use crate::type_info::{ChildLayout, FieldInfo, TypeInfo};
use crate::values::Value;

/// A registry of types by key. [`read_json`](crate::read_json) looks types up in it. It rejects a key that is
/// taken.
#[derive(Debug)]
pub struct TypeRegistry {
    types: hashbrown::HashMap<&'static str, &'static TypeInfo, FxBuildHasher>,
}

impl Default for TypeRegistry {
    /// Creates the same registry as [`TypeRegistry::new`].
    fn default() -> Self {
        Self::new()
    }
}

impl TypeRegistry {
    /// Creates a registry of sequences, maps and sets.
    #[must_use]
    pub fn new() -> Self {
        let mut registry = Self { types: hashbrown::HashMap::default() };
        for info in [SeqItems::types(), MapEntries::types(), SetMembers::types()].concat() {
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

    /// Returns the type called `key`.
    ///
    /// # Errors
    /// If there is none. The error suggests the nearest name.
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

/// A function that builds a node of a type from its fields, in declaration order; `None` for a field that was
/// not given. The last argument is true if the node is the singleton that [`TypeInfo::get`] returns, and false
/// if it is a new node.
pub type Constructor =
    fn(&'static TypeInfo, Vec<Option<Value>>, bool) -> Result<AnyRef, ConstructError>;

/// A builder of a type described at run time.
///
/// ```
/// use sapwood_structural::{FieldBuilder, NodeKind, TypeRegistry, FieldRole, TypeBuilder, equal};
///
/// let mut registry = TypeRegistry::new();
/// let var = TypeBuilder::new("lang.Var")
///     .kind(NodeKind::Var)
///     .field(FieldBuilder::new("name").role(FieldRole::Ignore))
///     .register(&mut registry)?;
/// let lambda = TypeBuilder::new("lang.Lambda")
///     .field(FieldBuilder::new("param").role(FieldRole::Def))
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
    kind: NodeKind,
    scope: bool,
    base: Option<&'static TypeInfo>,
    fields: Vec<FieldBuilder>,
    equal: Option<EqualHook>,
    hash: Option<HashHook>,
    constructor: Option<Constructor>,
}

/// A builder of a field described at run time.
pub struct FieldBuilder {
    name: String,
    role: FieldRole,
    default: Option<Value>,
}

impl FieldBuilder {
    /// Creates a usual field without a default.
    #[must_use]
    pub fn new(name: &str) -> Self {
        Self { name: name.to_owned(), role: FieldRole::Usual, default: None }
    }

    /// Sets the role.
    #[must_use]
    pub fn role(mut self, role: FieldRole) -> Self {
        self.role = role;
        self
    }

    /// Sets the default value.
    #[must_use]
    pub fn default(mut self, value: Value) -> Self {
        self.default = Some(value);
        self
    }
}

impl TypeBuilder {
    /// Creates a type of kind tree without fields.
    #[must_use]
    pub fn new(key: &str) -> Self {
        Self {
            key: key.to_owned(),
            kind: NodeKind::Tree,
            scope: false,
            base: None,
            fields: Vec::new(),
            equal: None,
            hash: None,
            constructor: None,
        }
    }

    /// Sets the kind.
    #[must_use]
    pub fn kind(mut self, kind: NodeKind) -> Self {
        self.kind = kind;
        self
    }

    /// Marks the type as a scope: variables that first occur in a def field inside it are unbound when it ends.
    #[must_use]
    pub fn scope(mut self) -> Self {
        self.scope = true;
        self
    }

    /// Extends `base`, whose fields come first. Kind, scope and hooks are not inherited.
    #[must_use]
    pub fn base(mut self, base: &'static TypeInfo) -> Self {
        self.base = Some(base);
        self
    }

    /// Adds a field.
    #[must_use]
    pub fn field(mut self, field: FieldBuilder) -> Self {
        self.fields.push(field);
        self
    }

    /// Sets the equality hook; [`TypeBuilder::hash_hook`] is needed too.
    #[must_use]
    pub fn equal_hook(mut self, hook: EqualHook) -> Self {
        self.equal = Some(hook);
        self
    }

    /// Sets the hash hook; [`TypeBuilder::equal_hook`] is needed too.
    #[must_use]
    pub fn hash_hook(mut self, hook: HashHook) -> Self {
        self.hash = Some(hook);
        self
    }

    /// Sets the function that builds nodes of the type wherever a graph is rebuilt or read: by
    /// [`map`](crate::map), by [`substitute`](crate::substitute()) and by [`read_json`](crate::read_json). It
    /// can check and complete the fields, and reject them. [`TypeInfo::make`] and [`TypeInfo::get`] do not call
    /// it, so that it can call them.
    #[must_use]
    pub fn constructor(mut self, constructor: Constructor) -> Self {
        self.constructor = Some(constructor);
        self
    }

    /// Registers the type. Its descriptor lives as long as the process.
    ///
    /// # Errors
    /// If the key is taken, two fields have one name, or one of the two hooks is missing.
    pub fn register(self, registry: &mut TypeRegistry) -> Result<&'static TypeInfo, TypeError> {
        let Self { key, kind, scope, base, fields, equal, hash, constructor } = self;
        if registry.types.contains_key(key.as_str()) {
            return Err(TypeError::Duplicate(key));
        }
        let hooks = match (equal, hash) {
            (Some(equal), Some(hash)) => Some(HookPair { equal, hash }),
            (None, None) => None,
            (Some(_), None) => {
                return Err(TypeError::MissingHook { key, given: "equality", missing: "the hash" });
            }
            (None, Some(_)) => {
                return Err(TypeError::MissingHook { key, given: "the hash", missing: "equality" });
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
        let mut info = TypeInfo::with_ops(
            key.leak(),
            kind,
            ChildLayout::Record,
            fields.leak(),
            PayloadOps::dynamic(),
        )
        .based_on(base)
        .constructed_by(constructor);
        if scope {
            info = info.scoped();
        }
        if let Some(hooks) = hooks {
            let hooks: &'static dyn ErasedHooks = Box::leak(Box::new(hooks));
            info = info.hooked(hooks);
        }
        let info: &'static TypeInfo = Box::leak(Box::new(info));
        registry.types.insert(info.key(), info);
        Ok(info)
    }
}

impl TypeInfo {
    /// Builds a node of this type from its fields, in declaration order; missing ones at the end take their
    /// defaults.
    ///
    /// # Errors
    /// If there are too many fields, one without a default is missing, or one cannot hold its value.
    pub fn make(
        &'static self,
        fields: impl IntoIterator<Item = Value>,
    ) -> Result<AnyRef, BuildError> {
        let fields = self.fill_defaults(fields)?;
        (self.ops.build)(self, fields)
    }

    /// Returns the one singleton of this type with these fields.
    ///
    /// # Errors
    /// As [`TypeInfo::make`], and if the type is not a singleton.
    pub fn get(
        &'static self,
        fields: impl IntoIterator<Item = Value>,
    ) -> Result<AnyRef, ConstructError> {
        let fields = self.fill_defaults(fields)?;
        crate::singletons::intern(self, (self.ops.build_interned)(self, fields)?)
    }

    /// Builds a node from its fields, in declaration order, with the [constructor](TypeBuilder::constructor) of
    /// the type if it has one. Missing fields at the end take their defaults.
    pub(crate) fn construct(
        &'static self,
        fields: Vec<Value>,
        interned: bool,
    ) -> Result<AnyRef, ConstructError> {
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

    /// Builds a node as [`construct`](Self::construct) does, from fields any of which may be missing.
    pub(crate) fn construct_partial(
        &'static self,
        mut fields: Vec<Option<Value>>,
        interned: bool,
    ) -> Result<AnyRef, ConstructError> {
        if let Some(constructor) = self.constructor() {
            return constructor(self, fields, interned);
        }
        // Missing fields at the end are left to the type, which may have defaults of its own.
        let given = fields.iter().rposition(Option::is_some).map_or(0, |last| last + 1);
        fields.truncate(given);
        let fields = fields.into_iter().enumerate().map(|(index, value)| {
            let default = || self.fields()[index].default.clone();
            value.or_else(default).ok_or_else(|| self.missing_field_error(index))
        });
        self.construct(fields.collect::<Result<_, _>>()?, interned)
    }

    fn missing_field_error(&self, index: usize) -> BuildError {
        let (name, key) = (self.fields()[index].name, self.key());
        BuildError::new(format!("field {name} of {key} was not given and has no default"))
    }

    fn fill_defaults(
        &self,
        fields: impl IntoIterator<Item = Value>,
    ) -> Result<Vec<Value>, BuildError> {
        let mut fields: Vec<Value> = fields.into_iter().collect();
        if self.layout() != ChildLayout::Record {
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
                if !self.ops.dynamic {
                    break;
                }
                return Err(self.missing_field_error(index));
            };
            fields.push(default.clone());
        }
        Ok(fields)
    }
}
