//! Splats take no memory, so their extents may be huge; a kernel that would need every element reports a fault instead of allocating.

use sapwood_ptir::eval::{self, Fault, RunOptions};

fn fault(result: &str, instruction: &str) -> Fault {
    let text = format!(
        "ptir 1\nfunc @f() -> {result} {{
           %a = constant 1.0 : f32[10000000, 10000000]
           %c = constant 1.0 : c64[10000000, 10000000]
           %l = constant 1.0 : f32[1, 1, 1000000000000]
           %d = iota {{axis = 0}} : f32[3]
           %i = constant 0 : i32[100000000000000, 1]
           %r = {instruction} : {result}
           return %r
         }}"
    );
    let program = sapwood_ptir::parse(&text).unwrap_or_else(|e| panic!("{instruction}: {e}"));
    match eval::run(&program, "f", &[], &RunOptions::default()) {
        Ok(_) => panic!("{instruction}: it ran"),
        Err(error) => error.fault,
    }
}

#[test]
fn results_that_do_not_fit_are_refused_before_they_are_allocated() {
    let square = "f32[10000000, 10000000]";
    let cases = [
        (square, "dot_general %a, %a {lhs_contract = [1], rhs_contract = [0]}"),
        (square, "cholesky %a"),
        (square, "triangular_solve %a, %a"),
        ("c64[10000000, 10000000]", "fft %c {kind = fft, lengths = [10000000]}"),
        (
            "f32[1, 1, 1]",
            "convolution %l, %l {input_dims = [0, 1, 2], kernel_dims = [0, 1, 2], output_dims = [0, 1, 2]}",
        ),
        (
            "f32[100000000000000, 1]",
            "gather %d, %i {offset_dims = [1], start_index_map = [0], index_vector_dim = 1, slice_sizes = [1]}",
        ),
        (
            square,
            "sort %a {axis = 1} (%x: f32[], %y: f32[]) \
             { %s = compare %x, %y {direction = lt} : bool[] yield %s }",
        ),
    ];
    for (result, instruction) in cases {
        let found = fault(result, instruction);
        assert!(matches!(found, Fault::Memory { .. }), "{instruction}: {found}");
    }
}
