//! Variables that branches and loops change, in random programs of few variables: what is lowered computes what the
//! interpreter computes.

use crate::common::{from_ptir, inputs};
use sapwood_ir::interpret::{Interpreter, RunValue};
use sapwood_ir::parse_program;
use sapwood_ir::testing::ChoiceSource;
use sapwood_lower::lower;
use sapwood_ptir::eval::{RunOptions, Value, run};
use sapwood_rewrite::PassManager;
use sapwood_testing::cases;
use sapwood_types::Source;

struct Writer {
    random: ChoiceSource,
    text: String,
    /// The number of fresh names so far.
    names: usize,
}

impl Writer {
    fn line(&mut self, depth: usize, line: &str) {
        self.text += &"    ".repeat(depth);
        self.text += line;
        self.text.push('\n');
    }

    fn var(&mut self) -> &'static str {
        let names: [&'static str; 4] = ["a", "b", "c", "d"];
        names[self.random.below(4)]
    }

    fn fresh(&mut self) -> String {
        self.names += 1;
        format!("v{}", self.names)
    }

    fn value(&mut self) -> String {
        let (x, y, n) = (self.var(), self.var(), self.random.below(7));
        let op = *self.random.pick(&["+", "-", "*", "//", "%", "&", "^"]);
        match self.random.below(3) {
            0 => format!("{x} {op} {y}"),
            1 => format!("{x} {op} {n}"),
            _ => x.to_owned(),
        }
    }

    fn condition(&mut self) -> String {
        let (x, y, n) = (self.var(), self.var(), self.random.below(5));
        match self.random.below(3) {
            0 => format!("{x} < {y}"),
            1 => format!("{x} % {n} == 1 or {y} > {n}"),
            _ => x.to_owned(),
        }
    }

    fn returned(&mut self) -> String {
        let values: Vec<String> = (0..4).map(|_| self.var().to_owned()).collect();
        format!("return {}", values.join(", "))
    }

    fn stmts(&mut self, depth: usize) {
        for _ in 0..=self.random.below(3) {
            self.stmt(depth);
        }
    }

    fn stmt(&mut self, depth: usize) {
        match if depth > 4 { 0 } else { self.random.below(11) } {
            0..=2 => {
                let (var, value) = (self.var(), self.value());
                self.line(depth, &format!("{var} = {value}"));
            }
            3 => {
                let condition = self.condition();
                self.line(depth, &format!("if {condition}:"));
                self.stmts(depth + 1);
            }
            4 => {
                // Both branches assign the results; one of them is new.
                let (condition, var, new) = (self.condition(), self.var(), self.fresh());
                for head in [format!("if {condition}:"), "else:".to_owned()] {
                    self.line(depth, &head);
                    self.stmts(depth + 1);
                    for name in [var, &new] {
                        let value = self.value();
                        self.line(depth + 1, &format!("{name} = {value}"));
                    }
                }
                self.line(depth, &format!("{var} = pi.result(0)"));
                self.line(depth, &format!("{new} = pi.result(1)"));
                let user = self.var();
                self.line(depth, &format!("{user} = {user} + {new}"));
            }
            5 => {
                // The loop variable is new, or one that has a value.
                let own = self.fresh();
                let counter = if self.random.below(2) == 0 { own } else { self.var().to_owned() };
                let stop = self.var();
                let range = match self.random.below(4) {
                    0 => "0, 3, 1".to_owned(),
                    1 => "5, -2, -3".to_owned(),
                    2 => format!("0, {stop} % 4, 1"),
                    _ => format!("{stop} % 3, {stop} & 3, {stop} % 5 - 2"),
                };
                self.line(depth, &format!("for {counter} in range({range}):"));
                let reader = self.var();
                self.line(depth + 1, &format!("{reader} = {reader} - {counter}"));
                self.stmts(depth + 1);
            }
            6 => {
                let (counter, limit) = (self.fresh(), self.random.below(4));
                self.line(depth, &format!("{counter} = 0"));
                let goes_on = self.condition();
                self.line(depth, &format!("while {counter} < {limit} and {goes_on}:"));
                self.stmts(depth + 1);
                self.line(depth + 1, &format!("{counter} = {counter} + 1"));
            }
            8 => {
                // A return in the one branch, a new variable or a result in the other.
                let (condition, returned) = (self.condition(), self.returned());
                let (new, value, user) = (self.fresh(), self.value(), self.var());
                let yields = self.random.below(2) == 0;
                let mut branches = [
                    vec![returned],
                    vec![match yields {
                        true => format!("pi.yield_({value})"),
                        false => format!("{new} = {value}"),
                    }],
                ];
                branches.rotate_left(self.random.below(2));
                for (head, lines) in
                    [format!("if {condition}:"), "else:".into()].iter().zip(&branches)
                {
                    self.line(depth, head);
                    if self.random.below(3) == 0 {
                        self.stmts(depth + 1);
                    }
                    for line in lines {
                        self.line(depth + 1, line);
                    }
                }
                if yields {
                    self.line(depth, &format!("{new}: pi.INT64 = pi.result(0)"));
                }
                self.line(depth, &format!("{user} = {user} - {new}"));
            }
            9 => {
                // Only a return ends it.
                let (counter, limit) = (self.fresh(), self.random.below(4));
                let (condition, returned) = (self.condition(), self.returned());
                let outer = self.condition();
                self.line(depth, &format!("if {outer}:"));
                self.line(depth + 1, &format!("{counter} = 0"));
                self.line(depth + 1, "while True:");
                self.stmts(depth + 2);
                self.line(depth + 2, &format!("{counter} = {counter} + 1"));
                self.line(depth + 2, &format!("if {counter} > {limit} or {condition}:"));
                self.line(depth + 3, &returned);
            }
            10 => {
                let (condition, returned) = (self.condition(), self.returned());
                self.line(depth, &format!("if {condition}:"));
                self.line(depth + 1, &returned);
            }
            _ => {
                // Yields and changes at once.
                let (condition, var) = (self.condition(), self.var());
                for head in [format!("if {condition}:"), "else:".to_owned()] {
                    self.line(depth, &head);
                    self.stmts(depth + 1);
                    let value = self.value();
                    self.line(depth + 1, &format!("pi.yield_({value})"));
                }
                self.line(depth, &format!("{var} = pi.result(0)"));
            }
        }
    }
}

fn write(seed: u64) -> String {
    let mut writer = Writer { random: ChoiceSource::new(seed), text: String::new(), names: 0 };
    let params = ["a", "b", "c", "d"].map(|name| format!("{name}: pi.INT64")).join(", ");
    writer.line(0, &format!("def f({params}) -> (pi.INT64, pi.INT64, pi.INT64, pi.INT64):"));
    for _ in 0..3 {
        writer.stmts(1);
    }
    writer.line(1, "return a, b, c, d");
    writer.text
}

#[test]
fn assigned_variables_are_carried() {
    let count = cases(600, 50_000);
    let mut compared = 0;
    for seed in 0..u64::from(count) {
        let text = write(seed);
        let source = Source::new("random.py", text.as_str());
        let program = parse_program(&source)
            .unwrap_or_else(|e| panic!("seed {seed}: {}\n{text}", e.render(&source)));
        let lowered = lower(&program)
            .unwrap_or_else(|e| panic!("seed {seed}: {}\n{text}", e.render(&source)));
        let mut simple = lowered.clone();
        PassManager::parse("simplify").unwrap().run(&mut simple).unwrap();
        let mut random = ChoiceSource::new(seed ^ 0x77);
        for _ in 0..3 {
            let args: Vec<RunValue> =
                (0..4).map(|_| RunValue::int(random.below(21) as i64 - 10)).collect();
            let Ok(expected) = Interpreter::new(&program, 2_000).run("f", &args) else {
                continue;
            };
            let inputs: Vec<Value> = inputs(lowered.functions().last().unwrap(), &args);
            for lowered in [&lowered, &simple] {
                let found = run(lowered, "f", &inputs, &RunOptions::default()).unwrap();
                let found: Vec<RunValue> = found.iter().map(from_ptir).collect();
                assert_eq!(expected, found, "seed {seed} of {args:?}\n{text}\n{lowered}");
            }
            compared += 1;
        }
    }
    assert!(compared > count, "only {compared} runs were compared");
}
