//! Nodes in the form that another version of their operator set has.
//!
//! Most versions of an op add attributes, whose defaults mean what the op did before. Others turned attributes into inputs. Where a
//! version changed the meaning, a node is converted only if it means the same in both.

use sapwood_ptir::{InstId, TensorLiteral};

use super::graph::GraphWriter;
use crate::lower::{floats_of, ints_of};
use crate::ops::{OpSchema, Presence};
use crate::{Attribute, AttributeValue, Node, Text};

/// An attribute that became an input.
struct Moved {
    op: &'static str,
    /// The first version that has the input.
    since: i64,
    attribute: &'static str,
    position: usize,
    form: InputForm,
}

/// The form of an input that was an attribute.
#[derive(Clone, Copy)]
enum InputForm {
    /// A vector of 64-bit integers.
    Ints,
    /// A vector of one 64-bit integer.
    OneInt,
    /// A scalar of the element type of the first input.
    Number,
    /// A scalar of single precision.
    Float,
}

const fn moved(
    op: &'static str,
    since: i64,
    attribute: &'static str,
    position: usize,
    form: InputForm,
) -> Moved {
    Moved { op, since, attribute, position, form }
}

const MOVED: &[Moved] = &[
    moved("Clip", 11, "min", 1, InputForm::Number),
    moved("Clip", 11, "max", 2, InputForm::Number),
    moved("Dropout", 12, "ratio", 1, InputForm::Float),
    moved("Pad", 11, "pads", 1, InputForm::Ints),
    moved("Pad", 11, "value", 2, InputForm::Number),
    moved("ReduceL1", 18, "axes", 1, InputForm::Ints),
    moved("ReduceL2", 18, "axes", 1, InputForm::Ints),
    moved("ReduceLogSum", 18, "axes", 1, InputForm::Ints),
    moved("ReduceLogSumExp", 18, "axes", 1, InputForm::Ints),
    moved("ReduceMax", 18, "axes", 1, InputForm::Ints),
    moved("ReduceMean", 18, "axes", 1, InputForm::Ints),
    moved("ReduceMin", 18, "axes", 1, InputForm::Ints),
    moved("ReduceProd", 18, "axes", 1, InputForm::Ints),
    moved("ReduceSum", 13, "axes", 1, InputForm::Ints),
    moved("ReduceSumSquare", 18, "axes", 1, InputForm::Ints),
    moved("Slice", 10, "starts", 1, InputForm::Ints),
    moved("Slice", 10, "ends", 2, InputForm::Ints),
    moved("Slice", 10, "axes", 3, InputForm::Ints),
    moved("Split", 13, "split", 1, InputForm::Ints),
    moved("Squeeze", 13, "axes", 1, InputForm::Ints),
    moved("TopK", 10, "k", 1, InputForm::OneInt),
    moved("Unsqueeze", 13, "axes", 1, InputForm::Ints),
];

/// Versions that changed the meaning of an op in a way that its form does not show.
const CHANGED: &[(&str, i64)] = &[
    ("BatchNormalization", 7),
    ("DFT", 20),
    ("GridSample", 20),
    ("GroupNormalization", 21),
    ("PRelu", 7),
    ("Resize", 11),
    ("Scan", 9),
    ("Upsample", 9),
];

/// An attribute whose default is not what the op did before it had the attribute.
struct Implied {
    op: &'static str,
    /// The first version that has the attribute.
    since: i64,
    attribute: &'static str,
    /// The word that means what the op did before.
    before: &'static str,
}

const IMPLIED: &[Implied] = &[Implied {
    op: "RoiAlign",
    since: 16,
    attribute: "coordinate_transformation_mode",
    before: "output_half_pixel",
}];

/// Ops that worked on a matrix until this version, and on an axis since.
const ON_MATRICES: &[&str] = &["Softmax", "LogSoftmax", "Hardmax"];
const ON_AN_AXIS_SINCE: i64 = 13;

/// The version whose `Resize` needs the regions and the scales.
const RESIZE_NEEDS_ALL: i64 = 11;

/// The first version whose `Split` needs the number of its results.
const SPLIT_COUNTS_SINCE: i64 = 18;

fn name_of(attribute: &Attribute) -> &str {
    attribute.name.as_ref().and_then(Text::as_str).unwrap_or_default()
}

impl GraphWriter<'_> {
    /// Converts a node from one form of its op to another, or returns the reason why the other one cannot express it.
    pub(super) fn convert_form(
        &mut self,
        inst: InstId,
        node: &mut Node,
        from: &OpSchema,
        to: &OpSchema,
    ) -> Result<(), String> {
        let (old, new) = (from.versions[0], to.versions[0]);
        if to.is_deprecated {
            return Err(format!("version {new} of it no longer exists"));
        }
        let is_crossed = |since: i64| (old < since) != (new < since);
        if let Some((_, since)) =
            CHANGED.iter().find(|(op, since)| *op == from.name && is_crossed(*since))
        {
            return Err(format!("version {since} of it changed its meaning"));
        }
        if ON_MATRICES.contains(&from.name) && is_crossed(ON_AN_AXIS_SINCE) {
            self.convert_softmax(inst, node, from)?;
        }
        for row in MOVED.iter().filter(|row| row.op == from.name && is_crossed(row.since)) {
            match old < row.since {
                true => self.attribute_to_input(inst, node, row)?,
                false => self.input_to_attribute(inst, node, row)?,
            }
        }
        if from.name == "Split" && is_crossed(SPLIT_COUNTS_SINCE) {
            self.convert_split(inst, node, new)?;
        }
        for row in IMPLIED.iter().filter(|row| row.op == from.name && is_crossed(row.since)) {
            match old < row.since {
                true => {
                    let before = AttributeValue::String(row.before.as_bytes().into());
                    node.attribute.push(Attribute::new(row.attribute, before));
                }
                false => remove_implied(node, row)?,
            }
        }
        while node.input.last().is_some_and(Text::is_empty) {
            node.input.pop();
        }
        if from.name == "Resize" && new == RESIZE_NEEDS_ALL {
            self.fill_resize(node);
        }
        check_fits(node, from, to)?;
        // Defaults that differ are written out.
        for row in &from.attributes {
            let Some(other) = to.attribute(row.name) else { continue };
            let is_given = node.attribute.iter().any(|a| name_of(a) == row.name);
            if let Some(default) = &row.default
                && !is_given
                && other.default.as_ref() != Some(default)
            {
                node.attribute.push(Attribute::new(row.name, default.clone()));
            }
        }
        Ok(())
    }

    // Where other versions leave inputs out, this one has empty tensors.
    fn fill_resize(&mut self, node: &mut Node) {
        for (position, name) in [(1, "roi"), (2, "scales")] {
            if node.input.len() <= position {
                node.input.push(Text::default());
            }
            if node.input[position].is_empty()
                && let Ok(literal) = TensorLiteral::from_slice::<f32>(&[0], &[])
            {
                node.input[position] = self.constant(name, &literal);
            }
        }
    }

    // Without sizes, results have equal sizes. Newer versions need their number for that, and the last result may be smaller.
    fn convert_split(&self, inst: InstId, node: &mut Node, new: i64) -> Result<(), String> {
        if node.input.get(1).is_some_and(|name| !name.is_empty()) {
            return Ok(());
        }
        let count = node.output.len() as u64;
        if new >= SPLIT_COUNTS_SINCE {
            let count = AttributeValue::Int(count as i64);
            node.attribute.push(Attribute::new("num_outputs", count));
            return Ok(());
        }
        let axis = node.attribute.iter().find(|a| name_of(a) == "axis");
        let axis = match axis.and_then(|a| a.value.as_ref()) {
            Some(AttributeValue::Int(axis)) => *axis,
            _ => 0,
        };
        let dims = self.f.operands(inst).first().map(|&v| self.dims(v)).unwrap_or_default();
        let axis = if axis < 0 { axis + dims.len() as i64 } else { axis };
        let dim = usize::try_from(axis).ok().and_then(|axis| dims.get(axis)?.known());
        if !dim.is_some_and(|n| n.is_multiple_of(count.max(1))) {
            return Err("older versions of it split only into equal parts".into());
        }
        node.attribute.retain(|a| name_of(a) != "num_outputs");
        Ok(())
    }

    // In both forms, the last axis means the same.
    fn convert_softmax(
        &self,
        inst: InstId,
        node: &mut Node,
        from: &OpSchema,
    ) -> Result<(), String> {
        let given = node.attribute.iter().find(|a| name_of(a) == "axis");
        let value = given.and_then(|a| a.value.as_ref());
        let default = from.attribute("axis").and_then(|a| a.default.as_ref());
        let Some(AttributeValue::Int(axis)) = value.or(default) else {
            return Err("its axis is not known".into());
        };
        let rank = self.f.operands(inst).first().map_or(0, |&v| self.dims(v).len() as i64);
        if rank == 0 || (*axis != -1 && *axis != rank - 1) {
            return Err("version 13 of it changed its meaning for axes before the last".into());
        }
        node.attribute.retain(|a| name_of(a) != "axis");
        node.attribute.push(Attribute::new("axis", AttributeValue::Int(rank - 1)));
        Ok(())
    }

    fn attribute_to_input(
        &mut self,
        inst: InstId,
        node: &mut Node,
        row: &Moved,
    ) -> Result<(), String> {
        let Some(index) = node.attribute.iter().position(|a| name_of(a) == row.attribute) else {
            return Ok(());
        };
        let first = self.f.operands(inst).first().and_then(|&v| self.dtype(v));
        let literal = match (&node.attribute[index].value, row.form) {
            (Some(AttributeValue::Ints(list)), InputForm::Ints) => {
                TensorLiteral::from_slice(&[list.len() as u64], list).ok()
            }
            (Some(AttributeValue::Int(n)), InputForm::OneInt) => {
                TensorLiteral::from_slice(&[1], &[*n]).ok()
            }
            (Some(AttributeValue::Float(x)), InputForm::Number) => {
                let x = f64::from(*x);
                first.and_then(|dtype| TensorLiteral::filled(dtype, &[], x).ok())
            }
            (Some(AttributeValue::Float(x)), InputForm::Float) => {
                TensorLiteral::from_slice(&[], &[*x]).ok()
            }
            _ => None,
        };
        let Some(literal) = literal else {
            return Err(format!("its attribute `{}` cannot be an input", row.attribute));
        };
        node.attribute.remove(index);
        let name = self.constant(row.attribute, &literal);
        while node.input.len() <= row.position {
            node.input.push(Text::default());
        }
        node.input[row.position] = name;
        Ok(())
    }

    fn input_to_attribute(&self, inst: InstId, node: &mut Node, row: &Moved) -> Result<(), String> {
        let Some(name) = node.input.get(row.position).filter(|name| !name.is_empty()) else {
            return Ok(());
        };
        let operand = self.f.operands(inst).iter().find(|&&v| self.name_of(v) == *name);
        let literal = operand.and_then(|&v| self.f.constant_of(v));
        let value = literal.and_then(|literal| match row.form {
            InputForm::Ints => ints_of(literal).map(AttributeValue::Ints),
            InputForm::OneInt => {
                let list = ints_of(literal)?;
                (list.len() == 1).then(|| AttributeValue::Int(list[0]))
            }
            // The attribute has single precision.
            InputForm::Number | InputForm::Float if literal.dtype().is_float() => {
                let list = floats_of(literal).filter(|list| list.len() == 1)?;
                let single = list[0] as f32;
                let is_same = f64::from(single) == list[0] || list[0].is_nan();
                is_same.then_some(AttributeValue::Float(single))
            }
            InputForm::Number | InputForm::Float => None,
        });
        let Some(value) = value else {
            let what = match (literal, row.form) {
                (Some(_), InputForm::Number | InputForm::Float) => "a number of single precision",
                _ => "a constant",
            };
            return Err(format!("its input `{}` is not {what}", row.attribute));
        };
        node.input[row.position] = Text::default();
        node.attribute.push(Attribute::new(row.attribute, value));
        Ok(())
    }
}

/// Returns whether an attribute has a name and, as its value, a word.
pub(super) fn has_word(attribute: &Attribute, name: &str, word: &str) -> bool {
    name_of(attribute) == name
        && matches!(&attribute.value, Some(AttributeValue::String(text)) if **text == *word.as_bytes())
}

// Removes an attribute that the older form of an op does not have.
fn remove_implied(node: &mut Node, row: &Implied) -> Result<(), String> {
    let Implied { attribute: name, before, since, .. } = row;
    if !node.attribute.iter().any(|a| has_word(a, name, before)) {
        return Err(format!("before version {since}, its `{name}` is always `{before}`"));
    }
    node.attribute.retain(|a| name_of(a) != *name);
    Ok(())
}

// Checks that the other form has all inputs, outputs and attributes that a node uses.
fn check_fits(node: &mut Node, from: &OpSchema, to: &OpSchema) -> Result<(), String> {
    let version = to.versions[0];
    let (least, most) = to.input_count();
    let found = node.input.len();
    if found < least || found > most {
        let count = sapwood_types::counted(found, "input");
        return Err(format!("it has {count}, which version {version} does not take"));
    }
    let missing = to
        .inputs
        .iter()
        .zip(&node.input)
        .find(|(row, name)| row.presence == Presence::Required && name.is_empty());
    if let Some((row, _)) = missing {
        return Err(format!("version {version} needs its input `{}`", row.name));
    }
    let (_, most) = to.output_count();
    if node.output.len() > most {
        return Err(format!("version {version} has fewer results"));
    }
    let mut unknown = None;
    node.attribute.retain(|attribute| {
        let name = name_of(attribute);
        if to.attribute(name).is_some() {
            return true;
        }
        // An attribute with its default value means nothing.
        let default = from.attribute(name).and_then(|row| row.default.as_ref());
        if default.is_none() || attribute.value.as_ref() != default {
            unknown.get_or_insert_with(|| name.to_owned());
        }
        false
    });
    match unknown {
        Some(name) => Err(format!("version {version} has no attribute `{name}`")),
        None => Ok(()),
    }
}
