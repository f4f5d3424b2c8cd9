//! Signatures of functions as their callers see them: types, and whether a call has effects.

use std::sync::Arc;

use hashbrown::HashMap;
use rustc_hash::FxBuildHasher;
use sapwood_ir::{Callee, Function, FunctionRef, Program};
use sapwood_ptir::dims::SymbolBindings;
use sapwood_ptir::{EffectRule, Effects, Registry, ValueType};
use sapwood_types::{Diagnostic, Diagnostics, Span};

use crate::IdSet;
use crate::summary::LoweringSummary;
use crate::types::{DimTie, ParamDims};
use sapwood_ir::ops::DimSymbols;

/// The signatures of all functions of a program.
pub(crate) struct ProgramSignatures<'a> {
    pub(crate) registry: Arc<Registry>,
    functions: HashMap<&'a str, FunctionSignature<'a>, FxBuildHasher>,
}

/// The types and effects of a function.
pub(crate) struct FunctionSignature<'a> {
    /// None if the function cannot be lowered.
    pub(crate) summary: Option<LoweringSummary<'a>>,
    pub(crate) dims: DimSymbols,
    /// The dims of parameters whose values are compared with the extents.
    pub(crate) ties: Vec<DimTie<'a>>,
    /// None if a type cannot be lowered.
    pub(crate) types: Option<FunctionTypes>,
    /// True if a call of the function must not be moved, removed or shared.
    pub(crate) has_effects: bool,
    /// The errors found without lowering the body.
    pub(crate) problems: Diagnostics,
}

/// The PTIR types of the parameters and results of a function.
pub(crate) struct FunctionTypes {
    pub(crate) params: Vec<ValueType>,
    pub(crate) results: Vec<ValueType>,
}

impl<'a> ProgramSignatures<'a> {
    pub(crate) fn new(program: &'a Program, registry: &Arc<Registry>) -> Self {
        let mut functions: HashMap<&'a str, FunctionSignature<'a>, FxBuildHasher> =
            HashMap::default();
        for function in program.functions() {
            functions.insert(&function.name, FunctionSignature::new(function));
        }
        let mut signatures = Self { registry: registry.clone(), functions };
        for (name, effects, recursion) in signatures.find_effects_and_recursion(program) {
            if let Some(signature) = signatures.functions.get_mut(name) {
                signature.has_effects = effects;
                signature.problems.append(recursion);
            }
        }
        signatures
    }

    pub(crate) fn get(&self, name: &str) -> Option<&FunctionSignature<'a>> {
        self.functions.get(name)
    }

    /// Returns whether a call of an op has effects; an unregistered op is assumed to have some.
    pub(crate) fn op_has_effects(&self, name: &str) -> bool {
        match self.registry.by_name(name) {
            Some(def) => def.effects != EffectRule::Always(Effects::Pure),
            None => true,
        }
    }

    /// Follows the calls depth first to find which functions have effects, and reports recursion.
    fn find_effects_and_recursion(
        &self,
        program: &'a Program,
    ) -> Vec<(&'a str, bool, Diagnostics)> {
        let functions: Vec<&'a FunctionRef> = program.functions().collect();
        let index: HashMap<&str, usize, FxBuildHasher> =
            functions.iter().enumerate().map(|(i, f)| (&*f.name, i)).collect();
        let mut effects = vec![false; functions.len()];
        let mut problems: Vec<Diagnostics> = functions.iter().map(|_| Diagnostics::new()).collect();
        let (mut active, mut done) = (IdSet::default(), IdSet::default());
        for root in 0..functions.len() {
            let mut stack = vec![(root, 0)];
            while let Some((at, next)) = stack.pop() {
                if next == 0 && !done.insert(at) {
                    continue;
                }
                active.insert(at);
                let calls = self.calls(&functions[at].name);
                let Some(&(callee, span)) = calls.get(next) else {
                    active.remove(&at);
                    if let Some(&(caller, _)) = stack.last() {
                        effects[caller] |= effects[at];
                    }
                    continue;
                };
                stack.push((at, next + 1));
                match callee {
                    Callee::Op { name, .. } => effects[at] |= self.op_has_effects(name),
                    Callee::GlobalVar { name, .. } => match index.get(&**name) {
                        Some(to) if active.contains(to) => {
                            let message = if *to == at {
                                format!("`{name}` calls itself")
                            } else {
                                format!("`{}` calls itself through `{name}`", functions[at].name)
                            };
                            let help = "PTIR functions cannot recurse; use a loop";
                            problems[at].push(Diagnostic::error(span, message).with_help(help));
                        }
                        Some(&to) if done.contains(&to) => effects[at] |= effects[to],
                        Some(&to) => stack.push((to, 0)),
                        None => {}
                    },
                }
            }
        }
        let names = functions.iter().map(|f| &*f.name);
        names.zip(effects).zip(problems).map(|((name, e), problems)| (name, e, problems)).collect()
    }

    fn calls(&self, name: &str) -> &[(&'a Callee, Span)] {
        self.get(name).and_then(|s| s.summary.as_ref()).map_or(&[], LoweringSummary::calls)
    }
}

impl<'a> FunctionSignature<'a> {
    fn new(function: &'a Function) -> Self {
        let mut problems = Diagnostics::new();
        let summary = match LoweringSummary::new(function) {
            Ok(summary) => Some(summary),
            Err(count) => {
                let message = format!(
                    "`{}` shares statements: written out they are {count} statements, too many to lower",
                    function.name
                );
                problems.error(function.span, message);
                None
            }
        };
        let ParamDims { symbols: dims, types, ties } =
            summary.as_ref().map(|s| ParamDims::new(function, s)).unwrap_or_default();
        let mut checked = |subject: String, span: Span, ty| match ty {
            Ok(ty) => Some(ty),
            Err(message) => {
                let span = if span.is_unknown() { function.span } else { span };
                let diagnostic = Diagnostic::error(span, format!("{subject}: {message}"));
                problems
                    .push(diagnostic.with_help("declare the types of all parameters and results"));
                None
            }
        };
        let params: Vec<Option<ValueType>> = function
            .params
            .iter()
            .zip(types)
            .map(|(p, ty)| checked(format!("parameter `{}`", p.name()), p.span(), ty))
            .collect();
        let results: Vec<Option<ValueType>> = function
            .return_types
            .iter()
            .enumerate()
            .map(|(i, ty)| {
                let subject = format!("result {i} of `{}`", function.name);
                checked(subject, function.span, dims.convert(ty))
            })
            .collect();
        let params: Option<Vec<ValueType>> = params.into_iter().collect();
        let results: Option<Vec<ValueType>> = results.into_iter().collect();
        let types = params.zip(results).map(|(params, results)| FunctionTypes { params, results });
        Self { summary, dims, ties, types, has_effects: false, problems }
    }
}

impl FunctionTypes {
    /// Returns the result types for these arguments: a symbol takes the argument's dim, or is unknown if no argument binds it.
    pub(crate) fn result_types_for(&self, args: &[&ValueType]) -> Result<Vec<ValueType>, String> {
        let pairs = self.params.iter().zip(args.iter().copied());
        let (bindings, errors) = SymbolBindings::of_call(pairs);
        if let Some((n, _)) = errors.first() {
            return Err(format!("argument {n} is {}, expected {}", args[*n], self.params[*n]));
        }
        Ok(self.results.iter().map(|ty| bindings.apply(ty)).collect())
    }
}
