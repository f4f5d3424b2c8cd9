//! Literals: every bit pattern of the small types survives a text round trip, and equal literals have one form.

use sapwood_ptir::{Attr, TensorLiteral, from_json, parse, print_with, to_json};
use sapwood_types::DataType;

fn round_trip(dtype: DataType, bytes: &[u8]) {
    let size = dtype.byte_size();
    // In chunks that are printed as lists, not as one hexadecimal string.
    for chunk in bytes.chunks(200 * size) {
        let n = (chunk.len() / size) as u64;
        let literal = TensorLiteral::new(dtype, &[n], chunk).unwrap();
        let mut f = sapwood_ptir::Function::new("f", sapwood_ptir::Registry::builtin());
        let place = sapwood_ptir::InsertPoint::End(f.body());
        let value = f.constant(&literal, place, sapwood_types::Span::unknown());
        f.set_result_types(&[literal.ty().into()]);
        let mut parts = sapwood_ptir::OpParts::new(sapwood_ptir::OpKey::of("return"));
        parts.operands.push(value);
        let parts = f.resolve_parts(&parts).unwrap();
        f.insert(sapwood_ptir::InsertPoint::End(f.body()), &parts, sapwood_types::Span::unknown())
            .unwrap();
        let text = format!("ptir 1\n\n{f:?}");
        let program = parse(&text).unwrap_or_else(|p| panic!("{p}\n{text}"));
        let g = &program.functions()[0];
        assert_eq!(g.constant_of(g.results()[0]), Some(&literal), "{text}");
        let again = from_json(&to_json(&program)).unwrap();
        assert_eq!(again.to_string(), text);
    }
}

#[test]
fn all_bits_of_small_types() {
    let bytes: Vec<u8> = (0..=255).collect();
    for dtype in [DataType::I8, DataType::U8, DataType::F8E4M3Fn, DataType::F8E5M2] {
        round_trip(dtype, &bytes);
    }
    round_trip(DataType::U4, &(0..16).collect::<Vec<u8>>());
    round_trip(DataType::I4, &(-8i8..8).map(|n| n as u8).collect::<Vec<u8>>());
    round_trip(DataType::Bool, &[0, 1, 1, 0]);
    let halves: Vec<u8> = (0..=u16::MAX).flat_map(u16::to_le_bytes).collect();
    for dtype in [DataType::F16, DataType::Bf16, DataType::I16, DataType::U16] {
        round_trip(dtype, &halves);
    }
}

#[test]
fn random_bits_of_wide_types() {
    let mut rng = sapwood_ptir::testing::Rng::new(7);
    for dtype in DataType::ALL.iter().copied().filter(|d| d.byte_size() >= 4) {
        let bytes: Vec<u8> = (0..2000 * dtype.byte_size()).map(|_| rng.bits() as u8).collect();
        round_trip(dtype, &bytes);
        let odd = [f64::MIN_POSITIVE, -0.0, 1e-310, f64::INFINITY, f64::NAN, f64::MAX];
        if dtype == DataType::F64 {
            round_trip(dtype, &odd.iter().flat_map(|x| x.to_le_bytes()).collect::<Vec<u8>>());
        }
    }
}

#[test]
fn equal_elements_are_a_splat_however_written() {
    let dense = TensorLiteral::from_slice(&[3], &[1.5f32, 1.5, 1.5]).unwrap();
    let splat = TensorLiteral::splat(DataType::F32, &[3], &1.5f32.to_le_bytes()).unwrap();
    assert_eq!(dense, splat);
    assert!(dense.as_splat().is_some());
    // 0.0 and -0.0 have different bits.
    assert!(TensorLiteral::from_slice(&[2], &[0.0f32, -0.0]).unwrap().as_splat().is_none());
    assert!(
        TensorLiteral::new(DataType::F32, &[3], &[0; 11])
            .unwrap_err()
            .to_string()
            .contains("12 bytes, found 11")
    );
    assert!(TensorLiteral::new(DataType::Bool, &[1], &[2]).is_err());
    assert!(TensorLiteral::splat(DataType::F32, &[u64::MAX, u64::MAX], &[0; 4]).is_err());
    assert_ne!(Attr::float(0.0), Attr::float(-0.0));
}

#[test]
fn elided_literals_are_refused_by_name() {
    let text = "ptir 1\nfunc @f() -> i32[3] { %a = constant [1, 2, 3] : i32[3] return %a }";
    let program = parse(text).unwrap();
    let short = print_with(&program, &sapwood_ptir::PrintOptions::new().elide_above(2));
    assert!(short.contains("constant ... : i32[3]"), "{short}");
    assert!(parse(&short).unwrap_err().to_string().contains("elided"));
}
