//! Variables in the ordered comparison: looking them up, binding them, and refusing shadowing.

use super::BindingRegion;
use super::compare_frames::CompareOnClose;
use super::compare_state::{BindingSite, Side};
use super::ordered_equal::{DifferenceCause, OrderedComparison, PairOutcome};
use crate::error::Error;
use crate::path::NodePath;
use crate::reference::NodeRef;
use crate::values::Value;
use crate::view::View;

impl<'a> OrderedComparison<'_, 'a> {
    pub(super) fn compare_variables(
        &mut self,
        left: NodeRef<'a>,
        right: NodeRef<'a>,
        region: BindingRegion,
    ) -> Result<PairOutcome, Error> {
        let ids = [left.id(), right.id()];
        let (binds, plain) = (!region.leaves_free(), left.info().compares_nothing());
        let bound = [self.state.binding(Side::Left, left), self.state.binding(Side::Right, right)];
        if region.is_def() {
            let depth = self.state.scopes.depth();
            for (binding, variable) in bound.iter().zip([left, right]) {
                if let Some((number, binding)) = binding
                    && (1..depth).contains(&binding.depth())
                {
                    return Err(self.shadowing_error(*number, variable));
                }
            }
        }
        match bound {
            [Some((_, binding)), _] if binding.on(Side::Right) == ids[1] => {
                self.state.scopes.touch(binding.depth());
                Ok(PairOutcome::Equal)
            }
            [Some((number, _)), _] | [None, Some((number, _))] => {
                Ok(PairOutcome::Differ(DifferenceCause::Binding(Some(number))))
            }
            [None, None] if binds && plain => {
                self.bind(left, right, region, region.is_below_var());
                Ok(PairOutcome::Equal)
            }
            [None, None] if binds => {
                let shared = self.below_shared();
                let hidden = region.is_below_var();
                let outcome =
                    self.open_frame(left, right, region.below_var(), CompareOnClose::Bind, shared)?;
                if let (PairOutcome::Opened, Some(top)) = (&outcome, self.frames.last_mut()) {
                    top.hidden = hidden;
                }
                Ok(outcome)
            }
            [None, None] if ids[0] == ids[1] => {
                self.record_binding_site(View::Node(left), View::Node(right));
                self.state.bind_free(left);
                Ok(PairOutcome::Equal)
            }
            [None, None] => Ok(PairOutcome::Differ(DifferenceCause::Binding(None))),
        }
    }

    /// Binds two variables to each other. `hidden` tells that they first occur below another variable.
    pub(super) fn bind(
        &mut self,
        left: NodeRef<'a>,
        right: NodeRef<'a>,
        region: BindingRegion,
        hidden: bool,
    ) {
        self.record_binding_site(View::Node(left), View::Node(right));
        let depth = self.binding_depth(region);
        self.state.bind((left, right), depth, hidden);
    }

    /// Returns the depth of the scope that binds a variable which first occurs in a region.
    pub(super) fn binding_depth(&self, region: BindingRegion) -> u32 {
        if region.binds_in_scope() { self.state.scopes.depth() } else { 0 }
    }

    pub(super) fn shadowing_error(&mut self, number: usize, variable: NodeRef<'a>) -> Error {
        let shown = format!("{:?}", Value::of(View::Node(variable)));
        Error::Shadowing {
            variable: shown,
            outer: NodePath::root(),
            inner: self.path(Side::Left),
            binding: number,
        }
    }

    /// Records the site of the next binding, if it is wanted.
    #[inline]
    pub(super) fn record_binding_site(&mut self, left: View<'a>, right: View<'a>) {
        if !self.mode.locate || !self.state.is_next_binding_site_wanted() {
            return;
        }
        let [left, right] = [left, right].map(|view| format!("{:?}", Value::of(view)));
        let mut at = self.path(Side::Left);
        for outer in self.state.outer_paths.iter().rev() {
            at.prepend(outer.clone());
        }
        self.state.set_next_binding_site(BindingSite { left, right, at });
    }
}
