"""A fitted model as one HTML file that a colleague understands without knowing the method.

`write` puts the file on disk, `html` gives it as text; `experts_in_words` and `gate_in_words` are its sentences, as
plain text. The rooms: `words` says what numbers mean, `numbers` takes them from model and rows, `pictures` draws,
`markup` is the one place that makes tags and escapes what stands between them, `page` puts all together.
"""

from skmoe.report.page import html, write
from skmoe.report.words import experts_in_words, gate_in_words

__all__ = ["experts_in_words", "gate_in_words", "html", "write"]
