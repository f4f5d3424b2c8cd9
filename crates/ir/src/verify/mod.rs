//! The verifier, which reports all errors of a program.

mod defined_vars;
mod expr;
mod stmt;
mod types;

use sapwood_types::{Diagnostic, Diagnostics, Span, did_you_mean};

use crate::nodes::{ExprRef, Function, FunctionRef, Program, TypeRef, Var};
use defined_vars::DefinedVars;
pub(crate) use expr::call_type;
pub(crate) use stmt::trailing_yield;
pub(crate) use types::{display_type, types_compatible};

/// The strictness of verification.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub enum VerifyLevel {
    /// Every use is preceded by a definition on every path; types and arities match.
    #[default]
    WellFormed,
    /// In addition, every variable has one definition, and values leave loops and branches only as `return_vars`.
    Ssa,
}

/// The number of errors after which the rest of a function is skipped.
const MAX_DIAGNOSTICS: usize = 1000;

type IdMap<V> = hashbrown::HashMap<usize, V, rustc_hash::FxBuildHasher>;
type IdSet = hashbrown::HashSet<usize, rustc_hash::FxBuildHasher>;

/// Verifies a program and returns all errors.
#[must_use]
pub fn verify(program: &Program, level: VerifyLevel) -> Diagnostics {
    let mut problems = Diagnostics::new();
    for function in program.functions() {
        problems.append(verify_function(function, Some(program), level));
    }
    problems
}

/// Verifies a function and returns all errors; calls are checked only if the program is given.
#[must_use]
pub fn verify_function(
    function: &FunctionRef,
    program: Option<&Program>,
    level: VerifyLevel,
) -> Diagnostics {
    let mut verifier = Verifier {
        program,
        level,
        return_types: &function.return_types,
        problems: Diagnostics::new(),
        defined: DefinedVars::default(),
        first_definition: IdMap::default(),
        verified_exprs: IdMap::default(),
        verified_types: IdMap::default(),
        verified_stmts: hashbrown::HashMap::default(),
        definition_count: 0,
        compatible_types: hashbrown::HashMap::default(),
        reported_undefined: IdSet::default(),
        loop_iter_args: IdSet::default(),
        frames: Vec::new(),
    };
    verifier.check_function(function);
    verifier.problems.sort();
    verifier.problems
}

/// The state of verifying one function.
struct Verifier<'a> {
    program: Option<&'a Program>,
    level: VerifyLevel,
    return_types: &'a [TypeRef],
    problems: Diagnostics,
    defined: DefinedVars,
    /// The first definition of each variable, used only for SSA.
    first_definition: IdMap<Span>,
    /// The shared expressions that are verified, with the time and the latest definition that they use.
    verified_exprs: IdMap<(u64, usize)>,
    verified_types: IdMap<(u64, usize)>,
    /// The shared statements that are verified, by their position.
    verified_stmts: hashbrown::HashMap<
        (usize, stmt::StmtPosition),
        stmt::VerifiedStmt,
        rustc_hash::FxBuildHasher,
    >,
    /// The number of definitions so far.
    definition_count: u64,
    /// A cache of compatibility results for pairs of large types.
    compatible_types: hashbrown::HashMap<(usize, usize), bool, rustc_hash::FxBuildHasher>,
    /// Undefined variables that were reported.
    reported_undefined: IdSet,
    /// Iteration arguments that belong to a loop.
    loop_iter_args: IdSet,
    frames: Vec<expr::VerifyFrame<'a>>,
}

impl<'a> Verifier<'a> {
    fn check_function(&mut self, function: &'a Function) {
        for param in &function.params {
            if param.is_iter_arg() {
                self.report(
                    param.span(),
                    format!(
                        "the parameter `{}` is an iteration argument, which belongs to a loop",
                        param.name()
                    ),
                );
            }
            self.check_binding_type(param, function.span);
            if self.defined.contains(param.id()) {
                let message = format!("the parameter `{}` is listed twice", param.name());
                self.report(param.span(), message);
            }
            self.define(param, param.span());
        }
        for ty in &function.return_types {
            self.check_type(ty, function.span);
        }
        self.check_stmt(&function.body, stmt::StmtPosition::FunctionBody);
    }

    fn report(&mut self, span: Span, message: impl Into<String>) {
        self.problems.error(span, message);
    }

    fn report_with_help(
        &mut self,
        span: Span,
        message: impl Into<String>,
        help: impl Into<String>,
    ) {
        self.problems.push(Diagnostic::error(span, message).with_help(help));
    }

    /// Returns whether a value of type `found` may be used for type `wanted`.
    fn is_compatible(&mut self, wanted: &TypeRef, found: &TypeRef) -> bool {
        if wanted.same(found) {
            return true;
        }
        if wanted.dtype().is_some() && found.dtype().is_some() {
            return types_compatible(wanted, found);
        }
        let pair = (wanted.node().id(), found.node().id());
        *self.compatible_types.entry(pair).or_insert_with(|| types_compatible(wanted, found))
    }

    fn has_too_many_errors(&self) -> bool {
        self.problems.len() > MAX_DIAGNOSTICS
    }

    /// Defines a variable; in SSA, reports a second definition.
    fn define(&mut self, var: &Var, span: Span) {
        self.definition_count += 1;
        if self.level == VerifyLevel::Ssa {
            match self.first_definition.get(&var.id()) {
                Some(&first) => {
                    let message = format!("`{}` is defined a second time", var.name());
                    self.problems.push(
                        Diagnostic::error(span, message)
                            .with_note_at(first, "the first definition is here")
                            .with_help(
                                "run to-ssa, which gives each definition a variable of its own",
                            ),
                    );
                }
                None => {
                    self.first_definition.insert(var.id(), span);
                }
            }
        }
        self.defined.define(var.id());
    }

    fn check_binding_type(&mut self, var: &'a Var, span: Span) {
        let ty: &'a TypeRef = var.expr().ty();
        self.check_type(ty, if var.span().is_unknown() { span } else { var.span() });
    }

    /// Checks a use of a variable; returns the position of its definition.
    fn check_use(&mut self, var: &ExprRef, span: Span) -> usize {
        let id = var.node().id();
        if let Some(place) = self.defined.position(id) {
            return place;
        }
        if self.reported_undefined.insert(id) {
            let name = var.name().unwrap_or("");
            let help = match &**var {
                crate::nodes::Expr::IterArg { .. } => {
                    "an iteration argument is visible only inside its loop; read the loop's result from return_vars"
                }
                _ => "assign it before, on every path that leads here",
            };
            self.report_with_help(span, format!("`{name}` is used before it is defined"), help);
        }
        0
    }

    fn report_unknown_function(&mut self, name: &str, span: Span) {
        let Some(program) = self.program else { return };
        let names = program.functions().map(|function| &*function.name);
        let message = format!("the program has no function called `{name}`");
        let cast = match name {
            "int" => Some("INT64"),
            "float" => Some("FP32"),
            "bool" => Some("BOOL"),
            _ => None,
        };
        let help = if let Some(dtype) = cast {
            format!("`pi.cast(x, pi.{dtype})` converts a value")
        } else if let Some(spelling) = crate::ops::spelling(name) {
            format!("write {spelling}")
        } else if let Some(close) = did_you_mean(name, names) {
            format!("did you mean `{close}`?")
        } else {
            return self.report(span, message);
        };
        self.report_with_help(span, message, help);
    }
}
