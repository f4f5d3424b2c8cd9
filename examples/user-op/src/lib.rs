//! A user-defined op: one row of a table defines its text, JSON, inference, evaluation, view and builder methods. And a user-defined IR
//! whose nodes are compared up to renaming. `sapwood` is the only dependency.

pub mod lambda;

use sapwood::ptir::eval::{self, EvalCx, EvalResult, Tensor};
use sapwood::ptir::prelude::*;

sapwood::ptir::ops! {
    family "demo", table demo_ops, values DemoValueOps, graph DemoGraphOps;

    /// Rotates elements along an axis: those that leave at the end enter at the start.
    op roll Roll "demo.roll" (input: Value) {
        /// The axis.
        axis: Int,
        /// The distance, modulo the extent.
        shift: Int = Int(1),
    } -> one [] = |cx| {
        cx.axis("axis", cx.tensor(0)?.rank())?;
        cx.same_as(0)
    }, eval = eval_roll;
}

fn eval_roll(cx: &mut EvalCx<'_>) -> EvalResult {
    let input = cx.take_tensor(0)?;
    let axis = cx.axis("axis", input.shape().len())?;
    let (extent, inner) =
        (input.shape()[axis], input.shape()[axis + 1..].iter().product::<usize>());
    let back = extent - cx.int("shift")?.checked_rem_euclid(extent as i64).unwrap_or(0) as usize;
    sapwood::ptir::with_native!(input.dtype(), T => {
        let mut out: Vec<T> = cx.alloc(input.len())?;
        if let Some(elements) = input.view::<T>() {
            out.extend((0..input.len()).map(|i| {
                let (outer, at) = (i / inner / extent, (i / inner + back) % extent);
                elements.get((outer * extent + at) * inner + i % inner)
            }));
        }
        eval::one(Tensor::new(input.dtype(), input.shape(), out))
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use sapwood::ptir::{from_json_with, parse_with, to_json};

    const TEXT: &str = "\
ptir 1

func @f(%x: f32[4, 8]) -> f32[4, 8] {
  %y = demo.roll %x {axis = 1, shift = 3} : f32[4, 8]
  return %y
}
";

    #[test]
    fn it_has_text_json_inference_view_and_builder() -> Result<(), Box<dyn std::error::Error>> {
        let registry = Registry::builtin().with(demo_ops())?;
        let program = parse_with(TEXT, &registry)?;
        assert_eq!(program.to_string(), TEXT);
        assert_eq!(from_json_with(&to_json(&program), &registry)?.to_string(), TEXT);

        let f = &program.functions()[0];
        let roll: Roll = f.def(f.results()[0]).ok_or("not a roll")?;
        assert_eq!((roll.axis, roll.shift, roll.input), (Int(1), Int(3), f.params()[0]));

        let wrong = parse_with(&TEXT.replace("axis = 1", "axis = 2"), &registry).unwrap_err();
        assert!(
            wrong.to_string().contains("demo.roll: `axis` is 2, out of range for rank 2"),
            "{wrong}"
        );

        let mut builder = GraphBuilder::new("f", &registry);
        let mut g = PtirGraph::new(&mut builder);
        let x = g.parameter("x", TensorSpec::new(DataType::F32, [4u64, 8]));
        let y = x.roll(&mut g, 1, 3)?;
        g.name(&y, "y")?;
        let function = builder.finish(&[y.id()])?;
        assert_eq!(format!("ptir 1\n\n{function:?}"), TEXT);
        Ok(())
    }

    #[test]
    fn it_runs() -> Result<(), Box<dyn std::error::Error>> {
        let registry = Registry::builtin().with(demo_ops())?;
        let text = TEXT.replace("4, 8", "2, 4").replace("f32", "i32");
        let program = parse_with(&text, &registry)?;
        let x = Tensor::new(DataType::I32, [2, 4], (0..8).collect::<Vec<i32>>());
        let y = eval::run(&program, "f", &[x.into()], &eval::RunOptions::default())?;
        assert_eq!(y[0].to_string(), "[[1, 2, 3, 0], [5, 6, 7, 4]] : i32[2, 4]");
        Ok(())
    }

    #[test]
    fn the_definition_is_short() {
        let source = include_str!("lib.rs");
        let start = source.lines().position(|l| l.starts_with("sapwood::ptir::ops!")).unwrap();
        let length = source.lines().skip(start).position(|l| l == "}").unwrap() + 1;
        assert!(length <= 15, "{length} lines");
    }

    #[test]
    fn a_builder_without_it_returns_an_error() {
        let mut builder = GraphBuilder::new("f", &Registry::builtin());
        let mut g = PtirGraph::new(&mut builder);
        let x = g.parameter("x", TensorSpec::new(DataType::F32, [4u64, 8]));
        let error = x.roll(&mut g, 1, 3).unwrap_err().to_string();
        assert!(error.starts_with("demo.roll is not in the registry of this builder"), "{error}");
    }
}
