//! Attributes as text for messages.

use sapwood_ptir::Attr;

/// Returns an attribute as the text format writes it; long literals by their type.
#[must_use]
pub fn show_attr(attr: &Attr) -> String {
    let list = |items: Vec<String>| format!("[{}]", items.join(", "));
    match attr {
        Attr::Unit => "none".into(),
        Attr::Bool(b) => b.to_string(),
        Attr::Int(n) => n.to_string(),
        Attr::Float(x) => format!("{:?}", x.get()),
        Attr::Str(text) => format!("{text:?}"),
        Attr::Word(name) => name.to_string(),
        Attr::Func(name) => format!("@{name}"),
        Attr::Type(dtype) => dtype.short_name().into(),
        Attr::Ints(ints) => list(ints.iter().map(ToString::to_string).collect()),
        Attr::Dim(expr) => expr.to_string(),
        Attr::List(items) => list(items.iter().map(show_attr).collect()),
        Attr::Dict(entries) => {
            let all: Vec<String> =
                entries.iter().map(|(name, a)| format!("{name} = {}", show_attr(a))).collect();
            format!("{{{}}}", all.join(", "))
        }
        Attr::Literal(literal) => format!("a literal of type {}", literal.ty()),
    }
}
