//! The first difference that a comparison found, and its description.

use super::location::{Location, Mismatch, Reason};
use crate::attr::Attr;
use crate::func::Function;
use crate::ids::{BodyId, InstId, ValueId};
use crate::op::AttrDef;
use crate::text::{InstPrinter, LongLiteralMode, write_attr};
use crate::types::ValueType;

/// The first two instructions or bodies that differ, the left one first.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Unequal {
    /// Two instructions differ in a part.
    Insts(InstId, InstId, InstPart),
    /// Two bodies differ in a part.
    Bodies(BodyId, BodyId, BodyPart),
}

/// The part in which two instructions differ.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum InstPart {
    /// The op.
    Op,
    /// An attribute.
    Attributes,
    /// The number of operands.
    Operands,
    /// The number of regions.
    Regions,
    /// The number of results.
    Results,
    /// The type of this result.
    ResultType(usize),
    /// This operand.
    Operand(usize),
    /// The body that contains the instruction.
    Body,
}

/// The part in which two bodies differ.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum BodyPart {
    /// The number of parameters.
    Params,
    /// The type of this parameter.
    ParamType(usize),
    /// An instruction that only the left body has.
    OnlyLeft(InstId),
    /// An instruction that only the right body has.
    OnlyRight(InstId),
    /// The numbers of instructions from which the bodies are compared by data flow.
    Roots(usize, usize),
}

impl Unequal {
    /// Describes the difference between two functions.
    pub(super) fn describe(self, a: &Function, b: &Function) -> Mismatch {
        match self {
            Self::Insts(x, y, part) => describe_insts((a, x), (b, y), part),
            Self::Bodies(x, y, part) => describe_bodies((a, x), (b, y), part),
        }
    }
}

fn describe_insts(
    (a, x): (&Function, InstId),
    (b, y): (&Function, InstId),
    part: InstPart,
) -> Mismatch {
    let whole = (Location::inst(a, x), Location::inst(b, y));
    let at = |field: &str, n: usize| {
        let (left, right) = whole.clone();
        (left.field(field).index(n), right.field(field).index(n))
    };
    let length = |what, left, right| (whole.clone(), Reason::Length { what, left, right });
    let (at, reason) = match part {
        InstPart::Op => (whole, Reason::Op { left: a.op_name(x), right: b.op_name(y) }),
        InstPart::Attributes => {
            let (name, left, right) = first_differing_attr(a, x, b, y);
            (whole, Reason::Attribute { name, left, right })
        }
        InstPart::Operands => length("operands", a.operands(x).len(), b.operands(y).len()),
        InstPart::Regions => length("regions", a.regions(x).len(), b.regions(y).len()),
        InstPart::Results => length("results", a.inst_results(x).len(), b.inst_results(y).len()),
        InstPart::ResultType(n) => {
            let ty = |f: &Function, i| {
                f.result(i, n).map_or(String::new(), |v| f.value_type(v).to_string())
            };
            (at("results", n), Reason::Type { left: ty(a, x), right: ty(b, y) })
        }
        InstPart::Operand(n) => {
            let name = |f: &Function, value: ValueId| InstPrinter::new(f).value(value);
            let (left, right) = (name(a, a.operands(x)[n]), name(b, b.operands(y)[n]));
            (at("operands", n), Reason::Binding { left, right })
        }
        InstPart::Body => {
            (whole, Reason::Binding { left: "its body".into(), right: "its body".into() })
        }
    };
    Mismatch { left: at.0, right: at.1, reason }
}

fn describe_bodies(
    (a, x): (&Function, BodyId),
    (b, y): (&Function, BodyId),
    part: BodyPart,
) -> Mismatch {
    let (left, right) = (Location::body(a, x), Location::body(b, y));
    let (params, others) = (a.body_params(x), b.body_params(y));
    let (left, right, reason) = match part {
        BodyPart::Params => {
            let (what, n, m) = ("parameters", params.len(), others.len());
            let reason = Reason::Length { what, left: n, right: m };
            (left.field("params"), right.field("params"), reason)
        }
        BodyPart::ParamType(n) => (
            left.field("params").index(n),
            right.field("params").index(n),
            type_reason(a.value_type(params[n]), b.value_type(others[n])),
        ),
        BodyPart::OnlyLeft(inst) => {
            (Location::inst(a, inst), right, Reason::Missing { on_left: true })
        }
        BodyPart::OnlyRight(inst) => {
            (left, Location::inst(b, inst), Reason::Missing { on_left: false })
        }
        BodyPart::Roots(n, m) => {
            (left, right, Reason::Length { what: "ordered instructions", left: n, right: m })
        }
    };
    Mismatch { left, right, reason }
}

pub(super) fn type_reason(left: &ValueType, right: &ValueType) -> Reason {
    Reason::Type { left: left.to_string(), right: right.to_string() }
}

/// Returns the name of the first attribute that differs, and both values as text.
pub(super) fn first_differing_attr(
    a: &Function,
    x: InstId,
    b: &Function,
    y: InstId,
) -> (String, String, String) {
    let show = |attr: Option<&Attr>| {
        let mut out = String::new();
        match attr {
            Some(attr) => write_attr(&mut out, attr, &mut LongLiteralMode::Elided(16)),
            None => out.push_str("nothing"),
        }
        out
    };
    let names: Vec<String> = match a.op_def(x) {
        Some(def) => {
            let differs = |attr: &&AttrDef| {
                let value = |f: &Function, i| f.attr(i, attr.name).cloned().unwrap_or(Attr::Unit);
                let (left, right) = (value(a, x), value(b, y));
                attr.without_default(&left) != attr.without_default(&right)
            };
            def.attrs.iter().filter(differs).map(|attr| attr.name.to_owned()).collect()
        }
        None => {
            let keys = |f: &Function, i: InstId| match f.attrs(i).first() {
                Some(Attr::Dict(entries)) => {
                    entries.iter().map(|(k, _)| k.as_str().to_owned()).collect()
                }
                _ => Vec::new(),
            };
            let mut all: Vec<String> = keys(a, x);
            all.extend(keys(b, y));
            all
        }
    };
    let differs = names.into_iter().find(|name| a.attr(x, name) != b.attr(y, name));
    let name = differs.unwrap_or_else(|| "attributes".into());
    let (left, right) = (show(a.attr(x, &name)), show(b.attr(y, &name)));
    if left == right {
        // Both values are elided to the same text: their bits differ somewhere in the middle.
        return (name, format!("{left} (other bits)"), right);
    }
    (name, left, right)
}
