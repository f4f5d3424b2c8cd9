//! The run-time description of an op: what its row in a table says.

use std::fmt;
use std::ops::Range;
use std::sync::Arc;
use std::sync::atomic::{AtomicU32, Ordering};

use sapwood_types::{DataType, counted};

use super::infer::{InferCx, InferResult};
use super::key::OpKey;
use crate::attr::{Attr, AttrField, AttrKind};
use crate::eval::{EvalCx, EvalResult, Evaluate};

/// Whether an op may be merged, dropped, duplicated and moved.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Effects {
    /// Yes: its results depend on nothing but its operands, attributes and regions.
    Pure,
    /// No: it keeps its place among the other ordered ones.
    Ordered,
}

/// How the effects of an op follow from its attributes.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum EffectRule {
    /// Always the same.
    Always(Effects),
    /// Ordered unless this attribute is `false`.
    UnlessFalse(&'static str),
}

impl EffectRule {
    /// The effects of an instruction with these attributes.
    #[must_use]
    pub fn resolve(self, def: &OpDef, attrs: &[Attr]) -> Effects {
        match self {
            Self::Always(effects) => effects,
            Self::UnlessFalse(name) => {
                let index = def.attrs.iter().position(|a| a.name == name);
                match index.and_then(|i| attrs.get(i)) {
                    Some(Attr::Bool(false)) => Effects::Pure,
                    _ => Effects::Ordered,
                }
            }
        }
    }
}

/// How many values or regions an operand stands for.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum OperandKind {
    /// One value.
    One,
    /// One value or none; at most one such operand, and none that is variadic beside it.
    Optional,
    /// Any number of values. Several of these in one op have the same length.
    Variadic,
    /// One region.
    Region,
    /// Any number of regions.
    Regions,
}

/// An operand or region of an op.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct OperandDef {
    /// Its name.
    pub name: &'static str,
    /// How many it stands for.
    pub kind: OperandKind,
}

/// An attribute of an op.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct AttrDef {
    /// Its name.
    pub name: &'static str,
    /// What it may be.
    pub kind: AttrKind,
    /// What it is when it is not written.
    pub default: Option<Attr>,
    /// What it means.
    pub doc: String,
}

impl AttrDef {
    /// An attribute whose field has the type `T`.
    #[must_use]
    pub fn new<T: AttrField>(name: &'static str, default: Option<Attr>, doc: &[&str]) -> Self {
        let absent = (T::OPTIONAL || T::KIND == AttrKind::ResultType).then_some(Attr::Unit);
        Self { name, kind: T::KIND, default: default.or(absent), doc: join(doc) }
    }
}

/// How many results an op has.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum ResultCount {
    /// None.
    None,
    /// One.
    One,
    /// As many as inference says.
    Many,
}

/// Built-in ops that the evaluator runs itself, because they decide what runs next.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
#[allow(missing_docs, reason = "each is the op of this name")]
pub enum Control {
    Constant,
    Cond,
    Case,
    While,
    Scan,
    Call,
    CustomCall,
}

type Infer = dyn Fn(&InferCx<'_>) -> InferResult + Send + Sync;

const _: () = assert!(DataType::ALL.len() <= 32, "each has a bit");

fn bit(dtype: DataType) -> u32 {
    1 << dtype.code()
}

/// What is known of the element types for which a result has the type that all operands have.
#[derive(Default)]
struct Kept {
    // Whether inference looks at nothing but the element type of operands of one type.
    learns: bool,
    // A bit for each element type that inference was asked about and said yes.
    known: AtomicU32,
}

// A copy may be changed: nothing is known of it.
impl Clone for Kept {
    fn clone(&self) -> Self {
        Self::default()
    }
}

/// The description of an op. Made by [`ops!`](crate::ops!) from a row of a table, or by hand for ops that are only
/// known at run time.
#[derive(Clone)]
pub struct OpDef {
    /// Its name, `dialect.name` for ops that are not built in.
    pub name: &'static str,
    /// Its number.
    pub key: OpKey,
    /// The family it is documented with.
    pub family: &'static str,
    /// Its documentation.
    pub doc: String,
    /// Its operands, in order.
    pub operands: Vec<OperandDef>,
    /// Its regions, in order.
    pub regions: Vec<OperandDef>,
    /// Its attributes, in order.
    pub attrs: Vec<AttrDef>,
    /// How many results it has.
    pub results: ResultCount,
    /// Its effects.
    pub effects: EffectRule,
    /// Whether its first two operands may be swapped.
    pub commutative: bool,
    /// Whether it ends a body.
    pub terminator: bool,
    /// Whether it is applied to each element alone: all operands and the result have the same dims.
    pub elementwise: bool,
    /// Whether constant folding may replace it.
    pub foldable: bool,
    /// The attribute that is written right after the name, without its own: `call @f %x`.
    pub inline: Option<usize>,
    /// Which of the evaluator's own ops it is.
    pub control: Option<Control>,
    infer: Arc<Infer>,
    evaluate: Option<Arc<Evaluate>>,
    kept: Kept,
}

impl OpDef {
    /// An op without operands, regions and attributes, with one result, pure.
    pub fn new(
        name: &'static str,
        family: &'static str,
        doc: &[&str],
        infer: impl Fn(&InferCx<'_>) -> InferResult + Send + Sync + 'static,
    ) -> Self {
        Self::with_inference(name, family, doc, Arc::new(infer))
    }

    // The part of `new` that does not depend on the type of `infer`: compiled once.
    fn with_inference(
        name: &'static str,
        family: &'static str,
        doc: &[&str],
        infer: Arc<Infer>,
    ) -> Self {
        Self {
            name,
            key: OpKey::of(name),
            family,
            doc: join(doc),
            operands: Vec::new(),
            regions: Vec::new(),
            attrs: Vec::new(),
            results: ResultCount::One,
            effects: EffectRule::Always(Effects::Pure),
            commutative: false,
            terminator: false,
            elementwise: false,
            foldable: true,
            inline: None,
            control: None,
            infer,
            evaluate: None,
            kept: Kept::default(),
        }
    }

    /// Adds an operand or a region.
    #[must_use]
    pub fn operand(mut self, name: &'static str, kind: OperandKind) -> Self {
        let list = match kind {
            OperandKind::Region | OperandKind::Regions => &mut self.regions,
            OperandKind::One | OperandKind::Optional | OperandKind::Variadic => &mut self.operands,
        };
        list.push(OperandDef { name, kind });
        self
    }

    /// Adds an attribute.
    #[must_use]
    pub fn attr(mut self, attr: AttrDef) -> Self {
        self.attrs.push(attr);
        self
    }

    /// Sets the number of results.
    #[must_use]
    pub fn returns(mut self, results: ResultCount) -> Self {
        self.results = results;
        self
    }

    /// It is never merged, dropped, duplicated or crossed.
    #[must_use]
    pub fn ordered(mut self) -> Self {
        self.effects = EffectRule::Always(Effects::Ordered);
        self
    }

    /// It is ordered unless this attribute is `false`.
    #[must_use]
    pub fn ordered_unless_false(mut self, attr: &'static str) -> Self {
        self.effects = EffectRule::UnlessFalse(attr);
        self
    }

    /// Its first two operands may be swapped.
    #[must_use]
    pub fn commutative(mut self) -> Self {
        self.commutative = true;
        self
    }

    /// It ends a body.
    #[must_use]
    pub fn terminator(mut self) -> Self {
        self.terminator = true;
        self
    }

    /// It is applied to each element alone: all operands and the result have the same dims. The laws of the rewriter for
    /// elementwise ops hold for it.
    #[must_use]
    pub fn elementwise(mut self) -> Self {
        self.elementwise = true;
        self
    }

    /// Constant folding leaves it alone.
    #[must_use]
    pub fn opaque(mut self) -> Self {
        self.foldable = false;
        self
    }

    /// This attribute is written right after the name.
    #[must_use]
    pub fn inline(mut self, attr: &str) -> Self {
        self.inline = self.attrs.iter().position(|a| a.name == attr);
        self
    }

    /// The evaluator runs it itself.
    #[must_use]
    pub(crate) fn control(mut self, control: Control) -> Self {
        self.control = Some(control);
        self
    }

    /// What it computes.
    #[must_use]
    pub fn eval(
        mut self,
        evaluate: impl Fn(&mut EvalCx<'_>) -> EvalResult + Send + Sync + 'static,
    ) -> Self {
        self.evaluate = Some(Arc::new(evaluate));
        self
    }

    /// Whether these attributes are its own in the form in which they are kept.
    #[must_use]
    pub fn holds(&self, attrs: &[Attr]) -> bool {
        let one = |(attr, row): (&Attr, &AttrDef)| {
            row.kind.holds(attr) || (*attr == Attr::Unit && row.default == Some(Attr::Unit))
        };
        attrs.len() == self.attrs.len() && attrs.iter().zip(&self.attrs).all(one)
    }

    /// What it computes; `None` if it does not say.
    #[must_use]
    pub fn evaluation(&self) -> Option<&Arc<Evaluate>> {
        self.evaluate.as_ref()
    }

    /// Runs inference.
    ///
    /// # Errors
    /// If operands, attributes or regions do not fit.
    pub fn infer(&self, cx: &InferCx<'_>) -> InferResult {
        (self.infer)(cx)
    }

    /// It is built in, and if it is applied to each element alone inference looks at nothing but the element type of operands
    /// of one type.
    pub(super) fn built_in(mut self) -> Self {
        let single = self.operands.iter().all(|operand| operand.kind == OperandKind::One);
        let plain = self.attrs.is_empty() && self.regions.is_empty() && single;
        self.kept.learns = self.elementwise && plain;
        self
    }

    /// Whether so many operands of one type with these elements are known to give a result of that type, whatever its
    /// dims.
    #[inline]
    pub(crate) fn keeps(&self, dtype: DataType, operands: usize) -> bool {
        let known = self.kept.known.load(Ordering::Relaxed) & bit(dtype) != 0;
        known && operands == self.operands.len()
    }

    /// Inference gave the type that all operands have, with these elements.
    pub(crate) fn kept_once(&self, dtype: DataType) {
        if self.kept.learns {
            self.kept.known.fetch_or(bit(dtype), Ordering::Relaxed);
        }
    }

    /// How many values each variadic operand stands for when there are `total`, or `None` if they cannot be divided.
    #[must_use]
    pub fn variadic_len(&self, total: usize) -> Option<usize> {
        let (mut single, mut optional, mut groups) = (0, 0, 0);
        for operand in &self.operands {
            match operand.kind {
                OperandKind::One => single += 1,
                OperandKind::Optional => optional += 1,
                OperandKind::Variadic => groups += 1,
                OperandKind::Region | OperandKind::Regions => {}
            }
        }
        let rest = total.checked_sub(single)?;
        match (groups, optional) {
            (0, 0) => (rest == 0).then_some(0),
            (0, _) => (rest <= optional).then_some(rest),
            (groups, _) => rest.is_multiple_of(groups).then_some(rest / groups),
        }
    }

    /// Where the operands of this name stand when there are `total`.
    #[must_use]
    pub fn group(&self, name: &str, total: usize) -> Range<usize> {
        let len = self.variadic_len(total).unwrap_or(0);
        let mut at = 0;
        for operand in &self.operands {
            let size = match operand.kind {
                OperandKind::One => 1,
                OperandKind::Optional | OperandKind::Variadic => len,
                OperandKind::Region | OperandKind::Regions => 0,
            };
            let end = (at + size).min(total);
            if operand.name == name {
                return at..end;
            }
            at = end;
        }
        at..at
    }

    /// How many operands it takes, in words.
    #[must_use]
    pub fn arity(&self) -> String {
        let single = self.operands.iter().filter(|o| o.kind == OperandKind::One).count();
        let optional = self.operands.iter().filter(|o| o.kind == OperandKind::Optional).count();
        match self.operands.iter().filter(|o| o.kind == OperandKind::Variadic).count() {
            0 if optional > 0 => format!("{single} to {}", counted(single + optional, "operand")),
            0 => counted(single, "operand").to_string(),
            1 if single == 0 => "any number of operands".into(),
            1 => format!("at least {}", counted(single, "operand")),
            n if single == 0 => format!("a multiple of {}", counted(n, "operand")),
            n => format!("{single} and a multiple of {}", counted(n, "operand")),
        }
    }

    /// Whether it may have this many regions.
    #[must_use]
    pub fn accepts_regions(&self, count: usize) -> bool {
        let single = self.regions.iter().filter(|r| r.kind == OperandKind::Region).count();
        if single == self.regions.len() { count == single } else { count >= single }
    }
}

impl fmt::Debug for OpDef {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "OpDef({})", self.name)
    }
}

pub(crate) fn join(doc: &[&str]) -> String {
    let lines: Vec<&str> = doc.iter().map(|line| line.strip_prefix(' ').unwrap_or(line)).collect();
    lines.join("\n").trim().to_owned()
}
