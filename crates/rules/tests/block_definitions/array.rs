//! Arrays of numbers with a shape, and the few operations that the definitions of blocks use.

use sapwood_ptir::eval::Tensor;
use sapwood_types::DataType;

#[derive(Clone, Debug)]
pub(crate) struct Array {
    pub(crate) shape: Vec<usize>,
    pub(crate) data: Vec<f64>,
}

impl Array {
    pub(crate) fn new(shape: Vec<usize>, data: Vec<f64>) -> Self {
        assert_eq!(shape.iter().product::<usize>(), data.len(), "{shape:?}");
        Self { shape, data }
    }

    pub(crate) fn of(tensor: &Tensor) -> Self {
        let data = match tensor.dtype() {
            DataType::F64 => tensor.elements::<f64>().unwrap().to_vec(),
            DataType::I32 => tensor.elements::<i32>().unwrap().iter().map(|&n| n.into()).collect(),
            DataType::Bool => {
                tensor.elements::<bool>().unwrap().iter().map(|&b| f64::from(u8::from(b))).collect()
            }
            DataType::Bf16 => {
                let literal = tensor.to_literal().unwrap();
                let upper = |n: u64| {
                    let bytes = literal.element(n).unwrap();
                    f32::from_bits(u32::from(u16::from_le_bytes([bytes[0], bytes[1]])) << 16).into()
                };
                (0..literal.num_elements()).map(upper).collect()
            }
            _ => tensor.elements::<f32>().unwrap().iter().map(|&x| x.into()).collect(),
        };
        Self::new(tensor.shape().to_vec(), data)
    }

    pub(crate) fn map(&self, f: impl Fn(f64) -> f64) -> Self {
        Self::new(self.shape.clone(), self.data.iter().map(|&x| f(x)).collect())
    }

    pub(crate) fn zip(&self, other: &Self, f: impl Fn(f64, f64) -> f64) -> Self {
        assert_eq!(self.shape, other.shape);
        self.zip_last(other, f)
    }

    // The other is along the last axes.
    pub(crate) fn zip_last(&self, other: &Self, f: impl Fn(f64, f64) -> f64) -> Self {
        let others = other.data.iter().cycle();
        Self::new(
            self.shape.clone(),
            self.data.iter().zip(others).map(|(&a, &b)| f(a, b)).collect(),
        )
    }

    // Returns the position of an index in the data.
    fn at(&self, index: &[usize]) -> usize {
        self.shape.iter().zip(index).fold(0, |at, (&n, &i)| at * n + i)
    }

    // Applies a function to each row along some axes.
    pub(crate) fn along(&self, axes: &[usize], f: impl Fn(&[f64]) -> Vec<f64>) -> Self {
        let kept: Vec<usize> = (0..self.shape.len()).filter(|axis| !axes.contains(axis)).collect();
        let extents =
            |axes: &[usize]| axes.iter().map(|&axis| self.shape[axis]).collect::<Vec<_>>();
        let mut out = vec![0.0; self.data.len()];
        for outer in indices(&extents(&kept)) {
            let places: Vec<usize> = indices(&extents(axes))
                .map(|inner| self.at(&merged(self.shape.len(), &kept, &outer, axes, &inner)))
                .collect();
            let row: Vec<f64> = places.iter().map(|&at| self.data[at]).collect();
            for (at, x) in places.into_iter().zip(f(&row)) {
                out[at] = x;
            }
        }
        Self::new(self.shape.clone(), out)
    }

    pub(crate) fn sum(&self, axes: &[usize]) -> Self {
        let kept: Vec<usize> = (0..self.shape.len()).filter(|axis| !axes.contains(axis)).collect();
        let extents: Vec<usize> = kept.iter().map(|&axis| self.shape[axis]).collect();
        let inner: Vec<usize> = axes.iter().map(|&axis| self.shape[axis]).collect();
        let one = |outer: Vec<usize>| {
            let at = |i: Vec<usize>| self.at(&merged(self.shape.len(), &kept, &outer, axes, &i));
            indices(&inner).map(|i| self.data[at(i)]).sum()
        };
        Self::new(extents.clone(), indices(&extents).map(one).collect())
    }

    // Repeats elements; axis n becomes axis dims[n].
    pub(crate) fn broadcast(&self, shape: &[usize], dims: &[usize]) -> Self {
        let source = |index: Vec<usize>| {
            let own: Vec<usize> = dims
                .iter()
                .zip(&self.shape)
                .map(|(&dim, &n)| if n == 1 { 0 } else { index[dim] })
                .collect();
            self.data[self.at(&own)]
        };
        Self::new(shape.to_vec(), indices(shape).map(source).collect())
    }

    pub(crate) fn slice(&self, starts: &[usize], shape: &[usize]) -> Self {
        let source = |index: Vec<usize>| {
            let own: Vec<usize> = index.iter().zip(starts).map(|(i, start)| i + start).collect();
            self.data[self.at(&own)]
        };
        Self::new(shape.to_vec(), indices(shape).map(source).collect())
    }

    // Axis n of the result is axis perm[n].
    pub(crate) fn transpose(&self, perm: &[usize]) -> Self {
        let shape: Vec<usize> = perm.iter().map(|&axis| self.shape[axis]).collect();
        let source = |index: Vec<usize>| {
            let mut own = vec![0; index.len()];
            for (&axis, i) in perm.iter().zip(index) {
                own[axis] = i;
            }
            self.data[self.at(&own)]
        };
        Self::new(shape.clone(), indices(&shape).map(source).collect())
    }

    // The product that sums over the pairs of `contract`, for each index of the pairs of `batch`: the axes of the result are those of the
    // batch, the others of `self`, the others of `rhs`.
    pub(crate) fn dot(
        &self,
        rhs: &Self,
        batch: &[(usize, usize)],
        contract: &[(usize, usize)],
    ) -> Self {
        let pairs = || batch.iter().chain(contract);
        let left: Vec<usize> =
            (0..self.shape.len()).filter(|a| pairs().all(|(l, _)| l != a)).collect();
        let right: Vec<usize> =
            (0..rhs.shape.len()).filter(|a| pairs().all(|(_, r)| r != a)).collect();
        let shape: Vec<usize> = (batch.iter().map(|&(l, _)| self.shape[l]))
            .chain(left.iter().map(|&a| self.shape[a]))
            .chain(right.iter().map(|&a| rhs.shape[a]))
            .collect();
        let strides = |shape: &[usize]| {
            (0..shape.len()).map(|n| shape[n + 1..].iter().product()).collect::<Vec<usize>>()
        };
        let (own, other) = (strides(&self.shape), strides(&rhs.shape));
        let inner: Vec<(usize, usize)> =
            indices(&contract.iter().map(|&(l, _)| self.shape[l]).collect::<Vec<_>>())
                .map(|index| {
                    let offsets = index.iter().zip(contract);
                    offsets.fold((0, 0), |(a, b), (i, &(l, r))| (a + i * own[l], b + i * other[r]))
                })
                .collect();
        let one = |index: Vec<usize>| {
            let (of_batch, rest) = index.split_at(batch.len());
            let (of_left, of_right) = rest.split_at(left.len());
            let (mut a, mut b) = (0, 0);
            for (i, &(l, r)) in of_batch.iter().zip(batch) {
                (a, b) = (a + i * own[l], b + i * other[r]);
            }
            a += of_left.iter().zip(&left).map(|(i, &axis)| i * own[axis]).sum::<usize>();
            b += of_right.iter().zip(&right).map(|(i, &axis)| i * other[axis]).sum::<usize>();
            inner.iter().map(|&(m, n)| self.data[a + m] * rhs.data[b + n]).sum()
        };
        Self::new(shape.clone(), indices(&shape).map(one).collect())
    }
}

// Returns all indices of a shape in order.
fn indices(shape: &[usize]) -> impl Iterator<Item = Vec<usize>> {
    let shape = shape.to_vec();
    (0..shape.iter().product()).map(move |n| {
        let mut rest: usize = n;
        let mut index: Vec<usize> = shape
            .iter()
            .rev()
            .map(|&extent| {
                let at = rest % extent;
                rest /= extent;
                at
            })
            .collect();
        index.reverse();
        index
    })
}

// Returns the index that has one part at some axes, and the other at the others.
fn merged(
    rank: usize,
    kept: &[usize],
    outer: &[usize],
    axes: &[usize],
    inner: &[usize],
) -> Vec<usize> {
    let mut index = vec![0; rank];
    for (&axis, &i) in kept.iter().zip(outer).chain(axes.iter().zip(inner)) {
        index[axis] = i;
    }
    index
}
