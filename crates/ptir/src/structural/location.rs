//! The location and the reason of a mismatch.

use std::fmt;

use sapwood_structural::{NodePath, PathStep};
use sapwood_types::Span;

use crate::func::Function;
use crate::ids::{BodyId, InstId};
use crate::name::Name;
use crate::text::print_inst;

/// A location in a program, such as `@f.body[3].operands[1]`.
#[derive(Clone, PartialEq, Debug)]
pub struct Location {
    /// The function.
    pub function: Name,
    /// The path from the function to the location.
    pub path: NodePath,
    /// The source span.
    pub span: Span,
    /// The function, instruction or body at the location, as abridged text.
    pub shown: String,
}

impl Location {
    /// Returns the location of a function.
    #[must_use]
    pub fn function(f: &Function) -> Self {
        Self {
            function: f.name(),
            path: NodePath::root(),
            span: f.span(),
            shown: format!("func @{}", f.name()),
        }
    }

    /// Returns the location of an instruction.
    #[must_use]
    pub fn inst(f: &Function, inst: InstId) -> Self {
        Self {
            function: f.name(),
            path: inst_path(f, inst),
            span: f.inst_span(inst),
            shown: print_inst(f, inst),
        }
    }

    /// Returns the location of a body.
    #[must_use]
    pub fn body(f: &Function, body: BodyId) -> Self {
        match f.body_owner(body) {
            Some(owner) => {
                let slot = f.regions(owner).iter().position(|&b| b == body).unwrap_or(0);
                Self::inst(f, owner).field("regions").index(slot)
            }
            None => Self::function(f).field("body"),
        }
    }

    /// Returns the location of a field of this location.
    #[must_use]
    pub fn field(self, name: &str) -> Self {
        self.step(PathStep::Field(name.into()))
    }

    /// Returns the location of an element of this location.
    #[must_use]
    pub fn index(self, index: usize) -> Self {
        self.step(PathStep::Index(index))
    }

    fn step(mut self, step: PathStep) -> Self {
        self.path = self.path.join(&step.into());
        self
    }
}

// Returns the path from the function to an instruction: its position in each enclosing body.
fn inst_path(f: &Function, inst: InstId) -> NodePath {
    let mut steps = Vec::new();
    let mut at = inst;
    loop {
        let before = std::iter::successors(f.prev_inst(at), |&i| f.prev_inst(i));
        steps.push(PathStep::Index(before.count()));
        let Some(body) = f.body_of(at) else { break };
        let Some(owner) = f.body_owner(body) else {
            steps.push(PathStep::Field("body".into()));
            break;
        };
        let slot = f.regions(owner).iter().position(|&b| b == body).unwrap_or(0);
        steps.push(PathStep::Index(slot));
        steps.push(PathStep::Field("regions".into()));
        at = owner;
    }
    steps.into_iter().rev().collect()
}

impl fmt::Display for Location {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let path = self.path.to_string();
        write!(f, "@{}{}", self.function, path.strip_prefix("<root>").unwrap_or(&path))
    }
}

/// The reason why two locations differ.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum Reason {
    /// The ops differ.
    Op {
        /// The left side.
        left: &'static str,
        /// The right side.
        right: &'static str,
    },
    /// An attribute differs.
    Attribute {
        /// Its name.
        name: String,
        /// The left side.
        left: String,
        /// The right side.
        right: String,
    },
    /// A type differs.
    Type {
        /// The left side.
        left: String,
        /// The right side.
        right: String,
    },
    /// The numbers of something differ.
    Length {
        /// The things that were counted.
        what: &'static str,
        /// The left side.
        left: usize,
        /// The right side.
        right: usize,
    },
    /// Two values that are used in the same place have definitions that do not correspond.
    Binding {
        /// The value on the left.
        left: String,
        /// The value on the right.
        right: String,
    },
    /// A name that is compared differs.
    Name {
        /// The left side.
        left: String,
        /// The right side.
        right: String,
    },
    /// Something exists on one side only.
    Missing {
        /// True if it exists on the left side.
        on_left: bool,
    },
}

impl fmt::Display for Reason {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Op { left, right } => write!(f, "op {left} on the left, {right} on the right"),
            Self::Attribute { name, left, right } => {
                write!(f, "attribute `{name}` is {left} on the left, {right} on the right")
            }
            Self::Type { left, right } => {
                write!(f, "type {left} on the left, {right} on the right")
            }
            Self::Length { what, left, right } => {
                write!(f, "{left} {what} on the left, {right} on the right")
            }
            Self::Binding { left, right } => {
                write!(f, "{left} on the left and {right} on the right do not correspond")
            }
            Self::Name { left, right } => {
                write!(f, "name {left} on the left, {right} on the right")
            }
            Self::Missing { on_left: true } => f.write_str("only on the left"),
            Self::Missing { on_left: false } => f.write_str("only on the right"),
        }
    }
}

/// The first difference between two programs.
#[derive(Clone, PartialEq, Debug)]
pub struct Mismatch {
    /// The location on the left.
    pub left: Location,
    /// The location on the right.
    pub right: Location,
    /// The reason.
    pub reason: Reason,
}

impl Mismatch {
    pub(super) fn missing(f: &Function, on_left: bool) -> Self {
        let here = Location::function(f);
        let none = Location { span: Span::unknown(), shown: "nothing".into(), ..here.clone() };
        let (left, right) = if on_left { (here, none) } else { (none, here) };
        Self { left, right, reason: Reason::Missing { on_left } }
    }
}

impl fmt::Display for Mismatch {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        writeln!(f, "{}", self.reason)?;
        writeln!(f, "  left  {}: {}", self.left, self.left.shown)?;
        write!(f, "  right {}: {}", self.right, self.right.shown)
    }
}
