//! Whether a program is well-formed. Collects everything it finds.

mod defined;
mod expr;
mod stmt;
mod types;

use sapwood_types::{Diagnostic, Diagnostics, Span, did_you_mean};

use crate::nodes::{ExprRef, Function, FunctionRef, Program, TypeRef, Var};
use defined::Defined;
pub(crate) use expr::call_type;
pub(crate) use stmt::trailing_yield;
pub(crate) use types::{fits, shown};

/// How much is asked of a program.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub enum Level {
    /// Every use is preceded by a definition on every path; types and arities fit.
    #[default]
    WellFormed,
    /// And every variable has one definition, and values leave loops and branches only through
    /// `return_vars`.
    Ssa,
}

/// After this many problems, the rest of a function is not looked at.
const MOST_PROBLEMS: usize = 1000;

type Map<V> = hashbrown::HashMap<usize, V, rustc_hash::FxBuildHasher>;
type Set = hashbrown::HashSet<usize, rustc_hash::FxBuildHasher>;

/// All problems of a program.
#[must_use]
pub fn verify(program: &Program, level: Level) -> Diagnostics {
    let mut problems = Diagnostics::new();
    for function in program.functions() {
        problems.append(verify_function(function, Some(program), level));
    }
    problems
}

/// All problems of a function; calls are checked if the program is given.
#[must_use]
pub fn verify_function(
    function: &FunctionRef,
    program: Option<&Program>,
    level: Level,
) -> Diagnostics {
    let mut verifier = Verifier {
        program,
        level,
        return_types: &function.return_types,
        problems: Diagnostics::new(),
        defined: Defined::default(),
        first_definition: Map::default(),
        exprs: Map::default(),
        types: Map::default(),
        stmts: hashbrown::HashMap::default(),
        definitions: 0,
        fitting: hashbrown::HashMap::default(),
        undefined: Set::default(),
        iter_args: Set::default(),
        frames: Vec::new(),
    };
    verifier.function(function);
    verifier.problems.sort();
    verifier.problems
}

struct Verifier<'a> {
    program: Option<&'a Program>,
    level: Level,
    return_types: &'a [TypeRef],
    problems: Diagnostics,
    defined: Defined,
    /// Where each variable is bound first; asked for by SSA.
    first_definition: Map<Span>,
    /// Shared expressions and types that were looked at: when, and the latest definition they use.
    exprs: Map<(u64, usize)>,
    types: Map<(u64, usize)>,
    /// Shared statements that were looked at, by where they stand.
    stmts: hashbrown::HashMap<(usize, stmt::Place), stmt::Known, rustc_hash::FxBuildHasher>,
    /// How many definitions were seen.
    definitions: u64,
    /// Pairs of large types that were compared.
    fitting: hashbrown::HashMap<(usize, usize), bool, rustc_hash::FxBuildHasher>,
    /// Variables that were complained about.
    undefined: Set,
    /// Iteration arguments that have their loop.
    iter_args: Set,
    frames: Vec<expr::Frame<'a>>,
}

impl<'a> Verifier<'a> {
    fn function(&mut self, function: &'a Function) {
        for param in &function.params {
            if param.is_iter_arg() {
                self.problem(
                    param.span(),
                    format!(
                        "the parameter `{}` is an iteration argument, which belongs to a loop",
                        param.name()
                    ),
                );
            }
            self.type_of_binding(param, function.span);
            if self.defined.contains(param.id()) {
                let message = format!("the parameter `{}` stands twice in the list", param.name());
                self.problem(param.span(), message);
            }
            self.define(param, param.span());
        }
        for ty in &function.return_types {
            self.ty(ty, function.span);
        }
        self.stmt(&function.body, stmt::Place::Function);
    }

    fn problem(&mut self, span: Span, message: impl Into<String>) {
        self.problems.error(span, message);
    }

    fn problem_with_help(
        &mut self,
        span: Span,
        message: impl Into<String>,
        help: impl Into<String>,
    ) {
        self.problems.push(Diagnostic::error(span, message).with_help(help));
    }

    /// Whether a value of type `found` may stand where `wanted` is asked for.
    fn fits(&mut self, wanted: &TypeRef, found: &TypeRef) -> bool {
        if wanted.same(found) {
            return true;
        }
        if wanted.dtype().is_some() && found.dtype().is_some() {
            return fits(wanted, found);
        }
        let pair = (wanted.node().id(), found.node().id());
        *self.fitting.entry(pair).or_insert_with(|| fits(wanted, found))
    }

    fn is_full(&self) -> bool {
        self.problems.len() > MOST_PROBLEMS
    }

    /// Binds a variable. In SSA, for the first time.
    fn define(&mut self, var: &Var, span: Span) {
        self.definitions += 1;
        if self.level == Level::Ssa {
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

    fn type_of_binding(&mut self, var: &'a Var, span: Span) {
        let ty: &'a TypeRef = var.expr().ty();
        self.ty(ty, if var.span().is_unknown() { span } else { var.span() });
    }

    /// A use of a variable: its place in the order of definitions.
    fn use_of(&mut self, var: &ExprRef, span: Span) -> usize {
        let id = var.node().id();
        if let Some(place) = self.defined.place(id) {
            return place;
        }
        if self.undefined.insert(id) {
            let name = var.name().unwrap_or("");
            let help = match &**var {
                crate::nodes::Expr::IterArg { .. } => {
                    "an iteration argument is seen inside its loop only; the loop's result leaves by return_vars"
                }
                _ => "assign it before, on every path that leads here",
            };
            self.problem_with_help(span, format!("`{name}` is used before it is defined"), help);
        }
        0
    }

    fn unknown_function(&mut self, name: &str, span: Span) {
        let Some(program) = self.program else { return };
        let names = program.functions().map(|function| &*function.name);
        let message = format!("the program has no function called `{name}`");
        match did_you_mean(name, names) {
            Some(close) => {
                self.problem_with_help(span, message, format!("did you mean `{close}`?"));
            }
            None => self.problem(span, message),
        }
    }
}
