//! Deep, wide and heavily shared graphs: built, compared, hashed, their first mismatch and all
//! differences found, and dropped, on a small stack.

use std::time::Instant;

use crate::lang::{Lang, derived, described, list, make};
use sapwood_structural::{
    EqualCx, Error, FieldBuilder, FieldRole, HashCx, Map, Node, NodeKind, Ref, Seq,
    StructuralHooks, StructuralOptions, TypeBuilder, TypeRegistry, Value, equal,
};
use sapwood_testing::on_small_stack;

const MILLION: usize = 1_000_000;
const MANY: usize = 100_000;
const LEVELS: usize = 1_000;

/// Runs one step and prints its time (`--nocapture` shows it). A step that cost paths instead of nodes would
/// never end.
fn step<T>(name: &str, work: impl FnOnce() -> T) -> T {
    let start = Instant::now();
    let result = work();
    #[allow(clippy::print_stderr, reason = "captured unless asked for")]
    {
        let thread = std::thread::current();
        eprintln!("{:>10.1?} {} {name}", start.elapsed(), thread.name().unwrap_or(""));
    }
    result
}

/// Runs all functions on the values of `build`; `build(true)` differs from `build(false)` at the very bottom,
/// `depth` steps down.
fn exercise(options: StructuralOptions, depth: usize, build: impl Fn(bool) -> Value + Sync) {
    with(build, |values| {
        compare(options, values);
        explain(options, depth, values);
        let [left, _, other] = values;
        let all = step("diff", || options.diff(left, other, 10)).unwrap();
        assert_eq!(all[0].left.steps().len(), depth);
    });
}

/// Builds two equal values and a third one, works with them, and drops them.
fn with(build: impl Fn(bool) -> Value + Sync, work: impl Fn(&[Value; 3]) + Sync) {
    on_small_stack(|| {
        let values = [false, false, true].map(|changed| step("build", || build(changed)));
        work(&values);
        step("drop", || drop(values));
    });
}

/// Equality and hash.
fn compare(options: StructuralOptions, [left, right, other]: &[Value; 3]) {
    assert!(step("equal", || options.equal(left, right)).unwrap());
    assert!(!step("not equal", || options.equal(left, other)).unwrap());
    let [left, right, other] =
        [left, right, other].map(|value| step("hash", || options.hash(value)).unwrap());
    assert_eq!(left, right);
    assert_ne!(left.lo, other.lo);
}

/// The first mismatch.
fn explain(options: StructuralOptions, depth: usize, [left, right, other]: &[Value; 3]) {
    let none = step("no mismatch", || options.first_mismatch(left, right)).unwrap();
    assert!(none.is_none());
    let mismatch = step("mismatch", || options.first_mismatch(left, other)).unwrap().unwrap();
    assert_eq!(mismatch.left.steps().len(), depth, "{mismatch}");
    assert!(mismatch.to_string().len() < 10_000);
}

fn default(depth: usize, build: impl Fn(bool) -> Value + Sync) {
    exercise(StructuralOptions::default(), depth, build);
}

fn bottom(l: &Lang, changed: bool) -> Value {
    l.int(if changed { 2 } else { 1 })
}

// Chains.

#[test]
fn a_chain_of_a_million() {
    let l = derived();
    default(MILLION + 1, |changed| {
        let one = l.int(1);
        (0..MILLION).fold(bottom(l, changed), |below, _| l.add(&below, &one))
    });
}

#[test]
fn a_chain_of_a_million_described_at_run_time() {
    let l = described();
    default(MILLION + 1, |changed| {
        let one = l.int(1);
        (0..MILLION).fold(bottom(l, changed), |below, _| l.add(&one, &below))
    });
}

#[test]
fn a_chain_of_a_million_over_a_parameter() {
    let l = derived();
    default(MILLION + 3, |changed| {
        let x = l.var("x");
        let start = list(&[&x, &bottom(l, changed)]);
        l.lambda(&[&x], &(0..MILLION).fold(start, |below, _| l.add(&x, &below)))
    });
}

#[test]
fn a_chain_of_a_million_over_a_free_variable() {
    let l = derived();
    exercise(StructuralOptions::mapping_free_vars(), MILLION + 2, |changed| {
        let x = l.var("x");
        let start = list(&[&x, &bottom(l, changed)]);
        (0..MILLION).fold(start, |below, _| l.add(&below, &x))
    });
}

#[test]
fn a_chain_of_a_million_dag_nodes() {
    let l = derived();
    default(MILLION + 1, |changed| {
        (0..MILLION).fold(bottom(l, changed), |below, _| l.once(&below))
    });
}

#[test]
fn a_chain_of_a_million_sequences() {
    default(MILLION + 1, |changed| {
        (0..MILLION).fold(derived().int(i64::from(changed)), |below, _| Seq::new([below]).into())
    });
}

#[test]
fn a_chain_of_many_assignments() {
    let l = derived();
    // x1 = bottom; x2 = x1 + 1; …; each used after it is bound, in one sequence.
    default(4, |changed| {
        let mut last = bottom(l, changed);
        let mut lines = Vec::new();
        for _ in 0..MANY {
            let x = l.var("x");
            lines.push(l.assign(&x, &l.next(&last)));
            last = x;
        }
        Seq::new(lines).into()
    });
}

#[test]
fn a_chain_of_many_maps() {
    default(MANY + 1, |changed| {
        (0..MANY).fold(derived().int(i64::from(changed)), |below, _| {
            Map::new([("k".into(), below)]).unwrap().into()
        })
    });
}

// Ladders: every level holds the one below twice, so there are 2^1000 paths.

#[test]
fn a_ladder() {
    for l in [derived(), described()] {
        default(LEVELS + 1, |changed| {
            (0..LEVELS).fold(bottom(l, changed), |below, _| l.add(&below, &below))
        });
    }
}

/// With this option no node caches its hash.
#[test]
fn a_ladder_without_cached_hashes() {
    let options = StructuralOptions { skip_tensor_content: true, ..StructuralOptions::default() };
    for l in [derived(), described()] {
        exercise(options, LEVELS + 1, |changed| {
            (0..LEVELS).fold(bottom(l, changed), |below, _| l.add(&below, &below))
        });
    }
}

#[test]
fn a_ladder_over_a_parameter() {
    let l = derived();
    for function in [Lang::fun, Lang::lambda] {
        default(LEVELS + 3, |changed| {
            let x = l.var("x");
            let start = l.add(&x, &bottom(l, changed));
            function(l, &[&x], &(0..LEVELS).fold(start, |below, _| l.add(&below, &below)))
        });
    }
}

#[test]
fn a_ladder_over_a_free_variable() {
    let l = derived();
    exercise(StructuralOptions::mapping_free_vars(), LEVELS + 2, |changed| {
        let x = l.var("x");
        let start = l.add(&x, &bottom(l, changed));
        (0..LEVELS).fold(start, |below, _| l.add(&below, &below))
    });
}

#[test]
fn a_ladder_of_scopes() {
    let l = derived();
    // One step into the sequence and one into the body per level.
    default(2 * LEVELS + 1, |changed| {
        (0..LEVELS).fold(bottom(l, changed), |below, _| {
            let [a, b] = l.vars(["a", "b"]);
            list(&[&l.lambda(&[&a], &below), &l.lambda(&[&b], &below)])
        })
    });
}

#[test]
fn a_ladder_of_scopes_that_use_their_variables() {
    let l = derived();
    default(3 * LEVELS + 1, |changed| {
        (0..LEVELS).fold(bottom(l, changed), |below, _| {
            let [a, b] = l.vars(["a", "b"]);
            list(&[&l.lambda(&[&a], &l.add(&a, &below)), &l.lambda(&[&b], &l.add(&b, &below))])
        })
    });
}

#[test]
fn a_ladder_of_scopes_over_a_parameter() {
    let l = derived();
    default(2 * LEVELS + 3, |changed| {
        let x = l.var("x");
        let start = l.add(&x, &bottom(l, changed));
        let ladder = (0..LEVELS).fold(start, |below, _| {
            let [a, b] = l.vars(["a", "b"]);
            list(&[&l.lambda(&[&a], &below), &l.lambda(&[&b], &below)])
        });
        l.lambda(&[&x], &ladder)
    });
}

#[test]
fn a_ladder_of_dag_nodes() {
    let l = derived();
    default(2 * LEVELS + 1, |changed| {
        (0..LEVELS).fold(bottom(l, changed), |below, _| l.once(&l.add(&below, &below)))
    });
}

#[test]
fn a_ladder_of_dag_nodes_over_a_parameter() {
    let l = derived();
    default(2 * LEVELS + 3, |changed| {
        let x = l.var("x");
        let start = l.add(&x, &bottom(l, changed));
        l.lambda(&[&x], &(0..LEVELS).fold(start, |below, _| l.once(&l.add(&below, &below))))
    });
}

#[test]
fn a_ladder_of_maps() {
    default(LEVELS + 1, |changed| {
        (0..LEVELS).fold(derived().int(i64::from(changed)), |below, _| {
            Map::new([("a".into(), below.clone()), ("b".into(), below)]).unwrap().into()
        })
    });
}

// Wide.

#[test]
fn a_map_of_a_million_entries() {
    default(1, |changed| {
        let entries = (0..MILLION as i64).map(|key| (key.into(), (key % 1000).into()));
        let last = (Value::from(-1), Value::from(changed));
        Map::new(entries.chain([last])).unwrap().into()
    });
}

#[test]
fn a_map_of_many_texts() {
    let l = derived();
    default(2, |changed| {
        let entries = (0..MANY).map(|key| (Value::from(format!("key {key}")), Value::None));
        Map::new(entries.chain([("last".into(), bottom(l, changed))])).unwrap().into()
    });
}

#[test]
fn a_map_of_many_bound_variables() {
    let l = derived();
    default(3, |changed| {
        let params: Vec<Value> = (0..MANY).map(|_| l.var("x")).collect();
        let entries = params.iter().enumerate().map(|(i, param)| {
            let value = if i == MANY / 2 { bottom(l, changed) } else { l.int(7) };
            (param.clone(), value)
        });
        let map = Map::new(entries).unwrap().into();
        make(l.lambda, [Seq::new(params).into(), map])
    });
}

#[test]
fn a_sequence_of_a_million() {
    default(1, |changed| {
        let last = Value::from(changed);
        Seq::new((0..MILLION as i64).map(Value::from).chain([last])).into()
    });
}

#[test]
fn a_lambda_of_many_parameters() {
    let l = derived();
    default(3, |changed| {
        let params: Vec<Value> = (0..MANY).map(|_| l.var("x")).collect();
        let body: Vec<Value> = params.iter().rev().cloned().chain([bottom(l, changed)]).collect();
        make(l.lambda, [Seq::new(params).into(), Seq::new(body).into()])
    });
}

#[test]
fn a_lambda_of_many_parameters_used_otherwise() {
    let l = derived();
    // Only the last two uses are the other way round.
    default(2, |changed| {
        let params: Vec<Value> = (0..MANY).map(|_| l.var("x")).collect();
        let mut body = params.clone();
        if changed {
            body.swap(MANY - 2, MANY - 1);
        }
        make(l.lambda, [Seq::new(params).into(), Seq::new(body).into()])
    });
}

#[test]
fn many_functions_over_one_body() {
    let l = derived();
    default(3, |changed| {
        let x = l.var("x");
        let body = l.add(&x, &l.int(1));
        let functions = (0..MANY).map(|_| l.lambda(&[&x], &body));
        let last = l.lambda(&[&x], &bottom(l, changed));
        Seq::new(functions.chain([last])).into()
    });
}

// Hooks and scopes.

/// A chain compared and hashed by hooks.
#[derive(Node)]
#[node(key = "deep.Hooked", hooks)]
struct Hooked {
    below: Value,
}

impl StructuralHooks for Hooked {
    fn s_equal(&self, other: &Self, cx: &mut EqualCx<'_>) -> Result<bool, Error> {
        cx.equal(&self.below, &other.below, false, "below")
    }

    fn s_hash(&self, init: u64, cx: &mut HashCx<'_>) -> Result<u64, Error> {
        cx.hash(&self.below, init, false)
    }
}

#[test]
fn a_chain_of_many_hooked_nodes() {
    default(MANY + 1, |changed| {
        (0..MANY).fold(bottom(derived(), changed), |below, _| Ref::new(Hooked { below }).into())
    });
}

#[test]
fn a_ladder_of_hooked_nodes() {
    default(2 * LEVELS + 1, |changed| {
        (0..LEVELS).fold(bottom(derived(), changed), |below, _| {
            Ref::new(Hooked { below: list(&[&below, &below]) }).into()
        })
    });
}

#[test]
fn many_scopes_inside_each_other() {
    let l = derived();
    default(2 * MANY + 1, |changed| {
        (0..MANY).fold(bottom(l, changed), |below, _| {
            let x = l.var("x");
            l.lambda(&[&x], &l.add(&x, &below))
        })
    });
}

#[test]
fn many_scopes_inside_each_other_and_all_used_in_the_innermost() {
    let l = derived();
    default(MANY + 2, |changed| {
        let params: Vec<Value> = (0..MANY).map(|_| l.var("x")).collect();
        let inner = Seq::new(params.iter().cloned().chain([bottom(l, changed)])).into();
        params.iter().fold(inner, |below, x| l.lambda(&[x], &below))
    });
}

#[test]
fn many_scopes_inside_each_other_and_the_outermost_used_in_all() {
    let l = derived();
    default(2 * MANY + 2, |changed| {
        let outer = l.var("outer");
        let inner = (0..MANY).fold(bottom(l, changed), |below, _| {
            let x = l.var("x");
            l.lambda(&[&x], &l.add(&outer, &below))
        });
        l.lambda(&[&outer], &inner)
    });
}

#[test]
fn many_scopes_whose_parameters_have_a_dimension_in_common() {
    let l = derived();
    default(MANY + 1, |changed| {
        let n = l.var("n");
        (0..MANY)
            .fold(bottom(l, changed), |below, _| l.lambda(&[&l.typed("x", list(&[&n]))], &below))
    });
}

#[test]
fn a_chain_of_variables_in_the_types_of_variables() {
    let l = derived();
    default(MANY + 2, |changed| {
        let inner = l.typed("x", i64::from(changed));
        let outer = (1..MANY).fold(inner, |below, _| l.typed("x", below));
        l.lambda(&[&outer], &Value::None)
    });
}

#[test]
fn a_chain_in_an_ignored_field_is_dropped_too() {
    let mut registry = TypeRegistry::new();
    let info = TypeBuilder::new("deep.Ignored")
        .kind(NodeKind::Tree)
        .field(FieldBuilder::new("below").role(FieldRole::Ignore))
        .register(&mut registry)
        .unwrap();
    on_small_stack(|| {
        let build = || (0..MILLION).fold(Value::None, |below, _| make(info, [below]));
        let (left, right) = (build(), build());
        assert!(step("equal", || equal(&left, &right)).unwrap());
        step("print", || assert!(format!("{left:?}").len() < 1_000));
        step("drop", || drop((left, right)));
    });
}
