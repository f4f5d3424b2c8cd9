//! The page: a template with the data in it.

use serde::Serialize;

/// What `explorer/` builds to.
const TEMPLATE: &str = include_str!("page.html");

/// Where the data goes in the template.
const PLACE: &str = "{\"sapwood\":\"data\"}";

/// Where the title goes in the template.
const TITLE: &str = "sapwood title";

/// The page of some data.
pub(crate) fn page(title: &str, data: &impl Serialize) -> String {
    let mut json = Vec::new();
    let mut writer = serde_json::Serializer::with_formatter(&mut json, Quiet);
    // Rows of numbers and strings written to memory: nothing in them can fail.
    let written = data.serialize(&mut writer);
    debug_assert!(written.is_ok(), "{written:?}");
    let json = String::from_utf8_lossy(&json);
    let (before, after) = TEMPLATE.split_once(PLACE).unwrap_or((TEMPLATE, ""));
    let before = before.replacen(TITLE, &escaped(title), 1);
    let mut out = String::with_capacity(before.len() + json.len() + after.len());
    out.push_str(&before);
    out.push_str(&json);
    out.push_str(after);
    out
}

// JSON without anything that ends a script or a line of one.
struct Quiet;

impl serde_json::ser::Formatter for Quiet {
    fn write_string_fragment<W: ?Sized + std::io::Write>(
        &mut self,
        writer: &mut W,
        fragment: &str,
    ) -> std::io::Result<()> {
        let mut writer = Quieting { writer };
        writer.write(fragment)
    }
}

struct Quieting<'a, W: ?Sized> {
    writer: &'a mut W,
}

impl<W: ?Sized + std::io::Write> Quieting<'_, W> {
    fn write(&mut self, fragment: &str) -> std::io::Result<()> {
        let mut rest = fragment;
        let loud = |c: char| matches!(c, '<' | '>' | '&' | '\u{2028}' | '\u{2029}');
        while let Some(at) = rest.find(loud) {
            self.writer.write_all(&rest.as_bytes()[..at])?;
            let c = rest[at..].chars().next().unwrap_or_default();
            write!(self.writer, "\\u{:04x}", c as u32)?;
            rest = &rest[at + c.len_utf8()..];
        }
        self.writer.write_all(rest.as_bytes())
    }
}

// Text for an element.
fn escaped(text: &str) -> String {
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
        let page = page("</title><script>alert(1)</script>", &vec![hostile]);
        assert_eq!(page.matches("<script").count(), TEMPLATE.matches("<script").count());
        assert_eq!(page.matches("</script").count(), TEMPLATE.matches("</script").count());
        assert!(!page.contains('\u{2028}') && !page.contains('\u{2029}'));
        let (_, rest) = page.split_once("[\"\\u003c/script").expect("the data is in the page");
        let json = format!("[\"\\u003c/script{}", &rest[..rest.find("</script").unwrap()]);
        let read: Vec<String> = serde_json::from_str(json.trim_end()).unwrap();
        assert_eq!(read, [hostile]);
    }

    #[test]
    fn the_template_has_its_places() {
        assert_eq!(TEMPLATE.matches(PLACE).count(), 1);
        assert_eq!(TEMPLATE.matches(TITLE).count(), 1);
    }
}
