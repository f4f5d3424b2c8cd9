//! Relations between dim expressions: `?B >= 1`, `mod(?S, 8) == 0`.

use std::fmt;
use std::str::FromStr;

use super::expr::DimExpr;
use super::text::{DimTextError, Parser};
use crate::name::Name;

/// A relation of a `where` clause: an expression that is at least zero, or zero.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub struct Relation {
    /// The expression.
    pub expr: DimExpr,
    /// True if the expression is zero; otherwise it is at least zero.
    pub equation: bool,
}

impl Relation {
    /// Returns whether the relation holds for some values of the symbols, or `None` if a symbol has no value or a number overflows.
    #[must_use]
    pub fn holds(self, value: &dyn Fn(Name) -> Option<i64>) -> Option<bool> {
        let number = self.expr.evaluate_wide(value)?;
        Some(if self.equation { number == 0 } else { number >= 0 })
    }

    /// Reads the relation at the start of a text, and returns it with its number of bytes.
    pub(crate) fn parse_prefix(text: &str) -> Result<(Self, usize), DimTextError> {
        let mut parser = Parser::new(text);
        let left = parser.sum()?;
        let Some(operator) = ["==", ">=", "<=", ">", "<"].into_iter().find(|op| parser.eat(op))
        else {
            return Err(parser.error("expected `==`, `>=`, `<=`, `>` or `<`"));
        };
        let right = parser.sum()?;
        let (larger, smaller, least) = match operator {
            "==" | ">=" => (left, right, 0),
            "<=" => (right, left, 0),
            ">" => (left, right, 1),
            _ => (right, left, 1),
        };
        let least = DimExpr::constant(least);
        let expr = larger.checked_sub(smaller).zip(least).and_then(|(e, n)| e.checked_sub(n));
        let expr = parser.within_limits(0, expr)?;
        Ok((Self { expr, equation: operator == "==" }, parser.offset()))
    }
}

// `?B - 1 >= 0` is written `?B >= 1`, and `-?B + 8 >= 0` is written `?B <= 8`.
impl fmt::Display for Relation {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let parts = self.expr.without_constant();
        let Some((terms, constant, negated)) = parts else {
            let operator = if self.equation { "==" } else { ">=" };
            return write!(f, "{} {operator} 0", self.expr);
        };
        let operator = match (self.equation, negated) {
            (true, _) => "==",
            (false, false) => ">=",
            (false, true) => "<=",
        };
        write!(f, "{terms} {operator} {constant}")
    }
}

impl FromStr for Relation {
    type Err = DimTextError;

    fn from_str(text: &str) -> Result<Self, DimTextError> {
        let (relation, length) = Self::parse_prefix(text)?;
        match text[length..].trim().is_empty() {
            true => Ok(relation),
            false => Err(DimTextError {
                message: "expected the end of the relation".into(),
                offset: length,
            }),
        }
    }
}
