//! Any text is read as a PTIR program or refused, without a panic; a program that is read prints to text that reads back to the
//! same bytes.
#![no_main]
use libfuzzer_sys::fuzz_target;
use sapwood_ptir::parse;

fuzz_target!(|text: String| {
    let texts = [
        text.clone(),
        format!("ptir 1\nfunc @f(%x: f32[4], %p: bool[]) -> f32[4] {{\n{text}\nreturn %x\n}}\n"),
    ];
    for text in texts {
        if let Ok(program) = parse(&text) {
            let printed = program.to_string();
            let again = parse(&printed).unwrap();
            assert_eq!(again.to_string(), printed);
        }
    }
});
