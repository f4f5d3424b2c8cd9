//! The writer of one function: names, types, and regions without recursion.

use std::fmt::Write as _;
use std::ops::Range;

use sapwood_ptir::{
    BodyId, Function, InstId, Name, Op, OpKey, Program, Registry, TypeId, ValueId, ValueType,
};
use sapwood_types::{Loc, LocTable, write_decimal, write_signed_decimal};
use smallvec::SmallVec;

use super::value_names::ValueNames;
use super::{WriteError, unwritable};
use crate::module::Extras;
use crate::{ops, types};

/// The largest depth by which lines are indented.
const MAX_INDENT: usize = 32;

/// Output that is written later.
enum PendingOutput {
    Text(String),
    /// This instruction and all after it in its body.
    Insts(Option<InstId>),
    /// A region with its braces, and whether its parameters are written.
    Region(BodyId, bool),
    /// The end of a region.
    RegionEnd,
}

/// The texts of the types of a function, each written once.
#[derive(Default)]
struct TypeTexts {
    text: String,
    /// The text of each type by its id; empty if the type was not written yet.
    ranges: Vec<Range<usize>>,
}

impl TypeTexts {
    fn write(&mut self, out: &mut String, f: &Function, ty: TypeId) {
        let index = ty.index();
        if self.ranges.len() <= index {
            self.ranges.resize(index + 1, 0..0);
        }
        if self.ranges[index].is_empty() {
            let start = self.text.len();
            types::write(&mut self.text, f.type_by_id(ty));
            self.ranges[index] = start..self.text.len();
        }
        out.push_str(&self.text[self.ranges[index].clone()]);
    }
}

/// A function that is being written as text.
pub(crate) struct TextWriter<'a> {
    pub(crate) f: &'a Function,
    pub(crate) out: String,
    program: &'a Program,
    extras: &'a Extras,
    names: ValueNames,
    types: TypeTexts,
    depth: usize,
    stack: Vec<PendingOutput>,
    /// The output that the current op still has to write, in order.
    queue: Vec<PendingOutput>,
    /// The locations used so far; `None` if none are written.
    pub(super) locs: Option<LocTable>,
}

impl<'a> TextWriter<'a> {
    pub(super) fn new(
        out: String,
        f: &'a Function,
        program: &'a Program,
        extras: &'a Extras,
    ) -> Self {
        Self {
            f,
            out,
            program,
            extras,
            names: ValueNames::default(),
            types: TypeTexts::default(),
            depth: 2,
            stack: Vec::new(),
            queue: Vec::new(),
            locs: None,
        }
    }

    /// Returns an instruction as a `T`, or the error that it is malformed.
    pub(crate) fn view<T: Op>(&self, inst: InstId) -> Result<T, WriteError> {
        self.f.view(inst).ok_or_else(|| unwritable(self, inst, "malformed"))
    }

    /// Writes a body with all nested regions.
    pub(super) fn write_body(&mut self, body: BodyId) -> Result<(), WriteError> {
        self.stack.push(PendingOutput::Insts(self.f.first_inst(body)));
        while let Some(next) = self.stack.pop() {
            match next {
                PendingOutput::Text(text) => self.out.push_str(&text),
                PendingOutput::Insts(None) => {}
                PendingOutput::Insts(Some(inst)) => {
                    self.stack.push(PendingOutput::Insts(self.f.next_inst(inst)));
                    let start = self.out.len();
                    self.write_inst(inst)?;
                    if self.locs.is_some() {
                        self.write_inst_loc(inst, start);
                    }
                    while let Some(next) = self.queue.pop() {
                        self.stack.push(next);
                    }
                }
                PendingOutput::Region(body, with_params) => self.open_region(body, with_params),
                PendingOutput::RegionEnd => {
                    self.depth -= 1;
                    self.write_indent();
                    self.out.push('}');
                }
            }
        }
        Ok(())
    }

    /// Writes ` loc(#loc7)`, if locations are written.
    pub(super) fn write_loc(&mut self, loc: Loc) {
        if let Some(locs) = &mut self.locs {
            self.out.push(' ');
            locs.write_use(&mut self.out, loc);
        }
    }

    // Adds the location of an instruction to its text, which begins at `start` and may end in the queue. Several lines without
    // regions are several ops; each has the location.
    fn write_inst_loc(&mut self, inst: InstId, start: usize) {
        let loc = self.f.inst_span(inst).loc();
        if let Some(PendingOutput::Text(end)) = self.queue.last_mut() {
            if let (Some(locs), Some('\n')) = (&mut self.locs, end.pop()) {
                end.push(' ');
                locs.write_use(end, loc);
            }
            end.push('\n');
            return;
        }
        let text = self.out.split_off(start);
        let whole = text.lines().any(|line| line.ends_with('{'));
        let ends = text.match_indices('\n').map(|(at, _)| at);
        let mut from = 0;
        for at in ends.filter(|&at| !whole || at + 1 == text.len()) {
            self.out.push_str(&text[from..at]);
            self.write_loc(loc);
            from = at;
        }
        self.out.push_str(&text[from..]);
    }

    fn open_region(&mut self, body: BodyId, with_params: bool) {
        self.out.push_str("{\n");
        let params = self.f.body_params(body);
        if with_params && !params.is_empty() {
            self.write_indent();
            self.out.push_str("^bb0(");
            for (i, &param) in params.iter().enumerate() {
                if i > 0 {
                    self.out.push_str(", ");
                }
                self.name_value(param);
                self.write_value(param);
                self.out.push_str(": ");
                self.write_type_of(param);
            }
            self.out.push_str("):\n");
        }
        self.depth += 1;
        self.stack.push(PendingOutput::RegionEnd);
        self.stack.push(PendingOutput::Insts(self.f.first_inst(body)));
    }

    fn write_inst(&mut self, inst: InstId) -> Result<(), WriteError> {
        if let Some(mapping) = ops::by_key(self.f.op_key(inst)) {
            return mapping.write(self, inst);
        }
        match self.f.op_name(inst) {
            "return" => self.write_terminator(inst, "return"),
            "yield" => self.write_terminator(inst, "stablehlo.return"),
            _ if self.f.op_def(inst).is_none() => ops::write_unknown(self, inst),
            _ if Registry::builtin().get(self.f.op_key(inst)).is_none() => {
                return ops::write_own_op(self, inst);
            }
            _ => return Err(unwritable(self, inst, "StableHLO has no counterpart")),
        }
        Ok(())
    }

    fn write_terminator(&mut self, inst: InstId, name: &str) {
        let operands = self.f.operands(inst);
        let results = self.f.result_types();
        let f = self.f;
        let apart = |(v, ty): (&ValueId, &&ValueType)| print_differently(f.value_type(*v), ty);
        if name == "return" && operands.iter().zip(&results).any(apart) {
            let names: Vec<String> =
                operands.iter().zip(&results).map(|(&v, ty)| self.value_as_type(v, ty)).collect();
            self.write_indent();
            let types: Vec<String> = results.iter().map(|ty| types::to_text(ty)).collect();
            let _ = writeln!(self.out, "{name} {} : {}", names.join(", "), types.join(", "));
            return;
        }
        self.write_indent();
        self.out.push_str(name);
        if !operands.is_empty() {
            self.out.push(' ');
            self.write_values(operands);
            self.out.push_str(" : ");
            self.write_types(operands);
        }
        self.out.push('\n');
    }

    pub(crate) fn write_indent(&mut self) {
        const SPACES: &str = "                                                                ";
        let width = 2 * self.depth.min(MAX_INDENT);
        self.out.push_str(&SPACES[..width]);
    }

    /// Names a parameter.
    pub(crate) fn name_value(&mut self, value: ValueId) {
        self.names.assign(value, self.f.hint(value));
    }

    /// Gives a parameter the name of another one.
    pub(crate) fn name_like(&mut self, value: ValueId, as_value: ValueId) {
        self.names.assign_same(value, as_value);
    }

    /// Returns an unused name for a value that the program does not have.
    pub(crate) fn fresh_name(&mut self) -> String {
        self.names.fresh_name()
    }

    /// Starts a line with the names of the results, which it assigns: `%r:2 = `.
    pub(crate) fn start_line(&mut self, inst: InstId) {
        self.write_indent();
        let results = self.f.inst_results(inst);
        let count = results.len();
        let Some(first) = results.clone().next() else { return };
        if count == 1 {
            self.names.assign(first, self.f.hint(first));
            self.names.write(&mut self.out, first);
        } else {
            self.names.assign_group(results, self.f.hint(first));
            self.names.write_group(&mut self.out, first);
            self.out.push(':');
            write_decimal(&mut self.out, count as u64);
        }
        self.out.push_str(" = ");
    }

    /// Starts the line of an op in the pretty form.
    pub(crate) fn start_op(&mut self, inst: InstId, name: &str) {
        self.start_line(inst);
        self.out.push_str(name);
    }

    /// Starts the line of an op in the generic form, with all operands.
    pub(crate) fn start_generic_op(&mut self, inst: InstId, name: &str) {
        self.start_line(inst);
        super::write_string(&mut self.out, name);
        self.out.push('(');
        self.write_values(self.f.operands(inst));
        self.out.push(')');
    }

    pub(crate) fn write_value(&mut self, value: ValueId) {
        self.names.write(&mut self.out, value);
    }

    pub(crate) fn write_values(&mut self, values: &[ValueId]) {
        for (i, &value) in values.iter().enumerate() {
            if i > 0 {
                self.out.push_str(", ");
            }
            self.names.write(&mut self.out, value);
        }
    }

    /// Returns the name of a value.
    pub(crate) fn name_of(&self, value: ValueId) -> String {
        let mut out = String::new();
        self.names.write(&mut out, value);
        out
    }

    pub(crate) fn write_type_of(&mut self, value: ValueId) {
        self.types.write(&mut self.out, self.f, self.f.type_id(value));
    }

    pub(crate) fn write_types(&mut self, values: &[ValueId]) {
        self.write_types_of(values.iter().copied());
    }

    fn write_types_of(&mut self, values: impl Iterator<Item = ValueId>) {
        for (i, value) in values.enumerate() {
            if i > 0 {
                self.out.push_str(", ");
            }
            self.write_type_of(value);
        }
    }

    /// Writes the type of the result, or those of several results in parentheses.
    pub(crate) fn write_result_types(&mut self, inst: InstId) {
        let mut results = self.f.inst_results(inst);
        if results.len() == 1
            && let Some(result) = results.next()
            && self.f.value_type(result).as_tuple().is_none()
        {
            self.write_type_of(result);
            return;
        }
        self.out.push('(');
        self.write_types_of(self.f.inst_results(inst));
        self.out.push(')');
    }

    /// Writes ` : (operands) -> results`.
    pub(crate) fn write_function_type(&mut self, inst: InstId) {
        self.out.push_str(" : (");
        self.write_types(self.f.operands(inst));
        self.out.push_str(") -> ");
        self.write_result_types(inst);
    }

    /// Returns ` : (operands) -> results` as text.
    pub(crate) fn function_type_text(&mut self, inst: InstId) -> String {
        let out = std::mem::take(&mut self.out);
        self.write_function_type(inst);
        std::mem::replace(&mut self.out, out)
    }

    /// Returns the parameter and result types of a function if a call with the actual types would print differently.
    pub(crate) fn callee_types_if_different(
        &self,
        callee: Name,
        args: &[ValueId],
        call: InstId,
    ) -> Option<[SmallVec<[&'a ValueType; 4]>; 2]> {
        let callee = self.program.function(callee)?;
        let results = callee.result_types();
        let params: SmallVec<[_; 4]> =
            callee.params().iter().map(|&v| callee.value_type(v)).collect();
        let apart = |v: ValueId, ty: &ValueType| print_differently(self.f.value_type(v), ty);
        let differ = args.iter().zip(&params).any(|(&v, ty)| apart(v, ty))
            || self.f.inst_results(call).zip(&results).any(|(v, ty)| apart(v, ty));
        differ.then_some([params, results])
    }

    /// Returns the name of the value in this type: its own, or the name of a conversion that this writes.
    pub(crate) fn value_as_type(&mut self, value: ValueId, ty: &ValueType) -> String {
        let (name, own) = (self.name_of(value), self.f.value_type(value));
        if !print_differently(own, ty) {
            return name;
        }
        let fresh = self.fresh_name();
        self.write_conversion(&fresh, &name, own, ty);
        fresh
    }

    /// Writes `%to = stablehlo.convert %from` between types that differ in how much of the extents is known.
    pub(crate) fn write_conversion(
        &mut self,
        to: &str,
        from: &str,
        own: &ValueType,
        ty: &ValueType,
    ) {
        self.write_indent();
        let (own, ty) = (types::to_text(own), types::to_text(ty));
        let _ = writeln!(self.out, "{to} = stablehlo.convert {from} : ({own}) -> {ty}");
    }

    /// Writes the saved attributes of this op as ` {…}`.
    pub(crate) fn write_extras(&mut self, inst: InstId, name: &str) {
        if let Some(text) = self.extras_of(inst, name) {
            self.out.push_str(" {");
            self.out.push_str(&text);
            self.out.push('}');
        }
    }

    /// Returns the saved attributes of this op.
    pub(crate) fn extras_of(&self, inst: InstId, name: &str) -> Option<Box<str>> {
        if self.extras.ops.is_empty() {
            return None;
        }
        let kept = self.extras.ops.get(&self.f.inst_span(inst).without_loc())?;
        (*kept.op == *name).then(|| kept.attributes.clone())
    }

    /// Queues text after the output that is queued already.
    pub(crate) fn queue_text(&mut self, text: impl Into<String>) {
        self.queue.push(PendingOutput::Text(text.into()));
    }

    /// Queues a region after the output that is queued already, with braces and parameters.
    pub(crate) fn queue_region(&mut self, body: BodyId) {
        self.queue.push(PendingOutput::Region(body, true));
    }

    /// Queues a region whose parameters are named elsewhere.
    pub(crate) fn queue_region_without_params(&mut self, body: BodyId) {
        self.queue.push(PendingOutput::Region(body, false));
    }

    /// Writes ` ({…}, {…}) {extras} : type` for all regions of an op.
    pub(crate) fn write_generic_regions(&mut self, inst: InstId, name: &str) {
        let attributes = self.extras_of(inst, name).map(|text| format!(" {{{text}}}"));
        self.write_generic_regions_with(inst, &attributes.unwrap_or_default());
    }

    /// Writes ` ({…}, {…}) attributes : type` for all regions of an op.
    pub(crate) fn write_generic_regions_with(&mut self, inst: InstId, attributes: &str) {
        self.out.push_str(" (");
        for (i, &region) in self.f.regions(inst).iter().enumerate() {
            if i > 0 {
                self.queue_text(", ");
            }
            self.queue_region(region);
        }
        let mut end = format!("){attributes}");
        end.push_str(&self.function_type_text(inst));
        end.push('\n');
        self.queue_text(end);
    }

    pub(crate) fn write_int_list(&mut self, list: &[i64]) {
        write_list(&mut self.out, list);
    }

    /// Returns the only op of a region, if the region yields its result and has nothing else.
    pub(crate) fn single_op(&self, body: BodyId) -> Option<(OpKey, InstId)> {
        let inst = self.f.first_inst(body)?;
        let end = self.f.next_inst(inst)?;
        let result = self.f.value_of(inst)?;
        (self.f.terminator(body) == Some(end) && self.f.operands(end) == [result])
            .then(|| (self.f.op_key(inst), inst))
    }

    /// Returns the width of the indentation of the next line.
    pub(crate) fn indentation(&self) -> usize {
        2 * self.depth.min(MAX_INDENT)
    }
}

// Returns whether two types print differently. Names of extents are not printed.
fn print_differently(a: &ValueType, b: &ValueType) -> bool {
    a != b && types::to_text(a) != types::to_text(b)
}

/// Writes `[1, 2]`.
pub(crate) fn write_list(out: &mut String, list: &[i64]) {
    out.push('[');
    for (i, n) in list.iter().enumerate() {
        if i > 0 {
            out.push_str(", ");
        }
        write_signed_decimal(out, *n);
    }
    out.push(']');
}

/// Writes one type, or several in parentheses.
pub(crate) fn write_results(out: &mut String, results: &[&ValueType]) {
    if let [one] = results
        && one.as_tuple().is_none()
    {
        types::write(out, one);
        return;
    }
    out.push('(');
    for (i, ty) in results.iter().enumerate() {
        if i > 0 {
            out.push_str(", ");
        }
        types::write(out, ty);
    }
    out.push(')');
}
