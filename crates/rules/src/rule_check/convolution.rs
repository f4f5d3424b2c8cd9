//! Random operands and attributes of convolutions that are likely to fit.

use sapwood_ptir::{Attr, Dim, OpDef, TensorType};

use super::instance::InstanceRng;

/// The largest extent of a kernel along a spatial axis.
const MAX_KERNEL_EXTENT: u64 = 3;

/// The axes and groups of a convolution.
pub(super) struct ConvolutionLayout {
    pub(super) input_dims: Vec<i64>,
    pub(super) kernel_dims: Vec<i64>,
    pub(super) feature_groups: i64,
}

impl ConvolutionLayout {
    /// Returns the layout that `required` gives, with the usual one for omitted attributes: batch, feature, spatial axes; output feature,
    /// input feature, spatial axes.
    pub(super) fn new(rank: usize, required: impl Fn(&str) -> Option<Attr>) -> Self {
        let list = |name: &str| Some(required(name)?.as_ints()?.to_vec());
        let usual: Vec<i64> = (0..rank as i64).collect();
        let mut usual_kernel = usual.clone();
        if rank > 1 {
            usual_kernel.swap(0, 1);
        }
        Self {
            input_dims: list("input_dims").unwrap_or(usual),
            kernel_dims: list("kernel_dims").unwrap_or(usual_kernel),
            feature_groups: required("feature_groups").and_then(|a| a.as_int()).unwrap_or(1),
        }
    }

    /// Draws the type of an input that fits a kernel, near the type `base`.
    pub(super) fn input(
        &self,
        random: &mut InstanceRng,
        kernel: &TensorType,
        base: &TensorType,
        size: u64,
    ) -> Option<TensorType> {
        let mut ty = base.with_dtype(kernel.dtype);
        if ty.rank() != kernel.rank() {
            ty.dims = (0..kernel.rank()).map(|_| Dim::Known(random.extent(size))).collect();
        }
        if random.below(3) == 0 {
            *dim_at(&mut ty, &self.input_dims, 0)? = Dim::Known(random.extent(size));
        }
        let Dim::Known(features) = *dim_at(&mut kernel.clone(), &self.kernel_dims, 0)? else {
            return None;
        };
        let groups = u64::try_from(self.feature_groups).ok()?;
        *dim_at(&mut ty, &self.input_dims, 1)? = Dim::Known(features.checked_mul(groups)?);
        Some(ty)
    }

    /// Draws the type of a kernel that fits an input; `other` is the type of another kernel of the rule.
    pub(super) fn kernel(
        &self,
        random: &mut InstanceRng,
        input: &TensorType,
        other: Option<&TensorType>,
        size: u64,
    ) -> Option<TensorType> {
        let similar = other.filter(|other| other.rank() == input.rank());
        let (mut ty, is_new) = match similar.filter(|_| random.below(4) > 0) {
            Some(other) => (other.clone(), false),
            None => (input.clone(), true),
        };
        let Dim::Known(features) = *dim_at(&mut input.clone(), &self.input_dims, 1)? else {
            return None;
        };
        let groups = u64::try_from(self.feature_groups).ok().filter(|&n| n > 0)?;
        *dim_at(&mut ty, &self.kernel_dims, 0)? = Dim::Known(features / groups);
        if is_new || random.below(3) == 0 {
            *dim_at(&mut ty, &self.kernel_dims, 1)? = Dim::Known(random.extent(size));
        }
        for axis in (2..input.rank()).filter(|_| is_new) {
            let extent = 1 + random.below(size.clamp(1, MAX_KERNEL_EXTENT));
            *dim_at(&mut ty, &self.kernel_dims, axis)? = Dim::Known(extent);
        }
        Some(ty)
    }
}

fn dim_at<'a>(ty: &'a mut TensorType, axes: &[i64], n: usize) -> Option<&'a mut Dim> {
    ty.dims.get_mut(usize::try_from(*axes.get(n)?).ok()?)
}

/// Draws an attribute of a convolution of these types; `None` for attributes without an own distribution.
pub(super) fn random_convolution_attr(
    random: &mut InstanceRng,
    def: &OpDef,
    name: &str,
    types: &[TensorType],
    earlier: &[Attr],
) -> Option<Attr> {
    let [input, kernel] = types else { return None };
    let rank = input.rank() as i64;
    let spatial = (rank - 2).max(0);
    let mut entries = |from: i64, count: u64| {
        let list = (0..spatial).map(|_| from + random.below(count) as i64);
        Attr::Ints(list.collect())
    };
    match name {
        "input_dims" | "output_dims" => Some(Attr::Ints(match random.below(3) {
            0 => super::attrs::permutation(random, rank as u64).into_iter().collect(),
            _ => (0..rank).collect(),
        })),
        "kernel_dims" => {
            let input_dims = &earlier[def.attrs.iter().position(|a| a.name == "input_dims")?];
            let feature = usize::try_from(*input_dims.as_ints()?.get(1)?).ok()?;
            let fits = |axis: &usize| kernel.dims[*axis] == input.dims[feature];
            let axes: Vec<usize> = (0..kernel.rank()).filter(fits).collect();
            // Mostly the second axis, as frameworks store kernels.
            let own = match axes.contains(&1) && random.below(3) > 0 {
                true => 1,
                false => *axes.get(random.below(axes.len() as u64) as usize)?,
            };
            let others = (0..kernel.rank()).filter(|&axis| axis != own);
            Some(Attr::Ints(std::iter::once(own).chain(others).map(|axis| axis as i64).collect()))
        }
        "strides" | "input_dilation" | "kernel_dilation" => Some(entries(1, 2)),
        "reversal" => Some(entries(0, 2)),
        "pads" => {
            let mut pair = || Attr::Ints((0..2).map(|_| random.below(3) as i64).collect());
            let pairs: Vec<Attr> = (0..spatial).map(|_| pair()).collect();
            Some(if pairs.is_empty() {
                Attr::Ints([].into_iter().collect())
            } else {
                Attr::List(pairs.into())
            })
        }
        _ => None,
    }
}
