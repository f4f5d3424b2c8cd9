//! Rendering of a page: the data is inserted into the template.

use serde::Serialize;

/// The build result of `explorer/`.
const TEMPLATE: &str = include_str!("page.html");

/// The placeholder of the data in the template.
const DATA_PLACEHOLDER: &str = "{\"sapwood\":\"data\"}";

/// The placeholder of the title in the template.
const TITLE_PLACEHOLDER: &str = "sapwood title";

/// Returns the page with this title and data.
pub(crate) fn render_page(title: &str, data: &impl Serialize) -> String {
    let mut json = Vec::new();
    let mut writer = serde_json::Serializer::with_formatter(&mut json, ScriptSafeFormatter);
    // Numbers and strings are written to memory, which cannot fail.
    let written = data.serialize(&mut writer);
    debug_assert!(written.is_ok(), "{written:?}");
    let json = String::from_utf8_lossy(&json);
    let (before, after) = TEMPLATE.split_once(DATA_PLACEHOLDER).unwrap_or((TEMPLATE, ""));
    let before = before.replacen(TITLE_PLACEHOLDER, &escape_html(title), 1);
    let mut out = String::with_capacity(before.len() + json.len() + after.len());
    out.push_str(&before);
    out.push_str(&json);
    out.push_str(after);
    out
}

/// A JSON formatter that escapes the characters which could end a script or a line of a script.
struct ScriptSafeFormatter;

impl serde_json::ser::Formatter for ScriptSafeFormatter {
    fn write_string_fragment<W: ?Sized + std::io::Write>(
        &mut self,
        writer: &mut W,
        fragment: &str,
    ) -> std::io::Result<()> {
        let mut rest = fragment;
        let is_unsafe = |c: char| matches!(c, '<' | '>' | '&' | '\u{2028}' | '\u{2029}');
        while let Some(at) = rest.find(is_unsafe) {
            writer.write_all(&rest.as_bytes()[..at])?;
            let c = rest[at..].chars().next().unwrap_or_default();
            write!(writer, "\\u{:04x}", c as u32)?;
            rest = &rest[at + c.len_utf8()..];
        }
        writer.write_all(rest.as_bytes())
    }
}

// Escapes text for an HTML element.
fn escape_html(text: &str) -> String {
    let mut out = String::with_capacity(text.len());
    for c in text.chars() {
        match c {
            '&' => out.push_str("&amp;"),
            '<' => out.push_str("&lt;"),
            '>' => out.push_str("&gt;"),
            '"' => out.push_str("&quot;"),
            c => out.push(c),
        }
    }
    out
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn no_text_ends_the_script() {
        let hostile = "</script><script>alert(1)</script><!-- \u{2028}\u{2029} & \" \\ \u{0}";
        let page = render_page("</title><script>alert(1)</script>", &vec![hostile]);
        assert_eq!(page.matches("<script").count(), TEMPLATE.matches("<script").count());
        assert_eq!(page.matches("</script").count(), TEMPLATE.matches("</script").count());
        assert!(!page.contains('\u{2028}') && !page.contains('\u{2029}'));
        let (_, rest) = page.split_once("[\"\\u003c/script").expect("the data is in the page");
        let json = format!("[\"\\u003c/script{}", &rest[..rest.find("</script").unwrap()]);
        let read: Vec<String> = serde_json::from_str(json.trim_end()).unwrap();
        assert_eq!(read, [hostile]);
    }

    #[test]
    fn the_template_has_both_placeholders() {
        assert_eq!(TEMPLATE.matches(DATA_PLACEHOLDER).count(), 1);
        assert_eq!(TEMPLATE.matches(TITLE_PLACEHOLDER).count(), 1);
    }
}
