//! Random loops and branches whose values are carried, unchanged, unused or used.

use std::fmt::Write;

use crate::chains::{canonicalization, rewrites_to_fixpoint};
use sapwood_ptir::parse;
use sapwood_ptir::testing::Rng;
use sapwood_rewrite::{GreedyConfig, apply_patterns_and_fold_greedily};
use sapwood_testing::cases;

struct Loops {
    rng: Rng,
    text: String,
    count: usize,
}

impl Loops {
    fn fresh(&mut self) -> String {
        self.count += 1;
        format!("%v{}", self.count)
    }

    fn pick(&mut self, values: &[String]) -> String {
        let at = self.rng.below(values.len());
        values[at].clone()
    }

    fn line(&mut self, text: &str) {
        let _ = writeln!(self.text, "{text}");
    }

    // Adds some instructions over the visible values; their results become visible.
    fn body(&mut self, seen: &mut Vec<String>, depth: usize) {
        for _ in 0..self.rng.below(4) {
            let (a, b) = (self.pick(seen), self.pick(seen));
            match self.rng.below(8) {
                0 if depth > 0 => self.branch(seen, depth - 1),
                1 if depth > 0 => self.repeat(seen, depth - 1),
                2 if depth > 0 => self.scan(seen, depth - 1),
                3 => {
                    let v = self.fresh();
                    self.line(&format!("{v} = neg {a} : f32[2]"));
                    seen.push(v);
                }
                _ => {
                    let v = self.fresh();
                    self.line(&format!("{v} = add {a}, {b} : f32[2]"));
                    seen.push(v);
                }
            }
        }
    }

    // Adds a region that sees these values besides its parameters and yields some of all.
    fn region(
        &mut self,
        seen: &[String],
        params: &[String],
        yields: usize,
        before: &str,
        depth: usize,
    ) {
        let mut inside: Vec<String> = seen.to_vec();
        inside.extend_from_slice(params);
        self.body(&mut inside, depth);
        let mut list: Vec<String> = Vec::new();
        for n in 0..yields {
            let same = params.get(n).filter(|_| self.rng.one_in(3)).cloned();
            list.push(same.unwrap_or_else(|| self.pick(&inside)));
        }
        self.line(&format!("yield {before}{}", list.join(", ")));
    }

    fn names(&mut self, n: usize) -> Vec<String> {
        (0..n).map(|_| self.fresh()).collect()
    }

    fn branch(&mut self, seen: &mut Vec<String>, depth: usize) {
        let results = self.names(2);
        let pred = ["%p", "true:bool[]", "false:bool[]", "%q"][self.rng.below(4)];
        self.line(&format!("{} = cond {pred} () {{", results.join(", ")));
        self.region(seen, &[], 2, "", depth);
        self.line("} () {");
        self.region(seen, &[], 2, "", depth);
        self.line("} : f32[2], f32[2]");
        seen.extend(results);
    }

    fn repeat(&mut self, seen: &mut Vec<String>, depth: usize) {
        let results = self.names(4);
        let (asks, params) = (self.names(4), self.names(4));
        let inits: Vec<String> = (0..3).map(|_| self.pick(seen)).collect();
        let typed = |names: &[String]| -> String {
            let rest = names[1..].iter().map(|n| format!(", {n}: f32[2]"));
            format!("{}: i32[]{}", names[0], rest.collect::<String>())
        };
        let limit = self.rng.below(4);
        let (c, k) = (self.fresh(), self.fresh());
        self.line(&format!(
            "{} = while 0:i32[], {} ({}) {{\n{c} = compare {}, {limit}:i32[] {{direction = lt}} : bool[]\nyield {c}\n}} ({}) {{\n{k} = add {}, 1:i32[] : i32[]",
            results.join(", "), inits.join(", "), typed(&asks), asks[0], typed(&params), params[0]
        ));
        self.region(seen, &params[1..], 3, &format!("{k}, "), depth);
        self.line("} : i32[], f32[2], f32[2], f32[2]");
        seen.extend_from_slice(&results[1..]);
    }

    fn scan(&mut self, seen: &mut Vec<String>, depth: usize) {
        let results = self.names(4);
        let params = self.names(3);
        let (a, b) = (self.pick(seen), self.pick(seen));
        let n = self.rng.below(4);
        let reverse = self.rng.one_in(2);
        self.line(&format!(
            "{} = scan {a}, {b}, %x{n} {{carried = 2, reverse = {reverse}}} ({}) {{",
            results.join(", "),
            params.iter().map(|p| format!("{p}: f32[2]")).collect::<Vec<_>>().join(", ")
        ));
        self.region(seen, &params, 4, "", depth);
        self.line(&format!("}} : f32[2], f32[2], f32[{n}, 2], f32[{n}, 2]"));
        for stack in &results[2..] {
            let v = self.fresh();
            self.line(&format!("{v} = reduce_max {stack} {{axes = [0]}} : f32[2]"));
            seen.push(v);
        }
        seen.extend_from_slice(&results[..2]);
    }
}

fn program(seed: u64) -> String {
    let mut loops = Loops { rng: Rng::new(seed), text: String::new(), count: 0 };
    let mut seen = vec!["%a".to_owned(), "%b".to_owned()];
    for _ in 0..3 {
        match loops.rng.below(3) {
            0 => loops.branch(&mut seen, 1),
            1 => loops.repeat(&mut seen, 1),
            _ => loops.scan(&mut seen, 1),
        }
    }
    let results = [loops.pick(&seen), loops.pick(&seen)].join(", ");
    let stacks: String = (0..4).map(|n| format!(", %x{n}: f32[{n}, 2]")).collect();
    format!(
        "ptir 1\n\nfunc @f(%p: bool[], %a: f32[2], %b: f32[2]{stacks}) -> (f32[2], f32[2]) {{\n%q = not %p : bool[]\n{}return {results}\n}}\n",
        loops.text
    )
}

#[test]
fn loops_reach_a_fixpoint_and_keep_their_meaning() {
    let rewrites = rewrites_to_fixpoint(cases(2_000, 100_000), program, |seed| GreedyConfig {
        expensive_checks: true,
        top_down: seed % 2 == 0,
        ..GreedyConfig::default()
    });
    assert!(rewrites > 2_000, "{rewrites}");
}

// The removed use is further down than patterns read, and two more are left.
#[test]
fn a_carried_value_that_loses_a_deep_use_goes_in_the_same_run() {
    let mut inside = String::from("%y = mul %j, %j : i32[]\n%z = sub %e, %e : i32[]\n");
    inside += "%r0 = add %y, %z : i32[]\n";
    for n in 1..6 {
        let last = n - 1;
        inside = format!(
            "%r{n} = cond %p{n} () {{\n{inside}yield %r{last}\n}} () {{\nyield %j\n}} : i32[]\n"
        );
    }
    let params: String = (1..6).map(|n| format!("%p{n}: bool[], ")).collect();
    let text = format!(
        "ptir 1 func @f({params}%x: i32[], %u: i32[]) -> i32[] {{
          %s, %t = while %x, %u (%i: i32[], %d: i32[]) {{
            %c = compare %i, 9:i32[] {{direction = lt}} : bool[]
            yield %c
          }} (%j: i32[], %e: i32[]) {{
            {inside}
            %g = add %e, 3:i32[] : i32[]
            %h = mul %g, %e : i32[]
            yield %r5, %h
          }} : i32[], i32[]
          return %s
        }}"
    );
    let set = canonicalization();
    let mut program = parse(&text).unwrap_or_else(|p| panic!("{p}\n{text}"));
    let f = program.function_mut("f").unwrap();
    apply_patterns_and_fold_greedily(f, &set, &GreedyConfig::default()).unwrap();
    let text = program.to_string();
    assert!(text.contains("%s = while %x (%i: i32[])"), "{text}");
}
