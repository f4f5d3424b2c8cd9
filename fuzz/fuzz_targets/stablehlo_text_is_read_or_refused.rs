//! Any text is read as StableHLO or refused with diagnostics that can be rendered; a module that is read prints, and reads back equal, with its locations.
#![no_main]
use libfuzzer_sys::fuzz_target;
use sapwood_ptir::structural::{Mode, equal};
use sapwood_ptir::{Function, Program};
use sapwood_stablehlo::{read, read_split, write};
use sapwood_types::{Loc, Source};

// Returns the locations of a function and of the instructions of its body.
fn locs(f: &Function) -> Vec<Loc> {
    let insts = f.body_insts(f.body()).map(|inst| f.inst_span(inst));
    insts.chain([f.span()]).map(|span| span.loc()).collect()
}

// Asserts that functions with the same number of instructions have the same locations.
fn assert_same_locs(a: &Program, b: &Program, text: &str) {
    for (f, g) in a.functions().iter().zip(b.functions()) {
        let (left, right) = (locs(f), locs(g));
        assert!(left.len() != right.len() || left == right, "{text}");
    }
}

fuzz_target!(|text: &str| {
    let source = Source::new("fuzz.mlir", text);
    let module = match read(&source) {
        Ok(module) => module,
        Err(problems) => {
            assert!(!problems.render(&source).is_empty());
            let _ = read_split(&source);
            return;
        }
    };
    let Ok(printed) = write(&module) else { return };
    let again = Source::new("again.mlir", printed.as_str());
    match read(&again) {
        // A value that is refined to another type is written as a reshape.
        Ok(back) if module.program.to_string().contains(" = refine ") => drop(back),
        Ok(back) => {
            assert!(equal(&module.program, &back.program, Mode::Ordered), "{printed}");
            assert_same_locs(&module.program, &back.program, &printed);
        }
        Err(problems) => panic!("{printed}\n{}", problems.render(&again)),
    }
});
