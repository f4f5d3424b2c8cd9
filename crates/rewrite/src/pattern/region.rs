//! A region of the root on its way to another instruction, with fewer parameters and results.

use sapwood_ptir::{BodyId, Function, RegionSignature, ValueId, ValueType};
use smallvec::SmallVec;

use super::patch::PatchError;
use crate::rewriter::{ProgramRewriter, RewriteError};

/// A region that moves from the root to an emitted instruction: [`Rewrite::emit_with_regions`](super::Rewrite::emit_with_regions).
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct MovedRegion {
    body: BodyId,
    // Parameters that go, with what stands in their place.
    params: SmallVec<[(usize, ValueId); 2]>,
    // Results that go.
    results: SmallVec<[usize; 2]>,
}

impl MovedRegion {
    /// The region as it is.
    #[must_use]
    pub fn new(body: BodyId) -> Self {
        Self { body, params: SmallVec::new(), results: SmallVec::new() }
    }

    /// Without its n-th parameter, counted as it is now: uses of it become uses of a value of the same type. One that
    /// nobody uses may stand for itself. A patch with a parameter that is not there, or there twice, is refused.
    #[must_use]
    pub fn replace_param(mut self, n: usize, value: ValueId) -> Self {
        self.params.push((n, value));
        self
    }

    /// Without its n-th result, counted as it is now.
    #[must_use]
    pub fn drop_result(mut self, n: usize) -> Self {
        self.results.push(n);
        self
    }

    pub(super) fn body(&self) -> BodyId {
        self.body
    }

    /// What stands in the place of parameters that are used.
    pub(super) fn values<'a>(&'a self, f: &'a Function) -> impl Iterator<Item = ValueId> + 'a {
        let params = f.body_params(self.body);
        let unused =
            |&(n, value): &(usize, ValueId)| params.get(n) == Some(&value) && f.unused(value);
        self.params.iter().filter(move |p| !unused(p)).map(|(_, value)| *value)
    }

    pub(super) fn map_values(&mut self, map: impl Fn(&mut ValueId)) {
        self.params.iter_mut().for_each(|(_, value)| map(value));
    }

    /// Whether what is replaced is there and has the same type.
    pub(super) fn check<'a>(
        &self,
        f: &'a Function,
        type_of: impl Fn(ValueId) -> Option<&'a ValueType>,
    ) -> Result<(), PatchError> {
        let params = f.body_params(self.body);
        for &(n, value) in &self.params {
            let expected = params.get(n).map(|&p| f.value_type(p)).ok_or(PatchError::Edited)?;
            let found = type_of(value).ok_or(PatchError::NotAvailable(value))?;
            if found != expected {
                let (expected, found) = (Box::new(expected.clone()), Box::new(found.clone()));
                return Err(PatchError::ParamType { expected, found });
            }
        }
        let mut places: SmallVec<[usize; 4]> = self.params.iter().map(|(n, _)| *n).collect();
        places.sort_unstable();
        if places.windows(2).any(|pair| pair[0] == pair[1]) {
            return Err(PatchError::Edited);
        }
        let there = f.body_results(self.body).len();
        if self.results.iter().all(|&n| n < there) { Ok(()) } else { Err(PatchError::Edited) }
    }

    /// What the region will take and yield.
    pub(super) fn sig<'a>(&self, f: &'a Function) -> RegionSignature<'a> {
        let sig = f.region_signature(self.body);
        let params = without(sig.params.iter().copied(), self.params.iter().map(|(n, _)| *n));
        let results = sig
            .results
            .map(|list| without(list.iter().copied(), self.results.iter().copied()).collect());
        RegionSignature { params: params.collect(), results }
    }

    /// Changes the body, which the root still owns.
    pub(super) fn apply(&self, rw: &mut ProgramRewriter<'_>) -> Result<(), RewriteError> {
        let f = rw.function();
        if let Some(end) = f.terminator(self.body).filter(|_| !self.results.is_empty()) {
            let kept = without(f.operands(end).iter().copied(), self.results.iter().copied());
            let kept: SmallVec<[ValueId; 4]> = kept.collect();
            rw.set_yields(end, &kept)?;
        }
        let mut params = self.params.clone();
        params.sort_by_key(|(n, _)| std::cmp::Reverse(*n));
        for &(n, value) in &params {
            if let Some(&param) = rw.function().body_params(self.body).get(n) {
                rw.replace_all_uses(param, value)?;
            }
        }
        let gone: SmallVec<[usize; 4]> = params.iter().map(|(n, _)| *n).collect();
        rw.drop_params(self.body, &gone)
    }
}

// A list without the ones at some places.
fn without<T>(
    list: impl ExactSizeIterator<Item = T>,
    gone: impl Iterator<Item = usize>,
) -> impl Iterator<Item = T> {
    let mut stays: SmallVec<[bool; 16]> = SmallVec::from_elem(true, list.len());
    for n in gone {
        if let Some(stays) = stays.get_mut(n) {
            *stays = false;
        }
    }
    list.zip(stays).filter_map(|(item, stays)| stays.then_some(item))
}
