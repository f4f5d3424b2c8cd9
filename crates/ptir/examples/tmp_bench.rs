//! tmp
use sapwood_ptir::eval::*;
fn main() {
    let n = 1024usize;
    let p = sapwood_ptir::parse("ptir 1 func @f(%a: f32[1024, 1024], %b: f32[1024, 1024]) -> f32[1024, 1024] { %r = dot_general %a, %b {lhs_contract = [1], rhs_contract = [0]} : f32[1024, 1024] return %r }").unwrap();
    let x =
        Tensor::new(DataType::F32, [n, n], (0..n * n).map(|i| (i % 17) as f32).collect::<Vec<_>>());
    for threads in [1, 2] {
        let t = std::time::Instant::now();
        run(
            &p,
            "f",
            &[x.clone().into(), x.clone().into()],
            &RunOptions { threads, ..Default::default() },
        )
        .unwrap();
        println!("dot {threads}: {:?}", t.elapsed());
    }
    let p = sapwood_ptir::parse("ptir 1 func @f(%a: f32[8, 64, 56, 56], %b: f32[64, 64, 3, 3]) -> f32[8, 64, 56, 56] { %r = convolution %a, %b {input_dims = [0,1,2,3], kernel_dims = [0,1,2,3], output_dims = [0,1,2,3], pads = [[1,1],[1,1]]} : f32[8, 64, 56, 56] return %r }").unwrap();
    let x = Tensor::new(
        DataType::F32,
        [8, 64, 56, 56],
        (0..8 * 64 * 56 * 56).map(|i| (i % 17) as f32).collect::<Vec<_>>(),
    );
    let k = Tensor::new(
        DataType::F32,
        [64, 64, 3, 3],
        (0..64 * 64 * 9).map(|i| (i % 13) as f32).collect::<Vec<_>>(),
    );
    let t = std::time::Instant::now();
    run(&p, "f", &[x.into(), k.into()], &RunOptions::default()).unwrap();
    println!("conv: {:?}", t.elapsed());
    let p = sapwood_ptir::parse("ptir 1 func @f(%a: c64[1000, 1000]) -> c64[1000, 1000] { %r = fft %a {kind = fft, lengths = [1000, 1000]} : c64[1000, 1000] return %r }").unwrap();
    let x = Tensor::new(
        DataType::C64,
        [1000, 1000],
        (0..1000000).map(|i| Complex::new((i % 17) as f32, 1.0)).collect::<Vec<_>>(),
    );
    let t = std::time::Instant::now();
    run(&p, "f", &[x.into()], &RunOptions::default()).unwrap();
    println!("fft: {:?}", t.elapsed());
    let p = sapwood_ptir::parse("ptir 1 func @f(%a: f32[1000, 1000]) -> (f32[1000, 10], i32[1000, 10]) { %r, %s = top_k %a {k = 10} : f32[1000, 10], i32[1000, 10] return %r, %s }").unwrap();
    let x = Tensor::new(
        DataType::F32,
        [1000, 1000],
        (0..1000000u32).map(|i| (i.wrapping_mul(2654435761) >> 8) as f32).collect::<Vec<_>>(),
    );
    let t = std::time::Instant::now();
    run(&p, "f", &[x.clone().into()], &RunOptions::default()).unwrap();
    println!("top_k: {:?}", t.elapsed());
}
