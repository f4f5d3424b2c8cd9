//! Classes of dims that are equal in every match, each with its number if that is known.

use std::collections::{BTreeMap, HashMap};

use rustc_hash::FxBuildHasher;
use sapwood_ptir::dims::DimExpr;
use sapwood_ptir::{Dim, Name};
use smallvec::SmallVec;

use super::element_types::{ElementTypes, TypeSet};
use crate::graph::{DimTest, OpIx, ShapeTest, ValueIx};

/// The dims of a value.
#[derive(Clone, Debug)]
struct ClassShape {
    /// Any dims may precede these.
    open: bool,
    dims: Vec<usize>,
}

/// A known part of the dims of a value.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum DimFact {
    Any,
    Known(u64),
    Class(usize),
}

/// A reason why no program has the dims that are required.
#[derive(Clone, Debug)]
pub(super) struct DimConflict(pub(super) String);

impl DimConflict {
    /// Names the value in a reason such as `its rank would be both 2 and 3`.
    pub(super) fn about(self, name: &str) -> Self {
        match self.0.strip_prefix("its ").and_then(|rest| rest.split_once(" would ")) {
            Some((what, rest)) => Self(format!("the {what} of `{name}` would {rest}")),
            None => self,
        }
    }
}

/// A union-find of dims, and the dims of values.
#[derive(Clone, Debug)]
pub(super) struct DimClasses {
    parent: Vec<usize>,
    known: Vec<Option<u64>>,
    /// A name in the class, for messages.
    shown: Vec<Option<Name>>,
    names: HashMap<Name, usize, FxBuildHasher>,
    shapes: Vec<Option<ClassShape>>,
    pub(super) elements: ElementTypes,
    /// The dims of results that are expressions over other dims, by op and axis.
    sums: BTreeMap<(OpIx, usize), DimSum>,
    /// The number of changes so far.
    pub(super) changes: usize,
}

/// A dim that is an expression over the symbols of other dims.
#[derive(Clone, Debug)]
pub(super) struct DimSum {
    pub(super) value: ValueIx,
    pub(super) axis: usize,
    pub(super) is: DimExpr,
}

impl DimClasses {
    /// Creates classes for this many values, of which nothing is known.
    pub(super) fn new(values: usize) -> Self {
        let (parent, known, shown) = (Vec::new(), Vec::new(), Vec::new());
        let (shapes, elements) = (vec![None; values], ElementTypes::new(values));
        let (names, sums) = (HashMap::default(), BTreeMap::new());
        Self { parent, known, shown, names, shapes, elements, sums, changes: 0 }
    }

    /// Returns the class of a name, if a type that is required has it.
    pub(super) fn named(&self, name: Name) -> Option<usize> {
        Some(self.find(*self.names.get(&name)?))
    }

    /// Returns a dim for inference: its number, or a symbol for its class.
    pub(super) fn symbolic(&self, class: usize) -> Dim {
        let class = self.find(class);
        match self.known[class] {
            Some(n) => Dim::Known(n),
            None => Dim::symbol(Name::new(&format!("d{class}"))),
        }
    }

    /// Returns the class of a symbol that stands for one.
    pub(super) fn class_of(&self, symbol: Name) -> Option<usize> {
        let class = symbol.as_str().strip_prefix('d')?.parse::<usize>().ok()?;
        (class < self.parent.len()).then(|| self.find(class))
    }

    /// Returns a text in which symbols of classes are the names of dims.
    pub(super) fn with_names(&self, text: &str) -> String {
        with_symbols(text, |symbol| match self.class_of(Name::new(symbol)) {
            Some(class) => self.shown(class),
            None => "_".into(),
        })
    }

    /// Adds that a dim of a result is an expression over other dims.
    pub(super) fn add_sum(&mut self, key: (OpIx, usize), sum: DimSum) {
        self.sums.insert(key, sum);
    }

    /// Returns the dims that are expressions over others.
    pub(super) fn sums(&self) -> impl Iterator<Item = (OpIx, &DimSum)> {
        self.sums.iter().map(|(key, sum)| (key.0, sum))
    }

    /// Returns whether a value may have these dims, as far as numbers tell.
    pub(super) fn may_have(&self, value: ValueIx, dims: &[DimFact]) -> bool {
        let Some(own) = &self.shapes[value] else { return true };
        if own.dims.len() > dims.len() || own.dims.len() < dims.len() && !own.open {
            return false;
        }
        // The numbers that classes would have.
        let mut numbers: SmallVec<[(usize, u64); 4]> = SmallVec::new();
        let mut set = |class: usize, n: u64| match numbers.iter().find(|(own, _)| *own == class) {
            Some((_, old)) => *old == n,
            None => {
                numbers.push((class, n));
                true
            }
        };
        own.dims.iter().rev().zip(dims.iter().rev()).all(|(&class, fact)| {
            let class = self.find(class);
            let new = match *fact {
                DimFact::Any => None,
                DimFact::Known(n) => Some(n),
                DimFact::Class(other) => self.number(other),
            };
            match (self.known[class], new) {
                (Some(m), Some(n)) => m == n,
                (None, Some(n)) => set(class, n),
                (_, None) => true,
            }
        })
    }

    fn new_class(&mut self, known: Option<u64>, shown: Option<Name>) -> usize {
        self.parent.push(self.parent.len());
        self.known.push(known);
        self.shown.push(shown);
        self.parent.len() - 1
    }

    /// Returns the representative of a class.
    pub(super) fn find(&self, mut class: usize) -> usize {
        while self.parent[class] != class {
            class = self.parent[class];
        }
        class
    }

    /// Returns the number of a class.
    pub(super) fn number(&self, class: usize) -> Option<u64> {
        self.known[self.find(class)]
    }

    /// Makes two dims equal.
    pub(super) fn union(&mut self, a: usize, b: usize) -> Result<(), DimConflict> {
        let (a, b) = (self.find(a), self.find(b));
        if a == b {
            return Ok(());
        }
        let number = match (self.known[a], self.known[b]) {
            (Some(m), Some(n)) if m != n => {
                let why = match (self.shown[a], self.shown[b]) {
                    (Some(x), Some(y)) if x != y => {
                        format!("`{x}` and `{y}` would be equal, but one is {m} and the other {n}")
                    }
                    (Some(x), _) | (_, Some(x)) => {
                        format!("`{x}` would be both {} and {}", m.min(n), m.max(n))
                    }
                    _ => format!("a dim would be both {} and {}", m.min(n), m.max(n)),
                };
                return Err(DimConflict(why));
            }
            (m, n) => m.or(n),
        };
        // The older class stays, so that names of the types written first are shown.
        let (old, new) = (a.min(b), a.max(b));
        self.parent[new] = old;
        self.known[old] = number;
        self.shown[old] = self.shown[old].or(self.shown[new]);
        self.changes += 1;
        Ok(())
    }

    /// Gives a dim its number.
    pub(super) fn set(&mut self, class: usize, number: u64) -> Result<(), DimConflict> {
        let other = self.new_class(Some(number), None);
        self.union(class, other)
    }

    /// Returns the dims of a value whose rank is known.
    pub(super) fn closed(&self, value: ValueIx) -> Option<Vec<usize>> {
        let shape = self.shapes[value].as_ref().filter(|shape| !shape.open)?;
        Some(shape.dims.iter().map(|&dim| self.find(dim)).collect())
    }

    /// Returns the last dims of a value, and whether others may precede them.
    pub(super) fn last_dims(&self, value: ValueIx) -> Option<(bool, Vec<usize>)> {
        let shape = self.shapes[value].as_ref()?;
        Some((shape.open, shape.dims.iter().map(|&dim| self.find(dim)).collect()))
    }

    /// Returns whether a value certainly has dims.
    pub(super) fn is_no_scalar(&self, value: ValueIx) -> bool {
        self.shapes[value].as_ref().is_some_and(|shape| !shape.dims.is_empty())
    }

    /// Returns the dims of a value as a test.
    pub(super) fn test(&self, value: ValueIx) -> Option<ShapeTest> {
        let shape = self.shapes[value].as_ref()?;
        let dim = |&dim: &usize| {
            let class = self.find(dim);
            match (self.known[class], self.shown[class]) {
                (Some(n), _) => DimTest::Known(n),
                (None, Some(name)) => DimTest::Name(name),
                (None, None) => DimTest::Any,
            }
        };
        let dims = shape.dims.iter().map(dim).collect();
        Some(ShapeTest { dtype: self.elements.get(value), open: shape.open, dims })
    }

    /// Requires this type of a value.
    pub(super) fn require(&mut self, value: ValueIx, test: &ShapeTest) -> Result<(), DimConflict> {
        if let Some(dtype) = test.dtype {
            self.elements.restrict(value, TypeSet::of(|own| own == dtype)).map_err(
                |[old, new]| DimConflict(format!("its element type would be both {old} and {new}")),
            )?;
        }
        let mut dims = Vec::new();
        for dim in &test.dims {
            dims.push(match dim {
                DimTest::Any => DimFact::Any,
                DimTest::Known(n) => DimFact::Known(*n),
                DimTest::Name(name) => DimFact::Class(match self.names.get(name) {
                    Some(&class) => class,
                    None => {
                        let class = self.new_class(None, Some(*name));
                        self.names.insert(*name, class);
                        class
                    }
                }),
            });
        }
        self.require_dims(value, test.open, &dims)
    }

    /// Gives two values the same dims.
    pub(super) fn merge(&mut self, a: ValueIx, b: ValueIx) -> Result<(), DimConflict> {
        for (from, to) in [(a, b), (b, a)] {
            let Some(shape) = self.shapes[from].clone() else { continue };
            let dims: Vec<DimFact> = shape.dims.iter().map(|&dim| DimFact::Class(dim)).collect();
            self.require_dims(to, shape.open, &dims)?;
        }
        Ok(())
    }

    /// Requires these dims of a value; if they are open, any dims may precede them.
    pub(super) fn require_dims(
        &mut self,
        value: ValueIx,
        open: bool,
        new: &[DimFact],
    ) -> Result<(), DimConflict> {
        let old = self.shapes[value].clone();
        let (m, n) = (old.as_ref().map_or(0, |old| old.dims.len()), new.len());
        let old = old.unwrap_or_else(|| {
            self.changes += 1;
            ClassShape { open: true, dims: Vec::new() }
        });
        if m > n && !open || n > m && !old.open {
            let rank = |open: bool, n: usize| match open {
                true => format!("at least {n}"),
                false => n.to_string(),
            };
            let (m, n) = (rank(old.open, m), rank(open, n));
            return Err(DimConflict(format!("its rank would be both {m} and {n}")));
        }
        for (&class, fact) in old.dims.iter().rev().zip(new.iter().rev()) {
            match *fact {
                DimFact::Any => {}
                DimFact::Class(other) => self.union(class, other)?,
                DimFact::Known(n) if self.number(class) == Some(n) => {}
                DimFact::Known(n) => self.set(class, n)?,
            }
        }
        if n > m || old.open && !open {
            let before = new[..n.saturating_sub(m)].iter().map(|fact| match *fact {
                DimFact::Any => self.new_class(None, None),
                DimFact::Known(n) => self.new_class(Some(n), None),
                DimFact::Class(class) => class,
            });
            let dims = before.collect::<Vec<_>>().into_iter().chain(old.dims).collect();
            self.shapes[value] = Some(ClassShape { open: old.open && open, dims });
            self.changes += 1;
        } else if self.shapes[value].is_none() {
            self.shapes[value] = Some(old);
        }
        Ok(())
    }

    /// Returns the number, the name, or `_` of a dim.
    pub(super) fn shown(&self, dim: usize) -> String {
        let class = self.find(dim);
        match (self.known[class], self.shown[class]) {
            (Some(n), _) => n.to_string(),
            (None, Some(name)) => name.to_string(),
            (None, None) => "_".into(),
        }
    }
}

/// Returns a text with other texts in place of symbols such as `?d3`.
pub(super) fn with_symbols(text: &str, shown: impl Fn(&str) -> String) -> String {
    let mut parts = text.split('?');
    let mut all = parts.next().unwrap_or_default().to_owned();
    for part in parts {
        let end = part.find(|c: char| !c.is_ascii_alphanumeric()).unwrap_or(part.len());
        let (symbol, rest) = part.split_at(end);
        match symbol {
            "" => all.push('?'),
            symbol => all.push_str(&shown(symbol)),
        }
        all.push_str(rest);
    }
    all
}
