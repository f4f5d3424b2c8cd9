//! The silent and the reporting builder read the same programs, and refuse the same texts with the same messages.

use sapwood_ptir::{Attr, Function, InstId, Registry};
use sapwood_types::{Loc, Source};

use super::changed_texts::sample_texts;
use super::{read_modules, read_split};
use crate::{Module, write};

// Returns the text with a location after every op that certainly ends with its line.
fn with_locations(text: &str) -> String {
    let starts = ["%", "return", "func.return", "stablehlo.return", "call", "func.call", "})"];
    let lines: Vec<&str> = text.lines().collect();
    let place = |(i, line): (usize, &&str)| {
        let op = line.trim_start();
        let next = lines.get(i + 1).map_or("", |next| next.trim_start());
        let goes_on = [".while(", ") across ", "loc("].iter().any(|s| op.contains(s))
            || ["loc(", "->"].iter().any(|s| next.starts_with(s));
        let ends = starts.iter().any(|s| op.starts_with(s)) && op.ends_with(['>', ')']);
        // The end of a loop or a function.
        let closes = op == "}" && ![")", ",", "do", "loc("].iter().any(|s| next.starts_with(s));
        let place = closes || (ends && !goes_on);
        if place { format!("{line} loc(unknown)") } else { (*line).to_owned() }
    };
    lines.iter().enumerate().map(place).collect::<Vec<_>>().join("\n")
}

fn inst_spans(f: &Function) -> Vec<(String, [u32; 4], Loc)> {
    let place = |inst: InstId| {
        let span = f.inst_span(inst);
        let (start, end) = (span.begin_line(), span.end_line());
        let range = [start, span.begin_column(), end, span.end_column()];
        (f.op_name(inst).to_owned(), range, span.loc())
    };
    // The ops in the region of `applies` have no line of their own.
    f.body_insts(f.body()).map(place).collect()
}

fn module_texts(modules: &[Module]) -> Vec<(String, String, usize)> {
    let one = |m: &Module| (m.program.to_string(), write(m).unwrap(), m.notes.len());
    modules.iter().map(one).collect()
}

// Asserts that both builders read the same from a text, with and without locations. Returns whether it is accepted.
fn accepted_by_both(text: &str) -> bool {
    let right = builders_agree(text);
    assert_eq!(right, builders_agree(&with_locations(text)), "{text}");
    right
}

// Asserts that both builders read the same program, or refuse with the same messages. Returns whether they accept.
pub(super) fn builders_agree(text: &str) -> bool {
    let (source, registry) = (Source::new("text.mlir", text), Registry::builtin());
    match (read_modules(&source, &registry, true), read_modules(&source, &registry, false)) {
        (Ok(a), Ok(b)) => {
            assert_eq!(module_texts(&a), module_texts(&b), "{text}");
            for (a, b) in a.iter().zip(&b) {
                for (f, g) in a.program.functions().iter().zip(b.program.functions()) {
                    assert_eq!(inst_spans(f), inst_spans(g), "{text}");
                }
            }
            true
        }
        (Err(a), Err(b)) => {
            assert_eq!(a.render(&source), b.render(&source), "{text}");
            false
        }
        (a, b) => panic!("{text}\n{:?}\n{:?}", a.map(|_| ()), b.map(|_| ())),
    }
}

fn function(body: &str) -> String {
    format!(
        "func.func @f(%a: tensor<2xf32>, %b: tensor<?xf32>, %p: tensor<i1>) -> tensor<2xf32> {{\n{body}  return %a : tensor<2xf32>\n}}\n"
    )
}

#[test]
fn programs_and_golden_files_are_read_the_same() {
    let right = sample_texts().iter().filter(|text| accepted_by_both(text)).count();
    assert!(right > 5, "{right} files are read");
}

#[test]
fn types_may_be_declared_in_every_form() {
    for (op, types) in [
        ("select %q, %a, %a", "tensor<2xi1>, tensor<2xf32>, tensor<2xf32> -> tensor<2xf32>"),
        ("select %p, %a, %a", "tensor<i1>, tensor<2xf32>, tensor<2xf32> -> tensor<2xf32>"),
        ("add %a, %a", "tensor<2xf32>, tensor<2xf32> -> tensor<2xf32>"),
        ("exponential %a", "tensor<2xf32> -> tensor<2xf32>"),
        ("compare EQ, %a, %a", "tensor<2xf32>, tensor<2xf32> -> tensor<2xi1>"),
        ("clamp %a, %a, %a", "tensor<2xf32>, tensor<2xf32>, tensor<2xf32> -> tensor<2xf32>"),
        ("reshape %a", "tensor<2xf32> -> tensor<2x1xf32>"),
        ("transpose %a, dims = [0]", "tensor<2xf32> -> tensor<2xf32>"),
        ("convert %a", "tensor<2xf32> -> tensor<2xi32>"),
    ] {
        let (operands, result) = types.split_once(" -> ").unwrap();
        let (predicate, rest) = operands.split_once(", ").unwrap_or((operands, ""));
        let other = format!("{operands}, tensor<i8>");
        let forms = [
            types.to_owned(),
            format!("({operands}) -> {result}"),
            format!("({operands}) -> ({result})"),
            operands.to_owned(),
            result.to_owned(),
            format!("{predicate}, {result}"),
            format!("{predicate}, {result} -> {result}"),
            format!("{rest} -> {result}"),
            format!("{other} -> {result}"),
            other,
            format!("{operands}, {result}"),
            format!("{operands} -> {result}, {result}"),
            format!("{types} -> {result}"),
        ];
        let mut right = 0;
        for form in forms {
            let [plain, other] = ["stablehlo", "mhlo"].map(|dialect| {
                let line = format!("  %0 = {dialect}.{op} : {form}\n");
                let text = function(&line).replace("%p:", "%q: tensor<2xi1>, %p:");
                read_split(&Source::new("again.mlir", text.as_str()))
            });
            match (plain, other) {
                (Ok(plain), Ok(other)) => {
                    assert_eq!(module_texts(&plain), module_texts(&other), "{op} : {form}");
                    right += 1;
                }
                (Err(_), Err(_)) => {}
                (plain, other) => {
                    panic!("{op} : {form}\n{:?}\n{:?}", plain.map(|_| ()), other.map(|_| ()));
                }
            }
        }
        assert!(right >= 3, "{op}: {right} forms are read");
    }
}

#[test]
fn aliases_may_be_indented_and_are_defined_once() {
    let text = |aliases: &str| {
        function("  %0 = stablehlo.cosine %a {x = #x} : tensor<2xf32> loc(#y)\n") + aliases
    };
    assert!(accepted_by_both(&text("  #x = 1 : i64\n\t#y = loc(\"y\")\n")));
    for (aliases, message) in [
        ("#x = 1 : i64\n #x = 2 : i64\n#y = loc(\"y\")\n", "error: alias `#x` is defined twice"),
        ("#x = 1 : i64\n#y = loc(\"a\")\n#y = loc(\"b\")\n", "alias `#y` is defined twice"),
        ("#y = loc(\"a\")\n#x = 1 : i64\n #y = 2 : i64\n", "alias `#y` is defined twice"),
        ("#x = 1 : i64\n#y = loc(\"y\")\n#x = loc(\"b\")\n", "alias `#x` is defined twice"),
    ] {
        let text = text(aliases);
        assert!(!builders_agree(&text));
        let source = Source::new("text.mlir", text.as_str());
        let problems = read_split(&source).unwrap_err().to_string();
        assert!(problems.contains(message), "{text}{problems}");
        let line = if aliases.starts_with("#x = 1 : i64\n #x") { 6 } else { 7 };
        assert!(problems.contains(&format!("text.mlir:{line}:")), "{text}{problems}");
    }
}

#[test]
fn repeated_lines_are_read_the_same() {
    for (body, right) in [
        (
            "  %0 = stablehlo.add %a, %a : tensor<2xf32>\n  %1 = stablehlo.add %0, %a : tensor<2xf32>\n",
            true,
        ),
        // One op may end on another line than the equal one.
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
        // A name in a string is not an operand, though the op has one more than is written.
        (
            "  %s = stablehlo.cosine %a : tensor<2xf32>\n  %0 = chlo.square %a : tensor<2xf32> -> tensor<2xf32> loc(\"%a\")\n  %1 = chlo.square %a : tensor<2xf32> -> tensor<2xf32> loc(\"%s\")\n",
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
        ("  %0:4294967295, %1:1 = stablehlo.cosine %a : tensor<2xf32>\n", false),
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
        // Attributes that are saved as extras, names in strings.
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
        // Regions of one op, constants, and calls.
        (
            "  %c = stablehlo.constant dense<0.0> : tensor<f32>\n  %d = stablehlo.constant dense<0.0> : tensor<f32>\n  %0 = stablehlo.reduce(%a init: %c) applies stablehlo.add across dimensions = [0] : (tensor<2xf32>, tensor<f32>) -> tensor<f32>\n  %1 = stablehlo.reduce(%a init: %d) applies stablehlo.add across dimensions = [0] : (tensor<2xf32>, tensor<f32>) -> tensor<f32>\n  %2 = call @g(%0) : (tensor<f32>) -> tensor<f32>\n  %3 = call @g(%1) : (tensor<f32>) -> tensor<f32>\n",
            true,
        ),
    ] {
        let callee =
            "func.func @g(%x: tensor<f32>) -> tensor<f32> {\n  return %x : tensor<f32>\n}\n";
        assert_eq!(accepted_by_both(&format!("{}{callee}", function(body))), right, "{body}");
        // Equal lines in a second function.
        let again = function(body).replace("@f", "@h");
        assert_eq!(
            accepted_by_both(&format!("{}{again}{callee}", function(body))),
            right,
            "{body}"
        );
    }
}

#[test]
fn non_ascii_text_changes_nothing() {
    let body =
        "  %0 = stablehlo.cosine %a : tensor<2xf32>\n  %1 = stablehlo.cosine %0 : tensor<2xf32>\n";
    assert!(accepted_by_both(&format!("// größer\n{}", function(body))));
    assert!(accepted_by_both(&function(body).replace('\n', "\r\n")));
}

#[test]
fn ends_of_regions_and_functions_are_distinguished() {
    let text = "func.func @f(%a: tensor<f32>, %p: tensor<i1>) -> tensor<f32> {
  %0 = \"stablehlo.if\"(%p) ({
    stablehlo.return %a : tensor<f32>
  }, {
    stablehlo.return %a : tensor<f32>
  }) : (tensor<i1>) -> tensor<f32>
  stablehlo.return %a : tensor<f32>
}
";
    assert!(accepted_by_both(text));
}

#[test]
fn a_return_may_continue_on_the_next_line() {
    let text = "func.func @g() {\n  return\n}\nfunc.func @h(%a: tensor<2xf32>) -> tensor<2xf32> {\n  return\n    %a : tensor<2xf32>\n}\n";
    assert!(accepted_by_both(text));
}

#[test]
fn odd_spellings_of_usual_forms_are_read_the_same() {
    for (body, right) in [
        // Stray commas and white space.
        ("  %0 = stablehlo.add %a,%a: tensor<2xf32>\n", true),
        ("  %0 = stablehlo.add %a, %a, : tensor<2xf32>\n", true),
        // A declared type that is less, or more, precise than the actual one.
        ("  %0 = stablehlo.add %b, %b : tensor<2xf32>\n", true),
        ("  %0 = stablehlo.add %a, %a : tensor<?xf32>\n", true),
        ("  %0 = stablehlo.add %a, %a : tensor<3xf32>\n", false),
        ("  %0 = stablehlo.add %a, %a : (tensor<2xf32>, tensor<2xf32>) -> tensor<2xf32>\n", true),
        ("  %0 = stablehlo.add %a, %a : (tensor<2xf32>) -> tensor<2xf32>\n", false),
        // No name, a name for too many, a name twice, a name that is a large number.
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
        assert_eq!(accepted_by_both(&function(body)), right, "{body}");
    }
}

// Returns convolutions of `%x` with `%k`, with these dimension numbers, window, groups and types.
fn convolution(numbers: &str, window: &str, groups: &str, types: &str) -> String {
    let values = "  %x = stablehlo.constant dense<1.0> : tensor<1x4x4x2xf32>\n  %k = stablehlo.constant dense<2.0> : tensor<3x3x2x4xf32>\n";
    let line = format!(
        "stablehlo.convolution(%x, %k) dim_numbers = {numbers}, window = {{{window}}} {{{groups}}} : {types}\n"
    );
    format!("{values}  %0 = {line}  %1 = {line}")
}

#[test]
fn convolutions_are_read_the_same() {
    let usual = [
        "[b, 0, 1, f]x[0, 1, i, o]->[b, 0, 1, f]",
        "stride = [1, 1], pad = [[1, 1], [1, 1]], lhs_dilate = [1, 1], rhs_dilate = [1, 1], reverse = [false, false]",
        "batch_group_count = 1 : i64, feature_group_count = 1 : i64, precision_config = [#stablehlo<precision DEFAULT>, #stablehlo<precision DEFAULT>]",
        "(tensor<1x4x4x2xf32>, tensor<3x3x2x4xf32>) -> tensor<1x4x4x4xf32>",
    ];
    let [numbers, window, groups, types] = usual;
    assert!(accepted_by_both(&function(&convolution(numbers, window, groups, types))));
    for (part, from, to, right) in [
        (0, "[b, 0, 1, f]x", "[b, 0, 0, f]x", false),
        (0, "[b, 0, 1, f]x", "[b, 0, f]x", false),
        (0, "[b, 0, 1, f]x", "[b, 0, 2, f]x", false),
        (0, "[b, 0, 1, f]x", "[b, 0, 1, i]x", false),
        (0, "[b, 0, 1, f]x", "[b,0,1,f]x", true),
        (0, "[b, 0, 1, f]x", "[ b, 0, 1, f ] x ", true),
        (0, "[b, 0, 1, f]x", "[b, 1, 0, f]x", true),
        (0, "x[0, 1", " // here\n x[0, 1", false),
        (0, "[b, 0, 1, f]x", "[b, 00, 1, f]x", false),
        (1, "stride = [1, 1]", "stride = [2]", false),
        (1, "stride = [1, 1]", "stride = [0, 1]", false),
        (1, "stride = [1, 1]", "stride = [3, 3]", true),
        (1, "stride = [1, 1], ", "", true),
        (1, "[[1, 1], [1, 1]]", "[[1, 1]]", false),
        (1, "[[1, 1], [1, 1]]", "[[1, 1, 1], [1, 1, 1]]", false),
        (1, "[[1, 1], [1, 1]]", "[[0, 2], [-1, 3]]", true),
        (1, "[[1, 1], [1, 1]]", "[[0, 0], [0, 0]]", false),
        (1, "rhs_dilate = [1, 1]", "rhs_dilate = [2, 1]", false),
        (1, "[false, false]", "[true, false]", true),
        (1, "[false, false]", "[maybe, false]", false),
        (2, "batch_group_count = 1", "batch_group_count = 3", false),
        (2, "batch_group_count = 1", "batch_group_count = -1", false),
        (2, "feature_group_count = 1 : i64", "feature_group_count = 2 : i64", false),
        (2, "DEFAULT>]", "HIGHEST>]", true),
        (2, "precision_config", "more = 1 : i64, precision_config", true),
        (3, "tensor<1x4x4x4xf32>", "tensor<1x4x4x4xf64>", true),
        (3, "tensor<1x4x4x4xf32>", "tensor<1x4x4x?xf32>", true),
        (3, "tensor<1x4x4x4xf32>", "tensor<1x4x4x5xf32>", false),
        (3, "(tensor<1x4x4x2xf32>", "(tensor<1x4x4x1xf32>", false),
        (3, ", tensor<3x3x2x4xf32>", "", false),
    ] {
        let mut parts = usual.map(String::from);
        let changed = parts[part].replace(from, to);
        assert_ne!(changed, parts[part], "{from}");
        parts[part] = changed;
        let [numbers, window, groups, types] = &parts;
        let text = function(&convolution(numbers, window, groups, types));
        let result = match (part, to) {
            // The stride changes the extents.
            (1, "stride = [3, 3]") => {
                text.replace("-> tensor<1x4x4x4xf32>", "-> tensor<1x2x2x4xf32>")
            }
            _ => text,
        };
        assert_eq!(accepted_by_both(&result), right, "{result}");
    }
}

#[test]
fn reductions_slices_and_squares_are_read_the_same() {
    let values = "  %c = stablehlo.constant dense<0.0> : tensor<f32>\n  %i = stablehlo.constant dense<0> : tensor<i32>\n";
    for (line, right) in [
        (
            "stablehlo.reduce(%a init: %c) applies stablehlo.maximum across dimensions = [0] : (tensor<2xf32>, tensor<f32>) -> tensor<f32>",
            true,
        ),
        (
            "stablehlo.reduce(%a init: %c) applies stablehlo.maximum across dimensions = [0], : (tensor<2xf32>, tensor<f32>) -> tensor<f32>",
            false,
        ),
        (
            "stablehlo.reduce(%a init: %c) applies stablehlo.maximum across dimensions = [1] : (tensor<2xf32>, tensor<f32>) -> tensor<f32>",
            false,
        ),
        (
            "stablehlo.reduce(%a init: %c) applies stablehlo.nothing across dimensions = [0] : (tensor<2xf32>, tensor<f32>) -> tensor<f32>",
            false,
        ),
        (
            "stablehlo.reduce(%a init: %c) applies stablehlo.compare across dimensions = [0] : (tensor<2xf32>, tensor<f32>) -> tensor<f32>",
            false,
        ),
        (
            "stablehlo.reduce(%a init: %i) applies stablehlo.add across dimensions = [0] : (tensor<2xf32>, tensor<i32>) -> tensor<f32>",
            false,
        ),
        (
            "stablehlo.reduce(%a init: %c) applies stablehlo.add across dimensions = [0] : (tensor<2xf32>, tensor<i32>) -> tensor<f32>",
            false,
        ),
        (
            "stablehlo.reduce(%a init: %c) applies stablehlo.add across dimensions = [] : (tensor<2xf32>, tensor<f32>) -> tensor<2xf32>",
            true,
        ),
        (
            "stablehlo.reduce(%a init: %c) applies stablehlo.add across dimensions = [0] {mhlo.x = 1 : i64} : (tensor<2xf32>, tensor<f32>) -> tensor<f32>",
            true,
        ),
        (
            "stablehlo.reduce(%a init: %c), (%a init: %c) applies stablehlo.add across dimensions = [0] : (tensor<2xf32>, tensor<2xf32>, tensor<f32>, tensor<f32>) -> (tensor<f32>, tensor<f32>)",
            false,
        ),
        (
            "stablehlo.reduce(%p init: %p) applies stablehlo.or across dimensions = [] : (tensor<i1>, tensor<i1>) -> tensor<i1>",
            true,
        ),
        (
            "stablehlo.dynamic_slice %a, %i, sizes = [1] : (tensor<2xf32>, tensor<i32>) -> tensor<1xf32>",
            true,
        ),
        (
            "stablehlo.dynamic_slice %a, %i, sizes = [3] : (tensor<2xf32>, tensor<i32>) -> tensor<3xf32>",
            false,
        ),
        (
            "stablehlo.dynamic_slice %a, %i, %i, sizes = [1] : (tensor<2xf32>, tensor<i32>, tensor<i32>) -> tensor<1xf32>",
            false,
        ),
        (
            "stablehlo.dynamic_update_slice %a, %a, %i : (tensor<2xf32>, tensor<2xf32>, tensor<i32>) -> tensor<2xf32>",
            true,
        ),
        (
            "stablehlo.dynamic_update_slice %a, %a : (tensor<2xf32>, tensor<2xf32>) -> tensor<2xf32>",
            false,
        ),
        (
            "stablehlo.dynamic_update_slice %a, %b, %i : (tensor<2xf32>, tensor<?xf32>, tensor<i32>) -> tensor<2xf32>",
            true,
        ),
        ("stablehlo.reverse %a, dims = [0] : tensor<2xf32>", true),
        ("stablehlo.reverse %a, dims = [1] : tensor<2xf32>", false),
        ("chlo.square %a : tensor<2xf32> -> tensor<2xf32>", true),
        ("chlo.square %a : tensor<2xf32>", true),
        ("chlo.square %a, %a : tensor<2xf32>, tensor<2xf32> -> tensor<2xf32>", false),
        ("chlo.square %b : tensor<?xf32> -> tensor<2xf32>", true),
        ("stablehlo.constant dense<[1.5, 2.5]> : tensor<2xf32>", true),
        ("stablehlo.constant dense<[1.5, 2.5]> : tensor<3xf32>", false),
        ("stablehlo.constant dense<1.5>  :  tensor<2xf32>", true),
        ("stablehlo.constant dense<1.5> : tensor<2xf32>  ", true),
        ("stablehlo.constant dense<\"0x0000803F\"> : tensor<1xf32>", true),
    ] {
        let body = format!("{values}  %0 = {line}\n  %1 = {line}\n");
        assert_eq!(accepted_by_both(&function(&body)), right, "{line}");
        let again = function(&body).replace("@f", "@h");
        assert_eq!(accepted_by_both(&format!("{}{again}", function(&body))), right, "{line}");
    }
}

#[test]
fn loops_and_branches_are_read_the_same() {
    let loop_of = |results: &str, types: &str, yielded: &str| {
        format!(
            "  {results}stablehlo.while(%x = %a, %y = %b) : {types}\n    cond {{\n      stablehlo.return %p : tensor<i1>\n    }} do {{\n      %s = stablehlo.add %x, %x : tensor<2xf32>\n      stablehlo.return {yielded}\n    }}\n"
        )
    };
    let (types, yielded) =
        ("tensor<2xf32>, tensor<?xf32>", "%s, %y : tensor<2xf32>, tensor<?xf32>");
    for (results, types, yielded, right) in [
        ("%0:2 = ", types, yielded, true),
        ("%0, %1 = ", types, yielded, true),
        ("", types, yielded, true),
        ("%0 = ", types, yielded, false),
        ("%0:3 = ", types, yielded, false),
        ("%0:2 = ", "tensor<2xf32>", yielded, false),
        ("%0:2 = ", "tensor<2xf32>, tensor<?xf32>, tensor<i1>", yielded, false),
        ("%0:2 = ", "tensor<2xf32>, tensor<i1>", yielded, false),
        ("%0:2 = ", "tensor<2xf32>, tensor<?xf32> attributes {mhlo.x = 1 : i64}", yielded, true),
        ("%0:2 = ", types, "%s : tensor<2xf32>", false),
        ("%0:2 = ", types, "%s, %p : tensor<2xf32>, tensor<i1>", false),
        ("%0:2 = ", types, "%y, %s : tensor<?xf32>, tensor<2xf32>", true),
    ] {
        let body = loop_of(results, types, yielded);
        assert_eq!(accepted_by_both(&function(&body)), right, "{body}");
        let twice = format!("{body}{}", body.replace("%0", "%2").replace("%1", "%3"));
        assert_eq!(accepted_by_both(&function(&twice)), right, "{twice}");
    }
    for (name, operand, results, right) in [
        ("if", "%p) ({", "(tensor<i1>) -> tensor<2xf32>", true),
        ("if", "%p) ({", "(tensor<i1>) -> tensor<?xf32>", true),
        ("if", "%p) ({", "(tensor<i1>) -> tensor<3xf32>", false),
        ("if", "%p) ({", "(tensor<i1>) -> (tensor<2xf32>, tensor<2xf32>)", false),
        ("if", "%p) ({", "(tensor<i32>) -> tensor<2xf32>", false),
        ("if", "%p, %p) ({", "(tensor<i1>, tensor<i1>) -> tensor<2xf32>", false),
        ("case", "%i) ({", "(tensor<i32>) -> tensor<2xf32>", true),
        ("case", "%p) ({", "(tensor<i1>) -> tensor<2xf32>", false),
        ("case", "%i) <{x = 1 : i64}> ({", "(tensor<i32>) -> tensor<2xf32>", true),
    ] {
        let body = format!(
            "  %i = stablehlo.constant dense<1> : tensor<i32>\n  %0 = \"stablehlo.{name}\"({operand}\n    stablehlo.return %a : tensor<2xf32>\n  }}, {{\n    %1 = stablehlo.negate %a : tensor<2xf32>\n    stablehlo.return %1 : tensor<2xf32>\n  }}) : {results}\n"
        );
        assert_eq!(accepted_by_both(&function(&body)), right, "{body}");
    }
}

#[test]
fn calls_are_pure_if_their_callee_is() {
    for (target, flag) in [("{}", false), ("{has_side_effect = true}", true)] {
        let text = format!(
            "func.func @f(%a: tensor<2xf32>) -> tensor<2xf32> {{\n  %0 = call @g(%a) : (tensor<2xf32>) -> tensor<2xf32>\n  return %0 : tensor<2xf32>\n}}\nfunc.func @g(%a: tensor<2xf32>) -> tensor<2xf32> {{\n  %0 = stablehlo.custom_call @t(%a) {target} : (tensor<2xf32>) -> tensor<2xf32>\n  return %0 : tensor<2xf32>\n}}\n"
        );
        assert!(accepted_by_both(&text));
        let modules = read_split(&Source::new("calls.mlir", text.as_str())).unwrap();
        let f = modules[0].program.function("f").unwrap();
        let call = f.walk().next().unwrap();
        assert_eq!(f.attr(call, "has_side_effect"), Some(&Attr::Bool(flag)), "{text}");
    }
}
