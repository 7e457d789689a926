"""The site: ``make docs`` builds it into docs/_build/html, with warnings as errors."""

from typing import Any

from docutils import nodes
from latex2mathml.converter import convert
from sphinx.application import Sphinx
from sphinx.ext import autosummary

import skmoe

project = "skmoe"
author = "The skmoe developers"
copyright = "The skmoe developers, BSD-3-Clause"
version = release = skmoe.__version__

extensions = [
    "myst_parser",
    "sphinx.ext.autodoc",
    "sphinx.ext.autosummary",
    "numpydoc",
    "sphinx_gallery.gen_gallery",
]
templates_path = ["_templates"]
exclude_patterns = ["_build", "sg_execution_times.rst", "gallery/sg_execution_times.rst"]
highlight_language = "text"  # a block that names no language is output
default_role = "code"  # docstrings name things in single backquotes
nitpicky = False

myst_enable_extensions = ["colon_fence", "dollarmath"]
myst_heading_anchors = 3

autosummary_generate = True
# references to the paper end no sentence
autosummary.WELL_KNOWN_ABBREVIATIONS += ("algo.", "app.", "eq.", "sec.", "thm.")
autodoc_typehints = "none"  # the docstrings say types in words
autodoc_member_order = "bysource"
numpydoc_show_class_members = False  # the class template lists them

html_theme = "furo"
html_title = "skmoe"
html_math_renderer = "mathml"
html_static_path = ["_static"]
html_css_files = ["site.css"]
html_show_sphinx = False
html_copy_source = False
html_theme_options = {
    "light_css_variables": {"color-brand-primary": "#0072B2", "color-brand-content": "#0072B2"},
    "dark_css_variables": {"color-brand-primary": "#56B4E9", "color-brand-content": "#56B4E9"},
}

sphinx_gallery_conf = {
    "examples_dirs": "../examples",
    "gallery_dirs": "gallery",
    "filename_pattern": r"/plot_",
    "within_subsection_order": "FileNameSortKey",
    "abort_on_example_error": True,
    "download_all_examples": False,
    "show_signature": False,
    "min_reported_time": 10**6,
    "image_scrapers": ("matplotlib",),
    "reset_modules": ("matplotlib",),
    "remove_config_comments": True,
    "capture_repr": (),
    "notebook_extensions": set(),
}


def inline_formula(translator: Any, node: nodes.math) -> None:
    """Formulas as MathML, which browsers draw by themselves: the site loads nothing from elsewhere."""
    translator.body.append(convert(node.astext()))
    raise nodes.SkipNode


def formula(translator: Any, node: nodes.math_block) -> None:
    """A formula on a line of its own."""
    translator.body.append(f'<div class="formula">{convert(node.astext(), display="block")}</div>')
    raise nodes.SkipNode


def setup(app: Sphinx) -> None:
    """Tell Sphinx how formulas are drawn."""
    app.add_html_math_renderer("mathml", (inline_formula, None), (formula, None))
