//! Loops that use the vector instructions of the machine.

struct VectorLoop<F>(F);

impl<R, F: FnMut() -> R> pulp::WithSimd for VectorLoop<F> {
    type Output = R;

    // A closure that is called once would be called through a function of the compiler, which is not always inlined.
    #[inline(always)]
    fn with_simd<S: pulp::Simd>(self, _: S) -> R {
        let mut work = self.0;
        work()
    }
}

/// Runs a loop, compiled for the vector instructions of the machine. The closure must be `#[inline(always)]`, as must be everything that it
/// calls per element: code that is not inlined has only the instructions that all machines have.
#[inline(always)]
pub(crate) fn vectorized<R>(work: impl FnMut() -> R) -> R {
    pulp::Arch::new().dispatch(VectorLoop(work))
}
