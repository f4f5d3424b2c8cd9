//! All canonicalizations together over dense random arithmetic: they terminate, a second run does nothing, and in the default
//! mode the results stay the same.

use crate::meaning;
use std::fmt::Write;

use sapwood_ptir::eval::DataType;
use sapwood_ptir::structural::{Mode, hash};
use sapwood_ptir::testing::Rng;
use sapwood_ptir::{Program, parse};
use sapwood_rewrite::{
    FloatMode, FrozenPatternSet, GreedyConfig, PatternSet, ProgramRewriter,
    apply_patterns_and_fold_greedily, canonicalize,
};

fn all() -> PatternSet {
    let mut set = PatternSet::new();
    canonicalize::populate_canonicalization(&mut set);
    set
}

fn rewrite(program: &mut Program, set: &FrozenPatternSet, config: &GreedyConfig) -> usize {
    let before = program.to_string();
    let mut rewrites = 0;
    for name in program.functions().iter().map(|f| f.name()).collect::<Vec<_>>() {
        let f = program.function_mut(name).unwrap();
        let stats = apply_patterns_and_fold_greedily(f, set, config).unwrap();
        assert_eq!(stats.problems, [], "{before}");
        assert_eq!(stats.cycles, [] as [Vec<String>; 0], "{before}");
        assert!(stats.converged, "{:?}\n{before}", stats.last_fired);
        rewrites += stats.rewrites + stats.folds;
    }
    rewrites
}

const ARITHMETIC: &[&str] = &["add", "sub", "mul", "min", "max"];
const FLOATS: &[&str] =
    &["div", "pow", "rem", "neg", "abs", "exp", "log", "sqrt", "floor", "ceil", "sign", "cos"];
const COMPLEX: &[&str] = &["div", "neg", "exp", "log", "sqrt"];
const INTS: &[&str] = &[
    "div",
    "rem",
    "pow",
    "and",
    "or",
    "xor",
    "shl",
    "shr_logical",
    "shr_arithmetic",
    "neg",
    "abs",
    "not",
    "sign",
];
const BOOLS: &[&str] = &["and", "or", "xor", "not"];
const UNARY: &[&str] = &["neg", "abs", "exp", "log", "sqrt", "floor", "ceil", "sign", "cos", "not"];
const TYPES: &[DataType] = &[
    DataType::I8,
    DataType::U8,
    DataType::I32,
    DataType::F32,
    DataType::F16,
    DataType::F8E4M3Fn,
    DataType::Bool,
    DataType::C64,
];

struct Arithmetic<'a> {
    rng: &'a mut Rng,
    dtype: DataType,
    text: String,
    // Names of the values of the type, and of bools.
    values: Vec<String>,
    bools: Vec<String>,
    count: usize,
}

impl Arithmetic<'_> {
    fn any(&mut self) -> String {
        // Recent values are chosen more often, so that chains arise.
        let recent = self.values.len().saturating_sub(4);
        let from = if self.rng.one_in(2) { recent } else { 0 };
        self.values[from + self.rng.below(self.values.len() - from)].clone()
    }

    fn pred(&mut self) -> String {
        self.bools[self.rng.below(self.bools.len())].clone()
    }

    fn emit(&mut self, bool: bool, instruction: &str) {
        let name = format!("%v{}", self.count);
        self.count += 1;
        let dtype = if bool { DataType::Bool } else { self.dtype };
        let _ = writeln!(self.text, "  {name} = {instruction} : {dtype}[4]");
        if bool && self.dtype != DataType::Bool {
            self.bools.push(name);
        } else {
            self.values.push(name);
        }
    }

    fn constant(&mut self) {
        let numbers: &[&str] = match self.dtype {
            DataType::Bool => &["false", "true"],
            DataType::C64 => &["(0.0, 0.0)", "(1.0, 0.0)", "(-1.0, 0.0)", "(2.0, 0.5)"],
            DataType::U8 => &["0", "1", "255", "2", "3", "8", "[1, 2, 3, 4]"],
            DataType::I8 => &["0", "1", "-1", "2", "-128", "127", "3", "8", "[1, 2, 3, 4]"],
            DataType::I32 => &["0", "1", "-1", "2", "5", "[1, 2, 3, 4]"],
            DataType::F8E4M3Fn => &["0.0", "-0.0", "1.0", "-1.0", "2.0", "3.0", "0.5", "nan"],
            _ => &[
                "0.0",
                "-0.0",
                "1.0",
                "-1.0",
                "2.0",
                "3.0",
                "0.5",
                "inf",
                "-inf",
                "nan",
                "[1.0, 2.0, 3.0, 4.0]",
            ],
        };
        let number = numbers[self.rng.below(numbers.len())];
        self.emit(false, &format!("constant {number}"));
    }

    fn op(&mut self) {
        let (a, b) = (self.any(), self.any());
        let own = match self.dtype {
            DataType::Bool => BOOLS,
            d if d.is_complex() => COMPLEX,
            d if d.is_float() => FLOATS,
            _ => INTS,
        };
        let orders: &[&str] = if self.dtype.is_complex() {
            &["eq", "ne"]
        } else {
            &["eq", "ne", "lt", "le", "gt", "ge"]
        };
        match self.rng.below(12) {
            0 => {
                let order = orders[self.rng.below(orders.len())];
                self.emit(true, &format!("compare {a}, {b} {{direction = {order}}}"));
            }
            1 | 2 => {
                let p = self.pred();
                self.emit(false, &format!("select {p}, {a}, {b}"));
            }
            3 => {
                let (p, q) = (self.pred(), self.pred());
                let text = ["and", "or", "xor"][self.rng.below(3)];
                let text = format!("{text} {p}, {q}");
                let text = if self.rng.one_in(2) { text } else { format!("not {p}") };
                self.emit(true, &text);
            }
            4 if !self.dtype.is_complex() && !self.dtype.is_bool() => {
                let c = self.any();
                self.emit(false, &format!("clamp {a}, {b}, {c}"));
            }
            5 => {
                let p = self.pred();
                self.emit(false, &format!("cast {p}"));
            }
            n => {
                let list = if n < 9 { own } else { ARITHMETIC };
                let op = list[self.rng.below(list.len())];
                if op == "sub" && self.dtype.is_bool() || op == "abs" && self.dtype.is_complex() {
                    return;
                }
                let one = UNARY.contains(&op);
                self.emit(false, &if one { format!("{op} {a}") } else { format!("{op} {a}, {b}") });
            }
        }
    }
}

fn arithmetic(seed: u64) -> Program {
    let mut rng = Rng::new(seed);
    let dtype = TYPES[rng.below(TYPES.len())];
    let params = format!("%x: {dtype}[4], %y: {dtype}[4], %p: bool[4], %q: bool[4]");
    let mut g = Arithmetic {
        rng: &mut rng,
        dtype,
        text: String::new(),
        values: vec!["%x".into(), "%y".into()],
        bools: vec!["%p".into(), "%q".into()],
        count: 0,
    };
    for _ in 0..5 {
        g.constant();
    }
    for _ in 0..8 + g.rng.below(16) {
        g.op();
    }
    let (a, b, c) = (g.any(), g.values[g.values.len() - 1].clone(), g.pred());
    let results = format!("({dtype}[4], {dtype}[4], bool[4])");
    let text = format!(
        "ptir 1\n\nfunc @f({params}) -> {results} {{\n{}  return {a}, {b}, {c}\n}}\n",
        g.text
    );
    parse(&text).unwrap_or_else(|p| panic!("{p}\n{text}"))
}

#[test]
fn arithmetic_comes_to_an_end_and_keeps_its_meaning() {
    let set = all().freeze();
    let mut rewrites = 0;
    // The last one has two computations with the same combined hash of op and attributes.
    for seed in (0..u64::from(sapwood_testing::cases(1_500, 100_000))).chain([9146]) {
        let before = arithmetic(seed);
        for floats in [FloatMode::Exact, FloatMode::Nsz, FloatMode::Fast] {
            for fold in [true, false] {
                let config = GreedyConfig {
                    floats,
                    enable_constant_fold: fold,
                    expensive_checks: seed.is_multiple_of(4),
                    top_down: seed.is_multiple_of(3),
                    merge_equal: seed.is_multiple_of(2),
                    ..GreedyConfig::default()
                };
                let mut program = before.clone();
                rewrites += rewrite(&mut program, &set, &config);
                let after = program.to_string();
                rewrite(&mut program, &set, &config);
                assert_eq!(
                    program.to_string(),
                    after,
                    "seed {seed}, a second run changes\n{before}"
                );
                if floats == FloatMode::Exact {
                    let name = program.functions()[0].name();
                    meaning::agree(&before, &program, name, floats, 0..4)
                        .unwrap_or_else(|e| panic!("seed {seed}: {e}\n{before}\n{program}"));
                }
            }
        }
    }
    assert!(rewrites > 10_000, "only {rewrites} rewrites");
}

fn simplified(program: &Program, set: &FrozenPatternSet, floats: FloatMode) -> Program {
    let config = GreedyConfig {
        floats,
        merge_equal: true,
        order_operands: true,
        expensive_checks: false,
        ..GreedyConfig::default()
    };
    let mut program = program.clone();
    rewrite(&mut program, set, &config);
    program
}

fn count_ops(program: &Program) -> usize {
    let f = &program.functions()[0];
    f.walk().filter(|&inst| f.op_name(inst) != "constant").count()
}

#[test]
fn more_float_freedom_never_leaves_more_ops() {
    let set = all().freeze();
    let mut fewer = 0;
    for seed in 0..u64::from(sapwood_testing::cases(1_000, 50_000)) {
        let before = arithmetic(seed);
        let modes = [FloatMode::Exact, FloatMode::Nsz, FloatMode::Fast];
        let counts = modes.map(|mode| count_ops(&simplified(&before, &set, mode)));
        assert!(
            counts[0] >= counts[1] && counts[1] >= counts[2],
            "seed {seed}: {counts:?}\n{before}"
        );
        fewer += usize::from(counts[2] < counts[0]);
    }
    assert!(fewer > 20, "only {fewer} programs have fewer ops");
}

// Swaps the operands of some commutative instructions.
fn with_swapped_operands(program: &Program, rng: &mut Rng) -> (Program, usize) {
    let mut swapped = program.clone();
    let name = swapped.functions()[0].name();
    let f = swapped.function_mut(name).unwrap();
    let mut rw = ProgramRewriter::new(f);
    let mut count = 0;
    for inst in rw.function().walk().collect::<Vec<_>>() {
        let f = rw.function();
        let commutes = f.op_def(inst).is_some_and(|def| def.commutative);
        if let (true, &[a, b]) = (commutes && rng.one_in(2), f.operands(inst)) {
            rw.set_operands(inst, &[b, a]).unwrap();
            count += usize::from(a != b);
        }
    }
    (swapped, count)
}

#[test]
fn the_order_of_operands_does_not_matter() {
    let set = all().freeze();
    let mut swaps = 0;
    for seed in 0..u64::from(sapwood_testing::cases(1_000, 50_000)) {
        let before = simplified(&arithmetic(seed), &set, FloatMode::Exact);
        let (swapped, count) = with_swapped_operands(&before, &mut Rng::new(seed));
        swaps += count;
        let [a, b] = [&before, &swapped].map(|p| simplified(p, &set, FloatMode::Exact));
        assert_eq!(
            hash(&a, Mode::DataFlow),
            hash(&b, Mode::DataFlow),
            "seed {seed}\n{before}\n{a}\n{b}"
        );
    }
    assert!(swaps > 300, "only {swaps} instructions");
}

#[test]
fn casts_over_every_three_types() {
    let mut set = all();
    set.only(&["cast_of_cast"]).unwrap();
    let set = set.freeze();
    let mut fired = 0;
    for a in DataType::ALL {
        for b in DataType::ALL {
            let mut text = String::from("ptir 1\n");
            for c in DataType::ALL {
                let _ = write!(
                    text,
                    "\nfunc @to_{c}(%x: {a}[64]) -> {c}[64] {{\n  %m = cast %x : {b}[64]\n  %r = cast %m : {c}[64]\n  return %r\n}}\n",
                );
            }
            let before = parse(&text).unwrap();
            let mut after = before.clone();
            fired += rewrite(&mut after, &set, &GreedyConfig::default());
            for f in before.functions() {
                meaning::agree(&before, &after, f.name(), FloatMode::Exact, 0..4)
                    .unwrap_or_else(|e| panic!("{a} {b}: {e}"));
            }
        }
    }
    assert!(fired > 2_000, "only {fired} fired");
}
