//! Any text is read or refused: no panic, no stack overflow, and a module that is read prints back.

use sapwood_stablehlo::{read, read_split, write};
use sapwood_testing::{cases, on_small_stack, repository};
use sapwood_types::{Rng, Source};

use crate::round_trip::read_and_round_trip;

fn golden_texts() -> Vec<String> {
    let mut files: Vec<_> = std::fs::read_dir(repository().join("tests/golden/stablehlo"))
        .unwrap()
        .map(|entry| entry.unwrap().path())
        .collect();
    files.sort();
    files.iter().map(|path| std::fs::read_to_string(path).unwrap()).collect()
}

#[test]
fn changed_files_are_read_or_refused() {
    let golden_texts = golden_texts();
    let pieces = [
        "%",
        "@",
        "#",
        "<",
        ">",
        "{",
        "}",
        "(",
        ")",
        "[",
        "]",
        "\"",
        ":",
        "->",
        "dense<",
        "tensor<",
        "0x",
        "-",
        "999999999999",
        "stablehlo.add",
        "\n",
        "é",
        "?",
        "x",
        "loc(",
        "{-#",
        "// -----\n",
        "func.func @f",
        "^bb0",
        "%0#7",
        "array<i64:",
    ];
    let mut random = Rng::new(7);
    for _ in 0..cases(1500, 60_000) {
        let text = &golden_texts[random.below(golden_texts.len())];
        let mut bytes: Vec<char> = text.chars().collect();
        for _ in 0..=random.below(3) {
            let (at, len) = (random.below(bytes.len()), random.below(6));
            let piece: Vec<char> = pieces[random.below(pieces.len())].chars().collect();
            let end = (at + len).min(bytes.len());
            match random.below(4) {
                0 => drop(bytes.splice(at..end, piece)),
                1 => drop(bytes.splice(at..at, piece)),
                2 => bytes.truncate(at),
                _ => {
                    let other = random.below(bytes.len());
                    let moved: Vec<char> = bytes[other..(other + 40).min(bytes.len())].to_vec();
                    drop(bytes.splice(at..end, moved));
                }
            }
            if bytes.is_empty() {
                break;
            }
        }
        read_and_round_trip(&bytes.iter().collect::<String>()).unwrap();
    }
}

#[test]
fn deep_regions_are_read_and_printed() {
    let depth = cases(20_000, 100_000) as usize;
    on_small_stack(move || {
        let mut text =
            String::from("func.func @main(%p: tensor<i1>, %x: tensor<f32>) -> tensor<f32> {\n");
        for i in 0..depth {
            text += &format!("%v{i} = \"stablehlo.if\"(%p) ({{\n");
        }
        text += "stablehlo.return %x : tensor<f32>\n";
        for i in (0..depth).rev() {
            text += "}, {\nstablehlo.return %x : tensor<f32>\n}) : (tensor<i1>) -> tensor<f32>\n";
            text += &match i {
                0 => "return %v0 : tensor<f32>\n}\n".to_owned(),
                _ => format!("stablehlo.return %v{i} : tensor<f32>\n"),
            };
        }
        let module = read(&Source::new("deep.mlir", text)).unwrap();
        assert_eq!(module.program.num_insts(), 3 * depth + 1);
        let printed = write(&module).unwrap();
        let again = read(&Source::new("again.mlir", printed)).unwrap();
        assert_eq!(again.program.num_insts(), module.program.num_insts());
    });
}

#[test]
fn many_small_modules_are_read_one_by_one() {
    let count = cases(20_000, 1_000_000) as usize;
    let one = "func.func @main(%x: tensor<f32>) -> tensor<f32> {\nreturn %x : tensor<f32>\n}\n";
    let source = Source::new("many.mlir", vec![one; count].join("// -----\n"));
    assert_eq!(read_split(&source).unwrap().len(), count);
}

#[test]
fn unbounded_nesting_is_refused() {
    let depth = cases(100_000, 1_000_000) as usize;
    on_small_stack(move || {
        for open in ["(", "[", "{a = ", "<", "#a<", "\"a\"({", "tuple<", "dense<[", "module {"] {
            let text = format!("func.func @f() {{ %0 = \"a.b\"() {{x = {}", open.repeat(depth));
            assert!(read(&Source::new("deep.mlir", text)).is_err(), "{open}");
        }
    });
}

#[test]
fn all_errors_of_a_long_file_are_found_in_time() {
    let mut text = String::from("func.func @f(%x: tensor<4xf32>) -> tensor<4xf32> {\n");
    for i in 0..20_000 {
        text += &format!("  %a{i} = stablehlo.add %x, %missing{i} : tensor<4xf32>\n");
    }
    text += "  return %x : tensor<4xf32>\n}\n";
    let problems = read(&Source::new("long.mlir", text)).unwrap_err();
    assert_eq!(problems.error_count(), 20_000);
}

#[test]
fn literals_that_are_too_large_are_refused() {
    for ty in ["tensor<9223372036854775807x9xi8>", "tensor<4611686018427387904xf64>"] {
        for body in ["1", "[1]", "\"0x01\""] {
            let text =
                format!("func.func @f() {{ %0 = stablehlo.constant dense<{body}> : {ty} return }}");
            assert!(read(&Source::new("large.mlir", text)).is_err(), "{ty} {body}");
        }
    }
}

#[test]
fn literals_that_do_not_fit_their_type_are_refused() {
    for (literal, why) in [
        ("dense<\"0x0000803F0000\"> : tensor<2xf32>", "needs 8 bytes, found 6"),
        ("dense<\"0x0000803\"> : tensor<1xf32>", "7 hexadecimal digits"),
        ("dense<\"0x0000803G\"> : tensor<1xf32>", "hexadecimal"),
        ("dense<\"00\"> : tensor<1xi8>", "starts with 0x"),
        ("dense<[1.0, 2.0]> : tensor<3xf32>", "a list has 2 entries, but axis 0 has extent 3"),
        ("dense<[1, 2.5]> : tensor<2xi32>", "not an element"),
        ("dense_resource<gone> : tensor<2xf32>", "resource `gone` is not defined"),
        ("dense<1.0 : tensor<2xf32>", "expected `<…>` after `dense`"),
    ] {
        let text =
            format!("func.func @f() {{\n  %0 = stablehlo.constant {literal}\n  return\n}}\n");
        let message = read(&Source::new("literal.mlir", text)).unwrap_err().to_string();
        assert!(message.contains(why), "{literal}: {message}");
        assert!(message.contains("literal.mlir:2:"), "{literal}: {message}");
    }
    let resource = "func.func @f() -> tensor<2xi8> {\n  %0 = stablehlo.constant dense_resource<r> : tensor<2xi8>\n  return %0 : tensor<2xi8>\n}\n";
    let trailer = |digits: &str| {
        format!("{resource}{{-#\n  dialect_resources: {{ builtin: {{ r: \"{digits}\" }} }}\n#-}}\n")
    };
    assert!(read(&Source::new("resource.mlir", trailer("0x010000000102"))).is_ok());
    for wrong in ["0x01000000010203", "0x0100000001", "0x01000000", "0x01", "", "0102"] {
        assert!(read(&Source::new("resource.mlir", trailer(wrong))).is_err(), "{wrong}");
    }
}

#[test]
fn files_that_end_anywhere_are_refused() {
    let text = std::fs::read_to_string(repository().join("programs/newton.mlir")).unwrap();
    let end = text.trim_end().len();
    for at in 1..end {
        let Some(start) = text.get(..at) else { continue };
        let source = Source::new("half.mlir", start);
        // A comment or an empty text is a module without errors.
        let nothing = start.trim().is_empty();
        assert!(nothing || read(&source).is_err(), "{start}");
    }
    assert!(read(&Source::new("whole.mlir", &text[..end])).is_ok());
}

#[test]
fn a_large_literal_is_read_whole() {
    let count = cases(1 << 20, 25 << 20) as usize;
    let digits = "0000803F".repeat(count - 1) + "00000040";
    let text = format!(
        "func.func @f() -> tensor<{count}xf32> {{\n  %0 = stablehlo.constant dense<\"0x{digits}\"> : tensor<{count}xf32>\n  return %0 : tensor<{count}xf32>\n}}\n"
    );
    let module = read(&Source::new("large.mlir", text)).unwrap();
    let f = &module.program.functions()[0];
    let literal = f.constant_of(f.results()[0]).unwrap();
    let element = |i: usize| literal.element(i as u64).map(<[u8]>::to_vec);
    assert_eq!(element(0), Some(1f32.to_le_bytes().to_vec()));
    assert_eq!(element(count - 1), Some(2f32.to_le_bytes().to_vec()));
}

#[test]
fn aliases_of_aliases_are_bounded() {
    let mut text = String::from("#a0 = array<i64: 0>\n");
    for i in 1..60 {
        text += &format!("#a{i} = [#a{}, #a{}]\n", i - 1, i - 1);
    }
    text += "func.func @f() { %0 = \"a.b\"() {x = #a59} : () -> tensor<f32> return }\n";
    read_and_round_trip(&text).unwrap();
}

#[test]
fn modules_are_split() {
    let text = "func.func @a() { return }\n// -----\nfunc.func @b() { return }\n// -----\n";
    let source = Source::new("two.mlir", text);
    assert_eq!(read_split(&source).unwrap().len(), 2);
    let message = read(&source).unwrap_err().to_string();
    assert!(message.contains("the text holds 2 modules"), "{message}");
}

#[test]
fn wrong_declared_types_are_refused_in_the_first_line() {
    for line in [
        "stablehlo.clamp %z, %a, %z : tensor<2xf32>",
        "stablehlo.real %q : tensor<2xf32>",
        "stablehlo.convert %a : tensor<2xi32>",
        "stablehlo.reshape %a : tensor<1x2xf32>",
        "stablehlo.add %a, %a : tensor<2xf32>, tensor<2xf32>",
        "stablehlo.select %c, %a, %a : tensor<2xf32>, tensor<2xf32>",
        "stablehlo.transpose %a, dims = [0], permutation = array<i64: 0> : (tensor<2xf32>) -> tensor<2xf32>",
        "stablehlo.pad %a, %z, low = [0], high = [1], interior = [] : (tensor<2xf32>, tensor<f32>) -> tensor<3xf32>",
    ] {
        let text = format!(
            "func.func @f(%a: tensor<2xf32>, %z: tensor<f32>, %c: tensor<2xi1>, %q: tensor<2xcomplex<f32>>) {{\n  %0 = {line}\n  return\n}}\n"
        );
        assert!(read(&Source::new("first.mlir", text.as_str())).is_err(), "{line}");
    }
}
