use sapwood_ir::*;
use sapwood_types::Source;

#[test]
fn smoke() {
    let text = r#"pi.program("demo")

def add(x: pi.INT64, y: pi.INT64) -> pi.INT64:
    result = x + y

def main(n: pi.INT64, t: pi.TensorType(pi.FP32, [n, 2]), u) -> (pi.INT64, pi.FP32):
    s = 0
    for i, (acc,) in pi.range(0, n, 1, init_values=[s]):
        pi.yield_(acc + i)
    total: pi.INT64 = pi.result(0)
    if n > 3 and not (n == 2):
        a = -5
        b = (-2) ** 2 - -x_1 ** 2
    else:
        pass
    for (w, v) in pi.while_(init_values=[0, 1.5]):
        pi.cond(w < 10)
        pi.yield_(w + 1, v * 2.0)
    q: pi.INT64 = pi.result(0)
    r: pi.FP32 = pi.result(1)
    while pi.typed(n >= 0, pi.INT64):
        n = n - 1
    with pi.ops():
        z = pi.typed(add(n, 1), pi.INT64)
        y = pi.op.tensor.exp(t)
    with pi.seq():
        pi.op.print(z, pi.INT32(7), pi.FP64("inf"), (1, 2.5)[1], pi.cast(n, pi.FP32), min(n, 2), abs(n), pi.neg(5), pi.xor(True, False))
    return (s, (s,))
"#;
    let text = text.replace("x_1", "n");
    let source = Source::new("a.ir", text.as_str());
    let program = match parse_program(&source) {
        Ok(p) => p,
        Err(e) => panic!("{}", e.render(&source)),
    };
    let printed = print_program(&program).unwrap();
    println!("{printed}");
    assert_eq!(printed, text.replace("return (s, (s,))", "return s, (s,)").replace("not (n == 2)", "not n == 2"));
    let again = parse_program(&Source::new("b.ir", printed.as_str())).unwrap();
    assert!(sapwood_structural::equal(&program, &again).unwrap());
}
