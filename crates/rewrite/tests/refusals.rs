//! Every edit with every kind of op: a refused edit leaves the function unchanged.

use crate::edit_count::EditCount;
use sapwood_ptir::ops::{Add, Cond, Constant, CustomCall, Neg, Return, Tuple, While, Yield};
use sapwood_ptir::testing::{RandomProgramConfig, Rng, random_program};
use sapwood_ptir::{
    BodyId, Function, InsertPoint, InstId, Op, OpParts, ResultTypes, TensorLiteral, TensorType,
    Value, ValueId, Values, parse,
};
use sapwood_rewrite::{ProgramRewriter, RewriteError};
use sapwood_testing::cases;
use sapwood_types::DataType;

sapwood_ptir::ops! {
    family "unknown", table unknown_ops, values UnknownValueOps, graph UnknownGraphOps;

    /// An op that the built-in registry does not have.
    op mystery Mystery "unknown.mystery" (input: Value) {} -> one [] = |cx| cx.same_as(0);
}

// One of each kind: constants, elementwise ops, regions, calls with none, one and two results, tuples, an op that the
// registry lacks, several types.
const KINDS: &str = r#"ptir 1

func @g(%x: f32[4]) -> f32[4] {
  %y = exp %x : f32[4]
  return %y
}

func @f(%p: bool[], %x: f32[4], %n: i32[]) -> (f32[4], f32[4], i32[]) {
  %half = constant 0.5 : f32[4]
  %one = constant 1 : i32[]
  %e = exp %x : f32[4]
  %m = mul %e, %half : f32[4]
  %c = cond %p () {
    %neg = neg %m : f32[4]
    yield %neg
  } () {
    %g = call @g %m : f32[4]
    yield %g
  } : f32[4]
  %i, %w = while %n, %c (%a: i32[], %b: f32[4]) {
    %less = compare %a, %one {direction = lt} : bool[]
    yield %less
  } (%a2: i32[], %b2: f32[4]) {
    %next = add %a2, %one : i32[]
    %twice = add %b2, %e : f32[4]
    yield %next, %twice
  } : i32[], f32[4]
  custom_call "none" %e
  %k = custom_call "one" %e {has_side_effect = false} : f32[4]
  %k1, %k2 = custom_call "two" %k : f32[4], i32[]
  %t = tuple %w, %k2 : tuple<f32[4], i32[]>
  %t0 = get_tuple_element %t {index = 0} : f32[4]
  %r = reshape %t0 : f32[2, 2]
  %dead = neg %r : f32[2, 2]
  return %t0, %k1, %i
}
"#;

type Edit = Box<dyn Fn(&mut ProgramRewriter<'_>) -> Result<(), RewriteError>>;

fn insert<T: Op + 'static>(at: InstId, op: T) -> Edit {
    Box::new(move |rw| rw.insert_before(at, op.clone()).map(drop))
}

fn custom_call(input: ValueId, results: usize) -> CustomCall {
    let ty = TensorType::new(DataType::F32, [4u64]);
    CustomCall {
        args: [input].into_iter().collect(),
        target: "made".into(),
        config: None,
        has_side_effect: true,
        types: std::iter::repeat_n(ty, results).collect::<ResultTypes>(),
    }
}

// The instructions, values and bodies to use: all of the function, an erased one, and one that never existed.
struct Ids {
    insts: Vec<InstId>,
    values: Vec<ValueId>,
    bodies: Vec<BodyId>,
}

impl Ids {
    fn of(f: &Function) -> Self {
        Self {
            insts: (0..=f.inst_capacity()).map(InstId::from_index).collect(),
            values: (0..=f.value_capacity()).map(ValueId::from_index).collect(),
            bodies: (0..=f.body_capacity()).map(BodyId::from_index).collect(),
        }
    }
}

// Returns a random edit: a method, an op, and values.
fn random_edit(f: &Function, ids: &Ids, rng: &mut Rng) -> (String, Edit) {
    let (inst, at) = (ids.insts[rng.below(ids.insts.len())], ids.insts[rng.below(ids.insts.len())]);
    let (v, w) = (ids.values[rng.below(ids.values.len())], ids.values[rng.below(ids.values.len())]);
    let body = ids.bodies[rng.below(ids.bodies.len())];
    let place = [
        InsertPoint::Before(at),
        InsertPoint::After(at),
        InsertPoint::Start(body),
        InsertPoint::End(body),
    ];
    let place = place[rng.below(4)];
    let live: Vec<InstId> = ids.insts.iter().copied().filter(|&i| f.is_live(i)).collect();
    let like = live[rng.below(live.len())];
    let list: Values = (0..rng.below(4)).map(|_| ids.values[rng.below(ids.values.len())]).collect();
    let call = rng.below(12);
    let name = format!("call {call}: {inst} {at} {v} {w} {body} {place:?} like {like}, {list:?}");
    let edit: Edit = match call {
        0 => Box::new(move |rw| rw.erase_inst(inst)),
        1 => Box::new(move |rw| rw.replace_all_uses(v, w)),
        2 => {
            let results = if f.is_live(inst) { f.inst_results(inst).len() } else { 1 };
            let list: Values = match rng.below(2) {
                0 => list,
                _ => (0..results).map(|_| ids.values[rng.below(ids.values.len())]).collect(),
            };
            Box::new(move |rw| rw.replace_inst(inst, &list))
        }
        3 => {
            let n = rng.below(3);
            Box::new(move |rw| rw.set_operand(inst, n, v))
        }
        4 => Box::new(move |rw| rw.set_operands(inst, &list)),
        5 => {
            let attrs = f.attrs(like).clone();
            Box::new(move |rw| rw.set_attrs(inst, &attrs))
        }
        6 => Box::new(move |rw| rw.move_inst(inst, place)),
        7 => Box::new(move |rw| rw.inline_body(body, &list, place).map(drop)),
        8 => Box::new(move |rw| rw.take_regions(inst).map(drop)),
        9 => {
            let n = rng.below(3);
            Box::new(move |rw| rw.remove_param(body, n))
        }
        10 => {
            // Returns the parts of an existing instruction with some operands or regions exchanged.
            let mut parts = f.parts_of(like);
            if let Some(slot) = parts.operands.first_mut().filter(|_| rng.below(2) == 0) {
                *slot = v;
            }
            if rng.below(2) == 0 {
                parts.regions.iter_mut().for_each(|region| *region = body);
            }
            Box::new(move |rw| rw.insert_parts(place, &parts).map(drop))
        }
        _ => match rng.below(12) {
            0 => insert(at, Neg { input: v }),
            1 => insert(at, Add { lhs: v, rhs: w }),
            2 => insert(at, custom_call(v, 0)),
            3 => insert(at, custom_call(v, 1)),
            4 => insert(at, custom_call(v, 2)),
            5 => insert(at, Return { values: list }),
            6 => insert(at, Yield { values: list }),
            7 => insert(at, Mystery { input: v }),
            8 => insert(at, Tuple { elements: list }),
            9 => insert(at, Cond { pred: v, then: body, otherwise: body }),
            10 => insert(at, While { inits: list, cond: body, body }),
            _ => insert(at, Constant { value: literal(0.25) }),
        },
    };
    (name, edit)
}

fn literal(number: f64) -> TensorLiteral {
    TensorLiteral::filled(DataType::F32, &[4], number).unwrap()
}

// The place of a new constant is part of the rewriter's state and must be unchanged too.
fn with_constant(rw: &mut ProgramRewriter<'_>) -> String {
    let f = rw.function();
    let end = f.terminator(f.body()).unwrap();
    rw.materialize_constant(end, &literal(0.3713));
    format!("{:?}", rw.function())
}

// Makes an edit on a copy, with and without a listener. Returns true if it was refused, and checks that nothing changed.
fn refused(f: &Function, name: &str, edit: &Edit) -> bool {
    let before = format!("{f:?}");
    let expected = with_constant(&mut ProgramRewriter::new(&mut f.clone()));
    let mut outcomes = [true; 2];
    for (listens, outcome) in [false, true].into_iter().zip(&mut outcomes) {
        let (mut copy, mut count) = (f.clone(), EditCount::default());
        let mut rw = ProgramRewriter::new(&mut copy);
        if listens {
            rw.listen(&mut count);
        }
        let result = edit(&mut rw);
        *outcome = result.is_err();
        match result {
            Ok(()) => copy.check_indices().unwrap_or_else(|e| panic!("{name}: {e}\n{before}")),
            Err(why) => {
                assert_eq!(format!("{:?}", rw.function()), before, "{name}: {why}");
                assert_eq!(
                    with_constant(&mut rw),
                    expected,
                    "{name}: {why}: the place of constants"
                );
                copy.check_indices().unwrap_or_else(|e| panic!("{name}: {why}: {e}\n{before}"));
                assert_eq!(count.0, usize::from(listens), "{name}: {why}: listeners were notified");
            }
        }
    }
    assert_eq!(outcomes[0], outcomes[1], "{name}: refused with a listener or without");
    outcomes[0]
}

// Returns the function itself, without an erased instruction, with detached bodies, and with detached bodies that use each
// other's values.
fn states(f: &Function) -> Vec<Function> {
    let mut states = vec![f.clone()];
    let mut erased = f.clone();
    let dead = erased
        .walk()
        .find(|&i| erased.results_unused(i) && !erased.op_def(i).is_some_and(|def| def.terminator));
    if dead.is_some_and(|dead| erased.erase(dead).is_ok()) {
        states.push(erased);
    }
    let mut detached = f.clone();
    if let Some(owner) = detached.walk().find(|&i| !detached.regions(i).is_empty()) {
        let bodies = detached.take_regions(owner).unwrap();
        states.push(detached.clone());
        let inner = detached.walk_body(bodies[0]).find_map(|i| detached.value_of(i));
        let body = detached.new_body(&[]);
        if let Some(inner) = inner {
            let mut rw = ProgramRewriter::new(&mut detached);
            let mut parts = OpParts::new(Tuple::key());
            parts.operands.push(inner);
            rw.insert_parts(InsertPoint::End(body), &parts).unwrap();
            states.push(detached);
        }
    }
    states
}

fn check(f: &Function, steps: usize, rng: &mut Rng) -> (usize, usize) {
    let (mut no, mut yes) = (0, 0);
    for state in states(f) {
        let ids = Ids::of(&state);
        for _ in 0..steps {
            let (name, edit) = random_edit(&state, &ids, rng);
            match refused(&state, &name, &edit) {
                true => no += 1,
                false => yes += 1,
            }
        }
    }
    (no, yes)
}

#[test]
fn refused_edits_of_every_kind_of_op_change_nothing() {
    let program = parse(KINDS).unwrap_or_else(|p| panic!("{p}"));
    let f = program.function("f").unwrap();
    let steps = cases(4_000, 100_000) as usize;
    let (no, yes) = check(f, steps, &mut Rng::new(1));
    assert!(no > steps && yes > steps / 50, "{no} refused, {yes} done");
}

#[test]
fn refused_edits_of_random_programs_change_nothing() {
    let (mut no, mut yes) = (0, 0);
    for seed in 0..u64::from(cases(30, 1_000)) {
        let program = random_program(seed, &RandomProgramConfig::default());
        for f in program.functions() {
            let (more_no, more_yes) = check(f, 60, &mut Rng::new(seed));
            (no, yes) = (no + more_no, yes + more_yes);
        }
    }
    assert!(no > 500 && yes > 20, "{no} refused, {yes} done");
}

#[test]
fn an_op_without_results_or_registry_entry_is_not_inserted() {
    let mut program = parse(KINDS).unwrap();
    let f = program.function_mut("f").unwrap();
    let (x, at) = (f.params()[1], f.terminator(f.body()).unwrap());
    let before = format!("{f:?}");
    let mut rw = ProgramRewriter::new(f);
    let why = rw.insert_before(at, custom_call(x, 0)).unwrap_err().to_string();
    assert_eq!(why, "custom_call: expected 1 value(s), found 0");
    let why = rw.insert_before(at, Mystery { input: x }).unwrap_err().to_string();
    assert_eq!(why, "unknown.mystery: the registry of the function does not have this op");
    assert_eq!(format!("{f:?}"), before);
}
