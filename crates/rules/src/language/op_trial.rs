//! The inference of an op of a left side, asked for all that is not known about it.
//!
//! Dims without a number are symbols. Attributes that are not required are tried if there are few; the others are unknown, and
//! inference that needs one decides nothing. An op contradicts its types only if inference refuses it for each rank, attribute and
//! element type that is possible.

use std::collections::BTreeMap;
use std::ops::RangeInclusive;
use std::rc::Rc;

use sapwood_ptir::dims::DimExpr;
use sapwood_ptir::{Attr, AttrDef, AttrKind, Dim, InferCx, Name, OpDef, TensorType, ValueType};
use sapwood_types::DataType;
use smallvec::SmallVec;

use super::dim_classes::{DimClasses, DimConflict, DimFact, DimSum, with_symbols};
use super::dim_inference::{DimInference, OpTests, operands};
use super::element_types::TypeSet;
use crate::graph::{AttrCondition, AxesOf, OpIx, ValueIx, from_the_end, has_negative};

/// The elementwise ops whose operands may have different dims.
pub(super) const MIXED_DIMS: [&str; 2] = ["clamp", "select"];

/// The largest number of attributes that are tried for one op and rank.
const MAX_ATTRIBUTES: usize = 64;

/// The largest rank for which axes that are not written are tried.
const MAX_TRIED_RANK: usize = 4;

/// The largest rank that is tried for a value whose rank is not known.
const MAX_RANK: usize = 10;

/// The number of ranks that are tried beyond those that attributes and other values need.
const MORE_RANKS: usize = 2;

/// The largest number of combinations of element types that are tried.
const MAX_COMBINATIONS: usize = 1024;

/// The optional attributes that restrict the operands more if they are omitted than with some value.
const NOT_PERMISSIVE: [&str; 1] = ["interior"];

/// The ops whose inference refuses dims and attributes that are not known.
const NEED_NUMBERS: [&str; 1] = ["dims"];

/// All that the inference of an op depends on.
#[derive(Clone, PartialEq, Eq, Hash)]
pub(super) struct TrialKey {
    op: OpIx,
    /// The attributes that are required, by row.
    required: SmallVec<[bool; 8]>,
    /// The operands, then the result if its type is declared.
    values: SmallVec<[TriedValue; 4]>,
}

/// A value of an op whose inference is asked.
#[derive(Clone, PartialEq, Eq, Hash)]
struct TriedValue {
    is_literal: bool,
    /// Any dims may precede these.
    open: bool,
    dims: SmallVec<[TriedDim; 4]>,
    /// The class of its element type, among those of the op, and the types that are possible.
    class: usize,
    types: TypeSet,
}

/// A dim of a value: its number, or its class among those of the op.
#[derive(Clone, Copy, PartialEq, Eq, Hash)]
enum TriedDim {
    Known(u64),
    Class(usize),
}

/// The outcome of the inference of an op. Classes of dims are those of the op.
#[derive(Default)]
pub(super) struct TrialOutcome {
    /// The reason why nothing is possible.
    error: Option<String>,
    /// The only possible rank of a value.
    rank: Option<(usize, usize)>,
    /// The results that are possible; none if they are not known.
    results: Vec<TriedResults>,
}

/// The results for one rank and one choice of attributes.
#[derive(PartialEq)]
struct TriedResults {
    dims: Vec<Vec<DimFact>>,
    /// The dims that are expressions over others, by result and axis.
    sums: Vec<(usize, usize, DimExpr)>,
}

/// The values that an attribute may have.
struct PossibleAttr {
    values: Vec<Attr>,
    /// Set if there are others, of which none is accepted where these are not.
    has_others: bool,
}

impl DimInference<'_> {
    /// Adds the outcome of the inference of an op.
    pub(super) fn try_op(
        &self,
        dims: &mut DimClasses,
        tests: &OpTests<'_>,
    ) -> Result<(), DimConflict> {
        let (op, def) = (tests.op, tests.def);
        // The number of elements of `reshape` is compared elsewhere.
        if !tests.is_one || !infers_tensors(def) || def.name == "reshape" {
            return Ok(());
        }
        let operands = operands(op).into_iter().collect::<Option<SmallVec<[ValueIx; 4]>>>();
        let Some(mut values) = operands else { return Ok(()) };
        let operands = values.len();
        if def.variadic_len(operands).is_none() {
            return Ok(());
        }
        let declares = def.attrs.iter().any(|row| row.kind == AttrKind::ResultType);
        values.extend(op.results.first().copied().filter(|_| declares));
        let (mut classes, mut types) = (SmallVec::new(), SmallVec::<[ValueIx; 4]>::new());
        let tried =
            values.iter().map(|&value| self.tried_value(dims, value, &mut classes, &mut types));
        let values_of_key: SmallVec<[TriedValue; 4]> = tried.collect();
        // With several values of unknown rank nothing is decided.
        if values_of_key.iter().filter(|value| value.open).count() > 1 {
            return Ok(());
        }
        let required: SmallVec<[bool; 8]> = tests.attrs.iter().map(Option::is_some).collect();
        if NEED_NUMBERS.contains(&def.name) {
            let is_known = |value: &TriedValue| {
                !value.open && value.dims.iter().all(|dim| matches!(dim, TriedDim::Known(_)))
            };
            let mut rows = def.attrs.iter().zip(&required);
            let all_required =
                rows.all(|(row, required)| *required || row.kind == AttrKind::ResultType);
            if !all_required || !values_of_key.iter().all(is_known) {
                return Ok(());
            }
        }
        let key = TrialKey { op: tests.number, required, values: values_of_key };
        let known = self.tried.borrow().get(&key).cloned();
        let outcome = known.unwrap_or_else(|| {
            let trial = OpTrial { tests, values: &key.values, operands };
            let outcome = Rc::new(trial.run().unwrap_or_default());
            self.tried.borrow_mut().insert(key.clone(), outcome.clone());
            outcome
        });
        self.apply(dims, tests, (&values, &classes), &outcome)
    }

    fn tried_value(
        &self,
        dims: &DimClasses,
        value: ValueIx,
        classes: &mut SmallVec<[usize; 8]>,
        types: &mut SmallVec<[ValueIx; 4]>,
    ) -> TriedValue {
        fn place(known: &mut SmallVec<impl smallvec::Array<Item = usize>>, new: usize) -> usize {
            let found = known.iter().position(|own| *own == new);
            found.unwrap_or_else(|| {
                known.push(new);
                known.len() - 1
            })
        }
        let is_literal = self.graph.is_literal(value);
        let last = dims.last_dims(value).filter(|_| !is_literal);
        let (open, own) = last.unwrap_or((true, Vec::new()));
        let dim = |&class: &usize| match dims.number(class) {
            Some(n) => TriedDim::Known(n),
            None => TriedDim::Class(place(classes, dims.find(class))),
        };
        TriedValue {
            is_literal,
            open,
            dims: own.iter().map(dim).collect(),
            class: place(types, dims.elements.find(value)),
            types: dims.elements.possible(value),
        }
    }

    // Requires an outcome of an op with these values and classes of dims.
    fn apply(
        &self,
        dims: &mut DimClasses,
        tests: &OpTests<'_>,
        (values, classes): (&[ValueIx], &[usize]),
        outcome: &TrialOutcome,
    ) -> Result<(), DimConflict> {
        let name = |value: ValueIx| &*self.graph.values[value].name;
        if let Some(error) = &outcome.error {
            let shown = |symbol: &str| {
                let class = local_class(symbol).and_then(|n| classes.get(n));
                class.map_or_else(|| "_".into(), |&class| dims.shown(class))
            };
            return Err(DimConflict(with_symbols(error, shown)));
        }
        if let Some((n, rank)) = outcome.rank {
            let any = vec![DimFact::Any; rank];
            dims.require_dims(values[n], false, &any).map_err(|why| why.about(name(values[n])))?;
        }
        let global = |facts: &Vec<DimFact>| -> Vec<DimFact> {
            let fact = |fact: &DimFact| match *fact {
                DimFact::Class(n) => DimFact::Class(classes[n]),
                other => other,
            };
            facts.iter().map(fact).collect()
        };
        let own = &tests.op.results;
        let mut possible: Vec<(Vec<Vec<DimFact>>, &TriedResults)> = Vec::new();
        for results in &outcome.results {
            let facts: Vec<Vec<DimFact>> = results.dims.iter().map(global).collect();
            if own.iter().zip(&facts).all(|(&value, facts)| dims.may_have(value, facts)) {
                possible.push((facts, results));
            }
        }
        let (facts, sums): (Vec<Vec<DimFact>>, &[_]) = match (&possible[..], &outcome.results[..]) {
            (_, []) => return Ok(()),
            // The error is that of the first.
            ([], [first, ..]) => (first.dims.iter().map(global).collect(), &[]),
            ([(only, results)], _) => (only.clone(), &results.sums),
            ([(first, _), rest @ ..], _) => {
                let common = |n: usize| {
                    let mut others = rest.iter().map(|(facts, _)| &facts[n]);
                    let same =
                        |axis: usize, fact: DimFact| rest.iter().all(|(o, _)| o[n][axis] == fact);
                    let fact = |(axis, &fact): (usize, &DimFact)| {
                        if same(axis, fact) { fact } else { DimFact::Any }
                    };
                    let same_rank = others.all(|other| other.len() == first[n].len());
                    same_rank.then(|| first[n].iter().enumerate().map(fact).collect())
                };
                let all: Vec<Option<Vec<DimFact>>> = (0..first.len()).map(common).collect();
                match all.into_iter().collect::<Option<Vec<_>>>() {
                    Some(all) => (all, &[]),
                    None => return Ok(()),
                }
            }
        };
        for (&value, facts) in own.iter().zip(&facts) {
            dims.require_dims(value, false, facts).map_err(|why| why.about(name(value)))?;
        }
        for &(n, axis, is) in sums {
            let is = is.substitute(&|symbol| {
                dims.symbolic(*classes.get(local_class(symbol.as_str())?)?).to_expr()
            });
            if let (Some(&value), Some(is)) = (own.get(n), is) {
                let key = (tests.number, n * sapwood_ptir::MAX_RANK + axis);
                dims.add_sum(key, DimSum { value, axis, is });
            }
        }
        Ok(())
    }
}

// Returns whether the results of an op are tensors whose types inference computes.
fn infers_tensors(def: &OpDef) -> bool {
    !def.terminator && def.control.is_none() && def.family != "call"
}

/// An op whose inference is asked.
struct OpTrial<'a> {
    tests: &'a OpTests<'a>,
    /// The operands, then the result if its type is declared.
    values: &'a [TriedValue],
    operands: usize,
}

impl OpTrial<'_> {
    // Returns the outcome; none if it is not known.
    fn run(&self) -> Option<TrialOutcome> {
        let unknown = (0..self.values.len()).find(|&n| self.values[n].open);
        let ranks = self.ranks(unknown)?;
        let element_types = self.element_types()?;
        let mut errors: Vec<(usize, Errors)> = Vec::new();
        let mut possible: Vec<(usize, Option<TriedResults>)> = Vec::new();
        for rank in ranks.clone() {
            let shapes: Vec<SmallVec<[Dim; 4]>> = (0..self.values.len())
                .map(|n| self.dims_of(n, (unknown == Some(n)).then_some(rank)))
                .collect();
            let all = self.attributes(&shapes)?;
            let exact = !all.iter().any(|attr| attr.has_others);
            // The reason is clearest for the usual values of attributes, which are the first.
            let mut own = None;
            for attrs in choices(&all) {
                let mut found = Errors::default();
                match self.infer(&attrs, &shapes, (&element_types, exact), &mut found) {
                    Inferred::Refused => own = own.or(Some(found)),
                    Inferred::Undecided => possible.push((rank, None)),
                    Inferred::Results(results) => possible.push((rank, Some(results))),
                }
            }
            errors.push((rank, own.unwrap_or_default()));
        }
        let Some(&(first, _)) = possible.first() else {
            // The reason is clearest for the rank that the rest has.
            let rest = ranks.end().saturating_sub(MORE_RANKS);
            let clearest = errors.iter().position(|(rank, _)| *rank == rest).unwrap_or(0);
            let error = Some(errors.swap_remove(clearest).1.most_frequent());
            return Some(TrialOutcome { error, ..TrialOutcome::default() });
        };
        let only = possible.iter().all(|(rank, _)| *rank == first) && first < *ranks.end();
        let rank = unknown.filter(|&n| only && !self.values[n].is_literal).map(|n| (n, first));
        let mut results: Vec<TriedResults> = Vec::new();
        // A larger rank than those that were tried may be possible, too.
        let all_ranks = unknown.is_none() || possible.iter().all(|(rank, _)| rank < ranks.end());
        if self.values.len() == self.operands && all_ranks {
            for (_, found) in possible {
                match found {
                    Some(found) if results.contains(&found) => {}
                    Some(found) => results.push(found),
                    None => {
                        results.clear();
                        break;
                    }
                }
            }
        }
        Some(TrialOutcome { error: None, rank, results })
    }

    // Returns the ranks that are tried for a value whose rank is not known; none if nothing else is known.
    fn ranks(&self, unknown: Option<usize>) -> Option<RangeInclusive<usize>> {
        let Some(unknown) = unknown else { return Some(0..=0) };
        let least = self.values[unknown].dims.len();
        let closed = self.values.iter().filter(|value| !value.open).map(|value| value.dims.len());
        let rows = self.tests.def.attrs.iter().zip(&self.tests.attrs);
        let needed = rows.filter_map(|(row, test)| match test {
            Some(AttrCondition::Is(attr) | AttrCondition::Axes(_, attr)) => {
                needed_rank(attr, AxesOf::attr(row.name, Some(self.tests.def)).is_some())
            }
            _ => None,
        });
        let most = closed.chain(needed).max()?.max(least) + MORE_RANKS;
        (most <= MAX_RANK).then_some(least..=most)
    }

    // Returns the dims of a value, with a symbol for each that is not known.
    fn dims_of(&self, n: usize, rank: Option<usize>) -> SmallVec<[Dim; 4]> {
        let value = &self.values[n];
        let new = rank.map_or(0, |rank| rank - value.dims.len());
        let any = |axis: usize| Dim::symbol(Name::new(&format!("u{axis}")));
        let own = value.dims.iter().map(|dim| match *dim {
            TriedDim::Known(n) => Dim::Known(n),
            TriedDim::Class(n) => Dim::symbol(Name::new(&format!("l{n}"))),
        });
        (0..new).map(any).chain(own).collect()
    }

    // Returns the values of each attribute that are tried; none if there are too many.
    fn attributes(&self, shapes: &[SmallVec<[Dim; 4]>]) -> Option<Vec<PossibleAttr>> {
        let def = self.tests.def;
        let rank_of = |of: AxesOf| match of {
            AxesOf::Operand(n) => (n < self.operands).then(|| shapes[n].len()),
            AxesOf::Result => shapes.get(self.operands).map(SmallVec::len),
        };
        let rows = def.attrs.iter().zip(&self.tests.attrs);
        let all: Vec<PossibleAttr> = rows
            .map(|(row, test)| match test {
                Some(AttrCondition::Is(attr)) => PossibleAttr::only(attr.clone()),
                Some(AttrCondition::Axes(of, attr)) => match rank_of(*of) {
                    Some(rank) => PossibleAttr::only(from_the_end(attr, rank)),
                    None if has_negative(attr) => PossibleAttr::only(unknown_attr()),
                    None => PossibleAttr::only(attr.clone()),
                },
                _ => possible_attr(def, row, AxesOf::attr(row.name, Some(def)).and_then(rank_of)),
            })
            .collect();
        let count = |all: &[PossibleAttr]| {
            all.iter().map(|attr| attr.values.len()).fold(1, usize::saturating_mul)
        };
        let mut all = all;
        if count(&all) > MAX_ATTRIBUTES {
            let is_axes = |attr: &Attr| matches!(attr, Attr::Int(_) | Attr::Ints(_));
            for attr in all.iter_mut().filter(|attr| attr.values.len() > 1) {
                if attr.values.iter().all(is_axes) {
                    *attr = PossibleAttr::only(unknown_attr());
                }
            }
        }
        (count(&all) <= MAX_ATTRIBUTES).then_some(all)
    }

    // Returns the element types of the values to try; none if there are too many combinations.
    fn element_types(&self) -> Option<TriedTypes> {
        let mut tried = TriedTypes { class_of: SmallVec::new(), types: Vec::new(), count: 1 };
        for value in self.values {
            tried.class_of.push(value.class);
            if value.class == tried.types.len() {
                let types: Vec<DataType> = usual_first(value.types).collect();
                tried.count *= types.len();
                tried.types.push(types);
            }
            if tried.count > MAX_COMBINATIONS {
                return None;
            }
        }
        Some(tried)
    }

    // Asks inference with all element types.
    fn infer(
        &self,
        attrs: &[Attr],
        shapes: &[SmallVec<[Dim; 4]>],
        (element_types, exact): (&TriedTypes, bool),
        errors: &mut Errors,
    ) -> Inferred {
        let def = self.tests.def;
        let mut first_error = None;
        for n in element_types.order() {
            let dtypes = element_types.get(n);
            let types: Vec<ValueType> = shapes
                .iter()
                .zip(dtypes)
                .map(|(dims, dtype)| TensorType { dtype, dims: dims.clone() }.into())
                .collect();
            let (operands, declared) = types.split_at(self.operands);
            let cx = InferCx {
                def,
                attrs,
                operands: operands.iter().collect(),
                // The types of regions are not known. Inference reads them last.
                regions: SmallVec::new(),
                declared_types: declared.iter().collect(),
            };
            let found = match def.infer(&cx) {
                Ok(found) => found,
                Err(error) => {
                    let is_unknown = |(row, attr): (&AttrDef, &Attr)| {
                        *attr == unknown_attr() && error.is_about_kind_of(row.name)
                    };
                    let of_region = !def.regions.is_empty() && error.message.starts_with("region ");
                    if of_region || def.attrs.iter().zip(attrs).any(is_unknown) {
                        return Inferred::Undecided;
                    }
                    // An error that other element types of all values share is about the dims, unless these depend on element types.
                    let is_shared = n == element_types.others()
                        && first_error.as_ref() == Some(&error.message)
                        && def.name != "bitcast";
                    errors.add(match element_types.count {
                        1 => error.message.clone(),
                        _ => without_element_types(&error.message),
                    });
                    if is_shared {
                        break;
                    }
                    first_error.get_or_insert(error.message);
                    continue;
                }
            };
            let tensors: Option<Vec<&TensorType>> =
                found.iter().map(ValueType::as_tensor).collect();
            let Some(tensors) = tensors else { return Inferred::Undecided };
            let mut results = TriedResults { dims: Vec::new(), sums: Vec::new() };
            for (n, ty) in tensors.into_iter().enumerate() {
                let mut facts = vec![DimFact::Any; ty.dims.len()];
                for (axis, &dim) in ty.dims.iter().enumerate() {
                    if !exact && !self.is_exact(attrs, axis) {
                        continue;
                    }
                    facts[axis] = match (dim, dim.as_symbol()) {
                        (Dim::Known(extent), _) => DimFact::Known(extent),
                        (_, Some(symbol)) => match local_class(symbol.as_str()) {
                            Some(class) => DimFact::Class(class),
                            None => DimFact::Any,
                        },
                        (Dim::Expr(is), None) => {
                            results.sums.push((n, axis, is));
                            DimFact::Any
                        }
                        (Dim::Unknown, None) => DimFact::Any,
                    };
                }
                results.dims.push(facts);
            }
            return Inferred::Results(results);
        }
        Inferred::Refused
    }

    // Returns whether an extent of the result does not depend on attributes that are omitted: the batch and the features of a convolution.
    fn is_exact(&self, attrs: &[Attr], axis: usize) -> bool {
        let def = self.tests.def;
        let row = def.attrs.iter().position(|row| row.name == "output_dims");
        let axes = row.and_then(|row| attrs[row].as_ints());
        axes.is_some_and(|axes| axes.iter().take(2).any(|&own| own == axis as i64))
    }
}

/// The outcome for one rank and one choice of attributes.
enum Inferred {
    /// All element types are refused.
    Refused,
    /// It needs an attribute or a region that is not known.
    Undecided,
    Results(TriedResults),
}

/// The element types of values that are tried.
struct TriedTypes {
    /// The class of each value: those of one class have one type.
    class_of: SmallVec<[usize; 4]>,
    /// The types of each class.
    types: Vec<Vec<DataType>>,
    /// The number of combinations.
    count: usize,
}

impl TriedTypes {
    // Returns the combination in which all values have other types than in the first one, if they can.
    fn others(&self) -> usize {
        let (mut place, mut others) = (1, 0);
        for types in &self.types {
            others += if types.len() > 1 { place } else { 0 };
            place *= types.len();
        }
        others
    }

    // Returns all combinations: the first, the one that differs from it most, and then the others.
    fn order(&self) -> impl Iterator<Item = usize> {
        let others = self.others();
        let first = [0, others].into_iter().take(if others > 0 { 2 } else { 1 });
        first.chain((1..self.count).filter(move |&n| n != others))
    }

    // Returns the types of the values in a combination.
    fn get(&self, mut combination: usize) -> impl Iterator<Item = DataType> {
        let mut chosen: SmallVec<[DataType; 4]> = SmallVec::new();
        for types in &self.types {
            chosen.push(types[combination % types.len()]);
            combination /= types.len();
        }
        self.class_of.iter().map(move |&class| chosen[class])
    }
}

impl PossibleAttr {
    fn only(attr: Attr) -> Self {
        Self { values: vec![attr], has_others: false }
    }
}

// Returns an attribute of a kind that no op has. Inference that reads it fails with an error about its kind.
fn unknown_attr() -> Attr {
    Attr::word("?")
}

// Returns the values of an attribute that is not required, with the rank of the value whose axes it names.
fn possible_attr(def: &OpDef, row: &AttrDef, rank: Option<usize>) -> PossibleAttr {
    let all = |mut values: Vec<Attr>| {
        // The default is first.
        let default = values.iter().position(|value| Some(value) == row.default.as_ref());
        values[..default.map_or(0, |n| n + 1)].rotate_right(usize::from(default.is_some()));
        PossibleAttr { values, has_others: false }
    };
    match row.kind {
        AttrKind::ResultType => PossibleAttr::only(Attr::Unit),
        AttrKind::Word(words) => all(words.iter().map(|word| Attr::word(word)).collect()),
        AttrKind::Bool => all(vec![Attr::Bool(false), Attr::Bool(true)]),
        // The dims do not depend on an element type that may be omitted.
        AttrKind::Type => PossibleAttr::only(row.default.clone().unwrap_or_else(unknown_attr)),
        _ if row.default == Some(Attr::Unit) && !NOT_PERMISSIVE.contains(&row.name) => {
            PossibleAttr { values: vec![Attr::Unit], has_others: true }
        }
        _ => {
            let axes = rank.filter(|_| def.name != "convolution");
            let axes = axes.and_then(|rank| possible_axes(row.name, rank));
            axes.map_or_else(|| PossibleAttr::only(unknown_attr()), all)
        }
    }
}

// Returns the axes that an attribute that is not written may name.
fn possible_axes(name: &str, rank: usize) -> Option<Vec<Attr>> {
    if rank > MAX_TRIED_RANK {
        return None;
    }
    let rank = rank as i64;
    // Lists of different axes in any order, the shortest first.
    let mut lists: Vec<Vec<i64>> = vec![Vec::new()];
    let mut at = 0;
    while let Some(list) = lists.get(at).cloned() {
        at += 1;
        let next = (0..rank).filter(|axis| !list.contains(axis));
        lists.extend(next.map(|axis| [&list[..], &[axis]].concat()));
    }
    Some(match name {
        // A scalar has no axis, and inference has the clearest error for that.
        "axis" => (0..rank.max(1)).map(Attr::Int).collect(),
        "perm" => {
            lists.retain(|list| list.len() as i64 == rank);
            lists.into_iter().map(|list| Attr::Ints(list.into())).collect()
        }
        "axes" => {
            lists.retain(|list| list.is_sorted());
            lists.into_iter().map(|list| Attr::Ints(list.into())).collect()
        }
        "lhs_batch" | "rhs_batch" | "lhs_contract" | "rhs_contract" => {
            lists.into_iter().map(|list| Attr::Ints(list.into())).collect()
        }
        _ => return None,
    })
}

// Returns all choices of one value for each attribute.
fn choices(all: &[PossibleAttr]) -> Vec<Vec<Attr>> {
    let mut choices: Vec<Vec<Attr>> = vec![Vec::new()];
    for attr in all {
        let with = |before: Vec<Attr>| {
            let add = move |value: &Attr| [&before[..], std::slice::from_ref(value)].concat();
            attr.values.iter().map(add).collect::<Vec<_>>()
        };
        choices = choices.into_iter().flat_map(with).collect();
    }
    choices
}

// Returns the rank that a list of axes or of one entry per axis may need.
fn needed_rank(attr: &Attr, is_axes: bool) -> Option<usize> {
    match attr {
        Attr::Int(axis) if is_axes => Some(axis.unsigned_abs() as usize + 1),
        Attr::Ints(list) if is_axes => {
            let axes = list.iter().map(|axis| axis.unsigned_abs() as usize + 1);
            Some(axes.max().unwrap_or(0).max(list.len()))
        }
        Attr::Ints(list) => Some(list.len()),
        Attr::List(list) => Some(list.len()),
        _ => None,
    }
}

// Returns the class that a symbol stands for.
fn local_class(symbol: &str) -> Option<usize> {
    symbol.strip_prefix('l')?.parse().ok()
}

// Returns the types of a set, those that most ops accept first.
fn usual_first(set: TypeSet) -> impl Iterator<Item = DataType> {
    const USUAL: [DataType; 4] = [DataType::F32, DataType::I32, DataType::Bool, DataType::C64];
    let usual = USUAL.into_iter().filter(move |&dtype| set.contains(dtype));
    usual.chain(set.iter().filter(|dtype| !USUAL.contains(dtype)))
}

/// The errors of inference, and how often each occurred.
#[derive(Default)]
struct Errors {
    counts: BTreeMap<String, (usize, usize)>,
}

impl Errors {
    fn add(&mut self, why: String) {
        let order = self.counts.len();
        self.counts.entry(why).or_insert((0, order)).0 += 1;
    }

    // Returns the most frequent error, of several the first.
    fn most_frequent(&self) -> String {
        let rank = |(_, (count, order)): &(&String, &(usize, usize))| (*count, usize::MAX - order);
        self.counts.iter().max_by_key(rank).map(|(why, _)| why.clone()).unwrap_or_default()
    }
}

// Removes element types before shapes: `f32[4]` becomes `[4]`.
fn without_element_types(text: &str) -> String {
    let mut text = text.to_owned();
    for dtype in DataType::ALL {
        text = text.replace(&format!("{dtype}["), "[");
    }
    text
}
