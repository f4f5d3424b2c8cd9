//! Properties of the matcher on patterns with alternatives, optional ops, wildcards, constants, types, regions, several outputs and
//! look-through: its matches are those of an exhaustive reference, and extraction of them is undone by inlining.

use std::collections::BTreeMap;

use crate::open_reference::{Expr, Pattern, TYPES, reference};
use sapwood_ptir::structural::{Mode, first_mismatch};
use sapwood_ptir::testing::Rng;
use sapwood_ptir::{InstId, Name, Program, Registry, parse, verify};
use sapwood_rewrite::inline_calls;
use sapwood_rules::{
    ExtractOptions, FindOptions, PatternGraph, Rule, Vocabulary, extract, find_matches, legality,
    rules_from,
};
use sapwood_types::Source;

/// The types of values, the first twice as often.
const SHAPES: [&str; 3] = ["f64[4]", "f64[4]", "f64[2, 2]"];

// Random lines over a few ops, some of which patterns look through, and branches.
struct Lines<'a> {
    rng: &'a mut Rng,
    values: Vec<(String, &'static str)>,
    count: usize,
    body: String,
}

impl Lines<'_> {
    fn pick(&mut self) -> (String, &'static str) {
        let recent = self.values.len().min(4);
        self.values[self.values.len() - 1 - self.rng.below(recent)].clone()
    }

    // Returns a value of this type.
    fn pick_of(&mut self, ty: &str) -> String {
        let fits: Vec<String> = self
            .values
            .iter()
            .rev()
            .filter(|(_, own)| *own == ty)
            .take(4)
            .map(|v| v.0.clone())
            .collect();
        fits[self.rng.below(fits.len())].clone()
    }

    fn push(&mut self, depth: usize) {
        let ((a, ty), name) = (self.pick(), format!("%v{}", self.count));
        self.count += 1;
        let (line, ty) = match self.rng.below(if depth == 0 { 14 } else { 12 }) {
            0..3 => (format!("add {a}, {}", self.pick_of(ty)), ty),
            3 | 4 => (format!("sub {a}, {}", self.pick_of(ty)), ty),
            5 | 6 => (format!("exp {a}"), ty),
            7 => (format!("neg {a}"), ty),
            8 | 9 => (format!("reshape {a}"), SHAPES[self.rng.below(3)]),
            10 => (format!("cast {a}"), ty),
            11 => (format!("constant {}", ["1.0", "2.0"][self.rng.below(2)]), ty),
            _ => (self.branch(ty), ty),
        };
        self.body += &format!("  {name} = {line} : {ty}\n");
        self.values.push((name, ty));
    }

    fn branch(&mut self, ty: &'static str) -> String {
        let mut regions = String::new();
        let outside = std::mem::take(&mut self.body);
        for _ in 0..2 {
            let known = self.values.len();
            for _ in 0..self.rng.below(3) {
                self.push(1);
            }
            // Mostly the last value, so that no instruction is unused.
            let last =
                self.values.last().filter(|v| v.1 == ty && self.values.len() > known).cloned();
            let result = match last {
                Some((last, _)) => last,
                None => self.pick_of(ty),
            };
            let body = std::mem::take(&mut self.body);
            regions += &format!(" () {{\n{body}  yield {result}\n}}");
            self.values.truncate(known);
        }
        self.body = outside;
        format!("cond %b{regions}")
    }
}

fn random_program(rng: &mut Rng) -> Program {
    let inputs = [("%p", SHAPES[0]), ("%r", SHAPES[2]), ("%q", SHAPES[0])];
    let values: Vec<(String, &str)> = inputs.map(|(name, ty)| (name.to_owned(), ty)).to_vec();
    let count = 5 + rng.below(6);
    let mut lines = Lines { rng, values, count: 0, body: String::new() };
    for _ in 0..count {
        lines.push(0);
    }
    let Lines { rng, values, body, .. } = lines;
    let (last, other) = (&values[values.len() - 1], &values[values.len() - 1 - rng.below(3)]);
    let text = format!(
        "ptir 1\nfunc @main(%b: bool[], %p: f64[4], %q: f64[4], %r: f64[2, 2]) -> ({}, {}) {{\n{body}  return {}, {}\n}}\n",
        last.1, other.1, last.0, other.0
    );
    parse(&text).unwrap_or_else(|e| panic!("{e}\n{text}"))
}

struct Generator<'a> {
    rng: &'a mut Rng,
    choices: Vec<usize>,
    lets: usize,
    regions: usize,
}

impl Generator<'_> {
    fn leaf(&mut self) -> Expr {
        match self.rng.below(12) {
            0 => Expr::Const(self.rng.below(2)),
            1 => Expr::Number([1.0, 2.0][self.rng.below(2)]),
            2 | 3 if self.lets > 0 => Expr::Let(self.rng.below(self.lets)),
            _ => Expr::Param(self.rng.below(3)),
        }
    }

    fn expr(&mut self, depth: usize) -> Expr {
        if depth == 0 || self.rng.below(3) == 0 {
            return self.leaf();
        }
        if self.choices.len() < 3 {
            match self.rng.below(6) {
                0 => {
                    let inner = self.expr(depth - 1);
                    self.choices.push(2);
                    let op = ["cast", "reshape", "neg"][self.rng.below(3)];
                    return Expr::Optional(self.choices.len() - 1, op, Box::new(inner));
                }
                1 => {
                    let count = 2 + self.rng.below(2);
                    let all = (0..count).map(|_| self.expr(depth - 1)).collect();
                    self.choices.push(count);
                    return Expr::Either(self.choices.len() - 1, all);
                }
                _ => {}
            }
        }
        if self.regions == 0 && self.rng.below(8) == 0 {
            return self.branch(depth);
        }
        self.op(depth)
    }

    fn branch(&mut self, depth: usize) -> Expr {
        self.regions += 1;
        Expr::Cond(Box::new([self.expr(depth - 1), self.expr(depth - 1)]))
    }

    fn op(&mut self, depth: usize) -> Expr {
        let (names, count): (Vec<&'static str>, usize) = match self.rng.below(9) {
            0 | 1 => (vec!["add"], 2),
            2 => (vec!["sub"], 2),
            3 => (vec!["exp"], 1),
            4 => (vec!["exp", "neg"], 1),
            5 => (vec!["add", "sub"], 2),
            6 => (Vec::new(), 1 + self.rng.below(2)),
            7 => (vec!["reshape"], 1),
            _ => (vec!["add"], 2),
        };
        Expr::Op(names, (0..count).map(|_| self.expr(depth - 1)).collect())
    }
}

fn random_pattern(rng: &mut Rng) -> Pattern {
    let mut generator = Generator { rng, choices: Vec::new(), lets: 0, regions: 0 };
    let mut lets = Vec::new();
    for n in 0..generator.rng.below(3) {
        lets.push(generator.expr(1));
        generator.lets = n + 1;
    }
    let root = if generator.rng.below(5) == 0 {
        let all = (0..2).map(|_| generator.op(1)).collect();
        generator.choices.push(2);
        Expr::Either(generator.choices.len() - 1, all)
    } else if generator.regions == 0 && generator.rng.below(4) == 0 {
        generator.branch(2)
    } else {
        generator.op(2)
    };
    let choices = generator.choices;
    let through = match rng.below(4) {
        0 => vec!["reshape"],
        1 => vec!["reshape", "cast"],
        _ => Vec::new(),
    };
    let constants = (0..2).map(|_| (rng.below(3) == 0).then_some(1.0)).collect();
    let types = [(); 3].map(|()| (rng.below(5) == 0).then(|| rng.below(TYPES.len())));
    let is_op = |n: &usize| matches!(lets[*n], Expr::Op(..) | Expr::Cond(_));
    let outputs = (0..lets.len()).filter(is_op).filter(|_| rng.below(2) == 0).collect();
    let let_types = [0, 1].map(|n| {
        let typed = lets.get(n).is_some() && is_op(&n) && rng.below(6) == 0;
        typed.then(|| rng.below(TYPES.len()))
    });
    Pattern { lets, root, choices, through, constants, types, let_types, outputs }
}

// Returns whether a left side is refused as a whole, and not because of one of its alternatives.
fn is_contradiction(text: &str) -> bool {
    let source = Source::new("p.rules", text);
    let read = rules_from(&source, &Registry::builtin(), &Vocabulary::builtin());
    let why = read.err().map(|problems| problems.to_string()).unwrap_or_default();
    let of_alternative = ["in the alternative", "error: with `", "error: without `"];
    (why.contains("contradicts") || why.contains("no program has"))
        && !of_alternative.iter().any(|words| why.contains(words))
}

fn read(text: &str) -> Option<Vec<PatternGraph>> {
    let source = Source::new("p.rules", text);
    let rules = rules_from(&source, &Registry::builtin(), &Vocabulary::builtin()).ok()?;
    Some(rules.into_iter().map(Rule::into_pattern).collect())
}

#[test]
fn open_patterns_are_found_as_the_reference_finds_them() {
    let (mut cases, mut matches, mut illegal, mut extracted) = (0, 0, 0, 0);
    let (mut in_regions, mut with_outputs, mut typed, mut optional) = (0, 0, 0, 0);
    let mut contradictions = 0;
    for seed in 0..u64::from(sapwood_testing::cases(60_000, 600_000)) {
        let mut rng = Rng::new(seed ^ 0x09e7);
        let pattern = random_pattern(&mut rng);
        let Some(patterns) = read(&pattern.text()) else {
            // A left side that is refused has no match.
            let text = pattern.text();
            let is_used = |n: usize| text.matches(&format!("l{n}")).count() > 1;
            if is_contradiction(&text) && (0..pattern.lets.len()).all(is_used) {
                let program = random_program(&mut rng);
                let expected = reference(&program.functions()[0], &pattern);
                assert!(expected.is_empty(), "seed {seed}\n{}\n{program}", pattern.text());
                contradictions += 1;
            }
            continue;
        };
        let program = random_program(&mut rng);
        let text = || format!("seed {seed}\n{}\n{program}", pattern.text());
        let found = find_matches(&program, &patterns, &FindOptions::default());
        assert!(found.exhausted.is_empty(), "{}", text());
        let mut got: BTreeMap<Vec<InstId>, bool> = BTreeMap::new();
        for m in &found.matches {
            let mut set = m.ops.clone();
            set.sort();
            let legal = legality(&program, &patterns, m).is_ok();
            assert!(got.insert(set, legal).is_none(), "one match per set of ops; {}", text());
            (matches, illegal) = (matches + 1, illegal + usize::from(!legal));
        }
        let expected = reference(&program.functions()[0], &pattern);
        assert_eq!(got, expected, "{}", text());
        cases += 1;
        let (written, count) = (pattern.text(), found.matches.len());
        in_regions += count * usize::from(written.contains("cond("));
        with_outputs += count * usize::from(!pattern.outputs.is_empty());
        typed += count * usize::from(written.contains(": [") || written.contains(": f64"));
        optional += count * usize::from(written.contains("?("));
        extracted += extract_and_undo(&program, &patterns, &text);
    }
    let enough = cases > 5000 && matches > 20_000 && illegal > 300 && extracted > 2000;
    let each = [
        (contradictions, 30),
        (in_regions, 200),
        (with_outputs, 30),
        (typed, 2000),
        (optional, 2000),
    ];
    assert!(
        enough && each.iter().all(|(found, least)| found > least),
        "{cases} {matches} {illegal} {extracted} {each:?}"
    );
}

fn extract_and_undo(
    before: &Program,
    patterns: &[PatternGraph],
    text: &dyn Fn() -> String,
) -> usize {
    let mut after = before.clone();
    let options = ExtractOptions { keep_unused: true, ..ExtractOptions::default() };
    let report =
        extract(&mut after, patterns, &options).unwrap_or_else(|e| panic!("{e}; {}", text()));
    verify(&after).unwrap_or_else(|p| panic!("{p}; {}\n{after}", text()));
    let made: Vec<Name> = report.calls.iter().map(|call| call.name).collect();
    let mut flat = after.clone();
    inline_calls(&mut flat, |_, callee| callee.extracted_from().is_some()).unwrap();
    made.iter().for_each(|&name| drop(flat.remove(name)));
    if let Some(found) = first_mismatch(before, &flat, Mode::DataFlow) {
        // Extraction copies constants, so that each function has its own.
        let constants = before.to_string().contains("constant");
        assert!(constants, "{}: {}; {}\n{after}", found.left, found.reason, text());
    }
    made.len()
}
