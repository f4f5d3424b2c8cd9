//! `opt --check`: two programs on the same random inputs.

use std::time::{Duration, Instant};

use sapwood_explorer::{Check, Verdict};
use sapwood_ptir::eval::{self, EvalError, Fault, RunOptions, Tensor, Value};
use sapwood_ptir::{Function, Program, ValueType};
use sapwood_rewrite::FloatMode;
use sapwood_runtime::{Closeness, pairs};
use sapwood_types::{DataType, counted};
use serde_json::json;

use super::answer::Answer;
use super::blame::Blame;
use super::random::{EDGES, Kind, is_small, random_inputs};
use super::show::{element, shown};

/// The sets of inputs that each function is run on.
const SETS: [Kind; 4] = [
    Kind { special: false, own_extents: false, edge: None },
    Kind { special: false, own_extents: true, edge: None },
    Kind { special: true, own_extents: false, edge: None },
    Kind { special: true, own_extents: true, edge: None },
];
/// How many steps a run may take.
const STEPS: u64 = 100_000_000;
/// How long a run may take.
const TIME: Duration = Duration::from_secs(10);
/// How many times as many steps it may take afterwards, and as long as any run before may.
const SLACK: u32 = 4;
/// How many times as long as this run took before: a rewrite that makes a loop endless is found soon.
const LONGER: u32 = 16;
/// How long it may take afterwards in any case: machines pause.
const LEAST: Duration = Duration::from_secs(2);
/// What part of steps and time a run on special values may take: the largest integer as a number of rounds leads nowhere.
const SPECIAL_PART: u32 = 10;

/// What came of running two programs.
#[derive(Default)]
pub(super) struct Found {
    lines: Vec<String>,
    worst: f64,
    compared: usize,
    different: bool,
    functions: usize,
    not_run: Vec<String>,
    // Sets of inputs that were left out of functions that ran on others.
    sets_not_run: usize,
    // Whether floats were compared, and whether one of them was finite.
    floats: bool,
    finite: bool,
}

impl Found {
    pub(super) fn different(&self) -> bool {
        self.different
    }

    /// Yes only if something was compared: what could not be run is not known to be right.
    pub(super) fn answer(&self) -> Answer {
        let nothing = self.compared == 0 && self.functions > 0;
        if self.different || nothing { Answer::No } else { Answer::Yes }
    }

    pub(super) fn text(&self) -> String {
        let lines: String = self.lines.iter().map(|line| format!("{line}\n")).collect();
        format!("{lines}check: {}\n", self.words())
    }

    // The verdict.
    fn words(&self) -> String {
        let runs = counted(self.compared, "random input");
        let mut text = match (self.different, self.worst) {
            (true, _) => "different".into(),
            _ if self.compared == 0 && self.functions == 0 => "there is no function".into(),
            _ if self.compared == 0 => "nothing could be run".into(),
            (false, 0.0) => format!("the same on {runs}"),
            (false, worst) => {
                format!("within what is allowed on {runs}, at worst {worst:e}")
            }
        };
        if !self.different && self.compared > 0 {
            if !self.not_run.is_empty() {
                let (left, all) = (self.not_run.len(), self.functions);
                text += &format!(", {left} of {} not run", counted(all, "function"));
            }
            if self.floats && !self.finite {
                text += ", but no float among the results was finite";
            }
        }
        text
    }

    /// The same for a page.
    pub(super) fn told(&self, culprit: Option<&Blame>) -> Check {
        let verdict = match (self.different, self.compared) {
            (true, _) => Verdict::Different,
            (false, 0) => Verdict::Unknown,
            (false, _) => Verdict::Same,
        };
        let lines = self.lines.iter().map(|l| l.strip_prefix("check: ").unwrap_or(l).to_owned());
        Check {
            verdict,
            words: self.words(),
            culprit: culprit.map(ToString::to_string),
            lines: lines.collect(),
        }
    }

    pub(super) fn json(&self) -> serde_json::Value {
        json!({
            "different": self.different,
            "runs": self.compared,
            "not_run": self.not_run,
            "sets_not_run": self.sets_not_run,
            "worst": self.worst,
            "messages": self.lines,
        })
    }
}

/// Runs every function of both programs.
pub(super) fn compare(before: &Program, after: &Program, floats: FloatMode, seed: u64) -> Found {
    let mut found = Found::default();
    let allowed = Allowed::new(before, floats);
    for f in before.functions() {
        // What nothing calls may have been left out on purpose.
        if after.function(f.name()).is_none() {
            continue;
        }
        found.functions += 1;
        let (mut ran, mut why) = (0usize, None);
        for (n, mut kind) in SETS.into_iter().enumerate() {
            // What `fast` makes of infinities and NaN is open.
            kind.special &= floats != FloatMode::Fast;
            let set = Set { before, after, f, seed: seed.wrapping_add(n as u64), kind };
            match set.run(&mut found, &allowed) {
                Outcome::Compared => {
                    ran += 1;
                    if set.edges(&mut found, &allowed) {
                        return found;
                    }
                }
                Outcome::Different => return found,
                Outcome::NotRun { reason, try_more } => {
                    why.get_or_insert(reason);
                    if !try_more {
                        break;
                    }
                }
            }
        }
        match (why, SETS.len() - ran) {
            (None, _) => {}
            (Some(why), _) if ran == 0 => {
                found.lines.push(format!("check: not run: {why}"));
                found.not_run.push(f.name().to_string());
            }
            (Some(why), left) => {
                let all = SETS.len();
                found.lines.push(format!("check: {left} of {all} sets of inputs not run: {why}"));
                found.sets_not_run += left;
            }
        }
    }
    found
}

// One function on one set of inputs.
struct Set<'a> {
    before: &'a Program,
    after: &'a Program,
    f: &'a Function,
    seed: u64,
    kind: Kind,
}

enum Outcome {
    Compared,
    Different,
    NotRun { reason: String, try_more: bool },
}

impl Set<'_> {
    // Whether special values in turn make a difference to a function of few elements; they belong to the set.
    fn edges(&self, found: &mut Found, allowed: &Allowed) -> bool {
        if !self.kind.special || self.kind.own_extents || !is_small(self.f) {
            return false;
        }
        for edge in 0..EDGES {
            let set = Set { kind: Kind { edge: Some(edge), ..self.kind }, ..*self };
            match set.run(found, allowed) {
                Outcome::Different => return true,
                Outcome::NotRun { try_more: false, .. } => return false,
                Outcome::Compared | Outcome::NotRun { .. } => {}
            }
        }
        false
    }

    fn run(&self, found: &mut Found, allowed: &Allowed) -> Outcome {
        let name = self.f.name();
        let inputs = match random_inputs(self.f, self.seed, self.kind) {
            Ok(inputs) => inputs,
            Err(why) => {
                return Outcome::NotRun { reason: format!("@{name}: {why}"), try_more: false };
            }
        };
        let part = if self.kind.special { SPECIAL_PART } else { 1 };
        let (steps, time) = (STEPS / u64::from(part), TIME / part);
        let started = Instant::now();
        let old = match self.results(self.before, &inputs, steps, time) {
            Ok(old) => old,
            Err(why) => {
                // Other numbers will hardly make it shorter; other extents may fit together.
                let try_more = !matches!(
                    why.fault,
                    Fault::Steps { .. } | Fault::Time { .. } | Fault::Memory { .. }
                );
                return Outcome::NotRun { reason: why.to_string(), try_more };
            }
        };
        let (steps, time) = (steps * u64::from(SLACK), afterwards(started.elapsed(), time * SLACK));
        let difference = match self.results(self.after, &inputs, steps, time) {
            Ok(new) => {
                found.compared += usize::from(self.kind.edge.is_none());
                let mut pairs = old.iter().zip(&new).enumerate();
                pairs.find_map(|(n, (a, b))| {
                    let place = format!("@{name}, result {n}");
                    let line = allowed.difference(found, &place, a, b)?;
                    Some((line, format!("  before: {}\n  after:  {}", shown(a), shown(b))))
                })
            }
            Err(why) => {
                let results: Vec<String> = old.iter().map(shown).collect();
                let shown = format!("  before: {}", results.join(", "));
                Some((format!("fails only afterwards: {why}"), shown))
            }
        };
        let Some((line, outputs)) = difference else { return Outcome::Compared };
        found.lines.push(format!("check: {line}"));
        for (i, input) in inputs.iter().enumerate() {
            found.lines.push(format!("  input {i}: {}", shown(input)));
        }
        found.lines.extend(outputs.lines().map(str::to_owned));
        found.different = true;
        Outcome::Different
    }

    fn results(
        &self,
        program: &Program,
        inputs: &[Value],
        steps: u64,
        time: Duration,
    ) -> Result<Vec<Value>, EvalError> {
        let options = RunOptions {
            max_steps: Some(steps),
            time_limit: Some(time),
            kernels: Some(sapwood_stablehlo::checks(None)),
            ..RunOptions::default()
        };
        eval::run(program, self.f.name().as_str(), inputs, &options)
    }
}

// How long a run may take that took so long before, in whole seconds.
fn afterwards(before: Duration, most: Duration) -> Duration {
    let longer = Duration::from_secs(before.saturating_mul(LONGER).as_secs().saturating_add(1));
    longer.max(LEAST).min(most)
}

/// How far results may be apart.
struct Allowed {
    floats: FloatMode,
    close: Closeness,
}

impl Allowed {
    // A few units in the last place of the coarsest float in the program: it may stand anywhere on the way.
    fn new(program: &Program, floats: FloatMode) -> Self {
        let unit = program.functions().iter().map(|f| coarsest(f)).fold(0.0, f64::max);
        let close = match floats {
            FloatMode::Exact | FloatMode::Nsz => Closeness::SAME,
            FloatMode::Fast => {
                Closeness { relative: (4.0 * unit).max(1e-3), absolute: (4.0 * unit).max(1e-5) }
            }
        };
        Self { floats, close }
    }

    /// Where two values differ by more than is allowed, in words. Tuples nest at most 64 deep.
    fn difference(&self, found: &mut Found, place: &str, a: &Value, b: &Value) -> Option<String> {
        match (a, b) {
            (Value::Token, Value::Token) => None,
            (Value::Tuple(a), Value::Tuple(b)) if a.len() == b.len() => {
                let mut pairs = a.iter().zip(b.iter()).enumerate();
                pairs.find_map(|(n, (a, b))| self.difference(found, &format!("{place}.{n}"), a, b))
            }
            (Value::Tensor(a), Value::Tensor(b)) if a.ty() == b.ty() => {
                self.tensors(found, place, a, b)
            }
            _ => Some(format!("{place}: {} before, {} after", a.ty(), b.ty())),
        }
    }

    fn tensors(&self, found: &mut Found, place: &str, a: &Tensor, b: &Tensor) -> Option<String> {
        let numbers = pairs(a, b);
        let float = a.dtype().is_float() || a.dtype().is_complex();
        let mut largest = 1f64;
        if float {
            for &(x, y) in numbers.iter().filter(|(x, _)| x.is_finite()) {
                largest = largest.max(x.abs());
                found.finite = true;
                let apart = (x - y).abs();
                found.worst = found.worst.max(if apart.is_finite() { apart } else { 0.0 });
            }
            found.floats |= !numbers.is_empty();
        }
        let close = Closeness { absolute: self.close.absolute * largest, ..self.close };
        let same = |&(x, y): &(f64, f64)| match self.floats {
            // What `fast` makes of infinities and NaN is open.
            FloatMode::Fast if float => !x.is_finite() || close.allows(x, y),
            FloatMode::Exact if x == 0.0 && y == 0.0 => {
                x.is_sign_negative() == y.is_sign_negative()
            }
            _ => Closeness::SAME.allows(x, y),
        };
        let at = numbers.iter().position(|pair| !same(pair))?;
        // Some elements are two numbers; of splats there is one element.
        let single = a.is_splat() && b.is_splat();
        let per_element = if single { numbers.len() } else { numbers.len() / a.len().max(1) };
        let index = at / per_element.max(1);
        let place = format!("{place}{}", position(index, a.shape()));
        Some(format!("{place}: {} before, {} after", element(a, index), element(b, index)))
    }
}

// The n-th element in row-major order, by its index along each axis.
fn position(mut n: usize, shape: &[usize]) -> String {
    if shape.is_empty() {
        return String::new();
    }
    let mut index = vec![0; shape.len()];
    for (slot, &extent) in index.iter_mut().zip(shape).rev() {
        (*slot, n) = (n % extent.max(1), n / extent.max(1));
    }
    format!(", element {index:?}")
}

// The distance from one to the next number in the coarsest float type of a function.
fn coarsest(f: &Function) -> f64 {
    let params = f.params().iter().copied();
    let results = f.walk().flat_map(|inst| f.inst_results(inst));
    let units = params.chain(results).map(|value| unit(f.value_type(value)));
    units.fold(0.0, f64::max)
}

fn unit(ty: &ValueType) -> f64 {
    let digits = match ty {
        ValueType::Tuple(types) => return types.iter().map(unit).fold(0.0, f64::max),
        ValueType::Token => return 0.0,
        ValueType::Tensor(ty) => match ty.dtype.complex_part().unwrap_or(ty.dtype) {
            DataType::F8E5M2 => 2,
            DataType::F8E4M3Fn => 3,
            DataType::Bf16 => 7,
            DataType::F16 => 10,
            DataType::F32 => 23,
            _ => return 0.0,
        },
    };
    f64::from(-digits).exp2()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn splats_beyond_memory_are_compared() {
        let text = "ptir 1 func @f(%x: f32[]) -> f32[1099511627776] {
          %y = broadcast_to %x : f32[1099511627776]
          return %y
        }";
        let program = sapwood_ptir::parse(text).unwrap();
        let found = compare(&program, &program, FloatMode::Exact, 1);
        assert!(!found.different());
        assert_eq!(found.compared, SETS.len());
    }

    fn both(params: &str, results: &str, before: &str, after: &str, floats: FloatMode) -> Found {
        let program = |body: &str| {
            let text = format!("ptir 1 func @f({params}) -> {results} {{ {body} }}");
            sapwood_ptir::parse(&text).unwrap_or_else(|e| panic!("{e}"))
        };
        compare(&program(before), &program(after), floats, 1)
    }

    #[test]
    fn signs_of_zeros_in_tuples_count() {
        let check = |floats| {
            let before = "%z = constant 0.0 : f32[64] %y = add %x, %z : f32[64]
                          %r = tuple %y, %x : tuple<f32[64], f32[64]> return %r";
            let after = "%r = tuple %x, %x : tuple<f32[64], f32[64]> return %r";
            both("%x: f32[64]", "tuple<f32[64], f32[64]>", before, after, floats)
        };
        let found = check(FloatMode::Exact);
        assert!(found.different());
        assert!(found.lines[0].contains("result 0.0, element ["), "{}", found.lines[0]);
        assert!(found.lines[0].contains(": 0.0 before, -0.0 after"), "{}", found.lines[0]);
        assert!(!check(FloatMode::Nsz).different());
    }

    #[test]
    fn fast_allows_what_a_type_rounds() {
        for dtype in ["f8e4m3fn", "bf16", "f16", "f32", "f64"] {
            let ty = format!("{dtype}[64]");
            let add = |to: &str, from: &str, number: &str| {
                format!("%c{to} = constant {number} : {ty} %{to} = add %{from}, %c{to} : {ty} ")
            };
            let before = add("y", "x", "0.125") + &add("z", "y", "0.625") + "return %z";
            let check =
                |after: &str| both(&format!("%x: {ty}"), &ty, &before, after, FloatMode::Fast);
            let found = check(&(add("z", "x", "0.75") + "return %z"));
            assert!(!found.different(), "{dtype}: {}", found.text());
            assert!(check(&format!("%z = neg %x : {ty} return %z")).different(), "{dtype}");
        }
    }

    #[test]
    fn fast_leaves_open_what_becomes_of_nan() {
        let check = |floats| {
            let before = "%z = sub %x, %x : f32[64] return %z";
            let after = "%z = constant 0.0 : f32[64] return %z";
            both("%x: f32[64]", "f32[64]", before, after, floats)
        };
        assert!(!check(FloatMode::Fast).different());
        assert!(check(FloatMode::Exact).different());
    }

    #[test]
    fn integers_are_exact_whatever_floats_are() {
        let before = "return %x";
        let after = "%o = constant 1 : i32[64] %z = add %x, %o : i32[64] return %z";
        assert!(both("%x: i32[64]", "i32[64]", before, after, FloatMode::Fast).different());
    }

    #[test]
    fn extents_of_their_own_show_a_check_that_was_added() {
        let (params, results) = ("%x: f32[?], %y: f32[?]", "(f32[?], f32[?])");
        let after = "%a = refine %x : f32[?n] %b = refine %y : f32[?n] return %a, %b";
        let found = both(params, results, "return %x, %y", after, FloatMode::Exact);
        assert!(found.different());
        assert!(found.lines[0].contains("fails only afterwards"), "{}", found.lines[0]);
    }

    #[test]
    fn few_elements_meet_special_values() {
        for ty in ["f32[]", "f32[3]"] {
            let check = |before: &str, after: &str| {
                both(&format!("%x: {ty}"), ty, before, after, FloatMode::Exact)
            };
            let before = format!("%y = sub %x, %x : {ty} return %y");
            let after = format!("%y = constant 0.0 : {ty} return %y");
            assert!(check(&before, &after).different(), "{ty}");
            let zero = format!("%z = constant 0.0 : {ty} %y = add %x, %z : {ty} return %y");
            assert!(check(&zero, "return %x").different(), "{ty}");
            let found = check(&zero, &zero);
            assert!(!found.different(), "{ty}");
            assert_eq!(found.compared, SETS.len());
        }
        let before = "%o = constant 1 : i32[] %y = add %x, %o : i32[]
            %c = compare %y, %x {direction = gt} : bool[] return %c";
        let after = "%c = constant true : bool[] return %c";
        assert!(both("%x: i32[]", "bool[]", before, after, FloatMode::Exact).different());
    }

    #[test]
    fn what_became_endless_is_found_soon() {
        let program = |next: &str| {
            format!(
                "%z = constant 0 : i32[] %one = constant 1 : i32[] %ten = constant 10 : i32[]
                %r = while %z (%i: i32[]) {{
                  %c = compare %i, %ten {{direction = lt}} : bool[]
                  yield %c
                }} (%k: i32[]) {{
                  %j = add %k, %one : i32[]
                  yield {next}
                }} : i32[]
                return %r"
            )
        };
        let found = both("", "i32[]", &program("%j"), &program("%k"), FloatMode::Exact);
        assert!(found.different());
        assert!(found.lines[0].contains("the time limit of 2s is reached"), "{}", found.lines[0]);
    }

    #[test]
    fn a_run_afterwards_may_take_longer() {
        let seconds = Duration::from_secs;
        assert_eq!(afterwards(Duration::ZERO, seconds(40)), LEAST);
        assert_eq!(afterwards(seconds(1), seconds(40)), seconds(17));
        assert_eq!(afterwards(seconds(10), seconds(40)), seconds(40));
        assert_eq!(afterwards(seconds(1), seconds(4)), seconds(4));
    }

    #[test]
    fn sets_that_are_not_run_are_said() {
        let (params, body) = ("%x: f32[?], %y: f32[?]", "%z = add %x, %y : f32[?] return %z");
        let found = both(params, "f32[?]", body, body, FloatMode::Exact);
        assert_eq!((found.compared, found.sets_not_run), (2, 2));
        assert!(found.lines[0].starts_with("check: 2 of 4 sets of inputs not run: @f"));
        assert_eq!(found.answer(), Answer::Yes);
    }

    #[test]
    fn nothing_run_is_no_answer() {
        let call = "%y = custom_call \"nobody\" %x : f32[4] return %y";
        let found = both("%x: f32[4]", "f32[4]", call, call, FloatMode::Exact);
        assert_eq!(found.answer(), Answer::No);
        assert_eq!(found.lines.len(), 1, "{:?}", found.lines);
        let nan = "%c = constant nan : f32[4] return %c";
        let found = both("%x: f32[4]", "f32[4]", nan, nan, FloatMode::Exact);
        assert!(found.text().contains("no float among the results was finite"), "{}", found.text());
    }
}
