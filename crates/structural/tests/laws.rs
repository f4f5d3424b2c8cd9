//! The laws of equality and hash, over random types and random graphs: kinds, roles, scopes,
//! hooks, maps and sharing.

use crate::model;
use proptest::prelude::*;
use sapwood_structural::{
    Error, Facts, FieldRole, NodeKind, PathStep, Seq, StructuralOptions, Value, equal, sharing_hash,
};
use sapwood_testing::graphs::{Allowed, Choices, Copier, Copying, RandomTypes, variables};

const SIZE: usize = 14;

fn rows() -> impl Strategy<Value = Vec<u32>> {
    proptest::collection::vec(any::<u32>(), 0..160)
}

/// The options with and without mapped free variables.
const OPTIONS: [StructuralOptions; 2] = [
    StructuralOptions { map_free_vars: false, skip_tensor_content: false },
    StructuralOptions { map_free_vars: true, skip_tensor_content: false },
];

/// Random types, a graph, and two graphs that are likely to be equal to it.
fn three(row: &[u32], allowed: Allowed) -> (RandomTypes, [Value; 3]) {
    let mut choices = Choices::new(row);
    let types = RandomTypes::new(&mut choices, allowed);
    let first = types.graph(&mut choices, SIZE);
    let mut near = |from: &Value| {
        let how = Copying {
            keep: [0, 0, 30][choices.below(3)],
            unshare: [50, 0, 50][choices.below(3)],
            rename: choices.chance(50),
            change: [0, 0, 3][choices.below(3)],
            permute: 50,
        };
        Copier::new(&mut choices, how).copy(from)
    };
    let second = near(&first);
    let third = near(&second);
    (types, [first, second, third])
}

/// Returns whether the two are equal; `None` if that cannot be decided.
fn same(left: &Value, right: &Value, options: StructuralOptions) -> Option<bool> {
    options.equal(left, right).ok()
}

proptest! {
    #![proptest_config(sapwood_testing::properties())]

    #[test]
    fn the_engine_agrees_with_the_model(row in rows()) {
        let (types, [first, second, third]) = three(&row, Allowed::ALL);
        for (left, right) in [(&first, &second), (&second, &third), (&first, &third), (&first, &first)] {
            for options in OPTIONS {
                let Some(expected) = model::equal(&types, left, right, options) else { continue };
                let found = options.equal(left, right);
                match (expected, &found) {
                    (Ok(expected), Ok(found)) => prop_assert_eq!(expected, *found,
                        "{:?} and {:?} under {:?}", left, right, options),
                    // Keys are hashed before they are compared, and so are values of tied keys; they
                    // may hold what is refused.
                    (Ok(_), Err(Error::Shadowing { inner: path, .. }
                        | Error::NotConstant { path, .. }
                        | Error::Uncomparable { path, .. }))
                        if path.steps().any(|step| matches!(step, PathStep::Key(_))) => {}
                    // The model visits values of tied keys in one of several orders.
                    (Ok(_), Err(Error::KeyCollision { .. })) => {}
                    (Ok(_), Err(error)) => prop_assert!(false, "the engine refuses {left:?} and {right:?}: {error}"),
                    // The engine does not visit equal nodes twice, so it may answer where the model
                    // reaches an error.
                    (Err(_), _) => {}
                }
            }
        }
    }

    #[test]
    fn equal_implies_same_hash(row in rows()) {
        let (_, [first, second, third]) = three(&row, Allowed::ALL);
        for (left, right) in [(&first, &second), (&second, &third), (&first, &third)] {
            for options in OPTIONS {
                if same(left, right, options) == Some(true)
                    && let (Ok(l), Ok(r)) = (options.hash(left), options.hash(right))
                {
                    prop_assert_eq!(l, r, "{:?} and {:?} under {:?}", left, right, options);
                    prop_assert_eq!(sharing_hash(left), sharing_hash(right),
                        "the sharing of {:?} and {:?} under {:?}", left, right, options);
                }
            }
        }
    }

    #[test]
    fn the_order_of_insertion_does_not_matter(row in rows()) {
        let mut choices = Choices::new(&row);
        let types = RandomTypes::new(&mut choices, Allowed { uncomparable: false, ..Allowed::ALL });
        let graph = types.graph(&mut choices, SIZE);
        let mut copier = Copier::new(&mut choices, Copying { permute: 100, ..Copying::default() });
        let permuted = copier.copy(&graph);
        // Variables are not copied, so dag nodes below them are not either.
        let holds_dag = |variable: &Value| {
            matches!(variable, Value::Node(node) if node.node().facts().any(Facts::DAG))
        };
        if copier.failed || variables(&graph).iter().any(holds_dag) {
            return Ok(());
        }
        for options in OPTIONS {
            for (left, right) in [(&graph, &permuted), (&permuted, &graph)] {
                let found = options.equal(left, right);
                let reflexive = options.equal(left, left);
                // Nodes below variables are not copied, so less may be shared, and that can reveal
                // shadowing.
                let shadows = |found: &Result<bool, Error>| matches!(found, Err(Error::Shadowing { .. }));
                if !shadows(&found) && !shadows(&reflexive) {
                    prop_assert_eq!(found.is_ok(), reflexive.is_ok(), "{:?} and {:?}", found, reflexive);
                }
                if let Ok(found) = found {
                    prop_assert!(found, "{left:?} and {right:?} under {options:?}");
                    prop_assert!(options.first_mismatch(left, right).is_ok_and(|found| found.is_none()));
                }
            }
            match (options.hash(&graph), options.hash(&permuted)) {
                (Err(Error::Shadowing { .. }), _) | (_, Err(Error::Shadowing { .. })) => {}
                (Ok(l), Ok(r)) => prop_assert_eq!(l, r, "{:?} and {:?} under {:?}", graph, permuted, options),
                (l, r) => prop_assert_eq!(l.is_ok(), r.is_ok(), "{:?} and {:?}", l, r),
            }
        }
    }

    #[test]
    fn reflexive_symmetric_transitive(row in rows()) {
        let (_, [first, second, third]) = three(&row, Allowed::ALL);
        for options in OPTIONS {
            if let Some(equal) = same(&first, &first, options) {
                prop_assert!(equal, "{first:?} is not equal to itself under {options:?}");
            }
            let there = same(&first, &second, options);
            let back = same(&second, &first, options);
            if there.is_some() && back.is_some() {
                prop_assert_eq!(there, back, "{:?} and {:?} under {:?}", first, second, options);
            }
            let on = same(&second, &third, options);
            if there == Some(true) && on == Some(true)
                && let Some(across) = same(&first, &third, options)
            {
                prop_assert!(across, "{first:?}, {second:?}, {third:?} under {options:?}");
            }
        }
    }

    #[test]
    fn renaming_bound_variables_changes_nothing(row in rows()) {
        let mut choices = Choices::new(&row);
        let types = RandomTypes::new(&mut choices, Allowed { uncomparable: false, ..Allowed::ALL });
        let graph = types.graph(&mut choices, SIZE);
        // A scope that binds every variable of the graph, and then the graph.
        let lambda = types.types[1].info;
        let close = |body: &Value| {
            let params: Seq = variables(body).into_iter().collect();
            lambda.make([params.into(), body.clone()]).map(Value::Node)
        };
        let whole = close(&graph).map_err(|error| TestCaseError::fail(error.to_string()))?;
        let how = Copying { rename: true, unshare: 30, permute: 50, ..Copying::default() };
        let mut copier = Copier::new(&mut choices, how);
        let renamed = copier.copy(&whole);
        if copier.failed {
            return Ok(());
        }
        // Shadowing inside is refused; everything else is equal.
        if let Ok(found) = equal(&whole, &renamed) {
            prop_assert!(found, "{whole:?} and {renamed:?}");
            let (l, r) = (OPTIONS[0].hash(&whole), OPTIONS[0].hash(&renamed));
            if let (Ok(l), Ok(r)) = (l, r) {
                prop_assert_eq!(l, r);
            }
        }
    }

    #[test]
    fn one_changed_field_makes_unequal(row in rows()) {
        let mut choices = Choices::new(&row);
        let plain = Allowed { hooks: false, uncomparable: false, ..Allowed::ALL };
        let types = RandomTypes::new(&mut choices, plain);
        let graph = types.graph(&mut choices, SIZE);
        let count = change_at(&graph, usize::MAX).1;
        if count == 0 {
            return Ok(());
        }
        let (changed, _) = change_at(&graph, choices.below(count));
        for options in OPTIONS {
            if let Ok(equal) = options.equal(&graph, &changed) {
                prop_assert!(!equal, "{graph:?} and {changed:?} under {options:?}");
                let mismatch = options.first_mismatch(&graph, &changed);
                prop_assert!(matches!(mismatch, Ok(Some(_)) | Err(_)), "no mismatch is found");
            }
        }
    }

    #[test]
    fn first_mismatch_and_diff_agree_with_equal(row in rows()) {
        let (_, [first, second, third]) = three(&row, Allowed::ALL);
        for (left, right) in [(&first, &second), (&first, &third)] {
            for options in OPTIONS {
                let Ok(equal) = options.equal(left, right) else { continue };
                if let Ok(mismatch) = options.first_mismatch(left, right) {
                    prop_assert_eq!(equal, mismatch.is_none(), "{:?} and {:?}", left, right);
                    if let Some(mismatch) = mismatch {
                        let all = options.diff(left, right, 100);
                        prop_assert!(all.is_err() || all.is_ok_and(|all|
                            all[0].left == mismatch.left && all[0].right == mismatch.right));
                        prop_assert!(mismatch.to_string().len() < 10_000);
                    }
                }
            }
        }
    }

    #[test]
    fn a_failed_try_leaves_no_trace(row in rows()) {
        // A hook that first tries the wrong way round gives what the right way alone gives.
        let mut choices = Choices::new(&row);
        let types = RandomTypes::new(&mut choices, Allowed { uncomparable: false, ..Allowed::ALL });
        let pair = tried::register();
        let left = types.graph(&mut choices, SIZE);
        let how = Copying { rename: true, unshare: 20, change: 2, ..Copying::default() };
        let right = Copier::new(&mut choices, how).copy(&left);
        let other = types.graph(&mut choices, SIZE);
        for options in OPTIONS {
            let make = |info: &'static sapwood_structural::TypeInfo, value: &Value| {
                info.make([other.clone(), value.clone(), value.clone()]).map(Value::Node)
                    .map_err(|error| TestCaseError::fail(error.to_string()))
            };
            let plain = options.equal(&make(pair.plain, &left)?, &make(pair.plain, &right)?);
            let trying = options.equal(&make(pair.trying, &left)?, &make(pair.trying, &right)?);
            if let (Ok(plain), Ok(trying)) = (plain, trying) {
                prop_assert_eq!(plain, trying);
            }
        }
    }
}

/// Two types of one meaning: one compares field 1, then field 2; the other first tries, and fails
/// at, comparisons that bind variables on the way.
mod tried {
    use std::sync::OnceLock;

    use sapwood_structural::{
        FieldBuilder, FieldRole, TypeBuilder, TypeInfo, TypeRegistry, Value, View,
    };

    pub(super) struct Types {
        pub(super) plain: &'static TypeInfo,
        pub(super) trying: &'static TypeInfo,
    }

    pub(super) fn register() -> &'static Types {
        static TYPES: OnceLock<Types> = OnceLock::new();
        TYPES.get_or_init(|| {
            let mut registry = TypeRegistry::new();
            let fields = |builder: TypeBuilder| {
                builder
                    .field(FieldBuilder::new("other").role(FieldRole::Ignore))
                    .field(FieldBuilder::new("a").role(FieldRole::Def))
                    .field(FieldBuilder::new("b"))
            };
            let plain = fields(TypeBuilder::new("tried.Plain")).register(&mut registry).unwrap();
            let trying = fields(TypeBuilder::new("tried.Trying"))
                .equal_hook(Box::new(|left, right, cx| {
                    // Binds, pairs and joins, and then fails on the last element.
                    let bait = |first: View<'_>, last: i64| {
                        Value::from(sapwood_structural::Seq::new([
                            Value::of(first),
                            Value::Int(last),
                        ]))
                    };
                    let wrong =
                        cx.equal(&bait(left.child(0), 1), &bait(right.child(0), 2), true, "wrong")?;
                    let worse =
                        cx.equal(&bait(left.child(1), 1), &bait(right.child(0), 2), true, "worse")?;
                    assert!(!wrong && !worse);
                    Ok(cx.equal(left.child(1), right.child(1), true, "a")?
                        && cx.equal(left.child(2), right.child(2), false, "b")?)
                }))
                .hash_hook(Box::new(|node, init, cx| {
                    let init = cx.hash(node.child(1), init, true)?;
                    cx.hash(node.child(2), init, false)
                }))
                .register(&mut registry)
                .unwrap();
            Types { plain, trying }
        })
    }
}

/// Returns a copy of `root` in which the compared scalar number `wanted` is changed, and the number of such
/// scalars. Variables and singletons are left alone: their fields are not always compared.
fn change_at(root: &Value, wanted: usize) -> (Value, usize) {
    fn copy(value: &Value, wanted: usize, seen: &mut usize) -> Value {
        let Value::Node(node) = value else {
            *seen += 1;
            return if *seen - 1 == wanted { Value::Int(77) } else { value.clone() };
        };
        let node = node.node();
        let info = node.info();
        let closed = matches!(info.kind(), NodeKind::Var | NodeKind::Singleton);
        // Keys of maps and members of sets may collide; dag nodes must stay shared.
        let container =
            info.layout() != sapwood_structural::ChildLayout::Record && info.key() != "seq";
        if closed || container || node.facts().any(Facts::DAG) {
            return value.clone();
        }
        let fields: Vec<Value> = (0..node.len())
            .map(|index| {
                let child = Value::of(node.child(index));
                let ignored =
                    info.fields().get(index).is_some_and(|field| field.role == FieldRole::Ignore);
                if ignored || *seen > wanted { child } else { copy(&child, wanted, seen) }
            })
            .collect();
        info.make(fields).map_or(Value::None, Value::Node)
    }
    let mut seen = 0;
    let changed = copy(root, wanted, &mut seen);
    (changed, seen)
}
