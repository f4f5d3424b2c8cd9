//! Tests of the hash: no collisions on sets that collide with weaker hashes, and values that never change.

use crate::lang;
use std::collections::HashSet;
use std::process::Command;

use crate::lang::{Lang, derived, described, ints, list};
use sapwood_structural::{BigInt, Bytes, HASH_VERSION, Map, Set, Tensor, Value, equal, hash};
use sapwood_types::DataType;

/// Returns the number of values, and the number of different 64-bit hashes.
fn count(values: impl IntoIterator<Item = Value>) -> (usize, usize) {
    let hashes: Vec<u64> = values.into_iter().map(|value| hash(&value).unwrap().lo).collect();
    (hashes.len(), hashes.iter().collect::<HashSet<_>>().len())
}

#[track_caller]
fn no_collisions(expected: usize, values: impl IntoIterator<Item = Value>) {
    assert_eq!(count(values), (expected, expected));
}

#[test]
fn pairs_of_small_integers_do_not_collide() {
    no_collisions(90_000, (0..300).flat_map(|a| (0..300).map(move |b| ints(&[a, b]))));
    let l = derived();
    let pairs = (0..300).flat_map(|a| (0..300).map(move |b| l.add(&a.into(), &b.into())));
    no_collisions(90_000, pairs);
}

#[test]
fn numbered_names_do_not_collide() {
    no_collisions(100_000, (0..100_000).map(|i| format!("x_{i:06}").into()));
    no_collisions(100_000, (0..100_000).map(|i| format!("v{i}").into()));
}

#[test]
fn shapes_do_not_collide() {
    let mut shapes = Vec::new();
    for n in [1, 2, 4, 8, 16] {
        for c in [1, 3, 16, 32, 64, 128, 256, 512, 1024, 2048] {
            for h in [1, 7, 14, 28, 56, 112] {
                for w in [1, 7, 14, 28, 56] {
                    shapes.push(ints(&[n, c, h, w]));
                }
            }
        }
    }
    no_collisions(1_500, shapes);
}

#[test]
fn additions_of_depth_two_do_not_collide() {
    let l = derived();
    let leaves: Vec<Value> = (0..8).map(|value| l.int(value)).collect();
    let sums: Vec<Value> =
        leaves.iter().flat_map(|a| leaves.iter().map(move |b| l.add(a, b))).collect();
    let below: Vec<&Value> = leaves.iter().chain(&sums).collect();
    let all = below.iter().flat_map(|a| below.iter().map(move |b| l.add(a, b)));
    no_collisions(72 * 72, all.collect::<Vec<_>>());
}

/// Closed terms of every sort.
fn closed_terms(l: &Lang) -> Vec<(&'static str, Value)> {
    let bound = |f: fn(&Lang, &[&Value], &Value) -> Value| {
        let [x, y] = l.vars(["x", "y"]);
        f(l, &[&x, &y], &l.add(&y, &l.next(&x)))
    };
    let tensor = Tensor::new(DataType::I8, &[2, 2], Bytes::new(&[1, 2, 3, 4])).unwrap();
    let map = [("a".into(), l.int(1)), ("b".into(), l.int(2))];
    let dimension = {
        let n = l.var("n");
        let x = l.typed("x", list(&[&n]));
        l.lambda(&[&x], &l.add(&x, &n))
    };
    let nested = {
        let [x, y] = l.vars(["x", "y"]);
        l.lambda(&[&x], &l.lambda(&[&y], &l.add(&x, &y)))
    };
    vec![
        ("none", Value::None),
        ("true", true.into()),
        ("1", 1.into()),
        ("1.0", 1.0.into()),
        ("nan", f64::NAN.into()),
        ("-0.0", (-0.0).into()),
        ("2^64", (1_u128 << 64).into()),
        ("16^40", BigInt::from_hex(&format!("1{}", "0".repeat(40))).unwrap().into()),
        ("text", "text".into()),
        ("a long text", "sapwood ".repeat(10).into()),
        ("bytes", Bytes::new(b"bytes").into()),
        ("tensor", tensor.into()),
        ("[]", ints(&[])),
        ("[1, 2]", ints(&[1, 2])),
        ("{a: 1, b: 2}", Map::new(map).unwrap().into()),
        ("{1, 2, 3}", Set::new([1.into(), 2.into(), 3.into()]).unwrap().into()),
        ("1 + 1", l.next(&l.int(1))),
        ("fun (x, y) y + (x + 1)", bound(Lang::fun)),
        ("λ(x, y). y + (x + 1)", bound(Lang::lambda)),
        ("λx. λy. x + y", nested),
        ("λx[n]. x + n", dimension),
        ("once(1)", l.once(&l.int(1))),
        ("mesh", l.mesh(&ints(&[2, 2]), &ints(&[0, 1, 2, 3]))),
        ("op", l.op("nn.relu")),
    ]
}

/// The hashes of the closed terms. These values are a promise: a change of any of them needs a new
/// [`HASH_VERSION`].
const GOLDEN: &[(&str, &str)] = &[
    ("none", "98ddde0915f01dadc38809533f728735"),
    ("true", "f73defb764ba4c32661c9a23a7b33765"),
    ("1", "01c8f9e4a56822542a0e6314a24211fb"),
    ("1.0", "1b9c6d4cb019f20578f4312e1fce1553"),
    ("nan", "18990c661b887886a552b38a926125e6"),
    ("-0.0", "3edf93fe2f7f1c0ba5d879e058b3877a"),
    ("2^64", "f1e09a449d870760249e0bc138a2ca0e"),
    ("16^40", "7c73217a326c7aeb7a21236d379b3080"),
    ("text", "25d04b0cf1763ad13e69e695a16b2819"),
    ("a long text", "91d395881fa3653b10bb1f058fee1df7"),
    ("bytes", "bb79b92a04845f2664b7818cf2084d4b"),
    ("tensor", "86ed244f7fbb723d6ad1fbaa605478e7"),
    ("[]", "4b9d9c8392219e758cb26bcf31aedfda"),
    ("[1, 2]", "ad49e092e3b5745aed0a8998310049b1"),
    ("{a: 1, b: 2}", "289feb48533a829547861ca89708d76b"),
    ("{1, 2, 3}", "57333a8814121722334d19f68c9de035"),
    ("1 + 1", "1ffe14c579535e67a4362ff869b54a27"),
    ("fun (x, y) y + (x + 1)", "1d478704420c8496ebdbef556cfc92ec"),
    ("λ(x, y). y + (x + 1)", "a3e6c1962cfba9be4d0a0cdb7e832fec"),
    ("λx. λy. x + y", "87fe123a721225af0c6393f0a52ae83e"),
    ("λx[n]. x + n", "2791636d51c35ffa23d11ae65f431e67"),
    ("once(1)", "0a2a9b488340aed8df2717d95a028149"),
    ("mesh", "cc5ddb0c8e17865de41fd1899d995c4f"),
    ("op", "0d385be353ed2178aa903812f3f7a9d4"),
];

fn hashes(l: &Lang) -> Vec<(&'static str, String)> {
    let hash = |(name, term): (&'static str, Value)| (name, hash(&term).unwrap().to_string());
    closed_terms(l).into_iter().map(hash).collect()
}

/// The table as it is written above.
fn table<'a>(rows: impl Iterator<Item = (&'a str, &'a str)>) -> String {
    rows.map(|(name, hash)| format!("    ({name:?}, {hash:?}),\n")).collect()
}

#[test]
fn golden_values() {
    assert_eq!(HASH_VERSION, 2, "a new version has a new table");
    for l in [derived(), described()] {
        let found = table(hashes(l).iter().map(|(name, hash)| (*name, hash.as_str())));
        assert!(found == table(GOLDEN.iter().copied()), "now the table is\n{found}");
    }
}

#[test]
fn golden_terms_differ() {
    let terms = closed_terms(derived());
    for (i, (left_name, left)) in terms.iter().enumerate() {
        for (right_name, right) in &terms[i + 1..] {
            assert!(!equal(left, right).unwrap(), "{left_name} and {right_name}");
            assert_ne!(
                hash(left).unwrap().lo,
                hash(right).unwrap().lo,
                "{left_name} and {right_name}"
            );
        }
    }
}

#[test]
fn types_of_one_key_and_one_list_of_fields_hash_alike() {
    assert_eq!(hashes(derived()), hashes(described()));
}

#[test]
fn the_key_and_the_number_of_fields_count() {
    let mut registry = sapwood_structural::TypeRegistry::new();
    let mut node = |key: &str, fields: usize| {
        let builder = sapwood_structural::TypeBuilder::new(key);
        let field = |i| sapwood_structural::FieldBuilder::new(&format!("f{i}"));
        let builder = (0..fields).fold(builder, |builder, i| builder.field(field(i)));
        let info = builder.register(&mut registry).unwrap();
        lang::make(info, (0..fields).map(|_| Value::None))
    };
    let values = vec![node("a", 0), node("b", 0), node("ab", 0), node("a1", 1), node("a2", 2)];
    no_collisions(values.len(), values);
}

/// Set in the second process, which prints the hashes of the closed terms.
const SECOND: &str = "SAPWOOD_PRINT_HASHES";

#[test]
fn closed_terms_hash_the_same_in_another_process() {
    if std::env::var_os(SECOND).is_some() {
        // Other variables first, so that creation numbers differ from those of the first process.
        let strangers: Vec<Value> = (0..1_000).map(|_| derived().var("stranger")).collect();
        #[allow(clippy::print_stdout, reason = "what the first process reads")]
        for (name, hash) in hashes(derived()) {
            println!("{SECOND} {hash} {name}");
        }
        drop(strangers);
        return;
    }
    let this = std::env::current_exe().unwrap();
    let name = "hashes::closed_terms_hash_the_same_in_another_process";
    let output = Command::new(this)
        .args(["--exact", name, "--nocapture"])
        .env(SECOND, "1")
        .output()
        .unwrap();
    let text = String::from_utf8(output.stdout).unwrap();
    // The harness may begin the line with the name of the test.
    let found: Vec<String> = text
        .lines()
        .filter_map(|line| line.split_once(&format!("{SECOND} ")))
        .map(|(_, rest)| rest.to_owned())
        .collect();
    let expected: Vec<String> =
        hashes(derived()).into_iter().map(|(name, hash)| format!("{hash} {name}")).collect();
    assert_eq!(found, expected, "{text}");
}

#[test]
fn free_variables_hash_by_creation_not_by_address() {
    let l = derived();
    let [x, y] = l.vars(["x", "x"]);
    assert_ne!(hash(&l.next(&x)).unwrap().lo, hash(&l.next(&y)).unwrap().lo);
    assert_eq!(hash(&l.next(&x)).unwrap(), hash(&l.next(&x)).unwrap());
}

#[test]
fn sharing_is_not_hashed() {
    let l = derived();
    let once = || l.once(&l.int(1));
    let s = once();
    let (shared, copies) = (list(&[&s, &s]), list(&[&once(), &once()]));
    assert_eq!(hash(&shared).unwrap(), hash(&copies).unwrap());
    assert!(!equal(&shared, &copies).unwrap());
}
