//! The element types that the values of a left side may have.
//!
//! Values that always have one element type are in one class, with the set of types that are possible. Which types the operands
//! and the result of an op may have together is found by its inference, for small operands.

use std::cell::{Cell, RefCell};
use std::collections::HashMap;
use std::fmt;
use std::rc::Rc;

use sapwood_ptir::{Attr, AttrKind, Dim, InferCx, OpDef, TensorType, ValueType, infer_checked};
use sapwood_types::DataType;
use smallvec::SmallVec;

use super::dim_classes::DimConflict;
use super::dim_inference::{OpTests, Scope, has_own_inference, operands};
use crate::graph::{Literal, Number, OpIx, PatternGraph, ValueIx, ValueSource};

/// The ops whose result has the element type of all operands, besides those for which inference shows that.
const OF_ALL_OPERANDS: [&str; 1] = ["concat"];

/// The ops whose result has the element type of the first operand.
const OF_FIRST_OPERAND: [&str; 2] = ["dynamic_slice", "gather"];

/// The ops whose element types depend on their dims.
const OF_DIMS: [&str; 1] = ["bitcast"];

/// The largest number of operands of an op whose element types are all tried.
const MAX_OPERANDS: usize = 3;

/// The largest rank of the operands that are tried.
const MAX_RANK: usize = 2;

/// The name of a group of element types, and its test.
type TypeGroup = (&'static str, fn(DataType) -> bool);

/// A set of element types.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub(super) struct TypeSet(u64);

impl TypeSet {
    /// Returns the types that satisfy a test.
    pub(super) fn of(fits: impl Fn(DataType) -> bool) -> Self {
        let bit = |(n, dtype): (usize, &DataType)| u64::from(fits(*dtype)) << n;
        Self(DataType::ALL.iter().enumerate().map(bit).sum())
    }

    pub(super) fn iter(self) -> impl Iterator<Item = DataType> {
        let all = DataType::ALL.into_iter().enumerate();
        all.filter(move |(n, _)| self.0 >> n & 1 == 1).map(|(_, dtype)| dtype)
    }

    pub(super) fn contains(self, dtype: DataType) -> bool {
        self.iter().any(|own| own == dtype)
    }

    /// Returns the only type.
    pub(super) fn single(self) -> Option<DataType> {
        self.iter().next().filter(|_| self.0.count_ones() == 1)
    }
}

impl fmt::Display for TypeSet {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        if let Some(dtype) = self.single() {
            return f.write_str(dtype.short_name());
        }
        let groups: [TypeGroup; 3] = [
            ("a float", DataType::is_float),
            ("an integer", DataType::is_integer),
            ("a complex number", DataType::is_complex),
        ];
        let mut parts: Vec<&str> = Vec::new();
        for (name, is_in) in groups {
            let all = Self::of(is_in);
            match self.0 & all.0 {
                own if own == all.0 => parts.push(name),
                own => parts.extend(Self(own).iter().map(DataType::short_name)),
            }
        }
        let is_other = |dtype: DataType| !groups.iter().any(|(_, is_in)| is_in(dtype));
        parts.extend(self.iter().filter(|&dtype| is_other(dtype)).map(DataType::short_name));
        f.write_str(&parts.join(" or "))
    }
}

/// The sets of types of two values that must have one type.
type NoCommonType = [TypeSet; 2];

/// A union-find of values that have one element type.
#[derive(Clone, Debug)]
pub(super) struct ElementTypes {
    parent: Vec<ValueIx>,
    possible: Vec<TypeSet>,
    changes: usize,
}

impl ElementTypes {
    /// Creates the classes of this many values, of which nothing is known.
    pub(super) fn new(values: usize) -> Self {
        let possible = vec![TypeSet::of(|_| true); values];
        Self { parent: (0..values).collect(), possible, changes: 0 }
    }

    /// Returns the representative of a class.
    pub(super) fn find(&self, mut value: ValueIx) -> ValueIx {
        while self.parent[value] != value {
            value = self.parent[value];
        }
        value
    }

    /// Returns the element types that a value may have.
    pub(super) fn possible(&self, value: ValueIx) -> TypeSet {
        self.possible[self.find(value)]
    }

    /// Returns the element type of a value.
    pub(super) fn get(&self, value: ValueIx) -> Option<DataType> {
        self.possible(value).single()
    }

    /// Requires that the element type of a value is one of these. The error is what follows from other requirements, and this one.
    pub(super) fn restrict(&mut self, value: ValueIx, new: TypeSet) -> Result<(), NoCommonType> {
        let class = self.find(value);
        let old = self.possible[class];
        let both = TypeSet(old.0 & new.0);
        if both.0 == 0 {
            return Err([old, new]);
        }
        if both != old {
            self.possible[class] = both;
            self.changes += 1;
        }
        Ok(())
    }

    fn union(&mut self, a: ValueIx, b: ValueIx) -> Result<(), NoCommonType> {
        let (a, b) = (self.find(a), self.find(b));
        if a == b {
            return Ok(());
        }
        let (old, new) = (self.possible[a], self.possible[b]);
        let both = TypeSet(old.0 & new.0);
        if both.0 == 0 {
            return Err([old, new]);
        }
        self.parent[b] = a;
        self.possible[a] = both;
        self.changes += 1;
        Ok(())
    }

    /// Gives two values the same element type.
    pub(super) fn equal(
        &mut self,
        graph: &PatternGraph,
        a: ValueIx,
        b: ValueIx,
    ) -> Result<(), DimConflict> {
        self.union(a, b).map_err(|[m, n]| conflict(graph, b, n, m))
    }

    /// Adds what follows from ops and from values that are equal.
    pub(super) fn solve(
        &mut self,
        graph: &PatternGraph,
        scope: &Scope<'_>,
        at: &Cell<Option<OpIx>>,
    ) -> Result<(), DimConflict> {
        for &(a, b) in scope.equal {
            if !graph.is_literal(a) && !graph.is_literal(b) {
                self.equal(graph, a, b)?;
            }
        }
        loop {
            for from_the_end in [false, true] {
                let before = self.changes;
                let visit = |op: &OpTests<'_>| {
                    at.set(Some(op.number));
                    self.visit(graph, op)
                };
                match from_the_end {
                    false => scope.ops.iter().try_for_each(visit)?,
                    true => scope.ops.iter().rev().try_for_each(visit)?,
                }
                if self.changes == before {
                    return Ok(());
                }
            }
        }
    }

    // Adds what follows from an op.
    fn visit(&mut self, graph: &PatternGraph, tests: &OpTests<'_>) -> Result<(), DimConflict> {
        let (op, def) = (tests.op, tests.def);
        let Some(&result) = op.results.first() else { return Ok(()) };
        let all = || operands(op).into_iter().flatten();
        let same: Vec<ValueIx> = match def.name {
            "dynamic_update_slice" => all().take(2).chain([result]).collect(),
            name if OF_FIRST_OPERAND.contains(&name) => all().take(1).chain([result]).collect(),
            name if OF_ALL_OPERANDS.contains(&name) => all().chain([result]).collect(),
            _ => Vec::new(),
        };
        self.unite(graph, result, &same)?;
        let columns: Option<Vec<ValueIx>> = operands(op).into_iter().collect();
        let Some(mut columns) = columns else { return Ok(()) };
        let Some(types) = op_types(def, columns.len(), &tests.types_and_words()) else {
            return Ok(());
        };
        columns.push(result);
        for same in &types.equal {
            let same: Vec<ValueIx> = same.iter().map(|&n| columns[n]).collect();
            self.unite(graph, result, &same)?;
        }
        // The types of each value in all combinations that are possible.
        let sets: Vec<TypeSet> = columns.iter().map(|&v| self.set_of(graph, v)).collect();
        let mut left = vec![0u64; columns.len()];
        for combination in &types.combinations {
            if combination.iter().zip(&sets).all(|(bit, set)| bit & set.0 != 0) {
                left.iter_mut().zip(combination).for_each(|(left, bit)| *left |= bit);
            }
        }
        if left.contains(&0) {
            let shown = |(&value, &set): (&ValueIx, &TypeSet)| {
                let name = &graph.values[value].name;
                match graph.is_literal(value) {
                    _ if set == TypeSet::of(|_| true) => None,
                    true if set.contains(DataType::F32) => Some(format!("`{name}` is no integer")),
                    _ => Some(format!("`{name}` is {set}")),
                }
            };
            let of_operands = columns.iter().zip(&sets).take(columns.len() - 1);
            let mut shown_all: Vec<String> = of_operands.filter_map(shown).collect();
            if shown_all.is_empty() {
                shown_all.extend(columns.iter().zip(&sets).filter_map(shown));
            }
            return Err(DimConflict(format!(
                "no `{}` has these element types: {}",
                def.name,
                shown_all.join(", ")
            )));
        }
        for (&value, left) in columns.iter().zip(left).filter(|(v, _)| !graph.is_literal(**v)) {
            let left = TypeSet(left);
            self.restrict(value, left).map_err(|[old, new]| conflict(graph, value, old, new))?;
        }
        Ok(())
    }

    // Gives values the same type. A constant is not one of them: it may stand for several.
    fn unite(
        &mut self,
        graph: &PatternGraph,
        result: ValueIx,
        same: &[ValueIx],
    ) -> Result<(), DimConflict> {
        let mut same = same.iter().copied().filter(|&value| !graph.is_literal(value));
        let Some(first) = same.next() else { return Ok(()) };
        same.try_for_each(|value| {
            self.union(first, value).map_err(|[m, n]| match value == result {
                true => conflict(graph, result, m, n),
                false => conflict(graph, value, n, m),
            })
        })
    }

    // Returns the types that a value may have, also if it is a constant that is written as a number.
    fn set_of(&self, graph: &PatternGraph, value: ValueIx) -> TypeSet {
        match &graph.values[value].from {
            ValueSource::Literal(Literal::Number(number)) => {
                let number = *number;
                TypeSet::of(|dtype| match number {
                    Number::Float(x) if x.fract() != 0.0 => !dtype.is_integer() && !dtype.is_bool(),
                    _ => true,
                })
            }
            _ => self.possible(value),
        }
    }
}

pub(super) fn conflict(
    graph: &PatternGraph,
    value: ValueIx,
    m: TypeSet,
    n: TypeSet,
) -> DimConflict {
    DimConflict(format!(
        "the element type of `{}` would be both {m} and {n}",
        graph.values[value].name
    ))
}

/// The element types that the operands and the result of an op may have together.
struct OpTypes {
    /// One bit for each value.
    combinations: Vec<SmallVec<[u64; 4]>>,
    /// Values that have the same type in all combinations.
    equal: Vec<Vec<usize>>,
}

/// An op, the number of its operands, and those of its attributes that are words or element types and written.
type OpTypesKey = (&'static str, usize, Vec<Option<Attr>>);

thread_local! {
    static OP_TYPES: RefCell<HashMap<OpTypesKey, Option<Rc<OpTypes>>>> = RefCell::default();
}

// Returns the element types that an op may have; none if small operands do not tell.
fn op_types(def: &OpDef, operands: usize, written: &[Option<Attr>]) -> Option<Rc<OpTypes>> {
    let most = if def.elementwise { MAX_OPERANDS } else { MAX_OPERANDS - 1 };
    if !has_own_inference(def) || OF_DIMS.contains(&def.name) || !(1..=most).contains(&operands) {
        return None;
    }
    def.variadic_len(operands)?;
    let key = (def.name, operands, written.to_vec());
    if let Some(known) = OP_TYPES.with_borrow(|cache| cache.get(&key).cloned()) {
        return known;
    }
    let found = (0..=MAX_RANK).find_map(|rank| types_of_rank(def, operands, written, rank));
    let found = found.map(Rc::new);
    OP_TYPES.with_borrow_mut(|cache| cache.insert(key, found.clone()));
    found
}

// Infers the results of operands of a rank, for all element types; none if no types are possible.
fn types_of_rank(
    def: &OpDef,
    operands: usize,
    written: &[Option<Attr>],
    rank: usize,
) -> Option<OpTypes> {
    let mut all_attrs: Vec<Vec<Attr>> = vec![Vec::new()];
    // Set if the result type depends on an attribute that is not written.
    let mut open_result = false;
    for (row, written) in def.attrs.iter().zip(written) {
        let values: Vec<Attr> = match (written, &row.default, row.kind) {
            (Some(attr), ..) => vec![attr.clone()],
            (_, _, AttrKind::ResultType) => vec![Attr::Unit],
            (_, _, AttrKind::Word(words)) => words.iter().map(|w| Attr::word(w)).collect(),
            (_, Some(default), kind) => {
                open_result |= kind == AttrKind::Type && row.name != "accumulate";
                vec![default.clone()]
            }
            (_, None, AttrKind::Bool) => vec![Attr::Bool(false)],
            // Without axes, an integer is a number of something.
            (_, None, AttrKind::Int) => vec![Attr::Int(i64::from(rank == 0))],
            (_, None, AttrKind::Ints | AttrKind::Dims) => {
                vec![Attr::Ints((0..rank as i64).collect())]
            }
            _ => return None,
        };
        let with = |before: Vec<Attr>| {
            let add = move |value: &Attr| [&before[..], std::slice::from_ref(value)].concat();
            values.iter().map(add).collect::<Vec<_>>()
        };
        all_attrs = all_attrs.into_iter().flat_map(with).collect();
    }
    let declares = def.attrs.iter().any(|row| row.kind == AttrKind::ResultType);
    let count = operands + usize::from(declares);
    let types: Vec<ValueType> = DataType::ALL
        .iter()
        .map(|&dtype| TensorType { dtype, dims: SmallVec::from_elem(dim(rank), rank) }.into())
        .collect();
    let bit = |dtype: DataType| TypeSet::of(|own| own == dtype).0;
    let mut combinations: Vec<SmallVec<[u64; 4]>> = Vec::new();
    for n in 0..types.len().pow(count as u32) {
        let digit = |place: usize| n / types.len().pow(place as u32) % types.len();
        let chosen: SmallVec<[usize; 4]> = (0..count).map(digit).collect();
        let mut results = 0u64;
        for attrs in &all_attrs {
            let cx = InferCx {
                def,
                attrs,
                operands: chosen[..operands].iter().map(|&n| &types[n]).collect(),
                regions: SmallVec::new(),
                declared_types: chosen[operands..].iter().map(|&n| &types[n]).collect(),
            };
            let Ok(found) = infer_checked(&cx) else { continue };
            results |= found.first().and_then(ValueType::as_tensor).map_or(0, |t| bit(t.dtype));
        }
        if results != 0 {
            let mut combination: SmallVec<[u64; 4]> =
                chosen[..operands].iter().map(|&n| bit(DataType::ALL[n])).collect();
            combination.push(if open_result { u64::MAX } else { results });
            combinations.push(combination);
        }
    }
    if combinations.is_empty() {
        return None;
    }
    let mut equal: Vec<Vec<usize>> = Vec::new();
    for n in 0..=operands {
        let same = |m: usize| combinations.iter().all(|types| types[m] == types[n]);
        match equal.iter_mut().find(|class| same(class[0])) {
            Some(class) => class.push(n),
            None => equal.push(vec![n]),
        }
    }
    equal.retain(|class| class.len() > 1);
    Some(OpTypes { combinations, equal })
}

// The dims of small operands: of rank one, lists of one axis may also be extents.
fn dim(rank: usize) -> Dim {
    if rank == 0 { Dim::Known(1) } else { Dim::Unknown }
}
