//! Any text is read as StableHLO or refused with diagnostics that can be rendered; a module that is read prints, and reads back equal.
#![no_main]
use libfuzzer_sys::fuzz_target;
use sapwood_ptir::structural::{Mode, equal};
use sapwood_stablehlo::{read, read_split, write};
use sapwood_types::Source;

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
        Ok(back) => assert!(
            module.program.to_string().contains(" = refine ")
                || equal(&module.program, &back.program, Mode::Ordered),
            "{printed}"
        ),
        Err(problems) => panic!("{printed}\n{}", problems.render(&again)),
    }
});
