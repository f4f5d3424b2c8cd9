//! Where and why two programs differ.

use std::fmt;

use sapwood_structural::{NodePath, PathStep};
use sapwood_types::Span;

use crate::func::Function;
use crate::ids::{BodyId, InstId};
use crate::name::Name;
use crate::text::print_inst;

/// A place in a program, such as `@f.body[3].operands[1]`.
#[derive(Clone, PartialEq, Debug)]
pub struct Location {
    /// The function.
    pub function: Name,
    /// The way from the function to the place.
    pub path: NodePath,
    /// Where it was written.
    pub span: Span,
    /// What stands there, abridged.
    pub shown: String,
}

impl Location {
    /// The place of a function.
    #[must_use]
    pub fn function(f: &Function) -> Self {
        Self {
            function: f.name(),
            path: NodePath::root(),
            span: f.span(),
            shown: format!("func @{}", f.name()),
        }
    }

    /// The place of an instruction.
    #[must_use]
    pub fn inst(f: &Function, inst: InstId) -> Self {
        Self {
            function: f.name(),
            path: inst_path(f, inst),
            span: f.inst_span(inst),
            shown: print_inst(f, inst),
        }
    }

    /// The place of a body.
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

    /// A field of what stands here.
    #[must_use]
    pub fn field(self, name: &str) -> Self {
        self.step(PathStep::Field(name.into()))
    }

    /// An element of what stands here.
    #[must_use]
    pub fn index(self, index: usize) -> Self {
        self.step(PathStep::Index(index))
    }

    fn step(mut self, step: PathStep) -> Self {
        self.path = self.path.join(&step.into());
        self
    }
}

// From the function inwards: the position in each body on the way.
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

/// Why two places differ.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum Reason {
    /// Other ops.
    Op {
        /// On the left.
        left: &'static str,
        /// On the right.
        right: &'static str,
    },
    /// An attribute differs.
    Attribute {
        /// Its name.
        name: String,
        /// On the left.
        left: String,
        /// On the right.
        right: String,
    },
    /// A type differs.
    Type {
        /// On the left.
        left: String,
        /// On the right.
        right: String,
    },
    /// There are more of something on one side.
    Length {
        /// Of what.
        what: &'static str,
        /// On the left.
        left: usize,
        /// On the right.
        right: usize,
    },
    /// Two values that are used alike were not defined alike.
    Binding {
        /// The value on the left.
        left: String,
        /// The value on the right.
        right: String,
    },
    /// A name that counts differs.
    Name {
        /// On the left.
        left: String,
        /// On the right.
        right: String,
    },
    /// Something is there on one side only.
    Missing {
        /// Whether it is on the left.
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
                write!(f, "{left} on the left and {right} on the right do not stand for each other")
            }
            Self::Name { left, right } => {
                write!(f, "name {left} on the left, {right} on the right")
            }
            Self::Missing { on_left: true } => f.write_str("only on the left"),
            Self::Missing { on_left: false } => f.write_str("only on the right"),
        }
    }
}

/// The first difference of two programs.
#[derive(Clone, PartialEq, Debug)]
pub struct Mismatch {
    /// Where on the left.
    pub left: Location,
    /// Where on the right.
    pub right: Location,
    /// Why.
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
