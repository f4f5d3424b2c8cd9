//! The verifier: checks every instruction on its own, and the program as a whole. It collects all problems.

use std::cell::OnceCell;

use hashbrown::{HashMap, HashSet};
use rustc_hash::FxBuildHasher;
use sapwood_types::{Diagnostic, Diagnostics, counted};

use crate::attr::Attr;
use crate::dims::{Facts, SymbolBindings};
use crate::func::{Function, ValueDef};
use crate::ids::{BodyId, InstId, ValueId};
use crate::inference_memo::InferenceMemo;
use crate::name::Name;
use crate::op::{Effects, Op, OpError, check_attrs};
use crate::program::Program;
use crate::symbol_scope::check_symbol_scopes;

/// Verifies a program.
///
/// # Errors
/// If the program is invalid, with all problems found, up to a limit.
pub fn verify(program: &Program) -> Result<(), Diagnostics> {
    let mut problems = Diagnostics::new();
    // Debug builds check again what is marked as verified.
    let trusts_marks = !cfg!(debug_assertions);
    for (n, function) in program.functions().iter().enumerate() {
        let known = program.verified.has_function(n);
        if known && trusts_marks {
            continue;
        }
        let fine = check_function(function, &mut problems, &UnreadParts::default());
        debug_assert!(fine || !known, "an invalid function is marked as verified: {problems}");
        if fine {
            program.verified.mark_function(n);
        }
    }
    if !(program.verified.has_calls() && trusts_marks) {
        verify_calls_into(program, &mut problems, &OnceCell::new());
    }
    problems.into_result(())
}

// Verifies the calls of a program, and marks them if they are valid and so is everything else.
fn verify_calls_into(
    program: &Program,
    problems: &mut Diagnostics,
    functions_with_effects: &OnceCell<HashSet<Name, FxBuildHasher>>,
) {
    check_calls_with_effects(program, problems, &HashMap::default(), functions_with_effects);
    if problems.is_empty() {
        program.verified.mark_calls();
    }
}

/// Verifies the calls of a program, which [`verify_function`] skips: they fit the functions that they name, and no
/// function calls itself. `functions_with_effects` is the result of [`Program::functions_with_effects`].
///
/// # Errors
/// If a call is invalid, with all problems found, up to a limit.
pub fn verify_calls(
    program: &Program,
    functions_with_effects: HashSet<Name, FxBuildHasher>,
) -> Result<(), Diagnostics> {
    let mut problems = Diagnostics::new();
    verify_calls_into(program, &mut problems, &functions_with_effects.into());
    problems.into_result(())
}

/// Verifies one instruction of a function that may not be in the program: a call must fit the function that it names.
///
/// # Errors
/// With the first problem found.
pub fn verify_call(program: &Program, function: &Function, inst: InstId) -> Result<(), OpError> {
    if function.op_key(inst) != crate::ops::Call::key() {
        return Ok(());
    }
    let Some(Attr::Func(callee)) = function.attrs(inst).first() else { return Ok(()) };
    let found = check_call(program, function, inst, *callee, true);
    found.into_iter().next().map_or(Ok(()), Err)
}

/// Verifies one function, except its calls.
///
/// # Errors
/// If the function is invalid, with all problems found, up to a limit.
pub fn verify_function(function: &Function) -> Result<(), Diagnostics> {
    let mut problems = Diagnostics::new();
    check_function(function, &mut problems, &UnreadParts::default());
    problems.into_result(())
}

/// Verifies the properties of a function that inference did not check when its instructions were appended:
/// availability of values, terminators of bodies, returned values. Only for the instructions in `unchecked` it is not
/// yet known that their operands are available and that they have no regions.
pub(crate) fn verify_appended(
    function: &Function,
    unchecked: &[InstId],
) -> Result<(), Diagnostics> {
    let checker = FunctionVerifier { function, unread: &UnreadParts::default() };
    let check = |insts: &mut dyn Iterator<Item = InstId>| {
        let mut problems = Diagnostics::new();
        checker.check_body(function.body(), None, &mut problems);
        checker.check_results(&mut problems);
        check_symbol_scopes(function, &mut problems);
        if function.dfg.types.any_excessive() {
            checker.check_limits(&mut problems);
        }
        for inst in insts {
            checker.check_operands(inst, &mut problems);
            for &body in function.regions(inst) {
                checker.check_body(body, Some(inst), &mut problems);
            }
        }
        problems
    };
    if check(&mut unchecked.iter().copied()).is_empty() {
        return Ok(());
    }
    // On failure, everything is checked again in the order of the text.
    check(&mut function.walk()).into_result(())
}

/// The parts of a function that the parser could not read. The verifier skips them and checks the rest.
pub(crate) struct UnreadParts {
    /// The value that replaces every value whose definition or name could not be read.
    pub(crate) poison: ValueId,
    /// Instructions with problems of their own.
    pub(crate) insts: HashSet<InstId, FxBuildHasher>,
    /// Bodies whose end could not be read.
    pub(crate) bodies: HashSet<BodyId, FxBuildHasher>,
    /// Bodies whose parameters could not be read.
    pub(crate) params: HashSet<BodyId, FxBuildHasher>,
    /// True if the result types could not be read.
    pub(crate) signature: bool,
}

impl Default for UnreadParts {
    fn default() -> Self {
        Self {
            poison: ValueId::NONE,
            insts: HashSet::default(),
            bodies: HashSet::default(),
            params: HashSet::default(),
            signature: false,
        }
    }
}

impl UnreadParts {
    pub(crate) fn is_empty(&self) -> bool {
        self.poison.is_none()
            && self.insts.is_empty()
            && self.bodies.is_empty()
            && self.params.is_empty()
            && !self.signature
    }

    // Returns whether inference must skip an instruction, because it or the signature of one of its regions could not
    // be read.
    fn hides_from_inference(&self, f: &Function, inst: InstId) -> bool {
        if self.is_empty() {
            return false;
        }
        let poisoned =
            |inst: InstId| self.insts.contains(&inst) || f.operands(inst).contains(&self.poison);
        poisoned(inst)
            || f.regions(inst).iter().any(|b| {
                self.bodies.contains(b)
                    || self.params.contains(b)
                    || f.terminator(*b).is_some_and(poisoned)
            })
    }
}

/// Verifies a function apart from its calls, and returns whether it is valid.
pub(crate) fn check_function(
    function: &Function,
    problems: &mut Diagnostics,
    unread: &UnreadParts,
) -> bool {
    let start = count_problems(problems);
    let checker = FunctionVerifier { function, unread };
    let mut memo = InferenceMemo::new(function.num_insts());
    let all_read = unread.is_empty();
    checker.check_body(function.body(), None, problems);
    checker.check_results(problems);
    check_symbol_scopes(function, problems);
    if function.dfg.types.any_excessive() {
        checker.check_limits(problems);
    }
    for inst in function.walk() {
        if !checker.check_operands(inst, problems) {
            continue;
        }
        let simple = all_read && !function.has_regions(inst);
        if !simple {
            checker.check_inst(inst, problems);
            continue;
        }
        memo.accepts(function, inst, || {
            let before = count_problems(problems);
            checker.check_inst(inst, problems);
            // A terminator must be the last instruction of its body, which no type shows.
            count_problems(problems) == before
                && !function.op_def(inst).is_some_and(|def| def.terminator)
        });
    }
    count_problems(problems) == start
}

fn count_problems(problems: &Diagnostics) -> usize {
    problems.len() + problems.dropped()
}

/// Checks that an unregistered op may have this name.
pub(crate) fn check_unregistered(name: &str) -> Result<(), OpError> {
    if name.contains('.') && crate::text::is_word(name) {
        return Ok(());
    }
    let message = format!("`{name}` is not registered and not of the form `dialect.name`");
    Err(OpError::new(message))
}

struct FunctionVerifier<'a> {
    function: &'a Function,
    unread: &'a UnreadParts,
}

impl FunctionVerifier<'_> {
    // Adds a problem. Without a span the instruction is printed, which takes as long as printing the function; only
    // for problems that are kept.
    fn push(&self, problems: &mut Diagnostics, inst: InstId, error: &OpError) {
        let shown = problems.dropped() == 0;
        problems.push(self.diagnostic(inst, error, shown));
    }

    fn diagnostic(&self, inst: InstId, error: &OpError, shown: bool) -> Diagnostic {
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

    // Checks that definitions precede uses, across nesting. Returns whether the operands exist.
    fn check_operands(&self, inst: InstId, problems: &mut Diagnostics) -> bool {
        let f = self.function;
        let report = |problems: &mut Diagnostics, message: String| {
            self.push(problems, inst, &OpError::new(message));
        };
        for (n, &value) in f.operands(inst).iter().enumerate() {
            if value == self.unread.poison {
                continue;
            }
            let fine = match f.dfg.live_def(value) {
                Some(ValueDef::Result(def, _)) => f.dominates(def, inst),
                Some(ValueDef::Param(body, _)) => f.encloses(body, inst),
                None => {
                    report(problems, format!("operand {n} is {value}, which does not exist"));
                    return false;
                }
            };
            if !fine {
                report(problems, format!("operand {n} does not dominate this use"));
            }
        }
        true
    }

    fn check_inst(&self, inst: InstId, problems: &mut Diagnostics) {
        let f = self.function;
        let report = |problems: &mut Diagnostics, message: String| {
            self.push(problems, inst, &OpError::new(message));
        };
        let mut ended = true;
        for &body in f.regions(inst) {
            ended &= self.check_body(body, Some(inst), problems);
        }
        if self.unread.insts.contains(&inst) {
            return;
        }
        match f.op_def(inst) {
            Some(def) => {
                if def.terminator && f.next_inst(inst).is_some() {
                    report(
                        problems,
                        "a terminator must be the last instruction of its body".into(),
                    );
                }
                let attrs = f.attrs(inst);
                if !def.has_canonical_attrs(attrs) {
                    match check_attrs(def, attrs) {
                        Ok(_) => {
                            report(problems, "the attributes are not in canonical form".into());
                        }
                        Err(error) => self.push(problems, inst, &error),
                    }
                    return;
                }
            }
            None => {
                if let Err(error) = check_unregistered(f.op_name(inst)) {
                    self.push(problems, inst, &error);
                }
                match &f.attrs(inst)[..] {
                    [dict @ Attr::Dict(_)] => {
                        if let Some(why) = dict.malformed(0) {
                            report(problems, why);
                        }
                    }
                    _ => {
                        let message = "an unregistered op has one dictionary of attributes".into();
                        report(problems, message);
                    }
                }
                return;
            }
        }
        if !ended || self.unread.hides_from_inference(f, inst) {
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
                format!(
                    "it has {}, but {} are declared",
                    counted(types.len(), "result"),
                    stated.len()
                ),
            );
            return;
        }
        for (n, (inferred, value)) in types.iter().zip(stated).enumerate() {
            let stated = f.value_type(value);
            if inferred != stated && !inferred.compatible(stated) {
                let which =
                    if types.len() > 1 { format!("result {n}") } else { "the result".into() };
                report(problems, format!("{which} is {inferred}, but {stated} is declared"));
            }
        }
    }

    // Checks that the text form can represent every type of the signature. Inferred types are checked with their ops.
    fn check_limits(&self, problems: &mut Diagnostics) {
        let f = self.function;
        let params = f.params().iter().map(|&v| ("a parameter", f.value_type(v)));
        let results = f.result_types().into_iter().map(|ty| ("a result", ty));
        for (what, ty) in params.chain(results) {
            if let Some(message) = ty.check_limits().err() {
                problems.error(f.span(), format!("{what} of @{}: {message}", f.name()));
            }
        }
        for inst in f.walk() {
            let inner = f.regions(inst).iter().flat_map(|&b| f.body_params(b)).copied();
            let stated = f.inst_results(inst);
            for value in stated.chain(inner) {
                if let Some(message) = f.value_type(value).check_limits().err() {
                    self.push(problems, inst, &OpError::new(message));
                }
            }
        }
    }

    // Checks that a body ends in the right terminator. Returns whether it does.
    fn check_body(&self, body: BodyId, owner: Option<InstId>, problems: &mut Diagnostics) -> bool {
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
        if fine || self.unread.bodies.contains(&body) {
            return fine;
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
        false
    }

    // Checks the returned values against the signature.
    fn check_results(&self, problems: &mut Diagnostics) {
        let f = self.function;
        let Some(last) = f.terminator(f.body()) else { return };
        if self.unread.signature || self.unread.insts.contains(&last) {
            return;
        }
        let (stated, found) = (f.result_types(), f.operands(last));
        if stated.len() != found.len() {
            let message = format!("@{} declares {}", f.name(), counted(stated.len(), "result"));
            let error = OpError::new(format!(
                "it returns {}, but {message}",
                counted(found.len(), "value")
            ));
            self.push(problems, last, &error);
            return;
        }
        for (n, (&stated, &value)) in stated.iter().zip(found).enumerate() {
            let found = f.value_type(value);
            if value != self.unread.poison && !found.compatible(stated) {
                let error = OpError::new(format!(
                    "operand {n} is {found}, but @{} declares {stated}",
                    f.name()
                ));
                self.push(problems, last, &error);
            }
        }
    }
}

/// Checks that calls fit the functions that they name and that no function calls itself.
pub(crate) fn check_calls(
    program: &Program,
    problems: &mut Diagnostics,
    unread: &HashMap<Name, UnreadParts, FxBuildHasher>,
) {
    // Computed only if a call needs it.
    check_calls_with_effects(program, problems, unread, &OnceCell::new());
}

fn check_calls_with_effects(
    program: &Program,
    problems: &mut Diagnostics,
    unread: &HashMap<Name, UnreadParts, FxBuildHasher>,
    functions_with_effects: &OnceCell<HashSet<Name, FxBuildHasher>>,
) {
    let key = crate::ops::Call::key();
    let all_read = UnreadParts::default();
    let mut graph: Vec<Vec<(Name, InstId)>> = Vec::with_capacity(program.functions().len());
    for function in program.functions() {
        let mut callees = Vec::new();
        let checker = FunctionVerifier {
            function,
            unread: unread.get(&function.name()).unwrap_or(&all_read),
        };
        // In the order of the text; calls have no regions.
        let is_call = |inst: &InstId| function.op_key(*inst) == key;
        let mut calls: Vec<InstId> = function.insts_unordered().filter(is_call).collect();
        calls.sort_by_key(|&inst| function.order_key(inst));
        for inst in calls {
            let Some(Attr::Func(callee)) = function.attrs(inst).first() else { continue };
            callees.push((*callee, inst));
            if let Some(target) = program.function(*callee) {
                let lost = unread
                    .get(callee)
                    .is_some_and(|u| u.signature || u.params.contains(&target.body()));
                if lost || checker.unread.hides_from_inference(function, inst) {
                    continue;
                }
            }
            // Beyond the limit no suggestions are shown.
            let suggest = problems.dropped() == 0;
            for error in check_call(program, function, inst, *callee, suggest) {
                checker.push(problems, inst, &error);
            }
            if function.own_effects(inst) == Effects::Pure
                && functions_with_effects
                    .get_or_init(|| program.functions_with_effects())
                    .contains(callee)
            {
                let error = OpError::new(format!(
                    "`has_side_effect` is false, but @{callee} has ordered instructions"
                ));
                checker.push(problems, inst, &error);
            }
        }
        graph.push(callees);
    }
    check_recursion(program, &graph, problems);
}

// Checks that a call fits the function that it names.
fn check_call(
    program: &Program,
    function: &Function,
    inst: InstId,
    callee: Name,
    suggest: bool,
) -> Vec<OpError> {
    let Some(target) = program.function(callee) else {
        let names = program.functions().iter().map(|f| f.name().as_str());
        let names = names.take(if suggest { 10_000 } else { 0 });
        let error = OpError::new(format!("unknown function @{callee}"));
        return vec![match sapwood_types::did_you_mean(callee.as_str(), names) {
            Some(near) => error.with_help(format!("did you mean `@{near}`?")),
            None => error,
        }];
    };
    check_signature(function, inst, target)
}

// Checks a call against a signature. The arguments bind the symbols of the callee, which are then the same number everywhere.
fn check_signature(f: &Function, inst: InstId, target: &Function) -> Vec<OpError> {
    let mut errors = Vec::new();
    let (args, params) = (f.operands(inst), target.params());
    let name = target.name();
    if args.len() != params.len() {
        errors.push(OpError::new(format!(
            "@{name} takes {}, found {}",
            counted(params.len(), "argument"),
            args.len()
        )));
        return errors;
    }
    // Without named dims a type means the same in every function.
    let plain = !f.dfg.types.named() && !target.dfg.types.named();
    let types = |(&param, &arg)| (target.value_type(param), f.value_type(arg));
    let pairs = params.iter().zip(args).map(types);
    let mut bindings = SymbolBindings::default();
    if !plain || pairs.clone().any(|(param, arg)| param != arg) {
        let (found, wrong) = SymbolBindings::of_call(pairs);
        bindings = found;
        errors.extend(
            wrong
                .into_iter()
                .map(|(n, why)| OpError::new(format!("argument {n} of @{name}: {why}"))),
        );
    }
    for relation in target.facts().into_iter().flat_map(Facts::relations) {
        if bindings.contradicts(relation, f.facts()) {
            errors.push(OpError::new(format!(
                "@{name} assumes {relation}, which is false for these arguments"
            )));
        }
    }
    let (results, expected) = (f.inst_results(inst), target.result_types());
    if results.len() != expected.len() {
        errors.push(OpError::new(format!(
            "@{name} has {}, found {}",
            counted(expected.len(), "result"),
            results.len()
        )));
        return errors;
    }
    for (n, (value, &ty)) in results.zip(&expected).enumerate() {
        let stated = f.value_type(value);
        if plain && ty == stated {
            continue;
        }
        let ty = bindings.apply(ty);
        if !ty.compatible(stated) {
            errors.push(OpError::new(format!(
                "result {n} of @{name} is {ty}, but {stated} is declared"
            )));
        }
    }
    errors
}

// Searches the call graph depth first with an explicit stack; a call to a function that is being visited closes a
// cycle.
fn check_recursion(program: &Program, graph: &[Vec<(Name, InstId)>], problems: &mut Diagnostics) {
    let mut done = vec![false; graph.len()];
    let mut active = vec![false; graph.len()];
    let mut stack = Vec::new();
    for root in 0..graph.len() {
        stack.push((root, 0usize));
        while let Some((at, next)) = stack.pop() {
            if next == 0 {
                if done[at] {
                    continue;
                }
                active[at] = true;
            }
            let Some(&(callee, inst)) = graph[at].get(next) else {
                active[at] = false;
                done[at] = true;
                continue;
            };
            stack.push((at, next + 1));
            let Some(to) = program.position(callee) else { continue };
            if active[to] {
                let function = &program.functions()[at];
                let name = function.name();
                let message = match to == at {
                    true => format!("@{name} calls itself"),
                    false => format!("@{name} calls itself through @{callee}"),
                };
                let error =
                    OpError::new(message).with_help("functions do not recurse; use `while`");
                FunctionVerifier { function, unread: &UnreadParts::default() }
                    .push(problems, inst, &error);
            } else if !done[to] {
                stack.push((to, 0));
            }
        }
    }
}
