//! Calls of functions, of registered ops and of unregistered ops.

use sapwood_ir::ops::{attr_dict, correction, op_attrs, op_regions};
use sapwood_ir::{Callee, TypeRef};
use sapwood_ptir::ops::{Call, CustomCall};
use sapwood_ptir::{
    Attr, AttrKind, Name, Op, OpDef, OpError, OpKey, OpParts, ResultTypes, ValueId, ValueType,
};
use sapwood_types::Span;

use crate::function::FunctionLowering;
use crate::scope::LoweredValue;

impl<'a> FunctionLowering<'a> {
    /// Lowers a call of a function; several results become one tuple.
    pub(crate) fn lower_function_call(
        &mut self,
        name: &str,
        args: &[ValueId],
        ty: &TypeRef,
        span: Span,
    ) -> LoweredValue {
        let results = self.emit_function_call(name, args, span)?;
        self.single_result(name, &results, ty, span)
    }

    /// Emits a call of a function and returns all its results.
    pub(crate) fn emit_function_call(
        &mut self,
        name: &str,
        args: &[ValueId],
        span: Span,
    ) -> Option<Vec<ValueId>> {
        let callee = self.signatures.get(name)?;
        let Some(types) = &callee.types else {
            self.report(span, format!("call of `{name}`: its types cannot be lowered"));
            return None;
        };
        let found: Vec<&ValueType> = args.iter().map(|&arg| self.value_type(arg)).collect();
        let types = match types.result_types_for(&found) {
            Ok(types) => types,
            Err(message) => {
                self.report(span, format!("call of `{name}`: {message}"));
                return None;
            }
        };
        let call = Call {
            args: args.iter().copied().collect(),
            callee: Name::new(name),
            has_side_effect: callee.has_effects,
            types: ResultTypes(types),
        };
        self.append(&call.into_parts(), span)
    }

    /// Lowers a call of an op, registered or not.
    pub(crate) fn lower_op_call(
        &mut self,
        callee: &Callee,
        args: &[ValueId],
        ty: &'a TypeRef,
        span: Span,
    ) -> LoweredValue {
        let name = callee.name();
        let registry = self.signatures.registry.clone();
        let Some(def) = registry.by_name(name) else {
            return match self.signature.dims.convert(ty) {
                Ok(ty) => self.lower_unregistered_op(callee, args, ty, span),
                Err(message) => {
                    let help = match correction(&registry, name) {
                        Some(correction) => {
                            format!("no op of this name is registered; {correction}")
                        }
                        None => "no op of this name is registered, so the call must state its type"
                            .into(),
                    };
                    self.report_with_help(span, format!("call of `{name}`: {message}"), help);
                    None
                }
            };
        };
        let has_attrs = matches!(callee.attrs(), Some(attrs) if !attrs.is_empty());
        if !has_attrs && let Some(value) = self.lower_open_result(def.name, args, ty, span) {
            return value;
        }
        let parts = self.op_parts(def, callee, args, ty, span)?;
        let results = self.append(&parts, span)?;
        self.single_result(name, &results, ty, span)
    }

    fn op_parts(
        &mut self,
        def: &OpDef,
        callee: &Callee,
        args: &[ValueId],
        ty: &TypeRef,
        span: Span,
    ) -> Option<OpParts> {
        let declared = self.signature.dims.convert(ty);
        let mut parts = OpParts::new(OpKey::of(def.name));
        parts.operands.extend(args.iter().copied());
        match op_attrs(def, callee.attrs(), declared.as_ref().ok()) {
            Ok(attrs) => parts.attrs = attrs,
            Err(error) => {
                self.report_op_error(def.name, error, span);
                return None;
            }
        }
        let operands: Vec<&ValueType> = args.iter().map(|&arg| self.value_type(arg)).collect();
        let regions = op_regions(&self.signatures.registry, def, callee.attrs(), &operands);
        let written = regions.and_then(|regions| {
            regions.iter().map(|region| region.write(&mut self.writer, span)).collect()
        });
        match written {
            Ok(bodies) => parts.regions = bodies,
            Err(error) => {
                self.report_op_error(def.name, error, span);
                return None;
            }
        }
        if def.attrs.iter().any(|attr| attr.kind == AttrKind::ResultType) {
            match declared {
                Ok(ty) => parts.result_types.push(ty),
                Err(message) => {
                    let help =
                        "the result type of this op is not inferred, so the call must state it";
                    let message = format!("call of `{}`: {message}", def.name);
                    self.report_with_help(span, message, help);
                    return None;
                }
            }
        }
        Some(parts)
    }

    fn report_op_error(&mut self, name: &str, error: OpError, span: Span) {
        let message = format!("call of `{name}`: {}", error.message);
        match error.help {
            Some(help) => self.report_with_help(span, message, help),
            None => self.report(span, message),
        }
    }

    /// Lowers a call of an unregistered op with its attributes.
    fn lower_unregistered_op(
        &mut self,
        callee: &Callee,
        args: &[ValueId],
        ty: ValueType,
        span: Span,
    ) -> LoweredValue {
        let name = callee.name();
        match attr_dict(callee.attrs()) {
            Ok(Attr::Dict(entries)) if !entries.is_empty() && !is_dialect_name(name) => {
                let help =
                    "only an op with a dialect in its name, such as `my.op`, may have attributes";
                let message = format!("call of `{name}`: no op of this name is registered");
                self.report_with_help(span, message, help);
                None
            }
            Ok(attrs) => {
                self.emit_unregistered(name, args, attrs, vec![ty], span)?.first().copied()
            }
            Err(error) => {
                self.report_op_error(name, error, span);
                None
            }
        }
    }

    /// Emits an unregistered op without attributes.
    pub(crate) fn emit_unregistered_op(
        &mut self,
        name: &str,
        args: &[ValueId],
        types: Vec<ValueType>,
        span: Span,
    ) -> Option<Vec<ValueId>> {
        self.emit_unregistered(name, args, Attr::dict(Vec::new()), types, span)
    }

    /// Emits an unregistered op: under its own name if that contains a dialect, as a `custom_call` otherwise.
    fn emit_unregistered(
        &mut self,
        name: &str,
        args: &[ValueId],
        attrs: Attr,
        types: Vec<ValueType>,
        span: Span,
    ) -> Option<Vec<ValueId>> {
        if is_dialect_name(name) {
            let mut parts = OpParts::new(OpKey::of(name));
            parts.operands.extend(args.iter().copied());
            parts.attrs.push(attrs);
            parts.result_types = types.into();
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

    /// Returns the results of a call as one value, checked against the declared type of the call.
    fn single_result(
        &mut self,
        name: &str,
        results: &[ValueId],
        ty: &TypeRef,
        span: Span,
    ) -> LoweredValue {
        let value = match *results {
            [one] => one,
            _ => self.make_tuple(results, span)?,
        };
        if ty.is_unknown() {
            return Some(value);
        }
        let found = self.value_type(value);
        match self.signature.dims.convert(ty) {
            Ok(declared) if !found.compatible(&declared) => {
                let message =
                    format!("`{name}` returns {found}, but the call has the type {declared}");
                self.report(span, message);
                None
            }
            // A declared type that cannot be converted is not checked.
            _ => Some(value),
        }
    }
}

/// Returns whether a name has the form `dialect.op`, which PTIR allows for an unregistered op.
fn is_dialect_name(name: &str) -> bool {
    let word = |part: &str| {
        part.starts_with(|c: char| c.is_ascii_alphabetic() || c == '_')
            && part.bytes().all(|b| b.is_ascii_alphanumeric() || b == b'_')
    };
    name.contains('.') && name.split('.').all(word)
}
