//! Ops: the table macro, the registry, and the typed view of an instruction.

mod def;
mod docs;
mod infer;
pub(crate) mod key;
mod macros;
mod registry;

use sapwood_types::counted;
use smallvec::SmallVec;

use crate::attr::{Attr, AttrField, AttrKind, AttrList};
use crate::build::{GraphError, PtirGraph, PtirRegion, PtirValue};
use crate::func::{Function, InstSpec};
use crate::ids::{BodyId, InstId, ValueId};
use crate::types::ValueType;

pub use def::{AttrDef, Control, EffectRule, Effects, OpDef, OperandDef, OperandKind, ResultCount};
pub use docs::reference;
pub use infer::{InferCx, InferResult, OpError, RegionSig, Types, check_axis, meet};
pub use key::{OpKey, OpKeyCell};
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

/// An op as a Rust type: operands, regions and attributes by name. Made by [`ops!`](crate::ops!).
pub trait Op: Clone + Sized {
    /// Its number.
    fn key() -> OpKey;
    /// Its row of the table.
    fn def() -> OpDef;
    /// The instruction as this op; it must have this key. `None` if it is malformed.
    fn read(function: &Function, inst: InstId) -> Option<Self>;
    /// The op as an instruction to be made.
    fn into_parts(self) -> OpParts;
}

/// An instruction to be made, before inference.
#[derive(Clone, Debug)]
pub struct OpParts {
    /// Its op.
    pub key: OpKey,
    /// Its attributes, in the order of the table.
    pub attrs: SmallVec<[Attr; 4]>,
    /// Its operands.
    pub operands: SmallVec<[ValueId; 4]>,
    /// Its regions: detached bodies.
    pub regions: SmallVec<[BodyId; 2]>,
    /// The result types that are stated rather than inferred.
    pub given: Vec<ValueType>,
}

impl OpParts {
    /// An instruction without anything.
    #[must_use]
    pub fn new(key: OpKey) -> Self {
        Self {
            key,
            attrs: SmallVec::new(),
            operands: SmallVec::new(),
            regions: SmallVec::new(),
            given: Vec::new(),
        }
    }

    /// Adds the next attribute.
    pub fn push_attr<T: AttrField>(&mut self, field: &T) {
        self.attrs.push(field.to_attr());
        if let Some(types) = field.given_types() {
            self.given = types;
        }
    }
}

/// A Rust type that can be an operand or region of an op.
pub trait OperandField: Sized {
    /// How many it stands for.
    const KIND: OperandKind;
    /// What builder methods take for it.
    type Arg<'a>;
    /// Checks that the argument belongs to the graph.
    ///
    /// # Errors
    /// If it belongs to another.
    fn from_arg(arg: Self::Arg<'_>, graph: &PtirGraph<'_>) -> Result<Self, GraphError>;
    /// The next operand of an instruction.
    fn read(reader: &mut OpReader<'_>) -> Option<Self>;
    /// Adds the operand.
    fn write(self, parts: &mut OpParts);
}

impl OperandField for Value {
    const KIND: OperandKind = OperandKind::One;
    type Arg<'a> = &'a PtirValue;
    fn from_arg(arg: &PtirValue, graph: &PtirGraph<'_>) -> Result<Self, GraphError> {
        graph.own(arg)
    }
    fn read(reader: &mut OpReader<'_>) -> Option<Self> {
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
        arg.map(|v| graph.own(v)).transpose()
    }
    fn read(reader: &mut OpReader<'_>) -> Option<Self> {
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
        arg.iter().map(|v| graph.own(v)).collect()
    }
    fn read(reader: &mut OpReader<'_>) -> Option<Self> {
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
        graph.own_region(&arg)
    }
    fn read(reader: &mut OpReader<'_>) -> Option<Self> {
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
        arg.iter().map(|r| graph.own_region(r)).collect()
    }
    fn read(reader: &mut OpReader<'_>) -> Option<Self> {
        let rest = reader.regions.len();
        Some(SmallVec::from_slice(reader.regions(rest)?))
    }
    fn write(self, parts: &mut OpParts) {
        parts.regions.extend(self);
    }
}

/// Reads the fields of an op from an instruction, one after the other.
pub struct OpReader<'a> {
    function: &'a Function,
    inst: InstId,
    operands: &'a [ValueId],
    regions: &'a [BodyId],
    attrs: std::slice::Iter<'a, Attr>,
    variadic: usize,
}

impl<'a> OpReader<'a> {
    /// Starts reading. `None` if the op is not registered or the operands cannot be divided.
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

    /// The next attribute.
    pub fn attr<T: AttrField>(&mut self) -> Option<T> {
        let attr = self.attrs.next()?;
        // Only such a field is more than its attribute.
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
    /// Checks an instruction before it is made: number of operands and regions, form of the attributes; then infers
    /// its result types.
    ///
    /// # Errors
    /// If anything does not fit. Nothing is changed.
    pub fn resolve(&self, parts: &OpParts) -> Result<InstSpec, OpError> {
        let attrs = self.checked_attrs(parts)?;
        let value_type = |v| self.is_live_value(v).then(|| self.value_type(v));
        let region_sig = |b| self.is_live_body(b).then(|| self.region_sig(b));
        let result_types = self.infer_parts(parts, &attrs, value_type, region_sig)?;
        Ok(InstSpec {
            key: parts.key,
            attrs,
            operands: parts.operands.clone(),
            regions: parts.regions.clone(),
            result_types,
            span: sapwood_types::Span::unknown(),
        })
    }

    /// The attributes of an instruction to be made, in the form its op keeps them in.
    ///
    /// # Errors
    /// If one has the wrong form or their number differs.
    pub fn checked_attrs(&self, parts: &OpParts) -> Result<AttrList, OpError> {
        if let Some(def) = self.registry().get(parts.key) {
            return check_attrs(def, &parts.attrs);
        }
        match &parts.attrs[..] {
            [] => Ok([Attr::dict(Vec::new())].into()),
            [dict @ Attr::Dict(_)] => match dict.malformed(0) {
                Some(why) => Err(OpError::new(why)),
                None => Ok([dict.clone()].into()),
            },
            _ => Err(OpError::new("an unregistered op takes one dictionary")),
        }
    }

    /// The result types of an instruction to be made. Its operands and regions need not exist yet: the two functions
    /// give the types of those that may be used. `attrs` are its [`checked_attrs`](Self::checked_attrs).
    ///
    /// # Errors
    /// If anything does not fit.
    pub fn infer_parts<'a>(
        &'a self,
        parts: &'a OpParts,
        attrs: &'a [Attr],
        value_type: impl Fn(ValueId) -> Option<&'a ValueType>,
        region_sig: impl Fn(BodyId) -> Option<RegionSig<'a>>,
    ) -> InferResult {
        let mut operands: SmallVec<[&'a ValueType; 4]> = SmallVec::new();
        for &value in &parts.operands {
            let ty = value_type(value);
            let missing = || OpError::new(format!("{value} is not a value of this function"));
            operands.push(ty.ok_or_else(missing)?);
        }
        let mut regions: SmallVec<[RegionSig<'a>; 0]> = SmallVec::new();
        for &body in &parts.regions {
            let sig = region_sig(body);
            let missing = || OpError::new(format!("{body} is not a body of this function"));
            regions.push(sig.ok_or_else(missing)?);
        }
        let Some(def) = self.registry().get(parts.key) else {
            check_limits(&parts.given)?;
            return Ok(parts.given.iter().cloned().collect());
        };
        let given = parts.given.iter().collect();
        infer_checked(&InferCx { def, attrs, operands, regions, given })
    }

    /// Infers the result types of an instruction that exists. Unregistered ops give what they state.
    ///
    /// # Errors
    /// If operands, attributes or regions do not fit.
    pub fn infer(&self, inst: InstId) -> InferResult {
        let mut given: SmallVec<[&ValueType; 2]> = SmallVec::new();
        self.inst_results(inst).for_each(|v| given.push(self.value_type(v)));
        let Some(def) = self.op_def(inst) else {
            return Ok(given.into_iter().cloned().collect());
        };
        let mut operands = SmallVec::new();
        self.operands(inst).iter().for_each(|&v| operands.push(self.value_type(v)));
        let cx = InferCx {
            def,
            attrs: self.attrs(inst),
            operands,
            regions: self.regions(inst).iter().map(|&b| self.region_sig(b)).collect(),
            given,
        };
        infer_checked(&cx)
    }

    /// The types a body takes and yields.
    #[must_use]
    pub fn region_sig(&self, body: BodyId) -> RegionSig<'_> {
        RegionSig {
            params: self.body_params(body).iter().map(|&v| self.value_type(v)).collect(),
            results: self
                .terminator(body)
                .map(|t| self.operands(t).iter().map(|&v| self.value_type(v)).collect()),
        }
    }
}

fn check_limits(types: &[ValueType]) -> Result<(), OpError> {
    types.iter().try_for_each(ValueType::check_limits).map_err(OpError::new)
}

// Arity first, so that inference functions can rely on it.
pub(crate) fn infer_checked(cx: &InferCx<'_>) -> InferResult {
    let def = cx.def;
    if def.variadic_len(cx.operands.len()).is_none() {
        return Err(OpError::new(format!("expected {}, found {}", def.arity(), cx.operands.len())));
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
    check_limits(&types)?;
    Ok(types)
}

/// Brings attributes into the form the table asks for.
///
/// # Errors
/// If one has the wrong form or their number differs.
pub fn check_attrs(def: &OpDef, attrs: &[Attr]) -> Result<AttrList, OpError> {
    if attrs.len() != def.attrs.len() {
        return Err(OpError::new(format!(
            "expected {}, found {}",
            counted(def.attrs.len(), "attribute"),
            attrs.len()
        )));
    }
    if attrs.is_empty() {
        return Ok([].into());
    }
    let one = |(attr, row): (&Attr, &AttrDef)| {
        if *attr == Attr::Unit && row.default == Some(Attr::Unit) {
            return Ok(Attr::Unit);
        }
        if row.kind == AttrKind::ResultType {
            return Ok(Attr::Unit);
        }
        row.kind.accept(attr.clone()).ok_or_else(|| {
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
