//! Patterns written as functions: parameters match anything, `return` names the outputs, and the ops are searched for.

use std::collections::HashMap;
use std::path::Path;
use std::sync::Arc;

use sapwood_ptir::ops::{BroadcastInDim, BroadcastTo, Call, Constant};
use sapwood_ptir::{
    Attr, AttrKind, Function, InstId, InstPrinter, Name, ParseOptions, Program, Registry, ValueId,
    parse_with,
};
use sapwood_types::{Diagnostic, Diagnostics, Span, counted};

use super::literal::Literal;
use super::match_plan::unreached;
use super::{
    AttrCondition, AttrSlot, AttrTest, MAX_OPS, OtherOps, PatternGraph, PatternOp, PatternOperand,
    PatternValue, ValueIx, ValueSource,
};
use crate::pattern_files::defined_twice;

/// Reads the patterns of a text: every function is one, named after itself, or after the file if it is `@pattern`.
/// Attributes may be omitted; those that are written must match.
///
/// ```
/// use sapwood_ptir::Registry;
/// use sapwood_rules::patterns_from;
/// use sapwood_types::Source;
///
/// let text = "ptir 1 func @pattern(%x: f32[2, 3]) -> f32[3, 2] { %t = transpose %x : f32[3, 2] return %t }";
/// let patterns = patterns_from(&Source::new("turn.ptir", text), &Registry::builtin())?;
/// assert_eq!(patterns[0].name().as_str(), "turn");
/// # Ok::<(), sapwood_types::Diagnostics>(())
/// ```
///
/// # Errors
/// With a diagnostic for each error in the text, and for each function that is not a valid pattern.
pub fn patterns_from(
    source: &sapwood_types::Source,
    registry: &Arc<Registry>,
) -> Result<Vec<PatternGraph>, Diagnostics> {
    let options = ParseOptions::new()
        .file(source.name())
        .registry(registry)
        .verify(false)
        .open_attributes(true)
        .numbers(true);
    let program = parse_with(source.text(), &options)?;
    let is_own_name = |f: &Function| f.name().as_str() != "pattern";
    let patterns = functions_as_patterns(&program, source.name(), is_own_name)?;
    if patterns.is_empty() {
        let mut problems = Diagnostics::new();
        let start = source.span(0..source.text().len().min(4));
        problems.error(start, "the file has no functions; each function is a pattern");
        return Err(problems);
    }
    Ok(patterns)
}

/// Returns the patterns of a program, for example of a model: every function is one, with all its attributes. A function is named after itself;
/// `@main`, `@pattern` and the only function of a program are named after `file`, without its extension.
///
/// The program should be in the form of the programs that are searched, so run the same passes on both.
///
/// # Errors
/// With a diagnostic for each function that is not a valid pattern.
pub fn patterns_of_program(
    program: &Program,
    file: &str,
) -> Result<Vec<PatternGraph>, Diagnostics> {
    let only = program.functions().len() == 1;
    let is_own_name = |f: &Function| !(only || ["main", "pattern"].contains(&f.name().as_str()));
    functions_as_patterns(program, file, is_own_name)
}

fn functions_as_patterns(
    program: &Program,
    file: &str,
    is_own_name: impl Fn(&Function) -> bool,
) -> Result<Vec<PatternGraph>, Diagnostics> {
    let mut problems = Diagnostics::new();
    let mut patterns = Vec::new();
    let mut first_spans: HashMap<Name, Span> = HashMap::new();
    let stem = Path::new(file).file_stem().and_then(|s| s.to_str()).unwrap_or("pattern");
    for f in program.functions() {
        let name = if is_own_name(f) { f.name() } else { Name::new(stem) };
        if let Some(&first) = first_spans.get(&name) {
            problems.push(defined_twice("pattern", name.as_str(), f.span(), first));
            continue;
        }
        match pattern_of(f, name) {
            Ok(pattern) => {
                first_spans.insert(name, pattern.span);
                patterns.push(pattern);
            }
            Err(found) => problems.append(found),
        }
    }
    problems.into_result(patterns)
}

/// Returns the pattern that a function describes, under this name. Attributes that are [`Attr::Unit`] match anything.
///
/// # Errors
/// If the function is not a valid pattern: empty, not connected, or with an output that is an input.
pub fn pattern_of(f: &Arc<Function>, name: Name) -> Result<PatternGraph, Diagnostics> {
    let mut problems = Diagnostics::new();
    check_function(f, &mut problems);
    if problems.has_errors() {
        return Err(problems);
    }
    let mut graph = PatternGraph::empty(name, f.span());
    let mut builder = Builder { f, names: InstPrinter::new(f), graph: &mut graph };
    for &param in f.params() {
        let value = builder.value(param, ValueSource::Param);
        builder.graph.params.push(value);
    }
    let insts: Vec<InstId> = f.body_insts(f.body()).collect();
    for &inst in insts.iter().filter(|&&i| Some(i) != f.terminator(f.body())) {
        builder.inst(inst, &mut problems);
    }
    let returned: Vec<ValueId> = f.results().to_vec();
    for value in returned {
        let output = builder.graph.by_value.get(&value).copied();
        builder.graph.outputs.extend(output);
    }
    graph.source = Some(f.clone());
    let end = f.terminator(f.body()).map_or(f.span(), |t| f.inst_span(t));
    check_graph(&mut graph, end, &mut problems);
    problems.into_result(graph)
}

// Checks the properties that a parser with optional attributes does not check.
fn check_function(f: &Function, problems: &mut Diagnostics) {
    if f.terminator(f.body()).is_none() {
        problems.error(f.span(), "the pattern does not end in `return`");
    }
    for inst in f.walk() {
        let complain = |problems: &mut Diagnostics, message: String| {
            problems.error(f.inst_span(inst), format!("{}: {message}", f.op_name(inst)));
        };
        for &value in f.operands(inst) {
            if !f.is_live_value(value) || !f.is_available_to(value, inst) {
                complain(problems, "an operand is used before it is defined".into());
            }
        }
        let Some(def) = f.op_def(inst) else { continue };
        let count = f.operands(inst).len();
        if def.variadic_len(count).is_none() {
            complain(problems, format!("expected {}, found {count}", def.describe_arity()));
        }
        if !def.accepts_regions(f.regions(inst).len()) {
            let (expected, found) = (def.regions.len(), f.regions(inst).len());
            let expected = counted(expected, "region");
            complain(problems, format!("expected {expected}, found {found}"));
        }
    }
}

struct Builder<'a> {
    f: &'a Function,
    names: InstPrinter<'a>,
    graph: &'a mut PatternGraph,
}

impl Builder<'_> {
    fn value(&mut self, value: ValueId, from: ValueSource) -> ValueIx {
        let name = self.names.value(value);
        let ty = Some(self.f.value_type(value).clone());
        self.graph.values.push(PatternValue { name, from, ty, shape: None });
        let ix = self.graph.values.len() - 1;
        self.graph.by_value.insert(value, ix);
        ix
    }

    fn inst(&mut self, inst: InstId, problems: &mut Diagnostics) {
        let f = self.f;
        if let Some(literal) = self.literal(inst)
            && let Some(result) = f.value_of(inst)
        {
            self.value(result, ValueSource::Literal(literal));
            return;
        }
        let op = self.graph.ops.len();
        if op == MAX_OPS {
            let message = format!("a pattern has at most {MAX_OPS} ops");
            problems.error(f.inst_span(inst), message);
        }
        let operands =
            f.operands(inst).iter().map(|v| PatternOperand::One(self.graph.by_value[v])).collect();
        let captured = self.captured(inst);
        let results =
            f.inst_results(inst).map(|v| self.value(v, ValueSource::Result(op))).collect();
        let callee = match f.attr(inst, "callee") {
            Some(Attr::Func(name)) if f.is::<Call>(inst) => Some(*name),
            _ => None,
        };
        self.graph.ops.push(PatternOp {
            key: f.op_key(inst),
            others: OtherOps::None,
            span: f.inst_span(inst),
            operands,
            results,
            exact_results: true,
            attrs: self.attrs(inst),
            callee,
            commutative: f.op_def(inst).is_some_and(|d| d.commutative),
            symmetric: false,
            regions: (!f.regions(inst).is_empty()).then_some(inst),
            captured,
            region_patterns: Vec::new(),
            in_region: false,
        });
    }

    // Returns the literal of a constant or of a broadcast of a splat: these are matched by value.
    fn literal(&self, inst: InstId) -> Option<Literal> {
        let f = self.f;
        if f.is::<Constant>(inst) {
            return f.attrs(inst).first()?.as_literal().cloned().map(Literal::Tensor);
        }
        if !f.is::<BroadcastTo>(inst) && !f.is::<BroadcastInDim>(inst) {
            return None;
        }
        let source = self.graph.by_value.get(f.operands(inst).first()?)?;
        match &self.graph.values[*source].from {
            ValueSource::Literal(Literal::Tensor(literal)) if literal.as_splat().is_some() => {
                Some(Literal::Tensor(literal.clone()))
            }
            _ => None,
        }
    }

    // Returns the outer values that the regions of an instruction use, each once.
    fn captured(&self, inst: InstId) -> Vec<ValueIx> {
        let f = self.f;
        let mut captured = Vec::new();
        for &body in f.regions(inst) {
            for nested in f.walk_body(body) {
                for value in f.operands(nested) {
                    if let Some(&ix) = self.graph.by_value.get(value)
                        && !captured.contains(&ix)
                    {
                        captured.push(ix);
                    }
                }
            }
        }
        captured
    }

    fn attrs(&self, inst: InstId) -> Vec<AttrTest> {
        written_attrs(self.f, inst)
    }
}

/// Returns tests for the attributes that are written on an instruction of a pattern.
pub(crate) fn written_attrs(f: &Function, inst: InstId) -> Vec<AttrTest> {
    let attrs = f.attrs(inst);
    match f.op_def(inst) {
        Some(def) => (def.attrs.iter().zip(attrs.iter()).enumerate())
            .filter(|(_, (row, attr))| {
                **attr != Attr::Unit
                    && row.kind != AttrKind::ResultType
                    && !(f.is::<Call>(inst) && row.kind == AttrKind::Func)
            })
            .map(|(n, (_, attr))| AttrTest {
                slot: AttrSlot::Row(n),
                test: AttrCondition::Is(attr.clone()),
            })
            .collect(),
        None => match attrs.first() {
            Some(Attr::Dict(entries)) => entries
                .iter()
                .map(|(name, attr)| AttrTest {
                    slot: AttrSlot::Entry(*name),
                    test: AttrCondition::Is(attr.clone()),
                })
                .collect(),
            _ => Vec::new(),
        },
    }
}

/// Checks that a pattern has ops, is connected, and uses its parameters, and that its outputs are computed. Then marks symmetric
/// ops.
pub(crate) fn check_graph(graph: &mut PatternGraph, end: Span, problems: &mut Diagnostics) {
    let complain = |span: Span, message: String| Diagnostic::error(span, message);
    if graph.ops.is_empty() {
        let empty = complain(graph.span, format!("pattern `{}` has no ops to find", graph.name));
        problems.push(empty.with_help("constants alone are not a pattern"));
        return;
    }
    for &output in &graph.outputs {
        let name = &graph.values[output].name;
        match graph.values[output].from {
            ValueSource::Result(..) | ValueSource::Choice(_) => {}
            ValueSource::Param => {
                let why = format!("output {name} is an input: nothing computes it");
                problems.push(complain(end, why).with_help("return results of ops only"));
            }
            ValueSource::Literal(_) => {
                let why = format!("output {name} is a constant: nothing computes it");
                problems.push(complain(end, why).with_help("return results of ops only"));
            }
        }
    }
    for &param in &graph.params {
        let chosen = graph.choices.iter().any(|c| c.branches.contains(&param));
        if !chosen && !graph.ops.iter().any(|op| graph.used_by(op).any(|v| v == param)) {
            let name = &graph.values[param].name;
            let why = format!("parameter {name} is not used by any op");
            problems.push(complain(graph.span, why));
        }
    }
    if graph.is_plain()
        && let Some(apart) = unreached(graph)
    {
        let (first, other) = (graph.show(0), graph.show(apart));
        let why = format!("`{other}` shares no value with `{first}` or the ops connected to it");
        let apart = complain(graph.ops[apart].span, why);
        problems.push(apart.with_help(
            "the ops of a pattern are connected through values that are not constants; split it into two",
        ));
    }
    super::symmetry::mark_symmetric_ops(graph);
}
