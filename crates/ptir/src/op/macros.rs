//! The macro that defines tables of ops.

/// Defines ops: one row per op, from which everything about the op follows.
///
/// ```
/// use sapwood_ptir::eval::{self, RunOptions, Tensor};
/// use sapwood_ptir::prelude::*;
///
/// sapwood_ptir::ops! {
///     family "demo", table demo_ops, values DemoValueOps, graph DemoGraphOps;
///
///     /// `x` where it is positive, `slope * x` elsewhere.
///     op leaky_relu LeakyRelu "demo.leaky_relu" (input: Value) {
///         /// Factor for negative elements.
///         slope: f64 = 0.01
///     } -> one [elementwise] = |cx| cx.same_as(0), eval = |cx| {
///         let (slope, x) = (cx.float("slope")?, cx.elements::<f32>(0)?);
///         let y = x.iter().map(|&x| if x > 0.0 { x } else { x * slope as f32 }).collect();
///         eval::one(Tensor::new(DataType::F32, cx.tensor(0)?.shape(), y))
///     };
/// }
///
/// let registry = Registry::builtin().with(demo_ops())?;
/// let text = "ptir 1\n\nfunc @f(%x: f32[4]) -> f32[4] {\n  \
///             %y = demo.leaky_relu %x {slope = 0.2} : f32[4]\n  return %y\n}\n";
/// let program = sapwood_ptir::parse_with(text, &registry)?;
/// assert_eq!(program.to_string(), text);
/// let f = &program.functions()[0];
/// let relu: LeakyRelu = f.def(f.results()[0]).unwrap();
/// assert_eq!(relu.slope, 0.2);
///
/// let x = Tensor::new(DataType::F32, [4], vec![1f32, -1.0, 2.0, -5.0]);
/// let y = eval::run(&program, "f", &[x.into()], &RunOptions::default())?;
/// assert_eq!(y[0].to_string(), "[1.0, -0.2, 2.0, -1.0] : f32[4]");
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
///
/// A row consists of the builder method, the Rust type and the name of the op; its operands and regions (`Value`,
/// `Values`, `OptValue`, `Body`, `Bodies`); its attributes, with optional defaults (any
/// [`AttrField`](crate::AttrField)); its results (`none`, `one`, `many`); its flags (methods of
/// [`OpDef`](crate::OpDef): `commutative`, `elementwise`, `ordered`, `terminator`, `opaque`, `may_stop`,
/// `leading_attr("attr")`, `omitted_entries(1, &["strides"])`, `omitted_dtype("attr")`);
/// the inference function; and, after `eval =`, the function of an [`EvalCx`](crate::eval::EvalCx) that computes it.
/// An op without such a function cannot be run. An op whose result type cannot be inferred has a field of type
/// [`ResultType`](crate::ResultType).
///
/// The header names the function that returns the table for [`Registry::with`](crate::Registry::with), and the traits
/// with the builder methods. A method is on values if the first operand is a `Value`, and on the graph otherwise.
#[macro_export]
macro_rules! ops {
    (
        family $family:literal, table $table:ident, values $values:ident, graph $graph:ident;
        $(
            $(#[doc = $doc:literal])*
            op $method:ident $Op:ident $name:literal ( $($o:ident : $oty:ident),* $(,)? )
            { $( $(#[doc = $adoc:literal])* $a:ident : $aty:ty $(= $adef:expr)? ),* $(,)? }
            -> $out:ident
            [ $( $flag:ident $( ( $($farg:expr),* ) )? ),* $(,)? ]
            = $infer:expr $(, eval = $eval:expr)?;
        )*
    ) => {
        $(
            $(#[doc = $doc])*
            #[derive(Clone, PartialEq, Debug)]
            pub struct $Op {
                $(
                    #[doc = concat!("`", stringify!($o), "`")]
                    pub $o: $oty,
                )*
                $(
                    $(#[doc = $adoc])*
                    #[doc = ""]
                    pub $a: $aty,
                )*
            }

            impl $crate::Op for $Op {
                #[inline]
                fn key() -> $crate::OpKey {
                    static KEY: $crate::__private::OpKeyCell = $crate::__private::OpKeyCell::new();
                    KEY.get($name)
                }

                fn def() -> $crate::OpDef {
                    $crate::OpDef::new($name, $family, &[$($doc),*], $infer)
                        .rust_type(stringify!($Op))
                        $(.operand(stringify!($o), <$oty as $crate::__private::OperandField>::KIND))*
                        $(.attr($crate::AttrDef::new::<$aty>(
                            stringify!($a),
                            $crate::ops!(@default $aty $(, $adef)?),
                            &[$($adoc),*],
                        )))*
                        .returns($crate::ops!(@count $out))
                        $(.$flag($($($farg),*)?))*
                        $(.eval($eval))?
                }

                #[allow(unused_mut, unused_variables)]
                fn read(function: &$crate::Function, inst: $crate::InstId) -> Option<Self> {
                    let mut reader = $crate::OpFieldReader::new(function, inst)?;
                    $(let $o = <$oty as $crate::__private::OperandField>::read(&mut reader)?;)*
                    $(let $a = reader.attr::<$aty>()?;)*
                    Some(Self { $($o,)* $($a,)* })
                }

                #[allow(unused_mut)]
                fn into_parts(self) -> $crate::OpParts {
                    let mut parts = $crate::OpParts::new(<Self as $crate::Op>::key());
                    $(<$oty as $crate::__private::OperandField>::write(self.$o, &mut parts);)*
                    $(parts.push_attr(&self.$a);)*
                    parts
                }
            }
        )*

        #[doc = concat!("The ops of family ", $family, ", for a registry.")]
        #[must_use]
        pub fn $table() -> Vec<$crate::OpDef> {
            vec![$(<$Op as $crate::Op>::def()),*]
        }

        #[doc = concat!("Builder methods of family ", $family, ", on values.")]
        pub trait $values: $crate::AsValue {
            $($crate::ops!{@value $method $Op $name ($($o: $oty),*) {$($a: $aty),*} $out})*
        }
        impl $values for $crate::PtirValue {}

        #[doc = concat!("Builder methods of family ", $family, ", on the graph.")]
        pub trait $graph: $crate::AsGraph {
            $($crate::ops!{@graph $method $Op $name ($($o: $oty),*) {$($a: $aty),*} $out})*
        }
        impl $graph for $crate::PtirGraph<'_> {}
    };

    (@default $aty:ty) => { None };
    (@default $aty:ty, $default:expr) => {{
        let default: $aty = $default;
        Some(<$aty as $crate::AttrField>::to_attr(&default))
    }};

    (@count none) => { $crate::ResultCount::None };
    (@count one) => { $crate::ResultCount::One };
    (@count many) => { $crate::ResultCount::Many };
    (@out none) => { () };
    (@out one) => { $crate::PtirValue };
    (@out many) => { $crate::PtirResults };

    (@value $method:ident $Op:ident $name:literal ($first:ident: Value $(, $o:ident: $oty:ident)*)
        {$($a:ident: $aty:ty),*} $out:ident) => {
        #[doc = concat!("Records `", $name, "`; see [`", stringify!($Op), "`].")]
        ///
        /// # Errors
        /// If operands or attributes do not fit; the graph is then unchanged.
        #[allow(clippy::too_many_arguments)]
        fn $method(
            &self,
            graph: &mut $crate::PtirGraph<'_>,
            $($o: <$oty as $crate::__private::OperandField>::Arg<'_>,)*
            $($a: impl Into<$aty>,)*
        ) -> Result<$crate::ops!(@out $out), $crate::GraphError> {
            let $first = <Value as $crate::__private::OperandField>::from_arg(self.as_value(), graph)?;
            $(let $o = <$oty as $crate::__private::OperandField>::from_arg($o, graph)?;)*
            graph.record($Op { $first, $($o,)* $($a: $a.into(),)* })
        }
    };
    (@value $($other:tt)*) => {};

    (@graph $method:ident $Op:ident $name:literal ($first:ident: Value $(, $o:ident: $oty:ident)*)
        {$($a:ident: $aty:ty),*} $out:ident) => {};
    (@graph $method:ident $Op:ident $name:literal ($($o:ident: $oty:ident),*)
        {$($a:ident: $aty:ty),*} $out:ident) => {
        #[doc = concat!("Records `", $name, "`; see [`", stringify!($Op), "`].")]
        ///
        /// # Errors
        /// If operands or attributes do not fit; the graph is then unchanged.
        #[allow(clippy::too_many_arguments)]
        fn $method(
            &mut self,
            $($o: <$oty as $crate::__private::OperandField>::Arg<'_>,)*
            $($a: impl Into<$aty>,)*
        ) -> Result<$crate::ops!(@out $out), $crate::GraphError> {
            let graph = self.as_graph();
            $(let $o = <$oty as $crate::__private::OperandField>::from_arg($o, &graph)?;)*
            let mut graph = graph;
            graph.record($Op { $($o,)* $($a: $a.into(),)* })
        }
    };
}
