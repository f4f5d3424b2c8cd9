//! Calls: of functions of the program, of ops that PTIR knows, and of ops that it does not.

use sapwood_ir::TypeRef;
use sapwood_ptir::ops::{Call, CustomCall};
use sapwood_ptir::{
    Attr, AttrDef, AttrKind, Name, Op, OpDef, OpKey, OpParts, ResultTypes, ValueId, ValueType,
};
use sapwood_types::Span;

use crate::function::Lowering;
use crate::scope::Val;

impl Lowering<'_> {
    /// A call of a function of the program. It gives one value, or all in a tuple.
    pub(crate) fn call(&mut self, name: &str, args: &[ValueId], ty: &TypeRef, span: Span) -> Val {
        let results = self.call_function(name, args, span)?;
        self.one_value(name, &results, ty, span)
    }

    /// A call of a function of the program, and all that it gives.
    pub(crate) fn call_function(
        &mut self,
        name: &str,
        args: &[ValueId],
        span: Span,
    ) -> Option<Vec<ValueId>> {
        let callee = self.signatures.get(name)?;
        let Some(types) = &callee.types else {
            self.problem(span, format!("call of `{name}`: its types cannot be lowered"));
            return None;
        };
        let found: Vec<&ValueType> = args.iter().map(|&arg| self.value_type(arg)).collect();
        let types = match types.call(&found) {
            Ok(types) => types,
            Err(message) => {
                self.problem(span, format!("call of `{name}`: {message}"));
                return None;
            }
        };
        let call = Call {
            args: args.iter().copied().collect(),
            callee: Name::new(name),
            has_side_effect: callee.effects,
            types: ResultTypes(types),
        };
        self.append(&call.into_parts(), span)
    }

    /// A call of an op: the op of this name, or an unknown one.
    pub(crate) fn call_op(
        &mut self,
        name: &str,
        args: &[ValueId],
        ty: &TypeRef,
        span: Span,
    ) -> Val {
        let registry = self.signatures.registry.clone();
        let Some(def) = registry.by_name(name) else {
            return match self.signature.dims.convert(ty) {
                Ok(ty) => self.custom(name, args, vec![ty], span)?.first().copied(),
                Err(message) => {
                    let help = "no op of this name is known, so its call must say its type";
                    self.problem_with_help(span, format!("call of `{name}`: {message}"), help);
                    None
                }
            };
        };
        let parts = self.op_parts(def, args, ty, span)?;
        let results = self.append(&parts, span)?;
        self.one_value(name, &results, ty, span)
    }

    fn op_parts(
        &mut self,
        def: &OpDef,
        args: &[ValueId],
        ty: &TypeRef,
        span: Span,
    ) -> Option<OpParts> {
        let refusal = if def.terminator {
            Some("it ends a body".to_owned())
        } else if !def.regions.is_empty() {
            Some("it has regions, which a call cannot give".to_owned())
        } else {
            let needed = |attr: &&AttrDef| attr.default.is_none();
            let missing = def.attrs.iter().find(needed);
            missing.map(|attr| {
                format!("it needs the attribute `{}`, which a call cannot give", attr.name)
            })
        };
        if let Some(message) = refusal {
            self.problem(span, format!("call of `{}`: {message}", def.name));
            return None;
        }
        let mut parts = OpParts::new(OpKey::of(def.name));
        parts.operands.extend(args.iter().copied());
        parts.attrs.extend(def.attrs.iter().filter_map(|attr| attr.default.clone()));
        if def.attrs.iter().any(|attr| attr.kind == AttrKind::ResultType) {
            match self.signature.dims.convert(ty) {
                Ok(ty) => parts.declared_types.push(ty),
                Err(message) => {
                    let help =
                        "the result of this op is not inferred, so its call must say its type";
                    let message = format!("call of `{}`: {message}", def.name);
                    self.problem_with_help(span, message, help);
                    return None;
                }
            }
        }
        Some(parts)
    }

    /// An op that is not registered: of the same name if that says its dialect, a custom call otherwise.
    pub(crate) fn custom(
        &mut self,
        name: &str,
        args: &[ValueId],
        types: Vec<ValueType>,
        span: Span,
    ) -> Option<Vec<ValueId>> {
        if is_dialect_name(name) {
            let mut parts = OpParts::new(OpKey::of(name));
            parts.operands.extend(args.iter().copied());
            parts.attrs.push(Attr::dict(Vec::new()));
            parts.declared_types = types;
            return self.append(&parts, span);
        }
        let call = CustomCall {
            args: args.iter().copied().collect(),
            target: name.into(),
            config: None,
            has_side_effect: true,
            types: ResultTypes(types),
        };
        self.append(&call.into_parts(), span)
    }

    /// The value of a call with these results, checked against the type that the call has.
    fn one_value(&mut self, name: &str, results: &[ValueId], ty: &TypeRef, span: Span) -> Val {
        let value = match *results {
            [one] => one,
            _ => self.make_tuple(results, span)?,
        };
        if ty.is_unknown() {
            return Some(value);
        }
        let found = self.value_type(value);
        match self.signature.dims.convert(ty) {
            Ok(stated) if !found.compatible(&stated) => {
                let message = format!("`{name}` gives {found}, but the call has the type {stated}");
                self.problem(span, message);
                None
            }
            // A type that is known in part only says nothing against it.
            _ => Some(value),
        }
    }
}

/// Whether an op of this name may stand unregistered in a program: words with dots between them.
fn is_dialect_name(name: &str) -> bool {
    let word = |part: &str| {
        part.starts_with(|c: char| c.is_ascii_alphabetic() || c == '_')
            && part.bytes().all(|b| b.is_ascii_alphanumeric() || b == b'_')
    };
    name.contains('.') && name.split('.').all(word)
}
