"""Where rows live: array libraries, blocks, files, Dask, threads; and tables with text and gaps turned into numbers.

Every stage of a fit is a kernel that returns sums over rows (`sum_over_blocks`), so that one kernel serves a NumPy
array, a GPU tensor, a file larger than memory and a Dask cluster.
"""

from skmoe.rows.columns import UnseenCategoryWarning
from skmoe.rows.encoder import EncodedTable, TableEncoder
from skmoe.rows.files import FileTable, open_table
from skmoe.rows.table_errors import TableError

__all__ = ["EncodedTable", "FileTable", "TableEncoder", "TableError", "UnseenCategoryWarning", "open_table"]
