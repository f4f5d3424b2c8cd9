//! Tests that every error in a text is reported with its span, and that no text panics.

use sapwood_ir::{parse_bytes, parse_program};
use sapwood_types::Source;

fn problems(text: &str) -> Vec<String> {
    let source = Source::new("bad.ir", text);
    let problems = parse_program(&source).expect_err("this text is wrong");
    // Rendering must not panic either.
    assert!(!problems.render(&source).is_empty());
    problems.iter().map(ToString::to_string).collect()
}

#[track_caller]
fn check(text: &str, expected: &[&str]) {
    assert_eq!(problems(text), expected, "{text}");
}

#[test]
fn all_problems_of_a_text_are_reported() {
    check(
        "def f(x: pi.INT46):
    y = xx + 1
    z = y * 2
    for i in rnge(0, 3, 1):
        a = (x
    if x > :
        b = zz
    return 99999999999999999999999999999999999999999

def g(x: pi.INT64) -> pi.INT64:
    x = )
    return x

def g(y: pi.INT64):
    pass
",
        &[
            "bad.ir:1:13: error: unknown name `pi.INT46`",
            "bad.ir:2:9: error: unknown name `xx`",
            "bad.ir:4:14: error: expected `range`, found `rnge`",
            "bad.ir:6:5: error: expected `,`, an operator or `)`, found `if`",
            "bad.ir:7:13: error: unknown name `zz`",
            "bad.ir:8:12: error: the integer is out of range: it does not fit 128 bits with a sign",
            "bad.ir:11:9: error: expected an expression, found `)`",
            "bad.ir:14:5: error: a second function called `g`",
        ],
    );
}

#[test]
fn a_header_with_a_problem_hides_nothing_below() {
    // The names of parameters are known even if their types have errors.
    check(
        "def f(x: pi.INT46, t: pi.TensorType(pi.FP23, [2, 3]), x: pi.INT64, y: pi.INT64):
    a = min(x)
    b = abs(t, x) + y
    c = xx + t
",
        &[
            "bad.ir:1:13: error: unknown name `pi.INT46`",
            "bad.ir:1:40: error: unknown name `pi.FP23`",
            "bad.ir:1:55: error: a second parameter called `x`",
            "bad.ir:2:9: error: `min` takes 2 arguments, found 1",
            "bad.ir:3:9: error: `abs` takes 1 argument, found 2",
            "bad.ir:4:9: error: unknown name `xx`",
        ],
    );
    check(
        "def f(x: pi.INT64) -> (pi.INT46, pi.FP32):
    return x, yy

def g(x: pi.INT64)
    return zz
",
        &[
            "bad.ir:1:27: error: unknown name `pi.INT46`",
            "bad.ir:2:15: error: unknown name `yy`",
            "bad.ir:4:19: error: expected `:` after the header of the function, found the end of the line",
            "bad.ir:5:12: error: unknown name `zz`",
        ],
    );
    // If the names are not known either, unknown names are not reported.
    check(
        "def f(1, y: pi.INT64):\n    return x + y\n",
        &["bad.ir:1:7: error: expected the name of a parameter, found `1`"],
    );
    check(
        "def f(x: pi.INT64):
    for i, (s,) in pi.range(0, x, 1, 2, init_values=[0]):
        a = i + s + q
    with pi.sq():
        b = r
",
        &[
            "bad.ir:2:20: error: expected 1 to 3 arguments of a range, found 4",
            "bad.ir:3:21: error: unknown name `q`",
            "bad.ir:4:10: error: unknown block `with pi.sq`",
            "bad.ir:5:13: error: unknown name `r`",
        ],
    );
}

#[test]
fn a_second_function_is_found_whatever_is_wrong_with_the_first() {
    check(
        "def f(x: pi.INT64):\n    y = xx\n\ndef f():\n    pass\n\ndef g(1):\n    pass\n\ndef g():\n    pass\n",
        &[
            "bad.ir:2:9: error: unknown name `xx`",
            "bad.ir:4:5: error: a second function called `f`",
            "bad.ir:7:7: error: expected the name of a parameter, found `1`",
            "bad.ir:10:5: error: a second function called `g`",
        ],
    );
}

#[test]
fn names() {
    check(
        "def f(value: pi.INT64):\n    a = valeu + 1\n    b = valeu\n    c = a\n    d = nothing\n",
        &["bad.ir:2:9: error: unknown name `valeu`", "bad.ir:5:9: error: unknown name `nothing`"],
    );
    check("def f(x, x):\n    pass\n", &["bad.ir:1:10: error: a second parameter called `x`"]);
}

#[test]
fn indentation() {
    check(
        "def f(x):\n    a = 1\n      b = 2\n  c = 3\n    d = 4\n",
        &[
            "bad.ir:3:7: error: unexpected indentation",
            "bad.ir:4:3: error: indented by 2, which matches no block",
        ],
    );
    check("def f(x):\n\ta = 1\n", &["bad.ir:2:1: error: a tab in the indentation"]);
    check("def f(x):\npass\n", &["bad.ir:2:1: error: expected an indented block, found `pass`"]);
}

#[test]
fn arity_and_duplicates() {
    check(
        "def f(x: pi.INT64):
    a = min(x)
    b = abs(x, x)
    for i in range(0, x, 1, 1):
        pass
    for i, (s, t) in pi.range(0, x, 1, init_values=[0]):
        pi.yield_(s)

def f(x: pi.INT64):
    pass

def f():
    pass
",
        &[
            "bad.ir:2:9: error: `min` takes 2 arguments, found 1",
            "bad.ir:3:9: error: `abs` takes 1 argument, found 2",
            "bad.ir:4:14: error: expected 1 to 3 arguments of a range, found 4",
            "bad.ir:6:22: error: 2 iteration arguments but 1 initial value",
            "bad.ir:9:5: error: a second function called `f`",
            "bad.ir:12:5: error: a second function called `f`",
        ],
    );
}

#[test]
fn numbers() {
    check(
        "def f(x: pi.INT64):
    a = 170141183460469231731687303715884105728
    b = -170141183460469231731687303715884105728
    c = 1e99
    d = pi.INT32(1.5)
    e = pi.FP32(1)
    g = 12ab
    h = pi.COMPLEX64(1)
    i = pi.FP64(1e999)
    j = pi.FP16(-1e9)
    k = pi.FP8E4M3FN(1e9)
    l = pi.FP32(1e39)
    m = pi.FP16(65504.0)
    n = pi.FP8E4M3FN(\"-inf\")
",
        &[
            "bad.ir:2:9: error: the integer is out of range: it does not fit 128 bits with a sign",
            "bad.ir:4:9: error: the number is out of the range of FP32",
            "bad.ir:5:18: error: expected an integer such as `5` in `pi.INT32(…)`, found `1.5`",
            "bad.ir:7:11: error: a letter right after a number",
            "bad.ir:8:22: error: expected no constant (this data type has none) in `pi.COMPLEX64(…)`, found `1`",
            "bad.ir:9:17: error: the number is out of the range of FP64",
            "bad.ir:10:18: error: the number is out of the range of FP16",
            "bad.ir:11:22: error: the number is out of the range of FP8E4M3FN",
            "bad.ir:12:17: error: the number is out of the range of FP32",
            "bad.ir:14:22: error: FP8E4M3FN has no infinity",
        ],
    );
}

#[test]
fn expressions() {
    check(
        "def f(x: pi.INT64, y: pi.FP32):
    a = x + y
    b = x < x < x
    c = x + not x
    d = (x, y)[2]
    e = x[0]
    g = pi.typed(x, pi.INT64)
    h = pi.cast(x, x)
    i = pi.cst(x, pi.INT64)
    j = x $ y
    k = \"text
",
        &[
            "bad.ir:2:9: error: the operands have the types pi.INT64 and pi.FP32, so the type of the result cannot be inferred",
            "bad.ir:3:15: error: chained comparisons",
            "bad.ir:4:13: error: `not` right after an operator that binds tighter",
            "bad.ir:5:16: error: tuple index 2 is out of range: the tuple has 2 elements",
            "bad.ir:6:11: error: element 0 of a value of type ScalarType, which is not a tuple",
            "bad.ir:7:18: error: expected an operation, a call or a tuple in `pi.typed`",
            "bad.ir:8:20: error: expected a type, found an expression",
            "bad.ir:9:12: error: unknown name `pi.cst`",
            "bad.ir:10:11: error: unexpected character '$'",
            "bad.ir:10:13: error: expected the end of the line, found `y`",
            "bad.ir:11:9: error: a string that does not end on its line",
            "bad.ir:11:14: error: expected an expression, found the end of the line",
        ],
    );
}

#[test]
fn statements() {
    check(
        "def f(x: pi.INT64):
    else:
        a = 1
    r: pi.INT64 = pi.result(0)
    if x:
        b = 1
    s: pi.INT64 = pi.result(1)
    while:
        c = 1
    pi.cond(x)
    with pi.sq():
        d = 1
    import os
    x: pi.FP32 = 1.0
oops
",
        &[
            "bad.ir:2:5: error: `else` without an `if` right above",
            "bad.ir:7:19: error: result 1 is out of order, expected result 0",
            "bad.ir:8:10: error: expected an expression, found `:`",
            "bad.ir:10:5: error: `pi.cond` outside a `pi.while_` loop",
            "bad.ir:11:10: error: unknown block `with pi.sq`",
            "bad.ir:13:5: error: expected a statement, found `import`",
            "bad.ir:14:5: error: `x` already has another type",
            "bad.ir:15:1: error: expected `def`, found `oops`",
        ],
    );
}

#[test]
fn nesting_beyond_the_limit() {
    let mut text = String::from("def f(x):\n");
    for depth in 1..150 {
        text.push_str(&format!("{}if x:\n", "    ".repeat(depth)));
    }
    text.push_str(&format!("{}x = 1\n", "    ".repeat(150)));
    check(&text, &["bad.ir:101:401: error: blocks nest deeper than 99"]);
    let problems = parse_program(&Source::new("bad.ir", text)).unwrap_err();
    let help = problems.iter().next().and_then(|problem| problem.help.as_deref());
    assert_eq!(help, Some("move the inner blocks into a function of their own"));
}

#[test]
fn bytes_that_are_not_utf8() {
    let problems = parse_bytes("bytes.ir", b"def f():\n    x = \"\xff\"\n").unwrap_err();
    let shown: Vec<String> = problems.iter().map(ToString::to_string).collect();
    assert_eq!(shown, ["bytes.ir:2:10: error: the byte 0xff is not UTF-8"]);
    assert!(parse_bytes("ok.ir", b"def f():\n    pass\n").is_ok());
}

#[test]
fn a_hundred_megabytes_in_one_line() {
    let size = (sapwood_testing::cases(20, 100) as usize) << 20;
    let garbage = "x+".repeat(size / 2);
    assert!(parse_program(&Source::new("long.ir", garbage)).is_err());
    let mut line = String::from("def f(x: pi.INT64):\n    y = x");
    line.push_str(&" + x".repeat(size / 4));
    line.push_str(" + $\n");
    assert_eq!(problems(&line).len(), 2);
}

#[test]
fn any_cut_and_any_change_of_a_program_is_handled() {
    let text = sapwood_ir::testing::program(8, 20).to_string();
    for end in (0..text.len()).filter(|end| text.is_char_boundary(*end)) {
        let _ = parse_program(&Source::new("cut.ir", &text[..end]));
    }
    let mut random = sapwood_ir::testing::ChoiceSource::new(1);
    for _ in 0..3_000 {
        let mut bytes = text.clone().into_bytes();
        for _ in 0..=random.below(4) {
            let at = random.below(bytes.len());
            match random.below(3) {
                0 => bytes[at] = b"()[]:=.,\n -+*x0'\"#"[random.below(18)],
                1 => {
                    bytes.remove(at);
                }
                _ => bytes.insert(at, b"()[]:=.,\n -+*x0'\"#"[random.below(18)]),
            }
        }
        let _ = parse_bytes("changed.ir", &bytes);
    }
}
