//! How a comparison meets variables: looks them up, binds them, refuses shadowing.

use super::Region;
use super::equal::{Cause, Comparison, Verdict};
use super::frames::After;
use super::state::{Bound, Side};
use crate::error::Error;
use crate::graph::{Graph, ViewOf};
use crate::path::Path;
use crate::view::View;

impl<'a, G: Graph<'a>> Comparison<'_, 'a, G> {
    pub(super) fn compare_variables(
        &mut self,
        left: G::Node,
        right: G::Node,
        region: Region,
    ) -> Result<Verdict, Error> {
        let ids = [self.g.id(left), self.g.id(right)];
        let (binds, plain) = (!region.leaves_free(), self.g.info(left).compares_nothing());
        let bound = [
            self.state.binding(self.g, Side::Left, left),
            self.state.binding(self.g, Side::Right, right),
        ];
        if region.is_def() {
            let depth = self.state.scopes.depth();
            for (binding, variable) in bound.iter().zip([left, right]) {
                if let Some((number, binding)) = binding
                    && (1..depth).contains(&binding.depth())
                {
                    return Err(self.shadowing(*number, variable));
                }
            }
        }
        match bound {
            [Some((_, binding)), _] if binding.on(Side::Right) == ids[1] => {
                self.state.scopes.touch(binding.depth());
                Ok(Verdict::Equal)
            }
            [Some((number, _)), _] | [None, Some((number, _))] => {
                Ok(Verdict::Differ(Cause::Binding(Some(number))))
            }
            [None, None] if binds && plain => {
                self.bind(left, right, region, region.is_below_var());
                Ok(Verdict::Equal)
            }
            [None, None] if binds => {
                let shared = self.below_shared();
                let hidden = region.is_below_var();
                let verdict = self.open(left, right, region.below_var(), After::Bind, shared)?;
                if let (Verdict::Opened, Some(top)) = (&verdict, self.frames.last_mut()) {
                    top.hidden = hidden;
                }
                Ok(verdict)
            }
            [None, None] if ids[0] == ids[1] => {
                self.locate(View::Node(left), View::Node(right));
                self.state.bind_free(self.g, left);
                Ok(Verdict::Equal)
            }
            [None, None] => Ok(Verdict::Differ(Cause::Binding(None))),
        }
    }

    /// Binds two variables to each other, `hidden` if they were met below another one.
    pub(super) fn bind(&mut self, left: G::Node, right: G::Node, region: Region, hidden: bool) {
        self.locate(View::Node(left), View::Node(right));
        let depth = self.depth_in(region);
        self.state.bind(self.g, (left, right), depth, hidden);
    }

    /// The depth of the scope that binds what is first met in a region.
    pub(super) fn depth_in(&self, region: Region) -> u32 {
        if region.binds_in_scope() { self.state.scopes.depth() } else { 0 }
    }

    pub(super) fn shadowing(&mut self, number: usize, variable: G::Node) -> Error {
        let shown = format!("{:?}", self.g.shown(View::Node(variable)));
        Error::Shadowing {
            variable: shown,
            outer: Path::root(),
            inner: self.path(Side::Left),
            binding: number,
        }
    }

    /// Takes note of where the binding about to be made is, if that is asked for.
    #[inline]
    pub(super) fn locate(&mut self, left: ViewOf<'a, G>, right: ViewOf<'a, G>) {
        if !self.mode.locate || !self.state.is_wanted() {
            return;
        }
        let [left, right] = [left, right].map(|view| format!("{:?}", self.g.shown(view)));
        let mut at = self.path(Side::Left);
        for outer in self.state.outer.iter().rev() {
            at.prefix(outer.clone());
        }
        self.state.found_place(Bound { left, right, at });
    }
}
