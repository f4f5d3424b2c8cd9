//! The verifier: every instruction on its own, and the program as a whole. Collects all problems.

use hashbrown::{HashMap, HashSet};
use rustc_hash::FxBuildHasher;
use sapwood_types::{Diagnostic, Diagnostics};

use crate::attr::Attr;
use crate::func::{Function, ValueDef};
use crate::ids::{BodyId, InstId};
use crate::name::Name;
use crate::op::{AttrDef, Effects, Op, OpError, check_attrs};
use crate::program::Program;
use crate::types::{Dim, MAX_EXTENT, ValueType};

/// Checks a program.
///
/// # Errors
/// With all problems found, up to a limit.
pub fn verify(program: &Program) -> Result<(), Diagnostics> {
    let mut problems = Diagnostics::new();
    for function in program.functions() {
        check_function(function, &mut problems, true);
    }
    check_calls(program, &mut problems);
    problems.into_result(())
}

/// Checks one function, calls left aside.
///
/// # Errors
/// With all problems found, up to a limit.
pub fn verify_function(function: &Function) -> Result<(), Diagnostics> {
    let mut problems = Diagnostics::new();
    check_function(function, &mut problems, true);
    problems.into_result(())
}

// `whole` is false when parts of the function could not be read: then only what is there is checked.
pub(crate) fn check_function(function: &Function, problems: &mut Diagnostics, whole: bool) {
    let checker = Checker { function };
    if whole {
        checker.body(function.body(), None, problems);
        checker.results(problems);
    }
    if function.types.any_excessive() {
        checker.extents(problems);
    }
    for inst in function.walk() {
        checker.inst(inst, problems, whole);
    }
}

struct Checker<'a> {
    function: &'a Function,
}

impl Checker<'_> {
    // Without a span the instruction is shown, which takes as long as printing the function: only for what is kept.
    fn push(&self, problems: &mut Diagnostics, inst: InstId, error: &OpError) {
        let shown = problems.dropped() == 0;
        problems.push(self.error(inst, error, shown));
    }

    fn error(&self, inst: InstId, error: &OpError, shown: bool) -> Diagnostic {
        let f = self.function;
        let message = format!("{}: {}", f.op_name(inst), error.message);
        let mut diagnostic = Diagnostic::error(f.inst_span(inst), message);
        if shown && f.inst_span(inst).is_unknown() {
            diagnostic = diagnostic.with_note(format!(
                "in @{}: {}",
                f.name(),
                crate::text::print_inst(f, inst)
            ));
        }
        match &error.help {
            Some(help) => diagnostic.with_help(help.clone()),
            None => diagnostic,
        }
    }

    fn inst(&self, inst: InstId, problems: &mut Diagnostics, whole: bool) {
        let f = self.function;
        let report = |problems: &mut Diagnostics, message: String| {
            self.push(problems, inst, &OpError::new(message));
        };
        // Definition before use, across nesting.
        for (n, &value) in f.operands(inst).iter().enumerate() {
            if !f.is_live_value(value) {
                report(problems, format!("operand {n} is {value}, which does not exist"));
                return;
            }
            let fine = match f.value_def(value) {
                ValueDef::Result(def, _) => f.dominates(def, inst),
                ValueDef::Param(body, _) => f.encloses(body, inst),
            };
            if !fine {
                report(problems, format!("operand {n} is not defined before it on every way here"));
            }
        }
        for &body in f.regions(inst) {
            if whole {
                self.body(body, Some(inst), problems);
            }
        }
        match f.op_def(inst) {
            Some(def) => {
                if def.terminator && f.next_inst(inst).is_some() {
                    report(problems, "it must be the last of its body".into());
                }
                let attrs = f.attrs(inst);
                let holds = |(attr, row): (&Attr, &AttrDef)| {
                    row.kind.holds(attr) || (*attr == Attr::Unit && row.default == Some(Attr::Unit))
                };
                if attrs.len() != def.attrs.len() || !attrs.iter().zip(&def.attrs).all(holds) {
                    match check_attrs(def, attrs) {
                        Ok(_) => report(
                            problems,
                            "its attributes are not in the form of the table".into(),
                        ),
                        Err(error) => self.push(problems, inst, &error),
                    }
                    return;
                }
            }
            None => {
                let name = f.op_name(inst);
                if !name.contains('.') || !crate::text::is_word(name) {
                    report(
                        problems,
                        format!("`{name}` is not registered and not of the form `dialect.name`"),
                    );
                }
                if !matches!(&f.attrs(inst)[..], [Attr::Dict(_)]) {
                    report(problems, "an unregistered op has one dictionary of attributes".into());
                }
                return;
            }
        }
        if !whole && f.regions(inst).iter().any(|&b| f.terminator(b).is_none()) {
            return;
        }
        let types = match f.infer(inst) {
            Ok(types) => types,
            Err(error) => {
                self.push(problems, inst, &error);
                return;
            }
        };
        let stated = f.inst_results(inst);
        if types.len() != stated.len() {
            report(
                problems,
                format!("it has {} result(s), but {} are stated", types.len(), stated.len()),
            );
            return;
        }
        for (n, (inferred, value)) in types.iter().zip(stated).enumerate() {
            let stated = f.value_type(value);
            if inferred != stated && !inferred.compatible(stated) {
                let which =
                    if types.len() > 1 { format!("result {n}") } else { "the result".into() };
                report(problems, format!("{which} is {inferred}, but {stated} is stated"));
            }
        }
    }

    // No type in use has an extent that the text form could not state. What ops infer is looked at with them.
    fn extents(&self, problems: &mut Diagnostics) {
        let f = self.function;
        let excess = |ty: &ValueType| {
            let n = ty.excessive_extent()?;
            Some(format!("an extent is at most {MAX_EXTENT}, one of {ty} is {n}"))
        };
        let params = f.params().iter().map(|&v| ("a parameter", f.value_type(v)));
        let results = f.result_types().into_iter().map(|ty| ("a result", ty));
        for (what, ty) in params.chain(results) {
            if let Some(message) = excess(ty) {
                problems.error(f.span(), format!("{what} of @{}: {message}", f.name()));
            }
        }
        for inst in f.walk() {
            let inner = f.regions(inst).iter().flat_map(|&b| f.body_params(b)).copied();
            let stated = f.inst_results(inst);
            for value in stated.chain(inner) {
                if let Some(message) = excess(f.value_type(value)) {
                    self.push(problems, inst, &OpError::new(message));
                }
            }
        }
    }

    // Bodies end in the right terminator.
    fn body(&self, body: BodyId, owner: Option<InstId>, problems: &mut Diagnostics) {
        let f = self.function;
        let expected = if owner.is_some() { "yield" } else { "return" };
        let last = f.last_inst(body);
        let fine = last.is_some_and(|last| {
            if owner.is_some() {
                f.is::<crate::ops::Yield>(last)
            } else {
                f.is::<crate::ops::Return>(last)
            }
        });
        if fine {
            return;
        }
        let (span, what) = match (last, owner) {
            (_, Some(owner)) => (f.inst_span(owner), format!("a region of {}", f.op_name(owner))),
            (Some(last), None) => (f.inst_span(last), format!("function @{}", f.name())),
            (None, None) => (f.span(), format!("function @{}", f.name())),
        };
        let found = match last {
            Some(last) => format!("`{}`", f.op_name(last)),
            None => "nothing".into(),
        };
        problems.error(span, format!("{what} must end in `{expected}`, but ends in {found}"));
    }

    // What is returned is what the signature says.
    fn results(&self, problems: &mut Diagnostics) {
        let f = self.function;
        let Some(last) = f.terminator(f.body()) else { return };
        let (stated, found) = (f.result_types(), f.operands(last));
        if stated.len() != found.len() {
            let message = format!("@{} states {} result(s)", f.name(), stated.len());
            let error =
                OpError::new(format!("{} value(s) are returned, but {message}", found.len()));
            self.push(problems, last, &error);
            return;
        }
        for (n, (&stated, &value)) in stated.iter().zip(found).enumerate() {
            let found = f.value_type(value);
            if !found.compatible(stated) {
                let error = OpError::new(format!(
                    "operand {n} is {found}, but @{} states {stated}",
                    f.name()
                ));
                self.push(problems, last, &error);
            }
        }
    }
}

/// Checks call targets, signatures and that functions do not call themselves.
pub(crate) fn check_calls(program: &Program, problems: &mut Diagnostics) {
    let key = crate::ops::Call::key();
    let with_effects = program.with_effects();
    let mut graph: Vec<(Name, Vec<(Name, InstId)>)> = Vec::new();
    for function in program.functions() {
        let mut callees = Vec::new();
        for inst in function.walk() {
            if function.op_key(inst) != key {
                continue;
            }
            let Some(Attr::Func(callee)) = function.attrs(inst).first() else { continue };
            callees.push((*callee, inst));
            let checker = Checker { function };
            match program.function(*callee) {
                None => {
                    let names = program.functions().iter().map(|f| f.name().as_str());
                    let mut error = OpError::new(format!("there is no function @{callee}"));
                    if let Some(near) = sapwood_types::did_you_mean(callee.as_str(), names) {
                        error = error.with_help(format!("did you mean `@{near}`?"));
                    }
                    checker.push(problems, inst, &error);
                }
                Some(target) => {
                    for error in check_signature(function, inst, target) {
                        checker.push(problems, inst, &error);
                    }
                    if function.own_effects(inst) == Effects::Pure && with_effects.contains(callee)
                    {
                        let error = OpError::new(format!(
                            "`has_side_effect` is false, but @{callee} has ordered instructions"
                        ));
                        checker.push(problems, inst, &error);
                    }
                }
            }
        }
        graph.push((function.name(), callees));
    }
    check_recursion(program, &graph, problems);
}

// Named dims of the callee are bound by the arguments and then stand for the same number everywhere.
fn check_signature(f: &Function, inst: InstId, target: &Function) -> Vec<OpError> {
    let mut errors = Vec::new();
    let mut bound: HashMap<Name, Dim, FxBuildHasher> = HashMap::default();
    let (args, params) = (f.operands(inst), target.params());
    let name = target.name();
    if args.len() != params.len() {
        errors.push(OpError::new(format!(
            "@{name} takes {} argument(s), found {}",
            params.len(),
            args.len()
        )));
        return errors;
    }
    for (n, (&arg, &param)) in args.iter().zip(params).enumerate() {
        if let Err(why) = bind(target.value_type(param), f.value_type(arg), &mut bound) {
            errors.push(OpError::new(format!("argument {n} of @{name}: {why}")));
        }
    }
    let (results, expected) = (f.inst_results(inst), target.result_types());
    if results.len() != expected.len() {
        errors.push(OpError::new(format!(
            "@{name} has {} result(s), found {}",
            expected.len(),
            results.len()
        )));
        return errors;
    }
    for (n, (value, &ty)) in results.zip(&expected).enumerate() {
        let ty = substitute(ty, &bound);
        let stated = f.value_type(value);
        if !ty.compatible(stated) {
            errors.push(OpError::new(format!(
                "result {n} of @{name} is {ty}, but {stated} is stated"
            )));
        }
    }
    errors
}

/// Binds the named dims of a parameter type by an argument type.
pub(crate) fn bind(
    param: &ValueType,
    arg: &ValueType,
    bound: &mut HashMap<Name, Dim, FxBuildHasher>,
) -> Result<(), String> {
    match (param, arg) {
        (ValueType::Tensor(p), ValueType::Tensor(a)) => {
            if p.dtype != a.dtype || p.rank() != a.rank() {
                return Err(format!("expected {p}, found {a}"));
            }
            for (axis, (&dim, &found)) in p.dims.iter().zip(&a.dims).enumerate() {
                let expected = match dim {
                    Dim::Named(name) => *bound.entry(name).or_insert(found),
                    other => other,
                };
                match expected.meet(found) {
                    None => {
                        return Err(format!(
                            "expected {p}, found {a}: axis {axis} is {found}, not {expected}"
                        ));
                    }
                    Some(more) => {
                        if let Dim::Named(name) = dim {
                            bound.insert(name, more);
                        }
                    }
                }
            }
            Ok(())
        }
        (ValueType::Tuple(p), ValueType::Tuple(a)) if p.len() == a.len() => {
            p.iter().zip(a.iter()).try_for_each(|(p, a)| bind(p, a, bound))
        }
        (ValueType::Token, ValueType::Token) => Ok(()),
        _ => Err(format!("expected {param}, found {arg}")),
    }
}

/// A type of the callee as the caller sees it. Symbols that no argument binds are unknown there.
pub(crate) fn substitute(ty: &ValueType, bound: &HashMap<Name, Dim, FxBuildHasher>) -> ValueType {
    ty.map_dims(&mut |dim| match dim {
        Dim::Named(name) => bound.get(&name).copied().unwrap_or(Dim::Unknown),
        other => other,
    })
}

// Depth first over the call graph with a stack of our own; a call to a function that is being visited closes a cycle.
fn check_recursion(
    program: &Program,
    graph: &[(Name, Vec<(Name, InstId)>)],
    problems: &mut Diagnostics,
) {
    let index: HashMap<Name, usize, FxBuildHasher> =
        graph.iter().enumerate().map(|(i, (name, _))| (*name, i)).collect();
    let mut done: HashSet<usize, FxBuildHasher> = HashSet::default();
    let mut active = vec![false; graph.len()];
    for root in 0..graph.len() {
        let mut stack = vec![(root, 0usize)];
        while let Some((at, next)) = stack.pop() {
            if next == 0 {
                if done.contains(&at) {
                    continue;
                }
                active[at] = true;
            }
            let Some(&(callee, inst)) = graph[at].1.get(next) else {
                active[at] = false;
                done.insert(at);
                continue;
            };
            stack.push((at, next + 1));
            let Some(&to) = index.get(&callee) else { continue };
            if active[to] {
                let function = &program.functions()[at];
                let error =
                    OpError::new(format!("@{} calls itself through @{callee}", function.name()))
                        .with_help("functions do not recurse; use `while`");
                Checker { function }.push(problems, inst, &error);
            } else if !done.contains(&to) {
                stack.push((to, 0));
            }
        }
    }
}
