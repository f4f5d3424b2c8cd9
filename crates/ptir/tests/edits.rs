//! Random edits: indices agree with a rebuilt index, refused edits change nothing, and comparison by data flow ignores
//! the order of independent instructions.

use sapwood_ptir::ops::Return;
use sapwood_ptir::structural::{self, Mode};
use sapwood_ptir::testing::{RandomProgramConfig, Rng, random_functions, random_program};
use sapwood_ptir::{
    BodyId, CopiedIds, EditError, Function, FunctionWriter, InsertPoint, InstId, Op as _, OpParts,
    Program, TensorLiteral, ValueId, ValueType, parse, verify_function,
};
use sapwood_testing::cases;
use sapwood_types::Span;
use smallvec::SmallVec;
use std::collections::HashMap;

fn random_place(f: &Function, rng: &mut Rng) -> InsertPoint {
    let insts: Vec<InstId> = f.walk().collect();
    let at = insts[rng.below(insts.len())];
    let body: BodyId = f.body_of(at).unwrap();
    match rng.below(4) {
        0 => InsertPoint::Before(at),
        1 => InsertPoint::After(at),
        2 => InsertPoint::Start(body),
        _ => InsertPoint::End(body),
    }
}

fn random_edit(f: &mut Function, rng: &mut Rng) -> Result<(), String> {
    let insts: Vec<InstId> = f.walk().collect();
    let inst = insts[rng.below(insts.len())];
    let values: Vec<ValueId> =
        f.walk().flat_map(|i| f.inst_results(i)).chain(f.params().iter().copied()).collect();
    let value = rng.pick(&values);
    let place = random_place(f, rng);
    let refused = |e: EditError| e.to_string();
    match rng.below(9) {
        8 => replace_taking_regions(f, rng, inst).map_err(refused),
        0 => f.erase(inst).map_err(refused),
        1 | 2 => f.move_inst(inst, place).map_err(refused),
        3 => {
            let (Some(from), Some(to)) = (value, rng.pick(&values)) else { return Ok(()) };
            f.replace_all_uses(from, to).map_err(refused)
        }
        4 => {
            let Some(value) = value else { return Ok(()) };
            let n = rng.below(f.operands(inst).len() + 1);
            f.set_operand(inst, n, value).map_err(refused)
        }
        5 => {
            f.constant(&TensorLiteral::scalar(rng.below(4) as f32), place, Span::unknown());
            Ok(())
        }
        6 => {
            let list: Vec<ValueId> = f.operands(inst).iter().rev().copied().collect();
            f.set_operands(inst, &list).map_err(refused)
        }
        _ => {
            let Some(&body) = f.regions(inst).first() else { return Ok(()) };
            let args: Vec<ValueId> =
                f.body_params(body).iter().filter_map(|_| rng.pick(&values)).collect();
            f.inline_body(body, &args, place).map(|_| ()).map_err(refused)
        }
    }
}

// Replaces an instruction by another one that takes over some of its regions, in some order.
fn replace_taking_regions(f: &mut Function, rng: &mut Rng, inst: InstId) -> Result<(), EditError> {
    let mut regions: SmallVec<[BodyId; 2]> = f.regions(inst).into();
    if regions.is_empty() {
        return Ok(());
    }
    for n in (1..regions.len()).rev() {
        regions.swap(n, rng.below(n + 1));
    }
    if rng.one_in(4) {
        regions.pop();
    }
    let parts = OpParts { regions, ..f.parts_of(inst) };
    let new = f.insert_with_regions_of(inst, &parts, Span::unknown())?;
    let pairs: Vec<_> = f.inst_results(inst).zip(f.inst_results(new)).collect();
    for (from, to) in pairs {
        f.replace_all_uses(from, to)?;
    }
    f.erase(inst)
}

#[test]
fn indices_agree_with_a_rebuilt_index() {
    let mut done = 0u32;
    for (seed, mut f, mut rng) in random_functions(cases(300, 20_000)) {
        for step in 0..40 {
            let before = format!("{f:?}");
            match random_edit(&mut f, &mut rng) {
                Ok(()) => done += 1,
                Err(why) => assert_eq!(
                    format!("{f:?}"),
                    before,
                    "seed {seed} step {step}: refused ({why}) but changed"
                ),
            }
            f.check_indices().unwrap_or_else(|e| panic!("seed {seed} step {step}: {e}\n{f:?}"));
        }
        // Every edit keeps definitions before their uses.
        if let Err(problems) = verify_function(&f) {
            let broken = problems.iter().find(|p| p.message.contains("not defined before"));
            assert!(broken.is_none(), "seed {seed}: {problems}\n{f:?}");
        }
    }
    assert!(done > 1000, "{done}");
}

// Labels and the order of uses may differ; everything visible from outside must be equal.
#[test]
fn edits_in_a_journal_can_be_rolled_back() {
    let mut done = 0usize;
    for (seed, mut f, mut rng) in random_functions(cases(300, 20_000)) {
        for round in 0..6 {
            let before = format!("{f:?}");
            f.open_journal();
            for _ in 0..1 + rng.below(12) {
                let _ = random_edit(&mut f, &mut rng);
                f.check_indices().unwrap_or_else(|e| panic!("seed {seed} round {round}: {e}"));
            }
            done += f.journal_len();
            if rng.one_in(3) {
                f.commit_journal();
            } else {
                f.rollback_journal();
                assert_eq!(format!("{f:?}"), before, "seed {seed} round {round}");
            }
            assert!(!f.has_journal());
            f.check_indices().unwrap_or_else(|e| panic!("seed {seed} round {round}: {e}\n{f:?}"));
        }
    }
    assert!(done > 1000, "{done}");
}

// Swaps neighbouring instructions that do not depend on each other.
fn shuffle(f: &mut Function, rng: &mut Rng) {
    for _ in 0..60 {
        let insts: Vec<InstId> = f.walk().collect();
        let inst = insts[rng.below(insts.len())];
        let Some(next) = f.next_inst(inst) else { continue };
        if f.is_ordered(inst) && f.is_ordered(next) {
            continue;
        }
        let _ = f.move_inst(inst, InsertPoint::After(next));
    }
}

// Returns a random program and a copy, in which each function is changed.
fn with_changed_copy(
    seed: u64,
    mut change: impl FnMut(&mut Function, &mut Rng),
) -> (Program, Program) {
    let program = random_program(seed, &RandomProgramConfig::default());
    let (mut rng, mut other) = (Rng::new(seed), program.clone());
    for f in program.functions() {
        change(other.function_mut(f.name()).unwrap(), &mut rng);
    }
    (program, other)
}

#[test]
fn comparison_by_data_flow_ignores_order_and_names() {
    let mut differ = 0;
    for seed in 0..u64::from(cases(400, 20_000)) {
        let (program, other) = with_changed_copy(seed, |g, rng| {
            shuffle(g, rng);
            let values: Vec<ValueId> = g.walk().flat_map(|i| g.inst_results(i)).collect();
            for (n, value) in values.into_iter().enumerate() {
                g.set_hint(value, &format!("other{n}"));
            }
        });
        let mode = Mode::DataFlow;
        if let Some(found) = structural::first_mismatch(&program, &other, mode) {
            panic!("seed {seed}: {found}\n{program}\n{other}");
        }
        assert_eq!(structural::hash(&program, mode), structural::hash(&other, mode), "seed {seed}");
        assert!(structural::diff(&program, &other, mode).is_empty());
        assert_parts_equal(&program, &other, mode);
        differ += usize::from(!structural::equal(&program, &other, Mode::Ordered));
        let ordered = structural::diff(&program, &other, Mode::Ordered);
        assert_eq!(
            ordered.is_empty(),
            structural::equal(&program, &other, Mode::Ordered),
            "seed {seed}"
        );
    }
    assert!(differ > 100, "{differ}");
}

#[test]
fn differences_depend_on_the_text_alone() {
    let mut compared = 0;
    for seed in 0..u64::from(cases(300, 10_000)) {
        let (program, other) = with_changed_copy(seed, |g, rng| {
            if seed % 2 == 0 {
                shuffle(g, rng);
            }
            for _ in 0..seed % 3 {
                let _ = random_edit(g, rng);
            }
        });
        // The parsed program has unique names and other numbers.
        let read = |p: &Program| parse(&p.to_string());
        let (Ok(before), Ok(after)) = (read(&program), read(&other)) else { continue };
        for mode in [Mode::Ordered, Mode::DataFlow] {
            let made = all_differences(&program, &other, mode);
            for (a, b) in [(&before, &after), (&program, &after), (&before, &other)] {
                let found = all_differences(a, b, mode);
                assert_eq!(made, found, "seed {seed}, {mode:?}\n{program}\n{other}");
            }
            compared += usize::from(!made.is_empty());
        }
    }
    assert!(compared > 100, "{compared}");
}

// Returns the differences between two programs, and between their regions one by one.
fn all_differences(a: &Program, b: &Program, mode: Mode) -> String {
    let regions = |f: &Function| -> Vec<BodyId> {
        f.walk().flat_map(|inst| f.regions(inst).to_vec()).collect()
    };
    let mut found = structural::diff(a, b, mode);
    for f in a.functions() {
        let g = b.function(f.name()).unwrap();
        for (left, right) in regions(f).into_iter().zip(regions(g)) {
            found.extend(structural::diff_bodies((f, left), (g, right), mode));
        }
    }
    found.iter().map(|d| format!("{d}\n")).collect()
}

// Asserts that every body and instruction of one program equals its counterpart in the other and has the same hash.
fn assert_parts_equal(left: &Program, right: &Program, mode: Mode) {
    for f in left.functions() {
        let g = right.function(f.name()).unwrap();
        for inst in f.walk() {
            if let Some(found) = structural::first_mismatch_insts((f, inst), (g, inst), mode) {
                panic!("{mode:?}: {found}\n{left}\n{right}");
            }
            let hashes =
                (structural::hash_inst(f, inst, mode), structural::hash_inst(g, inst, mode));
            assert_eq!(hashes.0, hashes.1);
            for &body in f.regions(inst) {
                if let Some(found) = structural::first_mismatch_bodies((f, body), (g, body), mode) {
                    panic!("{mode:?}: {found}\n{left}\n{right}");
                }
                let hashes =
                    (structural::hash_body(f, body, mode), structural::hash_body(g, body, mode));
                assert_eq!(hashes.0, hashes.1);
                assert!(structural::diff_bodies((f, body), (g, body), mode).is_empty());
            }
        }
    }
}

#[test]
fn parts_equal_themselves_and_their_copies() {
    for seed in 0..u64::from(cases(200, 10_000)) {
        let program = random_program(seed, &RandomProgramConfig::default());
        for mode in [Mode::Ordered, Mode::DataFlow] {
            assert_parts_equal(&program, &program, mode);
            let mut copy = program.clone();
            program.functions().iter().for_each(|f| copy.replace((**f).clone()));
            assert_parts_equal(&program, &copy, mode);
        }
    }
}

#[test]
fn hashes_are_stable_across_platforms_and_versions() {
    let program = parse(
        "ptir 1\nfunc @f(%x: f32[?N, 4]) -> f32[?N] { %y = reduce_sum %x {axes = [1]} : f32[?N] return %y }",
    )
    .unwrap();
    let hash = |mode| structural::hash(&program, mode).to_string();
    let renamed = parse(
        "ptir 1\nfunc @f(%a: f32[?B, 4]) -> f32[?B] { %b = reduce_sum %a {axes = [1]} : f32[?B] return %b }",
    )
    .unwrap();
    assert_eq!(structural::hash(&renamed, Mode::DataFlow).to_string(), hash(Mode::DataFlow));
    // Expected hashes: they change only with `HASH_VERSION`.
    assert_eq!(
        [hash(Mode::Ordered), hash(Mode::DataFlow)],
        ["ee33ff853bce8b9b9f274d9cf557dbf2", "ff8a3335195f62f41ca40a7fb2af4e49"]
    );
}

#[test]
fn instructions_copied_one_by_one_make_an_equal_function() {
    let mut copied = 0;
    for (seed, f, _) in random_functions(cases(300, 10_000)) {
        if f.walk().any(|inst| !f.regions(inst).is_empty()) {
            continue;
        }
        let mut writer = FunctionWriter::new(f.name(), f.registry());
        let body = writer.function().body();
        let mut values: HashMap<ValueId, ValueId> = HashMap::new();
        let params = f.params().iter().map(|&p| (p, writer.param(body, f.value_type(p))));
        values.extend(params.collect::<Vec<_>>());
        writer
            .append(
                body,
                &Return { values: [].into_iter().collect() }.into_parts(),
                Span::unknown(),
            )
            .unwrap();
        let mut g = writer.finish(&[]).unwrap();
        let (end, mut ids) = (g.terminator(body).unwrap(), CopiedIds::default());
        let last = f.terminator(f.body()).unwrap();
        let place = InsertPoint::Before(end);
        for inst in f.walk().filter(|&inst| inst != last) {
            let operands: Vec<ValueId> = f.operands(inst).iter().map(|v| values[v]).collect();
            let copy =
                g.insert_copy(place, (&f, inst), &mut ids, &operands, &[], f.inst_span(inst));
            let results = g.inst_results(copy.unwrap());
            values.extend(f.inst_results(inst).zip(results));
            // An operand that is not available is refused.
            if let Some(&result) = f.inst_results(inst).next().and_then(|v| values.get(&v)) {
                let before = InsertPoint::Start(body);
                let span = Span::unknown();
                let wrong: Vec<ValueId> = operands.iter().map(|_| result).collect();
                let refused = g.insert_copy(before, (&f, inst), &mut ids, &wrong, &[], span);
                assert_eq!(refused.is_err(), !wrong.is_empty(), "seed {seed}");
                if let Ok(extra) = refused {
                    g.erase(extra).unwrap();
                }
            }
            copied += 1;
        }
        let results: Vec<ValueId> = f.operands(last).iter().map(|v| values[v]).collect();
        g.set_operands(end, &results).unwrap();
        let types: Vec<ValueType> = f.result_types().into_iter().cloned().collect();
        g.set_result_types(&types);
        verify_function(&g).unwrap_or_else(|problems| panic!("seed {seed}: {problems}"));
        assert!(structural::equal_functions(&f, &g, Mode::Ordered), "seed {seed}");
    }
    assert!(copied > 100, "only {copied} instructions were copied");
}
