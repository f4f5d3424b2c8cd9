//! Types that rules require of values, `x: f32[n, d]` and `x: [.., d]`, and axes that count from the end.

use sapwood_ptir::{Attr, Name};
use sapwood_types::DataType;

/// A test of the type of a value.
#[derive(Clone, PartialEq, Eq, Debug)]
pub(crate) struct ShapeTest {
    pub(crate) dtype: Option<DataType>,
    /// Any dims may precede the tested ones.
    pub(crate) open: bool,
    pub(crate) dims: Vec<DimTest>,
}

/// A test of a dim.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum DimTest {
    Any,
    Known(u64),
    /// The dim that this name is bound to, or binds the name.
    Name(Name),
}

impl std::fmt::Display for ShapeTest {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        if let Some(dtype) = self.dtype {
            write!(f, "{dtype}")?;
        }
        let dots = self.open.then(|| "..".to_owned());
        let dims = self.dims.iter().map(|dim| match dim {
            DimTest::Any => "_".into(),
            DimTest::Known(n) => n.to_string(),
            DimTest::Name(name) => name.to_string(),
        });
        write!(f, "[{}]", dots.into_iter().chain(dims).collect::<Vec<_>>().join(", "))
    }
}

/// Returns axes with negative ones counted from this rank.
pub(crate) fn from_the_end(axes: &Attr, rank: usize) -> Attr {
    let absolute = |n: i64| if n < 0 { n + rank as i64 } else { n };
    match axes {
        Attr::Int(n) => Attr::Int(absolute(*n)),
        Attr::Ints(list) => Attr::Ints(list.iter().map(|&n| absolute(n)).collect()),
        other => other.clone(),
    }
}
