//! Writes graphs as JSON: first the order of the nodes, then one line for each.

use std::fmt::Write as _;
use std::ops::ControlFlow;

use rustc_hash::FxBuildHasher;
use sapwood_types::write_hex;

use super::error::JsonWriteError;
use super::{JSON_VERSION, MAX_EXACT_INT, MAX_LIST_NESTING};
use crate::child_cursor::ChildCursor;
use crate::kind::NodeKind;
use crate::node::Field;
use crate::path::{NodePath, PathStep};
use crate::reference::NodeRef;
use crate::type_info::TypeInfo;
use crate::values::{BigInt, Bytes, Tensor, Text};
use crate::view::View;
use crate::walk::NodeWalk;

type HashMap<K, V> = hashbrown::HashMap<K, V, FxBuildHasher>;

/// Writes a value and everything below it as JSON. Shared nodes are written once; the same graph gives the same
/// bytes.
///
/// ```
/// use sapwood_structural::{Node, Ref, TypeRegistry, equal, read_json, write_json};
///
/// #[derive(Node)]
/// enum Expr {
///     Number(i64),
///     Add(Ref<Expr>, Ref<Expr>),
/// }
///
/// let one = Ref::new(Expr::Number(1));
/// let sum = Ref::new(Expr::Add(one.clone(), one));
/// let text = write_json(&sum)?;
/// assert!(text.contains("[1,{\"node\":0},{\"node\":0}]"));
///
/// let registry = TypeRegistry::new().with::<Expr>()?;
/// let back: Ref<Expr> = read_json(&text, &registry)?;
/// assert!(equal(&sum, &back)?);
/// let Expr::Add(a, b) = &*back else { panic!("a sum was written") };
/// assert!(a.same(b));
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
///
/// # Errors
/// If a singleton did not come from its `get`: reading could not restore it.
pub fn write_json(value: &impl Field) -> Result<String, JsonWriteError> {
    let table = NodeTable::of(value.view())?;
    let mut out = format!("{{\"sapwood-graph\":{JSON_VERSION},\n\"types\":[");
    for (index, info) in table.types.iter().enumerate() {
        out += if index == 0 { "\n" } else { ",\n" };
        write_type(&mut out, info);
    }
    out += "],\n\"nodes\":[";
    for (index, &node) in table.nodes.iter().enumerate() {
        out += if index == 0 { "\n" } else { ",\n" };
        table.write_row(&mut out, node)?;
    }
    out += "],\n\"root\":";
    table.write_child(&mut out, value.view(), MAX_LIST_NESTING).map_err(|NestingTooDeep| {
        JsonWriteError::Nesting { path: NodePath::root(), limit: MAX_LIST_NESTING }
    })?;
    out += "}\n";
    Ok(out)
}

fn write_type(out: &mut String, info: &TypeInfo) {
    *out += "{\"key\":";
    write_text(out, info.key());
    *out += ",\"fields\":[";
    for (index, field) in info.fields().iter().enumerate() {
        *out += if index == 0 { "" } else { "," };
        write_text(out, field.name);
    }
    *out += "]}";
}

/// An error: lists nest too deep.
struct NestingTooDeep;

/// The rows to write: nodes after everything below them, and their types in the order of first use.
struct NodeTable<'a> {
    nodes: Vec<NodeRef<'a>>,
    rows: HashMap<usize, usize>,
    types: Vec<&'static TypeInfo>,
    type_rows: HashMap<usize, usize>,
}

fn address(info: &'static TypeInfo) -> usize {
    std::ptr::from_ref(info).addr()
}

impl<'a> NodeTable<'a> {
    fn of(view: View<'a>) -> Result<Self, JsonWriteError> {
        let mut table = Self {
            nodes: Vec::new(),
            rows: HashMap::default(),
            types: Vec::new(),
            type_rows: HashMap::default(),
        };
        match NodeWalk::of_view(view).post_order(|at| table.add(at.node(), || at.path())) {
            ControlFlow::Continue(()) => Ok(table),
            ControlFlow::Break(error) => Err(error),
        }
    }

    fn add(
        &mut self,
        node: NodeRef<'a>,
        path: impl Fn() -> NodePath,
    ) -> ControlFlow<JsonWriteError> {
        let info = node.info();
        let key = info.key();
        if info.kind() == NodeKind::Singleton && !node.interned() {
            return ControlFlow::Break(JsonWriteError::Singleton { key, path: path() });
        }
        if is_value(node) {
            return ControlFlow::Break(JsonWriteError::ValueAsNode { key, path: path() });
        }
        self.type_rows.entry(address(info)).or_insert_with(|| {
            self.types.push(info);
            self.types.len() - 1
        });
        self.rows.insert(node.id(), self.nodes.len());
        self.nodes.push(node);
        ControlFlow::Continue(())
    }

    fn write_row(&self, out: &mut String, node: NodeRef<'a>) -> Result<(), JsonWriteError> {
        let number = self.type_rows.get(&address(node.info())).copied().unwrap_or_default();
        let _ = write!(out, "[{number}");
        let mut children = ChildCursor::of_node(node);
        while let Some(index) = children.advance() {
            out.push(',');
            self.write_child(out, children.child(index), MAX_LIST_NESTING).map_err(
                |NestingTooDeep| {
                    let path = [PathStep::Field(node.info().key().into()), children.step(index)];
                    JsonWriteError::Nesting {
                        path: path.into_iter().collect(),
                        limit: MAX_LIST_NESTING,
                    }
                },
            )?;
        }
        out.push(']');
        Ok(())
    }

    fn write_child(
        &self,
        out: &mut String,
        view: View<'_>,
        nesting: usize,
    ) -> Result<(), NestingTooDeep> {
        match view {
            View::None => out.push_str("null"),
            View::Bool(value) => out.push_str(if value { "true" } else { "false" }),
            View::Int(value) if value.unsigned_abs() <= MAX_EXACT_INT => *out += &value.to_string(),
            View::Int(value) => write_int(out, value < 0, &[value.unsigned_abs()]),
            View::Wide(wide) => write_int(out, wide.negative(), &wide.limbs()),
            View::Big(big) => write_int(out, big.negative(), big.limbs()),
            View::Float(value) => write_float(out, value),
            View::Str(text) => write_text(out, text),
            View::Bytes(bytes) => {
                *out += "{\"bytes\":";
                write_quoted_hex(out, bytes);
                out.push('}');
            }
            View::Tensor(tensor) => write_tensor(out, tensor),
            View::Node(node) => {
                let row = self.rows.get(&node.id()).copied().unwrap_or_default();
                let _ = write!(out, "{{\"node\":{row}}}");
            }
            View::List(list) => {
                let nesting = nesting.checked_sub(1).ok_or(NestingTooDeep)?;
                out.push('[');
                for index in 0..list.len() {
                    *out += if index == 0 { "" } else { "," };
                    self.write_child(out, list.item(index), nesting)?;
                }
                out.push(']');
            }
        }
        Ok(())
    }
}

/// Returns whether the node is text, bytes, a tensor or an integer, which a [`crate::Value`] keeps behind a
/// pointer.
fn is_value(node: NodeRef<'_>) -> bool {
    node.downcast::<Text>().is_some()
        || node.downcast::<Bytes>().is_some()
        || node.downcast::<Tensor>().is_some()
        || node.downcast::<BigInt>().is_some()
}

fn write_int(out: &mut String, negative: bool, limbs: &[u64]) {
    let digits = BigInt::from_limbs(false, limbs.to_vec()).to_hex();
    let sign = if negative { "-" } else { "" };
    let _ = write!(out, "{{\"int\":\"{sign}0x{digits}\"}}");
}

fn write_float(out: &mut String, value: f64) {
    if value.is_nan() {
        *out += "{\"float\":\"nan\"}";
    } else if value.is_infinite() {
        *out += if value > 0.0 { "{\"float\":\"inf\"}" } else { "{\"float\":\"-inf\"}" };
    } else {
        // The shortest digits that give the same float, with a point or an exponent.
        let _ = write!(out, "{value:?}");
    }
}

fn write_tensor(out: &mut String, tensor: &Tensor) {
    let _ = write!(out, "{{\"tensor\":[\"{}\",[", tensor.dtype().short_name());
    for (index, extent) in tensor.shape().iter().enumerate() {
        *out += if index == 0 { "" } else { "," };
        *out += &extent.to_string();
    }
    *out += "],";
    write_quoted_hex(out, tensor.content().as_slice());
    *out += "]}";
}

fn write_quoted_hex(out: &mut String, bytes: &[u8]) {
    out.push('"');
    write_hex(out, bytes);
    out.push('"');
}

fn write_text(out: &mut String, text: &str) {
    out.push('"');
    for c in text.chars() {
        match c {
            '"' => *out += "\\\"",
            '\\' => *out += "\\\\",
            '\n' => *out += "\\n",
            '\r' => *out += "\\r",
            '\t' => *out += "\\t",
            '\0'..'\u{20}' | '\u{7f}' => {
                let _ = write!(out, "\\u{:04x}", u32::from(c));
            }
            _ => out.push(c),
        }
    }
    out.push('"');
}
