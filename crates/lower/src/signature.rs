//! What callers know of the functions of a program: types, and whether they have effects.

use std::sync::Arc;

use hashbrown::HashMap;
use rustc_hash::FxBuildHasher;
use sapwood_ir::{Callee, Function, FunctionRef, Program};
use sapwood_ptir::{Dim, EffectRule, Effects, Name, Registry, ValueType};
use sapwood_types::{Diagnostic, Diagnostics, Span};

use crate::Set;
use crate::survey::Survey;
use crate::types::DimNames;

pub(crate) struct Signatures<'a> {
    pub(crate) registry: Arc<Registry>,
    functions: HashMap<&'a str, Signature<'a>, FxBuildHasher>,
}

pub(crate) struct Signature<'a> {
    /// None if it cannot be lowered.
    pub(crate) survey: Option<Survey<'a>>,
    pub(crate) dims: DimNames,
    /// None if a type cannot be lowered.
    pub(crate) types: Option<FunctionTypes>,
    /// Whether a call of it must stay where it is.
    pub(crate) effects: bool,
    /// Why it cannot be lowered, as far as its body was not looked at.
    pub(crate) problems: Diagnostics,
}

pub(crate) struct FunctionTypes {
    pub(crate) params: Vec<ValueType>,
    pub(crate) results: Vec<ValueType>,
}

impl<'a> Signatures<'a> {
    pub(crate) fn new(program: &'a Program, registry: &Arc<Registry>) -> Self {
        let mut functions: HashMap<&'a str, Signature<'a>, FxBuildHasher> = HashMap::default();
        for function in program.functions() {
            functions.insert(&function.name, Signature::new(function));
        }
        let mut signatures = Self { registry: registry.clone(), functions };
        for (name, effects, recursion) in signatures.effects(program) {
            if let Some(signature) = signatures.functions.get_mut(name) {
                signature.effects = effects;
                signature.problems.append(recursion);
            }
        }
        signatures
    }

    pub(crate) fn get(&self, name: &str) -> Option<&Signature<'a>> {
        self.functions.get(name)
    }

    /// Whether calling an op must stay where it is: unknown ones must.
    pub(crate) fn op_has_effects(&self, name: &str) -> bool {
        match self.registry.by_name(name) {
            Some(def) => def.effects != EffectRule::Always(Effects::Pure),
            None => true,
        }
    }

    /// Follows the calls, depth first, for effects; a call of a function that is being followed is a recursion.
    fn effects(&self, program: &'a Program) -> Vec<(&'a str, bool, Diagnostics)> {
        let functions: Vec<&'a FunctionRef> = program.functions().collect();
        let index: HashMap<&str, usize, FxBuildHasher> =
            functions.iter().enumerate().map(|(i, f)| (&*f.name, i)).collect();
        let mut effects = vec![false; functions.len()];
        let mut problems: Vec<Diagnostics> = functions.iter().map(|_| Diagnostics::new()).collect();
        let (mut active, mut done) = (Set::default(), Set::default());
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
                    Callee::Op { name } => effects[at] |= self.op_has_effects(name),
                    Callee::GlobalVar { name } => match index.get(&**name) {
                        Some(to) if active.contains(to) => {
                            let message = if *to == at {
                                format!("`{name}` calls itself")
                            } else {
                                format!("`{}` calls itself through `{name}`", functions[at].name)
                            };
                            let help = "functions of PTIR do not recurse; use a loop";
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
        self.get(name).and_then(|s| s.survey.as_ref()).map_or(&[], Survey::calls)
    }
}

impl<'a> Signature<'a> {
    fn new(function: &'a Function) -> Self {
        let mut problems = Diagnostics::new();
        let survey = match Survey::new(function) {
            Ok(survey) => Some(survey),
            Err(count) => {
                let message = format!(
                    "the shared statements of `{}` stand for {count} statements, too many to take apart",
                    function.name
                );
                problems.error(function.span, message);
                None
            }
        };
        let dims = survey.as_ref().map(|s| DimNames::new(function, s)).unwrap_or_default();
        let mut convert = |what: String, span: Span, ty| match dims.convert(ty) {
            Ok(ty) => Some(ty),
            Err(message) => {
                let span = if span.is_unknown() { function.span } else { span };
                let diagnostic = Diagnostic::error(span, format!("{what}: {message}"));
                problems.push(
                    diagnostic.with_help("functions state the types of what they take and return"),
                );
                None
            }
        };
        let params: Vec<Option<ValueType>> = function
            .params
            .iter()
            .map(|p| convert(format!("parameter `{}`", p.name()), p.span(), p.ty()))
            .collect();
        let results: Vec<Option<ValueType>> = function
            .return_types
            .iter()
            .enumerate()
            .map(|(i, ty)| convert(format!("result {i} of `{}`", function.name), function.span, ty))
            .collect();
        let params: Option<Vec<ValueType>> = params.into_iter().collect();
        let results: Option<Vec<ValueType>> = results.into_iter().collect();
        let types = params.zip(results).map(|(params, results)| FunctionTypes { params, results });
        Self { survey, dims, types, effects: false, problems }
    }
}

impl FunctionTypes {
    /// The types of the results for these arguments: symbols are bound by the arguments, others are unknown.
    pub(crate) fn call(&self, args: &[&ValueType]) -> Result<Vec<ValueType>, String> {
        let mut bound: HashMap<Name, Dim, FxBuildHasher> = HashMap::default();
        for (n, (param, arg)) in self.params.iter().zip(args).enumerate() {
            bind(param, arg, &mut bound)
                .ok_or_else(|| format!("argument {n} is {arg}, expected {param}"))?;
        }
        let known = |dim| match dim {
            Dim::Named(name) => bound.get(&name).copied().unwrap_or(Dim::Unknown),
            other => other,
        };
        Ok(self.results.iter().map(|ty| ty.map_dims(&mut |dim| known(dim))).collect())
    }
}

// Types nest at most 64 deep.
fn bind(
    param: &ValueType,
    arg: &ValueType,
    bound: &mut HashMap<Name, Dim, FxBuildHasher>,
) -> Option<()> {
    match (param, arg) {
        (ValueType::Tensor(p), ValueType::Tensor(a)) => {
            if p.dtype != a.dtype || p.rank() != a.rank() {
                return None;
            }
            for (&dim, &found) in p.dims.iter().zip(&a.dims) {
                match dim {
                    Dim::Named(name) => {
                        let so_far = *bound.entry(name).or_insert(found);
                        bound.insert(name, so_far.unify(found)?);
                    }
                    other => {
                        other.unify(found)?;
                    }
                }
            }
            Some(())
        }
        (ValueType::Tuple(p), ValueType::Tuple(a)) if p.len() == a.len() => {
            p.iter().zip(a.iter()).try_for_each(|(p, a)| bind(p, a, bound))
        }
        (ValueType::Token, ValueType::Token) => Some(()),
        _ => None,
    }
}
