//! A region that moves from the root to another instruction, with fewer parameters and results.

use sapwood_ptir::{BodyId, Function, RegionSignature, ValueId, ValueType};
use smallvec::SmallVec;

use super::patch::PatchError;
use crate::rewriter::{ProgramRewriter, RewriteError};

/// A region that moves from the root to an instruction staged with [`Rewrite::emit_with_regions`](super::Rewrite::emit_with_regions).
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct MovedRegion {
    body: BodyId,
    // The parameters to remove, with their replacements.
    params: SmallVec<[(usize, ValueId); 2]>,
    // The results to remove.
    results: SmallVec<[usize; 2]>,
}

impl MovedRegion {
    /// Moves the region unchanged.
    #[must_use]
    pub fn new(body: BodyId) -> Self {
        Self { body, params: SmallVec::new(), results: SmallVec::new() }
    }

    /// Removes the n-th parameter, counted before any removal: its uses become uses of a value of the same type. An unused
    /// parameter may be given as its own replacement. A patch is refused if a parameter does not exist or is removed twice.
    #[must_use]
    pub fn replace_param(mut self, n: usize, value: ValueId) -> Self {
        self.params.push((n, value));
        self
    }

    /// Removes the n-th result, counted before any removal.
    #[must_use]
    pub fn drop_result(mut self, n: usize) -> Self {
        self.results.push(n);
        self
    }

    pub(super) fn body(&self) -> BodyId {
        self.body
    }

    /// Returns the replacements of the parameters that are used.
    pub(super) fn replacements<'a>(
        &'a self,
        f: &'a Function,
    ) -> impl Iterator<Item = ValueId> + 'a {
        let params = f.body_params(self.body);
        let unused =
            |&(n, value): &(usize, ValueId)| params.get(n) == Some(&value) && f.unused(value);
        self.params.iter().filter(move |p| !unused(p)).map(|(_, value)| *value)
    }

    pub(super) fn map_values(&mut self, map: impl Fn(&mut ValueId)) {
        self.params.iter_mut().for_each(|(_, value)| map(value));
    }

    /// Checks that the removed parameters and results exist, and that the replacements have their types.
    pub(super) fn check<'a>(
        &self,
        f: &'a Function,
        type_of: impl Fn(ValueId) -> Option<&'a ValueType>,
    ) -> Result<(), PatchError> {
        let params = f.body_params(self.body);
        for &(n, value) in &self.params {
            let expected =
                params.get(n).map(|&p| f.value_type(p)).ok_or(PatchError::NoSuchParamOrResult)?;
            let found = type_of(value).ok_or(PatchError::NotAvailable(value))?;
            if found != expected {
                let (expected, found) = (Box::new(expected.clone()), Box::new(found.clone()));
                return Err(PatchError::ParamType { expected, found });
            }
        }
        let mut places: SmallVec<[usize; 4]> = self.params.iter().map(|(n, _)| *n).collect();
        places.sort_unstable();
        if places.windows(2).any(|pair| pair[0] == pair[1]) {
            return Err(PatchError::NoSuchParamOrResult);
        }
        let count = f.body_results(self.body).len();
        if self.results.iter().all(|&n| n < count) {
            Ok(())
        } else {
            Err(PatchError::NoSuchParamOrResult)
        }
    }

    /// Returns the signature of the region after the removals.
    pub(super) fn new_signature<'a>(&self, f: &'a Function) -> RegionSignature<'a> {
        let sig = f.region_signature(self.body);
        let params =
            without_indices(sig.params.iter().copied(), self.params.iter().map(|(n, _)| *n));
        let results = sig.results.map(|list| {
            without_indices(list.iter().copied(), self.results.iter().copied()).collect()
        });
        RegionSignature { params: params.collect(), results }
    }

    /// Removes the parameters and results from the body, which the root still owns.
    pub(super) fn apply(&self, rw: &mut ProgramRewriter<'_>) -> Result<(), RewriteError> {
        let f = rw.function();
        if let Some(end) = f.terminator(self.body).filter(|_| !self.results.is_empty()) {
            let kept =
                without_indices(f.operands(end).iter().copied(), self.results.iter().copied());
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

// Returns a list without the elements at some indices.
fn without_indices<T>(
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
