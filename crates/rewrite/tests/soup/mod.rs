//! Random programs that exercise many laws: a random function calls the programs of the golden files with random values, and
//! the calls are inlined.

use sapwood_ptir::dims::{DimExpr, Facts, Relation};
use sapwood_ptir::ops::{Call, Return};
use sapwood_ptir::testing::{RandomProgramConfig, Rng, add_random_functions};
use sapwood_ptir::{
    Function, InsertPoint, Name, Op, OpParts, Program, Registry, ResultTypes, ValueType,
};
use sapwood_rewrite::PassManager;
use sapwood_types::Span;

use crate::pattern_files;

/// The number of functions of the golden files in a program.
const PICKED: usize = 6;

/// The functions of all golden files of patterns: those a pattern fires in, and those where none does.
pub(crate) struct Library {
    fires: Vec<Function>,
    stays: Vec<Function>,
    // Those with symbols or facts. A call with known extents would replace the symbols by numbers.
    symbolic: Vec<Function>,
}

impl Library {
    pub(crate) fn read() -> Self {
        let mut library = Self { fires: Vec::new(), stays: Vec::new(), symbolic: Vec::new() };
        for (case, program) in pattern_files::programs() {
            let law = case.name.trim_start_matches("patterns::");
            let mode = case.header("floats").unwrap_or("exact");
            for f in program.functions() {
                let fires = f.name().as_str().starts_with("fires");
                // A name may occur in several files, and once per float mode in one file.
                let named = (**f).clone().with_name(format!("{law}_{}_{mode}", f.name()));
                if f.has_named_dims() {
                    library.symbolic.push(named.clone());
                }
                // A call of a function with facts is refused if its arguments contradict them.
                if f.facts().is_none() {
                    let list = if fires { &mut library.fires } else { &mut library.stays };
                    list.push(named);
                }
            }
        }
        library
    }

    /// Returns a program of one function that calls some of the functions with symbols, each with parameters of its own types, so that symbols and
    /// facts stay. The calls are inlined.
    pub(crate) fn symbolic_soup(&self, rng: &mut Rng, number: usize) -> Program {
        let mut program = Program::new(Registry::builtin());
        let mut main = Function::new("f0", program.registry().clone());
        let mut facts = Facts::new();
        let mut results = Vec::new();
        for n in 0..PICKED {
            let callee = &self.symbolic[(number * PICKED + n) % self.symbolic.len()];
            // Half of the calls share their symbols with others.
            let suffix = if rng.one_in(2) { format!("_{n}") } else { String::new() };
            let renamed = |name: Name| DimExpr::symbol(Name::new(&format!("{name}{suffix}")));
            let rename = |ty: &ValueType| {
                ty.map_dims(&mut |dim| dim.map_expr(|expr| expr.substitute(&renamed)))
            };
            let mut known = facts.clone();
            let relations = callee.facts().into_iter().flat_map(Facts::relations);
            let allowed = relations.into_iter().all(|relation| {
                let expr = relation.expr.substitute(&renamed).unwrap();
                known.assume(Relation { expr, ..relation }).is_ok()
            });
            // Facts of different files may contradict each other.
            if !allowed {
                continue;
            }
            facts = known;
            let _ = program.add(callee.clone());
            let body = main.body();
            let mut call = OpParts::new(Call::key());
            for &param in callee.params() {
                let ty = rename(callee.value_type(param));
                let given = main.params().iter().copied().find(|&v| *main.value_type(v) == ty);
                let given = given.filter(|_| rng.one_in(2));
                call.operands.push(given.unwrap_or_else(|| main.push_param(body, &ty)));
            }
            let types = callee.result_types().into_iter().map(rename).collect();
            call.push_attr(&callee.name());
            call.push_attr(&true);
            call.push_attr(&ResultTypes(types));
            let call = main.resolve_parts(&call).unwrap_or_else(|e| panic!("soup {number}: {e}"));
            let made = main.insert(InsertPoint::End(body), &call, Span::unknown()).unwrap();
            results.extend(main.inst_results(made));
        }
        if !facts.is_empty() {
            main.set_facts(facts);
        }
        let mut end = OpParts::new(Return::key());
        end.operands.extend(results.iter().copied());
        main.insert(InsertPoint::End(main.body()), &end, Span::unknown()).unwrap();
        let types: Vec<ValueType> = results.iter().map(|&v| main.value_type(v).clone()).collect();
        main.set_result_types(&types);
        program.add(main).unwrap();
        let manager = PassManager::parse("inline,symbol-dce{keep=f0}").unwrap().verify_each(true);
        manager.run(&mut program).unwrap_or_else(|e| panic!("soup {number}: {e}\n{program}"));
        program
    }

    /// Returns a program of one function built from some of these; over many numbers each is used equally often.
    pub(crate) fn soup(&self, rng: &mut Rng, number: usize) -> Program {
        let mut program = Program::new(Registry::builtin());
        let mut pick = |list: &[Function], at: usize| {
            let _ = program.add(list[at % list.len()].clone());
        };
        for n in 0..PICKED {
            // Neighbours in the list are about the same op, so they are chosen far apart.
            pick(&self.fires, (number * PICKED + n) * 211);
        }
        pick(&self.stays, rng.below(self.stays.len()));
        let defs = program.registry().clone();
        let names: Vec<&'static str> = defs
            .defs()
            .filter(|d| !d.terminator && d.name != "custom_call")
            .map(|d| d.name)
            .collect();
        let mut only = vec!["call"; 24];
        only.extend((0..8).filter_map(|_| rng.pick(&names)));
        let config = RandomProgramConfig { functions: 1, insts: 16, only, return_unused: true };
        let mut program = add_random_functions(rng, &config, program);
        let manager = PassManager::parse("inline,symbol-dce{keep=f0}").unwrap().verify_each(true);
        manager.run(&mut program).unwrap_or_else(|e| panic!("soup {number}: {e}\n{program}"));
        program
    }
}
