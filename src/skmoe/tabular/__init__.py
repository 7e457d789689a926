"""Tables of a user's own: read from files, and turned into the numbers that a model takes.

`files` reads and writes CSV, Parquet and Arrow; `columns` knows one column; `recipe` says which columns become which
inputs, and can be kept beside a model so that new rows are treated as the first ones were.
"""

from skmoe.tabular.columns import Column
from skmoe.tabular.files import TableError, batches, check_suffix, read, writing
from skmoe.tabular.recipe import Recipe

__all__ = ["Column", "Recipe", "TableError", "batches", "check_suffix", "read", "writing"]
