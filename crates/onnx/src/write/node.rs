//! Instructions as nodes.

use sapwood_ptir::{Attr, InstId, OpDef, ValueId};
use sapwood_types::LocKind;

use super::graph::GraphWriter;
use super::{WriteError, WriteResult};
use crate::dialect::{ABSENT, GRAPHS, KEEP, SINCE, UNKNOWN_NODE, domain_and_type, is_graph};
use crate::ops::OpSchema;
use crate::read::subgraphs;
use crate::values::{attr_of, attribute_of};
use crate::{Attribute, AttributeValue, Node, Text, ops, own_ops};

impl<'a> GraphWriter<'a> {
    /// Writes an instruction. A node that did not change is written as it was.
    pub(super) fn write_node(&mut self, inst: InstId) -> WriteResult<Vec<Node>> {
        let op = self.f.op_name(inst);
        if op == UNKNOWN_NODE {
            let text = |name| match self.f.attr(inst, name) {
                Some(Attr::Str(text)) => text.to_string(),
                _ => String::new(),
            };
            let (domain, op_type, overload) = (text("domain"), text("op_type"), text("overload"));
            let origin = self.origin(inst, &domain, &op_type);
            return self.write_known_node(inst, &domain, &op_type, &overload, origin);
        }
        if own_ops::own_op(self.f.registry(), op).is_some() {
            return self.write_own_op(inst, op);
        }
        let Some((domain, op_type)) = domain_and_type(op) else {
            let mut nodes = self.raise(inst)?;
            for node in &mut nodes {
                let failed = |why| WriteError::Op { op: op.into(), why };
                self.fit_version(inst, node).map_err(failed)?;
            }
            // One node keeps the name of the one that the op comes from; runtimes require that names are unique.
            if let (Some(last), LocKind::Name { name, .. }) =
                (nodes.last_mut(), self.f.inst_span(inst).loc().kind())
                && self.node_names.insert(name.into())
            {
                last.name = Some(name.into());
            }
            return Ok(nodes);
        };
        let forms = self.forms(inst, domain, op_type)?;
        let origin = self.origin(inst, domain, op_type);
        let mut nodes = self.write_known_node(inst, domain, op_type, "", origin)?;
        if let (Some((from, to)), Some(node)) = (forms, nodes.first_mut()) {
            self.convert_form(inst, node, from, to)
                .map_err(|why| WriteError::Op { op: op.into(), why })?;
        }
        if let Some(node) = nodes.first_mut() {
            let failed = |why| WriteError::Op { op: op.into(), why };
            self.fit_version(inst, node).map_err(failed)?;
        }
        Ok(nodes)
    }

    // Writes an op that is neither built in nor of ONNX.
    fn write_own_op(&mut self, inst: InstId, op: &'static str) -> WriteResult<Vec<Node>> {
        let f = self.f;
        if !f.regions(inst).is_empty() {
            let why = "a node of an op of your own has no regions".into();
            return Err(WriteError::Op { op: op.into(), why });
        }
        let origin = self.origin(inst, own_ops::DOMAIN, op);
        let base = origin.cloned().unwrap_or_else(|| Node {
            op_type: Some(op.into()),
            domain: Some(own_ops::DOMAIN.into()),
            ..Node::default()
        });
        Ok(vec![Node {
            input: f.operands(inst).iter().map(|&v| self.name_of(v)).collect(),
            output: f.inst_results(inst).map(|v| self.names.name(v)).collect(),
            attribute: own_ops::attributes_of(f, inst, origin),
            ..base
        }])
    }

    // Returns the form of the op that an instruction has, and the one that the model's version of the operator set has.
    fn forms(
        &self,
        inst: InstId,
        domain: &str,
        op_type: &str,
    ) -> WriteResult<Option<(&'static OpSchema, &'static OpSchema)>> {
        let forms = ops::schemas(domain, op_type);
        let own = match self.f.attr(inst, SINCE) {
            Some(Attr::Int(since)) => forms.iter().find(|form| form.versions[0] == *since),
            _ => forms.last(),
        };
        let opset = self.opsets.get(domain).copied().unwrap_or(0);
        match (own, ops::schema(domain, op_type, opset)) {
            (Some(own), Some(found)) if own.versions[0] == found.versions[0] => Ok(None),
            (Some(own), Some(found)) => Ok(Some((own, found))),
            _ => {
                let why = format!("opset {opset} does not have it");
                Err(WriteError::Op { op: self.f.op_name(inst).into(), why })
            }
        }
    }

    // Returns the node that an instruction was read from.
    fn origin(&self, inst: InstId, domain: &str, op_type: &str) -> Option<&'a Node> {
        let source = self.source?;
        let hint = self.f.inst_results(inst).find_map(|v| self.f.hint(v))?;
        let node = *self.nodes.get(source.names.node(hint)? as usize)?;
        let text =
            |text: &'a Option<Text>| text.as_ref().and_then(Text::as_str).unwrap_or_default();
        let is_same = text(&node.op_type) == op_type
            && ops::normal_domain(text(&node.domain)) == ops::normal_domain(domain);
        is_same.then_some(node)
    }

    fn write_known_node(
        &mut self,
        inst: InstId,
        domain: &str,
        op_type: &str,
        overload: &str,
        origin: Option<&'a Node>,
    ) -> WriteResult<Vec<Node>> {
        let f = self.f;
        let failed = |why: String| WriteError::Op { op: f.op_name(inst).into(), why };
        let some = |text: &str| (!text.is_empty()).then(|| Text::from(text));
        let mut node = match origin {
            Some(origin) => Node { attribute: Vec::new(), ..origin.clone() },
            None => Node {
                op_type: some(op_type),
                domain: some(domain),
                overload: some(overload),
                ..Node::default()
            },
        };
        let operands: Vec<ValueId> = f.operands(inst).to_vec();
        let absent = f.attr(inst, ABSENT).and_then(Attr::as_ints).unwrap_or_default();
        let mut operands = operands.into_iter();
        node.input = (0..f.operands(inst).len() + absent.len())
            .map(|position| match absent.contains(&(position as i64)) {
                true => Text::default(),
                false => operands.next().map(|v| self.name_of(v)).unwrap_or_default(),
            })
            .collect();
        node.output = f.inst_results(inst).map(|v| self.names.name(v)).collect();
        let def = f.op_def(inst).ok_or_else(|| failed("it is not registered".into()))?;
        let wanted = wanted_attributes(def, f.attrs(inst));
        node.attribute = self.attributes(origin, &wanted, domain, op_type).map_err(failed)?;
        let mut graphs = Vec::new();
        let old_graphs = origin.map(subgraphs).unwrap_or_default();
        for (k, &body) in f.regions(inst).iter().enumerate() {
            graphs.push(self.write_region(body, old_graphs.get(k).map(|(_, graph)| *graph))?);
        }
        let names = match f.attr(inst, GRAPHS) {
            Some(Attr::List(names)) => names.iter().filter_map(Attr::as_str).collect(),
            _ => Vec::new(),
        };
        put_graphs(&mut node, origin, domain, op_type, graphs, &names);
        Ok(vec![node])
    }

    // Returns the attributes, in the order of the original node. Those with another value are replaced, new ones are added.
    fn attributes(
        &self,
        origin: Option<&Node>,
        wanted: &[(&str, &Attr)],
        domain: &str,
        op_type: &str,
    ) -> Result<Vec<Attribute>, String> {
        let opset = self.opsets.get(ops::normal_domain(domain)).copied().unwrap_or(0);
        let schema = ops::schema(domain, op_type, opset);
        let make = |name: &str, attr: &Attr| {
            let ty = schema.and_then(|s| s.attribute(name)).map(|a| a.r#type);
            attribute_of(name, attr, ty).ok_or_else(|| {
                format!("its attribute `{name}` is {}, which ONNX does not have", attr.describe())
            })
        };
        let mut list = Vec::new();
        let mut found = vec![false; wanted.len()];
        for attribute in origin.into_iter().flat_map(|node| &node.attribute) {
            if attribute.graphs().next().is_some() {
                list.push(attribute.clone());
                continue;
            }
            let name = attribute.name.as_ref().and_then(Text::as_str).unwrap_or_default();
            let Some(position) = wanted.iter().position(|(n, _)| *n == name) else { continue };
            found[position] = true;
            let attr = wanted[position].1;
            let is_same = self.source.is_some_and(|s| attr_of(attribute, s.data()) == *attr);
            list.push(if is_same { attribute.clone() } else { make(name, attr)? });
        }
        for (_, (name, attr)) in found.iter().zip(wanted).filter(|(found, _)| !**found) {
            list.push(make(name, attr)?);
        }
        Ok(list)
    }
}

// Returns the attributes of the node that an instruction stands for, by name.
fn wanted_attributes<'d>(def: &'d OpDef, attrs: &'d [Attr]) -> Vec<(&'d str, &'d Attr)> {
    if def.name == UNKNOWN_NODE {
        let all = def.attrs.iter().zip(attrs).find(|(row, _)| row.name == "attributes");
        let Some((_, Attr::Dict(entries))) = all else { return Vec::new() };
        return entries.iter().map(|(name, attr)| (name.as_str(), attr)).collect();
    }
    let is_own = |name: &str| [ABSENT, GRAPHS, KEEP, SINCE, "types"].contains(&name);
    let rows = def.attrs.iter().zip(attrs);
    let given = rows.filter(|(row, attr)| **attr != Attr::Unit && !is_own(row.name));
    given.map(|(row, attr)| (row.name, attr)).collect()
}

// Puts graphs, which are in the order of attribute names, into the attributes of a node.
fn put_graphs(
    node: &mut Node,
    origin: Option<&Node>,
    domain: &str,
    op_type: &str,
    graphs: Vec<crate::Graph>,
    names: &[&str],
) {
    if graphs.is_empty() {
        return;
    }
    let mut graphs = graphs.into_iter();
    if origin.is_some() {
        let mut order: Vec<usize> = (0..node.attribute.len()).collect();
        order.sort_by(|&a, &b| {
            let name = |i: usize| node.attribute[i].name.as_ref().map(|n| n.bytes().to_vec());
            name(a).cmp(&name(b))
        });
        for i in order {
            match &mut node.attribute[i].value {
                Some(AttributeValue::Graph(slot)) => {
                    if let Some(graph) = graphs.next() {
                        *slot = graph.into();
                    }
                }
                Some(AttributeValue::Graphs(slots)) => {
                    for (slot, graph) in slots.iter_mut().zip(&mut graphs) {
                        *slot = graph.into();
                    }
                }
                _ => {}
            }
        }
        return;
    }
    let schema = ops::schemas(domain, op_type).last();
    let named = schema.into_iter().flat_map(|s| &s.attributes).filter(|a| is_graph(a.r#type));
    let all: Vec<&str> = named.map(|row| row.name).collect();
    let names = if names.is_empty() { &all } else { names };
    for (&name, graph) in names.iter().zip(graphs) {
        node.attribute.push(Attribute::new(name, AttributeValue::Graph(graph.into())));
    }
}
