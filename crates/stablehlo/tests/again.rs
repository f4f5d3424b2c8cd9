//! Ops of the usual form are made straight from the text, and lines that are written like one before as that one was.
//! With a place no op is of the usual form, with a comment that names a value no line is like another: whatever is read
//! must be the same with these and without.

use sapwood_ptir::{Function, InstId};
use sapwood_stablehlo::{Module, read_split, write};
use sapwood_testing::repository;
use sapwood_types::Source;

// The same text with a comment at the end of every line but those that are one.
fn commented(text: &str) -> String {
    let comment = |line: &str| match line.trim_start().starts_with("//") {
        true => line.to_owned(),
        false => format!("{line} // %"),
    };
    text.lines().map(comment).collect::<Vec<_>>().join("\n")
}

// The same text with a place after every op that certainly ends with its line, and with the comments. Where there are
// places, only with the comments.
fn located(text: &str) -> String {
    if text.contains("loc(") {
        return commented(text);
    }
    let starts = ["%", "return", "func.return", "stablehlo.return", "call", "func.call"];
    let place = |line: &str| {
        let op = line.trim_start();
        let goes_on = op.contains(".while(") || op.contains(") across ");
        let ends = starts.iter().any(|s| op.starts_with(s)) && op.ends_with(['>', ')']);
        if ends && !goes_on { format!("{line} loc(unknown)") } else { line.to_owned() }
    };
    commented(&text.lines().map(place).collect::<Vec<_>>().join("\n"))
}

fn places(f: &Function) -> Vec<(String, u32, u32)> {
    let place = |inst: InstId| {
        let span = f.inst_span(inst);
        (f.op_name(inst).to_owned(), span.begin_line(), span.begin_column())
    };
    // What stands in the region of `applies` has no line of its own.
    f.body_insts(f.body()).map(place).collect()
}

fn shown(modules: &[Module]) -> Vec<(String, String, usize)> {
    let one = |m: &Module| (m.program.to_string(), write(m).unwrap(), m.notes.len());
    modules.iter().map(one).collect()
}

fn check(text: &str) -> bool {
    let right = check_against(text, &commented(text));
    assert_eq!(right, check_against(text, &located(text)), "{text}");
    right
}

fn check_against(text: &str, other: &str) -> bool {
    let plain = read_split(&Source::new("again.mlir", text));
    let one_by_one = read_split(&Source::new("again.mlir", other));
    match (plain, one_by_one) {
        (Ok(a), Ok(b)) => {
            assert_eq!(shown(&a), shown(&b), "{text}");
            for (a, b) in a.iter().zip(&b) {
                for (f, g) in a.program.functions().iter().zip(b.program.functions()) {
                    assert_eq!(places(f), places(g), "{text}");
                }
            }
            true
        }
        (Err(a), Err(b)) => {
            // Where a text ends, and so what stands there, is another place with comments.
            assert_eq!(a.error_count(), b.error_count(), "{text}");
            false
        }
        (a, b) => panic!("{text}\n{other}\n{:?}\n{:?}", a.map(|_| ()), b.map(|_| ())),
    }
}

fn function(body: &str) -> String {
    format!(
        "func.func @f(%a: tensor<2xf32>, %b: tensor<?xf32>, %p: tensor<i1>) -> tensor<2xf32> {{\n{body}  return %a : tensor<2xf32>\n}}\n"
    )
}

#[test]
fn programs_are_read_the_same() {
    let folder = repository().join("programs");
    for name in ["mlp", "newton", "train_step", "transformer"] {
        let text = std::fs::read_to_string(folder.join(format!("{name}.mlir"))).unwrap();
        assert!(check(&text), "{name} is a program");
    }
}

#[test]
fn golden_files_are_read_the_same() {
    let folder = repository().join("tests/golden/stablehlo");
    let mut files: Vec<_> = std::fs::read_dir(folder).unwrap().map(|e| e.unwrap().path()).collect();
    files.sort();
    let right = files.iter().filter(|path| check(&std::fs::read_to_string(path).unwrap())).count();
    assert!(right > 5, "{right} golden files are read");
}

#[test]
fn lines_twice_are_read_the_same() {
    for (body, right) in [
        (
            "  %0 = stablehlo.add %a, %a : tensor<2xf32>\n  %1 = stablehlo.add %0, %a : tensor<2xf32>\n",
            true,
        ),
        // One op may end on another line than the one like it.
        (
            "  %0 = stablehlo.add %a, %a : tensor<2xf32>\n  %1 = stablehlo.add %0, %a : tensor<2xf32>\n    loc(\"x\")\n",
            true,
        ),
        (
            "  %0 = stablehlo.cosine %a : tensor<2xf32>\n  %1 = stablehlo.cosine %a : tensor<2xf32>\n  -> tensor<2xf32>\n",
            true,
        ),
        (
            "  %0:2 = stablehlo.optimization_barrier %a, %p : tensor<2xf32>, tensor<i1>\n  %1:2 = stablehlo.optimization_barrier %0#0, %0#1 : tensor<2xf32>, tensor<i1>\n",
            true,
        ),
        // Named and unnamed results, and too many names.
        (
            "  %0 = stablehlo.cosine %a : tensor<2xf32>\n  stablehlo.cosine %a : tensor<2xf32>\n",
            true,
        ),
        (
            "  %0 = stablehlo.cosine %a : tensor<2xf32>\n  %1:2 = stablehlo.cosine %a : tensor<2xf32>\n",
            false,
        ),
        (
            "  %0 = stablehlo.cosine %a : tensor<2xf32>\n  %0 = stablehlo.cosine %a : tensor<2xf32>\n",
            false,
        ),
        // Operands of other types, and none.
        (
            "  %0 = stablehlo.add %b, %b : tensor<?xf32>\n  %1 = stablehlo.add %a, %a : tensor<?xf32>\n  %2 = stablehlo.add %b, %b : tensor<?xf32>\n",
            true,
        ),
        (
            "  %0 = stablehlo.cosine %a : tensor<2xf32>\n  %1 = stablehlo.cosine %p : tensor<2xf32>\n",
            false,
        ),
        (
            "  %0 = stablehlo.cosine %a : tensor<2xf32>\n  %1 = stablehlo.cosine %x : tensor<2xf32>\n",
            false,
        ),
        (
            "  %0 = stablehlo.cosine %a : tensor<2xf32>\n  %1 = stablehlo.cosine %a#1 : tensor<2xf32>\n",
            false,
        ),
        // Attributes that are kept beside the program, names in strings.
        (
            "  %0 = stablehlo.cosine %a {mhlo.x = \"%a\"} : tensor<2xf32>\n  %1 = stablehlo.cosine %a {mhlo.x = \"%b\"} : tensor<2xf32>\n",
            true,
        ),
        (
            "  %0 = stablehlo.custom_call @t(%a) {x = \"%a\"} : (tensor<2xf32>) -> tensor<2xf32>\n  %1 = stablehlo.custom_call @t(%0) {x = \"%p\"} : (tensor<2xf32>) -> tensor<2xf32>\n",
            true,
        ),
        // Shapes that are operands.
        (
            "  %c = stablehlo.constant dense<2> : tensor<1xi32>\n  %d = stablehlo.constant dense<3> : tensor<1xi32>\n  %0 = stablehlo.dynamic_reshape %b, %c : (tensor<?xf32>, tensor<1xi32>) -> tensor<?xf32>\n  %1 = stablehlo.dynamic_reshape %b, %d : (tensor<?xf32>, tensor<1xi32>) -> tensor<?xf32>\n",
            true,
        ),
        // Regions of one op, constants, and what is called.
        (
            "  %c = stablehlo.constant dense<0.0> : tensor<f32>\n  %d = stablehlo.constant dense<0.0> : tensor<f32>\n  %0 = stablehlo.reduce(%a init: %c) applies stablehlo.add across dimensions = [0] : (tensor<2xf32>, tensor<f32>) -> tensor<f32>\n  %1 = stablehlo.reduce(%a init: %d) applies stablehlo.add across dimensions = [0] : (tensor<2xf32>, tensor<f32>) -> tensor<f32>\n  %2 = call @g(%0) : (tensor<f32>) -> tensor<f32>\n  %3 = call @g(%1) : (tensor<f32>) -> tensor<f32>\n",
            true,
        ),
    ] {
        let callee =
            "func.func @g(%x: tensor<f32>) -> tensor<f32> {\n  return %x : tensor<f32>\n}\n";
        assert_eq!(check(&format!("{}{callee}", function(body))), right, "{body}");
        // The same in a second function.
        let again = function(body).replace("@f", "@h");
        assert_eq!(check(&format!("{}{again}{callee}", function(body))), right, "{body}");
    }
}

#[test]
fn other_letters_change_nothing() {
    let body =
        "  %0 = stablehlo.cosine %a : tensor<2xf32>\n  %1 = stablehlo.cosine %0 : tensor<2xf32>\n";
    assert!(check(&format!("// größer\n{}", function(body))));
    assert!(check(&function(body).replace('\n', "\r\n")));
}

#[test]
fn ends_of_regions_and_functions_are_told_apart() {
    let text = "func.func @f(%a: tensor<f32>, %p: tensor<i1>) -> tensor<f32> {
  %0 = \"stablehlo.if\"(%p) ({
    stablehlo.return %a : tensor<f32>
  }, {
    stablehlo.return %a : tensor<f32>
  }) : (tensor<i1>) -> tensor<f32>
  stablehlo.return %a : tensor<f32>
}
";
    assert!(check(text));
}

#[test]
fn a_return_may_go_on_in_the_next_line() {
    let text = "func.func @g() {\n  return\n}\nfunc.func @h(%a: tensor<2xf32>) -> tensor<2xf32> {\n  return\n    %a : tensor<2xf32>\n}\n";
    assert!(check(text));
}

#[test]
fn usual_forms_are_read_the_same_where_they_are_odd() {
    for (body, right) in [
        // Stray commas and white space.
        ("  %0 = stablehlo.add %a,%a: tensor<2xf32>\n", true),
        ("  %0 = stablehlo.add %a, %a, : tensor<2xf32>\n", true),
        // A type that says less, or more, than is known.
        ("  %0 = stablehlo.add %b, %b : tensor<2xf32>\n", true),
        ("  %0 = stablehlo.add %a, %a : tensor<?xf32>\n", true),
        ("  %0 = stablehlo.add %a, %a : tensor<3xf32>\n", false),
        ("  %0 = stablehlo.add %a, %a : (tensor<2xf32>, tensor<2xf32>) -> tensor<2xf32>\n", true),
        ("  %0 = stablehlo.add %a, %a : (tensor<2xf32>) -> tensor<2xf32>\n", false),
        // No name, a name for too many, a name twice, a name that is a number far away.
        ("  stablehlo.add %a, %a : tensor<2xf32>\n", true),
        ("  %0:2 = stablehlo.add %a, %a : tensor<2xf32>\n", false),
        (
            "  %0 = stablehlo.add %a, %a : tensor<2xf32>\n  %0 = stablehlo.add %a, %a : tensor<2xf32>\n",
            false,
        ),
        (
            "  %9999 = stablehlo.add %a, %a : tensor<2xf32>\n  %1 = stablehlo.add %9999, %9999#0 : tensor<2xf32>\n",
            true,
        ),
        (
            "  %9999 = stablehlo.add %a, %a : tensor<2xf32>\n  %9999 = stablehlo.add %a, %a : tensor<2xf32>\n",
            false,
        ),
        (
            "  %00 = stablehlo.add %a, %a : tensor<2xf32>\n  %1 = stablehlo.add %00, %0 : tensor<2xf32>\n",
            false,
        ),
        // Constants, attributes and kinds of comparison.
        ("  %0 = stablehlo.constant dense<0x7FC00000> : tensor<2xf32>\n", true),
        ("  %0 = stablehlo.constant dense<true> : tensor<2xf32>\n", false),
        ("  %0 = stablehlo.constant dense<1.0 > : tensor<2xf32>\n", true),
        ("  %0 = stablehlo.broadcast_in_dim %p, dims = [ ] : (tensor<i1>) -> tensor<4xi1>\n", true),
        (
            "  %0 = stablehlo.broadcast_in_dim %a, dims = [1] : (tensor<2xf32>) -> tensor<4xf32>\n",
            false,
        ),
        (
            "  %0 = stablehlo.compare LT, %a, %a, TOTALORDER : (tensor<2xf32>, tensor<2xf32>) -> tensor<2xi1>\n",
            true,
        ),
        (
            "  %0 = stablehlo.compare LT, %a, %a, NOTYPE : (tensor<2xf32>, tensor<2xf32>) -> tensor<2xi1>\n",
            true,
        ),
        ("  %0 = stablehlo.slice %a [0:2:2] : (tensor<2xf32>) -> tensor<1xf32>\n", true),
        ("  %0 = stablehlo.slice %a [0:3] : (tensor<2xf32>) -> tensor<3xf32>\n", false),
        (
            "  %0 = stablehlo.dot_general %a, %a, contracting_dims = [0] x [0], precision = [HIGH, HIGH] : (tensor<2xf32>, tensor<2xf32>) -> tensor<f32>\n",
            true,
        ),
        (
            "  %0 = stablehlo.dot_general %a, %a, contracting_dims = [0] x [0] : (tensor<2xf32>, tensor<2xf32>) -> tensor<f64>\n",
            true,
        ),
    ] {
        assert_eq!(check(&function(body)), right, "{body}");
    }
}
