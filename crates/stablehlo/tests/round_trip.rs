//! The property of any text: it is read, or refused with diagnostics that can be rendered; a module that is read prints, and reads back equal, with its
//! locations. A fuzz target checks it, too.

use sapwood_ptir::structural::{Mode, equal};
use sapwood_ptir::{Function, Program};
use sapwood_stablehlo::{WriteError, read, read_split, write};
use sapwood_types::{Loc, Source};

/// # Errors
/// If the module cannot be written.
pub(crate) fn read_and_round_trip(text: &str) -> Result<(), WriteError> {
    let source = Source::new("any.mlir", text);
    let module = match read(&source) {
        Ok(module) => module,
        Err(problems) => {
            assert!(!problems.render(&source).is_empty());
            let _ = read_split(&source);
            return Ok(());
        }
    };
    let printed = write(&module)?;
    let again = Source::new("again.mlir", printed.as_str());
    let back =
        read(&again).unwrap_or_else(|problems| panic!("{printed}\n{}", problems.render(&again)));
    // A value that is refined to another type is written as a reshape.
    if !module.program.to_string().contains(" = refine ") {
        assert!(equal(&module.program, &back.program, Mode::Ordered), "{printed}");
        assert_same_locs(&module.program, &back.program, &printed);
    }
    Ok(())
}

// Returns the locations of a function and of the instructions of its body.
fn locs(f: &Function) -> Vec<Loc> {
    let insts = f.body_insts(f.body()).map(|inst| f.inst_span(inst));
    insts.chain([f.span()]).map(sapwood_types::Span::loc).collect()
}

// Asserts that functions with the same number of instructions have the same locations.
fn assert_same_locs(a: &Program, b: &Program, text: &str) {
    for (f, g) in a.functions().iter().zip(b.functions()) {
        let (left, right) = (locs(f), locs(g));
        assert!(left.len() != right.len() || left == right, "{text}");
    }
}
