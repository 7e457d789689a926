"""A fitted model as one HTML file that a reader understands without knowing the method.

`write` puts the file on disk, `html` gives it as text; `experts_in_words` and `gate_in_words` give its sentences as
plain text. `data` computes the numbers once, each module of `sections` turns them into blocks of plain data (tables,
figures, paragraphs), and the templates, which `rendering` loads, lay the blocks out.
"""

from skmoe.report.page import html, write
from skmoe.report.text import experts_in_words, gate_in_words

__all__ = ["experts_in_words", "gate_in_words", "html", "write"]
