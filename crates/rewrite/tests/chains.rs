//! Random chains of ops that move elements, reduce and repeat: the laws of shapes are combined more often here than in programs
//! made of all ops.

use std::fmt::Write;

use crate::meaning::agree;
use sapwood_ptir::parse;
use sapwood_ptir::testing::Rng;
use sapwood_rewrite::{
    FloatMode, FrozenPatternSet, GreedyConfig, PatternSet, apply_patterns_and_fold_greedily,
    canonicalize,
};
use sapwood_testing::cases;

const MOST_ELEMENTS: usize = 200;
const MOST_AXES: usize = 4;

#[derive(Clone)]
struct Known {
    name: String,
    dtype: &'static str,
    shape: Vec<usize>,
}

struct Chain {
    rng: Rng,
    text: String,
    values: Vec<Known>,
    count: usize,
}

fn list<T: std::fmt::Debug>(items: &[T]) -> String {
    format!("{items:?}")
}

impl Chain {
    fn below(&mut self, n: usize) -> usize {
        self.rng.below(n.max(1))
    }

    fn pick(&mut self) -> Known {
        // Prefers recent values, so that chains get long.
        let n = self.values.len();
        let back = self.below(n.min(4));
        let at = if self.rng.one_in(4) { self.below(n) } else { n - 1 - back };
        self.values[at].clone()
    }

    fn push(&mut self, dtype: &'static str, shape: Vec<usize>, op: &str) {
        if shape.iter().product::<usize>() > MOST_ELEMENTS || shape.len() > MOST_AXES {
            return;
        }
        let name = format!("%v{}", self.count);
        self.count += 1;
        let _ = writeln!(self.text, "  {name} = {op} : {dtype}{}", list(&shape));
        self.values.push(Known { name, dtype, shape });
    }

    fn step(&mut self) {
        let x = self.pick();
        match self.below(16) {
            0 => self.reshape(&x),
            1 => self.transpose(&x),
            2 => self.broadcast_to(&x),
            3 => self.broadcast_in_dim(&x),
            4 | 5 => self.slice(&x),
            6 => self.pad(&x),
            7 | 8 => self.concat(&x),
            9 => {
                let axes: Vec<usize> = (0..x.shape.len()).filter(|_| self.rng.one_in(2)).collect();
                let op = format!("reverse {} {{axes = {}}}", x.name, list(&axes));
                self.push(x.dtype, x.shape, &op);
            }
            10 => {
                let op = if self.rng.one_in(2) { "neg" } else { "abs" };
                self.push(x.dtype, x.shape, &format!("{op} {}", x.name));
            }
            11 | 12 => self.binary(&x),
            13 | 14 => self.reduce(&x),
            _ => self.dynamic(&x),
        }
    }

    fn reshape(&mut self, x: &Known) {
        let mut shape = x.shape.clone();
        match self.below(4) {
            0 => shape = vec![shape.iter().product()],
            1 => {
                let at = self.below(shape.len() + 1);
                shape.insert(at, 1);
            }
            2 => shape.retain(|&n| n != 1),
            _ if shape.len() > 1 => {
                let at = self.below(shape.len() - 1);
                let n = shape.remove(at);
                shape[at] *= n;
            }
            _ => {}
        }
        self.push(x.dtype, shape, &format!("reshape {}", x.name));
    }

    fn transpose(&mut self, x: &Known) {
        let mut perm: Vec<usize> = (0..x.shape.len()).collect();
        for i in (1..perm.len()).rev() {
            let j = self.below(i + 1);
            perm.swap(i, j);
        }
        let shape = perm.iter().map(|&a| x.shape[a]).collect();
        self.push(x.dtype, shape, &format!("transpose {} {{perm = {}}}", x.name, list(&perm)));
    }

    // Axes of extent one are sometimes repeated.
    fn repeated(&mut self, n: usize) -> usize {
        if n == 1 && self.rng.one_in(2) { self.below(4) } else { n }
    }

    fn broadcast_to(&mut self, x: &Known) {
        let mut shape = Vec::new();
        if self.rng.one_in(2) {
            shape.push(1 + self.below(3));
        }
        for &n in &x.shape {
            let n = self.repeated(n);
            shape.push(n);
        }
        self.push(x.dtype, shape, &format!("broadcast_to {}", x.name));
    }

    fn broadcast_in_dim(&mut self, x: &Known) {
        let new = self.below(x.shape.len() + 1);
        let mut shape = Vec::new();
        for &n in &x.shape {
            let n = self.repeated(n);
            shape.push(n);
        }
        shape.insert(new, 1 + self.below(3));
        let dims: Vec<usize> = (0..shape.len()).filter(|&a| a != new).collect();
        self.push(
            x.dtype,
            shape,
            &format!("broadcast_in_dim {} {{dims = {}}}", x.name, list(&dims)),
        );
    }

    fn slice(&mut self, x: &Known) {
        let (mut starts, mut limits, mut strides, mut shape) = (vec![], vec![], vec![], vec![]);
        let plain = self.rng.one_in(2);
        for &n in &x.shape {
            let start = if self.rng.one_in(2) { 0 } else { self.below(n + 1) };
            let limit = if self.rng.one_in(2) { n } else { start + self.below(n - start + 1) };
            let stride = if plain { 1 } else { 1 + self.below(3) };
            starts.push(start);
            limits.push(limit);
            strides.push(stride);
            shape.push((limit - start).div_ceil(stride));
        }
        let strides = if plain { String::new() } else { format!(", strides = {strides:?}") };
        let op = format!("slice {} {{starts = {starts:?}, limits = {limits:?}{strides}}}", x.name);
        self.push(x.dtype, shape, &op);
    }

    fn pad(&mut self, x: &Known) {
        let (mut low, mut high, mut interior, mut shape) = (vec![], vec![], vec![], vec![]);
        for &n in &x.shape {
            let (l, h) = (self.below(4) as i64 - 1, self.below(4) as i64 - 1);
            let i = i64::from(self.rng.one_in(6));
            let size = n as i64 + l + h + (n as i64 - 1).max(0) * i;
            if size < 0 {
                return;
            }
            low.push(l);
            high.push(h);
            interior.push(i);
            shape.push(size as usize);
        }
        let value = match (x.dtype, self.below(2)) {
            ("f32", 0) => "%s",
            ("f32", _) => "0.0:f32[]",
            (_, 0) => "%i",
            _ => "0:i32[]",
        };
        let op = format!(
            "pad {}, {value} {{low = {low:?}, high = {high:?}, interior = {interior:?}}}",
            x.name
        );
        self.push(x.dtype, shape, &op);
    }

    fn concat(&mut self, x: &Known) {
        if x.shape.is_empty() {
            return;
        }
        let axis = self.below(x.shape.len());
        let rest = |k: &Known| {
            let mut shape = k.shape.clone();
            if axis < shape.len() {
                shape.remove(axis);
            }
            (k.dtype, shape, k.shape.len())
        };
        let fits: Vec<Known> = self.values.iter().filter(|k| rest(k) == rest(x)).cloned().collect();
        let mut parts = vec![x.clone()];
        for _ in 0..self.below(3) {
            let at = self.below(fits.len());
            parts.push(fits[at].clone());
        }
        let mut shape = x.shape.clone();
        shape[axis] = parts.iter().map(|p| p.shape[axis]).sum();
        let names: Vec<&str> = parts.iter().map(|p| &*p.name).collect();
        self.push(x.dtype, shape, &format!("concat {} {{axis = {axis}}}", names.join(", ")));
    }

    fn binary(&mut self, x: &Known) {
        let fits: Vec<Known> = self
            .values
            .iter()
            .filter(|k| k.dtype == x.dtype && k.shape == x.shape)
            .cloned()
            .collect();
        let at = self.below(fits.len());
        let number = if x.dtype == "f32" { "2.0" } else { "2" };
        let rhs = match self.rng.one_in(4) {
            true => format!("{number}:{}{}", x.dtype, list(&x.shape)),
            false => fits[at].name.clone(),
        };
        let op = ["add", "mul", "max", "sub"][self.below(4)];
        self.push(x.dtype, x.shape.clone(), &format!("{op} {}, {rhs}", x.name));
    }

    fn reduce(&mut self, x: &Known) {
        let axes: Vec<usize> = (0..x.shape.len()).filter(|_| self.rng.one_in(2)).collect();
        let keepdims = self.rng.one_in(3);
        let op = ["reduce_sum", "reduce_max", "reduce_min", "reduce_prod"][self.below(4)];
        let kept = |(a, &n): (usize, &usize)| match (axes.contains(&a), keepdims) {
            (false, _) => Some(n),
            (true, true) => Some(1),
            (true, false) => None,
        };
        let shape = x.shape.iter().enumerate().filter_map(kept).collect();
        let text = format!("{op} {} {{axes = {axes:?}, keepdims = {keepdims}}}", x.name);
        self.push(x.dtype, shape, &text);
    }

    fn dynamic(&mut self, x: &Known) {
        let mut sizes = Vec::new();
        for &n in &x.shape {
            sizes.push(if self.rng.one_in(2) { n } else { self.below(n + 1) });
        }
        let known = self.rng.one_in(2);
        let starts: String =
            x.shape.iter().map(|_| if known { ", 1:i32[]" } else { ", %i" }).collect();
        self.push(
            x.dtype,
            sizes.clone(),
            &format!("dynamic_slice {}{starts} {{sizes = {sizes:?}}}", x.name),
        );
        if self.rng.one_in(2) && self.values.last().is_some_and(|v| v.shape == sizes) {
            let update = self.values[self.values.len() - 1].name.clone();
            let op = format!("dynamic_update_slice {}, {update}{starts}", x.name);
            self.push(x.dtype, x.shape.clone(), &op);
        }
    }
}

fn chain(seed: u64) -> String {
    let params = [
        ("%a", "f32", vec![2, 3]),
        ("%b", "f32", vec![4]),
        ("%c", "i32", vec![3, 1, 2]),
        ("%s", "f32", vec![]),
        ("%i", "i32", vec![]),
    ];
    let known = |(name, dtype, shape): &(&str, &'static str, Vec<usize>)| Known {
        name: (*name).to_owned(),
        dtype,
        shape: shape.clone(),
    };
    let values = params.iter().map(known).collect();
    let mut chain = Chain { rng: Rng::new(seed), text: String::new(), values, count: 0 };
    for _ in 0..14 {
        chain.step();
    }
    let results: Vec<Known> = (0..3).map(|_| chain.pick()).collect();
    let ty = |k: &Known| format!("{}{}", k.dtype, list(&k.shape));
    let head: Vec<String> =
        params.iter().map(known).map(|k| format!("{}: {}", k.name, ty(&k))).collect();
    let types: Vec<String> = results.iter().map(ty).collect();
    let names: Vec<&str> = results.iter().map(|k| &*k.name).collect();
    format!(
        "ptir 1\n\nfunc @f({}) -> ({}) {{\n{}  return {}\n}}\n",
        head.join(", "),
        types.join(", "),
        chain.text,
        names.join(", ")
    )
}

/// Returns the patterns of canonicalization.
pub(crate) fn canonicalization() -> FrozenPatternSet {
    let mut set = PatternSet::new();
    canonicalize::populate_canonicalization(&mut set);
    set.freeze()
}

/// Applies the patterns to the programs of some seeds, and returns the number of rewrites. Asserts that a second run changes nothing, and that the results
/// stay the same.
pub(crate) fn rewrites_to_fixpoint(
    seeds: u32,
    program: impl Fn(u64) -> String,
    config: impl Fn(u64) -> GreedyConfig,
) -> usize {
    let set = canonicalization();
    let rewrites = |seed| rewrites_of(&program(seed), seed, &set, &config(seed));
    (0..u64::from(seeds)).map(rewrites).sum()
}

fn rewrites_of(text: &str, seed: u64, set: &FrozenPatternSet, config: &GreedyConfig) -> usize {
    let run = |text: &str| {
        let mut program = parse(text).unwrap_or_else(|p| panic!("{p}\n{text}"));
        let f = program.function_mut("f").unwrap();
        let stats = apply_patterns_and_fold_greedily(f, set, config).unwrap();
        assert!(stats.problems.is_empty(), "seed {seed}: {:?}\n{text}", stats.problems);
        assert!(stats.converged, "seed {seed}: {stats:?}\n{text}");
        (program, stats.rewrites)
    };
    let before = parse(text).unwrap();
    let (after, rewrites) = run(text);
    let (twice, _) = run(&after.to_string());
    assert_eq!(twice.to_string(), after.to_string(), "seed {seed}\n{text}");
    let name = before.functions()[0].name();
    if let Err(problem) = agree(&before, &after, name, config.floats, 0..4) {
        panic!("seed {seed}: {problem}\n{text}\n{after}");
    }
    rewrites
}

#[test]
fn chains_of_shapes_reach_a_fixpoint_and_keep_their_meaning() {
    let rewrites = rewrites_to_fixpoint(cases(3_000, 100_000), chain, |seed| GreedyConfig {
        expensive_checks: true,
        top_down: seed % 3 == 0,
        enable_constant_fold: seed % 2 == 0,
        floats: FloatMode::ALL[usize::from(seed % 5 == 0)],
        ..GreedyConfig::default()
    });
    assert!(rewrites > 3_000, "{rewrites}");
}
