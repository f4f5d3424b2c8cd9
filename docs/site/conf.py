"""The configuration of Sphinx for the documentation site; `build.py` prepares the pages and calls it."""

from pygments.lexers.special import TextLexer

project = "Sapwood"
author = "The Sapwood developers"
extensions = ["myst_parser", "sphinx.ext.autodoc"]
source_suffix = {".md": "markdown"}
html_theme = "furo"
html_title = "Sapwood"
html_extra_path = ["live"]
html_show_sourcelink = False
html_copy_source = False
html_last_updated_fmt = None
myst_heading_anchors = 4
myst_enable_extensions = ["attrs_inline"]
autodoc_member_order = "bysource"
autodoc_typehints = "signature"
autodoc_default_options = {"members": True, "undoc-members": False}
# Docstrings are Markdown-like: a name in single backquotes is code.
default_role = "code"
# Two modules have a `Program` and many classes a `type`, so that an annotation does not name one of them; it is not linked then.
suppress_warnings = ["ref.python"]


def setup(app):
    for language in ("ptir", "rules", "mermaid", "mlir"):
        app.add_lexer(language, type(f"{language.title()}Lexer", (TextLexer,), {}))
