//! Types that rules require of values, `x: f32[n, d]` and `x: [.., d]`, and axes that count from the end.

use sapwood_ptir::{Attr, Function, InstId, Name, OpDef, TensorType};
use sapwood_types::DataType;

/// A test of the type of a value.
#[derive(Clone, PartialEq, Eq, Hash, Debug)]
pub(crate) struct ShapeTest {
    pub(crate) dtype: Option<DataType>,
    /// Any dims may precede the tested ones.
    pub(crate) open: bool,
    pub(crate) dims: Vec<DimTest>,
}

/// A test of a dim.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
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

/// The value of an instruction whose axes an attribute names.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum AxesOf {
    /// The operand with this index.
    Operand(usize),
    /// The first result.
    Result,
}

impl AxesOf {
    /// Returns the value whose axes an attribute of this name has; `None` if it names no axes.
    pub(crate) fn attr(name: &str, def: Option<&OpDef>) -> Option<Self> {
        Some(match name {
            // `iota` has no operands.
            "axis" | "axes" if def.is_some_and(|def| def.operands.is_empty()) => Self::Result,
            "axis" | "axes" => Self::Operand(0),
            _ if def.is_none() => return None,
            "perm" | "lhs_contract" | "lhs_batch" | "input_dims" => Self::Operand(0),
            "rhs_contract" | "rhs_batch" | "kernel_dims" => Self::Operand(1),
            "dims" | "output_dims" => Self::Result,
            _ => return None,
        })
    }

    /// Returns the rank of the value; `None` if it is no tensor.
    pub(crate) fn rank(self, f: &Function, inst: InstId) -> Option<usize> {
        let value = match self {
            Self::Operand(n) => *f.operands(inst).get(n)?,
            Self::Result => f.value_of(inst)?,
        };
        f.value_type(value).as_tensor().map(TensorType::rank)
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

/// Returns whether an attribute has axes that count from the end.
pub(crate) fn has_negative(attr: &Attr) -> bool {
    match attr {
        Attr::Int(n) => *n < 0,
        Attr::Ints(list) => list.iter().any(|&n| n < 0),
        _ => false,
    }
}
