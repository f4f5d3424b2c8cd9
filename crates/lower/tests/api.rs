//! The library functions: places and names go along, user ops are known, a function that is not there is named.

use sapwood_ir::{ProgramRef, parse_program};
use sapwood_lower::{lower, lower_function, lower_with};
use sapwood_ptir::prelude::*;
use sapwood_types::Source;

sapwood_ptir::ops! {
    family "demo", table demo_ops, values DemoValueOps, graph DemoGraphOps;

    /// `x` where it is positive, `slope * x` elsewhere.
    op leaky_relu LeakyRelu "demo.leaky_relu" (input: Value) {
        /// Factor for negative elements.
        slope: f64 = 0.01
    } -> one [elementwise] = |cx| cx.same_as(0);
}

fn read(text: &str) -> ProgramRef {
    let source = Source::new("api.py", text);
    parse_program(&source).unwrap_or_else(|problems| panic!("{}", problems.render(&source)))
}

#[test]
fn spans_and_names_are_kept() {
    let program = read(
        "def f(x: pi.INT64) -> pi.INT64:\n    y = x * x\n    if x:\n        y = y + 1\n    \
         return y // x\n",
    );
    let lowered = lower(&program).unwrap();
    let f = &lowered.functions()[0];
    assert_eq!((f.span().begin_line(), f.span().filename()), (1, "api.py"));
    let places: Vec<(&str, u32, u32)> = f
        .walk()
        .map(|inst| {
            let span = f.inst_span(inst);
            (f.op_name(inst), span.begin_line(), span.begin_column())
        })
        .collect();
    for place in [("mul", 2, 9), ("cond", 3, 5), ("add", 4, 13), ("div", 5, 12), ("sub", 5, 12)] {
        assert!(places.contains(&place), "{place:?} is not among {places:?}");
    }
    let hints: Vec<&str> = f.walk().filter_map(|inst| f.hint(f.value_of(inst)?)).collect();
    assert_eq!(hints, ["y", "y", "y"]);
    assert_eq!(f.hint(f.params()[0]), Some("x"));
}

#[test]
fn ops_of_the_registry_are_known() {
    let program = read(
        "def f(x: pi.TensorType(pi.FP32, [4])) -> pi.TensorType(pi.FP32, [4]):\n    return pi.op.demo.leaky_relu(x)\n",
    );
    let problems = lower(&program).unwrap_err();
    assert!(problems.to_string().contains("call of `demo.leaky_relu`: the type is not known"));
    let registry = Registry::builtin().with(demo_ops()).unwrap();
    let lowered = lower_with(&program, &registry).unwrap();
    let f = &lowered.functions()[0];
    let relu: LeakyRelu = f.def(f.results()[0]).unwrap();
    assert_eq!((relu.input, relu.slope), (f.params()[0], 0.01));
}

#[test]
fn one_function_lowers_although_another_does_not() {
    let program = read(
        "def good(n: pi.INT64, x: pi.TensorType(pi.FP32, [n])) -> pi.TensorType(pi.FP32, [n ** 2]):\n    return pi.typed(bad(n, x), pi.TensorType(pi.FP32, [n ** 2]))\n\n\
         def bad(n: pi.INT64, x: pi.TensorType(pi.FP32, [n])) -> pi.TensorType(pi.FP32, [n ** 2]):\n    while n:\n        return pi.typed(pi.op(\"twice\")(x), pi.TensorType(pi.FP32, [n ** 2]))\n    return pi.typed(pi.op(\"thrice\")(x), pi.TensorType(pi.FP32, [n ** 2]))\n\n\
         def worse(x):\n    x\n",
    );
    let registry = Registry::builtin();
    let message = |name| lower_function(&program, name, &registry).unwrap_err().to_string();
    assert_eq!(lower_function(&program, "good", &registry).unwrap().num_insts(), 7);
    assert!(message("bad").contains("a return inside a loop"));
    assert!(message("worse").contains("parameter `x`: the type is not known"));
    let unknown = message("god");
    assert!(unknown.contains("no function called `god`"), "{unknown}");
    assert_eq!(lower(&program).unwrap_err().error_count(), 2);
}
