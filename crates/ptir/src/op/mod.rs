//! Ops: the table macro, the registry, and the typed view of an instruction.

mod docs;
mod infer;
pub(crate) mod key;
mod macros;
mod op_def;
mod registry;

use sapwood_types::counted;
use smallvec::SmallVec;

use crate::attr::{Attr, AttrField, AttrKind};
use crate::build::{GraphError, PtirGraph, PtirRegion, PtirValue};
use crate::func::Function;
use crate::ids::{BodyId, InstId, ValueId};
use crate::types::ValueType;

pub use docs::ops_reference_page;
pub use infer::{
    InferCx, InferResult, InferredTypes, OpError, RegionSignature, check_axis, unify_dims,
};
pub use key::{OpKey, OpKeyCell};
pub(crate) use op_def::catching_evaluation;
pub use op_def::{
    AttrDef, Control, EffectRule, Effects, OmittedMeaning, OpDef, OperandDef, OperandKind,
    ResultCount,
};
pub use registry::{Registry, RegistryError};

/// One operand of an op.
pub type Value = ValueId;
/// Any number of operands.
pub type Values = SmallVec<[ValueId; 4]>;
/// An operand that may be left out.
pub type OptValue = Option<ValueId>;
/// One region of an op.
pub type Body = BodyId;
/// Any number of regions.
pub type Bodies = SmallVec<[BodyId; 2]>;

/// An op as a Rust type, with operands, regions and attributes as named fields. Implemented by [`ops!`](crate::ops!).
pub trait Op: Clone + Sized {
    /// Returns the key of the op.
    fn key() -> OpKey;
    /// Returns the definition of the op.
    fn def() -> OpDef;
    /// Reads an instruction, which must have this key, as this op. Returns `None` if the instruction is malformed.
    fn read(function: &Function, inst: InstId) -> Option<Self>;
    /// Converts the op to the parts of an instruction.
    fn into_parts(self) -> OpParts;
}

/// The parts of an instruction to be inserted.
///
/// [`Function::resolve_parts`] brings the attributes into canonical form and infers the result types. A
/// [`FunctionWriter`](crate::FunctionWriter), a graph and a rewriter do that themselves; [`Function::insert`] takes the
/// parts as they are.
#[derive(Clone, Debug)]
pub struct OpParts {
    /// Its op.
    pub key: OpKey,
    /// Its attributes, in the order in which the op's definition lists them.
    pub attrs: SmallVec<[Attr; 4]>,
    /// Its operands.
    pub operands: SmallVec<[ValueId; 4]>,
    /// Its regions: detached bodies of the same function.
    pub regions: SmallVec<[BodyId; 2]>,
    /// The types of its results. Before inference, these are the declared types, of an op that does not infer them.
    pub result_types: InferredTypes,
}

impl OpParts {
    /// Creates an instruction without operands, attributes and regions.
    #[must_use]
    pub fn new(key: OpKey) -> Self {
        Self {
            key,
            attrs: SmallVec::new(),
            operands: SmallVec::new(),
            regions: SmallVec::new(),
            result_types: SmallVec::new(),
        }
    }

    /// Adds the next attribute.
    pub fn push_attr<T: AttrField>(&mut self, field: &T) {
        self.attrs.push(field.to_attr());
        if let Some(types) = field.declared_types() {
            self.result_types = types.into();
        }
    }
}

/// A Rust type that can be an operand or region field of an op.
pub trait OperandField: Sized {
    /// The number of values or regions of the operand.
    const KIND: OperandKind;
    /// The argument type of the builder methods.
    type Arg<'a>;
    /// Converts a builder argument, after checking that it belongs to the graph.
    ///
    /// # Errors
    /// If the argument belongs to another graph.
    fn from_arg(arg: Self::Arg<'_>, graph: &PtirGraph<'_>) -> Result<Self, GraphError>;
    /// Reads the next operand or region of an instruction.
    fn read(reader: &mut OpFieldReader<'_>) -> Option<Self>;
    /// Adds the operand or region to the parts of an instruction.
    fn write(self, parts: &mut OpParts);
}

impl OperandField for Value {
    const KIND: OperandKind = OperandKind::One;
    type Arg<'a> = &'a PtirValue;
    fn from_arg(arg: &PtirValue, graph: &PtirGraph<'_>) -> Result<Self, GraphError> {
        graph.value_id(arg)
    }
    fn read(reader: &mut OpFieldReader<'_>) -> Option<Self> {
        reader.values(1)?.first().copied()
    }
    fn write(self, parts: &mut OpParts) {
        parts.operands.push(self);
    }
}

impl OperandField for OptValue {
    const KIND: OperandKind = OperandKind::Optional;
    type Arg<'a> = Option<&'a PtirValue>;
    fn from_arg(arg: Option<&PtirValue>, graph: &PtirGraph<'_>) -> Result<Self, GraphError> {
        arg.map(|v| graph.value_id(v)).transpose()
    }
    fn read(reader: &mut OpFieldReader<'_>) -> Option<Self> {
        let len = reader.variadic;
        Some(reader.values(len)?.first().copied())
    }
    fn write(self, parts: &mut OpParts) {
        parts.operands.extend(self);
    }
}

impl OperandField for Values {
    const KIND: OperandKind = OperandKind::Variadic;
    type Arg<'a> = &'a [PtirValue];
    fn from_arg(arg: &[PtirValue], graph: &PtirGraph<'_>) -> Result<Self, GraphError> {
        arg.iter().map(|v| graph.value_id(v)).collect()
    }
    fn read(reader: &mut OpFieldReader<'_>) -> Option<Self> {
        let len = reader.variadic;
        Some(SmallVec::from_slice(reader.values(len)?))
    }
    fn write(self, parts: &mut OpParts) {
        parts.operands.extend(self);
    }
}

impl OperandField for Body {
    const KIND: OperandKind = OperandKind::Region;
    type Arg<'a> = PtirRegion;
    fn from_arg(arg: PtirRegion, graph: &PtirGraph<'_>) -> Result<Self, GraphError> {
        graph.region_id(&arg)
    }
    fn read(reader: &mut OpFieldReader<'_>) -> Option<Self> {
        reader.regions(1)?.first().copied()
    }
    fn write(self, parts: &mut OpParts) {
        parts.regions.push(self);
    }
}

impl OperandField for Bodies {
    const KIND: OperandKind = OperandKind::Regions;
    type Arg<'a> = Vec<PtirRegion>;
    fn from_arg(arg: Vec<PtirRegion>, graph: &PtirGraph<'_>) -> Result<Self, GraphError> {
        arg.iter().map(|r| graph.region_id(r)).collect()
    }
    fn read(reader: &mut OpFieldReader<'_>) -> Option<Self> {
        let rest = reader.regions.len();
        Some(SmallVec::from_slice(reader.regions(rest)?))
    }
    fn write(self, parts: &mut OpParts) {
        parts.regions.extend(self);
    }
}

/// A reader of the fields of an op from an instruction, one after the other.
pub struct OpFieldReader<'a> {
    function: &'a Function,
    inst: InstId,
    operands: &'a [ValueId],
    regions: &'a [BodyId],
    attrs: std::slice::Iter<'a, Attr>,
    variadic: usize,
}

impl<'a> OpFieldReader<'a> {
    /// Starts reading an instruction. Returns `None` if its op is not registered or the operands cannot be divided
    /// among the fields.
    #[must_use]
    pub fn new(function: &'a Function, inst: InstId) -> Option<Self> {
        let def = function.op_def(inst)?;
        let operands = function.operands(inst);
        Some(Self {
            function,
            inst,
            operands,
            regions: function.regions(inst),
            attrs: function.attrs(inst).iter(),
            variadic: def.variadic_len(operands.len())?,
        })
    }

    fn values(&mut self, count: usize) -> Option<&'a [ValueId]> {
        let (taken, rest) = self.operands.split_at_checked(count)?;
        self.operands = rest;
        Some(taken)
    }

    fn regions(&mut self, count: usize) -> Option<&'a [BodyId]> {
        let (taken, rest) = self.regions.split_at_checked(count)?;
        self.regions = rest;
        Some(taken)
    }

    /// Reads the next attribute.
    pub fn attr<T: AttrField>(&mut self) -> Option<T> {
        let attr = self.attrs.next()?;
        // Only such a field needs more than its attribute.
        if T::KIND != AttrKind::ResultType {
            return T::from_attr(attr, &[]);
        }
        let f = self.function;
        let mut results: SmallVec<[&ValueType; 2]> = SmallVec::new();
        f.inst_results(self.inst).for_each(|v| results.push(f.value_type(v)));
        T::from_attr(attr, &results)
    }
}

impl Function {
    /// Returns the parts of an instruction: those with which an equal instruction can be inserted.
    #[must_use]
    pub fn parts_of(&self, inst: InstId) -> OpParts {
        OpParts {
            key: self.op_key(inst),
            attrs: self.attrs(inst).iter().cloned().collect(),
            operands: SmallVec::from_slice(self.operands(inst)),
            regions: SmallVec::from_slice(self.regions(inst)),
            result_types: self.inst_results(inst).map(|v| self.value_type(v).clone()).collect(),
        }
    }

    /// Checks the parts of an instruction, and returns them with attributes in canonical form and with inferred result
    /// types.
    ///
    /// # Errors
    /// If operands, attributes or regions do not fit the op.
    pub fn resolve_parts(&self, parts: &OpParts) -> Result<OpParts, OpError> {
        let mut parts = parts.clone();
        self.normalize_attrs(&mut parts)?;
        let value_type = |v| self.is_live_value(v).then(|| self.value_type(v));
        let region_signature = |b| self.is_live_body(b).then(|| self.region_signature(b));
        parts.result_types = self.infer_parts(&parts, value_type, region_signature)?;
        Ok(parts)
    }

    /// Brings the attributes of parts into canonical form.
    ///
    /// # Errors
    /// If an attribute has the wrong form or their number differs.
    pub fn normalize_attrs(&self, parts: &mut OpParts) -> Result<(), OpError> {
        if let Some(def) = self.registry().get(parts.key) {
            if !def.has_canonical_attrs(&parts.attrs) {
                parts.attrs = check_attrs(def, &parts.attrs)?;
            }
            return Ok(());
        }
        match &parts.attrs[..] {
            [] => parts.attrs.push(Attr::dict(Vec::new())),
            [dict @ Attr::Dict(_)] => {
                if let Some(why) = dict.malformed(0) {
                    return Err(OpError::new(why));
                }
            }
            _ => return Err(OpError::new("an unregistered op takes one dictionary")),
        }
        Ok(())
    }

    /// Infers the result types of parts whose attributes are [in canonical form](Self::normalize_attrs). Operands and
    /// regions need not exist yet: the two functions return their types.
    ///
    /// # Errors
    /// If operands, attributes or regions do not fit the op.
    pub fn infer_parts<'a>(
        &'a self,
        parts: &'a OpParts,
        value_type: impl Fn(ValueId) -> Option<&'a ValueType>,
        region_signature: impl Fn(BodyId) -> Option<RegionSignature<'a>>,
    ) -> InferResult {
        let mut operands: SmallVec<[&'a ValueType; 4]> = SmallVec::new();
        for &value in &parts.operands {
            let ty = value_type(value);
            let missing = || OpError::new(format!("{value} is not a value of this function"));
            operands.push(ty.ok_or_else(missing)?);
        }
        let mut regions: SmallVec<[RegionSignature<'a>; 0]> = SmallVec::new();
        for &body in &parts.regions {
            let sig = region_signature(body);
            let missing = || OpError::new(format!("{body} is not a body of this function"));
            regions.push(sig.ok_or_else(missing)?);
        }
        let Some(def) = self.registry().get(parts.key) else {
            check_type_limits(&parts.result_types)?;
            return Ok(parts.result_types.clone());
        };
        let declared_types = parts.result_types.iter().collect();
        infer_checked(&InferCx { def, attrs: &parts.attrs, operands, regions, declared_types })
    }

    /// Infers the result types of an instruction. For an unregistered op they are the declared types.
    ///
    /// # Errors
    /// If operands, attributes or regions do not fit.
    pub fn infer(&self, inst: InstId) -> InferResult {
        let mut declared_types: SmallVec<[&ValueType; 2]> = SmallVec::new();
        self.inst_results(inst).for_each(|v| declared_types.push(self.value_type(v)));
        let Some(def) = self.op_def(inst) else {
            return Ok(declared_types.into_iter().cloned().collect());
        };
        let mut operands = SmallVec::new();
        self.operands(inst).iter().for_each(|&v| operands.push(self.value_type(v)));
        let cx = InferCx {
            def,
            attrs: self.attrs(inst),
            operands,
            regions: self.regions(inst).iter().map(|&b| self.region_signature(b)).collect(),
            declared_types,
        };
        infer_checked(&cx)
    }

    /// Returns the types of the parameters and the yielded values of a body.
    #[must_use]
    pub fn region_signature(&self, body: BodyId) -> RegionSignature<'_> {
        RegionSignature {
            params: self.body_params(body).iter().map(|&v| self.value_type(v)).collect(),
            results: self
                .terminator(body)
                .map(|t| self.operands(t).iter().map(|&v| self.value_type(v)).collect()),
        }
    }
}

fn check_type_limits(types: &[ValueType]) -> Result<(), OpError> {
    types.iter().try_for_each(ValueType::check_limits).map_err(OpError::new)
}

/// Infers the result types of an instruction after checking the numbers of its operands and regions, on which inference functions rely.
///
/// # Errors
/// If operands, attributes or regions do not fit the op.
pub fn infer_checked(cx: &InferCx<'_>) -> InferResult {
    let def = cx.def;
    if def.variadic_len(cx.operands.len()).is_none() {
        return Err(OpError::new(format!(
            "expected {}, found {}",
            def.describe_arity(),
            cx.operands.len()
        )));
    }
    if !def.accepts_regions(cx.regions.len()) {
        return Err(OpError::new(format!(
            "expected {}, found {}",
            counted(def.regions.len(), "region"),
            cx.regions.len()
        )));
    }
    let types = def.infer(cx)?;
    let expected = match def.results {
        ResultCount::None => 0,
        ResultCount::One => 1,
        ResultCount::Many => types.len(),
    };
    if types.len() != expected {
        let found = types.len();
        return Err(OpError::new(format!(
            "it has {}, inference gives {found}",
            counted(expected, "result")
        )));
    }
    check_type_limits(&types)?;
    Ok(types)
}

/// Converts a list of attributes to the canonical form that the op's definition requires.
///
/// # Errors
/// If an attribute has the wrong form or their number differs.
pub(crate) fn check_attrs(def: &OpDef, attrs: &[Attr]) -> Result<SmallVec<[Attr; 4]>, OpError> {
    if attrs.len() != def.attrs.len() {
        return Err(OpError::new(format!(
            "expected {}, found {}",
            counted(def.attrs.len(), "attribute"),
            attrs.len()
        )));
    }
    if attrs.is_empty() {
        return Ok(SmallVec::new());
    }
    let one = |(attr, row): (&Attr, &AttrDef)| {
        if *attr == Attr::Unit && row.default == Some(Attr::Unit) {
            return Ok(Attr::Unit);
        }
        if row.kind == AttrKind::ResultType {
            return Ok(Attr::Unit);
        }
        row.kind.coerce(attr.clone()).ok_or_else(|| {
            OpError::new(format!(
                "attribute `{}` must be {}, found {}",
                row.name,
                row.kind.describe(),
                attr.describe()
            ))
        })
    };
    attrs.iter().zip(&def.attrs).map(one).collect()
}
