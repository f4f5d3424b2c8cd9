//! Abridged text forms of values, for messages: never more than a few hundred characters, however large the
//! value.

use std::fmt;

use sapwood_types::counted;

use crate::kind::FieldRole;
use crate::type_info::ChildLayout;
use crate::view::View;

/// The deepest nesting that is shown.
const MAX_DEPTH: usize = 4;
/// The most fields, elements or entries of a node that are shown.
const MAX_ITEMS: usize = 6;
/// The most characters of a text that are shown.
const MAX_TEXT_CHARS: usize = 60;
/// The most bytes of the whole display.
const MAX_BYTES: usize = 400;

/// Displays a value in abridged form.
#[must_use]
pub fn abridged(view: View<'_>) -> impl fmt::Display + '_ {
    Abridged(view)
}

/// A value that displays in abridged form.
struct Abridged<'a>(View<'a>);

impl fmt::Display for Abridged<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let mut out = String::new();
        write_view(&mut out, self.0, 0);
        if out.len() > MAX_BYTES {
            let end = (0..=MAX_BYTES).rev().find(|&i| out.is_char_boundary(i)).unwrap_or(0);
            out.truncate(end);
            out.push('…');
        }
        f.write_str(&out)
    }
}

fn write_view(out: &mut String, view: View<'_>, depth: usize) {
    if out.len() > MAX_BYTES {
        return;
    }
    match view {
        View::None => out.push_str("None"),
        View::Bool(b) => out.push_str(if b { "True" } else { "False" }),
        View::Int(i) => *out += &i.to_string(),
        View::Wide(wide) => {
            *out += if wide.negative() { "-" } else { "" };
            *out += &wide.magnitude().to_string();
        }
        View::Big(big) => {
            *out += if big.negative() { "-0x" } else { "0x" };
            *out += &truncate(big.to_hex().trim_start_matches('-'));
        }
        View::Float(value) => *out += &format!("{value:?}"),
        View::Str(text) => *out += &format!("{:?}", truncate(text)),
        View::Bytes(bytes) => *out += &format!("<{}>", counted(bytes.len(), "byte")),
        View::Tensor(tensor) => *out += &format!("<tensor {}{:?}>", tensor.dtype(), tensor.shape()),
        View::List(list) => {
            write_items(out, "[", "]", list.len(), depth, |out, i| {
                write_view(out, list.item(i), depth + 1);
            });
        }
        View::Node(node) => {
            let info = node.info();
            match info.layout() {
                ChildLayout::Record => {
                    let name = info.key().rsplit('.').next().unwrap_or(info.key());
                    *out += name;
                    let fields = info.fields();
                    // Ignored fields, such as names, identify a variable, and are noise elsewhere.
                    let shown: Vec<usize> = (0..fields.len())
                        .filter(|&i| {
                            fields[i].role != FieldRole::Ignore
                                || info.kind() == crate::NodeKind::Var
                        })
                        .collect();
                    write_items(out, "(", ")", shown.len(), depth, |out, i| {
                        *out += fields[shown[i]].name;
                        out.push('=');
                        write_view(out, node.child(shown[i]), depth + 1);
                    });
                }
                ChildLayout::List => write_items(out, "[", "]", node.len(), depth, |out, i| {
                    write_view(out, node.child(i), depth + 1);
                }),
                ChildLayout::Map => write_items(out, "{", "}", node.len() / 2, depth, |out, i| {
                    write_view(out, node.child(2 * i), depth + 1);
                    out.push_str(": ");
                    write_view(out, node.child(2 * i + 1), depth + 1);
                }),
                ChildLayout::Set => write_items(out, "{", "}", node.len(), depth, |out, i| {
                    write_view(out, node.child(i), depth + 1);
                }),
            }
        }
    }
}

fn write_items(
    out: &mut String,
    open: &str,
    close: &str,
    len: usize,
    depth: usize,
    mut item: impl FnMut(&mut String, usize),
) {
    *out += open;
    if len > 0 && depth >= MAX_DEPTH {
        out.push('…');
    } else {
        for i in 0..len.min(MAX_ITEMS) {
            if i > 0 {
                out.push_str(", ");
            }
            item(out, i);
        }
        if len > MAX_ITEMS {
            *out += &format!(", … {} more", len - MAX_ITEMS);
        }
    }
    *out += close;
}

fn truncate(text: &str) -> String {
    match text.char_indices().nth(MAX_TEXT_CHARS) {
        None => text.to_owned(),
        Some((end, _)) => format!("{}…", &text[..end]),
    }
}
