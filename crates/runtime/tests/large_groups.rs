//! Groups of very large values that repeat a number, and with very many values.

use sapwood_check::elements_as_f64;
use sapwood_ptir::eval::{self, RunOptions, Tensor, Value};

use crate::fusion::{agree_on, check_predicted_peak, options, tolerance};

#[test]
fn splats_of_any_size_stay_splats() {
    let text = "ptir 1 func @f(%x: f32[1000000000]) -> f32[1000000000] {
      %y = exp %x : f32[1000000000]
      %z = neg %y : f32[1000000000]
      return %z }";
    let program = sapwood_ptir::parse(text).unwrap();
    let x = Tensor::splat(eval::DataType::F32, [1_000_000_000], 0.0f32).into();
    let y = eval::run(&program, "f", &[x], &options(true, 2)).unwrap();
    assert_eq!(y[0].as_tensor().and_then(Tensor::as_splat::<f32>), Some(-1.0));
    // Also in groups with rows and columns, of an input or of a constant.
    for (param, start) in [
        ("%x: f32[]", "broadcast_to %x : f32[100000, 16000]"),
        ("", "constant 1.0 : f32[100000, 16000]"),
    ] {
        let text = format!(
            "ptir 1 func @f({param}) -> (f32[100000, 16000], f32[100000, 16000], f32[100000]) {{
              %b = {start}
              %c = neg %b : f32[100000, 16000]
              %d = reduce_sum %c {{axes = [1]}} : f32[100000]
              %e = abs %d : f32[100000]
              %r = broadcast_in_dim %e {{dims = [0]}} : f32[100000, 16000]
              %s = add %r, %c : f32[100000, 16000]
              return %c, %s, %e }}"
        );
        let program = sapwood_ptir::parse(&text).unwrap();
        let inputs: Vec<Value> = match param {
            "" => Vec::new(),
            _ => vec![Tensor::scalar(1.0f32).into()],
        };
        assert!(check_predicted_peak(&program, &inputs));
        let limits = RunOptions { max_bytes: 1 << 20, ..options(true, 2) };
        let found = eval::run(&program, "f", &inputs, &limits).unwrap();
        let splat = |v: &Value| v.as_tensor().and_then(Tensor::as_splat::<f32>).unwrap();
        assert_eq!(found.iter().map(splat).collect::<Vec<_>>(), [-1.0, 15999.0, 16000.0]);
    }
    assert_eq!(elements_as_f64(&Tensor::scalar(1.0f32)), [1.0]);
}

#[test]
fn the_memory_of_many_branches_is_predicted_in_linear_time() {
    // Each branch copies the predicted state. If that grew with the steps before, this would not finish.
    const BRANCHES: usize = 60_000;
    let mut text = String::from("ptir 1 func @f(%p: bool[], %x0: f32[100]) -> f32[100] {\n");
    for i in 0..BRANCHES {
        text += &format!(
            "%r{i} = reverse %x{i} {{axes = [0]}} : f32[100]\n\
             %x{} = cond %p () {{ %a{i} = reverse %r{i} {{axes = [0]}} : f32[100] yield %a{i} }} () {{ \
             %b{i} = concat %r{i} {{axis = 0}} : f32[100] yield %b{i} }} : f32[100]\n",
            i + 1
        );
    }
    text += &format!("return %x{BRANCHES} }}");
    let program = sapwood_ptir::parse(&text).unwrap_or_else(|problems| panic!("{problems}"));
    let elements: Vec<f32> = (0..100).map(|i| i as f32).collect();
    let x = Tensor::new(eval::DataType::F32, [100], elements).into();
    assert!(check_predicted_peak(&program, &[Tensor::scalar(true).into(), x]));
}

#[test]
fn values_with_any_number_of_names_and_copies_agree() {
    let rest = |n: usize, ty: &str, define: &str| -> String {
        let views: String = (0..n).map(|i| format!("%r{i} = {define} : {ty}[8, 4]\n")).collect();
        let names: Vec<String> = (0..n).map(|i| format!("%r{i}")).collect();
        let (names, rows) = (names.join(", "), 8 * n);
        format!("{views} %c = concat {names} {{axis = 0}} : {ty}[{rows}, 4] return %c }}")
    };
    // Numbers of results and registers beyond 16 bits, and around the limits of groups.
    for n in [511, 513, 1030, 66_000] {
        for ty in ["f32", "f16"] {
            if n > 2000 && ty == "f16" {
                continue;
            }
            let rows = 8 * n;
            let names = format!(
                "ptir 1 func @f(%a: {ty}[32], %b: {ty}[32]) -> {ty}[{rows}, 4] {{
                   %s = add %a, %b : {ty}[32]
                   %t = mul %s, %b : {ty}[32]
                   %u = mul %t, %s : {ty}[32]
                   %v = sub %u, %s : {ty}[32]
                   {}",
                rest(n, ty, "reshape %v")
            );
            agree_on(&names, 1, tolerance(ty));
            let copies = format!(
                "ptir 1 func @f(%a: {ty}[8, 4]) -> {ty}[{rows}, 4] {{
                   %z = neg %a : {ty}[8, 4]
                   %s = reduce_max %z {{axes = [1]}} : {ty}[8]
                   %t = abs %s : {ty}[8]
                   {}",
                rest(n, ty, "broadcast_in_dim %t {dims = [0]}")
            );
            agree_on(&copies, 2, tolerance(ty));
        }
    }
}
