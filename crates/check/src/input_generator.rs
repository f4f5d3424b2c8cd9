//! Random inputs for functions, determined by a seed.

use sapwood_ptir::dims::{DimExpr, Facts};
use sapwood_ptir::eval::{Float, Int, Native, Tensor, Value};
use sapwood_ptir::{Dim, Function, Name, TensorLiteral, TensorType, ValueType};
use sapwood_ptir::{with_float, with_int};
use sapwood_types::{DataType, FloatMode, Rng};

use crate::input_ranges::InputRange;
use crate::shape_operands::ExtentList;

/// The extent of unknown dims, where all of them have the same.
const SAME_EXTENT: u64 = 3;
/// The largest extent that is tried for unknown dims besides the known extents of the function.
const MAX_OWN_EXTENT: u64 = 5;
/// The number of attempts to find extents that satisfy the facts of a function.
const MAX_EXTENT_DRAWS: usize = 200;
/// The number of extents above the smallest one that are tried for all symbols at once.
const MAX_SMALLEST_STEPS: u64 = 64;
/// The largest known extent of a function that is tried for unknown dims.
const MAX_STATED_EXTENT: u64 = 16;
/// The largest number of bytes of the inputs of one function.
const MAX_INPUT_BYTES: u64 = 1 << 30;
/// The largest number of bytes of inputs with extents that are only tried: larger ones take seconds to draw.
const MAX_SIZED_BYTES: u64 = 1 << 24;
/// The number of edge values of a type.
pub(crate) const EDGE_COUNT: usize = 5;
/// Functions with a parameter of fewer elements than this are run on more inputs.
const SMALL_PARAM_ELEMENTS: u64 = 64;
/// Functions with more input elements in all are not run often, however few elements one of the parameters has.
const MAX_ELEMENTS_OF_SMALL: u64 = 1 << 12;
/// The largest number of elements of a parameter that counts as a scalar: keys of random generators have two.
const MAX_SCALAR_ELEMENTS: u64 = 2;

/// The edge values of floats.
const FLOAT_EDGES: [f64; EDGE_COUNT] = [-0.0, f64::INFINITY, f64::NAN, f64::NEG_INFINITY, 0.0];
/// The edge values of floats under `fast`, where infinities and NaN mean nothing.
const FAST_EDGES: [f64; EDGE_COUNT] = [-0.0, 1.0, 0.5, -1.0, 0.0];
/// Floats at which algebraic laws often stop holding.
const COMMON_FLOATS: [f64; 5] = [0.0, 1.0, -1.0, 2.0, 0.5];

/// The kind of elements that are drawn.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub enum ElementKind {
    /// Elements of the range; now and then a zero of either sign, if the range has zero.
    #[default]
    Plain,
    /// Elements of the range with all their digits, some of a wider range, some constants of the programs, some edge values.
    Mixed,
    /// Edge values in turn for every other element, starting with the one of this index.
    Turn(usize),
    /// Random bits.
    Raw,
}

/// The choice of extents for unknown dims.
#[derive(Clone, Copy, Debug, Default)]
pub enum OpenExtents<'a> {
    /// All are equal.
    #[default]
    Same,
    /// Each `?` and each named dim has its own.
    Own,
    /// Each is larger by this number than the smallest that the facts of the function allow.
    Smallest(u64),
    /// Those of the first axes of tensors with several axes, such as batches, are `leading`, and all others are `others`, or the smallest
    /// that the facts of the function allow.
    Sized {
        /// The extent of first axes.
        leading: u64,
        /// The extent of all other axes.
        others: u64,
    },
    /// The shape of each parameter is given.
    Given(&'a [Vec<u64>]),
}

/// A generator of random inputs.
#[derive(Clone, Copy, Debug, Default)]
pub struct InputGenerator<'a> {
    /// The kind of elements.
    pub elements: ElementKind,
    /// The extents of unknown dims.
    pub extents: OpenExtents<'a>,
    /// The range of each parameter; [`InputRange::Any`] for those that are missing.
    pub ranges: &'a [InputRange],
    /// The numbers at which the programs may begin to differ, such as their constants.
    pub constants: &'a [f64],
    /// The float mode; under [`FloatMode::Fast`] no infinities and NaN are drawn.
    pub floats: FloatMode,
}

/// An element to draw: its position in the tensor, its type and the range of its values.
#[derive(Clone, Copy)]
struct Element {
    at: usize,
    dtype: DataType,
    range: InputRange,
}

impl InputGenerator<'_> {
    /// Draws one value per parameter.
    ///
    /// # Errors
    /// If the inputs take too many bytes.
    pub fn inputs(&self, f: &Function, seed: u64) -> Result<Vec<Value>, String> {
        // Hashes the seed, so that neighbouring seeds give unrelated numbers.
        let mut rng = Rng::new(Rng::new(seed).bits());
        let mut drawing = DrawState {
            generator: self,
            f,
            names: Vec::new(),
            candidate_extents: None,
            bytes: 0,
            max_bytes: match self.extents {
                OpenExtents::Sized { .. } => MAX_SIZED_BYTES,
                _ => MAX_INPUT_BYTES,
            },
            range: InputRange::Any,
        };
        if let OpenExtents::Sized { leading, others } = self.extents {
            drawing.bind_sized_symbols(leading, others);
        } else if let Some(facts) = f.facts() {
            drawing.bind_symbols(&mut rng, facts);
        }
        let params = f.params().iter().enumerate();
        let value = |(n, &param): (usize, _)| {
            drawing.range = self.ranges.get(n).copied().unwrap_or_default();
            let given = match self.extents {
                OpenExtents::Given(shapes) => shapes.get(n).map(Vec::as_slice),
                _ => None,
            };
            drawing.value(&mut rng, f.value_type(param), given)
        };
        params.map(value).collect()
    }

    /// Draws the elements of a tensor of this element type and shape.
    ///
    /// # Errors
    /// If the elements cannot be counted or a type has none.
    pub fn tensor(
        &self,
        rng: &mut Rng,
        dtype: DataType,
        shape: &[u64],
        range: InputRange,
    ) -> Result<TensorLiteral, String> {
        let count = shape.iter().try_fold(1u64, |n, &extent| n.checked_mul(extent));
        let fits = |&n: &u64| {
            n.checked_mul(dtype.byte_size() as u64).is_some_and(|bytes| bytes <= MAX_INPUT_BYTES)
        };
        let count = count.filter(fits).ok_or("it has too many elements")?;
        let mut bytes = Vec::with_capacity(count as usize * dtype.byte_size());
        let parts = if dtype.is_complex() { 2 } else { 1 };
        let part = dtype.complex_part().unwrap_or(dtype);
        for at in 0..count as usize * parts {
            let element = Element { at, dtype: part, range };
            if part.is_float() {
                self.float(rng, element, &mut bytes);
            } else if part.is_bool() {
                bytes.push((rng.bits() & 1) as u8);
            } else if part.is_storage_only() {
                bytes.push(self.stored_byte(rng, part));
            } else {
                self.integer(rng, element, &mut bytes)
                    .ok_or_else(|| format!("random elements of {dtype} cannot be drawn"))?;
            }
        }
        TensorLiteral::new(dtype, shape, &bytes).map_err(|why| why.to_string())
    }

    // Draws the bits of an element without arithmetic. Plain elements are not NaN.
    fn stored_byte(&self, rng: &mut Rng, dtype: DataType) -> u8 {
        let bits = (rng.bits() >> 8) as u8;
        match dtype {
            DataType::I2 => (((bits << 6) as i8) >> 6) as u8,
            _ if dtype.bit_width() < 8 => bits & ((1 << dtype.bit_width()) - 1),
            DataType::F8E8M0Fnu if self.elements == ElementKind::Plain => bits & 0x7f,
            _ if self.elements == ElementKind::Plain && bits == 0x80 => 0,
            _ => bits,
        }
    }

    fn float(&self, rng: &mut Rng, element: Element, bytes: &mut Vec<u8>) {
        let Element { at, dtype, range } = element;
        let random = rng.bits();
        let (low, width) = range.floats();
        // Sums of few coarse numbers are exact. Sums of fine numbers are rounded, which shows their order.
        let part = match self.elements {
            ElementKind::Mixed => (random >> 11) as f64 / (1u64 << 53) as f64,
            _ => (random >> 8 & 0xfff) as f64 / 4096.0,
        };
        let plain = part * width + low;
        let special = !self.floats.fast();
        let number = match (self.elements, random % 64) {
            (ElementKind::Turn(first), _) if at.is_multiple_of(2) => {
                let edges = if special { &FLOAT_EDGES } else { &FAST_EDGES };
                edges[first.wrapping_add(at) % EDGE_COUNT]
            }
            (ElementKind::Raw, _) if special => {
                return with_float!(dtype, T => raw_float::<T>(rng).write_bytes(bytes), _ => {});
            }
            // Squares of small numbers underflow in narrow types.
            (ElementKind::Raw, _) if dtype.byte_size() < 4 => plain,
            (ElementKind::Raw, _) => plain * ((random >> 20 & 0xf) as f64 - 8.0).exp2(),
            (ElementKind::Plain | ElementKind::Mixed, 0) if range.has_zero() => 0.0,
            (ElementKind::Plain | ElementKind::Mixed, 1) if range.has_zero() => -0.0,
            (ElementKind::Mixed, 2) if special => f64::INFINITY,
            (ElementKind::Mixed, 3) if special => f64::NAN,
            (ElementKind::Mixed, 4..=11) => {
                let all = COMMON_FLOATS.iter().chain(self.constants);
                let at = rng.below(COMMON_FLOATS.len() + self.constants.len());
                all.copied().nth(at).unwrap_or(0.0)
            }
            (ElementKind::Mixed, 12..=19) => plain * 4.0,
            _ => plain,
        };
        with_float!(dtype, T => T::nearest(number).write_bytes(bytes), _ => {});
    }

    fn integer(&self, rng: &mut Rng, element: Element, bytes: &mut Vec<u8>) -> Option<()> {
        let Element { at, dtype, range } = element;
        let (smallest, largest) = dtype.integer_range()?;
        let random = rng.bits();
        // The largest comes last: as a trip count it takes longest.
        let edges = [0, 1, if smallest == 0 { 2 } else { -1 }, smallest, largest];
        let plain = match range {
            InputRange::Index(bound) => i128::from(random >> 8) % i128::from(bound.max(1)),
            _ if smallest == 0 => i128::from(random % 9),
            _ => i128::from(random % 9) - 4,
        };
        let number = match (self.elements, random >> 8 & 0xf) {
            (ElementKind::Turn(first), _) if at.is_multiple_of(2) => {
                edges[first.wrapping_add(at) % EDGE_COUNT]
            }
            (ElementKind::Raw, _) => {
                return with_int!(dtype, T => {
                    raw_integer::<T>(rng).write_bytes(bytes);
                    Some(())
                }, _ => None);
            }
            (ElementKind::Mixed, 0) => smallest,
            (ElementKind::Mixed, 1) => largest,
            (ElementKind::Mixed, 2) => {
                let power = 1i128 << rng.below(dtype.bit_width() as usize);
                power + i128::from(random >> 32) % 3 - 1
            }
            (ElementKind::Mixed, 3 | 4) => match rng.pick(self.constants) {
                Some(known) => known as i128,
                None => plain,
            },
            _ => plain,
        };
        let number = number.clamp(smallest, largest);
        bytes.extend_from_slice(&number.to_le_bytes()[..dtype.byte_size()]);
        Some(())
    }
}

// Draws an integer near zero, near the limits of the signed and the unsigned type, a power of two, or random bits.
fn raw_integer<T: Int>(rng: &mut Rng) -> T {
    let near = rng.below(7) as i128 - 3;
    T::wrap(match rng.below(5) {
        0 => near,
        1 => (1i128 << (T::BITS - 1)) + near,
        2 => 1i128 << rng.below(T::BITS as usize),
        3 => rng.below(20) as i128 - 10,
        _ => rng.bits().into(),
    })
}

fn raw_float<T: Float>(rng: &mut Rng) -> T {
    let sign = u64::from(rng.one_in(2)) << (T::WIDTH - 1);
    let raw = match rng.below(12) {
        special @ 0..7 => T::special_bits()[special],
        7 => return T::nearest(rng.below(9) as f64 - 4.0),
        8 => return T::nearest((rng.below(33) as f64 - 16.0) / 4.0),
        9 => return T::nearest(2f64.powi(rng.below(40) as i32 - 20)),
        _ => rng.bits() & ((1 << (T::WIDTH - 1)) - 1),
    };
    T::from_raw(sign | raw)
}

struct DrawState<'a> {
    generator: &'a InputGenerator<'a>,
    f: &'a Function,
    names: Vec<(Name, u64)>,
    // The extents that unknown dims may have.
    candidate_extents: Option<Vec<u64>>,
    bytes: u64,
    max_bytes: u64,
    range: InputRange,
}

impl DrawState<'_> {
    // Types nest at most 64 deep.
    fn value(
        &mut self,
        rng: &mut Rng,
        ty: &ValueType,
        given: Option<&[u64]>,
    ) -> Result<Value, String> {
        match ty {
            ValueType::Tensor(ty) => self.tensor(rng, ty, given).map(Value::Tensor),
            ValueType::Tuple(types) => {
                let elements: Result<Vec<Value>, String> =
                    types.iter().map(|ty| self.value(rng, ty, None)).collect();
                Ok(Value::Tuple(elements?.into()))
            }
            ValueType::Token => Ok(Value::Token),
            ValueType::Opaque => Err("no random values of type opaque".into()),
        }
    }

    fn tensor(
        &mut self,
        rng: &mut Rng,
        ty: &TensorType,
        given: Option<&[u64]>,
    ) -> Result<Tensor, String> {
        let shape: Vec<u64> = match given {
            Some(shape) => shape.to_vec(),
            None => {
                let leads = |axis: usize| axis == 0 && ty.rank() > 1;
                let dims = ty.dims.iter().enumerate();
                dims.map(|(axis, &dim)| self.extent(rng, dim, leads(axis))).collect()
            }
        };
        let width = ty.dtype.byte_size() as u64;
        let count = shape.iter().try_fold(1u64, |n, &extent| n.checked_mul(extent));
        let total = count.and_then(|n| n.checked_mul(width)?.checked_add(self.bytes));
        let Some(total) = total.filter(|&total| total <= self.max_bytes) else {
            return Err(format!(
                "its inputs take more than {} bytes, the most that are drawn",
                self.max_bytes
            ));
        };
        self.bytes = total;
        if let (InputRange::Extents(list), Some(limits)) = (self.range, ty.dtype.integer_range()) {
            let numbers = self.shape_operand(rng, &list, count.unwrap_or(0) as usize);
            let bytes = |n: &i128| n.clamp(&limits.0, &limits.1).to_le_bytes();
            let width = ty.dtype.byte_size();
            let bytes: Vec<u8> =
                numbers.iter().flat_map(|n| bytes(n).into_iter().take(width)).collect();
            let literal = TensorLiteral::new(ty.dtype, &shape, &bytes);
            return Tensor::from_literal(&literal.map_err(|why| why.to_string())?)
                .map_err(|why| why.to_string());
        }
        let literal = self.generator.tensor(rng, ty.dtype, &shape, self.range)?;
        Tensor::from_literal(&literal).map_err(|why| why.to_string())
    }

    // Draws an operand that is a shape: small, and mostly one with which a run does not stop.
    fn shape_operand(&mut self, rng: &mut Rng, list: &ExtentList, len: usize) -> Vec<i128> {
        let mut rest = match list.count {
            Dim::Unknown => None,
            count => Some(self.extent(rng, count, false)),
        };
        let mut numbers: Vec<Option<u64>> = Vec::new();
        for n in 0..len {
            let number = match list.dims.get(n) {
                None | Some(Dim::Unknown) => None,
                Some(&dim) => Some(self.extent(rng, dim, false)),
            };
            rest = rest.and_then(|rest| rest.checked_div(number.unwrap_or(1)));
            numbers.push(number);
        }
        let mut left = numbers.iter().filter(|n| n.is_none()).count();
        for number in numbers.iter_mut().filter(|n| n.is_none()) {
            left -= 1;
            let drawn = match (rest, list.amounts) {
                (Some(rest), _) if left == 0 => rest,
                (Some(rest), _) => {
                    let divisors: Vec<u64> =
                        (1..=rest.min(MAX_STATED_EXTENT)).filter(|n| rest % n == 0).collect();
                    rng.pick(&divisors).unwrap_or(0)
                }
                (None, Some([least, most])) => {
                    u64::from(least) + rng.below(usize::from(most - least) + 1) as u64
                }
                (None, None) => self.extent(rng, Dim::Unknown, false),
            };
            rest = rest.and_then(|rest| rest.checked_div(drawn));
            *number = Some(drawn);
        }
        let mut numbers: Vec<i128> = numbers.into_iter().flatten().map(i128::from).collect();
        // Now and then the operand asks for a shape that is not possible.
        if self.generator.elements != ElementKind::Plain && rng.one_in(4) && len > 0 {
            numbers[rng.below(len)] += [-1, 1][rng.below(2)];
        }
        numbers
    }

    // Draws the extent of a dim, which may be that of the first of several axes.
    fn extent(&mut self, rng: &mut Rng, dim: Dim, leads: bool) -> u64 {
        match (dim, self.generator.extents) {
            (Dim::Known(extent), _) => extent,
            (Dim::Unknown, OpenExtents::Same | OpenExtents::Given(_)) => SAME_EXTENT,
            (Dim::Unknown, OpenExtents::Own) => self.own_extent(rng),
            (Dim::Unknown, OpenExtents::Smallest(offset)) => offset,
            (Dim::Unknown, OpenExtents::Sized { leading, others }) => {
                if leads {
                    leading
                } else {
                    others
                }
            }
            (Dim::Expr(_), extents) => {
                let mut symbols = Vec::new();
                dim.for_each_symbol(&mut |name| symbols.push(name));
                for name in symbols {
                    if !self.names.iter().any(|(known, _)| *known == name) {
                        let extent = match extents {
                            OpenExtents::Own => self.own_extent(rng),
                            OpenExtents::Smallest(offset) => offset,
                            OpenExtents::Sized { leading, others } => {
                                if leads {
                                    leading
                                } else {
                                    others
                                }
                            }
                            OpenExtents::Same | OpenExtents::Given(_) => SAME_EXTENT,
                        };
                        self.names.push((name, extent));
                    }
                }
                let value = |name| Some(self.names.iter().find(|(known, _)| *known == name)?.1);
                // A run reports the extents that have no solution.
                dim.evaluate(&value).unwrap_or(0)
            }
        }
    }

    // Sets the extents of all symbols, by whether they are those of first axes.
    fn bind_sized_symbols(&mut self, leading: u64, others: u64) {
        let f = self.f;
        let tensors = || f.params().iter().filter_map(|&param| f.value_type(param).as_tensor());
        let first_axes = tensors().filter(|ty| ty.rank() > 1).filter_map(|ty| ty.dims.first());
        let mut led: Vec<Name> = Vec::new();
        first_axes.for_each(|dim| dim.for_each_symbol(&mut |name| led.push(name)));
        for dim in tensors().flat_map(|ty| &ty.dims) {
            dim.for_each_symbol(&mut |name| {
                let extent = if led.contains(&name) { leading } else { others };
                let lowest = f.facts().map_or(0, |facts| lowest_extent(facts, name));
                if !self.names.iter().any(|(known, _)| *known == name) {
                    self.names.push((name, extent.max(lowest)));
                }
            });
        }
    }

    // Draws extents of all symbols that satisfy the facts of the function. Without success, each symbol is drawn on its own.
    fn bind_symbols(&mut self, rng: &mut Rng, facts: &Facts) {
        let f = self.f;
        let mut symbols: Vec<Name> = Vec::new();
        for &param in f.params() {
            f.value_type(param).for_each_symbol(&mut |name| {
                if !symbols.contains(&name) {
                    symbols.push(name);
                }
            });
        }
        let lowest = |name: Name| lowest_extent(facts, name);
        let is_allowed = |names: &[(Name, u64)]| {
            let value =
                |name: Name| names.iter().find(|(known, _)| *known == name).map(|pair| pair.1);
            let holds = facts.hold(&|name| i64::try_from(value(name)?).ok()) == Some(true);
            let tensors = f.params().iter().filter_map(|&param| f.value_type(param).as_tensor());
            let mut exprs = tensors.flat_map(|ty| &ty.dims).filter(|d| matches!(d, Dim::Expr(_)));
            holds && exprs.all(|dim| dim.evaluate(&value).is_some())
        };
        let extents = self.generator.extents;
        // The same distance from the smallest extent for all symbols, if the facts allow it.
        let start = match extents {
            OpenExtents::Smallest(offset) => Some(offset),
            OpenExtents::Own => None,
            OpenExtents::Same | OpenExtents::Given(_) | OpenExtents::Sized { .. } => {
                Some(SAME_EXTENT)
            }
        };
        for step in start.into_iter().flat_map(|start| start..start + MAX_SMALLEST_STEPS) {
            let extent = |name: Name| match extents {
                OpenExtents::Smallest(_) => lowest(name).saturating_add(step),
                _ => lowest(name).max(step),
            };
            let names: Vec<_> = symbols.iter().map(|&name| (name, extent(name))).collect();
            if is_allowed(&names) {
                self.names = names;
                return;
            }
        }
        for attempt in 0..MAX_EXTENT_DRAWS {
            let mut names = Vec::new();
            for &name in &symbols {
                let least = lowest(name);
                let extent = match rng.below(4) {
                    0 => least,
                    1 => least.saturating_add(1),
                    _ => self
                        .own_extent(rng)
                        .max(least)
                        .saturating_add(rng.below(1 + attempt / 8) as u64),
                };
                names.push((name, extent));
            }
            if is_allowed(&names) {
                self.names = names;
                return;
            }
        }
    }

    fn own_extent(&mut self, rng: &mut Rng) -> u64 {
        let f = self.f;
        let choices = self.candidate_extents.get_or_insert_with(|| {
            let results = f.walk().flat_map(|inst| f.inst_results(inst));
            let values = results.chain(f.params().iter().copied());
            let dims = values.filter_map(|v| f.value_type(v).as_tensor()).flat_map(|t| &t.dims);
            let known = dims.filter_map(|dim| dim.known()).filter(|&n| n <= MAX_STATED_EXTENT);
            let mut all: Vec<u64> = known.chain(0..=MAX_OWN_EXTENT).collect();
            all.sort_unstable();
            all.dedup();
            all
        });
        rng.pick(choices).unwrap_or(1)
    }
}

// Returns the smallest extent of a symbol that facts allow.
fn lowest_extent(facts: &Facts, name: Name) -> u64 {
    let lowest = DimExpr::symbol(name).and_then(|symbol| facts.bounds(symbol).lowest());
    lowest.and_then(|n| u64::try_from(n).ok()).unwrap_or(0)
}

/// Returns whether a parameter has so few elements that random inputs seldom contain edge values. Returns false if the
/// parameters together have many.
pub(crate) fn has_small_param(f: &Function) -> bool {
    let counts = || f.params().iter().map(|&p| count_elements(f.value_type(p)));
    counts().any(|n| (1..SMALL_PARAM_ELEMENTS).contains(&n))
        && counts().fold(0, u64::saturating_add) < MAX_ELEMENTS_OF_SMALL
}

/// Returns whether all parameters of a function have at most [`MAX_SCALAR_ELEMENTS`], so that one input shows little.
pub(crate) fn has_only_scalar_params(f: &Function) -> bool {
    f.params().iter().all(|&p| count_elements(f.value_type(p)) <= MAX_SCALAR_ELEMENTS)
}

// Types nest at most 64 deep.
fn count_elements(ty: &ValueType) -> u64 {
    match ty {
        ValueType::Tensor(ty) => {
            let extents = ty.dims.iter().map(|dim| dim.known().unwrap_or(SAME_EXTENT));
            extents.fold(1, u64::saturating_mul)
        }
        ValueType::Tuple(types) => types.iter().map(count_elements).fold(0, u64::saturating_add),
        ValueType::Token | ValueType::Opaque => 0,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::show;

    fn inputs(params: &str, seed: u64, draw: &InputGenerator<'_>) -> Vec<Value> {
        let text = format!("ptir 1 func @f({params}) {{ return }}");
        let program = sapwood_ptir::parse(&text).unwrap();
        draw.inputs(&program.functions()[0], seed).unwrap()
    }

    fn floats(seed: u64, draw: &InputGenerator<'_>) -> Vec<f32> {
        let made = inputs("%x: f32[64]", seed, draw);
        made[0].as_tensor().unwrap().elements::<f32>().unwrap().to_vec()
    }

    #[test]
    fn seeds_share_no_run_of_numbers() {
        let plain = |seed| floats(seed, &InputGenerator::default());
        for other in 2..6 {
            let (a, b) = (plain(1), plain(other));
            assert!((0..60).all(|at| b.windows(4).all(|w| w != &a[at..at + 4])), "{other}");
        }
        assert_eq!(plain(1), plain(1));
    }

    #[test]
    fn mixed_floats_have_all_their_digits() {
        let coarse = |elements| {
            let all = floats(1, &InputGenerator { elements, ..InputGenerator::default() });
            all.iter().filter(|x| x.is_finite() && (**x * 4096.0).fract() == 0.0).count()
        };
        assert_eq!(coarse(ElementKind::Plain), 64);
        assert!(coarse(ElementKind::Mixed) < 32);
    }

    #[test]
    fn a_scalar_beside_a_tensor_meets_edge_values() {
        let of = |params: &str| {
            let text = format!("ptir 1 func @f({params}) {{ return }}");
            let program = sapwood_ptir::parse(&text).unwrap();
            (
                has_small_param(&program.functions()[0]),
                has_only_scalar_params(&program.functions()[0]),
            )
        };
        assert_eq!(of("%x: f32[10, 10, 10], %i: i32[]"), (true, false));
        assert_eq!(of("%x: f32[1000, 10], %i: i32[]"), (false, false));
        assert_eq!(of("%x: f32[8, 8]"), (false, false));
        assert_eq!(of("%key: u32[2], %low: i64[], %high: i64[]"), (true, true));
    }

    #[test]
    fn extents_are_one_or_their_own() {
        let params = "%a: f32[?], %b: f32[?], %c: f32[?], %d: f32[?], %e: f32[?n], %f: f32[?n, 2]";
        let extents = |extents| -> Vec<usize> {
            let made = inputs(params, 1, &InputGenerator { extents, ..InputGenerator::default() });
            made.iter().map(|v| v.as_tensor().unwrap().shape()[0]).collect()
        };
        assert_eq!(extents(OpenExtents::Same), [3; 6]);
        let own = extents(OpenExtents::Own);
        assert!(own[..4].iter().any(|&extent| extent != own[0]), "{own:?}");
        assert_eq!(own[4], own[5]);
    }

    #[test]
    fn drawn_values_are_in_range() {
        for (range, low, high) in [
            (InputRange::Any, -2.0, 2.0),
            (InputRange::Positive, 0.0625, 4.0),
            (InputRange::AboveOne, 1.0, 4.0),
            (InputRange::Probability, 0.0625, 0.9375),
            (InputRange::Within, -0.9375, 0.9375),
            (InputRange::Small, -0.25, 0.25),
            (InputRange::Weight(1), -2.0, 2.0),
            (InputRange::Weight(64), -0.25, 0.25),
            (InputRange::Weight(768), -0.0625, 0.0625),
        ] {
            let all = floats(1, &InputGenerator { ranges: &[range], ..InputGenerator::default() });
            assert!(all.iter().all(|x| (low..=high).contains(x)), "{range:?}: {all:?}");
        }
        let draw = InputGenerator { ranges: &[InputRange::Index(3)], ..InputGenerator::default() };
        let made = inputs("%x: i32[64]", 1, &draw);
        let all = made[0].as_tensor().unwrap().elements::<i32>().unwrap().to_vec();
        assert!((0..3).all(|n| all.contains(&n)) && all.iter().all(|n| (0..3).contains(n)));
    }

    #[test]
    fn edges_come_in_turn() {
        let of = |params: &str, edge| {
            let draw =
                InputGenerator { elements: ElementKind::Turn(edge), ..InputGenerator::default() };
            show::to_json(&inputs(params, 1, &draw)[0], 1000).to_string()
        };
        let floats: Vec<String> = (0..EDGE_COUNT).map(|edge| of("%x: f32[]", edge)).collect();
        assert!(floats[0].contains("-0.0"), "{floats:?}");
        assert!(floats[1].contains("inf"), "{floats:?}");
        assert!(floats[2].contains("nan"), "{floats:?}");
        assert!(of("%x: i32[]", EDGE_COUNT - 1).contains("2147483647"));
        for dtype in DataType::ALL {
            let params = format!("%x: {}[3]", dtype.short_name());
            (0..EDGE_COUNT).for_each(|edge| assert!(!of(&params, edge).is_empty(), "{dtype}"));
        }
    }

    #[test]
    fn every_type_has_elements_and_edge_values() {
        for dtype in DataType::ALL {
            let params = format!("%x: tuple<{}[200], token>", dtype.short_name());
            for elements in [ElementKind::Plain, ElementKind::Mixed, ElementKind::Raw] {
                let made =
                    inputs(&params, 1, &InputGenerator { elements, ..InputGenerator::default() });
                let Value::Tuple(parts) = &made[0] else { panic!("{:?}", made[0]) };
                let text = show::to_json(&parts[0], 1000).to_string();
                let (has_nan, is_plain) = (text.contains("nan"), elements == ElementKind::Plain);
                match dtype.is_storage_only() {
                    // Their bits are drawn at random.
                    true => assert!(!has_nan || !is_plain, "{text}"),
                    false => {
                        let float = dtype.is_float() || dtype.is_complex();
                        assert_eq!(has_nan, !is_plain && float, "{text}");
                    }
                }
            }
        }
    }
}
