//! Asserts which types may be sent to and shared by threads; docs/stability.md promises it.

const fn assert_send_and_sync<T: Send + Sync>() {}
const fn assert_send<T: Send>() {}

const _: () = {
    assert_send_and_sync::<sapwood::ptir::Program>();
    assert_send_and_sync::<sapwood::ptir::Function>();
    assert_send_and_sync::<sapwood::ptir::Registry>();
    assert_send_and_sync::<sapwood::ptir::TensorLiteral>();
    assert_send_and_sync::<sapwood::ptir::eval::Value>();
    assert_send_and_sync::<sapwood::ptir::eval::Prepared>();
    assert_send_and_sync::<sapwood::ir::Program>();
    assert_send_and_sync::<sapwood::structural::Ref<sapwood::ir::Program>>();
    assert_send_and_sync::<sapwood::stablehlo::Extras>();
    assert_send_and_sync::<sapwood::rewrite::RunReport>();
    assert_send_and_sync::<sapwood::rules::Rule>();
    assert_send_and_sync::<sapwood::check::CheckReport>();
    assert_send_and_sync::<sapwood::explorer::RunRecorder>();
    assert_send_and_sync::<sapwood::Diagnostics>();
    assert_send_and_sync::<sapwood::Source>();
    assert_send::<sapwood::rewrite::PassManager>();
    assert_send::<sapwood::ptir::FunctionWriter>();
};

#[test]
fn one_program_is_simplified_by_several_threads() {
    let text = "ptir 1 func @f(%x: f32[4]) -> f32[4] { %a = neg %x : f32[4] %b = neg %a : f32[4] return %b }";
    let program = sapwood::ptir::parse(text).unwrap();
    let simplified = std::thread::scope(|scope| {
        let run = || {
            let mut copy = program.clone();
            let manager = sapwood::rewrite::PassManager::parse("simplify").unwrap();
            manager.run(&mut copy).unwrap();
            copy.to_string()
        };
        let threads: Vec<_> = (0..4).map(|_| scope.spawn(run)).collect();
        threads.into_iter().map(|thread| thread.join().unwrap()).collect::<Vec<_>>()
    });
    assert!(simplified.iter().all(|text| *text == simplified[0] && !text.contains("neg")));
}
