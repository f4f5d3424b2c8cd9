//! Any bytes are read as an ONNX model or refused; a model that is read is written to bytes that read back to the same bytes. A model that is
//! valid is a program, whose ops are replaced and which is written again, or refused.
#![no_main]
use libfuzzer_sys::fuzz_target;
use sapwood_onnx::{
    ExternalData, LowerLevel, lower_function, read, registry, to_model, to_program, verify, write,
};

fuzz_target!(|bytes: &[u8]| {
    let model = match read(bytes) {
        Ok(model) => model,
        Err(error) => {
            assert!(error.offset() <= bytes.len() as u64 && !error.to_string().is_empty());
            return;
        }
    };
    let _ = verify(&model).to_string();
    let written = write(&model).expect("a file that is read is not too deep or too large");
    let again = read(written.clone()).expect("what is written is read");
    assert_eq!(write(&again).expect("as before"), written);
    let Ok(mut module) = to_program(model, ExternalData::default(), &registry()) else { return };
    for level in [LowerLevel::Core, LowerLevel::All] {
        for f in module.program.functions_mut() {
            lower_function(f, level);
        }
        sapwood_ptir::verify(&module.program).expect("a lowered program is well-formed");
        let _ = to_model(&module.program, Some(&module.source), None);
    }
});
