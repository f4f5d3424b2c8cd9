//! Regions of ops in calls: an attribute such as `body="max"` names the op that the region computes.

use sapwood_ptir::ops::{CompareOrder, Yield};
use sapwood_ptir::{
    Attr, BodyId, FunctionWriter, InferCx, Op as _, OpDef, OpError, OpKey, OpParts,
    RegionSignature, Registry, TensorType, ValueType, infer_checked,
};
use sapwood_structural::{Map, Value};
use sapwood_types::{DataType, Span, did_you_mean};
use smallvec::SmallVec;

use super::attrs::named_values;

/// The words for a region that combines two elements. `replace` is the second one, the others are ops.
const COMBINERS: [&str; 8] = ["add", "mul", "min", "max", "and", "or", "xor", "replace"];
/// The words for the order of a sort.
const ORDERS: [&str; 2] = ["lt", "gt"];
/// The words for the choice between two elements.
const CHOICES: [&str; 4] = ["ge", "gt", "le", "lt"];

/// The task of a region in its op.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Role {
    /// Combines accumulators with elements, each pair alone.
    Combine,
    /// Tells whether the left elements come before the right ones; only those of the first input are compared.
    Order,
    /// Tells whether the first element is kept.
    Choose,
}

impl Role {
    fn words(self) -> &'static [&'static str] {
        match self {
            Self::Combine => &COMBINERS,
            Self::Order => &ORDERS,
            Self::Choose => &CHOICES,
        }
    }
}

/// Returns the tasks of the regions of an op; none if a word cannot describe them.
fn roles(def: &OpDef) -> Option<&'static [Role]> {
    Some(match def.name {
        _ if def.regions.is_empty() => &[],
        "reduce" | "reduce_window" | "scatter" => &[Role::Combine],
        "sort" => &[Role::Order],
        "select_and_scatter" => &[Role::Choose, Role::Combine],
        _ => return None,
    })
}

/// Returns whether a call can provide what an op needs: it ends no body, and words can describe its regions.
#[must_use]
pub fn is_callable(def: &OpDef) -> bool {
    !def.terminator && roles(def).is_some()
}

/// Checks that an op can be called.
pub(super) fn check_callable(def: &OpDef) -> Result<(), OpError> {
    if def.terminator {
        return Err(OpError::new("it ends a body, so it cannot be called"));
    }
    if roles(def).is_none() {
        let error = OpError::new("it has regions, which a call cannot provide");
        return Err(match def.name {
            "cond" | "case" => error.with_help("write an `if` statement"),
            "while" | "scan" => error.with_help("write a loop"),
            _ => error,
        });
    }
    Ok(())
}

/// A region whose content a word describes.
pub struct NamedRegion {
    role: Role,
    word: &'static str,
    params: Vec<ValueType>,
    results: Vec<ValueType>,
}

impl NamedRegion {
    /// Returns the signature of the region.
    pub(super) fn signature(&self) -> RegionSignature<'_> {
        RegionSignature {
            params: self.params.iter().collect(),
            results: Some(self.results.iter().collect()),
        }
    }

    /// Writes the region as a body, for an instruction that is appended next.
    ///
    /// # Errors
    /// Fails if the elements do not fit the op that the word names.
    pub fn write(&self, writer: &mut FunctionWriter, span: Span) -> Result<BodyId, OpError> {
        let body = writer.new_body();
        let params: Vec<_> = self.params.iter().map(|ty| writer.param(body, ty)).collect();
        let mut append = |parts: &OpParts| -> Result<SmallVec<[_; 4]>, OpError> {
            let inst = writer.append(body, parts, span)?;
            Ok(writer.function().inst_results(inst).collect())
        };
        let values = match (self.role, self.word) {
            (Role::Combine, "replace") => params[params.len() / 2..].iter().copied().collect(),
            (Role::Combine, name) => {
                let mut values = SmallVec::new();
                let (left, right) = params.split_at(params.len() / 2);
                for (&left, &right) in left.iter().zip(right) {
                    let mut parts = OpParts::new(OpKey::of(name));
                    parts.operands.extend([left, right]);
                    values.extend(append(&parts)?);
                }
                values
            }
            _ => {
                let mut parts = OpParts::new(OpKey::of("compare"));
                parts.operands.extend(params.iter().copied().take(2));
                parts.attrs = self.compare_attrs().into_iter().collect();
                append(&parts)?
            }
        };
        append(&Yield { values: values.into_iter().collect() }.into_parts())?;
        Ok(body)
    }

    /// Returns the attributes of the comparison. A sort of floats has the total order, in which NaN has a place.
    fn compare_attrs(&self) -> [Attr; 2] {
        let is_float = |ty: &ValueType| ty.as_tensor().is_some_and(|ty| ty.dtype.is_float());
        let order = match self.role {
            Role::Order if self.params.first().is_some_and(is_float) => CompareOrder::Total,
            _ => CompareOrder::Partial,
        };
        [Attr::word(self.word), Attr::word(order.as_str())]
    }
}

/// Returns the regions of a call of an op with operands of these types.
///
/// # Errors
/// Fails if the word for a region is missing or unknown, or if the elements do not fit it.
pub fn op_regions(
    registry: &Registry,
    def: &OpDef,
    attrs: Option<&Map>,
    operands: &[&ValueType],
) -> Result<Vec<NamedRegion>, OpError> {
    let given = attrs.map(named_values).unwrap_or_default();
    let roles = roles(def).unwrap_or_default();
    let mut regions = Vec::with_capacity(roles.len());
    for (region, &role) in def.regions.iter().zip(roles) {
        let word = chosen_word(region.name, role.words(), &given)?;
        let inputs = match (def.name, role) {
            ("scatter", _) => operands.len().saturating_sub(1) / 2,
            ("select_and_scatter", _) => 1,
            (_, Role::Combine) => operands.len() / 2,
            _ => operands.len(),
        };
        let dtypes: Option<Vec<DataType>> =
            operands.iter().take(inputs).map(|ty| Some(ty.as_tensor()?.dtype)).collect();
        let dtypes = dtypes.ok_or_else(|| OpError::new("its operands must be tensors"))?;
        let scalar = |dtype: &DataType| ValueType::from(TensorType::scalar(*dtype));
        let elements: Vec<ValueType> = dtypes.iter().map(scalar).collect();
        let (params, results) = match role {
            Role::Combine => (elements.iter().chain(&elements).cloned().collect(), elements),
            // The two elements of an input are neighbours.
            _ => {
                let pairs = elements.into_iter().flat_map(|ty| [ty.clone(), ty]);
                (pairs.collect(), vec![scalar(&DataType::Bool)])
            }
        };
        let made = NamedRegion { role, word, params, results };
        check_elements(registry, region.name, &made)?;
        regions.push(made);
    }
    Ok(regions)
}

fn chosen_word(
    region: &str,
    words: &'static [&'static str],
    given: &[(&str, &Value)],
) -> Result<&'static str, OpError> {
    let list = words.join(", ");
    let Some((_, value)) = given.iter().find(|(name, _)| *name == region) else {
        let error = OpError::new(format!("it needs the attribute `{region}`, one of {list}"));
        return Err(
            error.with_help(format!("write `{region}=\"{}\"` after the arguments", words[0]))
        );
    };
    let found = match value {
        Value::Str(word) => Some(word.as_str()),
        _ => None,
    };
    if let Some(word) = words.iter().find(|word| found == Some(**word)) {
        return Ok(word);
    }
    let error = OpError::new(format!("attribute `{region}` must be one of {list}"));
    Err(match found.and_then(|found| did_you_mean(found, words.iter().copied())) {
        Some(close) => error.with_help(format!("did you mean `{close}`?")),
        None => error,
    })
}

/// Checks that the op of a region computes elements of these types.
fn check_elements(registry: &Registry, name: &str, region: &NamedRegion) -> Result<(), OpError> {
    let check = |op: &str, attrs: &[Attr], ty: &ValueType| {
        let Some(def) = registry.by_name(op) else { return Ok(()) };
        let cx = InferCx {
            def,
            attrs,
            operands: [ty, ty].into_iter().collect(),
            regions: SmallVec::new(),
            declared_types: SmallVec::new(),
        };
        infer_checked(&cx).map(|_| ()).map_err(|error| {
            let word = region.word;
            OpError::new(format!("attribute `{name}` is \"{word}\", but {}", error.message))
        })
    };
    match (region.role, region.word) {
        (Role::Combine, "replace") => Ok(()),
        (Role::Combine, op) => region.results.iter().try_for_each(|ty| check(op, &[], ty)),
        _ => match region.params.first() {
            Some(ty) => check("compare", &region.compare_attrs(), ty),
            None => Ok(()),
        },
    }
}
