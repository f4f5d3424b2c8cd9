//! Equality and hashes of scalars, sequences, maps, sets and tensors.

use crate::lang::{ints, languages, list, same, same_mapped, same_with};
use sapwood_structural::{
    BigInt, Bytes, Error, Map, Node, Ref, Seq, Set, StructuralOptions, Tensor, Value, equal,
    first_mismatch, hash,
};
use sapwood_types::DataType;

fn map(entries: &[(&Value, &Value)]) -> Value {
    Map::new(entries.iter().map(|&(key, value)| (key.clone(), value.clone()))).unwrap().into()
}

#[test]
fn none_equals_none_and_nothing_else() {
    let others: [Value; 6] =
        [0.into(), false.into(), "".into(), 0.0.into(), ints(&[]), Bytes::new(b"").into()];
    assert!(same(&Value::None, &Value::None));
    for other in others {
        assert!(!same(&Value::None, &other), "{other:?}");
        assert_ne!(hash(&Value::None).unwrap().lo, hash(&other).unwrap().lo, "{other:?}");
    }
}

#[test]
fn one_and_true_and_one_point_zero_differ() {
    let values: [Value; 4] = [1.into(), true.into(), 1.0.into(), "1".into()];
    for (i, left) in values.iter().enumerate() {
        for (j, right) in values.iter().enumerate() {
            assert_eq!(same(left, right), i == j, "{left:?} and {right:?}");
            assert_eq!(hash(left).unwrap() == hash(right).unwrap(), i == j);
        }
    }
}

#[test]
fn every_nan_equals_every_nan() {
    let payload = f64::from_bits(0x7ff8_0000_0000_0001);
    let signalling = f64::from_bits(0x7ff0_0000_0000_0001);
    for other in [f64::NAN, -f64::NAN, payload, signalling] {
        assert!(same(&f64::NAN.into(), &other.into()));
    }
    assert!(!same(&f64::NAN.into(), &f64::INFINITY.into()));
}

#[test]
fn zero_and_minus_zero_differ() {
    assert!(!same(&0.0.into(), &(-0.0).into()));
    assert_ne!(hash(&0.0).unwrap().lo, hash(&-0.0).unwrap().lo);
}

#[test]
fn integers_of_any_size_have_one_form() {
    let big = |hex: &str| Value::from(BigInt::from_hex(hex).unwrap());
    assert!(same(&big("7f"), &127.into()));
    assert!(same(&big("-8000000000000000"), &i64::MIN.into()));
    assert!(same(&big("ffffffffffffffff"), &u64::MAX.into()));
    assert!(same(&big("-80000000000000000000000000000000"), &i128::MIN.into()));
    assert!(same(&big("ffffffffffffffffffffffffffffffff"), &u128::MAX.into()));
    let long = "1".repeat(10_000);
    assert!(same(&big(&long), &big(&format!("000{long}"))));
    assert!(!same(&big(&long), &big(&format!("-{long}"))));
    assert!(!same(&big(&long), &big(&format!("{long}1"))));
    assert!(!same(&u64::MAX.into(), &(-1).into()));
    assert!(!same(&big("8000000000000000"), &big("-8000000000000000")));
}

#[test]
fn integers_of_every_width_are_compared_by_value() {
    #[derive(Node)]
    #[node(key = "plain.Narrow")]
    struct Widths(i8, u8, i16, u16, i32, u32, i64, u64, i128, u128);
    let make = |v: u8| -> Value {
        let w = Widths(1, v, 1, v.into(), 1, v.into(), 1, v.into(), 1, v.into());
        Ref::new(w).into()
    };
    assert!(same(&make(200), &make(200)));
    assert!(!same(&make(200), &make(201)));
    assert_eq!(hash(&200_u8).unwrap(), hash(&200_i128).unwrap());
}

#[test]
fn a_longer_sequence_reports_the_first_difference() {
    let mismatch = first_mismatch(&ints(&[1, 2, 3]), &ints(&[1, 5])).unwrap().unwrap();
    assert_eq!(mismatch.left.to_string(), "<root>[1]");
    assert_eq!(mismatch.reason.to_string(), "their values differ");
}

#[test]
fn a_longer_sequence_reports_the_missing_items() {
    let mismatch = first_mismatch(&ints(&[1, 2]), &ints(&[1, 2, 3, 4])).unwrap().unwrap();
    assert_eq!(mismatch.left.to_string(), "<root>[2]");
    assert_eq!(mismatch.right.to_string(), "<root>[2]");
    assert!(mismatch.left_value.is_none());
    assert_eq!(format!("{:?}", mismatch.right_value.unwrap()), "3");
    assert_eq!(mismatch.reason.to_string(), "one sequence is longer");
}

#[test]
fn a_sequence_of_its_own_equals_one_inside_its_owner() {
    let shared = Value::from(Seq::new([1.into(), 2.into()]));
    assert!(equal(&shared, &vec![1, 2]).unwrap());
    assert!(equal(&(1, 2), &[1, 2]).unwrap());
}

#[test]
fn maps_do_not_see_the_order_of_insertion() {
    for l in languages() {
        let (a, b) = ("a".into(), "b".into());
        let (one, two) = (l.int(1), l.int(2));
        assert!(same(&map(&[(&a, &one), (&b, &two)]), &map(&[(&b, &two), (&a, &one)])));
        assert!(!same(&map(&[(&a, &one), (&b, &two)]), &map(&[(&a, &two), (&b, &one)])));
        assert!(!same(&map(&[(&a, &one)]), &map(&[(&a, &one), (&b, &two)])));
    }
}

#[test]
fn maps_do_not_see_the_order_of_insertion_where_values_bind() {
    for l in languages() {
        let keys: Vec<Value> = (0..20).map(Value::from).collect();
        let build = |backwards: bool| {
            let x = l.var("x");
            let assign = l.assign(&x, &l.int(1));
            let mut entries: Vec<(&Value, &Value)> = keys.iter().map(|k| (k, &assign)).collect();
            entries[7].1 = &x;
            if backwards {
                entries.reverse();
            }
            map(&entries)
        };
        assert!(same_mapped(&build(false), &build(true)));
        let whole = |backwards| {
            let x = l.var("x");
            l.fun(&[&x], &map(&[(&keys[0], &x), (&keys[1], &build(backwards))]))
        };
        assert!(same_mapped(&whole(false), &whole(true)));
    }
}

#[test]
fn keys_may_hold_variables_bound_before() {
    for l in languages() {
        let (one, two) = (l.int(1), l.int(2));
        let build = |names: [&str; 2], swap: bool| {
            let [x, y] = l.vars(names);
            let entries = [(&x, &one), (&y, &two)];
            let entries = if swap { [entries[1], entries[0]] } else { entries };
            l.fun(&[&x, &y], &map(&entries))
        };
        assert!(same(&build(["x", "y"], false), &build(["a", "b"], true)));
        let [x, y] = l.vars(["x", "y"]);
        let swapped = l.fun(&[&x, &y], &map(&[(&x, &two), (&y, &one)]));
        assert!(!same(&build(["x", "y"], false), &swapped));
    }
}

#[test]
fn keys_never_bind() {
    for l in languages() {
        let [x, y] = l.vars(["x", "y"]);
        let one = l.int(1);
        assert!(!same_mapped(&map(&[(&x, &one)]), &map(&[(&y, &one)])));
        assert!(same_mapped(&map(&[(&x, &one)]), &map(&[(&x, &one)])));
        let assign = |v: &Value| map(&[(&l.assign(v, &l.int(0)), &one)]);
        assert!(!same(&assign(&x), &assign(&y)));
    }
}

#[test]
fn a_key_twice_is_refused() {
    let twice = Map::new([(1.into(), 1.into()), (1.into(), 2.into())]).unwrap_err();
    assert_eq!(twice.to_string(), "duplicate key 1 in this map");
    let twice = Set::new(["a".into(), "a".into()]).unwrap_err();
    assert!(matches!(twice, Error::DuplicateKey { container: "set", .. }), "{twice}");
    assert!(Map::new([(1.into(), 1.into()), (true.into(), 2.into())]).is_ok());
}

#[test]
fn a_key_on_one_side_alone_is_named() {
    let (k, j, one) = ("k".into(), "j".into(), 1.into());
    let (left, right) = (map(&[(&k, &one), (&j, &one)]), map(&[(&k, &one)]));
    let mismatch = first_mismatch(&left, &right).unwrap().unwrap();
    assert_eq!(mismatch.left.to_string(), "<root>[\"j\"]");
    assert_eq!(mismatch.reason.to_string(), "the key exists on one side only");
    assert!(mismatch.left_value.is_some() && mismatch.right_value.is_none());
    let mismatch = first_mismatch(&right, &left).unwrap().unwrap();
    assert!(mismatch.left_value.is_none() && mismatch.right_value.is_some());
}

#[test]
fn sets_are_compared_by_their_members() {
    let set = |items: &[&str]| -> Value {
        Set::new(items.iter().map(|&item| item.into())).unwrap().into()
    };
    assert!(same(&set(&["a", "b"]), &set(&["b", "a"])));
    assert!(!same(&set(&["a", "b"]), &set(&["a", "c"])));
    assert!(!same(&set(&["a", "b"]), &set(&["a"])));
    assert!(!same(&set(&["a"]), &list(&[&"a".into()])));
}

fn tensor(dtype: DataType, shape: &[u64], content: &[u8]) -> Value {
    Tensor::new(dtype, shape, Bytes::new(content)).unwrap().into()
}

#[test]
fn tensors_are_data_type_shape_and_content() {
    let one = tensor(DataType::I8, &[2, 2], &[1, 2, 3, 4]);
    assert!(same(&one, &tensor(DataType::I8, &[2, 2], &[1, 2, 3, 4])));
    assert!(!same(&one, &tensor(DataType::U8, &[2, 2], &[1, 2, 3, 4])));
    assert!(!same(&one, &tensor(DataType::I8, &[4], &[1, 2, 3, 4])));
    assert!(!same(&one, &tensor(DataType::I8, &[2, 2], &[1, 2, 3, 5])));
}

#[test]
fn the_content_of_tensors_can_be_skipped() {
    let skip = StructuralOptions { skip_tensor_content: true, ..StructuralOptions::default() };
    for l in languages() {
        let inside =
            |dtype, shape: &[u64], last| l.next(&list(&[&tensor(dtype, shape, &[1, 2, 3, last])]));
        let one = inside(DataType::I8, &[2, 2], 4);
        assert!(same_with(&one, &inside(DataType::I8, &[2, 2], 5), skip));
        assert!(!same_with(&one, &inside(DataType::U8, &[2, 2], 4), skip));
        assert!(!same_with(&one, &inside(DataType::I8, &[4], 4), skip));
        // A hash kept from one way of looking must not answer for the other.
        hash(&one).unwrap();
        assert!(same_with(&one, &inside(DataType::I8, &[2, 2], 5), skip));
        assert!(!same(&one, &inside(DataType::I8, &[2, 2], 5)));
    }
}

#[test]
fn a_tensor_of_the_wrong_size_is_refused() {
    let error = Tensor::new(DataType::F32, &[2, 3], Bytes::new(&[0; 20])).unwrap_err();
    assert!(error.to_string().ends_with("takes 24 bytes, found 20"), "{error}");
    assert!(Tensor::new(DataType::F32, &[u64::MAX, 2], Bytes::new(&[])).is_err());
}

#[test]
fn a_tensor_with_an_empty_extent_at_any_axis_is_empty() {
    const HUGE: u64 = 1 << 40;
    for shape in [[0, HUGE, HUGE], [HUGE, 0, HUGE], [HUGE, HUGE, 0]] {
        tensor(DataType::F32, &shape, &[]);
        let error = Tensor::new(DataType::F32, &shape, Bytes::new(&[0; 4])).unwrap_err();
        assert!(error.to_string().ends_with("takes 0 bytes, found 4"), "{error}");
    }
}

#[test]
fn bytes_are_not_text() {
    assert!(!same(&Bytes::new(b"a").into(), &"a".into()));
    assert!(same(&Bytes::new(b"a").into(), &Bytes::new(b"a").into()));
}
