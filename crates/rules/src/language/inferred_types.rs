//! Inference of the types of a left side, with the inference functions of its ops.
//!
//! Element types, names of dims and some attributes are not known in a pattern. An op contradicts its types only if inference
//! fails for all of them.

use std::collections::BTreeMap;

use sapwood_ptir::{
    Attr, AttrKind, Dim, InferCx, OpDef, OperandKind, ResultCount, TensorType, ValueType,
    infer_checked,
};
use sapwood_types::DataType;
use smallvec::SmallVec;

use super::type_check::MIXED_DIMS;
use crate::graph::{
    AttrCondition, AttrSlot, AxesOf, DimTest, PatternGraph, PatternOp, PatternOperand, ShapeTest,
    from_the_end,
};

/// The largest number of extents and attributes that are tried for one op.
const MAX_ASSIGNMENTS: usize = 64;

/// The largest number of combinations of element types that are tried.
const MAX_COMBINATIONS: usize = 1024;

/// The largest number of values of an op for which all element types are tried. With more, a contradiction is not certain.
const MAX_VALUES_OF_ANY_TYPES: usize = 2;

/// The element types that are tried for ops with more values.
pub(super) const USUAL_TYPES: [DataType; 5] =
    [DataType::F32, DataType::I32, DataType::Bool, DataType::C64, DataType::U8];

/// The outcome of inference for an op of a pattern.
pub(super) enum Inferred {
    /// The types are not known, or do not determine the type of the result.
    Unknown,
    /// The shape of the first result.
    Shape(ShapeTest),
    /// No program has these types.
    Contradiction(String),
}

/// Infers the shape of the result of an op from the known shapes of values.
pub(super) fn infer_op(
    graph: &PatternGraph,
    op: &PatternOp,
    def: &OpDef,
    known: &[Option<ShapeTest>],
) -> Inferred {
    let inferred = Inference::new(graph, op, def, known).map(|inference| inference.run());
    inferred.unwrap_or(Inferred::Unknown)
}

struct Inference<'a> {
    def: &'a OpDef,
    operands: Vec<ShapeTest>,
    /// The declared result of an op that does not infer it.
    declared: Option<ShapeTest>,
    /// The required shape of the result.
    wanted: Vec<ShapeTest>,
    /// The attributes that are possible, in order.
    attrs: Vec<Vec<Attr>>,
}

impl<'a> Inference<'a> {
    // Returns none if something else than element types, extents, words and flags is unknown.
    fn new(
        graph: &PatternGraph,
        op: &PatternOp,
        def: &'a OpDef,
        known: &[Option<ShapeTest>],
    ) -> Option<Self> {
        let fixed = def.operands.iter().all(|o| o.kind == OperandKind::One);
        let simple = def.regions.is_empty() && !def.terminator && def.results == ResultCount::One;
        if !simple || !fixed && def.name != "concat" || op.operands.is_empty() {
            return None;
        }
        let shape = |operand: &PatternOperand| match *operand {
            PatternOperand::One(value) => known[value].clone().filter(|shape| !shape.open),
            PatternOperand::Rest(_) => None,
        };
        let mut operands: Vec<Option<ShapeTest>> = op.operands.iter().map(shape).collect();
        if def.elementwise && !MIXED_DIMS.contains(&def.name) {
            let same = operands.iter().flatten().next().cloned()?;
            let same = ShapeTest { dtype: None, ..same };
            operands.iter_mut().for_each(|o| *o = o.take().or_else(|| Some(same.clone())));
        }
        let operands: Vec<ShapeTest> = operands.into_iter().collect::<Option<_>>()?;
        let mut wanted: Vec<ShapeTest> = Vec::new();
        let typed = op.results.first().and_then(|&v| known[v].clone());
        let dtype = op.attrs.iter().find_map(|test| match (&test.slot, &test.test) {
            (AttrSlot::Dtype, AttrCondition::Is(Attr::Type(dtype))) => Some(*dtype),
            _ => None,
        });
        for test in &op.attrs {
            if let (AttrSlot::Shape, AttrCondition::Is(Attr::Ints(dims))) = (&test.slot, &test.test)
            {
                let dims = dims.iter().map(|&n| u64::try_from(n).map(DimTest::Known));
                let dims = dims.collect::<Result<_, _>>().ok()?;
                wanted.push(ShapeTest { dtype, open: false, dims });
            }
        }
        wanted.extend(typed.clone());
        let declared = match def.attrs.iter().any(|row| row.kind == AttrKind::ResultType) {
            true => {
                let mut shape = wanted.iter().find(|shape| !shape.open)?.clone();
                shape.dtype = dtype.or(shape.dtype).or(typed.and_then(|shape| shape.dtype));
                Some(shape)
            }
            false => None,
        };
        let attrs = def.attrs.iter().enumerate().map(|(n, row)| {
            let test = op.attrs.iter().find(|test| test.slot == AttrSlot::Row(n));
            match (test.map(|test| &test.test), row.kind) {
                (_, AttrKind::ResultType) => Some(vec![Attr::Unit]),
                (Some(AttrCondition::Is(attr)), _) => Some(vec![attr.clone()]),
                (Some(AttrCondition::Axes(of, attr)), _) => {
                    let shape = match of {
                        AxesOf::Operand(n) => operands.get(*n),
                        AxesOf::Result => wanted.iter().find(|shape| !shape.open),
                    };
                    Some(vec![from_the_end(attr, shape?.dims.len())])
                }
                (_, AttrKind::Word(words)) => Some(words.iter().map(|w| Attr::word(w)).collect()),
                (_, AttrKind::Bool) => Some(vec![Attr::Bool(false), Attr::Bool(true)]),
                // An element type that may be omitted follows from others.
                (None, AttrKind::Type) => row.default.clone().map(|omitted| vec![omitted]),
                _ => None,
            }
        });
        let attrs = attrs.collect::<Option<_>>()?;
        let inference = Self { def, operands, declared, wanted, attrs };
        (graph.through.is_empty() && inference.count() <= MAX_ASSIGNMENTS).then_some(inference)
    }

    // Returns the shapes that inference gets.
    fn given(&self) -> impl Iterator<Item = &ShapeTest> {
        self.operands.iter().chain(&self.declared)
    }

    // Returns the names of dims, and one name for each other dim that is not known.
    fn open_dims(&self) -> Vec<DimTest> {
        let mut open: Vec<DimTest> = Vec::new();
        for dim in self.given().flat_map(|shape| &shape.dims) {
            let new = match dim {
                DimTest::Known(_) => false,
                DimTest::Any => true,
                DimTest::Name(_) => !open.contains(dim),
            };
            if new {
                open.push(*dim);
            }
        }
        open
    }

    // Returns the extents that are tried for each dim that is not known.
    fn extents(&self) -> Vec<Dim> {
        let mut extents = vec![Dim::Unknown, Dim::Known(1)];
        for dim in self.given().chain(&self.wanted).flat_map(|shape| &shape.dims) {
            if let DimTest::Known(n) = dim
                && !extents.contains(&Dim::Known(*n))
            {
                extents.push(Dim::Known(*n));
            }
        }
        extents
    }

    fn count(&self) -> usize {
        let (dims, extents) = (self.open_dims().len(), self.extents().len());
        let dims = std::iter::repeat_n(extents, dims);
        dims.chain(self.attrs.iter().map(Vec::len)).fold(1, usize::saturating_mul)
    }

    fn run(&self) -> Inferred {
        let (open, extents) = (self.open_dims(), self.extents());
        let mut shapes: Vec<Vec<Dim>> = Vec::new();
        let mut errors = Errors::default();
        // Most ops have values of one element type, so that the others are rarely tried.
        let count = self.count();
        for n in 0..2 * count {
            let (mixed, mut digits) = (n >= count, n % count);
            if mixed && !shapes.is_empty() || shapes.len() > 1 {
                break;
            }
            let mut digit = |base: usize| {
                let digit = digits % base;
                digits /= base;
                digit
            };
            let attrs: Vec<Attr> =
                self.attrs.iter().map(|all| all[digit(all.len())].clone()).collect();
            let bound: Vec<Dim> = open.iter().map(|_| extents[digit(extents.len())]).collect();
            self.infer(&attrs, (&open, &bound), mixed, &mut shapes, &mut errors);
        }
        match (&shapes[..], errors.most_frequent()) {
            ([], Some(why)) if self.decided() => Inferred::Contradiction(why),
            ([one], _) => {
                let dim = |dim: &Dim| match dim {
                    Dim::Known(n) => DimTest::Known(*n),
                    _ => DimTest::Any,
                };
                let dims = one.iter().map(dim).collect();
                Inferred::Shape(ShapeTest { dtype: None, open: false, dims })
            }
            _ => Inferred::Unknown,
        }
    }

    // Returns whether all types were tried: a name that the result repeats has one extent, which is not among those that are tried.
    fn decided(&self) -> bool {
        let repeats = self.declared.iter().any(|shape| {
            let mut dims = shape.dims.iter().enumerate();
            dims.any(|(n, dim)| matches!(dim, DimTest::Name(_)) && shape.dims[..n].contains(dim))
        });
        !repeats
            && self.given().filter(|shape| shape.dtype.is_none()).count() <= MAX_VALUES_OF_ANY_TYPES
    }

    // Infers the result for one element type or for several. Adds the shapes that are possible.
    fn infer(
        &self,
        attrs: &[Attr],
        (open, bound): (&[DimTest], &[Dim]),
        mixed: bool,
        shapes: &mut Vec<Vec<Dim>>,
        errors: &mut Errors,
    ) {
        let mut others = open.iter().zip(bound).filter(|(dim, _)| **dim == DimTest::Any);
        let mut dims_of = |shape: &ShapeTest| -> SmallVec<[Dim; 4]> {
            let dim = |dim: &DimTest| match dim {
                DimTest::Known(n) => Dim::Known(*n),
                DimTest::Any => others.next().map_or(Dim::Unknown, |(_, dim)| *dim),
                DimTest::Name(_) => {
                    let place = open.iter().position(|own| own == dim);
                    place.map_or(Dim::Unknown, |n| bound[n])
                }
            };
            shape.dims.iter().map(dim).collect()
        };
        let dims: Vec<SmallVec<[Dim; 4]>> = self.given().map(&mut dims_of).collect();
        let fixed: Vec<Option<DataType>> = self.given().map(|shape| shape.dtype).collect();
        for dtypes in element_types(&fixed, mixed) {
            let types: Vec<ValueType> = dims
                .iter()
                .zip(&dtypes)
                .map(|(dims, &dtype)| TensorType { dtype, dims: dims.clone() }.into())
                .collect();
            let (operands, declared) = types.split_at(self.operands.len());
            let cx = InferCx {
                def: self.def,
                attrs,
                operands: operands.iter().collect(),
                regions: SmallVec::new(),
                declared_types: declared.iter().collect(),
            };
            let found = match infer_checked(&cx) {
                Ok(found) => found,
                Err(error) => {
                    if !mixed {
                        errors.add(without_element_types(&error.message));
                    }
                    continue;
                }
            };
            let Some(found) = found.first().and_then(ValueType::as_tensor) else { continue };
            match self.wanted.iter().find(|wanted| !may_be(wanted, found)) {
                Some(wanted) if !mixed => {
                    let found = without_element_types(&found.to_string());
                    errors.add(format!("its result is {found}, not {wanted}"));
                }
                Some(_) => {}
                None => {
                    let found = found.dims.to_vec();
                    if !shapes.contains(&found) {
                        shapes.push(found);
                    }
                    // The dims do not depend on the element types.
                    return;
                }
            }
        }
    }
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
    fn most_frequent(&self) -> Option<String> {
        let rank = |(_, (count, order)): &(&String, &(usize, usize))| (*count, usize::MAX - order);
        Some(self.counts.iter().max_by_key(rank)?.0.clone())
    }
}

// Returns the element types to try for values, some of which have a fixed one: the same for all others, or all combinations.
fn element_types(fixed: &[Option<DataType>], mixed: bool) -> Vec<Vec<DataType>> {
    if !mixed {
        let fill = |dtype: &DataType| fixed.iter().map(|own| own.unwrap_or(*dtype)).collect();
        return DataType::ALL.iter().map(fill).collect();
    }
    let free = fixed.iter().filter(|dtype| dtype.is_none()).count();
    let some: &[DataType] = match free <= MAX_VALUES_OF_ANY_TYPES {
        true => &DataType::ALL,
        false => &USUAL_TYPES,
    };
    let mut all: Vec<Vec<DataType>> = vec![Vec::new()];
    for own in fixed {
        let own = own.as_ref().map_or(some, std::slice::from_ref);
        let with = |before: &Vec<DataType>| {
            let before = before.clone();
            own.iter().map(move |&dtype| [&before[..], &[dtype]].concat()).collect::<Vec<_>>()
        };
        all = all.iter().flat_map(with).take(MAX_COMBINATIONS).collect();
    }
    all
}

// Returns whether a type may satisfy a test, leaving out its element type.
fn may_be(wanted: &ShapeTest, found: &TensorType) -> bool {
    let Some(before) = found.dims.len().checked_sub(wanted.dims.len()) else { return false };
    let fits = |(test, dim): (&DimTest, &Dim)| !matches!((test, dim), (DimTest::Known(m), Dim::Known(n)) if m != n);
    (before == 0 || wanted.open) && wanted.dims.iter().zip(&found.dims[before..]).all(fits)
}

// Removes element types before shapes: `f32[4]` becomes `[4]`.
fn without_element_types(text: &str) -> String {
    let mut text = text.to_owned();
    for dtype in DataType::ALL {
        text = text.replace(&format!("{dtype}["), "[");
    }
    text
}
