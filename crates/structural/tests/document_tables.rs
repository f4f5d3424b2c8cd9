//! The tables of the document on kinds and fields, one test per row.

use std::cell::Cell;

use crate::lang::{Lang, languages, list, make, same, same_mapped};
use sapwood_structural::{
    FieldBuilder, FieldRole, Mismatch, MismatchReason, NodeKind, TypeBuilder, TypeInfo,
    TypeRegistry, Value, equal, first_mismatch,
};

fn each(test: impl Fn(&Lang)) {
    languages().into_iter().for_each(test);
}

/// Full comparison of tree and dag: the two columns are two ways to wrap an expression.
mod tree_and_dag {
    use super::{Lang, Value, each, list, same};

    fn tree(l: &Lang, value: &Value) -> Value {
        l.next(value)
    }

    fn dag(l: &Lang, value: &Value) -> Value {
        l.once(&l.next(value))
    }

    #[test]
    fn trees_of_the_same_content() {
        each(|l| {
            let x = l.var("x");
            for wrap in [tree, dag] {
                let pair = || list(&[&wrap(l, &x), &wrap(l, &l.int(2))]);
                assert!(same(&pair(), &pair()));
            }
        });
    }

    #[test]
    fn dags_of_the_same_sharing() {
        each(|l| {
            let x = l.var("x");
            for wrap in [tree, dag] {
                let pair = || {
                    let s = wrap(l, &x);
                    list(&[&s, &s])
                };
                assert!(same(&pair(), &pair()));
            }
        });
    }

    #[test]
    fn shared_on_the_left_alone() {
        each(|l| {
            let x = l.var("x");
            for (wrap, equal) in [(tree as fn(&Lang, &Value) -> Value, true), (dag, false)] {
                let s = wrap(l, &x);
                let copies = list(&[&wrap(l, &x), &wrap(l, &x)]);
                assert_eq!(same(&list(&[&s, &s]), &copies), equal);
            }
        });
    }

    #[test]
    fn shared_on_the_right_alone() {
        each(|l| {
            let x = l.var("x");
            for (wrap, equal) in [(tree as fn(&Lang, &Value) -> Value, true), (dag, false)] {
                let (a, b) = (wrap(l, &x), wrap(l, &x));
                assert_eq!(same(&list(&[&a, &b]), &list(&[&a, &a])), equal);
            }
        });
    }
}

/// Fields of variables, and mappings that last.
mod sticky_mapping {
    use super::{
        FieldBuilder, FieldRole, NodeKind, TypeBuilder, TypeRegistry, each, make, same, same_mapped,
    };

    #[test]
    fn first_meeting_of_one_type() {
        each(|l| {
            let (x, y) = (l.typed("x", "int"), l.typed("y", "int"));
            assert!(same(&l.fun(&[&x], &x), &l.fun(&[&y], &y)));
            assert!(same_mapped(&x, &y));
        });
    }

    #[test]
    fn first_meeting_of_two_types() {
        each(|l| {
            let (x, y) = (l.typed("x", "int"), l.typed("y", "float"));
            assert!(!same(&l.fun(&[&x], &x), &l.fun(&[&y], &y)));
            assert!(!same_mapped(&x, &y));
        });
    }

    #[test]
    fn later_meetings_look_up_and_do_not_look_at_types() {
        // The only way to map variables of two types is a hook that does not look at them.
        let mut registry = TypeRegistry::new();
        let untyped = TypeBuilder::new("ir.UntypedVar")
            .kind(NodeKind::Var)
            .field(FieldBuilder::new("name").role(FieldRole::Ignore))
            .field(FieldBuilder::new("ty"))
            .equal_hook(Box::new(|_, _, _| Ok(true)))
            .hash_hook(Box::new(|_, init, _| Ok(init)))
            .register(&mut registry)
            .unwrap();
        each(|l| {
            let x = make(untyped, ["x".into(), "int".into()]);
            let y = make(untyped, ["y".into(), "float".into()]);
            assert!(same(&l.fun(&[&x], &l.add(&x, &x)), &l.fun(&[&y], &l.add(&y, &y))));
            assert!(!same(&l.fun(&[&x], &x), &l.fun(&[&y], &x)), "it is still a variable");
        });
    }
}

/// With and without definition regions.
mod definition_regions {
    use super::{each, same};

    #[test]
    fn one_parameter_renamed() {
        each(|l| {
            let [x, y] = l.vars(["x", "y"]);
            assert!(same(&l.fun(&[&x], &l.next(&x)), &l.fun(&[&y], &l.next(&y))));
        });
    }

    #[test]
    fn the_body_uses_a_variable_bound_to_another() {
        each(|l| {
            let [x, y] = l.vars(["x", "y"]);
            assert!(!same(&l.fun(&[&x], &l.next(&x)), &l.fun(&[&y], &l.next(&x))));
        });
    }

    #[test]
    fn two_parameters_renamed() {
        each(|l| {
            let [x, y, a, b] = l.vars(["x", "y", "a", "b"]);
            assert!(same(&l.fun(&[&x, &y], &l.add(&x, &y)), &l.fun(&[&a, &b], &l.add(&a, &b))));
        });
    }

    #[test]
    fn two_parameters_used_the_other_way_round() {
        each(|l| {
            let [x, y, a, b] = l.vars(["x", "y", "a", "b"]);
            assert!(!same(&l.fun(&[&x, &y], &l.add(&x, &y)), &l.fun(&[&a, &b], &l.add(&b, &a))));
        });
    }

    #[test]
    fn bare_expressions_over_two_variables() {
        each(|l| {
            let [x, y] = l.vars(["x", "y"]);
            assert!(!same(&l.next(&x), &l.next(&y)));
        });
    }

    #[test]
    fn bare_expressions_over_one_variable() {
        each(|l| {
            let x = l.var("x");
            assert!(same(&l.next(&x), &l.next(&x)));
        });
    }

    #[test]
    fn inconsistent_use() {
        each(|l| {
            let [x, y, a, b] = l.vars(["x", "y", "a", "b"]);
            assert!(!same(&l.fun(&[&x, &y], &l.add(&x, &x)), &l.fun(&[&a, &b], &l.add(&a, &b))));
        });
    }
}

/// The overview of all kinds: the properties that a wrapper of each kind tracks.
mod kinds {
    use super::*;

    thread_local! {
        static LOOKED: Cell<usize> = const { Cell::new(0) };
    }

    struct Types {
        /// Its hook counts how often it is compared.
        counted: &'static TypeInfo,
        wrapper: &'static TypeInfo,
    }

    fn types(kind: NodeKind) -> Types {
        let mut registry = TypeRegistry::new();
        let counted = TypeBuilder::new("glance.Counted")
            .field(FieldBuilder::new("value"))
            .equal_hook(Box::new(|left, right, cx| {
                LOOKED.set(LOOKED.get() + 1);
                cx.equal(left.child(0), right.child(0), false, "value")
            }))
            .hash_hook(Box::new(|node, init, cx| cx.hash(node.child(0), init, false)))
            .register(&mut registry)
            .unwrap();
        let wrapper = TypeBuilder::new("glance.Wrapper")
            .kind(kind)
            .field(FieldBuilder::new("value").role(FieldRole::Usual))
            .register(&mut registry)
            .unwrap();
        Types { counted, wrapper }
    }

    impl Types {
        fn wrap(&self, value: i64) -> Value {
            make(self.wrapper, [value.into()])
        }

        /// Returns whether two nodes of one content, each bound in its place, are equal.
        fn compares_content(&self, l: &Lang) -> bool {
            let bound = |value| l.fun(&[&self.wrap(value)], &Value::None);
            assert!(!equal(&bound(1), &bound(2)).unwrap(), "never equal with another content");
            same(&bound(1), &bound(1))
        }

        /// Returns whether the same pointer on both sides is equal without a visit.
        fn has_pointer_shortcut(&self, l: &Lang) -> bool {
            let inner = make(self.counted, [1.into()]);
            let bound = l.fun(&[&make(self.wrapper, [inner])], &Value::None);
            LOOKED.set(0);
            assert!(equal(&bound, &bound).unwrap());
            LOOKED.get() == 0
        }

        /// Returns the mismatch of a node used twice and two nodes.
        fn shared_or_not(&self, l: &Lang) -> Option<Mismatch> {
            let s = self.wrap(1);
            let once = l.fun(&[&s, &s], &Value::None);
            let twice = l.fun(&[&self.wrap(1), &self.wrap(1)], &Value::None);
            first_mismatch(&once, &twice).unwrap()
        }

        /// Returns the mismatch of using the first and the second of two equal parameters.
        fn first_or_second(&self, l: &Lang) -> Option<Mismatch> {
            let (a, b) = (self.wrap(1), self.wrap(1));
            first_mismatch(&l.fun(&[&a, &b], &a), &l.fun(&[&a, &b], &b)).unwrap()
        }
    }

    fn is_sharing(mismatch: Option<Mismatch>) -> bool {
        mismatch.is_some_and(|mismatch| matches!(mismatch.reason, MismatchReason::Sharing))
    }

    fn is_binding(mismatch: Option<Mismatch>) -> bool {
        mismatch.is_some_and(|mismatch| matches!(mismatch.reason, MismatchReason::Binding(Some(_))))
    }

    #[test]
    fn singleton_is_a_pointer_only() {
        each(|l| {
            let types = types(NodeKind::Singleton);
            assert!(!types.compares_content(l));
            assert!(types.has_pointer_shortcut(l));
            assert!(!is_sharing(types.shared_or_not(l)));
            assert!(!is_binding(types.first_or_second(l)));
        });
    }

    #[test]
    fn trees_are_content_and_const_trees_have_a_pointer_shortcut() {
        for (kind, shortcut) in [(NodeKind::Tree, false), (NodeKind::ConstTree, true)] {
            each(|l| {
                let types = types(kind);
                assert!(types.compares_content(l));
                assert_eq!(types.has_pointer_shortcut(l), shortcut);
                assert!(types.shared_or_not(l).is_none());
                assert!(types.first_or_second(l).is_none());
            });
        }
    }

    #[test]
    fn dag_is_content_and_sharing() {
        each(|l| {
            let types = types(NodeKind::Dag);
            assert!(types.compares_content(l));
            assert!(!types.has_pointer_shortcut(l));
            assert!(is_sharing(types.shared_or_not(l)));
            assert!(!is_binding(types.first_or_second(l)), "sharing distinguishes it");
        });
    }

    #[test]
    fn var_is_content_and_binding_position() {
        each(|l| {
            let types = types(NodeKind::Var);
            assert!(types.compares_content(l));
            assert!(!types.has_pointer_shortcut(l));
            assert!(!is_sharing(types.shared_or_not(l)), "its binding distinguishes it");
            assert!(is_binding(types.first_or_second(l)));
        });
    }
}
