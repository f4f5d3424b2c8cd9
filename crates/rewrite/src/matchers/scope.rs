//! The functions that matchers read.

use sapwood_ptir::{Function, InstId, TensorLiteral, TensorType, ValueId};

use super::Matcher;
use crate::pattern::Rewrite;
use crate::rewriter::constant_of;

/// Returns `Some` if a value of a function matches. Then the captures of the matcher are set; otherwise they are unspecified. Patterns
/// use [`Rewrite::matches`] instead.
#[inline]
pub fn matches(mut function: &Function, value: ValueId, mut matcher: impl Matcher) -> Option<()> {
    matcher.search(value, &mut function, &mut |_| true).then_some(())
}

/// A function that matchers read: a [`Rewrite`], which counts the definitions that a pattern reads, or a `&Function`.
pub trait MatchScope {
    /// Returns the function.
    fn function(&self) -> &Function;
    /// Returns the instruction that defines a value.
    fn def_inst(&mut self, value: ValueId) -> Option<InstId>;
    /// Returns the type of a value that is a tensor.
    fn tensor(&self, value: ValueId) -> Option<&TensorType>;
    /// Returns true if exactly one operand is this value.
    fn one_use(&self, value: ValueId) -> bool;
    /// Returns the literal of a constant, or of a broadcast of a scalar constant.
    fn constant_of(&mut self, value: ValueId) -> Option<TensorLiteral>;
    /// Returns true if all elements of a value are known to be this number.
    fn is_number(&mut self, value: ValueId, number: f64) -> bool;
}

impl MatchScope for Rewrite<'_> {
    fn function(&self) -> &Function {
        Rewrite::function(self)
    }
    #[inline]
    fn def_inst(&mut self, value: ValueId) -> Option<InstId> {
        Rewrite::def_inst(self, value)
    }
    fn tensor(&self, value: ValueId) -> Option<&TensorType> {
        Rewrite::tensor(self, value)
    }
    fn one_use(&self, value: ValueId) -> bool {
        Rewrite::one_use(self, value)
    }
    fn constant_of(&mut self, value: ValueId) -> Option<TensorLiteral> {
        Rewrite::constant_of(self, value)
    }
    fn is_number(&mut self, value: ValueId, number: f64) -> bool {
        Rewrite::is_number(self, value, number)
    }
}

impl MatchScope for &Function {
    fn function(&self) -> &Function {
        self
    }
    #[inline]
    fn def_inst(&mut self, value: ValueId) -> Option<InstId> {
        self.inst_of(value)
    }
    fn tensor(&self, value: ValueId) -> Option<&TensorType> {
        self.value_type(value).as_tensor()
    }
    fn one_use(&self, value: ValueId) -> bool {
        Function::one_use(self, value)
    }
    fn constant_of(&mut self, value: ValueId) -> Option<TensorLiteral> {
        constant_of(self, value)
    }
    fn is_number(&mut self, value: ValueId, number: f64) -> bool {
        match Function::constant_of(self, value) {
            Some(literal) => literal.is_filled_with(number),
            None => constant_of(self, value).is_some_and(|l| l.is_filled_with(number)),
        }
    }
}

impl Rewrite<'_> {
    /// Returns `Some` if the first result of the root matches. Then the captures of the matcher are set.
    #[inline]
    pub fn matches_root(&mut self, matcher: impl Matcher) -> Option<()> {
        self.matches(self.result(0)?, matcher)
    }

    /// Returns `Some` if a value matches. Then the captures of the matcher are set; otherwise they are unspecified.
    #[inline]
    pub fn matches(&mut self, value: ValueId, mut matcher: impl Matcher) -> Option<()> {
        matcher.search(value, self, &mut |_| true).then_some(())
    }
}
