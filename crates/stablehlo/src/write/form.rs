//! The writer of instructions whose text is stated by a form.

use std::fmt::Write as _;

use sapwood_ptir::{Attr, InstId};
use sapwood_types::write_signed_decimal;
use smallvec::SmallVec;

use super::{TextWriter, unwritable, write_list};
use crate::literal;
use crate::ops::{OpMapping, Part, PrintedOp, TypeSyntax, WriteResult};
use crate::types;

/// Writes an instruction by its form.
pub(crate) fn print_form(w: &mut TextWriter<'_>, (inst, mapping): PrintedOp) -> WriteResult {
    let mut attrs = &w.f.attrs(inst)[..];
    let written = if mapping.type_syntax() == TypeSyntax::Generic {
        w.start_generic_op(inst, mapping.name);
        let properties = write_properties(&mut w.out, mapping.form, &mut attrs);
        w.end_generic_op(inst, mapping.name);
        properties
    } else {
        w.start_op(inst, mapping.name);
        print_parts(w, inst, mapping, &mut attrs)
    };
    written.ok_or_else(|| unwritable(w, inst, "malformed"))
}

// Writes the parts of the pretty form. Returns `None` if an attribute does not fit its part.
fn print_parts(
    w: &mut TextWriter<'_>,
    inst: InstId,
    mapping: &'static OpMapping,
    attrs: &mut &[Attr],
) -> Option<()> {
    let mut separator = " ";
    for part in mapping.form {
        match *part {
            Part::Operands => {
                let operands = w.f.operands(inst);
                if !operands.is_empty() {
                    w.out.push_str(separator);
                    w.write_values(operands);
                    separator = ", ";
                }
            }
            Part::Open => {
                w.out.push('(');
                separator = "";
            }
            Part::Close => {
                w.out.push(')');
                separator = " ";
            }
            Part::Types(syntax) => w.end_op(inst, mapping, syntax),
            Part::Ranges => {
                w.out.push_str(" [");
                write_ranges(&mut w.out, take(attrs)?, take(attrs)?, take(attrs)?)?;
                w.out.push(']');
            }
            Part::Index(_) => {
                let Attr::Int(index) = take(attrs)? else { return None };
                w.out.push('[');
                write_signed_decimal(&mut w.out, *index);
                w.out.push(']');
            }
            Part::Literal => {
                let literal = take(attrs)?.as_literal()?;
                w.out.push(' ');
                literal::write(&mut w.out, literal);
                w.out.push_str(" : ");
                types::write_tensor(&mut w.out, &literal.ty());
                w.out.push('\n');
            }
            Part::ResultType | Part::Fixed(_) => drop(take(attrs)?),
            Part::Ints(key, _)
            | Part::IntsUnless(key, ..)
            | Part::Int(key, _)
            | Part::Bool(key, _)
            | Part::OptionalBool(key, _)
            | Part::Word(key, ..) => {
                // The first attribute is a list of the same length.
                let first = w.f.attrs(inst).first();
                let attr = take(attrs)?;
                if !matches!((part, attr), (Part::OptionalBool(..), Attr::Bool(false))) {
                    w.out.push_str(separator);
                    w.out.push_str(key);
                    w.out.push_str(" = ");
                    write_value(&mut w.out, part, attr, first)?;
                    separator = ", ";
                }
            }
            // The ops with these parts have print functions.
            _ => return None,
        }
    }
    Some(())
}

// Returns the next attribute.
fn take<'a>(attrs: &mut &'a [Attr]) -> Option<&'a Attr> {
    attrs.split_off_first()
}

// Writes a value as in a clause of the pretty form.
fn write_value(out: &mut String, part: &Part, attr: &Attr, first: Option<&Attr>) -> Option<()> {
    match (part, attr) {
        (Part::Ints(..) | Part::IntsUnless(..), Attr::Ints(list)) => write_list(out, list),
        (Part::IntsUnless(_, _, default), Attr::Unit) => {
            let count = first.and_then(Attr::as_ints)?.len();
            write_list(out, &SmallVec::<[i64; 8]>::from_elem(*default, count));
        }
        (Part::Word(_, _, words), _) => out.push_str(words.word(attr)?),
        (Part::Int(..), Attr::Int(n)) => write_signed_decimal(out, *n),
        (Part::Bool(..) | Part::OptionalBool(..), Attr::Bool(b)) => drop(write!(out, "{b}")),
        _ => return None,
    }
    Some(())
}

// Writes `0:4, 1:8:2`.
fn write_ranges(out: &mut String, starts: &Attr, limits: &Attr, strides: &Attr) -> Option<()> {
    let (starts, limits, strides) = (starts.as_ints()?, limits.as_ints()?, strides.as_ints());
    for (i, (start, limit)) in starts.iter().zip(limits).enumerate() {
        out.push_str(if i > 0 { ", " } else { "" });
        write_signed_decimal(out, *start);
        out.push(':');
        write_signed_decimal(out, *limit);
        if let Some(&stride) = strides.and_then(|s| s.get(i)).filter(|&&s| s != 1) {
            out.push(':');
            write_signed_decimal(out, stride);
        }
    }
    Some(())
}

// Writes the attributes as in the generic form: ` <{a = 1 : i64, b = true}>`. Returns `None` if one does not fit its part.
fn write_properties(out: &mut String, form: &[Part], attrs: &mut &[Attr]) -> Option<()> {
    let mut separator = " <{";
    for part in form {
        let (Part::Ints(_, name)
        | Part::OptionalInts(_, name, _)
        | Part::OptionalPairs(name)
        | Part::Int(_, name)
        | Part::Bool(_, name)
        | Part::OptionalBool(_, name)
        | Part::Word(_, name, _)
        | Part::Struct(name, ..)) = part
        else {
            continue;
        };
        let attr = attrs.first()?;
        if *attr == Attr::Unit {
            take(attrs)?;
            continue;
        }
        out.push_str(separator);
        separator = ", ";
        out.push_str(name);
        out.push_str(" = ");
        if let Part::Struct(_, kind, fields) = part {
            let _ = write!(out, "#stablehlo.{kind}<");
            write_fields(out, fields, attrs)?;
            out.push('>');
        } else {
            write_property(out, part, take(attrs)?)?;
        }
    }
    if separator == ", " {
        out.push_str("}>");
    }
    Some(())
}

fn write_property(out: &mut String, part: &Part, attr: &Attr) -> Option<()> {
    match (part, attr) {
        (Part::OptionalPairs(_), Attr::List(rows)) => {
            out.push_str("dense<[");
            for (i, row) in rows.iter().enumerate() {
                out.push_str(if i > 0 { ", " } else { "" });
                write_list(out, row.as_ints()?);
            }
            let _ = write!(out, "]> : tensor<{}x2xi64>", rows.len());
        }
        (Part::Ints(..) | Part::OptionalInts(..), Attr::Ints(list)) => write_array(out, list),
        (Part::Int(..), Attr::Int(n)) => drop(write!(out, "{n} : i64")),
        (Part::Bool(..) | Part::OptionalBool(..), Attr::Bool(b)) => drop(write!(out, "{b}")),
        (Part::Word(_, _, words), _) => {
            let _ = write!(out, "#stablehlo<{} {}>", words.kind, words.word(attr)?);
        }
        _ => return None,
    }
    Some(())
}

// Writes the fields of a struct that are not empty or zero: `offset_dims = [1], index_vector_dim = 1`.
fn write_fields(out: &mut String, fields: &[&str], attrs: &mut &[Attr]) -> Option<()> {
    let mut separator = "";
    for name in fields {
        let attr = take(attrs)?;
        if matches!(attr, Attr::Ints(list) if list.is_empty()) || *attr == Attr::Int(0) {
            continue;
        }
        out.push_str(separator);
        out.push_str(name);
        out.push_str(" = ");
        separator = ", ";
        match attr {
            Attr::Ints(list) => write_list(out, list),
            Attr::Int(n) => write_signed_decimal(out, *n),
            _ => return None,
        }
    }
    Some(())
}

/// Writes `array<i64: 1, 2>`.
pub(crate) fn write_array(out: &mut String, list: &[i64]) {
    out.push_str("array<i64");
    for (i, n) in list.iter().enumerate() {
        out.push_str(if i == 0 { ": " } else { ", " });
        write_signed_decimal(out, *n);
    }
    out.push('>');
}

impl TextWriter<'_> {
    /// Ends the line of an op in the pretty form: saved attributes and types.
    pub(crate) fn end_op(&mut self, inst: InstId, mapping: &'static OpMapping, syntax: TypeSyntax) {
        self.write_extras(inst, mapping.name);
        let operands = self.f.operands(inst);
        let first = self.f.inst_results(inst).next();
        match (syntax, first, operands) {
            (TypeSyntax::Same, Some(result), _)
                if operands.iter().all(|&v| self.f.type_id(v) == self.f.type_id(result)) =>
            {
                self.out.push_str(" : ");
                self.write_type_of(result);
            }
            (TypeSyntax::OfResult, Some(result), _) => {
                self.out.push_str(" : ");
                self.write_type_of(result);
            }
            (TypeSyntax::OfSelect, _, &[predicate, a, b])
                if self.f.type_id(a) == self.f.type_id(b) =>
            {
                self.out.push_str(" : ");
                self.write_types(&[predicate, a]);
            }
            (TypeSyntax::OfOperands, ..) => {
                self.out.push_str(" : ");
                self.write_types(operands);
            }
            (TypeSyntax::Arrow, ..) => {
                self.out.push_str(" : ");
                self.write_types(operands);
                self.out.push_str(" -> ");
                self.write_result_types(inst);
            }
            _ => self.write_function_type(inst),
        }
        self.out.push('\n');
    }

    // Ends an op in the generic form: regions, saved attributes and types.
    pub(crate) fn end_generic_op(&mut self, inst: InstId, name: &str) {
        if self.f.regions(inst).is_empty() {
            self.write_extras(inst, name);
            self.write_function_type(inst);
            self.out.push('\n');
        } else {
            self.write_generic_regions(inst, name);
        }
    }
}
