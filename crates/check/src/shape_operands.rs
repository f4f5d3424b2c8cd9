//! The extents that operands of ops ask for: `dynamic_reshape %x, %shape` needs a small shape that fits its input.

use sapwood_ptir::{Attr, Dim, Dims, Function, InstId};

use crate::input_ranges::InputRange;

/// The largest number of entries of a list; a shape with more axes is drawn without knowledge about the others.
const MAX_ENTRIES: usize = 8;
/// The smallest and largest padding that is drawn.
const PADDING: [u8; 2] = [0, 2];

/// The entries of an operand that is a shape, a list of strides or the like, as far as the program determines them.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct ExtentList {
    /// The entries, in row-major order; `?` for those that are free.
    pub(crate) dims: [Dim; MAX_ENTRIES],
    /// The product of all entries, if it must be a certain one.
    pub(crate) count: Dim,
    /// The smallest and the largest number of free entries that are not extents.
    pub(crate) amounts: Option<[u8; 2]>,
}

impl ExtentList {
    /// A list of extents that are all free.
    pub(crate) const FREE: Self =
        Self { dims: [Dim::Unknown; MAX_ENTRIES], count: Dim::Unknown, amounts: None };

    fn of_dims(dims: impl IntoIterator<Item = Dim>) -> Self {
        let mut list = Self::FREE;
        list.dims.iter_mut().zip(dims).for_each(|(slot, dim)| *slot = dim);
        list
    }

    const fn of_amounts(amounts: [u8; 2]) -> Self {
        Self { amounts: Some(amounts), ..Self::FREE }
    }

    /// Returns the list that another function may use, which has other symbols.
    pub(crate) fn without_symbols(mut self) -> Self {
        for dim in self.dims.iter_mut().chain([&mut self.count]) {
            *dim = dim.known().map_or(Dim::Unknown, Dim::Known);
        }
        self
    }

    // Returns the entries from a position on.
    fn skip(self, start: usize) -> Self {
        let rest = self.dims.into_iter().skip(start);
        Self { dims: Self::of_dims(rest).dims, count: Dim::Unknown, ..self }
    }

    /// Returns the entries that an instruction requires of an operand, given the range required of its result. Returns `None` if the operand is not a
    /// shape.
    pub(crate) fn of_operand(
        f: &Function,
        inst: InstId,
        n: usize,
        result: InputRange,
    ) -> Option<Self> {
        let operands = f.operands(inst);
        let dims = |n: usize| -> Dims {
            let ty = operands.get(n).and_then(|&v| f.value_type(v).as_tensor());
            ty.map(|ty| ty.dims.clone()).unwrap_or_default()
        };
        let declared = || -> Dims {
            let ty = f.value_of(inst).and_then(|v| f.value_type(v).as_tensor());
            ty.map(|ty| ty.dims.clone()).unwrap_or_default()
        };
        let axes = |name: &str| f.attr(inst, name).and_then(Attr::as_ints).unwrap_or_default();
        Some(match (f.op_name(inst), n) {
            ("dynamic_reshape", 1) => {
                let count = dims(0).iter().fold(Dim::Known(1), |count, &dim| count.times(dim));
                Self { count, ..Self::of_dims(declared()) }
            }
            ("dynamic_broadcast_in_dim", 1) => {
                let mut dims_of_result = declared();
                for (&to, &dim) in axes("dims").iter().zip(&dims(0)) {
                    let slot = usize::try_from(to).ok().and_then(|to| dims_of_result.get_mut(to));
                    if let Some(slot @ Dim::Unknown) = slot.filter(|_| dim != Dim::Known(1)) {
                        *slot = dim;
                    }
                }
                Self::of_dims(dims_of_result)
            }
            ("dynamic_iota", 0) => Self::of_dims(declared()),
            // All padding is behind the input if the extents are known.
            ("dynamic_pad", 2 | 4) => {
                let known = declared().into_iter().map(|dim| dim.known().map(|_| Dim::Known(0)));
                let dims = Self::of_dims(known.map(|dim| dim.unwrap_or(Dim::Unknown))).dims;
                Self { dims, ..Self::of_amounts(if n == 2 { PADDING } else { [0, 1] }) }
            }
            ("dynamic_pad", 3) => {
                let pairs = declared().into_iter().zip(dims(0));
                let behind = pairs.map(|(to, from)| match (to.known(), from.known()) {
                    (Some(to), Some(from)) => to.checked_sub(from).map(Dim::Known),
                    _ => None,
                });
                let dims = Self::of_dims(behind.map(|dim| dim.unwrap_or(Dim::Unknown))).dims;
                Self { dims, ..Self::of_amounts(PADDING) }
            }
            ("real_dynamic_slice", 1) => Self::of_amounts([0, 0]),
            ("real_dynamic_slice", 2) => {
                let pairs = declared().into_iter().zip(dims(0));
                let limits = pairs.map(|(to, from)| if to == Dim::Unknown { from } else { to });
                Self::of_dims(limits)
            }
            ("real_dynamic_slice", 3) => Self::of_amounts([1, 1]),
            ("dynamic_gather", 2) => Self::of_amounts([1, 1]),
            ("dynamic_conv", 2) => Self::of_amounts(PADDING),
            (name, _) => {
                let InputRange::Extents(list) = result else { return None };
                match name {
                    "reshape" | "cast" | "refine" | "broadcast_in_dim" | "broadcast_to" => list,
                    "concat" => {
                        let extent = |n: usize| dims(n).first().and_then(|dim| dim.known());
                        let start = (0..n).try_fold(0u64, |sum, n| sum.checked_add(extent(n)?))?;
                        list.skip(usize::try_from(start).ok()?)
                    }
                    "div" | "rem" if n == 1 => Self::of_amounts([1, 2]),
                    "add" | "sub" | "mul" | "div" | "rem" | "max" | "min" | "neg" | "clamp"
                    | "slice" | "reverse" | "pad" | "gather" | "dynamic_slice" | "transpose"
                        if n == 0 || dims(n) == dims(0) =>
                    {
                        Self { amounts: list.amounts, ..Self::FREE }
                    }
                    "select" if n > 0 => Self { amounts: list.amounts, ..Self::FREE },
                    _ => return None,
                }
            }
        })
    }
}
