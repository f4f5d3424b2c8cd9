//! Random programs full of what the laws are about: the programs of the golden files, called by a random function from
//! random values, and inlined there.

use sapwood_ptir::testing::{Config, Rng, random_program_by};
use sapwood_ptir::{Function, Program, Registry, parse};
use sapwood_rewrite::PassManager;
use sapwood_testing::repository;

/// How many functions of the golden files a program is made of.
const PICKED: usize = 6;

/// The functions of all golden files of patterns: those a pattern fires in, and those where none does.
pub(crate) struct Library {
    fires: Vec<Function>,
    stays: Vec<Function>,
}

impl Library {
    pub(crate) fn read() -> Self {
        let folder = repository().join("tests/golden/patterns");
        let mut paths: Vec<_> =
            std::fs::read_dir(folder).unwrap().map(|entry| entry.unwrap().path()).collect();
        paths.sort();
        let mut library = Self { fires: Vec::new(), stays: Vec::new() };
        for path in paths {
            let law = path.file_stem().unwrap().to_str().unwrap();
            let text = std::fs::read_to_string(&path).unwrap();
            let program: Vec<&str> = text.lines().filter(|line| !line.starts_with("//")).collect();
            // Names are those of one file only.
            let program = program.join("\n").replace("func @", &format!("func @{law}_"));
            let program = parse(&program).unwrap_or_else(|p| panic!("{}: {p}", path.display()));
            for f in program.functions() {
                let fires = f.name().as_str().starts_with(&format!("{law}_fires"));
                let list = if fires { &mut library.fires } else { &mut library.stays };
                list.push((**f).clone());
            }
        }
        library
    }

    /// A program of one function made of some of these; over many numbers all of them come equally often.
    pub(crate) fn soup(&self, rng: &mut Rng, number: usize) -> Program {
        let mut program = Program::new(Registry::builtin());
        let mut pick = |list: &[Function], at: usize| {
            let _ = program.add(list[at % list.len()].clone());
        };
        for n in 0..PICKED {
            // Neighbours in the list are about the same op: take them far apart.
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
        let config = Config { functions: 1, insts: 16, only, return_unused: true };
        let mut program = random_program_by(rng, &config, program);
        let manager = PassManager::parse("inline,symbol-dce{keep=f0}").unwrap().verify_each(true);
        manager.run(&mut program).unwrap_or_else(|e| panic!("soup {number}: {e}\n{program}"));
        program
    }
}
