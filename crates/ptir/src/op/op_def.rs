//! The run-time definition of an op, built from its row in an op table.

use std::fmt;
use std::ops::Range;
use std::sync::Arc;

use sapwood_types::{catch_panic, counted};

use super::infer::{InferCx, InferResult, OpError};
use super::key::OpKey;
use crate::attr::{Attr, AttrField, AttrKind};
use crate::cost::{FlopsFn, Traffic};
use crate::eval::{EvalCx, EvalResult, Evaluate, Fault};

/// The effects of an op: whether its instructions may be merged, dropped, duplicated and moved.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Effects {
    /// They may: the results depend only on the operands, attributes and regions.
    Pure,
    /// They may not: they keep their order among the other ordered instructions.
    Ordered,
}

/// The rule by which the effects of an instruction follow from its attributes.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum EffectRule {
    /// Equal effects for all instructions of the op.
    Always(Effects),
    /// Ordered unless this attribute is `false`.
    UnlessFalse(&'static str),
}

impl EffectRule {
    /// Returns the effects of an instruction with these attributes.
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

/// The number of values or regions that an operand of an op holds.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum OperandKind {
    /// One value.
    One,
    /// One value or none. An op has at most one such operand, and then no variadic ones.
    Optional,
    /// Any number of values. If an op has several variadic operands, they have the same length.
    Variadic,
    /// One region.
    Region,
    /// Any number of regions.
    Regions,
}

/// An operand or region in the definition of an op.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct OperandDef {
    /// Its name.
    pub name: &'static str,
    /// The number of values or regions that it holds.
    pub kind: OperandKind,
}

/// An attribute in the definition of an op.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct AttrDef {
    /// Its name.
    pub name: &'static str,
    /// The values it may have.
    pub kind: AttrKind,
    /// Its value when it is omitted; `None` if it is required.
    pub default: Option<Attr>,
    /// The value that an omitted attribute means, if its default is [`Attr::Unit`].
    pub omitted: OmittedMeaning,
    /// Its documentation.
    pub doc: String,
    /// The Rust type of its field, with paths; empty if it has none.
    pub field_type: &'static str,
}

impl AttrDef {
    /// Creates the definition of an attribute whose field has the type `T`.
    #[must_use]
    pub fn new<T: AttrField>(name: &'static str, default: Option<Attr>, doc: &[&str]) -> Self {
        let absent = (T::OPTIONAL || T::KIND == AttrKind::ResultType).then_some(Attr::Unit);
        Self {
            name,
            kind: T::KIND,
            default: default.or(absent),
            omitted: OmittedMeaning::default(),
            doc: join_doc_lines(doc),
            field_type: std::any::type_name::<T>(),
        }
    }

    /// Returns a value of this attribute, or [`Attr::Unit`] if it means the same as an omitted attribute: strides of one, no
    /// padding, or the element type of the result.
    #[must_use]
    pub fn without_default<'a>(&self, value: &'a Attr) -> &'a Attr {
        match self.omitted {
            OmittedMeaning::Entries(entry) if value.has_only_entries(entry) => &Attr::Unit,
            OmittedMeaning::ResultDtype => &Attr::Unit,
            OmittedMeaning::Entries(_) | OmittedMeaning::Absence => value,
        }
    }
}

/// The meaning of an optional attribute that is omitted.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub enum OmittedMeaning {
    /// Nothing else: no value of the attribute means the same.
    #[default]
    Absence,
    /// A list with this number for each axis.
    Entries(i64),
    /// The element type of the result, which the result shows in any case.
    ResultDtype,
}

/// The number of results of an op.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum ResultCount {
    /// None.
    None,
    /// One.
    One,
    /// The number that inference returns.
    Many,
}

/// A built-in op that the evaluator runs itself, because it decides which instructions run next.
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

type InferFn = dyn Fn(&InferCx<'_>) -> InferResult + Send + Sync;

/// The definition of an op. Built by [`ops!`](crate::ops!) from a row of a table, or by hand for ops that are only
/// known at run time.
#[derive(Clone)]
pub struct OpDef {
    /// Its name; `dialect.name` for ops that are not built in.
    pub name: &'static str,
    /// Its key.
    pub key: OpKey,
    /// The name of its Rust type; empty if it has none.
    pub rust_type: &'static str,
    /// The family under which the reference page lists it.
    pub family: &'static str,
    /// Its documentation.
    pub doc: String,
    /// Its operands, in order.
    pub operands: Vec<OperandDef>,
    /// Its regions, in order.
    pub regions: Vec<OperandDef>,
    /// Its attributes, in order.
    pub attrs: Vec<AttrDef>,
    /// The number of its results.
    pub results: ResultCount,
    /// Its effects.
    pub effects: EffectRule,
    /// True if its first two operands may be swapped.
    pub commutative: bool,
    /// True if it is a terminator.
    pub terminator: bool,
    /// True if it is elementwise: all operands and the result have the same dims, and each element is computed alone.
    pub elementwise: bool,
    /// True if constant folding may replace it.
    pub foldable: bool,
    /// True if a run may stop at it, although its types fit. Other ops stop a run only if dims that the verifier could not compare
    /// differ; see [`Function::may_stop`](crate::Function::may_stop).
    pub may_stop: bool,
    /// True if an attribute may have expressions over the symbols of the function.
    pub symbolic: bool,
    /// The attribute that the text form writes right after the name, without its own name: `call @f %x`.
    pub leading_attr: Option<usize>,
    /// The op of the evaluator that it is, if the evaluator runs it itself.
    pub control: Option<Control>,
    /// The memory that it reads and writes.
    pub traffic: Traffic,
    /// The function that counts its operations. Without it, an elementwise op takes one for each element of its result; other ops take none, or an
    /// unknown number if they belong to a user.
    pub flops: Option<FlopsFn>,
    infer: Arc<InferFn>,
    evaluate: Option<Arc<Evaluate>>,
    // True for an op of a user, whose functions may panic.
    pub(crate) catches_panics: bool,
}

impl OpDef {
    /// Creates the definition of a pure op with one result and without operands, regions and attributes.
    pub fn new(
        name: &'static str,
        family: &'static str,
        doc: &[&str],
        infer: impl Fn(&InferCx<'_>) -> InferResult + Send + Sync + 'static,
    ) -> Self {
        Self::with_inference(name, family, doc, Arc::new(infer))
    }

    // The part of `new` that does not depend on the type of `infer`, so that it is compiled once.
    fn with_inference(
        name: &'static str,
        family: &'static str,
        doc: &[&str],
        infer: Arc<InferFn>,
    ) -> Self {
        Self {
            name,
            key: OpKey::of(name),
            rust_type: "",
            family,
            doc: join_doc_lines(doc),
            operands: Vec::new(),
            regions: Vec::new(),
            attrs: Vec::new(),
            results: ResultCount::One,
            effects: EffectRule::Always(Effects::Pure),
            commutative: false,
            terminator: false,
            elementwise: false,
            foldable: true,
            may_stop: false,
            symbolic: false,
            leading_attr: None,
            control: None,
            traffic: Traffic::All,
            flops: None,
            infer,
            evaluate: None,
            catches_panics: false,
        }
    }

    /// Sets the name of the Rust type.
    #[must_use]
    pub fn rust_type(mut self, name: &'static str) -> Self {
        self.rust_type = name;
        self
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
        self.symbolic |= attr.kind == AttrKind::Dims;
        self.attrs.push(attr);
        self
    }

    /// Sets the number of results.
    #[must_use]
    pub fn returns(mut self, results: ResultCount) -> Self {
        self.results = results;
        self
    }

    /// Marks the op as ordered: its instructions are never merged, dropped, duplicated or reordered.
    #[must_use]
    pub fn ordered(mut self) -> Self {
        self.effects = EffectRule::Always(Effects::Ordered);
        self
    }

    /// Marks the op as ordered unless this attribute is `false`.
    #[must_use]
    pub fn ordered_unless_false(mut self, attr: &'static str) -> Self {
        self.effects = EffectRule::UnlessFalse(attr);
        self
    }

    /// Marks the op as commutative: its first two operands may be swapped.
    #[must_use]
    pub fn commutative(mut self) -> Self {
        self.commutative = true;
        self
    }

    /// Marks the op as a terminator.
    #[must_use]
    pub fn terminator(mut self) -> Self {
        self.terminator = true;
        self
    }

    /// Marks the op as elementwise: all operands and the result have the same dims, and each element is computed
    /// alone. The rewrites for elementwise ops then apply to it.
    #[must_use]
    pub fn elementwise(mut self) -> Self {
        self.elementwise = true;
        self
    }

    /// Excludes the op from constant folding.
    #[must_use]
    pub fn opaque(mut self) -> Self {
        self.foldable = false;
        self
    }

    /// Marks the op as one at which a run may stop, although its types fit.
    #[must_use]
    pub fn may_stop(mut self) -> Self {
        self.may_stop = true;
        self
    }

    /// Marks the op as a view: its result is its operand in another shape, and no element moves.
    #[must_use]
    pub fn view(mut self) -> Self {
        self.traffic = Traffic::View;
        self
    }

    /// Declares that the op reads only as much of its first operand as it writes.
    #[must_use]
    pub fn reads_part(mut self) -> Self {
        self.traffic = Traffic::Part;
        self
    }

    /// Sets the function that counts the operations of an instruction, for [`cost`](crate::cost).
    #[must_use]
    pub fn flops(mut self, flops: FlopsFn) -> Self {
        self.flops = Some(flops);
        self
    }

    /// Selects the attribute that the text form writes right after the name.
    #[must_use]
    pub fn leading_attr(mut self, attr: &str) -> Self {
        self.leading_attr = self.attrs.iter().position(|a| a.name == attr);
        self
    }

    /// Declares that these lists of integers may also have expressions over the symbols of the function. The field of the Rust type does not
    /// represent those: such an instruction cannot be read as this type.
    #[must_use]
    pub fn symbolic(mut self, attrs: &[&str]) -> Self {
        for attr in self.attrs.iter_mut().filter(|attr| attrs.contains(&attr.name)) {
            attr.kind = AttrKind::Dims;
            self.symbolic = true;
        }
        self
    }

    /// Declares that each of these list attributes, if it is omitted, repeats a number for each axis.
    #[must_use]
    pub fn omitted_entries(self, number: i64, attrs: &[&str]) -> Self {
        attrs.iter().fold(self, |op, attr| op.omitted(attr, OmittedMeaning::Entries(number)))
    }

    /// Declares that an attribute, if it is omitted, is the element type of the result.
    #[must_use]
    pub fn omitted_dtype(self, attr: &str) -> Self {
        self.omitted(attr, OmittedMeaning::ResultDtype)
    }

    fn omitted(mut self, name: &str, meaning: OmittedMeaning) -> Self {
        if let Some(attr) = self.attrs.iter_mut().find(|attr| attr.name == name) {
            attr.omitted = meaning;
        }
        self
    }

    /// Marks the op as one that the evaluator runs itself.
    #[must_use]
    pub(crate) fn control(mut self, control: Control) -> Self {
        self.control = Some(control);
        self
    }

    /// Sets the function that computes the op.
    #[must_use]
    pub fn eval(
        mut self,
        evaluate: impl Fn(&mut EvalCx<'_>) -> EvalResult + Send + Sync + 'static,
    ) -> Self {
        self.evaluate = Some(Arc::new(evaluate));
        self
    }

    /// Returns the op with functions that return an error instead of panicking, for ops of users. A defect of a built-in op is one of this
    /// repository, which should not look like a mistake in the program.
    pub(crate) fn catching_panics(mut self) -> Self {
        let infer = Arc::clone(&self.infer);
        self.infer = Arc::new(move |cx| {
            let panicked =
                |message| Err(OpError::new(format!("its inference panicked: {message}")));
            catch_panic(|| infer(cx)).unwrap_or_else(panicked)
        });
        self.evaluate = self.evaluate.map(|evaluate| catching_evaluation(self.name, evaluate));
        self.catches_panics = true;
        self
    }

    /// Returns whether these are the op's attributes, in canonical form.
    #[must_use]
    pub fn has_canonical_attrs(&self, attrs: &[Attr]) -> bool {
        let one = |(attr, row): (&Attr, &AttrDef)| {
            row.kind.matches(attr) || (*attr == Attr::Unit && row.default == Some(Attr::Unit))
        };
        attrs.len() == self.attrs.len() && attrs.iter().zip(&self.attrs).all(one)
    }

    /// Returns the function that computes the op, or `None` if there is none.
    #[must_use]
    pub fn evaluation(&self) -> Option<&Arc<Evaluate>> {
        self.evaluate.as_ref()
    }

    /// Infers the result types of an instruction.
    ///
    /// # Errors
    /// If operands, attributes or regions do not fit.
    pub fn infer(&self, cx: &InferCx<'_>) -> InferResult {
        (self.infer)(cx)
    }

    /// Returns the number of values of each variadic operand when there are `total` values, or `None` if they cannot
    /// be divided evenly.
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

    /// Returns the positions of the values of the operand with this name when there are `total` values.
    #[must_use]
    pub fn operand_range(&self, name: &str, total: usize) -> Range<usize> {
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

    /// Describes the number of operands in words, for messages.
    #[must_use]
    pub fn describe_arity(&self) -> String {
        let single = self.operands.iter().filter(|o| o.kind == OperandKind::One).count();
        let optional = self.operands.iter().filter(|o| o.kind == OperandKind::Optional).count();
        match self.operands.iter().filter(|o| o.kind == OperandKind::Variadic).count() {
            0 if optional > 0 => format!("{single} to {}", counted(single + optional, "operand")),
            0 => counted(single, "operand").to_string(),
            1 if single == 0 => "any number of operands".into(),
            1 => format!("at least {}", counted(single, "operand")),
            _ => {
                let mut lists = 0;
                let name = |o: &OperandDef| {
                    lists += usize::from(o.kind == OperandKind::Variadic);
                    let again = o.kind == OperandKind::Variadic && lists > 1;
                    format!("{}{}", if again { "as many " } else { "" }, o.name)
                };
                let names: Vec<String> = self.operands.iter().map(name).collect();
                let (last, first) = names.split_last().map_or(("", &[][..]), |(l, f)| (l, f));
                format!("{} and {last}", first.join(", "))
            }
        }
    }

    /// Returns whether the op may have this number of regions.
    #[must_use]
    pub fn accepts_regions(&self, count: usize) -> bool {
        let single = self.regions.iter().filter(|r| r.kind == OperandKind::Region).count();
        if single == self.regions.len() { count == single } else { count >= single }
    }
}

/// Returns an evaluation of a user that returns an error instead of panicking.
pub(crate) fn catching_evaluation(op: &'static str, evaluate: Arc<Evaluate>) -> Arc<Evaluate> {
    Arc::new(move |cx| {
        let panicked = |message| Err(Fault::Panicked { op, message });
        catch_panic(|| evaluate(cx)).unwrap_or_else(panicked)
    })
}

impl fmt::Debug for OpDef {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "OpDef({})", self.name)
    }
}

pub(crate) fn join_doc_lines(doc: &[&str]) -> String {
    // Each start of the command joins several hundred of them, so that there is one allocation for each.
    let mut text = String::with_capacity(doc.iter().map(|line| line.len() + 1).sum());
    for line in doc {
        match text.is_empty() {
            true => text.push_str(line.trim_start()),
            false => {
                text.push('\n');
                text.push_str(line.strip_prefix(' ').unwrap_or(line));
            }
        }
    }
    text.truncate(text.trim_end().len());
    text
}
