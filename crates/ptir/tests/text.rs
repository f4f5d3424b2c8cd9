//! Cases of the text form that golden files cannot contain: encodings, external literals, hostile names.

use std::sync::{Arc, Mutex};

use sapwood_ptir::structural::{self, Mode};
use sapwood_ptir::testing::{RandomProgramConfig, random_program};
use sapwood_ptir::{
    MAX_ATTR_DEPTH, ParseOptions, external_bytes, from_json, parse, parse_with,
    print_with_external, to_json,
};
use sapwood_testing::cases;

const TEXT: &str =
    "ptir 1\n\nfunc @f(%x: f32[4]) -> f32[4] {\n  %y = neg %x : f32[4]\n  return %y\n}\n";

#[test]
fn a_byte_order_mark_is_skipped() {
    let program = parse(&format!("\u{feff}{TEXT}")).unwrap();
    assert_eq!(program.to_string(), TEXT);
    let json = to_json(&program);
    assert_eq!(from_json(&format!("\u{feff}{json}")).unwrap().to_string(), TEXT);
    let problems = parse("\u{feff}ptri 1").unwrap_err();
    let span = problems.iter().next().unwrap().span;
    assert_eq!((span.begin_line(), span.begin_column()), (1, 1));
    assert!(parse(&TEXT.replace("neg", "\u{feff}neg")).is_err());
}

fn options_with_external(bytes: Vec<u8>) -> ParseOptions {
    ParseOptions::new().external(move |file, offset, length| match file {
        "side.bin" => external_bytes(&bytes, offset, length).map(<[u8]>::to_vec),
        _ => Err("no such file".into()),
    })
}

#[test]
fn external_literals_read_back() {
    let mut kept = 0;
    for seed in 0..u64::from(cases(300, 20_000)) {
        let program = random_program(seed, &RandomProgramConfig::default());
        let (text, bytes) = print_with_external(&program, "side.bin", 1);
        kept += usize::from(!bytes.is_empty());
        let again = parse_with(&text, options_with_external(bytes.clone()))
            .unwrap_or_else(|p| panic!("seed {seed}: {p}\n{text}"));
        assert!(structural::equal(&program, &again, Mode::Ordered), "seed {seed}");
        assert_eq!(again.to_string(), program.to_string(), "seed {seed}");
        assert_eq!(print_with_external(&again, "side.bin", 1), (text, bytes), "seed {seed}");
    }
    assert!(kept > 30, "{kept}");
}

#[test]
fn equal_external_literals_are_stored_once() {
    let program = parse(
        "ptir 1 func @f(%x: i32[3]) -> i32[3] { %a = add %x, [1, 2, 3]:i32[3] : i32[3] %b = demo.op %a {k = literal([1, 2, 3] : i32[3]), w = literal(7 : i32[9])} : i32[3] return %b }",
    )
    .unwrap();
    let (text, bytes) = print_with_external(&program, "side.bin", 2);
    assert_eq!(bytes, [1, 0, 0, 0, 2, 0, 0, 0, 3, 0, 0, 0]);
    assert_eq!(text.matches("external(\"side.bin\", 0, 12)").count(), 2, "{text}");
    assert!(text.contains("literal(7 : i32[9])"), "{text}");
    assert!(parse_with(&text, options_with_external(bytes)).is_ok());
}

#[test]
fn missing_external_bytes_are_an_error() {
    let asked = Arc::new(Mutex::new(0));
    let count = asked.clone();
    let bytes = [0u8; 16];
    let options = ParseOptions::new().external(move |file, offset, length| {
        *count.lock().unwrap() += 1;
        match file {
            "side.bin" => external_bytes(&bytes, offset, length).map(<[u8]>::to_vec),
            "short.bin" => Ok(vec![0; 3]),
            _ => Err("no such file".into()),
        }
    });
    let message = |literal: &str, ty: &str| {
        let text = format!("ptir 1 func @f() {{ %a = constant {literal} : {ty} return }}");
        parse_with(&text, &options).unwrap_err().to_string()
    };
    for (literal, ty, expected) in [
        (
            r#"external("side.bin", 8, 12)"#,
            "i32[3]",
            "expected 12 bytes from byte 8 on, but the file has 16",
        ),
        (r#"external("other.bin", 0, 12)"#, "i32[3]", "the literal in `other.bin`: no such file"),
        (r#"external("short.bin", 0, 12)"#, "i32[3]", "expected 12 bytes, the resolver returned 3"),
        (r#"external("side.bin", 0, 8)"#, "i32[3]", "its type needs 12 bytes, found 8"),
        (
            r#"external("side.bin", 18446744073709551615, 12)"#,
            "i32[3]",
            "12 bytes from byte 18446744073709551615 on exceed the largest file size",
        ),
        (r#"external("side.bin", 0, 99999999999999999999)"#, "i32[3]", "is not a number of bytes"),
        (r#"external("side.bin", -1, 12)"#, "i32[3]", "-1 is not a number of bytes"),
        (r#"external("side.bin", 0)"#, "i32[3]", "expected `,`, found `)`"),
        (r#"external(side, 0, 12)"#, "i32[3]", "expected the name of a file in quotes"),
        (
            r#"external("side.bin", 0, 12)"#,
            "i32[9223372036854775807]",
            "its type needs too many bytes, found 12",
        ),
        (r#"external("side.bin", 0, 12)"#, "i32[?]", "a literal needs known dims"),
        (r#"external("side.bin", 0, 4000000000000)"#, "i32[1000000000000]", "but the file has 16"),
    ] {
        let found = message(literal, ty);
        assert!(found.contains(expected), "{literal}: {found}");
    }
    // The resolver is not called for a range that cannot be right.
    assert_eq!(*asked.lock().unwrap(), 4);
    let none = parse("ptir 1 func @f() { %a = constant external(\"w\", 0, 4) : i32[1] return }");
    assert!(none.unwrap_err().to_string().contains("no resolver for external literals was given"));
}

#[test]
fn large_value_numbers_cost_little() {
    let mut text = String::from("ptir 1\n");
    for i in 0..20_000 {
        text += &format!("func @f{i}(%4194303: f32[]) -> f32[] {{ return %4194303 }}\n");
    }
    assert_eq!(parse(&text).unwrap().functions().len(), 20_000);
    // A number is the same value at every use.
    let text = "ptir 1 func @f(%9999999: f32[], %70: f32[]) -> f32[] { %71 = add %70, %9999999 : f32[] return %71 }";
    parse(text).unwrap();
    // A number of one function is undefined in the next.
    let two = "ptir 1 func @f(%7: f32[]) { return } func @g() -> f32[] { return %7 }";
    assert!(parse(two).unwrap_err().to_string().contains("%7 is not defined"));
}

#[test]
fn quoted_dims_may_contain_brackets() {
    let text = "ptir 1\n\nfunc @f(%x: f32[?\"a]b\"], %y: f32[?\"a]c\"]) -> f32[?\"a]b\"] {\n  %0 = neg %x : f32[?\"a]b\"]\n  %1 = neg %y : f32[?\"a]c\"]\n  return %0\n}\n";
    assert_eq!(parse(text).unwrap().to_string(), text);
}

#[test]
fn an_unclosed_string_keeps_the_lines() {
    let text = "ptir 1\nfunc @f() {\n  demo.a {k = \"x\\\n}\n  %y = expp : f32[]\n  return\n}\n";
    let problems = parse(text).unwrap_err();
    assert!(problems.iter().any(|p| p.span.begin_line() == 5), "{problems}");
}

#[test]
fn dictionaries_nested_to_the_limit() {
    for open in ["{k = ", "["] {
        let close = if open == "[" { "]" } else { "}" };
        let nested = |n: usize| {
            format!(
                "ptir 1\n\nfunc @f() {{\n  demo.a {{a = {}true{}}}\n  return\n}}\n",
                open.repeat(n),
                close.repeat(n)
            )
        };
        let deepest = (1..200).rev().find(|&n| parse(&nested(n)).is_ok()).unwrap();
        assert!((MAX_ATTR_DEPTH - 1..=MAX_ATTR_DEPTH).contains(&deepest), "{deepest}");
        let program = parse(&nested(deepest)).unwrap();
        assert_eq!(program.to_string(), nested(deepest));
        assert_eq!(from_json(&to_json(&program)).unwrap().to_string(), nested(deepest));
    }
}
