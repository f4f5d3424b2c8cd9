//! Graphs as bodies of a function.

use std::cell::OnceCell;
use std::collections::BTreeSet;
use std::sync::Arc;

use hashbrown::{HashMap, HashSet};
use rustc_hash::FxBuildHasher;
use sapwood_ptir::eval::DataType;
use sapwood_ptir::ops::{Constant, Return, Yield};
use sapwood_ptir::{
    Attr, BodyId, Dim, Function, FunctionWriter, InstId, Op as _, OpKey, OpParts, Registry,
    TensorLiteral, ValueId, ValueType,
};
use sapwood_types::{Diagnostic, Diagnostics, Loc, LocKind, Span, counted};

use super::fresh_symbols::FreshSymbols;
use super::loops;
use super::names::NameTable;
use super::rank_uses::{KnownValues, RankUses};
use super::subgraphs;
use crate::dialect::{self, ABSENT, GRAPHS, INITIALIZER, SINCE, UNKNOWN_NODE};
use crate::lower::{self, Known, NodeView};
use crate::model::with_stack;
use crate::values::{attr_of, literal_of, value_type};
use crate::{ExternalData, Graph, Model, Node, Text, Type, ops, own_ops};

/// The function of the main graph.
pub(super) struct MainFunction {
    pub(super) function: Function,
    pub(super) names: NameTable,
    pub(super) notes: Vec<String>,
}

/// The graph whose nodes are read.
struct GraphContext<'a> {
    graph: &'a Graph,
    /// The types that it declares.
    declared: HashMap<&'a [u8], &'a Type, FxBuildHasher>,
    uses: OnceCell<RankUses<'a>>,
}

struct GraphReader<'a> {
    writer: FunctionWriter,
    registry: &'a Arc<Registry>,
    data: &'a ExternalData,
    imports: HashMap<&'a str, i64, FxBuildHasher>,
    /// Domains and names of the functions of the model.
    functions: HashSet<(&'a str, &'a str), FxBuildHasher>,
    scope: HashMap<&'a [u8], ValueId, FxBuildHasher>,
    /// The values that names had before an inner graph defined them.
    shadowed: Vec<(&'a [u8], Option<ValueId>)>,
    /// The number of graphs around the one that is read.
    depth: usize,
    names: NameTable,
    node_count: u32,
    /// The contents of values that are known without being constants.
    known: HashMap<ValueId, Known, FxBuildHasher>,
    notes: Vec<String>,
    /// The outputs of the main graph, whose types are checked at the end.
    outputs: HashSet<&'a [u8], FxBuildHasher>,
    /// Messages about types in `value_info` that are false.
    false_types: Vec<String>,
    /// The names of unknown ops the ranks of whose results were taken from the model.
    believed_ops: BTreeSet<String>,
    fresh: FreshSymbols,
    /// The values that will be inputs.
    starts: &'a HashSet<Text, FxBuildHasher>,
}

type Failed = Diagnostics;

/// Reads the main graph. Nodes that only compute values of `starts` do not decide the ranks of values before them.
pub(super) fn read_main<'a>(
    graph: &'a Graph,
    model: &'a Model,
    data: &'a ExternalData,
    registry: &'a Arc<Registry>,
    starts: &'a HashSet<Text, FxBuildHasher>,
) -> Result<MainFunction, Diagnostics> {
    let text = |text: &'a Option<Text>| text.as_ref().and_then(Text::as_str).unwrap_or_default();
    let imports = model.opset_import.iter();
    let imports =
        imports.map(|set| (ops::normal_domain(text(&set.domain)), set.version.unwrap_or(0)));
    let functions = model.functions.iter();
    let functions = functions.map(|f| (ops::normal_domain(text(&f.domain)), text(&f.name)));
    let mut reader = GraphReader {
        writer: FunctionWriter::with_capacity(
            "main",
            registry,
            graph.node.len() + graph.initializer.len(),
        ),
        registry,
        data,
        imports: imports.collect(),
        functions: functions.collect(),
        scope: HashMap::default(),
        shadowed: Vec::new(),
        depth: 0,
        names: NameTable::default(),
        node_count: 0,
        known: HashMap::default(),
        notes: Vec::new(),
        outputs: graph.output.iter().filter_map(|o| Some(&o.name.as_ref()?.bytes()[..])).collect(),
        false_types: Vec::new(),
        believed_ops: BTreeSet::new(),
        fresh: FreshSymbols::new(model),
        starts,
    };
    let body = reader.writer.function().body();
    let initializers: HashSet<&[u8], FxBuildHasher> =
        graph.initializer.iter().filter_map(|t| t.name.as_ref()).map(|n| &n.bytes()[..]).collect();
    // Initializers that are inputs are taken for constants; the verifier has a note about them.
    for input in &graph.input {
        let Some(name) = &input.name else { continue };
        if !initializers.contains(&name.bytes()[..]) {
            // An anonymous extent is some number: it gets a symbol.
            let ty = value_type(input.r#type.as_deref());
            let ty = ty.map_dims(&mut |dim| reader.fresh.of_input(dim));
            reader.add_param(body, name, &ty);
        }
    }
    let results = reader.read_body(graph, body)?;
    // Symbols that no input has are not known outside.
    let types: Vec<ValueType> = results
        .iter()
        .map(|&v| reader.fresh.closed(reader.writer.function().value_type(v), body))
        .collect();
    reader.check_declared_outputs(graph, &types);
    reader.report_declared_types();
    let values = results.into_iter().collect();
    reader.append(body, &Return { values }.into_parts(), Span::unknown(), "the graph")?;
    let GraphReader { writer, names, notes, .. } = reader;
    let function = writer.finish(&types)?;
    Ok(MainFunction { function, names, notes })
}

impl<'a> GraphReader<'a> {
    fn add_param(&mut self, body: BodyId, name: &'a Text, ty: &ValueType) {
        let value = self.writer.param(body, ty);
        self.define(name, value);
    }

    fn define(&mut self, name: &'a Text, value: ValueId) -> Option<Box<str>> {
        if name.is_empty() {
            return None;
        }
        let hint = self.names.add(name);
        self.writer.set_hint(value, &hint);
        let before = self.scope.insert(name.bytes(), value);
        if self.depth > 0 {
            self.shadowed.push((name.bytes(), before));
        }
        Some(hint)
    }

    fn append(
        &mut self,
        body: BodyId,
        parts: &OpParts,
        span: Span,
        what: &str,
    ) -> Result<InstId, Failed> {
        self.writer
            .append(body, parts, span)
            .map_err(|error| Diagnostic::error(Span::unknown(), format!("{what}: {error}")).into())
    }

    /// Reads the initializers and nodes of a graph and returns the values of its outputs.
    fn read_body(&mut self, graph: &'a Graph, body: BodyId) -> Result<Vec<ValueId>, Failed> {
        let inputs: HashSet<&[u8], FxBuildHasher> =
            graph.input.iter().filter_map(|i| i.name.as_ref()).map(|n| &n.bytes()[..]).collect();
        for tensor in &graph.initializer {
            let Some(name) = &tensor.name else { continue };
            // The default of an input.
            if inputs.contains(&name.bytes()[..]) && self.scope.contains_key(&name.bytes()[..]) {
                continue;
            }
            match literal_of(tensor, self.data) {
                Some(value) => self.add_constant(body, name, value)?,
                None => {
                    let ty = dialect::data_type(i64::from(tensor.data_type.unwrap_or(0)));
                    if let (Some(_), Err(error)) = (ty, self.data.bytes_of(tensor)) {
                        let place = tensor.wire.offset().map(|at| format!(" at byte {at}"));
                        let place = place.unwrap_or_default();
                        let message = format!("initializer `{name}`{place}: {error}");
                        return Err(Diagnostic::error(Span::unknown(), message).into());
                    }
                    self.add_initializer(body, name, &ValueType::Opaque)?;
                }
            }
        }
        for sparse in &graph.sparse_initializer {
            if let Some(name) = sparse.values.as_ref().and_then(|values| values.name.as_ref()) {
                self.add_initializer(body, name, &ValueType::Opaque)?;
            }
        }
        let declared: HashMap<&[u8], &'a Type, FxBuildHasher> = graph
            .value_info
            .iter()
            .chain(&graph.output)
            .filter_map(|info| Some((&info.name.as_ref()?.bytes()[..], &**info.r#type.as_ref()?)))
            .collect();
        let context = GraphContext { graph, declared, uses: OnceCell::new() };
        for node in &graph.node {
            self.read_node(node, body, &context)?;
        }
        let mut results = Vec::with_capacity(graph.output.len());
        for output in &graph.output {
            let name = output.name.as_ref();
            let value = name.and_then(|name| self.scope.get(&name.bytes()[..]));
            match value {
                Some(&value) => results.push(value),
                None => {
                    let name = name.map(ToString::to_string).unwrap_or_default();
                    let message = format!("output `{name}` is not defined");
                    return Err(Diagnostic::error(Span::unknown(), message).into());
                }
            }
        }
        Ok(results)
    }

    fn add_constant(
        &mut self,
        body: BodyId,
        name: &'a Text,
        value: TensorLiteral,
    ) -> Result<(), Failed> {
        let inst =
            self.append(body, &Constant { value }.into_parts(), Span::unknown(), "initializer")?;
        if let Some(value) = self.writer.function().value_of(inst) {
            self.define(name, value);
        }
        Ok(())
    }

    fn add_initializer(
        &mut self,
        body: BodyId,
        name: &'a Text,
        ty: &ValueType,
    ) -> Result<(), Failed> {
        let mut parts = OpParts::new(OpKey::of(INITIALIZER));
        let name_attr = Attr::Str(name.to_str_lossy().as_ref().into());
        parts.attrs.extend([name_attr, Attr::Unit, Attr::Unit, Attr::Unit]);
        parts.result_types.push(ty.clone());
        let inst = self.append(body, &parts, Span::unknown(), "initializer")?;
        if let Some(value) = self.writer.function().value_of(inst) {
            self.define(name, value);
        }
        Ok(())
    }

    fn read_node(
        &mut self,
        node: &'a Node,
        body: BodyId,
        context: &GraphContext<'a>,
    ) -> Result<(), Failed> {
        let number = self.node_count;
        self.node_count += 1;
        let own = own_ops::op_and_attrs(node, self.registry);
        let own = own.transpose().map_err(|why| node_error(node, &why))?;
        let is_own = own.is_some();
        let mut parts = own.unwrap_or_else(|| self.op_and_attrs(node));
        let mut absent = Vec::new();
        let given = node.input.iter().rposition(|name| !name.is_empty()).map_or(0, |last| last + 1);
        for (position, name) in node.input.iter().enumerate() {
            if name.is_empty() {
                // Trailing empty names are positions too, so that the node is written as it was.
                absent.push(position as i64);
                continue;
            }
            match self.scope.get(&name.bytes()[..]) {
                Some(&value) => parts.operands.push(value),
                None => return Err(node_error(node, &format!("input `{name}` is not defined"))),
            }
        }
        debug_assert!(given <= node.input.len());
        if !absent.is_empty() {
            set_attr(self.registry, &mut parts, ABSENT, Attr::Ints(absent.into_iter().collect()));
        }
        let names = subgraphs(node).into_iter().filter_map(|(name, _)| name.as_str());
        let names: Vec<Attr> = names.map(|name| Attr::Str(name.into())).collect();
        if !names.is_empty() {
            set_attr(self.registry, &mut parts, GRAPHS, Attr::list(names));
        }
        for (_, graph) in subgraphs(node) {
            let region = with_stack(|| self.read_region_of(node, graph, &parts))?;
            parts.regions.push(region);
        }
        let inferred = self.infer(node, &parts, context);
        for (i, name) in node.output.iter().enumerate() {
            let ty = inferred.types.get(i).cloned().flatten();
            let declared = context.declared.get(&name.bytes()[..]);
            let declared = declared.map(|ty| value_type(Some(ty)));
            let ty = self.believed(node, name, &parts, ty, declared);
            parts.result_types.push(self.fresh.filled(&ty, body, &parts, i));
        }
        let span = match node.name.as_ref().and_then(Text::as_str).filter(|name| !name.is_empty()) {
            Some(name) => {
                Span::unknown().with_loc(Loc::new(LocKind::Name { name, child: Loc::UNKNOWN }))
            }
            None => Span::unknown(),
        };
        let inst = match self.writer.append(body, &parts, span) {
            Ok(inst) => inst,
            Err(error) => return Err(node_error(node, &error.to_string())),
        };
        let results: Vec<ValueId> = self.writer.function().inst_results(inst).collect();
        if is_own && results.len() != node.output.len() {
            let [found, expected] =
                [node.output.len(), results.len()].map(|n| counted(n, "output"));
            return Err(node_error(node, &format!("it has {found}, expected {expected}")));
        }
        let mut is_first = true;
        for (i, (name, value)) in node.output.iter().zip(results).enumerate() {
            if let Some(known) = inferred.known.get(i).cloned().flatten() {
                self.known.insert(value, known);
            }
            if let Some(hint) = self.define(name, value)
                && std::mem::take(&mut is_first)
            {
                self.names.set_node(&hint, number);
            }
        }
        Ok(())
    }

    // Returns the type of a result. What is declared counts only for nodes of which nothing is known, and then only the rank.
    fn believed(
        &mut self,
        node: &Node,
        name: &Text,
        parts: &OpParts,
        inferred: Option<ValueType>,
        declared: Option<ValueType>,
    ) -> ValueType {
        let inferred = inferred.or_else(|| {
            // These keep the number of axes, whatever their bounds are.
            let &first = parts.operands.first()?;
            let ty = open_dims(self.writer.function().value_type(first));
            ["onnx.Slice", "onnx.Pad"].contains(&parts.key.name()).then_some(ty)
        });
        let Some(declared) = declared.filter(|ty| ty.as_tensor().is_some()) else {
            return inferred.unwrap_or(ValueType::Opaque);
        };
        match inferred {
            Some(found) => {
                let is_false = found.as_tensor().is_some() && !declared.compatible(&found);
                if is_false && !self.outputs.contains(&name.bytes()[..]) {
                    self.false_types
                        .push(format!("`{name}` is declared {declared}, but is {found}"));
                }
                found
            }
            None if parts.key == OpKey::of(UNKNOWN_NODE) => {
                let op = node.op_type.as_ref().map(ToString::to_string).unwrap_or_default();
                self.believed_ops.insert(op);
                open_dims(&declared)
            }
            None => ValueType::Opaque,
        }
    }

    // Reports which declared types are wrong, and which were believed.
    fn report_declared_types(&mut self) {
        const MAX_LISTED: usize = 8;
        let all = std::mem::take(&mut self.false_types);
        let rest = all.len().saturating_sub(MAX_LISTED);
        self.notes.extend(all.into_iter().take(MAX_LISTED));
        if rest > 0 {
            let verb = if rest == 1 {
                "is declared with a false type"
            } else {
                "are declared with false types"
            };
            self.notes.push(format!("{} more {verb}", counted(rest, "value")));
        }
        for op in std::mem::take(&mut self.believed_ops) {
            self.notes.push(format!(
                "the op `{op}` is not known: the ranks of its results are taken from the model"
            ));
        }
    }

    /// Returns the op of a node with its attributes. A node that its schema does not describe is an unknown node.
    fn op_and_attrs(&self, node: &'a Node) -> OpParts {
        let text =
            |text: &'a Option<Text>| text.as_ref().and_then(Text::as_str).unwrap_or_default();
        let domain = ops::normal_domain(text(&node.domain));
        let op_type = text(&node.op_type);
        let is_local = self.functions.contains(&(domain, op_type));
        let opset = self.imports.get(domain).copied().unwrap_or(0);
        let schema = ops::schema(domain, op_type, opset).filter(|s| !s.is_deprecated && !is_local);
        if let Some(schema) = schema
            && let Some(name) = dialect::op_name(domain, op_type)
            && let Some(def) = self.registry.by_name(&name)
            && node.overload.as_ref().is_none_or(Text::is_empty)
            && let Some(mut parts) = known_attrs(def, node, self.data)
        {
            let newest = ops::schemas(domain, op_type).last();
            if newest.is_some_and(|newest| newest.versions[0] != schema.versions[0]) {
                set_attr(self.registry, &mut parts, SINCE, Attr::Int(schema.versions[0]));
            }
            return parts;
        }
        let mut parts = OpParts::new(OpKey::of(UNKNOWN_NODE));
        let string = |text: &Option<Text>| match text.as_ref().filter(|text| !text.is_empty()) {
            Some(text) => Attr::Str(text.to_str_lossy().as_ref().into()),
            None => Attr::Unit,
        };
        let attributes: Vec<_> = node
            .attribute
            .iter()
            .filter(|a| a.graphs().next().is_none())
            .map(|a| (text(&a.name).into(), attr_of(a, self.data)))
            .collect();
        let attributes = if attributes.is_empty() { Attr::Unit } else { Attr::dict(attributes) };
        let op_type = Attr::Str(op_type.into());
        parts.attrs.extend([op_type, string(&node.domain), string(&node.overload), attributes]);
        parts.attrs.extend([Attr::Unit, Attr::Unit, Attr::Unit]);
        parts
    }

    /// Reads a subgraph as a region. The values that a loop carries have the types of its operands if the body yields them again; otherwise
    /// the body is read once more, with less said of those that it yields with other types.
    fn read_region_of(
        &mut self,
        node: &'a Node,
        graph: &'a Graph,
        parts: &OpParts,
    ) -> Result<BodyId, Failed> {
        let f = self.writer.function();
        let operands: Vec<&ValueType> = parts.operands.iter().map(|&v| f.value_type(v)).collect();
        let mut params = loops::param_types(node, graph, &operands);
        let carried = loops::carried_values(node, params.len());
        let mut round = 0;
        loop {
            let (node_count, false_types) = (self.node_count, self.false_types.len());
            let body = self.read_region(graph, &params)?;
            let f = self.writer.function();
            let yielded = f.body_results(body).iter().skip(carried.first_yielded);
            let yielded: Vec<ValueType> =
                yielded.map(|&v| self.fresh.closed(f.value_type(v), body)).collect();
            let carries = params.iter_mut().skip(carried.first_param).take(carried.count);
            if !loops::weaken(carries, &yielded, round) {
                return Ok(body);
            }
            round += 1;
            self.writer.discard_body(body);
            self.node_count = node_count;
            self.false_types.truncate(false_types);
            self.names.forget_nodes(node_count);
            let f = self.writer.function();
            self.known.retain(|&value, _| f.is_live_value(value));
        }
    }

    fn read_region(&mut self, graph: &'a Graph, params: &[ValueType]) -> Result<BodyId, Failed> {
        let level = self.shadowed.len();
        self.depth += 1;
        let body = self.writer.new_body();
        for (input, ty) in graph.input.iter().zip(params) {
            if let Some(name) = &input.name {
                self.add_param(body, name, ty);
            }
        }
        let values = self.read_body(graph, body)?.into_iter().collect();
        self.append(body, &Yield { values }.into_parts(), Span::unknown(), "a subgraph")?;
        self.depth -= 1;
        for (name, before) in self.shadowed.drain(level..).rev() {
            match before {
                Some(value) => drop(self.scope.insert(name, value)),
                None => drop(self.scope.remove(name)),
            }
        }
        Ok(body)
    }

    fn infer(&self, node: &Node, parts: &OpParts, context: &GraphContext<'a>) -> lower::Inferred {
        let f = self.writer.function();
        if !parts.regions.is_empty() {
            let condition = parts.operands.first().and_then(|&v| {
                let literal = self.known_of(v).to_literal(f.value_type(v))?;
                (literal.dtype() == DataType::Bool).then(|| literal.as_splat() == Some(&[1]))
            });
            let mut inferred = lower::infer_control_flow(node, f, parts, condition);
            if let [a, b] = parts.regions[..] {
                let yielded = f.body_results(a).iter().zip(f.body_results(b));
                let results = inferred.types.iter_mut().flatten().zip(&node.output);
                for ((ty, name), (&a, &b)) in results.zip(yielded) {
                    let branches = [a, b].map(|v| f.value_type(v));
                    if let Some(only) = self.only_possible(name, branches, context) {
                        *ty = only.clone();
                    }
                }
            }
            for ty in inferred.types.iter_mut().flatten() {
                *ty = parts.regions.iter().fold(ty.clone(), |ty, &b| self.fresh.closed(&ty, b));
            }
            return inferred;
        }
        let Some(def) = self.registry.get(parts.key) else { return lower::Inferred::default() };
        let absent = parts.attrs.iter().zip(&def.attrs).find(|(_, row)| row.name == ABSENT);
        let absent = absent.and_then(|(attr, _)| attr.as_ints()).unwrap_or_default();
        let types: Vec<&ValueType> = parts.operands.iter().map(|&v| f.value_type(v)).collect();
        let known: Vec<Known> = parts.operands.iter().map(|&v| self.known_of(v)).collect();
        let view = NodeView::new(def, &parts.attrs, absent, node.output.len());
        let mut inferred = lower::infer(&view, &types, &known, self.registry);
        let literals: Vec<_> = known.iter().zip(&types).map(|(k, ty)| k.to_literal(ty)).collect();
        if let Some(literals) =
            lower::evaluate_constants(parts, &literals, &inferred.types, self.registry)
        {
            inferred.types = literals.iter().map(|literal| Some(literal.ty().into())).collect();
            inferred.known = literals.into_iter().map(|one| Some(Known::literal(one))).collect();
        }
        inferred
    }

    // Returns the type of the branch that yields a value of another rank than the other one, if only with this rank no node after it fails.
    fn only_possible<'t>(
        &self,
        name: &Text,
        branches: [&'t ValueType; 2],
        context: &GraphContext<'a>,
    ) -> Option<&'t ValueType> {
        let [a, b] = [branches[0].as_tensor()?.rank(), branches[1].as_tensor()?.rank()];
        // Functions of the model in ONNX's own domain may have other rules for ranks.
        if a == b || self.functions.iter().any(|(domain, _)| domain.is_empty()) {
            return None;
        }
        let uses = context.uses.get_or_init(|| RankUses::new(context.graph, self.starts));
        match [a, b].map(|rank| uses.fails(name, rank, self)) {
            [false, true] => Some(branches[0]),
            [true, false] => Some(branches[1]),
            _ => None,
        }
    }

    fn known_of(&self, value: ValueId) -> Known {
        match self.writer.function().constant_of(value) {
            Some(literal) => Known::literal(literal.clone()),
            None => self.known.get(&value).cloned().unwrap_or_default(),
        }
    }

    // Reports outputs whose declared shape is wrong.
    fn check_declared_outputs(&mut self, graph: &Graph, types: &[ValueType]) {
        for (output, found) in graph.output.iter().zip(types) {
            let declared = value_type(output.r#type.as_deref());
            if let (ValueType::Tensor(declared), ValueType::Tensor(found)) = (&declared, found)
                && !declared.compatible(found)
            {
                let name = output.name.as_ref().map(ToString::to_string).unwrap_or_default();
                self.notes.push(format!("output `{name}` is declared {declared}, but is {found}"));
            }
        }
    }
}

impl KnownValues for GraphReader<'_> {
    fn constant_shape(&self, name: &Text) -> Option<Vec<i64>> {
        let &value = self.scope.get(&name.bytes()[..])?;
        let literal = self.writer.function().constant_of(value)?;
        literal.shape().iter().map(|&n| i64::try_from(n).ok()).collect()
    }
}

// Returns the attributes of a node in the order of the op's definition; `None` if it has one of an unknown name or another type.
fn known_attrs(def: &sapwood_ptir::OpDef, node: &Node, data: &ExternalData) -> Option<OpParts> {
    let mut parts = OpParts::new(def.key);
    parts.attrs.resize(def.attrs.len(), Attr::Unit);
    for attribute in &node.attribute {
        let name = attribute.name.as_ref()?.as_str()?;
        if attribute.graphs().next().is_some() {
            if def.regions.is_empty() {
                return None;
            }
            continue;
        }
        if attribute.ref_attr_name.as_ref().is_some_and(|name| !name.is_empty()) {
            return None;
        }
        let index = def.attrs.iter().position(|row| row.name == name)?;
        let attr = attr_of(attribute, data);
        if !def.attrs[index].kind.matches(&attr) || [ABSENT, SINCE, "types"].contains(&name) {
            return None;
        }
        parts.attrs[index] = attr;
    }
    Some(parts)
}

fn set_attr(registry: &Registry, parts: &mut OpParts, name: &str, attr: Attr) {
    let Some(def) = registry.get(parts.key) else { return };
    if let Some(index) = def.attrs.iter().position(|row| row.name == name) {
        parts.attrs[index] = attr;
    }
}

pub(crate) fn attr_int(node: &Node, name: &str) -> Option<i64> {
    match &node.attribute(name)?.value {
        Some(crate::AttributeValue::Int(n)) => Some(*n),
        _ => None,
    }
}

fn node_error(node: &Node, problem: &str) -> Diagnostics {
    let place = node.wire.offset().map(|at| format!(" at byte {at}")).unwrap_or_default();
    let name = node.label().map(ToString::to_string).unwrap_or_default();
    let op = node.op_type.as_ref().map(ToString::to_string).unwrap_or_default();
    Diagnostic::error(Span::unknown(), format!("node `{name}` ({op}){place}: {problem}")).into()
}

pub(crate) fn attr_ints<'n>(node: &'n Node, name: &str) -> Option<&'n [i64]> {
    match &node.attribute(name)?.value {
        Some(crate::AttributeValue::Ints(list)) => Some(list),
        _ => None,
    }
}

// A declared type is only a claim: even where its rank is taken over, its extents are not.
fn open_dims(ty: &ValueType) -> ValueType {
    ty.map_dims(&mut |_| Dim::Unknown)
}
