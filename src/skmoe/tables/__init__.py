"""A table as it comes, turned into numbers: formats of files, dialects of text, kinds of columns, encodings."""

from skmoe.tables.columns import UnseenCategoryWarning
from skmoe.tables.encoder import EncodedTable, TableEncoder
from skmoe.tables.files import FileTable, open_table
from skmoe.tables.table_errors import TableError
from skmoe.tables.transformer import TableTransformer

__all__ = [
    "EncodedTable",
    "FileTable",
    "TableEncoder",
    "TableError",
    "TableTransformer",
    "UnseenCategoryWarning",
    "open_table",
]
