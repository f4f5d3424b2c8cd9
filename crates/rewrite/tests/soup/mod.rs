//! Random programs that exercise many laws: a random function calls the programs of the golden files with random values, and
//! the calls are inlined.

use sapwood_ptir::testing::{RandomProgramConfig, Rng, add_random_functions};
use sapwood_ptir::{Function, Program, Registry};
use sapwood_rewrite::PassManager;

use crate::pattern_files;

/// The number of functions of the golden files in a program.
const PICKED: usize = 6;

/// The functions of all golden files of patterns: those a pattern fires in, and those where none does.
pub(crate) struct Library {
    fires: Vec<Function>,
    stays: Vec<Function>,
}

impl Library {
    pub(crate) fn read() -> Self {
        let mut library = Self { fires: Vec::new(), stays: Vec::new() };
        for (case, program) in pattern_files::programs() {
            let law = case.name.trim_start_matches("patterns::");
            let mode = case.header("floats").unwrap_or("exact");
            // A call of a function with facts is refused if its arguments contradict them.
            for f in program.functions().iter().filter(|f| f.facts().is_none()) {
                let fires = f.name().as_str().starts_with("fires");
                let list = if fires { &mut library.fires } else { &mut library.stays };
                // A name may occur in several files, and once per float mode in one file.
                list.push((**f).clone().with_name(format!("{law}_{}_{mode}", f.name())));
            }
        }
        library
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
