//! Merging during the run: names do not depend on the history of a program, and branches may be swapped.

use sapwood_ptir::{Function, Program, parse, verify};
use sapwood_rewrite::{
    GreedyConfig, GreedyStats, PatternSet, apply_patterns_and_fold_greedily, canonicalize,
};

fn simplify(f: &mut Function) -> GreedyStats {
    let mut set = PatternSet::new();
    canonicalize::populate_canonicalization(&mut set);
    let config =
        GreedyConfig { merge_equal: true, expensive_checks: true, ..GreedyConfig::default() };
    let stats = apply_patterns_and_fold_greedily(f, &set.freeze(), &config).unwrap();
    assert!(stats.converged && stats.problems.is_empty(), "{stats:?}");
    f.check_indices().unwrap();
    stats
}

// Sets each operand again, the last one first: the order of the lists of uses changes, the program does not.
fn relink(program: &mut Program, order: impl Fn(&mut Vec<(sapwood_ptir::InstId, usize)>)) {
    let f = program.function_mut("f").unwrap();
    let mut uses: Vec<_> =
        f.walk().flat_map(|i| (0..f.operands(i).len()).map(move |n| (i, n))).collect();
    order(&mut uses);
    for (inst, n) in uses {
        let value = f.operands(inst)[n];
        f.set_operand(inst, n, value).unwrap();
    }
}

#[test]
fn names_do_not_depend_on_the_order_of_uses() {
    // When `%y` becomes `%x`, three instructions become equal to one that has no name; one of them passes its name on.
    let text = "ptir 1

func @f(%x: f32[4]) -> (f32[4], f32[4], f32[4], f32[4]) {
  %0 = atan2 %x, %x : f32[4]
  %n = neg %x : f32[4]
  %y = neg %n : f32[4]
  %a = atan2 %y, %x : f32[4]
  %b = atan2 %x, %y : f32[4]
  %c = atan2 %y, %y : f32[4]
  return %0, %a, %b, %c
}
";
    let mut found = Vec::new();
    for order in 0..4 {
        let mut program = parse(text).unwrap();
        relink(&mut program, |uses| match order {
            1 => uses.reverse(),
            2 => uses.sort_by_key(|(inst, n)| (inst.index() % 3, *n)),
            3 => uses.sort_by_key(|(inst, n)| (std::cmp::Reverse(*n), inst.index() % 2)),
            _ => {}
        });
        assert_eq!(program.to_string(), text);
        simplify(program.function_mut("f").unwrap());
        found.push(program.to_string());
    }
    assert!(found.iter().all(|text| *text == found[0]), "{found:#?}");
    // The first in the program.
    assert!(found[0].contains("%a = atan2 %x, %x"), "{}", found[0]);
}

#[test]
fn branches_that_change_places_are_merged_as_before() {
    // The same computations in both branches; then an equal one is inserted before the branches and replaces all.
    let branch = |tag: &str, n: usize| -> String {
        let line = |i: usize| {
            format!(
                "    %{tag}{i} = sin %x : f32[4]\n    %{tag}_{i} = atan2 %{tag}{i}, %y : f32[4]\n"
            )
        };
        (0..n).map(line).collect()
    };
    for (left, right) in [(1, 1), (1, 5), (5, 1), (3, 3)] {
        let text = format!(
            "ptir 1\nfunc @f(%p: bool[], %x: f32[4], %y: f32[4]) -> (f32[4], f32[4]) {{
  %m = neg %x : f32[4]
  %o = neg %m : f32[4]
  %s = sin %o : f32[4]
  %q = not %p : bool[]
  %r = cond %q () {{
{}    yield %a_0
  }} () {{
{}    yield %b_0
  }} : f32[4]
  return %r, %s
}}",
            branch("a", left),
            branch("b", right)
        );
        let mut program = parse(&text).unwrap();
        simplify(program.function_mut("f").unwrap());
        verify(&program).unwrap();
        let once = program.to_string();
        assert_eq!(once.matches("sin").count(), 1, "{once}");
        // One in each branch: neither dominates the other.
        assert_eq!(once.matches("atan2").count(), 2, "{once}");
        let again = simplify(program.function_mut("f").unwrap());
        assert!(!again.changed(), "{once}");
    }
}
